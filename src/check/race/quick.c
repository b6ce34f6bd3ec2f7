/*
 * Which threads have accessed shared memory since the last barrier.
 */
#include "src/check/race/quick_int.h"

#include <stdlib.h>

/* In place of a thread: several have read; atomics have written. */
#define MANY 0xffffu
#define ATOMICS 0xfffeu
#define INTERVALS 0x7fffu

/* Between two lanes' addresses. */
#define STEP_MOST ((u64)1 << 24)
/* Accesses that are kept; more of them only if they change what is known. */
#define LOG_MOST 8192u

typedef u16 granules __attribute__((vector_size(16), aligned(2), may_alias));
#define GRANULES 8u

void quick_fini(struct quick *q)
{
	free(q->write);
	quick_free_logs(q);
	*q = (struct quick){0};
}

static void split_arrays(struct quick *q, u16 *at, u32 len)
{
	q->write = at;
	q->writer = at + len;
	q->read = at + (size_t)2 * len;
	q->reader = at + (size_t)3 * len;
	q->len = len;
}

static bool open_arrays(struct quick *q, u32 shared_bytes)
{
	u32 len = (shared_bytes + 3) / 4;
	u16 *at = calloc((size_t)4 * len + 1, sizeof(*at));

	if (!at)
		return false;
	q->shift = 2;
	q->interval = 1;
	split_arrays(q, at, len);
	return true;
}

/* A granule for each byte, which says what that of the word said. */
static bool narrow_arrays(struct quick *q)
{
	u32 len = q->len;
	u16 *old = q->write, *at = malloc((size_t)16 * len * sizeof(*at) + 1);

	if (!at)
		return false;
	for (size_t i = 0; i < (size_t)16 * len; i++)
		at[i] = old[i / 4];
	split_arrays(q, at, 4 * len);
	q->shift = 0;
	free(old);
	return true;
}

void quick_reset(struct quick *q)
{
	if (q->write)
		memset(q->write, 0, (size_t)4 * q->len * sizeof(*q->write));
	q->interval = 1;
	q->since = 0;
	q->off = q->is_never = false;
	quick_reset_logs(q);
}

void quick_begin(struct quick *q, u32 since)
{
	quick_next_log(q);
	q->since = since;
	q->off = false;
	if (!q->write || q->interval++ < INTERVALS)
		return;
	for (u32 i = 0; i < q->len; i++) {
		q->write[i] = q->write[i] ? QUICK_EARLIER : 0;
		q->read[i] = 0;
	}
	q->interval = 1;
}

bool quick_was_written(const struct quick *q, u64 address)
{
	u16 write = q->write ? q->write[address >> q->shift] : 0;

	return write & QUICK_EARLIER || (write && write != q->interval);
}

/* ---- granules ---- */

enum deed { READS, WRITES, IS_ATOMIC };

/* What is wanted of some granules: who[i] touches granule i. *news: something has changed. */
struct touch_of {
	enum deed deed;
	u16 now;
	bool raced, news;
};

static void touch_one(struct quick *q, u32 g, u32 who, struct touch_of *t)
{
	u32 write = q->write[g], now = t->now;
	bool written = (write & INTERVALS) == now, read = q->read[g] == now;
	u32 mine = t->deed == IS_ATOMIC ? ATOMICS : who;

	t->raced |= written && q->writer[g] != mine;
	if (t->deed == READS) {
		u32 reader = read && q->reader[g] != who ? MANY : who;

		t->news |= !read || q->reader[g] != reader;
		q->read[g] = (u16)now;
		q->reader[g] = (u16)reader;
		return;
	}
	t->raced |= read && (q->reader[g] != who || who == MANY);
	t->news |= !written;
	q->write[g] =
		(u16)(now | (write & QUICK_EARLIER) | (write && !written ? QUICK_EARLIER : 0));
	q->writer[g] = (u16)mine;
}

static granules *granules_at(u16 *at)
{
	return (granules *)(void *)at;
}

static bool any_of(granules x)
{
	u64 half[2];

	memcpy(half, &x, sizeof(half));
	return half[0] | half[1];
}

/* GRANULES of them at once. */
static void touch_some(struct quick *q, u32 g, const u16 *who, struct touch_of *t)
{
	granules none = {0}, now = none + t->now, me, mine;
	granules write = *granules_at(q->write + g), writer = *granules_at(q->writer + g),
		 read = *granules_at(q->read + g), reader = *granules_at(q->reader + g);
	granules written = (granules)((write & INTERVALS) == now),
		 was_read = (granules)(read == now);

	memcpy(&me, who, sizeof(me));
	mine = me;
	if (t->deed == IS_ATOMIC)
		mine = none + (u16)ATOMICS;
	t->raced |= any_of(written & (granules)(writer != mine));
	if (t->deed == READS) {
		granules after = me | (was_read & (granules)(reader != me));

		t->news |= any_of((granules)(read != now) | (granules)(reader != after));
		*granules_at(q->read + g) = now;
		*granules_at(q->reader + g) = after;
		return;
	}
	t->raced |= any_of(was_read & ((granules)(reader != me) | (granules)(me == MANY)));
	t->news |= any_of(~written);
	*granules_at(q->write + g) = now | (write & QUICK_EARLIER) |
				     ((granules)(write != none) & ~written & QUICK_EARLIER);
	*granules_at(q->writer + g) = mine;
}

/* Bytes from an address on; `who`: a thread for each granule. */
static void touch_row(struct quick *q, u64 address, u32 bytes, const u16 *who, struct touch_of *t)
{
	u32 g = (u32)(address >> q->shift), n = bytes >> q->shift, i = 0;

	for (; i + GRANULES <= n; i += GRANULES)
		touch_some(q, g + i, who + i, t);
	for (; i < n; i++)
		touch_one(q, g + i, who[i], t);
}

static void touch_lane(struct quick *q, u64 address, u32 bytes, u32 who, struct touch_of *t)
{
	u32 g = (u32)(address >> q->shift), n = bytes >> q->shift;

	for (u32 i = 0; i < n; i++)
		touch_one(q, g + i, who, t);
}

/* ---- a warp ---- */

#define ROW_MOST (WARP_LANES * 4u)

/* Threads of consecutive lanes from `first` on, `each` granules for each. */
static void fill_who(u16 *who, u32 first, u32 lanes, u32 each)
{
	granules eight = {0, 1, 2, 3, 4, 5, 6, 7};

	if (each == 1) {
		eight += (u16)first;
		for (u32 i = 0; i < lanes; i += GRANULES) {
			memcpy(who + i, &eight, sizeof(eight));
			eight += (u16)GRANULES;
		}
		return;
	}
	for (u32 i = 0; i < lanes * each; i++)
		who[i] = (u16)(first + i / each);
}

/* Consecutive lanes that touch consecutive bytes; or all the same ones, if step is 0. */
static void touch_lanes(struct quick *q, const struct quick_access *x, u32 lane, u32 lanes,
			bool is_many, struct touch_of *t)
{
	u32 each = x->bytes >> q->shift;
	u32 address = x->first + lane / HALF_WARP * x->half;
	u16 who[ROW_MOST];

	is_many |= !x->step;
	/* Several lanes write the same. */
	t->raced |= is_many && t->deed == WRITES;
	if (!x->step) {
		touch_lane(q, address, x->bytes, MANY, t);
		return;
	}
	if (is_many)
		memset(who, 0xff, lanes * each * sizeof(who[0]));
	else
		fill_who(who, x->warp * WARP_LANES + lane, lanes, each);
	touch_row(q, address, lanes * x->bytes, who, t);
}

/* address: of the lanes; NULL: as x says. */
static void touch_warp(struct quick *q, const u64 *address, const struct quick_access *x,
		       struct touch_of *t)
{
	u64 regular[WARP_LANES];

	if (x->scattered || (x->step && x->step != x->bytes) || x->bytes >> q->shift > 4) {
		if (!address)
			quick_addresses(q, x, regular);
		address = address ? address : regular;
		for (u32 m = x->mask; m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m);

			touch_lane(q, address[l], x->bytes, x->warp * WARP_LANES + l, t);
		}
	} else if (x->half == HALF_WARP * x->step) {
		touch_lanes(q, x, 0, WARP_LANES, false, t);
	} else if (!x->half) {
		touch_lanes(q, x, 0, HALF_WARP, true, t);
	} else {
		touch_lanes(q, x, 0, HALF_WARP, false, t);
		touch_lanes(q, x, HALF_WARP, HALF_WARP, false, t);
	}
}

static enum deed deed_of(u8 kind)
{
	if (kind == ACCESS_ATOM || kind == ACCESS_RED)
		return IS_ATOMIC;
	return kind == ACCESS_STORE || kind == ACCESS_MATRIX_STORE ? WRITES : READS;
}

void quick_touch(struct quick *q, const struct quick_access *x)
{
	struct touch_of t = {.deed = deed_of(x->kind), .now = q->interval};

	touch_warp(q, NULL, x, &t);
}

bool quick_is_regular(const struct exec_access *a)
{
	const u64 *at = a->address;
	u64 step = at[1] - at[0], bad = (step + STEP_MOST) / (2 * STEP_MOST);

	for (u32 l = 1; l < HALF_WARP; l++)
		bad |= (at[l] - at[l - 1] - step) |
		       (at[l + HALF_WARP] - at[l + HALF_WARP - 1] - step);
	return !bad;
}

/* All in the CTA's own memory; *narrow: some not of whole words. */
static bool lies_in_own_shared(const struct exec_access *a, u32 shared_bytes, bool regular,
			       bool *narrow)
{
	u64 bits = a->bytes;

	if (a->bytes > shared_bytes)
		return false;
	for (u32 m = regular ? a->mask & 0x80018001 : a->mask; m; m &= m - 1) {
		u64 address = a->address[__builtin_ctz(m)];

		if (address > shared_bytes - a->bytes)
			return false;
		bits |= address;
	}
	if (regular)
		bits |= a->address[1];
	*narrow = bits & 3;
	return true;
}

static bool keep_addresses(struct quick_log *log, const struct exec_access *a, bool regular,
			   struct quick_access *x)
{
	if (regular) {
		x->first = (u32)a->address[0];
		x->step = (u32)(a->address[1] - a->address[0]);
		x->half = (u32)(a->address[HALF_WARP] - a->address[0]);
		return true;
	}
	x->scattered = (u32)log->scattered.len + 1;
	if (!VEC_RESERVE(&log->scattered, WARP_LANES))
		return false;
	memcpy(log->scattered.at + log->scattered.len, a->address, WARP_LANES * sizeof(u64));
	log->scattered.len += WARP_LANES;
	return true;
}

void quick_addresses(const struct quick *q, const struct quick_access *x, u64 address[WARP_LANES])
{
	if (x->scattered) {
		memcpy(address, q->log[q->now].scattered.at + x->scattered - 1,
		       WARP_LANES * sizeof(u64));
		return;
	}
	for (u32 l = 0; l < WARP_LANES; l++)
		address[l] = x->first + l % HALF_WARP * x->step + l / HALF_WARP * x->half;
}

/* Room for one more in the log; narrow: it is not of whole words. NULL: no memory left. */
static struct quick_access *next_access(struct quick *q, const struct exec_access *a, u32 time,
					u32 shared_bytes, bool narrow)
{
	struct quick_log *log = &q->log[q->now];
	struct quick_access *x;

	if ((!q->write && !open_arrays(q, shared_bytes)) ||
	    (narrow && q->shift && !narrow_arrays(q)) || !VEC_RESERVE(&log->list, 1) ||
	    !VEC_PUSH(&log->times, time))
		return NULL;
	log->times.len--;
	x = &log->list.at[q->noted];
	x->in = a->in;
	x->pc = a->pc;
	x->warp = a->warp;
	x->mask = a->mask;
	x->bytes = (u32)a->bytes;
	x->kind = a->kind;
	x->size = a->size;
	x->count = a->count;
	x->scattered = 0;
	x->group = 0;
	return x;
}

/* It stays in the log if it is needed there. False: it may race, or it does not fit. */
static bool end_note(struct quick *q, const struct quick_access *x, const struct touch_of *t)
{
	struct quick_log *log = &q->log[q->now];

	if (!t->raced && q->noted < LOG_MOST) {
		log->list.len = log->times.len = ++q->noted;
		return true;
	}
	if (x->scattered)
		log->scattered.len -= WARP_LANES;
	return !t->raced && !t->news && t->deed == READS;
}

bool quick_note(struct quick *q, const struct exec_access *a, u32 time, u32 shared_bytes)
{
	bool regular = a->mask == FULL_MASK && quick_is_regular(a), narrow;
	struct touch_of t = {.deed = deed_of(a->kind)};
	struct quick_access *x;

	if (quick_follow(q, a, regular, time))
		return true;
	if (!lies_in_own_shared(a, shared_bytes, regular, &narrow) || a->count > QUICK_ELEMENTS)
		return false;
	x = next_access(q, a, time, shared_bytes, narrow);
	if (!x || !keep_addresses(&q->log[q->now], a, regular, x))
		return false;
	t.now = q->interval;
	touch_warp(q, a->address, x, &t);
	return end_note(q, x, &t);
}

typedef u32 words __attribute__((vector_size(16), aligned(4), may_alias));

static words words_at(const u32 *row)
{
	return *(const words *)(const void *)row;
}

bool quick_is_row_regular(const u32 *row)
{
	static const u32 at[] = {0, 4, 8, 11, 16, 20, 24, 27};
	words bad = {0};
	u64 part[2];

	for (u32 i = 0; i < ARRAY_LEN(at); i++)
		bad |= words_at(row + at[i] + 1) - words_at(row + at[i]) - (row[1] - row[0]);
	memcpy(part, &bad, sizeof(part));
	return !(part[0] | part[1]);
}

bool quick_note_words(struct quick *q, const struct exec_access *a, const u32 *row, u32 offset,
		      u32 time, u32 shared_bytes)
{
	struct touch_of t = {.deed = READS};
	u32 first = row[0] + offset, step = row[1] - row[0], half = row[HALF_WARP] - row[0];
	u64 last = (u64)(HALF_WARP - 1) * step, room = shared_bytes - a->bytes;
	struct quick_access *x;

	if (quick_follow_words(q, a, row, offset, time))
		return true;
	if (step > STEP_MOST || a->bytes > shared_bytes || a->count > QUICK_ELEMENTS ||
	    first + last > room || (u64)(u32)(first + half) + last > room ||
	    !quick_is_row_regular(row))
		return false;
	x = next_access(q, a, time, shared_bytes, (first | step | half | a->bytes) & 3);
	if (!x)
		return false;
	x->first = first;
	x->step = step;
	x->half = half;
	t.now = q->interval;
	touch_warp(q, NULL, x, &t);
	return end_note(q, x, &t);
}
