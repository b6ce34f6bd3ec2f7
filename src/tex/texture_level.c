/*
 * The level of detail of a fetch, and the taps of an anisotropic one.
 *
 * The texture unit computes with few bits: gradients have ten, lengths are sums of parts of their
 * components, everything after them is a logarithm in 1/256. All measured on an H200;
 * docs/textures.md has the rules in words and what is still off.
 */
#include "src/tex/texture.h"

#include <math.h>

#define DIGITS 10 /* of gradients */
#define NOWHERE INT32_MIN

/* ---- ten bits ---- */

/* The upper ten bits as an integer, and the power of two of their unit. */
static s64 digits(f64 x, s32 *unit)
{
	int e;
	f64 m = frexp(fabs(x), &e);

	*unit = e - DIGITS;
	return (s64)(m * (1 << DIGITS));
}

/* Cut to ten bits. */
static f64 cut_to_ten(f64 x)
{
	s32 unit;
	s64 n = digits(x, &unit);

	return copysign(ldexp((f64)n, unit), x);
}

/*
 * Product of two numbers of ten bits each. Of each partial product the lower six bits are cut off,
 * a constant makes up for it.
 */
static f64 multiply(f64 x, f64 y)
{
	s32 x_unit, y_unit;
	s64 a = digits(x, &x_unit), b = digits(y, &y_unit), sum = 7;

	if (!a || !b)
		return 0;
	for (u32 k = 0; k < DIGITS; k++)
		if (b >> k & 1)
			sum += a << k >> 6;
	return copysign(ldexp((f64)sum, x_unit + y_unit + 6), x * y);
}

/* 11/8 of ten bits, rounded, in 1/2^more of their unit. */
static f64 eleven(f64 x, s32 more)
{
	s32 unit;
	s64 n = digits(x, &unit);

	return ldexp((f64)((n * 11 + 4) >> 3), unit - more);
}

/* Sum of two numbers; the smaller one is cut a bit below the unit of the larger. */
static f64 add_cut(f64 a, f64 b)
{
	f64 big = fabs(a) < fabs(b) ? b : a, small = fabs(a) < fabs(b) ? a : b;
	s32 unit;

	digits(big, &unit);
	return big + ldexp(trunc(ldexp(small, 1 - unit)), unit - 1);
}

/* 256 log2(x), cut to nine bits before. */
static s32 logarithm(f64 x)
{
	static const u8 log2_of[256] = {
#include "src/tex/texture_log2.def"
	};
	int e;
	f64 m = frexp(x, &e);

	if (!(x > 0))
		return NOWHERE;
	return isinf(x) ? 255 * 256 : (e - 1) * 256 + log2_of[(u32)(m * 512) & 255];
}

/* ---- gradients ---- */

static void order(f64 *large, f64 *small)
{
	f64 t = *large;

	if (t < *small) {
		*large = *small;
		*small = t;
	}
}

/* The largest component, 11/32 of the middle and a quarter of the smallest one. */
static f64 length_of(const f64 v[3])
{
	f64 x = fabs(cut_to_ten(v[0])), y = fabs(cut_to_ten(v[1])), z = fabs(cut_to_ten(v[2]));
	s32 unit;

	order(&x, &y);
	order(&y, &z);
	order(&x, &y);
	if (z > 0) {
		s64 n = digits(z, &unit);

		x += ldexp((f64)(n >> 1), unit - 1);
	}
	return y > 0 ? x + eleven(y, 2) : x;
}

/* A gradient in texels of the first level. */
static void gradient_in_texels(const struct tex_image *im, const u32 coord[3], const u32 d[3],
			       bool normalized, f64 out[3])
{
	for (u32 i = 0; i < 3; i++) {
		f32 at = f32_bits(coord[i]);
		f64 x = i < im->dims ? f32_bits(d[i]) : 0;

		/* In a volume it is what is left of it after the sum with the place. */
		if (im->dims == 3)
			x = (f64)(at + (f32)x) - (f64)at;

		x = x != x ? 0 : isinf(x) ? copysign(0x1p100, x) : x;
		out[i] = normalized ? cut_to_ten(multiply(x, im->level[0].size[i])) : cut_to_ten(x);
	}
}

/*
 * The same on a cube: how far the place on the face moves.
 * Deviation: where the direction leaves its face the hardware has another rule.
 */
static void on_face(const struct tex_image *im, const u32 coord[3], const u32 d[3], f64 out[3])
{
	f64 from[3], to[3], here[2], there[2];
	u32 face = tex_face_of(coord, here);

	for (u32 i = 0; i < 3; i++) {
		from[i] = f32_bits(coord[i]);
		to[i] = from[i] + f32_bits(d[i]);
	}
	tex_face_project(face, from, here);
	tex_face_project(face, to, there);
	for (u32 i = 0; i < 2; i++)
		out[i] = cut_to_ten((there[i] - here[i]) * im->level[0].size[0] / 2);
	out[2] = 0;
}

/*
 * The longest of both gradients, their sum and their difference, these by 11/16. Returns its
 * length.
 */
static f64 longest(const f64 x[3], const f64 y[3], f64 out[3])
{
	f64 length[4], v[4][3], most;
	u32 which = 0;

	for (u32 i = 0; i < 3; i++) {
		f64 sum = add_cut(x[i], y[i]), difference = add_cut(x[i], -y[i]);

		v[0][i] = x[i];
		v[1][i] = y[i];
		v[2][i] = copysign(eleven(sum, 1), sum);
		v[3][i] = copysign(eleven(difference, 1), difference);
	}
	for (u32 i = 0; i < 4; i++) {
		length[i] = length_of(v[i]);
		which = length[i] > length[which] ? i : which;
	}
	most = length[which];
	memcpy(out, v[which], sizeof(v[which]));
	return most;
}

/* ---- anisotropy ---- */

/* Ratios the hardware has; others act as the next smaller one. */
static s32 ratio_limit(u32 anisotropy)
{
	static const u8 ratios[] = {16, 12, 10, 8, 6, 4, 2};

	for (u32 i = 0; i < ARRAY_LEN(ratios); i++)
		if (anisotropy >= ratios[i])
			return logarithm(ratios[i]);
	return 0;
}

/*
 * Taps along the longer axis of the footprint, whose ratio to the shorter one has the logarithm
 * `ratio`. Inner taps weigh one over the ratio, the outer ones what is left; two alone are closer.
 */
static void set_taps(struct tex_lod *out, s32 ratio, const f64 major[3])
{
	u32 whole = (u32)ratio >> 8, inner, total;
	s32 part = (s32)lround(256 * exp2(-(ratio & 255) / 256.0));
	f64 length = sqrt(major[0] * major[0] + major[1] * major[1]);

	if (ratio <= 0)
		return;
	out->shift = whole > 1 ? 2 : 1;
	out->inner = whole > 2 ? part >> (whole - 2) : part;
	total = 256u << out->shift;
	inner = whole ? 2 * (total / (2 * (u32)out->inner)) : 0;
	if (inner * (u32)out->inner == total)
		inner -= 2;
	out->outer = (s32)(total - inner * (u32)out->inner) / 2;
	out->taps = inner + 2;
	for (u32 i = 0; i < 2; i++)
		out->step[i] = major[i] / length * (whole ? 1 : (256 - part) / 128.0);
}

/* Logarithm of the area two gradients span, as a product of lengths. */
static s32 area_of(const f64 x[3], const f64 y[3])
{
	return logarithm(
		fabs(add_cut(cut_to_ten(multiply(x[0], y[1])), -cut_to_ten(multiply(x[1], y[0])))));
}

/* Level of detail of the gradients, in 1/256. */
static s32 of_gradients(const struct tex_object *t, const struct tex_sampler *s,
			const struct tex_request *r, struct tex_lod *out)
{
	const struct tex_image *im = &t->image;
	s32 most, ratio = 0, limit = ratio_limit(s->anisotropy), area, taps;
	f64 x[3], y[3], major[3];

	if (im->cube) {
		on_face(im, r->coord, r->dx, x);
		on_face(im, r->coord, r->dy, y);
	} else {
		gradient_in_texels(im, r->coord, r->dx, s->normalized, x);
		gradient_in_texels(im, r->coord, r->dy, s->normalized, y);
	}
	most = logarithm(longest(x, y, major));
	if (limit && most != NOWHERE && im->dims == 2) {
		area = area_of(x, y);
		ratio = area == NOWHERE ? limit : 2 * most - area;
		ratio = ratio < limit ? ratio : limit;
		ratio = ratio > 0 ? ratio : 0;
		/*
		 * Where the shorter axis is below a texel, the longer one is compared with a texel.
		 */
		taps = ratio < most ? ratio : most;
		set_taps(out, taps, major);
	}
	return most == NOWHERE ? NOWHERE : most - ratio;
}

/* A level of detail, in 1/256: samplers with taps blend levels less, unless told not to. */
static f64 sharpen(const struct tex_sampler *s, f64 level)
{
	s32 limit = ratio_limit(s->anisotropy), part;
	f64 whole = floor(level / 256);

	/* A bias may be anything. */
	if (!limit || s->trilinear || !s->mip_linear || !(fabs(level) < 0x1p20))
		return level;
	part = (s32)(level - whole * 256);
	part = limit >= 3 * 256   ? 2 * part - 128
	       : limit >= 2 * 256 ? (7 * part - 378) >> 2
				  : (3 * part - 126) >> 1;
	return whole * 256 + (part < 0 ? 0 : part > 256 ? 256 : part);
}

/* ---- levels ---- */

static f64 clamp_level(const struct tex_sampler *s, f64 level, f64 most)
{
	/* An empty range ends where it begins. */
	level = level < (f64)s->level_max ? level : (f64)s->level_max;
	level = level > (f64)s->level_min ? level : (f64)s->level_min;
	level = level > 0 ? level : 0;
	return level < most ? level : most;
}

void tex_level_of_detail(const struct tex_object *t, const struct tex_sampler *s,
			 const struct tex_request *r, struct tex_lod *out)
{
	f64 level = 0, most = t->image.levels - 1;
	u32 lod;

	*out = (struct tex_lod){.taps = 1};
	if (r->integer) {
		out->level = r->mode == TEX_LEVEL ? r->level : 0;
		return;
	}
	if (r->mode == TEX_LEVEL) {
		level = f32_bits(r->level);
		level = level == level ? trunc(level * 256) / 256 : 0;
	} else if (r->mode == TEX_GRADIENT) {
		level = of_gradients(t, s, r, out) / 256.0;
	}
	/* The bias is kept in 1/256; a fetch that says nothing of levels is not biased. */
	if (r->mode == TEX_LEVEL || r->mode == TEX_GRADIENT)
		level += trunc((f64)s->bias * 256) / 256;
	level = sharpen(s, floor(level * 256)) / 256;
	lod = (u32)floor(clamp_level(s, level, most) * 256);
	if (!s->mip_linear || t->class <= TEX_SINT)
		lod = (lod + 128) & ~255u;
	out->level = lod >> 8;
	out->part = lod & 255;
	/* Taps are as far apart as texels. */
	for (u32 i = 0; i < 2; i++)
		out->step[i] *= exp2(lod / 256.0);
}
