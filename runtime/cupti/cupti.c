/*
 * CUPTI's callbacks. A call is reported where it enters and where it leaves its entry point; calls
 * that the callback itself makes are not.
 *
 * Deviation: a call of the runtime makes none of the driver's here, so that only the runtime's own
 * are reported; of the domains for resources, waits and NVTX there are no callbacks.
 */
#include "runtime/cupti/cupti.h"
#include "runtime/cuda/drv.h"
#include "src/dev/stream/order.h"

/* One at a time, as with CUPTI. Flags are read by calls without the lock. */
static struct {
	pthread_mutex_t lock;
	cupti_callback *call; /* NULL: there is none; atomic */
	void *user;
	bool enabled[CUPTI_DOMAINS][CUPTI_IDS]; /* atomic */
	u32 correlations;
	u32 thread_ids; /* how threads are named in records */
} subscription = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct cupti_thread *of_thread; /* NULL: not yet */
static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_thread(void *t)
{
	of_thread = NULL;
	free(t);
}

static void make_key(void)
{
	(void)pthread_key_create(&at_thread_end, free_thread);
}

struct cupti_thread *cupti_thread_here(void)
{
	if (of_thread)
		return of_thread;
	pthread_once(&once, make_key);
	of_thread = calloc(1, sizeof(*of_thread));
	if (of_thread)
		pthread_setspecific(at_thread_end, of_thread);
	return of_thread;
}

bool cupti_hold(bool on)
{
	struct cupti_thread *t = cupti_thread_here();
	bool was = t && t->is_calling;

	if (t)
		t->is_calling = on;
	return was;
}

/* ---- arguments ---- */

static u32 argument_align(const struct entry_argument *a)
{
	if (a->kind == ENTRY_DIM3 || (a->kind == ENTRY_OTHER && a->bytes % 8))
		return 4;
	return a->bytes < 8 ? a->bytes : 8;
}

/* As the compiler lays out a structure of these members. */
static void pack_arguments(struct cupti_thread *t, const struct entry_argument *a)
{
	u32 at = 0;

	for (; a->name; a++) {
		u32 align = argument_align(a);

		at = (at + align - 1) / align * align;
		if (at + a->bytes > sizeof(t->params))
			return;
		memcpy(t->params + at, a->at, a->bytes);
		at += a->bytes;
	}
}

/* The kernel that a call launches: which argument names it, by a stub or (driver) a handle. */
static const struct {
	const char *function;
	u32 argument;
} launch_functions[] = {
	{"__cudaLaunchKernel", 0},
	{"cudaLaunch", 0},
	{"cudaLaunchCooperativeKernel", 0},
	{"cudaLaunchKernel", 0},
	{"cudaLaunchKernelExC", 1},
	{"cuLaunch", 0},
	{"cuLaunchCooperativeKernel", 0},
	{"cuLaunchGrid", 0},
	{"cuLaunchGridAsync", 0},
	{"cuLaunchKernel", 0},
	{"cuLaunchKernelEx", 1},
};

static bool is_launch_name(const char *name, const char *function)
{
	size_t n = strlen(function);

	return strncmp(name, function, n) == 0 && (!name[n] || strcmp(name + n, "_ptsz") == 0);
}

static const char *kernel_named_by(bool is_driver, const struct entry_argument *a)
{
	const struct rt_function *f;
	void *at;

	if (a->bytes != sizeof(at))
		return NULL;
	memcpy(&at, a->at, sizeof(at));
	f = is_driver ? at : rt_named_kernel(at);
	return f && rt_handle_is(f, RT_HANDLE_FUNCTION) ? f->name : NULL;
}

/* NULL: the call launches no kernel that is known. */
static const char *launched_kernel(const char *name, const struct entry_argument *a)
{
	u32 argument = 0;

	for (size_t i = 0; i < ARRAY_LEN(launch_functions); i++) {
		if (!is_launch_name(name, launch_functions[i].function))
			continue;
		while (a->name && argument < launch_functions[i].argument)
			a++, argument++;
		return a->name ? kernel_named_by(name[1] == 'u' && name[2] == 'L', a) : NULL;
	}
	return NULL;
}

/* ---- calls ---- */

static bool is_enabled(enum cupti_domain domain, u32 id)
{
	return id < CUPTI_IDS && __atomic_load_n(&subscription.call, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&subscription.enabled[domain][id], __ATOMIC_RELAXED);
}

static void call_subscriber(struct cupti_thread *t)
{
	cupti_callback *call = __atomic_load_n(&subscription.call, __ATOMIC_ACQUIRE);

	if (!call)
		return;
	cupti_hold(true);
	call(subscription.user, t->domain, t->function->id, &t->data);
	cupti_hold(false);
}

static void set_context(struct cupti_thread *t)
{
	struct rt_context *c = rt_context_now();

	t->data.context = c && c->is_active ? c : NULL;
	t->data.context_uid = c ? (u32)c->id : 0;
}

void cupti_enter(const char *name, const struct entry_argument *a)
{
	struct cupti_thread *t = cupti_thread_here();
	const struct cupti_function *f;
	enum cupti_domain domain;

	if (!t || t->is_calling)
		return;
	t->function = NULL;
	f = cupti_function_find(name, &domain);
	if (!f)
		return;
	t->is_reported = is_enabled(domain, f->id);
	if (!t->is_reported && !cupti_wants_call(domain, f->id))
		return;
	t->function = f;
	t->domain = domain;
	t->begin = cupti_record_begin();
	t->correlation_data = 0;
	t->data = (struct cupti_callback_data){
		.name = f->name,
		.params = t->params,
		.correlation_data = &t->correlation_data,
		.correlation_id =
			__atomic_add_fetch(&subscription.correlations, 1, __ATOMIC_RELAXED),
	};
	if (!t->is_reported)
		return;
	pack_arguments(t, a);
	t->data.symbol = launched_kernel(name, a);
	set_context(t);
	call_subscriber(t);
}

void cupti_exit(const char *name, int status)
{
	struct cupti_thread *t = cupti_thread_here();
	const struct cupti_function *f = t ? t->function : NULL;

	if (!f || t->is_calling || strcmp(f->name, name) != 0)
		return;
	if (t->is_reported) {
		t->data.is_exit = 1;
		t->data.result = &status;
		set_context(t);
		call_subscriber(t);
	}
	if (cupti_wants_call(t->domain, f->id))
		cupti_record_call(t->domain, f->id, t->begin, t->data.correlation_id, status);
	t->function = NULL;
}

bool cupti_is_wanted(void)
{
	return __atomic_load_n(&subscription.call, __ATOMIC_RELAXED) ||
	       cupti_wants_calls(CUPTI_DRIVER) || cupti_wants_calls(CUPTI_RUNTIME);
}

/* Taken last: what is wanted and the flag must agree when two threads switch. */
static pthread_mutex_t switching = PTHREAD_MUTEX_INITIALIZER;

void cupti_switch(void)
{
	pthread_mutex_lock(&switching);
	if (cupti_is_wanted())
		__atomic_or_fetch(&the_process.call_log, ENTRY_LOG_CUPTI, __ATOMIC_RELAXED);
	else
		__atomic_and_fetch(&the_process.call_log, ~ENTRY_LOG_CUPTI, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&switching);
}

void cupti_forget(void)
{
	pthread_mutex_init(&subscription.lock, NULL);
	pthread_mutex_init(&switching, NULL);
	__atomic_store_n(&subscription.call, NULL, __ATOMIC_RELAXED);
	memset(subscription.enabled, 0, sizeof(subscription.enabled));
	if (of_thread)
		*of_thread = (struct cupti_thread){0};
	cupti_forget_activity();
	__atomic_and_fetch(&the_process.call_log, ~ENTRY_LOG_CUPTI, __ATOMIC_RELAXED);
}

/* ---- subscribing ---- */

CUPTI_FN(cuptiSubscribe, (void **out, cupti_callback *call, void *user))
{
	bool taken;

	if (!out || !call)
		return CUPTI_ERROR_INVALID_PARAMETER;
	pthread_mutex_lock(&subscription.lock);
	taken = subscription.call != NULL;
	if (!taken) {
		memset(subscription.enabled, 0, sizeof(subscription.enabled));
		subscription.user = user;
		__atomic_store_n(&subscription.call, call, __ATOMIC_RELEASE);
		*out = &subscription;
		cupti_switch();
	}
	pthread_mutex_unlock(&subscription.lock);
	return taken ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS : CUPTI_SUCCESS;
}

CUPTI_FN(cuptiSubscribe_v2, (void **out, cupti_callback *call, void *user, void *params))
{
	return params ? plrt_cuptiSubscribe(out, call, user) : CUPTI_ERROR_INVALID_PARAMETER;
}

static bool is_subscriber(const void *subscriber)
{
	return subscriber == &subscription &&
	       __atomic_load_n(&subscription.call, __ATOMIC_RELAXED) != NULL;
}

CUPTI_FN(cuptiUnsubscribe, (void *subscriber))
{
	if (!is_subscriber(subscriber))
		return CUPTI_ERROR_INVALID_PARAMETER;
	pthread_mutex_lock(&subscription.lock);
	__atomic_store_n(&subscription.call, NULL, __ATOMIC_RELEASE);
	cupti_switch();
	pthread_mutex_unlock(&subscription.lock);
	return CUPTI_SUCCESS;
}

CUPTI_FN(cuptiFinalize, (void))
{
	if (is_subscriber(&subscription))
		plrt_cuptiUnsubscribe(&subscription);
	return CUPTI_SUCCESS;
}

static bool is_domain(u32 domain)
{
	return domain > 0 && domain < CUPTI_DOMAINS;
}

CUPTI_FN(cuptiEnableCallback, (u32 enable, void *subscriber, u32 domain, u32 id))
{
	if (!is_subscriber(subscriber) || !is_domain(domain) || id >= CUPTI_IDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	__atomic_store_n(&subscription.enabled[domain][id], enable != 0, __ATOMIC_RELAXED);
	return CUPTI_SUCCESS;
}

CUPTI_FN(cuptiEnableDomain, (u32 enable, void *subscriber, u32 domain))
{
	int status = CUPTI_SUCCESS;

	for (u32 i = 0; i < CUPTI_IDS && !status; i++)
		status = plrt_cuptiEnableCallback(enable, subscriber, domain, i);
	return status;
}

CUPTI_FN(cuptiEnableAllDomains, (u32 enable, void *subscriber))
{
	int status = CUPTI_SUCCESS;

	for (u32 domain = 1; domain < CUPTI_DOMAINS && !status; domain++)
		status = plrt_cuptiEnableDomain(enable, subscriber, domain);
	return status;
}

CUPTI_FN(cuptiGetCallbackState, (u32 * enable, void *subscriber, u32 domain, u32 id))
{
	if (!enable || !is_subscriber(subscriber) || !is_domain(domain) || id >= CUPTI_IDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*enable = subscription.enabled[domain][id];
	return CUPTI_SUCCESS;
}

CUPTI_FN(cuptiGetCallbackName, (u32 domain, u32 id, const char **out))
{
	const struct cupti_function *f = domain == CUPTI_DRIVER || domain == CUPTI_RUNTIME
						 ? cupti_function_at((enum cupti_domain)domain, id)
						 : NULL;

	if (!out || !f)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*out = f->callback_name;
	return CUPTI_SUCCESS;
}

CUPTI_FN(cuptiSupportedDomains, (size_t * count, const u32 **out))
{
	static const u32 domains[] = {CUPTI_DRIVER, CUPTI_RUNTIME};

	if (!count || !out)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*count = ARRAY_LEN(domains);
	*out = domains;
	return CUPTI_SUCCESS;
}

/* ---- questions ---- */

CUPTI_FN(cuptiGetResultString, (int status, const char **out))
{
	static const struct {
		int status;
		const char *name;
	} names[] = {
		{CUPTI_SUCCESS, "CUPTI_SUCCESS"},
		{CUPTI_ERROR_INVALID_PARAMETER, "CUPTI_ERROR_INVALID_PARAMETER"},
		{CUPTI_ERROR_INVALID_DEVICE, "CUPTI_ERROR_INVALID_DEVICE"},
		{CUPTI_ERROR_INVALID_CONTEXT, "CUPTI_ERROR_INVALID_CONTEXT"},
		{CUPTI_ERROR_INVALID_OPERATION, "CUPTI_ERROR_INVALID_OPERATION"},
		{CUPTI_ERROR_OUT_OF_MEMORY, "CUPTI_ERROR_OUT_OF_MEMORY"},
		{CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT,
		 "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT"},
		{CUPTI_ERROR_MAX_LIMIT_REACHED, "CUPTI_ERROR_MAX_LIMIT_REACHED"},
		{CUPTI_ERROR_QUEUE_EMPTY, "CUPTI_ERROR_QUEUE_EMPTY"},
		{CUPTI_ERROR_INVALID_KIND, "CUPTI_ERROR_INVALID_KIND"},
		{CUPTI_ERROR_NOT_SUPPORTED, "CUPTI_ERROR_NOT_SUPPORTED"},
		{CUPTI_ERROR_MULTIPLE_SUBSCRIBERS,
		 "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
	};

	for (size_t i = 0; out && i < ARRAY_LEN(names); i++)
		if (names[i].status == status) {
			*out = names[i].name;
			return CUPTI_SUCCESS;
		}
	return CUPTI_ERROR_INVALID_PARAMETER;
}

CUPTI_FN(cuptiGetErrorMessage, (int status, const char **out))
{
	return plrt_cuptiGetResultString(status, out);
}

CUPTI_FN(cuptiGetLastError, (void))
{
	return CUPTI_SUCCESS;
}

CUPTI_FN(cuptiGetVersion, (u32 * out))
{
	if (!out)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*out = CUPTI_VERSION;
	return CUPTI_SUCCESS;
}

/* The clock of records: nanoseconds of the host. */
CUPTI_FN(cuptiGetTimestamp, (u64 * out))
{
	if (!out)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*out = host_call_time();
	return CUPTI_SUCCESS;
}

static struct rt_context *context_of(struct rt_context *c)
{
	return c ? c : rt_context_now();
}

CUPTI_FN(cuptiGetContextId, (struct rt_context * c, u32 *out))
{
	c = context_of(c);
	if (!out)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!c)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*out = (u32)c->id;
	return CUPTI_SUCCESS;
}

CUPTI_FN(cuptiGetDeviceId, (struct rt_context * c, u32 *out))
{
	c = context_of(c);
	if (!out)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!c)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*out = (u32)c->device;
	return CUPTI_SUCCESS;
}

CUPTI_FN(cuptiGetThreadIdType, (u32 * out))
{
	if (!out)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*out = subscription.thread_ids;
	return CUPTI_SUCCESS;
}

/* 0: pthread_self, 1: the system's number; records have the latter. */
CUPTI_FN(cuptiSetThreadIdType, (u32 type))
{
	if (type > 1)
		return CUPTI_ERROR_INVALID_PARAMETER;
	subscription.thread_ids = type;
	return CUPTI_SUCCESS;
}

CUPTI_FN(cuptiDeviceSupported, (int device, int *out))
{
	if (!out)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (rt_device_check(device))
		return CUPTI_ERROR_INVALID_DEVICE;
	*out = 1;
	return CUPTI_SUCCESS;
}
