/*
 * For the libraries of names that programs link against. A name is no more than a jump to its entry
 * point, which may inspect where it was called from: nothing is to stand between, whatever the
 * build (local.mk compiles them with calls at the end made jumps).
 */
#ifndef PL_NAMES_H
#define PL_NAMES_H

#include "runtime/entry.h"

#define PUBLIC RT_API __attribute__((no_sanitize("address", "thread", "undefined")))

/* The driver's. */
#define DRV_NAME(name, params, args)                                                               \
	PUBLIC int name params;                                                                    \
	PUBLIC int name params                                                                     \
	{                                                                                          \
		return plentry_##name args;                                                        \
	}

#endif
