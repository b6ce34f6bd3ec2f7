/*
 * Livelocks: a grid all of whose threads wait for what no thread will ever do. When no CTA of a
 * grid has ended for some time, one worker runs all its CTAs slice by slice and checks whether they
 * repeat themselves (src/exec/probe.h). The argument is in docs/engine.md, "Livelocks".
 */
#include "src/base/clock.h"
#include "src/exec/fpenv.h"
#include "src/exec/probe.h"
#include "src/mem/shared.h"
#include "src/sched/sched_int.h"

#include <signal.h>
#include <stdio.h>

/* Time without the end of a CTA before the first probe; it doubles up to the last. */
#define QUIET_FIRST_NS 300000000u
#define QUIET_MOST_NS 1000000000u
/* Part of the quiet time that a probe may take, and time slices of each CTA in it. */
#define PROBE_SHARE 16u
#define PROBE_SLICES 4096u
/* Deterministic: the same in time slices of all CTAs, which the host's time does not change. */
#define QUIET_FIRST_SLICES 32768u
#define QUIET_MOST_SLICES (2 * PROBE_SHARE * PROBE_SLICES)
#define PROBE_LEAST_SLICES 4u

/* ---- when ---- */

static void ask_for_probe(struct sched_grid *g)
{
	__atomic_fetch_or(&g->pause, PAUSE_PROBE, __ATOMIC_RELEASE);
}

/* Whether there is a probe may not depend on time, nor on what other threads do. */
static void consider_by_slices(struct share *h)
{
	u32 slices = h->waiting.len;

	if (h->ended || !h->quiet_slices) {
		h->ended = false;
		h->quiet_slices = h->quiet_left = QUIET_FIRST_SLICES;
	}
	h->quiet_left -= h->quiet_left < slices ? h->quiet_left : slices;
	if (!h->quiet_left)
		ask_for_probe(h->grid);
}

void probe_consider(struct share *h, u64 now)
{
	struct sched_grid *g = h->grid;

	if (g->pool->options.deterministic) {
		consider_by_slices(h);
		return;
	}
	if (h->ended || !h->quiet_since) {
		h->ended = false;
		h->quiet_since = now;
		h->quiet_ns = QUIET_FIRST_NS;
		return;
	}
	if (now - h->quiet_since < h->quiet_ns)
		return;
	h->quiet_ns = h->quiet_ns * 2 < QUIET_MOST_NS ? h->quiet_ns * 2 : QUIET_MOST_NS;
	h->quiet_since = now;
	if (__atomic_load_n(&g->pool->alive, __ATOMIC_RELAXED) == 1 &&
	    __atomic_load_n(&g->pool->thread_len, __ATOMIC_RELAXED))
		ask_for_probe(g);
}

/* ---- who else may write ---- */

/*
 * The program's handlers of signals may write what the host sees, whatever its threads wait for.
 * Those of faults, and of writes, are not counted: a thread that waits has none.
 */
static bool has_signal_handlers(struct sched_pool *p)
{
	static const int faults[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,
				     SIGTRAP, SIGABRT, SIGPIPE, SIGXFSZ};
	bool (*is_apart)(int number, const struct sigaction *a) =
		__atomic_load_n(&p->handler_is_apart, __ATOMIC_ACQUIRE);
	struct sigaction a;
	sigset_t uncounted;

	sigemptyset(&uncounted);
	for (u32 i = 0; i < ARRAY_LEN(faults); i++)
		sigaddset(&uncounted, faults[i]);
	for (int s = 1; s <= SIGRTMAX; s++)
		if (!sigismember(&uncounted, s) && !sigaction(s, NULL, &a) &&
		    a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN &&
		    !(is_apart && is_apart(s, &a)))
			return true;
	return false;
}

bool grid_is_alone(const struct sched_grid *g, u64 *rests)
{
	bool host_sees;

	if (__atomic_load_n(&g->pool->alive, __ATOMIC_ACQUIRE) != 1 ||
	    !sched_all_rest(g->pool, rests))
		return false;
	if (mem_is_shared(g->launch.env.mem, &host_sees))
		return false;
	return !host_sees || !has_signal_handlers(g->pool);
}

/* May further CTAs begin while none ends? */
static bool grid_may_begin(const struct sched_grid *g)
{
	bool some = false;
	u64 resident = 0;

	for (u32 i = 0; i < g->shares; i++) {
		some |= g->share[i].next < g->share[i].end ||
			g->share[i].chunk < g->share[i].chunk_end;
		resident += g->share[i].waiting.len;
	}
	return some && resident < grid_resident_units(g);
}

/* ---- the probe ---- */

struct probing {
	struct sched_grid *grid;
	struct exec_probe probe;
	const struct exec_ops *ops; /* of the launch */
	u64 end_ns;
};

static void attach_probe(struct probing *p, struct cta_slot *s, bool on)
{
	for (; s; s = s->mate) {
		s->env.ops = on ? &p->probe.ops : p->ops;
		s->probe_random = s->cta.random;
	}
}

static u64 slot_state(const struct cta_slot *s)
{
	u64 hash = 0;

	for (; s; s = s->mate)
		hash = hash * 31 + exec_probe_state(&s->cta);
	return hash;
}

/*
 * One time slice; a seeded run has the same random numbers in each. Returns whether its CTAs just
 * went on.
 */
static bool probe_slice(struct probing *p, struct share *h, struct cta_slot *s)
{
	enum exec_stop stop;

	for (struct cta_slot *m = s; m; m = m->mate)
		m->cta.random = m->probe_random;
	stop = s->cta.cluster ? exec_cluster_run(&s->cluster, POLL_BUDGET)
			      : exec_cta_run(&s->cta, POLL_BUDGET);
	if (stop != STOP_YIELD) {
		attach_probe(p, s, false);
		share_settle(h, s, stop);
		return false;
	}
	slot_push(&h->waiting, s);
	return !p->probe.moved;
}

/*
 * Is the state one that was seen before? It is kept at time slices whose numbers are powers of two.
 */
static void compare_states(struct cta_slot *s, u32 slice)
{
	u64 state = slot_state(s);

	s->probe_still |= slice > 1 && state == s->probe_state;
	if (!(slice & (slice - 1)))
		s->probe_state = state;
}

/*
 * All CTAs have a time slice. still: all have repeated themselves. Returns false when one of them
 * gets further.
 */
static bool probe_round(struct probing *p, u32 slice, bool *still)
{
	struct sched_grid *g = p->grid;

	*still = true;
	for (u32 i = 0; i < g->shares; i++) {
		struct share *h = &g->share[i];

		for (u32 n = h->waiting.len; n; n--) {
			struct cta_slot *s = slot_pop(&h->waiting);

			if (!probe_slice(p, h, s))
				return false;
			compare_states(s, slice);
			*still &= s->probe_still;
		}
		if (clock_ns() > p->end_ns || __atomic_load_n(&g->stop, __ATOMIC_RELAXED))
			return false;
	}
	return true;
}

static void set_all(struct probing *p, bool on)
{
	for (u32 i = 0; i < p->grid->shares; i++)
		for (struct cta_slot *s = p->grid->share[i].waiting.first; s; s = s->next) {
			attach_probe(p, s, on);
			s->probe_still = false;
		}
}

/* Do lanes that share a program counter keep each other from running? */
static bool has_blocked_lanes(const struct sched_grid *g)
{
	bool found = false;

	for (u32 i = 0; i < g->shares && !g->launch.env.program->arch->has_its; i++)
		for (const struct cta_slot *s = g->share[i].waiting.first; s; s = s->next)
			for (u32 w = 0; w < s->cta.warps; w++)
				found |= s->cta.warp[w].groups > 1;
	return found;
}

/* Deterministic: time slices of each CTA in a probe, and when the next one comes. */
static u32 count_slices(struct share *h)
{
	u32 ctas = h->waiting.len ? h->waiting.len : 1,
	    slices = h->quiet_slices / PROBE_SHARE / ctas;

	h->quiet_slices = (u32)min_u64(h->quiet_slices * 2u, QUIET_MOST_SLICES);
	h->quiet_left = h->quiet_slices;
	return slices < PROBE_LEAST_SLICES ? PROBE_LEAST_SLICES : slices;
}

/* A grid of many CTAs, for which the last probe had not the time, gets more of it. */
static u32 probe_parts(struct sched_grid *g)
{
	g->probe_parts = !g->probe_late ? 1 : (u32)min_u64(g->probe_parts * 2u, PROBE_SHARE / 2);
	return g->probe_parts;
}

/* Returns whether all CTAs have repeated themselves. */
static bool run_probe(struct probing *p, u32 slices)
{
	struct sched_grid *g = p->grid;
	u32 host_mode = fpenv_enter();
	bool still = false;

	exec_probe_init(&p->probe, g->launch.env.ops);
	set_all(p, true);
	for (u32 slice = 1; slice <= slices && !still; slice++)
		if (!probe_round(p, slice, &still)) {
			still = false;
			break;
		}
	set_all(p, false);
	fpenv_leave(host_mode);
	for (u32 i = 0; i < g->shares; i++)
		share_report(&g->share[i]);
	return still;
}

void grid_probe(struct sched_grid *g)
{
	struct probing p = {.grid = g, .ops = g->launch.env.ops, .end_ns = UINT64_MAX};
	bool counted = g->pool->options.deterministic, alone, still;
	u64 before, after;
	u32 slices = PROBE_SLICES;
	struct fault f = {.kind = FAULT_DEADLOCK, .livelock = !has_blocked_lanes(g)};

	alone = grid_is_alone(g, &before);
	if (counted)
		slices = count_slices(&g->share[0]);
	else
		p.end_ns = clock_ns() + g->share[0].quiet_ns / PROBE_SHARE * probe_parts(g);
	if (grid_may_begin(g) || (!alone && !counted))
		return;
	still = run_probe(&p, slices);
	g->probe_late = !counted && clock_ns() > p.end_ns;
	if (!still || !alone || !grid_is_alone(g, &after) || before != after)
		return;
	snprintf(
		f.text, sizeof(f.text), "%s",
		!f.livelock
			? "lanes that share a program counter keep each other from running"
			: "livelock: every thread repeats itself, and no thread changes what it reads");
	grid_fail(g, &f);
}
