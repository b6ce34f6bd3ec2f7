/*
 * Events that several processes share: two counters in a page that both have mapped. A record
 * raises `issued` when it is issued and sets `done` to it when it is reached.
 *
 * The page lives in a file without a name, which others open through the exporting process; that
 * has to live until they have, as with CUDA. Pages stay mapped until the process ends, because work
 * may read them after the event is gone.
 */
#include "src/base/clock.h"
#include "src/dev/stream/stream_int.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096u
#define POLL_NS 50000

static const char magic[8] = "ptxl-ev";

/* What fits into the 64 bytes of CUDA's handles. */
struct export
{
	char magic[8];
	u32 pid, fd;
	u64 token; /* also in the page: the file is the right one */
};

struct event_page {
	u64 token, issued, done; /* the last two: atomic */
};

bool event_is_shared_pending(const struct stream_event *e)
{
	const struct event_page *p = e->page;

	return p && __atomic_load_n(&p->done, __ATOMIC_ACQUIRE) <
			    __atomic_load_n(&p->issued, __ATOMIC_ACQUIRE);
}

void event_shared_issued(struct stream_event *e)
{
	if (e->page)
		__atomic_fetch_add(&e->page->issued, 1, __ATOMIC_ACQ_REL);
}

void event_shared_reached(struct stream_event *e)
{
	if (e->page)
		__atomic_store_n(&e->page->done,
				 __atomic_load_n(&e->page->issued, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
}

void event_shared_wait(const struct stream_event *e)
{
	while (event_is_shared_pending(e))
		nanosleep(&(struct timespec){0, POLL_NS}, NULL);
}

/* A stream waits for what has been issued so far. */
struct waiting {
	const struct event_page *page;
	u64 target;
};

static enum status is_reached(void *data, enum status so_far)
{
	const struct waiting *w = data;

	(void)so_far;
	return __atomic_load_n(&w->page->done, __ATOMIC_ACQUIRE) >= w->target ? STATUS_SUCCESS
									      : STATUS_NOT_READY;
}

enum status event_shared_join(struct stream *s, const struct stream_event *e)
{
	struct waiting w = {e->page, __atomic_load_n(&e->page->issued, __ATOMIC_ACQUIRE)};

	return stream_call(s, is_reached, &w, sizeof(w), STREAM_POLL);
}

static struct event_page *map_event_page(int fd)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Make the event's page, with the state it has now. */
static enum status make_page(struct stream_event *e)
{
	int fd = memfd_create("ptxloom-event", MFD_CLOEXEC);
	struct event_page *p = fd >= 0 && !ftruncate(fd, PAGE) ? map_event_page(fd) : NULL;

	if (!p) {
		if (fd >= 0)
			close(fd);
		return STATUS_OPERATING_SYSTEM;
	}
	p->token = clock_ns() ^ ((u64)getpid() << 32);
	p->issued = e->recorded;
	p->done = e->recorded && !work_is_pending(e->work, e->serial);
	e->page_fd = fd;
	e->page = p;
	return STATUS_SUCCESS;
}

enum status stream_event_export(struct stream_event *e, void *handle)
{
	struct streams *all = e->device->all;
	struct export x = {.pid = (u32)getpid()};
	enum status status = STATUS_SUCCESS;

	if (!(e->flags & STREAM_EVENT_INTERPROCESS))
		return STATUS_INVALID_HANDLE;
	if (!handle)
		return STATUS_INVALID_VALUE;
	pthread_mutex_lock(&all->lock);
	if (!e->page)
		status = make_page(e);
	pthread_mutex_unlock(&all->lock);
	if (status != STATUS_SUCCESS)
		return status;
	memcpy(x.magic, magic, sizeof(magic));
	x.fd = (u32)e->page_fd;
	x.token = e->page->token;
	memset(handle, 0, STREAM_EVENT_HANDLE);
	memcpy(handle, &x, sizeof(x));
	return STATUS_SUCCESS;
}

enum status stream_event_import(struct device *d, const void *handle, struct stream_event **out)
{
	struct event_page *p = NULL;
	struct export x;
	char path[64];
	int fd;

	memcpy(&x, handle, sizeof(x));
	if (memcmp(x.magic, magic, sizeof(magic)) != 0)
		return STATUS_MAP_FAILED;
	/* Not in the process that has it, as CUDA says. */
	if (x.pid == (u32)getpid())
		return STATUS_INVALID_CONTEXT;
	snprintf(path, sizeof(path), "/proc/%u/fd/%u", x.pid, x.fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return STATUS_MAP_FAILED;
	p = map_event_page(fd);
	close(fd);
	if (!p)
		return STATUS_OPERATING_SYSTEM;
	if (p->token != x.token) {
		munmap(p, PAGE);
		return STATUS_MAP_FAILED;
	}
	if (stream_event_create(d, STREAM_EVENT_INTERPROCESS | STREAM_EVENT_NO_TIMING, out) !=
	    STATUS_SUCCESS) {
		munmap(p, PAGE);
		return STATUS_OUT_OF_MEMORY;
	}
	(*out)->page_fd = -1;
	(*out)->page = p;
	return STATUS_SUCCESS;
}
