/*
 * Private to lower_rows.c and lower_flow.c: the program as blocks, with the virtual rows that live
 * at their beginnings and ends.
 */
#ifndef PL_LOWER_FLOW_H
#define PL_LOWER_FLOW_H

#include "src/lower/lower_int.h"

struct block {
	u32 first, end;
	u32 succ[2], succs; /* more successors (brx.idx) are in ext */
	u32 ext, exts;
	u64 *in, *out, *use, *def;
	u32 ipdom;
};

struct flow {
	struct lower *l;
	struct block *block;
	u32 blocks;
	u32 *block_of;  /* micro-op -> block */
	u32 *first_ref; /* micro-op -> first row_ref */
	u32 words;      /* of a bit set */
	u64 *bits;
};

static inline bool flow_is_tracked(const struct lower *l, u32 v)
{
	return !l->vregs.at[v].is_const && !l->vregs.at[v].pinned;
}

static inline u32 flow_successor(const struct flow *f, const struct block *x, u32 i)
{
	return i < x->succs ? x->succ[i] : f->block_of[f->l->ext.at[x->ext + i - x->succs]];
}

/* Find the reconvergence point of every branch. False when memory is out. */
bool flow_find_joins(struct flow *f);
/* Mark the backward branches of loops that only wait for memory to change (UOPF_POLL). */
void flow_mark_waits(struct flow *f);
/* Find the micro-ops whose result no waiting lane reads (UOPF_DEAD). False when memory is out. */
bool flow_mark_dead(struct flow *f, const u32 rows[3]);

#endif
