/*
 * cublasLtMatmul: layouts, epilogues there and back, batches, factors by row, 8-bit floats, what it
 * refuses.
 */
#include "tests/hostlibs/device.h"

enum { M = 24, N = 10, K = 17, E4M3 = 28 };
enum { RELU = 2, BIAS = 4, RELU_BACK = 8, GRADIENT = 16, GELU = 32, GELU_BACK = 64, AUX = 128 };
enum { GRADIENT_A = 256, GRADIENT_B = 512 };

static void *handle;
static number a[M * K], b[K * N], c[M * N], bias[M], want[M * N], got[M * N];
static void *da, *db, *dc, *dd, *dbias;
static float alpha = 1.5f, beta = 0.5f;

static void set_word(void *desc, int attribute, int value)
{
	named("cublasLtMatmulDescSetAttribute")(desc, attribute, &value, sizeof(value));
}

static void set_pointer(void *desc, int attribute, const void *value)
{
	named("cublasLtMatmulDescSetAttribute")(desc, attribute, &value, sizeof(value));
}

static void *layout(int type, int rows, int columns, int ld)
{
	void *l = NULL;

	named("cublasLtMatrixLayoutCreate")(&l, type, (uint64_t)rows, (uint64_t)columns,
					    (int64_t)ld);
	return l;
}

static void set_layout(void *l, int attribute, int64_t value, size_t bytes)
{
	named("cublasLtMatrixLayoutSetAttribute")(l, attribute, &value, bytes);
}

static void *desc_of(int epilogue)
{
	void *desc = NULL;

	named("cublasLtMatmulDescCreate")(&desc, 68, F32);
	set_word(desc, 7, epilogue);
	set_pointer(desc, 8, dbias);
	return desc;
}

static int multiply(void *desc, const void *factor, const void *ad, void *la, void *lb, void *lc)
{
	return named("cublasLtMatmul")(handle, desc, factor, ad, la, db, lb, &beta, dc, lc, dd, lc,
				       NULL, NULL, (size_t)0, NULL);
}

/* alpha A B + beta C */
static void reference(double by)
{
	for (int j = 0; j < N; j++)
		for (int i = 0; i < M; i++) {
			number sum = 0;

			for (int l = 0; l < K; l++)
				sum += a[i + l * M] * b[l + j * K];
			want[i + j * M] = by * sum + beta * c[i + j * M];
		}
}

static double gelu(double x)
{
	return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

static void verdict(int status, const char *what)
{
	char text[96];
	double off;

	download(F32, dd, got, M * N);
	off = distance(got, want, M * N);
	snprintf(text, sizeof(text), "%s: status %d, off by %g", what, status, off);
	check_that(!status && off < 2e-5, text, __FILE__, __LINE__);
}

static void free_layout(void *l)
{
	CHECK_EQ(named("cublasLtMatrixLayoutDestroy")(l), 0);
}

static void test_epilogues(void *la, void *lb, void *lc)
{
	static const int epilogues[] = {1, RELU, BIAS, RELU | BIAS, GELU, GELU | BIAS};

	for (size_t e = 0; e < sizeof(epilogues) / sizeof(*epilogues); e++) {
		void *desc = desc_of(epilogues[e]);
		int status = multiply(desc, &alpha, da, la, lb, lc);

		reference(alpha);
		for (int i = 0; i < M * N; i++) {
			double x = creal(want[i]) + (epilogues[e] & BIAS ? creal(bias[i % M]) : 0);

			want[i] = epilogues[e] & RELU   ? fmax(x, 0)
				  : epilogues[e] & GELU ? gelu(x)
							: x;
		}
		verdict(status, "an epilogue");
		named("cublasLtMatmulDescDestroy")(desc);
	}
}

/* The mask that one product writes is what another one reads; its bias gets sums of rows. */
static void test_backwards(void *la, void *lb, void *lc)
{
	void *mask = device_new(128 / 8 * N), *desc = desc_of(RELU | AUX), *back;
	number sums[M];
	int64_t ld = 128;
	double off = 0;
	int status;

	set_pointer(desc, 11, mask);
	named("cublasLtMatmulDescSetAttribute")(desc, 12, &ld, sizeof(ld));
	status = multiply(desc, &alpha, da, la, lb, lc);
	reference(alpha);
	for (int i = 0; i < M * N; i++)
		want[i] = fmax(creal(want[i]), 0);
	verdict(status, "RELU with its mask");
	back = desc_of(RELU_BACK | AUX | GRADIENT);
	set_pointer(back, 11, mask);
	named("cublasLtMatmulDescSetAttribute")(back, 12, &ld, sizeof(ld));
	status = multiply(back, &alpha, da, la, lb, lc);
	verdict(status, "RELU's gradient");
	download(F32, dbias, sums, M);
	for (int i = 0; i < M; i++) {
		number sum = 0;

		for (int j = 0; j < N; j++)
			sum += want[i + j * M];
		off = fmax(off, cabs(sum - sums[i]));
	}
	CHECK(off < 1e-4);
	named("cublasLtMatmulDescDestroy")(back);
	back = desc_of(GRADIENT_A);
	status = multiply(back, &alpha, da, la, lb, lc);
	reference(alpha);
	verdict(status, "with the sums of A");
	download(F32, dbias, sums, M);
	off = 0;
	for (int i = 0; i < M; i++) {
		number sum = 0;

		for (int l = 0; l < K; l++)
			sum += a[i + l * M];
		off = fmax(off, cabs(sum - sums[i]));
	}
	CHECK(off < 1e-4);
	named("cublasLtMatmulDescDestroy")(desc);
	named("cublasLtMatmulDescDestroy")(back);
	device_free(mask);
}

/* A by rows; factors for each row of D; D by rows. */
static void test_orders(void *lb, void *lc)
{
	number turned[M * K], factors[M];
	void *la = layout(F32, M, K, K), *by_rows, *desc = desc_of(1), *rows_desc, *at;
	int status;

	for (int i = 0; i < M; i++)
		for (int l = 0; l < K; l++)
			turned[i * K + l] = a[i + l * M];
	at = upload(F32, turned, M * K);
	set_layout(la, 1, 1, 4);
	status = multiply(desc, &alpha, at, la, lb, lc);
	reference(alpha);
	verdict(status, "A by rows");
	for (int i = 0; i < M; i++)
		factors[i] = i;
	rows_desc = desc_of(1);
	set_word(rows_desc, 2, 4);
	by_rows = upload(F32, factors, M);
	status = multiply(rows_desc, by_rows, at, la, lb, lc);
	reference(1);
	for (int i = 0; i < M * N; i++)
		want[i] = (want[i] - beta * c[i]) * (i % M) + beta * c[i];
	verdict(status, "factors by row");
	device_free(by_rows);
	by_rows = layout(F32, M, N, N);
	set_layout(by_rows, 1, 1, 4);
	status = named("cublasLtMatmul")(handle, desc, &alpha, at, la, db, lb, &beta, dc, lc, dd,
					 by_rows, NULL, NULL, (size_t)0, NULL);
	download(F32, dd, got, M * N);
	reference(alpha);
	for (int i = 0; i < M * N; i++)
		status |= cabs(got[i / M + i % M * N] - want[i]) > 2e-5;
	CHECK_EQ(status, 0);
	free_layout(la);
	free_layout(by_rows);
	named("cublasLtMatmulDescDestroy")(desc);
	named("cublasLtMatmulDescDestroy")(rows_desc);
	device_free(at);
}

/* 0x38, 0x40 and 0x7e are 1, 2 and the largest, 448; scaled by 4 and 0.5. */
static void test_bytes(void)
{
	uint8_t x[16], y[16], out[16];
	float scales[2] = {4, 0.5f}, one = 1, zero = 0;
	void *dx = device_new(16), *dy = device_new(16), *dz = device_new(16), *ds = device_new(8);
	void *l = layout(E4M3, 4, 4, 4), *c16 = layout(BF16, 4, 4, 4), *desc = desc_of(1);
	int status;

	memset(x, 0x38, sizeof(x));
	memset(y, 0x40, sizeof(y));
	y[0] = 0x7e;
	named("cudaMemcpy")(dx, x, sizeof(x), 1);
	named("cudaMemcpy")(dy, y, sizeof(y), 1);
	named("cudaMemcpy")(ds, scales, sizeof(scales), 1);
	set_word(desc, 3, 1);
	set_pointer(desc, 17, ds);
	set_pointer(desc, 20, (char *)ds + 4);
	status = named("cublasLtMatmul")(handle, desc, &one, dx, l, dy, l, &zero, dz, c16, dz, l,
					 NULL, NULL, (size_t)0, NULL);
	named("cudaMemcpy")(out, dz, sizeof(out), 2);
	/* 454 * 4 * 0.5 is too large: 448; 8 * 4 * 0.5 is 16. */
	CHECK_EQ(status, 0);
	CHECK_EQ(out[0], 0x7e);
	CHECK_EQ(out[4], 0x58);
	free_layout(l);
	free_layout(c16);
	named("cublasLtMatmulDescDestroy")(desc);
	device_free(dx);
	device_free(dy);
	device_free(dz);
	device_free(ds);
}

static void test_refusals(void *la, void *lb, void *lc)
{
	void *desc = desc_of(1), *other = layout(F32, M, N + 1, M),
	     *tiles = layout(F32, M, K, 32 * M);
	void *preference = NULL;
	char results[96 * 4];
	int n = 7, status;

	CHECK_EQ(named("cublasLtMatmulPreferenceCreate")(&preference), 0);
	status = named("cublasLtMatmulAlgoGetHeuristic")(handle, desc, la, lb, lc, lc, preference,
							 4, results, &n);
	CHECK(status == 0 && n == 1);
	CHECK_EQ(multiply(desc, &alpha, da, la, lb, other), 7);
	CHECK_EQ(multiply(desc, NULL, da, la, lb, lc), 7);
	CHECK_EQ(multiply(NULL, &alpha, da, la, lb, lc), 7);
	set_layout(tiles, 1, 2, 4);
	CHECK_EQ(multiply(desc, &alpha, da, tiles, lb, lc), 15);
	set_word(desc, 7, 1 << 20);
	CHECK_EQ(multiply(desc, &alpha, da, la, lb, lc), 15);
	status = named("cublasLtMatmulAlgoGetHeuristic")(handle, desc, la, lb, lc, lc, preference,
							 4, results, &n);
	CHECK(status == 15 && n == 0);
	/* The gradient of ReLU without what it needs, a bias that is not there. */
	set_word(desc, 7, 8);
	CHECK_EQ(multiply(desc, &alpha, da, la, lb, lc), 15);
	set_word(desc, 7, 8 | 128);
	CHECK_EQ(multiply(desc, &alpha, da, la, lb, lc), 7);
	set_word(desc, 7, 4);
	set_pointer(desc, 8, NULL);
	CHECK_EQ(multiply(desc, &alpha, da, la, lb, lc), 7);
	named("cublasLtMatmulPreferenceDestroy")(preference);
	named("cublasLtMatmulDescDestroy")(desc);
	free_layout(other);
	free_layout(tiles);
}

/* What descriptions say before anything is set. */
static void test_defaults(void)
{
	void *desc, *l;
	int32_t got = -1;
	size_t written = 0;

	CHECK_EQ(named("cublasLtMatmulDescCreate")(&desc, 68, F32), 0);
	CHECK_EQ(named("cublasLtMatmulDescGetAttribute")(desc, 6, &got, sizeof(got), &written), 0);
	CHECK_EQ(got, 2);
	CHECK_EQ(written, 4);
	CHECK_EQ(named("cublasLtMatmulDescGetAttribute")(desc, 7, &got, sizeof(got), &written), 0);
	CHECK_EQ(got, 1);
	CHECK_EQ(named("cublasLtMatrixLayoutCreate")(&l, F32, (uint64_t)2, (uint64_t)3, (int64_t)2),
		 0);
	CHECK_EQ(named("cublasLtMatrixLayoutGetAttribute")(l, 1, &got, sizeof(got), &written), 0);
	CHECK_EQ(got, 0);
	CHECK_EQ(named("cublasLtMatrixLayoutGetAttribute")(l, 5, &got, sizeof(got), &written), 0);
	CHECK_EQ(got, 1);
	named("cublasLtMatrixLayoutDestroy")(l);
	named("cublasLtMatmulDescDestroy")(desc);
}

int main(void)
{
	void *la, *lb, *lc;

	CHECK_EQ(named("cublasLtCreate")(&handle), 0);
	la = layout(F32, M, K, M);
	lb = layout(F32, K, N, K);
	lc = layout(F32, M, N, M);
	fill_random(F32, a, M * K);
	fill_random(F32, b, K * N);
	fill_random(F32, c, M * N);
	fill_random(F32, bias, M);
	da = upload(F32, a, M * K);
	db = upload(F32, b, K * N);
	dc = upload(F32, c, M * N);
	dbias = upload(F32, bias, M);
	dd = device_new(sizeof(float) * M * N);
	test_epilogues(la, lb, lc);
	test_backwards(la, lb, lc);
	test_orders(lb, lc);
	test_bytes();
	test_refusals(la, lb, lc);
	CHECK_EQ(named("cudaDeviceSynchronize")(), 0);
	free_layout(la);
	free_layout(lb);
	free_layout(lc);
	CHECK_EQ(named("cublasLtDestroy")(handle), 0);
	test_defaults();
	return check_done();
}
