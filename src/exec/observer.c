/*
 * What observers ask about micro-ops.
 */
#include "src/exec/observer.h"
#include "src/exec/lane_access.h"

static bool same_source_insn(const struct uop *a, const struct uop *b)
{
	return a->ir == b->ir && a->func == b->func;
}

/* Labels and counts stand before the instruction they belong to, and are none themselves. */
static bool stands_before(const struct uop *in)
{
	return in->op == OP_join || uop_kind(in->inner) == UOP_COUNT;
}

bool exec_is_first(const struct program *p, u32 pc)
{
	const struct uop *in = &p->uop[pc];

	if (stands_before(in))
		return false;
	while (pc-- && same_source_insn(&p->uop[pc], in))
		if (!stands_before(&p->uop[pc]))
			return false;
	return true;
}

const struct isa_form *exec_form(const struct program *p, const struct uop *in)
{
	const struct ir_func *f = p->funcs[in->func].func;

	return in->ir < f->insns.len ? f->insns.at[in->ir].form : NULL;
}

bool exec_form_rereads(const struct isa_form *form)
{
	return isa_form_has(form, M_volatile) || isa_form_has(form, M_relaxed) ||
	       isa_form_has(form, M_acquire) || isa_form_has(form, M_mmio) ||
	       isa_form_has(form, M_cv);
}

/*
 * Branches that lowering puts around an instruction are taken by those that do not run it, and so
 * are those that it has inverted, as their target follows.
 */
static bool is_skip(const struct program *p, const struct uop *in)
{
	const struct ir_func *f = p->funcs[in->func].func;
	const struct ir_insn *from = in->ir < f->insns.len ? &f->insns.at[in->ir] : NULL;

	return in->inner == OP_bra_pred && from && from->form &&
	       (from->form->row->row != I_bra ||
		!(in->flags & UOPF_GUARD_NOT) == !!from->guard_not);
}

u32 exec_step_passes(const struct gang *g, const struct uop *in, u32 w)
{
	u32 mask = exec_step_mask(g, w), p;

	if (in->guard == NO_ROW)
		return mask;
	p = ((const u32 *)(const void *)(g->regs + in->guard))[g->warp + w];
	if (in->flags & UOPF_GUARD_NOT)
		p = ~p;
	return mask & (is_skip(g->env->program, in) ? ~p : p);
}

/* As lane_address, of all lanes of a warp. */
static const u64 *warp_addresses(const struct gang *g, const struct uop *in, u32 lane,
				 u64 address[WARP_LANES])
{
	const u64 *wide = (const u64 *)(const void *)(g->regs + in->a) + lane;
	const u32 *row = (const u32 *)(const void *)(g->regs + in->a) + lane;
	u64 offset = (u64)in->mem.offset;

	if (in->a == NO_ROW) {
		for (u32 i = 0; i < WARP_LANES; i++)
			address[i] = offset;
		return address;
	}
	if (!(in->flags & UOPF_WIDE)) {
		for (u32 i = 0; i < WARP_LANES; i++)
			address[i] = row[i] + (u32)offset;
		return address;
	}
	if (!offset)
		return wide;
	for (u32 i = 0; i < WARP_LANES; i++)
		address[i] = wide[i] + offset;
	return address;
}

bool exec_span_access(const struct exec_span *s, u32 w, u64 address[WARP_LANES],
		      struct exec_access *a)
{
	const struct gang *g = s->g;
	const struct uop *in = s->in;
	u32 mask = exec_step_mask(g, w);

	if (!mask)
		return false;
	*a = (struct exec_access){.cta = g->cta,
				  .in = in,
				  .pc = (u32)(in - g->uops),
				  .warp = g->first_warp + g->warp + w,
				  .kind = s->kind,
				  .space = s->space,
				  .size = in->mem.size,
				  .count = in->mem.count,
				  .mask = mask,
				  .bytes = (u64)in->mem.size * in->mem.count};
	a->address = warp_addresses(g, in, g->lane0 + w * WARP_LANES, address);
	return true;
}

/* ---- telling ---- */

static bool was_step_told(struct gang *g, u32 pc)
{
	u32 n = exec_step_warps(g);
	bool told = false;

	for (u32 w = 0; w < n; w++) {
		struct warp *x = &g->warp_at[g->warp + w];

		told |= x->live && x->told == pc + 1;
		x->told = 0;
	}
	return told;
}

static bool comes_again(const struct gang *g, u32 pc)
{
	return g->mode == MODE_GANG &&
	       (g->stop == STOP_DIVERGED || (g->stop == STOP_YIELD && g->pc == pc));
}

void exec_tell_step(struct gang *g, const struct uop *in)
{
	const struct exec_observer *o = g->env->observer;

	if (!o->step || (o->step_at && !o->step_at[in - g->uops]))
		return;
	if (!was_step_told(g, (u32)(in - g->uops)))
		o->step(o->user, g, in);
}

void exec_tell_stop(struct gang *g, u32 pc)
{
	for (u32 w = 0; comes_again(g, pc) && w < g->warps; w++)
		g->warp_at[w].told = pc + 1;
}
