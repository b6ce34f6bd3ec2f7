/*
 * Groups of lanes of a gang by micro-op, the counterpart of warp.c for a whole gang. See
 * diverged.h.
 */
#include "src/exec/diverged.h"

/* Iterations of a loop, others waiting, after which the warps go on alone and take turns. */
#define SPINS_POLL 64u
#define SPINS_MOST 65536u

bool diverged_may_begin(const struct gang *g, const struct uop *in)
{
	const struct exec_env *e = g->env;

	return e->program->diverged_at && e->ops->diverged && g->warps > 1 && in->func == 0;
}

void diverged_begin(struct gang *g, const struct uop *in)
{
	struct diverged *p = &g->diverged;

	p->on = true;
	p->groups = p->spins = 0;
	p->stop = NO_PC;
	p->outer = in->branch.join;
	for (u32 w = 0; w < g->warps; w++)
		p->live[w] = g->warp_at[w].live;
	g->full = false;
	g->overwrite = UOPF_DEAD;
	g->table = g->env->ops->diverged;
}

/* Work on all warps, or on those from the first to the last that has running lanes. */
static void widen(struct gang *g)
{
	g->lane0 = g->warp = 0;
	g->lanes = g->warps * WARP_LANES;
}

static void narrow(struct gang *g)
{
	u32 first = 0, end = g->warps;

	while (!g->warp_at[first].live)
		first++;
	while (!g->warp_at[end - 1].live)
		end--;
	g->warp = first;
	g->lane0 = first * WARP_LANES;
	g->lanes = (end - first) * WARP_LANES;
}

static void park_lanes(struct gang *g, u32 pc, const u32 *mask)
{
	struct diverged *p = &g->diverged;
	u32 i = 0;

	while (i < p->groups && p->group[i].pc != pc)
		i++;
	if (i == p->groups) {
		p->group[p->groups++] = (struct diverged_group){.pc = pc};
		p->stop = pc < p->stop ? pc : p->stop;
	}
	for (u32 w = 0; w < g->warps; w++)
		p->group[i].mask[w] |= mask[w];
}

static void park_running(struct gang *g, u32 pc)
{
	u32 mask[GANG_WARPS];

	for (u32 w = 0; w < g->warps; w++)
		mask[w] = g->warp_at[w].live;
	park_lanes(g, pc, mask);
}

/* All that live stand at one micro-op again. */
static void end(struct gang *g)
{
	g->diverged.on = false;
	widen(g);
	g->table = g->env->ops->mode[MODE_GANG];
	g->overwrite = UOPF_ANY;
	g->full = true;
	for (u32 w = 0; w < g->warps; w++)
		g->full &= g->warp_at[w].live == FULL_MASK;
}

/* The lowest group runs. */
static const struct uop *run_lowest(struct gang *g)
{
	struct diverged *p = &g->diverged;
	u32 pc = p->stop, i = 0;

	while (p->group[i].pc != pc)
		i++;
	for (u32 w = 0; w < g->warps; w++)
		g->warp_at[w].live = p->group[i].mask[w];
	p->group[i] = p->group[--p->groups];
	p->stop = NO_PC;
	for (i = 0; i < p->groups; i++)
		p->stop = p->group[i].pc < p->stop ? p->group[i].pc : p->stop;
	if (p->groups)
		narrow(g);
	else
		end(g);
	return g->uops + pc;
}

const struct uop *diverged_arrive(struct gang *g, u32 pc)
{
	park_running(g, pc);
	return run_lowest(g);
}

static void restore_live(struct gang *g)
{
	for (u32 w = 0; w < g->warps; w++)
		g->warp_at[w].live = g->diverged.live[w];
}

const struct uop *diverged_to_warps(struct gang *g, u32 pc)
{
	struct diverged *p = &g->diverged;

	park_running(g, pc);
	restore_live(g);
	for (u32 i = 0; i < p->groups; i++)
		for (u32 w = 0; w < g->warps; w++)
			if (p->group[i].mask[w])
				warp_park(&g->warp_at[w],
					  (struct group){.mask = p->group[i].mask[w],
							 .pc = p->group[i].pc,
							 .state = GROUP_READY});
	p->on = false;
	widen(g);
	g->rejoin = p->outer;
	g->rejoin_passes = 0;
	g->together = false;
	g->cta->diverged = true;
	g->stop = STOP_SPLIT;
	return NULL;
}

static void yield(struct gang *g, u32 pc)
{
	park_running(g, pc);
	restore_live(g);
	g->pc = pc;
	g->stop = STOP_YIELD;
}

const struct uop *diverged_resume(struct gang *g)
{
	g->full = false;
	g->overwrite = UOPF_DEAD;
	g->table = g->env->ops->diverged;
	return run_lowest(g);
}

/* A backward branch to `pc`. False: the gang does not go on, for now or as a gang. */
static bool pay(struct gang *g, const struct uop *in, u32 pc)
{
	struct diverged *p = &g->diverged;

	exec_pay(g, in);
	if (PL_UNLIKELY(++p->spins >= (in->flags & UOPF_POLL ? SPINS_POLL : SPINS_MOST)))
		diverged_to_warps(g, pc);
	else if (PL_UNLIKELY(g->budget <= 0))
		yield(g, pc);
	return g->stop == STOP_NONE;
}

const struct uop *diverged_go(struct gang *g, const struct uop *in, u32 pc)
{
	if (in->flags & UOPF_BACK && g->uops + pc <= in && !pay(g, in, pc))
		return NULL;
	if (PL_LIKELY(pc < g->diverged.stop))
		return g->uops + pc;
	return diverged_arrive(g, pc);
}

const struct uop *diverged_split(struct gang *g, const struct uop *in, const u32 *taken)
{
	u32 pc = (u32)(in - g->uops), next = pc + 1, rest[GANG_WARPS];
	bool back = in->branch.target < next;

	if (PL_UNLIKELY(g->diverged.groups == DIVERGED_GROUPS))
		return diverged_to_warps(g, pc);
	for (u32 w = 0; w < g->warps; w++) {
		rest[w] = g->warp_at[w].live & ~taken[w];
		g->warp_at[w].live = back ? taken[w] : rest[w];
	}
	park_lanes(g, back ? next : in->branch.target, back ? rest : taken);
	narrow(g);
	return diverged_go(g, in, back ? in->branch.target : next);
}

/* Running lanes of `left` whose target is that of the first one. */
static u32 take_target(const struct gang *g, const u32 *targets, u32 left[GANG_WARPS],
		       u32 mask[GANG_WARPS])
{
	u32 pc = NO_PC;

	for (u32 w = 0; w < g->warps; w++) {
		mask[w] = 0;
		for (u32 m = left[w]; m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m), t = targets[w * WARP_LANES + l];

			pc = pc == NO_PC ? t : pc;
			mask[w] |= (u32)(t == pc) << l;
		}
		left[w] &= ~mask[w];
	}
	return pc;
}

const struct uop *diverged_scatter(struct gang *g, const struct uop *in, const u32 *targets)
{
	u32 left[GANG_WARPS], mask[GANG_WARPS], pc;

	for (u32 w = 0; w < g->warps; w++)
		left[w] = g->warp_at[w].live;
	while ((pc = take_target(g, targets, left, mask)) != NO_PC) {
		if (PL_UNLIKELY(g->diverged.groups == DIVERGED_GROUPS)) {
			/* Those with a place have it; the others branch again, warp by warp. */
			for (u32 w = 0; w < g->warps; w++)
				g->warp_at[w].live = left[w] | mask[w];
			return diverged_to_warps(g, (u32)(in - g->uops));
		}
		park_lanes(g, pc, mask);
	}
	if (!(in->flags & UOPF_BACK))
		return run_lowest(g);
	pc = (u32)(run_lowest(g) - g->uops);
	if (g->uops + pc > in || !g->diverged.on)
		return g->uops + pc;
	return pay(g, in, pc) ? g->uops + pc : NULL;
}

const struct uop *diverged_exit(struct gang *g, u32 pc)
{
	u32 left = 0;

	for (u32 w = 0; w < g->warps; w++)
		left |= g->warp_at[w].live;
	if (left) {
		narrow(g);
		return pc < g->diverged.stop ? g->uops + pc : diverged_arrive(g, pc);
	}
	return run_lowest(g);
}
