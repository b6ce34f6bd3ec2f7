/*
 * For programs that call libraries which they do not link: functions by their
 * names, matrices of complex numbers here and of any type on the device.
 */
#ifndef PL_TESTS_HOSTLIBS_DEVICE_H
#define PL_TESTS_HOSTLIBS_DEVICE_H

#include "tests/check.h"

#include <complex.h>
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef double complex number;

/* Types as cudaDataType has them. */
enum { F32 = 0, F64 = 1, F16 = 2, S8 = 3, C32 = 4, C64 = 5, S32 = 10, BF16 = 14 };

static const char letters[] = "SDCZ";
static const int types[] = {F32, F64, C32, C64};
static const double bounds[] = {2e-4, 1e-12, 2e-4, 1e-12};

/* Any function: the arguments have the very types of its parameters. */
typedef int any_fn();

static any_fn *named(const char *name)
{
	any_fn *f = (any_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, name);

	if (!f) {
		printf("Bail out! there is no %s\n", name);
		exit(1);
	}
	return f;
}

/* cublas, a letter, the rest. */
static any_fn *blas(int type, const char *rest)
{
	char name[64];

	snprintf(name, sizeof(name), "cublas%c%s", letters[type], rest);
	return named(name);
}

static int bytes_of(int type)
{
	return type == F64 || type == C32    ? 8
	       : type == C64                 ? 16
	       : type == S8                  ? 1
	       : type == F16 || type == BF16 ? 2
					     : 4;
}

static uint32_t bits_of_f32(float x)
{
	uint32_t b;

	memcpy(&b, &x, 4);
	return b;
}

/* To nearest even. */
static uint16_t half_of(double x)
{
	int e = x == 0 ? -14 : ilogb(x);
	double m = nearbyint(ldexp(fabs(x), 10 - (e < -14 ? -14 : e)));

	return (uint16_t)((signbit(x) ? 0x8000 : 0) + (int)m + ((e < -14 ? -14 : e) + 14) * 0x400);
}

static uint16_t bf16_of(double x)
{
	uint32_t b = bits_of_f32((float)x);

	return (uint16_t)((b + 0x7fff + (b >> 16 & 1)) >> 16);
}

static double of_half(uint16_t h)
{
	double m = (h & 0x3ff) | (h & 0x7c00 ? 0x400 : 0);
	int e = h >> 10 & 31;

	return (h & 0x8000 ? -1 : 1) * ldexp(m, (e ? e : 1) - 25);
}

static void put(int type, void *at, number x)
{
	float f[2] = {(float)creal(x), (float)cimag(x)};
	double d[2] = {creal(x), cimag(x)};
	int32_t i = (int32_t)creal(x);
	uint16_t h = type == F16 ? half_of(creal(x)) : bf16_of(creal(x));

	if (type == F32 || type == C32)
		memcpy(at, f, (size_t)bytes_of(type));
	else if (type == F64 || type == C64)
		memcpy(at, d, (size_t)bytes_of(type));
	else if (type == S32)
		memcpy(at, &i, 4);
	else if (type == S8)
		*(int8_t *)at = (int8_t)i;
	else
		memcpy(at, &h, 2);
}

static number get(int type, const void *at)
{
	float f[2] = {0, 0};
	double d[2] = {0, 0};
	int32_t i;
	uint16_t h;
	uint32_t b;

	switch (type) {
	case F32:
	case C32:
		memcpy(f, at, (size_t)bytes_of(type));
		return f[0] + f[1] * I;
	case F64:
	case C64:
		memcpy(d, at, (size_t)bytes_of(type));
		return d[0] + d[1] * I;
	case S32:
		memcpy(&i, at, 4);
		return i;
	case S8:
		return *(const int8_t *)at;
	default:
		memcpy(&h, at, 2);
		b = (uint32_t)h << 16;
		memcpy(f, &b, 4);
		return type == F16 ? of_half(h) : f[0];
	}
}

/* ---- memory of the device ---- */

static void *device_new(size_t bytes)
{
	void *p = NULL;

	if (named("cudaMalloc")(&p, bytes + 1))
		exit(1);
	return p;
}

static void *upload(int type, const number *x, size_t n)
{
	size_t size = (size_t)bytes_of(type);
	char *t = malloc(n * size + 1);
	void *p = device_new(n * size);

	for (size_t i = 0; t && i < n; i++)
		put(type, t + i * size, x[i]);
	named("cudaMemcpy")(p, t, n * size, 1);
	free(t);
	return p;
}

static void download(int type, void *from, number *x, size_t n)
{
	size_t size = (size_t)bytes_of(type);
	char *t = malloc(n * size + 1);

	named("cudaMemcpy")(t, from, n * size, 2);
	for (size_t i = 0; t && i < n; i++)
		x[i] = get(type, t + i * size);
	free(t);
}

static void device_free(void *p)
{
	named("cudaFree")(p);
}

/* ---- numbers ---- */

static uint32_t random_state = 1;

static double random_number(void)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (double)(random_state >> 8) / (1 << 23) - 1;
}

/* Real ones for real types. */
static void fill_random(int type, number *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = random_number() + (type == C32 || type == C64 ? random_number() * I : 0);
}

/* The largest distance. */
static double distance(const number *x, const number *y, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		double d = cabs(x[i] - y[i]);

		if (!(d <= most))
			most = d;
	}
	return most;
}

#endif
