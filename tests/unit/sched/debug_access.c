/*
 * Memory accesses that are reported to a debugger: for each kind of instruction exactly the bytes
 * that it reads and writes, in the spaces where they lie, and the lanes.
 */
#include "src/async/tensor.h"
#include "src/exec/lane_access.h"
#include "tests/check.h"
#include "tests/unit/debug_run.h"

#define BYTES 4096u
#define THREADS 128u
#define TEXT "text %d\n"

#define HEAD ".version 9.0\n.target sm_100a\n.address_size 64\n"
#define HEAD_90A ".version 8.4\n.target sm_90a\n.address_size 64\n"
/*
 * o = a buffer, f = a map of it, t = thread; s = shared memory, offset 0, n = its address, m = the
 * mbarrier at 2048. `body` is the instruction under test, made by lane 0 or by all.
 */
#define KERNEL(head, body, after)                                                                                 \
	head ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"                             \
	     ".global .align 1 .b8 format[9] = {116, 101, 120, 116, 32, 37, 100, 10, 0};\n"                       \
	     ".visible .entry k(.param .u64 po, .param .u64 pf)\n{\n"                                             \
	     ".reg .pred p, q; .reg .b32 t, n, m, w, z<8>; .reg .b16 h; .reg .f32 d<64>; .reg .b64 o, f, x, y;\n" \
	     ".shared .align 1024 .b8 s[2048]; .shared .align 8 .b64 mb;\n"                                       \
	     ".local .align 8 .b8 depot[16];\n"                                                                   \
	     "ld.param.u64 o, [po]; ld.param.u64 f, [pf]; mov.u32 t, %tid.x; mov.u32 n, s;\n"                     \
	     "mov.u32 m, mb; mov.u32 w, 7; setp.ne.u32 p, t, 0; @p bra READY;\n"                                  \
	     "mbarrier.init.shared.b64 [m], 1; READY: bar.sync 0;\n" body "\n" after "ret;\n}\n"
#define LONE(body) KERNEL(HEAD, "@p bra END;\n" body, "END: bar.sync 0;\n")
#define WARP(body) KERNEL(HEAD, "setp.ge.u32 p, t, 32; @p bra END;\n" body, "END: bar.sync 0;\n")
#define LAND "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END: bar.sync 0;\n"
#define REGS8 "{d0, d1, d2, d3, d4, d5, d6, d7}"

enum { READS, WRITES };

/* Bytes from `first` to `end`, `times` times, each `step` after the one before. */
struct stretch {
	u8 how;
	u8 space; /* enum mem_space; of global memory from the buffer on */
	u8 cta;
	u32 first, end, times, step;
};

struct sample {
	const char *name, *ptx, *at; /* the instruction's text */
	u32 lanes;
	u32 cluster;
	struct stretch stretch[6];
};

static const struct sample samples[] = {
	{"a bulk copy to shared memory",
	 LONE("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [n+256], [o+64], 128, [m];"),
	 "cp.async.bulk.shared",
	 1,
	 0,
	 {{READS, MEM_GLOBAL, 0, 64, 192, 1, 0},
	  {WRITES, MEM_SHARED, 0, 256, 384, 1, 0},
	  {WRITES, MEM_SHARED, 0, 2048, 2056, 1, 0}}},
	{"a bulk copy to global memory",
	 KERNEL(HEAD,
		"@p bra END;\ncp.async.bulk.global.shared::cta.bulk_group [o+512], [n+32], 64;",
		LAND),
	 "cp.async.bulk.global",
	 1,
	 0,
	 {{READS, MEM_SHARED, 0, 32, 96, 1, 0}, {WRITES, MEM_GLOBAL, 0, 512, 576, 1, 0}}},
	{"a bulk copy of some bytes",
	 KERNEL(HEAD,
		"@p bra END; mov.b32 z0, 6; cvt.u16.u32 h, z0;\n"
		"cp.async.bulk.global.shared::cta.bulk_group.cp_mask [o+512], [n], 32, h;",
		LAND),
	 "cp.async.bulk.global",
	 1,
	 0,
	 {{READS, MEM_SHARED, 0, 0, 32, 1, 0}, {WRITES, MEM_GLOBAL, 0, 513, 515, 2, 16}}},
	{"a bulk reduction",
	 KERNEL(HEAD,
		"@p bra END;\ncp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [o], [n], 16;",
		LAND),
	 "cp.reduce",
	 1,
	 0,
	 {{READS, MEM_SHARED, 0, 0, 16, 1, 0},
	  {READS, MEM_GLOBAL, 0, 0, 16, 1, 0},
	  {WRITES, MEM_GLOBAL, 0, 0, 16, 1, 0}}},
	{"a bulk copy to several CTAs",
	 LONE("mov.u32 z0, %cluster_ctarank; setp.ne.u32 q, z0, 0; @q bra END; mov.b32 z1, 3; cvt.u16.u32 h, z1;\n"
	      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
	      ".multicast::cluster [n], [o], 16, [m], h;"),
	 "cp.async.bulk.shared",
	 1,
	 2,
	 {{READS, MEM_GLOBAL, 0, 0, 16, 1, 0},
	  {WRITES, MEM_SHARED, 0, 0, 16, 1, 0},
	  {WRITES, MEM_SHARED, 1, 0, 16, 1, 0},
	  {WRITES, MEM_SHARED, 0, 2048, 2056, 1, 0},
	  {WRITES, MEM_SHARED, 1, 2048, 2056, 1, 0}}},
	{"a tensor copy to shared memory",
	 LONE("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
	      " [n], [f, {16, 6}], [m];"),
	 "cp.async.bulk.tensor",
	 1,
	 0,
	 {{READS, MEM_GLOBAL, 0, 3840, 3968, 1, 0}, /* the map */
	  {READS, MEM_GLOBAL, 0, 6 * 128 + 64, 6 * 128 + 80, 2, 128},
	  {WRITES, MEM_SHARED, 0, 0, 128, 1, 0},
	  {WRITES, MEM_SHARED, 0, 2048, 2056, 1, 0}}},
	{"a tensor copy to global memory",
	 KERNEL(HEAD,
		"@p bra END;\ncp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [f, {0, 6}], [n];",
		LAND),
	 "cp.async.bulk.tensor",
	 1,
	 0,
	 {{READS, MEM_GLOBAL, 0, 3840, 3968, 1, 0},
	  {WRITES, MEM_GLOBAL, 0, 6 * 128, 6 * 128 + 32, 2, 128},
	  {READS, MEM_SHARED, 0, 0, 64, 1, 0}}},
	{"st.async",
	 LONE("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [n+40], {w, w}, [m];"),
	 "st.async",
	 1,
	 0,
	 {{WRITES, MEM_SHARED, 0, 40, 48, 1, 0}, {WRITES, MEM_SHARED, 0, 2048, 2056, 1, 0}}},
	{"red.async",
	 LONE("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [n+40], w, [m];"),
	 "red.async",
	 1,
	 0,
	 {{READS, MEM_SHARED, 0, 40, 44, 1, 0},
	  {WRITES, MEM_SHARED, 0, 40, 44, 1, 0},
	  {WRITES, MEM_SHARED, 0, 2048, 2056, 1, 0}}},
	{"a store to another CTA",
	 LONE("mov.u32 z0, %cluster_ctarank; setp.ne.u32 q, z0, 0; @q bra END; mapa.shared::cluster.u32 z1, n, 1;\n"
	      "st.shared::cluster.u32 [z1+12], w;"),
	 "st.shared::cluster",
	 1,
	 2,
	 {{WRITES, MEM_SHARED, 1, 12, 16, 1, 0}}},
	{"st.bulk",
	 LONE("st.bulk.weak.shared::cta [n+64], 32, 0;"),
	 "st.bulk",
	 1,
	 0,
	 {{WRITES, MEM_SHARED, 0, 64, 96, 1, 0}}},
	{"mbarrier.arrive",
	 LONE("mbarrier.arrive.shared.b64 _, [m];"),
	 "mbarrier.arrive",
	 1,
	 0,
	 {{READS, MEM_SHARED, 0, 2048, 2056, 1, 0}, {WRITES, MEM_SHARED, 0, 2048, 2056, 1, 0}}},
	{"mbarrier.test_wait",
	 LONE("mbarrier.test_wait.parity.shared.b64 q, [m], 0;"),
	 "mbarrier.test_wait",
	 1,
	 0,
	 {{READS, MEM_SHARED, 0, 2048, 2056, 1, 0}}},
	{"wmma.store",
	 WARP("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [n], " REGS8 ", 20;"),
	 "wmma.store",
	 FULL_MASK,
	 0,
	 {{WRITES, MEM_SHARED, 0, 0, 64, 16, 80}}},
	{"wmma.load",
	 WARP("wmma.load.c.sync.aligned.col.m16n16k16.global.f32 " REGS8 ", [o], 16;"),
	 "wmma.load",
	 FULL_MASK,
	 0,
	 {{READS, MEM_GLOBAL, 0, 0, 1024, 1, 0}}},
	{"ldmatrix",
	 WARP("and.b32 z0, t, 7; shl.b32 z0, z0, 5; add.u32 z0, z0, n;\n"
	      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {z1}, [z0];"),
	 "ldmatrix",
	 0xff,
	 0,
	 {{READS, MEM_SHARED, 0, 0, 16, 8, 32}}},
	{"stmatrix",
	 WARP("and.b32 z0, t, 7; shl.b32 z0, z0, 5; add.u32 z0, z0, n;\n"
	      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [z0], {w};"),
	 "stmatrix",
	 0xff,
	 0,
	 {{WRITES, MEM_SHARED, 0, 0, 16, 8, 32}}},
	{"wgmma, A in registers",
	 KERNEL(HEAD_90A,
		"mov.b64 y, 0x0000001000080070;\nwgmma.fence.sync.aligned;\n"
		"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, {w, w, w, w}, y, 1, 1, 1, 0;",
		"wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"),
	 "wgmma.mma_async",
	 FULL_MASK,
	 0,
	 {{READS, MEM_SHARED, 0, 1792, 2048, 1, 0}}},
	{"wgmma, A in shared memory",
	 KERNEL(HEAD_90A,
		"mov.b64 x, 0x0000001000080000;\nwgmma.fence.sync.aligned;\n"
		"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, x, x, 1, 1, 1, 0, 0;",
		"wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"),
	 "wgmma.mma_async",
	 FULL_MASK,
	 0,
	 {{READS, MEM_SHARED, 0, 0, 2048, 1, 0}}},
	{"printf",
	 LONE("mov.u64 x, depot; cvta.local.u64 y, x; st.local.u32 [x], w; mov.u64 x, format; cvta.global.u64 x, x;\n"
	      "{ .param .b64 a; .param .b64 b; .param .b32 r;\nst.param.b64 [a], x; st.param.b64 [b], y;\n"
	      "call.uni (r), vprintf, (a, b); }"),
	 "call.uni",
	 1,
	 0,
	 {{READS, MEM_LOCAL, 0, 0, 4, 1, 0}}},
};

/* ---- what is told ---- */

struct told {
	u32 pc;
	u64 buffer;
	u32 lanes;
	u8 bytes[2][MEM_PARAM + 1][2][BYTES]; /* how, space, CTA */
	bool format;
	u64 format_at;
	const struct cta *cta;
};

static void note(struct told *t, const struct exec_access *a, u32 how, u64 at, u64 cta)
{
	for (u64 i = 0; i < a->bytes; i++)
		if (at + i < BYTES && cta < 2)
			t->bytes[how][a->space][cta][at + i] = 1;
}

static void on_access(void *user, struct debug_grid *d, const struct exec_access *a)
{
	struct told *t = user;
	bool reads = a->kind == ACCESS_LOAD || a->kind == ACCESS_ATOM || a->kind == ACCESS_RED ||
		     a->kind == ACCESS_COPY_READ || a->kind == ACCESS_MATRIX_LOAD;
	bool writes = a->kind != ACCESS_LOAD && a->kind != ACCESS_COPY_READ &&
		      a->kind != ACCESS_MATRIX_LOAD;

	(void)d;
	if (a->in->ir != a->cta->env->program->uop[t->pc].ir ||
	    a->in->func != a->cta->env->program->uop[t->pc].func)
		return;
	t->lanes |= a->mask;
	for (u32 m = a->mask; m; m &= m - 1) {
		u64 at = a->address[__builtin_ctz(m)], cta = 0;

		t->format |= reads && a->space == MEM_GLOBAL && at == t->format_at &&
			     a->bytes == sizeof(TEXT);
		if (a->space == MEM_GLOBAL)
			at -= t->buffer;
		if (a->space == MEM_SHARED) {
			const struct cta *of =
				shared_owner((struct cta *)a->cta, at >> MEM_SHARED_RANK_SHIFT);

			cta = of ? of->number : 2;
			at &= MEM_SHARED_OFFSET;
		}
		if (reads)
			note(t, a, READS, at, cta);
		if (writes)
			note(t, a, WRITES, at, cta);
	}
}

static enum debug_verdict on_step(void *user, struct debug_grid *d, struct gang *g,
				  const struct uop *in)
{
	(void)user, (void)d, (void)g, (void)in;
	return DEBUG_GO_ON;
}

/* ---- comparing ---- */

static void expect(const struct sample *s, u8 want[2][MEM_PARAM + 1][2][BYTES])
{
	for (u32 i = 0; i < ARRAY_LEN(s->stretch); i++) {
		const struct stretch *x = &s->stretch[i];

		for (u32 k = 0; k < x->times; k++)
			memset(want[x->how][x->space][x->cta] + x->first + k * x->step, 1,
			       x->end - x->first);
	}
}

/* Local memory has the parameters of calls as well: only what is wanted has to be there. */
static bool same(const struct sample *s, const struct told *t, u8 want[2][MEM_PARAM + 1][2][BYTES])
{
	for (u32 how = 0; how < 2; how++)
		for (u32 space = 0; space <= MEM_PARAM; space++)
			for (u32 cta = 0; cta < 2; cta++)
				for (u32 i = 0; i < BYTES; i++) {
					u8 have = t->bytes[how][space][cta][i],
					   is = want[how][space][cta][i];

					if (have == is || (space == MEM_LOCAL && !is))
						continue;
					printf("# %s: byte %u of space %u of CTA %u is %s\n",
					       s->name, i, space, cta,
					       have ? "told and not touched" : "not told");
					return false;
				}
	return true;
}

static void make_map(u64 at, u64 buffer)
{
	const struct tensor_shape shape = {.address = buffer,
					   .dim = {20, 8},
					   .stride = {128},
					   .type = TENSOR_U32,
					   .rank = 2,
					   .box = {8, 4},
					   .step = {1, 1}};

	CHECK(tensor_encode((struct tensor_map *)(uintptr_t)at, &shape));
}

static void test_sample(const struct sample *s, struct mem *mem)
{
	static u8 want[2][MEM_PARAM + 1][2][BYTES];
	static struct told t;
	struct debug_hooks hooks = {.user = &t, .step = on_step, .access = on_access};
	struct {
		u64 out, map;
	} params;
	struct debug_run r = {.ptx = s->ptx,
			      .grid = {s->cluster ? 2 : 1, 1, 1},
			      .block = {THREADS, 1, 1},
			      .cluster = {s->cluster, 0, 0},
			      .params = &params,
			      .hooks = &hooks,
			      .mem = mem};

	params.out = mem_alloc(mem, BYTES, 1024, MEM_KIND_DEVICE);
	params.map = params.out + 3840;
	memset((void *)(uintptr_t)params.out, 0, BYTES);
	make_map(params.map, params.out);
	t = (struct told){.buffer = params.out};
	memset(want, 0, sizeof(want));
	expect(s, want);
	if (!CHECK_MSG(debug_run_open(&r), s->name))
		return;
	t.pc = debug_run_at(&r, s->at);
	for (u32 i = 0; i < ARRAY_LEN(r.var_address); i++)
		t.format_at = r.var_address[i] ? r.var_address[i] : t.format_at;
	CHECK(t.pc != NO_PC);
	CHECK_MSG(debug_run_go(&r) && r.fault.kind == FAULT_NONE, s->name);
	CHECK_MSG(same(s, &t, want), s->name);
	CHECK_EQ(t.lanes, s->lanes);
	CHECK_EQ(t.format, !strcmp(s->name, "printf"));
	debug_run_close(&r);
	mem_free(mem, params.out);
}

int main(void)
{
	struct mem mem;

	CHECK(mem_init(&mem, (u64)64 << 20));
	for (u32 i = 0; i < ARRAY_LEN(samples); i++)
		test_sample(&samples[i], &mem);
	mem_fini(&mem);
	return check_done();
}
