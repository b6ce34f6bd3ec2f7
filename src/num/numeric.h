/*
 * Numeric primitives of the engine: what every numeric_*.h shares.
 *
 * All functions are per lane, take and return bit patterns (u32 for 32-bit and narrower types, u64
 * for 64-bit ones; 16-bit values sit in the low half of a u32, high half ignored on input and zero
 * on output) and are meant for loops over lanes: no branch on data, no table larger than L1, no
 * rounding-mode change. Modifiers arrive as one `mode` word. Callers pass a constant, so every
 * test on it folds away; passing a variable is correct too, and slow. Results equal those of a
 * GH100 bit for bit. The host must run in its default mode: round to nearest, subnormals honoured
 * (MXCSR 0x1f80 on x86).
 */
#ifndef PL_NUM_NUMERIC_H
#define PL_NUM_NUMERIC_H

#include "src/base/base.h"

#define NUM_FN static inline __attribute__((always_inline))
/* Bodies too long for a lane loop: rare forms, one call per lane. */
#define NUM_COLD static __attribute__((noinline, unused))

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/* The mode word: one rounding, any of the flags. */
enum num_mode {
	NUM_RN = 0, /* nearest, ties to even */
	NUM_RZ = 1,
	NUM_RM = 2,
	NUM_RP = 3,
	NUM_RNA = 4, /* nearest, ties away from zero (cvt to tf32 only) */
	NUM_RND = 7, /* mask of the rounding */
	NUM_FTZ = 1 << 3,
	NUM_SAT = 1 << 4,
	NUM_RELU = 1 << 5,
	NUM_SATFINITE = 1 << 6,
	NUM_NAN = 1 << 7, /* .NaN of min and max */
	NUM_ABS = 1 << 8,
	NUM_XORSIGN = 1 << 9, /* .xorsign, always with NUM_ABS */
	NUM_OOB = 1 << 10,
};

/* Canonical NaN results of arithmetic. */
#define NUM_NAN_F32 0x7fffffffu
#define NUM_NAN_16 0x7fffu /* f16 and bf16 */
#define NUM_NAN_F64 0xfff8000000000000u

#define NUM_INF_F32 0x7f800000u
#define NUM_INF_F64 0x7ff0000000000000u
#define NUM_INF_F16 0x7c00u
#define NUM_INF_BF16 0x7f80u

/*
 * c ? x : y without a branch for the compiler to thread: table loads that depend on one would keep
 * a lane loop from vectorising.
 */
NUM_FN u32 num_select(bool c, u32 x, u32 y)
{
	u32 mask = -(u32)c;

	return (x & mask) | (y & ~mask);
}

/* Whether a directed rounding moves a value of this sign away from zero. */
NUM_FN bool num_rounds_away(u32 mode, bool negative)
{
	u32 rnd = mode & NUM_RND;

	return rnd == NUM_RP ? !negative : rnd == NUM_RM ? negative : false;
}

/* Both halves of a packed operand through one 16-bit function. */
#define NUM_X2_1(f, a, ...) (f((a)&0xffffu, __VA_ARGS__) | f((a) >> 16, __VA_ARGS__) << 16)
#define NUM_X2_2(f, a, b, ...)                                                                     \
	(f((a)&0xffffu, (b)&0xffffu, __VA_ARGS__) | f((a) >> 16, (b) >> 16, __VA_ARGS__) << 16)
#define NUM_X2_3(f, a, b, c, ...)                                                                  \
	(f((a)&0xffffu, (b)&0xffffu, (c)&0xffffu, __VA_ARGS__) |                                   \
	 f((a) >> 16, (b) >> 16, (c) >> 16, __VA_ARGS__) << 16)

#endif
