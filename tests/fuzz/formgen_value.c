/*
 * Operands that find differences: of every type limits and their neighbours, small numbers, powers
 * of two; of floats NaNs with payloads, infinities, denormals, halfway cases, values near overflow;
 * and pairs that are equal, opposite or neighbours.
 */
#include "tests/fuzz/formgen.h"

u64 formgen_hash(const char *s)
{
	u64 h = 0xcbf29ce484222325u;

	for (; *s; s++)
		h = (h ^ (u8)*s) * 0x100000001b3u;
	return h;
}

static u64 mask_of(u32 bits)
{
	return bits >= 64 ? ~(u64)0 : ((u64)1 << bits) - 1;
}

/* ---- integers ---- */

static u64 whole(struct formgen_random *r, u32 bits)
{
	u64 x = formgen_next(r), one = 1;

	switch (formgen_below(r, 8)) {
	case 0: /* 0, 1, -1, the limits */
		return (const u64[]){0,
				     1,
				     ~(u64)0,
				     one << (bits - 1),
				     (one << (bits - 1)) - 1,
				     (one << (bits - 1)) + 1,
				     ~(u64)1,
				     2}[x & 7];
	case 1: /* a power of two or its neighbour */
		return (one << (x % bits)) + (x >> 32) % 3 - 1;
	case 2: /* counts of bits, those that are too many as well */
		return x % 72;
	case 3:
		return x >> (x % 64);
	case 4:
		return (u64)((s64)x >> ((x >> 3) % 64));
	case 5: /* bytes and halves at their limits */
		for (u32 i = 0; i < 8; i++)
			if (x >> 56 >> i & 1)
				x = (x & ~((u64)0xff << 8 * i)) |
				    (u64)(x >> 20 >> i & 1 ? 0x80 : 0x7f) << 8 * i;
		return x;
	default:
		return x;
	}
}

/* ---- floats ---- */

struct format {
	u32 exponent, mantissa; /* bits */
};

static u64 special(struct formgen_random *r, const struct format *f)
{
	u64 x = formgen_next(r), top = mask_of(f->exponent), m = mask_of(f->mantissa),
	    quiet = (u64)1 << (f->mantissa - 1), bias = top >> 1;
	u64 table[] = {
		0,
		1,
		m,
		(u64)1 << f->mantissa,
		((u64)1 << f->mantissa) | 1,
		((u64)2 << f->mantissa) - 1,
		bias << f->mantissa,
		(bias << f->mantissa) + 1,
		(bias << f->mantissa) - 1,
		(bias - 1) << f->mantissa,
		(bias + 1) << f->mantissa,
		((top - 1) << f->mantissa) | m,
		top << f->mantissa,
		(top << f->mantissa) | quiet,
		(top << f->mantissa) | quiet | (x >> 8 & m),
		(top << f->mantissa) | (x >> 8 & (quiet - 1)) | 1,
	};

	return table[x >> 4 & 15] | (x & 1) << (f->exponent + f->mantissa);
}

static u64 real(struct formgen_random *r, const struct format *f)
{
	u64 x = formgen_next(r), m = mask_of(f->mantissa), bias = mask_of(f->exponent) >> 1,
	    sign = (x & 1) << (f->exponent + f->mantissa), e = bias, fraction = formgen_next(r) & m;
	u32 near = f->mantissa + 3;

	switch (x >> 8 & 7) {
	case 0:
		return special(r, f);
	case 1: /* anything */
		return formgen_next(r) & mask_of(f->exponent + f->mantissa + 1);
	case 2: /* few bits: sums and products come to lie halfway */
		fraction &= fraction >> 3 & fraction << 5;
		break;
	case 3: /* few bits at the top: whole numbers and halves */
		fraction &= ~mask_of(f->mantissa - (u32)(x >> 16 & 0xffff) % f->mantissa);
		break;
	case 4:
		return sign | (fraction >> (x >> 16) % f->mantissa); /* denormal */
	case 5: /* near the ends of the range */
		e = x >> 12 & 1 ? mask_of(f->exponent) - 1 - (x >> 16) % 4
				: 1 + (x >> 16) % (f->mantissa + 4);
		e &= mask_of(f->exponent);
		return sign | e << f->mantissa | fraction;
	default:
		break;
	}
	e = bias + (x >> 24) % (2 * near + 1) - near;
	if (e >= mask_of(f->exponent) || !e)
		e = bias;
	return sign | e << f->mantissa | fraction;
}

static u64 packed(struct formgen_random *r, const struct format *f, u32 n)
{
	u32 bits = 1 + f->exponent + f->mantissa;
	u64 x = 0;

	for (u32 i = 0; i < n; i++)
		x |= (real(r, f) & mask_of(bits)) << i * bits;
	return x;
}

u64 formgen_value(struct formgen_random *r, u32 type)
{
	static const struct format half = {5, 10}, brain = {8, 7}, single = {8, 23},
				   wide = {11, 52}, e4m3 = {4, 3}, e5m2 = {5, 2};
	u32 bits = isa_type_bits(type);

	switch (type) {
	case T_f16:
	case T_f16x2:
		return packed(r, &half, bits / 16);
	case T_bf16:
	case T_bf16x2:
		return packed(r, &brain, bits / 16);
	case T_f32:
	case T_tf32:
		return packed(r, &single, 1);
	case T_f32x2:
		return packed(r, &single, 2);
	case T_f64:
		return packed(r, &wide, 1);
	case T_e4m3x2:
		return packed(r, &e4m3, 2);
	case T_e5m2x2:
		return packed(r, &e5m2, 2);
	case T_u16x2:
	case T_s16x2:
		return (whole(r, 16) & 0xffff) | (whole(r, 16) & 0xffff) << 16;
	case T_pred:
		return formgen_next(r) >> 7 & 1;
	default:
		return whole(r, bits > 64 ? 64 : bits) & mask_of(bits);
	}
}

/* ---- inputs of a kernel ---- */

static bool is_float(u32 type)
{
	return isa_type_class(type) == ISA_FLOAT ||
	       (isa_type_class(type) == ISA_ALT && type != T_u16x2 && type != T_s16x2);
}

/* The same as an operand before it, its opposite, or next to it. */
static u64 related(struct formgen_random *r, u64 other, u32 type)
{
	u32 bits = isa_type_bits(type);

	switch (formgen_below(r, 4)) {
	case 0:
		return other;
	case 1:
		return is_float(type) ? other ^ (u64)1 << (bits - 1) : ~other + 1;
	case 2:
		return other + 1;
	default:
		return other - 1;
	}
}

static u64 for_shuffle(struct formgen_random *r)
{
	u32 width = 1u << formgen_below(r, 6);

	return formgen_chance(r, 30) ? formgen_next(r)
				     : (32 - width) << 8 | (formgen_chance(r, 50) ? 31 : 0);
}

static u64 one_input(struct formgen_random *r, const struct formgen_kernel *k, u32 slot, u64 *in)
{
	u32 type = k->in[slot].type, before = slot ? formgen_below(r, slot) : 0;
	u64 upper = formgen_chance(r, 60) ? formgen_next(r) : 0, x;

	if (slot && formgen_chance(r, 12) && k->in[before].use == FORMGEN_VALUE &&
	    isa_type_bits(k->in[before].type) == isa_type_bits(type))
		x = related(r, in[before * FORMGEN_THREADS], type);
	else
		x = formgen_value(r, type);
	x &= mask_of(isa_type_bits(type));
	return isa_type_bits(type) < 64 ? x | upper << isa_type_bits(type) : x;
}

/* 64 bits of memory: as many values as there is room for. */
static u64 filled(struct formgen_random *r, u32 type)
{
	u32 bits = isa_type_bits(type) < 8 ? 8 : isa_type_bits(type);
	u64 x = 0;

	for (u32 at = 0; at < 64; at += bits)
		x |= (formgen_value(r, type) & mask_of(bits)) << at;
	return x;
}

/* Values of one warp that are often the same, and member masks, which all lanes must agree on. */
static void warp_input(struct formgen_random *r, const struct formgen_slot *s, u64 *in)
{
	u64 few[3], mask = formgen_next(r) & 0xffffffff;
	u32 n = 1 + formgen_below(r, 3);
	bool all = formgen_chance(r, 40), any = formgen_chance(r, 35);

	for (u32 i = 0; i < n; i++)
		few[i] = formgen_value(r, s->type);
	mask = all || !mask ? 0xffffffff : mask;
	for (u32 lane = 0; lane < 32; lane++)
		in[lane] = s->use == FORMGEN_MEMBERS ? mask
			   : any                     ? formgen_value(r, s->type)
						     : few[formgen_below(r, n)];
}

void formgen_inputs(const struct formgen_form *f, const struct formgen_kernel *k, u64 *in)
{
	struct formgen_random r = {formgen_hash(f->name)};

	for (u32 t = 0; t < FORMGEN_THREADS; t++)
		for (u32 i = 0; i < k->ins; i++) {
			const struct formgen_slot *s = &k->in[i];
			u64 *at = in + (size_t)i * FORMGEN_THREADS + t;

			if (s->use == FORMGEN_MEMBERS || s->use == FORMGEN_FEW) {
				if (t % 32 == 0)
					warp_input(&r, s, at);
			} else if (s->use == FORMGEN_SHUFFLE) {
				*at = for_shuffle(&r);
			} else if (s->use == FORMGEN_MEMORY) {
				*at = filled(&r, s->type);
			} else if (s->use == FORMGEN_GUARD) {
				*at = formgen_next(&r) >> 9 & 1;
			} else {
				*at = one_input(&r, k, i, in + t);
			}
		}
}
