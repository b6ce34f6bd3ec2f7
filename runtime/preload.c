/*
 * libptxloom-preload.so: redirects static CUDA runtimes before the program's constructors run. Its
 * dependencies bring the shared runtimes and the driver under the names programs ask for, so that
 * one LD_PRELOAD serves every kind of program.
 */
#include "runtime/redirect.h"

#include <stdio.h>
#include <stdlib.h>

#define RT(name, state) extern void plrt_##name(void);
#include "runtime/runtime.def"
#undef RT

static const struct redirect_entry entries[] = {
#define RT(name, state) {#name, (void *)plrt_##name},
#include "runtime/runtime.def"
#undef RT
};

__attribute__((constructor(101))) static void preload_init(void)
{
	struct redirect_result r;
	const char *log = getenv("PTXLOOM_LOG");

	redirect_all(entries, ARRAY_LEN(entries), &r);
	if (r.stripped)
		fprintf(stderr,
			"ptxloom: the program carries a static CUDA runtime and is stripped, "
			"so its calls cannot be taken over.\n"
			"ptxloom: rebuild it without stripping, or with NVCC_APPEND_FLAGS=\"-cudart shared\".\n");
	if (r.failed)
		fprintf(stderr,
			"ptxloom: %u entry points of the static CUDA runtime could not be overwritten\n",
			r.failed);
	if (log && !strcmp(log, "debug"))
		fprintf(stderr, "ptxloom: %u entry points redirected in %u objects\n", r.patched,
			r.objects);
}
