/*
 * Words of CUDA C++ that are attributes: those of clang, or nothing where a host compiler reads the
 * runtime's interface. The version that these headers follow.
 */
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#define CUDART_VERSION 13000
#ifndef CUDA_VERSION
#define CUDA_VERSION 13000
#endif

#if defined(__CUDA__) && defined(__clang__)
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __managed__                                                                        \
	__attribute__((unavailable("clang has no __managed__ variables for CUDA; use cudaMallocManaged")))
#define __grid_constant__
#define __cluster_dims__(...)                                                              \
	__attribute__((unavailable("clang has no __cluster_dims__; use cudaLaunchKernelEx with the attribute")))
#define __device_builtin__
#define __device_builtin_texture_type__ __attribute__((device_builtin_texture_type))
#define __device_builtin_surface_type__ __attribute__((device_builtin_surface_type))
#else
#define __host__
#define __device__
#define __global__
#define __constant__
#define __launch_bounds__(...)
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#endif

#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define CUDARTAPI
#define CUDART_CB
#define CUDARTAPI_CDECL
#define CUDAAPI
#define CUDA_CB

#ifdef __cplusplus
#define PTXLOOM_API_BEGIN extern "C" {
#define PTXLOOM_API_END }
#define PTXLOOM_OR(value) = value
#else
#define PTXLOOM_API_BEGIN
#define PTXLOOM_API_END
#define PTXLOOM_OR(value)
#endif
#define __dv(value) PTXLOOM_OR(value)

#include <stdint.h>
typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;

#endif
