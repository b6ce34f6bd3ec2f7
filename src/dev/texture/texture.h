/*
 * Texture and surface objects: from the descriptions of both CUDA interfaces to what kernels read.
 *
 * A store belongs to a device. Objects are found by handle; a handle that is no longer valid, or
 * never was, finds nothing. All functions may be called from several threads at once.
 *
 * Source: CUDA Driver API "Texture Object Management", "Surface Object Management"; which
 * descriptions are refused is measured on an H200.
 */
#ifndef PL_DEV_TEXTURE_H
#define PL_DEV_TEXTURE_H

#include "src/dev/status.h"
#include "src/tex/texture.h"

enum texture_resource_kind {
	TEXTURE_ARRAY,
	TEXTURE_MIPMAP,
	TEXTURE_LINEAR, /* numbered as CUresourcetype */
	TEXTURE_PITCH,
};

/* What is read or written. */
struct texture_resource {
	u32 kind;                  /* enum texture_resource_kind */
	struct mem_array *array;   /* TEXTURE_ARRAY: checked by the caller */
	struct mem_mipmap *mipmap; /* TEXTURE_MIPMAP: likewise */
	u64 address, bytes;        /* TEXTURE_LINEAR; the address also of TEXTURE_PITCH */
	u64 width, height, pitch;  /* TEXTURE_PITCH: texels, rows, bytes */
	u32 format, channels;      /* of both: enum mem_format */
};

/* Bits of texture_settings.flags, numbered as CU_TRSF_*. */
enum texture_flag {
	TEXTURE_AS_INTEGER = 0x01,
	TEXTURE_NORMALIZED = 0x02,
	TEXTURE_SRGB = 0x10,
	TEXTURE_FULL_TRILINEAR = 0x20,
	TEXTURE_SEAMLESS = 0x40,
};

struct texture_settings {
	s32 address[3];         /* enum tex_address */
	s32 filter, mip_filter; /* 0: the nearest, 1: linear */
	u32 flags;
	u32 anisotropy;
	f32 bias, level_min, level_max;
	f32 border[4];
};

/* Part of a resource, or its bits read in another way. Numbered as CUresourceViewFormat. */
struct texture_view {
	u32 format; /* 0: the resource's */
	u64 width, height, depth;
	u32 first_level, last_level, first_layer, last_layer;
};

/* All that an object was made of. */
struct texture_desc {
	struct texture_resource resource;
	struct texture_settings settings;
	struct texture_view view;
	bool has_view;
};

struct device;
struct texture_store;

/* NULL: no memory. `m` and `arch` are borrowed. */
struct texture_store *texture_store_new(struct mem *m, const struct arch *arch);
void texture_store_free(struct texture_store *s);
/* What exec_env.textures wants. */
const struct tex_table *texture_table(const struct texture_store *s);

/*
 * Make an object. STATUS_INVALID_VALUE: the description is invalid or exceeds the profile's
 * limits; STATUS_NOT_SUPPORTED: block-compressed formats that have no decoder here.
 */
enum status texture_create(struct texture_store *s, const struct texture_desc *d, u64 *handle);
/*
 * Is its array or mipmapped array still there? Memory always is: its address is checked by fetches.
 */
bool texture_is_alive(const struct texture_store *s, const struct texture_resource *r);
/* A surface over an array; settings and view are ignored. */
enum status surface_create(struct texture_store *s, const struct texture_resource *r, u64 *handle);
/* A sampler alone, of independent texturing mode. */
enum status sampler_create(struct texture_store *s, const struct texture_settings *t, u64 *handle);
/*
 * kind: enum tex_kind. STATUS_INVALID_HANDLE: there is no such object. Nothing may use it any more.
 */
enum status texture_destroy(struct texture_store *s, u64 handle, u32 kind);
/*
 * The same for objects of a device with streams: work that has been issued still finds it. The
 * handle is invalid for everything else at once.
 */
enum status texture_destroy_after(struct device *d, u64 handle, u32 kind);
/* What the object was made of, copied to *out. */
enum status texture_describe(struct texture_store *s, u64 handle, u32 kind,
			     struct texture_desc *out);

#endif
