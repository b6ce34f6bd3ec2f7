/*
 * CUDA C++ for clang without NVIDIA's toolkit, and the CUDA runtime's interface for host compilers.
 * `ptxloom cc` includes this before every .cu file, as nvcc does its own; the parts lie beside it
 * and in ptxloom/. The language's device library is built from clang's own CUDA headers and our
 * libdevice.h.
 */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include "host_defines.h"

#if defined(__CUDA__) && defined(__clang__)
/* Device overloads must be declared before the C++ library's headers use the names. */
#include <__clang_cuda_math_forward_declares.h>
#ifndef __CUDACC__
#define __CUDACC__
#endif
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_EXTENDED_LAMBDA__ 1
#include <cmath>
#include <cstdlib>
#include <stdlib.h>
#include <string.h>
#endif

#include "vector_types.h"
#include "cuda_runtime_api.h"
#include "vector_functions.h"

#ifdef __cplusplus
#include "ptxloom/runtime_cxx.h"
#endif

#if defined(__CUDA__) && defined(__clang__)
#include "ptxloom/device.h"
#include "ptxloom/textures.h"
#endif

#endif
