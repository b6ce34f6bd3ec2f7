/*
 * Lowering: from a kernel of linked modules to a program of micro-ops for one device profile and
 * gang size; what is asked of programs and of addresses of functions that stand in them.
 */
#ifndef PL_LOWER_H
#define PL_LOWER_H

#include "src/exec/program.h"

/*
 * One of the modules that were linked. An address of a function is the same in all programs lowered
 * from the same list: see exec_function_address.
 */
struct exec_unit {
	const struct ir_module *module;
	/* of every variable of the module; of its definition for .extern ones */
	const u64 *var_address;
};

struct exec_extern; /* a function the API layer provides to device code: src/host/syscall.h */

/* Which sites of a program count lanes. All have a place among the program's counts. */
enum lower_count {
	LOWER_COUNT_NONE = 0,
	LOWER_COUNT_BLOCKS = 1,
	LOWER_COUNT_CHOICES = 2, /* of predicates and indices */
	/* for each instruction, in places of their own: struct program_insn */
	LOWER_COUNT_INSNS = 4,
	LOWER_CACHE_HINTS = 8, /* no counts: what instructions say about caches is told */
};

struct lower_options {
	const struct exec_unit
		*units; /* all linked modules, the kernel's among them; NULL: the kernel's alone */
	u32 unit_len;
	const struct exec_extern *externs; /* ends with a NULL name; NULL: none */
	/*
	 * Which functions of the host a kernel may call: names with commas between, or "all"; NULL:
	 * none. PTX can call these with any arguments.
	 */
	const char *host_functions;
	u32 warps;       /* per CTA, for the gang size; 0: 8 */
	bool one_to_one; /* rows for every register, for debugging: no colouring, no fusion */
	bool no_fusion;
	bool check; /* for tests: do the tables of micro-ops say which rows each has? */
	/*
	 * Shared variables lie at distances from each other, so that accesses between them can be
	 * noticed; the program remembers where, in `extents`. shared_static is as without.
	 */
	bool apart;
	/*
	 * Each call of a function of the toolkit's headers has a copy of its own, as far as there
	 * are not too many, so that a micro-op tells which line of the user's it was called at.
	 */
	bool copies;
	bool bounds;   /* accesses beyond objects of local memory are reported, as overruns */
	u8 counts;     /* enum lower_count: count lanes at these sites (sites.h) */
	bool stable;   /* results depend on no order of CTAs: lower_turns.c */
	bool contract; /* unrounded products and sums become fused ones, as on hardware */
};

/*
 * Lower a kernel. `var_address` gives the address of every module variable in its state space, by
 * index; the module must be linked. Returns NULL with a message on `d` when the kernel cannot be
 * run at all.
 */
struct program *exec_lower(const struct ir_module *m, const struct ir_func *kernel,
			   const struct arch *arch, const u64 *var_address,
			   const struct lower_options *options, struct diag *d);
void exec_program_free(struct program *p);
/* What a kernel has before it runs. */
struct exec_needs {
	u32 shared_static; /* those of what it may call, too */
	u32 frame_bytes;   /* of the kernel itself */
};
/* The same numbers as in its program, without lowering what it calls. False: no memory. */
bool exec_measure(const struct ir_module *m, const struct ir_func *kernel, const struct arch *arch,
		  const u64 *var_address, const struct lower_options *options,
		  struct exec_needs *out);
/*
 * Where the constant state space begins: the lowest address of a .const variable. Addresses in the
 * space are offsets from it, so that they fit in 32-bit registers; generic ones are device
 * addresses. 0: there are none.
 */
u64 exec_const_base(const struct exec_unit *units, u32 n);
/*
 * The value that stands for a function (of the unit's module, by index) in registers and memory; 0
 * when it is defined in no unit. This is what a relocation with is_func stores, its addend added.
 */
u64 exec_function_address(const struct exec_unit *units, u32 n, u32 unit, u32 func);
/* And back, kernels included; NULL: no function has this address. */
const struct ir_func *exec_function_at(const struct exec_unit *units, u32 n, u64 address);
/*
 * Local memory that a thread may have. Source: CUDA C++ Programming Guide, "Technical
 * Specifications per Compute Capability".
 */
#define EXEC_LOCAL_MAX (512u * 1024)
/* Do the threads of the program need no more local memory than there can be? */
bool exec_local_fits(const struct program *p);
/*
 * Local memory each thread needs: what frames take, and `stack_limit` (cudaLimitStackSize) more for
 * recursion and alloca. Frames here are not the hardware's, so the limit is counted fourfold: what
 * fits there fits here.
 */
u32 exec_local_bytes(const struct program *p, u64 stack_limit);
/* What an address of exec_variable_place counts from. */
enum exec_base {
	EXEC_IN_SHARED,
	EXEC_IN_PARAMS, /* of the kernel */
	EXEC_IN_FRAME,  /* of the variable's function, in local memory */
	EXEC_IN_STACK,  /* after that frame */
	EXEC_IN_MEMORY, /* a device address */
};
struct exec_place {
	enum exec_base base;
	u64 at;
};
/*
 * Where a variable of a unit lies in a program that was lowered one to one, or apart: shared ones
 * then. False: it has no memory
 * here.
 */
bool exec_variable_place(const struct program *p, const struct ir_var *v, struct exec_place *out);

#endif
