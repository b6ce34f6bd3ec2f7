/*
 * Programs whose threads wait for each other: the rows of tests/progress/programs.def and
 * tests/memory/programs.def, and the PTX that their kernels are in. For one source file each.
 */
#ifndef PL_TESTS_PROGRESS_PROGRAMS_H
#define PL_TESTS_PROGRESS_PROGRAMS_H

#include "src/base/base.h"

#include <ptxloom.h>

#include <stdio.h>
#include <stdlib.h>

/* Words that a kernel is given, zeroed. */
#define PROGRAM_WORDS (1u << 14)
/* What it is told to repeat. */
#define PROGRAM_ROUNDS 2u

enum needs { ANY, LANES, SM70, SM80, STUCK };

struct program_row {
	const char *folder, *file, *kernel;
	u32 (*leaves)(u32 ctas, u32 block, u32 rounds);
	enum needs needs;
};

#define PROGRAM(file, kernel, expr, needs)                                                         \
	static u32 leaves_##kernel(u32 ctas, u32 block, u32 rounds)                                \
	{                                                                                          \
		u32 threads = ctas * block, warps = (block + 31) / 32;                             \
		(void)threads, (void)warps, (void)rounds;                                          \
		return (expr);                                                                     \
	}
#include "tests/memory/programs.def"
#include "tests/progress/programs.def"
#undef PROGRAM

static const struct program_row programs[] = {
#define PROGRAM(file, kernel, expr, needs) {"progress", #file, #kernel, leaves_##kernel, needs},
#include "tests/progress/programs.def"
#undef PROGRAM
#define PROGRAM(file, kernel, expr, needs) {"memory", #file, #kernel, leaves_##kernel, needs},
#include "tests/memory/programs.def"
#undef PROGRAM
};

/*
 * Load the file that a row's kernel is in: the one without the instructions that the device does
 * not have, where it is of a generation before 7. The module is the caller's. NULL: it does not
 * load.
 */
static struct ptxloom_module *program_load(struct ptxloom_device *dev, const struct program_row *p,
					   int64_t generation)
{
	const char *dir = getenv("srcdir");
	struct ptxloom_module *mod;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/%s/%s%s.ptx", dir ? dir : ".", p->folder, p->file,
		 generation < 7 ? "_60" : "");
	return ptxloom_module_load_file(dev, path, &mod) ? NULL : mod;
}

#endif
