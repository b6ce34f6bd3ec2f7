/*
 * Copies and fills that kernels enqueue. Sizes come from device code: nothing is taken for granted
 * about them.
 */
#include "src/dev/module/nested_int.h"

#include "src/base/piece.h"
#include "src/base/size.h"
#include "src/dev/memory/watch.h"

#include <stddef.h>

/* ---- carrying them out ---- */

/* Where the host has a row of device memory; NULL: it is not allocated. */
static u8 *nested_row(struct device *d, u64 address, u64 bytes, bool write)
{
	struct mem_range r;
	bool ok = mem_find(&d->mem, address, bytes, &r) && (!write || mem_is_writable(&d->mem, &r));

	return ok ? mem_host(&r, address) : NULL;
}

static void tell_row(const struct item *i, u64 to, u64 from)
{
	struct memory_copy c = {.dst = {.address = to, .known = true},
				.src = {.address = from, .known = true},
				.width = i->bytes,
				.height = 1,
				.depth = 1};

	if (i->kind == ITEM_FILL)
		memory_tell_fill(&c.dst, i->bytes, 1, 1);
	else
		memory_tell_copy(&c);
}

static enum status nested_move_row(struct device *d, const struct item *i, u64 row, u64 slice)
{
	u64 to_at = i->to.at + row * i->to.pitch + slice * i->to.slice;
	u64 from_at = i->from.at + row * i->from.pitch + slice * i->from.slice;
	u8 *to = nested_row(d, to_at, i->bytes, true);
	const u8 *from;

	if (!to)
		return STATUS_ILLEGAL_ADDRESS;
	if (i->kind == ITEM_FILL) {
		tell_row(i, to_at, 0);
		piece_fill(to, i->value, 1, (size_t)i->bytes);
		memory_tell_done();
		return STATUS_SUCCESS;
	}
	from = nested_row(d, from_at, i->bytes, false);
	if (!from)
		return STATUS_ILLEGAL_ADDRESS;
	tell_row(i, to_at, from_at);
	piece_move(to, from, (size_t)i->bytes);
	memory_tell_done();
	return STATUS_SUCCESS;
}

enum status nested_move(struct device *d, const struct item *i)
{
	enum status status = STATUS_SUCCESS;

	if (!i->bytes || !i->rows)
		return STATUS_SUCCESS;
	for (u64 z = 0; z < i->slices && status == STATUS_SUCCESS; z++)
		for (u64 y = 0; y < i->rows && status == STATUS_SUCCESS; y++)
			status = nested_move_row(d, i, y, z);
	return status;
}

/* ---- enqueueing them ---- */

/* Rows and slices may not overlap. */
static bool is_pitch(const struct item *i, const struct item_place *p)
{
	u64 slice;

	if (i->rows > 1 && p->pitch < i->bytes)
		return false;
	return i->slices <= 1 ||
	       (size_mul(i->rows, i->rows > 1 ? p->pitch : i->bytes, &slice) && p->slice >= slice);
}

/* Does the last byte of the last row have an address? */
static bool has_end(const struct item *i, const struct item_place *p)
{
	u64 span;

	return size_offset(i->bytes, i->rows - 1, i->rows > 1 ? p->pitch : 0, i->slices - 1,
			   i->slices > 1 ? p->slice : 0, &span) &&
	       size_is_range(p->at, span);
}

/* What will be read and written, as far as there is such memory. */
static void tell_move(const struct exec_call *c, const struct item *i)
{
	struct mem_range r;

	for (u64 z = 0; c->told && z < i->slices; z++)
		for (u64 y = 0; y < i->rows; y++) {
			u64 to = i->to.at + y * i->to.pitch + z * i->to.slice,
			    from = i->from.at + y * i->from.pitch + z * i->from.slice;

			if (!mem_find(c->gang->env->mem, to, i->bytes, &r))
				return;
			if (i->kind == ITEM_COPY)
				exec_call_tell(c, ACCESS_COPY_READ, from, i->bytes);
			exec_call_tell(c, ACCESS_COPY_WRITE, to, i->bytes);
		}
}

static enum fault_kind enqueue_move(struct exec_call *c, struct item *i, u64 stream)
{
	if (!i->bytes || !i->rows || !i->slices)
		return nested_enqueue(c, i, stream);
	if (!is_pitch(i, &i->to) || (i->kind == ITEM_COPY && !is_pitch(i, &i->from)))
		return nested_answer(c, STATUS_INVALID_PITCH_VALUE);
	if (!has_end(i, &i->to) || (i->kind == ITEM_COPY && !has_end(i, &i->from)))
		return nested_answer(c, STATUS_INVALID_VALUE);
	tell_move(c, i);
	return nested_enqueue(c, i, stream);
}

/* error (to, from, bytes, kind, stream) */
enum fault_kind nested_copy(struct exec_call *c)
{
	struct item i = {.kind = ITEM_COPY,
			 .to.at = exec_call_argument(c, 0),
			 .from.at = exec_call_argument(c, 1),
			 .bytes = exec_call_argument(c, 2),
			 .rows = 1,
			 .slices = 1};

	return enqueue_move(c, &i, exec_call_argument(c, 4));
}

/* error (to, pitch, from, pitch, width, height, kind, stream) */
enum fault_kind nested_copy_2d(struct exec_call *c)
{
	struct item i = {
		.kind = ITEM_COPY,
		.to = {.at = exec_call_argument(c, 0), .pitch = exec_call_argument(c, 1)},
		.from = {.at = exec_call_argument(c, 2), .pitch = exec_call_argument(c, 3)},
		.bytes = exec_call_argument(c, 4),
		.rows = exec_call_argument(c, 5),
		.slices = 1};

	return enqueue_move(c, &i, exec_call_argument(c, 7));
}

/* cudaPitchedPtr, cudaPos and cudaExtent, cudaMemcpy3DParms of the runtime interface. */
struct pitched {
	u64 at, pitch, width, height;
};

struct extent {
	u64 width, height, depth;
};

struct copy_3d {
	u64 from_array;
	struct extent from_position;
	struct pitched from;
	u64 to_array;
	struct extent to_position;
	struct pitched to;
	struct extent extent;
	u32 kind, pad;
};

/* False: the position has no address. */
static bool nested_place(const struct pitched *p, const struct extent *position,
			 struct item_place *out)
{
	u64 offset;

	*out = (struct item_place){.pitch = p->pitch};
	/* Of one slice this does not matter. */
	if (!size_mul(p->pitch, p->height, &out->slice))
		out->slice = UINT64_MAX;
	return size_offset(position->width, position->height, p->pitch, position->depth, out->slice,
			   &offset) &&
	       size_add(p->at, offset, &out->at);
}

/* error (const cudaMemcpy3DParms *, stream). Arrays are the host's: device code has none. */
enum fault_kind nested_copy_3d(struct exec_call *c)
{
	const u8 *at = exec_call_memory(c, exec_call_argument(c, 0), sizeof(struct copy_3d), NULL);
	struct copy_3d p;
	struct item i = {.kind = ITEM_COPY};

	if (!at)
		return nested_answer(c, STATUS_INVALID_VALUE);
	exec_call_tell(c, ACCESS_LOAD, exec_call_argument(c, 0), sizeof(p));
	memcpy(&p, at, sizeof(p));
	if (p.from_array || p.to_array || !p.from.at || !p.to.at)
		return nested_answer(c, STATUS_INVALID_VALUE);
	if (!nested_place(&p.to, &p.to_position, &i.to) ||
	    !nested_place(&p.from, &p.from_position, &i.from))
		return nested_answer(c, STATUS_INVALID_VALUE);
	i.bytes = p.extent.width;
	i.rows = p.extent.height;
	i.slices = p.extent.depth;
	return enqueue_move(c, &i, exec_call_argument(c, 1));
}

/* error (to, value, bytes, stream) */
enum fault_kind nested_fill(struct exec_call *c)
{
	struct item i = {.kind = ITEM_FILL,
			 .to.at = exec_call_argument(c, 0),
			 .value = (u8)exec_call_argument(c, 1),
			 .bytes = exec_call_argument(c, 2),
			 .rows = 1,
			 .slices = 1};

	return enqueue_move(c, &i, exec_call_argument(c, 3));
}

/* error (to, pitch, value, width, height, stream) */
enum fault_kind nested_fill_2d(struct exec_call *c)
{
	struct item i = {.kind = ITEM_FILL,
			 .to = {.at = exec_call_argument(c, 0), .pitch = exec_call_argument(c, 1)},
			 .value = (u8)exec_call_argument(c, 2),
			 .bytes = exec_call_argument(c, 3),
			 .rows = exec_call_argument(c, 4),
			 .slices = 1};

	return enqueue_move(c, &i, exec_call_argument(c, 5));
}

/* error (cudaPitchedPtr, value, cudaExtent, stream) */
enum fault_kind nested_fill_3d(struct exec_call *c)
{
	static const struct extent start = {0, 0, 0};
	struct item i = {.kind = ITEM_FILL, .value = (u8)exec_call_argument(c, 1)};
	struct pitched to;
	struct extent extent;

	nested_read(c, 0, &to, sizeof(to));
	nested_read(c, 2, &extent, sizeof(extent));
	nested_place(&to, &start, &i.to); /* the start has an address */
	i.bytes = extent.width;
	i.rows = extent.height;
	i.slices = extent.depth;
	return enqueue_move(c, &i, exec_call_argument(c, 3));
}
