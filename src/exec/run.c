/*
 * Runs the warps of one CTA: gangs while their warps agree, warps one by one when they do not,
 * barriers in between.
 */
#include "src/exec/affine.h"
#include "src/async/async.h"
#include "src/exec/observer.h"
#include "src/exec/diverged.h"
#include "src/exec/turn.h"

#include <stdlib.h>

/* Passes that warps wait at their reconvergence point for others that use up their slices. */
#define REJOIN_PASSES 8u
/* Passes that gangs let others go first. */
#define REST_PASSES 64u

static void use_gang(struct gang *g)
{
	g->lane0 = g->warp = 0;
	g->lanes = g->warps * WARP_LANES;
	g->active = FULL_MASK;
	g->mode = MODE_GANG;
	g->overwrite = UOPF_ANY;
	g->table = g->env->ops->mode[MODE_GANG];
	g->rejoin = NO_PC;
	g->stop = STOP_NONE;
}

static void use_warp(struct gang *g, u32 w)
{
	g->full = false;
	g->lane0 = w * WARP_LANES;
	g->lanes = WARP_LANES;
	g->warp = w;
	g->stop = STOP_NONE;
}

static void fill_consts(struct gang *g)
{
	const struct program *p = g->env->program;

	for (u32 i = 0; i < p->const_len; i++) {
		const struct program_const *k = &p->consts[i];
		u32 n = g->warps * WARP_LANES;

		if (k->class == ROW_P)
			for (u32 w = 0; w < g->warps; w++)
				((u32 *)(g->regs + k->row))[w] = k->bits ? FULL_MASK : 0;
		else
			for (u32 l = 0; l < n; l++) {
				if (k->class == ROW_X)
					((u64 *)(g->regs + k->row))[l] = k->bits;
				else
					((u32 *)(g->regs + k->row))[l] = (u32)k->bits;
			}
	}
}

void exec_cta_prepare(struct cta *c)
{
	for (u32 i = 0; i < c->gangs; i++)
		fill_consts(&c->gang[i]);
	c->diverged = true;
	c->launched = false;
}

/* Of a value in several gangs: what is true of all their lanes. */
static void join_affine(const struct cta *c, u32 index)
{
	struct affine *x = affine_whole(c, index);

	*x = *affine_at(c->gang, index);
	for (u32 sign = 0; sign < 2; sign++) {
		u32 top = affine_top(sign), low = x->low[sign] ^ top, high = low + x->span[sign];

		for (u32 i = 1; i < c->gangs; i++) {
			const struct affine *a = affine_at(&c->gang[i], index);
			u32 first = a->low[sign] ^ top, last = first + a->span[sign];

			low = first < low ? first : low;
			high = last > high ? last : high;
		}
		x->low[sign] = low ^ top;
		x->span[sign] = high - low;
	}
}

void exec_cta_launch(struct cta *c)
{
	const struct program *p = c->env->program;
	const struct uop *end = p->uop + p->uops;

	c->launched = true;
	c->random = 0;
	c->launches++;
	/* How long the dynamic part of shared memory is differs between launches. */
	if (p->extents)
		memset(c->gang[0].caches, 0, sizeof(struct mem_cache) * p->cache_slots);
	for (u32 i = 0; i < c->gangs; i++) {
		struct gang *g = &c->gang[i];

		use_gang(g);
		for (const struct uop *in = p->uop + p->launch_first; in < end;)
			in = g->table->run[in->op](g, in);
	}
	for (u32 i = 0; c->gangs > 1 && i < p->affines; i++)
		join_affine(c, i);
	exec_idle_prepare(c);
}

/* Gangs whose lanes all take part move memory in larger pieces. */
static bool is_full(const struct gang *g)
{
	for (u32 w = 0; w < g->warps; w++)
		if (g->warp_at[w].live != FULL_MASK)
			return false;
	return true;
}

/* Every thread begins in the kernel's frame. */
static void set_stacks(struct cta *c)
{
	const struct program *p = c->env->program;

	for (u32 i = 0; i < c->gangs; i++)
		for (u32 l = 0; l < c->gang[i].warps * WARP_LANES; l++) {
			((u32 *)(c->gang[i].regs + p->frame_row))[l] = 0;
			((u32 *)(c->gang[i].regs + p->stack_row))[l] = p->frame_bytes;
		}
}

/* What warps have when nothing has happened to them, their lanes excepted. */
static void reset_warps(struct cta *c)
{
	for (u32 w = 0; w < c->warps; w++) {
		struct warp *x = &c->warp[w];

		x->groups = x->spins = 0;
		x->rotate = x->failed = false;
		x->ticks = 0;
		x->mask = 0;
		x->stop = NO_PC;
		x->cluster_arrived = 0;
		if (x->arrivals)
			memset(x->arrived, 0, sizeof(x->arrived));
		x->arrivals = 0;
	}
	memset(c->barrier, 0, sizeof(c->barrier));
	c->failed = false;
}

/* Park every warp of the gang at `pc`. */
static void part(struct gang *g, u32 pc, enum group_state state, u32 barrier, u32 threads)
{
	g->together = false;
	g->cta->diverged = true;
	for (u32 w = 0; w < g->warps; w++) {
		struct warp *x = &g->warp_at[w];

		if (x->live)
			warp_park(x, (struct group){.mask = x->live,
						    .pc = pc,
						    .state = (u8)state,
						    .barrier = (u8)barrier,
						    .want = threads});
	}
}

/* A seeded run: warps go one by one, and never come together again. */
void exec_cta_apart(struct cta *c)
{
	for (u32 i = 0; i < c->gangs; i++)
		part(&c->gang[i], c->gang[i].pc, GROUP_READY, 0, 0);
}

static void begin_observed(struct cta *c)
{
	const struct exec_observer *o = c->env->observer;

	for (u32 w = 0; w < c->warps; w++)
		c->warp[w].told = 0;
	if (o->cta_begin)
		o->cta_begin(o->user, c);
}

/*
 * What few CTAs need before their warps are set up: the first of a launch, those after one that
 * did more than run as gangs, all of some programs and launches. These are asked for once:
 * `diverged` stays set for them.
 */
static void start_special(struct cta *c)
{
	const struct exec_env *e = c->env;
	const struct program *p = e->program;

	if (!c->launched)
		exec_cta_launch(c);
	if (p->has_calls)
		set_stacks(c);
	reset_warps(c);
	if (p->reads_clock)
		exec_clock_start(c);
	if (c->async)
		async_reset(c);
	if (e->seed)
		c->random = exec_random_start(e->seed, c->number);
	c->diverged = p->has_calls || p->reads_clock || c->async || e->seed || exec_is_observed(e);
}

void exec_cta_start(struct cta *c)
{
	const struct program *p = c->env->program;
	u32 last = c->threads - (c->warps - 1) * WARP_LANES;

	c->live_warps = c->warps;
	if (PL_UNLIKELY(c->diverged))
		start_special(c);
	for (u32 w = 0; w < c->warps; w++)
		c->warp[w].live = FULL_MASK;
	c->warp[c->warps - 1].live = FULL_MASK >> (WARP_LANES - last);
	c->blocked = false;
	c->rests = 0;
	for (u32 i = 0; i < c->gangs; i++) {
		c->gang[i].together = c->gang[i].full = true;
		c->gang[i].pc = p->funcs[0].first;
		c->gang[i].diverged.on = false;
	}
	c->gang[c->gangs - 1].full = last == WARP_LANES;
	if (PL_UNLIKELY(c->diverged)) {
		if (c->random)
			exec_cta_apart(c);
		if (exec_is_observed(c->env))
			begin_observed(c);
	}
}

static bool gang_is_done(const struct gang *g)
{
	for (u32 w = 0; w < g->warps; w++)
		if (g->warp_at[w].live)
			return false;
	return true;
}

/*
 * Do all warps stand ready at one micro-op, each with all its lanes? Then they run as a gang again.
 */
static void regroup(struct gang *g)
{
	u32 pc = NO_PC;

	if (g->cta->random)
		return;
	for (u32 w = 0; w < g->warps; w++) {
		const struct warp *x = &g->warp_at[w];

		if (!x->live)
			continue;
		if (x->groups != 1 || x->group[0].state != GROUP_READY ||
		    x->group[0].mask != x->live || (pc != NO_PC && x->group[0].pc != pc))
			return;
		pc = x->group[0].pc;
	}
	if (pc == NO_PC)
		return;
	for (u32 w = 0; w < g->warps; w++)
		g->warp_at[w].groups = 0;
	g->together = true;
	g->full = is_full(g);
	g->pc = pc;
}

struct pass {
	bool ran, yielded, fault, used_up, polled;
};

static void run_gang(struct gang *g, s32 budget, struct pass *pass)
{
	const struct uop *in = g->uops + g->pc;

	use_gang(g);
	if (PL_UNLIKELY(g->diverged.on))
		in = diverged_resume(g);
	g->budget = budget;
	pass->ran = true;
	g->env->ops->loop(g, in);
	pass->used_up |= g->budget <= 0;
	switch ((enum exec_stop)g->stop) {
	case STOP_DIVERGED:
		g->rejoin = uop_join(&g->uops[g->pc]);
		g->rejoin_passes = 0;
		part(g, g->pc, GROUP_READY, 0, 0);
		break;
	case STOP_BARRIER:
		in = g->uops + g->pc;
		part(g, g->pc + 1, GROUP_BARRIER, barrier_number(g, in, 0),
		     barrier_threads(g, in, 0));
		break;
	case STOP_YIELD:
		pass->yielded = true;
		break;
	case STOP_FAULT:
		pass->fault = true;
		break;
	case STOP_DONE:
		g->together = false;
		break;
	default:
		break;
	}
}

static bool is_ready(const struct warp *w)
{
	for (u32 i = 0; i < w->groups; i++)
		if (w->group[i].state == GROUP_READY)
			return true;
	return false;
}

/* Is this warp waiting at the gang's reconvergence point for the others? */
static bool waits_for_gang(const struct gang *g, const struct warp *w)
{
	return g->rejoin != NO_PC && w->groups == 1 && w->group[0].state == GROUP_READY &&
	       w->group[0].pc == g->rejoin && w->group[0].mask == w->live;
}

static bool all_wait(const struct gang *g)
{
	for (u32 w = 0; w < g->warps; w++)
		if (g->warp_at[w].live && !waits_for_gang(g, &g->warp_at[w]))
			return false;
	return true;
}

/* 0 .. n-1, mixed up in a seeded run. */
static void make_order(struct cta *c, u8 *order, u32 n)
{
	for (u32 i = 0; i < n; i++)
		order[i] = (u8)i;
	for (u32 i = n; c->random && i > 1; i--) {
		u32 k = exec_random_below(c, i);
		u8 last = order[i - 1];

		order[i - 1] = order[k];
		order[k] = last;
	}
}

/*
 * Warps wait at the gang's reconvergence point as long as the others come nearer. Those may be
 * waiting for what the ones there will do: then these go on alone, at once where a polling loop
 * has used up its time slice or a warp yields, soon where any loop has.
 */
static bool waits_too_long(struct gang *g, const struct pass *pass)
{
	if (g->rejoin == NO_PC || !(pass->yielded || pass->used_up))
		return false;
	return g->polled || !pass->used_up || ++g->rejoin_passes >= REJOIN_PASSES;
}

static void run_warps(struct gang *g, s32 budget, struct pass *pass)
{
	bool progress = false, rests = false;
	u8 order[GANG_WARPS];

	make_order(g->cta, order, g->warps);
	for (u32 i = 0; i < g->warps && !pass->fault; i++) {
		struct warp *x = &g->warp_at[order[i]];
		const struct uop *in;

		if (!x->live || !is_ready(x) || waits_for_gang(g, x))
			continue;
		progress = pass->ran = true;
		use_warp(g, order[i]);
		g->budget =
			g->cta->random ? 1 + (s32)exec_random_below(g->cta, (u32)budget) : budget;
		in = warp_next(g);
		if (in)
			g->env->ops->loop(g, in);
		pass->used_up |= g->budget <= 0;
		pass->yielded |= g->stop == STOP_YIELD;
		pass->fault |= g->stop == STOP_FAULT;
		rests |= g->stop == STOP_TURN;
	}
	g->stop = rests && !pass->fault ? STOP_TURN : g->stop;
	if (waits_too_long(g, pass)) {
		g->rejoin = NO_PC;
	} else if (!progress && g->rejoin != NO_PC && !all_wait(g)) {
		/* a thread waits at a barrier: those at the reconvergence point go on alone */
		g->rejoin = NO_PC;
		pass->ran = true;
	}
	regroup(g);
	if (g->together)
		g->rejoin = NO_PC;
	pass->ran |= g->together;
}

/* ---- the CTA ---- */

void exec_cta_deadlock(struct cta *c)
{
	struct fault *f = c->gang[0].fault;

	f->kind = FAULT_DEADLOCK;
	memcpy(f->ctaid, c->id, sizeof(c->id));
	for (u32 w = 0; w < c->warps; w++)
		if (c->warp[w].live && c->warp[w].groups) {
			f->pc = c->warp[w].group[0].pc;
			f->warp = w;
			f->lanes = c->warp[w].group[0].mask;
			break;
		}
}

static bool waits_for_cluster(const struct cta *c)
{
	for (u32 w = 0; c->cluster && w < c->warps; w++)
		for (u32 i = 0; i < c->warp[w].groups; i++)
			if (c->warp[w].group[i].state == GROUP_CLUSTER)
				return true;
	return false;
}

static void regroup_all(struct cta *c)
{
	for (u32 i = 0; i < c->gangs; i++)
		if (!c->gang[i].together)
			regroup(&c->gang[i]);
}

bool exec_cta_release(struct cta *c)
{
	bool any = barrier_release(c);

	if (any && c->env->program->reads_clock)
		exec_clock_meet(c);
	return any;
}

static bool release_barriers(struct cta *c)
{
	if (!exec_cta_release(c))
		return false;
	regroup_all(c);
	return true;
}

void exec_cta_finish(struct cta *c)
{
	if (c->async)
		async_finish(c);
	if (PL_UNLIKELY(c->env->observer) && c->env->observer->cta_end)
		c->env->observer->cta_end(c->env->observer->user, c);
}

static void add_pass(struct pass *sum, const struct pass *x)
{
	sum->ran |= x->ran;
	sum->yielded |= x->yielded;
	sum->fault |= x->fault;
	sum->used_up |= x->used_up;
}

/*
 * Gangs that let the others go first (STOP_TURN) go on when none of those gets further, or after
 * some passes.
 */
static void wake(struct cta *c, struct pass *pass)
{
	c->rests = 0;
	for (u32 i = 0; i < c->gangs; i++)
		if (c->gang[i].stop == STOP_TURN) {
			c->gang[i].stop = STOP_NONE;
			pass->ran = true;
		}
}

/* One time slice of every gang. */
static void run_gangs(struct cta *c, s32 budget, struct pass *pass, bool *done)
{
	bool further = false, rests = false;

	for (u32 i = 0; i < c->gangs && !pass->fault; i++) {
		struct gang *g = &c->gang[i];
		struct pass slice = {0};

		if (g->stop == STOP_TURN) {
			*done = false;
			rests = true;
			continue;
		}
		if (g->together) {
			run_gang(g, budget, &slice);
			*done &= g->stop == STOP_DONE;
		} else if (!gang_is_done(g)) {
			run_warps(g, budget, &slice);
			*done &= gang_is_done(g);
		}
		further |= slice.ran && !slice.yielded && !slice.used_up && g->stop != STOP_TURN;
		add_pass(pass, &slice);
		pass->polled |= g->polled;
		g->polled = false;
	}
	if (!further || (rests && ++c->rests >= REST_PASSES))
		wake(c, pass);
}

enum exec_stop exec_cta_run(struct cta *c, s32 budget)
{
	s32 passes = budget;
	bool moved = false;

	c->used_up = c->polled = false;
	if (c->blocked)
		regroup_all(c); /* another CTA may have let groups go */
	c->blocked = c->idle = false;
	for (;;) {
		struct pass pass = {0};
		bool done = true;

		run_gangs(c, budget, &pass, &done);
		if (pass.fault)
			return STOP_FAULT;
		if (done) {
			exec_cta_finish(c);
			return STOP_DONE;
		}
		c->used_up |= pass.used_up || --passes <= 0;
		c->polled |= pass.polled;
		if (release_barriers(c) && !c->used_up)
			continue;
		if (c->used_up || pass.yielded || __atomic_load_n(c->env->cancel, __ATOMIC_RELAXED))
			return STOP_YIELD;
		moved |= pass.ran;
		if (!pass.ran && waits_for_cluster(c)) {
			c->blocked = true;
			c->idle = !moved;
			return STOP_YIELD;
		}
		if (!pass.ran) {
			exec_cta_deadlock(c);
			return STOP_FAULT;
		}
	}
}

/* ---- turns of single warps: turn.h ---- */

struct gang *exec_gang_of(const struct cta *c, u32 warp)
{
	return &c->gang[warp / c->env->program->gang];
}

bool exec_warp_is_ready(const struct cta *c, u32 warp)
{
	return c->warp[warp].live && is_ready(&c->warp[warp]);
}

enum exec_stop exec_warp_turn(struct gang *g, u32 warp, u32 lanes, s32 budget)
{
	const struct uop *in;

	use_warp(g, warp - g->first_warp);
	g->budget = budget;
	in = lanes ? warp_take(g, lanes) : warp_next(g);
	if (in)
		g->env->ops->loop(g, in);
	return (enum exec_stop)g->stop;
}

bool exec_cta_is_over(const struct cta *c)
{
	for (u32 w = 0; w < c->warps; w++)
		if (c->warp[w].live)
			return false;
	return true;
}

static void halt_failed(struct gang *g)
{
	bool any = false;

	for (u32 w = 0; w < g->warps; w++)
		any |= g->warp_at[w].failed;
	if (!any)
		return;
	/* In a gang, all lanes that ran have failed. */
	if (g->together && g->diverged.on)
		diverged_to_warps(g, g->fault->pc);
	g->together = false;
	g->rejoin = NO_PC;
	g->stop = STOP_NONE;
	for (u32 w = 0; w < g->warps; w++)
		if (g->warp_at[w].failed)
			g->warp_at[w].groups = 0;
}

void exec_cta_halt_failed(struct cta *c)
{
	for (u32 i = 0; i < c->gangs; i++)
		halt_failed(&c->gang[i]);
}

void exec_cta_free(struct cta *c)
{
	text_fini(&c->assertions);
	async_free(c);
}

/* ---- clusters ---- */

/* One time slice of every CTA that has not ended. *moved: at least one did something. */
static enum exec_stop cluster_round(struct cluster *cl, s32 budget, bool *moved)
{
	enum exec_stop all = STOP_DONE;

	for (u32 r = 0; r < cl->size; r++) {
		struct cta *c = cl->cta[r];
		enum exec_stop stop;

		if (cl->done >> r & 1)
			continue;
		stop = exec_cta_run(c, budget);
		if (stop == STOP_FAULT) {
			cl->faulted = r;
			return STOP_FAULT;
		}
		*moved |= !c->idle;
		if (stop == STOP_YIELD && c->used_up) {
			cl->polled = c->polled && (cl->polled || !cl->used_up);
			cl->used_up = true;
		}
		if (stop == STOP_DONE)
			cl->done |= 1u << r;
		else if (!c->blocked)
			all = STOP_YIELD;
		else if (all == STOP_DONE)
			all = STOP_NONE; /* others of the cluster may let it go */
	}
	return all;
}

enum exec_stop exec_cluster_run(struct cluster *cl, s32 budget)
{
	cl->used_up = cl->polled = false;
	for (s32 rounds = budget;; rounds--) {
		bool moved = false;
		enum exec_stop stop = cluster_round(cl, budget, &moved);

		if (stop != STOP_NONE)
			return stop;
		/* A loop over the barrier of the cluster must let others run as well. */
		if (rounds <= 0) {
			cl->used_up = true;
			return STOP_YIELD;
		}
		if (!moved) {
			while (cl->done >> cl->faulted & 1)
				cl->faulted++;
			exec_cta_deadlock(cl->cta[cl->faulted]);
			return STOP_FAULT;
		}
	}
}
