/*
 * Entry points about streams that are the same in both interfaces: the program's functions in the
 * order of a stream, managed memory that is attached to one, and what a stream is.
 */
#include "runtime/cuda/drv.h"

struct host_call {
	void (*fn)(void *);
	void *user;
};

static enum status run_host_call(void *data, enum status so_far)
{
	const struct host_call *c = data;

	(void)so_far;
	c->fn(c->user);
	return STATUS_SUCCESS;
}

static int launch_host(struct stream *s, int status, struct host_call c)
{
	if (!s)
		return status;
	return c.fn ? (int)stream_call(s, run_host_call, &c, sizeof(c), STREAM_HOST)
		    : (int)STATUS_INVALID_VALUE;
}

struct callback {
	void (*fn)(void *, int, void *);
	void *stream; /* as the program named it */
	void *user;
};

/* Unlike a host function it learns of a fault. */
static enum status run_callback(void *data, enum status so_far)
{
	const struct callback *c = data;

	c->fn(c->stream, (int)so_far, c->user);
	return STATUS_SUCCESS;
}

static int add_callback(struct stream *s, int status, struct callback c, unsigned flags)
{
	if (!s)
		return status;
	if (!c.fn || flags)
		return STATUS_INVALID_VALUE;
	return (int)stream_call(s, run_callback, &c, sizeof(c),
				STREAM_HOST | STREAM_ALWAYS | STREAM_CALLBACK);
}

/* Managed memory is coherent here, whatever it is attached to; only mistakes show. */
static int attach_memory(struct stream *s, int status, u64 p, size_t length, unsigned flags)
{
	struct mem_range r;

	if (!s)
		return status;
	status = (int)stream_capture_forbid(s);
	if (status)
		return status;
	if ((flags != 1 && flags != 2 && flags != 4) || (flags == 4 && stream_is_legacy(s)))
		return STATUS_INVALID_VALUE;
	if (!mem_find(&stream_device_of(s)->mem, p, length ? length : 1, &r) ||
	    r.kind != MEM_KIND_MANAGED || r.base != p || (length && length != r.size))
		return STATUS_INVALID_VALUE;
	return STATUS_SUCCESS;
}

STREAM_FNS(cuLaunchHostFunc, cudaLaunchHostFunc, (void *stream, rt_host_fn *fn, void *user),
	   launch_host(s, status, (struct host_call){fn, user}))
STREAM_FNS(cuStreamAddCallback, cudaStreamAddCallback,
	   (void *stream, rt_stream_callback *fn, void *user, unsigned flags),
	   add_callback(s, status, (struct callback){fn, stream, user}, flags))
STREAM_FNS(cuStreamAttachMemAsync, cudaStreamAttachMemAsync,
	   (void *stream, u64 p, size_t length, unsigned flags),
	   attach_memory(s, status, p, length, flags))

/* ---- asking ---- */

enum ask { ASK_FLAGS, ASK_PRIORITY, ASK_ID, ASK_DEVICE };

static int device_index(const struct device *d)
{
	struct rt *rt = rt_get();
	u32 i = 0;

	while (i < rt->list.len && &rt->device[i].dev != d)
		i++;
	return (int)i;
}

/*
 * A stream that is being captured returns its priority; asking for its flags or number
 * invalidates it.
 */
static int ask(struct stream *s, int status, enum ask what, void *out)
{
	if (!s)
		return status;
	if (!out)
		return STATUS_INVALID_VALUE;
	if (what == ASK_FLAGS || what == ASK_ID)
		status = (int)stream_capture_forbid(s);
	if (status)
		return status;
	switch (what) {
	case ASK_FLAGS:
		*(unsigned *)out = stream_flags_of(s);
		break;
	case ASK_PRIORITY:
		*(int *)out = stream_priority_of(s);
		break;
	case ASK_ID:
		*(u64 *)out = stream_id_of(s);
		break;
	case ASK_DEVICE:
		*(int *)out = device_index(stream_device_of(s));
		break;
	}
	return STATUS_SUCCESS;
}

STREAM_FNS(cuStreamGetFlags, cudaStreamGetFlags, (void *stream, unsigned *flags),
	   ask(s, status, ASK_FLAGS, flags))
STREAM_FNS(cuStreamGetPriority, cudaStreamGetPriority, (void *stream, int *priority),
	   ask(s, status, ASK_PRIORITY, priority))
STREAM_FNS(cuStreamGetId, cudaStreamGetId, (void *stream, u64 *id), ask(s, status, ASK_ID, id))
STREAM_FNS(cuStreamGetDevice, cudaStreamGetDevice, (void *stream, int *device),
	   ask(s, status, ASK_DEVICE, device))
