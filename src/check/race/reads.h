/*
 * Reads that cells (shadow.h) are still to see. Where nothing is written, as in tables that all
 * threads read, cells see many reads at once, before anything else is asked of them: each cell is
 * then compared once for all of its reads.
 */
#ifndef PL_CHECK_READS_H
#define PL_CHECK_READS_H

#include "src/base/vec.h"
#include "src/check/race/known.h"

struct shadow_page;

/* What a warp has read by one instruction. */
struct reads_event {
	u64 warp; /* as of a row */
	u32 time, pc;
	u32 known; /* what its CTA did up to then happened before it */
};

/* Of a page, in their order. */
struct reads {
	u32 len, cap;
	bool is_listed;
	struct {
		u32 lanes;
		u32 what; /* number of the event << READS_CELL_BITS | number of the cell */
	} at[];
};

#define READS_CELL_BITS 10u
#define READS_EVENTS 32768u
#define READS_MOST 4096u

/* Of all pages of a shadow. */
struct reads_log {
	VEC(struct reads_event) events;
	VEC(struct shadow_page *) pages; /* that have reads */
};

void reads_log_fini(struct reads_log *log);
/* The number of an event; the log has room for it. False: no memory left. */
bool reads_event(struct reads_log *log, const struct reads_event *e, u32 *number);
/* It has no room for a further event: every page's cells are to be told first. */
static inline bool reads_log_is_full(const struct reads_log *log)
{
	return log->events.len >= READS_EVENTS;
}

/* Lanes have read a cell of a page. The cells are told if there is no room. False: no memory. */
bool reads_note(struct reads_log *log, struct shadow_page *p, u32 event, u32 lanes, u32 cell);
/* Tell the cells of a page; of all pages: there are no events then. */
void reads_tell(struct reads_log *log, struct shadow_page *p);
void reads_tell_all(struct reads_log *log);

#endif
