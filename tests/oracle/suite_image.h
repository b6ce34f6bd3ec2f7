/*
 * Textures and surfaces of a conformance suite: words `key=value` describe an array, linear or
 * pitched memory, and the object over it.
 */
#ifndef PL_SUITE_IMAGE_H
#define PL_SUITE_IMAGE_H

#include "src/dev/texture/texture.h"
#include "tests/unit/words.h"

struct suite_image {
	struct mem *mem;
	struct mem_array *array;
	struct mem_mipmap *mipmap;
	u64 memory; /* linear and pitched */
	u64 handle;
	struct texture_store *store;
	u32 kind;     /* enum tex_kind */
	u32 codes[2]; /* of the calls: array, object; all ones: not called */
};

static inline void image_settings(const char *words, struct texture_settings *t)
{
	s64 v[4] = {0};

	word_list(words, "am", v, 3);
	for (u32 i = 0; i < 3; i++)
		t->address[i] = (s32)v[i];
	t->filter = (s32)word_number(words, "filter");
	t->mip_filter = (s32)word_number(words, "mipfilter");
	t->flags = (u32)word_number(words, "tflags");
	t->anisotropy = (u32)word_number(words, "aniso");
	t->bias = f32_bits((u32)word_number(words, "bias"));
	t->level_min = f32_bits((u32)word_number(words, "minl"));
	t->level_max = f32_bits((u32)word_number(words, "maxl"));
	memset(v, 0, sizeof(v));
	word_list(words, "border", v, 4);
	for (u32 i = 0; i < 4; i++)
		t->border[i] = f32_bits((u32)v[i]);
}

/* Into the image or back out; levels, slices and rows are packed tightly. */
static inline void image_copy(const struct suite_image *im, u8 *data, bool back)
{
	u32 levels = im->mipmap ? im->mipmap->levels : 1;

	for (u32 i = 0; i < levels; i++) {
		const struct mem_array *a = im->mipmap ? &im->mipmap->level[i] : im->array;
		void *p = (void *)(uintptr_t)a->base;

		memcpy(back ? data : p, back ? p : data, a->bytes);
		data += a->bytes;
	}
}

static inline void image_array(struct suite_image *im, const char *words, const struct arch *arch)
{
	struct mem_array_desc d = {
		.width = word_number(words, "w"),
		.height = word_number(words, "h"),
		.depth = word_number(words, "d"),
		.format = (u32)word_number(words, "fmt"),
		.channels = (u32)word_number(words, "ch"),
		.flags = (u32)word_number(words, "aflags"),
	};
	u32 levels = (u32)word_number(words, "levels");

	im->codes[0] = levels ? mem_mipmap_create(im->mem, arch, &d, levels, &im->mipmap)
			      : mem_array_create(im->mem, arch, &d, &im->array);
}

/* Build what the words say; `data`: its texels, NULL: none. Returns whether both calls succeed. */
static inline bool image_build(struct suite_image *im, const char *words, const struct arch *arch,
			       const u8 *data, size_t len)
{
	const char *kind = word_get(words, "kind");
	struct texture_desc d = {.resource = {.format = (u32)word_number(words, "fmt"),
					      .channels = (u32)word_number(words, "ch")}};
	struct texture_resource *r = &d.resource;
	bool in_array = !strncmp(kind, "arr", 3) || !strncmp(kind, "mip", 3);

	im->codes[0] = im->codes[1] = 0xffffffff;
	if (in_array) {
		image_array(im, words, arch);
		if (im->codes[0])
			return false;
		r->kind = im->mipmap ? TEXTURE_MIPMAP : TEXTURE_ARRAY;
		r->array = im->array;
		r->mipmap = im->mipmap;
		if (data)
			image_copy(im, (u8 *)(uintptr_t)data, false);
	} else {
		im->memory = mem_alloc(im->mem, len + 65536, 512, MEM_KIND_DEVICE);
		if (data)
			memcpy((void *)(uintptr_t)im->memory, data, len);
		r->kind = !strncmp(kind, "lin", 3) ? TEXTURE_LINEAR : TEXTURE_PITCH;
		r->address = im->memory + word_number(words, "base");
		r->bytes = word_number(words, "bytes");
		r->width = word_number(words, "w");
		r->height = word_number(words, "h");
		r->pitch = word_number(words, "pitch");
	}
	image_settings(words, &d.settings);
	im->kind = !strncmp(word_get(words, "obj"), "surf", 4) ? TEX_SURFACE : TEX_TEXTURE;
	im->codes[1] = im->kind == TEX_SURFACE ? surface_create(im->store, r, &im->handle)
					       : texture_create(im->store, &d, &im->handle);
	return !im->codes[1];
}

static inline void image_free(struct suite_image *im)
{
	if (im->handle)
		texture_destroy(im->store, im->handle, im->kind);
	if (im->array)
		mem_array_destroy(im->mem, im->array);
	if (im->mipmap)
		mem_mipmap_destroy(im->mem, im->mipmap);
	if (im->memory)
		mem_free(im->mem, im->memory);
}

#endif
