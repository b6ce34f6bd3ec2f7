/*
 * What the debugger shows of a launch: values, types, frames, lanes, focus, memory, text; of code
 * of both compilers, and of PTX alone.
 */
#include "tests/unit/debugger/stage.h"

/*
 * ---- a kernel with variables of every kind: tests/unit/dbg/data/shapes.cu, line 93, j == 1 ----
 */

static void see_values(struct stage *s)
{
	HAS(s, "print i", "$1 = 4");
	HAS(s, "p/x i", "$2 = 0x4");
	HAS(s, "print /t $", "$3 = 100");
	HAS(s, "print tile[0]@2", "= {4, 0}");
	HAS(s, "print origin", "= {x = 1.5, y = 2.5}");
	HAS(s, "print local.color", "= GREEN");
	HAS(s, "print head == &nodes[1]", "= true");
	HAS(s, "print &tile[1]", "= (@shared int *) 0x4");
	HAS(s, "print stats::hits + stats::table[3]", "= 11");
	HAS(s, "print blockDim.x * gridDim.x", "= 32");
	HAS(s, "output big", "34359738368");
	HAS(s, "printf \"%d|%s|%5.2f|%c\\n\", i, text, origin.x, 65", "4|warp| 1.50|A\n");
	HAS(s, "print/x $_live", "= 0xffffffff");
	HAS(s, "print $_waiting", "= 0");
	HAS(s, "print $_thread", "= 0");
	HAS(s, "ptype local", "struct Node : public Base {\n    Point at;\n    Node *next;\n");
	HAS(s, "whatis &tile[1]", "type = @shared int *");
	HAS(s, "whatis i = 9", "type = int");
	HAS(s, "print i", "= 4");
}

static void see_changes(struct stage *s)
{
	HAS(s, "set var tile[7] = 70", "");
	HAS(s, "print tile[7]", "= 70");
	HAS(s, "set local.at.y = 0.5", "");
	HAS(s, "print local.at", "= {x = 1.5, y = 0.5}");
	HAS(s, "lane 9", "Lane 9, thread (9,0,0)\n93\t\t\ttile[j] = sq + i;\n");
	HAS(s, "print local.at", "= {x = 1.5, y = 0}");
	HAS(s, "set var i = 40", "");
	HAS(s, "print/lanes i", " 8:  4  40   4   4");
	HAS(s, "info lanes threadIdx.x i", "0 .. 31      4 4 4 .. 4\n");
	HAS(s, "thread 0", "Lane 0");
}

static void see_frame(struct stage *s)
{
	HAS(s, "bt", "#0  shapes<<<1, 32>>> (out=0x");
	HAS(s, "bt", ", n=3, origin={x = 1.5, y = 2.5}) at shapes.cu:93\n");
	HAS(s, "info locals", "sq = 1\nj = 1\n");
	HAS(s, "info locals", "\nhalf = 1.5\n");
	HAS(s, "info args", "n = 3\norigin = {x = 1.5, y = 2.5}\n");
	HAS(s, "info frame", "Frame #0 of 1: shapes at shapes.cu:93\n");
	HAS(s, "up", "you can't go up");
	HAS(s, "frame 1", "No frame at level 1");
	HAS(s, "info symbol &tile[2]", "tile+8 in shared memory");
	HAS(s, "info address tile", "\"tile\" is in shared memory at 0x0");
	HAS(s, "info scope shapes", "\"tile\" is in shared memory");
	HAS(s, "info registers %r1", "%r1");
	HAS(s, "info registers nothing", "Invalid register `nothing'");
	HAS(s, "info registers $nothing", "Invalid register `$nothing'");
	stage_run(s, "set var $nothing = 3");
	HAS(s, "info registers nothing", "Invalid register `nothing'");
	HAS(s, "info registers $pc", "  pc ");
	HAS(s, "info registers pc %r1 %laneid", "  pc ");
	HAS(s, "info registers pc %r1 %laneid", "  %r1 ");
	HAS(s, "info registers pc %r1 %laneid", "  laneid ");
}

static void see_memory(struct stage *s)
{
	HAS(s, "x/2dw tile", "tile>:\t4\t0\n");
	HAS(s, "x", "tile+8>:\t0\n");
	HAS(s, "x/s text", "\"warp\"");
	HAS(s, "x/2xb &tile[0]", "0x04\t0x00\n");
	HAS(s, "x/3zq 0", "Undefined output format \"q\"");
	HAS(s, "x 16", "Cannot access memory at address 0x10");
	HAS(s, "x/2i $pc", "=> ");
	HAS(s, "info allocations", "stats::hits");
	HAS(s, "info kernels", "*  shapes(float*, int, Point)  shapes.cu:74");
	HAS(s, "info devices", "NVIDIA H200");
}

static void see_text(struct stage *s)
{
	HAS(s, "list", "93\t\t\ttile[j] = sq + i;\n");
	HAS(s, "list", "98\t\t\tfloat s = square(local.at.x);\n");
	HAS(s, "list -", "88\t\tlocal.color");
	PRINTS(s, "list 10,11", "10\t\n11\tenum Color { RED = 1, GREEN = 5, BLUE };\n");
	HAS(s, "list shapes.cu:47", "47\t\t");
	HAS(s, "list 500", "Line number 495 out of range; \"shapes.cu\" has 103 lines.");
	HAS(s, "list nowhere", "Function \"nowhere\" not defined");
	HAS(s, "list nowhere.cu:3", "No source file named nowhere.cu");
	HAS(s, "info line 93", "Line 93 of \"shapes.cu\" begins at line ");
	HAS(s, "disassemble", "// lanes 0-31 (ffffffff)\n");
	HAS(s, "disassemble /s", "93\t\t\ttile[j] = sq + i;\n=> ");
	HAS(s, "disassemble nothing", "Function \"nothing\" not defined");
}

static void see_displays(struct stage *s)
{
	PRINTS(s, "display i + 1", "1: i + 1 = 5\n");
	PRINTS(s, "display/x i", "2: /x i = 0x4\n");
	PRINTS(s, "display", "1: i + 1 = 5\n2: /x i = 0x4\n");
	PRINTS(s, "undisplay 1", "");
	PRINTS(s, "info display", "2:  /x i\n");
	HAS(s, "undisplay 9", "There is no display 9");
	PRINTS(s, "undisplay", "");
}

static void see_wrong(struct stage *s)
{
	HAS(s, "print nothing", "No symbol \"nothing\" in current context.\n");
	HAS(s, "print 1 +", "\n");
	HAS(s, "print/q i", "Undefined output format \"q\"\n");
	HAS(s, "print int", "Attempt to use a type name as an expression\n");
	HAS(s, "print/lanes nothing", "No symbol \"nothing\" in current context.\n");
	HAS(s, "printf \"%d\"", "missing arguments\n");
	HAS(s, "printf \"%d\", 1, 2", "Wrong number of arguments");
	HAS(s, "printf 5", "printf needs");
	HAS(s, "lane 32", "There is no lane 32");
	HAS(s, "lane x", "No symbol \"x\" in current context.\n");
	HAS(s, "warp 1", "There is no warp 1");
	HAS(s, "cta 1", "There is no CTA 1");
	HAS(s, "cta (0,1,0)", "There is no CTA (0,1,0)");
	HAS(s, "thread 32", "There is no thread 32");
	HAS(s, "launch 2", "Launch 2 is not running");
	HAS(s, "device 3", "Device 3 runs no launch");
	HAS(s, "cuda lane 40", "There is no lane 40");
	HAS(s, "cuda nothing 1", "\"nothing\" is not one of");
	HAS(s, "info cuda nothing", "info cuda knows");
	PRINTS(s, "cuda sm warp lane", "sm 0, warp 0, lane 0\n");
}

static void see_shapes(struct stage *s)
{
	see_values(s);
	see_frame(s);
	see_memory(s);
	see_text(s);
	see_displays(s);
	see_wrong(s);
	see_changes(s);
}

static void test_shapes(const char *file)
{
	static struct stage s;
	struct {
		u64 out;
		u32 n;
		float x, y;
	} params = {0, 3, 1.5f, 2.5f};
	const char *root = getenv("srcdir");
	char directory[4096];

	s = (struct stage){.run = {.kernel = "_Z6shapesPfi5Point",
				   .grid = {1, 1, 1},
				   .block = {32, 1, 1},
				   .params = &params}};
	printf("# %s\n", file);
	if (!CHECK(stage_open_file(&s, file)))
		return;
	if (!loaded_open(s.x, s.x->modules.at[0]) ||
	    !dbg_names_has_dwarf(s.x->modules.at[0]->names)) {
		printf("ok %d - %s # SKIP without libdw\n", ++check_count, file);
		stage_close(&s);
		return;
	}
	snprintf(directory, sizeof(directory), "directory %s/tests/unit/dbg/data",
		 root ? root : ".");
	stage_run(&s, directory);
	params.out = mem_alloc(s.run.mem, 4096, 256, MEM_KIND_DEVICE);
	stage_go(&s, 93, 2, see_shapes);
	stage_close(&s);
}

/* ---- lanes, barriers and recursion, by PTX names ---- */

static const char parts[] =
	".version 8.0\n.target sm_80\n.address_size 64\n"
	".func (.reg .b32 %res) down(.reg .b32 %x)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %a<3>;\n"
	"setp.eq.u32 %p1, %x, 0;\n@%p1 bra BASE;\n"
	"sub.u32 %a1, %x, 1;\ncall (%a2), down, (%a1);\nadd.u32 %res, %a2, 1;\nret;\n"
	"BASE:\nmov.u32 %res, 100;\nret;\n}\n" /* 14 to 17 */
	".visible .entry k(.param .u32 n)\n{\n"
	".reg .pred %p<4>;\n.reg .b32 %r<9>;\n"
	"mov.u32 %r1, %tid.x;\n.shared .b32 box[4];\n"
	"setp.lt.u32 %p1, %r1, 8;\n@%p1 bra LOW;\n"
	"setp.ge.u32 %p2, %r1, 32;\n@%p2 bra FAR;\n"
	"and.b32 %r2, %r1, 3;\ncall (%r3), down, (%r2);\nbra END;\n" /* 28 to 30 */
	"LOW:\nmov.u32 %r4, box;\nbar.sync 2, 96;\nbra END;\n"       /* 31 to 34 */
	"FAR:\nbar.sync 1;\n"                                        /* 35, 36 */
	"END:\nret;\n}\n";

static void see_recursion(struct stage *s)
{
	HAS(s, "info lanes",
	    "*  8-31   ffffff00  test.ptx:15\n   0-7    000000ff  test.ptx:32, waiting\n");
	HAS(s, "lane 9", "Lane 9, thread (9,0,0)\n15\tmov.u32 %res, 100;\n");
	HAS(s, "bt",
	    "#0  down (%x=0) at test.ptx:15\n#1  down (%x=1) at test.ptx:11\n"
	    "#2  k<<<2, 64>>> (n=5) at test.ptx:29\n");
	HAS(s, "bt 1", "(More stack frames follow...)");
	HAS(s, "bt -1", "#2  k<<<2, 64>>>");
	HAS(s, "up", "#1  down (%x=1) at test.ptx:11\n11\tcall (%a2), down, (%a1);\n");
	HAS(s, "print %x", "= 1\n");
	HAS(s, "frame 2", "#2  k<<<2, 64>>>");
	HAS(s, "print %r2", "= 1");
	HAS(s, "print/lanes %r2", " 8: 0  1  2  3  0  1  2  3\n");
	HAS(s, "print/lanes %r2", "?: not set yet\n");
	HAS(s, "down", "#1 ");
	HAS(s, "print/lanes %x", "?: ");
	HAS(s, "frame 0", "15\tmov.u32 %res, 100;");
	HAS(s, "info args", "%x = 0\n");
	HAS(s, "list", "15\tmov.u32 %res, 100;\n");
	HAS(s, "info line", "of the PTX itself");
	HAS(s, "info locals", "No symbol table info available");
	HAS(s, "lane 3", "Lane 3, thread (3,0,0), waiting\n32\tmov.u32 %r4, box;\n");
	HAS(s, "bt", "#0  k<<<2, 64>>> (n=5) at test.ptx:32\n");
	HAS(s, "info warps", "0-7    000000ff  test.ptx:32, waiting\n");
	HAS(s, "info threads", "   (0,0,0)  (8,0,0)   (31,0,0)  24     test.ptx:15\n");
	HAS(s, "info barriers", "No thread of the CTA waits at a barrier.\n");
	HAS(s, "warp 1", "CTA (0,0,0) warp 1 lane 0, thread (32,0,0)");
	HAS(s, "thread 40", "Lane 8, thread (40,0,0)");
	HAS(s, "cta 1", "CTA (1,0,0) has not begun\n");
	HAS(s, "info ctas", "*  0     (0,0,0)  (0,0,0)  1      24 threads: test.ptx:15; ");
	HAS(s, "cuda block 0 thread (9,0,0)", "warp 0 lane 9, thread (9,0,0)");
	HAS(s, "print $_warp", "= 0");
	HAS(s, "print $_lane", "= 9");
	HAS(s, "print/x $_active", "= 0xffffff00");
	HAS(s, "print/x $_waiting", "= 0xff");
}

static void see_deadlock(struct stage *s)
{
	HAS(s, "info lanes", "exited");
	HAS(s, "lane 20", "Lane 20 of warp 0 has exited");
	HAS(s, "print/lanes %r1", "-: has exited");
	HAS(s, "info barriers",
	    "barrier 2  32       96  warp 0 lanes 0-7 (000000ff) at test.ptx:33   "
	    "warp 1 lanes 0-31 (ffffffff) at test.ptx:36, waiting at barrier 1");
	HAS(s, "lane 3", "waiting at barrier 2\n33\tbar.sync 2, 96;\n");
	HAS(s, "print %r4", "= 0");
	HAS(s, "print box", "= {0, 0, 0, 0}");
}

static void test_lanes(void)
{
	static struct stage s;
	u32 n = 5;

	s = (struct stage){
		.run = {.ptx = parts, .grid = {2, 1, 1}, .block = {64, 1, 1}, .params = &n}};
	if (!CHECK(stage_open(&s)))
		return;
	stage_go(&s, 15, 1, see_recursion);
	stage_go(&s, 0, 1, see_deadlock);
	stage_close(&s);
}

/* ---- matrices that lanes hold together ---- */

static const char product[] =
	".version 8.0\n.target sm_80\n.address_size 64\n"
	".visible .entry k()\n{\n"
	".reg .b32 a<4>, b<2>, t;\n.reg .f32 c<4>, d<4>;\n.reg .b16 h;\n"
	"mov.u32 t, %laneid;\ncvt.rn.f16.u32 h, t;\n"
	"mov.b32 a0, {h, h};\nmov.b32 a1, {h, h};\nmov.b32 a2, 0;\nmov.b32 a3, 0x3c003c00;\n"
	"mov.b32 b0, 0x40003c00;\nmov.b32 b1, 0;\n"
	"cvt.rn.f32.u32 c0, t;\nmov.f32 c1, 0f3F000000;\nmov.f32 c2, 0f3F800000;\n"
	"mov.f32 c3, 0f40000000;\n"
	"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, "
	"{b0, b1}, {c0, c1, c2, c3};\n" /* 21 */
	"ret;\n}\n";

static void see_matrices(struct stage *s)
{
	/* PTX ISA "Matrix Fragments for mma.m16n8k16 with floating point type" */
	HAS(s, "print/matrix a", " 1:  4  4  5  5  6  6  7  7  0  0  0  0  0  0  0  0\n");
	HAS(s, "print/matrix a", " 9:  4  4  5  5  6  6  7  7  1  1  1  1  1  1  1  1\n");
	HAS(s, "print/matrix b", " 0: 1 1 1 1 1 1 1 1\n 1: 2 2 2 2 2 2 2 2\n");
	HAS(s, "print/matrix b", " 8: 0 0 0 0 0 0 0 0\n");
	HAS(s, "print/matrix c", " 1:   4 0.5   5 0.5   6 0.5   7 0.5\n");
	HAS(s, "print/matrix c", "15:   1   2   1   2   1   2   1   2\n");
	HAS(s, "print/matrix t", "print/matrix takes a fragment of wmma, or a, b, c, d at an mma");
	HAS(s, "print/matrix nothing", "No symbol \"nothing\"");
}

static void test_matrices(void)
{
	static struct stage s;

	s = (struct stage){.run = {.ptx = product, .grid = {1, 1, 1}, .block = {32, 1, 1}}};
	if (!CHECK(stage_open(&s)))
		return;
	stage_go(&s, 21, 1, see_matrices);
	stage_close(&s);
}

/* Metadata 0100 for every four: the first two of them are stored. */
static const char sparse_product[] =
	".version 8.0\n.target sm_80\n.address_size 64\n"
	".visible .entry k()\n{\n"
	".reg .b32 a<4>, b<4>, t, e;\n.reg .f32 c<4>, d<4>;\n.reg .b16 h;\n"
	"mov.u32 t, %laneid;\ncvt.rn.f16.u32 h, t;\n"
	"mov.b32 a0, {h, h};\nmov.b32 a1, {h, h};\nmov.b32 a2, 0;\nmov.b32 a3, 0x3c003c00;\n"
	"mov.b32 b0, 0x40003c00;\nmov.b32 b1, 0;\nmov.b32 b2, 0;\nmov.b32 b3, 0x3c003c00;\n"
	"cvt.rn.f32.u32 c0, t;\nmov.f32 c1, 0f3F000000;\nmov.f32 c2, 0f3F800000;\n"
	"mov.f32 c3, 0f40000000;\nmov.b32 e, 0x44444444;\n"
	"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, "
	"{a0, a1, a2, a3}, {b0, b1, b2, b3}, {c0, c1, c2, c3}, e, 0x0;\n" /* 24 */
	"ret;\n}\n";

static void see_sparse(struct stage *s)
{
	HAS(s, "print/matrix a",
	    " 1:  4  4  .  .  5  5  .  .  6  6  .  .  7  7  .  .  0  0  .  .  0  0  .  .");
	HAS(s, "print/matrix a", "15: 28 28  .  . 29 29  .  . 30 30  .  . 31 31  .  .  1  1  .  .");
	HAS(s, "print/matrix b", " 0: 1 1 1 1 1 1 1 1\n 1: 2 2 2 2 2 2 2 2\n");
	HAS(s, "print/matrix b", "31: 1 1 1 1 1 1 1 1\n");
	HAS(s, "print/matrix c", " 1:   4 0.5   5 0.5   6 0.5   7 0.5\n");
}

/*
 * Pieces of 16 bytes hold the number of the thread that has written them: of A 64 rows in two
 * columns of pieces, eight rows of one behind those of the other; of B the same with 8 columns.
 */
static const char group_product[] =
	".version 8.0\n.target sm_90a\n.address_size 64\n"
	".visible .entry k()\n{\n"
	".reg .b32 t, at, v, l;\n.reg .f32 d<4>;\n.reg .b16 h;\n.reg .pred p;\n"
	".reg .b64 a, b;\n.shared .align 128 .b8 s[2304];\n"
	"mov.u32 t, %tid.x;\nmov.u32 l, %laneid;\ncvt.rn.f16.u32 h, t;\nmov.b32 v, {h, h};\n"
	"mov.u32 at, s;\nmad.lo.u32 at, t, 16, at;\n"
	"st.shared.v4.b32 [at], {v, v, v, v};\n"
	"setp.lt.u32 p, t, 16;\n@p st.shared.v4.b32 [at+2048], {v, v, v, v};\n"
	"bar.sync 0;\n"
	"mov.b64 a, 0x0000001000080000;\nmov.b64 b, 0x0000001000080080;\n"
	"cvt.rn.f32.u32 d0, l;\nmov.f32 d1, 0f3F000000;\nmov.f32 d2, 0f3F800000;\n"
	"mov.f32 d3, 0f40000000;\n"
	"wgmma.fence.sync.aligned;\n"
	"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, a, b, 1, 1, 1, 0, "
	"0;\n" /* 29 */
	"wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
	"ret;\n}\n";

/* The same with a sparse A: of every four the first two are stored. */
static const char sparse_group[] =
	".version 8.2\n.target sm_90a\n.address_size 64\n"
	".visible .entry k()\n{\n"
	".reg .b32 t, at, v, e;\n.reg .f32 d<4>;\n.reg .b16 h;\n"
	".reg .b64 a, b;\n.shared .align 128 .b8 s[4096];\n"
	"mov.u32 t, %tid.x;\ncvt.rn.f16.u32 h, t;\nmov.b32 v, {h, h};\n"
	"mov.u32 at, s;\nmad.lo.u32 at, t, 16, at;\n"
	"st.shared.v4.b32 [at], {v, v, v, v};\nbar.sync 0;\n"
	"mov.b64 a, 0x0000001000080000;\nmov.b64 b, 0x0000001000080080;\n"
	"mov.b32 e, 0x44444444;\nmov.f32 d0, 0f00000000;\nmov.f32 d1, d0;\nmov.f32 d2, d0;\n"
	"mov.f32 d3, d0;\n"
	"wgmma.fence.sync.aligned;\n"
	"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {d0, d1, d2, d3}, a, b, e, 0, 1, 1, 1, "
	"0, 0;\n" /* 26 */
	"wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
	"ret;\n}\n";

static void see_sparse_group(struct stage *s)
{
	HAS(s, "print/matrix a", "17: 33 33  .  . 33 33  .  . 33 33  .  . 33 33  .  . 41 41  .  .");
}

/* Volta: element (row, column) of A and of C is 16 row + column; B is A transposed. */
static const char octets[] =
	".version 6.3\n.target sm_70\n.address_size 64\n"
	".visible .entry k()\n{\n"
	".reg .b32 a<8>, b<8>, t, at, i;\n.reg .f32 c<8>, d<8>, f;\n.reg .b16 h;\n.reg .pred p;\n"
	".shared .align 128 .b8 s[512];\n.shared .align 128 .b8 w[1024];\n"
	"mov.u32 i, %laneid;\n"
	"next:\nmov.u32 at, s;\nmad.lo.u32 at, i, 2, at;\ncvt.rn.f16.u32 h, i;\nst.shared.b16 [at], h;\n"
	"mov.u32 at, w;\nmad.lo.u32 at, i, 4, at;\ncvt.rn.f32.u32 f, i;\nst.shared.f32 [at], f;\n"
	"add.u32 i, i, 32;\nsetp.lt.u32 p, i, 256;\n@p bra next;\nbar.sync 0;\n"
	"mov.u32 at, s;\nmov.u32 t, w;\n"
	"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {a0, a1, a2, a3, a4, a5, a6, a7}, [at], 16;\n"
	"wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 {b0, b1, b2, b3, b4, b5, b6, b7}, [at], 16;\n"
	"wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {c0, c1, c2, c3, c4, c5, c6, c7}, [t], 16;\n"
	"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {d0, d1, d2, d3, d4, d5, d6, d7}, "
	"{a0, a1, a2, a3, a4, a5, a6, a7}, {b0, b1, b2, b3, b4, b5, b6, b7}, "
	"{c0, c1, c2, c3, c4, c5, c6, c7};\n" /* 31 */
	"ret;\n}\n";

#define ROW_6 " 6:  96  97  98  99 100 101 102 103 104 105 106 107 108 109 110 111\n"
#define ROW_15 "15: 240 241 242 243 244 245 246 247 248 249 250 251 252 253 254 255\n"

static void see_octets(struct stage *s)
{
	HAS(s, "print/matrix a", ROW_15);
	HAS(s, "print/matrix a", ROW_6);
	HAS(s, "print/matrix b",
	    " 3:   3  19  35  51  67  83  99 115 131 147 163 179 195 211 227 243\n");
	HAS(s, "print/matrix c", ROW_15);
	HAS(s, "print/matrix c", ROW_6);
}

/* Of an fp4 in bits 2 to 5 of a byte: 0.5, -6; of an fp6: 28, -0.125. */
static const char small_floats[] =
	".version 8.7\n.target sm_120a\n.address_size 64\n"
	".visible .entry k()\n{\n"
	".reg .b32 a<4>, b<2>;\n.reg .f32 c<4>, d<4>;\n"
	"mov.b32 a0, 0x3c043c04;\nmov.b32 a1, 0;\nmov.b32 a2, 0;\nmov.b32 a3, 0;\n"
	"mov.b32 b0, 0x221f221f;\nmov.b32 b1, 0;\nmov.f32 c0, 0f00000000;\nmov.f32 c1, c0;\n"
	"mov.f32 c2, c0;\nmov.f32 c3, c0;\n"
	"mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e3m2.f32 {d0, d1, d2, d3}, "
	"{a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};\n" /* 18 */
	"ret;\n}\n";

static void see_small(struct stage *s)
{
	HAS(s, "print/matrix a", " 0: 0.5  -6 0.5  -6");
	HAS(s, "print/matrix b", " 0:     28     28");
	HAS(s, "print/matrix b", " 1: -0.125 -0.125");
}

/* The second warp: rows 16 to 31. */
static void see_group(struct stage *s)
{
	HAS(s, "print/matrix a", "17: 33 33 33 33 33 33 33 33 41 41 41 41 41 41 41 41\n");
	HAS(s, "print/matrix b", " 0:  0  1  2  3  4  5  6  7\n");
	HAS(s, "print/matrix b", "15:  8  9 10 11 12 13 14 15\n");
	HAS(s, "print/matrix d", "17:   4 0.5   5 0.5   6 0.5   7 0.5\n");
	HAS(s, "print/matrix c", "31:   1   2   1   2   1   2   1   2\n");
}

static void test_products(void)
{
	static struct stage s;

	s = (struct stage){.run = {.ptx = sparse_product, .grid = {1, 1, 1}, .block = {32, 1, 1}}};
	if (!CHECK(stage_open(&s)))
		return;
	stage_go(&s, 24, 1, see_sparse);
	stage_close(&s);
	s = (struct stage){.run = {.ptx = group_product, .grid = {1, 1, 1}, .block = {128, 1, 1}}};
	if (!CHECK(stage_open(&s)))
		return;
	stage_go(&s, 29, 2, see_group);
	stage_close(&s);
	s = (struct stage){.run = {.ptx = sparse_group, .grid = {1, 1, 1}, .block = {128, 1, 1}}};
	if (!CHECK(stage_open(&s)))
		return;
	stage_go(&s, 26, 2, see_sparse_group);
	stage_close(&s);
	s = (struct stage){
		.run = {.ptx = octets, .device = "v100", .grid = {1, 1, 1}, .block = {32, 1, 1}}};
	if (!CHECK(stage_open(&s)))
		return;
	stage_go(&s, 31, 1, see_octets);
	stage_close(&s);
	s = (struct stage){.run = {.ptx = small_floats,
				   .device = "gb202",
				   .grid = {1, 1, 1},
				   .block = {32, 1, 1}}};
	if (!CHECK(stage_open(&s)))
		return;
	stage_go(&s, 18, 1, see_small);
	stage_close(&s);
}

/* ---- nothing runs ---- */

static void test_idle(void)
{
	static struct stage s;

	s.x = debugger_new();
	HAS(&s, "print 1 + 2", "$1 = 3\n");
	HAS(&s, "print $1 * 2", "$2 = 6\n");
	HAS(&s, "ptype int", "type = int\n");
	HAS(&s, "list", "No symbol table is loaded");
	HAS(&s, "list main", "No symbol table is loaded");
	HAS(&s, "info lanes", "The program is not being run.\n");
	HAS(&s, "info launches", "Nothing has been launched.\n");
	HAS(&s, "info kernels", "No device code is loaded.\n");
	HAS(&s, "info cuda warps", "No kernel is running.\n");
	HAS(&s, "x/4x 0", "not known here\n");
	HAS(&s, "print/lanes 1", "There are no lanes");
	HAS(&s, "print x", "no device code is loaded");
	PRINTS(&s, "display foo", "");
	debugger_state(s.x, &s.text);
	CHECK(strstr(s.text.at, "display foo\n"));
	text_fini(&s.text);
	text_fini(&s.out);
	debugger_free(s.x);
}

int main(void)
{
	test_idle();
	test_lanes();
	test_matrices();
	test_products();
	test_shapes("shapes.nvcc.ptx");
	test_shapes("shapes.clang.ptx");
	return check_done();
}
