/*
 * Where a name leads that the preloaded library stands in front of. Private to it.
 */
#ifndef PL_LOADER_H
#define PL_LOADER_H

#include "src/base/base.h"

typedef void *dlsym_fn(void *handle, const char *name);

/* The C library's dlsym, NULL: it has none. */
dlsym_fn *loader_dlsym(void);
/*
 * The function of this name that `caller`, code of the program, would have got without us: in what
 * the process has in front, in what the caller's library was loaded with, or in any library. NULL:
 * there is none.
 */
void *loader_next(const void *caller, const char *name);

#endif
