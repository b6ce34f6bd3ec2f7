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

/* The addresses of all warps of a gang, each of which is like one of the folds of `version`. */
struct exec_fold_row {
	u64 version; /* 0: it is not known */
	u64 base;    /* what is added to the row */
	u8 place[GANG_WARPS];
	u32 times[FOLD_PLACES]; /* how many warps are like each */
	u32 row[];              /* as the register block has it */
};

/* Of a micro-op, for one CTA slot: the last kinds of access, the last of them first. */
struct exec_folds {
	u8 kind, space; /* enum exec_access_kind; enum mem_space, generic too */
	u32 gangs;
	u64 version; /* of at[], from 1: anything but `times` has changed since another one */
	struct exec_fold at[FOLD_PLACES];
	struct exec_fold_row *row[]; /* by gang; NULL: none */
};

/*
 * The folds of a micro-op, by its allocation cache, made when there are none. NULL: the host has no
 * memory.
 */
struct exec_folds *exec_folds_of(const struct gang *g, const struct uop *in,
				 enum exec_access_kind kind, u32 space);
/* Room for `bytes` of the row of a gang; NULL: the host has no memory. */
struct exec_fold_row *exec_fold_row_of(const struct gang *g, struct exec_folds *f, u32 bytes);
/* An access that is like none of the last ones: forget one of those, which is told. */
struct exec_fold *exec_fold_begin(const struct gang *g, const struct uop *in, struct exec_folds *f,
				  const u64 *address, u32 mask, u32 warp);
/* When a launch ends, without locks: tell the observer of what the CTA's slot has still kept. */
void exec_folds_tell(const struct cta *c, struct exec_folds **folds);
void exec_folds_free(struct exec_folds **folds, u32 len);

#endif
