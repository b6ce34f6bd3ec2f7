/*
 * Children by fork of a process that has used CUDA.
 *
 * Neither devices nor threads come along. As on a GPU, all calls of the child fail; with
 * PTXLOOM_FORK=fresh it begins again instead, as a process of its own: nothing has been called,
 * its rules, checks, profiles start anew. What its parent has registered (kernels, variables,
 * libraries) stays, everything else that it holds of the parent is no handle any more. The parent's
 * state is kept as it stands and never used: other threads of the parent may have been writing it.
 */
#include "runtime/cupti/cupti.h"
#include "runtime/inject.h"
#include "runtime/process.h"
#include "src/base/setting.h"
#include "src/check/init/init_memory.h"
#include "src/check/order/host.h"
#include "src/check/process.h"
#include "src/dev/device.h"
#include "src/dev/memory/watch.h"
#include "src/mem/marks.h"
#include "src/mem/pools.h"

#include <stdio.h>
#include <stdlib.h>

enum forks { FORK_ERROR, FORK_FRESH };

/* What is kept, in the order in which it may be locked. */
static pthread_mutex_t *const kept_locks[] = {
	&the_process.registered.lock,
	&the_process.images,
	&the_process.contexts.lock,
	&the_process.handles.lock,
};

static bool is_fresh; /* of the fork under way */

/* The parent's other threads are to leave whole what is kept. */
static void before_fork(void)
{
	is_fresh = setting_number(SETTING_FORK, FORK_ERROR) == FORK_FRESH;
	for (size_t i = 0; is_fresh && i < ARRAY_LEN(kept_locks); i++)
		pthread_mutex_lock(kept_locks[i]);
}

static void after_fork_in_parent(void)
{
	for (size_t i = ARRAY_LEN(kept_locks); is_fresh && i > 0; i--)
		pthread_mutex_unlock(kept_locks[i - 1]);
}

static void make_locks(void)
{
	static pthread_mutex_t *const locks[] = {
		&the_process.rt.lock,         &the_process.handles.lock,
		&the_process.registered.lock, &the_process.images,
		&the_process.contexts.lock,   &the_process.logs.lock,
		&the_process.refusals.lock,   &the_process.overruns.lock,
		&the_process.made.lock,       &the_process.heap.lock,
	};

	for (size_t i = 0; i < ARRAY_LEN(locks); i++)
		pthread_mutex_init(locks[i], NULL);
}

/* ---- beginning again ---- */

/* What is of a device. */
static void forget_handle(void *handle, void *user)
{
	(void)user;
	rt_handle_free(handle);
}

static void forget_function(void *handle, void *user)
{
	struct rt_function *f = handle;

	(void)user;
	if (f->module)
		rt_handle_free(f);
	else
		f->kernel = NULL;
}

/* Registered again, so to speak: it is on no device. */
static void forget_image(void *handle, void *user)
{
	struct rt_image *image = handle;
	struct rt_image_state *now = calloc(1, sizeof(*now));

	if (!now) {
		*(bool *)user = false;
		return;
	}
	now->parent = image->state;
	image->state = now;
}

static bool forget_handles(void)
{
	static const enum rt_handle_kind of_devices[] = {RT_HANDLE_CONTEXT, RT_HANDLE_MODULE,
							 RT_HANDLE_LINK,    RT_HANDLE_EXTERNAL,
							 RT_HANDLE_GREEN,   RT_HANDLE_RESOURCES};
	bool ok = true;

	rt_handle_each(RT_HANDLE_LIBRARY, forget_image, &ok);
	rt_handle_each(RT_HANDLE_FUNCTION, forget_function, NULL);
	for (size_t i = 0; i < ARRAY_LEN(of_devices); i++)
		rt_handle_each(of_devices[i], forget_handle, NULL);
	return ok;
}

/* Everything but what is registered, what signal handlers need, and keys of threads. */
static void forget_state(void)
{
	the_process.rt_once = (pthread_once_t)PTHREAD_ONCE_INIT;
	the_process.rt = (struct rt){0};
	the_process.usage = NULL; /* it shows the parent's */
	the_process.debugger = NULL;
	the_process.recorder = NULL;
	the_process.checks = 0;
	the_process.findings = (struct findings){0};
	the_process.between = NULL;
	the_process.coverage = NULL;
	the_process.profile = NULL;
	the_process.trace = NULL;
	the_process.calls = 0;
	the_process.fault_seen = false;
	the_process.call_log = ENTRY_LOG_UNREAD;
	for (size_t i = 0; i < ARRAY_LEN(the_process.contexts.primary); i++)
		the_process.contexts.primary[i] = NULL;
	the_process.logs.len = 0;
	the_process.refusals.count = 0;
	the_process.refusals.first = (struct text){0};
	the_process.overruns = (struct process_overruns){.seen = {0}};
	the_process.made = (struct process_made){.leaks = 0};
	the_process.heap = (struct process_heap){.by_place = {0}};
	the_process.attendant.rt = NULL;
	the_process.attendant.pid = 0;
	the_process.attendant.told = 0;
	the_process.attendant.pending = the_process.attendant.dying = 0;
}

static bool begin_again(void)
{
	struct process *parent = malloc(sizeof(*parent));

	if (!parent)
		return false;
	*parent = the_process;
	check_process_forget();
	forget_state();
	the_process.parent = parent;
	make_locks();
	rt_context_forget();
	rt_last_error_clear();
	rt_report_forget();
	inject_forget();
	host_trace_forget();
	host_guard_disarm();
	memory_watch_forget();
	mem_pools_drop();
	mem_marks_drop();
	init_memory_forget();
	return forget_handles();
}

static void after_fork_in_child(void)
{
	make_locks();
	cupti_forget();
	if (!is_fresh || !begin_again())
		the_process.is_forked = true;
}

void process_watch_forks(void)
{
	if (the_process.parent)
		return;
	device_watch_forks();
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

int process_forked_error(void)
{
	if (!__atomic_exchange_n(&the_process.fork_said, true, __ATOMIC_RELAXED))
		fputs("ptxloom: note: this process is a child by fork of one that had used CUDA: its "
		      "calls fail, as on a GPU; with PTXLOOM_FORK=fresh it has devices of its own\n",
		      stderr);
	return cudaErrorInitializationError;
}
