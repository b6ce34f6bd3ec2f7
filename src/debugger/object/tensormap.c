/*
 * Tensor maps, in the words of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col.
 */
#include "src/async/tensor.h"
#include "src/debugger/object/object.h"

static const char *const types[TENSOR_TYPES] = {
	"UINT8",   "UINT16",  "UINT32",   "INT32",       "UINT64",   "INT64",        "FLOAT16",
	"FLOAT32", "FLOAT64", "BFLOAT16", "FLOAT32_FTZ", "TFLOAT32", "TFLOAT32_FTZ",
};
static const char *const interleaves[] = {"NONE", "16B", "32B"};
static const char *const swizzles[] = {"NONE", "32B", "64B", "128B"};
static const char *const promotions[] = {"NONE", "L2_64B", "L2_128B", "L2_256B"};
static const char *const fills[] = {"NONE", "NAN_REQUEST_ZERO_FMA"};

static void put_name(struct text *out, const char *field, const char *prefix,
		     const char *const *names, u32 n, u32 value)
{
	if (value < n)
		text_printf(out, ", %s = CU_TENSOR_MAP_%s_%s", field, prefix, names[value]);
	else
		text_printf(out, ", %s = %u", field, value);
}

static void open_list(struct text *out, const char *field)
{
	text_printf(out, ", %s = {", field);
}

static void put_item(struct text *out, u32 i, long long value)
{
	text_printf(out, "%s%lld", i ? ", " : "", value);
}

static void put_tensor(const struct tensor_map *m, struct text *out)
{
	text_printf(out, ", tensorRank = %u, globalAddress = 0x%llx", m->rank,
		    (unsigned long long)m->address);
	open_list(out, "globalDim");
	for (u32 d = 0; d < m->rank; d++)
		put_item(out, d, m->dim[d] ? m->dim[d] : (long long)1 << 32);
	text_puts(out, "}");
	open_list(out, "globalStrides");
	for (u32 d = 0; d + 1 < m->rank; d++)
		put_item(out, d, (long long)m->stride[d]);
	text_puts(out, "}");
}

static void put_box(const struct tensor_map *m, struct text *out)
{
	open_list(out, "boxDim");
	for (u32 d = 0; d < m->rank; d++)
		put_item(out, d, m->box[d]);
	text_puts(out, "}");
}

static void put_pixels(const struct tensor_map *m, struct text *out)
{
	open_list(out, "pixelBoxLowerCorner");
	for (u32 d = 0; d + 2 < m->rank; d++)
		put_item(out, d, m->lower[d]);
	text_puts(out, "}");
	open_list(out, "pixelBoxUpperCorner");
	for (u32 d = 0; d + 2 < m->rank; d++)
		put_item(out, d, m->upper[d]);
	text_printf(out, "}, channelsPerPixel = %u, pixelsPerColumn = %u", m->channels, m->pixels);
}

bool object_tensor_map(const u8 *bytes, struct text *out)
{
	struct tensor_map m;

	memcpy(&m, bytes, sizeof(m));
	if (!tensor_is_sound(&m))
		return false;
	text_printf(out, "{tensorDataType = CU_TENSOR_MAP_DATA_TYPE_%s", types[m.type]);
	put_tensor(&m, out);
	(m.im2col ? put_pixels : put_box)(&m, out);
	open_list(out, "elementStrides");
	for (u32 d = 0; d < m.rank; d++)
		put_item(out, d, m.step[d]);
	text_puts(out, "}");
	put_name(out, "interleave", "INTERLEAVE", interleaves, ARRAY_LEN(interleaves),
		 m.interleave);
	put_name(out, "swizzle", "SWIZZLE", swizzles, ARRAY_LEN(swizzles), m.swizzle);
	put_name(out, "l2Promotion", "L2_PROMOTION", promotions, ARRAY_LEN(promotions),
		 m.promotion);
	put_name(out, "oobFill", "FLOAT_OOB_FILL", fills, ARRAY_LEN(fills), m.fill);
	text_puts(out, "}");
	return true;
}
