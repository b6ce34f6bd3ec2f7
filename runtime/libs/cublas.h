/*
 * cuBLAS on the host: a call as data, and its checks. Private to runtime/libs.
 */
#ifndef PL_LIBS_CUBLAS_H
#define PL_LIBS_CUBLAS_H

#include "runtime/libs/libs.h"
#include "src/hostlibs/gemm.h"

enum cublas_status {
	CUBLAS_SUCCESS = 0,
	CUBLAS_NOT_INITIALIZED = 1,
	CUBLAS_ALLOC_FAILED = 3,
	CUBLAS_INVALID_VALUE = 7,
	CUBLAS_EXECUTION_FAILED = 13,
	CUBLAS_NOT_SUPPORTED = 15,
};

enum { CUBLAS_N, CUBLAS_T, CUBLAS_C, CUBLAS_CONJUGATE };
enum { CUBLAS_LOWER, CUBLAS_UPPER };
enum { CUBLAS_LEFT, CUBLAS_RIGHT };

/* What a handle says of a call. */
struct cublas_state {
	void *stream;
	bool on_device; /* scalars are */
};

/* Returns a status. */
int cublas_state(void *handle, struct cublas_state *out);

/* A factor, read when it may be: now, or by the work. */
struct cublas_scalar {
	u64 address; /* of the device; 0: `value` is it */
	u32 type;
	struct hl_number value;
};

/* An operand as it lies in device memory. */
struct cublas_operand {
	u64 at; /* or of an array of addresses */
	u32 type;
	s64 rows, columns, step, ld; /* as stored; elements from row to row, column to column */
	s64 stride;                  /* to the next one of a batch */
	u8 shape;                    /* enum hl_shape */
	bool transposed, conjugated, upper, unit;
	bool swapped; /* rows are columns, for triangular systems from the right */
};

enum cublas_kind {
	CUBLAS_PRODUCT,
	CUBLAS_RANK_2, /* with the product of the operands the other way round */
	CUBLAS_SOLVE,
};

struct cublas_call {
	struct libs_function *f;
	struct cublas_state state;
	enum cublas_kind kind;
	s64 m, n, k, batch;
	bool arrays; /* operands are arrays of addresses, on the device */
	bool integers, wide, narrow_factors, real_diagonal; /* as struct hl_product says */
	bool conjugated_alpha; /* of the second product of CUBLAS_RANK_2 */
	u8 part;               /* enum hl_part */
	struct cublas_scalar alpha, beta;
	struct cublas_operand a, b, c;
};

/* May it be a size or a step, up or down? No device has memory for more. */
bool cublas_is_size(s64 n);
/* Begin a call: its state, or the status that it returns. */
int cublas_begin(struct cublas_call *c, struct libs_function *f, void *handle);
/* A factor of a type that the program passes; false: NULL. */
bool cublas_take_scalar(const struct cublas_call *c, struct cublas_scalar *out, u32 type,
			const void *at);
/* A matrix of rows and columns as op leaves them. False: op or ld is not valid. */
bool cublas_take_matrix(struct cublas_operand *out, u32 type, int op, s64 rows, s64 columns, u64 at,
			s64 ld);
/* A square one of which one half is stored. */
bool cublas_take_half(struct cublas_operand *out, u32 type, enum hl_shape shape, int uplo, int op,
		      s64 n, u64 at, s64 ld);
/* n elements `step` apart, as a column. False: step is zero. */
bool cublas_take_vector(struct cublas_operand *out, u32 type, s64 n, u64 at, s64 step);
/* Put it into the stream; or other work, with `data` of its own. Returns a status. */
int cublas_issue(const struct cublas_call *c);
int cublas_put(const struct cublas_call *c, work_fn *fn, const void *data, size_t bytes);

/* Scalars and memory for work that runs. NULL, false: a fault, which has been reported. */
bool cublas_read_scalar(const struct work_run *w, const struct cublas_scalar *s,
			struct hl_number *out);
/* The i-th operand of a batch, where the host has it. */
bool cublas_find_operand(const struct work_run *w, const struct cublas_call *c,
			 const struct cublas_operand *o, s64 i, bool write, struct hl_matrix *out);
/* The type of the factors of GemmEx and its like; false: these types do not go together. */
bool cublas_scale_of(int compute, u32 a, u32 b, u32 c, u32 *out);
/* Types of a product of cublasLt. */
struct cublas_types {
	u32 a, b, c, d, scale;
};
/* May they be so? bias: the type that a bias has; epilogue: there may be any. */
bool cublas_lt_types(int compute, const struct cublas_types *t, u32 *bias, bool *epilogue);
/* status of CUDA as one of cuBLAS */
int cublas_status_of(int error);

#endif
