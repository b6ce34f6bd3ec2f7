/*
 * Rows of accesses.
 */
#include "src/check/race/rows.h"

#include <stdlib.h>

/* Rows of a stretch: its reads, and a write of each granule. */
#define ROWS_MOST (ROWS_READS + ROWS_GRANULES)

/* Lists have room for 4 rows, or twice as many, and so on. */
#define LIST_LEAST 4u
#define CHUNK_ROWS 2048u

struct rows_chunk {
	struct rows_chunk *next;
	u32 used;
	struct row at[CHUNK_ROWS];
};

void rows_pool_fini(struct rows_pool *p)
{
	struct rows_chunk *c;

	while ((c = p->chunks)) {
		p->chunks = c->next;
		free(c);
	}
	*p = (struct rows_pool){0};
}

static u8 rows_room(u32 size)
{
	return (u8)(LIST_LEAST << size < ROWS_MOST ? LIST_LEAST << size : ROWS_MOST);
}

/* size: the list has room for rows_room of it. */
static struct row *pool_take(struct rows_pool *p, u32 size)
{
	struct rows_chunk *c = p->chunks;
	struct row *list = p->free[size];

	if (list) {
		memcpy(&p->free[size], (void *)list, sizeof(p->free[size]));
		return list;
	}
	if (!c || CHUNK_ROWS - c->used < rows_room(size)) {
		c = malloc(sizeof(*c));
		if (!c)
			return NULL;
		c->next = p->chunks;
		c->used = 0;
		p->chunks = c;
	}
	list = &c->at[c->used];
	c->used += rows_room(size);
	return list;
}

static void pool_return(struct rows_pool *p, struct row *list, u32 size)
{
	memcpy((void *)list, &p->free[size], sizeof(p->free[size]));
	p->free[size] = list;
}

static u32 list_size(u32 cap)
{
	u32 size = 0;

	while (rows_room(size) < cap)
		size++;
	return size;
}

void rows_fini(struct rows_pool *p, struct rows *s)
{
	if (s->cap)
		pool_return(p, s->list, list_size(s->cap));
	*s = (struct rows){0};
}

/* Room for one more. */
static bool rows_grow(struct rows_pool *p, struct rows *s)
{
	struct row *list;
	u32 size;

	if (s->len < s->cap || (!s->cap && !s->len))
		return true;
	size = s->cap ? list_size(s->cap) + 1 : 0;
	list = s->len < ROWS_MOST ? pool_take(p, size) : NULL;
	if (!list)
		return false;
	memcpy(list, rows_list(s), s->len * sizeof(*list));
	if (s->cap)
		pool_return(p, s->list, size - 1);
	s->list = list;
	s->cap = rows_room(size);
	return true;
}

static bool rows_insert(struct rows_pool *p, struct rows *s, u32 at, const struct row *t)
{
	struct row *r;

	if (!rows_grow(p, s))
		return false;
	r = rows_list(s);
	memmove(&r[at + 1], &r[at], (s->len - at) * sizeof(*r));
	r[at] = *t;
	s->len++;
	return true;
}

/* Take granules out of rows from `first` on. */
static void rows_clear(struct rows *s, u32 first, u16 mask)
{
	struct row *r = rows_list(s);
	u32 kept = first, writes = first < s->writes ? first : s->writes;

	for (u32 i = first; i < s->len; i++) {
		r[i].mask &= (u16)~mask;
		if (!r[i].mask)
			continue;
		writes += i < s->writes;
		if (kept != i)
			r[kept] = r[i];
		kept++;
	}
	s->len = (u8)kept;
	s->writes = (u8)writes;
	s->read &= (u16)~mask;
	if (s->len == s->writes)
		s->next = 0;
}

bool rows_forget(struct rows *s, u16 mask)
{
	if (s->next && mask != ROWS_ALL)
		return false;
	rows_clear(s, 0, mask);
	return true;
}

bool rows_write(struct rows_pool *p, struct rows *s, const struct row *t)
{
	struct row *r = rows_list(s);

	if (s->len == 1 && !(r->mask & ~t->mask)) {
		*r = *t;
		s->writes = 1;
		s->read = 0;
		return true;
	}
	if ((s->next && t->mask != ROWS_ALL) || !rows_grow(p, s))
		return false;
	rows_clear(s, 0, t->mask);
	if (!rows_insert(p, s, s->writes, t))
		return false;
	s->writes++;
	return true;
}

/* ---- reads ---- */

/* Was it by a thread of the CTA itself, and is it known there? */
static bool is_past(const struct row *r, u64 cta, u32 known)
{
	u64 who = r->warp << 5;

	return r->time <= known && who_cta_of(who) == cta && who_agent_of(who) == AGENT_THREAD;
}

/* Granules of which the CTA of a read knows all reads: they need not be kept. */
static u16 known_granules(struct rows *s, const struct row *t, u32 known)
{
	const struct row *r = rows_list(s);
	u64 cta = who_cta_of(t->warp << 5);
	u16 left = t->mask;

	for (u32 i = s->len; left && i-- > s->writes;)
		if (!is_past(&r[i], cta, known))
			left &= (u16)~r[i].mask;
	return left;
}

/* Granules of a row whose lanes are all lanes of t, too. */
static u16 covered(const struct row *r, const struct row *t, u16 mask)
{
	u16 found = 0;

	if (r->shift == t->shift)
		return r->set & ~t->set ? 0 : mask;
	for (u32 m = mask; m; m &= m - 1) {
		u32 i = (u32)__builtin_ctz(m);

		if (!(row_lanes(r, i) & ~row_lanes(t, i)))
			found |= (u16)(1u << i);
	}
	return found;
}

/* Row i changes to what `as` says, but only of some of its granules. */
static bool replace_part(struct rows_pool *p, struct rows *s, u32 i, const struct row *as, u16 mask)
{
	struct row *r = &rows_list(s)[i], x = *as;

	x.mask = mask;
	if (r->mask == mask) {
		*r = x;
		return true;
	}
	if (s->next || s->len - s->writes >= (int)ROWS_READS || !rows_insert(p, s, i + 1, &x))
		return false;
	rows_list(s)[i].mask &= (u16)~mask;
	return true;
}

/*
 * A row says what t says of some granules: it is of the same lanes, or of others at the same
 * moment. The result: granules of `mask` that are done with. False: no room.
 */
static bool rows_merge(struct rows_pool *p, struct rows *s, u32 i, const struct row *t, u16 mask,
		       u16 *merged)
{
	struct row r = rows_list(s)[i], both = r;
	u16 same = covered(&r, t, mask), more = 0;

	/* Of the same instruction; its accesses are all of one width. */
	if (r.time == t->time && r.pc == t->pc && r.shift == t->shift)
		more = mask & (u16)~same;
	both.set |= t->set;
	*merged = same | more;
	return (!same || replace_part(p, s, i, t, same)) &&
	       (!more || replace_part(p, s, i, &both, more));
}

/* The latest reads of a granule, in which a thread's last one is likely to be found. */
#define WINDOW 8u

/* What of t some of the latest rows can say. left: granules of which there is more to say. */
static bool merge_latest(struct rows_pool *p, struct rows *s, const struct row *t, u16 *left)
{
	u16 open = *left, count[3] = {0};

	_Static_assert(WINDOW == 1u << 3, "rows are counted for each granule, by bits of numbers");
	for (u32 i = s->len; open && i-- > s->writes;) {
		const struct row *r = &rows_list(s)[i];
		u16 carry = r->mask & open, merged = 0;

		if (carry && r->warp == t->warp && !rows_merge(p, s, i, t, carry, &merged))
			return false;
		open &= (u16)~merged;
		*left &= (u16)~merged;
		carry &= open;
		for (u32 b = 0; carry && b < 3; b++) {
			u16 old = count[b];

			count[b] ^= carry;
			carry &= old;
		}
		open &= (u16)~carry;
	}
	return true;
}

/* Is each row of reads of all granules? */
static bool are_full(struct rows *s)
{
	for (u32 i = s->writes; i < s->len; i++)
		if (rows_list(s)[i].mask != ROWS_ALL)
			return false;
	return true;
}

/* The first half stays; in the other the latest replace the oldest. */
static bool push_read(struct rows_pool *p, struct rows *s, const struct row *t, u16 mask)
{
	struct row x = *t;

	x.mask = mask;
	s->read |= mask;
	if (s->len - s->writes < (int)ROWS_READS)
		return rows_insert(p, s, s->len, &x);
	if (mask != ROWS_ALL || (!s->next && !are_full(s)))
		return false;
	rows_list(s)[s->writes + ROWS_READS / 2 + s->next % (ROWS_READS / 2)] = x;
	s->next = (u8)(s->next % (ROWS_READS / 2) + 1);
	return true;
}

static bool note_read_row(struct rows_pool *p, struct rows *s, const struct row *t, u32 known)
{
	u16 left = t->mask, gone;

	if (!(s->read & t->mask))
		return push_read(p, s, t, t->mask);
	gone = known_granules(s, t, known);
	if (gone)
		rows_clear(s, s->writes, gone);
	return merge_latest(p, s, t, &left) && (!left || push_read(p, s, t, left));
}

bool rows_read(struct rows_pool *p, struct rows *s, const struct row *t, u32 known)
{
	/* Of fewer granules than rows that replace each other are of. */
	if (s->next && t->mask != ROWS_ALL)
		return false;
	return note_read_row(p, s, t, known);
}

/* ---- narrower granules ---- */

static void split_row(const struct row *from, u32 part, struct row *to)
{
	u32 by = 4 * part >> from->shift & 31;
	u16 mask = 0;

	for (u32 i = 0; i < ROWS_GRANULES; i++)
		mask |= (u16)((from->mask >> (4 * part + i / 4) & 1) << i);
	*to = *from;
	to->mask = mask;
	to->silent = 0;
	for (u32 i = 0; i < ROWS_GRANULES; i++)
		to->silent |= (u16)((from->silent >> (4 * part + i / 4) & 1) << i);
	to->set = from->set << by | from->set >> (-by & 31);
	to->shift = from->shift + 2;
}

bool rows_split(struct rows_pool *p, struct rows *from, struct rows to[4])
{
	for (u32 k = 0; k < 4; k++) {
		to[k] = (struct rows){0};
		for (u32 i = 0; i < from->len; i++) {
			struct row x;

			split_row(&rows_list(from)[i], k, &x);
			if (!x.mask)
				continue;
			if (!rows_insert(p, &to[k], to[k].len, &x)) {
				for (u32 f = 0; f <= k; f++)
					rows_fini(p, &to[f]);
				return false;
			}
			if (i < from->writes)
				to[k].writes++;
			else
				to[k].read |= x.mask;
		}
		to[k].next = from->next;
	}
	return true;
}
