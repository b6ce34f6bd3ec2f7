/*
 * Private to lowering: micro-ops with virtual rows, which lower_rows.c turns into byte offsets.
 *
 * A virtual row ("vreg") has a class and either a constant value or a life from its definitions to
 * its uses. Every field of a micro-op that names a row is noted as a `row_ref`, so that liveness
 * and the final rewriting need to know nothing about operations.
 */
#ifndef PL_LOWER_INT_H
#define PL_LOWER_INT_H

#include "src/base/map.h"
#include "src/lower/lower.h"
#include "src/lower/sites.h"
#include "src/base/vec.h"
#include "src/exec/exec.h"
#include "src/uop/async.h"

enum row_field { FIELD_D, FIELD_A, FIELD_B, FIELD_C, FIELD_E, FIELD_GUARD, FIELD_EXT };

struct row_ref {
	u32 insn;
	u32 field; /* enum row_field; FIELD_EXT + index into ext */
	u32 vreg;
	bool write;
};

/* Is a value the same for every CTA of a launch; and for every lane? */
enum launch_kind { LAUNCH_NO, LAUNCH_LANES, LAUNCH_UNIFORM };

struct vreg {
	u8 class;  /* enum row_class */
	u8 launch; /* enum launch_kind */
	bool is_const;
	bool pinned; /* lives everywhere: frame and stack rows, rows shared by functions */
	u64 bits;
	u32 row;         /* final byte offset */
	u32 first, last; /* life in micro-ops, for colouring */
};

/* A branch whose target label is not placed yet. */
struct fixup {
	u32 insn; /* micro-op, or index into ext when `in_ext` */
	u32 label;
	bool in_ext;
};

/* A function of the program. */
struct lower_func {
	const struct ir_func *f;
	u32 unit;              /* in options.units */
	u32 cycle;             /* functions with the same number may call each other */
	u32 first_edge, edges; /* what it calls */
	/* A copy for one call: of this function, at this instruction. IR_NONE: for all calls */
	u32 caller, caller_insn;
	u32 frame_bytes;
	u32 return_pc, return_frame; /* vregs */
	u32 tail;                    /* vreg: address of what an unsized parameter stands for */
	u32 rows[3];                 /* of each class */
};

struct lower_edge {
	u32 from, to; /* indices into lower.funcs */
	u32 insn;     /* the call */
};

/* The parts of a call instruction. */
struct lower_call {
	const struct ir_operand *rets, *target, *args, *list;
};

enum { LOWER_IN_FRAME, LOWER_IN_STACK }; /* where a variable of a function lies: see lower_call.c */

struct contract;

struct lower {
	const struct ir_module *m;
	const struct arch *arch;
	const u64 *var_address;
	struct lower_options options;
	bool alone;                 /* the kernel without what it calls */
	const struct ir_func *also; /* that the kernel need not reach: callee.h; NULL: none */
	struct diag *d;
	struct program *p;
	bool failed;
	bool no_launch; /* compute everything for each CTA */
	bool no_affine; /* and all indices */
	/* what is being lowered */
	const struct ir_func *f;
	u32 func; /* index in p->funcs */
	const struct ir_insn *in;
	u32 ir;
	u32 *vreg_of;  /* register of f -> vreg, IR_NONE: none yet; 128-bit ones take two */
	u32 *label_at; /* label of f -> micro-op, IR_NONE */
	u32 guard;     /* vreg of the guard, IR_NONE */
	bool guard_not;
	u32 carry; /* vreg of the carry flag of f, IR_NONE: not used yet */
	VEC(struct uop) uops;
	VEC(u32) ext;
	VEC(struct row_ref) refs;
	VEC(struct vreg) vregs;
	VEC(struct fixup) fixups;
	VEC(struct lower_func)
	funcs; /* functions of the program, callers before callees; the kernel is the first */
	VEC(struct lower_edge) edges;
	u32 cycles;
	struct map func_at;                /* function -> index in funcs */
	VEC(const struct ir_func *) taken; /* functions whose address something holds */
	struct map taken_at;
	bool has_taken;
	struct map toolkit_funcs; /* function -> is it of the toolkit's headers? as far as asked */
	VEC(struct program_note) notes;
	struct exec_unit only; /* the list of units when none is given */
	u64 const_base;        /* exec_const_base */
	u32 unit;              /* of f */
	u32 **offsets;         /* by unit: var_offset */
	u8 **places;           /* by unit: offset_in */
	/* local and parameter variables: offset in their frame; shared: in shared memory */
	u32 *var_offset;
	u8 *offset_in; /* LOWER_IN_FRAME or LOWER_IN_STACK */
	/* lane operations: form and operand count -> constant << 16 | operation */
	struct map form_ops;
	struct map consts; /* class and bits -> vreg + 1 */
	u32 frame_vreg, stack_vreg;
	u32 *made; /* register of f -> when its value was made, NULL: not tracked; lower_made.c */
	u32 made_last;
	struct lower_sites sites; /* of f, where lanes are counted; empty: nowhere */
	/* LOWER_COUNT_INSNS: those so far; the counts of what is lowered now, NO_COUNT: none */
	VEC(struct program_insn) insns;
	u32 count_lanes, count_guard;
	bool count_whole; /* what came before needs whole warps, which stay together since */
	u8 *mentions; /* register of f -> how often it is named, 2: or more; NULL: not counted */
	struct lower_bounds *bounds; /* objects in local memory; NULL: accesses are not checked */
	struct contract *contract; /* products of f that go into sums; NULL: none are looked for */
};

/* ---- lower_build.c: building blocks for the rules ---- */

u32 lower_vreg(struct lower *l, enum row_class class);
u32 lower_const(struct lower *l, enum row_class class, u64 bits);
/* Append a micro-op of the current instruction, guarded if it is. Valid until the next. */
struct uop *lower_emit(struct lower *l, enum exec_op op);
/* As lower_emit, never guarded: for temporaries. */
struct uop *lower_emit_free(struct lower *l, enum exec_op op);
void lower_read(struct lower *l, u32 field, u32 vreg);
void lower_write(struct lower *l, u32 field, u32 vreg);
/* Append a row to ext for the last micro-op; returns nothing. IR_NONE: NO_ROW. */
void lower_ext(struct lower *l, u32 vreg, bool write);
/* Lane operation d = op(a, b, c); unused operands IR_NONE. Guarded when `guarded`. */
void lower_op(struct lower *l, enum exec_op op, u32 d, u32 a, u32 b, u32 c, bool guarded);
/* Row of a source operand, in the class wanted; constants take the type's form. */
u32 lower_source(struct lower *l, const struct ir_operand *op, u32 type, enum row_class class);
/* Row of a register operand as it is declared; second half of 128-bit ones with part 1. */
u32 lower_register(struct lower *l, const struct ir_operand *op, u32 part);
/*
 * How many values an operand has: elements in braces, parts of an address, elements of a whole
 * vector register, else one; NULL: none.
 */
u32 lower_elements(const struct lower *l, const struct ir_operand *op);
/* Value i of an operand, i < lower_elements; an operand of one value is its own for every i. */
struct ir_operand lower_element(const struct lower *l, const struct ir_operand *op, u32 i);
enum row_class lower_class(u32 bits);
/* Where a result of `class` goes: the register's row, or a temporary that lower_finish widens. */
u32 lower_target(struct lower *l, const struct ir_operand *op, enum row_class class);
void lower_finish(struct lower *l, const struct ir_operand *op, u32 from, u32 type,
		  enum row_class class);
/*
 * The operand with this one-letter name in the instruction's row, NULL: the instruction has none.
 */
const struct ir_operand *lower_named(const struct lower *l, char name);
/* Replace the instruction by one that faults, with a reason kept for the message. */
void lower_poison(struct lower *l, const char *reason);
const struct ir_operand *lower_operand(const struct lower *l, u32 i);
/* The last micro-op emitted. */
struct uop *lower_last(struct lower *l);
/* The mnemonic of the current instruction: its row's name that was matched. */
const char *lower_mnemonic(const struct lower *l);
/* What a form is called, for messages. */
void lower_text(const struct isa_form *form, char *out, size_t size);
/* Are its results expressions of its operands, and is there nothing else to it? */
bool lower_is_arithmetic(const struct isa_form *form);

/*
 * The lane operation of a form whose modifiers are data, and its constant: lower_float.c, mode.h.
 */
enum exec_op lower_mode_op(const struct isa_form *form, s64 *imm);
/* d = op({v0, v1, v2, v3}, b): shape W_VW. */
void lower_four_words(struct lower *l, enum exec_op op, s64 imm);

typedef void lower_rule(struct lower *l);

/* The rule that a row of the instruction table names, NULL: its instructions are checked only. */
lower_rule *lower_find_rule(u32 row);
/* Mark the backward branches of loops that may wait for other threads (UOPF_POLL): polls.c. */
void lower_mark_polls(struct program *p);
/* The first micro-op that a branch, perhaps an indirect one, may lead to. */
u32 lower_first_target(const struct program *p, const struct uop *in);
/* Stable programs: lower_turns.c. CTAs take turns from here on; in others nothing happens. */
void lower_await_turn(struct lower *l);
/*
 * The same before an atomic, if its effect or its result depends on the order of CTAs. Returns
 * whether the result, if there is one, is to be had.
 */
bool lower_atom_turn(struct lower *l, const struct ir_operand *result, u32 action, u32 type);
/* Do CTAs see what others do at the same time? */
void lower_find_meetings(struct program *p);
/* Mark the reads of clocks in loops that only wait for them (count = 1): clocks.c. */
void lower_mark_clocks(struct program *p);
/* Products of matrices that have factors in common and follow one another. */
void lower_mark_common(struct program *p);
/* Estimate what one thread runs: estimate.c. */
u64 lower_estimate(const struct program *p);
/* Is the program's exec_cta_idle worth asking? idle.c */
bool lower_may_be_idle(const struct program *p);
/* Everything that is a lane operation. */
lower_rule lower_lanes;
/* Moves, addresses, control flow, and what has no effect here: lower_rules.c. */
lower_rule lower_mov, lower_cvta, lower_bra, lower_brx, lower_exit, lower_ret, lower_trap,
	lower_brkpt, lower_nothing;
lower_rule lower_nanosleep;
/* Memory and warp instructions: lower_mem.c, lower_warp.c. */
lower_rule lower_load, lower_store, lower_atom, lower_warp;
lower_rule lower_setp, lower_set, lower_cvt, lower_lop3, lower_bfe, lower_prmt, lower_video;
/* Calls and the stack: lower_call.c. */
lower_rule lower_call, lower_stack;
/* Barriers and fences: lower_sync.c. */
lower_rule lower_bar, lower_fence, lower_mark;
/* Nothing, unless the program is lowered for observers. */
void lower_emit_mark(struct lower *l, enum uop_mark what, u32 number);
/* Asynchronous copies, mbarriers, clusters: lower_async.c. */
lower_rule lower_copy, lower_copy_arrive, lower_copy_group, lower_bulk, lower_pending_count;
lower_rule lower_remote_async, lower_zero_fill, lower_mbarrier, lower_mapa, lower_isspacep;
lower_rule lower_tensor_copy, lower_tensormap_replace, lower_tensormap_copy;
/* What caches are told: lower_hint.c. lower_hint: an instruction of any kind, before its rule. */
lower_rule lower_policy, lower_hint;
/* Textures and surfaces: lower_tex.c. */
lower_rule lower_tex, lower_tex_query, lower_istypep, lower_suld, lower_sust, lower_sured;
/* Matrix instructions: lower_mma.c, lower_matrix.c. */
lower_rule lower_mma, lower_wmma, lower_wgmma, lower_warpgroup, lower_matrix;
/* Row X with an address, its offset added; IR_NONE: it cannot be had. */
u32 lower_address_row(struct lower *l, const struct ir_operand *op);
/* enum atom_action of the form, ATOM_ACTIONS: none. */
u32 lower_atom_op(const struct isa_form *form);
/*
 * Base register (IR_NONE: none) and offset of an address; false: it is in a space that cannot be
 * told here.
 */
bool lower_address(struct lower *l, const struct ir_operand *op, u32 *base, s64 *imm);

/*
 * Space, base register (IR_NONE: none) and offset of an address; `word`: M_ of its state space,
 * ISA_NONE: generic.
 */
struct lower_place {
	enum mem_space space;
	u32 base;
	s64 imm;
	bool wide; /* the base is an X row */
};
bool lower_memory(struct lower *l, const struct ir_operand *op, u32 word, struct lower_place *p);

/*
 * For guarded instructions whose lanes must be a group: a branch around what follows, taken by
 * lanes whose guard is false. The guard is cleared until lower_skip_end.
 */
u32 lower_skip(struct lower *l);
void lower_skip_end(struct lower *l, u32 branch);
/* Is the variable a parameter of the function? */
bool lower_is_formal(const struct ir_func *f, u32 var);
/* mov.v2, mov.v4: element by element. */
void lower_move_vector(struct lower *l, const struct ir_operand *dst, const struct ir_operand *src);
/* The value of a special register, in a row of its own. */
u32 lower_sreg(struct lower *l, const struct ir_operand *src, enum row_class class);
/* Where a local or parameter variable lies: row of the base, and offset from there. */
u32 lower_var_base(const struct lower *l, u32 var);
/* Is that row the kernel's frame, which begins at 0? The offset is the address then. */
bool lower_is_in_kernel_frame(const struct lower *l, u32 var);
u32 lower_var_offset(const struct lower *l, u32 var);

/* ---- lower_count.c ---- */

/* Find the sites of l->f, if they count, and keep room for what they do. */
void lower_count_open(struct lower *l);
void lower_count_close(struct lower *l);
/* Before the current instruction: where a block begins; of its guard and its operands. */
void lower_count_block(struct lower *l);
void lower_count_choices(struct lower *l);
/*
 * For each instruction, with LOWER_COUNT_INSNS: where a block of micro-ops begins; before the
 * current instruction, and of its guard; after it, whose micro-ops begin at `from`.
 */
void lower_count_begin(struct lower *l);
void lower_count_before(struct lower *l);
void lower_count_guard(struct lower *l);
void lower_count_after(struct lower *l, u32 from);

/* ---- lower_graph.c ---- */

/* Fill l->funcs with what the kernel may reach. */
bool lower_find_functions(struct lower *l, const struct ir_func *kernel);
/* Shared variables those functions name, one after the other; dynamic ones after. */
bool lower_lay_out_shared(struct lower *l);
/* Does the variable name the dynamic part of shared memory? */
bool lower_is_dynamic(const struct ir_var *v);
/* Bytes kept free after a shared variable of a program that is lowered `apart`. */
u32 lower_shared_distance(const struct ir_var *v);
/* The dynamic part begins at a multiple of it there, if no variable wants more. */
#define SHARED_END_ALIGN 16u
/* Tell the program where variables are: places.c. Returns false when memory is out. */
bool lower_keep_places(struct lower *l);
/* After it: which of shared memory is a variable's. */
bool lower_keep_extents(struct lower *l);
/* The address of a function of l->m. */
u64 lower_function_address(struct lower *l, u32 func);
/* Index in l->funcs of the definition of a function of l->m, IR_NONE: it has none. */
u32 lower_find_function(const struct lower *l, u32 func);
bool lower_same_cycle(const struct lower *l, u32 caller, u32 callee);
/* False when the instruction is no call. */
bool lower_parse_call(const struct ir_func *f, const struct ir_insn *in, struct lower_call *c);
/*
 * The declaration whose parameters and results a call of l->f has, and its module. NULL: there is
 * none.
 */
const struct ir_func *lower_prototype(const struct lower *l, const struct lower_call *c,
				      const struct ir_module **m);

/* ---- lower_call.c ---- */

u32 lower_signature(const struct ir_module *m, const struct ir_func *f);
/* Offsets of the variables of l->f in its frame. */
void lower_lay_out_frame(struct lower *l);
void lower_prologue(struct lower *l);
/* ret of a function. */
void lower_epilogue(struct lower *l);

/* ---- lower_contract.c ---- */

/* Find the products of l->f that go into sums; `used`: labels that something jumps to. */
void lower_contract_find(struct lower *l, const bool *used);
void lower_contract_free(struct lower *l);
/*
 * Is it known when compiling: set once, by mov of a number or by ld of a parameter or of constant
 * memory?
 */
bool lower_is_constant(const struct lower *l, u32 reg);
/* ISA_READ or ISA_WRITE. */
typedef void lower_visitor(struct lower *l, u32 reg, u32 roles);
/*
 * The registers of an instruction, what is read first. Operands without a role are those of calls:
 * taken as read and written.
 */
void lower_visit(struct lower *l, const struct ir_insn *in, lower_visitor *see);
/*
 * Lower the current instruction as part of a fused one; false: it is not part of one, or its own
 * result is needed as well.
 */
bool lower_contracted(struct lower *l);

/* ---- lower_bounds.c ---- */

/* With lower_options.bounds: of f, whose local variables are known. */
void lower_bounds_open(struct lower *l);
void lower_bounds_close(struct lower *l);
/* With l->bounds: the current instruction is alloca, and `d` has what it gives. */
void lower_bounds_alloca(struct lower *l, u32 d);
/* An access is to be lowered: emit what reports it outside of the object that it is of. */
void lower_bounds_check(struct lower *l, const struct ir_operand *op, const struct lower_place *p,
			u32 bytes, bool write);

/* ---- lower_made.c ---- */

/* Begin with l->f, whose products have been looked for. */
void lower_made_open(struct lower *l);
/* The current instruction has been lowered. */
void lower_made_note(struct lower *l);
void lower_made_close(struct lower *l);
/* Two factors or summands of f64: does ptxas exchange them? */
bool lower_is_exchanged(const struct lower *l, const struct ir_operand *a,
			const struct ir_operand *b);

/* ---- lower_find.c ---- */

#define LOWER_KEY_WORDS 14u

/* What a form is made of: its opcode, then the words of its modifiers and types. */
struct lower_key {
	u32 len;
	u16 at[LOWER_KEY_WORDS];
};

/* What stands in a key beside words. */
enum {
	LOWER_KEY_MODE = ISA_WORDS, /* modifiers that the operation takes as data */
	LOWER_KEY_THREE,            /* operands, where the opcode has another operation for two */
	LOWER_KEY_TABLE = 0x8000,   /* lop3: and its table */
};

void lower_key_begin(struct lower_key *k, u32 opcode);
void lower_key_add(struct lower_key *k, u32 word);
/* All words of a form. */
void lower_key_of(const struct isa_form *form, struct lower_key *k);
/* The lane operation that serves the form, EXEC_OPS: none. */
enum exec_op lower_find_op(const struct lower_key *k);
/* Spellings in the tables that are no forms: none. */
u32 lower_unread_ops(void);

/* ---- fuse.c ---- */

/* Fuse frequent pairs of micro-ops, put constants into micro-ops. False when memory is out. */
bool lower_fuse(struct lower *l);

/* ---- lower_check.c ---- */

/*
 * Does each micro-op name the rows that lowering gave it, by uop_each_row? Reports the first that
 * does not.
 */
bool lower_check_rows(const struct lower *l);

/* ---- lower_fold.c ---- */

/* Approximations of constants become what ptxas makes of them. False when memory is out. */
bool lower_fold(struct lower *l);

/* ---- lower_rows.c ---- */

/* Liveness, colouring, post-dominators, final offsets. False when memory is out. */
bool lower_rows(struct lower *l);

#endif
