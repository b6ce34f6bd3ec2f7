/*
 * libcupti.so.N: the names programs link against. Compiled once for every soname.
 */
#include "runtime/cupti/cupti.h"
#include "runtime/names.h"

#define CUPTI(name, params, args)                                                                  \
	PUBLIC int name params;                                                                    \
	PUBLIC int name params                                                                     \
	{                                                                                          \
		return plrt_##name args;                                                           \
	}
#define CUPTI_NONE(name)                                                                           \
	PUBLIC int name(void);                                                                     \
	PUBLIC int name(void)                                                                      \
	{                                                                                          \
		return CUPTI_ERROR_NOT_SUPPORTED;                                                  \
	}
#include "runtime/cupti/cupti.def"
