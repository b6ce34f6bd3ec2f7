/*
 * Levels 1 to 3 of BLAS, products of mixed types, batches, pointer modes,
 * streams and graphs, errors: against loops over complex numbers.
 */
#include "tests/hostlibs/device.h"

#define MOST 40

static void *handle;

/* Element (i, j) of op(m), m having `ld` rows in storage. */
static number op_at(const number *m, int ld, int op, int i, int j)
{
	number x = op == 1 || op == 2 ? m[j + i * ld] : m[i + j * ld];

	return op == 2 ? conj(x) : x;
}

/* c = alpha op(a) op(b) + beta c */
static void product(int m, int n, int k, number alpha, const number *a, int lda, int ta,
		    const number *b, int ldb, int tb, number beta, number *c, int ldc)
{
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			number sum = 0;

			for (int l = 0; l < k; l++)
				sum += op_at(a, lda, ta, i, l) * op_at(b, ldb, tb, l, j);
			c[i + j * ldc] = alpha * sum + beta * c[i + j * ldc];
		}
}

/* What one half of a matrix stands for: kind 's'ymmetric, 'h'ermitian, 't'riangular, 'u'nit. */
static void expand(const number *m, int n, int ld, int upper, char kind, number *out)
{
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++) {
			int stored = upper ? i <= j : i >= j;
			number x = stored ? m[i + j * ld] : m[j + i * ld];

			if (!stored)
				x = kind == 's' ? x : kind == 'h' ? conj(x) : 0;
			if (i == j && kind == 'h')
				x = creal(x);
			if (i == j && kind == 'u')
				x = 1;
			out[i + j * ld] = x;
		}
}

/* The half of c that is not to be written stays as it was. */
static void keep_half(number *c, const number *before, int n, int ld, int upper)
{
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			if (upper ? i > j : i < j)
				c[i + j * ld] = before[i + j * ld];
}

struct operands {
	number a[MOST * MOST], b[MOST * MOST], c[MOST * MOST], want[MOST * MOST], got[MOST * MOST];
	void *da, *db, *dc;
};

static struct operands x;

static void begin(int t, double diagonal)
{
	fill_random(types[t], x.a, MOST * MOST);
	fill_random(types[t], x.b, MOST * MOST);
	fill_random(types[t], x.c, MOST * MOST);
	for (int i = 0; i < MOST; i++)
		x.a[i + i * MOST] += diagonal;
	memcpy(x.want, x.c, sizeof(x.c));
	x.da = upload(types[t], x.a, MOST * MOST);
	x.db = upload(types[t], x.b, MOST * MOST);
	x.dc = upload(types[t], x.c, MOST * MOST);
}

static double end(int t, void *result)
{
	download(types[t], result, x.got, MOST * MOST);
	device_free(x.da);
	device_free(x.db);
	device_free(x.dc);
	return distance(x.got, x.want, MOST * MOST);
}

/* Factors of a type, as the functions take them. */
static char alpha_bytes[16], beta_bytes[16];
static number alpha, beta;

static void factors(int t, number a, number b)
{
	alpha = t < 2 ? creal(a) : a;
	beta = t < 2 ? creal(b) : b;
	put(types[t], alpha_bytes, alpha);
	put(types[t], beta_bytes, beta);
}

static void verdict(int t, double worst, int status, const char *what)
{
	char text[96];

	snprintf(text, sizeof(text), "%c%s: status %d, distance %g", letters[t], what, status,
		 worst);
	check_that(!status && worst <= bounds[t], text, __FILE__, __LINE__);
}

static void test_gemm(int t)
{
	double worst = 0;
	int status = 0;

	factors(t, 0.5 + 0.25 * I, -1.5 + I);
	for (int ops = 0; ops < 9; ops++) {
		int m = 17, n = 23, k = 31, ta = ops % 3, tb = ops / 3;

		begin(t, 0);
		status |= blas(t, "gemm_v2")(handle, ta, tb, m, n, k, alpha_bytes, x.da, MOST, x.db,
					     MOST, beta_bytes, x.dc, MOST);
		product(m, n, k, alpha, x.a, MOST, ta, x.b, MOST, tb, beta, x.want, MOST);
		worst = fmax(worst, end(t, x.dc));
	}
	verdict(t, worst, status, "gemm");
}

static void test_symm(int t, char kind, const char *name)
{
	static number full[MOST * MOST];
	double worst = 0;
	int status = 0;

	factors(t, 2 - I, 0.5);
	for (int way = 0; way < 4; way++) {
		int side = way & 1, upper = way >> 1, m = 13, n = 19, of = side ? n : m;

		begin(t, 0);
		expand(x.a, of, MOST, upper, kind, full);
		status |= blas(t, name)(handle, side, upper, m, n, alpha_bytes, x.da, MOST, x.db,
					MOST, beta_bytes, x.dc, MOST);
		if (side)
			product(m, n, n, alpha, x.b, MOST, 0, full, MOST, 0, beta, x.want, MOST);
		else
			product(m, n, m, alpha, full, MOST, 0, x.b, MOST, 0, beta, x.want, MOST);
		worst = fmax(worst, end(t, x.dc));
	}
	verdict(t, worst, status, name);
}

/* two: with B, the other way round as well; extended: with B. */
static void test_syrk(int t, int hermitian, int two, int extended, const char *name)
{
	double worst = 0;
	int status = 0, real = t < 2 ? t : t - 2, back = hermitian ? 2 : 1;

	factors(t, hermitian && !two && !extended ? 1.5 : 1.5 + I, hermitian ? 0.5 : 0.5 - I);
	if (hermitian)
		put(types[real], beta_bytes, beta);
	if (hermitian && !two && !extended)
		put(types[real], alpha_bytes, alpha);
	for (int way = 0; way < 4; way++) {
		int upper = way & 1, op = way >> 1 ? back : 0, n = 21, k = 9;
		int first = op ? back : 0, second = op ? 0 : back;
		const number *b = two || extended ? x.b : x.a;

		begin(t, 0);
		if (hermitian)
			for (int i = 0; i < MOST; i++)
				x.want[i + i * MOST] = creal(x.want[i + i * MOST]);
		product(n, n, k, alpha, x.a, MOST, first, b, MOST, second, beta, x.want, MOST);
		if (two)
			product(n, n, k, hermitian ? conj(alpha) : alpha, x.b, MOST, first, x.a,
				MOST, second, 1, x.want, MOST);
		if (hermitian && extended)
			for (int i = 0; i < n; i++)
				x.want[i + i * MOST] = creal(x.want[i + i * MOST]);
		keep_half(x.want, x.c, n, MOST, upper);
		for (int i = n; i < MOST; i++)
			x.want[i + i * MOST] = x.c[i + i * MOST];
		if (two || extended)
			status |= blas(t, name)(handle, upper, op, n, k, alpha_bytes, x.da, MOST,
						x.db, MOST, beta_bytes, x.dc, MOST);
		else
			status |= blas(t, name)(handle, upper, op, n, k, alpha_bytes, x.da, MOST,
						beta_bytes, x.dc, MOST);
		worst = fmax(worst, end(t, x.dc));
	}
	verdict(t, worst, status, name);
}

/* B = alpha op(A) B in place, and the system that undoes it. n beyond one step of the recursion. */
static void test_triangles(int t)
{
	enum { N = 150, RIGHT = 3 };
	static number a[N * N], full[N * N], b[N * N], want[N * N], got[N * N];
	double product_worst = 0, solve_worst = 0;
	int status = 0;

	for (int way = 0; way < 24; way++) {
		int side = way & 1, upper = way >> 1 & 1, unit = way >> 2 & 1, op = way / 8;
		int m = side ? RIGHT : N, n = side ? N : RIGHT;
		void *da, *db;

		fill_random(types[t], a, N * N);
		for (int i = 0; i < N * N; i++)
			a[i] = i % (N + 1) ? a[i] / N : 3 + a[i];
		fill_random(types[t], b, N * N);
		memcpy(want, b, sizeof(b));
		expand(a, N, N, upper, unit ? 'u' : 't', full);
		factors(t, 2, 0.5);
		if (side)
			product(m, n, n, alpha, b, N, 0, full, N, op, 0, want, N);
		else
			product(m, n, m, alpha, full, N, op, b, N, 0, 0, want, N);
		da = upload(types[t], a, N * N);
		db = upload(types[t], b, N * N);
		status |= blas(t, "trmm_v2")(handle, side, upper, op, unit, m, n, alpha_bytes, da,
					     N, db, N, db, N);
		download(types[t], db, got, N * N);
		product_worst = fmax(product_worst, distance(got, want, N * N));
		status |= blas(t, "trsm_v2")(handle, side, upper, op, unit, m, n, beta_bytes, da, N,
					     db, N);
		download(types[t], db, got, N * N);
		solve_worst = fmax(solve_worst, distance(got, b, N * N));
		device_free(da);
		device_free(db);
	}
	verdict(t, product_worst, status, "trmm");
	verdict(t, solve_worst, status, "trsm");
}

static void test_vectors(int t)
{
	number v[MOST], w[MOST];
	double worst = 0;
	int status = 0, n = 11, m = 7;

	/* y backwards, x with gaps */
	factors(t, 0.5 + I, 2);
	for (int op = 0; op < 3; op++) {
		int rows = op ? n : m, columns = op ? m : n;

		begin(t, 0);
		for (int i = 0; i < MOST; i++) {
			v[i] = i < columns ? x.b[2 * i] : 0;
			w[i] = i < rows ? x.c[rows - 1 - i] : 0;
		}
		product(rows, 1, columns, alpha, x.a, MOST, op, v, MOST, 0, beta, w, MOST);
		for (int i = 0; i < rows; i++)
			x.want[rows - 1 - i] = w[i];
		status |= blas(t, "gemv_v2")(handle, op, m, n, alpha_bytes, x.da, MOST, x.db, 2,
					     beta_bytes, x.dc, -1);
		worst = fmax(worst, end(t, x.dc));
	}
	verdict(t, worst, status, "gemv");
	begin(t, 0);
	product(m, n, 1, alpha, x.a, MOST, 0, x.b, MOST, t < 2 ? 1 : 2, 1, x.want, MOST);
	status = blas(t, t < 2 ? "ger_v2" : "gerc_v2")(handle, m, n, alpha_bytes, x.da, 1, x.db, 1,
						       x.dc, MOST);
	verdict(t, end(t, x.dc), status, t < 2 ? "ger" : "gerc");
}

static void test_level1(int t)
{
	number sum = 0, dot, most;
	double norm = 0, got_norm, bound = bounds[t] * 4;
	char result[16] = {0};
	int status, index = 0, real = t < 2 ? t : t - 2, n = 29;
	static const char *const norms[] = {"cublasSnrm2_v2", "cublasDnrm2_v2", "cublasScnrm2_v2",
					    "cublasDznrm2_v2"};
	static const char *const indices[] = {"cublasIsamax_v2", "cublasIdamax_v2",
					      "cublasIcamax_v2", "cublasIzamax_v2"};

	factors(t, 0.5 + I, 0);
	begin(t, 0);
	most = 0;
	for (int i = 0; i < n; i++) {
		sum += conj(x.a[i]) * x.b[2 * i];
		norm += creal(x.a[i] * conj(x.a[i]));
		x.want[i] += alpha * x.a[i];
		if (fabs(creal(x.a[i])) + fabs(cimag(x.a[i])) > creal(most)) {
			most = fabs(creal(x.a[i])) + fabs(cimag(x.a[i]));
			index = i + 1;
		}
	}
	status = blas(t, t < 2 ? "dot_v2" : "dotc_v2")(handle, n, x.da, 1, x.db, 2, result);
	dot = get(types[t], result);
	status |= named(norms[t])(handle, n, x.da, 1, result);
	got_norm = creal(get(types[real], result));
	CHECK(!status && cabs(dot - sum) < bound && fabs(got_norm - sqrt(norm)) < bound);
	memset(result, 0, sizeof(result));
	status = named(indices[t])(handle, n, x.da, 1, result);
	CHECK(!status && creal(get(S32, result)) == index);
	status = blas(t, "axpy_v2")(handle, n, alpha_bytes, x.da, 1, x.dc, 1);
	verdict(t, end(t, x.dc), status, "axpy");
}

/* ---- what is not the same for all types ---- */

/* Small integers, which are exact in all types; beyond the size of a block. */
static void test_types(void)
{
	enum { M = 520, N = 5, K = 530 };
	static const int rows[][4] = {{F16, F16, 64, F16},   {F16, F32, 68, F32},
				      {BF16, BF16, 68, F32}, {BF16, F32, 68, F32},
				      {S8, S32, 72, S32},    {S8, F32, 68, F32},
				      {F32, F32, 77, F32},   {C32, C32, 74, C32}};
	static number a[M * K], b[K * N], c[M * N], want[M * N];

	for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
		const int *row = rows[r];
		char one[16], two[16], text[64];
		void *da, *db, *dc;
		int status;

		for (int i = 0; i < M * K; i++)
			a[i] = i % 7 % 3 - 1;
		for (int i = 0; i < K * N; i++)
			b[i] = i % 5 - 2;
		for (int i = 0; i < M * N; i++)
			c[i] = want[i] = i % 11;
		put(row[3], one, 1);
		put(row[3], two, 2);
		product(M, N, K, 1, a, M, 0, b, K, 0, 2, want, M);
		da = upload(row[0], a, M * K);
		db = upload(row[0], b, K * N);
		dc = upload(row[1], c, M * N);
		status = named("cublasGemmEx")(handle, 0, 0, M, N, K, one, da, row[0], M, db,
					       row[0], K, two, dc, row[1], M, row[2], -1);
		download(row[1], dc, c, M * N);
		snprintf(text, sizeof(text), "GemmEx of types %d, %d, %d: status %d, %g", row[0],
			 row[1], row[2], status, distance(c, want, M * N));
		check_that(!status && distance(c, want, M * N) == 0, text, __FILE__, __LINE__);
		device_free(da);
		device_free(db);
		device_free(dc);
	}
}

static void test_batches(void)
{
	enum { N = 6, BATCH = 3 };
	number a[N * N * BATCH], c[N * N * BATCH], want[N * N * BATCH] = {0};
	double one = 1, zero = 0;
	void *da, *dc, *list, *at[2][BATCH];
	int status;

	fill_random(F64, a, N * N * BATCH);
	for (int i = 0; i < BATCH; i++)
		product(N, N, N, 1, a + i * N * N, N, 0, a + i * N * N, N, 1, 0, want + i * N * N,
			N);
	da = upload(F64, a, N * N * BATCH);
	dc = device_new(sizeof(double) * N * N * BATCH);
	for (int i = 0; i < BATCH; i++) {
		at[0][i] = (char *)da + i * N * N * 8;
		at[1][i] = (char *)dc + i * N * N * 8;
	}
	status = named("cublasDgemmStridedBatched")(handle, 0, 1, N, N, N, &one, da, N,
						    (long long)N * N, da, N, (long long)N * N,
						    &zero, dc, N, (long long)N * N, BATCH);
	download(F64, dc, c, N * N * BATCH);
	CHECK(!status && distance(c, want, N * N * BATCH) < 1e-12);
	named("cudaMemset")(dc, 255, sizeof(double) * N * N * BATCH);
	list = device_new(sizeof(at));
	named("cudaMemcpy")(list, at, sizeof(at), (int)1);
	status = named("cublasDgemmBatched")(handle, 0, 1, N, N, N, &one, list, N, list, N, &zero,
					     (char *)list + sizeof(at[0]), N, BATCH);
	download(F64, dc, c, N * N * BATCH);
	/* The NaNs that were there do not count with a factor of zero. */
	CHECK(!status && distance(c, want, N * N * BATCH) < 1e-12);
	device_free(da);
	device_free(dc);
	device_free(list);
}

/* Batches of systems: A x = b and its transposed one, the inverse, with factors and without. */
static void test_systems(int t)
{
	enum { N = 7, R = 3, BATCH = 2, ALL = N * N * BATCH };
	number a[ALL], b[ALL], got[ALL], want[N * N];
	void *da, *db, *dc, *list, *at[3][BATCH], *pivots = device_new(N * BATCH * 4);
	void *info = device_new(BATCH * 4);
	double worst = 0;
	int status = 0, host_info = 7, op = t < 2 ? 1 : 2;

	fill_random(types[t], a, ALL);
	fill_random(types[t], b, ALL);
	for (int way = 0; way < 4; way++) {
		da = upload(types[t], a, ALL);
		db = upload(types[t], b, ALL);
		dc = upload(types[t], b, ALL);
		for (int i = 0; i < BATCH; i++) {
			at[0][i] = (char *)da + i * N * N * bytes_of(types[t]);
			at[1][i] = (char *)db + i * N * N * bytes_of(types[t]);
			at[2][i] = (char *)dc + i * N * N * bytes_of(types[t]);
		}
		list = device_new(sizeof(at));
		named("cudaMemcpy")(list, at, sizeof(at), 1);
		if (way < 3)
			status |= blas(t, "getrfBatched")(handle, N, list, N, pivots, info, BATCH);
		if (way < 2)
			status |= blas(t, "getrsBatched")(handle, way ? op : 0, N, R, list, N,
							  pivots, (char *)list + sizeof(at[0]), N,
							  &host_info, BATCH);
		else if (way == 2)
			status |= blas(t, "getriBatched")(handle, N, list, N, pivots,
							  (char *)list + sizeof(at[0]), N, info,
							  BATCH);
		else
			status |= blas(t, "matinvBatched")(
				handle, N, list, N, (char *)list + sizeof(at[0]), N, info, BATCH);
		download(types[t], db, got, ALL);
		for (int i = 0; i < BATCH; i++) {
			int columns = way < 2 ? R : N, from = i * N * N;

			product(N, columns, N, 1, a + from, N, way == 1 ? op : 0, got + from, N, 0,
				0, want, N);
			for (int j = 0; j < N * columns; j++)
				worst = fmax(worst, cabs(want[j] - (way < 2       ? b[from + j]
								    : j % (N + 1) ? 0
										  : 1)));
		}
		device_free(da);
		device_free(db);
		device_free(dc);
		device_free(list);
	}
	status |= host_info;
	verdict(t, worst / 50, status, "getrf, getrs, getri, matinv");
	device_free(pivots);
	device_free(info);
}

static void test_sums(int t)
{
	double worst;
	int status, m = 9, n = 5;

	factors(t, 2 + I, -0.5);
	begin(t, 0);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++)
			x.want[i + j * MOST] =
				alpha * conj(x.a[j + i * MOST]) + beta * x.b[i + j * MOST];
	status = blas(t, "geam")(handle, 2, 0, m, n, alpha_bytes, x.da, MOST, beta_bytes, x.db,
				 MOST, x.dc, MOST);
	worst = end(t, x.dc);
	begin(t, 0);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++)
			x.want[i + j * MOST] = x.a[i + j * MOST] * x.b[2 * (n - 1 - j)];
	status |= blas(t, "dgmm")(handle, 1, m, n, x.da, MOST, x.db, -2, x.dc, MOST);
	worst = fmax(worst, end(t, x.dc));
	begin(t, 0);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++)
			x.want[i + j * MOST] = x.a[i + j * MOST] * x.b[0];
	status |= blas(t, "dgmm")(handle, 0, m, n, x.da, MOST, x.db, 0, x.dc, MOST);
	verdict(t, fmax(worst, end(t, x.dc)), status, "geam, dgmm");
}

/* In a graph, with factors on the device that change between two runs. */
static void test_graph(void)
{
	number a[4] = {1, 2, 3, 4}, c[4] = {0};
	double factors_now[2] = {1, 0};
	void *da = upload(F64, a, 4), *dc = upload(F64, c, 4), *df = device_new(16);
	void *stream, *graph = NULL, *run = NULL, *other = NULL;
	double graph_result;
	int status;

	named("cudaMemcpy")(df, factors_now, sizeof(factors_now), 1);
	named("cudaStreamCreate")(&stream);
	named("cublasSetStream_v2")(handle, stream);
	named("cublasSetPointerMode_v2")(handle, 1);
	named("cudaStreamBeginCapture")(stream, 0);
	status = named("cublasDgemm_v2")(handle, 0, 0, 2, 2, 2, df, da, 2, da, 2, (char *)df + 8,
					 dc, 2);
	status |= named("cudaStreamEndCapture")(stream, &graph);
	CHECK_EQ(status, 0);
	download(F64, dc, c, 4);
	CHECK(creal(c[0]) == 0);
	CHECK_EQ(named("cudaGraphInstantiate")(&run, graph, 0ull), 0);
	CHECK_EQ(named("cudaGraphLaunch")(run, stream), 0);
	named("cudaStreamSynchronize")(stream);
	download(F64, dc, c, 4);
	CHECK(creal(c[0]) == 7 && creal(c[3]) == 22);
	factors_now[0] = 10;
	named("cudaMemcpy")(df, factors_now, sizeof(factors_now), 1);
	named("cudaGraphLaunch")(run, stream);
	named("cudaStreamSynchronize")(stream);
	download(F64, dc, c, 4);
	CHECK(creal(c[0]) == 70);
	named("cublasSetPointerMode_v2")(handle, 0);
	/* A result for the host is none of a graph's. */
	graph_result = 0;
	named("cudaStreamBeginCapture")(stream, 0);
	CHECK(named("cublasDasum_v2")(handle, 4, da, 1, &graph_result) != 0);
	named("cudaStreamEndCapture")(stream, &other);
	CHECK(graph_result == 0);
	named("cublasSetStream_v2")(handle, NULL);
	named("cudaGraphExecDestroy")(run);
	named("cudaGraphDestroy")(graph);
	named("cudaStreamDestroy")(stream);
	device_free(da);
	device_free(dc);
	device_free(df);
}

static void test_errors(void)
{
	float one = 1, zero = 0, none[16];
	double factor = 1;
	long long most = (1ll << 61) + 1;
	int status;
	void *d = device_new(4096), *h = handle;
	any_fn *gemm = named("cublasSgemm_v2"), *ex = named("cublasGemmEx");

	CHECK_EQ(gemm(NULL, 0, 0, 1, 1, 1, &one, d, 1, d, 1, &one, d, 1), 1);
	CHECK_EQ(gemm(h, 0, 0, -1, 1, 1, &one, d, 1, d, 1, &one, d, 1), 7);
	CHECK_EQ(gemm(h, 0, 0, 4, 4, 4, &one, d, 3, d, 4, &one, d, 4), 7);
	CHECK_EQ(gemm(h, 7, 0, 4, 4, 4, &one, d, 4, d, 4, &one, d, 4), 7);
	CHECK_EQ(gemm(h, 0, 0, 4, 4, 4, NULL, d, 4, d, 4, &one, d, 4), 7);
	CHECK_EQ(gemm(h, 0, 0, 0, 4, 4, &one, d, 4, d, 4, &one, d, 4), 0);
	CHECK_EQ(ex(h, 0, 0, 4, 4, 4, &one, d, S8, 4, d, S8, 4, &one, d, F16, 4, 68, -1), 15);
	CHECK_EQ(ex(h, 0, 0, 4, 4, 4, &one, d, 99, 4, d, 99, 4, &one, d, 99, 4, 68, -1), 15);
	CHECK_EQ(named("cublasSgemv_v2")(h, 0, 4, 4, &one, d, 4, d, 0, &one, d, 1), 7);
	CHECK_EQ(named("cudaDeviceSynchronize")(), 0);
	/* Zero times what is no number is zero; rows that are too many for any device. */
	memset(none, 0xff, sizeof(none));
	named("cudaMemcpy")(d, none, sizeof(none), 1);
	CHECK_EQ(named("cublasStrsm_v2")(h, 0, 0, 0, 0, 4, 4, &zero, d, 4, (char *)d + 1024, 4), 0);
	named("cudaMemcpy")(none, (char *)d + 1024, sizeof(none), 2);
	CHECK(none[0] == 0 && none[15] == 0);
	CHECK_EQ(named("cublasDgemv_v2_64")(h, 0, most, 1ll, &factor, d, most, d, 1ll, &factor, d,
					    1ll),
		 7);
	/* What is no memory of the device is its fault, as in a kernel. */
	CHECK_EQ(gemm(h, 0, 0, 64, 64, 64, &one, d, 64, d, 64, &one, d, 64), 0);
	CHECK_EQ(named("cudaDeviceSynchronize")(), 700);
	CHECK_EQ(gemm(h, 0, 0, 4, 4, 4, &one, d, 4, d, 4, &one, d, 4), 13);
}

int main(void)
{
	CHECK_EQ(named("cublasCreate_v2")(&handle), 0);
	for (int t = 0; t < 4; t++) {
		test_gemm(t);
		test_symm(t, 's', "symm_v2");
		test_syrk(t, 0, 0, 0, "syrk_v2");
		test_syrk(t, 0, 1, 0, "syr2k_v2");
		test_syrk(t, 0, 0, 1, "syrkx");
		test_triangles(t);
		test_vectors(t);
		test_level1(t);
		test_systems(t);
		test_sums(t);
	}
	for (int t = 2; t < 4; t++) {
		test_symm(t, 'h', "hemm_v2");
		test_syrk(t, 1, 0, 0, "herk_v2");
		test_syrk(t, 1, 1, 0, "her2k_v2");
		test_syrk(t, 1, 0, 1, "herkx");
	}
	test_types();
	test_batches();
	test_graph();
	test_errors();
	CHECK_EQ(named("cublasDestroy_v2")(handle), 0);
	return check_done();
}
