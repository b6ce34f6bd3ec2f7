/*
 * Private to src/debugger: expressions of commands.
 */
#ifndef PL_DEBUGGER_LOOK_VALUE_H
#define PL_DEBUGGER_LOOK_VALUE_H

#include "src/debugger/look.h"

/* An expression and its value, or a type. */
struct look_evaluated {
	struct dbg_expr *e;
	struct dbg_context c;
	struct dbg_type *type; /* NULL: it is a value */
	struct dbg_value v;
};

/* The caller frees it with look_evaluated_fini when this returns true; else one line in `why`. */
bool look_evaluate_in(const struct dbg_context *c, const char *text, struct look_evaluated *out,
		      struct text *why);
/* A value in the focus; else an error is said. */
bool look_evaluate(struct debugger *x, const char *text, struct look_evaluated *out);
void look_evaluated_fini(struct look_evaluated *v);
/* A number in the focus; else an error is said. */
bool look_number(struct debugger *x, const char *text, s64 *out);
void look_say_why(struct debugger *x, const struct text *why);

struct look_format {
	struct dbg_format f;
	bool lanes, matrix;
	enum dbg_object object; /* print/tensormap and the like */
};

bool look_read_format(struct debugger *x, const char *text, struct look_format *out);

/* ---- a value for each lane: look_lanes.c ---- */

/* What expressions mean for a lane of the warp in focus. False: it is not there. */
bool look_lane_context(struct debugger *x, u32 lane, struct dbg_context *out);

/* Values of an expression for lanes, as text. */
struct lane_values {
	struct text at[WARP_LANES];
	u32 there;       /* lanes that have a value */
	struct text why; /* of the first that has none though it is there */
};

/* text: the expression. False: it cannot be read, `why` says how. */
bool look_lane_values(struct debugger *x, const char *text, const struct dbg_format *f, u32 lanes,
		      struct lane_values *out);
void look_lane_values_fini(struct lane_values *v);
void look_print_lanes(struct debugger *x, const char *text, const struct dbg_format *f);

/* ---- look_matrix.c ---- */

void look_print_matrix(struct debugger *x, const char *text, const struct dbg_format *format);

#endif
