/*
 * Where command lines come from: files, options, the bodies of loops, the terminal; and the
 * commands that take several lines: if, while, define, document, commands.
 */
#ifndef PL_DEBUG_SCRIPT_H
#define PL_DEBUG_SCRIPT_H

#include "src/base/text.h"
#include "src/base/vec.h"

struct front;

/* One line after another. */
struct script {
	/*
	 * The next line, owned by the caller, without its end; NULL: there is none. prompt: what a
	 * terminal shows, NULL the usual one.
	 */
	char *(*next)(struct script *s, const char *prompt);
	const char *name;     /* of the file, NULL: no file */
	u32 line;             /* number of the last one read */
	const char *at, *end; /* for next: what is left of a text */
	bool repeats;         /* an empty line does the last command again */
	void *user;
};

/* Lines of a text; `text` is borrowed. */
void script_of_text(struct script *s, const char *text, size_t n);

/* How a command went. */
enum front_result {
	FRONT_OK,
	FRONT_ERROR,
	FRONT_MORE, /* more lines are wanted, up to `end` */
	FRONT_QUIT, /* the session is to end with front.status */
};

/* Everything that is there; FRONT_ERROR: at least one command failed, all the same. */
enum front_result script_run(struct front *f, struct script *s);
/* A file of commands. */
enum front_result script_source(struct front *f, const char *path);

/* A command that the user has defined. */
struct script_macro {
	char *name, *body, *help; /* owned; help NULL: there is none */
};

struct script_macros {
	VEC(struct script_macro) list;
};

void script_macros_fini(struct script_macros *m);

#endif
