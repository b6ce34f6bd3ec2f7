/*
 * Which schedules are tried: a function of their number and of the natural run.
 *
 * Probabilistic concurrency testing ("A Randomized Scheduler with Probabilistic Guarantees of
 * Finding Bugs", ASPLOS 2010): random priorities, and few points at which the warp that runs loses
 * its own. Each schedule is about one launch and one or two CTAs of it, and most are about places
 * that touched the same memory in the natural run.
 */
#include "src/tools/explore/explore.h"

/* One schedule of so many has no change points at places that touched the same memory. */
#define ELSEWHERE 4u
/* The longest that a warp is held, as a power of two of steps. */
#define STARVE_LOG_MAX 13u

struct dice {
	u64 state;
};

static u64 roll(struct dice *d, u64 below)
{
	d->state += 0x9e3779b97f4a7c15u;
	return hash_bytes(&d->state, sizeof(d->state)) / 65536 % below;
}

static u64 ctas_of(const struct noted_launch *l)
{
	return (u64)l->grid[0] * l->grid[1] * l->grid[2];
}

static const struct noted_launch *launch_number(const struct notes *n, u64 number)
{
	for (size_t i = 0; i < n->launches.len; i++)
		if (n->launches.at[i].number == number)
			return &n->launches.at[i];
	return NULL;
}

/* Any launch, by its steps. */
static const struct noted_launch *roll_launch(const struct notes *n, struct dice *d)
{
	u64 at = roll(d, n->steps + 1);

	for (size_t i = 0; i < n->launches.len; i++) {
		if (at < n->launches.at[i].steps)
			return &n->launches.at[i];
		at -= n->launches.at[i].steps;
	}
	return &n->launches.at[roll(d, n->launches.len)];
}

/* Two CTAs, most often neighbours, or one. */
static void roll_ctas(struct schedule *s, const struct noted_launch *l, struct dice *d)
{
	u64 n = ctas_of(l);

	s->cta[0] = roll(d, 4) ? roll(d, n) : roll(d, 2) ? 0 : n - 1;
	s->cta[1] = roll(d, 2) || n == 1 ? s->cta[0]
		    : roll(d, 4)         ? (s->cta[0] + 1) % n
					 : roll(d, n);
}

static void roll_point(struct schedule *s, const struct noted_pair *p, const struct noted_launch *l,
		       struct dice *d)
{
	u64 ctas = ctas_of(l), focus = s->cta[0] == s->cta[1] ? 1 : 2;
	struct schedule_point x = {.place = UINT32_MAX};

	if (p) {
		u32 side = (u32)roll(d, 2);
		u64 visits = (p->visits[side] + ctas - 1) / ctas * focus;

		x.place = p->place[side];
		x.nth = 1 + roll(d, visits ? visits : 1);
	} else {
		x.nth = 1 + roll(d, l->steps / ctas * focus + 1);
	}
	s->point[s->points++] = x;
}

/* The launch and the CTAs; returns the pair of places that it is about, NULL: none. */
static const struct noted_pair *roll_focus(struct schedule *s, const struct notes *n,
					   struct dice *d, const struct noted_launch **l)
{
	const struct noted_pair *p = NULL;

	if (n->pairs.len && roll(d, ELSEWHERE))
		p = &n->pairs.at[roll(d, n->pairs.len)];
	*l = p ? launch_number(n, p->launch) : NULL;
	if (!*l) {
		p = NULL;
		*l = roll_launch(n, d);
	}
	s->launch = (*l)->number;
	roll_ctas(s, *l, d);
	if (p && (p->cta[0] != p->cta[1] || roll(d, 2))) {
		s->cta[0] = p->cta[0];
		s->cta[1] = p->cta[1];
	}
	return p;
}

static void plan_pct(struct schedule *s, u32 depth, const struct notes *n, struct dice *d)
{
	const struct noted_launch *l;
	const struct noted_pair *p = roll_focus(s, n, d, &l);

	s->kind = SCHEDULE_PCT;
	s->depth = depth;
	for (u32 i = 0; i + 1 < depth; i++)
		roll_point(s, p, l, d);
}

static void plan_starve(struct schedule *s, const struct notes *n, struct dice *d)
{
	const struct noted_launch *l;
	u64 steps;

	roll_focus(s, n, d, &l);
	s->kind = SCHEDULE_STARVE;
	steps = l->steps / ctas_of(l) + 1;
	s->from = roll(d, 2) ? 0 : roll(d, steps);
	s->count = (u64)1 << roll(d, STARVE_LOG_MAX);
}

static void plan_mixed(struct schedule *s, u64 i, u32 depth, const struct notes *n, struct dice *d)
{
	static const u8 kinds[] = {
		SCHEDULE_PCT, SCHEDULE_PCT,    SCHEDULE_RANDOM, SCHEDULE_PCT,
		SCHEDULE_PCT, SCHEDULE_STARVE, SCHEDULE_PCT,    SCHEDULE_LIST,
	};
	u64 round = (i - 1) / ARRAY_LEN(kinds);

	switch (kinds[(i - 1) % ARRAY_LEN(kinds)]) {
	case SCHEDULE_RANDOM:
		s->kind = SCHEDULE_RANDOM;
		break;
	case SCHEDULE_STARVE:
		plan_starve(s, n, d);
		break;
	case SCHEDULE_PCT:
		plan_pct(s, 1 + (u32)((i - 1) % depth), n, d);
		break;
	default:
		/* Once each as they are; then priorities with copies at once. */
		s->eager = round != 0;
		if (round > 1)
			plan_pct(s, 1 + (u32)(round % depth), n, d);
		else
			s->kind = round ? SCHEDULE_LIST : SCHEDULE_REVERSE;
		break;
	}
}

void plan_schedule(struct schedule *s, u64 i, enum strategy strategy, u32 depth,
		   const struct notes *natural)
{
	struct dice d = {i * 0xd1b54a32d192ed03u};

	*s = (struct schedule){.seed = i};
	switch (strategy) {
	case STRATEGY_MIXED:
		plan_mixed(s, i, depth, natural, &d);
		break;
	case STRATEGY_PCT:
		plan_pct(s, 1 + (u32)((i - 1) % depth), natural, &d);
		break;
	case STRATEGY_RANDOM:
		s->kind = SCHEDULE_RANDOM;
		break;
	case STRATEGY_STARVE:
		plan_starve(s, natural, &d);
		break;
	case STRATEGY_EXHAUSTIVE:
		break;
	}
}
