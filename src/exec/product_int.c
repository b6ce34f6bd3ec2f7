/*
 * Products of integer matrices, of single bits and of f64. Integers are multiplied as pairs of 16
 * bits; sums wrap, or saturate once at the end. PTX ISA "Warp-level matrix instructions: mma".
 */
#include "src/exec/mma_product.h"
#include "src/exec/mma_sparse.h"
#include "src/exec/numeric_all.h"

static const u32 nothing[2 * WARP_LANES] __attribute__((aligned(64)));

/* Two products of 16 bits, added. */
static inline mma_vi multiply_pairs(mma_vi a, mma_vi b)
{
#if MMA_W == 16
	return (mma_vi)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif MMA_W == 8
	return (mma_vi)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
	return (mma_vi)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
	return ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);
#endif
}

/* Numbers set for each byte. */
static inline mma_vi count_bits(mma_vi x)
{
#if MMA_W > 4 || defined(__SSSE3__)
	static const u8 counts[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
	mma_vi table = mma_each_row(counts), low = x & 0x0f0f0f0f, high = (x >> 4) & 0x0f0f0f0f;

#if MMA_W == 16
	return (mma_vi)_mm512_add_epi8(_mm512_shuffle_epi8((__m512i)table, (__m512i)low),
				       _mm512_shuffle_epi8((__m512i)table, (__m512i)high));
#elif MMA_W == 8
	return (mma_vi)_mm256_add_epi8(_mm256_shuffle_epi8((__m256i)table, (__m256i)low),
				       _mm256_shuffle_epi8((__m256i)table, (__m256i)high));
#else
	return (mma_vi)_mm_add_epi8(_mm_shuffle_epi8((__m128i)table, (__m128i)low),
				    _mm_shuffle_epi8((__m128i)table, (__m128i)high));
#endif
#else
	x = x - ((x >> 1) & 0x55555555);
	x = (x & 0x33333333) + ((x >> 2) & 0x33333333);
	return (x + (x >> 4)) & 0x0f0f0f0f;
#endif
}

static inline mma_vi add_bytes(mma_vi x)
{
	x = (x & 0xff00ff) + ((x >> 8) & 0xff00ff);
	return (x & 0xffff) + (mma_vi)((mma_vu)x >> 16);
}

/* Pair n of the numbers of each word, as two 16-bit integers; which two does not matter. */
MMA_INLINE mma_vi take_pair(u32 type, mma_vi w, u32 n)
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

/* Words of a stored quad (half of it) where they stand in a dense row: bytes, of which two of four are there. */
static mma_vi expand_words(mma_vi words, mma_vi meta, u32 half)
{
	mma_vi at = mma_positions(), x, first, second, gap, m;

	x = mma_pick(at < 2, mma_spread_at(words, 2 * half), mma_spread_at(words, 2 * half + 1));
	x = mma_pick((at & 1) == 1, x >> 16, x);
	m = (meta >> (s32)(16 * half)) >> (at * 4);
	first = (m & 3) * 8;
	second = (m >> 2 & 3) * 8;
	gap = ((mma_vi){0} + 0xff) << second;
	return (((x & 0xff) << first) & ~gap) | ((x >> 8 & 0xff) << second);
}

/* Words of A of 16 rows: vectors by quad of the dense row. */
struct left_words {
	mma_vi quad[PRODUCT_QUADS][MMA_VECTORS];
};

static u32 take_left(const struct product *x, u32 row, struct left_words *l)
{
	u32 quads = x->f.words / 4u;
	bool sparse = x->f.flags & MMA_SPARSE;

	for (u32 v = 0; v < MMA_VECTORS; v++) {
		u32 high = v / (MMA_VECTORS / 2), at = v % (MMA_VECTORS / 2) * MMA_W;

		for (u32 q = 0; q < quads; q++) {
			mma_vi w = mma_load((row + high < x->rows ? x->a[row + high][q] : nothing) + at), m;

			if (!sparse) {
				l->quad[q][v] = w;
				continue;
			}
			m = mma_spread_at(mma_load(x->meta + at), mma_meta_lane(8, quads, q, high, x->rule.extra));
			l->quad[2 * q][v] = expand_words(w, m, 0);
			l->quad[2 * q + 1][v] = expand_words(w, m, 1);
		}
	}
	return quads << sparse;
}

struct int_sums {
	mma_vi at[MMA_VECTORS][2];
};

/* All pairs of a quad: a as words, b as words of [t][column]. */
MMA_INLINE void add_quad(u32 type_a, u32 type_b, u32 pairs, const mma_vi *a, const u32 *b, struct int_sums *s)
{
	u32 decoded[MMA_FRAGMENT_WORDS] __attribute__((aligned(64)));

	for (u32 n = 0; n < pairs; n++) {
		for (u32 v = 0; v < MMA_FRAGMENT_WORDS / MMA_W; v++)
			mma_store(decoded + v * MMA_W, take_pair(type_b, mma_load(b + v * MMA_W), n));
#define STEP(t)                                                                             \
	do {                                                                                \
		mma_vi b0 = mma_each_row(decoded + 8 * t), b1 = mma_each_row(decoded + 8 * t + 4); \
												   \
		for (u32 v = 0; v < MMA_VECTORS; v++) {                                            \
			mma_vi p = take_pair(type_a, a[v], n);                                     \
												   \
			p = MMA_SPREAD(p, t);                                                      \
			s->at[v][0] += multiply_pairs(p, b0);                                      \
			s->at[v][1] += multiply_pairs(p, b1);                                      \
		}                                                                                  \
	} while (0)
		STEP(0);
		STEP(1);
		STEP(2);
		STEP(3);
#undef STEP
	}
}

static void add_ints(const struct product *x, const mma_vi *a, const u32 *b, struct int_sums *s)
{
	u32 types = (u32)x->f.a << 8 | x->f.b;

#define CASE(p, q, n)                               \
	case p << 8 | q:                            \
		add_quad(p, q, n, a, b, s);         \
		break
	switch (types) {
		CASE(MMA_S8, MMA_S8, 2);
		CASE(MMA_S8, MMA_U8, 2);
		CASE(MMA_U8, MMA_S8, 2);
		CASE(MMA_U8, MMA_U8, 2);
		CASE(MMA_S4, MMA_S4, 4);
		CASE(MMA_S4, MMA_U4, 4);
		CASE(MMA_U4, MMA_S4, 4);
	default:
		add_quad(MMA_U4, MMA_U4, 4, a, b, s);
		break;
	}
#undef CASE
}

/* The bits set of a quad, by byte. */
MMA_INLINE void add_bits(bool both, const mma_vi *a, const u32 *b, struct int_sums *s)
{
#define STEP(t)                                                                              \
	do {                                                                                 \
		mma_vi b0 = mma_each_row(b + 8 * t), b1 = mma_each_row(b + 8 * t + 4);       \
											     \
		for (u32 v = 0; v < MMA_VECTORS; v++) {                                      \
			mma_vi p = MMA_SPREAD(a[v], t);                                      \
											     \
			s->at[v][0] += count_bits(both ? p & b0 : p ^ b0);                   \
			s->at[v][1] += count_bits(both ? p & b1 : p ^ b1);                   \
		}                                                                            \
	} while (0)
	STEP(0);
	STEP(1);
	STEP(2);
	STEP(3);
#undef STEP
}

static mma_vi add_accumulator(mma_vi c, mma_vi sum, bool saturate)
{
	mma_vi d = (mma_vi)((mma_vu)c + (mma_vu)sum);

	if (saturate)
		d = mma_pick(((c ^ d) & (sum ^ d)) >> 31, (c >> 31) ^ INT32_MAX, d);
	return d;
}

/* Rows that are not there are not stored. */
static void finish(struct product *x, u32 row, u32 column, const struct int_sums *s)
{
	for (u32 v = 0; v < MMA_VECTORS; v++)
		for (u32 p = 0; p < 2; p++) {
			u32 high = v / (MMA_VECTORS / 2), at = v % (MMA_VECTORS / 2) * MMA_W;
			u32 r = product_register(x, MMA_S32, row + high, column, p);

			if (row + high >= x->rows)
				return;
			mma_store(x->d[r] + at,
				  add_accumulator(mma_load(x->c[r] + at), x->f.a == MMA_B1 ? add_bytes(s->at[v][p]) : s->at[v][p],
						  x->f.flags & MMA_SATURATE));
		}
}

static void multiply_words(struct product *x)
{
	u32 turned[MMA_FRAGMENT_WORDS] __attribute__((aligned(64)));
	struct left_words l;

	for (u32 i = 0; i < x->rows; i += 2) {
		u32 quads = take_left(x, i, &l);

		for (u32 j = 0; j < x->columns; j++) {
			struct int_sums s = {{{{0}}}};

			for (u32 q = 0; q < quads; q++) {
				mma_turn(x->b[j][q], turned);
				if (x->f.a != MMA_B1)
					add_ints(x, l.quad[q], turned, &s);
				else if (x->f.flags & MMA_AND)
					add_bits(true, l.quad[q], turned, &s);
				else
					add_bits(false, l.quad[q], turned, &s);
			}
			finish(x, i, j, &s);
		}
	}
}

void EXEC_NAME(product_int)(struct product *x)
{
	multiply_words(x);
}

void EXEC_NAME(product_bits)(struct product *x)
{
	multiply_words(x);
}

/* ---- f64: a chain of fused multiply-adds from the accumulator, k ascending ---- */

static u64 double_at(const u32 *fragment, u32 i)
{
	u64 u;

	memcpy(&u, fragment + 2 * i, 8);
	return u;
}

/* One row of a tile, as the host multiplies; false: a NaN, whose bits have rules of their own. */
static bool chain_row(const f64 *a, const f64 (*b)[8], u32 k, f64 *s)
{
#if defined(__FMA__)
	u32 nan = 0;

	for (u32 i = 0; i < k; i++)
#pragma omp simd
		for (u32 j = 0; j < 8; j++)
			s[j] = __builtin_fma(a[i], b[i][j], s[j]);
#pragma omp simd
	for (u32 j = 0; j < 8; j++)
		nan |= s[j] != s[j];
	return !nan;
#else
	(void)a;
	(void)b;
	(void)k;
	(void)s;
	return false;
#endif
}

static void double_tile(struct product *x, u32 row, u32 column)
{
	f64 b[16][8];
	u32 k = x->f.words;

	for (u32 i = 0; i < k; i++)
		for (u32 j = 0; j < 8; j++)
			b[i][j] = f64_bits(double_at(x->b[column][i / 4], 4 * j + i % 4));
	for (u32 y = 0; y < 8; y++) {
		f64 a[16], s[8], c[8];
		u32 r = product_register(x, MMA_F64, row, column, 0);

		for (u32 i = 0; i < k; i++)
			a[i] = f64_bits(double_at(x->a[row][i / 4], 4 * y + i % 4));
		for (u32 j = 0; j < 8; j++)
			c[j] = s[j] = f64_bits(double_at(x->c[r + j % 2], 4 * y + j / 2));
		if (x->rule.extra != NUM_RN || !chain_row(a, (const f64(*)[8])b, k, s))
			for (u32 j = 0; j < 8; j++) {
				u64 d = bits_f64(c[j]);

				for (u32 i = 0; i < k; i++)
					d = num_fma_f64(bits_f64(a[i]), bits_f64(b[i][j]), d, x->rule.extra);
				s[j] = f64_bits(d);
			}
		for (u32 j = 0; j < 8; j++)
			memcpy((u8 *)x->d[2 * (r + j % 2)] + 8 * (4 * y + j / 2), &s[j], 8);
	}
}

void EXEC_NAME(product_f64)(struct product *x)
{
	for (u32 i = 0; i < x->rows; i++)
		for (u32 j = 0; j < x->columns; j++)
			double_tile(x, i, j);
}
