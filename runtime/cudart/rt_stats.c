/*
 * `ptxloom run --stats` (PTXLOOM_STATS=1): one block on standard error when the process ends, that
 * says where its time went.
 */
#include "runtime/process.h"
#include "runtime/rt.h"
#include "src/base/setting.h"
#include "src/base/stats.h"
#include "src/dev/device.h"
#include "src/tier/tier.h"
#include "src/watch/insns.h"

#include <stdio.h>

void rt_stats_open(void)
{
	if (setting_number(SETTING_STATS, 0))
		stats_open();
}

/* Coverage, if it is wanted, gets the counts as well. */
static void add_instructions(void *user, const struct program *p, const struct exec_count *counts)
{
	const struct rt_counts *c = user;
	struct watch_insns x = watch_insns_of(p, counts);
	u64 n = 0;

	for (u32 i = 0; i < p->insn_len; i++)
		n += watch_insn_at(&x, i).threads;
	stats_add(STATS_EXECUTE, 0, 0, n);
	if (c->next)
		c->next(c->next_user, p, counts);
}

/* Not of observed launches, which have counts of their own, nor beside compiled runs. */
static bool counts_instructions(void)
{
	return stats_on() && !the_process.checks && !the_process.debugger && !the_process.profile &&
	       !device_compiles();
}

void rt_stats_device(struct rt_device *d)
{
	if (!counts_instructions())
		return;
	d->counts = (struct rt_counts){d->dev.on_counts, d->dev.on_counts_user};
	d->dev.counts |= LOWER_COUNT_INSNS;
	d->dev.on_counts = add_instructions;
	d->dev.on_counts_user = &d->counts;
}

/* ---- the block ---- */

static void stats_bytes(u64 bytes, char *out, size_t size)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double x = (double)bytes;
	u32 i = 0;

	for (; x >= 1024 && i + 1 < ARRAY_LEN(units); i++)
		x /= 1024;
	snprintf(out, size, i ? "%.1f %s" : "%.0f %s", x, units[i]);
}

static void stats_line(const char *name, struct stats_total t, const char *rest)
{
	fprintf(stderr, "ptxloom: stats:   %-8s %11.3f ms  %s\n", name, (double)t.ns / 1e6, rest);
}

static void stats_line_bytes(const char *name, enum stats_phase phase, const char *what)
{
	struct stats_total t = stats_get(phase);
	char bytes[32], rest[96];

	stats_bytes(t.amount, bytes, sizeof(bytes));
	snprintf(rest, sizeof(rest), "%llu %s, %s", (unsigned long long)t.times, what, bytes);
	stats_line(name, t, rest);
}

static void stats_line_execute(u64 launches)
{
	struct stats_total t = stats_get(STATS_EXECUTE);
	char rest[128];

	if (counts_instructions())
		snprintf(rest, sizeof(rest),
			 "%llu launches, %llu thread instructions, %.2f G/s for each worker",
			 (unsigned long long)launches, (unsigned long long)t.amount,
			 t.ns ? (double)t.amount / (double)t.ns : 0);
	else
		snprintf(rest, sizeof(rest),
			 "%llu launches; instructions are not counted beside %s",
			 (unsigned long long)launches,
			 device_compiles() ? "compiled runs" : "checks, profiles and debuggers");
	stats_line("execute", t, rest);
}

/* Of tier 2, where it has compiled anything. */
static void stats_line_compile(void)
{
	struct stats_total t = stats_get(STATS_COMPILE);
	char rest[64];

	if (!t.times)
		return;
	snprintf(rest, sizeof(rest), "%llu runs of micro-ops, by LLVM",
		 (unsigned long long)t.amount);
	stats_line("compile", t, rest);
}

/* What compiled code has done of it. */
static void stats_line_code(void)
{
	char rest[128];

	if (tier_stats_text(rest, sizeof(rest)))
		fprintf(stderr, "ptxloom: stats:   code        %s\n", rest);
}

/* Lines of both numbers of what counts. */
static void stats_line_times(const char *name, enum stats_phase phase, const char *what,
			     const char *amount)
{
	struct stats_total t = stats_get(phase);
	char rest[96];
	int n = snprintf(rest, sizeof(rest), "%llu %s", (unsigned long long)t.times, what);

	if (amount)
		snprintf(rest + n, sizeof(rest) - (size_t)n, ", %llu %s",
			 (unsigned long long)t.amount, amount);
	stats_line(name, t, rest);
}

void rt_stats_print(const struct rt *rt)
{
	u64 elapsed = stats_elapsed_ns(), busy = stats_get(STATS_EXECUTE).ns;
	u32 workers = rt->pool ? sched_workers(rt->pool) : 0;

	if (!stats_on() || the_process.is_forked || !workers)
		return;
	fprintf(stderr, "ptxloom: stats: %.3f ms from the first call of CUDA to the end\n",
		(double)elapsed / 1e6);
	stats_line_bytes("parse", STATS_PARSE, "modules");
	stats_line_times("lower", STATS_LOWER, "kernels", "micro-ops");
	stats_line_compile();
	stats_line_code();
	stats_line_execute(stats_get(STATS_LAUNCH).times);
	stats_line_bytes("copy", STATS_COPY, "copies");
	stats_line_times("wait", STATS_WAIT, "times the program waited for a device", NULL);
	fprintf(stderr, "ptxloom: stats:   workers  %10.1f %%   of %u in use\n",
		elapsed ? 100.0 * (double)busy / ((double)elapsed * workers) : 0, workers);
	stats_close();
}
