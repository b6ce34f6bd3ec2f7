/*
 * Text of the source: files, where they are looked for, and the PTX of modules.
 */
#include "src/debugger/look.h"

#include "src/base/file.h"

struct source_file {
	char *path;  /* as the compiler wrote it */
	char *found; /* where it is; NULL: nowhere */
	struct file file;
	u32 *lines;
	u32 len;
};

static void source_free(struct source_file *s)
{
	if (s->found)
		file_close(&s->file);
	free(s->path);
	free(s->found);
	free(s->lines);
	free(s);
}

void sources_forget(struct look *k)
{
	for (size_t i = 0; i < k->sources.len; i++)
		source_free(k->sources.at[i]);
	VEC_FREE(&k->sources);
}

/* ---- finding ---- */

/* Try folder[0 .. n)/name; folder NULL: the name itself. */
static bool try_open(struct source_file *s, const char *folder, size_t n, const char *name)
{
	struct text path = {0};
	bool good;

	if (folder)
		text_printf(&path, "%.*s/", (int)n, folder);
	text_puts(&path, name);
	good = path.at && !path.failed && file_open(&s->file, path.at);
	if (good)
		s->found = path.at;
	else
		text_fini(&path);
	return good;
}

/* As written, then in the folders of `directory`, then beside the PTX. */
static bool find_file(const struct look *k, const struct loaded *l, struct source_file *s)
{
	const char *ptx = l ? l->ptx->name : "", *slash = strrchr(ptx, '/');

	if (try_open(s, NULL, 0, s->path))
		return true;
	for (size_t i = 0; i < k->directories.len; i++) {
		const char *folder = k->directories.at[i];

		if ((*s->path != '/' && try_open(s, folder, strlen(folder), s->path)) ||
		    try_open(s, folder, strlen(folder), file_base_name(s->path)))
			return true;
	}
	if (*s->path == '/')
		return false;
	return slash && (try_open(s, ptx, (size_t)(slash - ptx), s->path) ||
			 try_open(s, ptx, (size_t)(slash - ptx), file_base_name(s->path)));
}

static bool find_lines(struct source_file *s)
{
	VEC(u32) lines = {0};
	bool good = VEC_PUSH(&lines, 0);

	for (size_t i = 0; i < s->file.size && good && i < UINT32_MAX; i++)
		if (s->file.data[i] == '\n')
			good = VEC_PUSH(&lines, (u32)i + 1);
	if (good && lines.at[lines.len - 1] < s->file.size)
		good = VEC_PUSH(&lines, (u32)s->file.size);
	s->lines = lines.at;
	s->len = good ? (u32)lines.len : 0;
	return good;
}

static struct source_file *source_open(struct look *k, const struct loaded *l, const char *path)
{
	struct source_file *s;

	for (size_t i = 0; i < k->sources.len; i++)
		if (!strcmp(k->sources.at[i]->path, path))
			return k->sources.at[i];
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->path = strdup(path);
	if (!s->path || (find_file(k, l, s) && !find_lines(s)) || !VEC_PUSH(&k->sources, s)) {
		source_free(s);
		return NULL;
	}
	return s;
}

/* ---- views ---- */

bool source_view_path(struct debugger *x, const struct loaded *l, const char *path,
		      struct source_view *out, struct text *why)
{
	struct source_file *s = source_open(x->look, l, path);

	if (!s || !s->found) {
		text_printf(why, "%s: No such file or directory.", path);
		return false;
	}
	*out = (struct source_view){file_base_name(s->path), (const char *)s->file.data, s->lines,
				    s->len ? s->len - 1 : 0};
	return true;
}

bool source_view_ptx(const struct loaded *l, struct source_view *out)
{
	*out = (struct source_view){file_base_name(l->ptx->name), l->ptx->text, l->ptx_lines,
				    l->ptx_len ? l->ptx_len - 1 : 0};
	return l->ptx->text && out->len;
}

bool source_view(struct debugger *x, const struct where *w, struct source_view *out,
		 struct text *why)
{
	if (w->source.path)
		return source_view_path(x, w->module, w->source.path, out, why);
	if (w->module && source_view_ptx(w->module, out))
		return true;
	text_puts(why, "Neither source nor PTX is known here.");
	return false;
}

/* ---- printing ---- */

void source_say_lines(struct debugger *x, const struct source_view *v, u32 first, u32 last,
		      u32 marked)
{
	for (u32 line = first; line <= last && line <= v->len; line++) {
		const char *at = v->text + v->lines[line - 1];
		u32 n = v->lines[line] - v->lines[line - 1];

		while (n && (at[n - 1] == '\n' || at[n - 1] == '\r'))
			n--;
		say(x, "%s%u\t%.*s\n", line == marked ? "=> " : "", line, (int)n, at);
	}
}

void source_say_line(struct debugger *x, const struct where *w)
{
	u32 line = w->source.path ? w->source.line : w->ptx_line;
	struct source_view v;
	struct text why = {0};

	if (source_view(x, w, &v, &why) && line && line <= v.len)
		source_say_lines(x, &v, line, line, 0);
	else if (w->source.path)
		say(x, "%u\tin %s\n", line, w->source.path);
	else if (w->module)
		say(x, "%u\tin %s\n", line, w->module->ptx->name);
	text_fini(&why);
}
