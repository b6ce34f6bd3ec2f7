/*
 * Limits, flags and preferences of the runtime interface; the limits are the driver interface's
 * too.
 */
#include "runtime/persisting.h"
#include "runtime/process.h"
#include "src/base/size.h"
#include "src/profile/collect.h"
#include "src/profile/ranges.h"

#define STACK_ALIGN 16u
#define PRINTF_DEFAULT 8650752u
#define PENDING_DEFAULT 2048u
#define FETCH_DEFAULT 64u
#define FETCH_MAX 128u
/* What values are rounded up to, and what they are at least, as measured on an H200. */
#define STACK_MAX ((size_t)512 << 10)
#define PRINTF_UNIT 256u
#define PRINTF_LEAST ((size_t)512 << 10)
#define HEAP_UNIT ((size_t)64 << 10)
#define HEAP_LEAST ((size_t)4 << 20)
#define PENDING_LEAST 32u
/*
 * The second-level cache is divided into ways. Of 16, an H200 sets three aside at first, and ten at
 * most; an A100 up to twelve.
 */
#define CACHE_WAYS 16u
#define PERSISTING_WAYS 3u
/* Asked for only: whether kernels of graphics make do with less shared memory. */
#define LIMIT_SHARED_FALLBACK RT_LIMITS
#define LIMIT_PRINTF_AGAIN (RT_LIMITS + 1)

/* Defaults as measured on an H200. */
void rt_limits_init(struct rt_device *d)
{
	int persisting = 0;

	arch_attribute(d->dev.arch, 108, &persisting);
	persisting =
		persisting ? d->dev.arch->l2_bytes / (int)CACHE_WAYS * (int)PERSISTING_WAYS : 0;
	d->limits[RT_LIMIT_STACK] = DEVICE_STACK_LIMIT;
	d->limits[RT_LIMIT_PRINTF] = PRINTF_DEFAULT;
	d->limits[RT_LIMIT_PENDING_LAUNCHES] = PENDING_DEFAULT;
	d->limits[RT_LIMIT_L2_FETCH] = FETCH_DEFAULT;
	d->limits[RT_LIMIT_L2_PERSISTING] = (size_t)persisting;
	d->limits[RT_LIMIT_SHARED] = (size_t)d->dev.arch->smem_per_cta_optin_bytes;
}

/* Never less than what a device starts with. */
static int set_stack(struct rt_device *d, size_t value)
{
	int status = (int)stream_device_finish(&d->dev);

	if (value > STACK_MAX)
		return cudaErrorInvalidValue;
	d->limits[RT_LIMIT_STACK] = (size_t)align_up(value, STACK_ALIGN);
	d->dev.stack_limit = (u32)d->limits[RT_LIMIT_STACK];
	d->dev.stack_bytes = value > DEVICE_STACK_BYTES ? (u32)value : DEVICE_STACK_BYTES;
	return status;
}

/* Not less than `least`, in whole units. False: there is no such number. */
static bool at_least(size_t *value, size_t least, size_t unit)
{
	u64 rounded = least;

	if (*value >= least && !size_align_up(*value, unit, &rounded))
		return false;
	*value = (size_t)rounded;
	return true;
}

/* Whole ways. */
static size_t persisting_ways(size_t value, size_t most, const struct arch *a)
{
	size_t way = max_u64((size_t)a->l2_bytes / CACHE_WAYS, 1);

	return min_u64((value + way - 1) / way * way, most);
}

/* A hint: what the second cache can fetch, at least as much. */
static u32 fetch_piece(size_t value)
{
	return value <= 32 ? 32 : value <= 64 ? 64 : FETCH_MAX;
}

int rt_limit_set(struct rt_device *d, int limit, size_t value)
{
	int most = 0, status = (int)device_capture_guard(&d->dev);

	if (status)
		return status;
	switch (limit) {
	case RT_LIMIT_STACK:
		return set_stack(d, value);
	case RT_LIMIT_PRINTF:
		if (!at_least(&value, PRINTF_LEAST, PRINTF_UNIT))
			return cudaErrorInvalidValue;
		break;
	case RT_LIMIT_PENDING_LAUNCHES:
		value = max_u64(value, PENDING_LEAST);
		break;
	case RT_LIMIT_HEAP:
		if (!at_least(&value, HEAP_LEAST, HEAP_UNIT) ||
		    !exec_heap_resize(d->dev.syscalls.heap, value))
			return cudaErrorInvalidValue;
		break;
	case RT_LIMIT_L2_FETCH:
		if (value > FETCH_MAX)
			return cudaErrorInvalidValue;
		d->dev.fetch_bytes = fetch_piece(value);
		break;
	case RT_LIMIT_L2_PERSISTING:
		arch_attribute(d->dev.arch, 108, &most);
		if (!most)
			return STATUS_UNSUPPORTED_LIMIT;
		if (value > (size_t)most)
			return cudaErrorInvalidValue;
		value = persisting_ways(value, (size_t)most, d->dev.arch);
		/* One is set aside in any case, though programs are told none. */
		if (d->profile)
			profile_device_set_aside(d->profile, max_u64(value, 1));
		break;
	case RT_LIMIT_SYNC_DEPTH:
		/* Device code of devices from 9.0 on cannot wait for its children. */
		return STATUS_UNSUPPORTED_LIMIT;
	case LIMIT_PRINTF_AGAIN:
		return STATUS_UNSUPPORTED_LIMIT;
	case RT_LIMIT_SHARED:
	case LIMIT_SHARED_FALLBACK:
		return STATUS_NOT_PERMITTED;
	default:
		return cudaErrorInvalidValue;
	}
	d->limits[limit] = value;
	return cudaSuccess;
}

int rt_limit_get(struct rt_device *d, int limit, size_t *value)
{
	if (limit < 0 || limit > LIMIT_PRINTF_AGAIN)
		return cudaErrorInvalidValue;
	if (limit == RT_LIMIT_SYNC_DEPTH || limit == LIMIT_PRINTF_AGAIN)
		return STATUS_UNSUPPORTED_LIMIT;
	if (limit == LIMIT_SHARED_FALLBACK) {
		*value = 0;
		return cudaSuccess;
	}
	*value = limit == RT_LIMIT_HEAP ? (size_t)exec_heap_limit(d->dev.syscalls.heap)
					: d->limits[limit];
	return cudaSuccess;
}

RT_FN(cudaDeviceSetLimit, (int limit, size_t value))
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	return rt_error(d ? rt_limit_set(d, limit, value) : status);
}

RT_FN(cudaDeviceGetLimit, (size_t * value, int limit))
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (!value)
		return rt_error(cudaErrorInvalidValue);
	return rt_error(d ? rt_limit_get(d, limit, value) : status);
}

/* ---- profiling ---- */

void rt_profile_switch(bool on)
{
	if (the_process.profile)
		profile_ranges_switch(profile_ranges_of(the_process.profile), on);
}

RT_FN(cudaProfilerStart, (void))
{
	int status;

	rt_device_now(&status);
	rt_profile_switch(true);
	return rt_error(status);
}

RT_FN(cudaProfilerStop, (void))
{
	int status;

	rt_device_now(&status);
	rt_profile_switch(false);
	return rt_error(status);
}

/* ---- flags of the device ---- */

#define FLAGS_KNOWN                                                                                \
	0xffu /* scheduling, mapped host memory, keep local memory, synchronous copies */
#define FLAG_MAP_HOST 8u

/* The bits of scheduling hold 0, 1, 2 or 4. */
static bool flags_are_known(unsigned flags)
{
	return !(flags & ~FLAGS_KNOWN) && ((flags & 7) <= 2 || (flags & 7) == 4);
}

RT_FN(cudaSetDeviceFlags, (unsigned flags))
{
	int status = rt_device_check(0);
	struct rt_context *c = status ? NULL : rt_context_primary(rt_device_index());

	if (!c)
		return rt_error(status ? status : (int)cudaErrorMemoryAllocation);
	if (!flags_are_known(flags))
		return rt_error(cudaErrorInvalidValue);
	c->flags = flags & ~FLAG_MAP_HOST;
	return cudaSuccess;
}

/* Host memory can always be mapped. */
RT_FN(cudaGetDeviceFlags, (unsigned *flags))
{
	int status = rt_device_check(0);
	struct rt_context *c = status ? NULL : rt_context_now();

	if (!flags)
		return rt_error(cudaErrorInvalidValue);
	c = status || c ? c : rt_context_primary(rt_device_index());
	if (!c)
		return rt_error(status ? status : (int)cudaErrorMemoryAllocation);
	*flags = c->flags | FLAG_MAP_HOST;
	return cudaSuccess;
}

RT_FN(cudaInitDevice, (int device, unsigned device_flags, unsigned flags))
{
	int status = rt_device_check(device);
	struct rt_context *c;

	if (status)
		return rt_error(status);
	if (flags & 1 && !flags_are_known(device_flags))
		return rt_error(cudaErrorInvalidValue);
	if (!rt_device_open(device, &status))
		return rt_error(status);
	c = rt_context_primary(device);
	if (!c)
		return rt_error(cudaErrorMemoryAllocation);
	c->is_active = true;
	if (flags & 1) /* the flags are meant */
		c->flags = device_flags & ~FLAG_MAP_HOST;
	return cudaSuccess;
}

/* ---- preferences, kept and without effect on results ---- */

static int keep_limit(int offset, int value, int last)
{
	int status;

	struct rt_device *d = rt_device_now(&status);

	if (d && !offset)
		status = (int)device_capture_guard(&d->dev);
	if (status)
		return rt_error(status);
	if (value < 0 || value > last)
		return rt_error(cudaErrorInvalidValue);
	*(offset ? &rt_context_now()->shared_config : &rt_context_now()->cache_config) = value;
	return cudaSuccess;
}

RT_FN(cudaDeviceSetCacheConfig, (int config))
{
	return keep_limit(0, config, 3);
}

RT_FN(cudaDeviceGetCacheConfig, (int *config))
{
	int status;

	if (!config)
		return rt_error(cudaErrorInvalidValue);
	if (rt_device_now(&status))
		*config = rt_context_now()->cache_config;
	return rt_error(status);
}

RT_FN(cudaDeviceSetSharedMemConfig, (int config))
{
	return keep_limit(1, config, 2);
}

/* Banks are four bytes wide on every device there is. */
RT_FN(cudaDeviceGetSharedMemConfig, (int *config))
{
	int status;

	if (!config)
		return rt_error(cudaErrorInvalidValue);
	if (rt_device_now(&status))
		*config = 1;
	return rt_error(status);
}

RT_FN(cudaFuncSetCacheConfig, (const void *stub, int config))
{
	int status;

	if (!rt_kernel(rt_named_kernel(stub), &status))
		return rt_error(status);
	return rt_error(config < 0 || config > 3 ? cudaErrorInvalidValue : cudaSuccess);
}

RT_FN(cudaFuncSetSharedMemConfig, (const void *stub, int config))
{
	int status;

	if (!rt_kernel(rt_named_kernel(stub), &status))
		return rt_error(status);
	return rt_error(config < 0 || config > 2 ? cudaErrorInvalidValue : cudaSuccess);
}

int rt_reset_persisting(struct rt_device *d)
{
	int status = cudaSuccess;

	if (profile_device_keeps_lines(d->profile)) {
		status = (int)stream_device_finish(&d->dev);
		profile_device_reset_persisting(d->profile);
	}
	return status;
}

RT_FN(cudaCtxResetPersistingL2Cache, (void))
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	return rt_error(d ? rt_reset_persisting(d) : status);
}

RT_FN(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest))
{
	int status;

	if (!rt_device_now(&status))
		return rt_error(status);
	if (least)
		*least = RT_PRIORITY_LEAST;
	if (greatest)
		*greatest = RT_PRIORITY_GREATEST;
	return cudaSuccess;
}
