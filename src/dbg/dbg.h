/*
 * The debugger's view of a machine: places in modules, lanes, and `struct dbg_target`, through
 * which everything in src/dbg reads and writes registers and memory. The part that runs kernels
 * fills it in; tests do so with a few arrays. Nothing here knows how kernels are run.
 *
 * Layers, each of which uses those above it:
 *     source.h (src/ir)  .file and .loc
 *     flow.h             control flow of a function: where a register can have been set
 *     lines.h            lines of the source and instructions, both ways
 *     type.h             types of the source language
 *     names.h            variables, functions, types by name, at a place
 *     value.h            values: fetch, store, convert, print
 *     expr.h             C expressions over those
 */
#ifndef PL_DBG_H
#define PL_DBG_H

#include "src/base/text.h"
#include "src/ir/ir.h"

/* An instruction of a function; insn may be insns.len, the end. */
struct dbg_place {
	const struct ir_func *func;
	u32 insn;
};

/* State spaces an address can be in. */
enum dbg_space {
	DBG_GENERIC,
	DBG_GLOBAL,
	DBG_CONST,
	DBG_SHARED,
	DBG_LOCAL,
	DBG_PARAM, /* parameters of the kernel or of the function of the frame */
	DBG_SPACES
};

/* "shared"; "generic" for DBG_GENERIC. */
const char *dbg_space_name(enum dbg_space space);
/* By name, or DBG_SPACES. */
enum dbg_space dbg_space_find(const char *name, size_t n);
/* Of a variable of the module (M_shared ..); DBG_SPACES: it has no memory. */
enum dbg_space dbg_space_of(const struct ir_var *v);

/* One lane of a launch, and which of its frames of PTX functions is meant: 0 is the innermost. */
struct dbg_lane {
	u64 launch;
	u64 cta; /* linear number in the grid */
	u32 warp, lane;
	u32 frame;
};

/* Objects of CUDA whose bytes only the machine understands. */
enum dbg_object {
	DBG_NO_OBJECT,
	DBG_TENSOR_MAP, /* 128 bytes */
	DBG_MBARRIER,   /* 8 bytes of shared memory */
	DBG_TEXTURE,    /* 8 bytes: a handle */
	DBG_SURFACE,    /* likewise */
	DBG_OBJECTS
};

#define DBG_OBJECT_BYTES_MAX 128u

struct dbg_object_at {
	enum dbg_object kind;
	const u8 *bytes;
	bool in_memory; /* they are at `address` of `space` */
	enum dbg_space space;
	u64 address;
};

/* What became of a request to the target. */
enum dbg_answer {
	DBG_OK,
	DBG_NOT_SET,   /* the register has no value yet */
	DBG_NO_ACCESS, /* nothing is at that address, or it may not be written */
	DBG_GONE,      /* the lane has exited, or its CTA has not begun or is over */
	DBG_NOT_KNOWN, /* the target does not know that */
};

/* Words for a message: "not set yet"; NULL for DBG_OK. */
const char *dbg_answer_text(enum dbg_answer a);

/*
 * A machine. Callbacks are synchronous, called by one thread at a time, and return at once; `user`
 * is passed through. Values are little endian. Any of them may be NULL: then the answer is
 * DBG_NOT_KNOWN.
 */
struct dbg_context;
struct dbg_value;

#define DBG_WARP_LANES 32u

/* A call has at most so many. */
#define DBG_ARGUMENTS_MAX 64u

struct dbg_target {
	void *user;

	/*
	 * `bytes` bytes of a register of `func`, the function of that frame; a predicate is one
	 * byte, 0 or 1.
	 */
	enum dbg_answer (*read_register)(void *user, const struct dbg_lane *lane,
					 const struct ir_func *func, u32 reg, void *to, u32 bytes);
	enum dbg_answer (*write_register)(void *user, const struct dbg_lane *lane,
					  const struct ir_func *func, u32 reg, const void *from,
					  u32 bytes);

	/* All of the bytes, or none of them and DBG_NO_ACCESS. */
	enum dbg_answer (*read_memory)(void *user, const struct dbg_lane *lane,
				       enum dbg_space space, u64 address, void *to, u64 bytes);
	enum dbg_answer (*write_memory)(void *user, const struct dbg_lane *lane,
					enum dbg_space space, u64 address, const void *from,
					u64 bytes);

	/* Where a variable of a module lies for this lane, as an address of its own state space. */
	enum dbg_answer (*variable)(void *user, const struct dbg_lane *lane,
				    const struct ir_var *var, u64 *address);

	/* Between an address of a state space and the generic one. */
	enum dbg_answer (*to_generic)(void *user, const struct dbg_lane *lane, enum dbg_space space,
				      u64 address, u64 *generic);

	/* A special register; part 0 to 3 is .x to .w. */
	enum dbg_answer (*special)(void *user, const struct dbg_lane *lane, enum isa_sreg_id id,
				   u32 part, u64 *value);

	/*
	 * The same two for lanes of a warp that stand together in their innermost frame, the first
	 * of them warp->lane; registers of up to 64 bits. value: of each lane, others are left
	 * alone. *same: all lanes have the value of the first one, and only that one is written.
	 * NULL: only one by one.
	 */
	enum dbg_answer (*special_of_warp)(void *user, const struct dbg_lane *warp, u32 lanes,
					   enum isa_sreg_id id, u32 part, u64 *value, bool *same);
	enum dbg_answer (*register_of_warp)(void *user, const struct dbg_lane *warp, u32 lanes,
					    const struct ir_func *func, u32 reg, u64 *value);

	/* `$name`: a number that the machine knows of the lane, such as a mask of lanes. */
	enum dbg_answer (*builtin)(void *user, const struct dbg_lane *lane, const char *name,
				   u64 *value);

	/*
	 * What a function of the program returns, called by name on the lane of the context; a
	 * dry one is for the type alone. Does not return at once. The value is valid as long as
	 * that of an expression. False with a line in `why`.
	 */
	bool (*call)(void *user, const struct dbg_context *c, const char *name,
		     const struct dbg_value *args, u32 n, struct dbg_value *out, struct text *why);

	/*
	 * Add the name of what an address is in: "table+8"; is_code: it is that of a function,
	 * "twice(int)". DBG_NOT_KNOWN: nothing that has a name is there.
	 */
	enum dbg_answer (*symbol)(void *user, const struct dbg_lane *lane, enum dbg_space space,
				  u64 address, bool is_code, struct text *out);
	/* What a pointer to the function is. */
	enum dbg_answer (*function)(void *user, const struct ir_func *func, u64 *address);
	/* Where frame lane->frame of the lane is. DBG_NOT_KNOWN: there are not so many. */
	enum dbg_answer (*frame)(void *user, const struct dbg_lane *lane, struct dbg_place *out);

	/*
	 * Add what an object says, as gdb shows structures: "{phase = 1, pending_count = 2}".
	 * DBG_NO_ACCESS: the bytes are no such object.
	 */
	enum dbg_answer (*object)(void *user, const struct dbg_lane *lane,
				  const struct dbg_object_at *o, struct text *out);
};

/* Bytes of an object. */
u32 dbg_object_bytes(enum dbg_object kind);

#endif
