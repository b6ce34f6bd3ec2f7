/*
 * Messages about what was read: names that mean nothing, and where the grammar goes no further.
 * What may have been meant is found by spelling, among what is in scope.
 */
#include "grammar/build.h"

#include "src/base/nearest.h"

#include <stdarg.h>

/*
 * Explanations look at everything in scope: of a text that is wrong throughout, the first errors
 * have one.
 */
#define EXPLAINED_MAX 200u

bool build_explains(struct parse *p)
{
	return !diag_full(p->d) && p->explained < EXPLAINED_MAX && ++p->explained;
}

/* ---- names ---- */

static void offer_name(struct nearest *n, const struct str *name)
{
	if (name)
		nearest_offer(n, name->text, name->len);
}

/* Single names in scope; of a register family its members are met by their prefix. */
static void offer_bound(const struct parse *p, struct nearest *n)
{
	for (size_t i = p->bound.len; i-- > 0;)
		if (p->bound.at[i]->kind != BIND_FAMILY)
			offer_name(n, p->bound.at[i]->name);
	for (size_t i = 0; i < p->m->vars.len; i++)
		if (p->m->vars.at[i]->func == IR_NONE)
			offer_name(n, p->m->vars.at[i]->name);
	for (size_t i = 0; i < p->m->funcs.len; i++)
		offer_name(n, p->m->funcs.at[i]->name);
}

static size_t without_digits(const char *s, size_t n)
{
	while (n > 1 && s[n - 1] >= '0' && s[n - 1] <= '9')
		n--;
	return n;
}

/* The innermost family whose prefix is this one, or near to it. */
static const struct ir_regdecl *near_family(const struct parse *p, const char *s, size_t n,
					    struct nearest *near)
{
	const struct ir_regdecl *found = NULL;

	for (size_t i = p->bound.len; i-- > 0;) {
		const struct binding *b = p->bound.at[i];
		const struct ir_regdecl *d =
			b->kind == BIND_FAMILY ? &p->f->regdecls.at[b->index] : NULL;
		u32 before = near->distance;

		if (!d)
			continue;
		if (d->name->len == n && !memcmp(d->name->text, s, n))
			return d;
		nearest_offer(near, d->name->text, d->name->len);
		if (near->distance < before)
			found = d;
	}
	return found;
}

static void suggest(const struct parse *p, const struct str *name, struct text *t)
{
	size_t dot = strcspn(name->text, "."), n = without_digits(name->text, dot);
	const struct isa_sreg *sr = *name->text == '%' ? isa_near_sreg(name->text, dot) : NULL;
	const struct ir_regdecl *family;
	struct nearest whole, prefix;

	nearest_init(&whole, name->text, dot);
	nearest_init(&prefix, name->text, n);
	offer_bound(p, &whole);
	if (sr)
		nearest_offer(&whole, sr->name, strlen(sr->name));
	family = p->f && n < dot ? near_family(p, name->text, n, &prefix) : NULL;
	if (family && family->name->len == n && !memcmp(family->name->text, name->text, n))
		text_printf(t, "; '%s<%u>' ends before it", family->name->text, family->count);
	else if (whole.best && (!family || whole.distance <= prefix.distance))
		text_printf(t, "; did you mean '%s%s'?", whole.best, name->text + dot);
	else if (family)
		text_printf(t, "; did you mean '%s%s'?", family->name->text, name->text + n);
}

void build_undefined(struct parse *p, const struct str *name, struct diag_span where)
{
	struct text t = {0};

	if (build_explains(p))
		suggest(p, name, &t);
	diag_words(p->d, "error   : Unknown symbol '%s'", name->text);
	build_error(p, where, "'%s' is not defined%s", name->text, t.at ? t.at : "");
	text_fini(&t);
}

void build_no_label(struct parse *p, const struct str *name, struct diag_span where)
{
	struct nearest near;

	nearest_init(&near, name->text, name->len);
	for (size_t i = 0; p->f && i < p->f->labels.len && (i || build_explains(p)); i++)
		offer_name(&near, p->f->labels.at[i].name);
	diag_words(p->d, "error   : Unknown symbol '%s'", name->text);
	if (near.best && strcmp(near.best, name->text))
		build_error(p, where, "label '%s' is not defined here; did you mean '%s'?",
			    name->text, near.best);
	else
		build_error(p, where, "label '%s' is not defined here", name->text);
}

/* ---- syntax ---- */

static u32 end_of_string(const char *s, u32 i, u32 end)
{
	for (i++; i < end && s[i] != '"' && s[i] != '\n'; i++)
		;
	return i + (i < end && s[i] == '"');
}

/*
 * Where the token before an offset ends; blanks and comments lie between. Goes on from the last
 * place asked for.
 */
static u32 end_before(struct parse *p, u32 offset)
{
	const char *s = p->m->source.text;
	u32 i = p->looked_at <= offset ? p->looked_at : 0, end = i;

	while (i < offset) {
		u32 skip = 0;

		if (s[i] == '/' && i + 1 < offset && s[i + 1] == '/')
			for (skip = i + 2; skip < offset && s[skip] != '\n'; skip++)
				;
		else if (s[i] == '/' && i + 1 < offset && s[i + 1] == '*')
			for (skip = i + 4;
			     skip < offset && (s[skip - 2] != '*' || s[skip - 1] != '/'); skip++)
				;
		else if (s[i] == '"')
			end = skip = end_of_string(s, i, offset);
		else if (!strchr(" \t\r\n\f\v", s[i]))
			end = i + 1;
		i = skip > i ? skip : i + 1;
	}
	p->looked_at = offset;
	return end;
}

static bool on_other_lines(const struct parse *p, u32 a, u32 b)
{
	return memchr(p->m->source.text + a, '\n', b - a) != NULL;
}

/* The last word of the source up to `end`, for messages. */
static struct diag_span last_word(const struct parse *p, u32 end)
{
	u32 begin = end;

	while (begin && end - begin < 40 &&
	       !strchr(" \t\r\n,;{}[]()|", p->m->source.text[begin - 1]))
		begin--;
	return (struct diag_span){begin < end ? begin : end - (end > 0), end};
}

static u32 line_of(const struct parse *p, u32 offset)
{
	u32 line, column;

	diag_locate(&p->m->source, offset, &line, &column);
	return line;
}

/* A brace that is open: where it is. */
static void note_open_brace(struct parse *p)
{
	u32 id = p->scopes.at[p->scopes.len - 1].id, begin = p->f->scopes.at[id].begin;

	diag_at(p->d, DIAG_NOTE, &p->m->source, (struct diag_span){begin, begin + 1}, NULL,
		id ? "this '{' has no '}'" : "this '{' of '%s' has no '}'",
		p->f->name ? p->f->name->text : "");
}

static void missing_brace(struct parse *p, const struct build_unexpected *u)
{
	/* What follows of that function is not known to belong to it. */
	if (p->unclosed == p->functions)
		return;
	p->unclosed = p->functions;
	if (u->kind == BUILD_AT_END)
		build_error(p, u->where, "expected '}' before the end of the file");
	else
		build_error(p, u->where, "expected '}' before %s", u->name);
	note_open_brace(p);
}

static void missing_mark(struct parse *p, u32 end)
{
	struct diag_span word = last_word(p, end);
	const char *text = p->m->source.text + word.begin;

	/* Below the place where it belongs. */
	build_error(p, (struct diag_span){end, end + 1}, "expected ';' after '%.*s'",
		    (int)(word.end - word.begin), text);
}

static void unexpected(struct parse *p, const struct build_unexpected *u)
{
	struct text t = {0};
	struct nearest near;
	u32 n = u->where.end - u->where.begin;
	const char *s = p->m->source.text + u->where.begin;

	if (u->mark && u->comma)
		text_printf(&t, "expected ',' or ';' before '%.*s'", (int)min_u64(n, 80), s);
	else
		text_printf(&t, "unexpected %s", u->name);
	if (!(u->mark && u->comma) && (u->kind == BUILD_WORD || u->kind == BUILD_DIRECTIVE))
		text_printf(&t, " '%.*s'", (int)min_u64(n, 80), s);
	if (u->expected.len)
		text_printf(&t, ", expecting %s", u->expected.at);
	nearest_init(&near, s, n);
	if (u->kind == BUILD_DIRECTIVE)
		build_near_keyword(&near, u->type);
	if (u->kind == BUILD_DIRECTIVE && near.best)
		text_printf(&t, "; did you mean '%s'?", near.best);
	build_error(p, u->where, "%s", t.at ? t.at : "syntax error");
	text_fini(&t);
}

void build_unexpected(struct parse *p, const struct build_unexpected *u)
{
	u32 end = end_before(p, u->where.begin);
	bool in_body = p->f && p->scopes.len && p->f->has_body;

	if (p->out_of_memory)
		return;
	diag_words(p->d, "line %u; fatal   : Parsing error near '%.*s': syntax error",
		   line_of(p, u->kind == BUILD_AT_END ? (u32)p->m->source.size : u->where.begin),
		   u->kind == BUILD_AT_END ? 0 : (int)min_u64(u->where.end - u->where.begin, 200),
		   p->m->source.text + u->where.begin);
	if (in_body && (u->kind == BUILD_AT_END || u->kind == BUILD_OUTSIDE) && !u->mark)
		missing_brace(p, u);
	else if (u->mark && end &&
		 (u->kind == BUILD_AT_END || u->kind == BUILD_CLOSING ||
		  on_other_lines(p, end, u->where.begin)))
		missing_mark(p, end);
	else
		unexpected(p, u);
}
