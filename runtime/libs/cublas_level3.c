/*
 * Levels 2 and 3 of BLAS: vectors as matrices of one column, symmetric and triangular operands as
 * shapes, so that each function is a product or a triangular system.
 */
#include "runtime/libs/cublas.h"

/* Both factors. Returns a status. */
static int take_factors(struct cublas_call *c, u32 alpha_type, const void *alpha, u32 beta_type,
			const void *beta)
{
	return cublas_take_scalar(c, &c->alpha, alpha_type, alpha) &&
			       cublas_take_scalar(c, &c->beta, beta_type, beta)
		       ? CUBLAS_SUCCESS
		       : CUBLAS_INVALID_VALUE;
}

static u32 real_type_of(u32 type)
{
	return type == HL_C32 ? HL_F32 : type == HL_C64 ? HL_F64 : type;
}

static void set_size(struct cublas_call *c, s64 m, s64 n, s64 k)
{
	c->m = m;
	c->n = n;
	c->k = k;
	c->wide = c->c.type == HL_F64 || c->c.type == HL_C64;
}

static int blas_finish(const struct cublas_call *c)
{
	return c->m < 0 || c->n < 0 || c->k < 0 ? CUBLAS_INVALID_VALUE : cublas_issue(c);
}

/* The factor one. */
static void factor_one(struct cublas_scalar *s)
{
	*s = (struct cublas_scalar){.type = HL_F64, .value = {1, 0}};
}

static void transpose(struct cublas_operand *o, bool conjugated)
{
	o->transposed = !o->transposed;
	o->conjugated = o->conjugated != conjugated;
}

/* ---- y = alpha A x + beta y ---- */

struct vectors {
	u64 x, y;
	s64 step_x, step_y;
};

static int symv(struct libs_function *f, void *handle, u32 type, enum hl_shape shape, int uplo,
		s64 n, const void *alpha, u64 a, s64 lda, const void *beta, struct vectors v)
{
	struct cublas_call c;
	int status = cublas_begin(&c, f, handle);

	if (status)
		return status;
	if (n < 0 || !cublas_take_half(&c.a, type, shape, uplo, CUBLAS_N, n, a, lda) ||
	    !cublas_take_vector(&c.b, type, n, v.x, v.step_x) ||
	    !cublas_take_vector(&c.c, type, n, v.y, v.step_y))
		return CUBLAS_INVALID_VALUE;
	set_size(&c, n, 1, n);
	status = take_factors(&c, type, alpha, type, beta);
	return status ? status : blas_finish(&c);
}

/* x = op(A) x, or the x of op(A) x' = x. */
static int trmv(struct libs_function *f, void *handle, u32 type, bool solve, int uplo, int op,
		int diag, s64 n, u64 a, s64 lda, struct vectors v)
{
	struct cublas_call c;
	int status = cublas_begin(&c, f, handle);

	if (status)
		return status;
	if (n < 0 || !cublas_take_half(&c.a, type, HL_TRIANGULAR, uplo, op, n, a, lda) ||
	    !cublas_take_vector(&c.b, type, n, v.x, v.step_x))
		return CUBLAS_INVALID_VALUE;
	c.a.unit = diag == 1;
	c.c = c.b;
	c.kind = solve ? CUBLAS_SOLVE : CUBLAS_PRODUCT;
	set_size(&c, n, 1, n);
	factor_one(&c.alpha);
	return blas_finish(&c);
}

/* A += alpha x y', or alpha (x y' + y x') in one half. */
static int ger(struct libs_function *f, void *handle, u32 type, bool conjugated, s64 m, s64 n,
	       const void *alpha, struct vectors v, u64 a, s64 lda)
{
	struct cublas_call c;
	int status = cublas_begin(&c, f, handle);

	if (status)
		return status;
	if (m < 0 || n < 0 || !cublas_take_matrix(&c.c, type, CUBLAS_N, m, n, a, lda) ||
	    !cublas_take_vector(&c.a, type, m, v.x, v.step_x) ||
	    !cublas_take_vector(&c.b, type, n, v.y, v.step_y) ||
	    !cublas_take_scalar(&c, &c.alpha, type, alpha))
		return CUBLAS_INVALID_VALUE;
	transpose(&c.b, conjugated);
	set_size(&c, m, n, 1);
	factor_one(&c.beta);
	return blas_finish(&c);
}

static int syr(struct libs_function *f, void *handle, u32 type, bool hermitian, bool two, int uplo,
	       s64 n, const void *alpha, struct vectors v, u64 a, s64 lda)
{
	struct cublas_call c;
	int status = cublas_begin(&c, f, handle);
	u32 alpha_type = hermitian && !two ? real_type_of(type) : type;

	if (status)
		return status;
	if (n < 0 || !cublas_take_half(&c.c, type, HL_FULL, uplo, CUBLAS_N, n, a, lda) ||
	    !cublas_take_vector(&c.a, type, n, v.x, v.step_x) ||
	    !cublas_take_vector(&c.b, type, n, v.y, v.step_y) ||
	    !cublas_take_scalar(&c, &c.alpha, alpha_type, alpha))
		return CUBLAS_INVALID_VALUE;
	transpose(&c.b, hermitian);
	c.kind = two ? CUBLAS_RANK_2 : CUBLAS_PRODUCT;
	c.conjugated_alpha = c.real_diagonal = hermitian;
	c.part = uplo == CUBLAS_UPPER ? HL_UPPER : HL_LOWER;
	set_size(&c, n, n, 1);
	factor_one(&c.beta);
	return blas_finish(&c);
}

/* ---- level 3 ---- */

/* What of a call names its matrices. */
struct matrices {
	u64 a, b, c;
	s64 lda, ldb, ldc;
	bool same; /* there is no B: it is A */
};

static int symm(struct libs_function *f, void *handle, u32 type, enum hl_shape shape, int side,
		int uplo, s64 m, s64 n, const void *alpha, const void *beta, struct matrices x)
{
	struct cublas_call c;
	int status = cublas_begin(&c, f, handle);
	bool left = side == CUBLAS_LEFT;
	struct cublas_operand half, full;

	if (status)
		return status;
	if (m < 0 || n < 0 || (!left && side != CUBLAS_RIGHT) ||
	    !cublas_take_half(&half, type, shape, uplo, CUBLAS_N, left ? m : n, x.a, x.lda) ||
	    !cublas_take_matrix(&full, type, CUBLAS_N, m, n, x.b, x.ldb) ||
	    !cublas_take_matrix(&c.c, type, CUBLAS_N, m, n, x.c, x.ldc))
		return CUBLAS_INVALID_VALUE;
	c.a = left ? half : full;
	c.b = left ? full : half;
	set_size(&c, m, n, left ? m : n);
	status = take_factors(&c, type, alpha, type, beta);
	return status ? status : blas_finish(&c);
}

/*
 * C = alpha A A' + beta C in one half, or with A B' for A A', or with A B' + B A' (two).
 */
static int syrk(struct libs_function *f, void *handle, u32 type, bool hermitian, bool two, int uplo,
		int op, s64 n, s64 k, const void *alpha, const void *beta, struct matrices x)
{
	struct cublas_call c;
	int status = cublas_begin(&c, f, handle);
	bool transposed = op == CUBLAS_T || op == CUBLAS_C, is_complex = hl_is_complex(type);
	/* Of herk alone; her2k and herkx have a complex alpha. */
	bool real_alpha = hermitian && x.same;
	int plain = transposed ? CUBLAS_T : CUBLAS_N;

	if (status)
		return status;
	if (n < 0 || k < 0 || op < CUBLAS_N || op > CUBLAS_C ||
	    (is_complex && op == (hermitian ? CUBLAS_T : CUBLAS_C)) ||
	    !cublas_take_matrix(&c.a, type, plain, n, k, x.a, x.lda) ||
	    !cublas_take_matrix(&c.b, type, plain, n, k, x.b, x.ldb) ||
	    !cublas_take_half(&c.c, type, HL_FULL, uplo, CUBLAS_N, n, x.c, x.ldc))
		return CUBLAS_INVALID_VALUE;
	c.b.transposed = !c.b.transposed;
	c.a.conjugated = hermitian && transposed;
	c.b.conjugated = hermitian && !transposed;
	c.kind = two ? CUBLAS_RANK_2 : CUBLAS_PRODUCT;
	c.conjugated_alpha = c.real_diagonal = hermitian;
	c.part = uplo == CUBLAS_UPPER ? HL_UPPER : HL_LOWER;
	set_size(&c, n, n, k);
	status = take_factors(&c, real_alpha ? real_type_of(type) : type, alpha,
			      hermitian ? real_type_of(type) : type, beta);
	return status ? status : blas_finish(&c);
}

struct triangle {
	int side, uplo, op, diag;
};

static int trmm(struct libs_function *f, void *handle, u32 type, struct triangle t, s64 m, s64 n,
		const void *alpha, struct matrices x)
{
	struct cublas_call c;
	int status = cublas_begin(&c, f, handle);
	bool left = t.side == CUBLAS_LEFT;
	struct cublas_operand half, full;

	if (status)
		return status;
	if (m < 0 || n < 0 || (!left && t.side != CUBLAS_RIGHT) ||
	    !cublas_take_half(&half, type, HL_TRIANGULAR, t.uplo, t.op, left ? m : n, x.a, x.lda) ||
	    !cublas_take_matrix(&full, type, CUBLAS_N, m, n, x.b, x.ldb) ||
	    !cublas_take_matrix(&c.c, type, CUBLAS_N, m, n, x.c, x.ldc) ||
	    !cublas_take_scalar(&c, &c.alpha, type, alpha))
		return CUBLAS_INVALID_VALUE;
	half.unit = t.diag == 1;
	c.a = left ? half : full;
	c.b = left ? full : half;
	set_size(&c, m, n, left ? m : n);
	return blas_finish(&c);
}

static int trsm(struct libs_function *f, void *handle, u32 type, struct triangle t, s64 m, s64 n,
		const void *alpha, struct matrices x, s64 batch)
{
	struct cublas_call c;
	int status = cublas_begin(&c, f, handle);
	bool left = t.side == CUBLAS_LEFT;

	if (status)
		return status;
	if (m < 0 || n < 0 || batch < -1 || (!left && t.side != CUBLAS_RIGHT) ||
	    !cublas_take_half(&c.a, type, HL_TRIANGULAR, t.uplo, t.op, left ? m : n, x.a, x.lda) ||
	    !cublas_take_matrix(&c.c, type, CUBLAS_N, m, n, x.b, x.ldb) ||
	    !cublas_take_scalar(&c, &c.alpha, type, alpha))
		return CUBLAS_INVALID_VALUE;
	c.a.unit = t.diag == 1;
	c.kind = CUBLAS_SOLVE;
	/* From the right it is the system of the transposed ones. */
	if (!left)
		c.a.transposed = !c.a.transposed;
	c.c.swapped = !left;
	c.arrays = batch >= 0;
	c.batch = c.arrays ? batch : 1;
	set_size(&c, left ? m : n, left ? n : m, 0);
	return blas_finish(&c);
}

/* ---- entry points ---- */

#define BLAS(name, params, args, ...)                                                              \
	LIBS_FN(LIBS_CUBLAS, LIBS_MACHINE, name, params, args, __VA_ARGS__)
#define X_Y                                                                                        \
	{                                                                                          \
		x, y, incx, incy                                                                   \
	}
/* Both widths of integers; T: the letter of the type. */
#define EACH(F, T, name, ...)                                                                      \
	F(cublas##T##name##_v2, int, __VA_ARGS__)                                                  \
	F(cublas##T##name##_v2_64, s64, __VA_ARGS__)
#define EACH_PLAIN(F, T, name, ...)                                                                \
	F(cublas##T##name, int, __VA_ARGS__)                                                       \
	F(cublas##T##name##_64, s64, __VA_ARGS__)
#define REALS(M, F, name, ...) M(F, S, name, HL_F32, __VA_ARGS__) M(F, D, name, HL_F64, __VA_ARGS__)
#define COMPLEX(M, F, name, ...)                                                                   \
	M(F, C, name, HL_C32, __VA_ARGS__) M(F, Z, name, HL_C64, __VA_ARGS__)
#define ALL(M, F, name, ...) REALS(M, F, name, __VA_ARGS__) COMPLEX(M, F, name, __VA_ARGS__)

#define SYMV(name, I, type, shape)                                                                 \
	BLAS(name,                                                                                 \
	     (void *h, int uplo, I n, const void *alpha, u64 a, I lda, u64 x, I incx,              \
	      const void *beta, u64 y, I incy),                                                    \
	     (h, uplo, n, alpha, a, lda, x, incx, beta, y, incy),                                  \
	     symv(&f, h, type, shape, uplo, n, alpha, a, lda, beta, (struct vectors)X_Y))
#define TRMV(name, I, type, solve)                                                                 \
	BLAS(name, (void *h, int uplo, int op, int diag, I n, u64 a, I lda, u64 x, I incx),        \
	     (h, uplo, op, diag, n, a, lda, x, incx),                                              \
	     trmv(&f, h, type, solve, uplo, op, diag, n, a, lda, (struct vectors){x, 0, incx, 1}))
#define GER(name, I, type, conjugated)                                                             \
	BLAS(name,                                                                                 \
	     (void *h, I m, I n, const void *alpha, u64 x, I incx, u64 y, I incy, u64 a, I lda),   \
	     (h, m, n, alpha, x, incx, y, incy, a, lda),                                           \
	     ger(&f, h, type, conjugated, m, n, alpha, (struct vectors)X_Y, a, lda))
#define SYR(name, I, type, hermitian)                                                              \
	BLAS(name, (void *h, int uplo, I n, const void *alpha, u64 x, I incx, u64 a, I lda),       \
	     (h, uplo, n, alpha, x, incx, a, lda),                                                 \
	     syr(&f, h, type, hermitian, false, uplo, n, alpha,                                    \
		 (struct vectors){x, x, incx, incx}, a, lda))
#define SYR2(name, I, type, hermitian)                                                             \
	BLAS(name,                                                                                 \
	     (void *h, int uplo, I n, const void *alpha, u64 x, I incx, u64 y, I incy, u64 a,      \
	      I lda),                                                                              \
	     (h, uplo, n, alpha, x, incx, y, incy, a, lda),                                        \
	     syr(&f, h, type, hermitian, true, uplo, n, alpha, (struct vectors)X_Y, a, lda))

ALL(EACH, SYMV, symv, HL_SYMMETRIC)
COMPLEX(EACH, SYMV, hemv, HL_HERMITIAN)
ALL(EACH, TRMV, trmv, false)
ALL(EACH, TRMV, trsv, true)
REALS(EACH, GER, ger, false)
COMPLEX(EACH, GER, geru, false)
COMPLEX(EACH, GER, gerc, true)
ALL(EACH, SYR, syr, false)
COMPLEX(EACH, SYR, her, true)
ALL(EACH, SYR2, syr2, false)
COMPLEX(EACH, SYR2, her2, true)

#define A_B_C                                                                                      \
	{                                                                                          \
		a, b, c, lda, ldb, ldc, false                                                      \
	}
#define SYMM(name, I, type, shape)                                                                 \
	BLAS(name,                                                                                 \
	     (void *h, int side, int uplo, I m, I n, const void *alpha, u64 a, I lda, u64 b,       \
	      I ldb, const void *beta, u64 c, I ldc),                                              \
	     (h, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc),                           \
	     symm(&f, h, type, shape, side, uplo, m, n, alpha, beta, (struct matrices)A_B_C))
#define SYRK(name, I, type, hermitian)                                                             \
	BLAS(name,                                                                                 \
	     (void *h, int uplo, int op, I n, I k, const void *alpha, u64 a, I lda,                \
	      const void *beta, u64 c, I ldc),                                                     \
	     (h, uplo, op, n, k, alpha, a, lda, beta, c, ldc),                                     \
	     syrk(&f, h, type, hermitian, false, uplo, op, n, k, alpha, beta,                      \
		  (struct matrices){a, a, c, lda, lda, ldc, true}))
#define SYR2K(name, I, type, hermitian, two)                                                       \
	BLAS(name,                                                                                 \
	     (void *h, int uplo, int op, I n, I k, const void *alpha, u64 a, I lda, u64 b, I ldb,  \
	      const void *beta, u64 c, I ldc),                                                     \
	     (h, uplo, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc),                             \
	     syrk(&f, h, type, hermitian, two, uplo, op, n, k, alpha, beta,                        \
		  (struct matrices)A_B_C))
#define TRMM(name, I, type, unused)                                                                \
	BLAS(name,                                                                                 \
	     (void *h, int side, int uplo, int op, int diag, I m, I n, const void *alpha, u64 a,   \
	      I lda, u64 b, I ldb, u64 c, I ldc),                                                  \
	     (h, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb, c, ldc),                       \
	     trmm(&f, h, type, (struct triangle){side, uplo, op, diag}, m, n, alpha,               \
		  (struct matrices)A_B_C))
#define TRSM(name, I, type, unused)                                                                \
	BLAS(name,                                                                                 \
	     (void *h, int side, int uplo, int op, int diag, I m, I n, const void *alpha, u64 a,   \
	      I lda, u64 b, I ldb),                                                                \
	     (h, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb),                               \
	     trsm(&f, h, type, (struct triangle){side, uplo, op, diag}, m, n, alpha,               \
		  (struct matrices){a, b, 0, lda, ldb, 1, false}, -1))
#define TRSM_BATCHED(name, I, type, unused)                                                        \
	BLAS(name,                                                                                 \
	     (void *h, int side, int uplo, int op, int diag, I m, I n, const void *alpha, u64 a,   \
	      I lda, u64 b, I ldb, I batch),                                                       \
	     (h, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb, batch),                        \
	     batch < 0 ? CUBLAS_INVALID_VALUE                                                      \
		       : trsm(&f, h, type, (struct triangle){side, uplo, op, diag}, m, n, alpha,   \
			      (struct matrices){a, b, 0, lda, ldb, 1, false}, batch))

ALL(EACH, SYMM, symm, HL_SYMMETRIC)
COMPLEX(EACH, SYMM, hemm, HL_HERMITIAN)
ALL(EACH, SYRK, syrk, false)
COMPLEX(EACH, SYRK, herk, true)
ALL(EACH, SYR2K, syr2k, false, true)
COMPLEX(EACH, SYR2K, her2k, true, true)
ALL(EACH_PLAIN, SYR2K, syrkx, false, false)
COMPLEX(EACH_PLAIN, SYR2K, herkx, true, false)
ALL(EACH, TRMM, trmm, 0)
ALL(EACH, TRSM, trsm, 0)
ALL(EACH_PLAIN, TRSM_BATCHED, trsmBatched, 0)
