/*
 * What atom, red and reducing copies do to an element.
 */
#ifndef PL_UOP_ATOM_H
#define PL_UOP_ATOM_H

#include "src/base/base.h"

enum atom_op {
	ATOM_AND,
	ATOM_OR,
	ATOM_XOR,
	ATOM_EXCH,
	ATOM_CAS,
	ATOM_ADD,
	ATOM_INC,
	ATOM_DEC,
	ATOM_MIN,
	ATOM_MAX,
	ATOM_OPS
};

/* What an element becomes: its old bits and the operands' in, the new ones out. */
typedef u64 apply_fn(u64 old, u64 b, u64 c);

#endif
