/*
 * `ptxloom explore`: runs of a program under many schedules, until one fails.
 */
#include "src/check/finding.h"
#include "src/base/clock.h"
#include "src/tools/explore/explore.h"
#include "src/base/demangle.h"
#include "src/base/map.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char tool_help_explore[] =
	"Runs PROG again and again, each time with another interleaving of its warps, until a run fails; then says\n"
	"which warp has to stop where for that, and prints a line that repeats it exactly.\n"
	"\n"
	"  -n N                  so many schedules: 200\n"
	"  --time TIME           begin none after this time (30s, 2m)\n"
	"  -j N                  so many runs at a time: one for each core. The answer is the same\n"
	"  --strategy NAME       mixed (default), pct: random priorities that change; random; starve: a warp waits\n"
	"  --depth N             most priorities that change in a schedule, and one more: 3\n"
	"  --same-output         a run fails, too, if the host gets other contents of device memory\n"
	"  --all                 go on after the first failure: each distinct one is reported, with its line\n"
	"  --check CHECKS        a run fails, too, if a check finds something: mem, race, or all\n"
	"  --inject RULES|@FILE  PROG meets these errors, as of `ptxloom run`; its exit status is to be always the\n"
	"                        same then\n"
	"  --weak                device memory is as weak as the PTX model allows: missing fences show\n"
	"  --minimise N          most runs that make a failing schedule smaller: 100\n"
	"  --shard I/N           of all schedules only the I-th, (I + N)-th ..; I from 1 on\n"
	"  --timeout TIME        a run that takes longer fails; ten times the natural run and 5s\n"
	"  --replay TOKEN        no search: run PROG once with this schedule, a word or @FILE\n"
	"  -d, --device DEVICE   as of `ptxloom run`; several times: schedules take them in turn\n"
	"  --help                this text\n"
	"\n"
	"Exit status: 0 if no schedule fails, 1 if one does, 2 for wrong arguments, 3 if PROG fails by itself or\n"
	"launches nothing; with --replay that of PROG, 87 if it launches something else.\n";

#define EXPLORE_UNFIT 3
#define TIMES 10u
#define MORE_MS 5000u
/* The natural run, without --timeout. */
#define NATURAL_MS 300000u

/* ---- runs ---- */

static bool begin_run(struct explore *x, struct explore_run *r, u32 device,
		      const struct schedule *s)
{
	struct text t[8] = {0};
	const char *variables[9] = {NULL};
	u32 n = 0;
	bool ok;

	text_puts(&t[n], "PTXLOOM_SCHEDULE=");
	schedule_write(s, &t[n++]);
	r->number = x->runs++;
	text_printf(&t[n++], "PTXLOOM_SCHEDULE_NOTES=%s/%llu", x->dir,
		    (unsigned long long)r->number);
	text_puts(&t[n++], "PTXLOOM_SEED=");
	text_puts(&t[n++], "PTXLOOM_WEAK=");
	if (x->o.devices.at[device])
		text_printf(&t[n++], "PTXLOOM_DEVICE=%s", x->o.devices.at[device]);
	if (x->o.check) {
		text_printf(&t[n++], "PTXLOOM_CHECK=%s", x->o.check);
		text_printf(&t[n++], "PTXLOOM_CHECK_STATUS=%d", CHECK_EXIT_FOUND);
	}
	if (x->o.inject)
		text_printf(&t[n++], "PTXLOOM_INJECT=%s", x->o.inject);
	ok = true;
	for (u32 i = 0; i < n; i++) {
		ok &= !t[i].failed;
		variables[i] = t[i].at;
	}
	if (ok)
		r->path = strdup(strchr(variables[1], '=') + 1);
	r->begun = ok && r->path &&
		   trial_begin(&r->trial, x->argv, variables,
			       x->o.limit_ms ? x->o.limit_ms : x->limit_ms);
	for (u32 i = 0; i < n; i++)
		text_fini(&t[i]);
	return r->begun;
}

static bool end_run(struct explore_run *r)
{
	bool ok = trial_end(&r->trial);

	r->begun = false;
	ok = notes_read(&r->notes, r->path) && ok;
	unlink(r->path);
	return ok;
}

bool explore_run(struct explore *x, struct explore_run *r, u32 device, const struct schedule *s)
{
	struct trial *one[] = {&r->trial};

	if (!begin_run(x, r, device, s))
		return false;
	trial_wait_any(one, 1);
	return end_run(r);
}

void explore_run_fini(struct explore_run *r)
{
	if (r->begun) {
		trial_drop(&r->trial);
		unlink(r->path);
	} else {
		trial_fini(&r->trial);
	}
	notes_fini(&r->notes);
	free(r->path);
	*r = (struct explore_run){0};
}

static bool are_copies_alike(const struct notes *a, const struct notes *b)
{
	return a->copies.len == b->copies.len &&
	       (!a->copies.len ||
		!memcmp(a->copies.at, b->copies.at, a->copies.len * sizeof(*a->copies.at)));
}

bool explore_fails(const struct explore *x, const struct explore_run *r, u32 device)
{
	const struct explore_run *natural = &x->natural[device];

	return r->trial.timed_out || r->trial.signal || r->trial.status != natural->trial.status ||
	       r->notes.stuck || r->notes.faults != natural->notes.faults ||
	       (x->o.same_output && !are_copies_alike(&r->notes, &natural->notes));
}

/* Text without numbers, and of lines that are the same then the first. */
static u64 text_key(const struct text *t, u64 key)
{
	u64 last = 0;

	for (const char *at = t->at; at && *at;) {
		size_t n = strcspn(at, "\n");
		u64 line = HASH_SEED;

		for (size_t i = 0; i < n; i++)
			if (!isxdigit((unsigned char)at[i]))
				line = hash_more(line, at + i, 1);
		if (line != last)
			key = hash_more(key, &line, sizeof(line));
		last = line;
		at += n + (at[n] != 0);
	}
	return key;
}

/* The same for failures that look alike. */
static u64 failure_key(const struct explore_run *r)
{
	const s64 x[] = {r->trial.timed_out, r->trial.signal, r->trial.status, r->notes.stuck,
			 (s64)r->notes.stuck_launch};

	if (r->notes.stuck)
		return hash_bytes(x, sizeof(x));
	return text_key(&r->trial.err, text_key(&r->trial.out, hash_bytes(x, sizeof(x))));
}

bool explore_alike(const struct explore *x, const struct explore_run *a,
		   const struct explore_run *b)
{
	return a->trial.timed_out == b->trial.timed_out && a->trial.signal == b->trial.signal &&
	       a->trial.status == b->trial.status && !a->notes.faults == !b->notes.faults &&
	       a->notes.stuck == b->notes.stuck && (!x->o.all || failure_key(a) == failure_key(b));
}

/* "deadlock in launch 2, cross(int*), exit status 1" */
static void say_stuck_launch(const struct explore_run *r, struct text *t)
{
	const struct notes *n = &r->notes;

	text_printf(t, "%s in launch %llu, ", notes_stuck_word(n->stuck),
		    (unsigned long long)n->stuck_launch);
	for (size_t i = 0; i < n->launches.len; i++)
		if (n->launches.at[i].number == n->stuck_launch)
			demangle(n->launches.at[i].name, t);
	text_puts(t, ", ");
	trial_say(&r->trial, t);
}

static void say_how(const struct explore *o, const struct explore_run *r, struct text *t)
{
	const struct trial *x = &r->trial;

	if (r->notes.stuck)
		say_stuck_launch(r, t);
	else if (o->o.check && !x->timed_out && !x->signal && x->status == CHECK_EXIT_FOUND)
		text_puts(t, "checks find something");
	else if (!x->timed_out && !x->signal && !x->status)
		text_puts(t, r->notes.faults ? "exit status 0, but a launch has failed"
					     : "exit status 0, but the host got other data");
	else
		trial_say(x, t);
}

/* ---- the natural run ---- */

/* A program that meets an injected error may say so. */
static bool is_unfit(const struct explore *x, const struct explore_run *r)
{
	return r->trial.timed_out || r->trial.signal || r->notes.stuck ||
	       (!x->o.inject && (r->trial.status || r->notes.faults)) ||
	       (x->o.check && r->trial.status == CHECK_EXIT_FOUND);
}

/* Returns TOOL_OK, or the status to end with after a message. */
static int run_naturally(struct explore *x, u32 device)
{
	struct explore_run *r = &x->natural[device];
	struct schedule s = {0};
	struct text how = {0};
	int status = TOOL_OK;

	x->limit_ms = NATURAL_MS;
	if (!explore_run(x, r, device, &s))
		return TOOL_CANNOT_RUN;
	say_how(x, r, &how);
	if (is_unfit(x, r)) {
		fputs(r->trial.out.at ? r->trial.out.at : "", stdout);
		fputs(r->trial.err.at ? r->trial.err.at : "", stderr);
		printf("explore: %s fails by itself: %s; nothing was explored\n", x->argv[0],
		       how.at);
		status = EXPLORE_UNFIT;
	} else if (!r->notes.steps) {
		printf("explore: %s launches no kernel that touches memory; nothing was explored\n",
		       x->argv[0]);
		status = EXPLORE_UNFIT;
	}
	text_fini(&how);
	return status;
}

/* ---- the search ---- */

/* What became of a schedule: the order of its conflicts, as a hash. */
struct explored {
	u64 number, order;
	bool passes;
};

/* Schedules that fail in one way. */
struct failure {
	u64 key, number, count; /* number: the least of them */
};

struct search {
	struct explore *x;
	u64 next, failing; /* numbers; failing 0: none so far */
	u64 begin_ms;
	struct explore_run run[TRIALS_MAX], worst;
	struct schedule schedule;
	u32 running;
	VEC(struct explored) explored;
	VEC(struct failure) failures; /* --all: distinct ones */
	u64 alike;                    /* schedules that fail like the one that is reported */
	bool broken;
};

static u32 schedule_device(const struct explore *x, u64 i)
{
	return (u32)(i % x->o.devices.len);
}

static void plan(const struct explore *x, u64 i, struct schedule *s)
{
	plan_schedule(s, i, x->o.strategy, (u32)x->o.depth,
		      &x->natural[schedule_device(x, i)].notes);
	s->weak = x->o.weak ? i : 0;
}

/* The number of the next schedule; 0: there is none. */
static u64 next_schedule(struct search *q)
{
	const struct explore_options *o = &q->x->o;
	u64 i = q->next;

	while (i <= o->schedules && o->shards && (i - 1) % o->shards != o->shard - 1)
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
 * Of the schedules up to the one that fails, so that the answer does not depend on how many runs
 * were under way: how many passed, and how many orders they had.
 */
static u64 passed_of(const struct search *q)
{
	u64 n = 0;

	for (size_t i = 0; i < q->explored.len; i++)
		n += q->explored.at[i].passes &&
		     (!q->failing || q->x->o.all || q->explored.at[i].number < q->failing);
	return n;
}

static u64 distinct_orders(const struct search *q)
{
	struct map orders = {0};
	u64 n = 0;

	for (size_t i = 0; i < q->explored.len; i++) {
		u64 order = q->explored.at[i].order | 1;

		if (q->failing && !q->x->o.all && q->explored.at[i].number > q->failing)
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
		plan(q->x, i, &s);
		q->broken = !begin_run(q->x, r, schedule_device(q->x, i), &s);
		r->number = i;
		if (q->broken)
			return;
		q->running++;
	}
}

static void note_failure(struct search *q, const struct explore_run *r, u64 i)
{
	u64 key = failure_key(r);

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
	q->broken |= !end_run(&r);
	done.number = i;
	done.order = order_of(&r.notes);
	done.passes = !q->broken && !explore_fails(q->x, &r, schedule_device(q->x, i));
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

/* ---- the answer ---- */

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
	u32 device = schedule_device(q->x, q->failing);

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

	say_how(q->x, &q->worst, &how);
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
	u32 device = schedule_device(q->x, q->failing);
	struct schedule s, planned;
	struct explore_run r = {0};
	u64 choices;
	bool ok;

	say_failing(q);
	plan(q->x, q->failing, &planned);
	ok = list_choices(&q->worst, &planned, &s);
	choices = s.choices.len;
	if (ok && (fails_strong(q, &s, &r) || fails_again(q, &s, &r))) {
		ok = minimise(q->x, &s, device, &q->worst);
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
		plan(q->x, q->failing, &s);
		status = explore_run(q->x, &q->worst, schedule_device(q->x, q->failing), &s)
				 ? conclude_failure(q)
				 : TOOL_CANNOT_RUN;
	}
	if (status == TOOL_FINDINGS)
		printf("explore: %zu distinct failure%s, in %llu of %llu schedules; %llu passed\n",
		       q->failures.len, q->failures.len == 1 ? "" : "s", (unsigned long long)failed,
		       (unsigned long long)q->x->o.schedules, (unsigned long long)passed_of(q));
	return status;
}

static u64 pairs_of(const struct explore *x)
{
	u64 n = 0;

	for (size_t i = 0; i < x->o.devices.len; i++)
		n = x->natural[i].notes.pairs.len > n ? x->natural[i].notes.pairs.len : n;
	return n;
}

static int conclude_search(struct search *q)
{
	if (q->broken)
		return TOOL_CANNOT_RUN;
	if (q->failing)
		return q->x->o.all ? conclude_all(q) : conclude_failure(q);
	printf("explore: %llu schedules passed (%.1f s)\n", (unsigned long long)passed_of(q),
	       (double)(clock_ms() - q->begin_ms) / 1000);
	return TOOL_OK;
}

static void say_orders(const struct search *q)
{
	u64 pairs = pairs_of(q->x), distinct = distinct_orders(q);

	if (pairs)
		printf("explore: %llu distinct interleaving%s of %llu conflicting pair%s of places %s seen\n",
		       (unsigned long long)distinct, distinct == 1 ? "" : "s",
		       (unsigned long long)pairs, pairs == 1 ? "" : "s",
		       distinct == 1 ? "was" : "were");
	else
		puts("explore: no distinct interleavings: no conflicting pairs of places were seen");
}

static int search_program(struct explore *x)
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

		status = run_naturally(x, i);
		if (x->natural_ms < clock_ms() - begin)
			x->natural_ms = clock_ms() - begin;
	}
	x->limit_ms = TIMES * x->natural_ms + MORE_MS;
	if (!status) {
		for (u32 i = 0; i < x->o.devices.len && !q->broken; i++) {
			struct explored natural = {.order = order_of(&x->natural[i].notes)};

			q->broken = !VEC_PUSH(&q->explored, natural);
		}
		search_all(q);
		status = conclude_search(q);
		if (status == TOOL_OK || status == TOOL_FINDINGS)
			say_orders(q);
	}
	for (u32 i = 0; i < q->running; i++)
		explore_run_fini(&q->run[i]);
	explore_run_fini(&q->worst);
	VEC_FREE(&q->explored);
	VEC_FREE(&q->failures);
	free(q);
	return status;
}

/* ---- one run ---- */

static int replay_schedule(struct explore *x)
{
	struct tool_environment e;

	if (!tool_environment(&e))
		return TOOL_CANNOT_RUN;
	setenv("LD_PRELOAD", e.preload, 1);
	setenv("LD_LIBRARY_PATH", e.library_path, 1);
	tool_environment_fini(&e);
	setenv("PTXLOOM_SCHEDULE", x->o.replay, 1);
	unsetenv("PTXLOOM_SEED");
	unsetenv("PTXLOOM_WEAK");
	if (x->o.check)
		setenv("PTXLOOM_CHECK", x->o.check, 1);
	if (x->o.inject)
		setenv("PTXLOOM_INJECT", x->o.inject, 1);
	if (x->o.devices.at[0])
		setenv("PTXLOOM_DEVICE", x->o.devices.at[0], 1);
	return tool_start_program(x->argv);
}

static int make_notes_folder(struct explore *x)
{
	const char *tmp = getenv("TMPDIR");

	if ((size_t)snprintf(x->dir, sizeof(x->dir), "%s/ptxloom-explore-XXXXXX",
			     tmp && *tmp ? tmp : "/tmp") >= sizeof(x->dir) ||
	    !mkdtemp(x->dir)) {
		fprintf(stderr, "ptxloom explore: no folder for notes in %s: %s\n",
			tmp && *tmp ? tmp : "/tmp", strerror(errno));
		*x->dir = '\0';
		return TOOL_CANNOT_RUN;
	}
	return TOOL_OK;
}

static int explore_program(struct explore *x)
{
	int status = make_notes_folder(x);

	status = status ? status : search_program(x);
	for (u32 i = 0; i < EXPLORE_DEVICES; i++)
		explore_run_fini(&x->natural[i]);
	if (*x->dir)
		rmdir(x->dir);
	return status;
}

int tool_main_explore(const struct tool_command *self, int argc, char **argv)
{
	struct explore x = {
		.o = {.schedules = 200, .jobs = tool_cores(), .minimise = 100, .depth = 3}};
	int i = 1, status = TOOL_OK;

	for (; i < argc && argv[i][0] == '-' && !status; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return tool_help(self);
		status = explore_read_option(self, &x.o, argc, argv, &i);
	}
	if (!status && i == argc)
		status = tool_usage(self, "no program given");
	if (!status && !x.o.devices.len && !VEC_PUSH(&x.o.devices, NULL))
		status = tool_usage(self, "no memory left");
	if (!status)
		status = explore_check_options(self, &x.o);
	x.argv = argv + i;
	status = status ? status : tool_check_file(argv[i]);
	demangle_prepare();
	if (!status && x.o.replay) {
		status = tool_check_schedule(x.o.replay) ? replay_schedule(&x) : TOOL_USAGE;
	} else if (!status) {
		status = explore_program(&x);
	}
	VEC_FREE(&x.o.devices);
	return status;
}
