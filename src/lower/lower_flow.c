/*
 * What follows from the order of blocks: where branches meet again (immediate post-dominators), and
 * which results lanes that wait further on do not read.
 */
#include "src/lower/lower_flow.h"

#include <stdlib.h>

/* ---- post-dominators ---- */

/*
 * Cooper, Harvey and Kennedy's iteration on the reversed graph; block `blocks` is the common exit.
 */
static u32 common_postdominator(const u32 *ipdom, u32 a, u32 b)
{
	while (a != b) {
		while (a < b)
			a = ipdom[a];
		while (b < a)
			b = ipdom[b];
	}
	return a;
}

/*
 * Blocks are numbered in code order, a good post-order as lower_order.c makes it; where a loop with
 * several entries makes a block's post-dominator precede it, the answer is the exit: no
 * reconvergence point.
 */
bool flow_find_joins(struct flow *f)
{
	u32 exit = f->blocks, *ipdom = malloc(sizeof(u32) * (exit + 1));
	bool changed = true;

	if (!ipdom)
		return false;
	for (u32 b = 0; b <= exit; b++)
		ipdom[b] = NO_PC;
	ipdom[exit] = exit;
	while (changed) {
		changed = false;
		for (u32 b = exit; b-- > 0;) {
			const struct block *x = &f->block[b];
			u32 n = x->succs + x->exts, new = n ? NO_PC : exit;

			for (u32 s = 0; s < n; s++) {
				u32 t = flow_successor(f, x, s);

				if (t <= b || ipdom[t] == NO_PC)
					continue; /* backward edges: the loop's exit decides */
				new = new == NO_PC ? t : common_postdominator(ipdom, new, t);
			}
			if (new == NO_PC)
				new = exit;
			changed |= new != ipdom[b];
			ipdom[b] = new;
		}
	}
	for (u32 b = 0; b < exit; b++) {
		const struct block *x = &f->block[b];
		struct uop *last = &f->l->uops.at[x->end - 1], *meeting;
		u32 join;

		if (!uop_is_branch(last->op) || ipdom[b] == exit)
			continue;
		join = f->block[ipdom[b]].first;
		*(last->op == OP_call ? &last->call.join : &last->branch.join) = join;
		meeting = &f->l->uops.at[join];
		if (meeting->op == OP_join && x->succs + x->exts > 1)
			meeting->branch.join = join;
	}
	free(ipdom);
	return true;
}

/* ---- loops that wait ---- */

/*
 * Does an iteration of the loop of these blocks leave nothing, in rows or memory, that the next
 * one reads?
 */
static bool carries_nothing(const struct flow *f, const struct block *head,
			    const struct block *last)
{
	const struct lower *l = f->l;

	for (u32 i = head->first; i < last->end; i++)
		if (exec_is_store(&l->uops.at[i]))
			return false;
	for (u32 r = f->first_ref[head->first]; r < f->first_ref[last->end]; r++) {
		u32 v = l->refs.at[r].vreg;

		if (l->refs.at[r].write &&
		    (!flow_is_tracked(l, v) || head->in[v / 64] >> v % 64 & 1))
			return false;
	}
	return true;
}

/*
 * Every iteration of such a loop does the same, unless another thread changes what it reads:
 * whatever its loads look like, it waits. A loop that counts or computes carries at least one row.
 */
void flow_mark_waits(struct flow *f)
{
	struct lower *l = f->l;

	for (u32 b = 0; b < f->blocks; b++) {
		struct uop *in = &l->uops.at[f->block[b].end - 1];

		if ((in->inner == OP_bra || in->inner == OP_bra_pred) &&
		    in->branch.target != NO_PC && in->branch.target < f->block[b].end &&
		    carries_nothing(f, &f->block[f->block_of[in->branch.target]], &f->block[b]))
			in->flags |= UOPF_POLL;
	}
}

/* ---- rows that lanes which wait do not read ---- */

/* Does it write all its results at once, so that those of lanes that wait may be overwritten? */
static bool may_be_dead(const struct uop *in)
{
	return uop_is_lane(in->op) || uop_info[in->op].kind == UOP_LOAD;
}

/* The block's results that are in no row of `read`, those that later blocks read. */
static void mark_dead_block(struct flow *f, const struct block *x, const u32 *offset,
			    const bool *read)
{
	struct lower *l = f->l;

	for (u32 i = x->first; i < x->end; i++)
		if (may_be_dead(&l->uops.at[i]))
			l->uops.at[i].flags |= UOPF_DEAD;
	for (u32 r = f->first_ref[x->first]; r < f->first_ref[x->end]; r++) {
		const struct row_ref *ref = &l->refs.at[r];
		const struct vreg *v = &l->vregs.at[ref->vreg];
		struct uop *in = &l->uops.at[ref->insn];
		bool flag = uop_is_lane(in->op) && ref->field != FIELD_D;

		if (ref->write && !flag && may_be_dead(in) &&
		    (!flow_is_tracked(l, ref->vreg) || read[offset[v->class] + v->row]))
			in->flags &= (u16)~UOPF_DEAD;
	}
}

/*
 * Where lanes of a warp have diverged at branches and the lowest of their places goes first, those
 * that wait do so at the beginnings of later blocks. What none of them reads may be written for all
 * lanes. Calls lead away from the order of the micro-ops: this holds in the kernel, which comes
 * last, while no lane is in a function. Rows that live everywhere have readers that are not seen
 * here.
 */
bool flow_mark_dead(struct flow *f, const u32 rows[3])
{
	struct lower *l = f->l;
	u32 offset[3] = {0, rows[0], rows[0] + rows[1]};
	bool *read = calloc(rows[0] + rows[1] + rows[2] + 1, sizeof(bool));

	if (!read)
		return false;
	for (u32 b = f->blocks; b-- > 0;) {
		const struct block *x = &f->block[b];

		if (l->uops.at[x->first].func)
			continue;
		mark_dead_block(f, x, offset, read);
		for (u32 w = 0; w < f->words; w++)
			for (u64 m = x->in[w]; m; m &= m - 1) {
				const struct vreg *v =
					&l->vregs.at[w * 64 + (u32)__builtin_ctzll(m)];

				read[offset[v->class] + v->row] = true;
			}
	}
	free(read);
	return true;
}
