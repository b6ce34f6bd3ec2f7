/*
 * Litmus tests of the memory model: short programs of two to four threads, run many times between
 * CTAs, between warps and between lanes of one warp, on one worker and on two. Outcomes that the
 * model forbids never occur.
 *
 *     dev_litmus [LAUNCHES]
 *
 * Each launch has its own seed, so 1000 launches are 1000 orders. Source: PTX ISA "Memory
 * Consistency Model", its "Axioms" and "Fence-SC", "Causality Order".
 */
#include "tests/check.h"

#include "src/base/base.h"

#include <ptxloom.h>

#include <stdlib.h>

#define ROLES_MAX 4
#define SLOTS 1024u     /* instances of a test in one launch */
#define ROUNDS 16u      /* instances a thread takes part in */
#define THREADS 64u     /* of a CTA */
#define SLOT_BYTES 128u /* x and y lie in cache lines of their own */

/* What a thread does: %rd1 = address of x, %rd2 of y; results in %r1 and %r2; ; separates, and
 * ~ is a place where a thread may have to wait for others. */
struct litmus {
	const char *name;
	u32 roles;
	const char *role[ROLES_MAX];
	/* By role and register: what together must not be seen; -1: anything. */
	int forbidden[ROLES_MAX][2];
};

#define SET_X "st.relaxed.gpu.global.u32 [%rd1], 1;"
#define SET_Y "st.relaxed.gpu.global.u32 [%rd2], 1;"
#define GET_X(r) "ld.relaxed.gpu.global.u32 " r ", [%rd1];"
#define GET_Y(r) "ld.relaxed.gpu.global.u32 " r ", [%rd2];"
#define FENCE "fence.acq_rel.gpu;"
#define FENCE_SC "fence.sc.gpu;"
#define ANY                                                                                        \
	{                                                                                          \
		-1, -1                                                                             \
	}

static const struct litmus tests[] = {
	{"MP, release and acquire",
	 2,
	 {SET_X "~ st.release.gpu.global.u32 [%rd2], 1;",
	  "ld.acquire.gpu.global.u32 %r1, [%rd2]; ~" GET_X("%r2")},
	 {ANY, {1, 0}}},
	{"MP, fences",
	 2,
	 {SET_X FENCE "~" SET_Y, GET_Y("%r1") "~" FENCE GET_X("%r2")},
	 {ANY, {1, 0}}},
	{"MP, membar and volatile",
	 2,
	 {"st.volatile.global.u32 [%rd1], 1; membar.gl; ~ st.volatile.global.u32 [%rd2], 1;",
	  "ld.volatile.global.u32 %r1, [%rd2]; ~ membar.gl; ld.volatile.global.u32 %r2, [%rd1];"},
	 {ANY, {1, 0}}},
	{"MP, red with release",
	 2,
	 {SET_X "~ red.release.gpu.global.add.u32 [%rd2], 1;",
	  "ld.acquire.gpu.global.u32 %r1, [%rd2]; ~" GET_X("%r2")},
	 {ANY, {1, 0}}},
	{"MP, atom with acquire",
	 2,
	 {SET_X "~ atom.release.gpu.global.exch.b32 %r3, [%rd2], 1;",
	  "atom.acquire.gpu.global.add.u32 %r1, [%rd2], 0; ~" GET_X("%r2")},
	 {ANY, {1, 0}}},
	/* A red has no result; the fence makes it a release pattern. */
	{"MP, fence and red",
	 2,
	 {SET_X FENCE "~ red.relaxed.gpu.global.or.b32 [%rd2], 1;",
	  GET_Y("%r1") FENCE "~" GET_X("%r2")},
	 {ANY, {1, 0}}},
	{"SB, fence.sc",
	 2,
	 {SET_X FENCE_SC "~" GET_Y("%r1"), SET_Y FENCE_SC "~" GET_X("%r1")},
	 {{0, -1}, {0, -1}}},
	{"SB, atomics and fence.sc",
	 2,
	 {"atom.relaxed.gpu.global.exch.b32 %r3, [%rd1], 1;" FENCE_SC "~" GET_Y("%r1"),
	  "atom.relaxed.gpu.global.exch.b32 %r3, [%rd2], 1;" FENCE_SC "~" GET_X("%r1")},
	 {{0, -1}, {0, -1}}},
	/* Values out of thin air. */
	{"LB, dependent",
	 2,
	 {GET_X("%r1") "~ st.relaxed.gpu.global.u32 [%rd2], %r1;",
	  GET_Y("%r1") "~ st.relaxed.gpu.global.u32 [%rd1], %r1;"},
	 {{1, -1}, {1, -1}}},
	{"LB, fences",
	 2,
	 {GET_X("%r1") FENCE "~" SET_Y, GET_Y("%r1") FENCE "~" SET_X},
	 {{1, -1}, {1, -1}}},
	{"CoRR", 2, {SET_X, GET_X("%r1") "~" GET_X("%r2")}, {ANY, {1, 0}}},
	{"CoWR",
	 2,
	 {SET_X "~" GET_X("%r1"), "st.relaxed.gpu.global.u32 [%rd1], 2;"},
	 {{0, -1}, ANY}},
	{"IRIW, fence.sc",
	 4,
	 {SET_X, SET_Y, GET_X("%r1") FENCE_SC "~" GET_Y("%r2"),
	  GET_Y("%r1") FENCE_SC "~" GET_X("%r2")},
	 {ANY, ANY, {1, 0}, {1, 0}}},
	{"WRC",
	 3,
	 {SET_X, GET_X("%r1") "~ st.release.gpu.global.u32 [%rd2], %r1;",
	  "ld.acquire.gpu.global.u32 %r1, [%rd2]; ~" GET_X("%r2")},
	 {ANY, {1, -1}, {1, 0}}},
	{"2+2W, fence.sc",
	 2,
	 {"st.relaxed.gpu.global.u32 [%rd1], 1;" FENCE_SC
	  "~ st.relaxed.gpu.global.u32 [%rd2], 2;" FENCE_SC
	  "ld.relaxed.gpu.global.u32 %r1, [%rd2];",
	  "st.relaxed.gpu.global.u32 [%rd2], 1;" FENCE_SC
	  "~ st.relaxed.gpu.global.u32 [%rd1], 2;" FENCE_SC
	  "ld.relaxed.gpu.global.u32 %r1, [%rd1];"},
	 {{1, -1}, {1, -1}}},
	{"R, fence.sc",
	 2,
	 {SET_X FENCE_SC "~" SET_Y FENCE_SC "ld.relaxed.gpu.global.u32 %r1, [%rd2];",
	  "st.relaxed.gpu.global.u32 [%rd2], 2;" FENCE_SC "~" GET_X("%r1")},
	 {{2, -1}, {0, -1}}},
	/* What begins a release sequence: read-modify-writes of others go on with it. */
	{"MP, release sequence",
	 3,
	 {SET_X "~ st.release.gpu.global.u32 [%rd2], 1;",
	  "atom.relaxed.gpu.global.add.u32 %r1, [%rd2], 2;",
	  "ld.acquire.gpu.global.u32 %r1, [%rd2]; ~" GET_X("%r2")},
	 {ANY, {1, -1}, {3, 0}}},
	{"MP, scope of the system",
	 2,
	 {SET_X "~ st.release.sys.global.u32 [%rd2], 1;",
	  "ld.acquire.sys.global.u32 %r1, [%rd2]; ~" GET_X("%r2")},
	 {ANY, {1, 0}}},
	{"MP, plain data",
	 2,
	 {"st.global.u32 [%rd1], 1; ~ st.release.gpu.global.u32 [%rd2], 1;",
	  "ld.acquire.gpu.global.u32 %r1, [%rd2]; ~ ld.global.u32 %r2, [%rd1];"},
	 {ANY, {1, 0}}},
	{"MP, in one vector",
	 2,
	 {"~ st.relaxed.gpu.global.v2.u32 [%rd1], {1, 1};",
	  "~ ld.relaxed.gpu.global.v2.u32 {%r1, %r2}, [%rd1];"},
	 {ANY, {1, 0}}},
	{"CoRW",
	 2,
	 {GET_X("%r1") "~ st.relaxed.gpu.global.u32 [%rd1], 2;" GET_X("%r2"), SET_X},
	 {{2, -1}, ANY}},
	{"atomics of two scopes",
	 2,
	 {"atom.relaxed.cta.global.exch.b32 %r3, [%rd2], 0; atom.acq_rel.gpu.global.cas.b32 %r1, [%rd1], 0, 1;",
	  "atom.acq_rel.sys.global.cas.b32 %r1, [%rd1], 0, 1;"},
	 {{0, -1}, {0, -1}}},
	{"ISA2, one releases what another has acquired",
	 3,
	 {SET_X "~ red.release.gpu.global.add.u32 [%rd2], 1;",
	  "atom.acq_rel.gpu.global.add.u32 %r1, [%rd2], 2;",
	  "ld.acquire.gpu.global.u32 %r1, [%rd2]; ~" GET_X("%r2")},
	 {ANY, {1, -1}, {3, 0}}},
};

/* What may be seen, and has to be: shows that the tests see what there is to see. */
static const struct litmus controls[] = {
	{"MP, stores the other way round",
	 2,
	 {SET_Y "~" SET_X, GET_Y("%r1") "~" GET_X("%r2")},
	 {ANY, {1, 0}}},
	{"SB, one after the other",
	 2,
	 {SET_X "~" GET_Y("%r1"), SET_Y "~" GET_X("%r1")},
	 {{1, -1}, {1, -1}}},
};

/* ---- the kernel ---- */

static void put(char **at, const char *text)
{
	size_t n = strlen(text);

	memcpy(*at, text, n + 1);
	*at += n;
}

static void put_role(char **at, const char *role)
{
	for (; *role; role++) {
		char one[2] = {*role, 0};

		/* Whether a thread waits differs by instance and launch. */
		put(at,
		    *role == '~'
			    ? "@%p1 nanosleep.u32 20; shr.u32 %r9, %r9, 1; and.b32 %r10, %r9, 1; "
			      "setp.eq.u32 %p1, %r10, 1;"
			    : one);
	}
}

/*
 * Threads of `lanes` consecutive numbers have the same role: whole CTAs (lanes = threads of a CTA),
 * warps (32) or single lanes (1). Every thread takes part in n instances.
 */
static const char head[] =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".visible .entry k(.param .u64 mem, .param .u64 out, .param .u32 lanes, .param .u32 n, .param .u32 salt)\n{\n"
	".reg .pred %p<6>; .reg .b32 %r<32>; .reg .b64 %rd<12>;\n"
	"ld.param.u64 %rd8, [mem]; ld.param.u64 %rd9, [out]; ld.param.u32 %r20, [lanes];\n"
	"ld.param.u32 %r21, [n]; ld.param.u32 %r22, [salt];\n"
	"mov.u32 %r11, %ctaid.x; mov.u32 %r12, %ntid.x; mov.u32 %r13, %tid.x; mad.lo.u32 %r14, %r11, %r12, %r13;\n"
	"div.u32 %r15, %r14, %r20; rem.u32 %r16, %r14, %r20; rem.u32 %r17, %r15, ROLES;\n"
	"div.u32 %r15, %r15, ROLES; mad.lo.u32 %r18, %r15, %r20, %r16; mul.lo.u32 %r18, %r18, %r21;\n"
	"mov.u32 %r19, 0;\n"
	"LOOP: add.u32 %r23, %r18, %r19; mov.u32 %r1, 0; mov.u32 %r2, 0;\n"
	"mad.lo.u32 %r9, %r14, 747796405, %r22; mad.lo.u32 %r9, %r23, 277803737, %r9; shr.u32 %r10, %r9, 15;\n"
	"xor.b32 %r9, %r9, %r10; and.b32 %r10, %r9, 1; setp.eq.u32 %p1, %r10, 1;\n"
	"mul.wide.u32 %rd1, %r23, 128; add.u64 %rd1, %rd8, %rd1; add.u64 %rd2, %rd1, 64;\n";

static void make_kernel(const struct litmus *t, char *text)
{
	char roles[64], line[256];

	snprintf(roles, sizeof(roles), ".reg .b32 ROLES; mov.u32 ROLES, %u;\n", t->roles);
	for (const char *s = head; *s; s++) {
		char one[2] = {*s, 0};

		put(&text, one);
		if (*s == '\n' && !strncmp(s + 1, "ld.param.u64", 12))
			put(&text, roles);
	}
	for (u32 i = 1; i < t->roles; i++) {
		snprintf(line, sizeof(line), "setp.eq.u32 %%p2, %%r17, %u; @%%p2 bra ROLE%u;\n", i,
			 i);
		put(&text, line);
	}
	for (u32 i = 0; i < t->roles; i++) {
		snprintf(line, sizeof(line), "ROLE%u: ", i);
		put(&text, line);
		put_role(&text, t->role[i]);
		put(&text, " bra NEXT;\n");
	}
	put(&text,
	    "NEXT: mad.lo.u32 %r24, %r23, ROLES, %r17; mul.wide.u32 %rd3, %r24, 8; add.u64 %rd3, %rd9, %rd3;\n"
	    "st.global.v2.u32 [%rd3], {%r1, %r2};\n"
	    "add.u32 %r19, %r19, 1; setp.lt.u32 %p2, %r19, %r21; @%p2 bra LOOP; ret;\n}\n");
}

/* ---- runs ---- */

struct run {
	struct ptxloom_device *dev;
	struct ptxloom_kernel *kernel;
	u8 *mem;
	u32 *out;
};

static bool is_forbidden(const struct litmus *t, const u32 *out)
{
	for (u32 i = 0; i < t->roles; i++)
		for (u32 k = 0; k < 2; k++)
			if (t->forbidden[i][k] >= 0 && out[2 * i + k] != (u32)t->forbidden[i][k])
				return false;
	return true;
}

/* Returns how many instances ended as they must not. */
static u32 launch(struct run *r, const struct litmus *t, u32 lanes, u32 salt)
{
	u32 n = ROUNDS, all = SLOTS / n * t->roles, bad = 0;
	struct ptxloom_config c = {.grid = {all / THREADS}, .block = {THREADS}, .cooperative = 1};
	void *mem = r->mem, *out = r->out;

	memset(r->mem, 0, SLOTS * SLOT_BYTES);
	memset(r->out, 0xff, SLOTS * ROLES_MAX * 8);
	if (ptxloom_launch(r->kernel, &c, (void *[]){&mem, &out, &lanes, &n, &salt}))
		return UINT32_MAX;
	for (u32 i = 0; i < SLOTS; i++)
		bad += is_forbidden(t, r->out + 2 * i * t->roles);
	/* Every instance has run. */
	for (u32 i = 0; i < 2 * SLOTS * t->roles; i++)
		if (r->out[i] == UINT32_MAX)
			return UINT32_MAX;
	return bad;
}

/* seen: by roles of CTAs, of warps, of lanes. */
static void run_all(struct ptxloom_device *dev, const struct litmus *t, u32 launches, u32 *seen)
{
	struct run r = {.dev = dev,
			.mem = ptxloom_alloc(dev, SLOTS * SLOT_BYTES),
			.out = ptxloom_alloc(dev, SLOTS * ROLES_MAX * 8)};
	static char text[1 << 16];
	struct ptxloom_module *mod;
	const u32 lanes[] = {THREADS, 32, 1};

	make_kernel(t, text);
	if (!CHECK_EQ(ptxloom_module_load(dev, text, strlen(text), &mod), 0)) {
		ptxloom_message(dev, text, sizeof(text));
		printf("# %s\n", text);
		return;
	}
	r.kernel = ptxloom_module_kernel(mod, "k");
	for (u32 i = 0; i < launches; i++)
		for (u32 k = 0; k < 3; k++)
			seen[k] |= launch(&r, t, lanes[k], i * 2654435761u);
	ptxloom_module_unload(mod);
	ptxloom_free(dev, r.mem);
	ptxloom_free(dev, r.out);
}

/*
 * Lanes that have diverged at a branch meet behind it, whichever go first: what one has done there
 * the others see, though the program does not say so. Not where it waits for them: [out + 128] is 1
 * when they have gone on.
 */
static const char meeting[] =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".visible .entry k(.param .u64 out, .param .u32 wait)\n{\n"
	".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>; .shared .u32 word;\n"
	"ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [wait]; mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r2, 0;\n"
	"setp.ne.u32 %p2, %r1, 0; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd1, %rd2;\n"
	"@%p1 bra MEET; @!%p2 bra SET;\n"
	"WAIT: ld.volatile.global.u32 %r3, [%rd1+128]; setp.eq.u32 %p3, %r3, 0; @%p3 bra WAIT;\n"
	"SET: st.volatile.shared.u32 [word], 7;\n"
	"MEET: ld.volatile.shared.u32 %r4, [word]; st.global.u32 [%rd2], %r4;\n"
	"@%p1 st.volatile.global.u32 [%rd1+128], 1; ret;\n}\n";

static void meet_once(struct ptxloom_kernel *k, u32 *out, u32 seed)
{
	struct ptxloom_config c = {.grid = {1}, .block = {32}};
	u32 wait = 0, missed = 0;

	memset(out, 0, 33 * 4);
	CHECK_EQ(ptxloom_launch(k, &c, (void *[]){&out, &wait}), 0);
	for (u32 i = 0; i < 32; i++)
		missed += out[i] != 7;
	if (!CHECK_EQ(missed, 0))
		printf("# seed %u\n", seed);
	wait = 1;
	out[32] = 0;
	CHECK_EQ(ptxloom_launch(k, &c, (void *[]){&out, &wait}), 0);
	CHECK_EQ(out[0], 7);
}

static void test_meeting(u32 seeds)
{
	for (u32 seed = 0; seed < seeds; seed++) {
		struct ptxloom_options o = {.size = sizeof(o),
					    .device = "h100",
					    .workers = 1,
					    .seed = seed,
					    .timeout_ms = 60000};
		struct ptxloom_device *dev;
		struct ptxloom_module *mod;
		u32 *out;

		if (!CHECK_EQ(ptxloom_device_open(&o, &dev), 0))
			return;
		out = ptxloom_alloc(dev, 256);
		if (CHECK_EQ(ptxloom_module_load(dev, meeting, strlen(meeting), &mod), 0)) {
			meet_once(ptxloom_module_kernel(mod, "k"), out, seed);
			ptxloom_module_unload(mod);
		}
		ptxloom_free(dev, out);
		ptxloom_device_close(dev);
	}
}

/* One worker and a seed: the same orders every time, none of them the natural one. */
static void test_controls(u32 launches)
{
	struct ptxloom_options o = {.size = sizeof(o),
				    .device = "a100",
				    .workers = 1,
				    .seed = 1000003,
				    .timeout_ms = 60000};
	struct ptxloom_device *dev;

	if (!CHECK_EQ(ptxloom_device_open(&o, &dev), 0))
		return;
	for (size_t i = 0; i < ARRAY_LEN(controls); i++) {
		u32 seen[3] = {0};

		run_all(dev, &controls[i], launches, seen);
		for (u32 k = 0; k < 3; k++)
			if (!CHECK(seen[k] && seen[k] != UINT32_MAX))
				printf("# %s, way %u\n", controls[i].name, k);
	}
	ptxloom_device_close(dev);
}

static void test_forbidden(struct ptxloom_device *dev, u32 launches, u32 workers)
{
	for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
		u32 seen[3] = {0};

		run_all(dev, &tests[i], launches, seen);
		for (u32 k = 0; k < 3; k++)
			if (!CHECK_EQ(seen[k], 0))
				printf("# %s, %u workers, way %u\n", tests[i].name, workers, k);
	}
}

/* With weak memory, too; launches under a schedule take longer. */
static void test_weak(u32 seeds)
{
	for (u32 seed = 1; seed <= seeds; seed++) {
		struct ptxloom_options o = {
			.size = sizeof(o), .device = "a100", .weak = 6 * seed, .timeout_ms = 60000};
		struct ptxloom_device *dev;

		if (!CHECK_EQ(ptxloom_device_open(&o, &dev), 0))
			return;
		test_forbidden(dev, 1, 1);
		ptxloom_device_close(dev);
	}
}

int main(int argc, char **argv)
{
	u32 launches = argc > 1 ? (u32)strtoul(argv[1], NULL, 0) : 20;

	for (u32 workers = 1; workers <= 2; workers++)
		for (u32 seed = 0; seed < 2; seed++) {
			struct ptxloom_options o = {.size = sizeof(o),
						    .device = "a100",
						    .workers = workers,
						    .seed = seed * 1000003,
						    .timeout_ms = 60000};
			struct ptxloom_device *dev;

			if (!CHECK_EQ(ptxloom_device_open(&o, &dev), 0))
				return check_done();
			test_forbidden(dev, launches, workers);
			ptxloom_device_close(dev);
		}
	test_weak(1 + launches / 100);
	test_meeting(12);
	test_controls(launches < 20 ? 20 : launches);
	return check_done();
}
