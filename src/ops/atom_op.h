/*
 * Operations of atom and red, as lowering puts them into the `pad` of a record.
 */
#ifndef PL_EXEC_ATOM_OP_H
#define PL_EXEC_ATOM_OP_H

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
