/*
 * Shapes of lane operations: one function body for each kind of result and operands. Included
 * by the handler files of the chapters (op_lane.c, op_float.c ...), each of which makes the
 * functions of its own rows of ops/.
 */
#ifndef PL_OPS_LANE_SHAPES_H
#define PL_OPS_LANE_SHAPES_H

#include "src/ops/lanes.h"
#include "src/ops/mode.h"
#include "src/num/numeric_all.h"

/* Parts of a constant that holds modifiers. */
#define MODE ((u32)imm & MODE_WORD)
#define TO_BITS ((u32)imm >> MODE_TO & 0xff)
#define FROM_BITS ((u32)imm >> MODE_FROM & 0x7f)

/* 16-bit operands may have anything in the upper half of their row. */
#define INT_16(x) ((x)&0xffffu)
#define SINT_16(x) ((s32)(s16)(x))

#define TY_W u32
#define TY_X u64
#define ROW_W ROW32
#define ROW_X ROW64

#define LANE1(id, D, A, expr)                                                                      \
	HANDLER(id)                                                                                \
	{                                                                                          \
		TY_##D *d = ROW_##D(in->d);                                                        \
		const TY_##A *a = ROW_##A(in->a);                                                  \
		const s64 imm PL_UNUSED = in->lane.imm;                                            \
		FOR_LANES(l, LANES) {                                                              \
			TY_##A x = a[l];                                                           \
			d[l] = (TY_##D)(expr);                                                     \
		}                                                                                  \
		return in + 1;                                                                     \
	}
#define LANE2(id, D, A, B, expr)                                                                   \
	HANDLER(id)                                                                                \
	{                                                                                          \
		TY_##D *d = ROW_##D(in->d);                                                        \
		const TY_##A *a = ROW_##A(in->a);                                                  \
		const TY_##B *b = ROW_##B(in->b);                                                  \
		const s64 imm PL_UNUSED = in->lane.imm;                                            \
		FOR_LANES(l, LANES) {                                                              \
			TY_##A x = a[l];                                                           \
			TY_##B y = b[l];                                                           \
			d[l] = (TY_##D)(expr);                                                     \
		}                                                                                  \
		return in + 1;                                                                     \
	}
#define LANE3(id, D, A, B, C, expr)                                                                \
	HANDLER(id)                                                                                \
	{                                                                                          \
		TY_##D *d = ROW_##D(in->d);                                                        \
		const TY_##A *a = ROW_##A(in->a);                                                  \
		const TY_##B *b = ROW_##B(in->b);                                                  \
		const TY_##C *c = ROW_##C(in->c);                                                  \
		const s64 imm PL_UNUSED = in->lane.imm;                                            \
		FOR_LANES(l, LANES) {                                                              \
			TY_##A x = a[l];                                                           \
			TY_##B y = b[l];                                                           \
			TY_##C z = c[l];                                                           \
			d[l] = (TY_##D)(expr);                                                     \
		}                                                                                  \
		return in + 1;                                                                     \
	}
static PL_UNUSED inline u32 num_shl_xor(u32 x, u32 by)
{
	return x ^ x << by;
}

static PL_UNUSED inline u32 num_shr_xor(u32 x, u32 by)
{
	return x ^ x >> by;
}

static PL_UNUSED inline u32 cta_coordinate(const struct gang *g, const struct uop *in)
{
	return g->cta->id[in->lane.imm];
}

/* Second operand s: one for all lanes, computed before the loop. */
#define LANE1S(id, D, A, scalar, expr)                                                             \
	HANDLER(id)                                                                                \
	{                                                                                          \
		TY_##D *d = ROW_##D(in->d);                                                        \
		const TY_##A *a = ROW_##A(in->a);                                                  \
		const TY_##D s = (scalar);                                                         \
		const s64 imm PL_UNUSED = in->lane.imm;                                            \
		FOR_LANES(l, LANES) {                                                              \
			TY_##A x = a[l];                                                           \
			d[l] = (TY_##D)(expr);                                                     \
		}                                                                                  \
		return in + 1;                                                                     \
	}
/* A fourth operand, w; its row is in `target`. */
#define LANE4(id, D, A, B, C, W, expr)                                                             \
	HANDLER(id)                                                                                \
	{                                                                                          \
		TY_##D *d = ROW_##D(in->d);                                                        \
		const TY_##A *a = ROW_##A(in->a);                                                  \
		const TY_##B *b = ROW_##B(in->b);                                                  \
		const TY_##C *c = ROW_##C(in->c);                                                  \
		const TY_##W *e = ROW_##W(in->lane.e);                                             \
		FOR_LANES(l, LANES) {                                                              \
			TY_##A x = a[l];                                                           \
			TY_##B y = b[l];                                                           \
			TY_##C z = c[l];                                                           \
			TY_##W w = e[l];                                                           \
			d[l] = (TY_##D)(expr);                                                     \
		}                                                                                  \
		return in + 1;                                                                     \
	}
/*
 * Two or three operands of one width and the carry flag, a predicate row in `target`: c is the
 * flag, o the new one, kept if SETS. Masked mode blends d; the flag is masked here.
 */
#define CARRY(id, T, z_row, SETS, expr)                                                            \
	HANDLER(id)                                                                                \
	{                                                                                          \
		TY_##T *d = ROW_##T(in->d);                                                        \
		const TY_##T *a = ROW_##T(in->a), *b = ROW_##T(in->b), *e = ROW_##T(z_row);        \
		u32 *flag = ROWP(in->lane.e);                                                      \
		const u32 active PL_UNUSED = g->active;                                            \
		for (u32 i = 0; i < WARPS; i++, a += 32, b += 32, d += 32, e += 32) {              \
			const u32 mask PL_UNUSED = flag[i];                                        \
			u32 t[32];                                                                 \
			FOR_LANES(l, 32) {                                                         \
				TY_##T x = a[l], y = b[l], z PL_UNUSED = e[l];                     \
				u32 c PL_UNUSED = mask >> l & 1, o = 0;                            \
				d[l] = (expr);                                                     \
				t[l] = 0 - o;                                                      \
			}                                                                          \
			if (SETS)                                                                  \
				flag[i] = (mask & ~active) | (lanes_mask(t) & active);             \
		}                                                                                  \
		return in + 1;                                                                     \
	}
/* Four words from the rows in ext, and one more: v[0] to v[3] and y. */
#define LANEV(id, D, B, expr)                                                                      \
	HANDLER(id)                                                                                \
	{                                                                                          \
		const u32 *ext = g->env->program->ext + in->ext;                                   \
		TY_##D *d = ROW_##D(in->d);                                                        \
		const u32 *v0 = ROW32(ext[0]), *v1 = ROW32(ext[1]);                                \
		const u32 *v2 = ROW32(ext[2]), *v3 = ROW32(ext[3]);                                \
		const TY_##B *b = ROW_##B(in->b);                                                  \
		const s64 imm PL_UNUSED = in->lane.imm;                                            \
		FOR_LANES(l, LANES) {                                                              \
			u32 v[4] = {v0[l], v1[l], v2[l], v3[l]};                                   \
			TY_##B y = b[l];                                                           \
			d[l] = (TY_##D)(expr);                                                     \
		}                                                                                  \
		return in + 1;                                                                     \
	}
/* Third operand a predicate: z is 0 or 1. */
#define LANE2P(id, D, A, B, expr)                                                                  \
	HANDLER(id)                                                                                \
	{                                                                                          \
		TY_##D *d = ROW_##D(in->d);                                                        \
		const TY_##A *a = ROW_##A(in->a);                                                  \
		const TY_##B *b = ROW_##B(in->b);                                                  \
		const u32 *p = ROWP(in->c);                                                        \
		for (u32 w = 0; w < WARPS; w++, a += 32, b += 32, d += 32) {                       \
			const u32 mask = p[w];                                                     \
			FOR_LANES(l, 32) {                                                         \
				TY_##A x = a[l];                                                   \
				TY_##B y = b[l];                                                   \
				u32 z = mask >> l & 1;                                             \
				d[l] = (TY_##D)(expr);                                             \
			}                                                                          \
		}                                                                                  \
		return in + 1;                                                                     \
	}
/* Predicate results are masked here: dead and inactive lanes keep their bit. */
#define PRED1(id, A, expr)                                                                         \
	HANDLER(id)                                                                                \
	{                                                                                          \
		u32 *d = ROWP(in->d);                                                              \
		const TY_##A *a = ROW_##A(in->a);                                                  \
		const s64 imm PL_UNUSED = in->lane.imm;                                            \
		const u32 active = g->active;                                                      \
		for (u32 w = 0; w < WARPS; w++, a += 32) {                                         \
			u32 t[32];                                                                 \
			FOR_LANES(l, 32) {                                                         \
				TY_##A x = a[l];                                                   \
				t[l] = (expr) ? FULL_MASK : 0;                                     \
			}                                                                          \
			d[w] = (d[w] & ~active) | (lanes_mask(t) & active);                        \
		}                                                                                  \
		return in + 1;                                                                     \
	}
#define PRED2(id, A, B, expr)                                                                      \
	HANDLER(id)                                                                                \
	{                                                                                          \
		u32 *d = ROWP(in->d);                                                              \
		const TY_##A *a = ROW_##A(in->a);                                                  \
		const TY_##B *b = ROW_##B(in->b);                                                  \
		const s64 imm PL_UNUSED = in->lane.imm;                                            \
		const u32 active = g->active;                                                      \
		for (u32 w = 0; w < WARPS; w++, a += 32, b += 32) {                                \
			u32 t[32];                                                                 \
			FOR_LANES(l, 32) {                                                         \
				TY_##A x = a[l];                                                   \
				TY_##B y = b[l];                                                   \
				t[l] = (expr) ? FULL_MASK : 0;                                     \
			}                                                                          \
			d[w] = (d[w] & ~active) | (lanes_mask(t) & active);                        \
		}                                                                                  \
		return in + 1;                                                                     \
	}
/* Predicate logic works on whole masks. */
#define MASK1(id, expr)                                                                            \
	HANDLER(id)                                                                                \
	{                                                                                          \
		u32 *d = ROWP(in->d);                                                              \
		const u32 *a = ROWP(in->a), active = g->active;                                    \
		for (u32 w = 0; w < WARPS; w++) {                                                  \
			u32 x = a[w];                                                              \
			d[w] = (d[w] & ~active) | ((expr)&active);                                 \
		}                                                                                  \
		return in + 1;                                                                     \
	}
#define MASK2(id, expr)                                                                            \
	HANDLER(id)                                                                                \
	{                                                                                          \
		u32 *d = ROWP(in->d);                                                              \
		const u32 *a = ROWP(in->a), *b = ROWP(in->b), active = g->active;                  \
		for (u32 w = 0; w < WARPS; w++) {                                                  \
			u32 x = a[w], y = b[w];                                                    \
			d[w] = (d[w] & ~active) | ((expr)&active);                                 \
		}                                                                                  \
		return in + 1;                                                                     \
	}

#define SHAPE_W_W(id, expr) LANE1(id, W, W, expr)
#define SHAPE_W_X(id, expr) LANE1(id, W, X, expr)
#define SHAPE_X_W(id, expr) LANE1(id, X, W, expr)
#define SHAPE_X_X(id, expr) LANE1(id, X, X, expr)
#define SHAPE_W_WW(id, expr) LANE2(id, W, W, W, expr)
#define SHAPE_X_WX(id, expr) LANE2(id, X, W, X, expr)
#define SHAPE_W_Wt(id, expr) LANE1S(id, W, W, in->lane.shift, expr)
#define SHAPE_W_Wu(id, expr) LANE1S(id, W, W, cta_coordinate(g, in) * ROW32(in->b)[0], expr)
#define SHAPE_W_XW(id, expr) LANE2(id, W, X, W, expr)
#define SHAPE_W_XX(id, expr) LANE2(id, W, X, X, expr)
#define SHAPE_X_WW(id, expr) LANE2(id, X, W, W, expr)
#define SHAPE_X_XW(id, expr) LANE2(id, X, X, W, expr)
#define SHAPE_X_XX(id, expr) LANE2(id, X, X, X, expr)
#define SHAPE_W_WWW(id, expr) LANE3(id, W, W, W, W, expr)
#define SHAPE_W_XXW(id, expr) LANE3(id, W, X, X, W, expr)
#define SHAPE_X_WWX(id, expr) LANE3(id, X, W, W, X, expr)
#define SHAPE_X_XWW(id, expr) LANE3(id, X, X, W, W, expr)
#define SHAPE_X_XXW(id, expr) LANE3(id, X, X, X, W, expr)
#define SHAPE_X_XXX(id, expr) LANE3(id, X, X, X, X, expr)
#define SHAPE_W_WWWW(id, expr) LANE4(id, W, W, W, W, W, expr)
#define SHAPE_X_XXWW(id, expr) LANE4(id, X, X, X, W, W, expr)
#define SHAPE_W_WWi(id, expr) CARRY(id, W, in->b, false, expr)
#define SHAPE_W_WWo(id, expr) CARRY(id, W, in->b, true, expr)
#define SHAPE_W_WWio(id, expr) CARRY(id, W, in->b, true, expr)
#define SHAPE_W_WWWi(id, expr) CARRY(id, W, in->c, false, expr)
#define SHAPE_W_WWWo(id, expr) CARRY(id, W, in->c, true, expr)
#define SHAPE_W_WWWio(id, expr) CARRY(id, W, in->c, true, expr)
#define SHAPE_X_XXi(id, expr) CARRY(id, X, in->b, false, expr)
#define SHAPE_X_XXo(id, expr) CARRY(id, X, in->b, true, expr)
#define SHAPE_X_XXio(id, expr) CARRY(id, X, in->b, true, expr)
#define SHAPE_X_XXXi(id, expr) CARRY(id, X, in->c, false, expr)
#define SHAPE_X_XXXo(id, expr) CARRY(id, X, in->c, true, expr)
#define SHAPE_X_XXXio(id, expr) CARRY(id, X, in->c, true, expr)
#define SHAPE_W_VW(id, expr) LANEV(id, W, W, expr)
#define SHAPE_W_WWP(id, expr) LANE2P(id, W, W, W, expr)
#define SHAPE_X_XXP(id, expr) LANE2P(id, X, X, X, expr)
#define SHAPE_P_W(id, expr) PRED1(id, W, expr)
#define SHAPE_P_X(id, expr) PRED1(id, X, expr)
#define SHAPE_P_WW(id, expr) PRED2(id, W, W, expr)
#define SHAPE_P_XX(id, expr) PRED2(id, X, X, expr)
#define SHAPE_P_P(id, expr) MASK1(id, expr)
#define SHAPE_P_PP(id, expr) MASK2(id, expr)

/* OP of a handler file: the function of one row. */
#define LANE_HANDLER(id, texts, shape, expr) SHAPE_##shape(id, expr)

#endif
