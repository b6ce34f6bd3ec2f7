/*
 * What lowering makes of loops and special registers by what values depend on: loops that wait for
 * other threads or do nothing but wait for a clock are known, and values of the launch are read
 * once for each launch.
 */
#include "grammar/parse.h"
#include "src/exec/exec.h"
#include "src/lower/lower.h"
#include "tests/check.h"

#include <stdio.h>

struct lowered {
	char text[2048];
	struct ir_module *m;
	struct program *p;
};

static bool lower_body(struct lowered *x, const char *body)
{
	struct lower_options options = {.warps = 8, .check = true};
	struct diag_source source = {.name = "k.ptx", .text = x->text};
	u64 address[8] = {0};
	struct diag d;

	snprintf(x->text, sizeof(x->text),
		 ".version 9.0\n.target sm_90\n.address_size 64\n"
		 ".visible .entry k(.param .u64 out)\n{\n.reg .pred %%p<4>; .reg .f32 %%f<4>; "
		 ".reg .b32 %%r<8>; .reg .b64 %%rd<8>;\nld.param.u64 %%rd1, [out];\n%s\nret;\n}\n",
		 body);
	source.size = strlen(x->text);
	diag_init(&d, diag_print, stderr);
	x->m = ptx_parse(&source, NULL, &d);
	x->p = x->m ? exec_lower(x->m, ir_find_func(x->m, "k"), arch_find("h200"), address,
				 &options, &d)
		    : NULL;
	diag_fini(&d);
	return CHECK_MSG(x->p != NULL, body);
}

static void lowered_free(struct lowered *x)
{
	exec_program_free(x->p);
	ir_module_free(x->m);
}

static void test_wait(const char *what, const char *body, bool expected)
{
	struct lowered x;
	bool waits = false;

	if (lower_body(&x, body))
		for (u32 i = 0; i < x.p->uops; i++)
			waits |= uop_info[x.p->uop[i].inner].payload == PAYLOAD_SREG &&
				 x.p->uop[i].sreg.waits;
	CHECK_MSG(waits == expected, what);
	lowered_free(&x);
}

#define LOOP(body) "mov.u64 %rd2, %clock64; L: mov.u64 %rd3, %clock64; " body " @%p1 bra L;"
#define UNTIL "sub.u64 %rd4, %rd3, %rd2; setp.lt.u64 %p1, %rd4, 1000;"

static void test_waits(void)
{
	test_wait("a difference of clocks", LOOP(UNTIL), true);
	test_wait("with nanosleep", LOOP("nanosleep.u32 100; " UNTIL), true);
	test_wait("with any arithmetic",
		  LOOP("abs.s32 %r1, %r2; shf.l.wrap.b32 %r3, %r1, %r2, %r4; popc.b32 %r2, %r1; "
		       "ex2.approx.f32 %f1, %f2; prmt.b32 %r4, %r1, %r2, %r3; " UNTIL),
		  true);
	test_wait("with a parameter", LOOP("ld.param.u64 %rd1, [out]; " UNTIL), true);
	test_wait("that loads", LOOP("ld.global.u32 %r1, [%rd1]; " UNTIL), false);
	test_wait("that stores", LOOP("st.global.u32 [%rd1], %r1; " UNTIL), false);
	test_wait("that votes", LOOP("activemask.b32 %r1; " UNTIL), false);
	test_wait("that ends by something else", LOOP("setp.lt.u32 %p1, %r1, 7;"), false);
}

static void test_poll(const char *what, const char *body, bool expected)
{
	struct lowered x;

	if (lower_body(&x, body))
		CHECK_MSG(x.p->polls == expected, what);
	lowered_free(&x);
}

#define COUNTED "add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 100; @%p1 bra L;"
#define SPIN(body) "L: " body " @%p1 bra L;"

/* Loops wait if they go on by what others may write. */
static void test_polls(void)
{
	test_poll("a volatile load",
		  SPIN("ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0;"), true);
	test_poll("a plain load, and nothing else",
		  SPIN("ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0;"), true);
	test_poll("plain loads of a list",
		  SPIN("ld.global.u64 %rd1, [%rd1]; setp.ne.u64 %p1, %rd1, 0;"), false);
	test_poll(
		"an acquired value by way of arithmetic",
		SPIN("ld.acquire.gpu.u32 %r1, [%rd1]; add.u32 %r2, %r1, 7; cvt.u64.u32 %rd2, %r2; "
		     "setp.eq.u64 %p1, %rd2, 0;"),
		true);
	test_poll("a lock", SPIN("atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0;"),
		  true);
	test_poll(
		"a lock that leaves in the middle",
		"L: atom.global.exch.b32 %r1, [%rd1], 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra M; bra L; M:",
		true);
	test_poll("by way of memory",
		  SPIN("atom.global.exch.b32 %r1, [%rd1], 1; st.global.u32 [%rd1+4], %r1; "
		       "ld.global.u32 %r2, [%rd1+4]; setp.ne.u32 %p1, %r2, 0;"),
		  true);
	test_poll(
		"by what came round the loop",
		SPIN("setp.ne.u32 %p1, %r2, 0; mov.u32 %r2, %r1; atom.global.exch.b32 %r1, [%rd1], 1;"),
		true);
	test_poll("by a vote",
		  SPIN("ld.relaxed.gpu.global.u32 %r1, [%rd1]; setp.ne.u32 %p2, %r1, 0; "
		       "vote.sync.any.pred %p1, %p2, -1;"),
		  true);
	test_poll("a pause", "L: nanosleep.u32 20; " COUNTED, true);
	test_poll("counted sums", "L: atom.global.add.u32 %r2, [%rd1], 1; " COUNTED, false);
	test_poll("counted sums whose results are kept",
		  "L: atom.global.add.u32 %r2, [%rd1], 1; add.u32 %r3, %r3, %r2; " COUNTED
		  " st.global.u32 [%rd1], %r3;",
		  false);
	test_poll("counted relaxed loads",
		  "L: ld.relaxed.gpu.global.u32 %r2, [%rd1]; st.global.u32 [%rd1+8], %r2; " COUNTED,
		  false);
}

/* Is the register read outside of the kernel's text, for the launch? */
static bool is_hoisted(const struct program *p, u32 id)
{
	for (u32 i = p->launch_first; i < p->uops; i++)
		if (uop_info[p->uop[i].inner].payload == PAYLOAD_SREG &&
		    p->uop[i].sreg.number == id)
			return true;
	return false;
}

static void test_launch_value(u32 id)
{
	const struct isa_sreg *s = isa_sreg(id);
	bool wide = isa_type_bits(s->type) == 64;
	struct lowered x;
	char body[256];

	snprintf(body, sizeof(body), "mov.%s %s, %s%s; st.global.%s [%%rd1], %s;",
		 wide ? "b64" : "b32", wide ? "%rd2" : "%r1", s->name,
		 s->components > 1 ? ".x" : "", wide ? "b64" : "b32", wide ? "%rd2" : "%r1");
	if (lower_body(&x, body))
		CHECK_MSG(is_hoisted(x.p, id) == (isa_sreg_varies(id) == ISA_LAUNCH), s->name);
	lowered_free(&x);
}

int main(void)
{
	test_waits();
	test_polls();
	/* Those of lanes are hoisted by other rules, predicates are not at all. */
	for (u32 id = 0; id < ISA_SREGS; id++)
		if (isa_sreg_varies(id) != ISA_LANE && isa_sreg(id)->type != T_pred)
			test_launch_value(id);
	return check_done();
}
