/*
 * Whole kernels against what an H100 counted for them with Nsight Compute 2025.3, caches flushed
 * before each. The addresses are those of the kernels' loops, unrolled by four as the compiler did;
 * CTAs go to the SMs in turn.
 */
#include "src/cache/second.h"
#include "tests/check.h"

#define SMS 132u
#define RESIDENT 8u
#define IN ((u64)0)
#define SECOND ((u64)64 << 20)
#define OUT ((u64)128 << 20)
#define INDEX ((u64)200 << 20)
#define UNROLL 4u

struct kernel;

/* The addresses of a warp's step; how many, and whether it stores. false: the warp has ended. */
typedef bool step_fn(const struct kernel *k, u32 cta, u32 warp, u32 step, u64 *address, u32 *len,
		     bool *store);

struct kernel {
	const char *name;
	step_fn *step;
	u32 n, ctas, warps, block_x, block_y, grid_x;
	u32 carveout_kib;
	/* measured */
	double load_hits; /* share of the sectors */
	u64 read_sectors, dram_sectors;
	/* what may be off: of the hits, of the sectors */
	double hits_off, read_off;
};

static u32 shuffled[1 << 20];

static u64 x_of(const struct kernel *k, u32 cta, u32 thread)
{
	return (u64)(cta % k->grid_x) * k->block_x + thread % k->block_x;
}

static u64 y_of(const struct kernel *k, u32 cta, u32 thread)
{
	return (u64)(cta / k->grid_x) * k->block_y + thread / k->block_x;
}

static bool sgemm(const struct kernel *k, u32 cta, u32 warp, u32 step, u64 *address, u32 *len,
		  bool *store)
{
	u32 i = step / (2 * UNROLL) * UNROLL + step % UNROLL;
	bool second = step % (2 * UNROLL) >= UNROLL;

	*store = step == 2 * k->n;
	*len = 32;
	for (u32 l = 0; l < 32; l++) {
		u64 x = x_of(k, cta, warp * 32 + l), y = y_of(k, cta, warp * 32 + l);

		address[l] = *store   ? OUT + 4 * (y * k->n + x)
			     : second ? SECOND + 4 * ((u64)i * k->n + x)
				      : IN + 4 * (y * k->n + i);
	}
	return step <= 2 * k->n;
}

static bool transpose(const struct kernel *k, u32 cta, u32 warp, u32 step, u64 *address, u32 *len,
		      bool *store)
{
	*store = step >= 4;
	*len = 32;
	for (u32 l = 0; l < 32; l++) {
		u64 x = (u64)(cta % k->grid_x) * 32 + l, j = step % 4 * 8;
		u64 y = (u64)(cta / k->grid_x) * 32 + warp + j;

		address[l] = *store ? SECOND + 4 * (x * k->n + y) : IN + 4 * (y * k->n + x);
	}
	return step < 8;
}

static bool stencil(const struct kernel *k, u32 cta, u32 warp, u32 step, u64 *address, u32 *len,
		    bool *store)
{
	s64 n = k->n, off[] = {0, -1, 1, -n, n, 0};

	*store = step == 5;
	*len = 0;
	for (u32 l = 0; step < 6 && l < 32; l++) {
		s64 x = (s64)(cta % k->grid_x) * 32 + l, y = (s64)(cta / k->grid_x) * 8 + warp;

		if (x >= 1 && y >= 1 && x < n - 1 && y < n - 1)
			address[(*len)++] =
				(*store ? SECOND : IN) + 4 * (u64)(y * n + x + off[step]);
	}
	return step < 6;
}

static bool convolution(const struct kernel *k, u32 cta, u32 warp, u32 step, u64 *address, u32 *len,
			bool *store)
{
	(void)k;
	*store = step == 17;
	*len = 32;
	for (u32 l = 0; l < 32; l++) {
		u64 i = (u64)cta * 256 + warp * 32 + l;

		address[l] = *store ? OUT + 4 * i : IN + 4 * (i + step);
	}
	return step < 18;
}

static bool matvec(const struct kernel *k, u32 cta, u32 warp, u32 step, u64 *address, u32 *len,
		   bool *store)
{
	u32 i = step / (2 * UNROLL) * UNROLL + step % UNROLL;
	bool second = step % (2 * UNROLL) >= UNROLL;

	*store = step == 2 * k->n;
	*len = 32;
	for (u32 l = 0; l < 32; l++) {
		u64 row = (u64)cta * k->block_x + warp * 32 + l;

		address[l] = *store   ? OUT + 4 * row
			     : second ? SECOND + 4 * (u64)i
				      : IN + 4 * (row * k->n + i);
	}
	return step <= 2 * k->n;
}

static bool gather(const struct kernel *k, u32 cta, u32 warp, u32 step, u64 *address, u32 *len,
		   bool *store)
{
	(void)k;
	*store = step == 2;
	*len = 32;
	for (u32 l = 0; l < 32; l++) {
		u64 i = (u64)cta * 256 + warp * 32 + l;

		address[l] = step == 0 ? INDEX + 4 * i
			     : *store  ? OUT + 4 * i
				       : IN + 4ull * shuffled[i];
	}
	return step < 3;
}

/* From kernels measured with 73 counters each. */
static const struct kernel kernels[] = {
	{"sgemm 256", sgemm, 256, 256, 8, 16, 16, 16, 32, .8787, 254464, 16384, .01, .04},
	{"sgemm 512, 32x8", sgemm, 512, 1024, 8, 32, 8, 16, 32, .9208, 1660259, 65536, .01, .05},
	{"transpose 1024", transpose, 1024, 1024, 8, 32, 8, 32, 32, 0, 131072, 131072, .001, .001},
	{"stencil 1024", stencil, 1024, 4096, 8, 32, 8, 32, 32, .6840, 226722, 131072, .01, .01},
	{"stencil 2048", stencil, 2048, 16384, 8, 32, 8, 64, 32, .6832, 911440, 524288, .01, .01},
	{"convolution", convolution, 0, 4096, 8, 256, 1, 1, 32, .9482, 139264, 131074, .001, .001},
	{"matvec 4096x1024", matvec, 1024, 16, 8, 256, 1, 1, 32, .8783, 526336, 524416, .001, .001},
	{"matvec 16896x256", matvec, 256, 132, 4, 128, 1, 1, 32, .8778, 544896, 540704, .001, .001},
	{"gather of 4 MiB", gather, 0, 4096, 8, 256, 1, 1, 32, .038, 1135032, 262144, .04, .04},
};

static struct cache_trace *trace_of(const struct kernel *k, struct cache_shapes *shapes, u32 cta)
{
	static struct cache_shape shape;
	struct cache_trace *t = cache_trace_new(cta, k->warps, shapes);
	u64 address[32];
	u32 len = 0;
	bool store;

	for (u32 w = 0; t && w < k->warps; w++)
		for (u32 s = 0; k->step(k, cta, w, s, address, &len, &store); s++) {
			if (!len)
				continue;
			shape.kind = store ? CACHE_STORE : CACHE_LOAD;
			shape.policy = (struct cache_policy){.class = L2_NORMAL};
			shape.pc = s < 64 ? s : 64;
			cache_shape_global(&shape, address, len == 32 ? ~0u : (1u << len) - 1, 4,
					   false);
			cache_trace_add(t, w, &shape);
		}
	return t;
}

/* The CTAs that the SM holds in its n-th round. */
static u32 start_round(const struct kernel *k, struct cache_shapes *shapes, struct cache_sm *sm,
		       u32 index, u32 round, struct cache_trace **t)
{
	u32 len = 0;

	for (u32 q = 0; q < RESIDENT; q++) {
		u32 cta = (round * RESIDENT + q) * SMS + index;

		if (cta < k->ctas)
			t[len++] = trace_of(k, shapes, cta);
	}
	if (len)
		cache_sm_start(sm, t, len);
	return len;
}

static void play_round(const struct kernel *k, struct second *asks, struct cache_sm *sm, u32 round)
{
	static struct cache_trace *t[SMS * RESIDENT];
	struct cache_shapes shapes;
	u32 len = 0;

	if (!CHECK(cache_shapes_init(&shapes)))
		return;
	for (u32 i = 0; i < SMS; i++)
		len += start_round(k, &shapes, &sm[i], i, round, t + len);
	cache_play_round(asks, sm, SMS);
	for (u32 i = 0; i < SMS; i++)
		cache_sm_stop(&sm[i]);
	for (u32 i = 0; i < len; i++)
		cache_trace_free(t[i]);
	cache_shapes_fini(&shapes);
}

static bool near(double got, double want, double off)
{
	return got - want <= off && want - got <= off;
}

#define UOPS 65u /* what trace_of numbers */

/* By a team of so many; what it counts, and by micro-op. */
static void play_kernel(const struct kernel *k, struct cache_sm *sm, struct l2 *l2, u32 members,
			struct cache_counts *sum, struct cache_insn insn[UOPS])
{
	struct team *team = members > 1 ? team_new(members) : NULL;
	struct second *asks =
		second_new(l2, &(struct cache_tally){.insns = insn, .uops = UOPS, .team = team});

	CHECK(asks && team_members(team) == members);
	l2_reset(l2);
	l2->count = (struct l2_counts){0};
	for (u32 i = 0; i < SMS; i++)
		cache_sm_begin(&sm[i]);
	for (u32 round = 0; round * RESIDENT * SMS < k->ctas; round++)
		play_round(k, asks, sm, round);
	second_free(asks);
	team_free(team);
	for (u32 i = 0; i < SMS; i++)
		cache_counts_add(sum, &sm[i].count);
	sum->l2 = l2->count;
}

static void test_kernel(const struct kernel *k, struct cache_sm *sm, struct l2 *l2)
{
	struct cache_counts sum = {0}, again = {0};
	struct cache_insn insn[UOPS] = {0}, insn_again[UOPS] = {0};
	const struct l1_counts *ld = &sum.l1[CACHE_LOAD];
	double hits;

	play_kernel(k, sm, l2, 1, &sum, insn);
	play_kernel(k, sm, l2, 3, &again, insn_again);
	CHECK_MSG(!memcmp(&sum, &again, sizeof(sum)), "a team counts the same");
	CHECK_MSG(insn[0].second && !memcmp(insn, insn_again, sizeof(insn)), "by micro-op, too");
	hits = (double)ld->hit / (double)ld->sectors;
	printf("# %-18s hits %.4f (%.4f), from the second cache %llu (%llu), of DRAM %llu (%llu)\n",
	       k->name, hits, k->load_hits, (unsigned long long)sum.read_sectors,
	       (unsigned long long)k->read_sectors, (unsigned long long)sum.l2.dram_read,
	       (unsigned long long)k->dram_sectors);
	CHECK_MSG(near(hits, k->load_hits, k->hits_off), "loads hit as measured");
	CHECK_MSG(near((double)sum.read_sectors / (double)k->read_sectors, 1, k->read_off),
		  "as many sectors come from the second cache");
	CHECK_MSG(near((double)sum.l2.dram_read / (double)k->dram_sectors, 1, .01),
		  "as many come from DRAM");
}

int main(void)
{
	static struct cache_sm sm[SMS];
	struct l2_rules second = {50u << 20, 2, 64, 0, 1};
	struct l1_rules first = {(256 - 32 - 7) * 8, 256, true, true};
	struct l2 l2;
	u32 s = 12345;

	for (u32 i = 0; i < ARRAY_LEN(shuffled); i++) {
		s = s * 1664525u + 1013904223u;
		shuffled[i] = s >> 8 & (ARRAY_LEN(shuffled) - 1);
	}
	if (!CHECK(l2_init(&l2, &second)))
		return check_done();
	for (u32 i = 0; i < SMS; i++)
		if (!cache_sm_init(&sm[i], &first))
			return 1;
	for (u32 i = 0; i < ARRAY_LEN(kernels); i++)
		test_kernel(&kernels[i], sm, &l2);
	for (u32 i = 0; i < SMS; i++)
		cache_sm_fini(&sm[i]);
	l2_fini(&l2);
	return check_done();
}
