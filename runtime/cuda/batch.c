/*
 * Batches: many copies, prefetches or discards in one call, the same for both interfaces. Each is
 * made in turn, in the order of the stream; none is made when a later one has a mistake that can be
 * seen before. Source: CUDA Driver API "Memory Management", cuMemcpyBatchAsync and the functions
 * after it.
 */
#include "runtime/cuda/drv.h"
#include "runtime/cudart/rt_texture.h"
#include "src/base/size.h"
#include "src/dev/memory/copy.h"

/* CUmemcpySrcAccessOrder */
enum { ORDER_STREAM = 1, ORDER_DURING_CALL, ORDER_ANY };

/* CUmemcpyAttributes */
struct copy_attributes {
	int order;
	struct memory_location src_hint, dst_hint;
	unsigned flags;
};

/* Attributes of a batch: those of number `at[i]` and after it are list[i]. */
struct batch_attributes {
	const struct copy_attributes *list;
	const size_t *at;
	size_t len;
};

struct batch {
	const u64 *dst, *src;
	const size_t *sizes;
	size_t count;
	struct batch_attributes attributes;
};

#define BATCH                                                                                      \
	((struct batch){.dst = (const u64 *)dst,                                                   \
			.src = (const u64 *)src,                                                   \
			.sizes = sizes,                                                            \
			.count = count,                                                            \
			.attributes = {list, list_at, list_len}})

/* The stream is found by the interface that is called, and the default stream takes no batches. */
static int usable(struct stream *s, int status)
{
	if (!s)
		return status;
	/* Batches are refused in a capture without invalidating it. */
	if (stream_is_capturing(s))
		return STATUS_STREAM_CAPTURE_UNSUPPORTED;
	return stream_is_legacy(s) ? (int)STATUS_INVALID_VALUE : (int)STATUS_SUCCESS;
}

static enum copy_mode copy_mode_of(int order)
{
	return order == ORDER_DURING_CALL ? COPY_EARLY : COPY_ASYNC;
}

/* Where settings begin to hold: from the first of `count` on, each after the one before. */
static bool starts_are_right(const size_t *at, size_t len, size_t count)
{
	if (!at || !len || len > count || at[0])
		return false;
	for (size_t i = 1; i < len; i++)
		if (at[i] >= count || at[i] <= at[i - 1])
			return false;
	return true;
}

/* ---- copies ---- */

static bool attributes_are_right(const struct batch_attributes *a, size_t count)
{
	if (!a->list || !starts_are_right(a->at, a->len, count))
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (a->list[i].order < ORDER_STREAM || a->list[i].order > ORDER_ANY)
			return false;
	return true;
}

static int batch_copy(struct stream *s, const struct batch *b)
{
	struct mem_system *memory = stream_device_of(s)->mem.system;
	const struct batch_attributes *a = &b->attributes;
	struct copy_plan plan;
	size_t at = 0;

	if (!b->dst || !b->src || !b->sizes || !b->count || !attributes_are_right(a, b->count))
		return STATUS_INVALID_VALUE;
	for (size_t i = 0; i < b->count; i++) {
		struct copy c = copy_linear(COPY_ANY, b->dst[i], COPY_ANY, b->src[i], b->sizes[i]);

		if (!b->sizes[i] || copy_check(memory, &c, &plan) != STATUS_SUCCESS)
			return STATUS_INVALID_VALUE;
	}
	for (size_t i = 0; i < b->count; i++) {
		struct copy c = copy_linear(COPY_ANY, b->dst[i], COPY_ANY, b->src[i], b->sizes[i]);
		enum status status;

		at += at + 1 < a->len && a->at[at + 1] == i;
		status = copy_issue(s, &c, copy_mode_of(a->list[at].order));
		if (status != STATUS_SUCCESS)
			return (int)status;
	}
	return STATUS_SUCCESS;
}

static int copy_on(struct stream *s, int status, struct batch b)
{
	status = usable(s, status);
	return status ? status : batch_copy(s, &b);
}

/* Versions up to 12 tell which copy failed, by its number; one too large: none in particular. */
static int told(int status, size_t *failed)
{
	if (failed)
		*failed = SIZE_MAX;
	return status;
}

#define COPIES                                                                                     \
	const void *dst, const void *src, const size_t *sizes, size_t count,                       \
		const struct copy_attributes *list, const size_t *list_at, size_t list_len

STREAM_FNS(cuMemcpyBatchAsync_v2, cudaMemcpyBatchAsync, (COPIES, void *stream),
	   copy_on(s, status, BATCH))
STREAM_FNS(cuMemcpyBatchAsync, cudaMemcpyBatchAsync_12, (COPIES, size_t *failed, void *stream),
	   told(copy_on(s, status, BATCH), failed))

/* ---- boxes ---- */

enum { OPERAND_POINTER = 1, OPERAND_ARRAY };

/* CUmemcpy3DOperand. Lengths, heights and offsets count elements; 0: as the box is. */
struct operand {
	int type;
	union {
		struct {
			u64 at;
			size_t row_length, layer_height;
			struct memory_location hint;
		} pointer;
		struct {
			void *array;
			size_t x, y, z;
		} array;
	} u;
};

/* CUDA_MEMCPY3D_BATCH_OP */
struct box_copy {
	struct operand src, dst;
	size_t width, height, depth;
	int order;
	unsigned flags;
};

/* Bytes of an element of an array; where there is none, elements are bytes. 0: no such array. */
static u64 operand_value(const struct operand *o)
{
	const struct mem_array *a;

	if (o->type != OPERAND_ARRAY)
		return 1;
	a = rt_array_find(o->u.array.array);
	return a ? a->element_bytes : 0;
}

static bool read_operand(const struct operand *o, const struct box_copy *b, u64 element,
			 struct copy_end *out)
{
	if (o->type == OPERAND_ARRAY) {
		*out = (struct copy_end){.place = COPY_ARRAY,
					 .array = o->u.array.array,
					 .y = o->u.array.y,
					 .z = o->u.array.z};
		return size_mul(o->u.array.x, element, &out->x);
	}
	*out = (struct copy_end){.place = COPY_ANY,
				 .address = o->u.pointer.at,
				 .rows = o->u.pointer.layer_height ? o->u.pointer.layer_height
								   : b->height};
	return o->type == OPERAND_POINTER &&
	       size_mul(o->u.pointer.row_length ? o->u.pointer.row_length : b->width, element,
			&out->pitch);
}

static bool read_box(const struct box_copy *b, struct copy *out)
{
	u64 dst = operand_value(&b->dst), src = operand_value(&b->src);
	u64 element = b->dst.type == OPERAND_ARRAY ? dst : src;

	if (!dst || !src || !b->width || !b->height || !b->depth || b->order < ORDER_STREAM ||
	    b->order > ORDER_ANY)
		return false;
	if (b->dst.type == OPERAND_ARRAY && b->src.type == OPERAND_ARRAY && dst != src)
		return false;
	*out = (struct copy){.height = b->height, .depth = b->depth};
	return size_mul(b->width, element, &out->width) &&
	       read_operand(&b->dst, b, element, &out->dst) &&
	       read_operand(&b->src, b, element, &out->src);
}

static int box_on(struct stream *s, int status, size_t n, const struct box_copy *boxes, u64 flags)
{
	struct mem_system *memory;
	struct copy_plan plan;
	struct copy c;

	status = usable(s, status);
	if (status)
		return status;
	if (!n || !boxes || flags)
		return STATUS_INVALID_VALUE;
	memory = stream_device_of(s)->mem.system;
	for (size_t i = 0; i < n; i++)
		if (!read_box(&boxes[i], &c) || copy_check(memory, &c, &plan) != STATUS_SUCCESS)
			return STATUS_INVALID_VALUE;
	for (size_t i = 0; i < n && !status; i++) {
		read_box(&boxes[i], &c);
		status = (int)copy_issue(s, &c, copy_mode_of(boxes[i].order));
	}
	return status;
}

STREAM_FNS(cuMemcpy3DBatchAsync_v2, cudaMemcpy3DBatchAsync,
	   (size_t n, const struct box_copy *boxes, u64 flags, void *stream),
	   box_on(s, status, n, boxes, flags))
STREAM_FNS(cuMemcpy3DBatchAsync, cudaMemcpy3DBatchAsync_12,
	   (size_t n, const struct box_copy *boxes, size_t *failed, u64 flags, void *stream),
	   told(box_on(s, status, n, boxes, flags), failed))

/* ---- managed memory ---- */

/* Bytes that are discarded may hold anything: what they held is one thing they may hold. */
struct ranges {
	const u64 *at;
	const size_t *sizes;
	size_t count;
	const struct memory_location *places; /* NULL: nothing is prefetched */
	const size_t *place_at;
	size_t place_len;
	u64 flags;
};

#define RANGES ((struct ranges){(const u64 *)at, sizes, count, places, place_at, place_len, flags})
#define DISCARDS ((struct ranges){(const u64 *)at, sizes, count, NULL, NULL, 0, flags})

static bool ranges_are_right(struct mem_system *memory, const struct ranges *r)
{
	if (!r->at || !r->sizes || !r->count || r->flags)
		return false;
	for (size_t i = 0; i < r->count; i++)
		if (!r->at[i] || !r->sizes[i] || !memory_is_managed(memory, r->at[i], r->sizes[i]))
			return false;
	return true;
}

static int ranges_on(struct stream *s, int status, const struct ranges *r, bool prefetch)
{
	struct rt *rt = rt_get();
	size_t place = 0;

	if (s)
		status = (int)stream_capture_forbid(s);
	if (status)
		return status;
	if (prefetch && (!r->places || !starts_are_right(r->place_at, r->place_len, r->count)))
		return STATUS_INVALID_VALUE;
	if (!ranges_are_right(&rt->memory, r))
		return STATUS_INVALID_VALUE;
	for (size_t i = 0; i < r->count && prefetch && !status; i++) {
		place += place + 1 < r->place_len && r->place_at[place + 1] == i;
		status = (int)memory_prefetch(&rt->memory, r->at[i], r->sizes[i], r->places[place],
					      rt->list.len, s);
	}
	return status;
}

#define PREFETCHES                                                                                 \
	const void *at, const size_t *sizes, size_t count, const struct memory_location *places,   \
		const size_t *place_at, size_t place_len, u64 flags
#define DISCARDED const void *at, const size_t *sizes, size_t count, u64 flags

STREAM_FNS(cuMemPrefetchBatchAsync, cudaMemPrefetchBatchAsync, (PREFETCHES, void *stream),
	   ranges_on(s, status, &RANGES, true))
STREAM_FNS(cuMemDiscardAndPrefetchBatchAsync, cudaMemDiscardAndPrefetchBatchAsync,
	   (PREFETCHES, void *stream), ranges_on(s, status, &RANGES, true))
STREAM_FNS(cuMemDiscardBatchAsync, cudaMemDiscardBatchAsync, (DISCARDED, void *stream),
	   ranges_on(s, status, &DISCARDS, false))
