/*
 * Handlers and table of the scalar operations in ref_rows.def: a handler per row, and for rows with
 * a mode word two more
 * in which the mode is a constant, for code that says nothing or .ftz.
 */
#include "src/num/numeric_all.h"
#include "tests/ref/ref_int.h"

typedef u8 pr;

static inline s128 ref_clamp(s128 x, s128 min, s128 max)
{
	return x < min ? min : x > max ? max : x;
}

/* The product of two polynomials over GF(2), by its definition. */
static inline u128 ref_carryless(u64 x, u64 y)
{
	u128 r = 0;

	for (u32 i = 0; i < 64; i++)
		if (x >> i & 1)
			r ^= (u128)y << i;
	return r;
}

#define REF_BODY(id, TD, expr)                                                                     \
	r[in->d] = (u64)(TD)(expr);                                                                \
	REF_NEXT;
#define REF_FN(id)                                                                                 \
	static const struct ref_insn *ref_row_##id(u64 *r, const struct ref_insn *in,              \
						   struct ref_thread *t PL_UNUSED)
#define REF1(id, text, TD, TA, expr)                                                               \
	REF_FN(id)                                                                                 \
	{                                                                                          \
		TA x = (TA)r[in->a];                                                               \
		REF_BODY(id, TD, expr)                                                             \
	}
#define REF2(id, text, TD, TA, TB, expr)                                                           \
	REF_FN(id)                                                                                 \
	{                                                                                          \
		TA x = (TA)r[in->a];                                                               \
		TB y = (TB)r[in->b];                                                               \
		REF_BODY(id, TD, expr)                                                             \
	}
#define REF3(id, text, TD, TA, TB, TC, expr)                                                       \
	REF_FN(id)                                                                                 \
	{                                                                                          \
		TA x = (TA)r[in->a];                                                               \
		TB y = (TB)r[in->b];                                                               \
		TC z = (TC)r[in->c];                                                               \
		REF_BODY(id, TD, expr)                                                             \
	}
/* The fourth source is named by `mode`. */
#define REF4(id, text, TD, TA, TB, TC, TE, expr)                                                   \
	REF_FN(id)                                                                                 \
	{                                                                                          \
		TA x = (TA)r[in->a];                                                               \
		TB y = (TB)r[in->b];                                                               \
		TC z = (TC)r[in->c];                                                               \
		TE w = (TE)r[in->mode];                                                            \
		REF_BODY(id, TD, expr)                                                             \
	}
#define REFM(id, TD, loads, expr)                                                                  \
	REF_FN(id)                                                                                 \
	{                                                                                          \
		loads const u32 m PL_UNUSED = in->mode;                                            \
		REF_BODY(id, TD, expr)                                                             \
	}                                                                                          \
	REF_FN(id##_plain)                                                                         \
	{                                                                                          \
		loads const u32 m PL_UNUSED = 0;                                                   \
		REF_BODY(id, TD, expr)                                                             \
	}                                                                                          \
	REF_FN(id##_ftz)                                                                           \
	{                                                                                          \
		loads const u32 m PL_UNUSED = NUM_FTZ;                                             \
		REF_BODY(id, TD, expr)                                                             \
	}
#define REFM1(id, text, TD, TA, expr) REFM(id, TD, TA x = (TA)r[in->a];, expr)
#define REFM2(id, text, TD, TA, TB, expr)                                                          \
	REFM(id, TD, TA x = (TA)r[in->a]; TB y = (TB)r[in->b];, expr)
#define REFM3(id, text, TD, TA, TB, TC, expr)                                                      \
	REFM(id, TD, TA x = (TA)r[in->a]; TB y = (TB)r[in->b]; TC z = (TC)r[in->c];, expr)

#include "tests/ref/ref_rows.def"

#undef REF1
#undef REF2
#undef REF3
#undef REF4
#undef REFM1
#undef REFM2
#undef REFM3

#define PLAIN(id, text, n) {text, {ref_row_##id, NULL, NULL}, n},
#define MODES(id, text, n) {text, {ref_row_##id, ref_row_##id##_plain, ref_row_##id##_ftz}, n},
#define REF1(id, text, ...) PLAIN(id, text, 1)
#define REF2(id, text, ...) PLAIN(id, text, 2)
#define REF3(id, text, ...) PLAIN(id, text, 3)
#define REF4(id, text, ...) PLAIN(id, text, 4)
#define REFM1(id, text, ...) MODES(id, text, 1)
#define REFM2(id, text, ...) MODES(id, text, 2)
#define REFM3(id, text, ...) MODES(id, text, 3)

static const struct ref_row rows[] = {
#include "tests/ref/ref_rows.def"
};

#define REF_GLUE2(a, b) a##_##b
#define REF_GLUE(a, b) REF_GLUE2(a, b)

const struct ref_row *REF_GLUE(ref_rows, REF_LEVEL)(u32 *n)
{
	*n = ARRAY_LEN(rows);
	return rows;
}
