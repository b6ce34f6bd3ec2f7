/*
 * Green contexts: parts of a device with some of its SMs, and events of whole contexts.
 * Source: CUDA Driver API, "Green Contexts".
 *
 * Deviation: which SMs a stream has changes nothing about its kernels; they may run on all workers.
 */
#include "runtime/cuda/drv.h"

enum { RESOURCE_SM = 1 };
enum { SPLIT_ALONE = 1, SPLIT_CLUSTERS = 2 };
enum { GREEN_DEFAULT_STREAM = 1 };
/* SMs that share a part of the chip, when that is of no interest. */
#define ALONE_SMS 2u

/* CUdevResource, 144 bytes. Ours: the device, from which it cannot be told otherwise. */
struct resource {
	int type;
	u32 device; /* + 1 */
	u8 pad[88];
	struct {
		u32 count, least, align;
	} sm;
	u8 more[36];
};
_Static_assert(sizeof(struct resource) == 144, "as the interface has it");

/* CUdevResourceDesc */
struct resources {
	struct rt_handle head;
	struct resource sm;
};

struct drv_green {
	struct rt_handle head;
	struct rt_context *context;
	struct resource sm;
};
_Static_assert(sizeof(struct drv_green) <= RT_HANDLE_BYTES, "a handle");

/* What a device has; a converted green context is a common one of the device. */
static struct resource sm_resource(int device, u32 count)
{
	const struct arch *a = rt_get()->list.at[device];

	return (struct resource){
		.type = RESOURCE_SM,
		.device = (u32)device + 1,
		.sm = {count, (u32)a->sm_group_min, (u32)a->sm_group_align},
	};
}

static bool is_sms(const struct resource *r)
{
	return r && r->type == RESOURCE_SM && r->device && r->device <= rt_get()->list.len;
}

/* ---- resources ---- */

static int get_resource(int status, struct resource all, struct resource *out, int type)
{
	if (!out)
		return STATUS_INVALID_VALUE;
	if (status)
		return status;
	if (type != RESOURCE_SM)
		return STATUS_INVALID_RESOURCE_TYPE;
	*out = all;
	return STATUS_SUCCESS;
}

DRV_FN(cuDeviceGetDevResource, (int device, struct resource *out, int type))
{
	int status = drv_check(device);

	if (status)
		return status;
	return get_resource(status, sm_resource(device, (u32)rt_get()->list.at[device]->sms), out,
			    type);
}

static bool is_green(const struct drv_green *g)
{
	return rt_handle_is(g, RT_HANDLE_GREEN);
}

DRV_FN(cuGreenCtxGetDevResource, (const struct drv_green *g, struct resource *out, int type))
{
	int status = drv_check(0);

	if (!status && !is_green(g))
		status = STATUS_INVALID_CONTEXT;
	return status ? status : get_resource(status, g->sm, out, type);
}

DRV_FN(cuCtxGetDevResource, (const struct rt_context *c, struct resource *out, int type))
{
	int status = drv_check(0);

	if (!status && !rt_handle_is(c, RT_HANDLE_CONTEXT))
		status = STATUS_INVALID_CONTEXT;
	if (status)
		return status;
	return pldrv_cuDeviceGetDevResource(c->device, out, type);
}

/*
 * Groups of the same size, at most *groups of them; out NULL: how many there could be. Returns the
 * size, 0: not even one.
 */
static u32 split_resource(struct resource *out, u32 *groups, const struct resource *in,
			  unsigned flags, u32 count)
{
	u32 least = in->sm.least, align = in->sm.align, n;
	u64 whole;

	if (flags & SPLIT_ALONE)
		least = align = ALONE_SMS;
	/* The resource comes from the program, which may have written anything into it. */
	count = count < least ? least : count;
	if (!count || !align || count > in->sm.count)
		return 0;
	whole = (u64)count + (align - count % align) % align;
	if (whole > in->sm.count)
		return 0;
	count = (u32)whole;
	n = in->sm.count / count;
	if (out && n > *groups)
		n = *groups;
	for (u32 i = 0; out && i < n; i++) {
		out[i] = *in;
		out[i].sm.count = count;
	}
	*groups = n;
	return count;
}

DRV_FN(cuDevSmResourceSplitByCount, (struct resource * out, u32 *groups, const struct resource *in,
				     struct resource *rest, unsigned flags, u32 count))
{
	int status = drv_check(0);
	struct resource from;

	if (status)
		return status;
	if (!groups || !in || flags & ~(unsigned)(SPLIT_ALONE | SPLIT_CLUSTERS))
		return STATUS_INVALID_VALUE;
	if (!is_sms(in))
		return STATUS_INVALID_RESOURCE_TYPE;
	from = *in; /* which may be among those that are written */
	count = split_resource(out, groups, &from, flags, count);
	if (!count)
		return STATUS_INVALID_RESOURCE_CONFIGURATION;
	if (rest) {
		*rest = from;
		rest->sm.count = from.sm.count - *groups * count;
		if (!rest->sm.count)
			*rest = (struct resource){0};
	}
	return STATUS_SUCCESS;
}

DRV_FN(cuDevResourceGenerateDesc, (struct resources * *out, const struct resource *list, u32 n))
{
	int status = drv_check(0);
	struct resources *r;
	u32 count = 0;

	if (status)
		return status;
	if (!out || !list || !n)
		return STATUS_INVALID_VALUE;
	for (u32 i = 0; i < n; i++) {
		if (!is_sms(&list[i]))
			return STATUS_INVALID_RESOURCE_TYPE;
		if (list[i].device != list[0].device)
			return STATUS_INVALID_RESOURCE_CONFIGURATION;
		count += list[i].sm.count;
	}
	r = rt_handle_new(RT_HANDLE_RESOURCES);
	if (!r)
		return STATUS_OUT_OF_MEMORY;
	r->sm = list[0];
	r->sm.sm.count = count;
	*out = r;
	return STATUS_SUCCESS;
}

/* ---- contexts ---- */

DRV_FN(cuGreenCtxCreate,
       (struct drv_green * *out, const struct resources *what, int device, unsigned flags))
{
	int status = drv_check(device);
	struct drv_green *g;

	if (status)
		return status;
	if (!out || flags != GREEN_DEFAULT_STREAM || !rt_handle_is(what, RT_HANDLE_RESOURCES) ||
	    what->sm.device != (u32)device + 1)
		return STATUS_INVALID_VALUE;
	if (!rt_device_open(device, &status))
		return status;
	g = rt_handle_new(RT_HANDLE_GREEN);
	if (!g)
		return STATUS_OUT_OF_MEMORY;
	g->sm = what->sm;
	g->context = rt_context_new(device, 0, 13000);
	if (!g->context) {
		rt_handle_free(g);
		return STATUS_OUT_OF_MEMORY;
	}
	g->context->green = g;
	*out = g;
	return STATUS_SUCCESS;
}

/* May a call that fills in `out` ask about the green context? */
static int check_question(const struct drv_green *g, const void *out)
{
	int status = drv_check(0);

	if (status)
		return status;
	if (!is_green(g))
		return STATUS_INVALID_CONTEXT;
	return out ? STATUS_SUCCESS : STATUS_INVALID_VALUE;
}

/* Its streams stay, as common ones. */
DRV_FN(cuGreenCtxDestroy, (struct drv_green * g))
{
	int status = drv_check(0), device;

	if (status)
		return status;
	if (!is_green(g))
		return STATUS_INVALID_CONTEXT;
	device = g->context->device;
	rt_finish();
	drv_modules_free(g->context);
	g->context->green = NULL;
	rt_context_kill(g->context);
	rt_handle_free(g);
	if (!rt_context_count(device))
		rt_device_reset(device);
	return STATUS_SUCCESS;
}

DRV_FN(cuCtxFromGreenCtx, (struct rt_context * *out, const struct drv_green *g))
{
	int status = check_question(g, out);

	if (!status)
		*out = g->context;
	return status;
}

DRV_FN(cuGreenCtxGetId, (const struct drv_green *g, u64 *out))
{
	int status = check_question(g, out);

	if (!status)
		*out = g->context->id;
	return status;
}

/* ---- streams ---- */

DRV_FN(cuGreenCtxStreamCreate,
       (struct stream * *out, const struct drv_green *g, unsigned flags, int priority))
{
	int status = check_question(g, out);
	struct rt_device *d;

	if (status)
		return status;
	if (flags != STREAM_NON_BLOCKING)
		return STATUS_INVALID_VALUE;
	d = rt_device_open(g->context->device, &status);
	if (!d)
		return status;
	status = (int)stream_create(&d->dev, flags, priority, out);
	if (!status)
		stream_owner_set(*out, g->context);
	return status;
}

const void *drv_green_of(const struct stream *s)
{
	const struct rt_context *c = stream_owner(s);

	return c && rt_handle_is(c, RT_HANDLE_CONTEXT) ? c->green : NULL;
}

static int get_green(const struct stream *s, int status, const void **out)
{
	if (!s)
		return status;
	if (!out)
		return STATUS_INVALID_VALUE;
	*out = drv_green_of(s);
	return STATUS_SUCCESS;
}

DRV_FN(cuStreamGetGreenCtx, (struct stream * stream, const void **out))
{
	int status;
	const struct stream *s = drv_stream(stream, false, &status);

	return get_green(s, status, out);
}

/* ---- events of whole contexts ---- */

/*
 * The event in all of a context, or of its device, whose contexts share everything; or wait for it.
 */
static int whole(const struct rt_context *c, struct stream_event *e, bool wait)
{
	struct rt *rt = rt_get();
	const void *owner = c->green ? c : NULL;

	if (!stream_event_is(rt->streams, e))
		return STATUS_INVALID_HANDLE;
	if (stream_event_device(e) != &rt->device[c->device].dev)
		return STATUS_INVALID_HANDLE;
	return wait ? (int)stream_wait_event_all(e, &rt->device[c->device].dev, owner)
		    : (int)stream_event_record_all(e, owner);
}

static int of_context(const struct rt_context *c, struct stream_event *e, bool wait)
{
	int status;

	if (!drv_device(&status))
		return status;
	if (!rt_handle_is(c, RT_HANDLE_CONTEXT))
		return STATUS_INVALID_CONTEXT;
	return whole(c, e, wait);
}

static int of_green(const struct drv_green *g, struct stream_event *e, bool wait)
{
	int status;

	if (!drv_device(&status))
		return status;
	return is_green(g) ? whole(g->context, e, wait) : (int)STATUS_INVALID_CONTEXT;
}

DRV_FN(cuCtxRecordEvent, (const struct rt_context *c, struct stream_event *e))
{
	return of_context(c, e, false);
}

DRV_FN(cuCtxWaitEvent, (const struct rt_context *c, struct stream_event *e))
{
	return of_context(c, e, true);
}

DRV_FN(cuGreenCtxRecordEvent, (const struct drv_green *g, struct stream_event *e))
{
	return of_green(g, e, false);
}

DRV_FN(cuGreenCtxWaitEvent, (const struct drv_green *g, struct stream_event *e))
{
	return of_green(g, e, true);
}

/* ---- the runtime interface ---- */

RT_FN(cudaDeviceGetDevResource, (int device, struct resource *out, int type))
{
	return rt_error(pldrv_cuDeviceGetDevResource(device, out, type));
}

/* The SMs that a stream may use: those of its green context, or all. */
RT_STREAM_FN(cudaStreamGetDevResource, (void *stream, struct resource *out, int type), ({
		     int status;
		     struct stream *s = rt_stream(stream, OWN, &status);
		     const struct drv_green *g = s ? drv_green_of(s) : NULL;
		     s ? g ? get_resource(0, g->sm, out, type)
			   : pldrv_cuDeviceGetDevResource(rt_context_now()->device, out, type)
		       : status;
	     }))
