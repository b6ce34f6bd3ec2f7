/*
 * The barrier of a cluster: arriving releases, leaving acquires.
 */
#include "src/check/race/clock.h"

/*
 * One variable for even phases and one for odd ones: who is slow to leave does not learn what is
 * released in the next phase. In the one after that all have left.
 */
static u64 cluster_key(const struct clock_cta *c, u32 warp, u32 lane, bool arrives)
{
	return 2 * c->cluster + 1 + ((c->cluster_odd[warp] >> lane & 1) ^ !arrives);
}

void clock_cluster_arrive(struct clock *k, struct clock_cta *c, u32 warp, u32 mask, bool releases)
{
	for (u32 m = mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);

		clock_strong_write(k, &k->clusters, c, warp * WARP_LANES + lane,
				   cluster_key(c, warp, lane, true), SCOPE_CLUSTER, releases, true);
	}
	c->cluster_odd[warp] ^= mask;
}

void clock_cluster_wait(struct clock_cta *c, u32 warp, u32 mask)
{
	c->waits[warp] |= mask;
	c->cluster_waits[warp] |= mask;
}

void clock_cluster_leave(struct clock *k, struct clock_cta *c, u32 warp, u32 gone)
{
	for (u32 m = c->cluster_waits[warp] & gone; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);

		clock_strong_read(&k->clusters, c, warp * WARP_LANES + lane,
				  cluster_key(c, warp, lane, false), SCOPE_CLUSTER, true);
	}
	c->cluster_waits[warp] &= ~gone;
}
