/*
 * The second-level cache: what requests find, and count.
 */
#include "src/cache/l2_int.h"

/*
 * Look for sectors in a line; what is missing is to be fetched, in whole pieces. Returns the
 * sectors to fetch; *hits: those of `sectors` that count as hits: sectors of a piece that is on its
 * way count as nothing.
 */
static u32 look_up(const struct l2_line *e, u32 sectors, u32 piece, u32 *hits)
{
	u32 fetch = 0, there = 0;

	for (u32 s = 0; s < CACHE_SECTORS; s++)
		there |= (u32)(e->valid[s] == CACHE_ALL_BYTES) << s;
	*hits = cache_count_sectors(sectors & there);
	/* As a rule all are there. */
	if (!(sectors & ~there))
		return 0;
	*hits = 0;
	for (u32 s = 0; s < CACHE_SECTORS; s++) {
		if (!(sectors >> s & 1) || fetch >> s & 1)
			continue;
		if (there >> s & 1)
			++*hits;
		else
			fetch |= ((1u << piece) - 1) << s / piece * piece;
	}
	return fetch;
}

static void fill_sectors(struct l2_line *e, u32 sectors)
{
	for (u32 s = 0; s < CACHE_SECTORS; s++)
		e->valid[s] |= -(sectors >> s & 1);
}

/* Fetch sectors into a line at home; DRAM is asked for what is not there. */
static void fetch_home(struct l2 *c, struct l2_line *e, u32 sectors)
{
	c->count.dram_read += cache_count_sectors(sectors);
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
	struct l2_line *e = l2_take(c, l2_tag_of(line, l2_home_of(c, line)), class, &was_there);

	lacks = look_up(e, fetch, piece, &hits);
	count_fabric(c, L2_READ, cache_count_sectors(fetch), hits, was_there);
	mark_far(c, e, was_there);
	fetch_home(c, e, lacks);
}

static void count_prefetch(struct l2 *c, const struct l2_line *e, u32 sectors, u32 lacks,
			   bool was_there)
{
	u32 n = cache_count_sectors(sectors), misses = cache_count_sectors(lacks);

	count_request(c, L2_PREFETCH, e, n, n - misses, was_there);
	c->count.miss[L2_PREFETCH] += misses;
}

void l2_prefetch(struct l2 *c, u64 line, u32 sectors, u32 side, enum l2_class class)
{
	u32 home = l2_home_of(c, line), lacks = sectors, fetch, hits;
	struct l2_line *copy = home != side ? l2_look(c, l2_tag_of(line, side)) : NULL, *e;
	bool was_there;

	if (copy)
		lacks = look_up(copy, sectors, 1, &hits);
	if (copy && !lacks) {
		count_prefetch(c, copy, sectors, 0, true);
		return;
	}
	e = l2_take(c, l2_tag_of(line, home), class, &was_there);
	fetch = look_up(e, lacks, 1, &hits);
	if (home == side) {
		count_prefetch(c, e, sectors, fetch, was_there);
	} else {
		count_prefetch(c, e, sectors, lacks, copy != NULL);
		count_fabric(c, L2_PREFETCH, cache_count_sectors(lacks), hits, was_there);
	}
	fetch_home(c, e, fetch);
}

/* One line; returns the sectors that were fetched for it. */
static u32 l2_read_line(struct l2 *c, u64 line, u32 sectors, u32 side, u32 piece,
			enum l2_class class)
{
	u32 n = cache_count_sectors(sectors), hits, fetch;
	bool was_there;
	struct l2_line *e = l2_take(c, l2_tag_of(line, side), class, &was_there);

	fetch = look_up(e, sectors, piece, &hits);
	if (!fetch && l2_home_of(c, line) == side && is_under_way(c, e, L2_READ, n)) {
		count_request(c, L2_READ, e, n, 0, false);
		c->count.miss[L2_READ] += n;
		return 0;
	}
	count_request(c, L2_READ, e, n, hits, was_there);
	c->count.miss[L2_READ] += cache_count_sectors(fetch);
	if (!fetch)
		return 0;
	if (l2_home_of(c, line) == side) {
		fetch_home(c, e, fetch);
		return fetch;
	}
	fill_sectors(e, fetch);
	read_far(c, line, fetch, piece, class);
	return fetch;
}

/* Where a copy is found, the home is told all the same. */
static void demote_home(struct l2 *c, u64 line)
{
	struct l2_line *e = l2_look(c, l2_tag_of(line, l2_home_of(c, line)));

	if (e && e->class == L2_PERSISTING)
		l2_line_normal(c, e);
}

void l2_read(struct l2 *c, u64 line, u32 sectors, u32 side, u32 fetch_sectors, enum l2_class class)
{
	u32 piece = fetch_sectors ? fetch_sectors : c->rules.fetch_bytes / CACHE_SECTOR_BYTES;
	u32 fetched = l2_read_line(c, line, sectors, side,
				   piece < CACHE_SECTORS ? piece : CACHE_SECTORS, class);

	if (class == L2_DEMOTE && l2_home_of(c, line) != side)
		demote_home(c, line);
	/* The home of a line asks itself for the one beside it. */
	if (fetched && piece > CACHE_SECTORS && l2_home_of(c, line) == side &&
	    !l2_look(c, l2_tag_of(line ^ 1, side)))
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
	u32 home = l2_home_of(c, line), sectors, n;
	bool was_there;
	struct l2_line *e = l2_take(c, l2_tag_of(line, side), class, &was_there);

	sectors = write_sectors(e, bytes);
	n = cache_count_sectors(sectors);
	count_request(c, L2_WRITE, e, n, n, was_there);
	if (home != side) {
		e = l2_take(c, l2_tag_of(line, home), class, &was_there);
		write_sectors(e, bytes);
		count_fabric(c, L2_WRITE, n, n, was_there);
	}
	e->dirty |= sectors & 0xfu;
}

void l2_atomic(struct l2 *c, u64 line, u32 sectors, u32 side, enum l2_op op, enum l2_class class,
	       const struct l2_lanes *lanes)
{
	u32 home = l2_home_of(c, line), piece = c->rules.fetch_bytes / CACHE_SECTOR_BYTES, hits,
	    fetch;
	u32 under_way = 0, count = lanes->count, requests = lanes->requests;
	struct l2_line *e, *copy = home != side ? l2_look(c, l2_tag_of(line, side)) : NULL;
	bool was_there, had_copy = copy != NULL;

	if (copy)
		l2_forget(c, copy);
	e = l2_take(c, l2_tag_of(line, home), class, &was_there);
	fetch = look_up(e, sectors, piece, &hits);
	if (home != side) {
		mark_far(c, e, was_there);
	} else if (!fetch && is_under_way(c, e, op, cache_count_sectors(sectors))) {
		was_there = false;
		hits = 0;
		under_way = cache_count_sectors(sectors);
	}
	c->count.requests[op] += requests;
	c->count.request_hit[op] +=
		requests - ((home == side ? was_there : had_copy) ? 0 : lanes->packets);
	c->count.sectors[op] += count;
	/* Seen from the other side, it is a message that always finds its place. */
	c->count.hit[op] += home == side ? hits + count - cache_count_sectors(sectors) : count;
	c->count.miss[op] += home == side ? cache_count_sectors(fetch) + under_way : 0;
	c->count.class_sectors[e->class] += count;
	if (home != side) {
		u32 lacks = cache_count_sectors(fetch & sectors);

		count_fabric(c, op, count, count - lacks, was_there);
		c->count.fabric_requests[op] += requests - 1;
		c->count.fabric_request_hit[op] += requests - 1;
	}
	fetch_home(c, e, fetch);
	e->dirty |= sectors & 0xfu;
}

void l2_normal(struct l2 *c, u64 line, u32 side)
{
	u32 home = l2_home_of(c, line);

	for (u32 i = 0; i < 2; i++) {
		struct l2_line *e = l2_look(c, l2_tag_of(line, i ? side : home));

		if (e && e->class != L2_NORMAL)
			l2_line_normal(c, e);
	}
}

void l2_discard(struct l2 *c, u64 line)
{
	l2_invalidate(c, line * CACHE_LINE_BYTES, CACHE_LINE_BYTES);
}

/*
 * Pieces of 256 bytes lie in slices by turns, four pieces in two pairs of slices: an H200 counts 2,
 * 4, 4, 4, 6 .. messages for 1, 2, 3, 4, 5 .. pieces, and 94 at most for each SM.
 */
u32 l2_contact(const struct l2 *c, u64 line, u32 side)
{
	return l2_home_of(c, line) == side
		       ? L2_SLICE_PAIRS
		       : (u32)(((line / 8) << 1 | (line / 2 & 1)) % L2_SLICE_PAIRS);
}

void l2_constant(struct l2 *c, u64 line, u32 side)
{
	const u32 all = (1u << CACHE_SECTORS) - 1;
	u32 hits;
	bool was_there;

	for (u64 l = line & ~(u64)1; l <= (line | 1); l++) {
		struct l2_line *e =
			l2_take(c, l2_tag_of(l, l2_home_of(c, l)), L2_NORMAL, &was_there);
		u32 lacks = look_up(e, all, CACHE_SECTORS, &hits);

		if (lacks && l2_home_of(c, l) != side)
			count_fabric(c, L2_READ, CACHE_SECTORS, hits, was_there);
		fetch_home(c, e, lacks);
	}
}

void l2_far(struct l2 *c, enum l2_op op, u32 aperture, u32 count, u32 requests)
{
	u64 *link = c->count.link[aperture < L2_PEER ? L2_LINK_HOST
						     : (aperture - L2_PEER) % L2_LINK_HOST];

	/* An atomic sends its operand, and gets what was there. */
	link[0] += op == L2_READ || op == L2_ATOM ? count : 0;
	link[1] += op != L2_READ ? count : 0;
	aperture = aperture < L2_PEER ? aperture : L2_PEER;
	c->count.requests[op] += requests;
	c->count.sectors[op] += count;
	c->count.miss[op] += count;
	c->count.class_sectors[L2_NORMAL] += count;
	c->count.far[aperture][op] += (u64)count * c->rules.partitions;
}

void l2_counts_add(struct l2_counts *to, const struct l2_counts *from)
{
	cache_add((u64 *)to, (const u64 *)from, sizeof(*to) / sizeof(u64));
}
