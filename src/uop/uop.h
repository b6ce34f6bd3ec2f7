/*
 * Micro-ops: what lowering makes of PTX and handlers run, and what is known of each operation.
 */
#ifndef PL_UOP_H
#define PL_UOP_H

#include "src/base/base.h"

#define NO_PC UINT32_MAX

/* Every micro-op: lane operations first, then those of handlers.def. */
enum exec_op {
#define OP(id, texts, shape, expr) OP_##id,
#include "src/uop/table/all.def"
#undef OP
#define UOP(id, bodies, kind, space, nature, effect, twin, diverged) OP_##id,
#include "src/uop/table/handlers.def"
#undef UOP
	EXEC_OPS
};

enum uop_kind {
	UOP_LANE,    /* an expression of each lane's operands */
	UOP_FLOW,    /* guards, branches, returns, exits, and where they meet */
	UOP_CALL,    /* of a function, of the device or of the host */
	UOP_WAIT,    /* lets others go first */
	UOP_BARRIER, /* of a CTA, a warpgroup or a cluster */
	UOP_FENCE,
	UOP_TRAP,  /* ends the launch */
	UOP_STACK, /* local memory as a stack, what functions save in it */
	UOP_NOTHING,
	UOP_VALUE, /* an address or a fact, without an access */
	UOP_SREG,  /* a special register */
	UOP_LOAD,
	UOP_STORE,
	UOP_ATOMIC, /* red among them */
	UOP_WARP,   /* lanes of a warp exchange values or vote */
	UOP_COPY,   /* asynchronous copies, and what waits for them */
	UOP_MBARRIER,
	UOP_TENSORMAP,
	UOP_TEXTURE,
	UOP_SURFACE,
	UOP_MATRIX_LOAD,
	UOP_MATRIX_STORE, /* fragments */
	UOP_MATRIX,       /* products and moves of fragments */
};

/* What other threads may see of a micro-op. */
enum uop_effect {
	EFFECT_QUIET, /* nothing */
	EFFECT_WRITE, /* it writes memory by its address register and constant */
	EFFECT_LANES, /* lanes of the warp get values of each other */
	EFFECT_ASK,   /* depends on its operands */
	EFFECT_OTHER,
};

/* The space of micro-ops that touch no memory, or not one of enum mem_space. */
enum { MEM_NONE = 0xff };

/* What is known of an operation: a row of handlers.def, or of the tables of lane operations. */
struct uop_info {
	const char *name;
	u8 kind;    /* enum uop_kind */
	u8 space;   /* enum mem_space */
	u8 effect;  /* enum uop_effect */
	bool value; /* its nature: VALUE */
};

extern const struct uop_info uop_info[EXEC_OPS];

static inline enum uop_kind uop_kind(u32 op)
{
	return uop_info[op].kind;
}

/* An expression of each lane's operands: a row of the tables of lane operations. */
static inline bool uop_is_lane(u32 op)
{
	return op < OP_guard;
}

/*
 * Does it write vector registers and nothing else, which depend on operands and the launch alone?
 */
static inline bool uop_is_value(u32 op)
{
	return uop_info[op].value;
}

/* Does control go elsewhere from it, or end? */
static inline bool uop_is_branch(u32 op)
{
	return (uop_kind(op) == UOP_FLOW && op != OP_guard && op != OP_join) || op == OP_call;
}

/*
 * One record. Rows are byte offsets from the gang's register block, ready for the gang size of the
 * program. Pointer-free and one cache line long.
 */
struct uop {
	u16 op;    /* enum exec_op; OP_guard when a guard has to be tested first */
	u16 inner; /* the operation proper, equal to op when there is no guard */
	u8 flags;  /* enum uop_flag */
	u8 size;   /* memory: bytes per element */
	u8 count;  /* memory: vector elements */
	u8 space;  /* memory: enum mem_space */
	u32 d, a, b, c;
	s64 imm;
	u32 target; /* branches: record to go to */
	/*
	 * Branches: where the ways meet again (immediate post-dominator), NO_PC: nowhere. OP_join:
	 * itself, if that is where the ways of a branch meet.
	 */
	u32 join;
	u32 guard; /* predicate row, NO_ROW: none */
	u32 ext;   /* first of further rows in the program's `ext` */
	u32 cache; /* allocation cache slot of this instruction */
	u32 ir;    /* instruction in the function's list, for messages */
	u32 func;  /* index into the program's functions */
	union {
		u32 pad; /* more, by operation */
		struct
		{ /* indexed memory: bytes per index; how far apart the indices of neighbours are */
			u16 scale, step;
		};
	};
};

#define NO_ROW UINT32_MAX
#define EXEC_POLL_COST 64

enum uop_flag {
	UOPF_GUARD_NOT = 1, /* @!p */
	UOPF_BACK = 2,      /* jumps backwards: counts against the budget */
	UOPF_SIGN = 4,      /* memory: sign-extend narrow loads */
	UOPF_POLL =
		8, /* jumps backwards: the loop reads what others may write, so it may be waiting */
	UOPF_WIDE = 16, /* memory: the address row is 64-bit */
	UOPF_DEAD = 16, /* lane operations: no lane that waits further on reads the row written */
	UOPF_WIDE_DATA = 32, /* memory: the data rows are 64-bit */
	UOPF_UNSIGNED = 64,  /* indexed memory: the index is unsigned */
	UOPF_SYSTEM = 64,    /* atomics, fences: the host's threads take part, too */
	UOPF_FIXED = 128,    /* memory: the addresses are the same for every CTA of the launch */
};

/* What a row holds. */
enum row_class { ROW_W, ROW_X, ROW_P, ROW_NONE };

#endif
