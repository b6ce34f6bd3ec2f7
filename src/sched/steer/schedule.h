/*
 * Schedules: which warp goes on at which point of a run (PTXLOOM_SCHEDULE), as text, the token.
 *
 * A token is one of these:
 *
 *     natural                          the order that all others are differences from
 *     reverse                          the last warp that can go on does
 *     random:SEED                      any, at random places
 *     pct:DEPTH:SEED[:FOCUS[:POINTS]]  random priorities, which change DEPTH - 1 times
 *     starve:SEED:FOCUS:FROM-COUNT     one warp waits from a step on, for so many
 *     1:LAUNCH.CTA:CHOICE,..[:LAUNCH.CTA:CHOICE,..]
 *
 * each with "weak:SEED:" before it if memory is weak (weak.h), in front of which stands "eager:" if
 * asynchronous copies complete at once, and with "+DIGEST" after it if the launches have to be
 * those that it was made for. FOCUS is LAUNCH.CTA or LAUNCH.CTA-CTA; a point is the number of a
 * step, or pPLACE.N: the N-th time that a warp comes to micro-op PLACE. A choice is FROM/TO: FROM
 * is w3@812, before the step 812 of warp 3, or w3.812, when it is the turn of that warp; TO is w0,
 * w0l16 (the lanes of it that lane 16 is among), w0l16-31 (lanes 16 to 31 of these, apart from the
 * others that they run with), c17w0 (of another CTA), or n, nCOUNT: the next in the order, so many
 * times.
 */
#ifndef PL_SCHEDULE_H
#define PL_SCHEDULE_H

#include "src/base/text.h"
#include "src/base/vec.h"

enum schedule_kind {
	SCHEDULE_LIST, /* of choices; natural: there are none */
	SCHEDULE_PCT,
	SCHEDULE_RANDOM,
	SCHEDULE_STARVE,
	SCHEDULE_REVERSE,
};

#define SCHEDULE_POINTS 16u
#define SCHEDULE_NO_LANE 0xffu

struct schedule_agent {
	u64 cta;
	u32 warp;
	u8 lane; /* the group that has it; SCHEDULE_NO_LANE: any */
	u8 last; /* > lane: of that, lanes from `lane` to `last` apart from the others */
};

struct schedule_choice {
	u64 launch, cta;
	u32 warp, step; /* of warp: so many visible operations are behind it */
	bool at_turn;   /* when it is to go on; else right before the operation */
	bool passes;    /* the next in the order goes on, `count` times */
	u32 count;
	struct schedule_agent to;
};

struct schedule_point {
	u32 place; /* micro-op; UINT32_MAX: any */
	u64 nth;   /* from 1 on */
};

struct schedule {
	enum schedule_kind kind;
	bool eager;
	u64 weak; /* seed of weak memory; 0: memory is not weak */
	u32 depth;
	u64 seed;
	u64 launch, cta[2]; /* the focus; launch 0: there is none */
	u64 from, count;    /* SCHEDULE_STARVE */
	u32 points;
	struct schedule_point point[SCHEDULE_POINTS];
	VEC(struct schedule_choice) choices; /* by launch, CTA, warp, step, at_turn; else as made */
	VEC(u32) launches;                   /* schedule_launch_hash of each; empty: any will do */
	bool has_digest;
};

/*
 * Read a token, or "@FILE": the token in a file. False, with one line without a newline added to
 * `why` that begins with the place, NAME:1:7 or FILE:LINE:COLUMN. The caller frees s, also then.
 */
bool schedule_read(struct schedule *s, const char *value, const char *name, struct text *why);
void schedule_fini(struct schedule *s);
void schedule_write(const struct schedule *s, struct text *out);

/* 16 bits of a kernel's name and 8 of the shape of the launch. */
u32 schedule_launch_hash(const char *kernel, const u32 grid[3], const u32 block[3]);
bool schedule_is_kernel(u32 hash, const char *kernel);

/*
 * The choice for this point, after `held` choices were made at it; NULL: there is none.
 */
const struct schedule_choice *schedule_find(const struct schedule *s, u64 launch, u64 cta, u32 warp,
					    u32 step, bool at_turn, u32 held);
/* Is any about this launch? */
bool schedule_has_launch(const struct schedule *s, u64 launch);
void schedule_sort(struct schedule *s);

#endif
