/*
 * Lengths of small prime factors are decomposed (decimation in time, factor by factor); all others
 * become a convolution of a length that is a power of two (Bluestein).
 */
#include "src/hostlibs/fft.h"

#include <math.h>
#include <stdlib.h>

#define FACTORS_MAX 64
#define FACTOR_MAX 61 /* of those that are decomposed */
#define TWO_PI 6.283185307179586476925

struct hl_fft {
	s64 n;
	s64 factors[FACTORS_MAX];
	u32 factors_len;
	struct hl_number *roots;   /* exp(-2 pi i k / n) */
	struct hl_number *scratch; /* n */
	/* Of convolutions: the transform of their length, the chirp, its transform. */
	struct hl_fft *inner;
	struct hl_number *chirp, *kernel, *buffer;
};

/* False: a factor is too large. */
static bool fft_factorize(struct hl_fft *f)
{
	s64 n = f->n;

	while (n % 4 == 0) {
		f->factors[f->factors_len++] = 4;
		n /= 4;
	}
	for (s64 p = 2; p <= FACTOR_MAX; p++)
		for (; n % p == 0; n /= p)
			f->factors[f->factors_len++] = p;
	return n == 1;
}

static struct hl_number turn(f64 angle)
{
	return (struct hl_number){cos(angle), sin(angle)};
}

static struct hl_number *numbers_new(s64 n)
{
	return calloc((size_t)n, sizeof(struct hl_number));
}

static struct hl_number product_of(struct hl_number a, struct hl_number b)
{
	return (struct hl_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static bool prepare_chirp(struct hl_fft *f)
{
	s64 n = f->n, m = 1;

	while (m < 2 * n - 1)
		m *= 2;
	f->inner = hl_fft_new(m);
	f->chirp = numbers_new(n);
	f->kernel = numbers_new(m);
	f->buffer = numbers_new(m);
	if (!f->inner || !f->chirp || !f->kernel || !f->buffer)
		return false;
	for (s64 k = 0; k < n; k++) {
		/* k * k / 2n, of which whole turns do not count. */
		s64 at = (s64)((unsigned __int128)k * (u64)k % (u64)(2 * n));

		f->chirp[k] = turn(-TWO_PI / 2 * (f64)at / (f64)n);
		f->kernel[k] = hl_conj(f->chirp[k]);
		if (k)
			f->kernel[m - k] = f->kernel[k];
	}
	hl_fft_run(f->inner, f->kernel, -1);
	return true;
}

struct hl_fft *hl_fft_new(s64 n)
{
	struct hl_fft *f = calloc(1, sizeof(*f));
	bool ok = f != NULL;

	if (!f)
		return NULL;
	f->n = n;
	if (fft_factorize(f)) {
		f->roots = numbers_new(n);
		f->scratch = numbers_new(n);
		ok = f->roots && f->scratch;
		for (s64 k = 0; ok && k < n; k++)
			f->roots[k] = turn(-TWO_PI * (f64)k / (f64)n);
	} else {
		ok = prepare_chirp(f);
	}
	if (ok)
		return f;
	hl_fft_free(f);
	return NULL;
}

void hl_fft_free(struct hl_fft *f)
{
	if (!f)
		return;
	hl_fft_free(f->inner);
	free(f->roots);
	free(f->scratch);
	free(f->chirp);
	free(f->kernel);
	free(f->buffer);
	free(f);
}

/* The four terms of a butterfly, forward. */
static void butterfly_4(struct hl_number *t)
{
	struct hl_number a = hl_add(t[0], t[2]), b = hl_sub(t[0], t[2]);
	struct hl_number c = hl_add(t[1], t[3]), d = hl_sub(t[1], t[3]);

	t[0] = hl_add(a, c);
	t[2] = hl_sub(a, c);
	t[1] = (struct hl_number){b.re + d.im, b.im - d.re};
	t[3] = (struct hl_number){b.re - d.im, b.im + d.re};
}

/* The k-th of p parts of m numbers each, `step` turns of the whole apart. */
static void fft_combine(const struct hl_fft *f, struct hl_number *out, s64 k, s64 m, s64 p,
			s64 step)
{
	struct hl_number t[FACTOR_MAX];

	for (s64 r = 0; r < p; r++)
		t[r] = r ? product_of(out[r * m + k], f->roots[r * k * step]) : out[k];
	if (p == 4) {
		butterfly_4(t);
		for (s64 q = 0; q < 4; q++)
			out[q * m + k] = t[q];
		return;
	}
	for (s64 q = 0; q < p; q++) {
		struct hl_number sum = t[0];

		for (s64 r = 1; r < p; r++)
			sum = hl_add(sum, product_of(t[r], f->roots[q * r % p * m * step]));
		out[q * m + k] = sum;
	}
}

/* n numbers, `stride` apart; forward. */
static void decompose(const struct hl_fft *f, u32 factor, const struct hl_number *in, s64 stride,
		      struct hl_number *out, s64 n)
{
	s64 p, m;

	if (n == 1) {
		*out = *in;
		return;
	}
	p = f->factors[factor];
	m = n / p;
	for (s64 r = 0; r < p; r++)
		decompose(f, factor + 1, in + r * stride, stride * p, out + r * m, m);
	for (s64 k = 0; k < m; k++)
		fft_combine(f, out, k, m, p, stride);
}

static void convolve(struct hl_fft *f, struct hl_number *x)
{
	s64 n = f->n, m = f->inner->n;

	memset(f->buffer, 0, (size_t)m * sizeof(*f->buffer));
	for (s64 k = 0; k < n; k++)
		f->buffer[k] = product_of(x[k], f->chirp[k]);
	hl_fft_run(f->inner, f->buffer, -1);
	for (s64 k = 0; k < m; k++)
		f->buffer[k] = product_of(f->buffer[k], f->kernel[k]);
	hl_fft_run(f->inner, f->buffer, 1);
	for (s64 k = 0; k < n; k++) {
		x[k] = product_of(f->buffer[k], f->chirp[k]);
		x[k].re /= (f64)m;
		x[k].im /= (f64)m;
	}
}

/* The inverse is the transform of the conjugated numbers, conjugated. */
void hl_fft_run(struct hl_fft *f, struct hl_number *x, int sign)
{
	s64 n = f->n;

	for (s64 k = 0; sign > 0 && k < n; k++)
		x[k].im = -x[k].im;
	if (f->inner) {
		convolve(f, x);
	} else {
		memcpy(f->scratch, x, (size_t)n * sizeof(*x));
		decompose(f, 0, f->scratch, 1, x, n);
	}
	for (s64 k = 0; sign > 0 && k < n; k++)
		x[k].im = -x[k].im;
}
