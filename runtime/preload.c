/*
 * libptxloom-preload.so: one LD_PRELOAD for every kind of program. It has all names of the driver, whose
 * soname it bears, and of the shared runtimes, and so goes before those that the loader finds
 * (preload_names.c); it redirects the entry points of runtimes that programs and libraries carry, and of
 * libraries that are asked for entry points one by one; and its dependencies bring the shared runtimes under
 * the names programs ask for.
 *
 * The loader calls its constructor before all others, those of the C library included.
 */
#include "runtime/redirect.h"
#include "src/base/setting.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
/* The driver's function of this exact name, NULL: none. */
extern void *plrt_driver_symbol(const char *name);
/* Which copy of the runtime the thread called last. */
extern _Thread_local u32 plrt_copy __attribute__((tls_model("initial-exec")));

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

static void *target(const char *name, enum redirect_kind kind)
{
	const struct entry *e;

	if (kind == REDIRECT_DRIVER)
		return plrt_driver_symbol(name);
	for (size_t i = 0; i < ARRAY_LEN(versioned) && kind < REDIRECT_RUNTIME_13; i++)
		if (!strcmp(versioned[i].name, name))
			return (void *)(uintptr_t)versioned[i].to[kind - REDIRECT_RUNTIME_11];
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

/* Of a thread sanitizer in the program: what it intercepts may not be called before. NULL: there is none. */
extern void __tsan_init(void) __attribute__((weak));

/* From the thread's base: the same for all threads, as the runtime was there when the process began. */
static s64 place_of(const void *variable)
{
	u64 base;

	__asm__("movq %%fs:0, %0" : "=r"(base));
	return (s64)((u64)(uintptr_t)variable - base);
}

/*
 * gcc's AddressSanitizer wants to be the first library, so that its functions are in front of those of others. There
 * are none of them here. A program that has this function itself goes before.
 */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

__attribute__((constructor(101))) static void preload_init(int argc, char **argv, char **environment)
{
	(void)argc, (void)argv;
	if (__tsan_init)
		__tsan_init();
	/* The C library sets it when its own turn comes. */
	if (!environ)
		environ = environment;
	objects.place = place_of(&plrt_copy);
	redirect();
	if (!redirect_watch(on_load) && setting_has(SETTING_LOG, "debug"))
		fputs("ptxloom: libraries that are loaded later keep their static CUDA runtimes\n",
		      stderr);
}
