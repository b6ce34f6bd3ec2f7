/*
 * Announced pools: a short list, each with its regions by address.
 */
#include "src/mem/pools.h"
#include "src/base/vec.h"

#include <string.h>

struct mem_pool {
	u64 id, base, size;
	VEC(struct mem_region) regions; /* by address, none overlaps another */
};

static VEC(struct mem_pool) pools;
static pthread_rwlock_t pools_lock = PTHREAD_RWLOCK_INITIALIZER;
static u64 last_pool;
u32 mem_pools;

/* ---- the lock is held ---- */

static struct mem_pool *pool_of(u64 id)
{
	for (size_t i = 0; i < pools.len; i++)
		if (pools.at[i].id == id)
			return &pools.at[i];
	return NULL;
}

/* The smallest pool that has the stretch. */
static struct mem_pool *pool_around(u64 base, u64 size)
{
	struct mem_pool *best = NULL;

	for (size_t i = 0; i < pools.len; i++) {
		struct mem_pool *p = &pools.at[i];

		if (size_inside(base, size, p->base, p->size) && (!best || p->size < best->size))
			best = p;
	}
	return best;
}

/* The first region that ends behind the address. */
static size_t region_index(const struct mem_pool *p, u64 addr)
{
	size_t lo = 0, hi = p->regions.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (p->regions.at[mid].base + p->regions.at[mid].size <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void drop_pool(struct mem_pool *p)
{
	VEC_FREE(&p->regions);
	*p = pools.at[--pools.len];
	__atomic_store_n(&mem_pools, (u32)pools.len, __ATOMIC_RELEASE);
}

/* What shares bytes with a new region is gone. */
static void drop_regions(struct mem_pool *p, u64 base, u64 size)
{
	size_t i = region_index(p, base), n = i;

	while (n < p->regions.len && p->regions.at[n].base < base + size)
		n++;
	memmove(p->regions.at + i, p->regions.at + n,
		(p->regions.len - n) * sizeof(*p->regions.at));
	p->regions.len -= n - i;
}

static bool put_region(struct mem_pool *p, u64 base, u64 size)
{
	size_t i;

	if (!VEC_RESERVE(&p->regions, 1))
		return false;
	drop_regions(p, base, size);
	i = region_index(p, base);
	memmove(p->regions.at + i + 1, p->regions.at + i,
		(p->regions.len - i) * sizeof(*p->regions.at));
	p->regions.at[i] = (struct mem_region){.base = base, .size = size};
	p->regions.len++;
	return true;
}

/* The live region that begins there, in any pool. */
static struct mem_region *region_at(u64 base, struct mem_pool **in)
{
	for (size_t i = 0; i < pools.len; i++) {
		struct mem_pool *p = &pools.at[i];
		size_t k = region_index(p, base);

		*in = p;
		if (k < p->regions.len && p->regions.at[k].base == base && !p->regions.at[k].freed)
			return &p->regions.at[k];
	}
	return NULL;
}

/* ---- changes ---- */

u64 mem_pool_add(u64 base, u64 size)
{
	u64 id = 0;

	if (!size || !size_is_range(base, size))
		return 0;
	pthread_rwlock_wrlock(&pools_lock);
	if (VEC_PUSH(&pools, ((struct mem_pool){.id = last_pool + 1, .base = base, .size = size})))
		id = ++last_pool;
	__atomic_store_n(&mem_pools, (u32)pools.len, __ATOMIC_RELEASE);
	pthread_rwlock_unlock(&pools_lock);
	return id;
}

void mem_pools_drop(void)
{
	pthread_rwlock_init(&pools_lock, NULL);
	while (pools.len)
		drop_pool(&pools.at[0]);
}

bool mem_pool_remove(u64 id)
{
	struct mem_pool *p;

	pthread_rwlock_wrlock(&pools_lock);
	p = pool_of(id);
	if (p)
		drop_pool(p);
	pthread_rwlock_unlock(&pools_lock);
	return p != NULL;
}

bool mem_pool_reset(u64 id, u64 *base, u64 *size)
{
	struct mem_pool *p;

	pthread_rwlock_wrlock(&pools_lock);
	p = pool_of(id);
	if (p) {
		*base = p->base;
		*size = p->size;
		for (size_t i = 0; i < p->regions.len; i++)
			p->regions.at[i].freed = true;
	}
	pthread_rwlock_unlock(&pools_lock);
	return p != NULL;
}

bool mem_region_add(u64 id, u64 base, u64 size)
{
	struct mem_pool *p;
	bool ok;

	if (!size || !size_is_range(base, size))
		return false;
	pthread_rwlock_wrlock(&pools_lock);
	p = id ? pool_of(id) : pool_around(base, size);
	ok = p && size_inside(base, size, p->base, p->size) && put_region(p, base, size);
	pthread_rwlock_unlock(&pools_lock);
	return ok;
}

bool mem_region_resize(u64 base, u64 size, u64 *old)
{
	struct mem_pool *p;
	struct mem_region *r;
	bool ok;

	pthread_rwlock_wrlock(&pools_lock);
	r = region_at(base, &p);
	ok = r && size && size_inside(base, size, p->base, p->size);
	if (ok) {
		*old = r->size;
		ok = put_region(p, base, size);
	}
	pthread_rwlock_unlock(&pools_lock);
	return ok;
}

bool mem_region_remove(u64 base, u64 *size)
{
	struct mem_pool *p;
	struct mem_region *r;

	pthread_rwlock_wrlock(&pools_lock);
	r = region_at(base, &p);
	if (r) {
		r->freed = true;
		*size = r->size;
	}
	pthread_rwlock_unlock(&pools_lock);
	return r != NULL;
}

void mem_pools_forget(u64 base, u64 size)
{
	pthread_rwlock_wrlock(&pools_lock);
	for (size_t i = pools.len; i-- > 0;)
		if (size_inside(pools.at[i].base, pools.at[i].size, base, size))
			drop_pool(&pools.at[i]);
	pthread_rwlock_unlock(&pools_lock);
}

/* ---- questions ---- */

/* Keep what lies in [from, to). */
static void cut_cache(struct mem_cache *c, u64 from, u64 to)
{
	u64 end = min_u64(c->lo + c->span, to);

	c->lo = max_u64(c->lo, from);
	c->span = end - c->lo;
}

static bool narrow_to_pool(const struct mem_pool *p, struct mem_cache *c, u64 addr, u64 size)
{
	size_t i;

	if (addr + size <= p->base) {
		cut_cache(c, 0, p->base);
		return true;
	}
	if (addr >= p->base + p->size) {
		cut_cache(c, p->base + p->size, UINT64_MAX);
		return true;
	}
	i = region_index(p, addr);
	if (i == p->regions.len || p->regions.at[i].freed ||
	    !size_inside(addr, size, p->regions.at[i].base, p->regions.at[i].size))
		return false;
	cut_cache(c, p->regions.at[i].base, p->regions.at[i].base + p->regions.at[i].size);
	return true;
}

bool mem_pools_narrow(struct mem_cache *c, u64 addr, u64 size)
{
	bool ok = true;

	pthread_rwlock_rdlock(&pools_lock);
	for (size_t i = 0; ok && i < pools.len; i++)
		ok = narrow_to_pool(&pools.at[i], c, addr, size);
	pthread_rwlock_unlock(&pools_lock);
	return ok;
}

static u64 region_distance(const struct mem_region *r, u64 addr)
{
	if (addr < r->base)
		return r->base - addr;
	return addr - r->base < r->size ? 0 : addr - r->base - r->size + 1;
}

bool mem_region_near(u64 addr, struct mem_region *out)
{
	const struct mem_pool *p;
	bool found = false;

	pthread_rwlock_rdlock(&pools_lock);
	p = pool_around(addr, 1);
	for (size_t i = 0; p && i < p->regions.len; i++)
		if (!found ||
		    region_distance(&p->regions.at[i], addr) < region_distance(out, addr)) {
			*out = p->regions.at[i];
			found = true;
		}
	pthread_rwlock_unlock(&pools_lock);
	return found;
}
