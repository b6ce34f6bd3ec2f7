/* Registers of 128 bits, st.bulk, and lanes that come back from different functions. */
#include "tests/check.h"
#include "tests/unit/exec_harness.h"

#define HEAD                                                                                       \
	".version 8.8\n.target sm_100a\n.address_size 64\n"                                        \
	".visible .entry k(.param .u64 p)\n{\n"                                                    \
	".reg .b128 %q<4>; .reg .b64 %d<8>; .reg .b32 %r<8>; .reg .pred %p<2>;\n"                  \
	".shared .align 16 .b8 s[64]; ld.param.u64 %d0, [p];\n"

static const struct {
	const char *what, *body;
	u64 want[2];
} cases[] = {
	{"a constant has zeros in the upper half",
	 "mov.b128 %q0, -5; st.global.b128 [%d0], %q0;",
	 {(u64)-5, 0}},
	{"so has a stored one",
	 "mov.u64 %d1, -1; st.global.v2.u64 [%d0], {%d1, %d1}; st.global.b128 [%d0], 7;",
	 {7, 0}},
	{"so has one taken to pieces",
	 "mov.b128 {%d1, %d2}, 9; st.global.v2.u64 [%d0], {%d1, %d2};",
	 {9, 0}},
	{"a narrow load clears the upper half",
	 "mov.b128 %q0, {%d0, %d0}; mov.u32 %r0, -2; st.global.u32 [%d0], %r0;\n"
	 "ld.global.u32 %q0, [%d0]; st.global.b128 [%d0], %q0;",
	 {0xfffffffe, 0}},
	{"or fills it with signs",
	 "mov.u32 %r0, -2; st.global.u32 [%d0], %r0;\n"
	 "ld.global.s32 %q0, [%d0]; st.global.b128 [%d0], %q0;",
	 {(u64)-2, (u64)-1}},
	{"a narrow store takes the low bits",
	 "mov.u64 %d1, 0x1122334455667788; mov.b128 %q0, {%d1, %d0};\n"
	 "mov.u64 %d2, 0; st.global.v2.u64 [%d0], {%d2, %d2}; st.global.u32 [%d0], %q0;",
	 {0x55667788, 0}},
	{"st.bulk writes zeros",
	 "mov.u64 %d1, -1; st.shared.v2.u64 [s], {%d1, %d1}; st.shared.v2.u64 [s+16], {%d1, %d1};\n"
	 "mov.u64 %d2, 16; st.bulk.shared::cta [s+8], %d2, 0;\n"
	 "ld.shared.u64 %d3, [s]; ld.shared.u64 %d4, [s+16]; st.global.v2.u64 [%d0], {%d3, %d4};",
	 {(u64)-1, 0}},
};

static enum exec_stop run(struct harness *h, const char *body, u64 *out, u32 block)
{
	struct text t = {0};
	enum exec_stop stop = STOP_FAULT;
	u64 p;

	text_printf(&t, "%s%s\nret;\n}\n", HEAD, body);
	if (CHECK(harness_open(h, t.at))) {
		p = mem_alloc(&h->mem, 16, 0, MEM_KIND_DEVICE);
		stop = harness_run(h, "k", 1, block, &p, NULL);
		memcpy(out, (void *)(uintptr_t)p, 16);
	}
	text_fini(&t);
	return stop;
}

static void test_cases(void)
{
	for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
		struct harness h;
		u64 got[2] = {0};

		CHECK_EQ(run(&h, cases[i].body, got, 1), STOP_DONE);
		CHECK_MSG(got[0] == cases[i].want[0] && got[1] == cases[i].want[1], cases[i].what);
		harness_close(&h);
	}
}

static void test_bulk_faults(void)
{
	struct harness h;
	u64 got[2];

	CHECK_EQ(run(&h, "st.bulk.shared::cta [s+4], 8, 0;", got, 1), STOP_FAULT);
	CHECK_EQ(h.fault.kind, FAULT_MISALIGNED_ADDRESS);
	harness_close(&h);
	CHECK_EQ(run(&h, "st.bulk.shared::cta [s], 1048576, 0;", got, 1), STOP_FAULT);
	CHECK_EQ(h.fault.kind, FAULT_ILLEGAL_ADDRESS);
	harness_close(&h);
}

/* Lanes that went into different functions go on together: none passes those that are behind. */
static const char apart[] =
	".version 8.0\n.target sm_80\n.address_size 64\n"
	".func (.reg .u32 o) f0(.reg .u32 a)\n{ add.u32 o, a, 1; ret; }\n"
	".func (.reg .u32 o) f1(.reg .u32 a)\n{ .reg .u32 t; .reg .pred p; and.b32 t, a, 4;\n"
	"setp.eq.u32 p, t, 0; @p bra E; call (t), f0, (a); add.u32 a, a, t; E: add.u32 o, a, 2; ret; }\n"
	".visible .entry k(.param .u64 p)\n{\n"
	".reg .u64 %d<8>; .reg .u32 %r<8>; .reg .pred %p<2>;\n"
	"ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0;\n"
	"mov.u64 %d1, f0; mov.u64 %d2, f1; selp.u64 %d3, %d1, %d2, %p0;\n"
	"P: .callprototype (.reg .u32 _) _ (.reg .u32 _); call (%r2), %d3, (%r0), P;\n"
	"activemask.b32 %r3; mul.wide.u32 %d4, %r0, 4; add.u64 %d4, %d4, %d0;\n"
	"st.global.u32 [%d4], %r3; ret;\n}\n";

static void test_together(void)
{
	struct harness h;
	bool all = true;
	u64 p;

	if (!CHECK(harness_open(&h, apart)))
		return;
	p = mem_alloc(&h.mem, 128, 0, MEM_KIND_DEVICE);
	CHECK_EQ(harness_run(&h, "k", 1, 32, &p, NULL), STOP_DONE);
	for (u32 i = 0; i < 32; i++)
		all &= ((u32 *)(uintptr_t)p)[i] == FULL_MASK;
	CHECK_MSG(all, "lanes meet behind an indirect call");
	harness_close(&h);
}

/* Odd spellings that have no meaning load, and fault when they are reached. */
static void test_refused(void)
{
	struct harness h;
	u64 got[2];

	CHECK_EQ(run(&h,
		     "mov.u32 %r2, 1; setp.eq.u32 %p0, %r2, 1; @%p0 bra E;\n"
		     "mov.v2.u32 {%r0, %r1}, %r2; E:",
		     got, 1),
		 STOP_DONE);
	harness_close(&h);
	CHECK_EQ(run(&h, "mov.u32 %r2, 1; mov.v2.u32 {%r0, %r1}, %r2;", got, 1), STOP_FAULT);
	CHECK_EQ(h.fault.kind, FAULT_ILLEGAL_INSTRUCTION);
	CHECK(!strcmp(h.fault.text,
		      "'mov.v2.u32' is not supported: it can be checked but not run"));
	harness_close(&h);
}

int main(void)
{
	test_refused();
	test_cases();
	test_bulk_faults();
	test_together();
	return check_done();
}
