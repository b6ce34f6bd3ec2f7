/*
 * Independent Thread Scheduling inside a warp: groups of lanes by program counter.
 * The lowest pc runs first, so that diverged lanes meet again as early as code order allows; equal
 * pcs merge. A group that keeps branching backwards while others wait gives way to the one that
 * has waited longest, so spinning on another lane ends.
 * Before Volta a warp has one program counter: nothing gives way, and lanes wait at their next
 * reconvergence point.
 * Source: PTX ISA "Independent Thread Scheduling" in the execution model; Volta tuning guide
 * "Independent Thread Scheduling".
 */
#include "src/exec/group.h"
#include "src/exec/observer.h"
#include "src/exec/turn.h"

/*
 * Iterations of a loop, others waiting, before it gives way: one that may wait for them, and one
 * that does not seem to.
 */
#define SPINS_POLL 64u
#define SPINS_MOST 4096u
/* Seeded: groups that may be parked before one that waits is due. */
#define OVERDUE_TICKS 64u

static void park_ready(struct warp *w, u32 mask, u32 pc)
{
	if (!mask)
		return;
	for (u32 i = 0; i < w->groups; i++)
		if (w->group[i].state == GROUP_READY && w->group[i].pc == pc) {
			w->group[i].mask |= mask;
			w->ticks++;
			return;
		}
	group_add(w, mask, pc, GROUP_READY);
}

void warp_park(struct warp *w, struct group group)
{
	struct group *x = &w->group[w->groups];

	if (group.state == GROUP_READY) {
		park_ready(w, group.mask, group.pc);
		return;
	}
	group_add(w, group.mask, group.pc, (enum group_state)group.state);
	x->barrier = group.barrier;
	x->want = group.want;
}

/* Lowest pc of the ready groups from `pc` on. */
static u32 stop_from(const struct warp *w, u32 pc)
{
	u32 stop = NO_PC;

	for (u32 i = 0; i < w->groups; i++)
		if (w->group[i].state == GROUP_READY && w->group[i].pc >= pc &&
		    w->group[i].pc < stop)
			stop = w->group[i].pc;
	return stop;
}

void warp_look_again(struct warp *w, u32 pc)
{
	w->stop = stop_from(w, pc);
}

static void drop_group(struct warp *w, u32 i)
{
	if (i != --w->groups)
		w->group[i] = w->group[w->groups];
}

/* May groups wait there that have diverged at a branch, and nowhere else in the block? */
static bool begins_block(const struct uop *insns, u32 pc)
{
	return insns[pc].op == OP_join ||
	       (pc && (insns[pc - 1].inner == OP_bra_pred || insns[pc - 1].inner == OP_exit));
}

/*
 * Do all others wait further on, each at the beginning of a block? See flow_mark_dead in
 * lower_flow.c.
 */
static bool is_ordered(const struct gang *g, const struct warp *w, u32 pc)
{
	if (g->env->program->has_calls)
		return false;
	for (u32 i = 0; i < w->groups; i++)
		if (w->group[i].state != GROUP_READY || w->group[i].pc <= pc ||
		    !begins_block(g->uops, w->group[i].pc))
			return false;
	return true;
}

/* The running group, at `pc`, is `mask` now: choose the table. */
static void set_running(struct gang *g, struct warp *w, u32 mask, u32 pc)
{
	w->mask = mask;
	g->active = mask;
	g->mode = mask == w->live ? MODE_WARP : is_ordered(g, w, pc) ? MODE_ORDERED : MODE_MASKED;
	g->table = g->env->ops->mode[g->mode];
	if (g->mode == MODE_WARP)
		g->overwrite = UOPF_ANY;
	else
		g->overwrite = g->mode == MODE_ORDERED && !exec_is_observed(g->env) ? UOPF_DEAD : 0;
}

/* The ready group with the lowest pc, or NO_PC. */
static u32 lowest_group(const struct warp *w)
{
	u32 best = NO_PC;

	for (u32 i = 0; i < w->groups; i++)
		if (w->group[i].state == GROUP_READY &&
		    (best == NO_PC || w->group[i].pc < w->group[best].pc))
			best = i;
	return best;
}

/* The ready group that has waited longest, or NO_PC. */
static u32 oldest(const struct warp *w)
{
	u32 best = NO_PC;

	for (u32 i = 0; i < w->groups; i++)
		if (w->group[i].state == GROUP_READY &&
		    (best == NO_PC || w->group[i].since < w->group[best].since))
			best = i;
	return best;
}

/* Is it the reconvergence point of a branch? */
static bool is_meeting(const struct uop *insns, u32 pc)
{
	if (insns[pc].op == OP_join)
		return insns[pc].branch.join == pc;
	return pc && insns[pc - 1].inner == OP_bra_pred && insns[pc - 1].branch.join == pc;
}

static bool some_before(const struct warp *w, u32 pc)
{
	for (u32 i = 0; i < w->groups; i++)
		if (w->group[i].state == GROUP_READY && w->group[i].pc < pc)
			return true;
	return false;
}

/*
 * Seeded runs draw one of the ready groups at random, but
 *
 * - lanes at the reconvergence point of a branch wait for those before it, until a group gives way
 *   (rotate): it may be waiting for them. The model does not promise that lanes meet; ptxas
 *   sees to it (BSSY, BSYNC), and published code leans on it: tiles of several warps of cooperative
 *   groups let lanes read a barrier that lane 0 is about to clear;
 * - when one gives way, the group that has waited longest runs if OVERDUE_TICKS others have been
 *   parked since.
 */
static u32 draw(const struct gang *g, const struct warp *w)
{
	u32 ready[WARP_LANES], n = 0, first = oldest(w);

	if (w->rotate && first != NO_PC && w->ticks - w->group[first].since > OVERDUE_TICKS)
		return first;
	for (u32 i = 0; i < w->groups; i++)
		if (w->group[i].state == GROUP_READY &&
		    (w->rotate || !is_meeting(g->uops, w->group[i].pc) ||
		     !some_before(w, w->group[i].pc)))
			ready[n++] = i;
	return n ? ready[exec_random_below(g->cta, n)] : NO_PC;
}

static const struct uop *run_group(struct gang *g, struct warp *w, u32 i)
{
	u32 pc = w->group[i].pc, mask = w->group[i].mask;

	drop_group(w, i);
	set_running(g, w, mask, pc);
	w->stop = stop_from(w, pc);
	return g->uops + pc;
}

const struct uop *warp_next(struct gang *g)
{
	struct warp *w = &g->warp_at[g->warp];
	bool seeded = g->cta->random && g->env->program->arch->has_its;
	u32 i;

	if (PL_LIKELY(w->groups == 1 && !seeded))
		i = w->group[0].state == GROUP_READY ? 0 : NO_PC;
	else
		i = seeded ? draw(g, w) : w->rotate ? oldest(w) : lowest_group(w);
	w->rotate = false;
	w->spins = 0;
	if (i == NO_PC) {
		w->mask = 0;
		g->stop = w->live ? STOP_BARRIER : STOP_DONE;
		return NULL;
	}
	return run_group(g, w, i);
}

const struct uop *warp_take(struct gang *g, u32 lanes)
{
	struct warp *w = &g->warp_at[g->warp];

	for (u32 i = 0; i < w->groups; i++)
		if (w->group[i].state == GROUP_READY && w->group[i].mask & lanes) {
			w->rotate = false;
			w->spins = 0;
			return run_group(g, w, i);
		}
	return warp_next(g);
}

bool warp_meets_at(const struct gang *g, const struct warp *w, u32 pc)
{
	return is_meeting(g->uops, pc) && some_before(w, pc);
}

bool warp_is_meeting(const struct gang *g, u32 pc)
{
	return is_meeting(g->uops, pc);
}

u32 warp_label_of(const struct gang *g, u32 pc)
{
	return pc && g->uops[pc - 1].op == OP_join ? pc - 1 : pc;
}

void warp_leave(struct gang *g, u32 pc)
{
	struct warp *w = &g->warp_at[g->warp];

	park_ready(w, w->mask, warp_label_of(g, pc));
	w->mask = 0;
	g->stop = STOP_LEFT;
}

const struct uop *warp_arrive(struct gang *g, const struct uop *in)
{
	struct warp *w = &g->warp_at[g->warp];
	u32 pc = (u32)(in - g->uops);

	if (pc > w->stop) {
		park_ready(w, w->mask, pc);
		return warp_next(g);
	}
	if (g->cta->random && pc < w->stop && w->groups && is_meeting(g->uops, pc) &&
	    some_before(w, pc)) {
		park_ready(w, w->mask, pc);
		return warp_next(g);
	}
	if (pc == w->stop) {
		u32 mask = w->mask;

		for (u32 i = w->groups; i-- > 0;)
			if (w->group[i].state == GROUP_READY && w->group[i].pc == pc) {
				mask |= w->group[i].mask;
				drop_group(w, i);
			}
		set_running(g, w, mask, pc);
		w->stop = stop_from(w, pc);
	}
	if (pc == g->rejoin && w->mask == w->live) {
		park_ready(w, w->mask, pc);
		w->mask = 0;
		g->stop = STOP_REJOIN;
		return NULL;
	}
	return in->op == OP_join ? in + 1 : in;
}

const struct uop *warp_jump(struct gang *g, u32 pc)
{
	if (PL_LIKELY(pc != g->rejoin && pc < g->warp_at[g->warp].stop))
		return g->uops + pc;
	return warp_arrive(g, g->uops + pc);
}

/* Has the running group spun long enough, or is the budget used up? */
static bool must_rotate(struct gang *g, struct warp *w, const struct uop *in)
{
	bool others = w->groups != 0;

	w->spins++;
	exec_pay(g, in);
	return g->budget <= 0 ||
	       (others && w->spins >= (in->flags & UOPF_POLL ? SPINS_POLL : SPINS_MOST));
}

/*
 * The group that spins gives way. With one program counter for the warp only other warps run
 * then.
 */
static const struct uop *rotate(struct gang *g, struct warp *w)
{
	w->mask = 0;
	w->rotate = g->env->program->arch->has_its;
	if (g->budget > 0)
		return warp_next(g);
	g->stop = STOP_YIELD;
	return NULL;
}

const struct uop *warp_back(struct gang *g, const struct uop *in, u32 pc)
{
	struct warp *w = &g->warp_at[g->warp];

	if (PL_UNLIKELY(must_rotate(g, w, in))) {
		park_ready(w, w->mask, pc);
		return rotate(g, w);
	}
	if (w->groups)
		w->stop = stop_from(w, pc);
	return warp_jump(g, pc);
}

const struct uop *warp_split(struct gang *g, u32 taken, u32 target, u32 next)
{
	struct warp *w = &g->warp_at[g->warp];
	u32 rest = w->mask & ~taken, spins = w->spins;
	const struct uop *in;
	bool back = target < next;

	park_ready(w, taken, target);
	park_ready(w, rest, next);
	if (back && must_rotate(g, w, g->uops + next - 1))
		return rotate(g, w);
	in = warp_next(g);
	if (back)
		w->spins = spins + 1;
	return in ? warp_arrive(g, in) : NULL;
}

const struct uop *warp_scatter(struct gang *g, const u32 *targets, const struct uop *back)
{
	struct warp *w = &g->warp_at[g->warp];
	const struct uop *in;

	for (u32 m = w->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		park_ready(w, 1u << l, targets[l]);
	}
	if (back && must_rotate(g, w, back))
		return rotate(g, w);
	in = warp_next(g);
	return in ? warp_arrive(g, in) : NULL;
}

const struct uop *warp_exit(struct gang *g, u32 gone, u32 next)
{
	struct warp *w = &g->warp_at[g->warp];
	u32 rest = w->mask & ~gone;

	w->live &= ~gone;
	g->env->ops->settle(g);
	if (!rest)
		return warp_next(g);
	set_running(g, w, rest, next);
	return warp_jump(g, next);
}

const struct uop *warp_yield(struct gang *g, u32 pc)
{
	struct warp *w = &g->warp_at[g->warp];

	park_ready(w, w->mask, pc);
	w->mask = 0;
	w->rotate = g->env->program->arch->has_its;
	if (lowest_group(w) != NO_PC && w->groups > 1 && --g->budget > 0)
		return warp_next(g);
	g->stop = STOP_YIELD;
	return NULL;
}

const struct uop *warp_turn(struct gang *g, u32 pc)
{
	struct warp *w = &g->warp_at[g->warp];

	if (w->mask != w->live)
		return g->uops + pc;
	park_ready(w, w->mask, pc);
	w->mask = 0;
	g->stop = STOP_TURN;
	return NULL;
}

/* ---- calls ---- */

const struct uop *warp_goto(struct gang *g, u32 pc)
{
	struct warp *w = &g->warp_at[g->warp];

	/*
	 * Backwards, groups that wait between here and there are ahead again; forwards, none of
	 * those that wait in between may be passed.
	 */
	if (w->groups) {
		u32 stop = stop_from(w, pc);

		w->stop = stop < w->stop ? stop : w->stop;
	}
	return warp_jump(g, pc);
}

/* ---- faults ---- */

/*
 * Who called the function of `in`, and so on: rows of functions keep where they return to. Those of
 * a function that is under way twice keep the last time only, so that a cycle is gone round once.
 */
static void note_callers(const struct gang *g, const struct uop *in, u32 lane, struct fault *f)
{
	const struct program *p = g->env->program;
	u32 func = in->func, at = g->warp * WARP_LANES + lane;

	f->callers = 0;
	while (func && func < p->func_len && f->callers < FAULT_CALLERS) {
		u32 pc = ((const u32 *)(const void *)(g->regs + p->funcs[func].return_row))[at];

		if (!pc || pc > p->uops)
			return;
		for (u32 i = 0; i < f->callers; i++)
			if (f->caller[i] == pc - 1)
				return;
		f->caller[f->callers++] = pc - 1;
		func = p->uop[pc - 1].func;
	}
}

/* Where a fault is: everything but the access. lane: of warp g->warp. */
static void locate_fault(const struct gang *g, const struct uop *in, enum fault_kind kind,
			 u32 lanes, struct fault *f)
{
	u32 lane = lanes ? (u32)__builtin_ctz(lanes) : 0,
	    thread = (g->first_warp + g->warp) * WARP_LANES + lane;
	const u32 *b = g->env->block;

	f->kind = kind;
	f->pc = (u32)(in - g->uops);
	f->warp = g->first_warp + g->warp;
	f->lanes = lanes;
	memcpy(f->ctaid, g->cta->id, sizeof(f->ctaid));
	f->thread[0] = thread % b[0];
	f->thread[1] = thread / b[0] % b[1];
	f->thread[2] = thread / b[0] / b[1];
	f->shared_bytes = g->env->shared_bytes;
	f->local_bytes = g->env->local_bytes;
	note_callers(g, in, lane, f);
}

/* Note the lanes that have been counted for what follows, and do not get there. */
static void count_stopped(struct gang *g, const struct uop *in)
{
	struct exec_count *c = &g->counts[g->env->program->cut_at];

	for (u32 w = 0; w < (g->together ? g->warps : 1); w++) {
		u32 mask = g->together ? g->warp_at[w].live : g->warp_at[g->warp].mask;

		c->warps += mask != 0;
		c->lanes += (u32)__builtin_popcount(mask);
	}
	if (c->missing < (u32)(in - g->uops) + 1)
		c->missing = (u32)(in - g->uops) + 1;
}

const struct uop *exec_fault(struct gang *g, const struct uop *in, enum fault_kind kind, u32 lanes)
{
	locate_fault(g, in, kind, lanes, g->fault);
	if (g->env->program->insn_len)
		count_stopped(g, in);
	g->stop = STOP_FAULT;
	return NULL;
}

bool exec_is_store(const struct uop *in)
{
	return uop_kind(in->inner) == UOP_STORE;
}

enum mem_access exec_access(const struct uop *in)
{
	enum uop_kind kind = uop_kind(in->inner);

	return kind == UOP_ATOMIC ? MEM_ATOMIC : kind == UOP_STORE ? MEM_WRITE : MEM_READ;
}

void exec_overrun(struct gang *g, const struct uop *in, u32 lane, struct fault *f)
{
	u32 warp = g->warp;

	g->warp += lane / WARP_LANES;
	f->write |= exec_is_store(in);
	locate_fault(g, in, FAULT_ILLEGAL_ADDRESS, 1u << lane % WARP_LANES, f);
	g->warp = warp;
	g->env->on_overrun(g->env->user, f);
}

bool exec_cache_fill(struct gang *g, const struct uop *in, u64 addr, u64 size, u32 lane,
		     enum mem_access access)
{
	const struct exec_env *e = g->env;
	enum mem_found found =
		mem_cache_fill(e->mem, &g->caches[in->mem.cache], addr, size, access);
	struct fault f = {.address = addr, .size = (u32)size, .space = in->mem.space};

	if (PL_UNLIKELY(found == MEM_FOUND_OVERRUN) && e->on_overrun)
		exec_overrun(g, in, lane, &f);
	return found != MEM_FOUND_NONE;
}
