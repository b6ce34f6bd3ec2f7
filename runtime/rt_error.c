/*
 * Errors of the runtime interface: last error per thread, sticky errors per device, names and texts.
 */
#include "runtime/rt.h"

#include <stdio.h>

static _Thread_local int last_error;

int rt_error(int status)
{
	if (status != cudaSuccess && status != cudaErrorNotReady)
		last_error = status;
	return status;
}

void rt_error_clear(void)
{
	last_error = 0;
}

void rt_fault(struct rt_device *d, enum status status, const struct device_fault *fault)
{
	if (fault && fault->message.at && !d->sticky)
		fputs(fault->message.at, stderr);
	if (!d->sticky)
		d->sticky = (int)status;
}

void rt_launch_done(void *user, enum status status, const struct device_fault *fault)
{
	if (status != STATUS_SUCCESS)
		rt_fault(user, status, fault);
}

/* The thread's last error alone: what a kernel did wrong shows when a later call answers it. */
RT_API cudaError_t plrt_cudaGetLastError(void);
RT_API cudaError_t plrt_cudaGetLastError(void)
{
	int e = last_error;

	last_error = 0;
	return e;
}

RT_API cudaError_t plrt_cudaPeekAtLastError(void);
RT_API cudaError_t plrt_cudaPeekAtLastError(void)
{
	return last_error;
}

RT_API const char *plrt_cudaGetErrorName(cudaError_t error);
RT_API const char *plrt_cudaGetErrorName(cudaError_t error)
{
	const struct status_info *s = status_info(error);

	return s && s->runtime ? s->runtime : "unrecognized error code";
}

RT_API const char *plrt_cudaGetErrorString(cudaError_t error);
RT_API const char *plrt_cudaGetErrorString(cudaError_t error)
{
	const struct status_info *s = status_info(error);

	return s && s->runtime ? s->text : "unrecognized error code";
}
