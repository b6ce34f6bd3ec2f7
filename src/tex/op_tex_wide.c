/*
 * Fetches of a whole warp at once, from one level of what is no cube: places, weights and sums are
 * computed for 32 lanes side by side, and only texels are read lane by lane. Volumes of floats are
 * not blended here.
 *
 * The rules are those of texture.c and texture_blend.c, to the bit; what is rare there (infinities,
 * subnormal texels) goes back to tex_blend for its lane. tests/unit/tex/texture compares both.
 */
#include "src/tex/tex_wide.h"

#include <math.h>

/* Beyond that a coordinate is outside whatever the size. */
#define OUTSIDE 0x1p30

/* Along one dimension: both texels, -1 for the border, and the weight of the second in 1/256. */
struct wide_axis {
	s32 at[2][WARP_LANES];
	s32 part[WARP_LANES];
};

/* Coordinates in texels; repeating ones are brought into the first (two) repetitions. */
static void scale_rows(const u32 *coord, u32 size, u32 mode, bool normalized, f64 *d)
{
	f64 unit = is_pow2(size) ? 0x1p22 : 0x1p21, scale = size / unit;
	f64 period = mode == TEX_MIRROR ? 2 * unit : unit;

	if (!normalized) {
		FOR_LANES(l, WARP_LANES) {
			f64 x = f32_bits(coord[l]);

			d[l] = x != x ? 0 : x;
		}
	} else if (mode == TEX_WRAP || mode == TEX_MIRROR) {
		FOR_LANES(l, WARP_LANES) {
			f64 x = f32_bits(coord[l]);

			x = fabs(x) < 0x1p24 ? floor(x * unit) : 0;
			d[l] = (x - floor(x / period) * period) * scale;
		}
	} else {
		FOR_LANES(l, WARP_LANES) {
			f64 x = f32_bits(coord[l]);

			d[l] = floor((x != x ? 0 : x) * unit) * scale;
		}
	}
}

/* Numbers of texels, at least -1 and at most two sizes, by the address mode. */
static void wrap_rows(s32 *at, s32 size, u32 mode)
{
	switch (mode) {
	case TEX_WRAP:
		FOR_LANES(l, WARP_LANES) {
			s32 i = at[l] < 0 ? at[l] + size : at[l];

			at[l] = i >= size ? i - size : i;
		}
		break;
	case TEX_MIRROR:
		FOR_LANES(l, WARP_LANES) {
			s32 i = at[l] < 0 ? 0 : at[l] < 2 * size ? at[l] : at[l] - 2 * size;

			at[l] = i < size ? i : 2 * size - 1 - i;
		}
		break;
	case TEX_BORDER:
		FOR_LANES(l, WARP_LANES)
			at[l] = at[l] >= 0 && at[l] < size ? at[l] : -1;
		break;
	default:
		FOR_LANES(l, WARP_LANES) {
			s32 i = at[l] < 0 ? 0 : at[l];

			at[l] = i < size ? i : size - 1;
		}
	}
}

static void place_rows(struct wide_axis *a, const u32 *coord, u32 size, u32 mode, bool normalized,
		       bool two)
{
	f64 d[WARP_LANES];

	if (!normalized && (mode == TEX_WRAP || mode == TEX_MIRROR))
		mode = TEX_CLAMP;
	scale_rows(coord, size, mode, normalized, d);
	FOR_LANES(l, WARP_LANES) {
		f64 x = two ? floor(d[l] * 256 + 0.5) - 128 : floor(d[l]) * 256, i;

		x = x < OUTSIDE ? x : OUTSIDE;
		x = x > -OUTSIDE ? x : -OUTSIDE;
		i = floor(x / 256);
		a->at[0][l] = (s32)i;
		a->at[1][l] = (s32)i + 1;
		a->part[l] = (s32)(x - i * 256);
	}
	if (two && mode == TEX_CLAMP)
		FOR_LANES(l, WARP_LANES)
			a->part[l] =
				a->at[0][l] < 0 || a->at[0][l] >= (s32)size - 1 ? 0 : a->part[l];
	wrap_rows(a->at[0], (s32)size, mode);
	wrap_rows(a->at[1], (s32)size, mode);
}

/* A dimension that is not there. `above`: halfway between the only row and the one before it. */
static void place_nowhere(struct wide_axis *a, bool above, u32 mode)
{
	FOR_LANES(l, WARP_LANES) {
		a->at[0][l] = above && mode == TEX_BORDER ? -1 : 0;
		a->at[1][l] = 0;
		a->part[l] = above ? 128 : 0;
	}
}

/* ---- texels ---- */

/* Texels of one corner, as they lie in memory: words of 32 lanes. */
struct wide_texels {
	u32 word[4][WARP_LANES];
};

/* Addresses of texels; NULL: the border. z: slices or layers. */
static void find_texels(const struct tex_object *o, const s32 *x, const s32 *y, const s32 *z,
			const u8 **p)
{
	const struct tex_level *l0 = &o->image.level[0];
	u32 bytes = o->image.element_bytes;

	for (u32 l = 0; l < WARP_LANES; l++)
		p[l] = (x[l] | y[l] | z[l]) < 0 ? NULL
						: l0->base + (u64)z[l] * l0->slice +
							  (u64)y[l] * l0->pitch + (u64)x[l] * bytes;
}

#define LOAD(bytes, words)                                                                         \
	for (u32 m = mask; m; m &= m - 1) {                                                        \
		u32 l = (u32)__builtin_ctz(m), v[words] = {0};                                     \
                                                                                                   \
		memcpy(v, p[l] ? p[l] : edge, bytes);                                              \
		for (u32 i = 0; i < words; i++)                                                    \
			t->word[i][l] = v[i];                                                      \
	}                                                                                          \
	break;

/* edge: what the border reads as, laid out like a texel. */
static void load_texels(struct wide_texels *t, const u8 *const *p, const u8 *edge, u32 bytes,
			u32 mask)
{
	switch (bytes) {
	case 1:
		LOAD(1, 1)
	case 2:
		LOAD(2, 1)
	case 4:
		LOAD(4, 1)
	case 8:
		LOAD(8, 2)
	default:
		LOAD(16, 4)
	}
}

/* Channel c, sign-extended where `is_signed`. */
static void unpack_rows(const struct wide_texels *t, u32 c, u32 bytes, bool is_signed, s32 *v)
{
	const u32 *word = t->word[c * bytes / 4];
	u32 up = 32 - 8 * (c * bytes % 4 + bytes), down = 32 - 8 * bytes;

	if (is_signed)
		FOR_LANES(l, WARP_LANES)
			v[l] = (s32)(word[l] << up) >> down;
	else
		FOR_LANES(l, WARP_LANES)
			v[l] = (s32)(word[l] << up >> down);
}

/* ---- values ---- */

struct wide_weights {
	s32 w[8][WARP_LANES]; /* of the corners, in 1/256 */
	s32 a[WARP_LANES], b[WARP_LANES];
};

/* Four corners of a plane that weighs `whole`: as part_plane of texture.c. */
static void weigh_rows(s32 (*w)[WARP_LANES], const s32 *whole, const struct wide_axis *x,
		       const struct wide_axis *y)
{
	FOR_LANES(l, WARP_LANES) {
		s32 a = x->part[l], b = y->part[l], right = (whole[l] * a + 128) >> 8;
		s32 left = whole[l] - right;

		w[3][l] = (right * b + 128) >> 8;
		w[1][l] = right - w[3][l];
		w[2][l] = (left * b + 127) >> 8;
		w[0][l] = left - w[2][l];
	}
}

/* Of one plane, or of two slices. */
static void weigh_corners(struct wide_weights *w, const struct wide_axis *axis, u32 corners)
{
	s32 near[WARP_LANES], far[WARP_LANES];

	FOR_LANES(l, WARP_LANES) {
		far[l] = corners == 8 ? axis[2].part[l] : 0;
		near[l] = 256 - far[l];
		w->a[l] = axis[0].part[l];
		w->b[l] = axis[1].part[l];
	}
	weigh_rows(w->w, near, &axis[0], &axis[1]);
	if (corners == 8)
		weigh_rows(w->w + 4, far, &axis[0], &axis[1]);
}

static bool is_signed_class(u32 class)
{
	return class == TEX_SINT || class == TEX_SNORM8 || class == TEX_SNORM16;
}

/* Sums of fractions, in 1/256 of a texel's unit, as tex_blend forms them. */
static void fraction_rows(u32 class, const s32 *sum, u32 *out)
{
	bool is_signed = is_signed_class(class);
	f64 most = is_signed ? 32767 : 65535;

	FOR_LANES(l, WARP_LANES) {
		s32 s = class == TEX_UNORM8 ? (s32)(((u32)sum[l] * 257 + 128) >> 8)
					    : (sum[l] + 128) >> 8;

		if (is_signed && s < -32767)
			s = -32767;
		out[l] = bits_f32((f32)((f64)s / most));
	}
}

/* One lane of a sum that has infinities or subnormal numbers in it. */
static u32 blend_lane(u32 class, const s32 (*v)[WARP_LANES], const struct wide_weights *w, u32 l)
{
	u32 t[4];
	s32 weight[4];
	bool a = w->a[l] != 0, b = w->b[l] != 0, touched[4] = {true, a, b, a && b};

	for (u32 i = 0; i < 4; i++) {
		t[i] = (u32)v[i][l];
		weight[i] = w->w[i][l];
	}
	return tex_blend(class, t, weight, touched, 4, 0);
}

/* The lanes of `odd` one by one. */
static void blend_odd(u32 class, const s32 (*v)[WARP_LANES], const struct wide_weights *w,
		      const u32 *odd, u32 mask, u32 *out)
{
	u32 any = 0;

	FOR_LANES(l, WARP_LANES)
		any |= odd[l];
	for (u32 m = any ? mask : 0; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		if (odd[l])
			out[l] = blend_lane(class, v, w, l);
	}
}

/*
 * f32: in f64 the weighted sum of mantissas cut 4 bits below the unit of the largest is exact. A
 * last bit more makes what lies halfway between two f32 round away from zero.
 */
static void blend_rows(const s32 (*v)[WARP_LANES], const struct wide_weights *w, u32 mask, u32 *out)
{
	u32 odd[WARP_LANES];

	FOR_LANES(l, WARP_LANES) {
		s32 most = 0, rare = 0;
		f64 sum = 0, unit, parts;

		for (u32 i = 0; i < 4; i++) {
			s32 e = v[i][l] >> 23 & 255;

			rare |= e == 255 || (!e && (v[i][l] & 0x7fffff));
			most = w->w[i][l] && e > most ? e : most;
		}
		odd[l] = rare || (most && most < 40) || most > 250;
		parts = f64_bits((u64)(1023 + 154 - most) << 52);
		unit = f64_bits((u64)(1023 - 154 - 8 + most) << 52);
		for (u32 i = 0; i < 4; i++)
			sum += trunc((f64)f32_bits((u32)v[i][l]) * parts) * (f64)w->w[i][l];
		sum *= unit;
		sum = f64_bits(bits_f64(sum) + (sum != 0));
		out[l] = bits_f32((f32)sum);
	}
	blend_odd(TEX_F32, v, w, odd, mask, out);
}

/* f16, widened: cut 9 bits above the unit of an f32, rounded to 11 bits and to 2^-24, half away. */
static void blend_halves(const s32 (*v)[WARP_LANES], const struct wide_weights *w, u32 mask,
			 u32 *out)
{
	u32 odd[WARP_LANES];

	FOR_LANES(l, WARP_LANES) {
		s32 most = 0, rare = 0, e;
		f64 sum = 0, parts, up, down;

		for (u32 i = 0; i < 4; i++) {
			e = v[i][l] >> 23 & 255;
			rare |= e == 255;
			most = w->w[i][l] && e > most ? e : most;
		}
		odd[l] = (u32)rare;
		parts = f64_bits((u64)(1023 + 141 - most) << 52);
		for (u32 i = 0; i < 4; i++)
			sum += trunc((f64)f32_bits((u32)v[i][l]) * parts) * (f64)w->w[i][l];
		sum *= f64_bits((u64)(1023 - 141 - 8 + most) << 52);
		e = (s32)(bits_f64(sum) >> 52 & 2047) - 1023 - 10;
		e = e < -24 ? -24 : e;
		up = f64_bits((u64)(1023 - e) << 52);
		down = f64_bits((u64)(1023 + e) << 52);
		sum = trunc(sum * up + copysign(0.5, sum)) * down;
		sum = fabs(sum) > 65504 ? copysign(INFINITY, sum) : sum;
		out[l] = bits_f32((f32)sum);
	}
	blend_odd(TEX_F16, v, w, odd, mask, out);
}

/* f16 to f32, bits of both. */
static void widen_halves(s32 *v)
{
	FOR_LANES(l, WARP_LANES) {
		u32 h = (u32)v[l], e = h >> 10 & 31, m = h & 1023,
		    tiny = bits_f32((f32)(s32)m * 0x1p-24f);
		u32 wide = e ? (e == 31 ? 255 : e + 112) << 23 | m << 13 : tiny;

		v[l] = (s32)(h >> 15 << 31 | wide);
	}
}

static void store_rows(u32 *to, const u32 *v, u32 mask)
{
	if (mask == FULL_MASK)
		memcpy(to, v, WARP_LANES * sizeof(*v));
	else
		FOR_LANES(l, WARP_LANES)
			to[l] = mask >> l & 1 ? v[l] : to[l];
}

/* A channel of floats; v[0] is the first corner. */
static void float_rows(u32 class, const struct wide_texels *t, u32 c, u32 bytes, u32 corners,
		       s32 (*v)[WARP_LANES], const struct wide_weights *w, u32 mask, u32 *out)
{
	for (u32 i = 0; i < corners; i++) {
		unpack_rows(&t[i], c, bytes, false, v[i]);
		if (class == TEX_F16)
			widen_halves(v[i]);
	}
	if (corners == 1)
		memcpy(out, v[0], sizeof(v[0]));
	else if (class == TEX_F16)
		blend_halves((const s32(*)[WARP_LANES])v, w, mask, out);
	else
		blend_rows((const s32(*)[WARP_LANES])v, w, mask, out);
}

/* A channel of `corners` texels. */
static void channel_rows(const struct tex_object *o, const struct wide_texels *t, u32 c,
			 u32 corners, const struct wide_weights *w, u32 mask, u32 *out)
{
	bool is_signed = is_signed_class(o->image.class);
	s32 v[4][WARP_LANES], sum[WARP_LANES];
	u32 bytes = o->image.channel_bytes;

	unpack_rows(&t[0], c, bytes, is_signed, v[0]);
	if (o->class == TEX_F16 || o->class == TEX_F32) {
		float_rows(o->class, t, c, bytes, corners, v, w, mask, out);
		return;
	}
	if (o->class <= TEX_SINT) {
		memcpy(out, v[0], sizeof(v[0]));
		return;
	}
	FOR_LANES(l, WARP_LANES)
		sum[l] = v[0][l] * (corners == 1 ? 256 : w->w[0][l]);
	for (u32 i = 1; i < corners; i++) {
		unpack_rows(&t[i], c, bytes, is_signed, v[1]);
		FOR_LANES(l, WARP_LANES)
			sum[l] += v[1][l] * w->w[i][l];
	}
	fraction_rows(o->class, sum, out);
}

static void put_rows(const struct tex_object *o, const struct tex_rows *r,
		     const struct wide_texels *t, u32 corners, const struct wide_weights *w,
		     u32 mask)
{
	u32 out[WARP_LANES];

	for (u32 c = 0; c < 4; c++) {
		if (!r->value[c])
			continue;
		if (c < o->image.channels)
			channel_rows(o, t, c, corners, w, mask, out);
		else
			memset(out, 0, sizeof(out));
		store_rows(r->value[c], out, mask);
	}
}

/* Layers as a third dimension without weights. */
static void place_layers(struct wide_axis *a, const u32 *layer, u32 layers)
{
	FOR_LANES(l, WARP_LANES) {
		u32 z = layer ? layer[l] : 0;

		a->at[0][l] = (s32)(z < layers ? z : layers - 1);
		a->part[l] = 0;
	}
}

void EXEC_NAME(tex_wide)(const struct tex_object *o, const struct tex_rows *r, u32 mask)
{
	const struct tex_image *im = &o->image;
	const struct tex_sampler *s = &o->sampler;
	bool two = s->linear && o->class > TEX_SINT;
	u32 corners = !two ? 1 : im->dims == 3 ? 8 : 4;
	struct wide_texels t[8];
	struct wide_weights w;
	struct wide_axis axis[3];
	const u8 *p[WARP_LANES];

	for (u32 d = 0; d < im->dims; d++)
		place_rows(&axis[d], r->coord[d], im->level[0].size[d], s->address[d],
			   s->normalized, two);
	if (im->dims < 2)
		place_nowhere(&axis[1], two && !im->layered, s->address[1]);
	if (im->dims < 3)
		place_layers(&axis[2], im->layered ? r->layer : NULL, im->layers);
	if (two)
		weigh_corners(&w, axis, corners);
	for (u32 i = 0; i < corners; i++) {
		find_texels(o, axis[0].at[i & 1], axis[1].at[i >> 1 & 1], axis[2].at[i >> 2], p);
		load_texels(&t[i], p, (const u8 *)o->edge, im->element_bytes, mask);
	}
	put_rows(o, r, t, corners, &w, mask);
}

void EXEC_NAME(tex_numbered)(const struct tex_object *o, const struct tex_rows *r, u32 mask)
{
	static const u8 nothing[16];
	const struct tex_level *l0 = &o->image.level[0];
	const u8 *p[WARP_LANES];
	struct wide_texels t;

	for (u32 l = 0; l < WARP_LANES; l++)
		p[l] = r->coord[0][l] < l0->size[0]
			       ? l0->base + (u64)r->coord[0][l] * o->image.element_bytes
			       : NULL;
	load_texels(&t, p, nothing, o->image.element_bytes, mask);
	put_rows(o, r, &t, 1, NULL, mask);
}
