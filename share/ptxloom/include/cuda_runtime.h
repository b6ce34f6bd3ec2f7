/*
 * CUDA C++ for clang without NVIDIA's toolkit: the language's attributes, built-in variables and vector types, device functions
 * that are one instruction or a few, and the runtime functions that ptxloom implements. Used by `ptxloom cc`.
 * Programs that include the toolkit's header of the same name under nvcc compile unchanged as far as they use what is here.
 */
#ifndef PTXLOOM_CUDA_RUNTIME_H
#define PTXLOOM_CUDA_RUNTIME_H

#ifndef __CUDA__
#error "compile with `ptxloom cc`, or with clang -x cuda"
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define PTXLOOM_FN static __device__ __forceinline__

/* ---- vector types ---- */

#define PTXLOOM_VECTOR(type, name)                                                       \
	struct name##1 { type x; };                                                          \
	struct __attribute__((aligned(2 * sizeof(type)))) name##2 { type x, y; };            \
	struct name##3 { type x, y, z; };                                                    \
	struct __attribute__((aligned(4 * sizeof(type) < 16 ? 4 * sizeof(type) : 16))) name##4 { type x, y, z, w; }; \
	static __host__ __device__ inline name##1 make_##name##1(type x) { return name##1{x}; }  \
	static __host__ __device__ inline name##2 make_##name##2(type x, type y) { return name##2{x, y}; } \
	static __host__ __device__ inline name##3 make_##name##3(type x, type y, type z) { return name##3{x, y, z}; } \
	static __host__ __device__ inline name##4 make_##name##4(type x, type y, type z, type w) { return name##4{x, y, z, w}; }

PTXLOOM_VECTOR(signed char, char)
PTXLOOM_VECTOR(unsigned char, uchar)
PTXLOOM_VECTOR(short, short)
PTXLOOM_VECTOR(unsigned short, ushort)
PTXLOOM_VECTOR(int, int)
PTXLOOM_VECTOR(unsigned, uint)
PTXLOOM_VECTOR(long long, longlong)
PTXLOOM_VECTOR(unsigned long long, ulonglong)
PTXLOOM_VECTOR(float, float)
PTXLOOM_VECTOR(double, double)

struct dim3 {
	unsigned x, y, z;
	__host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
	__host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
	__host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

/* ---- built-in variables ---- */

#define PTXLOOM_INDEX(name, sreg)                                                                              \
	struct ptxloom_##name {                                                                                    \
		__declspec(property(get = get_x)) unsigned x;                                                          \
		__declspec(property(get = get_y)) unsigned y;                                                          \
		__declspec(property(get = get_z)) unsigned z;                                                          \
		__device__ __forceinline__ unsigned get_x() const { return (unsigned)__nvvm_read_ptx_sreg_##sreg##_x(); } \
		__device__ __forceinline__ unsigned get_y() const { return (unsigned)__nvvm_read_ptx_sreg_##sreg##_y(); } \
		__device__ __forceinline__ unsigned get_z() const { return (unsigned)__nvvm_read_ptx_sreg_##sreg##_z(); } \
		__device__ __forceinline__ operator dim3() const { return dim3(get_x(), get_y(), get_z()); }           \
		__device__ __forceinline__ operator uint3() const { return uint3{get_x(), get_y(), get_z()}; }         \
	};                                                                                                         \
	extern const __device__ __attribute__((weak)) ptxloom_##name name;

PTXLOOM_INDEX(threadIdx, tid)
PTXLOOM_INDEX(blockIdx, ctaid)
PTXLOOM_INDEX(blockDim, ntid)
PTXLOOM_INDEX(gridDim, nctaid)
#define warpSize 32

/* ---- synchronisation and warps ---- */

PTXLOOM_FN void __syncwarp(unsigned mask = 0xffffffff) { __nvvm_bar_warp_sync(mask); }
PTXLOOM_FN int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
PTXLOOM_FN int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
PTXLOOM_FN int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
PTXLOOM_FN void __threadfence_block() { __nvvm_membar_cta(); }
PTXLOOM_FN void __threadfence() { __nvvm_membar_gl(); }
PTXLOOM_FN void __threadfence_system() { __nvvm_membar_sys(); }
PTXLOOM_FN unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }
PTXLOOM_FN int __all_sync(unsigned mask, int p) { return __nvvm_vote_all_sync(mask, p); }
PTXLOOM_FN int __any_sync(unsigned mask, int p) { return __nvvm_vote_any_sync(mask, p); }
PTXLOOM_FN unsigned __activemask()
{
	unsigned m;

	asm volatile("activemask.b32 %0;" : "=r"(m));
	return m;
}

#define PTXLOOM_SHUFFLE(name, op, clamp)                                                       \
	PTXLOOM_FN int name(unsigned mask, int v, int b, int width = 32)                           \
	{                                                                                          \
		return __nvvm_shfl_sync_##op##_i32(mask, v, b, ((32 - width) << 8) | clamp);           \
	}                                                                                          \
	PTXLOOM_FN unsigned name(unsigned mask, unsigned v, int b, int width = 32)                 \
	{                                                                                          \
		return (unsigned)name(mask, (int)v, b, width);                                         \
	}                                                                                          \
	PTXLOOM_FN float name(unsigned mask, float v, int b, int width = 32)                       \
	{                                                                                          \
		return __nvvm_shfl_sync_##op##_f32(mask, v, b, ((32 - width) << 8) | clamp);           \
	}

PTXLOOM_SHUFFLE(__shfl_sync, idx, 0x1f)
PTXLOOM_SHUFFLE(__shfl_up_sync, up, 0)
PTXLOOM_SHUFFLE(__shfl_down_sync, down, 0x1f)
PTXLOOM_SHUFFLE(__shfl_xor_sync, bfly, 0x1f)

/* ---- atomics ---- */

PTXLOOM_FN int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
PTXLOOM_FN unsigned atomicAdd(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_add_gen_i((int *)p, (int)v); }
PTXLOOM_FN unsigned long long atomicAdd(unsigned long long *p, unsigned long long v)
{
	return (unsigned long long)__nvvm_atom_add_gen_ll((long long *)p, (long long)v);
}
PTXLOOM_FN float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
PTXLOOM_FN double atomicAdd(double *p, double v) { return __nvvm_atom_add_gen_d(p, v); }
PTXLOOM_FN int atomicMin(int *p, int v) { return __nvvm_atom_min_gen_i(p, v); }
PTXLOOM_FN unsigned atomicMin(unsigned *p, unsigned v) { return __nvvm_atom_min_gen_ui(p, v); }
PTXLOOM_FN int atomicMax(int *p, int v) { return __nvvm_atom_max_gen_i(p, v); }
PTXLOOM_FN unsigned atomicMax(unsigned *p, unsigned v) { return __nvvm_atom_max_gen_ui(p, v); }
PTXLOOM_FN int atomicExch(int *p, int v) { return __nvvm_atom_xchg_gen_i(p, v); }
PTXLOOM_FN unsigned atomicExch(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_xchg_gen_i((int *)p, (int)v); }
PTXLOOM_FN int atomicCAS(int *p, int c, int v) { return __nvvm_atom_cas_gen_i(p, c, v); }
PTXLOOM_FN unsigned atomicCAS(unsigned *p, unsigned c, unsigned v)
{
	return (unsigned)__nvvm_atom_cas_gen_i((int *)p, (int)c, (int)v);
}
PTXLOOM_FN int atomicOr(int *p, int v) { return __nvvm_atom_or_gen_i(p, v); }
PTXLOOM_FN int atomicAnd(int *p, int v) { return __nvvm_atom_and_gen_i(p, v); }
PTXLOOM_FN int atomicXor(int *p, int v) { return __nvvm_atom_xor_gen_i(p, v); }

/* ---- arithmetic that is one instruction ---- */

PTXLOOM_FN float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
PTXLOOM_FN double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
PTXLOOM_FN float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
PTXLOOM_FN float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
PTXLOOM_FN double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
PTXLOOM_FN float fabsf(float x) { return __nvvm_fabs_f(x); }
PTXLOOM_FN double fabs(double x) { return __nvvm_fabs_d(x); }
PTXLOOM_FN float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
PTXLOOM_FN float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
PTXLOOM_FN float floorf(float x) { return __nvvm_floor_f(x); }
PTXLOOM_FN float ceilf(float x) { return __nvvm_ceil_f(x); }
PTXLOOM_FN float __sinf(float x) { return __nvvm_sin_approx_f(x); }
PTXLOOM_FN float __cosf(float x) { return __nvvm_cos_approx_f(x); }
PTXLOOM_FN float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.4426950408889634f); }
PTXLOOM_FN float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.6931471805599453f; }
PTXLOOM_FN float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
PTXLOOM_FN int __popc(unsigned x) { return __builtin_popcount(x); }
PTXLOOM_FN int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
PTXLOOM_FN int __ffs(int x) { return __builtin_ffs(x); }
PTXLOOM_FN float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
PTXLOOM_FN int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
PTXLOOM_FN long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }

template <class T> static __host__ __device__ inline T min(T a, T b) { return b < a ? b : a; }
template <class T> static __host__ __device__ inline T max(T a, T b) { return a < b ? b : a; }

/* ---- the runtime ---- */

enum cudaError_t {
	cudaSuccess = 0,
	cudaErrorInvalidValue = 1,
	cudaErrorMemoryAllocation = 2,
	cudaErrorInvalidConfiguration = 9,
	cudaErrorInvalidDeviceFunction = 98,
	cudaErrorNoDevice = 100,
	cudaErrorInvalidDevice = 101,
	cudaErrorInvalidResourceHandle = 400,
	cudaErrorIllegalState = 401,
	cudaErrorNotReady = 600,
	cudaErrorIllegalAddress = 700,
	cudaErrorLaunchOutOfResources = 701,
	cudaErrorLaunchTimeout = 702,
	cudaErrorAssert = 710,
	cudaErrorIllegalInstruction = 715,
	cudaErrorMisalignedAddress = 716,
	cudaErrorLaunchFailure = 719,
	cudaErrorNotPermitted = 800,
	cudaErrorNotSupported = 801,
	cudaErrorStreamCaptureUnsupported = 900,
	cudaErrorStreamCaptureInvalidated = 901,
	cudaErrorStreamCaptureMerge = 902,
	cudaErrorStreamCaptureUnmatched = 903,
	cudaErrorStreamCaptureUnjoined = 904,
	cudaErrorStreamCaptureIsolation = 905,
	cudaErrorStreamCaptureImplicit = 906,
	cudaErrorCapturedEvent = 907,
	cudaErrorStreamCaptureWrongThread = 908,
	cudaErrorGraphExecUpdateFailure = 910,
};
typedef cudaError_t cudaError;

enum cudaMemcpyKind {
	cudaMemcpyHostToHost,
	cudaMemcpyHostToDevice,
	cudaMemcpyDeviceToHost,
	cudaMemcpyDeviceToDevice,
	cudaMemcpyDefault,
};

#define cudaMemAttachGlobal 1

#include "ptxloom_stream.h"

extern "C" {
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaDeviceGetAttribute(int *value, int attr, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaMalloc(void **out, size_t size);
cudaError_t cudaMallocManaged(void **out, size_t size, unsigned flags = cudaMemAttachGlobal);
cudaError_t cudaMallocHost(void **out, size_t size);
cudaError_t cudaFree(void *p);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemcpy(void *dst, const void *src, size_t size, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size, cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemset(void *dst, int value, size_t size);
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t stream = 0);
cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t n);
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t n,
				cudaStream_t stream = 0);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t size, size_t offset = 0,
			       cudaMemcpyKind kind = cudaMemcpyHostToDevice);
cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t size, size_t offset = 0,
				 cudaMemcpyKind kind = cudaMemcpyDeviceToHost);
}

template <class T> static inline cudaError_t cudaMalloc(T **out, size_t size)
{
	return cudaMalloc((void **)(void *)out, size);
}
template <class T> static inline cudaError_t cudaMallocManaged(T **out, size_t size, unsigned flags = cudaMemAttachGlobal)
{
	return cudaMallocManaged((void **)(void *)out, size, flags);
}
template <class T> static inline cudaError_t cudaMallocHost(T **out, size_t size)
{
	return cudaMallocHost((void **)(void *)out, size);
}

#include "ptxloom_texture.h"
#include "ptxloom_memory.h"

#endif
