/*
 * How many micro-ops one thread runs, roughly: what decides whether a small grid is worth handing
 * to the workers. Loops count as a few rounds, calls as what they call. A wrong guess costs time
 * only: the calling thread gives up a grid that takes longer than its budget.
 */
#include "src/lower/lower_int.h"

#include <stdlib.h>

#define ROUNDS 16u
#define DEPTH_MAX 4u
#define COST_MAX ((u64)1 << 32)

/* Loops each micro-op is in: a backward branch and what lies between it and its target. */
static void count_loops(const struct program *p, s32 *depth)
{
	s32 sum = 0;

	for (u32 i = 0; i < p->uops; i++) {
		const struct uop *in = &p->uop[i];

		if (!(in->flags & UOPF_BACK) || uop_target(in) > i)
			continue;
		depth[in->branch.target]++;
		depth[i + 1]--;
	}
	for (u32 i = 0; i < p->uops; i++)
		depth[i] = sum += depth[i];
}

static u64 rounds(s32 depth)
{
	u64 n = 1;

	for (s32 i = 0; i < depth && i < (s32)DEPTH_MAX; i++)
		n *= ROUNDS;
	return n;
}

u64 lower_estimate(const struct program *p)
{
	s32 *depth = calloc(p->uops + 1, sizeof(*depth));
	u64 *cost = calloc(p->func_len + 1, sizeof(*cost)), all;

	if (depth && cost)
		count_loops(p, depth);
	/* Callees come after their callers; what a cycle calls again counts nothing. */
	for (u32 f = p->func_len; depth && cost && f-- > 0;)
		for (u32 i = p->funcs[f].first; i < p->funcs[f].end; i++) {
			const struct uop *in = &p->uop[i];
			bool calls = in->inner == OP_call && in->a == NO_ROW;
			u64 callee = calls ? cost[in->call.callee] : 0;

			if (in->op != OP_join && uop_kind(in->op) != UOP_COUNT &&
			    cost[f] < COST_MAX)
				cost[f] += rounds(depth[i]) * (1 + callee);
		}
	all = cost && p->func_len ? cost[0] : p->uops;
	free(depth);
	free(cost);
	return all ? all : 1;
}
