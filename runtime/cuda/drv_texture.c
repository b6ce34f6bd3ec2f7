/*
 * Arrays, textures and surfaces of the driver interface. Names without a version are those of CUDA
 * 3.1 and before, with 32-bit sizes; they are here for programs that ask for them by name.
 */
#include "runtime/cuda/drv.h"
#include "runtime/cudart/rt_texture.h"

struct array_desc_v1 {
	unsigned width, height;
	int format;
	unsigned channels;
};

struct array3d_desc_v1 {
	unsigned width, height, depth;
	int format;
	unsigned channels, flags;
};

/* ---- arrays ---- */

static int create_array(struct mem_array **out, const struct array3d_desc *desc)
{
	int status;
	struct rt_device *d = drv_device(&status);
	struct mem_array_desc m;

	if (!d)
		return status;
	if (!out || !desc)
		return STATUS_INVALID_VALUE;
	m = (struct mem_array_desc){desc->width,       desc->height,   desc->depth,
				    (u32)desc->format, desc->channels, desc->flags};
	return rt_array_create(d, &m, out);
}

DRV_FN(cuArrayCreate_v2, (struct mem_array * *out, const struct array_desc *d))
{
	struct array3d_desc full = {0};

	if (d)
		full = (struct array3d_desc){d->width, d->height, 0, d->format, d->channels, 0};
	return create_array(out, d ? &full : NULL);
}

DRV_FN(cuArrayCreate, (struct mem_array * *out, const struct array_desc_v1 *d))
{
	struct array3d_desc full = {0};

	if (d)
		full = (struct array3d_desc){d->width, d->height, 0, d->format, d->channels, 0};
	return create_array(out, d ? &full : NULL);
}

DRV_FN(cuArray3DCreate_v2, (struct mem_array * *out, const struct array3d_desc *d))
{
	return create_array(out, d);
}

DRV_FN(cuArray3DCreate, (struct mem_array * *out, const struct array3d_desc_v1 *d))
{
	struct array3d_desc full = {0};

	if (d)
		full = (struct array3d_desc){d->width,  d->height,   d->depth,
					     d->format, d->channels, d->flags};
	return create_array(out, d ? &full : NULL);
}

/* The array of a handle. NULL: *status says why. */
static const struct mem_array *drv_find_array(const void *handle, int *status)
{
	const struct mem_array *a = drv_device(status) ? rt_array_find(handle) : NULL;

	if (!a && !*status)
		*status = STATUS_INVALID_HANDLE;
	return a;
}

/* The description of an array that is to be told at `out`, which may not be NULL. */
static int array_description(const void *handle, const void *out, struct mem_array_desc *desc)
{
	int status;
	const struct mem_array *a = drv_find_array(handle, &status);

	if (!a)
		return status;
	if (!out)
		return STATUS_INVALID_VALUE;
	*desc = a->desc;
	return STATUS_SUCCESS;
}

static const struct mem_mipmap *find_mipmap(const void *handle, int *status)
{
	const struct mem_mipmap *m = drv_device(status) ? rt_mipmap_find(handle) : NULL;

	if (!m && !*status)
		*status = STATUS_INVALID_HANDLE;
	return m;
}

DRV_FN(cuArrayGetDescriptor_v2, (struct array_desc * out, const void *array))
{
	struct mem_array_desc d;
	int status = array_description(array, out, &d);

	if (!status)
		*out = (struct array_desc){d.width, d.height, (int)d.format, d.channels};
	return status;
}

DRV_FN(cuArrayGetDescriptor, (struct array_desc_v1 * out, const void *array))
{
	struct mem_array_desc d;
	int status = array_description(array, out, &d);

	if (!status)
		*out = (struct array_desc_v1){(u32)d.width, (u32)d.height, (int)d.format,
					      d.channels};
	return status;
}

DRV_FN(cuArray3DGetDescriptor_v2, (struct array3d_desc * out, const void *array))
{
	struct mem_array_desc d;
	int status = array_description(array, out, &d);

	if (!status)
		*out = (struct array3d_desc){d.width,       d.height,   d.depth,
					     (int)d.format, d.channels, d.flags};
	return status;
}

DRV_FN(cuArray3DGetDescriptor, (struct array3d_desc_v1 * out, const void *array))
{
	struct mem_array_desc d;
	int status = array_description(array, out, &d);

	if (!status)
		*out = (struct array3d_desc_v1){(u32)d.width,  (u32)d.height, (u32)d.depth,
						(int)d.format, d.channels,    d.flags};
	return status;
}

DRV_FN(cuArrayDestroy, (void *array))
{
	int status;

	return drv_find_array(array, &status) ? rt_array_destroy(array) : status;
}

/* Planes are those of video formats, which there are none of here. */
DRV_FN(cuArrayGetPlane, (struct mem_array * *out, const void *array, unsigned plane))
{
	int status;

	(void)out, (void)plane;
	return drv_find_array(array, &status) ? STATUS_INVALID_VALUE : status;
}

DRV_FN(cuArrayGetMemoryRequirements,
       (struct array_requirements * out, const void *array, int device))
{
	int status;
	const struct mem_array *a = drv_find_array(array, &status);

	if (!a || (status = drv_check(device)))
		return status;
	return out ? rt_array_requirements(&a->desc, a->bytes, out) : STATUS_INVALID_VALUE;
}

DRV_FN(cuArrayGetSparseProperties, (struct sparse_properties * out, const void *array))
{
	int status;
	const struct mem_array *a = drv_find_array(array, &status);

	if (!a)
		return status;
	return out ? rt_array_sparse(&a->desc, NULL, out) : STATUS_INVALID_VALUE;
}

DRV_FN(cuMipmappedArrayCreate,
       (struct mem_mipmap * *out, const struct array3d_desc *desc, unsigned levels))
{
	int status;
	struct rt_device *d = drv_device(&status);
	struct mem_array_desc m;

	if (!d)
		return status;
	if (!out || !desc)
		return STATUS_INVALID_VALUE;
	m = (struct mem_array_desc){desc->width,       desc->height,   desc->depth,
				    (u32)desc->format, desc->channels, desc->flags};
	return rt_mipmap_create(d, &m, levels ? levels : 1, out);
}

DRV_FN(cuMipmappedArrayGetLevel, (struct mem_array * *out, const void *mipmap, unsigned level))
{
	int status;
	const struct mem_mipmap *m = find_mipmap(mipmap, &status);

	if (!m)
		return status;
	if (!out || level >= m->levels)
		return STATUS_INVALID_VALUE;
	*out = (struct mem_array *)(uintptr_t)&m->level[level];
	return STATUS_SUCCESS;
}

DRV_FN(cuMipmappedArrayDestroy, (void *mipmap))
{
	int status;

	return find_mipmap(mipmap, &status) ? rt_mipmap_destroy(mipmap) : status;
}

DRV_FN(cuMipmappedArrayGetMemoryRequirements,
       (struct array_requirements * out, const void *mipmap, int device))
{
	int status;
	const struct mem_mipmap *m = find_mipmap(mipmap, &status);

	if (!m || (status = drv_check(device)))
		return status;
	return out ? rt_array_requirements(&m->desc, m->bytes, out) : STATUS_INVALID_VALUE;
}

DRV_FN(cuMipmappedArrayGetSparseProperties, (struct sparse_properties * out, const void *mipmap))
{
	int status;
	const struct mem_mipmap *m = find_mipmap(mipmap, &status);

	if (!m)
		return status;
	return out ? rt_array_sparse(&m->desc, m, out) : STATUS_INVALID_VALUE;
}

DRV_FN(cuDeviceGetTexture1DLinearMaxWidth,
       (size_t * out, int format, unsigned channels, int device))
{
	int status = drv_check(device);

	return status ? status : rt_texture_width(device, (u32)format, channels, out);
}

/* ---- objects ---- */

struct texture_desc_drv { /* CUDA_TEXTURE_DESC; what follows is reserved */
	int address[3], filter;
	unsigned flags, anisotropy;
	int mip_filter;
	float bias, level_min, level_max, border[4];
};

static int drv_read_resource(const struct resource_desc *d, struct texture_resource *r)
{
	*r = (struct texture_resource){.kind = (u32)d->kind};
	if (d->flags)
		return STATUS_INVALID_VALUE;
	if (d->kind == TEXTURE_ARRAY || d->kind == TEXTURE_MIPMAP)
		return rt_resource_handle(r, d->at.handle) ? STATUS_SUCCESS : STATUS_INVALID_HANDLE;
	if (d->kind != TEXTURE_LINEAR && d->kind != TEXTURE_PITCH)
		return STATUS_INVALID_VALUE;
	r->address = d->at.memory.address;
	r->format = (u32)d->at.memory.format;
	r->channels = d->at.memory.channels;
	if (d->kind == TEXTURE_LINEAR) {
		r->bytes = d->at.memory.bytes_or_width;
	} else {
		r->width = d->at.memory.bytes_or_width;
		r->height = d->at.memory.height;
		r->pitch = d->at.memory.pitch;
	}
	return STATUS_SUCCESS;
}

static void drv_write_resource(const struct texture_resource *r, struct resource_desc *d)
{
	memset(d, 0, sizeof(*d));
	d->kind = (int)r->kind;
	if (r->kind == TEXTURE_ARRAY || r->kind == TEXTURE_MIPMAP) {
		d->at.handle = r->kind == TEXTURE_ARRAY ? (void *)r->array : (void *)r->mipmap;
		return;
	}
	d->at.memory.address = r->address;
	d->at.memory.format = (int)r->format;
	d->at.memory.channels = r->channels;
	d->at.memory.bytes_or_width = r->kind == TEXTURE_LINEAR ? r->bytes : r->width;
	d->at.memory.height = r->height;
	d->at.memory.pitch = r->pitch;
}

DRV_FN(cuTexObjectCreate, (u64 * out, const struct resource_desc *r,
			   const struct texture_desc_drv *t, const struct view_desc *v))
{
	struct texture_desc d = {.has_view = v != NULL};
	int status;
	struct rt_device *dev = drv_device(&status);

	if (!dev)
		return status;
	if (!out || !r || !t)
		return STATUS_INVALID_VALUE;
	status = drv_read_resource(r, &d.resource);
	if (status)
		return status;
	d.settings = (struct texture_settings){
		.address = {t->address[0], t->address[1], t->address[2]},
		.filter = t->filter,
		.flags = t->flags,
		.anisotropy = t->anisotropy,
		.mip_filter = t->mip_filter,
		.bias = t->bias,
		.level_min = t->level_min,
		.level_max = t->level_max,
		.border = {t->border[0], t->border[1], t->border[2], t->border[3]},
	};
	if (v)
		d.view = (struct texture_view){(u32)v->format, v->width,       v->height,
					       v->depth,       v->first_level, v->last_level,
					       v->first_layer, v->last_layer};
	return (int)texture_create(dev->dev.textures, &d, out);
}

static int drv_destroy_texture(u64 handle, u32 kind)
{
	int status;
	struct rt_device *d = drv_device(&status);

	/* What is no object is nothing to destroy. */
	if (d)
		(void)texture_destroy_after(&d->dev, handle, kind);
	return status;
}

static int drv_texture_settings(u64 handle, u32 kind, const void *out, struct texture_desc *desc)
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	return out ? (int)texture_describe(d->dev.textures, handle, kind, desc)
		   : STATUS_INVALID_VALUE;
}

DRV_FN(cuTexObjectDestroy, (u64 handle))
{
	return drv_destroy_texture(handle, TEX_TEXTURE);
}

DRV_FN(cuTexObjectGetResourceDesc, (struct resource_desc * out, u64 handle))
{
	struct texture_desc d;
	int status = drv_texture_settings(handle, TEX_TEXTURE, out, &d);

	if (!status)
		drv_write_resource(&d.resource, out);
	return status;
}

DRV_FN(cuTexObjectGetTextureDesc, (struct texture_desc_drv * out, u64 handle))
{
	struct texture_desc d;
	int status = drv_texture_settings(handle, TEX_TEXTURE, out, &d);
	const struct texture_settings *t = &d.settings;

	if (!status)
		*out = (struct texture_desc_drv){
			.address = {t->address[0], t->address[1], t->address[2]},
			.filter = t->filter,
			.flags = t->flags,
			.anisotropy = t->anisotropy,
			.mip_filter = t->mip_filter,
			.bias = t->bias,
			.level_min = t->level_min,
			.level_max = t->level_max,
			.border = {t->border[0], t->border[1], t->border[2], t->border[3]},
		};
	return status;
}

DRV_FN(cuTexObjectGetResourceViewDesc, (struct view_desc * out, u64 handle))
{
	struct texture_desc d;
	int status = drv_texture_settings(handle, TEX_TEXTURE, out, &d);

	if (!status && !d.has_view)
		return STATUS_INVALID_VALUE;
	if (!status)
		*out = (struct view_desc){(int)d.view.format, d.view.width,       d.view.height,
					  d.view.depth,       d.view.first_level, d.view.last_level,
					  d.view.first_layer, d.view.last_layer};
	return status;
}

DRV_FN(cuSurfObjectCreate, (u64 * out, const struct resource_desc *desc))
{
	struct texture_resource r;
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	if (!out || !desc || desc->kind != TEXTURE_ARRAY)
		return STATUS_INVALID_VALUE;
	status = drv_read_resource(desc, &r);
	return status ? status : (int)surface_create(d->dev.textures, &r, out);
}

DRV_FN(cuSurfObjectDestroy, (u64 handle))
{
	return drv_destroy_texture(handle, TEX_SURFACE);
}

DRV_FN(cuSurfObjectGetResourceDesc, (struct resource_desc * out, u64 handle))
{
	struct texture_desc d;
	int status = drv_texture_settings(handle, TEX_SURFACE, out, &d);

	if (!status)
		drv_write_resource(&d.resource, out);
	return status;
}
