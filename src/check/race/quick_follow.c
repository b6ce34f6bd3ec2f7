/*
 * Intervals whose accesses are those of an earlier one.
 */
#include "src/check/race/known.h"
#include "src/check/race/quick_int.h"

#include <stdlib.h>

/* So many intervals in a row that leave their logs are of a loop that does not repeat itself. */
#define STRAYS_MOST 32u
/* Then one of so many is compared. */
#define STRAYS_EACH 64u

void quick_free_logs(struct quick *q)
{
	for (u32 i = 0; i < QUICK_LOGS; i++) {
		VEC_FREE(&q->log[i].list);
		VEC_FREE(&q->log[i].times);
		VEC_FREE(&q->log[i].scattered);
		VEC_FREE(&q->log[i].rows);
	}
}

static void clear_log(struct quick_log *log)
{
	log->list.len = log->times.len = log->scattered.len = log->rows.len = 0;
	log->used = 0;
	log->after = QUICK_LOGS;
}

void quick_reset_logs(struct quick *q)
{
	q->cta++;
	q->now = q->last = QUICK_LOGS;
	q->noted = 0;
	q->follows = false;
}

struct quick_access *quick_last(struct quick *q)
{
	return &q->log[q->now].list.at[q->noted - 1];
}

const struct quick_access *quick_at(const struct quick *q, u32 i, u32 *time)
{
	*time = q->log[q->now].times.at[i];
	return &q->log[q->now].list.at[i];
}

void quick_end_log(struct quick *q)
{
	if (q->now < QUICK_LOGS && !q->follows)
		clear_log(&q->log[q->now]);
	q->now = QUICK_LOGS;
	q->noted = 0;
	q->follows = false;
}

/* ---- the end of an interval ---- */

/* What it has written was written before all intervals to come. */
static void stamp(struct quick *q, const struct quick_access *x)
{
	u64 address[WARP_LANES];

	if (x->kind == ACCESS_LOAD || x->kind == ACCESS_MATRIX_LOAD)
		return;
	quick_addresses(q, x, address);
	for (u32 m = x->mask; m; m &= m - 1) {
		u32 g = (u32)(address[__builtin_ctz(m)] >> q->shift);

		for (u32 i = 0; i < x->bytes >> q->shift; i++)
			q->write[g + i] |= QUICK_EARLIER;
	}
}

void quick_next_log(struct quick *q)
{
	struct quick_log *log = q->now < QUICK_LOGS ? &q->log[q->now] : NULL;

	q->intervals++;
	if (!log)
		return;
	if (q->follows && log->cta != q->cta)
		for (u32 i = 0; i < q->noted; i++)
			stamp(q, &log->list.at[i]);
	if (q->noted == log->list.len)
		log->cta = q->cta;
	if (q->follows)
		q->strays = 0;
	if (q->last < QUICK_LOGS)
		q->log[q->last].after = q->now;
	q->last = q->now;
	q->now = QUICK_LOGS;
	q->noted = 0;
	q->follows = false;
}

/* ---- its beginning ---- */

static bool begins_with(const struct quick_log *log, u32 pc, u32 warp, u32 mask, u32 address)
{
	const struct quick_access *x = log->list.at;
	u64 first;

	if (!log->list.len || x->pc != pc || x->warp != warp || x->mask != mask)
		return false;
	first = x->scattered ? log->scattered.at[x->scattered - 1 + (u32)__builtin_ctz(mask)]
			     : x->first;
	return first == address;
}

/* The log that was used least lately. */
static u32 oldest_log(const struct quick *q)
{
	u32 oldest = q->now == 0;

	for (u32 i = 0; i < QUICK_LOGS; i++)
		if (i != q->now && q->log[i].used < q->log[oldest].used)
			oldest = i;
	return oldest;
}

static void open_log(struct quick *q)
{
	u32 log = oldest_log(q);

	clear_log(&q->log[log]);
	q->log[log].used = q->intervals;
	q->now = log;
}

static u32 find_log(const struct quick *q, u32 pc, u32 warp, u32 mask, u32 address)
{
	u32 next = q->last < QUICK_LOGS ? q->log[q->last].after : QUICK_LOGS;

	if (q->strays >= STRAYS_MOST && q->intervals % STRAYS_EACH)
		return QUICK_LOGS;
	if (next < QUICK_LOGS && begins_with(&q->log[next], pc, warp, mask, address))
		return next;
	for (u32 i = 0; i < QUICK_LOGS; i++)
		if (begins_with(&q->log[i], pc, warp, mask, address))
			return i;
	return QUICK_LOGS;
}

/* By the first access of an interval. */
static void choose_log(struct quick *q, u32 pc, u32 warp, u32 mask, u32 address)
{
	u32 log = find_log(q, pc, warp, mask, address);

	q->follows = log < QUICK_LOGS;
	if (!q->follows) {
		open_log(q);
		return;
	}
	q->log[log].used = q->intervals;
	q->now = log;
}

/* ---- while it lasts ---- */

/* The accesses up to here, in a log of their own. False: no memory left. */
static bool copy_log(struct quick *q)
{
	const struct quick_log *from = &q->log[q->now];
	struct quick_log *to;
	u32 old = q->now;
	size_t scattered = 0;

	for (u32 i = 0; i < q->noted; i++)
		if (from->list.at[i].scattered)
			scattered = from->list.at[i].scattered - 1 + WARP_LANES;
	open_log(q);
	to = &q->log[q->now];
	from = &q->log[old];
	if (!VEC_RESERVE(&to->list, q->noted) || !VEC_RESERVE(&to->times, q->noted) ||
	    !VEC_RESERVE(&to->scattered, scattered) || !VEC_RESERVE(&to->rows, from->rows.len))
		return false;
	if (!q->noted)
		return true;
	memcpy(to->list.at, from->list.at, q->noted * sizeof(*to->list.at));
	memcpy(to->times.at, from->times.at, q->noted * sizeof(*to->times.at));
	if (scattered)
		memcpy(to->scattered.at, from->scattered.at, scattered * sizeof(u64));
	if (from->rows.len)
		memcpy(to->rows.at, from->rows.at, from->rows.len * sizeof(u32));
	to->list.len = to->times.len = q->noted;
	to->scattered.len = scattered;
	to->rows.len = from->rows.len;
	return true;
}

/* The interval goes another way. */
static void stray(struct quick *q)
{
	if (q->noted < q->log[q->now].list.len) {
		q->strays++;
		if (!copy_log(q)) {
			known_fail();
			q->noted = 0;
		}
	}
	q->follows = false;
	for (u32 i = 0; i < q->noted; i++)
		quick_touch(q, &q->log[q->now].list.at[i]);
}

/* The access that comes next in the log, if the interval follows one. */
static struct quick_access *next_known(struct quick *q)
{
	struct quick_log *log = &q->log[q->now];

	return q->follows && q->noted < log->list.len ? &log->list.at[q->noted] : NULL;
}

static void step_on(struct quick *q, u32 n, u32 time)
{
	u32 *times = q->log[q->now].times.at + q->noted;

	for (u32 i = 0; i < n; i++)
		times[i] = time;
	q->noted += n;
}

static bool same_addresses(const u64 *a, const u64 *b, u32 mask)
{
	if (!memcmp(a, b, WARP_LANES * sizeof(*a)))
		return true;
	for (u32 m = mask; m; m &= m - 1)
		if (a[__builtin_ctz(m)] != b[__builtin_ctz(m)])
			return false;
	return true;
}

static bool is_same_access(const struct quick_log *log, const struct quick_access *x,
			   const struct exec_access *a, bool regular)
{
	if (x->pc != a->pc || x->warp != a->warp || x->mask != a->mask || x->kind != a->kind ||
	    x->bytes != a->bytes || regular != !x->scattered)
		return false;
	if (!regular)
		return same_addresses(log->scattered.at + x->scattered - 1, a->address, a->mask);
	return a->address[0] == x->first && a->address[1] - a->address[0] == x->step &&
	       a->address[HALF_WARP] == x->first + x->half;
}

bool quick_follow(struct quick *q, const struct exec_access *a, bool regular, u32 time)
{
	struct quick_access *x;

	if (q->now == QUICK_LOGS)
		choose_log(q, a->pc, a->warp, a->mask, (u32)a->address[__builtin_ctz(a->mask)]);
	if (!q->follows)
		return false;
	x = next_known(q);
	if (x && is_same_access(&q->log[q->now], x, a, regular)) {
		step_on(q, 1, time);
		return true;
	}
	stray(q);
	return false;
}

bool quick_follow_words(struct quick *q, const struct exec_access *a, const u32 *row, u32 offset,
			u32 time)
{
	u32 first = row[0] + offset;
	struct quick_access *x;

	if (q->now == QUICK_LOGS)
		choose_log(q, a->pc, a->warp, a->mask, first);
	if (!q->follows)
		return false;
	x = next_known(q);
	if (x && x->pc == a->pc && x->warp == a->warp && x->mask == a->mask && !x->scattered &&
	    x->first == first && x->step == row[1] - row[0] && x->half == row[HALF_WARP] - row[0] &&
	    quick_is_row_regular(row)) {
		step_on(q, 1, time);
		return true;
	}
	stray(q);
	return false;
}

/* ---- gangs ---- */

struct quick_access *quick_follow_gang(struct quick *q, const struct exec_access *a, u32 warps,
				       const u32 *row, u32 offset, u32 time)
{
	struct quick_access *x;

	if (q->now == QUICK_LOGS)
		choose_log(q, a->pc, a->warp, FULL_MASK, row[0] + offset);
	x = next_known(q);
	if (!x || x->group != warps || x->pc != a->pc || x->warp != a->warp ||
	    memcmp(q->log[q->now].rows.at + x->row, row,
		   (size_t)warps * WARP_LANES * sizeof(*row)) != 0)
		return NULL;
	step_on(q, warps, time);
	return x;
}

/* Most loads are from a few addresses, with different offsets. */
#define ROWS_COMPARED 4u
#define ROWS_KEPT (64u * WARP_LANES * 8u)

void quick_keep_gang(struct quick *q, u32 warps, const u32 *row)
{
	struct quick_log *log = &q->log[q->now];
	u32 words = warps * WARP_LANES;
	struct quick_access *x = &log->list.at[q->noted - warps];

	for (u32 i = 0; i < warps; i++)
		if (x[i].scattered)
			return;
	x->group = (u8)warps;
	for (u32 i = 1; i <= ROWS_COMPARED && i * words <= log->rows.len; i++) {
		x->row = (u32)log->rows.len - i * words;
		if (!memcmp(log->rows.at + x->row, row, words * sizeof(*row)))
			return;
	}
	if (log->rows.len > ROWS_KEPT || !VEC_RESERVE(&log->rows, words)) {
		x->group = 0;
		return;
	}
	x->row = (u32)log->rows.len;
	memcpy(log->rows.at + log->rows.len, row, words * sizeof(*row));
	log->rows.len += words;
}
