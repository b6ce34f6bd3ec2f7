/*
 * Values that are the same for every CTA of a launch: parameters, the shape of the grid, %tid and
 * %laneid, and what is computed of them alone. The micro-ops that make them run once for each
 * launch and storage of a CTA (exec_cta_start), not once for each CTA; their rows are used for
 * nothing else.
 *
 * A register counts if one unguarded micro-op writes it, so that it has one value wherever it is
 * read. That it might not be written on the way to a read does not matter: what such a read yields
 * is undefined.
 */
#include "src/lower/fuse_int.h"

/* Of the operation alone; operands are checked by the caller. */
static enum launch_kind kind_of_op(const struct uop *in)
{
	if (uop_is_lane(in->op))
		return LAUNCH_UNIFORM;
	if (!uop_info[in->op].value)
		return LAUNCH_NO;
	switch (uop_kind(in->op)) {
	case UOP_LOAD:
		return in->mem.count == 1 ? LAUNCH_UNIFORM : LAUNCH_NO;
	case UOP_SREG:
		if (in->op == OP_sreg_tid || in->op == OP_sreg_lane)
			return LAUNCH_LANES;
		return isa_sreg_varies(in->sreg.number) == ISA_LAUNCH ? LAUNCH_UNIFORM : LAUNCH_NO;
	default:
		return LAUNCH_UNIFORM;
	}
}

/* The vreg that micro-op `i` gives a value for the launch; IR_NONE: none. */
static u32 launch_result(const struct fuse *f, u32 i, enum launch_kind *kind)
{
	const struct lower *l = f->l;
	u32 d = fuse_vreg_at(f, i, FIELD_D);

	*kind = kind_of_op(&l->uops.at[i]);
	if (*kind == LAUNCH_NO || d == IR_NONE || f->writes[d] != 1 || l->vregs.at[d].pinned ||
	    d == l->frame_vreg || d == l->stack_vreg)
		return IR_NONE;
	for (u32 r = f->first_ref[i]; r < f->first_ref[i + 1]; r++) {
		const struct row_ref *ref = &l->refs.at[r];
		const struct vreg *v = &l->vregs.at[ref->vreg];

		if (ref->write ? ref->vreg != d : !v->is_const && v->launch == LAUNCH_NO)
			return IR_NONE;
		if (!ref->write && v->launch == LAUNCH_LANES)
			*kind = LAUNCH_LANES;
	}
	return d;
}

void fuse_mark_launch(struct fuse *f)
{
	for (u32 i = 0; i < f->l->uops.len; i++) {
		enum launch_kind kind;
		u32 d = launch_result(f, i, &kind);

		if (d != IR_NONE)
			f->l->vregs.at[d].launch = (u8)kind;
	}
}

/* Do micro-ops that stay read the vreg? Copies of micro-ops are after `end`. */
static void pin_what_is_read(const struct fuse *f, u32 end)
{
	struct lower *l = f->l;

	for (size_t r = 0; r < l->refs.len; r++) {
		const struct row_ref *ref = &l->refs.at[r];

		if (ref->vreg != IR_NONE && !ref->write && ref->insn < end &&
		    l->vregs.at[ref->vreg].launch && !l->vregs.at[ref->vreg].is_const)
			l->vregs.at[ref->vreg].pinned = true;
	}
}

/* Move micro-op `i` to the end, its references with it. */
static bool move_to_end(const struct fuse *f, u32 i)
{
	struct lower *l = f->l;
	struct uop in = l->uops.at[i];
	u32 to = (u32)l->uops.len;

	in.func = 0;
	if (!VEC_PUSH(&l->uops, in))
		return false;
	for (u32 r = f->first_ref[i]; r < f->first_ref[i + 1]; r++) {
		struct row_ref x = l->refs.at[r];

		x.insn = to;
		if (!VEC_PUSH(&l->refs, x))
			return false;
	}
	fuse_erase(f, i);
	return true;
}

bool fuse_hoist_launch(struct fuse *f)
{
	struct lower *l = f->l;
	u32 n = (u32)l->uops.len;

	for (u32 i = 0; i < n; i++) {
		u32 d = l->uops.at[i].op == OP_nop ? IR_NONE : fuse_vreg_at(f, i, FIELD_D);
		const struct vreg *v = d == IR_NONE ? NULL : &l->vregs.at[d];

		bool moves = v && v->launch != LAUNCH_NO && !v->is_const && f->writer[d] == i;

		if (!moves && l->uops.at[i].op != OP_affine_form &&
		    l->uops.at[i].op != OP_affine_form_wide)
			continue;
		if (!move_to_end(f, i))
			return false;
	}
	l->p->launch_first = n;
	pin_what_is_read(f, n);
	return true;
}
