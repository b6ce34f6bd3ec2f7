/*
 * Lowering of products of matrices: operands into lists of rows, the form and the device's rule for
 * sums into the micro-op. What the device has no tensor cores for becomes a fault.
 */
#include "src/lower/rules/lower_fragment.h"
#include "src/num/numeric.h"

static struct mma_rule rule_of(const struct arch *a, u32 type)
{
	struct mma_rule r = {.sum = MMA_FUSED,
			     .fraction = (u8)a->mma_fraction_bits,
			     .below = (u32)a->mma_below_normal & 15u};

	if (type == MMA_TF32) {
		r.block = (u8)a->mma_tf32_block;
	} else if (type >= MMA_E4M3 && type <= MMA_E2M1) {
		r.fraction = (u8)a->mma_fp8_fraction_bits;
		r.block = (u8)a->mma_fp8_block;
		if (r.fraction < a->mma_fraction_bits)
			r.sum = MMA_CUT;
		else if (!matrix_small_floats(a)) /* unpacked to f16 */
			r.sum = MMA_HALVES;
	} else {
		r.block = (u8)a->mma_f16_block;
	}
	return r;
}

/* ---- mma, mma.sp, wmma.mma ---- */

/* Types of A, B, C, D; wmma of f16 names those of D and C alone. */
static bool find_types(const struct isa_form *form, struct mma_form *f)
{
	f->d = (u8)matrix_type(form->type[0]);
	if (form->types == 2) {
		f->a = f->b = MMA_F16;
		f->c = (u8)matrix_type(form->type[1]);
	} else {
		f->a = (u8)matrix_type(form->type[1]);
		f->b = (u8)matrix_type(form->type[2]);
		f->c = form->types > 3 ? (u8)matrix_type(form->type[3]) : f->d;
	}
	return f->a < MMA_TYPES && f->b < MMA_TYPES && f->c < MMA_TYPES && f->d < MMA_TYPES &&
	       form->types <= (isa_form_word(form, ISA_K_BLOCKSCALE, 0) == ISA_NONE ? 4u : 5u);
}

static u32 round_mode(const struct isa_form *form)
{
	return isa_form_has(form, M_rz)   ? NUM_RZ
	       : isa_form_has(form, M_rm) ? NUM_RM
	       : isa_form_has(form, M_rp) ? NUM_RP
					  : NUM_RN;
}

static bool form_has_word(const struct isa_form *form, enum isa_kind kind)
{
	return isa_form_word(form, kind, 0) != ISA_NONE;
}

/* Do the operands have the registers of the fragments? wmma has more than it needs. */
static bool fragments_fit(const struct mma_form *f, enum exec_op op, const struct fragment *d,
			  const struct fragment *a, const struct fragment *b,
			  const struct fragment *c)
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

/* scales: of A and B; NULL: none. */
static void emit_product(struct lower *l, enum exec_op op, const struct mma_form *f,
			 const struct mma_rule *rule, const struct fragment *scales)
{
	const struct ir_operand *m = f->flags & MMA_SPARSE ? lower_named(l, 'm') : NULL;
	enum row_class class = f->a == MMA_F64 ? ROW_X : ROW_W;
	struct fragment d, a, b, c, meta = {0};
	struct uop *in;
	u32 skip;

	if (!fragment_find(l, lower_named(l, 'd'), class, true, &d) ||
	    !fragment_find(l, lower_named(l, 'a'), class, false, &a) ||
	    !fragment_find(l, lower_named(l, 'b'), class, false, &b) ||
	    !fragment_find(l, lower_named(l, 'c'), class, false, &c) ||
	    (m && !fragment_find(l, m, ROW_W, false, &meta)) ||
	    !fragments_fit(f, op, &d, &a, &b, &c)) {
		matrix_refuse(l, "operands of another size than the fragments");
		return;
	}
	skip = matrix_meet(l);
	in = lower_emit_free(l, op);
	in->product = (struct uop_product){
		.form = *f,
		.rule = *rule,
		.d = (u8)d.n,
		.a = (u8)a.n,
		.b = (u8)b.n,
		.c = (u8)c.n,
		.more = (u8)(meta.n + (scales ? scales[0].n + scales[1].n : 0))};
	in->ext = (u32)l->ext.len;
	fragment_add(l, &d);
	fragment_add(l, &a);
	fragment_add(l, &b);
	fragment_add(l, &c);
	fragment_add(l, &meta);
	for (u32 i = 0; scales && i < 2; i++)
		fragment_add(l, &scales[i]);
	matrix_end(l, skip);
}

static void lower_quads(struct lower *l, struct mma_form *f)
{
	struct mma_rule rule = rule_of(l->arch, MMA_F16);

	if (f->a != MMA_F16) {
		matrix_refuse(l, "no tensor cores for this type and shape");
		return;
	}
	if (matrix_layout(l->in->form, 0, M_col))
		f->flags |= MMA_COL_A;
	if (matrix_layout(l->in->form, 1, M_col))
		f->flags |= MMA_COL_B;
	if (l->arch->tensor_generation > 2)
		rule.block = 0; /* ordinary instructions in their place */
	emit_product(l, OP_mma_quads, f, &rule, NULL);
}

/* The operand whose name has two letters, `of` the second one. */
static const struct ir_operand *find_two(const struct lower *l, char first, char of)
{
	for (u32 i = 0; i < l->in->ops; i++) {
		const struct isa_operand *o = ir_operand_spec(
			l->in->form, &l->f->operands.at[l->in->first_op], l->in->ops, i);

		if (o && o->name[0] == first && o->name[1] == of)
			return lower_operand(l, i);
	}
	return NULL;
}

/* ---- block scales ---- */

/* The scales of A or B: their register, then the byte and the lanes, which may be constants. */
static bool find_scales(struct lower *l, char of, struct fragment *f)
{
	const struct ir_operand *scale = find_two(l, 's', of), *where = find_two(l, 'i', of);
	struct fragment place;

	if (!fragment_find(l, scale, ROW_W, false, f) || f->n != 1 ||
	    !fragment_find(l, where, ROW_W, false, &place) || place.n != 2)
		return false;
	f->row[f->n++] = place.row[0];
	f->row[f->n++] = place.row[1];
	return true;
}

static void lower_scaled(struct lower *l, struct mma_form *f, u32 k, bool sparse)
{
	const struct isa_form *form = l->in->form;
	bool pairs = !isa_form_has(form, M_kind_mxf8f6f4);
	struct mma_rule rule = rule_of(l->arch, MMA_E2M1);
	struct fragment scales[2];

	rule.block = isa_form_has(form, M_scale_vec_4X) ? 4 : pairs ? 2 : 1;
	if (pairs) {
		f->a = f->b = MMA_E2M1_PAIR;
		rule.fraction = (u8)l->arch->mma_scaled_fp4_fraction_bits;
	}
	f->flags |= (sparse ? MMA_SPARSE : 0) | (isa_form_has(form, T_ue4m3) ? MMA_SCALE_E4M3 : 0);
	f->rows = 2;
	f->columns = 1;
	f->words = (u8)(k * mma_bits(f->a) / (sparse ? 64 : 32));
	if (!find_scales(l, 'a', &scales[0]) || !find_scales(l, 'b', &scales[1])) {
		matrix_refuse(l, "scales of another form than the instruction has");
		return;
	}
	emit_product(l, OP_mma_scaled, f, &rule, scales);
}

/* The commonest forms have operations of their own: one tile, one block of dense factors. */
static enum exec_op tile_op(const struct mma_form *f, const struct mma_rule *rule, u32 k)
{
	static const struct {
		u8 type, sums, k; /* enum mma_type */
		enum exec_op op;
	} ops[] = {
		{MMA_F16, MMA_F32, 16, OP_mma_f16},  {MMA_F16, MMA_F32, 8, OP_mma_f16_k8},
		{MMA_F16, MMA_F16, 16, OP_mma_half}, {MMA_BF16, MMA_F32, 16, OP_mma_bf16},
		{MMA_TF32, MMA_F32, 8, OP_mma_tf32},
	};

	/* more bits than that and the sums leave 32 */
	if (f->rows != 2 || f->columns != 1 || f->flags & MMA_SPARSE || rule->sum != MMA_FUSED ||
	    (rule->block && rule->block < k) || rule->fraction > 25)
		return OP_mma;
	for (u32 i = 0; i < ARRAY_LEN(ops); i++)
		if (f->a == ops[i].type && f->b == ops[i].type && f->c == ops[i].sums &&
		    f->d == ops[i].sums && k == ops[i].k)
			return ops[i].op;
	return OP_mma;
}

static bool is_sparse_product(const struct isa_form *form)
{
	return isa_form_has(form, M_sp) || isa_form_has(form, M_sp_ordered_metadata);
}

static bool is_wmma(const struct isa_form *form)
{
	return isa_form_opcode(form) == OPCODE_wmma_mma;
}

/* What the device lacks for a product; NULL: nothing. */
static const char *missing_cores(const struct arch *a, const struct isa_form *form, u32 type,
				 const struct shape *s)
{
	static const struct shape any = {0};

	if (!matrix_has_shape(a, type, is_wmma(form) || is_sparse_product(form) ? &any : s) &&
	    !(s->k == 4 && type == MMA_F16 && a->mma_f16_shapes.len))
		return "no tensor cores for this type and shape";
	if (is_sparse_product(form) && !a->has_mma_sparse)
		return "no tensor cores for sparse matrices";
	if (isa_form_has(form, M_and) && !strstr(a->mma_b1_ops ? a->mma_b1_ops : "", "and"))
		return "no .and of single bits";
	return NULL;
}

/* m8n32 is computed as the transposed product. */
static void describe_product(const struct isa_form *form, const struct shape *s, struct mma_form *f)
{
	bool transposed = s->n == 32, sparse = is_sparse_product(form);

	f->flags |= isa_form_has(form, M_satfinite) ? MMA_SATURATE : 0;
	f->flags |= isa_form_has(form, M_and) ? MMA_AND : 0;
	f->flags |= sparse ? MMA_SPARSE : 0;
	f->flags |= transposed ? MMA_TRANSPOSED : 0;
	f->rows = (u8)((transposed ? s->n : s->m) / 8);
	f->columns = (u8)((transposed ? s->m : s->n) / 8);
	f->words = (u8)(f->a == MMA_F64 ? s->k : s->k * mma_bits(f->a) / (sparse ? 64 : 32));
}

static struct mma_rule find_rule(struct lower *l, const struct mma_form *f)
{
	const struct ir_operand *selector = lower_named(l, 's');
	struct mma_rule rule = rule_of(l->arch, f->a);

	if (is_wmma(l->in->form) && f->a == MMA_TF32)
		rule.block = 4;
	/*
	 * measured on an H200: of floating-point sums .satfinite only changes how f32 becomes f16
	 */
	rule.narrow = (f->flags & MMA_SATURATE) && f->c == MMA_F32 && f->d == MMA_F16;
	if (f->flags & MMA_SPARSE)
		rule.block = (u8)(2 * rule.block);
	if (f->a == MMA_F64)
		rule.extra = (u8)round_mode(l->in->form);
	else if (selector && selector->kind == IR_OP_INT)
		rule.extra = (u8)selector->imm;
	return rule;
}

void lower_mma(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	struct mma_form f = {0};
	struct mma_rule rule;
	const char *missing;
	struct shape s;

	if (!matrix_runs(l))
		return;
	if (!matrix_shape(form, &s) || !find_types(form, &f) ||
	    (form_has_word(form, ISA_K_KIND) && !matrix_small_floats(l->arch))) {
		matrix_refuse(l, "this form is checked only, not run");
		return;
	}
	if (form_has_word(form, ISA_K_BLOCKSCALE)) {
		lower_scaled(l, &f, s.k, is_sparse_product(form));
		return;
	}
	missing = missing_cores(l->arch, form, f.a, &s);
	if (missing) {
		matrix_refuse(l, missing);
		return;
	}
	describe_product(form, &s, &f);
	if ((s.k == 4 && s.m == 8 && f.a != MMA_F64) || (is_wmma(form) && matrix_octets(l->arch))) {
		lower_quads(l, &f);
		return;
	}
	rule = find_rule(l, &f);
	if (f.a <= MMA_E2M1 && !rule.fraction)
		matrix_refuse(l, "how the part adds products of this type is not known");
	else
		emit_product(l, tile_op(&f, &rule, s.k), &f, &rule, NULL);
}

/* ---- products that have a factor in common ---- */

static bool is_tile(const struct uop *in)
{
	switch (in->op) {
	case OP_mma_f16:
	case OP_mma_f16_k8:
	case OP_mma_half:
	case OP_mma_bf16:
	case OP_mma_tf32:
		return true;
	default:
		return false;
	}
}

/* Does the micro-op write one of these rows? */
static bool writes_rows(const struct program *p, const struct uop *in, const u32 *rows, u32 n)
{
	for (u32 d = 0; d < in->product.d; d++)
		for (u32 i = 0; i < n; i++)
			if (p->ext[in->ext + d] == rows[i])
				return true;
	return false;
}

/* The same rows in both micro-ops, which the first one leaves as they are? at: where they begin. */
static bool in_common(const struct program *p, const struct uop *in, const struct uop *then, u32 at,
		      u32 n)
{
	const u32 *first = p->ext + in->ext + at, *second = p->ext + then->ext + at;

	return !memcmp(first, second, n * sizeof(*first)) && !writes_rows(p, in, first, n);
}

/* Between two products only the meeting of lanes, of which none diverged since the first. */
void lower_mark_common(struct program *p)
{
	for (u32 i = 0; i + 2 < p->uops; i++) {
		struct uop *in = &p->uop[i], *then = in + 2;
		struct uop_product *x = &in->product;

		if (!is_tile(in) || then->op != in->op || in[1].op != OP_warp_sync ||
		    memcmp(&then->product.rule, &in->product.rule, sizeof(in->product.rule)) ||
		    in->func != then->func)
			continue;
		x->same_a = in_common(p, in, then, x->d, x->a);
		x->same_b = in_common(p, in, then, (u32)x->d + x->a, x->b);
	}
}

/*
 * ---- wgmma: runs when a warp issues it. On a device it begins when all four warps of the
 * warpgroup have issued it, and a warp that waits for a group waits for all four: they meet at
 * fences and at waits ----
 */

static void meet_warpgroup(struct lower *l)
{
	const struct ir_operand *n = lower_named(l, 'n');
	u32 skip = matrix_meet(l);

	lower_emit_free(l, OP_warpgroup_sync);
	if (isa_form_opcode(l->in->form) == OPCODE_wgmma_fence)
		lower_emit_mark(l, MARK_WGMMA_FENCE, 0);
	else
		lower_emit_mark(l, MARK_WGMMA_WAIT, n ? (u32)min_u64((u64)n->imm, UINT32_MAX) : 0);
	matrix_end(l, skip);
}

static bool is_literal(const struct ir_operand *op, s64 value)
{
	return op && op->kind == IR_OP_INT && op->imm == value;
}

static void emit_wgmma(struct lower *l, const struct mma_form *f, const struct mma_rule *rule,
		       bool by_registers)
{
	struct fragment d, c, a = {0}, meta = {0};
	const struct ir_operand *m = lower_named(l, 'm'), *p = lower_named(l, 'p');
	u32 wa = IR_NONE, wb, scale, skip;
	struct uop *in;

	if (!fragment_find(l, lower_named(l, 'd'), ROW_W, true, &d) ||
	    !fragment_find(l, lower_named(l, 'd'), ROW_W, false, &c) ||
	    (by_registers &&
	     (!fragment_find(l, lower_named(l, 'a'), ROW_W, false, &a) || a.n != 4)) ||
	    (m && !fragment_find(l, m, ROW_W, false, &meta)) || !p ||
	    d.n != l->in->form->number / 8u * (f->d == MMA_F16 ? 2 : 4)) {
		matrix_refuse(l, "operands of another size than the fragments");
		return;
	}
	if (!by_registers)
		wa = lower_source(l, lower_named(l, 'a'), T_u64, ROW_X);
	wb = lower_source(l, lower_named(l, 'b'), T_u64, ROW_X);
	scale = lower_source(l, p, T_pred, ROW_P);
	skip = matrix_meet(l);
	in = lower_emit_free(l, OP_wgmma);
	in->product = (struct uop_product){.form = *f,
					   .rule = *rule,
					   .d = (u8)d.n,
					   .a = (u8)a.n,
					   .c = (u8)c.n,
					   .more = (u8)meta.n,
					   .columns = (u8)(l->in->form->number / 8)};
	in->ext = (u32)l->ext.len;
	lower_read(l, FIELD_A, wa);
	lower_read(l, FIELD_B, wb);
	lower_read(l, FIELD_C, scale);
	fragment_add(l, &d);
	fragment_add(l, &c);
	fragment_add(l, &a);
	fragment_add(l, &meta);
	matrix_end(l, skip);
}

void lower_warpgroup(struct lower *l)
{
	if (!l->arch->has_wgmma)
		matrix_refuse(l, "the part has no such instruction");
	else if (isa_form_opcode(l->in->form) == OPCODE_wgmma_commit_group)
		lower_emit_mark(l, MARK_WGMMA_COMMIT, 0);
	else
		meet_warpgroup(l);
}

void lower_wgmma(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const struct ir_operand *a = lower_named(l, 'a'), *selector = lower_named(l, 's');
	struct mma_form f = {.rows = 2, .columns = 1, .words = 8};
	struct mma_rule rule = {.sum = MMA_FUSED,
				.fraction = (u8)l->arch->wgmma_fraction_bits,
				.below = (u32)l->arch->mma_below_normal & 15u};
	bool by_registers;

	if (!l->arch->has_wgmma) {
		matrix_refuse(l, "the part has no such instruction");
		return;
	}
	if (!find_types(form, &f) || !a) {
		matrix_refuse(l, "this form is checked only, not run");
		return;
	}
	by_registers =
		a->kind == IR_OP_VEC || (a->kind == IR_OP_REG && l->f->regs.at[a->index].vec > 1);
	if (f.a == MMA_E4M3 || f.a == MMA_E5M2)
		rule = (struct mma_rule){.sum = MMA_CUT,
					 .fraction = (u8)l->arch->wgmma_fp8_fraction_bits,
					 .below = (u32)l->arch->mma_below_normal & 15u};
	f.flags |= isa_form_has(form, M_satfinite) ? MMA_SATURATE : 0;
	f.flags |= isa_form_has(form, M_and) ? MMA_AND : 0;
	f.flags |= lower_named(l, 'm') ? MMA_SPARSE : 0;
	rule.extra = selector && selector->kind == IR_OP_INT ? (u8)selector->imm : 0;
	f.flags |= is_literal(lower_named(l, 'u'), -1) != is_literal(lower_named(l, 'v'), -1)
			   ? MMA_NEGATE
			   : 0;
	f.flags |= is_literal(find_two(l, 't', 'a'), 1) ? MMA_COL_A : 0;
	f.flags |= is_literal(find_two(l, 't', 'b'), 1) ? MMA_COL_B : 0;
	emit_wgmma(l, &f, &rule, by_registers);
}
