/*
 * Texture and surface objects: checks, descriptors, handles.
 */
#include "src/base/size.h"
#include "src/dev/texture/texture.h"

#include "src/dev/stream/stream.h"

#include <pthread.h>
#include <stdlib.h>

#define FLAGS                                                                                      \
	(TEXTURE_AS_INTEGER | TEXTURE_NORMALIZED | TEXTURE_SRGB | TEXTURE_FULL_TRILINEAR |         \
	 TEXTURE_SEAMLESS)
/* Accepted and without a meaning: measured. */
#define IDLE_FLAGS 0x0cu

struct texture_store {
	struct tex_table table;
	struct mem *mem;
	const struct arch *arch;
	pthread_mutex_t lock;
	u32 len; /* slots handed out so far, 0 among them: no handle is 0 */
	u32 *spare;
	u32 spares, cap;
};

struct texture_store *texture_store_new(struct mem *m, const struct arch *arch)
{
	struct texture_store *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->mem = m;
	s->arch = arch;
	s->len = 1;
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void texture_store_free(struct texture_store *s)
{
	if (!s)
		return;
	for (u32 i = 0; i < s->len; i++)
		if (s->table.chunk[i / TEX_CHUNK])
			free(s->table.chunk[i / TEX_CHUNK][i % TEX_CHUNK].user);
	for (u32 i = 0; i < TEX_CHUNKS; i++)
		free(s->table.chunk[i]);
	pthread_mutex_destroy(&s->lock);
	free(s->spare);
	free(s);
}

const struct tex_table *texture_table(const struct texture_store *s)
{
	return &s->table;
}

/* ---- checks and descriptors ---- */

static bool settings_fit(const struct texture_settings *t, bool cube)
{
	for (u32 i = 0; i < 3; i++)
		if (t->address[i] < TEX_WRAP || t->address[i] > TEX_BORDER)
			return false;
	if (t->filter < 0 || t->filter > 1 || t->mip_filter < 0 || t->mip_filter > 1)
		return false;
	if (t->flags & ~(u32)(FLAGS | IDLE_FLAGS))
		return false;
	return cube || !(t->flags & TEXTURE_SEAMLESS);
}

static void set_sampler(struct tex_sampler *s, const struct texture_settings *t)
{
	*s = (struct tex_sampler){
		.linear = t->filter == 1,
		.mip_linear = t->mip_filter == 1,
		.normalized = t->flags & TEXTURE_NORMALIZED,
		.seamless = t->flags & TEXTURE_SEAMLESS,
		.trilinear = t->flags & TEXTURE_FULL_TRILINEAR,
		.anisotropy = t->anisotropy > 16 ? 16 : t->anisotropy,
		.bias = t->bias,
		.level_min = t->level_min,
		.level_max = t->level_max,
	};
	for (u32 i = 0; i < 3; i++)
		s->address[i] = (u8)t->address[i];
	for (u32 i = 0; i < 4; i++)
		s->border[i] = bits_f32(t->border[i]);
}

/* Views 1 to 24: which format, how many channels. */
static bool view_format(u32 view, u32 *format, u32 *channels)
{
	static const u32 formats[] = {MEM_FORMAT_U8,  MEM_FORMAT_S8,  MEM_FORMAT_U16,
				      MEM_FORMAT_S16, MEM_FORMAT_U32, MEM_FORMAT_S32,
				      MEM_FORMAT_F16, MEM_FORMAT_F32};
	static const u32 blocks[] = {MEM_FORMAT_BC1,     MEM_FORMAT_BC2,     MEM_FORMAT_BC3,
				     MEM_FORMAT_BC4,     MEM_FORMAT_BC4 + 1, MEM_FORMAT_BC5,
				     MEM_FORMAT_BC5 + 1, MEM_FORMAT_BC6H,    MEM_FORMAT_BC6H + 1,
				     MEM_FORMAT_BC7};
	static const u32 block_channels[] = {4, 4, 4, 1, 1, 2, 2, 3, 3, 4};

	if (view >= 1 && view <= 24) {
		*format = formats[(view - 1) / 3];
		*channels = 1u << (view - 1) % 3;
		return true;
	}
	if (view < 25 || view - 25 >= ARRAY_LEN(blocks))
		return false;
	*format = blocks[view - 25];
	*channels = block_channels[view - 25];
	return true;
}

static void set_format(struct tex_image *im, u32 format, u32 channels)
{
	im->format = format;
	im->channels = channels;
	im->class = (u8)tex_class_of(format);
	im->channel_bytes = (u8)mem_format_channel_bytes(format);
	im->element_bytes = (u8)mem_format_bytes(format, channels);
}

static u32 at_least_one(u64 n)
{
	return n ? (u32)n : 1;
}

static void set_level(struct tex_level *l, const struct mem_array *a, u32 first_layer)
{
	l->base = (const u8 *)(uintptr_t)a->base + first_layer * a->slice;
	l->size[0] = at_least_one(a->desc.width);
	l->size[1] = at_least_one(a->desc.height);
	l->size[2] = at_least_one(a->desc.depth);
	l->pitch = a->pitch;
	l->slice = a->slice;
}

/* Levels first .. first + n - 1 of arrays side by side, layers from `first_layer` on. */
static void set_levels(struct tex_image *im, const struct mem_array *a, u32 n, u32 first_layer)
{
	const struct mem_array_desc *d = &a->desc;

	set_format(im, d->format, d->channels);
	im->opaque = mem_format_block(d->format) > 1;
	im->cube = d->flags & MEM_ARRAY_CUBEMAP;
	im->layered = d->flags & MEM_ARRAY_LAYERED;
	im->dims = im->cube      ? 2
		   : im->layered ? (d->height ? 2 : 1)
		   : d->depth    ? 3
		   : d->height   ? 2
				 : 1;
	im->layers = im->cube || im->layered ? (u32)d->depth : 1;
	im->levels = n;
	im->tiled = true;
	im->address = a->base - a->mem->bias;
	im->bytes = a->bytes;
	for (u32 i = 0; i < n; i++)
		set_level(&im->level[i], &a[i], first_layer);
}

static bool is_aligned(const struct texture_store *s, u64 address)
{
	u64 align = s->arch->texture_align_bytes > 0 ? (u64)s->arch->texture_align_bytes : 1;

	return address && address % align == 0;
}

static enum status set_linear(const struct texture_store *s, struct tex_image *im,
			      const struct texture_resource *r)
{
	u32 bytes = mem_format_bytes(r->format, r->channels);
	struct mem_range range;
	u64 texels;

	if (!bytes || !mem_format_channel_bytes(r->format) || !is_aligned(s, r->address))
		return STATUS_INVALID_VALUE;
	texels = r->bytes / bytes;
	if (texels > UINT32_MAX ||
	    (s->arch->tex1d_linear_max > 0 && texels > (u64)s->arch->tex1d_linear_max))
		return STATUS_INVALID_VALUE;
	if (!mem_find(s->mem, r->address, r->bytes, &range))
		return STATUS_INVALID_VALUE;
	set_format(im, r->format, r->channels);
	im->linear = true;
	im->address = r->address;
	im->bytes = r->bytes;
	im->dims = 1;
	im->layers = im->levels = 1;
	im->level[0] = (struct tex_level){.base = mem_host(&range, r->address),
					  .size = {(u32)texels, 1, 1}};
	return STATUS_SUCCESS;
}

static enum status set_pitch(const struct texture_store *s, struct tex_image *im,
			     const struct texture_resource *r)
{
	u32 bytes = mem_format_bytes(r->format, r->channels);
	const struct arch *a = s->arch;
	struct mem_range range;
	u64 span, align = a->texture_pitch_align_bytes > 0 ? (u64)a->texture_pitch_align_bytes : 1;

	if (!bytes || !mem_format_channel_bytes(r->format) || !is_aligned(s, r->address) ||
	    !r->width || !r->height || r->width > UINT32_MAX || r->height > UINT32_MAX ||
	    r->pitch % align || r->pitch / bytes < r->width)
		return STATUS_INVALID_VALUE;
	if ((a->tex2d_linear_width_max > 0 && r->width > (u64)a->tex2d_linear_width_max) ||
	    (a->tex2d_linear_height_max > 0 && r->height > (u64)a->tex2d_linear_height_max) ||
	    (a->tex2d_linear_pitch_max_bytes > 0 &&
	     r->pitch > (u64)a->tex2d_linear_pitch_max_bytes))
		return STATUS_INVALID_VALUE;
	/* The last row may be shorter than the pitch. */
	if (!size_mul_add(r->height - 1, r->pitch, r->width * bytes, &span) ||
	    !mem_find(s->mem, r->address, span, &range))
		return STATUS_INVALID_VALUE;
	set_format(im, r->format, r->channels);
	im->address = r->address;
	im->bytes = span;
	im->dims = 2;
	im->layers = im->levels = 1;
	im->level[0] = (struct tex_level){.base = mem_host(&range, r->address),
					  .size = {(u32)r->width, (u32)r->height, 1},
					  .pitch = r->pitch};
	return STATUS_SUCCESS;
}

/* Reinterpret elements; block-compressed views count their texels, four to a side of an element. */
static bool set_view_format(struct tex_image *im, const struct texture_view *v)
{
	u32 format, channels, block;

	if (!v->format)
		return true;
	if (!view_format(v->format, &format, &channels) ||
	    mem_format_bytes(format, channels) != im->element_bytes)
		return false;
	block = mem_format_block(format);
	if (block != 1 && (im->dims != 2 || im->format != MEM_FORMAT_U32))
		return false;
	set_format(im, format, channels);
	im->opaque = false;
	for (u32 i = 0; i < im->levels; i++)
		for (u32 d = 0; d < im->dims; d++)
			im->level[i].size[d] *= block;
	return true;
}

static enum status set_arrays(struct tex_image *im, const struct texture_desc *d)
{
	const struct texture_resource *r = &d->resource;
	const struct mem_array *a = r->kind == TEXTURE_MIPMAP ? r->mipmap->level : r->array;
	u32 levels = r->kind == TEXTURE_MIPMAP ? r->mipmap->levels : 1;
	const struct texture_view *v = &d->view;
	u64 depth;

	if (!d->has_view) {
		set_levels(im, a, levels, 0);
		return STATUS_SUCCESS;
	}
	if (v->first_level > v->last_level || v->last_level >= levels ||
	    v->first_layer > v->last_layer)
		return STATUS_INVALID_VALUE;
	set_levels(im, a, levels, v->first_layer);
	if (v->last_layer && (v->last_layer >= im->layers || !(im->layered || im->cube)))
		return STATUS_INVALID_VALUE;
	if (v->first_level) {
		set_levels(im, a + v->first_level, v->last_level - v->first_level + 1,
			   v->first_layer);
	}
	im->levels = v->last_level - v->first_level + 1;
	/* No layers named: all of them. */
	if (v->last_layer) {
		im->layers = v->last_layer - v->first_layer + 1;
		for (u32 i = 0; i < im->levels; i++)
			im->level[i].size[2] = im->layers;
	}
	if (!set_view_format(im, v))
		return STATUS_INVALID_VALUE;
	depth = im->dims == 3 || im->layered || im->cube ? a->desc.depth : 0;
	if (v->width != a->desc.width * mem_format_block(im->format) ||
	    v->height != a->desc.height * mem_format_block(im->format) || v->depth != depth)
		return STATUS_INVALID_VALUE;
	return STATUS_SUCCESS;
}

/* What fetches return. */
static u8 fetch_class(const struct tex_image *im, u32 flags)
{
	if (flags & TEXTURE_AS_INTEGER)
		return im->class;
	switch (im->format) {
	case MEM_FORMAT_U8:
		return flags & TEXTURE_SRGB ? TEX_SRGB8 : TEX_UNORM8;
	case MEM_FORMAT_U16:
		return TEX_UNORM16;
	case MEM_FORMAT_S8:
		return TEX_SNORM8;
	case MEM_FORMAT_S16:
		return TEX_SNORM16;
	default:
		return im->class == TEX_UNORM8 && flags & TEXTURE_SRGB ? TEX_SRGB8 : im->class;
	}
}

bool texture_is_alive(const struct texture_store *s, const struct texture_resource *r)
{
	return r->kind == TEXTURE_MIPMAP  ? mem_mipmap_check(s->mem, r->mipmap) != NULL
	       : r->kind == TEXTURE_ARRAY ? mem_array_check(s->mem, r->array) != NULL
					  : true;
}

static enum status describe_texture(const struct texture_store *s, const struct texture_desc *d,
				    struct tex_object *o)
{
	const struct texture_resource *r = &d->resource;
	enum status status;

	if (r->kind > TEXTURE_PITCH || (r->kind >= TEXTURE_LINEAR && d->has_view))
		return STATUS_INVALID_VALUE;
	if (r->kind == TEXTURE_LINEAR)
		status = set_linear(s, &o->image, r);
	else if (r->kind == TEXTURE_PITCH)
		status = set_pitch(s, &o->image, r);
	else
		status = set_arrays(&o->image, d);
	if (status)
		return status;
	if (!settings_fit(&d->settings, o->image.cube))
		return STATUS_INVALID_VALUE;
	if (!tex_can_read(o->image.format))
		return STATUS_NOT_SUPPORTED;
	/* Blocks of sRGB want the flag, too. */
	if (o->image.class == TEX_SRGB8 && !(d->settings.flags & TEXTURE_SRGB))
		return STATUS_INVALID_VALUE;
	set_sampler(&o->sampler, &d->settings);
	/* Without levels nothing is blended among them. */
	o->sampler.mip_linear &= r->kind == TEXTURE_MIPMAP;
	o->class = fetch_class(&o->image, d->settings.flags);
	tex_plan(o);
	return STATUS_SUCCESS;
}

/* ---- slots ---- */

static struct tex_object *slot(const struct texture_store *s, u64 handle, u32 kind)
{
	return (struct tex_object *)(uintptr_t)tex_find(&s->table, handle, kind);
}

/* A free slot's index, 0: there is none or no memory. Called with the lock held. */
static u32 take_object_slot(struct texture_store *s)
{
	u32 i;

	if (s->spares)
		return s->spare[--s->spares];
	i = s->len;
	if (i == TEX_CHUNK * TEX_CHUNKS)
		return 0;
	if (!s->table.chunk[i / TEX_CHUNK]) {
		struct tex_object *c = calloc(TEX_CHUNK, sizeof(*c));

		if (!c)
			return 0;
		__atomic_store_n(&s->table.chunk[i / TEX_CHUNK], c, __ATOMIC_RELEASE);
	}
	s->len++;
	return i;
}

/* Put a finished object into a slot; `kind` last, so that kernels see all of it or nothing. */
static void publish(struct tex_object *to, const struct tex_object *o, u32 kind,
		    struct texture_desc *d)
{
	u32 generation = to->generation;

	__atomic_store_n(&to->kind, (u8)TEX_FREE, __ATOMIC_RELEASE);
	free(to->user);
	*to = *o;
	to->kind = TEX_FREE;
	to->generation = generation;
	to->user = d;
	__atomic_store_n(&to->kind, (u8)kind, __ATOMIC_RELEASE);
}

static enum status add_object(struct texture_store *s, const struct tex_object *o, u32 kind,
			      const struct texture_desc *d, u64 *handle)
{
	struct texture_desc *copy = malloc(sizeof(*copy));
	struct tex_object *to;
	u32 i;

	if (!copy)
		return STATUS_OUT_OF_MEMORY;
	*copy = *d;
	pthread_mutex_lock(&s->lock);
	i = take_object_slot(s);
	if (i) {
		to = &s->table.chunk[i / TEX_CHUNK][i % TEX_CHUNK];
		publish(to, o, kind, copy);
		*handle = i | (u64)to->generation << TEX_INDEX_BITS;
	}
	pthread_mutex_unlock(&s->lock);
	if (!i)
		free(copy);
	return i ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

enum status texture_create(struct texture_store *s, const struct texture_desc *d, u64 *handle)
{
	struct tex_object o = {0};
	enum status status = describe_texture(s, d, &o);

	return status ? status : add_object(s, &o, TEX_TEXTURE, d, handle);
}

enum status sampler_create(struct texture_store *s, const struct texture_settings *t, u64 *handle)
{
	struct texture_desc d = {.settings = *t};
	struct tex_object o = {0};

	if (!settings_fit(t, true))
		return STATUS_INVALID_VALUE;
	set_sampler(&o.sampler, t);
	return add_object(s, &o, TEX_SAMPLER, &d, handle);
}

enum status surface_create(struct texture_store *s, const struct texture_resource *r, u64 *handle)
{
	struct texture_desc d = {.resource = *r};
	struct tex_object o = {0};

	if (r->kind != TEXTURE_ARRAY || !mem_format_channel_bytes(r->array->desc.format))
		return STATUS_INVALID_VALUE;
	set_levels(&o.image, r->array, 1, 0);
	o.class = o.image.class;
	return add_object(s, &o, TEX_SURFACE, &d, handle);
}

enum status texture_destroy(struct texture_store *s, u64 handle, u32 kind)
{
	struct tex_object *o;
	u32 *bigger;

	pthread_mutex_lock(&s->lock);
	o = slot(s, handle, kind);
	if (o) {
		__atomic_store_n(&o->kind, (u8)TEX_FREE, __ATOMIC_RELEASE);
		free(o->user);
		o->user = NULL;
		/* 12 bits count the owners of a slot, as far as a handle has room. */
		o->generation = (o->generation + 1) & 0xfff;
		if (s->spares == s->cap) {
			bigger = realloc(s->spare, sizeof(*bigger) * (s->cap + 64));
			s->spare = bigger ? bigger : s->spare;
			s->cap += bigger ? 64 : 0;
		}
		/* Without memory for the list the slot is given up. */
		if (s->spares < s->cap)
			s->spare[s->spares++] = (u32)(handle & ((1u << TEX_INDEX_BITS) - 1));
	}
	pthread_mutex_unlock(&s->lock);
	return o ? STATUS_SUCCESS : STATUS_INVALID_HANDLE;
}

/* An object that its program has given up. */
struct given_up {
	struct texture_store *store;
	u64 handle;
	u32 kind;
};

static void release_object(void *data)
{
	const struct given_up *g = data;

	texture_destroy(g->store, g->handle, g->kind);
}

enum status texture_destroy_after(struct device *d, u64 handle, u32 kind)
{
	struct given_up g = {d->textures, handle, kind};
	struct tex_object *o;
	bool found;

	pthread_mutex_lock(&g.store->lock);
	o = slot(g.store, handle, kind);
	found = o && o->user;
	if (found) {
		free(o->user);
		o->user = NULL;
	}
	pthread_mutex_unlock(&g.store->lock);
	if (found)
		stream_device_after(d, release_object, &g, sizeof(g));
	return found ? STATUS_SUCCESS : STATUS_INVALID_HANDLE;
}

enum status texture_describe(struct texture_store *s, u64 handle, u32 kind,
			     struct texture_desc *out)
{
	const struct tex_object *o;
	bool found;

	pthread_mutex_lock(&s->lock);
	o = slot(s, handle, kind);
	found = o && o->user;
	if (found)
		memcpy(out, o->user, sizeof(*out));
	pthread_mutex_unlock(&s->lock);
	return found ? STATUS_SUCCESS : STATUS_INVALID_HANDLE;
}
