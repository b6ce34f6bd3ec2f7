/*
 * Entry points about streams that are the same in both interfaces: the program's functions in the order
 * of a stream, and managed memory that is attached to one.
 */
#include "runtime/drv.h"

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
static int attach(struct stream *s, int status, u64 p, size_t length, unsigned flags)
{
	struct mem_range r;

	if (!s)
		return status;
	if ((flags != 1 && flags != 2 && flags != 4) || (flags == 4 && stream_is_legacy(s)))
		return STATUS_INVALID_VALUE;
	if (!mem_find(&stream_device_of(s)->mem, p, length ? length : 1, &r) ||
	    r.kind != MEM_KIND_MANAGED || (length && length != r.size))
		return STATUS_INVALID_VALUE;
	return STATUS_SUCCESS;
}

STREAM_FNS(cuLaunchHostFunc, cudaLaunchHostFunc,
	   (void *stream, void (*fn)(void *), void *user),
	   launch_host(s, status, (struct host_call){fn, user}))
STREAM_FNS(cuStreamAddCallback, cudaStreamAddCallback,
	   (void *stream, void (*fn)(void *, int, void *), void *user, unsigned flags),
	   add_callback(s, status, (struct callback){fn, stream, user}, flags))
STREAM_FNS(cuStreamAttachMemAsync, cudaStreamAttachMemAsync,
	   (void *stream, u64 p, size_t length, unsigned flags),
	   attach(s, status, p, length, flags))
