/*
 * Compiles the syntax lines of the instruction table (language: isa.h) into slots and operands.
 * Runs once per process; a faulty line is a bug and reported by tests/unit/ptx/isa_table.
 */
#include "src/isa/isa_int.h"

#include <ctype.h>
#include <stdlib.h>

#define NAMES_MAX 16

struct compiler {
	struct isa_table *t;
	struct isa_row *row;
	const char *p; /* next character */
	struct text *why;
	struct isa_slot slot[ISA_SLOTS];
	struct isa_operand operand[ISA_OPERANDS];
	struct text hint;
	u8 groups;
};

struct named_set {
	const char *name, *alternatives;
};

static const struct named_set sets[] = {
#define SET(name, alternatives) {#name, alternatives},
#include "src/isa/sets.def"
#undef SET
};

static bool syntax_fail(struct compiler *c, const char *what)
{
	text_printf(c->why, "%s: %s at \"%s\"", c->row->id, what, c->p);
	return false;
}

/* There are 15,000 of them whenever a program starts, too many for a format. */
static void add_hint(struct compiler *c, const char *before, const char *word, size_t n)
{
	text_puts(&c->hint, before);
	text_add(&c->hint, word, n);
}

static bool is_word_char(char ch)
{
	return isalnum((u8)ch) || ch == '_' || ch == ':' || ch == '#';
}

static size_t word_len(const char *p)
{
	size_t n = 0;

	while (is_word_char(p[n]))
		n++;
	return n;
}

static s64 syntax_number(struct compiler *c)
{
	char *end;
	s64 v = strtoll(c->p, &end, 10);

	c->p = end;
	return v;
}

/* lo..hi/step, lo..hi or a single value; several separated by `sep`, until `close`. */
static bool compile_ranges(struct compiler *c, char sep, char close, u16 *first, u16 *count)
{
	struct isa_table *t = c->t;

	*first = (u16)t->ranges_len;
	for (;;) {
		struct isa_range r = {.step = 1};

		r.lo = r.hi = syntax_number(c);
		if (!strncmp(c->p, "..", 2)) {
			c->p += 2;
			r.hi = syntax_number(c);
		}
		if (*c->p == '/') {
			c->p++;
			r.step = syntax_number(c);
		}
		if (r.hi < r.lo || r.step < 1)
			return syntax_fail(c, "bad range");
		t->ranges[t->ranges_len++] = r;
		++*count;
		if (*c->p == close)
			break;
		if (*c->p != sep)
			return syntax_fail(c, "range list expected");
		c->p++;
	}
	c->p++;
	return true;
}

/* @7.8+90: the part after the plus may be missing. */
static void compile_minimum(struct compiler *c, u8 *ptx, u8 *sm)
{
	if (*c->p != '@')
		return;
	c->p++;
	*ptx = (u8)(syntax_number(c) * 10);
	if (*c->p == '.') {
		c->p++;
		*ptx = (u8)(*ptx + syntax_number(c));
	}
	if (*c->p == '+') {
		c->p++;
		*sm = (u8)syntax_number(c);
	}
}

static bool compile_alt(struct compiler *c, struct isa_slot *slot);

static bool compile_set(struct compiler *c, struct isa_slot *slot)
{
	size_t n = word_len(++c->p);

	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		const char *resume = c->p + n + 1;

		if (strlen(sets[i].name) != n || strncmp(sets[i].name, c->p, n) || c->p[n] != '>')
			continue;
		c->p = sets[i].alternatives;
		while (compile_alt(c, slot) && *c->p == '|')
			c->p++;
		if (*c->p)
			return syntax_fail(c, "bad set");
		c->p = resume;
		return true;
	}
	return syntax_fail(c, "unknown set");
}

/* One alternative: word, word@7.8+90, word[8..256/8], or <SET>. */
static bool compile_alt(struct compiler *c, struct isa_slot *slot)
{
	size_t n = word_len(c->p);
	struct isa_alt *alt;

	if (*c->p == '<')
		return compile_set(c, slot);
	alt = &c->t->alts[c->t->alts_len++];
	*alt = (struct isa_alt){.word = (u16)isa_word_find(c->p, n)};
	if (!n || !alt->word)
		return syntax_fail(c, "unknown modifier");
	add_hint(c, slot->alts ? "|" : "", c->p, n);
	slot->alts++;
	c->p += n;
	if (*c->p == '[') {
		c->p++;
		if (!compile_ranges(c, ',', ']', &alt->first_range, &alt->ranges))
			return false;
	}
	compile_minimum(c, &alt->ptx, &alt->sm);
	return true;
}

/* .word, .(a|b), .<SET> */
static bool compile_slot(struct compiler *c, bool optional, u8 group)
{
	struct isa_slot *slot = &c->slot[c->row->slots];
	bool ok;

	if (c->row->slots == ISA_SLOTS)
		return syntax_fail(c, "too many modifiers");
	*slot = (struct isa_slot){
		.first_alt = (u16)c->t->alts_len, .optional = optional, .group = group};
	c->row->slots++;
	c->p++;
	text_puts(&c->hint, ".");
	if (*c->p != '(' && *c->p != '<')
		return compile_alt(c, slot);
	text_puts(&c->hint, "{");
	if (*c->p == '<') {
		ok = compile_set(c, slot);
	} else {
		c->p++;
		compile_minimum(c, &slot->ptx, &slot->sm);
		c->p += slot->ptx && *c->p == '|';
		while ((ok = compile_alt(c, slot)) && *c->p == '|')
			c->p++;
		ok = ok && (*c->p == ')' || syntax_fail(c, "')' expected"));
		c->p++;
	}
	text_puts(&c->hint, "}");
	return ok;
}

/* {.a}, {.(a|b)}, {.a.b} */
static bool compile_optional_slots(struct compiler *c)
{
	u32 first = c->row->slots;

	c->p++;
	c->groups++;
	text_puts(&c->hint, "{");
	while (*c->p == '.')
		if (!compile_slot(c, true, c->groups))
			return false;
	if (*c->p != '}')
		return syntax_fail(c, "'}' expected");
	c->p++;
	text_puts(&c->hint, "}");
	if (c->row->slots == first + 1)
		c->slot[first].group = 0;
	return true;
}

enum isa_mnemonic isa_opcode_find(const char *s, size_t n)
{
	static const char *const text[ISA_OPCODES] = {
#define OPCODE(ident, text) text,
#include "src/isa/opcodes.def"
#undef OPCODE
	};
	u32 low = 0, high = ISA_OPCODES;

	while (low < high) {
		u32 middle = (low + high) / 2;
		int order = strncmp(text[middle], s, n);

		if (!order && !text[middle][n])
			return (enum isa_mnemonic)middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return ISA_OPCODES;
}

/* Opcode: `add`, `(add|sub)`, `mul.lo~`. */
static bool compile_names(struct compiler *c)
{
	u16 opcodes[NAMES_MAX];
	const char *names[NAMES_MAX], *tilde = strchr(c->p, '~'), *space = strchr(c->p, ' ');
	bool list = *c->p == '(', compound = tilde && (!space || tilde < space);
	struct isa_row *row = c->row;

	c->p += list;
	do {
		size_t n = strcspn(c->p, compound ? (list ? "|)~ " : "~ ") : list ? "|)" : ".{~ ");

		if (row->names == NAMES_MAX || !n)
			return syntax_fail(c, "opcode expected");
		names[row->names] = arena_strdup(&c->t->arena, c->p, n);
		opcodes[row->names] =
			(u16)isa_opcode_find(names[row->names], strlen(names[row->names]));
		if (opcodes[row->names++] == ISA_OPCODES)
			return syntax_fail(c, "opcode not in opcodes.def");
		add_hint(c, row->names == 1 ? (list ? "{" : "") : "|", c->p, n);
		c->p += n;
	} while (list && *c->p++ == '|');
	if (list)
		text_puts(&c->hint, "}");
	c->p += *c->p == '~';
	row->name = arena_copy(&c->t->arena, names, sizeof(*names) * row->names);
	row->opcode = arena_copy(&c->t->arena, opcodes, sizeof(*opcodes) * row->names);
	return true;
}

static bool compile_count(struct compiler *c, struct isa_operand *o)
{
	static const char from[] = "vxngctl";
	const char *at = strchr(from, *++c->p);

	o->mul = o->div = 1;
	o->braces = true;
	if (isdigit((u8)*c->p)) {
		o->mul = (u8)syntax_number(c);
	} else if (*c->p && at) {
		o->count_from = (u8)(ISA_COUNT_VEC + (at - from));
		o->braces = *at != 'v';
		c->p++;
	} else {
		return syntax_fail(c, "count expected");
	}
	while (*c->p == '*' || *c->p == '/') {
		u8 *factor = *c->p == '*' ? &o->mul : &o->div;

		c->p++;
		*factor = (u8)(*factor * syntax_number(c));
	}
	if (*c->p == '-') {
		c->p++;
		o->less = (u8)syntax_number(c);
	}
	return true;
}

/* As word_len, but a `#` begins the count. */
static size_t type_len(const char *p)
{
	size_t n = 0;

	while (isalnum((u8)p[n]) || p[n] == '_')
		n++;
	return n;
}

/* T, TT, u32 ... */
static bool compile_type(struct compiler *c, struct isa_operand *o)
{
	static const char slots[] = "TUVWXY";
	size_t n = type_len(c->p);
	const char *at = *c->p ? strchr(slots, *c->p) : NULL;

	if (at && (n == 1 || (n == 2 && c->p[1] == *at))) {
		o->type_slot = (u8)(at - slots);
		o->twice = n == 2;
	} else {
		o->type = (u8)isa_word_find(c->p, n);
		if (!o->type || o->type >= ISA_TYPES)
			return syntax_fail(c, "type expected");
	}
	c->p += n;
	return true;
}

struct kind_word {
	const char *word;
	u8 kind;
};

static const struct kind_word select_words[] = {
	{"sel", ISA_SEL_SUBWORD}, {"mask2", ISA_SEL_MASK2}, {"mask4", ISA_SEL_MASK4},
	{"lane2", ISA_SEL_LANE2}, {"lane4", ISA_SEL_LANE4},
};

/* .sel, .mask2 ...: video selectors. */
static bool compile_select(struct compiler *c, struct isa_operand *o)
{
	size_t n = word_len(++c->p);

	for (size_t i = 0; i < ARRAY_LEN(select_words); i++)
		if (strlen(select_words[i].word) == n && !strncmp(select_words[i].word, c->p, n))
			o->select = select_words[i].kind;
	c->p += n;
	return o->select || syntax_fail(c, "selector expected");
}

static const struct kind_word kind_words[] = {
	{"imm", ISA_OP_IMM},         {"label", ISA_OP_LABEL}, {"func", ISA_OP_FUNC},
	{"targets", ISA_OP_TARGETS}, {"proto", ISA_OP_PROTO}, {"call", ISA_OP_CALL},
	{"sreg", ISA_OP_SREG},       {"sym", ISA_OP_SYMBOL},  {"entry", ISA_OP_ENTRY},
	{"sink", ISA_OP_SINK},
};

/* (0|1), (0..15), or nothing. */
static bool compile_constants(struct compiler *c, u16 *first, u16 *count)
{
	if (*c->p != '(')
		return true;
	c->p++;
	return compile_ranges(c, '|', ')', first, count);
}

static bool compile_value(struct compiler *c, struct isa_operand *o)
{
	size_t n = word_len(c->p);

	for (size_t i = 0; i < ARRAY_LEN(kind_words); i++) {
		if (strlen(kind_words[i].word) != n || strncmp(kind_words[i].word, c->p, n))
			continue;
		o->kind = kind_words[i].kind;
		c->p += n;
		return compile_constants(c, &o->first_range, &o->ranges);
	}
	if (!compile_type(c, o))
		return false;
	if (*c->p == '/') {
		c->p++;
		o->narrow = (u8)syntax_number(c);
	}
	for (;;) {
		if (*c->p == '+')
			o->wider = true;
		else if (*c->p == '&')
			o->wraps = true;
		else if (*c->p == '$')
			o->special = true;
		else if (*c->p == '^')
			o->any = true;
		else if (*c->p == '*')
			o->bits_only = true;
		else if (*c->p == '?')
			o->sink = true;
		else
			break;
		c->p++;
	}
	if (*c->p == '.')
		return compile_select(c, o);
	if (*c->p == '#' && !compile_count(c, o))
		return false;
	return compile_constants(c, &o->first_range, &o->ranges) &&
	       compile_constants(c, &o->rest_range, &o->rest_ranges);
}

static bool compile_address(struct compiler *c, struct isa_operand *o)
{
	static const struct kind_word words[] = {{"tensor", ISA_OP_TENSOR},
						 {"tex", ISA_OP_TEX},
						 {"surf", ISA_OP_SURF},
						 {"tmem", ISA_OP_TMEM},
						 {"handle", ISA_OP_HANDLE}};
	size_t n;

	o->kind = ISA_OP_ADDRESS;
	o->space_slot = 1;
	o->bare = *c->p == '~';
	c->p += o->bare;
	if (*c->p != ':')
		return true;
	c->p++;
	n = word_len(c->p);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strncmp(words[i].word, c->p, strlen(words[i].word)) &&
		    !isalnum((u8)c->p[strlen(words[i].word)])) {
			o->kind = words[i].kind;
			o->type = T_s32;
			c->p += strlen(words[i].word);
			if (*c->p == '#' && !compile_count(c, o))
				return false;
			if (*c->p != ':')
				return true;
			o->type = ISA_NONE;
			c->p++;
			return compile_type(c, o);
		}
	if (isdigit((u8)*c->p)) {
		o->space_slot = (u8)syntax_number(c);
		return true;
	}
	o->space_slot = 0;
	o->space = (u16)isa_word_find(c->p, n);
	c->p += n;
	return isa_word_kind(o->space) == ISA_K_SPACE || syntax_fail(c, "space expected");
}

/* name=T, name:T, name~T, [name...] and everything after. */
static bool compile_operand(struct compiler *c, bool optional, bool bar)
{
	struct isa_operand *o = &c->operand[c->row->operands];
	bool address = *c->p == '[';
	size_t n;

	if (c->row->operands == ISA_OPERANDS)
		return syntax_fail(c, "too many operands");
	*o = (struct isa_operand){
		.optional = optional, .bar = bar, .mul = 1, .div = 1, .role = ISA_READ};
	c->row->operands++;
	c->p += address;
	n = word_len(c->p);
	if (memchr(c->p, ':', n))
		n = (size_t)((const char *)memchr(c->p, ':', n) - c->p);
	if (!n || n >= sizeof(o->name))
		return syntax_fail(c, "operand name expected");
	memcpy(o->name, c->p, n);
	c->p += n;
	add_hint(c, address ? "[" : "", o->name, n);
	text_puts(&c->hint, address ? "]" : "");
	if (address) {
		if (!compile_address(c, o))
			return false;
		return *c->p++ == ']' || syntax_fail(c, "']' expected");
	}
	if (*c->p == '=')
		o->role = ISA_WRITE;
	else if (*c->p == '~')
		o->role = ISA_READ | ISA_WRITE;
	else if (*c->p != ':')
		return syntax_fail(c, "role expected");
	c->p++;
	o->register_only = o->role != ISA_READ;
	while (*c->p == '!' || *c->p == '%' || *c->p == '-') {
		o->negate |= *c->p == '!';
		o->minus |= *c->p == '-';
		o->register_only |= *c->p == '%';
		c->p++;
	}
	return compile_value(c, o);
}

/*
 * @word: the operand is there exactly if the modifier is; @7.1+60: what it needs when it is there.
 */
static bool compile_condition(struct compiler *c, u32 first)
{
	u8 ptx = 0, sm = 0;
	u32 word = ISA_NONE;
	size_t n;

	while (*c->p == ' ')
		c->p++;
	if (*c->p != '@')
		return true;
	n = word_len(c->p + 1);
	if (isdigit((u8)c->p[1]) && c->p[2] == '.') {
		compile_minimum(c, &ptx, &sm);
	} else {
		word = isa_word_find(c->p + 1, n);
		c->p += n + 1;
		if (!word)
			return syntax_fail(c, "unknown modifier");
	}
	for (u32 i = first; i < c->row->operands; i++) {
		c->operand[i].only_with = (u16)word;
		c->operand[i].ptx = ptx;
		c->operand[i].sm = sm;
	}
	return true;
}

static bool compile_operands(struct compiler *c)
{
	while (*c->p) {
		u32 first = c->row->operands;
		bool optional = *c->p == '{';

		c->p += optional;
		text_puts(&c->hint, optional ? "{" : "");
		do {
			bool bar = *c->p == '|';

			text_puts(&c->hint, bar ? "|" : "");
			c->p += bar;
			if (*c->p == ',') {
				text_puts(&c->hint, ", ");
				c->p++;
			}
			while (*c->p == ' ')
				c->p++;
			if (!compile_operand(c, optional, bar))
				return false;
		} while (optional && *c->p == ',');
		if (optional && (!compile_condition(c, first) || *c->p++ != '}'))
			return syntax_fail(c, "'}' expected");
		text_puts(&c->hint, optional ? "}" : "");
		if (*c->p && *c->p != '{' && *c->p != ',' && *c->p != '|')
			return syntax_fail(c, "',' expected");
	}
	return true;
}

bool isa_compile_row(struct isa_table *t, const struct isa_source_row *from, struct isa_row *row,
		     struct text *why)
{
	struct compiler c = {.t = t, .row = row, .p = from->syntax, .why = why};
	bool ok;

	*row = (struct isa_row){.id = from->id,
				.syntax = from->syntax,
				.chapter = from->chapter,
				.state = from->state,
				.ptx = from->ptx};
	row->sm = (u8)(from->target & 0x8000 ? 0 : from->target & 0xff);
	*(from->target & 0x4000 ? &row->late_sm : &row->gone_sm) = (u8)(from->target >> 16);
	*(from->target & 0x4000 ? &row->late_ptx : &row->gone_ptx) = (u8)(from->target >> 24);
	row->group = (u8)(from->target & 0x8000 ? (from->target & 0xff) + 1 : 0);
	ok = compile_names(&c);
	while (ok && (*c.p == '.' || *c.p == '{'))
		ok = *c.p == '.' ? compile_slot(&c, false, 0) : compile_optional_slots(&c);
	if (ok && *c.p && *c.p != ' ')
		ok = syntax_fail(&c, "modifier expected");
	while (ok && *c.p == ' ')
		c.p++;
	text_puts(&c.hint, *c.p ? " " : "");
	ok = ok && compile_operands(&c);
	for (u32 i = 0; i < row->operands; i++)
		row->lax |= c.operand[i].any || c.operand[i].bare ||
			    c.operand[i].count_from == ISA_COUNT_LOOSE;
	if (ok) {
		row->slot = arena_copy(&t->arena, c.slot, sizeof(*c.slot) * row->slots);
		row->operand = arena_copy(&t->arena, c.operand, sizeof(*c.operand) * row->operands);
		row->hint = arena_strdup(&t->arena, c.hint.at ? c.hint.at : "", c.hint.len);
	}
	text_fini(&c.hint);
	return ok;
}
