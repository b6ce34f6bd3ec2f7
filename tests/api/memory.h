/*
 * What the tests of memory use of both interfaces, in our own declarations, and a kernel.
 */
#ifndef PL_TEST_API_MEMORY_H
#define PL_TEST_API_MEMORY_H

#include "tests/check.h"

#include <stddef.h>
#include <stdint.h>

struct pitched {
	void *ptr;
	size_t pitch, xsize, ysize;
};

struct extent {
	size_t width, height, depth;
};

struct pos {
	size_t x, y, z;
};

struct copy_3d {
	void *src_array;
	struct pos src_pos;
	struct pitched src;
	void *dst_array;
	struct pos dst_pos;
	struct pitched dst;
	struct extent extent;
	int kind;
};

struct pointer {
	int type, device;
	void *device_pointer, *host_pointer;
	long reserved[8];
};

struct location {
	int type, id;
};

struct ipc {
	char bytes[64];
};

struct pool_props {
	int alloc_type, handle_types;
	struct location location;
	void *security;
	size_t max_bytes;
	unsigned short usage;
	unsigned char reserved[54];
};

struct access {
	struct location location;
	int flags;
};

struct physical_props {
	int type, handle_types;
	struct location location;
	void *security;
	unsigned char flags[8];
};

enum { TO_HOST = 2, TO_DEVICE = 1, ON_DEVICE = 3, ANYWHERE = 4 };

int cudaGetLastError(void);
int cudaSetDevice(int);
int cudaDeviceReset(void);
int cudaDeviceSynchronize(void);
int cudaMalloc(void *, size_t);
int cudaMallocPitch(void *, size_t *, size_t, size_t);
int cudaMalloc3D(struct pitched *, struct extent);
int cudaMallocManaged(void *, size_t, unsigned);
int cudaHostAlloc(void *, size_t, unsigned);
int cudaMallocHost(void *, size_t);
int cudaFree(void *);
int cudaFreeHost(void *);
int cudaHostRegister(void *, size_t, unsigned);
int cudaHostUnregister(void *);
int cudaHostGetFlags(unsigned *, void *);
int cudaHostGetDevicePointer(void *, void *, unsigned);
int cudaMemGetInfo(size_t *, size_t *);
int cudaPointerGetAttributes(struct pointer *, const void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
int cudaMemcpyPeer(void *, int, const void *, int, size_t);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemcpy3D(const struct copy_3d *);
int cudaMemset(void *, int, size_t);
int cudaMemset2D(void *, size_t, int, size_t, size_t);
int cudaMemset3D(struct pitched, int, struct extent);
int cudaMemAdvise(const void *, size_t, int, struct location);
int cudaMemPrefetchAsync(const void *, size_t, struct location, unsigned, void *);
int cudaMemRangeGetAttribute(void *, size_t, int, const void *, size_t);
int cudaDeviceCanAccessPeer(int *, int, int);
int cudaDeviceEnablePeerAccess(int, unsigned);
int cudaDeviceDisablePeerAccess(int);
int cudaStreamCreateWithFlags(void *, unsigned);
int cudaStreamDestroy(void *);
int cudaStreamSynchronize(void *);
int cudaStreamQuery(void *);
int cudaMallocAsync(void *, size_t, void *);
int cudaMallocFromPoolAsync(void *, size_t, void *, void *);
int cudaFreeAsync(void *, void *);
int cudaDeviceGetDefaultMemPool(void *, int);
int cudaMemPoolCreate(void *, const struct pool_props *);
int cudaMemPoolDestroy(void *);
int cudaMemPoolGetAttribute(void *, int, void *);
int cudaMemPoolSetAttribute(void *, int, void *);
int cudaMemPoolTrimTo(void *, size_t);
int cudaMemPoolSetAccess(void *, const struct access *, size_t);
int cudaMemPoolGetAccess(int *, void *, struct location *);
int cudaMemPoolExportToShareableHandle(void *, void *, int, unsigned);
int cudaMemPoolImportFromShareableHandle(void *, void *, int, unsigned);
int cudaMemPoolExportPointer(void *, void *);
int cudaMemPoolImportPointer(void *, void *, void *);
int cudaIpcGetMemHandle(struct ipc *, void *);
int cudaIpcOpenMemHandle(void *, struct ipc, unsigned);
int cudaIpcCloseMemHandle(void *);
int cudaMallocArray(void *, const void *, size_t, size_t, unsigned);
int cudaFreeArray(void *);
int cudaMemcpy2DToArray(void *, size_t, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemcpy2DFromArray(void *, size_t, const void *, size_t, size_t, size_t, size_t, int);

int cuInit(unsigned);
int cuModuleLoadData(void *, const void *);
int cuModuleUnload(void *);
int cuModuleGetFunction(void *, void *, const char *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		   void *, void **, void **);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuMemFree_v2(uint64_t);
int cuMemGetAddressRange_v2(uint64_t *, size_t *, uint64_t);
int cuPointerGetAttribute(void *, int, uint64_t);
int cuPointerGetAttributes(unsigned, int *, void **, uint64_t);
int cuMemcpyHtoD_v2(uint64_t, const void *, size_t);
int cuMemcpyDtoH_v2(void *, uint64_t, size_t);
int cuMemcpy(uint64_t, uint64_t, size_t);
int cuMemsetD16_v2(uint64_t, unsigned short, size_t);
int cuMemsetD2D32_v2(uint64_t, size_t, unsigned, size_t, size_t);
int cuMemAddressReserve(uint64_t *, size_t, size_t, uint64_t, unsigned long long);
int cuMemAddressFree(uint64_t, size_t);
int cuMemCreate(uint64_t *, size_t, const struct physical_props *, unsigned long long);
int cuMemRelease(uint64_t);
int cuMemMap(uint64_t, size_t, size_t, uint64_t, unsigned long long);
int cuMemUnmap(uint64_t, size_t);
int cuMemSetAccess(uint64_t, size_t, const struct access *, size_t);
int cuMemGetAccess(unsigned long long *, const struct location *, uint64_t);
int cuMemGetAllocationGranularity(size_t *, const struct physical_props *, int);
int cuMemRetainAllocationHandle(uint64_t *, void *);
int cuMemExportToShareableHandle(void *, uint64_t, int, unsigned long long);
int cuMemImportFromShareableHandle(uint64_t *, void *, int);

/* add(p, n, v): p[i] += v for i < n; spin(flag): until it is not 0. */
static const char memory_ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry add(.param .u64 p, .param .u32 n, .param .u32 v)\n{\n"
	" .reg .u64 %d<3>; .reg .u32 %r<7>; .reg .pred %q;\n"
	" ld.param.u64 %d0, [p]; ld.param.u32 %r0, [n]; ld.param.u32 %r1, [v];\n"
	" mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
	" mad.lo.u32 %r5, %r2, %r3, %r4; setp.ge.u32 %q, %r5, %r0; @%q ret;\n"
	" mad.wide.u32 %d1, %r5, 4, %d0; ld.global.u32 %r6, [%d1]; add.u32 %r6, %r6, %r1;\n"
	" st.global.u32 [%d1], %r6; ret;\n}\n"
	".visible .entry spin(.param .u64 flag)\n{\n"
	" .reg .u64 %d; .reg .u32 %r; .reg .pred %q;\n ld.param.u64 %d, [flag];\n"
	"L: ld.volatile.global.u32 %r, [%d]; setp.eq.u32 %q, %r, 0; @%q bra L; ret;\n}\n";

static inline int memory_add(void *module, void *p, unsigned n, unsigned v, void *stream)
{
	void *f, *args[] = {&p, &n, &v};
	int status = cuModuleGetFunction(&f, module, "add");

	return status ? status
		      : cuLaunchKernel(f, (n + 255) / 256, 1, 1, 256, 1, 1, 0, stream, args, NULL);
}

#endif
