/*
 * Tensor maps of the driver interface: the encode calls over src/async/tensor_encode.c. The 128
 * bytes are ours: programs only pass them on to kernels. Nothing here depends on a device. The
 * alignment of 64 bytes that the interface asks for is not checked, as the driver of an H200 does
 * not.
 */
#include "runtime/cuda/drv.h"
#include "src/async/tensor.h"

/* Arguments that the encode calls share, as the interface passes them. */
struct encode {
	int type, interleave, swizzle, promotion, fill;
	unsigned rank;
	const void *address;
	const u64 *dim, *stride;
	const u32 *step;
};

/* Negative numbers become large ones, which the encoder refuses. */
static bool read_common(const struct encode *e, struct tensor_shape *s)
{
	*s = (struct tensor_shape){
		.address = (u64)(uintptr_t)e->address,
		.type = (u32)e->type,
		.rank = e->rank,
		.interleave = (u32)e->interleave,
		.swizzle = (u32)e->swizzle,
		.promotion = (u32)e->promotion,
		.fill = (u32)e->fill,
	};
	if (!e->rank || e->rank > TENSOR_RANK_MAX || !e->dim || !e->step ||
	    (e->rank > 1 && !e->stride))
		return false;
	for (u32 d = 0; d < e->rank; d++) {
		s->dim[d] = e->dim[d];
		s->step[d] = e->step[d];
		if (d)
			s->stride[d - 1] = e->stride[d - 1];
	}
	return true;
}

static int encode(void *map, const struct tensor_shape *s)
{
	struct tensor_map m;

	if (!tensor_encode(&m, s))
		return STATUS_INVALID_VALUE;
	memset(map, 0, TENSOR_MAP_BYTES);
	memcpy(map, &m, sizeof(m));
	return STATUS_SUCCESS;
}

DRV_FN(cuTensorMapEncodeTiled,
       (void *map, int type, unsigned rank, void *address, const u64 *dim, const u64 *stride,
	const u32 *box, const u32 *step, int interleave, int swizzle, int promotion, int fill))
{
	const struct encode e = {type, interleave, swizzle, promotion, fill,
				 rank, address,    dim,     stride,    step};
	struct tensor_shape s;

	if (!map || !box || !read_common(&e, &s))
		return STATUS_INVALID_VALUE;
	memcpy(s.box, box, sizeof(*box) * rank);
	return encode(map, &s);
}

DRV_FN(cuTensorMapEncodeIm2col,
       (void *map, int type, unsigned rank, void *address, const u64 *dim, const u64 *stride,
	const int *lower, const int *upper, unsigned channels, unsigned pixels, const u32 *step,
	int interleave, int swizzle, int promotion, int fill))
{
	const struct encode e = {type, interleave, swizzle, promotion, fill,
				 rank, address,    dim,     stride,    step};
	struct tensor_shape s;

	if (!map || !read_common(&e, &s) || rank < 3 || !lower || !upper)
		return STATUS_INVALID_VALUE;
	s.im2col = true;
	s.channels = channels;
	s.pixels = pixels;
	memcpy(s.lower, lower, sizeof(*lower) * (rank - 2));
	memcpy(s.upper, upper, sizeof(*upper) * (rank - 2));
	return encode(map, &s);
}

DRV_FN(cuTensorMapReplaceAddress, (void *map, void *address))
{
	struct tensor_map m;

	if (!map)
		return STATUS_INVALID_VALUE;
	memcpy(&m, map, sizeof(m));
	/* As the encode calls: 32 bytes with the wide interleave. */
	if (!m.rank || m.rank > TENSOR_RANK_MAX ||
	    (u64)(uintptr_t)address % (m.interleave == 2 ? 32 : 16))
		return STATUS_INVALID_VALUE;
	m.address = (u64)(uintptr_t)address;
	memcpy(map, &m, sizeof(m));
	return STATUS_SUCCESS;
}
