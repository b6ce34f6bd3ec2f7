/*
 * The conversions that no available hardware performs, against their definition: every code of the
 * small formats, nearest by search, stochastic rounding by its mean and its neighbours, ue8m0, the
 * three-input minimum.
 */
#include "src/num/numeric_mini.h"
#include "tests/check.h"

static u32 seed = 1;

static u32 next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed;
}

/* The definition of a format, written apart from the code under test. */
static f64 code_value(u32 code, int exponent_bits, int mantissa_bits, int bias)
{
	int e = (int)(code >> mantissa_bits) & ((1 << exponent_bits) - 1);
	f64 m = (f64)(code & ((1u << mantissa_bits) - 1)), v;

	v = e ? m + (f64)(1 << mantissa_bits) : m;
	for (int i = (e ? e : 1) - bias - mantissa_bits; i; i += i < 0 ? 1 : -1)
		v = i < 0 ? v / 2 : v * 2;
	return v;
}

static const struct {
	const char *name;
	const struct num_mini *format;
	int exponent_bits, mantissa_bits, bias;
} formats[] = {
	{"e4m3", &num_e4m3, 4, 3, 7}, {"e5m2", &num_e5m2, 5, 2, 15}, {"e2m3", &num_e2m3, 2, 3, 1},
	{"e3m2", &num_e3m2, 3, 2, 3}, {"e2m1", &num_e2m1, 2, 1, 1},
};

static f64 value_of(int f, u32 code)
{
	return code_value(code, formats[f].exponent_bits, formats[f].mantissa_bits,
			  formats[f].bias);
}

static bool widens_exactly(int f)
{
	const struct num_mini m = *formats[f].format;

	for (u32 c = 0; c <= m.max; c++) {
		f64 v = value_of(f, c);
		u32 negative = c | num_mini_sign(m);

		if ((f64)f32_bits(num_f32_from_mini(c, m)) != v)
			return false;
		if (num_f32_from_mini(negative, m) != (num_f32_from_mini(c, m) | 0x80000000u))
			return false;
		if (num_mini_from_f32(num_f32_from_mini(c, m), m, NUM_RN) != c)
			return false;
	}
	return true;
}

/* The nearest code by search, an even one of two that are equally near. */
static u32 nearest(int f, f64 x)
{
	u32 best = 0;

	for (u32 c = 0; c <= formats[f].format->max; c++) {
		f64 d = value_of(f, c) - x, b = value_of(f, best) - x;

		d = d < 0 ? -d : d;
		b = b < 0 ? -b : b;
		if (d < b || (d == b && !(c & 1)))
			best = c;
	}
	return best;
}

static bool rounds_to_nearest(int f)
{
	const struct num_mini m = *formats[f].format;

	for (int i = 0; i < 20000; i++) {
		u32 c = next() % (m.max + 1);
		f64 v = value_of(f, c), w = value_of(f, c < m.max ? c + 1 : c);
		/* Near a code, near a midpoint, anywhere. */
		f32 x = (f32)(i % 3 == 0   ? v
			      : i % 3 == 1 ? (v + w) / 2
					   : v + (w - v) * (f64)(next() >> 8) * 0x1p-24);
		u32 u = bits_f32(x) + (next() % 3) - 1;

		if (u >> 31 || num_is_nan_f32(u))
			continue;
		if (num_mini_from_f32(u, m, NUM_RN) != nearest(f, (f64)f32_bits(u)))
			return false;
	}
	return true;
}

static bool stochastic_is_fair(int f)
{
	const struct num_mini m = *formats[f].format;

	for (int i = 0; i < 40; i++) {
		u32 c = next() % m.max;
		f64 v = value_of(f, c), w = value_of(f, c + 1);
		u32 u = bits_f32((f32)(v + (w - v) * (f64)(next() >> 8) * 0x1p-24));
		u32 x[4] = {u, u | 0x80000000u, u, u}, ups = 0;
		f64 share = ((f64)f32_bits(u) - v) / (w - v) * 65536.0;

		for (u32 r = 0; r < 65536; r++) {
			u32 d = num_minix4_stochastic(x, r, m, NUM_RZ) & (num_mini_sign(m) * 2 - 1);

			if (d != c && d != c + 1)
				return false;
			ups += d == c + 1;
		}
		if ((f64)ups - share > 1.0 || share - (f64)ups > 1.0)
			return false;
	}
	return true;
}

static void check_formats(void)
{
	char what[80];

	for (int f = 0; f < (int)ARRAY_LEN(formats); f++) {
		const struct num_mini m = *formats[f].format;

		snprintf(what, sizeof(what), "%s: codes widen exactly and come back",
			 formats[f].name);
		CHECK_MSG(widens_exactly(f), what);
		snprintf(what, sizeof(what), "%s: rounds to the nearest code", formats[f].name);
		CHECK_MSG(rounds_to_nearest(f), what);
		snprintf(what, sizeof(what),
			 "%s: stochastic rounding goes up as often as it should", formats[f].name);
		CHECK_MSG(stochastic_is_fair(f), what);
		CHECK_EQ(num_mini_from_f32(NUM_INF_F32, m, NUM_RN), m.max);
		CHECK_EQ(num_mini_from_f32(0xff800000u, m, NUM_RN), m.max | num_mini_sign(m));
		CHECK_EQ(num_mini_from_f32(0xc0000000u, m, NUM_RELU), 0);
		CHECK_EQ(num_mini_from_f32(0xffc00000u, m, NUM_RN), m.nan);
	}
}

int main(void)
{
	check_formats();

	/* Packing: the first source in the upper place. */
	CHECK_EQ(num_e2m1x2_from_f32(0x3f800000u, 0xc0c00000u, NUM_RN), 0x2f);
	CHECK_EQ(num_f16x2_from_e2m1x2(0x2f, NUM_RN), 0x3c00c600u);
	CHECK_EQ(num_e2m3x2_from_f32(0x3f800000u, 0, NUM_RN), 0x0800);

	/* ue8m0: powers of two, up or toward zero. */
	CHECK_EQ(num_ue8m0_from_f32(0x3f800000u, NUM_RZ), 127);
	CHECK_EQ(num_ue8m0_from_f32(0x3f800001u, NUM_RP), 128);
	CHECK_EQ(num_ue8m0_from_f32(0xbf800001u, NUM_RZ), 127);
	CHECK_EQ(num_ue8m0_from_f32(0x00400000u, NUM_RP), 0);
	CHECK_EQ(num_ue8m0_from_f32(0x00400001u, NUM_RP), 1);
	CHECK_EQ(num_ue8m0_from_f32(NUM_INF_F32, NUM_RZ | NUM_SATFINITE), 0xfe);
	CHECK_EQ(num_ue8m0_from_f32(0x7fc00000u, NUM_RZ | NUM_SATFINITE), 0xff);
	CHECK_EQ(num_bf16x2_from_ue8m0x2(0x7f00), 0x3f800040u);

	/* f16x2 and bf16x2 with random bits: the low half serves the second source. */
	CHECK_EQ(num_bf16x2_stochastic(0x3f800001u, 0x3f800001u, 0x0000ffffu, NUM_RZ), 0x3f803f81u);
	CHECK_EQ(num_f16x2_stochastic(0x3f800001u, 0x3f800001u, 0x1fff0000u, NUM_RZ), 0x3c013c00u);
	CHECK_EQ(num_f16x2_stochastic(0x477fffffu, NUM_INF_F32, 0x1fff1fffu, NUM_SATFINITE),
		 0x7bff7bffu);

	/* tf32 to nearest with .satfinite */
	CHECK_EQ(num_tf32_from_f32(0x7f7fffffu, NUM_RN), 0x7f800000u);
	CHECK_EQ(num_tf32_from_f32(0x7f7fffffu, NUM_RN | NUM_SATFINITE), 0x7f7fe000u);

	CHECK_EQ(num_min3_f32(0x40000000u, 0xbf800000u, 0x7fc00000u, 0), 0xbf800000u);
	CHECK_EQ(num_max3_f32(0x40000000u, 0xc0800000u, 0x3f800000u, NUM_ABS), 0x40800000u);
	CHECK_EQ(num_max3_f32(0x40000000u, 0x7fc00000u, 0x3f800000u, NUM_NAN), NUM_NAN_F32);
	return check_done();
}
