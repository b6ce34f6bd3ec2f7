/*
 * Findings as documents for other programs.
 */
#ifndef PL_CHECK_FORMAT_H
#define PL_CHECK_FORMAT_H

#include "src/check/finding.h"

/*
 * Add all findings of the list to `out`: JSON of our own, XML as compute-sanitizer saves it, SARIF
 * 2.1.0, or annotations of GitHub's workflows. Nothing for text.
 */
void findings_format(const struct findings *l, enum finding_format format, struct text *out);

/* Add one, as an object of JSON in one line. */
void finding_format_json(const struct finding *f, struct text *out);

#endif
