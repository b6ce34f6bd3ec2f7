/*
 * Reads archives and the objects in them. All that they say is checked, wherever an archive comes
 * from.
 */
#include "src/signature/learn.h"

#include <ar.h>
#include <elf.h>
#include <inttypes.h>

struct learn_place {
	u64 offset, bytes;
};

struct object_view {
	const u8 *at;
	u64 size;
	Elf64_Ehdr eh;
	u64 section_count;
	const Elf64_Shdr *sections; /* a copy */
	const char *names;          /* of symbols */
	u64 names_bytes;
};

struct learn {
	struct text *out, *why;
	struct learned *n;
	struct object_view o;
	const char *member;
	VEC(Elf64_Sym) symbols; /* those that count, by section and offset */
	VEC(struct learn_place) places;
	bool no_memory;
};

static bool wrong_object(struct learn *l, const char *what)
{
	text_printf(l->why, "%s: %s", l->member, what);
	return false;
}

/* `bytes` bytes of the object at `offset`, NULL: it has not so many. */
static const u8 *object_bytes(const struct object_view *o, u64 offset, u64 bytes)
{
	return offset <= o->size && bytes <= o->size - offset ? o->at + offset : NULL;
}

static const u8 *section_bytes(const struct object_view *o, const Elf64_Shdr *s)
{
	return s->sh_type == SHT_NOBITS ? NULL : object_bytes(o, s->sh_offset, s->sh_size);
}

/* The entry points are C functions; what C++ and the linker make of them has other names. */
static bool is_runtime_name(const char *s)
{
	return (!strncmp(s, "cuda", 4) && s[4] >= 'A' && s[4] <= 'Z') ||
	       (!strncmp(s, "__cuda", 6) && s[6] >= 'A' && s[6] <= 'Z');
}

static const char *learn_name(const struct object_view *o, const Elf64_Sym *s)
{
	const char *name;

	if (s->st_name >= o->names_bytes)
		return "";
	name = o->names + s->st_name;
	if (!memchr(name, 0, o->names_bytes - s->st_name) || strlen(name) > SIGNATURE_MAX_NAME)
		return "";
	/* A table is lines of words. */
	for (const char *c = name; *c; c++)
		if ((u8)*c <= ' ' || (u8)*c >= 0x7f)
			return "";
	return name;
}

static int by_section(const void *a, const void *b)
{
	const Elf64_Sym *x = a, *y = b;

	if (x->st_shndx != y->st_shndx)
		return x->st_shndx < y->st_shndx ? -1 : 1;
	if (x->st_value != y->st_value)
		return x->st_value < y->st_value ? -1 : 1;
	return (x->st_name > y->st_name) - (x->st_name < y->st_name);
}

static bool collect_symbols(struct learn *l, const Elf64_Shdr *table)
{
	const struct object_view *o = &l->o;
	const u8 *symbols = section_bytes(o, table), *names;

	if (table->sh_link >= o->section_count || !symbols)
		return wrong_object(l, "its symbols are not in it");
	names = section_bytes(o, &o->sections[table->sh_link]);
	if (!names)
		return wrong_object(l, "the names of its symbols are not in it");
	l->o.names = (const char *)names;
	l->o.names_bytes = o->sections[table->sh_link].sh_size;
	for (u64 i = 0; i < table->sh_size / sizeof(Elf64_Sym); i++) {
		Elf64_Sym s;

		memcpy(&s, symbols + i * sizeof(s), sizeof(s));
		if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx == SHN_UNDEF ||
		    s.st_shndx >= SHN_LORESERVE || s.st_shndx >= o->section_count || !s.st_size ||
		    !is_runtime_name(learn_name(o, &s)))
			continue;
		if (!VEC_PUSH(&l->symbols, s))
			l->no_memory = true;
	}
	if (l->symbols.len)
		qsort(l->symbols.at, l->symbols.len, sizeof(*l->symbols.at), by_section);
	return true;
}

/*
 * What a linker changes for a relocation: the value, and for those it may relax the instruction as
 * well.
 */
static struct learn_place changed_by(u64 offset, u32 type)
{
	u64 before = 0, bytes = 4;

	switch (type) {
	case R_X86_64_NONE:
		bytes = 0;
		break;
	case R_X86_64_64:
	case R_X86_64_PC64:
	case R_X86_64_GOTOFF64:
	case R_X86_64_GOT64:
	case R_X86_64_GOTPCREL64:
	case R_X86_64_GOTPC64:
	case R_X86_64_PLTOFF64:
	case R_X86_64_TPOFF64:
	case R_X86_64_DTPOFF64:
	case R_X86_64_SIZE64:
		bytes = 8;
		break;
	case R_X86_64_GOTPCREL:
	case R_X86_64_GOTPCRELX:
	case R_X86_64_REX_GOTPCRELX:
	case R_X86_64_GOTTPOFF:
	case R_X86_64_GOTPC32_TLSDESC:
		before = 3;
		break;
	/* lea and the call of __tls_get_addr become others. */
	case R_X86_64_TLSGD:
		before = 4, bytes = 12;
		break;
	case R_X86_64_TLSLD:
		before = 3, bytes = 9;
		break;
	case R_X86_64_TLSDESC_CALL:
		bytes = 2;
		break;
	default:
		break;
	}
	before = before < offset ? before : offset;
	return (struct learn_place){offset - before, before + bytes};
}

static int by_offset(const void *a, const void *b)
{
	const struct learn_place *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The relocated places of a section, sorted. */
static bool collect_places(struct learn *l, u32 section)
{
	const struct object_view *o = &l->o;

	l->places.len = 0;
	for (u64 i = 0; i < o->section_count; i++) {
		const Elf64_Shdr *s = &o->sections[i];
		u64 entry = s->sh_type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
		const u8 *at;

		if ((s->sh_type != SHT_RELA && s->sh_type != SHT_REL) || s->sh_info != section)
			continue;
		at = section_bytes(o, s);
		if (!at)
			return wrong_object(l, "its relocations are not in it");
		for (u64 k = 0; k < s->sh_size / entry; k++) {
			struct learn_place place;
			Elf64_Rel r;

			memcpy(&r, at + k * entry, sizeof(r));
			place = changed_by(r.r_offset, (u32)ELF64_R_TYPE(r.r_info));
			if (place.bytes && !VEC_PUSH(&l->places, place))
				l->no_memory = true;
		}
	}
	if (l->places.len)
		qsort(l->places.at, l->places.len, sizeof(*l->places.at), by_offset);
	return true;
}

/* Places within a function as a mask. Returns the first changed byte. */
static u64 put_mask(const struct learn *l, u64 from, u64 size, struct text *mask)
{
	u64 done = 0, first = size;

	for (size_t i = 0; i < l->places.len; i++) {
		const struct learn_place *p = &l->places.at[i];
		u64 low, high;

		if (p->offset >= from + size || p->offset + p->bytes <= from)
			continue;
		low = p->offset > from ? p->offset - from : 0;
		high = min_u64(p->offset + p->bytes - from, size);
		low = max_u64(low, done);
		if (low >= high)
			continue;
		first = min_u64(first, low);
		text_printf(mask, "%" PRIx64 "%c", low - done, (int)('A' + (high - low) - 1));
		done = high;
	}
	if (!mask->len)
		text_puts(mask, "-");
	return first;
}

static void put_learned(struct learn *l, const Elf64_Sym *s, const u8 *code)
{
	struct text mask = {0};
	u64 first = put_mask(l, s->st_value, s->st_size, &mask);
	bool whole = first >= ANCHOR_BYTES && s->st_size >= ANCHOR_BYTES;

	if (mask.failed) {
		l->no_memory = true;
	} else {
		const char *at = mask.at;
		u32 bytes = *at == '-' ? 0 : (u32)mask.len;

		text_printf(l->out, "%s %" PRIx64 " %" PRIx64 " %016" PRIx64 " ",
			    learn_name(&l->o, s), s->st_value, s->st_size,
			    signature_hash(code, (u32)s->st_size, at, bytes));
		text_printf(l->out, whole ? "%08x %s\n" : "-%.0u %s\n",
			    whole ? signature_anchor(code) : 0, at);
		l->n->functions++;
		l->n->anchored += whole;
	}
	text_fini(&mask);
}

static bool learn_functions(struct learn *l)
{
	for (size_t i = 0; i < l->symbols.len; i++) {
		const Elf64_Sym *s = &l->symbols.at[i];
		const Elf64_Shdr *in = &l->o.sections[s->st_shndx];
		const u8 *code = section_bytes(&l->o, in);

		if (!(in->sh_flags & SHF_EXECINSTR) || !code || s->st_size > in->sh_size ||
		    s->st_value > in->sh_size - s->st_size || s->st_value > UINT32_MAX / 2 ||
		    s->st_size > SIGNATURE_MAX_BYTES)
			return wrong_object(l, "a function does not lie in its section");
		if (!i || s[-1].st_shndx != s->st_shndx) {
			if (!collect_places(l, s->st_shndx))
				return false;
			text_puts(l->out, "section\n");
		}
		put_learned(l, s, code + s->st_value);
	}
	return true;
}

static bool learn_sections(struct learn *l, Elf64_Shdr *copy)
{
	struct object_view *o = &l->o;
	bool ok = true;

	for (u64 i = 0; i < o->section_count; i++)
		memcpy(&copy[i], o->at + o->eh.e_shoff + i * sizeof(*copy), sizeof(*copy));
	o->sections = copy;
	for (u64 i = 0; i < o->section_count && ok; i++)
		if (copy[i].sh_type == SHT_SYMTAB) {
			ok = collect_symbols(l, &copy[i]) && learn_functions(l);
			break;
		}
	return ok;
}

static bool is_elf(const u8 *at, u64 size)
{
	return size >= SELFMAG && !memcmp(at, ELFMAG, SELFMAG);
}

static bool learn_object(struct learn *l, const u8 *at, u64 size)
{
	struct object_view *o = &l->o;
	Elf64_Shdr first, *copy;
	bool ok;

	*o = (struct object_view){.at = at, .size = size};
	l->symbols.len = 0;
	if (size < sizeof(o->eh))
		return wrong_object(l, "a damaged object");
	memcpy(&o->eh, at, sizeof(o->eh));
	if (o->eh.e_ident[EI_CLASS] != ELFCLASS64 || o->eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    o->eh.e_machine != EM_X86_64 || o->eh.e_type != ET_REL)
		return wrong_object(l, "not an object for x86-64 that is still to be linked");
	if (o->eh.e_shentsize != sizeof(first) || !object_bytes(o, o->eh.e_shoff, sizeof(first)))
		return wrong_object(l, "a damaged object: it has no sections");
	memcpy(&first, at + o->eh.e_shoff, sizeof(first));
	o->section_count = o->eh.e_shnum ? o->eh.e_shnum : first.sh_size;
	if (o->section_count > size / sizeof(first) ||
	    !object_bytes(o, o->eh.e_shoff, o->section_count * sizeof(first)))
		return wrong_object(l, "a damaged object: its sections are not in it");
	copy = malloc(o->section_count * sizeof(first) + 1);
	if (!copy) {
		l->no_memory = true;
		return false;
	}
	ok = learn_sections(l, copy);
	free(copy);
	return ok;
}

/* A decimal number, padded with blanks. */
static bool member_bytes(const char *field, size_t n, u64 *out)
{
	u64 v = 0;
	size_t i = 0;

	for (; i < n && field[i] >= '0' && field[i] <= '9'; i++)
		v = v * 10 + (u64)(field[i] - '0');
	if (!i)
		return false;
	for (; i < n; i++)
		if (field[i] != ' ')
			return false;
	*out = v;
	return true;
}

static bool learn_members(struct learn *l, const u8 *file, size_t size)
{
	struct ar_hdr h;
	u64 at = SARMAG, bytes;
	char member[64];

	for (u32 i = 1; at < size; i++, at += bytes + (bytes & 1)) {
		snprintf(member, sizeof(member), "member %u", i);
		l->member = member;
		if (size - at < sizeof(h))
			return wrong_object(l, "the archive ends in it");
		memcpy(&h, file + at, sizeof(h));
		at += sizeof(h);
		if (memcmp(h.ar_fmag, ARFMAG, 2) ||
		    !member_bytes(h.ar_size, sizeof(h.ar_size), &bytes))
			return wrong_object(l, "its header is damaged");
		if (bytes > size - at)
			return wrong_object(l, "the archive ends in it");
		if (is_elf(file + at, bytes) && !learn_object(l, file + at, bytes))
			return false;
	}
	return true;
}

static bool learn_file(struct learn *l, const u8 *file, size_t size)
{
	if (size >= SARMAG && !memcmp(file, ARMAG, SARMAG))
		return learn_members(l, file, size);
	l->member = "the file";
	if (size >= SARMAG && !memcmp(file, "!<thin>\n", SARMAG))
		return wrong_object(l, "a thin archive, whose objects are elsewhere");
	if (!is_elf(file, size))
		return wrong_object(l, "neither an archive nor an object");
	return learn_object(l, file, size);
}

bool learn_archive(const u8 *file, size_t size, const char *name, struct text *out,
		   struct learned *n, struct text *why)
{
	struct learn l = {.out = out, .why = why, .n = n};
	bool ok;

	*n = (struct learned){0};
	text_printf(out, "runtime %s\n", name);
	ok = learn_file(&l, file, size);
	if (ok && !n->functions)
		text_puts(why, "it defines no function of the CUDA runtime");
	else if (ok && !n->anchored)
		text_puts(why, "its functions are too small to be recognised");
	else if (!ok && l.no_memory)
		text_puts(why, "out of memory");
	ok = ok && n->anchored && !l.no_memory && !out->failed;
	VEC_FREE(&l.symbols);
	VEC_FREE(&l.places);
	return ok;
}
