/*
 * Private to query*.c: what numbers of replies stand for, and pieces of JSON.
 */
#ifndef PL_QUERY_INT_H
#define PL_QUERY_INT_H

#include "src/debugger/query/query.h"

enum query_kind {
	QUERY_LOCALS,
	QUERY_ARGUMENTS,
	QUERY_SHARED,
	QUERY_LAUNCH,
	QUERY_REGISTERS,
	QUERY_VALUE, /* parts of an expression's value */
	QUERY_LANES, /* its value in each lane */
};

/* A variablesReference. */
struct query_reference {
	u8 kind; /* enum query_kind */
	struct focus focus;
	char *text; /* QUERY_VALUE, QUERY_LANES: the expression; owned */
};

/* A thread: lanes of a warp, and how many warps of the CTA stand at the same place. */
struct query_thread {
	struct focus focus; /* its lowest lane */
	u32 lanes, warps;
};

struct query_state {
	u64 serial; /* of the stop that all this is about */
	VEC(struct query_thread) threads;
	VEC(struct focus) frames;
	VEC(struct query_reference) references;
	VEC(u32) placed; /* breakpoints whose places were told; of the whole session */
};

/* An object or array that is being written: whether a comma is due. */
struct json {
	struct text *out;
	bool more;
};

void json_open(struct json *j, char bracket);
void json_close(struct json *j, char bracket);
/* A comma before an element of an array, unless it is the first. */
void json_item(struct json *j);
/* The name of a member; the value follows. */
void json_name(struct json *j, const char *name);
void json_string(struct json *j, const char *name, const char *value);
void json_number(struct json *j, const char *name, s64 value);
void json_bool(struct json *j, const char *name, bool value);
/* The whole reply. */
void query_error(struct text *out, const char *format, ...) PL_PRINTF(2, 3);

/* The number of a new reference; 0: no memory. text is copied; NULL: none. */
u32 query_refer(struct debugger *x, enum query_kind kind, const struct focus *f, const char *text);
/* The next number of the arguments; 0 when there is none. */
s64 query_take(const char **args);

/* The queries, in query*.c. */
typedef void query_fn(struct debugger *x, const char *args, struct text *out);
query_fn query_scopes, query_variables, query_evaluate, query_set_variable, query_set_expression,
	query_expression, query_memory, query_write_memory, query_modules, query_sources,
	query_lines, query_source, query_disassemble, query_step_targets;

/* Of a module, for sourceReference; 0: it is not loaded. */
s64 query_module_number(struct debugger *x, const struct loaded *l);
/* The frame of this number, NULL after a reply that there is none. 0: the focus. */
const struct focus *query_frame(struct debugger *x, s64 id, struct text *out);

#endif
