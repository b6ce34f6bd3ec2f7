/*
 * CUDA arrays: formats, which extents and flags go together, storage, and handles of programs.
 */
#include "src/mem/array.h"

#include "src/base/size.h"

#include <stdlib.h>

/* Textures begin at multiples of this, as the driver places them. */
#define BASE_ALIGN 512u
#define ALL_FLAGS                                                                                  \
	(MEM_ARRAY_LAYERED | MEM_ARRAY_SURFACE | MEM_ARRAY_CUBEMAP | MEM_ARRAY_GATHER |            \
	 MEM_ARRAY_SPARSE | MEM_ARRAY_DEFERRED | MEM_ARRAY_VIDEO)

/* What a handle is, kept in the low bits of the values in mem.handles. */
enum handle_kind { HANDLE_NONE, HANDLE_ARRAY, HANDLE_LEVEL, HANDLE_MIPMAP };

/* ---- formats ---- */

/* Formats from `first` to `last`. channel 0: bytes are those of a whole element. */
static const struct format_row {
	u8 first, last, channel, channels, bytes, block;
} formats[] = {
	{MEM_FORMAT_U8, MEM_FORMAT_U8, 1, 0, 0, 1},
	{MEM_FORMAT_U16, MEM_FORMAT_U16, 2, 0, 0, 1},
	{MEM_FORMAT_U32, MEM_FORMAT_U32, 4, 0, 0, 1},
	{MEM_FORMAT_S8, MEM_FORMAT_S8, 1, 0, 0, 1},
	{MEM_FORMAT_S16, MEM_FORMAT_S16, 2, 0, 0, 1},
	{MEM_FORMAT_S32, MEM_FORMAT_S32, 4, 0, 0, 1},
	{MEM_FORMAT_F16, MEM_FORMAT_F16, 2, 0, 0, 1},
	{MEM_FORMAT_F32, MEM_FORMAT_F32, 4, 0, 0, 1},
	{MEM_FORMAT_RGB10A2, MEM_FORMAT_RGB10A2, 0, 4, 4, 1},
	{MEM_FORMAT_BC1, MEM_FORMAT_BC1 + 1, 0, 4, 8, 4},
	{MEM_FORMAT_BC2, MEM_FORMAT_BC2 + 1, 0, 4, 16, 4},
	{MEM_FORMAT_BC3, MEM_FORMAT_BC3 + 1, 0, 4, 16, 4},
	{MEM_FORMAT_BC4, MEM_FORMAT_BC4 + 1, 0, 1, 8, 4},
	{MEM_FORMAT_BC5, MEM_FORMAT_BC5 + 1, 0, 2, 16, 4},
	{MEM_FORMAT_BC6H, MEM_FORMAT_BC6H + 1, 0, 3, 16, 4},
	{MEM_FORMAT_BC7, MEM_FORMAT_BC7_SRGB, 0, 4, 16, 4},
	{MEM_FORMAT_UNORM8X1, MEM_FORMAT_UNORM8X1, 1, 1, 0, 1},
	{MEM_FORMAT_UNORM8X1 + 1, MEM_FORMAT_UNORM8X1 + 1, 1, 2, 0, 1},
	{MEM_FORMAT_UNORM8X1 + 2, MEM_FORMAT_UNORM8X1 + 2, 1, 4, 0, 1},
	{MEM_FORMAT_UNORM16X1, MEM_FORMAT_UNORM16X1, 2, 1, 0, 1},
	{MEM_FORMAT_UNORM16X1 + 1, MEM_FORMAT_UNORM16X1 + 1, 2, 2, 0, 1},
	{MEM_FORMAT_UNORM16X1 + 2, MEM_FORMAT_UNORM16X1 + 2, 2, 4, 0, 1},
	{MEM_FORMAT_SNORM8X1, MEM_FORMAT_SNORM8X1, 1, 1, 0, 1},
	{MEM_FORMAT_SNORM8X1 + 1, MEM_FORMAT_SNORM8X1 + 1, 1, 2, 0, 1},
	{MEM_FORMAT_SNORM8X1 + 2, MEM_FORMAT_SNORM8X1 + 2, 1, 4, 0, 1},
	{MEM_FORMAT_SNORM16X1, MEM_FORMAT_SNORM16X1, 2, 1, 0, 1},
	{MEM_FORMAT_SNORM16X1 + 1, MEM_FORMAT_SNORM16X1 + 1, 2, 2, 0, 1},
	{MEM_FORMAT_SNORM16X1 + 2, MEM_FORMAT_SNORM16X4, 2, 4, 0, 1},
};

static const struct format_row *find_format(u32 format)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (format >= formats[i].first && format <= formats[i].last)
			return &formats[i];
	return NULL;
}

u32 mem_format_bytes(u32 format, u32 channels)
{
	const struct format_row *f = find_format(format);

	if (!f || (channels != 1 && channels != 2 && channels != 4 && channels != f->channels) ||
	    (f->channels && channels != f->channels))
		return 0;
	return f->channel ? f->channel * channels : f->bytes;
}

u32 mem_format_channel_bytes(u32 format)
{
	const struct format_row *f = find_format(format);

	return f ? f->channel : 0;
}

u32 mem_format_block(u32 format)
{
	const struct format_row *f = find_format(format);

	return f ? f->block : 1;
}

/* ---- what goes together ---- */

enum shape {
	SHAPE_1D,
	SHAPE_2D,
	SHAPE_3D,
	SHAPE_3D_OTHER, /* the second extent that three-dimensional arrays may have instead */
	SHAPE_1D_LAYERED,
	SHAPE_2D_LAYERED,
	SHAPE_CUBE,
	SHAPE_CUBE_LAYERED,
	SHAPES
};

/*
 * The profile's limits of each shape: of textures, of arrays that surfaces may name, of mipmapped
 * arrays. Dimensions that a shape has not, or has no limit for, repeat that of the width.
 */
enum use { USE_TEXTURE, USE_SURFACE, USE_MIPMAP, USES };

#define LIMIT(w, h, d)                                                                             \
	{                                                                                          \
		ARCH_FIELD_##w, ARCH_FIELD_##h, ARCH_FIELD_##d                                     \
	}
#define ONE(w) LIMIT(w, w, w)
#define TWO(w, d) LIMIT(w, w, d)

static const enum arch_field limits[SHAPES][USES][3] = {
	[SHAPE_1D] = {ONE(tex1d_max), ONE(surf1d_max), ONE(tex1d_mipmap_max)},
	[SHAPE_2D] = {LIMIT(tex2d_width_max, tex2d_height_max, tex2d_width_max),
		      LIMIT(surf2d_width_max, surf2d_height_max, surf2d_width_max),
		      LIMIT(tex2d_mipmap_width_max, tex2d_mipmap_height_max, tex2d_width_max)},
	[SHAPE_3D] = {LIMIT(tex3d_width_max, tex3d_height_max, tex3d_depth_max),
		      LIMIT(surf3d_width_max, surf3d_height_max, surf3d_depth_max),
		      LIMIT(tex3d_width_max, tex3d_height_max, tex3d_depth_max)},
	[SHAPE_3D_OTHER] = {LIMIT(tex3d_alt_width_max, tex3d_alt_height_max, tex3d_alt_depth_max),
			    LIMIT(surf3d_width_max, surf3d_height_max, surf3d_depth_max),
			    LIMIT(tex3d_alt_width_max, tex3d_alt_height_max, tex3d_alt_depth_max)},
	[SHAPE_1D_LAYERED] = {TWO(tex1d_layered_width_max, tex1d_layered_layers_max),
			      TWO(surf1d_layered_width_max, surf1d_layered_layers_max),
			      TWO(tex1d_layered_width_max, tex1d_layered_layers_max)},
	[SHAPE_2D_LAYERED] = {LIMIT(tex2d_layered_width_max, tex2d_layered_height_max,
				    tex2d_layered_layers_max),
			      LIMIT(surf2d_layered_width_max, surf2d_layered_height_max,
				    surf2d_layered_layers_max),
			      LIMIT(tex2d_layered_width_max, tex2d_layered_height_max,
				    tex2d_layered_layers_max)},
	[SHAPE_CUBE] = {ONE(texcube_max), ONE(surfcube_max), ONE(texcube_max)},
	[SHAPE_CUBE_LAYERED] = {TWO(texcube_layered_width_max, texcube_layered_layers_max),
				TWO(surfcube_layered_width_max, surfcube_layered_layers_max),
				TWO(texcube_layered_width_max, texcube_layered_layers_max)},
};

static bool array_shape(const struct mem_array_desc *d, enum shape *out)
{
	bool layered = d->flags & MEM_ARRAY_LAYERED, cube = d->flags & MEM_ARRAY_CUBEMAP;

	if (cube) {
		*out = layered ? SHAPE_CUBE_LAYERED : SHAPE_CUBE;
		return d->width == d->height &&
		       (layered ? d->depth && d->depth % 6 == 0 : d->depth == 6);
	}
	if (layered) {
		*out = d->height ? SHAPE_2D_LAYERED : SHAPE_1D_LAYERED;
		return d->depth != 0;
	}
	*out = d->depth ? SHAPE_3D : d->height ? SHAPE_2D : SHAPE_1D;
	return !d->depth || d->height;
}

/* Does the extent keep to a row of limits? What the profile does not know is no limit. */
static bool array_fits_device(const struct arch *arch, const struct mem_array_desc *d,
			      const enum arch_field *fields)
{
	u64 extent[3] = {d->width, d->height, d->depth};

	for (u32 i = 0; i < 3; i++) {
		size_t at = arch_field_info(fields[i])->offset;
		s32 max;

		memcpy(&max, (const u8 *)arch + at, sizeof(max));
		if (arch_is_known(arch, fields[i]) && extent[i] > (u64)max)
			return false;
	}
	return true;
}

static bool is_valid(const struct arch *arch, const struct mem_array_desc *d, enum use use)
{
	enum shape shape;

	if (!d->width || !mem_format_bytes(d->format, d->channels) ||
	    (d->flags & ~(u32)ALL_FLAGS) || !array_shape(d, &shape))
		return false;
	if (!array_fits_device(arch, d, limits[shape][use]) &&
	    (shape != SHAPE_3D || !arch_is_known(arch, ARCH_FIELD_tex3d_alt_depth_max) ||
	     !array_fits_device(arch, d, limits[SHAPE_3D_OTHER][use])))
		return false;
	if ((d->flags & MEM_ARRAY_SURFACE) &&
	    !array_fits_device(arch, d, limits[shape][USE_SURFACE]))
		return false;
	/* Four texels at once are read of two-dimensional arrays only. */
	if (!(d->flags & MEM_ARRAY_GATHER))
		return true;
	return shape == SHAPE_2D && d->width <= (u64)arch->tex2d_gather_width_max &&
	       d->height <= (u64)arch->tex2d_gather_height_max;
}

/* ---- storage ---- */

static u64 blocks_of(u64 texels, u32 block)
{
	return texels / block + (texels % block != 0);
}

/*
 * Lay out one level; base is added later. False: it has more bytes than a number holds, as a
 * profile need not know a limit.
 */
static bool array_lay_out(struct mem_array *a, struct mem *m, const struct mem_array_desc *d)
{
	u32 block = mem_format_block(d->format);

	*a = (struct mem_array){.desc = *d, .mem = m, .block = block};
	a->element_bytes = mem_format_bytes(d->format, d->channels);
	a->rows = d->height ? blocks_of(d->height, block) : 1;
	a->slices = d->depth ? d->depth : 1;
	return size_mul(blocks_of(d->width, block), a->element_bytes, &a->pitch) &&
	       size_mul(a->pitch, a->rows, &a->slice) && size_mul(a->slice, a->slices, &a->bytes);
}

static bool remember_handle(struct mem *m, const void *handle, enum handle_kind kind)
{
	bool ok;

	pthread_mutex_lock(&m->lock);
	ok = map_set(&m->handles, map_key(handle), kind);
	pthread_mutex_unlock(&m->lock);
	return ok;
}

static enum handle_kind handle_kind_of(struct mem *m, const void *handle)
{
	enum handle_kind kind = HANDLE_NONE;
	const u64 *v;

	if (!handle)
		return HANDLE_NONE;
	pthread_mutex_lock(&m->lock);
	v = map_get(&m->handles, map_key(handle));
	if (v)
		kind = (enum handle_kind) * v;
	pthread_mutex_unlock(&m->lock);
	return kind;
}

enum mem_array_status mem_array_create(struct mem *m, const struct arch *arch,
				       const struct mem_array_desc *d, struct mem_array **out)
{
	struct mem_array *a;
	u64 at;

	if (!is_valid(arch, d, USE_TEXTURE))
		return MEM_ARRAY_INVALID;
	a = malloc(sizeof(*a));
	if (!a)
		return MEM_ARRAY_NO_MEMORY;
	at = array_lay_out(a, m, d) ? mem_alloc(m, a->bytes, BASE_ALIGN, MEM_KIND_ARRAY) : 0;
	a->base = at + m->bias;
	if (!at || !remember_handle(m, a, HANDLE_ARRAY)) {
		if (at)
			mem_free(m, at);
		free(a);
		return MEM_ARRAY_NO_MEMORY;
	}
	*out = a;
	return MEM_ARRAY_OK;
}

bool mem_array_destroy(struct mem *m, struct mem_array *a)
{
	if (handle_kind_of(m, a) != HANDLE_ARRAY)
		return false;
	remember_handle(m, a, HANDLE_NONE);
	mem_free(m, a->base - m->bias);
	free(a);
	return true;
}

/* Level 0 and all that halve it, until every dimension that halves is 1. */
static u32 most_levels(const struct mem_array_desc *d)
{
	u64 side = max_u64(d->width, d->height);
	u32 n = 1;

	if (!(d->flags & (MEM_ARRAY_LAYERED | MEM_ARRAY_CUBEMAP)))
		side = max_u64(side, d->depth);
	for (; side > 1 && n < MEM_ARRAY_LEVELS_MAX; side /= 2)
		n++;
	return n;
}

static u64 half(u64 n)
{
	return n > 1 ? n / 2 : n;
}

static bool remember_levels(struct mem_mipmap *mm, enum handle_kind level, enum handle_kind whole)
{
	bool ok = remember_handle(mm->mem, mm, whole);

	for (u32 i = 0; i < mm->levels; i++)
		ok = remember_handle(mm->mem, &mm->level[i], level) && ok;
	return ok;
}

/* Lay out all levels, one after the other. False: as lay_out. */
static bool lay_out_levels(struct mem_mipmap *mm)
{
	struct mem_array_desc d = mm->desc;

	for (u32 i = 0; i < mm->levels; i++) {
		struct mem_array *a = &mm->level[i];

		if (!array_lay_out(a, mm->mem, &d))
			return false;
		a->owner = mm;
		a->base = mm->bytes;
		if (!size_add(mm->bytes, a->bytes, &mm->bytes) ||
		    !size_align_up(mm->bytes, BASE_ALIGN, &mm->bytes))
			return false;
		d.width = half(d.width);
		d.height = half(d.height);
		if (!(d.flags & (MEM_ARRAY_LAYERED | MEM_ARRAY_CUBEMAP)))
			d.depth = half(d.depth);
	}
	return true;
}

enum mem_array_status mem_mipmap_create(struct mem *m, const struct arch *arch,
					const struct mem_array_desc *d, u32 levels,
					struct mem_mipmap **out)
{
	struct mem_mipmap *mm;
	u64 at;

	if (!levels || !is_valid(arch, d, USE_MIPMAP))
		return MEM_ARRAY_INVALID;
	mm = calloc(1, sizeof(*mm));
	if (!mm)
		return MEM_ARRAY_NO_MEMORY;
	mm->desc = *d;
	mm->mem = m;
	mm->levels = (u32)min_u64(levels, most_levels(d));
	at = lay_out_levels(mm) ? mem_alloc(m, mm->bytes, BASE_ALIGN, MEM_KIND_ARRAY) : 0;
	mm->base = at + m->bias;
	for (u32 i = 0; i < mm->levels; i++)
		mm->level[i].base += mm->base;
	if (!at || !remember_levels(mm, HANDLE_LEVEL, HANDLE_MIPMAP)) {
		remember_levels(mm, HANDLE_NONE, HANDLE_NONE);
		if (at)
			mem_free(m, at);
		free(mm);
		return MEM_ARRAY_NO_MEMORY;
	}
	*out = mm;
	return MEM_ARRAY_OK;
}

bool mem_mipmap_destroy(struct mem *m, struct mem_mipmap *mm)
{
	if (handle_kind_of(m, mm) != HANDLE_MIPMAP)
		return false;
	remember_levels(mm, HANDLE_NONE, HANDLE_NONE);
	mem_free(m, mm->base - m->bias);
	free(mm);
	return true;
}

struct mem_array *mem_array_check(struct mem *m, const void *handle)
{
	enum handle_kind kind = handle_kind_of(m, handle);

	return kind == HANDLE_ARRAY || kind == HANDLE_LEVEL ? (struct mem_array *)(uintptr_t)handle
							    : NULL;
}

struct mem_mipmap *mem_mipmap_check(struct mem *m, const void *handle)
{
	return handle_kind_of(m, handle) == HANDLE_MIPMAP ? (struct mem_mipmap *)(uintptr_t)handle
							  : NULL;
}

void mem_array_fini(struct mem *m)
{
	for (size_t i = 0; i < m->handles.cap; i++)
		if (m->handles.slots[i].key && (m->handles.slots[i].value == HANDLE_ARRAY ||
						m->handles.slots[i].value == HANDLE_MIPMAP))
			free((void *)(uintptr_t)m->handles.slots[i].key);
	map_fini(&m->handles);
}
