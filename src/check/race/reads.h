/*
 * Reads that cells (shadow.h) are still to see. Where nothing is written, as in tables that all
 * threads read, cells see many reads at once, before anything else is asked of them: each cell is
 * then compared once for all of its reads.
 */
#ifndef PL_CHECK_READS_H
#define PL_CHECK_READS_H

#include "src/base/vec.h"
#include "src/check/race/rows.h"

struct shadow;
struct shadow_page;

/* What a warp has read by one instruction. */
struct reads_event {
	u64 warp; /* as of a row */
	u32 time, pc;
	u32 known; /* what its CTA did up to then happened before it */
	u8 width;  /* bytes of a lane: 1 << width */
	u8 scope;
	bool strong;
	u32 said; /* its place in `said` of the log + 1; 0: not yet */
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

/* Readers of a cell, as it would have them. */
struct set_read {
	u32 lanes;
	u32 event; /* its number in `said` << SET_HASH_BITS | a hash of the warp */
};

#define SET_HASH_BITS 8u
#define SET_EVENTS (1u << (32 - SET_HASH_BITS))

/* A read that the cells from `first` on are still to have. */
struct set_waiting {
	u32 lanes, event;
	u16 first, cells;
};

/* Those of a page: it has no cells. */
struct reads_set {
	u32 cap;         /* of each cell */
	u32 waits, room; /* of `waiting` */
	struct set_waiting *waiting;
	u8 len[1024]; /* by cell; beyond READERS_MAX: which one is replaced next */
	_Alignas(64) struct set_read at[];
};

/* The last write of a cell whose accesses are all strong, of a scope that has all threads. */
struct strong_write {
	u64 who;
	u32 time;
	u32 pc : 30, scope : 2;
};

/* Of all pages of a shadow. */
struct reads_log {
	VEC(struct reads_event) events;
	VEC(struct shadow_page *) pages; /* that have reads */
	VEC(struct reads_warp) warps;    /* later than what the lists have */
	VEC(struct reads_event) said;    /* what sets have */
	VEC(struct shadow_page *) sets;  /* pages that have, or had, one */
	u32 waiting_most;                /* of a set */
	size_t collect;                  /* length of `said` at which it is collected next */
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

/* ---- read_sets.c ---- */

/* *number: of an event, as sets have it. False: no memory left. */
bool reads_say(struct shadow *s, const struct reads_event *e, u32 *number);
/* The same of one that may have been said. */
bool reads_say_once(struct shadow *s, struct reads_event *e, u32 *number);
/* To be called before what says events: there is room for those of a page. */
void reads_make_room(struct shadow *s);
/* What the page, which is not written, has read goes to a set. False: no memory left. */
bool reads_begin_set(struct shadow *s, struct shadow_page *p);
/* Lanes have read cells of a page with a set. False: no memory left. */
bool reads_add(struct shadow *s, struct shadow_page *p, const struct set_waiting *x);
/* The same of a page of strong accesses, which may have no set yet. */
bool reads_add_strong(struct shadow *s, struct shadow_page *p, const struct set_waiting *x);
/* The cells of a page with a set have all that waits. */
void reads_settle(struct shadow *s, struct shadow_page *p);
/* Cells from now on, also for strong writes. False: no memory left. */
bool reads_end_set(struct shadow *s, struct shadow_page *p);
void reads_drop_set(struct shadow_page *p);

static inline const struct reads_event *reads_said(const struct reads_log *log,
						   const struct set_read *r)
{
	return &log->said.at[r->event >> SET_HASH_BITS];
}

/* Those of a cell, and how many. */
static inline struct set_read *reads_of(struct reads_set *x, u32 cell)
{
	return &x->at[(size_t)cell * x->cap];
}

/* The place of one more that waits, on its way from memory. */
static inline void reads_prefetch(const struct reads_set *x)
{
	__builtin_prefetch(x->waiting + x->waits, 1);
}

static inline u32 reads_count(const struct reads_set *x, u32 cell)
{
	return x->len[cell] < ROWS_READS ? x->len[cell] : ROWS_READS;
}

#endif
