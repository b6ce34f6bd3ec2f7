/* src/mem: which accesses outside allocations pass, strictly and as on hardware. */
#include "src/mem/mem.h"
#include "tests/check.h"

static enum mem_found fill(struct mem *m, u64 at, u64 size)
{
	struct mem_cache c = {0};
	enum mem_found found = mem_cache_fill(m, &c, at, size, MEM_READ);

	return found && mem_cache_hit(&c, at, size) ? found : MEM_FOUND_NONE;
}

static void test_strict(struct mem *m, u64 at)
{
	m->strict = true;
	CHECK(fill(m, at, 1024));
	CHECK(!fill(m, at + 1024, 4));
	CHECK(!fill(m, at + 1022, 4));
}

static void test_pages(struct mem *m, u64 at)
{
	u64 page_end = align_up(at + 1024, MEM_PAGE);

	m->strict = false;
	CHECK(fill(m, at + 1020, 4) == MEM_FOUND);
	CHECK(fill(m, at + 1024, 4) == MEM_FOUND_OVERRUN);
	CHECK(fill(m, at + 1022, 4) == MEM_FOUND_OVERRUN);
	CHECK(fill(m, page_end - 4, 4));
	*(volatile u32 *)(uintptr_t)(page_end - 4) = 1;
	CHECK(!fill(m, page_end, 4));
	CHECK(!fill(m, page_end - 4, 8));
	CHECK(!fill(m, 0, 4));
	CHECK(!fill(m, UINT64_MAX - 3, 4));
	CHECK(!fill(m, m->shared_base, 4));
}

/* A page whose last allocation has been freed is gone. */
static void test_freed(struct mem *m, u64 at)
{
	CHECK(mem_free(m, at));
	CHECK(!fill(m, at, 4));
	CHECK(!fill(m, at + 1024, 4));
}

/* Ranges that are put in by hand: none that is empty, wraps around or overlaps another one. */
static void test_inserted(struct mem *m, u64 at)
{
	u64 end = at + 1024;

	CHECK(!mem_insert(m, (struct mem_range){.base = end, .size = 0}));
	CHECK(!mem_insert(m, (struct mem_range){.base = UINT64_MAX - 15, .size = 32}));
	CHECK(!mem_insert(m, (struct mem_range){.base = end - 1, .size = 16}));
	CHECK(!mem_insert(m, (struct mem_range){.base = at - 1, .size = 2}));
	CHECK(!mem_insert(m, (struct mem_range){.base = at, .size = 1024}));
	CHECK(mem_insert(m, (struct mem_range){.base = end, .size = 16, .kind = MEM_KIND_DEVICE}));
	m->strict = true;
	CHECK(fill(m, end, 16));
	CHECK(!fill(m, end, 17));
}

/*
 * No two of them touch, freed ones that are remembered included: an access past an end finds
 * nothing.
 */
static bool are_apart(const struct mem *m)
{
	for (u32 i = 1; i < m->len; i++)
		if (m->ranges[i - 1].base + m->ranges[i - 1].size + MEM_ALIGN > m->ranges[i].base)
			return false;
	return true;
}

/*
 * Until all addresses have been handed out several times, and what was freed is used again in part.
 */
static void test_gaps(void)
{
	u64 at[40] = {0}, state = 1;
	u32 touching = 0, failed = 0;
	struct mem m;

	if (!CHECK(mem_init(&m, (u64)1 << 30)))
		return;
	for (u32 i = 0; i < 20000; i++) {
		u32 k;

		state = state * 6364136223846793005u + 1442695040888963407u;
		k = (u32)(state >> 33) % ARRAY_LEN(at);
		if (at[k]) {
			mem_free(&m, at[k]);
			at[k] = 0;
			continue;
		}
		/* Or as much as a hole and the gap beside it. */
		at[k] = mem_alloc(
			&m, ((u64)MEM_ALIGN << (state >> 40) % 17) + (state >> 62) * MEM_ALIGN,
			MEM_ALIGN, MEM_KIND_DEVICE);
		failed += !at[k];
		touching += !are_apart(&m);
	}
	CHECK(failed < 1000);
	CHECK_EQ(touching, 0);
	mem_fini(&m);
}

/* What is allocated or charged counts against the limit to the byte, until it is given up. */
static void test_limit(void)
{
	const u64 limit = (u64)1 << 20;
	struct mem m;
	u64 at;

	if (!CHECK(mem_init(&m, limit)))
		return;
	CHECK_EQ(mem_left(&m), limit);
	CHECK(!mem_charge(&m, limit + 1));
	CHECK(mem_charge(&m, limit));
	CHECK_EQ(mem_left(&m), 0);
	CHECK(!mem_charge(&m, 1));
	CHECK(!mem_alloc(&m, 1, 0, MEM_KIND_DEVICE));
	mem_discharge(&m, 3000);
	at = mem_alloc(&m, 0, 0, MEM_KIND_DEVICE);
	CHECK(at && mem_left(&m) == 2999);
	CHECK(!mem_alloc(&m, 3000, 0, MEM_KIND_DEVICE));
	CHECK(mem_free(&m, at) && !mem_free(&m, at));
	CHECK_EQ(mem_left(&m), 3000);
	at = mem_alloc(&m, 3000, 0, MEM_KIND_DEVICE);
	CHECK(at && !mem_left(&m));
	mem_fini(&m);
}

int main(void)
{
	struct mem m;
	u64 at;

	if (!CHECK(mem_init(&m, (u64)1 << 30)))
		return check_done();
	at = mem_alloc(&m, 1024, 512, MEM_KIND_DEVICE);
	if (CHECK(at != 0)) {
		test_strict(&m, at);
		test_pages(&m, at);
		test_freed(&m, at);
	}
	at = mem_alloc(&m, 1024, 512, MEM_KIND_DEVICE);
	if (CHECK(at != 0))
		test_inserted(&m, at);
	mem_fini(&m);
	test_gaps();
	test_limit();
	return check_done();
}
