/*
 * Names without a body yet: each returns "not supported" and names itself once per process.
 */
#include "runtime/rt.h"

#include <stdatomic.h>
#include <stdio.h>

#define NOT_SUPPORTED 801

/* cudaErrorNotSupported and CUDA_ERROR_NOT_SUPPORTED have the same number. */
static int not_supported(const char *name, atomic_flag *said)
{
	if (!atomic_flag_test_and_set(said))
		fprintf(stderr, "ptxloom: %s is not supported yet\n", name);
	return NOT_SUPPORTED;
}

#define BODY_IMPL(prefix, name)
#define BODY_STUB(prefix, name)                                                                    \
	RT_API int prefix##name(void);                                                             \
	int prefix##name(void)                                                                     \
	{                                                                                          \
		static atomic_flag said = ATOMIC_FLAG_INIT;                                        \
		return not_supported(#name, &said);                                                \
	}

#define RT(name, state) BODY_##state(plrt_, name)
#include "runtime/runtime.def"
#undef RT
#define DRV(name, state) BODY_##state(pldrv_, name)
#include "runtime/driver.def"
#undef DRV
