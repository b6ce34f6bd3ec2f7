/*
 * Private to src/debugger: the interpreter's state, and what commands are made of.
 *
 * A command is a row of commands.def and a handler. A handler gets the debugger and the call (name,
 * format, arguments as text), prints with say(), says what is wrong with say_error() (one line, no
 * full stop), and returns; a command that lets the program go on calls debugger_go(). Rows marked
 * LAUNCH run only while a launch stands (x->grid is there and x->focus.valid may be relied on);
 * others have to cope with x->grid == NULL and x->modules empty: that is the front end, or the
 * program between launches.
 *
 * Handlers run on the thread that runs the launch, with x->lock held.
 */
#ifndef PL_DEBUGGER_INT_H
#define PL_DEBUGGER_INT_H

#include "src/base/vec.h"
#include "src/dbg/expr.h"
#include "src/dbg/lines.h"
#include "src/debugger/run/attach.h"
#include "src/debugger/debugger.h"
#include "src/debugger/run/call.h"
#include "src/debugger/run/count.h"
#include "src/debugger/run/found.h"
#include "src/debugger/run/move.h"
#include "src/debugger/run/past.h"
#include "src/debugger/run/points.h"
#include "src/debugger/run/run.h"
#include "src/dev/device.h"
#include "src/sched/debug.h"

#include <pthread.h>

/* ---- modules: modules.c ---- */

/* A module of a loaded program. Lines and names are opened when they are first wanted. */
struct loaded {
	const struct device_program *owner;
	u32 unit; /* in owner */
	const struct ir_module *m;
	const struct diag_source *ptx;
	struct dbg_names *names;
	struct dbg_lines *lines;
	bool opened, has_source; /* has_source: some instruction has a line of a file */
	u32 *ptx_lines;          /* offset of each line of the PTX, and the end; owned */
	u32 ptx_len;
};

/*
 * NULL: it is not of a loaded program. Lines and names are open afterwards, unless memory is out.
 */
struct loaded *loaded_find(struct debugger *x, const struct ir_module *m);
/* Open lines and names; false: no memory. */
bool loaded_open(struct debugger *x, struct loaded *l);
struct loaded *loaded_of(struct debugger *x, const struct ir_func *f);
/* A dbg_module_fn of a struct debugger. */
bool loaded_names(void *user, u32 i, struct dbg_names **out);
/* False: no memory. */
bool loaded_add(struct debugger *x, const struct device_program *p, u32 unit);
void loaded_remove(struct debugger *x, size_t i);
/* The line of the PTX, from 1, that an instruction stands in; 0: unknown. */
u32 loaded_ptx_line(const struct loaded *l, struct dbg_place at);
/* The place that a micro-op belongs to. */
struct dbg_place loaded_place(const struct program *p, u32 pc);

/* Where people see an instruction: the line of the source that a step counts it to, else of PTX. */
struct where {
	struct loaded *module; /* NULL: unknown */
	struct dbg_place place;
	struct dbg_source source; /* path NULL: the PTX is all there is */
	u32 depth;                /* functions inlined around that line */
	u32 ptx_line;
};

struct where where_of(struct debugger *x, struct dbg_place at);
/* Which frame of its place that line is in, as dbg_context.inlined counts. */
u32 where_frame(const struct where *w);
bool where_same_line(const struct where *a, const struct where *b);
/* The same; where the compiler says nothing, the line before in its block, or the next one. */
struct where where_near(struct debugger *x, struct dbg_place at);
/* "diverge.cu:8", "hand.ptx:22". */
void where_say(const struct where *w, struct text *out);

/* ---- the focus: look_focus.c ---- */

struct focus {
	bool valid;
	u64 launch, cta;
	u32 warp, lane;
	u32 frame; /* of those that `bt` counts, inlined functions among them; 0: innermost */
};

/* ---- frames and contexts: frames.c; x->grid is there ---- */

/* One that `bt` counts: a call of a PTX function, or a function inlined in it. */
struct frame {
	struct debug_frame call;
	struct dbg_place place;
	struct loaded *module; /* NULL: not of a loaded program */
	struct dbg_frame shown;
};

/* Where the lane in focus stands, as its frame shows it. False: there is none. */
bool focus_where(struct debugger *x, struct where *out);
/* Where people see a lane of the group that stands there: in helpers of a toolkit their caller. */
struct where where_of_lane(struct debugger *x, const struct cta *c, u32 warp, u32 lane,
			   struct dbg_place at);
/* The CTA in focus, NULL: there is none, or it is not resident. */
struct cta *focus_cta(const struct debugger *x);
/* Innermost first; returns how many, at most `max`. */
u32 frames_of(struct debugger *x, const struct cta *c, u32 warp, u32 lane, struct frame *out,
	      u32 max);
bool frame_at(struct debugger *x, const struct cta *c, u32 warp, u32 lane, u32 number,
	      struct frame *out);
/*
 * The number of the innermost frame that has a line of the user's, 0: none has. call: that of the
 * PTX function it is in; may be NULL.
 */
u32 frame_of_user(struct debugger *x, const struct cta *c, u32 warp, u32 lane, struct frame *out);
/* What expressions of a lane are evaluated in. False: the lane is not there. */
bool context_of(struct debugger *x, const struct focus *f, struct dbg_context *out);
/* The same of x->focus; without one, what types and constants need. */
void context_now(struct debugger *x, struct dbg_context *out);

/* ---- what stopped ---- */

enum stopped {
	STOPPED_NOT,    /* it runs, or there is no launch */
	STOPPED_STEP,   /* before an instruction of a group of lanes */
	STOPPED_FAULT,  /* fault, deadlock: `fault` */
	STOPPED_IDLE,   /* all wait for something outside */
	STOPPED_LAUNCH, /* before the first instruction, or after the last */
};

struct standing {
	enum stopped kind;
	struct gang *gang; /* STOPPED_STEP */
	const struct uop *in;
	/* The lanes that stopped; STOPPED_IDLE, STOPPED_LAUNCH: none. */
	u64 cta;
	u32 warp, lanes, pc;
	const struct fault *fault;
	bool interrupted;  /* it stands because the front end has asked for it */
	const char *event; /* the name of what was caught; NULL: nothing */
	u64 time;
	/* STOPPED_STEP: the group that is about to run `in`; those that stopped may be others. */
	u64 asked_cta;
	u32 asked_warp, asked_pc, all_lanes;
};

/* ---- the debugger ---- */

struct launch_row {
	u64 number; /* from 1 */
	char kernel[256];
	u32 grid[3], block[3];
	bool running;
	struct debug_grid *d; /* while it runs, and can be gone back to; NULL: later */
	/* its grid_id on its device; the number of the launch whose kernel launched it, 0: none */
	u64 id, parent;
	const struct mem *device;
};

struct debugger_setting {
	const char *name;
	s64 value;
};

struct debugger {
	pthread_mutex_t lock;
	int fd;          /* of the link, -1: in the front end */
	struct text out; /* of the command that runs */
	bool failed;     /* the command that runs has printed an error */
	bool go;         /* it lets the program go on */
	u32 depth;       /* of lines within lines */

	struct debug_grid *grid; /* NULL: no launch */
	u64 launch;              /* its number, from 1; of the last one when there is none */
	VEC(struct launch_row) launches;
	u64 launches_begun;
	struct standing at;
	struct focus focus;

	struct attachment link;
	struct text state; /* as the front end knows it */
	enum debug_verdict verdict;
	struct run run;
	struct points points;
	struct founds founds;
	struct calls calls;
	struct move move;
	struct lockstep lockstep;
	struct counting counting;
	struct past past;
	VEC(struct bookmark) bookmarks;
	u32 collecting;        /* number of the breakpoint whose commands are being read; 0: none */
	s32 collecting_depth;  /* blocks in these that are open */
	bool condition_failed; /* it has been said in this look */
	bool searching;        /* hits do not count: going over instructions again */
	bool scheduled;        /* `schedule` has chosen the warp */
	struct debug_frame *frames; /* room for those of a lane; owned */
	bool watching;              /* accesses are reported */

	VEC(struct loaded *) modules;
	struct dbg_session *session;
	struct dbg_target target;  /* machine.c */
	struct look *look;         /* look.h */
	char *last;                /* the line that an empty one repeats, NULL: none; owned */
	char *line;                /* that runs; owned */
	char name[64];             /* of its command */
	struct query_state *query; /* query.h */
};

/* ---- commands: command.c ---- */

struct call {
	const char *name;   /* of the table: "info lanes"; valid during the call */
	const char *format; /* what stood after "/": "8xb"; "": nothing */
	const char *args;   /* the rest without blanks around; "": nothing */
	bool repeated;      /* by an empty line */
};

/* Groups of `help`. */
enum command_group { G_STOPS, G_MOVE, G_TIME, G_LOOK, G_FOCUS, G_DATA, G_PROGRAM, G_OTHER };

#define LAUNCH 1u  /* only while a launch stands */
#define REPEATS 2u /* an empty line does it again */
#define STARTS 4u  /* starts the program when it does not run */
#define FRONT 8u   /* the front end does it */
#define HIDDEN 16u /* not in `help` */
#define WHOLE 32u  /* not while a lane runs a function that the debugger calls */

#define COMMAND(family, names, handler, flags, group, synopsis, help)                              \
	void handler(struct debugger *x, const struct call *c);
#include "src/debugger/commands.def"
#undef COMMAND

/* Run a line; what it prints is in x->out. */
struct debugger_result debugger_run(struct debugger *x, const char *line);

/* ---- what the front end keeps while the program is started again: state.c ---- */

/* Adds lines of commands that make what is there now; rows of a table in state.c. */
typedef void state_writer(struct debugger *x, struct text *out);

/* ---- stops in words: stop_say.c ---- */

/* The title, who stopped where, the line. NULL: no title. */
void stop_say(struct debugger *x, const char *title);
void stop_say_fault(struct debugger *x);
void stop_say_idle(struct debugger *x);
/* "kernel<<<(1,1,1), (32,1,1)>>>" */
void launch_say(const struct launch_row *l, struct text *out);
/* Keep the table of launches short. */
void launches_trim(struct debugger *x);

/* ---- standing: stand.c ---- */

/* Serve the front end until a command lets the program go on. */
enum debug_verdict debugger_stand(struct debugger *x);
void debugger_flush(struct debugger *x);

/* ---- steps: move.c ---- */

/* How many PTX functions a lane is in; 0: it is not there. */
u32 lane_calls(struct debugger *x, u64 cta, u32 warp, u32 lane);
/* Does a statement begin at this instruction, rather than go on from the one before it? */
bool place_begins(struct dbg_place at);

/* ---- values: values.c ---- */

/* The variable of a module as PTX declares it. */
bool returned_variable(struct loaded *l, u32 index, struct dbg_variable *out);

/* Set the convenience variable $name to a number. */
void debugger_set_variable(struct debugger *x, const char *name, s64 value);
/* A state_writer: the numbers among them. */
void variables_write(struct debugger *x, struct text *out);
/* A number of C. False after a message. */
bool debugger_number(struct debugger *x, const char *text, u64 *out);

/* ---- completion of names: complete.c ---- */

/* rest: what follows the command's word; its last word is to be completed. */
void debugger_complete_names(struct debugger *x, const char *rest, struct text *out);

/* ---- output: say.c ---- */

void say(struct debugger *x, const char *fmt, ...) PL_PRINTF(2, 3);
/* One line, its end is added; the command has failed. */
void say_error(struct debugger *x, const char *fmt, ...) PL_PRINTF(2, 3);
/* Lanes as people read them: "0-7", "9 11 13 .. 31", "none". */
void say_lanes(u32 lanes, struct text *out);
/* "lanes 0-7 (000000ff)" */
void say_lanes_mask(u32 lanes, struct text *out);
/* The program goes on when the handler returns. */
void debugger_go(struct debugger *x);

#endif
