/*
 * Constant expressions: 64-bit, signed unless a literal or cast is unsigned. `%`, `~` and the
 * logical results follow PTX ISA "Constants: Summary of Constant Expression Evaluation Rules".
 */
#include "grammar/build.h"
#include "grammar/ptx.tab.h"

static bool value_is_float(struct build_value v)
{
	return v.type == T_f64 || v.type == T_f32;
}

static struct build_value value_of_bits(u64 bits, u8 type)
{
	return (struct build_value){.bits = bits, .type = type};
}

s64 build_integer_of(struct parse *p, struct build_value v, s64 instead, struct diag_span where)
{
	if (!value_is_float(v))
		return (s64)v.bits;
	build_error(p, where, "an integer is expected here, not a floating-point constant");
	return instead;
}

static struct build_value divide_values(struct parse *p, int op, struct build_value a,
					struct build_value b, struct diag_span where)
{
	bool sign = a.type == T_s64 && b.type == T_s64;

	if (!b.bits) {
		build_error(p, where, "division by zero in a constant expression");
		return value_of_bits(0, T_s64);
	}
	if (op == '%')
		return value_of_bits(a.bits % b.bits, T_u64);
	if (!sign)
		return value_of_bits(a.bits / b.bits, T_u64);
	if (b.bits == UINT64_MAX)
		return value_of_bits(0 - a.bits, T_s64);
	return value_of_bits((u64)((s64)a.bits / (s64)b.bits), T_s64);
}

static u64 shift_right(struct build_value a, u64 n)
{
	if (a.type == T_s64)
		return (u64)((s64)a.bits >> (n > 63 ? 63 : n));
	return n > 63 ? 0 : a.bits >> n;
}

static bool less(struct build_value a, struct build_value b)
{
	return a.type == T_s64 && b.type == T_s64 ? (s64)a.bits < (s64)b.bits : a.bits < b.bits;
}

struct build_value build_binary(struct parse *p, int op, struct build_value a, struct build_value b,
				struct diag_span where)
{
	u8 type = a.type == T_s64 && b.type == T_s64 ? T_s64 : T_u64;

	if (value_is_float(a) || value_is_float(b)) {
		build_error(p, where, "constant expressions are integer only");
		return value_of_bits(0, T_s64);
	}
	switch (op) {
	case '+':
		return value_of_bits(a.bits + b.bits, type);
	case '-':
		return value_of_bits(a.bits - b.bits, type);
	case '*':
		return value_of_bits(a.bits * b.bits, type);
	case '/':
	case '%':
		return divide_values(p, op, a, b, where);
	case '&':
		return value_of_bits(a.bits & b.bits, type);
	case '|':
		return value_of_bits(a.bits | b.bits, type);
	case '^':
		return value_of_bits(a.bits ^ b.bits, type);
	case TOK_SHL:
		return value_of_bits(b.bits > 63 ? 0 : a.bits << b.bits, a.type);
	case TOK_SHR:
		return value_of_bits(shift_right(a, b.bits), a.type);
	case '<':
		return value_of_bits(less(a, b), T_s64);
	case '>':
		return value_of_bits(less(b, a), T_s64);
	case TOK_LE:
		return value_of_bits(!less(b, a), T_s64);
	case TOK_GE:
		return value_of_bits(!less(a, b), T_s64);
	case TOK_EQ:
		return value_of_bits(a.bits == b.bits, T_s64);
	case TOK_NE:
		return value_of_bits(a.bits != b.bits, T_s64);
	case TOK_ANDAND:
		return value_of_bits(a.bits && b.bits, T_s64);
	default:
		return value_of_bits(a.bits || b.bits, T_s64);
	}
}

struct build_value build_unary(struct parse *p, int op, struct build_value a,
			       struct diag_span where)
{
	if (value_is_float(a)) {
		if (op != '-' && op != '+')
			build_error(p, where, "'%c' does not apply to a floating-point constant",
				    op);
		else if (a.hex && a.type == T_f32)
			build_error(p, where, "a 0f constant takes no sign");
		else if (op == '-')
			a.bits ^= 1ull << 63;
		return a;
	}
	switch (op) {
	case '-':
		return value_of_bits(0 - a.bits, T_s64);
	case '~':
		return value_of_bits(~a.bits, T_u64);
	case '!':
		return value_of_bits(!a.bits, T_s64);
	default:
		return a;
	}
}

struct build_value build_conditional(struct parse *p, struct build_value c, struct build_value a,
				     struct build_value b, struct diag_span where)
{
	struct build_value v = c.bits ? a : b;

	if (value_is_float(c) || value_is_float(a) || value_is_float(b)) {
		build_error(p, where, "constant expressions are integer only");
		return value_of_bits(0, T_s64);
	}
	v.type = a.type == T_s64 && b.type == T_s64 ? T_s64 : T_u64;
	return v;
}

struct build_value build_cast(struct parse *p, u32 type, struct build_value a,
			      struct diag_span where)
{
	if (type != T_s64 && type != T_u64)
		build_error(p, where, "a cast is (.s64) or (.u64)");
	else if (value_is_float(a))
		build_error(p, where, "constant expressions are integer only");
	else
		a.type = (u8)type;
	return a;
}
