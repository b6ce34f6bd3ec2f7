/*
 * Compiled runs, inside.
 */
#ifndef PL_TIER_INT_H
#define PL_TIER_INT_H

#include "src/tier/tier.h"

/* Of a program. */
struct tier {
	const struct program *program;
	const struct exec_ops *ops;
	u64 work;
	struct uop *uop; /* NULL: runs have not been looked for */
	struct tier_run *runs;
	u32 run_len;
	u32 *run_of; /* by micro-op */
	struct tier_live *live;
	struct tier_code **code; /* all that was made: gangs may be in any */
	u32 code_len;
	bool counted; /* among `programs` */
	bool waits;   /* in the queue */
	struct tier *next;
};

/* ---- tier.c ---- */

enum tier_choice tier_chosen(void);

/* ---- tier_compile.c ---- */

void tier_set_state(struct tier_run *r, enum tier_state s);
enum tier_state tier_state_of(const struct tier_run *r);
/* From now on gangs interpret it without a look. */
void tier_leave_run(struct tier *t, struct tier_run *r);
/* Leave all runs to it that wait for code. */
void tier_leave_waiting(struct tier *t);
/* Code for some runs that wait for it, or none for good. False: none did. One thread at a time. */
bool tier_compile_some(struct tier *t);

/* ---- tier_plan.c ---- */

/*
 * The runs of a program, one after the other in `runs`, which the caller frees. Returns how many;
 * 0 also when memory is short.
 */
struct tier_live;
u32 tier_plan(const struct program *p, const struct tier_live *l, struct tier_run **runs);
/* Does every CTA of a launch find the same value for all lanes in the row? */
bool tier_is_uniform(const struct tier_live *l, u32 row);
/* May anything read the row after micro-op pc, before it is written? */
struct tier_live *tier_live_new(const struct program *p);
void tier_live_free(struct tier_live *l);
bool tier_live_after(const struct tier_live *l, u32 pc, u32 row);

/* ---- tier_emit.c ---- */

/* Can a compiled run contain the micro-op? */
bool tier_supports(const struct program *p, const struct uop *in);
/*
 * Go through the run as emission does, and fill in its accesses, and the rows that addresses are
 * made of. False: there are too many of them.
 */
bool tier_study(const struct program *p, const struct tier_live *l, struct tier_run *r);
/* What the name of the function tier_run.spans has beyond that of tier_run.code */
#define TIER_SPANS "_spans"
/*
 * The run as functions of LLVM's language, named `name`, for a compiler of this kind. Says in the
 * run whether it has two.
 */
bool tier_emit(const struct program *p, const struct tier_live *live, struct tier_run *r,
	       const char *name, bool opaque, struct text *out);

/* ---- tier_llvm.c ---- */

/* Is the library there? Loads it at the first call. */
bool tier_llvm_ready(void);
/* Do pointers have no type, in its language? */
bool tier_llvm_opaque(void);
/*
 * Compile a module for a level of the host. Returns what holds the code, NULL: it cannot be
 * compiled, for a reason in `why`.
 */
struct tier_code *tier_llvm_compile(const char *text, size_t len, struct text *why);
tier_function *tier_llvm_function(struct tier_code *c, const char *name);
void tier_llvm_free(struct tier_code *c);

#endif
