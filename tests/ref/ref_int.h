/*
 * Inside the reference engine: records, threads, warps, CTAs, and the decoder's state.
 *
 * A register is one u64 slot of the thread's frame (.b128: two, vectors: one or two per element).
 * Bits above the
 * register's type mean nothing: every handler cuts its operands to their type and extends its
 * result by its own.
 * Constants, the frame's local address and a place for unused results are slots too.
 */
#ifndef PL_REF_INT_H
#define PL_REF_INT_H

#include "src/base/map.h"
#include "tests/ref/ref.h"

struct ref_thread;
struct ref_insn;
struct ref_warp;

typedef const struct ref_insn *ref_handler(u64 *r, const struct ref_insn *in, struct ref_thread *t);
/*
 * An instruction executed by several lanes of a warp at once; `lanes` stand at records with this
 * function.
 */
typedef void ref_meeting(struct ref_warp *w, u32 lanes);

#define REF_NO_SLOT UINT32_MAX
#define REF_SLOT_FRAME 0u /* local address of the frame */
#define REF_SLOT_TRASH 1u /* results written to `_` */
#define REF_SLOT_PARAM 2u /* device address of the kernel parameters */
#define REF_SLOT_FIRST 3u
#define REF_SLICE (1 << 20)

struct ref_insn {
	ref_handler *run;
	u32 d, a, b, c; /* slots */
	union {
		s64 imm;
		const void *data; /* video modifiers, calls, meetings */
		ref_meeting *meet;
	};
	u64 mask;          /* memory: the address register's width */
	u32 mode;          /* numeric mode word, or what the handler makes of it */
	s32 jump;          /* branches: records from here */
	u32 ext;           /* first of further slots, in the program's list */
	u16 count;         /* of them */
	u8 size;           /* memory: bytes per element */
	u8 space;          /* memory: enum mem_space */
	u32 cache;         /* memory: allocation cache */
	u32 ir;            /* instruction of the function */
	bool is_signed;    /* memory: narrow loads */
	bool pair;         /* .b128 data: two slots an element */
	bool mode_is_slot; /* mode is the fourth source */
};

/* Where a parameter or result of a call lives. */
struct ref_place {
	bool in_frame;
	u32 at; /* slot, or offset in the frame */
	u32 bytes;
};

struct ref_list {
	struct ref_place *at;
	u32 len;
};

struct ref_call {
	u32 func; /* index, IR_NONE: by register */
	u32 slot;
	struct ref_list args, rets;
};

struct ref_func {
	const struct ir_func *ir;
	bool wanted, has_body;
	struct ref_insn *insn;
	u32 insns;
	u32 *first;    /* record of each instruction, and of the end */
	u32 slots;     /* of a frame */
	u32 consts_at; /* constants are the last slots */
	VEC(u64) consts;
	u32 frame_bytes; /* local variables and parameters */
	struct ref_list params, rets;
	u32 *reg_slot; /* by register */
};

struct ref_program {
	const struct ir_module *module;
	const struct ir_func *kernel;
	const u64 *var_address;
	struct ref_func *funcs; /* by index of the module */
	u32 func_len;
	/* by variable: address in its space, offset in the frame or in the parameters */
	u64 *var_at;
	VEC(u32) ext;
	u32 caches;
	u64 const_base; /* .const addresses are counted from here, as they may be kept in 32 bits */
	u32 shared_static;
	u32 param_bytes;
	const struct ref_row *rows;
	struct map row_index; /* by text, while decoding */
	struct arena arena;
	bool failed; /* out of memory */
};

enum ref_state {
	REF_READY,
	REF_BARRIER, /* at a CTA barrier */
	REF_MEETING, /* at an instruction of the warp */
	REF_EXITED,
};

struct ref_level {
	const struct ref_insn *back;
	const struct ref_call *call;
	const struct ref_func *func; /* the caller */
	u32 slots;                   /* of its frame */
	u32 stack;
};

struct ref_thread {
	u64 *r; /* current frame */
	const struct ref_insn *pc;
	s32 budget;
	u32 cc;   /* carry flag */
	u8 state; /* enum ref_state */
	u8 lane;
	u8 barrier;
	u32 barrier_out; /* bar.red: slot of the result, REF_NO_SLOT: none */
	u32 barrier_op;  /* M_popc, M_and, M_or */
	u8 *local;
	u32 stack; /* local memory in use */
	u32 depth;
	u64 *regs;
	u32 regs_cap;
	struct ref_level *level;
	u32 level_cap;
	const struct ref_func *func;
	struct ref_warp *warp;
	struct ref_cta *cta;
	u32 tid[3];
};

struct ref_warp {
	struct ref_thread *thread; /* of lane 0 */
	u32 live;                  /* lanes that exist and have not exited */
	u32 index;
};

struct ref_barrier {
	u32 want; /* threads, 0: all */
	u32 waiting;
	u32 extra;         /* arrivals of a lane that had arrived already */
	u32 sum, all, any; /* reduction */
	u32 *arrived;      /* lanes, by warp */
};

struct ref_cta {
	const struct ref_program *program;
	const struct ref_launch *launch;
	struct mem *mem;
	struct mem_cache *caches;
	struct fault *fault;
	u64 param_address;
	u8 *shared;
	u32 shared_bytes, local_bytes;
	u32 id[3];
	u32 threads, warps;
	struct ref_thread *thread;
	struct ref_warp *warp;
	struct ref_barrier barrier[16];
	u64 ticks; /* for clocks */
	bool faulted;
};

/*
 * Straight on to the next record. Branches return to the loop: unoptimised builds stay off the
 * stack.
 */
#define REF_NEXT return in[1].run(r, in + 1, t)
#define REF_STRAIGHT 512u /* records after which the loop is entered anyway */

/* ---- rows of scalar operations: ref_rows.c ---- */

struct ref_row {
	const char *text;
	/* any mode, mode 0, NUM_FTZ alone; the last two NULL when the row takes no mode */
	ref_handler *run[3];
	u8 operands; /* sources */
};

/* The table, built for any host and for hosts with fused multiply-add in hardware. */
const struct ref_row *ref_rows_base(u32 *n);
const struct ref_row *ref_rows_v3(u32 *n);
/* That for this host. */
const struct ref_row *ref_rows(u32 *n);
/*
 * The row of this text; `has_mode`: modifiers that make the mode word were taken out of the text.
 */
const struct ref_row *ref_row_find(const struct ref_program *p, const char *text, bool has_mode);

/* ---- handlers used by the decoder ---- */

#define REF_HANDLER(id)                                                                            \
	const struct ref_insn *ref_op_##id(u64 *r, const struct ref_insn *in, struct ref_thread *t)

REF_HANDLER(copy);
REF_HANDLER(add_imm);
REF_HANDLER(pick);
REF_HANDLER(pick_pair);
REF_HANDLER(invert);
REF_HANDLER(invert_pair);
REF_HANDLER(combine_and);
REF_HANDLER(combine_or);
REF_HANDLER(combine_xor);
REF_HANDLER(low_bit);
REF_HANDLER(high_bit);
REF_HANDLER(repack);
REF_HANDLER(lop3);
REF_HANDLER(nonzero);
REF_HANDLER(bfe_folded);
REF_HANDLER(video);
REF_HANDLER(video2);
REF_HANDLER(video4);
REF_HANDLER(vmad);
REF_HANDLER(minix4);
REF_HANDLER(isspacep);
REF_HANDLER(window);
REF_HANDLER(sreg);
REF_HANDLER(alloca);
REF_HANDLER(stacksave);
REF_HANDLER(stackrestore);
REF_HANDLER(load_slow);
REF_HANDLER(store_slow);
REF_HANDLER(atom);
REF_HANDLER(zero_fill);
REF_HANDLER(mapa);
REF_HANDLER(ctarank);

REF_HANDLER(bra);
REF_HANDLER(bra_back);
REF_HANDLER(bra_if);
REF_HANDLER(bra_if_back);
REF_HANDLER(bra_not);
REF_HANDLER(bra_not_back);
REF_HANDLER(brx);
REF_HANDLER(call);
REF_HANDLER(ret);
REF_HANDLER(exit);
REF_HANDLER(breath);
REF_HANDLER(nop);
REF_HANDLER(trap);
REF_HANDLER(poison);
REF_HANDLER(meet);
REF_HANDLER(bar_sync);
REF_HANDLER(bar_arrive);
REF_HANDLER(yield);

/* The load or store handler for one element of this size in this space. */
ref_handler *ref_load_handler(u32 space, u32 size, bool is_signed);
ref_handler *ref_store_handler(u32 space, u32 size);

ref_meeting ref_meet_shfl, ref_meet_vote, ref_meet_ballot, ref_meet_match, ref_meet_redux,
	ref_meet_activemask, ref_meet_elect, ref_meet_sync;

/* Enum shfl mode etc. in `mode` are the M_ words of the instruction. */

/* The lowest address of a .const variable. */
u64 ref_const_base(const struct ir_module *m, const u64 *address);

/* ---- faults and barriers: ref_run.c ---- */

struct ref_access {
	u64 addr;
	u32 size;
	u8 space;
	bool write;
};

/* Ends the launch. Returns NULL, so that handlers can return it. */
const struct ref_insn *ref_fault(struct ref_thread *t, const struct ref_insn *in,
				 enum fault_kind kind);
const struct ref_insn *ref_memory_fault(struct ref_thread *t, const struct ref_insn *in,
					enum fault_kind kind, struct ref_access a);
void ref_arrive(struct ref_thread *t, u32 barrier, u32 want, bool p);
/* A frame of the function from slot `at` on, its constants filled in. */
void ref_enter(struct ref_thread *t, const struct ref_func *f, u32 at);

/* Host address of device memory, NULL after a fault. */
u8 *ref_host(struct ref_thread *t, const struct ref_insn *in, struct ref_access a);

/* ---- decoding: ref_decode*.c ---- */

struct ref_builder {
	struct ref_program *p;
	struct ref_func *f;
	const struct ir_func *ir;
	const struct ir_insn *in;
	const struct ir_operand *op; /* of the instruction */
	const struct isa_form *form;
	VEC(struct ref_insn) insns;
	struct map consts; /* bits + 1 -> constant */
	u32 straight;      /* records since the loop was entered */
	u32 temps, temps_max;
	const char *why; /* set: the instruction cannot be run */
};

static inline bool ref_is(const struct ref_builder *b, u32 opcode)
{
	return isa_form_opcode(b->form) == opcode;
}

/* Append a record; fields not named are those of `x`. Returns its index. */
u32 ref_emit(struct ref_builder *b, struct ref_insn x);
u32 ref_const(struct ref_builder *b, u64 bits);
u32 ref_temp(struct ref_builder *b);
u32 ref_ext(struct ref_builder *b, u32 slot);
/* Slot of a scalar operand of this type, for reading (negation done) or writing. */
u32 ref_source(struct ref_builder *b, const struct ir_operand *op, u32 type);
u32 ref_dest(struct ref_builder *b, const struct ir_operand *op);
/* Slots of an operand's elements, one or two each; returns how many. */
u32 ref_elements(struct ref_builder *b, const struct ir_operand *op, u32 type, bool dest, u32 *out);
u32 ref_mode_of(const struct isa_form *form);

bool ref_decode_move(struct ref_builder *b);
bool ref_decode_compare(struct ref_builder *b);
bool ref_decode_video(struct ref_builder *b);
bool ref_decode_memory(struct ref_builder *b);
bool ref_decode_control(struct ref_builder *b);
bool ref_decode_warp(struct ref_builder *b);
bool ref_decode_misc(struct ref_builder *b);
bool ref_decode_row(struct ref_builder *b);

#endif
