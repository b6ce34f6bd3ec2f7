/*
 * Fewer choices that make a run fail: those of one launch, of one CTA, then by delta debugging
 * ("Simplifying and Isolating Failure-Inducing Input", 2002), then each as early as possible. A try
 * is a run; one that fails in another way does not count.
 */
#include "src/tools/explore/explore.h"

#include <string.h>

#define SHIFTS 8u

struct attempt {
	struct explore *x;
	struct schedule *s; /* the best so far */
	u32 device;
	const struct explore_run *failed;
	u64 left; /* tries */
	bool broken;
};

/* Does it fail so with these choices? Then they are the best. Takes them. */
static bool try_choices(struct attempt *a, struct schedule *t)
{
	struct explore_run r = {0};
	bool fails = false;

	if (!a->left || a->broken) {
		VEC_FREE(&t->choices);
		return false;
	}
	a->left--;
	schedule_sort(t);
	a->broken = !explore_run(a->x, &r, a->device, t);
	fails = !a->broken && explore_fails(a->x, &r, a->device) &&
		explore_alike(a->x, &r, a->failed);
	explore_run_fini(&r);
	if (fails) {
		VEC_FREE(&a->s->choices);
		a->s->choices.at = t->choices.at;
		a->s->choices.len = t->choices.len;
		a->s->choices.cap = t->choices.cap;
	} else {
		VEC_FREE(&t->choices);
	}
	return fails;
}

/* A schedule like the best one, without its choices. */
static struct schedule bare(const struct attempt *a)
{
	struct schedule t = *a->s;

	t.choices.at = NULL;
	t.choices.len = t.choices.cap = 0;
	return t;
}

static bool keep_if(struct attempt *a, bool (*is)(const struct schedule_choice *c, u64 value),
		    u64 value)
{
	struct schedule t = bare(a);

	for (size_t i = 0; i < a->s->choices.len; i++)
		if (is(&a->s->choices.at[i], value) && !VEC_PUSH(&t.choices, a->s->choices.at[i]))
			a->broken = true;
	if (t.choices.len == a->s->choices.len || !t.choices.len) {
		bool all = t.choices.len != 0;

		VEC_FREE(&t.choices);
		return all;
	}
	return try_choices(a, &t);
}

static bool is_of_launch(const struct schedule_choice *c, u64 launch)
{
	return c->launch == launch;
}

static bool is_of_cta(const struct schedule_choice *c, u64 cta)
{
	return c->cta == cta;
}

static u64 choice_launch(const struct schedule_choice *c)
{
	return c->launch;
}

static u64 cta_of_choice(const struct schedule_choice *c)
{
	return c->cta;
}

/* Those alone that have one value, from the last to the first, while a few tries last. */
static void keep_one(struct attempt *a, u64 (*value)(const struct schedule_choice *c),
		     bool (*is)(const struct schedule_choice *c, u64 value))
{
	u64 last = UINT64_MAX;

	for (size_t i = a->s->choices.len, tries = 8; i-- > 0 && tries && i < a->s->choices.len;) {
		u64 v = value(&a->s->choices.at[i]);

		if (v == last)
			continue;
		last = v;
		tries--;
		if (keep_if(a, is, v))
			return;
	}
}

/* All but those from number `from` on, `n` of them. */
static bool without_part(struct attempt *a, size_t from, size_t n)
{
	struct schedule t = bare(a);

	for (size_t i = 0; i < a->s->choices.len; i++)
		if ((i < from || i >= from + n) && !VEC_PUSH(&t.choices, a->s->choices.at[i]))
			a->broken = true;
	return try_choices(a, &t);
}

static bool keep_part(struct attempt *a, size_t from, size_t n)
{
	struct schedule t = bare(a);

	for (size_t i = from; i < from + n && i < a->s->choices.len; i++)
		if (!VEC_PUSH(&t.choices, a->s->choices.at[i]))
			a->broken = true;
	return try_choices(a, &t);
}

static void delta_debug(struct attempt *a)
{
	size_t parts = 2;

	if (a->s->choices.len)
		without_part(a, 0, a->s->choices.len);
	while (a->left && !a->broken && a->s->choices.len > 1) {
		size_t len = a->s->choices.len, size = (len + parts - 1) / parts;
		bool fewer = false;

		for (size_t at = 0; at < len && !fewer && parts == 2; at += size)
			fewer = keep_part(a, at, size);
		if (fewer)
			continue;
		for (size_t at = 0; at < a->s->choices.len && a->left;) {
			if (without_part(a, at, size))
				fewer = true;
			else
				at += size;
		}
		if (fewer)
			parts = 2;
		else if (size == 1)
			return;
		else
			parts = parts * 2 < a->s->choices.len ? parts * 2 : a->s->choices.len;
	}
}

static void shift_choices(struct attempt *a)
{
	for (size_t i = 0; i < a->s->choices.len; i++)
		for (u32 n = 0; n < SHIFTS && i < a->s->choices.len; n++) {
			struct schedule t = bare(a);

			if (!a->s->choices.at[i].step)
				break;
			for (size_t k = 0; k < a->s->choices.len; k++)
				if (!VEC_PUSH(&t.choices, a->s->choices.at[k]))
					a->broken = true;
			if (!a->broken)
				t.choices.at[i].step--;
			if (!try_choices(a, &t))
				break;
		}
}

bool minimise(struct explore *x, struct schedule *s, u32 device, const struct explore_run *failed)
{
	struct attempt a = {
		.x = x, .s = s, .device = device, .failed = failed, .left = x->o.minimise};

	if (s->choices.len > 1) {
		keep_one(&a, choice_launch, is_of_launch);
		keep_one(&a, cta_of_choice, is_of_cta);
	}
	delta_debug(&a);
	shift_choices(&a);
	return !a.broken;
}
