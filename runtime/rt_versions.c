/*
 * Functions of the runtimes of CUDA 11 and 12 that 13 has under other names only.
 */
#include "runtime/rt.h"

int plrt_cudaDeviceSetLimit(int limit, size_t value);
int plrt_cudaDeviceGetLimit(size_t *value, int limit);
int plrt_cudaDeviceSetCacheConfig(int config);
int plrt_cudaDeviceGetCacheConfig(int *config);

#define FORWARD(name, params, call)                                                                \
	RT_API cudaError_t plrt_##name params;                                                     \
	RT_API cudaError_t plrt_##name params                                                      \
	{                                                                                          \
		return plrt_##call;                                                                \
	}

/* ---- devices: names from before CUDA 4 that 12 still has ---- */

FORWARD(cudaThreadSetLimit, (int limit, size_t value), cudaDeviceSetLimit(limit, value))
FORWARD(cudaThreadGetLimit, (size_t *value, int limit), cudaDeviceGetLimit(value, limit))
FORWARD(cudaThreadSetCacheConfig, (int config), cudaDeviceSetCacheConfig(config))
FORWARD(cudaThreadGetCacheConfig, (int *config), cudaDeviceGetCacheConfig(config))
