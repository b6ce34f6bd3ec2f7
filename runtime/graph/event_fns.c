/*
 * Events of both interfaces. They differ in what is asked first: the runtime interface wants a
 * device that works, the driver's an event, which needs no current context.
 */
#include "runtime/cuda/drv.h"

/*
 * Both forms of a function; `body` is an expression, in which DRIVER says which of the two was
 * called.
 */
#define EVENT_FN(driver, runtime, params, body)                                                    \
	DRV_FN(driver, params)                                                                     \
	{                                                                                          \
		enum { DRIVER = 1 };                                                               \
		return body;                                                                       \
	}                                                                                          \
	RT_FN(runtime, params)                                                                     \
	{                                                                                          \
		enum { DRIVER = 0 };                                                               \
		return rt_error(body);                                                             \
	}
/* And each with its _ptsz form: OWN. */
#define EVENT_STREAM_FN(name, params, body)                                                        \
	DRV_STREAM_FN(cu##name, params, ({                                                         \
			      enum { DRIVER = 1 };                                                 \
			      body;                                                                \
		      }))                                                                          \
	RT_STREAM_FN(cuda##name, params, ({                                                        \
			     enum { DRIVER = 0 };                                                  \
			     body;                                                                 \
		     }))

static struct rt_device *device_now(bool driver, int *status)
{
	return driver ? drv_device(status) : rt_device_now(status);
}

/* Is it an event? */
static int check_event(struct stream_event *event, bool driver)
{
	bool is_event = stream_event_is(rt_get()->streams, event);
	int status;

	if (driver && is_event)
		return STATUS_SUCCESS;
	if (!device_now(driver, &status))
		return status;
	return is_event ? (int)STATUS_SUCCESS : rt_stream_error(event);
}

static int event_create(struct stream_event **out, unsigned flags, bool driver)
{
	int status;
	struct rt_device *d = device_now(driver, &status);

	if (!d)
		return status;
	return out ? (int)stream_event_create(&d->dev, flags, out) : (int)STATUS_INVALID_VALUE;
}

static int event_destroy(struct stream_event *event, bool driver)
{
	int status;

	if (!(driver ? drv_any_device(&status) : rt_device_now(&status)))
		return status;
	return (int)stream_event_destroy(rt_get()->streams, event);
}

EVENT_FN(cuEventCreate, cudaEventCreateWithFlags, (struct stream_event * *out, unsigned flags),
	 event_create(out, flags, DRIVER))
EVENT_FN(cuEventDestroy_v2, cudaEventDestroy, (struct stream_event * event),
	 event_destroy(event, DRIVER))

RT_FN(cudaEventCreate, (struct stream_event * *out))
{
	return rt_error(event_create(out, 0, false));
}

DRV_FN(cuEventDestroy, (struct stream_event * event))
{
	return event_destroy(event, true);
}

/* ---- with streams ---- */

/* The stream, when the event is one, too. */
static struct stream *checked_stream(struct stream_event *event, void *stream, bool own,
				     bool driver, int *status)
{
	*status = check_event(event, driver);
	if (*status)
		return NULL;
	return driver ? drv_stream(stream, own, status) : rt_stream(stream, own, status);
}

/* External (1): in a capture, a node that records when the graph runs. */
static int event_record(struct stream_event *event, struct stream *stream, bool own, unsigned flags,
			bool driver)
{
	int status;
	struct stream *s = checked_stream(event, stream, own, driver, &status);

	if (!s)
		return status;
	return (int)(flags & ~1u ? STATUS_INVALID_VALUE : stream_event_record(event, s, flags));
}

static int event_wait(struct stream *stream, bool own, struct stream_event *event, unsigned flags,
		      bool driver)
{
	int status;
	struct stream *s = checked_stream(event, stream, own, driver, &status);

	if (!s)
		return status;
	return (int)(flags & ~1u ? STATUS_INVALID_VALUE : stream_wait_event(s, event, flags));
}

EVENT_STREAM_FN(EventRecord, (struct stream_event * event, struct stream *stream),
		event_record(event, stream, OWN, 0, DRIVER))
EVENT_STREAM_FN(EventRecordWithFlags,
		(struct stream_event * event, struct stream *stream, unsigned flags),
		event_record(event, stream, OWN, flags, DRIVER))
EVENT_STREAM_FN(StreamWaitEvent,
		(struct stream * stream, struct stream_event *event, unsigned flags),
		event_wait(stream, OWN, event, flags, DRIVER))

/* ---- asking ---- */

static int event_synchronize(struct stream_event *event, bool driver)
{
	int status = check_event(event, driver);

	return status ? status : (int)stream_event_wait(event);
}

static int event_query(struct stream_event *event, bool driver)
{
	int status = check_event(event, driver);

	return status ? status : (int)stream_event_query(event);
}

static int event_elapsed(float *ms, struct stream_event *start, struct stream_event *end,
			 bool driver)
{
	int status = check_event(start, driver);

	if (!status)
		status = check_event(end, driver);
	if (!status && !ms)
		status = STATUS_INVALID_VALUE;
	return status ? status : (int)stream_event_elapsed(start, end, ms);
}

EVENT_FN(cuEventSynchronize, cudaEventSynchronize, (struct stream_event * event),
	 event_synchronize(event, DRIVER))
EVENT_FN(cuEventQuery, cudaEventQuery, (struct stream_event * event), event_query(event, DRIVER))
EVENT_FN(cuEventElapsedTime, cudaEventElapsedTime,
	 (float *ms, struct stream_event *start, struct stream_event *end),
	 event_elapsed(ms, start, end, DRIVER))

EVENT_FN(cuEventElapsedTime_v2, cudaEventElapsedTime_v2,
	 (float *ms, struct stream_event *start, struct stream_event *end),
	 event_elapsed(ms, start, end, DRIVER))

/* ---- events of other processes ---- */

static int event_export(struct rt_ipc_handle *out, struct stream_event *event, bool driver)
{
	int status = event ? check_event(event, driver) : (int)STATUS_INVALID_VALUE;

	return status ? status : (int)stream_event_export(event, out);
}

static int event_import(struct stream_event **out, struct rt_ipc_handle handle, bool driver)
{
	int status;
	struct rt_device *d = device_now(driver, &status);

	if (!d)
		return status;
	return out ? (int)stream_event_import(&d->dev, &handle, out) : (int)STATUS_INVALID_VALUE;
}

EVENT_FN(cuIpcGetEventHandle, cudaIpcGetEventHandle,
	 (struct rt_ipc_handle * out, struct stream_event *event), event_export(out, event, DRIVER))
EVENT_FN(cuIpcOpenEventHandle, cudaIpcOpenEventHandle,
	 (struct stream_event * *out, struct rt_ipc_handle handle),
	 event_import(out, handle, DRIVER))
