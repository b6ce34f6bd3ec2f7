/*
 * Arena allocation: a list of growing chunks, bump pointer in the newest.
 */
#include "src/base/arena.h"

#include <stdlib.h>

#define ARENA_ALIGN 16u
#define CHUNK_MIN (16u << 10)
#define CHUNK_MAX (1u << 20)

struct arena_chunk {
	struct arena_chunk *older;
	size_t size;
	_Alignas(ARENA_ALIGN) u8 data[];
};

void arena_init(struct arena *a, size_t limit_bytes)
{
	*a = (struct arena){.limit_bytes = limit_bytes};
}

void arena_fini(struct arena *a)
{
	struct arena_chunk *c = a->chunks;

	while (c) {
		struct arena_chunk *older = c->older;

		free(c);
		c = older;
	}
	*a = (struct arena){.limit_bytes = a->limit_bytes};
}

static bool arena_grow(struct arena *a, size_t size)
{
	size_t want = a->chunks ? (size_t)min_u64(a->chunks->size * 2, CHUNK_MAX) : CHUNK_MIN;
	struct arena_chunk *c;

	if (want < size)
		want = size;
	/* calloc: large chunks come zeroed from the kernel, untouched pages cost nothing. */
	c = calloc(1, sizeof(*c) + want);
	if (!c)
		return false;
	c->older = a->chunks;
	c->size = want;
	a->chunks = c;
	a->next = c->data;
	a->end = c->data + want;
	return true;
}

void *arena_alloc(struct arena *a, size_t size)
{
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size_t)align_up(size ? size : 1, ARENA_ALIGN);
	if (a->limit_bytes && a->used_bytes + size > a->limit_bytes)
		return NULL;
	if ((size_t)(a->end - a->next) < size && !arena_grow(a, size))
		return NULL;
	p = a->next;
	a->next += size;
	a->used_bytes += size;
	return p;
}

void *arena_copy(struct arena *a, const void *p, size_t size)
{
	void *q = arena_alloc(a, size);

	if (q && size)
		memcpy(q, p, size);
	return q;
}

char *arena_strdup(struct arena *a, const char *s, size_t n)
{
	char *q = arena_alloc(a, n + 1);

	if (q)
		memcpy(q, s, n);
	return q;
}
