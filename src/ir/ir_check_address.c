/*
 * Address operands: of memory, tensor memory, tensor maps, textures and surfaces.
 * Source: PTX ISA "Using Addresses, Arrays, and Vectors"; details as ptxas 13.0 has them.
 */
#include "src/ir/ir_check_int.h"

bool ir_space_has(u32 want, u32 have)
{
	switch (want) {
	case ISA_NONE: /* a name denotes its generic address; constants and parameters need cvta */
		return have == M_global || have == M_shared || have == M_local;
	case M_shared_cta:
	case M_shared_cluster:
		return have == M_shared;
	case M_param_entry:
	case M_param_func:
		return have == M_param;
	default:
		return want == have;
	}
}

static bool is_address_type(u32 type)
{
	enum isa_class k = isa_type_class(type);

	return (k == ISA_BITS || k == ISA_UINT || k == ISA_SINT) && isa_type_bits(type) <= 64;
}

static bool has_map(const struct isa_form *form)
{
	for (u32 i = 0; i < form->row->operands; i++)
		if (form->row->operand[i].kind == ISA_OP_TENSOR)
			return true;
	return false;
}

/* Tensor maps may be in parameters and constants too. */
static bool is_map(const struct check *c, const struct isa_operand *o)
{
	return o->kind == ISA_OP_TENSOR || isa_form_has(c->form, M_tensormap_generic);
}

/* ptxas checks loads, stores and atomics only. */
static bool is_too_short(const struct check *c, u32 space, u32 type)
{
	u32 chapter = c->form->row->chapter;

	return c->m->address_size == 64 && isa_type_bits(type) == 32 && is_address_type(type) &&
	       (!space || space == M_global) && (chapter == ISA_CH_ld_st || chapter == ISA_CH_atom);
}

bool ir_check_base(struct check *c, const struct isa_operand *o, u32 space,
		   const struct ir_operand *op)
{
	switch (op->kind) {
	case IR_OP_ADDR_REG:
		if (!op->part && c->f->regs.at[op->index].vec > 1)
			return ir_unfit(c, "address %s is a vector", o->name);
		if (is_too_short(c, space, op->type))
			return ir_unfit(
				c,
				"address %s is a 32-bit register, the module says .address_size 64",
				o->name);
		/* Narrow registers are extended with zeros. */
		return is_address_type(op->type) ||
		       ir_unfit(
			       c,
			       "address %s is a .%s register, an integer of up to 64 bits is expected",
			       o->name, isa_word_text(op->type));
	case IR_OP_ADDR_VAR:
	case IR_OP_VAR:
		if (op->kind == IR_OP_VAR && !(op->flags & IR_INDEXED))
			return ir_unfit(c, "address %s is expected in brackets", o->name);
		if (isa_type_class(op->type) == ISA_OPAQUE)
			return ir_unfit(c, "'%s' is a .%s, not memory",
					c->m->vars.at[op->index]->name->text,
					isa_word_text(op->type));
		if (!ir_space_has(space, c->m->vars.at[op->index]->space) && !is_map(c, o))
			return ir_unfit(c, "'%s' is in .%s, the instruction accesses %s%s",
					c->m->vars.at[op->index]->name->text,
					isa_word_text(c->m->vars.at[op->index]->space),
					space ? "." : "generic addresses", isa_word_text(space));
		return true;
	case IR_OP_REG:
		return (o->bare && is_address_type(op->type) && isa_type_bits(op->type) == 64) ||
		       ir_unfit(c, "operand %s is expected as [address]", o->name);
	case IR_OP_INT:
		return (o->bare && !has_map(c->form)) ||
		       ir_unfit(c, "operand %s is expected as [address]", o->name);
	case IR_OP_ADDR_INT:
		return space == M_local ||
		       ir_unfit(c, "a constant address is allowed in .local only");
	default:
		return ir_unfit(c, "operand %s is expected as [address]", o->name);
	}
}

/* Tensor memory: a 32-bit integer register; where the row says .b32, of that type. */
bool ir_check_tmem(struct check *c, const struct isa_operand *o, const struct ir_operand *op)
{
	if (op->kind != IR_OP_ADDR_REG)
		return ir_unfit(c, "operand %s is expected as [register] in tensor memory",
				o->name);
	if (!op->part && c->f->regs.at[op->index].vec > 1)
		return ir_unfit(c, "address %s is a vector", o->name);
	if (isa_type_bits(op->type) == 32 && isa_type_class(op->type) != ISA_FLOAT &&
	    (o->type != T_b32 || op->type == T_b32))
		return true;
	return ir_unfit(c, "address %s is a .%s register, .b32 is expected", o->name,
			isa_word_text(op->type));
}

/* The opaque thing of a texture or surface address: its name, or a handle in a 64-bit register. */
static bool check_opaque(struct check *c, u32 type, const struct ir_operand *op)
{
	if (op->kind == IR_OP_ADDR_VAR && op->imm == 0) {
		if (op->type == type || (type == T_surfref && op->type == T_surfref))
			return true;
		return ir_unfit(c, "'%s' is not a .%s", c->m->vars.at[op->index]->name->text,
				isa_word_text(type));
	}
	if (op->kind == IR_OP_ADDR_REG && op->imm == 0 && isa_type_bits(op->type) == 64 &&
	    isa_type_class(op->type) != ISA_FLOAT)
		return true;
	return ir_unfit(c, "a .%s or a 64-bit register is expected", isa_word_text(type));
}

/* Texture arrays: the first coordinate is the layer, an integer whatever the type of the others. */
static u32 is_layered(const struct isa_form *form)
{
	u32 geometry = isa_form_word(form, ISA_K_GEOM, 0);

	return geometry == M_a1d || geometry == M_a2d || geometry == M_acube || geometry == M_a2dms;
}

static bool check_layer(struct check *c, const struct isa_operand *o, const struct ir_operand *op)
{
	struct isa_operand layer = *o;

	if (op->kind == IR_OP_SREG)
		return op->part || isa_sreg(op->index)->components == 1 ||
		       ir_unfit(c, "the layer is not one value");
	layer.type = T_u32;
	layer.count_from = ISA_COUNT_FIXED;
	layer.mul = layer.div = 1;
	layer.less = 0;
	layer.braces = false;
	return ir_check_value(c, &layer, op);
}

static bool check_coordinates(struct check *c, const struct isa_operand *o,
			      const struct ir_operand *op)
{
	struct isa_operand value = *o;
	u32 count = isa_operand_count(c->form, o);
	struct ir_operand reg = *op;

	value.kind = ISA_OP_VALUE;
	value.braces = true;
	if (op->kind == IR_OP_ADDR_REG && op->imm == 0) {
		reg.kind = IR_OP_REG;
		/*
		 * ptxas accepts one register for the coordinates of any texture or surface: the
		 * others are zero.
		 */
		if (o->kind != ISA_OP_TENSOR && c->f->regs.at[op->index].vec == 1) {
			value.count_from = ISA_COUNT_FIXED;
			value.braces = false;
		}
		return ir_check_value(c, &value, &reg);
	}
	if (op->kind != IR_OP_VEC || o->kind == ISA_OP_TENSOR)
		return ir_check_value(c, &value, op);
	/* Extra texture coordinates are ignored. */
	if (op->imm != count && (op->imm < count || (op->imm != 2 && op->imm != 4)))
		return ir_check_value(c, &value, op);
	return (!is_layered(c->form) || check_layer(c, &value, &c->f->operands.at[op->index])) &&
	       ir_check_elements(c, &value, op, is_layered(c->form));
}

/* What txq asks of a sampler, which in unified mode is part of the texture. */
static bool is_sampler_query(const struct isa_form *form)
{
	return form->row->row == I_txq_sampler;
}

/* [a{, b}, {coordinates}] */
bool ir_check_compound(struct check *c, const struct isa_operand *o, const struct ir_operand *op)
{
	const struct ir_operand *e;
	u32 n = (u32)op->imm, type = o->kind == ISA_OP_SURF ? T_surfref : T_texref;
	bool alone = o->count_from == ISA_COUNT_FIXED && o->mul == 1 && !o->braces;

	if (isa_form_has(c->form, M_force_unnormalized_coords) && !c->m->texmode_independent)
		return ir_unfit(c, "force_unnormalized_coords is for .target texmode_independent");
	if (alone && is_sampler_query(c->form))
		type = c->m->texmode_independent ? T_samplerref : T_texref;
	if (op->kind != IR_OP_COMPOUND) {
		if (!alone || o->kind == ISA_OP_TENSOR)
			return ir_unfit(c, "coordinates are missing in the address %s", o->name);
		return check_opaque(c, type, op);
	}
	e = &c->f->operands.at[op->index];
	if (o->kind == ISA_OP_TENSOR)
		return n == 2 ? ir_check_base(c, o, ISA_NONE, &e[0]) &&
					check_coordinates(c, o, &e[1])
			      : ir_unfit(c, "address %s is [map, {coordinates}]", o->name);
	if (n == 3 && o->kind == ISA_OP_TEX) {
		if (!c->m->texmode_independent)
			return ir_unfit(c, "a sampler is for .target texmode_independent");
		return check_opaque(c, T_texref, &e[0]) && check_opaque(c, T_samplerref, &e[1]) &&
		       check_coordinates(c, o, &e[2]);
	}
	if (n != 2)
		return ir_unfit(c, "address %s has %u parts", o->name, n);
	if (o->kind == ISA_OP_TEX && c->m->texmode_independent)
		return ir_unfit(
			c,
			"in texmode_independent the address %s is [texture, sampler, {coordinates}]",
			o->name);
	return check_opaque(c, type, &e[0]) && check_coordinates(c, o, &e[1]);
}
