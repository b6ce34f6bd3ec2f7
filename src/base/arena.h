/*
 * Arena: memory that is freed all at once. One per module, one per launch.
 * Not thread-safe; each arena has one owner at a time.
 */
#ifndef PL_ARENA_H
#define PL_ARENA_H

#include "src/base/base.h"

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks; /* newest first */
	u8 *next, *end;             /* free part of the newest chunk */
	size_t used_bytes;          /* sum of all requests */
	size_t limit_bytes;         /* 0: none */
};

/* Zeroed `struct arena` is also a valid, empty arena without a limit. */
void arena_init(struct arena *a, size_t limit_bytes);
void arena_fini(struct arena *a);

/*
 * Zeroed memory of `size` bytes, aligned to 16. Never freed alone.
 * Returns NULL when the host has no memory left or the limit is passed.
 */
void *arena_alloc(struct arena *a, size_t size);
void *arena_copy(struct arena *a, const void *p, size_t size);
/* A NUL-terminated copy of n characters. */
char *arena_strdup(struct arena *a, const char *s, size_t n);

#define ARENA_NEW(a, type) ((type *)arena_alloc(a, sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_alloc(a, sizeof(type) * (size_t)(n)))

#endif
