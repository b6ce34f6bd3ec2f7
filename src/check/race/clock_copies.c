/*
 * Asynchronous copies: their groups, and what a thread knows of its own ones. Others learn of them
 * where they meet it, or by what it releases.
 */
#include "src/check/race/clock.h"

#include <stdlib.h>

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
