/*
 * libptxloom-preload.so: one LD_PRELOAD for every kind of program. It has all names of the driver,
 * whose soname it bears, and of the shared runtimes, and so goes before those that the loader finds
 * (preload_names.c); it redirects the entry points of runtimes that programs and libraries carry,
 * and of libraries that are asked for entry points one by one; and its dependencies bring the
 * shared runtimes under the names programs ask for.
 *
 * The loader calls its constructor before all others, those of the C library included.
 */
#include "runtime/entry.h"
#include "runtime/preload/children.h"
#include "runtime/preload/redirect.h"
#include "src/signature/find.h"
#include "src/signature/load.h"
#include "src/base/setting.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* That a static runtime stays was reported: once is enough. */
extern void plrt_refusal_was_said(void);
/* The driver's function of this exact name, NULL: none. */
extern void *plrt_driver_symbol(const char *name);

typedef void entry_point(void);

struct entry {
	const char *name;
	entry_point *to;
};

/* What the names mean in version 13, sorted as runtime.def is. */
static const struct entry entries[] = {
#define RT(name, params, args, checks) {#name, (entry_point *)plentry_##name},
#include "runtime/cudart/runtime.def"
#undef RT
};

/* What they mean in some versions alone. */
static const struct {
	const char *name;
	enum redirect_kind first, last;
	entry_point *to;
} versioned[] = {
#define RT_V11 REDIRECT_RUNTIME_11, REDIRECT_RUNTIME_11
#define RT_V11_12 REDIRECT_RUNTIME_11, REDIRECT_RUNTIME_12
#define RT_V12 REDIRECT_RUNTIME_12, REDIRECT_RUNTIME_12
#define RT_V12_13 REDIRECT_RUNTIME_12, REDIRECT_RUNTIME_13
#define RT_V13 REDIRECT_RUNTIME_13, REDIRECT_RUNTIME_13
#define RT(name, params, args, checks)
#define RT_FOR(versions, public, name, params, args, checks)                                       \
	{#public, RT_##versions, (entry_point *)plentry_##name},
#include "runtime/cudart/runtime.def"
#undef RT
};

static int compare_name(const void *key, const void *entry)
{
	return strcmp(key, ((const struct entry *)entry)->name);
}

static void *target(const char *name, enum redirect_kind kind)
{
	const struct entry *e;

	if (kind == REDIRECT_DRIVER)
		return plrt_driver_symbol(name);
	for (size_t i = 0; i < ARRAY_LEN(versioned); i++)
		if (kind >= versioned[i].first && kind <= versioned[i].last &&
		    !strcmp(versioned[i].name, name))
			return (void *)(uintptr_t)versioned[i].to;
	e = bsearch(name, entries, ARRAY_LEN(entries), sizeof(*entries), compare_name);
	return e ? (void *)(uintptr_t)e->to : NULL;
}

/* Once, and kept: each further library wants them. */
static const struct signature_set *known_runtimes(void)
{
	static struct signature_set set;
	static struct signature_tables tables;
	static bool loaded;
	struct text why = {0};

	if (!loaded && !signature_load(&set, &tables, &why))
		fprintf(stderr, "ptxloom: a table of static CUDA runtimes is left out: %s\n",
			why.at ? why.at : "out of memory");
	loaded = true;
	text_fini(&why);
	return &set;
}

static void tell_recognised(const char *path, const struct found *found)
{
	size_t by_name = 0;

	for (size_t i = 0; i < found->functions.len; i++)
		by_name += found->functions.at[i].by_name;
	fprintf(stderr,
		"ptxloom: %s carries a static CUDA runtime without names: of %s %zu of %u functions "
		"recognised, %zu more by their names\n",
		path, found->build, found->functions.len - by_name, found->of, by_name);
}

static void tell_stripped(const char *path, bool is_main, const struct found *found)
{
	if (found) {
		if (setting_has(SETTING_LOG, "debug"))
			tell_recognised(path, found);
		return;
	}
	plrt_refusal_was_said();
	fprintf(stderr,
		"ptxloom: %s carries a static CUDA runtime that is not known and is stripped, "
		"so its calls cannot be taken over.\n"
		"ptxloom: rebuild it without stripping, or with NVCC_APPEND_FLAGS=\"-cudart shared\", "
		"or give `ptxloom learn` its libcudart_static.a.\n",
		is_main ? "the program" : path);
}

static struct redirect objects = {
	.target = target,
	.known = known_runtimes,
	.tell_stripped = tell_stripped,
};

static void redirect(void)
{
	struct redirect_result r;

	redirect_new(&objects, &r);
	if (r.failed)
		fprintf(stderr,
			"ptxloom: %u entry points of a CUDA library could not be redirected: %s\n",
			r.failed, r.why);
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

/*
 * Of a thread sanitizer in the program: what it intercepts may not be called before. NULL: there is
 * none.
 */
extern void __tsan_init(void) __attribute__((weak));

/*
 * From the thread's base: the same for all threads, as the runtime was there when the process
 * began.
 */
static s64 variable_offset(const void *variable)
{
	u64 base;

	__asm__("movq %%fs:0, %0" : "=r"(base));
	return (s64)((u64)(uintptr_t)variable - base);
}

/*
 * gcc's AddressSanitizer wants to be the first library, so that its functions are in front of those
 * of others. There are none of them here. A program that has this function itself goes before.
 */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

__attribute__((constructor(101))) static void preload_init(int argc, char **argv,
							   char **environment)
{
	(void)argc, (void)argv;
	if (__tsan_init)
		__tsan_init();
	/* The C library sets it when its own handlers run. */
	if (!environ)
		environ = environment;
	children_watch();
	objects.place = variable_offset(&plrt_copy);
	redirect();
	if (!redirect_watch(on_load) && setting_has(SETTING_LOG, "debug"))
		fputs("ptxloom: libraries that are loaded later keep their static CUDA runtimes\n",
		      stderr);
}
