/* One variant of a statement in the making; private to formgen*.c. */
#ifndef PL_TESTS_FORMGEN_INT_H
#define PL_TESTS_FORMGEN_INT_H

#include "tests/fuzz/formgen.h"

#include <stdio.h>

/* Where an operand in brackets lies. */
enum formgen_space {
	FORMGEN_GLOBAL,
	FORMGEN_READ_ONLY,
	FORMGEN_SHARED,
	FORMGEN_LOCAL,
	FORMGEN_CONST,
	FORMGEN_PARAM,
	FORMGEN_BARRIER,
	FORMGEN_SPACES
};

#define FORMGEN_PLACE 64u /* bytes of memory that a thread has in each */

struct maker {
	const struct formgen_form *f;
	struct formgen_kernel *k;
	struct formgen_random r;
	u32 variant, regs;
	u32 outs;
	u32 dest, dest_type, outs_of_dest; /* the first result's register and its type */
	struct text before, operands, after;
	u8 space[FORMGEN_SPACES]; /* how many places of each kind the statement has */
	u32 vector;               /* register type of a vector's elements */
	u32 bytes;                /* that a barrier has to wait for */
};

/* The next input of this type; the same for all variants, as they are made in the same order. */
u32 formgen_input(struct maker *m, u32 *next, u32 type, enum formgen_use use);
void formgen_load(struct maker *m, u32 reg, u32 have, u32 slot);
void formgen_store(struct maker *m, u32 reg, u32 have);
u32 formgen_declare(struct maker *m, u32 have);
bool formgen_operands(struct maker *m, u32 *next);
static inline bool formgen_starts(const struct isa_row *row, const char *text)
{
	return !strncmp(row->name[0], text, strlen(text));
}

/* ---- formgen_place.c ---- */

/* Instructions of memory that a thread can run on memory of its own. */
bool formgen_is_memory(const struct isa_row *row);
bool formgen_address(struct maker *m, const struct isa_operand *o, u32 *next);
/* A value that only some numbers or registers may be; false: it is an ordinary one. */
bool formgen_special(struct maker *m, const struct isa_operand *o, u32 type, u32 *next);
/* What must be done before and after such an instruction. */
void formgen_prepare(struct maker *m, struct text *out);
void formgen_finish(struct maker *m, struct text *out);

#endif
