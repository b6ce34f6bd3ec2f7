/*
 * Arrays, textures and surfaces of both interfaces: structures as the binary interface has them,
 * and how they become those of src/mem/array.h and src/dev/texture/texture.h. Private to runtime/.
 */
#ifndef PL_RT_TEXTURE_H
#define PL_RT_TEXTURE_H

#include "runtime/rt.h"
#include "src/dev/texture/texref.h"

struct array_desc { /* CUDA_ARRAY_DESCRIPTOR */
	size_t width, height;
	int format;
	unsigned channels;
};

struct array3d_desc { /* CUDA_ARRAY3D_DESCRIPTOR */
	size_t width, height, depth;
	int format;
	unsigned channels, flags;
};

struct resource_desc { /* CUDA_RESOURCE_DESC */
	int kind;
	union {
		void *handle;
		struct {
			u64 address;
			int format;
			unsigned channels;
			size_t bytes_or_width, height, pitch;
		} memory;
		int reserved[32];
	} at;
	unsigned flags;
};

struct rt_resource_desc { /* cudaResourceDesc */
	int kind;
	union {
		void *handle;
		struct {
			u64 address;
			struct channel_desc channels;
			size_t bytes_or_width, height, pitch;
		} memory;
	} at;
};

struct view_desc { /* CUDA_RESOURCE_VIEW_DESC, cudaResourceViewDesc; what follows is reserved */
	int format;
	size_t width, height, depth;
	unsigned first_level, last_level, first_layer, last_layer;
};

struct array_requirements { /* CUDA_ARRAY_MEMORY_REQUIREMENTS */
	size_t bytes, align;
	unsigned reserved[4];
};

struct sparse_properties { /* CUDA_ARRAY_SPARSE_PROPERTIES */
	unsigned tile[3];
	unsigned tail_level;
	unsigned long long tail_bytes;
	unsigned flags, reserved[4];
};

/* ---- rt_array.c; all return error numbers that both interfaces share ---- */

/* Make an array, or with `levels` a mipmapped one, on a device. */
int rt_array_create(struct rt_device *d, const struct mem_array_desc *desc, struct mem_array **out);
int rt_mipmap_create(struct rt_device *d, const struct mem_array_desc *desc, u32 levels,
		     struct mem_mipmap **out);
/* Any value may be asked about; arrays of all devices count. NULL: it is not one. */
struct mem_array *rt_array_find(const void *handle);
struct mem_mipmap *rt_mipmap_find(const void *handle);
/* Wait for who may use it, and free. STATUS_INVALID_HANDLE: not an array, or a level. */
int rt_array_destroy(void *handle);
int rt_mipmap_destroy(void *handle);
int rt_array_requirements(const struct mem_array_desc *d, u64 bytes,
			  struct array_requirements *out);
int rt_array_sparse(const struct mem_array_desc *d, const struct mem_mipmap *levels,
		    struct sparse_properties *out);

/* Format and channels of a channel description. False: there is none such. */
bool rt_channels_read(const struct channel_desc *c, u32 *format, u32 *channels);
struct channel_desc rt_channels_make(u32 format, u32 channels);

/* ---- rt_texture.c ---- */

/* Fill in the array or mipmapped array of a handle. False: it is not one. */
bool rt_resource_handle(struct texture_resource *r, void *handle);
/* Most elements of a one-dimensional texture over memory. */
int rt_texture_width(int device, u32 format, u32 channels, size_t *out);

/* ---- rt_texref.c: texture references of older code ---- */

/*
 * Bind so many bytes at an address of device memory, which is rounded down to what textures want:
 * *offset says by how much, NULL allows no rounding. Returns an error number of both interfaces.
 */
int rt_texref_linear(struct texref *r, struct texture_desc *d, u64 address, u64 bytes,
		     size_t *offset);

#endif
