/*
 * A file for blocks of records that would take too much of the host's memory. It has no name, and
 * ends with the process.
 */
#ifndef PL_CACHE_SPILL_H
#define PL_CACHE_SPILL_H

#include "src/base/vec.h"

#include <pthread.h>

#define SPILL_BLOCK_WORDS 4096u
#define SPILL_BLOCK_BYTES (SPILL_BLOCK_WORDS * sizeof(u64))

/* May be used by several threads at once. */
struct cache_spill {
	pthread_mutex_t lock;
	u64 most, kept; /* blocks that may stay in memory, and that do */
	int fd;         /* -1: none yet */
	u64 end;        /* of the file, in blocks */
	VEC(u64) free;  /* blocks of the file that are not used */
	bool failed;    /* the file could not be made or written */
};

/* most: bytes of blocks that stay in memory. */
void cache_spill_init(struct cache_spill *s, u64 most);
void cache_spill_fini(struct cache_spill *s);
/* May one more block stay in memory? It is counted then, until cache_spill_forget. */
bool cache_spill_keeps(struct cache_spill *s);
void cache_spill_forget(struct cache_spill *s);
/* Write a block; its place in *at. False: there is no room, or the disk refuses. */
bool cache_spill_write(struct cache_spill *s, const u64 *words, u64 *at);
/* Read what was written. */
bool cache_spill_read(struct cache_spill *s, u64 at, u64 *words);
/* The place may be used again. */
void cache_spill_drop(struct cache_spill *s, u64 at);

#endif
