/*
 * Products: panels of the operands as sums' types, and what is stored of the sums.
 */
#include "src/hostlibs/gemm.h"
#include "src/hostlibs/blas.h"

#include <math.h>
#include <stdlib.h>

#define BLOCK_ROWS 512
#define BLOCK_COLUMNS 256
#define BLOCK_K 512

/* A part of D; `padded`: rows of the panel. */
struct block {
	s64 i, j, rows, columns, padded;
};

static void *element_at(const struct hl_matrix *m, s64 i, s64 j)
{
	return (u8 *)m->at + (i * m->row + j * m->column) * (s64)hl_bytes(m->type);
}

static bool has_complex(const struct hl_product *p)
{
	return hl_is_complex(p->a.type) || hl_is_complex(p->b.type) || hl_is_complex(p->c.type) ||
	       hl_is_complex(p->d.type);
}

static bool is_stored(const struct hl_product *p, s64 i, s64 j)
{
	return p->part == HL_ALL || (p->part == HL_UPPER ? i <= j : i >= j);
}

static bool is_touched(const struct hl_product *p, const struct block *b)
{
	return is_stored(p, b->i, b->j + b->columns - 1) || is_stored(p, b->i + b->rows - 1, b->j);
}

static struct hl_number row_alpha(const struct hl_product *p, s64 i)
{
	if (!p->epilogue.row_alpha)
		return p->alpha;
	/* alpha is what remains: factors of operands. */
	return hl_mul(p->alpha, hl_load(p->scale_type, (const u8 *)p->epilogue.row_alpha +
							       i * (s64)hl_bytes(p->scale_type)));
}

/* Integers of 32 bits, as they wrap around. */
static struct hl_number wrapped(const struct hl_product *p, s64 i, s64 j, f64 sum)
{
	u32 x = (u32)(s64)row_alpha(p, i).re * (u32)(s64)sum;

	if (p->beta.re != 0)
		x += (u32)(s64)p->beta.re *
		     (u32)(s64)hl_load(p->c.type, element_at(&p->c, i, j)).re;
	return (struct hl_number){(s32)x, 0};
}

/* Sums of integers are exact before they become f32. */
static struct hl_number scaled_narrow(const struct hl_product *p, s64 i, s64 j, f64 sum)
{
	f32 x = (f32)row_alpha(p, i).re * (f32)(s32)(u32)(s64)sum;

	if (p->beta.re != 0)
		x += (f32)p->beta.re * (f32)hl_load(p->c.type, element_at(&p->c, i, j)).re;
	return (struct hl_number){(f64)x, 0};
}

/* ---- epilogues ---- */

static f64 gelu(f64 x)
{
	return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

static f64 gelu_slope(f64 x)
{
	f64 t = tanh(0.7978845608028654 * (x + 0.044715 * x * x * x));

	return 0.5 * (1 + t) +
	       0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

/* What is beside element (i, j): a value, or for RELU a bit. */
static void *aux_at(const struct hl_epilogue *e, s64 i, s64 j)
{
	return (u8 *)e->aux + (i + j * e->aux_ld) * (s64)hl_bytes(e->aux_type);
}

static bool aux_bit(const struct hl_epilogue *e, s64 i, s64 j)
{
	s64 at = i + j * e->aux_ld;

	return ((const u8 *)e->aux)[at / 8] >> at % 8 & 1;
}

static void set_aux_bit(const struct hl_epilogue *e, s64 i, s64 j, bool on)
{
	s64 at = i + j * e->aux_ld;
	u8 *byte = (u8 *)e->aux + at / 8, bit = (u8)(1u << at % 8);

	*byte = on ? *byte | bit : *byte & (u8)~bit;
}

static f64 activate(const struct hl_epilogue *e, s64 i, s64 j, f64 x)
{
	switch (e->activation) {
	case HL_RELU:
		if (e->aux)
			set_aux_bit(e, i, j, x > 0);
		return x > 0 || isnan(x) ? x : 0;
	case HL_GELU:
		if (e->aux)
			hl_store(e->aux_type, aux_at(e, i, j), (struct hl_number){x, 0});
		return gelu(x);
	case HL_RELU_BACK:
		return aux_bit(e, i, j) ? x : 0;
	case HL_GELU_BACK:
		return x * gelu_slope(hl_load(e->aux_type, aux_at(e, i, j)).re);
	case HL_NO_ACTIVATION:
		return x;
	}
	return x;
}

static bool has_epilogue(const struct hl_epilogue *e)
{
	return e->activation || e->bias || e->bias_gradient || e->scale != 0 || e->largest;
}

static struct hl_number epilogue(const struct hl_product *p, s64 i, s64 j, struct hl_number x,
				 f64 *gradient)
{
	const struct hl_epilogue *e = &p->epilogue;

	if (e->bias)
		x = hl_add(x, hl_load(e->bias_type,
				      (const u8 *)e->bias + i * (s64)hl_bytes(e->bias_type)));
	x.re = activate(e, i, j, x.re);
	if (gradient)
		gradient[i] += x.re;
	if (e->largest && fabs(x.re) > (f64)*e->largest)
		*e->largest = (f32)fabs(x.re);
	if (e->scale != 0)
		x.re *= e->scale;
	return x;
}

/* ---- sums ---- */

#define REAL f32
#define SUM(name) name##_f32
#include "src/hostlibs/gemm_body.inc"
#undef REAL
#undef SUM
#define REAL f64
#define SUM(name) name##_f64
#include "src/hostlibs/gemm_body.inc"

bool hl_gemm(const struct hl_product *p)
{
	const struct hl_epilogue *e = &p->epilogue;
	f64 *gradient = NULL;
	bool ok = true;

	if (e->bias_gradient) {
		gradient = calloc((size_t)p->m + 1, sizeof(*gradient));
		if (!gradient)
			return false;
	}
	if (p->wide || hl_is_wide(p->a.type) || hl_is_wide(p->d.type))
		ok = product_f64(p, gradient);
	else
		ok = product_f32(p, gradient);
	for (s64 i = 0; ok && gradient && i < p->m; i++)
		hl_store(e->bias_type, (u8 *)e->bias_gradient + i * (s64)hl_bytes(e->bias_type),
			 (struct hl_number){gradient[i], 0});
	free(gradient);
	return ok;
}

/* ---- triangular systems ---- */

#define SOLVE_ROWS 48

/* op(m) from element (i, j) on, as a full matrix. */
static struct hl_matrix submatrix(const struct hl_matrix *m, s64 i, s64 j, enum hl_shape shape)
{
	struct hl_matrix sub = *m;

	sub.at = m->transposed ? element_at(m, j, i) : element_at(m, i, j);
	sub.shape = shape;
	return sub;
}

/* By substitution: row `first`, then the next ones on in the direction `step`. */
static void substitute(s64 n, bool lower, const struct hl_matrix *a, const f64 *re, const f64 *im,
		       struct hl_number *x)
{
	for (s64 s = 0; s < n; s++) {
		s64 k = lower ? s : n - 1 - s;

		if (!a->unit)
			x[k] = hl_div(x[k], (struct hl_number){re[k * n + k], im[k * n + k]});
		for (s64 i = lower ? k + 1 : 0; i < (lower ? n : k); i++)
			x[i] = hl_sub(x[i], hl_mul((struct hl_number){re[k * n + i], im[k * n + i]},
						   x[k]));
	}
}

static void solve_small(s64 n, s64 columns, struct hl_number alpha, const struct hl_matrix *a,
			const struct hl_matrix *b)
{
	f64 re[SOLVE_ROWS * SOLVE_ROWS], im[SOLVE_ROWS * SOLVE_ROWS];
	struct hl_number x[SOLVE_ROWS];

	memset(im, 0, sizeof(im));
	pack_f64(a, 0, 0, n, n, n, (struct parts_f64){{re, im}});
	for (s64 j = 0; j < columns; j++) {
		for (s64 i = 0; i < n; i++)
			x[i] = hl_mul(alpha, hl_load(b->type, element_at(b, i, j)));
		substitute(n, a->upper == a->transposed, a, re, im, x);
		for (s64 i = 0; i < n; i++)
			hl_store(b->type, element_at(b, i, j), x[i]);
	}
}

/* One half, its effect on the other one as a product, the other one. */
bool hl_solve(s64 n, s64 columns, struct hl_number alpha, const struct hl_matrix *a,
	      const struct hl_matrix *b)
{
	bool lower = a->upper == a->transposed;
	s64 half = n / 2, first = lower ? 0 : half, second = lower ? half : 0;
	s64 first_rows = lower ? half : n - half;
	struct hl_matrix a1, a2, b1 = *b, b2 = *b;
	struct hl_product p = {.m = n - first_rows, .n = columns, .k = first_rows};

	/* What is solved for nothing is nothing, whatever the matrix holds. */
	if (hl_is_zero(alpha)) {
		for (s64 j = 0; j < columns; j++)
			for (s64 i = 0; i < n; i++)
				hl_store(b->type, element_at(b, i, j), alpha);
		return true;
	}
	if (n <= SOLVE_ROWS) {
		solve_small(n, columns, alpha, a, b);
		return true;
	}
	a1 = submatrix(a, first, first, HL_TRIANGULAR);
	a2 = submatrix(a, second, second, HL_TRIANGULAR);
	b1.at = element_at(b, first, 0);
	b2.at = element_at(b, second, 0);
	if (!hl_solve(first_rows, columns, alpha, &a1, &b1))
		return false;
	p.alpha.re = -1;
	p.beta = alpha;
	p.a = submatrix(a, second, first, HL_FULL);
	p.b = b1;
	p.c = p.d = b2;
	return hl_gemm(&p) && hl_solve(n - first_rows, columns, (struct hl_number){1, 0}, &a2, &b2);
}
