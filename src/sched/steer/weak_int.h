/*
 * Private to weak memory: what is kept of a launch, store buffers and lines (weak_store.c).
 */
#ifndef PL_WEAK_INT_H
#define PL_WEAK_INT_H

#include "src/base/map.h"
#include "src/base/vec.h"
#include "src/sched/debug_int.h"
#include "src/sched/steer/weak.h"

#include <sys/queue.h>

#define SECTOR_BYTES 32u
/* Delays are shorter: a ring of lists, by the time at which stores reach memory. */
#define RING 4096u
#define DELAY_LOG_MAX 11u
#define LINES_MAX 65536u

struct weak_store {
	TAILQ_ENTRY(weak_store) by_age, by_due, in_sector, in_cta;
	u64 host, due;
	struct weak_sector *sector;
	struct weak_cta *cta;
	u32 warp, pc, len;
	bool goes; /* it is about to reach memory */
	u8 bytes[SECTOR_BYTES];
};
TAILQ_HEAD(store_list, weak_store);

struct weak_line {
	TAILQ_ENTRY(weak_line) by_age, in_sector;
	struct weak_cta *cta;
	struct weak_sector *sector;
	u64 epoch, until;
	bool read_only; /* ld.global.nc: up to the end */
	u8 bytes[SECTOR_BYTES];
};
TAILQ_HEAD(line_list, weak_line);

struct weak_sector {
	u64 host;
	struct store_list stores;
	struct line_list lines[2]; /* of read-only loads, too */
};

struct weak_cta {
	u64 number;
	u64 epoch; /* lines of earlier ones are void */
	u64 draws;
	struct store_list stores;
};

/* Bytes of memory that the access under way replaces, or is about to write. */
struct weak_undo {
	u64 host;
	u32 len;
	bool is_store;
	struct weak_cta *cta;
	u32 warp, pc;
	u8 old[SECTOR_BYTES], now[SECTOR_BYTES];
};

struct weak {
	u64 seed, now;
	u32 delay_log;
	struct map sectors, ctas;
	struct store_list stores, ring[RING]; /* by age; by when they reach memory */
	struct line_list lines;
	u32 line_len;
	VEC(struct weak_undo) undo;
	VEC(struct weak_sector *) all_sectors; /* owned */
	VEC(struct weak_cta *) all_ctas;       /* owned */
	struct mem_range range;                /* looked up last, while `epoch` is the arena's */
	u32 range_epoch;
	bool lost; /* no memory: all accesses are plain from now on */
};

struct weak_sector *weak_sector_of(struct weak *w, u64 host);
struct weak_sector *weak_sector_at(const struct weak *w, u64 host);
struct weak_line *weak_line_find(struct weak *w, struct weak_sector *s, struct weak_cta *c,
				 bool read_only);
void weak_line_drop(struct weak *w, struct weak_line *l);
/* Half of the sectors that weak loads read become lines. */
void weak_line_keep(struct weak *w, struct weak_sector *s, struct weak_cta *c, bool read_only);
/* Steps that something lasts: short ones as often as long ones. */
u64 weak_delay(struct weak *w, struct weak_cta *c);
/* Values of up to 16 bytes are written as one. */
void weak_write(u64 host, const u8 *from, u32 len);
bool weak_overlaps(const struct weak_store *a, u64 host, u64 len);
struct weak_store *weak_store_insert(struct weak *w, const struct weak_store *like);
/* It reaches memory, behind the earlier ones of its CTA that it overlaps, and those these do. */
void weak_store_drain(struct weak *w, struct weak_store *last);
void weak_store_lands(struct weak *w, struct weak_store *s);
void weak_cta_publish(struct weak *w, struct weak_cta *c);
/* What the CTA has stored at these bytes reaches memory, and it keeps no line of them. */
void weak_cta_settle(struct weak *w, struct weak_cta *c, struct weak_sector *sector, u64 host,
		     u64 len);
struct weak_cta *weak_cta_of(struct weak *w, u64 number);

#endif
