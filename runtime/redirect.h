/*
 * Static CUDA runtimes: a program built by nvcc with default options carries its own copy. At load, before any
 * constructor of the program, every entry point found in an object's .symtab is overwritten with a jump to ours.
 */
#ifndef PL_REDIRECT_H
#define PL_REDIRECT_H

#include "src/base/vec.h"

/* The entry points for the static runtime of one major version. */
typedef void *redirect_target(const char *name, int major);

struct redirect_result {
	u32 objects; /* that carry a static runtime */
	u32 patched;
	u32 failed;    /* entry points that could not be overwritten */
	bool stripped; /* the executable has a static runtime whose names are gone */
};

/* The objects of a process. Zeroed: none has been looked at. */
struct redirect {
	redirect_target *target; /* where an entry point leads; NULL: it stays */
	VEC(u64) seen;           /* the objects of the last call */
};

/* Redirect the entry points in the objects of the process that have been loaded since the last call. */
void redirect_new(struct redirect *r, struct redirect_result *out);
/*
 * Call `hook` whenever the loader has mapped further objects, before their constructors run. False:
 * this loader offers no place for that.
 */
bool redirect_watch(void (*hook)(void));

#endif
