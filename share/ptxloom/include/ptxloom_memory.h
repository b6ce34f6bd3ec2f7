/*
 * Memory of the runtime interface beyond the plainest: pinned and registered memory, pitched rows,
 * what a pointer is, stream order. Included by cuda_runtime.h.
 */
#ifndef PTXLOOM_MEMORY_H
#define PTXLOOM_MEMORY_H

enum cudaMemoryType {
	cudaMemoryTypeUnregistered,
	cudaMemoryTypeHost,
	cudaMemoryTypeDevice,
	cudaMemoryTypeManaged,
};

struct cudaPointerAttributes {
	enum cudaMemoryType type;
	int device;
	void *devicePointer, *hostPointer;
	long reserved[8];
};

#define cudaHostAllocDefault 0
#define cudaHostAllocPortable 1
#define cudaHostAllocMapped 2
#define cudaHostAllocWriteCombined 4
#define cudaHostRegisterDefault 0
#define cudaHostRegisterPortable 1
#define cudaHostRegisterMapped 2

extern "C" {
cudaError_t cudaHostAlloc(void **out, size_t size, unsigned flags);
cudaError_t cudaHostRegister(void *p, size_t size, unsigned flags);
cudaError_t cudaHostUnregister(void *p);
cudaError_t cudaHostGetDevicePointer(void **out, void *p, unsigned flags);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p);
cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
			 size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMallocAsync(void **out, size_t size, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream);
}

template <class T> static inline cudaError_t cudaHostAlloc(T **out, size_t size, unsigned flags)
{
	return cudaHostAlloc((void **)(void *)out, size, flags);
}
template <class T>
static inline cudaError_t cudaMallocPitch(T **out, size_t *pitch, size_t width, size_t height)
{
	return cudaMallocPitch((void **)(void *)out, pitch, width, height);
}
template <class T>
static inline cudaError_t cudaMallocAsync(T **out, size_t size, cudaStream_t stream)
{
	return cudaMallocAsync((void **)(void *)out, size, stream);
}

#endif
