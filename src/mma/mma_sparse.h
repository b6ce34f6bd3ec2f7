/*
 * A sparse A, as words of a dense one. A row stores two of each four numbers, of tf32 one of two;
 * which ones, its metadata says: two bits for each stored number, for tf32 four. PTX ISA
 * "Warp-level matrix instructions: mma.sp", "Sparse matrix storage"; which lanes hold them is
 * measured.
 *
 * Of a stored quad comes a pair of quads whose words p have the numbers k = 4 c + p, c being the
 * number of the four: so a word is made by one comparison. B is brought into the same order.
 */
#ifndef PL_EXEC_MMA_SPARSE_H
#define PL_EXEC_MMA_SPARSE_H

#include "src/mma/mma_plane.h"

/* What is stored of the fours that a word of a dense quad comes from: numbers and their places. */
struct mma_stored {
	mma_vi low, high, low_at, high_at;
};

/* Halves of words a and b, of which two bits each of the metadata say where they belong. */
MMA_INLINE struct mma_stored mma_stored_halves(mma_vi a, mma_vi b, mma_vi meta_a, mma_vi meta_b)
{
	mma_vi at = (meta_a & 15) | (meta_b & 15) << 16;

	return (struct mma_stored){
		.low = (a & 0xffff) | b << 16,
		.high = (mma_vi)((mma_vu)a >> 16) | (b & (s32)0xffff0000),
		.low_at = at & 0x30003,
		.high_at = at >> 2 & 0x30003,
	};
}

/* Bytes: meta has four bits for each pair of bytes of a, then of b. */
MMA_INLINE struct mma_stored mma_stored_bytes(mma_vi a, mma_vi b, mma_vi meta_a, mma_vi meta_b)
{
	mma_vi at =
		(meta_a & 15) | (meta_a & 0xf0) << 4 | (meta_b & 15) << 16 | (meta_b & 0xf0) << 20;

	return (struct mma_stored){
		.low = (a & 0xff) | (a >> 8 & 0xff00) | (b & 0xff) << 16 | (b & 0xff0000) << 8,
		.high = (a >> 8 & 0xff) | (a >> 16 & 0xff00) | (b & 0xff00) << 8 |
			(b & (s32)0xff000000),
		.low_at = at & 0x03030303,
		.high_at = at >> 2 & 0x03030303,
	};
}

/* Those of the places p. */
MMA_INLINE mma_vi mma_dense_word(u32 type, const struct mma_stored *x, u32 p)
{
	mma_vi second, first;

	if (mma_bits(type) == 16) {
		second = (mma_vi)((mma_vh)x->high_at == (s16)p);
		first = (mma_vi)((mma_vh)x->low_at == (s16)p);
	} else {
		second = (mma_vi)((mma_vb)x->high_at == (s8)p);
		first = (mma_vi)((mma_vb)x->low_at == (s8)p);
	}
	return (x->high & second) | (x->low & first & ~second);
}

/*
 * Quad q of the pair, of vectors v of the stored one; the fours are in the order of mma_pair_place.
 */
MMA_INLINE void mma_expand_quad(u32 type, bool normal, const struct mma_words *from, mma_vi meta,
				u32 q, u32 v, struct mma_words *to)
{
	struct mma_stored x;

	if (type == MMA_TF32) { /* one of words 0 and 1 of each four, one of 2 and 3 */
		MMA_UNROLL
		for (u32 p = 0; p < 4; p++) {
			mma_vi odd = (meta >> (s32)(8 * q + p / 2 * 4) & 15) == 14;

			to->at[p][v] = from->at[2 * q + p / 2][v] & (p % 2 ? odd : ~odd);
		}
		return;
	}
	if (type == MMA_F16) {
		x = mma_stored_halves(from->at[q][v], from->at[q + 2][v], meta >> (s32)(4 * q),
				      meta >> (s32)(4 * q + 8));
	} else if (type == MMA_BF16) {
		x = mma_stored_halves(from->at[2 * q][v], from->at[2 * q + 1][v],
				      meta >> (s32)(8 * q), meta >> (s32)(8 * q + 4));
	} else if (normal) { /* the even fours, then the odd ones */
		mma_vi a = from->at[2 * q][v], b = from->at[2 * q + 1][v];
		mma_vi m = meta >> (s32)(16 * q);

		x = mma_stored_bytes((a & 0xffff) | b << 16,
				     (mma_vi)((mma_vu)a >> 16) | (b & (s32)0xffff0000),
				     (m & 15) | (m >> 4 & 0xf0), (m >> 4 & 15) | (m >> 8 & 0xf0));
	} else {
		x = mma_stored_bytes(from->at[q][v], from->at[q + 2][v], meta >> (s32)(8 * q),
				     meta >> (s32)(8 * q + 16));
	}
	MMA_UNROLL
	for (u32 p = 0; p < 4; p++)
		to->at[p][v] = mma_dense_word(type, &x, p);
}

/*
 * The metadata of 16 rows, of words `lane` of each row and for bytes those behind in the lower
 * eight rows.
 */
MMA_INLINE void mma_take_meta(u32 type, const u32 *meta, struct mma_words *m)
{
	u32 low[MMA_FRAGMENT_WORDS] __attribute__((aligned(64)));

	for (u32 i = 0; i < MMA_FRAGMENT_WORDS; i++)
		low[i] = mma_bits(type) == 8 ? meta[i ^ 1] : meta[i] >> 16;
	mma_take_words(meta, low, m);
}

/* Groups from one of a pair to the other: fp8 in two blocks has the even fours first. */
static inline u32 mma_sparse_next(const struct mma_lay *lay)
{
	return lay->normal ? lay->quads : 1;
}

static inline u32 mma_sparse_group(const struct mma_lay *lay, u32 type, u32 pair)
{
	return lay->normal ? pair : pair * mma_pair_groups(type);
}

MMA_INLINE void mma_expand_type(const struct mma_lay *lay, u32 type, const u32 *const *top,
				const u32 *const *bottom, const u32 *meta, u32 selector,
				struct mma_left *l)
{
	struct mma_words from, m, to[2];

	mma_take_meta(type, meta, &m);
	for (u32 q = 0; q < lay->quads; q++) {
		u32 lane = mma_meta_lane(mma_bits(type), lay->quads, q, 0, selector);

		mma_take_words(top[q], bottom[q], &from);
		MMA_UNROLL
		for (u32 i = 0; i < 2; i++)
			MMA_UNROLL
		for (u32 v = 0; v < MMA_PER_ROWS; v++)
			mma_expand_quad(type, lay->normal, &from, m.at[lane][v], i, v, &to[i]);
		mma_left_pair(lay, type, &to[0], &to[1], mma_sparse_group(lay, type, q),
			      mma_sparse_next(lay), l);
	}
}

/* Quad q of a pair of B, in the same order. */
MMA_INLINE mma_vi mma_order_right(u32 type, bool normal, mma_vi first, mma_vi second, u32 q)
{
	static const u8 halves[16] = {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15};
	static const u8 bytes[16] = {0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15};
	static const u8 even[16] = {0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15};

	if (type == MMA_TF32)
		return q ? second : first;
	if (type == MMA_BF16)
		return mma_choose(q ? second : first, halves);
	if (type != MMA_F16 && normal)
		return mma_choose(q ? second : first, even);
	if (type != MMA_F16) {
		first = mma_choose(first, bytes);
		second = mma_choose(second, bytes);
	}
	return q ? mma_high_halves(first, second) : mma_low_halves(first, second);
}

MMA_INLINE void mma_right_sparse_type(const struct mma_lay *lay, u32 type, const u32 *const *frag,
				      struct mma_right *r)
{
	for (u32 i = 0; i < lay->quads; i++)
		for (u32 v = 0; v < MMA_FRAGMENT_WORDS / MMA_W; v++) {
			mma_vi x = mma_load(frag[2 * i] + v * MMA_W),
			       y = mma_load(frag[2 * i + 1] + v * MMA_W);

			mma_right_pair(lay, type, mma_order_right(type, lay->normal, x, y, 0),
				       mma_order_right(type, lay->normal, x, y, 1), true, v,
				       mma_sparse_group(lay, type, i), mma_sparse_next(lay), r);
		}
}

#endif
