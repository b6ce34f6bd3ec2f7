/*
 * What clang 14 leaves to be done for relocatable device code: names of static variables in the
 * PTX, and ids of objects.
 */
#include "src/base/file.h"
#include "src/base/text.h"
#include "src/base/vec.h"
#include "src/tools/toolkit/device_link.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_ptx_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/*
 * A name that gets another one: "x" that of "x__static__1234", and a variable of an unnamed
 * namespace one of the same length that no other object has.
 */
struct rename {
	const char *name;
	size_t len, whole; /* of the name; with its suffix */
	bool unnamed;
};

struct renames {
	VEC(struct rename) list;
	char digits[10]; /* for unnamed namespaces */
};

static const struct rename *rename_of(const struct renames *r, const char *name, size_t len)
{
	for (size_t i = 0; i < r->list.len; i++)
		if (r->list.at[i].len == len && !memcmp(r->list.at[i].name, name, len))
			return &r->list.at[i];
	return NULL;
}

static bool add_rename(struct renames *r, const struct rename *one)
{
	return !one->len || rename_of(r, one->name, one->len) || VEC_PUSH(&r->list, *one);
}

static bool find_suffixes(const char *text, struct renames *found)
{
	static const char mark[] = "__static__";

	for (const char *at = text; (at = strstr(at, mark)) != NULL;) {
		struct rename s = {.name = at};
		const char *end = at;

		while (s.name > text && is_ptx_name_char(s.name[-1]))
			s.name--;
		while (is_ptx_name_char(*end))
			end++;
		s.len = (size_t)(at - s.name);
		s.whole = (size_t)(end - s.name);
		if (!add_rename(found, &s))
			return false;
		at = end;
	}
	return true;
}

/* The twelve letters of an unnamed namespace in mangled names, and those in their place. */
static const char unnamed[] = "_GLOBAL__N_1", named[] = "_G_";

/* Where a name of `len` letters has them; NULL: nowhere. */
static const char *unnamed_in(const char *name, size_t len)
{
	return memmem(name, len, unnamed, sizeof(unnamed) - 1);
}

/* Variables that are defined, in a line of their own. */
static bool find_unnamed(const char *text, struct renames *found)
{
	static const char *const spaces[] = {".global ", ".const ", ".visible .global ",
					     ".visible .const "};

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *end = line + strcspn(line, "=;[\n"), *at = NULL;
		struct rename r = {.unnamed = true};

		for (size_t i = 0; i < ARRAY_LEN(spaces); i++)
			if (!strncmp(line, spaces[i], strlen(spaces[i])))
				at = unnamed_in(line, (size_t)(end - line));
		if (!at)
			continue;
		for (r.name = at; is_ptx_name_char(r.name[-1]); r.name--)
			;
		while (is_ptx_name_char(r.name[r.len]))
			r.len++;
		if (!add_rename(found, &r))
			return false;
	}
	return true;
}

static void add_renamed(const struct renames *r, const char *name, size_t len, struct text *out)
{
	const struct rename *one = rename_of(r, name, len);
	const char *at = one && one->unnamed ? unnamed_in(name, len) : NULL;

	if (at) {
		text_add(out, name, (size_t)(at - name));
		text_printf(out, "%s%s", named, r->digits);
		at += sizeof(unnamed) - 1;
		text_add(out, at, (size_t)(name + len - at));
	} else {
		text_add(out, one ? one->name : name, one ? one->whole : len);
	}
}

static void add_all_renamed(const char *text, const struct renames *r, struct text *out)
{
	while (*text) {
		size_t n = 0;

		while (is_ptx_name_char(text[n]))
			n++;
		if (n) {
			add_renamed(r, text, n, out);
		} else {
			while (text[n] && !is_ptx_name_char(text[n]))
				n++;
			text_add(out, text, n);
		}
		text += n;
	}
}

static void set_digits(char digits[10], const char *seed)
{
	snprintf(digits, 10, "%09llx",
		 (unsigned long long)hash_bytes(seed, strlen(seed)) & 0xfffffffffull);
}

static bool write_text_file(const char *path, const struct text *t)
{
	FILE *to = t->failed ? NULL : fopen(path, "w");
	bool ok = to && fwrite(t->at, 1, t->len, to) == t->len;

	return to && !fclose(to) && ok;
}

/* A file, NUL-terminated; an empty one is not wanted. */
static bool read_text_file(const char *path, struct text *out)
{
	struct file f;

	if (!file_open(&f, path))
		return false;
	text_add(out, (const char *)f.data, f.size);
	file_close(&f);
	return !out->failed && out->at;
}

bool device_link_mend(const char *ptx, const char *seed)
{
	struct renames found = {0};
	struct text whole = {0}, mended = {0};
	bool ok = read_text_file(ptx, &whole) && find_suffixes(whole.at, &found) &&
		  find_unnamed(whole.at, &found);

	set_digits(found.digits, seed);
	if (ok && found.list.len) {
		add_all_renamed(whole.at, &found, &mended);
		ok = write_text_file(ptx, &mended);
	}
	if (!ok)
		fprintf(stderr, "ptxloom cc: error: %s: %s\n", ptx, strerror(errno));
	VEC_FREE(&found.list);
	text_fini(&whole);
	text_fini(&mended);
	return ok;
}

/* ---- ids ---- */

#define ID_MARK "__cudaRegisterLinkedBinary__nv_"

/* All places of the old digits behind "__nv_" get the new ones. */
static void replace_id(u8 *data, size_t size, const char *old, const char *fresh, size_t len)
{
	static const char mark[] = "__nv_";
	const size_t n = sizeof(mark) - 1;
	u8 *at = data, *end = data + size;

	while ((at = memmem(at, (size_t)(end - at), mark, n)) != NULL) {
		at += n;
		if ((size_t)(end - at) >= len && !memcmp(at, old, len))
			memcpy(at, fresh, len);
	}
}

static bool overwrite_object(const char *path, const u8 *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0;

	for (size_t at = 0; ok && at < size;) {
		ssize_t n = write(fd, data + at, size - at);

		ok = n > 0 || (n < 0 && errno == EINTR);
		at += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		ok = !close(fd) && ok;
	return ok;
}

/* Names of variables that the host registers follow those of the PTX. */
static void rename_strings(u8 *data, size_t size, const char *ptx, const char *digits)
{
	char mark[sizeof(unnamed)];
	const char *at = ptx;

	snprintf(mark, sizeof(mark), "%s%s", named, digits);
	while ((at = strstr(at, mark)) != NULL) {
		const char *name = at, *end = at;
		u8 *to = data;

		while (name > ptx && is_ptx_name_char(name[-1]))
			name--;
		while (is_ptx_name_char(*end))
			end++;
		/* What follows the namespace tells these names from others. */
		while ((to = memmem(to, size - (size_t)(to - data), unnamed,
				    sizeof(unnamed) - 1)) != NULL) {
			size_t before = (size_t)(at - name), len = (size_t)(end - name);
			u8 *start = to - data >= (ptrdiff_t)before ? to - before : NULL;

			to += sizeof(unnamed) - 1;
			if (start && size - (size_t)(start - data) > len && !start[len] &&
			    !memcmp(start, name, before) &&
			    !memcmp(to, at + sizeof(unnamed) - 1,
				    (size_t)(end - at) - sizeof(unnamed) + 1))
				memcpy(start, name, len);
		}
		at = end;
	}
}

static void set_object_id(u8 *data, size_t size, const char *seed)
{
	char old[17] = "", fresh[17];
	const u8 *at = memmem(data, size, ID_MARK, sizeof(ID_MARK) - 1);
	size_t len = 0;

	if (!at)
		return;
	at += sizeof(ID_MARK) - 1;
	while (len < 16 && at + len < data + size && isxdigit(at[len]))
		len++;
	memcpy(old, at, len);
	snprintf(fresh, sizeof(fresh), "%016llx",
		 (unsigned long long)hash_bytes(seed, strlen(seed)));
	replace_id(data, size, old, fresh + 16 - len, len);
}

bool device_link_finish_object(const char *object, const char *ptx, const char *seed)
{
	struct text bytes = {0}, device = {0};
	char digits[10];
	bool ok = read_text_file(object, &bytes) && read_text_file(ptx, &device);

	if (ok) {
		set_digits(digits, seed);
		set_object_id((u8 *)bytes.at, bytes.len, seed);
		rename_strings((u8 *)bytes.at, bytes.len, device.at, digits);
		ok = overwrite_object(object, (u8 *)bytes.at, bytes.len);
	}
	if (!ok)
		fprintf(stderr, "ptxloom cc: error: %s: %s\n", object, strerror(errno));
	text_fini(&bytes);
	text_fini(&device);
	return ok;
}

/* ---- variables of unnamed namespaces ---- */

/* Mangled names of variables, unlike those of functions, end with that of a namespace: "E". */
static bool names_variable(const char *s, size_t len)
{
	return len > 3 && !strncmp(s, "_ZN", 3) && s[len - 1] == 'E' && unnamed_in(s, len);
}

static bool section_names_variable(Elf_Scn *scn)
{
	Elf_Data *data;
	GElf_Shdr h;
	const char *at, *end;

	if (!gelf_getshdr(scn, &h) || !(h.sh_flags & SHF_STRINGS) || !(h.sh_flags & SHF_ALLOC))
		return false;
	data = elf_getdata(scn, NULL);
	if (!data || !data->d_buf)
		return false;
	at = data->d_buf;
	end = at + data->d_size;
	for (; at < end; at += strnlen(at, (size_t)(end - at)) + 1)
		if (names_variable(at, strnlen(at, (size_t)(end - at))))
			return true;
	return false;
}

bool device_link_has_unnamed(const char *object)
{
	bool found = false;
	Elf_Scn *scn = NULL;
	struct file f;
	Elf *elf = NULL;

	if (!file_open(&f, object))
		return false;
	if (elf_version(EV_CURRENT) != EV_NONE && f.size)
		elf = elf_memory((char *)(uintptr_t)f.data, f.size);
	while (elf && !found && (scn = elf_nextscn(elf, scn)) != NULL)
		found = section_names_variable(scn);
	elf_end(elf);
	file_close(&f);
	return found;
}

/* "@_ZN12_GLOBAL__N_11xE = internal addrspace(1) global ..": without the second word. */
static void add_unhidden(const char *line, size_t len, struct text *out)
{
	static const char internal[] = " = internal addrspace(";
	const char *at = *line == '@' ? memmem(line, len, internal, sizeof(internal) - 1) : NULL;

	if (at && unnamed_in(line, (size_t)(at - line))) {
		text_add(out, line, (size_t)(at - line));
		text_puts(out, " = ");
		at += strlen(" = internal ");
		text_add(out, at, (size_t)(line + len - at));
	} else {
		text_add(out, line, len);
	}
}

bool device_link_name_unnamed(const char *code)
{
	struct text whole = {0}, out = {0};
	bool ok = read_text_file(code, &whole);

	for (const char *line = whole.at; ok && *line;) {
		size_t len = strcspn(line, "\n");

		len += line[len] == '\n';
		add_unhidden(line, len, &out);
		line += len;
	}
	ok = ok && write_text_file(code, &out);
	if (!ok)
		fprintf(stderr, "ptxloom cc: error: %s: %s\n", code, strerror(errno));
	text_fini(&whole);
	text_fini(&out);
	return ok;
}
