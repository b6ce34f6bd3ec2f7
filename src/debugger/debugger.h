/*
 * The debugger's interpreter of commands. It lives in the debugged process (attach.c), where
 * launches ask it before every instruction, and once more in the front end, for what is said before
 * the program runs; what the one knows the other takes over as text ("state").
 */
#ifndef PL_DEBUGGER_H
#define PL_DEBUGGER_H

#include "src/base/text.h"

struct debugger;
struct device_program;
struct debug_hooks;
struct findings;

/* ---- in the front end: command.c ---- */

struct debugger *debugger_new(void);
/* NULL is allowed. */
void debugger_free(struct debugger *x);

enum debugger_outcome {
	DEBUGGER_DONE,
	DEBUGGER_MORE,  /* lines up to `end` are wanted (commands) */
	DEBUGGER_START, /* the program is to be started; it stands at the first stop then */
	DEBUGGER_GO,    /* the program goes on: in the process alone */
	DEBUGGER_FRONT, /* the front end's own command: `name` and `args` of the result */
};

struct debugger_result {
	enum debugger_outcome outcome;
	const char *name; /* the whole name, of the table */
	const char *args; /* what follows it; valid until the next call */
	bool failed;      /* it has printed why */
};

/*
 * Run one line. What it prints is added to `out`, in whole lines. An empty line repeats the last
 * command, where that makes sense.
 */
struct debugger_result debugger_command(struct debugger *x, const char *line, struct text *out);
/* What a line of a script adds to the depth of blocks: 1: it begins one, -1: it ends one. */
s32 debugger_block_depth(const char *line);
/*
 * The whole name of the front end's own command that the line is, and in *args what follows it;
 * NULL: it is another. Valid until the next call.
 */
const char *debugger_front_command(struct debugger *x, const char *line, const char **args);
/* What the last word of the line so far could become, one a line. */
void debugger_complete(struct debugger *x, const char *line, struct text *out);
/* Stops, displays and settings as lines of commands, and taking them over. */
void debugger_state(struct debugger *x, struct text *out);
void debugger_restore(struct debugger *x, const char *state);

/* ---- in the process: attach.c ---- */

/*
 * Was the process started by a front end (PTXLOOM_DEBUG), and is it the one that is debugged? If it
 * is another, that is said on standard error, once. Or is it to wait for one (PTXLOOM_DEBUG_WAIT)?
 */
bool debugger_is_wanted(void);
/*
 * Connect with the front end; to be called once, before the first device. NULL with a line in `why`
 * when that is not possible. The variable is taken out of the environment, so that children of the
 * process are none of the debugger's business.
 */
struct debugger *debugger_attach(struct text *why);
/* For sched_set_debug; valid as long as x. */
const struct debug_hooks *debugger_hooks(struct debugger *x);
/* What is added to the list is told to the user, and stops launches. Before the first one. */
void debugger_checks(struct debugger *x, struct findings *found);
/* For device.on_program; user: the debugger. */
void debugger_program(void *user, const struct device_program *p, bool loaded);
/* The process is about to end: for `catch exit`. May wait. */
void debugger_exiting(struct debugger *x);

#endif
