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
	const struct redirect_entry *table;
	size_t n;
	struct redirect_result *out;
	bool is_main;
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

/* Find .symtab and its strings. False when the file is not ours to read, or is stripped. */
static bool find_symbols(struct object *o)
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
		if (s->sh_type != SHT_SYMTAB || s->sh_link >= o->eh->e_shnum || s->sh_offset % 8)
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

static int compare_name(const void *key, const void *entry)
{
	return strcmp(key, ((const struct redirect_entry *)entry)->name);
}

static void *target_of(const struct patcher *p, const char *name)
{
	const struct redirect_entry *e =
		bsearch(name, p->table, p->n, sizeof(*p->table), compare_name);

	return e ? e->to : NULL;
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

/* Does the object define the entry that every static runtime has? */
static bool carries_runtime(const struct object *o)
{
	for (size_t i = 0; i < o->syms; i++)
		if (is_function(&o->sym[i]) &&
		    !strcmp(symbol_name(o, &o->sym[i]), "__cudaRegisterFatBinary"))
			return true;
	return false;
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
		to = target_of(p, name);
		if (!to)
			continue;
		if (write_jump(p, (u8 *)(uintptr_t)(o->base + o->sym[i].st_value),
			       o->sym[i].st_size, to))
			p->out->patched++;
		else if (o->sym[i].st_size >= NEAR_JUMP) /* the shortest ones only jump on */
			p->out->failed++;
	}
}

static bool has_fat_binaries(const struct object *o)
{
	const Elf64_Shdr *names;

	if (!o->sh || o->eh->e_shstrndx >= o->eh->e_shnum)
		return false;
	names = &o->sh[o->eh->e_shstrndx];
	if (!in_file(o, names->sh_offset, names->sh_size))
		return false;
	for (u32 i = 0; i < o->eh->e_shnum; i++)
		if (o->sh[i].sh_name < names->sh_size &&
		    !strncmp((const char *)o->file + names->sh_offset + o->sh[i].sh_name,
			     ".nvFatBinSegment", names->sh_size - o->sh[i].sh_name))
			return true;
	return false;
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

static int visit(struct dl_phdr_info *info, size_t size, void *user)
{
	struct patcher *p = user;
	const char *path = p->is_main ? "/proc/self/exe" : info->dlpi_name;
	struct object o = {.base = info->dlpi_addr};
	struct file f;

	(void)size;
	if (!*path || is_shared_runtime(path) || !file_open(&f, path)) {
		p->is_main = false;
		return 0;
	}
	o.file = f.data;
	o.size = f.size;
	p->island = NULL;
	p->islands = 0;
	if (find_symbols(&o)) {
		if (carries_runtime(&o))
			patch_object(p, &o);
	} else if (p->is_main && has_fat_binaries(&o)) {
		p->out->stripped = true;
	}
	if (p->island)
		mprotect(p->island, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC);
	file_close(&f);
	p->is_main = false;
	return 0;
}

void redirect_all(const struct redirect_entry *table, size_t n, struct redirect_result *out)
{
	struct patcher p = {.table = table, .n = n, .out = out, .is_main = true};

	*out = (struct redirect_result){0};
	dl_iterate_phdr(visit, &p);
}
