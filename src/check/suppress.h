/*
 * Findings that are known and not wanted: lines of a file, KIND:PATTERN.
 *
 * KIND is a word of PTXLOOM_CHECK, the kind of a finding, or *; PATTERN, with * and ?, is the name
 * of a function or kernel, a file, or FILE:LINE. Both, and a path's end, may match. # begins a
 * comment.
 */
#ifndef PL_CHECK_SUPPRESS_H
#define PL_CHECK_SUPPRESS_H

#include "src/check/finding.h"

struct suppression {
	char *kind, *pattern; /* of one allocation, `kind` */
};

struct suppressions {
	VEC(struct suppression) list;
};

/* Read a file. False, with a line that names the file in `why`: it cannot be read or understood. */
bool suppressions_read(struct suppressions *s, const char *path, struct text *why);
void suppressions_fini(struct suppressions *s);
bool suppressions_match(const struct suppressions *s, const struct finding *f);

#endif
