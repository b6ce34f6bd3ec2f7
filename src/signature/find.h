/*
 * Where the functions of a static runtime are in an image without symbols.
 */
#ifndef PL_FIND_H
#define PL_FIND_H

#include "src/signature/code.h"
#include "src/signature/signature.h"

struct found_function {
	char name[SIGNATURE_MAX_NAME + 1];
	u64 address;
	u32 size;
	u32 order;    /* in which it was found */
	bool by_name; /* it refers to its name; false: all of it has been compared */
};

struct found {
	VEC(struct found_function) functions; /* by rising addresses, each once */
	char build[64];                       /* the one most of whose functions are there */
	u32 of;                               /* how many it has */
	u32 ambiguous;                        /* functions that may be in several places */
};

/* Is it a function that is looked for? */
typedef bool find_wanted(const char *name, void *user);

/*
 * Look for the build of a set most of whose functions are in the image; for those that it has not,
 * or not as they are known, look for functions near it that refer to their names, as entry points
 * that report themselves to profilers do. False: there is no memory.
 */
bool find_functions(const struct code_image *c, const struct signature_set *set,
		    find_wanted *wanted, void *user, struct found *out);
void find_fini(struct found *f);
/* NULL: it has not been found. */
const struct found_function *find_by_name(const struct found *f, const char *name);

#endif
