/*
 * The lane loop, written once. Included by handler files only, which are compiled once per host ISA
 * level: EXEC_NAME(x) gives every external symbol the level's suffix.
 */
#ifndef PL_OPS_LANES_H
#define PL_OPS_LANES_H

#include "src/exec/exec.h"

#if defined EXEC_BASE
#define EXEC_NAME(x) x##_base
#define EXEC_LEVEL_TEXT "base"
#elif defined EXEC_V2
#define EXEC_NAME(x) x##_v2
#define EXEC_LEVEL_TEXT "v2"
#elif defined EXEC_V3
#define EXEC_NAME(x) x##_v3
#define EXEC_LEVEL_TEXT "v3"
#elif defined EXEC_V4
#define EXEC_NAME(x) x##_v4
#define EXEC_LEVEL_TEXT "v4"
#elif !defined EXEC_NAME
#error "no host level: one of EXEC_BASE, EXEC_V2, EXEC_V3 and EXEC_V4 is to be defined"
#endif

/* All handlers of this level. */
#define OP(id, texts, shape, expr) exec_handler EXEC_NAME(op_##id);
#include "src/uop/table/all.def"
#undef OP
#define DECLARE_ONE(id) exec_handler EXEC_NAME(op_##id);
#define DECLARE_MODAL(id) exec_handler EXEC_NAME(op_##id##_gang), EXEC_NAME(op_##id##_warp);
#define UOP(id, bodies, kind, payload, rows, list, space, nature, effect, twin, diverged)          \
	DECLARE_##bodies(id)
#include "src/uop/table/handlers.def"
#undef UOP
#undef DECLARE_MODAL
#undef DECLARE_ONE

/* Twins of an observed launch that are beside their bodies (op_watch.c has the others). */
exec_handler EXEC_NAME(op_watch_bulk), EXEC_NAME(op_watch_remote), EXEC_NAME(op_watch_fill);
exec_handler EXEC_NAME(op_watch_tensor), EXEC_NAME(op_watch_field);
exec_handler EXEC_NAME(op_watch_map), EXEC_NAME(op_watch_surf), EXEC_NAME(op_watch_tex);
exec_handler EXEC_NAME(op_watch_wmma), EXEC_NAME(op_watch_wgmma), EXEC_NAME(op_watch_extern);
exec_handler EXEC_NAME(op_watch_memory);
/* Those of programs whose shared variables lie apart: op_apart.c. */
exec_handler EXEC_NAME(op_apart_load_shared), EXEC_NAME(op_apart_store_shared);
exec_handler EXEC_NAME(op_apart_load_generic), EXEC_NAME(op_apart_store_generic);
exec_handler EXEC_NAME(op_masked_w), EXEC_NAME(op_masked_x);
exec_handler EXEC_NAME(op_ordered_w), EXEC_NAME(op_ordered_x), EXEC_NAME(op_tier_diverged),
	EXEC_NAME(op_tier_counted_diverged);
void EXEC_NAME(warp_settle)(struct gang *g);
/*
 * The function of an atomic operation on a type; global memory has rules of its own. NULL: there is
 * no such operation.
 */
u64 (*EXEC_NAME(atom_apply)(u32 op, u32 type, bool global))(u64, u64, u64);
extern const struct exec_ops EXEC_NAME(exec_ops), EXEC_NAME(exec_ops_watched);
extern const struct exec_ops EXEC_NAME(exec_ops_apart);
extern const struct exec_table EXEC_NAME(table_diverged), EXEC_NAME(table_diverged_apart);
/* The loops of plain launches, and of those that count cycles. */
void EXEC_NAME(run_loop)(struct gang *g, const struct uop *in);
void EXEC_NAME(run_loop_counted)(struct gang *g, const struct uop *in);
/*
 * Gang mode: run a guarded micro-op for the lanes of which only some have a true guard, all warps
 * in one. False: it is not one that can be run so; nothing has been done. *next: as a handler
 * returns it.
 */
bool EXEC_NAME(diverged_guard)(struct gang *g, const struct uop *in, const struct uop **next);
/* Where brx.idx leads running lanes, by lane of the gang. False: some index is past the table. */
bool EXEC_NAME(branch_targets)(const struct gang *g, const struct uop *in, u32 *targets);

/*
 * Compiled runs: where the accesses of an affine micro-op begin, how long all are, and whether the
 * lanes of the whole gang are neighbours. whole: all of that may be touched. False: no rows.
 */
struct tier_reach;
bool EXEC_NAME(affine_reach)(const struct gang *g, const struct uop *in, bool whole,
			     struct tier_reach *out, u64 *bytes, bool *one_row);
/* May all of that be touched? */
bool EXEC_NAME(affine_allowed)(const struct gang *g, const struct uop *in,
			       const struct tier_reach *x, u64 bytes);

/* For functions whose last arguments are constants where speed matters. */
#define ALWAYS_INLINE __attribute__((always_inline)) inline
/* For what needs so much stack that the handler that calls it rather goes without. */
#define OUT_OF_LINE __attribute__((noinline))

#define HANDLER(id) const struct uop *EXEC_NAME(op_##id)(struct gang * g, const struct uop *in)

/*
 * Rows, from the first lane to work on. 64-byte aligned in gang mode; warps are 128-byte aligned.
 */
#define ROW32(offset) ((u32 *)__builtin_assume_aligned(g->regs + (offset), 64) + g->lane0)
#define ROW64(offset) ((u64 *)__builtin_assume_aligned(g->regs + (offset), 64) + g->lane0)
/* Predicate row: one mask per warp, from the first warp to work on. */
#define ROWP(offset) ((u32 *)(g->regs + (offset)) + g->warp)

#define FOR_LANES(l, n) _Pragma("omp simd") for (u32 l = 0; l < (n); l++)
/* Lanes to work on, declared to be a multiple of 32 so that no remainder loop is made. */
#define LANES (g->lanes & ~31u)
#define WARPS (g->lanes >> 5)

/*
 * One value into the lanes of a row that take part: all of a gang's, the active ones of a warp's.
 */
static PL_UNUSED inline void fill_row(struct gang *g, u32 row, bool wide, u64 v)
{
	u32 active = g->active;

	if (g->mode == MODE_GANG && wide) {
		u64 *d = ROW64(row);

		FOR_LANES(l, LANES)
			d[l] = v;
	} else if (g->mode == MODE_GANG) {
		u32 *d = ROW32(row);

		FOR_LANES(l, LANES)
			d[l] = (u32)v;
	} else if (wide) {
		u64 *d = ROW64(row);

		FOR_LANES(l, WARP_LANES)
			d[l] = active >> l & 1 ? v : d[l];
	} else {
		u32 *d = ROW32(row);

		FOR_LANES(l, WARP_LANES)
			d[l] = active >> l & 1 ? (u32)v : d[l];
	}
}

/* Pack 32 words, each 0 or all ones, into a lane mask. */
#if defined(__AVX512F__)
#include <immintrin.h>
static inline u32 lanes_mask(const u32 *t)
{
	__mmask16 lo = _mm512_test_epi32_mask(_mm512_loadu_si512(t), _mm512_loadu_si512(t));
	__mmask16 hi =
		_mm512_test_epi32_mask(_mm512_loadu_si512(t + 16), _mm512_loadu_si512(t + 16));

	return (u32)lo | (u32)hi << 16;
}
#elif defined(__AVX2__)
#include <immintrin.h>
static inline u32 lanes_mask(const u32 *t)
{
	u32 m = 0;

	for (int i = 0; i < 4; i++)
		m |= (u32)_mm256_movemask_ps(
			     _mm256_loadu_ps((const float *)(const void *)(t + 8 * i)))
		     << 8 * i;
	return m;
}
#elif defined(__SSE2__)
#include <emmintrin.h>
static inline u32 lanes_mask(const u32 *t)
{
	u32 m = 0;

	for (int i = 0; i < 8; i++)
		m |= (u32)_mm_movemask_ps(_mm_loadu_ps((const float *)(const void *)(t + 4 * i)))
		     << 4 * i;
	return m;
}
#else
static inline u32 lanes_mask(const u32 *t)
{
	u32 m = 0;

	for (u32 l = 0; l < 32; l++)
		m |= (t[l] & 1) << l;
	return m;
}
#endif

/*
 * Lanes of the mask of one warp's row, from `from`. Whole vectors are stored: what was stored under
 * a mask is not forwarded to the loads of the next micro-op.
 */
#if defined(__AVX512F__)
static PL_UNUSED inline void blend_words(u32 *d, const u32 *from, u32 mask)
{
	for (u32 i = 0; i < WARP_LANES; i += 16)
		_mm512_storeu_si512(d + i, _mm512_mask_blend_epi32((__mmask16)(mask >> i),
								   _mm512_loadu_si512(d + i),
								   _mm512_loadu_si512(from + i)));
}

static PL_UNUSED inline void blend_pairs(u64 *d, const u64 *from, u32 mask)
{
	for (u32 i = 0; i < WARP_LANES; i += 8)
		_mm512_storeu_si512(d + i, _mm512_mask_blend_epi64((__mmask8)(mask >> i),
								   _mm512_loadu_si512(d + i),
								   _mm512_loadu_si512(from + i)));
}
#else
static PL_UNUSED inline void blend_words(u32 *d, const u32 *from, u32 mask)
{
	FOR_LANES(l, WARP_LANES)
		d[l] = mask >> l & 1 ? from[l] : d[l];
}

static PL_UNUSED inline void blend_pairs(u64 *d, const u64 *from, u32 mask)
{
	FOR_LANES(l, WARP_LANES)
		d[l] = mask >> l & 1 ? from[l] : d[l];
}
#endif

#endif
