/*
 * Where the time of a process goes, for `ptxloom run --stats`: phases of work, each with how often,
 * how long and how much. Off, a phase costs one test of a word that nothing writes.
 */
#ifndef PL_STATS_H
#define PL_STATS_H

#include "src/base/clock.h"

enum stats_phase {
	STATS_PARSE,   /* of PTX; amount: bytes */
	STATS_LOWER,   /* of kernels; amount: micro-ops */
	STATS_COMPILE, /* runs of micro-ops, for tier 2 */
	STATS_RUNS,    /* times: micro-ops of kernels that are searched for runs; amount: of runs */
	STATS_CODE,    /* micro-ops of runs, warp by warp; amount: those of them done by code */
	STATS_LAUNCH,
	STATS_EXECUTE, /* threads of the host at work on grids; amount: thread instructions */
	STATS_COPY,    /* amount: bytes */
	STATS_WAIT,    /* threads of the program until work of a device ends */
	STATS_PHASES
};

struct stats_total {
	u64 times, ns, amount;
};

/* Atomic: threads may still be at work where a process ends. */
extern bool stats_is_on;

static inline bool stats_on(void)
{
	return PL_UNLIKELY(__atomic_load_n(&stats_is_on, __ATOMIC_RELAXED));
}

/* From now on; a child by fork begins with nothing. */
void stats_open(void);
void stats_close(void);
/* Since then, in ns. */
u64 stats_elapsed_ns(void);
void stats_add(enum stats_phase phase, u64 times, u64 ns, u64 amount);
struct stats_total stats_get(enum stats_phase phase);

/* Where a phase begins and ends; 0: nothing is measured. */
static inline u64 stats_begin(void)
{
	return stats_on() ? clock_ns() : 0;
}

static inline void stats_end(enum stats_phase phase, u64 began, u64 amount)
{
	if (PL_UNLIKELY(began))
		stats_add(phase, 1, clock_ns() - began, amount);
}

#endif
