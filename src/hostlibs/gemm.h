/*
 * Products of matrices on the host: D = epilogue(alpha * A * B + beta * C), for all types and
 * layouts that CUDA's libraries have. Symmetric, triangular and Hermitian operands are a matter of
 * how their elements are found, so that one product serves all of BLAS.
 *
 * Sums are f32, and f64 for f64 and integers. Panels are multiplied by the host's BLAS where there
 * is one (blas.h), else by a loop.
 */
#ifndef PL_HOSTLIBS_GEMM_H
#define PL_HOSTLIBS_GEMM_H

#include "src/hostlibs/number.h"

enum hl_shape { HL_FULL, HL_SYMMETRIC, HL_HERMITIAN, HL_TRIANGULAR };

/* Element (i, j) of what is stored is at[i * row + j * column]. */
struct hl_matrix {
	void *at;
	u32 type;
	s64 row, column; /* steps in elements */
	bool transposed, conjugated;
	enum hl_shape shape;
	bool upper; /* of the others: which half is stored, before it is transposed */
	bool unit;  /* of triangular ones: the diagonal is one */
};

enum hl_part { HL_ALL, HL_UPPER, HL_LOWER };

enum hl_activation { HL_NO_ACTIVATION, HL_RELU, HL_GELU, HL_RELU_BACK, HL_GELU_BACK };

/* What becomes of a sum before it is stored. Zeroed: nothing. */
struct hl_epilogue {
	enum hl_activation activation;
	const void *bias; /* an element for each row; NULL: none */
	u32 bias_type;
	/* The bias's gradient, a sum of each row, of the type of the bias; NULL: is not wanted. */
	void *bias_gradient;
	/* Before the activation: values, for RELU bits; read by those that go back. */
	void *aux;
	u32 aux_type;
	s64 aux_ld;   /* in elements, or bits */
	f64 scale;    /* of what is stored; 0: none */
	f32 *largest; /* gets the largest magnitude before that scale; NULL: is not wanted */
	const void *row_alpha; /* a factor for each row, beside alpha; NULL: none */
};

struct hl_product {
	s64 m, n, k;
	struct hl_number alpha, beta;
	struct hl_matrix a, b, c, d; /* c and d may be one; they are full and not transposed */
	enum hl_part part;           /* what of d is written */
	bool real_diagonal;          /* of d, whose imaginary parts become zero */
	bool integers;               /* sums wrap around as those of 32 bits */
	bool wide;                   /* sums are f64 whatever the types */
	bool narrow_factors;         /* what is done with sums is done in f32 whatever these are */
	u32 scale_type;              /* of row_alpha */
	struct hl_epilogue epilogue;
};

/* False: there is no memory for the panels. */
bool hl_gemm(const struct hl_product *p);

/*
 * Solve op(A) X = alpha B for triangular A, of n rows, in place of B, which has `columns`; both as
 * hl_matrix says, so that B may be transposed. False: there is no memory.
 */
bool hl_solve(s64 n, s64 columns, struct hl_number alpha, const struct hl_matrix *a,
	      const struct hl_matrix *b);

#endif
