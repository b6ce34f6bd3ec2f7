/*
 * Is a CTA in a livelock? A probe runs its time slices with a loop that inspects every micro-op:
 * does it change memory, or read what changes by itself? Where no CTA of a grid does for some
 * slices, and the state of each comes to be what it was before, all of them repeat themselves for
 * ever: what a CTA does in a slice follows from its state and from memory. src/sched/probe.c asks;
 * docs/engine.md has the argument.
 */
#ifndef PL_EXEC_PROBE_H
#define PL_EXEC_PROBE_H

#include "src/exec/exec.h"

struct exec_probe {
	struct exec_ops ops; /* the launch's, with another loop; env.ops of CTAs that are probed */
	/*
	 * A micro-op changed memory, ended threads, read a clock, asked which lanes of a warp are
	 * together, or did something that is not inspected: the CTA may get further.
	 */
	bool moved;
	/*
	 * Wanted, too: `sum` changes with the contents of global memory that micro-ops write, and
	 * is what it was if they are; `lost`: something may have been written that is not in it.
	 */
	bool sums, lost;
	u64 sum;
};

void exec_probe_init(struct exec_probe *p, const struct exec_ops *ops);
/* Run one micro-op, noting in p what it does. Returns the next. */
const struct uop *exec_probe_step(struct exec_probe *p, struct gang *g, const struct uop *in);
/*
 * All that decides, beside memory, what the CTA does in its next slices: registers, where its lanes
 * stand or wait, and which of them runs next.
 */
u64 exec_probe_state(const struct cta *c);

#endif
