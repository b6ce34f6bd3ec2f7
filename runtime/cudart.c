/*
 * libcudart.so.N: the names programs link against, each a jump into the one runtime of the process.
 * Compiled once for every SONAME (CUDART_MAJOR 11, 12, 13); where a structure differs between
 * versions the name leads to the function for it.
 */
/* cudaGetDeviceProperties of 11 and 12 fills the layout of 11; programs of 12 call the _v2 name. */
#if CUDART_MAJOR == 13
#define PROPERTIES "plrt_cudaGetDeviceProperties"
#else
#define PROPERTIES "plrt_cudaGetDeviceProperties_11"
#endif

#define RT(name, state)                                                                            \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name ":\n"    \
		".ifc " #name ",cudaGetDeviceProperties\n\tjmp " PROPERTIES "@PLT\n"               \
		".else\n\tjmp plrt_" #name "@PLT\n.endif\n"                                        \
		".size " #name ", . - " #name "\n");
#include "runtime/runtime.def"
#undef RT
