/*
 * Which types cublasGemmEx and cublasLtMatmul take: those that NVIDIA's tables have, and what comes
 * of them; all others are refused.
 */
#include "tests/hostlibs/device.h"

enum { E4M3 = 28, E5M2 = 29, N = 16 };

static void *handle, *lt, *d[4];

/* Of sums, factors, A and B, C and D. */
struct row {
	int compute, scale, a, b, c, d;
};

/* What both functions take, but for `lt`: sums as the first of those that differ in speed alone. */
static const struct {
	int compute, scale, ab, cd, lt;
} rows[] = {
	{64, F16, F16, F16, 0},   {72, S32, S8, S32, 0},  {72, F32, S8, S8, 1},
	{68, F32, BF16, BF16, 0}, {68, F32, F16, F16, 0}, {68, F32, S8, F32, 0},
	{68, F32, BF16, F32, 0},  {68, F32, F16, F32, 0}, {68, F32, F32, F32, 0},
	{68, C32, C32, C32, 0},   {74, F32, F32, F32, 0}, {74, C32, C32, C32, 0},
	{70, F64, F64, F64, 0},   {70, C64, C64, C64, 0},
};

static int first_of(int compute)
{
	static const int pairs[][2] = {{65, 64}, {69, 68}, {71, 70}, {73, 72},
				       {75, 74}, {77, 74}, {78, 74}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (pairs[i][0] == compute)
			return pairs[i][1];
	return compute;
}

static int is_float_8(int type)
{
	return type == E4M3 || type == E5M2;
}

/* Of 8-bit floats one may be the wide one; then D may be, too. */
static int is_known_8(const struct row *r)
{
	int wide = r->a == E5M2 || r->b == E5M2;

	return first_of(r->compute) == 68 && r->scale == F32 && is_float_8(r->b) &&
	       !(r->a == E5M2 && r->b == E5M2) && (r->c == F16 || r->c == BF16 || r->c == F32) &&
	       (r->d == r->c || (r->c != F32 && (r->d == E4M3 || (r->d == E5M2 && wide))));
}

static int is_known(const struct row *r, int of_lt)
{
	if (of_lt && is_float_8(r->a))
		return is_known_8(r);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].compute == first_of(r->compute) && rows[i].ab == r->a && r->a == r->b &&
		    rows[i].cd == r->c && r->c == r->d &&
		    (of_lt ? rows[i].scale == r->scale : !rows[i].lt))
			return 1;
	return 0;
}

static void *layout(int type)
{
	void *l = NULL;

	named("cublasLtMatrixLayoutCreate")(&l, type, (uint64_t)N, (uint64_t)N, (int64_t)N);
	return l;
}

/* Room for a number of any type, and its zeros. */
static char factor[16];

static any_fn *matmul, *desc_create, *desc_destroy, *gemm;
static void *layouts[100];

static int multiply(const struct row *r)
{
	void *desc, **l = layouts;
	int status;

	desc_create(&desc, r->compute, r->scale);
	status = matmul(lt, desc, factor, d[0], l[r->a], d[1], l[r->b], factor, d[2], l[r->c], d[3],
			l[r->d], NULL, NULL, (size_t)0, NULL);
	desc_destroy(desc);
	return status;
}

static int wrong, taken;

static void judge(const struct row *r, int status, int of_lt)
{
	int want = is_known(r, of_lt) ? 0 : 15;

	taken += !status;
	if (status != want && !wrong++)
		printf("# sums %d, factors %d, types %d, %d, %d, %d: %d\n", r->compute, r->scale,
		       r->a, r->b, r->c, r->d, status);
}

/* All there are: what is in the tables is computed, all else refused. */
static void test_all(void)
{
	static const int all[] = {F32, F64, F16, S8, C32, C64, S32, BF16, E4M3, E5M2, 8, 99};
	static const int computes[] = {64, 65, 68, 69, 70, 71, 72, 73, 74, 75, 77, 78, 66, 100};
	enum { T = sizeof(all) / sizeof(*all), C = sizeof(computes) / sizeof(*computes) };

	matmul = named("cublasLtMatmul");
	desc_create = named("cublasLtMatmulDescCreate");
	desc_destroy = named("cublasLtMatmulDescDestroy");
	gemm = named("cublasGemmEx");
	for (int i = 0; i < T; i++)
		layouts[all[i]] = layout(all[i]);
	for (int i = 0; i < C * T * T * T; i++) {
		int a = all[i / C % T], c = all[i / C / T % T], scale = all[i / C / T / T];
		struct row r = {computes[i % C], scale, a, a, c, c};

		judge(&r, multiply(&r), 1);
		if (!scale)
			judge(&r,
			      gemm(handle, 0, 0, N, N, N, factor, d[0], a, N, d[1], a, N, factor,
				   d[2], c, N, r.compute, -1),
			      0);
		for (int k = 0; is_float_8(a) && k < 2 * T; k++) {
			struct row f = {computes[i % C],     scale, a,
					k & 1 ? E4M3 : E5M2, c,     all[k / 2]};

			judge(&f, multiply(&f), 1);
		}
	}
	CHECK(taken > 80);
	CHECK_EQ(wrong, 0);
	for (int i = 0; i < T; i++)
		named("cublasLtMatrixLayoutDestroy")(layouts[all[i]]);
	/* Before CUDA 11 sums had a type. */
	CHECK_EQ(named("cublasGemmEx")(handle, 0, 0, N, N, N, factor, d[0], F16, N, d[1], F16, N,
				       factor, d[2], F16, N, F64, -1),
		 15);
	CHECK_EQ(named("cublasGemmEx")(handle, 0, 0, N, N, N, factor, d[0], F32, N, d[1], F32, N,
				       factor, d[2], F32, N, S32, -1),
		 15);
	CHECK_EQ(named("cublasGemmEx")(handle, 0, 0, N, N, N, factor, d[0], F16, N, d[1], F16, N,
				       factor, d[2], F32, N, F32, -1),
		 0);
	CHECK_EQ(named("cublasSgemmEx")(handle, 0, 0, N, N, N, factor, d[0], C32, N, d[1], C32, N,
					factor, d[2], C32, N),
		 15);
	CHECK_EQ(named("cublasCgemmEx")(handle, 0, 0, N, N, N, factor, d[0], F32, N, d[1], F32, N,
					factor, d[2], F32, N),
		 15);
	CHECK_EQ(named("cudaDeviceSynchronize")(), 0);
}

static int8_t bytes[N * N];

/* All elements are `value`. */
static void fill_bytes(void *to, int value)
{
	memset(bytes, value, sizeof(bytes));
	named("cudaMemcpy")(to, bytes, sizeof(bytes), 1);
}

/* Products of bytes: sums wrap, become bytes by an f32 factor, or by one for each row. */
static void test_integers(void)
{
	struct row small = {72, F32, S8, S8, S8, S8}, large = {72, S32, S8, S8, S32, S32};
	int32_t three = 3, words[N * N];
	float by = 0.3125f, zero = 0;
	void *desc, *l = layout(S8), *l32 = layout(S32), *ds = device_new(4 * N);
	int32_t rows_of[N];
	int status, mode = 3;

	/* 16 * 5 * 5 = 400; times 0.3125: 125. Times 0.325 it is 130, which is 127. */
	fill_bytes(d[0], 5);
	fill_bytes(d[1], 5);
	named("cublasLtMatmulDescCreate")(&desc, small.compute, small.scale);
	status = named("cublasLtMatmul")(lt, desc, &by, d[0], l, d[1], l, &zero, d[2], l, d[3], l,
					 NULL, NULL, (size_t)0, NULL);
	named("cudaMemcpy")(bytes, d[3], sizeof(bytes), 2);
	CHECK(!status && bytes[0] == 125 && bytes[N * N - 1] == 125);
	by = 0.325f;
	status = named("cublasLtMatmul")(lt, desc, &by, d[0], l, d[1], l, &zero, d[2], l, d[3], l,
					 NULL, NULL, (size_t)0, NULL);
	named("cudaMemcpy")(bytes, d[3], sizeof(bytes), 2);
	CHECK(!status && bytes[7] == 127);
	named("cublasLtMatmulDescDestroy")(desc);
	/* A factor of S32, then one for each row. */
	named("cublasLtMatmulDescCreate")(&desc, large.compute, large.scale);
	status = named("cublasLtMatmul")(lt, desc, &three, d[0], l, d[1], l, &zero, d[2], l32, d[3],
					 l32, NULL, NULL, (size_t)0, NULL);
	named("cudaMemcpy")(words, d[3], sizeof(words), 2);
	CHECK(!status && words[0] == 1200 && words[N * N - 1] == 1200);
	for (int i = 0; i < N; i++)
		rows_of[i] = i - 3;
	named("cudaMemcpy")(ds, rows_of, sizeof(rows_of), 1);
	named("cublasLtMatmulDescSetAttribute")(desc, 2, &mode, sizeof(mode));
	status = named("cublasLtMatmul")(lt, desc, ds, d[0], l, d[1], l, NULL, d[2], l32, d[3], l32,
					 NULL, NULL, (size_t)0, NULL);
	named("cudaMemcpy")(words, d[3], sizeof(words), 2);
	CHECK(!status && words[0] == -1200 && words[5] == 800 && words[N * N - 1] == 4800);
	/* An epilogue is none of these. */
	mode = 4;
	named("cublasLtMatmulDescSetAttribute")(desc, 7, &mode, sizeof(mode));
	CHECK_EQ(named("cublasLtMatmul")(lt, desc, ds, d[0], l, d[1], l, NULL, d[2], l32, d[3], l32,
					 NULL, NULL, (size_t)0, NULL),
		 15);
	named("cublasLtMatmulDescDestroy")(desc);
	named("cublasLtMatrixLayoutDestroy")(l);
	named("cublasLtMatrixLayoutDestroy")(l32);
	device_free(ds);
}

/* Three products of one call: strides of matrices, of the bias and of factors for each row. */
static void test_batches(void)
{
	enum { M = 5, K = 3, C = 4, BATCH = 3 };
	static number a[M * K * BATCH], b[K * C], bias[M * BATCH], by[M * BATCH],
		want[M * C * BATCH], got[M * C * BATCH];
	void *da, *db, *dd, *dbias, *dby, *desc, *l[3];
	int64_t strides[3] = {M * K, 0, M * C}, stride = M;
	int batch = BATCH, epilogue = 4, mode = 4, status;
	float zero = 0;

	fill_random(F32, a, M * K * BATCH);
	fill_random(F32, b, K * C);
	fill_random(F32, bias, M * BATCH);
	fill_random(F32, by, M * BATCH);
	for (int s = 0; s < BATCH; s++)
		for (int i = 0; i < M; i++)
			for (int j = 0; j < C; j++) {
				number sum = 0;

				for (int k = 0; k < K; k++)
					sum += a[s * M * K + i + k * M] * b[k + j * K];
				want[s * M * C + i + j * M] = by[s * M + i] * sum + bias[s * M + i];
			}
	da = upload(F32, a, M * K * BATCH);
	db = upload(F32, b, K * C);
	dd = device_new(4 * M * C * BATCH);
	dbias = upload(F32, bias, M * BATCH);
	dby = upload(F32, by, M * BATCH);
	named("cublasLtMatrixLayoutCreate")(&l[0], F32, (uint64_t)M, (uint64_t)K, (int64_t)M);
	named("cublasLtMatrixLayoutCreate")(&l[1], F32, (uint64_t)K, (uint64_t)C, (int64_t)K);
	named("cublasLtMatrixLayoutCreate")(&l[2], F32, (uint64_t)M, (uint64_t)C, (int64_t)M);
	for (int i = 0; i < 3; i++) {
		named("cublasLtMatrixLayoutSetAttribute")(l[i], 5, &batch, sizeof(batch));
		named("cublasLtMatrixLayoutSetAttribute")(l[i], 6, &strides[i], sizeof(stride));
	}
	named("cublasLtMatmulDescCreate")(&desc, 68, F32);
	named("cublasLtMatmulDescSetAttribute")(desc, 7, &epilogue, sizeof(epilogue));
	named("cublasLtMatmulDescSetAttribute")(desc, 8, &dbias, sizeof(dbias));
	named("cublasLtMatmulDescSetAttribute")(desc, 10, &stride, sizeof(stride));
	named("cublasLtMatmulDescSetAttribute")(desc, 2, &mode, sizeof(mode));
	named("cublasLtMatmulDescSetAttribute")(desc, 14, &stride, sizeof(stride));
	status = named("cublasLtMatmul")(lt, desc, dby, da, l[0], db, l[1], &zero, dd, l[2], dd,
					 l[2], NULL, NULL, (size_t)0, NULL);
	download(F32, dd, got, M * C * BATCH);
	CHECK_EQ(status, 0);
	CHECK(distance(got, want, M * C * BATCH) < 1e-5);
	/* All have to have as many. */
	batch = 2;
	named("cublasLtMatrixLayoutSetAttribute")(l[1], 5, &batch, sizeof(batch));
	CHECK_EQ(named("cublasLtMatmul")(lt, desc, dby, da, l[0], db, l[1], &zero, dd, l[2], dd,
					 l[2], NULL, NULL, (size_t)0, NULL),
		 7);
	for (int i = 0; i < 3; i++)
		named("cublasLtMatrixLayoutDestroy")(l[i]);
	named("cublasLtMatmulDescDestroy")(desc);
	device_free(da);
	device_free(db);
	device_free(dd);
	device_free(dbias);
	device_free(dby);
}

int main(void)
{
	CHECK_EQ(named("cublasCreate_v2")(&handle), 0);
	CHECK_EQ(named("cublasLtCreate")(&lt), 0);
	for (int i = 0; i < 4; i++)
		d[i] = device_new(16 * N * N);
	test_all();
	test_integers();
	test_batches();
	CHECK_EQ(named("cublasLtDestroy")(lt), 0);
	CHECK_EQ(named("cublasDestroy_v2")(handle), 0);
	return check_done();
}
