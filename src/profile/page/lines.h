/*
 * Lines of the user's source with the sums of their instructions: inlined code counts for the line
 * that it was inlined into.
 */
#ifndef PL_PROFILE_LINES_H
#define PL_PROFILE_LINES_H

#include "src/profile/report.h"

/* What a line, or an instruction of the PTX, has of each column. */
struct source_counts {
	u64 at[PROFILE_COLUMNS];
};

struct counted_line {
	const char *file; /* NULL: instructions of which no line is known */
	u32 line;
	struct source_counts counts;
	VEC(u32) insns; /* of the program */
};

/* By file in the order of the program, then by line. */
struct counted_lines {
	VEC(struct counted_line) at;
};

/* By instruction of the launch's program; NULL without memory. The caller's to free. */
struct source_counts *lines_of_insns(const struct profile_launch *l);
/* Add the launch to the lines; launches of several programs may be put together. */
void lines_add(struct counted_lines *to, const struct profile_launch *l);
void lines_fini(struct counted_lines *l);

/* The text of a source: read once, kept. */
struct source_text {
	const char *name;
	char *text;
	VEC(u32) begins; /* of lines */
};

/* false: the file cannot be read. folder: where else to look for it, NULL: nowhere. */
bool source_text_read(struct source_text *s, const char *name, const char *folder);
void source_text_fini(struct source_text *s);
/* A line without its end, and how long it is; "" past the end. */
const char *source_text_line(const struct source_text *s, u32 line, u32 *len);

#endif
