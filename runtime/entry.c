/*
 * The entry points of both interfaces: for each row of runtime.def and driver.def a function that
 * makes the row's checks, in their order, and then calls the body. In what order a wrong argument,
 * a missing context and a fault are found is seen by programs and differs from function to
 * function.
 */
#include "runtime/cuda/drv.h"
#include "runtime/entry_log.h"
#include "src/dev/stream/order.h"
#include "src/mem/guard.h"

#include <stdio.h>

_Thread_local const void *rt_caller __attribute__((tls_model("initial-exec")));

/* ---- checks: each returns an error number ---- */

static int check_initialized(void)
{
	return drv_check(0) == STATUS_NOT_INITIALIZED ? STATUS_NOT_INITIALIZED : STATUS_SUCCESS;
}

static int check_context(void)
{
	return rt_context_now() ? STATUS_SUCCESS : STATUS_INVALID_CONTEXT;
}

/* The default streams belong to the current context: there has to be one. */
static int check_stream(const void *stream)
{
	enum { STREAM_PER_THREAD = 2 };

	return (uintptr_t)stream > STREAM_PER_THREAD ? STATUS_SUCCESS : check_context();
}

static int check_fault(void)
{
	struct rt_context *c = rt_context_now();
	struct rt_device *d = c ? &rt_get()->device[c->device] : NULL;

	if (!d || !d->is_open)
		return STATUS_SUCCESS;
	return rt_sticky(d) ? rt_after_fault(rt_sticky(d)) : (int)stream_device_error(&d->dev);
}

/*
 * The checks of the rows, chained to a condition that is true when the call is over, with `status`
 * its answer. An argument is compared, not converted: handles are pointers in one interface and
 * numbers in the other.
 */
#define NO_CHECK
#define INITIALIZED || (status = check_initialized()) != 0
#define CONTEXT || (status = check_context()) != 0
#define STREAM(s) || (status = check_stream(s)) != 0
#define NO_FAULT || (status = check_fault()) != 0
#define UNLESS(argument, error) || ((argument) == 0 && (status = (error)) != 0)
#define VALUE(p) UNLESS(p, STATUS_INVALID_VALUE)
#define HANDLE(p) UNLESS(p, STATUS_INVALID_HANDLE)
#define FUNCTION(p) UNLESS(p, cudaErrorInvalidDeviceFunction)
#define SYMBOL(p) UNLESS(p, cudaErrorInvalidSymbol)
#define OWNER(p) UNLESS(p, STATUS_INVALID_CONTEXT)
#define DEVICE(p) UNLESS(p, cudaErrorInvalidDevice)
#define WORK(n) || (n) == 0
#define NOT_SUPPORTED || (status = STATUS_NOT_SUPPORTED) != 0
#define NO_CONTEXT || (status = STATUS_INVALID_CONTEXT) != 0
#define CALLER || (rt_caller = __builtin_return_address(0), false)

/* ---- answers without a body ---- */

static int refuse_driver(int status, const char *name)
{
	if (status)
		rt_log_error(status, name);
	return status;
}

static cudaError_t refuse_runtime(int status, const char *name)
{
	/* The log has it already. */
	return rt_error_in(refuse_driver(status, name), "");
}

/* Both interfaces have the same number for it. */
static int not_supported(const char *name, bool *said)
{
	if (!__atomic_exchange_n(said, true, __ATOMIC_RELAXED))
		fprintf(stderr, "ptxloom: %s is not supported yet\n", name);
	return STATUS_NOT_SUPPORTED;
}

/* ---- the functions ---- */

/* What the log wants to know of the call; the arguments are those that the body got. */
#define TELL(name, status, args)                                                                   \
	do                                                                                         \
		if (PL_UNLIKELY(__atomic_load_n(&the_process.call_log, __ATOMIC_RELAXED)))         \
			entry_tell(#name, status, __builtin_return_address(0),                     \
				   ENTRY_ARGUMENTS args);                                          \
	while (0)
#define TELL_UNTYPED(name, args)                                                                   \
	do                                                                                         \
		if (PL_UNLIKELY(__atomic_load_n(&the_process.call_log, __ATOMIC_RELAXED)))         \
			entry_tell_untyped(#name, ENTRY_ARGUMENTS args);                           \
	while (0)

/* Work that the call issues remembers it. */
static bool is_entered(const char *name, const void *caller)
{
	host_call_now = (struct host_call){name, {caller, NULL}, 0, 0};
	if (__atomic_load_n(&the_process.call_log, __ATOMIC_RELAXED) &
	    (ENTRY_LOG_TRACE | ENTRY_LOG_UNREAD)) {
		host_call_now.id = __atomic_add_fetch(&the_process.calls, 1, __ATOMIC_RELAXED);
		host_call_now.begin = host_call_time();
	}
	mem_guard_inside++;
	return true;
}

#define ENTER(name)                                                                                \
	(PL_UNLIKELY(__atomic_load_n(&the_process.call_log, __ATOMIC_RELAXED)) &&                  \
	 is_entered(#name, __builtin_return_address(0)))

/* Is the call answered by a rule of fault injection, with `status`? */
#define INJECTED(name, args)                                                                       \
	(PL_UNLIKELY(entered) && (status = entry_inject(#name, ENTRY_ARGUMENTS args)) != 0)

#define CHECKED(interface, prefix, type, name, params, args, checks)                               \
	type plentry_##name params                                                                 \
	{                                                                                          \
		bool entered = ENTER(name);                                                        \
		int status = 0;                                                                    \
                                                                                                   \
		if (INJECTED(name, args) || (false checks))                                        \
			status = refuse_##interface(status, #name);                                \
		else                                                                               \
			status = prefix##name args;                                                \
		TELL(name, status, args);                                                          \
		mem_guard_inside -= entered;                                                       \
		return status;                                                                     \
	}
#define UNSUPPORTED(interface, prefix, name, params, args, checks)                                 \
	int plentry_##name params                                                                  \
	{                                                                                          \
		static bool said;                                                                  \
		int status = 0;                                                                    \
                                                                                                   \
		if (false checks)                                                                  \
			status = refuse_##interface(status, #name);                                \
		else                                                                               \
			status = not_supported(#name, &said);                                      \
		TELL(name, status, args);                                                          \
		return status;                                                                     \
	}

#define RT(name, params, args, checks)                                                             \
	CHECKED(runtime, plrt_, cudaError_t, name, params, args, checks)
#define RT_FOR(versions, public, name, params, args, checks) RT(name, params, args, checks)
#define RT_STUB(name, params, args, checks) UNSUPPORTED(runtime, plrt_, name, params, args, checks)
#define RT_TYPED(type, name, params, args, checks)                                                 \
	type plentry_##name params                                                                 \
	{                                                                                          \
		(void)(false checks);                                                              \
		TELL_UNTYPED(name, args);                                                          \
		return plrt_##name args;                                                           \
	}
#define RT_VOID(name, params, args)                                                                \
	void plentry_##name params                                                                 \
	{                                                                                          \
		TELL_UNTYPED(name, args);                                                          \
		plrt_##name args;                                                                  \
	}
#define DRV(name, params, args, checks) CHECKED(driver, pldrv_, int, name, params, args, checks)
#define DRV_STUB(name, params, args, checks) UNSUPPORTED(driver, pldrv_, name, params, args, checks)

#pragma GCC diagnostic push
/*
 * What is not supported leaves its arguments alone; a check may be there for its effect or not at
 * all.
 */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "runtime/cudart/runtime.def"
#include "runtime/cuda/driver.def"
#pragma GCC diagnostic pop
