/*
 * Time of the emulated machine: what launches add to it, and what events see of it.
 *
 * A launch begins LAUNCH_NS after what has ended before it, and ends when the last of its CTAs
 * does, by their clocks; one that reads none takes as long as its instructions are guessed to. So
 * the timer of a launch is later than that of every launch it waited for, whatever the host's clock
 * says. Events tell the host's time, and so much more as kernels have waited without taking any;
 * with sched_options.deterministic the machine's alone.
 */
#include "src/base/clock.h"
#include "src/sched/sched_int.h"

#define LAUNCH_NS 1000u
/* What one launch is guessed to take at most. */
#define GUESS_NS 3600000000000u
#define KHZ 1000000u /* of profiles that do not say */

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
	return clock_ns() + __atomic_load_n(&p->ahead_ns, __ATOMIC_ACQUIRE);
}

static u64 guess_cycles(const struct exec_env *e)
{
	const struct program *p = e->program;
	u64 threads = (u64)e->block[0] * e->block[1] * e->block[2], lanes = p->gang * WARP_LANES,
	    gangs = threads <= lanes ? 1 : (threads + lanes - 1) / lanes;

	return p->thread_insns * EXEC_UOP_CYCLES * gangs;
}

static void set_rates(struct sched_grid *g)
{
	struct exec_env *e = &g->launch.env;
	const struct arch *a = e->program->arch;
	u32 sms = a && a->sms > 0 ? (u32)a->sms : 1,
	    resident = g->launch.resident_per_sm ? g->launch.resident_per_sm : 1;

	e->clock.khz = a && a->clock_khz > 0 ? (u32)a->clock_khz : KHZ;
	e->clock.wave = (u64)sms * resident;
	e->clock.step = guess_cycles(e);
}

/* What clocks are read with: in the launch of a program that does, or of one that is debugged. */
static void prepare_clock(struct sched_grid *g)
{
	struct exec_env *e = &g->launch.env;
	struct exec_clock *c = &e->clock;

	set_rates(g);
	c->start = exec_clock_cycles(c, c->start_ns);
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

void grid_clock_begin(struct sched_grid *g)
{
	struct exec_clock *c = &g->launch.env.clock;

	c->start_ns = __atomic_load_n(&g->pool->time_ns, __ATOMIC_ACQUIRE) + LAUNCH_NS;
	c->now = NULL;
	if (g->launch.env.program->reads_clock || g->pool->debug)
		prepare_clock(g);
}

void grid_clock_note(struct sched_grid *g, const struct cta *c)
{
	if (g->launch.env.program->reads_clock)
		raise_to(&g->last_clock, exec_clock_of(c));
}

/* How long a launch took that read no clock. */
static u64 guess_ns(struct sched_grid *g)
{
	const struct exec_clock *c = &g->launch.env.clock;
	u64 ctas = g->units * g->unit_ctas, waves, cycles;

	set_rates(g);
	waves = ctas <= c->wave ? 1 : (ctas + c->wave - 1) / c->wave;
	if (__builtin_mul_overflow(c->step, waves, &cycles) || cycles > INT64_MAX)
		cycles = INT64_MAX;
	return min_u64(exec_clock_ns(c, cycles), GUESS_NS);
}

void grid_clock_end(struct sched_grid *g)
{
	const struct exec_clock *c = &g->launch.env.clock;
	u64 ns, now;

	if (!g->launch.env.program->reads_clock) {
		raise_to(&g->pool->time_ns, c->start_ns + guess_ns(g));
		return;
	}
	ns = exec_clock_ns(c, g->last_clock - c->start);
	if (c->now && *c->now > c->start_ns + ns)
		ns = *c->now - c->start_ns;
	raise_to(&g->pool->time_ns, c->start_ns + ns);
	if (g->pool->options.deterministic)
		return;
	now = clock_ns();
	if (g->begun_ns + ns > now)
		raise_to(&g->pool->ahead_ns, g->begun_ns + ns - now);
}
