/*
 * The steps of a search. Private to find*.c.
 */
#ifndef PL_FIND_INT_H
#define PL_FIND_INT_H

#include "src/signature/find.h"

/* A function of a set, all of whose bytes are at an address. */
struct find_hit {
	u32 index; /* in the set */
	u32 section;
	u64 base; /* where offset 0 of its section would be */
};

/* A place of a section, and how many of its functions are at theirs. */
struct find_base {
	u32 section, votes;
	u64 base;
};

struct find {
	const struct code_image *c;
	const struct signature_set *set;
	struct found *out;
	VEC(struct find_hit) hits;
	VEC(struct find_base) bases; /* by section, falling votes */
	u8 *placed;                  /* for each function of the set */
	u64 budget;                  /* bytes that may still be compared */
	bool no_memory;
};

/* Is all of a function of the set at this address? */
bool find_matches(struct find *f, u32 index, u64 address);
/* Add a function to what was found. */
void find_add(struct find *f, const char *name, u32 name_bytes, const struct found_function *new);
/* Places for the sections of a build. */
void find_place(struct find *f, const struct signature_build *b);
/* Functions within [low, high) that refer to a name that is wanted. */
void find_names(struct find *f, u64 low, u64 high, find_wanted *wanted, void *user);
/* The addresses of what has been found, widened by `margin`. False: nothing has. */
bool find_region(const struct find *f, u64 margin, u64 *low, u64 *high);

#endif
