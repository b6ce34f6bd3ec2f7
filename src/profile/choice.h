/*
 * Which launches are profiled: ncu's --kernel-name, --kernel-name-base, --launch-skip,
 * --launch-count and --launch-skip-before-match.
 */
#ifndef PL_PROFILE_CHOICE_H
#define PL_PROFILE_CHOICE_H

#include "src/base/text.h"
#include "src/base/vec.h"

/* Names of a kernel, in the order of PTXLOOM_PROFILE_BASE. */
enum profile_base { BASE_FUNCTION, BASE_DEMANGLED, BASE_MANGLED, PROFILE_BASES };

struct profile_pattern;

/*
 * A name, or "regex:" and an extended regular expression that a part of the name has to match. NULL
 * with a line in `why`.
 */
struct profile_pattern *profile_pattern_new(const char *text, struct text *why);
void profile_pattern_free(struct profile_pattern *p);
bool profile_pattern_fits(const struct profile_pattern *p, const char *name);

/* Add that name of a kernel. function: without its parameters, templates and namespaces' ones. */
void profile_kernel_name(const char *mangled, enum profile_base base, struct text *out);

/* The same of a name that is demangled already; base: not BASE_MANGLED. */
void profile_shown_name(const char *demangled, enum profile_base base, struct text *out);

/* Where the parameters of a demangled name begin; its length, if it has none. */
size_t profile_name_end(const char *demangled);

struct range_filter;
struct profile_ranges_view;

struct profile_choice {
	struct profile_pattern *pattern; /* NULL: all kernels; owned */
	enum profile_base base;
	u64 skip_all, skip, count; /* count 0: all */
	u64 all, seen;             /* launches so far, and those that the pattern fits; atomic */
	/* Of ranges; without any all are included; owned. */
	VEC(struct range_filter *) include, exclude;
};

/* From PTXLOOM_PROFILE_*. False with a line in `why`. */
bool profile_choice_read(struct profile_choice *c, struct text *why);
void profile_choice_fini(struct profile_choice *c);
/* The next launch; fits: the pattern its name. Is it one of those that are counted out? */
bool profile_choice_next(struct profile_choice *c, bool fits);
/* A further filter of ranges. False with a line in `why`. */
bool profile_choice_add_range(struct profile_choice *c, const char *filter, bool is_include,
			      struct text *why);
/* v: what the launch is in; NULL: in no range, and profiling is on. */
bool profile_choice_has_ranges(const struct profile_choice *c, const struct profile_ranges_view *v);
/* A launch of the kernel with this name in the PTX begins, in these
 * ranges: is it profiled? */
bool profile_choice_has(struct profile_choice *c, const char *kernel,
			const struct profile_ranges_view *v);

#endif
