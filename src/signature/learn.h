/*
 * Tables of signatures from archives of static runtimes.
 */
#ifndef PL_LEARN_H
#define PL_LEARN_H

#include "src/signature/signature.h"

/* Of the functions of a runtime, and of what can be recognised among them. */
struct learned {
	u32 functions, anchored;
};

/*
 * Write a table of the functions that an archive of objects, or an object, defines for the CUDA
 * runtime. False, with one line in `why`, when it is neither or damaged, or has none of them.
 */
bool learn_archive(const u8 *file, size_t size, const char *name, struct text *out,
		   struct learned *n, struct text *why);

#endif
