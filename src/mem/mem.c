/*
 * One arena: reservation, allocation, look-up.
 *
 * Room is found by next fit: fresh addresses first, up to the end of a window that grows with need,
 * then the holes that freed ranges leave. So a stale pointer meets no new owner soon, and page
 * tables stay small.
 */
#include "src/base/clock.h"
#include "src/mem/room.h"
#include "src/base/size.h"
#include "src/mem/array.h"
#include "src/mem/place.h"
#include "src/mem/marks.h"
#include "src/mem/pools.h"
#include "src/mem/shared.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK ((u64)32 << 20) /* made readable and writable at a time */
#define START ((u64)2 << 20)  /* the first address handed out, from the arena on */
#define WINDOW ((u64)1 << 30) /* at first */
#define HUGE ((u64)1 << 21)
#define ARENA_MIN ((u64)64 << 20)
#define WINDOWS (MEM_SHARED_WINDOW + MEM_LOCAL_WINDOW)
#define BEYOND ((u64)1 << 47) /* no process has anything there */
#define KEPT 16u              /* freed ranges that outlive a search from the start */
#define FREED_MAX 4096u
#define FAR_MIN 512u /* smaller ones lie closer */
#define FAR_MAX ((u64)64 << 10)

/* ---- reservation ---- */

/* Twice the device's memory: fresh addresses are preferred. */
static u64 reserve_bytes(u64 limit)
{
	return room_part(align_up(limit * 2 + ((u64)1 << 32), HUGE));
}

/* Where no process has anything by itself: what mem_fix_addresses gives. */
#define FIXED ((u64)1 << 45)

/* From arena to arena, so that the devices' do not depend on how much memory the host has. */
#define FIXED_STEP ((u64)1 << 40)

static u64 fixed_next; /* 0: wherever the host likes */

void mem_fix_addresses(void)
{
	fixed_next = FIXED;
}

void mem_place_next(u64 base)
{
	fixed_next = base;
}

static void *reserve_fixed(u64 size)
{
	void *at = (void *)(uintptr_t)fixed_next,
	     *p = mmap(at, size, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	fixed_next += align_up(size, FIXED_STEP);
	if (p != MAP_FAILED && p != at) {
		munmap(p, size); /* a host that does not know the flag */
		p = MAP_FAILED;
	}
	return p == MAP_FAILED ? NULL : p;
}

static void *reserve_addresses(u64 size)
{
	void *fixed = fixed_next ? reserve_fixed(size) : NULL, *p;

	if (fixed)
		return fixed;
	p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* windows: bytes for the two after the arena. */
static bool reserve_both(struct mem *m, u64 size, u64 windows, bool hidden)
{
	u8 *there;

	m->arena = reserve_addresses(size + windows);
	if (!m->arena)
		return false;
	if (!hidden)
		return true;
	there = reserve_addresses(size);
	if (there)
		m->bias = (u64)(uintptr_t)there - (u64)(uintptr_t)m->arena;
	else
		munmap(m->arena, size + windows);
	return there != NULL;
}

static bool open_arena(struct mem *m, u64 limit_bytes, bool hidden)
{
	u64 size = reserve_bytes(limit_bytes), windows = room_left() == UINT64_MAX ? WINDOWS : 0;

	*m = (struct mem){.limit_bytes = limit_bytes, .strict = true, .share_fd = -1};
	while (size < ARENA_MIN || !reserve_both(m, size, windows, hidden)) {
		size = size / 2 & ~(HUGE - 1);
		if (size < ARENA_MIN)
			return false;
	}
	m->arena_size = size;
	m->next = (u64)(uintptr_t)m->arena + START;
	m->open = (u64)(uintptr_t)m->arena;
	m->window = m->next + (WINDOW < size / 2 ? WINDOW : size / 2);
	m->shared_base = windows ? (u64)(uintptr_t)m->arena + size : BEYOND;
	m->local_base = m->shared_base + MEM_SHARED_WINDOW;
	pthread_mutex_init(&m->lock, NULL);
	return true;
}

bool mem_init(struct mem *m, u64 limit_bytes)
{
	return open_arena(m, limit_bytes, false);
}

bool mem_init_in(struct mem *m, u64 limit_bytes, struct mem_system *s, u32 index)
{
	if (index > MEM_DEVICES_MAX || !open_arena(m, limit_bytes, s->hidden))
		return false;
	m->system = s;
	m->index = index;
	pthread_mutex_lock(&s->lock);
	if (index < MEM_DEVICES_MAX)
		__atomic_store_n(&s->device[index], m, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&s->lock);
	return true;
}

void mem_fini(struct mem *m)
{
	if (!m->arena)
		return;
	mem_array_fini(m);
	if (m->system) {
		pthread_mutex_lock(&m->system->lock);
		if (m->index < MEM_DEVICES_MAX)
			__atomic_store_n(&m->system->device[m->index], NULL, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&m->system->lock);
		mem_system_changed(m->system);
	}
	munmap(m->arena, m->arena_size + (m->shared_base == BEYOND ? 0 : WINDOWS));
	if (m->bias)
		munmap(m->arena + m->bias, m->arena_size);
	if (m->share_fd >= 0)
		close(m->share_fd);
	pthread_mutex_destroy(&m->lock);
	for (u32 i = 0; i < m->len; i++)
		free(m->ranges[i].user);
	free(m->ranges);
	*m = (struct mem){.share_fd = -1};
}

/* ---- the table; the lock is held ---- */

/* Index of the first range whose end lies above addr. */
static u32 lower_bound(const struct mem *m, u64 addr)
{
	u32 lo = 0, hi = m->len;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (m->ranges[mid].base + m->ranges[mid].size <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool insert(struct mem *m, struct mem_range r)
{
	u32 at = lower_bound(m, r.base);

	if (m->len == m->cap) {
		u32 cap = m->cap ? m->cap * 2 : 64;
		struct mem_range *bigger = realloc(m->ranges, sizeof(*bigger) * cap);

		if (!bigger)
			return false;
		m->ranges = bigger;
		m->cap = cap;
	}
	r.born_ns = clock_ns();
	r.id = ++m->next_id;
	memmove(&m->ranges[at + 1], &m->ranges[at], sizeof(*m->ranges) * (m->len - at));
	m->ranges[at] = r;
	m->len++;
	if (r.kind == MEM_KIND_MANAGED || r.kind == MEM_KIND_PINNED || r.kind == MEM_KIND_HOST ||
	    r.kind == MEM_KIND_MAPPED)
		mem_let_in(m, MEM_OTHER_VIEWS);
	return true;
}

static void note_change(struct mem *m)
{
	if (m->system)
		mem_system_changed(m->system);
	else
		__atomic_fetch_add(&m->epoch, 1, __ATOMIC_RELEASE);
}

static void remove_at(struct mem *m, u32 i)
{
	m->freed_len -= m->ranges[i].freed;
	memmove(&m->ranges[i], &m->ranges[i + 1], sizeof(*m->ranges) * (m->len - i - 1));
	m->len--;
}

/* Forget freed ranges, except the youngest ones. `id` counts anew when a range is freed. */
static void purge(struct mem *m, u32 kept)
{
	u64 newest[KEPT] = {0}, limit = UINT64_MAX;
	u32 n = 0;

	for (u32 i = 0; i < m->len && kept; i++) {
		u64 id = m->ranges[i].id;

		for (u32 k = 0; k < kept && m->ranges[i].freed; k++)
			if (id > newest[k]) {
				u64 older = newest[k];

				newest[k] = id;
				id = older;
			}
	}
	if (kept)
		limit = newest[kept - 1];
	for (u32 i = 0; i < m->len; i++)
		if (!m->ranges[i].freed || m->ranges[i].id >= limit)
			m->ranges[n++] = m->ranges[i];
	m->freed_len -= m->len - n;
	m->len = n;
}

/* ---- room ---- */

/*
 * Kept free after an allocation: where nothing outside of allocations may be touched, as far as
 * wrong indexes usually go.
 */
static u64 far_distance(const struct mem *m, u64 size)
{
	u64 far = m->strict && size > FAR_MIN ? min_u64(size, FAR_MAX) : MEM_ALIGN;

	if (m->strict && far < m->padding)
		far = m->padding;
	return align_up(far, MEM_ALIGN);
}

/* The first place in [from, to) that no range takes; 0: none. */
static u64 scan(const struct mem *m, u64 from, u64 to, u64 size, u64 align)
{
	u64 at = align_up(from, align);

	for (u32 i = lower_bound(m, from); i < m->len; i++) {
		const struct mem_range *r = &m->ranges[i];

		if (at + size + far_distance(m, size) <= r->base)
			break;
		at = align_up(r->base + r->size + far_distance(m, r->size), align);
		if (at >= to)
			return 0;
	}
	return at + size <= to ? at : 0;
}

static u64 find_space(struct mem *m, u64 size, u64 align)
{
	u64 start = (u64)(uintptr_t)m->arena + START, at;
	u64 end = (u64)(uintptr_t)m->arena + m->arena_size;

	at = scan(m, m->next, m->window, size, align);
	if (!at) {
		purge(m, KEPT);
		at = scan(m, start, m->window, size, align);
	}
	while (!at && m->window < end) {
		u64 wide = (m->window - start) * 2 + size;

		m->window = wide < end - start ? start + wide : end;
		at = scan(m, m->next, m->window, size, align);
	}
	if (!at) {
		purge(m, 0);
		at = scan(m, start, end, size, align);
	}
	if (at)
		m->next = at + size + far_distance(m, size);
	return at;
}

/* Readable and writable up to `last`, a chunk at a time. */
static bool open_up_to(struct mem *m, u64 last)
{
	u64 end = (u64)(uintptr_t)m->arena + m->arena_size, to = align_up(last, CHUNK);

	if (last <= m->open)
		return true;
	to = to < end ? to : end;
	if (mprotect((void *)(uintptr_t)(m->open + m->bias), to - m->open, PROT_READ | PROT_WRITE))
		return false;
	m->open = to;
	return true;
}

static bool belongs_to_host(const struct mem *m, enum mem_kind kind)
{
	return m->system && m != &m->system->host &&
	       (kind == MEM_KIND_MANAGED || kind == MEM_KIND_PINNED);
}

static void add_used(struct mem *m, u64 bytes)
{
	m->used_bytes += bytes;
	if (m->shown)
		__atomic_store_n(m->shown, m->used_bytes, __ATOMIC_RELAXED);
}

u64 mem_alloc(struct mem *m, u64 size, u64 align, enum mem_kind kind)
{
	u64 bytes = size ? size : 1, at;

	if (belongs_to_host(m, kind))
		return mem_alloc(&m->system->host, size, align, kind);
	if (align < MEM_ALIGN)
		align = MEM_ALIGN;
	if (bytes > m->arena_size || align > m->arena_size)
		return 0;
	pthread_mutex_lock(&m->lock);
	at = bytes > m->limit_bytes - m->used_bytes ? 0 : find_space(m, bytes, align);
	if (at && !open_up_to(m, align_up(at + bytes, MEM_HOST_PAGE)))
		at = 0;
	if (at && !insert(m, (struct mem_range){
				     .base = at, .size = bytes, .bias = m->bias, .kind = (u8)kind}))
		at = 0;
	if (at)
		add_used(m, bytes);
	pthread_mutex_unlock(&m->lock);
	return at;
}

bool mem_place_resume(struct mem *m, u64 open, u64 next, u64 window)
{
	u64 start = (u64)(uintptr_t)m->arena, size = m->arena_size;
	bool ok = size_inside(open, 0, start, size) &&
		  size_inside(next, 0, start + START, size - START) &&
		  size_inside(window, 0, next, start + size - next);

	pthread_mutex_lock(&m->lock);
	ok = ok && open_up_to(m, open);
	if (ok) {
		m->next = next;
		m->window = window;
	}
	pthread_mutex_unlock(&m->lock);
	return ok;
}

bool mem_place_range(struct mem *m, const struct mem_range *r)
{
	struct mem_range copy = {.base = r->base,
				 .size = r->size,
				 .bias = m->bias,
				 .kind = r->kind,
				 .freed = r->freed};
	bool ok = r->size && size_inside(r->base, r->size, (u64)(uintptr_t)m->arena + START,
					 m->arena_size - START);
	u32 i;

	pthread_mutex_lock(&m->lock);
	i = lower_bound(m, r->base);
	ok = ok && (i == m->len || m->ranges[i].base >= r->base + r->size) &&
	     (r->freed || (r->size <= m->limit_bytes - m->used_bytes &&
			   open_up_to(m, align_up(r->base + r->size, MEM_HOST_PAGE)))) &&
	     insert(m, copy);
	if (ok && r->freed)
		m->freed_len++;
	else if (ok)
		add_used(m, r->size);
	pthread_mutex_unlock(&m->lock);
	return ok;
}

/* ---- the ends of ranges ---- */

static bool starts_at(const struct mem *m, u64 base, u32 *at)
{
	*at = lower_bound(m, base);
	return *at < m->len && m->ranges[*at].base == base && !m->ranges[*at].freed;
}

static void release_range(struct mem *m, struct mem_range *r)
{
	/* Give whole pages back; neighbours on a shared page stay. */
	u64 first = align_up(r->base, MEM_HOST_PAGE);
	u64 last = (r->base + r->size) & ~(u64)(MEM_HOST_PAGE - 1);

	if (mem_has_pools())
		mem_pools_forget(r->base, r->size);
	if (mem_has_marks())
		mem_marks_forget(r->base, r->size);
	add_used(m, -r->size);
	r->freed = true;
	r->user = NULL;
	r->id = ++m->next_id;
	m->freed_len++;
	if (last > first)
		madvise(mem_host(r, first), last - first, MADV_DONTNEED);
	if (m->freed_len > FREED_MAX)
		purge(m, KEPT);
}

bool mem_free(struct mem *m, u64 base)
{
	bool ok;
	u32 i;

	pthread_mutex_lock(&m->lock);
	ok = starts_at(m, base, &i) && mem_in_arena(m, base);
	if (ok)
		release_range(m, &m->ranges[i]);
	pthread_mutex_unlock(&m->lock);
	if (ok)
		note_change(m);
	else if (m->system && m != &m->system->host)
		return mem_free(&m->system->host, base);
	return ok;
}

bool mem_insert(struct mem *m, struct mem_range r)
{
	bool ok;
	u32 i;

	if (!r.size || !size_is_range(r.base, r.size))
		return false;
	pthread_mutex_lock(&m->lock);
	i = lower_bound(m, r.base);
	ok = (i == m->len || m->ranges[i].base >= r.base + r.size) && insert(m, r);
	pthread_mutex_unlock(&m->lock);
	return ok;
}

bool mem_remove(struct mem *m, u64 base)
{
	bool ok;
	u32 i;

	pthread_mutex_lock(&m->lock);
	ok = starts_at(m, base, &i);
	if (ok)
		remove_at(m, i);
	pthread_mutex_unlock(&m->lock);
	if (ok)
		note_change(m);
	return ok;
}

bool mem_register(struct mem *m, u64 base, u64 size, enum mem_kind kind)
{
	struct mem *to = m->system ? &m->system->host : m;

	return mem_insert(to, (struct mem_range){.base = base, .size = size, .kind = (u8)kind});
}

bool mem_unregister(struct mem *m, u64 base)
{
	struct mem *of = m->system ? &m->system->host : m;
	struct mem_range r;

	return mem_find_own(of, base, 1, &r) && r.base == base && r.kind == MEM_KIND_HOST &&
	       mem_remove(of, base);
}

bool mem_set_user(struct mem *m, u64 base, void *user)
{
	bool ok;
	u32 i;

	pthread_mutex_lock(&m->lock);
	ok = starts_at(m, base, &i);
	if (ok)
		m->ranges[i].user = user;
	pthread_mutex_unlock(&m->lock);
	return ok;
}

bool mem_set_devices(struct mem *m, u64 base, u32 devices, u32 read_only)
{
	bool ok;
	u32 i;

	pthread_mutex_lock(&m->lock);
	ok = starts_at(m, base, &i);
	if (ok) {
		m->ranges[i].devices = devices;
		m->ranges[i].read_only = read_only;
	}
	pthread_mutex_unlock(&m->lock);
	if (ok)
		note_change(m);
	return ok;
}

bool mem_narrow(struct mem *m, u64 base, u64 skip, u64 size)
{
	bool ok;
	u32 i;

	pthread_mutex_lock(&m->lock);
	ok = starts_at(m, base, &i) && size_inside(skip, size, 0, m->ranges[i].size);
	if (ok) {
		add_used(m, size - m->ranges[i].size);
		m->ranges[i].base += skip;
		m->ranges[i].size = size;
	}
	pthread_mutex_unlock(&m->lock);
	return ok;
}

bool mem_charge(struct mem *m, u64 bytes)
{
	bool ok;

	pthread_mutex_lock(&m->lock);
	ok = bytes <= m->limit_bytes - m->used_bytes;
	if (ok)
		add_used(m, bytes);
	pthread_mutex_unlock(&m->lock);
	return ok;
}

void mem_discharge(struct mem *m, u64 bytes)
{
	pthread_mutex_lock(&m->lock);
	add_used(m, -bytes);
	pthread_mutex_unlock(&m->lock);
}

void mem_show(struct mem *m, u64 *shown)
{
	pthread_mutex_lock(&m->lock);
	m->shown = shown;
	add_used(m, 0);
	pthread_mutex_unlock(&m->lock);
}

u64 mem_left(struct mem *m)
{
	u64 left;

	pthread_mutex_lock(&m->lock);
	left = m->limit_bytes - m->used_bytes;
	pthread_mutex_unlock(&m->lock);
	return left;
}

/* ---- look-up ---- */

bool mem_find_own(struct mem *m, u64 addr, u64 size, struct mem_range *out)
{
	bool ok;
	u32 i;

	pthread_mutex_lock(&m->lock);
	i = lower_bound(m, addr);
	ok = i < m->len && !m->ranges[i].freed &&
	     size_inside(addr, size, m->ranges[i].base, m->ranges[i].size);
	if (ok)
		*out = m->ranges[i];
	pthread_mutex_unlock(&m->lock);
	return ok;
}

bool mem_peek(struct mem *m, u64 addr, struct mem_range *out)
{
	bool ok;
	u32 i;

	if (pthread_mutex_trylock(&m->lock))
		return false;
	i = lower_bound(m, addr);
	ok = i < m->len && addr >= m->ranges[i].base;
	if (ok)
		*out = m->ranges[i];
	pthread_mutex_unlock(&m->lock);
	return ok;
}

/* Does a live allocation of the arena lie on the page that begins at `page`? */
static bool page_is_live(const struct mem *m, u64 page)
{
	for (u32 i = lower_bound(m, page); i < m->len && m->ranges[i].base < page + MEM_PAGE; i++)
		if (!m->ranges[i].freed && m->ranges[i].kind != MEM_KIND_HOST)
			return true;
	return false;
}

/* A range outside allocations that hardware would not notice; it is readable and writable, as what
 * is opened for an allocation is whole pages. */
static bool overrun_fill(struct mem *m, struct mem_cache *c, u64 addr, u64 size)
{
	u64 page = addr & ~(MEM_PAGE - 1);
	bool ok =
		mem_in_arena(m, addr) && size <= m->arena_size - (addr - (u64)(uintptr_t)m->arena);

	if (!ok)
		return false;
	pthread_mutex_lock(&m->lock);
	for (; ok && page < addr + size; page += MEM_PAGE)
		ok = page_is_live(m, page);
	pthread_mutex_unlock(&m->lock);
	if (ok)
		*c = (struct mem_cache){.lo = addr, .span = size, .bias = m->bias};
	return ok;
}

enum mem_found mem_cache_fill(struct mem *m, struct mem_cache *c, u64 addr, u64 size,
			      enum mem_access access)
{
	struct mem_range r;

	if (!mem_find(m, addr, size, &r))
		return !m->strict && overrun_fill(m, c, addr, size) ? MEM_FOUND_OVERRUN
								    : MEM_FOUND_NONE;
	if (PL_UNLIKELY(r.read_only) && access != MEM_READ && !mem_is_writable(m, &r))
		return MEM_FOUND_NONE;
	*c = (struct mem_cache){.lo = r.base, .span = r.size, .bias = r.bias};
	if ((mem_has_pools() && m->strict && !mem_pools_narrow(c, addr, size)) ||
	    (mem_has_marks() && m->strict && !mem_marks_narrow(c, addr, size, m->index, access))) {
		*c = (struct mem_cache){0};
		return MEM_FOUND_NONE;
	}
	return MEM_FOUND;
}

void *mem_pointer(struct mem *m, u64 addr)
{
	struct mem_range r;

	return mem_find(m, addr, 1, &r) ? mem_host(&r, addr) : NULL;
}
