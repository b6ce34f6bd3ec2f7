/*
 * The barrier of a cluster, whose two halves alternate, and shared memory of other CTAs, which must
 * not have ended before others are done with it (CUDA C++ Programming Guide "Distributed Shared
 * Memory"): a CTA is to wait at the cluster's barrier, or for an mbarrier, after the last access.
 */
#include "src/check/sync/sync_int.h"
#include "src/exec/lane_access.h"

static void report_cluster(const struct sync_step *s, u32 lanes, const char *what)
{
	struct finding f;

	sync_begin(&f, FINDING_CLUSTER, s->launch, s->cta,
		   s->warp * WARP_LANES + (u32)__builtin_ctz(lanes), s->pc, false, "Barrier");
	sync_say_head(&f, what);
	sync_add(s->launch, &f);
}

/* All lanes of a warp come together to the aligned form. */
static void check_aligned(const struct sync_step *s)
{
	const struct isa_form *form = exec_form(s->launch->program, s->in);

	if (form && isa_form_has(form, M_aligned) && s->mask != sync_live(s->cta, s->warp))
		report_cluster(s, s->mask,
			       "Cluster barrier error detected. Divergent thread(s) in warp");
}

static bool has_leader(const struct sync_step *s)
{
	u32 live = sync_live(s->cta, s->warp);

	return s->mask & live & -live;
}

void sync_cluster_arrive(const struct sync_step *s)
{
	struct sync_warp *w = sync_warp_of(s);
	u32 again = s->mask & w->cluster_arrived;

	if (again)
		report_cluster(s, again,
			       "Cluster barrier error detected. Second arrival without a wait");
	check_aligned(s);
	s->cta->cluster_arrival.thread = s->warp * WARP_LANES + (u32)__builtin_ctz(s->mask);
	s->cta->cluster_arrival.pc = s->pc;
	w->cluster_arrived |= s->mask;
	w->arrivals += has_leader(s);
}

void sync_cluster_wait(const struct sync_step *s)
{
	struct sync_warp *w = sync_warp_of(s);
	u32 early = s->mask & ~w->cluster_arrived;

	if (early)
		report_cluster(s, early, "Cluster barrier error detected. Wait without an arrival");
	w->cluster_arrived &= ~s->mask;
	w->waits_made += has_leader(s);
	s->cta->cluster_wait.thread = s->warp * WARP_LANES + (u32)__builtin_ctz(s->mask);
	s->cta->cluster_wait.pc = s->pc;
}

/* ---- blocks that exit instead ---- */

static bool has_exited(const struct sync_cta *c)
{
	for (u32 w = 0; w < c->warps; w++)
		if (sync_live(c, w))
			return false;
	return true;
}

static u32 most_arrivals(const struct sync_cta *c)
{
	u32 most = 0;

	for (u32 w = 0; w < c->warps; w++)
		most = c->warp[w].arrivals > most ? c->warp[w].arrivals : most;
	return most;
}

static u32 most_waits(const struct sync_cta *c)
{
	u32 most = 0;

	for (u32 w = 0; w < c->warps; w++)
		most = c->warp[w].waits_made > most ? c->warp[w].waits_made : most;
	return most;
}

static void report_left(struct sync_launch *l, const struct sync_cta *c, const struct cta *left)
{
	struct finding f;

	sync_begin(&f, FINDING_CLUSTER, l, c, c->cluster_wait.thread, c->cluster_wait.pc, true,
		   "Barrier");
	sync_say_head(&f, "Cluster barrier error detected. Divergent block in cluster");
	text_printf(&f.text,
		    "    It waits for block (%u,%u,%u), which has exited without coming to it; its "
		    "threads count as arrived.\n",
		    left->id[0], left->id[1], left->id[2]);
	sync_add(l, &f);
}

static void report_skipped(struct sync_launch *l, const struct sync_cta *c, u32 warp)
{
	struct finding f;

	sync_begin(&f, FINDING_CLUSTER, l, c, c->cluster_arrival.thread, c->cluster_arrival.pc,
		   false, "Barrier");
	sync_say_head(&f, "Cluster barrier error detected. Divergent thread(s) in block");
	text_printf(
		&f.text,
		"    Warp %u of the block has exited without coming to it, and so passes by it.\n",
		warp);
	sync_add(l, &f);
}

/* Warps that have passed by the barrier, others than those that left the kernel before. */
static void check_skipped(struct sync_launch *l, const struct sync_cta *c)
{
	u32 most = most_arrivals(c);

	for (u32 w = 0; w < c->warps; w++) {
		const struct sync_warp *x = &c->warp[w];
		u32 lane = x->threads ? (u32)__builtin_ctz(x->threads) : 0;

		if (!x->threads || x->arrivals == most || x->last[lane] == NO_PC ||
		    !sync_is_past(l, c->cluster_arrival.pc, x->last[lane], x->arrivals != 0))
			continue;
		report_skipped(l, c, w);
		return;
	}
}

/* A wait is over when all others have arrived or exited: those have before this one does. */
static void check_left(struct sync_launch *l, const struct sync_cta *c)
{
	const struct cluster *k = c->cta->cluster;
	const struct cta *left = NULL;
	u32 waits = most_waits(c), known = 1;

	if (!k || !has_exited(c))
		return;
	check_skipped(l, c);
	for (u32 i = 0; i < k->size; i++) {
		const u64 *arrivals = map_get(&l->left, k->cta[i]->number + 1);

		known += arrivals != NULL;
		if (arrivals && *arrivals - 1 < waits && !left)
			left = k->cta[i];
	}
	if (left)
		report_left(l, c, left);
	if (known < k->size)
		map_set(&l->left, c->number + 1, (u64)most_arrivals(c) + 1);
	else
		for (u32 i = 0; i < k->size; i++)
			map_remove(&l->left, k->cta[i]->number + 1);
}

/* ---- shared memory of others ---- */

static void report_gone(const struct sync_step *s, u32 lane, const struct cta *owner)
{
	struct finding f;

	sync_begin(&f, FINDING_CLUSTER, s->launch, s->cta, s->warp * WARP_LANES + lane, s->pc,
		   false, "Access");
	sync_say_head(&f, "Access to the shared memory of a block that has exited");
	text_printf(&f.text, "    It is that of block (%u,%u,%u).\n", owner->id[0], owner->id[1],
		    owner->id[2]);
	sync_add(s->launch, &f);
}

void sync_cluster_reach(const struct sync_step *s, u32 lane, struct sync_cta *x,
			const struct cta *owner)
{
	if (x == s->cta)
		return;
	if (!x) {
		report_gone(s, lane, owner);
		return;
	}
	x->remote.any = true;
	x->remote.cta = s->cta->number;
	x->remote.thread = s->warp * WARP_LANES + lane;
	x->remote.pc = s->pc;
	x->remote.arrivals = s->cta->warp[s->warp].arrivals;
}

void sync_cluster_access(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a)
{
	struct sync_step s = {
		.launch = l, .cta = c, .in = a->in, .pc = a->pc, .warp = a->warp, .mask = a->mask};

	for (u32 m = a->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);
		const struct cta *owner;
		struct sync_cta *x = sync_owner(l, c->cta, a->address[lane], &owner);

		if (owner)
			sync_cluster_reach(&s, lane, x, owner);
		if (owner && !x)
			return;
	}
}

void sync_cluster_end(struct sync_launch *l, struct sync_cta *c)
{
	struct sync_cta *from = c->remote.any ? sync_cta_of(l, c->remote.cta) : NULL;
	struct finding f;

	check_left(l, c);
	if (!c->remote.any || most_waits(c) > c->remote.arrivals)
		return;
	sync_begin(&f, FINDING_CLUSTER, l, from ? from : c, c->remote.thread, c->remote.pc, false,
		   "Access");
	finding_unroll(c->remote.cta, c->cta->env->grid, f.side[0].block);
	sync_say_head(&f, "Access to the shared memory of a block that may have exited");
	text_printf(
		&f.text,
		"    Block (%u,%u,%u) does not wait for the cluster, or an mbarrier, after it.\n",
		c->cta->id[0], c->cta->id[1], c->cta->id[2]);
	sync_add(l, &f);
}
