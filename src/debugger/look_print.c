/*
 * Values: print, output, ptype, whatis, set.
 */
#include "src/debugger/look_value.h"
#include "src/debugger/object/object.h"

#include <ctype.h>

/* ---- evaluation ---- */

void look_evaluated_fini(struct look_evaluated *v)
{
	dbg_expr_free(v->e);
	v->e = NULL;
}

bool look_evaluate_in(const struct dbg_context *c, const char *text, struct look_evaluated *out,
		      struct text *why)
{
	*out = (struct look_evaluated){.c = *c};
	out->e = dbg_expr_parse(c, text, why);
	out->type = out->e ? dbg_expr_type(out->e) : NULL;
	if (out->type || (out->e && dbg_expr_eval(out->e, c, &out->v, why)))
		return true;
	look_evaluated_fini(out);
	return false;
}

/* In the focus; a type is an error. */
bool look_evaluate(struct debugger *x, const char *text, struct look_evaluated *out)
{
	struct dbg_context c;
	struct text why = {0};
	bool good;

	context_now(x, &c);
	good = look_evaluate_in(&c, text, out, &why);
	if (good && out->type) {
		text_puts(&why, "Attempt to use a type name as an expression");
		look_evaluated_fini(out);
		good = false;
	}
	if (!good)
		look_say_why(x, &why);
	text_fini(&why);
	return good;
}

bool look_number(struct debugger *x, const char *text, s64 *out)
{
	struct look_evaluated v;
	struct dbg_number n = {0};
	struct text why = {0};
	bool good;

	if (!look_evaluate(x, text, &v))
		return false;
	good = dbg_value_number(&v.c, &v.v, &n, &why);
	*out = n.is_float ? (s64)n.real : (s64)n.bits;
	if (!good)
		look_say_why(x, &why);
	text_fini(&why);
	look_evaluated_fini(&v);
	return good;
}

void look_say_why(struct debugger *x, const struct text *why)
{
	say_error(x, "%s", why->len ? why->at : "There is no value");
}

/* ---- formats ---- */

/* "tensormap" and the like. */
static enum dbg_object object_named(const char *text, size_t n)
{
	static const char *const names[DBG_OBJECTS] = {[DBG_NO_OBJECT] = "",
						       [DBG_TENSOR_MAP] = "tensormap",
						       [DBG_MBARRIER] = "mbarrier",
						       [DBG_TEXTURE] = "texture",
						       [DBG_SURFACE] = "surface"};

	for (u32 i = DBG_NO_OBJECT + 1; i < DBG_OBJECTS; i++)
		if (strlen(names[i]) == n && !memcmp(names[i], text, n))
			return (enum dbg_object)i;
	return DBG_NO_OBJECT;
}

bool look_read_format(struct debugger *x, const char *text, struct look_format *out)
{
	*out = (struct look_format){0};
	while (*text) {
		size_t n = strcspn(text, "/");

		if (n == 5 && !memcmp(text, "lanes", n)) {
			out->lanes = true;
		} else if (n == 6 && !memcmp(text, "matrix", n)) {
			out->matrix = true;
		} else if (object_named(text, n)) {
			out->object = object_named(text, n);
		} else if (n == 1 && dbg_format_is(*text)) {
			out->f.letter = *text;
		} else if (n == 1 && *text == 'r') {
			out->f.letter = 0;
		} else {
			say_error(x, "Undefined output format \"%.*s\"", (int)n, text);
			return false;
		}
		text += n + (text[n] == '/');
	}
	return true;
}

/* ---- print, output ---- */

static void say_value(struct debugger *x, const struct look_evaluated *v,
		      const struct dbg_format *f, bool keep)
{
	struct text out = {0}, why = {0};
	u32 number;
	bool good = dbg_value_print(&v->c, &v->v, f, &out, &why);

	if (good && keep)
		good = dbg_session_keep(x->session, &v->c, &v->v, &number, &why);
	if (!good)
		look_say_why(x, &why);
	else if (keep)
		say(x, "$%u = %s\n", number, out.at ? out.at : "");
	else
		say(x, "%s", out.at ? out.at : "");
	text_fini(&out);
	text_fini(&why);
}

static void print_one(struct debugger *x, const char *text, const struct dbg_format *f, bool keep)
{
	struct look_evaluated v;

	if (!look_evaluate(x, text, &v))
		return;
	say_value(x, &v, f, keep);
	look_evaluated_fini(&v);
}

void command_call(struct debugger *x, const struct call *c)
{
	struct look_evaluated v;
	struct look_format f;
	bool is_void;

	if (!*c->args) {
		say_error(x, "call needs an expression: call FUNCTION(ARGUMENTS)");
		return;
	}
	if (!look_read_format(x, c->format, &f) || !look_evaluate(x, c->args, &v))
		return;
	is_void = dbg_type_strip(v.v.type)->kind == DBG_VOID;
	if (!is_void)
		say_value(x, &v, &f.f, true);
	look_evaluated_fini(&v);
}

void command_print(struct debugger *x, const struct call *c)
{
	struct look_format f;
	const char *text = *c->args ? c->args : "$";

	if (!look_read_format(x, c->format, &f))
		return;
	if (f.object)
		object_print(x, text, f.object);
	else if (f.matrix)
		look_print_matrix(x, text, &f.f);
	else if (f.lanes)
		look_print_lanes(x, text, &f.f);
	else
		print_one(x, text, &f.f, true);
}

void command_output(struct debugger *x, const struct call *c)
{
	struct look_format f;

	if (!*c->args)
		say_error(x, "output needs an expression");
	else if (look_read_format(x, c->format, &f))
		print_one(x, c->args, &f.f, false);
}

/* ---- types ---- */

/* offsets: of members, in the manner of ptype/o. */
static void say_type(struct debugger *x, const char *text, bool whole, bool offsets)
{
	struct look_evaluated v;
	struct dbg_context c;
	struct text out = {0}, why = {0};

	context_now(x, &c);
	c.dry = true;
	if (!look_evaluate_in(&c, *text ? text : "$", &v, &why)) {
		look_say_why(x, &why);
	} else {
		struct dbg_type *t = v.type ? v.type : v.v.type;

		/* Of the name of a typedef, what it names. */
		if (!whole && v.type && t->kind == DBG_TYPEDEF && t->target)
			t = t->target;
		offsets &= dbg_type_strip(t)->kind == DBG_STRUCT;
		if (whole)
			dbg_type_describe(t, offsets, &out);
		else
			dbg_type_print(t, NULL, &out);
		say(x, "%stype = %s\n", offsets ? "/* offset      |    size */  " : "",
		    out.at ? out.at : "");
		look_evaluated_fini(&v);
	}
	text_fini(&out);
	text_fini(&why);
}

void command_ptype(struct debugger *x, const struct call *c)
{
	if (*c->format && strcmp(c->format, "o") != 0)
		say_error(x, "ptype knows one format: ptype/o, with offsets");
	else
		say_type(x, c->args, true, *c->format == 'o');
}

void command_whatis(struct debugger *x, const struct call *c)
{
	say_type(x, c->args, false, false);
}

/* ---- set ---- */

/* Settings of gdb that are not known look like expressions that end too early. */
static bool is_setting(const char *args)
{
	size_t n = strspn(args, "abcdefghijklmnopqrstuvwxyz-");

	return n > 1 && (!args[n] || (args[n] == ' ' && isalnum((u8)args[n + 1]))) &&
	       !strchr(args, '=');
}

void command_set_variable(struct debugger *x, const struct call *c)
{
	struct look_evaluated v;

	if (!*c->args)
		say_error(x, "set needs an assignment: set var NAME = VALUE");
	else if (!strcmp(c->name, "set") && is_setting(c->args))
		say_error(x, "There is no setting \"%s\"; set var NAME = VALUE assigns.", c->args);
	else if (look_evaluate(x, c->args, &v))
		look_evaluated_fini(&v);
}

/* ---- printf ---- */

/* The end of a "text", NULL: it does not end. */
static const char *end_of_text(const char *s)
{
	for (s++; *s && *s != '"'; s++)
		if (*s == '\\' && s[1])
			s++;
	return *s ? s : NULL;
}

static const char *put_escape(const char *s, struct text *out)
{
	static const char from[] = "ntrabfv\\\"", to[] = "\n\t\r\a\b\f\v\\\"";
	const char *at = *s ? strchr(from, *s) : NULL;

	text_add(out, at ? &to[at - from] : s, *s != 0);
	return s + (*s != 0);
}

/* The text of a char pointer or array. */
static bool format_string(struct look_evaluated *v, const char *spec, struct text *out,
			  struct text *why)
{
	struct text s = {0};
	char one;
	u32 n = 0;
	bool good = true;

	for (; n < 4096 && good; n++) {
		struct dbg_value element;
		struct dbg_number number;

		good = dbg_value_index(&v->c, &v->v, n, &element, why) &&
		       dbg_value_number(&v->c, &element, &number, why);
		one = good ? (char)number.bits : 0;
		if (!one)
			break;
		text_add(&s, &one, 1);
	}
	if (good)
		text_printf(out, spec, s.at ? s.at : "");
	text_fini(&s);
	return good;
}

/* One conversion: `spec` without length modifiers, which are those of the value. */
static bool put_value(struct look_evaluated *v, const char *spec, size_t n, struct text *out,
		      struct text *why)
{
	char letter = spec[n - 1], format[64];
	struct dbg_number number;
	size_t flags = strspn(spec + 1, "-+ #0123456789.") + 1;

	if (flags > sizeof(format) - 8) {
		text_puts(why, "The conversion is too long");
		return false;
	}
	snprintf(format, sizeof(format), "%.*s%s%c", (int)flags, spec,
		 strchr("diouxX", letter) ? "ll" : "", letter == 'p' ? 's' : letter);
	if (letter == 'V')
		return dbg_value_print(&v->c, &v->v, &(struct dbg_format){0}, out, why);
	if (letter == 's')
		return format_string(v, format, out, why);
	if (!dbg_value_number(&v->c, &v->v, &number, why))
		return false;
	if (letter == 'p') {
		char address[32];

		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)number.bits);
		text_printf(out, format, address);
	} else if (strchr("eEfFgGaA", letter)) {
		text_printf(out, format,
			    number.is_float    ? number.real
			    : number.is_signed ? (f64)(s64)number.bits
					       : (f64)number.bits);
	} else if (letter == 'c') {
		text_printf(out, format, (int)number.bits);
	} else {
		text_printf(out, format,
			    number.is_float ? (long long)number.real : (long long)number.bits);
	}
	return true;
}

/* The next argument after a comma; false: there is none. */
static bool next_argument(const char **at, struct text *out)
{
	u32 depth = 0;
	const char *s = *at + strspn(*at, " \t");

	if (*s != ',')
		return false;
	s += 1 + strspn(s + 1, " \t");
	*at = s;
	for (; *s && (depth || *s != ','); s++) {
		depth += *s == '(' || *s == '[' || *s == '{';
		depth -= depth && (*s == ')' || *s == ']' || *s == '}');
		if (*s == '"' && end_of_text(s))
			s = end_of_text(s);
	}
	text_add(out, *at, (size_t)(s - *at));
	*at = s;
	return out->len > 0;
}

static size_t conversion_length(const char *s)
{
	size_t n = 1 + strspn(s + 1, "-+ #0123456789.");

	n += strspn(s + n, "hlzjtL");
	return s[n] && strchr("diouxXeEfFgGaAcspV", s[n]) ? n + 1 : 0;
}

/* While it prints in the middle of a launch, nothing else can run there. */
static bool evaluate_argument(struct debugger *x, const char *text, struct look_evaluated *out)
{
	struct dbg_expr *e;
	struct dbg_context c;
	struct text why = {0};
	bool calls;

	if (!x->points.printing)
		return look_evaluate(x, text, out);
	context_now(x, &c);
	e = dbg_expr_parse(&c, text, &why);
	calls = e && dbg_expr_calls(e);
	dbg_expr_free(e);
	text_fini(&why);
	if (!calls)
		return look_evaluate(x, text, out);
	say_error(x, "a dprintf cannot call functions");
	return false;
}

static bool format_text(struct debugger *x, const char *s, const char *end, const char **args,
			struct text *out)
{
	while (s < end) {
		struct text argument = {0}, why = {0};
		struct look_evaluated v;
		size_t n = conversion_length(s);
		bool good;

		if (*s == '\\') {
			s = put_escape(s + 1, out);
			continue;
		}
		if (*s != '%' || s[1] == '%') {
			text_add(out, s, 1);
			s += 1 + (*s == '%');
			continue;
		}
		if (!n || s + n > end) {
			say_error(x, "Unrecognized format specifier in \"%.*s\"", (int)(end - s),
				  s);
			return false;
		}
		good = next_argument(args, &argument);
		if (!good)
			say_error(x, "Bad format string, missing arguments");
		good = good && evaluate_argument(x, argument.at, &v);
		if (good) {
			good = put_value(&v, s, n, out, &why);
			if (!good)
				look_say_why(x, &why);
			look_evaluated_fini(&v);
		}
		text_fini(&argument);
		text_fini(&why);
		if (!good)
			return false;
		s += n;
	}
	return true;
}

bool look_printf(struct debugger *x, const char *args)
{
	const char *end = *args == '"' ? end_of_text(args) : NULL, *rest;
	struct text out = {0};
	bool good;

	if (!end) {
		say_error(x, "printf needs a \"TEXT\" and values after commas");
		return false;
	}
	rest = end + 1;
	good = format_text(x, args + 1, end, &rest, &out);
	if (good && rest[strspn(rest, " \t")]) {
		say_error(x, "Wrong number of arguments for specified format-string");
		good = false;
	}
	if (good)
		say(x, "%s", out.at ? out.at : "");
	text_fini(&out);
	return good;
}

void command_printf(struct debugger *x, const struct call *c)
{
	look_printf(x, c->args);
}
