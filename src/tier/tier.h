/*
 * Tier 2: runs of micro-ops that are compiled.
 *
 * A *run* is a sequence of micro-ops within a basic block. Its code does for each warp of a gang
 * what the interpreter does for all warps at each micro-op, with values in registers of the host:
 * rows are read where they are live in and written where they are live out. Before it has changed
 * anything of a warp, code may give up at that warp; the interpreter then runs the micro-ops for
 * the rest. docs/engine.md, "Compiled runs", has the rules.
 *
 * The program itself stays as it is: gangs of plain launches run a copy of its micro-ops, in which
 * the first one of a run has the operation OP_tier, or OP_tier_counted with statistics.
 */
#ifndef PL_TIER_H
#define PL_TIER_H

#include "src/exec/exec.h"

#define TIER_ACCESSES 32u
#define TIER_ROOTS 12u
/* Calls of runs that a gang counts at a time; prime, so that no run of a loop is always passed. */
#define TIER_CALLS 17u

/* Where the accesses of a gang at an affine index begin. */
struct tier_reach {
	u64 base; /* address of the least lane's element */
	u64 low;  /* that lane's part */
};

/* What code is called with; its text knows the order of members. */
struct tier_call {
	u64 regs, caches; /* addresses of the gang's rows and of the allocation caches */
	const u32 *ctaid;
	const u32 *live; /* lanes that take part, by warp of the gang */
	const struct tier_reach *reach;
	u64 sink; /* 32 bytes that lanes load and store which take no part */
	const struct mem_cache *shared;
	/* Operations that code calls: a gang of one warp, its rows, the handlers */
	struct gang *gang;
	u8 *rows;
	exec_handler *const *handlers;
	/* By access: bytes from what it loads or stores to what is asked for; and where that is. */
	const s64 *ahead;
	u64 *now;
};

/* Rows of that gang: the result, then operands. */
#define TIER_CALL_ROW 256u
#define TIER_CALL_ROWS 5u

/*
 * Run warps first to end - 1. whole: all lanes of the gang take part, and all affine accesses are
 * known to be allowed. Returns the first warp that was not run: `end`, or where code gave up.
 */
typedef u32 tier_function(const struct tier_call *call, u32 first, u32 end, u32 whole);

struct tier_access {
	u32 at; /* micro-op, counted in the run */
	u32 cache;
	u8 width; /* bytes that a lane moves */
	bool store, affine, wide, shared;
	bool own; /* a load from where the same lane stores at the end */
};

/* A row that is live in and that addresses are made of. */
struct tier_root {
	u32 row;
	bool wide;
	bool linear; /* code expects lane l to have the first one's value + l * step, */
	bool halves; /* or each half of a warp that takes part as a whole to be so */
	s64 step;
	/* While code is wanted: twice the step found, 1 more: halves; how often so. Atomic. */
	s64 guess;
	u32 seen, alike;
};

enum tier_state {
	TIER_LOOK, /* counts, and looks at the roots */
	TIER_CHOSEN,
	TIER_WAIT,  /* for code */
	TIER_READY, /* has code */
	TIER_OFF,   /* is left to the interpreter */
};

struct tier_run {
	u32 first, n;
	u8 state;          /* enum tier_state; atomic */
	bool looks_always; /* is wanted compiled at its first call */
	bool has_spans;    /* or will, when it has code */
	tier_function *code;
	tier_function *spans; /* for warps of which some lanes take part, loading all; or NULL */
	u32 accesses, affines, roots;
	bool stores;
	u32 calls;          /* of handlers */
	u32 hints;          /* accesses, as bits, that ask for what comes next */
	struct uop *beside; /* calls: its micro-ops with rows of their own */
	struct tier_access access[TIER_ACCESSES];
	struct tier_root root[TIER_ROOTS];
	/* Rough counts: workers do not wait for each other here. Atomic. */
	u32 came, left; /* calls, and those in which code gave up */
};

struct tier;

/* PTXLOOM_TIER, in the order of its words */
enum tier_choice { TIER_ONE, TIER_TWO, TIER_AUTO };

/* For launches from now on. TWO: code is made when a run is first come to, and waited for. */
void tier_choose(enum tier_choice x);
/* Locks held at a fork are taken in reverse order of these calls. The first launch does it, too. */
void tier_watch_forks(void);
/* Is there what compiles? */
bool tier_available(void);
/* Do launches run compiled code at this level? */
bool tier_has_level(const struct exec_ops *o);
/* Is it to run anything but tier 1? */
bool tier_is_wanted(void);
/* Runs of this process so far. */
struct tier_counts {
	u32 made, failed;
};
struct tier_counts tier_counts(void);
/* For statistics: what compiled code has done. False: no kernel was looked through for runs. */
bool tier_stats_text(char *out, size_t size);

/*
 * A launch of the program, with so many CTAs, is about to begin. Returns the micro-ops that its
 * gangs run: the program's own where tier 2 has no part in it.
 */
const struct uop *tier_begin(const struct exec_env *e);
/* The run that begins at the micro-op, which has OP_tier or OP_tier_counted. */
struct tier_run *tier_run_at(const struct program *p, u32 pc);
/* A run without code is about to be interpreted by a whole gang, for the last of so many times. */
void tier_look(const struct gang *g, struct tier_run *r, u32 calls);
/* Code has given up once more. */
void tier_left(const struct gang *g, struct tier_run *r);
void tier_free(struct program *p);

#endif
