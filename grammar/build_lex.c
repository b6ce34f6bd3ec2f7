/*
 * Token values: words, directives, numbers, strings. Called by the lexer only.
 */
#include "grammar/build.h"
#include "grammar/ptx.tab.h"
#include "src/base/nearest.h"

#include <errno.h>
#include <stdio.h>

struct keyword {
	const char *text;
	u16 token, number;
};

/* clang-format off */
static const struct keyword keywords[] = {
	{".version", TOK_VERSION, 0}, {".target", TOK_TARGET, 0}, {".address_size", TOK_ADDRESS_SIZE, 0},
	{".file", TOK_FILE, 0}, {".loc", TOK_LOC, 0}, {".section", TOK_SECTION, 0}, {".pragma", TOK_PRAGMA, 0},
	{".entry", TOK_ENTRY, 0}, {".func", TOK_FUNC, 0}, {".alias", TOK_ALIAS, 0}, {".align", TOK_ALIGN, 0},
	{".attribute", TOK_ATTRIBUTE, 0}, {".ptr", TOK_PTR, 0},
	{".language", TOK_LANGUAGE, 0}, {".managed", TOK_MANAGED, 0},
	{".unified", TOK_UNIFIED, 0}, {".branchtargets", TOK_BRANCHTARGETS, 0}, {".calltargets", TOK_CALLTARGETS, 0},
	{".callprototype", TOK_CALLPROTOTYPE, 0},
	{".extern", TOK_LINKAGE, IR_EXTERN}, {".visible", TOK_LINKAGE, IR_VISIBLE}, {".weak", TOK_LINKAGE, IR_WEAK},
	{".common", TOK_LINKAGE, IR_COMMON},
	{".maxntid", TOK_PERF, IR_MAXNTID}, {".reqntid", TOK_PERF, IR_REQNTID},
	{".minnctapersm", TOK_PERF, IR_MINNCTAPERSM},
	{".maxnctapersm", TOK_PERF, IR_MAXNCTAPERSM}, {".maxnreg", TOK_PERF, IR_MAXNREG},
	{".reqnctapercluster", TOK_PERF, IR_REQNCTAPERCLUSTER}, {".maxclusterrank", TOK_PERF, IR_MAXCLUSTERRANK},
	{".abi_preserve", TOK_PERF, IR_ABI_PRESERVE}, {".abi_preserve_control", TOK_PERF, IR_ABI_PRESERVE_CONTROL},
	{".explicitcluster", TOK_PERF0, IR_EXPLICITCLUSTER}, {".blocksareclusters", TOK_PERF0, IR_BLOCKSARECLUSTERS},
	{".noreturn", TOK_PERF0, IR_NORETURN},
	{".reg", TOK_SPACE, M_reg}, {".sreg", TOK_SPACE, M_sreg}, {".const", TOK_SPACE, M_const},
	{".global", TOK_SPACE, M_global}, {".local", TOK_SPACE, M_local}, {".shared", TOK_SPACE, M_shared},
	{".param", TOK_SPACE, M_param}, {".tex", TOK_SPACE, M_tex},
	{".v2", TOK_VECTOR, M_v2}, {".v4", TOK_VECTOR, M_v4}, {".v8", TOK_VECTOR, M_v8},
};
/* clang-format on */

/* Put directives and types into the module's name table, token and value in user[1]. */
void build_keywords(struct parse *p)
{
	char name[32];

	for (size_t i = 0; i < ARRAY_LEN(keywords); i++) {
		struct str *s =
			intern_get(&p->m->names_table, keywords[i].text, strlen(keywords[i].text));

		if (!s)
			return build_no_memory(p);
		s->user[1] = (void *)(uintptr_t)((u32)keywords[i].token << 16 | keywords[i].number);
	}
	for (u32 t = 1; t < ISA_TYPES; t++) {
		int n = snprintf(name, sizeof(name), ".%s", isa_word_text(t));
		struct str *s = intern_get(&p->m->names_table, name, (size_t)n);

		if (!s)
			return build_no_memory(p);
		s->user[1] = (void *)(uintptr_t)((u32)TOK_TYPE << 16 | t);
	}
}

void build_near_keyword(struct nearest *n, bool types)
{
	static const char *const dotted[] = {
#define TYPE(name, bits, class, declarable) "." #name,
#include "src/isa/types.def"
#undef TYPE
	};

	for (size_t i = 0; !types && i < ARRAY_LEN(keywords); i++)
		nearest_offer(n, keywords[i].text, strlen(keywords[i].text));
	for (size_t i = 0; types && i < ARRAY_LEN(dotted); i++)
		nearest_offer(n, dotted[i], strlen(dotted[i]));
}

int build_word(struct parse *p, const char *s, size_t n, PTX_YYSTYPE *out)
{
	out->str = intern_get(&p->m->names_table, s, n);
	if (!out->str) {
		build_no_memory(p);
		return 0;
	}
	if (n == 7 && !memcmp(s, "WARP_SZ", 7)) {
		out->value = (struct build_value){.bits = 32, .type = T_s64};
		return TOK_INT;
	}
	return TOK_WORD;
}

int build_dotted(struct parse *p, const char *s, size_t n, PTX_YYSTYPE *out)
{
	struct str *name = intern_get(&p->m->names_table, s, n);
	u32 keyword = name ? (u32)(uintptr_t)name->user[1] : 0;

	if (!name) {
		build_no_memory(p);
		return 0;
	}
	if (!keyword) {
		out->str = name;
		return TOK_DOTWORD;
	}
	out->number = keyword & 0xffff;
	return (int)(keyword >> 16);
}

int build_integer(struct parse *p, const char *s, int base, PTX_YYSTYPE *out,
		  struct diag_span where)
{
	char *end;
	u64 v;

	errno = 0;
	v = strtoull(base == 2 ? s + 2 : s, &end, base);
	if (errno)
		build_error(p, where, "the integer %s does not fit in 64 bits", s);
	out->value =
		(struct build_value){.bits = v, .type = *end == 'U' || v >> 63 ? T_u64 : T_s64};
	return TOK_INT;
}

int build_decimal(struct parse *p, const char *s, PTX_YYSTYPE *out, struct diag_span where)
{
	f64 v = strtod(s, NULL);

	if (v > 1.7976931348623157e308)
		build_error(p, where, "the constant %s is too large for .f64", s);
	out->value = (struct build_value){.bits = bits_f64(v), .type = T_f64};
	return TOK_FLOAT;
}

int build_hex_float(const char *s, u8 type, PTX_YYSTYPE *out)
{
	out->value =
		(struct build_value){.bits = strtoull(s + 2, NULL, 16), .type = type, .hex = true};
	return TOK_FLOAT;
}

int build_string(struct parse *p, const char *s, size_t n, PTX_YYSTYPE *out)
{
	out->str = intern_get(&p->m->names_table, s, n);
	if (!out->str) {
		build_no_memory(p);
		return 0;
	}
	return TOK_STRING;
}

int build_bad_char(struct parse *p, struct diag_span where, u8 c)
{
	if (c > 0x20 && c < 0x7f)
		build_error(p, where, "stray '%c'", c);
	else
		build_error(p, where, "stray byte 0x%02x", c);
	return TOK_PTX_YYUNDEF;
}

int build_skipped(struct parse *p, struct diag_span *where)
{
	const struct skim_body *b =
		p->skipped < p->skim.bodies.len ? &p->skim.bodies.at[p->skipped] : NULL;

	if (!b || where->begin != b->begin)
		return build_bad_char(p, *where, (u8)SKIM_MARK);
	p->skipped++;
	p->offset = where->end = b->end;
	return TOK_SKIPPED;
}

void build_dwarf_line(struct parse *p, const char *s, size_t n)
{
	const char *copy = arena_strdup(&p->m->arena, s, n);

	if (!copy || !VEC_PUSH(&p->m->dwarf_lines, copy))
		build_no_memory(p);
}
