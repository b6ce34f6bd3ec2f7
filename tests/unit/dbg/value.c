/*
 * C expressions and what they print, with the same answers for both compilers' debug information.
 */
#include "tests/unit/dbg/fake.h"

#define KERNEL "_Z6shapesPfi5Point"

/* Without any module. */
static void test_constants(struct fake *x)
{
	SHOWS(x, "1+2*3", "7");
	SHOWS(x, "(1+2)*3", "9");
	SHOWS(x, "7/2", "3");
	SHOWS(x, "-7/2", "-3");
	SHOWS(x, "-7%3", "-1");
	SHOWS(x, "7/2.0", "3.5");
	SHOWS(x, "1/0", "Division by zero");
	SHOWS(x, "1%0", "Division by zero");
	SHOWS(x, "1.0/0", "inf");
	SHOWS(x, "-1 < 1u", "false");
	SHOWS(x, "-1 < 1", "true");
	SHOWS(x, "0x7fffffff + 1", "-2147483648");
	SHOWS(x, "0xffffffff + 1", "0");
	SHOWS(x, "4294967296", "4294967296");
	SHOWS(x, "18446744073709551615", "18446744073709551615");
	SHOWS(x, "18446744073709551616", "Numeric constant too large.");
	SHOWS(x, "1 << 31", "-2147483648");
	SHOWS(x, "1 << 32", "0");
	SHOWS(x, "1ll << 32", "4294967296");
	SHOWS(x, "-8 >> 1", "-4");
	SHOWS(x, "-8u >> 1", "2147483644");
	SHOWS(x, "0b101 | 010 ^ 0xf & 6", "15");
	SHOWS(x, "~5", "-6");
	SHOWS(x, "!5", "false");
	SHOWS(x, "1 == 1 && 2 != 2 || 3 >= 3", "true");
	SHOWS(x, "0 && 1/0", "false");
	SHOWS(x, "1 || 1/0", "true");
	SHOWS(x, "1 ? 2 : 1/0", "2");
	SHOWS(x, "1, 2", "2");
	SHOWS(x, "'a'", "97 'a'");
	SHOWS(x, "'\\n'", "10 '\\n'");
	SHOWS(x, "'\\''", "39 '\\''");
	SHOWS(x, "'a' + 1", "98");
	SHOWS(x, "\"hi\\n\"", "\"hi\\n\"");
	SHOWS(x, "1.5f", "1.5");
	SHOWS(x, "0.1f", "0.100000001");
	SHOWS(x, "0.1", "0.10000000000000001");
	SHOWS(x, "1e3 + .5", "1000.5");
	SHOWS(x, "0x1p4", "16");
	SHOWS(x, "(float)1/3", "0.333333343");
	SHOWS(x, "(half)1/3", "0.333333343");
	SHOWS(x, "(half)0.1", "0.099976");
	SHOWS(x, "(half)70000", "inf");
	SHOWS(x, "(int)-2.9", "-2");
	SHOWS(x, "(unsigned char)300", "44 ','");
	SHOWS(x, "(signed char)200", "-56 '\\310'");
	SHOWS(x, "(bool)0.5", "true");
	SHOWS(x, "(unsigned long long)-1", "18446744073709551615");
	SHOWS(x, "sizeof(int) * 2", "8");
	SHOWS(x, "sizeof 1.0", "8");
	SHOWS(x, "sizeof(long long)", "8");
	SHOWS(x, "true + true", "2");
	SHOWS(x, "nullptr == 0", "true");
}

static void test_formats(struct fake *x)
{
	SHOWS_AS(x, 'x', "255", "0xff");
	SHOWS_AS(x, 'x', "-1", "0xffffffff");
	SHOWS_AS(x, 'x', "(short)-1", "0xffff");
	SHOWS_AS(x, 'x', "1.5f", "0x3fc00000");
	SHOWS_AS(x, 'd', "4294967295u", "-1");
	SHOWS_AS(x, 'u', "-1", "4294967295");
	SHOWS_AS(x, 'o', "8", "010");
	SHOWS_AS(x, 'o', "0", "0");
	SHOWS_AS(x, 't', "10", "1010");
	SHOWS_AS(x, 't', "0", "0");
	SHOWS_AS(x, 'z', "255", "0x000000ff");
	SHOWS_AS(x, 'c', "65", "65 'A'");
	SHOWS_AS(x, 'f', "1065353216", "1");
	SHOWS_AS(x, 'f', "(short)0x3e00", "1.5");
	SHOWS_AS(x, 'f', "2.5", "2.5");
	SHOWS_AS(x, 'a', "4096", "0x1000");
}

static void test_errors(struct fake *x)
{
	SHOWS(x, "", "A syntax error in expression, near `'.");
	SHOWS(x, "1 +", "A syntax error in expression, near `'.");
	SHOWS(x, "(1", "A syntax error in expression, near `'.");
	SHOWS(x, "1 2", "A syntax error in expression, near `2'.");
	SHOWS(x, "1 ) 2", "A syntax error in expression, near `) 2'.");
	SHOWS(x, "a[", "A syntax error in expression, near `'.");
	SHOWS(x, "`", "Invalid character in expression.");
	SHOWS(x, "'a", "Unmatched single quote.");
	SHOWS(x, "\"a", "Unterminated string in expression.");
	SHOWS(x, "0x", "Invalid number.");
	SHOWS(x, "12abc", "Invalid number.");
	SHOWS(x, "1 = 2", "Left operand of assignment is not an lvalue.");
	SHOWS(x, "&1", "Attempt to take address of value not located in memory.");
	SHOWS(x, "*1.5", "Attempt to take contents of a non-pointer value.");
	SHOWS(x, "1.x", "Invalid number.");
	SHOWS(x, "(1).x", "there is no member x: this is not a structure");
	SHOWS(x, "1.5 % 2", "Integers are needed for that operator.");
	SHOWS(x, "~1.5", "Integers are needed for that operator.");
	SHOWS(x, "(@nowhere int *)1",
	      "after @ a space is expected: global, shared, local, constant, parameter or generic");
	SHOWS(x, "(struct nosuch *)1", "No struct type named nosuch.");
	SHOWS(x, "$7", "History has not yet reached $7.");
}

/* Nested beyond measure: a message, no crash. */
static void test_depth(struct fake *x)
{
	static char deep[100001];

	memset(deep, '(', 100000);
	SHOWS(x, deep, "The expression is nested too deeply.");
	memset(deep, '-', 100000);
	CHECK(strlen(fake_print(x, deep)) < 100);
	memset(deep, '!', 100000);
	SHOWS(x, deep, "The expression is nested too deeply.");
}

static void test_convenience(struct fake *x)
{
	struct text why = {0};
	struct dbg_value v;
	u32 n;

	SHOWS(x, "$x", "void");
	SHOWS(x, "$x = 5", "5");
	SHOWS(x, "$x * 2", "10");
	SHOWS(x, "$x += 2.5", "7.5");
	SHOWS(x, "$x++", "7.5");
	SHOWS(x, "$x", "8.5");
	SHOWS(x, "$y + 1", "a void value is not a number");
	v = dbg_value_int(&dbg_type_int, 41);
	CHECK(dbg_session_keep(x->c.session, &x->c, &v, &n, &why) && n == 1);
	v = dbg_value_int(&dbg_type_int, 42);
	CHECK(dbg_session_keep(x->c.session, &x->c, &v, &n, &why) && n == 2);
	SHOWS(x, "$", "42");
	SHOWS(x, "$$", "41");
	SHOWS(x, "$1 + $2", "83");
	SHOWS(x, "$$1", "41");
	SHOWS(x, "$$0", "42");
	/* The module goes; numbers stay. */
	dbg_session_forget(x->c.session);
	SHOWS(x, "$2", "42");
	SHOWS(x, "$x", "8.5");
}

static void test_alone(void)
{
	static struct fake x;

	x.c.session = dbg_session_new();
	test_constants(&x);
	test_formats(&x);
	test_errors(&x);
	test_depth(&x);
	test_convenience(&x);
	SHOWS(&x, "a", "No symbol \"a\": no device code is loaded.");
	SHOWS(&x, "*(int *)5", "not known here");
	SHOWS(&x, "threadIdx.x", "%tid is not known here");
	dbg_session_free(x.c.session);
}

/* "f(1, 2)" returns 12. */
static bool fake_call(void *user PL_UNUSED, const struct dbg_context *c, const char *name,
		      const struct dbg_value *args, u32 n, struct dbg_value *out, struct text *why)
{
	struct dbg_number number;
	u64 all = 0;

	for (u32 i = 0; i < n; i++) {
		if (!dbg_value_number(c, &args[i], &number, why))
			return false;
		all = all * 10 + number.bits;
	}
	if (strcmp(name, "f") != 0) {
		text_printf(why, "No function \"%s\".", name);
		return false;
	}
	*out = dbg_value_int(&dbg_type_int, all);
	return true;
}

static void test_calls(void)
{
	static struct fake x;
	struct dbg_target target = {.call = fake_call};
	struct text why = {0};
	struct dbg_expr *e;

	x.c.session = dbg_session_new();
	SHOWS(&x, "f(1)", "Functions can be called while a kernel stands.");
	x.c.target = &target;
	SHOWS(&x, "f()", "0");
	SHOWS(&x, "f(1)", "1");
	SHOWS(&x, "f(1, f(2, 3), (4, 5))", "335");
	SHOWS(&x, "-f(1, 2) + 2 * f(3)", "-6");
	SHOWS(&x, "0 ? f(1) : f(2)", "2");
	SHOWS(&x, "sizeof(f(1))", "4");
	SHOWS(&x, "g(1)", "No function \"g\".");
	SHOWS(&x, "f(", "A syntax error in expression, near `'.");
	SHOWS(&x, "f(1", "A syntax error in expression, near `'.");
	SHOWS(&x, "f(1,)", "A syntax error in expression, near `)'.");
	SHOWS(&x, "f(1 2)", "A syntax error in expression, near `2)'.");
	SHOWS(&x, "3(1)", "Functions are called by their names.");
	SHOWS(&x, "f(1)(2)", "Functions are called by their names.");
	e = dbg_expr_parse(&x.c, "1 && f(1)", &why);
	CHECK(e && dbg_expr_calls(e));
	dbg_expr_free(e);
	e = dbg_expr_parse(&x.c, "1 && (2)", &why);
	CHECK(e && !dbg_expr_calls(e));
	dbg_expr_free(e);
	dbg_session_free(x.c.session);
}

/* ---- variables of a kernel ---- */

/* Values as the program would have left them at line 97. */
static void set_up(struct fake *x)
{
	static const char *const sets[] = {
		"i = 77",
		"big = 77ll << 33",

		"byte = 200",
		"small = -77",
		"rights = (Flag)5",
		"local.tag = 3",
		"local.at.x = 1.5",
		"local.at.y = -2",
		"local.color = BLUE",
		"local.mode = 5",
		"local.level = 100",
		"local.delta = -9",
		"local.weight[1][0] = 0.25",
		"local.whole = 0x01020304",
		"local.name[0] = 'n'",
		"local.name[1] = 'o'",
		"ring.slot[2] = 4",
		"ring.head = 3",
		"tile[0] = 5",
		"tile[2] = 9",
		"nodes[1].tag = 11",
		"nodes[1].color = RED",
		"stats::hits = 1234567",
	};
	const char *shown;

	CHECK(fake_go(x, KERNEL, 97));
	/* Registers that the compiler holds pointers in. */
	for (u32 i = 0; i < FAKE_REGISTERS; i++)
		x->set[i] = true;
	for (size_t i = 0; i < ARRAY_LEN(sets); i++)
		CHECK(!strstr(fake_print(x, sets[i]), "annot") &&
		      !strstr(fake_print(x, sets[i]), "symbol"));
	/* A shared address becomes a generic one where it is kept. */
	shown = fake_print(x, "local.next = head = &nodes[1]");
	CHECK(!strncmp(shown, "(Node *) 0x10000", 16));
	memcpy(x->memory[DBG_GLOBAL] + 2048, "warp", 5);
	SHOWS(x, "text = (char *)0x10000800", "0x10000800 \"warp\"");
}

static void test_variables(struct fake *x)
{
	SHOWS(x, "i", "77");
	SHOWS(x, "i + 1", "78");
	SHOWS(x, "big", "661424963584");
	SHOWS(x, "byte", "200 '\\310'");
	SHOWS(x, "small", "-77");
	SHOWS(x, "rights", "(READ | EXEC)");
	SHOWS(x, "text", "0x10000800 \"warp\"");
	SHOWS(x, "*text", "119 'w'");
	SHOWS(x, "text[1]", "97 'a'");
	SHOWS(x, "*text@4", "\"warp\"");
	SHOWS(x, "stats::hits", "1234567");
	SHOWS(x, "stats::table", "{0, 0, 0, 0}");
	SHOWS(x, "nosuch", "No symbol \"nosuch\" in current context.");
	SHOWS(x, "local.nosuch", "There is no member named nosuch.");
	SHOWS(x, "threadIdx", "{x = 3, y = 4, z = 5}");
	SHOWS(x, "threadIdx.x + blockDim.x * 2", "67");
	SHOWS(x, "warpSize", "32");
	SHOWS(x, "%tid.y", "4");
	SHOWS(x, "%laneid", "3");
	SHOWS(x, "$laneid", "3");
	SHOWS(x, "%clock", "%clock is not known here");
	SHOWS(x, "%nosuch", "No register %nosuch here.");
}

static void test_structures(struct fake *x)
{
	static const char whole[] = "{<Base> = {tag = 3}, at = {x = 1.5, y = -2}, next = 0x";
	static const char rest[] =
		", color = BLUE, name = \"no\\000\\000\\000\\000\\000\", mode = 5, level = 100, "
		"delta = -9, {whole = 16909060, part = \"\\004\\003\\002\\001\"}, "
		"weight = {{0, 0}, {0.25, 0}}}";
	const char *shown = fake_print(x, "local");

	CHECK(!strncmp(shown, whole, strlen(whole)));
	CHECK(strstr(shown, rest) != NULL);
	SHOWS(x, "local.at", "{x = 1.5, y = -2}");
	SHOWS(x, "local.tag", "3");
	SHOWS(x, "local.part[3]", "1 '\\001'");
	SHOWS(x, "local.level", "100");
	SHOWS(x, "local.level = 130", "2");
	SHOWS(x, "local.mode", "5");
	SHOWS(x, "local.delta", "-9");
	SHOWS(x, "local.weight[1]", "{0.25, 0}");
	SHOWS(x, "local.next->tag", "11");
	SHOWS(x, "local.next->next", "(Node *) 0x0");
	SHOWS(x, "(*head).color", "RED");
	SHOWS(x, "head.color", "RED");
	SHOWS(x, "*local.next->next", "Cannot access memory at address 0x0");
	SHOWS(x, "ring", "{slot = {0, 0, 4, 0}, head = 3}");
	SHOWS(x, "local.at = nodes[1].at", "{x = 0, y = 0}");
	CHECK_STR(fake_show(x, "ring", &(struct dbg_format){.pretty = true}),
		  "{\n  slot = {0, 0, 4, 0},\n  head = 3\n}");
	SHOWS_AS(x, 'x', "ring", "{slot = {0x0, 0x0, 0x40800000, 0x0}, head = 0x3}");
	SHOWS(x, "local.color = GREEN", "GREEN");
	SHOWS(x, "local.color == GREEN", "true");
	SHOWS(x, "(Color)7", "7");
	SHOWS(x, "(Flag)9", "(READ | unknown: 0x8)");
}

/* What nvcc keeps in a predicate alone it does not describe. */
static void test_predicate(struct fake *x, bool told)
{
	if (told)
		SHOWS(x, "odd = 3", "true");
	else
		SHOWS(x, "odd", "No symbol \"odd\" in current context.");
}

static void test_half(struct fake *x)
{
	struct dbg_variable v;

	/* A variable hides the type of its name; the toolkit's structure is shown as a number. */
	CHECK(dbg_names_find(x->names, x->c.place, 0, "half", &v));
	SHOWS(x, "half.bits = 0x3e00", "15872");
	SHOWS(x, "half", "1.5");
	SHOWS(x, "half + 1", "2.5");
	SHOWS(x, "half = 0.1", "0.099976");
	SHOWS_AS(x, 'x', "half", "0x2e66");
}

static void test_arrays(struct fake *x)
{
	SHOWS(x, "tile", "{5, 0, 9, 0 <repeats 29 times>}");
	SHOWS(x, "tile[0]@3", "{5, 0, 9}");
	SHOWS(x, "*tile@3", "{5, 0, 9}");
	SHOWS(x, "tile[2]", "9");
	SHOWS(x, "*(tile + 2)", "9");
	SHOWS(x, "2[&tile[0]]",
	      "cannot subscript something that is neither an array nor a pointer");
	SHOWS(x, "&tile[2] - tile", "2");
	SHOWS(x, "sizeof tile", "128");
	SHOWS(x, "tile[0]@0", "Invalid number 0 of repetitions.");
	SHOWS(x, "1@2", "Only values in memory can be extended with '@'.");
	SHOWS(x, "nodes[1].next == 0", "true");
	CHECK_STR(fake_show(x, "tile", &(struct dbg_format){.elements = 2}), "{5, 0...}");
	CHECK_STR(fake_show(x, "tile", &(struct dbg_format){.elements = 4, .repeats = 3}),
		  "{5, 0, 9, 0 <repeats 29 times>}");
}

static void test_pointers(struct fake *x)
{
	const char *generic;

	SHOWS(x, "&tile", "(@shared int (*)[32]) 0x0");
	SHOWS(x, "&tile[1]", "(@shared int *) 0x4");
	SHOWS(x, "*&tile[2]", "9");
	SHOWS(x, "(@shared int *)8", "(@shared int *) 0x8");
	SHOWS(x, "*(@shared int *)8", "9");
	SHOWS(x, "{int} 0x1000008", "9");
	SHOWS(x, "(int *)&tile[2]", "(int *) 0x1000008");
	SHOWS(x, "*(int *)&tile[2]", "9");
	SHOWS(x, "(@shared int *)(int *)&tile[2]", "(@shared int *) 0x8");
	/* Pointers into different spaces compare by where they point to. */
	SHOWS(x, "(int *)&tile[2] == &tile[2]", "true");
	SHOWS(x, "head == &nodes[1]", "true");
	SHOWS(x, "head == &nodes[2]", "false");
	SHOWS(x, "head - nodes", "1");
	SHOWS(x, "head + 1 == &nodes[2]", "true");
	SHOWS(x, "head != 0 && head->tag == 11", "true");
	SHOWS(x, "*(@shared int *)0x100000", "Cannot access shared memory at address 0x100000");
	SHOWS(x, "*(void *)8", "Attempt to dereference a generic pointer.");
	SHOWS(x, "stats::table[0] = 1", "it cannot be written: cannot be accessed");
	generic = fake_print(x, "head");
	CHECK(!strncmp(generic, "(Node *) 0x1", 12));
	CHECK_STR(fake_type(x, "&local.at.y"), "@local float *");
	CHECK_STR(fake_type(x, "(Node (*)[3])head"), "Node (*)[3]");
	CHECK_STR(fake_type(x, "head"), "Node *");
	CHECK_STR(fake_type(x, "text"), "const char *");
	CHECK_STR(fake_type(x, "*text"), "const char");
	CHECK_STR(fake_type(x, "i == 1"), "bool");
	CHECK_STR(fake_type(x, "i + 1u"), "unsigned int");
	CHECK_STR(fake_type(x, "unsigned long long"), "unsigned long long");
	CHECK_STR(fake_type(x, "const Node *"), "Node *");
}

/* `whatis i = 5` and sizeof change nothing. */
static void test_dry(struct fake *x)
{
	u32 writes = x->writes;

	CHECK_STR(fake_type(x, "i = 5"), "int");
	SHOWS(x, "sizeof(i++)", "4");
	CHECK_STR(fake_type(x, "tile[0] += 1"), "int");
	CHECK_EQ(x->writes, writes);
	SHOWS(x, "i", "77");
	SHOWS(x, "++i", "78");
	SHOWS(x, "i--", "78");
	SHOWS(x, "i", "77");
	CHECK(x->writes > writes);
}

static void test_reference(struct fake *x, bool in_register)
{
	char text[64];
	struct dbg_variable v;

	CHECK(dbg_names_find(x->names, x->c.place, 0, "ref", &v));
	CHECK_EQ(v.where == DBG_IN_REGISTER, in_register);
	/* Where the reference itself is, the address of tile[2] is put. */
	if (in_register) {
		*(u64 *)x->reg[v.reg] = FAKE_SHARED + 8;
	} else {
		u64 at = FAKE_SHARED + 8;

		memcpy(fake_at(x, "ref"), &at, sizeof(at));
	}
	SHOWS(x, "tile[2] = 9", "9");
	SHOWS(x, "ref", "(int &) @0x1000008: 9");
	SHOWS(x, "ref + 1", "10");
	SHOWS(x, "ref = 6", "(int &) @0x1000008: 6");
	SHOWS(x, "tile[2]", "6");
	SHOWS(x, "&ref", "(int *) 0x1000008");
	SHOWS_AS(x, 'x', "ref", "0x6");
	snprintf(text, sizeof(text), "%s", fake_type(x, "ref"));
	CHECK_STR(text, "int &");
}

static void test_member_function(struct fake *x)
{
	u64 self = FAKE_LOCAL + 256;
	struct dbg_variable v;

	CHECK(fake_go(x, "_ZN4RingIfLi4EE4pushEf", 47));
	CHECK(dbg_names_find(x->names, x->c.place, 0, "this", &v));
	if (v.where == DBG_IN_REGISTER)
		memcpy(x->reg[v.reg], &self, sizeof(self));
	else
		memcpy(fake_at(x, "this"), &self, sizeof(self));
	SHOWS(x, "this->head = 2", "2");
	/* Without `this`, as in C++. */
	SHOWS(x, "head", "2");
	SHOWS(x, "slot[head] = 8", "8");
	SHOWS(x, "slot", "{0, 0, 8, 0}");
	SHOWS(x, "*this", "{slot = {0, 0, 8, 0}, head = 2}");
}

static void test_kernel(const char *file, bool in_registers)
{
	static struct fake x;

	printf("# %s\n", file);
	if (!CHECK(fake_open_file(&x, file)))
		return;
	set_up(&x);
	test_variables(&x);
	test_structures(&x);
	test_half(&x);
	test_predicate(&x, !in_registers);
	test_reference(&x, in_registers);
	SHOWS(&x, "tile[2] = 9", "9");
	test_arrays(&x);
	test_pointers(&x);
	test_dry(&x);
	test_member_function(&x);
	fake_close(&x);
}

/* ---- one expression, many places ---- */

static void test_again(void)
{
	static struct fake x;
	struct dbg_expr *e;
	struct text why = {0};
	struct dbg_value v;
	bool is;

	if (!CHECK(fake_open_file(&x, "shapes.nvcc.ptx")) || !CHECK(fake_go(&x, KERNEL, 92)))
		return;
	e = dbg_expr_parse(&x.c, "j == 2", &why);
	CHECK(e != NULL);
	fake_set(&x, "%r5", 2);
	fake_set(&x, "%r6", 3);
	CHECK(dbg_expr_eval(e, &x.c, &v, &why) && dbg_value_is_true(&x.c, &v, &is, &why) && is);
	/* Later in the loop the same name is in another register. */
	x.c.place.insn = 79;
	CHECK(dbg_expr_eval(e, &x.c, &v, &why) && dbg_value_is_true(&x.c, &v, &is, &why) && !is);
	dbg_expr_free(e);
	text_fini(&why);
	fake_close(&x);
}

static const char plain[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
			    ".visible .entry k() {\n"
			    "\t.reg .b32 x, %r<5>;\n\t.reg .pred p;\n\t.reg .v2 .f32 pair;\n"
			    "\t.reg .b16 %h<2>;\n\t.reg .f16 h;\n\t.shared .u32 box[2][3];\n"
			    "\tmov.u32 x, 5;\n\tmov.u32 %r4, 1;\n\tsetp.eq.u32 p, x, 1;\n"
			    "\tmov.v2.f32 pair, {0f3F800000, 0f40000000};\n\tmov.b16 h, 1;\n"
			    "\tret;\n}\n";

/* PTX alone: registers by name. */
static void test_ptx(void)
{
	static struct fake x;

	if (!CHECK(fake_open(&x, "plain.ptx", plain, strlen(plain))))
		return;
	x.c.place = (struct dbg_place){ir_find_func(x.m, "k"), 5};
	fake_set(&x, "x", (u32)-5);
	fake_set(&x, "p", 1);
	fake_set(&x, "h", 0x3c00);
	fake_set(&x, "pair", 0x400000003f800000);
	SHOWS(&x, "x", "-5");
	SHOWS(&x, "%r4", "not set yet");
	SHOWS(&x, "%r3", "No register %r3 here.");
	SHOWS(&x, "x == -5 && p", "true");
	SHOWS_AS(&x, 'x', "x", "0xfffffffb");
	SHOWS(&x, "p", "true");
	SHOWS(&x, "h", "1");
	SHOWS(&x, "pair", "{x = 1, y = 2}");
	SHOWS(&x, "pair.y", "2");
	SHOWS(&x, "pair.y = 3", "3");
	SHOWS(&x, "pair", "{x = 1, y = 3}");
	SHOWS(&x, "$r4 = 9", "9");
	SHOWS(&x, "%r4 % 2", "1");
	SHOWS(&x, "$pc", "5");
	SHOWS(&x, "box[1][2] = 4", "4");
	SHOWS(&x, "box", "{{0, 0, 0}, {0, 0, 4}}");
	SHOWS(&x, "nosuch",
	      "No symbol \"nosuch\" in current context. (no debug information: "
	      "build with -G)");
	fake_close(&x);
}

int main(void)
{
	static struct fake x;
	bool dwarf;

	test_alone();
	test_calls();
	test_ptx();
	dwarf = fake_open_file(&x, "shapes.nvcc.ptx") && dbg_names_has_dwarf(x.names);
	fake_close(&x);
	if (!dwarf) {
		printf("ok %d - variables of the source # SKIP without libdw\n", ++check_count);
		return check_done();
	}
	test_kernel("shapes.nvcc.ptx", true);
	test_kernel("shapes.clang.ptx", false);
	test_again();
	return check_done();
}
