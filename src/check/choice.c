/*
 * Choosing launches.
 */
#include "src/check/choice.h"

#include "src/base/demangle.h"
#include "src/base/setting.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

struct check_choice {
	char *kernels, *excluded; /* patterns separated by |; NULL: none */
	u64 skip, count;          /* of those that the names choose; count 0: all */
	u64 launches, seen;       /* all, and those; atomic */
	bool has_chosen;          /* atomic */
};

static char *copied_text(enum setting s)
{
	const char *text = setting_text(s);

	return text ? strdup(text) : NULL;
}

struct check_choice *check_choice_open(void)
{
	struct check_choice *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->kernels = copied_text(SETTING_CHECK_KERNELS);
	c->excluded = copied_text(SETTING_CHECK_EXCLUDE);
	c->skip = setting_number(SETTING_CHECK_SKIP, 0);
	c->count = setting_number(SETTING_CHECK_COUNT, 0);
	if (c->kernels || c->excluded || c->skip || c->count)
		return c;
	check_choice_free(c);
	return NULL;
}

void check_choice_free(struct check_choice *c)
{
	if (!c)
		return;
	free(c->kernels);
	free(c->excluded);
	free(c);
}

/* As the linker knows it, demangled, or without its parameters. */
static bool is_kernel_named(const char *pattern, const char *kernel, const char *demangled,
			    const char *bare)
{
	return !fnmatch(pattern, kernel, 0) || (demangled && !fnmatch(pattern, demangled, 0)) ||
	       (bare && !fnmatch(pattern, bare, 0));
}

bool check_names_kernel(const char *patterns, const char *kernel)
{
	struct text demangled = {0}, bare = {0}, one = {0};
	bool yes = false;

	demangle(kernel, &demangled);
	if (demangled.at)
		text_add(&bare, demangled.at, strcspn(demangled.at, "("));
	while (*patterns && !yes) {
		size_t n = strcspn(patterns, "|");

		one.len = 0;
		text_add(&one, patterns, n);
		yes = one.at && is_kernel_named(one.at, kernel, demangled.at, bare.at);
		patterns += n + (patterns[n] == '|');
	}
	text_fini(&demangled);
	text_fini(&bare);
	text_fini(&one);
	return yes;
}

bool check_choice_has(void *choice, const char *kernel)
{
	struct check_choice *c = choice;
	bool yes;
	u64 n;

	__atomic_fetch_add(&c->launches, 1, __ATOMIC_RELAXED);
	if ((c->kernels && !check_names_kernel(c->kernels, kernel)) ||
	    (c->excluded && check_names_kernel(c->excluded, kernel)))
		return false;
	n = __atomic_fetch_add(&c->seen, 1, __ATOMIC_RELAXED);
	yes = n >= c->skip && (!c->count || n - c->skip < c->count);
	if (yes)
		__atomic_store_n(&c->has_chosen, true, __ATOMIC_RELAXED);
	return yes;
}

void check_choice_say(const struct check_choice *c)
{
	if (!c || !c->launches || c->has_chosen)
		return;
	fprintf(stderr, "ptxloom: note: none of %llu launches was checked: %s\n",
		(unsigned long long)c->launches,
		c->seen      ? "--launch-skip leaves out all of them"
		: c->kernels ? "--kernel-name names none of their kernels"
			     : "--kernel-name-exclude names all of their kernels");
}
