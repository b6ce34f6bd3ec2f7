/*
 * Handlers without the check of global addresses against allocations, for the measurement of what
 * it costs: included before a handler file. Compiled as level v4 is, one file at a time as there,
 * since compilers place code otherwise when they see more of it.
 */
#ifndef PL_TESTS_BENCH_UNCHECKED_H
#define PL_TESTS_BENCH_UNCHECKED_H

#include "src/mem/mem.h"

#define mem_cache_hit(cache, address, size) ((void)(cache), (void)(address), (void)(size), true)
#define EXEC_NAME(x) x##_unchecked
#define EXEC_LEVEL_TEXT "unchecked"

#endif
