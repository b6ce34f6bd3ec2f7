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
#include "src/cache/spill.h"

/* Instructions that are known to ask for the same shape, by a number of the caller's. */
struct cache_pattern {
	u64 number; /* 0: none */
	u32 shape;
};

/*
 * Shapes that come again, side by side, each with the pieces that it has. They are added by one
 * thread at a time, and never change.
 */
struct cache_shapes {
	u64 *words;
	u32 len;
	u32 *recent; /* by hash of a shape: where it is, + 1 */
	struct cache_pattern *pattern;
};

/* false: the host has no memory left. */
bool cache_shapes_init(struct cache_shapes *s);
void cache_shapes_fini(struct cache_shapes *s);

/*
 * A record: a line above, below where its shape is among cache_trace.shapes. TRACE_INLINE: the
 * shape follows, as it is. TRACE_SCATTERED: it follows, and a word for each piece: the place of the
 * line above, below the words of it that are asked for, a bit each.
 */
#define TRACE_SHAPE_BITS 24u
#define TRACE_INLINE (((u64)1 << TRACE_SHAPE_BITS) - 1)
#define TRACE_SCATTERED (TRACE_INLINE - 1)

/* Records that are in memory, or in the file. */
struct cache_block {
	u64 *words; /* NULL: it is in the file, */
	u64 at;     /* at this place */
	u32 len;
};

#define TRACE_FIRST_WORDS 24u

struct cache_records {
	/* Of the instruction that the warp was told about last: its number, that of its policy. */
	u64 hinted;
	u8 hint;
	VEC(struct cache_block) blocks; /* in the order of the warp, as are those behind them: */
	u64 *words;                     /* the last ones, less than a block */
	u32 len, cap;                   /* of them; up to TRACE_FIRST_WORDS they are these: */
	u64 first[TRACE_FIRST_WORDS];
};

struct cache_trace {
	u64 cta; /* linear index in the grid */
	u32 warps;
	struct cache_shapes *shapes; /* borrowed; what is there now outlives the trace */
	struct cache_spill *spill;   /* borrowed; NULL: all stays in memory */
	bool is_cut;                 /* the host had no memory, or no room, for all of it */
	bool is_over;                /* the CTA has ended */
	struct cache_records warp[];
};

/* NULL: the host has no memory left. */
struct cache_trace *cache_trace_new(u64 cta, u32 warps, struct cache_shapes *shapes);
/* The same in the memory of a trace of as many warps that is not needed any more. */
void cache_trace_renew(struct cache_trace *t, u64 cta, struct cache_shapes *shapes);
/* Forget the records; cache_trace_free does so, too. */
void cache_trace_clear(struct cache_trace *t);
void cache_trace_free(struct cache_trace *t);
/* What L2::cache_hint gives the instruction, whose number is not 0; and what it has been given. */
void cache_trace_hint(struct cache_trace *t, u32 warp, u64 insn, u8 hint);
u8 cache_trace_hint_of(const struct cache_trace *t, u32 warp, u64 insn);
void cache_trace_add(struct cache_trace *t, u32 warp, const struct cache_shape *s);
/*
 * The same for accesses that come again: false if none of this pattern was added lately to traces
 * with the same shapes. pattern: 0 if it is not known.
 */
bool cache_trace_again(struct cache_trace *t, u32 warp, u64 pattern, u64 first_line);
void cache_trace_add_pattern(struct cache_trace *t, u32 warp, u64 pattern,
			     const struct cache_shape *s);
/* Reading the records of a warp. */
struct cache_reader {
	struct cache_trace *trace;
	u32 warp;
	bool keeps;    /* they are read again; else they are gone as soon as they have been read */
	const u64 *at; /* the words of a block that have been reached */
	size_t next, len; /* in it: the record to come, and where it ends */
	size_t blocks;    /* those that have been begun, and one more at the end */
	u64 *window;      /* room for a block of the file; NULL: none yet */
};

void cache_reader_init(struct cache_reader *r, struct cache_trace *t, u32 warp);
void cache_reader_fini(struct cache_reader *r);
bool cache_reader_next_block(struct cache_reader *r);
/* Have all been read? */
static inline bool cache_reader_is_over(struct cache_reader *r)
{
	return r->next == r->len && !cache_reader_next_block(r);
}
/*
 * The shape of the record that is next, valid up to cache_reader_go and the next use of `room`;
 * its first_line is not: see cache_reader_line.
 */
const struct cache_shape *cache_reader_look(const struct cache_reader *r, struct cache_shape *room);
static inline u64 cache_reader_line(const struct cache_reader *r)
{
	return r->at[r->next] >> TRACE_SHAPE_BITS;
}
/* The same without its pieces, which are not there. */
static inline const struct cache_shape *cache_reader_head(const struct cache_reader *r)
{
	const u64 *at = r->at + r->next;
	u64 place = at[0] & TRACE_INLINE;

	return (const void *)(place >= TRACE_SCATTERED ? at + 1 : r->trace->shapes->words + place);
}
/* The words of a record that is scattered, one for each piece; NULL: it is not. */
const u64 *cache_reader_words(const struct cache_reader *r);
static inline s64 cache_word_line(u64 word)
{
	return (s32)(word >> 32);
}
/* It will be read soon: fetch it from the host's memory. */
static inline void cache_reader_expect(const struct cache_reader *r)
{
	__builtin_prefetch(r->at + r->next);
}
void cache_reader_go(struct cache_reader *r);

#endif
