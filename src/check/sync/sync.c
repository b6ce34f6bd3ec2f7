/*
 * The observer that looks for misuse of synchronisation: launches, CTAs, and which micro-op is
 * whose matter.
 */
#include "src/check/sync/sync_locks.h"
#include "src/dev/module/nested.h"
#include "src/exec/turn.h"
#include "src/uop/async.h"

#include <stdio.h>

/* ---- launches and CTAs ---- */

static struct sync_launch *sync_launch_of(struct sync_check *y, u64 grid_id)
{
	u64 *slot;

	if (PL_LIKELY(y->last && y->last_id == grid_id))
		return y->last;
	slot = map_get(&y->launches, grid_id + 1);
	y->last = slot ? (struct sync_launch *)(uintptr_t)*slot : NULL;
	y->last_id = grid_id;
	return y->last;
}

struct sync_cta *sync_cta_of(struct sync_launch *l, u64 number)
{
	u64 *slot;

	if (PL_LIKELY(l->last && l->last->number == number))
		return l->last;
	slot = map_get(&l->ctas, number + 1);
	return l->last = slot ? (struct sync_cta *)(uintptr_t)*slot : NULL;
}

static void begin_sync_launch(struct sync_check *y, const struct program *p, u64 grid_id)
{
	struct sync_launch *l = calloc(1, sizeof(*l));

	if (!l)
		return;
	l->program = p;
	l->found = y->found;
	if (!map_set(&y->launches, grid_id + 1, map_key(l)))
		free(l);
	y->last = NULL;
}

static void sync_cta_free(struct sync_cta *c)
{
	if (!c)
		return;
	VEC_FREE(&c->mbars);
	sync_copy_free(c);
	sync_wgmma_free(c);
	free(c);
}

static void sync_launch_free(struct sync_launch *l)
{
	for (size_t i = 0; i < l->ctas.cap; i++)
		if (l->ctas.slots[i].key)
			sync_cta_free((struct sync_cta *)(uintptr_t)l->ctas.slots[i].value);
	map_fini(&l->ctas);
	map_fini(&l->past);
	map_fini(&l->unready);
	map_fini(&l->left);
	free(l->step_at);
	sync_regs_free(l->regs);
	sync_locks_free(l->locks);
	free(l);
}

static void end_sync_launch(struct sync_check *y, u64 grid_id)
{
	struct sync_launch *l = sync_launch_of(y, grid_id);

	if (!l)
		return;
	if (l->locks)
		sync_report_locks(l);
	if (l->gave_up)
		fputs("ptxloom: note: synchronisation of a launch was not checked to its end: no memory left\n",
		      stderr);
	sync_launch_free(l);
	map_remove(&y->launches, grid_id + 1);
	y->last = NULL;
}

static struct sync_cta *sync_cta_new(const struct cta *c)
{
	struct sync_cta *x = calloc(1, sizeof(*x) + c->warps * sizeof(x->warp[0]));

	if (!x)
		return NULL;
	x->cta = c;
	x->number = c->number;
	x->warps = c->warps;
	x->threads = c->threads;
	for (u32 i = 0; i < CTA_NAMED_BARRIERS; i++)
		x->barrier[i].arrive_pc = NO_PC;
	for (u32 w = 0; w < c->warps; w++) {
		x->warp[w].threads = c->warp[w].live;
		memset(x->warp[w].passed, 0xff, sizeof(x->warp[w].passed));
		memset(x->warp[w].last, 0xff, sizeof(x->warp[w].last));
	}
	return x;
}

static void begin_sync_cta(struct sync_check *y, const struct cta *c)
{
	struct sync_launch *l = sync_launch_of(y, c->env->grid_id);
	struct sync_cta *x = l ? sync_cta_new(c) : NULL;

	if (!l)
		return;
	l->from = nested_from(c->env->user);
	if (!x || !map_set(&l->ctas, c->number + 1, map_key(x))) {
		sync_cta_free(x);
		l->gave_up = true;
	}
	l->last = NULL;
}

static void end_sync_cta(struct sync_check *y, const struct cta *c)
{
	struct sync_launch *l = sync_launch_of(y, c->env->grid_id);
	struct sync_cta *x = l ? sync_cta_of(l, c->number) : NULL;

	if (!x)
		return;
	sync_barrier_end(l, x);
	sync_cluster_end(l, x);
	sync_registers_end(l, x);
	sync_wgmma_end(l, x);
	sync_store_end(l, x);
	map_remove(&l->ctas, c->number + 1);
	y->now.cta = NULL;
	sync_cta_free(x);
	l->last = NULL;
}

/* ---- micro-ops ---- */

static void note_last(struct sync_warp *w, u32 mask, u32 pc)
{
	for (u32 l = 0; l < WARP_LANES; l++)
		w->last[l] = mask >> l & 1 ? pc : w->last[l];
}

/* Does it leave anything behind that others may wait for? */
static bool changes_something(const struct uop *in)
{
	switch (uop_kind(in->inner)) {
	case UOP_LANE:
	case UOP_FLOW:
	case UOP_WAIT:
	case UOP_NOTHING:
	case UOP_VALUE:
	case UOP_SREG:
	case UOP_LOAD:
	case UOP_WARP:
	case UOP_FENCE:
		return false;
	case UOP_MBARRIER:
		return in->inner == OP_mbar && in->mbar.action < MBAR_WAIT;
	default:
		return true;
	}
}

static void note_progress(const struct sync_step *s)
{
	struct sync_warp *w = sync_warp_of(s);

	if (w->spins & s->mask && changes_something(s->in))
		w->spins &= ~s->mask;
	if (s->mask & ~w->spins)
		s->launch->failed = 0;
}

static void step_warp(struct sync_step *s)
{
	struct sync_warp *w = sync_warp_of(s);

	note_progress(s);
	if (w->waits & s->mask)
		sync_barrier_resume(s);
	if (w->meets & s->mask)
		sync_lanes_resume(s);
	/* Before it runs: the result may replace an operand. */
	if (s->in->inner == OP_warp_sync)
		sync_lanes_arrive(s);
	else if (s->in->inner == OP_mbar)
		sync_mbar_step(s);
	if (s->launch->regs)
		sync_wgmma_step(s);
	if (sync_is_deed(s->in))
		note_last(w, s->mask, s->pc);
}

static void sync_step(struct sync_check *y, const struct gang *g, const struct uop *in)
{
	struct sync_step s = {.gang = g, .in = in, .pc = (u32)(in - g->uops)};
	u32 n = exec_step_warps(g);

	s.launch = y->now.launch;
	s.cta = y->now.cta;
	/* Another observer wanted it. */
	if (s.launch->step_at && !s.launch->step_at[s.pc])
		return;
	s.launch->steps++;
	for (u32 w = 0; w < n; w++) {
		s.warp = g->first_warp + g->warp + w;
		s.mask = exec_step_mask(g, w);
		if (s.mask)
			step_warp(&s);
	}
}

static void on_mark(const struct sync_step *s)
{
	switch ((enum uop_mark)s->in->group.action) {
	case MARK_WGMMA_FENCE:
	case MARK_WGMMA_COMMIT:
	case MARK_WGMMA_WAIT:
		sync_wgmma_mark(s);
		break;
	case MARK_REGISTERS_MORE:
	case MARK_REGISTERS_LESS:
		sync_registers_step(s);
		break;
	default:
		break;
	}
}

/* Threads of several warps may meet at it. */
static bool may_meet_at(u32 op)
{
	return op == OP_bar_sync || op == OP_bar_red || op == OP_cluster_wait || op == OP_mbar ||
	       op == OP_warpgroup_sync;
}

/* In the order of the engine: of a gang that runs a barrier warp by warp, as each warp does. */
static void sync_arrive(struct sync_check *y, const struct exec_sync *e)
{
	struct sync_step s = {
		.in = e->in, .pc = e->pc, .warp = e->warp, .mask = e->mask, .stuck = e->stuck};

	s.launch = y->now.launch;
	s.cta = y->now.cta;
	s.gang = exec_gang_of(e->cta, e->warp);
	sync_warp_of(&s)->meetings_made += may_meet_at(e->op);
	if (s.launch->locks && (may_meet_at(e->op) || e->op == OP_warp_sync))
		sync_locks_meet(s.launch->locks, s.cta->number, s.warp);
	switch (e->op) {
	case OP_bar_sync:
	case OP_bar_red:
		sync_barrier_arrive(&s, true);
		break;
	case OP_bar_arrive:
		sync_barrier_arrive(&s, false);
		break;
	case OP_cluster_arrive:
		sync_cluster_arrive(&s);
		break;
	case OP_cluster_wait:
		if (s.launch->locks)
			sync_locks_signal(s.launch->locks, s.cta);
		sync_cluster_wait(&s);
		break;
	case OP_mbar:
		sync_mbar_waited(&s);
		break;
	case OP_async_group:
	case OP_async_arrive:
		sync_copy_group(&s);
		break;
	case OP_mark:
		on_mark(&s);
		break;
	default:
		break;
	}
}

/* ---- the observer: launches begin in threads of the program, a worker runs them ---- */

static void on_sync_launch(void *user, const struct program *p, u64 grid_id)
{
	struct sync_check *y = user;

	pthread_mutex_lock(&y->lock);
	begin_sync_launch(y, p, grid_id);
	pthread_mutex_unlock(&y->lock);
}

static void on_sync_launch_end(void *user, const struct program *p, u64 grid_id)
{
	struct sync_check *y = user;

	(void)p;
	pthread_mutex_lock(&y->lock);
	end_sync_launch(y, grid_id);
	pthread_mutex_unlock(&y->lock);
}

static void on_sync_cta(void *user, const struct cta *c)
{
	struct sync_check *y = user;

	pthread_mutex_lock(&y->lock);
	begin_sync_cta(y, c);
	pthread_mutex_unlock(&y->lock);
}

static void on_sync_cta_end(void *user, const struct cta *c)
{
	struct sync_check *y = user;

	pthread_mutex_lock(&y->lock);
	end_sync_cta(y, c);
	pthread_mutex_unlock(&y->lock);
}

/* The CTA that an event is of. False: it is not followed. */
static bool find_sync_cta(struct sync_check *y, const struct cta *c)
{
	u64 grid_id = c->env->grid_id;

	if (PL_LIKELY(y->now.cta && y->now.number == c->number && y->now.grid_id == grid_id))
		return true;
	pthread_mutex_lock(&y->lock);
	y->now.launch = sync_launch_of(y, grid_id);
	y->now.cta = y->now.launch ? sync_cta_of(y->now.launch, c->number) : NULL;
	y->now.grid_id = grid_id;
	y->now.number = c->number;
	pthread_mutex_unlock(&y->lock);
	return y->now.cta != NULL;
}

static void on_sync_step(void *user, const struct gang *g, const struct uop *in)
{
	if (find_sync_cta(user, g->cta))
		sync_step(user, g, in);
}

static void on_sync_sync(void *user, const struct exec_sync *s)
{
	if (find_sync_cta(user, s->cta))
		sync_arrive(user, s);
}

static bool sync_writes(const struct exec_access *a)
{
	return a->kind == ACCESS_STORE || a->kind == ACCESS_MATRIX_STORE ||
	       a->kind == ACCESS_COPY_WRITE || a->kind == ACCESS_ATOM || a->kind == ACCESS_RED;
}

/* Does it read shared memory that it copies to global memory? */
static bool is_store_read(const struct exec_access *a)
{
	return a->kind == ACCESS_COPY_READ &&
	       ((a->in->inner == OP_bulk && a->in->copy.to_global) ||
		(a->in->inner == OP_tensor && a->in->tensor.to_global));
}

static void sync_access(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a)
{
	/* Another observer of the launch wanted it: there are no copies. */
	if (l->step_at && !a->cta->cluster)
		return;
	if (a->cta->cluster && !a->extra)
		sync_cluster_access(l, c, a);
	if (l->regs && a->in->inner == OP_wgmma)
		sync_wgmma_read(l, c, a);
	else if (l->regs && sync_writes(a))
		sync_wgmma_write(l, c, a);
	if (is_store_read(a))
		sync_store_issue(l, c, a);
	if (a->kind == ACCESS_COPY_WRITE && a->extra)
		sync_copy_piece(l, c, a);
	else if (a->kind == ACCESS_COPY_WRITE)
		sync_copy_issue(l, c, a);
	else if (a->kind == ACCESS_COPY_DONE)
		sync_copy_piece_end(l, c, a);
	else if (a->kind != ACCESS_STORE && a->kind != ACCESS_MATRIX_STORE)
		sync_copy_read(l, c, a);
}

static void on_sync_access(void *user, const struct exec_access *a)
{
	struct sync_check *y = user;

	if ((a->space != MEM_SHARED && a->space != MEM_GLOBAL) || !find_sync_cta(y, a->cta))
		return;
	if (y->now.launch->locks)
		sync_locks_access(y->now.launch, y->now.cta, a);
	if (a->space == MEM_SHARED)
		sync_access(y->now.launch, y->now.cta, a);
}

static bool on_sync_span(void *user, const struct exec_span *s)
{
	struct sync_check *y = user;

	if ((s->space != MEM_SHARED && s->space != MEM_GLOBAL) || !find_sync_cta(y, s->g->cta))
		return true;
	return !y->now.launch->locks &&
	       (s->space != MEM_SHARED || (y->now.launch->step_at && !s->g->cta->cluster));
}

/* Accesses are of interest while copies are under way, or to the memory of others in a cluster. */
static void on_sync_narrow(void *user, const struct exec_env *e, struct exec_observer *o)
{
	struct sync_check *y = user;
	struct sync_launch *l;

	pthread_mutex_lock(&y->lock);
	l = sync_launch_of(y, e->grid_id);
	if (l)
		o->step_at = l->step_at = sync_mark_steps(e->program);
	if (l)
		l->regs = sync_regs_find(e->program, &l->gave_up);
	if (l)
		l->locks = sync_locks_new(e->program, e);
	if (l && l->step_at && !l->locks && e->cluster[0] * e->cluster[1] * e->cluster[2] <= 1)
		o->access = NULL;
	pthread_mutex_unlock(&y->lock);
}

void sync_check_init(struct sync_check *y, struct findings *found)
{
	*y = (struct sync_check){.found = found,
				 .observer = {.user = y,
					      .launch_begin = on_sync_launch,
					      .launch_end = on_sync_launch_end,
					      .cta_begin = on_sync_cta,
					      .cta_end = on_sync_cta_end,
					      .step = on_sync_step,
					      .access = on_sync_access,
					      .span = on_sync_span,
					      .every = true,
					      .sync = on_sync_sync,
					      .narrow = on_sync_narrow}};
	pthread_mutex_init(&y->lock, NULL);
}

void sync_check_fini(struct sync_check *y)
{
	for (size_t i = 0; i < y->launches.cap; i++)
		if (y->launches.slots[i].key)
			sync_launch_free(
				(struct sync_launch *)(uintptr_t)y->launches.slots[i].value);
	map_fini(&y->launches);
	pthread_mutex_destroy(&y->lock);
}
