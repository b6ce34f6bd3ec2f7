/*
 * Handles: what programs get for modules, libraries, kernels, contexts and linkers. They live in one
 * reserved range in slots of one size, so that any value a program passes can be checked without
 * being read: one outside the range, between slots, of another kind or freed is no handle.
 */
#ifndef PL_HANDLE_H
#define PL_HANDLE_H

#include "src/base/base.h"

enum handle_kind {
	HANDLE_FREE,
	HANDLE_CONTEXT,  /* struct rt_context */
	HANDLE_MODULE,   /* struct drv_module */
	HANDLE_LIBRARY,  /* struct rt_image */
	HANDLE_FUNCTION, /* struct rt_function */
	HANDLE_LINK,     /* struct drv_link */
};

/* First member of everything that is a handle. */
struct handle {
	u32 kind;
	u32 next_free;
};

#define HANDLE_BYTES 128u

/* Zeroed storage of HANDLE_BYTES, its kind set. NULL: no memory, or too many are in use. */
void *handle_new(enum handle_kind kind);
/* p is a handle in use. */
void handle_free(void *p);
/* Any value may be asked about. */
bool handle_is(const void *p, enum handle_kind kind);
/* Call visit for every handle of this kind; it may free the one it is given, and make none. */
void handle_each(enum handle_kind kind, void (*visit)(void *handle, void *user), void *user);

#endif
