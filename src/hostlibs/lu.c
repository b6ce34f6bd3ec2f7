/*
 * LU factors with partial pivoting, and systems of them.
 */
#include "src/hostlibs/lu.h"

#include <math.h>

static void lu_exchange(struct hl_number *x, s64 n, s64 columns, s64 a, s64 b)
{
	for (s64 j = 0; a != b && j < columns; j++) {
		struct hl_number t = x[a + j * n];

		x[a + j * n] = x[b + j * n];
		x[b + j * n] = t;
	}
}

/* As LAPACK compares them. */
static f64 pivot_size(struct hl_number a)
{
	return fabs(a.re) + fabs(a.im);
}

int hl_lu(s64 n, struct hl_number *x, s32 *pivots)
{
	int info = 0;

	for (s64 k = 0; k < n; k++) {
		s64 best = k;

		for (s64 i = k + 1; pivots && i < n; i++)
			if (pivot_size(x[i + k * n]) > pivot_size(x[best + k * n]))
				best = i;
		if (pivots)
			pivots[k] = (s32)best + 1;
		lu_exchange(x, n, n, k, best);
		if (hl_is_zero(x[k + k * n])) {
			info = info ? info : (int)k + 1;
			continue;
		}
		for (s64 i = k + 1; i < n; i++)
			x[i + k * n] = hl_div(x[i + k * n], x[k + k * n]);
		for (s64 j = k + 1; j < n; j++)
			for (s64 i = k + 1; i < n; i++)
				x[i + j * n] =
					hl_sub(x[i + j * n], hl_mul(x[i + k * n], x[k + j * n]));
	}
	return info;
}

/* Element (i, j) of op(lu). */
static struct hl_number lu_at(const struct hl_number *lu, s64 n, int op, s64 i, s64 j)
{
	struct hl_number x = op ? lu[j + i * n] : lu[i + j * n];

	return op == 2 ? hl_conj(x) : x;
}

/* One triangle of op(lu), from its first row on or its last one. */
static void lu_substitute(s64 n, const struct hl_number *lu, int op, bool down, bool unit,
			  struct hl_number *b)
{
	for (s64 s = 0; s < n; s++) {
		s64 k = down ? s : n - 1 - s;

		if (!unit)
			b[k] = hl_div(b[k], lu_at(lu, n, op, k, k));
		for (s64 i = down ? k + 1 : 0; i < (down ? n : k); i++)
			b[i] = hl_sub(b[i], hl_mul(lu_at(lu, n, op, i, k), b[k]));
	}
}

void hl_lu_solve(s64 n, s64 columns, const struct hl_number *lu, const s32 *pivots, int op,
		 struct hl_number *b)
{
	for (s64 i = 0; pivots && !op && i < n; i++)
		lu_exchange(b, n, columns, i, pivots[i] - 1);
	for (s64 j = 0; j < columns; j++) {
		lu_substitute(n, lu, op, true, !op, b + j * n);
		lu_substitute(n, lu, op, false, op != 0, b + j * n);
	}
	for (s64 i = n; pivots && op && i-- > 0;)
		lu_exchange(b, n, columns, i, pivots[i] - 1);
}
