/*
 * User profiles: lines of `key = value  # source`, errors with file, line and column.
 */
#include "src/arch/arch_int.h"

#include "src/base/arena.h"
#include "src/base/diag.h"
#include "src/base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* What arch_parse() allocates; the profile comes first so that arch_free() gets back to it. */
struct user_arch {
	struct arch a;
	struct arena arena;
};

struct parser {
	const struct diag_source *src;
	struct diag *diag;
	struct user_arch *out;
	u32 line;
	bool started; /* a line other than a comment was seen */
	bool ok;
	bool seen[ARCH_FIELD_COUNT];
};

/* A part of the source text. */
struct slice {
	const char *at;
	size_t len;
};

static void profile_fail(struct parser *p, struct slice where, const char *hint, const char *fmt,
			 ...) PL_PRINTF(4, 5);

static void profile_fail(struct parser *p, struct slice where, const char *hint, const char *fmt,
			 ...)
{
	u32 begin = (u32)(where.at - p->src->text);
	struct text t = {0};
	va_list args;

	va_start(args, fmt);
	text_vprintf(&t, fmt, args);
	va_end(args);
	diag_at(p->diag, DIAG_ERROR, p->src, (struct diag_span){begin, begin + (u32)where.len},
		hint, "%s", t.at ? t.at : "out of memory");
	text_fini(&t);
	p->ok = false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct slice trim(struct slice s)
{
	while (s.len && is_blank(*s.at)) {
		s.at++;
		s.len--;
	}
	while (s.len && is_blank(s.at[s.len - 1]))
		s.len--;
	return s;
}

static bool equals(struct slice s, const char *word)
{
	return s.len == strlen(word) && !memcmp(s.at, word, s.len);
}

/* The next word of a list; words are separated by blanks or commas. Empty at the end. */
static struct slice next_word(struct slice *rest)
{
	struct slice w;

	while (rest->len && (is_blank(*rest->at) || *rest->at == ',')) {
		rest->at++;
		rest->len--;
	}
	w = *rest;
	for (w.len = 0; w.len < rest->len && !is_blank(w.at[w.len]) && w.at[w.len] != ','; w.len++)
		continue;
	rest->at += w.len;
	rest->len -= w.len;
	return w;
}

/* A whole number, decimal or 0x. Returns false unless all of s is one that fits. */
static bool profile_number(struct slice s, s64 *out)
{
	char buf[32], *end;

	if (!s.len || s.len >= sizeof(buf) || is_blank(*s.at))
		return false;
	memcpy(buf, s.at, s.len);
	buf[s.len] = 0;
	errno = 0;
	*out = strtoll(buf, &end, strncmp(buf, "0x", 2) ? 10 : 16);
	return end == buf + s.len && !errno;
}

/* ---- One value ---- */

static bool parse_number(struct parser *p, struct slice v, enum arch_field f, void *member)
{
	const struct arch_field_info *info = arch_field_info(f);
	s64 x;

	if (!profile_number(v, &x)) {
		profile_fail(p, v, NULL, "%s needs a whole number", info->name);
		return false;
	}
	if (x < info->min || x > info->max) {
		profile_fail(p, v, NULL, "%s is %" PRId64 ", outside %" PRId64 "..%" PRId64,
			     info->name, x, info->min, info->max);
		return false;
	}
	if (info->type == ARCH_INT)
		*(s32 *)member = (s32)x;
	else
		*(u64 *)member = (u64)x;
	return true;
}

static bool parse_bool(struct parser *p, struct slice v, enum arch_field f, bool *member)
{
	*member = equals(v, "true") || equals(v, "1");
	if (*member || equals(v, "false") || equals(v, "0"))
		return true;
	profile_fail(p, v, NULL, "%s needs true or false", arch_field_info(f)->name);
	return false;
}

static bool parse_text(struct parser *p, struct slice v, enum arch_field f, const char **member)
{
	const struct arch_field_info *info = arch_field_info(f);

	if (v.len >= 2 && *v.at == '"' && v.at[v.len - 1] == '"')
		v = (struct slice){v.at + 1, v.len - 2};
	if ((s64)v.len < info->min || (s64)v.len > info->max) {
		profile_fail(p, v, NULL, "%s needs %" PRId64 " to %" PRId64 " characters",
			     info->name, info->min, info->max);
		return false;
	}
	*member = arena_strdup(&p->out->arena, v.at, v.len);
	return *member;
}

static bool parse_list(struct parser *p, struct slice v, enum arch_field f,
		       struct arch_list *member)
{
	const struct arch_field_info *info = arch_field_info(f);
	struct arch_list list = {0};
	struct slice w;
	s64 x;

	while ((w = next_word(&v)).len) {
		if (list.len == ARCH_LIST_MAX) {
			profile_fail(p, w, NULL, "%s has more than %u numbers", info->name,
				     ARCH_LIST_MAX);
			return false;
		}
		if (!profile_number(w, &x) || x < info->min || x > info->max) {
			profile_fail(p, w, NULL, "%s needs whole numbers in %" PRId64 "..%" PRId64,
				     info->name, info->min, info->max);
			return false;
		}
		list.at[list.len++] = (s32)x;
	}
	*member = list;
	return true;
}

/* "m16n8k8". */
static bool shape(struct slice w, struct arch_shape *s)
{
	unsigned m, n, k;
	char buf[24];
	int used = 0;

	if (w.len >= sizeof(buf))
		return false;
	memcpy(buf, w.at, w.len);
	buf[w.len] = 0;
	if (sscanf(buf, "m%4un%4uk%4u%n", &m, &n, &k, &used) != 3 || (size_t)used != w.len)
		return false;
	*s = (struct arch_shape){(u16)m, (u16)n, (u16)k};
	return true;
}

static bool parse_shapes(struct parser *p, struct slice v, enum arch_field f,
			 struct arch_shapes *member)
{
	struct arch_shapes shapes = {0};
	struct slice w;

	while ((w = next_word(&v)).len) {
		if (shapes.len == ARCH_SHAPES_MAX) {
			profile_fail(p, w, NULL, "%s has more than %u sizes",
				     arch_field_info(f)->name, ARCH_SHAPES_MAX);
			return false;
		}
		if (!shape(w, &shapes.at[shapes.len++])) {
			profile_fail(p, w, NULL, "%s needs sizes such as m16n8k8",
				     arch_field_info(f)->name);
			return false;
		}
	}
	*member = shapes;
	return true;
}

static bool parse_value(struct parser *p, struct slice v, enum arch_field f)
{
	void *member = (char *)&p->out->a + arch_field_info(f)->offset;

	switch (arch_field_info(f)->type) {
	case ARCH_INT:
	case ARCH_SIZE:
		return parse_number(p, v, f, member);
	case ARCH_BOOL:
		return parse_bool(p, v, f, member);
	case ARCH_TEXT:
		return parse_text(p, v, f, member);
	case ARCH_LIST:
		return parse_list(p, v, f, member);
	case ARCH_SHAPES:
		return parse_shapes(p, v, f, member);
	}
	return false;
}

/* ---- Lines ---- */

/* Zero the member, so that an unknown field reads as documented in struct arch. */
static void forget_field(struct arch *a, enum arch_field f)
{
	static const size_t sizes[] = {
		[ARCH_INT] = sizeof(s32),
		[ARCH_SIZE] = sizeof(u64),
		[ARCH_BOOL] = sizeof(bool),
		[ARCH_TEXT] = sizeof(char *),
		[ARCH_LIST] = sizeof(struct arch_list),
		[ARCH_SHAPES] = sizeof(struct arch_shapes),
	};

	memset((char *)a + arch_field_info(f)->offset, 0, sizes[arch_field_info(f)->type]);
	a->source[f] = NULL;
}

static void inherit(struct parser *p, struct slice key, struct slice value)
{
	const char *id = p->out->a.id;
	const struct arch *parent;
	char name[64];

	if (p->started) {
		profile_fail(p, key, NULL, "inherit must come first, and once");
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)min_u64(value.len, sizeof(name) - 1), value.at);
	parent = strcmp(name, "base") ? arch_find(name) : &arch_base;
	if (!parent || value.len >= sizeof(name)) {
		profile_fail(
			p, value,
			"`ptxloom devices` lists the profiles; base has what all of them share",
			"no profile '%.*s'", (int)value.len, value.at);
		return;
	}
	p->out->a = *parent;
	p->out->a.id = id;
	p->out->a.parent = parent->id;
	forget_field(&p->out->a, ARCH_FIELD_aliases);
}

static void assign_field(struct parser *p, struct slice key, struct slice value,
			 struct slice comment)
{
	enum arch_field f = arch_field_find(key.at, key.len);
	struct text where = {0};

	if (f == ARCH_FIELD_COUNT) {
		profile_fail(p, key, "`ptxloom devices a100` lists all keys", "unknown key '%.*s'",
			     (int)key.len, key.at);
		return;
	}
	if (p->seen[f]) {
		profile_fail(p, key, NULL, "%s is set twice", arch_field_info(f)->name);
		return;
	}
	p->seen[f] = true;
	forget_field(&p->out->a, f);
	if (equals(value, "unknown") || !parse_value(p, value, f))
		return;
	if (comment.len)
		text_add(&where, comment.at, comment.len);
	else
		text_printf(&where, "%s:%u", p->src->name, p->line);
	p->out->a.source[f] = where.at ? arena_strdup(&p->out->arena, where.at, where.len) : NULL;
	p->ok &= p->out->a.source[f] != NULL;
	text_fini(&where);
}

/* Length of the line before its comment; a # inside quotes is no comment. */
static size_t before_comment(struct slice line)
{
	bool quoted = false;
	size_t i;

	for (i = 0; i < line.len && (quoted || line.at[i] != '#'); i++)
		quoted ^= line.at[i] == '"';
	return i;
}

static void parse_line(struct parser *p, struct slice line)
{
	struct slice body = {line.at, before_comment(line)},
		     comment = {line.at + body.len, line.len - body.len};
	struct slice key, value;
	const char *equal;

	body = trim(body);
	if (!body.len)
		return;
	equal = memchr(body.at, '=', body.len);
	if (!equal) {
		profile_fail(p, body, NULL, "expected key = value");
		return;
	}
	key = trim((struct slice){body.at, (size_t)(equal - body.at)});
	value = trim((struct slice){equal + 1, body.len - (size_t)(equal - body.at) - 1});
	if (comment.len)
		comment = trim((struct slice){comment.at + 1, comment.len - 1});
	if (equals(key, "inherit"))
		inherit(p, key, value);
	else
		assign_field(p, key, value, comment);
	p->started = true;
}

/* File name without folders and ".profile". */
static const char *id_of(struct arena *arena, const char *path)
{
	static const char suffix[] = ".profile";
	const char *base = file_base_name(path);
	size_t n = strlen(base);

	if (n > sizeof(suffix) - 1 && !strcmp(base + n - (sizeof(suffix) - 1), suffix))
		n -= sizeof(suffix) - 1;
	return arena_strdup(arena, base, n);
}

struct arch *arch_parse(const struct diag_source *src, struct diag *d)
{
	struct user_arch *out = calloc(1, sizeof(*out));
	struct parser p = {.src = src, .diag = d, .out = out, .ok = true};
	const char *at = src->text, *end = at + src->size;

	if (!out || !(out->a.id = id_of(&out->arena, src->name))) {
		diag_at(d, DIAG_ERROR, src, DIAG_NOWHERE, NULL, "out of memory");
		arch_free(out ? &out->a : NULL);
		return NULL;
	}
	while (at < end) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		const char *stop = nl ? nl : end;

		p.line++;
		parse_line(&p, (struct slice){at, (size_t)(stop - at)});
		at = nl ? nl + 1 : end;
	}
	if (p.ok && arch_check(&out->a, src, d))
		return &out->a;
	arch_free(&out->a);
	return NULL;
}

struct arch *arch_load(const char *path, struct diag *d)
{
	struct diag_source src = {.name = path};
	struct arch *a = NULL;
	struct file f;

	if (!file_open(&f, path)) {
		diag_at(d, DIAG_ERROR, &src, DIAG_NOWHERE, NULL, "cannot read the profile: %s",
			strerror(errno));
		return NULL;
	}
	src.text = (const char *)f.data;
	src.size = f.size;
	if (f.size > 1 << 20)
		diag_at(d, DIAG_ERROR, &src, DIAG_NOWHERE, NULL,
			"larger than 1 MiB: not a profile");
	else
		a = arch_parse(&src, d);
	file_close(&f);
	d->seen_source = NULL; /* src ends here */
	return a;
}

void arch_free(struct arch *a)
{
	struct user_arch *u = (struct user_arch *)a;

	if (!u)
		return;
	arena_fini(&u->arena);
	free(u);
}

bool arch_name_is_path(const char *name, size_t n)
{
	static const char suffix[] = ".profile";
	size_t len = sizeof(suffix) - 1;

	return memchr(name, '/', n) || (n > len && !memcmp(name + n - len, suffix, len));
}
