/*
 * Products of full matrices: cublas?gemm, those of mixed types, and batches.
 */
#include "runtime/libs/cublas.h"

/* cublasComputeType_t */
enum {
	COMPUTE_16F = 64,
	COMPUTE_16F_PEDANTIC = 65,
	COMPUTE_32F = 68,
	COMPUTE_32F_PEDANTIC = 69,
	COMPUTE_64F = 70,
	COMPUTE_64F_PEDANTIC = 71,
	COMPUTE_32I = 72,
	COMPUTE_32I_PEDANTIC = 73,
	COMPUTE_32F_FAST_16F = 74,
	COMPUTE_32F_FAST_16BF = 75,
	COMPUTE_32F_FAST_TF32 = 77,
	COMPUTE_32F_EMULATED = 78,
	COMPUTE_64F_EMULATED = 79,
};

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

/* ---- which types go together ---- */

static bool one_of(u32 type, const u8 *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == type)
			return true;
	return false;
}

static bool floats_go_together(u32 ab, u32 c)
{
	static const u8 small[] = {HL_F16, HL_BF16, HL_F32, HL_C32}, of_integers[] = {HL_F32};

	return ab == HL_S8 ? one_of(c, of_integers, sizeof(of_integers))
			   : (c == ab || (c == HL_F32 && (ab == HL_F16 || ab == HL_BF16))) &&
				     one_of(ab, small, sizeof(small));
}

/* The type of the factors of GemmEx and its like; false: these types do not go together. */
static bool scale_of(int compute, u32 a, u32 b, u32 c, u32 *out)
{
	if (a != b)
		return false;
	switch (compute) {
	case COMPUTE_16F:
	case COMPUTE_16F_PEDANTIC:
		*out = HL_F16;
		return a == HL_F16 && c == HL_F16;
	case COMPUTE_32I:
	case COMPUTE_32I_PEDANTIC:
		*out = HL_S32;
		return a == HL_S8 && c == HL_S32;
	case COMPUTE_64F:
	case COMPUTE_64F_PEDANTIC:
	case COMPUTE_64F_EMULATED:
		*out = a;
		return (a == HL_F64 || a == HL_C64) && c == a;
	case COMPUTE_32F:
	case COMPUTE_32F_PEDANTIC:
		*out = hl_is_complex(c) ? HL_C32 : HL_F32;
		return floats_go_together(a, c);
	case COMPUTE_32F_FAST_16F:
	case COMPUTE_32F_FAST_16BF:
	case COMPUTE_32F_FAST_TF32:
	case COMPUTE_32F_EMULATED:
		*out = hl_is_complex(c) ? HL_C32 : HL_F32;
		return (a == HL_F32 || a == HL_C32) && c == a;
	/* Before CUDA 11 it was a type. */
	case HL_F16:
	case HL_F32:
	case HL_F64:
	case HL_C32:
	case HL_C64:
	case HL_S32:
		*out = (u32)compute;
		return compute == HL_F32 ? floats_go_together(a, c) : true;
	default:
		return false;
	}
}

static int mixed(struct libs_function *f, void *handle, struct gemm_call g, int compute)
{
	if (!scale_of(compute, g.a.type, g.b.type, g.c.type, &g.scale))
		return CUBLAS_NOT_SUPPORTED;
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
	     mixed(&f, h,                                                                          \
		   (struct gemm_call){SHAPE, .batch = 1, .a = {a, at, lda, 0},                     \
				      .b = {b, bt, ldb, 0}, .c = {c, ct, ldc, 0}},                 \
		   COMPUTE_32F))
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
