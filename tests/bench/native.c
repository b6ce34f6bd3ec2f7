/*
 * The kernels of kinds.cu in C. Compiled with -O3 for the host's base instruction set, as programs
 * are that have no options of their own.
 */
#include "tests/bench/native.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTER(type, n) (*(type *const *)args[n])
#define INT(n) (*(const int *)args[n])
#define LONG(n) (*(const long *)args[n])

void native_axpy(void *const *args)
{
	const float *x = POINTER(float, 0), *y = POINTER(float, 1);
	float *out = POINTER(float, 2);

	for (int i = 0; i < INT(3); i++)
		out[i] = 2.5f * x[i] + y[i];
}

void native_chain(void *const *args)
{
	const float *x = POINTER(float, 0), *y = POINTER(float, 1);
	float *out = POINTER(float, 2);

	for (int i = 0, n = INT(3); i < n; i++) {
		float a = x[i], b = y[i], s = a * b + 0.5f, d = a - b;

		s = s * d + a;
		d = (d > s ? d : s) * 0.25f;
		out[i] = sqrtf(fabsf(s + d)) + b;
	}
}

void native_jacobi(void *const *args)
{
	const float *in = POINTER(float, 0);
	float *out = POINTER(float, 1);
	int n = INT(2);

	for (int y = 1; y < n - 1; y++)
		for (int x = 1; x < n - 1; x++)
			out[y * n + x] =
				0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] +
					in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

void native_heat(void *const *args)
{
	const double *in = POINTER(double, 0);
	double *out = POINTER(double, 1);
	int n = INT(2), plane = n * n;

	for (int z = 1; z < n - 1; z++)
		for (int y = 1; y < n - 1; y++)
			for (int x = 1; x < n - 1; x++) {
				int i = z * plane + y * n + x;

				out[i] = 0.4 * in[i] +
					 0.1 * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] +
						in[i - plane] + in[i + plane]);
			}
}

void native_csr(void *const *args)
{
	const int *begin = POINTER(int, 0), *column = POINTER(int, 1);
	const float *value = POINTER(float, 2), *x = POINTER(float, 3);
	float *out = POINTER(float, 4);

	for (int row = 0; row < INT(5); row++) {
		float sum = 0;

		for (int k = begin[row]; k < begin[row + 1]; k++)
			sum += value[k] * x[column[k]];
		out[row] = sum;
	}
}

void native_histogram(void *const *args)
{
	const unsigned char *in = POINTER(unsigned char, 0);
	unsigned *out = POINTER(unsigned, 1);

	for (int i = 0; i < INT(2); i++)
		out[in[i]]++;
}

void native_crowd(void *const *args)
{
	const unsigned *in = POINTER(unsigned, 0);
	unsigned *out = POINTER(unsigned, 1);

	for (int i = 0; i < INT(2); i++)
		out[in[i] & 63] += in[i] >> 16;
}

void native_gather(void *const *args)
{
	const float *a = POINTER(float, 0), *b = POINTER(float, 1);
	const int *index = POINTER(int, 2);
	float *out = POINTER(float, 3);

	for (int i = 0; i < INT(4); i++) {
		const float *v = a + 4 * (index[i] & INT(5)), *w = b + 2 * (index[i] >> 8 & INT(5));

		out[i] = v[0] * w[0] + v[1] * w[1] + v[2] - v[3];
	}
}

void native_walk(void *const *args)
{
	const float *in = POINTER(float, 0);
	float *out = POINTER(float, 1);
	long n = LONG(2), rows = LONG(3);

	memset(out, 0, sizeof(float) * (size_t)rows);
	for (long k = 0; k < n; k++)
		for (long r = 0; r < rows; r++)
			out[r] += in[k * rows + r];
}

void native_nbody(void *const *args)
{
	const float *body = POINTER(float, 0);
	float *force = POINTER(float, 1);
	int n = INT(2);

	for (int i = 0; i < n; i++) {
		float x = 0, y = 0, z = 0;

		for (int k = 0; k < n; k++) {
			float dx = body[4 * k] - body[4 * i],
			      dy = body[4 * k + 1] - body[4 * i + 1],
			      dz = body[4 * k + 2] - body[4 * i + 2];
			float r = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f),
			      s = body[4 * k + 3] * r * r * r;

			x += dx * s;
			y += dy * s;
			z += dz * s;
		}
		force[4 * i] = x;
		force[4 * i + 1] = y;
		force[4 * i + 2] = z;
		force[4 * i + 3] = 0;
	}
}

void native_bitonic(void *const *args)
{
	unsigned *out = POINTER(unsigned, 1);
	int n = INT(2);

	memcpy(out, POINTER(unsigned, 0), sizeof(unsigned) * (size_t)n);
	for (unsigned *s = out; s < out + n; s += 512)
		for (int k = 2; k <= 512; k *= 2)
			for (int j = k / 2; j > 0; j /= 2)
				for (int t = 0; t < 512; t++) {
					int p = t ^ j;

					if (p > t && (s[t] > s[p]) == ((t & k) == 0)) {
						unsigned v = s[t];

						s[t] = s[p];
						s[p] = v;
					}
				}
}

static int clamp(int v, int top)
{
	return v < 0 ? 0 : v > top ? top : v;
}

void native_convolve(void *const *args)
{
	static const float weight[25] = {1, 2, 3, 2, 1, 2, 4, 6, 4, 2, 3, 6, 9,
					 6, 3, 2, 4, 6, 4, 2, 1, 2, 3, 2, 1};
	const float *in = POINTER(float, 0);
	float *out = POINTER(float, 1);
	int w = INT(2), h = INT(3);

	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++) {
			float sum = 0;

			for (int j = -2; j <= 2; j++)
				for (int i = -2; i <= 2; i++)
					sum += weight[(j + 2) * 5 + i + 2] *
					       in[clamp(y + j, h - 1) * w + clamp(x + i, w - 1)];
			out[y * w + x] = sum;
		}
}

void native_collatz(void *const *args)
{
	int *out = POINTER(int, 0);

	for (int i = 0; i < INT(1); i++) {
		int steps = 0;

		for (unsigned x = (unsigned)i + 1; x != 1; steps++)
			x = x & 1 ? 3 * x + 1 : x / 2;
		out[i] = steps;
	}
}

void native_transpose(void *const *args)
{
	const float *in = POINTER(float, 0);
	float *out = POINTER(float, 1);
	int n = INT(2);

	for (int y = 0; y < n; y++)
		for (int x = 0; x < n; x++)
			out[x * n + y] = in[y * n + x];
}
