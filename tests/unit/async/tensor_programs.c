/*
 * Matrix products and attention as programs write them, with wmma and shared memory: the kernels of
 * tests/programs/tensor.cu, as nvcc made tensor.ptx of them, against sums in f64, on every device
 * that has the types. Bounds are those of the sums: one unit of the accumulator's last place for
 * each step, of the sum of the products' magnitudes.
 */
#include "src/base/file.h"
#include "src/lower/lower.h"
#include "tests/check.h"
#include "tests/unit/exec_harness.h"

#include <math.h>

#define M 64u
#define N 96u
#define K 64u

enum type { F16, BF16, TF32, S8, F64, F32, S32 };

static const u32 bytes_of[] = {2, 2, 4, 1, 8, 4, 4};

static const struct gemm {
	const char *kernel, *devices;
	enum type in, out;
	u32 tile;
	f64 unit; /* of the last place of a sum */
} gemms[] = {
	{"gemm_f16", "v100 t4 a100 h200", F16, F32, 32, 0x1p-22},
	{"gemm_f16_f16", "v100 t4 a100 h200", F16, F16, 32, 0x1p-10},
	{"gemm_bf16", "a100 h200", BF16, F32, 32, 0x1p-22},
	{"gemm_tf32", "a100 h200", TF32, F32, 32, 0x1p-22},
	{"gemm_s8", "t4 a100 h200", S8, S32, 32, 0},
	{"gemm_f64", "a100 h200", F64, F64, 16, 0x1p-52},
};

static u32 state = 1;

/* From -1 to 1, in steps of 1/256: every type but s8 has them. */
static f64 next(void)
{
	state = state * 1664525u + 1013904223u;
	return (f64)((s32)(state >> 16) % 257 - 128) / 128;
}

static u16 half_of(f64 x)
{
	int e = 0;
	f64 m = frexp(fabs(x), &e);

	return (u16)((x < 0 ? 0x8000 : 0) |
		     (x == 0 ? 0 : (u32)(e + 14) << 10 | ((u32)ldexp(m, 11) & 1023)));
}

static f64 of_half(u16 h)
{
	u32 e = h >> 10 & 31, m = h & 1023;
	f64 x = e ? ldexp(1024 + m, (int)e - 25) : ldexp(m, -24);

	return h & 0x8000 ? -x : x;
}

static void put(enum type t, u8 *at, f64 x)
{
	u16 h = t == F16 ? half_of(x) : (u16)(bits_f32((f32)x) >> 16);
	f32 f = (f32)x;
	s32 i = (s32)x;

	switch (t) {
	case F16:
	case BF16:
		memcpy(at, &h, 2);
		break;
	case S8:
		*at = (u8)(s8)i;
		break;
	case F64:
		memcpy(at, &x, 8);
		break;
	case S32:
		memcpy(at, &i, 4);
		break;
	default:
		memcpy(at, &f, 4);
		break;
	}
}

static f64 get(enum type t, const u8 *at)
{
	u16 h;
	f32 f;
	s32 i;
	f64 x;

	switch (t) {
	case F16:
		memcpy(&h, at, 2);
		return of_half(h);
	case F64:
		memcpy(&x, at, 8);
		return x;
	case S32:
		memcpy(&i, at, 4);
		return i;
	default:
		memcpy(&f, at, 4);
		return (f64)f;
	}
}

/* Numbers of a type into fresh device memory, and as f64. */
static u64 random_matrix(struct harness *h, enum type t, u32 n, f64 *x)
{
	u64 at = mem_alloc(&h->mem, (u64)n * bytes_of[t], 0, MEM_KIND_DEVICE);

	for (u32 i = 0; i < n; i++) {
		x[i] = t == S8 || t == S32 ? floor(next() * 100) : next();
		put(t, (u8 *)(uintptr_t)at + i * bytes_of[t], x[i]);
	}
	return at;
}

/* A grid of two dimensions; harness_run has but one. */
static bool run_grid(struct harness *h, const char *kernel, u32 x, u32 y, u32 block, void *params)
{
	u32 *tid = calloc(3 * 256, sizeof(u32));
	struct lower_options options = {.warps = block / 32};
	struct program *p = exec_lower(h->m, ir_find_func(h->m, kernel), arch_find(h->device),
				       h->var_address, &options, &h->d);
	bool ok;

	if (!p || !tid)
		return false;
	for (u32 i = 0; i < block; i++)
		tid[i] = i;
	h->env = (struct exec_env){
		.program = p,
		.ops = exec_ops_select(NULL),
		.mem = &h->mem,
		.params = params,
		.grid = {x, y, 1},
		.block = {block, 1, 1},
		.shared_bytes = p->shared_static,
		.cluster = {1, 1, 1},
		.local_bytes = p->frame_bytes + 65536,
		.cancel = &h->cancel,
		.tid = tid,
		.param_address = (u64)(uintptr_t)params,
	};
	ok = harness_grid(h, 10000, 0) == STOP_DONE;
	free(tid);
	exec_program_free(p);
	return ok;
}

static void test_gemm(const struct gemm *g, struct harness *h, const char *device)
{
	static f64 a[M * K], b[K * N], c[M * N];
	struct {
		u64 a, b, c;
		s32 n, k;
	} params = {0, 0, 0, N, K};
	f64 worst = 0;
	char what[100];
	bool ok;

	h->device = device;
	params.a = random_matrix(h, g->in, M * K, a);
	params.b = random_matrix(h, g->in, K * N, b);
	params.c = random_matrix(h, g->out, M * N, c);
	ok = run_grid(h, g->kernel, N / g->tile, M / g->tile, 128, &params);
	for (u32 i = 0; i < M; i++)
		for (u32 j = 0; j < N; j++) {
			f64 sum = c[i * N + j], size = fabs(sum), error;

			for (u32 k = 0; k < K; k++) {
				sum += a[i * K + k] * b[k * N + j];
				size += fabs(a[i * K + k] * b[k * N + j]);
			}
			error = fabs(get(g->out, (u8 *)(uintptr_t)params.c +
							 (i * N + j) * bytes_of[g->out]) -
				     sum);
			worst = fmax(worst, g->unit > 0 ? error / (size * g->unit) : error * K * 2);
		}
	snprintf(what, sizeof(what), "%s: %s: error %.2g units of %u", device, g->kernel, worst, K);
	CHECK_MSG(ok && worst <= K, what);
	mem_free(&h->mem, params.a);
	mem_free(&h->mem, params.b);
	mem_free(&h->mem, params.c);
}

#define LENGTH 64u
#define WIDTH 64u

/* One row of softmax(q k / 8) v. */
static void attend(const f64 *q, const f64 *k, const f64 *v, f64 *o)
{
	f64 score[LENGTH], most = -INFINITY, total = 0;

	for (u32 j = 0; j < LENGTH; j++) {
		score[j] = 0;
		for (u32 d = 0; d < WIDTH; d++)
			score[j] += q[d] * k[j * WIDTH + d] / 8;
		most = fmax(most, score[j]);
	}
	memset(o, 0, WIDTH * sizeof(*o));
	for (u32 j = 0; j < LENGTH; j++) {
		f64 w = exp(score[j] - most);

		total += w;
		for (u32 d = 0; d < WIDTH; d++)
			o[d] += w * v[j * WIDTH + d];
	}
	for (u32 d = 0; d < WIDTH; d++)
		o[d] /= total;
}

static void test_attention(struct harness *h, const char *device)
{
	static f64 q[LENGTH * WIDTH], k[LENGTH * WIDTH], v[LENGTH * WIDTH];
	struct {
		u64 q, k, v, o;
		s32 length;
	} params = {0, 0, 0, 0, LENGTH};
	f64 worst = 0, want[WIDTH];
	char what[100];
	bool ok;

	h->device = device;
	params.q = random_matrix(h, F16, LENGTH * WIDTH, q);
	params.k = random_matrix(h, F16, LENGTH * WIDTH, k);
	params.v = random_matrix(h, F16, LENGTH * WIDTH, v);
	params.o = mem_alloc(&h->mem, LENGTH * WIDTH * 4, 0, MEM_KIND_DEVICE);
	ok = run_grid(h, "attention", LENGTH / 16, 1, 32, &params);
	for (u32 i = 0; i < LENGTH; i++) {
		attend(q + i * WIDTH, k, v, want);
		for (u32 d = 0; d < WIDTH; d++)
			worst = fmax(worst,
				     fabs((f64)((const f32 *)(uintptr_t)params.o)[i * WIDTH + d] -
					  want[d]));
	}
	/* weights are rounded to f16: half a unit of each, their mean of numbers up to 1 */
	snprintf(what, sizeof(what), "%s: attention: error %.2g", device, worst);
	CHECK_MSG(ok && worst <= 0x1p-10, what);
	mem_free(&h->mem, params.q);
	mem_free(&h->mem, params.k);
	mem_free(&h->mem, params.v);
	mem_free(&h->mem, params.o);
}

int main(void)
{
	static const char *const devices[] = {"v100", "t4", "a100", "h200"};
	const char *dir = getenv("srcdir");
	char path[4096], *ptx;
	struct harness h;
	struct file f;

	snprintf(path, sizeof(path), "%s/tests/programs/tensor.ptx", dir ? dir : ".");
	if (!CHECK_MSG(file_open(&f, path), "tensor.ptx"))
		return check_done();
	ptx = calloc(1, f.size + 1);
	if (!ptx)
		return 1;
	memcpy(ptx, f.data, f.size);
	file_close(&f);
	if (CHECK(harness_open(&h, ptx))) {
		for (u32 d = 0; d < ARRAY_LEN(devices); d++) {
			for (u32 i = 0; i < ARRAY_LEN(gemms); i++)
				if (strstr(gemms[i].devices, devices[d]))
					test_gemm(&gemms[i], &h, devices[d]);
			test_attention(&h, devices[d]);
		}
		harness_close(&h);
	}
	free(ptx);
	return check_done();
}
