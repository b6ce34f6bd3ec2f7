/*
 * Conditions of breakpoints: an expression for many lanes of a warp at once. Numbers of all lanes
 * are made operator by operator, so that the tree is walked once; what is the same for all of them
 * is made once. Operands that are not plain numbers in registers are evaluated lane by lane. What
 * has side effects, or fails anywhere, is left to the caller, who evaluates it for each lane.
 */
#include "src/dbg/expr/expr_int.h"

/* Operators inside each other; deeper ones are evaluated lane by lane. */
#define LANES_DEPTH 24u

struct column {
	struct dbg_type *type; /* stripped, of a number */
	bool same;             /* `at` of the first lane is every lane's */
	struct dbg_number at[DBG_WARP_LANES];
};

struct lanes {
	struct dbg_context c;              /* its lane changes */
	struct text why;                   /* not shown */
	struct expr_evaluation evaluation; /* of `c` and `why` */
	u32 depth;
};

static bool lanes_node(struct lanes *e, struct expr_node *n, u32 lanes, struct column *out);

static u32 first_of(u32 lanes)
{
	return (u32)__builtin_ctz(lanes);
}

/* The lanes that are to be computed for a result that is the same for all, or is not. */
static u32 needed(u32 lanes, bool same)
{
	return same ? lanes & -lanes : lanes;
}

/* ---- operands ---- */

/* A number; false: something else, which an operator has to see as it is. */
static bool number_of(struct lanes *e, const struct dbg_value *v, struct dbg_type **type,
		      struct dbg_number *out)
{
	struct dbg_value r;

	if (!dbg_value_referred(&e->c, v, &r, &e->why))
		return false;
	*type = dbg_type_strip(r.type);
	return dbg_type_is_number(*type) && dbg_value_number(&e->c, &r, out, &e->why);
}

static bool lane_by_lane(struct lanes *e, struct expr_node *n, u32 lanes, struct column *out)
{
	struct dbg_value v;

	for (u32 m = needed(lanes, out->same); m; m &= m - 1) {
		u32 l = first_of(m);

		e->c.lane.lane = l;
		if (!expr_evaluate(&e->evaluation, n, &v) ||
		    !number_of(e, &v, &out->type, &out->at[l]))
			return false;
	}
	return true;
}

static bool special_column(struct lanes *e, const struct expr_special *s, u32 lanes,
			   struct column *out)
{
	const struct dbg_target *t = e->c.target;
	u64 value[DBG_WARP_LANES];

	if (!t || !t->special_of_warp ||
	    t->special_of_warp(t->user, &e->c.lane, lanes, s->id, s->part, value, &out->same) !=
		    DBG_OK)
		return false;
	out->type = s->type;
	for (u32 m = needed(lanes, out->same); m; m &= m - 1)
		out->at[first_of(m)] = (struct dbg_number){
			.bits = s->type->size == 4 ? (u32)value[first_of(m)] : value[first_of(m)]};
	return true;
}

static bool register_column(struct lanes *e, const struct dbg_variable *v, u32 lanes,
			    struct column *out)
{
	const struct dbg_target *t = e->c.target;
	const struct ir_reg *r = &e->c.place.func->regs.at[v->reg];
	u64 bits[DBG_WARP_LANES];

	out->type = dbg_type_strip(v->type);
	if (!dbg_type_is_number(out->type) || !out->type->size || out->type->size > 8 ||
	    r->vec > 1 || isa_type_bits(r->type) > 64 || v->unset || !t->register_of_warp ||
	    t->register_of_warp(t->user, &e->c.lane, lanes, e->c.place.func, v->reg, bits) !=
		    DBG_OK)
		return false;
	for (u32 m = lanes; m; m &= m - 1)
		out->at[first_of(m)] = dbg_number_of_bits(out->type, bits[first_of(m)]);
	return true;
}

/* Is the variable one for all lanes of a CTA? */
static bool is_of_all(const struct dbg_variable *v)
{
	return v->where == DBG_IS_CONSTANT ||
	       (v->where == DBG_IN_MEMORY &&
		(v->space == DBG_GLOBAL || v->space == DBG_CONST || v->space == DBG_SHARED));
}

static bool operand(struct lanes *e, struct expr_node *n, u32 lanes, struct column *out)
{
	const struct dbg_variable *v;
	struct expr_special s;

	if (expr_find_special(&e->evaluation, n, &s))
		return special_column(e, &s, lanes, out);
	v = n->op == EXPR_NAME || n->op == EXPR_PTX ? expr_find_variable(&e->evaluation, n) : NULL;
	if (v && v->where == DBG_IN_REGISTER && e->c.target)
		return register_column(e, v, lanes, out) || lane_by_lane(e, n, lanes, out);
	out->same = n->op == EXPR_VALUE || (v && is_of_all(v));
	return lane_by_lane(e, n, lanes, out);
}

/* ---- operators ---- */

static bool two_columns(struct lanes *e, struct expr_node *n, u32 lanes, struct column *out)
{
	struct column a, b;

	if (!lanes_node(e, n->a, lanes, &a) || !lanes_node(e, n->b, lanes, &b))
		return false;
	out->same = a.same && b.same;
	for (u32 m = needed(lanes, out->same); m; m &= m - 1) {
		u32 l = first_of(m), first = first_of(lanes);

		if (!expr_numbers((enum expr_sign)n->sign, a.type, &a.at[a.same ? first : l],
				  b.type, &b.at[b.same ? first : l], &out->type, &out->at[l],
				  &e->why))
			return false;
	}
	return true;
}

static bool one_column(struct lanes *e, struct expr_node *n, u32 lanes, struct column *out)
{
	struct column a;

	if (!lanes_node(e, n->a, lanes, &a))
		return false;
	out->same = a.same;
	for (u32 m = needed(lanes, a.same); m; m &= m - 1) {
		u32 l = first_of(m);

		if (!expr_number((enum expr_op)n->op, a.type, &a.at[l], &out->type, &out->at[l],
				 &e->why))
			return false;
	}
	return true;
}

static u32 true_lanes(const struct column *x, u32 lanes)
{
	u32 holds = 0;

	for (u32 m = needed(lanes, x->same); m; m &= m - 1) {
		const struct dbg_number *v = &x->at[first_of(m)];

		holds |= (v->is_float ? v->real != 0 : v->bits != 0) ? m & -m : 0;
	}
	return x->same && holds ? lanes : holds;
}

/* The right side is evaluated for the lanes whose left side does not decide. */
static bool logic(struct lanes *e, struct expr_node *n, u32 lanes, struct column *out)
{
	struct column a;
	u32 holds, left;

	if (!lanes_node(e, n->a, lanes, &a))
		return false;
	holds = true_lanes(&a, lanes);
	left = n->op == EXPR_AND ? holds : lanes & ~holds;
	out->same = a.same;
	if (left) {
		if (!lanes_node(e, n->b, left, &a))
			return false;
		holds = (holds & ~left) | true_lanes(&a, left);
		out->same &= a.same;
	}
	out->type = &dbg_type_bool;
	for (u32 m = needed(lanes, out->same); m; m &= m - 1)
		out->at[first_of(m)] = (struct dbg_number){.bits = (holds & m & -m) != 0};
	return true;
}

static bool operator_column(struct lanes *e, struct expr_node *n, u32 lanes, struct column *out)
{
	switch ((enum expr_op)n->op) {
	case EXPR_BINARY:
		return two_columns(e, n, lanes, out);
	case EXPR_AND:
	case EXPR_OR:
		return logic(e, n, lanes, out);
	case EXPR_MINUS:
	case EXPR_PLUS:
	case EXPR_NOT:
	case EXPR_FLIP:
		return one_column(e, n, lanes, out);
	default:
		return operand(e, n, lanes, out);
	}
}

static bool lanes_node(struct lanes *e, struct expr_node *n, u32 lanes, struct column *out)
{
	bool done = false;

	out->same = false;
	e->c.lane.lane = first_of(lanes);
	if (!n->by_lane && e->depth < LANES_DEPTH) {
		e->depth++;
		done = operator_column(e, n, lanes, out);
		e->depth--;
	}
	if (done)
		return true;
	/* Pointers, structures, errors: from now on as it is for one lane. */
	n->by_lane = true;
	out->same = false;
	e->why.len = 0;
	return lane_by_lane(e, n, lanes, out);
}

static bool has_effects(const struct expr_node *n)
{
	return n &&
	       (n->op == EXPR_ASSIGN || n->op == EXPR_BEFORE || n->op == EXPR_AFTER ||
		n->op == EXPR_CALL || has_effects(n->a) || has_effects(n->b) || has_effects(n->c));
}

bool dbg_expr_lanes(struct dbg_expr *x, const struct dbg_context *c, u32 lanes, u32 *holds)
{
	struct lanes e = {.c = *c};
	struct column root;
	bool good;

	*holds = 0;
	if (!lanes)
		return true;
	e.evaluation = (struct expr_evaluation){&e.c, &e.why, x};
	if (!x->lanes_known)
		x->one_by_one = has_effects(x->root);
	x->lanes_known = true;
	good = !x->one_by_one && lanes_node(&e, x->root, lanes, &root);
	if (good)
		*holds = true_lanes(&root, lanes);
	text_fini(&e.why);
	return good;
}
