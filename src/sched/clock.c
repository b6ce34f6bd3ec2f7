/*
 * Time of the emulated machine: what launches add to it, and what events see of it.
 *
 * A launch begins LAUNCH_NS after what has ended before it, and ends when the last of its CTAs
 * does, by their clocks; one that reads none takes as long as its instructions are guessed to. So
 * the timer of a launch is later than that of every launch it waited for, whatever the host's clock
 * says. Events tell the host's time, and so much more as kernels have waited without taking any;
 * with sched_options.deterministic the machine's alone.
 */
#include "src/sched/sched_int.h"

#include <time.h>

#define LAUNCH_NS 1000u
/* What one launch is guessed to take at most. */
#define GUESS_NS 3600000000000u
#define KHZ 1000000u /* of profiles that do not say */

u64 sched_host_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

static void raise_to(u64 *at, u64 value)
{
	u64 old = __atomic_load_n(at, __ATOMIC_RELAXED);

	while (old < value && !__atomic_compare_exchange_n(at, &old, value, true, __ATOMIC_ACQ_REL,
							   __ATOMIC_RELAXED))
		;
}

u64 sched_time_ns(struct sched_pool *p)
{
	if (p->options.deterministic)
		return __atomic_add_fetch(&p->time_ns, LAUNCH_NS, __ATOMIC_ACQ_REL);
	return sched_host_ns() + __atomic_load_n(&p->ahead_ns, __ATOMIC_ACQUIRE);
}

static u64 guess_cycles(const struct exec_env *e)
{
	const struct program *p = e->program;
	u64 warps = ((u64)e->block[0] * e->block[1] * e->block[2] + WARP_LANES - 1) / WARP_LANES;

	return p->thread_insns * EXEC_RECORD_CYCLES * ((warps + p->gang - 1) / p->gang);
}

void grid_clock_begin(struct sched_grid *g)
{
	struct exec_env *e = &g->launch.env;
	const struct arch *a = e->program->arch;
	struct exec_clock *c = &e->clock;
	u64 sms = a && a->sms > 0 ? (u64)a->sms : 1;

	*c = (struct exec_clock){
		.khz = a && arch_is_known(a, ARCH_FIELD_clock_khz) ? (u32)a->clock_khz : KHZ};
	c->start_ns = __atomic_load_n(&g->pool->time_ns, __ATOMIC_ACQUIRE) + LAUNCH_NS;
	c->start = exec_clock_cycles(c, c->start_ns);
	c->wave = sms * (g->launch.resident_per_sm ? g->launch.resident_per_sm : 1);
	c->step = guess_cycles(e);
	g->last_clock = c->start;
	if (!e->program->reads_clock)
		return;
	g->begun_ns = sched_time_ns(g->pool);
	g->timer_ns = c->start_ns;
	if (e->program->polls)
		c->now = &g->timer_ns;
	if (e->ops->counted)
		e->ops = e->ops->counted;
}

void grid_clock_note(struct sched_grid *g, const struct cta *c)
{
	if (g->launch.env.program->reads_clock)
		raise_to(&g->last_clock, exec_clock_of(c));
}

void grid_clock_end(struct sched_grid *g)
{
	const struct exec_clock *c = &g->launch.env.clock;
	u64 ctas = g->units * g->unit_ctas,
	    waves = ctas <= c->wave ? 1 : (ctas + c->wave - 1) / c->wave, ns, now;

	if (!g->launch.env.program->reads_clock) {
		ns = exec_clock_ns(c, c->step && waves > INT64_MAX / c->step ? INT64_MAX
									     : c->step * waves);
		raise_to(&g->pool->time_ns, c->start_ns + min_u64(ns, GUESS_NS));
		return;
	}
	ns = exec_clock_ns(c, g->last_clock - c->start);
	if (c->now && *c->now > c->start_ns + ns)
		ns = *c->now - c->start_ns;
	raise_to(&g->pool->time_ns, c->start_ns + ns);
	if (g->pool->options.deterministic)
		return;
	now = sched_host_ns();
	if (g->begun_ns + ns > now)
		raise_to(&g->pool->ahead_ns, g->begun_ns + ns - now);
}
