/*
 * Texels of block-compressed and packed formats: BC1 to BC5, and 10-10-10-2.
 *
 * A block holds 4 x 4 texels. Colours are two of 5-6-5 bits and an index of 2 bits for each texel,
 * single channels two of 8 bits and an index of 3 bits. Values between the two ends are rounded to
 * 8 bits.
 * Deviation: the hardware keeps more bits of them.
 * Source: the Khronos Data Format Specification, "S3TC" and "RGTC".
 */
#include "src/exec/texture.h"

static u32 widen(u32 v, u32 bits)
{
	return v << (8 - bits) | v >> (2 * bits - 8);
}

static void unpack_565(u32 v, u32 out[3])
{
	out[0] = widen(v >> 11 & 31, 5);
	out[1] = widen(v >> 5 & 63, 6);
	out[2] = widen(v & 31, 5);
}

/* i: texel of the block, row by row. punch: BC1, whose order of ends says whether there is alpha. */
static void read_colour(const u8 *p, u32 i, bool punch, u32 out[4])
{
	u32 c0 = p[0] | (u32)p[1] << 8, c1 = p[2] | (u32)p[3] << 8, a[3], b[3];
	u32 index = p[4 + i / 4] >> 2 * (i % 4) & 3;
	bool three = punch && c0 <= c1;

	unpack_565(c0, a);
	unpack_565(c1, b);
	out[3] = three && index == 3 ? 0 : 255;
	for (u32 k = 0; k < 3; k++) {
		u32 between = index == 2 ? (2 * a[k] + b[k] + 1) / 3 : (a[k] + 2 * b[k] + 1) / 3;

		if (three)
			between = index == 2 ? (a[k] + b[k]) / 2 : 0;
		out[k] = index == 0 ? a[k] : index == 1 ? b[k] : between;
	}
}

/* A block of one channel: two ends and six or four steps between them. */
static u32 read_channel(const u8 *p, u32 i, bool is_signed)
{
	s32 a = is_signed ? (s8)p[0] : p[0], b = is_signed ? (s8)p[1] : p[1], v;
	s32 low = is_signed ? -127 : 0, high = is_signed ? 127 : 255;
	u64 bits = 0;
	s32 index;

	for (u32 k = 0; k < 6; k++)
		bits |= (u64)p[2 + k] << 8 * k;
	index = (s32)(bits >> 3 * i & 7);
	if (index < 2)
		return (u32)(index ? b : a);
	if (a > b)
		v = ((8 - index) * a + (index - 1) * b) / 7;
	else if (index < 6)
		v = ((6 - index) * a + (index - 1) * b) / 5;
	else
		v = index == 6 ? low : high;
	return (u32)v;
}

bool tex_can_read(u32 format)
{
	return mem_format_channel_bytes(format) || format == MEM_FORMAT_RGB10A2 ||
	       (format >= MEM_FORMAT_BC1 && format <= MEM_FORMAT_BC7_SRGB);
}

/* Ten bits, and two, as sixteen. */
static void read_packed(const u8 *p, u32 out[4])
{
	u32 v;

	memcpy(&v, p, 4);
	for (u32 k = 0; k < 3; k++) {
		u32 x = v >> 10 * k & 1023;

		out[k] = x << 6 | x >> 4;
	}
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
						     : read_channel(p, i, false);
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
