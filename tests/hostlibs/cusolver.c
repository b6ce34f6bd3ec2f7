/*
 * Singular values of matrices of all types, with and without vectors, among them matrices that have
 * not all of their rank. Its library is the one that stands in for NVIDIA's.
 */
#include "tests/hostlibs/device.h"

enum { MOST = 24 };

static number a[MOST * MOST], u[MOST * MOST], v[MOST * MOST], s[MOST];

/* The largest element of u s v - a, and of u' u - 1. */
static double judge(int m, int n, int columns)
{
	double off = 0;

	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			number sum = -a[i + j * m];

			for (int k = 0; k < n; k++)
				sum += u[i + k * m] * s[k] * v[k + j * n];
			off = fmax(off, cabs(sum));
		}
	for (int j = 0; j < columns; j++)
		for (int i = 0; i < columns; i++) {
			number sum = i == j ? -1 : 0;

			for (int k = 0; k < m; k++)
				sum += conj(u[k + i * m]) * u[k + j * m];
			off = fmax(off, cabs(sum));
		}
	for (int k = 1; k < n; k++)
		off = fmax(off, creal(s[k]) - creal(s[k - 1]));
	return off;
}

static int factorize(int t, char job_u, char job_v, int m, int n, void *da, void *ds, void *du,
		     void *dv, void *info)
{
	char name[32];

	snprintf(name, sizeof(name), "cusolverDn%cgesvd", letters[t]);
	return named(name)(&named, job_u, job_v, m, n, da, m, ds, du, m, dv, n, NULL, 0, NULL,
			   info);
}

/* The same by the function for all types, whose sizes have 64 bits. */
static int factorize_any(int t, char job_u, char job_v, int m, int n, void *da, void *ds, void *du,
			 void *dv, void *info)
{
	int type = types[t], real = t < 2 ? types[t] : types[t - 2];

	return named("cusolverDnXgesvd")(&named, NULL, job_u, job_v, (int64_t)m, (int64_t)n, type,
					 da, (int64_t)m, real, ds, type, du, (int64_t)m, type, dv,
					 (int64_t)n, type, NULL, (size_t)0, NULL, (size_t)0, info);
}

static void test_type(int t, int m, int n, char job, int any)
{
	int real = t < 2 ? types[t] : types[t - 2], columns = job == 'A' ? m : n, status;
	number info;
	void *da, *ds = device_new(MOST * 8), *du = device_new(MOST * MOST * 16);
	void *dv = device_new(MOST * MOST * 16), *di = device_new(4);
	double off;
	char text[96];

	fill_random(types[t], a, (size_t)(m * n));
	/* Two columns of one direction. */
	for (int i = 0; n > 4 && i < m; i++)
		a[i + 3 * m] = 2 * a[i + m];
	da = upload(types[t], a, (size_t)(m * n));
	status = (any ? factorize_any : factorize)(t, job, job == 'O' ? 'A' : job, m, n, da, ds, du,
						   dv, di);
	download(real, ds, s, (size_t)n);
	download(types[t], job == 'O' ? da : du, u, (size_t)(m * columns));
	download(types[t], dv, v, (size_t)(n * n));
	download(S32, di, &info, 1);
	off = judge(m, n, columns);
	snprintf(text, sizeof(text), "%s%cgesvd of %d x %d, job %c: status %d, off by %g",
		 any ? "X, " : "", letters[t], m, n, job, status, off);
	check_that(!status && info == 0 && off < bounds[t], text, __FILE__, __LINE__);
	device_free(da);
	device_free(ds);
	device_free(du);
	device_free(dv);
	device_free(di);
}

int main(void)
{
	void *d = device_new(64);

	for (int t = 0; t < 4; t++) {
		for (int any = 0; any < 2; any++) {
			test_type(t, 5, 5, 'A', any);
			test_type(t, 20, 7, 'A', any);
			test_type(t, 20, 7, 'S', any);
			test_type(t, 9, 6, 'O', any);
			test_type(t, 4, 1, 'A', any);
		}
	}
	CHECK_EQ(named("cusolverDnXgesvd")(&named, NULL, 'N', 'N', (int64_t)4, (int64_t)4, F32, d,
					   (int64_t)4, F64, d, F32, d, (int64_t)4, F32, d,
					   (int64_t)4, F32, NULL, (size_t)0, NULL, (size_t)0, d),
		 3);
	CHECK_EQ(named("cusolverDnXgesvd")(&named, NULL, 'N', 'N', (int64_t)1 << 33, (int64_t)4,
					   F32, d, (int64_t)4, F32, d, F32, d, (int64_t)4, F32, d,
					   (int64_t)4, F32, NULL, (size_t)0, NULL, (size_t)0, d),
		 3);
	CHECK_EQ(factorize(0, 'X', 'N', 4, 4, d, d, d, d, d), 3);
	CHECK_EQ(factorize(0, 'O', 'O', 4, 4, d, d, d, d, d), 3);
	CHECK_EQ(factorize(0, 'N', 'N', 3, 4, d, d, d, d, d), 3);
	CHECK_EQ(factorize(0, 'N', 'N', 4, 4, d, d, NULL, NULL, d), 0);
	CHECK_EQ(named("cudaDeviceSynchronize")(), 0);
	return check_done();
}
