/*
 * Values of channels: texels weighted and summed as the texture unit does it, to the bit.
 *
 * Weights are in 1/256 and sum to 256. Four texels of a plane are aligned to the largest of them;
 * the sums of planes, slices of a volume and levels, are added exactly. What is rounded is said
 * with each.
 */
#include "src/num/numeric.h"
#include "src/tex/texture.h"

#include <math.h>

#define PLANE 4u
/* Of a finer plane, bits kept below the unit of the coarsest. */
#define DUST_BITS 2

/* How sums of f32 and f16 are formed. */
struct precision {
	s32 guard;  /* bits of an f32 kept below the unit of the largest one */
	s32 keep;   /* bits of the result */
	s32 lowest; /* power of two of its smallest unit */
	u32 nan;
	bool subnormals; /* of texels count, results have them */
	u32 shift;       /* of the weights */
};

static const struct precision full_precision = {4, 24, -149, 0x7fffffff, false, 0},
			      half_precision = {-9, 11, -24, 0x7fffe000, true, 0};

/* What spreads whatever it is added to; and signs of subnormals and zeros, all that may be left. */
struct specials {
	bool plus, minus, nan, tiny_plus, tiny_minus;
};

/* A sum in units of 2^scale. */
struct sum {
	s64 value;
	s32 scale;
};

static s32 exponent(u32 bits)
{
	s32 e = (s32)(bits >> 23 & 255);

	return e ? e : 1;
}

/* Look at one plane's texels. Returns the largest exponent, 0: there is nothing to add. */
static s32 survey(const u32 *t, const s32 *w, const bool *touched, u32 n, struct specials *s)
{
	s32 most = 0;

	for (u32 i = 0; i < n; i++) {
		bool minus = t[i] >> 31, is_special = (t[i] >> 23 & 255) == 255;

		/* A weight rounded to zero still spreads NaN and infinity. */
		if (!w[i] && !(touched[i] && is_special))
			continue;
		if (is_special) {
			s->nan |= (t[i] << 9) != 0;
			s->minus |= !(t[i] << 9) && minus;
			s->plus |= !(t[i] << 9) && !minus;
		} else {
			if (t[i] << 1)
				most = exponent(t[i]) > most ? exponent(t[i]) : most;
			s->tiny_minus |= !(t[i] >> 23 & 255) && minus;
			s->tiny_plus |= !(t[i] >> 23 & 255) && !minus;
		}
	}
	return most;
}

static struct sum sum_plane(const u32 *t, const s32 *w, u32 n, s32 most, const struct precision *p)
{
	struct sum sum = {0, most - p->guard - 150 - 8 - (s32)p->shift};

	for (u32 i = 0; i < n; i++) {
		s64 x = t[i] & 0x7fffff;
		s32 shift = most - exponent(t[i]) - p->guard;

		if (t[i] >> 23 & 255)
			x |= 0x800000;
		else if (!p->subnormals)
			x = 0;
		/* Only numbers that are not finite lie so far above `most`. */
		x = shift > 0 ? (shift < 63 ? x >> shift : 0) : shift > -40 ? x << -shift : 0;
		sum.value += (t[i] >> 31 ? -x : x) * w[i];
	}
	return sum;
}

/* Half away from zero. */
static u32 round_sum(s128 value, s32 scale, const struct precision *p)
{
	u128 m = (u128)(value < 0 ? -value : value);
	s32 bits =
		m >> 64 ? 128 - __builtin_clzll((u64)(m >> 64)) : 64 - __builtin_clzll((u64)m | 1);
	s32 cut = bits - p->keep;
	f64 d;

	cut = cut < p->lowest - scale ? p->lowest - scale : cut;
	if (cut > 0) {
		m = cut < 128 ? (m >> cut) + (m >> (cut - 1) & 1) : 0;
		scale += cut;
	}
	d = ldexp((f64)(u64)m, scale);
	if (p->subnormals && d > 65504)
		d = INFINITY;
	if (!p->subnormals && d < 0x1p-126)
		d = 0;
	return bits_f32((f32)(value < 0 ? -d : d));
}

/*
 * Planes in a unit DUST_BITS below that of the coarsest; what a finer one has below is cut off
 * toward minus infinity.
 */
static u32 add_planes(const struct sum *s, u32 n, const struct precision *p)
{
	s32 coarse = INT32_MIN, unit;
	s128 value = 0;

	for (u32 i = 0; i < n; i++)
		if (s[i].value)
			coarse = s[i].scale > coarse ? s[i].scale : coarse;
	unit = coarse - DUST_BITS;
	for (u32 i = 0; i < n && coarse > INT32_MIN; i++) {
		s32 up = s[i].scale - unit;

		if (!s[i].value)
			continue;
		value += up >= 0 ? s[i].value * ((s128)1 << up)
				 : (s128)(s[i].value >> (up < -63 ? 63 : -up));
	}
	return value ? round_sum(value, unit, p) : 0;
}

static u32 blend_float(const u32 *t, const s32 *w, const bool *touched, u32 n,
		       const struct precision *p)
{
	struct specials s = {0};
	struct sum sum[TEX_CORNERS / PLANE];
	s32 most[TEX_CORNERS / PLANE];
	bool any = false;

	for (u32 i = 0; i < n; i += PLANE)
		most[i / PLANE] = survey(t + i, w + i, touched + i, PLANE, &s);
	if (s.nan || (s.plus && s.minus))
		return p->nan;
	if (s.plus || s.minus)
		return s.minus ? 0xff800000 : 0x7f800000;
	for (u32 i = 0; i < n; i += PLANE) {
		sum[i / PLANE].value = 0;
		if (most[i / PLANE])
			sum[i / PLANE] = sum_plane(t + i, w + i, PLANE, most[i / PLANE], p);
		any |= sum[i / PLANE].value != 0;
	}
	if (!any)
		return !p->subnormals && s.tiny_minus && !s.tiny_plus ? 0x80000000u : 0;
	return add_planes(sum, n / PLANE, p);
}

static const u16 srgb[256] = {
#include "src/tex/texture_srgb.def"
};

/* One plane of bytes of sRGB, in 2^-22. */
static u64 add_srgb(const u32 *v, const s32 *w, u32 n)
{
	u32 shift = 0;
	u64 sum = 0;

	for (u32 i = 0; i < n; i++) {
		u32 e = srgb[(v[i] & 0xff) | 7] >> 7;

		if (w[i] && e > 120 + shift)
			shift = e - 120;
	}
	for (u32 i = 0; i < n; i++) {
		u64 t = (u64)(f32_bits((u32)srgb[v[i] & 0xff] << 16) * 16384);

		sum += (t >> shift << shift) * (u64)w[i];
	}
	return sum;
}

/*
 * Bytes of sRGB, as the table has them. Eight neighbours share the exponent of the last one, which
 * is at least that of 1/128; of what is added to a larger one, parts below its unit are cut off.
 * The sum is rounded to 11 bits, half up.
 */
static u32 blend_srgb(const u32 *v, const s32 *w, u32 n, u32 more)
{
	u64 sum = 0;
	s32 cut;

	for (u32 i = 0; i < n; i += PLANE)
		sum += add_srgb(v + i, w + i, n < PLANE ? n : PLANE);
	cut = sum ? 64 - __builtin_clzll(sum) - 11 : 0;
	if (cut > 0)
		sum = ((sum >> (cut - 1)) + 1) >> 1 << cut;
	return bits_f32((f32)ldexp((f64)sum, -22 - (s32)more));
}

/*
 * A weighted sum, in 1/256 of a texel's unit, as a number of 16 bits: what was 8 bits wide is
 * widened after the sum.
 */
static s64 to_sixteen(u32 class, s64 sum, u32 shift)
{
	if (class == TEX_UNORM8)
		return (sum * 257 + (128 << shift)) >> (8 + shift);
	if (class == TEX_SNORM8)
		return (sum * 8 + (sum >> 4) + (sum >> 12) + (4 << shift)) >> (3 + shift);
	return (sum + (128 << shift)) >> (8 + shift);
}

/* Ten bits as sixteen; a border has sixteen and a bit above them. */
static u32 from_ten(u32 v)
{
	return v >> 16 ? v & 0xffff : v << 6 | v >> 4;
}

static u32 to_ten(u32 border)
{
	return ((border & 0xffff) * 1023 + 32767) / 65535;
}

u32 tex_blend(u32 class, const u32 *t, const s32 *w, const bool *touched, u32 n, u32 shift)
{
	struct precision p = class == TEX_F16 ? half_precision : full_precision;
	s64 sum = 0;

	p.shift = shift;

	switch (class) {
	case TEX_UINT:
	case TEX_SINT:
		return t[0];
	case TEX_F32:
		return n == 1 ? t[0] : blend_float(t, w, touched, n, &p);
	case TEX_F16:
		return n == 1 ? t[0] : blend_float(t, w, touched, n, &p);
	case TEX_SRGB8:
		return blend_srgb(t, w, n, shift);
	default:
		break;
	}
	if (n == 1 && class == TEX_SNORM8)
		return bits_f32((f32)((f64)((s32)t[0] < -127 ? -127 : (s32)t[0]) / 127));
	if (n == 1 && class == TEX_UNORM10)
		return bits_f32((f32)((f64)(t[0] >> 16 ? to_ten(t[0]) : t[0]) / 1023));
	for (u32 i = 0; i < n; i++)
		sum += (s64)(s32)(class == TEX_UNORM10 ? from_ten(t[i]) : t[i]) * w[i];
	sum = to_sixteen(class, sum, shift);
	switch (class) {
	case TEX_UNORM8:
	case TEX_UNORM10:
	case TEX_UNORM16:
		return bits_f32((f32)((f64)sum / 65535));
	default:
		return bits_f32((f32)((f64)(sum < -32767 ? -32767 : sum) / 32767));
	}
}
