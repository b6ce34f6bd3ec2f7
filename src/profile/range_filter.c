/*
 * Filters of ranges.
 */
#include "src/profile/choice.h"
#include "src/profile/ranges.h"

#include <stdlib.h>

enum part_kind { PART_NAME, PART_ONE, PART_ANY };

struct range_part {
	u8 kind;
	struct profile_pattern *name;
};

/* A domain's ranges, one of which is started, or several of which are pushed. */
struct range_term {
	struct profile_pattern *domain;
	VEC(struct range_part) parts;
	bool is_pushed, is_outermost, is_innermost;
};

struct range_filter {
	VEC(struct range_term) terms;
};

/* ---- reading ---- */

/*
 * The text up to one of the characters of `ends` that no backslash is in front of, without
 * backslashes; *s: behind it. The caller frees it; NULL without memory.
 */
static char *filter_take_word(const char **s, const char *ends)
{
	struct text t = {0};

	text_puts(&t, "");
	while (**s && !strchr(ends, **s)) {
		*s += **s == '\\' && (*s)[1];
		text_add(&t, (*s)++, 1);
	}
	return t.at;
}

static bool add_part(struct range_term *t, char *word, struct text *why)
{
	struct range_part p = {PART_NAME, NULL};

	if (!strcmp(word, "*"))
		p.kind = PART_ANY;
	else if (!strcmp(word, "+"))
		p.kind = PART_ONE;
	else
		p.name = profile_pattern_new(word, why);
	if (p.kind == PART_NAME && !p.name)
		return false;
	if (VEC_PUSH(&t->parts, p))
		return true;
	profile_pattern_free(p.name);
	return false;
}

/* Is there an '@' before the term ends? */
static bool has_domain(const char *s)
{
	for (; *s && *s != ',' && *s != '/'; s++) {
		if (*s == '@')
			return true;
		s += *s == '\\' && s[1];
	}
	return false;
}

static bool read_term(const char **s, struct range_term *t, struct text *why)
{
	char *word = has_domain(*s) ? filter_take_word(s, "@") : strdup(RANGE_DOMAIN_DEFAULT);
	bool ok = word != NULL;

	*s += **s == '@';
	if (ok)
		t->domain = profile_pattern_new(*word ? word : RANGE_DOMAIN_DEFAULT, why);
	ok = ok && t->domain;
	free(word);
	t->is_outermost = ok && **s == '[';
	*s += t->is_outermost;
	while (ok && **s && **s != ',') {
		word = filter_take_word(s, ",/]");
		ok = word && (!*word || add_part(t, word, why));
		free(word);
		t->is_pushed |= **s == '/' || **s == ']';
		t->is_innermost = **s == ']';
		*s += **s == '/' || **s == ']';
		if (t->is_innermost)
			break;
	}
	t->is_pushed |= t->is_outermost;
	if (ok && (!t->parts.len || (**s && **s != ','))) {
		text_puts(why, "a range is DOMAIN@NAME, or NAME/ and more names with slashes");
		ok = false;
	}
	*s += **s == ',';
	return ok;
}

struct range_filter *range_filter_new(const char *text, struct text *why)
{
	struct range_filter *f = calloc(1, sizeof(*f));
	bool ok = f != NULL;

	do {
		struct range_term t = {0};

		if (ok && !VEC_PUSH(&f->terms, t))
			ok = false;
		ok = ok && read_term(&text, &f->terms.at[f->terms.len - 1], why);
	} while (ok && *text);
	if (ok)
		return f;
	if (!why->len)
		text_puts(why, "no memory left");
	range_filter_free(f);
	return NULL;
}

void range_filter_free(struct range_filter *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->terms.len; i++) {
		struct range_term *t = &f->terms.at[i];

		for (size_t k = 0; k < t->parts.len; k++)
			profile_pattern_free(t->parts.at[k].name);
		VEC_FREE(&t->parts);
		profile_pattern_free(t->domain);
	}
	VEC_FREE(&f->terms);
	free(f);
}

/* ---- fitting ---- */

/* The next range of the term's domain that is pushed, from i on; v->len: there is none. */
static u32 next_pushed(const struct range_term *t, const struct profile_ranges_view *v, u32 i)
{
	while (i < v->len &&
	       (!v->at[i].is_pushed || !profile_pattern_fits(t->domain, v->at[i].domain)))
		i++;
	return i;
}

static bool fits_from(const struct range_term *t, size_t part, const struct profile_ranges_view *v,
		      u32 i)
{
	const struct range_part *p = &t->parts.at[part];

	if (part == t->parts.len)
		return !t->is_innermost || next_pushed(t, v, i) == v->len;
	i = next_pushed(t, v, i);
	if (p->kind == PART_ANY) {
		for (;; i = next_pushed(t, v, i + 1)) {
			if (fits_from(t, part + 1, v, i))
				return true;
			if (i == v->len)
				return false;
		}
	}
	return i < v->len &&
	       (p->kind == PART_ONE || profile_pattern_fits(p->name, v->at[i].name)) &&
	       fits_from(t, part + 1, v, i + 1);
}

static bool term_fits(const struct range_term *t, const struct profile_ranges_view *v)
{
	if (!t->is_pushed) {
		for (u32 i = 0; i < v->len; i++)
			if (!v->at[i].is_pushed &&
			    profile_pattern_fits(t->domain, v->at[i].domain) &&
			    t->parts.at[0].name &&
			    profile_pattern_fits(t->parts.at[0].name, v->at[i].name))
				return true;
		return false;
	}
	for (u32 i = next_pushed(t, v, 0); i < v->len; i = next_pushed(t, v, i + 1)) {
		if (fits_from(t, 0, v, i))
			return true;
		if (t->is_outermost)
			break;
	}
	return false;
}

bool range_filter_fits(const struct range_filter *f, const struct profile_ranges_view *v)
{
	for (size_t i = 0; i < f->terms.len; i++)
		if (!term_fits(&f->terms.at[i], v))
			return false;
	return true;
}
