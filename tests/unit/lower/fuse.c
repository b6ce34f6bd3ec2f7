/*
 * Pairs of micro-ops put together, copies left out, accesses of parts of warps and of whole gangs,
 * addresses by base and index, and values kept for a launch: every host level against plain C. Also
 * where a temporary is read twice and where a copy must stay.
 */
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"

#define THREADS 100u
#define WORDS 8u

static const char text[] =
	".version 7.0\n.target sm_80\n.address_size 64\n"
	".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
	".reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %rd<12>;\n"
	"ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out];\n"
	"cvta.to.global.u64 %rd2, %rd0; cvta.to.global.u64 %rd3, %rd1;\n"
	"mov.u32 %r0, %tid.x; mul.wide.s32 %rd4, %r0, 4; add.s64 %rd5, %rd2, %rd4; ld.global.u32 %r1, [%rd5];\n"
	/* words 0 to 2: each pair, its temporary read once */
	"shl.b32 %r2, %r1, 13; xor.b32 %r3, %r2, %r1; shr.u32 %r4, %r3, 17; xor.b32 %r5, %r3, %r4;\n"
	"mad.lo.s32 %r6, %r5, 1664525, 1013904223;\n"
	"shl.b32 %r7, %r0, 3; add.s32 %r8, %r7, %r1;\n"
	/* word 3: a temporary read twice; a count past the width */
	"shl.b32 %r9, %r1, 5; xor.b32 %r10, %r9, %r0; add.s32 %r11, %r10, %r9;\n"
	"shl.b32 %r12, %r1, 40; xor.b32 %r13, %r12, %r11;\n"
	/* word 4: the copy of a register that changes in a loop */
	"mov.u32 %r14, 0; mov.u32 %r15, 7; mov.u32 %r16, %r1;\n"
	"L: mov.u32 %r17, %r16; add.s32 %r16, %r16, %r15; add.s32 %r14, %r14, 1;\n"
	"setp.lt.u32 %p1, %r14, 5; @%p1 bra L;\n"
	"xor.b32 %r18, %r17, %r16;\n"
	/* word 5: a load and, below, a store of some lanes only */
	"add.s32 %r19, %r0, -3; setp.lt.u32 %p2, %r19, 17; mov.u32 %r20, 99;\n"
	"@%p2 ld.global.u32 %r20, [%rd5+4];\n"
	"mul.wide.s32 %rd6, %r0, 32; add.s64 %rd7, %rd3, %rd6;\n"
	"st.global.u32 [%rd7], %r5; st.global.u32 [%rd7+4], %r6;\n"
	"st.global.u32 [%rd7+8], %r8; st.global.u32 [%rd7+12], %r13;\n"
	"st.global.u32 [%rd7+16], %r18; st.global.u32 [%rd7+20], %r20;\n"
	"add.s64 %rd8, %rd3, 3200; add.s64 %rd9, %rd8, %rd4; @%p2 st.global.u32 [%rd9], %r1;\n"
	"ret;\n}\n";

static void want(const u32 *in, u32 t, u32 *w)
{
	u32 x = in[t];

	w[0] = x ^ x << 13;
	w[0] ^= w[0] >> 17;
	w[1] = w[0] * 1664525u + 1013904223u;
	w[2] = (t << 3) + x;
	w[3] = (x << 5 ^ t) + (x << 5);
	w[4] = (x + 28) ^ (x + 35);
	w[5] = t - 3 < 17 ? in[t + 1] : 99;
}

static void test_level(const char *level)
{
	struct harness h;
	u64 params[2];
	u32 *in, *out, bad = 0;

	if (!CHECK(harness_open(&h, text)))
		return;
	params[0] = mem_alloc(&h.mem, (THREADS + 1) * 4, 0, MEM_KIND_DEVICE);
	params[1] = mem_alloc(&h.mem, THREADS * (WORDS + 1) * 4, 0, MEM_KIND_DEVICE);
	in = (u32 *)(uintptr_t)params[0];
	out = (u32 *)(uintptr_t)params[1];
	for (u32 i = 0; i <= THREADS; i++)
		in[i] = i * 2654435761u;
	CHECK_EQ(harness_run(&h, "k", 1, THREADS, params, level), STOP_DONE);
	for (u32 t = 0; t < THREADS; t++) {
		u32 w[6];

		want(in, t, w);
		for (u32 i = 0; i < 6; i++)
			bad += out[t * WORDS + i] != w[i];
		bad += out[THREADS * WORDS + t] != (t - 3 < 17 ? in[t] : 0);
	}
	CHECK_EQ(bad, 0);
	harness_close(&h);
}

/* ---- whole gangs ---- */

#define CTAS 3u
#define GANG_THREADS 256u
#define GANG_TOTAL (CTAS * GANG_THREADS)
#define GANG_OUT 16u

static const char gang_text[] =
	".version 7.0\n.target sm_80\n.address_size 64\n"
	".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 low, .param .u64 bytes)\n{\n"
	".reg .b32 %r<60>; .reg .b64 %rd<40>; .reg .b16 %h<4>; .shared .align 16 .b8 s[1024];\n"
	"ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [low];\n"
	"ld.param.u64 %rd3, [bytes];\n"
	"mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n"
	"mad.lo.s32 %r3, %r0, %r1, %r2;\n"
	/* words: by signed index, with an offset below zero, and by unsigned index past 2^31 */
	"mul.wide.s32 %rd4, %r3, 4; add.s64 %rd5, %rd0, %rd4; ld.global.u32 %r4, [%rd5+4];\n"
	"sub.s32 %r5, %r3, 400; mul.wide.s32 %rd6, %r5, 4; add.s64 %rd7, %rd6, %rd0;\n"
	"ld.global.u32 %r6, [%rd7+1600];\n"
	"add.u32 %r7, %r3, 0x80000000; mul.wide.u32 %rd8, %r7, 4; add.s64 %rd9, %rd2, %rd8;\n"
	"ld.global.u32 %r8, [%rd9];\n"
	/* the index changes between the address and the access */
	"mov.u32 %r9, %r3; mul.wide.s32 %rd10, %r9, 4; add.s64 %rd11, %rd0, %rd10;\n"
	"add.s32 %r9, %r9, 1; ld.global.u32 %r10, [%rd11]; add.s32 %r10, %r10, %r9;\n"
	/* vectors, narrow elements, one address for all */
	"mul.wide.s32 %rd12, %r3, 16; add.s64 %rd13, %rd3, %rd12;\n"
	"ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%rd13];\n"
	"ld.global.v2.u64 {%rd14, %rd15}, [%rd13]; ld.global.v2.u32 {%r15, %r16}, [%rd13+8];\n"
	"cvt.s64.s32 %rd16, %r3; add.s64 %rd17, %rd3, %rd16;\n"
	"ld.global.s8 %r17, [%rd17]; ld.global.u8 %r18, [%rd17+1];\n"
	"mul.wide.s32 %rd18, %r3, 2; add.s64 %rd19, %rd3, %rd18;\n"
	"ld.global.s16 %r19, [%rd19]; ld.global.u16 %r20, [%rd19+2]; ld.global.u32 %r21, [%rd0+8];\n"
	/* shared memory: rows of 16, and one word for each half of a warp */
	"shl.b32 %r22, %r2, 2; mov.u32 %r23, s; add.s32 %r24, %r23, %r22;\n"
	"st.shared.u32 [%r24], %r4; bar.sync 0;\n"
	"and.b32 %r25, %r22, 60; add.s32 %r26, %r23, %r25; ld.shared.u32 %r27, [%r26+64];\n"
	"shr.u32 %r28, %r2, 4; shl.b32 %r29, %r28, 2; add.s32 %r30, %r23, %r29;\n"
	"ld.shared.u32 %r31, [%r30+4];\n"
	/* steps of hash functions */
	"shr.u32 %r32, %r4, 16; xor.b32 %r33, %r32, %r4; mul.lo.u32 %r34, %r33, 0x85ebca6b;\n"
	"shr.u32 %r35, %r34, 13; xor.b32 %r36, %r35, %r34; shl.b32 %r37, %r36, 5;\n"
	"xor.b32 %r38, %r37, %r36; shl.b32 %r39, %r38, 7; xor.b32 %r40, %r39, %r38;\n"
	"shr.u32 %r41, %r40, 3; xor.b32 %r42, %r41, %r40; shl.b32 %r43, %r42, 9;\n"
	"xor.b32 %r44, %r43, %r42; mad.lo.u32 %r45, %r44, 3, 7;\n"
	"xor.b64 %rd20, %rd14, %rd15; cvt.u32.u64 %r46, %rd20; add.u32 %r15, %r15, %r16;\n"
	"mul.wide.s32 %rd21, %r3, 64; add.s64 %rd22, %rd1, %rd21;\n"
	"st.global.v4.u32 [%rd22], {%r4, %r6, %r8, %r10};\n"
	"st.global.v4.u32 [%rd22+16], {%r11, %r12, %r13, %r14};\n"
	"st.global.v4.u32 [%rd22+32], {%r15, %r46, %r17, %r18};\n"
	"st.global.v4.u32 [%rd22+48], {%r19, %r20, %r21, %r27};\n"
	"add.s64 %rd23, %rd1, 49152; add.s64 %rd24, %rd23, %rd4; st.global.u32 [%rd24], %r31;\n"
	"add.s64 %rd25, %rd23, 3072; add.s64 %rd26, %rd25, %rd4; st.global.u32 [%rd26], %r45;\n"
	"add.s64 %rd27, %rd25, 3072; add.s64 %rd28, %rd27, %rd16; st.global.u8 [%rd28], %r4;\n"
	"cvt.u16.u32 %h0, %r4; add.s64 %rd29, %rd27, 768; add.s64 %rd30, %rd29, %rd18;\n"
	"st.global.u16 [%rd30], %h0; ret;\n}\n";

static u32 steps_of(u32 x)
{
	x ^= x >> 16;
	x *= 0x85ebca6bu;
	x ^= x >> 13;
	x ^= x << 5;
	x ^= x << 7;
	x ^= x >> 3;
	x ^= x << 9;
	return x * 3 + 7;
}

/* Words of thread i, in the order of the stores. */
static void want_gang(const u32 *in, const u8 *bytes, u32 i, u32 *w)
{
	u32 cta = i / GANG_THREADS * GANG_THREADS, t = i % GANG_THREADS;
	const u32 *v = (const void *)(bytes + 16 * i);
	s16 narrow;
	u16 wide;

	memcpy(&narrow, bytes + 2 * i, 2);
	memcpy(&wide, bytes + 2 * i + 2, 2);
	w[0] = in[i + 1];
	w[1] = w[2] = in[i];
	w[3] = in[i] + i + 1;
	memcpy(w + 4, v, 16);
	w[8] = v[2] + v[3];
	w[9] = v[0] ^ v[2];
	w[10] = (u32)(s8)bytes[i];
	w[11] = bytes[i + 1];
	w[12] = (u32)narrow;
	w[13] = wide;
	w[14] = in[2];
	w[15] = in[cta + t % 16 + 16 + 1];
	w[16] = in[cta + t / 16 + 1 + 1];
	w[17] = steps_of(in[i + 1]);
}

static void test_gang(const char *level)
{
	u64 out_bytes = GANG_TOTAL * (GANG_OUT + 2) * 4 + GANG_TOTAL * 3, params[4];
	struct harness h;
	u32 *in, bad = 0;
	u8 *bytes, *out;

	if (!CHECK(harness_open(&h, gang_text)))
		return;
	params[0] = mem_alloc(&h.mem, (GANG_TOTAL + 1) * 4, 0, MEM_KIND_DEVICE);
	params[1] = mem_alloc(&h.mem, out_bytes, 0, MEM_KIND_DEVICE);
	params[2] = params[0] - ((u64)0x80000000u * 4);
	params[3] = mem_alloc(&h.mem, GANG_TOTAL * 16, 0, MEM_KIND_DEVICE);
	in = (u32 *)(uintptr_t)params[0];
	out = (u8 *)(uintptr_t)params[1];
	bytes = (u8 *)(uintptr_t)params[3];
	for (u32 i = 0; i <= GANG_TOTAL; i++)
		in[i] = (i + 1) * 2654435761u;
	for (u32 i = 0; i < GANG_TOTAL * 16; i++)
		bytes[i] = (u8)(i * 167 + i / 256 * 29);
	CHECK_EQ(harness_run(&h, "k", CTAS, GANG_THREADS, params, level), STOP_DONE);
	for (u32 i = 0; i < GANG_TOTAL; i++) {
		const u8 *behind = out + GANG_TOTAL * GANG_OUT * 4;
		u32 w[18];
		u16 half;

		want_gang(in, bytes, i, w);
		bad += memcmp(out + i * GANG_OUT * 4, w, GANG_OUT * 4) != 0;
		bad += memcmp(behind + i * 4, &w[16], 4) != 0;
		bad += memcmp(behind + (GANG_TOTAL + i) * 4, &w[17], 4) != 0;
		behind += GANG_TOTAL * 8;
		bad += behind[i] != (u8)w[0];
		memcpy(&half, behind + GANG_TOTAL + 2 * i, 2);
		bad += half != (u16)w[0];
	}
	CHECK_EQ(bad, 0);
	harness_close(&h);
}

int main(void)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};

	for (u32 i = 0; i < 4; i++)
		if (check_level(exec_ops_select(levels[i]), levels[i])) {
			test_level(levels[i]);
			test_gang(levels[i]);
		}
	return check_done();
}
