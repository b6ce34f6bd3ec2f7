/*
 * What the files of the operand check share: what is checked, and values, whose rules are in
 * ir_check_value.c.
 */
#ifndef PL_IR_CHECK_INT_H
#define PL_IR_CHECK_INT_H

#include "src/ir/ir.h"

/* One instruction against one form. */
struct check {
	const struct ir_module *m;
	const struct ir_func *f;
	const struct isa_form *form;
	struct ir_mismatch *why;
};

/*
 * Writes the reason into c->why. Always false, so that a check can end in `return test ||
 * ir_unfit(...)`.
 */
bool ir_unfit(struct check *c, const char *fmt, ...) PL_PRINTF(2, 3);

/* Is v one of the constants that the row allows? Without ranges all are. */
bool ir_in_ranges(u32 first, u32 count, s64 v);
/*
 * May a register of type `reg` stand where `want` is expected by operand o? o may be NULL: an
 * argument of a call.
 */
bool ir_type_fits(u32 reg, u32 want, const struct isa_operand *o);
/* A register, constant or vector of them. */
bool ir_check_value(struct check *c, const struct isa_operand *o, const struct ir_operand *op);
/* A special register, or a component of one. */
bool ir_check_sreg(struct check *c, const struct isa_operand *o, const struct ir_operand *op);
/* The elements `first` .. end of a vector in braces, whatever their number. */
bool ir_check_elements(struct check *c, const struct isa_operand *o, const struct ir_operand *vec,
		       u32 first);

/* ---- ir_check_address.c ---- */

/* May memory of space `have` be addressed where the form has `want`? */
bool ir_space_has(u32 want, u32 have);
/* An address in a space. */
bool ir_check_base(struct check *c, const struct isa_operand *o, u32 space,
		   const struct ir_operand *op);
/* An address of tensor memory. */
bool ir_check_tmem(struct check *c, const struct isa_operand *o, const struct ir_operand *op);
/* Several parts in brackets: an object, coordinates, a tensor map. */
bool ir_check_compound(struct check *c, const struct isa_operand *o, const struct ir_operand *op);

#endif
