/*
 * The scalar reference engine: runs a kernel one thread at a time, straight from the IR.
 *
 * It exists to be compared with: as the second opinion of the gang engine (nothing of lowering,
 * register rows, masks or
 * handlers is shared, only the exact numeric primitives), and as the speed of an ordinary
 * interpreter. A thread runs
 * until it ends or has to wait for others: at a CTA barrier, or at an instruction that the lanes of
 * a warp execute
 * together. CTAs run one after the other, so a grid whose CTAs wait for each other does not end
 * here (FAULT_TIMEOUT).
 *
 * Not run here, FAULT_UNSUPPORTED: matrix, tensor, texture, asynchronous copy and mbarrier
 * instructions, clusters of more
 * than one CTA, device-side library calls.
 */
#ifndef PL_REF_H
#define PL_REF_H

#include "src/exec/exec.h"

struct ref_launch {
	const struct ir_module
		*module; /* linked in itself: every function called has its body here */
	const struct ir_func *kernel;
	const struct arch *arch;
	struct mem *mem;
	/* address of each .global and .const variable, by index; others are not read */
	const u64 *var_address;
	const void *params; /* kernel parameters as laid out in memory */
	u32 grid[3], block[3];
	u32 dynamic_shared; /* bytes */
	u32 local_bytes;    /* local memory per thread, 0: 512 KiB at most, as needed */
	u64 max_slices;     /* slices of 2^20 backward branches until FAULT_TIMEOUT; 0: 4096 */
	u64 grid_id;
};

/* Decoded kernels may be launched many times: decode once, run, free. */
struct ref_program;

/* NULL when memory is out. Instructions that cannot be run fault when executed. */
struct ref_program *ref_decode(const struct ir_module *m, const struct ir_func *kernel,
			       const u64 *var_address);
void ref_program_free(struct ref_program *p);
/*
 * Returns false with the fault filled in. l->module, kernel and var_address are those of the
 * program.
 */
bool ref_run(const struct ref_program *p, const struct ref_launch *l, struct fault *fault);

/* All three in one. */
bool ref_launch(const struct ref_launch *l, struct fault *fault);

/*
 * Put the module's .global and .const variables into device memory, initialised. `address` has one
 * entry per variable
 * of the module and gets their addresses. Function addresses are 1 + the index of the function.
 * Returns false when
 * device memory is out.
 */
bool ref_place_variables(const struct ir_module *m, struct mem *mem, u64 *address);
/* Bytes of the parameters of a function and the offset of each (offsets may be NULL). */
u32 ref_param_layout(const struct ir_module *m, const struct ir_func *f, u32 *offsets);

#endif
