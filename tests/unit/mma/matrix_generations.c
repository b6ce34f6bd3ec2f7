/*
 * Tensor cores by generation: which shapes a device has, how it rounds sums, and how Volta lays out
 * fragments. Shapes: NVIDIA Ampere GPU Architecture Tuning Guide, table of section 4.1.5. Rounding:
 * probes of the kind that Fasi, Higham, Mikaitis and Pranesh ("Numerical behavior of NVIDIA tensor
 * cores", 2021) and Khattak and Mikaitis (arXiv 2512.07004) use, with the results that the rules
 * of Xie et al. ("MMA-Sim", arXiv 2511.10909) give for V100, T4, A100 and H100. Fragments: Raihan,
 * Goli, Aamodt (arXiv 1811.08309).
 */
#include "tests/check.h"
#include "tests/unit/exec_harness.h"

#include <math.h>

#define HEAD                                                                                       \
	".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{"
#define PTX_MAX 8192u

static const char *const devices[] = {"gv100", "tu102", "ga100"};

/* Registers name0, name1, ... in braces. */
static void list(char *to, size_t size, const char *name, u32 n)
{
	size_t at = (size_t)snprintf(to, size, "{");

	for (u32 i = 0; i < n; i++)
		at += (size_t)snprintf(to + at, size - at, "%s%s%u", i ? "," : "", name, i);
	snprintf(to + at, size - at, "}");
}

/* ---- shapes ---- */

/* Registers of A, B and C; devices that have the instruction, one letter each: V, T, A. */
static const struct shape {
	const char *text;
	u32 a, b, c;
	const char *on;
} shapes[] = {
	{"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", 2, 2, 8, "VT"},
	{"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16", 2, 2, 4, "VT"},
	{"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, "TA"},
	{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, "TA"},
	{"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, "TA"},
	{"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4, "A"},
	{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, "A"},
	{"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2, "TA"},
	{"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, "A"},
	{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, "A"},
	{"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 1, 1, 2, "TA"},
	{"mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32", 2, 1, 4, "A"},
	{"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 4, 2, 4, "A"},
	{"mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32", 1, 1, 2, "TA"},
	{"mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32", 2, 1, 4, "A"},
	{"mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", 4, 2, 4, "A"},
	{"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 1, 1, 2, "TA"},
	{"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc", 2, 1, 4, "A"},
	{"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 4, 2, 4, "A"},
	{"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc", 1, 1, 2, "A"},
	{"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc", 2, 1, 4, "A"},
	{"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 2, 4, "A"},
	{"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 1, 1, 2, "A"},
	{"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", 4, 2, 4, ""},
	{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 2, 4, ""},
};

static void write_shape(const struct shape *s, char *ptx)
{
	const char *type = strstr(s->text, "f64") ? "f64" : "b32";
	const char *sum = strstr(s->text, "f64")       ? "f64"
			  : strstr(s->text, ".s32")    ? "s32"
			  : strstr(s->text, "col.f32") ? "f32"
						       : "b32";
	char a[40], b[40], c[80];
	size_t at;

	list(a, sizeof(a), "%a", s->a);
	list(b, sizeof(b), "%b", s->b);
	list(c, sizeof(c), "%c", s->c);
	at = (size_t)snprintf(ptx, PTX_MAX, HEAD " .reg .%s %%a<8>, %%b<8>; .reg .%s %%c<8>;\n",
			      type, sum);
	for (u32 i = 0; i < 8; i++)
		at += (size_t)snprintf(ptx + at, PTX_MAX - at,
				       "mov.%s %%a%u,%s; mov.%s %%b%u,%s; mov.%s %%c%u,%s;\n", type,
				       i, *type == 'f' ? "0d0000000000000000" : "0", type, i,
				       *type == 'f' ? "0d0000000000000000" : "0", sum, i,
				       !strcmp(sum, "f64")   ? "0d0000000000000000"
				       : !strcmp(sum, "f32") ? "0f00000000"
							     : "0");
	snprintf(ptx + at, PTX_MAX - at, "%s %s,%s,%s,%s;\nret; }\n", s->text, c, a, b, c);
}

static void test_shape(const struct shape *s)
{
	char ptx[PTX_MAX], what[160];
	u64 params[2] = {0, 0};
	struct harness h;

	write_shape(s, ptx);
	if (!CHECK_MSG(harness_open(&h, ptx), s->text))
		return;
	for (u32 i = 0; i < ARRAY_LEN(devices); i++) {
		bool has = strchr(s->on, "VTA"[i]) != NULL;
		/* ordinary instructions stand for the smallest shape on parts after Turing */
		bool runs = has || (i == 2 && strstr(s->text, "m8n8k4.row.col.f") &&
				    !strstr(s->text, "f64"));
		enum exec_stop stop;

		h.device = devices[i];
		stop = harness_run(&h, "k", 1, 32, params, NULL);
		snprintf(what, sizeof(what), "%s: %s on %s", s->text, runs ? "runs" : "is refused",
			 devices[i]);
		CHECK_MSG(runs ? stop == STOP_DONE
			       : stop == STOP_FAULT && h.fault.kind == FAULT_ILLEGAL_INSTRUCTION,
			  what);
	}
	harness_close(&h);
}

/*
 * ---- rounding: one row of A times one column of B and an accumulator, the rest being zeros ----
 */

/* A product: a factor from -15 to 15 times a power of two; those left out are zero. */
struct term {
	s32 factor, exponent;
};

struct probe {
	const char *what;
	bool wide; /* k 16, else 8; Volta takes the first four of k */
	bool half; /* f16 sums */
	struct term c, p[16];
	/* what each part gives: factor times two to the power of exponent */
	struct term v100, t4, a100, h200;
};

#define SAME(...) .v100 = __VA_ARGS__, .t4 = __VA_ARGS__, .a100 = __VA_ARGS__, .h200 = __VA_ARGS__

static const struct probe probes[] = {
	{"products are exact", .c = {1, -40}, .p = {{15, -30}}, SAME({15361, -40})},
	{"terms 24 bits below the largest: cut by Volta alone", .c = {1, 0},
	 .p = {{1, -24}, {1, -24}, {1, -24}, {1, -24}}, .v100 = {1, 0}, .t4 = {4194305, -22},
	 .a100 = {4194305, -22}, .h200 = {4194305, -22}},
	{"terms 25 bits below: kept by Hopper alone", .c = {1, 0},
	 .p = {{1, -25}, {1, -25}, {1, -25}, {1, -25}}, .v100 = {1, 0}, .t4 = {1, 0},
	 .a100 = {1, 0}, .h200 = {8388609, -23}},
	{"terms 26 bits below: cut by all", .c = {1, 0},
	 .p = {{1, -26}, {1, -26}, {1, -26}, {1, -26}}, SAME({1, 0})},
	{"terms are cut toward zero, negative ones too", .c = {-1, 0}, .p = {{-3, -25}, {-3, -25}},
	 .v100 = {-1, 0}, .t4 = {-8388609, -23}, .a100 = {-8388609, -23}, .h200 = {-8388609, -23}},
	{"the sum is cut toward zero", .c = {1, 0}, .p = {{1, -24}}, SAME({1, 0})},
	{"the accumulator is a term like others", .c = {1, -25}, .p = {{1, 0}, {-1, 0}},
	 .v100 = {0, 0}, .t4 = {0, 0}, .a100 = {0, 0}, .h200 = {1, -25}},
	{"the sum is not normalised before the end", .c = {1, 0},
	 .p = {{1, 0}, {1, 0}, {1, -24}, {1, -24}}, .v100 = {3, 0}, .t4 = {3, 0}, .a100 = {3, 0},
	 .h200 = {3, 0}},
	{"subnormal results are kept", .c = {1, -149}, .p = {{0, 0}}, SAME({1, -149})},
	{"f16 sums are rounded to nearest", .half = true, .c = {1, 0}, .p = {{3, -12}},
	 SAME({1025, -10})},
	{"f16 sums: ties to even", .half = true, .c = {1, 0}, .p = {{1, -11}}, SAME({1, 0})},
	{"k 16 is two blocks on Turing and Ampere", .wide = true, .c = {1, -25},
	 .p = {[0] = {1, 0}, [8] = {-1, 0}}, .v100 = {0, 0}, .t4 = {0, 0}, .a100 = {0, 0},
	 .h200 = {1, -25}},
	{"the first block comes first", .wide = true, .c = {0, 0},
	 .p = {[0] = {1, -24}, [1] = {1, -24}, [8] = {1, 0}}, .v100 = {1, 0}, .t4 = {8388609, -23},
	 .a100 = {8388609, -23}, .h200 = {8388609, -23}},
};

static f64 value_of(struct term t)
{
	return ldexp(t.factor, t.exponent);
}

/* A product as two f16: the exponent is shared out. */
static void factors_of(struct term t, u16 *a, u16 *b)
{
	s32 half = t.exponent / 2, e[2] = {half, t.exponent - half};
	f64 m[2] = {t.factor, 1};

	for (u32 i = 0; i < 2; i++) {
		f64 x = ldexp(fabs(m[i]), e[i]);
		int exp = 0;
		f64 f = x > 0 ? frexp(x, &exp) : 0;
		u32 bits = x == 0      ? 0
			   : exp < -13 ? (u32)ldexp(x, 24)
				       : (u32)(exp + 14) << 10 | ((u32)ldexp(f, 11) & 1023);

		*(i ? b : a) = (u16)(bits | (m[i] < 0 ? 0x8000 : 0));
	}
}

/* One mma of row 0 and column 0; lanes 0 to 3 have their words. */
static void write_probe(const struct probe *p, bool volta, char *ptx)
{
	const char *shape = volta ? "m8n8k4" : p->wide ? "m16n8k16" : "m16n8k8";
	const char *type = p->half ? "f16.f16.f16.f16" : "f32.f16.f16.f32",
		   *sum = p->half ? "b32" : "f32";
	u32 na = volta     ? 2
		 : p->wide ? 4
			   : 2,
	    nb = volta     ? 2
		 : p->wide ? 2
			   : 1,
	    nc = (volta ? 8u : 4u) >> p->half;
	char a[40], b[40], c[80];
	size_t at;

	list(a, sizeof(a), "%a", na);
	list(b, sizeof(b), "%b", nb);
	list(c, sizeof(c), "%c", nc);
	at = (size_t)snprintf(
		ptx, PTX_MAX,
		HEAD
		" .reg .b32 %%a<4>, %%b<4>; .reg .%s %%c<8>; .reg .u64 %%i, %%o; .reg .u32 %%t;\n"
		"ld.param.u64 %%i,[in]; ld.param.u64 %%o,[out]; mov.u32 %%t,%%tid.x;\n"
		"mad.wide.u32 %%i,%%t,64,%%i; mad.wide.u32 %%o,%%t,4,%%o;\n",
		sum);
	for (u32 i = 0; i < na; i++)
		at += (size_t)snprintf(ptx + at, PTX_MAX - at, "ld.global.b32 %%a%u,[%%i+%u];\n", i,
				       4 * i);
	for (u32 i = 0; i < nb; i++)
		at += (size_t)snprintf(ptx + at, PTX_MAX - at, "ld.global.b32 %%b%u,[%%i+%u];\n", i,
				       16 + 4 * i);
	for (u32 i = 0; i < nc; i++)
		at += (size_t)snprintf(ptx + at, PTX_MAX - at, "ld.global.%s %%c%u,[%%i+%u];\n",
				       sum, i, 32 + 4 * i);
	snprintf(ptx + at, PTX_MAX - at,
		 "mma.sync.aligned.%s.row.col.%s %s,%s,%s,%s;\nst.global.%s [%%o],%%c0;\nret; }\n",
		 shape, type, c, a, b, c, sum);
}

/* The words of 32 lanes: 4 of A, 4 of B, 8 of C. Volta has all four products of k in lane 0. */
static void fill_probe(const struct probe *p, bool volta, u32 (*in)[16])
{
	u32 per = volta ? 4 : 2;

	memset(in, 0, 32 * sizeof(*in));
	for (u32 k = 0; k < (volta ? 4u : p->wide ? 16u : 8u); k++) {
		u16 a, b;
		u32 lane = volta ? 0 : k % 8 / per, word = volta ? k / 2 : k / 8,
		    shift = k % 2 * 16;

		factors_of(p->p[k], &a, &b);
		in[lane][volta ? word : 2 * word] |= (u32)a << shift; /* rows 8 to 15 lie between */
		in[lane][4 + word] |= (u32)b << shift;
	}
	if (p->half) {
		u16 c, one;

		factors_of(p->c, &c, &one);
		in[0][8] = c;
	} else {
		in[0][8] = bits_f32((f32)value_of(p->c));
	}
}

static void test_probe(const struct probe *p, const char *device, struct term want)
{
	bool volta = !strcmp(device, "v100");
	char ptx[PTX_MAX], what[160];
	struct harness h;
	u64 params[2];
	f64 got = NAN;

	if (volta && p->wide)
		return;
	write_probe(p, volta, ptx);
	if (!CHECK_MSG(harness_open(&h, ptx), p->what))
		return;
	h.device = device;
	params[0] = mem_alloc(&h.mem, 32 * 64, 0, MEM_KIND_DEVICE);
	params[1] = mem_alloc(&h.mem, 128, 0, MEM_KIND_DEVICE);
	fill_probe(p, volta, (u32(*)[16])(uintptr_t)params[0]);
	if (harness_run(&h, "k", 1, 32, params, NULL) == STOP_DONE) {
		u32 bits = *(const u32 *)(uintptr_t)params[1], m = bits & 1023, e = bits >> 10 & 31;

		got = !p->half ? (f64)f32_bits(bits)
			       : ldexp(e ? 1024 + m : m, (int)(e ? e : 1) - 25);
	}
	snprintf(what, sizeof(what), "%s: %s: %.17g", device, p->what, got);
	CHECK_MSG(got == value_of(want), what);
	harness_close(&h);
}

/* ---- wmma on Volta: fragments by index, and products of all shapes and layouts ---- */

static void write_wmma(char *ptx, const char *shape, bool a_col, bool b_col, bool half)
{
	const char *a = a_col ? "col" : "row", *b = b_col ? "col" : "row",
		   *type = half ? "f16" : "f32";
	char fa[64], fb[64], fc[64];

	list(fa, sizeof(fa), "%a", 8);
	list(fb, sizeof(fb), "%b", 8);
	list(fc, sizeof(fc), "%c", half ? 4 : 8);
	snprintf(
		ptx, PTX_MAX,
		HEAD
		" .reg .b32 %%a<8>, %%b<8>; .reg .%s %%c<8>; .reg .u64 %%i, %%j, %%l, %%o; .reg .u32 %%t;\n"
		"ld.param.u64 %%i,[in]; ld.param.u64 %%o,[out]; add.u64 %%j,%%i,2048; add.u64 %%l,%%i,4096;\n"
		"wmma.load.a.sync.aligned.%s.%s.global.f16 %s,[%%i];\n"
		"wmma.load.b.sync.aligned.%s.%s.global.f16 %s,[%%j];\n"
		"wmma.load.c.sync.aligned.row.%s.global.%s %s,[%%l];\n"
		"wmma.mma.sync.aligned.%s.%s.%s.%s.%s %s,%s,%s,%s;\n"
		"wmma.store.d.sync.aligned.col.%s.global.%s [%%o],%s;\n"
		"mov.u32 %%t,%%tid.x; mad.wide.u32 %%o,%%t,64,%%o;\n"
		"st.global.v4.b32 [%%o+4096],{%%a0,%%a1,%%a2,%%a3};\n"
		"st.global.v4.b32 [%%o+4112],{%%a4,%%a5,%%a6,%%a7};\n"
		"st.global.v4.b32 [%%o+4128],{%%b0,%%b1,%%b2,%%b3};\n"
		"st.global.v4.b32 [%%o+4144],{%%b4,%%b5,%%b6,%%b7};\n"
		"ret; }\n",
		half ? "b32" : "f32", a, shape, fa, b, shape, fb, shape, type, fc, a, b, shape,
		type, type, fc, fa, fb, fc, shape, type, fc);
}

/* Small whole numbers as f16. */
static u16 half_of(s32 x)
{
	u16 a, b;

	factors_of((struct term){x, 0}, &a, &b);
	return a;
}

static void test_wmma(u32 m, u32 n, bool a_col, bool b_col, bool half, const char *device)
{
	char ptx[PTX_MAX], shape[16], what[120];
	struct harness h;
	u64 params[2];
	u16 *a, *b;
	bool same = true;

	snprintf(shape, sizeof(shape), "m%un%uk16", m, n);
	write_wmma(ptx, shape, a_col, b_col, half);
	if (!CHECK_MSG(harness_open(&h, ptx), shape))
		return;
	h.device = device;
	params[0] = mem_alloc(&h.mem, 8192, 0, MEM_KIND_DEVICE);
	params[1] = mem_alloc(&h.mem, 8192, 0, MEM_KIND_DEVICE);
	a = (u16 *)(uintptr_t)params[0];
	b = a + 1024;
	for (u32 i = 0; i < 16 * m; i++)
		a[i] = half_of((s32)(i * 5 % 13) - 6);
	for (u32 i = 0; i < 16 * n; i++)
		b[i] = half_of((s32)(i * 7 % 11) - 5);
	for (u32 i = 0; i < m * n; i++)
		if (half)
			a[2048 + i] = half_of((s32)(i % 15));
		else
			((f32 *)(void *)a)[1024 + i] = (f32)(i % 97);
	snprintf(what, sizeof(what), "%s: wmma %s %s.%s %s", device, shape, a_col ? "col" : "row",
		 b_col ? "col" : "row", half ? "f16" : "f32");
	same &= harness_run(&h, "k", 1, 32, params, NULL) == STOP_DONE;
	for (u32 i = 0; i < m; i++)
		for (u32 j = 0; j < n; j++) {
			s32 sum = half ? (s32)((i * n + j) % 15) : (s32)((i * n + j) % 97);

			for (u32 k = 0; k < 16; k++) {
				s32 x = (s32)((a_col ? k * m + i : i * 16 + k) * 5 % 13) - 6;
				s32 y = (s32)((b_col ? j * 16 + k : k * n + j) * 7 % 11) - 5;

				sum += x * y;
			}
			if (half)
				same &= ((const u16 *)(uintptr_t)params[1])[j * m + i] ==
					half_of(sum);
			else
				same &= ((const f32 *)(uintptr_t)params[1])[j * m + i] == (f32)sum;
		}
	CHECK_MSG(same, what);
	/* A by rows: a lane has one row of 16, four times those of its quarter of the warp */
	if (!strcmp(device, "v100") && m == 16 && !a_col) {
		const u16 *x = (const u16 *)(uintptr_t)(params[1] + 4096);

		same = true;
		for (u32 l = 0; l < 32; l++)
			for (u32 k = 0; k < 16; k++) {
				u32 row = (l & 3) + 4 * (l >> 4) + 8 * (l >> 2 & 1);

				same &= x[32 * l + k] == a[16 * row + k];
			}
		CHECK_MSG(same, "v100: lanes have rows of A");
	}
	/* B by columns: those of the lane's results, columns 8 to 15 in quarters 2 and 3 */
	if (!strcmp(device, "v100") && m == 16 && b_col) {
		const u16 *x = (const u16 *)(uintptr_t)(params[1] + 4096 + 32);

		same = true;
		for (u32 l = 0; l < 32; l++)
			for (u32 k = 0; k < 16; k++) {
				u32 column = (l & 3) + 4 * (l >> 4) + 8 * (l >> 3 & 1);

				same &= x[32 * l + k] == b[16 * column + k];
			}
		CHECK_MSG(same, "v100: lanes have columns of B");
	}
	harness_close(&h);
}

/*
 * Accumulators of m16n16k16 by index, by the formulas that others got from a V100 and an RTX 2080:
 * of f32 and f16 on Volta, of both on the others.
 */
static void test_sum_places(const char *device, bool half)
{
	bool volta = !strcmp(device, "v100"), same = true;
	char ptx[PTX_MAX], what[80], regs[64];
	struct harness h;
	u64 params[2];
	size_t at;

	list(regs, sizeof(regs), "%c", half ? 4 : 8);
	at = (size_t)snprintf(
		ptx, PTX_MAX,
		HEAD " .reg .%s %%c<8>; .reg .u64 %%i,%%o; .reg .u32 %%t;\n"
		     "ld.param.u64 %%i,[in]; ld.param.u64 %%o,[out]; mov.u32 %%t,%%tid.x;\n"
		     "mad.wide.u32 %%o,%%t,32,%%o;\n"
		     "wmma.load.c.sync.aligned.row.m16n16k16.global.%s %s,[%%i];\n",
		half ? "b32" : "f32", half ? "f16" : "f32", regs);
	for (u32 i = 0; i < (half ? 4u : 8u); i++)
		at += (size_t)snprintf(ptx + at, PTX_MAX - at, "st.global.b32 [%%o+%u],%%c%u;\n",
				       4 * i, i);
	snprintf(ptx + at, PTX_MAX - at, "ret; }\n");
	snprintf(what, sizeof(what), "%s: places of %s accumulators", device, half ? "f16" : "f32");
	if (!CHECK_MSG(harness_open(&h, ptx), what))
		return;
	h.device = device;
	params[0] = mem_alloc(&h.mem, 1024, 0, MEM_KIND_DEVICE);
	params[1] = mem_alloc(&h.mem, 1024, 0, MEM_KIND_DEVICE);
	for (u32 i = 0; i < 256; i++)
		if (half)
			((u16 *)(uintptr_t)params[0])[i] = (u16)i;
		else
			((u32 *)(uintptr_t)params[0])[i] = i;
	same &= harness_run(&h, "k", 1, 32, params, NULL) == STOP_DONE;
	for (u32 l = 0; l < 32; l++)
		for (u32 i = 0; i < 8; i++) {
			u32 row = !volta ? (i & 2) * 4 + l / 4
				  : half ? (l & 3) + ((l & 4) << 1) + ((l & 16) >> 2)
					 : (i & 2) + (l & 1) + ((l & 4) << 1) + ((l & 16) >> 2);
			u32 column = !volta ? l % 4 * 2 + i % 2 + (i & 4) * 2
				     : half ? i + (l & 8)
					    : (i & 5) + (l & 10);
			u32 got = half ? ((const u16 *)(uintptr_t)params[1])[16 * l + i]
				       : ((const u32 *)(uintptr_t)params[1])[8 * l + i];

			same &= got == 16 * row + column;
		}
	CHECK_MSG(same, what);
	harness_close(&h);
}

/* ---- .kind::f8f6f4: bytes of every type, all of them one, two or a half ---- */

static const struct {
	const char *type;
	u32 half, one, two; /* as bytes */
} small[] = {
	{"e4m3", 0x30, 0x38, 0x40}, {"e5m2", 0x38, 0x3c, 0x40}, {"e3m2", 0x08, 0x0c, 0x10},
	{"e2m3", 0x04, 0x08, 0x10}, {"e2m1", 0x04, 0x08, 0x10},
};

static void test_small(u32 a, u32 b)
{
	char ptx[PTX_MAX], what[80];
	struct harness h;
	u64 params[2] = {0, 0};
	u32 bits = 0;

	snprintf(
		ptx, sizeof(ptx),
		".version 8.8\n.target sm_120a\n.address_size 64\n"
		".visible .entry k(.param .u64 in, .param .u64 out)\n"
		"{ .reg .b32 %%a, %%b; .reg .f32 %%c, %%d<4>; .reg .u64 %%o; .reg .u32 %%t;\n"
		"ld.param.u64 %%o,[out]; mov.u32 %%t,%%tid.x; mad.wide.u32 %%o,%%t,4,%%o;\n"
		"mov.b32 %%a,%u; mov.b32 %%b,%u; mov.f32 %%c,0f3f800000;\n"
		"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.%s.%s.f32 {%%d0,%%d1,%%d2,%%d3},"
		"{%%a,%%a,%%a,%%a},{%%b,%%b},{%%c,%%c,%%c,%%c};\n"
		"st.global.f32 [%%o],%%d3;\nret; }\n",
		small[a].two * 0x01010101u, (small[b].half | small[b].one << 8) * 0x00010001u,
		small[a].type, small[b].type);
	if (!CHECK_MSG(harness_open(&h, ptx), small[a].type))
		return;
	h.device = "gb202";
	params[1] = mem_alloc(&h.mem, 128, 0, MEM_KIND_DEVICE);
	if (harness_run(&h, "k", 1, 32, params, NULL) == STOP_DONE)
		bits = ((const u32 *)(uintptr_t)params[1])[31];
	snprintf(what, sizeof(what), "gb202: %s by %s: %g", small[a].type, small[b].type,
		 (f64)f32_bits(bits));
	CHECK_MSG(f32_bits(bits) == 1 + 16 * 2 * 0.5f + 16 * 2 * 1, what);
	h.device = "h200";
	CHECK_EQ(harness_run(&h, "k", 1, 32, params, NULL), STOP_FAULT);
	harness_close(&h);
}

/*
 * Matrices of bytes on Blackwell, by PTX ISA's fragments: `bits` of a number, two matrices of 16
 * rows turned or four of 8. The bytes then go back by stmatrix, whose fragments are others.
 */
static void test_bytes(bool turned, u32 bits)
{
	static const char *const from[] = {
		[4] = "b8x16.b4x16_p64", [6] = "b8x16.b6x16_p32", [8] = "b8"};
	char ptx[PTX_MAX], what[80];
	struct harness h;
	u8 in[32][16], row[32][16] = {{0}}, *out;
	u64 params[2];
	bool same = true;

	snprintf(
		ptx, sizeof(ptx),
		".version 8.8\n.target sm_120a\n.address_size 64\n"
		".visible .entry k(.param .u64 in, .param .u64 out)\n"
		"{ .shared .align 16 .b8 s[512]; .reg .b32 %%r<4>; .reg .u64 %%i,%%o; .reg .u32 %%t,%%s;\n"
		"ld.param.u64 %%i,[in]; ld.param.u64 %%o,[out]; mov.u32 %%t,%%tid.x; mov.u32 %%s,s;\n"
		"mad.wide.u32 %%i,%%t,16,%%i; mad.wide.u32 %%o,%%t,16,%%o; mad.lo.u32 %%s,%%t,16,%%s;\n"
		"ld.global.v4.b32 {%%r0,%%r1,%%r2,%%r3},[%%i];\n"
		"st.shared.v4.b32 [%%s],{%%r0,%%r1,%%r2,%%r3}; bar.sync 0;\n"
		"ldmatrix.sync.aligned.%s.shared.%s {%%r0,%%r1,%%r2,%%r3},[%%s];\n"
		"st.global.v4.b32 [%%o],{%%r0,%%r1,%%r2,%%r3}; bar.sync 0;\n"
		"stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%%s],{%%r0,%%r1,%%r2,%%r3}; bar.sync 0;\n"
		"ld.shared.v4.b32 {%%r0,%%r1,%%r2,%%r3},[%%s];\n"
		"st.global.v4.b32 [%%o+512],{%%r0,%%r1,%%r2,%%r3}; ret; }\n",
		turned ? "m16n16.x2.trans" : "m8n16.x4", from[bits]);
	if (!CHECK_MSG(harness_open(&h, ptx), from[bits]))
		return;
	h.device = "gb202";
	params[0] = mem_alloc(&h.mem, 512, 0, MEM_KIND_DEVICE);
	params[1] = mem_alloc(&h.mem, 1024, 0, MEM_KIND_DEVICE);
	for (u32 i = 0; i < 512; i++)
		in[i / 16][i % 16] = (u8)(i * 73 + i / 16 * 29 + 5);
	memcpy((void *)(uintptr_t)params[0], in, sizeof(in));
	for (u32 y = 0; y < 32; y++)
		for (u32 i = 0; i < 16 * bits; i++)
			row[y][i / bits] |= (u8)((in[y][i / 8] >> i % 8 & 1) << i % bits);
	snprintf(what, sizeof(what), "gb202: ldmatrix, stmatrix of %u bits%s", bits,
		 turned ? ", turned" : "");
	CHECK_EQ(harness_run(&h, "k", 1, 32, params, NULL), STOP_DONE);
	out = (u8 *)(uintptr_t)params[1];
	for (u32 l = 0; l < 32; l++)
		for (u32 j = 0; j < 4; j++)
			for (u32 i = 0; i < 4; i++) {
				u32 t = l % 4, g = l / 4;
				u8 got = out[16 * l + 4 * j + i];

				same &= got == (turned ? row[j / 2 * 16 + 4 * t + i][g + j % 2 * 8]
						       : row[8 * j + g][4 * t + i]);
				same &= got ==
					out[512 + 16 * (8 * j + 2 * t + i % 2) + g + i / 2 * 8];
			}
	CHECK_MSG(same, what);
	h.device = "h200";
	CHECK_EQ(harness_run(&h, "k", 1, 32, params, NULL), STOP_FAULT);
	harness_close(&h);
}

/* tcgen05 is checked only: reached, it is a fault that names it. */
static void test_tcgen05(void)
{
	struct harness h;

	if (!CHECK(harness_open(&h,
				".version 8.8\n.target sm_100a\n.address_size 64\n"
				".visible .entry k() { tcgen05.wait::ld.sync.aligned; ret; }\n")))
		return;
	h.device = "gb202";
	CHECK_EQ(harness_run(&h, "k", 1, 32, NULL, NULL), STOP_FAULT);
	CHECK_MSG(strstr(h.fault.text, "tcgen05.wait") != NULL, h.fault.text);
	harness_close(&h);
}

int main(void)
{
	static const u32 sizes[3][2] = {{16, 16}, {32, 8}, {8, 32}};

	for (u32 i = 0; i < ARRAY_LEN(shapes); i++)
		test_shape(&shapes[i]);
	for (u32 i = 0; i < ARRAY_LEN(probes); i++) {
		const struct probe *p = &probes[i];

		test_probe(p, "v100", p->v100);
		test_probe(p, "t4", p->t4);
		test_probe(p, "a100", p->a100);
		test_probe(p, "h200", p->h200);
	}
	for (u32 i = 0; i < 3; i++)
		for (u32 layout = 0; layout < 8; layout++) {
			test_wmma(sizes[i][0], sizes[i][1], layout & 1, layout & 2, layout & 4,
				  "v100");
			test_wmma(sizes[i][0], sizes[i][1], layout & 1, layout & 2, layout & 4,
				  "t4");
		}
	for (u32 half = 0; half < 2; half++) {
		test_sum_places("v100", half);
		test_sum_places("t4", half);
		test_sum_places("a100", half);
		test_sum_places("h200", half);
	}
	for (u32 a = 0; a < ARRAY_LEN(small); a++)
		for (u32 b = 0; b < ARRAY_LEN(small); b++)
			test_small(a, b);
	for (u32 bits = 4; bits <= 8; bits += 2) {
		test_bytes(false, bits < 8 ? bits : 4);
		test_bytes(true, bits);
	}
	test_tcgen05();
	return check_done();
}
