/*
 * What lies around an address, for messages: every range is inspected.
 */
#include "src/mem/near.h"

/* Memory of our own, which no program has asked for. */
static bool is_program_range(const struct mem_range *r)
{
	return r->kind == MEM_KIND_PARAM || r->kind == MEM_KIND_INTERNAL ||
	       r->kind == MEM_KIND_HEAP;
}

/* Is `a` what a message should rather speak of? */
static bool is_better(const struct mem_near *a, const struct mem_near *b)
{
	if (b->where == MEM_NEAR_NONE || a->where == MEM_NEAR_INSIDE)
		return true;
	if (b->where == MEM_NEAR_INSIDE)
		return false;
	if (a->range.freed != b->range.freed)
		return b->range.freed;
	return a->distance < b->distance ||
	       (a->distance == b->distance && a->where == MEM_NEAR_AFTER);
}

static struct mem_near near_range(const struct mem_range *r, u64 addr)
{
	struct mem_near n = {.range = *r};

	if (addr < r->base) {
		n.where = MEM_NEAR_BEFORE;
		n.distance = r->base - addr;
	} else if (addr - r->base < r->size) {
		n.where = MEM_NEAR_INSIDE;
		n.distance = addr - r->base;
	} else {
		n.where = MEM_NEAR_AFTER;
		n.distance = addr - r->base - r->size;
	}
	return n;
}

static void look_near(struct mem *m, u64 addr, struct mem_near *best)
{
	pthread_mutex_lock(&m->lock);
	for (u32 i = 0; i < m->len; i++) {
		struct mem_near n = near_range(&m->ranges[i], addr);

		if (is_program_range(&m->ranges[i]) && n.where != MEM_NEAR_INSIDE)
			continue;
		if (is_better(&n, best)) {
			n.device = m->index;
			*best = n;
		}
	}
	pthread_mutex_unlock(&m->lock);
}

void mem_nearest(struct mem *m, u64 addr, struct mem_near *out)
{
	struct mem_system *s = m->system;
	struct mem *home = s ? mem_system_arena(s, addr) : NULL;

	*out = (struct mem_near){.where = MEM_NEAR_NONE};
	look_near(home ? home : m, addr, out);
	if (s && !home)
		look_near(&s->host, addr, out);
	out->is_read_only = !mem_is_writable(m, &out->range);
	out->is_foreign = home && home != m && home != &s->host && home != &s->maps;
}
