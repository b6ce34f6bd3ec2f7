/*
 * What is reported of launches on standard error. PTXLOOM_LOG=api: why one was refused
 * (entry_log.h: that it was). Without it: launches of the form k<<<..>>>(..) that were refused,
 * when the program never asks for their error; it cannot see it otherwise. PTXLOOM_LOG=launch:
 * every kernel.
 */
#include "runtime/check_calls.h"
#include "runtime/device_choice.h"
#include "src/profile/trace.h"
#include "src/base/demangle.h"
#include "src/check/choice.h"
#include "src/check/fault.h"
#include "src/check/order/between.h"
#include "src/base/setting.h"
#include "src/check/record.h"
#include "src/check/snapshot.h"
#include "src/dbg/host/host_lines.h"
#include "src/dev/record/record.h"
#include "src/profile/collect.h"
#include "src/profile/kept/kept.h"

#include <stdio.h>

static struct process_refusals *const refusals = &the_process.refusals;
static struct process_overruns *const overruns = &the_process.overruns;

static _Thread_local u64 unread;      /* of the thread, part of refusals->count */
static _Thread_local bool configured; /* the thread's next launch was written as k<<<..>>>(..) */
static _Thread_local struct host_from configured_by;

static const char *report_status_name(int status)
{
	const struct status_info *s = status_info(status);

	return !s ? "an unknown error" : s->runtime ? s->runtime : s->driver;
}

/* Notes about accesses that are printed in full. */
#define OVERRUNS_SHOWN 10u

/* ---- launches ---- */

static void say_shape(const u32 *grid, const u32 *block, u32 dynamic_bytes, struct text *t)
{
	text_printf(t, "<<<(%u,%u,%u), (%u,%u,%u), %u>>>", grid[0], grid[1], grid[2], block[0],
		    block[1], block[2], dynamic_bytes);
}

static void say_refusal(const struct device_launch *l, const char *name, int status, struct text *t)
{
	text_puts(t, "the launch of ");
	demangle(name ? name : "a kernel", t);
	say_shape(l->grid, l->block, l->dynamic_bytes, t);
	text_printf(t, " failed: %s (%d), ", report_status_name(status), status);
	device_launch_explain(l, (enum status)status, t);
}

static void keep_report(const struct text *t)
{
	pthread_mutex_lock(&refusals->lock);
	unread++;
	if (!refusals->count++ || !refusals->first.len) {
		text_fini(&refusals->first);
		refusals->first = (struct text){0};
		text_add(&refusals->first, t->at, t->len);
		refusals->owner = &unread;
	}
	pthread_mutex_unlock(&refusals->lock);
}

void rt_report_configured(const void *by)
{
	rt_get(); /* Are stacks kept? This may be the first call. */
	configured_by = (struct host_from){by, host_trace_here(by)};
}

void rt_report_launching(void)
{
	configured = true;
}

struct host_from rt_report_from(void)
{
	return configured ? configured_by : (struct host_from){NULL, host_trace_here(NULL)};
}

void rt_report_launch(const struct device_launch *l, const char *name, int status)
{
	bool hidden = configured, log;
	struct text t = {0};

	configured = false;
	if (PL_LIKELY(status == cudaSuccess))
		return;
	check_call_refused(l, status, l->from);
	log = setting_has(SETTING_LOG, "api") || setting_has(SETTING_LOG, "calls");
	/* A fault was told already, and what follows fails because of it. */
	if (!log && (!hidden || rt_fault_seen()))
		return;
	say_refusal(l, name, status, &t);
	if (log && t.at)
		fprintf(stderr, "ptxloom: api: %s\n", t.at);
	if (hidden && !rt_fault_seen() && t.at)
		keep_report(&t);
	text_fini(&t);
}

void rt_report_read(void)
{
	if (PL_LIKELY(!unread))
		return;
	pthread_mutex_lock(&refusals->lock);
	refusals->count -= unread;
	unread = 0;
	if (refusals->owner == &unread) {
		text_fini(&refusals->first);
		refusals->first = (struct text){0};
		refusals->owner = NULL;
	}
	pthread_mutex_unlock(&refusals->lock);
}

/* ---- accesses outside allocations ---- */

static u64 key(const struct device_kernel *k, u64 place, u64 kind)
{
	u64 parts[3] = {(u64)(uintptr_t)k, place, kind};

	return hash_bytes(parts, sizeof(parts)) | 1;
}

/* True the first time. Without memory all are first times. */
static bool is_new(u64 which)
{
	if (map_get(&overruns->seen, which))
		return false;
	map_set(&overruns->seen, which, 1);
	return true;
}

/* Hardware goes on, and so does the kernel. */
static void find_overrun(const struct device_kernel *k, const struct program *p,
			 const struct fault *f, struct host_from from)
{
	struct sched_end end = {.fault = f};
	struct device_fault fault;
	struct finding found;

	device_fault_describe(k, p, &end, from, &fault);
	fault_finding(&fault, &found);
	found.mem = &k->owner->dev->mem;
	findings_add(&the_process.findings, &found);
	device_fault_fini(&fault);
}

void rt_report_overrun(const struct device_kernel *k, const struct program *p,
		       const struct fault *f, struct host_from from)
{
	struct text t = {0};

	if (the_process.checks & CHECK_MEM) {
		pthread_mutex_lock(&overruns->lock);
		if (!is_new(key(k, f->pc, 0)))
			k = NULL;
		pthread_mutex_unlock(&overruns->lock);
		if (k)
			find_overrun(k, p, f, from);
		return;
	}

	pthread_mutex_lock(&overruns->lock);
	overruns->accesses++;
	if (is_new(key(k, f->pc, 0)) && is_new(key(k, device_line_key(p, f->pc), 1)) &&
	    overruns->places++ < OVERRUNS_SHOWN)
		device_overrun_describe(k, p, f, &t);
	if (t.at)
		fputs(t.at, stderr);
	pthread_mutex_unlock(&overruns->lock);
	text_fini(&t);
}

static void sum_up_overruns(void)
{
	pthread_mutex_lock(&overruns->lock);
	if (overruns->places)
		fprintf(stderr,
			"ptxloom: note: %llu accesses outside allocations that hardware does not detect, on %llu "
			"lines of kernels; "
			"they are faults with `ptxloom run --check=mem` or PTXLOOM_CHECK=mem\n",
			(unsigned long long)overruns->accesses,
			(unsigned long long)overruns->places);
	map_fini(&overruns->seen);
	overruns->places = 0;
	pthread_mutex_unlock(&overruns->lock);
}

void rt_report_forget(void)
{
	unread = 0;
	configured = false;
}

/* ---- findings, for ptxloom_findings ---- */

/* NULL: nothing is looked for. */
static struct findings *current_findings(void)
{
	rt_get();
	return the_process.checks && !the_process.is_forked ? &the_process.findings : NULL;
}

const struct ptxloom_findings *plrt_findings(void)
{
	return findings_snapshot(current_findings());
}

void plrt_findings_clear(void)
{
	struct findings *l = current_findings();

	if (l)
		findings_clear(l);
}

struct profile_kept *plrt_counters(void)
{
	rt_get();
	return the_process.is_forked ? NULL : the_process.kept;
}

/* ---- the end ---- */

/* Of a process that has used a device. l: NULL without checks. */
static void record_end(const struct findings *l)
{
	struct rt *rt = &the_process.rt;
	struct record_process p = {.devices = plrt_device_spec(false),
				   .checks = setting_text(SETTING_CHECK)};
	bool is_used = false;

	if (!record_is_on() || the_process.is_forked)
		return;
	for (u32 i = 0; i < rt->list.len; i++) {
		is_used |= rt->device[i].is_open;
		p.launches += rt->device[i].is_open ? rt->device[i].dev.grids : 0;
	}
	if (l)
		record_count(&p, l);
	if (is_used)
		record_process(&p);
}

/* Has a check found something? */
static bool sum_up_findings(void)
{
	bool failed;

	if (!the_process.checks || the_process.is_forked) {
		record_end(NULL);
		return false;
	}
	check_calls_leaks(-1);
	between_finish(the_process.between);
	failed = findings_fail(&the_process.findings);
	record_end(&the_process.findings);
	check_choice_say(the_process.findings.choice);
	findings_close(&the_process.findings);
	host_trace_begin(NULL);
	host_lines_close();
	the_process.checks = 0;
	return failed;
}

bool rt_report_exit(void)
{
	bool failed;

	rt_stats_print(&the_process.rt);
	sum_up_overruns();
	failed = sum_up_findings();
	/* It may be the first that wants the process's settings. */
	if (!the_process.is_forked)
		rt_images_cover_rest();
	if (!the_process.is_forked)
		profile_trace_stop(the_process.trace);
	if (!the_process.is_forked)
		profile_close(the_process.profile);
	the_process.profile = NULL;
	if (!the_process.is_forked)
		profile_kept_free(the_process.kept);
	the_process.kept = NULL;
	if (the_process.recorder && !the_process.is_forked)
		recorder_say_end(the_process.recorder);
	pthread_mutex_lock(&refusals->lock);
	if (refusals->first.len) {
		fprintf(stderr, "ptxloom: note: %s", refusals->first.at);
		if (refusals->count > 1)
			fprintf(stderr, "; %llu more failed",
				(unsigned long long)refusals->count - 1);
		fputs("; the program never asked for the error (cudaGetLastError)\n", stderr);
	}
	text_fini(&refusals->first);
	refusals->first = (struct text){0};
	pthread_mutex_unlock(&refusals->lock);
	return failed;
}

void rt_report_end(const struct device *d, const struct device_ended *e)
{
	struct text t = {0};

	text_puts(&t, "ptxloom: launch: ");
	demangle(e->kernel->func->name->text, &t);
	say_shape(e->grid, e->block, e->dynamic_bytes, &t);
	text_printf(&t, " on device %u: %.3f ms\n", d->number, (double)e->ns / 1e6);
	if (t.at)
		fputs(t.at, stderr);
	text_fini(&t);
}
