/*
 * Plans of cuFFT, and its entry points. All its kernels are machine code, so that plans are the
 * host's, too.
 */
#include "runtime/libs/cufft.h"
#include "src/base/size.h"

#include <pthread.h>
#include <stdlib.h>

#define VERSION 12000

/* cufftType: a transform; double ones differ by one bit. */
enum { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, DOUBLE = 0x40 };
/* cudaDataType of complex ones of 16 bits */
enum { COMPLEX_16 = 6, COMPLEX_BF16 = 15 };

struct fft_plan {
	bool made; /* has a shape */
	void *stream;
	struct cufft_shape shape;
	size_t work_bytes;
};

/* By handle - 1; NULL: it is free. */
static struct {
	pthread_mutex_t lock;
	struct fft_plan **at;
	int len;
} plans = {PTHREAD_MUTEX_INITIALIZER, NULL, 0};

static struct fft_plan *plan_locked(int handle)
{
	return handle > 0 && handle <= plans.len ? plans.at[handle - 1] : NULL;
}

static int plan_create(int *handle)
{
	struct fft_plan **grown, *p;
	int i = 0, status = CUFFT_SUCCESS;

	if (!handle)
		return CUFFT_INVALID_VALUE;
	if (plrt_work_device() < 0)
		return CUFFT_SETUP_FAILED;
	p = calloc(1, sizeof(*p));
	pthread_mutex_lock(&plans.lock);
	while (i < plans.len && plans.at[i])
		i++;
	grown = i < plans.len ? plans.at
			      : realloc(plans.at, ((size_t)plans.len + 1) * sizeof(*grown));
	if (p && grown) {
		plans.at = grown;
		plans.at[i] = p;
		plans.len = i < plans.len ? plans.len : i + 1;
		*handle = i + 1;
	} else {
		plans.at = grown ? grown : plans.at;
		free(p);
		status = CUFFT_ALLOC_FAILED;
	}
	pthread_mutex_unlock(&plans.lock);
	return status;
}

static int plan_destroy(int handle)
{
	struct fft_plan *p;

	pthread_mutex_lock(&plans.lock);
	p = plan_locked(handle);
	if (p)
		plans.at[handle - 1] = NULL;
	pthread_mutex_unlock(&plans.lock);
	free(p);
	return p ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

/* Gives the plan a stream. */
static int plan_stream(int handle, void *stream)
{
	struct fft_plan *p;

	pthread_mutex_lock(&plans.lock);
	p = plan_locked(handle);
	if (p)
		p->stream = stream;
	pthread_mutex_unlock(&plans.lock);
	return p ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

/* A copy of it, as work must not need what a program may destroy. */
static bool plan_copy(int handle, struct fft_plan *out)
{
	const struct fft_plan *p;

	pthread_mutex_lock(&plans.lock);
	p = plan_locked(handle);
	if (p)
		*out = *p;
	pthread_mutex_unlock(&plans.lock);
	return p != NULL;
}

/* ---- shapes ---- */

/* What a program passes for one side; embed NULL: none. */
struct fft_layout {
	const s64 *embed;
	s64 stride, distance;
};

static bool shape_side(const struct cufft_shape *s, struct cufft_side *side,
		       const struct fft_layout *l)
{
	u64 all = 1, next;

	side->stride = s->plain ? 1 : l->stride;
	for (int i = 0; i < s->rank; i++) {
		side->embed[i] = s->plain ? cufft_extent(s, side, i) : l->embed[i];
		if (!size_mul(all, (u64)side->embed[i], &next) || next > (u64)1 << 40)
			return false;
		all = next;
		/* The first one is no distance of anything. */
		if (i && side->embed[i] < cufft_extent(s, side, i))
			return false;
	}
	side->distance = s->plain ? (s64)all : l->distance;
	return side->stride > 0 && size_mul(all, (u64)side->stride, &next) &&
	       next <= (u64)1 << 40 && side->distance >= 0 && side->distance < (s64)1 << 40;
}

static int shape_make(struct cufft_shape *s, const struct fft_layout *in,
		      const struct fft_layout *out, size_t *bytes)
{
	u64 all = 1;

	if (s->rank < 1 || s->rank > CUFFT_RANK_MAX)
		return CUFFT_INVALID_VALUE;
	for (int i = 0; i < s->rank; i++)
		if (s->n[i] < 1 || !size_mul(all, (u64)s->n[i], &all) || all > (u64)1 << 36)
			return CUFFT_INVALID_SIZE;
	if (s->batch < 1 || s->batch > (s64)1 << 36)
		return CUFFT_INVALID_SIZE;
	if (!shape_side(s, &s->in, in) || !shape_side(s, &s->out, out))
		return CUFFT_INVALID_SIZE;
	if (!size_mul(all, (u64)s->batch, &all) || !size_mul(all, 2 * hl_bytes(s->type), &all))
		return CUFFT_INVALID_SIZE;
	*bytes = all;
	return CUFFT_SUCCESS;
}

static bool shape_type(struct cufft_shape *s, int type)
{
	s->type = type & DOUBLE ? HL_F64 : HL_F32;
	s->in.complex = (type & ~DOUBLE) != R2C;
	s->out.complex = (type & ~DOUBLE) != C2R;
	type &= ~DOUBLE;
	return type == R2C || type == C2R || type == C2C;
}

/* The component type of a cudaDataType; false: transforms have no such type. */
static bool fft_component(int type, u32 *out, bool *is_complex)
{
	static const struct {
		int type;
		u32 component;
		bool is_complex;
	} rows[] = {{HL_F32, HL_F32, false},    {HL_F64, HL_F64, false},
		    {HL_F16, HL_F16, false},    {HL_BF16, HL_BF16, false},
		    {HL_C32, HL_F32, true},     {HL_C64, HL_F64, true},
		    {COMPLEX_16, HL_F16, true}, {COMPLEX_BF16, HL_BF16, true}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].type == type) {
			*out = rows[i].component;
			*is_complex = rows[i].is_complex;
			return true;
		}
	return false;
}

/* A description of any kind, in 64 bits. */
struct fft_request {
	int rank;
	s64 n[CUFFT_RANK_MAX], in_embed[CUFFT_RANK_MAX], out_embed[CUFFT_RANK_MAX];
	bool has_in, has_out;
	s64 in_stride, in_distance, out_stride, out_distance, batch;
	int type; /* cufftType; 0: these */
	int in_type, out_type;
};

/* The shape of a request and the bytes of its work area. Returns a status. */
static int request_shape(const struct fft_request *r, struct cufft_shape *s, size_t *bytes)
{
	struct fft_layout in = {r->in_embed, r->in_stride, r->in_distance};
	struct fft_layout out = {r->out_embed, r->out_stride, r->out_distance};
	u32 other = 0;

	*s = (struct cufft_shape){.rank = r->rank, .batch = r->batch};
	s->plain = !r->has_in || !r->has_out;
	memcpy(s->n, r->n, sizeof(s->n));
	if (r->type ? !shape_type(s, r->type)
		    : !fft_component(r->in_type, &s->type, &s->in.complex) ||
			      !fft_component(r->out_type, &other, &s->out.complex) ||
			      other != s->type || (!s->in.complex && !s->out.complex))
		return CUFFT_INVALID_TYPE;
	return shape_make(s, &in, &out, bytes);
}

static int plan_make(int handle, const struct fft_request *r, size_t *bytes)
{
	struct cufft_shape s;
	size_t work = 0;
	int status = request_shape(r, &s, &work);
	struct fft_plan *p;

	pthread_mutex_lock(&plans.lock);
	p = plan_locked(handle);
	if (!p || p->made)
		status = CUFFT_INVALID_PLAN;
	if (!status) {
		p->shape = s;
		p->work_bytes = work;
		p->made = true;
	}
	pthread_mutex_unlock(&plans.lock);
	if (!status && bytes)
		*bytes = work;
	return status;
}

/* cufftPlan..: a handle and what makes it. */
static int plan_new(int *handle, const struct fft_request *r)
{
	int status = plan_create(handle);

	if (status)
		return status;
	status = plan_make(*handle, r, NULL);
	if (status)
		plan_destroy(*handle);
	return status;
}

static int estimate(const struct fft_request *r, size_t *bytes)
{
	struct cufft_shape s;

	return bytes ? request_shape(r, &s, bytes) : CUFFT_INVALID_VALUE;
}

static int plan_size(int handle, size_t *bytes)
{
	struct fft_plan p;

	if (!plan_copy(handle, &p))
		return CUFFT_INVALID_PLAN;
	if (!bytes)
		return CUFFT_INVALID_VALUE;
	*bytes = p.work_bytes;
	return CUFFT_SUCCESS;
}

static struct fft_request request_1d(s64 n, int type, s64 batch)
{
	return (struct fft_request){.rank = 1, .n = {n}, .type = type, .batch = batch};
}

static struct fft_request request_nd(int rank, s64 x, s64 y, s64 z, int type)
{
	return (struct fft_request){.rank = rank, .n = {x, y, z}, .type = type, .batch = 1};
}

/* Arrays of 32 or 64 bits. */
static void request_copy(s64 *to, const void *from, int rank, bool wide)
{
	for (int i = 0; i < rank; i++)
		to[i] = wide ? ((const s64 *)from)[i] : ((const s32 *)from)[i];
}

static struct fft_request request_many(int rank, const void *n, const void *in, const void *out,
				       bool wide)
{
	struct fft_request r = {.rank = n ? rank : 0, .has_in = in, .has_out = out};

	if (r.rank < 1 || r.rank > CUFFT_RANK_MAX)
		return r;
	request_copy(r.n, n, rank, wide);
	if (in)
		request_copy(r.in_embed, in, rank, wide);
	if (out)
		request_copy(r.out_embed, out, rank, wide);
	return r;
}

static struct fft_request request_with(struct fft_request r, const s64 *in, const s64 *out,
				       int type, s64 batch)
{
	r.in_stride = in[0];
	r.in_distance = in[1];
	r.out_stride = out[0];
	r.out_distance = out[1];
	r.type = type;
	r.batch = batch;
	return r;
}

/* ---- execution ---- */

/* kind: the cufftType that the function is for; 0: any. */
static int fft_execute(struct libs_function *f, int handle, u64 in, u64 out, int sign, int kind)
{
	struct cufft_shape wanted = {0};
	struct fft_plan p;

	if (!plan_copy(handle, &p) || !p.made)
		return CUFFT_INVALID_PLAN;
	if (kind) {
		shape_type(&wanted, kind);
		if (wanted.type != p.shape.type || wanted.in.complex != p.shape.in.complex ||
		    wanted.out.complex != p.shape.out.complex)
			return CUFFT_INVALID_TYPE;
	}
	if (!p.shape.in.complex)
		sign = -1;
	else if (!p.shape.out.complex)
		sign = CUFFT_INVERSE;
	if (sign != -1 && sign != CUFFT_INVERSE)
		return CUFFT_INVALID_VALUE;
	return cufft_issue(f, p.stream, &p.shape, in, out, sign);
}

static int set_value(int *out, int value)
{
	if (out)
		*out = value;
	return out ? CUFFT_SUCCESS : CUFFT_INVALID_VALUE;
}

static int known_plan(int handle)
{
	struct fft_plan p;

	return plan_copy(handle, &p) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

/* ---- entry points ---- */

#define FFT(name, params, args, ...)                                                               \
	LIBS_FN(LIBS_CUFFT, LIBS_MACHINE, name, params, args, __VA_ARGS__)

FFT(cufftCreate, (int *h), (h), plan_create(h))
FFT(cufftDestroy, (int h), (h), plan_destroy(h))
FFT(cufftSetStream, (int h, void *stream), (h, stream), plan_stream(h, stream))
FFT(cufftSetAutoAllocation, (int h, int on), (h, on), known_plan(h))
FFT(cufftSetWorkArea, (int h, void *at), (h, at), known_plan(h))
FFT(cufftGetSize, (int h, size_t *bytes), (h, bytes), plan_size(h, bytes))
FFT(cufftGetVersion, (int *v), (v), set_value(v, VERSION))
FFT(cufftGetProperty, (int property, int *v), (property, v),
    property<0 || property> 2 ? CUFFT_INVALID_VALUE : set_value(v, property ? 0 : VERSION / 1000))

/* What a request is made of, as the argument of one of these. */
#define REQUEST(...) (&(const struct fft_request[]){__VA_ARGS__}[0])
/*
 * What is done with a description: P, its parameters; A, these as arguments; R, the request. Both
 * lists begin and end with a name that the functions have around them.
 */
#define DESCRIBED(suffix, P, A, R)                                                                 \
	FFT(cufftPlan##suffix, (int *h, UNPACK P), (h, UNPACK A), plan_new(h, REQUEST(R)))         \
	FFT(cufftMakePlan##suffix, (int h, UNPACK P, size_t *bytes), (h, UNPACK A, bytes),         \
	    plan_make(h, REQUEST(R), bytes))                                                       \
	FFT(cufftEstimate##suffix, (UNPACK P, size_t * bytes), (UNPACK A, bytes),                  \
	    estimate(REQUEST(R), bytes))                                                           \
	FFT(cufftGetSize##suffix, (int h, UNPACK P, size_t *bytes), (h, UNPACK A, bytes),          \
	    known_plan(h) ? CUFFT_INVALID_PLAN : estimate(REQUEST(R), bytes))
#define UNPACK(...) __VA_ARGS__

DESCRIBED(1d, (int n, int type, int batch), (n, type, batch), request_1d(n, type, batch))
DESCRIBED(2d, (int x, int y, int type), (x, y, type), request_nd(2, x, y, 0, type))
DESCRIBED(3d, (int x, int y, int z, int type), (x, y, z, type), request_nd(3, x, y, z, type))
DESCRIBED(Many,
	  (int rank, const int *n, const int *ie, int is, int id, const int *oe, int os, int od,
	   int type, int batch),
	  (rank, n, ie, is, id, oe, os, od, type, batch),
	  request_with(request_many(rank, n, ie, oe, false), (const s64[]){is, id},
		       (const s64[]){os, od}, type, batch))

#define MANY_64                                                                                    \
	request_with(request_many(rank, n, ie, oe, true), (const s64[]){is, id},                   \
		     (const s64[]){os, od}, type, batch)
FFT(cufftMakePlanMany64,
    (int h, int rank, const s64 *n, const s64 *ie, s64 is, s64 id, const s64 *oe, s64 os, s64 od,
     int type, s64 batch, size_t *bytes),
    (h, rank, n, ie, is, id, oe, os, od, type, batch, bytes), plan_make(h, REQUEST(MANY_64), bytes))
FFT(cufftGetSizeMany64,
    (int h, int rank, const s64 *n, const s64 *ie, s64 is, s64 id, const s64 *oe, s64 os, s64 od,
     int type, s64 batch, size_t *bytes),
    (h, rank, n, ie, is, id, oe, os, od, type, batch, bytes),
    known_plan(h) ? CUFFT_INVALID_PLAN : estimate(REQUEST(MANY_64), bytes))

static struct fft_request typed(struct fft_request r, int in_type, int out_type)
{
	r.in_type = in_type;
	r.out_type = out_type;
	return r;
}

#define MANY_TYPED                                                                                 \
	typed(request_with(request_many(rank, n, ie, oe, true), (const s64[]){is, id},             \
			   (const s64[]){os, od}, 0, batch),                                       \
	      it, ot)
FFT(cufftXtMakePlanMany,
    (int h, int rank, const s64 *n, const s64 *ie, s64 is, s64 id, int it, const s64 *oe, s64 os,
     s64 od, int ot, s64 batch, size_t *bytes, int executed),
    (h, rank, n, ie, is, id, it, oe, os, od, ot, batch, bytes, executed),
    plan_make(h, REQUEST(MANY_TYPED), bytes))
FFT(cufftXtGetSizeMany,
    (int h, int rank, const s64 *n, const s64 *ie, s64 is, s64 id, int it, const s64 *oe, s64 os,
     s64 od, int ot, s64 batch, size_t *bytes, int executed),
    (h, rank, n, ie, is, id, it, oe, os, od, ot, batch, bytes, executed),
    known_plan(h) ? CUFFT_INVALID_PLAN : estimate(REQUEST(MANY_TYPED), bytes))

#define FFT_EXECUTE_COMPLEX(name, type)                                                            \
	FFT(name, (int h, u64 in, u64 out, int sign), (h, in, out, sign),                          \
	    fft_execute(&f, h, in, out, sign, type))
#define FFT_EXECUTE_REAL(name, type)                                                               \
	FFT(name, (int h, u64 in, u64 out), (h, in, out), fft_execute(&f, h, in, out, 0, type))

FFT_EXECUTE_COMPLEX(cufftExecC2C, C2C)
FFT_EXECUTE_COMPLEX(cufftExecZ2Z, C2C | DOUBLE)
FFT_EXECUTE_REAL(cufftExecR2C, R2C)
FFT_EXECUTE_REAL(cufftExecC2R, C2R)
FFT_EXECUTE_REAL(cufftExecD2Z, R2C | DOUBLE)
FFT_EXECUTE_REAL(cufftExecZ2D, C2R | DOUBLE)
FFT_EXECUTE_COMPLEX(cufftXtExec, 0)

/* What the host has no way to do, or need not do. */
FFT(cufftXtSetCallback, (int h, void *code, int type, void *user), (h, code, type, user),
    CUFFT_NOT_IMPLEMENTED)
FFT(cufftXtSetJITCallback,
    (int h, const char *name, const void *code, size_t bytes, int type, void *user),
    (h, name, code, bytes, type, user), CUFFT_NOT_IMPLEMENTED)
FFT(cufftXtSetGPUs, (int h, int n, int *devices), (h, n, devices), CUFFT_NOT_IMPLEMENTED)
FFT(cufftSetPlanPropertyInt64, (int h, int property, s64 value), (h, property, value),
    known_plan(h))
FFT(cufftXtSetWorkAreaPolicy, (int h, int policy, size_t *bytes), (h, policy, bytes), known_plan(h))
