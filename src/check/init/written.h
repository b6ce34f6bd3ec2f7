/*
 * Which bytes of a stretch of memory have been written: a bit for each. Where a value that is not
 * defined itself was stored, it is remembered where that came from.
 */
#ifndef PL_CHECK_WRITTEN_H
#define PL_CHECK_WRITTEN_H

#include "src/base/map.h"

struct written {
	u64 *bits; /* set: written; NULL: there is no memory for them, all counts as written */
	u64 bytes;
	u64 missing;        /* how many were not written */
	struct map origins; /* by word / 4 + 1: the caller's number; valid for bits that are 0 */
};

/* The longest stretch that written_missing answers for. */
#define WRITTEN_MASK 32u

/* Nothing of it is written. Bits take memory when they are touched. */
void written_init(struct written *w, u64 bytes);
void written_fini(struct written *w);
/* Nothing is written any more. */
void written_reset(struct written *w);
/* Stretches are cut off at the end. */
bool written_all(const struct written *w, u64 at, u64 bytes);
void written_set(struct written *w, u64 at, u64 bytes);
void written_clear(struct written *w, u64 at, u64 bytes);
/* Bit i: byte at + i was not written. */
u32 written_missing(const struct written *w, u64 at, u32 bytes);
/* How many bytes were not written. */
u64 written_count_missing(const struct written *w, u64 at, u64 bytes);
/* Bytes of dst are written as those of src are. */
void written_copy(struct written *dst, u64 to, const struct written *src, u64 from, u64 bytes);
/* Where the undefined value of a byte came from; 0: not known, it was never written. */
u64 written_origin(const struct written *w, u64 at);
/* The bytes hold what came from there, which is undefined. */
void written_taint(struct written *w, u64 at, u32 bytes, u64 origin);

#endif
