/*
 * Arithmetic as C has it: promotions, the usual conversions, pointers.
 */
#include "src/dbg/expr/expr_int.h"

/* ---- conversions ---- */

static struct dbg_type *promoted(struct dbg_type *t)
{
	if (t->kind == DBG_FLOAT || t->number != DBG_PLAIN)
		return t->size == 8 ? &dbg_type_double : &dbg_type_float;
	if (t->kind == DBG_POINTER || t->kind == DBG_ARRAY)
		return &dbg_type_ulong;
	if (t->size < 4)
		return &dbg_type_int;
	if (t->size == 4)
		return t->is_signed ? &dbg_type_int : &dbg_type_uint;
	return t->is_signed ? &dbg_type_long : &dbg_type_ulong;
}

static struct dbg_type *common_type(struct dbg_type *a, struct dbg_type *b)
{
	a = promoted(a);
	b = promoted(b);
	if (a->kind == DBG_FLOAT || b->kind == DBG_FLOAT)
		return a == &dbg_type_double || b == &dbg_type_double ? &dbg_type_double
								      : &dbg_type_float;
	if (a->size != b->size)
		return a->size > b->size ? a : b;
	return a->is_signed ? b : a;
}

static f64 real_of(const struct dbg_number *n)
{
	return n->is_float ? n->real : n->is_signed ? (f64)(s64)n->bits : (f64)n->bits;
}

/* ---- numbers ---- */

static bool order_holds(enum expr_sign sign, bool less, bool equal, bool ordered)
{
	switch (sign) {
	case SIGN_EQ:
		return equal;
	case SIGN_NE:
		return !equal;
	case SIGN_LT:
		return less;
	case SIGN_GT:
		return ordered && !less && !equal;
	case SIGN_LE:
		return less || equal;
	default:
		return ordered && !less;
	}
}

static bool is_comparison(enum expr_sign sign)
{
	return sign >= SIGN_EQ;
}

static bool real_binary(enum expr_sign sign, f64 a, f64 b, f64 *out, struct text *why)
{
	switch (sign) {
	case SIGN_ADD:
		*out = a + b;
		return true;
	case SIGN_SUB:
		*out = a - b;
		return true;
	case SIGN_MUL:
		*out = a * b;
		return true;
	case SIGN_DIV:
		*out = a / b;
		return true;
	default:
		text_puts(why, "Integers are needed for that operator.");
		return false;
	}
}

static bool divide_integers(enum expr_sign sign, bool is_signed, u64 a, u64 b, u64 *out,
			    struct text *why)
{
	if (!b) {
		text_puts(why, "Division by zero");
		return false;
	}
	/* The smallest number by -1 wraps, as the rest does. */
	if (is_signed && b == UINT64_MAX)
		*out = sign == SIGN_DIV ? 0 - a : 0;
	else if (is_signed)
		*out = (u64)(sign == SIGN_DIV ? (s64)a / (s64)b : (s64)a % (s64)b);
	else
		*out = sign == SIGN_DIV ? a / b : a % b;
	return true;
}

static u64 shift(enum expr_sign sign, const struct dbg_type *t, u64 a, u64 by)
{
	u64 width = 8 * t->size;

	if (sign == SIGN_SHL)
		return by < width ? a << by : 0;
	if (t->is_signed)
		return (u64)((s64)a >> min_u64(by, 63));
	return by < width ? a >> by : 0;
}

static bool whole_binary(enum expr_sign sign, const struct dbg_type *t, u64 a, u64 b, u64 *out,
			 struct text *why)
{
	switch (sign) {
	case SIGN_ADD:
		*out = a + b;
		return true;
	case SIGN_SUB:
		*out = a - b;
		return true;
	case SIGN_MUL:
		*out = a * b;
		return true;
	case SIGN_DIV:
	case SIGN_REM:
		return divide_integers(sign, t->is_signed, a, b, out, why);
	case SIGN_SHL:
	case SIGN_SHR:
		*out = shift(sign, t, a, b);
		return true;
	case SIGN_AND:
		*out = a & b;
		return true;
	case SIGN_OR:
		*out = a | b;
		return true;
	default:
		*out = a ^ b;
		return true;
	}
}

/* Bits of an integer cut to the type, and extended again. */
static u64 fit(const struct dbg_type *t, u64 bits)
{
	if (t->size == 8)
		return bits;
	return t->is_signed ? (u64)(s64)(s32)bits : (u64)(u32)bits;
}

static bool compare(enum expr_sign sign, const struct dbg_type *t, const struct dbg_number *a,
		    const struct dbg_number *b)
{
	u64 x = fit(t, a->bits), y = fit(t, b->bits);
	f64 p = real_of(a), q = real_of(b);

	if (t->kind == DBG_FLOAT || a->is_float || b->is_float)
		return order_holds(sign, p < q, p == q, p == p && q == q);
	return order_holds(sign, t->is_signed ? (s64)x < (s64)y : x < y, x == y, true);
}

bool expr_numbers(enum expr_sign sign, struct dbg_type *ta, const struct dbg_number *a,
		  struct dbg_type *tb, const struct dbg_number *b, struct dbg_type **type,
		  struct dbg_number *out, struct text *why)
{
	bool shifts = sign == SIGN_SHL || sign == SIGN_SHR;
	struct dbg_type *t = shifts ? promoted(ta) : common_type(ta, tb);
	struct dbg_number r = {.is_signed = t->is_signed, .is_float = t->kind == DBG_FLOAT};
	struct dbg_value v;

	if (is_comparison(sign)) {
		*type = &dbg_type_bool;
		*out = (struct dbg_number){.bits = compare(sign, t, a, b)};
		return true;
	}
	*type = t;
	if (!r.is_float && !a->is_float && !b->is_float) {
		if (!whole_binary(sign, t, fit(t, a->bits), shifts ? b->bits : fit(t, b->bits),
				  &r.bits, why))
			return false;
		*out = dbg_number_of_bits(t, r.bits);
		return true;
	}
	if (!real_binary(sign, real_of(a), real_of(b), &r.real, why))
		return false;
	v = dbg_value_make(t, &r);
	memcpy(&r.bits, v.own, sizeof(r.bits));
	*out = dbg_number_of_bits(t, r.bits);
	return true;
}

/* ---- pointers ---- */

/* A pointer, or an array as a pointer to its first element. */
struct address {
	bool is;
	enum dbg_space space;
	struct dbg_type *to;
	u64 at;
};

static bool address_of(const struct dbg_context *c, const struct dbg_value *v, struct address *out,
		       struct text *why)
{
	struct dbg_type *t = dbg_type_strip(v->type);
	struct dbg_number n;

	*out = (struct address){.is = false};
	if (t->kind == DBG_ARRAY && v->store == DBG_MEMORY) {
		*out = (struct address){true, v->space == DBG_GLOBAL ? DBG_GENERIC : v->space,
					t->target, v->address};
	} else if (t->kind == DBG_POINTER) {
		if (!dbg_value_number(c, v, &n, why))
			return false;
		*out = (struct address){true, t->space, t->target ? t->target : &dbg_type_void,
					n.bits};
	}
	return true;
}

static bool move_pointer(const struct dbg_context *c, const struct address *a, s64 by,
			 struct dbg_value *out, struct text *why)
{
	u64 size = dbg_type_size(a->to);

	/* As gdb does: void counts bytes. */
	if (!size && dbg_type_strip(a->to)->kind != DBG_VOID) {
		text_puts(why, "the size of what it points to is not known");
		return false;
	}
	*out = dbg_value_int(dbg_session_pointer(c->session, a->to, a->space),
			     a->at + (u64)by * (size ? size : 1));
	return true;
}

static bool two_pointers(const struct dbg_context *c, enum expr_sign sign, const struct address *a,
			 const struct address *b, struct dbg_value *out, struct text *why)
{
	bool same = a->space == b->space;
	u64 x = same ? a->at : dbg_generic(c, a->space, a->at);
	u64 y = same ? b->at : dbg_generic(c, b->space, b->at), size = dbg_type_size(a->to);

	if (is_comparison(sign)) {
		*out = dbg_value_int(&dbg_type_bool, order_holds(sign, x < y, x == y, true));
		return true;
	}
	if (sign != SIGN_SUB || size != dbg_type_size(b->to)) {
		text_puts(why,
			  sign == SIGN_SUB
				  ? "First argument of `-' is a pointer and second argument is "
				    "neither an integer nor a pointer of the same type."
				  : "Pointers are not operands of that operator.");
		return false;
	}
	*out = dbg_value_int(&dbg_type_long, (u64)((s64)(x - y) / (s64)(size ? size : 1)));
	return true;
}

static bool with_pointer(const struct dbg_context *c, enum expr_sign sign, const struct address *a,
			 const struct address *b, const struct dbg_value *va,
			 const struct dbg_value *vb, struct dbg_value *out, struct text *why)
{
	const struct address *p = a->is ? a : b;
	struct dbg_number n;

	if (!dbg_value_number(c, a->is ? vb : va, &n, why))
		return false;
	if (is_comparison(sign) && !n.is_float) {
		struct address other = {true, p->space, p->to, n.bits};

		return two_pointers(c, sign, a->is ? a : &other, b->is ? b : &other, out, why);
	}
	if (n.is_float || (sign != SIGN_ADD && (sign != SIGN_SUB || !a->is))) {
		text_puts(why, "Pointers are not operands of that operator.");
		return false;
	}
	return move_pointer(c, p, (s64)(sign == SIGN_SUB ? 0 - n.bits : n.bits), out, why);
}

bool expr_binary(const struct dbg_context *c, enum expr_sign sign, const struct dbg_value *va,
		 const struct dbg_value *vb, struct dbg_value *out, struct text *why)
{
	struct dbg_value a, b;
	struct dbg_number x, y, r;
	struct dbg_type *t;
	struct address p, q;

	if (!dbg_value_referred(c, va, &a, why) || !dbg_value_referred(c, vb, &b, why) ||
	    !address_of(c, &a, &p, why) || !address_of(c, &b, &q, why))
		return false;
	if (p.is && q.is)
		return two_pointers(c, sign, &p, &q, out, why);
	if (p.is || q.is)
		return with_pointer(c, sign, &p, &q, &a, &b, out, why);
	if (!dbg_value_number(c, &a, &x, why) || !dbg_value_number(c, &b, &y, why) ||
	    !expr_numbers(sign, dbg_type_strip(a.type), &x, dbg_type_strip(b.type), &y, &t, &r,
			  why))
		return false;
	*out = dbg_value_make(t, &r);
	return true;
}

bool expr_number(enum expr_op op, struct dbg_type *t, const struct dbg_number *a,
		 struct dbg_type **type, struct dbg_number *out, struct text *why)
{
	struct dbg_number n = *a;

	if (op == EXPR_NOT) {
		*type = &dbg_type_bool;
		*out = (struct dbg_number){.bits = n.is_float ? n.real == 0 : !n.bits};
		return true;
	}
	t = promoted(t);
	if (n.is_float && op == EXPR_FLIP) {
		text_puts(why, "Integers are needed for that operator.");
		return false;
	}
	if (op == EXPR_MINUS) {
		n.real = -n.real;
		n.bits = 0 - n.bits;
	} else if (op == EXPR_FLIP) {
		n.bits = ~n.bits;
	}
	n.bits = t->kind == DBG_FLOAT ? 0 : fit(t, n.bits);
	n.is_signed = t->is_signed;
	*type = t;
	*out = n;
	return true;
}

bool expr_unary(const struct dbg_context *c, enum expr_op op, const struct dbg_value *v,
		struct dbg_value *out, struct text *why)
{
	struct dbg_value a;
	struct dbg_number n;
	struct dbg_type *t;

	if (!dbg_value_referred(c, v, &a, why) || !dbg_value_number(c, &a, &n, why))
		return false;
	if (!expr_number(op, dbg_type_strip(a.type), &n, &t, &n, why))
		return false;
	*out = dbg_value_make(t, &n);
	return true;
}
