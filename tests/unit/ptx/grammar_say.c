/*
 * What messages say of wrong PTX: their text, what is marked, which row is hinted at, and how ptxas
 * puts it. ptxas's words and lines are those of ptxas 13.0.
 */
#include "tests/check.h"

#include "grammar/parse.h"
#include "src/base/text.h"

/* The statement stands on line 9, from column 2 on. */
#define BEFORE                                                                                         \
	".version 9.0\n.target sm_80\n.address_size 64\n.global .u32 x; .const .u32 cx;\n"             \
	".func (.reg .u32 r) twice (.reg .u32 a) { mov.u32 r, a; ret; }\n.entry k(.param .u64 p)\n{\n" \
	".reg .u32 %r<9>; .reg .u64 %d<9>; .reg .f32 %f<9>; .reg .f64 %g<9>; .reg .pred %p<9>; .reg .u32 count;\n\t"
#define AFTER "\n\texit;\nloop: exit;\n}\n"

struct expected {
	const char *statement, *text;
	const char *marked; /* what is underlined, NULL: not checked */
	const char *hint;   /* how the hint begins; NULL: not checked */
	const char *words;  /* ptxas's, NULL: not checked */
};

static const struct expected cases[] = {
	/* The row that was meant. */
	{"div.f32 %f1, %f2, %f3;", "a modifier is missing in 'div.f32': .approx", "div.f32",
	 "div.approx",
	 "error   : Rounding modifier or '.approx' modifier required for instruction 'div'"},
	{"mul.s32 %r1, %r2, %r3;", "a modifier is missing in 'mul.s32': .lo, .hi or .wide",
	 "mul.s32", "mul.lo", "error   : Unexpected instruction types specified for 'mul'"},
	{"mad.s32 %r1, %r2, %r3, %r4;", "a modifier is missing in 'mad.s32': .lo, .hi or .wide",
	 "mad.s32", "mad.lo", NULL},
	{"setp.gtt.s32 %p1, %r1, %r2;", "unknown modifier '.gtt' on 'setp'; did you mean '.gt'?",
	 ".gtt", "setp.{eq|ne|lt|le|gt|ge}.{s16|s32|s64}", "error   : Unknown modifier '.gtt'"},
	{"setp.s32 %p1, %r1, %r2;",
	 "a modifier is missing in 'setp.s32': .eq, .ne, .lt, .le, .gt or .ge", "setp.s32",
	 "setp.{eq|ne|lt", "error   : Comparison modifier required for instruction 'setp'"},
	{"ld.v3.u32 {%r1, %r2, %r3}, [%d1];", "unknown modifier '.v3' on 'ld'; did you mean '.v2'?",
	 ".v3", "ld", "error   : Unknown modifier '.v3'"},
	{"ld.globl.u32 %r1, [%d1];", "unknown modifier '.globl' on 'ld'; did you mean '.global'?",
	 ".globl", NULL, NULL},
	{"add.rn.s32 %r1, %r2, %r3;", "illegal modifier '.rn' on 'add.s32'", ".rn", "add.{u16",
	 "error   : Illegal rounding modifier for instruction 'add'"},
	{"sub.sat.u32 %r1, %r2, %r3;", "illegal modifier '.sat' on 'sub.u32'", ".sat", "sub.{u16",
	 NULL},
	{"add.b32 %r1, %r2, %r3;", "illegal modifier '.b32' on 'add'", ".b32", "add.",
	 "error   : Unexpected instruction types specified for 'add'"},
	{"mul.lo.f32 %f1, %f2, %f3;", "illegal modifier '.lo' on 'mul.f32'", ".lo", NULL, NULL},
	{"add.s33 %r1, %r2, %r3;", "unknown modifier '.s33' on 'add'; did you mean '.s32'?", ".s33",
	 "add.{u16", "error   : Unknown modifier '.s33'"},
	{"add %r1, %r2, %r3;", "a modifier is missing in 'add'", "add", "add.",
	 "error   : Unexpected instruction types specified for 'add'"},
	{"cvt.f32.s32 %f1, %r1;", "a modifier is missing in 'cvt.f32.s32': .rn, .rz, .rm or .rp",
	 "cvt.f32.s32", "cvt.{rn", "error   : Rounding modifier required for instruction 'cvt'"},
	{"fma.f32 %f1, %f2, %f3, %f4;", "a modifier is missing in 'fma.f32': .rn, .rz, .rm or .rp",
	 NULL, "fma.{rn", "error   : Rounding modifier required for instruction 'fma'"},
	{"sin.f32 %f1, %f2;", "a modifier is missing in 'sin.f32': .approx", NULL, "{sin|cos",
	 "error   : .approx modifier required for instruction 'sin'"},
	{"neg.u32 %r1, %r2;", "illegal modifier '.u32' on 'neg'", ".u32", "neg.{s16|s32|s64}",
	 NULL},
	{"popc.u32 %r1, %r2;", "illegal modifier '.u32' on 'popc'", ".u32", "popc.{b32|b64}", NULL},
	{"st.const.u32 [cx], %r1;", "illegal modifier '.const' on 'st.u32'", ".const", "st",
	 "error   : State space incorrect for instruction 'st'"},
	{"cp.asinc.ca.shared.global [%d1], [%d2], 4;",
	 "unknown modifier '.asinc' on 'cp'; did you mean '.async'?", ".asinc", "cp.async", NULL},
	{"membar.foo;", "unknown modifier '.foo' on 'membar'", ".foo", "membar",
	 "error   : Unknown modifier '.foo'"},
	{"shfl.idx.b32 %r1, %r2, %r3, %r4;",
	 "a modifier is missing in 'shfl.idx.b32': .sync; this form ended with "
	 "PTX 6.4 for sm_70 and higher",
	 NULL, "shfl.sync",
	 "error   : Instruction 'shfl' without '.sync' is not supported on .target sm_70 and higher from PTX ISA "
	 "version 6.4"},
	/* Names. */
	{"addd.s32 %r1, %r2, %r3;", "unknown instruction 'addd'; did you mean 'add'?", "addd", NULL,
	 "error   : Not a name of any known instruction: 'addd'"},
	{"sept.eq.s32 %p1, %r1, %r2;", "unknown instruction 'sept'; did you mean 'setp'?", "sept",
	 NULL, NULL},
	{"frobnicate %r1;", "unknown instruction 'frobnicate'", "frobnicate", NULL, NULL},
	{"mov.u32 %r1, cuont;", "'cuont' is not defined; did you mean 'count'?", "cuont", NULL,
	 "error   : Unknown symbol 'cuont'"},
	{"mov.u32 %r12, %r1;", "'%r12' is not defined; '%r<9>' ends before it", "%r12", NULL,
	 "error   : Unknown symbol '%r12'"},
	{"mov.u32 %r1, %tidd.x;", "'%tidd.x' is not defined; did you mean '%tid.x'?", "%tidd.x",
	 NULL, NULL},
	{"mov.u32 %r1, %lanid;", "'%lanid' is not defined; did you mean '%laneid'?", "%lanid", NULL,
	 NULL},
	{"ld.global.u32 %r1, [xx];", "'xx' is not defined; did you mean 'x'?", "xx", NULL, NULL},
	{"call (%r1), twise, (%r1);", "'twise' is not defined; did you mean 'twice'?", "twise",
	 NULL, NULL},
	{"bra lopo;", "label 'lopo' is not defined here; did you mean 'loop'?", "lopo", NULL,
	 "error   : Unknown symbol 'lopo'"},
	{"@%r1 bra loop;", "the guard '%r1' is not a predicate", "%r1", NULL,
	 "error   : Predicate expression expected"},
	{".reg .u33 y;", "unexpected directive '.u33'", ".u33", NULL,
	 "line 9; fatal   : Parsing error near '.u33': syntax error"},
	{".regg .u32 y;", "unexpected directive '.regg'; did you mean '.reg'?", ".regg", NULL,
	 NULL},
	{"count: exit;", "'count' is already defined here as a register", "count", NULL,
	 "error   : Duplicate definition of label 'count'"},
	{".reg .f32 count;", "'count' is already defined here as a register", "count", NULL,
	 "error   : Duplicate definition of variable 'count'"},
	/* Operands. */
	{"add.s32 %r1, %r2, %f1;", "operand b is .f32, .s32 is expected", "%f1", "add.",
	 "error   : Arguments mismatch for instruction 'add'"},
	{"add.s32 %r1, %r2;", "operand b is missing", NULL, "add.",
	 "error   : Arguments mismatch for instruction 'add'"},
	{"mul.wide.s32 %r1, %r2, %r3;", "operand d is .u32, .s64 is expected", "%r1", "mul.wide",
	 "error   : Arguments mismatch for instruction 'mul.wide'"},
	{"mov.u32 5, %r1;", "operand d must be a register", "5", NULL,
	 "error   : Result register required for instruction 'mov'"},
	{"ld.shared.u32 %r1, [x];", "'x' is in .global, the instruction accesses .shared", NULL,
	 NULL,
	 "error   : State space mismatch between instruction and address in instruction 'ld'"},
	{"ld.global.u32 %r1, [%f1];", "address a is a .f32 register", NULL, NULL,
	 "error   : Illegal to use symbol '%f1' of type .f32 as address operand. Use integer or bit only."},
	{"bra x;", "a label is expected", "x", NULL,
	 "error   : Label expected for argument 0 of instruction 'bra'"},
	{"st.param.u64 [p], %d1;", "'p' is a parameter, which cannot be written", NULL, NULL,
	 "error   : Illegal to write to function input parameter 'p'"},
	{"elect.sync %r1|%p1, -1;", "elect.sync needs target sm_90 or higher", NULL, NULL,
	 "error   : Feature 'elect' requires .target sm_90 or higher"},
	/* Punctuation. */
	{"mov.u32 %r1, %r2", "expected ';' after '%r2'", "", NULL,
	 "line 10; fatal   : Parsing error near 'exit': syntax error"},
	{"mov.u32 %r1, %r2 // done\n", "expected ';' after '%r2'", NULL, NULL, NULL},
	{"bra loop", "expected ';' after 'loop'", "", NULL, NULL},
	{".reg .u32 y", "expected ';' after 'y'", "", NULL, NULL},
	{"mov.u32 %r1 %r2;", "expected ',' or ';' before '%r2'", "%r2", NULL,
	 "line 9; fatal   : Parsing error near '%r2': syntax error"},
	{"{ mov.u32 %r1, %r2;", "expected '}' before the end of the file", NULL, NULL,
	 "line 13; fatal   : Parsing error near '': syntax error"},
};

struct heard {
	struct text text, words, hint, marked, notes;
	u32 line, errors;
};

static void listen(void *user, const struct diag_message *m)
{
	struct heard *h = user;

	if (m->level == DIAG_NOTE)
		text_printf(&h->notes, "%u:%u: %s\n", m->line, m->column, m->text);
	if (m->level != DIAG_ERROR || h->errors++)
		return;
	text_puts(&h->text, m->text);
	text_puts(&h->words, m->words ? m->words : "");
	text_puts(&h->hint, m->hint ? m->hint : "");
	text_puts(&h->marked, "");
	if (m->source_line && m->column - 1 + m->mark_len <= m->source_line_len)
		text_add(&h->marked, m->source_line + m->column - 1, m->mark_len);
	h->line = m->line;
}

static void hear(struct heard *h, const char *text)
{
	struct diag_source source = {"t", text, strlen(text)};
	struct ptx_options options = {.lint = true};
	struct diag d;

	*h = (struct heard){0};
	diag_init(&d, listen, h);
	ir_module_free(ptx_parse(&source, &options, &d));
	diag_fini(&d);
}

static void forget(struct heard *h)
{
	text_fini(&h->text);
	text_fini(&h->words);
	text_fini(&h->hint);
	text_fini(&h->marked);
	text_fini(&h->notes);
}

static const char *said(const struct text *t)
{
	return t->at ? t->at : "";
}

static bool begins(const struct text *t, const char *with)
{
	return !with || !strncmp(said(t), with, strlen(with));
}

static void test_statements(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct expected *e = &cases[i];
		struct text t = {0};
		struct heard h;

		text_puts(&t, BEFORE);
		text_puts(&t, e->statement);
		text_puts(&t, AFTER);
		hear(&h, t.at);
		if (!CHECK_MSG(begins(&h.text, e->text), e->statement))
			printf("# %s\n# not %s\n", said(&h.text), e->text);
		if (e->marked && !CHECK_MSG(!strcmp(said(&h.marked), e->marked), e->marked))
			printf("# %s: marked is '%s'\n", e->statement, said(&h.marked));
		if (e->hint && !CHECK_MSG(begins(&h.hint, e->hint), e->hint))
			printf("# %s: the hint is %s\n", e->statement, said(&h.hint));
		if (e->words && !CHECK_MSG(!strcmp(said(&h.words), e->words), e->words))
			printf("# %s: ptxas's words are %s\n", e->statement, said(&h.words));
		forget(&h);
		text_fini(&t);
	}
}

/* A missing ';' is shown on the line where it is missing, not on the next one. */
static void test_places(void)
{
	struct heard h;

	hear(&h,
	     ".version 9.0\n.target sm_80\n.entry k()\n{\n\t.reg .u32 r;\n\tmov.u32 r, 1\n\n\t/* x; */ exit;\n}\n");
	CHECK_EQ(h.line, 6);
	CHECK_EQ(h.errors, 1);
	forget(&h);
	hear(&h, ".version 9.0\n.target sm_80\n.global .u32 a\n.global .u32 b;\n");
	CHECK_EQ(h.line, 3);
	forget(&h);
	hear(&h,
	     ".version 9.0\n.target sm_80\n.entry k()\n{\n\t{\n\t\texit;\n}\n.entry next() { exit; }\n");
	CHECK_STR(said(&h.text), "expected '}' before .entry");
	CHECK_STR(said(&h.notes), "4:1: this '{' of 'k' has no '}'\n");
	forget(&h);
	hear(&h, ".version 9.0\n.target sm_80\n.entry k()\n{\n\texit;\n\t{\n\t\texit;\n");
	CHECK_STR(said(&h.notes), "6:2: this '{' has no '}'\n");
	forget(&h);
	hear(&h, ".version 9.9\n.target sm_80\n");
	CHECK_STR(said(&h.words), "fatal   : Unsupported .version 9.9; current version is '9.3'");
	forget(&h);
}

int main(void)
{
	test_statements();
	test_places();
	return check_done();
}
