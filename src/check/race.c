/*
 * The observer that looks for races: follows accesses and synchronisation of a launch.
 */
#include "src/check/race.h"
#include "src/base/demangle.h"
#include "src/check/report.h"
#include "src/check/shadow.h"
#include "src/exec/lane_access.h"
#include "src/exec/turn.h"
#include "src/lower/lower.h"
#include "src/uop/async.h"
#include "src/uop/warp.h"

#include <stdio.h>
#include <stdlib.h>

/* What the model says of an instruction's accesses. */
struct manner {
	bool known, strong, acquires, releases;
	bool tries;        /* compare and swap */
	bool feeds_atomic; /* a load of what the same thread then changes by an atomic */
	u8 scope;
};

/* A CTA that runs. */
struct race_cta {
	struct clock_cta *clock;
	struct shadow shared;
	struct map variables; /* of shared memory */
};

/* A launch that is under way. */
struct race_launch {
	const struct program *program;
	struct clock clock;
	struct shadow global;
	struct map variables; /* of global memory */
	struct map ctas;      /* those that run, by number + 1: struct race_cta * */
	struct race_cta *last;
	struct manner *manner; /* by micro-op */
	struct race_reports reports;
	bool gave_up;
};

/* Keys of variables: words by address / 4 + 1, mbarriers by offset + this. */
#define MBARRIER_KEY ((u64)1 << 62)

/* ---- what instructions do ---- */

static enum scope scope_of(const struct isa_form *form)
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

static const struct isa_form *form_of(const struct program *p, const struct uop *in)
{
	const struct ir_func *f = p->funcs[in->func].func;

	return in->ir < f->insns.len ? f->insns.at[in->ir].form : NULL;
}

static struct manner manner_of(struct race_launch *l, const struct uop *in, u32 pc)
{
	struct manner *m = &l->manner[pc];
	const struct isa_form *form = m->known ? NULL : form_of(l->program, in);

	if (form) {
		bool both = isa_form_has(form, M_acq_rel) || isa_form_has(form, M_sc);

		m->scope = (u8)scope_of(form);
		m->acquires = both || isa_form_has(form, M_acquire);
		m->releases = both || isa_form_has(form, M_release);
		m->tries = isa_form_has(form, M_cas);
		m->strong = m->acquires || m->releases || uop_kind(in->inner) == UOP_ATOMIC ||
			    isa_form_has(form, M_relaxed) || isa_form_has(form, M_volatile) ||
			    isa_form_has(form, M_mmio);
	}
	m->known = true;
	return *m;
}

/* ---- launches and CTAs ---- */

static struct race_launch *launch_of(struct race_check *r, u64 grid_id)
{
	u64 *slot;

	if (r->last && r->last_id == grid_id)
		return r->last;
	slot = map_get(&r->launches, grid_id + 1);
	r->last = slot ? (void *)(uintptr_t)*slot : NULL;
	r->last_id = grid_id;
	return r->last;
}

static struct race_cta *race_cta(struct race_launch *l, u64 number)
{
	u64 *slot;

	if (PL_LIKELY(l->last && l->last->clock->number == number))
		return l->last;
	slot = map_get(&l->ctas, number + 1);
	return l->last = slot ? (struct race_cta *)(uintptr_t)*slot : NULL;
}

static void cta_free(struct race_cta *c)
{
	if (!c)
		return;
	clock_variables_fini(&c->variables);
	shadow_fini(&c->shared);
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

static void race_begin_launch(struct race_check *r, const struct program *p, u64 grid_id)
{
	struct race_launch *l = calloc(1, sizeof(*l));

	if (!l)
		return;
	l->program = p;
	l->clock.now = 1;
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
	shadow_fini(&l->global);
	race_reports_fini(&l->reports);
	free(l->manner);
	free(l);
}

static void race_end_launch(struct race_check *r, const struct program *p, u64 grid_id)
{
	struct race_launch *l = launch_of(r, grid_id);

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
	}
	race_reports_tell(&l->reports, p, r->mem, r->found);
	launch_free(l);
	map_remove(&r->launches, grid_id + 1);
	r->last = NULL;
}

static void race_begin_cta(struct race_check *r, const struct cta *c)
{
	struct race_launch *l = launch_of(r, c->env->grid_id);
	struct race_cta *x = l ? calloc(1, sizeof(*x)) : NULL;

	if (!l)
		return;
	if (x)
		x->clock = clock_cta_new(c);
	if (!x || !x->clock || !map_set(&l->ctas, c->number + 1, map_key(x))) {
		cta_free(x);
		l->gave_up = true;
	}
	l->last = NULL;
}

static void race_end_cta(struct race_check *r, const struct cta *c)
{
	struct race_launch *l = launch_of(r, c->env->grid_id);
	struct race_cta *x = l ? race_cta(l, c->number) : NULL;

	if (!x)
		return;
	map_remove(&l->ctas, c->number + 1);
	cta_free(x);
	l->last = NULL;
}

/* ---- accesses ---- */

struct visit {
	struct race_launch *launch;
	const struct exec_access *a;
	struct clock_cta *cta;
	struct manner manner;
	bool reads, writes;
	u32 lane, thread;
	u64 address; /* of the first byte of the access; shared: in the memory of `owner` */
	const struct cta *owner;
	struct shadow *shadow;
	struct map *variables;
	struct touch now;
	u64 host_piece; /* + 1, of the last global address that was looked up; 0: none */
	const u8 *host;
};

/* Whether two strong accesses see each other as the model wants: each's scope has the other. */
static bool scopes_meet(const struct touch *t, const struct visit *v)
{
	u8 narrow = t->scope < v->now.scope ? t->scope : v->now.scope;

	if (who_cta_of(t->who) == v->cta->number)
		return true;
	return narrow >= SCOPE_GPU || (narrow == SCOPE_CLUSTER && v->cta->cluster_size > 1);
}

static bool race_is_ordered(const struct visit *v, const struct touch *t, u32 *lane)
{
	for (u32 m = t->lanes; m; m &= m - 1) {
		u64 who = (t->who & ~(u64)31) | (u64)__builtin_ctz(m);

		if (clock_known(v->cta, v->thread, who) < t->time) {
			*lane = (u32)__builtin_ctz(m);
			return false;
		}
	}
	return true;
}

/* What a thread of the CTA stores as element `element`. False: not known. */
static bool stored(const struct exec_access *a, u32 thread, u32 element, u64 *value)
{
	const struct uop *in = a->in;
	const struct gang *g = exec_gang_of(a->cta, thread / WARP_LANES);
	u32 at = thread - g->first_warp * WARP_LANES, row;

	if (a->kind != ACCESS_STORE || in->mem.size > 8)
		return false;
	row = in->mem.count > 1 ? a->cta->env->program->ext[in->ext + element] : in->b;
	if (row == NO_ROW)
		return false;
	*value = in->flags & UOPF_WIDE_DATA ? ((const u64 *)(g->regs + row))[at]
					    : ((const u32 *)(g->regs + row))[at];
	return true;
}

#define HOST_PIECE 256u

/* Where bytes of memory are now, before the access; they lie in one element. NULL: not known. */
static const u8 *memory_at(struct visit *v, u64 address)
{
	u64 piece = address / HOST_PIECE + 1;

	if (v->a->space == MEM_SHARED)
		return v->owner->shared + address;
	if (v->host_piece != piece) {
		v->host = mem_pointer(v->a->cta->env->mem, address - address % HOST_PIECE);
		v->host_piece = piece;
	}
	return v->host ? v->host + address % HOST_PIECE : NULL;
}

static bool same_bits(u64 a, u64 b, u32 size)
{
	return size == 8 ? a == b : !((a ^ b) & (((u64)1 << 8 * size) - 1));
}

/* Does the element of a store that has this byte hold already what is stored? */
static bool changes_nothing(struct visit *v, u64 address)
{
	u32 size = v->a->size ? v->a->size : 1, element = (u32)(address - v->address) / size;
	u64 mine, there = 0;
	const u8 *from;

	if (!stored(v->a, v->thread, element, &mine))
		return false;
	from = memory_at(v, v->address + element * size);
	if (from)
		memcpy(&there, from, size);
	return from && same_bits(mine, there, size);
}

/* Parts of one instruction that is about to run: do both threads store the same? */
static bool store_the_same(const struct visit *v, const struct touch *t, u32 lane, u64 address)
{
	u32 size = v->a->size ? v->a->size : 1, element = (u32)(address - v->address) / size;
	u64 mine, other;

	return stored(v->a, v->thread, element, &mine) &&
	       stored(v->a, (who_index(t->who) & ~31u) | lane, element, &other) &&
	       same_bits(mine, other, size);
}

/* Is the outcome the same whichever of the two comes first? */
static bool is_harmless(const struct visit *v, const struct touch *t, u32 lane, u64 address,
			bool is_write)
{
	if (!is_write || !v->writes)
		return v->a->space == MEM_GLOBAL && (is_write ? t->silent : v->now.silent);
	if (t->time == v->now.time && t->pc == v->now.pc &&
	    who_cta_of(t->who) == who_cta_of(v->now.who))
		return store_the_same(v, t, lane, address);
	return v->now.silent;
}

static void found(struct visit *v, const struct touch *t, u32 lane, u64 address, bool is_write)
{
	struct race r = {
		.first = *t,
		.second = v->now,
		.first_writes = is_write,
		.second_writes = v->writes,
		.space = v->a->space,
		.address = address,
		.launch_block = {v->a->cta->env->block[0], v->a->cta->env->block[1],
				 v->a->cta->env->block[2]},
		.launch_grid = {v->a->cta->env->grid[0], v->a->cta->env->grid[1],
				v->a->cta->env->grid[2]},
	};

	r.first.who = (t->who & ~(u64)31) | lane;
	r.same_value = is_harmless(v, t, lane, address, is_write);
	r.same_warp = r.first.who >> 5 == r.second.who >> 5;
	r.together = r.same_warp && t->pc != v->now.pc && (v->a->mask >> lane & 1);
	r.narrow = t->strong && v->now.strong;
	if (!race_reports_add(&v->launch->reports, &r))
		v->launch->gave_up = true;
}

static void against(struct visit *v, const struct touch *t, u64 address, bool is_write)
{
	u32 lane;

	if (!t->who || (t->strong && v->now.strong && scopes_meet(t, v)) ||
	    race_is_ordered(v, t, &lane))
		return;
	found(v, t, lane, address, is_write);
}

/* Loads whose value the thread's atomic operation, now, may have been tried with. */
static void note_tries(struct visit *v, const struct cell *c)
{
	const struct touch *t = c->readers ? c->readers->at : &c->read;
	u32 n = c->readers ? c->readers->len : c->read.who != 0;

	for (u32 i = 0; i < n; i++)
		if (t[i].who >> 5 == v->now.who >> 5 && (t[i].lanes & v->now.lanes))
			v->launch->manner[t[i].pc].feeds_atomic = true;
}

static void visit_cell(struct visit *v, struct cell *c, u64 address)
{
	/* Shared memory holds what a CTA before has left: that does not count. */
	v->now.silent = v->writes && (v->a->space == MEM_GLOBAL || c->write.who) &&
			changes_nothing(v, address);
	against(v, &c->write, address, true);
	if (!v->writes) {
		if (!cell_add_reader(c, &v->now))
			v->launch->gave_up = true;
		return;
	}
	if (v->manner.tries)
		note_tries(v, c);
	if (c->readers)
		for (u32 i = 0; i < c->readers->len; i++)
			against(v, &c->readers->at[i], address, false);
	else
		against(v, &c->read, address, false);
	if (c->readers || c->read.who)
		cell_clear_readers(c);
	c->write = v->now;
}

static void visit_bytes(struct visit *v, u32 bytes)
{
	u64 at = v->address;

	while (bytes) {
		u32 room = SHADOW_PAGE - (u32)(at % SHADOW_PAGE),
		    part = bytes < room ? bytes : room;
		u32 n, cell_bytes;
		struct cell *c = shadow_cells(v->shadow, at, part, &n, &cell_bytes);

		if (!c) {
			v->launch->gave_up = true;
			return;
		}
		for (u32 i = 0; i < n; i++)
			visit_cell(v, &c[i], at + i * cell_bytes);
		at += part;
		bytes -= part;
	}
}

static void synchronise(struct visit *v)
{
	struct clock *k = &v->launch->clock;
	u64 key = v->address / 4 + 1;
	enum scope scope = (enum scope)v->manner.scope;

	if (!v->manner.strong) {
		if (v->writes)
			clock_overwritten(v->variables, key);
		return;
	}
	if (v->reads)
		clock_strong_read(v->variables, v->cta, v->thread, key, scope, v->manner.acquires);
	if (v->writes)
		clock_strong_write(k, v->variables, v->cta, v->thread, key, scope,
				   v->manner.releases, v->reads);
}

/* The CTA whose shared memory an address of c's names; it may have ended: NULL. */
static struct race_cta *owner_of(struct race_launch *l, const struct cta *c, u64 address,
				 const struct cta **owner)
{
	*owner = shared_owner((struct cta *)(uintptr_t)c, address >> MEM_SHARED_RANK_SHIFT);
	return *owner ? race_cta(l, (*owner)->number) : NULL;
}

/* Where a lane's access goes. False: nowhere that is followed. */
static bool find_memory(struct visit *v, u64 address)
{
	struct race_cta *c;

	v->address = address;
	v->shadow = &v->launch->global;
	v->variables = &v->launch->variables;
	if (v->a->space != MEM_SHARED)
		return true;
	c = owner_of(v->launch, v->a->cta, address, &v->owner);
	if (!c)
		return false;
	v->address = address & MEM_SHARED_OFFSET;
	v->shadow = &c->shared;
	v->variables = &c->variables;
	return v->address + v->a->bytes <= v->owner->env->shared_bytes;
}

static void race_access(struct race_check *r, const struct exec_access *a)
{
	struct race_launch *l = launch_of(r, a->cta->env->grid_id);
	struct visit v = {.launch = l, .a = a};
	struct race_cta *c;

	if (!l || l->gave_up || (a->space != MEM_SHARED && a->space != MEM_GLOBAL))
		return;
	c = race_cta(l, a->cta->number);
	if (!c)
		return;
	v.cta = c->clock;
	clock_resume(&l->clock, v.cta, a->warp, a->mask);
	v.manner = manner_of(l, a->in, a->pc);
	v.reads = a->kind != ACCESS_STORE && a->kind != ACCESS_COPY_WRITE &&
		  a->kind != ACCESS_MATRIX_STORE;
	v.writes = a->kind != ACCESS_LOAD && a->kind != ACCESS_COPY_READ &&
		   a->kind != ACCESS_MATRIX_LOAD;
	for (u32 m = a->mask; m; m &= m - 1) {
		v.lane = (u32)__builtin_ctz(m);
		v.thread = a->warp * WARP_LANES + v.lane;
		if (!find_memory(&v, a->address[v.lane]))
			continue;
		v.now = (struct touch){who_thread(v.cta->number, v.thread),
				       1u << v.lane,
				       l->clock.now,
				       a->pc,
				       v.manner.scope,
				       v.manner.strong,
				       false};
		visit_bytes(&v, (u32)a->bytes);
		synchronise(&v);
	}
	l->gave_up |= known_failed() || l->clock.now > UINT32_MAX - 4096;
}

/* ---- synchronisation ---- */

static u32 lane_index(const struct gang *g, u32 warp, u32 lane)
{
	return (warp - g->first_warp) * WARP_LANES + lane;
}

static void on_barrier(struct race_launch *l, struct clock_cta *c, const struct exec_sync *s,
		       bool waits)
{
	const struct gang *g = exec_gang_of(s->cta, s->warp);
	u32 left = s->mask;

	while (left) {
		u32 first = lane_index(g, s->warp, (u32)__builtin_ctz(left)), set = 0;
		u32 number = barrier_number(g, s->in, first),
		    threads = barrier_threads(g, s->in, first);

		for (u32 m = left; m; m &= m - 1) {
			u32 i = lane_index(g, s->warp, (u32)__builtin_ctz(m));

			if (barrier_number(g, s->in, i) == number &&
			    barrier_threads(g, s->in, i) == threads)
				set |= 1u << __builtin_ctz(m);
		}
		left &= ~set;
		if (number < CTA_BARRIERS)
			clock_barrier(&l->clock, c, number, s->warp, set, threads, waits);
	}
}

static void on_warp_sync(struct race_launch *l, struct clock_cta *c, const struct exec_sync *s)
{
	const struct gang *g = exec_gang_of(s->cta, s->warp);
	u32 row = l->program->ext[s->in->ext + 1], left = s->mask;

	if (s->in->warp.action != WARP_BARRIER)
		return;
	while (left) {
		u32 lane = (u32)__builtin_ctz(left), set = s->mask, members = s->in->warp.members;

		if (row != NO_ROW) {
			const u32 *mask = (const u32 *)(g->regs + row);

			members = mask[lane_index(g, s->warp, lane)];
			set = 0;
			for (u32 m = left; m; m &= m - 1)
				if (mask[lane_index(g, s->warp, (u32)__builtin_ctz(m))] == members)
					set |= 1u << __builtin_ctz(m);
		}
		left &= ~set;
		clock_warp_sync(&l->clock, c, s->warp, set, members);
	}
}

static void on_fence(struct race_launch *l, struct clock_cta *c, const struct exec_sync *s)
{
	const struct isa_form *form = form_of(l->program, s->in);

	/* Fences between proxies order nothing by themselves. */
	if (!form || isa_form_has(form, M_proxy))
		return;
	clock_fence(&l->clock, c, s->warp, s->mask, scope_of(form));
}

/* An mbarrier: arriving releases, waiting acquires, to the CTA or the cluster. */
static void on_mbarrier(struct race_launch *l, struct clock_cta *c, const struct exec_sync *s)
{
	const struct gang *g = exec_gang_of(s->cta, s->warp);
	const u64 *row = (const u64 *)(g->regs + s->in->a);
	bool waits = s->op == OP_mbar && s->in->mbar.action >= MBAR_WAIT;

	for (u32 m = s->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m), thread = s->warp * WARP_LANES + lane;
		u64 address = row[lane_index(g, s->warp, lane)] - s->cta->env->mem->shared_base;
		u64 key = MBARRIER_KEY + (address & MEM_SHARED_OFFSET);
		const struct cta *at;
		struct race_cta *owner = owner_of(l, s->cta, address, &at);

		if (owner && waits)
			clock_strong_read(&owner->variables, c, thread, key, SCOPE_CLUSTER, true);
		else if (owner)
			clock_strong_write(&l->clock, &owner->variables, c, thread, key,
					   SCOPE_CLUSTER, true, true);
	}
}

static void on_cluster(struct race_launch *l, struct clock_cta *c, const struct exec_sync *s,
		       bool waits)
{
	const struct isa_form *form = form_of(l->program, s->in);

	if (form && isa_form_has(form, M_relaxed))
		return;
	if (waits)
		clock_cluster_wait(c, s->warp, s->mask);
	else
		clock_cluster_arrive(&l->clock, c, s->warp, s->mask);
}

static void race_sync(struct race_check *r, const struct exec_sync *s)
{
	struct race_launch *l = launch_of(r, s->cta->env->grid_id);
	struct race_cta *x = l && !l->gave_up ? race_cta(l, s->cta->number) : NULL;
	struct clock_cta *c = x ? x->clock : NULL;

	if (!c)
		return;
	clock_resume(&l->clock, c, s->warp, s->mask);
	switch (s->op) {
	case OP_bar_sync:
	case OP_bar_red:
		on_barrier(l, c, s, true);
		break;
	case OP_bar_arrive:
		on_barrier(l, c, s, false);
		break;
	case OP_warp_sync:
		on_warp_sync(l, c, s);
		break;
	case OP_fence:
		on_fence(l, c, s);
		break;
	case OP_mbar:
	case OP_async_arrive:
		on_mbarrier(l, c, s);
		break;
	case OP_cluster_arrive:
		on_cluster(l, c, s, false);
		break;
	case OP_cluster_wait:
		on_cluster(l, c, s, true);
		break;
	default:
		break;
	}
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
	l = launch_of(user, c->env->grid_id);
	if (l)
		shadow_forget(&l->global, address, bytes);
	race_unlock(user);
}

static void observe_access(void *user, const struct exec_access *a)
{
	race_lock(user);
	race_access(user, a);
	race_unlock(user);
}

static void observe_sync(void *user, const struct exec_sync *s)
{
	race_lock(user);
	race_sync(user, s);
	race_unlock(user);
}

void race_check_init(struct race_check *r, struct mem *m, struct findings *found)
{
	*r = (struct race_check){.mem = m,
				 .found = found,
				 .observer = {.user = r,
					      .launch_begin = observe_launch,
					      .launch_end = observe_launch_end,
					      .cta_begin = observe_cta,
					      .cta_end = observe_cta_end,
					      .access = observe_access,
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
