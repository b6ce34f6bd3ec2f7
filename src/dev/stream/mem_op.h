/*
 * Operations of streams on single words of memory: wait until a word has a value, write one.
 * Source: CUDA Driver API, "Stream Memory Operations".
 */
#ifndef PL_DEV_MEM_OP_H
#define PL_DEV_MEM_OP_H

#include "src/dev/stream/stream.h"

enum mem_op_kind {
	MEM_OP_WAIT_32 = 1,
	MEM_OP_WRITE_32 = 2,
	MEM_OP_FLUSH = 3,
	MEM_OP_WAIT_64 = 4,
	MEM_OP_WRITE_64 = 5,
	MEM_OP_BARRIER = 6
};

/* How a wait compares: *address - value >= 0, ==, &, ~(*address | value) != 0. */
enum mem_op_compare { MEM_OP_GEQ, MEM_OP_EQ, MEM_OP_AND, MEM_OP_NOR, MEM_OP_FLUSH_AFTER = 1 << 30 };

struct mem_op {
	u32 kind, flags;
	u64 address, value;
	void *at; /* where the host has it; filled in by the check */
};

#define MEM_OPS_MAX 256u

/* A batch: the data of a call. */
struct mem_ops {
	u32 len, at; /* operations; those that are done, 0 at first */
	struct mem_op op[MEM_OPS_MAX];
};

/* Kinds, flags and addresses. */
enum status stream_mem_ops_check(struct device *d, struct mem_ops *ops);
/* A stream_fn for STREAM_POLL. */
enum status stream_mem_ops_run(void *data, enum status so_far);
/* One after the other, in stream order. At most MEM_OPS_MAX. They are checked now. */
enum status stream_mem_ops(struct stream *s, const struct mem_op *ops, u32 n);

#endif
