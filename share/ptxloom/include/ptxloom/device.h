/*
 * The device's side of CUDA C++ for clang: clang's own CUDA headers over libdevice.h, the built-in
 * variables, what kernels may call of the C library, atomics and the intrinsics that clang's
 * headers leave to the toolkit.
 */
#ifndef PTXLOOM_DEVICE_CODE_H
#define PTXLOOM_DEVICE_CODE_H

#include <assert.h>
#include <limits.h>
#include <limits>
#include <stdio.h>
#include <time.h>

/* clang's headers show more of themselves to the host's pass when it has an architecture too. */
#pragma push_macro("__CUDA_ARCH__")
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 9999
#endif

/*
 * What is inlined of these headers gets the line of the caller, so that faults name the user's.
 * Without optimisation, for a debugger, helpers are frames of their own.
 */
#ifdef __OPTIMIZE__
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))
#endif

#include "libdevice.h"
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>

/* ---- built-in variables ---- */

#define PTXLOOM_INDEX(name, sreg)                                                          \
	struct ptxloom_##name {                                                            \
		__declspec(property(get = get_x)) unsigned x;                              \
		__declspec(property(get = get_y)) unsigned y;                              \
		__declspec(property(get = get_z)) unsigned z;                              \
		__device__ __forceinline__ unsigned get_x() const                          \
		{                                                                          \
			return (unsigned)__nvvm_read_ptx_sreg_##sreg##_x();                \
		}                                                                          \
		__device__ __forceinline__ unsigned get_y() const                          \
		{                                                                          \
			return (unsigned)__nvvm_read_ptx_sreg_##sreg##_y();                \
		}                                                                          \
		__device__ __forceinline__ unsigned get_z() const                          \
		{                                                                          \
			return (unsigned)__nvvm_read_ptx_sreg_##sreg##_z();                \
		}                                                                          \
		__device__ __forceinline__ operator dim3() const                           \
		{                                                                          \
			return dim3(get_x(), get_y(), get_z());                            \
		}                                                                          \
		__device__ __forceinline__ operator uint3() const                          \
		{                                                                          \
			return uint3{get_x(), get_y(), get_z()};                           \
		}                                                                          \
	};                                                                                 \
	extern const __device__ __attribute__((weak)) ptxloom_##name name;

PTXLOOM_INDEX(threadIdx, tid)
PTXLOOM_INDEX(blockIdx, ctaid)
PTXLOOM_INDEX(blockDim, ntid)
PTXLOOM_INDEX(gridDim, nctaid)
#undef PTXLOOM_INDEX
__device__ const int warpSize = 32;

/* ---- the C library in kernels ---- */

extern "C" {
__device__ int vprintf(const char *format, const char *arguments);
__device__ int printf(const char *format, ...);
__device__ void free(void *p) __attribute__((nothrow));
__device__ void *malloc(size_t size) __attribute__((nothrow)) __attribute__((malloc));
__device__ void __assertfail(const char *condition, const char *file, unsigned line, const char *function,
			     size_t char_size);
__device__ static inline void __assert_fail(const char *condition, const char *file, unsigned line,
					    const char *function)
{
	__assertfail(condition, file, line, function, 1);
}
__device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);
}
namespace std
{
__device__ static inline void free(void *p) { ::free(p); }
__device__ static inline void *malloc(size_t size) { return ::malloc(size); }
}

#include "intrinsics.h"
#include "atomics.h"
#include "atomic_orders.h"

#pragma pop_macro("__CUDA_ARCH__")

#include <__clang_cuda_cmath.h>
#ifdef __OPTIMIZE__
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#endif
#include <__clang_cuda_intrinsics.h>
#ifdef __OPTIMIZE__
#pragma clang attribute pop
#endif
#include <__clang_cuda_complex_builtins.h>
#include <new>

#include "ordering.h"

#ifdef __OPTIMIZE__
#pragma clang attribute pop
#endif

#endif
