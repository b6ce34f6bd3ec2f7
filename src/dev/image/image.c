/*
 * The list of images and its two doors: bytes with a size, and pointers without one.
 */
#include "src/base/size.h"
#include "src/dev/image/image_int.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/*
 * More translation units than any program links: a bound on the list of a wrapper of version
 * 2.
 */
#define PRELINKED_MAX 65536u

void image_list_init(struct image_list *l, struct diag *diag, const char *name)
{
	*l = (struct image_list){.diag = diag, .source.name = name};
}

void image_list_fini(struct image_list *l)
{
	arena_fini(&l->arena);
	VEC_FREE(&l->images);
	VEC_FREE(&l->containers);
}

enum image_result image_error(const struct image_list *l, const u8 *at, const char *fmt, ...)
{
	struct text t = {0};
	va_list args;

	va_start(args, fmt);
	if (l->member)
		text_printf(&t, "member %s: ", l->member);
	text_vprintf(&t, fmt, args);
	if (at)
		text_printf(&t, " (at offset 0x%" PRIx64 ")", (u64)(at - l->base));
	va_end(args);
	diag_at(l->diag, DIAG_ERROR, &l->source, DIAG_NOWHERE, NULL, "%s",
		t.failed ? "out of memory" : t.at);
	text_fini(&t);
	return IMAGE_BAD;
}

enum image_result image_no_memory(const struct image_list *l)
{
	return image_error(l, NULL, "out of memory");
}

enum image_result image_open_container(struct image_list *l, const u8 *at)
{
	struct image_container c = {
		.offset = (u64)(at - l->base), .member = l->member, .first = (u32)l->images.len};

	if (l->containers.len >= IMAGE_COUNT_MAX)
		return image_error(l, at, "more than %u containers", IMAGE_COUNT_MAX);
	return VEC_PUSH(&l->containers, c) ? IMAGE_OK : image_no_memory(l);
}

enum image_result image_append(struct image_list *l, const struct image *img)
{
	struct image copy = *img;

	if (l->images.len >= IMAGE_COUNT_MAX)
		return image_error(l, img->data, "more than %u images", IMAGE_COUNT_MAX);
	copy.container = (u32)l->containers.len - 1;
	copy.offset = (u64)(img->data - l->base);
	if (!VEC_PUSH(&l->images, copy))
		return image_no_memory(l);
	l->containers.at[copy.container].count++;
	return IMAGE_OK;
}

static enum image_result image_add_ptx(struct image_list *l, const u8 *p, size_t size)
{
	struct image img = {.kind = IMAGE_PTX, .data = p, .stored_bytes = size, .raw_bytes = size};
	enum image_result r = image_open_container(l, p);

	image_scan_header((const char *)p, size, &img);
	return r == IMAGE_OK ? image_append(l, &img) : r;
}

enum image_result image_list_add(struct image_list *l, const void *data, size_t size, u32 flags)
{
	const u8 *p = data;
	enum image_result r = IMAGE_NONE;

	l->base = p;
	if (flags & IMAGE_SCAN)
		r = image_add_scan(l, p, size);
	else if (image_is_elf(p, size))
		r = image_add_elf(l, p, size);
	else if (image_is_archive(p, size))
		r = image_add_archive(l, p, size);
	else if (size >= 4 && le32(p) == FATBIN_MAGIC)
		r = image_add_section(l, p, size);
	else if (image_is_ptx(p, size))
		r = image_add_ptx(l, p, size);
	if (r == IMAGE_OK && !l->images.len && !l->containers.len)
		r = IMAGE_NONE;
	return r;
}

/* A container whose only known size is its own word. */
static enum image_result add_unsized_container(struct image_list *l, const u8 *p)
{
	u64 size = FATBIN_HEADER_BYTES;
	size_t used;

	l->base = p;
	if (le32(p) != FATBIN_MAGIC)
		return image_error(l, NULL,
				   "the fat binary registered has magic 0x%08x, not 0x%08x",
				   le32(p), FATBIN_MAGIC);
	if (!size_add(le16(p + 6), le64(p + 8), &size) || size > PTRDIFF_MAX - (u64)(uintptr_t)p)
		return image_error(l, p, "a container claims a size past the end of memory");
	return image_add_container(l, p, (size_t)max_u64(size, FATBIN_HEADER_BYTES), &used);
}

/*
 * The wrapper is a C structure of this process, so its pointers have the size and order of the
 * host's.
 */
static enum image_result add_wrapper(struct image_list *l, const u8 *p)
{
	struct {
		u32 magic, version;
		const u8 *fatbin;
		const u8 *const *prelinked;
	} w;
	enum image_result r = IMAGE_OK;

	memcpy(&w, p, sizeof(w));
	if (w.version != 1 && w.version != 2)
		return image_error(l, NULL, "fat binary wrapper of version %u; 1 and 2 are known",
				   w.version);
	if (!w.fatbin)
		return image_error(l, NULL, "fat binary wrapper without a fat binary");
	r = add_unsized_container(l, w.fatbin);
	if (w.version == 1 || !w.prelinked)
		return r;
	l->linked = w.prelinked[0] != NULL;
	for (u32 i = 0; r == IMAGE_OK && w.prelinked[i]; i++) {
		if (i == PRELINKED_MAX)
			return image_error(l, NULL, "fat binary wrapper lists more than %u units",
					   PRELINKED_MAX);
		r = add_unsized_container(l, w.prelinked[i]);
	}
	return r;
}

enum image_result image_list_add_pointer(struct image_list *l, const void *code)
{
	const u8 *p = code;
	size_t size;

	if (!p)
		return IMAGE_NONE;
	l->base = p;
	/* Bytes are compared one by one: PTX text may end before the fourth. */
	if (p[0] == 0x50 && p[1] == 0xed && p[2] == 0x55 && p[3] == 0xba)
		return add_unsized_container(l, p);
	if (p[0] == 0xb1 && p[1] == 0x43 && p[2] == 0x62 && p[3] == 0x46)
		return add_wrapper(l, p);
	if (p[0] == 0x7f && p[1] == 'E' && p[2] == 'L' && p[3] == 'F') {
		size = image_elf_extent(p);
		return size ? image_add_elf(l, p, size)
			    : image_error(l, p, "the ELF header of this image is damaged");
	}
	size = strlen(code);
	return image_is_ptx(p, size) ? image_add_ptx(l, p, size) : IMAGE_NONE;
}

const char *image_kind_name(enum image_kind kind)
{
	return kind == IMAGE_PTX ? "PTX" : kind == IMAGE_SASS ? "SASS" : "LTO";
}

const char *image_codec_name(enum image_codec codec)
{
	static const char *const names[] = {[IMAGE_PLAIN] = "plain",
					    [IMAGE_LZ4] = "lz4",
					    [IMAGE_ZSTD] = "zstd",
					    [IMAGE_OTHER] = "other"};

	return names[codec];
}

char *image_target_name(const struct image *img, char out[24])
{
	const char *word = img->kind == IMAGE_PTX    ? "compute"
			   : img->kind == IMAGE_SASS ? "sm"
						     : "lto";

	snprintf(out, 24, "%s_%u%.1s", word, img->target.sm, &img->target.suffix);
	return out;
}

bool image_target_parse(const char *s, struct image_target *out)
{
	static const char *const words[] = {"sm_", "compute_"};
	struct image_target t = {0};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strncmp(s, words[i], strlen(words[i]))) {
			s += strlen(words[i]);
			break;
		}
	if (*s < '1' || *s > '9')
		return false;
	while (*s >= '0' && *s <= '9' && t.sm < 100000)
		t.sm = t.sm * 10 + (u32)(*s++ - '0');
	if (*s == 'a' || *s == 'f')
		t.suffix = *s++;
	if (*s || t.sm < 10)
		return false;
	*out = t;
	return true;
}
