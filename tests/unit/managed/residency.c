/*
 * Where pages of managed memory are, and what moves: the rules one by one. What a GPU's driver told
 * of whole programs is in tests/counters/managed.tsv.
 */
#include "src/managed/residency.h"
#include "tests/check.h"

#define BASE ((u64)1 << 40)
#define MIB ((u64)1 << 20)
#define KIB_PAGES(kib) ((kib) / 4)

static struct managed_range *one_range(struct residency *r, u64 bytes)
{
	*r = (struct residency){0};
	CHECK(residency_add(r, BASE, bytes));
	return residency_find(r, BASE);
}

static void touch_all(struct residency *r, struct managed_range *m, u64 step, u32 by, bool writes)
{
	for (u64 i = 0; i < m->bytes / MANAGED_PAGE; i += step)
		residency_touch(r, m, i, by, writes);
}

static void test_growth(void)
{
	struct residency r;
	struct managed_range *m = one_range(&r, 2 * MIB);
	static const u64 first[] = {0, 64, 128, 256, 512, 1024}; /* KiB, as on an H200 */

	for (u32 i = 0; i < ARRAY_LEN(first); i++) {
		CHECK(residency_faults(m, KIB_PAGES(first[i]), MANAGED_HOST, true));
		residency_touch(&r, m, KIB_PAGES(first[i]), MANAGED_HOST, true);
		CHECK(!residency_faults(m, KIB_PAGES(first[i] ? first[i] * 2 : 64) - 1,
					MANAGED_HOST, true));
	}
	CHECK_EQ(r.count.faults[MANAGED_HOST], 6);
	CHECK_EQ(r.count.populated[MANAGED_HOST], 2 * MIB);
	touch_all(&r, m, 1, 0, false);
	CHECK_EQ(r.count.faults[0], 6);
	CHECK_EQ(r.count.bytes[MANAGED_HOST][0], 2 * MIB);
	CHECK_MSG(r.count.transfers[MANAGED_HOST][0] == 12, "the page, and what is behind it");
	residency_fini(&r);
}

static void test_half(void)
{
	struct residency r;
	struct managed_range *m = one_range(&r, 2 * MIB);

	touch_all(&r, m, 1, MANAGED_HOST, true);
	touch_all(&r, m, KIB_PAGES(128), 3, true);
	CHECK_MSG(r.count.bytes[MANAGED_HOST][3] == MIB, "half of it is no reason for the rest");
	residency_touch(&r, m, 0, MANAGED_HOST, false);
	CHECK_MSG(r.count.bytes[3][MANAGED_HOST] == MIB, "more than half is");
	residency_fini(&r);
}

static void test_middle(void)
{
	struct residency r;
	struct managed_range *m = one_range(&r, 4 * MIB);

	residency_prefetch(&r, m, 0, m->pages, 0);
	CHECK_MSG(!r.count.bytes[MANAGED_HOST][0] && r.count.populated[0] == 4 * MIB,
		  "what was not touched is not moved");
	residency_touch(&r, m, KIB_PAGES(1200), MANAGED_HOST, true);
	CHECK_EQ(r.count.transfers[0][MANAGED_HOST], 3);
	CHECK_EQ(r.count.bytes[0][MANAGED_HOST], 65536);
	residency_prefetch(&r, m, 0, m->pages, MANAGED_HOST);
	CHECK_MSG(r.count.transfers[0][MANAGED_HOST] == 6, "a piece for 2 MiB, but for the hole");
	residency_fini(&r);
}

static void test_advice(void)
{
	struct residency r;
	struct managed_range *m = one_range(&r, 2 * MIB);

	touch_all(&r, m, 1, MANAGED_HOST, true);
	residency_advise(&r, m, MANAGED_READ_MOSTLY, 0);
	touch_all(&r, m, 1, 0, false);
	CHECK_MSG(!residency_faults(m, 7, MANAGED_HOST, false), "both have it");
	residency_touch(&r, m, 7, 0, true);
	CHECK(residency_faults(m, 7, MANAGED_HOST, false) &&
	      !residency_faults(m, 6, MANAGED_HOST, false));
	residency_touch(&r, m, 7, MANAGED_HOST, false);
	CHECK_EQ(r.count.bytes[0][MANAGED_HOST], MANAGED_PAGE);
	residency_fini(&r);

	m = one_range(&r, 2 * MIB);
	touch_all(&r, m, 1, MANAGED_HOST, true);
	residency_advise(&r, m, MANAGED_PREFER, MANAGED_HOST);
	touch_all(&r, m, 16, 0, true);
	touch_all(&r, m, 16, 0, true);
	CHECK_EQ(r.count.remote[0], 32 * MANAGED_PAGE);
	CHECK_EQ(r.count.bytes[MANAGED_HOST][0], 0);
	residency_advise(&r, m, MANAGED_UNSET_PREFER, 0);
	residency_touch(&r, m, 1, 0, false);
	CHECK_MSG(r.count.bytes[MANAGED_HOST][0] != 0, "it moves again");
	residency_fini(&r);

	m = one_range(&r, 2 * MIB);
	touch_all(&r, m, 1, MANAGED_HOST, true);
	residency_advise(&r, m, MANAGED_ACCESSED_BY, 1);
	touch_all(&r, m, 1, 1, true);
	CHECK_MSG(!r.count.faults[1] && r.count.remote[1] == 2 * MIB, "mapped without a fault");
	touch_all(&r, m, 1, 2, true);
	CHECK_MSG(r.count.bytes[MANAGED_HOST][2] == 2 * MIB, "others have it moved");
	touch_all(&r, m, 1, MANAGED_HOST, true);
	CHECK_EQ(r.count.bytes[2][MANAGED_HOST], 2 * MIB);
	residency_fini(&r);
}

static void test_thrashing(void)
{
	struct residency r;
	struct managed_range *m = one_range(&r, 65536);

	for (u32 i = 0; i < 4; i++) {
		residency_touch(&r, m, 0, MANAGED_HOST, true);
		residency_touch(&r, m, 0, 0, true);
		CHECK_EQ(r.count.thrashed[0], i < 2 ? 0 : 65536 * (i - 1));
	}
	residency_fini(&r);
}

static void test_ranges(void)
{
	struct residency r = {0};
	static const u64 at[] = {5, 1, 9, 3, 7};

	for (u32 i = 0; i < ARRAY_LEN(at); i++)
		CHECK(residency_add(&r, BASE + at[i] * MIB, 100));
	for (u32 i = 0; i < ARRAY_LEN(at); i++)
		CHECK(residency_find(&r, BASE + at[i] * MIB + 99)->base == BASE + at[i] * MIB);
	CHECK(!residency_find(&r, BASE) && !residency_find(&r, BASE + MIB + 100) &&
	      !residency_find(&r, BASE + 99 * MIB));
	residency_remove(&r, BASE + 5 * MIB + 1);
	residency_remove(&r, BASE + 5 * MIB);
	CHECK(r.ranges.len == 4 && !residency_find(&r, BASE + 5 * MIB) &&
	      residency_find(&r, BASE + 7 * MIB));
	residency_fini(&r);
}

int main(void)
{
	test_growth();
	test_half();
	test_middle();
	test_advice();
	test_thrashing();
	test_ranges();
	return check_done();
}
