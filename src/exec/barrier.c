/*
 * Barriers of a CTA and of a cluster: which threads have arrived, when a phase is complete, and
 * what bar.red returns.
 *
 * Threads arrive one by one: a warp with lanes that have not come adds those that have; once all
 * its live lanes have come it counts as 32, so lanes that have exited, or never existed, count as
 * arrived. Without a thread count a barrier waits for the live threads of the CTA. Warps that have
 * exited count for nothing where a thread count is given. Before Volta any lane brings its whole
 * warp. Source: PTX ISA "Parallel Synchronization: bar, barrier", "barrier.cluster"; counts with
 * exited threads seen on an H200.
 */
#include "src/exec/group.h"

/* ---- operands: rows a and c, or the numbers in the micro-op ---- */

/* A thread count has so many values; 0: all threads. */
#define BARRIER_COUNTS 4096u

u32 barrier_number(const struct gang *g, const struct uop *in, u32 lane)
{
	u32 n = in->a == NO_ROW ? in->barrier.number : ((const u32 *)(g->regs + in->a))[lane];

	return n % CTA_NAMED_BARRIERS;
}

u32 barrier_threads(const struct gang *g, const struct uop *in, u32 lane)
{
	u32 n = in->c == NO_ROW ? in->barrier.threads : ((const u32 *)(g->regs + in->c))[lane];

	return n % BARRIER_COUNTS;
}

/* Lanes whose thread count no barrier takes: measured, such an instruction is illegal. */
static u32 odd_counts(const struct gang *g, const struct uop *in, bool arrive)
{
	u32 bad = 0;

	for (u32 m = in->c == NO_ROW ? 0 : g->warp_at[g->warp].mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m), n = ((const u32 *)(g->regs + in->c))[g->lane0 + l];

		bad |= n % WARP_LANES || (arrive && !n) ? 1u << l : 0;
	}
	return bad;
}

/* ---- counting ---- */

struct count {
	u32 arrived; /* threads, exited ones of their warps included */
	u32 missing; /* live threads that have not come */
	u32 threads; /* count that a waiting group has named; 0: all */
	bool waits;
};

static void count_warp(const struct cta *c, u32 w, u32 b, struct count *n)
{
	const struct warp *x = &c->warp[w];
	u32 lanes = x->arrived[b], absent;

	for (u32 i = 0; i < x->groups; i++) {
		const struct group *p = &x->group[i];

		if (p->state != GROUP_BARRIER || p->barrier != b)
			continue;
		lanes |= p->mask;
		n->threads = p->want;
		n->waits = true;
	}
	absent = x->live & ~lanes;
	if (lanes && (!absent || !c->env->program->arch->has_its))
		n->arrived += WARP_LANES;
	else
		n->arrived += (u32)__builtin_popcount(lanes);
	if (lanes && !c->env->program->arch->has_its)
		absent = 0;
	n->missing += (u32)__builtin_popcount(absent);
}

/* Warps that take part: of a barrier after the named ones those of a warpgroup. */
static struct count count(const struct cta *c, u32 b)
{
	struct count n = {.arrived = c->barrier[b].more};
	u32 first = b < CTA_NAMED_BARRIERS ? 0 : (b - CTA_NAMED_BARRIERS) * WARPGROUP_WARPS,
	    end = b < CTA_NAMED_BARRIERS ? c->warps : first + WARPGROUP_WARPS;

	for (u32 w = first; w < end && w < c->warps; w++)
		count_warp(c, w, b, &n);
	return n;
}

/* ---- release ---- */

static u32 red_result(const struct barrier *b, u32 kind)
{
	return kind == BAR_POPC ? b->popc : kind == BAR_AND ? !b->not_all : b->any;
}

/* A group leaves bar.red: its lanes get the result. */
static void deliver(struct gang *g, u32 warp, const struct group *x, const struct barrier *b)
{
	const struct uop *in = &g->uops[x->pc - 1];
	u32 v;

	if (in->inner != OP_bar_red || in->d == NO_ROW)
		return;
	v = red_result(b, in->barrier.reduction);
	if (in->barrier.reduction == BAR_POPC) {
		for (u32 m = x->mask; m; m &= m - 1)
			((u32 *)(g->regs + in->d))[warp * WARP_LANES + (u32)__builtin_ctz(m)] = v;
	} else {
		u32 *p = (u32 *)(g->regs + in->d) + warp;

		*p = v ? *p | x->mask : *p & ~x->mask;
	}
}

/* Groups of a warp that are ready at one micro-op are one group. */
static void merge_ready(struct warp *w)
{
	for (u32 i = 0; i < w->groups; i++)
		for (u32 k = i + 1; k < w->groups; k++)
			if (w->group[i].state == GROUP_READY && w->group[k].state == GROUP_READY &&
			    w->group[i].pc == w->group[k].pc) {
				w->group[i].mask |= w->group[k].mask;
				w->group[k--] = w->group[--w->groups];
			}
}

static void release_waiting(struct cta *c, u32 b)
{
	for (u32 i = 0; i < c->gangs; i++) {
		struct gang *g = &c->gang[i];

		for (u32 w = 0; w < g->warps; w++) {
			struct warp *x = &g->warp_at[w];
			bool some = false;

			x->arrived[b] = 0;
			x->arrivals &= ~(1u << b);
			for (u32 k = 0; k < x->groups; k++)
				if (x->group[k].state == GROUP_BARRIER &&
				    x->group[k].barrier == b) {
					deliver(g, w, &x->group[k], &c->barrier[b]);
					x->group[k].state = GROUP_READY;
					some = true;
				}
			if (some && x->groups > 1)
				merge_ready(x);
		}
	}
	c->barrier[b] = (struct barrier){0};
}

/* Is the barrier complete? A phase that only `arrive` takes part in has the count of the last one.
 */
static bool settle_barrier(struct cta *c, u32 b, u32 threads)
{
	struct count n = count(c, b);

	if (n.waits)
		threads = n.threads;
	if (threads ? n.arrived < threads : n.missing != 0)
		return false;
	release_waiting(c, b);
	return true;
}

static bool release_cluster(struct cta *c)
{
	struct cluster *cl = c->cluster;
	u32 n = cl ? cl->size : 1;
	bool any = false;

	for (u32 r = 0; r < n; r++) {
		const struct cta *x = cl ? cl->cta[r] : c;

		for (u32 w = 0; w < x->warps; w++)
			if (x->warp[w].live & ~x->warp[w].cluster_arrived)
				return false;
	}
	for (u32 r = 0; r < n; r++) {
		struct cta *x = cl ? cl->cta[r] : c;

		for (u32 w = 0; w < x->warps; w++) {
			struct warp *p = &x->warp[w];

			p->cluster_arrived = 0;
			for (u32 i = 0; i < p->groups; i++)
				if (p->group[i].state == GROUP_CLUSTER) {
					p->group[i].state = GROUP_READY;
					any = true;
				}
			if (p->groups > 1)
				merge_ready(p);
		}
	}
	return any;
}

/* Do all live lanes of the warp wait at barrier `b`, together and for all threads? */
static bool waits_as_one(const struct warp *x, u32 b)
{
	return x->groups == 1 && x->group[0].state == GROUP_BARRIER && x->group[0].barrier == b &&
	       x->group[0].mask == x->live && !x->group[0].want && !x->arrivals;
}

/*
 * Every warp of the CTA waits at the barrier of its first one as a whole, as is nearly always so:
 * they go on. False: nothing has been done.
 */
static bool release_whole(struct cta *c)
{
	u32 b = c->warp[0].groups ? c->warp[0].group[0].barrier : 0, from = NO_PC;

	if (b >= CTA_NAMED_BARRIERS || c->barrier[b].more)
		return false;
	for (u32 w = 0; w < c->warps; w++) {
		u32 pc = c->warp[w].group[0].pc;

		if (!waits_as_one(&c->warp[w], b))
			return false;
		if (pc != from && c->gang[0].uops[pc - 1].inner != OP_bar_sync)
			return false;
		from = pc;
	}
	for (u32 w = 0; w < c->warps; w++)
		c->warp[w].group[0].state = GROUP_READY;
	return true;
}

bool barrier_release(struct cta *c)
{
	u32 used = 0;
	bool cluster = false, any = false;

	if (release_whole(c))
		return true;
	for (u32 w = 0; w < c->warps; w++)
		for (u32 i = 0; i < c->warp[w].groups; i++) {
			const struct group *x = &c->warp[w].group[i];

			if (x->state == GROUP_BARRIER)
				used |= 1u << x->barrier;
			cluster |= x->state == GROUP_CLUSTER;
		}
	for (; used; used &= used - 1)
		any |= settle_barrier(c, (u32)__builtin_ctz(used), 0);
	if (cluster)
		any |= release_cluster(c);
	return any;
}

/* ---- the running group of a warp ---- */

static void park_at_barrier(struct gang *g, const struct uop *in, u32 b, u32 threads)
{
	struct warp *w = &g->warp_at[g->warp];

	group_add_waiting(w, w->mask, (u32)(in - g->uops) + 1, b, threads);
	w->mask = 0;
	/* With a count others may use the barrier again before the CTA looks at it. */
	if (threads)
		settle_barrier(g->cta, b, threads);
}

/* Of the lanes `left`, those that name barrier b for so many threads. */
static u32 lanes_at_barrier(const struct gang *g, const struct uop *in, u32 left, u32 b,
			    u32 threads)
{
	u32 set = 0;

	if (in->a == NO_ROW && in->c == NO_ROW)
		return left;
	for (u32 m = left; m; m &= m - 1) {
		u32 l = g->lane0 + (u32)__builtin_ctz(m);

		if (barrier_number(g, in, l) == b && barrier_threads(g, in, l) == threads)
			set |= m & -m;
	}
	return set;
}

/* Lanes of one warp may name different barriers: every set of them waits on its own. */
static void wait_each(struct gang *g, const struct uop *in, bool red)
{
	struct warp *w = &g->warp_at[g->warp];
	u32 left = w->mask;

	while (left) {
		u32 first = g->lane0 + (u32)__builtin_ctz(left), b = barrier_number(g, in, first),
		    threads = barrier_threads(g, in, first);
		u32 set = lanes_at_barrier(g, in, left, b, threads);

		if (red) {
			u32 p = ((const u32 *)(g->regs + in->b))[g->warp] & set;
			struct barrier *x = &g->cta->barrier[b];

			x->popc += (u32)__builtin_popcount(p);
			x->any |= p != 0;
			x->not_all |= p != set;
		}
		left &= ~set;
		w->mask = set;
		park_at_barrier(g, in, b, threads);
	}
}

const struct uop *barrier_sync(struct gang *g, const struct uop *in)
{
	u32 odd;

	if (in->a == NO_ROW && in->c == NO_ROW) {
		park_at_barrier(g, in, barrier_number(g, in, 0), barrier_threads(g, in, 0));
		return warp_next(g);
	}
	odd = odd_counts(g, in, false);

	if (odd)
		return exec_fault(g, in, FAULT_ILLEGAL_INSTRUCTION, odd);
	wait_each(g, in, false);
	return warp_next(g);
}

const struct uop *barrier_red(struct gang *g, const struct uop *in)
{
	u32 odd = odd_counts(g, in, false);

	if (odd)
		return exec_fault(g, in, FAULT_ILLEGAL_INSTRUCTION, odd);
	wait_each(g, in, true);
	return warp_next(g);
}

const struct uop *barrier_warpgroup(struct gang *g, const struct uop *in)
{
	u32 group = (u32)(&g->warp_at[g->warp] - g->cta->warp) / WARPGROUP_WARPS;

	park_at_barrier(g, in, CTA_NAMED_BARRIERS + group, 0);
	return warp_next(g);
}

const struct uop *barrier_arrive(struct gang *g, const struct uop *in)
{
	struct warp *w = &g->warp_at[g->warp];
	u32 first = g->lane0 + (u32)__builtin_ctz(w->mask), b = barrier_number(g, in, first),
	    threads = barrier_threads(g, in, first);
	u32 again, odd = odd_counts(g, in, true);

	if (odd)
		return exec_fault(g, in, FAULT_ILLEGAL_INSTRUCTION, odd);
	/* The phase before may be complete without having been evaluated. */
	settle_barrier(g->cta, b, threads);
	again = w->arrived[b] & w->mask;
	if (again)
		g->cta->barrier[b].more +=
			again == w->live ? WARP_LANES : (u32)__builtin_popcount(again);
	w->arrived[b] |= w->mask;
	w->arrivals |= 1u << b;
	settle_barrier(g->cta, b, threads);
	warp_look_again(w, (u32)(in - g->uops) + 1);
	return warp_jump(g, (u32)(in - g->uops) + 1);
}

const struct uop *barrier_cluster_wait(struct gang *g, const struct uop *in)
{
	struct warp *w = &g->warp_at[g->warp];
	u32 waits = w->mask & w->cluster_arrived, next = (u32)(in - g->uops) + 1;

	if (!waits) /* the phase these lanes arrived in is over */
		return in + 1;
	if (w->mask & ~waits)
		warp_park(w, (struct group){
				     .mask = w->mask & ~waits, .pc = next, .state = GROUP_READY});
	warp_park(w, (struct group){.mask = waits, .pc = next, .state = GROUP_CLUSTER});
	w->mask = 0;
	return warp_next(g);
}
