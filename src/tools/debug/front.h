/*
 * One session of `ptxloom debug`: the program, the interpreter that answers while there is none,
 * and what the user has set. The program's own interpreter (src/debugger) answers while it runs,
 * over a socket: see src/debugger/link.h.
 */
#ifndef PL_DEBUG_FRONT_H
#define PL_DEBUG_FRONT_H

#include "src/debugger/debugger.h"
#include "src/tools/debug/program.h"
#include "src/tools/debug/script.h"

/* What the terminal shows where a command is wanted. */
#define FRONT_PROMPT "(ptxloom) "

struct code;

struct front {
	struct debuggee program;
	bool batch;   /* no prompt; ends after the scripts */
	bool started; /* once at least */
	bool confirm; /* ask before what loses something */
	bool colour;
	bool interrupted; /* Ctrl-C: scripts are over */
	u32 loops;        /* `while` in `while` that is being run */
	bool collecting;  /* lines of a command go to the interpreter as they are */
	int signals;      /* signalfd of SIGINT and SIGCHLD */
	int status;       /* to end with */
	struct debugger *local;
	struct code *code; /* of the program, for `local`; NULL: none, or not wanted yet */
	bool code_wanted;
	const char *code_file; /* borrowed: the file that it is in */
	u32 sm;                /* of the first device */
	struct text out;       /* of the local interpreter */
	struct script_macros macros;
	u32 depth;        /* of scripts that run scripts */
	bool interactive; /* commands come from a terminal */
	bool edits;       /* with line_edit */
	char *typed;      /* the line before, while there is a layout; owned */
	u32 layout;       /* row of a table; 0: none */
	u32 layout_rows;  /* of the terminal that was divided for it */

	/* ---- while the program runs: session.c ---- */
	bool connected;     /* it has said hello */
	bool lost;          /* the connection ended before the program */
	bool done;          /* the command has been answered */
	bool failed, more;  /* the answer says so */
	bool capture;       /* output goes to `captured` */
	u32 interrupts;     /* since the command was sent */
	VEC(char) received; /* frames; the last one perhaps in part */
	struct text captured;
	struct text state; /* what the program's interpreter had last */
	struct text where; /* payload of the last answer */
	struct text reply; /* completions, JSON */
};

/* ---- front.c ---- */

/* Run one command line. */
enum front_result front_command(struct front *f, const char *line);
/* The truth of an expression, for if and while. FRONT_ERROR: it has none; a message was given. */
enum front_result front_evaluate(struct front *f, const char *expression, bool *truth);
/* Run a command line and add what it prints to `out`, instead of printing it. */
enum front_result front_capture(struct front *f, const char *line, struct text *out);
/* Print, in order with what the program prints. */
void front_puts(struct front *f, const char *s, size_t n);
void front_printf(struct front *f, const char *fmt, ...) PL_PRINTF(2, 3);
/* The same for a message about a command that failed; returns FRONT_ERROR. */
enum front_result front_error(struct front *f, const char *fmt, ...) PL_PRINTF(2, 3);

/* The local interpreter has just been made: it gets the program's code when it is wanted. */
void front_forget_code(struct front *f);

/* ---- session.c: the program as it runs ---- */

/* Start the program, again if it runs; returns at its first stop, or when it has ended. */
enum front_result session_run(struct front *f);
bool session_is_running(const struct front *f);
/* A line for the program's interpreter; returns when it stands again, or has ended. */
enum front_result session_command(struct front *f, const char *line);
/* What the last word of a line could become: into f->reply. */
void session_complete(struct front *f, const char *line);
/* Look whether the program has ended while it stood, and say so: true. */
bool session_poll(struct front *f);
enum front_result session_kill(struct front *f);
/* The program goes on without us. */
void session_detach(struct front *f);
/*
 * Wait for programs that were detached: they would be killed with the front end, which is their
 * parent. Ctrl-C kills them.
 */
void session_wait_released(struct front *f);

/* ---- verbs.c: the front end's own commands ---- */

/* A row of commands.def that is marked FRONT, by its whole name. */
enum front_result verb_run(struct front *f, const char *name, const char *args);

/* ---- colour.c ---- */

/* Add the text of n bytes with colours for a terminal. */
void colour_text(struct text *out, const char *s, size_t n);

/* ---- layout.c: windows on a terminal ---- */

enum front_result layout_set(struct front *f, const char *name);
/* Before a prompt. */
void layout_draw(struct front *f);
/* All of the terminal scrolls again. */
void layout_off(struct front *f);

/* ---- line.c: the terminal, or what is there instead ---- */

/* One line, owned by the caller; NULL: the input has ended. */
char *line_read(struct front *f, const char *prompt);
/* Wait for standard input, and serve the program until then. False: Ctrl-C came instead. */
bool line_wait(struct front *f);

/* ---- line_readline.c, line_none.c: editing ---- */

/* False: lines are read as they are. */
bool line_edit_open(struct front *f);
void line_edit_close(struct front *f);
char *line_edit(struct front *f, const char *prompt);

#endif
