/*
 * The program that is debugged: a child process in a process group of its own, one end of a socket
 * pair to it, and the terminal while it runs.
 */
#ifndef PL_DEBUG_PROGRAM_H
#define PL_DEBUG_PROGRAM_H

#include "src/base/text.h"
#include "src/base/vec.h"
#include "src/tools/tools.h"

/* A variable that the program gets otherwise than we have it. Both strings are owned. */
struct program_variable {
	char *name;
	char *value; /* NULL: the program has none of this name */
};

struct debuggee {
	/* What to start; set by the user between starts. */
	const struct tool_environment *libraries; /* borrowed; NULL: it needs none */
	const char *device;                       /* NULL: as the environment says */
	char **argv;                              /* borrowed; ends with NULL */
	u32 fixed;  /* how many of argv `args` does not replace, the program's name among them */
	char *args; /* as typed, for the shell to split; NULL: those of argv. Owned */
	VEC(struct program_variable) variables;
	const char *cwd; /* NULL: ours. Borrowed */
	/*
	 * Files that become its standard streams; they stay the caller's. -1: ours. A program with
	 * an input of its own does not get the terminal.
	 */
	int stream[3];

	/*
	 * A process that was started elsewhere and waits for us; 0: there is none. Then argv is
	 * what it was started with, and `socket` is open already before it runs.
	 */
	pid_t attached;

	/* While it runs; else pid is 0 and the others -1. */
	pid_t pid;
	int socket; /* our end; -1: it has been closed at the other one */
	int end; /* of an attached process: readable when that has ended; -1: that is not known */
	/*
	 * Readable when Ctrl-C ('i') or Ctrl-Z ('z') was typed while it had the terminal; -1: there
	 * is none.
	 */
	int guard;
	pid_t guard_pid;
	VEC(pid_t) released; /* started here, and detached since */
};

void program_init(struct debuggee *p);
/* Kills it if it runs. */
void program_fini(struct debuggee *p);

/* Is the file, by the end of its name, for `ptxloom exec`? */
bool program_is_code(const char *name);
/* The words that start `ptxloom exec` with what follows; the array is owned. NULL: no memory. */
char **program_exec_words(size_t count, char *const *args);

/* Replace the arguments. False: no memory. */
bool program_set_args(struct debuggee *p, const char *args);
/* The arguments as they could be typed. */
void program_put_args(const struct debuggee *p, struct text *out);
/* value NULL: remove it. False: no memory. */
bool program_set_variable(struct debuggee *p, const char *name, const char *value);

/* Connect with a process that waits for a debugger. False, with one line in `why`: it does not. */
bool program_attach(struct debuggee *p, pid_t pid, struct text *why);
/* Let it go on without us, from where it stands. */
void program_detach(struct debuggee *p);
/* One that was started here, was detached and still runs; 0: there is none. Reaps the others. */
pid_t program_released(struct debuggee *p);
/* Start it, or let an attached one begin. False, with one line in `why`: it does not run. */
bool program_start(struct debuggee *p, struct text *why);
/* Make its process group the terminal's (or ours again), if there is a terminal. */
void program_take_terminal(const struct debuggee *p, bool program);
/*
 * Has it ended? Then it is reaped, and *status is as of waitpid; -1: that is not known of an
 * attached process. The socket stays open: what was sent last is still in it.
 */
bool program_reap(struct debuggee *p, bool wait, int *status);
/* Close what was open for a program that has ended. */
void program_close(struct debuggee *p);
/* Ctrl-Z: stop it, and ourselves until the shell lets us go on, and let it go on then. */
void program_suspend(const struct debuggee *p);
/* Kill it and all of its process group; reap it afterwards. */
void program_kill(const struct debuggee *p);

#endif
