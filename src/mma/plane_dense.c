/*
 * Planes of a dense A and of B: a function for each type and way to take quads, so that loops and
 * cases go when this is compiled.
 */
#include "src/mma/mma_plane.h"

/* Groups that the quads of a row make. */
MMA_INLINE u32 dense_groups(u32 type, enum mma_quads quads)
{
	u32 pair = mma_pair_groups(type);

	if (quads == MMA_QUADS_ALONE)
		return 2 * pair;
	return type == MMA_BF16 && quads == MMA_QUADS_ONE ? 1 : pair;
}

MMA_INLINE bool dense_left(u32 type, enum mma_quads quads, const struct mma_lay *lay,
			   const struct mma_left_at *from, struct mma_left *l,
			   struct mma_range *range)
{
	struct mma_words first, second;

	mma_load_words(from->top[0], from->bottom[0], &first);
	if (quads != MMA_QUADS_ONE)
		mma_load_words(from->top[1], from->bottom[1], &second);
	mma_left_pair(lay, type, &first, quads == MMA_QUADS_PAIR ? &second : NULL, 0, 1, l);
	if (quads == MMA_QUADS_ALONE)
		mma_left_pair(lay, type, &second, NULL, mma_pair_groups(type), 1, l);
	return mma_left_is_plain(mma_slots(type) == 4, dense_groups(type, quads), l, range);
}

MMA_INLINE bool dense_right(u32 type, enum mma_quads quads, const struct mma_lay *lay,
			    const u32 *const *frag, struct mma_right *r, struct mma_range *range)
{
	const bool pair = quads == MMA_QUADS_PAIR;
	const u32 steps = quads == MMA_QUADS_ALONE ? 2 : 1;

	for (u32 q = 0; q < steps; q++)
		MMA_UNROLL
	for (u32 v = 0; v < MMA_FRAGMENT_WORDS / MMA_W; v++) {
		mma_vi x = mma_load(frag[q] + v * MMA_W), y = {0};

		if (pair)
			y = mma_load(frag[1] + v * MMA_W);
		mma_right_pair(lay, type, x, y, pair, v, q * mma_pair_groups(type), 1, r);
	}
	return mma_right_is_plain(mma_slots(type) == 4, dense_groups(type, quads), r, range);
}

#define DENSE(name, type, quads)                                                                   \
	static bool name##_left(const struct mma_lay *lay, const struct mma_left_at *from,         \
				struct mma_left *l, struct mma_range *range)                       \
	{                                                                                          \
		return dense_left(type, quads, lay, from, l, range);                               \
	}                                                                                          \
	static bool name##_right(const struct mma_lay *lay, const u32 *const *frag,                \
				 struct mma_right *r, struct mma_range *range)                     \
	{                                                                                          \
		return dense_right(type, quads, lay, frag, r, range);                              \
	}

DENSE(f16_one, MMA_F16, MMA_QUADS_ONE)
DENSE(f16_pair, MMA_F16, MMA_QUADS_PAIR)
DENSE(f16_alone, MMA_F16, MMA_QUADS_ALONE)
DENSE(bf16_one, MMA_BF16, MMA_QUADS_ONE)
DENSE(bf16_pair, MMA_BF16, MMA_QUADS_PAIR)
DENSE(tf32_one, MMA_TF32, MMA_QUADS_ONE)
DENSE(tf32_pair, MMA_TF32, MMA_QUADS_PAIR)
DENSE(tf32_alone, MMA_TF32, MMA_QUADS_ALONE)
DENSE(e4m3_one, MMA_E4M3, MMA_QUADS_ONE)
DENSE(e4m3_pair, MMA_E4M3, MMA_QUADS_PAIR)
DENSE(e5m2_one, MMA_E5M2, MMA_QUADS_ONE)
DENSE(e5m2_pair, MMA_E5M2, MMA_QUADS_PAIR)

#define STEPS(name)                                                                                \
	{                                                                                          \
		name##_left, name##_right                                                          \
	}

/* Planes of bf16 are each quad's own in any case; blocks of fp8 are not quads. */
const struct mma_decoder EXEC_NAME(mma_dense)[MMA_PLANE_TYPES][MMA_QUADS_KINDS] = {
	[MMA_F16] = {STEPS(f16_one), STEPS(f16_pair), STEPS(f16_alone)},
	[MMA_BF16] = {STEPS(bf16_one), STEPS(bf16_pair)},
	[MMA_TF32] = {STEPS(tf32_one), STEPS(tf32_pair), STEPS(tf32_alone)},
	[MMA_E4M3] = {STEPS(e4m3_one), STEPS(e4m3_pair)},
	[MMA_E5M2] = {STEPS(e5m2_one), STEPS(e5m2_pair)},
};
