/*
 * What threads know at first, what one knows of another's accesses, and of its reads alone; and of
 * its own asynchronous copies, of which others learn where they meet it, or by what it releases.
 */
#include "src/check/race/clock.h"

#include <stdlib.h>

static void begin_clock(struct clock_cta *x, const struct cta *c)
{
	x->cta = c;
	x->plain = true;
	x->number = c->number;
	x->warps = c->warps;
	x->threads = c->warps * WARP_LANES;
	x->cluster = c->cluster ? c->cluster->cta[0]->number : c->number;
	x->cluster_size = c->cluster ? c->cluster->size : 1;
}

struct clock_cta *clock_cta_new(const struct cta *c)
{
	u32 threads = c->warps * WARP_LANES;
	struct clock_cta *x = calloc(1, sizeof(*x) + threads * sizeof(x->thread[0]));

	if (x)
		begin_clock(x, c);
	return x;
}

bool clock_cta_reset(struct clock_cta *x, const struct cta *c)
{
	if (x->is_used || x->joined.a || x->copies[0] || x->copies[1] ||
	    x->threads != c->warps * WARP_LANES)
		return false;
	*x = (struct clock_cta){0};
	begin_clock(x, c);
	return true;
}

u32 clock_known_itself(const struct clock_cta *c, u32 thread, u64 of)
{
	const struct thread_clock *t = &c->thread[thread];
	u32 until, index = who_index(of);
	enum agent agent = who_agent_of(of);

	if (who_cta_of(of) != c->number)
		return 0;
	if (agent != AGENT_THREAD)
		return index == thread ? t->copied[agent - 1] : 0;
	if (index == thread)
		return UINT32_MAX;
	if (c->plain)
		return c->whole;
	until = t->cta;
	if (index / WARP_LANES != thread / WARP_LANES)
		return until;
	for (u32 i = 0; i < NEAR_SETS; i++)
		if (t->near[i].until > until && t->near[i].mask >> index % WARP_LANES & 1)
			until = t->near[i].until;
	return until;
}

u32 clock_known(const struct clock_cta *c, u32 thread, u64 of)
{
	u32 until = clock_known_itself(c, thread, of), other;

	if (until == UINT32_MAX)
		return until;
	other = known_until(c->thread[thread].others, of);
	return other > until ? other : until;
}

u32 clock_known_read(const struct clock_cta *c, u32 thread, u64 of)
{
	u32 until = clock_known(c, thread, of), read, warp = thread / WARP_LANES;
	u32 both = 1u << thread % WARP_LANES | 1u << who_index(of) % WARP_LANES;

	if (who_agent_of(of) != AGENT_THREAD)
		return until;
	read = known_until_read(c->thread[thread].others, of);
	until = read > until ? read : until;
	if (who_cta_of(of) == c->number &&
	    who_index(of) / WHO_GROUP_THREADS == thread / WHO_GROUP_THREADS &&
	    c->group_read[thread / WHO_GROUP_THREADS] > until)
		until = c->group_read[thread / WHO_GROUP_THREADS];
	if (who_cta_of(of) != c->number || who_index(of) / WARP_LANES != warp)
		return until;
	for (u32 i = 0; i < 2; i++)
		if (c->gathered[warp][i].until > until && !(both & ~c->gathered[warp][i].mask))
			until = c->gathered[warp][i].until;
	return until;
}

void clock_gather(struct clock *k, struct clock_cta *c, u32 warp, u32 members)
{
	u32 i = c->gathered[warp][1].until < c->gathered[warp][0].until;

	for (u32 j = 0; j < 2; j++)
		if (!(c->gathered[warp][j].mask & ~members))
			i = j;
	c->gathered[warp][i].mask = members;
	c->gathered[warp][i].until = k->now++;
}

void clock_group_read(struct clock *k, struct clock_cta *c, u32 warp)
{
	c->group_read[warp * WARP_LANES / WHO_GROUP_THREADS] = k->now++;
}

/* ---- asynchronous copies ---- */

void clock_copies_commit(struct clock *k, struct clock_cta *c, u32 thread, bool bulk)
{
	struct copy_groups *g = c->copies[bulk];

	if (!g)
		g = c->copies[bulk] = calloc(c->threads, sizeof(*g));
	if (!g) {
		known_fail();
		return;
	}
	g[thread].end[g[thread].committed++ % COPY_GROUPS] = k->now++;
}

u32 clock_copied_entries(const struct clock_cta *c, u32 thread, struct known_entry at[AGENTS - 1])
{
	const struct thread_clock *t = &c->thread[thread];
	u32 n = 0;

	for (u32 i = 0; !t->copies_said && i < AGENTS - 1; i++)
		if (t->copied[i])
			at[n++] = (struct known_entry){
				who_agent(c->number, thread, (enum agent)(i + 1)), t->copied[i]};
	return n;
}

void clock_say_copies(struct clock_cta *c, u32 thread)
{
	struct thread_clock *t = &c->thread[thread];
	struct known_entry at[AGENTS - 1];
	u32 n = clock_copied_entries(c, thread, at);
	struct known *more;

	t->copies_said = true;
	if (!n)
		return;
	more = known_add(t->others, at, n);
	known_drop(t->others);
	t->others = more;
}

static void learn_copies(struct clock_cta *c, u32 thread, enum agent a, u32 until)
{
	struct thread_clock *t = &c->thread[thread];

	clock_end_plain(c);
	if (until <= t->copied[a - 1])
		return;
	t->copied[a - 1] = until;
	t->copies_said = false;
}

void clock_copies_wait(struct clock_cta *c, u32 thread, bool bulk, u32 keep, bool read)
{
	const struct copy_groups *g = c->copies[bulk] ? &c->copies[bulk][thread] : NULL;
	u32 until;

	if (!g || g->committed <= keep || keep >= COPY_GROUPS)
		return;
	until = g->end[(g->committed - keep - 1) % COPY_GROUPS];
	if (!bulk) {
		learn_copies(c, thread, AGENT_COPY, until);
		return;
	}
	learn_copies(c, thread, AGENT_BULK_READ, until);
	if (!read)
		learn_copies(c, thread, AGENT_BULK_WRITE, until);
}

void clock_copies_wait_all(struct clock *k, struct clock_cta *c, u32 thread)
{
	learn_copies(c, thread, AGENT_COPY, k->now++);
}
