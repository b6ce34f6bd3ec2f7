/*
 * What the counts of a program say of each of its instructions.
 */
#ifndef PL_WATCH_INSNS_H
#define PL_WATCH_INSNS_H

#include "src/exec/program.h"

/* Of an instruction: warps that ran it, a warp for each group of its lanes that ran apart. */
struct watch_insn {
	u64 warps, threads;
	u64 threads_on; /* that its guard let through */
	u64 divergent;  /* warps of which it let some lanes through, and some not */
};

/* The counts of exec_observer.counted. */
struct watch_insns {
	const struct program *program;
	const struct exec_count *counts;
	u32 cut; /* the instruction that faulted; program->insn_len: none */
};

struct watch_insns watch_insns_of(const struct program *p, const struct exec_count *counts);
/* i: in program.insns. */
struct watch_insn watch_insn_at(const struct watch_insns *x, u32 i);

#endif
