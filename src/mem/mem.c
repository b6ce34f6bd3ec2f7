/*
 * Device memory: reservation, allocation, look-up.
 */
#include "src/mem/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096u

static u64 reserve_bytes(u64 limit)
{
	/* Twice the device's memory: fresh addresses are preferred, so a stale pointer meets no new owner soon. */
	return align_up(limit * 2 + ((u64)1 << 32), (u64)1 << 21);
}

bool mem_init(struct mem *m, u64 limit_bytes)
{
	u64 size = reserve_bytes(limit_bytes), window = MEM_SHARED_WINDOW + MEM_LOCAL_WINDOW;
	void *p = MAP_FAILED;

	*m = (struct mem){.limit_bytes = limit_bytes, .strict = true};
	while (size >= (u64)1 << 30) {
		p = mmap(NULL, size + window, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p != MAP_FAILED)
			break;
		size /= 2;
	}
	if (p == MAP_FAILED)
		return false;
	m->arena = p;
	m->arena_size = size;
	m->next = (u64)(uintptr_t)p + ((u64)1 << 21);
	m->shared_base = (u64)(uintptr_t)p + size;
	m->local_base = m->shared_base + MEM_SHARED_WINDOW;
	pthread_mutex_init(&m->lock, NULL);
	return true;
}

void mem_fini(struct mem *m)
{
	if (!m->arena)
		return;
	mem_array_fini(m);
	munmap(m->arena, m->arena_size + MEM_SHARED_WINDOW + MEM_LOCAL_WINDOW);
	pthread_mutex_destroy(&m->lock);
	free(m->ranges);
	*m = (struct mem){0};
}

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
	memmove(&m->ranges[at + 1], &m->ranges[at], sizeof(*m->ranges) * (m->len - at));
	m->ranges[at] = r;
	m->len++;
	return true;
}

static void remove_at(struct mem *m, u32 i)
{
	memmove(&m->ranges[i], &m->ranges[i + 1], sizeof(*m->ranges) * (m->len - i - 1));
	m->len--;
	__atomic_fetch_add(&m->epoch, 1, __ATOMIC_RELEASE);
}

/* Address space for `size` bytes: fresh while there is some, then the first hole left by freed ranges. */
static u64 find_space(struct mem *m, u64 size, u64 align)
{
	u64 end = (u64)(uintptr_t)m->arena + m->arena_size, at = align_up(m->next, align);

	if (at + size <= end) {
		m->next = at + size + MEM_ALIGN;
		return at;
	}
	for (u32 i = m->len; i-- > 0;)
		if (m->ranges[i].freed)
			remove_at(m, i);
	at = align_up((u64)(uintptr_t)m->arena + ((u64)1 << 21), align);
	for (u32 i = 0; i < m->len; i++) {
		if (m->ranges[i].base < (u64)(uintptr_t)m->arena || m->ranges[i].base >= end)
			continue;
		if (at + size + MEM_ALIGN <= m->ranges[i].base)
			return at;
		at = align_up(m->ranges[i].base + m->ranges[i].size + MEM_ALIGN, align);
	}
	return at + size <= end ? at : 0;
}

u64 mem_alloc(struct mem *m, u64 size, u64 align, enum mem_kind kind)
{
	u64 bytes, at, first, last;

	if (!size || align < MEM_ALIGN)
		align = MEM_ALIGN;
	if (size > m->arena_size)
		return 0;
	bytes = size ? size : 1;
	pthread_mutex_lock(&m->lock);
	at = m->used_bytes + bytes > m->limit_bytes ? 0 : find_space(m, bytes, align);
	first = at & ~(u64)(PAGE - 1);
	last = align_up(at + bytes, PAGE);
	if (at && mprotect((void *)(uintptr_t)first, last - first, PROT_READ | PROT_WRITE))
		at = 0;
	if (at && !insert(m, (struct mem_range){.base = at, .size = bytes, .kind = (u8)kind, .id = ++m->next_id}))
		at = 0;
	if (at)
		m->used_bytes += bytes;
	pthread_mutex_unlock(&m->lock);
	return at;
}

static bool starts_at(const struct mem *m, u64 base, u32 *at)
{
	*at = lower_bound(m, base);
	return *at < m->len && m->ranges[*at].base == base && !m->ranges[*at].freed;
}

bool mem_free(struct mem *m, u64 base)
{
	struct mem_range *r;
	u64 first, last;
	bool ok;
	u32 i;

	pthread_mutex_lock(&m->lock);
	ok = starts_at(m, base, &i) && m->ranges[i].kind != MEM_KIND_HOST;
	if (ok) {
		r = &m->ranges[i];
		m->used_bytes -= r->size;
		r->freed = true;
		__atomic_fetch_add(&m->epoch, 1, __ATOMIC_RELEASE);
		/* Give whole pages back; neighbours on a shared page stay. */
		first = align_up(r->base, PAGE);
		last = (r->base + r->size) & ~(u64)(PAGE - 1);
		if (last > first)
			madvise((void *)(uintptr_t)first, last - first, MADV_DONTNEED);
	}
	pthread_mutex_unlock(&m->lock);
	return ok;
}

bool mem_register(struct mem *m, u64 base, u64 size, enum mem_kind kind)
{
	bool ok;
	u32 i;

	if (!size || base + size < base)
		return false;
	pthread_mutex_lock(&m->lock);
	i = lower_bound(m, base);
	ok = i == m->len || m->ranges[i].base >= base + size;
	ok = ok && insert(m, (struct mem_range){.base = base, .size = size, .kind = (u8)kind, .id = ++m->next_id});
	pthread_mutex_unlock(&m->lock);
	return ok;
}

bool mem_unregister(struct mem *m, u64 base)
{
	bool ok;
	u32 i;

	pthread_mutex_lock(&m->lock);
	ok = starts_at(m, base, &i) && m->ranges[i].kind == MEM_KIND_HOST;
	if (ok)
		remove_at(m, i);
	pthread_mutex_unlock(&m->lock);
	return ok;
}

bool mem_find(struct mem *m, u64 addr, u64 size, struct mem_range *out)
{
	bool ok;
	u32 i;

	pthread_mutex_lock(&m->lock);
	i = lower_bound(m, addr);
	ok = i < m->len && !m->ranges[i].freed && addr >= m->ranges[i].base && size <= m->ranges[i].size &&
	     addr - m->ranges[i].base <= m->ranges[i].size - size;
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

/* A range outside allocations that hardware would not notice. */
static bool slack_fill(struct mem *m, struct mem_cache *c, u64 addr, u64 size)
{
	u64 arena = (u64)(uintptr_t)m->arena, page = addr & ~(MEM_PAGE - 1);
	bool ok = addr >= arena && addr - arena < m->arena_size && size <= m->arena_size - (addr - arena);

	if (!ok)
		return false;
	pthread_mutex_lock(&m->lock);
	for (; ok && page < addr + size; page += MEM_PAGE)
		ok = page_is_live(m, page) &&
		     !mprotect((void *)(uintptr_t)page, min_u64(MEM_PAGE, arena + m->arena_size - page),
			       PROT_READ | PROT_WRITE);
	if (ok && !m->slack.total++) {
		m->slack.address = addr;
		m->slack.size = size;
	}
	pthread_mutex_unlock(&m->lock);
	if (ok)
		*c = (struct mem_cache){.lo = addr, .span = size};
	return ok;
}

bool mem_cache_fill(struct mem *m, struct mem_cache *c, u64 addr, u64 size)
{
	struct mem_range r;

	if (!mem_find(m, addr, size, &r))
		return !m->strict && slack_fill(m, c, addr, size);
	*c = (struct mem_cache){.lo = r.base, .span = r.size};
	return true;
}

static void say(char *out, size_t size, u64 distance, const char *where, const struct mem_range *r)
{
	snprintf(out, size, "%llu bytes %s a %s%llu-byte allocation at 0x%llx", (unsigned long long)distance, where,
		 r->freed ? "freed " : "", (unsigned long long)r->size, (unsigned long long)r->base);
}

void mem_describe(struct mem *m, u64 addr, char *out, size_t size)
{
	const struct mem_range *above, *below;
	u64 up, down;
	u32 i;

	pthread_mutex_lock(&m->lock);
	i = lower_bound(m, addr);
	above = i < m->len ? &m->ranges[i] : NULL;
	below = i ? &m->ranges[i - 1] : NULL;
	up = above && addr < above->base ? above->base - addr : UINT64_MAX;
	down = below ? addr - (below->base + below->size) : UINT64_MAX;
	if (above && addr >= above->base)
		say(out, size, addr - above->base, "inside", above);
	else if (below && down <= up)
		say(out, size, down, "after", below);
	else if (above)
		say(out, size, up, "before", above);
	else
		snprintf(out, size, "the device has no allocations");
	pthread_mutex_unlock(&m->lock);
}
