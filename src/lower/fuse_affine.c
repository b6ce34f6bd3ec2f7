/*
 * Affine values: lanes + constant + multiples of %ctaid, see affine.h. Accesses whose index or
 * 64-bit address is one, and comparisons of one with a value that all lanes share, use its parts.
 * The parts are launch values, computed by micro-ops made here; a micro-op of its own inspects the
 * lanes' part once for each launch. What computed the value usually has no reader left, and is
 * removed.
 *
 * As with launch values, a register counts if one unguarded micro-op writes it.
 */
#include "src/exec/affine.h"
#include "src/lower/fuse_int.h"

#include <stdlib.h>

/* Steps from a value back to launch values. */
#define DEPTH_MAX 24u

/* Vregs of the parts, IR_NONE: zero. */
struct value {
	u32 lanes, part[AFFINE_PARTS];
	enum { NOT_KNOWN, AFFINE, NOT_AFFINE } state;
};

/* Operations of parts, by class. */
enum part_op { PART_ADD, PART_SUB, PART_MUL, PART_OPS };
static const enum exec_op part_ops[2][PART_OPS] = {{OP_add_b32, OP_sub_b32, OP_mul_lo_b32},
						   {OP_add_b64, OP_sub_b64, OP_mul_lo_b64}};

/* A launch value that is made here. */
struct made {
	enum exec_op op;
	u32 a, b, d;
};

struct pass {
	struct fuse *f;
	enum row_class class; /* of the values looked for: ROW_W or ROW_X */
	u32 old;              /* vregs there were: what is known of others is in `made` */
	struct value *value;  /* by vreg */
	VEC(struct made) made;
	VEC(struct value) forms;
};

/* ---- arithmetic of parts ---- */

static bool part_is_const(const struct pass *x, u32 vreg, u64 value)
{
	u64 bits = vreg != IR_NONE ? x->f->l->vregs.at[vreg].bits : 0;

	return vreg != IR_NONE && fuse_is_const(x->f, vreg) &&
	       (x->class == ROW_W ? (u32)bits : bits) == value;
}

static u32 part_constant(struct pass *x, u64 v)
{
	return lower_const(x->f->l, x->class, x->class == ROW_W ? (u32)v : v);
}

static u64 fold(enum part_op op, u64 a, u64 b)
{
	return op == PART_ADD ? a + b : op == PART_SUB ? a - b : a * b;
}

static bool differs_by_lane(const struct pass *x, u32 vreg)
{
	return vreg != IR_NONE && !fuse_is_const(x->f, vreg) &&
	       x->f->l->vregs.at[vreg].launch == LAUNCH_LANES;
}

/* a op b (IR_NONE: none) in a micro-op for the launch, or one that does the same already. */
static u32 emit_part_op(struct pass *x, enum exec_op op, u32 a, u32 b)
{
	struct lower *l = x->f->l;
	u32 d;

	for (size_t i = 0; i < x->made.len; i++)
		if (x->made.at[i].op == op && x->made.at[i].a == a && x->made.at[i].b == b)
			return x->made.at[i].d;
	d = lower_vreg(l, x->class);
	l->func = 0;
	l->ir = IR_NONE;
	lower_op(l, op, d, a, b, IR_NONE, false);
	if (l->failed || !VEC_PUSH(&x->made, ((struct made){op, a, b, d}))) {
		l->failed = true;
		return a;
	}
	l->vregs.at[d].launch =
		differs_by_lane(x, a) || differs_by_lane(x, b) ? LAUNCH_LANES : LAUNCH_UNIFORM;
	return d;
}

static u32 make_part(struct pass *x, enum part_op op, u32 a, u32 b)
{
	const struct lower *l = x->f->l;

	if (fuse_is_const(x->f, a) && fuse_is_const(x->f, b))
		return part_constant(x, fold(op, l->vregs.at[a].bits, l->vregs.at[b].bits));
	return emit_part_op(x, part_ops[x->class == ROW_X][op], a, b);
}

static u32 add(struct pass *x, u32 a, u32 b)
{
	if (a == IR_NONE || part_is_const(x, a, 0))
		return b;
	if (b == IR_NONE || part_is_const(x, b, 0))
		return a;
	return make_part(x, PART_ADD, a, b);
}

static u32 subtract(struct pass *x, u32 a, u32 b)
{
	if (b == IR_NONE || part_is_const(x, b, 0))
		return a;
	return make_part(x, PART_SUB, a == IR_NONE ? part_constant(x, 0) : a, b);
}

static u32 multiply_part(struct pass *x, u32 a, u32 by)
{
	if (a == IR_NONE || by == IR_NONE || part_is_const(x, a, 0) || part_is_const(x, by, 0))
		return IR_NONE;
	return part_is_const(x, a, 1)    ? by
	       : part_is_const(x, by, 1) ? a
					 : make_part(x, PART_MUL, a, by);
}

static void combine_values(struct pass *x, u32 (*op)(struct pass *, u32, u32), struct value *a,
			   const struct value *b)
{
	a->lanes = op(x, a->lanes, b->lanes);
	for (u32 i = 0; i < AFFINE_PARTS; i++)
		a->part[i] = op(x, a->part[i], b->part[i]);
}

static void scale_affine(struct pass *x, struct value *a, u32 by)
{
	a->lanes = multiply_part(x, a->lanes, by);
	for (u32 i = 0; i < AFFINE_PARTS; i++)
		a->part[i] = multiply_part(x, a->part[i], by);
}

/* The vreg of a value that is the same for all CTAs and lanes. False: it is not. */
static bool is_shared(const struct value *v, u32 *vreg)
{
	*vreg = v->part[AFFINE_CONST];
	return v->lanes == IR_NONE && v->part[AFFINE_X] == IR_NONE &&
	       v->part[AFFINE_Y] == IR_NONE && v->part[AFFINE_Z] == IR_NONE;
}

/* ---- values of registers ---- */

static bool find_value(struct pass *x, u32 vreg, struct value *out, u32 depth);

static bool find_operand(struct pass *x, u32 insn, u32 field, struct value *out, u32 depth)
{
	return find_value(x, fuse_vreg_at(x->f, insn, field), out, depth + 1);
}

static bool find_product(struct pass *x, u32 insn, struct value *out, u32 depth)
{
	struct value b;
	u32 by;

	if (!find_operand(x, insn, FIELD_A, out, depth) ||
	    !find_operand(x, insn, FIELD_B, &b, depth))
		return false;
	if (is_shared(&b, &by)) {
		scale_affine(x, out, by);
		return true;
	}
	if (!is_shared(out, &by))
		return false;
	scale_affine(x, &b, by);
	*out = b;
	return true;
}

/* The component of %ctaid in an operand; 3: it is not one. */
static u32 component_of(const struct pass *x, u32 insn, u32 field)
{
	u32 vreg = fuse_vreg_at(x->f, insn, field), i = fuse_writer(x->f, vreg, OP_sreg_uniform);

	return i == IR_NONE ? 3 : fuse_ctaid(&x->f->l->uops.at[i]);
}

/* %ctaid, extended or times something that all lanes share, as a value of 64 bits. */
static bool find_extended(struct pass *x, u32 i, struct value *out)
{
	const struct lower *l = x->f->l;
	enum exec_op op = l->uops.at[i].op;
	bool product = op == OP_mul_wide_u32 || op == OP_mul_wide_s32, sign = op == OP_mul_wide_s32;
	u32 component = component_of(x, i, FIELD_A), other = fuse_vreg_at(x->f, i, FIELD_B);

	if (!product) {
		if (component < 3)
			out->part[AFFINE_X + component] = part_constant(x, 1);
		return component < 3;
	}
	if (component == 3) {
		component = component_of(x, i, FIELD_B);
		other = fuse_vreg_at(x->f, i, FIELD_A);
	}
	if (component == 3 || other == IR_NONE)
		return false;
	if (fuse_is_const(x->f, other)) {
		u32 v = (u32)l->vregs.at[other].bits;

		out->part[AFFINE_X + component] = part_constant(x, sign ? (u64)(s64)(s32)v : v);
		return true;
	}
	if (l->vregs.at[other].launch != LAUNCH_UNIFORM)
		return false;
	out->part[AFFINE_X + component] =
		emit_part_op(x, sign ? OP_sign_extend : OP_zero_extend, other, IR_NONE);
	return true;
}

/* ~a is -1 - a. */
static bool find_complement(struct pass *x, u32 i, struct value *out, u32 depth)
{
	static const struct value zero = {IR_NONE, {IR_NONE, IR_NONE, IR_NONE, IR_NONE}, AFFINE};
	struct value a;

	if (!find_operand(x, i, FIELD_A, &a, depth))
		return false;
	*out = zero;
	out->part[AFFINE_CONST] = part_constant(x, UINT64_MAX);
	combine_values(x, subtract, out, &a);
	return true;
}

/* What a micro-op computes. */
static bool find_result(struct pass *x, u32 i, struct value *out, u32 depth)
{
	struct lower *l = x->f->l;
	const struct uop in = l->uops.at[i];
	u32 b = fuse_vreg_at(x->f, i, FIELD_B);
	struct value other;

	switch (in.op) {
	case OP_sreg_uniform:
		if (fuse_ctaid(&in) == 3)
			return false;
		out->part[AFFINE_X + fuse_ctaid(&in)] = part_constant(x, 1);
		return true;
	case OP_cta_index:
		if (!find_operand(x, i, FIELD_A, out, depth))
			return false;
		out->part[AFFINE_X + in.lane.imm] = add(x, out->part[AFFINE_X + in.lane.imm], b);
		return true;
	case OP_zero_extend:
	case OP_sign_extend:
	case OP_mul_wide_u32:
	case OP_mul_wide_s32:
		return find_extended(x, i, out);
	case OP_not_b64:
		return find_complement(x, i, out, depth);
	case OP_mov_b32:
	case OP_mov_b64:
		return find_operand(x, i, FIELD_A, out, depth);
	case OP_add_b32:
	case OP_sub_b32:
	case OP_add_b64:
	case OP_sub_b64:
		if (!find_operand(x, i, FIELD_A, out, depth) ||
		    !find_operand(x, i, FIELD_B, &other, depth))
			return false;
		combine_values(x, in.op == OP_add_b32 || in.op == OP_add_b64 ? add : subtract, out,
			       &other);
		return true;
	case OP_shl_b32:
	case OP_shl_b64:
		if (!fuse_is_const(x->f, b) ||
		    l->vregs.at[b].bits > (x->class == ROW_W ? 31 : 63) ||
		    !find_operand(x, i, FIELD_A, out, depth))
			return false;
		scale_affine(x, out, part_constant(x, (u64)1 << l->vregs.at[b].bits));
		return true;
	case OP_mul_lo_b32:
	case OP_mul_lo_b64:
		return find_product(x, i, out, depth);
	case OP_mad_lo_b32:
	case OP_mad_lo_b64:
		if (!find_product(x, i, out, depth) || !find_operand(x, i, FIELD_C, &other, depth))
			return false;
		combine_values(x, add, out, &other);
		return true;
	default:
		return false;
	}
}

static bool find_value(struct pass *x, u32 vreg, struct value *out, u32 depth)
{
	const struct lower *l = x->f->l;
	struct value none = {IR_NONE, {IR_NONE, IR_NONE, IR_NONE, IR_NONE}, AFFINE};
	bool ok;

	*out = none;
	if (vreg == IR_NONE || vreg >= x->old || l->vregs.at[vreg].class != x->class ||
	    depth > DEPTH_MAX)
		return false;
	if (x->value[vreg].state) {
		*out = x->value[vreg];
		return out->state == AFFINE;
	}
	ok = true;
	if (l->vregs.at[vreg].is_const || l->vregs.at[vreg].launch == LAUNCH_UNIFORM)
		out->part[AFFINE_CONST] = part_is_const(x, vreg, 0) ? IR_NONE : vreg;
	else if (l->vregs.at[vreg].launch == LAUNCH_LANES)
		out->lanes = vreg;
	else
		ok = x->f->writes[vreg] == 1 && vreg != l->frame_vreg && vreg != l->stack_vreg &&
		     find_result(x, x->f->writer[vreg], out, depth);
	out->state = ok ? AFFINE : NOT_AFFINE;
	x->value[vreg] = *out;
	return ok;
}

/* ---- micro-ops that use decomposed values ---- */

/* Number of the value among those that the launch looks at. */
static u32 affine_number(struct pass *x, const struct value *v)
{
	for (u32 i = 0; i < x->forms.len; i++)
		if (!memcmp(&x->forms.at[i], v, sizeof(*v)))
			return i;
	if (!VEC_PUSH(&x->forms, *v))
		x->f->l->failed = true;
	return (u32)x->forms.len - 1;
}

/* The micro-op takes the operation `op`, and the value's lanes in `field`. */
static void take_operation(struct pass *x, u32 i, u32 op, struct value *v)
{
	struct lower *l = x->f->l;
	struct uop *in;
	u32 number;

	if (v->lanes == IR_NONE)
		v->lanes = part_constant(x, 0);
	number = affine_number(x, v);
	in = &l->uops.at[i];
	uop_become(in, op);
	if (uop_info[op].payload == PAYLOAD_AFFINE)
		in->affine.number = number;
	else
		in->index.affine = number;
	fuse_find_ref(x->f, i, FIELD_A)->vreg = v->lanes;
}

static void take_access(struct pass *x, u32 i)
{
	u32 address = fuse_vreg_at(x->f, i, FIELD_A), op;
	struct value v;

	switch (x->f->l->uops.at[i].inner) {
	case OP_load_indexed:
		op = OP_load_affine;
		break;
	case OP_store_indexed:
		op = OP_store_affine;
		break;
	case OP_load_global:
		op = OP_load_wide;
		break;
	default:
		op = OP_store_wide;
		break;
	}
	/* A launch value's row is there anyway. */
	if (x->class == ROW_X && (address == IR_NONE || x->f->l->vregs.at[address].launch))
		return;
	if (find_value(x, address, &v, 0))
		take_operation(x, i, op, &v);
}

#define WIDE(compare) ((compare) | AFFINE_WIDE)
static const struct comparison {
	enum exec_op op;
	u8 compare, swapped; /* enum affine_compare; of b with a */
} comparisons[] = {
	{OP_setp_eq_b32, AFFINE_EQ, AFFINE_EQ},
	{OP_setp_ne_b32, AFFINE_EQ | AFFINE_NOT, AFFINE_EQ | AFFINE_NOT},
	{OP_setp_lt_u32, AFFINE_LT, AFFINE_LE | AFFINE_NOT},
	{OP_setp_le_u32, AFFINE_LE, AFFINE_LT | AFFINE_NOT},
	{OP_setp_gt_u32, AFFINE_LE | AFFINE_NOT, AFFINE_LT},
	{OP_setp_ge_u32, AFFINE_LT | AFFINE_NOT, AFFINE_LE},
	{OP_setp_lt_s32, AFFINE_LT | AFFINE_SIGNED, AFFINE_LE | AFFINE_NOT | AFFINE_SIGNED},
	{OP_setp_le_s32, AFFINE_LE | AFFINE_SIGNED, AFFINE_LT | AFFINE_NOT | AFFINE_SIGNED},
	{OP_setp_gt_s32, AFFINE_LE | AFFINE_NOT | AFFINE_SIGNED, AFFINE_LT | AFFINE_SIGNED},
	{OP_setp_ge_s32, AFFINE_LT | AFFINE_NOT | AFFINE_SIGNED, AFFINE_LE | AFFINE_SIGNED},
	{OP_setp_eq_b64, WIDE(AFFINE_EQ), WIDE(AFFINE_EQ)},
	{OP_setp_ne_b64, WIDE(AFFINE_EQ | AFFINE_NOT), WIDE(AFFINE_EQ | AFFINE_NOT)},
	{OP_setp_lt_u64, WIDE(AFFINE_LT), WIDE(AFFINE_LE | AFFINE_NOT)},
	{OP_setp_le_u64, WIDE(AFFINE_LE), WIDE(AFFINE_LT | AFFINE_NOT)},
	{OP_setp_gt_u64, WIDE(AFFINE_LE | AFFINE_NOT), WIDE(AFFINE_LT)},
	{OP_setp_ge_u64, WIDE(AFFINE_LT | AFFINE_NOT), WIDE(AFFINE_LE)},
	{OP_setp_lt_s64, WIDE(AFFINE_LT | AFFINE_SIGNED),
	 WIDE(AFFINE_LE | AFFINE_NOT | AFFINE_SIGNED)},
	{OP_setp_le_s64, WIDE(AFFINE_LE | AFFINE_SIGNED),
	 WIDE(AFFINE_LT | AFFINE_NOT | AFFINE_SIGNED)},
	{OP_setp_gt_s64, WIDE(AFFINE_LE | AFFINE_NOT | AFFINE_SIGNED),
	 WIDE(AFFINE_LT | AFFINE_SIGNED)},
	{OP_setp_ge_s64, WIDE(AFFINE_LT | AFFINE_NOT | AFFINE_SIGNED),
	 WIDE(AFFINE_LE | AFFINE_SIGNED)},
#undef WIDE
};

/* The 32-bit vreg that a 64-bit one extends, and how. IR_NONE: none. */
static u32 extended(const struct pass *x, u32 vreg, u32 *compare)
{
	const struct fuse *f = x->f;
	u32 i = vreg < x->old && f->writes[vreg] == 1 ? f->writer[vreg] : IR_NONE;
	bool sign = i != IR_NONE && f->l->uops.at[i].op == OP_sign_extend;

	if (i == IR_NONE || (!sign && f->l->uops.at[i].op != OP_zero_extend))
		return IR_NONE;
	/* Negative numbers would be larger than all others as unsigned ones. */
	if (sign && !(*compare & AFFINE_SIGNED) && (*compare & AFFINE_BASE) != AFFINE_EQ)
		return IR_NONE;
	*compare |= sign ? AFFINE_EXTEND_SIGNED : 0;
	return fuse_vreg_at(f, i, FIELD_A);
}

/* Both operands are of the class. */
static void take_plain(struct pass *x, u32 i, const struct comparison *c)
{
	struct lower *l = x->f->l;
	u32 a = fuse_vreg_at(x->f, i, FIELD_A), b = fuse_vreg_at(x->f, i, FIELD_B), shared;
	struct value v, other;
	bool swap;

	if (!find_value(x, a, &v, 0) || !find_value(x, b, &other, 0))
		return;
	swap = !is_shared(&other, &shared);
	if (swap && !is_shared(&v, &shared))
		return;
	take_operation(x, i, x->class == ROW_X ? OP_setp_affine_wide : OP_setp_affine,
		       swap ? &other : &v);
	l->uops.at[i].affine.compare = (swap ? c->swapped : c->compare) & ~AFFINE_WIDE;
	fuse_find_ref(x->f, i, FIELD_B)->vreg = shared == IR_NONE ? part_constant(x, 0) : shared;
}

/* A value of 64 bits that is the same for all lanes. */
static bool is_wide_shared(const struct pass *x, u32 vreg)
{
	return fuse_is_const(x->f, vreg) || x->f->l->vregs.at[vreg].launch == LAUNCH_UNIFORM;
}

static void take_wide(struct pass *x, u32 i, const struct comparison *c)
{
	struct lower *l = x->f->l;
	u32 a = fuse_vreg_at(x->f, i, FIELD_A), b = fuse_vreg_at(x->f, i, FIELD_B);
	bool swap = !is_wide_shared(x, b);
	u32 compare = swap ? c->swapped : c->compare, narrow;
	struct value v;

	if (swap && !is_wide_shared(x, a))
		return;
	narrow = extended(x, swap ? b : a, &compare);
	if (narrow == IR_NONE || !find_value(x, narrow, &v, 0))
		return;
	take_operation(x, i, OP_setp_affine, &v);
	l->uops.at[i].affine.compare = compare;
	fuse_find_ref(x->f, i, FIELD_B)->vreg = swap ? a : b;
}

static void take_comparison(struct pass *x, u32 i)
{
	struct lower *l = x->f->l;
	u32 inner = l->uops.at[i].inner;

	for (u32 k = 0; k < ARRAY_LEN(comparisons); k++) {
		const struct comparison *c = &comparisons[k];

		if (inner != (u32)c->op || l->vregs.at[fuse_vreg_at(x->f, i, FIELD_D)].launch)
			continue;
		if (!(c->compare & AFFINE_WIDE) == (x->class == ROW_W))
			take_plain(x, i, c);
		else if (x->class == ROW_W)
			take_wide(x, i, c);
	}
}

/* The micro-op that inspects a value when a launch begins. */
static void emit_form(struct pass *x, u32 number)
{
	struct lower *l = x->f->l;
	const struct value *v = &x->forms.at[number];
	struct uop *in;

	l->func = 0;
	l->ir = IR_NONE;
	in = lower_emit_free(l, OP_affine_form);
	in->affine.number = number;
	lower_read(l, FIELD_A, v->lanes);
	for (u32 i = 0; i < AFFINE_PARTS; i++) {
		bool is_row = v->part[i] != IR_NONE && !fuse_is_const(x->f, v->part[i]);

		if (is_row)
			lower_ext(l, v->part[i], false);
		else if (!VEC_PUSH(&l->ext, NO_ROW))
			l->failed = true;
	}
	for (u32 i = 0; i < AFFINE_PARTS; i++)
		if (!VEC_PUSH(&l->ext,
			      v->part[i] == IR_NONE ? 0 : (u32)l->vregs.at[v->part[i]].bits))
			l->failed = true;
}

/* The same for 64 bits; constants are two words each. */
static void emit_form_wide(struct pass *x, u32 number)
{
	struct lower *l = x->f->l;
	const struct value *v = &x->forms.at[number];

	l->func = 0;
	l->ir = IR_NONE;
	lower_emit_free(l, OP_affine_form_wide)->affine.number = number;
	lower_read(l, FIELD_A, v->lanes);
	for (u32 i = 0; i < AFFINE_PARTS; i++) {
		bool is_row = v->part[i] != IR_NONE && !fuse_is_const(x->f, v->part[i]);

		if (is_row)
			lower_ext(l, v->part[i], false);
		else if (!VEC_PUSH(&l->ext, NO_ROW))
			l->failed = true;
	}
	for (u32 i = 0; i < 2 * AFFINE_PARTS; i++) {
		u32 part = v->part[i / 2];
		u64 bits = part == IR_NONE ? 0 : l->vregs.at[part].bits;

		if (!VEC_PUSH(&l->ext, (u32)(bits >> 32 * (i & 1))))
			l->failed = true;
	}
}

static void take_apart(struct pass *x, u32 n)
{
	const struct lower *l = x->f->l;

	for (u32 i = 0; i < n && !l->failed; i++) {
		u32 inner = l->uops.at[i].inner;

		if (l->uops.at[i].op == OP_nop)
			continue;
		if (x->class == ROW_X ? inner == OP_load_global || inner == OP_store_global
				      : inner == OP_load_indexed || inner == OP_store_indexed)
			take_access(x, i);
		else if (inner >= OP_setp_eq_b16 && uop_is_lane(inner))
			take_comparison(x, i);
	}
	for (u32 i = 0; i < x->forms.len && !l->failed; i++)
		(x->class == ROW_X ? emit_form_wide : emit_form)(x, i);
}

static bool find_class(struct fuse *f, enum row_class class, u32 *forms)
{
	struct lower *l = f->l;
	struct pass x = {.f = f, .class = class, .old = f->known};
	u32 func = l->func, ir = l->ir;

	x.value = calloc(x.old + 1, sizeof(*x.value));
	if (!x.value)
		return false;
	take_apart(&x, f->counted);
	*forms = (u32)x.forms.len;
	l->func = func;
	l->ir = ir;
	free(x.value);
	VEC_FREE(&x.made);
	VEC_FREE(&x.forms);
	return !l->failed;
}

bool fuse_affine(struct fuse *f)
{
	struct program *p = f->l->p;

	return find_class(f, ROW_W, &p->affines) && fuse_count(f) &&
	       find_class(f, ROW_X, &p->wides);
}
