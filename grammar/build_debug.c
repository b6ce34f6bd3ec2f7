/*
 * Debugging directives: .file, .loc, .section with DWARF bytes.
 * Source: PTX ISA "Debugging Directives".
 */
#include "grammar/build.h"
#include "src/ir/source.h"

static bool is_octal_beyond_ascii(const char *s)
{
	return s[0] >= '2' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' &&
	       s[2] <= '7';
}

/* LLVM writes bytes beyond ASCII as \303, and a backslash twice. */
static const char *source_path(struct parse *p, const char *text)
{
	size_t n = strlen(text), to = 0;
	char *path;

	if (!strchr(text, '\\'))
		return text;
	path = arena_strdup(&p->m->arena, text, n);
	for (size_t i = 0; path && i < n; i++) {
		path[to++] = text[i];
		if (text[i] == '\\' && is_octal_beyond_ascii(text + i + 1)) {
			path[to - 1] = (char)((text[i + 1] - '0') << 6 | (text[i + 2] - '0') << 3 |
					      (text[i + 3] - '0'));
			i += 3;
		} else if (text[i] == '\\' && text[i + 1] == '\\') {
			i++;
		}
	}
	if (!path)
		build_no_memory(p);
	else
		path[to] = 0;
	return path ? path : text;
}

void build_file(struct parse *p, struct build_value number, struct str *path,
		const struct build_value *mtime, const struct build_value *size,
		struct diag_span where)
{
	struct ir_file f = {.number = (u32)number.bits, .path = source_path(p, path->text)};

	f.is_toolkit = f.path && ir_is_toolkit_path(f.path);
	build_item(p, where);
	if (number.bits > UINT32_MAX)
		build_error(p, where, "the file number is out of range");
	if (mtime && size) {
		f.has_mtime = true;
		f.mtime = mtime->bits;
		f.size = size->bits;
	}
	if (!VEC_PUSH(&p->m->files, f))
		build_no_memory(p);
}

static bool fits_in(struct parse *p, struct build_value a, struct build_value b,
		    struct build_value c, struct diag_span where)
{
	if (a.bits <= UINT32_MAX && b.bits <= UINT32_MAX && c.bits <= UINT32_MAX)
		return true;
	build_error(p, where, "a source position is out of range");
	return false;
}

static u64 hash_place(u32 file, u32 line, u32 column)
{
	u32 place[3] = {file, line, column};

	return hash_bytes(place, sizeof(place)) | 1;
}

/* Positions that inlined_at may name: all but the one being read. */
static void note_place(struct parse *p, u32 loc)
{
	const struct ir_loc *l = &p->m->locs.at[loc];

	if (!map_set(&p->places, hash_place(l->file, l->line, l->column), loc + 1u))
		build_no_memory(p);
}

static bool is_place(const struct ir_loc *l, struct build_value file, struct build_value line,
		     struct build_value column)
{
	return l->file == file.bits && l->line == line.bits && l->column == column.bits;
}

/* The last earlier position there, IR_NONE when there is none. */
static u32 find_place(const struct parse *p, struct build_value file, struct build_value line,
		      struct build_value column)
{
	const u64 *found =
		map_get(&p->places, hash_place((u32)file.bits, (u32)line.bits, (u32)column.bits));

	if (!found || is_place(&p->m->locs.at[*found - 1], file, line, column))
		return found ? (u32)*found - 1 : IR_NONE;
	/* Two positions with one hash: search. */
	for (u32 i = (u32)p->m->locs.len - 1; i-- > 0;)
		if (is_place(&p->m->locs.at[i], file, line, column))
			return i;
	return IR_NONE;
}

void build_loc(struct parse *p, struct build_value file, struct build_value line,
	       struct build_value column, struct diag_span where)
{
	struct ir_loc l = {.file = (u32)file.bits,
			   .line = (u32)line.bits,
			   .column = (u32)column.bits,
			   .inlined_at = IR_NONE,
			   .begin = where.begin};

	if (!p->f)
		build_error(p, where, ".loc stands in functions");
	if (!p->f || !fits_in(p, file, line, column, where))
		return;
	if (p->m->locs.len)
		note_place(p, (u32)p->m->locs.len - 1);
	if (!BUILD_HAS_ROOM(p, &p->m->locs) || !VEC_PUSH(&p->m->locs, l))
		return build_no_memory(p);
	p->loc = (u32)p->m->locs.len - 1;
}

void build_loc_function(struct parse *p, struct str *word, struct str *name, struct diag_span where)
{
	struct ir_loc *l;

	if (strcmp(word->text, "function_name")) {
		build_error(p, where, "'%s' is not part of .loc; function_name is", word->text);
		return;
	}
	if (!p->m->locs.len)
		return;
	l = &p->m->locs.at[p->m->locs.len - 1];
	l->function = name;
	l->function_offset = p->name_offset;
}

void build_loc_inlined(struct parse *p, struct str *word, struct build_value file,
		       struct build_value line, struct build_value column, struct diag_span where)
{
	struct ir_loc *l;

	if (strcmp(word->text, "inlined_at")) {
		build_error(p, where, "'%s' is not part of .loc; inlined_at is", word->text);
		return;
	}
	build_need(p, where, "inlined_at", 70, 0);
	if (!fits_in(p, file, line, column, where) || !p->m->locs.len)
		return;
	l = &p->m->locs.at[p->m->locs.len - 1];
	l->inlined_at = find_place(p, file, line, column);
	if (l->inlined_at == IR_NONE)
		build_error(p, where, "the position after inlined_at appears in no .loc before");
}

void build_section(struct parse *p, struct str *name, struct diag_span where)
{
	struct ir_section *s = ARENA_NEW(&p->m->arena, struct ir_section);

	build_item(p, where);
	p->section = s;
	p->section_type = T_b8;
	if (!s || !VEC_PUSH(&p->m->sections, s))
		return build_no_memory(p);
	s->name = name;
}

void build_section_end(struct parse *p)
{
	p->section = NULL;
}

void build_section_label(struct parse *p, struct str *name, struct diag_span where)
{
	struct ir_label l = {.name = name, .begin = where.begin};

	build_need(p, where, "a label in a .section", 70, 0);
	if (!p->section)
		return;
	l.insn = (u32)p->section->bytes.len;
	if (!VEC_PUSH(&p->section->labels, l))
		build_no_memory(p);
}

void build_section_type(struct parse *p, u32 type, struct diag_span where)
{
	if (type != T_b8 && type != T_b16 && type != T_b32 && type != T_b64)
		build_error(p, where, "sections hold .b8, .b16, .b32 and .b64");
	p->section_type = (u8)type;
}

static void add_debug_bytes(struct parse *p, u64 v)
{
	u32 n = isa_type_bits(p->section_type) / 8;

	if (!p->section)
		return;
	if (!n || n > 8 || !VEC_RESERVE(&p->section->bytes, n))
		return build_no_memory(p);
	memcpy(p->section->bytes.at + p->section->bytes.len, &v, n);
	p->section->bytes.len += n;
}

void build_section_number(struct parse *p, struct build_value v, struct diag_span where)
{
	add_debug_bytes(p, (u64)build_integer_of(p, v, 0, where));
}

void build_section_address(struct parse *p, struct str *minus, s64 addend, struct diag_span where)
{
	struct ir_section_reloc r = {.size = (u8)(isa_type_bits(p->section_type) / 8),
				     .plus = p->section_name,
				     .minus = minus,
				     .addend = addend};

	if (minus)
		build_need(p, where, "a difference of labels in a .section", 75, 0);
	if (r.size < 4)
		build_error(p, where, "an address does not fit in .%s",
			    isa_word_text(p->section_type));
	if (!p->section)
		return;
	r.at = (u32)p->section->bytes.len;
	if (!VEC_PUSH(&p->section->relocs, r))
		return build_no_memory(p);
	add_debug_bytes(p, 0);
}
