/*
 * Products of integer matrices, of single bits and of f64. Integers are multiplied as pairs of 16
 * bits; sums wrap, or saturate once at the end. PTX ISA "Warp-level matrix instructions: mma".
 */
#include "src/mma/mma.h"
#include "src/mma/mma_vec.h"
#include "src/num/numeric_all.h"

/* Word `lane` (0 to 3) of each row, four times. */
static inline mma_vi spread_at(mma_vi v, u32 lane)
{
	u8 which[16];

	for (u32 i = 0; i < 16; i++)
		which[i] = (u8)(4 * lane + i % 4);
	return mma_choose(v, which);
}

static inline mma_vi word_positions(void)
{
	mma_vi v;

	for (u32 i = 0; i < MMA_W; i++)
		v[i] = (s32)(i % 4);
	return v;
}

/* Words of eight columns, [column][t], to [t][even columns, odd columns]. */
#if MMA_W == 16

static void transpose_columns(const u32 *from, u32 *to)
{
	mma_vi a = mma_load(from), b = mma_load(from + 16);

	mma_store(to, __builtin_shufflevector(a, b, 0, 8, 16, 24, 4, 12, 20, 28, 1, 9, 17, 25, 5,
					      13, 21, 29));
	mma_store(to + 16, __builtin_shufflevector(a, b, 2, 10, 18, 26, 6, 14, 22, 30, 3, 11, 19,
						   27, 7, 15, 23, 31));
}

#else

static void transpose_columns(const u32 *from, u32 *to)
{
	for (u32 t = 0; t < 4; t++)
		for (u32 j = 0; j < 8; j++)
			to[8 * t + j] = from[4 * (j % 4 * 2 + j / 4) + t];
}

#endif

/* Bits set in each byte. */
static inline mma_vi count_bits(mma_vi x)
{
	static const u8 counts[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
	mma_vi table = mma_each_row(counts);

	return (mma_vi)((mma_vub)mma_look_up(table, x & 0x0f0f0f0f) +
			(mma_vub)mma_look_up(table, (x >> 4) & 0x0f0f0f0f));
}

static inline mma_vi add_byte_counts(mma_vi x)
{
	x = (x & 0xff00ff) + ((x >> 8) & 0xff00ff);
	return (x & 0xffff) + (mma_vi)((mma_vu)x >> 16);
}

/* Pair n of the numbers of each word, as two 16-bit integers; which two does not matter. */
MMA_INLINE mma_vi number_pair(u32 type, mma_vi w, u32 n)
{
	switch (type) {
	case MMA_S8:
		return (mma_vi)((mma_vh)(n ? w : w << 8) >> 8);
	case MMA_U8:
		return (n ? w >> 8 : w) & 0xff00ff;
	case MMA_S4:
		return (mma_vi)((mma_vh)(w << (s32)(12 - 4 * n)) >> 12);
	case MMA_U4:
		return (w >> (s32)(4 * n)) & 0xf000f;
	default:
		return w;
	}
}

/*
 * Words of a stored quad (half of it) where they stand in a dense row: bytes, of which two of four
 * are there.
 */
static mma_vi expand_words(mma_vi words, mma_vi meta, u32 half)
{
	mma_vi at = word_positions(), x, first, second, gap, m;

	x = mma_pick(at < 2, spread_at(words, 2 * half), spread_at(words, 2 * half + 1));
	x = mma_pick((at & 1) == 1, x >> 16, x);
	m = (meta >> (s32)(16 * half)) >> (at * 4);
	first = (m & 3) * 8;
	second = (m >> 2 & 3) * 8;
	gap = ((mma_vi){0} + 0xff) << second;
	return (((x & 0xff) << first) & ~gap) | ((x >> 8 & 0xff) << second);
}

/* Words of A of 16 rows: vectors by quad of the dense row. */
struct left_words {
	mma_vi quad[MMA_MAX_QUADS][MMA_VECTORS];
};

static u32 load_left(const struct mma_product *x, u32 row, struct left_words *l)
{
	u32 quads = x->form.words / 4u;
	bool sparse = x->form.flags & MMA_SPARSE;

	for (u32 v = 0; v < MMA_VECTORS; v++) {
		u32 high = v / (MMA_VECTORS / 2), at = v % (MMA_VECTORS / 2) * MMA_W;

		for (u32 q = 0; q < quads; q++) {
			mma_vi w = mma_load((row + high < x->rows ? x->a[row + high][q]
								  : EXEC_NAME(mma_zeros)) +
					    at),
			       m;

			if (!sparse) {
				l->quad[q][v] = w;
				continue;
			}
			m = spread_at(mma_load(x->meta + at),
				      mma_meta_lane(8, quads, q, high, x->rule.extra));
			l->quad[2 * q][v] = expand_words(w, m, 0);
			l->quad[2 * q + 1][v] = expand_words(w, m, 1);
		}
	}
	return quads << sparse;
}

/* B of 8 columns: words of [t][column], of each quad and each pair of numbers. */
struct right_words {
	u32 pair[MMA_MAX_QUADS][4][MMA_FRAGMENT_WORDS] __attribute__((aligned(64)));
};

MMA_INLINE void load_right(u32 type, u32 pairs, const u32 *const *b, u32 quads,
			   struct right_words *r)
{
	u32 transposed[MMA_FRAGMENT_WORDS] __attribute__((aligned(64)));

	for (u32 q = 0; q < quads; q++) {
		transpose_columns(b[q], transposed);
		for (u32 n = 0; n < pairs; n++)
			for (u32 v = 0; v < MMA_FRAGMENT_WORDS / MMA_W; v++)
				mma_store(r->pair[q][n] + v * MMA_W,
					  number_pair(type, mma_load(transposed + v * MMA_W), n));
	}
}

struct int_sums {
	mma_vi at[MMA_VECTORS][2];
};

/*
 * What one word of A and one of B add: products of pairs, or the bits set in both or in one, by
 * byte.
 */
MMA_INLINE mma_vi add_word(u32 type, bool both, mma_vi sum, mma_vi a, mma_vi b)
{
	if (type == MMA_B1)
		return (mma_vi)((mma_vub)sum + (mma_vub)count_bits(both ? a & b : a ^ b));
	return sum + mma_pairs(a, b);
}

/* Sums of four vectors of rows, which stay in registers. */
MMA_INLINE void add_chunk(u32 type, bool both, u32 pairs, const struct left_words *l,
			  const struct right_words *r, u32 quads, u32 chunk, struct int_sums *sums)
{
	mma_vi s[4][2] = {{{0}}}, a[4];

	for (u32 q = 0; q < quads; q++)
		for (u32 n = 0; n < pairs; n++) {
			const mma_vi *words = &l->quad[q][4 * chunk];

			a[0] = number_pair(type, words[0], n);
			a[1] = number_pair(type, words[1], n);
			a[2] = number_pair(type, words[2], n);
			a[3] = number_pair(type, words[3], n);
#define ROW(v, t)                                                                                  \
	do {                                                                                       \
		mma_vi x = mma_spread(a[v], t);                                                    \
                                                                                                   \
		s[v][0] = add_word(type, both, s[v][0], x, b0);                                    \
		s[v][1] = add_word(type, both, s[v][1], x, b1);                                    \
	} while (0)
#define STEP(t)                                                                                    \
	do {                                                                                       \
		mma_vi b0 = mma_each_row(r->pair[q][n] + 8 * t),                                   \
		       b1 = mma_each_row(r->pair[q][n] + 8 * t + 4);                               \
                                                                                                   \
		ROW(0, t);                                                                         \
		ROW(1, t);                                                                         \
		ROW(2, t);                                                                         \
		ROW(3, t);                                                                         \
	} while (0)
			STEP(0);
			STEP(1);
			STEP(2);
			STEP(3);
#undef STEP
#undef ROW
		}
#define GIVE(v) sums->at[4 * chunk + v][0] = s[v][0], sums->at[4 * chunk + v][1] = s[v][1]
	GIVE(0);
	GIVE(1);
	GIVE(2);
	GIVE(3);
#undef GIVE
}

MMA_INLINE void add_all(u32 type, bool both, u32 pairs, const struct left_words *l,
			const struct right_words *r, u32 quads, struct int_sums *s)
{
	for (u32 chunk = 0; chunk < MMA_VECTORS / 4; chunk++)
		add_chunk(type, both, pairs, l, r, quads, chunk, s);
}

static void load_right_of(const struct mma_product *x, u32 column, u32 quads, struct right_words *r)
{
	const u32 *const *b = (const u32 *const *)x->b[column];

	switch (x->form.b) {
	case MMA_S8:
		load_right(MMA_S8, 2, b, quads, r);
		break;
	case MMA_U8:
		load_right(MMA_U8, 2, b, quads, r);
		break;
	case MMA_S4:
		load_right(MMA_S4, 4, b, quads, r);
		break;
	case MMA_U4:
		load_right(MMA_U4, 4, b, quads, r);
		break;
	default:
		load_right(MMA_B1, 1, b, quads, r);
		break;
	}
}

static void add_left_of(const struct mma_product *x, const struct left_words *l,
			const struct right_words *r, u32 quads, struct int_sums *s)
{
	switch (x->form.a) {
	case MMA_S8:
		add_all(MMA_S8, false, 2, l, r, quads, s);
		break;
	case MMA_U8:
		add_all(MMA_U8, false, 2, l, r, quads, s);
		break;
	case MMA_S4:
		add_all(MMA_S4, false, 4, l, r, quads, s);
		break;
	case MMA_U4:
		add_all(MMA_U4, false, 4, l, r, quads, s);
		break;
	default:
		if (x->form.flags & MMA_AND)
			add_all(MMA_B1, true, 1, l, r, quads, s);
		else
			add_all(MMA_B1, false, 1, l, r, quads, s);
		break;
	}
}

static mma_vi add_int_accumulator(mma_vi c, mma_vi sum, bool saturate)
{
	mma_vi d = (mma_vi)((mma_vu)c + (mma_vu)sum);

	if (saturate)
		d = mma_pick(((c ^ d) & (sum ^ d)) >> 31, (c >> 31) ^ INT32_MAX, d);
	return d;
}

/* Rows that are not there are not stored. */
static void store_int_sums(struct mma_product *x, u32 row, u32 column, const struct int_sums *s)
{
	for (u32 v = 0; v < MMA_VECTORS; v++)
		for (u32 p = 0; p < 2; p++) {
			u32 high = v / (MMA_VECTORS / 2), at = v % (MMA_VECTORS / 2) * MMA_W;
			u32 r = mma_register(x, MMA_S32, row + high, column, p);

			if (row + high >= x->rows)
				return;
			mma_store(x->d[r] + at,
				  add_int_accumulator(mma_load(x->c[r] + at),
						      x->form.a == MMA_B1
							      ? add_byte_counts(s->at[v][p])
							      : s->at[v][p],
						      x->form.flags & MMA_SATURATE));
		}
}

void EXEC_NAME(mma_multiply_integers)(struct mma_product *x)
{
	struct left_words l;
	struct right_words r;
	struct int_sums s;

	for (u32 i = 0; i < x->rows; i += 2) {
		u32 quads = load_left(x, i, &l);

		for (u32 j = 0; j < x->columns; j++) {
			load_right_of(x, j, quads, &r);
			add_left_of(x, &l, &r, quads, &s);
			store_int_sums(x, i, j, &s);
		}
	}
}

/* ---- f64: a chain of fused multiply-adds from the accumulator, k ascending ---- */

static u64 double_at(const u32 *fragment, u32 i)
{
	u64 u;

	memcpy(&u, fragment + 2 * i, 8);
	return u;
}

typedef f64 f64_columns __attribute__((vector_size(64)));

#if defined(__FMA__)

static inline f64_columns fuse(f64 a, f64_columns b, f64_columns c)
{
	f64_columns r;

	for (u32 j = 0; j < 8; j++)
		r[j] = __builtin_fma(a, b[j], c[j]);
	return r;
}

/* Four rows of a tile as the host multiplies; false: a NaN, whose bits have rules of their own. */
static bool chain_rows(const f64 (*a)[16], const f64_columns *b, u32 k, f64_columns *s)
{
	f64_columns s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3];
	bool nan = false;

	for (u32 i = 0; i < k; i++) {
		s0 = fuse(a[0][i], b[i], s0);
		s1 = fuse(a[1][i], b[i], s1);
		s2 = fuse(a[2][i], b[i], s2);
		s3 = fuse(a[3][i], b[i], s3);
	}
	s[0] = s0;
	s[1] = s1;
	s[2] = s2;
	s[3] = s3;
	for (u32 y = 0; y < 4; y++)
		for (u32 j = 0; j < 8; j++)
			nan |= s[y][j] != s[y][j];
	return !nan;
}

#else

/* A host without fused multiply-adds. */
static bool chain_rows(const f64 (*a)[16], const f64_columns *b, u32 k, f64_columns *s)
{
	(void)a;
	(void)b;
	(void)k;
	(void)s;
	return false;
}

#endif

static void chain_slowly(const struct mma_product *x, const f64 (*a)[16], const f64_columns *b,
			 f64_columns *s)
{
	for (u32 y = 0; y < 4; y++)
		for (u32 j = 0; j < 8; j++) {
			u64 d = bits_f64(s[y][j]);

			for (u32 i = 0; i < x->form.words; i++)
				d = num_fma_f64(bits_f64(a[y][i]), bits_f64(b[i][j]), d,
						x->rule.extra);
			s[y][j] = f64_bits(d);
		}
}

/*
 * Eight rows and columns: those of B and the accumulators first the even ones, then the odd ones.
 */
static void multiply_f64_tile(struct mma_product *x, u32 row, u32 column)
{
	u32 k = x->form.words, r = mma_register(x, MMA_F64, row, column, 0);
	f64_columns b[16], c[8], s[8];
	f64 a[8][16];

	for (u32 i = 0; i < k; i++)
		for (u32 j = 0; j < 8; j++)
			b[i][j] = f64_bits(
				double_at(x->b[column][i / 4], 4 * (j % 4 * 2 + j / 4) + i % 4));
	for (u32 y = 0; y < 8; y++) {
		for (u32 q = 0; q < k / 4; q++)
			memcpy(&a[y][4 * q], x->a[row][q] + 8 * y, 32);
		memcpy(&c[y], x->c[r] + 8 * y, 32);
		memcpy((u8 *)&c[y] + 32, x->c[r + 1] + 8 * y, 32);
	}
	memcpy(s, c, sizeof(s));
	for (u32 y = 0; y < 8; y += 4)
		if (x->rule.extra != NUM_RN || !chain_rows((const f64(*)[16])a + y, b, k, s + y)) {
			memcpy(s + y, c + y, sizeof(s) / 2);
			chain_slowly(x, (const f64(*)[16])a + y, b, s + y);
		}
	for (u32 y = 0; y < 8; y++) {
		memcpy(x->d[2 * r] + 8 * y, &s[y], 32);
		memcpy(x->d[2 * r + 2] + 8 * y, (const u8 *)&s[y] + 32, 32);
	}
}

void EXEC_NAME(mma_multiply_f64)(struct mma_product *x)
{
	for (u32 i = 0; i < x->rows; i++)
		for (u32 j = 0; j < x->columns; j++)
			multiply_f64_tile(x, i, j);
}
