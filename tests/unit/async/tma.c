/*
 * Tensor copies against the plain formula: tiles that hang over the edge, swizzles, stores,
 * reductions, four rows gathered and scattered; and what else came with sm_100: bulk copies with a
 * mask, asynchronous stores with release; cache policies.
 */
#include "src/async/tensor.h"
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"

#define WIDTH 32u  /* words of a row in memory */
#define COLUMNS 20 /* of the tensor */
#define ROWS 30
#define WORDS 1024u

#define HEAD ".version 9.0\n.target sm_100a\n.address_size 64\n"
/* i, o = buffers, f, g = maps of them; t = thread of 128; s = tile in shared memory with 9000 + t
 * at word t; m = an mbarrier. */
#define KERNEL(body)                                                                                         \
	HEAD ".visible .entry k(.param .u64 pi, .param .u64 po, .param .u64 pf, .param .u64 pg)\n{\n"        \
	     ".reg .pred p, q; .reg .b32 t, a, m, v<8>, n; .reg .b16 h; .reg .b64 i, o, f, g, x, y;\n"       \
	     ".shared .align 1024 .b8 s[2048]; .shared .align 8 .b64 mb;\n"                                  \
	     "ld.param.u64 i, [pi]; ld.param.u64 o, [po]; ld.param.u64 f, [pf]; ld.param.u64 g, [pg];\n"     \
	     "mov.u32 t, %tid.x; mov.u32 a, s; mad.lo.u32 a, t, 4, a; mov.u32 m, mb; setp.ne.u32 p, t, 0;\n" \
	     "add.u32 v0, t, 9000; st.shared.u32 [a], v0; mad.wide.u32 y, t, 4, o; mov.u32 n, s;\n"          \
	     "@!p mbarrier.init.shared.b64 [m], 1; fence.proxy.async; bar.sync 0;\n" body                    \
	     "END: ret;\n}\n"
#define LOAD(bytes, copy)                                                                              \
	KERNEL("@p bra W; mbarrier.arrive.expect_tx.shared.b64 _, [m], " bytes "; " copy ";\n"         \
	       "W: mbarrier.try_wait.parity.shared.b64 q, [m], 0; @!q bra W; ld.shared.u32 v0, [a];\n" \
	       "st.global.u32 [y], v0;\n")
#define STORE(copy)                                                                                \
	KERNEL("@p bra END; " copy "; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n")

static const char *level;

struct shape {
	u32 box[2], swizzle;
};

static u64 make_map(struct harness *h, u64 address, const struct shape *s)
{
	const struct tensor_shape t = {
		.address = address,
		.dim = {COLUMNS, ROWS},
		.stride = {WIDTH * 4},
		.type = TENSOR_U32,
		.rank = 2,
		.box = {s->box[0], s->box[1]},
		.step = {1, 1},
		.swizzle = s->swizzle,
	};
	u64 at = mem_alloc(&h->mem, TENSOR_MAP_BYTES, 128, MEM_KIND_DEVICE);

	CHECK(tensor_encode((struct tensor_map *)(uintptr_t)at, &t));
	return at;
}

static u32 value(u32 row, u32 column)
{
	return 1000 * row + column;
}

/* `in` holds value(row, column), `out` ones; both maps have this shape. */
static enum exec_stop run(const char *ptx, const struct shape *s, u32 *out)
{
	struct {
		u64 in, out, from, to;
	} params;
	struct harness h;
	enum exec_stop stop;

	if (!CHECK_MSG(harness_open(&h, ptx), "the kernel is read"))
		return STOP_NONE;
	h.turns = 2000;
	params.in = mem_alloc(&h.mem, WORDS * 4, 0, MEM_KIND_DEVICE);
	params.out = mem_alloc(&h.mem, WORDS * 4, 0, MEM_KIND_DEVICE);
	for (u32 i = 0; i < WORDS; i++) {
		((u32 *)(uintptr_t)params.in)[i] = value(i / WIDTH, i % WIDTH);
		((u32 *)(uintptr_t)params.out)[i] = 1;
	}
	params.from = make_map(&h, params.in, s);
	params.to = make_map(&h, params.out, s);
	stop = harness_run(&h, "k", 1, 128, &params, level);
	memcpy(out, (void *)(uintptr_t)params.out, WORDS * 4);
	harness_close(&h);
	return stop;
}

static u32 inside(s32 row, s32 column)
{
	return row >= 0 && row < ROWS && column >= 0 && column < COLUMNS
		       ? value((u32)row, (u32)column)
		       : 0;
}

static void test_tile(void)
{
	static const char ptx[] = LOAD(
		"128",
		"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
		" [n], [f, {-4, 28}], [m]");
	u32 out[WORDS];
	bool good = true;

	CHECK_EQ(run(ptx, &(struct shape){{8, 4}, 0}, out), STOP_DONE);
	for (u32 t = 0; t < 128; t++)
		good &= out[t] == (t < 32 ? inside(28 + (s32)(t / 8), (s32)(t % 8) - 4) : 9000 + t);
	CHECK(good);
}

/* A piece of 16 bytes changes places with others of its row, by the number of the row. */
static void test_swizzle(void)
{
	static const char ptx[] = LOAD(
		"512",
		"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
		" [n], [f, {0, 5}], [m]");
	u32 out[WORDS];
	bool good = true;

	CHECK_EQ(run(ptx, &(struct shape){{32, 4}, 3}, out), STOP_DONE);
	for (u32 t = 0; t < 128; t++) {
		u32 row = t / 32, piece = t % 32 / 4 ^ (row & 7);

		good &= out[t] == inside(5 + (s32)row, (s32)(piece * 4 + t % 4));
	}
	CHECK(good);
}

static void test_store(void)
{
	static const char *const ptx[] = {
		STORE("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [g, {16, 27}], [n]"),
		STORE("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [g, {16, 27}], [n]")};
	u32 out[WORDS];

	for (u32 k = 0; k < 2; k++) {
		bool good = true;

		CHECK_EQ(run(ptx[k], &(struct shape){{8, 4}, 0}, out), STOP_DONE);
		for (u32 i = 0; i < WORDS; i++) {
			u32 r = i / WIDTH, c = i % WIDTH;
			bool in = r >= 27 && r < ROWS && c >= 16 && c < COLUMNS;

			good &= out[i] == (in ? 9000 + 8 * (r - 27) + c - 16 + k : 1);
		}
		CHECK(good);
	}
}

static void test_four(void)
{
	static const char *const gather[] = {
		LOAD("128", "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4"
			    ".mbarrier::complete_tx::bytes [n], [f, {16, 3, 29, 0, 77}], [m]"),
		LOAD("128", "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4"
			    ".mbarrier::complete_tx::bytes [n], [f, {16, 3, 29, 0, 77}], [m]")};
	static const char scatter[] = STORE(
		"cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [g, {4, 7, 30, 0, 12}], [n]");
	static const s32 from[] = {3, 29, 0, 77}, to[] = {7, 30, 0, 12};
	const struct shape one = {{8, 1}, 0};
	u32 out[WORDS], want[WORDS];
	bool good = true;

	for (u32 k = 0; k < 2; k++) {
		CHECK_EQ(run(gather[k], &one, out), STOP_DONE);
		for (u32 t = 0; t < 32; t++)
			good &= out[t] == inside(from[t / 8], 16 + (s32)(t % 8));
		CHECK(good && out[32] == 9032);
	}
	CHECK_EQ(run(scatter, &one, out), STOP_DONE);
	for (u32 i = 0; i < WORDS; i++)
		want[i] = 1;
	for (u32 t = 0; t < 32; t++)
		if (to[t / 8] < ROWS)
			want[(u32)to[t / 8] * WIDTH + 4 + t % 8] = 9000 + t;
	CHECK(!memcmp(out, want, sizeof(out)));
	/* Four rows need a map with a box of one. */
	CHECK_EQ(run(gather[0], &(struct shape){{8, 2}, 0}, out), STOP_FAULT);
}

static void test_mask(void)
{
	static const char ptx[] =
		STORE("mov.u16 h, 0xf00e;"
		      "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [o], [n], 64, h");
	u32 out[WORDS];
	bool good = true;

	CHECK_EQ(run(ptx, &(struct shape){{8, 4}, 0}, out), STOP_DONE);
	for (u32 i = 0; i < 16; i++)
		good &= out[i] == (i % 4 == 3   ? 9000 + i
				   : i % 4 == 0 ? ((9000 + i) & 0xffffff00) | 1
						: 1);
	CHECK(good && out[16] == 1 && out[19] == 1);
}

static void test_release(void)
{
	static const char ptx[] = KERNEL("st.async.mmio.release.sys.global.u32 [y], t;\n"
					 "red.async.mmio.release.sys.global.add.u32 [y], 5;\n"
					 "red.async.release.gpu.global.max.s32 [o+4092], t;\n");
	u32 out[WORDS];
	bool good = true;

	CHECK_EQ(run(ptx, &(struct shape){{8, 4}, 0}, out), STOP_DONE);
	for (u32 t = 0; t < 128; t++)
		good &= out[t] == t + 5;
	CHECK(good && out[1023] == 127);
}

/* Policies are values: equal ones are equal, and caches ask for nothing else. */
static void test_policies(void)
{
	static const char ptx[] = KERNEL(
		"@p bra END; createpolicy.fractional.L2::evict_last.b64 x, 1.0;\n"
		"createpolicy.fractional.L2::evict_last.b64 y, 1.0; setp.eq.u64 q, x, y;\n"
		"selp.u32 v0, 1, 0, q;\n"
		"createpolicy.fractional.L2::evict_first.b64 y, 0.5; setp.eq.u64 q, x, y;\n"
		"selp.u32 v1, 1, 0, q;\n"
		"createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 y, [i], 128, 256;\n"
		"setp.eq.u64 q, x, y; selp.u32 v2, 1, 0, q; ld.global.L2::cache_hint.u32 v3, [i+128], y;\n"
		"applypriority.global.L2::evict_normal [i], 128; discard.global.L2 [i+256], 128;\n"
		"st.global.v4.u32 [o], {v0, v1, v2, v3};\n");
	u32 out[WORDS];

	CHECK_EQ(run(ptx, &(struct shape){{8, 4}, 0}, out), STOP_DONE);
	CHECK(out[0] == 1 && out[1] == 0 && out[2] == 0 && out[3] == value(1, 0));
}

/* No device here has multicast objects: the instruction faults when it is reached, not before. */
static void test_multimem(void)
{
	static const char ptx[] = KERNEL("setp.lt.u32 q, t, 128; @q bra END;\n"
					 "multimem.red.relaxed.sys.global.add.u32 [o], 1;\n");
	static const char reached[] = KERNEL("multimem.red.relaxed.sys.global.add.u32 [o], 1;\n");
	u32 out[WORDS];

	CHECK_EQ(run(ptx, &(struct shape){{8, 4}, 0}, out), STOP_DONE);
	CHECK_EQ(run(reached, &(struct shape){{8, 4}, 0}, out), STOP_FAULT);
}

int main(void)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};

	for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
		level = levels[i];
		if (!check_level(exec_ops_select(level), level))
			continue;
		test_tile();
		test_swizzle();
		test_store();
		test_four();
		test_mask();
		test_release();
		test_policies();
		test_multimem();
	}
	return check_done();
}
