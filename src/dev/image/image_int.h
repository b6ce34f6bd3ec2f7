/*
 * Private to src/dev/image*.c: numbers of the container format and the searchers used by
 * image_list_add.
 */
#ifndef PL_DEV_IMAGE_INT_H
#define PL_DEV_IMAGE_INT_H

#include "src/dev/image/image.h"

#define FATBIN_MAGIC 0xba55ed50u
#define WRAPPER_MAGIC 0x466243b1u

/* Container header: magic u32, version u16, header size u16, size of what follows u64. */
#define FATBIN_HEADER_BYTES 16u
#define FATBIN_VERSION 1u

/* Entry header, offsets of its fields; all little-endian. */
#define ENTRY_HEADER_BYTES 64u
#define ENTRY_VERSION 0x101u
enum entry_field {
	ENTRY_KIND_AT = 0,        /* u16 */
	ENTRY_VERSION_AT = 2,     /* u16 */
	ENTRY_HEADER_SIZE_AT = 4, /* u32, with the strings after the fixed part */
	ENTRY_PAYLOAD_AT = 8,     /* u64, padded to 8 */
	ENTRY_COMPRESSED_AT = 16, /* u32, exact; 0 when stored plain */
	ENTRY_OPTIONS_AT = 20,    /* u32, offset of {u32 offset, u32 length}; 0: none */
	ENTRY_MINOR_AT = 24,      /* u16 */
	ENTRY_MAJOR_AT = 26,      /* u16 */
	ENTRY_ARCH_AT = 28,       /* u32 */
	ENTRY_NAME_AT = 32,       /* u32 offset, u32 length */
	ENTRY_FLAGS_AT = 40,      /* u64 */
	ENTRY_RAW_AT = 56,        /* u64, 0 when stored plain */
};
enum entry_flag {
	ENTRY_64BIT = 0x1,
	ENTRY_DEBUG = 0x2,
	ENTRY_LINUX = 0x10,
	ENTRY_LZ4 = 0x2000,
	ENTRY_ZSTD = 0x8000,
	ENTRY_ARCH_SPECIFIC = 0x100000,
	ENTRY_FAMILY = 0x200000,
};

/* More images than any real file has: a bound for files made to exhaust memory. */
#define IMAGE_COUNT_MAX 1000000u

static inline u16 le16(const u8 *p)
{
	return (u16)(p[0] | p[1] << 8);
}

static inline u32 le32(const u8 *p)
{
	return le16(p) | (u32)le16(p + 2) << 16;
}

static inline u64 le64(const u8 *p)
{
	return le32(p) | (u64)le32(p + 4) << 32;
}

/* Report an error about the byte at `at` (NULL: about the whole); returns IMAGE_BAD. */
enum image_result image_error(const struct image_list *l, const u8 *at, const char *fmt, ...)
	PL_PRINTF(3, 4);
enum image_result image_no_memory(const struct image_list *l);

/* Start a container at `at`, and add an image to the last one. */
enum image_result image_open_container(struct image_list *l, const u8 *at);
enum image_result image_append(struct image_list *l, const struct image *img);

/* One container of at most `size` bytes; *used gets its length. */
enum image_result image_add_container(struct image_list *l, const u8 *p, size_t size, size_t *used);
/* Containers one after the other with zero bytes between them, as in a section. */
enum image_result image_add_section(struct image_list *l, const u8 *p, size_t size);
/* Every container found in any bytes; damaged ones are taken for something else and skipped. */
enum image_result image_add_scan(struct image_list *l, const u8 *p, size_t size);

enum image_result image_add_elf(struct image_list *l, const u8 *p, size_t size);
enum image_result image_add_archive(struct image_list *l, const u8 *p, size_t size);

bool image_is_elf(const u8 *p, size_t size);
bool image_is_archive(const u8 *p, size_t size);
/* True when the first thing after blanks and comments is the `.version` directive. */
bool image_is_ptx(const u8 *p, size_t size);

/* Length of an ELF file in memory, from its headers alone; 0 when they are invalid. */
size_t image_elf_extent(const u8 *p);
/*
 * Section `.nv_debug_ptx_txt` of a cubin, with -rdc `.nv_debug_ptx_txt.HASH` and one per unit:
 * *number of them are passed over and counted down. NULL: there are fewer.
 */
const u8 *image_elf_debug_text(const u8 *p, size_t size, u32 *number, size_t *len);

/* First `.version` and `.target` of PTX text; fields not found stay as they are. */
void image_scan_header(const char *text, size_t size, struct image *img);

#endif
