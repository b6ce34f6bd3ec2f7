/*
 * Lowering of matrix instructions: operands into lists of rows, the form and the device's rule for
 * sums into the record. Lanes that have parted meet before them, as .sync says. What the device has
 * no tensor cores for becomes a fault.
 */
#include "src/exec/lower_int.h"
#include "src/exec/mma_op.h"
#include "src/exec/numeric.h"
#include "src/exec/warp_op.h"

#include <stdio.h>

struct shape {
	u32 m, n, k;
};

static bool find_shape(const struct isa_form *form, struct shape *s)
{
	for (u32 i = 0; i < form->row->slots; i++)
		if (form->word[i] != ISA_NONE && isa_word_kind(form->word[i]) == ISA_K_SHAPE &&
		    sscanf(isa_word_text(form->word[i]), "m%un%uk%u", &s->m, &s->n, &s->k) == 3)
			return true;
	return false;
}

static u32 mma_type(u32 type)
{
	static const struct {
		u8 type, mma;
	} types[] = {
		{T_f16, MMA_F16},   {T_bf16, MMA_BF16}, {T_tf32, MMA_TF32}, {T_e4m3, MMA_E4M3},
		{T_e5m2, MMA_E5M2}, {T_e3m2, MMA_E3M2}, {T_e2m3, MMA_E2M3}, {T_e2m1, MMA_E2M1},
		{T_f64, MMA_F64},   {T_f32, MMA_F32},   {T_s32, MMA_S32},   {T_s8, MMA_S8},
		{T_u8, MMA_U8},     {T_s4, MMA_S4},     {T_u4, MMA_U4},     {T_b1, MMA_B1},
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (types[i].type == type)
			return types[i].mma;
	return MMA_TYPES;
}

/* ---- what the device can ---- */

static const struct arch_shapes *device_shapes(const struct arch *a, u32 type)
{
	switch (type) {
	case MMA_F16:
		return &a->mma_f16_shapes;
	case MMA_BF16:
		return &a->mma_bf16_shapes;
	case MMA_TF32:
		return &a->mma_tf32_shapes;
	case MMA_F64:
		return &a->mma_f64_shapes;
	case MMA_E4M3:
	case MMA_E5M2:
	case MMA_E3M2:
	case MMA_E2M3:
	case MMA_E2M1:
		return &a->mma_fp8_shapes;
	case MMA_S8:
	case MMA_U8:
		return &a->mma_s8_shapes;
	case MMA_S4:
	case MMA_U4:
		return &a->mma_s4_shapes;
	default:
		return &a->mma_b1_shapes;
	}
}

/* m 0: any shape of the type will do. */
static bool has_shape(const struct arch *a, u32 type, const struct shape *s)
{
	const struct arch_shapes *list = device_shapes(a, type);

	for (u32 i = 0; i < list->len; i++)
		if (!s->m ||
		    (list->at[i].m == s->m && list->at[i].n == s->n && list->at[i].k == s->k))
			return true;
	return false;
}

static void refuse(struct lower *l, const char *why)
{
	char text[160];

	snprintf(text, sizeof(text), "%s on %s: %s", l->in->form->row->name[l->in->form->name],
		 l->arch->id, why);
	lower_poison(l, text);
}

/* fp6 and fp4, and .kind: from compute capability 10 on. */
static bool has_small_floats(const struct arch *a)
{
	return a->tensor_generation >= 5;
}

static struct mma_rule rule_of(const struct arch *a, u32 type)
{
	struct mma_rule r = {.sum = MMA_FUSED, .fraction = (u8)a->mma_fraction_bits};

	if (type == MMA_TF32) {
		r.block = (u8)a->mma_tf32_block;
	} else if (type >= MMA_E4M3 && type <= MMA_E2M1) {
		r.fraction = (u8)a->mma_fp8_fraction_bits;
		r.block = (u8)a->mma_fp8_block;
		if (r.fraction < a->mma_fraction_bits)
			r.sum = MMA_CUT;
		else if (!has_small_floats(a)) /* unpacked to f16 */
			r.sum = MMA_HALVES;
	} else {
		r.block = (u8)a->mma_f16_block;
	}
	return r;
}

/* ---- operands ---- */

static struct ir_operand element(const struct lower *l, const struct ir_operand *op, u32 i)
{
	struct ir_operand e = *op;

	if (op->kind == IR_OP_VEC)
		return l->f->operands.at[op->index + i];
	if (op->kind == IR_OP_REG && l->f->regs.at[op->index].vec > 1)
		e.part = (u8)(IR_PART_X + i);
	return e;
}

static u32 count_of(const struct lower *l, const struct ir_operand *op)
{
	if (op->kind == IR_OP_VEC)
		return (u32)op->imm;
	return op->kind == IR_OP_REG && l->f->regs.at[op->index].vec ? l->f->regs.at[op->index].vec
								     : 1;
}

#define FRAGMENT_MAX 130u

struct fragment {
	u32 n, row[FRAGMENT_MAX];
	bool write;
};

/* Rows of an operand; may emit conversions, so before the record. */
static bool find_fragment(struct lower *l, const struct ir_operand *op, enum row_class class,
			  bool write, struct fragment *f)
{
	f->n = op ? count_of(l, op) : 0;
	f->write = write;
	if (!op || f->n > FRAGMENT_MAX)
		return false;
	for (u32 i = 0; i < f->n; i++) {
		struct ir_operand e = element(l, op, i);

		if (write)
			f->row[i] = e.kind == IR_OP_REG ? lower_register(l, &e, 0) : IR_NONE;
		else
			f->row[i] = lower_source(l, &e, class == ROW_X ? T_f64 : T_b32, class);
		if (f->row[i] != IR_NONE && l->vregs.at[f->row[i]].class != class)
			return false;
	}
	return true;
}

static void add_fragment(struct lower *l, const struct fragment *f)
{
	for (u32 i = 0; i < f->n; i++)
		lower_ext(l, f->row[i], f->write);
}

/* Lanes that have parted come together; a guard becomes a branch around. */
static u32 meet(struct lower *l)
{
	u32 skip = l->guard != IR_NONE ? lower_skip(l) : IR_NONE;
	struct insn *in = lower_emit_free(l, OP_warp_sync);

	in->imm = FULL_MASK;
	in->count = WARP_BARRIER;
	in->ext = (u32)l->ext.len;
	lower_ext(l, IR_NONE, false);
	lower_ext(l, IR_NONE, false);
	return skip;
}

static void end(struct lower *l, u32 skip)
{
	if (skip != IR_NONE)
		lower_skip_end(l, skip);
}

/* ---- mma, mma.sp, wmma.mma ---- */

static bool is_layout(const struct isa_form *form, u32 n, u32 word)
{
	return isa_form_word(form, ISA_K_LAYOUT, n) == word;
}

/* Types of A, B, C, D; wmma of f16 names those of D and C alone. */
static bool find_types(const struct isa_form *form, struct mma_form *f)
{
	f->d = (u8)mma_type(form->type[0]);
	if (form->types == 2) {
		f->a = f->b = MMA_F16;
		f->c = (u8)mma_type(form->type[1]);
	} else {
		f->a = (u8)mma_type(form->type[1]);
		f->b = (u8)mma_type(form->type[2]);
		f->c = form->types > 3 ? (u8)mma_type(form->type[3]) : f->d;
	}
	return f->a < MMA_TYPES && f->b < MMA_TYPES && f->c < MMA_TYPES && f->d < MMA_TYPES &&
	       form->types <= 4;
}

static u32 round_mode(const struct isa_form *form)
{
	return isa_form_has(form, M_rz)   ? NUM_RZ
	       : isa_form_has(form, M_rm) ? NUM_RM
	       : isa_form_has(form, M_rp) ? NUM_RP
					  : NUM_RN;
}

static bool has_word(const struct isa_form *form, enum isa_kind kind)
{
	return isa_form_word(form, kind, 0) != ISA_NONE;
}

/* Do the operands have the registers of the fragments? wmma has more than it needs. */
static bool fits(const struct mma_form *f, enum exec_op op, const struct fragment *d,
		 const struct fragment *a, const struct fragment *b, const struct fragment *c)
{
	u32 quads = f->words / 4u, left = f->rows * quads,
	    right = f->columns * quads << (f->flags & MMA_SPARSE ? 1 : 0);
	u32 sums = (u32)f->rows * f->columns;

	if (op == OP_mma_quads)
		return a->n == f->words && b->n == f->words && c->n == (f->c == MMA_F16 ? 4 : 8) &&
		       d->n == (f->d == MMA_F16 ? 4 : 8);
	if (f->flags & MMA_TRANSPOSED) {
		const struct fragment *swap = a;

		a = b;
		b = swap;
	}
	return a->n >= left && b->n >= right && c->n == sums * (f->c == MMA_F16 ? 1 : 2) &&
	       d->n == sums * (f->d == MMA_F16 ? 1 : 2);
}

static void emit_product(struct lower *l, enum exec_op op, const struct mma_form *f,
			 const struct mma_rule *rule)
{
	const struct ir_operand *m = f->flags & MMA_SPARSE ? lower_named(l, 'm') : NULL;
	enum row_class class = f->a == MMA_F64 ? ROW_X : ROW_W;
	struct fragment d, a, b, c, meta = {0};
	struct insn *in;
	u32 skip;

	if (!find_fragment(l, lower_named(l, 'd'), class, true, &d) ||
	    !find_fragment(l, lower_named(l, 'a'), class, false, &a) ||
	    !find_fragment(l, lower_named(l, 'b'), class, false, &b) ||
	    !find_fragment(l, lower_named(l, 'c'), class, false, &c) ||
	    (m && !find_fragment(l, m, ROW_W, false, &meta)) || !fits(f, op, &d, &a, &b, &c)) {
		refuse(l, "operands of another size than the fragments");
		return;
	}
	skip = meet(l);
	in = lower_emit_free(l, op);
	memcpy(&in->imm, f, sizeof(*f));
	memcpy(&in->pad, rule, sizeof(*rule));
	in->size = (u8)d.n;
	in->count = (u8)a.n;
	in->space = (u8)b.n;
	in->ext = (u32)l->ext.len;
	add_fragment(l, &d);
	add_fragment(l, &a);
	add_fragment(l, &b);
	add_fragment(l, &c);
	add_fragment(l, &meta);
	end(l, skip);
}

/* Volta: fragments are those of m8n8k4. */
static bool has_octets(const struct arch *a)
{
	return a->tensor_generation == 1;
}

static void lower_quads(struct lower *l, struct mma_form *f)
{
	struct mma_rule rule = rule_of(l->arch, MMA_F16);

	if (f->a != MMA_F16) {
		refuse(l, "no tensor cores for this type and shape");
		return;
	}
	if (is_layout(l->in->form, 0, M_col))
		f->flags |= MMA_COL_A;
	if (is_layout(l->in->form, 1, M_col))
		f->flags |= MMA_COL_B;
	if (l->arch->tensor_generation > 2)
		rule.block = 0; /* ordinary instructions in their place */
	emit_product(l, OP_mma_quads, f, &rule);
}

void lower_mma(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const struct ir_operand *selector = lower_named(l, 's');
	bool wmma = !strncmp(form->row->name[form->name], "wmma", 4),
	     sparse = strstr(form->row->name[form->name], "mma.sp") != NULL;
	struct mma_form f = {0};
	struct mma_rule rule;
	struct shape s;

	sparse |= isa_form_has(form, M_sp) || isa_form_has(form, M_sp_ordered_metadata);
	if (has_word(form, ISA_K_BLOCKSCALE)) {
		refuse(l, "block-scaled products are checked only, not run");
		return;
	}
	if (!find_shape(form, &s) || !find_types(form, &f) ||
	    (has_word(form, ISA_K_KIND) &&
	     !(isa_form_has(form, M_kind_f8f6f4) && has_small_floats(l->arch)))) {
		refuse(l, "this form is checked only, not run");
		return;
	}
	if (!has_shape(l->arch, f.a, wmma || sparse ? &(struct shape){0} : &s) &&
	    !(s.k == 4 && f.a == MMA_F16 && l->arch->mma_f16_shapes.len)) {
		refuse(l, "no tensor cores for this type and shape");
		return;
	}
	if (sparse && !l->arch->has_mma_sparse) {
		refuse(l, "no tensor cores for sparse matrices");
		return;
	}
	if (isa_form_has(form, M_and) &&
	    !strstr(l->arch->mma_b1_ops ? l->arch->mma_b1_ops : "", "and")) {
		refuse(l, "no .and of single bits");
		return;
	}
	f.flags |= isa_form_has(form, M_satfinite) ? MMA_SATURATE : 0;
	f.flags |= isa_form_has(form, M_and) ? MMA_AND : 0;
	f.flags |= sparse ? MMA_SPARSE : 0;
	f.flags |= s.n == 32 ? MMA_TRANSPOSED : 0;
	f.rows = (u8)((s.n == 32 ? s.n : s.m) / 8);
	f.columns = (u8)((s.n == 32 ? s.m : s.n) / 8);
	f.words = (u8)(f.a == MMA_F64 ? s.k : s.k * mma_bits(f.a) / (sparse ? 64 : 32));
	if ((f.flags & MMA_SATURATE) && f.a < MMA_S8) {
		refuse(l, "saturation of floating-point products is not known");
		return;
	}
	if ((s.k == 4 && s.m == 8 && f.a != MMA_F64) || (wmma && has_octets(l->arch))) {
		lower_quads(l, &f);
		return;
	}
	rule = rule_of(l->arch, f.a);
	if (f.a <= MMA_E2M1 && !rule.fraction) {
		refuse(l, "how the part adds products of this type is not known");
		return;
	}
	if (wmma && f.a == MMA_TF32)
		rule.block = 4;
	if (sparse)
		rule.block = (u8)(2 * rule.block);
	rule.extra = (u8)(f.a == MMA_F64                            ? round_mode(form)
			  : selector && selector->kind == IR_OP_INT ? (u32)selector->imm
								    : 0);
	emit_product(l, OP_mma, &f, &rule);
}

/* ---- ldmatrix, stmatrix, movmatrix ---- */

static void put_address(struct lower *l, struct insn *in, const struct lower_place *p)
{
	in->imm = p->imm;
	in->space = (u8)p->space;
	in->flags |= p->wide ? INSN_WIDE : 0;
	lower_read(l, FIELD_A, p->base);
}

/* What `pad` says of ldmatrix and stmatrix: transposed, and behind that, of bytes, the bits of a number. */
static u32 matrix_kind(const struct isa_form *form)
{
	u32 bits = 8, turned = isa_form_has(form, M_trans);

	if (isa_form_has(form, M_m8n8))
		return turned;
	for (u32 i = 0; i < form->types; i++)
		bits = form->type[i] == T_b6x16_p32   ? 6
		       : form->type[i] == T_b4x16_p64 ? 4
						      : bits;
	return turned | bits << 1;
}

static enum exec_op matrix_op(const struct isa_form *form, bool store)
{
	if (isa_form_has(form, M_m8n8))
		return store ? OP_matrix_store : OP_matrix_load;
	return store ? OP_matrix_store_bytes : OP_matrix_load_bytes;
}

void lower_matrix(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const char *name = form->row->name[form->name];
	bool store = !strncmp(name, "stmatrix", 8), move = !strncmp(name, "movmatrix", 9);
	const struct ir_operand *data = lower_named(l, store || move ? 'a' : 'd');
	struct fragment f, d;
	struct lower_place p;
	struct insn *in;
	u32 skip;

	if (!l->arch->has_ldmatrix || (store && !l->arch->has_stmatrix)) {
		refuse(l, "the part has no such instruction");
		return;
	}
	if (!isa_form_has(form, M_m8n8) && !has_small_floats(l->arch)) {
		refuse(l, "the part has no matrices of bytes");
		return;
	}
	if (!find_fragment(l, data, ROW_W, !store && !move, &f) || f.n == 3 || f.n > 4) {
		refuse(l, "this form is checked only, not run");
		return;
	}
	if (move) {
		if (!find_fragment(l, lower_named(l, 'd'), ROW_W, true, &d)) {
			refuse(l, "operands of another size than the fragments");
			return;
		}
		skip = meet(l);
		lower_emit_free(l, OP_matrix_move);
		lower_read(l, FIELD_A, f.row[0]);
		lower_write(l, FIELD_D, d.row[0]);
		end(l, skip);
		return;
	}
	if (!lower_memory(l, lower_named(l, 'p'), isa_form_word(form, ISA_K_SPACE, 0), &p) ||
	    p.space > MEM_SHARED) {
		refuse(l, "the address is not in shared memory");
		return;
	}
	skip = meet(l);
	in = lower_emit_free(l, matrix_op(form, store));
	in->count = (u8)f.n;
	in->size = 16;
	in->pad = matrix_kind(form);
	in->ext = (u32)l->ext.len;
	put_address(l, in, &p);
	add_fragment(l, &f);
	end(l, skip);
}

/* ---- wmma.load, wmma.store ---- */

/* The same for Volta, see mma_octet: of 32 rows or columns each quarter of the warp has its own eight. */
static struct wmma_move describe_octets(const struct isa_form *form, char which, u32 type,
					const struct shape *s)
{
	bool column = is_layout(form, 0, M_col);
	u32 rows = s->m == 16 ? MMA_OCTET_EVEN : s->m == 32 ? MMA_OCTET_EACH : MMA_OCTET_ALL;
	u32 columns = s->n == 16 ? MMA_OCTET_HALF : s->n == 32 ? MMA_OCTET_EACH : MMA_OCTET_ALL;
	struct wmma_move m = {.type = (u8)type, .octets = 1};

	m.sum = which != 'a' && which != 'b';
	m.along = which == 'b' ? column : !column;
	rows = which == 'b' ? columns : rows;
	m.by_row = rows & 3u;
	m.by_column = columns & 3u;
	return m;
}

static struct wmma_move describe(const struct isa_form *form, char which, u32 type,
				 const struct shape *s)
{
	bool column = is_layout(form, 0, M_col), turned = s->n == 32;
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
		m.eights = (u8)((turned ? s->n : s->m) / 8);
		m.along = column == turned;
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
	const char *name = form->row->name[form->name];
	bool store = !strncmp(name, "wmma.store", 10);
	char which = store ? 'd' : name[10];
	const struct ir_operand *stride = lower_named(l, 's');
	u32 type = mma_type(form->type[0]), row, skip;
	struct wmma_move m;
	struct lower_place p;
	struct fragment f;
	struct shape s;
	struct insn *in;

	if (!strncmp(name, "wmma.mma", 8)) {
		lower_mma(l);
		return;
	}
	if (type == MMA_TYPES || !find_shape(form, &s) ||
	    !find_fragment(l, lower_named(l, 'd'), type == MMA_F64 ? ROW_X : ROW_W, !store, &f)) {
		refuse(l, "this form is checked only, not run");
		return;
	}
	if (!l->arch->tensor_generation ||
	    (which != 'c' && which != 'd' && !has_shape(l->arch, type, &(struct shape){0}))) {
		refuse(l, "no tensor cores for this type");
		return;
	}
	if (!lower_memory(l, lower_named(l, 'p'), isa_form_word(form, ISA_K_SPACE, 0), &p) ||
	    p.space == MEM_LOCAL || p.space == MEM_PARAM) {
		refuse(l, "the address is neither in global nor in shared memory");
		return;
	}
	m = has_octets(l->arch) ? describe_octets(form, which, type, &s)
				: describe(form, which, type, &s);
	row = stride ? lower_source(l, stride, T_u32, ROW_W)
		     : lower_const(l, ROW_W, default_stride(which, is_layout(form, 0, M_col), &s));
	skip = meet(l);
	in = lower_emit_free(l, store ? OP_wmma_store : OP_wmma_load);
	in->count = (u8)f.n;
	in->size = (u8)(type == MMA_F64 ? 8 : 4);
	in->flags |= type == MMA_F64 ? INSN_WIDE_DATA : 0;
	memcpy(&in->pad, &m, sizeof(m));
	in->ext = (u32)l->ext.len;
	put_address(l, in, &p);
	lower_read(l, FIELD_B, row);
	add_fragment(l, &f);
	end(l, skip);
}

/* ---- wgmma: runs when it is issued, so fences, groups and waits have nothing to do ---- */

static bool is_constant(const struct ir_operand *op, s64 value)
{
	return op && op->kind == IR_OP_INT && op->imm == value;
}

/* The n-th operand whose name has two letters and begins with t: ta, tb. */
static const struct ir_operand *transpose_operand(const struct lower *l, char of)
{
	for (u32 i = 0; i < l->in->ops; i++) {
		const struct isa_operand *o = ir_operand_spec(
			l->in->form, &l->f->operands.at[l->in->first_op], l->in->ops, i);

		if (o && o->name[0] == 't' && o->name[1] == of)
			return lower_operand(l, i);
	}
	return NULL;
}

static void emit_wgmma(struct lower *l, const struct mma_form *f, const struct mma_rule *rule,
		       bool by_registers)
{
	struct fragment d, c, a = {0}, meta = {0};
	const struct ir_operand *m = lower_named(l, 'm'), *p = lower_named(l, 'p');
	u32 wa = IR_NONE, wb, scale, skip;
	struct insn *in;

	if (!find_fragment(l, lower_named(l, 'd'), ROW_W, true, &d) ||
	    !find_fragment(l, lower_named(l, 'd'), ROW_W, false, &c) ||
	    (by_registers &&
	     (!find_fragment(l, lower_named(l, 'a'), ROW_W, false, &a) || a.n != 4)) ||
	    (m && !find_fragment(l, m, ROW_W, false, &meta)) || !p ||
	    d.n != l->in->form->number / 8u * (f->d == MMA_F16 ? 2 : 4)) {
		refuse(l, "operands of another size than the fragments");
		return;
	}
	if (!by_registers)
		wa = lower_source(l, lower_named(l, 'a'), T_u64, ROW_X);
	wb = lower_source(l, lower_named(l, 'b'), T_u64, ROW_X);
	scale = lower_source(l, p, T_pred, ROW_P);
	skip = meet(l);
	in = lower_emit_free(l, OP_wgmma);
	memcpy(&in->imm, f, sizeof(*f));
	memcpy(&in->pad, rule, sizeof(*rule));
	in->size = (u8)d.n;
	in->count = (u8)(l->in->form->number / 8);
	in->ext = (u32)l->ext.len;
	lower_read(l, FIELD_A, wa);
	lower_read(l, FIELD_B, wb);
	lower_read(l, FIELD_C, scale);
	add_fragment(l, &d);
	add_fragment(l, &c);
	add_fragment(l, &a);
	add_fragment(l, &meta);
	end(l, skip);
}

void lower_wgmma(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const char *name = form->row->name[form->name];
	const struct ir_operand *a = lower_named(l, 'a'), *selector = lower_named(l, 's');
	struct mma_form f = {.rows = 2, .columns = 1, .words = 8};
	struct mma_rule rule = {.sum = MMA_FUSED, .fraction = (u8)l->arch->wgmma_fraction_bits};
	bool by_registers;

	if (!l->arch->has_wgmma) {
		refuse(l, "the part has no such instruction");
		return;
	}
	if (strncmp(name, "wgmma.mma_async", 15))
		return;
	if (!find_types(form, &f) || !a) {
		refuse(l, "this form is checked only, not run");
		return;
	}
	by_registers =
		a->kind == IR_OP_VEC || (a->kind == IR_OP_REG && l->f->regs.at[a->index].vec > 1);
	if (f.a == MMA_E4M3 || f.a == MMA_E5M2)
		rule = (struct mma_rule){.sum = MMA_CUT,
					 .fraction = (u8)l->arch->wgmma_fp8_fraction_bits};
	f.flags |= isa_form_has(form, M_satfinite) ? MMA_SATURATE : 0;
	f.flags |= isa_form_has(form, M_and) ? MMA_AND : 0;
	f.flags |= lower_named(l, 'm') ? MMA_SPARSE : 0;
	rule.extra = selector && selector->kind == IR_OP_INT ? (u8)selector->imm : 0;
	f.flags |= is_constant(lower_named(l, 'u'), -1) != is_constant(lower_named(l, 'v'), -1)
			   ? MMA_NEGATE
			   : 0;
	f.flags |= is_constant(transpose_operand(l, 'a'), 1) ? MMA_COL_A : 0;
	f.flags |= is_constant(transpose_operand(l, 'b'), 1) ? MMA_COL_B : 0;
	emit_wgmma(l, &f, &rule, by_registers);
}
