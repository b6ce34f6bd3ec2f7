/*
 * Streams of the runtime interface, and host functions in them.
 */
#include "runtime/rt.h"
#include "runtime/graph/stream_attr.h"

struct stream *rt_stream(const void *handle, bool own, int *status)
{
	struct rt_device *d = rt_device_now(status);
	struct stream *s;

	if (!d)
		return NULL;
	s = stream_resolve(&d->dev, handle, own);
	if (!s)
		*status = rt_stream_error(handle);
	return s;
}

int rt_stream_error(const void *handle)
{
	return stream_was(rt_get()->streams, handle) ? STATUS_CONTEXT_IS_DESTROYED
						     : STATUS_INVALID_HANDLE;
}

/* ---- making ---- */

int rt_stream_create(struct rt_device *d, u32 flags, int priority, struct stream **out)
{
	int status = (int)stream_create(&d->dev, flags, priority, out);

	if (!status)
		stream_owner_set(*out, rt_context_now());
	return status;
}

static int rt_create_stream(cudaStream_t *out, unsigned flags, int priority)
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (!d)
		return status;
	return out ? rt_stream_create(d, flags, priority, out) : cudaErrorInvalidValue;
}

RT_FN(cudaStreamCreateWithPriority, (cudaStream_t * out, unsigned flags, int priority))
{
	return rt_error(rt_create_stream(out, flags, priority));
}

RT_FN(cudaStreamCreateWithFlags, (cudaStream_t * out, unsigned flags))
{
	return rt_error(rt_create_stream(out, flags, 0));
}

RT_FN(cudaStreamCreate, (cudaStream_t * out))
{
	return rt_error(rt_create_stream(out, 0, 0));
}

RT_FN(cudaStreamDestroy, (cudaStream_t stream))
{
	int status;

	if (!rt_device_now(&status))
		return rt_error(status);
	if ((uintptr_t)stream <= 2)
		return rt_error(cudaErrorInvalidResourceHandle);
	return rt_error((int)stream_destroy(rt_get()->streams, stream));
}

/* ---- waiting ---- */

static int rt_synchronize_stream(cudaStream_t stream, bool own)
{
	int status;
	struct stream *s = rt_stream(stream, own, &status);

	return s ? (int)stream_wait(s) : status;
}

static int rt_query_stream(cudaStream_t stream, bool own)
{
	int status;
	struct stream *s = rt_stream(stream, own, &status);

	return s ? (int)stream_query(s) : status;
}

RT_STREAM_FN(cudaStreamSynchronize, (cudaStream_t stream), rt_synchronize_stream(stream, OWN))
RT_STREAM_FN(cudaStreamQuery, (cudaStream_t stream), rt_query_stream(stream, OWN))

/* ---- attributes ---- */

static int rt_get_stream_attribute(cudaStream_t stream, bool own, int id, void *value)
{
	int status;
	struct stream *s = rt_stream(stream, own, &status);

	return s ? (int)stream_attr_get(s, id, value) : status;
}

static int rt_set_stream_attribute(cudaStream_t stream, bool own, int id, const void *value)
{
	int status;
	struct stream *s = rt_stream(stream, own, &status);

	return s ? (int)stream_attr_set(s, id, value) : status;
}

static int rt_copy_stream_attributes(cudaStream_t to, cudaStream_t from, bool own)
{
	int status;
	struct stream *a = rt_stream(from, own, &status), *b = a ? rt_stream(to, own, &status) : a;

	return b ? (int)stream_attr_copy(b, a) : status;
}

RT_STREAM_FN(cudaStreamGetAttribute, (cudaStream_t stream, int id, void *value),
	     rt_get_stream_attribute(stream, OWN, id, value))
RT_STREAM_FN(cudaStreamSetAttribute, (cudaStream_t stream, int id, const void *value),
	     rt_set_stream_attribute(stream, OWN, id, value))
RT_STREAM_FN(cudaStreamCopyAttributes, (cudaStream_t to, cudaStream_t from),
	     rt_copy_stream_attributes(to, from, OWN))
