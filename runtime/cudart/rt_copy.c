/*
 * Copies and fills of the runtime interface: each entry point fills in one description
 * (src/dev/memory/copy.h).
 */
#include "runtime/cudart/rt_copy.h"
#include "runtime/cudart/rt_texture.h"
#include "src/base/size.h"

/* Entry points whose order is that of the default stream, and their per-thread forms. */
#define RT_DEFAULT_FN(name, params, body)                                                          \
	RT_FN(name, params)                                                                        \
	{                                                                                          \
		enum { OWN = 0 };                                                                  \
		return rt_error(body);                                                             \
	}                                                                                          \
	RT_FN(name##_ptds, params)                                                                 \
	{                                                                                          \
		enum { OWN = 1 };                                                                  \
		return rt_error(body);                                                             \
	}

/* ---- issuing ---- */

static enum copy_place copy_end_place(int kind, bool dst)
{
	static const u8 places[][2] = {
		[cudaMemcpyHostToHost] = {COPY_HOST, COPY_HOST},
		[cudaMemcpyHostToDevice] = {COPY_HOST, COPY_DEVICE},
		[cudaMemcpyDeviceToHost] = {COPY_DEVICE, COPY_HOST},
		[cudaMemcpyDeviceToDevice] = {COPY_DEVICE, COPY_DEVICE},
		[cudaMemcpyDefault] = {COPY_ANY, COPY_ANY},
	};

	return (enum copy_place)places[kind][dst];
}

int rt_copy_places(struct copy *c, int kind)
{
	if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	/* Arrays are on the device. */
	if ((c->dst.place == COPY_ARRAY && copy_end_place(kind, true) == COPY_HOST) ||
	    (c->src.place == COPY_ARRAY && copy_end_place(kind, false) == COPY_HOST))
		return cudaErrorInvalidMemcpyDirection;
	if (c->dst.place != COPY_ARRAY)
		c->dst.place = copy_end_place(kind, true);
	if (c->src.place != COPY_ARRAY)
		c->src.place = copy_end_place(kind, false);
	return cudaSuccess;
}

/* Where a call's work goes. */
struct way {
	cudaStream_t stream;
	bool own;
	enum copy_mode mode;
};

#define NOW ((struct way){NULL, OWN, COPY_SYNC})
#define LATER ((struct way){stream, OWN, COPY_ASYNC})

static int rt_issue_copy(struct copy c, int kind, struct way w)
{
	int status;
	struct stream *s = rt_stream(w.stream, w.own, &status);

	if (!s)
		return status;
	status = rt_copy_places(&c, kind);
	return status ? status : (int)copy_issue(s, &c, w.mode);
}

static int rt_fill(struct copy_fill f, struct way w)
{
	int status;
	struct stream *s = rt_stream(w.stream, w.own, &status);

	return s ? (int)copy_fill_issue(s, &f, w.mode) : status;
}

/* ---- one dimension ---- */

static struct copy rt_linear_copy(void *dst, const void *src, size_t bytes)
{
	return copy_linear(COPY_ANY, rt_address(dst), COPY_ANY, rt_address(src), bytes);
}

RT_DEFAULT_FN(cudaMemcpy, (void *dst, const void *src, size_t size, int kind),
	      rt_issue_copy(rt_linear_copy(dst, src, size), kind, NOW))
RT_STREAM_FN(cudaMemcpyAsync,
	     (void *dst, const void *src, size_t size, int kind, cudaStream_t stream),
	     rt_issue_copy(rt_linear_copy(dst, src, size), kind, LATER))

static int copy_between_devices(struct copy c, int dst_device, int src_device, struct way w)
{
	int status = rt_device_check(dst_device);

	status = status ? status : rt_device_check(src_device);
	return status ? status : rt_issue_copy(c, cudaMemcpyDefault, w);
}

RT_FN(cudaMemcpyPeer, (void *dst, int dst_device, const void *src, int src_device, size_t size))
{
	enum { OWN = 0 };
	return rt_error(
		copy_between_devices(rt_linear_copy(dst, src, size), dst_device, src_device, NOW));
}

RT_FN(cudaMemcpyPeerAsync, (void *dst, int dst_device, const void *src, int src_device, size_t size,
			    cudaStream_t stream))
{
	enum { OWN = 0 };
	return rt_error(copy_between_devices(rt_linear_copy(dst, src, size), dst_device, src_device,
					     LATER));
}

/* ---- symbols ---- */

static int rt_symbol_copy(const void *symbol, size_t offset, struct copy c, bool to, int kind,
			  struct way w)
{
	u64 address, bytes;
	int status = rt_find_symbol(symbol, &address, &bytes);

	if (status)
		return status;
	if (offset > bytes || c.width > bytes - offset)
		return cudaErrorInvalidValue;
	if (kind == (to ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice) ||
	    kind == cudaMemcpyHostToHost)
		return cudaErrorInvalidMemcpyDirection;
	*(to ? &c.dst.address : &c.src.address) = address + offset;
	return rt_issue_copy(c, kind, w);
}

RT_DEFAULT_FN(cudaMemcpyToSymbol,
	      (const void *symbol, const void *src, size_t size, size_t offset, int kind),
	      rt_symbol_copy(symbol, offset, rt_linear_copy(NULL, src, size), true, kind, NOW))
RT_STREAM_FN(cudaMemcpyToSymbolAsync,
	     (const void *symbol, const void *src, size_t size, size_t offset, int kind,
	      cudaStream_t stream),
	     rt_symbol_copy(symbol, offset, rt_linear_copy(NULL, src, size), true, kind, LATER))
RT_DEFAULT_FN(cudaMemcpyFromSymbol,
	      (void *dst, const void *symbol, size_t size, size_t offset, int kind),
	      rt_symbol_copy(symbol, offset, rt_linear_copy(dst, NULL, size), false, kind, NOW))
RT_STREAM_FN(cudaMemcpyFromSymbolAsync,
	     (void *dst, const void *symbol, size_t size, size_t offset, int kind,
	      cudaStream_t stream),
	     rt_symbol_copy(symbol, offset, rt_linear_copy(dst, NULL, size), false, kind, LATER))

RT_FN(cudaGetSymbolAddress, (void **out, const void *symbol))
{
	u64 address, bytes;
	int status = out ? rt_find_symbol(symbol, &address, &bytes) : cudaErrorInvalidValue;

	if (!status)
		*out = (void *)(uintptr_t)address;
	return rt_error(status);
}

RT_FN(cudaGetSymbolSize, (size_t * out, const void *symbol))
{
	u64 address, bytes;
	int status = out ? rt_find_symbol(symbol, &address, &bytes) : cudaErrorInvalidValue;

	if (!status)
		*out = bytes;
	return rt_error(status);
}

/* ---- two dimensions ---- */

struct plane {
	size_t width, height;
};

static struct copy_end rows_at(const void *p, size_t pitch)
{
	return (struct copy_end){.address = rt_address(p), .pitch = pitch};
}

static struct copy_end array_at(const void *array, size_t x, size_t y)
{
	return (struct copy_end){.place = COPY_ARRAY, .array = array, .x = x, .y = y};
}

/* Are the rows of memory, of an end that is not an array, long enough? */
static bool rows_fit_array(const struct copy_end *e, const struct copy *c)
{
	return e->place == COPY_ARRAY || e->pitch >= c->width;
}

static struct copy flat(struct copy_end dst, struct copy_end src, struct plane p)
{
	return (struct copy){dst, src, p.width, p.height, 1};
}

/* Rows that are too long are found before what the array holds. */
static int issue_plane(struct copy c, int kind, struct way w)
{
	if (c.width && c.height && (c.dst.array || c.src.array) &&
	    (!rows_fit_array(&c.dst, &c) || !rows_fit_array(&c.src, &c)))
		return STATUS_INVALID_PITCH_VALUE;
	return rt_issue_copy(c, kind, w);
}

RT_DEFAULT_FN(cudaMemcpy2D,
	      (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
	       size_t height, int kind),
	      dpitch < width || spitch < width
		      ? STATUS_INVALID_PITCH_VALUE
		      : rt_issue_copy(flat(rows_at(dst, dpitch), rows_at(src, spitch),
					   (struct plane){width, height}),
				      kind, NOW))
RT_STREAM_FN(cudaMemcpy2DAsync,
	     (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
	      int kind, cudaStream_t stream),
	     dpitch < width || spitch < width
		     ? STATUS_INVALID_PITCH_VALUE
		     : rt_issue_copy(flat(rows_at(dst, dpitch), rows_at(src, spitch),
					  (struct plane){width, height}),
				     kind, LATER))
RT_DEFAULT_FN(cudaMemcpy2DToArray,
	      (void *dst, size_t x, size_t y, const void *src, size_t spitch, size_t width,
	       size_t height, int kind),
	      issue_plane(flat(array_at(dst, x, y), rows_at(src, spitch),
			       (struct plane){width, height}),
			  kind, NOW))
RT_STREAM_FN(cudaMemcpy2DToArrayAsync,
	     (void *dst, size_t x, size_t y, const void *src, size_t spitch, size_t width,
	      size_t height, int kind, cudaStream_t stream),
	     issue_plane(flat(array_at(dst, x, y), rows_at(src, spitch),
			      (struct plane){width, height}),
			 kind, LATER))
RT_DEFAULT_FN(cudaMemcpy2DFromArray,
	      (void *dst, size_t dpitch, const void *src, size_t x, size_t y, size_t width,
	       size_t height, int kind),
	      issue_plane(flat(rows_at(dst, dpitch), array_at(src, x, y),
			       (struct plane){width, height}),
			  kind, NOW))
RT_STREAM_FN(cudaMemcpy2DFromArrayAsync,
	     (void *dst, size_t dpitch, const void *src, size_t x, size_t y, size_t width,
	      size_t height, int kind, cudaStream_t stream),
	     issue_plane(flat(rows_at(dst, dpitch), array_at(src, x, y),
			      (struct plane){width, height}),
			 kind, LATER))
RT_DEFAULT_FN(cudaMemcpy2DArrayToArray,
	      (void *dst, size_t dx, size_t dy, const void *src, size_t sx, size_t sy, size_t width,
	       size_t height, int kind),
	      rt_issue_copy(flat(array_at(dst, dx, dy), array_at(src, sx, sy),
				 (struct plane){width, height}),
			    kind, NOW))

/* Copies of so many bytes to and from arrays go on in the next row. */
#define COUNT ((struct plane){count, 1})

RT_DEFAULT_FN(cudaMemcpyToArray,
	      (void *dst, size_t x, size_t y, const void *src, size_t count, int kind),
	      rt_issue_copy(flat(array_at(dst, x, y), rows_at(src, 0), COUNT), kind, NOW))
RT_STREAM_FN(cudaMemcpyToArrayAsync,
	     (void *dst, size_t x, size_t y, const void *src, size_t count, int kind,
	      cudaStream_t stream),
	     rt_issue_copy(flat(array_at(dst, x, y), rows_at(src, 0), COUNT), kind, LATER))
RT_DEFAULT_FN(cudaMemcpyFromArray,
	      (void *dst, const void *src, size_t x, size_t y, size_t count, int kind),
	      rt_issue_copy(flat(rows_at(dst, 0), array_at(src, x, y), COUNT), kind, NOW))
RT_STREAM_FN(cudaMemcpyFromArrayAsync,
	     (void *dst, const void *src, size_t x, size_t y, size_t count, int kind,
	      cudaStream_t stream),
	     rt_issue_copy(flat(rows_at(dst, 0), array_at(src, x, y), COUNT), kind, LATER))
RT_DEFAULT_FN(cudaMemcpyArrayToArray,
	      (void *dst, size_t dx, size_t dy, const void *src, size_t sx, size_t sy, size_t count,
	       int kind),
	      rt_issue_copy(flat(array_at(dst, dx, dy), array_at(src, sx, sy), COUNT), kind, NOW))

/* ---- three dimensions ---- */

/* False: the position in bytes is beyond what a number holds. */
static bool box_end(const struct rt_copy_3d_end *e, u64 element, struct copy_end *out)
{
	*out = (struct copy_end){.y = e->pos.y, .z = e->pos.z};
	if (e->array) {
		out->place = COPY_ARRAY;
		out->array = e->array;
	} else {
		out->address = rt_address(e->ptr.ptr);
		out->pitch = e->ptr.pitch;
		out->rows = e->ptr.ysize;
	}
	return size_mul(e->pos.x, element, &out->x);
}

/*
 * Are rows or slices of memory shorter than the box, of several? Found before all else that is
 * wrong.
 */
static bool is_short(const struct rt_copy_3d_end *e, const struct rt_extent *box, u64 element)
{
	u64 width;

	if (e->array || (box->height <= 1 && box->depth <= 1))
		return false;
	return !size_mul(box->width, element, &width) || e->ptr.pitch < width ||
	       (box->depth > 1 && e->ptr.ysize < box->height);
}

/*
 * Where an end is an array, the width and both positions count its elements, also those of the
 * other end, else bytes; two arrays have elements of one size. As an H200 does.
 */
int rt_copy_3d(const struct rt_copy_3d *p, struct copy *out)
{
	const struct mem_array *src = p->src.array ? rt_array_find(p->src.array) : NULL;
	const struct mem_array *dst = p->dst.array ? rt_array_find(p->dst.array) : NULL;
	u64 element = src ? src->element_bytes : dst ? dst->element_bytes : 1;

	*out = (struct copy){.height = p->extent.height, .depth = p->extent.depth};
	if ((!p->src.array == !p->src.ptr.ptr) || (!p->dst.array == !p->dst.ptr.ptr) ||
	    (p->src.array && !src) || (p->dst.array && !dst) ||
	    (dst && dst->element_bytes != element))
		return cudaErrorInvalidValue;
	if (is_short(&p->src, &p->extent, element) || is_short(&p->dst, &p->extent, element))
		return STATUS_INVALID_PITCH_VALUE;
	if (!size_mul(p->extent.width, element, &out->width) ||
	    !box_end(&p->dst, element, &out->dst) || !box_end(&p->src, element, &out->src))
		return cudaErrorInvalidValue;
	return rt_copy_places(out, p->kind);
}

static int copy_3d(const struct rt_copy_3d *p, struct way w)
{
	struct copy c;
	int status;

	if (!p)
		return cudaErrorInvalidValue;
	if (!p->extent.width || !p->extent.height || !p->extent.depth)
		return cudaSuccess;
	status = rt_copy_3d(p, &c);
	return status ? status : rt_issue_copy(c, p->kind, w);
}

RT_DEFAULT_FN(cudaMemcpy3D, (const struct rt_copy_3d *p), copy_3d(p, NOW))
RT_STREAM_FN(cudaMemcpy3DAsync, (const struct rt_copy_3d *p, cudaStream_t stream),
	     copy_3d(p, LATER))

struct copy_3d_peer {
	struct rt_copy_3d_end src;
	int src_device;
	struct rt_copy_3d_end dst;
	int dst_device;
	struct rt_extent extent;
};

static int copy_3d_peer(const struct copy_3d_peer *p, struct way w)
{
	struct rt_copy_3d q;
	int status;

	if (!p)
		return cudaErrorInvalidValue;
	status = rt_device_check(p->src_device);
	status = status ? status : rt_device_check(p->dst_device);
	if (status)
		return status;
	q = (struct rt_copy_3d){p->src, p->dst, p->extent, cudaMemcpyDefault};
	return copy_3d(&q, w);
}

RT_DEFAULT_FN(cudaMemcpy3DPeer, (const struct copy_3d_peer *p), copy_3d_peer(p, NOW))
RT_STREAM_FN(cudaMemcpy3DPeerAsync, (const struct copy_3d_peer *p, cudaStream_t stream),
	     copy_3d_peer(p, LATER))

/* ---- fills ---- */

static struct copy_fill fill_at(void *p, int value, size_t width)
{
	return (struct copy_fill){.address = rt_address(p),
				  .width = width,
				  .height = 1,
				  .depth = 1,
				  .value = (u8)value,
				  .bytes = 1};
}

static struct copy_fill plane_at(void *p, size_t pitch, int value, struct plane size)
{
	struct copy_fill f = fill_at(p, value, size.width);

	f.pitch = pitch;
	f.height = size.height;
	return f;
}

static struct copy_fill box_at(struct rt_pitched p, int value, struct rt_extent e)
{
	struct copy_fill f = plane_at(p.ptr, p.pitch, value, (struct plane){e.width, e.height});

	f.rows = p.ysize;
	f.depth = e.depth;
	return f;
}

RT_DEFAULT_FN(cudaMemset, (void *p, int value, size_t size), rt_fill(fill_at(p, value, size), NOW))
RT_STREAM_FN(cudaMemsetAsync, (void *p, int value, size_t size, cudaStream_t stream),
	     rt_fill(fill_at(p, value, size), LATER))
RT_DEFAULT_FN(cudaMemset2D, (void *p, size_t pitch, int value, size_t width, size_t height),
	      rt_fill(plane_at(p, pitch, value, (struct plane){width, height}), NOW))
RT_STREAM_FN(cudaMemset2DAsync,
	     (void *p, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
	     rt_fill(plane_at(p, pitch, value, (struct plane){width, height}), LATER))
RT_DEFAULT_FN(cudaMemset3D, (struct rt_pitched p, int value, struct rt_extent extent),
	      rt_fill(box_at(p, value, extent), NOW))
RT_STREAM_FN(cudaMemset3DAsync,
	     (struct rt_pitched p, int value, struct rt_extent extent, cudaStream_t stream),
	     rt_fill(box_at(p, value, extent), LATER))
