/*
 * Overwrites the entry points of static CUDA runtimes. Reads the object files' symbol tables with
 * bounds checks: a damaged file is left alone.
 */
#include "runtime/redirect.h"

#include "src/base/file.h"

#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define FAR_JUMP 13 /* movabs $target, %r11; jmp *%r11 */
#define NEAR_JUMP 5 /* jmp rel32 */
#define ISLANDS 64

struct patcher {
	struct redirect *r;
	struct redirect_result *out;
	VEC(u64) seen;
	bool is_main;
	int major; /* of the static runtime in the object */
	u8 *island; /* near the object: far jumps for entry points too short to hold one */
	u32 islands;
};

struct object {
	const u8 *file;
	size_t size;
	const Elf64_Ehdr *eh;
	const Elf64_Shdr *sh;
	const Elf64_Sym *sym;
	size_t syms;
	const char *str;
	size_t str_size;
	u64 base; /* load bias */
};

static bool in_file(const struct object *o, u64 at, u64 size)
{
	return at <= o->size && size <= o->size - at;
}

/* Find .symtab or .dynsym and its strings. False when the file is not ours to read, or is stripped. */
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

static void far_jump(u8 *code, const void *to)
{
	u64 target = (u64)(uintptr_t)to;

	code[0] = 0x49;
	code[1] = 0xbb;
	memcpy(code + 2, &target, 8);
	code[10] = 0x41;
	code[11] = 0xff;
	code[12] = 0xe3;
}

/* A page within reach of a near jump from `code`. */
static u8 *near_page(const u8 *code)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE), at = (u64)(uintptr_t)code & ~(page - 1);

	for (u64 step = page; step < (u64)1 << 30; step *= 2)
		for (int sign = -1; sign <= 1; sign += 2) {
			void *hint = (void *)(uintptr_t)(sign < 0 ? at - step : at + step);
			void *p = mmap(hint, page, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

			if (p == hint)
				return p;
			if (p != MAP_FAILED)
				munmap(p, page);
		}
	return NULL;
}

static bool write_jump(struct patcher *p, u8 *code, u64 size, const void *to)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE);
	u8 *first = (u8 *)((uintptr_t)code & ~(page - 1)),
	   *last = (u8 *)align_up((u64)(uintptr_t)code + FAR_JUMP, page);
	u8 jump[FAR_JUMP];
	u32 n = FAR_JUMP;

	if (size < FAR_JUMP) {
		u8 *island;
		s64 distance;

		if (!p->island)
			p->island = near_page(code);
		if (size < NEAR_JUMP || !p->island || p->islands == ISLANDS)
			return false;
		island = p->island + 16 * p->islands++;
		far_jump(island, to);
		distance = island - (code + NEAR_JUMP);
		jump[0] = 0xe9;
		memcpy(jump + 1, &distance, 4);
		n = NEAR_JUMP;
	} else {
		far_jump(jump, to);
	}
	/* Writable and executable at once is refused on some systems, so one after the other. */
	if (mprotect(first, (size_t)(last - first), PROT_READ | PROT_WRITE))
		return false;
	memcpy(code, jump, n);
	return !mprotect(first, (size_t)(last - first), PROT_READ | PROT_EXEC);
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

/* Major version of the static runtime that an object carries, 0: none. */
static int carried_runtime(const struct object *o)
{
	if (!defines(o, "__cudaRegisterFatBinary"))
		return 0;
	if (defines(o, "cudaGetDeviceProperties_v2"))
		return 12;
	return defines(o, "__cudaRegisterTexture") ? 11 : 13;
}

static void patch_object(struct patcher *p, const struct object *o)
{
	p->out->objects++;
	for (size_t i = 0; i < o->syms; i++) {
		const char *name = symbol_name(o, &o->sym[i]);
		void *to;

		if (!is_function(&o->sym[i]) ||
		    (strncmp(name, "cuda", 4) && strncmp(name, "__cuda", 6)))
			continue;
		to = p->r->target(name, p->major);
		if (!to)
			continue;
		if (write_jump(p, (u8 *)(uintptr_t)(o->base + o->sym[i].st_value),
			       o->sym[i].st_size, to))
			p->out->patched++;
		else if (o->sym[i].st_size >= NEAR_JUMP) /* the shortest ones only jump on */
			p->out->failed++;
	}
}

static bool has_section(const struct object *o, const char *name)
{
	const Elf64_Shdr *names;

	if (!o->sh || o->eh->e_shstrndx >= o->eh->e_shnum)
		return false;
	names = &o->sh[o->eh->e_shstrndx];
	if (!in_file(o, names->sh_offset, names->sh_size))
		return false;
	for (u32 i = 0; i < o->eh->e_shnum; i++)
		if (o->sh[i].sh_name < names->sh_size &&
		    !strncmp((const char *)o->file + names->sh_offset + o->sh[i].sh_name, name,
			     names->sh_size - o->sh[i].sh_name))
			return true;
	return false;
}

/* Does it leave registration to a shared runtime? What it imports is in .dynsym, stripped or not. */
static bool imports_runtime(struct object *o)
{
	if (!find_symbols(o, SHT_DYNSYM))
		return false;
	for (size_t i = 0; i < o->syms; i++)
		if (o->sym[i].st_shndx == SHN_UNDEF &&
		    !strcmp(symbol_name(o, &o->sym[i]), "__cudaRegisterFatBinary"))
			return true;
	return false;
}

static bool is_stripped_runtime(struct object *o)
{
	return has_section(o, ".nvFatBinSegment") && !imports_runtime(o);
}

/* Shared runtimes, ours among them, are not to be redirected. */
static bool is_shared_runtime(const char *path)
{
	static const char *const names[] = {"libcudart.so", "libcuda.so", "libptxloom"};
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strncmp(base, names[i], strlen(names[i])))
			return true;
	return false;
}

/* An object at its place: another one may come to the same address, or the same one to another. */
static u64 identity(const struct dl_phdr_info *info)
{
	u64 h = info->dlpi_addr ^ 0xcbf29ce484222325u;

	for (const char *s = info->dlpi_name; *s; s++)
		h = (h ^ (u8)*s) * 0x100000001b3u;
	return h;
}

static bool was_seen(const struct redirect *r, u64 id)
{
	for (size_t i = 0; i < r->seen.len; i++)
		if (r->seen.at[i] == id)
			return true;
	return false;
}

static void look_into(struct patcher *p, const char *path, u64 base)
{
	struct object o = {.base = base};
	struct file f;

	if (!file_open(&f, path))
		return;
	o.file = f.data;
	o.size = f.size;
	p->island = NULL;
	p->islands = 0;
	if (find_symbols(&o, SHT_SYMTAB)) {
		p->major = carried_runtime(&o);
		if (p->major)
			patch_object(p, &o);
	} else if (p->is_main && is_stripped_runtime(&o)) {
		p->out->stripped = true;
	}
	if (p->island)
		mprotect(p->island, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC);
	file_close(&f);
}

static int visit(struct dl_phdr_info *info, size_t size, void *user)
{
	struct patcher *p = user;
	const char *path = p->is_main ? "/proc/self/exe" : info->dlpi_name;
	u64 id = identity(info);

	(void)size;
	if (!VEC_PUSH(&p->seen, id))
		return 1;
	if (*path && !was_seen(p->r, id) && !is_shared_runtime(path))
		look_into(p, path, info->dlpi_addr);
	p->is_main = false;
	return 0;
}

void redirect_new(struct redirect *r, struct redirect_result *out)
{
	struct patcher p = {.r = r, .out = out, .is_main = true};

	*out = (struct redirect_result){0};
	dl_iterate_phdr(visit, &p);
	VEC_FREE(&r->seen);
	r->seen.at = p.seen.at;
	r->seen.len = p.seen.len;
	r->seen.cap = p.seen.cap;
}

/* ---- the loader's own breakpoint ---- */

/* `ret`, maybe behind an endbr64, and then nothing but padding: the function does nothing. */
static bool is_empty_function(const u8 *code)
{
	static const u8 landing[] = {0xf3, 0x0f, 0x1e, 0xfa};
	u32 i = memcmp(code, landing, sizeof(landing)) ? 0 : sizeof(landing);

	return code[i] == 0xc3 && !((uintptr_t)code % 16);
}

/*
 * Debuggers learn of new objects from a function of the loader that does nothing and that it calls
 * when they are mapped. A jump to the hook goes there; functions begin at multiples of 16 bytes, so
 * there is room for it.
 */
bool redirect_watch(void (*hook)(void))
{
	u8 *code = (u8 *)(uintptr_t)_r_debug.r_brk;
	struct redirect none = {0};
	struct redirect_result ignored = {0};
	struct patcher p = {.r = &none, .out = &ignored};

	return code && is_empty_function(code) &&
	       write_jump(&p, code, FAR_JUMP, (const void *)(uintptr_t)hook);
}
