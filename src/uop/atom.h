/*
 * What atom, red and reducing copies do to an element: the actions of table/atom.def.
 */
#ifndef PL_UOP_ATOM_H
#define PL_UOP_ATOM_H

#include "src/base/base.h"

enum atom_action {
#define ATOM(id, word) ATOM_##id,
#include "src/uop/table/atom.def"
	ATOM_ACTIONS
};

/* What an element becomes: its old bits and the operands' in, the new ones out. */
typedef u64 apply_fn(u64 old, u64 b, u64 c);

#endif
