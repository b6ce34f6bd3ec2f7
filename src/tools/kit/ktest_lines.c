/*
 * The lines of a test become options of `ptxloom exec`.
 */
#include "src/base/nearest.h"
#include "src/tools/kit/calc.h"
#include "src/tools/kit/ktest_reader.h"

#include <inttypes.h>
#include <math.h>

static void push_option(struct ktest_reader *r, ktest_words *to, struct ktest_span w,
			const char *option, const char *value)
{
	ktest_push(r, to, w, option);
	ktest_push(r, to, w, value);
}

/* Add the value of an expression: a size if `is_size`, else any finite number. */
static void add_case_number(struct ktest_reader *r, struct ktest_span w, const char *s,
			    bool is_size, struct text *out)
{
	struct text why = {0};
	struct calc c;
	long double v = 0;

	if (calc_parse(&c, s, NULL, NULL, &why))
		v = calc_value(&c, NULL);
	else
		ktest_wrong(r, w, NULL, "%s", why.at ? why.at : "no memory left");
	calc_fini(&c);
	text_fini(&why);
	if (v >= 0 && v < 0x1p64L && v == (long double)(u64)v)
		text_printf(out, "%" PRIu64, (u64)v);
	else if (is_size)
		ktest_wrong(r, w, NULL, "'%s' is no whole number of at most 64 bits", s);
	else if (!isfinite(v))
		ktest_wrong(r, w, NULL, "'%s' is no finite number", s);
	else if (v > -0x1p63L && v < 0 && v == (long double)(s64)v)
		text_printf(out, "%" PRId64, (s64)v);
	else
		text_printf(out, "%.21Lg", v);
}

/* "ceil($n/256),2": parts between commas outside of parentheses. */
static void add_extents(struct ktest_reader *r, struct ktest_span w, const char *s,
			struct text *out)
{
	for (;;) {
		struct text part = {0};
		size_t n = 0;
		int depth = 0;

		for (; s[n] && (depth > 0 || s[n] != ','); n++)
			depth += (s[n] == '(') - (s[n] == ')');
		text_add(&part, s, n);
		add_case_number(r, w, part.at ? part.at : "", true, out);
		text_fini(&part);
		if (!s[n] || r->failed)
			return;
		text_puts(out, ",");
		s += n + 1;
	}
}

/* TYPE=VALUE and NAME:TYPE[N]=INIT, with expressions for VALUE and N. */
static void add_data(struct ktest_reader *r, struct ktest_span w, bool is_buffer, const char *s,
		     struct text *out)
{
	const char *open = strchr(s, '['), *equals = strchr(s, '='), *close;
	struct text part = {0};
	char *end;

	if (open && (!equals || open < equals) && (close = strchr(open, ']')) && close > open + 1) {
		text_add(out, s, (size_t)(open + 1 - s));
		text_add(&part, open + 1, (size_t)(close - open - 1));
		add_case_number(r, w, part.at ? part.at : "", true, out);
		s = close;
	} else if (!open && !is_buffer && equals && equals[1] != '@' && !strchr(equals, ',')) {
		strtod(equals + 1, &end);
		if (*end && strpbrk(equals + 1, "*/%(+-")) {
			text_add(out, s, (size_t)(equals + 1 - s));
			add_case_number(r, w, equals + 1, false, out);
			s += strlen(s);
		}
	}
	text_puts(out, s);
	text_fini(&part);
}

/* What follows `expect`. */
static void make_expect(struct ktest_reader *r, ktest_words *to)
{
	static const char tolerance[] = " tolerance ";
	struct ktest_span rest = ktest_rest(r);
	struct text t = {0}, of = {0};
	char *at;

	ktest_expand(r, rest, false, &t);
	if (r->failed) {
	} else if (!strncmp(t.at, "fault ", 6)) {
		push_option(r, to, rest, "--expect-fault", t.at + 6 + strspn(t.at + 6, " \t"));
	} else if (!strncmp(t.at, "metric ", 7)) {
		push_option(r, to, rest, "--expect-metric", t.at + 7 + strspn(t.at + 7, " \t"));
	} else if (!t.at[strcspn(t.at, "=")]) {
		ktest_wrong(r, rest, "expect NAME = VALUES; expect fault RULE; expect metric CLAIM",
			    "this is nothing that can be expected");
	} else {
		at = strstr(t.at, tolerance);
		if (at) {
			text_add(&of, t.at, strcspn(t.at, ":= \t"));
			text_printf(&of, ":%s",
				    at + strlen(tolerance) + strspn(at + strlen(tolerance), " \t"));
			*at = 0;
		}
		push_option(r, to, rest, "--expect", t.at);
		if (of.at)
			push_option(r, to, rest, "--tolerance", of.at);
	}
	text_fini(&t);
	text_fini(&of);
}

enum directive_kind { TAKES_NOTHING, TAKES_EXTENTS, TAKES_ARGUMENT, TAKES_BUFFER, TAKES_WORD };

static const struct {
	const char *word, *option;
	enum directive_kind kind;
} directives[] = {
	{"grid", "--grid", TAKES_EXTENTS},        {"block", "--block", TAKES_EXTENTS},
	{"cluster", "--cluster", TAKES_EXTENTS},  {"shared", "--shared", TAKES_EXTENTS},
	{"arg", "--arg", TAKES_ARGUMENT},         {"buffer", "--buffer", TAKES_BUFFER},
	{"tolerance", "--tolerance", TAKES_WORD}, {"cooperative", "--cooperative", TAKES_NOTHING},
};

static void make_directive(struct ktest_reader *r, ktest_words *to, struct ktest_span word,
			   size_t d)
{
	struct ktest_span w = word;
	struct text value = {0}, t = {0};

	if (directives[d].kind != TAKES_NOTHING) {
		w = ktest_word(r);
		if (!w.len)
			ktest_wrong(r, word, NULL, "a value is missing after %s",
				    directives[d].word);
		ktest_expand(r, w, true, &t);
	}
	switch (directives[d].kind) {
	case TAKES_NOTHING:
		break;
	case TAKES_EXTENTS:
		if (!r->failed)
			add_extents(r, w, t.at, &value);
		break;
	case TAKES_ARGUMENT:
	case TAKES_BUFFER:
		if (!r->failed)
			add_data(r, w, directives[d].kind == TAKES_BUFFER, t.at, &value);
		break;
	case TAKES_WORD:
		if (!r->failed)
			text_puts(&value, t.at);
		break;
	}
	ktest_push(r, to, w, directives[d].option);
	if (directives[d].kind != TAKES_NOTHING)
		ktest_push(r, to, w, value.at ? value.at : "");
	text_fini(&value);
	text_fini(&t);
}

static void say_unknown_directive(struct ktest_reader *r, struct ktest_span w)
{
	struct nearest near;
	struct text hint = {0};

	nearest_init(&near, w.at, w.len);
	for (size_t i = 0; i < ARRAY_LEN(directives); i++)
		nearest_offer(&near, directives[i].word, strlen(directives[i].word));
	nearest_offer(&near, "expect", 6);
	if (near.best)
		text_printf(&hint, "did you mean %s?", near.best);
	ktest_wrong(r, w, hint.at, "a test has no '%.*s'", (int)(w.len < 80 ? w.len : 80), w.at);
	text_fini(&hint);
}

void ktest_options(struct ktest_reader *r, ktest_words *to)
{
	for (size_t i = 0; i < r->lines.len && !r->failed; i++) {
		struct ktest_span w;

		r->at = r->lines.at[i].at;
		r->end = r->at + r->lines.at[i].len;
		while (!r->failed && (w = ktest_word(r)).len) {
			size_t d = 0;

			while (d < ARRAY_LEN(directives) && !ktest_is(w, directives[d].word))
				d++;
			if (d < ARRAY_LEN(directives))
				make_directive(r, to, w, d);
			else if (ktest_is(w, "expect"))
				make_expect(r, to);
			else
				say_unknown_directive(r, w);
		}
	}
}
