/*
 * The second-level cache: sets of 128 lines picked by a hash, the longest unused line goes first.
 *
 * Capacity: bytes read by one SM each occupy 1.5 times their size where there are two partitions
 * (half of the lines are copied to the reader's side), and the share of second-pass hits falls
 * from 1 to 0 between 0.85 and 1.3 times the size, with its middle at 1.1. Sets of 128 lines of
 * a cache 1.1 times as large have that slope; its real sets are unknown.
 *
 * Persisting lines, as measured on an H200 by the times of loads (window.c): what is set aside has
 * so many bytes of lines that are at home; copies on the other side are normal lines. A request
 * that hits a line makes it persisting, but only at home: what finds a copy does not get there. One
 * sixteenth of the cache is set aside at least. After half a GiB without being asked for, while
 * other lines come, the first persisting lines become normal, after 1.5 GiB nearly all have.
 */
#include "src/cache/l2_int.h"
#include "src/cache/equal.h"

#include <stdlib.h>

#define L2_SIZE_TENTHS 11u
/* Persisting lines become normal after the least to the most of so many times a set's lines. */
#define AGE_LEAST 11u
#define AGE_SPREAD 24u
#define TOUCHED_MASK ((1u << L2_TOUCHED_BITS) - 1)
/* The least that is set aside. */
#define PERSISTING_PART 16u
/* With fewer sets there is one shard. */
#define SHARDED_SETS 512u
/* Uses between two calls of l2_wind are fewer than what is left. */
#define CLOCK_LAST (UINT32_MAX - (1u << 28))

static u64 l2_mix(u64 x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

static void set_init(struct l2 *c, u32 set)
{
	c->set[set] = (struct l2_set){0};
	memset(c->ways[set].mark, 0, sizeof(c->ways[set].mark));
	for (u32 i = 0; i < L2_SET_LINES; i++)
		c->ways[set].order[i] = (u8)i;
}

void l2_set_aside(struct l2 *c, u64 bytes)
{
	u64 all = c->rules.bytes / 10 * L2_SIZE_TENTHS;

	bytes = max_u64(bytes ? bytes : c->rules.set_aside, c->rules.bytes / PERSISTING_PART);
	c->persisting_most = 0;
	if (c->rules.set_aside && all)
		c->persisting_most = (u32)min_u64(
			(bytes / CACHE_LINE_BYTES * L2_SET_LINES + all / CACHE_LINE_BYTES / 2) /
				(all / CACHE_LINE_BYTES),
			L2_SET_LINES);
}

bool l2_init(struct l2 *c, const struct l2_rules *rules)
{
	u64 lines = rules->bytes / 10 * L2_SIZE_TENTHS / CACHE_LINE_BYTES;
	u64 sets = max_u64(lines / L2_SET_LINES, 1);
	u32 shards = sets < SHARDED_SETS ? 1 : L2_SHARDS;

	sets = (sets + shards / 2) / shards;
	*c = (struct l2){.rules = *rules, .shards = shards, .shard_sets = (u32)sets};
	l2_set_aside(c, 0);
	c->set_inverse = UINT64_MAX / sets;
	sets *= shards;
	c->sets = (u32)sets;
	/* Pages that are never touched cost nothing; slots are set before they are read. */
	c->slot = aligned_alloc(_Alignof(struct l2_line), sets * L2_SET_LINES * sizeof(*c->slot));
	c->set = calloc(sets, sizeof(*c->set));
	c->ways = aligned_alloc(_Alignof(struct l2_ways), sets * sizeof(*c->ways));
	if (!c->slot || !c->set || !c->ways) {
		l2_fini(c);
		return false;
	}
	for (u32 i = 0; i < c->sets; i++)
		set_init(c, i);
	return true;
}

void l2_fini(struct l2 *c)
{
	free(c->slot);
	free(c->set);
	free(c->ways);
	*c = (struct l2){0};
}

/* ---- where a line is ---- */

/* x % c->shard_sets, without a division: the quotient is at most one too small. */
static u32 set_of_hash(const struct l2 *c, u64 x)
{
	u64 rest = x - (u64)((unsigned __int128)x * c->set_inverse >> 64) * c->shard_sets;

	return (u32)(rest < c->shard_sets ? rest : rest - c->shard_sets);
}

/* Lines side by side may be fetched together. */
u32 l2_shard(const struct l2 *c, u64 line)
{
	_Static_assert(L2_SHARDS == 16, "four bits");
	line &= TAG_MASK >> 1;
	return c->shards == 1 ? 0 : (u32)((line >> 1) * 0x9e3779b97f4a7c15u >> 60);
}

static struct l2_at l2_hash(const struct l2 *c, u64 tag)
{
	u64 hash = l2_mix(tag);
	u8 mark = (u8)hash;

	return (struct l2_at){tag,
			      l2_shard(c, tag >> 1) * c->shard_sets + set_of_hash(c, hash >> 20),
			      mark ? mark : 1};
}

/* The same; requests that are played from a window have been hashed. */
static struct l2_at l2_at(const struct l2 *c, u64 tag)
{
	if (c->near && c->near->side.tag == tag)
		return c->near->side;
	if (c->near && c->near->home.tag == tag)
		return c->near->home;
	return l2_hash(c, tag);
}

static struct l2_line *line_at(const struct l2 *c, u32 set, u32 slot)
{
	return &c->slot[(size_t)set * L2_SET_LINES + slot];
}

static struct l2_line *l2_find(const struct l2 *c, const struct l2_at *at)
{
	u64 marked[2];

	bytes_equal(c->ways[at->set].mark, at->mark, marked);
	for (u32 half = 0; half < 2; half++)
		for (u64 m = marked[half]; m; m &= m - 1) {
			u32 slot = half * 64 + (u32)__builtin_ctzll(m);
			struct l2_line *e = line_at(c, at->set, slot);

			if (e->tag == at->tag)
				return e;
		}
	return NULL;
}

/*
 * A slot without a line; there is one. Each set begins with another: those of one number would
 * share sets of the host's caches.
 */
static u32 free_slot_of(const struct l2 *c, u32 set)
{
	u32 from = set * 37 % L2_SET_LINES;
	unsigned __int128 none, late;
	u64 half[2];

	bytes_equal(c->ways[set].mark, 0, half);
	none = (unsigned __int128)half[1] << 64 | half[0];
	late = none >> from;
	if (!late) {
		late = none;
		from = 0;
	}
	return from + ((u64)late ? (u32)__builtin_ctzll((u64)late)
				 : 64 + (u32)__builtin_ctzll((u64)(late >> 64)));
}

static struct l2_at expect_set(const struct l2 *c, u64 tag)
{
	struct l2_at at = l2_hash(c, tag);
	const struct l2_ways *w = &c->ways[at.set];

	for (u32 i = 0; i < L2_SET_LINES; i += 64)
		__builtin_prefetch(w->mark + i, 1);
	return at;
}

void l2_expect(const struct l2 *c, u64 line, u32 side, struct l2_near *near)
{
	near->side = expect_set(c, l2_tag_of(line, side));
	near->home.tag = UINT64_MAX;
}

/* The slot that is the next victim, unless it has been used. */
static u32 next_in_order(const struct l2 *c, u32 set)
{
	return c->ways[set].order[c->set[set].next % L2_SET_LINES];
}

/* What may be the line, or the slot that it would get. Is there any that may be? */
static bool expect_slot(const struct l2 *c, const struct l2_at *at)
{
	const struct l2_set *s = &c->set[at->set];
	u64 marked[2];
	u32 slot;

	bytes_equal(c->ways[at->set].mark, at->mark, marked);
	for (u32 half = 0; half < 2; half++)
		for (u64 m = marked[half]; m; m &= m - 1)
			__builtin_prefetch(line_at(c, at->set, half * 64 + (u32)__builtin_ctzll(m)),
					   1);
	if (marked[0] | marked[1])
		return true;
	slot = s->len < L2_SET_LINES ? free_slot_of(c, at->set) : next_in_order(c, at->set);
	__builtin_prefetch(line_at(c, at->set, slot), 1);
	return false;
}

bool l2_expect_line(const struct l2 *c, u64 line, u32 side, struct l2_near *near)
{
	u32 home = l2_home_of(c, line);

	if (expect_slot(c, &near->side) || home == side)
		return false;
	near->home = expect_set(c, l2_tag_of(line, home));
	return true;
}

void l2_expect_home(const struct l2 *c, const struct l2_near *near)
{
	expect_slot(c, &near->home);
}

/* ---- which line was used when ---- */

static void count_class(struct l2_set *s, u32 class, s32 n)
{
	s->of_class[class] = (u8)(s->of_class[class] + n);
}

/* Put slots of a set in the order in which they were used; free ones are the last. */
static void sort_set(struct l2 *c, u32 set)
{
	static const u8 gaps[] = {57, 23, 10, 4, 1};
	struct l2_ways *w = &c->ways[set];
	u64 key[L2_SET_LINES], used; /* when it was used, and the slot */

	/* As a rule they are in order still: the oldest has gone, and what came is the newest. */
	for (u32 i = 0; i < L2_SET_LINES; i++) {
		u32 slot = w->order[i];

		used = w->mark[slot] ? line_at(c, set, slot)->used : UINT32_MAX;
		key[i] = used << 8 | slot;
	}
	for (u32 g = 0; g < ARRAY_LEN(gaps); g++)
		for (u32 i = gaps[g]; i < L2_SET_LINES; i++) {
			u64 x = key[i];
			u32 k = i;

			for (; k >= gaps[g] && key[k - gaps[g]] > x; k -= gaps[g])
				key[k] = key[k - gaps[g]];
			key[k] = x;
		}
	for (u32 i = 0; i < L2_SET_LINES; i++)
		w->order[i] = (u8)key[i];
	c->set[set].sorted = c->clock;
	c->set[set].next = 0;
}

void l2_wind(struct l2 *c, u32 shard)
{
	u32 first = shard * c->shard_sets;

	if (c->clock < CLOCK_LAST)
		return;
	for (u32 set = first; set < first + c->shard_sets; set++) {
		if (!c->set[set].len)
			continue;
		sort_set(c, set);
		for (u32 i = 0; i < c->set[set].len; i++)
			line_at(c, set, c->ways[set].order[i])->used = i;
		c->set[set].sorted = L2_SET_LINES;
	}
	c->clock = L2_SET_LINES;
}

static u32 l2_tick(struct l2 *c)
{
	return ++c->clock;
}

/* ---- lines that go ---- */

/* Partly written sectors are read before the line is written. */
static void write_back(struct l2 *c, const struct l2_line *e)
{
	for (u32 dirty = e->dirty; dirty; dirty &= dirty - 1) {
		c->count.dram_write++;
		c->count.dram_read += e->valid[__builtin_ctz(dirty)] != CACHE_ALL_BYTES;
	}
}

static void forget_slot(struct l2 *c, u32 set, u32 slot)
{
	c->set[set].len--;
	c->ways[set].mark[slot] = 0;
	count_class(&c->set[set], line_at(c, set, slot)->class, -1);
}

void l2_forget(struct l2 *c, const struct l2_line *e)
{
	size_t at = (size_t)(e - c->slot);

	forget_slot(c, (u32)(at / L2_SET_LINES), (u32)(at % L2_SET_LINES));
}

/*
 * The slot of the oldest line of the class among those that were not used since the set was sorted,
 * which are older than all others; L2_SET_LINES: there is none.
 */
static u32 oldest_unused(struct l2 *c, u32 set, enum l2_class class)
{
	struct l2_set *s = &c->set[set];
	const u8 *order = c->ways[set].order;
	u32 i;

	while (s->next < L2_SET_LINES && line_at(c, set, order[s->next])->used > s->sorted)
		s->next++;
	for (i = s->next; i < L2_SET_LINES; i++) {
		const struct l2_line *e = line_at(c, set, order[i]);

		if (e->used <= s->sorted && e->class == class)
			return order[i];
	}
	return L2_SET_LINES;
}

/* The same among all lines: worth while where there are few of the class. */
static u32 oldest_of_few(const struct l2 *c, u32 set, enum l2_class class)
{
	u32 least = UINT32_MAX, oldest = 0;

	for (u32 i = 0; i < L2_SET_LINES; i++) {
		const struct l2_line *e = line_at(c, set, i);

		if (!c->ways[set].mark[i] || e->class != class || e->used >= least)
			continue;
		least = e->used;
		oldest = i;
	}
	return oldest;
}

/* The slot of the oldest line of the class; there is one. */
static u32 oldest_of(struct l2 *c, u32 set, enum l2_class class)
{
	u32 slot;

	if (c->set[set].len < L2_SET_LINES || c->set[set].of_class[class] < L2_SET_LINES / 4)
		return oldest_of_few(c, set, class);
	slot = oldest_unused(c, set, class);
	if (slot == L2_SET_LINES) {
		sort_set(c, set);
		slot = oldest_unused(c, set, class);
	}
	return slot;
}

/* Persisting lines go only for others of their kind, and before those when there are too many. */
static u32 victim_of(struct l2 *c, u32 set, enum l2_class class)
{
	const struct l2_set *s = &c->set[set];
	u32 persisting = s->of_class[L2_PERSISTING];

	if ((class == L2_PERSISTING && persisting >= c->persisting_most) || persisting == s->len)
		return oldest_of(c, set, L2_PERSISTING);
	return oldest_of(c, set, s->of_class[L2_STREAMING] ? L2_STREAMING : L2_NORMAL);
}

static u32 now_in(const struct l2_set *s)
{
	return s->fills / L2_SET_LINES;
}

static void change_class(struct l2_set *s, struct l2_line *e, enum l2_class class)
{
	count_class(s, e->class, -1);
	count_class(s, class, 1);
	e->class = class & 3u;
	e->touched = now_in(s) & TOUCHED_MASK;
}

void l2_line_normal(struct l2 *c, struct l2_line *e)
{
	change_class(&c->set[(size_t)(e - c->slot) / L2_SET_LINES], e, L2_NORMAL);
}

/* Persisting lines that were not asked for in a long time become normal ones. */
static void age_set(struct l2 *c, u32 set)
{
	struct l2_set *s = &c->set[set];

	for (u32 i = 0; s->of_class[L2_PERSISTING] && i < L2_SET_LINES; i++) {
		struct l2_line *e = line_at(c, set, i);
		u32 age = (now_in(s) - (u32)e->touched) & TOUCHED_MASK;

		if (c->ways[set].mark[i] && e->class == L2_PERSISTING &&
		    age > AGE_LEAST + (u32)(l2_mix(e->tag) >> 40) % AGE_SPREAD)
			change_class(s, e, L2_NORMAL);
	}
}

/* What a request's class means for a line that is to come. */
static enum l2_class class_at(const struct l2 *c, u64 tag, enum l2_class class)
{
	bool is_home = l2_home_of(c, tag >> 1) == (tag & 1);

	if (class == L2_DEMOTE || (class == L2_PERSISTING && (!is_home || !c->persisting_most)))
		return L2_NORMAL;
	return class;
}

/* A request has found the line. */
static void class_again(struct l2 *c, u32 set, struct l2_line *e, enum l2_class class)
{
	struct l2_set *s = &c->set[set];

	if (e->class == L2_PERSISTING) {
		e->touched = now_in(s) & TOUCHED_MASK;
		if (class == L2_DEMOTE)
			change_class(s, e, L2_NORMAL);
	} else if (class_at(c, e->tag, class) == L2_PERSISTING) {
		if (s->of_class[L2_PERSISTING] >= c->persisting_most)
			change_class(s, line_at(c, set, oldest_of(c, set, L2_PERSISTING)),
				     L2_NORMAL);
		change_class(s, e, L2_PERSISTING);
	}
}

static struct l2_line *l2_bring(struct l2 *c, const struct l2_at *at, enum l2_class class)
{
	struct l2_set *s = &c->set[at->set];
	struct l2_line *e;
	u32 slot;

	class = class_at(c, at->tag, class);
	if (!(++s->fills % L2_SET_LINES) && s->of_class[L2_PERSISTING])
		age_set(c, at->set);
	if (s->len == L2_SET_LINES ||
	    (class == L2_PERSISTING && s->of_class[L2_PERSISTING] >= c->persisting_most)) {
		slot = victim_of(c, at->set, class);
		write_back(c, line_at(c, at->set, slot));
		forget_slot(c, at->set, slot);
	} else {
		slot = free_slot_of(c, at->set);
	}
	s->len++;
	c->ways[at->set].mark[slot] = at->mark;
	count_class(s, class, 1);
	e = line_at(c, at->set, slot);
	*e = (struct l2_line){.tag = at->tag & TAG_MASK,
			      .used = l2_tick(c),
			      .class = class & 3u,
			      .touched = now_in(s) & TOUCHED_MASK};
	return e;
}

struct l2_line *l2_take(struct l2 *c, u64 tag, enum l2_class class, bool *was_there)
{
	struct l2_at at = l2_at(c, tag);
	struct l2_line *e = l2_find(c, &at);

	*was_there = e != NULL;
	if (!e)
		return l2_bring(c, &at, class);
	if (PL_UNLIKELY(class >= L2_PERSISTING || e->class == L2_PERSISTING))
		class_again(c, at.set, e, class);
	e->used = l2_tick(c);
	return e;
}

struct l2_line *l2_look(const struct l2 *c, u64 tag)
{
	struct l2_at at = l2_at(c, tag);

	return l2_find(c, &at);
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
			for (u32 i = 0; c->set[set].len && i < L2_SET_LINES; i++)
				if (c->ways[set].mark[i] &&
				    (line_at(c, set, i)->tag >> 1) - first < lines)
					forget_slot(c, set, i);
		return;
	}
	for (u64 l = first; l < first + lines; l++)
		for (u32 side = 0; side < c->rules.partitions; side++) {
			struct l2_line *e = l2_look(c, l2_tag_of(l, side));

			if (e)
				l2_forget(c, e);
		}
}

void l2_make_normal(struct l2 *c)
{
	for (u32 set = 0; set < c->sets; set++) {
		struct l2_set *s = &c->set[set];

		for (u32 i = 0; s->of_class[L2_PERSISTING] && i < L2_SET_LINES; i++)
			if (c->ways[set].mark[i] && line_at(c, set, i)->class == L2_PERSISTING)
				line_at(c, set, i)->class = L2_NORMAL;
		count_class(s, L2_NORMAL, s->of_class[L2_PERSISTING]);
		s->of_class[L2_PERSISTING] = 0;
	}
}

void l2_reset(struct l2 *c)
{
	for (u32 set = 0; set < c->sets; set++)
		if (c->set[set].len)
			set_init(c, set);
}
