/*
 * PTX of old compilers and what ptxas takes beyond the manual, run: registers and local variables
 * of the module, several results of a function, constants added to registers, saturated special
 * registers.
 */
#include "tests/check.h"
#include "tests/unit/exec_harness.h"

#define HEAD ".version 2.3\n.target sm_20\n.address_size 64\n"
#define KERNEL                                                                                     \
	".entry k(.param .u64 out)\n{\n.reg .u64 o; .reg .u32 t, r<9>; .reg .pred p;\n"            \
	"ld.param.u64 o, [out]; cvt.sat.u16.u32 h0, %tid.x; cvt.u32.u16 t, h0; mad.wide.u32 o, t, 4, o;\n"
#define DONE "st.global.u32 [o], r1; exit;\n}\n"
#define HALVES ".reg .u16 h<2>;\n"

static const struct {
	const char *name, *text;
	u32 factor, plus; /* the result of thread t is t * factor + plus */
} cases[] = {
	{"registers of the module",
	 HALVES
	 ".reg .u32 m<3>; .reg .v4 .u32 v;\n" KERNEL
	 "mov.u32 m2, t; mov.u32 v.y, 7; { .reg .u32 m2; mov.u32 m2, 99; } add.u32 r1, m2, v.y;" DONE,
	 1, 7},
	{"local variables of the module",
	 HALVES
	 ".local .align 8 .u32 m[4];\n" KERNEL
	 "st.local.u32 [m+12], t; mov.u32 r2, 5; st.local.u32 [m], r2; ld.local.u32 r1, [m+12];"
	 "ld.local.u32 r3, [m]; add.u32 r1, r1, r3;" DONE,
	 1, 5},
	{"several results",
	 HALVES ".func (.reg .u32 s, .reg .u32 d) f (.reg .u32 a, .reg .u32 b)\n"
		"{ add.u32 s, a, b; sub.u32 d, a, b; ret; }\n" KERNEL
		"mov.u32 r2, 9; call (r3, r4), f, (t, r2); mad.lo.u32 r1, r3, 2, r4;" DONE,
	 3, 9},
	{"register + constant", HALVES KERNEL "add.u32 r1, t + 3, t + (4 * 5);" DONE, 2, 23},
	{"register + constant under a guard",
	 HALVES KERNEL
	 "mov.u32 r1, 77; setp.ge.u32 p, t, 0; @p mov.u32 r1, t + -1; @!p mov.u32 r1, t + 1000;" DONE,
	 1, UINT32_MAX},
	{"64-bit register + constant",
	 HALVES ".reg .u64 d;\n" KERNEL
		"cvt.u64.u32 d, t; shr.u64 d, d + 0x500000000, 32; cvt.u32.u64 r1, d;" DONE,
	 0, 5},
};

static void run(u32 i)
{
	u32 bad = 0;
	struct harness h;
	struct text t = {0};
	u64 out;

	text_printf(&t, HEAD "%s", cases[i].text);
	if (!CHECK(harness_open(&h, t.at)))
		return;
	harness_place_vars(&h);
	out = mem_alloc(&h.mem, 4096, 0, MEM_KIND_DEVICE);
	CHECK_EQ(harness_run(&h, "k", 1, 100, &out, NULL), STOP_DONE);
	for (u32 k = 0; k < 100; k++)
		bad += ((u32 *)(uintptr_t)out)[k] != k * cases[i].factor + cases[i].plus;
	if (!CHECK_EQ(bad, 0))
		printf("# %s: [3] is %u\n", cases[i].name, ((u32 *)(uintptr_t)out)[3]);
	harness_close(&h);
	text_fini(&t);
}

/* What can be checked and not run stops the launch where it is reached. */
static void refuse(const char *body, const char *why)
{
	struct harness h;
	u64 out;

	if (!CHECK(harness_open(&h, body)))
		return;
	harness_place_vars(&h);
	out = mem_alloc(&h.mem, 4096, 0, MEM_KIND_DEVICE);
	CHECK_EQ(harness_run(&h, "k", 1, 32, &out, NULL), STOP_FAULT);
	if (!CHECK(strstr(h.fault.text, why)))
		printf("# fault: %s\n", h.fault.text);
	harness_close(&h);
}

int main(void)
{
	for (u32 i = 0; i < ARRAY_LEN(cases); i++)
		run(i);
	refuse(HEAD
	       ".reg .u32 m;\n.func f { mov.u32 m, 1; ret; }\n.entry k(.param .u64 out) { call f; exit; }\n",
	       "in kernels only");
	refuse(HEAD ".entry k(.param .u64 out) { .reg .f32 f; mov.f32 f, f + 1; exit; }\n",
	       "not an integer");
	return check_done();
}
