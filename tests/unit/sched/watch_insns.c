/*
 * Counting by blocks, in programs with fusion, counts what counting by each instruction does in
 * programs without: for programs whose lanes part, wait, fault or are left out by guards, for
 * accesses of every form that fusion makes, at all levels of the host's handlers, with several
 * workers, in blocks that fill their gangs and others, with and without coverage.
 */
#include "src/api/api_int.h"
#include "src/exec/exec.h"
#include "src/lower/lower.h"
#include "src/watch/counters.h"
#include "tests/check.h"
#include "tests/skip.h"

#include <ptxloom.h>

#include <stdlib.h>

#define WORDS 65536u

#define HEAD                                                                                       \
	".version 8.0\n.target sm_90\n.address_size 64\n"                                          \
	".visible .func (.reg .b32 %x) twice(.reg .b32 %y)\n{\n.reg .pred %p<2>; .reg .b32 "       \
	"%r<4>;\nand.b32 %r0, %y, 1; setp.eq.u32 %p0, %r0, 0; @%p0 bra EVEN; add.u32 %x, %y, "     \
	"1;\nret;\nEVEN: shl.b32 %x, %y, 1;\nret;\n}\n"                                            \
	".visible .entry k(.param .u64 p)\n{\n"                                                    \
	".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %d<16>; .reg .f32 %f<16>;\n"                \
	".shared .align 16 .b8 s[8192]; .local .align 16 .b8 v[64];\n"                             \
	"ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, "         \
	"%ntid.x;\nmad.lo.u32 %r3, %r1, %r2, %r0; and.b32 %r4, %r0, 31;\n"

enum { MAY_FAULT = 1 };

static const struct {
	const char *name, *body;
	u32 flags;
} programs[] = {
	{"straight", "add.u32 %r5, %r3, 1; mul.lo.u32 %r6, %r5, 3; xor.b32 %r7, %r6, %r5;", 0},
	{"affine accesses",
	 "mul.wide.u32 %d1, %r3, 4; add.u64 %d2, %d0, %d1; ld.global.u32 %r5, [%d2]; add.u32 %r5, "
	 "%r5, 1; st.global.u32 [%d2+4096], %r5; ld.global.u64 %d3, [%d0]; st.global.u32 [%d2], %r3;",
	 0},
	{"indexed accesses, strided, out of line",
	 "mul.lo.u32 %r5, %r3, 37; and.b32 %r5, %r5, 1023; mul.wide.u32 %d1, %r5, 4; add.u64 %d2, "
	 "%d0, %d1; ld.global.u32 %r6, [%d2+12]; mul.lo.u32 %r7, %r3, 3; mul.wide.s32 %d3, %r7, 8; "
	 "add.u64 %d4, %d0, %d3; st.global.v2.u32 [%d4], {%r6, %r7};",
	 0},
	{"indices that are loaded",
	 "mul.wide.u32 %d1, %r3, 4; add.u64 %d2, %d0, %d1; ld.global.u32 %r5, [%d2]; and.b32 %r5, "
	 "%r5, 255; add.u32 %r5, %r5, %r4; mul.wide.u32 %d3, %r5, 4; add.u64 %d4, %d0, %d3; "
	 "ld.global.u32 %r6, [%d4]; red.global.add.u32 [%d4], 1; atom.global.add.u32 %r7, [%d0], 1;",
	 0},
	{"shared, local, generic",
	 "shl.b32 %r5, %r0, 3; and.b32 %r5, %r5, 8191; mov.u32 %r6, s; add.u32 %r6, %r6, %r5; "
	 "st.shared.u32 [%r6], %r0; bar.sync 0; ld.shared.u32 %r7, [%r6]; ld.shared.u32 %r8, [s+64]; "
	 "st.local.u32 [v+4], %r7; and.b32 %r9, %r0, 7; mul.wide.u32 %d1, %r9, 4; mov.u64 %d2, v; "
	 "add.u64 %d2, %d2, %d1; ld.local.u32 %r10, [%d2]; cvta.local.u64 %d3, %d2; ld.u32 %r11, "
	 "[%d3]; atom.shared.add.u32 %r12, [s], 1;",
	 0},
	{"loop over tiles",
	 "mov.u32 %r5, 0; LOOP: shl.b32 %r6, %r5, 6; add.u32 %r6, %r6, %r3; and.b32 %r6, %r6, 8191; "
	 "mul.wide.u32 %d1, %r6, 4; add.u64 %d2, %d0, %d1; ld.global.f32 %f1, [%d2]; mul.f32 %f2, "
	 "%f1, 0f40000000; add.f32 %f3, %f2, %f3; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 9; @%p1 "
	 "bra LOOP; st.global.f32 [%d2], %f3;",
	 0},
	{"guards",
	 "setp.lt.u32 %p1, %r4, 5; setp.gt.u32 %p2, %r4, 99; mul.wide.u32 %d1, %r3, 4; add.u64 %d2, "
	 "%d0, %d1; @%p1 add.u32 %r5, %r3, 1; @%p1 ld.global.u32 %r6, [%d2]; @%p2 st.global.u32 "
	 "[%d2], %r5; @!%p1 st.global.u32 [%d2], %r4; @%p2 red.global.add.u32 [%d0], 1; @%p1 "
	 "atom.global.add.u32 %r7, [%d0], 1; add.u32 %r8, %r5, 1; @%p1 bar.warp.sync 31; add.u32 "
	 "%r9, %r8, 1;",
	 0},
	{"branches",
	 "setp.lt.u32 %p1, %r4, 5; @%p1 bra LOW; add.u32 %r5, %r3, 1; setp.lt.u32 %p2, %r4, 20; @%p2 "
	 "bra MID; add.u32 %r5, %r5, 2; bra MID; LOW: mul.lo.u32 %r5, %r3, 7; MID: add.u32 %r6, %r5, "
	 "1; setp.eq.u32 %p3, %r1, 0; @%p3 bra END; add.u32 %r6, %r6, 1; END: add.u32 %r7, %r6, 1;",
	 0},
	{"loops of lanes",
	 "mov.u32 %r5, 0; L: add.u32 %r5, %r5, 1; mul.lo.u32 %r6, %r5, %r5; setp.le.u32 %p1, %r5, "
	 "%r4; @%p1 bra L; mov.u32 %r7, 0; M: add.u32 %r7, %r7, 3; setp.lt.u32 %p2, %r7, %r0; @%p2 "
	 "bra M;",
	 0},
	{"exits",
	 "setp.eq.u32 %p1, %r4, 3; @%p1 exit; add.u32 %r5, %r3, 1; setp.gt.u32 %p2, %r0, 40; @%p2 "
	 "ret; add.u32 %r6, %r5, 1; bar.warp.sync 0xfffffff7; add.u32 %r7, %r6, 1;",
	 0},
	{"warps",
	 "setp.lt.u32 %p1, %r4, 16; @%p1 bra A; shfl.sync.bfly.b32 %r5, %r3, 1, 31, 0xffff0000; "
	 "add.u32 %r6, %r5, 1; bra B; A: shfl.sync.bfly.b32 %r5, %r3, 2, 31, 0xffff; add.u32 "
	 "%r6, %r5, 2; B: bar.warp.sync 0xffffffff; add.u32 %r7, %r6, 1; vote.sync.any.pred "
	 "%p2, %p1, 0xffffffff; add.u32 %r8, %r7, 1; activemask.b32 %r9; popc.b32 %r10, %r9;",
	 0},
	{"barriers",
	 "bar.sync 0; add.u32 %r5, %r3, 1; setp.lt.u32 %p1, %r4, 9; @%p1 bra W; nanosleep.u32 20; W: "
	 "bar.sync 0; bar.red.popc.u32 %r6, 1, %p1; add.u32 %r7, %r6, 1; membar.gl; add.u32 %r8, %r7, "
	 "1;",
	 0},
	{"calls",
	 "{ .param .b32 a; .param .b32 r; } call (%r5), twice, (%r3); add.u32 %r6, %r5, 1; setp.lt.u32 "
	 "%p1, %r4, 7; @%p1 call (%r7), twice, (%r6); add.u32 %r8, %r6, 1;",
	 0},
	{"branches by tables",
	 "T: .branchtargets A, B, C; and.b32 %r5, %r4, 1; setp.gt.u32 %p1, %r4, 20; selp.u32 %r5, 2, "
	 "%r5, %p1; brx.idx %r5, T; A: add.u32 %r6, %r5, 1; bra E; B: add.u32 %r6, %r5, 2; bra E; C: "
	 "add.u32 %r6, %r5, 3; E: add.u32 %r7, %r6, 1;",
	 0},
	{"copies",
	 "mul.wide.u32 %d1, %r4, 16; add.u64 %d2, %d0, %d1; mov.u32 %r5, s; shl.b32 %r6, %r4, 4; "
	 "add.u32 %r5, %r5, %r6; cp.async.cg.shared.global [%r5], [%d2], 16; cp.async.commit_group; "
	 "cp.async.wait_group 0; bar.warp.sync -1; ld.shared.u32 %r7, [%r5];",
	 0},
	{"matrices",
	 "mov.b32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; "
	 "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f4,%f5,%f6,%f7}, {%r3,%r4}, {%r5}, "
	 "{%f0,%f1,%f2,%f3}; mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f4,%f5,%f6,%f7}, "
	 "{%r3,%r4}, {%r5}, {%f4,%f5,%f6,%f7}; add.u32 %r6, %r3, 1; "
	 "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f4,%f5,%f6,%f7}, {%r3,%r4}, {%r5}, "
	 "{%f4,%f5,%f6,%f7};",
	 0},
	{"a turn for each lane",
	 "mov.u32 %r5, 0; N: setp.eq.u32 %p1, %r4, %r5; @!%p1 bra S; add.u32 %r6, %r4, 1; st.shared.u32 "
	 "[s], %r6; S: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 32; @%p2 bra N;",
	 0},
	{"a fault in the middle of a block",
	 "mul.wide.u32 %d1, %r3, 4; add.u64 %d2, %d0, %d1; add.u32 %r5, %r3, 1; st.global.u32 [%d2], "
	 "%r5; setp.eq.u32 %p1, %r3, 37; selp.u64 %d3, 64, %d2, %p1; ld.global.u32 %r6, [%d3]; add.u32 "
	 "%r7, %r6, 1; st.global.u32 [%d2+4], %r7; @%p1 add.u32 %r8, %r7, 1;",
	 MAY_FAULT},
	{"a fault of lanes that are apart",
	 "mov.u64 %d1, 64; setp.gt.u32 %p1, %r4, 11; add.u32 %r5, %r3, 1; @%p1 bra X; add.u32 %r6, %r5, 1; @!%p1 "
	 "ld.global.u32 %r7, [%d1]; add.u32 %r8, %r7, 1; mul.lo.u32 %r9, %r8, 3; X: add.u32 %r10, %r5, "
	 "2;",
	 MAY_FAULT},
	{"a trap", "add.u32 %r5, %r3, 1; setp.eq.u32 %p1, %r3, 70; @%p1 trap; add.u32 %r6, %r5, 1;",
	 MAY_FAULT},
};

struct shape {
	const char *level;
	u32 workers, ctas, block;
	bool covers;
};

static const struct shape shapes[] = {
	{"v4", 1, 3, 256, false},  {"v4", 4, 9, 96, false},  {"v4", 1, 2, 77, true},
	{"v3", 1, 3, 256, false},  {"v3", 3, 5, 288, true},  {"base", 1, 3, 256, false},
	{"base", 2, 4, 40, false}, {"v4", 1, 70, 32, false},
};

struct got {
	int status;
	u64 value[WATCH_METRICS];
};

/* What one launch counts, in a program without fusion or in one with it. */
static bool run_program(const char *text, const struct shape *x, bool fused, struct got *to)
{
	struct ptxloom_options o = {.size = sizeof(o), .device = "h100", .workers = x->workers};
	struct ptxloom_config c = {.grid = {x->ctas}, .block = {x->block}};
	struct watch_counters counters;
	struct ptxloom_device *dev;
	struct ptxloom_module *mod;
	struct ptxloom_kernel *k;
	char why[1000];
	u32 *words;
	bool ok;

	setenv("PTXLOOM_HOST_ISA", x->level, 1);
	if (!CHECK(ptxloom_device_open(&o, &dev) == PTXLOOM_SUCCESS))
		return false;
	watch_counters_init(&counters);
	if (fused) {
		watch_counters_fuse(&counters);
		dev->dev.counts = LOWER_COUNT_INSNS;
		if (x->covers)
			dev->dev.counts |= LOWER_COUNT_BLOCKS | LOWER_COUNT_CHOICES;
	}
	dev->dev.observer = &counters.observer;
	words = ptxloom_alloc(dev, WORDS * sizeof(*words));
	ok = words && !ptxloom_module_load(dev, text, strlen(text), &mod) &&
	     (k = ptxloom_module_kernel(mod, "k"));
	for (u32 i = 0; ok && i < WORDS; i++)
		words[i] = i * 2654435761u;
	if (ok)
		to->status = ptxloom_launch(k, &c, (void *[]){&words});
	else
		printf("# %s\n", ptxloom_message(dev, why, sizeof(why)) ? why : "does not load");
	memcpy(to->value, counters.value, sizeof(to->value));
	ptxloom_device_close(dev);
	return ok;
}

static void compare(u32 program, const struct shape *x)
{
	struct got each = {0}, blocks = {0};
	struct text t = {0};
	char what[160];
	bool same, ok;

	text_printf(&t, "%s%s\nret;\n}\n", HEAD, programs[program].body);
	ok = run_program(t.at, x, false, &each) && run_program(t.at, x, true, &blocks);
	same = ok && each.status == blocks.status && each.value[WATCH_inst] &&
	       !!each.status == !!(programs[program].flags & MAY_FAULT);
	snprintf(what, sizeof(what), "%s: %s, %u workers, %ux%u", programs[program].name, x->level,
		 x->workers, x->ctas, x->block);
	for (u32 i = 0; ok && i < WATCH_METRICS; i++)
		if (each.value[i] != blocks.value[i]) {
			printf("# %s: %llu, by blocks %llu\n", watch_metric_name(i),
			       (unsigned long long)each.value[i],
			       (unsigned long long)blocks.value[i]);
			same = false;
		}
	if (ok && !same)
		printf("# status %d and %d\n", each.status, blocks.status);
	CHECK_MSG(same, what);
	text_fini(&t);
}

int main(void)
{
	for (u32 s = 0; s < ARRAY_LEN(shapes); s++) {
		if (!exec_ops_select(shapes[s].level)) {
			check_skip(shapes[s].level, "the processor has no such level");
			continue;
		}
		/* With several workers, how far others get before a fault is left to chance. */
		for (u32 i = 0; i < ARRAY_LEN(programs); i++)
			if (shapes[s].workers == 1 || !(programs[i].flags & MAY_FAULT))
				compare(i, &shapes[s]);
	}
	return check_done();
}
