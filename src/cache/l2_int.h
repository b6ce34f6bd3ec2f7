/* Private to the second cache: what its requests (l2.c) and its sets (l2_set.c) share. */
#ifndef PL_CACHE_L2_INT_H
#define PL_CACHE_L2_INT_H

#include "src/cache/l2.h"

#define HOME_LINES (4096u / CACHE_LINE_BYTES)
#define TAG_MASK (((u64)1 << L2_TAG_BITS) - 1)

/* Lines of side 1 and copies on it have tags of their own. */
static inline u64 l2_tag_of(u64 line, u32 side)
{
	return (line << 1 | side) & TAG_MASK;
}

/*
 * Homes alternate by pieces of 4 KiB, in the order of bits that are 1 in their number. The first
 * piece of a buffer is far from the SM that has the first CTA.
 */
static inline u32 l2_home_of(const struct l2 *c, u64 line)
{
	return c->rules.partitions > 1 ? (u32)__builtin_parityll(line / HOME_LINES) : 0;
}

/* The line, made if it is not there; *was_there: it was. */
struct l2_line *l2_take(struct l2 *c, u64 tag, enum l2_class class, bool *was_there);
/* Is there such a line? NULL: no. */
struct l2_line *l2_look(const struct l2 *c, u64 tag);
/* It goes, and is not written. */
void l2_forget(struct l2 *c, const struct l2_line *e);
void l2_line_normal(struct l2 *c, struct l2_line *e);

#endif
