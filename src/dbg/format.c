/*
 * Values as gdb prints them. Hostile types may nest without end: depth and the length of what is
 * printed are limited.
 */
#include "src/dbg/value.h"

#include <inttypes.h>
#include <stdlib.h>

#define DEPTH_MAX 20
#define OUTPUT_MAX ((size_t)256 << 10)
#define ELEMENTS 200
#define REPEATS 10
#define ELEMENTS_MAX (1u << 20)

struct printer {
	const struct dbg_context *c;
	struct dbg_format f;
	struct text *out;
	u32 depth;
	bool inner; /* a part of something: pointers are shown without their type */
};

static void print_value(struct printer *p, const struct dbg_value *v);

bool dbg_format_is(char letter)
{
	return letter && strchr("xduotzfcsa", letter);
}

/* ---- characters ---- */

static void put_char(struct text *out, u8 ch, char quote)
{
	static const char plain[] = "\a\b\f\n\r\t\v\033", letters[] = "abfnrtve";
	const char *at = ch ? memchr(plain, ch, sizeof(plain) - 1) : NULL;

	if (at)
		text_printf(out, "\\%c", letters[at - plain]);
	else if (ch == (u8)quote || ch == '\\')
		text_printf(out, "\\%c", ch);
	else if (ch >= ' ' && ch <= '~')
		text_printf(out, "%c", ch);
	else
		text_printf(out, "\\%03o", ch);
}

/* Runs of the same character are told once; the pieces are joined by commas. */
static void print_characters(const struct printer *p, const u8 *s, size_t n, bool more)
{
	bool open = false, any = false;

	for (size_t i = 0, run; i < n; i += run) {
		for (run = 1; i + run < n && s[i + run] == s[i];)
			run++;
		if (run >= p->f.repeats) {
			text_printf(p->out, "%s'", open ? "\", " : any ? ", " : "");
			put_char(p->out, s[i], '\'');
			text_printf(p->out, "' <repeats %zu times>", run);
			open = false;
		} else {
			if (!open)
				text_puts(p->out, any ? ", \"" : "\"");
			for (size_t k = 0; k < run; k++)
				put_char(p->out, s[i], '"');
			open = true;
		}
		any = true;
	}
	text_puts(p->out, open ? "\"" : any ? "" : "\"\"");
	text_puts(p->out, more ? "..." : "");
}

/* What a char pointer points to, up to its end. */
static void put_pointed_string(const struct printer *p, enum dbg_space space, u64 address)
{
	struct dbg_value at = {.type = &dbg_type_char,
			       .store = DBG_MEMORY,
			       .space = (u8)space,
			       .address = address};
	struct text why = {0}, s = {0};
	bool good = true;
	char ch = 1;

	while (s.len < p->f.elements && (good = dbg_value_read(p->c, &at, s.len, &ch, 1, &why)) &&
	       ch && !s.failed)
		text_add(&s, &ch, 1);
	text_puts(p->out, " ");
	if (!good && !s.len)
		text_printf(p->out, "<error: %s>", why.at ? why.at : "?");
	else
		print_characters(p, (const u8 *)s.at, s.len, s.len == p->f.elements);
	text_fini(&why);
	text_fini(&s);
}

/* ---- numbers ---- */

static void put_real(struct text *out, f64 real, u64 size, u8 number)
{
	int digits = size == 8 ? 17 : size == 4 ? 9 : number == DBG_BFLOAT ? 4 : 5;

	if (real != real)
		text_puts(out, __builtin_signbit(real) ? "-nan" : "nan");
	else if (real == __builtin_inf() || real == -__builtin_inf())
		text_puts(out, real < 0 ? "-inf" : "inf");
	else
		text_printf(out, "%.*g", digits, real);
}

static void put_nan(struct text *out, u64 bits, u64 size)
{
	u64 mask = size == 8 ? 0xfffffffffffffull : size == 4 ? 0x7fffff : size == 1 ? 7 : 0x3ff;

	text_printf(out, "(0x%" PRIx64 ")", bits & mask);
}

static void put_binary(struct text *out, u64 bits, u32 digits)
{
	u32 n = digits;

	while (n > 1 && !(bits >> (n - 1) & 1))
		n--;
	while (n--)
		text_puts(out, bits >> n & 1 ? "1" : "0");
}

/* In the form a letter asks for; false: it is shown by its type. */
static bool put_lettered(const struct printer *p, u64 bits, u64 size, bool is_signed)
{
	u64 mask = size >= 8 ? ~0ull : (1ull << 8 * size) - 1;
	s64 value = (s64)(bits << (64 - 8 * min_u64(size, 8))) >> (64 - 8 * min_u64(size, 8));

	f64 real;

	bits &= mask;
	switch (p->f.letter) {
	case 'x':
		text_printf(p->out, "0x%" PRIx64, bits);
		return true;
	case 'a':
		text_printf(p->out, "0x%" PRIx64, bits);
		return true;
	case 'z':
		text_printf(p->out, "0x%0*" PRIx64, (int)(2 * size), bits);
		return true;
	case 'd':
		text_printf(p->out, "%" PRId64, value);
		return true;
	case 'u':
		text_printf(p->out, "%" PRIu64, bits);
		return true;
	case 'o':
		text_printf(p->out, bits ? "0%" PRIo64 : "0", bits);
		return true;
	case 't':
		put_binary(p->out, bits, (u32)(8 * size));
		return true;
	case 'c':
		text_printf(p->out, "%d '", is_signed ? (s8)bits : (u8)bits);
		put_char(p->out, (u8)bits, '\'');
		text_puts(p->out, "'");
		return true;
	case 'f':
		if (size < 2)
			return false;
		real = dbg_real_of_bits(bits, size, DBG_HALF);
		put_real(p->out, real, size, DBG_HALF);
		if (real != real)
			put_nan(p->out, bits, size);
		return true;
	default:
		return false;
	}
}

/* ---- enumerations ---- */

/* Every enumerator one bit, or none: the value is a set. */
static bool is_flags(const struct dbg_type *t)
{
	for (u32 i = 0; i < t->enumerators_len; i++)
		if (t->enumerators[i].value && !is_pow2((u64)t->enumerators[i].value))
			return false;
	return t->enumerators_len > 0;
}

static void put_flags(const struct dbg_type *t, u64 bits, struct text *out)
{
	const char *join = "(";

	for (u32 i = 0; i < t->enumerators_len; i++)
		if (bits & (u64)t->enumerators[i].value) {
			text_printf(out, "%s%s", join, t->enumerators[i].name);
			bits &= ~(u64)t->enumerators[i].value;
			join = " | ";
		}
	if (bits)
		text_printf(out, "%sunknown: 0x%" PRIx64, join, bits);
	text_puts(out, ")");
}

static void put_enum(struct dbg_type *t, u64 bits, struct text *out)
{
	dbg_type_fill(t);
	for (u32 i = 0; i < t->enumerators_len; i++) {
		if ((u64)t->enumerators[i].value == bits) {
			text_puts(out, t->enumerators[i].name);
			return;
		}
	}
	if (bits && is_flags(t))
		put_flags(t, bits, out);
	else
		text_printf(out, "%" PRId64, (s64)bits);
}

/* ---- scalars ---- */

static void put_number(struct printer *p, struct dbg_type *t, const struct dbg_number *n, u64 bits)
{
	if (n->is_float) {
		put_real(p->out, n->real, t->size, t->number);
		if (n->real != n->real)
			put_nan(p->out, bits, t->size);
	} else if (t->kind == DBG_BOOL && n->bits < 2) {
		text_puts(p->out, n->bits ? "true" : "false");
	} else if (t->kind == DBG_CHAR) {
		text_printf(p->out, "%" PRId64 " '", (s64)n->bits);
		put_char(p->out, (u8)n->bits, '\'');
		text_puts(p->out, "'");
	} else if (t->kind == DBG_ENUM) {
		put_enum(t, n->bits, p->out);
	} else if (n->is_signed) {
		text_printf(p->out, "%" PRId64, (s64)n->bits);
	} else {
		text_printf(p->out, "%" PRIu64, n->bits);
	}
}

static void print_number(struct printer *p, const struct dbg_value *v, struct dbg_type *t)
{
	struct dbg_number n;
	struct text why = {0};
	u64 bits = 0;

	if (!dbg_value_number(p->c, v, &n, &why)) {
		text_printf(p->out, "<error: %s>", why.at ? why.at : "?");
	} else {
		/*
		 * /f of an integer takes its bits for those of a float of its size; /x of a float
		 * shows them.
		 */
		bits = n.bits;
		if (n.is_float && p->f.letter == 'c')
			bits = (u64)(s64)n.real;
		if ((n.is_float && p->f.letter == 'f') ||
		    !put_lettered(p, bits, t->size, n.is_signed))
			put_number(p, t, &n, bits);
	}
	text_fini(&why);
}

static bool is_char(struct dbg_type *t)
{
	return dbg_type_strip(t)->kind == DBG_CHAR;
}

/* " <table+8>" */
static void put_symbol(const struct printer *p, enum dbg_space space, u64 address, bool is_code)
{
	const struct dbg_target *t = p->c->target;
	struct text name = {0};

	/* What is at 0 of shared memory is there. */
	if ((address || space == DBG_SHARED) && t && t->symbol &&
	    t->symbol(t->user, &p->c->lane, space, address, is_code, &name) == DBG_OK && name.at)
		text_printf(p->out, " <%s>", name.at);
	text_fini(&name);
}

static bool points_to_code(struct dbg_type *pointer)
{
	return pointer->target && dbg_type_strip(pointer->target)->kind == DBG_FUNCTION;
}

static void print_pointer(struct printer *p, const struct dbg_value *v, struct dbg_type *t)
{
	bool text = t->target && is_char(t->target);
	struct text why = {0};
	u64 address = 0;

	if (!dbg_value_read(p->c, v, 0, &address, 8, &why)) {
		text_printf(p->out, "<error: %s>", why.at ? why.at : "?");
	} else if (!p->f.letter || p->f.letter == 's' || !put_lettered(p, address, 8, false)) {
		if (!p->inner && !text) {
			text_puts(p->out, "(");
			dbg_type_print(v->type, NULL, p->out);
			text_puts(p->out, ") ");
		}
		text_printf(p->out, "0x%" PRIx64, address);
		if (text && address)
			put_pointed_string(p, t->space, address);
		else
			put_symbol(p, t->space, address, points_to_code(t));
	} else if (p->f.letter == 'a') {
		put_symbol(p, t->space, address, points_to_code(t));
	}
	text_fini(&why);
}

static void print_reference(struct printer *p, const struct dbg_value *v)
{
	struct text why = {0};
	struct dbg_value to;
	u64 address = 0;

	if (!dbg_value_read(p->c, v, 0, &address, 8, &why) ||
	    !dbg_value_referred(p->c, v, &to, &why)) {
		text_printf(p->out, "<error: %s>", why.at ? why.at : "?");
	} else {
		if (!p->inner) {
			text_puts(p->out, "(");
			dbg_type_print(v->type, NULL, p->out);
			text_puts(p->out, ") ");
		}
		text_printf(p->out, "@0x%" PRIx64, address);
		/* Of a member the address alone, as gdb does: they may refer to each other. */
		if (!p->depth) {
			text_puts(p->out, ": ");
			p->inner = true;
			print_value(p, &to);
		}
	}
	text_fini(&why);
}

/* "y" of the data member at an offset, also of a base class; NULL: there is none. */
static const char *member_at(struct dbg_type *t, u64 offset, u32 depth)
{
	const char *found = NULL;

	t = dbg_type_strip(t);
	if (t->kind != DBG_STRUCT || depth > DEPTH_MAX)
		return NULL;
	dbg_type_fill(t);
	for (u32 i = 0; i < t->members_len && !found; i++) {
		const struct dbg_member *m = &t->members[i];

		if (m->is_static || m->bit_size || offset < m->offset)
			continue;
		if (m->base && offset - m->offset < dbg_type_size(m->type))
			found = member_at(m->type, offset - m->offset, depth + 1);
		else if (offset == m->offset && *m->name)
			found = m->name;
	}
	return found;
}

static void print_member_pointer(struct printer *p, const struct dbg_value *v, struct dbg_type *t)
{
	struct text why = {0};
	const char *name;
	u64 offset = 0;

	if (!dbg_value_read(p->c, v, 0, &offset, 8, &why)) {
		text_printf(p->out, "<error: %s>", why.at ? why.at : "?");
	} else if (!p->f.letter || !put_lettered(p, offset, 8, true)) {
		name = t->owner ? member_at(t->owner, offset, 0) : NULL;
		if (name)
			text_printf(p->out, "&%s::%s", t->owner->name ? t->owner->name : "?", name);
		else if (offset == UINT64_MAX)
			text_puts(p->out, "NULL");
		else
			text_printf(p->out, "%" PRIu64, offset);
	}
	text_fini(&why);
}

static void print_opaque(struct printer *p, const struct dbg_value *v, struct dbg_type *t)
{
	struct text why = {0};
	u8 bytes[16];

	if (!t->size || t->size > sizeof(bytes))
		text_puts(p->out, "<not shown>");
	else if (!dbg_value_read(p->c, v, 0, bytes, t->size, &why))
		text_printf(p->out, "<error: %s>", why.at ? why.at : "?");
	else
		for (u64 i = t->size + 1; i--;)
			text_printf(p->out, i == t->size ? "0x" : "%02x",
				    i == t->size ? 0 : bytes[i]);
	text_fini(&why);
}

/* ---- arrays ---- */

static bool same_element(const struct printer *p, const struct dbg_value *array, u64 size, u64 i,
			 u64 k)
{
	struct text why = {0};
	u8 a[64], b[64];
	bool same = true;

	for (u64 at = 0; at < size && same; at += sizeof(a)) {
		u64 n = min_u64(size - at, sizeof(a));

		same = dbg_value_read(p->c, array, i * size + at, a, n, &why) &&
		       dbg_value_read(p->c, array, k * size + at, b, n, &why) && !memcmp(a, b, n);
	}
	text_fini(&why);
	return same;
}

static void print_char_array(struct printer *p, const struct dbg_value *v, struct dbg_type *t)
{
	u64 n = min_u64(t->count, p->f.elements);
	struct text why = {0};
	u8 *s = malloc(n + 1);

	if (!s || (n && !dbg_value_read(p->c, v, 0, s, n, &why))) {
		text_printf(p->out, "<error: %s>", why.at ? why.at : "no memory");
	} else {
		bool more = n < t->count;

		/* The NUL of a text that fills the array. */
		n -= n && !more && !s[n - 1];
		print_characters(p, s, n, more);
	}
	free(s);
	text_fini(&why);
}

/* Elements from i on that equal element i. */
static u64 count_equal(const struct printer *p, const struct dbg_value *v, u64 size, u64 i,
		       u64 count)
{
	u64 run = 1;

	while (i + run < count && run < 1u << 20 && same_element(p, v, size, i, i + run))
		run++;
	return run;
}

static void print_elements(struct printer *p, const struct dbg_value *v, struct dbg_type *t)
{
	u64 size = dbg_type_size(t->target), shown = 0, run;
	struct text why = {0};
	struct dbg_value e;

	for (u64 i = 0; i < t->count; i += run) {
		if (shown == p->f.elements || p->out->len > OUTPUT_MAX) {
			text_puts(p->out, "...");
			break;
		}
		run = count_equal(p, v, size, i, t->count);
		run = run >= p->f.repeats ? run : 1;
		text_puts(p->out, i ? ", " : "");
		if (!dbg_value_index(p->c, v, (s64)i, &e, &why)) {
			text_printf(p->out, "<error: %s>", why.at ? why.at : "?");
			break;
		}
		print_value(p, &e);
		if (run > 1)
			text_printf(p->out, " <repeats %" PRIu64 " times>", run);
		shown += run > 1 ? min_u64(p->f.repeats, p->f.elements - shown) : 1;
	}
	text_fini(&why);
}

static void print_array(struct printer *p, const struct dbg_value *v, struct dbg_type *t)
{
	if (is_char(t->target) && t->counted && (!p->f.letter || p->f.letter == 's')) {
		print_char_array(p, v, t);
		return;
	}
	/* How many there are is not known: as gdb does, where they are. */
	if (!t->counted && v->store == DBG_MEMORY) {
		text_printf(p->out, "0x%" PRIx64, v->address);
		put_symbol(p, v->space, v->address, false);
		return;
	}
	text_puts(p->out, "{");
	if (p->depth > DEPTH_MAX || !dbg_type_size(t->target))
		text_puts(p->out, "...");
	else
		print_elements(p, v, t);
	text_puts(p->out, "}");
}

/* ---- structures ---- */

static void new_line(const struct printer *p)
{
	text_puts(p->out, "\n");
	for (u32 i = 0; i < p->depth; i++)
		text_puts(p->out, "  ");
}

static void print_member(struct printer *p, const struct dbg_value *v, const struct dbg_member *m)
{
	struct dbg_value part;

	if (m->base) {
		text_puts(p->out, "<");
		dbg_type_print(m->type, NULL, p->out);
		text_puts(p->out, "> = ");
	} else if (*m->name) {
		text_printf(p->out, "%s%s = ", m->is_static ? "static " : "", m->name);
	}
	if (dbg_value_part(v, m, &part))
		print_value(p, &part);
	else
		text_puts(p->out, "<error: it lies outside of the structure>");
}

static void print_struct(struct printer *p, const struct dbg_value *v, struct dbg_type *t)
{
	dbg_type_fill(t);
	if (t->declaration) {
		text_puts(p->out, "<incomplete type>");
		return;
	}
	text_puts(p->out, t->members_len ? "{" : "{<No data fields>");
	p->depth++;
	for (u32 i = 0; i < t->members_len; i++) {
		text_puts(p->out, !i ? "" : p->f.pretty ? "," : ", ");
		if (p->depth > DEPTH_MAX || p->out->len > OUTPUT_MAX) {
			text_puts(p->out, "...");
			break;
		}
		if (p->f.pretty)
			new_line(p);
		print_member(p, v, &t->members[i]);
	}
	p->depth--;
	if (p->f.pretty && t->members_len)
		new_line(p);
	text_puts(p->out, "}");
}

/* What the machine says of an object of CUDA; false: it is shown as other values are. */
static bool print_by_machine(struct printer *p, const struct dbg_value *v)
{
	enum dbg_object kind = p->f.letter ? DBG_NO_OBJECT : dbg_type_object(v->type);
	u8 bytes[DBG_OBJECT_BYTES_MAX];
	struct text why = {0}, out = {0};
	bool good;

	/* In lists of arguments and variables only what is short. */
	if (p->f.inner && kind != DBG_MBARRIER)
		kind = DBG_NO_OBJECT;
	good = kind && dbg_value_read(p->c, v, 0, bytes, dbg_object_bytes(kind), &why) &&
	       dbg_value_object(p->c, v, kind, bytes, &out);
	if (good)
		text_puts(p->out, out.at ? out.at : "");
	text_fini(&why);
	text_fini(&out);
	return good;
}

bool dbg_value_object(const struct dbg_context *c, const struct dbg_value *v, enum dbg_object kind,
		      const u8 *bytes, struct text *out)
{
	const struct dbg_target *t = c->target;
	struct dbg_object_at at = {.kind = kind, .bytes = bytes};

	if (v->store == DBG_MEMORY) {
		at.in_memory = true;
		at.space = v->space;
		at.address = v->address;
	}
	return t && t->object && t->object(t->user, &c->lane, &at, out) == DBG_OK;
}

static void print_value(struct printer *p, const struct dbg_value *v)
{
	struct dbg_type *t = dbg_type_strip(v->type);
	bool inner = p->inner;

	if (v->store == DBG_NO_VALUE) {
		text_printf(p->out, "<%s>", v->why_not);
		return;
	}
	if (print_by_machine(p, v))
		return;
	switch (t->kind) {
	case DBG_VOID:
		text_puts(p->out, "void");
		break;
	case DBG_POINTER:
		print_pointer(p, v, t);
		break;
	case DBG_REFERENCE:
		print_reference(p, v);
		break;
	case DBG_ARRAY:
		p->inner = true;
		print_array(p, v, t);
		break;
	case DBG_STRUCT:
		p->inner = true;
		if (t->number != DBG_PLAIN)
			print_number(p, v, t);
		else
			print_struct(p, v, t);
		break;
	case DBG_FUNCTION:
		text_puts(p->out, "{");
		dbg_type_print(t, NULL, p->out);
		text_printf(p->out, "} 0x%" PRIx64, v->address);
		put_symbol(p, DBG_GENERIC, v->address, true);
		break;
	case DBG_MEMBER:
		print_member_pointer(p, v, t);
		break;
	case DBG_OPAQUE:
		print_opaque(p, v, t);
		break;
	default:
		print_number(p, v, t);
	}
	p->inner = inner;
}

/* Can its first byte be read? Numbers and what has no size are found out about when shown. */
static bool value_is_there(const struct dbg_context *c, const struct dbg_value *v, struct text *why)
{
	u8 first;

	if ((v->store != DBG_MEMORY && v->store != DBG_REGISTER) || !dbg_type_size(v->type))
		return true;
	return dbg_value_read(c, v, 0, &first, 1, why);
}

bool dbg_value_print(const struct dbg_context *c, const struct dbg_value *v,
		     const struct dbg_format *f, struct text *out, struct text *why)
{
	struct printer p = {.c = c, .out = out};
	struct dbg_value to;

	if (!value_is_there(c, v, why))
		return false;
	if (f)
		p.f = *f;
	p.inner = p.f.inner;
	p.f.elements = p.f.elements ? (u32)min_u64(p.f.elements, ELEMENTS_MAX) : ELEMENTS;
	p.f.repeats = p.f.repeats ? p.f.repeats : REPEATS;
	/* With a letter a reference is what it refers to. */
	to = *v;
	if (p.f.letter && !dbg_value_referred(c, v, &to, why))
		return false;
	print_value(&p, &to);
	return true;
}
