/*
 * libcudart.so.N: the names programs link against. Compiled once for every SONAME (CUDART_MAJOR 11,
 * 12, 13).
 */
#include "runtime/names.h"

#define LABEL(name) name
#define NAMED(name)

#include "runtime/cudart_names.inc"
