/*
 * Functions that device code declares and no module defines: those of the device runtime (vprintf,
 * malloc, free, __assertfail, others the API layer adds), and functions of the host process.
 *
 * A call is made lane by lane, in order. Arguments are in the lane's local memory as for a device
 * function. exec_extern_find is used by lowering; the rest by providers of such functions.
 * Source: CUDA C++ Programming Guide "Formatted Output", "Dynamic Global Memory Allocation and
 * Operations", "Assertion".
 */
#ifndef PL_HOST_SYSCALL_H
#define PL_HOST_SYSCALL_H

#include "src/exec/observer.h"

struct lower_options;

struct exec_call;

/* What a launch gives to the functions of the device runtime; pointed to by exec_env.syscalls. */
struct exec_syscalls {
	/* Text of printf. May be called from several threads. NULL: dropped. */
	void (*print)(void *user, const char *text, size_t len);
	/* Text of assertions. NULL: as printf. */
	void (*print_error)(void *user, const char *text, size_t len);
	void *user;
	struct exec_heap *heap; /* of the context; NULL: malloc returns 0 */
	/* A block of the heap is given to a lane. NULL: not wanted. */
	void (*taken)(const struct exec_call *c, u64 address, u64 bytes);
	/* What %current_graph_exec is; `env_user` is exec_env.user. NULL: 0. */
	u64 (*graph_exec)(const void *env_user);
};

/*
 * A copy of a lane's local memory, in the order of its addresses; reused for the next
 * call.
 */
struct exec_stack {
	u8 *args, *bytes; /* of the call; everything below their end, once requested */
	u64 args_cap, bytes_cap;
	bool is_here; /* `bytes` belong to the current call */
};

/* The current call of one lane. */
struct exec_call {
	struct gang *gang;
	const struct program_extern *ext;
	const struct uop *in;
	u32 warp, lane; /* in the gang */
	u32 at; /* where in local memory result and parameters lie, at the places ext gives */
	struct exec_stack *stack;
	const struct uop *told; /* reported to an observer as its accesses; NULL: not */
};

/* Returns FAULT_NONE, or a fault; its text is then in call->gang->fault->text. */
typedef enum fault_kind exec_extern_fn(struct exec_call *call);

/* One result or parameter. */
struct extern_value {
	u32 at, bytes;
	u16 type;   /* T_b32 .. */
	bool array; /* .b8 p[n] */
};

struct program_extern {
	const char *name;
	exec_extern_fn *run;
	void *symbol; /* host functions: what to call */
	void *cif;    /* and how */
	u32 rets, params;
	struct extern_value *value; /* results, then parameters */
};

/* A function the API layer provides; see lower_options.externs. */
struct exec_extern {
	const char *name;
	exec_extern_fn *run;
};

/*
 * Offset of the next result or parameter in an argument block that ends at *at, which moves
 * past it.
 */
u32 exec_next_slot(const struct ir_var *v, u64 *at);

/* Perform the call. */
enum fault_kind exec_call_run(struct exec_call *c);
/* Free what calls needed. */
void exec_stack_free(struct exec_stack *s);
u64 exec_call_argument(const struct exec_call *c, u32 i);
/* Sets the result; nothing when the declaration has none. */
void exec_call_return(const struct exec_call *c, u64 value);
/*
 * Host address of [address, address + size) as this lane sees it: global, shared or local; of local
 * memory it is valid during the call. NULL: it may not be accessed.
 * left: when not NULL, bytes to the end of what it lies in.
 */
u8 *exec_call_memory(const struct exec_call *c, u64 address, u64 size, u64 *left);
/* Report that the call reads or writes bytes at a generic address, if there is an observer. */
void exec_call_tell(const struct exec_call *c, enum exec_access_kind kind, u64 address, u64 bytes);
/* Memory has been freed: what the calling CTA's instructions remember of allocations is void. */
void exec_call_void_caches(const struct exec_call *c);
/* Block and thread of the lane: for messages. */
void exec_call_place(const struct exec_call *c, u32 block[3], u32 thread[3]);
/* Pass the text of assertions to the launch's print_error. */
void exec_print_error(const struct exec_env *e, const char *text, size_t len);
enum fault_kind exec_call_fail(const struct exec_call *c, enum fault_kind kind, const char *fmt,
			       ...) PL_PRINTF(3, 4);

/*
 * Number of the function among the program's, entering it; IR_NONE: it is not provided. Lowering
 * only.
 */
u32 exec_extern_find(struct program *p, const struct ir_module *m, const struct ir_func *f,
		     const struct lower_options *options);
/* Names that linking may leave undefined: the runtime's own. Ends with NULL. */
extern const char *const exec_extern_names[];

/* ---- vprintf: print.c ---- */

struct text;

/*
 * Format as printf of device code does. args: the packed arguments, NULL when there are none.
 * Returns how many arguments were used, or -2 when memory at *bad could not be read.
 */
s32 exec_format(const struct exec_call *c, const char *fmt, u64 args, struct text *out, u64 *bad);

/* ---- the device's heap: heap.c ---- */

struct exec_heap;

/* The memory is allocated from `m` with the first block. NULL: the host has no memory. */
struct exec_heap *exec_heap_new(struct mem *m, u64 limit_bytes);
void exec_heap_free(struct exec_heap *h);
/*
 * From now on each block is an allocation of its own, with a distance to its neighbours, and what
 * has been freed is not used again soon: accesses outside of blocks are faults. Before the first
 * block. Such a heap cannot be saved.
 */
void exec_heap_set_apart(struct exec_heap *h);
bool exec_heap_is_apart(const struct exec_heap *h);
/* Change the limit. False: device code has allocated already; the limit is unchanged. */
bool exec_heap_resize(struct exec_heap *h, u64 limit_bytes);
u64 exec_heap_limit(struct exec_heap *h);
/* 16-byte aligned; 0 when nothing of that size is left. Any thread. */
u64 exec_heap_take(struct exec_heap *h, u64 bytes);
/* False when `address` is not a block in use; caches of allocations are then void. */
bool exec_heap_give(struct exec_heap *h, u64 address);
/* Requested size of the block at `address`, 0: none. */
u64 exec_heap_size(struct exec_heap *h, u64 address);
/* Call fn for each block in use: its address and its requested size. */
void exec_heap_each(struct exec_heap *h, void (*fn)(void *user, u64 address, u64 bytes),
		    void *user);
/*
 * What is allocated, to be freed with free; NULL and *bytes 0: nothing has ever been; NULL and
 * *bytes: the host has no memory.
 */
struct exec_heap_state *exec_heap_save(struct exec_heap *h, u64 *bytes);
/* Make that what is allocated. The memory itself is the caller's business. */
void exec_heap_return(struct exec_heap *h, const struct exec_heap_state *s);

#define EXEC_HEAP_DEFAULT ((u64)8 << 20)

/* ---- host functions: hostcall.c ---- */

/* Is `name` in the list of lower_options.host_functions? */
bool hostcall_is_allowed(const char *list, const char *name);
/*
 * Prepare x to call the host function of its name. False: there is none, or it takes what cannot be
 * passed.
 */
bool hostcall_prepare(struct program *p, struct program_extern *x);

#endif
