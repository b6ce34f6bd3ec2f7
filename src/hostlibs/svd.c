/*
 * One-sided Jacobi: columns are rotated in pairs until all are orthogonal to each other. Accurate
 * to the last places for small singular values, too.
 */
#include "src/hostlibs/svd.h"

#include <math.h>

#define SWEEPS 60

/* The sum of conj(a) b. */
static struct hl_number column_product(s64 m, const struct hl_number *a, const struct hl_number *b)
{
	struct hl_number sum = {0, 0};

	for (s64 i = 0; i < m; i++) {
		sum.re += a[i].re * b[i].re + a[i].im * b[i].im;
		sum.im += a[i].re * b[i].im - a[i].im * b[i].re;
	}
	return sum;
}

static f64 column_norm(s64 m, const struct hl_number *a)
{
	return sqrt(column_product(m, a, a).re);
}

/* b turned by the phase, then both rotated. */
static void rotate_columns(s64 m, struct hl_number *a, struct hl_number *b, struct hl_number phase,
			   f64 c, f64 s)
{
	for (s64 i = 0; i < m; i++) {
		struct hl_number x = a[i], y = hl_mul(b[i], phase);

		a[i] = (struct hl_number){c * x.re - s * y.re, c * x.im - s * y.im};
		b[i] = (struct hl_number){s * x.re + c * y.re, s * x.im + c * y.im};
	}
}

/* False: they were orthogonal. */
static bool make_orthogonal(s64 m, s64 n, struct hl_number *x, struct hl_number *v, s64 p, s64 q)
{
	struct hl_number *a = x + p * m, *b = x + q * m, both = column_product(m, a, b);
	f64 aa = column_product(m, a, a).re, bb = column_product(m, b, b).re, size = hl_abs(both);
	f64 zeta, t, c;

	if (!(size > 1e-15 * sqrt(aa * bb)) || size == 0)
		return false;
	zeta = (bb - aa) / (2 * size);
	t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
	c = 1 / sqrt(1 + t * t);
	both = (struct hl_number){both.re / size, -both.im / size};
	rotate_columns(m, a, b, both, c, c * t);
	rotate_columns(n, v + p * n, v + q * n, both, c, c * t);
	return true;
}

static void swap_columns(s64 m, struct hl_number *a, struct hl_number *b)
{
	for (s64 i = 0; i < m; i++) {
		struct hl_number t = a[i];

		a[i] = b[i];
		b[i] = t;
	}
}

static void sort_values(s64 m, s64 n, struct hl_number *x, f64 *s, struct hl_number *v)
{
	for (s64 k = 0; k < n; k++) {
		s64 best = k;
		f64 t = s[k];

		for (s64 j = k + 1; j < n; j++)
			best = s[j] > s[best] ? j : best;
		if (best == k)
			continue;
		s[k] = s[best];
		s[best] = t;
		swap_columns(m, x + k * m, x + best * m);
		swap_columns(n, v + k * n, v + best * n);
	}
}

/* A column that is orthogonal to the first k: a unit vector, less what it has of them, twice. */
static void complete_column(s64 m, s64 k, struct hl_number *u)
{
	struct hl_number *to = u + k * m;
	f64 norm = 0;

	for (s64 e = 0; e < m && norm < 0.5 / sqrt((f64)m); e++) {
		for (s64 i = 0; i < m; i++)
			to[i] = (struct hl_number){i == e ? 1 : 0, 0};
		for (s64 j = 0; j < 2 * k; j++) {
			const struct hl_number *by = u + j % k * m;
			struct hl_number part = column_product(m, by, to);

			for (s64 i = 0; i < m; i++)
				to[i] = hl_sub(to[i], hl_mul(part, by[i]));
		}
		norm = column_norm(m, to);
	}
	for (s64 i = 0; i < m; i++)
		to[i] = (struct hl_number){to[i].re / norm, to[i].im / norm};
}

int hl_svd(s64 m, s64 n, struct hl_number *x, f64 *s, struct hl_number *v, s64 columns,
	   struct hl_number *u)
{
	int left = 1;

	for (s64 i = 0; i < n * n; i++)
		v[i] = (struct hl_number){i % (n + 1) ? 0 : 1, 0};
	for (int sweep = 0; left && sweep < SWEEPS; sweep++) {
		left = 0;
		for (s64 p = 0; p < n; p++)
			for (s64 q = p + 1; q < n; q++)
				left += make_orthogonal(m, n, x, v, p, q);
	}
	for (s64 j = 0; j < n; j++)
		s[j] = column_norm(m, x + j * m);
	sort_values(m, n, x, s, v);
	for (s64 j = 0; j < columns; j++) {
		/* What is only rounding has no direction. */
		if (j >= n || s[j] <= 1e-300 || s[j] < s[0] * 1e-18) {
			complete_column(m, j, u);
			continue;
		}
		for (s64 i = 0; i < m; i++)
			u[j * m + i] =
				(struct hl_number){x[j * m + i].re / s[j], x[j * m + i].im / s[j]};
	}
	return left;
}
