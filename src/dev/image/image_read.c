/*
 * From stored bytes to PTX text or a cubin: decompression, and the text in the debug section of
 * cubins.
 */
#include "src/dev/image/image_int.h"

#include <inttypes.h>
#include <lz4.h>
#include <zstd.h>

void image_bytes_fini(struct image_bytes *b)
{
	free(b->owned);
	*b = (struct image_bytes){0};
}

static bool unpack_zstd(u8 *to, size_t raw, const u8 *from, size_t stored)
{
	size_t n = ZSTD_decompress(to, raw, from, stored);

	return !ZSTD_isError(n) && n == raw;
}

static bool unpack_lz4(u8 *to, size_t raw, const u8 *from, size_t stored)
{
	if (stored > LZ4_MAX_INPUT_SIZE || raw > LZ4_MAX_INPUT_SIZE)
		return false;
	return LZ4_decompress_safe((const char *)from, (char *)to, (int)stored, (int)raw) ==
	       (int)raw;
}

enum image_result image_read(const struct image_list *l, const struct image *img,
			     struct image_bytes *out)
{
	u8 *to;
	bool ok;

	*out = (struct image_bytes){0};
	if (img->kind == IMAGE_LTO)
		return IMAGE_NONE;
	if (img->codec == IMAGE_PLAIN) {
		*out = (struct image_bytes){.data = img->data, .size = (size_t)img->stored_bytes};
		return IMAGE_OK;
	}
	to = malloc((size_t)img->raw_bytes);
	if (!to)
		return image_no_memory(l);
	ok = (img->codec == IMAGE_ZSTD ? unpack_zstd : unpack_lz4)(
		to, (size_t)img->raw_bytes, img->data, (size_t)img->stored_bytes);
	if (!ok) {
		free(to);
		return image_error(
			l, img->data,
			"image %u: its %s data are damaged, or not the %" PRIu64 " bytes promised",
			(u32)(img - l->images.at), image_codec_name(img->codec), img->raw_bytes);
	}
	*out = (struct image_bytes){.data = to, .size = (size_t)img->raw_bytes, .owned = to};
	return IMAGE_OK;
}

/* Replace a cubin by a copy of a debug text. There, NUL ends each line. */
static enum image_result take_debug_text(const struct image_list *l, u32 number,
					 struct image_bytes *b)
{
	size_t size = 0;
	const u8 *from = image_elf_debug_text(b->data, b->size, &number, &size);
	u8 *to;

	if (!from) {
		image_bytes_fini(b);
		return IMAGE_NONE;
	}
	to = malloc(size);
	if (!to) {
		image_bytes_fini(b);
		return image_no_memory(l);
	}
	for (size_t i = 0; i < size; i++)
		to[i] = from[i] ? from[i] : '\n';
	image_bytes_fini(b);
	*b = (struct image_bytes){.data = to, .size = size, .owned = to};
	return IMAGE_OK;
}

enum image_result image_read_ptx(const struct image_list *l, const struct image *img, u32 number,
				 struct image_bytes *out)
{
	enum image_result r = IMAGE_NONE;
	const u8 *end;

	*out = (struct image_bytes){0};
	if (img->kind == IMAGE_SASS || !number)
		r = image_read(l, img, out);
	if (r != IMAGE_OK)
		return r;
	if (img->kind == IMAGE_SASS)
		return take_debug_text(l, number, out);
	end = memchr(out->data, 0, out->size);
	if (end)
		out->size = (size_t)(end - out->data);
	return IMAGE_OK;
}
