/*
 * Products that go into a sum: mul and add become one fma, rounded once.
 *
 * PTX ISA "Floating-Point Instructions: add", "sub", "mul" allow it where no rounding modifier is
 * given, and compilers count on it (nvcc leaves a * b - c to the assembler). What a device computes
 * is therefore a matter of ptxas's rule, which was measured on what ptxas 13.0 makes of small
 * kernels:
 *
 * - product and sum have no rounding modifier, the same type and the same .ftz; the product has no
 *   .sat and no guard, the sum may have both. div.approx and div.full end with a product, too;
 * - both are in one basic block, unless a factor is a constant for the hardware: an immediate, a
 *   kernel parameter, a constant variable at a fixed place. Fences and membar end a block, bar.sync
 *   does not; divisions and roots that are routines with branches end one, and so does what is
 *   guarded and more than arithmetic;
 * - every use of the product is such a sum, with copies and negations between looked through: a
 *   product that is stored as well is rounded, and so are its sums;
 * - of two products in a sum the one without other uses goes in, then the first;
 * - a product left over by such a sum is rounded, and then in all its other sums that come later.
 *
 * Quotients by a number, div.approx and div.full, are products with its reciprocal rounded to
 * nearest, not with what the reciprocal unit makes of it.
 *
 * Modules for debugging (.target with `debug`) are left as they are, as by ptxas -O0.
 */
#include "src/ir/leaving.h"
#include "src/lower/lower_contract_int.h"

#include <stdlib.h>

#define NO_PRODUCT UINT32_MAX

static const struct kind kinds[] = {
	{{T_f32, .ftz = false}, ROW_W, OP_fma_f32, OP_fms_f32, OP_fnma_f32, OP_neg_f32},
	{{T_f32, .sat = true}, ROW_W, OP_fma_sat_f32, EXEC_OPS, EXEC_OPS, OP_neg_f32},
	{{T_f32, .ftz = true},
	 ROW_W,
	 OP_fma_ftz_f32,
	 OP_fms_ftz_f32,
	 OP_fnma_ftz_f32,
	 OP_neg_ftz_f32},
	{{T_f32, .ftz = true, .sat = true},
	 ROW_W,
	 OP_fma_ftz_sat_f32,
	 EXEC_OPS,
	 EXEC_OPS,
	 OP_neg_ftz_f32},
	{{T_f64, .ftz = false}, ROW_X, OP_fma_f64, OP_fms_f64, OP_fnma_f64, OP_neg_f64},
	{{T_f16, .ftz = false}, ROW_W, OP_fma_f16, EXEC_OPS, EXEC_OPS, OP_neg_any_f16},
	{{T_f16x2, .ftz = false}, ROW_W, OP_fma_f16x2, EXEC_OPS, EXEC_OPS, OP_neg_any_f16x2},
	{{T_bf16, .ftz = false}, ROW_W, OP_fma_bf16, EXEC_OPS, EXEC_OPS, OP_neg_bf16},
	{{T_bf16x2, .ftz = false}, ROW_W, OP_fma_bf16x2, EXEC_OPS, EXEC_OPS, OP_neg_bf16x2},
};

static const struct source sources[] = {
	{OPCODE_mul, ISA_NONE, {T_f32, .ftz = false}, EXEC_OPS, EXEC_OPS},
	{OPCODE_mul, ISA_NONE, {T_f32, .ftz = true}, EXEC_OPS, EXEC_OPS},
	{OPCODE_mul, ISA_NONE, {T_f64, .ftz = false}, EXEC_OPS, EXEC_OPS},
	{OPCODE_mul, ISA_NONE, {T_f16, .ftz = false}, EXEC_OPS, EXEC_OPS},
	{OPCODE_mul, ISA_NONE, {T_f16x2, .ftz = false}, EXEC_OPS, EXEC_OPS},
	{OPCODE_mul, ISA_NONE, {T_bf16, .ftz = false}, EXEC_OPS, EXEC_OPS},
	{OPCODE_mul, ISA_NONE, {T_bf16x2, .ftz = false}, EXEC_OPS, EXEC_OPS},
	{OPCODE_div, M_approx, {T_f32, .ftz = false}, OP_div_approx_a, OP_div_approx_r},
	{OPCODE_div, M_approx, {T_f32, .ftz = true}, EXEC_OPS, OP_div_approx_ftz_r},
	{OPCODE_div_full, ISA_NONE, {T_f32, .ftz = false}, OP_div_full_a, OP_div_full_r},
	{OPCODE_div_full, ISA_NONE, {T_f32, .ftz = true}, OP_div_full_ftz_a, OP_div_full_ftz_r},
};

static bool same_precision(const struct precision *a, const struct precision *b)
{
	return a->type == b->type && a->ftz == b->ftz && a->sat == b->sat;
}

/* False: there is more than a type, .ftz, .sat and the modifier `with`, a rounding for example. */
static bool precision_of(const struct isa_form *form, enum isa_word with, struct precision *in)
{
	*in = (struct precision){.type = form->types ? form->type[0] : ISA_NONE,
				 .ftz = isa_form_has(form, M_ftz),
				 .sat = isa_form_has(form, M_sat)};
	for (u32 i = 0; i < form->row->slots; i++) {
		u32 word = form->word[i];

		if (word >= ISA_TYPES && word != M_ftz && word != M_sat && word != with)
			return false;
	}
	return form->types == 1;
}

static const struct source *find_source(const struct ir_insn *in)
{
	enum isa_mnemonic opcode = ir_opcode(in);
	struct precision is;

	for (size_t i = 0; in->ops == 3 && i < ARRAY_LEN(sources); i++)
		if (sources[i].opcode == opcode &&
		    (!sources[i].with || isa_form_has(in->form, sources[i].with)) &&
		    precision_of(in->form, sources[i].with, &is) &&
		    same_precision(&is, &sources[i].in))
			return &sources[i];
	return NULL;
}

static const struct kind *find_sum(const struct ir_insn *in, bool *minus)
{
	enum isa_mnemonic opcode = ir_opcode(in);
	struct precision is;

	*minus = opcode == OPCODE_sub;
	if ((opcode != OPCODE_add && !*minus) || in->ops != 3 ||
	    !precision_of(in->form, ISA_NONE, &is))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (same_precision(&is, &kinds[i].in))
			return &kinds[i];
	return NULL;
}

/* ---- reads and writes ---- */

static void visit_operand(struct lower *l, const struct ir_operand *op, u32 roles,
			  lower_visitor *see)
{
	switch (op->kind) {
	case IR_OP_REG:
		see(l, op->index, roles);
		break;
	case IR_OP_ADDR_REG:
		see(l, op->index, ISA_READ);
		break;
	case IR_OP_COMPOUND:
		roles = ISA_READ; /* fall through */
	case IR_OP_VEC:
	case IR_OP_LIST:
		for (u32 i = 0; i < (u32)op->imm; i++)
			visit_operand(l, &l->f->operands.at[op->index + i], roles, see);
		break;
	default:
		break;
	}
}

void lower_visit(struct lower *l, const struct ir_insn *in, lower_visitor *see)
{
	const struct ir_operand *ops = &l->f->operands.at[in->first_op];

	for (u32 pass = ISA_READ; pass <= ISA_WRITE; pass <<= 1)
		for (u32 i = 0; in->form && i < in->ops; i++) {
			const struct isa_operand *o = ir_operand_spec(in->form, ops, in->ops, i);
			u32 roles = (o ? o->role : ISA_READ | ISA_WRITE) & pass;

			if (roles || ops[i].kind == IR_OP_ADDR_REG || ops[i].kind == IR_OP_COMPOUND)
				visit_operand(l, &ops[i], roles, see);
		}
}

/* mov of a number, ld of a kernel's parameter or of a variable in constant memory. */
static bool is_constant_source(const struct lower *l, const struct ir_insn *in)
{
	const struct ir_operand *op = &l->f->operands.at[in->first_op + 1];
	u32 space;

	if (in->ops != 2 || in->guard != IR_NONE)
		return false;
	if (ir_opcode(in) == OPCODE_mov)
		return op->kind == IR_OP_FLOAT || op->kind == IR_OP_INT;
	if (ir_opcode(in) != OPCODE_ld || op->kind != IR_OP_ADDR_VAR)
		return false;
	space = l->m->vars.at[op->index]->space;
	return space == M_const ||
	       (space == M_param && l->f->is_entry && lower_is_formal(l->f, op->index));
}

static void expose(struct lower *l, u32 reg, u32 roles)
{
	struct contract *c = l->contract;

	if (roles == ISA_READ) {
		c->reads[reg]++;
		c->exposed[reg] |= c->written[reg] <= c->first_insn;
		return;
	}
	c->defs[reg]++;
	c->constant[reg] = is_constant_source(l, l->in);
	c->number[reg] = c->constant[reg] && ir_opcode(l->in) == OPCODE_mov ? l->ir + 1 : 0;
	if (l->in->guard == IR_NONE)
		c->written[reg] = l->ir + 1;
}

bool lower_is_constant(const struct lower *l, u32 reg)
{
	const struct contract *c = l->contract;

	return c && c->constant[reg] && c->defs[reg] == 1;
}

static void follow(struct lower *l, u32 reg, u32 roles)
{
	struct contract *c = l->contract;
	struct product *p = c->now[reg] ? &c->products.at[c->now[reg] - 1] : NULL;

	if (roles == ISA_WRITE)
		c->written[reg] = l->ir + 1;
	if (!p)
		return;
	if (roles == ISA_READ) {
		p->uses++;
		p->barred |= !c->sum_of[l->ir];
		return;
	}
	p->barred |= l->in->guard != IR_NONE;
	p->closed |= reg == p->reg;
	c->now[reg] = 0;
}

/* ---- blocks ---- */

/*
 * A product that is still there at the block's end is read only in the block, unless its register
 * may be elsewhere.
 */
static void end_block(struct contract *c, bool last)
{
	for (size_t i = c->first_product; i < c->products.len; i++) {
		struct product *p = &c->products.at[i];

		if (p->fixed)
			continue;
		p->barred |= !p->closed && !last && c->exposed[p->reg];
		if (!p->closed)
			c->now[p->reg] = 0;
	}
	for (size_t i = 0; i < c->copies.len; i++)
		c->now[c->copies.at[i]] = 0;
	c->copies.len = 0;
	c->first_product = c->products.len;
}

static bool can_take(const struct contract *c, const struct sum *s, u32 operand)
{
	const struct product *p;

	if (s->product[operand] == NO_PRODUCT || s->taken != 2)
		return false;
	p = &c->products.at[s->product[operand]];
	return !p->barred;
}

static void contract_sum(struct contract *c, struct sum *s, u32 operand)
{
	u32 other = s->product[!operand];

	s->taken = operand;
	c->products.at[s->product[operand]].fused++;
	if (other != NO_PRODUCT)
		c->products.at[other].barred = true;
}

/* Products used once go first, then those whose uses are sums that are all free to take them. */
static void choose_products(struct contract *c)
{
	for (size_t i = 0; i < c->products.len; i++)
		c->products.at[i].barred |=
			c->products.at[i].fixed &&
			c->reads[c->products.at[i].reg] != c->products.at[i].uses;
	for (size_t i = 0; i < c->sums.len; i++) {
		struct sum *s = &c->sums.at[i];

		for (u32 o = 0; o < 2; o++)
			if (can_take(c, s, o) && c->products.at[s->product[o]].uses == 1)
				contract_sum(c, s, o);
	}
	for (size_t i = 0; i < c->sums.len; i++)
		for (u32 o = 0; o < 2; o++)
			if (can_take(c, &c->sums.at[i], o))
				contract_sum(c, &c->sums.at[i], o);
}

static bool has_modifier(const struct isa_form *form)
{
	for (u32 i = 0; i < form->row->slots; i++)
		if (form->word[i] >= ISA_TYPES)
			return true;
	return false;
}

/* Operations that ptxas makes several blocks of. */
static bool is_routine(const struct isa_form *form, const struct ir_operand *op)
{
	u32 type = form->types ? form->type[0] : ISA_NONE;
	bool quick = isa_form_has(form, M_approx) || isa_form_opcode(form) == OPCODE_div_full;

	switch (isa_form_opcode(form)) {
	case OPCODE_div:
	case OPCODE_div_full:
	case OPCODE_rem:
		return type == T_s32 || isa_type_bits(type) == 64 ||
		       (type == T_f32 && !quick && has_modifier(form));
	case OPCODE_rcp:
	case OPCODE_sqrt:
		return !quick && op->kind != IR_OP_FLOAT;
	default:
		return type == T_f64 && quick && !isa_form_has(form, M_ftz); /* rsqrt */
	}
}

/* Sums of floats in shared memory, or where it may be, are loops. */
static bool is_loop(const struct isa_form *form)
{
	u32 type = form->types ? form->type[0] : ISA_NONE;

	return (type == T_f32 || type == T_f64) && isa_form_word(form, ISA_K_SPACE, 0) != M_global;
}

static bool ends_block(const struct lower *l, const struct ir_insn *in)
{
	/* Guarded arithmetic is what ptxas makes conditional without a branch. */
	if (in->guard != IR_NONE && in->form && !lower_is_arithmetic(in->form))
		return true;
	if (ir_leaving(in) != IR_GOES_ON)
		return true;
	switch (ir_opcode(in)) {
	case OPCODE_call:
	case OPCODE_membar:
	case OPCODE_membar_proxy:
	case OPCODE_brkpt:
	case OPCODE_pmevent:
	case OPCODE_pmevent_mask:
		return true;
	case OPCODE_fence:
		return !isa_form_has(in->form, M_mbarrier_init);
	case OPCODE_div:
	case OPCODE_div_full:
	case OPCODE_rem:
	case OPCODE_rcp:
	case OPCODE_sqrt:
	case OPCODE_rsqrt:
		return is_routine(in->form, &l->f->operands.at[in->first_op + 1]);
	case OPCODE_atom:
	case OPCODE_red:
		return is_loop(in->form);
	default:
		return false;
	}
}

static bool is_product_of(const struct product *p, const struct kind *k)
{
	return p->source->in.type == k->in.type && p->source->in.ftz == k->in.ftz;
}

/* Is the operand this product, in a sum of its kind? Twice the same bars it. */
static u32 product_in(struct lower *l, struct contract *c, const struct kind *k,
		      const struct ir_operand *op)
{
	const struct ir_operand *factor;
	struct product *p;
	u32 i;

	if (op->kind != IR_OP_REG || op->part || op->flags || !c->now[op->index])
		return NO_PRODUCT;
	i = c->now[op->index] - 1;
	p = &c->products.at[i];
	factor = &l->f->operands.at[l->f->insns.at[p->insn].first_op + 1];
	if (!is_product_of(p, k)) {
		p->barred = true;
		return NO_PRODUCT;
	}
	for (u32 n = 0; n < 2; n++)
		p->copied |= factor[n].kind == IR_OP_VEC ||
			     (factor[n].kind == IR_OP_REG && c->written[factor[n].index] > p->insn);
	return i;
}

static void enter_sum(struct lower *l, struct contract *c, const struct kind *k, bool minus)
{
	const struct ir_operand *ops = &l->f->operands.at[l->in->first_op];
	struct sum s = {.insn = l->ir, .kind = k, .minus = minus, .taken = 2};

	for (u32 i = 0; i < 2; i++) {
		s.product[i] = product_in(l, c, k, &ops[1 + i]);
		s.negated[i] = s.product[i] != NO_PRODUCT && c->negated[ops[1 + i].index];
	}
	if (s.product[0] == NO_PRODUCT && s.product[1] == NO_PRODUCT)
		return;
	if (s.product[0] == s.product[1])
		c->products.at[s.product[0]].barred = true;
	if (!VEC_PUSH(&c->sums, s))
		l->failed = true;
	c->sum_of[l->ir] = (u32)c->sums.len;
}

/*
 * Bits of an operand that is a number, or a register that is set once, to a number; 0: it is not.
 */
static u32 constant_bits(const struct lower *l, const struct contract *c,
			 const struct ir_operand *op)
{
	if (op->kind == IR_OP_REG && c->defs[op->index] == 1 && c->number[op->index])
		op = &l->f->operands.at[l->f->insns.at[c->number[op->index] - 1].first_op + 1];
	if (op->kind == IR_OP_FLOAT && op->type == T_f64)
		return bits_f32((f32)f64_bits((u64)op->imm));
	return op->kind == IR_OP_FLOAT || op->kind == IR_OP_INT ? (u32)op->imm : 0;
}

/* Where neither the number nor its reciprocal needs scaling; 0: it does. */
static u32 reciprocal_of(u32 bits)
{
	u32 exponent = bits >> 23 & 255;

	/* Twice the bits and two more: rounding twice is rounding once. */
	return exponent > 0 && exponent < 252 ? bits_f32((f32)(1.0 / (f64)f32_bits(bits))) : 0;
}

static void enter_product(struct lower *l, struct contract *c, const struct source *source)
{
	const struct ir_operand *ops = &l->f->operands.at[l->in->first_op];
	struct product p = {
		.source = source, .insn = l->ir, .reg = ops[0].index, .a = IR_NONE, .b = IR_NONE};

	if (ops[0].kind != IR_OP_REG || ops[0].part || l->in->guard != IR_NONE)
		return;
	if (source->b != EXEC_OPS)
		p.reciprocal = reciprocal_of(constant_bits(l, c, &ops[2]));
	for (u32 i = 1; i < 3 && c->defs[p.reg] == 1 && (source->b == EXEC_OPS || p.reciprocal);
	     i++)
		p.fixed |= ops[i].kind == IR_OP_FLOAT ||
			   (ops[i].kind == IR_OP_REG && c->constant[ops[i].index] &&
			    c->defs[ops[i].index] == 1);
	for (u32 i = 1; i < 3 && p.fixed; i++)
		p.copied |= ops[i].kind == IR_OP_REG && c->defs[ops[i].index] != 1;
	if (!VEC_PUSH(&c->products, p)) {
		l->failed = true;
		return;
	}
	c->now[p.reg] = (u32)c->products.len;
	c->negated[p.reg] = false;
	c->product_of[l->ir] = (u32)c->products.len;
}

/* The product that an instruction only copies or negates into a register of this block. */
static u32 copied_by(const struct lower *l, const struct contract *c, bool *negates)
{
	const struct ir_operand *ops = &l->f->operands.at[l->in->first_op];
	enum isa_mnemonic opcode = ir_opcode(l->in);
	const struct product *p;
	struct precision is;

	*negates = opcode == OPCODE_neg;
	if (l->in->ops != 2 || (opcode != OPCODE_mov && !*negates) || l->in->guard != IR_NONE ||
	    ops[0].kind != IR_OP_REG || ops[1].kind != IR_OP_REG || ops[0].part || ops[1].part ||
	    ops[0].flags || ops[1].flags || !c->now[ops[1].index] || c->exposed[ops[0].index])
		return NO_PRODUCT;
	p = &c->products.at[c->now[ops[1].index] - 1];
	if (p->fixed || ops[0].index == p->reg ||
	    (*negates &&
	     (!precision_of(l->in->form, ISA_NONE, &is) || !same_precision(&is, &p->source->in))))
		return NO_PRODUCT;
	return c->now[ops[1].index] - 1;
}

/* A copy is no use of its own: those of its register are the product's. */
static bool enter_copy(struct lower *l, struct contract *c)
{
	const struct ir_operand *ops = &l->f->operands.at[l->in->first_op];
	bool negates, negated;
	u32 i = copied_by(l, c, &negates);

	if (i == NO_PRODUCT)
		return false;
	negated = c->negated[ops[1].index];
	follow(l, ops[0].index, ISA_WRITE);
	c->now[ops[0].index] = i + 1;
	c->negated[ops[0].index] = negated != negates;
	c->product_of[l->ir] = i + 1;
	if (!VEC_PUSH(&c->copies, ops[0].index))
		l->failed = true;
	return true;
}

/* One instruction of the walk that finds products and sums. */
static void enter_insn(struct lower *l, struct contract *c)
{
	const struct source *source;
	const struct kind *k;
	bool minus;

	if (enter_copy(l, c))
		return;
	k = find_sum(l->in, &minus);
	if (k)
		enter_sum(l, c, k, minus);
	lower_visit(l, l->in, follow);
	source = find_source(l->in);
	if (source)
		enter_product(l, c, source);
}

/* Nothing comes after an unguarded exit or ret, or after the function's end. */
static void close_block(struct lower *l, struct contract *c, bool find)
{
	enum isa_mnemonic opcode = l->ir ? ir_opcode(l->in) : ISA_OPCODES;
	bool leaves = (opcode == OPCODE_exit || opcode == OPCODE_ret) && l->in->guard == IR_NONE;

	if (find)
		end_block(c, leaves || l->ir == l->f->insns.len);
}

/* Block by block: first which registers are exposed, then products and sums. */
static void walk(struct lower *l, struct contract *c, const bool *used, bool find)
{
	u32 label = 0;

	c->first_insn = 0;
	for (l->ir = 0; l->ir < l->f->insns.len && !l->failed; l->ir++) {
		bool starts = false;

		for (; label < l->f->labels.len && l->f->labels.at[label].insn <= l->ir; label++)
			starts |= used[label];
		if (starts) {
			close_block(l, c, find);
			c->first_insn = l->ir;
		}
		l->in = &l->f->insns.at[l->ir];
		if (find)
			enter_insn(l, c);
		else
			lower_visit(l, l->in, expose);
		if (ends_block(l, l->in)) {
			close_block(l, c, find);
			c->first_insn = l->ir + 1;
		}
	}
	close_block(l, c, find);
}

void lower_contract_free(struct lower *l)
{
	struct contract *c = l->contract;

	l->contract = NULL;
	if (!c)
		return;
	free(c->exposed);
	free(c->now);
	VEC_FREE(&c->products);
	VEC_FREE(&c->sums);
	VEC_FREE(&c->copies);
	free(c);
}

void lower_contract_find(struct lower *l, const bool *used)
{
	size_t regs = l->f->regs.len + 1, insns = l->f->insns.len + 1;
	struct contract *c;

	if (!l->options.contract || l->m->debug)
		return;
	c = calloc(1, sizeof(*c));
	l->contract = c;
	if (c) {
		c->exposed = calloc(3 * regs, sizeof(*c->exposed));
		c->now = calloc(5 * regs + 2 * insns, sizeof(u32));
	}
	if (!c || !c->exposed || !c->now) {
		l->failed = true;
		return;
	}
	c->constant = c->exposed + regs;
	c->negated = c->constant + regs;
	c->written = c->now + regs;
	c->defs = c->written + regs;
	c->reads = c->defs + regs;
	c->number = c->reads + regs;
	c->sum_of = c->number + regs;
	c->product_of = c->sum_of + insns;
	walk(l, c, used, false);
	memset(c->written, 0, sizeof(u32) * regs);
	walk(l, c, used, true);
	choose_products(c);
}
