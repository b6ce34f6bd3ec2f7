/*
 * Work of the host in the order of a stream: see work.h.
 */
#include "runtime/work.h"
#include "runtime/rt.h"
#include "src/base/size.h"
#include "src/dev/memory/copy.h"
#include "src/dev/memory/watch.h"

struct work {
	work_fn *fn;
	struct work_run run;
	_Alignas(16) u8 data[WORK_BYTES];
};

static enum status run_work(void *data, enum status so_far)
{
	struct work *w = data;

	return so_far == STATUS_SUCCESS ? (enum status)w->fn(w->data, &w->run) : so_far;
}

int plrt_work_issue(const char *name, void *stream, work_fn *fn, const void *data, size_t bytes,
		    u32 how)
{
	bool wait = how & WORK_WAIT;
	struct work w = {.fn = fn, .run = {.name = name, .issued = {NULL, host_trace_here(NULL)}}};
	int status;
	struct stream *s = rt_stream(stream, false, &status);

	if (!s)
		return status;
	if (bytes > sizeof(w.data))
		return STATUS_INVALID_VALUE;
	/* The host would get nothing now, and what graphs find later is not for it. */
	if (wait && stream_is_capturing(s))
		return STATUS_STREAM_CAPTURE_UNSUPPORTED;
	w.run.dev = stream_device_of(s);
	memcpy(w.data, data, bytes);
	return (int)stream_call(s, run_work, &w, offsetof(struct work, data) + bytes,
				(wait ? STREAM_WAIT : 0u) | (how & WORK_POLL ? STREAM_POLL : 0u));
}

int plrt_work_device(void)
{
	int status;

	return rt_device_now(&status) ? rt_device_index() : -1;
}

int plrt_work_enter(int device)
{
	struct rt_context *c;
	int status = rt_device_check(device);

	if (status)
		return status;
	c = rt_context_primary(device);
	if (!c || !rt_context_push(c))
		return STATUS_OUT_OF_MEMORY;
	if (!rt_device_now(&status)) {
		rt_context_pop();
		return status;
	}
	return STATUS_SUCCESS;
}

void plrt_work_leave(void)
{
	rt_context_pop();
}

void plrt_work_finish(void)
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (d)
		stream_device_finish(&d->dev);
}

bool plrt_work_is_captured(void *stream)
{
	int status;
	struct stream *s = rt_stream(stream, false, &status);

	return s && stream_is_capturing(s);
}

int plrt_work_join(void *from, void *to)
{
	int status;
	struct rt_device *d = rt_device_now(&status);
	struct stream *a = rt_stream(from, false, &status), *b;
	struct stream_event *e;

	b = a ? rt_stream(to, false, &status) : NULL;
	if (!d || !b)
		return status;
	status = (int)stream_event_create(&d->dev, STREAM_EVENT_NO_TIMING, &e);
	if (status)
		return status;
	status = (int)stream_event_record(e, a, 0);
	if (!status)
		status = (int)stream_wait_event(b, e, 0);
	stream_event_destroy(rt_get()->streams, e);
	return status;
}

/* What of [at, at + bytes) lies in memory that the device may use so, at one distance. */
static u64 usable_bytes(struct mem *m, u64 at, u64 bytes, bool write, u64 *bias)
{
	struct mem_range r;
	u64 done = 0;

	while (done < bytes) {
		if (!mem_find(m, at + done, 1, &r) || (write && !mem_is_writable(m, &r)) ||
		    (done && r.bias != *bias))
			return done;
		*bias = r.bias;
		done += min_u64(r.base + r.size - (at + done), bytes - done);
	}
	return done;
}

void *plrt_work_memory(const struct work_run *w, const struct work_memory *x)
{
	struct memory_box box = {.address = x->address, .pitch = x->pitch, .known = true};
	struct copy_fault f = {.what = w->name,
			       .name = "",
			       .from = x->address,
			       .write = x->write,
			       .device = true,
			       .issued = w->issued};
	u64 good = 0, bias = 0;

	if (size_offset(x->bytes, x->columns - 1, x->pitch, 0, 0, &f.bytes) &&
	    size_is_range(x->address, f.bytes))
		good = usable_bytes(&w->dev->mem, x->address, f.bytes, x->write, &bias);
	else
		f.bytes = x->bytes;
	if (!f.bytes || good < f.bytes) {
		f.address = x->address + good;
		if (w->dev->on_copy_fault)
			w->dev->on_copy_fault(w->dev, &f);
		return NULL;
	}
	if (x->write && memory_is_watched())
		memory_tell_fill(&box, x->bytes, x->columns, 1);
	return (void *)(uintptr_t)(x->address + bias);
}
