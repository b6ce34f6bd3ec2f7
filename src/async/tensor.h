/*
 * Tensor maps: our own 128-byte object, how it is made and edited, and the copies that follow it.
 *
 * A box of elements, or im2col's columns of pixels, goes between global memory and a dense tile in
 * shared memory, dimension 0 fastest. Elements outside the tensor read as the fill and are not
 * written. Source: PTX ISA "Tensors", "cp.async.bulk.tensor", "tensormap.replace"; facts seen on an
 * H200 where the text is silent.
 */
#ifndef PL_ASYNC_TENSOR_H
#define PL_ASYNC_TENSOR_H

#include "src/async/async.h"

#define TENSOR_RANK_MAX 5u
#define TENSOR_MAP_BYTES 128u

/* Element types, numbered as the encode calls do. */
enum tensor_type {
	TENSOR_U8,
	TENSOR_U16,
	TENSOR_U32,
	TENSOR_S32,
	TENSOR_U64,
	TENSOR_S64,
	TENSOR_F16,
	TENSOR_F32,
	TENSOR_F64,
	TENSOR_BF16,
	TENSOR_F32_FTZ,
	TENSOR_TF32,
	TENSOR_TF32_FTZ,
	TENSOR_TYPES
};

/* What a program holds in its 128 bytes, at any alignment. */
struct tensor_map {
	u64 address;
	u64 stride[TENSOR_RANK_MAX - 1]; /* bytes between elements of dimensions 1.. */
	u32 dim[TENSOR_RANK_MAX];        /* elements; 0: 2^32 */
	u16 box[TENSOR_RANK_MAX];        /* elements, before the division by `step` */
	u8 step[TENSOR_RANK_MAX];        /* element strides */
	u8 type;                         /* enum tensor_type */
	u8 rank;
	u8 interleave;          /* 0 none, 1: 16 bytes, 2: 32 bytes */
	u8 swizzle;             /* 0 none, else 16 << swizzle bytes */
	u8 fill;                /* 1: NaN outside */
	u8 promotion;           /* of the L2 cache: kept, not used */
	u8 im2col;              /* 0 or 1 */
	s16 lower[3], upper[3]; /* im2col: corners of the box of pixels */
	u16 channels, pixels;   /* im2col: per pixel, per column */
};

/* The arguments of the encode calls. */
struct tensor_shape {
	u64 address, dim[TENSOR_RANK_MAX], stride[TENSOR_RANK_MAX - 1];
	u32 type, rank, box[TENSOR_RANK_MAX], step[TENSOR_RANK_MAX];
	u32 interleave, swizzle, promotion, fill;
	bool im2col;
	s32 lower[3], upper[3];
	u32 channels, pixels;
};

/* Make a map. False: the driver refuses such arguments. */
bool tensor_encode(struct tensor_map *m, const struct tensor_shape *s);

/* One copy. */
struct tensor_op {
	struct tensor_map map;
	s32 coord[TENSOR_RANK_MAX];
	u16 offset[3]; /* im2col */
	bool four;     /* gather4, scatter4: rows coord[1..4] at column coord[0], box of one row */
	u8 *shared;    /* shared memory of the CTA */
	u32 at;        /* offset there */
	bool store;    /* from shared to global memory */
	async_apply *apply; /* store: reduce instead, NULL: write */
};

/* Bytes of the tile without the gaps that a swizzle leaves. */
u32 tensor_bytes(const struct tensor_map *m);
/* Bytes of shared memory the tile spans. */
u32 tensor_span(const struct tensor_map *m);
u32 tensor_element_bytes(u32 type);
/*
 * Could the encode calls or tensormap.replace have made it? A program may hold anything in its 128
 * bytes; all other functions are for maps that are sound.
 */
bool tensor_is_sound(const struct tensor_map *m);
/* Lowest address and end of what the map's tensor covers. False: it goes past the last address. */
bool tensor_extent(const struct tensor_map *m, u64 *lo, u64 *hi);
void tensor_run(const struct tensor_op *op);

/*
 * Who is told what a copy touches, piece by piece: `bytes` at an offset in shared memory and, if
 * they are `inside` of the tensor, at an address in that of the map.
 */
struct tensor_teller {
	void *user;
	void (*piece)(void *user, u32 shared, u64 global, u32 bytes, bool inside);
};
/* Reports the copy without making it; op->shared is not used. */
void tensor_tell(const struct tensor_op *op, const struct tensor_teller *t);

/* Fields as tensormap.replace counts them; `index` for those with one. False: no such field or
 * value. */
enum tensor_field {
	TENSOR_ADDRESS,
	TENSOR_RANK,
	TENSOR_BOX,
	TENSOR_DIM,
	TENSOR_STRIDE,
	TENSOR_STEP,
	TENSOR_ELEMENT,
	TENSOR_INTERLEAVE,
	TENSOR_SWIZZLE,
	TENSOR_FILL,
	TENSOR_ATOMICITY
};
bool tensor_replace(struct tensor_map *m, enum tensor_field field, u32 index, u64 value);

#endif
