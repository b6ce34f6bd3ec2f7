/*
 * Textures and surfaces as kernels see them: objects found by 64-bit handles, and what fetches,
 * queries and surface accesses do with one.
 *
 * A handle is a number of a slot and its generation, never an address; a texture reference of older
 * code is a variable that holds a handle, so a register may hold the address of one instead.
 * Objects are made by src/dev/texture/texture.c; slots stay where they are as long as their device,
 * so kernels read them without locks.
 *
 * The arithmetic is the hardware's, to the bit: docs/textures.md has the rules and where they come
 * from. Source: PTX ISA "Texture Instructions", "Surface Instructions"; CUDA C++ Programming Guide
 * "Texture Fetching"; measurements on an H200.
 */
#ifndef PL_TEX_TEXTURE_H
#define PL_TEX_TEXTURE_H

#include "src/mem/array.h"

#define TEX_CHUNK 256u
#define TEX_CHUNKS 256u
#define TEX_INDEX_BITS 20u

/* Numbered as CUaddress_mode. */
enum tex_address { TEX_WRAP, TEX_CLAMP, TEX_MIRROR, TEX_BORDER };

/* How the bits of a channel become a value. */
enum tex_class {
	TEX_UINT, /* as it is, widened */
	TEX_SINT,
	TEX_UNORM8, /* 0 to 1 */
	TEX_UNORM16,
	TEX_SNORM8, /* -1 to 1 */
	TEX_SNORM16,
	TEX_SRGB8, /* the curve undone; alpha as TEX_UNORM8 */
	TEX_F16,
	TEX_F32,
	TEX_UNORM10, /* alpha as TEX_UNORM16 */
};

struct tex_level {
	const u8 *base;
	u32 size[3]; /* texels; 1 where the image has no such dimension; layers in [2] */
	u64 pitch, slice;
};

struct tex_image {
	u32 format, channels; /* enum mem_format, as the view has it */
	u8 class;             /* enum tex_class of the texels read as they are */
	u8 channel_bytes;     /* 0: packed or compressed */
	u8 element_bytes;
	bool opaque; /* a fourth channel that is not there is 1: measured for arrays of blocks */
	bool tiled;  /* an array, whose texels lie in blocks on a device */
	bool cube, layered, linear; /* linear: memory without an array, no filtering */
	u8 dims;                    /* 1 to 3, layers not counted */
	u32 levels, layers;         /* layers: faces counted singly */
	u64 address, bytes;         /* of the memory, or of the first array, as the device has it */
	struct tex_level level[MEM_ARRAY_LEVELS_MAX];
};

struct tex_sampler {
	u8 address[3]; /* enum tex_address */
	bool linear, normalized, seamless, mip_linear;
	bool trilinear; /* blends of levels may not be simplified */
	u32 anisotropy; /* at most 16 */
	f32 bias, level_min, level_max;
	u32 border[4];
};

enum tex_kind { TEX_FREE, TEX_TEXTURE, TEX_SURFACE, TEX_SAMPLER };

struct tex_object {
	u8 kind;  /* enum tex_kind; written last, read first */
	u8 class; /* enum tex_class of what fetches return */
	/* Can a warp be fetched at once: by coordinates of type .f32, by numbers of texels? */
	bool wide, numbered;
	u32 generation;
	u32 edge[4]; /* wide: the border, laid out like a texel */
	struct tex_image image;
	struct tex_sampler sampler;
	/*
	 * of the API layer: the descriptions it was made of; NULL: only work that was issued may
	 * use it
	 */
	void *user;
};

struct tex_table {
	struct tex_object *chunk[TEX_CHUNKS];
};

enum tex_geometry { TEX_1D, TEX_2D, TEX_3D, TEX_CUBE, TEX_MS };
enum tex_mode { TEX_IMPLICIT, TEX_BASE, TEX_LEVEL, TEX_GRADIENT };

/* One lane's fetch. */
struct tex_request {
	u8 geometry, mode;
	bool layered, integer, gather;
	u8 component; /* gather */
	u32 coord[3]; /* bits of f32, or s32 when `integer` */
	u32 layer;
	u32 level;        /* bits of f32, or s32 when `integer` */
	u32 dx[3], dy[3]; /* TEX_GRADIENT */
	s32 offset[3];
	u32 sample; /* TEX_MS */
};

/* The object of a handle, NULL: no object of this kind. */
static inline const struct tex_object *tex_find(const struct tex_table *t, u64 handle, u32 kind)
{
	u64 index = handle & ((1u << TEX_INDEX_BITS) - 1), chunk = index / TEX_CHUNK;
	const struct tex_object *c, *o;

	if (!t || handle >> 32 || chunk >= TEX_CHUNKS)
		return NULL;
	c = __atomic_load_n(&t->chunk[chunk], __ATOMIC_ACQUIRE);
	o = c ? &c[index % TEX_CHUNK] : NULL;
	if (!o || __atomic_load_n(&o->kind, __ATOMIC_ACQUIRE) != kind ||
	    o->generation != handle >> TEX_INDEX_BITS)
		return NULL;
	return o;
}

/*
 * Fetch or gather: four values, as bits of f32, u32 or s32 by the object's class.
 * The sampler is the object's own, or another one in independent texturing mode.
 */
void tex_fetch(const struct tex_object *t, const struct tex_sampler *s, const struct tex_request *r,
	       u32 out[4]);

/* A fetch depends on the texel (or block) that the host has there; some more than once. */
typedef void tex_touched(void *user, const u8 *texel);
/* Name the texels of the same fetch, without those that weigh nothing and those of the border. */
void tex_touch(const struct tex_object *t, const struct tex_sampler *s, const struct tex_request *r,
	       tex_touched *touched, void *user);

/* Set what follows from image, sampler and class. The last step of making an object. */
void tex_plan(struct tex_object *t);

/* Channels of a texel, as bits of f32 or integers by class; absent ones are 0. texture_format.c */
void tex_read(const struct tex_image *im, const struct tex_level *l, const s64 at[3], u32 out[4]);
/*
 * The same for formats without channels of their own, those tex_can_read knows.
 * texture_block.c
 */
void tex_read_block(const struct tex_image *im, const struct tex_level *l, const s64 at[3],
		    u32 out[4]);
bool tex_can_read(u32 format);
/* Texel i of a block, row by row: four bytes, or three f16. texture_bptc.c */
void tex_read_bc7(const u8 *block, u32 i, u32 out[4]);
void tex_read_bc6h(const u8 *block, u32 i, bool is_signed, u32 out[4]);
/* Most texels that are blended: four of each plane, of two levels at each tap. */
#define TEX_TAPS 18u
#define TEX_CORNERS (8u * TEX_TAPS)

/*
 * A channel of one texel, or of four for each plane with weights in 1/256, divided by
 * `shift` bits, as it leaves the texture unit.
 * t: as tex_read gives them, f16 widened; touched: the corner takes part, even if its weight has
 * been rounded to zero. texture_blend.c
 */
u32 tex_blend(u32 class, const u32 *t, const s32 *w, const bool *touched, u32 n, u32 shift);
/* Which levels a fetch blends, and at how many places. */
struct tex_lod {
	u32 level, part; /* weight of the next level, in 1/256 */
	/*
	 * Places in a row, `step` apart in texels of the first level, around the fetch's own; those
	 * at both ends weigh `outer` each, those between `inner`, in 1/256 divided by `shift` bits.
	 */
	u32 taps, shift;
	s32 outer, inner;
	f64 step[2];
};

/* texture_level.c */
void tex_level_of_detail(const struct tex_object *t, const struct tex_sampler *s,
			 const struct tex_request *r, struct tex_lod *out);

/*
 * The face a direction points at, +x -x +y -y +z -z, and where on it, from -1 to 1. A direction
 * whose reciprocal is too small for an f32 is none: 0, or not a number where it was infinite.
 * texture_cube.c
 */
u32 tex_face_of(const u32 coord[3], f64 out[2]);
/* Where a direction meets the plane of a face; the middle for one that does not. */
void tex_face_project(u32 face, const f64 v[3], f64 out[2]);
/*
 * A texel beyond one edge of a face is the nearest one of the face beyond the edge. at: column and
 * row, moved there. Returns its face.
 */
u32 tex_cross_edge(u32 face, s64 at[2], u32 size);

/* Bits of an f32 with the value of an f16. */
u32 tex_from_half(u32 half);
/* Bits of an f16: nearest even. */
u32 tex_to_half(u32 bits);
/* enum tex_class of a format read as it is; TEX_UINT also for what cannot be read. */
u32 tex_class_of(u32 format);

/* Numbered as the modifiers of txq and suq. */
enum tex_query {
	TEX_QUERY_WIDTH,
	TEX_QUERY_HEIGHT,
	TEX_QUERY_DEPTH,
	TEX_QUERY_DATA_TYPE,
	TEX_QUERY_ORDER,
	TEX_QUERY_NORMALIZED,
	TEX_QUERY_ARRAY_SIZE,
	TEX_QUERY_LEVELS,
	TEX_QUERY_SAMPLES,
	TEX_QUERY_LAYOUT,
	TEX_QUERY_FILTER,
	TEX_QUERY_ADDRESS_0,
	TEX_QUERY_ADDRESS_1,
	TEX_QUERY_ADDRESS_2,
	TEX_QUERY_UNNORMALIZED,
};

u32 tex_query(const struct tex_object *t, enum tex_query what, u32 level);

/* ---- surfaces: texture_surface.c ---- */

enum surf_bounds { SURF_TRAP, SURF_CLAMP, SURF_ZERO };

/* Where an access goes; x counts bytes for .b accesses, texels for .p ones. */
struct surf_place {
	s32 at[3];
	u32 layer;
	u8 geometry; /* TEX_1D to TEX_3D */
	bool layered, formatted;
	u8 bounds; /* enum surf_bounds */
	u32 bytes; /* of a .b access */
};

/*
 * Host address of the place, clamped if asked for. NULL: outside. `fault`: and that is an error.
 */
u8 *surf_at(const struct tex_object *s, const struct surf_place *p, bool *fault);
/* For messages: where the place is, and how large the surface. */
void surf_say_outside(const struct tex_object *s, const struct surf_place *p, char *text,
		      size_t size);
/* sust.p: store four values, converted to the surface's format. */
void surf_store_texel(const struct tex_object *s, u8 *to, const u32 value[4], u32 count);

#endif
