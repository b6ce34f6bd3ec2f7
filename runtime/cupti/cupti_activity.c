/*
 * CUPTI's Activity API: records of calls, and what a program says they belong to. Times are those
 * of the host. Records of kernels and copies would need a GPU's times, which nothing here has: they
 * are not supported, and `ptxloom profile` counts what kernels do.
 */
#include "runtime/cupti/cupti.h"
#include "src/dev/stream/order.h"

#include <unistd.h>

enum activity_kind {
	ACTIVITY_DRIVER = 4,
	ACTIVITY_RUNTIME = 5,
	ACTIVITY_EXTERNAL = 39,
	ACTIVITY_KINDS = 64,
};

/* Layouts that programs are compiled with. */
struct activity_call {
	u32 kind, id;
	u64 begin, end;
	u32 process, thread, correlation, status;
};

struct activity_external {
	u32 kind, external_kind;
	u64 external_id;
	u32 correlation, reserved;
};

static struct {
	pthread_mutex_t lock; /* of the buffer */
	cupti_request *request;
	cupti_complete *complete;
	bool enabled[ACTIVITY_KINDS];             /* atomic; of calls: of some function */
	bool calls[CUPTI_RUNTIME + 1][CUPTI_IDS]; /* atomic: those with records, by domain */
	u8 *buffer;
	size_t bytes, used, records, records_max;
	size_t dropped;
	u64 (*clock)(void);
} activity = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_kind_on(enum activity_kind kind)
{
	return __atomic_load_n(&activity.enabled[kind], __ATOMIC_RELAXED);
}

static enum activity_kind kind_of_domain(enum cupti_domain domain)
{
	return domain == CUPTI_DRIVER ? ACTIVITY_DRIVER : ACTIVITY_RUNTIME;
}

bool cupti_wants_calls(enum cupti_domain domain)
{
	return is_kind_on(kind_of_domain(domain));
}

bool cupti_wants_call(enum cupti_domain domain, u32 id)
{
	return id < CUPTI_IDS && cupti_wants_calls(domain) &&
	       __atomic_load_n(&activity.calls[domain][id], __ATOMIC_RELAXED);
}

/* ---- buffers ---- */

struct full_buffer {
	u8 *at; /* NULL: there is none */
	size_t bytes, used;
};

static struct full_buffer take_buffer_locked(void)
{
	struct full_buffer full = {activity.buffer, activity.bytes, activity.used};

	activity.buffer = NULL;
	activity.bytes = activity.used = activity.records = 0;
	return full;
}

/* Without the lock: the program may call us. */
static void complete_buffer(const struct full_buffer *full)
{
	bool was = cupti_hold(true);

	if (full->at && activity.complete)
		activity.complete(NULL, 0, full->at, full->bytes, full->used);
	cupti_hold(was);
}

/* Is there room for this many bytes? */
static bool has_room_locked(size_t bytes)
{
	return activity.buffer && activity.bytes - activity.used >= bytes &&
	       (!activity.records_max || activity.records < activity.records_max);
}

static struct full_buffer request_buffer(size_t *records_max)
{
	struct full_buffer empty = {0};
	bool was = cupti_hold(true);

	*records_max = 0;
	activity.request(&empty.at, &empty.bytes, records_max);
	cupti_hold(was);
	if (!empty.at)
		empty.bytes = 0;
	return empty;
}

static bool put_locked(const void *record, size_t bytes)
{
	if (!has_room_locked(bytes))
		return false;
	memcpy(activity.buffer + activity.used, record, bytes);
	activity.used += bytes;
	activity.records++;
	return true;
}

/* The program is asked for a buffer, and given the full one, without the lock: it may call us. */
static void put_in_new_buffer(const void *record, size_t bytes)
{
	size_t records_max;
	struct full_buffer empty = request_buffer(&records_max), full;

	pthread_mutex_lock(&activity.lock);
	full = take_buffer_locked();
	activity.buffer = empty.at;
	activity.bytes = empty.bytes;
	activity.records_max = records_max;
	if (!put_locked(record, bytes))
		activity.dropped++;
	pthread_mutex_unlock(&activity.lock);
	complete_buffer(&full);
}

static void put_record(const void *record, size_t bytes)
{
	bool is_put;

	if (!activity.request)
		return;
	pthread_mutex_lock(&activity.lock);
	is_put = put_locked(record, bytes);
	pthread_mutex_unlock(&activity.lock);
	if (!is_put)
		put_in_new_buffer(record, bytes);
}

/* ---- records ---- */

void cupti_forget_activity(void)
{
	pthread_mutex_init(&activity.lock, NULL);
	memset(activity.enabled, 0, sizeof(activity.enabled));
	memset(activity.calls, 0, sizeof(activity.calls));
	activity.buffer = NULL;
	activity.used = activity.records = 0;
}

static u64 record_time(void)
{
	return activity.clock ? activity.clock() : host_call_time();
}

static void record_externals(u32 correlation)
{
	const struct cupti_thread *t = cupti_thread_here();

	for (u32 k = 0; t && k < CUPTI_EXTERNAL_KINDS; k++) {
		struct activity_external r = {
			.kind = ACTIVITY_EXTERNAL, .external_kind = k, .correlation = correlation};

		if (!t->external[k].len)
			continue;
		r.external_id = t->external[k].id[t->external[k].len - 1];
		put_record(&r, sizeof(r));
	}
}

u64 cupti_record_begin(void)
{
	return record_time();
}

void cupti_record_call(enum cupti_domain domain, u32 id, u64 begin, u32 correlation, int status)
{
	struct activity_call r = {
		.kind = kind_of_domain(domain),
		.id = id,
		.begin = begin,
		.end = record_time(),
		.process = (u32)getpid(),
		.thread = (u32)gettid(),
		.correlation = correlation,
		.status = (u32)status,
	};

	if (is_kind_on(ACTIVITY_EXTERNAL))
		record_externals(correlation);
	put_record(&r, sizeof(r));
}

/* ---- the interface ---- */

CUPTI_FN(cuptiActivityRegisterCallbacks, (cupti_request * request, cupti_complete *complete))
{
	if (!request || !complete)
		return CUPTI_ERROR_INVALID_PARAMETER;
	pthread_mutex_lock(&activity.lock);
	activity.request = request;
	activity.complete = complete;
	pthread_mutex_unlock(&activity.lock);
	return CUPTI_SUCCESS;
}

CUPTI_FN(cuptiActivityRegisterTimestampCallback, (u64(*clock)(void)))
{
	if (!clock)
		return CUPTI_ERROR_INVALID_PARAMETER;
	activity.clock = clock;
	return CUPTI_SUCCESS;
}

/* Records of one function, or (all) of those of a domain. */
static int switch_calls(enum cupti_domain domain, u32 id, bool all, bool on)
{
	bool some = false;

	if (!all && id >= CUPTI_IDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	pthread_mutex_lock(&activity.lock);
	for (u32 i = 0; i < CUPTI_IDS; i++) {
		if (all || i == id)
			__atomic_store_n(&activity.calls[domain][i], on, __ATOMIC_RELAXED);
		some |= activity.calls[domain][i];
	}
	__atomic_store_n(&activity.enabled[kind_of_domain(domain)], some, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&activity.lock);
	cupti_switch();
	return CUPTI_SUCCESS;
}

static int switch_kind(u32 kind, bool on)
{
	if (!kind || kind >= ACTIVITY_KINDS)
		return CUPTI_ERROR_INVALID_KIND;
	if (kind != ACTIVITY_DRIVER && kind != ACTIVITY_RUNTIME && kind != ACTIVITY_EXTERNAL)
		return on ? CUPTI_ERROR_NOT_SUPPORTED : CUPTI_SUCCESS;
	if (kind != ACTIVITY_EXTERNAL)
		return switch_calls(kind == ACTIVITY_DRIVER ? CUPTI_DRIVER : CUPTI_RUNTIME, 0, true,
				    on);
	__atomic_store_n(&activity.enabled[kind], on, __ATOMIC_RELAXED);
	cupti_switch();
	return CUPTI_SUCCESS;
}

CUPTI_FN(cuptiActivityEnable, (u32 kind))
{
	return switch_kind(kind, true);
}

CUPTI_FN(cuptiActivityDisable, (u32 kind))
{
	return switch_kind(kind, false);
}

CUPTI_FN(cuptiActivityEnableContext, (void *context, u32 kind))
{
	return context ? switch_kind(kind, true) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUPTI_FN(cuptiActivityDisableContext, (void *context, u32 kind))
{
	return context ? switch_kind(kind, false) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUPTI_FN(cuptiActivityEnableRuntimeApi, (u32 id, u8 enable))
{
	return switch_calls(CUPTI_RUNTIME, id, false, enable);
}

CUPTI_FN(cuptiActivityEnableDriverApi, (u32 id, u8 enable))
{
	return switch_calls(CUPTI_DRIVER, id, false, enable);
}

CUPTI_FN(cuptiActivityEnableLatencyTimestamps, (u8 enable))
{
	return enable ? CUPTI_ERROR_NOT_SUPPORTED : CUPTI_SUCCESS;
}

CUPTI_FN(cuptiActivityFlushAll, (u32 flag))
{
	struct full_buffer full;

	(void)flag;
	pthread_mutex_lock(&activity.lock);
	full = take_buffer_locked();
	pthread_mutex_unlock(&activity.lock);
	complete_buffer(&full);
	return CUPTI_SUCCESS;
}

CUPTI_FN(cuptiActivityFlush, (void *context, u32 stream, u32 flag))
{
	(void)context, (void)stream;
	return plrt_cuptiActivityFlushAll(flag);
}

/* Buffers are completed when they are full; that is soon enough. */
CUPTI_FN(cuptiActivityFlushPeriod, (u32 time))
{
	(void)time;
	return CUPTI_SUCCESS;
}

static size_t record_bytes(u32 kind)
{
	return kind == ACTIVITY_EXTERNAL ? sizeof(struct activity_external)
	       : kind == ACTIVITY_DRIVER || kind == ACTIVITY_RUNTIME ? sizeof(struct activity_call)
								     : 0;
}

CUPTI_FN(cuptiActivityGetNextRecord, (u8 * buffer, size_t size, void **record))
{
	u8 *at = buffer;
	u32 kind = 0;

	if (!record || !buffer)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (*record) {
		memcpy(&kind, *record, sizeof(kind));
		at = (u8 *)*record + record_bytes(kind);
		if (!record_bytes(kind) || at < buffer || at > buffer + size)
			return CUPTI_ERROR_INVALID_PARAMETER;
	}
	if (buffer + size - at < (ptrdiff_t)sizeof(kind))
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	memcpy(&kind, at, sizeof(kind));
	if (!record_bytes(kind) || (size_t)(buffer + size - at) < record_bytes(kind))
		return CUPTI_ERROR_INVALID_KIND;
	*record = at;
	return CUPTI_SUCCESS;
}

CUPTI_FN(cuptiActivityGetNumDroppedRecords, (void *context, u32 stream, size_t *out))
{
	(void)context, (void)stream;
	if (!out)
		return CUPTI_ERROR_INVALID_PARAMETER;
	pthread_mutex_lock(&activity.lock);
	*out = activity.dropped;
	activity.dropped = 0;
	pthread_mutex_unlock(&activity.lock);
	return CUPTI_SUCCESS;
}

CUPTI_FN(cuptiActivityPushExternalCorrelationId, (u32 kind, u64 id))
{
	struct cupti_thread *t = cupti_thread_here();

	if (!kind || kind >= CUPTI_EXTERNAL_KINDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!t)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	if (t->external[kind].len == CUPTI_EXTERNAL_DEPTH)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	t->external[kind].id[t->external[kind].len++] = id;
	return CUPTI_SUCCESS;
}

CUPTI_FN(cuptiActivityPopExternalCorrelationId, (u32 kind, u64 *id))
{
	struct cupti_thread *t = cupti_thread_here();

	if (!kind || kind >= CUPTI_EXTERNAL_KINDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!t || !t->external[kind].len)
		return CUPTI_ERROR_QUEUE_EMPTY;
	t->external[kind].len--;
	if (id)
		*id = t->external[kind].id[t->external[kind].len];
	return CUPTI_SUCCESS;
}

/* Sizes of device buffers and pools, of which there are none. */
CUPTI_FN(cuptiActivitySetAttribute, (u32 attribute, size_t *size, void *value))
{
	(void)attribute;
	return size && value ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUPTI_FN(cuptiActivityGetAttribute, (u32 attribute, size_t *size, void *value))
{
	(void)attribute;
	if (!size || !value)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (*size < sizeof(size_t))
		return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
	memset(value, 0, *size);
	return CUPTI_SUCCESS;
}
