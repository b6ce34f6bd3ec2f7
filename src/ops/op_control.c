/*
 * Guards, branches, calls, exits, barriers, and masked mode for lane operations. In gang mode a
 * branch on which the warps do not agree ends the run (STOP_DIVERGED); the warps then execute it
 * one by one. PTX ISA "Control Flow Instructions", "Predicated Execution".
 */
#include "src/exec/diverged.h"
#include "src/ops/tables.h"

#include <stdio.h>

/* Backward branches pay from the budget, so that a spinning gang lets others run. */
#define SPEND(pc_)                                                                                 \
	do {                                                                                       \
		if (in->flags & UOPF_BACK) {                                                       \
			exec_pay(g, in);                                                           \
			if (g->budget <= 0) {                                                      \
				g->pc = (pc_);                                                     \
				g->stop = STOP_YIELD;                                              \
				return NULL;                                                       \
			}                                                                          \
		}                                                                                  \
	} while (0)

static u32 guard_mask(const struct gang *g, const struct uop *in, u32 w)
{
	u32 p = ((const u32 *)(g->regs + in->guard))[g->warp + w];

	return in->flags & UOPF_GUARD_NOT ? ~p : p;
}

static const struct uop *diverge(struct gang *g, const struct uop *in)
{
	g->pc = (u32)(in - g->uops);
	g->stop = STOP_DIVERGED;
	return NULL;
}

/* Do all live lanes of the gang agree? 1: all true, 0: all false, -1: they differ. */
static int gang_vote(const struct gang *g, const struct uop *in)
{
	bool any = false, all = true;

	for (u32 w = 0; w < g->warps; w++) {
		u32 live = g->warp_at[w].live, t = guard_mask(g, in, w) & live;

		any |= t != 0;
		all &= t == live;
	}
	return all ? 1 : any ? -1 : 0;
}

/* Run the inner operation for some lanes of one warp of the gang. */
static void run_narrow(struct gang *g, const struct uop *in, u32 w, u32 mask, u32 live)
{
	g->lane0 = w * WARP_LANES;
	g->lanes = WARP_LANES;
	g->warp = w;
	g->active = mask;
	g->mode = MODE_WARP;
	(mask == live ? g->env->ops->mode[MODE_WARP] : g->env->ops->mode[MODE_MASKED])
		->run[in->inner](g, in);
}

HANDLER(guard_gang)
{
	int vote = gang_vote(g, in);
	bool full = g->full;
	u16 overwrite = g->overwrite;
	const struct uop *next;

	if (vote > 0)
		return g->table->run[in->inner](g, in);
	if (vote == 0)
		return in + 1;
	if (EXEC_NAME(diverged_guard)(g, in, &next))
		return next;
	g->full = false;
	g->overwrite = 0;
	for (u32 w = 0; w < g->warps && g->stop == STOP_NONE; w++) {
		u32 live = g->warp_at[w].live, t = ((const u32 *)(g->regs + in->guard))[w];

		t = (in->flags & UOPF_GUARD_NOT ? ~t : t) & live;
		if (t)
			run_narrow(g, in, w, t, live);
	}
	g->lane0 = g->warp = 0;
	g->lanes = g->warps * WARP_LANES;
	g->active = FULL_MASK;
	g->mode = MODE_GANG;
	g->full = full;
	g->overwrite = overwrite;
	return g->stop == STOP_NONE ? in + 1 : NULL;
}

HANDLER(guard_warp)
{
	u32 active = g->active, mask = guard_mask(g, in, 0) & g->warp_at[g->warp].mask;
	u16 overwrite = g->overwrite;
	const struct uop *next;

	if (mask == g->warp_at[g->warp].mask)
		return g->table->run[in->inner](g, in);
	if (!mask)
		return in + 1;
	g->active = mask;
	g->overwrite = 0;
	next = g->env->ops->mode[MODE_MASKED]->run[in->inner](g, in);
	g->active = active;
	g->overwrite = overwrite;
	return next;
}

/* Lane operations in masked mode: compute the whole warp, then put back what inactive lanes had. */
HANDLER(masked_w)
{
	u32 *d = ROW32(in->d), old[WARP_LANES], active = g->active;
	const struct uop *next;

	memcpy(old, d, sizeof(old));
	next = g->env->ops->mode[MODE_WARP]->run[in->inner](g, in);
	FOR_LANES(l, WARP_LANES)
		d[l] = active >> l & 1 ? d[l] : old[l];
	return next;
}

HANDLER(masked_x)
{
	u64 *d = ROW64(in->d), old[WARP_LANES];
	u32 active = g->active;
	const struct uop *next;

	memcpy(old, d, sizeof(old));
	next = g->env->ops->mode[MODE_WARP]->run[in->inner](g, in);
	FOR_LANES(l, WARP_LANES)
		d[l] = active >> l & 1 ? d[l] : old[l];
	return next;
}

/* In ordered mode the values of other lanes may be of no use to them any more. */
HANDLER(ordered_w)
{
	if (in->flags & UOPF_DEAD)
		return g->env->ops->mode[MODE_WARP]->run[in->inner](g, in);
	return EXEC_NAME(op_masked_w)(g, in);
}

HANDLER(ordered_x)
{
	if (in->flags & UOPF_DEAD)
		return g->env->ops->mode[MODE_WARP]->run[in->inner](g, in);
	return EXEC_NAME(op_masked_x)(g, in);
}

/* ---- branches ---- */

HANDLER(join_gang)
{
	(void)g;
	return in + 1;
}

HANDLER(join_warp)
{
	u32 pc = (u32)(in - g->uops);
	const struct warp *w = &g->warp_at[g->warp];

	if (PL_LIKELY(pc != g->rejoin && pc < w->stop))
		return in + 1;
	return warp_arrive(g, in);
}

HANDLER(bra_gang)
{
	SPEND((u32)(in - g->uops));
	return g->uops + in->branch.target;
}

HANDLER(bra_warp)
{
	if (in->flags & UOPF_BACK)
		return warp_back(g, in, in->branch.target);
	return warp_jump(g, in->branch.target);
}

/* The gang's lanes take both directions of a branch. */
static const struct uop *begin_divergence(struct gang *g, const struct uop *in)
{
	u32 taken[GANG_WARPS];

	if (!diverged_may_begin(g, in))
		return diverge(g, in);
	for (u32 w = 0; w < g->warps; w++)
		taken[w] = guard_mask(g, in, w) & g->warp_at[w].live;
	diverged_begin(g, in);
	return diverged_split(g, in, taken);
}

HANDLER(bra_pred_gang)
{
	int vote = gang_vote(g, in);

	if (vote < 0)
		return begin_divergence(g, in);
	if (!vote)
		return in + 1;
	SPEND((u32)(in - g->uops));
	return g->uops + in->branch.target;
}

HANDLER(bra_pred_warp)
{
	u32 mask = g->warp_at[g->warp].mask, taken = guard_mask(g, in, 0) & mask,
	    pc = (u32)(in - g->uops);

	if (!taken)
		return warp_jump(g, pc + 1);
	if (taken != mask)
		return warp_split(g, taken, in->branch.target, pc + 1);
	return in->flags & UOPF_BACK ? warp_back(g, in, in->branch.target)
				     : warp_jump(g, in->branch.target);
}

bool EXEC_NAME(branch_targets)(const struct gang *g, const struct uop *in, u32 *targets)
{
	const u32 *a = (const u32 *)(g->regs + in->a);

	for (u32 w = 0; w < g->warps; w++)
		for (u32 m = g->warp_at[w].live; m; m &= m - 1) {
			u32 l = w * WARP_LANES + (u32)__builtin_ctz(m);

			if (a[l] >= in->branch.cases)
				return false;
			targets[l] = g->env->program->ext[in->ext + a[l]];
		}
	return true;
}

/* ext: the targets. An index past the end is undefined; it faults. */
HANDLER(brx_idx_gang)
{
	u32 targets[GANG_WARPS * WARP_LANES], first = NO_PC, differ = 0;

	if (!EXEC_NAME(branch_targets)(g, in, targets))
		return diverge(g, in);
	for (u32 w = 0; w < g->warps; w++)
		for (u32 m = g->warp_at[w].live; m; m &= m - 1) {
			u32 t = targets[w * WARP_LANES + (u32)__builtin_ctz(m)];

			first = first == NO_PC ? t : first;
			differ |= t ^ first;
		}
	if (differ) {
		if (!diverged_may_begin(g, in))
			return diverge(g, in);
		diverged_begin(g, in);
		return diverged_scatter(g, in, targets);
	}
	SPEND((u32)(in - g->uops));
	return g->uops + first;
}

static const struct uop *beyond_table(struct gang *g, const struct uop *in, u32 index, u32 lanes)
{
	snprintf(g->fault->text, sizeof(g->fault->text),
		 "index %u into a table of %u branch targets", index, in->branch.cases);
	return exec_fault(g, in, FAULT_INVALID_PC, lanes);
}

HANDLER(brx_idx_warp)
{
	const u32 *a = ROW32(in->a);
	u32 targets[WARP_LANES] = {0}, mask = g->warp_at[g->warp].mask;

	for (u32 m = mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		if (a[l] >= in->branch.cases)
			return beyond_table(g, in, a[l], 1u << l);
		targets[l] = g->env->program->ext[in->ext + a[l]];
	}
	return warp_scatter(g, targets, in->flags & UOPF_BACK ? in : NULL);
}

/* ---- end of threads ---- */

HANDLER(exit_gang)
{
	u32 left = 0;

	if (in->guard == NO_ROW) {
		for (u32 w = 0; w < g->warps; w++)
			g->warp_at[w].live = 0;
		g->stop = STOP_DONE;
		return NULL;
	}
	/* Those that stay still stand together. */
	for (u32 w = 0; w < g->warps; w++) {
		u32 *live = &g->warp_at[w].live, gone = guard_mask(g, in, w);

		g->full &= !(*live & gone);
		*live &= ~gone;
		left |= *live;
	}
	if (left)
		return in + 1;
	g->stop = STOP_DONE;
	return NULL;
}

HANDLER(exit_warp)
{
	u32 mask = g->warp_at[g->warp].mask, gone = mask;

	if (in->guard != NO_ROW)
		gone &= guard_mask(g, in, 0);
	if (!gone)
		return in + 1;
	return warp_exit(g, gone, (u32)(in - g->uops) + 1);
}

/* ---- barriers ---- */

/* Warps that have exited do not count where a thread count is given. */
static inline bool is_anyone_gone(const struct gang *g)
{
	for (u32 w = 0; w < g->warps; w++)
		if (!g->warp_at[w].live)
			return true;
	return false;
}

/*
 * Does the gang meet itself here, being the whole CTA? Threads that have exited count as arrived.
 */
static inline bool meets_itself(const struct gang *g, const struct uop *in)
{
	u32 threads = in->barrier.threads;

	return g->cta->gangs == 1 && in->c == NO_ROW &&
	       (!threads || (threads == g->warps * WARP_LANES && !is_anyone_gone(g)));
}

HANDLER(bar_sync_gang)
{
	if (meets_itself(g, in))
		return in + 1;
	if (in->a != NO_ROW || in->c != NO_ROW)
		return diverge(g, in);
	g->pc = (u32)(in - g->uops);
	g->stop = STOP_BARRIER;
	return NULL;
}

HANDLER(bar_sync_warp)
{
	return barrier_sync(g, in);
}

/* A gang of four warps or more is made of whole warpgroups. */
HANDLER(warpgroup_sync_gang)
{
	if (g->cta->gangs == 1 || g->warps % WARPGROUP_WARPS == 0)
		return in + 1;
	return diverge(g, in);
}

HANDLER(warpgroup_sync_warp)
{
	return barrier_warpgroup(g, in);
}

/* An arrival of all threads completes the phase. */
HANDLER(bar_arrive_gang)
{
	return meets_itself(g, in) ? in + 1 : diverge(g, in);
}

HANDLER(bar_arrive_warp)
{
	return barrier_arrive(g, in);
}

/* Reduces predicate b into d. */
HANDLER(bar_red_gang)
{
	u32 popc = 0, threads = 0, v;

	if (!meets_itself(g, in))
		return diverge(g, in);
	for (u32 w = 0; w < g->warps; w++) {
		u32 live = g->warp_at[w].live;

		popc += (u32)__builtin_popcount(ROWP(in->b)[w] & live);
		threads += (u32)__builtin_popcount(live);
	}
	if (in->d == NO_ROW)
		return in + 1;
	if (in->barrier.reduction == BAR_POPC) {
		u32 *d = ROW32(in->d);

		FOR_LANES(l, LANES)
			d[l] = popc;
		return in + 1;
	}
	v = (in->barrier.reduction == BAR_AND ? popc == threads : popc != 0) ? FULL_MASK : 0;
	for (u32 w = 0; w < g->warps; w++)
		ROWP(in->d)[w] = v;
	return in + 1;
}

HANDLER(bar_red_warp)
{
	return barrier_red(g, in);
}

HANDLER(cluster_arrive_gang)
{
	g->cta->diverged = true;
	for (u32 w = 0; w < g->warps; w++)
		g->warp_at[w].cluster_arrived = g->warp_at[w].live;
	return in + 1;
}

HANDLER(cluster_arrive_warp)
{
	g->warp_at[g->warp].cluster_arrived |= g->active;
	return in + 1;
}

HANDLER(cluster_wait_gang)
{
	/* Alone in its cluster, a gang that is the whole CTA meets itself. */
	if (g->cta->cluster || g->cta->gangs > 1)
		return diverge(g, in);
	for (u32 w = 0; w < g->warps; w++)
		g->warp_at[w].cluster_arrived = 0;
	return in + 1;
}

HANDLER(cluster_wait_warp)
{
	return barrier_cluster_wait(g, in);
}

/* One worker alone runs in one order; others need the host's fence. PTX ISA "membar, fence". */
HANDLER(fence)
{
	if (g->env->concurrent || (in->flags & UOPF_SYSTEM))
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return in + 1;
}

HANDLER(yield_gang)
{
	g->pc = (u32)(in - g->uops) + 1;
	g->stop = STOP_YIELD;
	return NULL;
}

HANDLER(yield_warp)
{
	return warp_yield(g, (u32)(in - g->uops) + 1);
}

/*
 * What CTAs do to memory in an order that shows begins when those before have ended
 * (PTXLOOM_STABLE).
 */
static bool is_in_order(const struct gang *g)
{
	const u64 *first = g->env->first;

	return !first || __atomic_load_n(first, __ATOMIC_ACQUIRE) >= g->cta->place;
}

HANDLER(in_order_gang)
{
	if (PL_LIKELY(is_in_order(g)))
		return in + 1;
	g->pc = (u32)(in - g->uops);
	g->stop = STOP_YIELD;
	return NULL;
}

HANDLER(in_order_warp)
{
	return PL_LIKELY(is_in_order(g)) ? in + 1 : warp_yield(g, (u32)(in - g->uops));
}

/* ---- the rest ---- */

HANDLER(nop)
{
	(void)g;
	return in + 1;
}

HANDLER(mark)
{
	(void)g;
	return in + 1;
}

/* All lanes that take part fault; the first warp with such lanes is reported. */
static const struct uop *fault_all(struct gang *g, const struct uop *in, enum fault_kind kind)
{
	u32 lanes = g->active;

	if (g->mode == MODE_GANG) {
		while (g->warp + 1 < g->warps && !g->warp_at[g->warp].live)
			g->warp++;
		lanes = g->warp_at[g->warp].live;
	}
	return exec_fault(g, in, kind, lanes);
}

HANDLER(poison)
{
	const char *note = exec_program_note(g->env->program, (u32)(in - g->uops));

	snprintf(g->fault->text, sizeof(g->fault->text), "%s", note ? note : "");
	return fault_all(g, in, FAULT_ILLEGAL_INSTRUCTION);
}

HANDLER(trap)
{
	return fault_all(g, in, FAULT_TRAP);
}

/* Without a debugger the same as trap. */
HANDLER(brkpt)
{
	return fault_all(g, in, FAULT_TRAP);
}

/* ---- tables ---- */

#define TABLE(mode) table_##mode
#define TABLE_BODY(twin, body) body
#include "src/ops/mode_tables.inc"

static const struct exec_table table_ordered = {{
#define TABLE_LANE(id, shape) RESULT_##shape(ORDERED, id)
#define TABLE_UOP(id, bodies, twin, diverged) WARP_BODY_##bodies(id)
#include "src/uop/table/table.def"
}};

void EXEC_NAME(run_loop)(struct gang *g, const struct uop *in)
{
	do
		in = g->table->run[in->op](g, in);
	while (in);
}

/* For programs that read clocks. */
void EXEC_NAME(run_loop_counted)(struct gang *g, const struct uop *in)
{
	do {
		g->clock += EXEC_UOP_CYCLES;
		in = g->table->run[in->op](g, in);
	} while (in);
}

const struct exec_ops EXEC_NAME(exec_ops_counted) = {
	.level = EXEC_LEVEL_TEXT,
	.mode = {&table_gang, &table_warp, &table_masked, &table_ordered},
	.diverged = &EXEC_NAME(table_diverged),
	.loop = EXEC_NAME(run_loop_counted),
	.settle = EXEC_NAME(warp_settle),
	.watched = &EXEC_NAME(exec_ops_watched),
	.apart = &EXEC_NAME(exec_ops_apart),
	.counted = &EXEC_NAME(exec_ops_counted),
};

const struct exec_ops EXEC_NAME(exec_ops) = {
	.level = EXEC_LEVEL_TEXT,
	.mode = {&table_gang, &table_warp, &table_masked, &table_ordered},
	.diverged = &EXEC_NAME(table_diverged),
	.loop = EXEC_NAME(run_loop),
	.settle = EXEC_NAME(warp_settle),
	.watched = &EXEC_NAME(exec_ops_watched),
	.apart = &EXEC_NAME(exec_ops_apart),
	.counted = &EXEC_NAME(exec_ops_counted),
};
