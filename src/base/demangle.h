/*
 * C++ names as people write them. The demangler is that of the C++ library, where there is one:
 * ptxloom itself is not linked with it.
 */
#ifndef PL_DEMANGLE_H
#define PL_DEMANGLE_H

#include "src/base/text.h"

/* Could demangle() have something to do? */
bool demangle_wants(const char *name);

/*
 * Look for a demangler, once. It may call the loader, so no thread that holds the loader's lock may
 * be waiting for the caller: call it where programs are loaded, not where faults are reported.
 */
void demangle_prepare(void);

/*
 * Add "scale(float*, int)" for "_Z5scalePfi"; other names, and all before demangle_prepare, as they
 * are.
 */
void demangle(const char *name, struct text *out);

/*
 * The same for people: of names of more than 200 letters "..." stands for what is in brackets, as
 * deep inside as suffices: "void cutlass::device_kernel<Gemm<...>>(Gemm<...>::Params)".
 */
void demangle_short(const char *name, struct text *out);

#endif
