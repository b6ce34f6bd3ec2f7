/*
 * What a search has found: failing schedules, made small, and how much was seen.
 */
#include "src/base/clock.h"
#include "src/tools/explore/explore.h"

#include <stdio.h>
#include <stdlib.h>

/* The choices that the failing run has made, as a schedule of its own. */
static bool list_choices(const struct explore_run *r, const struct schedule *planned,
			 struct schedule *s)
{
	*s = (struct schedule){
		.kind = SCHEDULE_LIST, .eager = planned->eager, .weak = planned->weak};
	for (size_t i = 0; i < r->notes.choices.len; i++) {
		const struct schedule_choice *c = &r->notes.choices.at[i].choice;
		struct schedule_choice *last =
			s->choices.len ? &s->choices.at[s->choices.len - 1] : NULL;

		if (last && last->passes && c->passes && last->launch == c->launch &&
		    last->cta == c->cta && last->warp == c->warp && last->step == c->step)
			last->count++;
		else if (!VEC_PUSH(&s->choices, *c))
			return false;
	}
	schedule_sort(s);
	return true;
}

static bool add_digest(struct schedule *s, const struct notes *n)
{
	s->has_digest = true;
	s->launches.len = 0;
	for (size_t i = 0; i < n->launches.len; i++)
		if (!VEC_PUSH(&s->launches, n->launches.at[i].hash))
			return false;
	return true;
}

/* Does the program do the same again with these choices? r: that run. */
static bool fails_again(struct search *q, const struct schedule *s, struct explore_run *r)
{
	u32 device = explore_device(q->x, q->failing);

	explore_run_fini(r);
	if (!explore_run(q->x, r, device, s)) {
		q->broken = true;
		return false;
	}
	return explore_fails(q->x, r, device) && explore_alike(q->x, r, &q->worst);
}

static void say_failing(const struct search *q)
{
	struct text how = {0};

	explore_say_how(q->x, &q->worst, &how);
	printf("explore: schedule %llu of %llu fails: %s (%llu ", (unsigned long long)q->failing,
	       (unsigned long long)q->x->o.schedules, how.at,
	       (unsigned long long)(q->x->o.all ? q->alike : q->failing - 1));
	printf("%s, %.1f s)\n", q->x->o.all ? "more like it" : "passed",
	       (double)(clock_ms() - q->begin_ms) / 1000);
	fflush(stdout);
	text_fini(&how);
}

/* Does it fail without weak memory, too? */
static bool fails_strong(struct search *q, struct schedule *s, struct explore_run *r)
{
	u64 weak = s->weak;

	s->weak = 0;
	if (weak && fails_again(q, s, r))
		return true;
	s->weak = weak;
	return false;
}

/* Make it small, and print it. */
static int conclude_failure(struct search *q)
{
	u32 device = explore_device(q->x, q->failing);
	struct schedule s, planned;
	struct explore_run r = {0};
	u64 choices;
	bool ok;

	say_failing(q);
	ok = explore_plan(q->x, q->failing, &planned);
	ok = list_choices(&q->worst, &planned, &s) && ok;
	choices = s.choices.len;
	if (ok && (fails_strong(q, &s, &r) || fails_again(q, &s, &r))) {
		ok = minimise(q->x, &s, device, &q->worst);
		schedule_fini(&planned);
	} else {
		schedule_fini(&s);
		s = planned;
	}
	/* What the smaller one launches, and whether it really fails each time. */
	ok = ok && !q->broken && (fails_again(q, &s, &r) || !q->broken) &&
	     add_digest(&s, &r.notes) && (fails_again(q, &s, &r) || !q->broken);
	if (ok) {
		report_failure(q->x, q->failing, &s, device, &r, choices);
		if (!explore_fails(q->x, &r, device))
			puts("  note: it does not fail every time: something other than the schedule has a say, "
			     "such as threads of the host, the time or random numbers");
	}
	explore_run_fini(&r);
	schedule_fini(&s);
	return ok ? TOOL_FINDINGS : TOOL_CANNOT_RUN;
}

static int by_number(const void *a, const void *b)
{
	const struct failure *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* Each distinct failure by its first schedule, which is run again. */
static int conclude_all(struct search *q)
{
	u64 failed = 0;
	int status = TOOL_FINDINGS;

	qsort(q->failures.at, q->failures.len, sizeof(*q->failures.at), by_number);
	for (size_t k = 0; k < q->failures.len && status == TOOL_FINDINGS; k++) {
		struct schedule s;

		q->failing = q->failures.at[k].number;
		q->alike = q->failures.at[k].count - 1;
		failed += q->failures.at[k].count;
		explore_run_fini(&q->worst);
		status = explore_plan(q->x, q->failing, &s) &&
					 explore_run(q->x, &q->worst,
						     explore_device(q->x, q->failing), &s)
				 ? conclude_failure(q)
				 : TOOL_CANNOT_RUN;
		schedule_fini(&s);
	}
	if (status == TOOL_FINDINGS)
		printf("explore: %zu distinct failure%s, in %llu of %llu schedules; %llu passed\n",
		       q->failures.len, q->failures.len == 1 ? "" : "s", (unsigned long long)failed,
		       (unsigned long long)q->x->o.schedules, (unsigned long long)search_passed(q));
	return status;
}

static u64 pairs_of(const struct explore *x)
{
	u64 n = 0;

	for (size_t i = 0; i < x->o.devices.len; i++)
		n = x->natural[i].notes.pairs.len > n ? x->natural[i].notes.pairs.len : n;
	return n;
}

/* "explore: all 84 schedules with at most 1 preemption passed (1.9 s)" */
static void say_passed(const struct search *q)
{
	u64 passed = search_passed(q), preemptions = q->x->o.depth - 1;
	bool every = q->x->every && passed == q->x->o.schedules;

	printf("explore: %s%llu schedules ", every ? "all " : "", (unsigned long long)passed);
	if (every)
		printf("with at most %llu preemption%s ", (unsigned long long)preemptions,
		       preemptions == 1 ? "" : "s");
	printf("passed (%.1f s)\n", (double)(clock_ms() - q->begin_ms) / 1000);
}

int search_conclude(struct search *q)
{
	if (q->broken)
		return TOOL_CANNOT_RUN;
	if (q->failing)
		return q->x->o.all ? conclude_all(q) : conclude_failure(q);
	say_passed(q);
	return TOOL_OK;
}

/* What a search among orders of warps is worth where they are not all that changes. */
void search_say_strays(const struct search *q)
{
	u64 n = 0, all = 0;

	for (size_t i = 0; i < q->explored.len; i++) {
		all += q->explored.at[i].number && search_counts(q, &q->explored.at[i]);
		n += q->explored.at[i].strays && search_counts(q, &q->explored.at[i]);
	}
	if (n)
		printf("explore: note: %llu of %llu runs launched something else than the natural run: "
		       "a race may do that, or more than the order of warps decides what %s does\n",
		       (unsigned long long)n, (unsigned long long)all, q->x->argv[0]);
}

void search_say_orders(const struct search *q)
{
	u64 pairs = pairs_of(q->x), distinct = search_orders(q);

	if (pairs)
		printf("explore: %llu distinct interleaving%s of %llu conflicting pair%s of places %s seen\n",
		       (unsigned long long)distinct, distinct == 1 ? "" : "s",
		       (unsigned long long)pairs, pairs == 1 ? "" : "s",
		       distinct == 1 ? "was" : "were");
	else
		puts("explore: no distinct interleavings: no conflicting pairs of places were seen");
}
