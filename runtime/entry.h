/*
 * What stands in front of some functions: the checks whose order programs can see. Private to runtime/.
 */
#ifndef PL_ENTRY_H
#define PL_ENTRY_H

#include "src/base/base.h"

/* A call as its entry point got it: what registers hold, and the arguments behind the sixth. */
struct entry_call {
	const u64 *in_register, *on_stack;
};

/*
 * Run the checks of one function. True: the call is over and *status its answer. `checks` is a row's
 * text in entry.def.
 */
bool entry_check(const char *checks, const struct entry_call *call, int *status);

#endif
