/*
 * The memory of a process: look-up across arenas, and pages that several processes map.
 */
#include "src/mem/mem.h"
#include "src/mem/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Mappings are bounded by their physical memory, not by this. */
#define MAPS_BYTES ((u64)1 << 38)

/* What pinned and managed memory may take: the host's memory, twice. */
static u64 host_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES);

	return (pages > 0 ? (u64)pages * MEM_HOST_PAGE : (u64)1 << 34) * 2;
}

bool mem_system_init(struct mem_system *s, bool hidden)
{
	*s = (struct mem_system){.hidden = hidden};
	if (!mem_init(&s->host, host_bytes()))
		return false;
	pthread_mutex_init(&s->lock, NULL);
	s->host.system = s;
	return true;
}

bool mem_system_open_maps(struct mem_system *s)
{
	return s->maps.arena || mem_init_in(&s->maps, MAPS_BYTES, s, MEM_DEVICES_MAX);
}

void mem_system_fini(struct mem_system *s)
{
	if (!s->host.arena)
		return;
	s->host.system = NULL;
	s->maps.system = NULL;
	mem_fini(&s->host);
	mem_fini(&s->maps);
	pthread_mutex_destroy(&s->lock);
}

void mem_system_changed(struct mem_system *s)
{
	pthread_mutex_lock(&s->lock);
	for (u32 i = 0; i < MEM_DEVICES_MAX; i++)
		if (s->device[i])
			__atomic_fetch_add(&s->device[i]->epoch, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&s->lock);
}

/* Without the lock: every copy asks, for each of its ends. */
static struct mem *system_device(struct mem_system *s, u32 i)
{
	return __atomic_load_n(&s->device[i], __ATOMIC_ACQUIRE);
}

bool mem_find(struct mem *m, u64 addr, u64 size, struct mem_range *out)
{
	struct mem_system *s = m->system;
	struct mem *peer;

	if (mem_find_own(m, addr, size, out))
		return true;
	if (!s)
		return false;
	if (mem_find_own(&s->host, addr, size, out))
		return true;
	if (mem_in_arena(&s->maps, addr))
		return mem_find_own(&s->maps, addr, size, out) && (out->devices >> m->index & 1);
	peer = mem_system_arena(s, addr);
	if (!peer || peer == m || !mem_find_own(peer, addr, size, out))
		return false;
	return (__atomic_load_n(&m->peers, __ATOMIC_ACQUIRE) >> peer->index & 1) ||
	       (out->devices >> m->index & 1);
}

struct mem *mem_system_arena(struct mem_system *s, u64 addr)
{
	if (mem_in_arena(&s->host, addr))
		return &s->host;
	if (mem_in_arena(&s->maps, addr))
		return &s->maps;
	for (u32 i = 0; i < MEM_DEVICES_MAX; i++) {
		struct mem *m = system_device(s, i);

		if (m && mem_in_arena(m, addr))
			return m;
	}
	return NULL;
}

bool mem_system_find(struct mem_system *s, u64 addr, u64 size, struct mem_range *out,
		     struct mem **owner)
{
	struct mem *m = mem_system_arena(s, addr);

	/* The program's own memory lies in no arena. */
	m = m ? m : &s->host;
	if (!mem_find_own(m, addr, size, out))
		return false;
	if (owner)
		*owner = m;
	return true;
}

/* ---- pages of several processes ---- */

/* All of [at, at + size) into the file, at the same distance from the arena's start. */
static bool write_pages(int fd, const u8 *at, u64 size, u64 offset)
{
	while (size) {
		ssize_t n =
			pwrite(fd, at, size < (u64)1 << 30 ? size : (u64)1 << 30, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		offset += (u64)n;
		size -= (u64)n;
	}
	return true;
}

/* The arena's file, made when it is first wanted; -1: there is none. m->lock held. */
static int share_file(struct mem *m)
{
	if (m->share_fd >= 0)
		return m->share_fd;
	m->share_fd = memfd_create("ptxloom", MFD_CLOEXEC);
	if (m->share_fd >= 0 && ftruncate(m->share_fd, (off_t)m->arena_size)) {
		close(m->share_fd);
		m->share_fd = -1;
	}
	return m->share_fd;
}

/* Put pages that are not in the file yet there, and map them from it. */
static bool move_pages(int fd, u8 *at, u64 size, u64 offset)
{
	return write_pages(fd, at, size, offset) &&
	       mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset) !=
		       MAP_FAILED;
}

/* The next stretch of [from, end) that is not in the file: *hole to *past. False: there is none. */
static bool find_hole(int fd, u64 from, u64 end, u64 *hole, u64 *past)
{
	off_t at = lseek(fd, (off_t)from, SEEK_HOLE), data;

	if (at < 0 || (u64)at >= end)
		return false;
	data = lseek(fd, at, SEEK_DATA);
	*hole = (u64)at;
	*past = data < 0 || (u64)data > end ? end : (u64)data;
	return true;
}

/*
 * Every page of an arena has one place in its file, so that pages may be shared twice, together
 * with neighbours or alone. Those that are there already belong to others as well and are left
 * alone.
 */
int mem_share(struct mem *m, u64 base, u64 size, u64 *offset)
{
	u64 first = base & ~(u64)(MEM_HOST_PAGE - 1), last = align_up(base + size, MEM_HOST_PAGE);
	u64 from = first - (u64)(uintptr_t)m->arena, end = from + (last - first), hole, past;
	u8 *at = (u8 *)(uintptr_t)(first + m->bias);
	int fd;

	*offset = from + (base - first);
	pthread_mutex_lock(&m->lock);
	mem_let_in(m, MEM_OTHER_PROCESSES);
	fd = share_file(m);
	for (u64 next = from; fd >= 0 && find_hole(fd, next, end, &hole, &past); next = past)
		if (!move_pages(fd, at + (hole - from), past - hole, hole))
			fd = -1;
	pthread_mutex_unlock(&m->lock);
	return fd;
}

bool mem_attach(struct mem *m, u64 base, u64 size, int fd, u64 offset)
{
	mem_let_in(m, MEM_OTHER_PROCESSES);
	return mmap((void *)(uintptr_t)(base + m->bias), size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED, fd, (off_t)offset) != MAP_FAILED;
}

bool mem_detach(struct mem *m, u64 base, u64 size)
{
	void *at = (void *)(uintptr_t)(base + m->bias);

	/* What comes to lie there next has nothing to do with who still maps the old pages. */
	pthread_mutex_lock(&m->lock);
	if (m->share_fd >= 0)
		fallocate(m->share_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  (off_t)(base - (u64)(uintptr_t)m->arena), (off_t)size);
	pthread_mutex_unlock(&m->lock);
	return mmap(at, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}
