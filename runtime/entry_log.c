/*
 * Calls in words. See entry_log.h.
 */
#include "runtime/check_calls.h"
#include "runtime/cupti/cupti.h"
#include "runtime/inject.h"

#include "src/base/setting.h"
#include "src/check/process.h"
#include "src/base/text.h"
#include "src/dev/status.h"
#include "src/profile/trace.h"

#include <stdio.h>

/* What is shown of a text. */
#define TEXT_SHOWN 64u
/* Numbers from here on are most likely addresses. */
#define ADDRESS_MIN ((u64)1 << 32)

static u32 read_setting(void)
{
	u32 log = __atomic_load_n(&the_process.call_log, __ATOMIC_RELAXED);

	if (!(log & ENTRY_LOG_UNREAD))
		return log;
	check_process_settle();
	log = setting_has(SETTING_LOG, "calls") ? ENTRY_LOG_ALL | ENTRY_LOG_FAILED
	      : setting_has(SETTING_LOG, "api") ? ENTRY_LOG_FAILED
						: 0;
	if (setting_has(SETTING_CHECK, "mem") || setting_has(SETTING_CHECK, "leak") ||
	    setting_has(SETTING_CHECK, "api") || setting_has(SETTING_CHECK, "race") ||
	    setting_has(SETTING_CHECK, "init"))
		log |= ENTRY_LOG_CHECKED;
	/* Where allocations are made. */
	if (setting_text(SETTING_PROFILE) && setting_number(SETTING_PROFILE_VARIABLES, 0))
		log |= ENTRY_LOG_CHECKED;
	if (setting_text(SETTING_PROFILE) && setting_number(SETTING_PROFILE_TRACE, 0))
		log |= ENTRY_LOG_TRACE;
	if (setting_text(SETTING_INJECT))
		log |= ENTRY_LOG_INJECT;
	/* Another thread may have subscribed since. */
	__atomic_or_fetch(&the_process.call_log, log, __ATOMIC_RELAXED);
	return __atomic_and_fetch(&the_process.call_log, ~ENTRY_LOG_UNREAD, __ATOMIC_RELAXED);
}

static void say_text(const char *s, struct text *t)
{
	size_t n = s ? strnlen(s, TEXT_SHOWN + 1) : 0;

	if (!s) {
		text_puts(t, "NULL");
		return;
	}
	text_puts(t, "\"");
	for (size_t i = 0; i < n && i < TEXT_SHOWN; i++)
		text_printf(t, s[i] >= ' ' && s[i] < 127 ? "%c" : "\\x%02x", (unsigned char)s[i]);
	text_puts(t, n > TEXT_SHOWN ? "\"..." : "\"");
}

static void say_argument(const struct entry_argument *a, struct text *t)
{
	const unsigned *dim = a->at;
	const char *s;
	u64 x = 0;
	f64 d;
	f32 f;

	if (a->bytes <= sizeof(x))
		memcpy(&x, a->at, a->bytes);
	switch (a->kind) {
	case ENTRY_SIGNED:
		x <<= 64 - 8 * a->bytes;
		text_printf(t, "%lld", (long long)((s64)x >> (64 - 8 * a->bytes)));
		break;
	case ENTRY_UNSIGNED:
		text_printf(t, x < ADDRESS_MIN ? "%llu" : "0x%llx", (unsigned long long)x);
		break;
	case ENTRY_FLOAT:
		memcpy(&f, a->at, sizeof(f));
		d = (f64)f;
		if (a->bytes == sizeof(d))
			memcpy(&d, a->at, sizeof(d));
		text_printf(t, "%g", d);
		break;
	case ENTRY_TEXT:
		memcpy(&s, a->at, sizeof(s));
		say_text(s, t);
		break;
	case ENTRY_DIM3:
		text_printf(t, "(%u,%u,%u)", dim[0], dim[1], dim[2]);
		break;
	case ENTRY_POINTER:
		text_printf(t, x ? "0x%llx" : "NULL", (unsigned long long)x);
		break;
	case ENTRY_OTHER:
		text_printf(t, "{%u bytes}", a->bytes);
		break;
	}
}

static void add_call(const char *name, const struct entry_argument *a, struct text *t)
{
	text_printf(t, "%s(", name);
	for (const struct entry_argument *x = a; x->name; x++) {
		text_printf(t, x == a ? "%s=" : ", %s=", x->name);
		say_argument(x, t);
	}
	text_puts(t, ")");
}

static void say_call(const char *topic, const char *name, const struct entry_argument *a,
		     struct text *t)
{
	text_printf(t, "ptxloom: %s: ", topic);
	add_call(name, a, t);
}

void entry_say_call(const char *name, const struct entry_argument *a, struct text *t)
{
	text_puts(t, "    ");
	add_call(name, a, t);
}

static void put_entry_log(struct text *t)
{
	text_puts(t, "\n");
	if (t->at)
		fputs(t->at, stderr);
	text_fini(t);
}

/* As the interface calls it: names of the driver's functions begin with cu and a capital. */
const char *entry_status_name(const char *function, int status)
{
	const struct status_info *s = status_info(status);
	bool runtime = !strncmp(function, "cuda", 4) || !strncmp(function, "__cuda", 6);

	return !s                      ? "an unknown error"
	       : runtime && s->runtime ? s->runtime
	       : s->driver             ? s->driver
				       : s->runtime;
}

/* These two return an error of another call. */
static bool is_question(const char *name)
{
	return !strcmp(name, "cudaGetLastError") || !strcmp(name, "cudaPeekAtLastError");
}

/* The thread's call has not been made: a rule has answered. */
static _Thread_local bool was_injected;

int entry_inject(const char *name, const struct entry_argument *a)
{
	u32 log = read_setting();
	int status;

	if (log & ENTRY_LOG_CUPTI)
		cupti_enter(name, a);
	status = log & ENTRY_LOG_INJECT ? inject_call(name, a) : 0;
	was_injected = status != 0;
	return status;
}

void entry_tell(const char *name, int status, const void *from, const struct entry_argument *a)
{
	const struct status_info *s = status_info(status);
	bool failed = status != STATUS_SUCCESS && status != STATUS_NOT_READY && !is_question(name);
	u32 log = read_setting();
	struct text t = {0};

	/* What a rule answers is no mistake of the program. */
	if (log & ENTRY_LOG_CHECKED && !was_injected)
		check_call(name, status, from, a);
	was_injected = false;
	if (log & ENTRY_LOG_TRACE && the_process.trace && !the_process.is_forked)
		profile_trace_call(the_process.trace, name, status);
	if (log & ENTRY_LOG_INJECT)
		inject_called(name, status, a);
	if (log & ENTRY_LOG_CUPTI)
		cupti_exit(name, status);
	if (!(log & (failed ? ENTRY_LOG_FAILED : ENTRY_LOG_ALL)))
		return;
	say_call(failed ? "api" : "calls", name, a, &t);
	if (failed)
		text_printf(&t, " failed: %s (%d), %s", entry_status_name(name, status), status,
			    s ? s->text : "unknown error");
	else
		text_printf(&t, " = %s", entry_status_name(name, status));
	put_entry_log(&t);
}

void entry_tell_untyped(const char *name, const struct entry_argument *a)
{
	struct text t = {0};

	if (!(read_setting() & ENTRY_LOG_ALL))
		return;
	say_call("calls", name, a, &t);
	put_entry_log(&t);
}
