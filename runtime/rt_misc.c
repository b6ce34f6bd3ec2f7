/*
 * Kernel attributes, occupancy, registered host memory of the runtime interface.
 */
#include "runtime/rt.h"

RT_API cudaError_t plrt_cudaMemPrefetchAsync(const void *p, size_t size, int device,
					     cudaStream_t stream);
RT_API cudaError_t plrt_cudaMemPrefetchAsync(const void *p, size_t size, int device,
					     cudaStream_t stream)
{
	(void)p, (void)size, (void)device, (void)stream;
	return cudaSuccess;
}

RT_API cudaError_t plrt_cudaMemAdvise(const void *p, size_t size, int advice, int device);
RT_API cudaError_t plrt_cudaMemAdvise(const void *p, size_t size, int advice, int device)
{
	(void)p, (void)size, (void)advice, (void)device;
	return cudaSuccess;
}

/* ---- kernels ---- */

/* cudaFuncAttributes: 144 bytes in CUDA 13, the fields below first in all versions. */
struct func_attributes {
	size_t shared_bytes, const_bytes, local_bytes;
	int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_bytes,
		carveout, cluster_must, cluster_x, cluster_y, cluster_z, cluster_policy;
};

#define REGISTERS 32 /* the emulator has no register allocation of the hardware's kind */

RT_API cudaError_t plrt_cudaFuncGetAttributes(struct func_attributes *out, const void *stub);
RT_API cudaError_t plrt_cudaFuncGetAttributes(struct func_attributes *out, const void *stub)
{
	const struct program *p;
	struct device_kernel *k;
	struct rt *rt = rt_get();
	int status, major = 0, minor = 0;

	if (!out)
		return rt_error(cudaErrorInvalidValue);
	k = rt_kernel(rt_find_function(stub), &status);
	if (!k)
		return rt_error(status);
	p = device_kernel_lower(k, 256, NULL);
	if (!p || rt->status)
		return rt_error(cudaErrorMemoryAllocation);
	rt_device_attribute(rt_device_index(), 75, &major);
	rt_device_attribute(rt_device_index(), 76, &minor);
	*out = (struct func_attributes){
		.shared_bytes = p->shared_static,
		.local_bytes = p->frame_bytes,
		.max_threads = 1024,
		.registers = REGISTERS,
		.ptx_version = 10 * major + minor,
		.binary_version = 10 * major + minor,
		.max_dynamic_bytes = (int)k->max_dynamic_bytes,
		.carveout = -1,
	};
	if (k->func->has_perf[IR_MAXNTID] || k->func->has_perf[IR_REQNTID]) {
		const u32 *n =
			k->func->perf[k->func->has_perf[IR_MAXNTID] ? IR_MAXNTID : IR_REQNTID];

		out->max_threads = (int)(n[0] * n[1] * n[2]);
	}
	return cudaSuccess;
}

/* Attribute 8: dynamic shared memory a launch may ask for; 9: carveout, a hint. */
RT_API cudaError_t plrt_cudaFuncSetAttribute(const void *stub, int attribute, int value);
RT_API cudaError_t plrt_cudaFuncSetAttribute(const void *stub, int attribute, int value)
{
	int status, most = 0;
	struct device_kernel *k = rt_kernel(rt_find_function(stub), &status);

	if (!k)
		return rt_error(status);
	if (attribute != 8)
		return rt_error(attribute == 9 && value >= -1 && value <= 100
					? cudaSuccess
					: cudaErrorInvalidValue);
	rt_device_attribute(rt_device_index(), 97, &most);
	if (value < 0 || value > most)
		return rt_error(cudaErrorInvalidValue);
	k->max_dynamic_bytes = (u32)value;
	return cudaSuccess;
}

RT_API cudaError_t plrt_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
	int *blocks, const void *stub, int threads, size_t dynamic, unsigned flags);
RT_API cudaError_t plrt_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
	int *blocks, const void *stub, int threads, size_t dynamic, unsigned flags)
{
	struct device_kernel *k;
	int status;

	if (!blocks || threads <= 0 || dynamic > UINT32_MAX || flags > 1)
		return rt_error(cudaErrorInvalidValue);
	k = rt_kernel(rt_find_function(stub), &status);
	if (!k)
		return rt_error(status);
	*blocks = (int)device_kernel_occupancy(k, (u32)threads, (u32)dynamic);
	return cudaSuccess;
}

RT_API cudaError_t plrt_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *stub,
								      int threads, size_t dynamic);
RT_API cudaError_t plrt_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *stub,
								      int threads, size_t dynamic)
{
	return plrt_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, stub, threads,
									   dynamic, 0);
}

/* ---- host memory ---- */

RT_API cudaError_t plrt_cudaHostRegister(void *p, size_t size, unsigned flags);
RT_API cudaError_t plrt_cudaHostRegister(void *p, size_t size, unsigned flags)
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (!d)
		return rt_error(status);
	if (!p || !size || flags & ~15u)
		return rt_error(cudaErrorInvalidValue);
	return rt_error(mem_register(&d->dev.mem, (u64)(uintptr_t)p, size, MEM_KIND_HOST)
				? cudaSuccess
				: 712);
}

RT_API cudaError_t plrt_cudaHostUnregister(void *p);
RT_API cudaError_t plrt_cudaHostUnregister(void *p)
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (!d)
		return rt_error(status);
	status = rt_wait(d);
	return rt_error(mem_unregister(&d->dev.mem, (u64)(uintptr_t)p) ? status : 713);
}
