/*
 * Streams of the driver interface, host functions and memory operations in them.
 */
#include "runtime/cuda/drv.h"
#include "runtime/graph/stream_attr.h"
#include "src/dev/stream/mem_op.h"

struct stream *drv_stream(const void *handle, bool own, int *status)
{
	struct rt_device *d;
	struct stream *s;

	if (rt_get()->streams && stream_is(rt_get()->streams, handle)) {
		*status = STATUS_SUCCESS;
		return (struct stream *)(uintptr_t)handle;
	}
	d = drv_device(status);
	if (!d)
		return NULL;
	s = stream_resolve(&d->dev, handle, own);
	if (!s)
		*status = STATUS_INVALID_HANDLE;
	return s;
}

/* ---- making ---- */

static int drv_create_stream(struct stream **out, unsigned flags, int priority)
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	return out ? rt_stream_create(d, flags, priority, out) : (int)STATUS_INVALID_VALUE;
}

DRV_FN(cuStreamCreate, (struct stream * *out, unsigned flags))
{
	return drv_create_stream(out, flags, 0);
}

DRV_FN(cuStreamCreateWithPriority, (struct stream * *out, unsigned flags, int priority))
{
	return drv_create_stream(out, flags, priority);
}

static int drv_destroy_stream(struct stream *stream)
{
	int status;

	if (!drv_any_device(&status))
		return status;
	if ((uintptr_t)stream <= 2)
		return STATUS_INVALID_HANDLE;
	return (int)stream_destroy(rt_get()->streams, stream);
}

DRV_FN(cuStreamDestroy, (struct stream * stream))
{
	return drv_destroy_stream(stream);
}

DRV_FN(cuStreamDestroy_v2, (struct stream * stream))
{
	return drv_destroy_stream(stream);
}

/* ---- waiting ---- */

static int drv_synchronize_stream(struct stream *stream, bool own)
{
	int status;
	struct stream *s = drv_stream(stream, own, &status);

	return s ? (int)stream_wait(s) : status;
}

static int drv_query_stream(struct stream *stream, bool own)
{
	int status;
	struct stream *s = drv_stream(stream, own, &status);

	return s ? (int)stream_query(s) : status;
}

DRV_STREAM_FN(cuStreamSynchronize, (struct stream * stream), drv_synchronize_stream(stream, OWN))
DRV_STREAM_FN(cuStreamQuery, (struct stream * stream), drv_query_stream(stream, OWN))

/* ---- whose it is ---- */

static int get_context(struct stream *stream, bool own, struct rt_context **context)
{
	int status;
	struct stream *s = drv_stream(stream, own, &status);

	if (!s)
		return status;
	if (!context)
		return STATUS_INVALID_VALUE;
	*context = stream_owner(s) ? stream_owner(s) : rt_context_now();
	return STATUS_SUCCESS;
}

/* Of a green context both are reported. */
static int get_contexts(struct stream *stream, bool own, struct rt_context **context,
			const void **green)
{
	int status;
	struct stream *s = drv_stream(stream, own, &status);

	if (!s)
		return status;
	if (!green && !context)
		return STATUS_INVALID_VALUE;
	if (green)
		*green = drv_green_of(s);
	if (context)
		*context = stream_owner(s) ? stream_owner(s) : rt_context_now();
	return STATUS_SUCCESS;
}

DRV_STREAM_FN(cuStreamGetCtx, (struct stream * stream, struct rt_context **context),
	      get_context(stream, OWN, context))
DRV_STREAM_FN(cuStreamGetCtx_v2,
	      (struct stream * stream, struct rt_context **context, const void **green),
	      get_contexts(stream, OWN, context, green))

static int drv_get_stream_attribute(struct stream *stream, bool own, int id, void *value)
{
	int status;
	struct stream *s = drv_stream(stream, own, &status);

	return s ? (int)stream_attr_get(s, id, value) : status;
}

static int drv_set_stream_attribute(struct stream *stream, bool own, int id, const void *value)
{
	int status;
	struct stream *s = drv_stream(stream, own, &status);

	return s ? (int)stream_attr_set(s, id, value) : status;
}

static int drv_copy_stream_attributes(struct stream *to, struct stream *from, bool own)
{
	int status;
	struct stream *a = drv_stream(from, own, &status),
		      *b = a ? drv_stream(to, own, &status) : a;

	return b ? (int)stream_attr_copy(b, a) : status;
}

DRV_STREAM_FN(cuStreamGetAttribute, (struct stream * stream, int id, void *value),
	      drv_get_stream_attribute(stream, OWN, id, value))
DRV_STREAM_FN(cuStreamSetAttribute, (struct stream * stream, int id, const void *value),
	      drv_set_stream_attribute(stream, OWN, id, value))
DRV_STREAM_FN(cuStreamCopyAttributes, (struct stream * to, struct stream *from),
	      drv_copy_stream_attributes(to, from, OWN))

/* ---- memory operations ---- */

static int mem_op(struct stream *stream, bool own, struct mem_op op)
{
	int status;
	struct stream *s = drv_stream(stream, own, &status);

	return s ? (int)stream_mem_ops(s, &op, 1) : status;
}

/* Four names for each: those ending in _v2 came when they no longer had to be enabled. */
#define MEM_OP_FNS(name, type, kind)                                                               \
	DRV_STREAM_FN(name, (struct stream * stream, u64 address, type value, unsigned flags),     \
		      mem_op(stream, OWN, (struct mem_op){kind, flags, address, value, NULL}))     \
	DRV_STREAM_FN(name##_v2,                                                                   \
		      (struct stream * stream, u64 address, type value, unsigned flags),           \
		      mem_op(stream, OWN, (struct mem_op){kind, flags, address, value, NULL}))

MEM_OP_FNS(cuStreamWaitValue32, u32, MEM_OP_WAIT_32)
MEM_OP_FNS(cuStreamWaitValue64, u64, MEM_OP_WAIT_64)
MEM_OP_FNS(cuStreamWriteValue32, u32, MEM_OP_WRITE_32)
MEM_OP_FNS(cuStreamWriteValue64, u64, MEM_OP_WRITE_64)

static int batch(struct stream *stream, bool own, unsigned n, const union drv_mem_op *ops,
		 unsigned flags)
{
	struct mem_op op[MEM_OPS_MAX];
	int status;
	struct stream *s = drv_stream(stream, own, &status);

	if (!s)
		return status;
	if ((n && !ops) || n > MEM_OPS_MAX || flags)
		return STATUS_INVALID_VALUE;
	for (u32 i = 0; i < n; i++)
		op[i] = drv_mem_op_read(&ops[i]);
	return (int)stream_mem_ops(s, op, n);
}

struct mem_op drv_mem_op_read(const union drv_mem_op *o)
{
	bool plain = o->kind == MEM_OP_FLUSH || o->kind == MEM_OP_BARRIER;

	return plain ? (struct mem_op){.kind = o->kind, .flags = o->plain.flags}
		     : (struct mem_op){o->kind, o->word.flags, o->word.address, o->word.value,
				       NULL};
}

union drv_mem_op drv_mem_op_write(const struct mem_op *o)
{
	union drv_mem_op out = {.pad = {0}};

	out.kind = o->kind;
	if (o->kind == MEM_OP_FLUSH || o->kind == MEM_OP_BARRIER) {
		out.plain.flags = o->flags;
		return out;
	}
	out.word.address = o->address;
	out.word.value = o->value;
	out.word.flags = o->flags;
	return out;
}

DRV_STREAM_FN(cuStreamBatchMemOp,
	      (struct stream * stream, unsigned n, const union drv_mem_op *ops, unsigned flags),
	      batch(stream, OWN, n, ops, flags))
DRV_STREAM_FN(cuStreamBatchMemOp_v2,
	      (struct stream * stream, unsigned n, const union drv_mem_op *ops, unsigned flags),
	      batch(stream, OWN, n, ops, flags))
