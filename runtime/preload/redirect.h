/*
 * CUDA runtimes and drivers that are not ours. A program built by nvcc with default options carries
 * a copy of the runtime, and so do libraries; others find a shared one, or a driver. At load,
 * before any constructor of theirs, every entry point that an object's symbols name is overwritten
 * with a jump to ours.
 */
#ifndef PL_REDIRECT_H
#define PL_REDIRECT_H

#include "runtime/preload/redirect_code.h"
#include "src/base/vec.h"

/* What an object has entry points of. A version of the runtime is its own number. */
enum redirect_kind {
	REDIRECT_NOTHING,
	REDIRECT_DRIVER,
	REDIRECT_RUNTIME_11 = 11,
	REDIRECT_RUNTIME_12,
	REDIRECT_RUNTIME_13,
};

/* Where an entry point leads; NULL: it stays. */
typedef void *redirect_target(const char *name, enum redirect_kind kind);

struct redirect_result {
	u32 objects; /* in which something was redirected */
	u32 patched;
	u32 failed;     /* entry points that could not be overwritten */
	char why[1024]; /* of the first of them */
};

struct found;
struct signature_set;

struct redirect_object {
	u64 id;
	struct code_stubs stubs;
};

/* The objects of a process. But for the first four, zeroed: none has been inspected. */
struct redirect {
	redirect_target *target;
	/* Runtimes that are recognised without symbols; asked for when first needed. NULL: none. */
	const struct signature_set *(*known)(void);
	/*
	 * Called for objects with a static runtime and without its symbols, with what was found in
	 * them; NULL: no runtime that is known.
	 */
	void (*tell_stripped)(const char *path, bool is_main, const struct found *found);
	/*
	 * as in struct code_caller; its word gets the version of a shared runtime, or more for a
	 * copy
	 */
	s64 place;
	u32 copies;                       /* static runtimes so far */
	VEC(struct redirect_object) seen; /* the objects of the last call */
};

/*
 * Redirect the entry points in the objects of the process that have been loaded since the last
 * call.
 */
void redirect_new(struct redirect *r, struct redirect_result *out);
/*
 * Call `hook` whenever the loader has mapped further objects, before their constructors run. False:
 * this loader offers no place for that.
 */
bool redirect_watch(void (*hook)(void));

#endif
