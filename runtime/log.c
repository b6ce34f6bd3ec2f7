/*
 * The error log of both interfaces: cudaLogs*, cuLogs*.
 *
 * An entry says which function returned which error: what the runtime interface answers, and what
 * entry points of either find before they begin (entry.c). Deviation: other errors of the driver
 * interface are not noted. The last hundred are kept. A program reads them from a place on (an
 * iterator: how many entries there had been), or is called for each. Lines look as the driver's do:
 * [time][thread][CUDA][E] text. Source: CUDA Driver API, "Error Log Management Functions"; lines
 * and errors as measured on an H200.
 */
#include "runtime/cuda/drv.h"
#include "runtime/process.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LEVEL_ERROR = 0 };

static struct process_logs *const logs = &the_process.logs;

/*
 * The time of day in UTC is computed here: gmtime takes a lock of the C library that a child
 * inherits held.
 */
static void format(char *out, const char *text)
{
	struct timespec t;
	unsigned second;

	clock_gettime(CLOCK_REALTIME, &t);
	second = (unsigned)(t.tv_sec % (24 * 60 * 60));
	snprintf(out, LOG_LINE_BYTES, "[%02u:%02u:%02u.%03ld][%lu][CUDA][E] %s\n", second / 3600,
		 second / 60 % 60, second % 60, t.tv_nsec / 1000000, (unsigned long)pthread_self(),
		 text);
}

void rt_log_error(int status, const char *function)
{
	const struct status_info *s = status_info(status);
	struct log_listener listener[LOG_LISTENERS];
	char text[LOG_LINE_BYTES / 2], line[LOG_LINE_BYTES];

	snprintf(text, sizeof(text), "Returning %d (%s) from %s", status,
		 s && s->driver    ? s->driver
		 : s && s->runtime ? s->runtime
				   : "unknown",
		 function);
	format(line, text);
	pthread_mutex_lock(&logs->lock);
	memcpy(logs->line[logs->len++ % LOG_LINES], line, LOG_LINE_BYTES);
	memcpy(listener, logs->listener, sizeof(listener));
	pthread_mutex_unlock(&logs->lock);
	for (u32 i = 0; i < LOG_LISTENERS; i++)
		if (listener[i].used)
			listener[i].call(listener[i].user, LEVEL_ERROR, line, strlen(line));
}

static int listen(rt_log_callback *call, void *user, u64 *handle)
{
	int status = STATUS_OUT_OF_MEMORY;

	if (!call || !handle)
		return STATUS_INVALID_VALUE;
	pthread_mutex_lock(&logs->lock);
	for (u32 i = 0; i < LOG_LISTENERS && status; i++)
		if (!logs->listener[i].used) {
			logs->listener[i] = (struct log_listener){call, user, true};
			*handle = i + 1;
			status = STATUS_SUCCESS;
		}
	pthread_mutex_unlock(&logs->lock);
	return status;
}

static int stop_log(u64 handle)
{
	bool ok;

	pthread_mutex_lock(&logs->lock);
	ok = handle && handle <= LOG_LISTENERS && logs->listener[handle - 1].used;
	if (ok)
		logs->listener[handle - 1].used = false;
	pthread_mutex_unlock(&logs->lock);
	return ok ? STATUS_SUCCESS : STATUS_INVALID_VALUE;
}

static int current(u32 *iterator)
{
	if (!iterator)
		return STATUS_INVALID_VALUE;
	pthread_mutex_lock(&logs->lock);
	*iterator = logs->len;
	pthread_mutex_unlock(&logs->lock);
	return STATUS_SUCCESS;
}

/* All lines from *iterator on (NULL: all that are kept), which moves to the end. */
static int read_from(u32 *iterator, struct text *out)
{
	u32 at;

	pthread_mutex_lock(&logs->lock);
	at = iterator ? *iterator : 0;
	if (at > logs->len) {
		pthread_mutex_unlock(&logs->lock);
		return STATUS_INVALID_VALUE;
	}
	if (logs->len > LOG_LINES && at < logs->len - LOG_LINES)
		at = logs->len - LOG_LINES;
	for (; at < logs->len; at++)
		text_puts(out, logs->line[at % LOG_LINES]);
	if (iterator)
		*iterator = at;
	pthread_mutex_unlock(&logs->lock);
	return STATUS_SUCCESS;
}

static int dump_to_file(u32 *iterator, const char *path)
{
	struct text t = {0};
	int status;
	FILE *f;

	if (!path)
		return STATUS_INVALID_VALUE;
	f = fopen(path, "w");
	if (!f)
		return STATUS_INVALID_VALUE;
	status = read_from(iterator, &t);
	if (t.at && fputs(t.at, f) < 0)
		status = STATUS_OPERATING_SYSTEM;
	if (fclose(f) && !status)
		status = STATUS_OPERATING_SYSTEM;
	text_fini(&t);
	return status;
}

/* The last lines that fit, and a zero. */
static int dump_to_memory(u32 *iterator, char *buffer, size_t *bytes)
{
	struct text t = {0};
	const char *from;
	int status;

	if (!buffer || !bytes || !*bytes)
		return STATUS_INVALID_VALUE;
	status = read_from(iterator, &t);
	from = t.at ? t.at : "";
	while (strlen(from) >= *bytes)
		from = strchr(from, '\n') + 1;
	if (!status) {
		*bytes = strlen(from);
		memcpy(buffer, from, *bytes + 1);
	}
	text_fini(&t);
	return status;
}

#define LOG_FN(name, params, body)                                                                 \
	RT_FN(cuda##name, params)                                                                  \
	{                                                                                          \
		return rt_error(body);                                                             \
	}                                                                                          \
	DRV_FN(cu##name, params)                                                                   \
	{                                                                                          \
		return body;                                                                       \
	}

LOG_FN(LogsRegisterCallback, (rt_log_callback * call, void *user, u64 *handle),
       listen(call, user, handle))
LOG_FN(LogsUnregisterCallback, (u64 handle), stop_log(handle))
LOG_FN(LogsCurrent, (u32 * iterator, unsigned flags), ((void)flags, current(iterator)))
LOG_FN(LogsDumpToFile, (u32 * iterator, const char *path, unsigned flags),
       ((void)flags, dump_to_file(iterator, path)))
LOG_FN(LogsDumpToMemory, (u32 * iterator, char *buffer, size_t *bytes, unsigned flags),
       ((void)flags, dump_to_memory(iterator, buffer, bytes)))
