/*
 * Texture and surface references of the driver interface. What is set takes effect at once: a
 * binding is renewed with every setting, and refused with it.
 */
#include "runtime/cuda/drv.h"
#include "runtime/cudart/rt_texture.h"

/* CU_TRSA_OVERRIDE_FORMAT: the array's format counts. The only way there is. */
#define OVERRIDE_FORMAT 1u

struct ref_array_desc { /* CUDA_ARRAY_DESCRIPTOR of CUDA 3.1 and before */
	unsigned width, height;
	int format;
	unsigned channels;
};

/* Is it a reference of this kind on the current device? Returns an error number. */
static int check_texref(const struct texref *r, u32 kind)
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	return texref_is(&d->dev, r, kind) ? STATUS_SUCCESS : STATUS_INVALID_HANDLE;
}

/* As check, for a call that answers in *out. */
static int check_out(const struct texref *r, const void *out)
{
	int status = check_texref(r, TEX_TEXTURE);

	return status || out ? status : (int)STATUS_INVALID_VALUE;
}

static int get_reference(struct texref **out, const struct drv_module *m, const char *name,
			 u32 kind)
{
	int status;

	if (!drv_device(&status))
		return status;
	if (!out || !name)
		return STATUS_INVALID_VALUE;
	if (!rt_handle_is(m, RT_HANDLE_MODULE))
		return STATUS_INVALID_HANDLE;
	return (int)texref_find(m->program, name, kind, out);
}

DRV_FN(cuModuleGetTexRef, (struct texref * *out, const struct drv_module *m, const char *name))
{
	return get_reference(out, m, name, TEX_TEXTURE);
}

DRV_FN(cuModuleGetSurfRef, (struct texref * *out, const struct drv_module *m, const char *name))
{
	return get_reference(out, m, name, TEX_SURFACE);
}

DRV_FN(cuTexRefCreate, (struct texref * *out))
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	return out ? (int)texref_new(&d->dev, out) : STATUS_INVALID_VALUE;
}

/* A module's references go with the module. */
DRV_FN(cuTexRefDestroy, (struct texref * r))
{
	int status = check_texref(r, TEX_TEXTURE);

	if (!status && r->program)
		status = STATUS_INVALID_HANDLE;
	if (!status)
		texref_free(r);
	return status;
}

/*
 * A reference of a module is there for every kernel of it: unit -1 says so, and nothing else can.
 */
DRV_FN(cuParamSetTexRef, (const void *function, int unit, const struct texref *r))
{
	int status;

	if (!drv_kernel(function, &status))
		return status;
	return unit == -1 ? check_texref(r, TEX_TEXTURE) : STATUS_INVALID_VALUE;
}

/* ---- bindings ---- */

static int bind_handle(struct texref *r, u32 kind, void *handle, unsigned flags)
{
	struct texture_desc d;
	int status = check_texref(r, TEX_TEXTURE);

	if (status)
		return status;
	if (flags != OVERRIDE_FORMAT)
		return STATUS_INVALID_VALUE;
	d = r->desc;
	d.resource = (struct texture_resource){.kind = kind};
	if (!rt_resource_handle(&d.resource, handle))
		return STATUS_INVALID_HANDLE;
	d.resource.format = kind == TEXTURE_ARRAY ? d.resource.array->desc.format
						  : d.resource.mipmap->desc.format;
	d.resource.channels = kind == TEXTURE_ARRAY ? d.resource.array->desc.channels
						    : d.resource.mipmap->desc.channels;
	return (int)texref_bind(r, &d);
}

DRV_FN(cuTexRefSetArray, (struct texref * r, void *array, unsigned flags))
{
	return bind_handle(r, TEXTURE_ARRAY, array, flags);
}

DRV_FN(cuTexRefSetMipmappedArray, (struct texref * r, void *mipmap, unsigned flags))
{
	return bind_handle(r, TEXTURE_MIPMAP, mipmap, flags);
}

DRV_FN(cuTexRefSetAddress_v2, (size_t * offset, struct texref *r, u64 address, size_t bytes))
{
	struct texture_desc d;
	int status = check_texref(r, TEX_TEXTURE);

	if (status)
		return status;
	d = r->desc;
	return rt_texref_linear(r, &d, address, bytes, offset);
}

DRV_FN(cuTexRefSetAddress, (unsigned *offset, struct texref *r, u32 address, unsigned bytes))
{
	size_t by = 0;
	int status = pldrv_cuTexRefSetAddress_v2(offset ? &by : NULL, r, address, bytes);

	if (!status && offset)
		*offset = (unsigned)by;
	return status;
}

DRV_FN(cuTexRefSetAddress2D_v3,
       (struct texref * r, const struct array_desc *a, u64 address, size_t pitch))
{
	struct texture_desc d;
	int status = check_texref(r, TEX_TEXTURE);

	if (status)
		return status;
	if (!a)
		return STATUS_INVALID_VALUE;
	d = r->desc;
	d.resource = (struct texture_resource){.kind = TEXTURE_PITCH,
					       .address = address,
					       .width = a->width,
					       .height = a->height,
					       .pitch = pitch,
					       .format = (u32)a->format,
					       .channels = a->channels};
	return (int)texref_bind(r, &d);
}

DRV_FN(cuTexRefSetAddress2D_v2,
       (struct texref * r, const struct array_desc *a, u64 address, size_t pitch))
{
	return pldrv_cuTexRefSetAddress2D_v3(r, a, address, pitch);
}

DRV_FN(cuTexRefSetAddress2D,
       (struct texref * r, const struct ref_array_desc *a, u32 address, unsigned pitch))
{
	struct array_desc full = {0};

	if (a)
		full = (struct array_desc){a->width, a->height, a->format, a->channels};
	return pldrv_cuTexRefSetAddress2D_v3(r, a ? &full : NULL, address, pitch);
}

static int get_handle(void **out, const struct texref *r, u32 kind)
{
	int status = check_out(r, out);
	const struct texture_resource *from;

	if (status)
		return status;
	from = &r->desc.resource;
	if (!r->object || from->kind != kind)
		return STATUS_INVALID_VALUE;
	*out = kind == TEXTURE_ARRAY ? (void *)from->array : (void *)from->mipmap;
	return STATUS_SUCCESS;
}

DRV_FN(cuTexRefGetArray, (void **out, const struct texref *r))
{
	return get_handle(out, r, TEXTURE_ARRAY);
}

DRV_FN(cuTexRefGetMipmappedArray, (void **out, const struct texref *r))
{
	return get_handle(out, r, TEXTURE_MIPMAP);
}

DRV_FN(cuTexRefGetAddress_v2, (u64 * out, const struct texref *r))
{
	int status = check_out(r, out);

	if (status)
		return status;
	/* Without an address it is 0, and the call fails all the same: measured. */
	*out = 0;
	if (!r->object || r->desc.resource.kind < TEXTURE_LINEAR)
		return STATUS_INVALID_VALUE;
	*out = r->desc.resource.address;
	return STATUS_SUCCESS;
}

DRV_FN(cuTexRefGetAddress, (u32 * out, const struct texref *r))
{
	u64 address = 0;
	int status = pldrv_cuTexRefGetAddress_v2(out ? &address : NULL, r);

	if (status)
		return status;
	if (address > UINT32_MAX)
		return STATUS_NOT_SUPPORTED;
	*out = (u32)address;
	return STATUS_SUCCESS;
}

/* ---- settings ---- */

/* A copy of all that is set, to be changed and given to texref_change. */
static int edit(const struct texref *r, struct texture_desc *d)
{
	int status = check_texref(r, TEX_TEXTURE);

	if (!status)
		*d = r->desc;
	return status;
}

DRV_FN(cuTexRefSetFormat, (struct texref * r, int format, int channels))
{
	struct texture_desc d;
	int status = edit(r, &d);

	if (status)
		return status;
	if (!mem_format_bytes((u32)format, (u32)channels))
		return STATUS_INVALID_VALUE;
	d.resource.format = (u32)format;
	d.resource.channels = (u32)channels;
	return (int)texref_change(r, &d);
}

DRV_FN(cuTexRefSetAddressMode, (struct texref * r, int dim, int mode))
{
	struct texture_desc d;
	int status = edit(r, &d);

	if (status)
		return status;
	if (dim < 0 || dim > 2 || mode < TEX_WRAP || mode > TEX_BORDER)
		return STATUS_INVALID_VALUE;
	d.settings.address[dim] = mode;
	return (int)texref_change(r, &d);
}

static int set_filter(struct texref *r, int mode, bool mip)
{
	struct texture_desc d;
	int status = edit(r, &d);

	if (status)
		return status;
	if (mode < 0 || mode > 1)
		return STATUS_INVALID_VALUE;
	*(mip ? &d.settings.mip_filter : &d.settings.filter) = mode;
	return (int)texref_change(r, &d);
}

DRV_FN(cuTexRefSetFilterMode, (struct texref * r, int mode))
{
	return set_filter(r, mode, false);
}

DRV_FN(cuTexRefSetMipmapFilterMode, (struct texref * r, int mode))
{
	return set_filter(r, mode, true);
}

DRV_FN(cuTexRefSetMipmapLevelBias, (struct texref * r, float bias))
{
	struct texture_desc d = {0};
	int status = edit(r, &d);

	d.settings.bias = bias;
	return status ? status : (int)texref_change(r, &d);
}

DRV_FN(cuTexRefSetMipmapLevelClamp, (struct texref * r, float least, float most))
{
	struct texture_desc d = {0};
	int status = edit(r, &d);

	d.settings.level_min = least;
	d.settings.level_max = most;
	return status ? status : (int)texref_change(r, &d);
}

DRV_FN(cuTexRefSetMaxAnisotropy, (struct texref * r, unsigned most))
{
	struct texture_desc d = {0};
	int status = edit(r, &d);

	d.settings.anisotropy = most;
	return status ? status : (int)texref_change(r, &d);
}

DRV_FN(cuTexRefSetBorderColor, (struct texref * r, const float *colour))
{
	struct texture_desc d;
	int status = edit(r, &d);

	if (status)
		return status;
	if (!colour)
		return STATUS_INVALID_VALUE;
	memcpy(d.settings.border, colour, sizeof(d.settings.border));
	return (int)texref_change(r, &d);
}

DRV_FN(cuTexRefSetFlags, (struct texref * r, unsigned flags))
{
	const unsigned known = TEXTURE_AS_INTEGER | TEXTURE_NORMALIZED | TEXTURE_SRGB |
			       TEXTURE_FULL_TRILINEAR | TEXTURE_SEAMLESS;
	struct texture_desc d;
	int status = edit(r, &d);

	if (status)
		return status;
	if (flags & ~known)
		return STATUS_INVALID_VALUE;
	d.settings.flags = flags;
	return (int)texref_change(r, &d);
}

DRV_FN(cuTexRefGetFormat, (int *format, int *channels, const struct texref *r))
{
	int status = check_texref(r, TEX_TEXTURE);

	if (status)
		return status;
	if (format)
		*format = (int)r->desc.resource.format;
	if (channels)
		*channels = (int)r->desc.resource.channels;
	return STATUS_SUCCESS;
}

DRV_FN(cuTexRefGetAddressMode, (int *out, const struct texref *r, int dim))
{
	int status = check_out(r, out);

	if (status)
		return status;
	if (dim < 0 || dim > 2)
		return STATUS_INVALID_VALUE;
	*out = r->desc.settings.address[dim];
	return STATUS_SUCCESS;
}

DRV_FN(cuTexRefGetFilterMode, (int *out, const struct texref *r))
{
	int status = check_out(r, out);

	if (!status)
		*out = r->desc.settings.filter;
	return status;
}

DRV_FN(cuTexRefGetMipmapFilterMode, (int *out, const struct texref *r))
{
	int status = check_out(r, out);

	if (!status)
		*out = r->desc.settings.mip_filter;
	return status;
}

DRV_FN(cuTexRefGetMipmapLevelBias, (float *out, const struct texref *r))
{
	int status = check_out(r, out);

	if (!status)
		*out = r->desc.settings.bias;
	return status;
}

DRV_FN(cuTexRefGetMipmapLevelClamp, (float *least, float *most, const struct texref *r))
{
	int status = check_out(r, least);

	if (status)
		return status;
	if (!most)
		return STATUS_INVALID_VALUE;
	*least = r->desc.settings.level_min;
	*most = r->desc.settings.level_max;
	return STATUS_SUCCESS;
}

DRV_FN(cuTexRefGetMaxAnisotropy, (int *out, const struct texref *r))
{
	int status = check_out(r, out);

	if (!status)
		*out = (int)r->desc.settings.anisotropy;
	return status;
}

DRV_FN(cuTexRefGetBorderColor, (float *out, const struct texref *r))
{
	int status = check_out(r, out);

	if (!status)
		memcpy(out, r->desc.settings.border, sizeof(r->desc.settings.border));
	return status;
}

DRV_FN(cuTexRefGetFlags, (unsigned *out, const struct texref *r))
{
	int status = check_out(r, out);

	if (!status)
		*out = r->desc.settings.flags;
	return status;
}

/* ---- surfaces ---- */

DRV_FN(cuSurfRefSetArray, (struct texref * r, void *array, unsigned flags))
{
	struct texture_desc d = {.resource = {.kind = TEXTURE_ARRAY}};
	int status = check_texref(r, TEX_SURFACE);

	if (status)
		return status;
	if (flags)
		return STATUS_INVALID_VALUE;
	return rt_resource_handle(&d.resource, array) ? (int)texref_bind(r, &d)
						      : STATUS_INVALID_HANDLE;
}

DRV_FN(cuSurfRefGetArray, (void **out, const struct texref *r))
{
	int status = check_texref(r, TEX_SURFACE);

	if (status)
		return status;
	if (!out || !r->object)
		return STATUS_INVALID_VALUE;
	*out = r->desc.resource.array;
	return STATUS_SUCCESS;
}
