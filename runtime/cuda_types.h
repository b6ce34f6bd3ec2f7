/*
 * The CUDA types that our entry points take and fill, in our own declarations: layouts as the
 * binary interface has them. Sizes are checked in rt_device.c. Names follow CUDA so that signatures
 * read like the manual.
 */
#ifndef PL_CUDA_TYPES_H
#define PL_CUDA_TYPES_H

#include "src/dev/memory/memory.h"

#include <stddef.h>
#include <stdint.h>

typedef int cudaError_t;
typedef struct stream *cudaStream_t;
typedef struct stream_event *cudaEvent_t;

struct rt_dim3 {
	unsigned x, y, z;
};

struct rt_extent { /* cudaExtent */
	size_t width, height, depth;
};

struct rt_pitched { /* cudaPitchedPtr */
	void *ptr;
	size_t pitch, xsize, ysize;
};

struct channel_desc { /* cudaChannelFormatDesc */
	int bits[4], kind;
};

/* CUipcMemHandle, CUipcEventHandle and their twins: what they say is src/dev's. */
struct rt_ipc_handle {
	u8 bytes[64];
};

/*
 * Functions of the program: cudaHostFn_t, cudaStreamCallback_t, cudaLogsCallback_t and
 * CUoccupancyB2DSize.
 */
typedef void rt_host_fn(void *user);
typedef void rt_stream_callback(void *stream, int status, void *user);
typedef void rt_log_callback(void *user, int level, char *message, size_t len);
typedef size_t rt_block_to_shared(int threads);

/* The number of an address that the program has as a pointer: the same in both address spaces. */
static inline u64 rt_address(const void *p)
{
	return (u64)(uintptr_t)p;
}

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
