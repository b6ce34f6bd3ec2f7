/*
 * Objects of cublasLt for programs without the library: attributes by number.
 */
#include "runtime/libs/cublas_lt.h"

#include <stdlib.h>

#define MAGIC 0x707478626c744c74u

struct lt_object {
	u64 magic;
	u64 set; /* bit i: attribute i */
	u64 value[LT_DESC_ATTRIBUTES];
};

static struct lt_object *lt_own(void *object)
{
	struct lt_object *o = object;

	return o && o->magic == MAGIC ? o : NULL;
}

void lt_get(enum lt_kind kind, void *object, u32 attribute, size_t bytes, void *out)
{
	static struct libs_function fns[LT_KINDS] = {
		{"cublasLtMatmulDescGetAttribute", LIBS_CUBLAS, LIBS_NONE, NULL},
		{"cublasLtMatrixLayoutGetAttribute", LIBS_CUBLAS, LIBS_NONE, NULL}};
	int (*get)(void *, int, void *, size_t, size_t *);
	struct lt_object *o = lt_own(object);
	u64 value = 0;
	size_t written = 0;

	if (o) {
		if (o->set >> attribute & 1)
			memcpy(out, &o->value[attribute], bytes);
		return;
	}
	get = (int (*)(void *, int, void *, size_t, size_t *))(uintptr_t)libs_next(&fns[kind],
										   NULL);
	if (get && !get(object, (int)attribute, &value, bytes, &written))
		memcpy(out, &value, bytes);
}

static int lt_new(void **out)
{
	struct lt_object *o;

	if (!out)
		return CUBLAS_INVALID_VALUE;
	o = calloc(1, sizeof(*o));
	*out = o;
	if (!o)
		return CUBLAS_ALLOC_FAILED;
	o->magic = MAGIC;
	return CUBLAS_SUCCESS;
}

static int lt_free(void *object)
{
	struct lt_object *o = lt_own(object);

	if (!o)
		return CUBLAS_INVALID_VALUE;
	o->magic = 0;
	free(o);
	return CUBLAS_SUCCESS;
}

static int lt_set(void *object, u32 attribute, const void *value, size_t bytes)
{
	struct lt_object *o = lt_own(object);

	if (!o || !value || attribute >= LT_DESC_ATTRIBUTES || !bytes || bytes > 8)
		return CUBLAS_INVALID_VALUE;
	o->value[attribute] = 0;
	memcpy(&o->value[attribute], value, bytes);
	o->set |= (u64)1 << attribute;
	return CUBLAS_SUCCESS;
}

static int lt_query(void *object, u32 attribute, void *value, size_t bytes, size_t *written)
{
	struct lt_object *o = lt_own(object);

	if (!o || attribute >= LT_DESC_ATTRIBUTES || (bytes && !value) || bytes > 8)
		return CUBLAS_INVALID_VALUE;
	if (bytes)
		memcpy(value, &o->value[attribute], bytes);
	if (written)
		*written = bytes;
	return CUBLAS_SUCCESS;
}

static int lt_new_desc(void **out, int compute, int scale)
{
	int status = lt_new(out), epilogue = 1, whole = 2;

	if (status)
		return status;
	lt_set(*out, LT_COMPUTE_TYPE, &compute, 4);
	lt_set(*out, LT_SCALE_TYPE, &scale, 4);
	lt_set(*out, LT_FILL_MODE, &whole, 4);
	return lt_set(*out, LT_EPILOGUE, &epilogue, 4);
}

static int lt_new_layout(void **out, int type, u64 rows, u64 columns, s64 ld)
{
	int status = lt_new(out), one = 1;

	if (status)
		return status;
	lt_set(*out, LT_TYPE, &type, 4);
	lt_set(*out, LT_BATCH, &one, 4);
	lt_set(*out, LT_ROWS, &rows, 8);
	lt_set(*out, LT_COLUMNS, &columns, 8);
	return lt_set(*out, LT_LD, &ld, 8);
}

static int lt_new_handle(void **out)
{
	return plrt_work_device() < 0 ? CUBLAS_NOT_INITIALIZED : lt_new(out);
}

#define LT(name, params, args, ...) LIBS_FN(LIBS_CUBLAS, LIBS_NONE, name, params, args, __VA_ARGS__)
#define LT_OBJECT(name)                                                                            \
	LT(cublasLt##name##Destroy, (void *o), (o), lt_free(o))                                    \
	LT(cublasLt##name##SetAttribute, (void *o, u32 a, const void *value, size_t bytes),        \
	   (o, a, value, bytes), lt_set(o, a, value, bytes))                                       \
	LT(cublasLt##name##GetAttribute,                                                           \
	   (void *o, u32 a, void *value, size_t bytes, size_t *written),                           \
	   (o, a, value, bytes, written), lt_query(o, a, value, bytes, written))

LT(cublasLtCreate, (void **h), (h), lt_new_handle(h))
LT(cublasLtDestroy, (void *h), (h), lt_free(h))
LT(cublasLtMatmulDescCreate, (void **o, int compute, int scale), (o, compute, scale),
   lt_new_desc(o, compute, scale))
LT_OBJECT(MatmulDesc)
LT(cublasLtMatrixLayoutCreate, (void **o, int type, u64 rows, u64 columns, s64 ld),
   (o, type, rows, columns, ld), lt_new_layout(o, type, rows, columns, ld))
LT_OBJECT(MatrixLayout)
LT(cublasLtMatmulPreferenceCreate, (void **o), (o), lt_new(o))
LT_OBJECT(MatmulPreference)
