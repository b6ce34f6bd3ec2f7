/*
 * Micro-ops: what lowering makes of PTX and handlers run, and what is known of each operation.
 */
#ifndef PL_UOP_H
#define PL_UOP_H

#include "src/base/base.h"
#include "src/uop/matrix.h"

#define NO_PC UINT32_MAX

/* Every micro-op: lane operations first, then those of handlers.def. */
enum exec_op {
#define OP(id, texts, shape, expr) OP_##id,
#include "src/uop/table/all.def"
#undef OP
#define UOP(id, bodies, kind, payload, rows, list, space, nature, effect, twin, diverged) OP_##id,
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
	UOP_COUNT, /* counts the lanes that come by, or tells what they say of caches */
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

/* The rows that ext has. */
enum uop_list {
	LIST_NONE,     /* none, or no rows: branch targets, what calls save */
	LIST_RESULTS,  /* of mem.count elements if they are more than one */
	LIST_VALUES,   /* the same, read */
	LIST_FRAGMENT, /* mem.count results */
	LIST_CONTENTS, /* mem.count values */
	LIST_ATOMIC,   /* of vectors and of 16 bytes: results, then operands */
	LIST_WARP,     /* predicate result, member mask */
	LIST_IGNORE,   /* cp.async: the predicate that ignores the source */
	LIST_PARTS,    /* of an affine value; then constants */
	LIST_BULK,     /* mbarrier, masks, what is left out at both ends */
	LIST_REMOTE,   /* mbarrier, then mem.count values */
	LIST_TENSOR,   /* mbarrier, mask, five coordinates, three offsets */
	LIST_FETCH,    /* enum tex_row, results first */
	LIST_PLACE,    /* the same, all read */
	LIST_PRODUCT,  /* struct uop_product */
};

/* What is known of an operation: a row of handlers.def, or of the tables of lane operations. */
struct uop_info {
	const char *name;
	const char *rows;  /* of d, a, b, c: letters, capitals if written; lane operations: "" */
	const char *shape; /* of lane operations, see all.def; else NULL */
	u8 kind;           /* enum uop_kind */
	u8 payload;        /* enum uop_payload */
	u8 list;           /* enum uop_list */
	u8 space;          /* enum mem_space */
	u8 effect;         /* enum uop_effect */
	bool value;        /* its nature: VALUE */
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

/* Which member of the union in struct uop a micro-op has: a column of handlers.def. */
enum uop_payload {
	PAYLOAD_NONE,
	PAYLOAD_LANE,
	PAYLOAD_BRANCH,
	PAYLOAD_CALL,
	PAYLOAD_STACK,
	PAYLOAD_BOUNDS,
	PAYLOAD_BARRIER,
	PAYLOAD_ADDRESS,
	PAYLOAD_SREG,
	PAYLOAD_AFFINE,
	PAYLOAD_WARP,
	PAYLOAD_GROUP,
	PAYLOAD_PRODUCT,
	PAYLOAD_COUNT,
	PAYLOAD_HINT,
	PAYLOAD_POLICY,
	/* These have `mem`, and a second member named after them. */
	PAYLOAD_MEMORY,
	PAYLOAD_INDEXED,
	PAYLOAD_ATOMIC,
	PAYLOAD_COPY,
	PAYLOAD_MBAR,
	PAYLOAD_TENSOR,
	PAYLOAD_FIELD,
	PAYLOAD_TEXTURE,
	PAYLOAD_VARIABLES,
	PAYLOAD_FRAGMENT,
	PAYLOAD_WMMA,
};

/* An expression of the lanes' operands: a row of the tables of lane operations. */
struct uop_lane {
	s64 imm;   /* its constant */
	u32 e;     /* row of the fourth operand or of the carry flag, NO_ROW: none */
	u16 shift; /* of fused shifts with a second constant: the first shift's distance */
};

struct uop_branch {
	u32 target; /* micro-op to go to, NO_PC: none */
	/*
	 * The reconvergence point (immediate post-dominator), NO_PC: none. OP_join: itself, if a
	 * branch reconverges there.
	 */
	u32 join;
	u32 cases; /* brx.idx: targets, in ext */
};

struct uop_call {
	u32 callee;    /* index in the program's functions or, of extern, in its externs */
	u32 signature; /* indirect calls: what the function at the address in `a` must have */
	/* as of struct uop_branch: where lanes reconverge that call different functions */
	u32 join;
	bool saves; /* live rows go to the caller's frame: ext has their number and places */
};

/* Local memory as a stack. */
struct uop_stack {
	u64 bytes;
	u32 from, to; /* copies: offsets from rows a and b */
	u32 align;
};

/* Is the access of the next micro-op within an object of local memory? From row b on, if any. */
struct uop_bounds {
	s64 offset; /* added to addresses */
	u32 from, to;
	u32 bytes;    /* of the access */
	bool generic; /* addresses */
	bool write;
};

struct uop_barrier {
	u32 number;   /* without row a */
	u32 threads;  /* without row c; 0: all of the CTA */
	u8 reduction; /* enum bar_red */
};

/* Addresses that are computed or asked about. */
struct uop_address {
	s64 offset;
	u8 what;         /* is_space, mapa: enum cluster_address */
	bool local;      /* window: of local memory, else of shared memory */
	bool to_generic; /* window: else from generic addresses */
};

struct uop_sreg {
	u32 number;   /* enum of sregs.def */
	u8 component; /* of vectors: 0 to 3 */
	bool waits;   /* a clock that a loop reads to wait, and does nothing else */
};

/* Values that launches inspect: src/exec/affine.h. */
struct uop_affine {
	u32 number;  /* among the values of its width */
	u32 compare; /* setp: enum affine_compare */
};

struct uop_warp {
	u32 members; /* without a row of masks in ext */
	u32 mode;    /* redux of f32: enum num_mode */
	u8 action;   /* enum warp_action */
	bool alone;  /* no member mask: the lanes that are here (legacy forms, activemask) */
	bool wide;   /* row a is an X row */
};

/* Groups of asynchronous copies, and marks. */
struct uop_group {
	u32 pending; /* waits: groups that may stay */
	u8 action;   /* enum async_group_op, enum uop_mark */
	bool noinc;  /* cp.async.mbarrier.arrive.noinc */
};

/* Counts of lanes: see struct exec_count. */
struct uop_count {
	u32 at;    /* the first of the program's counts that it adds to */
	u32 cases; /* index: how many there are */
};

/* What the instruction says about caches. */
struct uop_hint {
	u8 kind; /* enum exec_hint_kind */
};

/* createpolicy: row a is the fraction, or the address of a range of b bytes out of c. */
struct uop_policy {
	u8 primary, secondary; /* enum l2_priority */
	bool is_range;
};

/*
 * A product of matrices: ext lists the rows of D, then of A, B, C and the metadata of sparse forms.
 */
struct uop_product {
	struct mma_form form;
	struct mma_rule rule;
	u8 d, a, b, c; /* registers */
	u8 more;       /* rows after those of C: metadata and scales */
	u8 columns;    /* wgmma: of D, in units of 8 */
	/* The micro-op after the next has the same A, the same B. */
	bool same_a, same_b;
};

/* How memory is reached: at the address in `a`, or at the offset where there is none. */
struct uop_access {
	s64 offset; /* added to addresses */
	u32 cache;  /* allocation cache slot */
	u8 size;    /* bytes of an element */
	u8 count;   /* elements; their rows are in ext if there are more than one */
	u8 space;   /* enum mem_space */
};

/* The address is row c + index in row a * scale, or in an affine value. */
struct uop_index {
	u16 scale, step; /* bytes of an index; how far apart the indices of neighbours are */
	u32 affine;      /* number of the affine value, which row a only adds lanes to */
};

struct uop_atomic {
	u8 action; /* enum atom_action */
	u8 type;   /* T_ of isa.h */
};

struct uop_copy {
	u8 action, type; /* of reductions, as of uop_atomic */
	bool reduces;
	bool bypass;                 /* cp.async.cg: not through L1 */
	bool from_global, to_global; /* bulk copies; else shared memory */
};

struct uop_mbar {
	u8 action; /* enum mbar_op */
	u8 layout; /* .layout::v1 */
};

struct uop_tensor {
	u8 rank;   /* coordinates in ext */
	u8 kind;   /* enum tensor_copy */
	u8 action; /* enum atom_action of reductions, ATOM_ACTIONS: none */
	bool to_global;
};

/* tensormap.replace */
struct uop_field {
	u32 index;
	u8 field; /* enum tensor_field */
};

/* Texture and surface instructions: ext has the rows of enum tex_row. */
struct uop_texture {
	u16 how;         /* enum tex_how, enum surf_how */
	u8 object;       /* enum tex_kind */
	u8 query;        /* enum tex_query */
	u8 action, type; /* sured: as of uop_atomic */
};

/* istypep: ext has the addresses of all variables of the type, two words each. */
struct uop_variables {
	u32 number;
	u8 object; /* enum tex_kind */
};

/* ldmatrix, stmatrix */
struct uop_fragment {
	u8 bits; /* of elements that memory has packed, 0: not packed */
};

/*
 * One micro-op. Rows are byte offsets from the gang's register block, ready for the gang size of
 * the program. Pointer-free and one cache line long. Which member of the union there is says the
 * table: uop_info[inner].payload.
 */
struct uop {
	u16 op;    /* enum exec_op; OP_guard when a guard has to be tested first */
	u16 inner; /* the operation proper, equal to op when there is no guard */
	u16 flags; /* enum uop_flag */
	u32 d, a, b, c;
	u32 guard; /* predicate row, NO_ROW: none */
	u32 ext;   /* first of further rows in the program's `ext` */
	u32 ir;    /* instruction in the function's list, for messages */
	u32 func;  /* index into the program's functions */
	union {
		struct uop_lane lane;
		struct uop_branch branch;
		struct uop_call call;
		struct uop_stack stack;
		struct uop_bounds bounds;
		struct uop_barrier barrier;
		struct uop_address address;
		struct uop_sreg sreg;
		struct uop_affine affine;
		struct uop_warp warp;
		struct uop_group group;
		struct uop_product product;
		struct uop_count count;
		struct uop_hint hint;
		struct uop_policy policy;
		struct {
			struct uop_access mem;
			union {
				struct uop_index index;
				struct uop_atomic atomic;
				struct uop_copy copy;
				struct uop_mbar mbar;
				struct uop_tensor tensor;
				struct uop_field field;
				struct uop_texture texture;
				struct uop_variables variables;
				struct uop_fragment fragment;
				struct wmma_move wmma;
			};
		};
	};
};

_Static_assert(sizeof(struct uop) == 64, "a micro-op is one cache line");

#define NO_ROW UINT32_MAX
#define EXEC_POLL_COST 64

enum uop_flag {
	UOPF_GUARD_NOT = 1, /* @!p */
	UOPF_BACK = 2,      /* jumps backwards: counts against the budget */
	UOPF_POLL = 4,  /* jumps backwards: the loop reads what others may write, so it may wait */
	UOPF_DEAD = 8,  /* lanes, loads: no lane that waits further on reads the rows written */
	UOPF_SIGN = 16, /* memory: sign-extend narrow loads */
	UOPF_WIDE = 32, /* memory: the address row is 64-bit */
	UOPF_WIDE_DATA = 64, /* the data rows are 64-bit */
	UOPF_UNSIGNED = 128, /* indexed memory: the index is unsigned */
	UOPF_SYSTEM = 256,   /* atomics, fences: the host's threads take part, too */
	UOPF_FIXED = 512,    /* memory: the addresses are the same for every CTA of the launch */
	UOPF_ANY = 1024,     /* of no micro-op: stands for all of them */
};

/* bar.red */
enum bar_red { BAR_POPC, BAR_AND, BAR_OR };

/* What a row holds. */
enum row_class { ROW_W, ROW_X, ROW_P, ROW_NONE };

/* Where it may go other than on, NO_PC: nowhere, or by a table or an address. */
static inline u32 uop_target(const struct uop *in)
{
	return uop_info[in->inner].payload == PAYLOAD_BRANCH ? in->branch.target : NO_PC;
}

/* Where lanes reconverge that go different ways at it: see struct uop_branch. */
static inline u32 uop_join(const struct uop *in)
{
	switch (uop_info[in->inner].payload) {
	case PAYLOAD_BRANCH:
		return in->branch.join;
	case PAYLOAD_CALL:
		return in->call.join;
	default:
		return NO_PC;
	}
}

/* Does it have `mem`? */
static inline bool uop_has_access(u32 op)
{
	return uop_info[op].payload >= PAYLOAD_MEMORY;
}

/* A micro-op without rows and guard, its payload as lowering begins with. */
void uop_begin(struct uop *in, enum exec_op op);
/*
 * Make it another operation, guarded as it is. The payload stays where the operations have the same
 * one; `mem` stays where both have that; else it is as lowering begins with: no target, no row.
 */
void uop_become(struct uop *in, enum exec_op op);

#endif
