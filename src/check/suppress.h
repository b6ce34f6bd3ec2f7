/*
 * Findings that are known and not wanted: lines of a file, KIND:PATTERN.
 *
 * KIND is a word of PTXLOOM_CHECK, the kind of a finding, or *; PATTERN, with * and ?, is the name
 * of a function or kernel, a file, or FILE:LINE. Both, and a path's end, may match. # begins a
 * comment.
 *
 * Or compute-sanitizer's form, a document of ComputeSanitizerOutput with records: each part of one
 * that is there has to fit. <text> of <what>, <func> and <path> of <where> are regular expressions
 * for the first line, the function and the file of a side; <func> and <module> of a <frame>, in
 * their order, for frames of the host's stack, among which others may be. <kind> and
 * <line>, too, have to be the same.
 */
#ifndef PL_CHECK_SUPPRESS_H
#define PL_CHECK_SUPPRESS_H

#include "src/check/finding.h"

struct suppression {
	char *kind, *pattern; /* of one allocation, `kind` */
};

struct suppression_record; /* of an XML document */

struct suppressions {
	VEC(struct suppression) list;
	struct suppression_record *records; /* the last first */
};

/* ---- suppress_xml.c: the same for a document, whose text ends with a NUL ---- */

bool suppression_records_read(struct suppressions *s, const char *text, struct text *why);
void suppression_records_fini(struct suppressions *s);
bool suppression_records_match(const struct suppressions *s, const struct finding *f);

/* Read a file. False, with a line that names the file in `why`: it cannot be read or understood. */
bool suppressions_read(struct suppressions *s, const char *path, struct text *why);
void suppressions_fini(struct suppressions *s);
bool suppressions_match(const struct suppressions *s, const struct finding *f);

#endif
