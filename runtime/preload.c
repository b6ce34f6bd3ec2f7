/*
 * libptxloom-preload.so: redirects static CUDA runtimes before a program's constructors run, and those
 * of libraries that it loads later. Its dependencies bring the shared runtimes and the driver under the
 * names programs ask for, so that one LD_PRELOAD serves every kind of program.
 */
#include "runtime/redirect.h"
#include "src/base/setting.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#define RT(name, state) extern void plentry_##name(void);
#include "runtime/runtime.def"
#undef RT
#define VERSIONED(name, v11, v12, v13)                                                             \
	extern void plentry_##v11(void);                                                              \
	extern void plentry_##v12(void);
#include "runtime/versions.def"
#undef VERSIONED

/* Somebody has been told that a static runtime stays: once is enough. */
extern void plrt_refusal_was_said(void);

struct entry {
	const char *name;
	void (*to)(void);
};

/* Sorted as runtime.def is. */
static const struct entry entries[] = {
#define RT(name, state) {#name, plentry_##name},
#include "runtime/runtime.def"
#undef RT
};

static const struct {
	const char *name;
	void (*to[2])(void); /* of 11 and 12 */
} versioned[] = {
#define VERSIONED(name, v11, v12, v13) {#name, {plentry_##v11, plentry_##v12}},
#include "runtime/versions.def"
#undef VERSIONED
};

static int compare_name(const void *key, const void *entry)
{
	return strcmp(key, ((const struct entry *)entry)->name);
}

static void *target(const char *name, int major)
{
	const struct entry *e;

	for (size_t i = 0; i < ARRAY_LEN(versioned) && major < 13; i++)
		if (!strcmp(versioned[i].name, name))
			return (void *)(uintptr_t)versioned[i].to[major - 11];
	e = bsearch(name, entries, ARRAY_LEN(entries), sizeof(*entries), compare_name);
	return e ? (void *)(uintptr_t)e->to : NULL;
}

static struct redirect objects = {.target = target};

static void redirect(void)
{
	struct redirect_result r;

	redirect_new(&objects, &r);
	if (r.stripped) {
		plrt_refusal_was_said();
		fprintf(stderr,
			"ptxloom: the program carries a static CUDA runtime and is stripped, "
			"so its calls cannot be taken over.\n"
			"ptxloom: rebuild it without stripping, or with NVCC_APPEND_FLAGS=\"-cudart shared\".\n");
	}
	if (r.failed)
		fprintf(stderr,
			"ptxloom: %u entry points of the static CUDA runtime could not be overwritten\n",
			r.failed);
	if (r.objects && setting_has(SETTING_LOG, "debug"))
		fprintf(stderr, "ptxloom: %u entry points redirected in %u objects\n", r.patched,
			r.objects);
}

/* The loader calls this with its lock held, so one at a time. */
static void on_load(void)
{
	if (_r_debug.r_state == RT_CONSISTENT)
		redirect();
}

__attribute__((constructor(101))) static void preload_init(void)
{
	redirect();
	if (!redirect_watch(on_load) && setting_has(SETTING_LOG, "debug"))
		fputs("ptxloom: libraries that are loaded later keep their static CUDA runtimes\n",
		      stderr);
}
