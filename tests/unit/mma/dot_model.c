/*
 * A term is m times 2 to the power of `unit`, m a whole number with a sign; its exponent for
 * alignment is kept beside it, since a subnormal number, or a product above two, is not normalised.
 */
#include "tests/unit/mma/dot_model.h"

#define TERMS 129u
#define NOTHING (-100000) /* exponent of zero */

const struct dot_format dot_formats[DOT_KINDS] = {
	{"f16", 16, 5, 10, false, false},  {"bf16", 16, 8, 7, false, false},
	{"tf32", 32, 8, 10, false, false}, {"e4m3", 8, 4, 3, true, true},
	{"e5m2", 8, 5, 2, false, false},   {"e3m2", 8, 3, 2, true, false},
	{"e2m3", 8, 2, 3, true, false},    {"e2m1", 8, 2, 1, true, false},
	{"f32", 32, 8, 23, false, false},
};

struct term {
	s64 m;
	s32 unit, exponent;
	bool nan;
	s32 infinite; /* 1, -1 */
};

static struct term decode(enum dot_kind kind, u32 bits)
{
	const struct dot_format *f = &dot_formats[kind];
	struct term t = {0, 0, NOTHING, false, 0};
	u32 top = (1u << f->exponent) - 1, field, low, sign;

	bits >>= kind == DOT_TF32 ? 13 : kind == DOT_E2M1 ? 2 : 0;
	field = bits >> f->fraction & top;
	low = bits & ((1u << f->fraction) - 1);
	sign = bits >> (f->exponent + f->fraction) & 1;
	if (field == top && !f->finite) {
		t.nan = low != 0;
		t.infinite = low ? 0 : sign ? -1 : 1;
		return t;
	}
	t.nan = f->nan && field == top && low == (1u << f->fraction) - 1;
	if (!field && !low)
		return t;
	t.m = low | (field ? 1u << f->fraction : 0);
	t.m = sign ? -t.m : t.m;
	t.exponent = (s32)(field ? field : 1) - (s32)(top >> 1);
	t.unit = t.exponent - (s32)f->fraction;
	return t;
}

static struct term multiply(struct term a, struct term b, s32 scale)
{
	struct term t = {a.m * b.m, a.unit + b.unit + scale, a.exponent + b.exponent + scale,
			 a.nan || b.nan, 0};
	bool infinite = a.infinite || b.infinite;

	if (!t.m)
		t.exponent = NOTHING;
	if (infinite) {
		s32 sa = a.infinite ? a.infinite : a.m > 0 ? 1 : a.m < 0 ? -1 : 0;
		s32 sb = b.infinite ? b.infinite : b.m > 0 ? 1 : b.m < 0 ? -1 : 0;

		t.infinite = sa * sb;
		t.nan |= !sa || !sb;
	}
	return t;
}

/* Toward zero. */
static s64 shifted(s64 m, s32 by)
{
	u64 x = (u64)(m < 0 ? -m : m);

	x = by >= 0 ? x << by : by > -64 ? x >> -by : 0;
	return m < 0 ? -(s64)x : (s64)x;
}

/* m times 2 to the power of unit, as bits of f16, to nearest even, or of f32, toward zero. */
static u32 encode(s64 m, s32 unit, bool half)
{
	u32 fraction = half ? 10 : 23, sign = m < 0, bias = half ? 15 : 127, top = half ? 31 : 255;
	u64 x = (u64)(m < 0 ? -m : m), kept;
	s32 least = (half ? -14 : -126) - (s32)fraction, lsb, drop;
	u32 field;

	if (!x)
		return 0;
	lsb = unit + 63 - __builtin_clzll(x) - (s32)fraction;
	lsb = lsb < least ? least : lsb;
	drop = lsb - unit;
	if (drop > 0) {
		u64 rest = drop < 64 ? x & (((u64)1 << drop) - 1) : x,
		    tie = drop < 65 ? (u64)1 << (drop - 1) : 0;

		kept = drop < 64 ? x >> drop : 0;
		if (half && tie && (rest > tie || (rest == tie && kept & 1)))
			kept++;
	} else {
		kept = x << -drop;
	}
	if (!kept)
		return 0;
	if (kept >> (fraction + 1)) {
		kept >>= 1;
		lsb++;
	}
	field = kept >> fraction ? (u32)(lsb + (s32)fraction + (s32)bias) : 0;
	if (kept >> fraction && lsb + (s32)fraction + (s32)bias >= (s32)top)
		return sign << (half ? 15 : 31) | top << fraction;
	return sign << (half ? 15 : 31) | field << fraction | ((u32)kept & ((1u << fraction) - 1));
}

static u32 add_terms(const struct dot_rule *rule, const struct term *t, u32 n, bool half)
{
	s32 top = (half ? -14 : -126) - (s32)rule->below;
	bool nan = false, plus = false, minus = false;
	s64 sum = 0;

	for (u32 i = 0; i < n; i++) {
		top = t[i].exponent > top ? t[i].exponent : top;
		nan |= t[i].nan;
		plus |= t[i].infinite > 0;
		minus |= t[i].infinite < 0;
	}
	if (nan || (plus && minus))
		return half ? 0x7fff : 0x7fffffff;
	if (plus || minus)
		return (half ? 0x7c00u : 0x7f800000u) | (minus ? half ? 0x8000u : 0x80000000u : 0);
	for (u32 i = 0; i < n; i++)
		if (t[i].m)
			sum += shifted(t[i].m, t[i].unit + (s32)rule->fraction - top);
	return encode(sum, top - (s32)rule->fraction, half);
}

u32 dot_sum(const struct dot_rule *rule, const enum dot_kind *kinds, const u32 *a, const u32 *b,
	    u32 n, u32 c, s32 scale)
{
	bool half = kinds[3] == DOT_F16 && kinds[2] == DOT_F16;
	u32 block = rule->block < n ? rule->block : n;
	struct term t[TERMS];

	if (kinds[2] == DOT_F16 && !half) {
		struct term x = decode(DOT_F16, c);

		c = x.nan        ? 0x7fffffff
		    : x.infinite ? (x.infinite < 0 ? 0xff800000 : 0x7f800000)
				 : encode(x.m, x.unit, false);
	}
	for (u32 k = 0; k < n; k += block) {
		for (u32 i = 0; i < block; i++)
			t[i] = multiply(decode(kinds[0], a[k + i]), decode(kinds[1], b[k + i]),
					scale);
		t[block] = decode(half ? DOT_F16 : DOT_F32, c);
		c = add_terms(rule, t, block + 1, half);
	}
	if (kinds[3] == DOT_F16 && !half) {
		struct term x = decode(DOT_F32, c);

		/* an ordinary conversion: what is rounded to zero keeps its sign */
		c = x.nan        ? 0x7fff
		    : x.infinite ? (x.infinite < 0 ? 0xfc00 : 0x7c00)
				 : encode(x.m, x.unit, true) | (x.m < 0 ? 0x8000 : 0);
	}
	return c;
}

u32 dot_groups(const struct dot_rule *rule, const u32 *a, const u32 *b, u32 groups,
	       const struct dot_scale (*scales)[2], u32 c)
{
	struct term t[TERMS];

	for (u32 g = 0; g < groups; g++) {
		const struct dot_scale *s = scales[g];
		struct term *x = &t[g];

		*x = (struct term){0, -8 + s[0].e + s[1].e, s[0].e + s[1].e, false, 0};
		for (u32 i = 16 * g; i < 16 * g + 16; i++) {
			struct term p = multiply(decode(DOT_E2M1, a[i]), decode(DOT_E2M1, b[i]), 0);

			x->m += p.m ? shifted(p.m, p.unit + 2) : 0;
		}
		x->m *= (s64)s[0].m * s[1].m;
	}
	t[groups] = decode(DOT_F32, c);
	return add_terms(rule, t, groups + 1, false);
}
