/*
 * Functions of the CUDA runtime that device code calls and that launch nothing: devices, limits,
 * errors, memory of the heap.
 */
#include "src/dev/module/nested_int.h"

#include "src/dev/device_int.h"

enum fault_kind nested_success(struct exec_call *c)
{
	return nested_answer(c, STATUS_SUCCESS);
}

enum fault_kind nested_zero(struct exec_call *c)
{
	return nested_give_int(c, 0, 0);
}

enum fault_kind nested_version(struct exec_call *c)
{
	return nested_give_int(c, 0, 13000);
}

enum fault_kind nested_device(struct exec_call *c)
{
	return nested_give_int(c, 0, nested_flight(c)->dev->number);
}

enum fault_kind nested_device_count(struct exec_call *c)
{
	return nested_give_int(c, 0,
			       nested_flight(c)->dev->count ? nested_flight(c)->dev->count : 1);
}

enum fault_kind nested_device_attribute(struct exec_call *c)
{
	int v;

	if (arch_attribute(nested_flight(c)->dev->arch, (int)exec_call_argument(c, 1), &v) ==
	    ARCH_ANSWER_NONE)
		return nested_answer(c, STATUS_INVALID_VALUE);
	return nested_give_int(c, 0, (u32)v);
}

enum fault_kind nested_limit(struct exec_call *c)
{
	const struct device *d = nested_flight(c)->dev;
	u64 limit = exec_call_argument(c, 1), v;

	if (limit != 0 && limit != 2)
		return nested_answer(c, STATUS_UNSUPPORTED_LIMIT);
	v = limit ? exec_heap_limit(d->syscalls.heap) : d->stack_limit;
	return nested_give(c, 0, &v, sizeof(v));
}

/* A text in the device's memory, kept as long as the device: `key` says which. */
static u64 text_on_device(struct device *d, u64 key, const char *s)
{
	u64 *found, at;

	pthread_mutex_lock(&d->lock);
	found = map_get(&d->texts, key);
	at = found ? *found : 0;
	pthread_mutex_unlock(&d->lock);
	if (at)
		return at;
	at = mem_alloc(&d->mem, strlen(s) + 1, 1, MEM_KIND_INTERNAL);
	if (!at)
		return 0;
	memcpy(mem_pointer(&d->mem, at), s, strlen(s) + 1);
	pthread_mutex_lock(&d->lock);
	map_set(&d->texts, key, at);
	pthread_mutex_unlock(&d->lock);
	return at;
}

static enum fault_kind error_text(struct exec_call *c, bool name)
{
	int number = (int)exec_call_argument(c, 0);
	const struct status_info *s = status_info(number);
	const char *text = !s || !s->runtime ? "unrecognized error code"
			   : name            ? s->runtime
					     : s->text;
	u64 key = s && s->runtime ? 2 * (u64)(u32)number + 2 + name : 1;

	exec_call_return(c, text_on_device(nested_flight(c)->dev, key, text));
	return FAULT_NONE;
}

enum fault_kind nested_error_name(struct exec_call *c)
{
	return error_text(c, true);
}

enum fault_kind nested_error_string(struct exec_call *c)
{
	return error_text(c, false);
}

enum fault_kind nested_malloc(struct exec_call *c)
{
	u64 at = exec_heap_take(nested_flight(c)->dev->syscalls.heap, exec_call_argument(c, 1));

	return at ? nested_give(c, 0, &at, sizeof(at)) : nested_answer(c, STATUS_OUT_OF_MEMORY);
}

enum fault_kind nested_free(struct exec_call *c)
{
	struct exec_heap *heap = nested_flight(c)->dev->syscalls.heap;
	u64 at = exec_call_argument(c, 0);

	if (at && !exec_heap_give(heap, at))
		return nested_answer(c, STATUS_INVALID_VALUE);
	if (exec_heap_is_apart(heap))
		exec_call_void_caches(c);
	return nested_answer(c, STATUS_SUCCESS);
}
