/*
 * Where elements of matrices are, beyond what fragments tell: those of a sparse A in its row, those
 * of the products of m8n8k4 and of Volta's wmma, and those of wgmma in shared memory.
 */
#ifndef PL_MMA_PLACE_H
#define PL_MMA_PLACE_H

#include "src/uop/matrix.h"

/*
 * Which lane's word of metadata, from which bit on, says where stored number s of row i (0..15) of
 * a sparse A belongs, which stores so many. bits: of an element; sel: the sparsity selector. PTX
 * ISA "Warp-level matrix multiply-accumulate operation using mma.sp instruction with sparse matrix
 * A".
 */
static inline u32 mma_meta_at(u32 bits, u32 sel, u32 i, u32 s, u32 stored, u32 *bit)
{
	u32 row = i & 7, high = i >> 3;

	if (bits == 32) { /* 1:2 */
		*bit = 16 * high + s % 4 * 4;
		return row * 4 + (stored == 4 ? sel : 2 * sel + s / 4);
	}
	if (bits == 16) {
		*bit = 16 * high + s % 8 * 2;
		return row * 4 + (stored == 8 ? sel : 2 * sel + s / 8);
	}
	if (bits == 8) {
		*bit = s % 16 * 2;
		return row * 4 + (stored == 16 ? 2 * sel + high : s / 16 * 2 + high);
	}
	/* pairs, 4:8 */
	*bit = s % 32 / 2 * 2;
	return row * 4 + (stored == 32 ? 2 * sel + high : s / 32 * 2 + high);
}

/* Place in the full row of that number. meta: a word of each lane. */
static inline u32 mma_sparse_at(u32 bits, u32 sel, const u32 *meta, u32 i, u32 s, u32 stored)
{
	u32 bit, lane = mma_meta_at(bits, sel, i, s, stored, &bit), m = meta[lane] >> bit;

	if (bits == 32)
		return 2 * s + ((m & 15) == 0xe);
	if (bits < 8)
		return (s / 4 * 4 + (m & 3)) * 2 + (s & 1);
	return s / 2 * 4 + (m & 3);
}

/* ---- mma of m8n8k4: four products of eight lanes each ---- */

/* Element i of lane t (0..7 of the product) of a factor: its row (of A, or column of B) and k. */
static inline void quad_place(bool by_k, u32 t, u32 i, u32 *row, u32 *k)
{
	u32 high = t & 4;

	*row = by_k ? i + high : (t & 3) + high;
	*k = by_k ? t & 3 : i;
}

/* The lane of the warp that is lane t of product q. */
static inline u32 quad_lane(u32 q, u32 t)
{
	return 4 * q + (t & 3) + (t & 4) * 4;
}

/* Of the accumulator: element i (0..7) of lane t. */
static inline void quad_sum_place(u32 type, u32 t, u32 i, u32 *row, u32 *column)
{
	*row = type == MMA_F16 ? t : (t & 1) + (i & 2) + (t & 4);
	*column = type == MMA_F16 ? i : (i & 4) + (t & 2) + (i & 1);
}

/* ---- wmma on Volta: products of m8n8k4, of which each quarter of the warp has its own ---- */

/* Lane t of its product. */
static inline u32 octet_lane(u32 lane)
{
	return (lane & 3) + (lane >> 4) * 4;
}

/*
 * Number i of a lane of a factor: its row (of A, or column of B) and k. along: a lane has one row;
 * else four of them for each k, a k from every fourth. Raihan, Goli, Aamodt: "Modeling Deep
 * Learning Accelerator Enabled GPUs" (arXiv 1811.08309).
 */
static inline void octet_place(bool along, u32 octets, u32 lane, u32 i, u32 *row, u32 *k)
{
	quad_place(!along, octet_lane(lane), i & 3, row, k);
	*row += 8 * mma_octet(octets, lane >> 2 & 3);
	*k += i & ~3u;
}

/* Of the accumulator; type: enum mma_type. */
static inline void octet_sum_place(u32 type, u32 by_row, u32 by_column, u32 lane, u32 i, u32 *row,
				   u32 *column)
{
	quad_sum_place(type, octet_lane(lane), i, row, column);
	*row += 8 * mma_octet(by_row, lane >> 2 & 3);
	*column += 8 * mma_octet(by_column, lane >> 2 & 3);
}

/* ---- wgmma ---- */

/*
 * A matrix descriptor. PTX ISA "Asynchronous warpgroup-level matrix instructions: Matrix Descriptor
 * Format".
 */
struct shared_window {
	u32 start, lbo, sbo;
	u32 span;   /* bytes of a swizzled row: 128, 64, 32; 16: no swizzle */
	bool along; /* the other dimension than k is contiguous */
};

static inline struct shared_window window_of(u64 descriptor, bool along)
{
	static const u8 spans[4] = {16, 128, 64, 32};

	return (struct shared_window){
		.start = (u32)(descriptor & 0x3fff) << 4,
		.lbo = (u32)(descriptor >> 16 & 0x3fff) << 4,
		.sbo = (u32)(descriptor >> 32 & 0x3fff) << 4,
		.span = spans[descriptor >> 62],
		.along = along,
	};
}

/* Offset in shared memory of byte `at` of row r; along: `at` counts the bytes of r, k is r. */
static inline u32 window_offset(const struct shared_window *m, u32 r, u32 at)
{
	u32 off;

	if (m->span == 16)
		off = r / 8 * (m->along ? m->lbo : m->sbo) + r % 8 * 16 +
		      at / 16 * (m->along ? m->sbo : m->lbo) + at % 16;
	else
		off = r / 8 * m->sbo + r % 8 * m->span + at / m->span * m->lbo + at % m->span;
	off += m->start;
	return off ^ ((off >> 7 & (m->span / 16 - 1)) << 4);
}

#endif
