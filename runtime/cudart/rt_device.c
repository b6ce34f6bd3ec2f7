/*
 * Devices of the runtime interface: the process's state, the current device, properties,
 * attributes, waiting.
 */
#include "runtime/cuda/drv.h"
#include "runtime/check_calls.h"
#include "runtime/device_choice.h"
#include "runtime/inject.h"
#include "src/profile/trace.h"
#include "src/base/demangle.h"
#include "src/base/setting.h"
#include "src/check/checks.h"
#include "src/check/process.h"
#include "src/cover/collect.h"
#include "src/dbg/host/host_lines.h"
#include "src/debugger/debugger.h"
#include "src/dev/module/nested.h"
#include "src/dev/record/record.h"
#include "src/profile/collect.h"
#include "src/profile/kept/kept.h"
#include "src/sched/debug.h"
#include "src/sched/rest.h"
#include "src/usage/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static void at_exit(void)
{
	__atomic_store_n(&the_process.is_exiting, true, __ATOMIC_RELAXED);
	if (the_process.debugger && !the_process.is_forked)
		debugger_exiting(the_process.debugger);
}

/* `ptxloom debug` has started the program: everything happens in one order. */
static bool rt_attach_debugger(struct rt *rt)
{
	struct text why = {0};

	mem_fix_addresses();
	the_process.debugger = debugger_attach(&why);
	if (!the_process.debugger)
		fprintf(stderr, "ptxloom: error: %s\n", why.at);
	text_fini(&why);
	rt->settings.sched.workers = 1;
	rt->settings.sched.deterministic = true;
	return the_process.debugger != NULL;
}

/* PTXLOOM_HOST_ACCESS=1: the host may touch device memory, as no GPU lets it. */
static bool hides_memory(void)
{
	return !setting_number(SETTING_HOST_ACCESS, 0);
}

/* Said once. */
static void say_no_room(void)
{
	static bool said;
	struct rlimit limit;

	if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		return;
	if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
		fprintf(stderr,
			"ptxloom: error: a device does not fit in the %llu MiB of address space that the process may "
			"use (ulimit -v)\n",
			(unsigned long long)limit.rlim_cur >> 20);
	else
		fputs("ptxloom: error: the system has no address space for the memory of a device\n",
		      stderr);
}

/* A variable of CUDA's: anything but 0. */
static bool is_set(const char *name)
{
	const char *s = getenv(name);

	return s && *s && strcmp(s, "0") != 0;
}

/* What PTXLOOM_CHECK asks for. False, with a line in `why`: it cannot be. */
static bool look_for(struct rt *rt, struct text *why)
{
	the_process.checks = rt->settings.checks;
	if (!the_process.checks)
		return true;
	if (!findings_open(&the_process.findings, the_process.checks, why))
		return false;
	the_process.findings.add_origin = check_calls_add_near;
	host_trace_begin(host_lines_open());
	demangle_prepare();
	if (the_process.debugger)
		debugger_checks(the_process.debugger, &the_process.findings);
	if (!(the_process.checks & CHECKS_WATCHING))
		return true;
	/* What is found is found in one order of events. */
	rt->settings.sched.workers = 1;
	return true;
}

/* What PTXLOOM_COUNTERS asks for. False: no memory. */
static bool counters_begin(void)
{
	u64 counting = setting_number(SETTING_COUNTERS, 0);

	if (!counting)
		return true;
	return profile_keep(&the_process.profile, counting + 1 == PTXLOOM_COUNT_CACHES,
			    &the_process.kept);
}

/* What PTXLOOM_PROFILE asks for. False, with a line in `why`: it cannot be. */
static bool profile_begin(struct rt *rt, struct text *why)
{
	the_process.profile = profile_open(why);
	profile_say_devices(the_process.profile, &rt->list);
	if (profile_has_variables(the_process.profile)) {
		if (!the_process.checks)
			host_trace_begin(host_lines_open());
		profile_say_origin(the_process.profile, check_calls_say_origin);
	}
	if (!the_process.profile && why->len)
		return false;
	if (!counters_begin()) {
		text_puts(why, "no memory left");
		return false;
	}
	if (the_process.profile && the_process.debugger) {
		text_puts(why, profile_why_not_debugged);
		return false;
	}
	rt->settings.sched.deterministic |= profile_needs_order(the_process.profile);
	return true;
}

/*
 * What PTXLOOM_COVERAGE asks for. A profile that cannot be written ends nothing: what is tested is
 * the program.
 */
static void coverage_begin(struct text *why)
{
	if (the_process.debugger && setting_text(SETTING_COVERAGE))
		text_puts(why, "the debugger runs things twice");
	else if (inject_hooks() && setting_text(SETTING_COVERAGE))
		text_puts(why, "rules change results of instructions");
	else
		the_process.coverage = cover_open(why);
	if (why->len)
		fprintf(stderr, "ptxloom: error: coverage is not written: %s\n", why->at);
	text_fini(why);
	*why = (struct text){0};
}

/* What PTXLOOM_MEMORY, or a rule (memory=), says of the memory of devices. False: no memory. */
static bool limit_memory(struct rt *rt)
{
	u64 bytes = rt->settings.memory_bytes,
	    ruled = inject_get() && !inject_get()->is_dry ? inject_get()->rules.memory : 0;

	if (ruled && (!bytes || ruled < bytes))
		bytes = ruled;
	return !bytes || arch_devices_limit(&rt->list, bytes);
}

static bool read_settings(struct device_settings *s, struct text *why)
{
	check_process_settle();
	return device_settings_read(s, why) && device_schedule_read(s, why);
}

/*
 * What rules about results of instructions need: launches in one order. False, with a line in
 * `why`: they do not go with what else is asked for.
 */
static bool prepare_flips(struct rt *rt, struct text *why)
{
	if (!inject_hooks())
		return true;
	if (the_process.debugger)
		text_puts(why, "rules about results of instructions do not go with a debugger");
	else if (the_process.profile)
		text_puts(why, "rules about results of instructions do not go with a profile");
	else if (inject_hooks()->history_bytes && the_process.checks & CHECKS_WATCHING)
		text_puts(why,
			  "inst=rand runs launches twice, which checks do not go with; inst=N does "
			  "not");
	else if (rt->settings.sched.seed)
		text_puts(why,
			  "rules about results of instructions do not go with PTXLOOM_SEED, but "
			  "with PTXLOOM_SCHEDULE=random:SEED");
	rt->settings.sched.deterministic = true;
	mem_fix_addresses();
	return !why->len;
}

/* The process has no device; why: a line, or nothing if one was printed. */
static void rt_refuse(struct rt *rt, const struct text *why)
{
	if (why->len)
		fprintf(stderr, "ptxloom: error: %s\n", why->at);
	rt->status = cudaErrorInitializationError;
}

/* What looks at the work of streams: the race check, and the trace of a profile. */
static void rt_watch_streams(struct rt *rt)
{
	if (the_process.checks & CHECK_RACE)
		the_process.between = between_new(&the_process.findings);
	if (the_process.profile)
		the_process.trace = profile_trace_open(the_process.profile);
	if (the_process.trace &&
	    !streams_set_watch(rt->streams, profile_trace_watch(the_process.trace))) {
		profile_trace_close(the_process.trace);
		the_process.trace = NULL;
	}
	if (the_process.between && !streams_set_watch(rt->streams, &the_process.between->order)) {
		between_free(the_process.between);
		the_process.between = NULL;
	}
}

static void rt_make(void)
{
	const char *spec = plrt_device_spec(true);
	struct rt *rt = &the_process.rt;
	struct text why = {0};
	struct diag d;

	pthread_mutex_init(&rt->lock, NULL);
	diag_init(&d, diag_print, stderr);
	rt_stats_open();
	if (!read_settings(&rt->settings, &why)) {
		fprintf(stderr, "ptxloom: error: %s\n", why.at);
		rt->status = cudaErrorInitializationError;
	} else if (!arch_devices_parse(&rt->list, spec ? spec : "", &d)) {
		rt->status = cudaErrorInitializationError;
	}
	/* The program may change its environment. */
	if (rt->settings.host_functions)
		rt->settings.host_functions = strdup(rt->settings.host_functions);
	rt_visible_apply(rt, getenv("CUDA_VISIBLE_DEVICES"));
	if (!rt->status && !rt->list.len)
		rt->status = cudaErrorNoDevice;
	/* A child by fork is not debugged. */
	if (!rt->status && !the_process.parent && debugger_is_wanted() && !rt_attach_debugger(rt))
		rt->status = cudaErrorInitializationError;
	if (!rt->status) {
		the_process.recorder = recorder_open(&rt->settings, &why);
		if (why.len)
			rt_refuse(rt, &why);
	}
	if (!rt->status && !look_for(rt, &why))
		rt_refuse(rt, &why);
	if (!rt->status && !profile_begin(rt, &why))
		rt_refuse(rt, &why);
	if (!rt->status)
		coverage_begin(&why);
	if (!rt->status && !inject_is_ready())
		rt->status = cudaErrorInitializationError;
	if (!rt->status && !prepare_flips(rt, &why))
		rt_refuse(rt, &why);
	if (!rt->status && !limit_memory(rt))
		rt->status = cudaErrorMemoryAllocation;
	rt->ops = exec_ops_select(rt->settings.host_isa);
	rt->pool = rt->status ? NULL : sched_pool_new(&rt->settings.sched);
	if (rt->pool && inject_hooks())
		sched_set_debug(rt->pool, inject_hooks());
	if (rt->pool && the_process.debugger) {
		sched_set_debug(rt->pool, debugger_hooks(the_process.debugger));
		sched_thread_apart(rt->pool, 1);
	}
	rt->streams = rt->status ? NULL : streams_new();
	if (rt->streams)
		streams_set_order(rt->streams, is_set("CUDA_LAUNCH_BLOCKING"),
				  rt->settings.sched.deterministic);
	if (rt->streams)
		rt_watch_streams(rt);
	if (!rt->status && (!rt->pool || !rt->ops || !rt->streams))
		rt->status = cudaErrorInitializationError;
	if (!rt->status && !mem_system_init(&rt->memory, hides_memory())) {
		say_no_room();
		rt->status = cudaErrorMemoryAllocation;
	}
	rt->maps.system = &rt->memory;
	if (!rt->status)
		rt_attend(rt);
	text_fini(&why);
	diag_fini(&d);
	process_watch_forks();
	if (!the_process.parent)
		atexit(at_exit);
}

struct rt *rt_get(void)
{
	pthread_once(&the_process.rt_once, rt_make);
	return &the_process.rt;
}

struct rt_device *rt_device_of(const struct mem *m)
{
	struct rt *rt = rt_get();

	for (u32 i = 0; i < rt->list.len; i++)
		if (rt->device[i].is_open && &rt->device[i].dev.mem == m)
			return &rt->device[i];
	return NULL;
}

int rt_device_index(void)
{
	return rt_context_device();
}

int rt_device_check(int i)
{
	struct rt *rt = rt_get();

	if (the_process.is_forked)
		return process_forked_error();
	__atomic_store_n(&rt->is_used, true, __ATOMIC_RELAXED);
	if (rt->status)
		return rt->status;
	return i < 0 || (u32)i >= rt->list.len ? cudaErrorInvalidDevice : cudaSuccess;
}

/* printf of device code. */
static void print_stdout(void *user, const char *text, size_t len)
{
	(void)user;
	fwrite(text, 1, len, stdout);
}

static void print_stderr(void *user, const char *text, size_t len)
{
	(void)user;
	fwrite(text, 1, len, stderr);
}

/* Other processes see from now on what the device is used for. */
static void show_usage(struct rt *rt, int i)
{
	struct rt_device *d = &rt->device[i];
	struct usage_device *u;

	if (!the_process.usage)
		the_process.usage = usage_show();
	if (!the_process.usage || i >= (int)USAGE_DEVICES)
		return;
	u = &the_process.usage->device[i];
	arch_uuid(rt->list.at[i], rt->physical[i], u->uuid);
	mem_show(&d->dev.mem, &u->memory_bytes);
	d->dev.running_shown = &u->running;
	__atomic_store_n(&u->is_open, 1, __ATOMIC_RELEASE);
}

static void hide_usage(int i)
{
	if (the_process.usage && i < (int)USAGE_DEVICES)
		__atomic_store_n(&the_process.usage->device[i].is_open, 0, __ATOMIC_RELEASE);
}

static int open_locked(struct rt *rt, int i)
{
	struct rt_device *d = &rt->device[i];
	struct device_home home = {&rt->memory, (u32)i};
	int status;

	if (d->is_open)
		return cudaSuccess;
	status = (int)device_init(&d->dev, rt->list.at[i], rt->pool, rt->ops, &home);
	if (status) {
		say_no_room();
		return status;
	}
	status = (int)stream_device_open(rt->streams, &d->dev, rt_launch_done, d);
	if (status) {
		device_fini(&d->dev);
		return status;
	}
	if (rt_goes_on())
		stream_device_go_on(&d->dev);
	d->dev.async_eager = rt->settings.async_eager;
	d->dev.externs = rt_externs;
	d->dev.host_functions = rt->settings.host_functions;
	d->dev.number = (u32)i;
	d->dev.count = rt->list.len;
	d->dev.syscalls.print = print_stdout;
	if (rt->settings.checks & CHECK_LEAK)
		d->dev.syscalls.taken = check_heap_taken;
	d->dev.syscalls.graph_exec = graph_device_current;
	if (the_process.debugger) {
		d->dev.on_program = debugger_program;
		d->dev.on_program_user = the_process.debugger;
	}
	d->dev.recorder = the_process.recorder;
	d->dev.on_overrun = rt_report_overrun;
	d->dev.on_end = setting_has(SETTING_LOG, "launch") ? rt_report_end : NULL;
	d->dev.on_copy_fault = rt_copy_fault;
	d->dev.mem.strict = rt->settings.checks & CHECK_MEM;
	d->dev.mem.padding = (u32)setting_number(SETTING_CHECK_PADDING, 0);
	/* The debugger goes back to what the heap was. */
	if (d->dev.mem.strict && !the_process.debugger)
		exec_heap_set_apart(d->dev.syscalls.heap);
	d->dev.syscalls.print_error = print_stderr;
	if (the_process.checks & (CHECKS_WATCHING | CHECK_MEM))
		d->checks = calloc(1, sizeof(*d->checks));
	if (d->checks)
		d->dev.observer = checks_open(d->checks, the_process.checks, &d->dev.mem,
					      the_process.between, &the_process.findings);
	if (d->checks)
		d->dev.observer_apart = checks_open_apart(d->checks, the_process.checks,
							  d->dev.observer, &the_process.findings);
	if (d->checks)
		checks_choose(d->checks, &the_process.findings, &d->dev);
	if (the_process.profile)
		d->profile = profile_device_open(the_process.profile, &d->dev);
	if (the_process.coverage) {
		cover_device(the_process.coverage, &d->dev);
		rt_images_cover(&d->dev);
	}
	rt_stats_device(d);
	inject_device(d);
	rt_limits_init(d);
	rt_guard_install();
	show_usage(rt, i);
	d->is_open = true;
	return cudaSuccess;
}

struct rt_device *rt_device_open(int i, int *status)
{
	struct rt *rt = rt_get();
	struct rt_device *d = &rt->device[i];

	*status = the_process.is_forked ? process_forked_error() : rt->status;
	if (*status)
		return NULL;
	if (!d->is_open) {
		__atomic_store_n(&rt->is_used, true, __ATOMIC_RELAXED);
		pthread_mutex_lock(&rt->lock);
		*status = open_locked(rt, i);
		pthread_mutex_unlock(&rt->lock);
	}
	return *status ? NULL : d;
}

struct rt_device *rt_device_now(int *status)
{
	struct rt_context *c = rt_context_now();
	struct rt_device *d = rt_device_open(c ? c->device : rt_context_device(), status);

	if (!d)
		return NULL;
	if (!c || !c->is_active) {
		if (c && !c->is_primary) {
			*status = STATUS_CONTEXT_IS_DESTROYED;
			return NULL;
		}
		c = rt_context_primary(rt_context_device());
		if (!c) {
			*status = cudaErrorMemoryAllocation;
			return NULL;
		}
		c->is_active = true;
		rt_context_set(c);
	}
	*status = rt_sticky(d) ? rt_sticky(d) : (int)stream_device_error(&d->dev);
	if (*status && rt_sticky(d))
		rt_after_fault(*status);
	return *status ? NULL : d;
}

int rt_wait(struct rt_device *d)
{
	int status = (int)stream_device_wait(&d->dev);

	return rt_sticky(d) ? rt_after_fault(rt_sticky(d)) : status;
}

void rt_finish(void)
{
	for (u32 i = 0; i < the_process.rt.list.len && !the_process.is_forked; i++)
		if (the_process.rt.device[i].is_open)
			stream_device_finish(&the_process.rt.device[i].dev);
}

bool rt_is_exiting(void)
{
	return __atomic_load_n(&the_process.is_exiting, __ATOMIC_RELAXED);
}

void rt_device_reset(int i)
{
	struct rt *rt = rt_get();
	struct rt_device *d = &rt->device[i];
	struct rt_context *c = rt_context_primary(i);

	if (c) {
		c->is_active = false;
		c->retained = 0;
		c->flags = 0;
	}
	if (!d->is_open || rt_device_lost(i))
		return;
	stream_device_finish(&d->dev);
	if (!rt_context_count(i))
		check_calls_leaks(i);
	if (c)
		drv_modules_free(c);
	rt_images_forget_device(i);
	pthread_mutex_lock(&rt->lock);
	if (!rt_context_count(i)) {
		d->is_open = false;
		hide_usage(i);
		stream_device_close(&d->dev);
		memory_pools_forget(&rt->pools, &d->dev);
		memory_maps_forget(&rt->maps, &d->dev);
		device_fini(&d->dev);
		if (d->checks)
			checks_close(d->checks);
		free(d->checks);
		profile_device_close(d->profile);
		*d = (struct rt_device){0};
	} else {
		stream_device_revive(&d->dev);
	}
	__atomic_store_n(&d->sticky, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&rt->lock);
}

void rt_device_lose(int i, int status)
{
	struct rt *rt = rt_get();
	struct rt_device *d = &rt->device[i];

	__atomic_store_n(&d->lost, status, __ATOMIC_RELEASE);
	__atomic_store_n(&d->sticky, status, __ATOMIC_RELEASE);
	if (!d->is_open)
		return;
	stream_device_fail(&d->dev, (enum status)status);
	sched_cancel_of(rt->pool, &d->dev.mem);
}

int rt_device_lost(int i)
{
	return __atomic_load_n(&rt_get()->device[i].lost, __ATOMIC_ACQUIRE);
}

/* ---- choosing and waiting ---- */

RT_FN(cudaGetDeviceCount, (int *count))
{
	struct rt *rt = rt_get();
	int status;

	if (!count)
		return rt_error(cudaErrorInvalidValue);
	status = the_process.is_forked ? process_forked_error() : rt->status;
	*count = status ? 0 : (int)rt->list.len;
	return rt_error(status);
}

RT_FN(cudaSetDevice, (int device))
{
	int status = rt_device_check(device);
	struct rt_context *c;

	if (status)
		return rt_error(status);
	c = rt_context_primary(device);
	if (!c)
		return rt_error(cudaErrorMemoryAllocation);
	rt_context_set(c);
	/* A faulted device does not prevent choosing. */
	if (rt_device_now(&status) || c->is_active)
		status = cudaSuccess;
	return rt_error(status);
}

RT_FN(cudaGetDevice, (int *device))
{
	int status = rt_device_check(0);

	if (!device)
		return rt_error(cudaErrorInvalidValue);
	if (!status)
		*device = rt_context_device();
	return rt_error(status);
}

RT_FN(cudaDeviceSynchronize, (void))
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	return rt_error(d ? rt_wait(d) : status);
}

RT_FN(cudaThreadSynchronize, (void))
{
	return plrt_cudaDeviceSynchronize();
}

RT_FN(cudaDeviceReset, (void))
{
	int status = rt_device_check(0);

	if (status)
		return rt_error(status);
	status = rt_device_lost(rt_context_device());
	if (status)
		return rt_error(status);
	rt_device_reset(rt_context_device());
	rt_last_error_clear();
	return cudaSuccess;
}

/* The same before CUDA 4. */
RT_FN(cudaThreadExit, (void))
{
	return plrt_cudaDeviceReset();
}

static int answer_version(int *to, int version)
{
	if (!to)
		return rt_error(cudaErrorInvalidValue);
	*to = version;
	return cudaSuccess;
}

RT_FN(cudaRuntimeGetVersion, (int *version))
{
	return answer_version(version, 13000);
}

RT_FN(cudaRuntimeGetVersion_12, (int *version))
{
	return answer_version(version, 12090);
}

RT_FN(cudaRuntimeGetVersion_11, (int *version))
{
	return answer_version(version, 11080);
}

RT_FN(cudaDriverGetVersion, (int *version))
{
	return answer_version(version, RT_DRIVER_VERSION);
}
