/*
 * Where and when it stops: breakpoints, watchpoints, events. Private to src/debugger.
 */
#ifndef PL_DEBUGGER_POINTS_H
#define PL_DEBUGGER_POINTS_H

#include "src/dbg/expr.h"
#include "src/dbg/lines.h"
#include "src/sched/debug.h"

struct debugger;
struct loaded;

enum point_kind { POINT_BREAK, POINT_WATCH, POINT_EVENT };

enum point_event {
	EVENT_LAUNCH,
	EVENT_FAULT,
	EVENT_DEADLOCK,
	EVENT_DIVERGENCE,
	EVENT_ASSERT,
	EVENT_BARRIER,
	EVENT_EXIT,
	EVENT_FINDING,
	POINT_EVENTS
};

enum location_kind { AT_LINE, AT_FUNCTION, AT_INSTRUCTION };

/* What a user calls a place. */
struct location {
	enum location_kind kind;
	/*
	 * AT_LINE: of the source or a PTX; NULL: the one that has kernels. AT_FUNCTION: that the
	 * function is in; NULL: any. Owned.
	 */
	char *file;
	char *function; /* AT_FUNCTION, AT_INSTRUCTION. Owned */
	u32 line, insn;
};

/* A place of it in loaded code. */
struct point_place {
	struct dbg_place place;
	u32 inlined;  /* which frame there is meant, for dbg_context */
	bool guarded; /* only lanes that the instruction's guard lets through count */
};

typedef VEC(struct point_place) point_places;

struct watch;

struct point {
	u32 number;
	u8 kind, event;
	bool enabled, temporary, silent;
	char *text; /* as the user wrote it, without the condition; owned */
	struct location at;
	point_places places;
	char *print;           /* dprintf: "TEXT", VALUES for printf; it does not stop; owned */
	char *condition;       /* NULL: none; owned */
	struct dbg_expr *expr; /* parsed with expr_names; owned */
	struct dbg_names *expr_names;
	u64 hits, ignore;
	VEC(char *) commands; /* owned */
	struct watch *watch;
};

struct points {
	VEC(struct point *) at;
	u32 next;     /* number of the next one, less one */
	bool stale;   /* marks are not up to date */
	u32 last_hit; /* number of the one that was hit last; 0: none */
	/* Numbers of those that it stopped at, and their commands still to be run. */
	VEC(u32) hit;
	bool silent;   /* all of them stop without a word */
	bool printing; /* one of them prints, in the middle of the launch */
	VEC(char *) commands;
};

/* ---- points.c ---- */

struct point *point_new(struct debugger *x, enum point_kind kind, const char *text);
struct point *point_find(struct debugger *x, u32 number);
void point_delete(struct debugger *x, struct point *p);
void points_fini(struct debugger *x);
/* The names of a module are about to go: expressions that know them, too. */
void points_forget(struct debugger *x, const struct dbg_names *names);
/* Adds lines of commands that make them. */
void points_state(struct debugger *x, struct text *out);
/* "Breakpoint", "Watchpoint", "Catchpoint" */
const char *point_title(const struct point *p);
/* Note that it stopped there: hit counts, commands, temporary ones. */
void point_note_hit(struct debugger *x, struct point *p);
/* The next command of the points that were hit, to be freed; NULL: none. */
char *points_next_command(struct debugger *x);
/* The program goes on: temporary ones that were hit go. */
void points_hits_forget(struct debugger *x);
/* Delete one that could not be made; its number is free again. */
void point_unmake(struct debugger *x, struct point *p);
/* False after a message: it cannot be read; the point is as it was. */
bool point_set_condition(struct debugger *x, struct point *p, const char *condition);
/* Where "if" begins as a word of its own, outside parentheses; NULL: there is none. */
const char *condition_begin(const char *s);
/* ---- blocks.c ---- */

/* As points_next_command, with `if` and `while` done. After an error there is none. */
char *blocks_next(struct debugger *x);

/* A line of `commands`. */
void points_collect(struct debugger *x, const char *line);
void points_drop_commands(struct debugger *x);

/* ---- point_place.c ---- */

/* Read "FILE:LINE", "LINE", "FUNCTION", "*FUNCTION+N". False after a message. */
bool location_parse(struct debugger *x, const char *text, struct location *out);
void location_fini(struct location *l);
/* Find the places of a location in loaded code; adds to `out`. False: no memory. */
bool location_find(struct debugger *x, struct location *l, point_places *out);
/* Add a place, once; where the frame of the source's line is. False: no memory. */
bool point_add_place(struct debugger *x, point_places *out, struct dbg_place at);
/*
 * Copies of a function that lines alone tell, by where its definition stands in the source: in each
 * function the first line of it that has code. point_inlined.c. False: no memory.
 */
bool point_find_inlined(struct debugger *x, struct loaded *m, const struct location *l,
			point_places *out);
/* Code has come or gone: find the places of all breakpoints anew. */
void points_resolve(struct debugger *x);

/* ---- point_hit.c ---- */

/* Mark in `marks`, one byte a micro-op, where breakpoints are. */
void points_mark(struct debugger *x, const struct program *p, u8 *marks);
/*
 * The lanes of a group, about to run what stands at `pc`, for which breakpoints there hold; counts
 * hits. say: where the points' names are added: "Breakpoint 1".
 */
u32 points_check(struct debugger *x, const struct gang *g, const struct uop *in, u32 lanes,
		 struct text *names);
/* Does the condition hold for this lane? Errors count as yes and are told in x->out. */
bool point_condition(struct debugger *x, struct point *p, const struct dbg_context *c);

/* ---- catch.c ---- */

/* The enabled catchpoint for an event, after its hits and ignore counts; NULL: none. */
struct point *points_catch(struct debugger *x, enum point_event event);
/* Is it caught? Then it stops at the next instruction, by the title that is in x->run. */
bool catch_next(struct debugger *x, enum point_event event);
bool points_catch_enabled(const struct debugger *x, enum point_event event);
/* Is there one for what has to be looked for before each instruction? */
bool points_catch_wanted(const struct debugger *x);
/* Has the group lost lanes since it was asked about last, and is that caught? */
bool catch_divergence(struct debugger *x);

#endif
