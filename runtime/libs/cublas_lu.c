/*
 * Batches of small systems: LU factors, solutions, inverses; and sums and
 * scalings of matrices, which are no products either.
 */
#include "runtime/libs/cublas.h"
#include "src/hostlibs/lu.h"

#include <stdio.h>
#include <stdlib.h>

#define ILLEGAL_ADDRESS 700
#define OUT_OF_MEMORY 2

struct lu_call;
/* One of a batch: `x` has n by n numbers, `y` as many as the second operand. Returns its info. */
typedef int lu_fn(const struct lu_call *c, struct hl_number *x, struct hl_number *y, s32 *pivots);

struct lu_call {
	struct cublas_call c; /* a: the matrices, c: the second operand, unless its type is 0xff */
	lu_fn *fn;
	int op;
	bool stores_first, stores_pivots;
	u64 pivots, info; /* 0: there are none */
};

#define NOTHING 0xffu

static int factorize(const struct lu_call *c, struct hl_number *x, struct hl_number *y, s32 *pivots)
{
	(void)y;
	return hl_lu(c->c.n, x, pivots);
}

static int solve_factors(const struct lu_call *c, struct hl_number *x, struct hl_number *y,
			 s32 *pivots)
{
	hl_lu_solve(c->c.n, c->c.c.columns, x, pivots, c->op, y);
	return 0;
}

/* The inverse is the solution for the unit matrix; of a singular one it is not finite. */
static int invert_factors(const struct lu_call *c, struct hl_number *x, struct hl_number *y,
			  s32 *pivots)
{
	s64 n = c->c.n;
	int info = 0;

	for (s64 i = n; i-- > 0;)
		if (hl_is_zero(x[i + i * n]))
			info = (int)i + 1;
	for (s64 i = 0; i < n * n; i++)
		y[i] = (struct hl_number){i % (n + 1) ? 0 : 1, 0};
	hl_lu_solve(n, n, x, pivots, 0, y);
	return info;
}

static int invert(const struct lu_call *c, struct hl_number *x, struct hl_number *y, s32 *pivots)
{
	(void)hl_lu(c->c.n, x, pivots);
	return invert_factors(c, x, y, pivots);
}

/* ---- the work ---- */

static void load_all(const struct hl_matrix *m, s64 rows, s64 columns, struct hl_number *x)
{
	for (s64 i = 0; i < rows * columns; i++)
		x[i] = hl_load(m->type,
			       (const u8 *)m->at + (i % rows * m->row + i / rows * m->column) *
							   (s64)hl_bytes(m->type));
}

static void store_all(const struct hl_matrix *m, s64 rows, s64 columns, const struct hl_number *x)
{
	for (s64 i = 0; i < rows * columns; i++)
		hl_store(m->type,
			 (u8 *)m->at + (i % rows * m->row + i / rows * m->column) *
					       (s64)hl_bytes(m->type),
			 x[i]);
}

/* Memory for one of a batch. */
struct lu_room {
	struct hl_number *x, *y;
	s32 *pivots;
};

/* Pivots come from the device: each is the number of a row, from 1 on. */
static bool are_rows(const struct work_run *w, const s32 *pivots, s64 n)
{
	for (s64 i = 0; i < n; i++)
		if (pivots[i] < 1 || pivots[i] > n) {
			fprintf(stderr, "ptxloom: error: %s: pivot %lld is %d, of %lld rows\n",
				w->name, (long long)i, pivots[i], (long long)n);
			return false;
		}
	return true;
}

static int lu_one(const struct work_run *w, const struct lu_call *l, s64 i, struct lu_room *room)
{
	const struct cublas_call *c = &l->c;
	bool second = c->c.type != NOTHING;
	s64 n = c->n, columns = second ? c->c.columns : 0;
	struct work_memory m = {l->pivots + (u64)(i * n) * 4, (u64)n * 4, 1, 0, l->stores_pivots};
	struct work_memory result = {l->info + (u64)i * 4, 4, 1, 0, true};
	struct hl_matrix a, b = {0};
	void *pivots = l->pivots ? plrt_work_memory(w, &m) : NULL;
	s32 *info = l->info ? plrt_work_memory(w, &result) : NULL;
	int value;

	if ((l->pivots && !pivots) || (l->info && !info) ||
	    !cublas_find_operand(w, c, &c->a, i, l->stores_first, &a) ||
	    (second && !cublas_find_operand(w, c, &c->c, i, true, &b)))
		return ILLEGAL_ADDRESS;
	load_all(&a, n, n, room->x);
	if (second)
		load_all(&b, n, columns, room->y);
	if (pivots && !l->stores_pivots) {
		memcpy(room->pivots, pivots, (size_t)n * 4);
		if (!are_rows(w, room->pivots, n))
			return ILLEGAL_ADDRESS;
	}
	value = l->fn(l, room->x, room->y, l->pivots || l->fn == invert ? room->pivots : NULL);
	if (l->stores_first)
		store_all(&a, n, n, room->x);
	if (second)
		store_all(&b, n, columns, room->y);
	if (pivots && l->stores_pivots)
		memcpy(pivots, room->pivots, (size_t)n * 4);
	if (info)
		memcpy(info, &value, sizeof(value));
	return 0;
}

static int lu_run(void *data, const struct work_run *w)
{
	const struct lu_call *l = data;
	size_t n = (size_t)l->c.n, columns = l->c.c.type == NOTHING ? 0 : (size_t)l->c.c.columns;
	struct lu_room room = {malloc(n * n * sizeof(*room.x)),
			       malloc((n * columns + 1) * sizeof(*room.y)), malloc(n * 4)};
	int error = room.x && room.y && room.pivots ? 0 : OUT_OF_MEMORY;

	for (s64 i = 0; !error && i < l->c.batch; i++)
		error = lu_one(w, l, i, &room);
	free(room.x);
	free(room.y);
	free(room.pivots);
	return error;
}

/* What of a call names its arrays. */
struct lu_arrays {
	u64 a, c;
	s64 lda, ldc, columns; /* columns -1: there is no second one */
};

static int lu_issue(struct libs_function *f, void *handle, u32 type, struct lu_call l, s64 n,
		    const struct lu_arrays *x)
{
	s64 batch = l.c.batch;
	int status = cublas_begin(&l.c, f, handle);

	if (status)
		return status;
	if (n < 0 || batch < 0 || x->columns < -1 || l.op < CUBLAS_N || l.op > CUBLAS_C ||
	    !cublas_take_matrix(&l.c.a, type, CUBLAS_N, n, n, x->a, x->lda))
		return CUBLAS_INVALID_VALUE;
	l.c.c.type = NOTHING;
	if (x->columns >= 0 &&
	    !cublas_take_matrix(&l.c.c, type, CUBLAS_N, n, x->columns, x->c, x->ldc))
		return CUBLAS_INVALID_VALUE;
	l.c.n = n;
	l.c.batch = batch;
	l.c.arrays = true;
	return n && batch ? cublas_put(&l.c, lu_run, &l, sizeof(l)) : CUBLAS_SUCCESS;
}

static int getrs(struct libs_function *f, void *handle, u32 type, struct lu_call l, s64 n,
		 const struct lu_arrays *x, int *info)
{
	int status = x->columns < 0 ? CUBLAS_INVALID_VALUE : lu_issue(f, handle, type, l, n, x);

	if (info)
		*info = status == CUBLAS_INVALID_VALUE ? -1 : 0;
	return info ? status : CUBLAS_INVALID_VALUE;
}

/* ---- C = alpha op(A) + beta op(B), and A with a factor for each row or column ---- */

struct full_matrices {
	u64 a, b, c;
	s64 lda, ldb, ldc;
};

static struct hl_number full_element(const struct hl_matrix *m, s64 i, s64 j)
{
	s64 at = m->transposed ? j * m->row + i * m->column : i * m->row + j * m->column;
	struct hl_number x = hl_load(m->type, (const u8 *)m->at + at * (s64)hl_bytes(m->type));

	return m->conjugated ? hl_conj(x) : x;
}

static void *full_output(const struct hl_matrix *m, s64 i, s64 j)
{
	return (u8 *)m->at + (i * m->row + j * m->column) * (s64)hl_bytes(m->type);
}

static int geam_run(void *data, const struct work_run *w)
{
	const struct cublas_call *c = data;
	struct hl_number alpha, beta, zero = {0, 0};
	struct hl_matrix a, b, d;

	if (!cublas_read_scalar(w, &c->alpha, &alpha) || !cublas_read_scalar(w, &c->beta, &beta) ||
	    (!hl_is_zero(alpha) && !cublas_find_operand(w, c, &c->a, 0, false, &a)) ||
	    (!hl_is_zero(beta) && !cublas_find_operand(w, c, &c->b, 0, false, &b)) ||
	    !cublas_find_operand(w, c, &c->c, 0, true, &d))
		return ILLEGAL_ADDRESS;
	for (s64 j = 0; j < c->n; j++)
		for (s64 i = 0; i < c->m; i++) {
			struct hl_number x =
				hl_is_zero(alpha) ? zero : hl_mul(alpha, full_element(&a, i, j));

			if (!hl_is_zero(beta))
				x = hl_add(x, hl_mul(beta, full_element(&b, i, j)));
			hl_store(d.type, full_output(&d, i, j), x);
		}
	return 0;
}

static int geam(struct libs_function *f, void *handle, u32 type, int ta, int tb, s64 m, s64 n,
		const void *alpha, const void *beta, const struct full_matrices *x)
{
	struct cublas_call c;
	int status = cublas_begin(&c, f, handle);

	if (status)
		return status;
	if (m < 0 || n < 0 || !cublas_take_matrix(&c.a, type, ta, m, n, x->a, x->lda) ||
	    !cublas_take_matrix(&c.b, type, tb, m, n, x->b, x->ldb) ||
	    !cublas_take_matrix(&c.c, type, CUBLAS_N, m, n, x->c, x->ldc) ||
	    !cublas_take_scalar(&c, &c.alpha, type, alpha) ||
	    !cublas_take_scalar(&c, &c.beta, type, beta) ||
	    /* In place is for what is not transposed. */
	    (x->a == x->c && (ta || x->lda != x->ldc)) ||
	    (x->b == x->c && (tb || x->ldb != x->ldc)))
		return CUBLAS_INVALID_VALUE;
	c.m = m;
	c.n = n;
	return m && n ? cublas_put(&c, geam_run, &c, sizeof(c)) : CUBLAS_SUCCESS;
}

static int dgmm_run(void *data, const struct work_run *w)
{
	const struct cublas_call *c = data;
	struct hl_matrix a, x, d;

	if (!cublas_find_operand(w, c, &c->a, 0, false, &a) ||
	    !cublas_find_operand(w, c, &c->b, 0, false, &x) ||
	    !cublas_find_operand(w, c, &c->c, 0, true, &d))
		return ILLEGAL_ADDRESS;
	for (s64 j = 0; j < c->n; j++)
		for (s64 i = 0; i < c->m; i++)
			hl_store(d.type, full_output(&d, i, j),
				 hl_mul(full_element(&a, i, j),
					full_element(&x, c->k == CUBLAS_LEFT ? i : j, 0)));
	return 0;
}

static int dgmm(struct libs_function *f, void *handle, u32 type, int side, s64 m, s64 n,
		const struct full_matrices *x)
{
	struct cublas_call c;
	int status = cublas_begin(&c, f, handle);

	if (status)
		return status;
	if (m < 0 || n < 0 || (side != CUBLAS_LEFT && side != CUBLAS_RIGHT) ||
	    !cublas_take_matrix(&c.a, type, CUBLAS_N, m, n, x->a, x->lda) ||
	    !cublas_take_matrix(&c.c, type, CUBLAS_N, m, n, x->c, x->ldc))
		return CUBLAS_INVALID_VALUE;
	/* A step of zero is one factor for all. */
	if (!cublas_take_vector(&c.b, type, side == CUBLAS_LEFT ? m : n, x->b, x->ldb) && x->ldb)
		return CUBLAS_INVALID_VALUE;
	c.m = m;
	c.n = n;
	c.k = side;
	return m && n ? cublas_put(&c, dgmm_run, &c, sizeof(c)) : CUBLAS_SUCCESS;
}

/* ---- entry points ---- */

#define BLAS(name, params, args, ...)                                                              \
	LIBS_FN(LIBS_CUBLAS, LIBS_MACHINE, name, params, args, __VA_ARGS__)
#define CALL(...) ((struct lu_call){.c.batch = batch, __VA_ARGS__})

#define LU(T, type)                                                                                \
	BLAS(cublas##T##getrfBatched,                                                              \
	     (void *h, int n, u64 a, int lda, u64 p, u64 info, int batch),                         \
	     (h, n, a, lda, p, info, batch),                                                       \
	     lu_issue(&f, h, type,                                                                 \
		      CALL(.fn = factorize, .stores_first = true, .stores_pivots = true,           \
			   .pivots = p, .info = info),                                             \
		      n, &(struct lu_arrays){a, 0, lda, 1, -1}))                                   \
	BLAS(cublas##T##getrsBatched,                                                              \
	     (void *h, int op, int n, int columns, u64 a, int lda, u64 p, u64 b, int ldb,          \
	      int *info, int batch),                                                               \
	     (h, op, n, columns, a, lda, p, b, ldb, info, batch),                                  \
	     getrs(&f, h, type, CALL(.fn = solve_factors, .op = op, .pivots = p), n,               \
		   &(struct lu_arrays){a, b, lda, ldb, columns}, info))                            \
	BLAS(cublas##T##getriBatched,                                                              \
	     (void *h, int n, u64 a, int lda, u64 p, u64 c, int ldc, u64 info, int batch),         \
	     (h, n, a, lda, p, c, ldc, info, batch),                                               \
	     lu_issue(&f, h, type, CALL(.fn = invert_factors, .pivots = p, .info = info), n,       \
		      &(struct lu_arrays){a, c, lda, ldc, n}))                                     \
	BLAS(cublas##T##matinvBatched,                                                             \
	     (void *h, int n, u64 a, int lda, u64 c, int ldc, u64 info, int batch),                \
	     (h, n, a, lda, c, ldc, info, batch),                                                  \
	     n > 32 ? CUBLAS_INVALID_VALUE                                                         \
		    : lu_issue(&f, h, type, CALL(.fn = invert, .info = info), n,                   \
			       &(struct lu_arrays){a, c, lda, ldc, n}))

#define FULL(T, type, suffix, I)                                                                   \
	BLAS(cublas##T##geam##suffix,                                                              \
	     (void *h, int ta, int tb, I m, I n, const void *alpha, u64 a, I lda,                  \
	      const void *beta, u64 b, I ldb, u64 c, I ldc),                                       \
	     (h, ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc),                               \
	     geam(&f, h, type, ta, tb, m, n, alpha, beta,                                          \
		  &(struct full_matrices){a, b, c, lda, ldb, ldc}))                                \
	BLAS(cublas##T##dgmm##suffix,                                                              \
	     (void *h, int side, I m, I n, u64 a, I lda, u64 x, I incx, u64 c, I ldc),             \
	     (h, side, m, n, a, lda, x, incx, c, ldc),                                             \
	     dgmm(&f, h, type, side, m, n, &(struct full_matrices){a, x, c, lda, incx, ldc}))

#define OF_TYPE(T, type) LU(T, type) FULL(T, type, , int) FULL(T, type, _64, s64)
OF_TYPE(S, HL_F32)
OF_TYPE(D, HL_F64)
OF_TYPE(C, HL_C32)
OF_TYPE(Z, HL_C64)
