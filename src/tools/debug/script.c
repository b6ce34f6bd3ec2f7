/*
 * Command files and commands of several lines, in the manner of gdb. An error of a command does not
 * end a file: what follows it is often there to look at what went wrong.
 */
#include "src/tools/debug/front.h"

#include "src/base/file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* How deep files, loops and defined commands may nest. */
#define SCRIPT_DEPTH_MAX 100u
#define SCRIPT_ARGS_MAX 10u

static char *next_of_text(struct script *s, const char *prompt)
{
	const char *start = s->at, *stop;

	(void)prompt;
	if (s->at == s->end)
		return NULL;
	stop = memchr(start, '\n', (size_t)(s->end - start));
	s->at = stop ? stop + 1 : s->end;
	s->line++;
	if (!stop)
		stop = s->end;
	if (stop > start && stop[-1] == '\r')
		stop--;
	return strndup(start, (size_t)(stop - start));
}

void script_of_text(struct script *s, const char *text, size_t n)
{
	*s = (struct script){.next = next_of_text, .at = text, .end = text + n};
}

/* ---- words ---- */

static const char *skip_space(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

/* Is the first word this one? Then *rest is what follows it. */
static bool is_script_word(const char *line, const char *word, const char **rest)
{
	size_t n = strlen(word);

	line = skip_space(line);
	if (strncmp(line, word, n) != 0 || isalnum((unsigned char)line[n]) || line[n] == '_' ||
	    line[n] == '-')
		return false;
	*rest = skip_space(line + n);
	return true;
}

/* Does the line begin a block that `end` ends? */
static bool opens_block(const char *line)
{
	static const char *const words[] = {"if", "while", "commands", "define", "document"};
	const char *rest;

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (is_script_word(line, words[i], &rest))
			return true;
	return false;
}

/*
 * The lines up to the `end` of a block, each with its line end. With `other` the lines after `else`
 * go there. False after a message when the lines end before.
 */
static bool read_block(struct front *f, struct script *s, const char *what, struct text *body,
		       struct text *other)
{
	u32 depth = 1, first = s->line;
	struct text *to = body;
	const char *rest;
	char *line;

	while ((line = s->next(s, ">"))) {
		if (is_script_word(line, "end", &rest) && !*rest && !--depth) {
			free(line);
			return true;
		}
		if (depth == 1 && other && is_script_word(line, "else", &rest) && !*rest) {
			to = other;
		} else {
			depth += opens_block(line);
			text_puts(to, line);
			text_puts(to, "\n");
		}
		free(line);
	}
	if (s->name)
		front_error(f, "%s:%u: there is no 'end' of '%s'", s->name, first, what);
	else
		front_error(f, "there is no 'end' of '%s'", what);
	return false;
}

static enum front_result run_text(struct front *f, const struct text *t)
{
	struct script s;

	script_of_text(&s, t->at ? t->at : "", t->len);
	return script_run(f, &s);
}

/* ---- if, while ---- */

static enum front_result run_if(struct front *f, struct script *s, const char *expression)
{
	struct text body = {0}, other = {0};
	enum front_result r = FRONT_ERROR;
	bool truth;

	if (read_block(f, s, "if", &body, &other)) {
		r = front_evaluate(f, expression, &truth);
		if (r == FRONT_OK)
			r = run_text(f, truth ? &body : &other);
	}
	text_fini(&body);
	text_fini(&other);
	return r;
}

static enum front_result run_while(struct front *f, struct script *s, const char *expression)
{
	enum front_result r = FRONT_ERROR, once;
	struct text body = {0};
	bool truth = true;

	if (read_block(f, s, "while", &body, NULL)) {
		r = FRONT_OK;
		f->loops++;
		while (truth && r != FRONT_QUIT && !f->interrupted) {
			once = front_evaluate(f, expression, &truth);
			if (once != FRONT_OK) {
				r = once;
				break;
			}
			if (truth && (once = run_text(f, &body)) != FRONT_OK)
				r = once;
		}
		f->loops--;
	}
	text_fini(&body);
	return r;
}

/* ---- define, document ---- */

void script_macros_fini(struct script_macros *m)
{
	for (size_t i = 0; i < m->list.len; i++) {
		free(m->list.at[i].name);
		free(m->list.at[i].body);
		free(m->list.at[i].help);
	}
	VEC_FREE(&m->list);
}

static struct script_macro *script_macro(struct script_macros *m, const char *name, size_t n)
{
	for (size_t i = 0; i < m->list.len; i++)
		if (!strncmp(m->list.at[i].name, name, n) && !m->list.at[i].name[n])
			return &m->list.at[i];
	return NULL;
}

static size_t macro_name_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '-')
		n++;
	return n;
}

/* What the name's row is to hold next: its body or its help. */
static enum front_result define_macro(struct front *f, struct script *s, const char *name,
				      bool help)
{
	size_t n = macro_name_length(name);
	struct text body = {0};
	struct script_macro *m, empty = {0};
	char **to;

	if (!n || *skip_space(name + n))
		return front_error(f, "%s takes the name of a command",
				   help ? "document" : "define");
	if (!read_block(f, s, help ? "document" : "define", &body, NULL))
		return FRONT_ERROR;
	m = script_macro(&f->macros, name, n);
	if (!m && help) {
		text_fini(&body);
		return front_error(f, "there is no command '%.*s' to document", (int)n, name);
	}
	if (!m && (empty.name = strndup(name, n)) && VEC_PUSH(&f->macros.list, empty))
		m = &f->macros.list.at[f->macros.list.len - 1];
	if (!m) {
		free(empty.name);
		text_fini(&body);
		return front_error(f, "no memory left");
	}
	to = help ? &m->help : &m->body;
	free(*to);
	*to = body.at ? body.at : strdup("");
	return FRONT_OK;
}

/* The words of a command line, by quotes; text between them is kept as it is. */
static u32 split_args(const char *s, const char *at[SCRIPT_ARGS_MAX], size_t len[SCRIPT_ARGS_MAX])
{
	u32 n = 0;

	for (s = skip_space(s); *s && n < SCRIPT_ARGS_MAX; s = skip_space(s)) {
		char quote = 0;

		at[n] = s;
		for (; *s && (quote || !isspace((unsigned char)*s)); s++)
			if (quote ? *s == quote : *s == '"' || *s == '\'')
				quote = quote ? 0 : *s;
		len[n] = (size_t)(s - at[n]);
		n++;
	}
	return n;
}

/* A body with $arg0 .. $arg9 and $argc replaced. */
static void put_with_args(struct text *t, const char *body, const char *args)
{
	const char *at[SCRIPT_ARGS_MAX];
	size_t len[SCRIPT_ARGS_MAX];
	u32 n = split_args(args, at, len);

	while (*body) {
		const char *dollar = strstr(body, "$arg");

		if (!dollar) {
			text_puts(t, body);
			return;
		}
		text_add(t, body, (size_t)(dollar - body));
		body = dollar + 5;
		if (dollar[4] == 'c')
			text_printf(t, "%u", n);
		else if (dollar[4] >= '0' && dollar[4] < '0' + (char)n)
			text_add(t, at[dollar[4] - '0'], len[dollar[4] - '0']);
		else {
			text_puts(t, "$arg");
			body = dollar + 4;
		}
	}
}

static enum front_result run_macro(struct front *f, const struct script_macro *m, const char *args)
{
	struct text body = {0};
	enum front_result r;

	if (m->body)
		put_with_args(&body, m->body, args);
	r = run_text(f, &body);
	text_fini(&body);
	return r;
}

/* ---- lines ---- */

/* The lines of a block that nothing is to be done with, up to its `end`. */
static void skip_block(struct script *s)
{
	const char *rest;
	u32 depth = 1;
	char *line;

	while (depth && (line = s->next(s, ">"))) {
		depth += opens_block(line);
		depth -= is_script_word(line, "end", &rest) && !*rest;
		free(line);
	}
}

/*
 * The interpreter says when it has all lines of `commands`. If it wants none, as there is no such
 * breakpoint, those of a file are not commands of their own; at the terminal none have been typed.
 */
static enum front_result run_script_command(struct front *f, struct script *s, const char *line)
{
	enum front_result r = front_command(f, line);
	const char *rest;
	char *more;

	if (r == FRONT_ERROR && !s->repeats && is_script_word(line, "commands", &rest))
		skip_block(s);
	while (r == FRONT_MORE) {
		more = s->next(s, ">");
		r = front_command(f, more ? more : "end");
		free(more);
	}
	return r;
}

/* `help NAME` of a command that the user has defined. */
static bool help_macro(struct front *f, const char *args)
{
	const struct script_macro *m = script_macro(&f->macros, args, macro_name_length(args));

	if (!m || !*args || *skip_space(args + macro_name_length(args)))
		return false;
	front_printf(f, "%s", m->help ? m->help : "A command that was defined by `define`.\n");
	return true;
}

static enum front_result run_line(struct front *f, struct script *s, const char *line)
{
	const struct script_macro *m;
	const char *rest;

	line = skip_space(line);
	if (*line == '#' || (!*line && !s->repeats))
		return FRONT_OK;
	if (is_script_word(line, "if", &rest))
		return run_if(f, s, rest);
	if (is_script_word(line, "while", &rest))
		return run_while(f, s, rest);
	if (is_script_word(line, "define", &rest))
		return define_macro(f, s, rest, false);
	if (is_script_word(line, "document", &rest))
		return define_macro(f, s, rest, true);
	if (is_script_word(line, "help", &rest) && help_macro(f, rest))
		return FRONT_OK;
	m = script_macro(&f->macros, line, macro_name_length(line));
	return m ? run_macro(f, m, line + macro_name_length(line)) : run_script_command(f, s, line);
}

enum front_result script_run(struct front *f, struct script *s)
{
	enum front_result r = FRONT_OK, once;
	char *line;

	if (f->depth >= SCRIPT_DEPTH_MAX)
		return front_error(f, "scripts are nested more than %u deep", SCRIPT_DEPTH_MAX);
	f->depth++;
	while (r != FRONT_QUIT && !f->interrupted && (line = s->next(s, NULL))) {
		once = run_line(f, s, line);
		free(line);
		if (once != FRONT_OK)
			r = once;
	}
	f->depth--;
	return r;
}

/* NULL, or why the file is no script. */
static const char *not_a_script(const char *path, const struct file *file)
{
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return "is a folder";
	if (file->size && memchr(file->data, 0, file->size))
		return "is not text: there is a NUL byte in it";
	return NULL;
}

enum front_result script_source(struct front *f, const char *path)
{
	struct file file = {0};
	enum front_result r;
	struct script s;
	const char *why;
	struct stat st;
	size_t mark;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return front_error(f, "%s: is a folder", path);
	if (!file_open(&file, path))
		return front_error(f, "%s: %s", path, strerror(errno));
	why = not_a_script(path, &file);
	if (why) {
		file_close(&file);
		return front_error(f, "%s: %s", path, why);
	}
	/* Some editors begin text in UTF-8 with a mark. */
	mark = file.size >= 3 && !memcmp(file.data, "\xef\xbb\xbf", 3) ? 3 : 0;
	script_of_text(&s, (const char *)file.data + mark, file.size - mark);
	s.name = path;
	r = script_run(f, &s);
	file_close(&file);
	return r;
}
