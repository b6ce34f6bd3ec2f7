/*
 * Block-scaled products (PTX ISA "Block Scaling for mma.sync") on gb202: numbers and scales for
 * which every sum is exact, so that a plain product in doubles is the result, in every type, with
 * every place that scales can come from, dense and sparse; then probes of how many bits terms keep,
 * with the results that the rule of Xie et al. ("MMA-Sim", arXiv 2511.10909) gives; then any
 * numbers and scales, against that rule in whole numbers (tests/unit/mma/dot_model.c).
 */
#include "tests/check.h"
#include "tests/unit/mma/dot_model.h"
#include "tests/unit/exec_harness.h"

#include <math.h>

#define PTX_MAX 8192u
#define K_MAX 128u

/* Bits of exponent and fraction, and of a shift in the byte; pairs: two of them in a byte. */
static const struct type {
	const char *name;
	u32 exponent, fraction, shift;
} types[] = {
	{"e4m3", 4, 3, 0}, {"e5m2", 5, 2, 0}, {"e3m2", 3, 2, 0},
	{"e2m3", 2, 3, 0}, {"e2m1", 2, 1, 2},
};

static const f64 values[] = {0, 0.5, 1, 1.5, 2, 3, -0.5, -1, -1.5, -2, -3, -0.0};

static const struct kind {
	const char *name, *scale, *type;
	u32 k, scales;
	bool pairs;
} kinds[] = {
	{"mxf8f6f4.block_scale", "", "ue8m0", 32, 1, false},
	{"mxf8f6f4.block_scale.scale_vec::1X", "", "ue8m0", 32, 1, false},
	{"mxf4.block_scale", "", "ue8m0", 64, 2, true},
	{"mxf4nvf4.block_scale.scale_vec::2X", "", "ue8m0", 64, 2, true},
	{"mxf4nvf4.block_scale.scale_vec::4X", "", "ue4m3", 64, 4, true},
	{"mxf4nvf4.block_scale.scale_vec::4X", "", "ue8m0", 64, 4, true},
};

struct problem {
	const struct kind *kind;
	const struct type *ta, *tb;
	bool sparse;
	u32 k, bytes[2], threads[2]; /* of A, of B */
	f64 a[16][K_MAX], b[K_MAX][8], sa[16][4], sb[8][4];
	f32 c[16][8];
	u8 place[16][K_MAX / 4]
		[2]; /* sparse: of each four numbers (or pairs) the two that are there */
};

static u32 seed = 1;

static u32 next(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 10;
}

/* The code of a value that the type has. */
static u32 encode(const struct type *t, f64 v)
{
	s32 bias = (1 << (t->exponent - 1)) - 1, e;
	f64 m = frexp(fabs(v), &e) * 2;
	u32 code = signbit(v) ? 1u << (t->exponent + t->fraction) : 0;

	e -= 1;
	if (v == 0)
		return code << t->shift;
	if (e + bias < 1)
		return (code | (u32)(ldexp(fabs(v), bias - 1 + (s32)t->fraction))) << t->shift;
	return (code | (u32)(e + bias) << t->fraction | (u32)ldexp(m - 1, (s32)t->fraction))
	       << t->shift;
}

static bool has_fractions(const struct kind *k)
{
	return !strcmp(k->type, "ue4m3");
}

static u32 encode_scale(const struct kind *k, f64 v)
{
	static const struct type ue4m3 = {"ue4m3", 4, 3, 0};

	return has_fractions(k) ? encode(&ue4m3, v) : isnan(v) ? 255 : (u32)(127 + ilogb(v));
}

/* ---- fragments: word (row, w) of A is in lane 4 g + w % 4, register 2 (w / 4) + row / 8 ---- */

static void put(u32 *words, u32 bits, u32 i, u32 code)
{
	words[i * bits / 32] |= code << i * bits % 32;
}

/* Sixteen words for each lane: A, B, C, scales of A and B, metadata. */
static void lay(const struct problem *p, u32 (*lane)[16])
{
	u32 bits = p->kind->pairs ? 4 : 8, group = p->kind->pairs ? 8 : 4;
	struct type ta = *p->ta, tb = *p->tb;

	memset(lane, 0, 32 * sizeof(*lane));
	if (p->kind->pairs)
		ta.shift = tb.shift = 0;
	for (u32 i = 0; i < 16; i++) {
		u32 words[8] = {0}, n = 0, meta[4] = {0};

		for (u32 k = 0; k < p->k; k++) {
			u32 four = k / group, at = p->kind->pairs ? k % 8 / 2 : k % 4;

			if (!p->sparse || p->place[i][four][0] == at || p->place[i][four][1] == at)
				put(words, bits, n++, encode(&ta, p->a[i][k]));
		}
		for (u32 w = 0; w < 8; w++)
			lane[i % 8 * 4 + w % 4][2 * (w / 4) + i / 8] = words[w];
		for (u32 four = 0; p->sparse && four < 16; four++)
			meta[four / 8] |= (u32)(p->place[i][four][0] | p->place[i][four][1] << 2)
					  << four % 8 * 4;
		/* all four lanes of a row: 2 q + upper half has quad q */
		for (u32 q = 0; q < 2; q++)
			lane[i % 8 * 4 + 2 * q + i / 8][14] = meta[q];
	}
	for (u32 j = 0; j < 8; j++) {
		u32 words[16] = {0};

		for (u32 k = 0; k < p->k; k++)
			put(words, bits, k, encode(&tb, p->b[k][j]));
		for (u32 w = 0; w < 16; w++)
			lane[j * 4 + w % 4][4 + w / 4] = words[w];
	}
	for (u32 i = 0; i < 16; i++)
		for (u32 j = 0; j < 8; j++)
			memcpy(&lane[i % 8 * 4 + j / 2][8 + i / 8 * 2 + j % 2], &p->c[i][j], 4);
	for (u32 l = 0; l < 32; l++)
		lane[l][12] = lane[l][13] = 0x7e7e7e7e; /* never read */
	for (u32 s = 0; s < p->kind->scales; s++) {
		u32 shift_a = 8 * (p->bytes[0] + s), shift_b = 8 * (p->bytes[1] + s);

		for (u32 i = 0; i < 16; i++) {
			u32 *w = &lane[i % 8 * 4 + 2 * p->threads[0] + i / 8][12];

			*w = (*w & ~(255u << shift_a)) | encode_scale(p->kind, p->sa[i][s])
								 << shift_a;
		}
		for (u32 j = 0; j < 8; j++) {
			u32 *w = &lane[j * 4 + p->threads[1]][13];

			*w = (*w & ~(255u << shift_b)) | encode_scale(p->kind, p->sb[j][s])
								 << shift_b;
		}
	}
}

static void write_kernel(const struct problem *p, char *ptx, bool constant)
{
	char where[2][24];
	u32 nb = p->sparse ? 4 : 2;

	for (u32 i = 0; i < 2; i++) {
		if (constant)
			snprintf(where[i], sizeof(where[i]), "{%u,%u}", p->bytes[i], p->threads[i]);
		else
			snprintf(where[i], sizeof(where[i]), "{%%h%u,%%h%u}", 2 * i, 2 * i + 1);
	}
	snprintf(
		ptx, PTX_MAX,
		".version 9.1\n.target sm_120a\n.address_size 64\n"
		".visible .entry k(.param .u64 in, .param .u64 out)\n"
		"{ .reg .b32 %%r<16>; .reg .f32 %%f<8>; .reg .u64 %%i,%%o; .reg .u32 %%t; .reg .u16 %%h<4>;\n"
		"ld.param.u64 %%i,[in]; ld.param.u64 %%o,[out]; mov.u32 %%t,%%tid.x;\n"
		"mad.wide.u32 %%i,%%t,64,%%i; mad.wide.u32 %%o,%%t,16,%%o;\n"
		"ld.global.v4.b32 {%%r0,%%r1,%%r2,%%r3},[%%i]; ld.global.v4.b32 {%%r4,%%r5,%%r6,%%r7},[%%i+16];\n"
		"ld.global.v4.f32 {%%f0,%%f1,%%f2,%%f3},[%%i+32];\n"
		"ld.global.v4.b32 {%%r8,%%r9,%%r10,%%r11},[%%i+48];\n"
		"mov.u16 %%h0,%u; mov.u16 %%h1,%u; mov.u16 %%h2,%u; mov.u16 %%h3,%u;\n"
		"mma%s.sync.aligned.m16n8k%u.row.col.kind::%s.f32.%s.%s.f32.%s {%%f4,%%f5,%%f6,%%f7},"
		"{%%r0,%%r1,%%r2,%%r3},%s,{%%f0,%%f1,%%f2,%%f3},%s %%r8,%s,%%r9,%s;\n"
		"st.global.v4.f32 [%%o],{%%f4,%%f5,%%f6,%%f7}; ret; }\n",
		p->bytes[0], p->threads[0], p->bytes[1], p->threads[1],
		p->sparse ? ".sp::ordered_metadata" : "", p->k, p->kind->name, p->ta->name,
		p->tb->name, p->kind->type, nb == 4 ? "{%r4,%r5,%r6,%r7}" : "{%r4,%r5}",
		p->sparse ? "%r10,0," : "", where[0], where[1]);
}

static bool run(const struct problem *p, bool constant, u32 (*d)[8])
{
	char ptx[PTX_MAX];
	struct harness h;
	u64 params[2];
	u32 lane[32][16];
	bool ok;

	write_kernel(p, ptx, constant);
	if (!CHECK_MSG(harness_open(&h, ptx), p->kind->name))
		return false;
	h.device = "gb202";
	params[0] = mem_alloc(&h.mem, sizeof(lane), 0, MEM_KIND_DEVICE);
	params[1] = mem_alloc(&h.mem, 512, 0, MEM_KIND_DEVICE);
	lay(p, lane);
	memcpy((void *)(uintptr_t)params[0], lane, sizeof(lane));
	ok = harness_run(&h, "k", 1, 32, params, NULL) == STOP_DONE;
	for (u32 i = 0; i < 16; i++)
		for (u32 j = 0; j < 8; j++)
			d[i][j] = ((const u32 *)(uintptr_t)
					   params[1])[4 * (i % 8 * 4 + j / 2) + i / 8 * 2 + j % 2];
	harness_close(&h);
	return ok;
}

/* ---- exact sums ---- */

static void fill(struct problem *p)
{
	static const f64 odd[] = {0.5, 1, 1.75, 2.5};
	u32 group = p->kind->pairs ? 8 : 4;

	for (u32 i = 0; i < 16; i++)
		for (u32 four = 0; four < K_MAX / 4; four++) {
			u32 a = next() % 3, b = a + 1 + next() % (3 - a);

			p->place[i][four][0] = (u8)a;
			p->place[i][four][1] = (u8)b;
		}
	for (u32 k = 0; k < p->k; k++) {
		for (u32 i = 0; i < 16; i++) {
			const u8 *at = p->place[i][k / group];
			u32 n = p->kind->pairs ? k % 8 / 2 : k % 4;

			p->a[i][k] = p->sparse && at[0] != n && at[1] != n
					     ? 0
					     : values[next() % ARRAY_LEN(values)];
		}
		for (u32 j = 0; j < 8; j++)
			p->b[k][j] = values[next() % ARRAY_LEN(values)];
	}
	for (u32 s = 0; s < 4; s++) {
		for (u32 i = 0; i < 16; i++)
			p->sa[i][s] = has_fractions(p->kind) ? odd[next() % 4]
							     : ldexp(1, (s32)(next() % 4) - 1);
		for (u32 j = 0; j < 8; j++)
			p->sb[j][s] = has_fractions(p->kind) ? odd[next() % 4]
							     : ldexp(1, (s32)(next() % 4) - 1);
	}
	for (u32 i = 0; i < 16; i++)
		for (u32 j = 0; j < 8; j++)
			p->c[i][j] = (f32)(s32)(next() % 64) - 32;
}

static void test_exact(const struct kind *kind, u32 ta, u32 tb, bool sparse, u32 turn)
{
	struct problem p = {.kind = kind, .ta = &types[ta], .tb = &types[tb], .sparse = sparse};
	u32 d[16][8];
	char what[120];
	bool same = true;

	p.k = kind->k << sparse;
	p.bytes[0] = kind->scales == 1 ? turn % 4 : kind->scales == 2 ? turn % 2 * 2 : 0;
	p.bytes[1] = kind->scales == 1 ? turn / 2 % 4 : kind->scales == 2 ? turn / 2 % 2 * 2 : 0;
	p.threads[0] = turn / 4 % 2;
	p.threads[1] = (turn + turn / 4) % 4;
	fill(&p);
	if (!run(&p, turn % 2, d)) {
		CHECK_MSG(false, kind->name);
		return;
	}
	for (u32 i = 0; i < 16; i++)
		for (u32 j = 0; j < 8; j++) {
			f64 sum = (f64)p.c[i][j];
			u32 part = p.k / kind->scales;

			for (u32 k = 0; k < p.k; k++)
				sum += p.a[i][k] * p.b[k][j] * p.sa[i][k / part] *
				       p.sb[j][k / part];
			same &= sum == (f64)f32_bits(d[i][j]);
		}
	snprintf(what, sizeof(what), "%s %s by %s%s, bytes %u %u, lanes %u %u", kind->name,
		 p.ta->name, p.tb->name, sparse ? ", sparse" : "", p.bytes[0], p.bytes[1],
		 p.threads[0], p.threads[1]);
	CHECK_MSG(same, what);
}

/* ---- how many bits terms keep ---- */

/* C, and products a b of k = 0, 16, 32, 48, with the scale of A (that of B is one). */
static const struct probe {
	const char *what;
	u32 kind, bits;
	f64 c, a[4], b[4], scale[2];
} probes[] = {
	{"bytes: 25 bits below the largest", 0, 0x3a800000, 32768, {-1, 0x1p-7}, {0, 0}, {0, 0}},
	{"fp4: 35 bits below the accumulator",
	 2,
	 0x35800000,
	 32768,
	 {-2, 0, 0.5, 0},
	 {2, 0, 0.5, 0},
	 {0x1p13, 0x1p-18}},
	{"fp4: 36 bits below it are cut",
	 2,
	 0,
	 32768,
	 {-2, 0, 0.5, 0},
	 {2, 0, 0.5, 0},
	 {0x1p13, 0x1p-19}},
	{"fp4: sums count with their scales' exponent",
	 2,
	 0x2e000000,
	 0,
	 {6, -6, 0.5, 0},
	 {6, 6, 0.5, 0},
	 {1, 0x1p-33}},
	{"fp4: and are cut 35 bits below", 2, 0, 0, {6, -6, 0.5, 0}, {6, 6, 0.5, 0}, {1, 0x1p-34}},
	{"fp4: the accumulator is cut toward zero",
	 2,
	 0x41100000,
	 0x1p-34,
	 {6, 0, 0, 0},
	 {1.5, 0, 0, 0},
	 {1, 1}},
	{"fp4: a scale that is no number", 2, 0x7fffffff, 1, {1, 0, 0, 0}, {1, 0, 0, 0}, {1, NAN}},
};

static void test_probe(const struct probe *t)
{
	struct problem p = {.kind = &kinds[t->kind], .ta = &types[4], .tb = &types[4]};
	char what[120];
	u32 d[16][8];

	p.k = p.kind->k;
	for (u32 s = 0; s < 4; s++)
		for (u32 i = 0; i < 16; i++)
			p.sa[i][s] = p.sb[i % 8][s] = 1;
	p.c[11][5] = (f32)t->c;
	if (p.kind->pairs) {
		for (u32 i = 0; i < 4; i++) {
			p.a[11][16 * i] = t->a[i];
			p.b[16 * i][5] = t->b[i];
		}
		p.sa[11][0] = t->scale[0];
		p.sa[11][1] = t->scale[1];
	} else { /* -2^15 and 2^-10 */
		p.ta = p.tb = &types[1];
		p.a[11][0] = -256;
		p.b[0][5] = 128;
		p.a[11][1] = 0x1p-5;
		p.b[1][5] = 0x1p-5;
	}
	if (!run(&p, true, d))
		d[11][5] = 1;
	snprintf(what, sizeof(what), "%s: %08x", t->what, d[11][5]);
	CHECK_MSG(d[11][5] == t->bits, what);
}

/* ---- any finite numbers ---- */

static f64 any_number(const struct type *t)
{
	u32 top = (1u << t->exponent) - 1, field = next() & top,
	    low = next() & ((1u << t->fraction) - 1);
	s32 bias = (s32)(top >> 1);

	/* e5m2 has infinities, e4m3 one NaN */
	if (field == top && t->exponent > 3)
		field = next() % top;
	return ldexp((next() & 1 ? -1.0 : 1.0) * (low | (field ? 1u << t->fraction : 0)),
		     (s32)(field ? field : 1) - bias - (s32)t->fraction);
}

/* Whole exponents, or a number of e4m3 that is not zero; now and then far from one. */
static f64 any_scale(const struct kind *kind)
{
	if (has_fractions(kind))
		return fabs(any_number(&types[0]));
	return ldexp(1, next() % 8 ? (s32)(next() % 40) - 20 : (s32)(next() % 250) - 125);
}

static void fill_any(struct problem *p)
{
	fill(p);
	for (u32 k = 0; k < p->k; k++) {
		u32 group = p->kind->pairs ? 8 : 4, n = p->kind->pairs ? k % 8 / 2 : k % 4;

		for (u32 i = 0; i < 16; i++) {
			const u8 *at = p->place[i][k / group];

			p->a[i][k] = p->sparse && at[0] != n && at[1] != n ? 0 : any_number(p->ta);
		}
		for (u32 j = 0; j < 8; j++)
			p->b[k][j] = any_number(p->tb);
	}
	for (u32 s = 0; s < 4; s++) {
		for (u32 i = 0; i < 16; i++)
			do
				p->sa[i][s] = any_scale(p->kind);
			while (p->sa[i][s] == 0);
		for (u32 j = 0; j < 8; j++)
			do
				p->sb[j][s] = any_scale(p->kind);
			while (p->sb[j][s] == 0);
	}
	for (u32 i = 0; i < 16; i++)
		for (u32 j = 0; j < 8; j++)
			p->c[i][j] =
				next() % 4 ? f32_bits((next() << 10 ^ next()) & 0xbfffffff) : 0;
}

static struct dot_scale scale_of(const struct kind *kind, f64 v)
{
	s32 e = ilogb(v);

	if (has_fractions(kind) && e < -6) /* subnormal */
		return (struct dot_scale){(u32)ldexp(v, 9), -6};
	return (struct dot_scale){(u32)ldexp(v, 3 - e), e};
}

static enum dot_kind dot_kind_of(const struct type *t)
{
	enum dot_kind k = DOT_E4M3;

	while (k < DOT_E2M1 && strcmp(dot_formats[k].name, t->name) != 0)
		k++;
	return k;
}

/* Numbers that A stores of row i, and those of column j that meet them. Returns how many. */
static u32 stored_pairs(const struct problem *p, u32 i, u32 j, u32 *a, u32 *b)
{
	u32 group = p->kind->pairs ? 8 : 4, n = 0;

	for (u32 k = 0; k < p->k; k++) {
		const u8 *at = p->place[i][k / group];
		u32 place = p->kind->pairs ? k % 8 / 2 : k % 4;

		if (p->sparse && at[0] != place && at[1] != place)
			continue;
		a[n] = encode(p->ta, p->a[i][k]);
		b[n++] = encode(p->tb, p->b[k][j]);
	}
	return n;
}

static u32 expected(const struct problem *p, u32 i, u32 j)
{
	static const struct dot_rule bytes = {25, 7, K_MAX}, nibbles = {35, 7, K_MAX};
	const enum dot_kind kinds_of[4] = {dot_kind_of(p->ta), dot_kind_of(p->tb), DOT_F32,
					   DOT_F32};
	struct dot_scale scales[4][2];
	u32 a[K_MAX], b[K_MAX], n = stored_pairs(p, i, j, a, b), c;

	memcpy(&c, &p->c[i][j], 4);
	if (!p->kind->pairs)
		return dot_sum(&bytes, kinds_of, a, b, n, c,
			       ilogb(p->sa[i][0]) + ilogb(p->sb[j][0]));
	for (u32 g = 0; g < 4; g++) {
		scales[g][0] = scale_of(p->kind, p->sa[i][g * p->kind->scales / 4]);
		scales[g][1] = scale_of(p->kind, p->sb[j][g * p->kind->scales / 4]);
	}
	return dot_groups(&nibbles, a, b, n / 16, (const struct dot_scale(*)[2])scales, c);
}

static void test_any(const struct kind *kind, u32 ta, u32 tb, bool sparse)
{
	struct problem p = {.kind = kind, .ta = &types[ta], .tb = &types[tb], .sparse = sparse};
	u32 d[16][8], wrong = 0;
	char what[160], first[60] = "";

	p.k = kind->k << sparse;
	for (u32 turn = 0; turn < 8; turn++) {
		fill_any(&p);
		if (!run(&p, turn % 2, d)) {
			wrong++;
			break;
		}
		for (u32 i = 0; i < 16; i++)
			for (u32 j = 0; j < 8; j++) {
				u32 want = expected(&p, i, j);

				if (want != d[i][j] && !wrong++)
					snprintf(first, sizeof(first), ": %08x, not %08x", d[i][j],
						 want);
			}
	}
	snprintf(what, sizeof(what), "%s %s by %s%s, any numbers%s", kind->name, p.ta->name,
		 p.tb->name, sparse ? ", sparse" : "", first);
	CHECK_MSG(!wrong, what);
}

/* Parts before Blackwell have no such instruction. */
static void test_refusal(void)
{
	struct problem p = {.kind = &kinds[0], .ta = &types[0], .tb = &types[0], .k = 32};
	char ptx[PTX_MAX];
	struct harness h;
	u64 params[2] = {0, 0};

	write_kernel(&p, ptx, true);
	if (!CHECK(harness_open(&h, ptx)))
		return;
	h.device = "h200";
	params[0] = params[1] = mem_alloc(&h.mem, 2048, 0, MEM_KIND_DEVICE);
	CHECK_EQ(harness_run(&h, "k", 1, 32, params, NULL), STOP_FAULT);
	harness_close(&h);
}

int main(void)
{
	for (u32 a = 0; a < ARRAY_LEN(types); a++)
		for (u32 b = 0; b < ARRAY_LEN(types); b++)
			for (u32 sparse = 0; sparse < 2; sparse++)
				test_exact(&kinds[(a + b) % 2], a, b, sparse, 3 * a + b);
	for (u32 i = 2; i < ARRAY_LEN(kinds); i++)
		for (u32 turn = 0; turn < 16; turn++)
			test_exact(&kinds[i], 4, 4, turn & 8, turn);
	for (u32 i = 0; i < ARRAY_LEN(probes); i++)
		test_probe(&probes[i]);
	for (u32 a = 0; a < ARRAY_LEN(types); a++)
		for (u32 b = 0; b < ARRAY_LEN(types); b++)
			test_any(&kinds[(a + b) % 2], a, b, (a ^ b) & 1);
	for (u32 i = 2; i < ARRAY_LEN(kinds); i++)
		for (u32 sparse = 0; sparse < 2; sparse++)
			test_any(&kinds[i], 4, 4, sparse);
	test_refusal();
	return check_done();
}
