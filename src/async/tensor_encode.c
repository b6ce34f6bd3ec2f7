/*
 * Encoding of tensor maps: which arguments are accepted, and the object that keeps them.
 * Source: what the driver of an H200 accepts and refuses; CUDA driver API "Tensor Map Object
 * Management".
 */
#include "src/async/tensor.h"

#define BOX_MAX 256u
#define PIXELS_MAX 1024u
#define STEP_MAX 8u
#define STRIDE_END ((u64)1 << 40)
#define DIM_MAX ((u64)1 << 32)
/* What fits into the shared memory of a CTA. */
#define TILE_BYTES_MAX (227u << 10)

static bool is_float(u32 type)
{
	return type >= TENSOR_F16;
}

static bool modes_ok(const struct tensor_shape *s)
{
	return s->type < TENSOR_TYPES && s->interleave <= 2 && s->swizzle <= 3 &&
	       s->promotion <= 3 && s->fill <= 1 && (!s->fill || is_float(s->type)) &&
	       s->rank >= 1 && s->rank <= TENSOR_RANK_MAX &&
	       (s->rank >= 3 || (!s->interleave && !s->im2col));
}

/* Addresses and strides are multiples of 16 bytes, of 32 with the wide interleave. */
static bool layout_ok(const struct tensor_shape *s)
{
	u32 align = s->interleave == 2 ? 32 : 16;

	for (u32 d = 0; d < s->rank; d++)
		if (!s->dim[d] || s->dim[d] > DIM_MAX || !s->step[d] || s->step[d] > STEP_MAX)
			return false;
	for (u32 d = 0; d + 1 < s->rank; d++)
		if (s->stride[d] % align || s->stride[d] >= STRIDE_END)
			return false;
	return s->address % align == 0;
}

/* A row of the tile: whole pieces of 16 bytes, no wider than the swizzle. */
static bool row_ok(const struct tensor_shape *s, u32 elements)
{
	u32 bytes = elements * tensor_element_bytes(s->type);

	return bytes && bytes % 16 == 0 &&
	       (!s->swizzle || s->interleave || bytes <= 16u << s->swizzle);
}

static bool box_ok(const struct tensor_shape *s)
{
	u64 bytes = tensor_element_bytes(s->type);

	for (u32 d = 0; d < s->rank; d++) {
		if (!s->box[d] || s->box[d] > BOX_MAX)
			return false;
		bytes *= s->box[d];
	}
	return bytes <= TILE_BYTES_MAX && row_ok(s, s->box[0]);
}

/* Corners have 16, 8 or 5 bits, by rank, and leave at least one pixel between them. */
static bool window_ok(const struct tensor_shape *s)
{
	static const s32 limits[] = {32768, 128, 16};
	s32 limit = limits[s->rank - 3];

	for (u32 d = 0; d < s->rank - 2; d++)
		if (s->lower[d] < -limit || s->lower[d] >= limit || s->upper[d] < -limit ||
		    s->upper[d] >= limit || s->dim[d + 1] > INT32_MAX ||
		    (s64)s->dim[d + 1] + s->upper[d] - s->lower[d] <= 0)
			return false;
	return s->channels <= BOX_MAX && s->pixels && s->pixels <= PIXELS_MAX &&
	       row_ok(s, s->channels);
}

bool tensor_encode(struct tensor_map *m, const struct tensor_shape *s)
{
	if (!modes_ok(s) || !layout_ok(s) || !(s->im2col ? window_ok : box_ok)(s))
		return false;
	*m = (struct tensor_map){
		.address = s->address,
		.type = (u8)s->type,
		.rank = (u8)s->rank,
		.interleave = (u8)s->interleave,
		.swizzle = (u8)s->swizzle,
		.promotion = (u8)s->promotion,
		.fill = (u8)s->fill,
		.im2col = s->im2col,
		.channels = (u16)s->channels,
		.pixels = (u16)s->pixels,
	};
	for (u32 d = 0; d < s->rank; d++) {
		m->dim[d] = (u32)s->dim[d];
		m->box[d] = (u16)s->box[d];
		m->step[d] = (u8)s->step[d];
		if (d)
			m->stride[d - 1] = s->stride[d - 1];
	}
	for (u32 d = 0; d < 3; d++) {
		m->lower[d] = (s16)s->lower[d];
		m->upper[d] = (s16)s->upper[d];
	}
	return true;
}
