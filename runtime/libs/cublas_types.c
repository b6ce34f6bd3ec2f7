/*
 * Which types of operands, of sums and of factors go together: the tables of cublasGemmEx and
 * cublasLtMatmul in NVIDIA's documentation. What is in none of them is refused.
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

/* What sums are; FAST: f32, for f32 alone. */
enum sums { NO_SUMS, SUMS_16F, SUMS_32F, SUMS_FAST, SUMS_64F, SUMS_32I };

static enum sums sums_of(int compute)
{
	switch (compute) {
	case COMPUTE_16F:
	case COMPUTE_16F_PEDANTIC:
	case HL_F16: /* before CUDA 11 it was a type */
		return SUMS_16F;
	case COMPUTE_32F:
	case COMPUTE_32F_PEDANTIC:
	case HL_F32:
	case HL_C32:
		return SUMS_32F;
	case COMPUTE_32F_FAST_16F:
	case COMPUTE_32F_FAST_16BF:
	case COMPUTE_32F_FAST_TF32:
	case COMPUTE_32F_EMULATED:
		return SUMS_FAST;
	case COMPUTE_64F:
	case COMPUTE_64F_PEDANTIC:
	case COMPUTE_64F_EMULATED:
	case HL_F64:
	case HL_C64:
		return SUMS_64F;
	case COMPUTE_32I:
	case COMPUTE_32I_PEDANTIC:
	case HL_S32:
		return SUMS_32I;
	default:
		return NO_SUMS;
	}
}

/* A and B are of one type, C and D of another one. */
static const struct {
	u8 sums, scale, ab, cd,
		bias; /* bias: its type with an epilogue; NO_EPILOGUE: none may be */
	bool lt;      /* cublasLt alone */
} rows[] = {
#define NO_EPILOGUE 0xff
	{SUMS_16F, HL_F16, HL_F16, HL_F16, HL_F16, false},
	{SUMS_32I, HL_S32, HL_S8, HL_S32, NO_EPILOGUE, false},
	{SUMS_32I, HL_F32, HL_S8, HL_S8, HL_F32, true},
	{SUMS_32F, HL_F32, HL_BF16, HL_BF16, HL_BF16, false},
	{SUMS_32F, HL_F32, HL_F16, HL_F16, HL_F16, false},
	{SUMS_32F, HL_F32, HL_S8, HL_F32, NO_EPILOGUE, false},
	{SUMS_32F, HL_F32, HL_BF16, HL_F32, HL_F32, false},
	{SUMS_32F, HL_F32, HL_F16, HL_F32, HL_F32, false},
	{SUMS_32F, HL_F32, HL_F32, HL_F32, HL_F32, false},
	{SUMS_32F, HL_C32, HL_C32, HL_C32, NO_EPILOGUE, false},
	{SUMS_FAST, HL_F32, HL_F32, HL_F32, HL_F32, false},
	{SUMS_FAST, HL_C32, HL_C32, HL_C32, NO_EPILOGUE, false},
	{SUMS_64F, HL_F64, HL_F64, HL_F64, HL_F64, false},
	{SUMS_64F, HL_C64, HL_C64, HL_C64, NO_EPILOGUE, false},
};

bool cublas_scale_of(int compute, u32 a, u32 b, u32 c, u32 *out)
{
	enum sums sums = sums_of(compute);

	for (size_t i = 0; sums != NO_SUMS && i < ARRAY_LEN(rows); i++)
		if (!rows[i].lt && rows[i].sums == sums && rows[i].ab == a && a == b &&
		    rows[i].cd == c) {
			*out = rows[i].scale;
			return true;
		}
	return false;
}

static bool is_float_8(u32 type)
{
	return type == HL_E4M3 || type == HL_E5M2;
}

/* Products of floats of 8 bits. */
static bool floats_8(const struct cublas_types *t, u32 *bias)
{
	bool wide = t->a == HL_E5M2 || t->b == HL_E5M2;

	if (!is_float_8(t->b) || (t->a == HL_E5M2 && t->b == HL_E5M2) || t->scale != HL_F32 ||
	    (t->c != HL_BF16 && t->c != HL_F16 && t->c != HL_F32))
		return false;
	*bias = t->c == HL_F16 ? HL_F16 : HL_BF16;
	return t->d == t->c || (t->c != HL_F32 && (t->d == HL_E4M3 || (t->d == HL_E5M2 && wide)));
}

bool cublas_lt_types(int compute, const struct cublas_types *t, u32 *bias, bool *epilogue)
{
	enum sums sums = sums_of(compute);

	*epilogue = true;
	if (compute < COMPUTE_16F)
		return false;
	if (is_float_8(t->a))
		return sums == SUMS_32F && floats_8(t, bias);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].sums == sums && rows[i].scale == t->scale && rows[i].ab == t->a &&
		    t->a == t->b && rows[i].cd == t->c && t->c == t->d) {
			*epilogue = rows[i].bias != NO_EPILOGUE;
			*bias = rows[i].bias;
			return true;
		}
	return false;
}
