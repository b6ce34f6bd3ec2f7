/*
 * The names of the driver and of all versions of the runtime in the preloaded library: the loader
 * looks there before it looks into a libcudart or libcuda that it has found for a program.
 * preload.map has the versions.
 */
#include "runtime/names.h"

#define DRV(name, params, args, checks) DRV_NAME(name, params, args)
#include "runtime/cuda/driver.def"
#undef DRV

#define CUDART_MAJOR 11
#define LABEL(name) cudart11_##name
#define NAMED(name) __asm__(".symver cudart11_" #name ", " #name "@libcudart.so.11.0");
#include "runtime/cudart_names.inc"
#undef CUDART_MAJOR
#undef LABEL
#undef NAMED

#define CUDART_MAJOR 12
#define LABEL(name) cudart12_##name
#define NAMED(name) __asm__(".symver cudart12_" #name ", " #name "@libcudart.so.12");
#include "runtime/cudart_names.inc"
#undef CUDART_MAJOR
#undef LABEL
#undef NAMED

#define CUDART_MAJOR 13
#define LABEL(name) cudart13_##name
#define NAMED(name) __asm__(".symver cudart13_" #name ", " #name "@@libcudart.so.13");
#include "runtime/cudart_names.inc"
#undef CUDART_MAJOR
#undef LABEL
#undef NAMED
