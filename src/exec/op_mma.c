/*
 * Matrix products of a warp: fragments are gathered from the rows into matrices of words,
 * multiplied tile by tile, and the result scattered. One product serves mma, mma.sp and wmma: their
 * fragments are the same groups of 8 by 4 words in different orders. PTX ISA "Warp-level matrix
 * instructions: mma", "mma.sp", "wmma.mma".
 */
#include "src/exec/lanes.h"
#include "src/exec/mma_tile.h"
#include "src/exec/numeric_all.h"

#define ROWS_MAX 32u
#define COLUMNS_MAX 16u
#define WORDS_MAX 32u

struct product {
	struct mma_form f;
	struct mma_rule rule;
	u32 a[ROWS_MAX][WORDS_MAX] __attribute__((aligned(64))); /* f64: two of these a word */
	u32 b[COLUMNS_MAX][WORDS_MAX] __attribute__((aligned(64)));
	u32 c[ROWS_MAX][COLUMNS_MAX * 2]; /* f64: 16 rows at most, two a number */
	u32 d[ROWS_MAX][COLUMNS_MAX * 2];
	u32 meta[WARP_LANES];
};

static const u32 *word_row(const struct gang *g, const struct insn *in, u32 i, u32 w)
{
	return ROW32(g->env->program->ext[in->ext + i]) + w * WARP_LANES;
}

static const u64 *double_row(const struct gang *g, const struct insn *in, u32 i, u32 w)
{
	return ROW64(g->env->program->ext[in->ext + i]) + w * WARP_LANES;
}

/*
 * A (or B as its columns) of `eights` groups of 8 rows: registers go over pairs of groups, then
 * words, then the other pairs.
 */
static void gather_a(const struct gang *g, const struct insn *in, u32 first, u32 w,
		     const struct mma_form *f, u32 eights, u32 (*m)[WORDS_MAX])
{
	u32 quads = f->words / 4, pair = eights < 2 ? 1 : 2;

	for (u32 r = 0; r < eights * quads; r++) {
		u32 row = 8 * (r % pair + pair * (r / (pair * quads))), quad = r / pair % quads;

		if (f->a == MMA_F64) {
			const u64 *p = double_row(g, in, first + r, w);

			for (u32 i = 0; i < 8; i++)
				memcpy(&m[row + i][8 * quad], &p[4 * i], 32);
		} else {
			const u32 *p = word_row(g, in, first + r, w);

			for (u32 i = 0; i < 8; i++)
				memcpy(&m[row + i][4 * quad], &p[4 * i], 16);
		}
	}
}

/* B of one or two groups of 8 columns: registers go over words first. Sparse A: B has twice the words. */
static void gather_b(const struct gang *g, const struct insn *in, u32 first, u32 w,
		     const struct mma_form *f, u32 eights, u32 (*m)[WORDS_MAX])
{
	u32 quads = f->words / 4 << (f->flags & MMA_SPARSE ? 1 : 0);

	for (u32 r = 0; r < eights * quads; r++) {
		u32 row = 8 * (r / quads), quad = r % quads;

		if (f->b == MMA_F64) {
			const u64 *p = double_row(g, in, first + r, w);

			for (u32 i = 0; i < 8; i++)
				memcpy(&m[row + i][8 * quad], &p[4 * i], 32);
		} else {
			const u32 *p = word_row(g, in, first + r, w);

			for (u32 i = 0; i < 8; i++)
				memcpy(&m[row + i][4 * quad], &p[4 * i], 16);
		}
	}
}

/* Where element e (0 or 1) of register r of lane l of C or D lies. */
static inline void place(const struct mma_form *f, u32 type, u32 r, u32 l, u32 e, u32 *row,
			 u32 *column)
{
	u32 part = type == MMA_F16 ? e : r & 1, group = type == MMA_F16 ? r : r >> 1;

	*row = 8 * (group % f->rows) + (l >> 2);
	*column = 8 * (group / f->rows) + 2 * (l & 3) + part;
}

static u32 registers_of(const struct mma_form *f, u32 type)
{
	return (u32)f->rows * f->columns * (type == MMA_F16 ? 1 : 2);
}

static void gather_c(const struct gang *g, const struct insn *in, u32 first, u32 w,
		     struct product *x)
{
	for (u32 r = 0; r < registers_of(&x->f, x->f.c); r++) {
		u32 i, j;

		place(&x->f, x->f.c, r, 0, 0, &i, &j);
		if (x->f.c == MMA_F64) {
			const u64 *p = double_row(g, in, first + r, w);

			for (u32 l = 0; l < WARP_LANES; l++)
				memcpy(&x->c[i + l / 4][2 * (j + l % 4 * 2)], &p[l], 8);
			continue;
		}
		const u32 *p = word_row(g, in, first + r, w);

		for (u32 y = 0; y < 8; y++, p += 4) {
			u32 *to = &x->c[i + y][j];

			if (x->f.c == MMA_F16)
				for (u32 t = 0; t < 4; t++) {
					to[2 * t] = p[t] & 0xffff;
					to[2 * t + 1] = p[t] >> 16;
				}
			else
				for (u32 t = 0; t < 4; t++)
					to[2 * t] = p[t];
		}
	}
}

static void scatter_d(struct gang *g, const struct insn *in, u32 first, u32 w,
		      const struct product *x)
{
	for (u32 r = 0; r < registers_of(&x->f, x->f.d); r++) {
		u32 row = g->env->program->ext[in->ext + first + r], i, j, *p;

		if (row == NO_ROW)
			continue;
		place(&x->f, x->f.d, r, 0, 0, &i, &j);
		if (x->f.d == MMA_F64) {
			for (u32 l = 0; l < WARP_LANES; l++)
				memcpy(&ROW64(row)[w * WARP_LANES + l],
				       &x->d[i + l / 4][2 * (j + l % 4 * 2)], 8);
			continue;
		}
		p = ROW32(row) + w * WARP_LANES;
		for (u32 y = 0; y < 8; y++, p += 4) {
			const u32 *from = &x->d[i + y][j];

			if (x->f.d == MMA_F16)
				for (u32 t = 0; t < 4; t++)
					p[t] = from[2 * t] | from[2 * t + 1] << 16;
			else
				for (u32 t = 0; t < 4; t++)
					p[t] = from[2 * t];
		}
	}
}

/* ---- floating point ---- */

/* fp8 as pairs of f16: elements with k & 2 clear come first. */
static u32 order_of(const struct mma_rule *rule, u32 k, u32 n)
{
	return rule->sum == MMA_HALVES ? (k & 2 ? n / 2 : 0) + k / 4 * 2 + (k & 1) : k;
}

/*
 * Position in the full row of stored element s of row i (0..15) of a sparse A. Metadata: two bits
 * an element, or four for tf32, from lanes that the selector names; measured.
 */
static u32 sparse_place(const struct product *x, u32 i, u32 s, u32 stored)
{
	u32 row = i & 7, high = i >> 3, bits = mma_bits(x->f.a), sel = x->rule.extra, lane, at;

	if (bits == 32) { /* 1:2 */
		lane = row * 4 + (stored == 4 ? sel : 2 * sel + s / 4);
		at = 16 * high + s % 4 * 4;
		return 2 * s + ((x->meta[lane] >> at & 15) == 0xe);
	}
	if (bits == 16) {
		lane = row * 4 + (stored == 8 ? sel : 2 * sel + s / 8);
		at = 16 * high + s % 8 * 2;
	} else if (bits == 8) {
		lane = row * 4 + (stored == 16 ? 2 * sel + high : s / 16 * 2 + high);
		at = s % 16 * 2;
	} else { /* pairs, 4:8 */
		lane = row * 4 + (stored == 32 ? 2 * sel + high : s / 32 * 2 + high);
		at = s % 32 / 2 * 2;
		return (s / 4 * 4 + (x->meta[lane] >> at & 3)) * 2 + (s & 1);
	}
	return s / 2 * 4 + (x->meta[lane] >> at & 3);
}

static void fill_a(const struct product *x, struct mma_tile *t, u32 first, u32 rows, u32 stored)
{
	bool wide = x->rule.sum == MMA_HALVES;

	for (u32 i = 0; i < MMA_ROWS; i++) {
		f64 v[MMA_K];
		s32 e[MMA_K];

		if (i >= rows)
			memset(v, 0, sizeof(v));
		else
			t->special |= mma_decode_row(x->f.a, x->a[first + i], stored, wide, v, e);
		t->absent[i] = 0;
		if (x->f.flags & MMA_SPARSE) {
			t->absent[i] = t->k < 64 ? ((u64)1 << t->k) - 1 : ~(u64)0;
			for (u32 k = 0; k < t->k; k++) {
				t->a[k][i] = 0;
				t->ae[k][i] = MMA_NO_EXPONENT;
			}
		}
		for (u32 s = 0; s < stored; s++) {
			u32 k = order_of(
				&x->rule,
				x->f.flags & MMA_SPARSE ? sparse_place(x, i, s, stored) : s, t->k);

			t->a[k][i] = x->f.flags & MMA_NEGATE ? -v[s] : v[s];
			t->ae[k][i] = i < rows ? e[s] : MMA_NO_EXPONENT;
			t->absent[i] &= ~((u64)1 << k);
		}
	}
}

static void fill_b(const struct product *x, struct mma_tile *t, u32 first)
{
	for (u32 j = 0; j < MMA_COLUMNS; j++) {
		f64 v[MMA_K];
		s32 e[MMA_K];

		t->special |= mma_decode_row(x->f.b, x->b[first + j], t->k,
					     x->rule.sum == MMA_HALVES, v, e);
		for (u32 k = 0; k < t->k; k++) {
			u32 at = order_of(&x->rule, k, t->k);

			t->b[j][at] = v[k];
			t->be[j][at] = e[k];
		}
	}
}

/*
 * f16 without infinities and NaNs, whole K in a block: products fit f32, so sixteen rows are one
 * vector. t->c has been taken.
 * False: not this case, nothing done.
 */
#pragma GCC diagnostic ignored "-Wpsabi" /* such vectors are only passed inside this file */
typedef f32 v16f __attribute__((vector_size(64)));
typedef s32 v16i __attribute__((vector_size(64)));

#if defined(__AVX512F__)
static inline v16i larger(v16i a, v16i b)
{
	return (v16i)_mm512_max_epi32((__m512i)a, (__m512i)b);
}
#else
static inline v16i larger(v16i a, v16i b)
{
	v16i m = a > b;

	return (a & m) | (b & ~m);
}
#endif

/* Sixteen f16 as f32 and their exponents; `special` gathers fields of all ones. */
static inline v16f decode_half(v16i h, v16i *e, v16i *special)
{
	v16i field = h >> 10 & 31, low = h & 0x7fff, none = low == 0;
	v16f f = (v16f)(low << 13) * 0x1p112f;

	*special |= field == 31;
	*e = ((field - 15 - (field == 0)) & ~none) | (none & MMA_NO_EXPONENT);
	return (v16f)((v16i)f | (h & 0x8000) << 16);
}

struct halves {
	v16f a[16];
	v16i ae[16];
	f32 b[MMA_COLUMNS][16] __attribute__((aligned(64)));
	s32 be[MMA_COLUMNS][16] __attribute__((aligned(64)));
};

static bool take_halves(const struct product *x, u32 row, u32 column, u32 k, struct halves *t)
{
	v16i special = {0}, ignored = {0};
	u32 bad = 0;

	for (u32 w = 0; w < k / 2; w++) {
		u32 column_w[16];
		v16i v;

		for (u32 i = 0; i < 16; i++)
			column_w[i] = x->a[row + i][w];
		memcpy(&v, column_w, sizeof(v));
		t->a[2 * w] = decode_half(v & 0xffff, &t->ae[2 * w], &special);
		t->a[2 * w + 1] = decode_half(v >> 16 & 0xffff, &t->ae[2 * w + 1], &special);
	}
	for (u32 j = 0; j < MMA_COLUMNS; j++) {
		const u16 *h = (const u16 *)x->b[column + j];
		u32 wide[16];
		v16i v, e;
		v16f f;

		for (u32 i = 0; i < 16; i++)
			wide[i] = h[i]; /* beyond k: not used */
		memcpy(&v, wide, sizeof(v));
		f = decode_half(v, &e, k < 16 ? &ignored : &special);
		if (k < 16)
			special |= ignored & (v16i){-1, -1, -1, -1, -1, -1, -1, -1};
		memcpy(t->b[j], &f, sizeof(f));
		memcpy(t->be[j], &e, sizeof(e));
	}
	for (u32 i = 0; i < 16; i++)
		bad |= (u32)special[i];
	return !bad;
}

static void add_halves(const struct halves *h, struct mma_tile *t, u32 j, u32 k, u32 fraction,
		       bool half)
{
	v16i top, sum = {0};
	s32 tops[MMA_ROWS], sums[MMA_ROWS];
	f64 value[MMA_ROWS];
	v16f scale;

	memcpy(&top, t->ce[j], sizeof(top));
	for (u32 q = 0; q < k; q++)
		top = larger(h->ae[q] + h->be[j][q], top);
	scale = (v16f)((127 + (s32)fraction - larger(top, (v16i){0} - 28)) << 23);
	for (u32 q = 0; q < k; q++)
		sum += __builtin_convertvector(h->a[q] * h->b[j][q] * scale, v16i);
	memcpy(tops, &top, sizeof(tops));
	memcpy(sums, &sum, sizeof(sums));
	MMA_FOR(i, MMA_ROWS)
	{
		s32 e = tops[i] < -400 ? -400 : tops[i];
		f64 s = mma_f64_of((u64)(1023 + (s64)fraction - e) << 52);
		f64 unit = mma_f64_of((u64)(1023 - (s64)fraction + e) << 52);

		value[i] = ((f64)sums[i] + (f64)(s32)(t->c[j][i] * s)) * unit;
	}
	if (half)
		MMA_FOR(i, MMA_ROWS) t->d[j][i] = mma_to_f16(value[i]);
	else
		MMA_FOR(i, MMA_ROWS) t->d[j][i] = mma_to_f32(value[i]);
}

static bool sum_halves(const struct product *x, struct mma_tile *t, u32 row, u32 column,
		       const u32 (*c)[MMA_ROWS])
{
	u32 bad = 0;
	struct halves h;

	if (x->f.a != MMA_F16 || x->f.flags & (MMA_SPARSE | MMA_NEGATE) ||
	    8u * x->f.rows < row + MMA_ROWS || t->k > 16 ||
	    (x->rule.block && x->rule.block < t->k) || x->f.c != x->f.d ||
	    !take_halves(x, row, column, t->k, &h))
		return false;
	mma_take(t, c, x->f.c);
	for (u32 j = 0; j < MMA_COLUMNS; j++)
		MMA_FOR(i, MMA_ROWS)
	bad |= (mma_bits_of(t->c[j][i]) & NUM_INF_F64) == NUM_INF_F64;
	if (bad)
		return false;
	for (u32 j = 0; j < MMA_COLUMNS; j++)
		add_halves(&h, t, j, t->k, x->rule.fraction, x->f.d == MMA_F16);
	return true;
}

static void multiply_float(struct product *x)
{
	u32 rows = 8u * x->f.rows, stored = 32u * x->f.words / mma_bits(x->f.a);
	u32 c[MMA_COLUMNS][MMA_ROWS];
	struct mma_tile t;

	t.k = stored << (x->f.flags & MMA_SPARSE ? 1 : 0);
	for (u32 i = 0; i < rows; i += MMA_ROWS)
		for (u32 j = 0; j < 8u * x->f.columns; j += MMA_COLUMNS) {
			for (u32 q = 0; q < MMA_COLUMNS; q++)
				for (u32 p = 0; p < MMA_ROWS; p++)
					c[q][p] = i + p < rows ? x->c[i + p][j + q] : 0;
			if (!sum_halves(x, &t, i, j, (const u32(*)[MMA_ROWS])c)) {
				t.special = false;
				fill_a(x, &t, i, rows - i < MMA_ROWS ? 8 : MMA_ROWS, stored);
				fill_b(x, &t, j);
				mma_sum_tile(&t, (const u32(*)[MMA_ROWS])c, x->f.c, x->f.d,
					     &x->rule);
			}
			for (u32 q = 0; q < MMA_COLUMNS; q++)
				for (u32 p = 0; p < MMA_ROWS && i + p < rows; p++)
					x->d[i + p][j + q] = t.d[q][p];
		}
}

/* A chain of fused multiply-adds from the accumulator, k ascending. */
static void multiply_f64(struct product *x)
{
	for (u32 i = 0; i < 8u * x->f.rows; i++)
		for (u32 j = 0; j < 8u * x->f.columns; j++) {
			u64 a, b, s;

			memcpy(&s, &x->c[i][2 * j], 8);
			for (u32 k = 0; k < x->f.words; k++) {
				memcpy(&a, &x->a[i][2 * k], 8);
				memcpy(&b, &x->b[j][2 * k], 8);
				s = num_fma_f64(a, b, s, x->rule.extra);
			}
			memcpy(&x->d[i][2 * j], &s, 8);
		}
}

/* ---- integers ---- */

static void unpack(u32 type, const u32 *words, u32 n, s32 *v)
{
	const u8 *bytes = (const u8 *)words;

	switch (type) {
	case MMA_S8:
		MMA_FOR(k, n) v[k] = (s8)bytes[k];
		break;
	case MMA_U8:
		MMA_FOR(k, n) v[k] = bytes[k];
		break;
	case MMA_S4:
		MMA_FOR(k, n) v[k] = (s32)((u32)(bytes[k / 2] >> (k & 1) * 4) << 28) >> 28;
		break;
	default:
		MMA_FOR(k, n) v[k] = bytes[k / 2] >> (k & 1) * 4 & 15;
		break;
	}
}

static s32 add_to(u32 c, s32 sum, bool saturate)
{
	s64 s = (s64)(s32)c + sum;

	if (saturate)
		s = s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s;
	return (s32)s;
}

static void multiply_int(struct product *x)
{
	u32 stored = 32u * x->f.words / mma_bits(x->f.a),
	    n = stored << (x->f.flags & MMA_SPARSE ? 1 : 0);
	s32 a[128], b[COLUMNS_MAX][128], full[128];

	for (u32 j = 0; j < 8u * x->f.columns; j++)
		unpack(x->f.b, x->b[j], n, b[j]);
	for (u32 i = 0; i < 8u * x->f.rows; i++) {
		unpack(x->f.a, x->a[i], stored, a);
		if (x->f.flags & MMA_SPARSE) {
			memset(full, 0, sizeof(full));
			for (u32 s = 0; s < stored; s++)
				full[sparse_place(x, i, s, stored)] = a[s];
		}
		for (u32 j = 0; j < 8u * x->f.columns; j++) {
			const s32 *p = x->f.flags & MMA_SPARSE ? full : a;
			s32 sum = 0;

			for (u32 k = 0; k < n; k++)
				sum += p[k] * b[j][k];
			x->d[i][j] = (u32)add_to(x->c[i][j], sum, x->f.flags & MMA_SATURATE);
		}
	}
}

static void multiply_bits(struct product *x)
{
	for (u32 i = 0; i < 8u * x->f.rows; i++)
		for (u32 j = 0; j < 8u * x->f.columns; j++) {
			u32 sum = 0;

			for (u32 k = 0; k < x->f.words; k++) {
				u32 a = x->a[i][k], b = x->b[j][k];

				sum += (u32)__builtin_popcount(x->f.flags & MMA_AND ? a & b
										    : a ^ b);
			}
			x->d[i][j] = x->c[i][j] + sum;
		}
}

static void multiply(struct product *x)
{
	if (x->f.a == MMA_F64)
		multiply_f64(x);
	else if (x->f.a == MMA_B1)
		multiply_bits(x);
	else if (x->f.a >= MMA_S8)
		multiply_int(x);
	else
		multiply_float(x);
}

/* All lanes of a warp have to be here. */
static bool is_whole(const struct gang *g, u32 w)
{
	return g->mode == MODE_GANG || g->active == g->warp_at[g->warp + w].live;
}

HANDLER(mma)
{
	u32 na = in->count, nb = in->space;
	struct product x;

	memcpy(&x.f, &in->imm, sizeof(x.f));
	memcpy(&x.rule, &in->pad, sizeof(x.rule));
	for (u32 w = 0; w < WARPS; w++) {
		u32 first_a = in->size, first_b = first_a + na;

		if (!is_whole(g, w))
			return exec_fault(g, in, FAULT_ILLEGAL_INSTRUCTION, g->active);
		if (x.f.flags & MMA_TRANSPOSED) {
			gather_a(g, in, first_b, w, &x.f, x.f.rows, x.a);
			gather_b(g, in, first_a, w, &x.f, x.f.columns, x.b);
		} else {
			gather_a(g, in, first_a, w, &x.f, x.f.rows, x.a);
			gather_b(g, in, first_b, w, &x.f, x.f.columns, x.b);
		}
		gather_c(g, in, first_b + nb, w, &x);
		if (x.f.flags & MMA_SPARSE)
			memcpy(x.meta, word_row(g, in, first_b + nb + registers_of(&x.f, x.f.c), w),
			       sizeof(x.meta));
		multiply(&x);
		scatter_d(g, in, 0, w, &x);
	}
	return in + 1;
}

/* ---- m8n8k4: four products at once, one for lanes 4 q .. 4 q + 3 and those 16 further ---- */

/* Element i of lane t (0..7 of the product) of a factor: its row (of A, or column of B) and k. */
static inline void quad_place(bool by_k, u32 t, u32 i, u32 *row, u32 *k)
{
	u32 high = t & 4;

	*row = by_k ? i + high : (t & 3) + high;
	*k = by_k ? t & 3 : i;
}

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

static f32 f16_value(u32 bits)
{
	u32 bad = 0;
	s32 e;

	return (f32)mma_decode(bits, 10, 5, &e, &bad);
}

/* As the assembler makes it of ordinary instructions on parts without such tensor cores; measured on the H200. */
static u32 quad_chain(const struct mma_form *f, const f32 *a, const f32 *b, u32 c)
{
	f32 acc = f->c == MMA_F16 ? f16_value(c) : mma_f32_of(c), s = 0;

	if (f->d == MMA_F16) {
		s = num_host_fma_f32(a[1], b[1], a[0] * b[0]);
		s = acc + s;
		s = s + num_host_fma_f32(a[3], b[3], a[2] * b[2]);
		return s != s ? 0x7fff : mma_to_f16((f64)s);
	}
	for (u32 k = 0; k < 4; k++)
		s = num_host_fma_f32(a[k], b[k], s);
	s += acc;
	return s != s ? 0x7fffffff : mma_bits_of_f32(s);
}

static void quad_multiply(const struct product *x, struct mma_tile *t, const u32 (*c)[MMA_ROWS])
{
	if (x->rule.block) {
		t->k = 4;
		mma_sum_tile(t, c, x->f.c, x->f.d, &x->rule);
		return;
	}
	for (u32 i = 0; i < 8; i++)
		for (u32 j = 0; j < 8; j++) {
			f32 a[4], b[4];

			for (u32 k = 0; k < 4; k++) {
				a[k] = (f32)t->a[k][i];
				b[k] = (f32)t->b[j][k];
			}
			t->d[j][i] = quad_chain(&x->f, a, b, c[j][i]);
		}
}

static void quad_gather(const struct gang *g, const struct insn *in, u32 w, u32 q,
			const struct product *x, struct mma_tile *t, u32 (*c)[MMA_ROWS])
{
	u32 na = in->size, nb = na + 2, nc = nb + 2, bad = 0;

	for (u32 lane = 0; lane < 8; lane++) {
		u32 l = quad_lane(q, lane), row, k;

		for (u32 i = 0; i < 4; i++) {
			quad_place(x->f.flags & MMA_COL_A, lane, i, &row, &k);
			t->a[k][row] =
				mma_decode(word_row(g, in, na + i / 2, w)[l] >> i % 2 * 16 & 0xffff,
					   10, 5, &t->ae[k][row], &bad);
			quad_place(!(x->f.flags & MMA_COL_B), lane, i, &row, &k);
			t->b[row][k] =
				mma_decode(word_row(g, in, nb + i / 2, w)[l] >> i % 2 * 16 & 0xffff,
					   10, 5, &t->be[row][k], &bad);
		}
		for (u32 i = 0; i < 8; i++) {
			u32 v = word_row(g, in, nc + (x->f.c == MMA_F16 ? i / 2 : i), w)[l];

			quad_sum_place(x->f.c, lane, i, &row, &k);
			c[k][row] = x->f.c == MMA_F16 ? v >> i % 2 * 16 & 0xffff : v;
		}
	}
	t->special = bad;
}

static void quad_scatter(struct gang *g, const struct insn *in, u32 w, u32 q,
			 const struct product *x, const struct mma_tile *t)
{
	u32 per = x->f.d == MMA_F16 ? 2 : 1;

	for (u32 lane = 0; lane < 8; lane++)
		for (u32 r = 0; r < 8 / per; r++) {
			u32 row, column, to = g->env->program->ext[in->ext + r], v = 0;

			for (u32 e = 0; e < per; e++) {
				quad_sum_place(x->f.d, lane, r * per + e, &row, &column);
				v |= t->d[column][row] << 16 * e;
			}
			if (to != NO_ROW)
				ROW32(to)[w * WARP_LANES + quad_lane(q, lane)] = v;
		}
}

HANDLER(mma_quads)
{
	struct product x;
	struct mma_tile t[4];
	u32 c[4][MMA_COLUMNS][MMA_ROWS];

	memcpy(&x.f, &in->imm, sizeof(x.f));
	memcpy(&x.rule, &in->pad, sizeof(x.rule));
	memset(t, 0, sizeof(t));
	memset(c, 0, sizeof(c));
	for (u32 w = 0; w < WARPS; w++) {
		if (!is_whole(g, w))
			return exec_fault(g, in, FAULT_ILLEGAL_INSTRUCTION, g->active);
		for (u32 q = 0; q < 4; q++) {
			quad_gather(g, in, w, q, &x, &t[q], c[q]);
			quad_multiply(&x, &t[q], (const u32(*)[MMA_ROWS])c[q]);
		}
		for (u32 q = 0; q < 4; q++)
			quad_scatter(g, in, w, q, &x, &t[q]);
	}
	return in + 1;
}

/* ---- wgmma: four warps, 16 rows each, B and perhaps A in shared memory ---- */

/* A matrix descriptor. PTX ISA "Asynchronous warpgroup-level matrix instructions: Matrix Descriptor Format". */
struct window {
	u32 start, lbo, sbo;
	u32 span;   /* bytes of a swizzled row: 128, 64, 32; 16: no swizzle */
	bool along; /* the other dimension than k is contiguous */
};

static struct window window_of(u64 descriptor, bool along)
{
	static const u8 spans[4] = {16, 128, 64, 32};

	return (struct window){
		.start = (u32)(descriptor & 0x3fff) << 4,
		.lbo = (u32)(descriptor >> 16 & 0x3fff) << 4,
		.sbo = (u32)(descriptor >> 32 & 0x3fff) << 4,
		.span = spans[descriptor >> 62],
		.along = along,
	};
}

/* Offset in shared memory of byte `at` of row r; along: `at` counts the bytes of r, k is r. */
static inline u32 window_offset(const struct window *m, u32 r, u32 at)
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

/* Rows first .. first + n - 1 of `bytes` bytes; false: outside of shared memory. */
static bool read_window(const struct gang *g, const struct window *m, u32 bytes, u32 first, u32 n,
			u32 (*to)[WORDS_MAX])
{
	u32 limit = g->env->shared_bytes;

	for (u32 r = 0; r < n; r++)
		for (u32 k = 0; k < bytes; k += m->along ? 2 : 16) {
			u32 size = m->along ? 2 : 16;
			u32 off = m->along ? window_offset(m, k / 2, (first + r) * 2)
					   : window_offset(m, first + r, k);

			if (off + size > limit)
				return false;
			memcpy((u8 *)to[r] + k, g->shared + off, size);
		}
	return true;
}

/* Eight columns from `column` on of warp w's 16 rows. */
static bool wgmma_columns(struct gang *g, const struct insn *in, u32 w, u32 column,
			  struct product *x, const struct window *b)
{
	u32 per = registers_of(&x->f, x->f.d), first = column / 8 * per;

	if (!read_window(g, b, x->f.flags & MMA_SPARSE ? 64 : 32, column, 8, x->b))
		return false;
	if (ROWP(in->c)[w] & 1)
		gather_c(g, in, in->size + first, w, x);
	else
		memset(x->c, 0, sizeof(x->c));
	multiply(x);
	scatter_d(g, in, first, w, x);
	return true;
}

/*
 * size: registers of D, which ext lists twice; those of A behind unless it has a descriptor (row
 * a). count: columns / 8.
 */
HANDLER(wgmma)
{
	struct product x;

	memcpy(&x.f, &in->imm, sizeof(x.f));
	memcpy(&x.rule, &in->pad, sizeof(x.rule));
	for (u32 w = 0; w < WARPS; w++) {
		u32 turn = (g->first_warp + g->warp + w) % 4 * 16;
		struct window b = window_of(ROW64(in->b)[w * WARP_LANES], x.f.flags & MMA_COL_B);
		bool ok = true;

		if (!is_whole(g, w))
			return exec_fault(g, in, FAULT_ILLEGAL_INSTRUCTION, g->active);
		if (in->a == NO_ROW) {
			gather_a(g, in, 2u * in->size, w, &x.f, 2, x.a);
		} else {
			struct window a =
				window_of(ROW64(in->a)[w * WARP_LANES], x.f.flags & MMA_COL_A);

			ok = read_window(g, &a, 32, turn, 16, x.a);
		}
		if (x.f.flags & MMA_SPARSE)
			memcpy(x.meta,
			       word_row(g, in, 2u * in->size + (in->a == NO_ROW ? 4 : 0), w),
			       sizeof(x.meta));
		for (u32 n = 0; ok && n < 8u * in->count; n += 8)
			ok = wgmma_columns(g, in, w, n, &x, &b);
		if (!ok)
			return exec_fault(g, in, FAULT_ILLEGAL_ADDRESS, FULL_MASK);
	}
	return in + 1;
}
