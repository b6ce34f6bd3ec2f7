/*
 * Names: blocks, shadowing, register families, labels, the name spaces of functions and modules.
 */
#include "tests/unit/ptx/ptx_text.h"

/*
 * The registers written by the instructions of the kernel, one after another, as
 * "name/declaration".
 */
static void destinations(const struct ir_module *m, struct text *out)
{
	const struct ir_func *f = ir_find_func(m, "k");
	char name[64];

	for (size_t i = 0; f && i < f->insns.len; i++) {
		const struct ir_operand *op = &f->operands.at[f->insns.at[i].first_op];

		if (f->insns.at[i].ops && op->kind == IR_OP_REG)
			text_printf(out, "%s%s/%u", out->len ? " " : "",
				    ir_reg_name(f, op->index, name, sizeof(name)),
				    f->regs.at[op->index].decl);
	}
}

static void check_registers(void)
{
	static const struct {
		const char *what, *body, *expected;
	} cases[] = {
		{"a block hides a register until it ends",
		 ".reg .b32 x; mov.b32 x, 1; { mov.b32 x, 2; .reg .b32 x; mov.b32 x, 3; } mov.b32 x, 4;",
		 "x/0 x/0 x/1 x/0"},
		{"a block hides a family until it ends",
		 ".reg .b32 x<5>; mov.b32 x0, 1; { .reg .b32 x<9>; mov.b32 x0, 2; mov.b32 x8, 2; } mov.b32 x0, 3;",
		 "x0/0 x0/1 x8/1 x0/0"},
		{"a smaller family leaves the other members",
		 ".reg .b32 x<9>; { .reg .b32 x<3>; mov.b32 x2, 1; mov.b32 x3, 2; } mov.b32 x2, 3;",
		 "x2/1 x3/0 x2/0"},
		{"a member used first in a block is the outer one",
		 ".reg .b32 x<5>; { mov.b32 x1, 1; } { mov.b32 x1, 2; .reg .b32 x<5>; mov.b32 x1, "
		 "3; } mov.b32 x1, 4;",
		 "x1/0 x1/0 x1/1 x1/0"},
		{"three families of one name",
		 ".reg .b32 x<5>; { .reg .b32 x<5>; { .reg .b32 x<5>; mov.b32 x1, 1; } mov.b32 x1, "
		 "2; } mov.b32 x1, 3;"
		 "{ .reg .b32 x<5>; mov.b32 x1, 4; { mov.b32 x1, 5; } }",
		 "x1/2 x1/1 x1/0 x1/3 x1/3"},
		{"a single register hides a member",
		 ".reg .b32 x<5>; mov.b32 x1, 1; { .reg .b32 x1; mov.b32 x1, 2; } mov.b32 x1, 3;",
		 "x1/0 x1/1 x1/0"},
		{"a family hides a single register",
		 ".reg .b32 x1; mov.b32 x1, 1; { .reg .b32 x<5>; mov.b32 x1, 2; { mov.b32 x1, 3; } } mov.b32 x1, 4;",
		 "x1/0 x1/1 x1/1 x1/0"},
		{"a name that two families could have",
		 ".reg .b32 x1<5>; .reg .b32 x<20>; mov.b32 x12, 1; { .reg .b32 x1<9>; mov.b32 x12, "
		 "1; mov.b32 x18, 1; }",
		 "x12/1 x12/1 x18/1"},
		{"prefixes with digits",
		 ".reg .b32 x<3>, y1<20>; mov.b32 x2, 1; mov.b32 y119, 2; mov.b32 y10, 3;",
		 "x2/0 y119/1 y10/1"},
		{"a register named like an instruction",
		 ".reg .b32 add, mov; mov.b32 add, 1; add.s32 mov, add, add;", "add/0 mov/1"},
		{"the same number twice is one register",
		 ".reg .b32 %r<3>; mov.b32 %r1, 1; mov.b32 %r1, 2;", "%r1/0 %r1/0"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ptx_text t = ptx_text_kernel(cases[i].body);
		struct text out = {0};

		if (ptx_text_good(&t, cases[i].what)) {
			destinations(t.m, &out);
			CHECK_STR(out.at, cases[i].expected);
		}
		text_fini(&out);
		ptx_text_fini(&t);
	}
}

static void check_refused(void)
{
	static const struct {
		const char *what, *body, *message;
	} cases[] = {
		{"past the family", ".reg .b32 x<5>; mov.b32 x5, 1;", "'x5' is not defined"},
		{"leading zeros", ".reg .b32 x<5>; mov.b32 x01, 1;", "'x01' is not defined"},
		{"the prefix alone", ".reg .b32 x<5>; mov.b32 x, 1;", "'x' is not defined"},
		{"no members", ".reg .b32 x<0>; mov.b32 x0, 1;", "'x0' is not defined"},
		{"outside the block", "{ .reg .b32 x; } mov.b32 x, 1;", "'x' is not defined"},
		{"a member outside the block", "{ .reg .b32 x<5>; mov.b32 x1, 1; } mov.b32 x1, 1;",
		 "'x1' is not defined"},
		{"before the declaration", "mov.b32 x, 1; .reg .b32 x;", "'x' is not defined"},
		{"twice", ".reg .b32 x; .reg .b32 x;", "already defined"},
		{"family twice", ".reg .b32 x<5>; .reg .b32 x<6>;", "already defined"},
		{"member after family", ".reg .b32 x<5>; .reg .b32 x3;", "already defined"},
		{"family after member", ".reg .b32 x3; .reg .b32 x<5>;", "already defined"},
		{"label twice", "a: ret; a: ret;", "already defined"},
		{"label and register", ".reg .b32 a; a: ret;", "already defined"},
		{"label in a block", "bra a; { a: ret; }", "'a' is not defined"},
		{"label of a block that is over", "{ a: ret; } bra a;", "'a' is not defined"},
		{"giant family", ".reg .b32 x<99999999>;", "at most"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ptx_text t = ptx_text_kernel(cases[i].body);

		ptx_text_bad(&t, cases[i].message, cases[i].what);
		ptx_text_fini(&t);
	}
}

/* Where jumps go: instruction numbers of the labels, in order of the branches. */
static void check_labels(void)
{
	static const struct {
		const char *what, *body, *expected;
	} cases[] = {
		{"forward and back", "a: bra b; b: bra a;", " 1 0"},
		{"several labels, one at the end", "a: b: bra c; bra b; c:", " 2 0"},
		{"out of a block", "{ bra out; } out: ret;", " 1"},
		{"out of two blocks, back", "top: { { bra top; } bra out; } out: ret;", " 0 2"},
		{"the block's own label before the outer one", "a: ret; { bra a; a: ret; } bra a;",
		 " 2 0"},
		{"a later label of the same name in a block",
		 "{ bra a; } a: ret; { a: ret; bra a; }", " 1 2"},
		{"labels named like functions and opcodes", "bra k2; k2: bra ret; ret: ret;",
		 " 1 2"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ptx_text t = ptx_text_kernel(cases[i].body);
		const struct ir_func *f = t.m ? ir_find_func(t.m, "k") : NULL;
		struct text out = {0};

		ptx_text_good(&t, cases[i].what);
		for (size_t n = 0; f && n < f->insns.len; n++)
			if (f->insns.at[n].ops)
				text_printf(
					&out, " %u",
					f->labels.at[f->operands.at[f->insns.at[n].first_op].index]
						.insn);
		CHECK_STR(out.at, cases[i].expected);
		text_fini(&out);
		ptx_text_fini(&t);
	}
}

static void check_tables(void)
{
	struct ptx_text t =
		ptx_text_kernel(".reg .b32 r; ts: .branchtargets L<3>, e; brx.idx r, ts;"
				"L0: ret; L1: ret; L2: ret; { e: ret; bra e; } e: ret;");
	const struct ir_func *f;

	if (ptx_text_good(&t, "a table of labels") && (f = ir_find_func(t.m, "k"))) {
		CHECK_EQ(f->tables.len, 1);
		CHECK_EQ(f->tables.at[0].len, 4);
		CHECK_EQ(f->labels.at[f->tables.at[0].at[2]].insn, 3);
		CHECK_EQ(f->labels.at[f->tables.at[0].at[3]].insn, 6);
	}
	ptx_text_fini(&t);
}

static void check_functions(void)
{
	struct ptx_text t = ptx_text_module(
		".func f(.param .b32 f) { ret; }\n"
		".func (.reg .b32 r) g(.reg .b32 a, .reg .b32 r1) { add.s32 r, a, r1; ret; }\n"
		".global .u32 r; .func h() { .reg .b64 x; mov.u64 x, r; ret; }\n");

	ptx_text_good(
		&t,
		"a parameter named like its function, register parameters, names of other functions");
	if (t.m)
		CHECK_EQ(ir_find_func(t.m, "g")->rets_len, 1);
	ptx_text_fini(&t);
	t = ptx_text_module(".func f(.param .b32 a);\n.global .u64 p = f;\n"
			    ".visible .func f(.param .b32 b) { ret; }\n.func f(.param .b32 c);\n");
	if (ptx_text_good(&t, "declared, used, defined, declared again")) {
		CHECK_EQ(t.m->funcs.len, 1);
		CHECK(t.m->funcs.at[0]->has_body);
		CHECK_STR(t.m->vars.at[t.m->funcs.at[0]->params[0]]->name->text, "b");
		CHECK_EQ(t.m->funcs.at[0]->linkage, IR_VISIBLE);
	}
	ptx_text_fini(&t);
	t = ptx_text_module(".global .u32 f;\n.func f() { ret; }\n");
	ptx_text_bad(&t, "'f' is already defined here as a variable",
		     "a function named like a variable");
	ptx_text_fini(&t);
	t = ptx_text_module(
		".extern .global .u32 x[4];\n.global .u64 p = x;\n.visible .global .u32 x[4] = {1};\n");
	if (ptx_text_good(&t, "an .extern variable and its definition")) {
		CHECK_EQ(ir_find_var(t.m, "x")->linkage, IR_VISIBLE);
		CHECK_EQ(ir_find_var(t.m, "p")->relocs[0].index, 0);
	}
	ptx_text_fini(&t);
}

int main(void)
{
	check_registers();
	check_refused();
	check_labels();
	check_tables();
	check_functions();
	return check_done();
}
