/*
 * Launches of the runtime interface: configuration stack, kernels by host stub, function attributes.
 */
#include "runtime/rt.h"

#include <stdlib.h>

struct config {
	struct rt_dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
	/* cudaSetupArgument of old compilers */
	u8 args[4096];
	size_t arg_bytes;
};

#define CONFIGS 8
static _Thread_local struct config *configs;
static _Thread_local u32 config_depth;

RT_API unsigned plrt___cudaPushCallConfiguration(struct rt_dim3 grid, struct rt_dim3 block,
						 size_t shared, cudaStream_t stream);
RT_API unsigned plrt___cudaPushCallConfiguration(struct rt_dim3 grid, struct rt_dim3 block,
						 size_t shared, cudaStream_t stream)
{
	if (!configs)
		configs = calloc(CONFIGS, sizeof(*configs));
	if (!configs || config_depth == CONFIGS)
		return 1;
	configs[config_depth] =
		(struct config){.grid = grid, .block = block, .shared = shared, .stream = stream};
	config_depth++;
	return 0;
}

RT_API cudaError_t plrt___cudaPopCallConfiguration(struct rt_dim3 *grid, struct rt_dim3 *block,
						   size_t *shared, void *stream);
RT_API cudaError_t plrt___cudaPopCallConfiguration(struct rt_dim3 *grid, struct rt_dim3 *block,
						   size_t *shared, void *stream)
{
	if (!config_depth)
		return rt_error(cudaErrorInvalidConfiguration);
	config_depth--;
	*grid = configs[config_depth].grid;
	*block = configs[config_depth].block;
	*shared = configs[config_depth].shared;
	*(cudaStream_t *)stream = configs[config_depth].stream;
	return cudaSuccess;
}

struct request {
	struct rt_dim3 grid, block;
	size_t shared;
	void *const *args;
	const void *packed;
	u32 packed_bytes;
	bool cooperative;
};

static int launch(const struct rt_function *f, const struct request *r)
{
	int status;
	struct rt_device *d = rt_device_now(&status);
	struct device_launch l;

	if (!d)
		return status;
	l = (struct device_launch){
		.kernel = rt_kernel(f, &status),
		.grid = {r->grid.x, r->grid.y, r->grid.z},
		.block = {r->block.x, r->block.y, r->block.z},
		.cooperative = r->cooperative,
		.may_inline = true,
		.args = r->args,
		.packed = r->packed,
		.packed_bytes = r->packed_bytes,
	};
	if (!l.kernel)
		return status;
	if (r->shared > UINT32_MAX)
		return cudaErrorInvalidValue;
	l.dynamic_bytes = (u32)r->shared;
	status = rt_wait(d); /* one operation after the other */
	return status ? status : (int)device_launch(&l, rt_launch_done, d);
}

RT_API cudaError_t plrt___cudaGetKernel(void **kernel, const void *stub);
RT_API cudaError_t plrt___cudaGetKernel(void **kernel, const void *stub)
{
	struct rt_function *f = rt_find_function(stub);

	if (!kernel)
		return rt_error(cudaErrorInvalidValue);
	*kernel = f;
	return f ? cudaSuccess : rt_error(cudaErrorInvalidDeviceFunction);
}

RT_API cudaError_t plrt___cudaLaunchKernel(void *kernel, struct rt_dim3 grid, struct rt_dim3 block,
					   void **args, size_t shared, cudaStream_t stream);
RT_API cudaError_t plrt___cudaLaunchKernel(void *kernel, struct rt_dim3 grid, struct rt_dim3 block,
					   void **args, size_t shared, cudaStream_t stream)
{
	(void)stream;
	return rt_error(
		launch(kernel, &(struct request){grid, block, shared, args, NULL, 0, false}));
}

RT_API cudaError_t plrt___cudaLaunchKernel_ptsz(void *kernel, struct rt_dim3 grid,
						struct rt_dim3 block, void **args, size_t shared,
						cudaStream_t stream);
RT_API cudaError_t plrt___cudaLaunchKernel_ptsz(void *kernel, struct rt_dim3 grid,
						struct rt_dim3 block, void **args, size_t shared,
						cudaStream_t stream)
{
	return plrt___cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

/* The stub's address, or what __cudaGetKernel answered for it. */
RT_API cudaError_t plrt_cudaLaunchKernel(const void *stub, struct rt_dim3 grid,
					 struct rt_dim3 block, void **args, size_t shared,
					 cudaStream_t stream);
RT_API cudaError_t plrt_cudaLaunchKernel(const void *stub, struct rt_dim3 grid,
					 struct rt_dim3 block, void **args, size_t shared,
					 cudaStream_t stream)
{
	(void)stream;
	return rt_error(launch(rt_find_function(stub),
			       &(struct request){grid, block, shared, args, NULL, 0, false}));
}

RT_API cudaError_t plrt_cudaLaunchCooperativeKernel(const void *stub, struct rt_dim3 grid,
						    struct rt_dim3 block, void **args,
						    size_t shared, cudaStream_t stream);
RT_API cudaError_t plrt_cudaLaunchCooperativeKernel(const void *stub, struct rt_dim3 grid,
						    struct rt_dim3 block, void **args,
						    size_t shared, cudaStream_t stream)
{
	(void)stream;
	return rt_error(launch(rt_find_function(stub),
			       &(struct request){grid, block, shared, args, NULL, 0, true}));
}

/* ---- the launch of compilers before CUDA 9.2 and of clang without an SDK version ---- */

RT_API cudaError_t plrt_cudaConfigureCall(struct rt_dim3 grid, struct rt_dim3 block, size_t shared,
					  cudaStream_t stream);
RT_API cudaError_t plrt_cudaConfigureCall(struct rt_dim3 grid, struct rt_dim3 block, size_t shared,
					  cudaStream_t stream)
{
	return plrt___cudaPushCallConfiguration(grid, block, shared, stream)
		       ? rt_error(cudaErrorInvalidConfiguration)
		       : cudaSuccess;
}

RT_API cudaError_t plrt_cudaSetupArgument(const void *arg, size_t size, size_t offset);
RT_API cudaError_t plrt_cudaSetupArgument(const void *arg, size_t size, size_t offset)
{
	struct config *c = config_depth ? &configs[config_depth - 1] : NULL;

	if (!c || offset > sizeof(c->args) || size > sizeof(c->args) - offset)
		return rt_error(cudaErrorInvalidValue);
	memcpy(c->args + offset, arg, size);
	if (offset + size > c->arg_bytes)
		c->arg_bytes = offset + size;
	return cudaSuccess;
}

RT_API cudaError_t plrt_cudaLaunch(const void *stub);
RT_API cudaError_t plrt_cudaLaunch(const void *stub)
{
	struct config *c = config_depth ? &configs[--config_depth] : NULL;

	if (!c)
		return rt_error(cudaErrorInvalidConfiguration);
	return rt_error(launch(rt_find_function(stub),
			       &(struct request){c->grid, c->block, c->shared, NULL, c->args,
						 (u32)c->arg_bytes, false}));
}
