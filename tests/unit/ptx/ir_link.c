/*
 * Linking: which definition counts, what is an error and where.
 */
#include "tests/unit/ptx/ptx_text.h"

#define UNITS 3

struct link_case {
	const char *what;
	const char *unit[UNITS]; /* NULL: no such unit */
	const char *error;       /* NULL: links */
	/* what the name in the first unit stands for: a unit's number, or -1 */
	const char *name;
	int expected;
	enum ir_link_mode mode;
};

/* Rows leave out what most of them do not need. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct link_case cases[] = {
	{"an .extern function",
	 {".extern .func f(); .func g() { call f; ret; }", ".visible .func f() { ret; }"},
	 NULL,
	 "f",
	 1},
	{"an .extern variable",
	 {".extern .global .u32 x; .global .u64 p = x;", ".visible .global .u32 x = 1;"},
	 NULL,
	 "x",
	 1},
	{"an .extern array without size",
	 {".extern .global .u32 x[]; .global .u64 p = x;", ".visible .global .u32 x[7];"},
	 NULL,
	 "x",
	 1},
	{"an array of addresses that is declared as bytes",
	 {".extern .global .align 8 .b8 t[16]; .global .u64 p = t;",
	  ".func f() { ret; } .visible .global .align 8 .u64 t[2] = {f, f};"},
	 NULL,
	 "t",
	 1},
	{"vectors, numbers and bytes of one size",
	 {".extern .const .align 4 .b8 x[16];", ".extern .const .u32 x[2][2];",
	  ".visible .const .v4 .f32 x;"},
	 NULL,
	 "x",
	 2},
	{"an array of bytes without size",
	 {".extern .global .align 1 .b8 t[]; .global .u64 p = t;",
	  ".visible .global .align 8 .u64 t[2];"},
	 NULL,
	 "t",
	 1},
	{"a stricter alignment",
	 {".extern .global .align 16 .b8 t[16];", ".visible .global .align 4 .b8 t[16];"},
	 NULL,
	 "t",
	 1},
	{"weak variables of another type",
	 {".weak .global .align 4 .b8 t[4] = {1, 0, 0, 0};", ".weak .global .u32 t = 1;"},
	 NULL,
	 "t",
	 0},
	{"weak variables of another size",
	 {".weak .global .u32 t[2];", ".weak .global .u32 t[4];"},
	 "'t' is declared here otherwise",
	 "t",
	 -1},
	{"common and strong of another size",
	 {".common .global .u32 t[2];", ".visible .global .u32 t[4];"},
	 "'t' is declared here otherwise",
	 "t",
	 -1},
	{"managed and not",
	 {".extern .global .attribute(.managed) .u32 t;", ".visible .global .u32 t;"},
	 "'t' is declared here otherwise",
	 "t",
	 -1},
	{"declared in all, defined in the last",
	 {".extern .func f(); .func g() { call f; ret; }", ".extern .func f();",
	  ".visible .func f() { ret; }"},
	 NULL,
	 "f",
	 2},
	{"weak loses against visible",
	 {".weak .func f() { ret; }", ".visible .func f() { ret; }"},
	 NULL,
	 "f",
	 1},
	{"the first weak one counts",
	 {".weak .func f() { ret; }", ".weak .func f() { ret; }"},
	 NULL,
	 "f",
	 0},
	{"weak variables and a strong one",
	 {".weak .global .u32 x = 1;", ".weak .global .u32 x = 2;", ".visible .global .u32 x = 3;"},
	 NULL,
	 "x",
	 2},
	{"a weak kernel twice",
	 {".weak .entry f() { ret; }", ".weak .entry f() { ret; }"},
	 NULL,
	 "f",
	 0},
	{"the largest common one counts",
	 {".common .global .u32 x[2];", ".common .global .u32 x[4];"},
	 NULL,
	 "x",
	 1},
	{"common loses against visible",
	 {".common .global .u32 x[4];", ".visible .global .u32 x[4] = {1};"},
	 NULL,
	 "x",
	 1},
	{"common before weak", {".weak .global .u32 x;", ".common .global .u32 x;"}, NULL, "x", 1},
	{"local names stay apart", {".global .u32 x;", ".visible .global .u32 x;"}, NULL, "x", 0},
	{"local functions stay apart",
	 {".func f() { ret; }", ".visible .func f() { ret; }", ".func f() { ret; }"},
	 NULL,
	 "f",
	 0},
	{"an alias is exported",
	 {".extern .func f(); .func g() { call f; ret; }",
	  ".visible .func f(); .visible .func h() { ret; } .alias f, h;"},
	 NULL,
	 "f",
	 1},
	{"an unused .extern", {".extern .func f();", ".func g() { ret; }"}, NULL, "f", 0},
	{"a name of the runtime",
	 {".extern .func vprintf(); .func g() { call vprintf; ret; }"},
	 NULL,
	 "vprintf",
	 0},
	{"dynamic shared memory",
	 {".extern .shared .b8 s[]; .func g() { .reg .b64 a; mov.u64 a, s; ret; }",
	  ".extern .shared .b8 s[];"},
	 NULL,
	 "s",
	 0},
	{"two strong functions",
	 {".visible .func f() { ret; }", ".visible .func f() { ret; }"},
	 "1:60: error: 'f' is defined in two units",
	 "f",
	 -1},
	{"two strong variables",
	 {".visible .global .u32 x;", ".visible .global .u32 x;"},
	 "'x' is defined in two units",
	 "x",
	 -1},
	{"a function and a variable",
	 {".visible .global .u32 x;", ".visible .func x() { ret; }"},
	 "'x' is defined in two units",
	 "x",
	 -1},
	{"missing function",
	 {".extern .func f(); .func g() { call f; ret; }"},
	 "unresolved extern function 'f'",
	 "f",
	 -1},
	{"missing variable",
	 {".extern .global .u32 x; .func g() { .reg .b32 a; ld.global.u32 a, [x]; ret; }"},
	 "unresolved extern variable 'x'",
	 "x",
	 -1},
	{"missing variable of a whole program",
	 {".extern .global .u32 x; .func g() { .reg .b32 a; ld.global.u32 a, [x]; ret; }"},
	 NULL,
	 "x",
	 0,
	 IR_LINK_WHOLE},
	{"missing variable of a whole program, without size",
	 {".extern .global .u32 x[]; .func g() { .reg .b64 a; mov.u64 a, x; ret; }"},
	 "unresolved extern variable 'x'",
	 "x",
	 -1,
	 IR_LINK_WHOLE},
	{"missing in initial values",
	 {".extern .func f(); .global .u64 p = f;", ".func f() { ret; }"},
	 "unresolved extern function 'f'",
	 "f",
	 -1},
	{"missing in a table",
	 {".extern .func f(); .func g() { .reg .b64 a; t: .calltargets f; call a, t; ret; }"},
	 "unresolved extern function 'f'",
	 "f",
	 -1},
	{"other size",
	 {".extern .global .u32 x[4];", ".visible .global .u32 x[5];"},
	 "'x' is declared here otherwise",
	 "x",
	 -1},
	{"other type",
	 {".extern .global .u32 x;", ".visible .global .u64 x;"},
	 "'x' is declared here otherwise",
	 "x",
	 -1},
	{"other space",
	 {".extern .const .u32 x;", ".visible .global .u32 x;"},
	 "'x' is declared here otherwise",
	 "x",
	 -1},
	{"other parameters",
	 {".extern .func f(.param .b32 a); .func g() { .param .b32 x; call f, (x); ret; }",
	  ".visible .func f(.param .b64 a) { ret; }"},
	 "'f' is declared here otherwise",
	 "f",
	 -1},
	{"other number of parameters",
	 {".extern .func f(); .func g() { call f; ret; }",
	  ".visible .func f(.param .b64 a) { ret; }"},
	 "'f' is declared here otherwise",
	 "f",
	 -1},
	{"other result",
	 {".extern .func (.param .b32 r) f(); .global .u64 p = f;", ".visible .func f() { ret; }"},
	 "'f' is declared here otherwise",
	 "f",
	 -1},
	{"other parameters of a function that is not used",
	 {".extern .func f(.param .b32 a);", ".visible .func f(.param .b64 a) { ret; }"},
	 NULL,
	 "f",
	 1},
	{"a kernel for a function",
	 {".extern .func f();", ".visible .entry f() { ret; }"},
	 "'f' is declared here otherwise",
	 "f",
	 -1},
	{"a variable for a function",
	 {".extern .func f();", ".visible .global .u32 f;"},
	 "'f' is declared here otherwise",
	 "f",
	 -1},
};

/* The unit that holds what `name` of the first unit stands for. */
static int unit_of(struct ir_module *const *units, size_t n, const char *name)
{
	const struct ir_var *v = ir_find_var(units[0], name);
	const struct ir_func *f = ir_find_func(units[0], name);

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; v && k < units[i]->vars.len; k++)
			if (units[i]->vars.at[k] == v->definition)
				return (int)i;
		for (size_t k = 0; f && k < units[i]->funcs.len; k++)
			if (units[i]->funcs.at[k] == f->definition)
				return (int)i;
	}
	return -1;
}

static void check_case(const struct link_case *c)
{
	static const char *const allowed[] = {"vprintf", "malloc", NULL};
	static const char head[] = ".version 8.0 .target sm_80 .address_size 64 ";
	struct ir_module *units[UNITS];
	struct ptx_text texts[UNITS];
	struct text log = {0};
	struct diag d;
	size_t n = 0;
	bool linked;

	diag_init(&d, diag_collect, &log);
	while (n < UNITS && c->unit[n]) {
		texts[n] = ptx_text_parse(head, c->unit[n], "", true);
		units[n] = texts[n].m;
		if (!CHECK_MSG(units[n] != NULL, c->what)) {
			printf("# %s\n", texts[n].log.at);
			return;
		}
		n++;
	}
	for (int again = 0; again < 2; again++) {
		linked = ir_link(units, n, c->mode, allowed, &d);
		if (!CHECK_MSG(linked == !c->error && linked == !d.errors &&
				       (!c->error || strstr(log.at, c->error)),
			       c->what))
			printf("# %s\n", log.at ? log.at : "linked");
		if (linked)
			CHECK_EQ(unit_of(units, n, c->name), c->expected);
	}
	for (size_t i = 0; i < n; i++)
		ptx_text_fini(&texts[i]);
	diag_fini(&d);
	text_fini(&log);
}

/* Common variables are one, as large and as aligned as any of them. */
static void test_common_alignment(void)
{
	struct ptx_text a = ptx_text_parse(".version 8.0 .target sm_80 .address_size 64 ",
					   ".common .global .align 64 .b8 x[16];", "", true);
	struct ptx_text b = ptx_text_parse(".version 8.0 .target sm_80 .address_size 64 ",
					   ".common .global .align 4 .b8 x[32];", "", true);
	struct ir_module *units[] = {a.m, b.m};
	struct text log = {0};
	struct diag d;

	diag_init(&d, diag_collect, &log);
	if (CHECK(a.m && b.m) && CHECK(ir_link(units, 2, IR_LINK_PARTS, NULL, &d))) {
		const struct ir_var *v = ir_find_var(a.m, "x")->definition;

		CHECK_EQ(v->size_bytes, 32);
		CHECK_EQ(v->align, 64);
	}
	ptx_text_fini(&a);
	ptx_text_fini(&b);
	diag_fini(&d);
	text_fini(&log);
}

int main(void)
{
	test_common_alignment();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_case(&cases[i]);
	return check_done();
}
