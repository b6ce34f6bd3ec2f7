/*
 * Functions that a debugger calls, of loaded programs.
 */
#ifndef PL_DEV_CALLEE_H
#define PL_DEV_CALLEE_H

#include "src/dev/device.h"

/*
 * Lower a device function for calls beside a kernel of the program (src/lower/callee.h), for one
 * warp. Both have a body; the kernel is of this unit. The caller owns the program, which may be
 * used as long as `p` is loaded; NULL with a message on `d`.
 */
struct program *device_callee_lower(const struct device_program *p, u32 unit,
				    const struct ir_func *kernel, const struct ir_func *function,
				    struct diag *d);

#endif
