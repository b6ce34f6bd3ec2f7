/*
 * The names of the driver and of all versions of the runtime in the preloaded library: the loader looks there
 * before it looks into a libcudart or libcuda that it has found for a program. preload.map has the versions.
 */
#define DRV(name, state)                                                                           \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name ":\n"    \
		"\tjmp plentry_" #name "@PLT\n"                                                      \
		".size " #name ", . - " #name "\n");
#include "runtime/driver.def"
#undef DRV

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

#define MAJOR 11
#define LABEL(name) "cudart11_" #name
#define NAMED(name) ".symver cudart11_" #name ", " #name "@libcudart.so.11.0\n"
#define PICK(v11, v12, v13) #v11
#include "runtime/cudart_names.inc"
#undef MAJOR
#undef LABEL
#undef NAMED
#undef PICK

#define MAJOR 12
#define LABEL(name) "cudart12_" #name
#define NAMED(name) ".symver cudart12_" #name ", " #name "@libcudart.so.12\n"
#define PICK(v11, v12, v13) #v12
#include "runtime/cudart_names.inc"
#undef MAJOR
#undef LABEL
#undef NAMED
#undef PICK

#define MAJOR 13
#define LABEL(name) "cudart13_" #name
#define NAMED(name) ".symver cudart13_" #name ", " #name "@@libcudart.so.13\n"
#define PICK(v11, v12, v13) #v13
#include "runtime/cudart_names.inc"
#undef MAJOR
#undef LABEL
#undef NAMED
#undef PICK
