/*
 * Files of the source: which ones count, under which paths, their text, and the marks in it that
 * leave lines out.
 */
#include "src/cover/model_int.h"

#include "src/base/file.h"
#include "src/ir/source.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the root ---- */

static char *work_tree(const char *from)
{
	char *at = strdup(from), *slash;
	struct text git = {0};
	struct stat s;

	while (at && *at) {
		git.len = 0;
		text_printf(&git, "%s/.git", at);
		if (git.failed || !stat(git.at, &s))
			break;
		slash = strrchr(at, '/');
		*(slash ? slash : at) = 0;
	}
	text_fini(&git);
	if (at && !*at) {
		free(at);
		at = strdup(from);
	}
	return at;
}

bool cover_find_root(struct cover_model *m, const struct cover_choice *c)
{
	char here[PATH_MAX], root[PATH_MAX];

	if (!getcwd(here, sizeof(here)))
		strcpy(here, "/");
	if (c->root && !realpath(c->root, root)) {
		fprintf(stderr, "ptxloom: error: --root %s: %s\n", c->root, strerror(errno));
		return false;
	}
	m->root = c->root ? strdup(root) : work_tree(here);
	m->at_root = m->root && !strcmp(m->root, here);
	return m->root != NULL;
}

/* ---- paths ---- */

/* Take "." and ".." out of an absolute path. */
static void clean_path(char *path)
{
	char *to = path, *from = path;

	while (*from) {
		size_t n;

		from += strspn(from, "/");
		n = strcspn(from, "/");
		if (n == 2 && !strncmp(from, "..", 2)) {
			while (to > path && *--to != '/')
				;
		} else if (n && !(n == 1 && *from == '.')) {
			*to++ = '/';
			memmove(to, from, n);
			to += n;
		}
		from += n;
	}
	*to = 0;
}

static void map_path(const struct cover_choice *c, const char *path, struct text *out)
{
	for (size_t i = 0; i < c->maps.len; i++) {
		const struct cover_map *x = &c->maps.at[i];

		if (strncmp(path, x->old, x->old_len) != 0)
			continue;
		text_printf(out, "%s%s", x->new, path + x->old_len);
		return;
	}
	text_puts(out, path);
}

/* Absolute, links followed where the file is there. NULL: no memory. */
static char *whole_path(const struct cover_model *m, const struct cover_choice *c, const char *path)
{
	char real[PATH_MAX], here[PATH_MAX];
	struct text mapped = {0}, whole = {0};

	map_path(c, path, &mapped);
	if (mapped.failed || !getcwd(here, sizeof(here)))
		strcpy(here, "/");
	if (mapped.at && *mapped.at == '/') {
		text_puts(&whole, mapped.at);
	} else if (mapped.at) {
		/* The compiler's folder is not known. */
		text_printf(&whole, "%s/%s", here, mapped.at);
		if (!whole.failed && access(whole.at, F_OK)) {
			whole.len = 0;
			text_printf(&whole, "%s/%s", m->root, mapped.at);
		}
	}
	text_fini(&mapped);
	if (!whole.failed && whole.at && realpath(whole.at, real)) {
		text_fini(&whole);
		return strdup(real);
	}
	if (whole.at)
		clean_path(whole.at);
	return whole.at;
}

/* The part below the root, NULL: it is elsewhere. */
static const char *below_root(const struct cover_model *m, const char *path)
{
	size_t n = strlen(m->root);

	if (!strcmp(m->root, "/"))
		return path + 1;
	return !strncmp(path, m->root, n) && path[n] == '/' ? path + n + 1 : NULL;
}

static void leave_out(struct cover_model *m, const char *path)
{
	char *copy;

	for (size_t i = 0; i < m->left_out.len; i++)
		if (!strcmp(m->left_out.at[i], path))
			return;
	copy = strdup(path);
	if (copy && !VEC_PUSH(&m->left_out, copy))
		free(copy);
}

static u32 add_file(struct cover_model *m, const char *path, const char *source)
{
	struct cover_file f = {0};

	for (u32 i = 0; i < m->files.len; i++)
		if (!strcmp(m->files.at[i].source, source))
			return i;
	f.path = strdup(path);
	f.source = strdup(source);
	if (f.path && f.source && VEC_PUSH(&m->files, f))
		return (u32)m->files.len - 1;
	free(f.path);
	free(f.source);
	return IR_NONE;
}

u32 cover_file_of(struct cover_model *m, const struct cover_choice *c, const char *path)
{
	char *whole = whole_path(m, c, path);
	const char *below = whole ? below_root(m, whole) : NULL;
	u32 file = IR_NONE;

	if (whole && (ir_is_toolkit_path(path) || ir_is_toolkit_path(whole)))
		below = NULL;
	else if (whole && !below)
		leave_out(m, whole);
	if (below)
		file = add_file(m, below, whole);
	free(whole);
	return file;
}

u32 cover_file_whole(struct cover_model *m, const char *path)
{
	char real[PATH_MAX];
	const char *below = realpath(path, real) ? below_root(m, real) : NULL;

	return add_file(m, below ? below : path, below ? real : path);
}

/* ---- sources ---- */

const char *cover_source_line(const struct cover_file *f, u32 line)
{
	return line && line <= f->lines_len ? f->at[line - 1] : NULL;
}

/* Cut the text into lines. */
static void split_lines(struct cover_file *f, size_t size)
{
	u32 n = 1;

	for (size_t i = 0; i < size; i++)
		n += f->text[i] == '\n';
	f->at = calloc(n + 1, sizeof(*f->at));
	if (!f->at)
		return;
	for (char *at = f->text, *end = f->text + size; at < end; f->lines_len++) {
		char *stop = memchr(at, '\n', (size_t)(end - at));

		f->at[f->lines_len] = at;
		stop = stop ? stop : end;
		*stop = 0;
		if (stop > at && stop[-1] == '\r')
			stop[-1] = 0;
		at = stop + 1;
	}
}

static void read_source(struct cover_file *f)
{
	struct file in;

	if (!file_open(&in, f->source))
		return;
	f->text = malloc(in.size + 1);
	if (f->text) {
		memcpy(f->text, in.data, in.size);
		f->text[in.size] = 0;
		split_lines(f, in.size);
	}
	file_close(&in);
}

/* ---- marks ---- */

/* Does the line have the mark, in one of its spellings? */
static bool has_mark(const char *line, const char *mark)
{
	static const char *const who[] = {"LCOV_EXCL_", "GCOVR_EXCL_", "GCOV_EXCL_"};
	size_t n = strlen(mark);

	for (u32 i = 0; i < ARRAY_LEN(who); i++)
		for (const char *at = line; (at = strstr(at, who[i])); at++) {
			const char *rest = at + strlen(who[i]);
			char after = strncmp(rest, mark, n) ? '_' : rest[n];

			if (after != '_' && !(after >= 'A' && after <= 'Z'))
				return true;
		}
	return false;
}

static void say_open(const struct cover_file *f, u32 line, const char *mark)
{
	fprintf(stderr,
		"ptxloom: note: %s:%u: nothing stops what EXCL_%s begins: the rest of the file is left out\n",
		f->path, line, mark);
}

static void read_marks(const struct cover_file *f, struct cover_marks *x)
{
	u32 lines = 0, branches = 0;

	for (u32 i = 1; i <= f->lines_len; i++) {
		const char *s = f->at[i - 1];
		bool any = strstr(s, "_EXCL_") != NULL;

		if (any && has_mark(s, "START"))
			lines = i;
		if (any && has_mark(s, "BR_START"))
			branches = i;
		x->line[i] = lines || (any && has_mark(s, "LINE"));
		x->branch[i] = x->line[i] || branches || (any && has_mark(s, "BR_LINE"));
		if (any && has_mark(s, "STOP"))
			lines = 0;
		if (any && has_mark(s, "BR_STOP"))
			branches = 0;
	}
	if (lines)
		say_open(f, lines, "START");
	if (branches)
		say_open(f, branches, "BR_START");
}

static bool is_marked(const struct cover_marks *x, const bool *marks, u32 line)
{
	return marks && line < x->len && marks[line];
}

static size_t drop_marked_lines(struct cover_line *at, size_t len, const struct cover_marks *marks)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		if (!is_marked(&marks[at[i].file], marks[at[i].file].line, at[i].line))
			at[n++] = at[i];
	return n;
}

static size_t drop_marked_sites(struct cover_site *at, size_t len, const struct cover_marks *marks)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		if (is_marked(&marks[at[i].file], marks[at[i].file].branch, at[i].line))
			free(at[i].taken);
		else
			at[n++] = at[i];
	return n;
}

static void drop_marked(struct cover_model *m, const struct cover_marks *marks)
{
	size_t n = 0;

	m->lines.len = drop_marked_lines(m->lines.at, m->lines.len, marks);
	m->sites.len = drop_marked_sites(m->sites.at, m->sites.len, marks);
	for (size_t i = 0; i < m->functions.len; i++) {
		struct cover_function *f = &m->functions.at[i];

		f->lines.len = drop_marked_lines(f->lines.at, f->lines.len, marks);
		if (!is_marked(&marks[f->file], marks[f->file].line, f->line)) {
			m->functions.at[n++] = *f;
			continue;
		}
		cover_function_free(f);
	}
	m->functions.len = n;
}

void cover_read_sources(struct cover_model *m)
{
	struct cover_marks *marks = calloc(m->files.len + 1, sizeof(*marks));

	for (size_t i = 0; marks && i < m->files.len; i++) {
		struct cover_file *f = &m->files.at[i];

		read_source(f);
		if (!f->at)
			continue;
		marks[i].len = f->lines_len + 1;
		marks[i].line = calloc(marks[i].len, sizeof(bool));
		marks[i].branch = calloc(marks[i].len, sizeof(bool));
		if (marks[i].line && marks[i].branch)
			read_marks(f, &marks[i]);
	}
	if (marks)
		drop_marked(m, marks);
	for (size_t i = 0; marks && i < m->files.len; i++) {
		free(marks[i].line);
		free(marks[i].branch);
	}
	free(marks);
}
