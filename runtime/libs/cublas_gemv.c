/*
 * Products of matrices with vectors, one or a batch of them: y = alpha op(A) x + beta y.
 */
#include "runtime/libs/cublas.h"

struct gemv_types {
	u32 ax, y, factors; /* of A and x, of y, of alpha and beta */
};

/* Where the operands are, or arrays of their addresses; strides of a batch without these. */
struct gemv_call {
	int op;
	s64 m, n, batch;
	bool arrays;
	const void *alpha, *beta;
	u64 a, x, y;
	s64 lda, step_x, step_y, stride_a, stride_x, stride_y;
};

static int gemv(struct libs_function *f, void *handle, struct gemv_types t,
		const struct gemv_call *g)
{
	struct cublas_call c;
	int status = cublas_begin(&c, f, handle);
	bool transposed = g->op == CUBLAS_T || g->op == CUBLAS_C;
	s64 rows = transposed ? g->n : g->m, columns = transposed ? g->m : g->n;

	if (status)
		return status;
	if (g->m < 0 || g->n < 0 || g->batch < 0 ||
	    !cublas_take_matrix(&c.a, t.ax, g->op, rows, columns, g->a, g->lda) ||
	    !cublas_take_vector(&c.b, t.ax, columns, g->x, g->step_x) ||
	    !cublas_take_vector(&c.c, t.y, rows, g->y, g->step_y) ||
	    !cublas_take_scalar(&c, &c.alpha, t.factors, g->alpha) ||
	    !cublas_take_scalar(&c, &c.beta, t.factors, g->beta))
		return CUBLAS_INVALID_VALUE;
	c.a.stride = g->stride_a;
	c.b.stride = g->stride_x;
	c.c.stride = g->stride_y;
	c.m = rows;
	c.n = 1;
	c.k = columns;
	c.batch = g->batch;
	c.arrays = g->arrays;
	c.wide = t.y == HL_F64 || t.y == HL_C64;
	return cublas_issue(&c);
}

#define BLAS(name, params, args, ...)                                                              \
	LIBS_FN(LIBS_CUBLAS, LIBS_MACHINE, name, params, args, __VA_ARGS__)
#define GEMV_CALL(...)                                                                             \
	(&(struct gemv_call){.op = op,                                                             \
			     .m = m,                                                               \
			     .n = n,                                                               \
			     .alpha = alpha,                                                       \
			     .beta = beta,                                                         \
			     .a = a,                                                               \
			     .x = x,                                                               \
			     .y = y,                                                               \
			     .lda = lda,                                                           \
			     .step_x = incx,                                                       \
			     .step_y = incy,                                                       \
			     __VA_ARGS__})

#define GEMV(name, I, ...)                                                                         \
	BLAS(name,                                                                                 \
	     (void *h, int op, I m, I n, const void *alpha, u64 a, I lda, u64 x, I incx,           \
	      const void *beta, u64 y, I incy),                                                    \
	     (h, op, m, n, alpha, a, lda, x, incx, beta, y, incy),                                 \
	     gemv(&f, h, (struct gemv_types){__VA_ARGS__}, GEMV_CALL(.batch = 1)))
#define GEMV_ARRAYS(name, I, ...)                                                                  \
	BLAS(name,                                                                                 \
	     (void *h, int op, I m, I n, const void *alpha, u64 a, I lda, u64 x, I incx,           \
	      const void *beta, u64 y, I incy, I batch),                                           \
	     (h, op, m, n, alpha, a, lda, x, incx, beta, y, incy, batch),                          \
	     gemv(&f, h, (struct gemv_types){__VA_ARGS__},                                         \
		  GEMV_CALL(.batch = batch, .arrays = true)))
#define GEMV_STRIDED(name, I, ...)                                                                 \
	BLAS(name,                                                                                 \
	     (void *h, int op, I m, I n, const void *alpha, u64 a, I lda, s64 sa, u64 x, I incx,   \
	      s64 sx, const void *beta, u64 y, I incy, s64 sy, I batch),                           \
	     (h, op, m, n, alpha, a, lda, sa, x, incx, sx, beta, y, incy, sy, batch),              \
	     gemv(&f, h, (struct gemv_types){__VA_ARGS__},                                         \
		  GEMV_CALL(.batch = batch, .stride_a = sa, .stride_x = sx, .stride_y = sy)))

/* Both widths of integers. */
#define GEMV_BATCHES(T, ...)                                                                       \
	GEMV_ARRAYS(cublas##T##gemvBatched, int, __VA_ARGS__)                                      \
	GEMV_ARRAYS(cublas##T##gemvBatched_64, s64, __VA_ARGS__)                                   \
	GEMV_STRIDED(cublas##T##gemvStridedBatched, int, __VA_ARGS__)                              \
	GEMV_STRIDED(cublas##T##gemvStridedBatched_64, s64, __VA_ARGS__)
#define GEMV_ALL(T, type)                                                                          \
	GEMV(cublas##T##gemv_v2, int, type, type, type)                                            \
	GEMV(cublas##T##gemv_v2_64, s64, type, type, type)                                         \
	GEMV_BATCHES(T, type, type, type)

GEMV_ALL(S, HL_F32)
GEMV_ALL(D, HL_F64)
GEMV_ALL(C, HL_C32)
GEMV_ALL(Z, HL_C64)
/* The letters: of A and x, of the factors, of y. */
GEMV_BATCHES(HSH, HL_F16, HL_F16, HL_F32)
GEMV_BATCHES(HSS, HL_F16, HL_F32, HL_F32)
GEMV_BATCHES(TST, HL_BF16, HL_BF16, HL_F32)
GEMV_BATCHES(TSS, HL_BF16, HL_F32, HL_F32)
