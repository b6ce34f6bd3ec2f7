/*
 * Groups of instructions that fault injection changes results of: NVBitFI's, by the PTX.
 */
#include "runtime/inject_groups.h"

const struct ir_insn *inject_insn_at(const struct program *p, u32 pc, const struct ir_func **f)
{
	const struct uop *in = &p->uop[pc];

	*f = p->funcs[in->func].func;
	return in->ir < (*f)->insns.len ? &(*f)->insns.at[in->ir] : NULL;
}

const struct ir_operand *inject_written(const struct ir_func *f, const struct ir_insn *in, u32 n)
{
	u32 ops = in->form ? in->form->row->operands : 0;

	for (u32 i = 0; i < ops && i < in->ops; i++) {
		const struct ir_operand *o = ir_insn_operand(f, in, i);

		if (!ir_insn_writes(in, i))
			continue;
		if (o->kind == IR_OP_REG)
			return o;
		if (o->kind != IR_OP_VEC)
			continue;
		for (s64 k = 0; k < o->imm; k++) {
			const struct ir_operand *e =
				&f->operands.at[o->index + (u64)(k + n) % (u64)o->imm];

			if (e->kind == IR_OP_REG)
				return e;
		}
	}
	return NULL;
}

u32 inject_register_bits(const struct ir_func *f, u32 reg)
{
	return isa_type_bits(f->regs.at[reg].type);
}

bool inject_is_atomic(const struct ir_insn *in)
{
	return ir_opcode(in) == OPCODE_atom || ir_opcode(in) == OPCODE_red;
}

static bool moves_only(const struct ir_insn *in)
{
	switch (ir_opcode(in)) {
	case OPCODE_mov:
	case OPCODE_cvt:
	case OPCODE_ld:
	case OPCODE_ldu:
	case OPCODE_selp:
	case OPCODE_call:
		return true;
	default:
		return false;
	}
}

const struct ir_operand *inject_atomic_address(const struct ir_func *f, const struct ir_insn *in)
{
	for (u32 i = 0; i < in->ops; i++)
		if (ir_insn_operand(f, in, i)->kind == IR_OP_ADDR_REG)
			return ir_insn_operand(f, in, i);
	return NULL;
}

/* Does it compute in this type? Atomics leave their result in memory. */
static bool computes_in(const struct ir_func *f, const struct ir_insn *in, u32 scalar, u32 packed)
{
	const struct ir_operand *d = inject_written(f, in, 0);
	u32 type;

	if (moves_only(in) || !in->form->types)
		return false;
	type = in->form->type[0];
	if (type != scalar && type != packed)
		return false;
	if (inject_is_atomic(in))
		return inject_atomic_address(f, in) != NULL;
	return d && inject_register_bits(f, d->index) == isa_type_bits(type);
}

const struct uop *inject_reader_of(const struct program *p, u32 pc)
{
	const struct uop *first = &p->uop[pc], *end = p->uop + p->launch_first;

	for (const struct uop *in = first;
	     in < end && in->ir == first->ir && in->func == first->func; in++)
		switch (uop_kind(in->inner)) {
		case UOP_LOAD:
		case UOP_ATOMIC:
		case UOP_TEXTURE:
		case UOP_SURFACE:
		case UOP_MATRIX_LOAD:
			return in;
		default:
			break;
		}
	return NULL;
}

u8 inject_groups_of(const struct program *p, u32 pc)
{
	const struct ir_func *f;
	const struct ir_insn *in = inject_insn_at(p, pc, &f);
	const struct ir_operand *d = in && in->form ? inject_written(f, in, 0) : NULL;
	u32 groups = 0;

	if (!in || !in->form || ir_opcode(in) == OPCODE_call)
		return 0;
	if (d)
		groups |= 1u << GROUP_ALL |
			  1u << (inject_register_bits(f, d->index) == 1 ? GROUP_PR : GROUP_GP);
	if (d && inject_reader_of(p, pc))
		groups |= 1u << GROUP_LD;
	if (computes_in(f, in, T_f32, T_f32x2))
		groups |= 1u << GROUP_FP32;
	if (computes_in(f, in, T_f64, T_f64))
		groups |= 1u << GROUP_FP64;
	return (u8)groups;
}
