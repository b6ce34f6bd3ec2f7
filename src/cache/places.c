/*
 * Counting accesses by place, such as an allocation.
 */
#include "src/cache/play.h"

#include <stdlib.h>

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

void cache_places_free(struct cache_places *p)
{
	for (u32 i = 0; p && i < p->len; i++)
		free(p->at[i].page);
	free(p);
}
