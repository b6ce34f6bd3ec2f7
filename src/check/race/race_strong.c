/*
 * Strong accesses to global memory, of a scope that has all threads of the device: where all are
 * such, none of them races, so that each is only kept for those to come that are not.
 */
#include "src/check/race/race_int.h"

#include <stdlib.h>

struct strong_visit {
	struct race_launch *launch;
	struct clock_cta *cta;
	const struct exec_access *a;
	const struct manner *manner;
	bool writes;
	u32 time;
	u32 event; /* of a load */
};

/* Is it a page of which nothing else is known? */
static bool is_of_strong(struct shadow_page *p)
{
	if (p && shadow_has_runs(p) && !p->runs && !p->reads && !p->is_logged && p->shift == 2)
		p->is_strong = true;
	return p && p->is_strong;
}

/* Loads whose value the thread's compare and swap may have been tried with. */
static void note_strong_tries(const struct strong_visit *v, struct shadow_page *p, u32 cell,
			      u32 lane)
{
	const struct reads_log *log = &v->launch->global.log;
	u64 warp = who_thread(v->cta->number, v->a->warp * WARP_LANES) >> 5;
	const struct set_read *r = reads_of(p->set, cell);

	for (u32 i = 0; i < reads_count(p->set, cell); i++)
		if (r[i].lanes >> lane & 1 && reads_said(log, &r[i])->warp == warp)
			v->launch->manner[reads_said(log, &r[i])->pc].feeds_atomic = true;
}

/* False: no memory left. */
static bool note_strong_write(const struct strong_visit *v, struct shadow_page *p, u32 cell,
			      u32 lane)
{
	if (!p->strong)
		p->strong = calloc(SHADOW_PAGE >> p->shift, sizeof(*p->strong));
	if (!p->strong)
		return false;
	if (p->set) {
		reads_settle(&v->launch->global, p);
		if (v->manner->tries)
			note_strong_tries(v, p, cell, lane);
		p->set->len[cell] = 0;
	}
	p->strong[cell] = (struct strong_write){
		.who = who_thread(v->cta->number, v->a->warp * WARP_LANES + lane),
		.time = v->time,
		.pc = v->a->pc & ((1u << 30) - 1),
		.scope = (u32)v->manner->scope & 3,
	};
	return true;
}

/* As of any strong access; most are of threads that have neither read nor fenced anything. */
static void strong_synchronise(const struct strong_visit *v, u32 lane)
{
	struct map *variables = &v->launch->variables;
	u32 thread = v->a->warp * WARP_LANES + lane;
	u64 key = v->a->address[lane] / 4 + 1;
	enum scope scope = (enum scope)v->manner->scope;

	if (variables->len)
		clock_strong_read(variables, v->cta, thread, key, scope, v->manner->acquires);
	if (v->writes && (v->manner->releases || v->cta->thread[thread].fence[SCOPE_CTA]))
		clock_strong_write(&v->launch->clock, variables, v->cta, thread, key, scope,
				   v->manner->releases, true);
}

static void note_strong_lane(struct strong_visit *v, struct shadow_page *p, u32 lane)
{
	u32 first = (u32)(v->a->address[lane] % SHADOW_PAGE) >> p->shift;
	u32 cells = (u32)v->a->bytes >> p->shift;
	bool ok = true;

	if (!v->writes)
		ok = reads_add_strong(
			&v->launch->global, p,
			&(struct set_waiting){1u << lane, v->event, (u16)first, (u16)cells});
	for (u32 i = 0; v->writes && i < cells; i++)
		ok &= note_strong_write(v, p, first + i, lane);
	v->launch->gave_up |= !ok;
	strong_synchronise(v, lane);
}

static bool say_strong_load(struct strong_visit *v)
{
	const struct reads_event e = {
		.warp = who_thread(v->cta->number, v->a->warp * WARP_LANES) >> 5,
		.time = v->time,
		.pc = v->a->pc,
		.known = v->cta->warp_known[v->a->warp],
		.scope = v->manner->scope,
		.strong = true,
	};

	return v->writes || reads_say(&v->launch->global, &e, &v->event);
}

/* The pages of lanes whose accesses are kept so. */
static u32 find_strong(const struct strong_visit *v, struct shadow_page *page[WARP_LANES])
{
	u32 found = 0;

	for (u32 m = v->a->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);
		u64 at = v->a->address[lane];
		struct shadow_page *p = shadow_page_at(&v->launch->global, at);

		if (at & (v->a->bytes - 1) || !is_of_strong(p))
			continue;
		found |= 1u << lane;
		page[lane] = p;
		if (p->strong && v->writes)
			__builtin_prefetch(&p->strong[at % SHADOW_PAGE >> p->shift], 1);
	}
	return found;
}

u32 race_strong(struct race_launch *l, struct race_cta *c, const struct exec_access *a,
		const struct manner *m)
{
	struct shadow_page *page[WARP_LANES];
	struct strong_visit v = {.launch = l,
				 .cta = c->clock,
				 .a = a,
				 .manner = m,
				 .time = l->clock.now,
				 .writes = a->kind != ACCESS_LOAD};
	u32 found;

	if ((a->kind != ACCESS_LOAD && a->kind != ACCESS_ATOM && a->kind != ACCESS_RED) ||
	    m->scope < SCOPE_GPU || a->bytes < 4 || a->bytes > 16 || a->bytes & (a->bytes - 1))
		return a->mask;
	reads_make_room(&l->global);
	found = find_strong(&v, page);
	if (found && !say_strong_load(&v)) {
		l->gave_up = true;
		return a->mask & ~found;
	}
	for (u32 left = found; left; left &= left - 1)
		note_strong_lane(&v, page[__builtin_ctz(left)], (u32)__builtin_ctz(left));
	return a->mask & ~found;
}
