/*
 * Private to fault injection: which instructions have results that rules change, and where.
 */
#ifndef PL_RUNTIME_INJECT_GROUPS_H
#define PL_RUNTIME_INJECT_GROUPS_H

#include "runtime/inject.h"

/* The instruction that micro-op `pc` is of, and its function; NULL: of none. */
const struct ir_insn *inject_insn_at(const struct program *p, u32 pc, const struct ir_func **f);
/* The register that an operand writes, of a vector its n-th element; NULL: none. */
const struct ir_operand *inject_written(const struct ir_func *f, const struct ir_insn *in, u32 n);
u32 inject_register_bits(const struct ir_func *f, u32 reg);
bool inject_is_atomic(const struct ir_insn *in);
/* The address operand of an atomic, if it is one by a register. */
const struct ir_operand *inject_atomic_address(const struct ir_func *f, const struct ir_insn *in);
/* The micro-op that reads memory for the instruction; NULL: none does. */
const struct uop *inject_reader_of(const struct program *p, u32 pc);
/* The groups of the instruction that begins at micro-op `pc`: a bit for each enum inject_group. */
u8 inject_groups_of(const struct program *p, u32 pc);

#endif
