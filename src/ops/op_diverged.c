/*
 * The handlers of diverged gangs: lane operations whose results are blended, guards, branches,
 * exits. See diverged.h.
 */
#include "src/exec/diverged.h"
#include "src/ops/tables.h"

#define GANG_TABLE (g->env->ops->mode[MODE_GANG])

/* ---- lane operations ---- */

/* The carry flag that the micro-op writes, NULL: none. The row may be that of an operand, too. */
static inline u32 *flag_of(const struct gang *g, const struct uop *in)
{
	bool has = uop_is_lane(in->inner) && in->lane.e != NO_ROW;

	return has && in->lane.e >= g->env->program->preds_at ? ROWP(in->lane.e) : NULL;
}

/* The operation with its result in a row of its own. */
static void run_beside(struct gang *g, const struct uop *in)
{
	struct uop beside = *in;
	u32 *flag = flag_of(g, in), old[GANG_WARPS], n = WARPS;

	beside.d = g->env->program->diverged_at;
	for (u32 w = 0; flag && w < n; w++)
		old[w] = flag[w];
	GANG_TABLE->run[in->inner](g, &beside);
	for (u32 w = 0; flag && w < n; w++) {
		u32 live = g->warp_at[g->warp + w].live;

		flag[w] = (flag[w] & live) | (old[w] & ~live);
	}
}

static HANDLER(diverged_w)
{
	if (in->flags & UOPF_DEAD && !flag_of(g, in))
		return GANG_TABLE->run[in->inner](g, in);
	run_beside(g, in);
	for (u32 w = 0, n = WARPS; w < n; w++) {
		u32 mask = g->warp_at[g->warp + w].live, at = w * WARP_LANES;

		if (mask)
			blend_words(ROW32(in->d) + at, ROW32(g->env->program->diverged_at) + at,
				    mask);
	}
	return in + 1;
}

static HANDLER(diverged_x)
{
	if (in->flags & UOPF_DEAD && !flag_of(g, in))
		return GANG_TABLE->run[in->inner](g, in);
	run_beside(g, in);
	for (u32 w = 0, n = WARPS; w < n; w++) {
		u32 mask = g->warp_at[g->warp + w].live, at = w * WARP_LANES;

		if (mask)
			blend_pairs(ROW64(in->d) + at, ROW64(g->env->program->diverged_at) + at,
				    mask);
	}
	return in + 1;
}

static HANDLER(diverged_p)
{
	u32 *d = ROWP(in->d), old[GANG_WARPS], n = WARPS;

	if (in->flags & UOPF_DEAD)
		return GANG_TABLE->run[in->inner](g, in);
	for (u32 w = 0; w < n; w++)
		old[w] = d[w];
	GANG_TABLE->run[in->inner](g, in);
	for (u32 w = 0; w < n; w++) {
		u32 live = g->warp_at[g->warp + w].live;

		d[w] = (d[w] & live) | (old[w] & ~live);
	}
	return in + 1;
}

/* ---- others ---- */

static HANDLER(diverged_narrow)
{
	u32 first = g->warp, n = WARPS;

	g->mode = MODE_WARP;
	g->lanes = WARP_LANES;
	for (u32 w = first; w < first + n && g->stop == STOP_NONE; w++) {
		g->active = g->warp_at[w].live;
		g->warp = w;
		g->lane0 = w * WARP_LANES;
		if (g->active)
			g->env->ops->mode[MODE_WARP]->run[in->inner](g, in);
	}
	g->mode = MODE_GANG;
	g->active = FULL_MASK;
	g->warp = first;
	g->lane0 = first * WARP_LANES;
	g->lanes = n * WARP_LANES;
	return g->stop == STOP_NONE ? in + 1 : NULL;
}

static HANDLER(diverged_leave)
{
	return diverged_to_warps(g, (u32)(in - g->uops));
}

/* Warps that run here have all their lanes here: none can be missing. */
static HANDLER(warp_sync_diverged)
{
	u32 first = g->warp, lanes = g->lanes;
	const struct uop *next;

	for (u32 w = first; w < first + lanes / WARP_LANES; w++)
		if (g->warp_at[w].live && g->warp_at[w].live != g->diverged.live[w])
			return EXEC_NAME(op_diverged_leave)(g, in);
	g->lane0 = g->warp = 0;
	g->lanes = g->warps * WARP_LANES;
	next = GANG_TABLE->run[in->inner](g, in);
	if (!next)
		return NULL;
	g->warp = first;
	g->lane0 = first * WARP_LANES;
	g->lanes = lanes;
	return next;
}

/* ---- guards, branches, exits ---- */

static inline u32 guard_of(const struct gang *g, const struct uop *in, u32 w)
{
	u32 p = ((const u32 *)(g->regs + in->guard))[w];

	return (in->flags & UOPF_GUARD_NOT ? ~p : p) & g->warp_at[w].live;
}

/* Running lanes whose guard is true, by warp. Returns 1: all, 0: none, -1: some. */
static inline int guards_of(const struct gang *g, const struct uop *in, u32 *mask)
{
	u32 any = 0, others = 0;

	memset(mask, 0, sizeof(u32) * GANG_WARPS);
	for (u32 w = g->warp, end = w + WARPS; w < end; w++) {
		mask[w] = guard_of(g, in, w);
		any |= mask[w];
		others |= mask[w] ^ g->warp_at[w].live;
	}
	return !others ? 1 : any ? -1 : 0;
}

/*
 * Can the operation be run for some of the running lanes? What waits for lanes has to know all of
 * them.
 */
static inline bool runs_for_some(u32 op)
{
	exec_handler *run = EXEC_NAME(table_diverged).run[op];

	return run != EXEC_NAME(op_diverged_leave) && run != EXEC_NAME(op_warp_sync_diverged);
}

/* The operation for the lanes of `mask`, by warp. */
static const struct uop *run_some(struct gang *g, const struct uop *in, const u32 *mask)
{
	u32 live[GANG_WARPS], first = g->warp, end = first + WARPS;
	u16 overwrite = g->overwrite;
	const struct uop *next;

	for (u32 w = first; w < end; w++) {
		live[w] = g->warp_at[w].live;
		g->warp_at[w].live = mask[w];
	}
	g->overwrite = 0;
	next = EXEC_NAME(table_diverged).run[in->inner](g, in);
	g->overwrite = overwrite;
	for (u32 w = first; w < end; w++)
		g->warp_at[w].live = live[w];
	return next;
}

static HANDLER(guard_diverged)
{
	u32 mask[GANG_WARPS];
	int vote = guards_of(g, in, mask);

	if (vote >= 0)
		return vote ? g->table->run[in->inner](g, in) : in + 1;
	if (!runs_for_some(in->inner))
		return diverged_to_warps(g, (u32)(in - g->uops));
	return run_some(g, in, mask);
}

bool EXEC_NAME(diverged_guard)(struct gang *g, const struct uop *in, const struct uop **next)
{
	u32 mask[GANG_WARPS];
	bool full = g->full;

	if (!g->env->program->diverged_at || !g->env->ops->diverged || !runs_for_some(in->inner))
		return false;
	guards_of(g, in, mask);
	g->full = false;
	*next = run_some(g, in, mask);
	g->full = full;
	return true;
}

static HANDLER(join_diverged)
{
	u32 pc = (u32)(in - g->uops);

	return PL_LIKELY(pc < g->diverged.stop) ? in + 1 : diverged_arrive(g, pc);
}

static HANDLER(bra_diverged)
{
	return diverged_go(g, in, in->branch.target);
}

static HANDLER(bra_pred_diverged)
{
	u32 taken[GANG_WARPS];
	int vote = guards_of(g, in, taken);

	if (vote < 0)
		return diverged_split(g, in, taken);
	return diverged_go(g, in, vote ? in->branch.target : (u32)(in - g->uops) + 1);
}

static HANDLER(brx_idx_diverged)
{
	u32 targets[GANG_WARPS * WARP_LANES];

	if (!EXEC_NAME(branch_targets)(g, in, targets))
		return diverged_to_warps(g, (u32)(in - g->uops));
	return diverged_scatter(g, in, targets);
}

static HANDLER(exit_diverged)
{
	for (u32 w = g->warp, end = w + WARPS; w < end; w++) {
		u32 gone = in->guard == NO_ROW ? FULL_MASK : guard_of(g, in, w);

		g->warp_at[w].live &= ~gone;
		g->diverged.live[w] &= ~gone;
	}
	return diverged_exit(g, (u32)(in - g->uops) + 1);
}

/* ---- the tables ---- */

#define DIVERGED_W(id) EXEC_NAME(op_diverged_w)
#define DIVERGED_X(id) EXEC_NAME(op_diverged_x)
#define DIVERGED_P(id) EXEC_NAME(op_diverged_p)

const struct exec_table EXEC_NAME(table_diverged) = {{
#define TABLE_LANE(id, shape) RESULT_##shape(DIVERGED, id)
#define TABLE_UOP(id, bodies, twin, diverged) EXEC_NAME(op_##diverged)
#include "src/uop/table/table.def"
}};

const struct exec_table EXEC_NAME(table_diverged_apart) = {{
#define TABLE_LANE(id, shape) RESULT_##shape(DIVERGED, id)
#define TABLE_UOP(id, bodies, twin, diverged) APART_##twin(EXEC_NAME(op_##diverged), APART_LEAVE)
#include "src/uop/table/table.def"
}};
