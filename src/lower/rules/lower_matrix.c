/*
 * Lowering of matrices between registers and memory: ldmatrix, stmatrix, movmatrix, wmma.load and
 * wmma.store.
 */
#include "src/lower/rules/lower_fragment.h"
#include "src/uop/octets.h"

static void put_address(struct lower *l, struct uop *in, const struct lower_place *p)
{
	in->mem.offset = p->imm;
	in->mem.space = (u8)p->space;
	in->flags |= p->wide ? UOPF_WIDE : 0;
	lower_read(l, FIELD_A, p->base);
}

/* Of matrices of bytes: bits of a number. */
static u32 matrix_bits(const struct isa_form *form)
{
	for (u32 i = 0; i < form->types; i++)
		if (form->type[i] == T_b6x16_p32 || form->type[i] == T_b4x16_p64)
			return form->type[i] == T_b6x16_p32 ? 6 : 4;
	return 8;
}

static enum exec_op matrix_op(const struct isa_form *form, bool store)
{
	static const enum exec_op ops[2][2] = {
		{OP_matrix_load, OP_matrix_load_transposed},
		{OP_matrix_store, OP_matrix_store_transposed},
	};
	bool transposed = isa_form_has(form, M_trans);

	if (isa_form_has(form, M_m8n8))
		return ops[store][transposed];
	return store        ? OP_matrix_store_bytes
	       : transposed ? OP_matrix_load_bytes_transposed
			    : OP_matrix_load_bytes;
}

static void emit_move(struct lower *l, const struct fragment *from)
{
	struct fragment to;
	u32 skip;

	if (!fragment_find(l, lower_named(l, 'd'), ROW_W, true, &to)) {
		matrix_refuse(l, "operands of another size than the fragments");
		return;
	}
	skip = matrix_meet(l);
	lower_emit_free(l, OP_matrix_move);
	lower_read(l, FIELD_A, from->row[0]);
	lower_write(l, FIELD_D, to.row[0]);
	matrix_end(l, skip);
}

void lower_matrix(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	bool store = isa_form_opcode(form) == OPCODE_stmatrix,
	     move = isa_form_opcode(form) == OPCODE_movmatrix;
	const struct ir_operand *data = lower_named(l, store || move ? 'a' : 'd');
	struct fragment f;
	struct lower_place p;
	struct uop *in;
	u32 skip;

	if (!matrix_runs(l))
		return;
	if (!l->arch->has_ldmatrix || (store && !l->arch->has_stmatrix)) {
		matrix_refuse(l, "the part has no such instruction");
		return;
	}
	if (!isa_form_has(form, M_m8n8) && !matrix_small_floats(l->arch)) {
		matrix_refuse(l, "the part has no matrices of bytes");
		return;
	}
	if (!fragment_find(l, data, ROW_W, !store && !move, &f) || f.n == 3 || f.n > 4) {
		matrix_refuse(l, "this form is checked only, not run");
		return;
	}
	if (move) {
		emit_move(l, &f);
		return;
	}
	if (!lower_memory(l, lower_named(l, 'p'), isa_form_word(form, ISA_K_SPACE, 0), &p) ||
	    p.space > MEM_SHARED) {
		matrix_refuse(l, "the address is not in shared memory");
		return;
	}
	skip = matrix_meet(l);
	in = lower_emit_free(l, matrix_op(form, store));
	in->mem.count = (u8)f.n;
	in->mem.size = 16;
	in->fragment.bits = (u8)matrix_bits(form);
	in->ext = (u32)l->ext.len;
	put_address(l, in, &p);
	fragment_add(l, &f);
	matrix_end(l, skip);
}

/* ---- wmma.load, wmma.store ---- */

/*
 * The same for Volta, see mma_octet: of 32 rows or columns each quarter of the warp has its own
 * eight.
 */
static struct wmma_move describe_octets(const struct isa_form *form, char which, u32 type,
					const struct shape *s)
{
	bool column = matrix_layout(form, 0, M_col);
	u32 rows = mma_row_octets(s->m), columns = mma_column_octets(s->n);
	struct wmma_move m = {.type = (u8)type, .octets = 1};

	m.sum = which != 'a' && which != 'b';
	m.along = which == 'b' ? column : !column;
	rows = which == 'b' ? columns : rows;
	m.by_row = rows & 3u;
	m.by_column = columns & 3u;
	return m;
}

static struct wmma_move describe_move(const struct isa_form *form, char which, u32 type,
				      const struct shape *s)
{
	bool column = matrix_layout(form, 0, M_col), transposed = s->n == 32;
	struct wmma_move m = {.type = (u8)type,
			      .words = (u8)(type == MMA_F64 ? s->k : s->k * mma_bits(type) / 32)};

	if (which == 'a') {
		m.eights = (u8)(s->m / 8);
		m.along = !column;
	} else if (which == 'b') {
		m.eights = (u8)(s->n / 8);
		m.along = column;
		m.words_first = s->n < 32;
	} else {
		m.eights = (u8)((transposed ? s->n : s->m) / 8);
		m.along = column == transposed;
		m.sum = 1;
	}
	return m;
}

/* Elements from one row (or column) to the next when the program gives no stride. */
static u32 default_stride(char which, bool column, const struct shape *s)
{
	if (which == 'a')
		return column ? s->m : s->k;
	if (which == 'b')
		return column ? s->k : s->n;
	return column ? s->m : s->n;
}

void lower_wmma(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	bool store = isa_form_opcode(form) == OPCODE_wmma_store_d;
	char which = isa_form_opcode(form) == OPCODE_wmma_load_a   ? 'a'
		     : isa_form_opcode(form) == OPCODE_wmma_load_b ? 'b'
		     : store                                       ? 'd'
								   : 'c';
	const struct ir_operand *stride = lower_named(l, 's');
	u32 type = matrix_type(form->type[0]), row, skip;
	struct wmma_move m;
	struct lower_place p;
	struct fragment f;
	struct shape s;
	struct uop *in;

	if (isa_form_opcode(form) == OPCODE_wmma_mma) {
		lower_mma(l);
		return;
	}
	if (type == MMA_TYPES || !matrix_shape(form, &s) ||
	    !fragment_find(l, lower_named(l, 'd'), type == MMA_F64 ? ROW_X : ROW_W, !store, &f)) {
		matrix_refuse(l, "this form is checked only, not run");
		return;
	}
	if (!l->arch->tensor_generation || (which != 'c' && which != 'd' &&
					    !matrix_has_shape(l->arch, type, &(struct shape){0}))) {
		matrix_refuse(l, "no tensor cores for this type");
		return;
	}
	if (!lower_memory(l, lower_named(l, 'p'), isa_form_word(form, ISA_K_SPACE, 0), &p) ||
	    p.space == MEM_LOCAL || p.space == MEM_PARAM) {
		matrix_refuse(l, "the address is neither in global nor in shared memory");
		return;
	}
	m = matrix_octets(l->arch) ? describe_octets(form, which, type, &s)
				   : describe_move(form, which, type, &s);
	row = stride ? lower_source(l, stride, T_u32, ROW_W)
		     : lower_const(l, ROW_W,
				   default_stride(which, matrix_layout(form, 0, M_col), &s));
	skip = matrix_meet(l);
	in = lower_emit_free(l, store ? OP_wmma_store : OP_wmma_load);
	in->mem.count = (u8)f.n;
	in->mem.size = (u8)(type == MMA_F64 ? 8 : 4);
	in->flags |= type == MMA_F64 ? UOPF_WIDE_DATA : 0;
	in->wmma = m;
	in->ext = (u32)l->ext.len;
	put_address(l, in, &p);
	lower_read(l, FIELD_B, row);
	fragment_add(l, &f);
	matrix_end(l, skip);
}
