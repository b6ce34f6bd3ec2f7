/*
 * libcuda.so.1: the driver's names, each a jump into the one runtime of the process.
 */
#include "runtime/names.h"

#define DRV(name, params, args, checks) DRV_NAME(name, params, args)
#include "runtime/cuda/driver.def"
#undef DRV
