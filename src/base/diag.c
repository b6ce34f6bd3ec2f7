/*
 * Located messages: counting, line lookup, rendering.
 */
#include "src/base/diag.h"

#include <stdarg.h>
#include <unistd.h>

#define SHOWN_COLUMNS 160u
#define MESSAGE_MAX 1000u /* bytes of a message */

void diag_init(struct diag *d, diag_sink *sink, void *user)
{
	*d = (struct diag){.sink = sink, .user = user};
}

void diag_fini(struct diag *d)
{
	text_fini(&d->words);
	text_fini(&d->first_error);
}

static void set_words(struct diag *d, bool are_line, const char *fmt, va_list args)
{
	text_fini(&d->words);
	text_vprintf(&d->words, fmt, args);
	d->words_are_line = are_line;
}

void diag_words(struct diag *d, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_words(d, false, fmt, args);
	va_end(args);
}

void diag_words_line(struct diag *d, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_words(d, true, fmt, args);
	va_end(args);
}

bool diag_full(const struct diag *d)
{
	return d->error_limit && d->errors >= d->error_limit;
}

void diag_locate(const struct diag_source *src, u32 offset, u32 *line, u32 *column)
{
	const char *p = src->text, *end = p + min_u64(offset, src->size), *nl;
	u32 n = 1;

	while (p < end && (nl = memchr(p, '\n', (size_t)(end - p)))) {
		p = nl + 1;
		n++;
	}
	*line = n;
	*column = (u32)(end - p) + 1;
}

/* As diag_locate, but continues from the last location. */
static void locate_cached(struct diag *d, const struct diag_source *src, u32 offset,
			  struct diag_message *m)
{
	const char *p, *end = src->text + min_u64(offset, src->size), *nl;
	u32 line = 1, start = 0;

	if (d->seen_source == src && d->seen_offset <= offset) {
		line = d->seen_line;
		start = d->seen_line_start;
	}
	p = src->text + start;
	while (p < end && (nl = memchr(p, '\n', (size_t)(end - p)))) {
		p = nl + 1;
		line++;
	}
	d->seen_source = src;
	d->seen_offset = offset;
	d->seen_line = line;
	d->seen_line_start = (u32)(p - src->text);
	m->line = line;
	m->column = (u32)(end - p) + 1;
	m->source_line = p;
	nl = memchr(p, '\n', src->size - (size_t)(p - src->text));
	m->source_line_len = nl ? (size_t)(nl - p) : src->size - (size_t)(p - src->text);
	while (m->source_line_len && p[m->source_line_len - 1] == '\r')
		m->source_line_len--;
}

static void remember_first(struct diag *d, const struct diag_message *m)
{
	struct text *t = &d->first_error;

	if (t->len)
		return;
	if (m->file)
		text_printf(t, "%s:", m->file);
	if (m->line)
		text_printf(t, "%u:%u:", m->line, m->column);
	text_printf(t, "%serror: %s", t->len ? " " : "", m->text);
}

static bool level_is_shown(struct diag *d, enum diag_level level)
{
	bool full = diag_full(d);

	switch (level) {
	case DIAG_ERROR:
		d->errors++;
		return !full && (d->sink || !d->first_error.len);
	case DIAG_WARNING:
		d->warnings++;
		return !d->quiet_warnings && d->sink;
	case DIAG_NOTE:
		break;
	}
	return d->sink && (!full || d->errors == d->error_limit);
}

/* Names can be as long as the file: of a message that is, the middle is left out. */
static void cut_middle(struct text *t)
{
	static const char gap[] = " ... ";

	if (t->len <= MESSAGE_MAX)
		return;
	memcpy(t->at + MESSAGE_MAX / 2, gap, sizeof(gap) - 1);
	memmove(t->at + MESSAGE_MAX / 2 + sizeof(gap) - 1, t->at + t->len - MESSAGE_MAX / 4,
		MESSAGE_MAX / 4 + 1);
	t->len = MESSAGE_MAX / 2 + sizeof(gap) - 1 + MESSAGE_MAX / 4;
}

void diag_at(struct diag *d, enum diag_level level, const struct diag_source *src,
	     struct diag_span span, const char *hint, const char *fmt, ...)
{
	struct diag_message m = {.level = level, .hint = hint, .file = src ? src->name : NULL};
	struct text t = {0};
	va_list args;

	if (level_is_shown(d, level)) {
		va_start(args, fmt);
		text_vprintf(&t, fmt, args);
		va_end(args);
		cut_middle(&t);
		cut_middle(&d->words);
		m.text = t.at ? t.at : "out of memory";
		m.words = d->words.len ? d->words.at : NULL;
		m.words_are_line = d->words_are_line;
		if (src && src->text && span.begin != UINT32_MAX) {
			locate_cached(d, src, span.begin, &m);
			m.mark_len = span.end > span.begin ? span.end - span.begin : 1;
		}
		if (level == DIAG_ERROR)
			remember_first(d, &m);
		if (d->sink)
			d->sink(d->user, &m);
		text_fini(&t);
	}
	text_fini(&d->words);
}

/* The text below a byte of the source line so that the mark lines up. */
static const char *padding(char c, const char *narrow, const char *tab)
{
	/* The further bytes of a UTF-8 sequence take no column. */
	return c == '\t' ? tab : ((u8)c & 0xc0) == 0x80 ? "" : narrow;
}

/*
 * Source line and caret. Long (minified) lines show a window around the mark; tabs become spaces.
 */
static void render_line(struct text *t, const struct diag_message *m, const char *on,
			const char *off)
{
	size_t at = m->column - 1, from = 0, len = m->source_line_len;

	if (!m->source_line || at > len)
		return;
	if (len > SHOWN_COLUMNS && at > SHOWN_COLUMNS / 2)
		from = at - SHOWN_COLUMNS / 2;
	len = (size_t)min_u64(len - from, SHOWN_COLUMNS);
	text_printf(t, "%6u | %s", m->line, from ? "..." : "");
	for (size_t i = from; i < from + len; i++) {
		u8 c = (u8)m->source_line[i];
		char s[8] = {(char)c, 0};

		text_puts(t, c == '\t' ? "        " : c < 0x20 || c == 0x7f ? "?" : s);
	}
	text_printf(t, "%s\n", from + len < m->source_line_len ? "..." : "");
	if (!m->mark_len)
		return;
	text_printf(t, "       | %s", from ? "   " : "");
	for (size_t i = from; i < at; i++)
		text_puts(t, padding(m->source_line[i], " ", "        "));
	text_printf(t, "%s^", on);
	for (size_t i = 1; i < m->mark_len && at + i < from + len; i++)
		text_puts(t, padding(m->source_line[at + i], "~", "~~~~~~~~"));
	text_printf(t, "%s\n", off);
}

void diag_quote(struct text *t, const struct diag_source *src, u32 line, u32 column)
{
	struct diag_message m = {
		.line = line, .column = column ? column : 1, .mark_len = column != 0};
	const char *p = src->text, *end = src->text + src->size, *nl;

	for (u32 n = 1; n < line && p < end; n++) {
		nl = memchr(p, '\n', (size_t)(end - p));
		p = nl ? nl + 1 : end;
	}
	if (!line || p >= end)
		return;
	nl = memchr(p, '\n', (size_t)(end - p));
	m.source_line = p;
	m.source_line_len = (size_t)((nl ? nl : end) - p);
	if (m.source_line_len && p[m.source_line_len - 1] == '\r')
		m.source_line_len--;
	render_line(t, &m, "", "");
}

static void render(struct text *t, const struct diag_message *m, bool colour)
{
	static const char *const names[] = {"note", "warning", "error"};
	static const char *const colours[] = {"\033[1;36m", "\033[1;35m", "\033[1;31m"};
	const char *off = colour ? "\033[0m" : "", *bold = colour ? "\033[1m" : "";

	text_puts(t, bold);
	if (m->file)
		text_printf(t, "%s:", m->file);
	if (m->line)
		text_printf(t, "%u:%u:", m->line, m->column);
	text_printf(t, "%s%s%s%s: %s%s%s%s\n", m->file || m->line ? " " : "", off,
		    colour ? colours[m->level] : "", names[m->level], off, bold, m->text, off);
	if (m->line)
		render_line(t, m, colour ? "\033[1;32m" : "", off);
	if (m->hint)
		text_printf(t, "hint: %s\n", m->hint);
}

void diag_print(void *user, const struct diag_message *m)
{
	struct text t = {0};

	render(&t, m, isatty(fileno(user)));
	if (t.at)
		fwrite(t.at, 1, t.len, user);
	text_fini(&t);
}

void diag_collect(void *user, const struct diag_message *m)
{
	render(user, m, false);
}
