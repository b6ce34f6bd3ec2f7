/* src/watch/tee.h: each of several observers gets what it needs, and only that. */
#include "src/watch/tee.h"
#include "tests/check.h"

struct seen {
	struct exec_observer observer;
	u32 accesses, spans, steps;
	bool has_enough; /* of what a span says */
};

static void see_access(void *user, const struct exec_access *a)
{
	(void)a;
	((struct seen *)user)->accesses++;
}

static bool see_span(void *user, const struct exec_span *s)
{
	struct seen *x = user;

	(void)s;
	x->spans++;
	return x->has_enough;
}

static void see_step(void *user, const struct gang *g, const struct uop *in)
{
	(void)g;
	(void)in;
	((struct seen *)user)->steps++;
}

static struct seen seen_init(struct seen *x)
{
	return (struct seen){.observer = {.user = x, .access = see_access}};
}

/* As the engine does: the span, then the access if an observer needs it. False: none did. */
static bool happen(const struct exec_observer *o)
{
	u32 done = 0;
	struct exec_span s = {.space = MEM_GLOBAL, .end = 4, .done = &done};
	struct exec_access a = {.space = MEM_GLOBAL};

	if (o->span && o->span(o->user, &s))
		return false;
	a.done = done;
	o->access(o->user, &a);
	return true;
}

static void test_accesses(void)
{
	struct watch_tee t, inner;
	struct seen all = seen_init(&all), some = seen_init(&some), other = seen_init(&other);

	some.observer.span = other.observer.span = see_span;
	some.has_enough = true;
	watch_tee_init(&inner);
	CHECK(watch_tee_add(&inner, &some.observer) && watch_tee_add(&inner, &other.observer));
	watch_tee_init(&t);
	CHECK(watch_tee_add(&t, &all.observer) && watch_tee_add(&t, &inner.observer));

	CHECK(happen(&t.observer));
	CHECK(all.accesses == 1 && some.accesses == 0 && other.accesses == 1);
	some.has_enough = false;
	other.has_enough = true;
	CHECK(happen(&t.observer));
	CHECK(all.accesses == 2 && some.accesses == 1 && other.accesses == 1);
	CHECK(some.spans == 2 && other.spans == 2);

	CHECK(happen(&inner.observer) && some.accesses == 2 && other.accesses == 1);
	some.has_enough = true;
	CHECK(!happen(&inner.observer) && some.accesses == 2 && other.accesses == 1);
}

static void narrow_to_all(void *user, const struct exec_env *e, struct exec_observer *o)
{
	static const u8 at[1];

	(void)user;
	(void)e;
	o->step_at = at;
}

/* A gang that is quiet to one observer is told to the other, before the micro-ops that it names. */
static void test_steps(void)
{
	struct watch_tee t;
	struct seen rests = seen_init(&rests), names = seen_init(&names), each = seen_init(&each);
	struct exec_observer o;
	struct gang g = {.quiet = true};

	rests.observer.step = names.observer.step = each.observer.step = see_step;
	rests.observer.rests = true;
	names.observer.narrow = narrow_to_all;
	watch_tee_init(&t);
	CHECK(watch_tee_add(&t, &rests.observer) && watch_tee_add(&t, &names.observer));
	o = t.observer;
	o.narrow(o.user, NULL, &o);
	CHECK(o.rests && o.rest_at && !o.step_at);
	o.step(o.user, &g, NULL);
	CHECK(rests.steps == 0 && names.steps == 1);
	g.quiet = false;
	o.step(o.user, &g, NULL);
	CHECK(rests.steps == 1 && names.steps == 2);

	CHECK(watch_tee_add(&t, &each.observer));
	o = t.observer;
	o.narrow(o.user, NULL, &o);
	CHECK(!o.rests && !o.step_at);
}

int main(void)
{
	test_accesses();
	test_steps();
	return check_done();
}
