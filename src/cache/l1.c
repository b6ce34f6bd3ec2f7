/*
 * The first-level cache of one SM: what is in it, and what has to go.
 *
 * Replacement, by probes of an H100 with cyclic walks over 1.02 to 1.5 times the capacity: lines
 * come in where there is room, in their row if they can; then each takes the place of one in its
 * row, the one that was not hit lately and was used longest ago, or if all were hit, the one
 * used longest ago.
 * Deviation: hit rates of the second pass of such walks differ by 0.033 in the mean, those of the
 * fourth by 0.067.
 */
#include "src/cache/l1.h"

#include <stdlib.h>

/*
 * For so many lookups a hit keeps a line. Probes saw lines stay for 3,072 of them; whole kernels
 * have fewer hits than an H100 if lines without further use are kept for longer.
 */
#define KEPT 4096u

static u32 l1_hash(u64 line)
{
	return (u32)((line * 0x9e3779b97f4a7c15u) >> 40);
}

bool l1_init(struct l1 *c, const struct l1_rules *rules)
{
	u32 places = 4;

	*c = (struct l1){.rules = *rules};
	while (places < 2 * rules->lines)
		places *= 2;
	c->index_mask = places - 1;
	c->slot = calloc(rules->lines, sizeof(*c->slot));
	c->index = calloc(places, sizeof(*c->index));
	if (c->slot && c->index)
		return true;
	l1_fini(c);
	return false;
}

void l1_fini(struct l1 *c)
{
	free(c->slot);
	free(c->index);
	*c = (struct l1){0};
}

/* ---- where a line is ---- */

/* The place of the line in the index, or the free one where it would be. */
static u32 index_place(const struct l1 *c, u64 line)
{
	u32 i = l1_hash(line) & c->index_mask;

	while (c->index[i] && c->slot[c->index[i] - 1].line != line)
		i = (i + 1) & c->index_mask;
	return i;
}

static struct l1_line *l1_find(const struct l1 *c, u64 line)
{
	u32 at = c->index_mask ? c->index[index_place(c, line)] : 0;

	return at ? &c->slot[at - 1] : NULL;
}

/* Free place i, and move those behind it that could not have it. */
static void index_remove(struct l1 *c, u32 i)
{
	c->index[i] = 0;
	for (u32 k = (i + 1) & c->index_mask; c->index[k]; k = (k + 1) & c->index_mask) {
		u32 slot = c->index[k];

		c->index[k] = 0;
		c->index[index_place(c, c->slot[slot - 1].line)] = slot;
	}
}

/* ---- lines that go ---- */

static void take_away(struct l1 *c, struct l1_line *e)
{
	u32 slot = (u32)(e - c->slot);

	index_remove(c, index_place(c, e->line));
	e->is_taken = false;
	c->taken--;
	c->first_free = slot < c->first_free ? slot : c->first_free;
}

void l1_drop(struct l1 *c, u64 line)
{
	struct l1_line *e = l1_find(c, line);

	if (e)
		take_away(c, e);
}

void l1_flush(struct l1 *c)
{
	if (!c->taken)
		return;
	memset(c->index, 0, ((size_t)c->index_mask + 1) * sizeof(*c->index));
	memset(c->slot, 0, c->rules.lines * sizeof(*c->slot));
	c->taken = c->first_free = 0;
}

/* ---- lines that come ---- */

static bool is_kept(const struct l1 *c, const struct l1_line *e)
{
	return e->kept > c->time;
}

/* Goes `a` before `b`? */
static bool goes_before(const struct l1 *c, const struct l1_line *a, const struct l1_line *b)
{
	if (a->goes_first != b->goes_first)
		return a->goes_first;
	if (c->rules.keeps_hit && is_kept(c, a) != is_kept(c, b))
		return is_kept(c, b);
	return a->used < b->used;
}

static u32 l1_row(const struct l1 *c, u64 line)
{
	u32 row = (u32)((line ^ line >> 3 ^ line >> 7) % c->rules.rows);

	return row % c->rules.lines;
}

/* A free slot of the row, or else any; some slot is free. */
static struct l1_line *free_slot(struct l1 *c, u32 row)
{
	for (u32 i = row; i < c->rules.lines; i += c->rules.rows)
		if (!c->slot[i].is_taken)
			return &c->slot[i];
	while (c->slot[c->first_free].is_taken)
		c->first_free++;
	return &c->slot[c->first_free];
}

/* The line of the row that has to go. */
static struct l1_line *row_victim(struct l1 *c, u32 row)
{
	struct l1_line *victim = &c->slot[row];

	for (u32 i = row; i < c->rules.lines; i += c->rules.rows)
		if (goes_before(c, &c->slot[i], victim))
			victim = &c->slot[i];
	return victim;
}

static struct l1_line *slot_for(struct l1 *c, u64 line)
{
	u32 row = l1_row(c, line);
	struct l1_line *e;

	if (c->taken < c->rules.lines) {
		e = free_slot(c, row);
	} else {
		e = row_victim(c, row);
		take_away(c, e);
	}
	c->taken++;
	return e;
}

static struct l1_line *bring(struct l1 *c, u64 line, enum l1_keep keep)
{
	struct l1_line *e;

	if (!c->rules.lines)
		return NULL;
	e = slot_for(c, line);
	*e = (struct l1_line){.line = line,
			      .used = ++c->time,
			      .is_taken = true,
			      .kept = keep == L1_KEEP_LAST ? c->time + KEPT : 0,
			      .goes_first = keep == L1_KEEP_FIRST};
	c->index[index_place(c, line)] = (u32)(e - c->slot) + 1;
	return e;
}

/* ---- loads and stores ---- */

static u32 missing_sectors(const struct l1_line *e, const u32 need[CACHE_SECTORS])
{
	u32 sectors = 0;

	for (u32 s = 0; s < CACHE_SECTORS; s++)
		if (need[s] & ~(e ? e->valid[s] : 0))
			sectors |= 1u << s;
	return sectors;
}

static u32 asked(const u32 need[CACHE_SECTORS])
{
	u32 sectors = 0;

	for (u32 s = 0; s < CACHE_SECTORS; s++)
		sectors |= (u32)(need[s] != 0) << s;
	return sectors;
}

u32 l1_load(struct l1 *c, u64 line, const u32 need[CACHE_SECTORS], enum l1_keep keep)
{
	struct l1_line *e = l1_find(c, line);
	u32 sectors = missing_sectors(e, need);

	if (e) {
		e->used = ++c->time;
		if (keep == L1_KEEP_LAST || sectors != asked(need))
			e->kept = c->time + KEPT;
	} else if (keep != L1_KEEP_NOTHING) {
		e = bring(c, line, keep);
	}
	if (e)
		e->stored = 0;
	for (u32 s = 0; e && keep != L1_KEEP_NOTHING && s < CACHE_SECTORS; s++)
		if (sectors >> s & 1)
			e->valid[s] = CACHE_ALL_BYTES;
	return sectors;
}

bool l1_store(struct l1 *c, u64 line, const u32 bytes[CACHE_SECTORS], enum l1_keep keep, u64 number)
{
	struct l1_line *e = l1_find(c, line);
	bool was_there = e != NULL,
	     hits = e && !(number && e->stored && e->stored + l1_number(1, 0) == number);

	if (!c->rules.keeps_store) {
		l1_drop(c, line);
		return was_there;
	}
	if (e)
		e->used = ++c->time;
	else if (keep != L1_KEEP_NOTHING)
		e = bring(c, line, keep);
	if (e)
		e->stored = !was_there || e->stored ? number : 0;
	for (u32 s = 0; e && s < CACHE_SECTORS; s++)
		e->valid[s] |= bytes[s];
	return hits;
}
