/*
 * What micro-ops of matrix instructions say: the form of a product, the rule of its sums, the
 * layout of a fragment. A register that a program names twice is its own affair.
 *
 * A *word* is 32 bits of a row of A (or of a column of B), 64 for f64: lane 4 g + t always holds
 * words t of some group of four, of row g of some group of eight. PTX ISA "Warp-level matrix
 * instructions: Matrix Fragments", and measured for wmma.
 */
#ifndef PL_UOP_MATRIX_H
#define PL_UOP_MATRIX_H

#include "src/base/base.h"

#include <string.h>

enum mma_type {
	MMA_F16,
	MMA_BF16,
	MMA_TF32,
	MMA_E4M3,
	MMA_E5M2,
	MMA_E3M2, /* these three in bytes: fp6 in the lower bits, fp4 in bits 2 to 5 */
	MMA_E2M3,
	MMA_E2M1,
	MMA_E2M1_PAIR, /* fp4, two in a byte */
	MMA_F64,
	MMA_F32,
	MMA_S32,
	MMA_S8,
	MMA_U8,
	MMA_S4,
	MMA_U4,
	MMA_B1,
	MMA_TYPES,
};

enum mma_flag {
	MMA_SATURATE = 1,   /* .satfinite */
	MMA_AND = 2,        /* .and.popc, else .xor.popc */
	MMA_TRANSPOSED = 4, /* m8n32: computed as the transposed product, B taking the place of A */
	MMA_SPARSE = 8,
	MMA_COL_A = 16, /* m8n8k4: column-major; wgmma: rows contiguous instead of k */
	MMA_COL_B = 32,
	MMA_NEGATE = 64,      /* wgmma: products change their sign */
	MMA_SCALE_E4M3 = 128, /* block-scaled: scales are ue4m3, else ue8m0 */
};

struct mma_form {
	u8 a, b, c, d;    /* enum mma_type */
	u8 rows, columns; /* of D, in units of 8 */
	u8 words;         /* of a stored row of A: a multiple of four */
	u8 flags;
};

enum mma_sum {
	/* blocks of products, each with the sum so far: aligned, cut, added, rounded once */
	MMA_FUSED,
	/*
	 * fp8 as pairs of f16: two blocks from zero, k & 2 clear first, and the accumulator to
	 * nearest
	 */
	MMA_HALVES,
	MMA_CUT, /* as MMA_FUSED, an f32 result cut to as many bits as the terms */
};

struct mma_rule {
	u8 sum : 3;    /* enum mma_sum */
	u8 narrow : 1; /* f32 sums become f16 toward zero: wmma with .satfinite */
	/* terms are aligned to at least the result's least normal exponent less this */
	u8 below : 4;
	u8 fraction; /* bits below the largest exponent that terms keep */
	u8 block;    /* products of a block; block-scaled: scales of a row */
	u8 extra;    /* f64: rounding (enum num_mode); sparse: selector */
};

/* wmma.load, wmma.store: the fragment; the stride is row b. */
struct wmma_move {
	u8 type;   /* enum mma_type */
	u8 eights; /* groups of 8 rows (of A or C), of columns of B; C of m8n32: of its columns */
	u8 words;  /* of a row of A, or a column of B */
	/* C or D; rows lie one after the other in memory; registers go over words first */
	u8 sum : 1, along : 1, words_first : 1;
	/*
	 * Volta: each quarter of the warp has a product of its own; which rows and columns: enum
	 * mma_octets
	 */
	u8 octets : 1, by_row : 2, by_column : 2;
};

/* Which eight rows (or columns) lanes 4 q .. 4 q + 3 and those 16 further have. */
enum mma_octets {
	MMA_OCTET_ALL,  /* the first */
	MMA_OCTET_EVEN, /* q % 2 */
	MMA_OCTET_HALF, /* q / 2 */
	MMA_OCTET_EACH, /* q */
};

static inline u32 mma_octet(u32 how, u32 q)
{
	return how == MMA_OCTET_ALL    ? 0
	       : how == MMA_OCTET_EVEN ? q % 2
	       : how == MMA_OCTET_HALF ? q / 2
				       : q;
}

static inline u32 mma_bits(u32 type)
{
	static const u8 bits[MMA_TYPES] = {
		[MMA_F16] = 16,      [MMA_BF16] = 16, [MMA_TF32] = 32, [MMA_E4M3] = 8,
		[MMA_E5M2] = 8,      [MMA_E3M2] = 8,  [MMA_E2M3] = 8,  [MMA_E2M1] = 8,
		[MMA_F64] = 64,      [MMA_F32] = 32,  [MMA_S32] = 32,  [MMA_S8] = 8,
		[MMA_U8] = 8,        [MMA_S4] = 4,    [MMA_U4] = 4,    [MMA_B1] = 1,
		[MMA_E2M1_PAIR] = 4,
	};

	return bits[type];
}

/* The lane of a row's four that has the metadata of quad q. */
static inline u32 mma_meta_lane(u32 bits, u32 quads, u32 q, u32 high, u32 selector)
{
	if (bits == 8)
		return quads == 1 ? 2 * selector + high : 2 * q + high;
	return quads == 1 ? selector : 2 * selector + q;
}

#endif
