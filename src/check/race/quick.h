/*
 * Shared memory of a CTA between two of its barriers, an interval. A few bytes a granule say which
 * thread has written and read it since, and the accesses in a log. As long as each granule is only
 * read, or belongs to one thread, or sees only atomics, there is no race; the barrier ends the
 * interval, and nothing of it need be kept. Else the log is replayed into the full shadow, which
 * says exactly what raced, and sees the rest of the interval.
 *
 * Loops have the same accesses in one interval after the other. Logs of intervals without races are
 * kept, and as long as the accesses of a later one are those of such a log, in its order, there is
 * nothing to find out: the interval follows that log.
 */
#ifndef PL_CHECK_QUICK_H
#define PL_CHECK_QUICK_H

#include "src/base/vec.h"
#include "src/exec/observer.h"

/* Bytes that one lane stores at most, in elements of a vector. */
#define QUICK_ELEMENTS 8u

/* An access that the shadow has not seen. */
struct quick_access {
	const struct uop *in;
	u32 pc, warp, mask, bytes;
	u8 kind, size, count; /* as in exec_access */
	u8 group;             /* of this many warps of a gang, one access each, the first; or 0 */
	/*
	 * Lane l's address: first + (l % 16) * step + (l / 16) * half; or, if scattered is not 0,
	 * those in the log's list from there on, - 1.
	 */
	u32 first, step, half;
	u32 scattered;
	u32 row;                    /* of a group: its addresses without their offset, in `rows` */
	u32 silent[QUICK_ELEMENTS]; /* lanes whose element was there already; stores */
};

/* Accesses of an interval, in their order. */
struct quick_log {
	VEC(struct quick_access) list;
	VEC(u32) times; /* of each: the moment, in the interval that was here last */
	VEC(u64) scattered;
	VEC(u32) rows;
	u32 cta;   /* in which what it writes has been noted */
	u32 used;  /* when: for the choice of the one that is given up */
	u32 after; /* the log of the interval that came behind it last */
};

#define QUICK_LOGS 12u

struct quick {
	/* By granule: interval and thread of the last write and of the reads. */
	u16 *write, *writer, *read, *reader;
	u32 len;
	u8 shift;      /* bytes of a granule: 1 << shift */
	u16 interval;  /* from 1 */
	u32 since;     /* the moment at which it began */
	bool off;      /* the shadow sees the rest of the interval */
	bool is_never; /* and all others */
	bool follows;  /* the interval is one that was seen before, so far */
	u32 noted;     /* accesses of this interval: the first ones of `now` */
	u32 now, last; /* logs of this interval, of the one before; QUICK_LOGS: none */
	u32 cta;       /* number of the CTA, among those that this was of */
	u32 intervals; /* in all */
	u32 strays;    /* intervals in a row that left the log that they followed */
	struct quick_log log[QUICK_LOGS];
};

void quick_fini(struct quick *q);
/* Another interval begins. */
void quick_begin(struct quick *q, u32 since);
/* For another CTA of the launch. */
void quick_reset(struct quick *q);
/*
 * Take note of an access, of a CTA with this much shared memory; atomic ones do not race with
 * others of their kind. False: it may race, or cannot be followed here.
 */
bool quick_note(struct quick *q, const struct exec_access *a, u32 time, u32 shared_bytes);
/*
 * The same of a load by all lanes of a warp, whose addresses are 32-bit words, each `offset` beyond
 * one of `row`. False: also if they are not regular.
 */
bool quick_note_words(struct quick *q, const struct exec_access *a, const u32 *row, u32 offset,
		      u32 time, u32 shared_bytes);
/*
 * All warps of a gang from a->warp on load or store by full masks, as above, from `row` on. NULL if
 * the interval that it follows did not do that here, else what the first one does.
 */
struct quick_access *quick_follow_gang(struct quick *q, const struct exec_access *a, u32 warps,
				       const u32 *row, u32 offset, u32 time);
/* The last accesses, one of each of these warps, were one of a gang. */
void quick_keep_gang(struct quick *q, u32 warps, const u32 *row);
/* The last one that is in the log. */
struct quick_access *quick_last(struct quick *q);
/* One of those of this interval, and its moment. */
const struct quick_access *quick_at(const struct quick *q, u32 i, u32 *time);
/* The shadow has seen the accesses of this interval. */
void quick_end_log(struct quick *q);
/* Has a thread of the CTA written there in an interval before? */
bool quick_was_written(const struct quick *q, u64 address);
/* Lanes' addresses of one that was noted. */
void quick_addresses(const struct quick *q, const struct quick_access *x, u64 address[WARP_LANES]);

#endif
