/*
 * The CUDA types that our entry points take and fill, in our own declarations: layouts as the
 * binary interface has them. Sizes are checked in rt_device.c. Names follow CUDA so that signatures
 * read like the manual.
 */
#ifndef PL_CUDA_TYPES_H
#define PL_CUDA_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int cudaError_t;
typedef struct stream *cudaStream_t;
typedef struct stream_event *cudaEvent_t;

struct rt_dim3 {
	unsigned x, y, z;
};

enum {
	cudaSuccess = 0,
	cudaErrorInvalidValue = 1,
	cudaErrorMemoryAllocation = 2,
	cudaErrorInitializationError = 3,
	cudaErrorInvalidConfiguration = 9,
	cudaErrorInvalidSymbol = 13,
	cudaErrorInvalidDevicePointer = 17,
	cudaErrorInvalidMemcpyDirection = 21,
	cudaErrorInvalidDeviceFunction = 98,
	cudaErrorNoDevice = 100,
	cudaErrorInvalidDevice = 101,
	cudaErrorInvalidKernelImage = 200,
	cudaErrorNoKernelImageForDevice = 209,
	cudaErrorInvalidPtx = 218,
	cudaErrorInvalidResourceHandle = 400,
	cudaErrorSymbolNotFound = 500,
	cudaErrorNotReady = 600,
	cudaErrorLaunchOutOfResources = 701,
	cudaErrorLaunchFailure = 719,
	cudaErrorNotSupported = 801,
	cudaErrorUnknown = 999,
};

enum {
	cudaMemcpyHostToHost,
	cudaMemcpyHostToDevice,
	cudaMemcpyDeviceToHost,
	cudaMemcpyDeviceToDevice,
	cudaMemcpyDefault
};

/* Sizes of cudaDeviceProp by major version; its fields are in prop.def. */
#define PROP11_BYTES 728
#define PROP12_BYTES 1032
#define PROP13_BYTES 1008

/* The fat binary's wrapper, as a program registers it. */
struct fat_wrapper {
	uint32_t magic, version;
	const void *fatbin;
	void **prelinked;
};

#endif
