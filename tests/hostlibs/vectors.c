/*
 * Results of an H100 (cuBLAS and cuFFT of CUDA 13.0, called by PyTorch) on
 * random numbers, and the host's: h100.txt has a line for each, its name, how
 * many words, the words. How far they may lie apart: what the order of sums
 * explains.
 */
#include "tests/hostlibs/device.h"

enum { M = 8, N = 6, K = 40, BIASED = 16, WORDS = 512 };

/* The numbers of a line. */
struct line {
	char name[32];
	int len;
	number x[WORDS];
};

static number got[WORDS];
static void *handle, *lt;

static int read_line(FILE *f, int type, struct line *l)
{
	int size = bytes_of(type), parts = type == C32 || type == C64 ? 2 : 1;

	for (int i = 0; i < l->len / parts; i++) {
		char bytes[16];

		for (int part = 0; part < parts; part++) {
			unsigned long long word;

			if (fscanf(f, "%llx", &word) != 1)
				return 0;
			memcpy(bytes + part * size / parts, &word, (size_t)(size / parts));
		}
		l->x[i] = get(type, bytes);
	}
	l->len /= parts;
	return 1;
}

static int type_named(const char *name)
{
	static const struct {
		const char *name;
		int type;
	} rows[] = {{"f16", F16}, {"bf16", BF16}, {"f32", F32},
		    {"f64", F64}, {"c32", C32},   {"c64", C64}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strncmp(name, rows[i].name, strlen(rows[i].name)))
			return rows[i].type;
	return -1;
}

/* Units in the last place of the largest numbers. */
static double unit(int type)
{
	return type == F16                  ? 0x1p-8
	       : type == BF16               ? 0x1p-5
	       : type == F64 || type == C64 ? 5e-14
					    : 4e-6;
}

static void judge(const struct line *l, int type, int status)
{
	double off = distance(got, l->x, (size_t)l->len);
	int same = 0;
	char text[128];

	for (int i = 0; i < l->len; i++)
		same += got[i] == l->x[i];
	snprintf(text, sizeof(text), "%s: status %d, %d of %d the same, off by %g", l->name, status,
		 same, l->len, off);
	check_that(!status && off <= unit(type), text, __FILE__, __LINE__);
}

/* Matrices by rows are transposed ones: their product the other way round. */
static void test_gemm(struct line *l, int type)
{
	number a[M * K], b[K * N];
	char one[16], zero[16];
	int compute = type == F64 || type == C64 ? 70 : 68,
	    scale = type > F64 && type < C32 ? F32 : type;
	void *da, *db, *dc = device_new(M * N * 16);
	int status;

	if (type == BF16)
		scale = F32;
	random_state = 1;
	fill_random(type, a, M * K);
	fill_random(type, b, K * N);
	put(scale, one, 1);
	put(scale, zero, 0);
	da = upload(type, a, M * K);
	db = upload(type, b, K * N);
	status = named("cublasGemmEx")(handle, 0, 0, N, M, K, one, db, type, N, da, type, K, zero,
				       dc, type, N, compute, -1);
	download(type, dc, got, M * N);
	judge(l, type, status);
	device_free(da);
	device_free(db);
	device_free(dc);
}

static void *layout(int rows, int columns)
{
	void *l = NULL;

	named("cublasLtMatrixLayoutCreate")(&l, F16, (uint64_t)rows, (uint64_t)columns,
					    (int64_t)rows);
	return l;
}

static void test_activation(struct line *l, int epilogue)
{
	number a[M * K], b[K * BIASED], c[BIASED];
	float one = 1, zero = 0;
	void *da, *db, *dc, *dd = device_new(M * BIASED * 2), *desc = NULL, *la, *lb, *ld;
	int status;

	random_state = 1;
	fill_random(F16, a, M * K);
	fill_random(F16, b, K * BIASED);
	fill_random(F16, c, BIASED);
	da = upload(F16, a, M * K);
	db = upload(F16, b, K * BIASED);
	dc = upload(F16, c, BIASED);
	la = layout(BIASED, K);
	lb = layout(K, M);
	ld = layout(BIASED, M);
	named("cublasLtMatmulDescCreate")(&desc, 68, F32);
	named("cublasLtMatmulDescSetAttribute")(desc, 7, &epilogue, sizeof(epilogue));
	named("cublasLtMatmulDescSetAttribute")(desc, 8, &dc, sizeof(dc));
	status = named("cublasLtMatmul")(lt, desc, &one, db, la, da, lb, &zero, dd, ld, dd, ld,
					 NULL, NULL, (size_t)0, NULL);
	download(F16, dd, got, M * BIASED);
	judge(l, F16, status);
	named("cublasLtMatmulDescDestroy")(desc);
	named("cublasLtMatrixLayoutDestroy")(la);
	named("cublasLtMatrixLayoutDestroy")(lb);
	named("cublasLtMatrixLayoutDestroy")(ld);
	device_free(da);
	device_free(db);
	device_free(dc);
	device_free(dd);
}

static void test_fft(struct line *l, int type, int real, int n)
{
	number x[128];
	int plan, wide = type == C64, kind = real ? 0x2a : wide ? 0x69 : 0x29;
	void *d, *to = device_new(128 * 16);
	int status = named("cufftPlan1d")(&plan, n, kind, 1);

	random_state = 1;
	fill_random(real ? F32 : type, x, (size_t)n);
	d = upload(real ? F32 : type, x, (size_t)n);
	status |= named(real   ? "cufftExecR2C"
			: wide ? "cufftExecZ2Z"
			       : "cufftExecC2C")(plan, d, to, -1);
	download(type, to, got, (size_t)l->len);
	judge(l, type, status);
	named("cufftDestroy")(plan);
	device_free(d);
	device_free(to);
}

int main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
	struct line l;
	int n, type;

	CHECK(f != NULL);
	CHECK_EQ(named("cublasCreate_v2")(&handle) | named("cublasLtCreate")(&lt), 0);
	while (f && fscanf(f, " #%*[^\n]") != EOF && fscanf(f, "%31s %d", l.name, &l.len) == 2) {
		type = !strncmp(l.name, "rfft", 4) ? C32
		       : strstr(l.name, "elu")     ? F16
						   : type_named(strchr(l.name, '-') + 1);
		if (l.len > WORDS || type < 0 || !read_line(f, type, &l)) {
			CHECK_STR(l.name, "a line that can be read");
			break;
		}
		if (!strncmp(l.name, "gemm", 4))
			test_gemm(&l, type);
		else if (strstr(l.name, "elu"))
			test_activation(&l, *l.name == 'r' ? 6 : 36);
		else if (sscanf(strrchr(l.name, '-'), "-%d", &n) == 1)
			test_fft(&l, type, *l.name == 'r', n);
	}
	if (f)
		fclose(f);
	named("cublasDestroy_v2")(handle);
	named("cublasLtDestroy")(lt);
	return check_done();
}
