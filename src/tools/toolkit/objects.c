/*
 * Which objects and members of archives have relocatable device code.
 */
#include "src/tools/toolkit/objects.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <unistd.h>

static const char register_prefix[] = "__cudaRegisterLinkedBinary";

static bool no_memory_for_objects(void)
{
	fputs("ptxloom cc: error: out of memory\n", stderr);
	return false;
}

/* The same object twice, as when an archive is named twice, is one. */
static bool add_object_unit(struct objects *o, const struct object_unit *unit)
{
	for (size_t i = 0; i < o->units.len; i++) {
		const struct object_unit *u = &o->units.at[i];

		if (strcmp(u->id, unit->id) != 0)
			continue;
		if (u->size == unit->size && !memcmp(u->data, unit->data, u->size))
			return true;
		fprintf(stderr,
			"ptxloom cc: error: '%s' and '%s' have device code of the same id, %s: compile one "
			"of them again, from or to another name\n",
			u->name, unit->name, u->id);
		return false;
	}
	return VEC_PUSH(&o->units, *unit) || no_memory_for_objects();
}

/* A symbol of an object, or none of ours. */
static bool add_symbol(struct objects *o, const struct object_unit *object, const char *name,
		       const GElf_Sym *symbol)
{
	struct object_unit unit = *object;

	if (strncmp(name, register_prefix, sizeof(register_prefix) - 1) != 0)
		return true;
	unit.id = arena_strdup(&o->arena, name + sizeof(register_prefix) - 1,
			       strlen(name) - sizeof(register_prefix) + 1);
	if (!unit.id)
		return no_memory_for_objects();
	if (symbol->st_shndx == SHN_UNDEF)
		return add_object_unit(o, &unit);
	return VEC_PUSH(&o->linked, unit.id) || no_memory_for_objects();
}

static bool add_symbols(struct objects *o, const struct object_unit *object, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Ehdr header;
	GElf_Shdr h;
	GElf_Sym symbol;

	if (!gelf_getehdr(elf, &header) || header.e_type != ET_REL)
		return true;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		Elf_Data *data = gelf_getshdr(scn, &h) && h.sh_type == SHT_SYMTAB && h.sh_entsize
					 ? elf_getdata(scn, NULL)
					 : NULL;
		size_t n = data ? data->d_size / h.sh_entsize : 0;

		for (size_t i = 0; i < n && i < INT32_MAX; i++) {
			const char *name = gelf_getsym(data, (int)i, &symbol)
						   ? elf_strptr(elf, h.sh_link, symbol.st_name)
						   : NULL;

			if (name && !add_symbol(o, object, name, &symbol))
				return false;
		}
	}
	return true;
}

static const char *member_name(struct objects *o, const char *path, Elf *member)
{
	const Elf_Arhdr *h = elf_getarhdr(member);
	const char *name = h && h->ar_name ? h->ar_name : "?";
	size_t n = strlen(path) + strlen(name) + 3;
	char *out = arena_alloc(&o->arena, n);

	if (out)
		snprintf(out, n, "%s(%s)", path, name);
	return out;
}

static bool add_archive_member(struct objects *o, const char *path, Elf *elf, bool in_archive)
{
	struct object_unit object = {.name = path};

	if (elf_kind(elf) != ELF_K_ELF)
		return true;
	object.data = (const u8 *)elf_rawfile(elf, &object.size);
	object.name = in_archive ? member_name(o, path, elf)
				 : arena_strdup(&o->arena, path, strlen(path));
	if (!object.name)
		return no_memory_for_objects();
	return !object.data || add_symbols(o, &object, elf);
}

static bool search_file(struct objects *o, const char *path, int fd, Elf *top)
{
	Elf *elf;
	bool ok = true;

	if (elf_kind(top) != ELF_K_AR)
		return add_archive_member(o, path, top, false);
	while (ok && (elf = elf_begin(fd, ELF_C_READ_MMAP, top)) != NULL) {
		bool last;

		ok = add_archive_member(o, path, elf, true);
		last = elf_next(elf) == ELF_C_NULL;
		elf_end(elf);
		if (last)
			break;
	}
	return ok;
}

/* Archives that have names of objects alone. */
static bool is_thin(int fd)
{
	static const char thin[] = "!<thin>\n";
	char begin[sizeof(thin) - 1];

	return pread(fd, begin, sizeof(begin), 0) == (ssize_t)sizeof(begin) &&
	       !memcmp(begin, thin, sizeof(begin));
}

bool objects_add(struct objects *o, const char *path)
{
	struct object_file f = {.fd = open(path, O_RDONLY | O_CLOEXEC)};

	if (f.fd < 0) {
		fprintf(stderr, "ptxloom cc: error: %s: %s\n", path, strerror(errno));
		return false;
	}
	if (is_thin(f.fd)) {
		fprintf(stderr,
			"ptxloom cc: error: %s: this archive is thin, device code cannot be linked "
			"from it; make it without `T` of ar\n",
			path);
		close(f.fd);
		return false;
	}
	f.elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(f.fd, ELF_C_READ_MMAP, NULL);
	if (!f.elf || !VEC_PUSH(&o->files, f)) {
		elf_end(f.elf);
		close(f.fd);
		return !f.elf || no_memory_for_objects();
	}
	return search_file(o, path, f.fd, f.elf);
}

static bool is_linked(const struct objects *o, const char *id)
{
	for (size_t i = 0; i < o->linked.len; i++)
		if (!strcmp(o->linked.at[i], id))
			return true;
	return false;
}

void objects_drop_linked(struct objects *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->units.len; i++)
		if (!is_linked(o, o->units.at[i].id))
			o->units.at[n++] = o->units.at[i];
	o->units.len = n;
}

void objects_fini(struct objects *o)
{
	for (size_t i = 0; i < o->files.len; i++) {
		elf_end(o->files.at[i].elf);
		close(o->files.at[i].fd);
	}
	VEC_FREE(&o->files);
	VEC_FREE(&o->units);
	VEC_FREE(&o->linked);
	arena_fini(&o->arena);
}
