/*
 * Programs whose results are the same with any number of workers (PTXLOOM_STABLE). Integer sums,
 * bits, minima and maxima come out alike in any order. Other atomics in global memory, and those
 * whose result is used, are preceded by OP_in_order, where a CTA waits until those before it have
 * ended. Where CTAs may see what others do at the same time (meets), they cannot wait for each
 * other so; then one worker runs them all.
 */
#include "src/exec/observer.h"
#include "src/lower/lower_int.h"
#include "src/uop/atom.h"

#include <stdlib.h>

void lower_await_turn(struct lower *l)
{
	if (!l->options.stable)
		return;
	lower_emit_free(l, OP_in_order);
	l->p->in_order = true;
}

/* ---- registers that are not read ---- */

static void count_mentions(struct lower *l)
{
	const struct ir_func *f = l->f;

	l->mentions = calloc(f->regs.len + 1, 1);
	for (size_t i = 0; l->mentions && i < f->operands.len; i++) {
		const struct ir_operand *o = &f->operands.at[i];

		if ((o->kind == IR_OP_REG || o->kind == IR_OP_ADDR_REG) && o->index < f->regs.len)
			l->mentions[o->index] = l->mentions[o->index] ? 2 : 1;
	}
	for (size_t i = 0; l->mentions && i < f->insns.len; i++)
		if (f->insns.at[i].guard < f->regs.len)
			l->mentions[f->insns.at[i].guard] = 2;
}

/* Compilers write atom where the result is not used, too. */
static bool is_read(struct lower *l, const struct ir_operand *d)
{
	if (d->kind != IR_OP_REG)
		return d->kind != IR_OP_SINK;
	if (!l->mentions)
		count_mentions(l);
	return !l->mentions || d->index >= l->f->regs.len || l->mentions[d->index] > 1;
}

static bool commutes(u32 action, u32 type)
{
	enum isa_class class = isa_type_class(type);

	return action == ATOM_AND || action == ATOM_OR || action == ATOM_XOR ||
	       ((action == ATOM_ADD || action == ATOM_MIN || action == ATOM_MAX) &&
		class != ISA_FLOAT && class != ISA_ALT);
}

bool lower_atom_turn(struct lower *l, const struct ir_operand *result, u32 action, u32 type)
{
	bool read;

	if (!l->options.stable)
		return true;
	read = is_read(l, result);
	if (read || !commutes(action, type))
		lower_await_turn(l);
	return read;
}

/* ---- CTAs that see each other ---- */

static bool turns_is_global(const struct uop *in)
{
	return uop_has_access(in->inner) &&
	       (in->mem.space == MEM_GLOBAL || in->mem.space == MEM_GENERIC);
}

/* A load that others' stores may change at any time. */
static bool watches(const struct program *p, const struct uop *in)
{
	const struct isa_form *form = exec_form(p, in);

	return form && uop_kind(in->inner) == UOP_LOAD && turns_is_global(in) &&
	       exec_form_rereads(form);
}

static bool has_result(const struct uop *in)
{
	return uop_kind(in->inner) == UOP_ATOMIC && turns_is_global(in) &&
	       (in->d != NO_ROW || in->mem.count > 1 || in->mem.size == 16);
}

/* Micro-ops that end a loop: the number before each tells whether the loop has an atomic. */
static bool loops_over_result(const struct program *p, const u32 *before)
{
	for (u32 i = 0; i < p->uops; i++) {
		const struct uop *in = &p->uop[i];
		u32 first = in->flags & UOPF_BACK ? lower_first_target(p, in) : NO_PC;

		if (first <= i && before[i + 1] != before[first])
			return true;
	}
	return false;
}

void lower_find_meetings(struct program *p)
{
	u32 *before = malloc(sizeof(*before) * ((size_t)p->uops + 1));

	p->meets = !before;
	if (before)
		before[0] = 0;
	for (u32 i = 0; before && i < p->uops; i++) {
		before[i + 1] = before[i] + has_result(&p->uop[i]);
		p->meets |= watches(p, &p->uop[i]);
	}
	if (before && p->uops)
		p->meets |= loops_over_result(p, before);
	free(before);
}
