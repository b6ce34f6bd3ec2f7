/*
 * The observer that looks for races: launches and CTAs that it follows.
 */
#include "src/check/race/race_int.h"
#include "src/check/race/update.h"
#include "src/dev/module/nested.h"
#include "src/exec/lane_access.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what instructions do ---- */

enum scope race_scope(const struct isa_form *form)
{
	if (isa_form_has(form, M_cta))
		return SCOPE_CTA;
	if (isa_form_has(form, M_cluster))
		return SCOPE_CLUSTER;
	if (isa_form_has(form, M_sys) || isa_form_has(form, M_volatile) ||
	    isa_form_has(form, M_mmio))
		return SCOPE_SYS;
	return SCOPE_GPU;
}

/* ---- launches and CTAs ---- */

struct race_launch *race_launch_of(struct race_check *r, u64 grid_id)
{
	u64 *slot;

	if (r->last && r->last_id == grid_id)
		return r->last;
	slot = map_get(&r->launches, grid_id + 1);
	r->last = slot ? (void *)(uintptr_t)*slot : NULL;
	r->last_id = grid_id;
	return r->last;
}

struct race_cta *race_cta(struct race_launch *l, u64 number)
{
	u64 *slot;

	if (PL_LIKELY(l->last && l->last->clock->number == number))
		return l->last;
	slot = map_get(&l->ctas, number + 1);
	return l->last = slot ? (struct race_cta *)(uintptr_t)*slot : NULL;
}

struct race_cta *race_owner(struct race_launch *l, const struct cta *c, u64 address,
			    const struct cta **owner)
{
	*owner = shared_owner((struct cta *)(uintptr_t)c, address >> MEM_SHARED_RANK_SHIFT);
	return *owner ? race_cta(l, (*owner)->number) : NULL;
}

static void cta_free(struct race_cta *c)
{
	if (!c)
		return;
	clock_variables_fini(&c->variables);
	map_fini(&c->acquired);
	quick_fini(&c->quick);
	shadow_fini(&c->shared);
	free(c->wait);
	free(c->lockstep);
	clock_cta_free(c->clock);
	free(c);
}

/* Launches begin in threads of the program; a worker runs them. */
static void race_lock(struct race_check *r)
{
	pthread_mutex_lock(&r->lock);
}

static void race_unlock(struct race_check *r)
{
	pthread_mutex_unlock(&r->lock);
}

/*
 * Are accesses to shared memory done with at the barrier behind them? Copies of the asynchronous
 * proxy and wgmma want a fence behind those before; a compare and swap asks which loads it is
 * tried with.
 */
static bool can_be_quick(const struct program *p)
{
	for (u32 i = 0; i < p->uops; i++) {
		const struct uop *in = &p->uop[i];
		const struct isa_form *form;

		if (in->inner == OP_bulk || in->inner == OP_tensor ||
		    in->inner == OP_remote_async || in->inner == OP_wgmma)
			return false;
		if (uop_kind(in->inner) != UOP_ATOMIC || uop_info[in->inner].space == MEM_GLOBAL)
			continue;
		form = exec_form(p, in);
		if (!form || isa_form_has(form, M_cas))
			return false;
	}
	return true;
}

static void race_begin_launch(struct race_check *r, const struct program *p, u64 grid_id)
{
	struct race_launch *l = calloc(1, sizeof(*l));

	if (!l)
		return;
	l->program = p;
	l->mem = r->mem;
	l->found = r->found;
	l->clock.now = 1;
	l->has_quick = can_be_quick(p);
	l->manner = calloc(p->uops, sizeof(*l->manner));
	if (!l->manner || !map_set(&r->launches, grid_id + 1, map_key(l))) {
		free(l->manner);
		free(l);
	}
	r->last = NULL;
}

static void launch_free(struct race_launch *l)
{
	for (size_t i = 0; i < l->ctas.cap; i++)
		if (l->ctas.slots[i].key)
			cta_free((struct race_cta *)(uintptr_t)l->ctas.slots[i].value);
	map_fini(&l->ctas);
	clock_variables_fini(&l->variables);
	clock_fini(&l->clock);
	quick_fini(&l->spare);
	clock_cta_free(l->spare_clock);
	shadow_fini(&l->global);
	asked_fini(&l->asked);
	race_reports_fini(&l->reports);
	free(l->manner);
	free(l);
}

/* Do both threads change the place by what they have read of it? */
static bool updates_both(const struct program *p, const struct race *x)
{
	const struct touch *w = x->first_writes ? &x->first : &x->second;
	const struct touch *other = x->first_writes ? &x->second : &x->first;
	u32 load;

	if (who_agent_of(w->who) != AGENT_THREAD || who_agent_of(other->who) != AGENT_THREAD)
		return false;
	load = race_update_load(p, w->pc);
	if (load == IR_NONE)
		return false;
	if (x->first_writes && x->second_writes)
		return race_update_load(p, other->pc) != IR_NONE;
	return p->uop[other->pc].func == p->uop[w->pc].func && p->uop[other->pc].ir == load;
}

static void race_end_launch(struct race_check *r, const struct program *p, u64 grid_id)
{
	struct race_launch *l = race_launch_of(r, grid_id);

	if (!l)
		return;
	if (l->gave_up)
		fputs("ptxloom: note: races of a launch were not looked for to its end: "
		      "no memory left, or 2^32 barriers and fences\n",
		      stderr);
	for (size_t i = 0; i < l->reports.list.len; i++) {
		struct race *x = &l->reports.list.at[i].race;

		x->is_try = (!x->first_writes && x->second.strong &&
			     l->manner[x->first.pc].feeds_atomic) ||
			    (!x->second_writes && x->first.strong &&
			     l->manner[x->second.pc].feeds_atomic);
		x->is_update = (x->same_value || x->together) && updates_both(p, x);
	}
	race_reports_tell(&l->reports, p, l->from, r->mem, r->found);
	launch_free(l);
	map_remove(&r->launches, grid_id + 1);
	r->last = NULL;
}

static struct clock_cta *take_cta_clock(struct race_launch *l, const struct cta *c)
{
	struct clock_cta *x = l->spare_clock;

	l->spare_clock = NULL;
	if (x && clock_cta_reset(x, c))
		return x;
	clock_cta_free(x);
	return clock_cta_new(c);
}

static void race_begin_cta(struct race_check *r, const struct cta *c)
{
	struct race_launch *l = race_launch_of(r, c->env->grid_id);
	struct race_cta *x = l ? calloc(1, sizeof(*x)) : NULL;

	if (!l)
		return;
	if (x)
		x->clock = take_cta_clock(l, c);
	if (x && !l->program->arch->has_its)
		x->lockstep = calloc(c->warps, sizeof(*x->lockstep));
	if (!x || !x->clock || (!x->lockstep && !l->program->arch->has_its) ||
	    !map_set(&l->ctas, c->number + 1, map_key(x))) {
		cta_free(x);
		l->gave_up = true;
		return;
	}
	l->from = nested_from(c->env->user);
	x->quick = l->spare;
	l->spare = (struct quick){0};
	quick_reset(&x->quick);
	l->last = NULL;
}

static void race_end_cta(struct race_check *r, const struct cta *c)
{
	struct race_launch *l = race_launch_of(r, c->env->grid_id);
	struct race_cta *x = l ? race_cta(l, c->number) : NULL;

	if (!x)
		return;
	r->now.cta = NULL;
	map_remove(&l->ctas, c->number + 1);
	if (!l->spare.write) {
		quick_fini(&l->spare);
		l->spare = x->quick;
		x->quick = (struct quick){0};
	}
	if (!l->spare_clock) {
		l->spare_clock = x->clock;
		x->clock = NULL;
	}
	cta_free(x);
	l->last = NULL;
}

/* ---- the observer ---- */

static void observe_launch(void *user, const struct program *p, u64 grid_id)
{
	race_lock(user);
	race_begin_launch(user, p, grid_id);
	race_unlock(user);
}

static void observe_launch_end(void *user, const struct program *p, u64 grid_id)
{
	race_lock(user);
	race_end_launch(user, p, grid_id);
	race_unlock(user);
}

static void observe_cta(void *user, const struct cta *c)
{
	race_lock(user);
	race_begin_cta(user, c);
	race_unlock(user);
}

static void observe_cta_end(void *user, const struct cta *c)
{
	race_lock(user);
	race_end_cta(user, c);
	race_unlock(user);
}

static void observe_heap(void *user, const struct cta *c, u64 address, u64 bytes)
{
	struct race_launch *l;

	race_lock(user);
	l = race_launch_of(user, c->env->grid_id);
	if (l)
		shadow_forget(&l->global, address, bytes);
	race_unlock(user);
}

/* The CTA that an event is of. False: it is not followed. */
static bool find_cta(struct race_check *r, const struct cta *c)
{
	u64 grid_id = c->env->grid_id;

	if (PL_LIKELY(r->now.cta && r->now.number == c->number && r->now.grid_id == grid_id))
		return !r->now.launch->gave_up;
	race_lock(r);
	r->now.launch = race_launch_of(r, grid_id);
	r->now.cta = r->now.launch ? race_cta(r->now.launch, c->number) : NULL;
	r->now.grid_id = grid_id;
	r->now.number = c->number;
	race_unlock(r);
	return r->now.cta && !r->now.launch->gave_up;
}

/* Only of devices without independent thread scheduling. */
static void observe_step(void *user, const struct gang *g, const struct uop *in)
{
	struct race_check *r = user;
	struct race_cta *c;

	(void)in;
	if (!find_cta(r, g->cta))
		return;
	c = r->now.cta;
	for (u32 w = 0; w < exec_step_warps(g); w++) {
		u32 warp = g->first_warp + g->warp + w, mask = exec_step_mask(g, w);

		if (!mask || c->lockstep[warp].mask == mask)
			continue;
		race_resume(r->now.launch, c, warp, mask);
		lockstep_run(&c->lockstep[warp], &r->now.launch->clock, c->clock, warp, mask);
	}
}

/* The device of all launches is the same. */
static void observe_narrow(void *user, const struct exec_env *e, struct exec_observer *o)
{
	struct race_check *r = user;

	if (!e->program->arch->has_its)
		return;
	race_lock(r);
	r->observer.step = NULL;
	race_unlock(r);
	o->step = NULL;
}

static void observe_access(void *user, const struct exec_access *a)
{
	struct race_check *r = user;

	if ((a->space == MEM_SHARED || a->space == MEM_GLOBAL) && find_cta(r, a->cta))
		race_access(r->now.launch, r->now.cta, a);
}

static bool observe_span(void *user, const struct exec_span *s)
{
	struct race_check *r = user;

	if (s->space != MEM_SHARED && s->space != MEM_GLOBAL)
		return true;
	return find_cta(r, s->g->cta) && race_span(r->now.launch, r->now.cta, s);
}

static void observe_sync(void *user, const struct exec_sync *s)
{
	struct race_check *r = user;

	if (find_cta(r, s->cta))
		race_sync(r->now.launch, r->now.cta, s);
}

/* ---- for other observers ---- */

struct race_deed race_deed_now(struct race_check *r, const struct cta *c, u32 warp, u32 lanes)
{
	struct race_deed d = {c->number, warp, lanes, 0};

	if (!find_cta(r, c))
		return d;
	race_resume(r->now.launch, r->now.cta, warp, lanes);
	d.moment = r->now.launch->clock.now;
	return d;
}

u32 race_lanes_behind(struct race_check *r, const struct race_deed *d, const struct cta *c,
		      u32 warp, u32 mask)
{
	u32 behind = d->cta == c->number && d->warp == warp ? mask & d->lanes : 0;

	if (behind == mask || !find_cta(r, c))
		return behind;
	race_resume(r->now.launch, r->now.cta, warp, mask);
	for (u32 m = mask & ~behind; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);

		for (u32 x = d->lanes; x && !(behind >> lane & 1); x &= x - 1) {
			u64 who = who_thread(d->cta, d->warp * WARP_LANES + (u32)__builtin_ctz(x));

			if (clock_known(r->now.cta->clock, warp * WARP_LANES + lane, who) >=
			    d->moment)
				behind |= 1u << lane;
		}
	}
	return behind;
}

void race_check_init(struct race_check *r, struct mem *m, struct findings *found)
{
	*r = (struct race_check){.mem = m,
				 .found = found,
				 .observer = {.user = r,
					      .every = true,
					      .launch_begin = observe_launch,
					      .launch_end = observe_launch_end,
					      .cta_begin = observe_cta,
					      .cta_end = observe_cta_end,
					      .step = observe_step,
					      .narrow = observe_narrow,
					      .access = observe_access,
					      .span = observe_span,
					      .sync = observe_sync,
					      .heap = observe_heap}};
	pthread_mutex_init(&r->lock, NULL);
}

void race_check_fini(struct race_check *r)
{
	for (size_t i = 0; i < r->launches.cap; i++)
		if (r->launches.slots[i].key && r->launches.slots[i].value)
			launch_free((struct race_launch *)(uintptr_t)r->launches.slots[i].value);
	map_fini(&r->launches);
	pthread_mutex_destroy(&r->lock);
}
