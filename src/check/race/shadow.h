/*
 * Who touched each byte of memory last: cells, in pages that are made when they are touched. A cell
 * is of four bytes, until a page sees narrower accesses: then of one. Runs of accesses say the same
 * in less space, and for many cells at once: they become rows when those are asked for, and rows
 * cells.
 */
#ifndef PL_CHECK_SHADOW_H
#define PL_CHECK_SHADOW_H

#include "src/base/map.h"
#include "src/base/vec.h"
#include "src/check/race/clock.h"
#include "src/check/race/reads.h"
#include "src/check/race/runs.h"

#define SHADOW_PAGE 1024u

/*
 * An access. `who` is a thread (known.h), the lowest of `lanes` of its warp; 0: there was none,
 * since no thread has that number.
 */
struct touch {
	u64 who;
	u32 lanes;
	u32 time;
	u32 pc;
	u8 scope;
	bool strong;
	bool silent; /* a store of what was there already */
};

/* Reads since the last write that are not ordered one after the other. */
#define READERS_MAX ROWS_READS
struct readers {
	u16 len, cap, next;
	u32 newest; /* of their times */
	u64 cta;    /* the CTA of all of them, or MANY_CTAS */
	struct touch at[];
};
#define MANY_CTAS UINT64_MAX
/* The latest reads, in which a thread's last one is likely to be found. */
#define READERS_MERGED 8u

struct cell {
	struct touch write;
	struct touch read;       /* if there is one reader at most */
	struct readers *readers; /* if there were more: all of them */
	struct touch *plain;     /* the last plain write, if `write` is a strong one behind it */
};

struct shadow_page {
	u8 shift;          /* bytes of a cell: 1 << shift */
	bool is_written;   /* some cell may have a write */
	bool keeps_reads;  /* it has rows, of reads alone, that are still to see what is read */
	bool is_logged;    /* what a warp has read (reads.h) may be of it */
	bool is_strong;    /* all accesses so far were strong: `strong` and `set` say them */
	bool is_listed;    /* among those of sets */
	struct cell *cell; /* NULL: `rows` says it */
	struct rows *rows; /* of ROWS_GRANULES cells each; NULL, and no cells: `runs` says it */
	struct runs *runs;
	struct reads *reads;   /* that rows or cells are still to see; NULL: none */
	struct reads_set *set; /* in place of rows and cells: nothing was written */
	struct strong_write *strong;
};

/* Pages that lie side by side. */
#define SHADOW_PIECE 64u

struct shadow_piece {
	struct shadow_page at[SHADOW_PIECE];
};

/* Pieces that were looked up last. */
#define SHADOW_RECENT 64u

struct shadow {
	struct map pieces; /* by address / bytes of a piece + 1: struct shadow_piece * */
	struct {
		u64 key;
		struct shadow_piece *piece;
	} recent[SHADOW_RECENT];
	struct rows_pool pool;
	struct runs_pool runs;
	struct reads_log log;
};

void shadow_fini(struct shadow *s);
/*
 * The cells of bytes that lie in one page, and how many, for a write or only for a read. NULL: no
 * memory left.
 */
struct cell *shadow_cells(struct shadow *s, u64 address, u32 bytes, bool writes, u32 *n,
			  u32 *cell_bytes);
/* The page of an address, as it is. NULL: no memory left. */
struct shadow_page *shadow_page_at(struct shadow *s, u64 address);

/* The cell of an address, if there is one already. */
const struct cell *shadow_cell_at(struct shadow *s, u64 address);

/* Those that a further one is compared with first, and the place that it takes. */
static inline void prefetch_readers(const struct readers *r)
{
	const struct touch *last = &r->at[r->len > READERS_MERGED ? r->len - READERS_MERGED : 0];

	for (u32 i = 0; i < READERS_MERGED; i += 64 / (u32)sizeof(*last))
		__builtin_prefetch(last + i);
	if (r->len == READERS_MAX)
		__builtin_prefetch(&r->at[READERS_MAX / 2 + r->next % (READERS_MAX / 2)], 1);
}

/*
 * May weak reads of this width be kept for later, as there is nothing that they could race with?
 */
static inline bool shadow_keeps_reads(const struct shadow_page *p, u32 bytes)
{
	return (p->keeps_reads || (p->cell && !p->is_written) || (p->set && !p->is_strong)) &&
	       !(p->shift && bytes & 3);
}

static inline bool shadow_has_set(const struct shadow_page *p)
{
	return p->set || p->is_strong;
}

static inline bool shadow_has_runs(const struct shadow_page *p)
{
	return !p->rows && !p->cell && !shadow_has_set(p);
}

/*
 * The page of an address, as rows unless its cells were asked for; narrow: of single bytes.
 * NULL: no memory left.
 */
struct shadow_page *shadow_rows(struct shadow *s, u64 address, bool narrow);
/* A page whose runs are all reads gets rows, and keeps reads. False: no memory left. */
bool shadow_keep_reads(struct shadow *s, struct shadow_page *p);
/* Cells from now on. False: no memory left. */
bool shadow_end_rows(struct shadow *s, struct shadow_page *p);
/* Forget them: the memory is another's. */
void shadow_forget(struct shadow *s, u64 address, u64 bytes);
/*
 * Note a read. known: what its own CTA did up to then happened before it, and need not be kept.
 * False: no memory left.
 */
bool cell_add_reader(struct cell *c, const struct touch *t, u32 known);
/* Note a read that says what none of them says. False: no memory left. */
bool cell_push_reader(struct cell *c, const struct touch *t);
void cell_clear_readers(struct cell *c);
/* Cells that are empty; NULL: no memory left. */
struct cell *cells_new(u32 n);
/* Note a write; reads before it are cleared already. False: no memory left. */
bool cell_set_write(struct cell *c, const struct touch *t);

/* ---- shadow_runs.c ---- */

/* Rows, or cells, for a page that has runs. False: no memory left. */
bool shadow_end_runs(struct shadow *s, struct shadow_page *p);
/* An access, a run of one, to a page that has rows or cells. False: no memory left. */
bool shadow_note_run(struct shadow *s, struct shadow_page *p, const struct run *x);

#endif
