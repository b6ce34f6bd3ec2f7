/*
 * Operands against rows, as modules are parsed: messages, minima, limits, and what loading takes
 * beyond judging.
 */
#include "src/dev/module/module.h"
#include "tests/check.h"

struct parsed {
	struct ir_module *m;
	struct text messages;
	u32 errors;
};

static struct parsed parse(const char *text, enum module_use use)
{
	struct diag_source source = {.name = "t", .text = text, .size = strlen(text)};
	struct parsed r = {0};
	struct diag d;

	diag_init(&d, diag_collect, &r.messages);
	r.m = module_parse(&source, use, &d);
	r.errors = d.errors;
	diag_fini(&d);
	return r;
}

static void drop(struct parsed *r)
{
	ir_module_free(r->m);
	text_fini(&r->messages);
}

static bool says(const struct parsed *r, const char *what)
{
	return r->messages.at && strstr(r->messages.at, what);
}

/*
 * One statement in a kernel with registers of every kind; the message it must have, NULL: it is
 * legal.
 */
struct statement {
	const char *text, *message;
};

static const struct statement statements[] = {
	/* types of registers */
	{"add.s32 %r1, %u1, %s1;", NULL},
	{"add.s32 %r1, %r2, %f1;", "operand b is .f32, .s32 is expected"},
	{"add.f32 %f1, %r2, %f1;", NULL},
	{"add.f32 %f1, %u1, %f1;", "operand a is .u32, .f32 is expected"},
	{"add.u32 %x1, %r1, %r2;", NULL},
	{"shl.b32 %r1, %r2, %x1;", "operand b is .f16x2, .u32 is expected"},
	{"add.u64 %rd1, %rd2, %r1;", "operand b is .b32, .u64 is expected"},
	{"and.b32 %f1, %u1, %x1;", NULL},
	{"cvt.rn.f16.f32 %r1, %f1;", NULL},
	{"cvt.rn.f16.f32 %u1, %f1;", "operand d is .u32, .f16 is expected"},
	{"ld.global.f32 %rd1, [%rd2];", NULL},
	{"ld.global.u64 %r1, [%rd2];", "operand d is .b32, .u64 is expected"},
	/* constants */
	{"add.s32 %r1, %r2, 1.5;", "operand b is a floating-point constant, .s32 is expected"},
	{"add.f32 %f1, %f2, 1;", "operand b is an integer constant, .f32 is expected"},
	{"mov.b32 %r1, 0f3F800000;", NULL},
	{"mov.b32 %r1, 1.5;", "operand a is a floating-point constant"},
	{"mov.b64 %rd1, 1.5;", NULL},
	{"mov.b64 %rd1, 0f3F800000;", "operand a is a floating-point constant"},
	{"mov.b16 %h1, 0f3F800000;", "operand a is a floating-point constant"},
	{"mov.f64 %fd1, -0d3FF0000000000000;", NULL},
	{"mov.f32 %f1, -0f3F800000;", "a 0f constant takes no sign"},
	{"mov.pred %p1, 16;", NULL},
	{"bfe.u32 %r1, %r2, 256, 1;", "operand b is out of range: 256"},
	{"bar.sync 16;", "operand a is out of range: 16"},
	{"bar.sync 0x100000000;", NULL},
	{"add.f16 %h1, %h2, 1.0;", "operand b must be a register"},
	/* vectors: elements count together */
	{"ld.global.v2.u32 {%r1, %f2}, [%rd1];", NULL},
	{"ld.global.v2.u32 {%f1, %f2}, [%rd1];", "operand d is .f32, .u32 is expected"},
	{"ld.global.v2.u32 {%r1, %h2}, [%rd1];",
	 "the elements of operand d are of different types"},
	{"ld.global.v2.u32 {%r1, %r2, %r1, %r2}, [%rd1];",
	 "operand d has 4 elements, 2 are expected"},
	{"ld.global.v2.u32 {%r1, _}, [%rd1];", NULL},
	{"ld.global.v2.u32 {_, _}, [%rd1];", "operand d has no element but '_'"},
	{"ld.global.v2.u32 {%r1, 1}, [%rd1];", "operand d must be a register"},
	{"ld.global.u32 _, [%rd1];", "'_' is not allowed for operand d"},
	{"st.global.v2.u32 [%rd1], {%u1, %f1};",
	 "the elements of operand b are of different types"},
	{"st.global.v2.u32 [%rd1], {%tid.x, %p1};", NULL},
	{"st.global.v2.f32 [%rd1], {1.5, %r1};", NULL},
	{"st.global.v2.f32 [%rd1], {%f1, 2};", "the elements of operand b are of different types"},
	{"st.global.u32 [%rd1], {%r1};", NULL},
	{"neg.bf16 %h1, {%h2};", NULL},
	{"neg.f16 %h1, {%h2};", "operand a is a vector, one value is expected"},
	{"mov.b64 %rd1, {%r1, gv};", "operand a is a name, a register is expected"},
	/* addresses */
	{"ld.global.u32 %r1, [%h1];", NULL},
	{"ld.global.u32 %r1, [%f1];", "address a is a .f32 register"},
	{"ld.global.u32 %r1, [%p1];", "address a is a .pred register"},
	{"ld.global.u32 %r1, [sv];", "'sv' is in .shared, the instruction accesses .global"},
	{"ld.u32 %r1, [sv];", NULL},
	{"ld.u32 %r1, [cv];", "'cv' is in .const, the instruction accesses generic addresses"},
	{"ld.global.u32 %r1, [16];", "a constant address is allowed in .local only"},
	{"ld.global.u32 %r1, %rd1;", "operand a is expected as [address]"},
	{"ld.global.u32 %r1, [%rd1+nowhere];", "nowhere"},
	{"ld.global.u32 %r1, [nowhere];", "'nowhere' is not defined"},
	{"st.param.u32 [a], %r1;", "'a' is a parameter, which cannot be written"},
	/* predicates, sinks, selectors */
	{"selp.b32 %r1, %r2, %r3, !%p1;", NULL},
	{"add.s32 %r1, !%r2, %r3;", "operand a cannot be negated"},
	{"add.s32 %r1, -%r2, %r3;", "'-' is not allowed on operand a"},
	{"setp.eq.s32 _|%p1, %r2, %r3;", NULL},
	{"setp.eq.s32 _|_, %r2, %r3;", "'_|_' leaves no result"},
	{"add.s32 _, %r2, %r3;", "'_' is not allowed for operand d"},
	{"add.s32 %r1, %r2.h0, %r3;", "this selector is not allowed on operand a"},
	{"vadd.s32.s32.s32 %r1, %r2.h0, %r3.h2;", "this selector is not allowed on operand b"},
	{"vadd.s32.s32.s32 %r1, %r2.h0, %r3.b3;", NULL},
	{"vmad.u32.u32.u32 %r1, -%r2, %r3, %r1;", NULL},
	{"vmad.u32.u32.u32 %r1, -%r2, -%r3, -%r1;", NULL},
	{"vmad.u32.u32.u32 %r1, -%r2, %r3, -%r1;", "'-' stands before one factor"},
	/* special registers */
	{"cvt.u32.u16 %r1, %clock64;", NULL},
	{"cvt.u32.u64 %r1, %tid.x;", "%tid is .u32"},
	{"mov.u32 %r1, %tid.x;", NULL},
	{"add.u32 %r1, %tid.x, 1;", "operand a is a special register, a register is expected"},
	{"mov.u32 %r1, %tid;", "a component of %tid is expected"},
	{"mov.u64 %rd1, %laneid;", "%laneid is .u32"},
	/* number of operands, modifiers */
	{"add.s32 %r1, %r2;", "operand b is missing"},
	{"add.s32 %r1, %r2, %r3, %r1;", "too many operands"},
	{"add.sat.sat.s32 %r1, %r2, %r3;", NULL},
	{"add.ftz.ftz.f32 %f1, %f2, %f1;", "illegal modifier '.ftz' on 'add.ftz.f32'"},
	{"add.s32.s32 %r1, %r2, %r3;", "illegal modifier '.s32' on 'add'"},
	{"add %r1, %r2, %r3;", "a modifier is missing in 'add'"},
	{"add.s33 %r1, %r2, %r3;", "unknown modifier '.s33' on 'add'"},
	{"frobnicate.b32 %r1;", "unknown instruction 'frobnicate'"},
	/* calls */
	{"call f, (%r1);", NULL},
	{"call f, (%h1);", "an argument is .b16, .b32 is expected"},
	{"call f, (%r1, %r2);", "'f' takes 1 value, not 2"},
	{"call (%r1), f, (%r1);", "'f' returns 0 values, not 1"},
	{"call %rd1, (%r1);", "an indirect call needs a prototype or a list of targets"},
	/* versions and targets */
	{"redux.sync.add.s32 %r1, %r2, -1;", NULL},
	{"mov.u32 %r1, %cluster_ctarank;", "%cluster_ctarank needs target sm_90 or higher"},
	{"elect.sync %r1|%p1, -1;", "needs target sm_90 or higher"},
	{"setmaxnreg.inc.sync.aligned.u32 64;", "needs target sm_90a"},
};

static void module_of(char *out, size_t size, const char *header, const char *statement)
{
	snprintf(
		out, size,
		"%s.global .b32 gv;\n.const .b32 cv;\n.shared .b32 sv;\n.func f(.param .b32 x) { ret; }\n"
		".entry k(.param .u32 a)\n{\n.reg .pred %%p<4>;\n.reg .b16 %%h<4>;\n.reg .b32 %%r<4>;\n"
		".reg .u32 %%u<4>;\n.reg .s32 %%s<4>;\n.reg .f16x2 %%x<4>;\n.reg .b64 %%rd<4>;\n"
		".reg .f32 %%f<4>;\n.reg .f64 %%fd<4>;\n"
		"%s\nret;\n}\n",
		header, statement);
}

#define HEADER ".version 9.0\n.target sm_80\n.address_size 64\n"

static void test_statements(void)
{
	char text[2048];

	for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
		const struct statement *s = &statements[i];
		struct parsed r;
		bool ok;

		module_of(text, sizeof(text), HEADER, s->text);
		r = parse(text, MODULE_JUDGE);
		ok = s->message ? !r.m && r.errors == 1 && says(&r, s->message) : r.m && !r.errors;
		if (!CHECK_MSG(ok, s->text))
			printf("# %u errors, expected: %s\n", r.errors,
			       s->message ? s->message : "none");
		drop(&r);
	}
}

/* A module of its own after the header; the message, NULL: legal. */
static const struct statement modules[] = {
	{".const .b8 a[65536];", NULL},
	{".const .b8 a[65537];", "65537 bytes of .const"},
	{".const .b8 a[1]; .const .align 8 .b8 b[65529];",
	 "with 'b' the module has 65537 bytes of .const"},
	{".entry k() { .shared .b8 a[49152]; ret; }", NULL},
	{".entry k() { .shared .b8 a[49153]; ret; }", "49153 bytes of static .shared"},
	{".shared .b8 a[49153]; .entry k() { ret; }", NULL},
	{".shared .b8 a[49153]; .entry k() { .reg .b32 r; st.shared.b8 [a], r; ret; }",
	 "with 'a' kernel 'k'"},
	{".entry k(.param .b8 a[32764]) { ret; }", NULL},
	{".entry k(.param .b8 a[32764], .param .b8 b) { ret; }",
	 "with 'b' the kernel takes 32765 bytes"},
	{".pragma \"nounroll\";", NULL},
	{".pragma \"what\";", "pragma \"what\" is not known"},
	{".entry k() { .pragma \"what\"; ret; }", NULL},
	{".pragma \"frequency 2\";", "pragma \"frequency\" is for statements of a function"},
	{".entry k() { .pragma \"frequency x\"; ret; }", "pragma \"frequency\" takes a number"},
	{".entry k() .reqnctapercluster 2 { ret; }",
	 ".reqnctapercluster needs target sm_90 or higher"},
	{".entry k() .maxntid 1 .maxnctapersm 2 { ret; }", ".maxnctapersm is gone"},
	{".func (.param .b32 r) f() .noreturn;", "a function with a result is not .noreturn"},
	{".global .samplerref s;", ".samplerref is for .target texmode_independent"},
	{".func f(.param .b32 a) { ret; } .entry k() { .reg .b32 r; .reg .pred p; .param .b32 a; "
	 "@p st.param.b32 [a], r; call f, (a); ret; }",
	 "takes no guard"},
	{".func (.param .b32 z) f() { .reg .b32 r; ld.param.b32 r, [z]; ret; }",
	 "'z' is a result, which cannot be read"},
	{".global .b8 a[2 * 4];", "unexpected '*'"},
	{".address_size 64", "a second .address_size"},
};

static void test_modules(void)
{
	char text[1024];

	for (size_t i = 0; i < ARRAY_LEN(modules); i++) {
		struct parsed r;
		bool ok;

		snprintf(text, sizeof(text), HEADER "%s\n", modules[i].text);
		r = parse(text, MODULE_JUDGE);
		ok = modules[i].message ? !r.m && r.errors == 1 && says(&r, modules[i].message)
					: r.m && !r.errors;
		if (!CHECK_MSG(ok, modules[i].text))
			printf("# %u errors: %s\n", r.errors, r.messages.at ? r.messages.at : "");
		drop(&r);
	}
}

/* After an error the reader goes on where the statement or the body ends. */
static void test_recovery(void)
{
	struct parsed r = parse(
		HEADER ".entry a() { .reg .b32 r; oops junk {r r} more; mov.u32 r, 1.5; ret; }\n"
		       "stray .entry b() { ret; { ret; } }\n.entry c() { bra nowhere; }\n",
		MODULE_JUDGE);

	CHECK_EQ(r.errors, 4);
	CHECK(says(&r, "t:4:") && says(&r, "t:5:1:") && says(&r, "t:6:"));
	CHECK(says(&r, "operand a is a floating-point constant") &&
	      says(&r, "'nowhere' is not defined"));
	drop(&r);
}

static void test_place(void)
{
	struct parsed r = parse(HEADER ".entry k()\n{\n\t.reg .b32 %r<3>;\n\t.reg .f32 %f;\n"
				       "\tadd.s32 %r1, %r2, %f;\n}\n",
				MODULE_JUDGE);

	CHECK_STR(r.messages.at ? r.messages.at : "",
		  "t:8:20: error: operand b is .f32, .s32 is expected\n"
		  "     8 |         add.s32 %r1, %r2, %f;\n"
		  "       |                           ^~\n"
		  "hint: add.{u16|u32|u64|s16|s32|s64} d, a, b\n");
	drop(&r);
}

/*
 * To load: newer instructions than the header says, unknown ones as poison, other mistakes still
 * errors.
 */
static void test_load(void)
{
	const char *old = ".version 7.0\n.target sm_80\n.address_size 64\n";
	const struct ir_poison *poison;
	char text[2048];
	struct parsed r;

	module_of(text, sizeof(text), old,
		  "elect.sync %r1|%p1, -1;\nmov.u32 %r1, %cluster_ctarank;");
	r = parse(text, MODULE_JUDGE);
	CHECK(!r.m && r.errors == 2);
	drop(&r);
	r = parse(text, MODULE_LOAD);
	CHECK(r.m && !r.errors && ir_find_func(r.m, "k")->poisons.len == 0);
	drop(&r);

	module_of(text, sizeof(text), old,
		  "future.op.b32 %r1, %r2, {%r3, 4};\nadd.s32 %r1, %r2, 7;");
	r = parse(text, MODULE_LOAD);
	CHECK(r.m && !r.errors && ir_find_func(r.m, "k")->poisons.len == 1);
	if (r.m && ir_find_func(r.m, "k")->poisons.len == 1) {
		struct ir_func *k = ir_find_func(r.m, "k");

		poison = &k->poisons.at[0];
		CHECK(poison->insn == 0 && !k->insns.at[0].form && k->insns.at[1].form);
		CHECK_STR(poison->text, "future.op.b32 %r1, %r2, {%r3, 4}");
		CHECK_STR(poison->reason, "unknown instruction 'future'");
	}
	drop(&r);

	/*
	 * What ptxas takes and nothing gives a meaning faults when executed; braces around one
	 * value go.
	 */
	module_of(text, sizeof(text), old,
		  "ld.global.v2.u32 {%tid.x, %p1}, [%rd1];\nld.global.u32 {%r1}, [%rd1];\n"
		  "ld.global.v2.u32 {%r1, %u1}, [%rd1];\nst.global.v2.f32 [%rd1], {%r1, 1};");
	r = parse(text, MODULE_LOAD);
	CHECK(r.m && !r.errors && ir_find_func(r.m, "k")->poisons.len == 2);
	if (r.m && ir_find_func(r.m, "k")->poisons.len == 2) {
		struct ir_func *k = ir_find_func(r.m, "k");

		CHECK(!k->insns.at[0].form && k->insns.at[1].form && k->insns.at[2].form &&
		      !k->insns.at[3].form);
		CHECK_EQ(k->operands.at[k->insns.at[1].first_op].kind, IR_OP_REG);
	}
	drop(&r);

	module_of(text, sizeof(text), old, "add.s32 %r1, %r2, %f1;");
	r = parse(text, MODULE_LOAD);
	CHECK(!r.m && r.errors == 1 && says(&r, "operand b is .f32"));
	drop(&r);

	r = parse(
		".version 7.0\n.target sm_80\n.pragma \"what\";\n.entry k() .explicitcluster { ret; }\n",
		MODULE_LOAD);
	CHECK(r.m && !r.errors && !says(&r, "pragma"));
	drop(&r);
}

int main(void)
{
	test_statements();
	test_modules();
	test_recovery();
	test_place();
	test_load();
	return check_done();
}
