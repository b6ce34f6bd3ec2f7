/*
 * The second-level cache: sets of 128 lines picked by a hash, the longest unused line goes first.
 *
 * Capacity: bytes read by one SM each occupy 1.5 times their size where there are two partitions
 * (half of the lines are copied to the reader's side), and the share of second-pass hits falls
 * from 1 to 0 between 0.85 and 1.3 times the size, with its middle at 1.1. Sets of 128 lines of
 * a cache 1.1 times as large have that slope; its real sets are unknown.
 */
#include "src/cache/l2.h"

#include <stdlib.h>

#define L2_SET_LINES 128u
#define L2_SIZE_TENTHS 11u
#define HOME_LINES (4096u / CACHE_LINE_BYTES)

static u64 l2_mix(u64 x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

/* Lines of side 1 and copies on it have tags of their own. */
static u64 tag_of(u64 line, u32 side)
{
	return line << 1 | side;
}

/*
 * Homes alternate by pieces of 4 KiB, in the order of bits that are 1 in their number. The first
 * piece of a buffer is far from the SM that has the first CTA.
 */
static u32 home_of(const struct l2 *c, u64 line)
{
	return c->rules.partitions > 1 ? __builtin_popcountll(line / HOME_LINES) & 1 : 0;
}

bool l2_init(struct l2 *c, const struct l2_rules *rules)
{
	u64 lines = rules->bytes / 10 * L2_SIZE_TENTHS / CACHE_LINE_BYTES, places = 2;
	u64 sets = max_u64(lines / L2_SET_LINES, 1);

	*c = (struct l2){.rules = *rules, .sets = (u32)sets};
	while (places < 2 * sets * L2_SET_LINES)
		places *= 2;
	c->index_mask = (u32)(places - 1);
	if (rules->bytes)
		c->persisting_most =
			(u32)(rules->set_aside * L2_SET_LINES / max_u64(rules->bytes, 1));
	/* Pages that are never touched cost nothing. */
	c->slot = calloc(sets * L2_SET_LINES, sizeof(*c->slot));
	c->len = calloc(sets, sizeof(*c->len));
	c->persisting = calloc(sets, sizeof(*c->persisting));
	c->ends = calloc(sets, sizeof(*c->ends));
	c->index = calloc(places, sizeof(*c->index));
	if (c->slot && c->len && c->persisting && c->ends && c->index)
		return true;
	l2_fini(c);
	return false;
}

void l2_fini(struct l2 *c)
{
	free(c->slot);
	free(c->len);
	free(c->persisting);
	free(c->ends);
	free(c->index);
	*c = (struct l2){0};
}

/* ---- where a line is ---- */

static u32 l2_place(const struct l2 *c, u64 tag)
{
	u32 hash = (u32)l2_mix(tag), i = hash & c->index_mask;

	while (c->index[i].at &&
	       (c->index[i].hash != hash || c->slot[c->index[i].at - 1].tag != tag))
		i = (i + 1) & c->index_mask;
	return i;
}

static struct l2_line *l2_find(const struct l2 *c, u64 tag)
{
	u32 at = c->index[l2_place(c, tag)].at;

	return at ? &c->slot[at - 1] : NULL;
}

static void l2_enter(struct l2 *c, const struct l2_line *e)
{
	c->index[l2_place(c, e->tag)] =
		(struct l2_entry){.at = (u32)(e - c->slot) + 1, .hash = (u32)l2_mix(e->tag)};
}

/* Free place i; those behind it that could have it, or a place before theirs, move up. */
static void l2_unindex(struct l2 *c, u32 i)
{
	c->index[i].at = 0;
	for (u32 k = (i + 1) & c->index_mask; c->index[k].at; k = (k + 1) & c->index_mask) {
		u32 wants = c->index[k].hash & c->index_mask;

		if (((k - wants) & c->index_mask) < ((k - i) & c->index_mask))
			continue;
		c->index[i] = c->index[k];
		c->index[k].at = 0;
		i = k;
	}
}

static u32 set_of(const struct l2 *c, u64 tag)
{
	return (u32)((l2_mix(tag) >> 20) % c->sets);
}

void l2_expect(const struct l2 *c, u64 line, u32 side)
{
	__builtin_prefetch(&c->index[(u32)l2_mix(tag_of(line, side)) & c->index_mask]);
	if (home_of(c, line) != side)
		__builtin_prefetch(&c->index[(u32)l2_mix(tag_of(line, !side)) & c->index_mask]);
}

/* The line, or the slot that it would get. */
static void expect_slot(const struct l2 *c, u64 tag)
{
	u32 at = c->index[(u32)l2_mix(tag) & c->index_mask].at, set;

	if (at) {
		__builtin_prefetch(&c->slot[at - 1], 1);
		return;
	}
	set = set_of(c, tag);
	__builtin_prefetch(
		&c->slot[(size_t)set * L2_SET_LINES +
			 (c->len[set] < L2_SET_LINES ? c->len[set]
						     : c->ends[set][L2_NORMAL].oldest - 1u) %
				 L2_SET_LINES],
		1);
}

void l2_expect_line(const struct l2 *c, u64 line, u32 side)
{
	expect_slot(c, tag_of(line, side));
	if (home_of(c, line) != side)
		expect_slot(c, tag_of(line, !side));
}

/* ---- which line was used when, by set and class ---- */

static struct l2_line *line_at(const struct l2 *c, u32 set, u8 number)
{
	return &c->slot[(size_t)set * L2_SET_LINES + number - 1];
}

static u8 slot_number(const struct l2 *c, u32 set, const struct l2_line *e)
{
	return (u8)(e - &c->slot[(size_t)set * L2_SET_LINES] + 1);
}

/* Let those beside a line point at it as `number`; or at each other, if it is to go. */
static void join_beside(struct l2 *c, u32 set, const struct l2_line *e, u8 before, u8 after)
{
	struct l2_ends *ends = &c->ends[set][e->class];

	if (e->before)
		line_at(c, set, e->before)->after = after;
	else
		ends->oldest = after;
	if (e->after)
		line_at(c, set, e->after)->before = before;
	else
		ends->newest = before;
}

static void unlink_line(struct l2 *c, u32 set, struct l2_line *e)
{
	join_beside(c, set, e, e->before, e->after);
	c->persisting[set] = (u8)(c->persisting[set] - (e->class == L2_PERSISTING));
}

/* As the one that was used last. */
static void link_line(struct l2 *c, u32 set, struct l2_line *e, enum l2_class class)
{
	struct l2_ends *ends = &c->ends[set][class];
	u8 number = slot_number(c, set, e);

	e->class = (u8) class;
	e->before = ends->newest;
	e->after = 0;
	if (ends->newest)
		line_at(c, set, ends->newest)->after = number;
	else
		ends->oldest = number;
	ends->newest = number;
	c->persisting[set] = (u8)(c->persisting[set] + (class == L2_PERSISTING));
}

/* ---- lines that go ---- */

/* Partly written sectors are read before the line is written. */
static void write_back(struct l2 *c, const struct l2_line *e)
{
	for (u32 s = 0; s < CACHE_SECTORS; s++) {
		if (!(e->dirty >> s & 1))
			continue;
		c->count.dram_write++;
		c->count.dram_read += e->valid[s] != CACHE_ALL_BYTES;
	}
}

/* Forget a line; the last of its set takes its slot. */
static void forget(struct l2 *c, struct l2_line *e)
{
	u32 set = set_of(c, e->tag);
	struct l2_line *last = &c->slot[(size_t)set * L2_SET_LINES + c->len[set] - 1];

	unlink_line(c, set, e);
	l2_unindex(c, l2_place(c, e->tag));
	if (e != last) {
		u32 at = l2_place(c, last->tag);
		u8 number = slot_number(c, set, e);

		join_beside(c, set, last, number, number);
		*e = *last;
		c->index[at].at = (u32)(e - c->slot) + 1;
	}
	c->len[set]--;
}

/* Persisting lines go only for others of their kind, and before those when there are too many. */
static struct l2_line *victim_of(const struct l2 *c, u32 set, enum l2_class class)
{
	const struct l2_ends *ends = c->ends[set];

	if ((class == L2_PERSISTING && c->persisting[set] >= c->persisting_most) ||
	    c->persisting[set] == c->len[set])
		return line_at(c, set, ends[L2_PERSISTING].oldest);
	return line_at(c, set,
		       ends[L2_STREAMING].oldest ? ends[L2_STREAMING].oldest
						 : ends[L2_NORMAL].oldest);
}

static struct l2_line *l2_bring(struct l2 *c, u64 tag, enum l2_class class)
{
	u32 set = set_of(c, tag);
	struct l2_line *e;

	if (class == L2_PERSISTING && !c->persisting_most)
		class = L2_NORMAL;
	if (c->len[set] == L2_SET_LINES ||
	    (class == L2_PERSISTING && c->persisting[set] >= c->persisting_most)) {
		e = victim_of(c, set, class);
		write_back(c, e);
		forget(c, e);
	}
	e = &c->slot[(size_t)set * L2_SET_LINES + c->len[set]++];
	*e = (struct l2_line){.tag = tag, .used = ++c->time};
	link_line(c, set, e, class);
	l2_enter(c, e);
	return e;
}

/* The line, made if it is not there; *was_there: it was. */
static struct l2_line *l2_take(struct l2 *c, u64 tag, enum l2_class class, bool *was_there)
{
	struct l2_line *e = l2_find(c, tag);
	u32 set;

	*was_there = e != NULL;
	if (!e)
		return l2_bring(c, tag, class);
	e->used = ++c->time;
	if (e->after) {
		set = (u32)((size_t)(e - c->slot) / L2_SET_LINES);
		unlink_line(c, set, e);
		link_line(c, set, e, (enum l2_class)e->class);
	}
	return e;
}

/* ---- requests ---- */

/*
 * Look for sectors in a line; what is missing is to be fetched, in whole pieces. Returns the
 * sectors to fetch; *hits: those of `sectors` that count as hits: sectors of a piece that is on its
 * way count as nothing.
 */
static u32 look_up(const struct l2_line *e, u32 sectors, u32 piece, u32 *hits)
{
	u32 fetch = 0;

	*hits = 0;
	for (u32 s = 0; s < CACHE_SECTORS; s++) {
		if (!(sectors >> s & 1) || fetch >> s & 1)
			continue;
		if (e->valid[s] == CACHE_ALL_BYTES)
			++*hits;
		else
			fetch |= ((1u << piece) - 1) << s / piece * piece;
	}
	return fetch;
}

static void fill_sectors(struct l2_line *e, u32 sectors)
{
	for (u32 s = 0; s < CACHE_SECTORS; s++)
		if (sectors >> s & 1)
			e->valid[s] = CACHE_ALL_BYTES;
}

/* Fetch sectors into a line at home; DRAM is asked for what is not there. */
static void fetch_home(struct l2 *c, struct l2_line *e, u32 sectors)
{
	c->count.dram_read += (u32)__builtin_popcount(sectors);
	fill_sectors(e, sectors);
}

/* The sectors of a request are counted, hits those that the line has. */
static void count_request(struct l2 *c, enum l2_op op, const struct l2_line *e, u32 sectors,
			  u32 hits, bool was_there)
{
	c->count.requests[op]++;
	c->count.request_hit[op] += was_there;
	c->count.sectors[op] += sectors;
	c->count.hit[op] += hits;
	c->count.class_hit[e->class] += hits;
	c->count.class_sectors[e->class] += sectors;
}

static void count_fabric(struct l2 *c, enum l2_op op, u32 sectors, u32 hits, bool was_there)
{
	c->count.fabric_requests[op]++;
	c->count.fabric_request_hit[op] += was_there;
	c->count.fabric[op] += sectors;
	c->count.fabric_hit[op] += hits;
}

/* The other side has crossed the fabric for the line: it would not find it there yet. */
static void mark_far(const struct l2 *c, struct l2_line *e, bool was_there)
{
	if (!was_there)
		e->far_turn = c->turn + 1;
}

/*
 * A line that the home has for the other side only since this turn: SMs of both sides ask at once,
 * so both miss, and the far ones find it under way. True: it is such a line, and counts are mended.
 */
static bool is_under_way(struct l2 *c, struct l2_line *e, enum l2_op op, u32 sectors)
{
	if (e->far_turn != c->turn + 1)
		return false;
	e->far_turn = 0;
	c->count.fabric_hit[op] += sectors;
	c->count.fabric_request_hit[op]++;
	return true;
}

/* A read from the other side, of sectors that this one lacks. */
static void read_far(struct l2 *c, u64 line, u32 fetch, u32 piece, enum l2_class class)
{
	u32 lacks, hits;
	bool was_there;
	struct l2_line *e = l2_take(c, tag_of(line, home_of(c, line)), class, &was_there);

	lacks = look_up(e, fetch, piece, &hits);
	count_fabric(c, L2_READ, (u32)__builtin_popcount(fetch), hits, was_there);
	mark_far(c, e, was_there);
	fetch_home(c, e, lacks);
}

/* One line; returns the sectors that were fetched for it. */
static u32 l2_read_line(struct l2 *c, u64 line, u32 sectors, u32 side, u32 piece,
			enum l2_class class)
{
	u32 n = (u32)__builtin_popcount(sectors), hits, fetch;
	bool was_there;
	struct l2_line *e = l2_take(c, tag_of(line, side), class, &was_there);

	fetch = look_up(e, sectors, piece, &hits);
	if (!fetch && home_of(c, line) == side && is_under_way(c, e, L2_READ, n)) {
		count_request(c, L2_READ, e, n, 0, false);
		c->count.miss[L2_READ] += n;
		return 0;
	}
	count_request(c, L2_READ, e, n, hits, was_there);
	c->count.miss[L2_READ] += (u32)__builtin_popcount(fetch);
	if (!fetch)
		return 0;
	if (home_of(c, line) == side) {
		fetch_home(c, e, fetch);
		return fetch;
	}
	fill_sectors(e, fetch);
	read_far(c, line, fetch, piece, class);
	return fetch;
}

void l2_read(struct l2 *c, u64 line, u32 sectors, u32 side, u32 fetch_sectors, enum l2_class class)
{
	u32 piece = fetch_sectors ? fetch_sectors : c->rules.fetch_bytes / CACHE_SECTOR_BYTES;
	u32 fetched = l2_read_line(c, line, sectors, side,
				   piece < CACHE_SECTORS ? piece : CACHE_SECTORS, class);

	/* The home of a line asks itself for the one beside it. */
	if (fetched && piece > CACHE_SECTORS && home_of(c, line) == side &&
	    !l2_find(c, tag_of(line ^ 1, side)))
		l2_read_line(c, line ^ 1, (1u << CACHE_SECTORS) - 1, side, CACHE_SECTORS, class);
}

/* Returns the sectors that have bytes. */
static u32 write_sectors(struct l2_line *e, const u32 bytes[CACHE_SECTORS])
{
	u32 sectors = 0;

	for (u32 s = 0; s < CACHE_SECTORS; s++) {
		e->valid[s] |= bytes[s];
		sectors |= (u32)(bytes[s] != 0) << s;
	}
	return sectors;
}

void l2_write(struct l2 *c, u64 line, const u32 bytes[CACHE_SECTORS], u32 side, enum l2_class class)
{
	u32 home = home_of(c, line), sectors, n;
	bool was_there;
	struct l2_line *e = l2_take(c, tag_of(line, side), class, &was_there);

	sectors = write_sectors(e, bytes);
	n = (u32)__builtin_popcount(sectors);
	count_request(c, L2_WRITE, e, n, n, was_there);
	if (home != side) {
		e = l2_take(c, tag_of(line, home), class, &was_there);
		write_sectors(e, bytes);
		count_fabric(c, L2_WRITE, n, n, was_there);
	}
	e->dirty |= (u8)sectors;
}

void l2_atomic(struct l2 *c, u64 line, u32 sectors, u32 side, enum l2_op op, u32 count,
	       u32 requests, u32 packets)
{
	u32 home = home_of(c, line), piece = c->rules.fetch_bytes / CACHE_SECTOR_BYTES, hits, fetch;
	u32 under_way = 0;
	struct l2_line *e, *copy = home != side ? l2_find(c, tag_of(line, side)) : NULL;
	bool was_there, had_copy = copy != NULL;

	if (copy)
		forget(c, copy);
	e = l2_take(c, tag_of(line, home), L2_NORMAL, &was_there);
	fetch = look_up(e, sectors, piece, &hits);
	if (home != side) {
		mark_far(c, e, was_there);
	} else if (!fetch && is_under_way(c, e, op, (u32)__builtin_popcount(sectors))) {
		was_there = false;
		hits = 0;
		under_way = (u32)__builtin_popcount(sectors);
	}
	c->count.requests[op] += requests;
	c->count.request_hit[op] +=
		requests - ((home == side ? was_there : had_copy) ? 0 : packets);
	c->count.sectors[op] += count;
	/* Seen from the other side, it is a message that always finds its place. */
	c->count.hit[op] += home == side ? hits + count - (u32)__builtin_popcount(sectors) : count;
	c->count.miss[op] += home == side ? (u32)__builtin_popcount(fetch) + under_way : 0;
	c->count.class_sectors[e->class] += count;
	if (home != side) {
		u32 lacks = (u32)__builtin_popcount(fetch & sectors);

		count_fabric(c, op, count, count - lacks, was_there);
		c->count.fabric_requests[op] += requests - 1;
		c->count.fabric_request_hit[op] += requests - 1;
	}
	fetch_home(c, e, fetch);
	e->dirty |= (u8)sectors;
}

/*
 * Pieces of 256 bytes lie in slices by turns, four pieces in two pairs of slices: an H200 counts 2,
 * 4, 4, 4, 6 .. messages for 1, 2, 3, 4, 5 .. pieces, and 94 at most for each SM.
 */
u32 l2_contact(const struct l2 *c, u64 line, u32 side)
{
	return home_of(c, line) == side
		       ? L2_SLICE_PAIRS
		       : (u32)(((line / 8) << 1 | (line / 2 & 1)) % L2_SLICE_PAIRS);
}

void l2_constant(struct l2 *c, u64 line, u32 side)
{
	const u32 all = (1u << CACHE_SECTORS) - 1;
	u32 hits;
	bool was_there;

	for (u64 l = line & ~(u64)1; l <= (line | 1); l++) {
		struct l2_line *e = l2_take(c, tag_of(l, home_of(c, l)), L2_NORMAL, &was_there);
		u32 lacks = look_up(e, all, CACHE_SECTORS, &hits);

		if (lacks && home_of(c, l) != side)
			count_fabric(c, L2_READ, CACHE_SECTORS, hits, was_there);
		fetch_home(c, e, lacks);
	}
}

void l2_far(struct l2 *c, enum l2_op op, enum l2_aperture aperture, u32 count, u32 requests)
{
	c->count.requests[op] += requests;
	c->count.sectors[op] += count;
	c->count.miss[op] += count;
	c->count.class_sectors[L2_NORMAL] += count;
	c->count.far[aperture][op] += (u64)count * c->rules.partitions;
}

/* ---- the host, copies, and the beginning ---- */

void l2_invalidate(struct l2 *c, u64 address, u64 bytes)
{
	u64 first = address / CACHE_LINE_BYTES, lines;

	if (!bytes)
		return;
	lines = (address % CACHE_LINE_BYTES + bytes - 1) / CACHE_LINE_BYTES + 1;
	/* More lines than there are places: look at what is there instead. */
	if (lines > (u64)c->sets * L2_SET_LINES) {
		for (u32 set = 0; set < c->sets; set++)
			for (u32 i = c->len[set]; i-- > 0;) {
				struct l2_line *e = &c->slot[(size_t)set * L2_SET_LINES + i];

				if ((e->tag >> 1) - first < lines)
					forget(c, e);
			}
		return;
	}
	for (u64 l = first; l < first + lines; l++)
		for (u32 side = 0; side < c->rules.partitions; side++) {
			struct l2_line *e = l2_find(c, tag_of(l, side));

			if (e)
				forget(c, e);
		}
}

/* The oldest of the two kinds that are to be one, or 0. */
static u8 oldest_of(const struct l2 *c, u32 set)
{
	u8 a = c->ends[set][L2_NORMAL].oldest, b = c->ends[set][L2_PERSISTING].oldest;

	if (!a || !b)
		return a ? a : b;
	return line_at(c, set, a)->used < line_at(c, set, b)->used ? a : b;
}

/* In the order in which they were used. */
static void make_set_normal(struct l2 *c, u32 set)
{
	u8 order[L2_SET_LINES];
	u32 n = 0;

	for (u8 at; (at = oldest_of(c, set)) != 0; order[n++] = at)
		unlink_line(c, set, line_at(c, set, at));
	for (u32 i = 0; i < n; i++)
		link_line(c, set, line_at(c, set, order[i]), L2_NORMAL);
}

void l2_make_normal(struct l2 *c)
{
	for (u32 set = 0; set < c->sets; set++)
		if (c->persisting[set])
			make_set_normal(c, set);
}

/* Many lines go at once; a few one by one. */
void l2_reset(struct l2 *c)
{
	u64 lines = 0;

	for (u32 set = 0; set < c->sets; set++)
		lines += c->len[set];
	if (lines > c->index_mask / 64)
		memset(c->index, 0, ((size_t)c->index_mask + 1) * sizeof(*c->index));
	for (u32 set = 0; lines <= c->index_mask / 64 && set < c->sets; set++)
		for (u32 i = c->len[set]; i-- > 0;)
			l2_unindex(c, l2_place(c, c->slot[(size_t)set * L2_SET_LINES + i].tag));
	memset(c->len, 0, c->sets);
	memset(c->persisting, 0, c->sets);
	memset(c->ends, 0, c->sets * sizeof(*c->ends));
}
