/*
 * Events of the driver interface.
 */
#include "runtime/cuda/drv.h"

/* Is it an event, and does the context live? */
static int check(struct stream_event *event)
{
	int status;

	/* One that was made needs no current context. */
	if (stream_event_is(rt_get()->streams, event))
		return STATUS_SUCCESS;
	return drv_device(&status) ? rt_stream_error(event) : status;
}

DRV_FN(cuEventCreate, (struct stream_event **out, unsigned flags))
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	return out ? (int)stream_event_create(&d->dev, flags, out) : STATUS_INVALID_VALUE;
}

static int destroy(struct stream_event *event)
{
	int status;

	return drv_any_device(&status) ? (int)stream_event_destroy(rt_get()->streams, event) : status;
}

DRV_FN(cuEventDestroy, (struct stream_event *event))
{
	return destroy(event);
}

DRV_FN(cuEventDestroy_v2, (struct stream_event *event))
{
	return destroy(event);
}

static int record(struct stream_event *event, struct stream *stream, bool own, unsigned flags)
{
	int status = check(event);
	struct stream *s = status ? NULL : drv_stream(stream, own, &status);

	if (!s)
		return status;
	return flags & ~1u ? STATUS_INVALID_VALUE : (int)stream_event_record(event, s, flags);
}

static int wait_event(struct stream *stream, bool own, struct stream_event *event, unsigned flags)
{
	int status = check(event);
	struct stream *s = status ? NULL : drv_stream(stream, own, &status);

	if (!s)
		return status;
	return flags & ~1u ? STATUS_INVALID_VALUE : (int)stream_wait_event(s, event, flags);
}

DRV_STREAM_FN(cuEventRecord, (struct stream_event *event, struct stream *stream),
	      record(event, stream, OWN, 0))
DRV_STREAM_FN(cuEventRecordWithFlags,
	      (struct stream_event *event, struct stream *stream, unsigned flags),
	      record(event, stream, OWN, flags))
DRV_STREAM_FN(cuStreamWaitEvent,
	      (struct stream *stream, struct stream_event *event, unsigned flags),
	      wait_event(stream, OWN, event, flags))

DRV_FN(cuEventSynchronize, (struct stream_event *event))
{
	int status = check(event);

	return status ? status : (int)stream_event_wait(event);
}

DRV_FN(cuEventQuery, (struct stream_event *event))
{
	int status = check(event);

	return status ? status : (int)stream_event_query(event);
}

static int elapsed(float *ms, struct stream_event *start, struct stream_event *end)
{
	int status = check(start);

	if (!status)
		status = check(end);
	if (!status && !ms)
		status = STATUS_INVALID_VALUE;
	return status ? status : (int)stream_event_elapsed(start, end, ms);
}

DRV_FN(cuEventElapsedTime, (float *ms, struct stream_event *start, struct stream_event *end))
{
	return elapsed(ms, start, end);
}

DRV_FN(cuEventElapsedTime_v2, (float *ms, struct stream_event *start, struct stream_event *end))
{
	return elapsed(ms, start, end);
}

/* ---- events of other processes ---- */

DRV_FN(cuIpcGetEventHandle, (struct rt_ipc_handle * handle, struct stream_event *event))
{
	int status = event ? check(event) : (int)STATUS_INVALID_VALUE;

	return status ? status : (int)stream_event_export(event, handle);
}

DRV_FN(cuIpcOpenEventHandle, (struct stream_event * *out, struct rt_ipc_handle handle))
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	return out ? (int)stream_event_import(&d->dev, &handle, out) : STATUS_INVALID_VALUE;
}
