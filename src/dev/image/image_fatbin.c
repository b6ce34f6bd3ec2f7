/*
 * Fat binary containers: one header, then entries, each with its own header, strings and payload.
 * Every size is checked against the space its parent gave before anything after it is read.
 */
#include "src/config.h"

#include "src/base/size.h"
#include "src/dev/image/image_int.h"

#include <inttypes.h>

/* A compressed image that grows by more than this is a bomb, not code: real ones stay below 40. */
#define RATIO_MAX 2048u
#define RATIO_SLACK ((u64)1 << 20)

/*
 * A string inside the entry header, from its offset and length at `place`; false when it does not
 * fit.
 */
static bool entry_string(const u8 *e, u32 header, const u8 *place, const char **s, u32 *n)
{
	u32 at = le32(place), len = le32(place + 4);

	if (!len)
		return true;
	if (!size_inside(at, len, 0, header))
		return false;
	*s = (const char *)e + at;
	*n = len;
	/* nvcc counts padding into the length, and puts blanks around options. */
	while (*n && (!(*s)[*n - 1] || (*s)[*n - 1] == ' '))
		--*n;
	while (*n && **s == ' ') {
		++*s;
		--*n;
	}
	if (!*n)
		*s = NULL;
	return true;
}

/* Name and options. `header` bytes at e are known to exist. */
static enum image_result entry_strings(const struct image_list *l, const u8 *e, u32 header,
				       struct image *img)
{
	u32 options = le32(e + ENTRY_OPTIONS_AT);

	if (!entry_string(e, header, e + ENTRY_NAME_AT, &img->source, &img->source_len))
		return image_error(l, e, "the source name of an image lies outside its header");
	if (!options)
		return IMAGE_OK;
	if (!size_inside(options, 8, 0, header) ||
	    !entry_string(e, header, e + options, &img->options, &img->options_len))
		return image_error(l, e, "the options of an image lie outside its header");
	if (img->kind == IMAGE_SASS) { /* a binary note on sm_100 and later, not options */
		img->options = NULL;
		img->options_len = 0;
	}
	return IMAGE_OK;
}

/* Stored and raw sizes. `payload` bytes after the header are known to exist. */
static enum image_result entry_sizes(const struct image_list *l, const u8 *e, u64 payload,
				     u64 flags, struct image *img)
{
	u64 compressed = le32(e + ENTRY_COMPRESSED_AT), raw = le64(e + ENTRY_RAW_AT);

	img->stored_bytes = img->raw_bytes = payload;
	if (img->kind == IMAGE_LTO || !(flags & (ENTRY_LZ4 | ENTRY_ZSTD))) {
		if (img->kind == IMAGE_LTO && raw) {
			img->codec = IMAGE_OTHER;
			img->raw_bytes = raw;
		}
		return IMAGE_OK;
	}
	img->codec = flags & ENTRY_ZSTD ? IMAGE_ZSTD : IMAGE_LZ4;
	if (!compressed || compressed > payload)
		return image_error(
			l, e, "an image of %" PRIu64 " bytes claims %" PRIu64 " compressed bytes",
			payload, compressed);
	if (!raw || raw > IMAGE_RAW_MAX || raw > compressed * RATIO_MAX + RATIO_SLACK)
		return image_error(l, e, "%" PRIu64 " compressed bytes claim to be %" PRIu64,
				   compressed, raw);
	img->stored_bytes = compressed;
	img->raw_bytes = raw;
	return IMAGE_OK;
}

static enum image_result add_entry(struct image_list *l, const u8 *e, size_t size, size_t *used)
{
	struct image img = {0};
	enum image_result r;
	u64 payload, flags;
	u32 header;
	u16 kind;

	if (size < ENTRY_HEADER_BYTES)
		return image_error(l, e, "a container ends inside the header of an image");
	kind = le16(e + ENTRY_KIND_AT);
	header = le32(e + ENTRY_HEADER_SIZE_AT);
	payload = le64(e + ENTRY_PAYLOAD_AT);
	flags = le64(e + ENTRY_FLAGS_AT);
	if (le16(e + ENTRY_VERSION_AT) >> 8 != ENTRY_VERSION >> 8)
		return image_error(l, e, "an image header of version 0x%x; 0x%x is known",
				   le16(e + ENTRY_VERSION_AT), ENTRY_VERSION);
	if (header < ENTRY_HEADER_BYTES || header > size)
		return image_error(l, e, "an image header of %u bytes where %zu are left", header,
				   size);
	if (payload > size - header)
		return image_error(l, e, "an image of %" PRIu64 " bytes where %zu are left",
				   payload, size - header);
	*used = header + (size_t)payload;
	if (kind != IMAGE_PTX && kind != IMAGE_SASS && kind != IMAGE_LTO)
		return IMAGE_OK; /* kinds of other tools and later versions are none of ours */
	img.kind = kind;
	img.target.sm = le32(e + ENTRY_ARCH_AT);
	img.target.suffix = flags & ENTRY_ARCH_SPECIFIC ? 'a' : flags & ENTRY_FAMILY ? 'f' : 0;
	img.isa_major = le16(e + ENTRY_MAJOR_AT);
	img.isa_minor = le16(e + ENTRY_MINOR_AT);
	if (kind == IMAGE_SASS) { /* the two fields hold "8, 1": the ABI version is the minor one */
		img.isa_major = le16(e + ENTRY_MINOR_AT);
		img.isa_minor = 0;
	}
	img.debug = flags & ENTRY_DEBUG;
	img.data = e + header;
	r = entry_strings(l, e, header, &img);
	if (r == IMAGE_OK)
		r = entry_sizes(l, e, payload, flags, &img);
	return r == IMAGE_OK ? image_append(l, &img) : r;
}

enum image_result image_add_container(struct image_list *l, const u8 *p, size_t size, size_t *used)
{
	enum image_result r;
	size_t at, end;

	if (size < FATBIN_HEADER_BYTES)
		return image_error(l, p, "%zu bytes are left where a container begins", size);
	if (le32(p) != FATBIN_MAGIC)
		return image_error(l, p, "0x%08x where a container (0x%08x) should begin", le32(p),
				   FATBIN_MAGIC);
	if (le16(p + 4) != FATBIN_VERSION)
		return image_error(l, p, "a container of version %u; %u is known", le16(p + 4),
				   FATBIN_VERSION);
	at = le16(p + 6);
	if (at < FATBIN_HEADER_BYTES || at > size)
		return image_error(l, p, "a container header of %zu bytes", at);
	if (le64(p + 8) > size - at)
		return image_error(l, p, "a container of %" PRIu64 " bytes where %zu are left",
				   le64(p + 8), size - at);
	end = at + (size_t)le64(p + 8);
	r = image_open_container(l, p);
	while (r == IMAGE_OK && at < end) {
		size_t step = 0;

		r = add_entry(l, p + at, end - at, &step);
		at += step;
	}
	*used = end;
	return r;
}

enum image_result image_add_section(struct image_list *l, const u8 *p, size_t size)
{
	enum image_result r = IMAGE_OK;
	size_t at = 0, used = 0;

	for (;;) {
		while (at < size && !p[at])
			at++;
		if (r != IMAGE_OK || at == size)
			return r;
		r = image_add_container(l, p + at, size - at, &used);
		at += used;
	}
}

enum image_result image_add_scan(struct image_list *l, const u8 *p, size_t size)
{
	static const u8 magic[] = {0x50, 0xed, 0x55, 0xba, FATBIN_VERSION, 0, FATBIN_HEADER_BYTES,
				   0};
	const u8 *end = p + size, *at = p;
	struct diag *diag = l->diag;
	size_t wasted = 0; /* images inside damaged containers: nested ones would cost the square */

	while ((at = memmem(at, (size_t)(end - at), magic, sizeof(magic)))) {
		size_t images = l->images.len, containers = l->containers.len, used = 0;
		struct diag silent;
		enum image_result r;

		diag_init(&silent, NULL, NULL);
		l->diag = &silent;
		r = image_add_container(l, at, (size_t)(end - at), &used);
		l->diag = diag;
		diag_fini(&silent);
		if (r == IMAGE_OK) {
			at += used;
			continue;
		}
		wasted += l->images.len - images;
		if (containers >= IMAGE_COUNT_MAX || images + wasted >= IMAGE_COUNT_MAX)
			return image_error(l, at, "more than %u images", IMAGE_COUNT_MAX);
		l->images.len = images;
		l->containers.len = containers;
		at += sizeof(magic);
	}
	return IMAGE_OK;
}
