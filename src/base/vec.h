/*
 * Growing array on the heap: VEC(type) name = {0}; VEC_PUSH; VEC_FREE.
 * The caller owns the storage; elements are plain data.
 */
#ifndef PL_VEC_H
#define PL_VEC_H

#include "src/base/size.h"

#include <stdlib.h>

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *at;                                                                          \
		size_t len, cap;                                                                   \
	}

/* Make room for n more elements. Returns false when the host has no memory left. */
#define VEC_RESERVE(v, n)                                                                          \
	((size_t)(n) <= (v)->cap - (v)->len ||                                                     \
	 vec_grow((void **)&(v)->at, &(v)->cap, (v)->len, (n), sizeof(*(v)->at)))
/* Append x. Returns false when the host has no memory left; x is then not stored. */
#define VEC_PUSH(v, x) (VEC_RESERVE(v, 1) && ((v)->at[(v)->len++] = (x), true))
#define VEC_FREE(v) (free((v)->at), (v)->at = NULL, (v)->len = (v)->cap = 0)

static inline bool vec_grow(void **at, size_t *cap, size_t len, size_t more, size_t size)
{
	size_t want = *cap ? *cap * 2 : 16;
	u64 need;
	void *p;

	/* Counts come from files, too: refuse impossible ones before the doubling wraps. */
	if (!size_add(len, more, &need) || need > SIZE_MAX / 4 / size)
		return false;
	while (want < need)
		want *= 2;
	p = realloc(*at, want * size);
	if (!p)
		return false;
	*at = p;
	*cap = want;
	return true;
}

#endif
