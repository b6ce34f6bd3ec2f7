/*
 * Descriptions of cublasLt: the library's own where it is there, else these. Private to
 * runtime/libs.
 */
#ifndef PL_LIBS_CUBLAS_LT_H
#define PL_LIBS_CUBLAS_LT_H

#include "runtime/libs/cublas.h"

enum lt_kind { LT_DESC, LT_LAYOUT, LT_KINDS };

/* Attributes of a product. */
enum {
	LT_COMPUTE_TYPE = 0,
	LT_SCALE_TYPE = 1,
	LT_POINTER_MODE = 2,
	LT_TRANSA = 3,
	LT_TRANSB = 4,
	LT_TRANSC = 5,
	LT_FILL_MODE = 6,
	LT_EPILOGUE = 7,
	LT_BIAS_POINTER = 8,
	LT_BIAS_BATCH_STRIDE = 10,
	LT_AUX_POINTER = 11,
	LT_AUX_LD = 12,
	LT_AUX_BATCH_STRIDE = 13,
	LT_ALPHA_BATCH_STRIDE = 14,
	LT_A_SCALE = 17,
	LT_B_SCALE = 18,
	LT_C_SCALE = 19,
	LT_D_SCALE = 20,
	LT_AMAX_D = 21,
	LT_AUX_TYPE = 22,
	LT_AUX_SCALE = 23,
	LT_AUX_AMAX = 24,
	LT_BIAS_TYPE = 26,
	LT_A_SCALE_MODE = 31,
	LT_D_OUT_SCALE = 36,
	LT_DESC_ATTRIBUTES = 40,
};

/* Attributes of a matrix. */
enum {
	LT_TYPE = 0,
	LT_ORDER = 1,
	LT_ROWS = 2,
	LT_COLUMNS = 3,
	LT_LD = 4,
	LT_BATCH = 5,
	LT_STRIDE = 6,
	LT_PLANE = 7,
};

/*
 * An attribute, of 4 or 8 bytes, into *out, which keeps its value if the library does not know it.
 */
void lt_get(enum lt_kind kind, void *object, u32 attribute, size_t bytes, void *out);

static inline s64 lt_whole(enum lt_kind kind, void *object, u32 attribute, s64 otherwise)
{
	lt_get(kind, object, attribute, 8, &otherwise);
	return otherwise;
}

static inline int lt_word(enum lt_kind kind, void *object, u32 attribute, int otherwise)
{
	lt_get(kind, object, attribute, 4, &otherwise);
	return otherwise;
}

#endif
