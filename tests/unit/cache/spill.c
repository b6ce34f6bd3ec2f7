/*
 * What is counted does not depend on where records are kept: in memory, in a file, and in a few
 * blocks of memory and the file; with shapes that come again and others that are written in their
 * place. And what cannot be kept is said.
 */
#include "src/cache/second.h"
#include "tests/check.h"

#define WARPS 3u
#define CTAS 2u

static u64 next_random(u64 *x)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return *x >> 33;
}

static const u8 kinds[] = {CACHE_LOAD, CACHE_STORE, CACHE_ATOM,       CACHE_RED,
			   CACHE_COPY, CACHE_LOAD,  CACHE_LOCAL_LOAD, CACHE_CONSTANT};

/* An access of the warp: in line, or of lanes that are scattered. */
static void record_access(struct cache_trace *t, u32 w, u64 *x, bool scattered)
{
	static struct cache_shape s;
	u32 mask = scattered ? (u32)(next_random(x) | 1) : ~0u;
	u64 address[32], base = next_random(x) % (1u << 22);

	s.kind = kinds[next_random(x) % ARRAY_LEN(kinds)];
	s.pc = (u32)(next_random(x) % 5);
	s.policy = (struct cache_policy){.class = L2_NORMAL};
	for (u32 l = 0; l < 32; l++)
		address[l] = scattered ? next_random(x) % (1u << 23) : base + 4 * l;
	if (s.kind == CACHE_CONSTANT)
		cache_shape_constant(&s, address, mask);
	else if (s.kind == CACHE_LOCAL_LOAD)
		cache_shape_local(&s, address, mask, 8, 1 << 20);
	else
		cache_shape_global(&s, address, mask, 1u << next_random(x) % 5, next_random(x) & 1);
	cache_trace_add(t, w, &s);
}

static void record_mark(struct cache_trace *t, u32 w, u8 kind)
{
	static struct cache_shape s;

	s.kind = kind;
	cache_trace_add(t, w, &s);
}

static struct cache_trace *record(struct cache_shapes *shapes, struct cache_spill *spill,
				  u32 accesses, bool scattered)
{
	struct cache_trace *t = cache_trace_new(0, WARPS, shapes);
	u64 x = 1;

	if (!CHECK(t))
		return NULL;
	t->spill = spill;
	for (u32 i = 0; i < accesses; i++)
		for (u32 w = 0; w < WARPS; w++) {
			record_access(t, w, &x, scattered && (i + w) % 3);
			if (i % 500 == 499)
				record_mark(t, w, CACHE_BARRIER);
			if (i % 1000 == 7 && !w)
				record_mark(t, w, CACHE_FLUSH);
		}
	return t;
}

/* false: not all was kept. */
static bool play(u64 most, bool has_file, u32 accesses, bool scattered, struct cache_counts *sum)
{
	static const struct l1_rules first = {.lines = 200, .rows = 8, .keeps_hit = true};
	static const struct l2_rules second = {
		.bytes = 1 << 20, .partitions = 2, .fetch_bytes = 64, .joins = 1};
	struct cache_trace *t[CTAS] = {0};
	struct cache_shapes shapes;
	struct cache_spill spill;
	struct second *asks;
	struct cache_sm sm;
	struct l2 l2;
	bool ok = cache_shapes_init(&shapes) && cache_sm_init(&sm, &first) && l2_init(&l2, &second);

	CHECK(ok);
	cache_spill_init(&spill, most);
	spill.failed = !has_file;
	cache_sm_begin(&sm);
	for (u32 i = 0; i < CTAS; i++)
		ok &= (t[i] = record(&shapes, &spill, accesses, scattered)) != NULL;
	if (ok) {
		cache_sm_start(&sm, t, CTAS);
		asks = second_new(&l2, &(struct cache_tally){0});
		cache_play_round(asks, &sm, 1);
		second_free(asks);
		cache_sm_stop(&sm);
	}
	*sum = sm.count;
	sum->l2 = l2.count;
	ok &= !sm.is_cut;
	for (u32 i = 0; i < CTAS; i++)
		cache_trace_free(t[i]);
	CHECK_MSG(!spill.kept && spill.free.len == spill.end, "nothing is left");
	cache_spill_fini(&spill);
	cache_shapes_fini(&shapes);
	cache_sm_fini(&sm);
	l2_fini(&l2);
	return ok;
}

static void test_places(u32 accesses, bool scattered, const char *what)
{
	static const u64 most[] = {0, SPILL_BLOCK_BYTES, 3 * SPILL_BLOCK_BYTES};
	struct cache_counts all, some;

	CHECK_MSG(play(UINT64_MAX, false, accesses, scattered, &all), what);
	CHECK(all.l1[CACHE_LOAD].requests && all.l1[CACHE_ATOM].sectors && all.constant_miss &&
	      all.l2.dram_read);
	for (u32 i = 0; i < ARRAY_LEN(most); i++) {
		CHECK_MSG(play(most[i], true, accesses, scattered, &some), what);
		CHECK_MSG(!memcmp(&all, &some, sizeof(all)), what);
	}
	CHECK_MSG(!play(0, false, accesses, scattered, &some), "no room for all of it");
}

int main(void)
{
	test_places(10000, false, "in line");
	test_places(2500, true, "scattered");
	return check_done();
}
