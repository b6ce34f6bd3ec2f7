/*
 * cuFFT on the host: a transform as its plan describes it, and as work of a stream. Private to
 * runtime/libs.
 */
#ifndef PL_LIBS_CUFFT_H
#define PL_LIBS_CUFFT_H

#include "runtime/libs/libs.h"
#include "src/hostlibs/number.h"

enum cufft_status {
	CUFFT_SUCCESS = 0,
	CUFFT_INVALID_PLAN = 1,
	CUFFT_ALLOC_FAILED = 2,
	CUFFT_INVALID_TYPE = 3,
	CUFFT_INVALID_VALUE = 4,
	CUFFT_EXEC_FAILED = 6,
	CUFFT_SETUP_FAILED = 7,
	CUFFT_INVALID_SIZE = 8,
	CUFFT_INVALID_DEVICE = 11,
	CUFFT_NOT_IMPLEMENTED = 14,
	CUFFT_NOT_SUPPORTED = 16,
};

#define CUFFT_RANK_MAX 3
#define CUFFT_INVERSE 1

/* One side of a transform. */
struct cufft_side {
	bool complex;
	s64 embed[CUFFT_RANK_MAX]; /* extents of what its dimensions lie in; [0] does not matter */
	s64 stride, distance; /* in elements: from one to the next, from one batch to the next */
};

struct cufft_shape {
	u32 type; /* of a component */
	int rank;
	s64 n[CUFFT_RANK_MAX]; /* as reals */
	s64 batch;
	bool plain; /* no layout was given: one after the other, rows padded in place */
	struct cufft_side in, out;
};

/* Extents of a side: the last one of complex numbers is halved if the other side is real. */
static inline s64 cufft_extent(const struct cufft_shape *s, const struct cufft_side *side, int i)
{
	bool halved = side->complex && (!s->in.complex || !s->out.complex);

	return i == s->rank - 1 && halved ? s->n[i] / 2 + 1 : s->n[i];
}

/* Put it into the stream. sign: of complex transforms. Returns a status. */
int cufft_issue(struct libs_function *f, void *stream, const struct cufft_shape *shape, u64 in,
		u64 out, int sign);

#endif
