/*
 * A trace in the Trace Event format, for Perfetto, Chrome and speedscope: calls by thread of the
 * host, work by stream of each device, arrows from calls to their work. Time is that of the
 * emulator's host, or the order of beginnings and ends alone.
 */
#include "src/base/map.h"
#include "src/profile/json_out.h"
#include "src/profile/page/page.h"

#include <stdlib.h>

/* Processes of the format: the host's, and devices from here on. */
#define DEVICE_PROCESS 1000u

struct trace_clock {
	bool is_order;
	VEC(u64) times; /* all beginnings and ends, sorted */
};

static int by_time(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static bool clock_fill(struct trace_clock *c, const struct profile_report *r)
{
	bool ok = true;

	for (size_t i = 0; i < r->events.len; i++)
		ok = ok && VEC_PUSH(&c->times, r->events.at[i].begin) &&
		     VEC_PUSH(&c->times, r->events.at[i].end);
	if (c->times.len)
		qsort(c->times.at, c->times.len, sizeof(c->times.at[0]), by_time);
	return ok;
}

/* In microseconds from the first event on; steps, if the order is all. */
static double clock_read(const struct trace_clock *c, u64 ns)
{
	const u64 *at;

	if (!c->is_order)
		return (double)(ns - c->times.at[0]) / 1000;
	at = bsearch(&ns, c->times.at, c->times.len, sizeof(ns), by_time);
	while (at && at > c->times.at && at[-1] == ns)
		at--;
	return at ? (double)(at - c->times.at) : 0;
}

static void trace_name(const char *what, u64 process, u64 thread, const char *name, u64 number,
		       struct text *out)
{
	text_printf(out,
		    ",\n{\"ph\": \"M\", \"name\": \"%s\", \"pid\": %llu, \"tid\": %llu, "
		    "\"args\": {\"name\": \"%s %llu\"}}",
		    what, (unsigned long long)process, (unsigned long long)thread, name,
		    (unsigned long long)number);
}

/* The first time that it is asked of these two. */
static bool is_first_time(struct map *seen, u64 process, u64 thread)
{
	u64 key[] = {process, thread}, hash = hash_bytes(key, sizeof(key)) | 1;

	return !map_get(seen, hash) && map_set(seen, hash, 1);
}

/* Names of what the event is the first of. */
static void trace_names(const struct profile_event *x, struct map *seen, struct text *out)
{
	u64 process = x->is_work ? DEVICE_PROCESS + x->device : x->process->pid;
	u64 thread = x->is_work ? x->stream : x->thread;

	if (is_first_time(seen, process, UINT64_MAX))
		trace_name("process_name", process, 0, x->is_work ? "device" : "host: process",
			   x->is_work ? x->device : x->process->pid, out);
	if (is_first_time(seen, process, thread))
		trace_name("thread_name", process, thread, x->is_work ? "stream" : "thread", thread,
			   out);
}

static void trace_event(const struct profile_event *x, const struct trace_clock *c,
			struct text *out)
{
	u64 process = x->is_work ? DEVICE_PROCESS + x->device : x->process->pid;
	u64 thread = x->is_work ? x->stream : x->thread;
	double begin = clock_read(c, x->begin), end = clock_read(c, x->end);

	text_printf(out, ",\n{\"ph\": \"X\", \"cat\": \"%s\"",
		    !x->is_work    ? "call"
		    : x->is_launch ? "kernel"
				   : "work");
	json_out_text("name", x->name, out);
	text_printf(out, ", \"pid\": %llu, \"tid\": %llu, \"ts\": %.3f, \"dur\": %.3f",
		    (unsigned long long)process, (unsigned long long)thread, begin,
		    end > begin ? end - begin : 0);
	text_printf(out, ", \"args\": {\"call\": %llu, \"status\": %d}}",
		    (unsigned long long)x->call, x->status);
	if (x->call)
		text_printf(out,
			    ",\n{\"ph\": \"%s\", \"cat\": \"work\", \"name\": \"issues\", \"id\": "
			    "\"%llu.%llu\", \"pid\": %llu, \"tid\": %llu, \"ts\": %.3f%s}",
			    x->is_work ? "f" : "s", (unsigned long long)x->process->pid,
			    (unsigned long long)x->call, (unsigned long long)process,
			    (unsigned long long)thread, begin, x->is_work ? ", \"bp\": \"e\"" : "");
}

/* ---- counters: what is under way on a device ---- */

struct trace_change {
	u64 time;
	u32 device;
	bool is_launch, is_end;
};

/* Ends come before what begins at that time. */
static int by_change(const void *a, const void *b)
{
	const struct trace_change *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (int)y->is_end - (int)x->is_end;
}

static void trace_count(const struct trace_change *at, const struct trace_clock *c,
			const s64 under_way[2], struct text *out)
{
	text_printf(out,
		    ",\n{\"ph\": \"C\", \"name\": \"under way\", \"pid\": %u, \"tid\": 0, "
		    "\"ts\": %.3f, \"args\": {\"kernels\": %lld, \"other work\": %lld}}",
		    DEVICE_PROCESS + at->device, clock_read(c, at->time), (long long)under_way[1],
		    (long long)under_way[0]);
}

static void trace_counters(const struct profile_report *r, const struct trace_clock *c,
			   struct text *out)
{
	VEC(struct trace_change) changes = {0};
	s64 under_way[2] = {0, 0};
	bool ok = true;

	for (size_t i = 0; i < r->events.len; i++) {
		const struct profile_event *x = &r->events.at[i];
		struct trace_change t = {x->begin, x->device, x->is_launch, false};

		ok = ok && (!x->is_work || VEC_PUSH(&changes, t));
		t.time = x->end;
		t.is_end = true;
		ok = ok && (!x->is_work || VEC_PUSH(&changes, t));
	}
	if (changes.len)
		qsort(changes.at, changes.len, sizeof(changes.at[0]), by_change);
	for (size_t i = 0; i < changes.len; i++) {
		const struct trace_change *at = &changes.at[i], *next = at + 1;

		under_way[at->is_launch] += at->is_end ? -1 : 1;
		/* The last one of its time says it. */
		if (i + 1 == changes.len || next->time != at->time || next->device != at->device)
			trace_count(at, c, under_way, out);
	}
	out->failed |= !ok;
	VEC_FREE(&changes);
}

/* Calls that have asked for work. */
static void find_issuers(const struct profile_report *r, struct map *issuers)
{
	for (size_t i = 0; i < r->events.len; i++)
		if (r->events.at[i].is_work)
			is_first_time(issuers, r->events.at[i].process->pid, r->events.at[i].call);
}

static bool has_issued(struct map *issuers, const struct profile_event *x)
{
	u64 key[] = {x->process->pid, x->call};

	return map_get(issuers, hash_bytes(key, sizeof(key)) | 1) != NULL;
}

void page_trace(const struct page *p, struct text *out)
{
	struct trace_clock c = {.is_order = p->is_order};
	const struct profile_report *r = p->report;
	struct map issuers = {0}, seen = {0};

	if (!r || !clock_fill(&c, r)) {
		out->failed |= r != NULL;
		VEC_FREE(&c.times);
		return;
	}
	find_issuers(r, &issuers);
	text_printf(
		out,
		"{\"displayTimeUnit\": \"ns\", \"otherData\": {\"clock\": \"%s\"}, "
		"\"traceEvents\": [\n{\"ph\": \"M\", \"name\": \"trace\", \"pid\": 0, \"tid\": 0, "
		"\"args\": {}}",
		p->is_order ? "order" : "emulation");
	for (size_t i = 0; i < r->events.len; i++) {
		struct profile_event x = r->events.at[i];

		trace_names(&x, &seen, out);
		if (!x.is_work && !has_issued(&issuers, &x))
			x.call = 0;
		trace_event(&x, &c, out);
	}
	trace_counters(r, &c, out);
	text_puts(out, "\n]}\n");
	map_fini(&issuers);
	map_fini(&seen);
	VEC_FREE(&c.times);
}
