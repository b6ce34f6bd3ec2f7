/*
 * The clocks that device code reads: they count what the emulated machine has done, never the
 * host's time, so that a program that reads them does the same every time.
 *
 * Programs that read a clock run with a loop that adds EXEC_UOP_CYCLES to the gang's clock for
 * every micro-op. A CTA begins where the launch began, later by a guess for each wave of CTAs
 * before it. Barriers bring the gangs of a CTA to one time. A loop that does nothing but wait for a
 * clock is marked by lowering, and its time runs faster the longer it waits. PTX ISA "Special
 * Registers: %clock, %clock64, %globaltimer", "nanosleep".
 */
#include "src/exec/exec.h"

/* A loop that waits reads its clock again within so many cycles, or it is another wait. */
#define WAIT_GAP 65536u
/* Part of the time waited so far by which a waiting loop's clock jumps. */
#define WAIT_PART 8u
/* What nanosleep sleeps at most. */
#define SLEEP_MAX_NS 1000000u

/* a * b / c; a division of 128 bits costs what a small launch does. c is not 0. */
static inline u64 scale_time(u64 a, u64 b, u64 c)
{
	u64 product;

	if (PL_LIKELY(!__builtin_mul_overflow(a, b, &product)))
		return product / c;
	return (u64)((unsigned __int128)a * b / c);
}

u64 exec_clock_cycles(const struct exec_clock *c, u64 ns)
{
	return scale_time(ns, c->khz, 1000000u);
}

u64 exec_clock_ns(const struct exec_clock *c, u64 cycles)
{
	return c->khz ? scale_time(cycles, 1000000u, c->khz) : 0;
}

void exec_clock_start(struct cta *c)
{
	const struct exec_clock *k = &c->env->clock;
	u64 wave = k->wave ? c->number / k->wave : 0;

	for (u32 i = 0; i < c->gangs; i++) {
		c->gang[i].clock = k->start + wave * k->step;
		c->gang[i].wait_pc = NO_PC;
	}
}

u64 exec_clock_of(const struct cta *c)
{
	u64 last = 0;

	for (u32 i = 0; i < c->gangs; i++)
		last = c->gang[i].clock > last ? c->gang[i].clock : last;
	return last;
}

void exec_clock_meet(struct cta *c)
{
	u64 last = exec_clock_of(c);

	for (u32 i = 0; i < c->gangs; i++)
		c->gang[i].clock = last;
}

/*
 * Where CTAs wait for others the timer never goes back between them: a reader sees at least what
 * any other thread of the launch has seen.
 */
static u64 latest(u64 *now, u64 mine)
{
	u64 seen = __atomic_load_n(now, __ATOMIC_ACQUIRE);

	while (seen < mine && !__atomic_compare_exchange_n(now, &seen, mine, true, __ATOMIC_ACQ_REL,
							   __ATOMIC_ACQUIRE))
		;
	return seen < mine ? mine : seen;
}

static u64 timer(const struct gang *g)
{
	const struct exec_clock *k = &g->env->clock;
	u64 ns = k->start_ns + exec_clock_ns(k, g->clock - k->start);

	return EXEC_TIMER_EPOCH + (k->now ? latest(k->now, ns) : ns);
}

u64 exec_clock_read(struct gang *g, u32 sreg)
{
	/*
	 * One micro-op's time passes in any case: engines that do not count micro-ops get ahead,
	 * too.
	 */
	g->clock++;
	switch (sreg) {
	case SR_clock:
		return (u32)g->clock;
	case SR_clock_hi:
		return g->clock >> 32;
	case SR_clock64:
		return g->clock;
	case SR_globaltimer_lo:
		return (u32)timer(g);
	case SR_globaltimer_hi:
		return timer(g) >> 32;
	default:
		return timer(g);
	}
}

void exec_clock_wait(struct gang *g, u32 pc, bool waits, u32 warps)
{
	if (!waits) {
		g->wait_pc = NO_PC;
		return;
	}
	if (g->wait_pc == pc && g->clock - g->wait_last <= WAIT_GAP) {
		/* Warps that run one by one wait at the same time: each adds its share. */
		g->clock += (g->clock - g->wait_from) / WAIT_PART * warps / g->warps;
	} else {
		g->wait_pc = pc;
		g->wait_from = g->clock;
	}
	g->wait_last = g->clock;
}

void exec_clock_sleep(struct gang *g, u32 ns, u32 warps)
{
	u64 cycles = exec_clock_cycles(&g->env->clock, ns < SLEEP_MAX_NS ? ns : SLEEP_MAX_NS);

	/* Warps that run one by one sleep at the same time all the same. */
	cycles = cycles * warps / g->warps;
	g->clock += cycles;
	g->wait_last += cycles;
}
