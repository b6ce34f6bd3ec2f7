/*
 * Calls of cuBLAS that are products or triangular systems: from what programs
 * pass to the work in a stream.
 */
#include "runtime/libs/cublas.h"

#include <stdlib.h>

#define ILLEGAL_ADDRESS 700
#define OUT_OF_MEMORY 2

int cublas_status_of(int error)
{
	return error ? CUBLAS_EXECUTION_FAILED : CUBLAS_SUCCESS;
}

int cublas_begin(struct cublas_call *c, struct libs_function *f, void *handle)
{
	*c = (struct cublas_call){.f = f, .batch = 1};
	return cublas_state(handle, &c->state);
}

bool cublas_take_scalar(const struct cublas_call *c, struct cublas_scalar *out, u32 type,
			const void *at)
{
	*out = (struct cublas_scalar){.type = type};
	if (!at)
		return false;
	if (c->state.on_device)
		out->address = (u64)(uintptr_t)at;
	else
		out->value = hl_load(type, at);
	return true;
}

/* More than any device has, with bytes of elements. */
#define SIZE_MOST ((s64)1 << 40)

bool cublas_is_size(s64 n)
{
	return n >= -SIZE_MOST && n <= SIZE_MOST;
}

bool cublas_take_matrix(struct cublas_operand *out, u32 type, int op, s64 rows, s64 columns, u64 at,
			s64 ld)
{
	bool transposed = op == CUBLAS_T || op == CUBLAS_C;

	*out = (struct cublas_operand){.at = at,
				       .type = type,
				       .rows = transposed ? columns : rows,
				       .columns = transposed ? rows : columns,
				       .step = 1,
				       .ld = ld,
				       .transposed = transposed,
				       .conjugated = op == CUBLAS_C || op == CUBLAS_CONJUGATE};
	return op >= CUBLAS_N && op <= CUBLAS_CONJUGATE && ld >= 1 && ld >= out->rows &&
	       ld <= SIZE_MOST && columns <= SIZE_MOST && rows <= SIZE_MOST;
}

bool cublas_take_half(struct cublas_operand *out, u32 type, enum hl_shape shape, int uplo, int op,
		      s64 n, u64 at, s64 ld)
{
	bool good = cublas_take_matrix(out, type, op, n, n, at, ld);

	out->shape = (u8)shape;
	out->upper = uplo == CUBLAS_UPPER;
	return good && (uplo == CUBLAS_UPPER || uplo == CUBLAS_LOWER);
}

bool cublas_take_vector(struct cublas_operand *out, u32 type, s64 n, u64 at, s64 step)
{
	*out = (struct cublas_operand){
		.at = at, .type = type, .rows = n, .columns = 1, .step = step, .ld = 1};
	return step != 0 && cublas_is_size(step) && n <= SIZE_MOST;
}

/* ---- the work ---- */

bool cublas_read_scalar(const struct work_run *w, const struct cublas_scalar *s,
			struct hl_number *out)
{
	struct work_memory m = {.address = s->address, .bytes = hl_bytes(s->type), .columns = 1};
	const void *at;

	*out = s->value;
	if (!s->address)
		return true;
	at = plrt_work_memory(w, &m);
	if (at)
		*out = hl_load(s->type, at);
	return at != NULL;
}

/* The address of the i-th operand of a batch. */
static bool operand_address(const struct work_run *w, const struct cublas_call *c,
			    const struct cublas_operand *o, s64 i, u64 *out)
{
	struct work_memory m = {.address = o->at + 8 * (u64)i, .bytes = 8, .columns = 1};
	const void *at;

	*out = o->at + (u64)i * (u64)o->stride * hl_bytes(o->type);
	if (!c->arrays)
		return true;
	at = plrt_work_memory(w, &m);
	if (at)
		memcpy(out, at, sizeof(*out));
	return at != NULL;
}

bool cublas_find_operand(const struct work_run *w, const struct cublas_call *c,
			 const struct cublas_operand *o, s64 i, bool write, struct hl_matrix *out)
{
	u64 bytes = hl_bytes(o->type);
	s64 step = o->step < 0 ? -o->step : o->step;
	struct work_memory m = {.bytes = (u64)o->rows * bytes,
				.columns = (u64)o->columns,
				.pitch = (u64)o->ld * bytes,
				.write = write};

	*out = (struct hl_matrix){.type = o->type,
				  .row = o->step,
				  .column = o->ld,
				  .transposed = o->transposed,
				  .conjugated = o->conjugated,
				  .shape = o->shape,
				  .upper = o->upper,
				  .unit = o->unit};
	if (!o->rows || !o->columns)
		return true;
	if (step != 1) {
		m.bytes = bytes;
		m.columns = (u64)o->rows;
		m.pitch = (u64)step * bytes;
	}
	if (!operand_address(w, c, o, i, &m.address))
		return false;
	out->at = plrt_work_memory(w, &m);
	if (!out->at)
		return false;
	/* Of a vector that goes backwards the last element comes first. */
	if (o->step < 0)
		out->at = (u8 *)out->at + (u64)((o->rows - 1) * step) * bytes;
	if (o->swapped) {
		out->row = o->ld;
		out->column = o->step;
	}
	return true;
}

/* What a product writes over: a copy of it, without gaps, freed by the caller. */
static void *operand_copy(struct hl_matrix *m, const struct cublas_operand *o)
{
	u64 bytes = hl_bytes(o->type);
	u8 *copy = malloc((size_t)o->rows * (size_t)o->columns * bytes + 1);

	for (s64 j = 0; copy && j < o->columns; j++)
		for (s64 i = 0; i < o->rows; i++)
			memcpy(copy + (u64)(j * o->rows + i) * bytes,
			       (const u8 *)m->at + (i * m->row + j * m->column) * (s64)bytes,
			       bytes);
	m->at = copy;
	m->row = 1;
	m->column = o->rows;
	return copy;
}

static bool run_product(const struct cublas_call *c, struct hl_product *p)
{
	void *copy = NULL;
	bool ok;

	if (c->b.at == c->c.at && p->b.at)
		copy = operand_copy(&p->b, &c->b);
	else if (c->a.at == c->c.at && p->a.at)
		copy = operand_copy(&p->a, &c->a);
	ok = hl_gemm(p);
	if (ok && c->kind == CUBLAS_RANK_2) {
		struct hl_matrix a = p->a, b = p->b;

		/* A B' and B A': each is transposed where the other was not. */
		p->a = b;
		p->a.transposed = !b.transposed;
		p->a.conjugated = a.conjugated;
		p->b = a;
		p->b.transposed = !a.transposed;
		p->b.conjugated = b.conjugated;
		p->beta = (struct hl_number){1, 0};
		if (c->conjugated_alpha)
			p->alpha = hl_conj(p->alpha);
		ok = hl_gemm(p);
	}
	free(copy);
	return ok;
}

static int blas_run_one(const struct work_run *w, const struct cublas_call *c, struct hl_product *p,
			s64 i)
{
	bool read_ab = !hl_is_zero(p->alpha) && p->k;

	if (c->kind == CUBLAS_SOLVE)
		return !cublas_find_operand(w, c, &c->a, i, false, &p->a) ||
				       !cublas_find_operand(w, c, &c->c, i, true, &p->d)
			       ? ILLEGAL_ADDRESS
		       : hl_solve(c->m, c->n, p->alpha, &p->a, &p->d) ? 0
								      : OUT_OF_MEMORY;
	if ((read_ab && (!cublas_find_operand(w, c, &c->a, i, false, &p->a) ||
			 !cublas_find_operand(w, c, &c->b, i, false, &p->b))) ||
	    !cublas_find_operand(w, c, &c->c, i, true, &p->d))
		return ILLEGAL_ADDRESS;
	p->c = p->d;
	return run_product(c, p) ? 0 : OUT_OF_MEMORY;
}

static int blas_run(void *data, const struct work_run *w)
{
	const struct cublas_call *c = data;
	struct hl_number alpha, beta;
	int error = 0;

	if (!cublas_read_scalar(w, &c->alpha, &alpha) || !cublas_read_scalar(w, &c->beta, &beta))
		return ILLEGAL_ADDRESS;
	for (s64 i = 0; !error && i < c->batch; i++) {
		struct hl_product p = {.m = c->m,
				       .n = c->n,
				       .k = c->k,
				       .alpha = alpha,
				       .beta = beta,
				       .part = c->part,
				       .integers = c->integers,
				       .wide = c->wide,
				       .narrow_factors = c->narrow_factors,
				       .real_diagonal = c->real_diagonal,
				       .a.type = c->a.type,
				       .b.type = c->b.type};

		error = blas_run_one(w, c, &p, i);
	}
	return error;
}

int cublas_put(const struct cublas_call *c, work_fn *fn, const void *data, size_t bytes)
{
	libs_announce(c->f);
	return cublas_status_of(plrt_work_issue(c->f->name, c->state.stream, fn, data, bytes, 0));
}

int cublas_issue(const struct cublas_call *c)
{
	return c->m && c->n && c->batch ? cublas_put(c, blas_run, c, sizeof(*c)) : CUBLAS_SUCCESS;
}
