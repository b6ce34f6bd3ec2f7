/*
 * Events of the runtime interface.
 */
#include "runtime/rt.h"

/* The event, when the device lives and it is one. */
static int check(cudaEvent_t event)
{
	int status;

	if (!rt_device_now(&status))
		return status;
	return stream_event_is(rt_get()->streams, event) ? cudaSuccess : rt_stream_error(event);
}

static int create(cudaEvent_t *out, unsigned flags)
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (!d)
		return status;
	return out ? (int)stream_event_create(&d->dev, flags, out) : cudaErrorInvalidValue;
}

RT_FN(cudaEventCreateWithFlags, (cudaEvent_t *out, unsigned flags))
{
	return rt_error(create(out, flags));
}

RT_FN(cudaEventCreate, (cudaEvent_t *out))
{
	return rt_error(create(out, 0));
}

RT_FN(cudaEventDestroy, (cudaEvent_t event))
{
	int status;

	if (!rt_device_now(&status))
		return rt_error(status);
	return rt_error((int)stream_event_destroy(rt_get()->streams, event));
}

/* External (1): in a capture, a node that records when the graph runs. */
static int record(cudaEvent_t event, cudaStream_t stream, bool own, unsigned flags)
{
	int status = check(event);
	struct stream *s = status ? NULL : rt_stream(stream, own, &status);

	if (!s)
		return status;
	if (flags & ~1u)
		return cudaErrorInvalidValue;
	return (int)stream_event_record(event, s, flags);
}

static int wait_event(cudaStream_t stream, bool own, cudaEvent_t event, unsigned flags)
{
	int status = check(event);
	struct stream *s = status ? NULL : rt_stream(stream, own, &status);

	if (!s)
		return status;
	if (flags & ~1u)
		return cudaErrorInvalidValue;
	return (int)stream_wait_event(s, event, flags);
}

RT_STREAM_FN(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream),
	     record(event, stream, OWN, 0))
RT_STREAM_FN(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
	     record(event, stream, OWN, flags))
RT_STREAM_FN(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
	     wait_event(stream, OWN, event, flags))

RT_FN(cudaEventSynchronize, (cudaEvent_t event))
{
	int status = check(event);

	return rt_error(status ? status : (int)stream_event_wait(event));
}

RT_FN(cudaEventQuery, (cudaEvent_t event))
{
	int status = check(event);

	return rt_error(status ? status : (int)stream_event_query(event));
}

RT_FN(cudaEventElapsedTime, (float *ms, cudaEvent_t start, cudaEvent_t end))
{
	int status = check(start);

	if (!status)
		status = check(end);
	if (!status && !ms)
		status = cudaErrorInvalidValue;
	return rt_error(status ? status : (int)stream_event_elapsed(start, end, ms));
}

/* ---- events of other processes ---- */

RT_FN(cudaIpcGetEventHandle, (struct rt_ipc_handle * handle, cudaEvent_t event))
{
	int status = event ? check(event) : (int)cudaErrorInvalidValue;

	return rt_error(status ? status : (int)stream_event_export(event, handle));
}

RT_FN(cudaIpcOpenEventHandle, (cudaEvent_t * out, struct rt_ipc_handle handle))
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (!d)
		return rt_error(status);
	return rt_error(out ? (int)stream_event_import(&d->dev, &handle, out)
			    : cudaErrorInvalidValue);
}
