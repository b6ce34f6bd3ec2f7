/*
 * Windows beside the commands: the upper part of the terminal shows the source, the PTX or the
 * lanes of the warp, and is drawn again before each prompt. The commands scroll below it: terminals
 * can be told which rows scroll (DECSTBM), so that editing of lines and output of the program go on
 * as without a window.
 */
#include "src/tools/debug/front.h"

#include "src/base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Smaller terminals have no room for two parts. */
#define LAYOUT_ROWS_MIN 12

static const struct {
	const char *name;
	const char *command; /* what it shows; NULL: the source */
} layouts[] = {
	{"off", NULL},
	{"src", NULL},
	{"ptx", "disassemble"},
	{"lanes", "info lanes"},
};

/* ---- the source ---- */

/* A file by the compiler's path, or in the current folder. */
static bool open_source_file(struct file *file, const char *path)
{
	const char *slash = strrchr(path, '/');

	return *path && (file_open(file, path) || (slash && file_open(file, slash + 1)));
}

/* `rows` lines around `line`, which is marked. */
static void put_source(struct text *out, const char *path, u32 line, u32 rows)
{
	u32 first = line > rows / 2 ? line - rows / 2 : 1, number = 1;
	struct file file;
	const char *s, *end;

	if (!open_source_file(&file, path)) {
		text_printf(out, "%s cannot be read\n", *path ? path : "The source");
		return;
	}
	s = (const char *)file.data;
	for (end = s + file.size; s < end && number < first + rows; number++) {
		const char *stop = memchr(s, '\n', (size_t)(end - s));

		stop = stop ? stop : end;
		if (number >= first)
			text_printf(out, "%s%5u  %.*s\n", number == line ? "=>" : "  ", number,
				    (int)(stop - s), s);
		s = stop + (stop < end);
	}
	file_close(&file);
}

/* What the window shows; the title is that of the place. */
static void put_window(struct front *f, struct text *out, u32 rows)
{
	const char *where = f->where.at ? f->where.at : "", *tab;
	const char *command = layouts[f->layout].command;
	char *path;

	if (!session_is_running(f)) {
		text_puts(out, "No program is being run\n");
	} else if (strncmp(where, "stopped ", 8) != 0) {
		text_puts(out, "No kernel is running\n");
	} else if (command) {
		front_capture(f, command, out);
	} else {
		tab = strchr(where + 8, '\t');
		path = strndup(where + 8, tab ? (size_t)(tab - where - 8) : strlen(where + 8));
		put_source(out, path ? path : "", tab ? (u32)strtoul(tab + 1, NULL, 10) : 0, rows);
		free(path);
	}
}

/* ---- the terminal ---- */

static bool terminal_size(u32 *rows, u32 *columns)
{
	struct winsize w;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || w.ws_row < LAYOUT_ROWS_MIN || !w.ws_col)
		return false;
	*rows = w.ws_row;
	*columns = w.ws_col;
	return true;
}

/* A line cut to the width of the terminal; tabs become blanks, control characters too. */
static void put_cut(struct text *out, const char *s, size_t n, u32 columns)
{
	u32 at = 0;

	for (size_t i = 0; i < n && at < columns; i++) {
		u8 c = (u8)s[i];

		if (c == '\t') {
			do
				text_puts(out, " ");
			while (++at % 8 && at < columns);
			continue;
		}
		text_add(out, c < ' ' || c == 0x7f ? " " : s + i, 1);
		/* The further bytes of a UTF-8 character take no room. */
		at += (c & 0xc0) != 0x80;
	}
}

static bool is_current(const char *s, size_t n)
{
	return n > 1 && (*s == '*' || !strncmp(s, "=>", 2));
}

/* The first line to show, so that the current one is in the middle of what does not fit. */
static const char *window_start(const struct text *t, u32 rows)
{
	const char *s = t->at ? t->at : "", *start = s;
	u32 line = 0, current = 0;

	for (const char *l = s; *l; l += strcspn(l, "\n"), l += *l == '\n', line++)
		if (!current && is_current(l, strcspn(l, "\n")))
			current = line;
	if (line <= rows)
		return s;
	for (line = current > rows / 2 ? current - rows / 2 : 0; line; line--) {
		start += strcspn(start, "\n");
		start += *start == '\n';
	}
	return start;
}

static void draw_window(struct front *f, u32 height, u32 columns)
{
	struct text window = {0}, out = {0};
	const char *s;

	put_window(f, &window, height - 1);
	s = window_start(&window, height - 1);
	text_puts(&out, "\0337");
	for (u32 row = 1; row < height; row++) {
		size_t n = strcspn(s, "\n");

		text_printf(&out, "\033[%u;1H\033[2K%s", row, is_current(s, n) ? "\033[1m" : "");
		put_cut(&out, s, n, columns);
		text_puts(&out, "\033[0m");
		s += n + (s[n] == '\n');
	}
	text_printf(&out, "\033[%u;1H\033[7m\033[2K %s\033[0m\0338", height,
		    layouts[f->layout].name);
	if (!out.failed)
		fwrite(out.at, 1, out.len, stdout);
	fflush(stdout);
	text_fini(&window);
	text_fini(&out);
}

/* Rows below `height` scroll; the cursor is in the last one. */
static void divide_screen(u32 height, u32 rows)
{
	printf("\033[%u;%ur\033[%u;1H", height + 1, rows, rows);
	fflush(stdout);
}

void layout_draw(struct front *f)
{
	u32 rows, columns;

	if (!f->layout || !terminal_size(&rows, &columns))
		return;
	if (rows != f->layout_rows)
		divide_screen(rows * 2 / 5, rows);
	f->layout_rows = rows;
	draw_window(f, rows * 2 / 5, columns);
}

void layout_off(struct front *f)
{
	u32 rows, columns;

	if (!f->layout)
		return;
	f->layout = 0;
	f->layout_rows = 0;
	if (terminal_size(&rows, &columns))
		printf("\033[r\033[%u;1H", rows);
	fflush(stdout);
}

enum front_result layout_set(struct front *f, const char *name)
{
	const char *term = getenv("TERM");
	u32 rows, columns;

	if (!f->interactive || !term || !strcmp(term, "dumb"))
		return front_error(f, "A layout needs a terminal");
	if (!terminal_size(&rows, &columns))
		return front_error(f, "A layout needs a terminal of at least %d rows",
				   LAYOUT_ROWS_MIN);
	for (u32 i = 0; i < ARRAY_LEN(layouts); i++) {
		if (strcmp(layouts[i].name, name) != 0)
			continue;
		if (!i)
			layout_off(f);
		f->layout = i;
		return FRONT_OK;
	}
	return front_error(f, "'layout' takes src, ptx, lanes or off, not '%s'", name);
}
