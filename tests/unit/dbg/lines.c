/*
 * Lines of the source and instructions, both ways.
 */
#include "src/ir/source.h"
#include "tests/unit/dbg/fake.h"

#define KERNEL "_Z6shapesPfi5Point"

static u32 count_places(struct fake *x, const char *file, u32 line, u32 *found)
{
	struct dbg_finds f;
	u32 n;

	CHECK(dbg_lines_find(x->lines, file, line, &f));
	n = (u32)f.len;
	*found = n ? f.at[0].line : 0;
	dbg_finds_free(&f);
	return n;
}

static void test_paths(void)
{
	CHECK(dbg_path_ends_in("/x/a/b.cu", "b.cu"));
	CHECK(dbg_path_ends_in("/x/a/b.cu", "a/b.cu"));
	CHECK(dbg_path_ends_in("/x/a/b.cu", "/x/a/b.cu"));
	CHECK(dbg_path_ends_in("/x/q/../a/./b.cu", "/x/a/b.cu"));
	CHECK(dbg_path_ends_in("b.cu", "./b.cu"));
	CHECK(!dbg_path_ends_in("/x/ab.cu", "b.cu"));
	CHECK(!dbg_path_ends_in("/x/a/b.cu", "/a/b.cu"));
	CHECK(!dbg_path_ends_in("a/b.cu", "x/a/b.cu"));
	CHECK(!dbg_path_ends_in("/x/a/b.cu", ""));
}

/* The same answers for both compilers. */
static void test_shapes(const char *file)
{
	static struct fake x;
	u32 line;

	if (!CHECK(fake_open_file(&x, file)))
		return;
	printf("# %s\n", file);
	CHECK_EQ(count_places(&x, "shapes.cu", 97, &line), 1);
	CHECK_EQ(count_places(&x, "src/shapes.cu", 97, &line), 1);
	CHECK_EQ(count_places(&x, "hapes.cu", 97, &line), 0);
	CHECK_EQ(count_places(&x, "other.cu", 97, &line), 0);
	CHECK_EQ(count_places(&x, "shapes.cu", 9999, &line), 0);
	/* Two inlined copies of square(). */
	CHECK_EQ(count_places(&x, "shapes.cu", 66, &line), 2);
	CHECK_EQ(line, 66);
	/* A loop stops once, before it. */
	CHECK_EQ(count_places(&x, "shapes.cu", 91, &line), 1);
	/* A line without code means the next one that has some. */
	CHECK_EQ(count_places(&x, "shapes.cu", 65, &line), 2);
	CHECK_EQ(line, 66);
	CHECK_STR(dbg_lines_main_file(x.lines), "/src/shapes.cu");
	fake_close(&x);
}

static void test_body(const char *file, u32 expected)
{
	static struct fake x;
	const struct ir_func *f;
	struct dbg_place at;

	if (!CHECK(fake_open_file(&x, file)))
		return;
	f = ir_find_func(x.m, KERNEL);
	at = (struct dbg_place){f, dbg_lines_body(x.lines, f)};
	CHECK(at.insn > 0);
	CHECK_EQ(dbg_lines_at(x.lines, at).line, expected);
	fake_close(&x);
}

/* What -lineinfo says of inlined functions. */
static void test_inlined_at(void)
{
	static struct fake x;
	struct dbg_inline in[DBG_INLINE_MAX];
	u32 line, depth;

	if (!CHECK(fake_open_file(&x, "shapes.lineinfo.ptx")))
		return;
	CHECK_EQ(count_places(&x, "shapes.cu", 66, &line), 1);
	CHECK(fake_go(&x, KERNEL, 66));
	CHECK_EQ(dbg_lines_inlined(x.m, x.c.place, in), 1);
	CHECK_EQ(in[0].call_line, 98);
	CHECK_EQ(dbg_lines_step(x.lines, x.c.place, &depth).line, 66);
	CHECK_EQ(depth, 1);
	/* The call's line has no instruction of its own: the inlined code begins it. */
	CHECK_EQ(count_places(&x, "shapes.cu", 98, &line), 1);
	CHECK_EQ(line, 98);
	fake_close(&x);
}

static const char headers[] =
	".version 8.0\n.target sm_80\n.address_size 64\n"
	".file 1 \"/u/x/a.cu\"\n.file 2 \"/usr/local/cuda/include/b.h\"\n"
	".file 3 \"/opt/ptxloom/share/ptxloom/include/c.h\"\n.file 4 \"/y/a.cu\"\n"
	".visible .entry k(.param .u32 n) {\n\t.reg .b32 %r<9>;\n\t.reg .pred %p;\n"
	"\t.loc 1 0 0\n\tmov.u32 %r1, 1;\n"
	"\t.loc 1 5 1\n\tmov.u32 %r2, 1;\n"
	"\t.loc 1 6 2\n\t.loc 2 70 3, function_name $f, inlined_at 1 6 2\n\tmov.u32 %r3, 1;\n"
	"\t.loc 3 80 3\n\tmov.u32 %r4, 1;\n"
	"\t.loc 1 7 1\n\tsetp.eq.u32 %p, %r2, 1;\n\t@%p bra B;\n"
	"\t.loc 1 8 1\n\tmov.u32 %r5, 1;\n\tbra C;\n"
	"B:\n\t.loc 1 8 1\n\tmov.u32 %r5, 2;\n"
	"C:\n\t.loc 1 9 1\n\tmov.u32 %r6, 2;\n\tret;\n}\n"
	".visible .entry j() {\n\t.reg .b32 %r<9>;\n\t.loc 4 8 1\n\tmov.u32 %r1, 1;\n\tret;\n}\n"
	".section .debug_str\n{\n$f:\n.b8 102,0\n}\n";

static u32 step_at(struct fake *x, u32 insn)
{
	struct dbg_place at = {ir_find_func(x->m, "k"), insn};

	return dbg_lines_step(x->lines, at, NULL).line;
}

static void test_steps(void)
{
	static struct fake x;
	struct dbg_finds f;
	u32 line;

	if (!CHECK(fake_open(&x, "steps.ptx", headers, strlen(headers))))
		return;
	CHECK_EQ(step_at(&x, 0), 0); /* line 0: the compiler's own */
	CHECK_EQ(step_at(&x, 1), 5);
	CHECK_EQ(step_at(&x, 2), 6); /* a toolkit's, inlined at the user's line */
	CHECK_EQ(step_at(&x, 3), 0); /* our own header, nothing says where it was called */
	/* The raw line is what .loc says. */
	CHECK_EQ(dbg_lines_at(x.lines, (struct dbg_place){ir_find_func(x.m, "k"), 2}).line, 70);
	/* Both ways of a branch have the line: both are places. In another file, too. */
	CHECK_EQ(count_places(&x, "x/a.cu", 8, &line), 2);
	CHECK_EQ(count_places(&x, "a.cu", 8, &line), 3);
	CHECK(dbg_lines_find(x.lines, "a.cu", 8, &f));
	CHECK(f.len == 3 && !strcmp(f.at[0].path, "/u/x/a.cu") &&
	      !strcmp(f.at[2].path, "/y/a.cu") && !strcmp(f.at[2].place.func->name->text, "j"));
	dbg_finds_free(&f);
	CHECK(!dbg_lines_main_file(x.lines));
	/* An instruction past the end has no line. */
	CHECK_EQ(step_at(&x, 99), 0);
	fake_close(&x);
}

/* if (a) if (b) x = 2; as of nvcc: the way around the assignment ends in a jump of its line. */
static const char jumps[] =
	".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"/u/a.cu\"\n"
	".visible .entry k() {\n\t.reg .b32 %r<9>;\n\t.reg .pred %p;\n"
	"\t.loc 1 5 1\n\tsetp.eq.u32 %p, %r1, 1;\n\t@%p bra A;\n\tbra.uni D;\n"
	"A:\n\t.loc 1 6 1\n\tsetp.eq.u32 %p, %r2, 1;\n\t@%p bra B;\n\tbra.uni C;\n"
	"B:\n\t.loc 1 7 1\n\tmov.u32 %r3, 2;\n\tbra.uni C;\n"
	"C:\n\t.loc 1 7 1\n\tbra.uni D;\n"
	"D:\n\t.loc 1 8 1\n\tbra.uni E;\nE:\n\t.loc 1 9 1\n\tret;\n}\n";

static void test_jumps(void)
{
	static struct fake x;
	u32 line;

	if (!CHECK(fake_open(&x, "jumps.ptx", jumps, strlen(jumps))))
		return;
	CHECK_EQ(count_places(&x, "a.cu", 7, &line), 1);
	/* A line that is a jump alone, as `break;`, has that. */
	CHECK_EQ(count_places(&x, "a.cu", 8, &line), 1);
	CHECK_EQ(line, 8);
	fake_close(&x);
}

/* ---- copies that something else than .loc tells apart ---- */

static const char copies[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
			     ".file 1 \"/u/a.cu\"\n"
			     ".visible .entry k() {\n\t.reg .b32 %r<9>;\n"
			     "\t.loc 1 5 1\n\tmov.u32 %r1, 1;\n\tmov.u32 %r2, 1;\n"
			     "\tmov.u32 %r3, 1;\n\t.loc 1 9 1\n\tmov.u32 %r4, 1;\n\tret;\n}\n";

/* Instructions 1 and 2 are a copy each, called at line 20. */
static u32 two_copies(void *user PL_UNUSED, struct dbg_place at, struct dbg_inline *out)
{
	if (at.insn != 1 && at.insn != 2)
		return 0;
	out[0] = (struct dbg_inline){at.insn, 1, 20, 0};
	return 1;
}

static void test_copies(void)
{
	static struct fake x;
	u32 line, depth;

	if (!CHECK(fake_open(&x, "copies.ptx", copies, strlen(copies))))
		return;
	CHECK_EQ(count_places(&x, "a.cu", 5, &line), 1);
	dbg_lines_free(x.lines);
	x.lines = dbg_lines_new(x.m, two_copies, NULL);
	CHECK_EQ(count_places(&x, "a.cu", 5, &line), 3);
	/* One call's line, although two copies follow each other. */
	CHECK_EQ(count_places(&x, "a.cu", 20, &line), 1);
	CHECK_EQ(
		dbg_lines_step(x.lines, (struct dbg_place){ir_find_func(x.m, "k"), 1}, &depth).line,
		5);
	CHECK_EQ(depth, 1);
	fake_close(&x);
}

/* What users have not written: no step stops there. */
static void test_toolkit(void)
{
	CHECK(ir_is_toolkit_path("/usr/local/cuda/include/sm_30_intrinsics.hpp"));
	CHECK(ir_is_toolkit_path("/venv/lib/python3.11/site-packages/triton/language/standard.py"));
	CHECK(ir_is_toolkit_path("/venv/lib/python3.11/site-packages/numba/cuda/mathimpl.py"));
	CHECK(!ir_is_toolkit_path("/srv/triton/softmax.py"));
	CHECK(!ir_is_toolkit_path("/srv/cuda/scale.cu"));
}

int main(void)
{
	test_toolkit();
	test_paths();
	test_shapes("shapes.nvcc.ptx");
	test_shapes("shapes.clang.ptx");
	test_body("shapes.nvcc.ptx", 74);
	test_body("shapes.clang.ptx", 74);
	test_inlined_at();
	test_steps();
	test_jumps();
	test_copies();
	return check_done();
}
