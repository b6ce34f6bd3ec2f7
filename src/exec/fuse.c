/*
 * Copies and superinstructions.
 *
 * A register that is set once, to a constant, is that constant. One that is set once, as a copy of
 * another that is set once, is the other if both happen before the kernel's first label, so at most
 * once in the life of a thread. Records that made such copies become nops.
 *
 * Superinstructions: pairs of neighbouring records of which the second takes the result of the
 * first, which nobody else reads, become one; multiply-add by two constants takes them from the
 * record. Lane operations are bound by the loads and stores of rows, so a pair that becomes one
 * takes little more than half its time. The first record becomes the operation, the second a nop
 * that is passed over: no record moves, so branches and messages stay right. Only records without
 * guards are looked at; a place where ways meet is a record of its own, so neighbours are always
 * run one after the other.
 */
#include "src/exec/lower_int.h"

#include <stdlib.h>

struct fuse {
	struct lower *l;
	u32 *first_ref; /* record -> first row_ref, one more at the end */
	u32 *reads;     /* vreg -> how often it is read */
	u32 *writes;
	bool *written; /* vreg -> before the kernel's first label */
};

struct pattern {
	enum exec_op first, second, fused;
	u32 max; /* of the constant; it is the second operand of the first record */
};

static const struct pattern patterns[] = {
	{OP_shl_b32, OP_xor_b16, OP_shl_xor, 31},
	{OP_shr_u32, OP_xor_b16, OP_shr_xor, 31},
	{OP_shl_b32, OP_add_b32, OP_shl_add, 31},
	{OP_mul_wide_s32, OP_add_b64, OP_mul_wide_add_s32, UINT32_MAX},
};

static struct row_ref *find_ref(const struct fuse *f, u32 insn, u32 field)
{
	for (u32 r = f->first_ref[insn]; r < f->first_ref[insn + 1]; r++)
		if (f->l->refs.at[r].field == field)
			return &f->l->refs.at[r];
	return NULL;
}

static u32 vreg_at(const struct fuse *f, u32 insn, u32 field)
{
	const struct row_ref *r = find_ref(f, insn, field);

	return r ? r->vreg : IR_NONE;
}

static bool is_const(const struct fuse *f, u32 vreg)
{
	return vreg != IR_NONE && f->l->vregs.at[vreg].is_const;
}

/* A row_ref without a row goes at the end. */
static void drop(struct row_ref *r)
{
	r->vreg = IR_NONE;
}

/*
 * What every reader of the copy `i` may read instead, IR_NONE: it is no copy, or not for good.
 * once: no label before.
 */
static u32 original(const struct fuse *f, u32 i, bool once)
{
	const struct insn *in = &f->l->insns.at[i];
	u32 d, a;

	if (in->op != OP_mov_b32 && in->op != OP_mov_b64)
		return IR_NONE;
	d = vreg_at(f, i, FIELD_D);
	a = vreg_at(f, i, FIELD_A);
	if (d == IR_NONE || a == IR_NONE || f->writes[d] != 1 || d == f->l->frame_vreg ||
	    d == f->l->stack_vreg || f->l->vregs.at[d].class != f->l->vregs.at[a].class)
		return IR_NONE;
	if (is_const(f, a))
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
	for (u32 i = 0; i < l->insns.len; i++) {
		u32 v;

		once = (once || i == l->p->funcs[0].first) && l->insns.at[i].op != OP_join &&
		       l->insns.at[i].func == 0;
		v = original(f, i, once);
		if (v != IR_NONE) {
			instead[vreg_at(f, i, FIELD_D)] = instead[v];
			l->insns.at[i].op = l->insns.at[i].inner = OP_nop;
		}
		for (u32 r = f->first_ref[i]; once && r < f->first_ref[i + 1]; r++)
			f->written[l->refs.at[r].vreg] |= l->refs.at[r].write;
	}
	for (u32 r = 0; r < l->refs.len; r++) {
		struct row_ref *x = &l->refs.at[r];

		if (l->insns.at[x->insn].op == OP_nop)
			drop(x);
		else if (!x->write)
			x->vreg = instead[x->vreg];
	}
	free(instead);
	return true;
}

static const struct pattern *find_pattern(const struct insn *first, const struct insn *second)
{
	for (u32 i = 0; i < ARRAY_LEN(patterns); i++)
		if (first->op == patterns[i].first && second->op == patterns[i].second)
			return &patterns[i];
	return NULL;
}

static bool fuse_pair(struct fuse *f, u32 i)
{
	struct lower *l = f->l;
	struct insn *first = &l->insns.at[i], *second = first + 1;
	const struct pattern *p = find_pattern(first, second);
	u32 middle, factor, other;

	if (!p)
		return false;
	middle = vreg_at(f, i, FIELD_D);
	factor = vreg_at(f, i, FIELD_B);
	if (!is_const(f, factor) || l->vregs.at[factor].bits > p->max || f->reads[middle] != 1 ||
	    f->writes[middle] != 1)
		return false;
	other = vreg_at(f, i + 1, FIELD_B);
	if (other == middle)
		other = vreg_at(f, i + 1, FIELD_A);
	else if (vreg_at(f, i + 1, FIELD_A) != middle)
		return false;
	first->op = first->inner = (u16)p->fused;
	first->imm = (s32)l->vregs.at[factor].bits;
	find_ref(f, i, FIELD_D)->vreg = vreg_at(f, i + 1, FIELD_D);
	find_ref(f, i, FIELD_B)->vreg = other;
	second->op = second->inner = OP_nop;
	for (u32 r = f->first_ref[i + 1]; r < f->first_ref[i + 2]; r++)
		drop(&l->refs.at[r]);
	return true;
}

static void fuse_constants(struct fuse *f, u32 i)
{
	struct lower *l = f->l;
	struct insn *in = &l->insns.at[i];
	u32 b = vreg_at(f, i, FIELD_B), c = vreg_at(f, i, FIELD_C);

	if (in->op != OP_mad_lo_b32 || !is_const(f, b) || !is_const(f, c))
		return;
	in->op = in->inner = OP_mad_imm;
	in->imm = (s64)((u64)(u32)l->vregs.at[c].bits << 32 | (u32)l->vregs.at[b].bits);
	drop(find_ref(f, i, FIELD_B));
	drop(find_ref(f, i, FIELD_C));
}

static void count(struct fuse *f)
{
	struct lower *l = f->l;
	u32 r = 0, n = (u32)l->insns.len;

	for (u32 i = 0; i <= n; i++) {
		while (r < l->refs.len && l->refs.at[r].insn < i)
			r++;
		f->first_ref[i] = r;
	}
	memset(f->reads, 0, sizeof(u32) * l->vregs.len);
	memset(f->writes, 0, sizeof(u32) * l->vregs.len);
	for (r = 0; r < l->refs.len; r++)
		(l->refs.at[r].write ? f->writes : f->reads)[l->refs.at[r].vreg]++;
}

/* References whose row is gone. */
static void sweep(struct lower *l)
{
	size_t n = 0;

	for (size_t r = 0; r < l->refs.len; r++)
		if (l->refs.at[r].vreg != IR_NONE)
			l->refs.at[n++] = l->refs.at[r];
	l->refs.len = n;
}

bool lower_fuse(struct lower *l)
{
	struct fuse f = {.l = l};
	u32 n = (u32)l->insns.len;
	bool ok;

	if (l->options.one_to_one || l->options.no_fusion)
		return true;
	f.first_ref = malloc(sizeof(u32) * (n + 2));
	f.reads = malloc(sizeof(u32) * (l->vregs.len + 1));
	f.writes = malloc(sizeof(u32) * (l->vregs.len + 1));
	f.written = calloc(l->vregs.len + 1, sizeof(bool));
	ok = f.first_ref && f.reads && f.writes && f.written;
	if (ok) {
		count(&f);
		ok = propagate(&f);
	}
	if (ok) {
		sweep(l);
		count(&f);
		for (u32 i = 0; i < n; i++)
			if (i + 1 < n && fuse_pair(&f, i))
				i++;
			else
				fuse_constants(&f, i);
		sweep(l);
	}
	free(f.written);
	free(f.reads);
	free(f.writes);
	free(f.first_ref);
	return ok;
}
