/*
 * CUDA arrays: images of texels that textures and surfaces read, on their own or as levels of a
 * mipmapped array.
 *
 * Texels lie in device memory in the plain order: channels of a texel, then x, y, z. Rows and
 * slices follow each other without gaps, so that a whole array is one block of memory, and copies
 * between arrays and other memory are moves of rows. Layers, and faces of cubemaps, are slices.
 * Block-compressed formats store one element for each 4 x 4 texels.
 *
 * Source: CUDA Driver API "Memory Management", cuArray3DCreate; limits from the device's profile,
 * which combinations are taken from calls measured on an H200.
 */
#ifndef PL_MEM_ARRAY_H
#define PL_MEM_ARRAY_H

#include "src/arch/arch.h"
#include "src/mem/mem.h"

#define MEM_ARRAY_LEVELS_MAX 18u

/* What a channel holds; numbered as CUarray_format. */
enum mem_format {
	MEM_FORMAT_U8 = 0x01,
	MEM_FORMAT_U16 = 0x02,
	MEM_FORMAT_U32 = 0x03,
	MEM_FORMAT_S8 = 0x08,
	MEM_FORMAT_S16 = 0x09,
	MEM_FORMAT_S32 = 0x0a,
	MEM_FORMAT_F16 = 0x10,
	MEM_FORMAT_F32 = 0x20,
	MEM_FORMAT_RGB10A2 = 0x50,
	MEM_FORMAT_BC1 = 0x91, /* each followed by its sRGB or signed twin, up to BC7 */
	MEM_FORMAT_BC2 = 0x93,
	MEM_FORMAT_BC3 = 0x95,
	MEM_FORMAT_BC4 = 0x97,
	MEM_FORMAT_BC5 = 0x99,
	MEM_FORMAT_BC6H = 0x9b,
	MEM_FORMAT_BC7 = 0x9d,
	MEM_FORMAT_BC7_SRGB = 0x9e,
	MEM_FORMAT_UNORM8X1 = 0xc0, /* x2, x4 follow */
	MEM_FORMAT_UNORM16X1 = 0xc3,
	MEM_FORMAT_SNORM8X1 = 0xc6,
	MEM_FORMAT_SNORM16X1 = 0xc9,
	MEM_FORMAT_SNORM16X4 = 0xcb,
};

/* Bits of mem_array_desc.flags, numbered as CUDA_ARRAY3D_*. */
enum mem_array_flag {
	MEM_ARRAY_LAYERED = 0x01,
	MEM_ARRAY_SURFACE = 0x02,
	MEM_ARRAY_CUBEMAP = 0x04,
	MEM_ARRAY_GATHER = 0x08,
	MEM_ARRAY_DEPTH = 0x10,
	MEM_ARRAY_COLOUR_TARGET = 0x20,
	MEM_ARRAY_SPARSE = 0x40,
	MEM_ARRAY_DEFERRED = 0x80,
	MEM_ARRAY_VIDEO = 0x100,
};

/* Extent in texels; 0: the array has no such dimension. depth: slices, layers or faces. */
struct mem_array_desc {
	u64 width, height, depth;
	u32 format; /* enum mem_format */
	u32 channels;
	u32 flags; /* enum mem_array_flag */
};

struct mem_mipmap;

/* An array, or one level of a mipmapped one. Its address is the handle that programs hold. */
struct mem_array {
	struct mem_array_desc desc; /* of this level */
	struct mem *mem;            /* of the device that owns it */
	struct mem_mipmap *owner;   /* NULL: an array of its own */
	u64 base;                   /* where the host has it: programs never see the address */
	u64 pitch, slice;           /* bytes from row to row, from slice to slice */
	u64 rows, slices;           /* of elements; at least 1 */
	u64 bytes;
	u32 element_bytes; /* of a texel, or of a block of compressed ones */
	u32 block;         /* texels along the side of an element: 1 or 4 */
	void *user;        /* of the API layer */
};

struct mem_mipmap {
	struct mem_array_desc desc;
	struct mem *mem;
	u64 base, bytes;
	u32 levels;
	struct mem_array level[MEM_ARRAY_LEVELS_MAX];
	void *user;
};

enum mem_array_status { MEM_ARRAY_OK, MEM_ARRAY_INVALID, MEM_ARRAY_NO_MEMORY };

/* Bytes of an element of the format with so many channels, 0: there is no such format. */
u32 mem_format_bytes(u32 format, u32 channels);
/* Bytes of one channel, 0 for compressed and packed formats. */
u32 mem_format_channel_bytes(u32 format);
/* Texels along the side of an element: 4 for block-compressed formats, else 1. */
u32 mem_format_block(u32 format);

/*
 * Make an array, zeroed. MEM_ARRAY_INVALID: the format, the extent or the flags do not go together
 * or exceed what the profile allows. The arrays of a `struct mem` end with it at the latest.
 */
enum mem_array_status mem_array_create(struct mem *m, const struct arch *arch,
				       const struct mem_array_desc *d, struct mem_array **out);
/* False: it is not an array of `m`, or a level of a mipmapped one, which has nothing of its own. */
bool mem_array_destroy(struct mem *m, struct mem_array *a);
/*
 * Make a mipmapped array; more levels than the extent has room for are left out, 0 counts as none
 * to be made and is invalid.
 */
enum mem_array_status mem_mipmap_create(struct mem *m, const struct arch *arch,
					const struct mem_array_desc *d, u32 levels,
					struct mem_mipmap **out);
bool mem_mipmap_destroy(struct mem *m, struct mem_mipmap *mm);

/*
 * What a handle from a program stands for; NULL: it is no live array, level or mipmapped array of
 * `m`.
 */
struct mem_array *mem_array_check(struct mem *m, const void *handle);
struct mem_mipmap *mem_mipmap_check(struct mem *m, const void *handle);
/* Free all that is left. Part of mem_fini. */
void mem_array_fini(struct mem *m);

/*
 * Where the host has byte `x` of row `y` (of elements) of slice `z`; the caller has checked them.
 */
static inline u64 mem_array_address(const struct mem_array *a, u64 x, u64 y, u64 z)
{
	return a->base + z * a->slice + y * a->pitch + x;
}

#endif
