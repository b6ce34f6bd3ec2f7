/*
 * DWARF sections of PTX to an ELF image: symbols get their addresses, sections are laid out.
 */
#include "src/dbg/dwarf_image.h"

#include "src/base/map.h"
#include "src/base/size.h"
#include "src/base/text.h"
#include "src/dbg/libdw.inc"

#include <elf.h>
#include <stdlib.h>

/* Symbols to addresses; 1 is added, as a map has no zero. */
struct symbols {
	struct map map;
	bool failed;
};

static void define(struct symbols *s, const struct str *name, u64 value)
{
	if (name && !map_get(&s->map, map_key(name)))
		s->failed |= !map_set(&s->map, map_key(name), value + 1);
}

static void define_all(struct symbols *s, const struct ir_module *m)
{
	for (size_t i = 0; i < m->sections.len; i++) {
		const struct ir_section *x = m->sections.at[i];

		define(s, x->name, 0);
		for (size_t k = 0; k < x->labels.len; k++)
			define(s, x->labels.at[k].name, x->labels.at[k].insn);
	}
	for (size_t i = 0; i < m->vars.len; i++)
		define(s, m->vars.at[i]->name, DWARF_IMAGE_DATA | (u64)i << 32);
	for (size_t i = 0; i < m->funcs.len; i++) {
		const struct ir_func *f = m->funcs.at[i];
		u64 base = DWARF_IMAGE_CODE | (u64)f->index << 32;

		define(s, f->name, base);
		for (size_t k = 0; k < f->labels.len; k++)
			define(s, f->labels.at[k].name, base | f->labels.at[k].insn);
	}
}

/* False: the symbol is nowhere defined. */
static bool symbol_value(const struct symbols *s, const struct str *name, u64 *value)
{
	const u64 *found = map_get(&s->map, map_key(name));

	*value = found ? *found - 1 : 0;
	/* The assembler makes it of .loc; nothing here reads it. */
	return found || !strcmp(name->text, ".debug_line");
}

static bool relocate_section(const struct symbols *s, const struct ir_section *x, u8 *bytes,
			     struct text *why)
{
	for (size_t i = 0; i < x->relocs.len; i++) {
		const struct ir_section_reloc *r = &x->relocs.at[i];
		u64 plus, minus = 0;

		if (!symbol_value(s, r->plus, &plus) ||
		    (r->minus && !symbol_value(s, r->minus, &minus))) {
			text_printf(why, "%s refers to %s, which is not defined", x->name->text,
				    r->plus->text);
			return false;
		}
		plus += (u64)r->addend - minus;
		if (r->size > sizeof(plus) || !size_inside(r->at, r->size, 0, x->bytes.len))
			continue;
		memcpy(bytes + r->at, &plus, r->size);
	}
	return true;
}

/* ---- layout: header, section headers, sections, their names ---- */

static bool total_size(const struct ir_module *m, u64 *size)
{
	*size = sizeof(Elf64_Ehdr) + (m->sections.len + 2) * sizeof(Elf64_Shdr) + 1;
	for (size_t i = 0; i < m->sections.len; i++)
		if (!size_add(*size, m->sections.at[i]->bytes.len, size) ||
		    !size_add(*size, m->sections.at[i]->name->len + 1, size))
			return false;
	return m->sections.len < 1024;
}

static bool lay_out(struct dwarf_image *image, const struct ir_module *m, const struct symbols *s,
		    struct text *why)
{
	u32 n = (u32)m->sections.len + 2, name = 1;
	Elf64_Ehdr *e = (Elf64_Ehdr *)image->bytes;
	Elf64_Shdr *h = (Elf64_Shdr *)(e + 1);
	u8 *at = (u8 *)(h + n);

	*e = (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			  .e_type = ET_REL,
			  .e_machine = EM_CUDA,
			  .e_version = EV_CURRENT,
			  .e_shoff = sizeof(*e),
			  .e_ehsize = sizeof(*e),
			  .e_shentsize = sizeof(*h),
			  .e_shnum = (Elf64_Half)n,
			  .e_shstrndx = (Elf64_Half)(n - 1)};
	for (u32 i = 0; i < n - 2; i++) {
		const struct ir_section *x = m->sections.at[i];

		h[i + 1] = (Elf64_Shdr){.sh_name = name,
					.sh_type = SHT_PROGBITS,
					.sh_addralign = 1,
					.sh_offset = (u64)(at - image->bytes),
					.sh_size = x->bytes.len};
		if (x->bytes.len)
			memcpy(at, x->bytes.at, x->bytes.len);
		if (!relocate_section(s, x, at, why))
			return false;
		at += x->bytes.len;
		name += x->name->len + 1;
	}
	h[n - 1] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
				.sh_addralign = 1,
				.sh_offset = (u64)(at - image->bytes),
				.sh_size = name};
	at++;
	for (u32 i = 0; i < n - 2; i++) {
		memcpy(at, m->sections.at[i]->name->text, m->sections.at[i]->name->len);
		at += m->sections.at[i]->name->len + 1;
	}
	return true;
}

static bool has_info(const struct ir_module *m)
{
	for (size_t i = 0; i < m->sections.len; i++)
		if (!strcmp(m->sections.at[i]->name->text, ".debug_info") &&
		    m->sections.at[i]->bytes.len)
			return true;
	return false;
}

static bool open_bytes(struct dwarf_image *i, u64 size, struct text *why)
{
	elf_version(EV_CURRENT);
	i->elf = elf_memory((char *)i->bytes, size);
	i->dwarf = i->elf ? libdw.dwarf_begin_elf(i->elf, DWARF_C_READ, NULL) : NULL;
	if (!i->dwarf)
		text_puts(why, i->elf ? libdw.dwarf_errmsg(-1) : elf_errmsg(-1));
	return i->dwarf != NULL;
}

bool dwarf_image_open(struct dwarf_image *i, const struct ir_module *m, struct text *why)
{
	struct symbols s = {0};
	bool good = false;
	u64 size = 0;

	*i = (struct dwarf_image){0};
	if (!has_info(m) || !libdw_load(why))
		return false;
	define_all(&s, m);
	if (!s.failed && total_size(m, &size))
		i->bytes = calloc(1, size);
	if (!i->bytes)
		text_puts(why, "the sections are too large");
	else
		good = lay_out(i, m, &s, why) && open_bytes(i, size, why);
	map_fini(&s.map);
	if (!good)
		dwarf_image_close(i);
	return good;
}

void dwarf_image_close(struct dwarf_image *i)
{
	if (i->dwarf)
		libdw.dwarf_end(i->dwarf);
	if (i->elf)
		elf_end(i->elf);
	free(i->bytes);
	*i = (struct dwarf_image){0};
}

/* ---- addresses ---- */

const struct ir_func *dwarf_image_func(const struct ir_module *m, u64 address)
{
	u64 index = address >> 32 & 0xfffffff;

	return address >> 60 == 1 && index < m->funcs.len ? m->funcs.at[index] : NULL;
}

const struct ir_var *dwarf_image_var(const struct ir_module *m, u64 address)
{
	u64 index = address >> 32 & 0xfffffff;

	return address >> 60 == 2 && index < m->vars.len ? m->vars.at[index] : NULL;
}
