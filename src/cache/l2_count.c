/*
 * Counts of the second cache that need none of its lines.
 */
#include "src/cache/l2.h"

void l2_far(struct l2 *c, enum l2_op op, u32 aperture, u32 count, u32 requests)
{
	u64 *link = c->count.link[aperture < L2_PEER ? L2_LINK_HOST
						     : (aperture - L2_PEER) % L2_LINK_HOST];

	/* An atomic sends its operand, and gets what was there. */
	link[0] += op == L2_READ || op == L2_ATOM ? count : 0;
	link[1] += op != L2_READ ? count : 0;
	aperture = aperture < L2_PEER ? aperture : L2_PEER;
	c->count.requests[op] += requests;
	c->count.sectors[op] += count;
	c->count.miss[op] += count;
	c->count.class_sectors[L2_NORMAL] += count;
	c->count.far[aperture][op] += (u64)count * c->rules.partitions;
}

void l2_counts_add(struct l2_counts *to, const struct l2_counts *from)
{
	u64 *t = (u64 *)to;
	const u64 *f = (const u64 *)from;

	for (size_t i = 0; i < sizeof(*to) / sizeof(u64); i++)
		t[i] += f[i];
}
