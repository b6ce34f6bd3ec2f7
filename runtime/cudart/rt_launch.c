/*
 * Launches of the runtime interface: configuration stack, kernels by host stub, function
 * attributes.
 */
#include "runtime/process.h"
#include "runtime/cudart/rt_handle.h"
#include "runtime/graph/stream_attr.h"

#include <stdlib.h>

struct config {
	struct rt_dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
	/* cudaSetupArgument of old compilers */
	u8 args[4096];
	size_t arg_bytes;
};

/* Launches that a thread has configured and not made yet, the last one on top. */
#define CONFIGS 8
struct config_stack {
	u32 depth;
	struct config at[CONFIGS];
};

/* Each thread's, freed when it ends. */
static struct thread_key *const at_end = &the_process.configurations;

static void make_launch_key(void)
{
	if (pthread_key_create(&at_end->key, free))
		abort();
}

/* NULL: there is none, or with `make`, no memory for one. */
static struct config_stack *config_stack(bool make)
{
	struct config_stack *s;

	pthread_once(&at_end->once, make_launch_key);
	s = pthread_getspecific(at_end->key);
	if (s || !make)
		return s;
	s = calloc(1, sizeof(*s));
	if (s && pthread_setspecific(at_end->key, s)) {
		free(s);
		return NULL;
	}
	return s;
}

/* The launch that was configured last; NULL: none. */
static struct config *config_top(void)
{
	struct config_stack *s = config_stack(false);

	return s && s->depth ? &s->at[s->depth - 1] : NULL;
}

/* The same, taken away; it stays as it is until the next one is configured. */
static struct config *config_pop(void)
{
	struct config *c = config_top();

	if (c)
		config_stack(false)->depth--;
	return c;
}

unsigned plrt___cudaPushCallConfiguration(struct rt_dim3 grid, struct rt_dim3 block, size_t shared,
					  cudaStream_t stream)
{
	struct config_stack *s = config_stack(true);
	struct config *c;

	if (!s || s->depth == CONFIGS)
		return 1;
	c = &s->at[s->depth++];
	c->grid = grid;
	c->block = block;
	c->shared = shared;
	c->stream = stream;
	c->arg_bytes = 0;
	rt_report_configured(rt_caller);
	return 0;
}

RT_FN(__cudaPopCallConfiguration,
      (struct rt_dim3 * grid, struct rt_dim3 *block, size_t *shared, void *stream))
{
	const struct config *c = config_pop();

	if (!c)
		return rt_error(cudaErrorInvalidConfiguration);
	*grid = c->grid;
	*block = c->block;
	*shared = c->shared;
	*(cudaStream_t *)stream = c->stream;
	rt_report_launching();
	return cudaSuccess;
}

struct request {
	struct rt_dim3 grid, block;
	size_t shared;
	void *const *args;
	const void *packed;
	u32 packed_bytes;
	struct launch_attrs attrs;
};

static int rt_start(const struct rt_function *f, const struct request *r, struct stream *s,
		    struct device_launch *l)
{
	struct access_window room;
	int status;

	l->kernel = rt_kernel(f, &status);
	if (!l->kernel)
		return status;
	if (l->kernel->owner->dev != stream_device_of(s))
		return cudaErrorInvalidResourceHandle;
	if (r->shared > UINT32_MAX)
		return cudaErrorInvalidValue;
	l->context = rt_context_number();
	window_give(launch_window_of(&r->attrs, s, &room));
	status = (int)stream_launch(s, l);
	return status ? status : (int)launch_attrs_record(&r->attrs, s);
}

static int rt_launch_function(const struct rt_function *f, const struct request *r,
			      cudaStream_t stream, bool own)
{
	int status;
	struct stream *s = rt_stream(stream, own, &status);
	struct device_launch l = {
		.grid = {r->grid.x, r->grid.y, r->grid.z},
		.block = {r->block.x, r->block.y, r->block.z},
		.cooperative = r->attrs.cooperative,
		.programmatic = r->attrs.programmatic,
		.may_inline = true,
		.args = r->args,
		.packed = r->packed,
		.packed_bytes = r->packed_bytes,
		.name = f,
		.from = rt_report_from(),
		.dynamic_bytes = (u32)min_u64(r->shared, UINT32_MAX),
	};

	memcpy(l.cluster, r->attrs.cluster, sizeof(l.cluster));
	if (s)
		status = rt_start(f, r, s, &l);
	rt_report_launch(&l, rt_handle_is(f, RT_HANDLE_FUNCTION) ? f->name : NULL, status);
	return status;
}

RT_FN(__cudaGetKernel, (void **kernel, const void *stub))
{
	struct rt_function *f = rt_find_function(stub);

	if (!kernel)
		return rt_error(cudaErrorInvalidValue);
	*kernel = f;
	return f ? cudaSuccess : rt_error(cudaErrorInvalidDeviceFunction);
}

/* The shape of a launch without attributes. */
#define REQUEST(args) (&(struct request){grid, block, shared, args, NULL, 0, {0}})

RT_STREAM_FN(__cudaLaunchKernel,
	     (void *kernel, struct rt_dim3 grid, struct rt_dim3 block, void **args, size_t shared,
	      cudaStream_t stream),
	     rt_launch_function(kernel, REQUEST(args), stream, OWN))
/* The stub's address, or what __cudaGetKernel answered for it. */
RT_STREAM_FN(cudaLaunchKernel,
	     (const void *stub, struct rt_dim3 grid, struct rt_dim3 block, void **args,
	      size_t shared, cudaStream_t stream),
	     rt_launch_function(rt_named_kernel(stub), REQUEST(args), stream, OWN))

static int launch_cooperative(const void *stub, struct request *r, cudaStream_t stream, bool own)
{
	r->attrs.cooperative = true;
	return rt_launch_function(rt_named_kernel(stub), r, stream, own);
}

RT_STREAM_FN(cudaLaunchCooperativeKernel,
	     (const void *stub, struct rt_dim3 grid, struct rt_dim3 block, void **args,
	      size_t shared, cudaStream_t stream),
	     launch_cooperative(stub, REQUEST(args), stream, OWN))

static int rt_launch_with(const struct rt_launch_config *c, const void *stub, void **args, bool own)
{
	struct request r;
	struct stream *s;
	int status;

	if (!c)
		return cudaErrorInvalidValue;
	s = rt_stream(c->stream, own, &status);
	r = (struct request){.grid = c->grid, .block = c->block, .shared = c->shared, .args = args};
	status = (int)launch_attrs_read(rt_get()->streams, s ? stream_device_of(s) : NULL, c->attrs,
					c->attr_len, &r.attrs);
	return status ? status : rt_launch_function(rt_named_kernel(stub), &r, c->stream, own);
}

RT_STREAM_FN(cudaLaunchKernelExC, (const struct rt_launch_config *c, const void *stub, void **args),
	     rt_launch_with(c, stub, args, OWN))

/* ---- the launch of compilers before CUDA 9.2 and of clang without an SDK version ---- */

RT_FN(cudaConfigureCall,
      (struct rt_dim3 grid, struct rt_dim3 block, size_t shared, cudaStream_t stream))
{
	return plrt___cudaPushCallConfiguration(grid, block, shared, stream)
		       ? rt_error(cudaErrorInvalidConfiguration)
		       : cudaSuccess;
}

RT_FN(cudaSetupArgument, (const void *arg, size_t size, size_t offset))
{
	struct config *c = config_top();

	if (!c || !arg || offset > sizeof(c->args) || size > sizeof(c->args) - offset)
		return rt_error(cudaErrorInvalidValue);
	if (offset > c->arg_bytes)
		memset(c->args + c->arg_bytes, 0, offset - c->arg_bytes);
	memcpy(c->args + offset, arg, size);
	if (offset + size > c->arg_bytes)
		c->arg_bytes = offset + size;
	return cudaSuccess;
}

RT_FN(cudaLaunch, (const void *stub))
{
	const struct config *c = config_pop();
	struct request r;

	if (!c)
		return rt_error(cudaErrorInvalidConfiguration);
	r = (struct request){.grid = c->grid,
			     .block = c->block,
			     .shared = c->shared,
			     .packed = c->args,
			     .packed_bytes = (u32)c->arg_bytes};
	return rt_error(rt_launch_function(rt_named_kernel(stub), &r, c->stream, false));
}
