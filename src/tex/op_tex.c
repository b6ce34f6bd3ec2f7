/*
 * Handlers of texture and surface instructions. The arithmetic is in texture.c, one lane at a time.
 */
#include "src/ops/observe.h"
#include "src/uop/atom.h"
#include "src/uop/texture.h"
#include "src/tex/tex_wide.h"

#include <stdio.h>

static u32 value_at(struct gang *g, const struct uop *in, u32 i, u32 lane)
{
	u32 row = ext_row(g, in, i);

	return row == NO_ROW ? 0 : ROW32(row)[lane];
}

/* A handle, or what the variable at that address holds. */
static u64 handle_of(struct gang *g, const struct uop *in, u64 x)
{
	struct mem_cache *c = &g->caches[in->mem.cache];

	if (!(x >> 32))
		return x;
	if (x - g->env->param_address < g->env->program->param_bytes)
		return get((u64)(uintptr_t)g->env->params + (x - g->env->param_address), 8);
	if (!mem_cache_hit(c, x, 8) && !mem_cache_fill(g->env->mem, c, x, 8, MEM_READ))
		return UINT64_MAX;
	return get(x + c->bias, 8);
}

/* The object of the lane's handle, NULL after a fault. Lanes mostly name the same one. */
struct object_cache {
	u64 handle;
	const struct tex_object *object;
};

/*
 * What an unbound reference reads: nothing. Its variable holds no handle. Measured; a register
 * without a handle is an error.
 */
static const struct tex_object unbound = {
	.kind = TEX_TEXTURE,
	.class = TEX_F32,
	.image = {.linear = true, .dims = 1, .levels = 1, .layers = 1},
	.sampler = {.address = {TEX_BORDER, TEX_BORDER, TEX_BORDER}},
};

/* The object of a handle or of the variable at an address, NULL: no object of this kind. */
static const struct tex_object *object_of(struct gang *g, const struct uop *in, u64 x, u32 kind)
{
	u64 handle = handle_of(g, in, x);

	return !handle && x >> 32 && kind == TEX_TEXTURE ? &unbound
							 : tex_find(g->env->textures, handle, kind);
}

/* Is the memory that it shows allocated still? Where that is looked for. */
static bool is_texture_there(struct gang *g, const struct tex_object *t)
{
	struct mem_range r;

	return !t->image.address || !g->env->mem->strict ||
	       mem_find(g->env->mem, t->image.address, t->image.bytes, &r);
}

static const struct tex_object *find_object(struct gang *g, const struct uop *in, u32 lane,
					    u32 kind, struct object_cache *c)
{
	u64 handle = ROW64(in->a)[lane];

	if (c->object && handle == c->handle)
		return c->object;
	c->handle = handle;
	c->object = object_of(g, in, handle, kind);
	if (c->object && !is_texture_there(g, c->object)) {
		refuse_lane(g, in, lane, c->object->image.address, 1);
		c->object = NULL;
	} else if (!c->object) {
		refuse_lane(g, in, lane, handle, 1);
	}
	return c->object;
}

/*
 * In independent mode the sampler is another operand; without state of its own it is the texture's.
 * It can make coordinates unnormalized, not normalized: then it is put together in *own.
 */
static const struct tex_sampler *find_sampler(struct gang *g, const struct uop *in, u32 lane,
					      const struct tex_object *t, struct tex_sampler *own)
{
	u32 row = ext_row(g, in, TEX_ROW_SAMPLER);
	const struct tex_object *s = NULL;
	u64 handle;

	if (row == NO_ROW)
		return &t->sampler;
	handle = handle_of(g, in, ROW64(row)[lane]);
	s = tex_find(g->env->textures, handle, TEX_SAMPLER);
	s = s ? s : tex_find(g->env->textures, handle, TEX_TEXTURE);
	if (!s)
		return &t->sampler;
	if (!s->sampler.normalized || t->sampler.normalized)
		return &s->sampler;
	*own = s->sampler;
	own->normalized = false;
	return own;
}

static void get_request(struct gang *g, const struct uop *in, u32 lane, struct tex_request *r)
{
	u32 how = in->texture.how;

	*r = (struct tex_request){
		.geometry = how & TEX_GEOMETRY,
		.mode = how >> TEX_MODE_SHIFT & 3,
		.layered = how & TEX_LAYERED,
		.integer = how & TEX_INTEGER,
		.gather = how & TEX_GATHER,
		.component = how >> TEX_COMPONENT_SHIFT & 3,
		.layer = value_at(g, in, TEX_ROW_LAYER, lane),
		.level = value_at(g, in, TEX_ROW_LEVEL, lane),
		.sample = value_at(g, in, TEX_ROW_SAMPLE, lane),
	};
	for (u32 i = 0; i < 3; i++) {
		r->coord[i] = value_at(g, in, TEX_ROW_COORD + i, lane);
		r->offset[i] = (s32)value_at(g, in, TEX_ROW_OFFSET + i, lane);
		if (r->mode == TEX_GRADIENT) {
			r->dx[i] = value_at(g, in, TEX_ROW_LEVEL + i, lane);
			r->dy[i] = value_at(g, in, TEX_ROW_LEVEL + 3 + i, lane);
		}
	}
}

static void put_values(struct gang *g, const struct uop *in, u32 lane, u32 v[4])
{
	if (in->texture.how & (TEX_TO_HALF | TEX_PACK))
		for (u32 i = 0; i < 4; i++)
			v[i] = tex_to_half(v[i]);
	if (in->texture.how & TEX_PACK) {
		v[0] |= v[1] << 16;
		v[1] = v[2] | v[3] << 16;
	}
	for (u32 i = 0; i < (in->texture.how & TEX_PACK ? 2u : 4u); i++) {
		u32 row = ext_row(g, in, TEX_ROW_VALUE + i);

		if (row != NO_ROW)
			ROW32(row)[lane] = v[i];
	}
}

/* The object that all lanes of the warp name, NULL: there is no such one. */
static const struct tex_object *common_object(struct gang *g, const struct uop *in, u32 w, u32 mask)
{
	const u64 *handle = ROW64(in->a) + w * WARP_LANES;
	u64 first = mask ? handle[__builtin_ctz(mask)] : 0, other = 0;
	const struct tex_object *t;

	FOR_LANES(l, WARP_LANES)
		other |= mask >> l & 1 ? handle[l] ^ first : 0;
	t = other || !mask ? NULL : object_of(g, in, first, TEX_TEXTURE);
	return t && is_texture_there(g, t) ? t : NULL;
}

/* The whole warp at once. False: it is to be done lane by lane. */
static bool fetch_warp(struct gang *g, const struct uop *in, u32 w, u32 mask)
{
	static const u32 zeros[WARP_LANES];
	const struct tex_object *t;
	struct tex_rows r = {.coord = {zeros, zeros, zeros}};

	if (!(in->texture.how & (TEX_PLAIN | TEX_NUMBERED)))
		return false;
	t = common_object(g, in, w, mask);
	if (!t || !(in->texture.how & TEX_PLAIN ? t->wide : t->numbered))
		return false;
	for (u32 i = 0; i < 4; i++) {
		u32 row = ext_row(g, in, TEX_ROW_VALUE + i);

		r.value[i] = row == NO_ROW ? NULL : ROW32(row) + w * WARP_LANES;
	}
	for (u32 i = 0; i < 3; i++) {
		u32 row = ext_row(g, in, TEX_ROW_COORD + i);

		if (row != NO_ROW)
			r.coord[i] = ROW32(row) + w * WARP_LANES;
	}
	if (ext_row(g, in, TEX_ROW_LAYER) != NO_ROW)
		r.layer = ROW32(ext_row(g, in, TEX_ROW_LAYER)) + w * WARP_LANES;
	if (in->texture.how & TEX_PLAIN)
		EXEC_NAME(tex_wide)(t, &r, mask);
	else
		EXEC_NAME(tex_numbered)(t, &r, mask);
	return true;
}

/* tex1Dfetch */
static bool is_numbered(const struct uop *in)
{
	return (in->texture.how & (TEX_GEOMETRY | TEX_LAYERED | TEX_INTEGER)) ==
	       (TEX_1D | TEX_INTEGER);
}

/*
 * Fetches by number outside of the memory that a texture shows: hardware answers 0, where they are
 * looked for they are told, the first of a warp for all.
 */
static void tell_outside(struct gang *g, const struct uop *in, u32 w, u32 mask)
{
	const u64 *handle = ROW64(in->a) + w * WARP_LANES;
	const u32 *x = ROW32(ext_row(g, in, TEX_ROW_COORD)) + w * WARP_LANES;

	for (u32 m = mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);
		const struct tex_object *t = object_of(g, in, handle[l], TEX_TEXTURE);
		struct fault f = {.space = MEM_GLOBAL};

		if (!t || !t->image.linear || !t->image.address || x[l] < t->image.level[0].size[0])
			continue;
		f.size = t->image.element_bytes;
		f.address = t->image.address + (u64)((s64)(s32)x[l] * (s64)f.size);
		snprintf(f.text, sizeof(f.text), "texel %d of a texture of %u at 0x%llx", (s32)x[l],
			 t->image.level[0].size[0], (unsigned long long)t->image.address);
		exec_overrun(g, in, w * WARP_LANES + l, &f);
		return;
	}
}

HANDLER(tex)
{
	struct object_cache cache = {0};
	u32 pred = ext_row(g, in, TEX_ROW_PRED);
	bool told = is_numbered(in) && g->env->mem->strict && g->env->on_overrun;

	for (u32 w = 0; w < WARPS; w++) {
		u32 mask = mask_of(g, w);

		if (PL_UNLIKELY(told))
			tell_outside(g, in, w, mask);

		for (u32 m = fetch_warp(g, in, w, mask) ? 0 : mask; m; m &= m - 1) {
			u32 lane = w * WARP_LANES + (u32)__builtin_ctz(m), v[4];
			const struct tex_object *t = find_object(g, in, lane, TEX_TEXTURE, &cache);
			struct tex_sampler own;
			struct tex_request r;

			if (!t)
				return NULL;
			get_request(g, in, lane, &r);
			tex_fetch(t, find_sampler(g, in, lane, t, &own), &r, v);
			put_values(g, in, lane, v);
		}
		if (pred != NO_ROW)
			ROWP(pred)[w] |= mask;
	}
	return in + 1;
}

/* txq, suq: b = level, d = result. */
HANDLER(tex_query)
{
	struct object_cache cache = {0};

	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = mask_of(g, w); m; m &= m - 1) {
			u32 lane = w * WARP_LANES + (u32)__builtin_ctz(m);
			const struct tex_object *t =
				find_object(g, in, lane, in->texture.object, &cache);

			if (!t)
				return NULL;
			ROW32(in->d)
			[lane] = tex_query(t, in->texture.query,
					   in->b == NO_ROW ? 0 : ROW32(in->b)[lane]);
		}
	return in + 1;
}

/* istypep: d = predicate. */
HANDLER(is_type)
{
	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = mask_of(g, w); m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m);
			u64 x = ROW64(in->a)[w * WARP_LANES + l];
			bool is = tex_find(g->env->textures, x, in->variables.object) != NULL;

			for (u32 i = 0; i < in->variables.number; i++)
				is |= x == (ext_row(g, in, 2 * i) | (u64)ext_row(g, in, 2 * i + 1)
									    << 32);
			ROWP(in->d)[w] = (ROWP(in->d)[w] & ~(1u << l)) | (u32)is << l;
		}
	return in + 1;
}

/* ---- surfaces ---- */

static u8 *surface_at(struct gang *g, const struct uop *in, u32 lane, const struct tex_object *s,
		      struct surf_place *p, bool *fault)
{
	u32 how = in->texture.how;

	*p = (struct surf_place){
		.geometry = how & TEX_GEOMETRY,
		.layered = how & TEX_LAYERED,
		.formatted = how & SURF_FORMATTED,
		.bounds = how >> SURF_BOUNDS_SHIFT & 3,
		.layer = value_at(g, in, TEX_ROW_LAYER, lane),
		.bytes = in->mem.size * in->mem.count,
	};
	for (u32 i = 0; i < 3; i++)
		p->at[i] = (s32)value_at(g, in, TEX_ROW_COORD + i, lane);
	return surf_at(s, p, fault);
}

static void refuse_odd_place(struct gang *g, const struct uop *in, u32 lane,
			     const struct surf_place *p)
{
	struct access a = {.warp = lane / WARP_LANES, .width = p->bytes};

	a.address[lane % WARP_LANES] = (u32)p->at[0];
	refuse(g, in, &a, FAULT_MISALIGNED_ADDRESS, 1u << lane % WARP_LANES);
	g->fault->write = in->inner == OP_sust;
}

/* Host address of the lane's place, NULL: outside. False after a fault. */
static bool surface_place(struct gang *g, const struct uop *in, u32 lane,
			  const struct tex_object *s, u8 **at)
{
	struct surf_place p;
	bool fault;

	*at = surface_at(g, in, lane, s, &p, &fault);
	if (fault) {
		refuse_lane(g, in, lane, (u64)(u32)p.at[0],
			    p.formatted ? s->image.element_bytes : p.bytes);
		g->fault->write = in->inner == OP_sust;
		surf_say_outside(s, &p, g->fault->text, sizeof(g->fault->text));
	}
	/* As an H100 does; sured takes the word that has the byte. */
	if (!fault && *at && !p.formatted && in->inner != OP_sured &&
	    (u32)p.at[0] & (p.bytes - 1)) {
		refuse_odd_place(g, in, lane, &p);
		surf_say_outside(s, &p, g->fault->text, sizeof(g->fault->text));
		return false;
	}
	return !fault;
}

HANDLER(suld)
{
	struct object_cache cache = {0};

	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = mask_of(g, w); m; m &= m - 1) {
			u32 lane = w * WARP_LANES + (u32)__builtin_ctz(m);
			const struct tex_object *s = find_object(g, in, lane, TEX_SURFACE, &cache);
			u8 *at;

			if (!s || !surface_place(g, in, lane, s, &at))
				return NULL;
			for (u32 i = 0; i < in->mem.count; i++) {
				u32 row = ext_row(g, in, TEX_ROW_VALUE + i);
				u64 v = at ? get((u64)(uintptr_t)(at + i * in->mem.size),
						 in->mem.size)
					   : 0;

				if (row == NO_ROW)
					continue;
				if (in->flags & UOPF_WIDE_DATA)
					ROW64(row)[lane] = v;
				else
					ROW32(row)[lane] = (u32)v;
			}
		}
	return in + 1;
}

HANDLER(sust)
{
	struct object_cache cache = {0};

	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = mask_of(g, w); m; m &= m - 1) {
			u32 lane = w * WARP_LANES + (u32)__builtin_ctz(m), v[4];
			const struct tex_object *s = find_object(g, in, lane, TEX_SURFACE, &cache);
			u8 *at;

			if (!s || !surface_place(g, in, lane, s, &at))
				return NULL;
			if (!at)
				continue;
			for (u32 i = 0; i < in->mem.count; i++) {
				u32 row = ext_row(g, in, TEX_ROW_VALUE + i);

				v[i & 3] = row == NO_ROW || in->flags & UOPF_WIDE_DATA
						   ? 0
						   : ROW32(row)[lane];
				if (!(in->texture.how & SURF_FORMATTED))
					put((u64)(uintptr_t)(at + i * in->mem.size), in->mem.size,
					    in->flags & UOPF_WIDE_DATA && row != NO_ROW
						    ? ROW64(row)[lane]
						    : v[i & 3]);
			}
			if (in->texture.how & SURF_FORMATTED)
				surf_store_texel(s, at, v, in->mem.count);
		}
	return in + 1;
}

/* Read, combine, write; other workers may be at the same place. */
static void reduce_texel(u8 *at, u32 bytes, u64 (*apply)(u64, u64, u64), u64 v)
{
	u64 wide, wide_new;
	u32 word, word_new;

	if (bytes == 8) {
		u64 *p = (u64 *)(void *)at;

		wide = __atomic_load_n(p, __ATOMIC_RELAXED);
		do
			wide_new = apply(wide, v, 0);
		while (!__atomic_compare_exchange_n(p, &wide, wide_new, true, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED));
	} else {
		u32 *p = (u32 *)(void *)at;

		word = __atomic_load_n(p, __ATOMIC_RELAXED);
		do
			word_new = (u32)apply(word, v, 0);
		while (!__atomic_compare_exchange_n(p, &word, word_new, true, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED));
	}
}

/* b = value; .p takes the sign from the surface's format. */
HANDLER(sured)
{
	struct object_cache cache = {0};

	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = mask_of(g, w); m; m &= m - 1) {
			u32 lane = w * WARP_LANES + (u32)__builtin_ctz(m), type = in->texture.type;
			const struct tex_object *s = find_object(g, in, lane, TEX_SURFACE, &cache);
			u64 (*apply)(u64, u64, u64);
			u8 *at;

			if (!s || !surface_place(g, in, lane, s, &at))
				return NULL;
			if (in->texture.how & SURF_FORMATTED && in->texture.action >= ATOM_MIN)
				type = s->image.class == TEX_SINT
					       ? (in->mem.size == 8 ? T_s64 : T_s32)
					       : (in->mem.size == 8 ? T_u64 : T_u32);
			apply = EXEC_NAME(atom_apply)(in->texture.action, type, true);
			if (!apply)
				return exec_fault(g, in, FAULT_ILLEGAL_INSTRUCTION,
						  1u << lane % WARP_LANES);
			/* Words lie at their natural places whatever the coordinate says. */
			if (at && !((uintptr_t)at & (in->mem.size - 1)))
				reduce_texel(at, in->mem.size, apply,
					     in->flags & UOPF_WIDE_DATA ? ROW64(in->b)[lane]
									: ROW32(in->b)[lane]);
		}
	return in + 1;
}

/* ---- reports of surface accesses to observers ---- */

/* The address that programs have for what the host has there. */
static u64 device_address(const struct mem *m, const u8 *host)
{
	u64 at = (u64)(uintptr_t)host;

	if (mem_in_arena(m, at - m->bias) || !m->system)
		return at - m->bias;
	if (mem_in_arena(&m->system->maps, at - m->system->maps.bias))
		return at - m->system->maps.bias;
	for (u32 i = 0; i < MEM_DEVICES_MAX; i++) {
		const struct mem *d = __atomic_load_n(&m->system->device[i], __ATOMIC_ACQUIRE);

		if (d && mem_in_arena(d, at - d->bias))
			return at - d->bias;
	}
	return at;
}

/* Returns false after a fault, which is that of the access. */
static bool tell_texel(struct gang *g, const struct uop *in, u32 w, u32 l, struct object_cache *c)
{
	u32 lane = w * WARP_LANES + l;
	const struct tex_object *s = find_object(g, in, lane, TEX_SURFACE, c);
	enum exec_access_kind kind = in->inner == OP_suld   ? ACCESS_LOAD
				     : in->inner == OP_sust ? ACCESS_STORE
							    : ACCESS_RED;
	bool texel = in->inner != OP_sured && in->texture.how & SURF_FORMATTED;
	u8 *at;

	if (!s || !surface_place(g, in, lane, s, &at))
		return false;
	if (at)
		tell_bytes(g, in, w, l, kind, MEM_GLOBAL, device_address(g->env->mem, at),
			   texel ? s->image.element_bytes : (u64)in->mem.size * in->mem.count);
	return true;
}

/* ---- requests to the texture unit ---- */

/*
 * How many lanes go together, measured on an H200: fours; eights of fetches by number in one
 * dimension of texels below 16 bytes, and of surfaces of one or two dimensions.
 * Deviation: texels of 8 bytes were not measured; they are taken to go like those of 4.
 */
static u32 request_lanes(const struct uop *in, const struct tex_object *t)
{
	u32 how = in->texture.how, geometry = how & TEX_GEOMETRY;

	if (how & TEX_LAYERED)
		return 4;
	if (t->kind == TEX_SURFACE)
		return geometry == TEX_3D ? 4 : 8;
	return geometry == TEX_1D && how & TEX_INTEGER && t->image.element_bytes < 16 ? 8 : 4;
}

#define TILE_BYTES 32u /* of a row of a line */
#define TILE_ROWS 4u

/* The level that has the place. */
static const struct tex_level *level_with(const struct tex_image *im, const u8 *at)
{
	for (u32 i = im->levels; i-- > 1;)
		if (at >= im->level[i].base)
			return &im->level[i];
	return &im->level[0];
}

/* Where caches see what the host has there. */
static u64 cached_place(const struct mem *m, const struct tex_image *im, const u8 *at)
{
	const struct tex_level *l = level_with(im, at);
	u64 from = (u64)(at - l->base), block = mem_format_block(im->format);
	u64 z = l->slice ? from / l->slice : 0, in_slice = from - z * l->slice;
	u64 y = l->pitch ? in_slice / l->pitch : 0, x = in_slice - y * l->pitch;
	u64 tiles = (l->pitch + TILE_BYTES - 1) / TILE_BYTES;
	u64 rows = (l->size[1] + block - 1) / block;
	u64 line =
		(z * ((rows + TILE_ROWS - 1) / TILE_ROWS) + y / TILE_ROWS) * tiles + x / TILE_BYTES;

	if (!im->tiled)
		return device_address(m, at);
	return (device_address(m, l->base) & ~(u64)127) + line * 128 + x % TILE_BYTES / 16 * 64 +
	       y % TILE_ROWS / 2 * 32 + y % 2 * 16 + x % 16;
}

/* Texels that a fetch may touch: eight of each level at each tap. */
#define TOUCHED_MAX (2u * TEX_CORNERS)

/* Texels of one request. */
struct touched {
	struct exec_texel at[8 * TOUCHED_MAX];
	u32 len, lane;
	const struct mem *mem;
	const struct tex_image *image;
};

static void add_touched(void *user, const u8 *texel)
{
	struct touched *t = user;

	if (t->len < ARRAY_LEN(t->at))
		t->at[t->len++] =
			(struct exec_texel){.address = cached_place(t->mem, t->image, texel),
					    .bytes = t->image->element_bytes,
					    .lane = t->lane % WARP_LANES};
}

static void touch_texels(struct gang *g, const struct uop *in, u32 lane, const struct tex_object *t,
			 struct touched *out)
{
	struct tex_sampler own;
	struct tex_request r;

	get_request(g, in, lane, &r);
	tex_touch(t, find_sampler(g, in, lane, t, &own), &r, add_touched, out);
}

static void touch_surface(struct gang *g, const struct uop *in, u32 lane,
			  const struct tex_object *s, struct touched *out)
{
	bool texel = in->inner != OP_sured && in->texture.how & SURF_FORMATTED;
	struct surf_place p;
	bool fault;
	u8 *at = surface_at(g, in, lane, s, &p, &fault);

	if (!at)
		return;
	add_touched(out, at);
	if (!texel)
		out->at[out->len - 1].bytes = (u32)in->mem.size * in->mem.count;
}

/* Report what a warp asks of its texture unit. */
static void tell_requests(struct gang *g, const struct uop *in, u32 w, u32 kind)
{
	const struct exec_observer *o = g->env->observer;
	struct exec_texture e = {.cta = g->cta,
				 .in = in,
				 .pc = (u32)(in - g->uops),
				 .warp = cta_warp(g, w),
				 .kind = in->inner == OP_sust    ? ACCESS_STORE
					 : in->inner == OP_sured ? ACCESS_RED
								 : ACCESS_LOAD,
				 .is_surface = kind == TEX_SURFACE,
				 .is_first = true};
	u32 mask = mask_of(g, w), lanes;
	struct touched all;

	all.mem = g->env->mem;
	for (u32 first = 0; first < WARP_LANES; first += lanes) {
		lanes = 4;
		all.len = 0;
		e.mask = 0;
		for (u32 l = first; l < first + lanes; l++) {
			u32 lane = w * WARP_LANES + l;
			const struct tex_object *t =
				mask >> l & 1 ? object_of(g, in, ROW64(in->a)[lane], kind) : NULL;

			if (!t || !is_texture_there(g, t))
				continue;
			lanes = first % 8 ? 4 : request_lanes(in, t);
			e.mask |= 1u << l;
			all.lane = lane;
			all.image = &t->image;
			if (kind == TEX_SURFACE)
				touch_surface(g, in, lane, t, &all);
			else
				touch_texels(g, in, lane, t, &all);
		}
		e.texel = all.at;
		e.len = all.len;
		if (e.mask)
			o->texture(o->user, &e);
		e.is_first &= !e.mask;
	}
}

HANDLER(watch_surf)
{
	struct object_cache cache = {0};

	for (u32 w = 0; g->env->observer->texture && w < WARPS; w++)
		tell_requests(g, in, w, TEX_SURFACE);
	if (tells_all(g))
		EACH_LANE(w, l)
			if (!tell_texel(g, in, w, l, &cache))
				return NULL;
	return PLAIN(g, in);
}

/* ---- reports of fetches ---- */

struct tex_telling {
	struct gang *g;
	const struct uop *in;
	const struct tex_image *image;
	u32 w, l;
};

/* Channels side by side, where the format has such. */
static void tell_touched(void *user, const u8 *texel)
{
	const struct tex_telling *x = user;
	const struct tex_image *im = x->image;
	u64 at[WARP_LANES] = {0};
	struct exec_access e = {.cta = x->g->cta,
				.in = x->in,
				.pc = (u32)(x->in - x->g->uops),
				.warp = cta_warp(x->g, x->w),
				.kind = ACCESS_LOAD,
				.size = im->channel_bytes ? im->channel_bytes : im->element_bytes,
				.count = im->channel_bytes ? (u8)im->channels : 1,
				.extra = true,
				.bytes = im->element_bytes,
				.address = at};

	at[x->l] = device_address(x->g->env->mem, texel);
	report_lanes(x->g, &e, 1u << x->l, MEM_GLOBAL);
}

/* Returns false after a fault, which is that of the fetch. */
static bool tell_fetch(struct gang *g, const struct uop *in, u32 w, u32 l, struct object_cache *c)
{
	u32 lane = w * WARP_LANES + l;
	const struct tex_object *t = find_object(g, in, lane, TEX_TEXTURE, c);
	struct tex_sampler own;
	struct tex_request r;
	struct tex_telling x = {.g = g, .in = in, .w = w, .l = l};

	if (!t)
		return false;
	if (t == &unbound)
		return true;
	x.image = &t->image;
	get_request(g, in, lane, &r);
	tex_touch(t, find_sampler(g, in, lane, t, &own), &r, tell_touched, &x);
	return true;
}

HANDLER(watch_tex)
{
	struct object_cache cache = {0};

	for (u32 w = 0; g->env->observer->texture && w < WARPS; w++)
		tell_requests(g, in, w, TEX_TEXTURE);
	if (tells_all(g))
		EACH_LANE(w, l)
			if (!tell_fetch(g, in, w, l, &cache))
				return NULL;
	return PLAIN(g, in);
}
