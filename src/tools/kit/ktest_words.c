/*
 * Words of tables of tests, with the values of variables.
 */
#include "src/tools/kit/ktest_reader.h"

#include <ctype.h>

#define EXPANDED_MAX (1u << 20)
/* Of all words of all cases. */
#define WORDS_MAX ((u64)1 << 30)

struct diag_span ktest_span_in(const struct ktest_reader *r, struct ktest_span at)
{
	u32 begin = (u32)(at.at - r->source.text);

	return (struct diag_span){begin, begin + (u32)(at.len ? at.len : 1)};
}

void ktest_wrong(struct ktest_reader *r, struct ktest_span at, const char *hint, const char *fmt,
		 ...)
{
	struct text t = {0};
	va_list args;

	if (r->failed)
		return;
	va_start(args, fmt);
	text_vprintf(&t, fmt, args);
	va_end(args);
	diag_at(r->diag, DIAG_ERROR, &r->source, ktest_span_in(r, at), hint, "%s",
		t.at ? t.at : "no memory left");
	text_fini(&t);
	r->failed = true;
}

bool ktest_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

bool ktest_skip(struct ktest_reader *r)
{
	while (r->at < r->end && ktest_is_blank(*r->at))
		r->at++;
	return r->at < r->end && *r->at != '#';
}

struct ktest_span ktest_word(struct ktest_reader *r)
{
	struct ktest_span w = {r->at, 0};
	char quote = 0;

	if (!ktest_skip(r)) {
		w.at = r->at;
		return w;
	}
	w.at = r->at;
	for (; r->at < r->end && (quote || !ktest_is_blank(*r->at)); r->at++) {
		if (quote ? *r->at == quote : *r->at == '"' || *r->at == '\'')
			quote = quote ? 0 : *r->at;
	}
	w.len = (size_t)(r->at - w.at);
	if (quote)
		ktest_wrong(r, w, NULL, "the quote is not closed");
	return w;
}

bool ktest_is(struct ktest_span w, const char *s)
{
	return w.len == strlen(s) && !memcmp(w.at, s, w.len);
}

struct ktest_span ktest_rest(struct ktest_reader *r)
{
	struct ktest_span w = {r->at, 0};
	char quote = 0;

	if (!ktest_skip(r)) {
		w.at = r->at;
		return w;
	}
	w.at = r->at;
	for (; r->at < r->end; r->at++) {
		if (!quote && *r->at == '#' && ktest_is_blank(r->at[-1]))
			break;
		if (quote ? *r->at == quote : *r->at == '"')
			quote = quote ? 0 : *r->at;
	}
	w.len = (size_t)(r->at - w.at);
	while (w.len && ktest_is_blank(w.at[w.len - 1]))
		w.len--;
	r->at = r->end;
	return w;
}

static void add_variable_value(struct ktest_reader *r, struct ktest_span all, const char *name,
			       size_t n, struct text *out)
{
	for (u32 i = 0; i < r->variables; i++) {
		const struct ktest_variable *v = &r->variable[i];

		if (v->name.len == n && !memcmp(v->name.at, name, n)) {
			text_add(out, v->values.at[v->now].at, v->values.at[v->now].len);
			return;
		}
	}
	ktest_wrong(r, all, NULL, "there is no variable $%.*s in this test", (int)n, name);
}

void ktest_expand(struct ktest_reader *r, struct ktest_span w, bool quotes_go, struct text *out)
{
	char quote = 0;

	for (size_t i = 0; i < w.len && !r->failed; i++) {
		char c = w.at[i];
		bool braces = i + 1 < w.len && w.at[i + 1] == '{';
		size_t from = i + 1 + braces, n = from;

		if (quotes_go && (quote ? c == quote : c == '"' || c == '\'')) {
			quote = quote ? 0 : c;
			continue;
		}
		if (c != '$' || quote == '\'') {
			text_add(out, &c, 1);
			continue;
		}
		while (n < w.len && (isalnum((unsigned char)w.at[n]) || w.at[n] == '_'))
			n++;
		add_variable_value(r, w, w.at + from, n - from, out);
		if (out->len > EXPANDED_MAX)
			ktest_wrong(r, w, NULL, "this is longer than %u bytes", EXPANDED_MAX);
		if (braces && (n == w.len || w.at[n] != '}'))
			ktest_wrong(r, w, NULL, "a } is missing");
		i = n - 1 + braces;
	}
	if (!out->at)
		text_puts(out, "");
	if (out->failed)
		ktest_wrong(r, w, NULL, "no memory left");
}

void ktest_push(struct ktest_reader *r, ktest_words *to, struct ktest_span w, const char *s)
{
	char *copy;

	r->bytes += strlen(s) + sizeof(s) * 4;
	if (r->bytes > WORDS_MAX)
		ktest_wrong(r, w, NULL, "the cases take more than %llu bytes",
			    (unsigned long long)WORDS_MAX);
	copy = r->failed ? NULL : strdup(s);
	if (r->failed || (copy && VEC_PUSH(to, copy)))
		return;
	free(copy);
	ktest_wrong(r, w, NULL, "no memory left");
}
