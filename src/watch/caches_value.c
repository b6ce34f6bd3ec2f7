/*
 * What the caches have counted, by name.
 */
#include "src/watch/caches.h"

static const struct {
	const char *name, *what;
} metrics[CACHES_METRICS] = {
#define CACHES_METRIC(id, name, what) {name, what},
#include "src/watch/caches.def"
#undef CACHES_METRIC
};

const char *watch_caches_name(enum caches_metric m)
{
	return m < CACHES_METRICS ? metrics[m].name : NULL;
}

const char *watch_caches_what(enum caches_metric m)
{
	return m < CACHES_METRICS ? metrics[m].what : NULL;
}

static u64 tags_of(const struct cache_counts *n)
{
	return n->l1[CACHE_LOAD].tags + n->l1[CACHE_STORE].tags + n->l1[CACHE_ATOM].tags +
	       n->l1[CACHE_RED].tags;
}

u64 watch_caches_value(const struct watch_caches *c, enum caches_metric m)
{
	const struct cache_counts *n = &c->counts;
	const struct l2_counts *l2 = &n->l2;
	const u64 value[CACHES_METRICS] = {
		/* Copies through the first cache are loads to it. */
		[CACHES_ld_hit] = n->l1[CACHE_LOAD].hit + n->l1[CACHE_COPY].hit,
		[CACHES_ld_miss] = n->l1[CACHE_LOAD].miss + n->l1[CACHE_COPY].miss,
		[CACHES_st_hit] = n->l1[CACHE_STORE].hit,
		[CACHES_st_miss] = n->l1[CACHE_STORE].miss,
		[CACHES_local_ld_hit] = n->l1[CACHE_LOCAL_LOAD].hit,
		[CACHES_local_ld_miss] = n->l1[CACHE_LOCAL_LOAD].miss,
		[CACHES_tags] = tags_of(n),
		[CACHES_read] = n->read_sectors,
		[CACHES_write] = n->write_sectors,
		[CACHES_l2_read] = l2->sectors[L2_READ],
		[CACHES_l2_read_hit] = l2->hit[L2_READ],
		[CACHES_l2_read_miss] = l2->miss[L2_READ],
		[CACHES_l2_write] = l2->sectors[L2_WRITE],
		[CACHES_l2_atom] = l2->sectors[L2_ATOM],
		[CACHES_l2_red] = l2->sectors[L2_RED],
		[CACHES_l2_fabric] = l2->fabric[L2_READ] + l2->fabric[L2_WRITE] +
				     l2->fabric[L2_ATOM] + l2->fabric[L2_RED] +
				     l2->fabric[L2_PREFETCH],
		[CACHES_dram_read] = l2->dram_read,
		[CACHES_dram_write] = l2->dram_write,
		[CACHES_constant_hit] = n->constant_hit,
		[CACHES_constant_miss] = n->constant_miss,
	};

	return m < CACHES_METRICS ? value[m] : 0;
}
