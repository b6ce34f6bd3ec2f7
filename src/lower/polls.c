/*
 * Which loops may be waiting for another thread: those that read memory in a way compilers may not
 * hoist and go on by what they have read, or wait politely. Only they make a CTA give way soon; a
 * loop that just computes keeps its time slice. PTX ISA "Memory Consistency Model".
 */
#include "src/exec/observer.h"
#include "src/lower/lower_int.h"
#include "src/uop/rows.h"

#include <stdlib.h>

enum poll {
	POLL_NOT,
	POLL_RESULT, /* if control depends on its result */
	POLL_ALWAYS,
};

static enum poll poll_of(const struct program *p, const struct uop *in)
{
	const struct isa_form *form = exec_form(p, in);

	if (in->inner == OP_yield || in->inner == OP_call)
		return POLL_ALWAYS;
	if (!form)
		return POLL_NOT;
	if (isa_form_opcode(form) == OPCODE_nanosleep || uop_kind(in->inner) == UOP_MBARRIER)
		return POLL_ALWAYS;
	if (isa_form_opcode(form) == OPCODE_atom)
		return POLL_RESULT;
	return exec_form_rereads(form) ? POLL_RESULT : POLL_NOT;
}

/* ---- does control depend on what was polled? ---- */

/* Longer loops are taken for such. */
#define FOLLOWED_MAX 8192u

/* Where the results of a loop's polls go, within the loop. */
struct polled_rows {
	const struct program *p;
	u8 *polled;  /* by row / ROW_UNIT: may be made of a result */
	bool memory; /* and what plain loads read */
	bool reads;  /* this micro-op reads such a row */
	bool more;   /* this pass has found some */
};

static void see_polled(void *user, u32 row, bool write)
{
	struct polled_rows *r = user;

	r->reads |= !write && r->polled[row / ROW_UNIT];
}

static void see_result(void *user, u32 row, bool write)
{
	struct polled_rows *r = user;

	if (!write || r->polled[row / ROW_UNIT])
		return;
	r->polled[row / ROW_UNIT] = true;
	r->more = true;
}

/* True: control depends on it. */
static bool follow_polled(struct polled_rows *r, const struct uop *in)
{
	enum uop_kind kind = uop_kind(in->inner);

	r->reads = false;
	uop_each_row(in, r->p->ext, see_polled, r);
	if (r->reads && kind == UOP_FLOW)
		return true;
	if (r->reads && !r->memory && !uop_is_value(in->inner) && kind != UOP_LOAD) {
		r->memory = true;
		r->more = true;
	}
	if (r->reads || (r->memory && !uop_is_value(in->inner)) || poll_of(r->p, in) == POLL_RESULT)
		uop_each_row(in, r->p->ext, see_result, r);
	return false;
}

/* Of the loop of micro-ops first to last, which polls. */
static bool control_is_polled(const struct program *p, u32 first, u32 last)
{
	struct polled_rows r = {.p = p, .more = true};
	bool found = last - first >= FOLLOWED_MAX;

	for (u32 i = first; i <= last && !found; i++)
		found = poll_of(p, &p->uop[i]) == POLL_ALWAYS;
	if (found || !(r.polled = calloc(p->block_bytes / ROW_UNIT + 1, 1)))
		return true;
	while (r.more && !found) {
		r.more = false;
		for (u32 i = first; i <= last && !found; i++)
			found = follow_polled(&r, &p->uop[i]);
	}
	free(r.polled);
	return found;
}

/* ---- loops ---- */

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
		before[i + 1] = before[i] + (poll_of(p, &p->uop[i]) != POLL_NOT);
	for (u32 i = 0; i < p->uops; i++) {
		struct uop *in = &p->uop[i];
		u32 first = in->flags & UOPF_BACK ? lower_first_target(p, in) : NO_PC;

		if (first <= i && before[i + 1] != before[first] && control_is_polled(p, first, i))
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
