/*
 * Memory as it is: x/FMT ADDRESS.
 */
#include "src/debugger/look_value.h"

#include <ctype.h>

#define EXAMINE_MAX 65536u
#define STRING_MAX 200u /* characters that are shown at once */

/* Before binary digits. */
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static const struct {
	char letter;
	u32 bytes;
} sizes[] = {{'b', 1}, {'h', 2}, {'w', 4}, {'g', 8}};

static bool read_examine(struct debugger *x, const char *s, struct examine *e)
{
	u64 count = 0;
	bool counted = false, sized = false, back = *s == '-';

	s += back;
	for (; isdigit((u8)*s); s++, counted = true)
		count = count < EXAMINE_MAX ? count * 10 + (u64)(*s - '0') : count;
	e->count = counted ? (u32)(count > EXAMINE_MAX ? EXAMINE_MAX : count) : 1;
	e->back = back;
	for (; *s; s++) {
		bool size = false;

		for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
			if (*s == sizes[i].letter) {
				e->bytes = sizes[i].bytes;
				size = sized = true;
			}
		if (size)
			continue;
		if (*s != 'i' && !dbg_format_is(*s)) {
			say_error(x, "Undefined output format \"%c\"", *s);
			return false;
		}
		e->letter = *s;
	}
	/* There is no floating-point number of a byte; of two it must be asked for. */
	if (e->letter == 'f' && (e->bytes == 1 || (e->bytes == 2 && !sized)))
		e->bytes = 8;
	if (e->letter == 'c' && !sized)
		e->bytes = 1;
	return true;
}

static struct dbg_type *type_for(const struct examine *e)
{
	bool real = e->letter == 'f';

	switch (e->bytes) {
	case 1:
		return e->letter == 'u' || e->letter == 'x' ? &dbg_type_uchar : &dbg_type_schar;
	case 2:
		return real ? &dbg_type_half : &dbg_type_short;
	case 4:
		return real ? &dbg_type_float : &dbg_type_int;
	default:
		return real ? &dbg_type_double : &dbg_type_long;
	}
}

/* Which of the variables in memory an address is in: "<node+16>"; nothing if none. */
static void say_symbol(struct debugger *x, const struct dbg_context *c, u8 space, u64 address,
		       struct text *out)
{
	struct text t = {0};

	if (look_symbol(x, c, space, address, &t))
		text_printf(out, " <%s>", t.at);
	text_fini(&t);
}

static bool examine_strings(struct debugger *x, const struct dbg_context *c, struct examine *e)
{
	for (u32 i = 0; i < e->count; i++) {
		struct text s = {0}, symbol = {0}, why = {0};
		u64 begin = e->address, n = 0;
		struct dbg_value all;
		char one = 0;
		bool good;

		do {
			struct dbg_value v = {.type = &dbg_type_char,
					      .store = DBG_MEMORY,
					      .space = e->space,
					      .address = e->address++};

			good = dbg_value_read(c, &v, 0, &one, 1, &why);
		} while (good && one && ++n < STRING_MAX);
		all = (struct dbg_value){
			.type = dbg_session_array(x->session, &dbg_type_char, n + 1),
			.store = DBG_MEMORY,
			.space = e->space,
			.address = begin};
		good = good && dbg_value_print(c, &all, NULL, &s, &why);
		say_symbol(x, c, e->space, begin, &symbol);
		if (good)
			say(x, "0x%llx%s:\t%s\n", (unsigned long long)begin,
			    symbol.at ? symbol.at : "", s.at ? s.at : "");
		else
			look_say_why(x, &why);
		text_fini(&s);
		text_fini(&symbol);
		text_fini(&why);
		if (!good)
			return false;
	}
	return true;
}

static bool examine_numbers(struct debugger *x, const struct dbg_context *c, struct examine *e)
{
	u32 per_line = e->letter == 'a' || e->bytes == 8 ? 2 : e->bytes == 4 ? 4 : 8;
	/* As wide as the element is. */
	struct dbg_format f = {.letter = e->letter == 'x' ? 'z' : e->letter};
	bool good = true;

	if (e->letter == 'a')
		e->bytes = 8;
	if (e->letter == 'c')
		e->bytes = 1;
	for (u32 i = 0; i < e->count && good; i++) {
		struct dbg_value v = {.type = type_for(e),
				      .store = DBG_MEMORY,
				      .space = e->space,
				      .address = e->address};
		struct text out = {0}, why = {0};

		if (e->letter == 'c')
			v.type = &dbg_type_char;
		good = dbg_value_print(c, &v, &f, &out, &why);
		if (good && i % per_line == 0) {
			struct text symbol = {0};

			say_symbol(x, c, e->space, e->address, &symbol);
			say(x, "%s0x%llx%s:", i ? "\n" : "", (unsigned long long)e->address,
			    symbol.at ? symbol.at : "");
			text_fini(&symbol);
		}
		if (good)
			say(x, "\t%.*s%s",
			    e->letter == 't' && out.len < 8 * e->bytes
				    ? (int)(8 * e->bytes - out.len)
				    : 0,
			    ZEROS, out.at ? out.at : "");
		else if (i)
			say(x, "\n");
		if (!good)
			look_say_why(x, &why);
		e->address += e->bytes;
		text_fini(&out);
		text_fini(&why);
	}
	if (good && e->count)
		say(x, "\n");
	return good;
}

/* $__ is what was shown last, $_ its address, as in gdb. */
static void keep_last(struct debugger *x, const struct dbg_context *c, const struct examine *e)
{
	struct dbg_value v = {.type = e->letter == 'c' || e->letter == 's' ? &dbg_type_char
									   : type_for(e),
			      .store = DBG_MEMORY,
			      .space = e->space,
			      .address = e->address};
	struct dbg_value at;
	struct text why = {0};

	v.address -= e->letter == 's' ? 1 : e->bytes;
	at = dbg_value_int(dbg_session_pointer(x->session, v.type,
					       v.space == DBG_GLOBAL ? DBG_GENERIC : v.space),
			   v.address);
	if (dbg_session_set(x->session, c, "_", &at, &why))
		dbg_session_set(x->session, c, "__", &v, &why);
	text_fini(&why);
}

/* Where the expression points, or lies. */
static bool examine_at(struct debugger *x, const char *text, struct examine *e)
{
	struct look_evaluated v;
	struct dbg_type *t;
	struct dbg_number n;
	struct text why = {0};
	bool good;

	if (!look_evaluate(x, text, &v))
		return false;
	t = dbg_type_strip(v.v.type);
	if (v.v.store == DBG_MEMORY && (t->kind == DBG_ARRAY || t->kind == DBG_STRUCT)) {
		e->address = v.v.address;
		e->space = v.v.space;
		good = true;
	} else {
		good = dbg_value_number(&v.c, &v.v, &n, &why);
		e->address = n.bits;
		e->space = t->kind == DBG_POINTER ? t->space : DBG_GENERIC;
	}
	if (!good)
		look_say_why(x, &why);
	text_fini(&why);
	look_evaluated_fini(&v);
	return good;
}

void command_x(struct debugger *x, const struct call *c)
{
	struct examine *e = &x->look->examine, fresh = *e;
	struct dbg_context at;
	bool known = e->bytes != 0;

	fresh.count = 1;
	if (!known)
		fresh = (struct examine){.count = 1, .bytes = 4, .letter = 'x'};
	if (!read_examine(x, c->repeated ? "" : c->format, &fresh))
		return;
	if (fresh.letter == 'i') {
		look_disassemble_at(x, c->repeated ? "" : c->args, fresh.count);
		return;
	}
	if (fresh.letter == 'z')
		fresh.letter = 'x';
	if (*c->args && !c->repeated) {
		if (!examine_at(x, c->args, &fresh))
			return;
	} else if (!known) {
		say_error(x, "Argument required (starting display address)");
		return;
	}
	if (fresh.back)
		fresh.address -= (u64)fresh.count * fresh.bytes;
	context_now(x, &at);
	if (!(fresh.letter == 's' ? examine_strings : examine_numbers)(x, &at, &fresh))
		return;
	*e = fresh;
	if (fresh.count)
		keep_last(x, &at, &fresh);
}
