/*
 * libcudart.so.N: the names programs link against, each a jump into the one runtime of the process.
 * Compiled once for every SONAME (CUDART_MAJOR 11, 12, 13); where a name means something else in one
 * of them it leads to the function for that version.
 */
#if CUDART_MAJOR == 11
#define PICK(v11, v12, v13) #v11
#elif CUDART_MAJOR == 12
#define PICK(v11, v12, v13) #v12
#else
#define PICK(v11, v12, v13) #v13
#endif

#define VERSIONED(name, v11, v12, v13)                                                             \
	__asm__(".set versioned_" #name ", 1\n.macro jump_" #name "\n\tjmp plentry_" PICK(            \
		v11, v12, v13) "@PLT\n.endm\n");
#include "runtime/versions.def"
#undef VERSIONED

#define RT(name, state)                                                                            \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name ":\n"    \
		".ifdef versioned_" #name "\n\tjump_" #name "\n"                                   \
		".else\n\tjmp plentry_" #name "@PLT\n.endif\n"                                        \
		".size " #name ", . - " #name "\n");
#include "runtime/runtime.def"
#undef RT
