/*
 * Text of a run under way: values by row, what is known of them, and what has to hold.
 */
#ifndef PL_TIER_EMIT_H
#define PL_TIER_EMIT_H

#include "src/tier/tier_int.h"

#define EMIT_VALUES 160u
#define EMIT_NUMBERS 128u

/* Lane l has first + l * step; or lanes of the upper half high + (l - 16) * step. */
struct emit_line {
	bool is;
	u32 first; /* name of lane 0's, a scalar as wide as the row */
	u32 high;  /* that of lane 16's where the halves of a warp lie apart, else 0 */
	s64 step;
	u32 roots; /* bit i: it depends on root i of the run */
	bool late; /* it depends on more than lines: its text cannot stand before all other */
	bool known;
	u64 bits; /* known: the same for all lanes */
};

struct emit_value {
	u32 row;
	char class; /* W, X, P */
	bool written;
	u32 vec;    /* name of the vector of integers, 0: only `raw` or the line is there yet */
	u32 raw;    /* name of that of numbers, 0: none */
	u32 number; /* of 64 bits: its place among those that may be NaN + 1, 0: not one */
	struct emit_line line;
};

/* Of the code of a run: the first makes what is common to all. */
enum { VARIANT_FULL, VARIANT_MASKED, VARIANT_SPANS, VARIANTS };

struct emit {
	const struct program *p;
	struct tier_run *run;
	const struct tier_live *live;
	bool study, opaque;
	bool masked;  /* the variants for warps of which some lanes take part: */
	bool spans;   /* rows are loaded for all lanes, which has to be allowed */
	bool spanned; /* this makes a difference */
	/*
	 * Before the loop over warps; for a warp, what depends on lines alone, then all other: so
	 * that accesses to lines stand in one block with the operations between them.
	 */
	struct text head, early, late, *out, part[VARIANTS];
	u32 names, labels;
	u32 ok, ok_early; /* conditions that have to hold before the next access, 0: none */
	u32 mask;         /* masked: lanes, as <32 x i1> */
	u32 at;           /* micro-op, counted in the run */
	struct emit_value value[EMIT_VALUES];
	u32 values;
	struct {
		u32 raw;
		bool seen; /* its bits matter, so it must not be NaN */
	} number[EMIT_NUMBERS];
	u32 numbers;
	char pointer[8][24]; /* of emit_pointer */
	u32 pointers;
	bool failed;
};

/* ---- emit.c ---- */

u32 emit_name(struct emit *e);
void emit_text(struct emit *e, const char *fmt, ...) PL_PRINTF(2, 3);
const char *emit_type(char class);
/* "i32*", "ptr": overwritten some calls later. */
const char *emit_pointer(struct emit *e, const char *type);
/* A pointer from an address, names both. type: of what it points to. */
u32 emit_point(struct emit *e, u32 address, const char *type);
/*
 * What is emitted next is of lines, `late` or not. Returns what emit_return takes at its end.
 */
struct text *emit_of_line(struct emit *e, bool late);
void emit_return(struct emit *e, struct text *out);
/* A condition that has to hold from the next access on. */
void emit_require(struct emit *e, u32 condition);
/* A condition for each lane that takes part. Returns one for all of them. */
u32 emit_every(struct emit *e, u32 lanes);
/* Give up at this warp unless all that has been required holds: of lines, or of all other. */
void emit_flush_early(struct emit *e);
void emit_flush(struct emit *e);
/* The value of a row before micro-op `at`. */
struct emit_value *emit_read(struct emit *e, u32 row, char class);
u32 emit_vec(struct emit *e, struct emit_value *v);
u32 emit_raw(struct emit *e, struct emit_value *v);
/* A new value of a row. */
struct emit_value *emit_write(struct emit *e, u32 row, char class, u32 vec);
u32 emit_splat(struct emit *e, char class, u32 scalar);
/* Values of rows that are live out, and what has to hold for them; then, writing these rows. */
void emit_rows(struct emit *e);
void emit_rows_store(struct emit *e);
/* A constant of a micro-op for all lanes. */
void emit_constant(struct emit *e, char class, u64 bits);

/* ---- emit_line.c ---- */

/* What is known of a lane operation's result. */
struct emit_line emit_line_of(struct emit *e, const struct uop *in);
struct emit_line emit_line_known(struct emit *e, char class, u64 bits);
/* x extended to 64 bits, by its sign or by zeros; requires that no lane wraps around. */
struct emit_line emit_line_extend(struct emit *e, struct emit_line x, bool sign);
struct emit_line emit_line_add(struct emit *e, char class, struct emit_line x, struct emit_line y);
struct emit_line emit_line_scale(struct emit *e, char class, struct emit_line x, u64 by);

/* ---- emit_lane.c ---- */

bool emit_lane_knows(u32 op);
struct emit_line emit_first_of(struct emit *e, u32 row, char class);
void emit_lane(struct emit *e, const struct uop *in);

/* ---- emit_access.c ---- */

bool emit_access_knows(const struct program *p, const struct uop *in);
void emit_access(struct emit *e, const struct uop *in);

#endif
