/*
 * Copies and fills of the driver interface: each entry point fills in one description
 * (src/dev/memory/copy.h).
 */
#include "runtime/cuda/drv.h"
#include "src/dev/memory/copy.h"

/* As RT_DEFAULT_FN: an entry point in the order of the default stream, and its _ptds form. */
#define DRV_DEFAULT_FN(name, params, body)                                                         \
	DRV_FN(name, params)                                                                       \
	{                                                                                          \
		enum { OWN = 0 };                                                                  \
		return body;                                                                       \
	}                                                                                          \
	DRV_FN(name##_ptds, params)                                                                \
	{                                                                                          \
		enum { OWN = 1 };                                                                  \
		return body;                                                                       \
	}

struct way {
	const void *stream;
	bool own;
	enum copy_mode mode;
};

#define NOW ((struct way){NULL, OWN, COPY_SYNC})
#define LATER ((struct way){stream, OWN, COPY_ASYNC})

/* The runtime's error for rows that are too long is not one of the driver's. */
static int driver_status(enum status status)
{
	return status == STATUS_INVALID_PITCH_VALUE ? (int)STATUS_INVALID_VALUE : (int)status;
}

static int drv_issue_copy(struct copy c, struct way w)
{
	int status;
	struct stream *s = drv_stream(w.stream, w.own, &status);

	return s ? driver_status(copy_issue(s, &c, w.mode)) : status;
}

static int drv_fill(struct copy_fill f, struct way w)
{
	int status;
	struct stream *s = drv_stream(w.stream, w.own, &status);

	return s ? driver_status(copy_fill_issue(s, &f, w.mode)) : status;
}

/* ---- one dimension ---- */

#define H_TO_D copy_linear(COPY_DEVICE, dst, COPY_HOST, rt_address(src), size)
#define D_TO_H copy_linear(COPY_HOST, rt_address(dst), COPY_DEVICE, src, size)
#define D_TO_D copy_linear(COPY_DEVICE, dst, COPY_DEVICE, src, size)
#define ANY_TO_ANY copy_linear(COPY_ANY, dst, COPY_ANY, src, size)

DRV_DEFAULT_FN(cuMemcpy, (u64 dst, u64 src, size_t size), drv_issue_copy(ANY_TO_ANY, NOW))
DRV_STREAM_FN(cuMemcpyAsync, (u64 dst, u64 src, size_t size, void *stream),
	      drv_issue_copy(ANY_TO_ANY, LATER))
DRV_DEFAULT_FN(cuMemcpyHtoD_v2, (u64 dst, const void *src, size_t size),
	       drv_issue_copy(H_TO_D, NOW))
DRV_STREAM_FN(cuMemcpyHtoDAsync_v2, (u64 dst, const void *src, size_t size, void *stream),
	      drv_issue_copy(H_TO_D, LATER))
DRV_DEFAULT_FN(cuMemcpyDtoH_v2, (void *dst, u64 src, size_t size), drv_issue_copy(D_TO_H, NOW))
DRV_STREAM_FN(cuMemcpyDtoHAsync_v2, (void *dst, u64 src, size_t size, void *stream),
	      drv_issue_copy(D_TO_H, LATER))
DRV_DEFAULT_FN(cuMemcpyDtoD_v2, (u64 dst, u64 src, size_t size), drv_issue_copy(D_TO_D, NOW))
DRV_STREAM_FN(cuMemcpyDtoDAsync_v2, (u64 dst, u64 src, size_t size, void *stream),
	      drv_issue_copy(D_TO_D, LATER))

/* NULL: addresses say enough. */
static bool names_context(const void *handle)
{
	return !handle || rt_handle_is(handle, RT_HANDLE_CONTEXT);
}

static int copy_between_contexts(struct copy c, const void *to, const void *from, struct way w)
{
	int status;

	if (!drv_device(&status))
		return status;
	return names_context(to) && names_context(from) ? drv_issue_copy(c, w)
							: (int)STATUS_INVALID_CONTEXT;
}

DRV_DEFAULT_FN(cuMemcpyPeer, (u64 dst, void *to, u64 src, void *from, size_t size),
	       copy_between_contexts(D_TO_D, to, from, NOW))
DRV_STREAM_FN(cuMemcpyPeerAsync,
	      (u64 dst, void *to, u64 src, void *from, size_t size, void *stream),
	      copy_between_contexts(D_TO_D, to, from, LATER))

/* ---- arrays, so many bytes on from an offset ---- */

static struct copy along(struct copy_end dst, struct copy_end src, size_t size)
{
	return (struct copy){dst, src, size, 1, 1};
}

#define ARRAY(handle, at) ((struct copy_end){.place = COPY_ARRAY, .array = handle, .x = at})
#define DEVICE(p) ((struct copy_end){.place = COPY_DEVICE, .address = p})
#define HOST(p) ((struct copy_end){.place = COPY_HOST, .address = rt_address(p)})

DRV_DEFAULT_FN(cuMemcpyDtoA_v2, (void *dst, size_t at, u64 src, size_t size),
	       drv_issue_copy(along(ARRAY(dst, at), DEVICE(src), size), NOW))
DRV_DEFAULT_FN(cuMemcpyAtoD_v2, (u64 dst, void *src, size_t at, size_t size),
	       drv_issue_copy(along(DEVICE(dst), ARRAY(src, at), size), NOW))
DRV_DEFAULT_FN(cuMemcpyHtoA_v2, (void *dst, size_t at, const void *src, size_t size),
	       drv_issue_copy(along(ARRAY(dst, at), HOST(src), size), NOW))
DRV_DEFAULT_FN(cuMemcpyAtoH_v2, (void *dst, void *src, size_t at, size_t size),
	       drv_issue_copy(along(HOST(dst), ARRAY(src, at), size), NOW))
DRV_DEFAULT_FN(cuMemcpyAtoA_v2, (void *dst, size_t dst_at, void *src, size_t src_at, size_t size),
	       drv_issue_copy(along(ARRAY(dst, dst_at), ARRAY(src, src_at), size), NOW))
DRV_STREAM_FN(cuMemcpyHtoAAsync_v2,
	      (void *dst, size_t at, const void *src, size_t size, void *stream),
	      drv_issue_copy(along(ARRAY(dst, at), HOST(src), size), LATER))
DRV_STREAM_FN(cuMemcpyAtoHAsync_v2, (void *dst, void *src, size_t at, size_t size, void *stream),
	      drv_issue_copy(along(HOST(dst), ARRAY(src, at), size), LATER))

/* ---- boxes ---- */

/* CUmemorytype -> enum copy_place; 0 is none. */
static bool read_place(int type, struct copy_end *e, const void *host, u64 device)
{
	static const u8 places[] = {[1] = COPY_HOST, COPY_DEVICE, COPY_ARRAY, COPY_ANY};

	if (type < 1 || type > 4)
		return false;
	e->place = (enum copy_place)places[type];
	e->address = type == 1 ? rt_address(host) : device;
	return true;
}

/* CUDA_MEMCPY2D */
struct plane_end {
	size_t x, y;
	int type;
	void *host;
	u64 device;
	void *array;
	size_t pitch;
};

struct plane {
	struct plane_end src, dst;
	size_t width, height;
};

static bool read_plane_end(const struct plane_end *p, struct copy_end *e)
{
	*e = (struct copy_end){.array = p->array, .pitch = p->pitch, .x = p->x, .y = p->y};
	return read_place(p->type, e, p->host, p->device);
}

static int copy_plane(const struct plane *p, struct way w)
{
	struct copy c = {.depth = 1};

	if (!p)
		return STATUS_INVALID_VALUE;
	c.width = p->width;
	c.height = p->height;
	if (!read_plane_end(&p->src, &c.src) || !read_plane_end(&p->dst, &c.dst))
		return STATUS_INVALID_VALUE;
	return drv_issue_copy(c, w);
}

DRV_DEFAULT_FN(cuMemcpy2D_v2, (const struct plane *p), copy_plane(p, NOW))
DRV_DEFAULT_FN(cuMemcpy2DUnaligned_v2, (const struct plane *p), copy_plane(p, NOW))
DRV_STREAM_FN(cuMemcpy2DAsync_v2, (const struct plane *p, void *stream), copy_plane(p, LATER))

/* CUDA_MEMCPY3D and, where the reserved word is the context, CUDA_MEMCPY3D_PEER */
struct box_end {
	size_t x, y, z, level;
	int type;
	void *host;
	u64 device;
	void *array, *context;
	size_t pitch, rows;
};

struct box {
	struct box_end src, dst;
	size_t width, height, depth;
};

static bool read_box_end(const struct box_end *b, struct copy_end *e)
{
	*e = (struct copy_end){.array = b->array,
			       .pitch = b->pitch,
			       .rows = b->rows,
			       .x = b->x,
			       .y = b->y,
			       .z = b->z};
	return !b->level && read_place(b->type, e, b->host, b->device);
}

int drv_copy_read(const void *params, struct copy *c)
{
	const struct box *b = params;

	if (!b)
		return STATUS_INVALID_VALUE;
	*c = (struct copy){.width = b->width, .height = b->height, .depth = b->depth};
	return read_box_end(&b->src, &c->src) && read_box_end(&b->dst, &c->dst)
		       ? STATUS_SUCCESS
		       : STATUS_INVALID_VALUE;
}

static int copy_box(const struct box *b, struct way w)
{
	struct copy c;
	int status = drv_copy_read(b, &c);

	return status ? status : drv_issue_copy(c, w);
}

static int copy_box_peer(const struct box *b, struct way w)
{
	if (!b)
		return STATUS_INVALID_VALUE;
	return names_context(b->src.context) && names_context(b->dst.context)
		       ? copy_box(b, w)
		       : (int)STATUS_INVALID_CONTEXT;
}

DRV_DEFAULT_FN(cuMemcpy3D_v2, (const struct box *b), copy_box(b, NOW))
DRV_STREAM_FN(cuMemcpy3DAsync_v2, (const struct box *b, void *stream), copy_box(b, LATER))
DRV_DEFAULT_FN(cuMemcpy3DPeer, (const struct box *b), copy_box_peer(b, NOW))
DRV_STREAM_FN(cuMemcpy3DPeerAsync, (const struct box *b, void *stream), copy_box_peer(b, LATER))

/* ---- fills ---- */

static struct copy_fill line(u64 at, u32 value, u32 bytes, size_t n)
{
	return (struct copy_fill){
		.address = at, .width = n, .height = 1, .depth = 1, .value = value, .bytes = bytes};
}

static struct copy_fill plane(struct copy_fill f, size_t pitch, size_t height)
{
	f.pitch = pitch;
	f.height = height;
	return f;
}

#define FILLS(name, type)                                                                          \
	DRV_DEFAULT_FN(cuMemset##name##_v2, (u64 at, type value, size_t n),                        \
		       drv_fill(line(at, value, sizeof(type), n), NOW))                            \
	DRV_STREAM_FN(cuMemset##name##Async, (u64 at, type value, size_t n, void *stream),         \
		      drv_fill(line(at, value, sizeof(type), n), LATER))
#define FILLS_2D(name, type)                                                                       \
	DRV_DEFAULT_FN(cuMemsetD2##name##_v2,                                                      \
		       (u64 at, size_t pitch, type value, size_t width, size_t height),            \
		       drv_fill(plane(line(at, value, sizeof(type), width), pitch, height), NOW))  \
	DRV_STREAM_FN(                                                                             \
		cuMemsetD2##name##Async,                                                           \
		(u64 at, size_t pitch, type value, size_t width, size_t height, void *stream),     \
		drv_fill(plane(line(at, value, sizeof(type), width), pitch, height), LATER))

FILLS(D8, u8)
FILLS(D16, u16)
FILLS(D32, u32)
FILLS_2D(D8, u8)
FILLS_2D(D16, u16)
FILLS_2D(D32, u32)
