/*
 * Copies of inlined functions where the compiler tells lines and nothing else, as clang -lineinfo
 * does: code of the lines that the function has in the source is a copy of it, wherever it is.
 */
#include "src/debugger/look.h"

#include "src/ir/source.h"

#include <ctype.h>

/* Do instructions say which calls they were inlined at? */
static bool tells_inlined(const struct ir_module *m)
{
	for (size_t i = 0; i < m->locs.len; i++)
		if (m->locs.at[i].inlined_at != IR_NONE)
			return true;
	return false;
}

/* ---- definitions in a text ---- */

struct scan {
	const char *at, *end;
	u32 line;
};

static bool scan_char(struct scan *s, char *c)
{
	if (s->at == s->end)
		return false;
	*c = *s->at++;
	s->line += *c == '\n';
	return true;
}

/* Behind a comment, a quoted text, or a line of the preprocessor; false: there is no such thing. */
static bool scan_over(struct scan *s)
{
	size_t left = (size_t)(s->end - s->at);
	char first = left ? *s->at : 0, second = left > 1 ? s->at[1] : 0, c, last = 0;

	if (first == '"' || first == '\'') {
		scan_char(s, &c);
		while (scan_char(s, &c) && c != first && c != '\n')
			if (c == '\\')
				scan_char(s, &c);
		return true;
	}
	if (first == '#' || (first == '/' && second == '/')) {
		for (; scan_char(s, &c) && !(c == '\n' && last != '\\'); last = c)
			;
		return true;
	}
	if (first != '/' || second != '*')
		return false;
	s->at += 2;
	for (; scan_char(s, &c) && !(last == '*' && c == '/'); last = c)
		;
	return true;
}

/* The next character that means something; 0: the end. */
static char scan_meaning(struct scan *s)
{
	char c;

	while (s->at < s->end && (isspace((u8)*s->at) || scan_over(s)))
		if (s->at < s->end && isspace((u8)*s->at))
			scan_char(s, &c);
	return scan_char(s, &c) ? c : 0;
}

/* Behind the parenthesis or brace that closes the one that was read. */
static bool scan_close(struct scan *s, char open, char close)
{
	u32 depth = 1;
	char c;

	while (depth && (c = scan_meaning(s))) {
		depth += c == open;
		depth -= c == close;
	}
	return !depth;
}

/* After a name: are there parameters and a body? Then it is read to its end. */
static bool scan_definition(struct scan *s)
{
	char c;

	if (scan_meaning(s) != '(' || !scan_close(s, '(', ')'))
		return false;
	while ((c = scan_meaning(s)) && c != '{') {
		if (c == '(' && !scan_close(s, '(', ')'))
			return false;
		/* const, noexcept(..), -> type, : member(value), .. */
		if (strchr(";)}=+*/%|?[]\"", c))
			return false;
	}
	return c && scan_close(s, '{', '}');
}

static bool is_of_name(char c)
{
	return isalnum((u8)c) || c == '_';
}

/* The next definition of a function of this name, from its name to its end. */
static bool scan_function(struct scan *s, const char *name, size_t n, u32 *first, u32 *last)
{
	while (s->at < s->end) {
		size_t word = 0, left = (size_t)(s->end - s->at);
		struct scan body;
		char c;

		if (scan_over(s))
			continue;
		while (word < left && is_of_name(s->at[word]))
			word++;
		if (word == n && !memcmp(s->at, name, n)) {
			body = *s;
			body.at += n;
			*first = s->line;
			if (scan_definition(&body)) {
				*last = body.line;
				*s = body;
				return true;
			}
		}
		if (word)
			s->at += word;
		else
			scan_char(s, &c);
	}
	return false;
}

/* ---- code of its lines ---- */

/* Where code of the lines begins in functions of other names. */
static bool find_copies(struct debugger *x, struct loaded *m, const struct location *l,
			const char *path, const u32 lines[2], point_places *out)
{
	bool *seen = calloc(m->m->funcs.len + 1, sizeof(*seen)), good = seen != NULL;

	for (u32 line = lines[0]; line <= lines[1] && good; line++) {
		struct dbg_finds found;

		good = dbg_lines_find(m->lines, path, line, &found);
		/* Of each function the first line that has code. */
		for (size_t i = 0; i < found.len && good; i++) {
			const struct ir_func *f = found.at[i].place.func;

			if (found.at[i].line == line && !seen[f->index] &&
			    !dbg_names_is_function(m->names, f, l->function))
				good = point_add_place(x, out, found.at[i].place);
		}
		for (size_t i = 0; i < found.len && good; i++)
			seen[found.at[i].place.func->index] |= found.at[i].line == line;
		dbg_finds_free(&found);
	}
	free(seen);
	return good;
}

bool point_find_inlined(struct debugger *x, struct loaded *m, const struct location *l,
			point_places *out)
{
	const char *scope = dbg_last_scope(l->function), *name = scope ? scope + 2 : l->function;
	size_t n = strcspn(name, "<( ");
	bool good = true;

	if (!m->has_source || dbg_names_has_dwarf(m->names) || tells_inlined(m->m) || !n)
		return true;
	for (size_t i = 0; i < m->m->files.len && good; i++) {
		const char *path = m->m->files.at[i].path;
		struct source_view v;
		struct text unwanted = {0};
		u32 lines[2];

		if (path && !ir_is_toolkit_path(path) &&
		    (!l->file || dbg_path_ends_in(path, l->file)) &&
		    source_view_path(x, m, path, &v, &unwanted)) {
			struct scan s = {v.text, v.text + v.lines[v.len], 1};

			while (good && scan_function(&s, name, n, &lines[0], &lines[1]))
				good = find_copies(x, m, l, path, lines, out);
		}
		text_fini(&unwanted);
	}
	return good;
}
