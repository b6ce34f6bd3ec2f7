/*
 * Surface accesses: places in a surface, and texels stored from registers.
 */
#include "src/tex/texture.h"

#include <stdio.h>
#include <string.h>

/* Bring one coordinate of `bytes`-wide units into 0 .. size - 1. False: it was outside. */
static bool bound_coordinate(s64 *at, s64 size, u32 bounds)
{
	if (*at >= 0 && *at < size)
		return true;
	*at = *at < 0 ? 0 : size - 1;
	return bounds == SURF_CLAMP;
}

u8 *surf_at(const struct tex_object *s, const struct surf_place *p, bool *fault)
{
	const struct tex_image *im = &s->image;
	const struct tex_level *l = &im->level[0];
	u32 unit = p->formatted ? im->element_bytes : p->bytes;
	s64 x = p->at[0], y = 0, z = 0;
	bool in;

	if (p->formatted) {
		in = bound_coordinate(&x, l->size[0], p->bounds);
		x *= unit;
	} else {
		/* Whole units of the row count, wherever the texels end. */
		s64 units = (s64)l->size[0] * im->element_bytes / unit;

		x = x >= 0 ? x / unit : -1;
		in = bound_coordinate(&x, units, p->bounds) && units;
		x *= unit;
	}
	if (p->geometry >= TEX_2D) {
		y = p->at[1];
		in &= bound_coordinate(&y, l->size[1], p->bounds);
	}
	if (p->geometry == TEX_3D) {
		z = p->at[2];
		in &= bound_coordinate(&z, l->size[2], p->bounds);
	} else if (p->layered) {
		z = p->layer;
		in &= bound_coordinate(&z, im->layers, p->bounds);
	}
	*fault = !in && p->bounds == SURF_TRAP;
	return in ? (u8 *)(uintptr_t)(l->base + (u64)z * l->slice + (u64)y * l->pitch + (u64)x)
		  : NULL;
}

void surf_say_outside(const struct tex_object *s, const struct surf_place *p, char *text,
		      size_t size)
{
	const struct tex_image *im = &s->image;
	const struct tex_level *l = &im->level[0];
	const char *unit = p->formatted ? "texel" : "byte";
	u64 width = (u64)l->size[0] * (p->formatted ? 1 : im->element_bytes);

	if (p->geometry == TEX_3D)
		snprintf(text, size, "%s (%d,%d,%d) of a surface of %llu x %u x %u", unit, p->at[0],
			 p->at[1], p->at[2], (unsigned long long)width, l->size[1], l->size[2]);
	else if (p->geometry == TEX_2D)
		snprintf(text, size, "%s (%d,%d) of a surface of %llu x %u", unit, p->at[0],
			 p->at[1], (unsigned long long)width, l->size[1]);
	else
		snprintf(text, size, "%s %d of a surface of %llu", unit, p->at[0],
			 (unsigned long long)width);
	if (p->layered)
		snprintf(text + strlen(text), size - strlen(text), " in layer %u of %u", p->layer,
			 im->layers);
}

/* Nearest f16 below in magnitude; what is too large becomes the largest one. */
static u32 half_toward_zero(u32 bits)
{
	u32 sign = bits >> 16 & 0x8000, m = bits & 0x7fffffff, e = m >> 23;

	/* NaN keeps its upper bits. */
	if (m >= 0x7f800000)
		return sign | 0x7c00 | (m >> 13 & 0x3ff);
	if (m >= 0x47800000)
		return sign | 0x7bff;
	if (e < 102)
		return sign;
	if (e < 113)
		return sign | ((m & 0x7fffff) | 0x800000) >> (126 - e);
	return sign | (m - 0x38000000) >> 13;
}

static u32 saturate(u32 class, u32 bytes, u32 v)
{
	u32 bits = 8 * bytes;
	s32 most;

	if (bytes == 4 || class == TEX_F16 || class == TEX_F32)
		return class == TEX_F16 ? half_toward_zero(v) : v;
	if (class != TEX_SINT)
		return v >> bits ? (1u << bits) - 1 : v;
	most = (s32)(1u << (bits - 1)) - 1;
	return (u32)((s32)v > most ? most : (s32)v < -most - 1 ? -most - 1 : (s32)v);
}

void surf_store_texel(const struct tex_object *s, u8 *to, const u32 value[4], u32 count)
{
	const struct tex_image *im = &s->image;

	for (u32 i = 0; i < im->channels; i++) {
		u32 v = i < count ? saturate(im->class, im->channel_bytes, value[i]) : 0;
		u16 half = (u16)v;

		if (im->channel_bytes == 1)
			to[i] = (u8)v;
		else if (im->channel_bytes == 2)
			memcpy(to + 2 * i, &half, 2);
		else
			memcpy(to + 4 * i, &v, 4);
	}
}
