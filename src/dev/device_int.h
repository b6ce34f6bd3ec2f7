/*
 * Private to src/dev: a launch under way.
 */
#ifndef PL_DEV_DEVICE_INT_H
#define PL_DEV_DEVICE_INT_H

#include "src/dev/device.h"

/* A launch under way. Its parameter block lies in device memory and is kept for the next launch. */
struct device_flight {
	struct device_flight *next;
	struct device *dev;
	struct device_kernel *kernel;
	const struct program *program;
	device_done *done;
	void *user;
	u64 params; /* address, 0: none yet */
	u32 params_cap;
	u64 grid_id;
};

#endif
