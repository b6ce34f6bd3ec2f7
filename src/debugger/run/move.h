/*
 * Steps: the lane in focus goes on until it has come to where it is to go. Private to src/debugger.
 */
#ifndef PL_DEBUGGER_MOVE_H
#define PL_DEBUGGER_MOVE_H

#include "src/base/vec.h"
#include "src/debugger/run/points.h"

/* Warps of the largest CTA. */
#define CTA_WARPS 64u

struct debugger;
struct where;

enum move_kind {
	MOVE_NOT,
	MOVE_STEP,
	MOVE_NEXT,
	MOVE_STEPI,
	MOVE_NEXTI,
	MOVE_UNTIL, /* as next, but not backwards */
	MOVE_FINISH,
	MOVE_ADVANCE, /* to `places`, or out of the function */
	MOVE_INTO,    /* as next, or to `places` in a function that is called */
};

struct move {
	enum move_kind kind;
	u64 count;
	u64 launch, cta;
	u32 warp, lane;
	struct dbg_place start; /* where it stood */
	u32 calls;              /* frames of PTX functions it was in */
	u32 lanes;              /* that stood there together */
	bool standing;          /* they were about to run that instruction */
	bool begun;             /* the lane has been asked about since */
	u64 inlined;            /* MOVE_FINISH: the copy to be left, 0: the function itself */
	/* MOVE_FINISH: the function to be left, there as long as its module is */
	const struct ir_func *left;
	const struct loaded *module;
	point_places places;
	/* All lanes of a warp or CTA step, not the one in focus alone: lockstep.c. */
	enum move_unit { UNIT_LANE, UNIT_WARP, UNIT_CTA } unit;
};

/* Lanes that began a step of a warp or CTA at one place. */
struct lockstep_part {
	u32 warp, lanes; /* that have not arrived */
	u32 begun;       /* that have been asked about since, or need not be */
	u32 calls;
	struct dbg_place start;
};

struct lockstep {
	VEC(struct lockstep_part) parts;
	u32 held[CTA_WARPS];    /* of each warp: lanes that are frozen until the others arrive */
	u32 arrived[CTA_WARPS]; /* lanes that have stepped */
};

/* The lane has come to an instruction, or others have. */
/* fresh: those of the lanes that have not been asked about this instruction before. */
enum debug_verdict move_step(struct debugger *x, u32 fresh);
/* Has the lane of a move, about to run what stands at `w`, stepped? */
bool move_arrived(struct debugger *x, const struct move *m, const struct where *w);
/* Say which lanes have diverged from the one of the step, or reconverged with it. */
void move_company(struct debugger *x, u32 now, const struct where *w);
void move_end(struct debugger *x);
void move_fini(struct debugger *x);

/* ---- lockstep.c ---- */

/* x->move is set up for the lane in focus: all lanes of its warp or CTA step. */
void lockstep_begin(struct debugger *x, enum move_unit unit);
enum debug_verdict lockstep_step(struct debugger *x, u32 fresh);
/* No lane can run because lanes are held back. False: there is another reason. */
bool lockstep_stuck(struct debugger *x, enum debug_verdict *v);
/* Thaw all lanes that are held back. */
void lockstep_release(struct debugger *x);

/* ---- control.c ---- */

/*
 * The lane in focus goes on at another place of its function. dry: only whether it can. False after
 * a message.
 */
bool control_jump(struct debugger *x, const char *location, bool dry);

#endif
