/*
 * Contexts of the driver interface: making, stacking, primary contexts, limits, settings.
 */
#include "runtime/cuda/drv.h"
#include "runtime/persisting.h"

/* scheduling 0..4, mapped host memory 8, keep local memory 0x10, dumps, synchronous copies */
#define FLAGS_KNOWN 0x7fu
#define SCHEDULES_LAST 4u
#define MAP_HOST 8u

static int check_flags(unsigned flags)
{
	unsigned schedule = flags & 7;

	return flags & ~FLAGS_KNOWN || (schedule > 2 && schedule != SCHEDULES_LAST)
		       ? STATUS_INVALID_VALUE
		       : STATUS_SUCCESS;
}

/* A value a program passed as a context; NULL is not one. */
static int check_known_context(const struct rt_context *c)
{
	if (!rt_handle_is(c, RT_HANDLE_CONTEXT))
		return STATUS_INVALID_CONTEXT;
	return c->is_active || c->is_primary ? STATUS_SUCCESS : STATUS_CONTEXT_IS_DESTROYED;
}

static int make_context(struct rt_context **out, unsigned flags, int device, u32 version)
{
	int status = drv_check(device);
	struct rt_context *c;

	if (!out)
		return STATUS_INVALID_VALUE;
	status = status ? status : check_flags(flags);
	if (status || !rt_device_open(device, &status))
		return status;
	c = rt_context_new(device, flags, version);
	if (!c)
		return STATUS_OUT_OF_MEMORY;
	if (!rt_context_push(c)) {
		rt_context_kill(c);
		return STATUS_OUT_OF_MEMORY;
	}
	*out = c;
	return STATUS_SUCCESS;
}

DRV_FN(cuCtxCreate, (struct rt_context * *out, unsigned flags, int device))
{
	return make_context(out, flags, device, 3010);
}

DRV_FN(cuCtxCreate_v2, (struct rt_context * *out, unsigned flags, int device))
{
	return make_context(out, flags, device, 3020);
}

/* affinity: SMs to run on, which needs the multi-process service; there is none here. */
DRV_FN(cuCtxCreate_v3,
       (struct rt_context * *out, const void *affinity, int count, unsigned flags, int device))
{
	if (count < 0 || (count && !affinity))
		return STATUS_INVALID_VALUE;
	return count ? STATUS_UNSUPPORTED_EXEC_AFFINITY : make_context(out, flags, device, 11040);
}

struct create_params {
	const void *affinity;
	int affinity_count;
	const void *graphics;
};

DRV_FN(cuCtxCreate_v4,
       (struct rt_context * *out, const struct create_params *p, unsigned flags, int device))
{
	if (p && p->graphics)
		return STATUS_NOT_SUPPORTED;
	if (p && p->affinity_count)
		return p->affinity && p->affinity_count > 0 ? STATUS_UNSUPPORTED_EXEC_AFFINITY
							    : STATUS_INVALID_VALUE;
	return make_context(out, flags, device, 13000);
}

/* Ends a context that is not primary; its memory goes with the device's last context. */
static int destroy_context(struct rt_context *c)
{
	int status = !c ? (int)STATUS_INVALID_VALUE : check_known_context(c), device;

	if (status)
		return status;
	if (c->is_primary)
		return STATUS_INVALID_CONTEXT;
	device = c->device;
	rt_finish();
	drv_modules_free(c);
	rt_context_kill(c);
	if (!rt_context_count(device))
		rt_device_reset(device);
	return STATUS_SUCCESS;
}

DRV_FN(cuCtxDestroy, (struct rt_context * c))
{
	return destroy_context(c);
}

DRV_FN(cuCtxDestroy_v2, (struct rt_context * c))
{
	return destroy_context(c);
}

/* ---- the interface of CUDA 2: a use count, 1 at most ---- */

DRV_FN(cuCtxAttach, (struct rt_context * *out, unsigned flags))
{
	int status;
	struct rt_context *c = drv_context(&status);

	if (!out || flags)
		return STATUS_INVALID_VALUE;
	*out = c;
	return status;
}

DRV_FN(cuCtxDetach, (struct rt_context * c))
{
	return destroy_context(c);
}

/* ---- the thread's stack ---- */

DRV_FN(cuCtxPushCurrent_v2, (struct rt_context * c))
{
	int status = drv_check(0);

	status = status ? status : !c ? (int)STATUS_INVALID_VALUE : check_known_context(c);
	if (status)
		return status;
	return rt_context_push(c) ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

DRV_FN(cuCtxPushCurrent, (struct rt_context * c))
{
	return pldrv_cuCtxPushCurrent_v2(c);
}

DRV_FN(cuCtxPopCurrent_v2, (struct rt_context * *out))
{
	int status = drv_check(0);
	struct rt_context *c = rt_context_now();

	if (status)
		return status;
	if (!c)
		return STATUS_INVALID_CONTEXT;
	if (out)
		*out = c;
	rt_context_pop();
	return STATUS_SUCCESS;
}

DRV_FN(cuCtxPopCurrent, (struct rt_context * *out))
{
	return pldrv_cuCtxPopCurrent_v2(out);
}

DRV_FN(cuCtxSetCurrent, (struct rt_context * c))
{
	int status = drv_check(0);

	status = status || !c ? status : check_known_context(c);
	if (!status)
		rt_context_set(c);
	return status;
}

DRV_FN(cuCtxGetCurrent, (struct rt_context * *out))
{
	int status = drv_check(0);

	if (!out)
		return STATUS_INVALID_VALUE;
	if (!status)
		*out = rt_context_now();
	return status;
}

/* ---- what a context is ---- */

/* The context a call is about: c, or for NULL the current one. */
static struct rt_context *context_or_now(struct rt_context *c, int *status)
{
	if (!c)
		return drv_context(status);
	*status = drv_check(0);
	*status = *status ? *status : check_known_context(c);
	return *status ? NULL : c;
}

DRV_FN(cuCtxGetDevice_v2, (int *device, struct rt_context *c))
{
	int status;

	c = context_or_now(c, &status);
	if (!device)
		return STATUS_INVALID_VALUE;
	if (c)
		*device = c->device;
	return status;
}

DRV_FN(cuCtxGetDevice, (int *device))
{
	return pldrv_cuCtxGetDevice_v2(device, NULL);
}

DRV_FN(cuCtxSynchronize_v2, (struct rt_context * c))
{
	struct rt_device *d;
	int status;

	c = context_or_now(c, &status);
	d = c ? rt_device_open(c->device, &status) : NULL;
	return d ? rt_wait(d) : status;
}

DRV_FN(cuCtxSynchronize, (void))
{
	return pldrv_cuCtxSynchronize_v2(NULL);
}

DRV_FN(cuCtxGetId, (struct rt_context * c, u64 *id))
{
	int status;

	c = context_or_now(c, &status);
	if (!id)
		return STATUS_INVALID_VALUE;
	if (c)
		*id = c->id;
	return status;
}

DRV_FN(cuCtxGetApiVersion, (struct rt_context * c, unsigned *version))
{
	int status;

	c = context_or_now(c, &status);
	if (!version)
		return STATUS_INVALID_VALUE;
	if (c)
		*version = c->api_version;
	return status;
}

DRV_FN(cuCtxGetFlags, (unsigned *flags))
{
	int status;
	const struct rt_context *c = drv_context(&status);

	if (!flags)
		return STATUS_INVALID_VALUE;
	if (c)
		*flags = c->flags;
	return status;
}

DRV_FN(cuCtxSetFlags, (unsigned flags))
{
	int status;
	struct rt_context *c = drv_context(&status);

	status = status ? status : check_flags(flags);
	if (!status)
		c->flags = flags & ~MAP_HOST; /* which is always so */
	return status;
}

/* ---- limits and preferences ---- */

DRV_FN(cuCtxSetLimit, (int limit, size_t value))
{
	int status;
	struct rt_device *d = drv_device(&status);

	return d ? rt_limit_set(d, limit, value) : status;
}

DRV_FN(cuCtxGetLimit, (size_t * value, int limit))
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!value)
		return STATUS_INVALID_VALUE;
	return d ? rt_limit_get(d, limit, value) : status;
}

/* A preference of the context: kept, and without effect on results. */
static int keep_preference(int *at, int value, int last)
{
	if (value < 0 || value > last)
		return STATUS_INVALID_VALUE;
	*at = value;
	return STATUS_SUCCESS;
}

/* A preference of the current context, or what takes its place, to a program that asks. */
static int answer_preference(int *out, int (*read)(const struct rt_context *c))
{
	int status;
	const struct rt_context *c = drv_context(&status);

	if (!out)
		return STATUS_INVALID_VALUE;
	if (c)
		*out = read(c);
	return status;
}

static int cache_config_of(const struct rt_context *c)
{
	return c->cache_config;
}

/* As the device does, which since Maxwell is banks of four bytes. */
static int shared_config_of(const struct rt_context *c)
{
	(void)c;
	return 1;
}

DRV_FN(cuCtxSetCacheConfig, (int config))
{
	int status;
	struct rt_context *c = drv_context(&status);

	return c ? keep_preference(&c->cache_config, config, 3) : status;
}

DRV_FN(cuCtxGetCacheConfig, (int *config))
{
	return answer_preference(config, cache_config_of);
}

DRV_FN(cuCtxSetSharedMemConfig, (int config))
{
	int status;
	struct rt_context *c = drv_context(&status);

	return c ? keep_preference(&c->shared_config, config, 2) : status;
}

DRV_FN(cuCtxGetSharedMemConfig, (int *config))
{
	return answer_preference(config, shared_config_of);
}

DRV_FN(cuCtxGetStreamPriorityRange, (int *least, int *greatest))
{
	int status;

	if (!drv_context(&status))
		return status;
	if (least)
		*least = RT_PRIORITY_LEAST;
	if (greatest)
		*greatest = RT_PRIORITY_GREATEST;
	return STATUS_SUCCESS;
}

DRV_FN(cuCtxResetPersistingL2Cache, (void))
{
	int status;
	struct rt_device *d = drv_device(&status);

	return d ? rt_reset_persisting(d) : status;
}

DRV_FN(cuCtxGetExecAffinity, (int *out, int type))
{
	int status;

	const struct rt_context *c = drv_context(&status);

	if (!out || type)
		return STATUS_INVALID_VALUE;
	if (!c)
		return status;
	/* CUexecAffinityParam of SMs: all of them. */
	out[0] = 0;
	out[1] = rt_get()->list.at[c->device]->sms;
	return STATUS_SUCCESS;
}

DRV_FN(cuDeviceGetExecAffinitySupport, (int *out, int type, int device))
{
	int status = drv_check(device);

	if (!out || type < 0)
		return STATUS_INVALID_VALUE;
	if (!status)
		*out = 0;
	return status;
}

/* ---- primary contexts ---- */

DRV_FN(cuDevicePrimaryCtxRetain, (struct rt_context * *out, int device))
{
	int status = drv_check(device);
	struct rt_context *c;

	if (!out)
		return STATUS_INVALID_VALUE;
	if (status || !rt_device_open(device, &status))
		return status;
	c = rt_context_primary(device);
	if (!c)
		return STATUS_OUT_OF_MEMORY;
	c->is_active = true;
	c->retained++;
	*out = c;
	return STATUS_SUCCESS;
}

/* The last release ends the context, unless the runtime interface has made it its own. */
DRV_FN(cuDevicePrimaryCtxRelease_v2, (int device))
{
	int status = drv_check(device);
	struct rt_context *c = status ? NULL : rt_context_primary(device);

	if (!c)
		return status ? status : (int)STATUS_OUT_OF_MEMORY;
	if (!c->retained)
		return STATUS_INVALID_CONTEXT;
	if (!--c->retained)
		rt_device_reset(device);
	return STATUS_SUCCESS;
}

DRV_FN(cuDevicePrimaryCtxRelease, (int device))
{
	return pldrv_cuDevicePrimaryCtxRelease_v2(device);
}

DRV_FN(cuDevicePrimaryCtxReset_v2, (int device))
{
	int status = drv_check(device);

	if (!status)
		rt_device_reset(device);
	return status;
}

DRV_FN(cuDevicePrimaryCtxReset, (int device))
{
	return pldrv_cuDevicePrimaryCtxReset_v2(device);
}

DRV_FN(cuDevicePrimaryCtxSetFlags_v2, (int device, unsigned flags))
{
	int status = drv_check(device);
	struct rt_context *c = status ? NULL : rt_context_primary(device);

	status = status ? status : check_flags(flags);
	if (c && !status)
		c->flags = flags;
	return status;
}

/* Before CUDA 11 flags could not be changed while the context was in use. */
DRV_FN(cuDevicePrimaryCtxSetFlags, (int device, unsigned flags))
{
	const struct rt_context *c = drv_check(device) ? NULL : rt_context_primary(device);

	if (c && c->is_active)
		return STATUS_PRIMARY_CONTEXT_ACTIVE;
	return pldrv_cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

DRV_FN(cuDevicePrimaryCtxGetState, (int device, unsigned *flags, int *active))
{
	int status = drv_check(device);
	const struct rt_context *c = status ? NULL : rt_context_primary(device);

	if (!flags || !active)
		return STATUS_INVALID_VALUE;
	if (c) {
		*flags = c->flags;
		*active = c->is_active;
	}
	return status;
}
