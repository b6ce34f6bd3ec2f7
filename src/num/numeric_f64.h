/*
 * f64 arithmetic with all four roundings. PTX ISA "Floating Point Instructions": add, sub, mul,
 * fma, mad, div, rcp, sqrt, min, max, abs, neg, copysign, testp. f64 never flushes.
 *
 * To nearest uses the host's own operation, which vectorises. Directed roundings and the fused
 * multiply-add of hosts without one are exact integer arithmetic on 128 bits, one call per lane.
 * NaN results keep the payload of an operand, quieted: add, sub, mul and fma take b, then c, then
 * a; div takes a, then b. A NaN made from numbers is 0xfff8000000000000.
 */
#ifndef PL_NUM_NUMERIC_F64_H
#define PL_NUM_NUMERIC_F64_H

#include "src/num/numeric_f32.h"

#define NUM_SIGN_F64 0x8000000000000000u
#define NUM_QUIET_F64 0x0008000000000000u

NUM_FN bool num_is_nan_f64(u64 u)
{
	return (u & ~NUM_SIGN_F64) > NUM_INF_F64;
}

/*
 * The NaN of an operation whose operands are examined in the given order; r when it is a number.
 */
NUM_FN u64 num_pick_nan_f64(u64 r, u64 first, u64 second, u64 third)
{
	u64 nan = num_is_nan_f64(third) ? third | NUM_QUIET_F64 : NUM_NAN_F64;

	nan = num_is_nan_f64(second) ? second | NUM_QUIET_F64 : nan;
	nan = num_is_nan_f64(first) ? first | NUM_QUIET_F64 : nan;
	return num_is_nan_f64(r) ? nan : r;
}

/*
 * Round sig * 2^(exp - 63) to f64. sig has its top bit set and its last bit set if anything below
 * it was lost; it may carry 64 exact bits otherwise.
 */
NUM_FN u64 num_round_f64(bool neg, s32 exp, u64 sig, u32 mode)
{
	u64 sign = (u64)neg << 63;
	s32 e = exp + 1023;
	u32 rnd = mode & NUM_RND;
	bool away = num_rounds_away(mode, neg);
	u64 add, low;

	if (e <= 0) {
		u32 shift = 1 - e > 63 ? 63 : (u32)(1 - e);

		sig = sig >> shift | ((sig & (((u64)1 << shift) - 1)) != 0);
		e = 1;
	}
	low = sig & 0x7ff;
	add = rnd == NUM_RN ? low > 0x400 || (low == 0x400 && (sig >> 11 & 1)) : away && low;
	sig = (sig >> 11) + add;
	/*
	 * The implicit bit adds one to the exponent field; a subnormal that rounds up becomes
	 * normal so.
	 */
	sig += (u64)(e - 1) << 52;
	if (e > 2046 || sig >= NUM_INF_F64)
		sig = rnd == NUM_RN || away ? NUM_INF_F64 : NUM_INF_F64 - 1;
	return sign | sig;
}

/* |u| = sig * 2^(exp - 52) with bit 52 of sig set; u is finite and not zero. */
NUM_FN u64 num_unpack_f64(u64 u, s32 *exp)
{
	u64 m = u & 0x000fffffffffffffu;
	s32 e = (s32)(u >> 52 & 0x7ff);

	if (!e) {
		s32 shift = __builtin_clzll(m) - 11;

		*exp = -1022 - shift;
		return m << shift;
	}
	*exp = e - 1023;
	return m | (u64)1 << 52;
}

/* A nonzero 128-bit magnitude in units of 2^(exp - 127), to f64. */
NUM_FN u64 num_round_f64_u128(bool neg, s32 exp, u128 m, u32 mode)
{
	u64 hi = (u64)(m >> 64);
	s32 shift = hi ? __builtin_clzll(hi) : 64 + __builtin_clzll((u64)m);

	m <<= shift;
	return num_round_f64(neg, exp - shift, (u64)(m >> 64) | ((u64)m != 0), mode);
}

NUM_FN u128 num_shift_sticky(u128 m, s32 n)
{
	if (n <= 0)
		return m;
	if (n > 127)
		return m != 0;
	return m >> n | ((m & (((u128)1 << n) - 1)) != 0);
}

/*
 * Finite operands, product not zero. Products sit at bits 20..125, so sums have room above and
 * below.
 */
NUM_FN u64 num_soft_fma_finite_f64(u64 a, u64 b, u64 c, u32 mode)
{
	s32 ea, eb, ec, e;
	u64 ma = num_unpack_f64(a, &ea), mb = num_unpack_f64(b, &eb), mc;
	u128 p = (u128)ma * mb << 20, q;
	bool neg = (a ^ b) >> 63, nc = c >> 63;

	e = ea + eb + 1;
	if (!(c << 1))
		return num_round_f64_u128(neg, e + 2, p, mode);
	mc = num_unpack_f64(c, &ec);
	q = (u128)mc << 73;
	if (e < ec) {
		p = num_shift_sticky(p, ec - e);
		e = ec;
	} else {
		q = num_shift_sticky(q, e - ec);
	}
	if (neg == nc) {
		p += q;
	} else if (p == q) {
		return (mode & NUM_RND) == NUM_RM ? NUM_SIGN_F64 : 0;
	} else if (p > q) {
		p -= q;
	} else {
		p = q - p;
		neg = nc;
	}
	return num_round_f64_u128(neg, e + 2, p, mode);
}

NUM_COLD u64 num_soft_fma_f64(u64 a, u64 b, u64 c, u32 mode)
{
	u64 inf = NUM_INF_F64;
	bool neg = (a ^ b) >> 63, nc = c >> 63;

	if ((a & inf) == inf || (b & inf) == inf || (c & inf) == inf) {
		/*
		 * The host's separate operations give the right infinity or NaN unless a * b
		 * overflows.
		 */
		f64 p = (a & inf) == inf || (b & inf) == inf ? f64_bits(a) * f64_bits(b) : 0.0;

		return bits_f64(p + f64_bits(c));
	}
	if (a << 1 && b << 1)
		return num_soft_fma_finite_f64(a, b, c, mode);
	if (c << 1 || neg == nc)
		return c;
	return (mode & NUM_RND) == NUM_RM ? NUM_SIGN_F64 : 0;
}

NUM_COLD u64 num_soft_mul_f64(u64 a, u64 b, u32 mode)
{
	u64 inf = NUM_INF_F64;
	s32 ea, eb;

	if ((a & inf) == inf || (b & inf) == inf || !(a << 1) || !(b << 1))
		return bits_f64(f64_bits(a) * f64_bits(b));
	a = num_unpack_f64(a, &ea) | (a & NUM_SIGN_F64);
	b = num_unpack_f64(b, &eb) | (b & NUM_SIGN_F64);
	return num_round_f64_u128((a ^ b) >> 63, ea + eb + 23,
				  (u128)(a & ~NUM_SIGN_F64) * (b & ~NUM_SIGN_F64), mode);
}

NUM_COLD u64 num_soft_div_f64(u64 a, u64 b, u32 mode)
{
	u64 inf = NUM_INF_F64;
	bool neg = (a ^ b) >> 63;
	s32 ea, eb, e;
	u64 ma, mb, q;
	u128 n;

	if ((a & inf) == inf || (b & inf) == inf || !(a << 1) || !(b << 1))
		return bits_f64(f64_bits(a) / f64_bits(b));
	ma = num_unpack_f64(a, &ea);
	mb = num_unpack_f64(b, &eb);
	e = ma < mb ? ea - eb - 1 : ea - eb;
	n = (u128)ma << (ma < mb ? 64 : 63);
	q = (u64)(n / mb);
	return num_round_f64(neg, e, q | (n % mb != 0), mode);
}

/* Directed roots: the nearest root r is exact, one unit high or one unit low, as r * r shows. */
NUM_COLD u64 num_soft_sqrt_f64(u64 a, u32 mode)
{
	u64 r = bits_f64(__builtin_sqrt(f64_bits(a))), mx, mr;
	s32 ex, er;
	u128 have, want;

	if (!(a << 1) || a >= NUM_INF_F64)
		return r;
	mx = num_unpack_f64(a, &ex);
	mr = num_unpack_f64(r, &er);
	have = (u128)mr * mr;
	want = (u128)mx << (ex - 2 * er + 52);
	if (num_rounds_away(mode, false))
		return r + (have < want);
	return r - (have > want);
}

/* Directed sums: the error of a sum of two is itself an f64, which tells the side. */
NUM_FN u64 num_add_directed_f64(u64 a, u64 b, u32 mode)
{
	bool swap = (a & ~NUM_SIGN_F64) < (b & ~NUM_SIGN_F64);
	f64 hi = f64_bits(swap ? b : a), lo = f64_bits(swap ? a : b);
	f64 s = hi + lo;
	f64 e = lo - (s - hi);
	u64 u = bits_f64(s);
	bool neg = u >> 63;
	/* A finite sum beyond the range counts as smaller than the infinity the host made of it. */
	bool infinite = (bits_f64(hi) & NUM_INF_F64) == NUM_INF_F64;
	bool over = ((u << 1) == (NUM_INF_F64 << 1)) & (infinite == false);
	bool above = e > 0.0, below = e < 0.0;
	bool up = (neg ? below : above) & (over == false);
	bool down = over | (neg ? above : below);
	u64 r = num_rounds_away(mode, neg) ? u + up : u - down;
	u64 zero = (mode & NUM_RND) == NUM_RM ? (a | b) & NUM_SIGN_F64 : a & b & NUM_SIGN_F64;

	return u << 1 ? r : zero;
}

NUM_FN u64 num_add_f64(u64 a, u64 b, u32 mode)
{
	u64 r;

	if ((mode & NUM_RND) == NUM_RN)
		r = bits_f64(f64_bits(a) + f64_bits(b));
	else
		r = num_add_directed_f64(a, b, mode);
	return num_pick_nan_f64(r, b, a, 0);
}

/* The NaN of a subtraction keeps its sign. */
NUM_FN u64 num_sub_f64(u64 a, u64 b, u32 mode)
{
	u64 r;

	if ((mode & NUM_RND) == NUM_RN)
		r = bits_f64(f64_bits(a) - f64_bits(b));
	else
		r = num_add_directed_f64(a, b ^ NUM_SIGN_F64, mode);
	return num_pick_nan_f64(r, b, a, 0);
}

/* b - a, for operands that were exchanged: of two NaNs that of b stays. */
NUM_FN u64 num_rsub_f64(u64 a, u64 b, u32 mode)
{
	u64 r;

	if ((mode & NUM_RND) == NUM_RN)
		r = bits_f64(f64_bits(b) - f64_bits(a));
	else
		r = num_add_directed_f64(b, a ^ NUM_SIGN_F64, mode);
	return num_pick_nan_f64(r, b, a, 0);
}

NUM_FN u64 num_mul_f64(u64 a, u64 b, u32 mode)
{
	u64 r;

	if ((mode & NUM_RND) == NUM_RN)
		r = bits_f64(f64_bits(a) * f64_bits(b));
	else
		r = num_soft_mul_f64(a, b, mode);
	return num_pick_nan_f64(r, b, a, 0);
}

/* a * b + c rounded once to nearest. */
#if defined(__FMA__) || defined(__FP_FAST_FMA)
NUM_FN u64 num_host_fma_f64(u64 a, u64 b, u64 c)
{
	return bits_f64(__builtin_fma(f64_bits(a), f64_bits(b), f64_bits(c)));
}
#else
NUM_FN u64 num_host_fma_f64(u64 a, u64 b, u64 c)
{
	return num_soft_fma_f64(a, b, c, NUM_RN);
}
#endif

NUM_FN u64 num_fma_f64(u64 a, u64 b, u64 c, u32 mode)
{
	u64 r;

	if ((mode & NUM_RND) == NUM_RN)
		r = num_host_fma_f64(a, b, c);
	else
		r = num_soft_fma_f64(a, b, c, mode);
	return num_pick_nan_f64(r, b, c, a);
}

/*
 * Rounded to nearest, with the signs of the product and of the addend changed where `product` and
 * `addend` have bit 63. A NaN stays as the operand has it: the hardware negates numbers on their
 * way in, not what it hands on.
 */
NUM_FN u64 num_fma_signs_f64(u64 a, u64 b, u64 c, u64 product, u64 addend)
{
	return num_pick_nan_f64(num_host_fma_f64(a ^ product, b, c ^ addend), b, c, a);
}

NUM_FN u64 num_div_f64(u64 a, u64 b, u32 mode)
{
	u64 r;

	if ((mode & NUM_RND) == NUM_RN)
		r = bits_f64(f64_bits(a) / f64_bits(b));
	else
		r = num_soft_div_f64(a, b, mode);
	return num_pick_nan_f64(r, a, b, 0);
}

NUM_FN u64 num_rcp_f64(u64 a, u32 mode)
{
	return num_div_f64(0x3ff0000000000000u, a, mode);
}

NUM_FN u64 num_sqrt_f64(u64 a, u32 mode)
{
	u64 r;

	if ((mode & NUM_RND) == NUM_RN)
		r = bits_f64(__builtin_sqrt(f64_bits(a)));
	else
		r = num_soft_sqrt_f64(a, mode);
	return num_pick_nan_f64(r, a, 0, 0);
}

/* A NaN keeps its sign and payload through abs and neg and comes out quiet. */
NUM_FN u64 num_abs_f64(u64 a)
{
	return num_is_nan_f64(a) ? a | NUM_QUIET_F64 : a & ~NUM_SIGN_F64;
}

NUM_FN u64 num_neg_f64(u64 a)
{
	return num_is_nan_f64(a) ? a | NUM_QUIET_F64 : a ^ NUM_SIGN_F64;
}

/* copysign d, a, b: the sign of a on the magnitude of b. */
NUM_FN u64 num_copysign_f64(u64 a, u64 b)
{
	return (a & NUM_SIGN_F64) | (b & ~NUM_SIGN_F64);
}

/* Total order as signed integers: -0 below +0. */
NUM_FN s64 num_order_f64(u64 u)
{
	return (s64)(u ^ ((u64)((s64)u >> 63) & ~NUM_SIGN_F64));
}

/* Of two NaNs the second, quieted. */
NUM_FN u64 num_minmax_f64(u64 a, u64 b, bool max)
{
	bool na = num_is_nan_f64(a), nb = num_is_nan_f64(b);
	u64 r = (num_order_f64(a) < num_order_f64(b)) != max ? a : b;

	r = nb ? a : r;
	return na ? (nb ? b | NUM_QUIET_F64 : b) : r;
}

NUM_FN u64 num_min_f64(u64 a, u64 b)
{
	return num_minmax_f64(a, b, false);
}

NUM_FN u64 num_max_f64(u64 a, u64 b)
{
	return num_minmax_f64(a, b, true);
}

NUM_FN bool num_testp_f64(u64 a, enum num_testp op)
{
	u64 m = a & ~NUM_SIGN_F64;
	bool subnormal = m - 1 < 0x000fffffffffffffu;

	switch (op) {
	case NUM_TESTP_FINITE:
		return m < NUM_INF_F64;
	case NUM_TESTP_INFINITE:
		return m == NUM_INF_F64;
	case NUM_TESTP_NUMBER:
		return m <= NUM_INF_F64;
	case NUM_TESTP_NOTANUMBER:
		return m > NUM_INF_F64;
	case NUM_TESTP_NORMAL:
		return m < NUM_INF_F64 && !subnormal;
	case NUM_TESTP_SUBNORMAL:
		return subnormal;
	}
	return false;
}

#endif
