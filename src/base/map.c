/*
 * Hash map: linear probing, load at most one half.
 */
#include "src/base/map.h"

#include <stdlib.h>

static size_t map_home_slot(u64 key, size_t cap)
{
	key ^= key >> 32;
	key *= 0x9e3779b97f4a7c15u;
	return (size_t)(key >> 20) & (cap - 1);
}

static struct map_slot *map_find(const struct map *m, u64 key)
{
	size_t i = map_home_slot(key, m->cap);

	while (m->slots[i].key && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

void map_fini(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}

u64 *map_get(const struct map *m, u64 key)
{
	struct map_slot *s;

	if (!m->cap)
		return NULL;
	s = map_find(m, key);
	return s->key ? &s->value : NULL;
}

static bool map_grow(struct map *m)
{
	struct map bigger = {.cap = m->cap ? m->cap * 2 : 16, .len = m->len};

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].key)
			*map_find(&bigger, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return true;
}

bool map_set(struct map *m, u64 key, u64 value)
{
	struct map_slot *s;

	if (m->len * 2 >= m->cap && !map_grow(m))
		return false;
	s = map_find(m, key);
	if (!s->key) {
		s->key = key;
		m->len++;
	}
	s->value = value;
	return true;
}

void map_remove(struct map *m, u64 key)
{
	struct map_slot *hole = m->cap ? map_find(m, key) : NULL;
	size_t i, mask = m->cap - 1;

	if (!hole || !hole->key)
		return;
	m->len--;
	/* Those behind it that it pushed on move up, so that none is cut off. */
	for (i = ((size_t)(hole - m->slots) + 1) & mask; m->slots[i].key; i = (i + 1) & mask) {
		size_t home = map_home_slot(m->slots[i].key, m->cap);
		size_t at = (size_t)(hole - m->slots);

		if (((i - home) & mask) < ((i - at) & mask))
			continue;
		*hole = m->slots[i];
		hole = &m->slots[i];
	}
	*hole = (struct map_slot){0};
}
