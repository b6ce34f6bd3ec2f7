/*
 * ELF files: the sections of host programs that hold containers, and the names and debug text of
 * cubins. libelf reads the tables; every offset it reports is checked here once more against the
 * file.
 */
#include "src/base/size.h"
#include "src/base/map.h"
#include "src/dev/image/image_int.h"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

#define CUDA_MACHINE 190 /* EM_CUDA */
/* e_flags of cubins. From ABI version 8 on the SM is in the second byte, before in the first. */
#define CUDA_ABI_8 8
/* st_other of a symbol: this function is a kernel. */
#define CUDA_ENTRY 0x10
#define DEBUG_TEXT ".nv_debug_ptx_txt"
/* Longer names are taken for damage. */
#define NAME_MAX_BYTES 65536u

struct elf_reader {
	const u8 *data;
	size_t size;
	Elf *elf;
	GElf_Ehdr header;
	size_t names; /* section index of the section names */
	Elf_Scn *at;
};

struct elf_section {
	Elf_Scn *scn;
	GElf_Shdr header;
	const char *name; /* NUL-terminated inside the file; "" when damaged */
	const u8 *data;   /* NULL: outside the file, or without bytes in it */
	size_t size;
};

bool image_is_elf(const u8 *p, size_t size)
{
	return size >= EI_NIDENT && !memcmp(p, ELFMAG, SELFMAG);
}

/* False when libelf cannot make sense of the header. Pair with reader_close in either case. */
static bool reader_open(struct elf_reader *r, const u8 *p, size_t size)
{
	*r = (struct elf_reader){.data = p, .size = size};
	if (elf_version(EV_CURRENT) == EV_NONE || !image_is_elf(p, size))
		return false;
	/* libelf's prototype wants a writable image; opened like this it only reads. */
	r->elf = elf_memory((char *)(uintptr_t)p, size);
	if (!r->elf || elf_kind(r->elf) != ELF_K_ELF || !gelf_getehdr(r->elf, &r->header))
		return false;
	return r->header.e_shoff != 0 && !elf_getshdrstrndx(r->elf, &r->names);
}

static void reader_close(struct elf_reader *r)
{
	if (r->elf)
		elf_end(r->elf);
}

/* Entry `offset` of string table `section`: a pointer into the file, or NULL. */
static const char *reader_string(const struct elf_reader *r, size_t section, u64 offset)
{
	GElf_Shdr h;
	u64 left;
	const char *s;

	if (!gelf_getshdr(elf_getscn(r->elf, section), &h) || h.sh_type != SHT_STRTAB)
		return NULL;
	if (!size_inside(h.sh_offset, h.sh_size, 0, r->size) || offset >= h.sh_size)
		return NULL;
	s = (const char *)r->data + h.sh_offset + offset;
	left = min_u64(h.sh_size - offset, NAME_MAX_BYTES);
	return memchr(s, 0, (size_t)left) ? s : NULL;
}

static bool reader_next(struct elf_reader *r, struct elf_section *s)
{
	const char *name;

	r->at = elf_nextscn(r->elf, r->at);
	*s = (struct elf_section){.scn = r->at, .name = ""};
	if (!r->at)
		return false;
	if (!gelf_getshdr(r->at, &s->header))
		return true;
	name = reader_string(r, r->names, s->header.sh_name);
	s->name = name ? name : "";
	if (s->header.sh_type != SHT_NOBITS &&
	    size_inside(s->header.sh_offset, s->header.sh_size, 0, r->size)) {
		s->data = r->data + s->header.sh_offset;
		s->size = (size_t)s->header.sh_size;
	}
	return true;
}

static bool holds_containers(const char *name)
{
	/*
	 * The second holds the containers of relocatable device code, before and after the
	 * device link.
	 */
	return !strcmp(name, ".nv_fatbin") || !strcmp(name, "__nv_relfatbin");
}

static enum image_result add_sections(struct image_list *l, struct elf_reader *r)
{
	enum image_result result = IMAGE_OK;
	struct elf_section s;
	size_t searched = 0;

	while (result == IMAGE_OK && reader_next(r, &s)) {
		if (!holds_containers(s.name) || s.header.sh_type == SHT_NOBITS)
			continue;
		if (!s.data)
			return image_error(l, r->data, "section %s ends past the end of the file",
					   s.name);
		searched += s.size;
		if (searched > r->size)
			return image_error(l, s.data, "the sections with images overlap");
		result = image_add_section(l, s.data, s.size);
	}
	return result;
}

static enum image_result add_cubin(struct image_list *l, const struct elf_reader *r)
{
	u32 flags = r->header.e_flags;
	u8 abi = r->header.e_ident[EI_ABIVERSION];
	struct image img = {
		.kind = IMAGE_SASS,
		.target = {.sm = abi >= CUDA_ABI_8 ? flags >> 8 & 0xff : flags & 0xff},
		.isa_major = abi,
		.data = r->data,
		.stored_bytes = r->size,
		.raw_bytes = r->size,
	};
	enum image_result result = image_open_container(l, r->data);

	return result == IMAGE_OK ? image_append(l, &img) : result;
}

/* Bytes the file must have for its header and its table of sections. */
static u64 least_size(const u8 *p, size_t size)
{
	Elf64_Ehdr h;
	u64 end;

	if (size < sizeof(h))
		return sizeof(h);
	memcpy(&h, p, sizeof(h));
	if (h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    !size_mul_add(h.e_shnum, sizeof(Elf64_Shdr), h.e_shoff, &end))
		return 0;
	return end;
}

enum image_result image_add_elf(struct image_list *l, const u8 *p, size_t size)
{
	struct elf_reader r;
	enum image_result result;
	bool usable = reader_open(&r, p, size);
	u64 least = least_size(p, size);

	if (r.elf && r.header.e_machine == CUDA_MACHINE)
		result = add_cubin(l, &r);
	else if (usable)
		result = add_sections(l, &r);
	else /* no section table, as after sstrip, or a damaged one */
		result = image_add_scan(l, p, size);
	reader_close(&r);
	if (result == IMAGE_OK && !l->containers.len && least > size)
		return image_error(l, p, "the file is cut short: it has %zu bytes and needs %llu",
				   size, (unsigned long long)least);
	return result;
}

/* One past the last byte of `count` table entries. */
static u64 table_end(u64 at, u64 count, u64 bytes)
{
	return at + count * bytes;
}

size_t image_elf_extent(const u8 *p)
{
	u64 end = sizeof(Elf64_Ehdr), at, n;
	Elf64_Ehdr h;
	Elf64_Shdr s;

	if (p[EI_CLASS] != ELFCLASS64 || p[EI_DATA] != ELFDATA2LSB)
		return 0; /* cubins of 64-bit hosts only: there are no others since CUDA 9 */
	memcpy(&h, p, sizeof(h));
	at = h.e_shoff;
	n = h.e_shnum;
	if (at >= IMAGE_RAW_MAX || h.e_phoff >= IMAGE_RAW_MAX || (n && h.e_shentsize != sizeof(s)))
		return 0;
	end = max_u64(end, table_end(h.e_phoff, h.e_phnum, h.e_phentsize));
	end = max_u64(end, table_end(at, n, sizeof(s)));
	for (u64 i = 0; i < n; i++) {
		memcpy(&s, p + at + i * sizeof(s), sizeof(s));
		if (s.sh_type == SHT_NOBITS || s.sh_type == SHT_NULL)
			continue;
		if (s.sh_offset >= IMAGE_RAW_MAX || s.sh_size >= IMAGE_RAW_MAX)
			return 0;
		end = max_u64(end, s.sh_offset + s.sh_size);
	}
	return (size_t)end;
}

static bool holds_debug_text(const struct elf_section *s)
{
	size_t n = strlen(DEBUG_TEXT);

	return s->size && !strncmp(s->name, DEBUG_TEXT, n) && (!s->name[n] || s->name[n] == '.');
}

const u8 *image_elf_debug_text(const u8 *p, size_t size, u32 *number, size_t *len)
{
	const u8 *found = NULL;
	struct elf_section s;
	struct elf_reader r;
	size_t passed = 0; /* bytes of texts: more than the file has when sections overlap */

	if (reader_open(&r, p, size))
		while (!found && passed <= size && reader_next(&r, &s)) {
			if (!holds_debug_text(&s))
				continue;
			passed += s.size;
			if (passed > size || (*number)-- > 0)
				continue;
			found = s.data;
			*len = s.size;
		}
	reader_close(&r);
	return found;
}

u32 image_cubin_ptx_count(const u8 *data, size_t size)
{
	u32 left = UINT32_MAX; /* more than there can be: all are counted, none is found */
	size_t len;

	image_elf_debug_text(data, size, &left, &len);
	return UINT32_MAX - left;
}

static bool add_kernel(struct image_kernels *out, const char *name)
{
	struct image_kernel k = {.name = name, .name_len = (u32)strlen(name)};

	return VEC_PUSH(&out->list, k);
}

/* Kernels by the mark on their symbols. */
static bool scan_symbols(struct elf_reader *r, const struct elf_section *s,
			 struct image_kernels *out)
{
	Elf_Data *data = s->data ? elf_getdata(s->scn, NULL) : NULL;
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *name;

		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || !(sym.st_other & CUDA_ENTRY) ||
		    sym.st_shndx == SHN_UNDEF)
			continue;
		name = reader_string(r, s->header.sh_link, sym.st_name);
		if (name && *name && !add_kernel(out, name))
			return false;
	}
	return true;
}

/* Kernels by their code sections, for cubins stripped of symbols. */
static bool scan_text_sections(struct elf_reader *r, struct image_kernels *out)
{
	struct elf_section s;

	r->at = NULL;
	while (reader_next(r, &s))
		if (!strncmp(s.name, ".text.", 6) && s.name[6] && !add_kernel(out, s.name + 6))
			return false;
	return true;
}

bool image_scan_cubin(const u8 *data, size_t size, struct image_kernels *out)
{
	bool ok = true, symbols = false;
	struct elf_section s;
	struct elf_reader r;

	if (reader_open(&r, data, size)) {
		while (ok && !symbols && reader_next(&r, &s))
			if (s.header.sh_type == SHT_SYMTAB) {
				symbols = true;
				ok = scan_symbols(&r, &s, out);
			}
		if (!symbols)
			ok = scan_text_sections(&r, out);
	}
	reader_close(&r);
	return ok;
}

/* ---- machine code ---- */

#define CODE_PREFIX ".text."
#define INFO_SECTION ".nv.info"
/* .nv.info is a list of attributes: a byte for the form, one for the attribute, two for a size. */
#define INFO_SIZED 4u
#define INFO_REGISTERS 0x2fu /* of: index of a symbol, registers of a thread */
/* An instruction is 16 bytes from Volta on; of LDC the lowest twelve bits are, as nvdisasm says: */
#define INSN_BYTES 16u
#define INSN_OPCODE 0xfffu
#define OPCODE_LDC 0xb82u
/* Five bits further up are the bank of constants: parameters are in bank 0, `.const` in bank 3. */
#define LDC_BANK_SHIFT 54u
#define LDC_BANK 0x1fu

static u32 count_parameter_loads(const struct elf_section *s)
{
	u32 n = 0;

	for (size_t i = 0; i + INSN_BYTES <= s->size; i += INSN_BYTES)
		n += (le32(s->data + i) & INSN_OPCODE) == OPCODE_LDC &&
		     !(le64(s->data + i) >> LDC_BANK_SHIFT & LDC_BANK);
	return n;
}

/* Registers by the hash of the function's name, from the section that has those of all. */
static void read_registers(struct elf_reader *r, const struct elf_section *info, struct map *out)
{
	GElf_Shdr symbols;
	Elf_Scn *scn = elf_getscn(r->elf, info->header.sh_link);
	Elf_Data *data = scn && gelf_getshdr(scn, &symbols) ? elf_getdata(scn, NULL) : NULL;

	for (size_t at = 0; data && at + 4 <= info->size;) {
		const u8 *p = info->data + at;
		size_t n = p[0] == INFO_SIZED ? le16(p + 2) : 0;
		const char *of = NULL;
		GElf_Sym sym;

		at += 4 + n;
		if (at > info->size || p[0] != INFO_SIZED || p[1] != INFO_REGISTERS || n < 8)
			continue;
		if (gelf_getsym(data, (int)(le32(p + 4) & INT32_MAX), &sym))
			of = reader_string(r, symbols.sh_link, sym.st_name);
		/* Without memory they are not known. */
		if (of)
			map_set(out, hash_bytes(of, strlen(of)) | 1, le32(p + 8));
	}
}

static u32 registers_in(const struct map *registers, const char *name)
{
	const u64 *at = map_get(registers, hash_bytes(name, strlen(name)) | 1);

	return at ? (u32)*at : 0;
}

void image_scan_code(const u8 *data, size_t size,
		     void (*add)(void *user, const struct image_code *c), void *user)
{
	struct elf_section s, info = {0};
	struct elf_reader r;
	const size_t prefix = strlen(CODE_PREFIX);
	struct map registers = {0};

	if (reader_open(&r, data, size)) {
		while (!info.data && reader_next(&r, &s))
			if (!strcmp(s.name, INFO_SECTION))
				info = s;
		if (info.data)
			read_registers(&r, &info, &registers);
		r.at = NULL;
		while (reader_next(&r, &s)) {
			struct image_code c = {.name = s.name + prefix, .bytes = s.size};

			if (!s.data || strncmp(s.name, CODE_PREFIX, prefix) || !s.name[prefix])
				continue;
			c.constant_loads = count_parameter_loads(&s);
			c.registers = registers_in(&registers, c.name);
			add(user, &c);
		}
	}
	map_fini(&registers);
	reader_close(&r);
}
