/*
 * Storage of what programs hold handles of: streams, events, graphs.
 *
 * Items lie in one reserved range of addresses that is never unmapped while the pool lives, so a
 * handle that a program made up, or uses after it has destroyed the thing, is found out instead of
 * read. An item's address is used again late: the one that was free longest comes first.
 */
#ifndef PL_DEV_HANDLE_H
#define PL_DEV_HANDLE_H

#include "src/base/base.h"

#include <pthread.h>

struct handle_head {
	u32 live; /* 0 free, 1 live, 2 retired */
	u32 next; /* free items: index + 1 of the next one */
};

struct handle_pool {
	u8 *base;       /* NULL: nothing has been asked for yet */
	u32 item_bytes; /* with the head, a multiple of 64 */
	u32 cap, used;
	u32 first, last; /* free items: index + 1 */
	pthread_mutex_t lock;
};

/*
 * A pool as an initialiser: items of `bytes` each, at most `most` of them. Never ended by
 * handle_pool_fini.
 */
#define HANDLE_POOL(bytes, most)                                                                   \
	{                                                                                          \
		.item_bytes = ((u32)((bytes) + sizeof(struct handle_head)) + 63) / 64 * 64,        \
		.cap = (most), .lock = PTHREAD_MUTEX_INITIALIZER                                   \
	}

/* Items of `bytes` each, at most `cap` of them. Address space is reserved at the first. */
void handle_pool_init(struct handle_pool *p, u32 bytes, u32 cap);
void handle_pool_fini(struct handle_pool *p);
/* A zeroed item. NULL: no memory, or `cap` are live. */
void *handle_new(struct handle_pool *p);
/* Make a live item's handle invalid, its storage stays. Returns false when it is not live. */
bool handle_retire(struct handle_pool *p, void *item);
/* Release the storage. Returns false when it is neither live nor retired. */
bool handle_free(struct handle_pool *p, void *item);
/* Is it a live item? Any value may be asked about. */
bool handle_is_live(const struct handle_pool *p, const void *item);
/* Has it ever been an item? */
bool handle_was(const struct handle_pool *p, const void *item);
/* Call visit for every live item; it may free the one it is given. */
void handle_each(struct handle_pool *p, void (*visit)(void *item, void *user), void *user);

#endif
