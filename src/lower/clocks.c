/*
 * Which loops do nothing but wait for a clock: those that end by what they read from it and that
 * touch nothing another thread might see or change. Skipping ahead in them changes no result but
 * the time they take. A loop that looks at memory as well is left alone: its time is that of its
 * instructions, so that a limit on waiting is not over before other threads have run.
 */
#include "src/lower/lower_int.h"

#include <stdlib.h>

/* Computes, branches, sleeps or loads what never changes. */
static bool is_private(const struct ir_insn *in)
{
	switch (ir_opcode(in)) {
	case ISA_OPCODES:
		return false;
	case OPCODE_bra:
	case OPCODE_nanosleep:
		return true;
	case OPCODE_ld:
		return isa_form_has(in->form, M_param) || isa_form_has(in->form, M_const);
	default:
		return lower_is_arithmetic(in->form);
	}
}

struct range {
	const struct ir_func *f;
	u32 first, last; /* instructions */
	u8 *of_clock;    /* by register: depends on a clock read in the loop */
};

static bool reads_clock(const struct range *r, const struct ir_insn *in)
{
	for (u32 k = 1; k < in->ops; k++) {
		const struct ir_operand *op = &r->f->operands.at[in->first_op + k];

		if ((op->kind == IR_OP_SREG && isa_sreg_varies(op->index) == ISA_TIME) ||
		    (op->kind == IR_OP_REG && r->of_clock[op->index]))
			return true;
	}
	return false;
}

/* Returns whether a register was added. */
static bool spread_range(struct range *r, const struct ir_insn *in)
{
	const struct ir_operand *d = in->ops ? &r->f->operands.at[in->first_op] : NULL;

	if (!d || d->kind != IR_OP_REG || r->of_clock[d->index] || !reads_clock(r, in))
		return false;
	r->of_clock[d->index] = true;
	return true;
}

/* Do the loop's branches ask what a clock said, and is there nothing in it but that? */
static bool only_waits(struct range *r)
{
	bool more = true, asks = false;

	memset(r->of_clock, 0, r->f->regs.len);
	for (u32 i = r->first; i <= r->last; i++)
		if (!is_private(&r->f->insns.at[i]))
			return false;
	while (more) {
		more = false;
		for (u32 i = r->first; i <= r->last; i++)
			more |= spread_range(r, &r->f->insns.at[i]);
	}
	for (u32 i = r->first; i <= r->last; i++) {
		const struct ir_insn *in = &r->f->insns.at[i];

		asks |= in->guard != IR_NONE && r->of_clock[in->guard] &&
			ir_opcode(in) == OPCODE_bra;
	}
	return asks;
}

static void mark_waits(struct program *p, u32 first, u32 last)
{
	for (u32 i = first; i <= last; i++)
		if (p->uop[i].inner == OP_sreg_uniform &&
		    isa_sreg_varies(p->uop[i].sreg.number) == ISA_TIME)
			p->uop[i].sreg.waits = true;
}

/* Is this the branch of a loop that only waits for a clock? */
static bool ends_wait(const struct program *p, u32 i, u8 *of_clock)
{
	const struct uop *in = &p->uop[i];
	const struct uop *to = uop_target(in) <= i ? &p->uop[uop_target(in)] : NULL;
	struct range r = {p->funcs[in->func].func, to ? to->ir : 0, in->ir, of_clock};

	return to && to->func == in->func && r.first <= r.last && r.last < r.f->insns.len &&
	       only_waits(&r);
}

void lower_mark_clocks(struct program *p)
{
	bool polls = false;
	u32 regs = 0;
	u8 *of_clock;

	if (!p->reads_clock)
		return;
	for (u32 i = 0; i < p->func_len; i++)
		regs = p->funcs[i].func->regs.len > regs ? (u32)p->funcs[i].func->regs.len : regs;
	of_clock = malloc(regs + 1);
	for (u32 i = 0; of_clock && i < p->uops; i++) {
		const struct uop *in = &p->uop[i];

		if (!(in->flags & UOPF_BACK))
			continue;
		if (ends_wait(p, i, of_clock))
			mark_waits(p, in->branch.target, i);
		else
			polls |= in->flags & UOPF_POLL;
	}
	/* A loop that only waits for a clock waits for no other thread. */
	p->polls = of_clock ? polls : p->polls;
	free(of_clock);
}
