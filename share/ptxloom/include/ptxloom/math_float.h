/*
 * f32 math functions of libdevice.h. They count in f64 with short polynomials and round once, so
 * that nearly every result is the nearest f32.
 */
#ifndef PTXLOOM_MATH_FLOAT_H
#define PTXLOOM_MATH_FLOAT_H

#define PTXLOOM_INFF __builtin_inff()

/* ---- exponentials and logarithms ---- */

/* e^t - 1 as r + r^2 q for |r| <= ln(2) / 2, and 2^n. |t| <= 1000 */
PTXLOOM_ONE double ptxloom_expf_parts(double t, int *n)
{
	double k = __builtin_rint(t * PTXLOOM_LOG2E), r = ptxloom_fma(-k, PTXLOOM_LN2H, t);

	*n = __nv_double2int_rz(k);
	return ptxloom_fma(r * r, ptxloom_poly_expf(r), r);
}
PTXLOOM_ONE double ptxloom_expf(double t)
{
	int n;
	double p = ptxloom_expf_parts(ptxloom_clamp(t, 200), &n);

	return (1 + p) * ptxloom_pow2(n);
}
PTXLOOM_ONE double ptxloom_expm1f(double t)
{
	int n;
	double p = ptxloom_expf_parts(ptxloom_clamp(t, 200), &n), s = ptxloom_pow2(n);

	return ptxloom_fma(s, p, s - 1);
}
PTXLOOM_MATH float __nv_expf(float x) { return (float)ptxloom_expf(x); }
PTXLOOM_MATH float __nv_exp2f(float x)
{
	double c = ptxloom_clamp(x, 300), k = __builtin_rint(c), r = (c - k) * PTXLOOM_LN2H;

	return (float)((1 + ptxloom_fma(r * r, ptxloom_poly_expf(r), r)) * ptxloom_pow2(__nv_double2int_rz(k)));
}
PTXLOOM_MATH float __nv_exp10f(float x) { return (float)ptxloom_expf(x * 2.302585092994046); }
PTXLOOM_MATH float __nv_expm1f(float x)
{
	return x == 0 ? x : x > 130 ? (float)ptxloom_expf(x) : (float)ptxloom_expm1f(x);
}

/* log of a positive finite normal double: k ln(2) + log(m) */
PTXLOOM_ONE double ptxloom_logf_parts(double x, double *k)
{
	long long bits = __nv_double_as_longlong(x);
	int n = (int)((bits - 0x3fe6a09e667f3bcdLL) >> 52);
	double f = __nv_longlong_as_double(bits - ((long long)n << 52)) - 1, s = f / (2 + f), z = s * s;

	*k = n;
	return s * ptxloom_fma(z, ptxloom_poly_logf(z), 2);
}
PTXLOOM_ONE double ptxloom_logf(double x)
{
	double k, m = ptxloom_logf_parts(x, &k);

	return ptxloom_fma(k, PTXLOOM_LN2H, m);
}
PTXLOOM_MATH float __nv_logf(float x)
{
	return (float)ptxloom_log_edges(x, ptxloom_logf(ptxloom_log_inside(x)));
}
PTXLOOM_MATH float __nv_log2f(float x)
{
	double k, m = ptxloom_logf_parts(ptxloom_log_inside(x), &k);

	return (float)ptxloom_log_edges(x, ptxloom_fma(m, PTXLOOM_LOG2E, k));
}
PTXLOOM_MATH float __nv_log10f(float x)
{
	return (float)ptxloom_log_edges(x, ptxloom_logf(ptxloom_log_inside(x)) * 0.4342944819032518);
}
/* log(1 + t); 1 + t is exact for f32 of at least 2^-28. */
PTXLOOM_ONE double ptxloom_log1pf(double t)
{
	return __builtin_fabs(t) < 3.7e-9 ? t * ptxloom_fma(t, -0.5, 1) : ptxloom_logf(1 + t);
}
PTXLOOM_MATH float __nv_log1pf(float x)
{
	double t = x > -1 && x < PTXLOOM_INFF ? x : 0;

	return x == 0 ? x : (float)ptxloom_log_edges((double)x + 1, ptxloom_log1pf(t));
}
PTXLOOM_MATH float __nv_powf(float x, float y)
{
	double a = __builtin_fabsf(x), t = (double)y * ptxloom_logf(ptxloom_log_inside(a));

	return (float)ptxloom_pow_edges(x, y, ptxloom_expf(t));
}
PTXLOOM_MATH float __nv_powif(float x, int n) { return (float)__nv_pow(x, n); }
PTXLOOM_MATH float __nv_cbrtf(float x)
{
	double a = __builtin_fabsf(x);

	return a > 0 && a < PTXLOOM_INF ? (float)__builtin_copysign(ptxloom_cbrt_dd(a).h, (double)x) : x + x;
}
PTXLOOM_MATH float __nv_rcbrtf(float x)
{
	double a = __builtin_fabsf(x);

	return a > 0 && a < PTXLOOM_INF ? (float)(1 / __builtin_copysign(ptxloom_cbrt_dd(a).h, (double)x)) :
					  1 / x;
}
PTXLOOM_MATH float __nv_frsqrt_rn(float x) { return (float)__nv_rsqrt(x); }

/* ---- circular functions ---- */

PTXLOOM_ONE double ptxloom_reducef(float a, int *quadrant)
{
	double x = a, n = __builtin_rint(x * 0.6366197723675814);

	if (__builtin_fabs(x) >= 1073741824.0 && __builtin_fabs(x) < PTXLOOM_INF)
		return ptxloom_reduce_far(x, quadrant).h;
	*quadrant = __nv_double2int_rz(n);
	return ptxloom_fma(-n, PTXLOOM_PIO2L, ptxloom_fma(-n, PTXLOOM_PIO2H, x));
}
PTXLOOM_ONE double ptxloom_sinf_kernel(double r)
{
	double z = r * r;

	return ptxloom_fma(r * z, ptxloom_poly_sinf(z), r);
}
PTXLOOM_ONE double ptxloom_cosf_kernel(double r)
{
	double z = r * r;

	return ptxloom_fma(z * z, ptxloom_poly_cosf(z), ptxloom_fma(-0.5, z, 1));
}
PTXLOOM_ONE double ptxloom_sinf_quadrant(double r, int q)
{
	double s = ptxloom_sinf_kernel(r), c = ptxloom_cosf_kernel(r), v = q & 1 ? c : s;

	return q & 2 ? -v : v;
}
PTXLOOM_MATH float __nv_sinf(float x)
{
	int q;
	double r = ptxloom_reducef(x, &q);

	return x == 0 ? x : (float)ptxloom_sinf_quadrant(r, q);
}
PTXLOOM_MATH float __nv_cosf(float x)
{
	int q;
	double r = ptxloom_reducef(x, &q);

	return (float)ptxloom_sinf_quadrant(r, q + 1);
}
PTXLOOM_MATH void __nv_sincosf(float x, float *s, float *c)
{
	int q;
	double r = ptxloom_reducef(x, &q);

	*s = x == 0 ? x : (float)ptxloom_sinf_quadrant(r, q);
	*c = (float)ptxloom_sinf_quadrant(r, q + 1);
}
PTXLOOM_MATH float __nv_tanf(float x)
{
	int q;
	double r = ptxloom_reducef(x, &q), s = ptxloom_sinf_kernel(r), c = ptxloom_cosf_kernel(r);

	return x == 0 ? x : (float)(q & 1 ? -c / s : s / c);
}
PTXLOOM_MATH float __nv_sinpif(float x)
{
	int q;
	ptxloom_dd r = ptxloom_reduce_pi(x, &q);

	return __builtin_truncf(x) == x && __builtin_fabsf(x) < PTXLOOM_INFF ?
		       __builtin_copysignf(0.0f, x) :
		       (float)ptxloom_sinf_quadrant(r.h, q);
}
PTXLOOM_MATH float __nv_cospif(float x)
{
	int q;
	ptxloom_dd r = ptxloom_reduce_pi(x, &q);

	return (float)ptxloom_sinf_quadrant(r.h, q + 1) + 0.0f;
}
PTXLOOM_MATH void __nv_sincospif(float x, float *s, float *c)
{
	*s = __nv_sinpif(x);
	*c = __nv_cospif(x);
}

/* ---- inverses ---- */

PTXLOOM_ONE double ptxloom_atanf(double num, double den)
{
	double t = num / den, z = t * t;

	return ptxloom_fma(t * z, ptxloom_poly_atanf(z), t);
}
PTXLOOM_MATH float __nv_atan2f(float b, float a)
{
	double y = b, x = a, ax = __builtin_fabs(x), ay = __builtin_fabs(y), r;
	double hi = ax > ay ? ax : ay, lo = ax > ay ? ay : ax;

	if (a != a || b != b)
		return a + b;
	if (hi == 0)
		hi = 1;
	if (lo == PTXLOOM_INF)
		hi = lo = 1;
	r = ptxloom_atanf(lo, hi);
	r = ay > ax ? PTXLOOM_PIO2H - r : r;
	r = __nv_signbitd(x) ? 2 * PTXLOOM_PIO2H - r : r;
	return (float)__builtin_copysign(r, y);
}
PTXLOOM_MATH float __nv_atanf(float x)
{
	double a = __builtin_fabsf(x), r;
	int swap = a > 1;

	r = ptxloom_atanf(swap ? 1 : a, swap ? a : 1);
	return x != x ? x : (float)__builtin_copysign(swap ? PTXLOOM_PIO2H - r : r, (double)x);
}
PTXLOOM_ONE double ptxloom_asinf(double a)
{
	int far = a > 0.5;
	double z = far ? 0.5 * (1 - a) : a * a, s = far ? __nvvm_sqrt_rn_d(z) : a;
	double r = ptxloom_fma(s * z, ptxloom_poly_asinf(z), s);

	return far ? PTXLOOM_PIO2H - 2 * r : r;
}
PTXLOOM_MATH float __nv_asinf(float x)
{
	return (float)__builtin_copysign(ptxloom_asinf(__builtin_fabsf(x)), (double)x);
}
PTXLOOM_MATH float __nv_acosf(float x)
{
	double a = __builtin_fabsf(x), z = 0.5 * (1 - a), s = __nvvm_sqrt_rn_d(z);
	double near = ptxloom_fma(s * z, ptxloom_poly_asinf(z), s);

	if (a > 0.5)
		return (float)(x > 0 ? 2 * near : 2 * (PTXLOOM_PIO2H - near));
	return (float)(PTXLOOM_PIO2H - __builtin_copysign(ptxloom_asinf(a), (double)x));
}

/* ---- hyperbolic functions ---- */

PTXLOOM_MATH float __nv_sinhf(float x)
{
	double e = ptxloom_expm1f(__builtin_fabsf(x));

	return x != x || x == 0 ? x : (float)__builtin_copysign(0.5 * (e + e / (1 + e)), (double)x);
}
PTXLOOM_MATH float __nv_coshf(float x)
{
	double e = ptxloom_expf(__builtin_fabsf(x));

	return (float)(0.5 * (e + 1 / e));
}
PTXLOOM_MATH float __nv_tanhf(float x)
{
	double e = ptxloom_expm1f(2 * ptxloom_clamp(__builtin_fabsf(x), 30));

	return x != x || x == 0 ? x : (float)__builtin_copysign(e / (e + 2), (double)x);
}
PTXLOOM_MATH float __nv_asinhf(float x)
{
	double a = __builtin_fabsf(x), z = a * a, r;

	r = a < 0.0009765625 ? ptxloom_fma(a * z, -1 / 6.0, a) :
			       ptxloom_logf((a < PTXLOOM_INF ? a : 1) +
					    __nvvm_sqrt_rn_d(1 + (a < PTXLOOM_INF ? z : 0)));
	return !(a < PTXLOOM_INF) || x == 0 ? x : (float)__builtin_copysign(r, (double)x);
}
PTXLOOM_MATH float __nv_acoshf(float a)
{
	double x = a >= 1 && a < PTXLOOM_INFF ? a : 1;
	float r = (float)ptxloom_logf(x + __nvvm_sqrt_rn_d(ptxloom_fma(x, x, -1)));

	return a >= 1 && a < PTXLOOM_INFF ? r : a >= 1 ? a : __builtin_nanf("");
}
PTXLOOM_MATH float __nv_atanhf(float x)
{
	double a = __builtin_fabsf(x), z = a * a, r;

	r = a < 0.0009765625 ? ptxloom_fma(a * z, 1 / 3.0, a) :
	    a < 1	     ? 0.5 * ptxloom_logf((1 + a) / (1 - a)) :
	    a == 1	     ? PTXLOOM_INF :
			       PTXLOOM_NAN;
	return x == 0 ? x : (float)__builtin_copysign(r, (double)x);
}

#endif
