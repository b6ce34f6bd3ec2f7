/*
 * Counting accesses by place, such as an allocation.
 */
#include "src/cache/play.h"

#include <stdlib.h>
#include <string.h>

struct cache_place *cache_place_of(struct cache_places *p, u64 line)
{
	u32 lo = 0, hi = p->len;

	if (p->last < p->len && line >= p->at[p->last].first && line < p->at[p->last].end)
		return &p->at[p->last];
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (line < p->at[mid].end)
			hi = mid;
		else
			lo = mid + 1;
	}
	if (lo == p->len || line < p->at[lo].first)
		return &p->elsewhere;
	p->last = lo;
	return &p->at[lo];
}

void cache_place_count(struct cache_places *p, u64 line, u32 sectors, u32 missed)
{
	struct cache_insn *to = &cache_place_of(p, line)->count;

	to->requests++;
	to->sectors += sectors;
	to->miss += missed;
	to->hit += sectors - missed;
}

void cache_insn_add(struct cache_insn *to, const struct cache_insn *from)
{
	cache_add((u64 *)to, (const u64 *)from, sizeof(*to) / sizeof(u64));
}

struct cache_places *cache_places_clone(const struct cache_places *p)
{
	size_t bytes = sizeof(*p) + p->len * sizeof(*p->at);
	struct cache_places *q = malloc(bytes);

	if (!q)
		return NULL;
	memcpy(q, p, bytes);
	q->elsewhere.count = (struct cache_insn){0};
	for (u32 i = 0; i < q->len; i++)
		q->at[i].count = (struct cache_insn){0};
	return q;
}

void cache_places_merge(struct cache_places *to, const struct cache_places *clone)
{
	cache_insn_add(&to->elsewhere.count, &clone->elsewhere.count);
	for (u32 i = 0; i < to->len; i++)
		cache_insn_add(&to->at[i].count, &clone->at[i].count);
}

void cache_places_free(struct cache_places *p)
{
	for (u32 i = 0; p && i < p->len; i++)
		free(p->at[i].page);
	free(p);
}
