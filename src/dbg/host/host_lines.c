/*
 * Reading lines of the host's files with libdw.
 */
#include "src/dbg/host/host_lines.h"

#include "src/base/vec.h"
#include "src/dbg/libdw.inc"

#include <dwarf.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

struct host_file {
	char *path;
	int fd;
	Dwarf *dwarf; /* NULL: it has none */
};

static VEC(struct host_file) files;

/* NULL: it cannot be read, or has no lines. Each file is opened once. */
static Dwarf *dwarf_of(const char *path)
{
	struct host_file f = {strdup(path), -1, NULL};

	for (size_t i = 0; i < files.len; i++)
		if (f.path && !strcmp(files.at[i].path, path)) {
			free(f.path);
			return files.at[i].dwarf;
		}
	if (f.path && VEC_RESERVE(&files, 1)) {
		f.fd = open(path, O_RDONLY | O_CLOEXEC);
		f.dwarf = f.fd >= 0 ? libdw.dwarf_begin(f.fd, DWARF_C_READ) : NULL;
		VEC_PUSH(&files, f);
	} else {
		free(f.path);
	}
	return f.dwarf;
}

/* The unit with this address: by the table of addresses, which not all compilers write. */
static bool find_unit_of(Dwarf *d, u64 address, Dwarf_Die *unit)
{
	Dwarf_Off at = 0, next;
	size_t header;

	if (libdw.dwarf_addrdie(d, address, unit))
		return true;
	for (; libdw.dwarf_nextcu(d, at, &next, &header, NULL, NULL, NULL) == 0; at = next)
		if (libdw.dwarf_offdie(d, at + header, unit) &&
		    libdw.dwarf_haspc(unit, address) > 0)
			return true;
	return false;
}

static const char *linker_name(Dwarf_Die *die)
{
	Dwarf_Attribute a;

	if (libdw.dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ||
	    libdw.dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
		return libdw.dwarf_formstring(&a);
	return libdw.dwarf_diename(die);
}

/* Where this inlined copy is called. */
static void find_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct host_line *out)
{
	Dwarf_Attribute a;
	Dwarf_Files *table;
	Dwarf_Word x;
	size_t n;

	if (libdw.dwarf_attr(inlined, DW_AT_call_file, &a) && !libdw.dwarf_formudata(&a, &x) &&
	    !libdw.dwarf_getsrcfiles(unit, &table, &n) && x < n)
		out->file = libdw.dwarf_filesrc(table, x, NULL, NULL);
	if (libdw.dwarf_attr(inlined, DW_AT_call_line, &a) && !libdw.dwarf_formudata(&a, &x))
		out->line = (u32)x;
}

/* The functions around the address, from the innermost; line: of the address. */
static u32 add_scopes(Dwarf_Die *unit, u64 address, struct host_line line, struct host_line *out,
		      u32 room)
{
	Dwarf_Die *scopes = NULL, *nest = NULL;
	int n = libdw.dwarf_getscopes(unit, address, &scopes);
	u32 len = 0;

	/* Those around an inlined copy, instead of those around its declaration. */
	if (n > 0)
		n = libdw.dwarf_getscopes_die(&scopes[0], &nest);
	for (int i = 0; i < n && len < room; i++) {
		int tag = libdw.dwarf_tag(&nest[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		line.function = linker_name(&nest[i]);
		out[len++] = line;
		if (tag == DW_TAG_subprogram)
			break;
		line = (struct host_line){0};
		find_call(unit, &nest[i], &line);
	}
	free(scopes);
	free(nest);
	if (!len && room)
		out[len++] = line;
	return len;
}

static u32 find_host_lines(const char *path, u64 address, struct host_line *out, u32 room)
{
	Dwarf *d = dwarf_of(path);
	struct host_line line = {0};
	Dwarf_Line *at;
	Dwarf_Die unit;
	int number;

	if (!d || !find_unit_of(d, address, &unit))
		return 0;
	at = libdw.dwarf_getsrc_die(&unit, address);
	line.file = at ? libdw.dwarf_linesrc(at, NULL, NULL) : NULL;
	if (!line.file || libdw.dwarf_lineno(at, &number))
		return 0;
	line.line = (u32)number;
	return add_scopes(&unit, address, line, out, room);
}

host_line_finder *host_lines_open(void)
{
	struct text why = {0};
	bool loaded = libdw_load(&why);

	text_fini(&why);
	return loaded ? find_host_lines : NULL;
}

void host_lines_close(void)
{
	for (size_t i = 0; i < files.len; i++) {
		if (files.at[i].dwarf)
			libdw.dwarf_end(files.at[i].dwarf);
		if (files.at[i].fd >= 0)
			close(files.at[i].fd);
		free(files.at[i].path);
	}
	VEC_FREE(&files);
}
