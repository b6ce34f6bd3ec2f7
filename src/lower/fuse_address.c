/*
 * Addresses. Threads nearly always reach memory at base + index * size, where the base is the same
 * for all and the index a 32-bit register, %ctaid * %ntid + %tid at its root. Accesses of global
 * memory that are made like that take base and index separately: half as many bytes of rows are
 * written and read.
 */
#include "src/lower/fuse_int.h"

#include <stdlib.h>

static bool is_uniform(const struct fuse *f, u32 vreg)
{
	return vreg != IR_NONE &&
	       (fuse_is_const(f, vreg) || f->l->vregs.at[vreg].launch == LAUNCH_UNIFORM);
}

static bool is_launch(const struct fuse *f, u32 vreg)
{
	return is_uniform(f, vreg) || (vreg != IR_NONE && f->l->vregs.at[vreg].launch);
}

u32 fuse_ctaid(const struct uop *in)
{
	return in->sreg.number == SR_ctaid && in->sreg.component < 3 ? in->sreg.component : 3;
}

/* Component of %ctaid that the vreg always is; 3: none. */
static u32 cta_component(const struct fuse *f, u32 vreg)
{
	u32 i = fuse_writer(f, vreg, OP_sreg_uniform);

	return i == IR_NONE ? 3 : fuse_ctaid(&f->l->uops.at[i]);
}

void fuse_cta_index(struct fuse *f, u32 insn)
{
	struct uop *in = &f->l->uops.at[insn];
	u32 a, b, c, component;

	if (in->op != OP_mad_lo_b32)
		return;
	a = fuse_vreg_at(f, insn, FIELD_A);
	b = fuse_vreg_at(f, insn, FIELD_B);
	c = fuse_vreg_at(f, insn, FIELD_C);
	component = cta_component(f, a);
	if (component == 3) {
		component = cta_component(f, b);
		b = a;
	}
	if (component == 3 || !is_uniform(f, b) || !is_launch(f, c))
		return;
	in->op = in->inner = OP_cta_index;
	in->lane.imm = component;
	fuse_find_ref(f, insn, FIELD_A)->vreg = c;
	fuse_find_ref(f, insn, FIELD_B)->vreg = b;
	fuse_drop(f, insn, FIELD_C);
}

/* base + index * scale, made by the micro-op `add`, which takes it from the micro-op `scaled`. */
struct indexed {
	u32 base, index, scale;
	u32 scaled, factor,
		add; /* factor: the micro-op that multiplies what `scaled` extends; or that one */
	bool is_signed;
};

/* Is the vreg an extended one times a constant? *at: the micro-op that makes it, if so. */
static bool take_factor(const struct fuse *f, u32 *vreg, u32 *factor, u32 *at)
{
	u32 i = fuse_writer(f, *vreg, OP_shl_b64), b;
	bool shift = i != IR_NONE;
	u64 by;

	*factor = 1;
	i = shift ? i : fuse_writer(f, *vreg, OP_mul_lo_b64);
	if (i == IR_NONE)
		return true;
	b = fuse_vreg_at(f, i, FIELD_B);
	by = fuse_is_const(f, b) ? f->l->vregs.at[b].bits : UINT64_MAX;
	if (by > (shift ? 15 : UINT16_MAX) || !by)
		return false;
	*factor = (u32)(shift ? 1u << by : by);
	*vreg = fuse_vreg_at(f, i, FIELD_A);
	*at = i;
	return fuse_writer(f, *vreg, OP_sign_extend) != IR_NONE ||
	       fuse_writer(f, *vreg, OP_zero_extend) != IR_NONE;
}

/* Is the vreg a 32-bit register times a constant? */
static bool find_scaled(const struct fuse *f, u32 vreg, struct indexed *x)
{
	const struct uop *in;
	u32 b, factor;

	if (vreg == IR_NONE || f->writes[vreg] != 1)
		return false;
	x->factor = f->writer[vreg];
	if (!take_factor(f, &vreg, &factor, &x->factor))
		return false;
	x->scaled = f->writer[vreg];
	in = &f->l->uops.at[x->scaled];
	x->index = fuse_vreg_at(f, x->scaled, FIELD_A);
	x->scale = factor;
	x->is_signed = in->op == OP_mul_wide_s32 || in->op == OP_sign_extend;
	if (in->op == OP_mul_wide_s32 || in->op == OP_mul_wide_u32) {
		b = fuse_vreg_at(f, x->scaled, FIELD_B);
		if (!fuse_is_const(f, b) || f->l->vregs.at[b].bits > UINT16_MAX)
			return false;
		x->scale = (u32)f->l->vregs.at[b].bits;
	} else if (in->op != OP_sign_extend && in->op != OP_zero_extend) {
		return false;
	}
	return x->index != IR_NONE && x->scale;
}

static bool find_indexed(const struct fuse *f, u32 address, struct indexed *x)
{
	u32 a, b;

	x->add = fuse_writer(f, address, OP_add_b64);
	if (x->add == IR_NONE)
		return false;
	a = fuse_vreg_at(f, x->add, FIELD_A);
	b = fuse_vreg_at(f, x->add, FIELD_B);
	x->base = is_uniform(f, a) ? a : b;
	return is_uniform(f, x->base) && find_scaled(f, x->base == a ? b : a, x);
}

/* Is the index at micro-op `i` still what it was when the address was made? */
static bool still_holds(const struct fuse *f, const struct indexed *x, u32 i, u32 last_join)
{
	if (x->scaled < last_join || x->scaled > x->factor || x->factor > x->add || x->add > i)
		return false;
	for (u32 k = x->scaled; k < i; k++)
		for (u32 r = f->first_ref[k]; r < f->first_ref[k + 1]; r++)
			if (f->l->refs.at[r].write && f->l->refs.at[r].vreg == x->index)
				return false;
	return true;
}

/*
 * The references of a micro-op stand together and cannot become more: rebuild the list with one
 * more, of `field`, for each micro-op that more[] has a vreg for.
 */
static bool insert_refs(struct lower *l, const u32 *more, u32 field)
{
	size_t n = l->refs.len, added = 0;

	for (u32 i = 0; i < l->uops.len; i++)
		added += more[i] != IR_NONE;
	for (size_t i = 0; i < added; i++)
		if (!VEC_PUSH(&l->refs, (struct row_ref){0}))
			return false;
	for (size_t r = n; r-- > 0 && added;) {
		u32 insn = l->refs.at[r].insn;

		l->refs.at[r + added] = l->refs.at[r];
		if (more[insn] != IR_NONE && (!r || l->refs.at[r - 1].insn != insn)) {
			added--;
			l->refs.at[r + added] = (struct row_ref){insn, field, more[insn], false};
		}
	}
	return true;
}

/*
 * What is extended by zeros and then masked with less than 32 bits may be masked before: where the
 * micro-op `i` masks and nothing else reads what the micro-op it returns extends. IR_NONE: not one
 * of these.
 */
static u32 early_mask(const struct fuse *f, u32 i)
{
	u32 b = fuse_vreg_at(f, i, FIELD_B), k;

	if (f->l->uops.at[i].op != OP_and_b64 || !fuse_is_const(f, b) ||
	    f->l->vregs.at[b].bits > UINT32_MAX)
		return IR_NONE;
	k = fuse_writer(f, fuse_vreg_at(f, i, FIELD_A), OP_zero_extend);
	return k == IR_NONE || k > i || f->reads[fuse_vreg_at(f, k, FIELD_D)] != 1 ? IR_NONE : k;
}

bool fuse_narrow(struct fuse *f)
{
	struct lower *l = f->l;
	u32 n = (u32)l->uops.len, *more = malloc(sizeof(u32) * (n + 1));
	bool ok;

	if (!more)
		return false;
	for (u32 i = 0; i < n; i++)
		more[i] = IR_NONE;
	for (u32 i = 0; i < n; i++) {
		u32 k = early_mask(f, i), mask = fuse_vreg_at(f, i, FIELD_B), middle;

		if (k == IR_NONE || more[k] != IR_NONE)
			continue;
		middle = lower_vreg(l, ROW_W);
		more[k] = lower_const(l, ROW_W, l->vregs.at[mask].bits);
		l->uops.at[k].op = l->uops.at[k].inner = OP_and_b16;
		fuse_find_ref(f, k, FIELD_D)->vreg = middle;
		l->uops.at[i].op = l->uops.at[i].inner = OP_zero_extend;
		fuse_find_ref(f, i, FIELD_A)->vreg = middle;
		fuse_drop(f, i, FIELD_B);
	}
	ok = !l->failed && insert_refs(l, more, FIELD_B);
	free(more);
	return ok;
}

static void take_index(const struct fuse *f, u32 i, const struct indexed *x)
{
	struct uop *in = &f->l->uops.at[i];
	u32 width = (u32)in->mem.size * in->mem.count;
	u32 op = in->inner == OP_load_global    ? OP_load_indexed
		 : in->inner == OP_store_global ? OP_store_indexed
		 : in->inner == OP_load_local   ? OP_load_local_indexed
						: OP_store_local_indexed;

	uop_become(in, op);
	in->index.scale = (u16)x->scale;
	in->index.step = (u16)(width % x->scale ? 0 : width / x->scale);
	in->flags |= x->is_signed ? 0 : UOPF_UNSIGNED;
	fuse_find_ref(f, i, FIELD_A)->vreg = x->index;
}

static bool is_local(const struct uop *in)
{
	return in->inner == OP_load_local || in->inner == OP_store_local;
}

bool fuse_addresses(struct fuse *f)
{
	struct lower *l = f->l;
	u32 *base = malloc(sizeof(u32) * (l->uops.len + 1)), last_join = 0;
	bool ok;

	if (!base)
		return false;
	for (u32 i = 0; i < l->uops.len; i++) {
		struct uop *in = &l->uops.at[i];
		u32 address = fuse_vreg_at(f, i, FIELD_A);
		struct indexed x;

		base[i] = IR_NONE;
		if (in->op == OP_join || i == l->p->funcs[in->func].first)
			last_join = i;
		if ((in->inner == OP_load_shared && address != IR_NONE &&
		     l->vregs.at[address].launch) ||
		    (is_local(in) && is_uniform(f, address)))
			in->flags |= UOPF_FIXED;
		if ((in->inner != OP_load_global && in->inner != OP_store_global &&
		     !is_local(in)) ||
		    address == IR_NONE || l->vregs.at[address].launch ||
		    !find_indexed(f, address, &x) || !still_holds(f, &x, i, last_join))
			continue;
		base[i] = x.base;
		take_index(f, i, &x);
	}
	ok = insert_refs(l, base, FIELD_C);
	free(base);
	return ok;
}
