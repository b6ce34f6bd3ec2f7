/*
 * Static CUDA runtimes: a program built by nvcc with default options carries its own copy. At load, before any
 * constructor of the program, every entry point found in an object's .symtab is overwritten with a jump to ours.
 */
#ifndef PL_REDIRECT_H
#define PL_REDIRECT_H

#include "src/base/base.h"

struct redirect_entry {
	const char *name;
	void *to;
};

struct redirect_result {
	u32 objects; /* that carry a static runtime */
	u32 patched;
	u32 failed;    /* entry points that could not be overwritten */
	bool stripped; /* the executable registers fat binaries but has no .symtab */
};

/*
 * Redirect the entry points in all objects of the process that are loaded now.
 * table: sorted by name.
 */
void redirect_all(const struct redirect_entry *table, size_t n, struct redirect_result *out);

#endif
