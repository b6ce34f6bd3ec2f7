/*
 * Kernels for tests of launches under a debugger: (out, n) and a name each.
 */
#ifndef PL_DEBUG_KERNELS_H
#define PL_DEBUG_KERNELS_H

#include "src/base/base.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define ENTRY                                                                                      \
	".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"                                   \
	".reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<19>;\n"                                 \
	"ld.param.u64 %rd1, [out]; ld.param.u32 %r0, [n]; mov.u32 %r1, %ctaid.x;\n"                \
	"mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r1, %r3, %r2;\n"              \
	"mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;\n"
#define OUT_WORDS 16384u

struct params {
	u64 out;
	u32 n;
};

struct kernel {
	const char *name, *ptx;
	u32 grid, block, cluster, n;
	bool cooperative;
};

static const char loops[] = HEAD ENTRY
	"and.b32 %r5, %r2, 7; mov.u32 %r6, 0;\n"
	"LOOP: setp.eq.u32 %p1, %r5, 0; @%p1 bra DONE; add.u32 %r6, %r6, %r5; sub.u32 %r5, %r5, 1; bra LOOP;\n"
	"DONE: and.b32 %r7, %r2, 1; setp.eq.u32 %p2, %r7, 1; @%p2 bra ODD; mul.lo.u32 %r6, %r6, 3; bra END;\n"
	"ODD: add.u32 %r6, %r6, 1000;\n"
	"END: shfl.sync.bfly.b32 %r8, %r6, 1, 31, -1; add.u32 %r6, %r6, %r8;\n"
	"st.global.u32 [%rd3], %r6; ret;\n}\n";
static const char barriers[] = HEAD
	".shared .align 4 .b32 box[1024];\n" ENTRY
	"mov.u32 %r5, box; shl.b32 %r6, %r2, 2; add.u32 %r5, %r5, %r6; st.shared.u32 [%r5], %r4;\n"
	"bar.sync 0; mov.u32 %r7, %r3;\n"
	"HALVE: shr.u32 %r7, %r7, 1; setp.eq.u32 %p1, %r7, 0; @%p1 bra DONE;\n"
	"setp.ge.u32 %p2, %r2, %r7; @%p2 bra NEXT;\n"
	"shl.b32 %r8, %r7, 2; add.u32 %r8, %r5, %r8; ld.shared.u32 %r9, [%r8]; ld.shared.u32 %r10, [%r5];\n"
	"add.u32 %r10, %r10, %r9; st.shared.u32 [%r5], %r10;\n"
	"NEXT: bar.sync 0; bra HALVE;\n"
	"DONE: setp.lt.u32 %p3, %r2, 40; bar.red.popc.u32 %r11, 0, %p3; ld.shared.u32 %r12, [box];\n"
	"add.u32 %r12, %r12, %r11; st.global.u32 [%rd3], %r12; ret;\n}\n";
static const char forward[] = HEAD ENTRY
	"mul.wide.u32 %rd4, %r1, 4; add.s64 %rd3, %rd1, %rd4; setp.eq.u32 %p1, %r1, 0; @%p1 bra GO;\n"
	"WAIT: ld.volatile.global.u32 %r5, [%rd3+-4]; setp.eq.u32 %p2, %r5, 0; @%p2 bra WAIT;\n"
	"GO: mov.u32 %r6, 1; st.volatile.global.u32 [%rd3], %r6; ret;\n}\n";
static const char backward[] = HEAD ENTRY
	"mul.wide.u32 %rd4, %r1, 4; add.s64 %rd3, %rd1, %rd4; add.u32 %r5, %r1, 1;\n"
	"setp.eq.u32 %p1, %r5, %r0; @%p1 bra GO;\n"
	"WAIT: ld.volatile.global.u32 %r6, [%rd3+4]; setp.eq.u32 %p2, %r6, 0; @%p2 bra WAIT;\n"
	"GO: mov.u32 %r6, 1; st.volatile.global.u32 [%rd3], %r6; ret;\n}\n";
static const char atomics[] =
	HEAD ENTRY "atom.global.add.u32 %r5, [%rd1], %r4; and.b32 %r6, %r4, 63;\n"
		   "mul.wide.u32 %rd4, %r6, 4; add.s64 %rd5, %rd1, %rd4;\n"
		   "red.global.max.u32 [%rd5+8], %r4; ret;\n}\n";
/* lanes take a lock in turn */
static const char lock[] = HEAD ENTRY
	"TAKE: atom.global.cas.b32 %r5, [%rd1], 0, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra TAKE;\n"
	"ld.volatile.global.u32 %r6, [%rd1+4]; add.u32 %r6, %r6, 1; st.volatile.global.u32 [%rd1+4], %r6;\n"
	"membar.gl; atom.global.exch.b32 %r7, [%rd1], 0; ret;\n}\n";
static const char recursion[] = HEAD
	".func (.reg .b32 %res) fib(.reg .b32 %x)\n{\n.reg .pred %p<2>; .reg .b32 %a<5>;\n"
	"setp.lt.u32 %p1, %x, 2; @%p1 bra BASE;\n"
	"sub.u32 %a1, %x, 1; call (%a2), fib, (%a1); sub.u32 %a3, %x, 2; call (%a4), fib, (%a3);\n"
	"add.u32 %res, %a2, %a4; ret;\nBASE: mov.u32 %res, %x; ret;\n}\n" ENTRY
	"and.b32 %r5, %r2, 7; call (%r6), fib, (%r5); st.global.u32 [%rd3], %r6; ret;\n}\n";
static const char copies[] = HEAD
	".shared .align 16 .b8 box[4096];\n.shared .align 8 .b64 bar;\n" ENTRY
	"st.global.u32 [%rd3], %r4; bar.sync 0; mov.u32 %r5, box; mov.u32 %r6, bar; shl.b32 %r7, %r2, 2;\n"
	"setp.ne.u32 %p1, %r2, 0; @%p1 bra READY; mbarrier.init.shared.b64 [%r6], 1;\n"
	"READY: bar.sync 0; add.u32 %r8, %r5, %r7;\n"
	"cp.async.ca.shared.global [%r8], [%rd3], 4; cp.async.wait_all; bar.sync 0;\n"
	"@%p1 bra WAIT; mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 256;\n"
	"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [box+2048], [%rd1], 256, [%r6];\n"
	"WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r6], 0; @!%p2 bra WAIT;\n"
	"and.b32 %r9, %r7, 255; add.u32 %r9, %r5, %r9; ld.shared.u32 %r10, [%r9+2048];\n"
	"xor.b32 %r11, %r7, 4; add.u32 %r11, %r5, %r11;\n"
	"ld.shared.u32 %r12, [%r11]; mad.lo.u32 %r12, %r12, 7, %r10; bar.sync 0;\n"
	"st.global.u32 [%rd3], %r12; ret;\n}\n";
static const char cluster[] = HEAD
	".shared .align 4 .b32 box[64];\n" ENTRY
	"mov.u32 %r5, box; shl.b32 %r6, %r2, 2; add.u32 %r7, %r5, %r6; st.shared.u32 [%r7], %r4;\n"
	"barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r8, %cluster_ctarank; xor.b32 %r8, %r8, 1;\n"
	"mapa.shared::cluster.u32 %r9, %r7, %r8; ld.shared::cluster.u32 %r10, [%r9]; st.global.u32 [%rd3], %r10;\n"
	"barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";
/* named barriers with counts: producers and consumers */
static const char named[] =
	HEAD ".shared .align 4 .b32 box[32];\n" ENTRY
	     "mov.u32 %r8, 0; mov.u32 %r5, box; and.b32 %r6, %r2, 31; shl.b32 %r6, %r6, 2;\n"
	     "add.u32 %r5, %r5, %r6; mov.u32 %r7, 0;\n"
	     "setp.ge.u32 %p1, %r2, 32; @%p1 bra EAT;\n"
	     "MAKE: bar.sync 2, 64; st.shared.u32 [%r5], %r7; bar.arrive 1, 64;\n"
	     "add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 5; @%p2 bra MAKE; bra END;\n"
	     "EAT: bar.arrive 2, 64; bar.sync 1, 64; ld.shared.u32 %r9, [%r5];\n"
	     "mad.lo.u32 %r8, %r8, 10, %r9; add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 5;\n"
	     "@%p2 bra EAT;\n"
	     "END: st.global.u32 [%rd3], %r8; ret;\n}\n";
static const char clocks[] = HEAD ENTRY
	"mov.u64 %rd4, %clock64; WAIT: mov.u64 %rd5, %clock64; sub.s64 %rd5, %rd5, %rd4;\n"
	"setp.lt.s64 %p1, %rd5, 20000; @%p1 bra WAIT;\n"
	"st.global.u32 [%rd3], %r4; ret;\n}\n";
static const char local[] = HEAD ENTRY
	".local .align 4 .b32 a[16]; .reg .b64 %x<4>; mov.u64 %x1, a; mov.u32 %r5, 0;\n"
	"L: mul.wide.u32 %x2, %r5, 4; add.s64 %x2, %x1, %x2; mad.lo.u32 %r6, %r5, %r5, %r4;\n"
	"st.local.u32 [%x2], %r6; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 16; @%p1 bra L;\n"
	"and.b32 %r7, %r2, 15; mul.wide.u32 %x2, %r7, 4; add.s64 %x2, %x1, %x2;\n"
	"ld.local.u32 %r8, [%x2]; st.global.u32 [%rd3], %r8; ret;\n}\n";
/* halves of warps whose words are rows, or one word, to the very end of shared memory */
static const char halves[] = HEAD
	".shared .align 4 .b32 box[512];\n" ENTRY
	"mov.u32 %r5, box; shl.b32 %r6, %r2, 2; add.u32 %r6, %r5, %r6; mov.u32 %r9, 0;\n"
	"st.shared.u32 [%r6], %r4; st.shared.u32 [%r6+1024], %r2; st.global.u32 [%rd3+32768], %r4;\n"
	"and.b32 %r7, %r2, 15; shl.b32 %r7, %r7, 2; mul.wide.u32 %rd7, %r7, 1; add.u32 %r7, %r5, %r7;\n"
	"shr.u32 %r17, %r2, 4; shl.b32 %r8, %r17, 6; add.u32 %r8, %r5, %r8;\n"
	"and.b32 %r16, %r17, 1; setp.eq.u32 %p1, %r16, 0; selp.b32 %r16, %r7, %r8, %p1;\n"
	"mul.lo.u32 %r15, %r1, %r3; mul.wide.u32 %rd4, %r15, 4; add.s64 %rd4, %rd1, %rd4;\n"
	"L: bar.sync 0;\n"
	"ld.shared.u32 %r10, [%r7]; ld.shared.u32 %r11, [%r8]; mad.lo.u32 %r9, %r9, 3, %r10;\n"
	"ld.shared.u32 %r12, [%r7+1984]; ld.shared.u32 %r13, [%r5+2044]; mad.lo.u32 %r9, %r9, 3, %r11;\n"
	"ld.shared.u32 %r14, [%r16]; mad.lo.u32 %r9, %r9, 3, %r12; mad.lo.u32 %r9, %r9, 3, %r13;\n"
	"add.u32 %r15, %r17, %r0; and.b32 %r15, %r15, 15; mul.wide.u32 %rd5, %r15, 64;\n"
	"add.s64 %rd5, %rd4, %rd5; add.s64 %rd6, %rd5, %rd7; mad.lo.u32 %r9, %r9, 3, %r14;\n"
	"ld.global.u32 %r10, [%rd6+32768]; ld.global.u32 %r11, [%rd5+32768];\n"
	"mad.lo.u32 %r9, %r9, 3, %r10; mad.lo.u32 %r9, %r9, 3, %r11; bar.sync 0;\n"
	"shr.u32 %r15, %r2, 4; xor.b32 %r15, %r15, 1; shl.b32 %r15, %r15, 6; add.u32 %r15, %r7, %r15;\n"
	"st.shared.u32 [%r15], %r9; sub.u32 %r0, %r0, 1; setp.ne.u32 %p2, %r0, 0; @%p2 bra L;\n"
	"st.global.u32 [%rd3], %r9; ret;\n}\n";
/* whole warps whose words are a row anywhere, to the very end of shared memory, or one word */
static const char rows[] =
	HEAD ".shared .align 4 .b32 box[288];\n" ENTRY
	     "mov.u32 %r5, box; shl.b32 %r6, %r2, 2; add.u32 %r6, %r5, %r6; mov.u32 %r9, %r4;\n"
	     "and.b32 %r10, %r2, 31; shl.b32 %r10, %r10, 2; add.u32 %r10, %r5, %r10;\n"
	     "st.shared.u32 [%r6], 7; st.shared.u32 [%r10+1024], 9; mov.u32 %r7, 0;\n"
	     "L: bar.sync 0;\n"
	     "add.u32 %r8, %r6, %r7; st.shared.u32 [%r8], %r9; bar.sync 0;\n"
	     "ld.shared.u32 %r13, [%r6+4]; mad.lo.u32 %r9, %r9, 3, %r13;\n"
	     "ld.shared.u32 %r13, [%r10+1024]; mad.lo.u32 %r9, %r9, 3, %r13;\n"
	     "ld.shared.u32 %r13, [box+1148]; mad.lo.u32 %r9, %r9, 3, %r13;\n"
	     "ld.shared.u32 %r13, [box]; mad.lo.u32 %r9, %r9, 3, %r13;\n"
	     "ld.shared.u32 %r13, [%r10+8]; mad.lo.u32 %r9, %r9, 3, %r13;\n"
	     "xor.b32 %r14, %r10, 64; ld.shared.u32 %r13, [%r14]; mad.lo.u32 %r9, %r9, 3, %r13;\n"
	     "and.b32 %r14, %r2, 30; setp.eq.u32 %p1, %r14, 14; selp.b32 %r14, 4, 0, %p1;\n"
	     "add.u32 %r14, %r10, %r14; ld.shared.u32 %r13, [%r14]; mad.lo.u32 %r9, %r9, 3, %r13;\n"
	     "add.u32 %r7, %r7, 4; sub.u32 %r0, %r0, 1; setp.ne.u32 %p2, %r0, 0; @%p2 bra L;\n"
	     "st.global.u32 [%rd3], %r9; ret;\n}\n";

static const struct kernel kernels[] = {
	{"divergent loops", loops, 5, 96, 0, 0, false},
	{"barriers", barriers, 4, 128, 0, 0, false},
	{"CTAs that wait for those before", forward, 40, 1, 0, 40, false},
	{"CTAs that wait for those behind", backward, 40, 1, 0, 40, false},
	{"atomics", atomics, 7, 100, 0, 0, false},
	{"a lock", lock, 3, 64, 0, 0, false},
	{"recursion", recursion, 3, 50, 0, 0, false},
	{"asynchronous copies", copies, 3, 128, 0, 0, false},
	{"clusters", cluster, 8, 64, 2, 0, false},
	{"named barriers", named, 3, 64, 0, 0, false},
	{"clocks", clocks, 3, 64, 0, 0, false},
	{"local memory", local, 3, 64, 0, 0, false},
	{"halves of warps", halves, 4, 256, 0, 6, false},
	{"rows of warps", rows, 1, 256, 0, 2, false},
};

#endif
