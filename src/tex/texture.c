/*
 * Texture fetches: coordinates to texels and weights, blending, levels, cube faces, gathers,
 * comparisons, queries. docs/textures.md has the rules in words.
 */
#include "src/tex/texture.h"

#include <math.h>

#define FAR 1000000000000000LL

/* ---- coordinates ---- */

/* A coordinate in texels and in 1/256 of them, along one dimension of a level. */
struct axis {
	s64 at;   /* first of the two texels, or the only one */
	u32 part; /* weight of the second, in 1/256 */
	u32 size;
	u8 mode;
	bool two, seamless;
};

static s64 clamp_far(f64 d)
{
	return d > (f64)FAR ? FAR : d < -(f64)FAR ? -FAR : (s64)d;
}

/*
 * Normalized coordinates keep 21 bits of fraction, 22 where the size is a power of two: the last
 * one.
 */
static f64 last_bit(u32 size)
{
	return is_pow2(size) ? 0x1p-22 : 0x1p-21;
}

/* What is below the unit, a power of two, is cut. */
static f64 cut_to_unit(f64 x, f64 unit)
{
	return floor(x * (1 / unit)) * unit;
}

static f64 scale(f64 x, u32 size)
{
	return cut_to_unit(x, last_bit(size)) * size;
}

/* From -1 to 1 instead of 0 to 1: the middle of a face is nowhere. */
static f64 scale_face(f64 q, u32 size)
{
	return q != q ? size / 2.0 : (cut_to_unit(q, 2 * last_bit(size)) + 1) / 2 * size;
}

static bool repeats(u32 mode)
{
	return mode == TEX_WRAP || mode == TEX_MIRROR;
}

/* In texels, as the hardware counts them. */
static f64 in_texels(const struct axis *a, u32 bits, bool normalized)
{
	f32 x = f32_bits(bits);

	/* What is too large to have a fraction repeats as 0 does. */
	if (x != x || (normalized && repeats(a->mode) && fabsf(x) >= 0x1p24f))
		x = 0;
	return normalized ? scale((f64)x, a->size) : (f64)x;
}

static void place_at(struct axis *a, f64 d, s32 offset)
{
	if (!a->two) {
		a->at = clamp_far(floor(d)) + offset;
		a->part = 0;
		return;
	}
	a->at = clamp_far(floor(d * 256 + 0.5)) - 128;
	a->part = (u32)(a->at & 255);
	a->at = (a->at >> 8) + offset;
	/* Beyond the first and last texel there is no second one. */
	if (a->mode == TEX_CLAMP && !a->seamless && (a->at < 0 || a->at >= (s64)a->size - 1))
		a->part = 0;
}

/* Index of a texel after the address mode; -1: the border. */
static s64 wrap(s64 i, u32 size, u32 mode)
{
	switch (mode) {
	case TEX_WRAP:
		i %= size;
		return i < 0 ? i + size : i;
	case TEX_MIRROR:
		i %= 2 * (s64)size;
		i = i < 0 ? i + 2 * (s64)size : i;
		return i < size ? i : 2 * (s64)size - 1 - i;
	case TEX_BORDER:
		return i < 0 || i >= size ? -1 : i;
	default:
		return i < 0 ? 0 : i >= size ? size - 1 : i;
	}
}

/* ---- values ---- */

static f32 clamp_unit(f32 x, f32 low)
{
	return x > low ? (x < 1 ? x : 1) : low;
}

/* Alpha is not on the curve of sRGB, and may have another width. */
static u32 class_of(const struct tex_object *t, u32 c)
{
	if (c == 3 && t->class == TEX_UNORM10)
		return TEX_UNORM16;
	/* The second of two channels is one like alpha: measured. */
	return t->class == TEX_SRGB8 && (c == 3 || (c == 1 && t->image.channels == 2)) ? TEX_UNORM8
										       : t->class;
}

/* Halves toward zero. */
static s32 round_border(f32 x)
{
	return (s32)copysignf(ceilf(fabsf(x) - 0.5f), x);
}

/* The curve of sRGB: a border colour is given without it. */
static f32 to_srgb(f32 x)
{
	return x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
}

/* The border colour as a texel of the image would hold it. */
static u32 border_channel(u32 class, u32 border)
{
	static const f32 most[] = {
		[TEX_UNORM8] = 255,    [TEX_UNORM16] = 65535, [TEX_SNORM8] = 127,
		[TEX_SNORM16] = 32767, [TEX_SRGB8] = 255,     [TEX_UNORM10] = 1023};
	f32 b = f32_bits(border);

	switch (class) {
	case TEX_UNORM10:
		return 0x10000 | (u32)round_border(clamp_unit(b, 0) * 65535);
	case TEX_UNORM8:
	case TEX_UNORM16:
		return (u32)round_border(clamp_unit(b, 0) * most[class]);
	case TEX_SRGB8:
		return (u32)round_border(to_srgb(clamp_unit(b, 0)) * most[class]);
	case TEX_SNORM8:
	case TEX_SNORM16:
		return (u32)round_border(clamp_unit(b, -1) * most[class]);
	default:
		return border;
	}
}

/* Which objects op_tex_wide.c knows how to fetch from. */
void tex_plan(struct tex_object *t)
{
	static const bool known[] = {
		[TEX_UINT] = true,    [TEX_SINT] = true, [TEX_UNORM8] = true, [TEX_UNORM16] = true,
		[TEX_SNORM16] = true, [TEX_F16] = true,  [TEX_F32] = true};
	const struct tex_image *im = &t->image;
	bool plain = im->channel_bytes && t->class < ARRAY_LEN(known) && known[t->class];

	/* A border of integers is not cut to the width of the texels. */
	for (u32 i = 0; i < im->dims && im->channel_bytes < 4; i++)
		plain &= t->class > TEX_SINT || t->sampler.address[i] != TEX_BORDER;
	t->wide = plain && im->levels == 1 && !t->sampler.mip_linear && !im->cube && !im->linear &&
		  (im->dims < 3 || !t->sampler.linear || t->class < TEX_F16);
	t->numbered = plain && im->linear;
	for (u32 i = 0; i < im->channels && t->wide; i++) {
		u32 v = border_channel(class_of(t, i), t->sampler.border[i]);

		/* A border that is no f16 would lose bits. */
		if (t->class == TEX_F16) {
			t->wide = tex_from_half(tex_to_half(v)) == v;
			v = tex_to_half(v);
		}

		memcpy((u8 *)t->edge + i * im->channel_bytes, &v, im->channel_bytes);
	}
}

/* ---- one level ---- */

struct fetch {
	const struct tex_object *t;
	const struct tex_sampler *s;
	const struct tex_request *r;
	struct axis axis[3];
	u32 layer, first_layer, face;
	bool seamless;
	bool two; /* blends two texels along each dimension */
};

/* ---- texels ---- */

/* Where a texel of the footprint is. */
struct texel_place {
	s64 at[3];
	bool border;
	bool missing; /* three faces meet there, and another one stands in for it */
};

static inline struct texel_place find_texel(const struct fetch *f, const struct tex_level *l,
					    const u32 *corner)
{
	const struct tex_image *im = &f->t->image;
	s64 at[3] = {0, 0, f->layer};
	bool border = false, beyond = false, missing = false;

	for (u32 d = 0; d < im->dims || (f->two && d < 2); d++) {
		s64 i = f->axis[d].at + corner[d];

		at[d] = wrap(i, f->axis[d].size, f->axis[d].mode);
		border |= at[d] < 0;
		if (f->seamless && f->two && at[d] != i) {
			at[d] = i < 0 ? -1 : (s64)f->axis[d].size;
			missing = beyond;
			if (missing)
				at[d] = i < 0 ? 0 : (s64)f->axis[d].size - 1;
			beyond = true;
		}
	}
	if (beyond)
		at[2] += (s64)tex_cross_edge(f->face, at, l->size[0]) - f->face;
	return (struct texel_place){{at[0], at[1], at[2]}, border, missing};
}

/*
 * Read a texel of the footprint. False: three faces meet there, and another one stands in for it.
 */
static bool read_texel(const struct fetch *f, const struct tex_level *l, const u32 *corner,
		       u32 out[4])
{
	const struct tex_image *im = &f->t->image;
	struct texel_place p = find_texel(f, l, corner);

	if (!p.border) {
		tex_read(im, l, p.at, out);
		if (f->t->class == TEX_F16)
			for (u32 i = 0; i < 4; i++)
				out[i] = tex_from_half(out[i]);
		return !p.missing;
	}
	for (u32 i = 0; i < 4; i++)
		out[i] = i < im->channels && !f->r->integer
				 ? border_channel(class_of(f->t, i), f->s->border[i])
				 : 0;
	return !p.missing;
}

/* What is blended for one fetch. */
struct footprint {
	u32 n;     /* four for each plane */
	u32 shift; /* weights are in 1/256 divided by so many bits */
	u32 texel[TEX_CORNERS][4];
	s32 weight[TEX_CORNERS]; /* they sum to 1 */
	bool touched[TEX_CORNERS];
};

/*
 * Part what a plane weighs among its corners: in x, halves to x = 1, then in y, halves to y = 1
 * where x = 1 and to y = 0 where x = 0.
 */
static void part_plane(s32 whole, s32 a, s32 b, s32 w[4])
{
	s32 right = (whole * a + 128) >> 8, left = whole - right;

	w[3] = (right * b + 128) >> 8;
	w[1] = right - w[3];
	w[2] = (left * b + 127) >> 8;
	w[0] = left - w[2];
}

/* What a texel that is not there would weigh goes to the other three of its square. */
static void share(s32 w[4], u32 missing)
{
	s32 whole = w[missing], part = (whole + 1) / 3;

	w[missing] = 0;
	w[missing ^ 1] += part;
	w[missing ^ 2] += part;
	w[missing ^ 3] += whole - 2 * part;
}

/* What a channel is that the image has not. */
static u32 absent(const struct tex_object *t, u32 c)
{
	return c == 3 && t->image.opaque ? bits_f32(1) : 0;
}

/*
 * One channel of the four texels around the place, against the clock from the lower left. A texel
 * that is not there, where three faces meet, is a blend of the others.
 * PTX ISA "Texture Instructions: tld4".
 */
static void gather_texels(const struct fetch *f, const struct tex_level *l, u32 out[4])
{
	static const u8 order[4] = {2, 3, 1, 0};
	static const bool touched[4] = {true, true, true, true};
	u32 c = f->r->component, class = class_of(f->t, c), texel[4][4], t[4], missing = 4;

	for (u32 i = 0; i < 4; i++) {
		u32 corner[3] = {i & 1, i >> 1, 0};

		if (!read_texel(f, l, corner, texel[i]))
			missing = i;
		t[i] = texel[i][c];
	}
	for (u32 i = 0; i < 4; i++) {
		s32 w[4] = {256};

		if (c >= f->t->image.channels) {
			out[i] = absent(f->t, c);
		} else if (order[i] == missing && f->t->class > TEX_SINT) {
			w[0] = 0;
			w[missing] = 256;
			share(w, missing);
			out[i] = tex_blend(class, t, w, touched, 4, 0);
		} else {
			/* Eight bits with a sign and ten bits go through the sum: four of them. */
			texel[0][0] = t[order[i]];
			texel[0][1] = texel[0][2] = texel[0][3] = 0;
			out[i] = tex_blend(class, texel[0], w, touched,
					   class == TEX_SNORM8 || class == TEX_UNORM10 ? 4 : 1, 0);
		}
	}
}

/* Add slice z of a level, which weighs `whole`. */
static void add_slice(const struct fetch *f, const struct tex_level *l, u32 z, s32 whole,
		      struct footprint *p)
{
	u32 a = f->axis[0].part, b = f->axis[1].part, missing = 4, first = p->n;
	s32 *w = &p->weight[first];

	part_plane(whole, (s32)a, (s32)b, w);
	for (u32 i = 0; i < 4; i++) {
		u32 corner[3] = {i & 1, i >> 1, z};

		if (!read_texel(f, l, corner, p->texel[first + i]))
			missing = i;
		p->touched[first + i] = (!(i & 1) || a) && (!(i & 2) || b) && whole;
	}
	if (missing < 4) {
		share(w, missing);
		p->touched[first + missing] = false;
	}
	p->n += 4;
}

/* Add what one level gives, which weighs `whole`. Halves go to the first slice. */
static void add_level(const struct fetch *f, const struct tex_level *l, s32 whole,
		      struct footprint *p)
{
	static const u32 first[3] = {0, 0, 0};
	s32 c = (s32)f->axis[2].part, far = (whole * c + 127) >> 8;

	if (f->two) {
		add_slice(f, l, 0, f->t->image.dims == 3 ? whole - far : whole, p);
		if (f->t->image.dims == 3)
			add_slice(f, l, 1, far, p);
		return;
	}
	/* A single texel, with nothing beside it. */
	memset(&p->texel[p->n], 0, 4 * sizeof(p->texel[0]));
	memset(&p->weight[p->n], 0, 4 * sizeof(p->weight[0]));
	memset(&p->touched[p->n], 0, 4 * sizeof(p->touched[0]));
	read_texel(f, l, first, p->texel[p->n]);
	p->weight[p->n] = whole;
	p->touched[p->n] = whole != 0;
	p->n += 4;
}

static void finish(const struct fetch *f, const struct footprint *p, u32 out[4])
{
	for (u32 c = 0; c < 4; c++) {
		u32 t[TEX_CORNERS], class = class_of(f->t, c);

		for (u32 i = 0; i < p->n; i++)
			t[i] = p->texel[i][c];
		out[c] = c < f->t->image.channels
				 ? tex_blend(class, t, p->weight, p->touched, p->n, p->shift)
				 : absent(f->t, c);
	}
}

/* The same of a single texel of one level. */
static void finish_one(const struct fetch *f, const struct tex_level *l, u32 out[4])
{
	static const u32 first[3] = {0, 0, 0};
	static const s32 whole = 256;
	static const bool touched = true;
	u32 texel[4], channels = f->t->image.channels;

	read_texel(f, l, first, texel);
	for (u32 c = 0; c < 4; c++)
		out[c] = c < channels
				 ? tex_blend(class_of(f->t, c), &texel[c], &whole, &touched, 1, 0)
				 : absent(f->t, c);
}

/* A tap's distance in 1/128 of a texel, away from zero. */
static f64 tap_at(f64 x)
{
	return copysign(ceil(fabs(x) * 128) / 128, x);
}

/* away: how far from the place, in texels of the first level, NULL: not at all. */
static void place_axes(struct fetch *f, const struct tex_level *l, const f64 *away)
{
	const struct tex_image *im = &f->t->image;
	const struct tex_request *r = f->r;
	bool cube = r->geometry == TEX_CUBE;
	f64 face[2];

	if (cube) {
		f->face = tex_face_of(r->coord, face);
		f->layer = f->first_layer * 6 + f->face;
		f->seamless = f->s->seamless;
	}
	for (u32 d = 0; d < 3; d++) {
		struct axis *a = &f->axis[d];

		*a = (struct axis){.size = l->size[d],
				   .mode = f->s->address[d],
				   .two = f->two,
				   .seamless = f->seamless};
		if ((!f->s->normalized && !cube && repeats(a->mode)) || f->seamless)
			a->mode = TEX_CLAMP;
		if (d >= im->dims) {
			/*
			 * A row is a plane of one row, fetched at y = 0: halfway to the row above.
			 * Rows of layered textures are not.
			 */
			bool above = f->two && d == 1 && !im->layered;

			a->size = 1;
			a->at = above ? -1 : 0;
			a->part = above ? 128 : 0;
		} else if (r->integer) {
			/*
			 * A texel by its number; there is nothing outside, but on a level by
			 * number.
			 */
			a->at = (s64)(s32)r->coord[d] + r->offset[d];
			a->mode = r->mode == TEX_LEVEL ? a->mode : TEX_BORDER;
		} else {
			f64 x = cube ? scale_face(face[d], a->size)
				     : in_texels(a, r->coord[d], f->s->normalized);

			if (away && d < 2)
				x = (f->two ? floor(x * 256 + 0.5) / 256 : x) +
				    tap_at(away[d] * a->size / im->level[0].size[d]);
			place_at(a, x, r->offset[d]);
		}
	}
}

/*
 * Fetches that find no texels: of memory without an array but by number, of rows of an array by
 * number, of layers by number that are not there, of directions in what is no cube. Measured.
 */
static bool reads_nothing(const struct tex_object *t, const struct tex_request *r)
{
	const struct tex_image *im = &t->image;

	/* There is one sample. */
	if (r->geometry == TEX_MS && r->sample)
		return true;
	if (r->geometry == TEX_CUBE || im->cube)
		return r->geometry != TEX_CUBE || !im->cube;
	if (r->integer && r->mode == TEX_LEVEL)
		return (r->geometry == TEX_1D && !r->layered) || r->level >= im->levels;
	if (im->linear != (r->geometry == TEX_1D && r->integer && !r->layered))
		return im->linear || im->dims == 1;
	return r->integer && r->layered && r->layer >= im->layers;
}

/* ---- levels ---- */

/* All taps of a fetch, of both levels, in one sum. */
static void blend_taps(struct fetch *f, const struct tex_lod *lod, u32 out[4])
{
	const struct tex_level *l = &f->t->image.level[lod->level];
	struct footprint p;

	p.n = 0;
	p.shift = lod->shift;
	for (u32 i = 0; i < lod->taps; i++) {
		bool outer = lod->taps > 1 && (i == 0 || i == lod->taps - 1);
		s32 whole = lod->taps == 1 ? 256 : outer ? lod->outer : lod->inner;
		s32 far = (whole * (s32)lod->part + 127) >> 8;
		f64 at[2] = {lod->step[0] * (i - (lod->taps - 1) / 2.0),
			     lod->step[1] * (i - (lod->taps - 1) / 2.0)};

		place_axes(f, l, at);
		add_level(f, l, whole - far, &p);
		if (lod->part) {
			place_axes(f, l + 1, at);
			add_level(f, l + 1, far, &p);
		}
	}
	finish(f, &p, out);
}

/* What is fetched, and of which levels. False: nothing. */
static bool begin_fetch(struct fetch *f, struct tex_lod *lod)
{
	const struct tex_object *t = f->t;
	const struct tex_request *r = f->r;
	u32 layers = t->image.cube ? t->image.layers / 6 : t->image.layers;

	f->two = r->gather || (f->s->linear && !r->integer && t->class > TEX_SINT);
	f->first_layer = f->layer = r->layered ? (r->layer < layers ? r->layer : layers - 1) : 0;
	if (t->image.levels > 1 || r->mode == TEX_LEVEL || r->mode == TEX_GRADIENT)
		tex_level_of_detail(t, f->s, r, lod);
	return !reads_nothing(t, r);
}

void tex_fetch(const struct tex_object *t, const struct tex_sampler *s, const struct tex_request *r,
	       u32 out[4])
{
	struct fetch f = {.t = t, .s = s, .r = r};
	struct tex_lod lod = {.taps = 1};
	const struct tex_level *l;

	if (!begin_fetch(&f, &lod)) {
		memset(out, 0, 4 * sizeof(*out));
		return;
	}
	/* Where levels are blended even a single texel goes through the sum. */
	if (!r->gather && (f.two || lod.taps > 1 || (s->mip_linear && t->class > TEX_SINT))) {
		blend_taps(&f, &lod, out);
		return;
	}
	l = &t->image.level[lod.level];
	place_axes(&f, l, NULL);
	if (r->gather)
		gather_texels(&f, l, out);
	else
		finish_one(&f, l, out);
}

/* ---- which texels a fetch depends on ---- */

static void touch_texel(const struct fetch *f, const struct tex_level *l, const u32 *corner,
			tex_touched *touched, void *user)
{
	const struct tex_image *im = &f->t->image;
	struct texel_place p = find_texel(f, l, corner);
	u32 block = mem_format_block(im->format);

	if (!p.border && !p.missing)
		touched(user, l->base + (u64)p.at[2] * l->slice + (u64)p.at[1] / block * l->pitch +
				      (u64)p.at[0] / block * im->element_bytes);
}

/* Corners that take part: those whose weights are not 0, as in add_slice. */
static void touch_level(const struct fetch *f, const struct tex_level *l, tex_touched *touched,
			void *user)
{
	u32 n = f->two ? (f->t->image.dims == 3 && !f->r->gather ? 8 : 4) : 1;

	for (u32 i = 0; i < n; i++) {
		u32 corner[3] = {i & 1, i >> 1 & 1, i >> 2};
		bool counts = f->r->gather;

		counts |= (!corner[0] || f->axis[0].part) && (!corner[1] || f->axis[1].part) &&
			  (!corner[2] || f->axis[2].part);
		if (counts)
			touch_texel(f, l, corner, touched, user);
	}
}

void tex_touch(const struct tex_object *t, const struct tex_sampler *s, const struct tex_request *r,
	       tex_touched *touched, void *user)
{
	struct fetch f = {.t = t, .s = s, .r = r};
	struct tex_lod lod = {.taps = 1};
	const struct tex_level *l;

	if (!begin_fetch(&f, &lod))
		return;
	l = &t->image.level[lod.level];
	for (u32 i = 0; i < lod.taps; i++) {
		f64 at[2] = {lod.step[0] * (i - (lod.taps - 1) / 2.0),
			     lod.step[1] * (i - (lod.taps - 1) / 2.0)};

		place_axes(&f, l, at);
		touch_level(&f, l, touched, user);
		if (r->gather || !lod.part)
			continue;
		place_axes(&f, l + 1, at);
		touch_level(&f, l + 1, touched, user);
	}
}

/* ---- queries ---- */

/* .wrap .mirror .clamp_ogl .clamp_to_edge .clamp_to_border, in the order of the manual. */
static const u8 addresses[] = {[TEX_WRAP] = 0, [TEX_MIRROR] = 1, [TEX_CLAMP] = 3, [TEX_BORDER] = 4};

/* What is a third dimension to the program: layers of planes, cubes of arrays of cubes. */
static u32 layers_of(const struct tex_image *im)
{
	if (!im->layered || im->dims < 2)
		return 0;
	return im->cube ? im->layers / 6 : im->layers;
}

/* Numbered as OpenCL's channel types, which the manual refers to. */
static u32 data_type(const struct tex_image *im)
{
	static const u32 signed_types[] = {0, 0x10d7, 0x10d8, 0, 0x10d9},
			 unsigned_types[] = {0, 0x10da, 0x10db, 0, 0x10dc};

	switch (im->class) {
	case TEX_F16:
		return 0x10dd;
	case TEX_F32:
		return 0x10de;
	case TEX_SINT:
		return signed_types[im->channel_bytes];
	case TEX_UNORM8:
		return 0x10d2;
	case TEX_UNORM16:
		return 0x10d3;
	case TEX_SNORM8:
		return 0x10d0;
	case TEX_SNORM16:
		return 0x10d1;
	default:
		return unsigned_types[im->channel_bytes];
	}
}

static u32 channel_order(const struct tex_image *im)
{
	return im->channels == 1 ? 0x10b0 : im->channels == 2 ? 0x10b2 : 0x10b5;
}

u32 tex_query(const struct tex_object *t, enum tex_query what, u32 level)
{
	const struct tex_image *im = &t->image;
	const struct tex_level *l = &im->level[level < im->levels ? level : im->levels - 1];

	switch (what) {
	case TEX_QUERY_WIDTH:
		return l->size[0];
	case TEX_QUERY_HEIGHT:
		return im->layered && im->dims == 1 ? im->layers : l->size[1];
	case TEX_QUERY_DEPTH:
		return im->dims == 3 ? l->size[2] : layers_of(im);
	case TEX_QUERY_DATA_TYPE:
		return data_type(im);
	case TEX_QUERY_ORDER:
		return channel_order(im);
	case TEX_QUERY_NORMALIZED:
		return t->sampler.normalized;
	case TEX_QUERY_ARRAY_SIZE:
		return im->layered ? im->cube ? im->layers / 6 : im->layers : 0;
	case TEX_QUERY_LEVELS:
		return im->levels;
	case TEX_QUERY_SAMPLES:
		return 1;
	case TEX_QUERY_LAYOUT:
		return im->linear;
	case TEX_QUERY_FILTER:
		return t->sampler.linear;
	case TEX_QUERY_ADDRESS_0:
	case TEX_QUERY_ADDRESS_1:
	case TEX_QUERY_ADDRESS_2:
		return addresses[t->sampler.address[what - TEX_QUERY_ADDRESS_0] & 3];
	case TEX_QUERY_UNNORMALIZED:
		return !t->sampler.normalized;
	}
	return 0;
}
