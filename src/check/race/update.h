/* What a store writes: is it made of what was there before? */
#ifndef PL_CHECK_UPDATE_H
#define PL_CHECK_UPDATE_H

#include "src/exec/program.h"

/*
 * The load by which the store at micro-op `pc` has read the place that it writes, as in x = x + 1:
 * the load's value goes, by registers, into the one that is stored. IR_NONE: there is none, or pc
 * is no store.
 */
u32 race_update_load(const struct program *p, u32 pc);

/*
 * Does the store at micro-op `pc` store what is the same for all threads, whatever they have read:
 * constants, parameters, and what is computed of these? As when places are marked as visited.
 */
bool race_store_is_fixed(const struct program *p, u32 pc);

#endif
