/*
 * Warp instructions: every .sync form with every lane arriving from its own record gives what the
 * converged warp gives, with random operands, random partitions of the lanes into member masks, and
 * random lanes that have exited.
 */
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"

#define CTAS 32u
#define THREADS 256u
#define ALL (CTAS * THREADS)

/* d = result, p = predicate result; a, e = operands of 32 and 64 bits, q = predicate, b, c, m as
 * the manual has them. */
static const char *const forms[] = {
	"shfl.sync.up.b32 d|p, a, b, c, m;",
	"shfl.sync.down.b32 d|p, a, b, c, m;",
	"shfl.sync.bfly.b32 d|p, a, b, c, m;",
	"shfl.sync.idx.b32 d|p, a, b, c, m;",
	"shfl.sync.idx.b32 d, a, b, c, m;",
	"shfl.sync.bfly.b32 d|p, a, 3, 0x1f, m;",
	"vote.sync.all.pred p, q, m;",
	"vote.sync.any.pred p, q, m;",
	"vote.sync.uni.pred p, q, m;",
	"vote.sync.any.pred p, !q, m;",
	"vote.sync.ballot.b32 d, q, m;",
	"match.any.sync.b32 d, a, m;",
	"match.any.sync.b64 d, e, m;",
	"match.all.sync.b32 d|p, a, m;",
	"match.all.sync.b64 d|p, e, m;",
	"redux.sync.add.u32 d, a, m;",
	"redux.sync.add.s32 d, a, m;",
	"redux.sync.min.u32 d, a, m;",
	"redux.sync.max.u32 d, a, m;",
	"redux.sync.min.s32 d, a, m;",
	"redux.sync.max.s32 d, a, m;",
	"redux.sync.and.b32 d, a, m;",
	"redux.sync.or.b32 d, a, m;",
	"redux.sync.xor.b32 d, a, m;",
	"elect.sync d|p, m;",
	"bar.warp.sync m;",
	"shfl.sync.up.b32 d|p, a, b, c, -1;",
	"shfl.sync.down.b32 d|p, a, b, c, -1;",
	"shfl.sync.bfly.b32 d|p, a, b, c, -1;",
	"shfl.sync.idx.b32 d|p, a, b, c, -1;",
	"shfl.sync.up.b32 d|p, a, 4, 0x1800, -1;",
	"vote.sync.all.pred p, q, -1;",
	"vote.sync.any.pred p, q, -1;",
	"vote.sync.uni.pred p, q, -1;",
	"vote.sync.ballot.b32 d, q, -1;",
	"redux.sync.add.s32 d, a, -1;",
	"redux.sync.min.u32 d, a, -1;",
	"redux.sync.max.u32 d, a, -1;",
	"redux.sync.min.s32 d, a, -1;",
	"redux.sync.max.s32 d, a, -1;",
	"redux.sync.and.b32 d, a, -1;",
	"redux.sync.or.b32 d, a, -1;",
	"redux.sync.xor.b32 d, a, -1;",
	"elect.sync d|p, -1;",
	"match.any.sync.b32 d, a, -1;",
};

static u64 seed = 1;

static u32 random32(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (u32)(seed >> 16);
}

/* One thread's operands, as the kernel reads them. */
struct record {
	u32 a, b, c, m, q, gone;
	u64 e;
};

/* Lanes of a warp fall into up to 32 sets; in two of three warps a tenth of the lanes exit before
 * they come. */
static void fill(struct record *in)
{
	for (u32 w = 0; w < ALL / 32; w++) {
		u32 sets = 1 + random32() % 32, set[32], mask[32] = {0}, few = random32() % 3;

		for (u32 l = 0; l < 32; l++) {
			set[l] = random32() % sets;
			mask[set[l]] |= 1u << l;
		}
		for (u32 l = 0; l < 32; l++)
			in[w * 32 + l] = (struct record){
				.a = few ? random32() % few : random32(),
				.b = random32() % 40,
				.c = random32() & 0x1f1f,
				.m = mask[set[l]],
				.q = random32() % (1 + few * 4) == 0,
				.gone = few != 1 && random32() % 10 == 0,
				.e = few ? few : (u64)random32() << 20,
			};
	}
}

static void add_kernel(struct text *t, const char *name, const char *form, bool apart)
{
	text_printf(t,
		    ".visible .entry %s(.param .u64 pin, .param .u64 pout)\n{\n"
		    ".reg .pred p, q, gone; .reg .b32 d, a, b, c, m, t, n, x; .reg .b64 e, i, o;\n"
		    "ld.param.u64 i, [pin]; ld.param.u64 o, [pout]; mov.u32 t, %%tid.x; "
		    "mov.u32 n, %%ctaid.x;\n"
		    "mad.lo.u32 t, n, %u, t; mad.wide.u32 i, t, 32, i; mad.wide.u32 o, t, 8, o;\n"
		    "ld.global.v4.b32 {a, b, c, m}, [i]; ld.global.u32 x, [i+16]; "
		    "setp.ne.u32 q, x, 0;\n"
		    "ld.global.u32 x, [i+20]; setp.ne.u32 gone, x, 0; ld.global.b64 e, [i+24];\n"
		    "mov.u32 d, 0; setp.eq.u32 p, d, 1; mov.u32 n, %%laneid;\n",
		    name, THREADS);
	if (apart) {
		text_printf(t, "TO: .branchtargets L0");
		for (u32 l = 1; l < 32; l++)
			text_printf(t, ", L%u", l);
		text_printf(t, ";\nbrx.idx n, TO;\n");
		for (u32 l = 0; l < 32; l++)
			text_printf(t, "L%u: @gone exit; %s bra END;\n", l, form);
		text_printf(t, "END:\n");
	} else {
		text_printf(t, "@gone exit; %s\n", form);
	}
	text_printf(t, "selp.u32 x, 1, 0, p; st.global.v2.b32 [o], {d, x}; ret;\n}\n");
}

static bool run(struct harness *h, const char *kernel, u64 in, u32 *out, const char *level)
{
	struct {
		u64 in, out;
	} params = {in, (u64)(uintptr_t)out};

	memset(out, 0xcd, 8 * ALL);
	return harness_run(h, kernel, CTAS, THREADS, &params, level) == STOP_DONE;
}

static const char *const levels[] = {"base", "v2", "v3", "v4"};

static void test_form_at(struct harness *h, const char *form, u64 in, u32 *one, u32 *other,
			 const char *level)
{
	CHECK_MSG(run(h, "together", in, one, level), "the converged kernel ends");
	CHECK_MSG(run(h, "apart", in, other, level), "the kernel whose lanes come one by one ends");
	CHECK_MSG(!memcmp(one, other, 8 * ALL), form);
}

/* At all levels of the host. */
static void test_form(const char *form)
{
	struct text t = {NULL, 0, 0, false};
	struct harness h;
	u32 *one, *other;
	u64 in;

	text_printf(&t, ".version 8.0\n.target sm_90\n.address_size 64\n");
	add_kernel(&t, "together", form, false);
	add_kernel(&t, "apart", form, true);
	if (!CHECK_MSG(harness_open(&h, t.at), form))
		return;
	in = mem_alloc(&h.mem, sizeof(struct record) * ALL, 0, MEM_KIND_DEVICE);
	one = (u32 *)(uintptr_t)mem_alloc(&h.mem, 8 * ALL, 0, MEM_KIND_DEVICE);
	other = (u32 *)(uintptr_t)mem_alloc(&h.mem, 8 * ALL, 0, MEM_KIND_DEVICE);
	fill((struct record *)(uintptr_t)in);
	for (u32 i = 0; i < ARRAY_LEN(levels); i++)
		if (exec_ops_select(levels[i]))
			test_form_at(&h, form, in, one, other, levels[i]);
	harness_close(&h);
	text_fini(&t);
}

/* Lane 0 names lane 1, which waits for it elsewhere: no lane can continue. */
static const char crossed[] =
	".version 7.0\n.target sm_80\n.address_size 64\n"
	".visible .entry k(.param .u64 out)\n{\n.reg .pred p; .reg .b32 t;\n"
	"mov.u32 t, %tid.x; setp.eq.u32 p, t, 0; @p bra A;\n"
	"vote.sync.any.pred p, p, 3; bra END;\nA: bar.warp.sync 3;\nEND: ret;\n}\n";

static void test_deadlock(const char *level)
{
	struct harness h;
	u64 out = 0;

	if (!CHECK(harness_open(&h, crossed)))
		return;
	CHECK_EQ(harness_run(&h, "k", 1, 2, &out, level), STOP_FAULT);
	CHECK_EQ(h.fault.kind, FAULT_DEADLOCK);
	harness_close(&h);
}

/*
 * Lanes that a member mask leaves out, as an H200 answers: all 32 take part where they are together
 * and name the same mask; else that is illegal. want: what lane 20 gets, a = 100 + lane, q = odd
 * lanes.
 */
static const struct left_out {
	const char *code;
	u32 want;
	bool legal;
} left_out[] = {
	{"shfl.sync.up.b32 d, a, 16, 0, 0xffff;", 104, true},
	{"shfl.sync.up.b32 d, a, 1, 0, 0xffff;", 119, true},
	{"shfl.sync.idx.b32 d, a, 3, 31, 0xffff;", 103, true},
	{"mov.b32 m, 0xffff; shfl.sync.idx.b32 d, a, 3, 31, m;", 103, true},
	{"vote.sync.ballot.b32 d, q, 0xffff;", 0xaaaaaaaa, true},
	{"mov.b32 m, 0xffff; vote.sync.ballot.b32 d, q, m;", 0xaaaaaaaa, true},
	{"and.b32 a, a, 1; match.any.sync.b32 d, a, 0xffff;", 0x55555555, true},
	{"bar.warp.sync 0xffff; mov.b32 d, 1;", 1, true},
	{"redux.sync.add.u32 d, a, 0xffff;", 3200 + 496, true},
	{"mov.u32 m, %lanemask_lt; vote.sync.ballot.b32 d, q, m;", 0, false},
	{"setp.gt.u32 r, a, 119; @r bra END; shfl.sync.idx.b32 d, a, 3, 31, 0xffff;", 0, false},
};

static void test_left_out(const struct left_out *x, u32 threads, const char *level)
{
	struct text t = {NULL, 0, 0, false};
	enum exec_stop stop;
	struct harness h;
	u64 out;

	text_printf(
		&t,
		".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
		".reg .pred q, r; .reg .b32 t, a, d, m; .reg .b64 o, w;\n"
		"mov.u32 t, %%tid.x; mov.u32 a, %%laneid; and.b32 d, a, 1; setp.eq.u32 q, d, 1;\n"
		"add.u32 a, a, 100; mov.b32 d, 0;\n%s\n"
		"END: ld.param.u64 o, [out]; mul.wide.u32 w, t, 4; add.u64 o, o, w; st.global.u32 [o], d;\n"
		"ret;\n}\n",
		x->code);
	if (!CHECK_MSG(harness_open(&h, t.at), x->code))
		return;
	out = mem_alloc(&h.mem, 4 * threads, 0, MEM_KIND_DEVICE);
	stop = harness_run(&h, "k", 1, threads, &out, level);
	CHECK_MSG(stop == (x->legal ? STOP_DONE : STOP_FAULT), x->code);
	if (x->legal)
		CHECK_EQ(((u32 *)(uintptr_t)out)[threads - 12], x->want);
	else
		CHECK_EQ(h.fault.kind, FAULT_ILLEGAL_INSTRUCTION);
	harness_close(&h);
	text_fini(&t);
}

/*
 * Lanes that wait for one that has left their loop give way after a number of rounds, and not when
 * the budget of the turn is used up, which is far more here.
 */
static void test_spin(const char *level)
{
	static const char text[] =
		".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
		".reg .pred last, p; .reg .b32 t, v; .reg .b64 o;\n"
		"ld.param.u64 o, [out]; mov.u32 t, %tid.x; setp.eq.u32 last, t, 31; @last bra OUT;\n"
		"LOOP: ld.volatile.global.u32 v, [o]; setp.ne.u32 p, v, 0; @p bra END; bra LOOP;\n"
		"OUT: mov.u32 v, 1; st.volatile.global.u32 [o], v;\nEND: ret;\n}\n";
	struct harness h;
	u64 out;

	if (!CHECK(harness_open(&h, text)))
		return;
	h.budget = 10000000;
	h.turns = 1;
	out = mem_alloc(&h.mem, 4, 0, MEM_KIND_DEVICE);
	CHECK_EQ(harness_run(&h, "k", 1, 32, &out, level), STOP_DONE);
	harness_close(&h);
}

int main(void)
{
	for (size_t f = 0; f < ARRAY_LEN(forms); f++)
		test_form(forms[f]);
	for (u32 i = 0; i < ARRAY_LEN(levels); i++) {
		if (!check_level(exec_ops_select(levels[i]), levels[i]))
			continue;
		test_deadlock(levels[i]);
		test_spin(levels[i]);
		for (size_t f = 0; f < ARRAY_LEN(left_out); f++) {
			test_left_out(&left_out[f], 32, levels[i]);
			test_left_out(&left_out[f], 128, levels[i]);
		}
	}
	return check_done();
}
