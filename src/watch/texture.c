/*
 * From texels to lines and sectors.
 */
#include "src/watch/texture.h"

/* Bits of an address that a trace has room for. */
#define TEXTURE_ADDRESS_MASK (((u64)1 << 47) - 1)

static u8 shape_kind(const struct exec_texture *t)
{
	if (!t->is_surface)
		return CACHE_TEXTURE;
	return t->kind == ACCESS_STORE ? CACHE_SURFACE_STORE
	       : t->kind == ACCESS_RED ? CACHE_SURFACE_RED
				       : CACHE_SURFACE_LOAD;
}

/* Reductions have a texel for each lane, whose words may be the same. */
static void shape_reductions(const struct exec_texture *t, u64 origin, struct cache_shape *s)
{
	u64 address[WARP_LANES] = {0};
	u32 mask = 0;

	for (u32 i = 0; i < t->len; i++) {
		address[t->texel[i].lane] = (t->texel[i].address - origin) & TEXTURE_ADDRESS_MASK;
		mask |= 1u << t->texel[i].lane;
	}
	cache_shape_global(s, address, mask, t->texel[0].bytes, false);
}

bool watch_texture_shape(const struct exec_texture *t, u64 origin, struct cache_shape *s)
{
	u64 address[64];
	u32 len = 0;

	s->pc = t->pc;
	s->kind = shape_kind(t);
	s->policy =
		(struct cache_policy){.keep = L1_KEEP, .class = L2_NORMAL, .follows = !t->is_first};
	s->pieces = 0;
	if (!t->len)
		return false;
	if (t->kind == ACCESS_RED) {
		shape_reductions(t, origin, s);
		return true;
	}
	for (u32 i = 0; i < t->len; i++) {
		address[len++] = (t->texel[i].address - origin) & TEXTURE_ADDRESS_MASK;
		if (len < ARRAY_LEN(address) && i + 1 < t->len &&
		    t->texel[i + 1].bytes == t->texel[i].bytes)
			continue;
		cache_shape_texels(s, address, len, t->texel[i].bytes);
		len = 0;
	}
	return true;
}

u32 watch_shape_sectors(const struct cache_shape *s)
{
	u32 sectors = 0;

	for (u32 i = 0; i < s->pieces; i++)
		sectors += s->piece[i].count
				   ? s->piece[i].count
				   : (u32)__builtin_popcount(cache_piece_sectors(&s->piece[i]));
	return sectors;
}
