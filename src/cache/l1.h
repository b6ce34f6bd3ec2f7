/*
 * The first-level cache of one SM, as measured on an H100: lines of four sectors in one pool,
 * looked up by line, judged by sector, valid by byte. Which line goes when the pool is full is a
 * matter of the line's row (l1_rules). It holds no data: the engine has them.
 *
 * Not for several threads at once: a cache belongs to the worker that plays its SM.
 */
#ifndef PL_CACHE_L1_H
#define PL_CACHE_L1_H

#include "src/base/base.h"

#define CACHE_LINE_BYTES 128u
#define CACHE_SECTOR_BYTES 32u
#define CACHE_SECTORS 4u /* of a line */
#define CACHE_ALL_BYTES 0xffffffffu

/* How many of the sectors of a line these are, a bit each: faster than a call. */
static inline u32 cache_count_sectors(u32 sectors)
{
	return (u32)(0x4332322132212110u >> sectors * 4) & 7;
}

/* Sectors that words of a line lie in. */
static inline u32 cache_word_sectors(u32 words)
{
	words |= words >> 4;
	words |= words >> 2;
	words |= words >> 1;
	return ((words & 0x01010101) * 0x01020408) >> 24 & 0xf;
}

/* Bytes of the words of a sector. */
static inline u32 cache_word_bytes(u32 words)
{
	words = (words | words << 12) & 0x000f000f;
	words = (words | words << 6) & 0x03030303;
	return ((words | words << 3) & 0x11111111) * 0xf;
}

/* Counts that are nothing but words. */
static inline void cache_add(u64 *to, const u64 *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] += from[i];
}

struct l1_rules {
	u32 lines; /* that the pool holds */
	/*
	 * The pool is full: the address of the line that comes picks one of so many rows; 1: the
	 * victim is looked for in the whole pool.
	 */
	u32 rows;
	bool keeps_hit;   /* lines that were hit since they came stay longer than all others */
	bool keeps_store; /* a store leaves what it wrote; else it drops the line */
};

/* What an access leaves behind. */
enum l1_keep {
	L1_KEEP,        /* the sectors */
	L1_KEEP_FIRST,  /* the sectors, to go before others */
	L1_KEEP_LAST,   /* the sectors, as if they had been hit already */
	L1_KEEP_NOTHING /* what was there stays, nothing comes */
};

/* Slots that are looked through at once. Loads mostly need the first 128 bytes. */
#define L1_GROUP 8u

struct l1_group {
	/* Low bits of the line, with a bit if the slot is of the line's row. */
	_Alignas(64) u32 key[L1_GROUP];
	/* When it was last looked up, with a bit unless it goes first; 0: the slot is free. */
	u32 used[L1_GROUP];
	u32 kept[L1_GROUP]; /* until when a hit keeps it; 0: none has */
	u16 high[L1_GROUP]; /* the other bits of the line */
	u8 whole[L1_GROUP]; /* sectors of which all is here, a bit each, and those of l1.c */
	u8 unused[L1_GROUP];
	u64 stored[L1_GROUP]; /* what stored last (l1_store), if all that is here was stored */
	u32 valid[L1_GROUP][CACHE_SECTORS]; /* of sectors that are not whole */
};

/*
 * Slots lie row by row, `ways` for each row, the last of which not all rows have, and room up to
 * `stride`. A line is found by the keys of its row; by the index if it lies astray, in another row.
 */
struct l1 {
	struct l1_rules rules;
	u32 rows, ways, stride;
	u32 row_mask;      /* rows - 1, if they are a power of two; else 0 */
	bool looks_in_row; /* else all lines are found by the index, as if they lay astray */
	u32 time;
	struct l1_group *group; /* slot / L1_GROUP */
	u32 slots;              /* of all groups */
	u32 taken;              /* of these */
	u32 first_free;         /* of all ways by turns, no one before it is free */
	u32 *astray;            /* by row: its lines that lie elsewhere */
	u32 *index; /* by hash of the line: the rest of the hash, and slot + 1; 0: none */
	u32 index_mask;
};

/* false: the host has no memory left; `c` is then empty and l1_fini does nothing. */
bool l1_init(struct l1 *c, const struct l1_rules *rules);
void l1_fini(struct l1 *c);

/*
 * A load of the bytes `need` of a line, by sector. Returns the sectors that miss, a bit each: they
 * are to be fetched, whole.
 */
u32 l1_load(struct l1 *c, u64 line, const u32 need[CACHE_SECTORS], enum l1_keep keep);
/* The same of words, a bit each. */
u32 l1_load_words(struct l1 *c, u64 line, u32 words, enum l1_keep keep);
/*
 * A store to these bytes; they go on to the next level in any case. Does it hit: was the line
 * there?
 * number: if it stores whole words, l1_number, since an instruction does not hit what the one
 * before it has left, if that was of the same warp; else 0.
 */
bool l1_store(struct l1 *c, u64 line, const u32 bytes[CACHE_SECTORS], enum l1_keep keep,
	      u64 number);
/* Of an instruction of the SM, counted from 1 on. */
static inline u64 l1_number(u32 instruction, u16 warp)
{
	return (u64)instruction << 16 | warp;
}

/*
 * The line will be asked for soon: fetch from the host's memory where it would be found. Changes
 * nothing.
 */
void l1_expect(const struct l1 *c, u64 line);

/* Take a line away: atomics, and loads that go past this cache. */
void l1_drop(struct l1 *c, u64 line);
/* Take all lines away: an acquire of the device's or the system's scope. */
void l1_flush(struct l1 *c);
#endif
