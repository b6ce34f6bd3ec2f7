/*
 * Operations of streams on words of memory, as polled calls.
 */
#include "src/dev/stream/mem_op.h"

#include "src/dev/graph/graph.h"
#include "src/dev/memory/watch.h"
#include "src/dev/stream/order.h"

static bool has_wide_value(u32 kind)
{
	return kind == MEM_OP_WAIT_64 || kind == MEM_OP_WRITE_64;
}

static bool is_wait(u32 kind)
{
	return kind == MEM_OP_WAIT_32 || kind == MEM_OP_WAIT_64;
}

static bool condition_holds(const struct mem_op *o)
{
	const void *p = o->at;
	bool wide = has_wide_value(o->kind);
	u64 now = wide ? __atomic_load_n((const u64 *)p, __ATOMIC_ACQUIRE)
		       : __atomic_load_n((const u32 *)p, __ATOMIC_ACQUIRE),
	    value = wide ? o->value : (u32)o->value;

	switch (o->flags & ~(u32)MEM_OP_FLUSH_AFTER) {
	case MEM_OP_GEQ:
		return wide ? (s64)(now - value) >= 0 : (s32)((u32)now - (u32)value) >= 0;
	case MEM_OP_EQ:
		return now == value;
	case MEM_OP_AND:
		return (now & value) != 0;
	default:
		return wide ? ~(now | value) != 0 : ~(u32)(now | value) != 0;
	}
}

enum status stream_mem_ops_run(void *data, enum status so_far)
{
	struct mem_ops *b = data;

	(void)so_far;
	for (; b->at < b->len; b->at++) {
		const struct mem_op *o = &b->op[b->at];
		void *p = o->at;

		if (o->kind == MEM_OP_WRITE_64 || o->kind == MEM_OP_WRITE_32)
			memory_tell_write(o->address, has_wide_value(o->kind) ? 8 : 4);
		if (is_wait(o->kind) && !condition_holds(o))
			return STATUS_NOT_READY;
		/* What wrote the value it waited for did so behind its own work. */
		if (is_wait(o->kind))
			order_acquire();
		if (o->kind == MEM_OP_WRITE_64)
			__atomic_store_n((u64 *)p, o->value, __ATOMIC_SEQ_CST);
		else if (o->kind == MEM_OP_WRITE_32)
			__atomic_store_n((u32 *)p, (u32)o->value, __ATOMIC_SEQ_CST);
		else
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
	}
	/* A graph may run it again. */
	b->at = 0;
	return STATUS_SUCCESS;
}

static enum status check_mem_op(struct device *d, struct mem_op *o)
{
	u32 bytes = has_wide_value(o->kind) ? 8 : 4;
	struct mem_range r;

	if (o->kind < MEM_OP_WAIT_32 || o->kind > MEM_OP_BARRIER)
		return STATUS_INVALID_VALUE;
	if (o->kind == MEM_OP_FLUSH)
		return !d->arch->has_remote_flush ? STATUS_NOT_SUPPORTED
		       : o->flags                 ? STATUS_INVALID_VALUE
						  : STATUS_SUCCESS;
	if (o->kind == MEM_OP_BARRIER)
		return o->flags > 1 ? STATUS_INVALID_VALUE : STATUS_SUCCESS;
	if (is_wait(o->kind) ? (o->flags & ~(u32)MEM_OP_FLUSH_AFTER) > MEM_OP_NOR : o->flags)
		return STATUS_INVALID_VALUE;
	/* Words of managed memory may be on their way between host and device. */
	if (o->address % bytes || !mem_find(&d->mem, o->address, bytes, &r) ||
	    r.kind == MEM_KIND_MANAGED || (!is_wait(o->kind) && !mem_is_writable(&d->mem, &r)))
		return STATUS_INVALID_VALUE;
	o->at = mem_host(&r, o->address);
	return STATUS_SUCCESS;
}

enum status stream_mem_ops_check(struct device *d, struct mem_ops *ops)
{
	enum status status = STATUS_SUCCESS;

	for (u32 i = 0; i < ops->len && status == STATUS_SUCCESS; i++)
		status = check_mem_op(d, &ops->op[i]);
	return status;
}

enum status stream_mem_ops(struct stream *s, const struct mem_op *ops, u32 n)
{
	struct mem_ops b = {.len = n};
	enum status status;

	if (!n)
		return STATUS_SUCCESS;
	if (n > MEM_OPS_MAX || !ops)
		return STATUS_INVALID_VALUE;
	memcpy(b.op, ops, sizeof(*ops) * n);
	status = stream_mem_ops_check(stream_device_of(s), &b);
	if (status != STATUS_SUCCESS)
		return status;
	/* A node of a graph has room for as many as there can be. */
	return stream_call(s, stream_mem_ops_run, &b,
			   stream_is_capturing(s) ? sizeof(b)
						  : offsetof(struct mem_ops, op) + sizeof(*ops) * n,
			   STREAM_POLL);
}
