/*
 * Choosing launches.
 */
#include "src/profile/choice.h"

#include "src/base/demangle.h"
#include "src/base/setting.h"
#include "src/profile/ranges.h"

#include <regex.h>
#include <stdlib.h>

struct profile_pattern {
	char *name; /* NULL: the expression counts */
	regex_t regex;
};

static struct profile_pattern *new_name(const char *text, struct text *why)
{
	struct profile_pattern *p = calloc(1, sizeof(*p));

	if (p)
		p->name = strdup(text);
	if (p && p->name)
		return p;
	free(p);
	text_puts(why, "no memory left");
	return NULL;
}

struct profile_pattern *profile_pattern_new(const char *text, struct text *why)
{
	static const char regex[] = "regex:";
	struct profile_pattern *p;
	char message[200];
	int e;

	if (strncmp(text, regex, strlen(regex)) != 0)
		return new_name(text, why);
	p = calloc(1, sizeof(*p));
	if (!p) {
		text_puts(why, "no memory left");
		return NULL;
	}
	e = regcomp(&p->regex, text + strlen(regex), REG_EXTENDED | REG_NOSUB);
	if (!e)
		return p;
	regerror(e, &p->regex, message, sizeof(message));
	text_printf(why, "'%s' is no regular expression: %s", text + strlen(regex), message);
	free(p);
	return NULL;
}

void profile_pattern_free(struct profile_pattern *p)
{
	if (!p)
		return;
	if (!p->name)
		regfree(&p->regex);
	free(p->name);
	free(p);
}

bool profile_pattern_fits(const struct profile_pattern *p, const char *name)
{
	return p->name ? !strcmp(p->name, name) : !regexec(&p->regex, name, 0, NULL, 0);
}

/* ---- names ---- */

size_t profile_name_end(const char *s)
{
	size_t n = strlen(s);
	int depth = 0;

	if (!n || s[n - 1] != ')')
		return n;
	for (size_t i = n; i-- > 0;) {
		depth += (s[i] == ')') - (s[i] == '(');
		if (!depth)
			return i;
	}
	return n;
}

/* Without "void " in front, which templates have, and without arguments of templates. */
static void add_function(const char *s, struct text *out)
{
	size_t end = profile_name_end(s), first = 0;
	int depth = 0;

	for (size_t i = 0; i < end; i++) {
		depth += (s[i] == '<' || s[i] == '(') - (s[i] == '>' || s[i] == ')');
		if (!depth && (s[i] == ' ' || (s[i] == ':' && i + 1 < end && s[i + 1] != ':')))
			first = i + 1;
	}
	depth = 0;
	for (size_t i = first; i < end; i++) {
		depth += s[i] == '<';
		if (!depth)
			text_add(out, s + i, 1);
		depth -= s[i] == '>';
	}
}

void profile_shown_name(const char *demangled, enum profile_base base, struct text *out)
{
	if (base == BASE_FUNCTION)
		add_function(demangled, out);
	else
		text_puts(out, demangled);
}

void profile_kernel_name(const char *mangled, enum profile_base base, struct text *out)
{
	struct text t = {0};

	if (base == BASE_MANGLED) {
		text_puts(out, mangled);
		return;
	}
	demangle(mangled, &t);
	profile_shown_name(t.at ? t.at : mangled, base, out);
	text_fini(&t);
}

/* ---- launches ---- */

bool profile_choice_add_range(struct profile_choice *c, const char *filter, bool is_include,
			      struct text *why)
{
	struct range_filter *f = range_filter_new(filter, why);

	if (f && (is_include ? VEC_PUSH(&c->include, f) : VEC_PUSH(&c->exclude, f)))
		return true;
	range_filter_free(f);
	if (!why->len)
		text_puts(why, "no memory left");
	return false;
}

/* A filter a line. */
static bool choice_read_ranges(struct profile_choice *c, enum setting s, bool is_include,
			       struct text *why)
{
	const char *lines = setting_text(s);
	bool ok = true;

	while (ok && lines && *lines) {
		size_t n = strcspn(lines, "\n");
		char *line = strndup(lines, n);

		ok = line && (!n || profile_choice_add_range(c, line, is_include, why));
		free(line);
		lines += n + (lines[n] == '\n');
	}
	return ok;
}

bool profile_choice_read(struct profile_choice *c, struct text *why)
{
	const char *pattern = setting_text(SETTING_PROFILE_KERNELS);

	*c = (struct profile_choice){
		.base = (enum profile_base)setting_number(SETTING_PROFILE_BASE, BASE_FUNCTION),
		.skip_all = setting_number(SETTING_PROFILE_SKIP_ALL, 0),
		.skip = setting_number(SETTING_PROFILE_SKIP, 0),
		.count = setting_number(SETTING_PROFILE_COUNT, 0),
	};
	if (pattern)
		c->pattern = profile_pattern_new(pattern, why);
	return (!pattern || c->pattern) &&
	       choice_read_ranges(c, SETTING_PROFILE_INCLUDE, true, why) &&
	       choice_read_ranges(c, SETTING_PROFILE_EXCLUDE, false, why);
}

void profile_choice_fini(struct profile_choice *c)
{
	profile_pattern_free(c->pattern);
	c->pattern = NULL;
	for (size_t i = 0; i < c->include.len; i++)
		range_filter_free(c->include.at[i]);
	for (size_t i = 0; i < c->exclude.len; i++)
		range_filter_free(c->exclude.at[i]);
	VEC_FREE(&c->include);
	VEC_FREE(&c->exclude);
}

static bool fits_kernel(const struct profile_choice *c, const char *kernel)
{
	struct text name = {0};
	bool yes;

	if (!c->pattern)
		return true;
	profile_kernel_name(kernel, c->base, &name);
	yes = profile_pattern_fits(c->pattern, name.at ? name.at : kernel);
	text_fini(&name);
	return yes;
}

bool profile_choice_next(struct profile_choice *c, bool fits)
{
	u64 n;

	if (__atomic_fetch_add(&c->all, 1, __ATOMIC_RELAXED) < c->skip_all || !fits)
		return false;
	n = __atomic_fetch_add(&c->seen, 1, __ATOMIC_RELAXED);
	return n >= c->skip && (!c->count || n - c->skip < c->count);
}

bool profile_choice_has_ranges(const struct profile_choice *c, const struct profile_ranges_view *v)
{
	static const struct profile_ranges_view nowhere = {.is_on = true};
	bool yes = !c->include.len;

	if (!v)
		v = &nowhere;
	if (!v->is_on)
		return false;
	for (size_t i = 0; i < c->include.len; i++)
		yes |= range_filter_fits(c->include.at[i], v);
	for (size_t i = 0; i < c->exclude.len; i++)
		yes &= !range_filter_fits(c->exclude.at[i], v);
	return yes;
}

bool profile_choice_has(struct profile_choice *c, const char *kernel,
			const struct profile_ranges_view *v)
{
	return profile_choice_next(c, profile_choice_has_ranges(c, v) && fits_kernel(c, kernel));
}
