/*
 * Elements of matrices as numbers: loading, rounding, storing.
 */
#include "src/hostlibs/number.h"
#include "src/num/numeric_half.h"

#include <math.h>

/* A float of at most 16 bits: a sign, bits of the exponent, bits of the fraction. */
struct small_float {
	u32 exponent, fraction;
	bool infinite; /* else it saturates, and all ones are its NaN */
};

static const struct small_float half = {5, 10, true}, brain = {8, 7, true}, e4m3 = {4, 3, false},
				e5m2 = {5, 2, true};

u32 hl_bytes(u32 type)
{
	switch (type) {
	case HL_F32:
	case HL_S32:
		return 4;
	case HL_F64:
	case HL_C32:
		return 8;
	case HL_C64:
		return 16;
	case HL_F16:
	case HL_BF16:
		return 2;
	case HL_S8:
	case HL_U8:
	case HL_E4M3:
	case HL_E5M2:
		return 1;
	default:
		return 0;
	}
}

static f64 widen_small(const struct small_float *f, u32 bits)
{
	u32 m = bits & ((1u << f->fraction) - 1),
	    e = bits >> f->fraction & ((1u << f->exponent) - 1);
	u32 ones = (1u << f->exponent) - 1;
	int bias = (int)(ones >> 1);
	f64 x = e ? ldexp((f64)(m | 1u << f->fraction), (int)e - bias - (int)f->fraction)
		  : ldexp((f64)m, 1 - bias - (int)f->fraction);

	if (e == ones && f->infinite)
		x = m ? (f64)NAN : (f64)INFINITY;
	else if (e == ones && m == (1u << f->fraction) - 1)
		x = (f64)NAN;
	return bits >> (f->exponent + f->fraction) & 1 ? -x : x;
}

/* To nearest even. `saturate`: what is too large becomes the largest number. */
static u32 narrow_small(const struct small_float *f, f64 x, bool saturate)
{
	u32 sign = (signbit(x) ? 1u : 0u) << (f->exponent + f->fraction);
	u32 ones = (1u << f->exponent) - 1, largest;
	int bias = (int)(ones >> 1), e;
	f64 m = fabs(x), scaled;
	u32 bits;

	largest = f->infinite ? (ones << f->fraction) - 1
			      : (ones << f->fraction | ((1u << f->fraction) - 2));
	if (isnan(x))
		return f->infinite ? sign | ones << f->fraction | 1u << (f->fraction - 1)
				   : sign | ((1u << (f->exponent + f->fraction)) - 1);
	if (m == 0)
		return sign;
	e = m > 0x1p200 ? 201 : ilogb(m);
	if (e < 1 - bias)
		e = 1 - bias;
	/* As a multiple of the last place; a carry goes on into the exponent. */
	scaled = e > 200 ? 0x1p40 : nearbyint(ldexp(m, (int)f->fraction - e));
	bits = scaled >= 0x1p30 || e + bias > (int)ones
		       ? largest + 1
		       : (u32)scaled + ((u32)(e + bias - 1) << f->fraction);
	if (bits > largest)
		bits = saturate || !f->infinite ? largest : ones << f->fraction;
	return sign | bits;
}

static f64 load_real(u32 type, const void *at)
{
	u16 h = 0;
	f32 s;
	f64 d;
	s32 i;

	switch (type) {
	case HL_F32:
		memcpy(&s, at, sizeof(s));
		return (f64)s;
	case HL_F64:
		memcpy(&d, at, sizeof(d));
		return d;
	case HL_F16:
		memcpy(&h, at, sizeof(h));
		return (f64)f32_bits(num_widen_f16(h));
	case HL_BF16:
		memcpy(&h, at, sizeof(h));
		return (f64)f32_bits(num_widen_bf16(h));
	case HL_S8:
		return *(const s8 *)at;
	case HL_U8:
		return *(const u8 *)at;
	case HL_S32:
		memcpy(&i, at, sizeof(i));
		return i;
	case HL_E4M3:
		return widen_small(&e4m3, *(const u8 *)at);
	case HL_E5M2:
		return widen_small(&e5m2, *(const u8 *)at);
	default:
		return 0;
	}
}

struct hl_number hl_load(u32 type, const void *at)
{
	const u8 *p = at;

	if (type == HL_C32)
		return (struct hl_number){load_real(HL_F32, p), load_real(HL_F32, p + 4)};
	if (type == HL_C64)
		return (struct hl_number){load_real(HL_F64, p), load_real(HL_F64, p + 8)};
	return (struct hl_number){load_real(type, p), 0};
}

static f64 clamp(f64 x, f64 low, f64 high)
{
	x = isnan(x) ? 0 : nearbyint(x);
	return x < low ? low : x > high ? high : x;
}

static void store_real(u32 type, void *at, f64 x)
{
	f32 s = (f32)x;
	s32 i;
	u16 h;

	switch (type) {
	case HL_F32:
		memcpy(at, &s, sizeof(s));
		break;
	case HL_F64:
		memcpy(at, &x, sizeof(x));
		break;
	case HL_F16:
	case HL_BF16:
		h = (u16)narrow_small(type == HL_F16 ? &half : &brain, x, false);
		memcpy(at, &h, sizeof(h));
		break;
	case HL_S8:
		*(s8 *)at = (s8)clamp(x, -128, 127);
		break;
	case HL_U8:
		*(u8 *)at = (u8)clamp(x, 0, 255);
		break;
	case HL_S32:
		i = (s32)clamp(x, INT32_MIN, INT32_MAX);
		memcpy(at, &i, sizeof(i));
		break;
	case HL_E4M3:
		*(u8 *)at = (u8)narrow_small(&e4m3, x, true);
		break;
	case HL_E5M2:
		*(u8 *)at = (u8)narrow_small(&e5m2, x, true);
		break;
	default:
		break;
	}
}

void hl_store(u32 type, void *at, struct hl_number x)
{
	u8 *p = at;

	if (!hl_is_complex(type)) {
		store_real(type, at, x.re);
		return;
	}
	store_real(type == HL_C32 ? HL_F32 : HL_F64, p, x.re);
	store_real(type == HL_C32 ? HL_F32 : HL_F64, p + hl_bytes(type) / 2, x.im);
}

/* The common types without a choice for each element. */
void hl_load_f32(u32 type, const u8 *at, s64 step, s64 n, f32 *re, f32 *im, f32 sign)
{
	s64 bytes = step * (s64)hl_bytes(type);

	for (s64 i = 0; i < n; i++, at += bytes) {
		u16 h = 0;

		if (type == HL_F32) {
			memcpy(&re[i], at, 4);
		} else if (type == HL_C32) {
			memcpy(&re[i], at, 4);
			memcpy(&im[i], at + 4, 4);
			im[i] *= sign;
		} else if (type == HL_F16) {
			memcpy(&h, at, 2);
			re[i] = f32_bits(num_widen_f16(h));
		} else {
			re[i] = (f32)load_real(type, at);
		}
	}
}

void hl_load_f64(u32 type, const u8 *at, s64 step, s64 n, f64 *re, f64 *im, f64 sign)
{
	s64 bytes = step * (s64)hl_bytes(type);

	for (s64 i = 0; i < n; i++, at += bytes) {
		struct hl_number x = hl_load(type, at);

		re[i] = x.re;
		if (hl_is_complex(type))
			im[i] = sign * x.im;
	}
}

struct hl_number hl_div(struct hl_number a, struct hl_number b)
{
	f64 r, d;

	if (b.im == 0)
		return (struct hl_number){a.re / b.re, a.im == 0 ? 0 : a.im / b.re};
	if (fabs(b.re) >= fabs(b.im)) {
		r = b.im / b.re;
		d = b.re + b.im * r;
		return (struct hl_number){(a.re + a.im * r) / d, (a.im - a.re * r) / d};
	}
	r = b.re / b.im;
	d = b.re * r + b.im;
	return (struct hl_number){(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}

f64 hl_abs(struct hl_number a)
{
	return hypot(a.re, a.im);
}
