/*
 * Errors of the runtime interface: last error per thread, sticky errors per device, names and
 * texts.
 */
#include "runtime/check_calls.h"
#include "runtime/inject.h"
#include "src/check/fault.h"
#include "src/check/record.h"
#include "src/base/leave.h"
#include "src/base/demangle.h"
#include "src/base/setting.h"
#include "src/dev/memory/copy.h"
#include "src/mem/near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rt_error_in(int status, const char *function)
{
	static const char prefix[] = "plrt_";

	if (PL_LIKELY(status == cudaSuccess || status == cudaErrorNotReady))
		return status;
	rt_last_error_set(status);
	/* Helpers have no name that a program knows. */
	if (!strncmp(function, prefix, sizeof(prefix) - 1))
		rt_log_error(status, function + sizeof(prefix) - 1);
	return status;
}

static void record_fault(const struct device_fault *fault)
{
	struct finding f;

	if (!record_is_on())
		return;
	fault_finding(fault, &f);
	record_finding(&f);
	finding_fini(&f);
}

/* Where what lies at the address, or nearest to it, was allocated. */
static void say_fault(struct rt_device *d, const struct device_fault *fault)
{
	struct finding f;

	if (!the_process.checks || fault->is_unobserved) {
		fputs(fault->message.at, stderr);
		record_fault(fault);
		return;
	}
	fault_finding(fault, &f);
	if (fault->has_address && fault->space <= MEM_CONST)
		f.mem = &d->dev.mem;
	findings_add(&the_process.findings, &f);
}

bool rt_goes_on(void)
{
	return setting_number(SETTING_AFTER_FAULT, AFTER_FAULT_STICK) == AFTER_FAULT_CONTINUE;
}

void rt_fault(struct rt_device *d, enum status status, const struct device_fault *fault)
{
	int none = 0;

	/* The first one counts, and is reported; where devices go on, all are. */
	if ((rt_goes_on() || __atomic_compare_exchange_n(&d->sticky, &none, (int)status, false,
							 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) &&
	    fault && fault->message.at)
		say_fault(d, fault);
	if (fault && fault->kind == FAULT_TIMEOUT)
		rt_attend_reported();
	__atomic_store_n(&the_process.fault_seen, true, __ATOMIC_RELAXED);
}

bool rt_fault_seen(void)
{
	return __atomic_load_n(&the_process.fault_seen, __ATOMIC_RELAXED);
}

/* Without exit handlers; what they would have said is said. */
static void end_after_fault(void)
{
	fputs("ptxloom: the process ends after this fault (PTXLOOM_AFTER_FAULT=exit)\n", stderr);
	rt_report_exit();
	inject_report_exit();
	fflush(NULL);
	leave(CHECK_EXIT_FOUND);
}

int rt_after_fault(int status)
{
	static int once;

	if (setting_number(SETTING_AFTER_FAULT, AFTER_FAULT_STICK) == AFTER_FAULT_EXIT &&
	    !__atomic_exchange_n(&once, 1, __ATOMIC_RELAXED))
		end_after_fault();
	return status;
}

int plrt_after_test(void)
{
	struct rt *rt = rt_get();
	int n = 0;

	if (setting_number(SETTING_AFTER_FAULT, AFTER_FAULT_STICK) != AFTER_FAULT_RESET ||
	    the_process.is_forked || rt->status)
		return 0;
	for (u32 i = 0; i < rt->list.len; i++) {
		if (!rt->device[i].is_open || !rt_sticky(&rt->device[i]) || rt_device_lost((int)i))
			continue;
		rt_device_reset((int)i);
		n++;
	}
	if (n)
		rt_last_error_clear();
	return n;
}

void rt_copy_fault(const struct device *d, const struct copy_fault *fault)
{
	struct text t = {0};

	if (fault->device) {
		struct rt_device *owner =
			(struct rt_device *)(uintptr_t)((const u8 *)d -
							offsetof(struct rt_device, dev));

		if (!rt_sticky(owner))
			check_copy(d, fault);
		rt_fault(owner, STATUS_ILLEGAL_ADDRESS, NULL);
		return;
	}
	text_printf(&t, "ptxloom: %s", fault->what);
	demangle(fault->name, &t);
	text_printf(&t, " %s %llu bytes %s the host from 0x%llx on, but %s at 0x%llx\n",
		    fault->write ? "writes" : "reads", (unsigned long long)fault->bytes,
		    fault->write ? "to" : "of", (unsigned long long)fault->from,
		    !fault->exists ? "no memory is mapped"
		    : fault->write ? "memory is not writable"
				   : "memory is not readable",
		    (unsigned long long)fault->address);
	if (t.at)
		fputs(t.at, stderr);
	text_fini(&t);
}

/* With checks asked for, a process in which one found something says so by its exit status. */
__attribute__((destructor)) static void exit_status(void)
{
	u64 status = rt_report_exit() ? setting_number(SETTING_CHECK_STATUS, CHECK_EXIT_FOUND) : 0;
	int idle = inject_report_exit();

	status = status ? status : (u64)idle;
	if (!status)
		return;
	fflush(NULL);
	leave((int)status);
}

void rt_launch_done(void *user, enum status status, const struct device_fault *fault)
{
	if (status != STATUS_SUCCESS)
		rt_fault(user, status, fault);
}

/* The thread's last error alone: what a kernel did wrong shows when a later call answers it. */
RT_FN(cudaGetLastError, (void))
{
	int e = rt_last_error();

	rt_report_read();
	rt_last_error_clear();
	return e;
}

RT_FN(cudaPeekAtLastError, (void))
{
	rt_report_read();
	return rt_last_error();
}

const char *plrt_cudaGetErrorName(cudaError_t error)
{
	const struct status_info *s = status_info(error);

	return s && s->runtime ? s->runtime : "unrecognized error code";
}

const char *plrt_cudaGetErrorString(cudaError_t error)
{
	const struct status_info *s = status_info(error);

	return s && s->runtime ? s->text : "unrecognized error code";
}
