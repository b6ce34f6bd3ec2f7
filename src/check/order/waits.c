/*
 * Who comes behind griddepcontrol.wait.
 */
#include "src/check/order/waits.h"
#include "src/base/vec.h"

#include <stdlib.h>

struct block_waits {
	bool all;
	u32 behind[32]; /* lanes of each warp, as far as known */
	VEC(struct race_deed) deeds;
};

void waits_fini(struct waits *w)
{
	for (size_t i = 0; i < w->blocks.cap; i++)
		if (w->blocks.slots[i].key) {
			struct block_waits *b = (void *)(uintptr_t)w->blocks.slots[i].value;

			VEC_FREE(&b->deeds);
			free(b);
		}
	map_fini(&w->blocks);
}

static struct block_waits *find_waits(const struct waits *w, u64 number)
{
	const u64 *slot = map_get(&w->blocks, number + 1);

	return slot ? (struct block_waits *)(uintptr_t)*slot : NULL;
}

static struct block_waits *take_waits(struct waits *w, u64 number)
{
	struct block_waits *b = find_waits(w, number);

	if (b)
		return b;
	b = calloc(1, sizeof(*b));
	if (b && !map_set(&w->blocks, number + 1, map_key(b))) {
		free(b);
		return NULL;
	}
	return b;
}

void waits_note(struct waits *w, struct race_check *race, const struct cta *c, u32 warp, u32 lanes)
{
	struct block_waits *b = take_waits(w, c->number);
	struct race_deed d;

	if (!b || !(lanes & ~b->behind[warp]))
		return;
	b->behind[warp] |= lanes;
	d = race_deed_now(race, c, warp, lanes);
	if (!d.moment || !VEC_PUSH(&b->deeds, d))
		b->all = true;
}

static u32 behind_block(const struct block_waits *b, struct race_check *race, const struct cta *c,
			u32 warp, u32 mask)
{
	u32 behind = 0;

	if (b->all)
		return mask;
	for (size_t i = 0; i < b->deeds.len && mask & ~behind; i++)
		behind |= race_lanes_behind(race, &b->deeds.at[i], c, warp, mask & ~behind);
	return behind;
}

u32 waits_behind(struct waits *w, struct race_check *race, const struct cta *c, u32 warp, u32 mask)
{
	struct block_waits *own;
	u32 behind;

	if (PL_LIKELY(!w->blocks.len))
		return 0;
	own = find_waits(w, c->number);
	behind = own ? mask & own->behind[warp] : 0;
	if (own && mask & ~behind)
		behind |= behind_block(own, race, c, warp, mask & ~behind);
	for (u32 i = 0; c->cluster && i < c->cluster->size && mask & ~behind; i++) {
		const struct block_waits *b = find_waits(w, c->cluster->cta[i]->number);

		if (b && b != own)
			behind |= behind_block(b, race, c, warp, mask & ~behind);
	}
	if (behind && !own)
		own = take_waits(w, c->number);
	if (own)
		own->behind[warp] |= behind;
	return behind;
}
