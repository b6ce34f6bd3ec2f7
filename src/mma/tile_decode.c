/*
 * Numbers of matrices as doubles, exact, and their exponents: those of the PTX type's number
 * format. Subnormals have the least one, zero has MMA_NO_EXPONENT.
 */
#include "src/mma/mma.h"
#include "src/num/numeric_f64.h"

/*
 * One number of a format with `mantissa` bits, exponent field of all ones being an infinity or
 * NaN. Exact.
 */
static inline f64 number_ieee(u32 bits, u32 mantissa, u32 exponents, s32 *e, u32 *nonfinite)
{
	u32 top = (1u << exponents) - 1, field = bits >> mantissa & top,
	    low = bits & ((1u << mantissa) - 1);
	s32 bias = (s32)(top >> 1), exp = (s32)(field ? field : 1) - bias;
	f64 m = (f64)(s32)(low | (field ? 1u << mantissa : 0)),
	    v = m * mma_power(exp - (s32)mantissa);
	u64 u = bits_f64(v);

	u = field == top ? NUM_INF_F64 | low : u;
	u |= (u64)(bits >> (mantissa + exponents) & 1) << 63;
	*nonfinite |= field == top;
	*e = field | low ? exp : MMA_NO_EXPONENT;
	return f64_bits(u);
}

/*
 * e4m3: no infinities, 0x7f is NaN. `wide`: subnormals count with their own exponent, as f16
 * has them.
 */
static inline f64 number_e4m3(u32 bits, bool wide, s32 *e, u32 *nonfinite)
{
	u32 field = bits >> 3 & 15, low = bits & 7, nan = (bits & 127) == 127;
	s32 exp = field ? (s32)field - 7 : !wide ? -6 : low >= 4 ? -7 : low >= 2 ? -8 : -9;
	f64 v = (f64)(s32)(low | (field ? 8u : 0)) * mma_power((field ? (s32)field - 7 : -6) - 3);
	u64 u = nan ? NUM_NAN_F64 : bits_f64(v);

	*nonfinite |= nan;
	*e = bits & 127 ? exp : MMA_NO_EXPONENT;
	return f64_bits((u & ~NUM_SIGN_F64) | (u64)(bits >> 7 & 1) << 63);
}

/* Formats without infinities and NaN. */
static inline f64 number_finite(u32 bits, u32 mantissa, u32 exponents, s32 *e)
{
	u32 ignored = 0, top = (1u << exponents) - 1;
	u32 sign = bits >> (mantissa + exponents) & 1, field = bits >> mantissa & top;
	/* one exponent bit more, so that no field is all ones */
	s32 bias = (s32)(top >> 1), wide = (s32)top;
	u32 low = bits & ((1u << mantissa) - 1);
	f64 x = number_ieee(sign << (mantissa + exponents + 1) | field << mantissa | low, mantissa,
			    exponents + 1, e, &ignored);

	if (*e != MMA_NO_EXPONENT)
		*e += wide - bias;
	return x * mma_power(wide - bias);
}

#define NUMBERS(step, expr)                                                                        \
	MMA_FOR(i, n)                                                                              \
	{                                                                                          \
		u32 bad = 0, bits = step;                                                          \
		s32 x;                                                                             \
		v[i] = expr;                                                                       \
		e[i] = x;                                                                          \
		nonfinite |= bad;                                                                  \
	}

bool EXEC_NAME(mma_decode_row)(u32 type, const void *words, u32 n, bool wide, f64 *v, s32 *e)
{
	const u8 *w8 = words;
	const u16 *w16 = words;
	const u32 *w32 = words;
	u32 nonfinite = 0;

	switch (type) {
	case MMA_F16:
		NUMBERS(w16[i], number_ieee(bits, 10, 5, &x, &bad))
		break;
	case MMA_BF16:
		NUMBERS(w16[i], number_ieee(bits, 7, 8, &x, &bad))
		break;
	case MMA_TF32:
		NUMBERS(w32[i] >> 13, number_ieee(bits, 10, 8, &x, &bad))
		break;
	case MMA_E5M2: /* the upper half of f16 */
		NUMBERS(w8[i], number_ieee(bits, 2, 5, &x, &bad))
		break;
	case MMA_E4M3:
		NUMBERS(w8[i], number_e4m3(bits, wide, &x, &bad))
		break;
	case MMA_E3M2:
		NUMBERS(w8[i], number_finite(bits, 2, 3, &x))
		break;
	case MMA_E2M3:
		NUMBERS(w8[i], number_finite(bits, 3, 2, &x))
		break;
	case MMA_E2M1:
		NUMBERS(w8[i] >> 2, number_finite(bits, 1, 2, &x))
		break;
	default:
		NUMBERS(w32[i], number_ieee(bits, 23, 8, &x, &bad))
		break;
	}
	return nonfinite;
}
