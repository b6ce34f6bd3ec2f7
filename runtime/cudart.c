/*
 * libcudart.so.N: the names programs link against. Compiled once for every SONAME (CUDART_MAJOR 11, 12, 13).
 */
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define MAJOR CUDART_MAJOR
#define LABEL(name) #name
#define NAMED(name)

#if CUDART_MAJOR == 11
#define PICK(v11, v12, v13) #v11
#elif CUDART_MAJOR == 12
#define PICK(v11, v12, v13) #v12
#else
#define PICK(v11, v12, v13) #v13
#endif

#include "runtime/cudart_names.inc"
