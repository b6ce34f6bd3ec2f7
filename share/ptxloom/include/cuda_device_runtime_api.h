/* Declarations of the runtime; clang launches no kernels from kernels. */
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#include "cuda_runtime.h"

#endif
