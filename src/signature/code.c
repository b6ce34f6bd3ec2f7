/*
 * The parts of an image, and where its functions begin: in the search table for unwinding, which
 * stripping leaves. Without one they may begin at each multiple of 16.
 */
#include "src/signature/code.h"

#define STARTS_MAX (1u << 24)
#define ALIGNMENT 16u

static void add_code_part(struct code_image *c, const Elf64_Phdr *p, const u8 *at, u64 bytes)
{
	if (p->p_type == PT_GNU_EH_FRAME)
		c->unwind = p->p_vaddr;
	if (p->p_type != PT_LOAD || !(p->p_flags & PF_R) || !bytes ||
	    p->p_vaddr > UINT64_MAX - bytes || c->part_count == CODE_PARTS)
		return;
	c->parts[c->part_count++] =
		(struct code_part){p->p_vaddr, bytes, at, (p->p_flags & PF_X) != 0};
}

const u8 *code_at(const struct code_image *c, u64 address, u64 bytes)
{
	for (u32 i = 0; i < c->part_count; i++) {
		const struct code_part *p = &c->parts[i];

		if (address >= p->address && bytes <= p->bytes &&
		    address - p->address <= p->bytes - bytes)
			return p->at + (address - p->address);
	}
	return NULL;
}

const u8 *code_executable(const struct code_image *c, u64 address, u64 bytes)
{
	for (u32 i = 0; i < c->part_count; i++) {
		const struct code_part *p = &c->parts[i];

		if (p->executable && address >= p->address && bytes <= p->bytes &&
		    address - p->address <= p->bytes - bytes)
			return p->at + (address - p->address);
	}
	return NULL;
}

/* The form that all linkers write: offsets of 32 bits from the table, sorted. */
static bool read_starts(struct code_image *c)
{
	static const u8 form[] = {1, 0x1b, 3, 0x3b};
	const u8 *head = c->unwind ? code_at(c, c->unwind, 12) : NULL, *table;
	u32 count;
	u64 last = 0;

	if (!head || memcmp(head, form, sizeof(form)))
		return true;
	memcpy(&count, head + 8, 4);
	table = count <= STARTS_MAX ? code_at(c, c->unwind + 12, (u64)count * 8) : NULL;
	if (!table)
		return true;
	if (!VEC_RESERVE(&c->starts, count))
		return false;
	for (u32 i = 0; i < count; i++) {
		s32 distance;
		u64 at;

		memcpy(&distance, table + (size_t)i * 8, 4);
		at = c->unwind + (u64)(s64)distance;
		if (at < last) {
			VEC_FREE(&c->starts);
			return true;
		}
		c->starts.at[c->starts.len++] = last = at;
	}
	return true;
}

bool code_open_memory(struct code_image *c, const u8 *base, const Elf64_Phdr *ph, u32 count)
{
	*c = (struct code_image){0};
	for (u32 i = 0; i < count; i++)
		add_code_part(c, &ph[i], (const u8 *)((uintptr_t)base + ph[i].p_vaddr),
			      ph[i].p_filesz);
	return read_starts(c);
}

bool code_open_file(struct code_image *c, const u8 *file, size_t size)
{
	Elf64_Ehdr eh;

	*c = (struct code_image){0};
	if (size < sizeof(eh))
		return false;
	memcpy(&eh, file, sizeof(eh));
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_ident[EI_DATA] != ELFDATA2LSB || eh.e_machine != EM_X86_64 ||
	    eh.e_phentsize != sizeof(Elf64_Phdr) || !eh.e_phnum || eh.e_phoff > size ||
	    (u64)eh.e_phnum * sizeof(Elf64_Phdr) > size - eh.e_phoff)
		return false;
	for (u32 i = 0; i < eh.e_phnum; i++) {
		Elf64_Phdr p;

		memcpy(&p, file + eh.e_phoff + (u64)i * sizeof(p), sizeof(p));
		if (p.p_offset > size || p.p_filesz > size - p.p_offset)
			continue;
		add_code_part(c, &p, file + p.p_offset, p.p_filesz);
	}
	return c->part_count && read_starts(c);
}

void code_fini(struct code_image *c)
{
	VEC_FREE(&c->starts);
}

bool code_next_start(const struct code_image *c, u64 *i, u64 *address)
{
	u64 left;

	if (c->starts.len) {
		if (*i >= c->starts.len)
			return false;
		*address = c->starts.at[(*i)++];
		return true;
	}
	/* *i is the next address then. */
	for (u32 k = 0; k < c->part_count; k++) {
		const struct code_part *p = &c->parts[k];
		u64 at = align_up(*i > p->address ? *i : p->address, ALIGNMENT);

		left = p->executable && at >= p->address ? p->bytes : 0;
		if (at - p->address >= left)
			continue;
		*address = at;
		*i = at + ALIGNMENT;
		return true;
	}
	return false;
}

size_t code_start_from(const struct code_image *c, u64 address)
{
	size_t low = 0, high = c->starts.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->starts.at[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
