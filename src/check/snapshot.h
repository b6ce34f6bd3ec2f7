/*
 * Findings as data for the program itself: copies, as ptxloom.h has them.
 */
#ifndef PL_CHECK_SNAPSHOT_H
#define PL_CHECK_SNAPSHOT_H

#include "src/check/finding.h"

#include <ptxloom.h>

/* What the list has now; NULL: an empty one, of no checks. NULL without memory. */
const struct ptxloom_findings *findings_snapshot(struct findings *l);
void findings_snapshot_free(const struct ptxloom_findings *s);

#endif
