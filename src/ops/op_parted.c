/*
 * The handlers of parted gangs: lane operations whose results are blended, guards, branches, exits.
 * See parted.h.
 */
#include "src/exec/parted.h"
#include "src/ops/tables.h"

#define GANG_TABLE (g->env->ops->mode[MODE_GANG])

/* ---- lane operations ---- */

/*
 * Lanes of one warp's row that run, from `from`. Whole vectors are stored: what was stored under a
 * mask is not forwarded to the loads of the next record.
 */
#if defined(__AVX512F__)
static inline void blend_w(u32 *d, const u32 *from, u32 mask)
{
	for (u32 i = 0; i < WARP_LANES; i += 16)
		_mm512_storeu_si512(d + i, _mm512_mask_blend_epi32((__mmask16)(mask >> i),
								   _mm512_loadu_si512(d + i),
								   _mm512_loadu_si512(from + i)));
}

static inline void blend_x(u64 *d, const u64 *from, u32 mask)
{
	for (u32 i = 0; i < WARP_LANES; i += 8)
		_mm512_storeu_si512(d + i, _mm512_mask_blend_epi64((__mmask8)(mask >> i),
								   _mm512_loadu_si512(d + i),
								   _mm512_loadu_si512(from + i)));
}
#else
static inline void blend_w(u32 *d, const u32 *from, u32 mask)
{
	FOR_LANES(l, WARP_LANES)
		d[l] = mask >> l & 1 ? from[l] : d[l];
}

static inline void blend_x(u64 *d, const u64 *from, u32 mask)
{
	FOR_LANES(l, WARP_LANES)
		d[l] = mask >> l & 1 ? from[l] : d[l];
}
#endif

/* The carry flag that the record writes, NULL: none. `target` may be the row of an operand, too. */
static inline u32 *flag_of(const struct gang *g, const struct insn *in)
{
	return in->target != NO_PC && in->target >= g->env->program->preds_at ? ROWP(in->target)
									      : NULL;
}

/* The operation with its result in a row of its own. */
static void run_beside(struct gang *g, const struct insn *in)
{
	struct insn beside = *in;
	u32 *flag = flag_of(g, in), old[GANG_WARPS], n = WARPS;

	beside.d = g->env->program->parted_at;
	for (u32 w = 0; flag && w < n; w++)
		old[w] = flag[w];
	GANG_TABLE->run[in->inner](g, &beside);
	for (u32 w = 0; flag && w < n; w++) {
		u32 live = g->warp_at[g->warp + w].live;

		flag[w] = (flag[w] & live) | (old[w] & ~live);
	}
}

static HANDLER(parted_w)
{
	if (in->flags & INSN_DEAD && !flag_of(g, in))
		return GANG_TABLE->run[in->inner](g, in);
	run_beside(g, in);
	for (u32 w = 0, n = WARPS; w < n; w++) {
		u32 mask = g->warp_at[g->warp + w].live, at = w * WARP_LANES;

		if (mask)
			blend_w(ROW32(in->d) + at, ROW32(g->env->program->parted_at) + at, mask);
	}
	return in + 1;
}

static HANDLER(parted_x)
{
	if (in->flags & INSN_DEAD && !flag_of(g, in))
		return GANG_TABLE->run[in->inner](g, in);
	run_beside(g, in);
	for (u32 w = 0, n = WARPS; w < n; w++) {
		u32 mask = g->warp_at[g->warp + w].live, at = w * WARP_LANES;

		if (mask)
			blend_x(ROW64(in->d) + at, ROW64(g->env->program->parted_at) + at, mask);
	}
	return in + 1;
}

/* Flags of setp_affine, which is no lane operation, mean something else. */
static HANDLER(parted_p)
{
	u32 *d = ROWP(in->d), old[GANG_WARPS], n = WARPS;

	if (in->flags & INSN_DEAD && uop_is_lane(in->op))
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

static HANDLER(parted_narrow)
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

static HANDLER(parted_leave)
{
	return parted_to_warps(g, (u32)(in - g->insns));
}

/* Warps that run here have all their lanes here: none can be missing. */
static HANDLER(warp_sync_parted)
{
	u32 first = g->warp, lanes = g->lanes;
	const struct insn *next;

	for (u32 w = first; w < first + lanes / WARP_LANES; w++)
		if (g->warp_at[w].live && g->warp_at[w].live != g->parted.live[w])
			return EXEC_NAME(op_parted_leave)(g, in);
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

static inline u32 guard_of(const struct gang *g, const struct insn *in, u32 w)
{
	u32 p = ((const u32 *)(g->regs + in->guard))[w];

	return (in->flags & INSN_GUARD_NOT ? ~p : p) & g->warp_at[w].live;
}

/* Running lanes whose guard is true, by warp. Returns 1: all, 0: none, -1: some. */
static inline int guards_of(const struct gang *g, const struct insn *in, u32 *mask)
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
	exec_handler *run = EXEC_NAME(table_parted).run[op];

	return run != EXEC_NAME(op_parted_leave) && run != EXEC_NAME(op_warp_sync_parted);
}

/* The operation for the lanes of `mask`, by warp. */
static const struct insn *run_some(struct gang *g, const struct insn *in, const u32 *mask)
{
	u32 live[GANG_WARPS], first = g->warp, end = first + WARPS;
	const struct insn *next;

	for (u32 w = first; w < end; w++) {
		live[w] = g->warp_at[w].live;
		g->warp_at[w].live = mask[w];
	}
	next = EXEC_NAME(table_parted).run[in->inner](g, in);
	for (u32 w = first; w < end; w++)
		g->warp_at[w].live = live[w];
	return next;
}

static HANDLER(guard_parted)
{
	u32 mask[GANG_WARPS];
	int vote = guards_of(g, in, mask);

	if (vote >= 0)
		return vote ? g->table->run[in->inner](g, in) : in + 1;
	if (!runs_for_some(in->inner))
		return parted_to_warps(g, (u32)(in - g->insns));
	return run_some(g, in, mask);
}

bool EXEC_NAME(parted_guard)(struct gang *g, const struct insn *in, const struct insn **next)
{
	u32 mask[GANG_WARPS];
	bool full = g->full;

	if (!g->env->program->parted_at || !g->env->ops->parted || !runs_for_some(in->inner))
		return false;
	guards_of(g, in, mask);
	g->full = false;
	*next = run_some(g, in, mask);
	g->full = full;
	return true;
}

static HANDLER(join_parted)
{
	u32 pc = (u32)(in - g->insns);

	return PL_LIKELY(pc < g->parted.stop) ? in + 1 : parted_arrive(g, pc);
}

static HANDLER(bra_parted)
{
	return parted_go(g, in, in->target);
}

static HANDLER(bra_pred_parted)
{
	u32 taken[GANG_WARPS];
	int vote = guards_of(g, in, taken);

	if (vote < 0)
		return parted_split(g, in, taken);
	return parted_go(g, in, vote ? in->target : (u32)(in - g->insns) + 1);
}

static HANDLER(brx_idx_parted)
{
	u32 targets[GANG_WARPS * WARP_LANES];

	if (!EXEC_NAME(branch_targets)(g, in, targets))
		return parted_to_warps(g, (u32)(in - g->insns));
	return parted_scatter(g, in, targets);
}

static HANDLER(exit_parted)
{
	for (u32 w = g->warp, end = w + WARPS; w < end; w++) {
		u32 gone = in->guard == NO_ROW ? FULL_MASK : guard_of(g, in, w);

		g->warp_at[w].live &= ~gone;
		g->parted.live[w] &= ~gone;
	}
	return parted_exit(g, (u32)(in - g->insns) + 1);
}

/* ---- the table ---- */

#define PARTED_W(id) EXEC_NAME(op_parted_w)
#define PARTED_X(id) EXEC_NAME(op_parted_x)
#define PARTED_P(id) EXEC_NAME(op_parted_p)

const struct exec_table EXEC_NAME(table_parted) = {{
#define TABLE_LANE(id, shape) RESULT_##shape(PARTED, id)
#define TABLE_UOP(id, bodies, twin, diverged) EXEC_NAME(op_##diverged)
#include "src/uop/table/table.def"
}};
