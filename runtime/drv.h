/*
 * The driver interface. Private to runtime/.
 */
#ifndef PL_DRV_H
#define PL_DRV_H

#include "runtime/rt.h"

/* A context: which device the calls of a thread go to. */
struct drv_context {
	int device;
	struct drv_context *below; /* current when this one was created */
};

/* Device of the current context, opened. On failure NULL and the error in *status. */
struct rt_device *drv_device(int *status);

#endif
