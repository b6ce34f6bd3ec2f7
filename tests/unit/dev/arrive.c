/*
 * Instructions with .sync when every lane arrives on its own: from its own program counter, after
 * its own delay, in an order that a seed changes. The results are those of lanes that arrive
 * together.
 *
 *     dev_arrive [ROUNDS]
 *
 * Each round has its own masks, data and, on the second device, orders of lanes.
 */
#include "tests/check.h"

#include "src/base/base.h"

#include <ptxloom.h>

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 64u
#define CTAS 4u
#define WORDS 8u /* per thread, in and out */

/*
 * The instruction at work. %r1..%r8 are data (%r2 with few values), %p1 a predicate, %r10 the mask
 * of the lanes that take part, %r9 an address in shared memory with 16 bytes of the lane's own,
 * %r11 that of the warp's 1 KiB. Results go to %r20..%r27 and %p2.
 */
struct op {
	const char *text;
	bool whole; /* needs all lanes of the warp, or of the CTA */
	/* Waits for no thread, so its results differ: shows that the lanes do come one by one. */
	bool differs;
};

#define SHFL(mode, b, c) "shfl.sync." mode ".b32 %r20|%p2, %r1, " b ", " c ", %r10;"
#define FRAGMENTS "{%r20,%r21,%r22,%r23}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r3,%r4,%r5,%r6}"

static const struct op ops[] = {
	{SHFL("up", "3", "0"), false, false},
	{SHFL("up", "1", "0x1800"), false, false},
	{SHFL("down", "5", "31"), false, false},
	{SHFL("down", "1", "0x181f"), false, false},
	{SHFL("bfly", "7", "31"), false, false},
	{SHFL("bfly", "%r7", "0x101f"), false, false},
	{SHFL("idx", "%r7", "31"), false, false},
	{SHFL("idx", "%r8", "0x1c1f"), false, false},
	{"vote.sync.all.pred %p2, %p1, %r10;", false, false},
	{"vote.sync.any.pred %p2, !%p1, %r10;", false, false},
	{"vote.sync.uni.pred %p2, %p1, %r10;", false, false},
	{"vote.sync.ballot.b32 %r20, %p1, %r10;", false, false},
	{"match.any.sync.b32 %r20, %r2, %r10;", false, false},
	{"mov.b64 %rd5, {%r2, %r7}; match.any.sync.b64 %r20, %rd5, %r10;", false, false},
	{"match.all.sync.b32 %r20|%p2, %r2, %r10;", false, false},
	{"mov.b64 %rd5, {%r2, %r2}; match.all.sync.b64 %r20|%p2, %rd5, %r10;", false, false},
	{"redux.sync.add.u32 %r20, %r1, %r10;", false, false},
	{"redux.sync.add.s32 %r20, %r1, %r10;", false, false},
	{"redux.sync.min.u32 %r20, %r1, %r10;", false, false},
	{"redux.sync.max.u32 %r20, %r1, %r10;", false, false},
	{"redux.sync.min.s32 %r20, %r1, %r10;", false, false},
	{"redux.sync.max.s32 %r20, %r1, %r10;", false, false},
	{"redux.sync.and.b32 %r20, %r1, %r10;", false, false},
	{"redux.sync.or.b32 %r20, %r1, %r10;", false, false},
	{"redux.sync.xor.b32 %r20, %r1, %r10;", false, false},
	{"redux.sync.min.f32 %r20, %r1, %r10;", false, false},
	{"redux.sync.max.abs.f32 %r20, %r1, %r10;", false, false},
	{"redux.sync.max.NaN.f32 %r20, %r1, %r10;", false, false},
	{"redux.sync.min.abs.NaN.f32 %r20, %r1, %r10;", false, false},
	{"elect.sync %r20|%p2, %r10;", false, false},
	{"st.shared.u32 [%r9], %r1; bar.warp.sync %r10; xor.b32 %r28, %r9, 16; ld.shared.u32 %r20, [%r28];"
	 "bar.warp.sync %r10;",
	 true, false},
	{"st.shared.u32 [%r9], %r1; barrier.sync 0; xor.b32 %r28, %r9, 512; ld.shared.u32 %r20, [%r28];"
	 "barrier.sync 0;",
	 true, false},
	{"st.shared.u32 [%r9], %r1; barrier.sync 3, 64; xor.b32 %r28, %r9, 528; ld.shared.u32 %r20, [%r28];"
	 "barrier.sync 3, 64;",
	 true, false},
	{"activemask.b32 %r20;", false, true},
	{"barrier.red.popc.u32 %r20, 1, %p1;", true, false},
	{"barrier.red.and.pred %p2, 2, 64, %p1;", true, false},
	{"barrier.red.or.pred %p2, 2, %p1;", true, false},
	{"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r20,%r21,%r22,%r23}, {%r1,%r2}, {%r5},"
	 "{%r3,%r4,%r5,%r6};",
	 true, false},
	{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " FRAGMENTS ";", true, false},
	{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 " FRAGMENTS ";", true, false},
	{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 " FRAGMENTS ";", true, false},
	{"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 " FRAGMENTS ";", true, false},
	{"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc " FRAGMENTS ";", true, false},
	{"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r20,%r21,%r22,%r23}, {%r1,%r2,%r3,%r4},"
	 "{%r5,%r6,%r7,%r8}, {%r3,%r4,%r5,%r6}, %r29, 0;",
	 true, false},
	{"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20,%r21,%r22,%r23}, [%r9];", true, false},
	{"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r20,%r21}, [%r9];", true, false},
	{"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r9], {%r1,%r2,%r3,%r4}; bar.warp.sync %r10;"
	 "ld.shared.v4.u32 {%r20,%r21,%r22,%r23}, [%r9];",
	 true, false},
	{"movmatrix.sync.aligned.m8n8.trans.b16 %r20, %r1;", true, false},
	{"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r20,%r21,%r22,%r23,%r24,%r25,%r26,%r27}, [%r11], 16;",
	 true, false},
	{"wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%r20,%r21,%r22,%r23}, {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8},"
	 "{%r8,%r7,%r6,%r5,%r4,%r3,%r2,%r1}, {%r1,%r3,%r5,%r7};",
	 true, false},
	{"wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r11], {%r1,%r2,%r3,%r4}, 16; bar.warp.sync %r10;"
	 "ld.shared.v4.u32 {%r20,%r21,%r22,%r23}, [%r9];",
	 true, false},
};

/* ---- the kernels: one for each operation ---- */

struct text_at {
	char *at, *end;
};

static void put(struct text_at *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text_at *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->at, (size_t)(t->end - t->at), format, args);
	va_end(args);
	t->at += n;
}

static const char prologue[] =
	".reg .pred %p<6>; .reg .b32 %r<32>; .reg .b64 %rd<12>; .shared .align 128 .b8 s[2048];\n"
	"ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [masks];\n"
	"mov.u32 %r30, %tid.x; mov.u32 %r28, %ctaid.x; mad.lo.u32 %r31, %r28, 64, %r30;\n"
	"mul.wide.u32 %rd3, %r31, 32; add.u64 %rd0, %rd0, %rd3; add.u64 %rd1, %rd1, %rd3;\n"
	"ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd0]; ld.global.v4.u32 {%r5,%r6,%r7,%r8}, [%rd0+16];\n"
	"shr.u32 %r28, %r31, 5; mul.wide.u32 %rd3, %r28, 4; add.u64 %rd2, %rd2, %rd3; ld.global.u32 %r10, [%rd2];\n"
	"and.b32 %r2, %r2, 3; and.b32 %r28, %r3, 1; setp.eq.u32 %p1, %r28, 0; setp.ne.u32 %p2, %r28, %r28;\n"
	"and.b32 %r7, %r7, 31; mov.b32 %r29, 0x4444eeee; mov.u32 %r9, s; mad.lo.u32 %r9, %r30, 16, %r9;\n"
	"mov.u32 %r11, s; and.b32 %r28, %r30, 32; mad.lo.u32 %r11, %r28, 16, %r11;\n"
	"st.shared.v4.u32 [%r9], {%r5,%r6,%r7,%r8}; bar.sync 0;\n"
	"mov.b32 %r20, 1; mov.b32 %r21, 2; mov.b32 %r22, 3; mov.b32 %r23, 4;\n"
	"mov.b32 %r24, 5; mov.b32 %r25, 6; mov.b32 %r26, 7; mov.b32 %r27, 8;\n"
	"and.b32 %r0, %r30, 31; shr.u32 %r28, %r10, %r0; and.b32 %r28, %r28, 1;\n"
	"setp.eq.u32 %p3, %r28, 0; @%p3 bra OUT;\n"
	"ld.param.u32 %r28, [apart]; setp.ne.u32 %p3, %r28, 0; @%p3 bra APART;\n";

/*
 * The operation and the lanes' own ways to it are a loop with as many entries, whose order lowering
 * keeps: nothing makes lanes meet before the operation.
 */
static void put_kernel(struct text_at *t, u32 number, const struct op *op)
{
	put(t,
	    ".visible .entry k%u(.param .u64 in, .param .u64 out, .param .u64 masks, .param .u32 apart)\n{\n%s",
	    number, prologue);
	put(t, "SYNC: %s\nsetp.ne.u32 %%p4, %%r30, %%r30; @%%p4 bra AGAIN;\n", op->text);
	put(t, "OUT: selp.u32 %%r28, 0x80000000, 0, %%p2; xor.b32 %%r27, %%r27, %%r28;\n"
	       "st.global.v4.u32 [%%rd1], {%%r20,%%r21,%%r22,%%r23};\n"
	       "st.global.v4.u32 [%%rd1+16], {%%r24,%%r25,%%r26,%%r27};\n"
	       "ret;\nAPART: ways: .branchtargets ");
	for (u32 i = 0; i < 32; i++)
		put(t, "L%u%s", i, i < 31 ? ", " : ";\n");
	put(t,
	    "mul.lo.u32 %%r28, %%r28, %%r4; shr.u32 %%r28, %%r28, 28; AGAIN: brx.idx %%r0, ways;\n");
	for (u32 i = 0; i < 32; i++)
		put(t,
		    "L%u: setp.eq.u32 %%p3, %%r28, 0; sub.u32 %%r28, %%r28, 1; @!%%p3 bra L%u; bra SYNC;\n",
		    i, i);
	put(t, "}\n");
}

static char *make_kernels(void)
{
	size_t size = ARRAY_LEN(ops) * 8192;
	struct text_at t = {malloc(size), NULL};
	char *text = t.at;

	t.end = text + size;
	put(&t, ".version 8.8\n.target sm_100a\n.address_size 64\n");
	for (u32 i = 0; i < ARRAY_LEN(ops); i++)
		put_kernel(&t, i, &ops[i]);
	return text;
}

/* ---- rounds ---- */

struct buffers {
	u32 *in, *together, *apart, *masks;
};

static u32 random_word(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (u32)(*state >> 16);
}

static void fill(struct buffers *b, const struct op *op, u64 *state)
{
	for (u32 i = 0; i < CTAS * THREADS * WORDS; i++)
		b->in[i] = random_word(state);
	for (u32 i = 0; i < CTAS * THREADS / 32; i++) {
		b->masks[i] = random_word(state) & (random_word(state) | random_word(state));
		/* Now and then few lanes, or all. */
		if (op->whole || random_word(state) % 8 == 0)
			b->masks[i] = UINT32_MAX;
		else if (random_word(state) % 8 == 0)
			b->masks[i] = 1u << random_word(state) % 32;
	}
	memset(b->together, 0xee, CTAS * THREADS * WORDS * 4);
	memset(b->apart, 0xdd, CTAS * THREADS * WORDS * 4);
}

static int run(struct ptxloom_kernel *k, const struct buffers *b, u32 apart)
{
	struct ptxloom_config c = {.grid = {CTAS}, .block = {THREADS}};
	void *in = b->in, *out = apart ? b->apart : b->together, *masks = b->masks;

	return ptxloom_launch(k, &c, (void *[]){&in, &out, &masks, &apart});
}

static void test(struct ptxloom_module *mod, struct buffers *b, u32 number, u32 rounds)
{
	char name[16];
	struct ptxloom_kernel *k;
	u64 state = 0x9e3779b97f4a7c15u * (number + 1);
	u32 wrong = 0, differ = 0;

	snprintf(name, sizeof(name), "k%u", number);
	k = ptxloom_module_kernel(mod, name);
	for (u32 i = 0; i < rounds && !wrong; i++) {
		fill(b, &ops[number], &state);
		wrong |= run(k, b, 0) || run(k, b, 1);
		differ |= memcmp(b->together, b->apart, CTAS * THREADS * WORDS * 4) != 0;
	}
	if (!CHECK(!wrong && differ == ops[number].differs))
		printf("# %s\n", ops[number].text);
}

static void test_all(const char *profile, u32 workers, u64 seed, u32 rounds)
{
	struct ptxloom_options o = {.size = sizeof(o),
				    .device = profile,
				    .workers = workers,
				    .seed = seed,
				    .timeout_ms = 60000};
	struct ptxloom_device *dev;
	struct ptxloom_module *mod;
	struct buffers b;
	char *text = make_kernels(), why[4096];

	if (!CHECK_EQ(ptxloom_device_open(&o, &dev), 0))
		return;
	b = (struct buffers){ptxloom_alloc(dev, CTAS * THREADS * WORDS * 4),
			     ptxloom_alloc(dev, CTAS * THREADS * WORDS * 4),
			     ptxloom_alloc(dev, CTAS * THREADS * WORDS * 4),
			     ptxloom_alloc(dev, CTAS * THREADS / 32 * 4)};
	if (CHECK_EQ(ptxloom_module_load(dev, text, strlen(text), &mod), 0))
		for (u32 i = 0; i < ARRAY_LEN(ops); i++)
			test(mod, &b, i, rounds);
	if (ptxloom_message(dev, why, sizeof(why)))
		printf("# %s\n", why);
	ptxloom_device_close(dev);
	free(text);
}

int main(int argc, char **argv)
{
	u32 rounds = argc > 1 ? (u32)strtoul(argv[1], NULL, 0) : 20;
	char profile[] = "/tmp/ptxloom-XXXXXX.profile";
	static const char text[] =
		"inherit = h100\nname = test\nsm = 100\ncc_major = 10\nptx_target = sm_100a\n";
	int fd = mkstemps(profile, 8);

	/* A device that has all of them. */
	if (!CHECK(fd >= 0 && write(fd, text, sizeof(text) - 1) == sizeof(text) - 1))
		return check_done();
	close(fd);
	test_all(profile, 1, 0, rounds);
	test_all(profile, 1, 12345, rounds);
	test_all(profile, 2, 777, rounds);
	unlink(profile);
	return check_done();
}
