/*
 * Products of full matrices: cublas?gemm, those of mixed types, and batches.
 */
#include "runtime/libs/cublas.h"

/* A matrix as a call of products names it. */
struct gemm_matrix {
	u64 at;
	u32 type;
	s64 ld, stride;
};

struct gemm_call {
	int ta, tb;
	s64 m, n, k, batch;
	bool arrays;
	const void *alpha, *beta;
	u32 scale; /* type of these */
	struct gemm_matrix a, b, c;
};

static int gemm_issue(struct libs_function *f, void *handle, const struct gemm_call *g)
{
	struct cublas_call c;
	int status = cublas_begin(&c, f, handle);

	if (status)
		return status;
	c.m = g->m;
	c.n = g->n;
	c.k = g->k;
	c.batch = g->batch;
	c.arrays = g->arrays;
	c.integers = g->scale == HL_S32;
	c.wide = g->scale == HL_F64 || g->scale == HL_C64;
	c.narrow_factors = g->scale == HL_F32;
	if (g->m < 0 || g->n < 0 || g->k < 0 || g->batch < 0)
		return CUBLAS_INVALID_VALUE;
	if (!cublas_take_matrix(&c.a, g->a.type, g->ta, g->m, g->k, g->a.at, g->a.ld) ||
	    !cublas_take_matrix(&c.b, g->b.type, g->tb, g->k, g->n, g->b.at, g->b.ld) ||
	    !cublas_take_matrix(&c.c, g->c.type, CUBLAS_N, g->m, g->n, g->c.at, g->c.ld))
		return CUBLAS_INVALID_VALUE;
	c.a.stride = g->a.stride;
	c.b.stride = g->b.stride;
	c.c.stride = g->c.stride;
	if (!cublas_take_scalar(&c, &c.alpha, g->scale, g->alpha) ||
	    !cublas_take_scalar(&c, &c.beta, g->scale, g->beta))
		return CUBLAS_INVALID_VALUE;
	return cublas_issue(&c);
}

static int mixed(struct libs_function *f, void *handle, struct gemm_call g, int compute)
{
	if (!cublas_scale_of(compute, g.a.type, g.b.type, g.c.type, &g.scale))
		return CUBLAS_NOT_SUPPORTED;
	return gemm_issue(f, handle, &g);
}

/* The name of the function says the type of the factors, whose sums are f32. */
static int with_factors(struct libs_function *f, void *handle, struct gemm_call g, u32 scale)
{
	u32 found;

	if (!cublas_scale_of(HL_F32, g.a.type, g.b.type, g.c.type, &found) || found != scale)
		return CUBLAS_NOT_SUPPORTED;
	g.scale = scale;
	return gemm_issue(f, handle, &g);
}

/* ---- entry points ---- */

#define BLAS(name, params, args, ...)                                                              \
	LIBS_FN(LIBS_CUBLAS, LIBS_MACHINE, name, params, args, __VA_ARGS__)
#define SHAPE .ta = ta, .tb = tb, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta

#define GEMM(name, type, I)                                                                        \
	BLAS(name,                                                                                 \
	     (void *h, int ta, int tb, I m, I n, I k, const void *alpha, u64 a, I lda, u64 b,      \
	      I ldb, const void *beta, u64 c, I ldc),                                              \
	     (h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc),                            \
	     gemm_issue(&f, h,                                                                     \
			&(struct gemm_call){SHAPE, .batch = 1, .scale = type,                      \
					    .a = {a, type, lda, 0}, .b = {b, type, ldb, 0},        \
					    .c = {c, type, ldc, 0}}))
#define GEMM_ARRAYS(name, type, I)                                                                 \
	BLAS(name,                                                                                 \
	     (void *h, int ta, int tb, I m, I n, I k, const void *alpha, u64 a, I lda, u64 b,      \
	      I ldb, const void *beta, u64 c, I ldc, I batch),                                     \
	     (h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, batch),                     \
	     gemm_issue(&f, h,                                                                     \
			&(struct gemm_call){SHAPE, .batch = batch, .arrays = true, .scale = type,  \
					    .a = {a, type, lda, 0}, .b = {b, type, ldb, 0},        \
					    .c = {c, type, ldc, 0}}))
#define GEMM_STRIDED(name, type, I)                                                                \
	BLAS(name,                                                                                 \
	     (void *h, int ta, int tb, I m, I n, I k, const void *alpha, u64 a, I lda, s64 sa,     \
	      u64 b, I ldb, s64 sb, const void *beta, u64 c, I ldc, s64 sc, I batch),              \
	     (h, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, batch),         \
	     gemm_issue(&f, h,                                                                     \
			&(struct gemm_call){SHAPE, .batch = batch, .scale = type,                  \
					    .a = {a, type, lda, sa}, .b = {b, type, ldb, sb},      \
					    .c = {c, type, ldc, sc}}))

#define GEMM_ALL(T, type)                                                                          \
	GEMM(cublas##T##gemm_v2, type, int)                                                        \
	GEMM(cublas##T##gemm_v2_64, type, s64)                                                     \
	GEMM_BATCHES(T##gemm, type)
#define GEMM_BATCHES(T, type)                                                                      \
	GEMM_ARRAYS(cublas##T##Batched, type, int)                                                 \
	GEMM_ARRAYS(cublas##T##Batched_64, type, s64)                                              \
	GEMM_STRIDED(cublas##T##StridedBatched, type, int)                                         \
	GEMM_STRIDED(cublas##T##StridedBatched_64, type, s64)

GEMM_ALL(S, HL_F32)
GEMM_ALL(D, HL_F64)
GEMM_ALL(C, HL_C32)
GEMM_ALL(Z, HL_C64)
GEMM(cublasHgemm, HL_F16, int)
GEMM(cublasHgemm_64, HL_F16, s64)
GEMM_BATCHES(Hgemm, HL_F16)
GEMM(cublasCgemm3m, HL_C32, int)
GEMM(cublasCgemm3m_64, HL_C32, s64)
GEMM(cublasZgemm3m, HL_C64, int)
GEMM(cublasZgemm3m_64, HL_C64, s64)
GEMM_BATCHES(Cgemm3m, HL_C32)

/* The factors have a type of their own. */
#define GEMM_TYPED(name, type, I)                                                                  \
	BLAS(name,                                                                                 \
	     (void *h, int ta, int tb, I m, I n, I k, const void *alpha, u64 a, u32 at, I lda,     \
	      u64 b, u32 bt, I ldb, const void *beta, u64 c, u32 ct, I ldc),                       \
	     (h, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc),                \
	     with_factors(&f, h,                                                                   \
			  (struct gemm_call){SHAPE, .batch = 1, .a = {a, at, lda, 0},              \
					     .b = {b, bt, ldb, 0}, .c = {c, ct, ldc, 0}},          \
			  type))
GEMM_TYPED(cublasSgemmEx, HL_F32, int)
GEMM_TYPED(cublasSgemmEx_64, HL_F32, s64)
GEMM_TYPED(cublasCgemmEx, HL_C32, int)
GEMM_TYPED(cublasCgemmEx_64, HL_C32, s64)
GEMM_TYPED(cublasCgemm3mEx, HL_C32, int)
GEMM_TYPED(cublasCgemm3mEx_64, HL_C32, s64)

#define GEMM_EX(suffix, I)                                                                         \
	BLAS(cublasGemmEx##suffix,                                                                 \
	     (void *h, int ta, int tb, I m, I n, I k, const void *alpha, u64 a, u32 at, I lda,     \
	      u64 b, u32 bt, I ldb, const void *beta, u64 c, u32 ct, I ldc, int compute,           \
	      int algo),                                                                           \
	     (h, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, compute, algo), \
	     mixed(&f, h,                                                                          \
		   (struct gemm_call){SHAPE, .batch = 1, .a = {a, at, lda, 0},                     \
				      .b = {b, bt, ldb, 0}, .c = {c, ct, ldc, 0}},                 \
		   compute))                                                                       \
	BLAS(cublasGemmBatchedEx##suffix,                                                          \
	     (void *h, int ta, int tb, I m, I n, I k, const void *alpha, u64 a, u32 at, I lda,     \
	      u64 b, u32 bt, I ldb, const void *beta, u64 c, u32 ct, I ldc, I batch, int compute,  \
	      int algo),                                                                           \
	     (h, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, batch, compute, \
	      algo),                                                                               \
	     mixed(&f, h,                                                                          \
		   (struct gemm_call){SHAPE, .batch = batch, .arrays = true, .a = {a, at, lda, 0}, \
				      .b = {b, bt, ldb, 0}, .c = {c, ct, ldc, 0}},                 \
		   compute))                                                                       \
	BLAS(cublasGemmStridedBatchedEx##suffix,                                                   \
	     (void *h, int ta, int tb, I m, I n, I k, const void *alpha, u64 a, u32 at, I lda,     \
	      s64 sa, u64 b, u32 bt, I ldb, s64 sb, const void *beta, u64 c, u32 ct, I ldc,        \
	      s64 sc, I batch, int compute, int algo),                                             \
	     (h, ta, tb, m, n, k, alpha, a, at, lda, sa, b, bt, ldb, sb, beta, c, ct, ldc, sc,     \
	      batch, compute, algo),                                                               \
	     mixed(&f, h,                                                                          \
		   (struct gemm_call){SHAPE, .batch = batch, .a = {a, at, lda, sa},                \
				      .b = {b, bt, ldb, sb}, .c = {c, ct, ldc, sc}},               \
		   compute))
GEMM_EX(, int)
GEMM_EX(_64, s64)
