/*
 * External memory: memory that cuMemExportToShareableHandle gave a file for, here or in another
 * process, imported once more. There is no other source of such files, as there are no graphics
 * interfaces, and external semaphores come from those alone. Source: CUDA Driver API "External
 * Resource Interoperability".
 */
#include "runtime/cuda/drv.h"
#include "src/base/size.h"

enum {
	MEMORY_OPAQUE_FD = 1,
	SEMAPHORE_OPAQUE_FD = 1,
	SEMAPHORE_OPAQUE_WIN32,
	SEMAPHORE_TIMELINE_FD = 9
};

/* CUDA_EXTERNAL_MEMORY_HANDLE_DESC and, up to the handle, CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC */
struct external_desc {
	int type, pad;
	union {
		int fd;
		void *win32[2];
	} handle;
	u64 size;
	unsigned flags;
};

/* CUDA_EXTERNAL_MEMORY_BUFFER_DESC */
struct buffer_desc {
	u64 offset, size;
	unsigned flags;
};

/* All of it is mapped at the first buffer. */
struct external_memory {
	struct rt_handle head;
	struct memory_physical *physical;
	u64 size, at; /* at: 0, not mapped yet */
	int device;
};

static struct memory_maps *external_maps(void)
{
	return &rt_get()->maps;
}

static int import(struct external_memory **out, const struct external_desc *d)
{
	struct external_memory *m;
	u64 bytes;
	int status;

	if (!out || !d || d->type != MEMORY_OPAQUE_FD || !d->size || d->flags & ~1u ||
	    !size_align_up(d->size, MEMORY_GRANULARITY, &bytes))
		return STATUS_INVALID_VALUE;
	m = rt_handle_new(RT_HANDLE_EXTERNAL);
	if (!m)
		return STATUS_OUT_OF_MEMORY;
	m->size = bytes;
	m->device = rt_device_index();
	status = (int)memory_physical_import(external_maps(), d->handle.fd, &m->physical);
	if (status) {
		rt_handle_free(m);
		return STATUS_UNKNOWN;
	}
	*out = m;
	return STATUS_SUCCESS;
}

static int map_all(struct external_memory *m)
{
	struct memory_access all = {{LOCATION_DEVICE, m->device}, 3};
	struct memory_info i;
	int status;

	if (m->at)
		return STATUS_SUCCESS;
	status = (int)memory_reserve(external_maps(), m->size, 0, 0, &m->at);
	if (status)
		return status;
	status = (int)memory_map(external_maps(), m->at, m->size, 0, m->physical);
	if (status) {
		memory_unreserve(external_maps(), m->at, m->size);
		m->at = 0;
		return status;
	}
	/* Buffers are freed as memory is; the bytes go with the object. */
	if (memory_find(&rt_get()->memory, m->at, &i) && i.block)
		i.block->external = true;
	return (int)memory_set_access(external_maps(), m->at, m->size, &all, 1);
}

static int get_buffer(u64 *out, struct external_memory *m, const struct buffer_desc *d)
{
	int status;

	if (!out || !d || !rt_handle_is(m, RT_HANDLE_EXTERNAL) || d->flags || !d->size ||
	    !size_inside(d->offset, d->size, 0, m->size))
		return STATUS_INVALID_VALUE;
	status = map_all(m);
	if (!status)
		*out = m->at + d->offset;
	return status;
}

static int destroy_external(struct external_memory *m)
{
	if (!rt_handle_is(m, RT_HANDLE_EXTERNAL))
		return STATUS_INVALID_VALUE;
	rt_finish();
	if (m->at) {
		memory_unmap(external_maps(), m->at, m->size);
		memory_unreserve(external_maps(), m->at, m->size);
	}
	memory_release(external_maps(), m->physical);
	rt_handle_free(m);
	return STATUS_SUCCESS;
}

static int import_semaphore(void **out, const struct external_desc *d)
{
	if (!out || !d)
		return STATUS_INVALID_VALUE;
	return d->type == SEMAPHORE_OPAQUE_FD      ? (int)STATUS_UNKNOWN
	       : d->type == SEMAPHORE_OPAQUE_WIN32 ? (int)STATUS_NOT_SUPPORTED
						   : (int)STATUS_INVALID_VALUE;
}

/* The entry points of both interfaces. */
#define EXTERNAL_FN(name, params, body)                                                            \
	DRV_FN(cu##name, params)                                                                   \
	{                                                                                          \
		int status;                                                                        \
		return drv_device(&status) ? (body) : status;                                      \
	}                                                                                          \
	RT_FN(cuda##name, params)                                                                  \
	{                                                                                          \
		int status;                                                                        \
		return rt_error(rt_device_now(&status) ? (body) : status);                         \
	}

EXTERNAL_FN(ImportExternalMemory, (struct external_memory * *out, const struct external_desc *d),
	    import(out, d))
EXTERNAL_FN(ExternalMemoryGetMappedBuffer,
	    (u64 * out, struct external_memory *m, const struct buffer_desc *d),
	    get_buffer(out, m, d))
EXTERNAL_FN(DestroyExternalMemory, (struct external_memory * m), destroy_external(m))
/* Nothing can be imported, so no handle is one. */
EXTERNAL_FN(ImportExternalSemaphore, (void **out, const struct external_desc *d),
	    import_semaphore(out, d))
EXTERNAL_FN(DestroyExternalSemaphore, (const void *semaphore),
	    ((void)semaphore, (int)STATUS_INVALID_VALUE))
STREAM_FNS(cuSignalExternalSemaphoresAsync, cudaSignalExternalSemaphoresAsync,
	   (const void *list, const void *params, unsigned n, void *stream),
	   ((void)list, (void)params, (void)n, s ? (int)STATUS_INVALID_VALUE : status))
STREAM_FNS(cuWaitExternalSemaphoresAsync, cudaWaitExternalSemaphoresAsync,
	   (const void *list, const void *params, unsigned n, void *stream),
	   ((void)list, (void)params, (void)n, s ? (int)STATUS_INVALID_VALUE : status))
