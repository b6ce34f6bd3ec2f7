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
}

/* ---- shared memory of others ---- */

static void report_gone(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a,
			u32 lane, const struct cta *owner)
{
	struct finding f;

	sync_begin(&f, FINDING_CLUSTER, l, c, a->warp * WARP_LANES + lane, a->pc, false, "Access");
	sync_say_head(&f, "Access to the shared memory of a block that has exited");
	text_printf(&f.text, "    It is that of block (%u,%u,%u).\n", owner->id[0], owner->id[1],
		    owner->id[2]);
	sync_add(l, &f);
}

void sync_cluster_access(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a)
{
	for (u32 m = a->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);
		const struct cta *owner;
		struct sync_cta *x = sync_owner(l, c->cta, a->address[lane], &owner);

		if (x == c || !owner)
			continue;
		if (!x) {
			report_gone(l, c, a, lane, owner);
			return;
		}
		x->remote.any = true;
		x->remote.cta = c->number;
		x->remote.thread = a->warp * WARP_LANES + lane;
		x->remote.pc = a->pc;
		x->remote.arrivals = c->warp[a->warp].arrivals;
	}
}

void sync_cluster_end(struct sync_launch *l, struct sync_cta *c)
{
	struct sync_cta *from = c->remote.any ? sync_cta_of(l, c->remote.cta) : NULL;
	u32 waits = 0;
	struct finding f;

	for (u32 w = 0; w < c->warps; w++)
		if (c->warp[w].waits_made > waits)
			waits = c->warp[w].waits_made;
	if (!c->remote.any || waits > c->remote.arrivals)
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
