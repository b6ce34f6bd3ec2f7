/*
 * Control flow of one PTX function, for the debugger: which instructions can come next, what can be
 * reached without passing some others, and whether a register can have been set at a place.
 *
 * A call goes on after itself; guarded jumps and returns may also fall through.
 */
#ifndef PL_DBG_FLOW_H
#define PL_DBG_FLOW_H

#include "src/dbg/dbg.h"

/* Calls `see` for each instruction that may be next after `insn`; the end counts as none. */
typedef void flow_visitor(void *user, u32 next);
void flow_successors(const struct ir_func *f, u32 insn, flow_visitor *see, void *user);

/* The first instruction of the basic block that insn is in. */
u32 flow_block_start(const struct ir_func *f, u32 insn);

/*
 * Mark in `reached` (insns.len bytes, zeroed by the caller) the instructions that can be reached
 * from the function's entry when nothing goes on from those marked in `walls`; walls themselves are
 * marked when they are come to. Returns false when memory is out.
 */
bool flow_reach(const struct ir_func *f, const u8 *walls, u8 *reached);

/*
 * Of the instructions in `marks` (insns.len bytes) those that are the last marked one on some way
 * to `insn`, itself included; they are marked in `last` (zeroed by the caller). Returns false when
 * memory is out.
 */
bool flow_last(const struct ir_func *f, u32 insn, const u8 *marks, u8 *last);

/* Does this instruction write the register? */
bool flow_writes(const struct ir_func *f, u32 insn, u32 reg);

/*
 * Can the register hold a value before `insn`: is there a way from an instruction that writes it?
 * Parameters that are registers always can. Without memory the answer is yes.
 */
bool flow_may_be_set(const struct ir_func *f, const struct ir_module *m, u32 insn, u32 reg);

#endif
