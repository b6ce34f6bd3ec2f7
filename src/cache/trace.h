/*
 * What the warps of one CTA asked of the caches, in the order of each warp: recorded while the
 * engine runs the CTA in its own order, to be played in the order of an SM (play.h).
 *
 * A trace belongs to the worker that runs its CTA, then to the one that plays it.
 */
#ifndef PL_CACHE_TRACE_H
#define PL_CACHE_TRACE_H

#include "src/base/vec.h"
#include "src/cache/shape.h"

/* Instructions that are known to ask for the same shape, by a number of the caller's. */
struct cache_pattern {
	u64 number; /* 0: none */
	u32 shape;
};

/* A shape at a line: the line above, the shape's number below. */
#define TRACE_SHAPE_BITS 24u

struct cache_records {
	VEC(u64) of; /* in the order of the warp */
};

struct cache_trace {
	u64 cta; /* linear index in the grid */
	u32 warps;
	VEC(u64) shapes;   /* side by side, the pieces that each has */
	VEC(u32) shape_at; /* where each begins */
	u32 *recent;       /* by hash of a shape: its number + 1 */
	struct cache_pattern *pattern;
	bool is_cut;  /* the host had no memory for all of it */
	bool is_over; /* the CTA has ended */
	struct cache_records warp[];
};

/* NULL: the host has no memory left. */
struct cache_trace *cache_trace_new(u64 cta, u32 warps);
void cache_trace_free(struct cache_trace *t);
void cache_trace_add(struct cache_trace *t, u32 warp, const struct cache_shape *s);
/*
 * The same for accesses that come again: false if none of this pattern was added lately. pattern: 0
 * if it is not known.
 */
bool cache_trace_again(struct cache_trace *t, u32 warp, u64 pattern, u64 first_line);
void cache_trace_add_pattern(struct cache_trace *t, u32 warp, u64 pattern,
			     const struct cache_shape *s);
/* The shape of a record; its first_line is not valid. */
const struct cache_shape *cache_trace_shape(const struct cache_trace *t, u64 record);
static inline u64 cache_trace_line(u64 record)
{
	return record >> TRACE_SHAPE_BITS;
}

#endif
