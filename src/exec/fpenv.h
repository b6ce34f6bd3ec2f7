/*
 * The host's floating-point mode while kernels run: round to nearest, subnormals honoured, no
 * traps. A host program may have set another one (-ffast-math does), so code that runs micro-ops
 * enters and leaves.
 */
#ifndef PL_EXEC_FPENV_H
#define PL_EXEC_FPENV_H

#include "src/base/base.h"

#if defined(__SSE2__)
#include <xmmintrin.h>

#define FPENV_DEFAULT 0x1f80u
#define FPENV_FLAGS 0x3fu /* sticky exception flags: of no interest */

static inline u32 fpenv_enter(void)
{
	u32 old = _mm_getcsr();

	if ((old & ~FPENV_FLAGS) != FPENV_DEFAULT)
		_mm_setcsr(FPENV_DEFAULT);
	return old;
}

static inline void fpenv_leave(u32 old)
{
	if ((old & ~FPENV_FLAGS) != FPENV_DEFAULT)
		_mm_setcsr(old);
}
#else
#include <fenv.h>

static inline u32 fpenv_enter(void)
{
	u32 old = (u32)fegetround();

	fesetround(FE_TONEAREST);
	return old;
}

static inline void fpenv_leave(u32 old)
{
	fesetround((int)old);
}
#endif

#endif
