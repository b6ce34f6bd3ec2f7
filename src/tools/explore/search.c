/*
 * The search: schedules by their numbers, so many runs at a time, until one fails.
 */
#include "src/base/clock.h"
#include "src/base/map.h"
#include "src/tools/explore/explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run may take so many times as long as the natural one, and so much more. */
#define TIMES 10u
#define MORE_MS 5000u

u32 explore_device(const struct explore *x, u64 i)
{
	return x->o.strategy == STRATEGY_EXHAUSTIVE ? exhaust_device(x, &i)
						    : (u32)(i % x->o.devices.len);
}

bool explore_plan(const struct explore *x, u64 i, struct schedule *s)
{
	bool ok = true;

	if (x->o.strategy == STRATEGY_EXHAUSTIVE)
		ok = exhaust_plan(x, i, s);
	else
		plan_schedule(s, i, x->o.strategy, (u32)x->o.depth,
			      &x->natural[explore_device(x, i)].notes);
	s->weak = x->o.weak ? i : 0;
	return ok;
}

/* The number of the next schedule; 0: there is none. */
static u64 next_schedule(struct search *q)
{
	const struct explore_options *o = &q->x->o;
	u64 i = q->next;

	while (i <= o->schedules && o->shards && (i - 1) % o->shards != o->shard)
		i++;
	if (i > o->schedules || (q->failing && !o->all && i > q->failing) || q->broken)
		return 0;
	if (o->time_ms && clock_ms() - q->begin_ms >= o->time_ms)
		return 0;
	q->next = i + 1;
	return i;
}

static u64 order_of(const struct notes *n)
{
	u64 order = HASH_SEED;

	for (size_t i = 0; i < n->launches.len; i++)
		order = hash_more(order, &n->launches.at[i].order, sizeof(order));
	return order;
}

/*
 * Has one of its launches another kernel, grid or block than in the natural run? Fewer or more of
 * them may be the schedule's doing.
 */
static bool run_strays(const struct notes *natural, const struct notes *n)
{
	for (size_t i = 0; i < n->launches.len && i < natural->launches.len; i++) {
		const struct noted_launch *a = &natural->launches.at[i], *b = &n->launches.at[i];

		if (a->number == b->number && (strcmp(a->name, b->name) != 0 ||
					       memcmp(a->grid, b->grid, sizeof(a->grid)) != 0 ||
					       memcmp(a->block, b->block, sizeof(a->block)) != 0))
			return true;
	}
	return false;
}

bool search_counts(const struct search *q, const struct explored *e)
{
	return !q->failing || q->x->o.all || e->number <= q->failing;
}

/*
 * Of the schedules up to the one that fails, so that the answer does not depend on how many runs
 * were under way: how many passed, and how many orders they had.
 */
u64 search_passed(const struct search *q)
{
	u64 n = 0;

	for (size_t i = 0; i < q->explored.len; i++)
		n += q->explored.at[i].passes &&
		     (!q->failing || q->x->o.all || q->explored.at[i].number < q->failing);
	return n;
}

u64 search_orders(const struct search *q)
{
	struct map orders = {0};
	u64 n = 0;

	for (size_t i = 0; i < q->explored.len; i++) {
		u64 order = q->explored.at[i].order | 1;

		if (!search_counts(q, &q->explored.at[i]))
			continue;
		n += !map_get(&orders, order) && map_set(&orders, order, 1);
	}
	map_fini(&orders);
	return n;
}

static void begin_runs(struct search *q)
{
	while (q->running < q->x->o.jobs) {
		u64 i = next_schedule(q);
		struct explore_run *r = &q->run[q->running];
		struct schedule s;

		if (!i)
			return;
		*r = (struct explore_run){0};
		q->broken = !explore_plan(q->x, i, &s) ||
			    !explore_begin(q->x, r, explore_device(q->x, i), &s);
		schedule_fini(&s);
		r->number = i;
		if (q->broken)
			return;
		q->running++;
	}
}

static void note_failure(struct search *q, const struct explore_run *r, u64 i)
{
	u64 key = explore_failure_key(r);

	for (size_t k = 0; k < q->failures.len; k++) {
		struct failure *f = &q->failures.at[k];

		if (f->key != key)
			continue;
		f->count++;
		f->number = min_u64(f->number, i);
		return;
	}
	q->broken |= !VEC_PUSH(&q->failures, ((struct failure){key, i, 1}));
}

static void take_trial(struct search *q, u32 at)
{
	struct explore_run r = q->run[at];
	struct explored done;
	u64 i = r.number;

	q->run[at] = q->run[--q->running];
	q->broken |= !explore_end(&r);
	done.number = i;
	done.order = order_of(&r.notes);
	done.strays = run_strays(&q->x->natural[explore_device(q->x, i)].notes, &r.notes);
	done.passes = !q->broken && !explore_fails(q->x, &r, explore_device(q->x, i));
	q->broken = q->broken || !VEC_PUSH(&q->explored, done);
	if (!q->broken && !done.passes && q->x->o.all)
		note_failure(q, &r, i);
	if (!q->broken && !done.passes && (!q->failing || i < q->failing)) {
		explore_run_fini(&q->worst);
		q->worst = r;
		q->failing = i;
		return;
	}
	explore_run_fini(&r);
}

/* Runs that can no longer have a say are stopped. */
static void stop_later(struct search *q)
{
	for (u32 i = 0; q->failing && !q->x->o.all && i < q->running;)
		if (q->run[i].number > q->failing) {
			explore_run_fini(&q->run[i]);
			q->run[i] = q->run[--q->running];
		} else {
			i++;
		}
}

static void search_all(struct search *q)
{
	for (;;) {
		struct trial *trials[TRIALS_MAX];

		begin_runs(q);
		if (!q->running || q->broken)
			return;
		for (u32 i = 0; i < q->running; i++)
			trials[i] = &q->run[i].trial;
		take_trial(q, trial_wait_any(trials, q->running));
		stop_later(q);
	}
}

int search_program(struct explore *x)
{
	struct search *q = calloc(1, sizeof(*q));
	int status = TOOL_OK;

	if (!q)
		return TOOL_CANNOT_RUN;
	q->x = x;
	q->next = 1;
	q->begin_ms = clock_ms();
	for (u32 i = 0; i < x->o.devices.len && !status; i++) {
		u64 begin = clock_ms();

		status = explore_naturally(x, i);
		if (x->natural_ms < clock_ms() - begin)
			x->natural_ms = clock_ms() - begin;
	}
	if (!status && x->o.strategy == STRATEGY_EXHAUSTIVE)
		status = exhaust_prepare(x);
	x->limit_ms = TIMES * x->natural_ms + MORE_MS;
	if (!status) {
		for (u32 i = 0; i < x->o.devices.len && !q->broken; i++) {
			struct explored natural = {.order = order_of(&x->natural[i].notes)};

			q->broken = !VEC_PUSH(&q->explored, natural);
		}
		search_all(q);
		status = search_conclude(q);
		if (status == TOOL_OK || status == TOOL_FINDINGS) {
			search_say_strays(q);
			search_say_orders(q);
		}
	}
	for (u32 i = 0; i < q->running; i++)
		explore_run_fini(&q->run[i]);
	explore_run_fini(&q->worst);
	VEC_FREE(&q->explored);
	VEC_FREE(&q->failures);
	free(q);
	return status;
}
