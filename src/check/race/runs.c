/*
 * Runs of accesses.
 */
#include "src/check/race/runs.h"

#include <stdlib.h>

#define RUNS_SHIFT 2u
#define CHUNK_BYTES 65536u
#define COMPACT_FIRST 16u
#define RUN_COUNT_MOST 4096u

struct runs_chunk {
	struct runs_chunk *next;
	u32 used;
	_Alignas(struct runs) u8 at[CHUNK_BYTES];
};

/* ---- memory ---- */

void runs_pool_fini(struct runs_pool *p)
{
	struct runs_chunk *c;

	while ((c = p->chunks)) {
		p->chunks = c->next;
		free(c);
	}
	*p = (struct runs_pool){0};
}

static u32 runs_room(u32 size)
{
	return 1u << (RUNS_SHIFT + RUNS_SHIFT * size);
}

static u32 runs_size(const struct runs *s)
{
	return s->cap == runs_room(0) ? 0 : s->cap == runs_room(1) ? 1 : 2;
}

void runs_free(struct runs_pool *p, struct runs *s)
{
	if (!s)
		return;
	memcpy(s->at, &p->free[runs_size(s)], sizeof(s));
	p->free[runs_size(s)] = s;
}

static struct runs *runs_take(struct runs_pool *p, u32 size)
{
	u32 bytes = (u32)(sizeof(struct runs) + runs_room(size) * sizeof(struct run));
	struct runs_chunk *c = p->chunks;
	struct runs *s = p->free[size];

	if (s) {
		memcpy(&p->free[size], s->at, sizeof(s));
	} else {
		if (!c || CHUNK_BYTES - c->used < bytes) {
			c = malloc(sizeof(*c));
			if (!c)
				return NULL;
			c->next = p->chunks;
			c->used = 0;
			p->chunks = c;
		}
		s = (struct runs *)(void *)(c->at + c->used);
		c->used += bytes;
	}
	*s = (struct runs){.cap = (u16)runs_room(size), .compact = COMPACT_FIRST};
	return s;
}

struct run run_access(const struct run *r, u32 i)
{
	struct run x = *r;

	x.warp = r->warp + (u64)((s64)r->warp_step * i);
	x.time = r->time + i * r->time_step;
	x.known = r->known + i * r->known_step;
	x.first = (u16)(r->first + (s32)i * r->first_step);
	x.count = 1;
	return x;
}

static u32 rotate_set(u32 set, u32 by)
{
	by &= 31;
	return set << by | set >> (-by & 31);
}

u32 run_row(const struct run *x, u32 shift, u32 from, struct row *row)
{
	u32 each = ROWS_GRANULES << shift, base = from - from % each;
	u32 end = x->first + x->bytes, to = base + each < end ? base + each : end;
	u32 first = (from - base) >> shift, last = (to - base) >> shift;

	*row = (struct row){
		.warp = x->warp,
		.time = x->time,
		.pc = x->pc,
		.mask = (u16)((1u << last) - (1u << first)),
		.shift = (u8)(x->width - shift),
	};
	row->set = rotate_set(x->set, ((from - x->first) >> x->width) - (first >> row->shift));
	row->silent = x->flags & RUN_SILENT ? row->mask : 0;
	return to;
}

/* ---- order ---- */

/* Where a run lies. */
static void hull_of(const struct run *r, u32 *low, u32 *high)
{
	u32 last = (u32)(r->first + (s32)(r->count - 1u) * r->first_step);

	*low = last < r->first ? last : r->first;
	*high = (last < r->first ? r->first : last) + r->bytes;
}

static bool is_of_thread(u64 warp)
{
	return who_agent_of(warp << 5) == AGENT_THREAD;
}

/* Has each lane touched itself, or before the last barrier, what it touches by the other? */
static bool access_is_before(const struct run *r, const struct run *x)
{
	u32 at = r->first > x->first ? r->first : x->first;

	if (!is_of_thread(r->warp) || !is_of_thread(x->warp))
		return false;
	if (r->time <= x->known && who_cta_of(r->warp << 5) == who_cta_of(x->warp << 5))
		return true;
	return r->warp == x->warp && r->width == x->width && !(r->set & (r->set - 1)) &&
	       rotate_set(r->set, (at - r->first) >> r->width) ==
		       rotate_set(x->set, (at - x->first) >> x->width);
}

/* Nothing of a run that overlaps with an access races with it. */
static bool run_is_before(const struct run *r, const struct run *x)
{
	u32 low, high, i = 0, end = r->count, step = (u32)abs(r->first_step);

	if (!((r->flags | x->flags) & RUN_WRITES))
		return true;
	hull_of(r, &low, &high);
	if (x->first >= high || x->first + x->bytes <= low)
		return true;
	if (step && r->first_step > 0) {
		i = x->first >= r->first + r->bytes ? (x->first - r->first - r->bytes) / step : 0;
		end = (u32)min_u64(end, (x->first + x->bytes - low + step - 1) / step);
	}
	for (; i < end; i++) {
		struct run one = run_access(r, i);

		if (one.first < x->first + x->bytes && x->first < one.first + one.bytes &&
		    !access_is_before(&one, x))
			return false;
	}
	return true;
}

static bool are_runs_ordered(const struct runs *s, const struct run *x)
{
	if ((!s->writes && !(x->flags & RUN_WRITES)) || x->first >= s->high ||
	    x->first + x->bytes <= s->low)
		return true;
	for (u32 i = s->len; i-- > 0;)
		if (!run_is_before(&s->at[i], x))
			return false;
	return true;
}

/* ---- what is over ---- */

/* Does b write all that a touches? */
static bool run_overwrites(const struct run *a, const struct run *b)
{
	u32 low, high, from, to;

	if (!(b->flags & RUN_WRITES) || (b->count > 1 && abs(b->first_step) != b->bytes))
		return false;
	hull_of(a, &low, &high);
	hull_of(b, &from, &to);
	return low >= from && high <= to;
}

/* The same warps read the same places again, each its own. */
static bool run_repeats(const struct run *a, const struct run *b)
{
	return (a->count == 1 || abs(a->first_step) >= a->bytes) &&
	       !((a->flags | b->flags) & RUN_WRITES) && a->warp == b->warp && a->set == b->set &&
	       a->first == b->first && a->bytes == b->bytes && a->width == b->width &&
	       a->count == b->count &&
	       (a->count == 1 || (a->warp_step == b->warp_step && a->first_step == b->first_step));
}

/*
 * Run i says nothing any more: what it touched is written later, or it is read again by the same
 * lanes, and no other access to that came between.
 */
static bool is_run_over(const struct runs *s, u32 i)
{
	const struct run *a = &s->at[i];
	u32 low, high, from, to;
	bool is_next = true;

	hull_of(a, &low, &high);
	for (u32 k = i + 1; k < s->len; k++) {
		const struct run *b = &s->at[k];

		hull_of(b, &from, &to);
		if (from >= high || to <= low)
			continue;
		if (run_overwrites(a, b) || (is_next && run_repeats(a, b)))
			return true;
		is_next = false;
	}
	return false;
}

static void compact(struct runs *s)
{
	u32 kept = 0;

	s->writes = 0;
	for (u32 i = 0; i < s->len; i++)
		if (!is_run_over(s, i)) {
			s->writes += s->at[i].flags & RUN_WRITES;
			s->at[kept++] = s->at[i];
		}
	s->len = (u16)kept;
	s->compact = (u16)(2 * kept < COMPACT_FIRST ? COMPACT_FIRST : 2 * kept);
}

/* ---- noting ---- */

/* Is x the next access of a run? */
static bool run_extends(struct run *r, const struct run *x)
{
	u32 n = r->count;

	if (r->pc != x->pc || r->set != x->set || r->bytes != x->bytes || r->width != x->width ||
	    r->flags != x->flags || n == RUN_COUNT_MOST)
		return false;
	if (n == 1) {
		s64 step = (s64)(x->warp - r->warp);

		if (step != (s32)step)
			return false;
		r->warp_step = (s32)step;
		r->time_step = x->time - r->time;
		r->known_step = x->known - r->known;
		r->first_step = (s16)(x->first - r->first);
	} else if (x->warp != r->warp + (u64)((s64)r->warp_step * n) ||
		   x->time != r->time + n * r->time_step ||
		   x->known != r->known + n * r->known_step ||
		   x->first != r->first + (s32)n * r->first_step) {
		return false;
	}
	r->count++;
	return true;
}

/* Instructions of an unrolled loop take turns. */
#define RUNS_ASIDE 8u

/*
 * Is x the next access of one of the latest runs? Then it is put before those behind that, which
 * may not touch the same.
 */
static bool extend_latest(struct runs *s, const struct run *x)
{
	u32 end = s->len > RUNS_ASIDE ? s->len - RUNS_ASIDE : 0, low, high;

	for (u32 i = s->len; i-- > end;) {
		if (run_extends(&s->at[i], x))
			return true;
		hull_of(&s->at[i], &low, &high);
		if (x->first < high && low < x->first + x->bytes)
			return false;
	}
	return false;
}

static void widen_runs(struct runs *s, const struct run *x)
{
	u32 end = x->first + x->bytes;

	s->low = !s->len || x->first < s->low ? x->first : s->low;
	s->high = !s->len || end > s->high ? (u16)end : s->high;
}

/* Do runs take less than rows would? What has no pattern is left to those early. */
static bool runs_save(const struct runs *s)
{
	u32 accesses = 0;

	for (u32 i = 0; i < s->len; i++)
		accesses += s->at[i].count;
	return accesses >= 2 * (u32)s->len;
}

static bool runs_grow(struct runs_pool *p, struct runs **s)
{
	struct runs *old = *s, *more;

	if (old && old->len < old->cap)
		return true;
	if (old && (old->cap == RUNS_MOST || (old->cap == runs_room(1) && !runs_save(old))))
		return false;
	more = runs_take(p, old ? runs_size(old) + 1 : 0);
	if (!more)
		return false;
	if (old) {
		more->len = old->len;
		more->writes = old->writes;
		more->compact = old->compact;
		more->low = old->low;
		more->high = old->high;
		memcpy(more->at, old->at, old->len * sizeof(old->at[0]));
	}
	runs_free(p, old);
	*s = more;
	return true;
}

bool runs_note(struct runs_pool *p, struct runs **s, const struct run *x)
{
	struct runs *r = *s;

	if (r && r->len) {
		if (!are_runs_ordered(r, x))
			return false;
		if (extend_latest(r, x)) {
			widen_runs(r, x);
			return true;
		}
		if (r->len >= r->compact)
			compact(r);
	}
	if (!runs_grow(p, s))
		return false;
	r = *s;
	widen_runs(r, x);
	r->writes += x->flags & RUN_WRITES;
	r->at[r->len++] = *x;
	return true;
}
