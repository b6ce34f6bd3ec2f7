/*
 * What form_cross is made of: form_cross.c runs forms and compares lines, form_cross_programs.c
 * runs random programs.
 */
#ifndef PL_TESTS_FORM_CROSS_H
#define PL_TESTS_FORM_CROSS_H

#include "tests/fuzz/formgen.h"
#include "tests/fuzz/progen.h"
#include "tests/oracle/cross.h"

#include <time.h>

#define FILL 0xcdu
#define UNIT_SECONDS 40u /* a unit that takes longer does not end */

enum state { WAITING, DONE, REFUSED, FAILS };

/* One line: a form or a program. */
struct unit {
	char *name;
	u32 form, row; /* of a program: ISA_ROWS, or the row that it is about */
	u64 seed;
	u32 expected;
	bool has_expected;
};

struct result {
	u32 state, digest, code;
};

struct options {
	const char *library, *other, *only, *expected, *dump, *examine, *print;
	u32 limit, jobs, seconds;
	u64 programs, for_row, seed;
};

/* The whole run. */
extern struct form_cross {
	struct options o;
	struct formgen_list forms;
	VEC(struct unit) units;
	struct result *results; /* shared by the processes */
	u64 *next;              /* of each process: the unit that comes next */
	struct cross_driver cu, other;
	u32 differ, fail, compared;
	time_t started;
} all;

u32 cross_digest(const u64 *words, size_t n);

/* Has the unit another digest than the lines of -w say? */
bool unit_differs(const struct unit *u, const struct result *r);

/* The file of the unit's results in a folder. */
void unit_path(char *path, size_t size, const char *dir, const struct unit *u);

/* Writes them, for -d. */
void unit_dump(const struct unit *u, const void *data, size_t bytes);

/* Writes a module's text, for -P. */
void unit_print(u64 number, const char *ptx);

/* Runs a program and notes its result. False: the context is lost. */
bool unit_run_program(struct unit *u);

#endif
