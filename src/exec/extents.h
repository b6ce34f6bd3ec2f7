/*
 * What of a CTA's shared memory is a variable's, in programs that are lowered with distances
 * between them (program.extents).
 */
#ifndef PL_EXEC_EXTENTS_H
#define PL_EXEC_EXTENTS_H

#include "src/exec/exec.h"

/* The last extent that begins at or before this place in shared memory, NULL: none does. */
const struct program_extent *exec_extent_before(const struct program *p, u64 at);
/*
 * What these bytes are part of, a variable or the launch's dynamic part: where it begins and how
 * long it is. False: they are not within one.
 */
bool exec_extent_of(const struct exec_env *e, u64 at, u64 bytes, u64 *from, u64 *size);

#endif
