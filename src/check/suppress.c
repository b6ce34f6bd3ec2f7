/*
 * Reading and matching suppressions.
 */
#include "src/check/suppress.h"
#include "src/base/file.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_known_kind(const char *word)
{
	for (u32 k = 0; k < FINDING_KINDS; k++)
		if (!strcmp(word, finding_word((enum finding_kind)k)) ||
		    !strcmp(word, finding_check_word((enum finding_kind)k)))
			return true;
	return !strcmp(word, "*");
}

/* A line without comment and blanks at its ends; NULL: nothing is left. */
static char *trim_line(char *line)
{
	char *end;

	line[strcspn(line, "#\n")] = '\0';
	line += strspn(line, " \t\r");
	end = line + strlen(line);
	while (end > line && strchr(" \t\r", end[-1]))
		*--end = '\0';
	return *line ? line : NULL;
}

/* NULL, or what is wrong with the line. */
static const char *add_line(struct suppressions *s, const char *line)
{
	struct suppression x = {strdup(line), NULL};

	x.pattern = x.kind ? strchr(x.kind, ':') : NULL;
	if (!x.pattern || !x.pattern[1]) {
		free(x.kind);
		return "is not of the form KIND:PATTERN";
	}
	*x.pattern++ = '\0';
	if (!is_known_kind(x.kind)) {
		free(x.kind);
		return "begins with a word that is no check and no kind of finding";
	}
	if (VEC_PUSH(&s->list, x))
		return NULL;
	free(x.kind);
	return "does not fit into memory";
}

/* Does a document of XML begin there? The file is read on from its beginning. */
static bool is_xml(FILE *f)
{
	int c;

	do
		c = getc(f);
	while (c == ' ' || c == '\t' || c == '\n' || c == '\r');
	rewind(f);
	return c == '<';
}

static bool read_records(struct suppressions *s, const char *path, struct text *why)
{
	struct text wrong = {0};
	struct file f;
	char *text;
	bool ok;

	if (!file_open(&f, path)) {
		text_printf(why, "%s: %s", path, strerror(errno));
		return false;
	}
	text = strndup((const char *)f.data, f.size);
	file_close(&f);
	ok = text && suppression_records_read(s, text, &wrong);
	if (!ok)
		text_printf(why, "%s:%s", path, wrong.at ? wrong.at : " no memory left");
	text_fini(&wrong);
	free(text);
	return ok;
}

bool suppressions_read(struct suppressions *s, const char *path, struct text *why)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	u32 number = 0;
	bool ok = true;

	if (!f) {
		text_printf(why, "%s: %s", path, strerror(errno));
		return false;
	}
	if (is_xml(f)) {
		fclose(f);
		return read_records(s, path, why);
	}
	while (ok && getline(&line, &room, f) >= 0) {
		const char *wrong = NULL, *at = trim_line(line);

		number++;
		if (at)
			wrong = add_line(s, at);
		if (wrong)
			text_printf(why, "%s:%u: '%s' %s", path, number, at, wrong);
		ok = !wrong;
	}
	if (ok && ferror(f)) {
		text_printf(why, "%s: %s", path, strerror(errno));
		ok = false;
	}
	free(line);
	fclose(f);
	return ok;
}

void suppressions_fini(struct suppressions *s)
{
	for (size_t i = 0; i < s->list.len; i++)
		free(s->list.at[i].kind);
	VEC_FREE(&s->list);
	suppression_records_fini(s);
}

/* A whole name, or the end of a path behind a slash. */
static bool names_path(const char *pattern, const char *name)
{
	const char *slash;

	if (!name)
		return false;
	if (!fnmatch(pattern, name, 0))
		return true;
	for (slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/'))
		if (!fnmatch(pattern, slash + 1, 0))
			return true;
	return false;
}

/* The name without its parameters, too: "scale" for "scale(float*, int)". */
static bool names_function(const char *pattern, const char *function)
{
	struct text bare = {0};
	bool yes = names_path(pattern, function);

	if (yes || !function)
		return yes;
	text_add(&bare, function, strcspn(function, "("));
	yes = bare.at && !fnmatch(pattern, bare.at, 0);
	text_fini(&bare);
	return yes;
}

static bool names_place(const char *pattern, const struct finding_place *at)
{
	struct text line = {0};
	bool yes = names_function(pattern, at->function) || names_path(pattern, at->file);

	if (yes || !at->file)
		return yes;
	text_printf(&line, "%s:%u", at->file, at->line);
	yes = names_path(pattern, line.at);
	text_fini(&line);
	return yes;
}

static bool is_of_kind(const char *word, const struct finding *f)
{
	return !strcmp(word, "*") || !strcmp(word, finding_word(f->kind)) ||
	       !strcmp(word, finding_check_word(f->kind));
}

static bool matches(const struct suppression *x, const struct finding *f)
{
	if (!is_of_kind(x->kind, f))
		return false;
	for (u32 i = 0; i < f->sides; i++)
		if (names_place(x->pattern, &f->side[i].place))
			return true;
	return names_function(x->pattern, f->kernel) || !strcmp(x->pattern, "*");
}

bool suppressions_match(const struct suppressions *s, const struct finding *f)
{
	for (size_t i = 0; i < s->list.len; i++)
		if (matches(&s->list.at[i], f))
			return true;
	return suppression_records_match(s, f);
}
