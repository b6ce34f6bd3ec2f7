/*
 * Texture and surface objects of the runtime interface.
 */
#include "runtime/cudart/rt_texture.h"

/* Bytes of cudaTextureDesc in 11, where nothing followed disableTrilinearOptimization. */
#define TEXTURE_DESC_11 68u

struct texture_desc_rt { /* cudaTextureDesc */
	int address[3], filter, read_mode, srgb;
	float border[4];
	int normalized;
	unsigned anisotropy;
	int mip_filter;
	float bias, level_min, level_max;
	int no_trilinear_shortcut, seamless;
};

_Static_assert(offsetof(struct texture_desc_rt, seamless) == TEXTURE_DESC_11, "cudaTextureDesc");
_Static_assert(sizeof(struct resource_desc) == 144, "CUDA_RESOURCE_DESC");

bool rt_resource_handle(struct texture_resource *r, void *handle)
{
	if (r->kind == TEXTURE_ARRAY)
		r->array = rt_array_find(handle);
	else
		r->mipmap = rt_mipmap_find(handle);
	return r->array || r->mipmap;
}

int rt_texture_width(int device, u32 format, u32 channels, size_t *out)
{
	int status = rt_device_check(device);

	if (status)
		return status;
	if (!out || !mem_format_bytes(format, channels) || !mem_format_channel_bytes(format))
		return STATUS_INVALID_VALUE;
	/* Texels, and as many bytes as a word of 32 bits counts. */
	*out = (size_t)rt_get()->list.at[device]->tex1d_linear_max * 4;
	if (*out > ((size_t)1 << 32) / mem_format_bytes(format, channels))
		*out = ((size_t)1 << 32) / mem_format_bytes(format, channels);
	return STATUS_SUCCESS;
}

static int rt_read_resource(const struct rt_resource_desc *d, struct texture_resource *r)
{
	*r = (struct texture_resource){.kind = (u32)d->kind};
	if (d->kind == TEXTURE_ARRAY || d->kind == TEXTURE_MIPMAP)
		return rt_resource_handle(r, d->at.handle) ? cudaSuccess
							   : cudaErrorInvalidResourceHandle;
	if (d->kind != TEXTURE_LINEAR && d->kind != TEXTURE_PITCH)
		return cudaErrorInvalidValue;
	if (!rt_channels_read(&d->at.memory.channels, &r->format, &r->channels))
		return STATUS_INVALID_CHANNEL_DESCRIPTOR;
	r->address = d->at.memory.address;
	if (d->kind == TEXTURE_LINEAR) {
		r->bytes = d->at.memory.bytes_or_width;
	} else {
		r->width = d->at.memory.bytes_or_width;
		r->height = d->at.memory.height;
		r->pitch = d->at.memory.pitch;
	}
	return cudaSuccess;
}

/* Writes only what the kind has: the structure was shorter in older versions. */
static void rt_write_resource(const struct texture_resource *r, struct rt_resource_desc *d)
{
	d->kind = (int)r->kind;
	if (r->kind == TEXTURE_ARRAY || r->kind == TEXTURE_MIPMAP) {
		d->at.handle = r->kind == TEXTURE_ARRAY ? (void *)r->array : (void *)r->mipmap;
		return;
	}
	d->at.memory.address = r->address;
	d->at.memory.channels = rt_channels_make(r->format, r->channels);
	d->at.memory.bytes_or_width = r->kind == TEXTURE_LINEAR ? r->bytes : r->width;
	if (r->kind == TEXTURE_PITCH) {
		d->at.memory.height = r->height;
		d->at.memory.pitch = r->pitch;
	}
}

static void read_texture_settings(const struct texture_desc_rt *d, bool has_seamless,
				  struct texture_settings *t)
{
	*t = (struct texture_settings){
		.filter = d->filter,
		.mip_filter = d->mip_filter,
		.flags = (d->read_mode == 0 ? TEXTURE_AS_INTEGER : 0u) |
			 (d->normalized ? TEXTURE_NORMALIZED : 0u) | (d->srgb ? TEXTURE_SRGB : 0u) |
			 (d->no_trilinear_shortcut ? TEXTURE_FULL_TRILINEAR : 0u) |
			 (has_seamless && d->seamless ? TEXTURE_SEAMLESS : 0u),
		.anisotropy = d->anisotropy,
		.bias = d->bias,
		.level_min = d->level_min,
		.level_max = d->level_max,
	};
	memcpy(t->address, d->address, sizeof(t->address));
	memcpy(t->border, d->border, sizeof(t->border));
}

static void write_settings(const struct texture_settings *t, bool has_seamless,
			   struct texture_desc_rt *d)
{
	struct texture_desc_rt full = {
		.filter = t->filter,
		.read_mode = !(t->flags & TEXTURE_AS_INTEGER),
		.srgb = (t->flags & TEXTURE_SRGB) != 0,
		.normalized = (t->flags & TEXTURE_NORMALIZED) != 0,
		.anisotropy = t->anisotropy,
		.mip_filter = t->mip_filter,
		.bias = t->bias,
		.level_min = t->level_min,
		.level_max = t->level_max,
		.no_trilinear_shortcut = (t->flags & TEXTURE_FULL_TRILINEAR) != 0,
		.seamless = (t->flags & TEXTURE_SEAMLESS) != 0,
	};

	memcpy(full.address, t->address, sizeof(full.address));
	memcpy(full.border, t->border, sizeof(full.border));
	memcpy(d, &full, has_seamless ? sizeof(full) : TEXTURE_DESC_11);
}

/* ---- textures ---- */

#define READ_NORMALIZED 1

/* Only numbers of 8 and 16 bits can be read as fractions. */
static bool has_wide_elements(const struct texture_resource *r)
{
	u32 format = r->kind == TEXTURE_ARRAY    ? r->array->desc.format
		     : r->kind == TEXTURE_MIPMAP ? r->mipmap->desc.format
						 : r->format;

	return mem_format_channel_bytes(format) == 4;
}

static int rt_create_texture(u64 *out, const struct rt_resource_desc *r,
			     const struct texture_desc_rt *t, const struct view_desc *v,
			     bool has_seamless)
{
	struct texture_desc d = {.has_view = v != NULL};
	int status;
	struct rt_device *dev = rt_device_now(&status);

	if (!dev)
		return status;
	if (!out || !r)
		return cudaErrorInvalidValue;
	if (!t)
		return cudaErrorInvalidResourceHandle;
	status = rt_read_resource(r, &d.resource);
	if (status)
		return status;
	if (t->read_mode == READ_NORMALIZED && has_wide_elements(&d.resource))
		return (int)STATUS_INVALID_NORM_SETTING;
	read_texture_settings(t, has_seamless, &d.settings);
	if (v)
		d.view = (struct texture_view){(u32)v->format, v->width,       v->height,
					       v->depth,       v->first_level, v->last_level,
					       v->first_layer, v->last_layer};
	return (int)texture_create(dev->dev.textures, &d, out);
}

RT_FN(cudaCreateTextureObject, (u64 * out, const struct rt_resource_desc *r,
				const struct texture_desc_rt *t, const struct view_desc *v))
{
	return rt_error(rt_create_texture(out, r, t, v, true));
}

RT_FN(cudaCreateTextureObject_v2, (u64 * out, const struct rt_resource_desc *r,
				   const struct texture_desc_rt *t, const struct view_desc *v))
{
	return rt_error(rt_create_texture(out, r, t, v, true));
}

RT_FN(cudaCreateTextureObject_11, (u64 * out, const struct rt_resource_desc *r,
				   const struct texture_desc_rt *t, const struct view_desc *v))
{
	return rt_error(rt_create_texture(out, r, t, v, false));
}

/* What is no object, or no longer one, is nothing to destroy. */
static int rt_destroy_texture(u64 handle, u32 kind)
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (d)
		(void)texture_destroy_after(&d->dev, handle, kind);
	return status;
}

RT_FN(cudaDestroyTextureObject, (u64 handle))
{
	return rt_error(rt_destroy_texture(handle, TEX_TEXTURE));
}

static int rt_texture_settings(u64 handle, u32 kind, struct texture_desc *out)
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (!d)
		return status;
	return handle ? (int)texture_describe(d->dev.textures, handle, kind, out)
		      : cudaErrorInvalidValue;
}

RT_FN(cudaGetTextureObjectResourceDesc, (struct rt_resource_desc * out, u64 handle))
{
	struct texture_desc d;
	int status = out ? rt_texture_settings(handle, TEX_TEXTURE, &d) : cudaErrorInvalidValue;

	if (!status)
		rt_write_resource(&d.resource, out);
	return rt_error(status);
}

static int get_settings(struct texture_desc_rt *out, u64 handle, bool has_seamless)
{
	struct texture_desc d;
	int status = out ? rt_texture_settings(handle, TEX_TEXTURE, &d) : cudaErrorInvalidValue;

	if (!status)
		write_settings(&d.settings, has_seamless, out);
	return rt_error(status);
}

RT_FN(cudaGetTextureObjectTextureDesc, (struct texture_desc_rt * out, u64 handle))
{
	return get_settings(out, handle, true);
}

RT_FN(cudaGetTextureObjectTextureDesc_v2, (struct texture_desc_rt * out, u64 handle))
{
	return get_settings(out, handle, true);
}

RT_FN(cudaGetTextureObjectTextureDesc_11, (struct texture_desc_rt * out, u64 handle))
{
	return get_settings(out, handle, false);
}

RT_FN(cudaGetTextureObjectResourceViewDesc, (struct view_desc * out, u64 handle))
{
	struct texture_desc d;
	int status = out ? rt_texture_settings(handle, TEX_TEXTURE, &d) : cudaErrorInvalidValue;

	if (!status)
		*out = (struct view_desc){(int)d.view.format, d.view.width,       d.view.height,
					  d.view.depth,       d.view.first_level, d.view.last_level,
					  d.view.first_layer, d.view.last_layer};
	return rt_error(status);
}

RT_FN(cudaDeviceGetTexture1DLinearMaxWidth,
      (size_t * out, const struct channel_desc *c, int device))
{
	u32 format, channels;

	if (!c)
		return rt_error(cudaErrorInvalidValue);
	if (!rt_channels_read(c, &format, &channels))
		return rt_error(STATUS_INVALID_CHANNEL_DESCRIPTOR);
	return rt_error(rt_texture_width(device, format, channels, out));
}

/* ---- surfaces ---- */

RT_FN(cudaCreateSurfaceObject, (u64 * out, const struct rt_resource_desc *d))
{
	struct texture_resource r;
	int status;
	struct rt_device *dev = rt_device_now(&status);

	if (!dev)
		return rt_error(status);
	if (!out || !d || d->kind != TEXTURE_ARRAY)
		return rt_error(cudaErrorInvalidValue);
	status = rt_read_resource(d, &r);
	return rt_error(status ? status : (int)surface_create(dev->dev.textures, &r, out));
}

RT_FN(cudaDestroySurfaceObject, (u64 handle))
{
	return rt_error(rt_destroy_texture(handle, TEX_SURFACE));
}

RT_FN(cudaGetSurfaceObjectResourceDesc, (struct rt_resource_desc * out, u64 handle))
{
	struct texture_desc d;
	int status = out ? rt_texture_settings(handle, TEX_SURFACE, &d) : cudaErrorInvalidValue;

	if (!status)
		rt_write_resource(&d.resource, out);
	return rt_error(status);
}
