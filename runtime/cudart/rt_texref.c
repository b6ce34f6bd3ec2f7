/*
 * Texture and surface references of the runtime interface up to 11. The program keeps the settings
 * of a texture reference in a structure of its own, which is read when something is bound.
 */
#include "runtime/cudart/rt_texture.h"
#include "src/base/size.h"

struct texture_reference { /* textureReference; what follows is reserved */
	int normalized, filter, address[3];
	struct channel_desc channels;
	int srgb;
	unsigned anisotropy;
	int mip_filter;
	float bias, level_min, level_max;
	int no_trilinear_shortcut;
};

/* A size that means as much as there is. */
#define ALL_BYTES ((u64)UINT32_MAX)

int rt_texref_linear(struct texref *r, struct texture_desc *d, u64 address, u64 bytes,
		     size_t *offset)
{
	u64 rounded;
	int status;

	texref_align(r->dev, &address, &rounded);
	if ((rounded && !offset) || !size_add(bytes, rounded, &d->resource.bytes))
		return STATUS_INVALID_VALUE;
	d->resource.kind = TEXTURE_LINEAR;
	d->resource.address = address;
	status = (int)texref_bind(r, d);
	if (status)
		return status;
	r->offset = rounded;
	if (offset)
		*offset = (size_t)rounded;
	return STATUS_SUCCESS;
}

/* The reference of a registered variable on the current device, NULL and *status. */
static struct texref *reference(const void *symbol, u32 kind, int *status)
{
	const struct rt_variable *v = rt_find_reference(symbol, kind);
	struct device_program *p;
	struct texref *r;

	*status = kind == TEX_SURFACE ? STATUS_INVALID_SURFACE : STATUS_INVALID_TEXTURE;
	if (!v)
		return NULL;
	p = rt_image_program(v->image, status);
	if (!p)
		return NULL;
	/* A reference that no kernel uses is in no program. */
	if (texref_find(p, v->name, kind, &r) != STATUS_SUCCESS) {
		*status = kind == TEX_SURFACE ? STATUS_INVALID_SURFACE : STATUS_INVALID_TEXTURE;
		return NULL;
	}
	*status = STATUS_SUCCESS;
	return r;
}

static void read_reference_settings(const struct texture_reference *t, bool as_float,
				    struct texture_settings *s)
{
	*s = (struct texture_settings){
		.address = {t->address[0], t->address[1], t->address[2]},
		.filter = t->filter,
		.mip_filter = t->mip_filter,
		.flags = (as_float ? 0u : TEXTURE_AS_INTEGER) |
			 (t->normalized ? TEXTURE_NORMALIZED : 0u) | (t->srgb ? TEXTURE_SRGB : 0u) |
			 (t->no_trilinear_shortcut ? TEXTURE_FULL_TRILINEAR : 0u),
		.anisotropy = t->anisotropy,
		.bias = t->bias,
		.level_min = t->level_min,
		.level_max = t->level_max,
	};
}

/* Begin a description with the structure's settings. c: what the texels are. */
static struct texref *begin_binding(const void *symbol, const struct channel_desc *c,
				    struct texture_desc *d, int *status)
{
	struct texref *r = reference(symbol, TEX_TEXTURE, status);

	*d = (struct texture_desc){0};
	if (!r)
		return NULL;
	if (!c || !rt_channels_read(c, &d->resource.format, &d->resource.channels)) {
		*status = STATUS_INVALID_CHANNEL_DESCRIPTOR;
		return NULL;
	}
	read_reference_settings(symbol, rt_find_reference(symbol, TEX_TEXTURE)->as_float,
				&d->settings);
	return r;
}

static int check_array(const struct mem_array_desc *a, u32 format, u32 channels)
{
	return a->format == format && a->channels == channels ? STATUS_SUCCESS
							      : STATUS_INVALID_VALUE;
}

static int bind_linear(size_t *offset, const void *symbol, u64 address,
		       const struct channel_desc *c, u64 bytes)
{
	struct texture_desc d;
	struct mem_range range;
	int status;
	struct texref *r = begin_binding(symbol, c, &d, &status);
	u64 texel, most;

	if (!r)
		return status;
	if (!mem_find(&r->dev->mem, address, 1, &range))
		return STATUS_INVALID_VALUE;
	texel = mem_format_bytes(d.resource.format, d.resource.channels);
	most = (u64)r->dev->arch->tex1d_linear_max * texel;
	if (bytes >= ALL_BYTES) {
		bytes = range.base + range.size - address;
		if (r->dev->arch->tex1d_linear_max > 0 && bytes > most)
			bytes = most;
	}
	return rt_texref_linear(r, &d, address, bytes, offset);
}

RT_FN(cudaBindTexture, (size_t * offset, const void *symbol, u64 address,
			const struct channel_desc *c, size_t bytes))
{
	return rt_error(bind_linear(offset, symbol, address, c, bytes));
}

/* What an address was rounded down by counts as texels before the first of each row. */
static int bind_pitch(size_t *offset, const void *symbol, u64 address, const struct channel_desc *c,
		      const size_t size[3])
{
	struct texture_desc d;
	int status;
	struct texref *r = begin_binding(symbol, c, &d, &status);
	u64 texel, rounded;

	if (!r)
		return status;
	texel = mem_format_bytes(d.resource.format, d.resource.channels);
	texref_align(r->dev, &address, &rounded);
	if ((rounded && (!offset || !texel || rounded % texel)) ||
	    !size_add(size[0], texel ? rounded / texel : 0, &d.resource.width))
		return STATUS_INVALID_VALUE;
	d.resource.kind = TEXTURE_PITCH;
	d.resource.address = address;
	d.resource.height = size[1];
	d.resource.pitch = size[2];
	status = (int)texref_bind(r, &d);
	if (status)
		return status;
	r->offset = rounded;
	if (offset)
		*offset = (size_t)rounded;
	return STATUS_SUCCESS;
}

RT_FN(cudaBindTexture2D, (size_t * offset, const void *symbol, u64 address,
			  const struct channel_desc *c, size_t width, size_t height, size_t pitch))
{
	return rt_error(
		bind_pitch(offset, symbol, address, c, (const size_t[]){width, height, pitch}));
}

static int bind_array(const void *symbol, void *array, u32 kind, const struct channel_desc *c)
{
	struct texture_desc d;
	int status;
	struct texref *r = begin_binding(symbol, c, &d, &status);
	u32 format = d.resource.format, channels = d.resource.channels;

	if (!r)
		return status;
	d.resource = (struct texture_resource){.kind = kind};
	if (!rt_resource_handle(&d.resource, array))
		return STATUS_INVALID_HANDLE;
	status = check_array(kind == TEXTURE_ARRAY ? &d.resource.array->desc
						   : &d.resource.mipmap->desc,
			     format, channels);
	if (!status)
		status = (int)texref_bind(r, &d);
	if (!status)
		r->offset = 0;
	return status;
}

RT_FN(cudaBindTextureToArray, (const void *symbol, void *array, const struct channel_desc *c))
{
	return rt_error(bind_array(symbol, array, TEXTURE_ARRAY, c));
}

RT_FN(cudaBindTextureToMipmappedArray,
      (const void *symbol, void *mipmap, const struct channel_desc *c))
{
	return rt_error(bind_array(symbol, mipmap, TEXTURE_MIPMAP, c));
}

RT_FN(cudaUnbindTexture, (const void *symbol))
{
	int status;
	struct texref *r = reference(symbol, TEX_TEXTURE, &status);

	if (r)
		texref_unbind(r);
	return rt_error(status);
}

RT_FN(cudaGetTextureAlignmentOffset, (size_t * offset, const void *symbol))
{
	int status;
	struct texref *r = offset ? reference(symbol, TEX_TEXTURE, &status) : NULL;

	if (!offset)
		return rt_error(STATUS_INVALID_VALUE);
	if (r && (!r->object || r->desc.resource.kind < TEXTURE_LINEAR))
		status = STATUS_INVALID_TEXTURE_BINDING;
	else if (r)
		*offset = (size_t)r->offset;
	return rt_error(status);
}

/* The program's structure is the reference. */
RT_FN(cudaGetTextureReference, (const void **out, const void *symbol))
{
	if (!out)
		return rt_error(STATUS_INVALID_VALUE);
	if (!rt_find_reference(symbol, TEX_TEXTURE))
		return rt_error(STATUS_INVALID_TEXTURE);
	*out = symbol;
	return rt_error(STATUS_SUCCESS);
}

RT_FN(cudaGetSurfaceReference, (const void **out, const void *symbol))
{
	if (!out)
		return rt_error(STATUS_INVALID_VALUE);
	if (!rt_find_reference(symbol, TEX_SURFACE))
		return rt_error(STATUS_INVALID_SURFACE);
	*out = symbol;
	return rt_error(STATUS_SUCCESS);
}

static int bind_surface(const void *symbol, void *array, const struct channel_desc *c)
{
	struct texture_desc d = {.resource = {.kind = TEXTURE_ARRAY}};
	u32 format, channels;
	int status;
	struct texref *r = reference(symbol, TEX_SURFACE, &status);

	if (!r)
		return status;
	if (!c || !rt_channels_read(c, &format, &channels))
		return STATUS_INVALID_CHANNEL_DESCRIPTOR;
	if (!rt_resource_handle(&d.resource, array))
		return STATUS_INVALID_HANDLE;
	status = check_array(&d.resource.array->desc, format, channels);
	return status ? status : (int)texref_bind(r, &d);
}

RT_FN(cudaBindSurfaceToArray, (const void *symbol, void *array, const struct channel_desc *c))
{
	return rt_error(bind_surface(symbol, array, c));
}
