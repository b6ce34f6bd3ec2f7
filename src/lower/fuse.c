/*
 * Copies and superinstructions.
 *
 * A register that is set once, to a constant, is that constant. One that is set once, as a copy of
 * another that is set once, is the other if both happen before the kernel's first label, so at most
 * once in the life of a thread. Micro-ops that made such copies become nops.
 *
 * Superinstructions: pairs of neighbouring micro-ops of which the second takes the result of the
 * first, which nothing else reads, become one; multiply-add by two constants takes them from the
 * micro-op. Lane operations are bound by the loads and stores of rows, so a pair that becomes one
 * takes little more than half its time. Only micro-ops without guards are fused; a
 * reconvergence point is a micro-op of its own, so neighbours always run one after the other.
 *
 * Micro-ops that are not needed any more become nops, and nops are taken out at the end.
 */
#include "src/uop/atom.h"
#include "src/lower/fuse_int.h"

#include <stdlib.h>

struct pattern {
	enum exec_op first, second, fused;
	u32 max; /* of the constant; it is the second operand of the first micro-op */
};

static const struct pattern patterns[] = {
	{OP_shl_b32, OP_xor_b16, OP_shl_xor, 31},
	{OP_shr_u32, OP_xor_b16, OP_shr_xor, 31},
	{OP_shl_b32, OP_add_b32, OP_shl_add, 31},
	{OP_mul_wide_s32, OP_add_b64, OP_mul_wide_add_s32, UINT32_MAX},
};

struct row_ref *fuse_find_ref(const struct fuse *f, u32 insn, u32 field)
{
	for (u32 r = f->first_ref[insn]; r < f->first_ref[insn + 1]; r++)
		if (f->l->refs.at[r].field == field)
			return &f->l->refs.at[r];
	return NULL;
}

u32 fuse_vreg_at(const struct fuse *f, u32 insn, u32 field)
{
	const struct row_ref *r = fuse_find_ref(f, insn, field);

	return r ? r->vreg : IR_NONE;
}

bool fuse_is_const(const struct fuse *f, u32 vreg)
{
	return vreg != IR_NONE && f->l->vregs.at[vreg].is_const;
}

u32 fuse_writer(const struct fuse *f, u32 vreg, enum exec_op op)
{
	u32 i;

	if (vreg == IR_NONE || f->writes[vreg] != 1)
		return IR_NONE;
	i = f->writer[vreg];
	return f->l->uops.at[i].op == (u16)op ? i : IR_NONE;
}

/* A row_ref without a row goes at the end. */
static void drop_row(struct row_ref *r)
{
	r->vreg = IR_NONE;
}

void fuse_drop(const struct fuse *f, u32 insn, u32 field)
{
	drop_row(fuse_find_ref(f, insn, field));
}

void fuse_erase(const struct fuse *f, u32 insn)
{
	struct uop *in = &f->l->uops.at[insn];

	in->op = in->inner = OP_nop;
	for (u32 r = f->first_ref[insn]; r < f->first_ref[insn + 1]; r++)
		drop_row(&f->l->refs.at[r]);
}

/*
 * What every reader of the copy `i` may read instead, IR_NONE: it is no copy, or not for good.
 * once: no label before.
 */
static u32 original(const struct fuse *f, u32 i, bool once)
{
	const struct uop *in = &f->l->uops.at[i];
	u32 d, a;

	if (in->op != OP_mov_b32 && in->op != OP_mov_b64)
		return IR_NONE;
	d = fuse_vreg_at(f, i, FIELD_D);
	a = fuse_vreg_at(f, i, FIELD_A);
	if (d == IR_NONE || a == IR_NONE || f->writes[d] != 1 || d == f->l->frame_vreg ||
	    d == f->l->stack_vreg || f->l->vregs.at[d].class != f->l->vregs.at[a].class)
		return IR_NONE;
	if (fuse_is_const(f, a) || f->l->vregs.at[a].launch)
		return a;
	if (!once || f->writes[a] != 1 || !f->written[a])
		return IR_NONE;
	return a == f->l->frame_vreg || a == f->l->stack_vreg ? IR_NONE : a;
}

/* Let readers of copies read what was copied. Copies of copies come in order. */
static bool propagate(struct fuse *f)
{
	struct lower *l = f->l;
	u32 *instead = malloc(sizeof(u32) * (l->vregs.len + 1));
	bool once = false;

	if (!instead)
		return false;
	for (u32 v = 0; v < l->vregs.len; v++)
		instead[v] = v;
	for (u32 i = 0; i < l->uops.len; i++) {
		u32 v;

		once = (once || i == l->p->funcs[0].first) && l->uops.at[i].op != OP_join &&
		       l->uops.at[i].func == 0;
		v = original(f, i, once);
		if (v != IR_NONE) {
			instead[fuse_vreg_at(f, i, FIELD_D)] = instead[v];
			l->uops.at[i].op = l->uops.at[i].inner = OP_nop;
		}
		for (u32 r = f->first_ref[i]; once && r < f->first_ref[i + 1]; r++)
			f->written[l->refs.at[r].vreg] |= l->refs.at[r].write;
	}
	for (u32 r = 0; r < l->refs.len; r++) {
		struct row_ref *x = &l->refs.at[r];

		if (l->uops.at[x->insn].op == OP_nop)
			drop_row(x);
		else if (!x->write)
			x->vreg = instead[x->vreg];
	}
	free(instead);
	return true;
}

static const struct pattern *find_pattern(const struct uop *first, const struct uop *second)
{
	for (u32 i = 0; i < ARRAY_LEN(patterns); i++)
		if (first->op == patterns[i].first && second->op == patterns[i].second)
			return &patterns[i];
	return NULL;
}

/* Put micro-op `k`, the next one after `i`, into `i`. */
static bool fuse_pair(struct fuse *f, u32 i, u32 k)
{
	struct lower *l = f->l;
	struct uop *first = &l->uops.at[i];
	const struct pattern *p = find_pattern(first, &l->uops.at[k]);
	u32 middle, factor, other;

	if (!p)
		return false;
	middle = fuse_vreg_at(f, i, FIELD_D);
	factor = fuse_vreg_at(f, i, FIELD_B);
	if (!fuse_is_const(f, factor) || l->vregs.at[factor].bits > p->max ||
	    f->reads[middle] != 1 || f->writes[middle] != 1)
		return false;
	other = fuse_vreg_at(f, k, FIELD_B);
	if (other == middle)
		other = fuse_vreg_at(f, k, FIELD_A);
	else if (fuse_vreg_at(f, k, FIELD_A) != middle)
		return false;
	first->op = first->inner = (u16)p->fused;
	first->lane.imm = (s32)l->vregs.at[factor].bits;
	fuse_find_ref(f, i, FIELD_D)->vreg = fuse_vreg_at(f, k, FIELD_D);
	fuse_find_ref(f, i, FIELD_B)->vreg = other;
	fuse_erase(f, k);
	return true;
}

static void fuse_constants(struct fuse *f, u32 i)
{
	struct lower *l = f->l;
	struct uop *in = &l->uops.at[i];
	u32 b = fuse_vreg_at(f, i, FIELD_B), c = fuse_vreg_at(f, i, FIELD_C);
	bool mul = in->op == OP_mul_lo_b32;

	if ((in->op != OP_mad_lo_b32 && !mul) || !fuse_is_const(f, b) ||
	    (!mul && !fuse_is_const(f, c)))
		return;
	in->op = in->inner = OP_mad_imm;
	in->lane.imm =
		(s64)((mul ? 0 : (u64)(u32)l->vregs.at[c].bits << 32) | (u32)l->vregs.at[b].bits);
	fuse_drop(f, i, FIELD_B);
	if (!mul)
		fuse_drop(f, i, FIELD_C);
}

/*
 * Steps of generators and hash functions: a value combined with itself shifted, twice, or once and
 * then multiplied by a constant. The first micro-op is a pair already, of one operand.
 */
static const struct pattern steps[] = {
	{OP_shl_xor, OP_shr_xor, OP_shl_shr_xor, 0},
	{OP_shr_xor, OP_shl_xor, OP_shr_shl_xor, 0},
	{OP_shl_xor, OP_mad_imm, OP_shl_xor_mad, 0},
	{OP_shr_xor, OP_mad_imm, OP_shr_xor_mad, 0},
};

static bool fuse_step(struct fuse *f, u32 i, u32 k)
{
	struct uop *first = &f->l->uops.at[i], *second = &f->l->uops.at[k];
	u32 middle = fuse_vreg_at(f, i, FIELD_D), reads;
	const struct pattern *p = NULL;

	for (u32 n = 0; n < ARRAY_LEN(steps); n++)
		if (first->op == steps[n].first && second->op == steps[n].second)
			p = &steps[n];
	if (!p || fuse_vreg_at(f, i, FIELD_A) != fuse_vreg_at(f, i, FIELD_B) ||
	    fuse_vreg_at(f, k, FIELD_A) != middle)
		return false;
	reads = second->op == OP_mad_imm ? 1 : 2;
	if ((reads == 2 && fuse_vreg_at(f, k, FIELD_B) != middle) || f->reads[middle] != reads ||
	    f->writes[middle] != 1)
		return false;
	first->op = first->inner = (u16)p->fused;
	first->lane.shift = (u16)first->lane.imm;
	first->lane.imm = second->lane.imm;
	fuse_drop(f, i, FIELD_B);
	fuse_find_ref(f, i, FIELD_D)->vreg = fuse_vreg_at(f, k, FIELD_D);
	fuse_erase(f, k);
	return true;
}

/* Try every micro-op with the next one that is left. */
static void fuse_neighbours(struct fuse *f, bool (*fuse)(struct fuse *f, u32 i, u32 k))
{
	u32 n = (u32)f->l->uops.len, last = IR_NONE;

	for (u32 i = 0; i < n; i++) {
		if (f->l->uops.at[i].op == OP_nop)
			continue;
		last = last != IR_NONE && fuse(f, last, i) ? IR_NONE : i;
	}
}

/* ---- results that nothing reads ---- */

static bool has_no_effect(const struct uop *in)
{
	return uop_is_value(in->op);
}

/* Rows that handlers read without naming them in a micro-op. */
static void read_hidden(struct fuse *f)
{
	const struct lower *l = f->l;

	f->reads[l->frame_vreg]++;
	f->reads[l->stack_vreg]++;
	for (u32 i = 1; i < l->funcs.len; i++) {
		f->reads[l->funcs.at[i].return_pc]++;
		f->reads[l->funcs.at[i].return_frame]++;
	}
}

/* The old value that an atomic returns, if nothing reads it: what can be is a reduction then. */
static void drop_old_value(struct fuse *f, u32 i)
{
	const struct uop *in = &f->l->uops.at[i];
	u32 d;

	if (uop_kind(in->inner) != UOP_ATOMIC || in->atomic.action == ATOM_CAS ||
	    in->atomic.action == ATOM_EXCH)
		return;
	d = fuse_vreg_at(f, i, FIELD_D);
	if (d != IR_NONE && !f->reads[d])
		fuse_drop(f, i, FIELD_D);
}

static void drop_unread(struct fuse *f)
{
	struct lower *l = f->l;

	read_hidden(f);
	for (u32 i = (u32)l->uops.len; i-- > 0;) {
		bool unread =
			has_no_effect(&l->uops.at[i]) && f->first_ref[i] < f->first_ref[i + 1];

		for (u32 r = f->first_ref[i]; r < f->first_ref[i + 1]; r++)
			unread &= !l->refs.at[r].write || !f->reads[l->refs.at[r].vreg];
		if (!unread) {
			drop_old_value(f, i);
			continue;
		}
		for (u32 r = f->first_ref[i]; r < f->first_ref[i + 1]; r++)
			f->reads[l->refs.at[r].vreg] -= !l->refs.at[r].write;
		fuse_erase(f, i);
	}
}

/* ---- counting, and taking out what is gone ---- */

/* References whose row is gone. */
static void sweep(struct lower *l)
{
	size_t n = 0;

	for (size_t r = 0; r < l->refs.len; r++)
		if (l->refs.at[r].vreg != IR_NONE)
			l->refs.at[n++] = l->refs.at[r];
	l->refs.len = n;
}

static bool grow(u32 **at, size_t n)
{
	u32 *p = realloc(*at, sizeof(u32) * n);

	if (p)
		*at = p;
	return p != NULL;
}

bool fuse_count(struct fuse *f)
{
	struct lower *l = f->l;
	u32 r = 0, n = (u32)l->uops.len;

	sweep(l);
	if (!grow(&f->first_ref, n + 2) || !grow(&f->reads, l->vregs.len + 1) ||
	    !grow(&f->writes, l->vregs.len + 1) || !grow(&f->writer, l->vregs.len + 1))
		return false;
	f->known = (u32)l->vregs.len;
	f->counted = n;
	for (u32 i = 0; i <= n; i++) {
		while (r < l->refs.len && l->refs.at[r].insn < i)
			r++;
		f->first_ref[i] = r;
	}
	memset(f->reads, 0, sizeof(u32) * l->vregs.len);
	memset(f->writes, 0, sizeof(u32) * l->vregs.len);
	for (r = 0; r < l->refs.len; r++) {
		const struct row_ref *x = &l->refs.at[r];

		(x->write ? f->writes : f->reads)[x->vreg]++;
		if (x->write)
			f->writer[x->vreg] = x->insn;
	}
	return true;
}

/* Everything that names a micro-op gets its new number. */
static void renumber(struct lower *l, const u32 *to)
{
	struct program *p = l->p;

	for (u32 i = 0; i < l->uops.len; i++) {
		struct uop *in = &l->uops.at[i];

		if ((in->op == OP_bra || in->op == OP_bra_pred) && in->branch.target != NO_PC)
			in->branch.target = to[in->branch.target];
		for (u32 k = 0; in->op == OP_brx_idx && k < in->branch.cases; k++)
			l->ext.at[in->ext + k] = to[l->ext.at[in->ext + k]];
	}
	for (size_t r = 0; r < l->refs.len; r++)
		l->refs.at[r].insn = to[l->refs.at[r].insn];
	for (size_t i = 0; i < l->notes.len; i++)
		l->notes.at[i].pc = to[l->notes.at[i].pc];
	for (size_t i = 0; i < l->funcs.len; i++) {
		p->funcs[i].first = to[p->funcs[i].first];
		p->funcs[i].end = to[p->funcs[i].end];
	}
	p->launch_first = to[p->launch_first];
}

static bool take_out_nops(struct lower *l)
{
	u32 *to = malloc(sizeof(u32) * (l->uops.len + 1)), n = 0;

	if (!to)
		return false;
	for (u32 i = 0; i < l->uops.len; i++) {
		to[i] = n;
		n += l->uops.at[i].op != OP_nop;
	}
	to[l->uops.len] = n;
	renumber(l, to);
	for (u32 i = 0; i < l->uops.len; i++)
		if (l->uops.at[i].op != OP_nop)
			l->uops.at[to[i]] = l->uops.at[i];
	l->uops.len = n;
	free(to);
	return true;
}

/* A way straight to the kernel's end is the end: warps that differ there need not part. */
static void end_at_branches(struct fuse *f)
{
	for (u32 i = 0; i < f->l->uops.len; i++) {
		struct uop *in = &f->l->uops.at[i];
		u32 t = in->branch.target;

		if (in->op != OP_bra_pred || t == NO_PC || t <= i)
			continue;
		while (f->l->uops.at[t].op == OP_join || f->l->uops.at[t].op == OP_nop)
			t++;
		if (f->l->uops.at[t].op != OP_exit || fuse_find_ref(f, t, FIELD_GUARD))
			continue;
		in->op = in->inner = OP_exit;
		in->branch.target = NO_PC;
	}
}

static bool run_passes(struct fuse *f)
{
	u32 n = (u32)f->l->uops.len;

	if (!fuse_count(f))
		return false;
	/*
	 * Only what is hoisted is there for all lanes: elsewhere a micro-op may run for some of
	 * them, and the row's first lane may hold something else.
	 */
	end_at_branches(f);
	if (!f->l->no_launch)
		fuse_mark_launch(f);
	if (!propagate(f) || !fuse_count(f))
		return false;
	for (u32 i = 0; i < n; i++)
		fuse_cta_index(f, i);
	if (!fuse_count(f) || !fuse_addresses(f) || !fuse_count(f))
		return false;
	if (!f->l->no_launch && !f->l->no_affine && (!fuse_affine(f) || !fuse_count(f)))
		return false;
	drop_unread(f);
	if (!fuse_count(f) || (!f->l->no_launch && !fuse_hoist_launch(f)) || !fuse_count(f))
		return false;
	fuse_neighbours(f, fuse_pair);
	for (u32 i = 0; i < f->l->uops.len; i++)
		fuse_constants(f, i);
	if (!fuse_count(f))
		return false;
	fuse_neighbours(f, fuse_step);
	sweep(f->l);
	return take_out_nops(f->l);
}

/* Without fusion, too: observers see what ptxas makes of a program. */
static bool drop_old_values(struct fuse *f)
{
	if (!fuse_count(f))
		return false;
	for (u32 i = 0; i < f->l->uops.len; i++)
		drop_old_value(f, i);
	sweep(f->l);
	return true;
}

bool lower_fuse(struct lower *l)
{
	struct fuse f = {.l = l};
	bool ok;

	l->p->launch_first = (u32)l->uops.len;
	if (l->options.one_to_one)
		return true;
	if (l->options.no_fusion) {
		ok = drop_old_values(&f);
	} else {
		ok = fuse_count(&f) && fuse_narrow(&f);
		f.written = calloc(l->vregs.len + 1, sizeof(bool));
		ok = ok && f.written && run_passes(&f);
	}
	free(f.written);
	free(f.writer);
	free(f.reads);
	free(f.writes);
	free(f.first_ref);
	return ok;
}
