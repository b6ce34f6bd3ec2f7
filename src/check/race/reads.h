/*
 * Reads that cells (shadow.h) are still to see. Where nothing is written, as in tables that all
 * threads read, cells see many reads at once, before anything else is asked of them: each cell is
 * then compared once for all of its reads.
 */
#ifndef PL_CHECK_READS_H
#define PL_CHECK_READS_H

#include "src/base/vec.h"
#include "src/check/race/known.h"

struct shadow;
struct shadow_page;

/* What a warp has read by one instruction. */
struct reads_event {
	u64 warp; /* as of a row */
	u32 time, pc;
	u32 known; /* what its CTA did up to then happened before it */
	u32 width; /* bytes of a lane: 1 << width */
};

/* Of a page, in their order. */
struct reads {
	u32 len, cap;
	u32 cells; /* of all of them */
	bool is_listed;
	struct {
		u32 lanes;
		/* Number of the event << READS_WHAT_BITS | width << READS_CELL_BITS | first cell */
		u32 what;
	} at[];
};

#define READS_CELL_BITS 10u
#define READS_WHAT_BITS 13u
#define READS_EVENTS 32768u
#define READS_MOST 4096u /* cells */

/* A warp's reads, of pages whose lists are still to have them. */
struct reads_warp {
	struct reads_event event;
	u32 mask;
	bool is_apart; /* lanes at one place are reads of their own */
	u64 base;
	u32 at[32]; /* by lane, from the base on */
};

#define READS_WARPS 65536u

/* Of all pages of a shadow. */
struct reads_log {
	VEC(struct reads_event) events;
	VEC(struct shadow_page *) pages; /* that have reads */
	VEC(struct reads_warp) warps;    /* later than what the lists have */
};

void reads_log_fini(struct reads_log *log);
/* The number of an event; the log has room for it. False: no memory left. */
bool reads_event(struct reads_log *log, const struct reads_event *e, u32 *number);
/* It has no room for a further event: every page's cells are to be told first. */
static inline bool reads_log_is_full(const struct reads_log *log)
{
	return log->events.len >= READS_EVENTS;
}

/*
 * Lanes have read what begins at a cell of a page. The cells are told if there is no room. False:
 * no memory left.
 */
bool reads_note(struct shadow *s, struct shadow_page *p, u32 event, u32 lanes, u32 cell);
/* A warp has read of pages that keep reads, and are marked as such. False: no memory left. */
bool reads_note_warp(struct shadow *s, const struct reads_warp *x);
/* The lists have all that warps have read. */
void reads_sort(struct shadow *s);
/* Tell the cells of a page; of all pages: there are no events then. */
void reads_tell(struct shadow *s, struct shadow_page *p);
void reads_tell_all(struct shadow *s);

#endif
