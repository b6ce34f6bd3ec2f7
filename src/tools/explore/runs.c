/*
 * Runs of a program under a schedule, and whether and how they fail.
 */
#include "src/base/demangle.h"
#include "src/base/map.h"
#include "src/check/finding.h"
#include "src/tools/explore/explore.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool explore_begin(struct explore *x, struct explore_run *r, u32 device, const struct schedule *s)
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

bool explore_end(struct explore_run *r)
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

	if (!explore_begin(x, r, device, s))
		return false;
	trial_wait_any(one, 1);
	return explore_end(r);
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
u64 explore_failure_key(const struct explore_run *r)
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
	       a->notes.stuck == b->notes.stuck &&
	       (!x->o.all || explore_failure_key(a) == explore_failure_key(b));
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

void explore_say_how(const struct explore *o, const struct explore_run *r, struct text *t)
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
