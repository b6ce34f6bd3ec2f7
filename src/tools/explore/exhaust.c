/*
 * Every schedule that differs from the natural one by few preemptions: before a visible operation
 * of a warp another warp goes on. As iterative context bounding orders them ("Iterative Context
 * Bounding for Systematic Testing of Multithreaded Programs", PLDI 2007): those of one preemption,
 * then those of two.
 *
 * A scope is a launch, if it has few visible operations, or else a CTA of it that has. Each
 * combination of preemption points within a scope is a schedule; their numbers are those of the
 * combinatorial number system, so that number i is found without its predecessors.
 */
#include "src/tools/explore/explore.h"

#include <stdio.h>
#include <stdlib.h>

/* Most visible operations of a scope. */
#define SCOPE_STEPS 200u
/* As many are run without being asked for by -n. */
#define RUNS_MAX 100000u

/* Its points: agent[0] at its step 0 gives way to agent[1], to agent[2] ..; at its step 1 .. */
struct scope {
	const struct noted_agent *agent; /* of one launch; by CTA and warp */
	size_t agents;
	u64 steps;
};

static u64 points_of(const struct scope *c)
{
	return c->steps * (c->agents - 1);
}

/* Combinations of `picks` of n; or EXPLORE_COUNT_MOST, if there are as many. */
static u64 combinations(u64 n, u64 picks)
{
	u64 all = 1;

	if (picks > n)
		return 0;
	for (u64 i = 1; i <= picks; i++) {
		all = all * (n - picks + i) / i;
		if (all >= EXPLORE_COUNT_MOST)
			return EXPLORE_COUNT_MOST;
	}
	return all;
}

static u64 steps_of_launch(const struct notes *n, u64 number)
{
	for (size_t i = 0; i < n->launches.len; i++)
		if (n->launches.at[i].number == number)
			return n->launches.at[i].steps;
	return UINT64_MAX;
}

/* The scope that begins with agent *at, which moves behind it. False: there is none. */
static bool next_scope(const struct notes *n, size_t *at, struct scope *out)
{
	while (*at < n->agents.len) {
		const struct noted_agent *first = &n->agents.at[*at], *a = first;
		bool whole = steps_of_launch(n, first->launch) <= SCOPE_STEPS;

		*out = (struct scope){.agent = first};
		for (; *at < n->agents.len && a->launch == first->launch &&
		       (whole || a->cta == first->cta);
		     a = &n->agents.at[++*at]) {
			out->steps += a->steps;
			out->agents++;
		}
		if (out->steps <= SCOPE_STEPS && out->agents > 1)
			return true;
	}
	return false;
}

/* Schedules with so many preemptions, or EXPLORE_COUNT_MOST. */
static u64 count_schedules(const struct notes *n, u64 preemptions)
{
	struct scope c;
	u64 all = 0;

	for (size_t at = 0; next_scope(n, &at, &c);)
		all = min_u64(all + combinations(points_of(&c), preemptions), EXPLORE_COUNT_MOST);
	return all;
}

static u64 count_of_device(const struct explore *x, u32 device)
{
	u64 all = 0;

	for (u64 k = 1; k < x->o.depth; k++)
		all = min_u64(all + count_schedules(&x->natural[device].notes, k),
			      EXPLORE_COUNT_MOST);
	return all;
}

/* Point number i of the scope. */
static struct schedule_choice point_of(const struct scope *c, u64 i)
{
	const struct noted_agent *from = c->agent, *to;
	u64 step = i / (c->agents - 1);

	while (step >= from->steps)
		step -= (from++)->steps;
	to = &c->agent[i % (c->agents - 1)];
	if (to >= from)
		to++;
	return (struct schedule_choice){.launch = from->launch,
					.cta = from->cta,
					.warp = from->warp,
					.step = (u32)step,
					.count = 1,
					.to = {to->cta, to->warp, SCHEDULE_NO_LANE, 0}};
}

/* Combination number i of so many points. */
static bool add_points(struct schedule *s, const struct scope *c, u64 picks, u64 i)
{
	u64 n = points_of(c);

	for (; picks; picks--) {
		while (combinations(n, picks) > i)
			n--;
		i -= combinations(n, picks);
		if (!VEC_PUSH(&s->choices, point_of(c, n)))
			return false;
	}
	schedule_sort(s);
	return true;
}

u32 exhaust_device(const struct explore *x, u64 *i)
{
	u32 device = 0;

	while (device + 1 < x->o.devices.len && *i > x->count[device])
		*i -= x->count[device++];
	return device;
}

bool exhaust_plan(const struct explore *x, u64 i, struct schedule *s)
{
	const struct notes *n = &x->natural[exhaust_device(x, &i)].notes;
	struct scope c;

	*s = (struct schedule){.kind = SCHEDULE_LIST};
	i--;
	for (u64 k = 1; k < x->o.depth; k++)
		for (size_t at = 0; next_scope(n, &at, &c);) {
			u64 all = combinations(points_of(&c), k);

			if (i < all)
				return add_points(s, &c, k, i);
			i -= all;
		}
	return true;
}

int exhaust_prepare(struct explore *x)
{
	u64 all = 0;

	for (u32 i = 0; i < x->o.devices.len; i++) {
		x->count[i] = count_of_device(x, i);
		all = min_u64(all + x->count[i], EXPLORE_COUNT_MOST);
	}
	if (!all) {
		printf("explore: no launch or CTA has several warps and at most %u visible operations; "
		       "nothing was explored\n",
		       SCOPE_STEPS);
		return EXPLORE_UNFIT;
	}
	if (!x->o.schedules && all > RUNS_MAX) {
		printf("explore: there are %s%llu schedules with at most %llu preemption%s: say how many with -n, or "
		       "fewer with --depth; nothing was explored\n",
		       all == EXPLORE_COUNT_MOST ? "more than " : "", (unsigned long long)all,
		       (unsigned long long)x->o.depth - 1, x->o.depth == 2 ? "" : "s");
		return EXPLORE_UNFIT;
	}
	x->every = !x->o.schedules || x->o.schedules >= all;
	if (x->every)
		x->o.schedules = all;
	return TOOL_OK;
}
