/*
 * Textures and surfaces: what cudaCreateTextureObject and cudaCreateSurfaceObject were given, in
 * the words of the runtime's headers and of CUarray_format; info textures.
 */
#include "src/dev/texture/texture.h"

#include "src/debugger/object/object.h"

/* ---- words ---- */

static const char *const kinds[] = {"Array", "MipmappedArray", "Linear", "Pitch2D"};
static const char *const addresses[] = {"Wrap", "Clamp", "Mirror", "Border"};
static const char *const filters[] = {"Point", "Linear"};

static const char *word(const char *const *words, size_t n, u32 i)
{
	return i < n ? words[i] : "?";
}

static const struct {
	u32 format;
	const char *name;
} formats[] = {
	{MEM_FORMAT_U8, "UNSIGNED_INT8"},
	{MEM_FORMAT_U16, "UNSIGNED_INT16"},
	{MEM_FORMAT_U32, "UNSIGNED_INT32"},
	{MEM_FORMAT_S8, "SIGNED_INT8"},
	{MEM_FORMAT_S16, "SIGNED_INT16"},
	{MEM_FORMAT_S32, "SIGNED_INT32"},
	{MEM_FORMAT_F16, "HALF"},
	{MEM_FORMAT_F32, "FLOAT"},
	{MEM_FORMAT_RGB10A2, "UNORM_INT_101010_2"},
	{MEM_FORMAT_BC1, "BC1_UNORM"},
	{MEM_FORMAT_BC1 + 1, "BC1_UNORM_SRGB"},
	{MEM_FORMAT_BC2, "BC2_UNORM"},
	{MEM_FORMAT_BC2 + 1, "BC2_UNORM_SRGB"},
	{MEM_FORMAT_BC3, "BC3_UNORM"},
	{MEM_FORMAT_BC3 + 1, "BC3_UNORM_SRGB"},
	{MEM_FORMAT_BC4, "BC4_UNORM"},
	{MEM_FORMAT_BC4 + 1, "BC4_SNORM"},
	{MEM_FORMAT_BC5, "BC5_UNORM"},
	{MEM_FORMAT_BC5 + 1, "BC5_SNORM"},
	{MEM_FORMAT_BC6H, "BC6H_UF16"},
	{MEM_FORMAT_BC6H + 1, "BC6H_SF16"},
	{MEM_FORMAT_BC7, "BC7_UNORM"},
	{MEM_FORMAT_BC7_SRGB, "BC7_UNORM_SRGB"},
	{MEM_FORMAT_UNORM8X1, "UNORM_INT8X1"},
	{MEM_FORMAT_UNORM8X1 + 1, "UNORM_INT8X2"},
	{MEM_FORMAT_UNORM8X1 + 2, "UNORM_INT8X4"},
	{MEM_FORMAT_UNORM16X1, "UNORM_INT16X1"},
	{MEM_FORMAT_UNORM16X1 + 1, "UNORM_INT16X2"},
	{MEM_FORMAT_UNORM16X1 + 2, "UNORM_INT16X4"},
	{MEM_FORMAT_SNORM8X1, "SNORM_INT8X1"},
	{MEM_FORMAT_SNORM8X1 + 1, "SNORM_INT8X2"},
	{MEM_FORMAT_SNORM8X1 + 2, "SNORM_INT8X4"},
	{MEM_FORMAT_SNORM16X1, "SNORM_INT16X1"},
	{MEM_FORMAT_SNORM16X1 + 1, "SNORM_INT16X2"},
	{MEM_FORMAT_SNORM16X4, "SNORM_INT16X4"},
};

static void put_format(u32 format, u32 channels, struct text *out)
{
	const char *name = NULL;

	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (formats[i].format == format)
			name = formats[i].name;
	if (name)
		text_printf(out, ", format = CU_AD_FORMAT_%s", name);
	else
		text_printf(out, ", format = 0x%x", format);
	text_printf(out, ", numChannels = %u", channels);
}

/* ---- what was given ---- */

static void put_array(const struct mem_array *a, struct text *out)
{
	const struct mem_array_desc *d = &a->desc;

	put_format(d->format, d->channels, out);
	text_printf(out, ", width = %llu, height = %llu, depth = %llu",
		    (unsigned long long)d->width, (unsigned long long)d->height,
		    (unsigned long long)d->depth);
	if (d->flags & MEM_ARRAY_LAYERED)
		text_puts(out, ", flags = cudaArrayLayered");
	if (d->flags & MEM_ARRAY_CUBEMAP)
		text_printf(out, "%scudaArrayCubemap",
			    d->flags & MEM_ARRAY_LAYERED ? " | " : ", flags = ");
}

static void put_resource(const struct texture_resource *r, bool alive, struct text *out)
{
	text_printf(out, "{resType = cudaResourceType%s", word(kinds, ARRAY_LEN(kinds), r->kind));
	if (!alive) {
		text_puts(out, ", <its array has been freed>");
		return;
	}
	switch (r->kind) {
	case TEXTURE_ARRAY:
		put_array(r->array, out);
		break;
	case TEXTURE_MIPMAP:
		put_array(r->mipmap->level, out);
		text_printf(out, ", numLevels = %u", r->mipmap->levels);
		break;
	default:
		text_printf(out, ", devPtr = 0x%llx", (unsigned long long)r->address);
		put_format(r->format, r->channels, out);
		if (r->kind == TEXTURE_LINEAR)
			text_printf(out, ", sizeInBytes = %llu", (unsigned long long)r->bytes);
		else
			text_printf(out, ", width = %llu, height = %llu, pitchInBytes = %llu",
				    (unsigned long long)r->width, (unsigned long long)r->height,
				    (unsigned long long)r->pitch);
	}
}

static void put_settings(const struct texture_settings *t, bool mipmap, struct text *out)
{
	text_puts(out, ", addressMode = {");
	for (u32 i = 0; i < 3; i++)
		text_printf(out, "%scudaAddressMode%s", i ? ", " : "",
			    word(addresses, ARRAY_LEN(addresses), (u32)t->address[i]));
	text_printf(out,
		    "}, filterMode = cudaFilterMode%s, readMode = cudaReadMode%s, sRGB = %d, "
		    "normalizedCoords = %d, maxAnisotropy = %u",
		    word(filters, ARRAY_LEN(filters), (u32)t->filter),
		    t->flags & TEXTURE_AS_INTEGER ? "ElementType" : "NormalizedFloat",
		    (t->flags & TEXTURE_SRGB) != 0, (t->flags & TEXTURE_NORMALIZED) != 0,
		    t->anisotropy);
	if (mipmap)
		text_printf(out,
			    ", mipmapFilterMode = cudaFilterMode%s, mipmapLevelBias = %g, "
			    "minMipmapLevelClamp = %g, maxMipmapLevelClamp = %g",
			    word(filters, ARRAY_LEN(filters), (u32)t->mip_filter), (f64)t->bias,
			    (f64)t->level_min, (f64)t->level_max);
	if (t->address[0] == TEX_BORDER || t->address[1] == TEX_BORDER ||
	    t->address[2] == TEX_BORDER)
		text_printf(out, ", borderColor = {%g, %g, %g, %g}", (f64)t->border[0],
			    (f64)t->border[1], (f64)t->border[2], (f64)t->border[3]);
}

static void put_view(const struct texture_view *v, struct text *out)
{
	text_printf(out,
		    ", resourceView = {format = %u, width = %llu, height = %llu, depth = %llu, "
		    "firstMipmapLevel = %u, lastMipmapLevel = %u, firstLayer = %u, lastLayer = %u}",
		    v->format, (unsigned long long)v->width, (unsigned long long)v->height,
		    (unsigned long long)v->depth, v->first_level, v->last_level, v->first_layer,
		    v->last_layer);
}

/* ---- objects of a device ---- */

/* The device of the launch, else the first one that has code; NULL: none has. */
static struct device *current_device(const struct debugger *x)
{
	struct device *d = NULL;

	for (size_t i = 0; i < x->modules.len; i++) {
		struct device *own = x->modules.at[i]->owner->dev;

		if (!d || (x->grid && debug_env(x->grid)->mem == &own->mem))
			d = own;
	}
	return d;
}

static bool put_descriptor(const struct device *d, u32 kind, u64 handle, struct text *out)
{
	struct texture_desc desc;

	if (!d || !d->textures ||
	    texture_describe(d->textures, handle, kind, &desc) != STATUS_SUCCESS)
		return false;
	put_resource(&desc.resource, texture_is_alive(d->textures, &desc.resource), out);
	if (kind == TEX_TEXTURE)
		put_settings(&desc.settings, desc.resource.kind == TEXTURE_MIPMAP, out);
	if (desc.has_view)
		put_view(&desc.view, out);
	text_puts(out, "}");
	return true;
}

bool object_texture(const struct debugger *x, enum dbg_object kind, u64 handle, struct text *out)
{
	struct text t = {0};
	bool good = put_descriptor(current_device(x),
				   kind == DBG_TEXTURE ? TEX_TEXTURE : TEX_SURFACE, handle, &t);

	if (good)
		text_printf(out, "0x%llx %s", (unsigned long long)handle, t.at ? t.at : "");
	text_fini(&t);
	return good;
}

/* ---- info textures ---- */

static void texture_row(const struct device *d, const struct tex_object *o, u32 index,
			struct table *t)
{
	u64 handle = index | (u64)o->generation << TEX_INDEX_BITS;
	struct text words = {0};

	if ((o->kind != TEX_TEXTURE && o->kind != TEX_SURFACE) ||
	    !put_descriptor(d, o->kind, handle, &words)) {
		text_fini(&words);
		return;
	}
	table_put(t, " ");
	table_put(t, "0x%llx", (unsigned long long)handle);
	table_put(t, "%s", o->kind == TEX_TEXTURE ? "texture" : "surface");
	table_put(t, "%s", words.at ? words.at : "");
	text_fini(&words);
}

void command_info_textures(struct debugger *x, const struct call *call PL_UNUSED)
{
	static const char *const head[] = {" ", "object", "kind", "descriptor"};
	const struct device *d = current_device(x);
	const struct tex_table *all = d && d->textures ? texture_table(d->textures) : NULL;
	struct table t;

	table_begin(&t, ARRAY_LEN(head));
	for (size_t i = 0; i < ARRAY_LEN(head); i++)
		table_put(&t, "%s", head[i]);
	for (u32 i = 0; all && i < TEX_CHUNKS && all->chunk[i]; i++)
		for (u32 k = 0; k < TEX_CHUNK; k++)
			texture_row(d, &all->chunk[i][k], i * TEX_CHUNK + k, &t);
	if (table_rows(&t) == 1) {
		table_drop(&t);
		say(x, "There are no texture and surface objects.\n");
	}
	table_say(x, &t);
}
