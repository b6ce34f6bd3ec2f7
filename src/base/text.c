/*
 * Growing text buffer and JSON string escaping.
 */
#include "src/base/utf8.h"

#include <stdlib.h>

void text_fini(struct text *t)
{
	free(t->at);
	*t = (struct text){0};
}

static bool text_reserve(struct text *t, size_t n)
{
	size_t want = t->cap ? t->cap : 128;
	char *p;

	if (t->failed)
		return false;
	if (t->len + n < t->cap)
		return true;
	while (want <= t->len + n)
		want *= 2;
	p = realloc(t->at, want);
	if (!p) {
		t->failed = true;
		return false;
	}
	t->at = p;
	t->cap = want;
	return true;
}

void text_add(struct text *t, const char *s, size_t n)
{
	if (!text_reserve(t, n))
		return;
	if (n)
		memcpy(t->at + t->len, s, n);
	t->len += n;
	t->at[t->len] = 0;
}

void text_puts(struct text *t, const char *s)
{
	text_add(t, s, strlen(s));
}

void text_vprintf(struct text *t, const char *fmt, va_list args)
{
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, args);
	if (n >= 0 && text_reserve(t, (size_t)n)) {
		vsnprintf(t->at + t->len, (size_t)n + 1, fmt, again);
		t->len += (size_t)n;
	}
	va_end(again);
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	text_vprintf(t, fmt, args);
	va_end(args);
}

void text_json_string(struct text *t, const char *s)
{
	text_puts(t, "\"");
	while (*s) {
		size_t n = utf8_len((const u8 *)s);

		if (n == 1 && (*s == '"' || *s == '\\'))
			text_printf(t, "\\%c", *s);
		else if (n == 1 && ((u8)*s < 0x20 || *s == 0x7f))
			text_printf(t, "\\u%04x", (u8)*s);
		else if (n)
			text_add(t, s, n);
		else
			text_puts(t, "\\ufffd");
		s += n ? n : 1;
	}
	text_puts(t, "\"");
}
