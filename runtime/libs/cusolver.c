/*
 * cuSOLVER on the host: singular values, whose kernels are machine code only. Handles are the
 * library's.
 */
#include "runtime/libs/libs.h"
#include "src/base/size.h"
#include "src/hostlibs/svd.h"

#include <stdlib.h>

#define ILLEGAL_ADDRESS 700
#define OUT_OF_MEMORY 2

enum cusolver_status {
	CUSOLVER_SUCCESS = 0,
	CUSOLVER_NOT_INITIALIZED = 1,
	CUSOLVER_INVALID_VALUE = 3,
	CUSOLVER_EXECUTION_FAILED = 6,
};

/* A matrix in device memory. */
struct solver_matrix {
	u64 at;
	s64 rows, columns, ld;
};

struct svd_call {
	u32 type, real;
	char job_u, job_v; /* 'A'll, 'S'ome, 'O'ver A, 'N'one */
	s64 m, n;
	struct solver_matrix a, u, v;
	u64 s, info;
};

static bool solver_stream(void *handle, void **stream)
{
	static struct libs_function fn = {"cusolverDnGetStream", LIBS_CUSOLVER, LIBS_NONE, NULL};
	int (*get)(void *, void **) = (int (*)(void *, void **))(uintptr_t)libs_next(&fn, NULL);

	return handle && get && !get(handle, stream);
}

static u8 *solver_find(const struct work_run *w, u32 type, const struct solver_matrix *x,
		       bool write)
{
	u64 bytes = hl_bytes(type);
	struct work_memory m = {x->at, (u64)x->rows * bytes, (u64)x->columns, (u64)x->ld * bytes,
				write};

	return plrt_work_memory(w, &m);
}

/* from: column by column, or the conjugated transpose of what is. */
static bool solver_store(const struct work_run *w, u32 type, const struct solver_matrix *x,
			 const struct hl_number *from, s64 rows, bool turned)
{
	u8 *at = solver_find(w, type, x, true);

	for (s64 j = 0; at && j < x->columns; j++)
		for (s64 i = 0; i < x->rows; i++) {
			struct hl_number y =
				turned ? hl_conj(from[j + i * rows]) : from[i + j * rows];

			hl_store(type, at + (i + j * x->ld) * (s64)hl_bytes(type), y);
		}
	return at != NULL;
}

struct svd_room {
	struct hl_number *x, *u, *v;
	f64 *s;
};

static bool svd_store(const struct work_run *w, const struct svd_call *c, const struct svd_room *r,
		      int info)
{
	struct solver_matrix s = {c->s, c->n, 1, c->n}, u = c->u, v = c->v;
	struct work_memory m = {c->info, 4, 1, 0, true};
	u8 *values = solver_find(w, c->real, &s, true);
	void *at = plrt_work_memory(w, &m);

	for (s64 i = 0; values && i < c->n; i++)
		hl_store(c->real, values + i * (s64)hl_bytes(c->real),
			 (struct hl_number){r->s[i], 0});
	if (at)
		memcpy(at, &info, sizeof(info));
	if (c->job_u == 'O')
		u = (struct solver_matrix){c->a.at, c->m, c->n, c->a.ld};
	if (c->job_v == 'O')
		v = (struct solver_matrix){c->a.at, c->n, c->n, c->a.ld};
	return values && at &&
	       (c->job_u == 'N' || solver_store(w, c->type, &u, r->u, c->m, false)) &&
	       (c->job_v == 'N' || solver_store(w, c->type, &v, r->v, c->n, true));
}

/* NULL: no memory, or not so much that its size can be said. */
static void *svd_numbers(s64 rows, s64 columns)
{
	u64 bytes;

	return size_mul((u64)rows, (u64)columns, &bytes) &&
			       size_mul_add(bytes, sizeof(struct hl_number), 1, &bytes)
		       ? malloc(bytes)
		       : NULL;
}

static int svd_run(void *data, const struct work_run *w)
{
	const struct svd_call *c = data;
	s64 m = c->m, n = c->n, columns = c->job_u == 'N' ? 0 : c->job_u == 'A' ? m : n;
	struct svd_room r = {svd_numbers(m, n), svd_numbers(m, columns), svd_numbers(n, n),
			     malloc((size_t)n * sizeof(f64))};
	const u8 *a = solver_find(w, c->type, &c->a, false);
	int error = !a ? ILLEGAL_ADDRESS : r.x && r.u && r.v && r.s ? 0 : OUT_OF_MEMORY;

	for (s64 j = 0; !error && j < n; j++)
		for (s64 i = 0; i < m; i++)
			r.x[i + j * m] =
				hl_load(c->type, a + (i + j * c->a.ld) * (s64)hl_bytes(c->type));
	if (!error && !svd_store(w, c, &r, hl_svd(m, n, r.x, r.s, r.v, columns, r.u)))
		error = ILLEGAL_ADDRESS;
	free(r.x);
	free(r.u);
	free(r.v);
	free(r.s);
	return error;
}

static bool is_job(char job)
{
	return job == 'A' || job == 'S' || job == 'O' || job == 'N';
}

/* More than any device has, with bytes of elements. */
#define SIZE_MOST ((s64)1 << 40)

static int gesvd(struct libs_function *f, void *handle, struct svd_call c)
{
	void *stream = NULL;

	if (!solver_stream(handle, &stream))
		return CUSOLVER_NOT_INITIALIZED;
	if (!is_job(c.job_u) || !is_job(c.job_v) || (c.job_u == 'O' && c.job_v == 'O') || c.n < 0 ||
	    c.m < c.n || c.a.ld < 1 || c.a.ld < c.m || c.a.ld > SIZE_MOST || c.u.ld > SIZE_MOST ||
	    c.v.ld > SIZE_MOST)
		return CUSOLVER_INVALID_VALUE;
	c.a.rows = c.u.rows = c.m;
	c.a.columns = c.v.columns = c.n;
	c.u.columns = c.job_u == 'A' ? c.m : c.n;
	c.v.rows = c.n;
	if (((c.job_u == 'A' || c.job_u == 'S') && c.u.ld < c.m) ||
	    ((c.job_v == 'A' || c.job_v == 'S') && c.v.ld < c.n))
		return CUSOLVER_INVALID_VALUE;
	libs_announce(f);
	if (!c.n)
		return CUSOLVER_SUCCESS;
	return plrt_work_issue(f->name, stream, svd_run, &c, sizeof(c), 0)
		       ? CUSOLVER_EXECUTION_FAILED
		       : CUSOLVER_SUCCESS;
}

/* The types of cusolverDnXgesvd: of A, S, U, V, and what is computed in. */
struct svd_types {
	int a, s, u, v, compute;
};

static int xgesvd(struct libs_function *f, void *handle, const struct svd_types *t,
		  struct svd_call c)
{
	if (t->a != HL_F32 && t->a != HL_F64 && t->a != HL_C32 && t->a != HL_C64)
		return CUSOLVER_INVALID_VALUE;
	c.type = (u32)t->a;
	c.real = t->a == HL_F32 || t->a == HL_C32 ? HL_F32 : HL_F64;
	if (t->u != t->a || t->v != t->a || t->compute != t->a || t->s != (int)c.real)
		return CUSOLVER_INVALID_VALUE;
	return gesvd(f, handle, c);
}

LIBS_FN(LIBS_CUSOLVER, LIBS_MACHINE, cusolverDnXgesvd,
	(void *h, void *params, signed char job_u, signed char job_v, s64 m, s64 n, int type_a,
	 u64 a, s64 lda, int type_s, u64 s, int type_u, u64 u, s64 ldu, int type_v, u64 v, s64 ldv,
	 int compute, void *work, size_t bytes, void *host_work, size_t host_bytes, u64 info),
	(h, params, job_u, job_v, m, n, type_a, a, lda, type_s, s, type_u, u, ldu, type_v, v, ldv,
	 compute, work, bytes, host_work, host_bytes, info),
	xgesvd(&f, h, &(struct svd_types){type_a, type_s, type_u, type_v, compute},
	       (struct svd_call){.job_u = (char)job_u,
				 .job_v = (char)job_v,
				 .m = m,
				 .n = n,
				 .a = {a, 0, 0, lda},
				 .u = {u, 0, 0, ldu},
				 .v = {v, 0, 0, ldv},
				 .s = s,
				 .info = info}))

#define GESVD(T, complex_type, real_type)                                                          \
	LIBS_FN(LIBS_CUSOLVER, LIBS_MACHINE, cusolverDn##T##gesvd,                                 \
		(void *h, signed char job_u, signed char job_v, int m, int n, u64 a, int lda,      \
		 u64 s, u64 u, int ldu, u64 v, int ldv, void *work, int lwork, void *rwork,        \
		 u64 info),                                                                        \
		(h, job_u, job_v, m, n, a, lda, s, u, ldu, v, ldv, work, lwork, rwork, info),      \
		gesvd(&f, h,                                                                       \
		      (struct svd_call){.type = complex_type,                                      \
					.real = real_type,                                         \
					.job_u = (char)job_u,                                      \
					.job_v = (char)job_v,                                      \
					.m = m,                                                    \
					.n = n,                                                    \
					.a = {a, 0, 0, lda},                                       \
					.u = {u, 0, 0, ldu},                                       \
					.v = {v, 0, 0, ldv},                                       \
					.s = s,                                                    \
					.info = info}))
GESVD(S, HL_F32, HL_F32)
GESVD(D, HL_F64, HL_F64)
GESVD(C, HL_C32, HL_F32)
GESVD(Z, HL_C64, HL_F64)
