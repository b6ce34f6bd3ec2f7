/*
 * Texels: how the bits of each format become values.
 */
#include "src/tex/texture.h"

u32 tex_class_of(u32 format)
{
	switch (format) {
	case MEM_FORMAT_S8:
	case MEM_FORMAT_S16:
	case MEM_FORMAT_S32:
		return TEX_SINT;
	case MEM_FORMAT_F16:
		return TEX_F16;
	case MEM_FORMAT_F32:
		return TEX_F32;
	default:
		break;
	}
	if (format >= MEM_FORMAT_UNORM8X1 && format < MEM_FORMAT_UNORM16X1)
		return TEX_UNORM8;
	if (format >= MEM_FORMAT_UNORM16X1 && format < MEM_FORMAT_SNORM8X1)
		return TEX_UNORM16;
	if (format >= MEM_FORMAT_SNORM8X1 && format < MEM_FORMAT_SNORM16X1)
		return TEX_SNORM8;
	if (format >= MEM_FORMAT_SNORM16X1 && format <= MEM_FORMAT_SNORM16X4)
		return TEX_SNORM16;
	if (format >= MEM_FORMAT_BC1 && format < MEM_FORMAT_BC4)
		return (format - MEM_FORMAT_BC1) % 2 ? TEX_SRGB8 : TEX_UNORM8;
	if (format == MEM_FORMAT_BC4 || format == MEM_FORMAT_BC5)
		return TEX_UNORM16;
	if (format == MEM_FORMAT_BC4 + 1 || format == MEM_FORMAT_BC5 + 1)
		return TEX_SNORM16;
	if (format == MEM_FORMAT_BC6H || format == MEM_FORMAT_BC6H + 1)
		return TEX_F16;
	if (format == MEM_FORMAT_BC7 || format == MEM_FORMAT_BC7_SRGB)
		return format == MEM_FORMAT_BC7 ? TEX_UNORM8 : TEX_SRGB8;
	return format == MEM_FORMAT_RGB10A2 ? TEX_UNORM10 : TEX_UINT;
}

u32 tex_from_half(u32 half)
{
	u32 sign = half >> 15 << 31, e = half >> 10 & 31, m = half & 1023;

	if (e == 31)
		return sign | 0x7f800000 | m << 13;
	if (!e)
		return sign | bits_f32((f32)m * 0x1p-24f);
	return sign | (e + 112) << 23 | m << 13;
}

u32 tex_to_half(u32 bits)
{
	u32 sign = bits >> 16 & 0x8000, m = bits & 0x7fffffff, e = m >> 23, shift, rest, h;

	if (m > 0x7f800000)
		return 0x7fff;
	if (m >= 0x477ff000)
		return sign | 0x7c00;
	if (e < 102)
		return sign;
	shift = e < 113 ? 126 - e : 13;
	h = e < 113 ? ((m & 0x7fffff) | 0x800000) : m - 0x38000000;
	rest = h & ((1u << shift) - 1);
	h >>= shift;
	h += rest > 1u << (shift - 1) || (rest == 1u << (shift - 1) && (h & 1));
	return sign | h;
}

static u32 load_bytes(const u8 *p, u32 bytes)
{
	u16 half;
	u32 word;

	if (bytes == 1)
		return *p;
	if (bytes == 2) {
		memcpy(&half, p, 2);
		return half;
	}
	memcpy(&word, p, 4);
	return word;
}

/* Sign-extend the channels of signed formats. */
static u32 extend_channel(u32 class, u32 bytes, u32 v)
{
	if (class != TEX_SINT && class != TEX_SNORM8 && class != TEX_SNORM16)
		return v;
	return bytes == 1 ? (u32)(s32)(s8)v : bytes == 2 ? (u32)(s32)(s16)v : v;
}

static void read_plain(const struct tex_image *im, const struct tex_level *l, const s64 at[3],
		       u32 out[4])
{
	const u8 *p = l->base + (u64)at[2] * l->slice + (u64)at[1] * l->pitch +
		      (u64)at[0] * im->element_bytes;

	for (u32 i = 0; i < 4; i++)
		out[i] = i < im->channels ? extend_channel(im->class, im->channel_bytes,
							   load_bytes(p + i * im->channel_bytes,
								      im->channel_bytes))
					  : 0;
}

void tex_read(const struct tex_image *im, const struct tex_level *l, const s64 at[3], u32 out[4])
{
	if (!im->channel_bytes) {
		tex_read_block(im, l, at, out);
		return;
	}
	read_plain(im, l, at, out);
}
