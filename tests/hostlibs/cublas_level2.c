/*
 * Level 2 of BLAS with matrices of which one half is stored, in both widths of integers: against
 * loops over complex numbers. What 64-bit sizes may be.
 */
#include "tests/hostlibs/device.h"

enum { N = 37, LD = 40, ALL = LD * LD };

static void *handle;
static number a[ALL], full[ALL], v[2 * N], w[3 * N], want[ALL], got[ALL], before[ALL];
static number alpha, beta;
static char alpha_bytes[16], beta_bytes[16];

static void factors(int t, number x, number y)
{
	alpha = t < 2 ? creal(x) : x;
	beta = t < 2 ? creal(y) : y;
	put(types[t], alpha_bytes, alpha);
	put(types[t], beta_bytes, beta);
}

static void verdict(int t, double off, int status, const char *what)
{
	char text[96];

	snprintf(text, sizeof(text), "%c%s: status %d, off by %g", letters[t], what, status, off);
	check_that(!status && off <= bounds[t], text, __FILE__, __LINE__);
}

/* What the half stands for: 's'ymmetric, 'h'ermitian, 't'riangular, 'u'nit. */
static void expand(int upper, char kind)
{
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++) {
			int stored = upper ? i <= j : i >= j;
			number x = stored ? a[i + j * LD] : a[j + i * LD];

			if (!stored)
				x = kind == 's' ? x : kind == 'h' ? conj(x) : 0;
			if (i == j)
				x = kind == 'h' ? creal(x) : kind == 'u' ? 1 : x;
			full[i + j * LD] = x;
		}
}

/* The i-th element of a vector of n whose steps are `step`. */
static int at(int i, int step)
{
	return step < 0 ? (i - N + 1) * step : i * step;
}

static number op_of(int op, int i, int j)
{
	number x = op ? full[j + i * LD] : full[i + j * LD];

	return op == 2 ? conj(x) : x;
}

/* ?symv and ?hemv: y = alpha A x + beta y */
static void test_symv(int t, char kind, int wide)
{
	char name[32];
	double worst = 0;
	int status = 0;

	snprintf(name, sizeof(name), "%s%s", kind == 's' ? "symv_v2" : "hemv_v2",
		 wide ? "_64" : "");
	factors(t, 0.5 + I, 2 - I);
	for (int way = 0; way < 8; way++) {
		int upper = way & 1, sx = way & 2 ? 2 : -1, sy = way & 4 ? -3 : 1;
		void *da, *dx, *dy;

		fill_random(types[t], a, ALL);
		fill_random(types[t], v, 2 * N);
		fill_random(types[t], w, 3 * N);
		expand(upper, kind);
		memcpy(want, w, sizeof(w));
		for (int i = 0; i < N; i++) {
			number sum = 0;

			for (int j = 0; j < N; j++)
				sum += full[i + j * LD] * v[at(j, sx)];
			want[at(i, sy)] = alpha * sum + beta * w[at(i, sy)];
		}
		da = upload(types[t], a, ALL);
		dx = upload(types[t], v, 2 * N);
		dy = upload(types[t], w, 3 * N);
		if (wide)
			status |= blas(t, name)(handle, upper, (int64_t)N, alpha_bytes, da,
						(int64_t)LD, dx, (int64_t)sx, beta_bytes, dy,
						(int64_t)sy);
		else
			status |= blas(t, name)(handle, upper, N, alpha_bytes, da, LD, dx, sx,
						beta_bytes, dy, sy);
		download(types[t], dy, got, 3 * N);
		worst = fmax(worst, distance(got, want, 3 * N));
		device_free(da);
		device_free(dx);
		device_free(dy);
	}
	verdict(t, worst, status, name);
}

/* ?trmv: x = op(A) x, and ?trsv, which undoes it. */
static void test_trmv(int t, int wide)
{
	double product = 0, solution = 0;
	int status = 0, solve_status = 0;

	for (int way = 0; way < 24; way++) {
		int upper = way & 1, unit = way >> 1 & 1, s = way & 4 ? -2 : 1, op = way / 8;
		void *da, *dx;

		fill_random(types[t], a, ALL);
		for (int i = 0; i < ALL; i++)
			a[i] = i % (LD + 1) ? a[i] / N : 3 + a[i];
		fill_random(types[t], v, 2 * N);
		expand(upper, unit ? 'u' : 't');
		memcpy(want, v, sizeof(v));
		for (int i = 0; i < N; i++) {
			want[at(i, s)] = 0;
			for (int j = 0; j < N; j++)
				want[at(i, s)] += op_of(op, i, j) * v[at(j, s)];
		}
		da = upload(types[t], a, ALL);
		dx = upload(types[t], v, 2 * N);
		status |= wide ? blas(t, "trmv_v2_64")(handle, upper, op, unit, (int64_t)N, da,
						       (int64_t)LD, dx, (int64_t)s)
			       : blas(t, "trmv_v2")(handle, upper, op, unit, N, da, LD, dx, s);
		download(types[t], dx, got, 2 * N);
		product = fmax(product, distance(got, want, 2 * N));
		solve_status |=
			wide ? blas(t, "trsv_v2_64")(handle, upper, op, unit, (int64_t)N, da,
						     (int64_t)LD, dx, (int64_t)s)
			     : blas(t, "trsv_v2")(handle, upper, op, unit, N, da, LD, dx, s);
		download(types[t], dx, got, 2 * N);
		solution = fmax(solution, distance(got, v, 2 * N));
		device_free(da);
		device_free(dx);
	}
	verdict(t, product, status, wide ? "trmv_64" : "trmv");
	verdict(t, solution, solve_status, wide ? "trsv_64" : "trsv");
}

/* One half of A += alpha x x', or alpha x y' + alpha' y x'; hermitian: with conjugated ones. */
static void test_syr(int t, int hermitian, int two)
{
	static const char *const names[] = {"syr_v2", "syr2_v2", "her_v2", "her2_v2"};
	const char *name = names[2 * hermitian + two];
	double worst = 0;
	int status = 0;

	factors(t, hermitian && !two ? 0.5 : 0.5 + I, 0);
	if (hermitian && !two)
		put(types[t - 2], alpha_bytes, alpha);
	for (int upper = 0; upper < 2; upper++) {
		void *da, *dx, *dy;

		fill_random(types[t], before, ALL);
		fill_random(types[t], v, 2 * N);
		fill_random(types[t], w, 3 * N);
		memcpy(want, before, sizeof(want));
		for (int j = 0; j < N; j++)
			for (int i = upper ? 0 : j; i < (upper ? j + 1 : N); i++) {
				number xi = v[at(i, 2)], xj = v[at(j, 2)],
				       yi = two ? w[at(i, -1)] : xi;
				number yj = two ? w[at(j, -1)] : xj, back = alpha;

				if (hermitian) {
					yj = conj(yj);
					xj = conj(xj);
					back = conj(alpha);
				}
				want[i + j * LD] += alpha * xi * yj + (two ? back * yi * xj : 0);
				if (hermitian && i == j)
					want[i + j * LD] = creal(want[i + j * LD]);
			}
		da = upload(types[t], before, ALL);
		dx = upload(types[t], v, 2 * N);
		dy = upload(types[t], w, 3 * N);
		status |= two ? blas(t, name)(handle, upper, N, alpha_bytes, dx, 2, dy, -1, da, LD)
			      : blas(t, name)(handle, upper, N, alpha_bytes, dx, 2, da, LD);
		download(types[t], da, got, ALL);
		worst = fmax(worst, distance(got, want, ALL));
		device_free(da);
		device_free(dx);
		device_free(dy);
	}
	verdict(t, worst, status, name);
}

/* Batches of ?gemv, as arrays and with strides. a, f, y: types of A and x, of factors, of y. */
static void test_gemv(const char *letters_of, int ta, int tf, int ty, double bound)
{
	enum { M = 6, K = 9, BATCH = 3, X = 2 * K, Y = K };
	number ma[M * K * BATCH], mx[X * BATCH], my[Y * BATCH];
	char name[48];
	double worst = 0;
	int status = 0, complex_type = ty == C32 || ty == C64;

	alpha = complex_type ? 0.5 + I : 0.5;
	beta = complex_type ? 2 - I : 2;
	put(tf, alpha_bytes, alpha);
	put(tf, beta_bytes, beta);
	for (int way = 0; way < 8; way++) {
		int op = way & 1 ? (complex_type ? 2 : 1) : 0, arrays = way >> 1 & 1;
		int wide = way >> 2, rows = op ? K : M, columns = op ? M : K;
		void *da, *dx, *dy, *list, *ats[3][BATCH];

		fill_random(ty, ma, M * K * BATCH);
		fill_random(ty, mx, X * BATCH);
		fill_random(ty, my, Y * BATCH);
		da = upload(ta, ma, M * K * BATCH);
		dx = upload(ta, mx, X * BATCH);
		dy = upload(ty, my, Y * BATCH);
		download(ta, da, ma, M * K * BATCH);
		download(ta, dx, mx, X * BATCH);
		download(ty, dy, my, Y * BATCH);
		for (int b = 0; b < BATCH; b++) {
			ats[0][b] = (char *)da + b * M * K * bytes_of(ta);
			ats[1][b] = (char *)dx + b * X * bytes_of(ta);
			ats[2][b] = (char *)dy + b * Y * bytes_of(ty);
			for (int i = 0; i < rows; i++) {
				number sum = 0;

				for (int j = 0; j < columns; j++) {
					number e = ma[b * M * K + (op ? j + i * M : i + j * M)];

					sum += (op == 2 ? conj(e) : e) * mx[b * X + 2 * j];
				}
				/* y goes backwards. */
				my[b * Y + rows - 1 - i] =
					alpha * sum + beta * my[b * Y + rows - 1 - i];
			}
		}
		list = device_new(sizeof(ats));
		named("cudaMemcpy")(list, ats, sizeof(ats), 1);
		snprintf(name, sizeof(name), "cublas%sgemv%sBatched%s", letters_of,
			 arrays ? "" : "Strided", wide ? "_64" : "");
		if (arrays && wide)
			status |= named(name)(handle, op, (int64_t)M, (int64_t)K, alpha_bytes, list,
					      (int64_t)M, (char *)list + sizeof(ats[0]), (int64_t)2,
					      beta_bytes, (char *)list + 2 * sizeof(ats[0]),
					      (int64_t)-1, (int64_t)BATCH);
		else if (arrays)
			status |= named(name)(handle, op, M, K, alpha_bytes, list, M,
					      (char *)list + sizeof(ats[0]), 2, beta_bytes,
					      (char *)list + 2 * sizeof(ats[0]), -1, BATCH);
		else if (wide)
			status |= named(name)(handle, op, (int64_t)M, (int64_t)K, alpha_bytes, da,
					      (int64_t)M, (int64_t)(M * K), dx, (int64_t)2,
					      (int64_t)X, beta_bytes, dy, (int64_t)-1, (int64_t)Y,
					      (int64_t)BATCH);
		else
			status |= named(name)(handle, op, M, K, alpha_bytes, da, M,
					      (int64_t)(M * K), dx, 2, (int64_t)X, beta_bytes, dy,
					      -1, (int64_t)Y, BATCH);
		download(ty, dy, got, Y * BATCH);
		worst = fmax(worst, distance(got, my, Y * BATCH));
		device_free(da);
		device_free(dx);
		device_free(dy);
		device_free(list);
	}
	snprintf(name, sizeof(name), "%sgemv of batches: status %d, off by %g", letters_of, status,
		 worst);
	check_that(!status && worst <= bound, name, __FILE__, __LINE__);
}

/* Sizes of more than 32 bits are what they are: too large for the memory, or for any device. */
static void test_sizes(void)
{
	double one = 1;
	float ones[4] = {1, 1, 1, 1};
	int64_t beyond = ((int64_t)1 << 32) + 1, most = INT64_MIN, index = 7;
	void *d = device_new(256);

	named("cudaMemcpy")(d, ones, sizeof(ones), 1);
	CHECK_EQ(named("cublasDscal_v2_64")(handle, most, &one, d, (int64_t)1), 7);
	CHECK_EQ(named("cublasDscal_v2_64")(handle, (int64_t)4, &one, d, (int64_t)1 << 61), 7);
	CHECK_EQ(named("cublasDaxpy_v2_64")(handle, (int64_t)4, &one, d, (int64_t)1, d, most), 7);
	CHECK_EQ(named("cublasDdgmm_64")(handle, 0, (int64_t)2, (int64_t)2, d, (int64_t)2, d, most,
					 d, (int64_t)2),
		 7);
	CHECK_EQ(named("cublasDgemv_v2_64")(handle, 0, (int64_t)2, (int64_t)2, &one, d, (int64_t)2,
					    d, most, &one, d, (int64_t)1),
		 7);
	/* Cut to 32 bits these would be a matrix of one element. */
	CHECK_EQ(named("cublasDgemm_v2_64")(handle, 0, 0, beyond, (int64_t)1, (int64_t)1, &one, d,
					    (int64_t)1, d, (int64_t)1, &one, d, (int64_t)1),
		 7);
	CHECK_EQ(named("cublasIsamax_v2_64")(handle, (int64_t)4, d, (int64_t)1, &index), 0);
	CHECK(index == 1);
	CHECK_EQ(named("cudaDeviceSynchronize")(), 0);
	CHECK_EQ(named("cublasDgemm_v2_64")(handle, 0, 0, beyond, (int64_t)1, (int64_t)1, &one, d,
					    beyond, d, (int64_t)1, &one, d, beyond),
		 0);
	CHECK_EQ(named("cudaDeviceSynchronize")(), 700);
}

int main(void)
{
	CHECK_EQ(named("cublasCreate_v2")(&handle), 0);
	for (int t = 0; t < 4; t++) {
		for (int wide = 0; wide < 2; wide++) {
			test_symv(t, 's', wide);
			test_trmv(t, wide);
			if (t >= 2)
				test_symv(t, 'h', wide);
		}
		test_syr(t, 0, 0);
		test_syr(t, 0, 1);
		if (t >= 2) {
			test_syr(t, 1, 0);
			test_syr(t, 1, 1);
		}
	}
	test_gemv("S", F32, F32, F32, 1e-5);
	test_gemv("D", F64, F64, F64, 1e-13);
	test_gemv("C", C32, C32, C32, 1e-5);
	test_gemv("Z", C64, C64, C64, 1e-13);
	test_gemv("HSH", F16, F32, F16, 0.01);
	test_gemv("HSS", F16, F32, F32, 1e-5);
	test_gemv("TST", BF16, F32, BF16, 0.05);
	test_gemv("TSS", BF16, F32, F32, 1e-5);
	test_sizes();
	CHECK_EQ(named("cublasDestroy_v2")(handle), 0);
	return check_done();
}
