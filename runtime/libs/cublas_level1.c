/*
 * Level 1 of BLAS, which the library has PTX for: for programs without it, or who ask for the host.
 */
#include "runtime/libs/cublas.h"

#include <math.h>

#define ILLEGAL_ADDRESS 700

struct level1_call;
/* Computes on vectors of n elements; returns what reductions answer. */
typedef struct hl_number level1_fn(const struct level1_call *c, u8 *x, u8 *y,
				   const struct hl_number *factors);

/* A vector in device memory. */
struct vector {
	u64 at;
	u32 type;
	s64 step;
	bool write;
};

struct level1_call {
	struct libs_function *f;
	struct cublas_state state;
	level1_fn *fn;
	s64 n;
	struct vector x, y; /* at 0: there is none */
	struct cublas_scalar factors[2];
	u64 result; /* where it goes; 0: there is none */
	u32 result_type;
	bool result_wide; /* an integer of 64 bits */
	bool conjugated;
};

static u8 *element(const struct vector *v, u8 *at, s64 i)
{
	return at + i * v->step * (s64)hl_bytes(v->type);
}

/* ---- what is computed ---- */

static struct hl_number axpy(const struct level1_call *c, u8 *x, u8 *y, const struct hl_number *k)
{
	for (s64 i = 0; i < c->n; i++)
		hl_store(c->y.type, element(&c->y, y, i),
			 hl_add(hl_load(c->y.type, element(&c->y, y, i)),
				hl_mul(k[0], hl_load(c->x.type, element(&c->x, x, i)))));
	return (struct hl_number){0};
}

static struct hl_number scal(const struct level1_call *c, u8 *x, u8 *y, const struct hl_number *k)
{
	(void)y;
	for (s64 i = 0; i < c->n; i++)
		hl_store(c->x.type, element(&c->x, x, i),
			 hl_mul(k[0], hl_load(c->x.type, element(&c->x, x, i))));
	return (struct hl_number){0};
}

static struct hl_number copy(const struct level1_call *c, u8 *x, u8 *y, const struct hl_number *k)
{
	(void)k;
	for (s64 i = 0; i < c->n; i++)
		hl_store(c->y.type, element(&c->y, y, i), hl_load(c->x.type, element(&c->x, x, i)));
	return (struct hl_number){0};
}

/* x and y become k0 x + k1 y and k0 y - conj(k1) x. */
static struct hl_number rot(const struct level1_call *c, u8 *x, u8 *y, const struct hl_number *k)
{
	for (s64 i = 0; i < c->n; i++) {
		u8 *at_x = element(&c->x, x, i), *at_y = element(&c->y, y, i);
		struct hl_number a = hl_load(c->x.type, at_x), b = hl_load(c->y.type, at_y);

		hl_store(c->x.type, at_x, hl_add(hl_mul(k[0], a), hl_mul(k[1], b)));
		hl_store(c->y.type, at_y, hl_sub(hl_mul(k[0], b), hl_mul(hl_conj(k[1]), a)));
	}
	return (struct hl_number){0};
}

static struct hl_number swap(const struct level1_call *c, u8 *x, u8 *y, const struct hl_number *k)
{
	(void)k;
	for (s64 i = 0; i < c->n; i++) {
		u8 *at_x = element(&c->x, x, i), *at_y = element(&c->y, y, i);
		struct hl_number a = hl_load(c->x.type, at_x);

		hl_store(c->x.type, at_x, hl_load(c->y.type, at_y));
		hl_store(c->y.type, at_y, a);
	}
	return (struct hl_number){0};
}

static struct hl_number dot(const struct level1_call *c, u8 *x, u8 *y, const struct hl_number *k)
{
	struct hl_number sum = {0};

	(void)k;
	for (s64 i = 0; i < c->n; i++) {
		struct hl_number a = hl_load(c->x.type, element(&c->x, x, i));

		sum = hl_add(sum, hl_mul(c->conjugated ? hl_conj(a) : a,
					 hl_load(c->y.type, element(&c->y, y, i))));
	}
	return sum;
}

static struct hl_number nrm2(const struct level1_call *c, u8 *x, u8 *y, const struct hl_number *k)
{
	f64 norm = 0;

	(void)y, (void)k;
	for (s64 i = 0; i < c->n; i++)
		norm = hypot(norm, hl_abs(hl_load(c->x.type, element(&c->x, x, i))));
	return (struct hl_number){norm, 0};
}

static f64 element_magnitude(const struct level1_call *c, u8 *x, s64 i)
{
	struct hl_number a = hl_load(c->x.type, element(&c->x, x, i));

	return fabs(a.re) + fabs(a.im);
}

static struct hl_number asum(const struct level1_call *c, u8 *x, u8 *y, const struct hl_number *k)
{
	f64 sum = 0;

	(void)y, (void)k;
	for (s64 i = 0; i < c->n; i++)
		sum += element_magnitude(c, x, i);
	return (struct hl_number){sum, 0};
}

/* Counted from one; 0: there is none. */
static struct hl_number extreme(const struct level1_call *c, u8 *x, f64 sign)
{
	s64 best = 0;

	for (s64 i = 0; i < c->n; i++)
		if (!best ||
		    sign * element_magnitude(c, x, i) > sign * element_magnitude(c, x, best - 1))
			best = i + 1;
	return (struct hl_number){(f64)best, 0};
}

static struct hl_number amax(const struct level1_call *c, u8 *x, u8 *y, const struct hl_number *k)
{
	(void)y, (void)k;
	return extreme(c, x, 1);
}

static struct hl_number amin(const struct level1_call *c, u8 *x, u8 *y, const struct hl_number *k)
{
	(void)y, (void)k;
	return extreme(c, x, -1);
}

/* ---- the work ---- */

/* Its first element as the program counts them. */
static bool level1_vector(const struct work_run *w, const struct vector *v, s64 n, u8 **out)
{
	u64 bytes = hl_bytes(v->type), step = (u64)(v->step < 0 ? -v->step : v->step);
	struct work_memory m = {.address = v->at,
				.bytes = bytes,
				.columns = (u64)n,
				.pitch = step * bytes,
				.write = v->write};

	*out = NULL;
	if (!v->at || n <= 0)
		return true;
	*out = plrt_work_memory(w, &m);
	if (*out && v->step < 0)
		*out += (u64)(n - 1) * step * bytes;
	return *out != NULL;
}

static bool store_result(const struct work_run *w, const struct level1_call *c, struct hl_number x)
{
	u64 bytes = c->result_wide ? 8 : hl_bytes(c->result_type);
	struct work_memory m = {.address = c->result, .bytes = bytes, .columns = 1, .write = true};
	void *at = c->state.on_device ? plrt_work_memory(w, &m) : (void *)(uintptr_t)c->result;
	s64 whole = (s64)x.re;

	if (!at)
		return false;
	if (c->result_wide)
		memcpy(at, &whole, sizeof(whole));
	else
		hl_store(c->result_type, at, x);
	return true;
}

static int run_level1(void *data, const struct work_run *w)
{
	const struct level1_call *c = data;
	struct hl_number factors[2], x;
	u8 *at_x, *at_y;

	if (!level1_vector(w, &c->x, c->n, &at_x) || !level1_vector(w, &c->y, c->n, &at_y) ||
	    !cublas_read_scalar(w, &c->factors[0], &factors[0]) ||
	    !cublas_read_scalar(w, &c->factors[1], &factors[1]))
		return ILLEGAL_ADDRESS;
	x = c->fn(c, at_x, at_y, factors);
	return !c->result || store_result(w, c, x) ? 0 : ILLEGAL_ADDRESS;
}

static int level1_factor(struct level1_call *c, int i, u32 type, const void *at)
{
	struct cublas_call like = {.state = c->state};

	return cublas_take_scalar(&like, &c->factors[i], type, at) ? CUBLAS_SUCCESS
								   : CUBLAS_INVALID_VALUE;
}

/* k0, k1: where the factors are, of these types; type 0xff: there is none. */
struct factors {
	const void *at[2];
	u32 type[2];
};

#define NO_FACTOR 0xffu

static int level1(struct level1_call c, struct libs_function *f, void *handle, struct factors k)
{
	int status = cublas_state(handle, &c.state);

	c.f = f;
	if (!status &&
	    (!cublas_is_size(c.n) || !cublas_is_size(c.x.step) || !cublas_is_size(c.y.step)))
		status = CUBLAS_INVALID_VALUE;
	for (int i = 0; !status && i < 2; i++)
		if (k.type[i] != NO_FACTOR)
			status = level1_factor(&c, i, k.type[i], k.at[i]);
	if (status)
		return status;
	libs_announce(f);
	/* Nothing to do, but for results. */
	if (c.n <= 0 && !c.result)
		return CUBLAS_SUCCESS;
	return cublas_status_of(plrt_work_issue(f->name, c.state.stream, run_level1, &c, sizeof(c),
						c.result && !c.state.on_device));
}

static int reduction(struct level1_call c, struct libs_function *f, void *handle)
{
	static const struct factors none = {{NULL, NULL}, {NO_FACTOR, NO_FACTOR}};

	return c.result ? level1(c, f, handle, none) : CUBLAS_INVALID_VALUE;
}

/* ---- entry points ---- */

#define BLAS(name, params, args, ...)                                                              \
	LIBS_FN(LIBS_CUBLAS, LIBS_PTX, name, params, args, __VA_ARGS__)
#define WIDTHS(F, name, ...)                                                                       \
	F(name##_v2, int, false, __VA_ARGS__) F(name##_v2_64, s64, true, __VA_ARGS__)
#define CALL(...) ((struct level1_call){__VA_ARGS__})

#define AXPY(name, I, wide, type)                                                                  \
	BLAS(name, (void *h, I n, const void *alpha, u64 x, I incx, u64 y, I incy),                \
	     (h, n, alpha, x, incx, y, incy),                                                      \
	     level1(CALL(.fn = axpy, .n = n, .x = {x, type, incx, false},                          \
			 .y = {y, type, incy, true}),                                              \
		    &f, h, (struct factors){{alpha, NULL}, {type, NO_FACTOR}}))
#define SCAL(name, I, wide, type, factor)                                                          \
	BLAS(name, (void *h, I n, const void *alpha, u64 x, I incx), (h, n, alpha, x, incx),       \
	     level1(CALL(.fn = scal, .n = n, .x = {x, type, incx, true}), &f, h,                   \
		    (struct factors){{alpha, NULL}, {factor, NO_FACTOR}}))
#define PAIR(name, I, wide, type, function)                                                        \
	BLAS(name, (void *h, I n, u64 x, I incx, u64 y, I incy), (h, n, x, incx, y, incy),         \
	     level1(CALL(.fn = function, .n = n, .x = {x, type, incx, function == swap},           \
			 .y = {y, type, incy, true}),                                              \
		    &f, h, (struct factors){{NULL, NULL}, {NO_FACTOR, NO_FACTOR}}))
#define ROT(name, I, wide, type, cosine, sine)                                                     \
	BLAS(name, (void *h, I n, u64 x, I incx, u64 y, I incy, const void *c, const void *s),     \
	     (h, n, x, incx, y, incy, c, s),                                                       \
	     level1(CALL(.fn = rot, .n = n, .x = {x, type, incx, true},                            \
			 .y = {y, type, incy, true}),                                              \
		    &f, h, (struct factors){{c, s}, {cosine, sine}}))
#define DOT(name, I, wide, type, conjugates)                                                       \
	BLAS(name, (void *h, I n, u64 x, I incx, u64 y, I incy, u64 result),                       \
	     (h, n, x, incx, y, incy, result),                                                     \
	     reduction(CALL(.fn = dot, .n = n, .x = {x, type, incx, false},                        \
			    .y = {y, type, incy, false}, .result = result, .result_type = type,    \
			    .conjugated = conjugates),                                             \
		       &f, h))
#define NORM(name, I, wide, type, function, of_result)                                             \
	BLAS(name, (void *h, I n, u64 x, I incx, u64 result), (h, n, x, incx, result),             \
	     reduction(CALL(.fn = function, .n = incx > 0 ? n : 0, .x = {x, type, incx, false},    \
			    .result = result, .result_type = of_result),                           \
		       &f, h))
#define INDEX(name, I, wide, type, function)                                                       \
	BLAS(name, (void *h, I n, u64 x, I incx, u64 result), (h, n, x, incx, result),             \
	     reduction(CALL(.fn = function, .n = incx > 0 ? n : 0, .x = {x, type, incx, false},    \
			    .result = result, .result_type = HL_S32, .result_wide = wide),         \
		       &f, h))

#define OF_TYPE(T, t, type, real)                                                                  \
	WIDTHS(AXPY, cublas##T##axpy, type)                                                        \
	WIDTHS(SCAL, cublas##T##scal, type, type)                                                  \
	WIDTHS(PAIR, cublas##T##copy, type, copy)                                                  \
	WIDTHS(PAIR, cublas##T##swap, type, swap)                                                  \
	WIDTHS(ROT, cublas##T##rot, type, real, type)                                              \
	WIDTHS(INDEX, cublasI##t##amax, type, amax)                                                \
	WIDTHS(INDEX, cublasI##t##amin, type, amin)

OF_TYPE(S, s, HL_F32, HL_F32)
OF_TYPE(D, d, HL_F64, HL_F64)
OF_TYPE(C, c, HL_C32, HL_F32)
OF_TYPE(Z, z, HL_C64, HL_F64)
WIDTHS(SCAL, cublasCsscal, HL_C32, HL_F32)
WIDTHS(SCAL, cublasZdscal, HL_C64, HL_F64)
WIDTHS(ROT, cublasCsrot, HL_C32, HL_F32, HL_F32)
WIDTHS(ROT, cublasZdrot, HL_C64, HL_F64, HL_F64)
WIDTHS(DOT, cublasSdot, HL_F32, false)
WIDTHS(DOT, cublasDdot, HL_F64, false)
WIDTHS(DOT, cublasCdotu, HL_C32, false)
WIDTHS(DOT, cublasZdotu, HL_C64, false)
WIDTHS(DOT, cublasCdotc, HL_C32, true)
WIDTHS(DOT, cublasZdotc, HL_C64, true)
WIDTHS(NORM, cublasSnrm2, HL_F32, nrm2, HL_F32)
WIDTHS(NORM, cublasDnrm2, HL_F64, nrm2, HL_F64)
WIDTHS(NORM, cublasScnrm2, HL_C32, nrm2, HL_F32)
WIDTHS(NORM, cublasDznrm2, HL_C64, nrm2, HL_F64)
WIDTHS(NORM, cublasSasum, HL_F32, asum, HL_F32)
WIDTHS(NORM, cublasDasum, HL_F64, asum, HL_F64)
WIDTHS(NORM, cublasScasum, HL_C32, asum, HL_F32)
WIDTHS(NORM, cublasDzasum, HL_C64, asum, HL_F64)
