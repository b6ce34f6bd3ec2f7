/*
 * print/matrix: fragments that the lanes of a warp hold, put together. EXPRESSION is an object of
 * nvcuda::wmma::fragment, or a, b, c, d: the operands of the mma or wmma.mma that the lane in focus
 * is about to run. Source of the places: PTX ISA "Warp-level matrix instructions: Matrix Fragments";
 * those of wmma as src/mma has them.
 */
#include "src/debugger/look_value.h"

#include "src/mma/place.h"
#include "src/num/numeric_all.h"
#include "src/uop/octets.h"

#define EDGE_MAX 256u

/* Where elements of a lane's registers belong. */
struct fragment {
	enum { FRAGMENT_A, FRAGMENT_B, FRAGMENT_SUM } use;
	u32 rows, columns; /* of the matrix */
	u32 bits;          /* of an element */
	u32 eights; /* groups of 8 rows of A, columns of B, rows (transposed: columns) of sums */
	u32 words;  /* of a row of A, of a column of B */
	bool words_first, transposed;
	/* Four products of m8n8k4, one under the other. by_k: lanes have a k each. */
	bool quads, by_k;
	u32 height; /* rows of one */
	/* wmma of Volta: enum mma_octets of rows (of B: of columns), and of columns of sums */
	bool octets;
	u32 by_row, by_column;
	u32 elements; /* of a lane */
};

/* The place of element e of a lane; as op_matrix.c has it. */
static void quads_element_place(const struct fragment *f, u32 lane, u32 e, u32 *row, u32 *column)
{
	u32 q = lane >> 2 & 3, t = (lane & 3) + (lane >> 4) * 4;

	if (f->use == FRAGMENT_SUM)
		quad_sum_place(f->bits == 16 ? MMA_F16 : MMA_F32, t, e, row, column);
	else if (f->use == FRAGMENT_A)
		quad_place(f->by_k, t, e, row, column);
	else
		quad_place(f->by_k, t, e, column, row);
	*row += q * f->height;
}

/* As op_matrix.c has it. */
static void octets_element_place(const struct fragment *f, u32 lane, u32 e, u32 *row, u32 *column)
{
	if (f->use == FRAGMENT_SUM)
		octet_sum_place(f->bits == 16 ? MMA_F16 : MMA_F32, f->by_row, f->by_column, lane, e,
				row, column);
	else if (f->use == FRAGMENT_A)
		octet_place(!f->by_k, f->by_row, lane, e, row, column);
	else
		octet_place(!f->by_k, f->by_row, lane, e, column, row);
}

static void element_place(const struct fragment *f, u32 lane, u32 e, u32 *row, u32 *column)
{
	u32 per = f->bits >= 32 ? 1 : 32 / f->bits, r = e / per, y, x;

	if (f->octets) {
		octets_element_place(f, lane, e, row, column);
	} else if (f->quads) {
		quads_element_place(f, lane, e, row, column);
	} else if (f->use == FRAGMENT_SUM) {
		u32 group = e >> 1;

		y = 8 * (group % f->eights) + (lane >> 2);
		x = 8 * (group / f->eights) + 2 * (lane & 3) + (e & 1);
		*row = f->transposed ? x : y;
		*column = f->transposed ? y : x;
	} else {
		u32 quads = f->words / 4 ? f->words / 4 : 1;
		u32 pair = f->words_first || f->eights < 2 ? 1 : 2, quad;

		r %= f->eights * quads;
		y = 8 * (f->words_first ? r / quads : r % pair + pair * (r / (pair * quads)));
		quad = f->words_first ? r % quads : r / pair % quads;
		y += lane >> 2;
		x = (quad * 4 + (lane & 3)) * per + e % per;
		*row = f->use == FRAGMENT_A ? y : x;
		*column = f->use == FRAGMENT_A ? x : y;
	}
}

/* ---- printing ---- */

/* Elements as text, row by row; NULL: no lane that is there has it. */
struct matrix {
	struct fragment f;
	u32 first; /* number of the first row: each warp of a warpgroup has 16 */
	/* A sparse A: metadata of each lane, and what stands for elements that are not stored. */
	bool sparse;
	u32 meta[WARP_LANES], selector;
	const char *absent;
	char **at;
};

static bool matrix_begin(struct matrix *m)
{
	m->at = calloc((size_t)m->f.rows * m->f.columns, sizeof(*m->at));
	return m->at != NULL;
}

static void matrix_put(struct matrix *m, u32 lane, u32 e, const char *text)
{
	u32 row, column;
	char **cell;

	element_place(&m->f, lane, e, &row, &column);
	if (m->sparse)
		column = mma_sparse_at(m->f.bits, m->selector, m->meta, row, column,
				       m->f.columns / 2);
	if (row >= m->f.rows || column >= m->f.columns)
		return;
	cell = &m->at[(size_t)row * m->f.columns + column];
	free(*cell);
	*cell = strdup(text);
}

static void matrix_say(struct debugger *x, struct matrix *m)
{
	size_t width = 1, n = (size_t)m->f.rows * m->f.columns;

	for (size_t i = 0; i < n; i++)
		if (m->at[i] && strlen(m->at[i]) > width)
			width = strlen(m->at[i]);
	for (u32 r = 0; r < m->f.rows; r++) {
		u32 q = m->f.quads ? r / m->f.height : 0;

		if (m->f.quads && r % m->f.height == 0)
			say(x, "Lanes %u-%u and %u-%u:\n", 4 * q, 4 * q + 3, 4 * q + 16,
			    4 * q + 19);
		say(x, "%2u:", m->first + r - q * m->f.height);
		for (u32 k = 0; k < m->f.columns; k++) {
			const char *text = m->at[(size_t)r * m->f.columns + k];

			say(x, " %*s", (int)width, text ? text : m->absent ? m->absent : "?");
		}
		say(x, "\n");
	}
}

static void matrix_free(struct matrix *m)
{
	for (size_t i = 0; m->at && i < (size_t)m->f.rows * m->f.columns; i++)
		free(m->at[i]);
	free(m->at);
}

/* ---- fragments of C++ ---- */

static void shape_octets(struct fragment *f, u32 m, u32 n, bool column)
{
	f->octets = true;
	f->by_k = f->use == FRAGMENT_A ? column : !column;
	f->by_row = f->use == FRAGMENT_B ? mma_column_octets(n) : mma_row_octets(m);
	f->by_column = mma_column_octets(n);
}

/* "fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major>" */
static bool read_type(const char *name, bool octets, struct fragment *f)
{
	const char *a = strstr(name, "matrix_a"), *b = strstr(name, "matrix_b"),
		   *c = strstr(name, "accumulator"),
		   *use = a   ? a
			  : b ? b
			      : c;
	const char *comma = use ? strchr(use, ',') : NULL;
	unsigned int m, n, k;

	if (!strstr(name, "fragment<") || !comma || sscanf(comma, ",%u,%u,%u", &m, &n, &k) != 3 ||
	    !m || !n || !k || m > EDGE_MAX || n > EDGE_MAX || k > EDGE_MAX)
		return false;
	f->use = a ? FRAGMENT_A : b ? FRAGMENT_B : FRAGMENT_SUM;
	f->rows = b ? k : m;
	f->columns = a ? k : n;
	f->transposed = f->use == FRAGMENT_SUM && m == 8 && n == 32;
	f->eights = (b || f->transposed ? n : m) / 8;
	f->words = f->bits == 64 ? k : k * f->bits / 32;
	f->words_first = b && n < 32;
	if (octets)
		shape_octets(f, m, n, strstr(comma, "col_major"));
	return f->eights > 0;
}

/* The array of elements of the object, and what they are. */
static bool read_fragment(const struct look_evaluated *v, bool octets, struct fragment *f,
			  struct dbg_value *array, struct text *why)
{
	struct dbg_type *t = dbg_type_strip(v->v.type), *elements;
	struct text name = {0};
	bool good;

	*f = (struct fragment){0};
	if (t->kind != DBG_STRUCT || !dbg_value_member(&v->c, &v->v, "x", array, why)) {
		why->len = 0;
		text_puts(why, "print/matrix takes a fragment of wmma, or a, b, c, d at an mma");
		return false;
	}
	elements = dbg_type_strip(array->type);
	dbg_type_print(t, NULL, &name);
	f->elements = elements->kind == DBG_ARRAY ? (u32)min_u64(elements->count, EDGE_MAX) : 0;
	f->bits = f->elements ? 8 * (u32)dbg_type_size(elements->target) : 0;
	good = name.at && f->bits && f->bits <= 64 && read_type(name.at, octets, f);
	if (!good)
		text_puts(why, "How the lanes hold a matrix of this type is not known");
	text_fini(&name);
	return good;
}

static bool put_lane(struct matrix *m, const struct dbg_context *c, struct dbg_expr *e, u32 lane,
		     bool octets, const struct dbg_format *format, struct text *why)
{
	struct look_evaluated v = {.c = *c};
	struct dbg_value array, one;
	struct fragment f;
	bool good = dbg_expr_eval(e, c, &v.v, why) && read_fragment(&v, octets, &f, &array, why);

	if (good && !m->at) {
		m->f = f;
		good = matrix_begin(m);
	}
	for (u32 i = 0; good && i < m->f.elements; i++) {
		struct text out = {0};

		good = dbg_value_index(c, &array, i, &one, why) &&
		       dbg_value_print(c, &one, format, &out, why);
		if (good)
			matrix_put(m, lane, i, out.at ? out.at : "");
		text_fini(&out);
	}
	return good;
}

static void print_object(struct debugger *x, const char *text, const struct dbg_format *format)
{
	bool octets = mma_has_octets(debug_env(x->grid)->program->arch->tensor_generation);
	struct matrix m = {0};
	struct dbg_context c;
	struct text why = {0};
	struct dbg_expr *e;

	context_now(x, &c);
	e = dbg_expr_parse(&c, text, &why);
	if (e && dbg_expr_type(e))
		text_puts(&why, "Attempt to use a type name as an expression");
	for (u32 l = 0; e && !dbg_expr_type(e) && l < WARP_LANES; l++)
		if (look_lane_context(x, l, &c) && !put_lane(&m, &c, e, l, octets, format, &why))
			break;
	if (m.at)
		matrix_say(x, &m);
	matrix_free(&m);
	if (why.len || !m.at)
		look_say_why(x, &why);
	dbg_expr_free(e);
	text_fini(&why);
}

/* ---- operands of an instruction ---- */

static const struct uop *product_at(const struct program *p, u32 pc)
{
	u32 func = p->uop[pc].func, ir = p->uop[pc].ir;

	for (; pc < p->uops && p->uop[pc].func == func && p->uop[pc].ir == ir; pc++)
		if (uop_info[p->uop[pc].inner].payload == PAYLOAD_PRODUCT)
			return &p->uop[pc];
	return NULL;
}

static void operand_fragment(const struct mma_form *form, u32 which, struct fragment *f)
{
	u32 type = which == 0 ? form->d : which == 1 ? form->a : which == 2 ? form->b : form->c;
	u32 bits = mma_bits(form->a), k = bits == 64 ? form->words : form->words * 32u / bits;
	bool transposed = form->flags & MMA_TRANSPOSED;
	/* The product is computed transposed: what it calls A is the program's B. */
	u32 left = which == 1 ? !transposed : transposed;

	*f = (struct fragment){.bits = mma_bits(type), .words = form->words};
	f->use = which == 1 ? FRAGMENT_A : which == 2 ? FRAGMENT_B : FRAGMENT_SUM;
	if (f->use == FRAGMENT_SUM) {
		f->transposed = transposed;
		f->eights = form->rows;
		f->rows = 8u * (transposed ? form->columns : form->rows);
		f->columns = 8u * (transposed ? form->rows : form->columns);
	} else {
		f->eights = left ? form->rows : form->columns;
		f->words_first = !left;
		f->rows = which == 1 ? 8 * f->eights : k;
		f->columns = which == 1 ? k : 8 * f->eights;
	}
}

/* fp6 and fp4, as enum mma_type has them in registers. */
static void say_small(u32 type, u32 bits, struct text *out)
{
	struct num_mini f = type == MMA_E3M2 ? num_e3m2 : type == MMA_E2M3 ? num_e2m3 : num_e2m1;
	u32 code = type == MMA_E2M1 ? bits >> 2 & 15 : type == MMA_E2M1_PAIR ? bits : bits & 63;

	text_printf(out, "%g", (double)f32_bits(num_f32_from_mini(code, f)));
}

static void say_element(u32 type, u64 bits, struct text *out)
{
	switch (type) {
	case MMA_F16:
		text_printf(out, "%g", dbg_real_of_bits(bits, 2, DBG_HALF));
		break;
	case MMA_BF16:
		text_printf(out, "%g", dbg_real_of_bits(bits, 2, DBG_BFLOAT));
		break;
	case MMA_E4M3:
	case MMA_E5M2:
		text_printf(out, "%g",
			    dbg_real_of_bits(bits, 1, type == MMA_E4M3 ? DBG_E4M3 : DBG_E5M2));
		break;
	case MMA_E3M2:
	case MMA_E2M3:
	case MMA_E2M1:
	case MMA_E2M1_PAIR:
		say_small(type, (u32)bits, out);
		break;
	case MMA_TF32:
	case MMA_F32:
		text_printf(out, "%g", dbg_real_of_bits(bits, 4, DBG_PLAIN));
		break;
	case MMA_F64:
		text_printf(out, "%g", dbg_real_of_bits(bits, 8, DBG_PLAIN));
		break;
	case MMA_S32:
		text_printf(out, "%d", (s32)bits);
		break;
	case MMA_S8:
		text_printf(out, "%d", (s8)bits);
		break;
	case MMA_S4:
		text_printf(out, "%d", (s32)(bits << 28) >> 28);
		break;
	case MMA_U8:
	case MMA_U4:
	case MMA_B1:
		text_printf(out, "%u", (u32)bits);
		break;
	default:
		text_printf(out, "0x%llx", (unsigned long long)bits);
	}
}

/* The registers of one lane: elements from the lowest bits on. */
static void put_registers(struct debugger *x, struct matrix *m, u32 lane, u32 type,
			  const struct ir_func *f, const struct ir_operand *op)
{
	u32 n = op->kind == IR_OP_VEC ? (u32)op->imm : 1, e = 0;
	u32 width = m->f.bits == 64 ? 64 : 32, per = width / m->f.bits;
	struct dbg_lane at = {x->focus.launch, x->focus.cta, x->focus.warp, lane, 0};

	for (u32 r = 0; r < n; r++) {
		const struct ir_operand *one =
			op->kind == IR_OP_VEC ? &f->operands.at[op->index + r] : op;
		u64 bits = 0;

		if (one->kind != IR_OP_REG ||
		    x->target.read_register(x, &at, f, one->index, &bits, width / 8) != DBG_OK) {
			e += per;
			continue;
		}
		for (u32 i = 0; i < per; i++, e++) {
			u64 mask = m->f.bits < 64 ? (1ull << m->f.bits) - 1 : ~0ull;
			struct text t = {0};

			say_element(type, bits >> i * m->f.bits & mask, &t);
			matrix_put(m, lane, e, t.at ? t.at : "");
			text_fini(&t);
		}
	}
}

/* A product that the lane in focus is about to run. */
struct product {
	struct debugger *x;
	struct cta *c;
	u32 lanes; /* that are there */
	const struct ir_func *f;
	const struct ir_insn *insn;
	struct mma_form form;
	u32 selector;
	bool is_wgmma, is_quads;
};

static bool find_next_product(struct debugger *x, struct product *p)
{
	const struct program *program = debug_env(x->grid)->program;
	const struct uop *in = NULL;
	struct look_group g;

	*p = (struct product){.x = x, .c = focus_cta(x)};
	if (p->c && look_group_of(x, p->c, x->focus.warp, x->focus.lane, &g) && g.pc != NO_PC)
		in = product_at(program, g.pc);
	if (!in)
		return false;
	p->lanes = g.mask;
	p->f = program->funcs[in->func].func;
	p->insn = &p->f->insns.at[in->ir];
	p->form = in->product.form;
	p->selector = in->product.rule.extra;
	p->is_wgmma = in->inner == OP_wgmma;
	p->is_quads = in->inner == OP_mma_quads;
	if (p->is_wgmma)
		p->form.columns = in->product.columns;
	return true;
}

static const struct ir_operand *product_operand(const struct product *p, u32 n)
{
	return n < p->insn->ops ? &p->f->operands.at[p->insn->first_op + n] : NULL;
}

/* One register of a lane, the only one of an operand; a number is itself. */
static bool read_scalar(const struct product *p, u32 lane, const struct ir_operand *op, u64 *out)
{
	struct dbg_lane at = {p->x->focus.launch, p->x->focus.cta, p->x->focus.warp, lane, 0};

	*out = 0;
	if (op && op->kind == IR_OP_VEC && op->imm == 1)
		op = &p->f->operands.at[op->index];
	if (op && op->kind == IR_OP_INT)
		*out = (u64)op->imm;
	else if (!op || op->kind != IR_OP_REG ||
		 p->x->target.read_register(p->x, &at, p->f, op->index, out,
					    isa_type_bits(p->f->regs.at[op->index].type) / 8) !=
			 DBG_OK)
		return false;
	return true;
}

/* The metadata stands behind C, or with wgmma, which has no C, behind B. */
static bool read_metadata(const struct product *p, struct matrix *m)
{
	for (u32 l = 0; l < WARP_LANES; l++) {
		u64 word = 0;

		if (p->lanes >> l & 1 &&
		    !read_scalar(p, l, product_operand(p, p->is_wgmma ? 3 : 4), &word))
			return false;
		m->meta[l] = (u32)word;
	}
	m->sparse = true;
	m->selector = p->selector;
	m->absent = ".";
	/* As many again are not stored. */
	m->f.columns *= 2;
	return true;
}

/* What a descriptor stands for: rows are those of A, columns those of B. */
static bool read_shared(const struct product *p, struct matrix *m, u32 which, u32 type)
{
	bool is_a = which == 1;
	u32 bytes = m->f.bits / 8, limit = debug_env(p->x->grid)->shared_bytes;
	u32 stored = m->sparse ? m->f.columns / 2 : m->f.columns;
	struct shared_window w;
	u64 descriptor;

	if (!bytes || !read_scalar(p, p->x->focus.lane, product_operand(p, which), &descriptor))
		return false;
	w = window_of(descriptor, p->form.flags & (is_a ? MMA_COL_A : MMA_COL_B));
	for (u32 r = 0; r < m->f.rows; r++)
		for (u32 k = 0; k < stored; k++) {
			u32 n = is_a ? m->first + r : k, inner = is_a ? k : r;
			u32 at = w.along ? window_offset(&w, inner, n * bytes)
					 : window_offset(&w, n, inner * bytes);
			struct text t = {0};
			u64 bits = 0;

			u32 column = m->sparse ? mma_sparse_at(m->f.bits, m->selector, m->meta, r,
							       k, stored)
					       : k;

			if (at + bytes > limit || column >= m->f.columns)
				continue;
			memcpy(&bits, p->c->shared + at, bytes);
			say_element(type, bits, &t);
			free(m->at[(size_t)r * m->f.columns + column]);
			m->at[(size_t)r * m->f.columns + column] = strdup(t.at ? t.at : "");
			text_fini(&t);
		}
	return true;
}

/* wmma of Volta: sixteen products of m8n8k4 in one. */
static void shape_wmma_octets(const struct product *p, u32 which, struct matrix *m)
{
	const struct mma_form *form = &p->form;
	bool transposed = form->flags & MMA_TRANSPOSED;
	u32 rows = 8u * (transposed ? form->columns : form->rows),
	    columns = 8u * (transposed ? form->rows : form->columns), k = 2u * form->words;

	m->f = (struct fragment){.bits = 16, .use = FRAGMENT_SUM, .rows = rows, .columns = columns};
	if (which == 1) {
		m->f.use = FRAGMENT_A;
		m->f.columns = k;
	} else if (which == 2) {
		m->f.use = FRAGMENT_B;
		m->f.rows = k;
	} else {
		m->f.bits = mma_bits(which == 3 ? form->c : form->d);
	}
	shape_octets(&m->f, rows, columns, form->flags & (which == 1 ? MMA_COL_A : MMA_COL_B));
}

/* mma of m8n8k4. */
static void shape_quads(const struct product *p, u32 which, struct matrix *m)
{
	const struct mma_form *form = &p->form;

	m->f = (struct fragment){.quads = true, .bits = 16, .height = 8, .columns = 8};
	if (which == 1) {
		m->f.use = FRAGMENT_A;
		m->f.columns = 4;
		m->f.by_k = form->flags & MMA_COL_A;
	} else if (which == 2) {
		m->f.use = FRAGMENT_B;
		m->f.height = 4;
		m->f.by_k = !(form->flags & MMA_COL_B);
	} else {
		m->f.use = FRAGMENT_SUM;
		m->f.bits = mma_bits(which == 3 ? form->c : form->d);
	}
	m->f.rows = 4 * m->f.height;
}

/* Shapes of what is printed. False: it is not known how lanes hold it. */
static bool shape_matrix(const struct product *p, u32 which, struct matrix *m)
{
	bool sparse = p->form.flags & MMA_SPARSE;
	struct mma_form form = p->form;

	if (p->insn->ops < 4)
		return false;
	if (p->is_quads) {
		(ir_opcode(p->insn) == OPCODE_mma ? shape_quads : shape_wmma_octets)(p, which, m);
		return true;
	}
	if ((!p->is_wgmma && form.flags & (MMA_COL_A | MMA_COL_B)))
		return false;
	/* A sparse A stores half of what B has. */
	if (sparse && which == 2)
		form.words *= 2;
	operand_fragment(&form, which, &m->f);
	if (p->is_wgmma && which != 2)
		m->first = p->x->focus.warp % 4 * 16;
	return !sparse || which != 1 || read_metadata(p, m);
}

static bool is_descriptor(const struct product *p, u32 which)
{
	const struct ir_operand *op = product_operand(p, which);

	return p->is_wgmma && (which == 2 || (which == 1 && op->kind == IR_OP_REG &&
					      p->f->regs.at[op->index].vec <= 1 &&
					      isa_type_bits(p->f->regs.at[op->index].type) == 64));
}

/* which: 0 to 3, the instruction's D, A, B, C. False: the lane in focus is at no product. */
static bool print_operand(struct debugger *x, u32 which)
{
	struct matrix m = {0};
	struct product p;
	bool known;
	u32 type;

	if (!find_next_product(x, &p))
		return false;
	type = which == 0 ? p.form.d : which == 1 ? p.form.a : which == 2 ? p.form.b : p.form.c;
	known = shape_matrix(&p, which, &m);
	/* wgmma adds to D. */
	if (p.is_wgmma && which == 3)
		which = 0;
	if (known && !matrix_begin(&m))
		return false;
	if (known && is_descriptor(&p, which))
		known = read_shared(&p, &m, which, type);
	else if (known)
		for (u32 l = 0; l < WARP_LANES; l++)
			if (p.lanes >> l & 1)
				put_registers(x, &m, l, type, p.f, product_operand(&p, which));
	if (known)
		matrix_say(x, &m);
	else
		say_error(x, "How the lanes hold the matrices of this instruction is not known");
	matrix_free(&m);
	return true;
}

void look_print_matrix(struct debugger *x, const char *text, const struct dbg_format *format)
{
	static const char names[] = "dabc";
	struct cta *c = focus_cta(x);
	const char *name = strlen(text) == 1 ? strchr(names, *text) : NULL;

	if (!c)
		say_error(x, "There are no lanes: no kernel is running");
	else if (name && print_operand(x, (u32)(name - names)))
		return;
	else
		print_object(x, text, format);
}
