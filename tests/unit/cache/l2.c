/*
 * The second-level cache against what an H100 and an H200 counted.
 */
#include "src/cache/l2.h"
#include "tests/check.h"

#define MIB ((u64)1 << 20)

static const struct l2_rules one_side = {6 * MIB, 1, 64, 0, 1};
static const struct l2_rules h200 = {60 * MIB, 2, 64, 0, 1};
/* A tenth of it: what is kept of bytes does not depend on the size. */
static const struct l2_rules tenth = {6 * MIB, 2, 64, 6 * MIB / 16 * 3, 1};
static const u32 first_word[CACHE_SECTORS] = {0xf, 0, 0, 0};
static const u32 whole[CACHE_SECTORS] = {~0u, ~0u, ~0u, ~0u};

static void test_fetch(void)
{
	struct l2 c;

	CHECK(l2_init(&c, &one_side));
	l2_read(&c, 5, 1, 0, 0, L2_NORMAL);
	CHECK_MSG(c.count.miss[L2_READ] == 2 && c.count.dram_read == 2, "a miss fetches a pair");
	l2_read(&c, 5, 3, 0, 0, L2_NORMAL);
	CHECK_MSG(c.count.hit[L2_READ] == 2 && c.count.miss[L2_READ] == 2, "whose other one hits");
	l2_read(&c, 6, 1, 0, 1, L2_NORMAL);
	CHECK_EQ(c.count.dram_read, 3);
	l2_read(&c, 7, 1, 0, 4, L2_NORMAL);
	CHECK_EQ(c.count.dram_read, 7);
	l2_read(&c, 8, 0xf, 0, 0, L2_NORMAL);
	CHECK_MSG(c.count.hit[L2_READ] == 2 && c.count.dram_read == 11,
		  "sectors of a piece on its way are neither");
	l2_fini(&c);
}

static void test_writes(void)
{
	struct l2 c;

	CHECK(l2_init(&c, &one_side));
	l2_write(&c, 5, first_word, 0, L2_NORMAL);
	CHECK_MSG(!c.count.dram_read && c.count.hit[L2_WRITE] == 1, "a write fetches nothing");
	l2_read(&c, 5, 1, 0, 0, L2_NORMAL);
	CHECK_MSG(c.count.miss[L2_READ] == 2, "a sector in part is filled to be read");
	l2_fini(&c);
	/* Twice the size, a word a sector: what is pushed out is read first. */
	CHECK(l2_init(&c, &one_side));
	for (u64 line = 0; line < 12 * MIB / CACHE_LINE_BYTES; line++)
		l2_write(&c, line, first_word, 0, L2_NORMAL);
	CHECK(c.count.dram_write > 5 * MIB / CACHE_LINE_BYTES);
	CHECK_EQ(c.count.dram_read, c.count.dram_write);
	l2_fini(&c);
	CHECK(l2_init(&c, &one_side));
	for (u64 line = 0; line < 4 * MIB / CACHE_LINE_BYTES; line++)
		l2_write(&c, line, whole, 0, L2_NORMAL);
	CHECK_MSG(!c.count.dram_write && !c.count.dram_read, "what fits stays");
	l2_fini(&c);
}

static void test_sides(void)
{
	struct l2 c;
	u64 lines = 16 * MIB / CACHE_LINE_BYTES, sectors = 4 * lines, sum;

	CHECK(l2_init(&c, &h200));
	for (u64 line = 0; line < lines; line++)
		l2_read(&c, line, 0xf, 0, 0, L2_NORMAL);
	sum = c.count.sectors[L2_READ] + c.count.fabric[L2_READ];
	CHECK_EQ(c.count.dram_read, sectors);
	CHECK_MSG(sum > sectors * 149 / 100 && sum < sectors * 151 / 100,
		  "a stream is read 1.5 times");
	c.count = (struct l2_counts){0};
	for (u64 line = 0; line < lines; line++)
		l2_read(&c, line, 0xf, 0, 0, L2_NORMAL);
	CHECK_MSG(!c.count.fabric[L2_READ] && c.count.hit[L2_READ] == sectors,
		  "and once by the same side again");
	c.count = (struct l2_counts){0};
	c.turn++;
	for (u64 line = 0; line < lines; line++)
		l2_read(&c, line, 0xf, 1, 0, L2_NORMAL);
	CHECK_MSG(!c.count.dram_read && c.count.fabric[L2_READ] > sectors * 49 / 100,
		  "the other side has half of it, and no need of DRAM");
	c.count = (struct l2_counts){0};
	l2_atomic(&c, 3, 1, 0, L2_RED, L2_NORMAL, &(struct l2_lanes){32, 32, 1});
	l2_read(&c, 3, 1, 0, 0, L2_NORMAL);
	l2_atomic(&c, 3, 1, 1, L2_RED, L2_NORMAL, &(struct l2_lanes){32, 32, 1});
	CHECK_EQ(c.count.sectors[L2_RED], 64);
	CHECK_EQ(c.count.fabric[L2_RED], 32);
	l2_fini(&c);
}

/* Share of a second pass that hits, by the part of the cache that the first one fills. */
static double second_pass(double fill)
{
	struct l2 c;
	u64 lines = (u64)(fill / 1.5 * 60 * MIB / CACHE_LINE_BYTES);
	double share;

	if (!l2_init(&c, &h200))
		return -1;
	for (u32 pass = 0; pass < 2; pass++) {
		c.count = (struct l2_counts){0};
		for (u64 line = 0; line < lines; line++)
			l2_read(&c, line, 0xf, 0, 0, L2_NORMAL);
	}
	/* Of both lookups, as the device's hit rate has it. */
	share = 1 - (double)c.count.dram_read / (double)(4 * lines);
	l2_fini(&c);
	return share;
}

static void test_capacity(void)
{
	static const struct {
		double fill, share, off;
	} measured[] = {
		{.80, 1, .01}, {.84, .996, .01}, {.96, .939, .06}, {1.4, .003, .05}, {1.6, 0, .01}};

	for (u32 i = 0; i < ARRAY_LEN(measured); i++) {
		double share = second_pass(measured[i].fill), off = share - measured[i].share;

		printf("# %.2f of the size: %.3f hit, measured %.3f\n", measured[i].fill, share,
		       measured[i].share);
		CHECK_MSG(off < measured[i].off && -off < measured[i].off,
			  "a second pass hits as measured");
	}
}

/* The first piece of 4 KiB is at home on side 1, the second on side 0: of an SM of side 0. */
static void test_prefetch(void)
{
	struct l2 c;

	CHECK(l2_init(&c, &h200));
	for (u32 far = 0; far < 2; far++) {
		u64 line = l2_contact(&c, 0, 0) == L2_SLICE_PAIRS ? 0 : 32;

		line = far ? 32 - line : line;
		c.count = (struct l2_counts){0};
		l2_prefetch(&c, line, 0x3, 0, L2_NORMAL);
		CHECK_EQ(c.count.sectors[L2_PREFETCH], 2);
		CHECK_EQ(c.count.miss[L2_PREFETCH], 2);
		CHECK_EQ(c.count.fabric[L2_PREFETCH], far ? 2 : 0);
		CHECK_EQ(c.count.dram_read, 2);
		l2_prefetch(&c, line, 0x3, 0, L2_NORMAL);
		CHECK_EQ(c.count.miss[L2_PREFETCH], far ? 4 : 2);
		CHECK_EQ(c.count.fabric_hit[L2_PREFETCH], far ? 2 : 0);
		CHECK_MSG(c.count.dram_read == 2, "once more, it reads nothing");
		l2_read(&c, line, 0x3, 0, 2, L2_NORMAL);
		CHECK_EQ(c.count.hit[L2_READ], far ? 0 : 2);
		CHECK_EQ(c.count.fabric_hit[L2_READ], far ? 2 : 0);
		CHECK_EQ(c.count.dram_read, 2);
		l2_prefetch(&c, line, 0x7, 0, L2_NORMAL);
		CHECK_EQ(c.count.miss[L2_PREFETCH], far ? 5 : 3);
		CHECK_EQ(c.count.fabric[L2_PREFETCH], far ? 5 : 0);
		CHECK_EQ(c.count.dram_read, 3);
	}
	l2_fini(&c);
}

static void test_persisting(void)
{
	struct l2 c;
	struct l2_rules rules = {6 * MIB, 1, 64, 2 * MIB, 1};
	u64 lines = MIB / CACHE_LINE_BYTES, hit;

	CHECK(l2_init(&c, &rules));
	for (u64 line = 0; line < lines; line++)
		l2_read(&c, line, 0xf, 0, 0, L2_PERSISTING);
	for (u64 line = 1u << 20; line < (1u << 20) + 32 * lines; line++)
		l2_read(&c, line, 0xf, 0, 0, L2_NORMAL);
	c.count = (struct l2_counts){0};
	for (u64 line = 0; line < lines; line++)
		l2_read(&c, line, 0xf, 0, 0, L2_PERSISTING);
	CHECK_MSG(c.count.hit[L2_READ] == 4 * lines, "persisting lines outlast a stream");
	CHECK_EQ(c.count.class_hit[L2_PERSISTING], 4 * lines);
	l2_make_normal(&c);
	for (u64 line = 1u << 20; line < (1u << 20) + 32 * lines; line++)
		l2_read(&c, line, 0xf, 0, 0, L2_NORMAL);
	hit = c.count.hit[L2_READ];
	for (u64 line = 0; line < lines; line++)
		l2_read(&c, line, 0xf, 0, 0, L2_NORMAL);
	CHECK_MSG(c.count.hit[L2_READ] == hit, "and go when they are normal again");
	l2_fini(&c);
}

/* Sectors that hit when the lines are read again by an SM of side 0. */
static u64 hits_now(struct l2 *c, u64 lines)
{
	c->count = (struct l2_counts){0};
	for (u64 line = 0; line < lines; line++)
		l2_read(c, line, 0xf, 0, 0, L2_NORMAL);
	return c->count.hit[L2_READ] + c->count.fabric_hit[L2_READ];
}

/* The same after a stream of others. */
static u64 hits_again(struct l2 *c, u64 lines)
{
	for (u64 line = 1u << 22; line < (1u << 22) + 26 * MIB / CACHE_LINE_BYTES; line++)
		l2_read(c, line, 0xf, 0, 0, L2_NORMAL);
	return hits_now(c, lines);
}

static void read_lines(struct l2 *c, u64 lines, enum l2_class class)
{
	for (u64 line = 0; line < lines; line++)
		l2_read(c, line, 0xf, 0, 0, class);
}

/* Windows as an H200 was measured: what becomes of lines that are read, and then otherwise. */
static void test_windows(void)
{
	static const struct {
		enum l2_class first, then;
		double share;
		const char *what;
	} steps[] = {
		{L2_NORMAL, L2_NORMAL, 0, "normal lines go"},
		{L2_PERSISTING, L2_NORMAL, 1, "persisting ones stay, when read by others, too"},
		{L2_PERSISTING, L2_DEMOTE, 0, "and go when they are made normal"},
		{L2_NORMAL, L2_PERSISTING, 0.5, "what finds a copy does not reach the home"},
	};
	u64 lines = 4 * MIB / 10 / CACHE_LINE_BYTES;
	struct l2 c;

	for (u32 i = 0; i < ARRAY_LEN(steps); i++) {
		double share;

		CHECK(l2_init(&c, &tenth));
		read_lines(&c, lines, steps[i].first);
		read_lines(&c, lines, steps[i].then);
		share = (double)hits_again(&c, lines) / (double)(4 * lines);
		CHECK_MSG(share > steps[i].share - 0.02 && share < steps[i].share + 0.02,
			  steps[i].what);
		l2_fini(&c);
	}
}

/* Of 8, 16 and 32 MiB what an H200 keeps of one that is set aside, and of three sixteenths. */
static void test_set_aside(void)
{
	static const struct {
		u64 aside, bytes;
		double kept;
	} measured[] = {
		{1, 2 * MIB, 0.992},  {1, 8 * MIB, 0.460},    {1, 32 * MIB, 0.116},
		{0, 6 * MIB, 1},      {0, 12 * MIB, 0.876},   {0, 16 * MIB, 0.689},
		{0, 32 * MIB, 0.345}, {3932160, 24 * MIB, 1}, {3932160, 48 * MIB, 0.765},
	};
	struct l2 c;

	for (u32 i = 0; i < ARRAY_LEN(measured); i++) {
		u64 lines = measured[i].bytes / 10 / CACHE_LINE_BYTES;
		double kept;

		CHECK(l2_init(&c, &tenth));
		l2_set_aside(&c, measured[i].aside);
		read_lines(&c, lines, L2_PERSISTING);
		kept = (double)hits_again(&c, lines) / (double)(4 * lines);
		printf("# %llu of %llu MiB: %.3f, measured %.3f\n",
		       (unsigned long long)measured[i].aside,
		       (unsigned long long)(measured[i].bytes / MIB), kept, measured[i].kept);
		CHECK_MSG(kept > measured[i].kept - 0.06 && kept < measured[i].kept + 0.06,
			  "as much is kept as was measured");
		l2_fini(&c);
	}
}

/* Lines that are not asked for become normal: an H200 has 45 % of them after 1 GiB of others. */
static void test_age(void)
{
	static const double measured[] = {1, 0.45, 0.08, 0};
	u64 lines = 4 * MIB / 10 / CACHE_LINE_BYTES, other = (u64)1 << 24;
	struct l2 c;

	for (u32 i = 0; i < ARRAY_LEN(measured); i++) {
		double kept;

		CHECK(l2_init(&c, &tenth));
		read_lines(&c, lines, L2_PERSISTING);
		for (u64 n = 0; n < (i + 1) * 512 * MIB / 10 / CACHE_LINE_BYTES; n++)
			l2_read(&c, other++, 0xf, (u32)n / 32 & 1, 0, L2_NORMAL);
		kept = (double)hits_now(&c, lines) / (double)(4 * lines);
		printf("# after %u times 512 MiB: %.3f, measured %.3f\n", i + 1, kept, measured[i]);
		CHECK_MSG(kept > measured[i] - 0.15 && kept < measured[i] + 0.15,
			  "persisting lines age as measured");
		l2_fini(&c);
	}
}

static void test_window_of(void)
{
	/* Ratios and the share of lines that an H200 kept. */
	static const struct {
		float ratio;
		double kept;
	} measured[] = {{0, 0.063},    {0.1f, 0.126},  {0.25f, 0.314}, {0.5f, 0.563},
			{0.6f, 0.626}, {0.75f, 0.813}, {0.9f, 0.938},  {1, 1}};
	struct access_window w = {MIB + 100, 4 * MIB, 1, ACCESS_PERSISTING, ACCESS_STREAMING};
	struct l2_window x;

	for (u32 i = 0; i < ARRAY_LEN(measured); i++) {
		u64 kept = 0;
		double share;

		w.ratio = measured[i].ratio;
		x = l2_window_of(&w, 0);
		for (u64 line = x.first; line < x.first + x.lines; line++)
			kept += l2_window_class(&x, line, L2_NORMAL) == L2_PERSISTING;
		share = (double)kept / (double)x.lines;
		CHECK_MSG(share > measured[i].kept - 0.01 && share < measured[i].kept + 0.01,
			  "as many lines are chosen as were measured");
	}
	CHECK_EQ(x.first, (MIB + 100) / CACHE_LINE_BYTES);
	CHECK_EQ(x.lines, 4 * MIB / CACHE_LINE_BYTES + 1);
	CHECK_EQ(l2_window_class(&x, x.first - 1, L2_NORMAL), L2_NORMAL);
	CHECK_EQ(l2_window_class(&x, x.first, L2_STREAMING), L2_STREAMING);
	w.hit = ACCESS_NORMAL;
	x = l2_window_of(&w, 0);
	CHECK_EQ(l2_window_class(&x, x.first, L2_NORMAL), L2_DEMOTE);
	w.hit = 17;
	x = l2_window_of(&w, MIB);
	CHECK_EQ(l2_window_class(&x, 0, L2_NORMAL), L2_NORMAL);
	CHECK_EQ(l2_window_of(&w, 2 * MIB).lines, 0);
	CHECK_EQ(l2_window_of(NULL, 0).lines, 0);
	w.bytes = UINT64_MAX;
	CHECK(l2_window_of(&w, 0).lines > (u64)1 << 56);
}

static void test_host(void)
{
	struct l2 c;

	CHECK(l2_init(&c, &h200));
	for (u64 line = 0; line < 64; line++)
		l2_read(&c, line, 0xf, 0, 0, L2_NORMAL);
	c.count = (struct l2_counts){0};
	l2_invalidate(&c, 130, 200);
	for (u64 line = 0; line < 64; line++)
		l2_read(&c, line, 0xf, 0, 0, L2_NORMAL);
	CHECK_MSG(c.count.dram_read == 8, "a copy of the host takes the two lines away");
	c.count = (struct l2_counts){0};
	l2_invalidate(&c, 0, UINT64_MAX);
	l2_read(&c, 63, 0xf, 0, 0, L2_NORMAL);
	CHECK_EQ(c.count.dram_read, 4);
	l2_reset(&c);
	l2_read(&c, 63, 0xf, 0, 0, L2_NORMAL);
	CHECK_EQ(c.count.dram_read, 8);
	l2_fini(&c);
}

/* A walk that comes back to some of its lines; the clock of the second half begins at `clock`. */
static u64 misses_of_walk(u32 clock)
{
	struct l2 c;
	u64 misses;

	if (!l2_init(&c, &tenth))
		return 0;
	for (u32 i = 0; i < 300000; i++) {
		for (u32 s = 0; i == 150000 && clock && s < c.shards; s++) {
			c.clock = clock;
			l2_wind(&c, s);
			CHECK(c.clock < clock);
		}
		l2_read(&c, i % 3 ? i : i * 7919 % 50000, 0xf, i & 1, 0,
			i % 11 ? L2_NORMAL : L2_PERSISTING);
	}
	misses = c.count.miss[L2_READ];
	l2_fini(&c);
	return misses;
}

static void test_clock(void)
{
	u64 misses = misses_of_walk(0);

	CHECK(misses > 200000);
	CHECK_MSG(misses_of_walk(UINT32_MAX - 1000) == misses, "lines keep their order");
}

int main(void)
{
	test_fetch();
	test_writes();
	test_sides();
	test_capacity();
	test_prefetch();
	test_persisting();
	test_windows();
	test_set_aside();
	test_age();
	test_window_of();
	test_host();
	test_clock();
	return check_done();
}
