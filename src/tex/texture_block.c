/*
 * Texels of block-compressed and packed formats: BC1 to BC5, and 10-10-10-2.
 *
 * A block holds 4 x 4 texels. Colours are two of 5-6-5 bits and an index of 2 bits for each texel,
 * single channels two of 8 bits and an index of 3 bits. Colours come out with 8 bits, single
 * channels with 16, by the hardware's own arithmetic: measured on an H200 over all texels of random
 * blocks.
 * Source: the Khronos Data Format Specification, "S3TC" and "RGTC".
 */
#include "src/tex/texture.h"

static u32 widen_few(u32 v, u32 bits)
{
	return v << (8 - bits) | v >> (2 * bits - 8);
}

/* Red or blue, 5 bits: a third or half of the way, by multiples of 255/31 rounded to 1/8. */
static u32 between_five(u32 a, u32 b, bool half)
{
	return half ? (a + b) * 33 / 8 : (2 * a + b) * 22 / 8;
}

/* Green, 6 bits: by 1/256 of the way between the widened ends. */
static u32 between_six(u32 a, u32 b, bool half)
{
	s32 x = (s32)widen_few(a, 6), d = (s32)widen_few(b, 6) - x;

	return (u32)(256 * x + d / 4 + 128 + d * (half ? 128 : 80)) / 256;
}

/*
 * i: texel of the block, row by row. punch: BC1, whose order of ends says whether there is alpha.
 */
static void read_colour(const u8 *p, u32 i, bool punch, u32 out[4])
{
	u32 c0 = p[0] | (u32)p[1] << 8, c1 = p[2] | (u32)p[3] << 8, a = c0, b = c1;
	u32 index = p[4 + i / 4] >> 2 * (i % 4) & 3;
	bool three = punch && c0 <= c1;

	out[0] = out[1] = out[2] = 0;
	out[3] = three && index == 3 ? 0 : 255;
	if (three && index == 3)
		return;
	if (index & 1) {
		a = c1;
		b = c0;
	}
	if (index < 2) {
		out[0] = widen_few(a >> 11, 5);
		out[1] = widen_few(a >> 5 & 63, 6);
		out[2] = widen_few(a & 31, 5);
		return;
	}
	out[0] = between_five(a >> 11, b >> 11, three);
	out[1] = between_six(a >> 5 & 63, b >> 5 & 63, three);
	out[2] = between_five(a & 31, b & 31, three);
}

/*
 * Weights of the second end, by index: of all and of four steps; signed ones in 1/258, else in
 * 1/257.
 */
static const u16 channel_weights[2][2][8] = {
	{{0, 257, 36, 72, 113, 144, 185, 221}, {0, 257, 48, 96, 161, 209}},
	{{0, 258, 36, 72, 114, 144, 186, 222}, {0, 258, 48, 96, 162, 210}},
};

/* The same of the alpha of BC3, in 1/2048. */
static const u16 alpha_weights[2][8] = {
	{0, 2048, 289, 578, 892, 1156, 1470, 1759},
	{0, 2048, 385, 770, 1278, 1663},
};

/* Index of a texel in a block of one channel. */
static u32 channel_index(const u8 *p, u32 i)
{
	u64 bits = 0;

	for (u32 k = 0; k < 6; k++)
		bits |= (u64)p[2 + k] << 8 * k;
	return bits >> 3 * i & 7;
}

/* Indices 6 and 7 after four steps are the least and the largest value. */
static bool is_extreme(const u8 *p, u32 index, bool is_signed)
{
	return index > 5 && (is_signed ? (s8)p[0] <= (s8)p[1] : p[0] <= p[1]);
}

/* Alpha of BC3, rounded to 8 bits. */
static u32 read_alpha(const u8 *p, u32 i)
{
	u32 index = channel_index(p, i), w;

	if (is_extreme(p, index, false))
		return index == 6 ? 0 : 255;
	w = alpha_weights[p[0] <= p[1]][index];
	return (p[0] * (2048 - w) + p[1] * w + 1024) >> 11;
}

/*
 * A block of one channel: two ends and six or four steps between them, 16 bits wide. A signed end v
 * is 258 v, and one more from 64 on: which end gives that is by weight.
 */
static u32 read_channel(const u8 *p, u32 i, bool is_signed)
{
	s32 a = is_signed ? (s8)p[0] : p[0], b = is_signed ? (s8)p[1] : p[1], more;
	s32 whole = is_signed ? 258 : 257, w;
	u32 index = channel_index(p, i);

	if (is_extreme(p, index, is_signed))
		return index == 6 ? (is_signed ? (u32)-32767 : 0) : (is_signed ? 32767 : 65535);
	w = channel_weights[is_signed][a <= b][index];
	a = a < -127 ? -127 : a;
	b = b < -127 ? -127 : b;
	more = w < 114 || w == 144 ? a : b;
	more = !is_signed ? 0 : more >= 64 ? 1 : more <= -64 ? -1 : 0;
	return (u32)(a * (whole - w) + b * w + more);
}

bool tex_can_read(u32 format)
{
	return mem_format_channel_bytes(format) || format == MEM_FORMAT_RGB10A2 ||
	       (format >= MEM_FORMAT_BC1 && format <= MEM_FORMAT_BC7_SRGB);
}

/* Three of ten bits, as they are; two bits as sixteen. */
static void read_packed(const u8 *p, u32 out[4])
{
	u32 v;

	memcpy(&v, p, 4);
	for (u32 k = 0; k < 3; k++)
		out[k] = v >> 10 * k & 1023;
	out[3] = (v >> 30) * 0x5555;
}

void tex_read_block(const struct tex_image *im, const struct tex_level *l, const s64 at[3],
		    u32 out[4])
{
	u32 block = mem_format_block(im->format), i = (u32)(at[1] % block * 4 + at[0] % block);
	const u8 *p = l->base + (u64)at[2] * l->slice + (u64)at[1] / block * l->pitch +
		      (u64)at[0] / block * im->element_bytes;
	bool is_signed = im->format == MEM_FORMAT_BC4 + 1 || im->format == MEM_FORMAT_BC5 + 1;

	memset(out, 0, 4 * sizeof(*out));
	if (im->format == MEM_FORMAT_RGB10A2) {
		read_packed(p, out);
	} else if (im->format < MEM_FORMAT_BC2) {
		read_colour(p, i, true, out);
	} else if (im->format < MEM_FORMAT_BC4) {
		read_colour(p + 8, i, false, out);
		out[3] = im->format < MEM_FORMAT_BC3 ? (p[i / 2] >> 4 * (i % 2) & 15) * 17u
						     : read_alpha(p, i);
	} else if (im->format >= MEM_FORMAT_BC7) {
		tex_read_bc7(p, i, out);
	} else if (im->format >= MEM_FORMAT_BC6H) {
		tex_read_bc6h(p, i, im->format > MEM_FORMAT_BC6H, out);
	} else {
		out[0] = read_channel(p, i, is_signed);
		if (im->format >= MEM_FORMAT_BC5)
			out[1] = read_channel(p + 8, i, is_signed);
	}
}
