/*
 * Affine values: 32-bit values of the form lanes + constant + kx * %ctaid.x + ky * %ctaid.y + kz *
 * %ctaid.z, where `lanes` is a launch value, a row, and the others are launch values that all lanes
 * share. Indices and the bounds they are compared with nearly always are: what is known of the row
 * of lanes once for a launch then tells for every CTA where its accesses begin and end, without a
 * row of the value being made. All arithmetic wraps around as the registers' does.
 */
#ifndef PL_EXEC_AFFINE_H
#define PL_EXEC_AFFINE_H

#include "src/exec/exec.h"

enum affine_part { AFFINE_CONST, AFFINE_X, AFFINE_Y, AFFINE_Z, AFFINE_PARTS };

/* What the launch knows of one. Indexed by sign: 0 as unsigned, 1 as signed numbers. */
struct affine {
	u32 part[AFFINE_PARTS];
	u32 low[2];  /* least of the lanes' values */
	u32 span[2]; /* greatest - least */
	/* groups of so many lanes (all, 32 or 16) lie `step` apart each; 0: they do not */
	u32 unit;
	u32 step;
};

/* The same of a 64-bit value: usually an address. */
struct affine_wide {
	u64 part[AFFINE_PARTS];
	u64 low, span; /* as signed numbers */
	u64 bits;      /* in which any lane's value - low has ones */
	u64 step;
	u32 unit;
};

/* How a value is compared with one that all lanes share. */
enum affine_compare {
	AFFINE_EQ,
	AFFINE_LT,
	AFFINE_LE,
	AFFINE_BASE = 3,
	AFFINE_NOT = 4, /* the opposite */
	AFFINE_SIGNED = 8,
	AFFINE_WIDE =
		16, /* the value extended to 64 bits, by its sign or by zeros, with one of 64 */
	AFFINE_EXTEND_SIGNED = 32,
};

/* Of the gang: as its own register block has it. */
static inline struct affine *affine_at(const struct gang *g, u32 index)
{
	return (struct affine *)(void *)(g->regs + g->env->program->affine_at) + index;
}

static inline struct affine_wide *affine_wide_at(const struct gang *g, u32 index)
{
	return (struct affine_wide *)(void *)(g->regs + g->env->program->wide_at) + index;
}

static inline u64 affine_wide_offset(const struct affine_wide *a, const u32 *ctaid)
{
	return a->part[AFFINE_CONST] + a->part[AFFINE_X] * ctaid[0] + a->part[AFFINE_Y] * ctaid[1] +
	       a->part[AFFINE_Z] * ctaid[2];
}

/* Of all gangs of the CTA: after those of the first. */
static inline struct affine *affine_whole(const struct cta *c, u32 index)
{
	return affine_at(c->gang, index + (c->gangs > 1 ? c->env->program->affines : 0));
}

/* ---- run.c, idle.c ---- */

/* Run what is the same for every CTA of the launch, when the first CTA of the launch is known. */
void exec_cta_launch(struct cta *c);
/* Note which of its predicates have the same value for all threads. */
void exec_idle_prepare(struct cta *c);

/* What the CTA adds to the lanes' part. */
static inline u32 affine_offset(const struct affine *a, const u32 *ctaid)
{
	return a->part[AFFINE_CONST] + a->part[AFFINE_X] * ctaid[0] + a->part[AFFINE_Y] * ctaid[1] +
	       a->part[AFFINE_Z] * ctaid[2];
}

/* Signed numbers, moved so that they compare as unsigned ones. */
static inline u32 affine_top(u32 sign)
{
	return sign << 31;
}

/*
 * The comparison with 64 bits as one of 32: the same, one that is always true, or one that never
 * is. Returns the other operand.
 */
static inline u32 affine_narrow(u32 *compare, u64 y)
{
	u32 base = *compare & AFFINE_BASE, rest = *compare & AFFINE_NOT,
	    sign = *compare & AFFINE_EXTEND_SIGNED ? 1 : 0;
	u64 low = sign ? (u64)(s64)INT32_MIN : 0;

	if (y - low <= UINT32_MAX) {
		*compare = base | rest | (sign ? AFFINE_SIGNED : 0);
		return (u32)y;
	}
	/* y is less than all numbers of 32 bits, or unequal to them anyway. */
	if (base == AFFINE_EQ || ((*compare & AFFINE_SIGNED) && (s64)y < (s64)low)) {
		*compare = AFFINE_LT | rest;
		return 0;
	}
	*compare = AFFINE_LE | rest;
	return UINT32_MAX;
}

/* The other operand of a comparison, from its row's first lane. */
static inline u32 affine_operand(const u8 *row, u32 *compare)
{
	u64 y;

	if (!(*compare & AFFINE_WIDE))
		return *(const u32 *)(const void *)row;
	memcpy(&y, row, sizeof(y));
	return affine_narrow(compare, y);
}

/*
 * What a comparison says of all lanes, and how far the least lane's value may go without a change.
 */
struct affine_answer {
	int all; /* 1: it holds for all, 0: for none, -1: lanes have to be compared */
	u32 low; /* the least lane's value; comparable as unsigned, as are the others */
	u32 from, to;
};

/* offset: affine_offset; y: the other operand. */
static inline struct affine_answer affine_decide(const struct affine *a, u32 compare, u32 offset,
						 u32 y)
{
	u32 sign = compare & AFFINE_SIGNED ? 1 : 0, span = a->span[sign],
	    low = (a->low[sign] + offset) ^ affine_top(sign), high = low + span;
	struct affine_answer r = {-1, low, 0, UINT32_MAX - span};
	bool equal = (compare & AFFINE_BASE) == AFFINE_EQ, less;

	y ^= affine_top(sign);
	if (high < low)
		return r;
	/* Up to where values are on the lower side; EQ: where they are below y. */
	less = (compare & AFFINE_BASE) == AFFINE_LE ? high <= y : high < y;
	if (less) {
		r.all = !equal;
		r.to = y - span - ((compare & AFFINE_BASE) == AFFINE_LE ? 0 : 1);
	} else if (low > y || (low == y && (compare & AFFINE_BASE) == AFFINE_LT)) {
		r.all = 0;
		r.from = y + ((compare & AFFINE_BASE) == AFFINE_LT ? 0 : 1);
	} else if (equal && low == y && !span) {
		r.all = 1;
		r.from = r.to = y;
	}
	if (r.all >= 0 && compare & AFFINE_NOT)
		r.all = !r.all;
	return r;
}

#endif
