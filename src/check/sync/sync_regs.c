/*
 * The registers that products of warpgroups have, and those that get their values by plain moves:
 * compilers rename registers by these. For each instruction the ones of them that it names.
 */
#include "src/check/sync/sync_int.h"

struct reg_scan {
	const struct ir_func *f;
	struct sync_regs *r;
	u32 func;
	u32 *number; /* by register of all functions: + 1; 0: none that matters */
	bool failed;
};

typedef void scan_fn(struct reg_scan *x, u32 reg, bool writes);

static void scan_operand(struct reg_scan *x, const struct ir_operand *op, u32 role, scan_fn *see)
{
	switch (op->kind) {
	case IR_OP_REG:
		for (u32 bit = ISA_READ; bit <= ISA_WRITE; bit <<= 1)
			if (role & bit)
				see(x, op->index, bit == ISA_WRITE);
		break;
	case IR_OP_ADDR_REG:
		see(x, op->index, false);
		break;
	case IR_OP_VEC:
	case IR_OP_COMPOUND:
	case IR_OP_LIST:
		for (s64 i = 0; i < op->imm; i++)
			scan_operand(x, &x->f->operands.at[op->index + i], role, see);
		break;
	default:
		break;
	}
}

static bool is_warpgroup_product(const struct ir_insn *in)
{
	return ir_opcode(in) == OPCODE_wgmma_mma_async;
}

/*
 * Of products: descriptors and predicates are read as they are issued; accumulators count as
 * written alone.
 */
static bool is_fragment(const struct ir_func *f, const struct ir_operand *op, u32 roles, u32 role)
{
	bool is_vector =
		op->kind == IR_OP_VEC || (op->kind == IR_OP_REG && f->regs.at[op->index].vec > 1);

	return is_vector && (role == ISA_WRITE || !(roles & ISA_WRITE));
}

/* What is read comes first. */
static void scan_insn(struct reg_scan *x, const struct ir_insn *in, scan_fn *see)
{
	const struct ir_operand *ops = &x->f->operands.at[in->first_op];
	bool is_product = is_warpgroup_product(in);

	if (in->guard != IR_NONE && !is_product)
		see(x, in->guard, false);
	for (u32 role = ISA_READ; in->form && role <= ISA_WRITE; role <<= 1)
		for (u32 i = 0; i < in->ops; i++) {
			const struct isa_operand *o = ir_operand_spec(in->form, ops, in->ops, i);

			u32 roles = o ? o->role : ISA_READ;

			if (roles & role &&
			    (!is_product || is_fragment(x->f, &ops[i], roles, role)))
				scan_operand(x, &ops[i], role, see);
		}
}

static void take_reg(struct reg_scan *x, u32 reg, bool writes)
{
	u32 *number = &x->number[x->r->first_reg[x->func] + reg];

	(void)writes;
	if (!*number)
		*number = ++x->r->regs;
}

bool sync_is_move(const struct ir_func *f, const struct ir_insn *in)
{
	const struct ir_operand *op = &f->operands.at[in->first_op];

	return ir_opcode(in) == OPCODE_mov && in->ops == 2 && op[0].kind == IR_OP_REG &&
	       op[1].kind == IR_OP_REG;
}

/* Both ends of a move are of interest if one is: to a fixed point. */
static bool spread_by_moves(struct reg_scan *x)
{
	u32 *number = x->number + x->r->first_reg[x->func], before = x->r->regs;

	for (size_t i = 0; i < x->f->insns.len; i++) {
		const struct ir_insn *in = &x->f->insns.at[i];
		const struct ir_operand *op = &x->f->operands.at[in->first_op];

		if (sync_is_move(x->f, in) && number[op[0].index] != number[op[1].index] &&
		    (!number[op[0].index] || !number[op[1].index])) {
			take_reg(x, op[0].index, false);
			take_reg(x, op[1].index, false);
		}
	}
	return x->r->regs != before;
}

static void note_named(struct reg_scan *x, u32 reg, bool writes)
{
	u32 number = x->number[x->r->first_reg[x->func] + reg];

	if (number)
		x->failed |= !VEC_PUSH(&x->r->named, (number - 1) << 1 | writes);
}

static void number_function(struct reg_scan *x)
{
	for (size_t i = 0; i < x->f->insns.len; i++)
		if (is_warpgroup_product(&x->f->insns.at[i]))
			scan_insn(x, &x->f->insns.at[i], take_reg);
	while (spread_by_moves(x))
		;
}

static void list_function(struct reg_scan *x)
{
	for (size_t i = 0; i < x->f->insns.len; i++) {
		x->r->named_at[x->r->first_insn[x->func] + i] = (u32)x->r->named.len;
		scan_insn(x, &x->f->insns.at[i], note_named);
	}
}

static bool has_products(const struct program *p)
{
	for (u32 pc = 0; pc < p->uops; pc++)
		if (p->uop[pc].inner == OP_wgmma)
			return true;
	return false;
}

static bool scan_program(struct sync_regs *r, const struct program *p)
{
	struct reg_scan x = {.r = r};
	u32 regs = 0, insns = 0;

	r->first_reg = calloc(p->func_len, sizeof(u32));
	r->first_insn = calloc(p->func_len, sizeof(u32));
	if (!r->first_reg || !r->first_insn)
		return false;
	for (u32 i = 0; i < p->func_len; i++) {
		r->first_reg[i] = regs;
		r->first_insn[i] = insns;
		regs += (u32)p->funcs[i].func->regs.len;
		insns += (u32)p->funcs[i].func->insns.len;
	}
	x.number = calloc((size_t)regs + 1, sizeof(u32));
	r->named_at = calloc((size_t)insns + 1, sizeof(u32));
	for (x.func = 0; x.number && x.func < p->func_len; x.func++) {
		x.f = p->funcs[x.func].func;
		number_function(&x);
	}
	for (x.func = 0; x.number && r->named_at && x.func < p->func_len; x.func++) {
		x.f = p->funcs[x.func].func;
		list_function(&x);
	}
	x.failed |= !x.number || !r->named_at;
	if (r->named_at)
		r->named_at[insns] = (u32)r->named.len;
	free(x.number);
	return !x.failed;
}

struct sync_regs *sync_regs_find(const struct program *p, bool *failed)
{
	struct sync_regs *r;

	if (!has_products(p))
		return NULL;
	r = calloc(1, sizeof(*r));
	if (r && scan_program(r, p))
		return r;
	*failed = true;
	sync_regs_free(r);
	return NULL;
}

void sync_regs_free(struct sync_regs *r)
{
	if (!r)
		return;
	free(r->first_reg);
	free(r->first_insn);
	free(r->named_at);
	VEC_FREE(&r->named);
	free(r);
}
