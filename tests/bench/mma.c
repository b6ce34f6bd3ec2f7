/*
 * Speed of the matrix instructions on one core: billions of operations a second (a multiplication
 * and an addition are two) by form and host level. A CTA of eight warps repeats one instruction,
 * whose accumulators go round; factors are random numbers of moderate size. Processor time, the
 * least of several rounds.
 *
 * usage: mma [TEXT [LEVEL]]     TEXT: forms that contain it
 */
#include "tests/unit/exec_harness.h"

#include <time.h>

#define WARPS 8u
#define REPEATS 20000u /* an eighth of that without wide vectors */
#define ROUNDS 3u

/* Registers of A, B and C; kind of the factors: h f16, b bf16, f f32, 8 fp8, i integers, d f64. */
static const struct form {
	const char *text;
	u32 m, n, k, a, b, c;
	char kind;
	const char *tail; /* operands behind C */
} forms[] = {
	{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 16, 4, 2, 4, 'h', ""},
	{"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 16, 8, 16, 4, 2, 2, 'h', ""},
	{"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 8, 2, 1, 4, 'h', ""},
	{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, 4, 2, 4, 'b', ""},
	{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 8, 4, 2, 4, 'f', ""},
	{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 16, 8, 32, 4, 2, 4, '8', ""},
	{"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 16, 8, 32, 4, 2, 4, 'i', ""},
	{"mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32", 16, 8, 64, 4, 2, 4, 'i', ""},
	{"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", 16, 8, 256, 4, 2, 4, 'i', ""},
	{"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 16, 8, 16, 8, 4, 4, 'd', ""},
	{"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 16, 8, 32, 4, 4,
	 4, 'h', ",%m,0x0"},
	{"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 16, 16, 16, 8, 8, 8, 'h', ""},
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void list(char *to, size_t size, const char *name, u32 n)
{
	size_t at = (size_t)snprintf(to, size, "{");

	for (u32 i = 0; i < n; i++)
		at += (size_t)snprintf(to + at, size - at, "%s%s%u", i ? "," : "", name, i);
	snprintf(to + at, size - at, "}");
}

static void write_kernel(const struct form *f, char *ptx, size_t size)
{
	const char *type = f->kind == 'd' ? "f64" : "b32";
	const char *sum = f->kind == 'd'   ? "f64"
			  : f->c == 2      ? "b32"
			  : f->kind == 'i' ? "s32"
					   : "f32";
	char a[64], b[64], c[64];
	size_t at;

	list(a, sizeof(a), "%a", f->a);
	list(b, sizeof(b), "%b", f->b);
	list(c, sizeof(c), "%c", f->c);
	at = (size_t)snprintf(ptx, size,
			      ".version 8.5\n.target sm_90a\n.address_size 64\n"
			      ".visible .entry k(.param .u64 in, .param .u32 n)\n"
			      "{ .reg .u64 %%i; .reg .u32 %%t,%%n; .reg .pred %%p; .reg .b32 %%m;\n"
			      ".reg .%s %%a<8>,%%b<8>; .reg .%s %%c<8>;\n"
			      "ld.param.u64 %%i,[in]; ld.param.u32 %%n,[n]; mov.u32 %%t,%%tid.x;\n"
			      "mad.wide.u32 %%i,%%t,256,%%i;\n"
			      "mov.b32 %%m,0x44444444;\n",
			      type, sum);
	for (u32 i = 0; i < f->a; i++)
		at += (size_t)snprintf(ptx + at, size - at, "ld.global.%s %%a%u,[%%i+%u];\n", type,
				       i, 8 * i);
	for (u32 i = 0; i < f->b; i++)
		at += (size_t)snprintf(ptx + at, size - at, "ld.global.%s %%b%u,[%%i+%u];\n", type,
				       i, 64 + 8 * i);
	for (u32 i = 0; i < f->c; i++)
		at += (size_t)snprintf(ptx + at, size - at, "ld.global.%s %%c%u,[%%i+%u];\n", sum,
				       i, 128 + 8 * i);
	at += (size_t)snprintf(ptx + at, size - at, "L: ");
	for (u32 i = 0; i < 4; i++)
		at += (size_t)snprintf(ptx + at, size - at, "%s %s,%s,%s,%s%s;\n", f->text, c, a, b,
				       c, f->tail);
	at += (size_t)snprintf(ptx + at, size - at,
			       "sub.u32 %%n,%%n,1; setp.ne.u32 %%p,%%n,0; @%%p bra L;\n");
	for (u32 i = 0; i < f->c; i++)
		at += (size_t)snprintf(ptx + at, size - at, "st.global.%s [%%i+%u],%%c%u;\n", sum,
				       128 + 8 * i, i);
	snprintf(ptx + at, size - at, "ret; }\n");
}

/* Two hundred and fifty-six bytes for each thread. Accumulators begin at zero. */
static void fill(u8 *in, char kind)
{
	u64 r = 0x9e3779b97f4a7c15u;

	memset(in, 0, 256 * 32 * WARPS);
	for (u32 t = 0; t < 32 * WARPS; t++)
		for (u32 i = 0; i < 16; i++) {
			u64 x;

			r = r * 0xbf58476d1ce4e5b9u + 0x94d049bb133111ebu;
			x = r >> 16;
			if (kind == 'h') /* exponents -5 .. 0 */
				x = (x & 0x83ff83ff) | (10 + (x >> 34) % 6) << 10 |
				    (10 + (x >> 40) % 6) << 26;
			else if (kind == 'b')
				x = (x & 0x807f807f) | (122 + (x >> 34) % 6) << 7 |
				    (122 + (x >> 40) % 6) << 23;
			else if (kind == 'f')
				x = (x & 0x807fffff) | (122 + (x >> 40) % 6) << 23;
			else if (kind == '8')
				x = (x & 0x87878787) | 0x28383028;
			else if (kind == 'd')
				x = (r & 0x800fffffffffffff) | (u64)(1018 + (r >> 40) % 6) << 52;
			memcpy(in + 256 * t + 8 * i, &x, 8);
		}
}

static double measure(const struct form *f, const char *ptx, const char *level)
{
	struct {
		u64 in;
		u32 n;
	} params = {0, *level == 'b' || level[1] == '2' ? REPEATS / 8 : REPEATS};
	double best = 1e18;
	struct harness h;

	if (!harness_open(&h, ptx))
		return 0;
	params.in = mem_alloc(&h.mem, 256 * 32 * WARPS, 0, MEM_KIND_DEVICE);
	for (u32 r = 0; r < ROUNDS; r++) {
		double t;

		fill((u8 *)(uintptr_t)params.in, f->kind);
		t = now_ns();
		if (harness_run(&h, "k", 1, 32 * WARPS, &params, level) != STOP_DONE)
			return 0;
		t = now_ns() - t;
		best = t < best ? t : best;
	}
	harness_close(&h);
	return 2.0 * f->m * f->n * f->k * WARPS * params.n * 4 / best;
}

int main(int argc, char **argv)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};
	static char ptx[1 << 14];

	printf("%-72s", "billions of operations a second, one core");
	for (u32 l = 0; l < 4; l++)
		printf(" %7s", levels[l]);
	printf("\n");
	for (u32 i = 0; i < ARRAY_LEN(forms); i++) {
		if (argc > 1 && !strstr(forms[i].text, argv[1]))
			continue;
		write_kernel(&forms[i], ptx, sizeof(ptx));
		printf("%-72s", forms[i].text);
		for (u32 l = 0; l < 4; l++)
			if (exec_ops_select(levels[l]) && (argc < 3 || !strcmp(argv[2], levels[l])))
				printf(" %7.1f", measure(&forms[i], ptx, levels[l]));
		printf("\n");
	}
	return 0;
}
