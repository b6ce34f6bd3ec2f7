/*
 * Functions of the program that expressions call. Private to src/debugger.
 */
#ifndef PL_DEBUGGER_CALL_H
#define PL_DEBUGGER_CALL_H

#include "src/base/vec.h"
#include "src/dbg/value.h"

#include <pthread.h>

struct debugger;
struct device_program;
struct program;

/* A function that was lowered beside a kernel. */
struct callee {
	const struct device_program *owner;
	const struct ir_func *kernel, *function;
	struct program *program; /* owned */
	u32 index;               /* of the function in it */
};

struct calls {
	bool on;          /* one is under way: its lane alone is there, in the function */
	const char *name; /* of it */
	u32 lane;
	pthread_t thread;
	VEC(struct callee) callees;
	VEC(void *) results; /* what the command that runs has made; owned */
};

/* struct dbg_target, call. */
bool call_function(void *user, const struct dbg_context *c, const char *name,
		   const struct dbg_value *args, u32 n, struct dbg_value *out, struct text *why);
/* A program goes; NULL: all do. */
void calls_forget(struct debugger *x, const struct device_program *owner);
/* Results of the command before are not needed any more. */
void calls_drop_results(struct debugger *x);

#endif
