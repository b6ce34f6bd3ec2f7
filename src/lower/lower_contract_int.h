/*
 * Products and the sums that they are contracted with: what lower_contract.c finds and
 * lower_contracted.c makes micro-ops of.
 */
#ifndef PL_LOWER_CONTRACT_INT_H
#define PL_LOWER_CONTRACT_INT_H

#include "src/lower/lower_int.h"

/* What an instruction computes in: its type and modifiers, without rounding. */
struct precision {
	u16 type;
	bool ftz, sat;
};

/* Sums; `minus_c` and `minus_ab` are EXEC_OPS when a negation of its own is needed. */
struct kind {
	struct precision in;
	enum row_class class;
	enum exec_op fma, minus_c, minus_ab, neg;
};

/* What makes products, and the operations for the factors when these are not the operands. */
struct source {
	enum isa_mnemonic opcode;
	enum isa_word with; /* .approx */
	struct precision in;
	enum exec_op a, b; /* b of the second operand, a of both */
};

/* A product that may go into sums. */
struct product {
	const struct source *source;
	u32 insn, reg;
	u32 uses;       /* operands that read it */
	bool barred;    /* something else than a sum reads it, or may */
	bool closed;    /* written anew before the block's end */
	bool fixed;     /* a factor is constant: sums may be in other blocks */
	bool copied;    /* a factor is written again before a sum */
	u32 fused;      /* sums it went into */
	u32 a, b;       /* rows of the factors, once it has been lowered */
	u32 reciprocal; /* of a divisor that is a number, else 0 */
};

/* A sum that may take one: its products by operand, and the one it takes. */
struct sum {
	u32 insn;
	const struct kind *kind;
	bool minus;
	u32 product[2];
	bool negated[2]; /* the product on its way there */
	u32 taken;       /* 0, 1: the operand; 2: none */
};

struct contract {
	/* By register. */
	bool *exposed;            /* read in a block before it is written there */
	bool *constant;           /* what was written into it, if once, is constant */
	u32 *defs, *reads;        /* how often, in the text */
	u32 *number;              /* mov that sets it to a number + 1, 0: none */
	bool *negated;            /* it holds the open product's negation */
	u32 *now, *written;       /* open product + 1; last instruction that wrote it + 1 */
	u32 *sum_of, *product_of; /* by instruction: index + 1; of a copy that of what it copies */
	VEC(u32) copies; /* registers that hold open products besides those of the products */
	VEC(struct product) products;
	VEC(struct sum) sums;
	size_t first_product; /* of the block */
	u32 first_insn;
};

#endif
