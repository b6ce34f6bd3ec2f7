/*
 * f64 math functions of libdevice.h: exponentials, logarithms, powers, circular and hyperbolic
 * functions. Values between steps are sums of two doubles where one would cost accuracy. Products
 * that must round alone are kept from being contracted. Errors, in units in the last place:
 * docs/clang.md.
 */
#ifndef PTXLOOM_MATH_DOUBLE_H
#define PTXLOOM_MATH_DOUBLE_H

#define PTXLOOM_INF __builtin_inf()
#define PTXLOOM_NAN __builtin_nan("")
#define PTXLOOM_LN2H 0.6931471805599453
#define PTXLOOM_LN2L 2.3190468138462996e-17
#define PTXLOOM_LOG2E 1.4426950408889634
#define PTXLOOM_PIO2H 1.5707963267948966
#define PTXLOOM_PIO2L 6.123233995736766e-17

/* ---- sums of two doubles: h + l with |l| at most half a unit in the last place of h ---- */

struct ptxloom_dd {
	double h, l;
};

PTXLOOM_ONE double ptxloom_add(double a, double b) { return a + b; }
/*
 * As text for the assembler: clang makes its own intrinsic for it a product that it may contract.
 */
PTXLOOM_ONE double ptxloom_mul(double a, double b) { return __nv_dmul_rn(a, b); }

PTXLOOM_ONE ptxloom_dd ptxloom_sum(double a, double b)
{
	double s = ptxloom_add(a, b), t = ptxloom_add(s, -a);

	return ptxloom_dd{s, ptxloom_add(ptxloom_add(a, -ptxloom_add(s, -t)), ptxloom_add(b, -t))};
}
/* |a| >= |b| */
PTXLOOM_ONE ptxloom_dd ptxloom_fast_sum(double a, double b)
{
	double s = ptxloom_add(a, b);

	return ptxloom_dd{s, ptxloom_add(b, -ptxloom_add(s, -a))};
}
PTXLOOM_ONE ptxloom_dd ptxloom_prod(double a, double b)
{
	double h = ptxloom_mul(a, b);

	return ptxloom_dd{h, ptxloom_fma(a, b, -h)};
}
PTXLOOM_ONE ptxloom_dd ptxloom_dd_scale(ptxloom_dd a, double b)
{
	ptxloom_dd p = ptxloom_prod(a.h, b);

	return ptxloom_fast_sum(p.h, ptxloom_fma(a.l, b, p.l));
}
PTXLOOM_ONE ptxloom_dd ptxloom_dd_mul(ptxloom_dd a, ptxloom_dd b)
{
	ptxloom_dd p = ptxloom_prod(a.h, b.h);

	return ptxloom_fast_sum(p.h, ptxloom_fma(a.h, b.l, ptxloom_fma(a.l, b.h, p.l)));
}
PTXLOOM_ONE ptxloom_dd ptxloom_dd_sum(ptxloom_dd a, ptxloom_dd b)
{
	ptxloom_dd s = ptxloom_sum(a.h, b.h);

	return ptxloom_fast_sum(s.h, s.l + (a.l + b.l));
}

/* 2^n, -1022 <= n <= 1023, and x * 2^n for |n| <= 2044 with one rounding. */
PTXLOOM_ONE double ptxloom_pow2(int n)
{
	return __nv_longlong_as_double((long long)(n + 1023) << 52);
}
PTXLOOM_ONE double ptxloom_times_pow2(double x, int n)
{
	int half = n >> 1;

	return ptxloom_mul(ptxloom_mul(x, ptxloom_pow2(half)), ptxloom_pow2(n - half));
}
PTXLOOM_ONE double ptxloom_clamp(double x, double limit)
{
	return x > limit ? limit : x < -limit ? -limit : x;
}

/* ---- exponentials ---- */

/* e^(h + l) = (1 + r + s) * 2^n: r the reduced argument, s the rest of the sum. |h| <= 800 */
PTXLOOM_ONE ptxloom_dd ptxloom_exp_parts(double h, double l, int *n)
{
	double k = __builtin_rint(h * PTXLOOM_LOG2E);
	ptxloom_dd r = ptxloom_sum(ptxloom_fma(-k, PTXLOOM_LN2H, h), ptxloom_fma(-k, PTXLOOM_LN2L, l));

	*n = __nv_double2int_rz(k);
	return ptxloom_dd{r.h, ptxloom_fma(ptxloom_mul(r.h, r.h), ptxloom_poly_exp(r.h), r.l)};
}
PTXLOOM_ONE double ptxloom_exp_dd(double h, double l)
{
	int n;
	ptxloom_dd p = ptxloom_exp_parts(h, l, &n);

	return ptxloom_times_pow2(1 + ptxloom_add(p.h, p.l), n);
}
PTXLOOM_MATH double __nv_exp(double x) { return ptxloom_exp_dd(ptxloom_clamp(x, 800), 0); }
PTXLOOM_MATH double __nv_exp2(double x)
{
	double c = ptxloom_clamp(x, 1100), k = __builtin_rint(c), f = c - k;
	double h = ptxloom_mul(f, PTXLOOM_LN2H);
	double l = ptxloom_fma(f, PTXLOOM_LN2L, ptxloom_fma(f, PTXLOOM_LN2H, -h));
	double s = ptxloom_fma(ptxloom_mul(h, h), ptxloom_poly_exp(h), l);

	return ptxloom_times_pow2(1 + ptxloom_add(h, s), __nv_double2int_rz(k));
}
PTXLOOM_MATH double __nv_exp10(double x)
{
	double c = ptxloom_clamp(x, 340), k = __builtin_rint(c * 3.321928094887362);
	double f = ptxloom_fma(-k, 0.3010299956639812, c);
	double g = k * 2.8037281277851704e-18;
	ptxloom_dd p = ptxloom_dd_scale(ptxloom_sum(f, g), 2.302585092994046);
	double l = ptxloom_fma(f, -2.1707562233822494e-16, p.l);
	double s = ptxloom_fma(ptxloom_mul(p.h, p.h), ptxloom_poly_exp(p.h), l);

	return ptxloom_times_pow2(1 + ptxloom_add(p.h, s), __nv_double2int_rz(k));
}
/* e^x - 1, |x| <= 60 */
PTXLOOM_ONE ptxloom_dd ptxloom_expm1_dd(double x)
{
	int n;
	ptxloom_dd p = ptxloom_exp_parts(x, 0, &n), one, s;
	double t = ptxloom_pow2(n);

	one = ptxloom_sum(t, -1);
	s = ptxloom_sum(one.h, t * p.h);
	return ptxloom_sum(s.h, s.l + ptxloom_fma(t, p.l, one.l));
}
PTXLOOM_MATH double __nv_expm1(double x)
{
	double far = __nv_exp(x) - 1;
	ptxloom_dd near = ptxloom_expm1_dd(ptxloom_clamp(x, 60));

	return x == 0 ? x : __builtin_fabs(x) < 60 ? near.h : far;
}

/* ---- logarithms ---- */

/* h + l = m * 2^k, log(m) as a sum; h is positive and finite. */
PTXLOOM_ONE ptxloom_dd ptxloom_log_parts(double h, double l, int *k)
{
	int small = h < 2.2250738585072014e-308;
	double x = small ? h * 18014398509481984.0 : h;
	long long bits = __nv_double_as_longlong(x);
	int n = (int)((bits - 0x3fe6a09e667f3bcdLL) >> 52);
	double m = __nv_longlong_as_double(bits - ((long long)n << 52));
	ptxloom_dd f = ptxloom_sum(m - 1, l * ptxloom_pow2(n > 1000 ? -1000 : -n)), d, s, z, t, v, r;
	double y, q;

	d = ptxloom_fast_sum(2, f.h);
	d.l += f.l;
	y = 1 / d.h;
	s.h = ptxloom_mul(f.h, y);
	s.l = y * ptxloom_fma(-s.h, d.l, ptxloom_fma(-s.h, d.h, f.h) + f.l);
	z = ptxloom_dd_mul(s, s);
	q = ptxloom_mul(ptxloom_mul(z.h, z.h), ptxloom_poly_log(z.h));
	t = ptxloom_dd_mul(z, ptxloom_dd{0.6666666666666666, 3.700743415417188e-17});
	v = ptxloom_fast_sum(t.h, q);
	v.l += t.l;
	v = ptxloom_dd_mul(s, v);
	r = ptxloom_fast_sum(2 * s.h, v.h);
	*k = n - (small ? 54 : 0);
	return ptxloom_fast_sum(r.h, r.l + ptxloom_fma(2, s.l, v.l));
}
PTXLOOM_ONE ptxloom_dd ptxloom_log_dd(double h, double l)
{
	int k;
	ptxloom_dd m = ptxloom_log_parts(h, l, &k), n = ptxloom_prod(k, PTXLOOM_LN2H);

	n.l = ptxloom_fma(k, PTXLOOM_LN2L, n.l);
	return ptxloom_dd_sum(n, m);
}
/* What a logarithm answers outside the positive finite numbers. */
PTXLOOM_ONE double ptxloom_log_edges(double x, double inside)
{
	return x > 0 && x < PTXLOOM_INF ? inside :
	       x == 0			? -PTXLOOM_INF :
	       x > 0			? x :
					  PTXLOOM_NAN;
}
PTXLOOM_ONE double ptxloom_log_inside(double x) { return x > 0 && x < PTXLOOM_INF ? x : 1; }
PTXLOOM_MATH double __nv_log(double x)
{
	return ptxloom_log_edges(x, ptxloom_log_dd(ptxloom_log_inside(x), 0).h);
}
PTXLOOM_MATH double __nv_log2(double x)
{
	int k;
	ptxloom_dd m = ptxloom_log_parts(ptxloom_log_inside(x), 0, &k);

	m = ptxloom_dd_mul(m, ptxloom_dd{PTXLOOM_LOG2E, 2.0355273740931033e-17});
	return ptxloom_log_edges(x, ptxloom_dd_sum(ptxloom_dd{(double)k, 0}, m).h);
}
PTXLOOM_MATH double __nv_log10(double x)
{
	ptxloom_dd m = ptxloom_log_dd(ptxloom_log_inside(x), 0);

	m = ptxloom_dd_mul(m, ptxloom_dd{0.4342944819032518, 1.098319650216765e-17});
	return ptxloom_log_edges(x, m.h);
}
PTXLOOM_MATH double __nv_log1p(double x)
{
	ptxloom_dd u = ptxloom_sum(1, x > -1 && x < PTXLOOM_INF ? x : 0);

	return x == 0 ? x : ptxloom_log_edges(x > -1 ? x < 1 ? 1 : x : x + 1, ptxloom_log_dd(u.h, u.l).h);
}

/* ---- powers ---- */

PTXLOOM_ONE double ptxloom_pow_edges(double x, double y, double inside)
{
	double a = __builtin_fabs(x), b = __builtin_fabs(y), half = 0.5 * y, r = inside;
	int whole = __builtin_trunc(y) == y, odd = whole && b < 9007199254740992.0 &&
		    __builtin_trunc(half) != half;

	if (a == 0 || a == PTXLOOM_INF)
		r = (a == 0) == (y < 0) ? PTXLOOM_INF : 0;
	if (b == PTXLOOM_INF)
		r = a == 1 ? 1 : (a > 1) == (y > 0) ? PTXLOOM_INF : 0;
	if (__nv_signbitd(x)) {
		if (odd)
			r = -r;
		else if (!whole && a != 0 && a != PTXLOOM_INF)
			r = PTXLOOM_NAN;
	}
	if (x != x || y != y)
		r = PTXLOOM_NAN;
	return x == 1 || y == 0 ? 1 : r;
}
PTXLOOM_MATH double __nv_pow(double x, double y)
{
	double a = __builtin_fabs(x);
	ptxloom_dd p = ptxloom_dd_scale(ptxloom_log_dd(ptxloom_log_inside(a), 0), ptxloom_clamp(y, 1e21));
	int far = !(__builtin_fabs(p.h) < 800);

	return ptxloom_pow_edges(x, y, ptxloom_exp_dd(ptxloom_clamp(p.h, 800), far ? 0 : p.l));
}
PTXLOOM_MATH double __nv_powi(double x, int n) { return __nv_pow(x, n); }

/* The cube root of a positive number as a sum. */
PTXLOOM_ONE ptxloom_dd ptxloom_cbrt_dd(double a)
{
	int small = a < 2.2250738585072014e-308, e, q;
	double m, y, c;
	ptxloom_dd s;
	long long bits = __nv_double_as_longlong(small ? a * 18014398509481984.0 : a);

	e = (int)(bits >> 52) - 1023 - (small ? 54 : 0);
	q = (e + 1200) / 3 - 400;
	m = __nv_longlong_as_double((bits & 0xfffffffffffffLL) | ((long long)(e - 3 * q + 1023) << 52));
	y = ptxloom_poly_cbrt(m);
	c = y * y * y;
	y = y * (c + 2 * m) / (2 * c + m);
	s = ptxloom_prod(y, y);
	c = ptxloom_fma(-s.h, y, m) - s.l * y;
	s = ptxloom_fast_sum(y, c / (3 * s.h));
	return ptxloom_dd{s.h * ptxloom_pow2(q), s.l * ptxloom_pow2(q)};
}
PTXLOOM_MATH double __nv_cbrt(double x)
{
	double a = __builtin_fabs(x);

	return a > 0 && a < PTXLOOM_INF ? __builtin_copysign(ptxloom_cbrt_dd(a).h, x) : x + x;
}
PTXLOOM_MATH double __nv_rcbrt(double x)
{
	double a = __builtin_fabs(x), z;
	ptxloom_dd c;

	if (!(a > 0 && a < PTXLOOM_INF))
		return 1 / x;
	c = ptxloom_cbrt_dd(a);
	z = 1 / c.h;
	z = ptxloom_fma(ptxloom_fma(-c.h, z, 1) - c.l * z, z, z);
	return __builtin_copysign(z, x);
}
PTXLOOM_MATH double __nv_rsqrt(double x)
{
	double s = __nvvm_sqrt_rn_d(x), r = 1 / s, l;

	if (!(x > 0 && x < PTXLOOM_INF))
		return r;
	l = ptxloom_fma(-s, s, x) / (2 * s);
	return ptxloom_fma(ptxloom_fma(-s, r, 1) - l * r, r, r);
}

/* ---- circular functions ---- */

/* 2/pi after 64 zero bits. */
static __device__ const unsigned long long ptxloom_two_over_pi[] = {
	0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
};

PTXLOOM_ONE unsigned long long ptxloom_window(int bit)
{
	unsigned long long a = ptxloom_two_over_pi[bit >> 6], b = ptxloom_two_over_pi[(bit >> 6) + 1];
	int s = bit & 63;

	return s ? a << s | b >> (64 - s) : a;
}
/*
 * x - k pi/2 for finite |x| >= 2^30 by a product with the bits of 2/pi that matter (Payne, Hanek).
 */
static __device__ __attribute__((noinline)) ptxloom_dd ptxloom_reduce_far(double x, int *quadrant)
{
	long long bits = __nv_double_as_longlong(x) & 0x7fffffffffffffffLL;
	unsigned long long m = ((unsigned long long)bits & 0xfffffffffffffULL) | 0x10000000000000ULL;
	int first = (int)(bits >> 52) - 1075 - 2 + 64, q, lead, flip;
	unsigned long long a = ptxloom_window(first), b = ptxloom_window(first + 64),
			   c = ptxloom_window(first + 128), p0, p1, p2, t;
	ptxloom_dd r;

	p0 = m * c;
	t = m * b;
	p1 = __nv_umul64hi(m, c) + t;
	p2 = m * a + __nv_umul64hi(m, b) + (p1 < t);
	q = (int)(p2 >> 62);
	p2 = p2 << 2 | p1 >> 62;
	p1 = p1 << 2 | p0 >> 62;
	p0 <<= 2;
	flip = (int)(p2 >> 63);
	q += flip;
	if (flip) {
		p0 = -p0;
		p1 = ~p1 + (p0 == 0);
		p2 = ~p2 + (p0 == 0 && p1 == 0);
	}
	lead = __nv_clzll((long long)p2);
	if (lead >= 64) {
		p2 = p1;
		p1 = p0;
		p0 = 0;
		t = (unsigned long long)__nv_clzll((long long)p2);
		lead = 64 + (int)t;
	} else {
		t = (unsigned long long)lead;
	}
	if (t) {
		p2 = p2 << t | p1 >> (64 - t);
		p1 = p1 << t | p0 >> (64 - t);
	}
	r.h = (double)(p2 & ~0x7ffULL) * 5.421010862427522e-20;
	r.l = (double)((p2 & 0x7ff) << 53 | p1 >> 11) * 6.018531076210112e-36;
	r.h *= ptxloom_pow2(-lead);
	r.l *= ptxloom_pow2(-lead);
	r = ptxloom_dd_mul(r, ptxloom_dd{PTXLOOM_PIO2H, PTXLOOM_PIO2L});
	if (flip) {
		r.h = -r.h;
		r.l = -r.l;
	}
	if (x < 0) {
		r.h = -r.h;
		r.l = -r.l;
		q = -q;
	}
	*quadrant = q;
	return r;
}
PTXLOOM_ONE ptxloom_dd ptxloom_reduce(double x, int *quadrant)
{
	double n = __builtin_rint(x * 0.6366197723675814), r;
	ptxloom_dd p, s;

	if (__builtin_fabs(x) >= 1073741824.0 && __builtin_fabs(x) < PTXLOOM_INF)
		return ptxloom_reduce_far(x, quadrant);
	*quadrant = __nv_double2int_rz(n);
	r = ptxloom_fma(-n, PTXLOOM_PIO2H, x);
	p = ptxloom_prod(n, PTXLOOM_PIO2L);
	s = ptxloom_sum(r, -p.h);
	return ptxloom_fast_sum(s.h, s.l - ptxloom_fma(n, -1.4973849048591698e-33, p.l));
}
PTXLOOM_ONE double ptxloom_sin_kernel(ptxloom_dd r)
{
	double z = r.h * r.h;

	return r.h + ptxloom_fma(r.h * z, ptxloom_poly_sin(z), ptxloom_fma(-0.5 * z, r.l, r.l));
}
PTXLOOM_ONE double ptxloom_cos_kernel(ptxloom_dd r)
{
	double z = ptxloom_mul(r.h, r.h), half = 0.5 * z, w = ptxloom_add(1, -half);
	double low = ptxloom_add(ptxloom_add(1, -w), -half);
	double zl = ptxloom_fma(r.h, r.h, -z);

	return w + (low + ptxloom_fma(z * z, ptxloom_poly_cos(z), -ptxloom_fma(r.h, r.l, 0.5 * zl)));
}
PTXLOOM_MATH double ptxloom_sin_quadrant(ptxloom_dd r, int q)
{
	double v = q & 1 ? ptxloom_cos_kernel(r) : ptxloom_sin_kernel(r);

	return q & 2 ? -v : v;
}
PTXLOOM_MATH double __nv_sin(double x)
{
	int q;
	ptxloom_dd r = ptxloom_reduce(x, &q);

	return x == 0 ? x : ptxloom_sin_quadrant(r, q);
}
PTXLOOM_MATH double __nv_cos(double x)
{
	int q;
	ptxloom_dd r = ptxloom_reduce(x, &q);

	return ptxloom_sin_quadrant(r, q + 1);
}
PTXLOOM_MATH void __nv_sincos(double x, double *sine, double *cosine)
{
	int q;
	ptxloom_dd r = ptxloom_reduce(x, &q);
	double s = ptxloom_sin_kernel(r), c = ptxloom_cos_kernel(r), u = q & 1 ? c : s, v = q & 1 ? s : c;

	*sine = x == 0 ? x : q & 2 ? -u : u;
	*cosine = (q + 1) & 2 ? -v : v;
}
PTXLOOM_MATH double __nv_tan(double x)
{
	int q;
	ptxloom_dd r = ptxloom_reduce(x, &q);
	double s = ptxloom_sin_kernel(r), c = ptxloom_cos_kernel(r);

	return x == 0 ? x : q & 1 ? -c / s : s / c;
}
PTXLOOM_ONE ptxloom_dd ptxloom_reduce_pi(double x, int *quadrant)
{
	double n = __builtin_rint(2 * x), f = ptxloom_fma(-0.5, n, x);
	ptxloom_dd p = ptxloom_prod(f, 3.141592653589793);

	*quadrant = __nv_double2int_rz(n - 4 * __builtin_floor(0.25 * n));
	p.l = ptxloom_fma(f, 1.2246467991473532e-16, p.l);
	return p;
}
/* Whole numbers have sinpi 0 with the sign of x. */
PTXLOOM_MATH double __nv_sinpi(double x)
{
	int q;
	ptxloom_dd r = ptxloom_reduce_pi(x, &q);

	return __builtin_trunc(x) == x && __builtin_fabs(x) < PTXLOOM_INF ? __builtin_copysign(0.0, x) :
									    ptxloom_sin_quadrant(r, q);
}
PTXLOOM_MATH double __nv_cospi(double x)
{
	int q;
	ptxloom_dd r = ptxloom_reduce_pi(x, &q);

	return ptxloom_sin_quadrant(r, q + 1) + 0.0;
}
PTXLOOM_MATH void __nv_sincospi(double x, double *s, double *c)
{
	*s = __nv_sinpi(x);
	*c = __nv_cospi(x);
}

/* ---- inverses ---- */

/* atan(num / den) for 0 <= num <= den, without 0/0 and inf/inf */
PTXLOOM_ONE ptxloom_dd ptxloom_atan_kernel(double num, double den)
{
	double t = num / den, z = t * t, low = ptxloom_fma(-t, den, num) / den;

	low = den < PTXLOOM_INF ? low / (1 + z) : 0;
	return ptxloom_fast_sum(t, ptxloom_fma(t * z, ptxloom_poly_atan(z), low));
}
PTXLOOM_MATH double __nv_atan2(double y, double x)
{
	double ax = __builtin_fabs(x), ay = __builtin_fabs(y), hi = ax > ay ? ax : ay, lo = ax > ay ? ay : ax;
	ptxloom_dd p;
	double r;

	if (x != x || y != y)
		return x + y;
	if (hi == 0)
		hi = 1;
	if (lo == PTXLOOM_INF)
		hi = lo = 1;
	p = ptxloom_atan_kernel(lo, hi);
	r = p.h + p.l;
	if (ay > ax)
		r = PTXLOOM_PIO2H - p.h + (PTXLOOM_PIO2L - p.l);
	if (__nv_signbitd(x)) {
		if (ay > ax)
			r = PTXLOOM_PIO2H + p.h + (PTXLOOM_PIO2L + p.l);
		else
			r = 2 * PTXLOOM_PIO2H - p.h + (2 * PTXLOOM_PIO2L - p.l);
	}
	return __builtin_copysign(r, y);
}
PTXLOOM_MATH double __nv_atan(double x)
{
	double a = __builtin_fabs(x);
	int swap = a > 1;
	ptxloom_dd p = ptxloom_atan_kernel(swap ? 1 : a, swap ? a : 1);
	double r = swap ? PTXLOOM_PIO2H - p.h + (PTXLOOM_PIO2L - p.l) : p.h + p.l;

	return x != x ? x : __builtin_copysign(r, x);
}
/* For |x| > 0.5: asin(sqrt((1 - |x|) / 2)) as a sum. */
PTXLOOM_ONE ptxloom_dd ptxloom_asin_far(double a)
{
	double z = 0.5 * (1 - a), s = __nvvm_sqrt_rn_d(z);
	double low = z == 0 ? 0 : ptxloom_fma(-s, s, z) / (2 * s);

	return ptxloom_dd{s, ptxloom_fma(s * z, ptxloom_poly_asin(z), low)};
}
PTXLOOM_MATH double __nv_asin(double x)
{
	double a = __builtin_fabs(x), z = a * a, r;

	if (a > 0.5) {
		ptxloom_dd f = ptxloom_asin_far(a);

		r = PTXLOOM_PIO2H - 2 * f.h + (PTXLOOM_PIO2L - 2 * f.l);
	} else {
		r = ptxloom_fma(a * z, ptxloom_poly_asin(z), a);
	}
	return __builtin_copysign(r, x);
}
PTXLOOM_MATH double __nv_acos(double x)
{
	double a = __builtin_fabs(x), z = a * a;

	if (a > 0.5) {
		ptxloom_dd f = ptxloom_asin_far(a);

		return x > 0 ? 2 * (f.h + f.l) :
			       2 * (PTXLOOM_PIO2H - f.h + (PTXLOOM_PIO2L - f.l));
	}
	return PTXLOOM_PIO2H - (x - (PTXLOOM_PIO2L - x * z * ptxloom_poly_asin(z)));
}

/* ---- hyperbolic functions ---- */

PTXLOOM_MATH double __nv_sinh(double x)
{
	double a = __builtin_fabs(x), c = a < 22 ? a : 22, q, r;
	ptxloom_dd e = ptxloom_expm1_dd(c), s, h;

	q = e.h / (1 + e.h);
	s = ptxloom_sum(e.h, q);
	r = 0.5 * (s.h + (s.l + e.l));
	h = ptxloom_sum(a < 750 ? a : 750, -PTXLOOM_LN2H);
	if (a >= 22)
		r = ptxloom_exp_dd(h.h, h.l - PTXLOOM_LN2L);
	return x != x ? x : __builtin_copysign(r, x);
}
PTXLOOM_MATH double __nv_cosh(double x)
{
	double a = __builtin_fabs(x), w;
	ptxloom_dd h = ptxloom_sum(a < 750 ? a : 750, -PTXLOOM_LN2H), p, s, t;
	int n;

	if (x != x)
		return x;
	p = ptxloom_exp_parts(h.h, h.l - PTXLOOM_LN2L, &n);
	t = ptxloom_sum(p.h, p.l);
	s = ptxloom_fast_sum(1, t.h);
	s.l += t.l;
	w = 0.25 / s.h * ptxloom_pow2(n > 60 ? -1000 : -2 * n);
	t = ptxloom_fast_sum(s.h, w);
	return ptxloom_times_pow2(t.h + (t.l + s.l), n);
}
PTXLOOM_MATH double __nv_tanh(double x)
{
	double a = __builtin_fabs(x), c = a < 22 ? a : 22, q, r;
	ptxloom_dd e = ptxloom_expm1_dd(2 * c), d = ptxloom_sum(e.h, 2);

	d.l += e.l;
	q = e.h / d.h;
	r = q + (ptxloom_fma(-q, d.h, e.h) + ptxloom_fma(-q, d.l, e.l)) / d.h;
	return x != x || x == 0 ? x : __builtin_copysign(r, x);
}
PTXLOOM_MATH double __nv_asinh(double x)
{
	double a = __builtin_fabs(x), c = a < 1e9 ? a : 1e9, z = c * c, r;

	r = __nv_log1p(c + z / (1 + __nvvm_sqrt_rn_d(1 + z)));
	if (a >= 1e9)
		r = __nv_log(a) + PTXLOOM_LN2H;
	return x != x || x == 0 ? x : __builtin_copysign(r, x);
}
PTXLOOM_MATH double __nv_acosh(double x)
{
	double t = x - 1;

	if (!(x >= 1))
		return PTXLOOM_NAN;
	return x >= 1e9 ? __nv_log(x) + PTXLOOM_LN2H : __nv_log1p(t + __nvvm_sqrt_rn_d(t * (x + 1)));
}
PTXLOOM_MATH double __nv_atanh(double x)
{
	double a = __builtin_fabs(x);

	return x == 0 ? x : __builtin_copysign(0.5 * __nv_log1p(2 * a / (1 - a)), x);
}

#endif
