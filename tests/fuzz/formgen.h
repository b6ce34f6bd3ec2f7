/*
 * Kernels that execute one form of an instruction: every thread reads operands that suit their
 * types, executes a few variants of the statement (typed and wider registers, constants, negations,
 * selectors, a guard, a branch around it, the destination on top of a source) and writes all it
 * gives, predicates and the carry too. Text and operands follow from the spelling alone, so that
 * answers keep their meaning when the instruction table grows.
 */
#ifndef PL_TESTS_FORMGEN_H
#define PL_TESTS_FORMGEN_H

#include "src/base/vec.h"
#include "src/ir/ir.h"

#define FORMGEN_THREADS 2048u
#define FORMGEN_BLOCK 256u
#define FORMGEN_VARIANTS 8u
#define FORMGEN_SLOTS 64u
#define FORMGEN_TARGET "sm_90a"

/* What an input is besides its type. */
enum formgen_use {
	FORMGEN_VALUE,
	FORMGEN_GUARD,
	FORMGEN_MEMBERS,
	FORMGEN_SHUFFLE,
	FORMGEN_FEW,
	FORMGEN_MEMORY
};

struct formgen_slot {
	u8 type; /* T_ word */
	u8 use;  /* enum formgen_use */
};

struct formgen_form {
	const char *opcode, *name; /* the name says which of several rows is meant */
	const struct isa_form *form;
};

struct formgen_list {
	struct arena arena;
	VEC(struct formgen_form) forms;
};

#define FORMGEN_PARAM_BYTES 64u /* of random bytes: the kernel's third parameter */

/* A kernel's inputs and outputs are arrays of FORMGEN_THREADS 64-bit words, one after the other. */
struct formgen_kernel {
	struct formgen_slot in[FORMGEN_SLOTS];
	u32 ins, outs;
	u32 first_out[FORMGEN_VARIANTS + 1];
};

/*
 * The forms of the executed rows of registers that FORMGEN_TARGET has; of rows with more than
 * `limit` spellings a choice of so many. Call formgen_list_fini afterwards.
 */
void formgen_list_init(struct formgen_list *l, u32 limit);
/*
 * The one form with this name, as lists have it: an opcode, and the row in brackets if it is not
 * the first.
 */
void formgen_list_add(struct formgen_list *l, const char *name);
void formgen_list_fini(struct formgen_list *l);
/* Module head, then kernels "f<number>". Returns false: no variant of the form is legal. */
void formgen_head(struct text *out);
bool formgen_kernel(const struct formgen_form *f, u32 number, struct formgen_kernel *k,
		    struct text *out);
/* Fill ins * FORMGEN_THREADS words. */
void formgen_inputs(const struct formgen_form *f, const struct formgen_kernel *k, u64 *in);

/* ---- random numbers, shared with formgen_value.c ---- */

struct formgen_random {
	u64 state;
};

static inline u64 formgen_next(struct formgen_random *r)
{
	u64 z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static inline u32 formgen_below(struct formgen_random *r, u32 n)
{
	return (u32)((formgen_next(r) >> 32) * n >> 32);
}

static inline bool formgen_chance(struct formgen_random *r, u32 percent)
{
	return formgen_below(r, 100) < percent;
}

/* Bits of a value of a type: special ones, halfway cases, moderate ones, anything. */
u64 formgen_value(struct formgen_random *r, u32 type);
/* FNV-1a, for seeds and digests. */
u64 formgen_hash(const char *s);

#endif
