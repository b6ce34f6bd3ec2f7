/*
 * Private to src/debugger: what looking at a launch is made of, and what it offers to the rest.
 */
#ifndef PL_DEBUGGER_LOOK_H
#define PL_DEBUGGER_LOOK_H

#include "src/debugger/debugger_int.h"

/* ---- the machine: machine.c ---- */

/* Set x->target. */
void machine_init(struct debugger *x);
/* The lanes that the warp began with. */
u32 machine_lanes(const struct cta *c, u32 warp);
/* %tid of a lane. */
void machine_thread(const struct exec_env *env, u32 warp, u32 lane, u32 out[3]);

/* ---- lanes of a warp by what they do: look_groups.c ---- */

struct look_group {
	u32 mask, pc; /* pc NO_PC: they have exited */
	struct where where;
	bool stopped;   /* they are what the launch stopped for */
	char state[64]; /* "waiting at barrier 1"; "": they run, or can at once */
	struct debug_group group;
};

/* Those that stopped first, exited ones last; returns how many, at most WARP_LANES + 1. */
u32 look_groups(struct debugger *x, const struct cta *c, u32 warp,
		struct look_group out[WARP_LANES + 1]);
/* The group of a lane. False: the lane never was. */
bool look_group_of(struct debugger *x, const struct cta *c, u32 warp, u32 lane,
		   struct look_group *out);
/* The id of a CTA in the grid from its linear number; and "(1,0,0)". */
void look_cta_id(const struct exec_env *env, u64 number, u32 out[3]);
void look_say_id(const u32 id[3], struct text *out);
/* CTAs of a cluster in each direction, at least 1; returns how many. 1: there are no clusters. */
u32 look_cluster_dims(const struct exec_env *env, u32 out[3]);
/* The id of a CTA's cluster. */
void look_cluster_id(const struct cta *c, u32 out[3]);

/* ---- lanes of a CTA by what they wait for: look_barriers.c ---- */

/* The groups of all warps of a CTA, looked up once. */
struct survey {
	struct debugger *x;
	const struct cta *c;
	struct look_group (*group)[WARP_LANES + 1]; /* by warp; owned */
	u32 *groups;                                /* how many; owned */
};

/* False after a message; survey_end either way. */
bool survey_begin(struct debugger *x, const struct cta *c, struct survey *s);
void survey_end(struct survey *s);
/* Which lanes of a group are meant. */
typedef u32 crowd_pick(const struct survey *s, u32 warp, const struct look_group *g, u64 what);
/*
 * "warps 0-2 lanes 0-31 (ffffffff) at a.cu:7; warp 3 ..": those picked by where they are, each place
 * once; with `states` also what they do there.
 */
void survey_say(const struct survey *s, crowd_pick *pick, u64 what, bool states, struct text *out);

/* ---- tables: table.c ---- */

/* Rows of cells in columns as wide as they need; equal neighbours can be told by their text. */
struct table {
	VEC(struct text) cells;
	u32 columns, hidden; /* hidden: cells at the end of each row that are not shown */
	bool failed;
};

/* A table's first row is its header; the first column is for a mark, `*` or nothing. */
void table_begin(struct table *t, u32 columns);
/* The next cell, rows from left to right; valid until the next call. */
struct text *table_cell(struct table *t);
void table_put(struct table *t, const char *fmt, ...) PL_PRINTF(2, 3);
u32 table_rows(const struct table *t);
struct text *table_at(struct table *t, u32 row, u32 column);
/* Forget the last row. */
void table_drop(struct table *t);
/* Print it and free it. */
void table_say(struct debugger *x, struct table *t);

/* ---- source: look_source.c ---- */

/* Text by lines: a file, or a module's PTX. */
struct source_view {
	const char *name; /* "diverge.cu" */
	const char *text;
	const u32 *lines; /* offset of each, and of the end */
	u32 len;
};

/* The file of the place, or the PTX. False, with a line in `why`: it is not there. */
bool source_view(struct debugger *x, const struct where *w, struct source_view *out,
		 struct text *why);
bool source_view_ptx(const struct loaded *l, struct source_view *out);
/* A file as the compiler wrote its path. */
bool source_view_path(struct debugger *x, const struct loaded *l, const char *path,
		      struct source_view *out, struct text *why);
/* "8\tif (lane < 8) {" */
void source_say_line(struct debugger *x, const struct where *w);
void source_say_lines(struct debugger *x, const struct source_view *v, u32 first, u32 last,
		      u32 marked);

/* ---- state: look.c ---- */

/* What x has shown last. */
struct examine {
	u64 address; /* the next one */
	u8 space;    /* enum dbg_space */
	char letter;
	u32 bytes, count; /* bytes 0: nothing was shown */
	bool back;
};

struct source_file;
struct display_row;

struct look {
	VEC(struct source_file *) sources;
	VEC(char *) directories; /* owned */
	struct {
		const struct loaded *module;
		const char *path; /* NULL: PTX */
		u32 first, last;  /* lines shown last; 0: none */
		u64 time;         /* when */
		struct focus focus;
		u32 size; /* lines that are shown at once; 0: the default */
	} list;
	struct examine examine;
	const struct ir_func *next_insn_of; /* x/i goes on at next_insn of this function */
	s64 next_insn;
	VEC(struct display_row) displays;
	u32 displays_made;
};

struct look *look_new(void);
void look_free(struct look *k);
/* Files were found elsewhere, or nowhere: look for them again. */
void sources_forget(struct look *k);
void displays_free(struct look *k);
void displays_show(struct debugger *x);
void displays_write(struct debugger *x, struct text *out);
void listsize_write(struct debugger *x, struct text *out);
void counters_write(struct debugger *x, struct text *out);

void directories_write(struct debugger *x, struct text *out);

/* ---- frames: look_stack.c ---- */

/* Where people see a frame. */
struct where look_frame_where(struct debugger *x, const struct frame *f, u32 number);

/* ---- symbols and instructions: look_symbol.c, look_disassemble.c ---- */

/* "node+16": the variable of the program that an address is in. False: none. */
bool look_symbol(struct debugger *x, const struct dbg_context *c, enum dbg_space space, u64 address,
		 struct text *out);
/* Instructions from an expression's place on; "": from the focus'. */
void look_disassemble_at(struct debugger *x, const char *text, u32 count);

/* ---- the focus: look_focus.c ---- */

/* Move it to a lane that has not exited, say which, and show its line. Else one line of error. */
bool focus_move(struct debugger *x, const struct focus *to);

/* ---- look_print.c ---- */

/* "TEXT", VALUES: for the lane in focus. False after a message. */
bool look_printf(struct debugger *x, const char *args);

#endif
