/*
 * Makes the files that the tests of module images read: fat binaries around given PTX, ELF files
 * of both classes with given sections, cubins, archives. Everything is built in memory in a
 * `struct text`.
 */
#ifndef PL_TEST_IMAGE_MAKE_H
#define PL_TEST_IMAGE_MAKE_H

#include "src/base/text.h"
#include "src/dev/image/image.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#define MAKE_PTX                                                                                   \
	".version 8.0\n.target sm_80\n.address_size 64\n"                                          \
	".visible .entry scale(.param .u64 scale_param_0, .param .align 8 .b8 scale_param_1[40])\n{\n\tret;\n}\n"

struct make_section {
	const char *name;
	u32 type; /* SHT_... */
	const void *data;
	size_t size;
	u32 link;
	u64 entry_bytes;
};

static inline struct image_spec make_spec(u32 sm, char suffix, enum image_codec codec)
{
	return (struct image_spec){.kind = IMAGE_PTX,
				   .codec = codec,
				   .target = {sm, suffix},
				   .isa_major = 8,
				   .data = MAKE_PTX,
				   .size = strlen(MAKE_PTX)};
}

static inline void make_fatbin(struct text *out, const struct image_spec *specs, size_t n)
{
	if (!image_write(out, specs, n))
		abort();
}

/*
 * An ELF64 file: header, section bytes, names, section headers. Section i of `s` gets index i +
 * 1.
 */
static inline void make_elf64(struct text *out, u16 machine, u8 abi, u32 flags,
			      const struct make_section *s, u32 n)
{
	Elf64_Ehdr h = {.e_type = ET_EXEC,
			.e_machine = machine,
			.e_version = 1,
			.e_flags = flags,
			.e_ehsize = sizeof(h),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = (Elf64_Half)(n + 2),
			.e_shstrndx = (Elf64_Half)(n + 1)};
	Elf64_Shdr *t = calloc(n + 2, sizeof(*t));
	struct text names = {0};

	if (!t)
		abort();
	memcpy(h.e_ident, ELFMAG "\2\1\1", 7);
	h.e_ident[EI_ABIVERSION] = abi;
	text_add(out, (const char *)&h, sizeof(h));
	text_add(&names, "", 1);
	for (u32 i = 1; i <= n + 1; i++) {
		const struct make_section *m =
			i <= n ? &s[i - 1]
			       : &(struct make_section){.name = ".shstrtab", .type = SHT_STRTAB};

		t[i].sh_name = (u32)names.len;
		text_add(&names, m->name, strlen(m->name) + 1);
		while (out->len % 8)
			text_add(out, "", 1);
		t[i].sh_offset = out->len;
		t[i].sh_size = i <= n ? m->size : names.len;
		t[i].sh_type = m->type;
		t[i].sh_link = m->link;
		t[i].sh_entsize = m->entry_bytes;
		if (m->type != SHT_NOBITS)
			text_add(out, i <= n ? m->data : names.at, (size_t)t[i].sh_size);
	}
	while (out->len % 8)
		text_add(out, "", 1);
	h.e_shoff = out->len;
	text_add(out, (const char *)t, (n + 2) * sizeof(*t));
	memcpy(out->at, &h, sizeof(h));
	text_fini(&names);
	free(t);
}

/* The same as ELF32, for hosts of 32 bits: one section beside the names. */
static inline void make_elf32(struct text *out, const char *name, const void *data, size_t size)
{
	Elf32_Ehdr h = {.e_type = ET_EXEC,
			.e_machine = EM_386,
			.e_version = 1,
			.e_ehsize = sizeof(h),
			.e_shentsize = sizeof(Elf32_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 2};
	Elf32_Shdr t[3] = {0};

	memcpy(h.e_ident, ELFMAG "\1\1\1", 7);
	text_add(out, (const char *)&h, sizeof(h));
	t[1] = (Elf32_Shdr){.sh_name = 1,
			    .sh_type = SHT_PROGBITS,
			    .sh_offset = (u32)out->len,
			    .sh_size = (u32)size};
	text_add(out, data, size);
	t[2] = (Elf32_Shdr){.sh_type = SHT_STRTAB,
			    .sh_offset = (u32)out->len,
			    .sh_size = (u32)strlen(name) + 2};
	text_add(out, "", 1);
	text_add(out, name, strlen(name) + 1);
	while (out->len % 4)
		text_add(out, "", 1);
	h.e_shoff = (u32)out->len;
	text_add(out, (const char *)t, sizeof(t));
	memcpy(out->at, &h, sizeof(h));
}

/* A cubin for `sm` with kernel "scale", device function "helper", and debug text when given. */
static inline void make_cubin(struct text *out, u32 sm, const char *debug_text, size_t debug_bytes)
{
	static const char names[] = "\0scale\0helper";
	Elf64_Sym symbols[3] = {
		{0},
		{.st_name = 1,
		 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		 .st_other = 0x10,
		 .st_shndx = 3},
		{.st_name = 7, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 4},
	};
	struct make_section s[] = {
		{.name = ".strtab", .type = SHT_STRTAB, .data = names, .size = sizeof(names)},
		{.name = ".symtab",
		 .type = SHT_SYMTAB,
		 .data = symbols,
		 .size = sizeof(symbols),
		 .link = 1,
		 .entry_bytes = sizeof(symbols[0])},
		{.name = ".text.scale", .type = SHT_PROGBITS, .data = "codecode", .size = 8},
		{.name = ".text.helper", .type = SHT_PROGBITS, .data = "codecode", .size = 8},
		{.name = ".nv_debug_ptx_txt",
		 .type = SHT_PROGBITS,
		 .data = debug_text,
		 .size = debug_bytes},
	};

	make_elf64(out, 190, 8, 0x06000004 | sm << 8, s, debug_bytes ? 5 : 4);
}

/* Append one archive member. The magic is added in front of the first. */
static inline void make_member(struct text *out, const char *name, const void *data, size_t size)
{
	if (!out->len)
		text_puts(out, "!<arch>\n");
	text_printf(out, "%-16s%-12u%-6u%-6u%-8s%-10zu`\n", name, 0u, 0u, 0u, "100644", size);
	text_add(out, data, size);
	if (size % 2)
		text_puts(out, "\n");
}

#endif
