/*
 * Which loops may be waiting for another thread: those that read memory in a way compilers may not
 * hoist, or wait politely. Only they make a CTA give way soon; a loop that just computes keeps its
 * time slice. PTX ISA "Memory Consistency Model".
 */
#include "src/exec/observer.h"
#include "src/lower/lower_int.h"

#include <stdlib.h>

static bool is_poll(const struct program *p, const struct uop *in)
{
	const struct isa_form *form = exec_form(p, in);

	if (in->inner == OP_yield || in->inner == OP_call)
		return true;
	if (!form)
		return false;
	if (isa_form_opcode(form) == OPCODE_atom || isa_form_opcode(form) == OPCODE_nanosleep ||
	    uop_kind(in->inner) == UOP_MBARRIER)
		return true;
	return isa_form_has(form, M_volatile) || isa_form_has(form, M_relaxed) ||
	       isa_form_has(form, M_acquire) || isa_form_has(form, M_mmio) ||
	       isa_form_has(form, M_cv);
}

u32 lower_first_target(const struct program *p, const struct uop *in)
{
	u32 first = uop_target(in);

	for (u32 i = 0; in->inner == OP_brx_idx && i < in->branch.cases; i++)
		if (p->ext[in->ext + i] < first)
			first = p->ext[in->ext + i];
	return first;
}

static void mark_polls(struct program *p)
{
	u32 *before =
		malloc(sizeof(*before) * (p->uops + 1)); /* polls among the micro-ops before i */

	if (!before)
		return; /* all loops keep their slices: correct, only less lively */
	before[0] = 0;
	for (u32 i = 0; i < p->uops; i++)
		before[i + 1] = before[i] + is_poll(p, &p->uop[i]);
	for (u32 i = 0; i < p->uops; i++) {
		struct uop *in = &p->uop[i];
		u32 first = in->flags & UOPF_BACK ? lower_first_target(p, in) : NO_PC;

		if (first <= i && before[i + 1] != before[first])
			in->flags |= UOPF_POLL;
	}
	free(before);
}

void lower_mark_polls(struct program *p)
{
	mark_polls(p);
	for (u32 i = 0; i < p->uops; i++)
		p->polls |= (p->uop[i].flags & (UOPF_BACK | UOPF_POLL)) == (UOPF_BACK | UOPF_POLL);
}
