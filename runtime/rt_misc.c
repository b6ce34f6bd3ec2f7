/*
 * Registered host memory and advice of the runtime interface.
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
