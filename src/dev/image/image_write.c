/*
 * Writing fat binaries and cubins, so that PTX made by any compiler can be embedded in a host
 * program, and so that tests need no vendor tool. The layout is that of nvcc 13: name, then
 * options, then the payload, each padded to 8 bytes.
 */
#include "src/dev/image/image_int.h"

#include <elf.h>
#include <lz4.h>
#include <zstd.h>

#define CUBIN_MACHINE 190 /* EM_CUDA */
#define CUBIN_ABI 8       /* whose e_flags have the SM in their second byte */

/* Module files are written once and read often, but must also be quick to make. */
#define ZSTD_LEVEL 9

static void put_little_endian(u8 *p, u64 value, u32 bytes)
{
	for (u32 i = 0; i < bytes; i++)
		p[i] = (u8)(value >> 8 * i);
}

/* The bytes to compress: PTX gets its NUL. The caller frees. */
static u8 *raw_copy(const struct image_spec *s, size_t *size)
{
	bool is_ptx = s->kind == IMAGE_PTX;
	u8 *p = malloc(s->size + 1);

	if (!p)
		return NULL;
	if (s->size)
		memcpy(p, s->data, s->size);
	p[s->size] = 0;
	*size = s->size + is_ptx;
	return p;
}

/*
 * Compress into new memory. The caller frees; NULL without memory or when the codec refuses the
 * size.
 */
static u8 *compress(enum image_codec codec, const u8 *raw, size_t size, size_t *stored)
{
	size_t room = codec == IMAGE_ZSTD          ? ZSTD_compressBound(size)
		      : size <= LZ4_MAX_INPUT_SIZE ? (size_t)LZ4_compressBound((int)size)
						   : 0;
	u8 *to = room ? malloc(room) : NULL;
	size_t n;

	if (!to)
		return NULL;
	if (codec == IMAGE_ZSTD)
		n = ZSTD_compress(to, room, raw, size, ZSTD_LEVEL);
	else
		n = (size_t)LZ4_compress_default((const char *)raw, (char *)to, (int)size,
						 (int)room);
	if (!n || ZSTD_isError(n)) {
		free(to);
		return NULL;
	}
	*stored = n;
	return to;
}

static u64 entry_flags(const struct image_spec *s)
{
	u64 flags = ENTRY_64BIT | ENTRY_LINUX;

	flags |= s->debug ? ENTRY_DEBUG : 0;
	flags |= s->codec == IMAGE_ZSTD ? ENTRY_ZSTD : s->codec == IMAGE_LZ4 ? ENTRY_LZ4 : 0;
	flags |= s->target.suffix == 'a'   ? ENTRY_ARCH_SPECIFIC
		 : s->target.suffix == 'f' ? ENTRY_FAMILY
					   : 0;
	return flags;
}

static void pad_to_8(struct text *out, size_t n)
{
	text_add(out, "\0\0\0\0\0\0\0", (8 - n % 8) % 8);
}

static void write_entry(struct text *out, const struct image_spec *s, const u8 *stored,
			size_t stored_bytes, size_t raw_bytes)
{
	size_t name = s->source ? strlen(s->source) : 0,
	       options = s->options ? strlen(s->options) : 0;
	size_t options_at = ENTRY_HEADER_BYTES + (size_t)align_up(name, 8);
	size_t header = options_at + (options ? 8 + (size_t)align_up(options, 8) : 0);
	bool is_ptx = s->kind == IMAGE_PTX, packed = s->codec != IMAGE_PLAIN;
	u8 h[ENTRY_HEADER_BYTES] = {0}, o[8];

	put_little_endian(h + ENTRY_KIND_AT, s->kind, 2);
	put_little_endian(h + ENTRY_VERSION_AT, ENTRY_VERSION, 2);
	put_little_endian(h + ENTRY_HEADER_SIZE_AT, header, 4);
	put_little_endian(h + ENTRY_PAYLOAD_AT, align_up(stored_bytes, 8), 8);
	put_little_endian(h + ENTRY_COMPRESSED_AT, packed ? stored_bytes : 0, 4);
	put_little_endian(h + ENTRY_OPTIONS_AT, options ? options_at : 0, 4);
	put_little_endian(h + ENTRY_MINOR_AT, is_ptx ? s->isa_minor : s->isa_major, 2);
	put_little_endian(h + ENTRY_MAJOR_AT, is_ptx ? s->isa_major : 1, 2);
	put_little_endian(h + ENTRY_ARCH_AT, s->target.sm, 4);
	put_little_endian(h + ENTRY_NAME_AT, name ? ENTRY_HEADER_BYTES : 0, 4);
	put_little_endian(h + ENTRY_NAME_AT + 4, name, 4);
	put_little_endian(h + ENTRY_FLAGS_AT, entry_flags(s), 8);
	put_little_endian(h + ENTRY_RAW_AT, packed ? raw_bytes : 0, 8);
	text_add(out, (const char *)h, sizeof(h));
	if (name) {
		text_add(out, s->source, name);
		pad_to_8(out, name);
	}
	if (options) {
		put_little_endian(o, options_at + 8, 4);
		put_little_endian(o + 4, options, 4);
		text_add(out, (const char *)o, sizeof(o));
		text_add(out, s->options, options);
		pad_to_8(out, options);
	}
	text_add(out, (const char *)stored, stored_bytes);
	pad_to_8(out, stored_bytes);
}

bool image_write(struct text *out, const struct image_spec *specs, size_t count)
{
	u8 header[FATBIN_HEADER_BYTES] = {0};
	size_t start = out->len;

	put_little_endian(header, FATBIN_MAGIC, 4);
	put_little_endian(header + 4, FATBIN_VERSION, 2);
	put_little_endian(header + 6, sizeof(header), 2);
	text_add(out, (const char *)header, sizeof(header));
	for (size_t i = 0; i < count; i++) {
		size_t raw_bytes = 0, stored_bytes;
		u8 *raw = raw_copy(&specs[i], &raw_bytes), *packed = NULL;

		stored_bytes = raw_bytes;
		if (raw && specs[i].codec != IMAGE_PLAIN)
			packed = compress(specs[i].codec, raw, raw_bytes, &stored_bytes);
		if (raw && (packed || specs[i].codec == IMAGE_PLAIN))
			write_entry(out, &specs[i], packed ? packed : raw, stored_bytes, raw_bytes);
		else
			out->failed = true;
		free(packed);
		free(raw);
	}
	if (!out->failed)
		put_little_endian((u8 *)out->at + start + 8, out->len - start - sizeof(header), 8);
	return !out->failed;
}

/* ---- cubins ---- */

#define SECTION_NAME ".nv_debug_ptx_txt"

static void section_header(struct text *out, u32 name, u32 type, u64 at, u64 size)
{
	Elf64_Shdr h = {.sh_name = name,
			.sh_type = type,
			.sh_offset = at,
			.sh_size = size,
			.sh_addralign = 1};

	text_add(out, (const char *)&h, sizeof(h));
}

static void cubin_header(struct text *out, size_t sections, u64 headers_at, u32 sm)
{
	Elf64_Ehdr h = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 0, CUBIN_ABI},
		.e_type = ET_EXEC,
		.e_machine = CUBIN_MACHINE,
		.e_version = EV_CURRENT,
		.e_shoff = headers_at,
		.e_flags = sm << 8,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (u16)sections,
		.e_shstrndx = 1,
	};

	text_add(out, (const char *)&h, sizeof(h));
}

/* Names: NUL, .shstrtab, and one name for all texts. Sections: none, names, texts. */
bool image_write_cubin(struct text *out, const struct image_bytes *texts, size_t count, u32 sm)
{
	static const char names[] = "\0.shstrtab\0" SECTION_NAME;
	u64 at = sizeof(Elf64_Ehdr), bytes = sizeof(names);

	if (count > UINT16_MAX - 2)
		return false;
	for (size_t i = 0; i < count; i++)
		bytes += texts[i].size;
	cubin_header(out, count + 2, align_up(at + bytes, 8), sm);
	text_add(out, names, sizeof(names));
	for (size_t i = 0; i < count; i++)
		text_add(out, (const char *)texts[i].data, texts[i].size);
	pad_to_8(out, bytes);
	section_header(out, 0, SHT_NULL, 0, 0);
	section_header(out, 1, SHT_STRTAB, at, sizeof(names));
	at += sizeof(names);
	for (size_t i = 0; i < count; i++) {
		section_header(out, sizeof("\0.shstrtab"), SHT_PROGBITS, at, texts[i].size);
		at += texts[i].size;
	}
	return !out->failed;
}
