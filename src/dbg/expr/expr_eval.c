/*
 * Evaluation of expressions.
 */
#include "src/dbg/expr/expr_int.h"

#include "src/base/size.h"

#include <stdlib.h>

static bool evaluate_node(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out);

static bool evaluate_kept(struct expr_evaluation *e, const struct expr_node *n,
			  struct dbg_value *out)
{
	s64 count = dbg_session_count(e->c->session), at = n->number;

	if (n->from_last)
		at = count - at;
	if (!n->from_last && (at <= 0 || at > count)) {
		text_printf(e->why, "History has not yet reached $%lld.", (long long)at);
		return false;
	}
	dbg_session_kept(e->c->session, at > 0 ? (u32)at : 0, out);
	return true;
}

/* ---- operators ---- */

static bool evaluate_repeat(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value a, count;
	struct dbg_number number;
	u64 bytes;

	if (!evaluate_node(e, n->a, &a) || !evaluate_node(e, n->b, &count) ||
	    !dbg_value_referred(e->c, &a, &a, e->why) ||
	    !dbg_value_number(e->c, &count, &number, e->why))
		return false;
	if (a.store != DBG_MEMORY) {
		text_puts(e->why, "Only values in memory can be extended with '@'.");
		return false;
	}
	if (number.is_float || (s64)number.bits <= 0 ||
	    !size_mul(dbg_type_size(a.type), number.bits, &bytes)) {
		text_printf(e->why, "Invalid number %lld of repetitions.",
			    number.is_float ? (long long)number.real : (long long)number.bits);
		return false;
	}
	*out = a;
	out->type = dbg_session_array(e->c->session, a.type, number.bits);
	return true;
}

static bool evaluate_sizeof(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_context dry = *e->c;
	struct expr_evaluation quiet = {&dry, e->why, e->expr};
	struct dbg_value a;

	dry.dry = true;
	if (n->a->op == EXPR_TYPE)
		a.type = n->a->type;
	else if (!evaluate_node(&quiet, n->a, &a))
		return false;
	a.type = dbg_type_refers(a.type);
	*out = dbg_value_int(&dbg_type_ulong,
			     n->number ? dbg_type_align(a.type) : dbg_type_size(a.type));
	return true;
}

static bool evaluate_assign(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value place, value;

	if (!evaluate_node(e, n->a, &place) || !evaluate_node(e, n->b, &value))
		return false;
	if (n->sign != SIGN_NONE && !expr_binary(e->c, n->sign, &place, &value, &value, e->why))
		return false;
	if (!dbg_value_set(e->c, &place, &value, e->why))
		return false;
	*out = place;
	if (place.store == DBG_CONVENIENCE) {
		if (e->c->dry)
			*out = value;
		else
			dbg_session_get(e->c->session, place.name, out);
	} else if (place.store == DBG_NO_VALUE) {
		return dbg_value_cast(e->c, &value, place.type, out, e->why);
	}
	return true;
}

/* ++a and a++ */
static bool evaluate_step(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value place, before, after, by = dbg_value_int(&dbg_type_int, (u64)n->number);
	struct dbg_number number;

	if (!evaluate_node(e, n->a, &place) || !dbg_value_number(e->c, &place, &number, e->why))
		return false;
	before = dbg_value_make(dbg_type_refers(place.type), &number);
	if (!expr_binary(e->c, SIGN_ADD, &before, &by, &after, e->why) ||
	    !dbg_value_set(e->c, &place, &after, e->why))
		return false;
	if (n->op == EXPR_AFTER)
		*out = before;
	else
		return dbg_value_cast(e->c, &after, before.type, out, e->why);
	return true;
}

static bool evaluate_logic(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value v;
	bool is;

	if (!evaluate_node(e, n->a, &v) || !dbg_value_is_true(e->c, &v, &is, e->why))
		return false;
	if (n->op == EXPR_CHOOSE)
		return evaluate_node(e, is ? n->b : n->c, out);
	if (is == (n->op == EXPR_AND) &&
	    (!evaluate_node(e, n->b, &v) || !dbg_value_is_true(e->c, &v, &is, e->why)))
		return false;
	*out = dbg_value_int(&dbg_type_bool, is);
	return true;
}

static bool evaluate_member(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value a;

	if (!evaluate_node(e, n->a, &a))
		return false;
	if (n->op == EXPR_ARROW && !dbg_value_follow(e->c, &a, &a, e->why))
		return false;
	return dbg_value_member(e->c, &a, n->text, out, e->why);
}

static bool evaluate_index(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value a, b;
	struct dbg_number index;

	if (!evaluate_node(e, n->a, &a) || !evaluate_node(e, n->b, &b) ||
	    !dbg_value_number(e->c, &b, &index, e->why))
		return false;
	if (index.is_float) {
		text_puts(e->why, "an index is an integer");
		return false;
	}
	return dbg_value_index(e->c, &a, (s64)index.bits, out, e->why);
}

/* The function that a variable of that name points to; false: there is no such variable. */
static bool pointed_function(struct expr_evaluation *e, const char *name, struct text *out)
{
	const struct dbg_target *t = e->c->target;
	struct dbg_variable v;
	struct dbg_value value;
	struct dbg_type *type;
	struct text unwanted = {0};
	u64 address = 0;
	bool good = t && t->symbol && dbg_context_find(e->c, name, &v);

	if (good) {
		dbg_value_of(e->c, &v, &value);
		type = dbg_type_strip(value.type);
		good = type->kind == DBG_POINTER && type->target &&
		       dbg_type_strip(type->target)->kind == DBG_FUNCTION &&
		       dbg_value_read(e->c, &value, 0, &address, 8, &unwanted) &&
		       t->symbol(t->user, &e->c->lane, DBG_GENERIC, address, true, out) == DBG_OK;
	}
	text_fini(&unwanted);
	return good && out->at;
}

static bool evaluate_call(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	const struct dbg_target *t = e->c->target;
	struct text pointed = {0};
	bool good;
	struct dbg_value args[DBG_ARGUMENTS_MAX];
	u32 len = 0;

	for (const struct expr_node *one = n->b; one; one = one->b) {
		if (len == ARRAY_LEN(args)) {
			text_puts(e->why, "Too many arguments in function call.");
			return false;
		}
		if (!evaluate_node(e, one->a, &args[len++]))
			return false;
	}
	if (t && t->call) {
		good = t->call(t->user, e->c,
			       pointed_function(e, n->text, &pointed) ? pointed.at : n->text, args,
			       len, out, e->why);
		text_fini(&pointed);
		return good;
	}
	text_puts(e->why, "Functions can be called while a kernel stands.");
	return false;
}

/* reinterpret_cast is one between pointers, and integers as wide as these. */
static bool may_reinterpret(struct dbg_type *from, struct dbg_type *to)
{
	from = dbg_type_refers(from);
	to = dbg_type_strip(to);
	if (to->kind == DBG_REFERENCE)
		return true;
	if (to->kind == DBG_POINTER)
		return from->kind == DBG_POINTER || from->kind == DBG_ARRAY ||
		       from->kind == DBG_FUNCTION || dbg_type_is_integral(from);
	return dbg_type_is_integral(to) && to->size == 8 &&
	       (from->kind == DBG_POINTER || from->kind == DBG_ARRAY || from->kind == DBG_FUNCTION);
}

/* &Class::member, which is no place. */
static bool evaluate_member_pointer(struct expr_evaluation *e, const struct expr_node *of,
				    struct dbg_value *out)
{
	const char *last = of->op == EXPR_NAME && !of->file ? dbg_last_scope(of->text) : NULL;
	char *scope = last && last > of->text ? strndup(of->text, (size_t)(last - of->text)) : NULL;
	struct dbg_type *class = NULL;
	struct dbg_names *names;
	bool good;

	for (u32 at = 0; scope && !class && (names = dbg_context_names(e->c, &at));) {
		class = dbg_names_type(names, scope);
		e->expr->foreign |= class && names != e->c->names;
	}
	good = class && dbg_value_member_pointer(e->c, class, last + 2, out);
	free(scope);
	return good;
}

/* Operators that need the value of one operand. */
static bool evaluate_one(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value a;

	if (n->op == EXPR_ADDRESS && evaluate_member_pointer(e, n->a, out))
		return true;
	if (!evaluate_node(e, n->a, &a))
		return false;
	switch (n->op) {
	case EXPR_FOLLOW:
		return dbg_value_follow(e->c, &a, out, e->why);
	case EXPR_ADDRESS:
		return dbg_value_address(e->c, &a, out, e->why);
	case EXPR_CAST:
		if (n->number && !may_reinterpret(a.type, n->type)) {
			text_puts(e->why, "Invalid reinterpret_cast");
			return false;
		}
		return dbg_value_cast(e->c, &a, n->type, out, e->why);
	default:
		return expr_unary(e->c, n->op, &a, out, e->why);
	}
}

static bool evaluate_two(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value a, b;

	if (!evaluate_node(e, n->a, &a) || !evaluate_node(e, n->b, &b))
		return false;
	if (n->op == EXPR_COMMA) {
		*out = b;
		return true;
	}
	if (n->sign == SIGN_MEMBER)
		return dbg_value_at_member(e->c, &a, &b, out, e->why);
	return expr_binary(e->c, n->sign, &a, &b, out, e->why);
}

static bool evaluate_node(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	switch ((enum expr_op)n->op) {
	case EXPR_VALUE:
		*out = n->value;
		return true;
	case EXPR_TYPE:
		text_puts(e->why, "Attempt to use a type name as an expression");
		return false;
	case EXPR_NAME:
		return expr_name_value(e, n, out);
	case EXPR_PTX:
		return expr_ptx_value(e, n, out);
	case EXPR_DOLLAR:
		return expr_dollar_value(e, n, out);
	case EXPR_KEPT:
		return evaluate_kept(e, n, out);
	case EXPR_MEMBER:
	case EXPR_ARROW:
		return evaluate_member(e, n, out);
	case EXPR_INDEX:
		return evaluate_index(e, n, out);
	case EXPR_SIZEOF:
		return evaluate_sizeof(e, n, out);
	case EXPR_BEFORE:
	case EXPR_AFTER:
		return evaluate_step(e, n, out);
	case EXPR_ASSIGN:
		return evaluate_assign(e, n, out);
	case EXPR_AND:
	case EXPR_OR:
	case EXPR_CHOOSE:
		return evaluate_logic(e, n, out);
	case EXPR_REPEAT:
		return evaluate_repeat(e, n, out);
	case EXPR_BINARY:
	case EXPR_COMMA:
		return evaluate_two(e, n, out);
	case EXPR_CALL:
		return evaluate_call(e, n, out);
	case EXPR_LIST:
		break;
	case EXPR_FOLLOW:
	case EXPR_ADDRESS:
	case EXPR_CAST:
	case EXPR_MINUS:
	case EXPR_PLUS:
	case EXPR_NOT:
	case EXPR_FLIP:
		return evaluate_one(e, n, out);
	}
	return false;
}

bool expr_evaluate(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	return evaluate_node(e, n, out);
}

bool dbg_expr_eval(struct dbg_expr *e, const struct dbg_context *c, struct dbg_value *out,
		   struct text *why)
{
	struct expr_evaluation evaluation = {c, why, e};

	if (evaluate_node(&evaluation, e->root, out))
		return true;
	/* Without words it was memory. */
	if (!why->len)
		text_puts(why, "no memory");
	return false;
}
