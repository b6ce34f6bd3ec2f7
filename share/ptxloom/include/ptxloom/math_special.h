/*
 * Functions of libdevice.h in both widths: distances, remainders and parts of numbers, the error
 * function and its relatives, gamma, Bessel. f32 counts in f64 and rounds once.
 */
#ifndef PTXLOOM_MATH_SPECIAL_H
#define PTXLOOM_MATH_SPECIAL_H

/* ---- distances: sqrt of a sum of squares, scaled by the largest ---- */

struct ptxloom_norm {
	ptxloom_dd root;
	int scale, edge; /* edge: no scaling; root.h is what to answer */
};

PTXLOOM_ONE ptxloom_norm ptxloom_norm_of(const double *v, int n)
{
	ptxloom_norm r = {{0, 0}, 0, 1};
	ptxloom_dd s = {0, 0};
	double hi = 0, nan = 0, scale, l;

	for (int i = 0; i < n; i++) {
		double a = __builtin_fabs(v[i]);

		hi = a > hi ? a : hi;
		nan += a < PTXLOOM_INF ? 0 : a;
	}
	r.root.h = hi == PTXLOOM_INF ? hi : nan;
	if (hi == 0 || !(nan == 0))
		return r;
	r.edge = 0;
	r.scale = (int)(__nv_double_as_longlong(hi) >> 52) - 1022;
	scale = ptxloom_pow2(-r.scale < 1000 ? -r.scale : 1000);
	r.scale = -r.scale < 1000 ? r.scale : -1000;
	for (int i = 0; i < n; i++) {
		double a = v[i] * scale;
		ptxloom_dd p = ptxloom_prod(a, a), t = ptxloom_sum(s.h, p.h);

		s = ptxloom_dd{t.h, t.l + (s.l + p.l)};
	}
	r.root.h = __nvvm_sqrt_rn_d(s.h);
	l = ptxloom_fma(-r.root.h, r.root.h, s.h) + s.l;
	r.root.l = l / (2 * r.root.h);
	return r;
}
PTXLOOM_ONE double ptxloom_norm_value(ptxloom_norm n)
{
	return n.edge ? n.root.h : ptxloom_times_pow2(n.root.h + n.root.l, n.scale);
}
PTXLOOM_ONE double ptxloom_norm_inverse(ptxloom_norm n)
{
	double z = 1 / n.root.h, e;

	if (n.edge)
		return z;
	e = ptxloom_fma(-n.root.h, z, 1) - n.root.l * z;
	return ptxloom_times_pow2(ptxloom_fma(e, z, z), -n.scale);
}
PTXLOOM_MATH double __nv_norm(int n, const double *v) { return ptxloom_norm_value(ptxloom_norm_of(v, n)); }
PTXLOOM_MATH double __nv_rnorm(int n, const double *v)
{
	return ptxloom_norm_inverse(ptxloom_norm_of(v, n));
}

#define PTXLOOM_NORM(plain, inverse, count, params, ...)                                   \
	PTXLOOM_MATH double __nv_##plain params                                            \
	{                                                                                  \
		double v[] = {__VA_ARGS__};                                                \
                                                                                           \
		return ptxloom_norm_value(ptxloom_norm_of(v, count));                      \
	}                                                                                  \
	PTXLOOM_MATH double __nv_##inverse params                                          \
	{                                                                                  \
		double v[] = {__VA_ARGS__};                                                \
                                                                                           \
		return ptxloom_norm_inverse(ptxloom_norm_of(v, count));                    \
	}
PTXLOOM_NORM(hypot, rhypot, 2, (double a, double b), a, b)
PTXLOOM_NORM(norm3d, rnorm3d, 3, (double a, double b, double c), a, b, c)
PTXLOOM_NORM(norm4d, rnorm4d, 4, (double a, double b, double c, double d), a, b, c, d)
#undef PTXLOOM_NORM

/* The squares of f32 neither overflow nor vanish in f64. */
PTXLOOM_ONE double ptxloom_squares(float a, float b, float c, float d)
{
	double s = (double)a * a + (double)b * b + ((double)c * c + (double)d * d);

	return __nv_isinff(a) || __nv_isinff(b) || __nv_isinff(c) || __nv_isinff(d) ? PTXLOOM_INF : s;
}
PTXLOOM_MATH float __nv_hypotf(float a, float b)
{
	return (float)__nvvm_sqrt_rn_d(ptxloom_squares(a, b, 0, 0));
}
PTXLOOM_MATH float __nv_norm3df(float a, float b, float c)
{
	return (float)__nvvm_sqrt_rn_d(ptxloom_squares(a, b, c, 0));
}
PTXLOOM_MATH float __nv_norm4df(float a, float b, float c, float d)
{
	return (float)__nvvm_sqrt_rn_d(ptxloom_squares(a, b, c, d));
}
PTXLOOM_MATH float __nv_rhypotf(float a, float b)
{
	return (float)(1 / __nvvm_sqrt_rn_d(ptxloom_squares(a, b, 0, 0)));
}
PTXLOOM_MATH float __nv_rnorm3df(float a, float b, float c)
{
	return (float)(1 / __nvvm_sqrt_rn_d(ptxloom_squares(a, b, c, 0)));
}
PTXLOOM_MATH float __nv_rnorm4df(float a, float b, float c, float d)
{
	return (float)(1 / __nvvm_sqrt_rn_d(ptxloom_squares(a, b, c, d)));
}
PTXLOOM_ONE double ptxloom_normf(int n, const float *v)
{
	double s = 0;
	int inf = 0;

	for (int i = 0; i < n; i++) {
		s += (double)v[i] * v[i];
		inf |= __nv_isinff(v[i]);
	}
	return inf ? PTXLOOM_INF : __nvvm_sqrt_rn_d(s);
}
PTXLOOM_MATH float __nv_normf(int n, const float *v) { return (float)ptxloom_normf(n, v); }
PTXLOOM_MATH float __nv_rnormf(int n, const float *v) { return (float)(1 / ptxloom_normf(n, v)); }

/* ---- rounding and parts ---- */

PTXLOOM_MATH double __nv_round(double x)
{
	double a = __builtin_fabs(x), t = __builtin_trunc(a);

	return __builtin_copysign(a - t >= 0.5 ? t + 1 : t, x);
}
PTXLOOM_MATH float __nv_roundf(float x)
{
	float a = __builtin_fabsf(x), t = __builtin_truncf(a);

	return __builtin_copysignf(a - t >= 0.5f ? t + 1 : t, x);
}
PTXLOOM_MATH long long __nv_llround(double x) { return __nv_double2ll_rz(__nv_round(x)); }
PTXLOOM_MATH long long __nv_llroundf(float x) { return __nv_float2ll_rz(__nv_roundf(x)); }
PTXLOOM_MATH double __nv_fdim(double a, double b) { return a <= b ? 0 : a - b; }
PTXLOOM_MATH float __nv_fdimf(float a, float b) { return a <= b ? 0 : a - b; }
PTXLOOM_MATH double __nv_modf(double x, double *whole)
{
	double t = __builtin_trunc(x);

	*whole = t;
	return __builtin_copysign(__nv_isinfd(x) ? 0 : x - t, x);
}
PTXLOOM_MATH float __nv_modff(float x, float *whole)
{
	float t = __builtin_truncf(x);

	*whole = t;
	return __builtin_copysignf(__nv_isinff(x) ? 0 : x - t, x);
}
/* Exponent e of |x| = m * 2^e with m in [1, 2), x finite and not 0. */
PTXLOOM_ONE int ptxloom_exponent(double x)
{
	double a = __builtin_fabs(x);
	int small = a < 2.2250738585072014e-308;

	return (int)(__nv_double_as_longlong(small ? a * 18014398509481984.0 : a) >> 52) - 1023 -
	       (small ? 54 : 0);
}
PTXLOOM_MATH int __nv_ilogb(double x)
{
	return x == 0 || x != x ? (int)0x80000000 : __nv_isinfd(x) ? 0x7fffffff : ptxloom_exponent(x);
}
PTXLOOM_MATH int __nv_ilogbf(float x) { return __nv_ilogb(x); }
PTXLOOM_MATH double __nv_logb(double x)
{
	return x == 0 ? -PTXLOOM_INF : !(__builtin_fabs(x) < PTXLOOM_INF) ? x * x : ptxloom_exponent(x);
}
PTXLOOM_MATH float __nv_logbf(float x) { return (float)__nv_logb(x); }
PTXLOOM_MATH double __nv_ldexp(double x, int n)
{
	int e, t;
	double m;

	if (x == 0 || !(__builtin_fabs(x) < PTXLOOM_INF))
		return x + x;
	e = ptxloom_exponent(x);
	m = ptxloom_times_pow2(x, -e);
	t = e + (n > 5000 ? 5000 : n < -5000 ? -5000 : n);
	if (t > 1023)
		return __builtin_copysign(PTXLOOM_INF, x);
	if (t < -1080)
		return __builtin_copysign(0.0, x);
	/* The first step to a subnormal number is exact. */
	return t >= -1000 ? m * ptxloom_pow2(t) : ptxloom_mul(m, ptxloom_pow2(-1000)) * ptxloom_pow2(t + 1000);
}
PTXLOOM_MATH float __nv_ldexpf(float x, int n)
{
	return (float)(x * ptxloom_pow2(n > 700 ? 700 : n < -700 ? -700 : n));
}
PTXLOOM_MATH double __nv_scalbn(double x, int n) { return __nv_ldexp(x, n); }
PTXLOOM_MATH float __nv_scalbnf(float x, int n) { return __nv_ldexpf(x, n); }
PTXLOOM_MATH double __nv_frexp(double x, int *e)
{
	int n;

	*e = 0;
	if (x == 0 || !(__builtin_fabs(x) < PTXLOOM_INF))
		return x + x;
	n = ptxloom_exponent(x) + 1;
	*e = n;
	return ptxloom_times_pow2(x, -n);
}
PTXLOOM_MATH float __nv_frexpf(float x, int *e) { return (float)__nv_frexp(x, e); }
PTXLOOM_MATH double __nv_nextafter(double x, double y)
{
	long long bits = __nv_double_as_longlong(x);

	if (x != x || y != y)
		return x + y;
	if (x == y)
		return y;
	if (x == 0)
		return __builtin_copysign(4.9406564584124654e-324, y);
	return __nv_longlong_as_double(bits + ((y > x) == (x > 0) ? 1 : -1));
}
PTXLOOM_MATH float __nv_nextafterf(float x, float y)
{
	int bits = __nv_float_as_int(x);

	if (x != x || y != y)
		return x + y;
	if (x == y)
		return y;
	if (x == 0)
		return __builtin_copysignf(1.40129846e-45f, y);
	return __nv_int_as_float(bits + ((y > x) == (x > 0) ? 1 : -1));
}

/* ---- remainders: exact ---- */

/* a mod b for a >= 0, b > 0, both finite: up to 50 bits of the quotient at a time. */
PTXLOOM_MATH double ptxloom_mod(double a, double b)
{
	while (a >= b) {
		int k = ptxloom_exponent(a) - ptxloom_exponent(b) - 50;
		double t = k > 0 ? ptxloom_times_pow2(b, k) : b, q = __builtin_trunc(a / t);

		a = ptxloom_fma(-q, t, a);
		if (a < 0)
			a += t;
	}
	return a;
}
PTXLOOM_MATH double __nv_fmod(double x, double y)
{
	double a = __builtin_fabs(x), b = __builtin_fabs(y);

	if (!(a < PTXLOOM_INF) || b == 0 || b != b)
		return PTXLOOM_NAN;
	return __builtin_copysign(b < PTXLOOM_INF ? ptxloom_mod(a, b) : a, x);
}
PTXLOOM_MATH double __nv_remquo(double x, double y, int *quotient)
{
	double a = __builtin_fabs(x), b = __builtin_fabs(y), rest;
	int q = 0;

	*quotient = 0;
	if (!(a < PTXLOOM_INF) || b == 0 || b != b)
		return PTXLOOM_NAN;
	if (b < PTXLOOM_INF) {
		if (b < 2e307)
			a = ptxloom_mod(a, 8 * b);
		for (int step = 4; step; step >>= 1)
			if ((b < 2e307 || step == 1 || b <= 8e307) && a >= step * b) {
				a -= step * b;
				q += step;
			}
		rest = b - a;
		if (a > rest || (a == rest && (q & 1))) {
			a -= b;
			q++;
		}
	}
	q &= 7;
	*quotient = __nv_signbitd(x) != __nv_signbitd(y) ? -q : q;
	return __nv_signbitd(x) ? -a : a;
}
PTXLOOM_MATH double __nv_remainder(double x, double y)
{
	int q;

	return __nv_remquo(x, y, &q);
}
PTXLOOM_MATH float __nv_fmodf(float x, float y) { return (float)__nv_fmod(x, y); }
PTXLOOM_MATH float __nv_remainderf(float x, float y) { return (float)__nv_remainder(x, y); }
PTXLOOM_MATH float __nv_remquof(float x, float y, int *q) { return (float)__nv_remquo(x, y, q); }

/* ---- the error function ---- */

/* e^(v^2) erfc(v) for v >= 0 */
PTXLOOM_ONE double ptxloom_erfcx(double v)
{
	double t = v < 1e300 ? (v - 4) / (v + 4) : 1;

	return 0.5 * ptxloom_poly_erfcx(t) / (v + 0.5);
}
PTXLOOM_ONE double ptxloom_exp_square(double h, double l, int negative)
{
	double c = h < 27.5 ? h : 27.5;
	ptxloom_dd p = ptxloom_prod(c, c);

	p.l = ptxloom_fma(2 * c, h < 27.5 ? l : 0, p.l);
	return negative ? ptxloom_exp_dd(-p.h, -p.l) : ptxloom_exp_dd(p.h, p.l);
}
/* erfc(h + l) */
PTXLOOM_ONE double ptxloom_erfc(double h, double l)
{
	double a = __builtin_fabs(h), r;

	if (a < 0.5)
		return 1 - h * ptxloom_poly_erf(h * h);
	r = ptxloom_exp_square(a, h < 0 ? -l : l, 1) * ptxloom_erfcx(a);
	return h < 0 ? 2 - r : r;
}
PTXLOOM_MATH double __nv_erfc(double x) { return x != x ? x : ptxloom_erfc(x, 0); }
PTXLOOM_MATH double __nv_erf(double x)
{
	double a = __builtin_fabs(x);

	if (!(a >= 1))
		return x * ptxloom_poly_erf(x * x);
	return __builtin_copysign(1 - ptxloom_erfc(a, 0), x);
}
PTXLOOM_MATH double __nv_erfcx(double x)
{
	double a = __builtin_fabs(x), r = ptxloom_erfcx(a);

	if (a < 0.5)
		return ptxloom_exp_square(a, 0, 0) * ptxloom_erfc(x, 0);
	return x != x ? x : x < 0 ? 2 * ptxloom_exp_square(a, 0, 0) - r : r;
}
PTXLOOM_MATH double __nv_normcdf(double x)
{
	ptxloom_dd v = ptxloom_dd_scale(ptxloom_dd{0.7071067811865476, -4.833646656726457e-17},
					-ptxloom_clamp(x, 50));

	return x != x ? x : 0.5 * ptxloom_erfc(v.h, v.l);
}
/* The v >= 0 with erfc(v) = y for 0 < y < 0.5: a first guess and two steps of Halley's method. */
PTXLOOM_MATH double ptxloom_erfcinv_far(double y)
{
	ptxloom_dd log_y = ptxloom_log_dd(y, 0);
	double s = __nvvm_sqrt_rn_d(-log_y.h), v;

	v = s * (s < 7.8 ? ptxloom_poly_erfcinv((s - 0.8) / 3.5 - 1) : ptxloom_poly_erfcinv_far((s - 7.5) / 10 - 1));
	for (int i = 0; i < 2; i++) {
		ptxloom_dd d = ptxloom_dd_sum(ptxloom_prod(v, v), log_y);
		double u = (ptxloom_exp_dd(d.h, d.l) - ptxloom_erfcx(v)) * 0.886226925452758;

		v -= u / (1 + u * v);
	}
	return v;
}
PTXLOOM_MATH double __nv_erfcinv(double y)
{
	if (!(y >= 0 && y <= 2))
		return PTXLOOM_NAN;
	if (y == 0 || y == 2)
		return y == 0 ? PTXLOOM_INF : -PTXLOOM_INF;
	if (y >= 0.5 && y <= 1.5)
		return (1 - y) * ptxloom_poly_erfinv((1 - y) * (1 - y));
	return y > 1 ? -ptxloom_erfcinv_far(2 - y) : ptxloom_erfcinv_far(y);
}
PTXLOOM_MATH double __nv_erfinv(double x)
{
	double a = __builtin_fabs(x);

	if (!(a > 0.5))
		return x * ptxloom_poly_erfinv(x * x);
	return a < 1 ? __builtin_copysign(ptxloom_erfcinv_far(1 - a), x) :
	       a == 1 ? __builtin_copysign(PTXLOOM_INF, x) :
			PTXLOOM_NAN;
}
PTXLOOM_MATH double __nv_normcdfinv(double p) { return -1.4142135623730951 * __nv_erfcinv(2 * p); }

/* ---- gamma ---- */

/* log(gamma(x)) for x >= 12: (x - 1/2) log(x) - x + log(2 pi) / 2 and Stirling's series. */
PTXLOOM_ONE ptxloom_dd ptxloom_stirling(double x)
{
	double w = 1 / x, z = w * w, p;
	ptxloom_dd g = ptxloom_log_dd(x, 0), m = ptxloom_sum(x, -0.5), s;

	p = ptxloom_fma(z, -691.0 / 360360, 1.0 / 1188);
	p = ptxloom_fma(z, p, -1.0 / 1680);
	p = ptxloom_fma(z, p, 1.0 / 1260);
	p = ptxloom_fma(z, p, -1.0 / 360);
	p = w * ptxloom_fma(z, p, 1.0 / 12);
	s = ptxloom_dd_sum(ptxloom_dd_mul(m, g), ptxloom_dd{-x, 0});
	s = ptxloom_dd_sum(s, ptxloom_dd{0.9189385332046728, -3.8782941580672414e-17});
	return ptxloom_dd_sum(s, ptxloom_dd{p, 0});
}
PTXLOOM_MATH double __nv_tgamma(double x)
{
	double a = __builtin_fabs(x), y = x, up = 1, down = 1, sine;
	ptxloom_dd s;

	if (!(a < PTXLOOM_INF))
		return x > 0 || x != x ? x : PTXLOOM_NAN;
	if (x == 0)
		return 1 / x;
	if (x < 0 && __builtin_trunc(x) == x)
		return PTXLOOM_NAN;
	if (a < 12) {
		while (y >= 2) {
			y -= 1;
			up *= y;
		}
		while (y < 1) {
			down *= y;
			y += 1;
		}
		return up * ptxloom_poly_gamma(y - 1.5) / down;
	}
	s = ptxloom_stirling(a < 200 ? a : 200);
	if (x > 0)
		return a < 200 ? ptxloom_exp_dd(ptxloom_clamp(s.h, 800), s.h < 800 ? s.l : 0) : PTXLOOM_INF;
	sine = __nv_sinpi(a) * a;
	return a < 200 ? -3.141592653589793 / sine * ptxloom_exp_dd(-s.h, -s.l) : __builtin_copysign(0.0, -sine);
}
PTXLOOM_MATH double __nv_lgamma(double x)
{
	double a = __builtin_fabs(x), y = a, p = 1, r;
	ptxloom_dd s;

	if (!(a < PTXLOOM_INF))
		return a;
	if (x <= 0 && __builtin_trunc(x) == x)
		return PTXLOOM_INF;
	s = ptxloom_stirling(a < 12 ? 12 : a);
	r = a < 1e300 ? s.h : a * (__nv_log(a) - 1);
	if (a < 12) {
		while (y >= 2.25) {
			y -= 1;
			p *= y;
		}
		if (y < 0.75) {
			p = y;
			y += 1;
		}
		r = (y - 1) * (y - 2) * ptxloom_poly_lgamma(y - 1.5);
		if (p != 1)
			r = a < 0.75 ? r - __nv_log(p) : r + __nv_log(p);
	}
	if (x > 0)
		return r;
	return __nv_log(3.141592653589793 / __builtin_fabs(__nv_sinpi(a) * a)) - r;
}

/* ---- Bessel functions ---- */

/*
 * J_n, J_0, J_1, Y_0, Y_1 of 0 < x < 25, n <= 300: J by recurrence downwards, Y by Neumann's
 * series.
 */
struct ptxloom_bessel {
	double jn, j0, j1, y0, y1;
};
static __device__ __attribute__((noinline)) ptxloom_bessel ptxloom_bessel_near(double x, int n)
{
	int top = (int)(x * 1.4) + 44 + (n > 20 ? n : 0);
	double above = 0, here = 1e-250, sum = 0, y0 = 0, y1 = 0, jn = 0, log_half, pi_2 = 0.6366197723675814;
	ptxloom_bessel b;

	for (int k = top & ~1; k > 0; k--) {
		double below = 2 * k / x * here - above;
		int half = k >> 1;

		if (k == n)
			jn = here;
		if (k & 1)
			y1 += half ? (half & 1 ? -1.0 : 1.0) * k / (half * (half + 1.0)) * here : 0;
		else {
			sum += 2 * here;
			y0 += (half & 1 ? -1.0 : 1.0) / half * here;
		}
		above = here;
		here = below;
		if (__builtin_fabs(here) > 1e200) {
			here *= 1e-200, above *= 1e-200, sum *= 1e-200;
			y0 *= 1e-200, y1 *= 1e-200, jn *= 1e-200;
		}
	}
	sum = 1 / (sum + here);
	b.j0 = here * sum;
	b.j1 = above * sum;
	b.jn = n == 0 ? b.j0 : n == 1 ? b.j1 : jn * sum;
	log_half = __nv_log(0.5 * x) + 0.5772156649015329;
	b.y0 = pi_2 * (log_half * b.j0 - 2 * y0 * sum);
	b.y1 = -pi_2 / x * b.j0 + pi_2 * ((log_half - 1) * b.j1 - y1 * sum);
	return b;
}
/* For x >= 25, n = 0 or 1: Hankel's expansion. want_y: Y_n, else J_n. */
PTXLOOM_MATH double ptxloom_bessel_far(double x, int n, int want_y)
{
	double p = 0, q = 0, term = 1, s, c, u, v, mu = 4.0 * n * n;

	for (int k = 0; k < 24; k++) {
		int sign = k & 2 ? -1 : 1;

		if (k & 1)
			q += sign * term;
		else
			p += sign * term;
		term *= (mu - (2.0 * k + 1) * (2 * k + 1)) / ((k + 1) * 8.0 * x);
	}
	__nv_sincos(x, &s, &c);
	/* cos and sin of x - n pi/2 - pi/4, times sqrt(2) */
	u = n ? s - c : c + s;
	v = n ? -(s + c) : s - c;
	return __nvvm_sqrt_rn_d(0.3183098861837907 / x) * (want_y ? p * v + q * u : p * u - q * v);
}
PTXLOOM_MATH double ptxloom_jn(int n, double x)
{
	double a = __builtin_fabs(x), low, high, r;
	int flip = (n < 0) != (x < 0) && (n & 1), m = n < 0 ? -n : n;

	if (!(a < PTXLOOM_INF))
		return x != x ? x : 0;
	if (a < 1e-150)
		return m ? 0 : 1;
	if (a < 25 && m <= 300) {
		r = a < 1e-8 ? (m == 0 ? 1 : m == 1 ? 0.5 * a : __nv_pow(0.5 * a, m) / __nv_tgamma(m + 1.0)) :
			       ptxloom_bessel_near(a, m).jn;
	} else if (m > a) {
		/*
		 * Beyond the turning point: downwards from far enough, scaled by J_0 or J_1 as
		 * known.
		 */
		double above = 0, here = 1e-250, jn = 0, j0 = a < 25 ? 0 : ptxloom_bessel_far(a, 0, 0);
		double j1 = a < 25 ? 0 : ptxloom_bessel_far(a, 1, 0);

		if (a < 25)
			return 0;
		for (int k = m + 40 + (int)__nvvm_sqrt_rn_d(40.0 * m); k > 0; k--) {
			double below = 2 * k / a * here - above;

			if (k == m)
				jn = here;
			above = here;
			here = below;
			if (__builtin_fabs(here) > 1e200)
				here *= 1e-200, above *= 1e-200, jn *= 1e-200;
		}
		r = __builtin_fabs(j0) > __builtin_fabs(j1) ? jn * (j0 / here) : jn * (j1 / above);
	} else {
		low = ptxloom_bessel_far(a, 0, 0);
		high = r = ptxloom_bessel_far(a, 1, 0);
		if (m == 0)
			r = low;
		for (int k = 1; k < m; k++) {
			r = 2 * k / a * high - low;
			low = high;
			high = r;
		}
	}
	return flip ? -r : r;
}
PTXLOOM_MATH double ptxloom_yn(int n, double x)
{
	double low, high;
	int m = n < 0 ? -n : n;

	if (!(x > 0))
		return x == 0 ? -PTXLOOM_INF : PTXLOOM_NAN;
	if (x == PTXLOOM_INF)
		return 0;
	if (x < 1e-8) {
		low = 0.6366197723675814 * (__nv_log(0.5 * x) + 0.5772156649015329);
		high = -0.6366197723675814 / x;
	} else if (x < 25) {
		ptxloom_bessel b = ptxloom_bessel_near(x, 0);

		low = b.y0;
		high = b.y1;
	} else {
		low = ptxloom_bessel_far(x, 0, 1);
		high = ptxloom_bessel_far(x, 1, 1);
	}
	if (m == 0)
		return low;
	for (int k = 1; k < m && high > -PTXLOOM_INF; k++) {
		double next = 2 * k / x * high - low;

		low = high;
		high = next;
	}
	return n < 0 && (n & 1) ? -high : high;
}
/* I_0, I_1: the power series, or beyond 30 the asymptotic one times e^x. */
PTXLOOM_MATH double ptxloom_in(int n, double x)
{
	double a = __builtin_fabs(x), term = 1, mu = 4.0 * n * n, r;
	ptxloom_dd e, t = {1, 0}, sum = {0, 0}, z;

	if (!(a < PTXLOOM_INF))
		return n ? x : a;
	if (a < 30) {
		z = ptxloom_prod(0.5 * a, 0.5 * a);
		for (int k = 1; k < 70 && t.h > 0; k++) {
			double d = (double)k * (k + n), q;

			sum = ptxloom_dd_sum(sum, t);
			t = ptxloom_dd_mul(t, z);
			q = t.h / d;
			t = ptxloom_fast_sum(q, (ptxloom_fma(-q, d, t.h) + t.l) / d);
		}
		r = n ? 0.5 * a * sum.h : sum.h;
	} else {
		for (int k = 0; k < 30; k++) {
			sum = ptxloom_dd_sum(sum, ptxloom_dd{term, 0});
			term *= -(mu - (2.0 * k + 1) * (2 * k + 1)) / ((k + 1) * 8.0 * a);
		}
		e = ptxloom_sum(a < 800 ? a : 800, -0.9189385332046728);
		r = ptxloom_exp_dd(e.h, e.l) / __nvvm_sqrt_rn_d(a) * sum.h;
	}
	return n && x < 0 ? -r : r;
}

#define PTXLOOM_BOTH(name, call)                                                           \
	PTXLOOM_MATH double __nv_##name(double x) { return call; }                         \
	PTXLOOM_MATH float __nv_##name##f(float x) { return (float)__nv_##name((double)x); }
PTXLOOM_BOTH(j0, ptxloom_jn(0, x))
PTXLOOM_BOTH(j1, ptxloom_jn(1, x))
PTXLOOM_BOTH(y0, ptxloom_yn(0, x))
PTXLOOM_BOTH(y1, ptxloom_yn(1, x))
PTXLOOM_BOTH(cyl_bessel_i0, ptxloom_in(0, x))
PTXLOOM_BOTH(cyl_bessel_i1, ptxloom_in(1, x))
#undef PTXLOOM_BOTH
PTXLOOM_MATH double __nv_jn(int n, double x) { return ptxloom_jn(n, x); }
PTXLOOM_MATH double __nv_yn(int n, double x) { return ptxloom_yn(n, x); }
PTXLOOM_MATH float __nv_jnf(int n, float x) { return (float)ptxloom_jn(n, x); }
PTXLOOM_MATH float __nv_ynf(int n, float x) { return (float)ptxloom_yn(n, x); }

#define PTXLOOM_FLOAT(name)                                                                \
	PTXLOOM_MATH float __nv_##name##f(float x) { return (float)__nv_##name((double)x); }
PTXLOOM_FLOAT(erf)
PTXLOOM_FLOAT(erfc)
PTXLOOM_FLOAT(erfcx)
PTXLOOM_FLOAT(erfinv)
PTXLOOM_FLOAT(erfcinv)
PTXLOOM_FLOAT(normcdf)
PTXLOOM_FLOAT(normcdfinv)
PTXLOOM_FLOAT(tgamma)
PTXLOOM_FLOAT(lgamma)
#undef PTXLOOM_FLOAT

#endif
