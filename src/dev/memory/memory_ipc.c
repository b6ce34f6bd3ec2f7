/*
 * Allocations that other processes open. The exporter puts their pages into a file; a handle says
 * which process holds the file open, and where in it the allocation lies.
 */
#include "src/base/size.h"
#include "src/dev/memory/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define MAGIC 0x6d656d2d636970u

/* cudaIpcMemHandle_t */
struct ipc_handle {
	u64 magic, pid, fd, offset, size, pad[3];
};

enum status memory_ipc_export(struct device *d, u64 p, void *handle)
{
	struct ipc_handle h = {.magic = MAGIC, .pid = (u64)getpid()};
	struct memory_info i;
	enum status status;
	int fd;

	if (!memory_find(d->mem.system, p, &i) || !i.block || i.block->type != MEMORY_DEVICE)
		return STATUS_INVALID_VALUE;
	status = d->streams ? stream_device_finish(d) : STATUS_SUCCESS;
	if (status != STATUS_SUCCESS)
		return status;
	fd = mem_share(i.arena, i.range.base, i.range.size, &h.offset);
	if (fd < 0)
		return STATUS_OPERATING_SYSTEM;
	i.block->shared = true;
	h.fd = (u64)fd;
	h.size = i.range.size;
	memcpy(handle, &h, sizeof(h));
	return STATUS_SUCCESS;
}

/* What this process has opened already. */
static u64 find_opened(struct mem *m, u64 file, u64 offset)
{
	u64 at = 0;

	pthread_mutex_lock(&m->lock);
	for (u32 i = 0; i < m->len && !at; i++) {
		struct memory_block *b = m->ranges[i].freed ? NULL : m->ranges[i].user;

		if (b && b->type == MEMORY_IMPORTED && b->key[0] == file && b->key[1] == offset) {
			b->opened++;
			at = m->ranges[i].base;
		}
	}
	pthread_mutex_unlock(&m->lock);
	return at;
}

static enum status attach_shared(struct device *d, const struct ipc_handle *h, int fd, u64 *out)
{
	u64 first = h->offset & ~(u64)(MEM_HOST_PAGE - 1), bytes, at;
	struct memory_block *b;

	if (!size_add(h->offset, h->size, &bytes) || !size_align_up(bytes, MEM_HOST_PAGE, &bytes))
		return STATUS_INVALID_VALUE;
	bytes -= first;
	at = mem_alloc(&d->mem, bytes, MEM_HOST_PAGE, MEM_KIND_DEVICE);
	if (!at)
		return STATUS_OUT_OF_MEMORY;
	if (!mem_attach(&d->mem, at, bytes, fd, first) ||
	    !mem_narrow(&d->mem, at, h->offset - first, h->size)) {
		mem_free(&d->mem, at);
		return STATUS_MAP_FAILED;
	}
	*out = at + (h->offset - first);
	b = memory_block_new(&d->mem, *out, MEMORY_IMPORTED, d->mem.index);
	if (!b)
		return STATUS_OUT_OF_MEMORY;
	b->shared = true;
	b->opened = 1;
	b->key[0] = h->pid << 32 | h->fd;
	b->key[1] = h->offset;
	return STATUS_SUCCESS;
}

enum status memory_ipc_open(struct device *d, const void *handle, u64 *out)
{
	struct ipc_handle h;
	enum status status;
	char path[64];
	int fd;

	memcpy(&h, handle, sizeof(h));
	if (h.magic != MAGIC || !h.size)
		return STATUS_INVALID_VALUE;
	if (h.pid == (u64)getpid())
		return STATUS_INVALID_CONTEXT;
	*out = find_opened(&d->mem, h.pid << 32 | h.fd, h.offset);
	if (*out)
		return STATUS_SUCCESS;
	snprintf(path, sizeof(path), "/proc/%u/fd/%u", (u32)h.pid, (u32)h.fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return STATUS_MAP_FAILED;
	status = attach_shared(d, &h, fd, out);
	close(fd);
	return status;
}

enum status memory_ipc_close(struct device *d, u64 p)
{
	struct memory_info i;
	enum status status = STATUS_SUCCESS;

	if (!memory_find(d->mem.system, p, &i) || !i.block || i.block->type != MEMORY_IMPORTED ||
	    i.range.base != p)
		return STATUS_INVALID_VALUE;
	if (--i.block->opened)
		return STATUS_SUCCESS;
	if (d->streams)
		status = stream_device_finish(d);
	memory_end(i.arena, p);
	return status;
}
