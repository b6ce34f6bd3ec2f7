/*
 * Transforms of all kinds, lengths, dimensions and layouts against sums of products; plans, streams
 * and errors.
 */
#include "tests/hostlibs/device.h"

enum { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, DOUBLE = 0x40, MOST = 4096 };

static number x[MOST], y[MOST], want[MOST], got[MOST];

/* exp(sign 2 pi i k / n) */
static number root(int sign, long k, int n)
{
	return cexp(sign * 2 * M_PI * I * (double)(k % n) / n);
}

/* All dimensions of one transform, contiguous. */
static void sums(const int *n, int sign, const number *in, number *out)
{
	int all = n[0] * n[1] * n[2];

	for (int o = 0; o < all; o++) {
		int a = o / (n[1] * n[2]), b = o / n[2] % n[1], c = o % n[2];

		out[o] = 0;
		for (int i = 0; i < all; i++)
			out[o] += in[i] * root(sign, (long)a * (i / (n[1] * n[2])), n[0]) *
				  root(sign, (long)b * (i / n[2] % n[1]), n[1]) *
				  root(sign, (long)c * (i % n[2]), n[2]);
	}
}

static double bound(int type, int all)
{
	return (type & DOUBLE ? 1e-14 : 1e-6) * (all + 10);
}

static void judge(double off, double most, const char *what, const int *n)
{
	char text[96];

	snprintf(text, sizeof(text), "%s of %d x %d x %d: off by %g", what, n[0], n[1], n[2], off);
	check_that(off <= most, text, __FILE__, __LINE__);
}

/* rank: of the plan; its dimensions are the last ones of n. */
static int plan_of(int *plan, int rank, const int *n, int type, int batch)
{
	if (batch != 1)
		return named("cufftPlanMany")(plan, rank, n + 3 - rank, NULL, 1, 0, NULL, 1, 0,
					      type, batch);
	return rank == 1   ? named("cufftPlan1d")(plan, n[2], type, 1)
	       : rank == 2 ? named("cufftPlan2d")(plan, n[1], n[2], type)
			   : named("cufftPlan3d")(plan, n[0], n[1], n[2], type);
}

static void test_complex(int rank, int n0, int n1, int n2, int batch, int wide)
{
	int n[3] = {n0, n1, n2}, all = n0 * n1 * n2, plan, kind = C2C | (wide ? DOUBLE : 0);
	int type = wide ? C64 : C32, status;
	double off = 0;
	void *d;

	fill_random(C64, x, (size_t)(all * batch));
	d = upload(type, x, (size_t)(all * batch));
	status = plan_of(&plan, rank, n, kind, batch);
	status |= named(wide ? "cufftExecZ2Z" : "cufftExecC2C")(plan, d, d, -1);
	download(type, d, got, (size_t)(all * batch));
	for (int b = 0; b < batch; b++) {
		sums(n, -1, x + b * all, want);
		off = fmax(off, distance(got + b * all, want, (size_t)all));
	}
	status |= named(wide ? "cufftExecZ2Z" : "cufftExecC2C")(plan, d, d, 1);
	download(type, d, got, (size_t)(all * batch));
	for (int i = 0; i < all * batch; i++)
		got[i] /= all;
	off = fmax(off, distance(got, x, (size_t)(all * batch)));
	judge(status ? 1000 + status : off, bound(kind, all), "C2C", n);
	named("cufftDestroy")(plan);
	device_free(d);
}

/* Reals there and back, in place or not. */
static void test_real(int rank, int n0, int n1, int n2, int in_place, int wide)
{
	int n[3] = {n0, n1, n2}, rows = n0 * n1, half = n2 / 2 + 1, all = rows * n2, there, back;
	int width = in_place ? 2 * half : n2, kind = wide ? DOUBLE : 0, real = wide ? F64 : F32;
	int type = wide ? C64 : C32, status;
	double off = 0;
	void *d, *to;

	fill_random(F64, x, (size_t)all);
	memset(y, 0, sizeof(y));
	for (int i = 0; i < all; i++)
		y[i / n2 * width + i % n2] = x[i];
	d = upload(real, y, (size_t)(rows * 2 * half));
	to = in_place ? d : device_new((size_t)(rows * half * bytes_of(type)));
	status = plan_of(&there, rank, n, R2C | kind, 1) | plan_of(&back, rank, n, C2R | kind, 1);
	status |= named(wide ? "cufftExecD2Z" : "cufftExecR2C")(there, d, to);
	download(type, to, got, (size_t)(rows * half));
	sums(n, -1, x, want);
	for (int i = 0; i < rows * half; i++)
		off = fmax(off, cabs(got[i] - want[i / half * n2 + i % half]));
	status |= named(wide ? "cufftExecZ2D" : "cufftExecC2R")(back, to, d);
	download(real, d, got, (size_t)(rows * width));
	for (int i = 0; i < all; i++)
		off = fmax(off, cabs(got[i / n2 * width + i % n2] / all - x[i]));
	judge(status ? 1000 + status : off, bound(kind, all), in_place ? "reals in place" : "reals",
	      n);
	named("cufftDestroy")(there);
	named("cufftDestroy")(back);
	device_free(d);
	if (!in_place)
		device_free(to);
}

/* Two of 3 x 5, the columns of larger ones, interleaved; the output elsewhere than the input. */
static void test_layout(void)
{
	int n[3] = {1, 3, 5}, dims[] = {3, 5}, in_embed[] = {9, 7}, out_embed[] = {3, 6}, plan;
	double off = 0;
	void *d, *to;
	int status;

	fill_random(C64, x, 200);
	memset(y, 0, sizeof(y));
	d = upload(C64, x, 200);
	to = upload(C64, y, 200);
	status = named("cufftPlanMany")(&plan, 2, dims, in_embed, 4, 1, out_embed, 2, 60,
					C2C | DOUBLE, 2);
	status |= named("cufftExecZ2Z")(plan, d, to, 1);
	download(C64, to, got, 200);
	for (int b = 0; b < 2; b++) {
		for (int i = 0; i < 15; i++)
			y[i] = x[b + 4 * (i / 5 * 7 + i % 5)];
		sums(n, 1, y, want);
		for (int i = 0; i < 15; i++) {
			int at = b * 60 + 2 * (i / 5 * 6 + i % 5);

			off = fmax(off, cabs(got[at] - want[i]));
			got[at] = 0;
		}
	}
	/* What is between them has not been touched. */
	for (int i = 0; i < 200; i++)
		off = fmax(off, cabs(got[i]));
	judge(status ? 1000 + status : off, 1e-12, "a layout", n);
	named("cufftDestroy")(plan);
	device_free(d);
	device_free(to);
}

/* Made in steps, with types of cudaDataType, in a stream, destroyed while work is under way. */
static void test_steps(void)
{
	long long n = 64;
	int one[3] = {1, 1, 64}, plan, status;
	size_t bytes = 0;
	void *d, *stream;

	fill_random(C64, x, 64);
	d = upload(C64, x, 64);
	named("cudaStreamCreate")(&stream);
	status = named("cufftCreate")(&plan) | named("cufftSetAutoAllocation")(plan, 0);
	status |= named("cufftXtMakePlanMany")(plan, 1, &n, NULL, 1ll, 1ll, (int)C64, NULL, 1ll,
					       1ll, (int)C64, 1ll, &bytes, (int)C64);
	status |= named("cufftSetWorkArea")(plan, NULL) | named("cufftSetStream")(plan, stream);
	status |= named("cufftXtExec")(plan, d, d, -1) | named("cufftDestroy")(plan);
	status |= named("cudaStreamSynchronize")(stream);
	download(C64, d, got, 64);
	sums(one, -1, x, want);
	judge(status ? 1000 + status : distance(got, want, 64), 1e-12, "a plan in steps", one);
	CHECK(bytes > 0);
	named("cudaStreamDestroy")(stream);
	device_free(d);
}

/* Of 16 bits: 2 x 16 numbers there and back, as complex ones and from reals. */
static void test_halves(void)
{
	enum { COMPLEX_16 = 6, N = 16, BATCH = 2 };
	long long n = N;
	int one[3] = {1, 1, N}, there, back, status;
	double off = 0;
	size_t bytes;
	void *d, *to;

	fill_random(F64, x, 2 * N * BATCH);
	for (int i = 0; i < 2 * N * BATCH; i++)
		x[i] = nearbyint(creal(x[i]) * 64) / 64;
	d = upload(F16, x, 2 * N * BATCH);
	status = named("cufftCreate")(&there);
	status |=
		named("cufftXtMakePlanMany")(there, 1, &n, NULL, 1ll, 1ll, COMPLEX_16, NULL, 1ll,
					     1ll, COMPLEX_16, (long long)BATCH, &bytes, COMPLEX_16);
	status |= named("cufftXtExec")(there, d, d, -1);
	download(F16, d, got, 2 * N * BATCH);
	for (int b = 0; b < BATCH; b++) {
		for (int i = 0; i < N; i++)
			y[i] = x[2 * (b * N + i)] + I * x[2 * (b * N + i) + 1];
		sums(one, -1, y, want);
		for (int i = 0; i < N; i++)
			off = fmax(off, cabs(got[2 * (b * N + i)] + I * got[2 * (b * N + i) + 1] -
					     want[i]));
	}
	judge(status ? 1000 + status : off, 0.006, "complex f16", one);
	named("cufftDestroy")(there);
	to = device_new(2 * 2 * (N / 2 + 1));
	status = named("cufftCreate")(&there) | named("cufftCreate")(&back);
	status |= named("cufftXtMakePlanMany")(there, 1, &n, NULL, 1ll, 1ll, (int)F16, NULL, 1ll,
					       1ll, COMPLEX_16, 1ll, &bytes, COMPLEX_16);
	status |= named("cufftXtMakePlanMany")(back, 1, &n, NULL, 1ll, 1ll, COMPLEX_16, NULL, 1ll,
					       1ll, (int)F16, 1ll, &bytes, COMPLEX_16);
	device_free(d);
	d = upload(F16, x, N);
	status |= named("cufftXtExec")(there, d, to, -1) | named("cufftXtExec")(back, to, d, 1);
	download(F16, d, got, N);
	for (int i = 0; i < N; i++)
		got[i] /= N;
	judge(status ? 1000 + status : distance(got, x, N), 0.003, "real f16 and back", one);
	named("cufftDestroy")(there);
	named("cufftDestroy")(back);
	device_free(d);
	device_free(to);
}

/* The size of the work area before there is a plan, for a description, and of the plan. */
static void test_sizes(void)
{
	int plan, dims[] = {6, 10};
	long long wide[] = {6, 10};
	size_t estimated = 0, sized = 0, made = 0, of_plan = 0;

	CHECK_EQ(named("cufftCreate")(&plan), 0);
	CHECK_EQ(named("cufftEstimate1d")(60, C2C, 4, &estimated), 0);
	CHECK_EQ(named("cufftGetSize1d")(plan, 60, C2C, 4, &sized), 0);
	CHECK_EQ(named("cufftMakePlan1d")(plan, 60, C2C, 4, &made), 0);
	CHECK_EQ(named("cufftGetSize")(plan, &of_plan), 0);
	CHECK(estimated && estimated == sized && sized == made && made == of_plan);
	CHECK_EQ(named("cufftDestroy")(plan), 0);
	CHECK_EQ(named("cufftGetSize")(plan, &of_plan), 1);
	CHECK_EQ(named("cufftCreate")(&plan), 0);
	CHECK_EQ(named("cufftEstimate2d")(6, 10, C2C | DOUBLE, &estimated), 0);
	CHECK_EQ(named("cufftGetSize2d")(plan, 6, 10, C2C | DOUBLE, &sized), 0);
	CHECK(estimated && estimated == sized);
	CHECK_EQ(
		named("cufftEstimateMany")(2, dims, NULL, 1, 0, NULL, 1, 0, C2C | DOUBLE, 3, &made),
		0);
	CHECK_EQ(named("cufftGetSizeMany")(plan, 2, dims, NULL, 1, 0, NULL, 1, 0, C2C | DOUBLE, 3,
					   &sized),
		 0);
	CHECK(made == 3 * estimated && sized == made);
	CHECK_EQ(named("cufftGetSizeMany64")(plan, 2, wide, NULL, 1ll, 0ll, NULL, 1ll, 0ll,
					     C2C | DOUBLE, 3ll, &sized),
		 0);
	CHECK(sized == made);
	CHECK_EQ(named("cufftXtGetSizeMany")(plan, 2, wide, NULL, 1ll, 0ll, (int)C64, NULL, 1ll,
					     0ll, (int)C64, 3ll, &sized, (int)C64),
		 0);
	CHECK(sized == made);
	CHECK_EQ(named("cufftEstimate3d")(4, 3, 5, R2C, &estimated), 0);
	CHECK_EQ(named("cufftGetSize3d")(plan, 4, 3, 5, R2C, &sized), 0);
	CHECK(estimated && estimated == sized);
	CHECK_EQ(named("cufftEstimate1d")(0, C2C, 1, &sized), 8);
	CHECK_EQ(named("cufftEstimate1d")(8, 12345, 1, &sized), 3);
	CHECK_EQ(named("cufftEstimate1d")(8, C2C, 1, NULL), 4);
	CHECK_EQ(named("cufftGetSize1d")(77, 60, C2C, 4, &sized), 1);
	CHECK_EQ(named("cufftDestroy")(plan), 0);
}

static void test_errors(void)
{
	int plan, other;
	void *d = device_new(64);

	CHECK_EQ(named("cufftPlan1d")(&plan, 0, C2C, 1), 8);
	CHECK_EQ(named("cufftPlan1d")(&plan, 8, C2C, 0), 8);
	CHECK_EQ(named("cufftPlan1d")(&plan, 8, 12345, 1), 3);
	CHECK_EQ(named("cufftPlan1d")(NULL, 8, C2C, 1), 4);
	CHECK_EQ(named("cufftDestroy")(77), 1);
	CHECK_EQ(named("cufftExecC2C")(77, d, d, -1), 1);
	CHECK_EQ(named("cufftPlan1d")(&plan, 64, C2C, 1), 0);
	CHECK_EQ(named("cufftPlan1d")(&other, 64, R2C, 1), 0);
	CHECK(plan != other);
	CHECK_EQ(named("cufftExecR2C")(plan, d, d), 3);
	CHECK_EQ(named("cufftExecC2C")(plan, d, d, 0), 4);
	CHECK_EQ(named("cufftExecC2C")(plan, NULL, d, -1), 4);
	CHECK_EQ(named("cufftXtSetCallback")(plan, NULL, 0, NULL), 14);
	CHECK_EQ(named("cufftMakePlan1d")(plan, 64, C2C, 1, NULL), 1);
	CHECK_EQ(named("cudaDeviceSynchronize")(), 0);
	CHECK_EQ(named("cufftExecC2C")(plan, d, d, -1), 0);
	CHECK_EQ(named("cudaDeviceSynchronize")(), 700);
	CHECK_EQ(named("cufftDestroy")(plan), 0);
	CHECK_EQ(named("cufftDestroy")(other), 0);
}

int main(void)
{
	static const int lengths[] = {1,  2,  3,  4,  5,  7,  8,   12,  16,
				      30, 49, 61, 64, 67, 97, 128, 210, 268};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		test_complex(1, 1, 1, lengths[i], 1, (int)i & 1);
		test_complex(1, 1, 1, lengths[i], 3, ~(int)i & 1);
		test_real(1, 1, 1, lengths[i], (int)i & 1, (int)i / 2 & 1);
	}
	for (int wide = 0; wide < 2; wide++) {
		test_complex(2, 1, 6, 10, 2, wide);
		test_complex(3, 4, 3, 5, 2, wide);
		test_real(2, 1, 6, 10, wide, wide);
		test_real(2, 1, 6, 9, !wide, wide);
		test_real(3, 4, 3, 6, wide, wide);
		test_real(3, 3, 4, 7, !wide, wide);
	}
	test_layout();
	test_steps();
	test_halves();
	test_sizes();
	test_errors();
	return check_done();
}
