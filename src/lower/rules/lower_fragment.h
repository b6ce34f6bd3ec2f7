/*
 * Shared by the lowering of matrix instructions: shapes, types, what the device can, and operands
 * that are lists of registers.
 */
#ifndef PL_LOWER_FRAGMENT_H
#define PL_LOWER_FRAGMENT_H

#include "src/lower/lower_int.h"
#include "src/uop/matrix.h"

struct shape {
	u32 m, n, k;
};

/* False: the form has none. */
bool matrix_shape(const struct isa_form *form, struct shape *s);

/* enum mma_type of a PTX type; MMA_TYPES: none. */
u32 matrix_type(u32 type);

/* Has the device tensor cores for it? m 0: any shape of the type will do. */
bool matrix_has_shape(const struct arch *a, u32 type, const struct shape *s);

/* fp6 and fp4, and .kind: from compute capability 10 on. */
bool matrix_small_floats(const struct arch *a);

/* Volta: fragments are those of m8n8k4. */
bool matrix_octets(const struct arch *a);

/* Is the n-th layout of the form that word? */
bool matrix_layout(const struct isa_form *form, u32 n, u32 word);

/* The instruction becomes a fault, with a message that says why. */
void matrix_refuse(struct lower *l, const char *why);

/* False: a row that is only checked; the instruction is refused. */
bool matrix_runs(struct lower *l);

#define FRAGMENT_MAX 130u

struct fragment {
	u32 n, row[FRAGMENT_MAX];
	bool write;
};

/*
 * Rows of an operand; may emit conversions, so before the micro-op. False: it is not of that class.
 */
bool fragment_find(struct lower *l, const struct ir_operand *op, enum row_class class, bool write,
		   struct fragment *f);

/* Its rows, after those that the micro-op lists already. */
void fragment_add(struct lower *l, const struct fragment *f);

/*
 * Lanes that have diverged come together; a guard becomes a branch around, which matrix_end closes.
 */
u32 matrix_meet(struct lower *l);
void matrix_end(struct lower *l, u32 skip);

#endif
