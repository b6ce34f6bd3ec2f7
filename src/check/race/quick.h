/*
 * Shared memory of a CTA between two of its barriers, an interval. A few bytes a granule say which
 * thread has written and read it since, and the accesses in a log. As long as each granule is only
 * read, or belongs to one thread, or sees only atomics, there is no race; the barrier ends the
 * interval, and nothing of it need be kept. Else the log is replayed into the full shadow, which
 * says exactly what raced, and sees the rest of the interval.
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
	u32 pc, time, warp, mask, bytes;
	u8 kind, size, count; /* as in exec_access */
	/*
	 * Lane l's address: first + (l % 16) * step + (l / 16) * half; or, if scattered is not 0,
	 * those in the log's list from there on, - 1.
	 */
	u32 first, step, half;
	u32 scattered;
	u32 silent[QUICK_ELEMENTS]; /* lanes whose element was there already; stores */
};

struct quick {
	/* By granule: interval and thread of the last write and of the reads. */
	u16 *write, *writer, *read, *reader;
	u32 len;
	u8 shift;      /* bytes of a granule: 1 << shift */
	u16 interval;  /* from 1 */
	u32 since;     /* the moment at which it began */
	bool off;      /* the shadow sees the rest of the interval */
	bool is_never; /* and all others */
	VEC(struct quick_access) log;
	VEC(u64) scattered;
};

void quick_fini(struct quick *q);
/* Another interval begins. */
void quick_begin(struct quick *q, u32 since);
/* For another CTA of the launch. */
void quick_reset(struct quick *q);
/*
 * Take note of an access, of a CTA with this much shared memory; atomic: it does not race with
 * others of its kind. False: it may race, or cannot be followed here.
 */
bool quick_note(struct quick *q, const struct exec_access *a, u32 time, u32 shared_bytes,
		bool atomic);
/*
 * The same of a load by all lanes of a warp, whose addresses are 32-bit words, each `offset` beyond
 * one of `row`. False: also if they are not regular.
 */
bool quick_note_words(struct quick *q, const struct exec_access *a, const u32 *row, u32 offset,
		      u32 time, u32 shared_bytes);
/* The last one that is in the log. */
struct quick_access *quick_last(struct quick *q);
/* Has a thread of the CTA written there in an interval before? */
bool quick_was_written(const struct quick *q, u64 address);
/* Lanes' addresses of one that was noted. */
void quick_addresses(const struct quick *q, const struct quick_access *x, u64 address[WARP_LANES]);

#endif
