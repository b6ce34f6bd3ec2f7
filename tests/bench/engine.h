/*
 * What the parts of the engine's bench share: the kernels with their sizes.
 */
#ifndef PL_BENCH_ENGINE_H
#define PL_BENCH_ENGINE_H

#include "src/base/base.h"

#define BENCH_KERNELS 6u

/*
 * One launch. Parameters are the inputs that exist, the output, then the integers. All buffers are
 * memory of the host.
 */
struct bench_job {
	const char *name;
	u32 grid[3], block[3];
	size_t in_bytes[2], out_bytes;
	u32 ints[3];
	char type; /* of the inputs: f, d, or u */
	u64 (*count)(const struct bench_job *job,
		     const u32 *out); /* thread instructions, from the PTX */
	bool whole;                   /* no floating point: every compiler has the same result */
	u8 *in[2], *out;
};

struct exec_ops;

/* The handlers of level v4 without checks of global addresses: unchecked.c. */
const struct exec_ops *bench_unchecked(const struct exec_ops *v4);

#endif
