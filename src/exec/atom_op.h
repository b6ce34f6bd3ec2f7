/*
 * Operations of atom and red, as lowering puts them into the `pad` of a record.
 */
#ifndef PL_EXEC_ATOM_OP_H
#define PL_EXEC_ATOM_OP_H

enum atom_op {
	ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_EXCH, ATOM_CAS, ATOM_ADD, ATOM_INC, ATOM_DEC, ATOM_MIN, ATOM_MAX,
	ATOM_OPS
};

#endif
