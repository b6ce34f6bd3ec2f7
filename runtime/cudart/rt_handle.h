/*
 * Handles: what programs get for modules, libraries, kernels, contexts and linkers. They share one
 * pool, so that any value a program passes can be checked without being read.
 */
#ifndef PL_RT_HANDLE_H
#define PL_RT_HANDLE_H

#include "src/base/base.h"

enum rt_handle_kind {
	RT_HANDLE_FREE,
	RT_HANDLE_CONTEXT,   /* struct rt_context */
	RT_HANDLE_MODULE,    /* struct drv_module */
	RT_HANDLE_LIBRARY,   /* struct rt_image */
	RT_HANDLE_FUNCTION,  /* struct rt_function */
	RT_HANDLE_LINK,      /* struct drv_link */
	RT_HANDLE_EXTERNAL,  /* struct external_memory */
	RT_HANDLE_GREEN,     /* struct drv_green */
	RT_HANDLE_RESOURCES, /* what a green context is to have */
};

/* First member of everything that is a handle. */
struct rt_handle {
	u32 kind;
};

#define RT_HANDLE_BYTES 184u

/* Zeroed storage of RT_HANDLE_BYTES, its kind set. NULL: no memory, or too many are in use. */
void *rt_handle_new(enum rt_handle_kind kind);
/* p is a handle in use. */
void rt_handle_free(void *p);
/* Any value may be asked about. */
bool rt_handle_is(const void *p, enum rt_handle_kind kind);
/* Call visit for every handle of this kind; it may free the one it is given, and make none. */
void rt_handle_each(enum rt_handle_kind kind, void (*visit)(void *handle, void *user), void *user);

#endif
