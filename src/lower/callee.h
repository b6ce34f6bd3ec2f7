/*
 * A function to be called from outside of a launch, by a debugger: it is lowered beside the kernel,
 * whose shared memory it finds where the launch has it.
 */
#ifndef PL_CALLEE_H
#define PL_CALLEE_H

#include "src/lower/lower.h"

/*
 * As exec_lower; `also` is a function with a body, of one of the units, that the kernel need not
 * reach. Both are in the program's funcs, the kernel as the first.
 */
struct program *exec_lower_callee(const struct ir_module *m, const struct ir_func *kernel,
				  const struct ir_func *also, const struct arch *arch,
				  const u64 *var_address, const struct lower_options *options,
				  struct diag *d);
/* Where a parameter or result of a device function is in its frame; of a program one_to_one. */
bool exec_formal_place(const struct program *p, const struct ir_var *v, u32 *at);

#endif
