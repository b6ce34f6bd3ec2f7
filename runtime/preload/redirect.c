/*
 * Finds what is to be redirected: reads the object files' symbol tables with bounds checks, so that
 * a damaged file is left alone.
 */
#include "runtime/preload/recognise.h"
#include "src/base/file.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#define MARK_FIRST 16u /* of copies of the runtime; below are the versions of shared ones */
#define COMPARED 16u   /* bytes of a function, with those of the file */

struct object {
	const char *path;
	const u8 *file;
	size_t size;
	const Elf64_Ehdr *eh;
	const Elf64_Shdr *sh;
	const Elf64_Sym *sym;
	size_t syms;
	const char *str;
	size_t str_size;
	const struct dl_phdr_info *info;
	enum redirect_kind kind;
	VEC(struct code_site) sites; /* by rising addresses */
	struct found found;          /* without symbols; their names are in there */
	bool no_memory;
	const char *why, *where; /* what is the matter with it, and at which function */
	u32 failed;
};

struct visit {
	struct redirect *r;
	struct redirect_result *out;
	VEC(struct redirect_object) seen;
	bool is_main;
};

static bool in_file(const struct object *o, u64 at, u64 size)
{
	return at <= o->size && size <= o->size - at;
}

/*
 * Find .symtab or .dynsym and its strings. False when the file is not ours to read, or is stripped.
 */
static bool find_symbols(struct object *o, u32 type)
{
	const Elf64_Shdr *s, *strings;

	if (o->size < sizeof(Elf64_Ehdr))
		return false;
	o->eh = (const Elf64_Ehdr *)o->file;
	if (memcmp(o->eh->e_ident, ELFMAG, SELFMAG) || o->eh->e_ident[EI_CLASS] != ELFCLASS64 ||
	    o->eh->e_shentsize != sizeof(Elf64_Shdr) ||
	    !in_file(o, o->eh->e_shoff, (u64)o->eh->e_shnum * sizeof(Elf64_Shdr)) ||
	    o->eh->e_shoff % 8)
		return false;
	o->sh = (const Elf64_Shdr *)(o->file + o->eh->e_shoff);
	for (u32 i = 0; i < o->eh->e_shnum; i++) {
		s = &o->sh[i];
		if (s->sh_type != type || s->sh_link >= o->eh->e_shnum || s->sh_offset % 8)
			continue;
		strings = &o->sh[s->sh_link];
		if (!in_file(o, s->sh_offset, s->sh_size) ||
		    !in_file(o, strings->sh_offset, strings->sh_size) || !strings->sh_size ||
		    o->file[strings->sh_offset + strings->sh_size - 1])
			return false;
		o->sym = (const Elf64_Sym *)(o->file + s->sh_offset);
		o->syms = s->sh_size / sizeof(Elf64_Sym);
		o->str = (const char *)(o->file + strings->sh_offset);
		o->str_size = strings->sh_size;
		return true;
	}
	return false;
}

static const char *symbol_name(const struct object *o, const Elf64_Sym *s)
{
	return s->st_name < o->str_size ? o->str + s->st_name : "";
}

static bool is_function(const Elf64_Sym *s)
{
	return ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF && s->st_size;
}

static bool defines(const struct object *o, const char *name)
{
	for (size_t i = 0; i < o->syms; i++)
		if (is_function(&o->sym[i]) && !strcmp(symbol_name(o, &o->sym[i]), name))
			return true;
	return false;
}

static bool object_has(const char *name, void *user)
{
	return defines(user, name);
}

/* Which version of the runtime, or whether the driver, is in the symbols that have been found. */
static enum redirect_kind carried(struct object *o)
{
	if (!strncmp(file_base_name(o->path), "libcuda.so", 10) && defines(o, "cuInit") &&
	    defines(o, "cuDriverGetVersion"))
		return REDIRECT_DRIVER;
	return recognise_kind(object_has, o);
}

/* ---- what is to be overwritten ---- */

static void fail_redirect(struct object *o, const char *function, const char *why)
{
	if (!o->failed++) {
		o->where = function;
		o->why = why;
	}
}

/* The executable part of the mapped object in which [address, address + bytes) lies. */
static bool is_code(const struct dl_phdr_info *info, u64 address, u64 bytes)
{
	for (u32 i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && address >= p->p_vaddr &&
		    bytes <= p->p_filesz && address - p->p_vaddr <= p->p_filesz - bytes)
			return true;
	}
	return false;
}

/*
 * A symbol is believed when it names code of its section that is mapped as such, and the bytes
 * there are those of the file: the file may have been replaced since, or another library have been
 * here.
 */
static const char *doubt(const struct object *o, const Elf64_Sym *s)
{
	const Elf64_Shdr *in = s->st_shndx < o->eh->e_shnum ? &o->sh[s->st_shndx] : NULL;
	u64 offset = in ? s->st_value - in->sh_addr : 0;

	if (!in || !(in->sh_flags & SHF_EXECINSTR) || in->sh_type != SHT_PROGBITS ||
	    s->st_value < in->sh_addr || s->st_size > in->sh_size ||
	    offset > in->sh_size - s->st_size)
		return "its symbol does not lie in a section of code";
	if (!is_code(o->info, s->st_value, s->st_size))
		return "it is not mapped as code";
	if (!in_file(o, in->sh_offset + offset, s->st_size) ||
	    memcmp(o->file + in->sh_offset + offset,
		   (const u8 *)(uintptr_t)(o->info->dlpi_addr + s->st_value),
		   s->st_size < COMPARED ? s->st_size : COMPARED))
		return "its code is not that of the file";
	return NULL;
}

static int by_address(const void *a, const void *b)
{
	const u8 *x = ((const struct code_site *)a)->code, *y = ((const struct code_site *)b)->code;

	return (x > y) - (x < y);
}

static void find_sites(struct object *o, redirect_target *target)
{
	for (size_t i = 0; i < o->syms; i++) {
		const Elf64_Sym *s = &o->sym[i];
		const char *name = symbol_name(o, s), *why;
		struct code_site site = {.name = name};

		if (!is_function(s) || (strncmp(name, "cu", 2) && strncmp(name, "__cuda", 6)))
			continue;
		site.to = target(name, o->kind);
		/* Those that are shorter than a jump only jump on, to others. */
		if (!site.to || s->st_size < CODE_JUMP_BYTES)
			continue;
		why = doubt(o, s);
		if (why)
			fail_redirect(o, name, why);
		site.code = (u8 *)(uintptr_t)(o->info->dlpi_addr + s->st_value);
		if (!why && !VEC_PUSH(&o->sites, site))
			o->no_memory = true;
	}
	if (o->sites.len)
		qsort(o->sites.at, o->sites.len, sizeof(*o->sites.at), by_address);
}

/* The last site at or before an address, NULL: none. */
static const struct code_site *site_before(const struct object *o, const u8 *at)
{
	size_t low = 0, high = o->sites.len;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (o->sites.at[middle].code <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &o->sites.at[low - 1] : NULL;
}

/*
 * Names for one function are one site; those that begin in another one's first bytes are left
 * alone.
 */
static void drop_overlaps(struct object *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->syms; i++) {
		const Elf64_Sym *s = &o->sym[i];
		const u8 *at = (const u8 *)(uintptr_t)(o->info->dlpi_addr + s->st_value);
		const struct code_site *before = is_function(s) ? site_before(o, at) : NULL;

		if (before && at != before->code && (size_t)(at - before->code) < CODE_JUMP_BYTES) {
			fail_redirect(o, before->name,
				      "another function begins in its first bytes");
			o->sites.at[before - o->sites.at].to = NULL;
		}
	}
	for (size_t i = 0; i < o->sites.len; i++)
		if (o->sites.at[i].to && (!n || o->sites.at[n - 1].code != o->sites.at[i].code))
			o->sites.at[n++] = o->sites.at[i];
	o->sites.len = n;
}

/* Shared runtimes have their number; every copy in a program or a library its own. */
static u32 mark_of(struct redirect *r, const struct object *o, bool shared)
{
	if (o->kind == REDIRECT_DRIVER)
		return 0;
	return shared ? (u32)o->kind : MARK_FIRST + r->copies++;
}

static void redirect_object(struct visit *v, struct object *o, bool shared,
			    struct redirect_object *to)
{
	struct code_caller who = {v->r->place, 0};
	const char *why;

	if (o->no_memory)
		fail_redirect(o, "", "out of memory");
	else if (!o->sites.len)
		return;
	who.mark = mark_of(v->r, o, shared);
	v->out->objects++;
	if (!o->no_memory &&
	    code_redirect(o->sites.at, o->sites.len, &who, o->sites.at[0].code,
			  o->sites.at[o->sites.len - 1].code + CODE_JUMP_BYTES, &to->stubs, &why)) {
		v->out->patched += (u32)o->sites.len;
	} else if (!o->no_memory) {
		for (size_t i = 0; i < o->sites.len; i++)
			fail_redirect(o, o->sites.at[i].name, why);
	}
}

/* The section of a name that begins so, from *i on. NULL: there is none. */
static const Elf64_Shdr *next_section(const struct object *o, const char *name, u32 *i)
{
	const Elf64_Shdr *names;
	size_t n = strlen(name);

	if (!o->sh || o->eh->e_shstrndx >= o->eh->e_shnum)
		return NULL;
	names = &o->sh[o->eh->e_shstrndx];
	if (!in_file(o, names->sh_offset, names->sh_size))
		return NULL;
	for (; *i < o->eh->e_shnum; ++*i) {
		const Elf64_Shdr *s = &o->sh[*i];

		if (s->sh_name < names->sh_size && n <= names->sh_size - s->sh_name &&
		    !memcmp(o->file + names->sh_offset + s->sh_name, name, n)) {
			++*i;
			return s;
		}
	}
	return NULL;
}

static bool has_section(const struct object *o, const char *name)
{
	u32 i = 0;

	return next_section(o, name, &i) != NULL;
}

/* Is there a name that every runtime has for profilers? */
static bool has_names(const struct object *o)
{
	static const char name[] = "cudaGetDeviceCount";
	const Elf64_Shdr *s;
	u32 i = 0;

	while ((s = next_section(o, ".rodata", &i)))
		if (s->sh_type == SHT_PROGBITS && in_file(o, s->sh_offset, s->sh_size) &&
		    memmem(o->file + s->sh_offset, s->sh_size, name, sizeof(name)))
			return true;
	return false;
}

static bool imports(const struct object *o, const char *name)
{
	for (size_t i = 0; i < o->syms; i++)
		if (o->sym[i].st_shndx == SHN_UNDEF && !strcmp(symbol_name(o, &o->sym[i]), name))
			return true;
	return false;
}

static bool is_shared_runtime(const char *path)
{
	return !strncmp(file_base_name(path), "libcudart.so", 12);
}

/*
 * May it carry a runtime? One that is not shared looks for the driver. What is imported is in
 * .dynsym, stripped or not.
 */
static bool may_carry(struct object *o, bool *images)
{
	o->syms = 0;
	if (!find_symbols(o, SHT_DYNSYM) || !imports(o, "dlsym") ||
	    imports(o, "__cudaRegisterFatBinary"))
		return false;
	*images = has_section(o, ".nvFatBinSegment");
	return *images || has_names(o);
}

/* What was found, as what is to be overwritten. */
static void take_found(struct object *o, redirect_target *target)
{
	for (size_t i = 0; i < o->found.functions.len; i++) {
		const struct found_function *f = &o->found.functions.at[i];
		struct code_site site = {.name = f->name, .to = target(f->name, o->kind)};

		if (!site.to || f->size < CODE_JUMP_BYTES)
			continue;
		site.code = (u8 *)(uintptr_t)(o->info->dlpi_addr + f->address);
		if (o->sites.len &&
		    site.code - o->sites.at[o->sites.len - 1].code < CODE_JUMP_BYTES)
			continue;
		if (!VEC_PUSH(&o->sites, site))
			o->no_memory = true;
	}
}

/* A runtime without symbols. Nothing of it is overwritten that has not been recognised. */
static void find_stripped(struct visit *v, struct object *o)
{
	const struct signature_set *known;
	bool images = false;

	if (!v->r->known || !may_carry(o, &images))
		return;
	known = v->r->known();
	if (known && !recognise_runtime(o->info, known, v->r->target, &o->found, &o->kind))
		o->no_memory = true;
	if (o->kind)
		take_found(o, v->r->target);
	/* What only speaks of a runtime need not carry one. */
	if (v->r->tell_stripped && (o->kind || (images && (v->is_main || has_names(o)))))
		v->r->tell_stripped(o->path, v->is_main, o->kind ? &o->found : NULL);
}

/* One of our own libraries: it defines or imports entry points plentry_NAME, which others lack. */
static bool is_own_library(struct object *o)
{
	if (!find_symbols(o, SHT_DYNSYM))
		return false;
	for (size_t i = 0; i < o->syms; i++)
		if (!strncmp(symbol_name(o, &o->sym[i]), "plentry_", 8))
			return true;
	return false;
}

/* An object at its place: another one may come to the same address, or the same one to another. */
static u64 identity(const struct dl_phdr_info *info)
{
	return hash_more(info->dlpi_addr ^ HASH_SEED, info->dlpi_name, strlen(info->dlpi_name));
}

/* Takes it out of those of the last call. */
static bool was_seen(struct redirect *r, u64 id, struct redirect_object *out)
{
	for (size_t i = 0; i < r->seen.len; i++)
		if (r->seen.at[i].id == id) {
			*out = r->seen.at[i];
			r->seen.at[i] = r->seen.at[--r->seen.len];
			return true;
		}
	return false;
}

static void tell_redirected(struct redirect_result *out, const struct object *o)
{
	if (!o->failed)
		return;
	if (!out->failed)
		snprintf(out->why, sizeof(out->why), "%s in %s: %s", o->where, o->path, o->why);
	out->failed += o->failed;
}

static void look_into(struct visit *v, const char *path, const struct dl_phdr_info *info,
		      struct redirect_object *to)
{
	struct object o = {.path = path, .info = info};
	struct file f;

	if (!file_open(&f, path))
		return;
	o.file = f.data;
	o.size = f.size;
	if (!is_own_library(&o)) {
		/* What a shared runtime or a driver exports is all that there is to it. */
		o.kind = o.syms ? carried(&o) : REDIRECT_NOTHING;
		if (!o.kind && find_symbols(&o, SHT_SYMTAB))
			o.kind = carried(&o);
		else if (o.kind)
			find_symbols(&o, SHT_DYNSYM);
		if (o.kind) {
			find_sites(&o, v->r->target);
			drop_overlaps(&o);
		} else {
			find_stripped(v, &o);
		}
		if (o.kind)
			redirect_object(v, &o, is_shared_runtime(path), to);
	}
	tell_redirected(v->out, &o);
	VEC_FREE(&o.sites);
	find_fini(&o.found);
	file_close(&f);
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *user)
{
	struct visit *v = user;
	const char *path = v->is_main ? "/proc/self/exe" : info->dlpi_name;
	struct redirect_object o = {.id = identity(info)};

	(void)size;
	if (!was_seen(v->r, o.id, &o) && *path)
		look_into(v, path, info, &o);
	v->is_main = false;
	return !VEC_PUSH(&v->seen, o);
}

void redirect_new(struct redirect *r, struct redirect_result *out)
{
	struct visit v = {.r = r, .out = out, .is_main = true};

	*out = (struct redirect_result){0};
	dl_iterate_phdr(visit_object, &v);
	for (size_t i = 0; i < r->seen.len; i++)
		code_stubs_free(&r->seen.at[i].stubs);
	VEC_FREE(&r->seen);
	r->seen.at = v.seen.at;
	r->seen.len = v.seen.len;
	r->seen.cap = v.seen.cap;
}

/* ---- the loader's own breakpoint ---- */

/*
 * The bytes of a function that does nothing, up to the next one: `ret`, maybe after an endbr64. 0:
 * it does.
 */
static u32 empty_function(const u8 *code)
{
	static const u8 landing[] = {0xf3, 0x0f, 0x1e, 0xfa};
	u32 n = memcmp(code, landing, sizeof(landing)) ? 0 : sizeof(landing);

	return code[n] == 0xc3 ? n + 1 + code_padding(code + n + 1) : 0;
}

struct in_code {
	u64 address;
	bool found;
};

static int find_code(struct dl_phdr_info *info, size_t size, void *user)
{
	struct in_code *c = user;

	(void)size;
	c->found = is_code(info, c->address - info->dlpi_addr, 16);
	return c->found;
}

/*
 * Debuggers learn of new objects from a function of the loader that does nothing and that it calls
 * when they are mapped. A jump to the hook goes there and into the padding after it.
 */
bool redirect_watch(void (*hook)(void))
{
	u8 *code = (u8 *)(uintptr_t)_r_debug.r_brk;
	struct in_code c = {(u64)_r_debug.r_brk, false};
	struct code_site site = {.code = code, .to = (const void *)(uintptr_t)hook, .name = ""};
	struct code_caller no_caller = {0};
	struct code_stubs stubs;
	const char *why;

	dl_iterate_phdr(find_code, &c);
	return c.found && (uintptr_t)code % 16 == 0 && empty_function(code) >= CODE_JUMP_BYTES &&
	       code_redirect(&site, 1, &no_caller, code, code + CODE_JUMP_BYTES, &stubs, &why);
}
