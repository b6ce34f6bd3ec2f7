/*
 * Texels of BC6H and BC7: blocks of 4 x 4 texels in several modes, whose texels fall into one to
 * three parts, each with two ends and an index of 2 to 4 bits for each of its texels.
 *
 * A fetch reads one texel, so nothing else of its block is unpacked. Source: the Khronos Data
 * Format Specification, "BPTC Compressed Texture Image Formats"; every mode and partition measured
 * on an H200.
 */
#include "src/tex/texture.h"

struct block {
	u64 low, high;
};

/* Bits at .. at + n - 1, n at most 32. */
static u32 bits_at(const struct block *b, u32 at, u32 n)
{
	u64 v;

	if (!n)
		return 0;
	if (at >= 64)
		v = b->high >> (at - 64);
	else
		v = b->low >> at | (at ? b->high << (64 - at) : 0);
	return (u32)(v & ((1ull << n) - 1));
}

static struct block load_block(const u8 *p)
{
	struct block b;

	memcpy(&b.low, p, 8);
	memcpy(&b.high, p + 8, 8);
	return b;
}

/* ---- partitions and indices ---- */

struct parts {
	u32 map;      /* part of each texel: one bit of two parts, two bits of three */
	u8 anchor[2]; /* whose index lacks its upper bit, beside texel 0 */
};

static const struct parts two_parts[64] = {
#define TWO_PARTS(map, anchor) {map, {anchor, anchor}},
#include "src/tex/texture_bptc.def"
#undef TWO_PARTS
};
static const struct parts three_parts[64] = {
#define THREE_PARTS(map, second, third) {map, {second, third}},
#include "src/tex/texture_bptc.def"
#undef THREE_PARTS
};
static const struct parts one_part = {0, {0, 0}};

static const struct parts *partition_of(u32 count, u32 partition)
{
	return count == 1   ? &one_part
	       : count == 2 ? &two_parts[partition]
			    : &three_parts[partition];
}

static u32 part_of(const struct parts *p, u32 count, u32 i)
{
	return count == 1 ? 0 : count == 2 ? p->map >> i & 1 : p->map >> 2 * i & 3;
}

/* Index of texel i, n bits wide; the indices begin at bit `at`. */
static u32 index_at(const struct block *b, u32 at, u32 n, const struct parts *p, u32 count, u32 i)
{
	bool second = count > 1 && i == p->anchor[0], third = count > 2 && i == p->anchor[1];
	u32 before = i > 0;

	before += count > 1 && i > p->anchor[0];
	before += count > 2 && i > p->anchor[1];
	return bits_at(b, at + i * n - before, n - (!i || second || third));
}

/* Weight of the second end, in 1/64, by index of 2 to 4 bits. */
static u32 weight_of(u32 index, u32 bits)
{
	static const u8 weights[3][16] = {
		{0, 21, 43, 64},
		{0, 9, 18, 27, 37, 46, 55, 64},
		{0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64},
	};

	return weights[bits - 2][index];
}

static s32 between(s32 a, s32 b, u32 weight)
{
	return (a * (64 - (s32)weight) + b * (s32)weight + 32) >> 6;
}

/* ---- BC7 ---- */

struct colour_mode {
	u8 parts, partition_bits, rotation_bits, swap_bits, colour_bits, alpha_bits;
	u8 end_low_bits;  /* a lowest bit for each end, */
	u8 part_low_bits; /* or for each part */
	u8 index_bits, more_index_bits;
};

static const struct colour_mode colour_modes[8] = {
	{3, 4, 0, 0, 4, 0, 1, 0, 3, 0}, {2, 6, 0, 0, 6, 0, 0, 1, 3, 0},
	{3, 6, 0, 0, 5, 0, 0, 0, 2, 0}, {2, 6, 0, 0, 7, 0, 1, 0, 2, 0},
	{1, 0, 2, 1, 5, 6, 0, 0, 2, 3}, {1, 0, 2, 0, 7, 8, 0, 0, 2, 2},
	{1, 0, 0, 0, 7, 7, 1, 0, 4, 0}, {2, 6, 0, 0, 5, 5, 1, 0, 2, 0},
};

/* Widen a channel of `bits` bits, at least 4, to 8. */
static u32 widen_many(u32 v, u32 bits)
{
	v <<= 8 - bits;
	return v | v >> bits;
}

/* The two ends of a part, four channels each. Returns the bit after all ends. */
static u32 colour_ends(const struct block *b, const struct colour_mode *m, u32 at, u32 part,
		       u32 end[2][4])
{
	u32 ends = 2 * m->parts, low_at = at + ends * (3 * m->colour_bits + m->alpha_bits);
	bool low = m->end_low_bits || m->part_low_bits;

	for (u32 e = 0; e < 2; e++) {
		u32 which = 2 * part + e;
		u32 bit = bits_at(b, low_at + (m->end_low_bits ? which : part), 1);

		for (u32 c = 0; c < 4; c++) {
			u32 n = c < 3 ? m->colour_bits : m->alpha_bits;
			u32 v = bits_at(b, at + c * ends * m->colour_bits + which * n, n);

			end[e][c] = !n    ? 255
				    : low ? widen_many(v << 1 | bit, n + 1)
					  : widen_many(v, n);
		}
	}
	return low_at + (m->end_low_bits ? ends : m->part_low_bits ? m->parts : 0);
}

void tex_read_bc7(const u8 *p, u32 i, u32 out[4])
{
	struct block b = load_block(p);
	u32 mode = (u32)__builtin_ctz((u32)p[0] | 0x100), at = mode + 1, end[2][4], spin, swap,
	    w[2];
	const struct colour_mode *m;
	const struct parts *parts;

	memset(out, 0, 4 * sizeof(*out));
	if (mode == ARRAY_LEN(colour_modes))
		return;
	m = &colour_modes[mode];
	parts = partition_of(m->parts, bits_at(&b, at, m->partition_bits));
	at += m->partition_bits;
	spin = bits_at(&b, at, m->rotation_bits);
	at += m->rotation_bits;
	swap = bits_at(&b, at, m->swap_bits);
	at = colour_ends(&b, m, at + m->swap_bits, part_of(parts, m->parts, i), end);
	w[0] = w[1] = weight_of(index_at(&b, at, m->index_bits, parts, m->parts, i), m->index_bits);
	if (m->more_index_bits) {
		at += 16 * m->index_bits - 1;
		w[1] = weight_of(index_at(&b, at, m->more_index_bits, &one_part, 1, i),
				 m->more_index_bits);
	}
	for (u32 c = 0; c < 4; c++)
		out[c] = (u32)between((s32)end[0][c], (s32)end[1][c], w[swap ^ (c == 3)]);
	if (spin) {
		u32 alpha = out[3];

		out[3] = out[spin - 1];
		out[spin - 1] = alpha;
	}
}

/* ---- BC6H ---- */

/* Bits low .. low + n - 1 of a channel of an end. */
struct run {
	u8 channel, end, low, n;
};

#define RUNS 24u

struct float_mode {
	u8 bits, step_bits[3];
	bool steps; /* ends beside the first are differences from it */
	struct run runs[RUNS];
};

#define R(end, low, n) {0, end, low, n},
#define G(end, low, n) {1, end, low, n},
#define B(end, low, n) {2, end, low, n},
static const struct float_mode float_modes[32] = {
#define FLOAT_MODE(number, bits, r, g, b, steps, runs) [number] = {bits, {r, g, b}, steps, {runs}},
#include "src/tex/texture_bptc.def"
#undef FLOAT_MODE
};
#undef R
#undef G
#undef B

static s32 sign_extend(u32 v, u32 bits)
{
	return (s32)(v << (32 - bits)) >> (32 - bits);
}

/* From `bits` bits to 16, and a sign. */
static s32 unquantize(s32 v, u32 bits, bool is_signed)
{
	s32 m = v < 0 ? -v : v;

	if (!is_signed) {
		if (bits >= 15 || !v)
			return v;
		return v == (1 << bits) - 1 ? 0xffff : (s32)((((u32)v << 16) + 0x8000) >> bits);
	}
	if (bits >= 16 || !v)
		return v;
	m = m >= (1 << (bits - 1)) - 1 ? 0x7fff : (s32)((((u32)m << 15) + 0x4000) >> (bits - 1));
	return v < 0 ? -m : m;
}

/* An end's channel, 16 bits wide. */
static s32 float_end(const struct float_mode *m, const u32 raw[4], u32 end, u32 channel,
		     bool is_signed)
{
	u32 v = raw[end], mask = (u32)((1ull << m->bits) - 1);

	if (end && m->steps)
		v = (raw[0] + (u32)sign_extend(v, m->step_bits[channel])) & mask;
	return unquantize(is_signed ? sign_extend(v, m->bits) : (s32)v, m->bits, is_signed);
}

void tex_read_bc6h(const u8 *p, u32 i, bool is_signed, u32 out[4])
{
	struct block b = load_block(p);
	u32 mode = p[0] & 2 ? p[0] & 31u : p[0] & 1u, at = p[0] & 2 ? 5 : 2, count, raw[3][4], n;
	const struct float_mode *m = &float_modes[mode];
	const struct parts *parts;

	memset(out, 0, 4 * sizeof(*out));
	memset(raw, 0, sizeof(raw));
	if (!m->bits)
		return;
	for (u32 k = 0; k < RUNS && m->runs[k].n; k++) {
		const struct run *r = &m->runs[k];

		raw[r->channel][r->end] |= bits_at(&b, at, r->n) << r->low;
		at += r->n;
	}
	/* Modes of one part have the bits 0 and 1 set. */
	count = (mode & 3) == 3 ? 1 : 2;
	parts = partition_of(count, count == 2 ? bits_at(&b, at, 5) : 0);
	at += count == 2 ? 5 : 0;
	n = count == 2 ? 3 : 4;
	for (u32 c = 0; c < 3; c++) {
		u32 end = 2 * part_of(parts, count, i);
		s32 v = between(float_end(m, raw[c], end, c, is_signed),
				float_end(m, raw[c], end + 1, c, is_signed),
				weight_of(index_at(&b, at, n, parts, count, i), n));
		u32 size = (u32)(v < 0 ? -v : v);

		out[c] = is_signed ? (v < 0 ? 0x8000u : 0) | size * 31 >> 5 : size * 31 >> 6;
	}
}
