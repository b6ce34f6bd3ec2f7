/*
 * From instructions to lines.
 */
#include "src/profile/page/lines.h"

#include "src/base/file.h"

#include <stdlib.h>

struct source_counts *lines_of_insns(const struct profile_launch *l)
{
	struct source_counts *c = calloc(l->program->insns.len + 1, sizeof(*c));

	for (size_t i = 0; c && i < l->rows.len; i++)
		for (u32 k = 0; k < PROFILE_COLUMNS; k++)
			c[l->rows.at[i].insn].at[k] += l->rows.at[i].at[k];
	return c;
}

static bool same_file(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* The line's place among those of its file, which it gets if it has none; NULL without memory. */
static struct counted_line *lines_line_of(struct counted_lines *to, const char *file, u32 line)
{
	struct counted_line x = {.file = file, .line = file ? line : 0};
	size_t i = 0;

	while (i < to->at.len && !same_file(to->at.at[i].file, file))
		i++;
	while (i < to->at.len && same_file(to->at.at[i].file, file) && to->at.at[i].line < x.line)
		i++;
	if (i < to->at.len && same_file(to->at.at[i].file, file) && to->at.at[i].line == x.line)
		return &to->at.at[i];
	if (!VEC_PUSH(&to->at, x))
		return NULL;
	memmove(to->at.at + i + 1, to->at.at + i, (to->at.len - 1 - i) * sizeof(x));
	to->at.at[i] = x;
	return &to->at.at[i];
}

void lines_add(struct counted_lines *to, const struct profile_launch *l)
{
	struct source_counts *c = lines_of_insns(l);

	for (u32 i = 0; c && i < l->program->insns.len; i++) {
		const struct profile_insn *in = &l->program->insns.at[i];
		struct counted_line *x = lines_line_of(to, in->file, in->line);

		if (!x)
			break;
		for (u32 k = 0; k < PROFILE_COLUMNS; k++)
			x->counts.at[k] += c[i].at[k];
		(void)VEC_PUSH(&x->insns, i);
	}
	free(c);
}

void lines_fini(struct counted_lines *l)
{
	for (size_t i = 0; i < l->at.len; i++)
		VEC_FREE(&l->at.at[i].insns);
	VEC_FREE(&l->at);
}

/* ---- texts ---- */

static bool open_source(struct file *f, const char *name, const char *folder)
{
	const char *slash = strrchr(name, '/');
	struct text at = {0};
	bool ok = file_open(f, name);

	if (ok || !folder)
		return ok;
	text_printf(&at, "%s/%s", folder, slash ? slash + 1 : name);
	ok = at.at && file_open(f, at.at);
	text_fini(&at);
	return ok;
}

bool source_text_read(struct source_text *s, const char *name, const char *folder)
{
	struct text copy = {0};
	struct file f;

	*s = (struct source_text){.name = name};
	if (!open_source(&f, name, folder))
		return false;
	text_add(&copy, (const char *)f.data, f.size);
	file_close(&f);
	s->text = copy.at;
	for (u32 i = 0, first = 0; s->text && i <= copy.len; i++)
		if (i == copy.len || s->text[i] == '\n') {
			(void)VEC_PUSH(&s->begins, first);
			first = i + 1;
		}
	return s->text != NULL;
}

void source_text_fini(struct source_text *s)
{
	free(s->text);
	VEC_FREE(&s->begins);
	*s = (struct source_text){0};
}

const char *source_text_line(const struct source_text *s, u32 line, u32 *len)
{
	const char *at;

	*len = 0;
	if (!s->text || !line || line > s->begins.len)
		return "";
	at = s->text + s->begins.at[line - 1];
	*len = (u32)strcspn(at, "\r\n");
	return at;
}
