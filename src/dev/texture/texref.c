/*
 * Texture and surface references, and samplers of modules.
 */
#include "src/dev/texture/texref.h"

#include "src/dev/stream/stream.h"

#include <stdlib.h>

/* ---- initializers ---- */

/* What the values of addr_mode_n and filter_mode are called. */
static bool address_mode_of(const char *word, s32 *out)
{
	static const struct {
		const char *word;
		s32 mode;
	} modes[] = {
		{"wrap", TEX_WRAP},
		{"mirror", TEX_MIRROR},
		{"clamp_ogl", TEX_CLAMP},
		{"clamp_to_edge", TEX_CLAMP},
		{"clamp_to_border", TEX_BORDER},
		{"nearest", 0},
		{"linear", 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		if (!strcmp(word, modes[i].word)) {
			*out = modes[i].mode;
			return true;
		}
	return false;
}

/*
 * The grammar lets only fields and words pass that there are; extents and channels are of what is
 * bound.
 */
static void set_texref_field(struct texture_settings *t, const char *field, const struct str *word,
			     s64 number)
{
	static const char address[] = "addr_mode_";
	s32 mode;

	if (!strcmp(field, "force_unnormalized_coords") && number)
		t->flags &= ~(u32)TEXTURE_NORMALIZED;
	else if (!strcmp(field, "normalized_coords") && number)
		t->flags |= TEXTURE_NORMALIZED;
	else if (!word || !address_mode_of(word->text, &mode))
		return;
	else if (!strcmp(field, "filter_mode"))
		t->filter = mode;
	else if (!strncmp(field, address, sizeof(address) - 1))
		t->address[field[sizeof(address) - 1] - '0'] = mode;
}

static void set_fields(struct texture_settings *t, const struct ir_var *v)
{
	for (u32 i = 0; i < v->sampler_len; i++)
		set_texref_field(t, v->sampler_fields[2 * i]->text, v->sampler_fields[2 * i + 1],
				 v->sampler_values[i]);
}

/* ---- the list of a device ---- */

static struct texref *add_texref(struct device *dev, struct device_program *p, u64 var, u32 kind)
{
	struct texref *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->dev = dev;
	r->program = p;
	r->var = var;
	r->kind = kind;
	/* One float and coordinates that clamp, until the program says otherwise. */
	r->desc.resource.format = MEM_FORMAT_F32;
	r->desc.resource.channels = 1;
	for (u32 i = 0; i < 3; i++)
		r->desc.settings.address[i] = TEX_CLAMP;
	r->next = dev->texrefs;
	return dev->texrefs = r;
}

static void drop_object(struct texref *r)
{
	if (r->object)
		texture_destroy(r->dev->textures, r->object, r->kind);
	free(r);
}

static const struct ir_var *find_variable(const struct device_program *p, const char *name,
					  u32 type, u64 *address)
{
	for (u32 u = 0; u < p->len; u++)
		for (size_t i = 0; i < p->placed[u]; i++) {
			const struct ir_var *v = p->units[u]->vars.at[i];

			*address = p->address[u][i];
			if (v->func == IR_NONE && v->type == type && *address &&
			    !strcmp(v->name->text, name))
				return v;
		}
	return NULL;
}

enum status texref_find(struct device_program *p, const char *name, u32 kind, struct texref **out)
{
	struct device *dev = p->dev;
	const struct ir_var *v;
	struct texref *r;
	u64 address;

	v = find_variable(p, name, kind == TEX_SURFACE ? T_surfref : T_texref, &address);
	if (!v)
		return STATUS_NOT_FOUND;
	pthread_mutex_lock(&dev->lock);
	for (r = dev->texrefs; r && (r->var != address || r->kind != kind); r = r->next)
		;
	if (!r) {
		r = add_texref(dev, p, address, kind);
		if (r)
			set_fields(&r->desc.settings, v->definition);
	}
	pthread_mutex_unlock(&dev->lock);
	*out = r;
	return r ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

enum status texref_new(struct device *dev, struct texref **out)
{
	pthread_mutex_lock(&dev->lock);
	*out = add_texref(dev, NULL, 0, TEX_TEXTURE);
	pthread_mutex_unlock(&dev->lock);
	return *out ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

void texref_free(struct texref *r)
{
	struct texref **at;

	pthread_mutex_lock(&r->dev->lock);
	for (at = &r->dev->texrefs; *at != r; at = &(*at)->next)
		;
	*at = r->next;
	pthread_mutex_unlock(&r->dev->lock);
	drop_object(r);
}

bool texref_is(struct device *dev, const void *handle, u32 kind)
{
	const struct texref *r;

	pthread_mutex_lock(&dev->lock);
	for (r = dev->texrefs; r && (r != handle || r->kind != kind); r = r->next)
		;
	pthread_mutex_unlock(&dev->lock);
	return r != NULL;
}

void texref_unload(struct device_program *p)
{
	struct texref **at = &p->dev->texrefs, *r;

	pthread_mutex_lock(&p->dev->lock);
	while ((r = *at)) {
		if (r->program == p) {
			*at = r->next;
			drop_object(r);
		} else {
			at = &r->next;
		}
	}
	pthread_mutex_unlock(&p->dev->lock);
}

void texref_fini(struct device *dev)
{
	struct texref *r;

	while ((r = dev->texrefs)) {
		dev->texrefs = r->next;
		drop_object(r);
	}
}

/* ---- binding ---- */

/* What has been issued so far works with what is bound so far. */
static void wait(struct device *dev)
{
	if (!dev->streams || stream_device_finish(dev))
		device_wait(dev);
}

/* Kernels find the object through the variable; a reference without one has nothing to update. */
static void put_object(struct texref *r, u64 object)
{
	u64 old = r->object;
	void *at = r->var ? mem_pointer(&r->dev->mem, r->var) : NULL;

	if (at)
		memcpy(at, &object, sizeof(object));
	r->object = object;
	if (old)
		texture_destroy(r->dev->textures, old, r->kind);
}

enum status texref_bind(struct texref *r, const struct texture_desc *d)
{
	struct texture_store *s = r->dev->textures;
	u64 object;
	enum status status = r->kind == TEX_SURFACE ? surface_create(s, &d->resource, &object)
						    : texture_create(s, d, &object);

	if (status)
		return status;
	wait(r->dev);
	put_object(r, object);
	r->desc = *d;
	return STATUS_SUCCESS;
}

enum status texref_change(struct texref *r, const struct texture_desc *d)
{
	/* Programs destroy an array and go on with the reference that was bound to it. */
	if (r->object && !texture_is_alive(r->dev->textures, &r->desc.resource))
		texref_unbind(r);
	if (r->object)
		return texref_bind(r, d);
	r->desc = *d;
	return STATUS_SUCCESS;
}

void texref_unbind(struct texref *r)
{
	if (!r->object)
		return;
	wait(r->dev);
	put_object(r, 0);
}

void texref_align(const struct device *dev, u64 *address, u64 *offset)
{
	u64 align = dev->arch->texture_align_bytes > 0 ? (u64)dev->arch->texture_align_bytes : 1;

	*offset = *address % align;
	*address -= *offset;
}

/* ---- samplers ---- */

static enum status load_sampler(struct device_program *p, const struct ir_var *v, u64 address)
{
	/* Normalized unless forced: the texture's own setting then decides. */
	struct texture_settings t = {.address = {TEX_CLAMP, TEX_CLAMP, TEX_CLAMP},
				     .flags = TEXTURE_NORMALIZED};
	enum status status;
	struct texref *r;
	u64 object;

	set_fields(&t, v);
	status = sampler_create(p->dev->textures, &t, &object);
	if (status)
		return status;
	pthread_mutex_lock(&p->dev->lock);
	r = add_texref(p->dev, p, address, TEX_SAMPLER);
	pthread_mutex_unlock(&p->dev->lock);
	if (!r) {
		texture_destroy(p->dev->textures, object, TEX_SAMPLER);
		return STATUS_OUT_OF_MEMORY;
	}
	put_object(r, object);
	return STATUS_SUCCESS;
}

enum status texref_load(struct device_program *p)
{
	enum status status = STATUS_SUCCESS;

	for (u32 u = 0; u < p->len; u++)
		for (size_t i = 0; i < p->units[u]->vars.len && !status; i++) {
			const struct ir_var *v = p->units[u]->vars.at[i];

			if (v->type == T_samplerref && v->sampler_len && v->definition == v &&
			    p->address[u][i])
				status = load_sampler(p, v, p->address[u][i]);
		}
	return status;
}
