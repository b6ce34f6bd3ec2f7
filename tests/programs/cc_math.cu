/*
 * The math functions that `ptxloom cc` brings along against the C library in long double: every row
 * states the largest error that its function may have, in units in the last place of the result.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 4096

typedef long double wide;

static unsigned long long state;

static double uniform(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(state >> 11) / 9007199254740992.0;
}

/* The error of got in units of the last place of want; digits: 53 or 24, low: exponent of the smallest. */
static double error_of(double got, wide want, int digits, int low)
{
	int e;
	wide top = ldexpl(2 - ldexpl(1, 1 - digits), digits == 53 ? 1023 : 127);

	if (isnan(want))
		return isnan(got) ? 0 : 1e9;
	if (isinf(want) || fabsl(want) > top)
		return isinf(got) && (got > 0) == (want > 0) ? 0 : fabsl(got) >= top ? 1 : 1e9;
	if (isnan(got) || isinf(got))
		return 1e9;
	if (want == 0)
		return got == 0 ? 0 : fabs(got) / ldexp(1, low);
	frexpl(want, &e);
	e = e - digits < low ? low : e - digits;
	return (double)(fabsl(got - want) / ldexpl(1, e));
}

static double special[] = {0.0,	     -0.0,     1.0,   -1.0,    0.5,    -0.5,   2.0,   INFINITY, -INFINITY,
			   NAN,	     1e-310,   1e300, -1e300,  1e-300, 3.0,    10.0,  -3.0,	4.0,
			   1.5,	     0.99999,  1e22,  1e5,     -1e5,   710.0,  -745., 88.8,	-103.0};

static wide want_exp10(wide x) { return powl(10, x); }
static wide want_rsqrt(wide x) { return 1 / sqrtl(x); }
static wide want_rcbrt(wide x) { return 1 / cbrtl(x); }
static wide want_sinpi(wide x)
{
	wide r = isinf(x) ? NAN : remainderl(x, 2);

	return isnan(r) ? r : truncl(x) == x ? 0 : sinl(M_PIl * (r > 0.5L ? 1 - r : r < -0.5L ? -1 - r : r));
}
static wide want_cospi(wide x)
{
	wide r = isinf(x) ? NAN : fabsl(remainderl(x, 2));

	return isnan(r) ? r : r == 0.5L || r == 1.5L ? 0 : sinl(M_PIl * (0.5L - r));
}
static wide want_erfcx(wide x)
{
	wide z = 1 / (2 * x * x);

	if (!(x >= 50))
		return expl(x * x) * erfcl(x);
	return (1 - z * (1 - z * (3 - z * (15 - z * 105)))) / (x * sqrtl(M_PIl));
}
static wide want_normcdf(wide x) { return erfcl(-x * M_SQRT1_2l) / 2; }
static wide want_i0(wide x)
{
	wide s = isnan(x) ? x : 0, t = 1;

	if (isinf(x))
		return INFINITY;

	for (int k = 1; k < 2000 && t > s * 1e-21L ; k++) {
		s += t;
		t *= x * x / 4 / k / k;
	}
	return s;
}
static wide want_i1(wide x)
{
	wide s = isnan(x) ? x : 0, t = x / 2;

	if (isinf(x))
		return x;

	for (int k = 1; k < 2000 && fabsl(t) > fabsl(s) * 1e-21L; k++) {
		s += t;
		t *= x * x / 4 / k / (k + 1);
	}
	return s;
}
static wide want_lgamma(wide x)
{
	int sign;

	return lgammal_r(x, &sign);
}
/* Newton's method; the first steps on the logarithm, where the function is nearly a square. */
static wide want_erfcinv(wide y)
{
	wide v;

	if (!(y >= 0 && y <= 2))
		return NAN;
	if (y == 0 || y == 2)
		return y ? -INFINITY : INFINITY;
	if (y > 1)
		return -want_erfcinv(2 - y);
	v = y > 0.9L ? (1 - y) * 0.8862269254527580137L : sqrtl(-logl(y)) * 0.9L;
	for (int i = 0; i < 60; i++)
		v += y > 0.5L ? (erfl(v) - (1 - y)) / (-M_2_SQRTPIl * expl(-v * v)) :
				(logl(erfcl(v)) - logl(y)) * erfcl(v) / (M_2_SQRTPIl * expl(-v * v));
	return v;
}
static wide want_erfinv(wide x)
{
	wide a = fabsl(x), v = a * 0.8862269254527580137L;

	if (!(a < 0.5L))
		return copysignl(want_erfcinv(1 - a), x);
	for (int i = 0; i < 60; i++)
		v -= (erfl(v) - a) / (M_2_SQRTPIl * expl(-v * v));
	return copysignl(v, x);
}
static wide want_normcdfinv(wide p) { return -M_SQRT2l * want_erfcinv(2 * p); }
static wide want_tgamma(wide x) { return x < 0 && truncl(x) == x ? NAN : tgammal(x); }

/*
 * name, f64 bound, f32 bound, first and last argument, reference. A negative bound is of the absolute
 * error, in units of the last place of 1, and leaves out what is not finite.
 */
#define ROWS1(R)                                                                           \
	R(sin, 1, 1, -1e3, 1e3, sinl)                                                      \
	R(cos, 1, 1, -1e3, 1e3, cosl)                                                      \
	R(tan, 2, 1, -1e3, 1e3, tanl)                                                      \
	R(sinpi, 1, 1, -20, 20, want_sinpi)                                                \
	R(cospi, 1, 1, -20, 20, want_cospi)                                                \
	R(asin, 2, 1, -1, 1, asinl)                                                        \
	R(acos, 2, 1, -1, 1, acosl)                                                        \
	R(atan, 2, 1, -20, 20, atanl)                                                      \
	R(exp, 1, 1, -750, 720, expl)                                                      \
	R(exp2, 1, 1, -1080, 1030, exp2l)                                                  \
	R(exp10, 1, 1, -330, 310, want_exp10)                                              \
	R(expm1, 1, 1, -50, 720, expm1l)                                                   \
	R(log, 1, 1, 0, 30, logl)                                                          \
	R(log2, 1, 1, 0, 30, log2l)                                                        \
	R(log10, 1, 1, 0, 30, log10l)                                                      \
	R(log1p, 1, 1, -1, 30, log1pl)                                                     \
	R(sinh, 2, 1, -25, 25, sinhl)                                                      \
	R(cosh, 1, 1, -720, 720, coshl)                                                    \
	R(tanh, 1, 1, -25, 25, tanhl)                                                      \
	R(asinh, 3, 1, -100, 100, asinhl)                                                  \
	R(acosh, 3, 1, 1, 100, acoshl)                                                     \
	R(atanh, 2, 1, -1, 1, atanhl)                                                      \
	R(sqrt, 0.5, 0.5, 0, 1e4, sqrtl)                                                   \
	R(rsqrt, 1, 2, 0, 1e4, want_rsqrt)                                                 \
	R(cbrt, 1, 1, -1e4, 1e4, cbrtl)                                                    \
	R(rcbrt, 1, 1, -1e4, 1e4, want_rcbrt)                                              \
	R(erf, 2, 1, -6, 6, erfl)                                                          \
	R(erfc, 5, 1, -6, 28, erfcl)                                                       \
	R(erfcx, 4, 1, -5, 40, want_erfcx)                                                 \
	R(normcdf, 5, 1, -38, 9, want_normcdf)                                             \
	R(tgamma, 10, 1, -30, 172, want_tgamma)                                            \
	R(cyl_bessel_i0, 6, 1, -100, 100, want_i0)                                         \
	R(cyl_bessel_i1, 6, 1, -100, 100, want_i1)                                         \
	R(lgamma, 4, 1, 0.1, 100, want_lgamma)                                             \
	R(erfinv, 5, 1, -1, 1, want_erfinv)                                                \
	R(erfcinv, 6, 1, 0, 2, want_erfcinv)                                               \
	R(normcdfinv, 8, 1, 0, 1, want_normcdfinv)                                         \
	R(j0, -8, -4, -100, 100, j0l)                                                      \
	R(j1, -8, -4, -100, 100, j1l)                                                      \
	R(y0, -8, -4, 0.5, 100, y0l)                                                       \
	R(y1, -8, -4, 0.5, 100, y1l)                                                       \
	R(round, 0, 0, -100, 100, roundl)                                                  \
	R(trunc, 0, 0, -100, 100, truncl)                                                  \
	R(floor, 0, 0, -100, 100, floorl)                                                  \
	R(ceil, 0, 0, -100, 100, ceill)                                                    \
	R(rint, 0, 0, -100, 100, rintl)                                                    \
	R(logb, 0, 0, 0, 1e9, logbl)                                                       \
	R(fabs, 0, 0, -100, 100, fabsl)

#define ROWS2(R)                                                                           \
	R(pow, 1, 1, 0, 200, -60, 60, powl)                                                \
	R(atan2, 2, 1, -10, 10, -10, 10, atan2l)                                           \
	R(hypot, 1, 1, -1e3, 1e3, -1e3, 1e3, hypotl)                                       \
	R(fmod, 0, 0, -1e5, 1e5, -10, 10, fmodl)                                           \
	R(remainder, 0, 0, -1e5, 1e5, -10, 10, remainderl)                                 \
	R(fdim, 0.5, 0.5, -10, 10, -10, 10, fdiml)                                         \
	R(fmin, 0, 0, -10, 10, -10, 10, fminl)                                             \
	R(fmax, 0, 0, -10, 10, -10, 10, fmaxl)                                             \
	R(copysign, 0, 0, -10, 10, -10, 10, copysignl)

#define KERNEL1(name, e64, e32, a, b, reference)                                           \
	__global__ void name##_64(const double *x, const double *, double *y)              \
	{                                                                                  \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                             \
                                                                                           \
		y[i] = name(x[i]);                                                         \
	}                                                                                  \
	__global__ void name##_32(const double *x, const double *, double *y)              \
	{                                                                                  \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                             \
                                                                                           \
		y[i] = name##f((float)x[i]);                                               \
	}                                                                                  \
	static wide name##_want(wide x, wide) { return reference(x); }
#define KERNEL2(name, e64, e32, a, b, c, d, reference)                                     \
	__global__ void name##_64(const double *x, const double *z, double *y)             \
	{                                                                                  \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                             \
                                                                                           \
		y[i] = name(x[i], z[i]);                                                   \
	}                                                                                  \
	__global__ void name##_32(const double *x, const double *z, double *y)             \
	{                                                                                  \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                             \
                                                                                           \
		y[i] = name##f((float)x[i], (float)z[i]);                                  \
	}                                                                                  \
	static wide name##_want(wide x, wide z) { return reference(x, z); }
ROWS1(KERNEL1)
ROWS2(KERNEL2)

struct row {
	const char *name;
	void (*f64)(const double *, const double *, double *);
	void (*f32)(const double *, const double *, double *);
	wide (*want)(wide, wide);
	double bound64, bound32, from, to, from2, to2;
	int arguments;
};
#define ROW1(name, e64, e32, a, b, reference) {#name, name##_64, name##_32, name##_want, e64, e32, a, b, 0, 0, 1},
#define ROW2(name, e64, e32, a, b, c, d, reference)                                        \
	{#name, name##_64, name##_32, name##_want, e64, e32, a, b, c, d, 2},
static const struct row rows[] = {ROWS1(ROW1) ROWS2(ROW2)};

static int specials(void) { return (int)(sizeof(special) / sizeof(special[0])); }

static void arguments(const struct row *r, double *x, double *z)
{
	int n = specials();

	for (int i = 0; i < COUNT; i++) {
		double scale = i % 4 == 1 ? 1e-3 : i % 16 == 2 ? 1e-8 : 1;

		x[i] = r->from + (r->to - r->from) * uniform();
		z[i] = r->from2 + (r->to2 - r->from2) * uniform();
		if (scale != 1 && r->from <= 0)
			x[i] *= scale;
		if (i % 64 == 7)
			x[i] *= 1e9;
		if (r->arguments == 1 && i < n) {
			x[i] = special[i];
		} else if (r->arguments == 2 && i < n * n) {
			x[i] = special[i / n];
			z[i] = special[i % n];
		}
	}
}

static int check(const struct row *r, int is_float, const double *x, const double *z, const double *y)
{
	double worst = 0, bound = is_float ? r->bound32 : r->bound64;
	int at = 0;

	for (int i = 0; i < COUNT; i++) {
		wide want = is_float ? r->want((float)x[i], (float)z[i]) : r->want(x[i], z[i]);
		double e = error_of(y[i], want, is_float ? 24 : 53, is_float ? -149 : -1074);

		if (bound < 0)
			e = isfinite(y[i]) && isfinite(want) && fabs(x[i]) < 1e5 && fabs(x[i]) > 1e-5 ?
				    (double)fabsl(y[i] - want) * (is_float ? 0x1p24 : 0x1p53) :
				    0;

		if (e > worst) {
			worst = e;
			at = i;
		}
	}
	printf("%-14s %s  %.3f of %g", r->name, is_float ? "f32" : "f64", worst, bound);
	if (worst > fabs(bound))
		printf("  WRONG at %.17g %.17g: %.17g, not %.20Lg", x[at], z[at], y[at],
		       is_float ? r->want((float)x[at], (float)z[at]) : r->want(x[at], z[at]));
	printf("\n");
	return worst > fabs(bound);
}

int main()
{
	static double x[COUNT], z[COUNT], y[COUNT];
	double *dx, *dz, *dy;
	int wrong = 0;

	cudaMalloc(&dx, sizeof(x));
	cudaMalloc(&dz, sizeof(x));
	cudaMalloc(&dy, sizeof(x));
	for (const struct row &r : rows)
		for (int is_float = 0; is_float < 2; is_float++) {
			state = 7;
			arguments(&r, x, z);
			cudaMemcpy(dx, x, sizeof(x), cudaMemcpyHostToDevice);
			cudaMemcpy(dz, z, sizeof(z), cudaMemcpyHostToDevice);
			(is_float ? r.f32 : r.f64)<<<COUNT / 128, 128>>>(dx, dz, dy);
			if (cudaMemcpy(y, dy, sizeof(y), cudaMemcpyDeviceToHost) != cudaSuccess) {
				printf("%s: %s\n", r.name, cudaGetErrorString(cudaGetLastError()));
				return 1;
			}
			wrong += check(&r, is_float, x, z, y);
		}
	puts(wrong ? "wrong" : "all right");
	return wrong != 0;
}
