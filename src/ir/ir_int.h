/*
 * What the files of src/ir share among themselves.
 */
#ifndef PL_IR_INT_H
#define PL_IR_INT_H

#include "src/ir/ir.h"

/* Bytes of one element of a variable's type; opaque types are handles of 8 bytes. */
static inline u64 ir_element_bytes(const struct ir_var *v)
{
	return isa_type_class(v->type) == ISA_OPAQUE ? 8 : max_u64(isa_type_bits(v->type) / 8, 1);
}

/* Alignment when none is written: the size of an element, of a vector as a whole. */
static inline u32 ir_natural_align(const struct ir_var *v)
{
	return (u32)(isa_type_class(v->type) == ISA_OPAQUE ? 8 : ir_element_bytes(v) * v->vec);
}

/* The initial value after the `=` of a variable that has one. */
void ir_print_init(const struct ir_module *m, const struct ir_var *v, struct text *out);
void ir_print_section(const struct ir_section *s, struct text *out);
/* One operand as PTX, without the `|` or `,` before it. */
void ir_print_operand(const struct ir_module *m, const struct ir_func *f,
		      const struct ir_operand *op, struct text *out);
/* The opcode with its modifiers, in the order of the row: the same row matches it again. */
void ir_print_opcode(const struct isa_form *form, struct text *out);
/* The statement of a poison instruction, NULL for others. */
const struct ir_poison *ir_find_poison(const struct ir_func *f, const struct ir_insn *in);

#endif
