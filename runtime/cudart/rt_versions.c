/*
 * Functions of the runtimes of CUDA 11 and 12 that 13 has under other names only.
 */
#include "runtime/rt.h"

#define FORWARD(name, params, call)                                                                \
	RT_FN(name, params)                                                                        \
	{                                                                                          \
		return plrt_##call;                                                                \
	}

/* ---- devices: names from before CUDA 4 that 12 still has ---- */

FORWARD(cudaThreadSetLimit, (int limit, size_t value), cudaDeviceSetLimit(limit, value))
FORWARD(cudaThreadGetLimit, (size_t * value, int limit), cudaDeviceGetLimit(value, limit))
FORWARD(cudaThreadSetCacheConfig, (int config), cudaDeviceSetCacheConfig(config))
FORWARD(cudaThreadGetCacheConfig, (int *config), cudaDeviceGetCacheConfig(config))
