/*
 * Copy and fill nodes. What a program described is kept as it is, and read when the node runs.
 */
#include "runtime/graph_api.h"

/* One side of a copy: lines of bytes. */
struct side {
	u8 *at;
	size_t pitch, slice;
};

static struct side rt_side(const struct pitched_ptr *p, const size_t *pos)
{
	return (struct side){p->at + pos[0] + pos[1] * p->pitch + pos[2] * p->pitch * p->ysize,
			     p->pitch, p->pitch * p->ysize};
}

static struct side drv_side(const struct drv_copy_side *s)
{
	u8 *base = s->type == 1 ? s->host : (u8 *)(uintptr_t)s->device;

	return (struct side){base + s->x + s->y * s->pitch + s->z * s->pitch * s->height, s->pitch,
			     s->pitch * s->height};
}

static void describe(const struct node_copy *c, struct side *dst, struct side *src, size_t *extent)
{
	if (c->driver) {
		*dst = drv_side(&c->u.drv.dst);
		*src = drv_side(&c->u.drv.src);
		extent[0] = c->u.drv.width;
		extent[1] = c->u.drv.height;
		extent[2] = c->u.drv.depth;
	} else {
		*dst = rt_side(&c->u.rt.dst, c->u.rt.dst_pos);
		*src = rt_side(&c->u.rt.src, c->u.rt.src_pos);
		memcpy(extent, c->u.rt.extent, sizeof(c->u.rt.extent));
	}
}

/* Where the host has it: device addresses need not be the host's. */
static u8 *host_of(const struct device *d, u8 *p)
{
	u8 *at = mem_pointer((struct mem *)(uintptr_t)&d->mem, (u64)(uintptr_t)p);

	return at ? at : p;
}

static enum status run_copy(void *data, enum status so_far)
{
	const struct node_copy *c = data;
	struct side dst, src;
	size_t extent[3];

	(void)so_far;
	describe(c, &dst, &src, extent);
	dst.at = host_of(c->dev, dst.at);
	src.at = host_of(c->dev, src.at);
	for (size_t z = 0; z < extent[2]; z++)
		for (size_t y = 0; y < extent[1]; y++)
			memmove(dst.at + z * dst.slice + y * dst.pitch,
				src.at + z * src.slice + y * src.pitch, extent[0]);
	return STATUS_SUCCESS;
}

static bool has_array(const struct node_copy *c)
{
	if (c->driver)
		return c->u.drv.src.type == 3 || c->u.drv.dst.type == 3;
	return c->u.rt.src_array || c->u.rt.dst_array;
}

/* Does the side say where it is, and do its lines fit? */
static bool side_is_valid(const struct side *s, const size_t *extent)
{
	return s->at && (extent[1] <= 1 || s->pitch >= extent[0]);
}

int action_copy(bool driver, const void *params, struct graph_action *a, struct node_copy *room)
{
	int status;
	struct device *d = graph_device(driver, &status);
	struct side dst, src;
	size_t extent[3];

	if (!d)
		return status;
	if (!params)
		return STATUS_INVALID_VALUE;
	*room = (struct node_copy){.driver = driver, .dev = d};
	memcpy(&room->u, params, driver ? sizeof(room->u.drv) : sizeof(room->u.rt));
	if (has_array(room))
		return STATUS_NOT_SUPPORTED;
	describe(room, &dst, &src, extent);
	if (!extent[0] || !extent[1] || !extent[2] || !side_is_valid(&dst, extent) ||
	    !side_is_valid(&src, extent))
		return STATUS_INVALID_VALUE;
	if (!driver && (unsigned)room->u.rt.kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	*a = (struct graph_action){.type = GRAPH_COPY,
				   .dev = d,
				   .fn = run_copy,
				   .flags = STREAM_COPY,
				   .data = room,
				   .bytes = sizeof(*room)};
	return STATUS_SUCCESS;
}

int copy_params(bool driver, const struct graph_node *n, void *out)
{
	const struct graph_action *a = graph_node_action(n);
	const struct node_copy *c = a->data;

	/* What was captured, or added through the other interface, has no such description. */
	if (a->type != GRAPH_COPY || !out)
		return STATUS_INVALID_VALUE;
	if (a->fn != run_copy || c->driver != driver)
		return STATUS_NOT_SUPPORTED;
	memcpy(out, &c->u, driver ? sizeof(c->u.drv) : sizeof(c->u.rt));
	return STATUS_SUCCESS;
}

/* ---- fills ---- */

static void fill_line(u8 *to, u32 value, u32 element, u64 width)
{
	for (u64 i = 0; i < width; i++)
		memcpy(to + i * element, &value, element);
}

static enum status run_fill(void *data, enum status so_far)
{
	const struct node_fill *f = data;
	const struct memset_node_params *p = &f->params;
	u8 *at = host_of(f->dev, (u8 *)(uintptr_t)p->dst);

	(void)so_far;
	for (u64 y = 0; y < p->height; y++)
		fill_line(at + y * p->pitch, p->value, p->element, p->width);
	return STATUS_SUCCESS;
}

int action_fill(bool driver, const struct memset_node_params *p, struct graph_action *a,
		struct node_fill *room)
{
	int status;
	struct device *d = graph_device(driver, &status);
	struct mem_range r;
	u64 line;

	if (!d)
		return status;
	if (!p || (p->element != 1 && p->element != 2 && p->element != 4) || !p->width ||
	    !p->height || p->dst % p->element || p->width > UINT64_MAX / 8 / p->element)
		return STATUS_INVALID_VALUE;
	line = p->width * p->element;
	if ((p->height > 1 && p->pitch < line) || p->pitch > UINT64_MAX / 4 / p->height ||
	    !mem_find(&d->mem, p->dst, (p->height - 1) * p->pitch + line, &r))
		return STATUS_INVALID_VALUE;
	*room = (struct node_fill){d, *p};
	*a = (struct graph_action){.type = GRAPH_FILL,
				   .dev = d,
				   .fn = run_fill,
				   .flags = STREAM_FILL,
				   .data = room,
				   .bytes = sizeof(*room)};
	return STATUS_SUCCESS;
}

int fill_params(const struct graph_node *n, struct memset_node_params *out)
{
	const struct graph_action *a = graph_node_action(n);

	if (a->type != GRAPH_FILL || !out)
		return STATUS_INVALID_VALUE;
	if (a->fn != run_fill)
		return STATUS_NOT_SUPPORTED;
	*out = ((const struct node_fill *)a->data)->params;
	return STATUS_SUCCESS;
}
