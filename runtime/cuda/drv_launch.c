/*
 * Launches of the driver interface, and the older way of launching, where block shape and
 * parameters are set on the function.
 */
#include "runtime/cuda/drv.h"
#include "runtime/graph/stream_attr.h"

/*
 * `extra`: pairs of a key and a value, ended by 0: 1 = parameter buffer, 2 = pointer to its size.
 */
int drv_read_extra(void **extra, const void **packed, u32 *bytes)
{
	for (; extra && extra[0]; extra += 2) {
		if ((uintptr_t)extra[0] == 1)
			*packed = extra[1];
		else if ((uintptr_t)extra[0] == 2)
			/* Larger than the parameters is right; none are as large as this. */
			*bytes = (u32)min_u64(*(const size_t *)extra[1], UINT32_MAX);
		else
			return STATUS_INVALID_VALUE;
	}
	return STATUS_SUCCESS;
}

/* Fills in the kernel and the parameters of l, whose sizes are set. */
static int drv_start(const void *function, struct device_launch *l, void *stream, bool own,
		     void **params, void **extra)
{
	int status;
	struct stream *s = drv_stream(stream, own, &status);
	const struct access_window *window = window_take();
	struct access_window room;

	if (!s)
		return status;
	l->kernel = function ? drv_kernel_on(function, (int)stream_device_of(s)->number, &status)
			     : NULL;
	if (!function)
		return STATUS_INVALID_HANDLE;
	if (!l->kernel)
		return status;
	if (l->kernel->owner->dev != stream_device_of(s))
		return STATUS_INVALID_HANDLE;
	if (params && extra)
		return STATUS_INVALID_VALUE;
	l->may_inline = true;
	l->name = function;
	l->from = rt_report_from();
	l->context = rt_context_number();
	l->args = params;
	status = params ? STATUS_SUCCESS : drv_read_extra(extra, &l->packed, &l->packed_bytes);
	window_give(window ? window : launch_window_of(NULL, s, &room));
	status = status ? status : (int)stream_launch(s, l);
	window_take();
	return status;
}

static int drv_launch_function(const void *function, struct device_launch *l, void *stream,
			       bool own, void **params, void **extra)
{
	int status = drv_start(function, l, stream, own, params, extra);

	rt_report_launch(l, l->kernel ? l->kernel->func->name->text : NULL, status);
	return status;
}

#define SHAPE .grid = {gx, gy, gz}, .block = {bx, by, bz}, .dynamic_bytes = shared

DRV_STREAM_FN(cuLaunchKernel,
	      (const void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
	       unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
	       void **extra),
	      drv_launch_function(function, &(struct device_launch){SHAPE}, stream, OWN, params,
				  extra))
DRV_STREAM_FN(cuLaunchCooperativeKernel,
	      (const void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
	       unsigned by, unsigned bz, unsigned shared, void *stream, void **params),
	      drv_launch_function(function, &(struct device_launch){SHAPE, .cooperative = true},
				  stream, OWN, params, NULL))

static int drv_launch_with(const struct drv_launch_config *c, const void *function, void **params,
			   void **extra, bool own)
{
	struct launch_attrs a;
	struct device_launch l = {0};
	struct stream *s;
	int status;

	if (!c)
		return STATUS_INVALID_VALUE;
	s = drv_stream(c->stream, own, &status);
	if (!s)
		return status;
	status = (int)launch_attrs_read(rt_get()->streams, stream_device_of(s), c->attrs,
					c->attr_len, &a);
	if (status)
		return status;
	memcpy(l.grid, c->grid, sizeof(l.grid));
	memcpy(l.block, c->block, sizeof(l.block));
	l.dynamic_bytes = c->shared;
	memcpy(l.cluster, a.cluster, sizeof(l.cluster));
	l.cooperative = a.cooperative;
	l.programmatic = a.programmatic;
	window_give(a.has_window ? &a.window : NULL);
	status = drv_launch_function(function, &l, c->stream, own, params, extra);
	return status ? status : (int)launch_attrs_record(&a, s);
}

DRV_STREAM_FN(cuLaunchKernelEx,
	      (const struct drv_launch_config *c, const void *function, void **params,
	       void **extra),
	      drv_launch_with(c, function, params, extra, OWN))

/* ---- the older way ---- */

#define OLD_PARAMS 4096u

struct old_launch {
	u32 block[3], shared, bytes;
	u8 params[OLD_PARAMS];
};

/* What has been set on a function; lives as long as its program. NULL: no memory. */
static struct old_launch *old_launch(struct device_kernel *k)
{
	struct device_program *p = k->owner;

	pthread_mutex_lock(&p->lock);
	if (!k->user) {
		k->user = ARENA_NEW(&p->arena, struct old_launch);
		if (k->user)
			*(struct old_launch *)k->user = (struct old_launch){.block = {1, 1, 1}};
	}
	pthread_mutex_unlock(&p->lock);
	return k->user;
}

/* Checks the context and the function; NULL: *status says why. */
static struct old_launch *old_state(const void *function, int *status)
{
	struct device_kernel *k = drv_device(status) ? drv_kernel(function, status) : NULL;
	struct old_launch *o;

	if (!k)
		return NULL;
	o = old_launch(k);
	if (!o)
		*status = STATUS_OUT_OF_MEMORY;
	return o;
}

DRV_FN(cuFuncSetBlockShape, (const void *function, int x, int y, int z))
{
	int status;
	struct old_launch *o = old_state(function, &status);

	if (!o)
		return status;
	if (x <= 0 || y <= 0 || z <= 0)
		return STATUS_INVALID_VALUE;
	o->block[0] = (u32)x;
	o->block[1] = (u32)y;
	o->block[2] = (u32)z;
	return STATUS_SUCCESS;
}

DRV_FN(cuFuncSetSharedSize, (const void *function, unsigned bytes))
{
	int status;
	struct old_launch *o = old_state(function, &status);

	if (o && bytes > (unsigned)rt_get()->list.at[rt_context_device()]->smem_per_cta_optin_bytes)
		return STATUS_INVALID_VALUE;
	if (o)
		o->shared = bytes;
	return status;
}

DRV_FN(cuParamSetSize, (const void *function, unsigned bytes))
{
	int status;
	struct old_launch *o = old_state(function, &status);

	if (!o)
		return status;
	if (bytes > OLD_PARAMS)
		return STATUS_INVALID_VALUE;
	o->bytes = bytes;
	return STATUS_SUCCESS;
}

static int set_param(const void *function, int offset, const void *value, u32 bytes)
{
	int status;
	struct old_launch *o = old_state(function, &status);

	if (!o)
		return status;
	if (offset < 0 || bytes > OLD_PARAMS || (u32)offset > OLD_PARAMS - bytes ||
	    (bytes && !value))
		return STATUS_INVALID_VALUE;
	if (bytes)
		memcpy(o->params + offset, value, bytes);
	return STATUS_SUCCESS;
}

DRV_FN(cuParamSeti, (const void *function, int offset, unsigned value))
{
	return set_param(function, offset, &value, sizeof(value));
}

DRV_FN(cuParamSetf, (const void *function, int offset, float value))
{
	return set_param(function, offset, &value, sizeof(value));
}

DRV_FN(cuParamSetv, (const void *function, int offset, void *value, unsigned bytes))
{
	return set_param(function, offset, value, bytes);
}

static int launch_old(const void *function, int width, int height, void *stream)
{
	int status;
	struct old_launch *o = old_state(function, &status);
	struct device_launch l = {0};
	size_t bytes;
	void *extra[5] = {(void *)1, NULL, (void *)2, NULL, NULL};

	if (!o)
		return status;
	if (width <= 0 || height <= 0)
		return STATUS_INVALID_VALUE;
	l.grid[0] = (u32)width;
	l.grid[1] = (u32)height;
	l.grid[2] = 1;
	memcpy(l.block, o->block, sizeof(l.block));
	l.dynamic_bytes = o->shared;
	bytes = o->bytes;
	extra[1] = o->params;
	extra[3] = &bytes;
	return drv_launch_function(function, &l, stream, false, NULL, extra);
}

DRV_FN(cuLaunch, (const void *function))
{
	return launch_old(function, 1, 1, NULL);
}

DRV_FN(cuLaunchGrid, (const void *function, int width, int height))
{
	return launch_old(function, width, height, NULL);
}

DRV_FN(cuLaunchGridAsync, (const void *function, int width, int height, void *stream))
{
	return launch_old(function, width, height, stream);
}
