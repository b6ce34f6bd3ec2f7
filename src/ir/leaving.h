/*
 * How control leaves an instruction.
 */
#ifndef PL_IR_LEAVING_H
#define PL_IR_LEAVING_H

#include "src/ir/ir.h"

enum ir_leaving { IR_GOES_ON, IR_BRANCHES, IR_BRANCHES_BY_TABLE, IR_ENDS };

/*
 * If its guard is true; if not, it goes on in any case. What is not known ends the launch; calls
 * go on after they have returned.
 */
static inline enum ir_leaving ir_leaving(const struct ir_insn *in)
{
	switch ((u32)ir_opcode(in)) {
	case OPCODE_bra:
		return IR_BRANCHES;
	case OPCODE_brx_idx:
		return IR_BRANCHES_BY_TABLE;
	case OPCODE_ret:
	case OPCODE_exit:
	case OPCODE_trap:
	case ISA_OPCODES:
		return IR_ENDS;
	default:
		return IR_GOES_ON;
	}
}

#endif
