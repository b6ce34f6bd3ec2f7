/*
 * Products and sums that the hardware's compiler makes one operation of. PTX ISA "Floating Point
 * Instructions: mul, add": sequences without a rounding modifier may become fused multiply-adds.
 * Results depend on which do, so the rule is that of ptxas 13.0, found by decoding what it makes of
 * some thousand short programs, and confirmed by results of an H200:
 *
 * A product is merged into sums when every use of it is an unrounded sum or difference of the same
 * kind behind it in its block, as one operand; copies and negations between are looked through. Of
 * two products in a sum, one without other uses goes before one with, the first before the second;
 * the other one becomes the addend, and can then be merged nowhere. Blocks end as ptxas sees them:
 * also at operations that it runs as a subroutine or a loop, at fences, and at guarded instructions
 * that are more than arithmetic.
 *
 * Deviation: a product in a register that is written in several places is left alone.
 */
#include "src/exec/fuse_int.h"
#include "src/exec/mode.h"

#include <stdlib.h>

#define USES_MAX 64u

struct family {
	enum exec_op mul, add, sub, neg;
	enum exec_op fused[2][2]; /* [product negated][addend negated] */
};

#define SUMS(mul, sum, neg)                                                                        \
	{OP_mul_##mul, OP_add_##sum, OP_sub_##sum, OP_neg_##neg,                                   \
	 {{OP_fma_##sum, OP_fma_pn_##sum}, {OP_fma_np_##sum, OP_fma_nn_##sum}}}

static const struct family families[] = {
	SUMS(f32, f32, f32),	       SUMS(f32, sat_f32, f32),
	SUMS(ftz_f32, ftz_f32, ftz_f32), SUMS(ftz_f32, ftz_sat_f32, ftz_f32),
	SUMS(f64, f64, f64),	       SUMS(f16, f16, any_f16),
	SUMS(f16x2, f16x2, any_f16x2), SUMS(bf16, bf16, bf16),
	SUMS(bf16x2, bf16x2, bf16x2),
};

/* A sum that a product goes into. */
struct use {
	u32 sum, field;  /* FIELD_A or FIELD_B */
	bool negated;    /* on the way there */
};

struct uses {
	struct use at[USES_MAX];
	u32 len;
	u32 ways[USES_MAX]; /* records between: copies and negations */
	u32 ways_len;
};

struct contract {
	struct fuse *f;
	u32 *block;      /* record -> number of its block */
	u32 *first_read; /* vreg -> its first entry in `reads`, one more at the end */
	u32 *reads;      /* indices into refs */
	u8 *taken;       /* record -> it is a sum with a product in it */
	u32 added;       /* references */
};

/* ---- where blocks end ---- */

static const struct isa_form *form_of(const struct lower *l, u32 i)
{
	const struct insn *in = &l->insns.at[i];
	const struct ir_func *f = l->funcs.at[in->func].f;

	return in->ir < f->insns.len ? f->insns.at[in->ir].form : NULL;
}

static bool is_division_run_as_code(const struct isa_form *form, u32 type)
{
	if (isa_form_word(form, ISA_K_APPROX, 0) != ISA_NONE)
		return false;
	return type != T_u32;
}

/* Instructions that ptxas turns into calls, branches or loops, so that they end a block. */
static bool is_run_as_code(const struct isa_form *form)
{
	const char *name = form->row->name[form->name];
	u32 type = form->types ? form->type[0] : ISA_NONE, space;

	switch (name[0]) {
	case 'd':
		return !strcmp(name, "div") && is_division_run_as_code(form, type);
	case 'r':
		if (!strcmp(name, "red"))
			break;
		if (!strcmp(name, "rem"))
			return type != T_u32;
		if (!strcmp(name, "rsqrt"))
			return type == T_f64 && isa_form_word(form, ISA_K_FTZ, 0) == ISA_NONE;
		return !strcmp(name, "rcp") && isa_form_word(form, ISA_K_APPROX, 0) == ISA_NONE;
	case 's':
		return !strcmp(name, "sqrt") && isa_form_word(form, ISA_K_APPROX, 0) == ISA_NONE;
	case 'm':
		return !strcmp(name, "membar");
	case 'f':
		return !strcmp(name, "fence") && isa_form_word(form, ISA_K_SEM, 0) != ISA_NONE;
	case 'b':
		return !strcmp(name, "brkpt");
	case 'a':
		if (!strcmp(name, "atom"))
			break;
		return false;
	default:
		return false;
	}
	/* Sums of floats in shared memory, or where it may be, are loops. */
	space = isa_form_word(form, ISA_K_SPACE, 0);
	return (type == T_f32 || type == T_f64) && space != M_global;
}

static bool is_jump(u32 op)
{
	return op == OP_bra || op == OP_bra_pred || op == OP_brx_idx || op == OP_call ||
	       op == OP_exit || op == OP_ret;
}

static void number_blocks(struct contract *c)
{
	const struct lower *l = c->f->l;
	u32 block = 0, ir = IR_NONE;

	for (u32 i = 0; i < l->insns.len; i++) {
		const struct insn *in = &l->insns.at[i];
		const struct isa_form *form = form_of(l, i);
		bool guarded = in->op == OP_guard && in->inner >= OP_guard;

		block += in->op == OP_join;
		c->block[i] = block;
		if (is_jump(in->inner) || is_jump(in->op) || guarded)
			block++;
		else if (in->ir != ir && form && is_run_as_code(form))
			block++;
		ir = in->ir;
	}
}

/* ---- uses ---- */

static bool list_reads(struct contract *c)
{
	const struct lower *l = c->f->l;
	c->first_read = calloc(l->vregs.len + 2, sizeof(u32));
	c->reads = malloc(sizeof(u32) * (l->refs.len + 1));
	if (!c->first_read || !c->reads)
		return false;
	for (size_t r = 0; r < l->refs.len; r++)
		if (!l->refs.at[r].write)
			c->first_read[l->refs.at[r].vreg + 2]++;
	for (size_t v = 0; v <= l->vregs.len; v++)
		c->first_read[v + 1] += c->first_read[v];
	for (size_t r = 0; r < l->refs.len; r++)
		if (!l->refs.at[r].write)
			c->reads[c->first_read[l->refs.at[r].vreg + 1]++] = (u32)r;
	return true;
}

static const struct family *family_of(u32 mul, u32 sum)
{
	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		if (families[i].mul == (enum exec_op)mul &&
		    (families[i].add == (enum exec_op)sum || families[i].sub == (enum exec_op)sum))
			return &families[i];
	return NULL;
}

static bool is_negation(u32 mul, const struct insn *in)
{
	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		if (families[i].mul == (enum exec_op)mul && families[i].neg == (enum exec_op)in->op)
			return in->op != OP_neg_any_f16 && in->op != OP_neg_any_f16x2
				       ? true : !in->imm || !((u64)in->imm & NUM_FTZ);
	return false;
}

static bool is_unrounded(const struct lower *l, u32 i)
{
	const struct isa_form *form = form_of(l, i);

	return form && isa_form_word(form, ISA_K_ROUND, 0) == ISA_NONE;
}

/* Is a vreg that record `from` reads still the same at record `to` of its block? */
static bool is_kept(const struct contract *c, u32 vreg, u32 from, u32 to)
{
	const struct fuse *f = c->f;

	if (fuse_is_const(f, vreg) || !f->writes[vreg])
		return true;
	if (f->writes[vreg] == 1)
		return f->writer[vreg] < from || f->writer[vreg] > to;
	for (u32 r = f->first_ref[from]; r < f->first_ref[to]; r++)
		if (f->l->refs.at[r].write && f->l->refs.at[r].vreg == vreg)
			return false;
	return true;
}

/* Collect where a product of record `mul`, in `vreg`, goes; false: not only into sums. */
static bool collect(const struct contract *c, u32 mul, u32 vreg, bool negated, struct uses *to)
{
	const struct fuse *f = c->f;
	const struct lower *l = f->l;

	if (f->writes[vreg] != 1)
		return false;
	for (u32 k = c->first_read[vreg]; k < c->first_read[vreg + 1]; k++) {
		const struct row_ref *r = &l->refs.at[c->reads[k]];
		const struct insn *in = &l->insns.at[r->insn];
		bool minus = is_negation(l->insns.at[mul].op, in);

		if (r->insn <= mul || c->block[r->insn] != c->block[mul] || to->len == USES_MAX ||
		    to->ways_len == USES_MAX)
			return false;
		if (minus || in->op == OP_mov_b32 || in->op == OP_mov_b64) {
			to->ways[to->ways_len++] = r->insn;
			if (!collect(c, mul, fuse_vreg_at(f, r->insn, FIELD_D), negated ^ minus, to))
				return false;
			continue;
		}
		if (!family_of(l->insns.at[mul].op, in->inner) || r->field > FIELD_B ||
		    !is_unrounded(l, r->insn) || c->taken[r->insn] ||
		    !is_kept(c, fuse_vreg_at(f, mul, FIELD_A), mul, r->insn) ||
		    !is_kept(c, fuse_vreg_at(f, mul, FIELD_B), mul, r->insn))
			return false;
		for (u32 i = 0; i < to->len; i++)
			if (to->at[i].sum == r->insn)
				return false;
		to->at[to->len++] = (struct use){r->insn, r->field, negated};
	}
	return true;
}

/* The record that makes the product which this operand is, IR_NONE: it is none. */
static u32 product_of(const struct contract *c, u32 sum, u32 field)
{
	const struct fuse *f = c->f;
	const struct lower *l = f->l;
	u32 vreg = fuse_vreg_at(f, sum, field), steps = 0;

	while (vreg != IR_NONE && f->writes[vreg] == 1 && steps++ < USES_MAX) {
		u32 w = f->writer[vreg], op = l->insns.at[w].op;

		if (op == OP_guard || op != l->insns.at[w].inner)
			return IR_NONE;
		if (family_of(op, l->insns.at[sum].inner))
			return is_unrounded(l, w) ? w : IR_NONE;
		if (op != OP_mov_b32 && op != OP_mov_b64 && op != OP_neg_f32 &&
		    op != OP_neg_ftz_f32 && op != OP_neg_f64 && op != OP_neg_any_f16 &&
		    op != OP_neg_any_f16x2 && op != OP_neg_bf16 && op != OP_neg_bf16x2)
			return IR_NONE;
		vreg = fuse_vreg_at(f, w, FIELD_A);
	}
	return IR_NONE;
}

/* ---- merging ---- */

static void merge_into(struct contract *c, u32 mul, const struct use *u)
{
	struct lower *l = c->f->l;
	struct insn *in = &l->insns.at[u->sum];
	const struct family *kin = family_of(l->insns.at[mul].op, in->inner);
	bool minus = in->inner == (u16)kin->sub;
	bool product = u->negated ^ (minus && u->field == FIELD_B),
	     addend = minus && u->field == FIELD_A;
	u32 other = fuse_vreg_at(c->f, u->sum, u->field == FIELD_A ? FIELD_B : FIELD_A);
	u16 op = (u16)kin->fused[product][addend];
	struct row_ref third = {.insn = u->sum, .field = FIELD_C, .vreg = other};

	in->op = in->op == OP_guard ? in->op : op;
	in->inner = op;
	fuse_find_ref(c->f, u->sum, FIELD_A)->vreg = fuse_vreg_at(c->f, mul, FIELD_A);
	fuse_find_ref(c->f, u->sum, FIELD_B)->vreg = fuse_vreg_at(c->f, mul, FIELD_B);
	if (!VEC_PUSH(&l->refs, third))
		l->failed = true;
	c->added++;
	c->taken[u->sum] = 1;
}

/* Merge the product that an operand of a sum is. single: only if this is its only use. */
static bool merge(struct contract *c, u32 sum, u32 field, bool single)
{
	u32 mul = product_of(c, sum, field);
	struct uses uses = {.len = 0};

	if (mul == IR_NONE || c->block[mul] != c->block[sum] ||
	    !collect(c, mul, fuse_vreg_at(c->f, mul, FIELD_D), false, &uses) ||
	    (single && uses.len != 1))
		return false;
	for (u32 i = 0; i < uses.len; i++)
		merge_into(c, mul, &uses.at[i]);
	for (u32 i = 0; i < uses.ways_len; i++)
		fuse_erase(c->f, uses.ways[i]);
	fuse_erase(c->f, mul);
	return true;
}

static bool is_sum(const struct lower *l, u32 i)
{
	for (size_t k = 0; k < ARRAY_LEN(families); k++)
		if (l->insns.at[i].inner == (u16)families[k].add ||
		    l->insns.at[i].inner == (u16)families[k].sub)
			return is_unrounded(l, i);
	return false;
}

static void merge_all(struct contract *c, bool single)
{
	const struct lower *l = c->f->l;

	for (u32 i = 0; i < l->insns.len && !l->failed; i++)
		if (!c->taken[i] && is_sum(l, i) && !merge(c, i, FIELD_A, single))
			merge(c, i, FIELD_B, single);
}

/* Put the references that were added behind the others of their records. */
static bool sort_references(struct lower *l)
{
	size_t n = l->insns.len;
	u32 *at = calloc(n + 2, sizeof(u32));
	struct row_ref *sorted = malloc(sizeof(*sorted) * (l->refs.len + 1));
	bool ok = at && sorted;

	for (size_t r = 0; ok && r < l->refs.len; r++)
		at[l->refs.at[r].insn + 1]++;
	for (size_t i = 0; ok && i < n; i++)
		at[i + 1] += at[i];
	for (size_t r = 0; ok && r < l->refs.len; r++)
		sorted[at[l->refs.at[r].insn]++] = l->refs.at[r];
	if (ok)
		memcpy(l->refs.at, sorted, sizeof(*sorted) * l->refs.len);
	free(at);
	free(sorted);
	return ok;
}

bool fuse_contract(struct fuse *f)
{
	struct lower *l = f->l;
	struct contract c = {.f = f};
	bool ok;

	c.block = malloc(sizeof(u32) * (l->insns.len + 1));
	c.taken = calloc(l->insns.len + 1, 1);
	ok = c.block && c.taken && list_reads(&c);
	if (ok) {
		number_blocks(&c);
		merge_all(&c, true);
		merge_all(&c, false);
		ok = !l->failed && (!c.added || sort_references(l));
	}
	free(c.block);
	free(c.taken);
	free(c.first_read);
	free(c.reads);
	return ok;
}
