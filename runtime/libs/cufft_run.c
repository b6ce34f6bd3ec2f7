/*
 * Transforms as work of a stream: one of a batch at a time, in f64, dimension by dimension.
 */
#include "runtime/libs/cufft.h"
#include "src/base/size.h"
#include "src/hostlibs/fft.h"

#include <stdlib.h>

#define ILLEGAL_ADDRESS 700
#define OUT_OF_MEMORY 2

struct fft_work {
	struct cufft_shape shape;
	u64 in, out;
	int sign;
};

/* A transform that runs: numbers of all of one batch, rows of `width`. */
struct fft_run {
	const struct cufft_shape *s;
	struct hl_fft *of[CUFFT_RANK_MAX];
	s64 rows, width;          /* of the buffer */
	struct hl_number *buffer; /* rows * width */
	struct hl_number *line;   /* the longest one */
	int sign;
};

/* In place the rows of reals have room for the complex ones. */
static void pad_in_place(struct fft_work *w)
{
	struct cufft_shape *s = &w->shape;
	struct cufft_side *real = s->in.complex ? &s->out : &s->in;
	int last = s->rank - 1;

	if (!s->plain || w->in != w->out || (s->in.complex && s->out.complex))
		return;
	real->embed[last] = 2 * (s->n[last] / 2 + 1);
	real->distance = real->embed[last];
	for (int i = 0; i < last; i++)
		real->distance *= s->n[i];
}

/* Offset of the row that has this number, in elements. */
static s64 row_offset(const struct cufft_shape *s, const struct cufft_side *side, s64 row)
{
	s64 at = 0, scale = side->embed[s->rank - 1];

	for (int i = s->rank - 2; i >= 0; i--) {
		at += row % s->n[i] * scale;
		row /= s->n[i];
		scale *= side->embed[i];
	}
	return at * side->stride;
}

/* Where the host has one side, all of it. */
static u8 *find_side(const struct work_run *w, const struct cufft_shape *s,
		     const struct cufft_side *side, u64 at, bool write)
{
	u64 element = hl_bytes(s->type) * (side->complex ? 2u : 1u);
	s64 rows = 1, last;
	struct work_memory m = {.address = at, .columns = (u64)s->batch, .write = write};

	for (int i = 0; i < s->rank - 1; i++)
		rows *= s->n[i];
	last = row_offset(s, side, rows - 1) +
	       (cufft_extent(s, side, s->rank - 1) - 1) * side->stride;
	m.bytes = (u64)(last + 1) * element;
	m.pitch = (u64)side->distance * element;
	return plrt_work_memory(w, &m);
}

static void fft_load_row(const struct cufft_shape *s, const u8 *at, s64 n, struct hl_number *x)
{
	u32 bytes = hl_bytes(s->type);
	s64 step = s->in.stride * (s64)bytes * (s->in.complex ? 2 : 1);

	for (s64 i = 0; i < n; i++, at += step) {
		x[i] = hl_load(s->type, at);
		x[i].im = s->in.complex ? hl_load(s->type, at + bytes).re : 0;
	}
}

static void fft_store_row(const struct cufft_shape *s, u8 *at, s64 n, const struct hl_number *x)
{
	u32 bytes = hl_bytes(s->type);
	s64 step = s->out.stride * (s64)bytes * (s->out.complex ? 2 : 1);

	for (s64 i = 0; i < n; i++, at += step) {
		hl_store(s->type, at, x[i]);
		if (s->out.complex)
			hl_store(s->type, at + bytes, (struct hl_number){x[i].im, 0});
	}
}

/* All lines along a dimension but the last one. */
static void transform_lines(struct fft_run *r, int dimension)
{
	s64 n = r->s->n[dimension], inner = r->width, outer = 1;

	for (int i = dimension + 1; i < r->s->rank - 1; i++)
		inner *= r->s->n[i];
	for (int i = 0; i < dimension; i++)
		outer *= r->s->n[i];
	for (s64 o = 0; o < outer; o++)
		for (s64 c = 0; c < inner; c++) {
			struct hl_number *first = r->buffer + o * n * inner + c;

			for (s64 k = 0; k < n; k++)
				r->line[k] = first[k * inner];
			hl_fft_run(r->of[dimension], r->line, r->sign);
			for (s64 k = 0; k < n; k++)
				first[k * inner] = r->line[k];
		}
}

/* The last dimension of a row of the buffer, in r->line, from n numbers of it to n. */
static void transform_row(struct fft_run *r, const struct hl_number *row)
{
	s64 n = r->s->n[r->s->rank - 1];

	memcpy(r->line, row, (size_t)r->width * sizeof(*row));
	/* Of reals half is there; what has no counterpart is real. */
	if (!r->s->out.complex) {
		r->line[0].im = 0;
		if (n % 2 == 0)
			r->line[n / 2].im = 0;
		for (s64 k = r->width; k < n; k++)
			r->line[k] = hl_conj(row[n - k]);
	}
	hl_fft_run(r->of[r->s->rank - 1], r->line, r->sign);
}

static void transform_one(struct fft_run *r, const u8 *in, u8 *out)
{
	const struct cufft_shape *s = r->s;
	int last = s->rank - 1;
	s64 in_bytes = (s64)hl_bytes(s->type) * (s->in.complex ? 2 : 1);
	s64 out_bytes = (s64)hl_bytes(s->type) * (s->out.complex ? 2 : 1);

	for (s64 i = 0; i < r->rows; i++) {
		const u8 *at = in + row_offset(s, &s->in, i) * in_bytes;
		struct hl_number *row = r->buffer + i * r->width;

		if (!s->out.complex) {
			fft_load_row(s, at, r->width, row);
			continue;
		}
		fft_load_row(s, at, s->n[last], r->line);
		hl_fft_run(r->of[last], r->line, r->sign);
		memcpy(row, r->line, (size_t)r->width * sizeof(*row));
	}
	for (int d = last - 1; d >= 0; d--)
		transform_lines(r, d);
	for (s64 i = 0; i < r->rows; i++) {
		u8 *at = out + row_offset(s, &s->out, i) * out_bytes;
		struct hl_number *row = r->buffer + i * r->width;

		if (!s->out.complex) {
			transform_row(r, row);
			row = r->line;
		}
		fft_store_row(s, at, cufft_extent(s, &s->out, last), row);
	}
}

static bool run_open(struct fft_run *r, const struct cufft_shape *s)
{
	s64 longest = 1;
	bool ok = true;

	r->s = s;
	r->rows = 1;
	r->width = cufft_extent(s, s->out.complex ? &s->out : &s->in, s->rank - 1);
	for (int i = 0; i < s->rank; i++) {
		r->of[i] = hl_fft_new(s->n[i]);
		ok = ok && r->of[i];
		longest = s->n[i] > longest ? s->n[i] : longest;
		if (i < s->rank - 1)
			r->rows *= s->n[i];
	}
	r->line = calloc((size_t)longest, sizeof(*r->line));
	r->buffer = calloc((size_t)(r->rows * r->width), sizeof(*r->buffer));
	return ok && r->line && r->buffer;
}

static void run_close(struct fft_run *r)
{
	for (int i = 0; i < CUFFT_RANK_MAX; i++)
		hl_fft_free(r->of[i]);
	free(r->line);
	free(r->buffer);
}

static int run_transform(void *data, const struct work_run *w)
{
	struct fft_work *work = data;
	const struct cufft_shape *s = &work->shape;
	struct fft_run r = {.sign = work->sign};
	s64 in_bytes, out_bytes;
	const u8 *in;
	u8 *out;
	bool ok;

	pad_in_place(work);
	in = find_side(w, s, &s->in, work->in, false);
	out = in ? find_side(w, s, &s->out, work->out, true) : NULL;
	if (!out)
		return ILLEGAL_ADDRESS;
	in_bytes = s->in.distance * (s64)hl_bytes(s->type) * (s->in.complex ? 2 : 1);
	out_bytes = s->out.distance * (s64)hl_bytes(s->type) * (s->out.complex ? 2 : 1);
	ok = run_open(&r, s);
	for (s64 i = 0; ok && i < s->batch; i++)
		transform_one(&r, in + i * in_bytes, out + i * out_bytes);
	run_close(&r);
	return ok ? 0 : OUT_OF_MEMORY;
}

int cufft_issue(struct libs_function *f, void *stream, const struct cufft_shape *shape, u64 in,
		u64 out, int sign)
{
	struct fft_work w = {*shape, in, out, sign};

	libs_announce(f);
	if (!in || !out)
		return CUFFT_INVALID_VALUE;
	return plrt_work_issue(f->name, stream, run_transform, &w, sizeof(w), 0) ? CUFFT_EXEC_FAILED
										 : CUFFT_SUCCESS;
}
