/*
 * Names of the source at a place: scopes, locations, types, frames; hostile debug information.
 */
#include "tests/unit/dbg/fake.h"

#define KERNEL "_Z6shapesPfi5Point"
#define PUSH "_ZN4RingIfLi4EE4pushEf"

static bool find(struct fake *x, const char *name, struct dbg_variable *v)
{
	return dbg_names_find(x->names, x->c.place, x->c.inlined, name, v);
}

static void test_scopes(struct fake *x)
{
	struct dbg_variable v;

	/* sq and j are of the loop, s of the block after it. */
	CHECK(fake_go(x, KERNEL, 93));
	CHECK(find(x, "sq", &v) && v.line == 92);
	CHECK(find(x, "j", &v) && !v.is_parameter);
	CHECK(!find(x, "s", &v));
	CHECK(find(x, "n", &v) && v.is_parameter);
	CHECK(fake_go(x, KERNEL, 99));
	CHECK(!find(x, "sq", &v));
	CHECK(find(x, "s", &v) && v.line == 98);
	/* In the inlined copy there are its own names alone, and those of the module. */
	CHECK(fake_go(x, KERNEL, 67) || fake_go(x, KERNEL, 66));
	CHECK(find(x, "q", &v) && v.is_parameter);
	CHECK(!find(x, "i", &v));
	CHECK(find(x, "stats::hits", &v) && v.space == DBG_GLOBAL);
	x->c.inlined = 1;
	CHECK(find(x, "i", &v));
	CHECK(!find(x, "q", &v));
	x->c.inlined = 0;
	/* Namespaces of the function are looked into. */
	CHECK(!find(x, "hits", &v));
	CHECK(fake_go(x, "_ZN5stats4bumpEi", 59));
	CHECK(find(x, "hits", &v) && v.base && !strcmp(v.base->name->text, "_ZN5stats4hitsE"));
	CHECK(find(x, "::stats::hits", &v));
	CHECK(find(x, "table", &v) && v.space == DBG_CONST);
	CHECK(fake_go(x, PUSH, 47));
	CHECK(find(x, "this", &v) && v.is_artificial);
	CHECK(find(x, "old", &v));
}

static void test_types(struct fake *x)
{
	struct dbg_type *t;
	struct text out = {0};
	s64 value;

	CHECK((t = dbg_names_type(x->names, "Ring<float, 4>")) && t->kind == DBG_STRUCT &&
	      t->size == 20);
	CHECK(t == dbg_names_type(x->names, "Ring<float,4>"));
	CHECK((t = dbg_names_type(x->names, "Node")) && t->size == 80);
	dbg_type_describe(t, false, &out);
	CHECK(out.at &&
	      strstr(out.at, "struct Node : public Base {\n    Point at;\n    Node *next;\n"));
	CHECK(strstr(out.at, "    char name[8];\n    word mode : 3;\n"));
	CHECK(strstr(out.at, "    double weight[2][2];\n}"));
	text_fini(&out);
	CHECK(dbg_names_enumerator(x->names, "BLUE", &t, &value) && value == 6 &&
	      t->kind == DBG_ENUM && !strcmp(t->name, "Color"));
	CHECK(!dbg_names_enumerator(x->names, "PINK", &t, &value));
	CHECK(!dbg_names_type(x->names, "Nodes"));
}

static void test_functions(struct fake *x)
{
	const struct ir_func *push = ir_find_func(x->m, PUSH), *k = ir_find_func(x->m, KERNEL);

	CHECK(dbg_names_is_function(x->names, k, "shapes"));
	CHECK(dbg_names_is_function(x->names, k, KERNEL));
	CHECK(dbg_names_is_function(x->names, k, "shapes(float*, int, Point)"));
	CHECK(!dbg_names_is_function(x->names, k, "hapes"));
	CHECK(dbg_names_is_function(x->names, push, "push"));
	CHECK(dbg_names_is_function(x->names, push, "Ring<float, 4>::push"));
	CHECK(dbg_names_is_function(x->names, push, "Ring<float,4>::push"));
	CHECK(dbg_names_is_function(x->names, k, "shapes( float *,int,Point )"));
	CHECK(!dbg_names_is_function(x->names, k, " "));
	CHECK(dbg_names_is_function(x->names, push, "Ring::push"));
	CHECK(!dbg_names_is_function(x->names, push, "ring::push"));
}

static void test_frames(struct fake *x)
{
	struct dbg_frame f[DBG_INLINE_MAX + 1];

	CHECK(fake_go(x, KERNEL, 66));
	CHECK_EQ(dbg_names_frames(x->names, x->lines, x->c.place, f), 2);
	CHECK_STR(f[0].function, "square");
	CHECK(f[0].is_inlined && f[0].source.line == 66);
	CHECK_STR(f[1].function, "shapes");
	CHECK(!f[1].is_inlined && f[1].source.line == 98);
	CHECK_STR(f[1].source.path, "/src/shapes.cu");
	CHECK(fake_go(x, PUSH, 47));
	CHECK_EQ(dbg_names_frames(x->names, x->lines, x->c.place, f), 1);
	CHECK_STR(f[0].function, "Ring<float, 4>::push");
}

struct seen {
	char names[1024];
};

static void see(void *user, const struct dbg_variable *v, u32 depth)
{
	struct seen *s = user;

	snprintf(s->names + strlen(s->names), sizeof(s->names) - strlen(s->names), "%s%s:%u ",
		 v->is_parameter ? "@" : "", v->name, depth > 0);
}

static void test_locals(struct fake *x)
{
	struct seen s = {{0}};

	CHECK(fake_go(x, KERNEL, 93));
	dbg_names_locals(x->names, x->c.place, 0, see, &s);
	CHECK(strstr(s.names, "sq:1 ") && strstr(s.names, "@n:0 ") && strstr(s.names, "tile:"));
	CHECK(strstr(s.names, "sq:") < strstr(s.names, "@n:"));
	CHECK(!strstr(s.names, "hits") && !strstr(s.names, " s:"));
	fake_go(x, KERNEL, 66);
	s = (struct seen){{0}};
	dbg_names_locals(x->names, x->c.place, 0, see, &s);
	CHECK(strstr(s.names, "@q:0 ") && !strstr(s.names, "@n"));
}

static void test_compiler(const char *file)
{
	static struct fake x;

	printf("# %s\n", file);
	if (!CHECK(fake_open_file(&x, file)) || !CHECK(dbg_names_has_dwarf(x.names)))
		return;
	CHECK(!x.why.len);
	test_scopes(&x);
	test_types(&x);
	test_functions(&x);
	test_frames(&x);
	test_locals(&x);
	fake_close(&x);
}

/* ---- nvcc keeps variables in registers ---- */

static void test_registers(void)
{
	static struct fake x;
	struct dbg_variable v, w;
	char name[64];

	if (!CHECK(fake_open_file(&x, "shapes.nvcc.ptx")))
		return;
	/* j moves from register to register. */
	CHECK(fake_go(&x, KERNEL, 92));
	CHECK(find(&x, "j", &v) && v.where == DBG_IN_REGISTER);
	ir_reg_name(x.c.place.func, v.reg, name, sizeof(name));
	CHECK_STR(name, "%r5");
	CHECK(fake_go(&x, KERNEL, 91));
	CHECK(find(&x, "j", &w) && (w.where != DBG_IN_REGISTER || w.reg != v.reg));
	/* A register that nothing has set on the way there. */
	CHECK(fake_go(&x, KERNEL, 74));
	CHECK(find(&x, "n", &v) && v.where == DBG_IN_MEMORY && v.space == DBG_PARAM);
	CHECK(fake_go(&x, KERNEL, 80));
	CHECK(find(&x, "big", &v) && v.where == DBG_IN_REGISTER);
	x.c.place.insn = 9;
	CHECK(find(&x, "big", &v) && v.where == DBG_IN_REGISTER && v.unset);
	/* In a register alone, before it is set. */
	CHECK_STR(fake_print(&x, "big + 1"), "the value is not set yet");
	fake_close(&x);
}

/* ---- without debug information ---- */

static const char plain[] =
	".version 8.0\n.target sm_80\n.address_size 64\n"
	".global .align 8 .b8 buffer[16];\n.const .f32 ratio;\n"
	".visible .entry k(.param .u64 out) {\n"
	"\t.reg .b32 x, %r<5>;\n\t.reg .pred p;\n\t.reg .v2 .f32 pair;\n\t.shared .u32 box[2][3];\n"
	"\tmov.u32 x, 5;\n\tmov.u32 %r4, 1;\n"
	"\t{\n\t.reg .f32 x;\n\tmov.f32 x, 0f3F800000;\n\t}\n\tret;\n}\n";

static void test_ptx(void)
{
	static struct fake x;
	struct dbg_variable v;
	struct seen s = {{0}};

	if (!CHECK(fake_open(&x, "plain.ptx", plain, strlen(plain))))
		return;
	CHECK(!dbg_names_has_dwarf(x.names) && !x.why.len);
	x.c.place = (struct dbg_place){ir_find_func(x.m, "k"), 1};
	CHECK(find(&x, "x", &v) && v.where == DBG_IN_REGISTER && !strcmp(v.type->name, ".b32"));
	CHECK(find(&x, "%r4", &v) && v.unset);
	CHECK(!find(&x, "%r5", &v) && !find(&x, "%r04", &v));
	CHECK_STR(fake_type(&x, "box"), ".u32 [2][3]");
	CHECK_STR(fake_type(&x, "buffer"), ".b8 [16]");
	CHECK_STR(fake_type(&x, "p"), ".pred");
	CHECK_STR(fake_type(&x, "pair"), ".v2.f32");
	CHECK(find(&x, "out", &v) && v.space == DBG_PARAM);
	CHECK(find(&x, "ratio", &v) && v.space == DBG_CONST);
	/* The inner x hides the outer one. */
	x.c.place.insn = 2;
	CHECK(find(&x, "x", &v) && !strcmp(v.type->name, ".f32"));
	x.c.place.insn = 3;
	CHECK(find(&x, "x", &v) && !strcmp(v.type->name, ".b32"));
	dbg_names_locals(x.names, x.c.place, 0, see, &s);
	CHECK_STR(s.names, "box:1 @out:0 ");
	fake_close(&x);
}

/* ---- hostile ---- */

static void test_message(const char *from, const char *to, const char *expected)
{
	static struct fake x;
	struct text t = {0};
	const char *at;

	if (!CHECK(fake_open_file(&x, "shapes.nvcc.ptx")))
		return;
	at = strstr(x.source.at, from);
	if (CHECK(at != NULL)) {
		text_add(&t, x.source.at, (size_t)(at - x.source.at));
		text_puts(&t, to);
		text_puts(&t, at + strlen(from));
	}
	fake_close(&x);
	if (t.at && CHECK(fake_open(&x, "bad.ptx", t.at, t.len))) {
		CHECK_STR(x.why.at, expected);
		CHECK(!dbg_names_has_dwarf(x.names));
		/* PTX's names are there all the same. */
		fake_go(&x, KERNEL, 97);
		CHECK_STR(fake_type(&x, "%r1"), ".b32");
		fake_close(&x);
	}
	text_fini(&t);
}

/* Registers of variables of nvcc's go by control flow, not along the text. */
static void test_flow(void)
{
	static struct fake x;
	struct dbg_variable v;
	static const struct {
		u32 line;
		const char *reg;
	} places[] = {{8, "%r14"}, {10, "%r14"}, {13, "%r14"}, {15, "%r19"}, {16, "%r8"}};
	char name[64];

	if (!CHECK(fake_open_file(&x, "../../../debug/nvcc/diverge.ptx")))
		return;
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		CHECK(fake_go(&x, "_Z5pathsPi", places[i].line));
		CHECK(find(&x, "r", &v) && v.where == DBG_IN_REGISTER && !v.unset);
		CHECK_STR(ir_reg_name(x.c.place.func, v.reg, name, sizeof(name)), places[i].reg);
	}
	fake_close(&x);
}

/* Variables of namespaces are found by their names in C++ also without debug information. */
static void test_lineinfo(void)
{
	static struct fake x;

	if (!CHECK(fake_open_file(&x, "shapes.lineinfo.ptx")))
		return;
	SHOWS(&x, "sizeof(stats::hits)", "4");
	SHOWS(&x, "sizeof(stats::table)", "16");
	CHECK(strstr(fake_print(&x, "stats::nothing"), "No symbol \"stats::nothing\""));
	fake_close(&x);
}

int main(void)
{
	static struct fake x;

	test_ptx();
	test_lineinfo();
	if (fake_open_file(&x, "shapes.nvcc.ptx") && !dbg_names_has_dwarf(x.names)) {
		CHECK(x.why.at && strstr(x.why.at, "libdw"));
		printf("ok %d - the rest # SKIP without libdw\n", ++check_count);
		fake_close(&x);
		return check_done();
	}
	fake_close(&x);
	test_compiler("shapes.nvcc.ptx");
	test_compiler("shapes.clang.ptx");
	test_registers();
	test_flow();
	test_message(".b64 __local_depot0", ".b64 nowhere",
		     "the debug information of bad.ptx cannot be read: "
		     ".debug_info refers to nowhere, which is not defined");
	return check_done();
}
