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

#define CUPTI_IDS 1024u /* more than any domain has */
#define CUPTI_ARGUMENTS_BYTES 512u

/* One at a time, as with CUPTI. Flags are read by calls without the lock. */
static struct {
	pthread_mutex_t lock;
	cupti_callback *call; /* NULL: there is none; atomic */
	void *user;
	bool enabled[CUPTI_DOMAINS][CUPTI_IDS]; /* atomic */
	u32 correlations;
	u32 thread_ids; /* how threads are named in records */
} subscription = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The call that the thread is in. */
static _Thread_local struct {
	const struct cupti_function *function; /* NULL: in none that is reported */
	enum cupti_domain domain;
	bool is_calling; /* the subscriber, which may call CUDA */
	bool is_reported;
	struct cupti_callback_data data;
	u64 correlation_data, begin;
	_Alignas(16) u8 params[CUPTI_ARGUMENTS_BYTES];
} now;

/* ---- arguments ---- */

static u32 argument_align(const struct entry_argument *a)
{
	if (a->kind == ENTRY_DIM3 || (a->kind == ENTRY_OTHER && a->bytes % 8))
		return 4;
	return a->bytes < 8 ? a->bytes : 8;
}

/* As the compiler lays out a structure of these members. */
static void pack_arguments(const struct entry_argument *a)
{
	u32 at = 0;

	for (; a->name; a++) {
		u32 align = argument_align(a);

		at = (at + align - 1) / align * align;
		if (at + a->bytes > sizeof(now.params))
			return;
		memcpy(now.params + at, a->at, a->bytes);
		at += a->bytes;
	}
}

/* The kernel's name, of functions that launch: their first argument is its stub or handle. */
static const char *launched_kernel(const char *name, const struct entry_argument *a)
{
	static const char *const launches[] = {"cudaLaunchKernel", "__cudaLaunchKernel",
					       "cudaLaunchCooperativeKernel", "cuLaunchKernel",
					       "cuLaunchCooperativeKernel"};
	const struct rt_function *f = NULL;
	void *first;

	for (size_t i = 0; i < ARRAY_LEN(launches) && a->name && a->bytes == sizeof(first); i++) {
		size_t n = strlen(launches[i]);

		if (strncmp(name, launches[i], n) != 0 || (name[n] && strcmp(name + n, "_ptsz")))
			continue;
		memcpy(&first, a->at, sizeof(first));
		f = name[2] == 'L' ? first : rt_named_kernel(first);
	}
	return f && rt_handle_is(f, RT_HANDLE_FUNCTION) ? f->name : NULL;
}

/* ---- calls ---- */

static bool is_enabled(enum cupti_domain domain, u32 id)
{
	return id < CUPTI_IDS && __atomic_load_n(&subscription.call, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&subscription.enabled[domain][id], __ATOMIC_RELAXED);
}

static void call_subscriber(void)
{
	cupti_callback *call = __atomic_load_n(&subscription.call, __ATOMIC_ACQUIRE);

	if (!call)
		return;
	now.is_calling = true;
	call(subscription.user, now.domain, now.function->id, &now.data);
	now.is_calling = false;
}

static void set_context(void)
{
	struct rt_context *c = rt_context_now();

	now.data.context = c && c->is_active ? c : NULL;
	now.data.context_uid = c ? (u32)c->device + 1 : 0;
}

void cupti_enter(const char *name, const struct entry_argument *a)
{
	const struct cupti_function *f;
	enum cupti_domain domain;

	if (now.is_calling)
		return;
	now.function = NULL;
	f = cupti_function_find(name, &domain);
	if (!f)
		return;
	now.is_reported = is_enabled(domain, f->id);
	if (!now.is_reported && !cupti_wants_calls(domain))
		return;
	now.function = f;
	now.domain = domain;
	now.begin = cupti_record_begin();
	now.correlation_data = 0;
	now.data = (struct cupti_callback_data){
		.name = f->name,
		.params = now.params,
		.correlation_data = &now.correlation_data,
		.correlation_id =
			__atomic_add_fetch(&subscription.correlations, 1, __ATOMIC_RELAXED),
	};
	if (!now.is_reported)
		return;
	pack_arguments(a);
	now.data.symbol = launched_kernel(name, a);
	set_context();
	call_subscriber();
}

void cupti_exit(const char *name, int status)
{
	const struct cupti_function *f = now.function;

	if (now.is_calling || !f || strcmp(f->name, name) != 0)
		return;
	if (now.is_reported) {
		now.data.is_exit = 1;
		now.data.result = &status;
		set_context();
		call_subscriber();
	}
	if (cupti_wants_calls(now.domain))
		cupti_record_call(now.domain, f->id, now.begin, now.data.correlation_id, status);
	now.function = NULL;
}

bool cupti_is_wanted(void)
{
	return __atomic_load_n(&subscription.call, __ATOMIC_RELAXED) ||
	       cupti_wants_calls(CUPTI_DRIVER) || cupti_wants_calls(CUPTI_RUNTIME);
}

void cupti_switch(void)
{
	if (cupti_is_wanted())
		__atomic_or_fetch(&the_process.call_log, ENTRY_LOG_CUPTI, __ATOMIC_RELAXED);
	else
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
	*out = (u32)c->device + 1;
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
