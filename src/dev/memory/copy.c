/*
 * Copies and fills: checks, and the moves themselves.
 */
#include "src/dev/memory/copy.h"

#include "src/base/piece.h"
#include "src/base/stats.h"
#include "src/base/size.h"
#include "src/dev/graph/graph.h"
#include "src/dev/memory/memory.h"
#include "src/dev/memory/watch.h"
#include "src/mem/guard.h"

#include <stdlib.h>

/* CU_DEVICE_ATTRIBUTE_MAX_PITCH of all devices. */
#define PITCH_MAX ((u64)INT32_MAX)
/* Pageable sources up to this are staged; larger ones are waited for. */
#define STAGED_MAX ((u64)1 << 30)

/* ---- ends ---- */

/* What an end has become. */
struct place {
	u8 *at;
	u64 pitch, slice;
	bool pageable, device;
	const struct mem_array *array; /* NULL: memory */
	u64 bias;
};

/*
 * Mappings may follow each other without a gap: all of [at, at + bytes) has to be in some that a
 * device may use.
 */
static bool is_mapped(struct mem *m, u64 at, u64 bytes, bool written, struct mem_range *first)
{
	struct mem_range r;
	u64 done = 0, n;
	u32 devices;

	while (done < bytes) {
		if (!mem_find_own(m, at + done, 1, &r))
			return false;
		devices = r.devices;
		if (written)
			devices &= ~r.read_only;
		if (!devices)
			return false;
		n = r.base + r.size - (at + done);
		if (!done)
			*first = r;
		done += n;
	}
	return true;
}

static bool find_span(struct mem_system *s, u64 at, u64 bytes, bool written, struct place *out)
{
	struct mem *arena = mem_system_arena(s, at);
	struct mem_range r;

	if (!arena) {
		/* The program's own memory, registered or not. */
		out->pageable = !mem_find_own(&s->host, at, bytes, &r);
		out->at = (u8 *)(uintptr_t)at;
		return true;
	}
	if (!(arena == &s->maps ? is_mapped(arena, at, bytes, written, &r)
				: mem_find_own(arena, at, bytes, &r)))
		return false;
	out->at = mem_host(&r, at);
	out->bias = r.bias;
	out->device = arena != &s->host;
	return true;
}

static enum status place_memory(struct mem_system *s, const struct copy_end *e,
				const struct copy *c, struct place *out)
{
	u64 rows = c->depth > 1 || e->z ? (e->rows ? e->rows : c->height) : 0, pitch, span, off, at;

	pitch = c->height > 1 || c->depth > 1 || e->y || e->z ? e->pitch : 0;
	if (pitch > PITCH_MAX)
		return STATUS_INVALID_VALUE;
	if (pitch && pitch < c->width)
		return STATUS_INVALID_PITCH_VALUE;
	if (c->height > 1 && !pitch)
		return STATUS_INVALID_PITCH_VALUE;
	/* A box ends in the row, and the slice, in which it begins. */
	if (pitch && !size_inside(e->x, c->width, 0, pitch))
		return STATUS_INVALID_VALUE;
	if (rows && !size_inside(e->rows ? e->y : 0, c->height, 0, rows))
		return STATUS_INVALID_VALUE;
	out->pitch = pitch;
	if (!e->address || !size_mul(pitch, rows, &out->slice) ||
	    !size_offset(c->width, c->height - 1, pitch, c->depth - 1, out->slice, &span) ||
	    !size_offset(e->x, e->y, pitch, e->z, out->slice, &off) ||
	    !size_add(e->address, off, &at) || !size_is_range(at, span))
		return STATUS_INVALID_VALUE;
	if (!find_span(s, at, span, e != &c->src, out))
		return STATUS_INVALID_VALUE;
	return e->place == COPY_DEVICE && out->pageable ? STATUS_INVALID_VALUE : STATUS_SUCCESS;
}

static struct mem_array *copy_find_array(struct mem_system *s, const void *handle)
{
	struct mem_array *a = NULL;

	for (u32 i = 0; i < MEM_DEVICES_MAX && !a; i++)
		if (s->device[i])
			a = mem_array_check(s->device[i], handle);
	return a;
}

/* A box in an array; one that is wider than its row, but flat, goes on in the next rows. */
static enum status place_array(struct mem_system *s, const struct copy_end *e, const struct copy *c,
			       struct place *out)
{
	struct mem_array *a = copy_find_array(s, e->array);
	bool flat = c->height == 1 && c->depth == 1;

	if (!a)
		return STATUS_INVALID_HANDLE;
	if ((e->x | c->width) % a->element_bytes || e->x >= a->pitch || e->y >= a->rows ||
	    e->z >= a->slices)
		return STATUS_INVALID_VALUE;
	if (flat ? c->width > a->slice - (e->y * a->pitch + e->x)
		 : c->width > a->pitch - e->x || c->height > a->rows - e->y ||
			    c->depth > a->slices - e->z)
		return STATUS_INVALID_VALUE;
	out->at = (u8 *)(uintptr_t)mem_array_address(a, e->x, e->y, e->z);
	out->pitch = a->pitch;
	out->slice = a->slice;
	out->array = a;
	out->bias = a->mem->bias;
	out->device = true;
	return STATUS_SUCCESS;
}

static enum status place_end(struct mem_system *s, const struct copy_end *e, const struct copy *c,
			     struct place *out)
{
	*out = (struct place){0};
	return e->place == COPY_ARRAY ? place_array(s, e, c, out) : place_memory(s, e, c, out);
}

enum status copy_check(struct mem_system *s, const struct copy *c, struct copy_plan *out)
{
	struct place dst, src;
	enum status status;

	*out = (struct copy_plan){.width = c->width, .height = c->height, .depth = c->depth};
	if (!c->width || !c->height || !c->depth)
		return STATUS_SUCCESS;
	status = place_end(s, &c->dst, c, &dst);
	if (status == STATUS_SUCCESS)
		status = place_end(s, &c->src, c, &src);
	if (status != STATUS_SUCCESS)
		return status;
	out->dst = dst.at;
	out->src = src.at;
	out->dst_pitch = dst.pitch;
	out->dst_slice = dst.slice;
	out->src_pitch = src.pitch;
	out->src_slice = src.slice;
	out->dst_pageable = dst.pageable;
	out->src_pageable = src.pageable;
	out->dst_device = dst.device;
	out->src_device = src.device;
	out->dst_array = dst.array;
	out->src_array = src.array;
	out->dst_bias = dst.bias;
	out->src_bias = src.bias;
	return STATUS_SUCCESS;
}

struct copy copy_linear(enum copy_place to, u64 dst, enum copy_place from, u64 src, u64 bytes)
{
	return (struct copy){.dst = {.place = to, .address = dst},
			     .src = {.place = from, .address = src},
			     .width = bytes,
			     .height = 1,
			     .depth = 1};
}

/* ---- moves ---- */

/* One end of a copy: what is touched there, by the addresses that programs see. */
struct copy_side {
	u64 address, pitch, slice, bias;
	const struct mem_array *array;
	bool write;
};

static struct copy_side copy_side_of(const struct copy_plan *p, bool write)
{
	return write ? (struct copy_side){(u64)(uintptr_t)p->dst - p->dst_bias,
					  p->dst_pitch,
					  p->dst_slice,
					  p->dst_bias,
					  p->dst_array,
					  true}
		     : (struct copy_side){(u64)(uintptr_t)p->src - p->src_bias,
					  p->src_pitch,
					  p->src_slice,
					  p->src_bias,
					  p->src_array,
					  false};
}

/*
 * Is what was there when it was checked still there? Graphs keep copies and fills, and streams free
 * memory in their order. span: all that is touched.
 */
static bool is_still_there(const struct copy_plan *p, const struct copy_side *s, u64 span)
{
	struct mem_system *all = p->dev->mem.system;
	struct place now = {0};

	if (s->array)
		return copy_find_array(all, s->array) == s->array &&
		       size_inside(s->address + s->bias, span, s->array->base, s->array->bytes);
	return find_span(all, s->address, span, s->write, &now) && now.bias == s->bias;
}

/* False, and p->dev is told: it is not. width: bytes of a row. */
static bool check_again(const struct copy_plan *p, const struct copy_side *s, u64 width)
{
	struct copy_fault f = {.what = "a copy", .name = "", .write = s->write, .device = true};

	if (!p->dev || !p->dev->mem.system || !width || !p->height || !p->depth ||
	    !size_offset(width, p->height - 1, s->pitch, p->depth - 1, s->slice, &f.bytes) ||
	    is_still_there(p, s, f.bytes))
		return true;
	f.from = f.address = s->address;
	f.array = s->array != NULL;
	f.issued = p->issued;
	if (p->fills)
		f.what = "a fill";
	/* A caller that waits is told by the status. */
	if (p->dev->on_copy_fault && !p->outcome)
		p->dev->on_copy_fault(p->dev, &f);
	return false;
}

/* Rows and slices without gaps on both sides are one row. */
static struct copy_plan simplified(const struct copy_plan *p)
{
	struct copy_plan q = *p;

	if (q.height > 1 && q.dst_pitch == q.width && q.src_pitch == q.width &&
	    (q.depth == 1 || (q.dst_slice == q.width * q.height && q.src_slice == q.dst_slice))) {
		q.width *= q.height * q.depth;
		q.height = q.depth = 1;
	}
	return q;
}

static void move_at_once(void *arg)
{
	const struct copy_plan *q = arg;
	u64 began = stats_begin();

	for (u64 z = 0; z < q->depth; z++)
		for (u64 y = 0; y < q->height; y++)
			piece_move(q->dst + z * q->dst_slice + y * q->dst_pitch,
				   q->src + z * q->src_slice + y * q->src_pitch, q->width);
	stats_end(STATS_COPY, began, q->width * q->height * q->depth);
}

/* Is this end of the copy what cannot be touched? Then say how much of it, and where. */
static bool find_fault(const struct copy_plan *p, bool write, struct copy_fault *out)
{
	u64 pitch = write ? p->dst_pitch : p->src_pitch;
	u64 slice = write ? p->dst_slice : p->src_slice;

	*out = (struct copy_fault){.what = "a copy",
				   .name = "",
				   .from = (u64)(uintptr_t)(write ? p->dst : p->src),
				   .write = write};
	return !(write ? p->dst_device : p->src_device) &&
	       size_offset(p->width, p->height - 1, pitch, p->depth - 1, slice, &out->bytes) &&
	       mem_guard_find_bad(out->from, out->bytes, write, &out->address, &out->exists);
}

static void report_fault(const struct copy_plan *p)
{
	struct copy_fault fault;

	if (p->dev && p->dev->on_copy_fault &&
	    (find_fault(p, false, &fault) || find_fault(p, true, &fault)))
		p->dev->on_copy_fault(p->dev, &fault);
}

static struct memory_box dst_box(const struct copy_plan *p)
{
	return (struct memory_box){(u64)(uintptr_t)p->dst - p->dst_bias,
				   p->dst_pitch,
				   p->dst_slice,
				   !p->dst_pageable,
				   p->dst_array != NULL,
				   p->dst_device};
}

/* What is staged is told when it is read from where it was staged. */
static void tell_copy(const struct copy_plan *p)
{
	struct memory_copy c = {.dst = dst_box(p),
				.src = {(u64)(uintptr_t)p->src - p->src_bias, p->src_pitch,
					p->src_slice, !p->src_pageable && !p->owned,
					p->src_array != NULL, p->src_device},
				.width = p->width,
				.height = p->height,
				.depth = p->depth,
				.bytes = p->src};

	if (p->dev && p->width && p->height && p->depth)
		memory_tell_copy(&c);
}

enum status copy_run(const struct copy_plan *p)
{
	struct copy_plan q = simplified(p);
	struct copy_side src = copy_side_of(p, false), dst = copy_side_of(p, true);
	bool ok = true;

	if (!check_again(p, &src, p->width) || !check_again(p, &dst, p->width))
		return STATUS_INVALID_VALUE;
	if (memory_is_watched())
		tell_copy(p);
	if (q.dst_device && q.src_device)
		move_at_once(&q);
	else
		ok = mem_guard(move_at_once, &q, NULL);
	memory_tell_done();
	if (PL_LIKELY(ok))
		return STATUS_SUCCESS;
	report_fault(p);
	return STATUS_INVALID_VALUE;
}

/* An error returned to a waiting caller does not make the device fail. */
static enum status run_stream_copy(void *data, enum status so_far)
{
	const struct copy_plan *p = data;
	enum status status = so_far == STATUS_SUCCESS ? copy_run(p) : STATUS_SUCCESS;

	free(p->owned);
	if (!p->outcome)
		return status == STATUS_SUCCESS ? status : STATUS_ILLEGAL_ADDRESS;
	*p->outcome = status;
	return STATUS_SUCCESS;
}

/*
 * Stage the source, rows and slices without gaps. False: there is no memory, or nothing to
 * read.
 */
static bool stage_source(struct copy_plan *p)
{
	struct copy_plan staged = *p;
	u64 slice, bytes;

	if (!size_mul(p->width, p->height, &slice) || !size_mul(slice, p->depth, &bytes) ||
	    bytes > STAGED_MAX)
		return false;
	p->owned = staged.dst = malloc(bytes);
	if (!p->owned)
		return false;
	staged.dst_pitch = p->width;
	staged.dst_slice = slice;
	staged.dev = NULL;
	if (copy_run(&staged) != STATUS_SUCCESS) {
		free(p->owned);
		p->owned = NULL;
		return false;
	}
	p->src = p->owned;
	p->src_pitch = p->width;
	p->src_slice = slice;
	return true;
}

enum status copy_issue(struct stream *s, const struct copy *c, enum copy_mode mode)
{
	struct copy_plan p;
	enum status status = copy_check(stream_device_of(s)->mem.system, c, &p);
	enum status outcome = STATUS_SUCCESS;
	bool wait, unseen, capturing = stream_is_capturing(s);

	if (status != STATUS_SUCCESS || !p.width || !p.height || !p.depth)
		return status;
	/* A captured copy reads its source when the graph runs. */
	wait = capturing           ? false
	       : mode == COPY_SYNC ? !p.dst_device || !p.src_device
				   : p.dst_pageable;
	/* Where CUDA may return before the copy is done, programs cannot rely on its end. */
	unseen = mode == COPY_ASYNC && !p.dst_pageable;
	if ((mode == COPY_EARLY || (mode == COPY_ASYNC && p.src_pageable)) && !wait && !capturing)
		wait = stream_ask(s) != STATUS_NOT_READY || !stage_source(&p);
	p.dev = stream_device_of(s);
	p.issued = wait ? (struct host_from){0} : (struct host_from){NULL, host_trace_here(NULL)};
	p.outcome = wait ? &outcome : NULL;
	status = stream_call(s, run_stream_copy, &p, sizeof(p),
			     STREAM_COPY | (p.owned ? (u32)STREAM_ALWAYS : 0) |
				     (wait ? (u32)STREAM_WAIT : 0) |
				     (unseen ? (u32)STREAM_UNSEEN : 0));
	if (status != STATUS_SUCCESS)
		free(p.owned);
	return status == STATUS_SUCCESS ? outcome : status;
}

/* ---- fills ---- */

struct fill_work {
	struct copy_plan plan;
	u32 value, bytes;
};

enum status copy_fill_check(struct mem_system *s, const struct copy_fill *f, struct copy_plan *out)
{
	struct copy_end end = {
		.place = COPY_DEVICE, .address = f->address, .pitch = f->pitch, .rows = f->rows};
	struct copy box = {.height = f->height, .depth = f->depth};
	struct place dst;
	enum status status;

	*out = (struct copy_plan){.width = f->width, .height = f->height, .depth = f->depth};
	if (!size_mul(f->width, f->bytes, &box.width) || f->address % f->bytes ||
	    (f->height > 1 && f->pitch % f->bytes) || (f->depth > 1 && f->rows < f->height))
		return STATUS_INVALID_VALUE;
	if (!f->width || !f->height || !f->depth)
		return STATUS_SUCCESS;
	status = place_end(s, &end, &box, &dst);
	if (status == STATUS_INVALID_PITCH_VALUE)
		status = STATUS_INVALID_VALUE;
	if (status != STATUS_SUCCESS)
		return status;
	out->dst = dst.at;
	out->dst_pitch = dst.pitch;
	out->dst_slice = dst.slice;
	out->dst_device = dst.device;
	out->dst_bias = dst.bias;
	out->fills = true;
	return STATUS_SUCCESS;
}

enum status copy_fill_run(const struct copy_plan *p, u32 value, u32 bytes)
{
	struct memory_box to = dst_box(p);
	struct copy_side dst = copy_side_of(p, true);

	if (!check_again(p, &dst, p->width * bytes))
		return STATUS_ILLEGAL_ADDRESS;
	if (memory_is_watched())
		memory_tell_fill(&to, p->width * bytes, p->height, p->depth);
	for (u64 z = 0; z < p->depth; z++)
		for (u64 y = 0; y < p->height; y++)
			piece_fill(p->dst + z * p->dst_slice + y * p->dst_pitch, value, bytes,
				   p->width);
	memory_tell_done();
	return STATUS_SUCCESS;
}

static enum status run_stream_fill(void *data, enum status so_far)
{
	const struct fill_work *w = data;

	(void)so_far;
	return copy_fill_run(&w->plan, w->value, w->bytes);
}

enum status copy_fill_issue(struct stream *s, const struct copy_fill *f, enum copy_mode mode)
{
	struct fill_work w = {.value = f->value, .bytes = f->bytes};
	enum status status = copy_fill_check(stream_device_of(s)->mem.system, f, &w.plan);

	if (status != STATUS_SUCCESS || !w.plan.width || !w.plan.height || !w.plan.depth)
		return status;
	w.plan.dev = stream_device_of(s);
	w.plan.issued = (struct host_from){NULL, host_trace_here(NULL)};
	status = stream_call(s, run_stream_fill, &w, sizeof(w), STREAM_FILL);
	/* Memory that the host sees is filled when the call returns. */
	return status == STATUS_SUCCESS && mode == COPY_SYNC && !w.plan.dst_device ? stream_wait(s)
										   : status;
}
