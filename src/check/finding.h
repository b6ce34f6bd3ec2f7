/*
 * What checks find, as data and in words: one list for a process, to which observers of several
 * devices add from several threads. The text of a finding is printed as it is found; other formats
 * are written when the list is closed.
 */
#ifndef PL_CHECK_FINDING_H
#define PL_CHECK_FINDING_H

#include "src/base/map.h"
#include "src/base/setting.h"
#include "src/base/text.h"
#include "src/base/vec.h"
#include "src/dev/host_trace.h"
#include "src/lower/lower.h"

#include <pthread.h>

/* The exit status when a check has found something, unless another one is asked for. */
#define CHECK_EXIT_FOUND 86

enum finding_kind {
#define FINDING(name, check, word, what) FINDING_##name,
#include "src/check/finding.def"
#undef FINDING
	FINDING_KINDS,
};

/* Where code is. Strings are owned; NULL: unknown. */
struct finding_place {
	char *function; /* demangled */
	char *file;     /* of the source, as the compiler names it */
	char *insn;     /* "kernel.ptx:34: ld.global.f32 .." */
	u32 line, column;
};

/* What one thread did, or where it is. */
struct finding_side {
	const char *what; /* static: "Write" */
	bool has_thread;
	u32 thread[3], block[3];
	struct finding_place place;
};

#define FINDING_SIDES 2u

/* A call of the host's that it is about. */
struct finding_host {
	const char *what; /* static: "launched", "allocated" */
	const struct host_trace *trace;
};

#define FINDING_HOSTS 3u

struct finding {
	enum finding_kind kind;
	bool is_warning;
	u32 sides;
	struct finding_side side[FINDING_SIDES];
	u32 hosts;
	struct finding_host host[FINDING_HOSTS]; /* the first: whose stack is shown */
	char *kernel;                            /* demangled; NULL: none */
	bool has_address;
	bool is_quoted;    /* its text has the line of the source already */
	bool is_of_launch; /* launched elsewhere it is another one */
	bool is_shown;     /* a listener has shown it: its text is printed at the end */
	u64 address;
	struct mem *mem;  /* that has the address, borrowed until it is added; NULL: none */
	u64 count;        /* how often */
	struct text text; /* lines, the first of which says all in short; each ends with \n */
};

/* The words of PTXLOOM_CHECK_FORMAT, in their order. */
enum finding_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_XML, FORMAT_SARIF, FORMAT_GITHUB };

/* Options of the list: PTXLOOM_CHECK and PTXLOOM_CHECK_* (setting.def). */
struct finding_options {
	u32 checks; /* enum check, as a mask: whose summaries are printed */
	enum finding_format format;
	u64 limit;           /* findings that are printed as text */
	bool warnings_count; /* as errors do */
	u64 exit_status;     /* of a process in which something was found */
	bool errors_only;    /* warnings are not printed */
	bool is_quiet;       /* nothing is written but to PTXLOOM_CHECK_FILE */
	bool host_stacks;    /* are they printed? */
	u64 callers;         /* frames of them, at most; 0: all */
	const char *prefix;  /* of each line of text; borrowed from the environment */
	bool strips;         /* folders from names of files, in text */
};

struct suppressions;
struct check_choice;

/* The words of PTXLOOM_CHECK_BACKTRACE, in their order. */
enum backtrace { BACKTRACE_ALL, BACKTRACE_NONE, BACKTRACE_HOST, BACKTRACE_DEVICE };

/* A debugger, which stops at findings as they are made. */
struct findings_listener {
	void *user;
	/*
	 * A new one that is not suppressed; where a launch made it, in the middle of the
	 * instruction, on the launch's thread, maybe with locks of a check held. Returns whether it
	 * is shown to the user there.
	 */
	bool (*found)(void *user, const struct finding *f);
};

struct findings {
	pthread_mutex_t lock;
	struct finding_options options;
	VEC(struct finding) list;
	struct map by_key;                 /* number + 1 */
	struct suppressions *suppressions; /* NULL: none */
	struct check_choice *choice;       /* of launches; NULL: all */
	const struct findings_listener
		*listener;    /* borrowed; NULL: none. Before the first launch */
	struct map announced; /* keys of what it was told */
	FILE *file;           /* where they are written; standard error without one */
	u64 errors, warnings, suppressed;
	/* Add where the memory at an address was allocated; NULL: that is not known. */
	void (*add_origin)(struct mem *m, u64 address, struct finding *f);
	bool has_leaks; /* were they looked for? */
	u64 leaked, leaks;
};

/* The word of PTXLOOM_CHECK that looks for this kind, and the kind's own. */
enum check finding_check(enum finding_kind kind);
const char *finding_check_word(enum finding_kind kind);
const char *finding_word(enum finding_kind kind);

/* Are stacks of the host, or of kernels, wanted? */
bool finding_shows(enum backtrace which);

/* Add the words of a mask of checks: "mem,race". */
void checks_say(u32 checks, struct text *out);

/* ---- to make one ---- */

/* A finding with nothing in it; finding_fini frees it, unless findings_add has taken it. */
void finding_init(struct finding *f, enum finding_kind kind);
void finding_fini(struct finding *f);
/* The function that ran; its name as the PTX has it. */
void finding_set_kernel(struct finding *f, const char *name);
/* Add a side at micro-op pc of p (NULL: unknown yet). NULL: there are FINDING_SIDES already. */
struct finding_side *finding_add_side(struct finding *f, const char *what, const struct program *p,
				      u32 pc);
/* Fill an empty place of names; file and ptx may be empty or NULL. function: as the PTX has it. */
void finding_set_place(struct finding_place *at, const char *function, const char *file, u32 line,
		       const char *ptx, u32 ptx_line);
/* Add "by thread (7,0,0) in block (1,0,0) at scale(float*, int) in scale.cu:12". */
void finding_say_side(const struct finding_side *s, struct text *t);
/*
 * Add "    called by main in scale.cu:30\n", where `what` is "called" and the place is known, and
 * keep the stack. The first one's is printed below the text.
 */
void finding_add_host(struct finding *f, const char *what, struct host_from from);
/* Add a side that is a call: the user's line, else what the loader knows of it. name: static. */
void finding_add_call(struct finding *f, const char *name, struct host_from from);
/* The coordinates of the thread or block with this number in a box of this size. */
void finding_unroll(u64 linear, const u32 size[3], u32 out[3]);

/* ---- the list ---- */

/*
 * Before processes start that open lists: removes the file that is named in the environment, which
 * they write anew. False, with a line in `why`, when findings_open would fail in them.
 */
bool findings_prepare(struct text *why);
/*
 * Begin a list for these checks, with options from the environment. False, with a line in `why`,
 * when a file that is named there cannot be read or written; the list is then empty but valid.
 */
bool findings_open(struct findings *l, u32 checks, struct text *why);
/* For the summary: bytes that leaked, in so many allocations. */
void findings_note_leaks(struct findings *l, u64 bytes, u64 allocations);
/* Forget what was found so far; the exit status is not the check's because of it. */
void findings_clear(struct findings *l);
/* Is the exit status of the process the check's? */
bool findings_fail(const struct findings *l);
/*
 * Take f and print it, if none of its kind is known at the same places; else count that one up.
 * f is empty afterwards.
 */
void findings_add(struct findings *l, struct finding *f);
/*
 * For checks that add what a launch made when it ends: tell the listener, if there is one, of a
 * finding as it is now, once for its places. f is empty afterwards.
 */
void findings_announce(struct findings *l, struct finding *f);
/* Print the summary, write what else is asked for, and free the list. */
void findings_close(struct findings *l);

#endif
