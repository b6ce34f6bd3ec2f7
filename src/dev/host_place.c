/*
 * From an address to a file, by /proc/self/maps, and to a function, by the file's symbols.
 */
#include "src/dev/host_place.h"

#include "src/base/demangle.h"
#include "src/base/file.h"
#include "src/mem/mappings.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The file that is mapped there, and which of its bytes. */
static bool find_mapping(u64 address, char *path, size_t room, u64 *at_byte)
{
	struct mem_mappings all;
	struct mem_mapping m;
	bool found = false;

	mem_mappings_open(&all);
	while (!found && mem_mappings_next(&all, &m)) {
		found = *m.name == '/' && address >= m.first && address < m.end;
		if (!found)
			continue;
		*at_byte = address - m.first + m.offset;
		snprintf(path, room, "%s", m.name);
	}
	mem_mappings_close(&all);
	return found;
}

/* `size` bytes of the file at `offset`; NULL: it has not so many. */
static const void *file_bytes_at(const struct file *f, u64 offset, u64 size)
{
	return offset <= f->size && size <= f->size - offset ? f->data + offset : NULL;
}

/* The n-th of a table's equally long entries. */
static bool read_entry(const struct file *f, u64 offset, u64 n, void *to, size_t size)
{
	u64 at;
	const void *from =
		__builtin_mul_overflow(n, size, &at) || __builtin_add_overflow(at, offset, &at)
			? NULL
			: file_bytes_at(f, at, size);

	if (from)
		memcpy(to, from, size);
	return from != NULL;
}

/* An offset in the file as an address of it. */
static bool to_address(const struct file *f, const Elf64_Ehdr *h, u64 offset, u64 *out)
{
	Elf64_Phdr p;

	for (u32 i = 0; i < h->e_phnum && read_entry(f, h->e_phoff, i, &p, sizeof(p)); i++)
		if (p.p_type == PT_LOAD && offset >= p.p_offset &&
		    offset - p.p_offset < p.p_filesz) {
			*out = offset - p.p_offset + p.p_vaddr;
			return true;
		}
	return false;
}

/* The function of this table that has the address. */
static const char *find_function(const struct file *f, const Elf64_Ehdr *h, const Elf64_Shdr *table,
				 u64 address, u64 *start)
{
	Elf64_Shdr names;
	const char *name;
	Elf64_Sym s;

	if (!read_entry(f, h->e_shoff, table->sh_link, &names, sizeof(names)))
		return NULL;
	for (u64 i = 0;
	     i < table->sh_size / sizeof(s) && read_entry(f, table->sh_offset, i, &s, sizeof(s));
	     i++) {
		if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || address < s.st_value ||
		    address - s.st_value >= s.st_size || s.st_name >= names.sh_size)
			continue;
		name = file_bytes_at(f, names.sh_offset, names.sh_size);
		if (!name || !memchr(name + s.st_name, 0, names.sh_size - s.st_name))
			return NULL;
		*start = s.st_value;
		return name + s.st_name;
	}
	return NULL;
}

static const char *function_at(const struct file *f, const Elf64_Ehdr *h, u64 address, u64 *start)
{
	static const u32 types[] = {SHT_SYMTAB, SHT_DYNSYM};
	const char *name = NULL;
	Elf64_Shdr s;

	for (size_t t = 0; t < ARRAY_LEN(types) && !name; t++)
		for (u32 i = 0;
		     i < h->e_shnum && !name && read_entry(f, h->e_shoff, i, &s, sizeof(s)); i++)
			if (s.sh_type == types[t])
				name = find_function(f, h, &s, address, start);
	return name;
}

bool host_place_find(const void *return_address, struct host_place *out)
{
	const char *name;
	u64 offset = 0;
	Elf64_Ehdr h;
	struct file f;
	bool found;

	/* The call lies before the address that it returns to. */
	*out = (struct host_place){0};
	if (!return_address ||
	    !find_mapping((u64)(uintptr_t)return_address - 1, out->path, sizeof(out->path),
			  &offset) ||
	    !file_open(&f, out->path))
		return false;
	found = read_entry(&f, 0, 0, &h, sizeof(h)) && !memcmp(h.e_ident, ELFMAG, SELFMAG) &&
		h.e_ident[EI_CLASS] == ELFCLASS64 && to_address(&f, &h, offset, &out->address);
	if (found) {
		name = function_at(&f, &h, out->address, &out->start);
		out->name = name ? strdup(name) : NULL;
	}
	file_close(&f);
	return found;
}

void host_place_say(const void *return_address, struct text *out)
{
	struct host_place at;

	if (!host_place_find(return_address, &at))
		return;
	if (at.name) {
		demangle_short(at.name, out);
		text_printf(out, "+0x%llx of ", (unsigned long long)(at.address + 1 - at.start));
	}
	text_printf(out, "%s (addr2line -fCe %s 0x%llx)", at.path, at.path,
		    (unsigned long long)at.address);
	free(at.name);
}
