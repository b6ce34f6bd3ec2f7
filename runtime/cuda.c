/*
 * libcuda.so.1: the driver's names, each a jump into the one runtime of the process.
 */
#define DRV(name, state)                                                                           \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name ":\n"    \
		"\tjmp plentry_" #name "@PLT\n"                                                      \
		".size " #name ", . - " #name "\n");
#include "runtime/driver.def"
#undef DRV
