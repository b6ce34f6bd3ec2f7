/*
 * A sparse A, as words of a dense one. A row stores two of each four numbers, of tf32 one of two;
 * which ones, its metadata says: two bits for each stored number, for tf32 four. PTX ISA
 * "Warp-level matrix instructions: mma.sp", "Sparse matrix storage"; which lanes hold them is
 * measured.
 *
 * Of a stored quad comes a pair of quads whose words p have the numbers k = 4 c + p, c being the
 * number of the four: so a word is made by one comparison. B is brought into the same order.
 */
#include "src/mma/mma_plane.h"

/* What is stored of the fours that a word of a dense quad comes from: numbers and their places. */
struct stored_fours {
	mma_vi low, high, low_at, high_at;
};

/* Halves of words a and b, of which two bits each of the metadata say where they belong. */
MMA_INLINE struct stored_fours stored_halves(mma_vi a, mma_vi b, mma_vi meta_a, mma_vi meta_b)
{
	mma_vi at = (meta_a & 15) | (meta_b & 15) << 16;

	return (struct stored_fours){
		.low = (a & 0xffff) | b << 16,
		.high = (mma_vi)((mma_vu)a >> 16) | (b & (s32)0xffff0000),
		.low_at = at & 0x30003,
		.high_at = at >> 2 & 0x30003,
	};
}

/* Bytes: meta has four bits for each pair of bytes of a, then of b. */
MMA_INLINE struct stored_fours stored_bytes(mma_vi a, mma_vi b, mma_vi meta_a, mma_vi meta_b)
{
	mma_vi at =
		(meta_a & 15) | (meta_a & 0xf0) << 4 | (meta_b & 15) << 16 | (meta_b & 0xf0) << 20;

	return (struct stored_fours){
		.low = (a & 0xff) | (a >> 8 & 0xff00) | (b & 0xff) << 16 | (b & 0xff0000) << 8,
		.high = (a >> 8 & 0xff) | (a >> 16 & 0xff00) | (b & 0xff00) << 8 |
			(b & (s32)0xff000000),
		.low_at = at & 0x03030303,
		.high_at = at >> 2 & 0x03030303,
	};
}

/* Those of the places p. */
MMA_INLINE mma_vi dense_word(u32 type, const struct stored_fours *x, u32 p)
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
MMA_INLINE void expand_quad(u32 type, bool normal, const struct mma_words *from, mma_vi meta, u32 q,
			    u32 v, struct mma_words *to)
{
	struct stored_fours x;

	if (type == MMA_TF32) { /* one of words 0 and 1 of each four, one of 2 and 3 */
		MMA_UNROLL
		for (u32 p = 0; p < 4; p++) {
			mma_vi odd = (meta >> (s32)(8 * q + p / 2 * 4) & 15) == 14;

			to->at[p][v] = from->at[2 * q + p / 2][v] & (p % 2 ? odd : ~odd);
		}
		return;
	}
	if (type == MMA_F16) {
		x = stored_halves(from->at[q][v], from->at[q + 2][v], meta >> (s32)(4 * q),
				  meta >> (s32)(4 * q + 8));
	} else if (type == MMA_BF16) {
		x = stored_halves(from->at[2 * q][v], from->at[2 * q + 1][v], meta >> (s32)(8 * q),
				  meta >> (s32)(8 * q + 4));
	} else if (normal) { /* the even fours, then the odd ones */
		mma_vi a = from->at[2 * q][v], b = from->at[2 * q + 1][v];
		mma_vi m = meta >> (s32)(16 * q);

		x = stored_bytes((a & 0xffff) | b << 16,
				 (mma_vi)((mma_vu)a >> 16) | (b & (s32)0xffff0000),
				 (m & 15) | (m >> 4 & 0xf0), (m >> 4 & 15) | (m >> 8 & 0xf0));
	} else {
		x = stored_bytes(from->at[q][v], from->at[q + 2][v], meta >> (s32)(8 * q),
				 meta >> (s32)(8 * q + 16));
	}
	MMA_UNROLL
	for (u32 p = 0; p < 4; p++)
		to->at[p][v] = dense_word(type, &x, p);
}

/*
 * The metadata of 16 rows. That of the lower eight rows lies in the upper halves of words; of
 * bytes, in the neighbour's word.
 */
MMA_INLINE void take_metadata(u32 type, const u32 *meta, struct mma_words *m)
{
	u32 low[MMA_FRAGMENT_WORDS] __attribute__((aligned(64)));

	for (u32 i = 0; i < MMA_FRAGMENT_WORDS; i++)
		low[i] = mma_bits(type) == 8 ? meta[i ^ 1] : meta[i] >> 16;
	mma_load_words(meta, low, m);
}

/* Groups from one of a pair to the other: fp8 in two blocks has the even fours first. */
MMA_INLINE u32 next_group(const struct mma_lay *lay)
{
	return lay->normal ? lay->quads : 1;
}

MMA_INLINE u32 first_group(const struct mma_lay *lay, u32 type, u32 pair)
{
	return lay->normal ? pair : pair * mma_pair_groups(type);
}

MMA_INLINE bool sparse_left(u32 type, const struct mma_lay *lay, const struct mma_left_at *from,
			    struct mma_left *l, struct mma_range *range)
{
	struct mma_words words, m, to[2];

	take_metadata(type, from->meta, &m);
	for (u32 q = 0; q < lay->quads; q++) {
		u32 lane = mma_meta_lane(mma_bits(type), lay->quads, q, 0, lay->selector);

		mma_load_words(from->top[q], from->bottom[q], &words);
		MMA_UNROLL
		for (u32 i = 0; i < 2; i++)
			MMA_UNROLL
		for (u32 v = 0; v < MMA_PER_ROWS; v++)
			expand_quad(type, lay->normal, &words, m.at[lane][v], i, v, &to[i]);
		mma_left_pair(lay, type, &to[0], &to[1], first_group(lay, type, q), next_group(lay),
			      l);
	}
	return mma_left_is_plain(mma_slots(type) == 4, lay->quads * mma_pair_groups(type), l,
				 range);
}

/* Quad q of a pair of B, in the same order. */
MMA_INLINE mma_vi order_right(u32 type, bool normal, mma_vi first, mma_vi second, u32 q)
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

MMA_INLINE bool sparse_right(u32 type, const struct mma_lay *lay, const u32 *const *frag,
			     struct mma_right *r, struct mma_range *range)
{
	for (u32 i = 0; i < lay->quads; i++)
		for (u32 v = 0; v < MMA_FRAGMENT_WORDS / MMA_W; v++) {
			mma_vi x = mma_load(frag[2 * i] + v * MMA_W),
			       y = mma_load(frag[2 * i + 1] + v * MMA_W);

			mma_right_pair(lay, type, order_right(type, lay->normal, x, y, 0),
				       order_right(type, lay->normal, x, y, 1), true, v,
				       first_group(lay, type, i), next_group(lay), r);
		}
	return mma_right_is_plain(mma_slots(type) == 4, lay->quads * mma_pair_groups(type), r,
				  range);
}

#define SPARSE(name, type)                                                                         \
	static bool name##_left(const struct mma_lay *lay, const struct mma_left_at *from,         \
				struct mma_left *l, struct mma_range *range)                       \
	{                                                                                          \
		return sparse_left(type, lay, from, l, range);                                     \
	}                                                                                          \
	static bool name##_right(const struct mma_lay *lay, const u32 *const *frag,                \
				 struct mma_right *r, struct mma_range *range)                     \
	{                                                                                          \
		return sparse_right(type, lay, frag, r, range);                                    \
	}

SPARSE(sparse_f16, MMA_F16)
SPARSE(sparse_bf16, MMA_BF16)
SPARSE(sparse_tf32, MMA_TF32)
SPARSE(sparse_e4m3, MMA_E4M3)
SPARSE(sparse_e5m2, MMA_E5M2)

const struct mma_decoder EXEC_NAME(mma_sparse)[MMA_PLANE_TYPES] = {
	[MMA_F16] = {sparse_f16_left, sparse_f16_right},
	[MMA_BF16] = {sparse_bf16_left, sparse_bf16_right},
	[MMA_TF32] = {sparse_tf32_left, sparse_tf32_right},
	[MMA_E4M3] = {sparse_e4m3_left, sparse_e4m3_right},
	[MMA_E5M2] = {sparse_e5m2_left, sparse_e5m2_right},
};
