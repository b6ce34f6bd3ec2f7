/*
 * Streams and events of the runtime interface. All streams are one queue (rt.h), so a stream is a
 * handle and an event a time.
 */
#include "runtime/rt.h"

#include <stdlib.h>
#include <time.h>

struct rt_stream {
	unsigned flags;
	int priority;
};

struct rt_event {
	unsigned flags;
	bool recorded;
	struct timespec at;
};

static int wait_here(void)
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	return d ? rt_wait(d) : status;
}

RT_API cudaError_t plrt_cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags,
						     int priority);
RT_API cudaError_t plrt_cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags,
						     int priority)
{
	int status;

	if (!out || flags > 1)
		return rt_error(cudaErrorInvalidValue);
	if (!rt_device_now(&status))
		return rt_error(status);
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return rt_error(cudaErrorMemoryAllocation);
	**out = (struct rt_stream){flags, priority};
	return cudaSuccess;
}

RT_API cudaError_t plrt_cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags);
RT_API cudaError_t plrt_cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
	return plrt_cudaStreamCreateWithPriority(out, flags, 0);
}

RT_API cudaError_t plrt_cudaStreamCreate(cudaStream_t *out);
RT_API cudaError_t plrt_cudaStreamCreate(cudaStream_t *out)
{
	return plrt_cudaStreamCreateWithPriority(out, 0, 0);
}

RT_API cudaError_t plrt_cudaStreamDestroy(cudaStream_t stream);
RT_API cudaError_t plrt_cudaStreamDestroy(cudaStream_t stream)
{
	if (!stream || (uintptr_t)stream <= 2)
		return rt_error(cudaErrorInvalidResourceHandle);
	free(stream);
	return cudaSuccess;
}

RT_API cudaError_t plrt_cudaStreamSynchronize(cudaStream_t stream);
RT_API cudaError_t plrt_cudaStreamSynchronize(cudaStream_t stream)
{
	(void)stream;
	return rt_error(wait_here());
}

RT_API cudaError_t plrt_cudaStreamQuery(cudaStream_t stream);
RT_API cudaError_t plrt_cudaStreamQuery(cudaStream_t stream)
{
	int status;
	struct rt_device *d = rt_device_now(&status);
	bool busy;

	(void)stream;
	if (!d)
		return rt_error(status);
	pthread_mutex_lock(&d->dev.lock);
	busy = d->dev.running != 0;
	pthread_mutex_unlock(&d->dev.lock);
	return busy ? cudaErrorNotReady : rt_error(d->sticky);
}

RT_API cudaError_t plrt_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
RT_API cudaError_t plrt_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	(void)stream;
	(void)flags;
	return event ? cudaSuccess : rt_error(cudaErrorInvalidResourceHandle);
}

RT_API cudaError_t plrt_cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags);
RT_API cudaError_t plrt_cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
	if (!out || flags > 7)
		return rt_error(cudaErrorInvalidValue);
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return rt_error(cudaErrorMemoryAllocation);
	(*out)->flags = flags;
	return cudaSuccess;
}

RT_API cudaError_t plrt_cudaEventCreate(cudaEvent_t *out);
RT_API cudaError_t plrt_cudaEventCreate(cudaEvent_t *out)
{
	return plrt_cudaEventCreateWithFlags(out, 0);
}

RT_API cudaError_t plrt_cudaEventDestroy(cudaEvent_t event);
RT_API cudaError_t plrt_cudaEventDestroy(cudaEvent_t event)
{
	if (!event)
		return rt_error(cudaErrorInvalidResourceHandle);
	free(event);
	return cudaSuccess;
}

/* The time is taken when the work before it is done, which is now. */
RT_API cudaError_t plrt_cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
RT_API cudaError_t plrt_cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	int status;

	(void)stream;
	if (!event)
		return rt_error(cudaErrorInvalidResourceHandle);
	status = wait_here();
	clock_gettime(CLOCK_MONOTONIC, &event->at);
	event->recorded = true;
	return rt_error(status);
}

RT_API cudaError_t plrt_cudaEventSynchronize(cudaEvent_t event);
RT_API cudaError_t plrt_cudaEventSynchronize(cudaEvent_t event)
{
	return rt_error(event ? wait_here() : cudaErrorInvalidResourceHandle);
}

RT_API cudaError_t plrt_cudaEventQuery(cudaEvent_t event);
RT_API cudaError_t plrt_cudaEventQuery(cudaEvent_t event)
{
	return event ? cudaSuccess : rt_error(cudaErrorInvalidResourceHandle);
}

RT_API cudaError_t plrt_cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);
RT_API cudaError_t plrt_cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
	if (!ms)
		return rt_error(cudaErrorInvalidValue);
	if (!start || !end || !start->recorded || !end->recorded || (start->flags | end->flags) & 2)
		return rt_error(cudaErrorInvalidResourceHandle);
	*ms = (float)((double)(end->at.tv_sec - start->at.tv_sec) * 1e3 +
		      (double)(end->at.tv_nsec - start->at.tv_nsec) / 1e6);
	return cudaSuccess;
}
