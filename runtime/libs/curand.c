/*
 * cuRAND's generators for devices, where the library's kernels cannot run here: the library's own
 * generators for the host, which give the same sequences, work as part of a stream on the device's
 * memory. Source of statuses and of what lengths are allowed: the cuRAND Library's documentation,
 * "Host API Overview".
 */
#include "runtime/libs/libs.h"
#include "src/base/size.h"

#include <pthread.h>
#include <stdlib.h>

#define ILLEGAL_ADDRESS 700
#define LAUNCH_FAILURE 719

enum curand_status {
	CURAND_SUCCESS = 0,
	CURAND_NOT_INITIALIZED = 101,
	CURAND_ALLOCATION_FAILED = 102,
	CURAND_TYPE_ERROR = 103,
	CURAND_LENGTH_NOT_MULTIPLE = 105,
	CURAND_LAUNCH_FAILURE = 201,
	CURAND_INITIALIZATION_FAILED = 203,
};

enum curand_type {
	CURAND_MT19937 = 142,
	CURAND_QUASI = 200, /* this one and those above it */
	CURAND_SOBOL64 = 203,
};

enum curand_ordering { CURAND_ORDER_BEST = 100, CURAND_ORDER_DYNAMIC = 104 };

/* A generator for a device; its address is the program's handle. */
struct rand_generator {
	struct rand_generator *next;
	void *host; /* the library's, for the host */
	void *stream;
	u32 type, dimensions;
	int device;            /* that it has drawn on last; -1: it has not */
	pthread_mutex_t draws; /* two streams may have work of one generator */
};

static struct rand_generator *generators;
static pthread_mutex_t generators_lock = PTHREAD_MUTEX_INITIALIZER;

/* NULL: the generator is the library's. */
static struct rand_generator *find_generator(const void *handle)
{
	struct rand_generator *g;

	pthread_mutex_lock(&generators_lock);
	g = generators;
	while (g && g != handle)
		g = g->next;
	pthread_mutex_unlock(&generators_lock);
	return g;
}

static void forget_generator(const struct rand_generator *g)
{
	struct rand_generator **at = &generators;

	pthread_mutex_lock(&generators_lock);
	while (*at && *at != g)
		at = &(*at)->next;
	if (*at)
		*at = g->next;
	pthread_mutex_unlock(&generators_lock);
}

/*
 * Work that has been issued, graphs with it, draws before the generator changes, whichever device
 * is the current one.
 */
static void finish_draws(const struct rand_generator *g)
{
	if (g->device < 0 || plrt_work_is_captured(g->stream) || plrt_work_enter(g->device))
		return;
	plrt_work_finish();
	plrt_work_leave();
}

/* The library's function for its own generators; not called for others. */
#define RAND_NEXT(name, params)                                                                    \
	static struct libs_function f = {#name, LIBS_CURAND, LIBS_NONE, NULL};                     \
	int(*const next) params =                                                                  \
		(int(*) params)(uintptr_t)libs_next(&f, __builtin_return_address(0))

/* ---- creation ---- */

static int host_generator(void **out, int type)
{
	RAND_NEXT(curandCreateGeneratorHost, (void **, int));

	return next ? next(out, type) : CURAND_INITIALIZATION_FAILED;
}

static int new_generator(struct libs_function *f, void **out, int type)
{
	struct rand_generator *g = calloc(1, sizeof(*g));
	int status;

	if (!g)
		return CURAND_ALLOCATION_FAILED;
	status = host_generator(&g->host, type);
	if (status) {
		free(g);
		return status;
	}
	libs_announce(f);
	g->type = (u32)type;
	g->dimensions = 1;
	g->device = -1;
	pthread_mutex_init(&g->draws, NULL);
	pthread_mutex_lock(&generators_lock);
	g->next = generators;
	generators = g;
	pthread_mutex_unlock(&generators_lock);
	*out = g;
	return CURAND_SUCCESS;
}

/*
 * Without a choice: the library's kernels, if it can load them. It cannot where it has picked those
 * that are machine code only; and those that set MT19937 up take minutes here.
 */
static bool try_own(int (*own)(void **, int), void **out, int type, int *status)
{
	if (!own || type == CURAND_MT19937)
		return false;
	plrt_images_quiet(true);
	*status = own(out, type);
	plrt_images_quiet(false);
	return *status == CURAND_SUCCESS || *status == CURAND_TYPE_ERROR;
}

LIBS_API int curandCreateGenerator(void **out, int type);
LIBS_API int curandCreateGenerator(void **out, int type)
{
	static struct libs_function chosen = {"curandCreateGenerator", LIBS_CURAND, LIBS_MACHINE,
					      NULL},
				    f = {"curandCreateGenerator", LIBS_CURAND, LIBS_PTX, NULL};
	const void *caller = __builtin_return_address(0);
	int (*own)(void **, int) = (int (*)(void **, int))(uintptr_t)libs_pass(&chosen, caller);
	int status;

	if (own)
		return own(out, type);
	own = (int (*)(void **, int))(uintptr_t)libs_pass(&f, caller);
	if (try_own(own, out, type, &status))
		return status;
	return out ? new_generator(&f, out, type) : CURAND_INITIALIZATION_FAILED;
}

LIBS_API int curandDestroyGenerator(void *handle);
LIBS_API int curandDestroyGenerator(void *handle)
{
	RAND_NEXT(curandDestroyGenerator, (void *));
	struct rand_generator *g = find_generator(handle);
	int status;

	if (!g)
		return next ? next(handle) : CURAND_NOT_INITIALIZED;
	finish_draws(g);
	forget_generator(g);
	status = next ? next(g->host) : CURAND_NOT_INITIALIZED;
	pthread_mutex_destroy(&g->draws);
	free(g);
	return status;
}

/* ---- options ---- */

LIBS_API int curandSetStream(void *handle, void *stream);
LIBS_API int curandSetStream(void *handle, void *stream)
{
	RAND_NEXT(curandSetStream, (void *, void *));
	struct rand_generator *g = find_generator(handle);

	if (!g)
		return next ? next(handle, stream) : CURAND_NOT_INITIALIZED;
	/* What comes is not before what has been issued to another stream. */
	if (stream != g->stream)
		finish_draws(g);
	g->stream = stream;
	return CURAND_SUCCESS;
}

/* now: the value for generators of the host. */
#define RAND_SET(name, type, now)                                                                  \
	LIBS_API int name(void *handle, type x);                                                   \
	LIBS_API int name(void *handle, type x)                                                    \
	{                                                                                          \
		RAND_NEXT(name, (void *, type));                                                   \
		struct rand_generator *g = find_generator(handle);                                 \
                                                                                                   \
		if (!next)                                                                         \
			return CURAND_NOT_INITIALIZED;                                             \
		if (!g)                                                                            \
			return next(handle, x);                                                    \
		finish_draws(g);                                                                   \
		return next(g->host, now);                                                         \
	}
RAND_SET(curandSetPseudoRandomGeneratorSeed, unsigned long long, x)
RAND_SET(curandSetGeneratorOffset, unsigned long long, x)
/* What the library would choose for a device, it does not offer for the host. */
RAND_SET(curandSetGeneratorOrdering, u32, x == CURAND_ORDER_DYNAMIC ? (u32)CURAND_ORDER_BEST : x)

LIBS_API int curandSetQuasiRandomGeneratorDimensions(void *handle, u32 dimensions);
LIBS_API int curandSetQuasiRandomGeneratorDimensions(void *handle, u32 dimensions)
{
	RAND_NEXT(curandSetQuasiRandomGeneratorDimensions, (void *, u32));
	struct rand_generator *g = find_generator(handle);
	int status;

	if (!next)
		return CURAND_NOT_INITIALIZED;
	if (!g)
		return next(handle, dimensions);
	finish_draws(g);
	status = next(g->host, dimensions);
	if (!status)
		g->dimensions = dimensions;
	return status;
}

LIBS_API int curandGenerateSeeds(void *handle);
LIBS_API int curandGenerateSeeds(void *handle)
{
	RAND_NEXT(curandGenerateSeeds, (void *));
	struct rand_generator *g = find_generator(handle);

	if (!next)
		return CURAND_NOT_INITIALIZED;
	if (g)
		finish_draws(g);
	return next(g ? g->host : handle);
}

/* ---- numbers ---- */

enum rand_kind { RAND_WORDS, RAND_LONGS, RAND_UNIFORM, RAND_NORMAL, RAND_COUNTS };

/* A call of the library's; draw: passes the arguments on. */
struct rand_call {
	struct rand_generator *g;
	int (*draw)(const struct rand_call *c, void *out);
	void *next;
	u64 out, n;
	u32 bytes; /* of a number */
	enum rand_kind kind;
	f64 a, b;
	int method;
};

static int run_draw(void *data, const struct work_run *w)
{
	const struct rand_call *c = data;
	struct work_memory m = {c->out, c->n * c->bytes, 1, 0, true};
	void *out = plrt_work_memory(w, &m);
	int status = LAUNCH_FAILURE;

	if (!out)
		return ILLEGAL_ADDRESS;
	/* A graph may outlive the generator. */
	if (find_generator(c->g)) {
		pthread_mutex_lock(&c->g->draws);
		status = c->draw(c, out) ? LAUNCH_FAILURE : 0;
		pthread_mutex_unlock(&c->g->draws);
	}
	return status;
}

/* What the library finds wrong before it launches anything. */
static int check_draw(const struct rand_call *c)
{
	bool quasi = c->g->type >= CURAND_QUASI, wide = c->g->type >= CURAND_SOBOL64;

	if ((c->kind == RAND_WORDS && wide) || (c->kind == RAND_LONGS && !wide))
		return CURAND_TYPE_ERROR;
	if (quasi ? c->n % c->g->dimensions != 0 : c->kind == RAND_NORMAL && c->n % 2)
		return CURAND_LENGTH_NOT_MULTIPLE;
	return CURAND_SUCCESS;
}

static int draw_numbers(struct libs_function *f, struct rand_call c)
{
	int status = check_draw(&c);
	u64 bytes;

	if (status || !c.n)
		return status;
	if (!size_mul(c.n, c.bytes, &bytes))
		return CURAND_LAUNCH_FAILURE;
	c.g->device = plrt_work_device();
	return plrt_work_issue(f->name, c.g->stream, run_draw, &c, sizeof(c), 0)
		       ? CURAND_LAUNCH_FAILURE
		       : CURAND_SUCCESS;
}

/*
 * A function that fills memory: P, its parameters behind the number of elements; A, these as
 * arguments, each after a comma; S, the same of a stored call.
 */
#define RAND_DRAW(name, type, what, P, A, S, ...)                                                  \
	static int draw_##name(const struct rand_call *c, void *out)                               \
	{                                                                                          \
		int (*next)(void *, void *, size_t P) =                                            \
			(int (*)(void *, void *, size_t P))(uintptr_t)c->next;                     \
                                                                                                   \
		return next(c->g->host, out, c->n S);                                              \
	}                                                                                          \
	LIBS_API int name(void *handle, void *out, size_t n P);                                    \
	LIBS_API int name(void *handle, void *out, size_t n P)                                     \
	{                                                                                          \
		RAND_NEXT(name, (void *, void *, size_t P));                                       \
		struct rand_generator *g = find_generator(handle);                                 \
                                                                                                   \
		if (!next)                                                                         \
			return CURAND_NOT_INITIALIZED;                                             \
		if (!g)                                                                            \
			return next(handle, out, n A);                                             \
		return draw_numbers(&f, (struct rand_call){.g = g,                                 \
							   .draw = draw_##name,                    \
							   .next = (void *)(uintptr_t)next,        \
							   .out = (u64)(uintptr_t)out,             \
							   .n = n,                                 \
							   .bytes = sizeof(type),                  \
							   .kind = what,                           \
							   __VA_ARGS__});                          \
	}
#define NOTHING
#define COMMA_TWO(type) , type x, type y
#define COMMA_XY , x, y
#define COMMA_F32 , (f32)c->a, (f32)c->b
#define COMMA_F64 , c->a, c->b
RAND_DRAW(curandGenerate, u32, RAND_WORDS, NOTHING, NOTHING, NOTHING, .a = 0)
RAND_DRAW(curandGenerateLongLong, u64, RAND_LONGS, NOTHING, NOTHING, NOTHING, .a = 0)
RAND_DRAW(curandGenerateUniform, f32, RAND_UNIFORM, NOTHING, NOTHING, NOTHING, .a = 0)
RAND_DRAW(curandGenerateUniformDouble, f64, RAND_UNIFORM, NOTHING, NOTHING, NOTHING, .a = 0)
RAND_DRAW(curandGenerateNormal, f32, RAND_NORMAL, COMMA_TWO(f32), COMMA_XY, COMMA_F32, .a = (f64)x,
	  .b = (f64)y)
RAND_DRAW(curandGenerateNormalDouble, f64, RAND_NORMAL, COMMA_TWO(f64), COMMA_XY, COMMA_F64, .a = x,
	  .b = y)
RAND_DRAW(curandGenerateLogNormal, f32, RAND_NORMAL, COMMA_TWO(f32), COMMA_XY, COMMA_F32,
	  .a = (f64)x, .b = (f64)y)
RAND_DRAW(curandGenerateLogNormalDouble, f64, RAND_NORMAL, COMMA_TWO(f64), COMMA_XY, COMMA_F64,
	  .a = x, .b = y)
#define COMMA_LAMBDA , f64 x
#define COMMA_X , x
#define COMMA_A , c->a
#define COMMA_METHOD , f64 x, int method
#define COMMA_X_METHOD , x, method
#define COMMA_A_METHOD , c->a, c->method
RAND_DRAW(curandGeneratePoisson, u32, RAND_COUNTS, COMMA_LAMBDA, COMMA_X, COMMA_A, .a = x)
RAND_DRAW(curandGeneratePoissonMethod, u32, RAND_COUNTS, COMMA_METHOD, COMMA_X_METHOD,
	  COMMA_A_METHOD, .a = x, .method = method)
