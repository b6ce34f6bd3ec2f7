/*
 * A lowered program: micro-ops and what is known of them, made by lowering (src/lower/lower.h), run
 * by the engine (exec.h).
 */
#ifndef PL_EXEC_PROGRAM_H
#define PL_EXEC_PROGRAM_H

#include "src/arch/arch.h"
#include "src/ir/ir.h"
#include "src/uop/uop.h"

/*
 * What micro-ops have counted at one place: UOP_COUNT. Those of a block count its lanes; those of a
 * predicate, lanes for which it is true; those of an index, lanes with its value. All zero: none
 * has come by. Sums, a union and a maximum: the order in which counts are added does not matter.
 */
struct exec_count {
	u64 lanes;
	u64 warps;   /* groups of lanes that came by together, of one warp, with such a lane */
	u64 all;     /* those of them all of whose lanes counted; of a block: all 32 */
	u64 others;  /* of a predicate: lanes for which it is false */
	u64 none;    /* and groups without a lane for which it is true */
	u32 mask;    /* numbers of lanes that counted */
	u32 missing; /* the most lanes of a warp that did not, when some did */
};

void exec_count_add(struct exec_count *to, const struct exec_count *from);

/* A value that fills a row before the program starts. */
struct program_const {
	u32 row;  /* byte offset */
	u8 class; /* enum row_class */
	u64 bits;
};

/*
 * An instruction that micro-ops run, of a program that counts those, and its counts: of the lanes
 * that come to it, which several in a row may share, and of those that its guard lets through.
 */
struct program_insn {
	u32 func, ir; /* as of struct uop */
	u32 lanes;
	u32 guard; /* NO_COUNT: it has none */
};

#define NO_COUNT UINT32_MAX

struct program_func {
	const struct ir_module *module;
	const struct ir_func *func;
	u32 first, end;       /* micro-ops */
	u32 count_at, counts; /* its counts among the program's, in the order of its sites */
	u32 frame_bytes; /* local memory of one activation, what recursive calls save included */
	u32 save_at;     /* where in the frame they save it */
	u32 signature;   /* of result and parameters: what an indirect call has to expect */
	/* Of a function with a copy for each call (lower.h): where this is called. NULL: by all */
	const struct program_func *caller;
	u32 caller_insn;      /* by number in the caller */
	u32 return_row;       /* W row: micro-op to return to; unused for the kernel, as the next */
	u32 return_frame_row; /* W row: the caller's frame */
	/*
	 * Lowered one_to_one, else NULL: where the function's registers are. Those of register r
	 * are part_row[reg_part[r]] and on, one for each element of a vector and each 64 bits, as
	 * row | class; NO_ROW: nothing uses it.
	 */
	const u32 *reg_part, *part_row;
};

/* Why an instruction became one that faults. */
struct program_note {
	u32 pc;
	const char *text;
};

/*
 * A linked module, and where what lowering has placed of its variables lies: exec_variable_place.
 */
struct program_unit {
	const struct ir_module *module;
	const u64 *var_address; /* as of struct exec_unit */
	const u32 *offset;      /* by variable; IR_NONE: the program has no place for it */
	const u8 *in_stack;     /* the offset is from the end of the frame */
};

/* A shared variable of a program that is lowered with distances between them. */
struct program_extent {
	u32 at, bytes;
	const struct ir_var *var;
};

struct program_extern; /* a function outside the modules: src/host/syscall.h */

/*
 * A kernel lowered for one device profile and gang size. Constant while it runs; shared by all
 * workers.
 */
struct program {
	const struct arch *arch;
	struct uop *uop;
	u32 uops;
	u32 launch_first; /* micro-ops from here on run once for each launch, in storage of a CTA */
	u32 *ext;
	u32 exts;
	struct program_const *consts;
	u32 const_len;
	struct program_func *funcs;
	u32 func_len;
	u32 gang;        /* warps per gang */
	u32 block_bytes; /* register block of a gang */
	u32 affines;     /* values that launches look at: affine.h */
	u32 affine_at;   /* where in the block what they find is kept, of the gang and of the CTA */
	u32 wides, wide_at; /* those of 64 bits, of the gang alone */
	bool may_be_idle;   /* worth asking exec_cta_idle */
	u32 preds_at;       /* where predicate rows begin in the block; each takes 64 bytes */
	/* a row for results of diverged gangs (diverged.h); 0: gangs do not run diverged */
	u32 diverged_at;
	u64 fixed_preds; /* bit n: the nth is the same for the launch */
	u32 cache_slots;
	u32 counts; /* struct exec_count that UOP_COUNT add to; 0: nothing is counted */
	struct program_insn *insns; /* in the order of their micro-ops before fusion */
	u32 insn_len;               /* 0: instructions are not counted */
	/*
	 * The count of lanes that a fault has stopped, at micro-op `missing` - 1: what stands
	 * behind it has been counted with it.
	 */
	u32 cut_at;
	u32 shared_static; /* bytes */
	u32 param_bytes;
	u32 frame_row;    /* W row: local stack offset of each lane's activation */
	u32 stack_row;    /* W row: end of it, where the next one begins */
	u32 frame_bytes;  /* of the kernel itself */
	u32 frame_align;  /* frames begin at multiples of it */
	u32 stack_factor; /* one_to_one, with recursion: how much larger frames are for it */
	u64 stack_bytes; /* local memory of a thread, every function of a call cycle counted once */
	u64 local_bytes; /* the most .local variables that one function has take */
	bool has_calls; /* or uses the stack otherwise: frame and stack rows are set for each CTA */
	bool has_cycles;  /* a function may call itself, directly or not */
	bool prints;      /* calls vprintf */
	bool reads_clock; /* %clock, %globaltimer and the like */
	bool polls;       /* has loops that may wait for other threads, not just for a clock */
	bool moves_stack; /* alloca */
	/* stable ones: has OP_in_order; CTAs may see what others are doing to global memory */
	bool in_order, meets;
	bool uses_reserved; /* shared memory kept for the system */
	/* number of a function's address -> index in funcs, IR_NONE: not part of this program */
	u32 *address_func;
	u32 address_len;
	struct program_extern *externs;
	u32 extern_len;
	struct program_note *notes; /* by pc */
	u32 note_len;
	u64 thread_insns;       /* estimate for one thread, for the choice where to run */
	const u64 *var_address; /* address of each module variable in its space, by index */
	const struct program_unit *units; /* one_to_one, apart, counted; NULL: not kept */
	u32 unit_len;
	/* by place; NULL: shared variables follow each other. And where the dynamic part begins */
	const struct program_extent *extents;
	u32 extent_len, shared_end;
	struct arena arena;
	void *tier; /* src/tier/tier.c; NULL: no run of it was ever compiled */
};

/* The function of a program at this address, NULL: the program does not know it. */
const struct program_func *exec_program_function(const struct program *p, u64 address);
/* Why the micro-op is one that faults, NULL: it is not, or for no special reason. */
const char *exec_program_note(const struct program *p, u32 pc);
/* Micro-ops as text, one a line, for tests and --dump. */
void exec_dump_program(const struct program *p, struct text *out);

#endif
