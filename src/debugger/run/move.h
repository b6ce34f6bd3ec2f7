/*
 * Steps: the lane in focus goes on until it has come to where it is to go. Private to src/debugger.
 */
#ifndef PL_DEBUGGER_MOVE_H
#define PL_DEBUGGER_MOVE_H

#include "src/debugger/run/points.h"

struct debugger;

enum move_kind {
	MOVE_NOT,
	MOVE_STEP,
	MOVE_NEXT,
	MOVE_STEPI,
	MOVE_NEXTI,
	MOVE_UNTIL, /* as next, but not backwards */
	MOVE_FINISH,
	MOVE_ADVANCE, /* to `places`, or out of the function */
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
};

/* The lane has come to an instruction, or others have. */
enum debug_verdict move_step(struct debugger *x, bool asked_again);
void move_end(struct debugger *x);
void move_fini(struct debugger *x);

#endif
