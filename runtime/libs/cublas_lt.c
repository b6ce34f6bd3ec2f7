/*
 * cublasLtMatmul on the host: what its descriptions say, as work of a stream.
 */
#include "runtime/libs/cublas_lt.h"

#include <stdlib.h>

#define ILLEGAL_ADDRESS 700
#define OUT_OF_MEMORY 2

/* cublasLtEpilogue_t */
enum {
	EPILOGUE_DEFAULT = 1,
	EPILOGUE_RELU = 2,
	EPILOGUE_BIAS = 4,
	EPILOGUE_RELU_BACK = 8,
	EPILOGUE_BIAS_GRADIENT = 16,
	EPILOGUE_GELU = 32,
	EPILOGUE_GELU_BACK = 64,
	EPILOGUE_AUX = 128,
	EPILOGUE_GRADIENT_A = 256,
	EPILOGUE_GRADIENT_B = 512,
};

/* cublasLtPointerMode_t */
enum { ON_HOST, ON_DEVICE, VECTORS, VECTOR_AND_ZERO, VECTOR_AND_HOST };

enum { ORDER_COLUMNS, ORDER_ROWS };

struct lt_call {
	struct cublas_call c; /* its operand c is D */
	struct cublas_operand addend;
	int epilogue, pointer_mode;
	u64 alpha_vector, bias, aux, largest;
	u64 scales[4]; /* of A, B, C, D; 0: none */
	s64 alpha_stride, bias_stride, aux_ld, aux_stride;
	u32 bias_type, aux_type;
};

/* ---- descriptions ---- */

/* A matrix that is stored by rows is a transposed one of columns. */
static bool lt_operand(struct cublas_operand *o, void *layout, int op, u64 at, s64 *batch)
{
	s64 rows = lt_whole(LT_LAYOUT, layout, LT_ROWS, 0);
	s64 columns = lt_whole(LT_LAYOUT, layout, LT_COLUMNS, 0);
	int order = lt_word(LT_LAYOUT, layout, LT_ORDER, ORDER_COLUMNS);
	u32 type = (u32)lt_word(LT_LAYOUT, layout, LT_TYPE, -1);
	s64 ld = lt_whole(LT_LAYOUT, layout, LT_LD, 0);

	*batch = lt_word(LT_LAYOUT, layout, LT_BATCH, 1);
	if (!hl_bytes(type) || (order != ORDER_COLUMNS && order != ORDER_ROWS) ||
	    lt_whole(LT_LAYOUT, layout, LT_PLANE, 0) || op < CUBLAS_N || op > CUBLAS_C)
		return false;
	if (!cublas_take_matrix(o, type, CUBLAS_N, order == ORDER_ROWS ? columns : rows,
				order == ORDER_ROWS ? rows : columns, at, ld))
		return false;
	o->transposed = (op != CUBLAS_N) != (order == ORDER_ROWS);
	o->conjugated = op == CUBLAS_C;
	o->stride = lt_whole(LT_LAYOUT, layout, LT_STRIDE, 0);
	return o->rows >= 0 && o->columns >= 0 && *batch >= 0;
}

static s64 op_rows(const struct cublas_operand *o)
{
	return o->transposed ? o->columns : o->rows;
}

static s64 op_columns(const struct cublas_operand *o)
{
	return o->transposed ? o->rows : o->columns;
}

/* C and D are written by rows or columns, not transposed. */
static void set_order(struct cublas_operand *o)
{
	o->swapped = o->transposed;
	o->transposed = false;
}

struct lt_matrices {
	void *a, *b, *c, *d;
	u64 at_a, at_b, at_c, at_d;
};

static int lt_shapes(struct lt_call *l, void *desc, const struct lt_matrices *x)
{
	struct cublas_call *c = &l->c;
	s64 batch[4];
	int op_a = lt_word(LT_DESC, desc, LT_TRANSA, 0),
	    op_b = lt_word(LT_DESC, desc, LT_TRANSB, 0);

	if (!lt_operand(&c->a, x->a, op_a, x->at_a, &batch[0]) ||
	    !lt_operand(&c->b, x->b, op_b, x->at_b, &batch[1]) ||
	    !lt_operand(&l->addend, x->c, CUBLAS_N, x->at_c, &batch[2]) ||
	    !lt_operand(&c->c, x->d, CUBLAS_N, x->at_d, &batch[3]) ||
	    lt_word(LT_DESC, desc, LT_TRANSC, 0) || lt_word(LT_DESC, desc, LT_FILL_MODE, 2) < 2)
		return CUBLAS_NOT_SUPPORTED;
	c->m = op_rows(&c->c);
	c->n = op_columns(&c->c);
	c->k = op_columns(&c->a);
	c->batch = batch[3];
	if (op_rows(&c->a) != c->m || op_rows(&c->b) != c->k || op_columns(&c->b) != c->n ||
	    op_rows(&l->addend) != c->m || op_columns(&l->addend) != c->n)
		return CUBLAS_INVALID_VALUE;
	for (int i = 0; i < 3; i++)
		if (batch[i] != batch[3])
			return CUBLAS_INVALID_VALUE;
	set_order(&c->c);
	set_order(&l->addend);
	return CUBLAS_SUCCESS;
}

static int lt_epilogue(struct lt_call *l, void *desc)
{
	static const int known = EPILOGUE_DEFAULT | EPILOGUE_RELU | EPILOGUE_BIAS |
				 EPILOGUE_RELU_BACK | EPILOGUE_BIAS_GRADIENT | EPILOGUE_GELU |
				 EPILOGUE_GELU_BACK | EPILOGUE_AUX | EPILOGUE_GRADIENT_A |
				 EPILOGUE_GRADIENT_B;
	int d_type = (int)l->c.c.type, type;
	bool allowed;
	struct cublas_types types = {l->c.a.type, l->c.b.type, l->addend.type, l->c.c.type,
				     l->c.alpha.type};

	if (!cublas_lt_types(lt_word(LT_DESC, desc, LT_COMPUTE_TYPE, -1), &types, &l->bias_type,
			     &allowed))
		return CUBLAS_NOT_SUPPORTED;

	l->epilogue = lt_word(LT_DESC, desc, LT_EPILOGUE, EPILOGUE_DEFAULT);
	l->bias = (u64)lt_whole(LT_DESC, desc, LT_BIAS_POINTER, 0);
	l->bias_stride = lt_whole(LT_DESC, desc, LT_BIAS_BATCH_STRIDE, 0);
	l->aux = (u64)lt_whole(LT_DESC, desc, LT_AUX_POINTER, 0);
	l->aux_ld = lt_whole(LT_DESC, desc, LT_AUX_LD, 0);
	l->aux_stride = lt_whole(LT_DESC, desc, LT_AUX_BATCH_STRIDE, 0);
	l->largest = (u64)lt_whole(LT_DESC, desc, LT_AMAX_D, 0);
	for (u32 i = 0; i < 4; i++)
		l->scales[i] = (u64)lt_whole(LT_DESC, desc, LT_A_SCALE + i, 0);
	type = lt_word(LT_DESC, desc, LT_BIAS_TYPE, -1);
	if (allowed && type >= 0 && (u32)type != l->bias_type)
		return CUBLAS_NOT_SUPPORTED;
	type = lt_word(LT_DESC, desc, LT_AUX_TYPE, -1);
	l->aux_type = (u32)(type < 0 ? d_type : type);
	for (u32 i = 0; i < 5; i++)
		if (lt_word(LT_DESC, desc, LT_A_SCALE_MODE + i, 0))
			return CUBLAS_NOT_SUPPORTED;
	if (l->epilogue & (EPILOGUE_RELU_BACK | EPILOGUE_GELU_BACK) &&
	    !(l->epilogue & EPILOGUE_AUX))
		return CUBLAS_NOT_SUPPORTED;
	if (l->epilogue & ~known || !hl_bytes(l->aux_type) ||
	    lt_whole(LT_DESC, desc, LT_AUX_SCALE, 0) || lt_whole(LT_DESC, desc, LT_AUX_AMAX, 0) ||
	    (l->epilogue != EPILOGUE_DEFAULT && !allowed))
		return CUBLAS_NOT_SUPPORTED;
	return CUBLAS_SUCCESS;
}

/* Returns a status. */
static int lt_describe(struct lt_call *l, void *desc, const struct lt_matrices *x)
{
	u32 scale;
	int status;

	if (!desc || !x->a || !x->b || !x->c || !x->d)
		return CUBLAS_INVALID_VALUE;
	scale = (u32)lt_word(LT_DESC, desc, LT_SCALE_TYPE, HL_F32);
	l->c.alpha.type = l->c.beta.type = scale;
	l->c.wide = scale == HL_F64 || scale == HL_C64;
	l->pointer_mode = lt_word(LT_DESC, desc, LT_POINTER_MODE, ON_HOST);
	l->alpha_stride = lt_whole(LT_DESC, desc, LT_ALPHA_BATCH_STRIDE, 0);
	if (!hl_bytes(scale) || l->pointer_mode < ON_HOST || l->pointer_mode > VECTOR_AND_HOST ||
	    l->pointer_mode == VECTORS)
		return CUBLAS_NOT_SUPPORTED;
	status = lt_shapes(l, desc, x);
	l->c.integers = scale == HL_S32;
	l->c.narrow_factors = scale == HL_F32;
	return status ? status : lt_epilogue(l, desc);
}

/* ---- the work ---- */

/* n elements at an address; NULL: a fault, or there is no address. */
static void *lt_find(const struct work_run *w, u64 at, u64 bytes, u64 columns, u64 pitch,
		     bool write)
{
	struct work_memory m = {at, bytes, columns, pitch, write};

	return at && bytes && columns ? plrt_work_memory(w, &m) : NULL;
}

static bool read_scale(const struct work_run *w, u64 at, f64 *factor)
{
	const void *p = lt_find(w, at, 4, 1, 0, false);

	if (p)
		*factor *= hl_load(HL_F32, p).re;
	return p || !at;
}

static enum hl_activation activation_of(int epilogue)
{
	return epilogue & EPILOGUE_RELU        ? HL_RELU
	       : epilogue & EPILOGUE_GELU      ? HL_GELU
	       : epilogue & EPILOGUE_RELU_BACK ? HL_RELU_BACK
	       : epilogue & EPILOGUE_GELU_BACK ? HL_GELU_BACK
					       : HL_NO_ACTIVATION;
}

static bool find_aux(const struct work_run *w, const struct lt_call *l, s64 i,
		     struct hl_epilogue *e)
{
	bool bits = l->epilogue & (EPILOGUE_RELU | EPILOGUE_RELU_BACK);
	bool back = l->epilogue & (EPILOGUE_RELU_BACK | EPILOGUE_GELU_BACK);
	u64 size = hl_bytes(l->aux_type), rows = (u64)l->c.m, ld = (u64)l->aux_ld;
	s64 offset = bits ? i * l->aux_stride / 8 : i * l->aux_stride * (s64)size;

	e->aux = lt_find(w, l->aux + (u64)offset, bits ? (rows + 7) / 8 : rows * size, (u64)l->c.n,
			 bits ? ld / 8 : ld * size, !back);
	e->aux_type = l->aux_type;
	e->aux_ld = l->aux_ld;
	return e->aux != NULL;
}

/* False: a fault. */
static bool find_epilogue(const struct work_run *w, const struct lt_call *l, s64 i,
			  struct hl_epilogue *e)
{
	u64 size = hl_bytes(l->bias_type), at = l->bias + (u64)i * (u64)l->bias_stride * size;
	bool gradient = l->epilogue & EPILOGUE_BIAS_GRADIENT, bias = l->epilogue & EPILOGUE_BIAS;
	void *p = NULL;
	f64 scale = 1;

	e->activation = activation_of(l->epilogue);
	e->bias_type = l->bias_type;
	if (bias || gradient) {
		p = lt_find(w, at, (u64)l->c.m * size, 1, 0, gradient);
		if (!p)
			return false;
		e->bias = bias ? p : NULL;
		e->bias_gradient = gradient ? p : NULL;
	}
	if (l->epilogue & EPILOGUE_AUX && !find_aux(w, l, i, e))
		return false;
	if (l->largest) {
		e->largest = lt_find(w, l->largest, 4, 1, 0, true);
		if (!e->largest)
			return false;
	}
	if (!read_scale(w, l->scales[3], &scale))
		return false;
	e->scale = l->scales[3] ? scale : 0;
	if (l->pointer_mode >= VECTOR_AND_ZERO) {
		u64 bytes = hl_bytes(l->c.alpha.type);

		e->row_alpha = lt_find(w, l->alpha_vector + (u64)i * (u64)l->alpha_stride * bytes,
				       (u64)l->c.m * bytes, 1, 0, false);
		return e->row_alpha != NULL;
	}
	return true;
}

/* Sums of the rows of op(A), or of the columns of op(B): products with ones. */
static int sum_operand(const struct work_run *w, const struct lt_call *l,
		       const struct hl_product *p, s64 i)
{
	bool of_a = l->epilogue & EPILOGUE_GRADIENT_A;
	u64 size = hl_bytes(l->bias_type);
	s64 n = of_a ? p->m : p->n;
	struct hl_product q = {.m = n, .n = 1, .k = p->k, .alpha = {1, 0}, .a = of_a ? p->a : p->b};
	f32 one = 1;
	void *to = lt_find(w, l->bias + (u64)i * (u64)l->bias_stride * size, (u64)n * size, 1, 0,
			   true);

	if (!to)
		return ILLEGAL_ADDRESS;
	if (!of_a)
		q.a.transposed = !q.a.transposed;
	q.b = (struct hl_matrix){.at = &one, .type = HL_F32};
	q.c = q.d = (struct hl_matrix){.at = to, .type = l->bias_type, .row = 1, .column = n};
	return hl_gemm(&q) ? 0 : OUT_OF_MEMORY;
}

static int lt_run_one(const struct work_run *w, const struct lt_call *l, struct hl_product *p,
		      s64 i)
{
	const struct cublas_call *c = &l->c;
	int error = 0;

	if (!cublas_find_operand(w, c, &c->a, i, false, &p->a) ||
	    !cublas_find_operand(w, c, &c->b, i, false, &p->b) ||
	    !cublas_find_operand(w, c, &c->c, i, true, &p->d) ||
	    !find_epilogue(w, l, i, &p->epilogue))
		return ILLEGAL_ADDRESS;
	if (!hl_is_zero(p->beta) && !cublas_find_operand(w, c, &l->addend, i, false, &p->c))
		return ILLEGAL_ADDRESS;
	if (l->epilogue & (EPILOGUE_GRADIENT_A | EPILOGUE_GRADIENT_B))
		error = sum_operand(w, l, p, i);
	return error ? error : hl_gemm(p) ? 0 : OUT_OF_MEMORY;
}

static int lt_run(void *data, const struct work_run *w)
{
	const struct lt_call *l = data;
	struct hl_number alpha, beta;
	f64 product_scale = 1, addend_scale = 1;
	f32 *largest = lt_find(w, l->largest, sizeof(*largest), 1, 0, true);
	int error = 0;

	if (!cublas_read_scalar(w, &l->c.alpha, &alpha) ||
	    !cublas_read_scalar(w, &l->c.beta, &beta) ||
	    !read_scale(w, l->scales[0], &product_scale) ||
	    !read_scale(w, l->scales[1], &product_scale) ||
	    !read_scale(w, l->scales[2], &addend_scale))
		return ILLEGAL_ADDRESS;
	alpha = hl_mul(alpha, (struct hl_number){product_scale, 0});
	beta = hl_mul(beta, (struct hl_number){addend_scale, 0});
	if (largest)
		*largest = 0; /* of the whole batch */
	for (s64 i = 0; !error && i < l->c.batch; i++) {
		struct hl_product p = {.m = l->c.m,
				       .n = l->c.n,
				       .k = l->c.k,
				       .alpha = alpha,
				       .beta = beta,
				       .integers = l->c.integers,
				       .wide = l->c.wide,
				       .narrow_factors = l->c.narrow_factors,
				       .scale_type = l->c.alpha.type};

		error = lt_run_one(w, l, &p, i);
	}
	return error;
}

struct lt_factors {
	const void *alpha, *beta;
};

/* Has the epilogue what it works on? */
static bool has_operands(const struct lt_call *l)
{
	bool bits = l->epilogue & (EPILOGUE_RELU | EPILOGUE_RELU_BACK);
	int biases =
		EPILOGUE_BIAS | EPILOGUE_BIAS_GRADIENT | EPILOGUE_GRADIENT_A | EPILOGUE_GRADIENT_B;

	if (l->epilogue & biases && !l->bias)
		return false;
	return !(l->epilogue & EPILOGUE_AUX) ||
	       (l->aux && l->aux_ld >= l->c.m && l->aux_ld <= (s64)1 << 40 &&
		!(bits && l->aux_ld % 8));
}

static int lt_matmul(struct libs_function *f, void *handle, void *desc, struct lt_factors k,
		     const struct lt_matrices *x, void *stream)
{
	struct lt_call l = {.c = {.f = f, .state = {.stream = stream}}};
	struct cublas_call *c = &l.c;
	u32 type;
	int status;

	if (!handle)
		return CUBLAS_NOT_INITIALIZED;
	status = lt_describe(&l, desc, x);
	if (status)
		return status;
	type = c->alpha.type;
	if (!k.alpha || (!k.beta && l.pointer_mode != VECTOR_AND_ZERO) || !has_operands(&l))
		return CUBLAS_INVALID_VALUE;
	c->state.on_device = l.pointer_mode == ON_DEVICE;
	if (l.pointer_mode < VECTOR_AND_ZERO) {
		cublas_take_scalar(c, &c->alpha, type, k.alpha);
	} else {
		l.alpha_vector = (u64)(uintptr_t)k.alpha;
		c->alpha.value.re = 1;
	}
	if (l.pointer_mode != VECTOR_AND_ZERO)
		cublas_take_scalar(c, &c->beta, type, k.beta);
	libs_announce(f);
	if (!c->m || !c->n || !c->batch)
		return CUBLAS_SUCCESS;
	return cublas_status_of(plrt_work_issue(f->name, stream, lt_run, &l, sizeof(l), 0));
}

/* ---- algorithms: there is one ---- */

struct lt_result {
	u64 algo[8];
	size_t workspace;
	int status;
	float waves;
	int reserved[4];
};

static int lt_heuristic(void *handle, void *desc, const struct lt_matrices *x, int wanted,
			struct lt_result *out, int *count)
{
	struct lt_call l = {0};
	int status;

	if (!handle)
		return CUBLAS_NOT_INITIALIZED;
	if (wanted < 1 || !out || !count)
		return CUBLAS_INVALID_VALUE;
	*count = 0;
	status = lt_describe(&l, desc, x);
	if (status)
		return status;
	*out = (struct lt_result){.waves = 1};
	*count = 1;
	return CUBLAS_SUCCESS;
}

#define LT(name, params, args, ...)                                                                \
	LIBS_FN(LIBS_CUBLAS, LIBS_MACHINE, name, params, args, __VA_ARGS__)

LT(cublasLtMatmul,
   (void *h, void *desc, const void *alpha, u64 a, void *la, u64 b, void *lb, const void *beta,
    u64 c, void *lc, u64 d, void *ld, const void *algo, void *workspace, size_t bytes,
    void *stream),
   (h, desc, alpha, a, la, b, lb, beta, c, lc, d, ld, algo, workspace, bytes, stream),
   lt_matmul(&f, h, desc, (struct lt_factors){alpha, beta},
	     &(struct lt_matrices){la, lb, lc, ld, a, b, c, d}, stream))
LT(cublasLtMatmulAlgoGetHeuristic,
   (void *h, void *desc, void *la, void *lb, void *lc, void *ld, void *preference, int wanted,
    struct lt_result *out, int *count),
   (h, desc, la, lb, lc, ld, preference, wanted, out, count),
   lt_heuristic(h, desc, &(struct lt_matrices){.a = la, .b = lb, .c = lc, .d = ld}, wanted, out,
		count))
