/*
 * Accesses that differ in nothing but where they begin, told to observers once for many of them.
 * Instructions in a loop, and the warps of a gang, mostly access memory alike; what is counted of
 * an access follows from how its addresses lie to each other.
 */
#ifndef PL_EXEC_FOLD_H
#define PL_EXEC_FOLD_H

#include "src/exec/observer.h"

/* Accesses at multiples of so many bytes from each other are alike, by space. */
#define FOLD_GLOBAL 128u
#define FOLD_WORD 4u

struct exec_fold {
	u64 times;   /* that have not been told */
	u64 pattern; /* of exec_access */
	u64 address[WARP_LANES];
	u32 mask, warp;
};

#define FOLD_PLACES 2u

/* Of a micro-op, for one CTA slot: the last kinds of access, the last of them first. */
struct exec_folds {
	u8 kind, space; /* enum exec_access_kind; enum mem_space, generic too */
	struct exec_fold at[FOLD_PLACES];
};

/*
 * The folds of a micro-op, by its allocation cache, made when there are none. NULL: the host has no
 * memory.
 */
struct exec_folds *exec_folds_of(struct exec_folds **folds, const struct uop *in,
				 enum exec_access_kind kind, u32 space);
/* An access that is like none of the last ones: forget one of those, which is told. */
struct exec_fold *exec_fold_begin(const struct gang *g, const struct uop *in, struct exec_folds *f,
				  const u64 *address, u32 mask, u32 warp);
/* When a launch ends, without locks: tell the observer of what the CTA's slot has still kept. */
void exec_folds_tell(const struct cta *c, struct exec_folds **folds);
void exec_folds_free(struct exec_folds **folds, u32 len);

#endif
