/*
 * The first-level cache against probes of an H100: what each access leaves behind, which lines
 * survive, and how many loads hit when a walk is longer than the cache.
 */
#include "src/cache/l1.h"
#include "tests/check.h"

static const struct l1_rules h100 = {1736, 256, true, true};
static const u32 word[CACHE_SECTORS] = {0xf, 0, 0, 0};
static const u32 next_word[CACHE_SECTORS] = {0xf0, 0, 0, 0};
static const u32 next_sector[CACHE_SECTORS] = {0, 0xf, 0, 0};
static const u32 whole[CACHE_SECTORS] = {~0u, ~0u, ~0u, ~0u};

static bool hits(struct l1 *c, u64 line, const u32 *need)
{
	return !l1_load(c, line, need, L1_KEEP_NOTHING);
}

static void test_sectors(void)
{
	struct l1 c;

	CHECK(l1_init(&c, &h100));
	CHECK_EQ(l1_load(&c, 7, word, L1_KEEP), 1);
	CHECK_MSG(hits(&c, 7, word) && hits(&c, 7, next_word), "a load brings the whole sector");
	CHECK_MSG(!hits(&c, 7, next_sector), "but not its neighbour");
	CHECK_EQ(l1_load(&c, 7, whole, L1_KEEP), 0xe);
	CHECK_EQ(l1_load(&c, 7, whole, L1_KEEP), 0);
	l1_fini(&c);
}

static void test_stores(void)
{
	struct l1 c;
	struct l1_rules pascal = {192, 1, false, false};

	CHECK(l1_init(&c, &h100));
	CHECK(!l1_store(&c, 7, word, L1_KEEP, 0));
	CHECK_MSG(hits(&c, 7, word) && !hits(&c, 7, next_word), "a store leaves its bytes");
	CHECK_MSG(l1_store(&c, 7, next_sector, L1_KEEP, 0), "a store hits where the line is");
	CHECK(!l1_store(&c, 8, whole, L1_KEEP_NOTHING, 0));
	CHECK_MSG(!hits(&c, 8, word), "no_allocate leaves nothing");
	l1_fini(&c);
	CHECK(l1_init(&c, &pascal));
	l1_load(&c, 7, whole, L1_KEEP);
	CHECK(l1_store(&c, 7, word, L1_KEEP, 0));
	CHECK_MSG(!hits(&c, 7, next_sector), "on Pascal a store drops the line");
	l1_fini(&c);
}

static void test_leaving(void)
{
	struct l1 c;
	struct l1_rules two = {2, 1, false, true};

	CHECK(l1_init(&c, &two));
	l1_load(&c, 1, word, L1_KEEP);
	l1_drop(&c, 1);
	CHECK_EQ(l1_load(&c, 1, word, L1_KEEP), 1);
	l1_flush(&c);
	CHECK_EQ(l1_load(&c, 1, word, L1_KEEP), 1);
	l1_load(&c, 2, word, L1_KEEP);
	l1_load(&c, 3, word, L1_KEEP);
	CHECK_EQ(l1_load(&c, 1, word, L1_KEEP), 1);
	CHECK_EQ(l1_load(&c, 1, next_sector, L1_KEEP), 2);
	CHECK(hits(&c, 1, word) && hits(&c, 3, word) && !hits(&c, 2, word));
	l1_fini(&c);
}

/* The i-th of lines that all belong to one row. */
static u64 line_of_row(u32 i)
{
	return (u64)i << 15;
}

/* How many of the first n such lines hit. */
static u32 hits_in_row(struct l1 *c, u32 n)
{
	u32 hit = 0;

	for (u32 i = 0; i < n; i++)
		hit += hits(c, line_of_row(i), word);
	return hit;
}

static void test_one_row(const struct l1_rules *rules)
{
	struct l1 c;
	u32 n = rules->lines;

	CHECK(l1_init(&c, rules));
	for (u32 i = 0; i < n; i++)
		l1_load(&c, line_of_row(i), word, L1_KEEP);
	CHECK_MSG(hits_in_row(&c, n) == n, "lines of one row have the room of all");
	l1_drop(&c, line_of_row(n / 2));
	CHECK_EQ(hits_in_row(&c, n), n - 1);
	l1_load(&c, line_of_row(n / 2), word, L1_KEEP);
	CHECK_EQ(hits_in_row(&c, n), n);
	l1_load(&c, line_of_row(n), word, L1_KEEP);
	CHECK_MSG(hits_in_row(&c, n) == n - 1, "one that comes takes the place of one");
	for (u32 i = 0; i < n; i++)
		l1_load(&c, i, word, L1_KEEP);
	for (u32 i = 0; i < n; i++)
		l1_drop(&c, line_of_row(i));
	CHECK_EQ(hits_in_row(&c, n), 0);
	l1_flush(&c);
	for (u32 i = 0; i < n; i++)
		l1_load(&c, line_of_row(i), word, L1_KEEP);
	CHECK_EQ(hits_in_row(&c, n), n);
	l1_fini(&c);
}

/* 1024 lines are loaded twice, then others come: how many of the first are left? */
static u32 survivors(u32 others, enum l1_keep keep, bool store)
{
	struct l1 c;
	u32 left = 0;

	if (!l1_init(&c, &h100))
		return 0;
	for (u32 i = 0; i < 2048; i++)
		l1_load(&c, i % 1024, word, L1_KEEP);
	for (u32 i = 0; i < others; i++)
		if (store)
			l1_store(&c, (1u << 20) + i, word, keep, 0);
		else
			l1_load(&c, (1u << 20) + i, word, keep);
	for (u32 i = 0; i < 1024; i++)
		left += hits(&c, i, word);
	l1_fini(&c);
	return left;
}

static void test_survivors(void)
{
	CHECK_EQ(survivors(1024, L1_KEEP, false), 1024);
	CHECK_EQ(survivors(2048, L1_KEEP, false), 1024);
	CHECK_EQ(survivors(2048, L1_KEEP, true), 1024);
	CHECK_EQ(survivors(2048, L1_KEEP_FIRST, false), 1024);
	/* An H100 has 75 left, and none. */
	CHECK(survivors(1024, L1_KEEP_LAST, false) < 1024);
	CHECK(survivors(2048, L1_KEEP_LAST, false) < 256);
}

/* Share of a walk's loads that hit in its second pass; measured ones. */
static void test_walks(void)
{
	static const u32 capacity[] = {1736, 1480, 1192, 936, 680};
	static const double factor[] = {1.02, 1.05, 1.10, 1.15, 1.2, 1.3, 1.5};
	static const double measured[5][7] = {{.879, .660, .342, .107, .042, .008, 0},
					      {.883, .721, .458, .175, .060, .006, 0},
					      {.914, .791, .576, .322, .162, .036, 0},
					      {.934, .821, .650, .481, .349, .111, .005},
					      {.957, .868, .766, .665, .528, .261, .045}};
	double error = 0, most = 0;

	for (u32 k = 0; k < 5; k++)
		for (u32 f = 0; f < 7; f++) {
			struct l1_rules rules = {capacity[k], 256, true, true};
			u32 n = (u32)(capacity[k] * factor[f]), hit = 0;
			double off;
			struct l1 c;

			if (!l1_init(&c, &rules))
				return;
			for (u32 i = 0; i < 2 * n; i++)
				hit += !l1_load(&c, i % n, word, L1_KEEP);
			off = (double)hit / n - measured[k][f];
			off = off < 0 ? -off : off;
			error += off / 35;
			most = off > most ? off : most;
			l1_fini(&c);
		}
	printf("# mean error %.3f, largest %.3f\n", error, most);
	CHECK_MSG(error < .034, "second passes hit as measured, to 0.034 in the mean");
	CHECK_MSG(most < .19, "and to 0.19 at most");
}

/* Bytes by word, some of which are stored in part. */
static void any_words(u64 x, u32 words, u32 bytes[CACHE_SECTORS])
{
	for (u32 s = 0; s < CACHE_SECTORS; s++)
		bytes[s] = cache_word_bytes(words >> s * 8 & 0xff) & (x & 1 ? ~0u : 0x7fffffff);
}

/*
 * Two caches are asked for the same, one of them by words; its times end and begin again. Returns
 * how many answers differ.
 */
static u32 differ(struct l1 *c, struct l1 *late, u32 lines)
{
	u64 x = 1;
	u32 wrong = 0;

	late->time = (1u << 30) - 4096 - 3000;
	for (u32 i = 0; i < 100000; i++) {
		u32 bytes[CACHE_SECTORS], words;
		u64 line;
		enum l1_keep keep = i % 7 ? L1_KEEP : i % 2 ? L1_KEEP_LAST : L1_KEEP_FIRST;

		x = x * 6364136223846793005u + 1442695040888963407u;
		line = (x >> 33) % lines + (x >> 62 ? 0 : (u64)1 << 41);
		words = i % 3 ? 1u << (x >> 20 & 31) : (u32)(x >> 25);
		any_words(x >> 40, words, bytes);
		if (i % 5) {
			any_words(1, words, bytes);
			wrong += l1_load(c, line, bytes, keep) !=
				 l1_load_words(late, line, words, keep);
		} else {
			wrong += l1_store(c, line, bytes, keep, l1_number(i, 1)) !=
				 l1_store(late, line, bytes, keep, l1_number(i, 1));
		}
	}
	return wrong;
}

static void test_long_run(const struct l1_rules *rules)
{
	struct l1 c, late;

	CHECK(l1_init(&c, rules) && l1_init(&late, rules));
	CHECK_EQ(differ(&c, &late, rules->lines * 3 / 2), 0);
	CHECK_MSG(late.time < 1u << 29, "times have begun again");
	l1_fini(&c);
	l1_fini(&late);
}

int main(void)
{
	test_sectors();
	test_stores();
	test_leaving();
	test_one_row(&h100);
	test_one_row(&(struct l1_rules){200, 4, true, true});
	test_survivors();
	test_walks();
	test_long_run(&h100);
	test_long_run(&(struct l1_rules){192, 1, false, false});
	return check_done();
}
