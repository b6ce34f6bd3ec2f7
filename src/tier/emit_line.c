/*
 * Rows whose lanes lie at one distance from each other, as scalars: what addresses are made of.
 */
#include "src/tier/emit.h"

static const char *scalar_type(char class)
{
	return class == 'W' ? "i32" : "i64";
}

static u64 cut_bits(char class, u64 bits)
{
	return class == 'W' ? (u32)bits : bits;
}

struct emit_line emit_line_known(struct emit *e, char class, u64 bits)
{
	u32 n = emit_name(e);
	struct text *out = emit_of_line(e, false);

	emit_text(e, "%%v%u = add %s 0, %lld\n", n, scalar_type(class),
		  class == 'W' ? (long long)(s32)(u32)bits : (long long)bits);
	emit_return(e, out);
	return (struct emit_line){
		.is = true, .first = n, .known = true, .bits = cut_bits(class, bits)};
}

static u32 apply(struct emit *e, char class, const char *op, u32 x, u32 y)
{
	u32 n = emit_name(e);

	emit_text(e, "%%v%u = %s %s %%v%u, %%v%u\n", n, op, scalar_type(class), x, y);
	return n;
}

/* The value of lane 16. */
static u32 high_of(struct emit *e, char class, const struct emit_line *x)
{
	u32 n;

	if (x->high || !x->step)
		return x->high ? x->high : x->first;
	n = emit_name(e);
	emit_text(e, "%%v%u = add %s %%v%u, %lld\n", n, scalar_type(class), x->first,
		  class == 'W' ? (long long)(s32)((u32)x->step * 16)
			       : (long long)((u64)x->step * 16));
	return n;
}

/* op: of the values of one lane; the result has the lines' steps added, `minus` subtracted. */
static struct emit_line combine_lines(struct emit *e, char class, const char *op,
				      struct emit_line x, struct emit_line y, bool minus)
{
	u32 n, high = 0;
	struct text *out;

	if (!x.is || !y.is)
		return (struct emit_line){0};
	out = emit_of_line(e, x.late || y.late);
	n = apply(e, class, op, x.first, y.first);
	if (x.high || y.high)
		high = apply(e, class, op, high_of(e, class, &x), high_of(e, class, &y));
	emit_return(e, out);
	return (struct emit_line){
		.is = true,
		.first = n,
		.high = high,
		.step = (s64)((u64)x.step + (minus ? 0 - (u64)y.step : (u64)y.step)),
		.roots = x.roots | y.roots,
		.late = x.late || y.late,
		.known = x.known && y.known,
		.bits = cut_bits(class, minus ? x.bits - y.bits : x.bits + y.bits)};
}

struct emit_line emit_line_add(struct emit *e, char class, struct emit_line x, struct emit_line y)
{
	return combine_lines(e, class, "add", x, y, false);
}

static struct emit_line line_subtract(struct emit *e, char class, struct emit_line x,
				      struct emit_line y)
{
	return combine_lines(e, class, "sub", x, y, true);
}

static u32 scale_lane(struct emit *e, char class, u32 x, u64 by)
{
	u32 n = emit_name(e);

	emit_text(e, "%%v%u = mul %s %%v%u, %lld\n", n, scalar_type(class), x,
		  class == 'W' ? (long long)(s32)(u32)by : (long long)by);
	return n;
}

struct emit_line emit_line_scale(struct emit *e, char class, struct emit_line x, u64 by)
{
	struct text *out;

	if (!x.is)
		return x;
	out = emit_of_line(e, x.late);
	x.first = scale_lane(e, class, x.first, by);
	x.high = x.high ? scale_lane(e, class, x.high, by) : 0;
	emit_return(e, out);
	x.step = (s64)((u64)x.step * by);
	x.bits = cut_bits(class, x.bits * by);
	return x;
}

static struct emit_line line_multiply(struct emit *e, char class, struct emit_line x,
				      struct emit_line y)
{
	if (!x.is || !y.is)
		return (struct emit_line){0};
	if (x.known || y.known)
		return x.known ? emit_line_scale(e, class, y, x.bits)
			       : emit_line_scale(e, class, x, y.bits);
	if (e->study) {
		x.roots |= y.roots;
		return x;
	}
	if (x.step || y.step)
		return (struct emit_line){0};
	x.known = y.known = false;
	return combine_lines(e, class, "mul", x, y, false);
}

/* The last of `lanes` has to lie where the first one's extension leads. */
static u32 extend_lanes(struct emit *e, u32 first, s64 step, u32 lanes, bool sign)
{
	u32 n = emit_name(e), last, fits;

	emit_text(e, "%%v%u = %s i32 %%v%u to i64\n", n, sign ? "sext" : "zext", first);
	if (!step)
		return n;
	last = emit_name(e);
	fits = emit_name(e);
	emit_text(e, "%%v%u = add i64 %%v%u, %lld\n", last, n,
		  (long long)(step * (s64)(lanes - 1)) + (sign ? 2147483648 : 0));
	emit_text(e, "%%v%u = icmp ule i64 %%v%u, 4294967295\n", fits, last);
	emit_require(e, fits);
	return n;
}

struct emit_line emit_line_extend(struct emit *e, struct emit_line x, bool sign)
{
	u32 lanes = x.high ? WARP_LANES / 2 : WARP_LANES;
	struct text *out;

	if (!x.is)
		return x;
	out = emit_of_line(e, x.late);
	x.step = (s64)(s32)(u32)x.step;
	x.first = extend_lanes(e, x.first, x.known ? 0 : x.step, lanes, sign);
	if (x.high)
		x.high = extend_lanes(e, x.high, x.step, lanes, sign);
	emit_return(e, out);
	x.bits = sign ? (u64)(s64)(s32)x.bits : (u32)x.bits;
	return x;
}

/* The line of an operand: a row that is read. */
static struct emit_line of(struct emit *e, u32 row, char class)
{
	return emit_read(e, row, class)->line;
}

static struct emit_line of_imm(struct emit *e, char class, u64 bits)
{
	return emit_line_known(e, class, bits);
}

/*
 * Conditions that extensions need are required only where the line is used as an address: lines of
 * 64 bits are made of narrow ones by emit_line_extend, which asks at once. So only operations that
 * addresses are usually made of are followed.
 */
static struct emit_line of_word(struct emit *e, const struct uop *in)
{
	switch (in->inner) {
	case OP_mov_b32:
		return of(e, in->a, 'W');
	case OP_add_b32:
		return emit_line_add(e, 'W', of(e, in->a, 'W'), of(e, in->b, 'W'));
	case OP_sub_b32:
		return line_subtract(e, 'W', of(e, in->a, 'W'), of(e, in->b, 'W'));
	case OP_add_imm_w:
		return emit_line_add(e, 'W', of(e, in->a, 'W'), of_imm(e, 'W', (u32)in->lane.imm));
	case OP_mul_lo_b32:
		return line_multiply(e, 'W', of(e, in->a, 'W'), of(e, in->b, 'W'));
	case OP_mad_lo_b32:
		return emit_line_add(e, 'W',
				     line_multiply(e, 'W', of(e, in->a, 'W'), of(e, in->b, 'W')),
				     of(e, in->c, 'W'));
	case OP_mad_imm:
		return emit_line_add(e, 'W',
				     emit_line_scale(e, 'W', of(e, in->a, 'W'), (u32)in->lane.imm),
				     of_imm(e, 'W', (u64)in->lane.imm >> 32));
	case OP_shl_add:
		return emit_line_add(e, 'W',
				     emit_line_scale(e, 'W', of(e, in->a, 'W'),
						     (u64)1 << ((u32)in->lane.imm & 31)),
				     of(e, in->b, 'W'));
	case OP_shl_b32: {
		struct emit_line y = of(e, in->b, 'W');

		return y.known && y.bits < 32
			       ? emit_line_scale(e, 'W', of(e, in->a, 'W'), (u64)1 << y.bits)
			       : (struct emit_line){0};
	}
	default:
		return (struct emit_line){0};
	}
}

static struct emit_line of_double(struct emit *e, const struct uop *in)
{
	bool sign = in->inner == OP_mul_wide_s32 || in->inner == OP_mad_wide_s32;
	struct emit_line x;

	switch (in->inner) {
	case OP_mov_b64:
		return of(e, in->a, 'X');
	case OP_add_b64:
		return emit_line_add(e, 'X', of(e, in->a, 'X'), of(e, in->b, 'X'));
	case OP_sub_b64:
		return line_subtract(e, 'X', of(e, in->a, 'X'), of(e, in->b, 'X'));
	case OP_add_imm_x:
		return emit_line_add(e, 'X', of(e, in->a, 'X'), of_imm(e, 'X', (u64)in->lane.imm));
	case OP_mul_lo_b64:
		return line_multiply(e, 'X', of(e, in->a, 'X'), of(e, in->b, 'X'));
	case OP_mad_lo_b64:
		return emit_line_add(e, 'X',
				     line_multiply(e, 'X', of(e, in->a, 'X'), of(e, in->b, 'X')),
				     of(e, in->c, 'X'));
	case OP_shl_b64:
		x = of(e, in->b, 'W');
		return x.known && x.bits < 64
			       ? emit_line_scale(e, 'X', of(e, in->a, 'X'), (u64)1 << x.bits)
			       : (struct emit_line){0};
	case OP_sign_extend:
		return emit_line_extend(e, of(e, in->a, 'W'), true);
	case OP_zero_extend:
		return emit_line_extend(e, of(e, in->a, 'W'), false);
	case OP_mul_wide_add_s32:
		x = emit_line_extend(e, of(e, in->a, 'W'), true);
		return emit_line_add(e, 'X',
				     emit_line_scale(e, 'X', x, (u64)(s64)(s32)in->lane.imm),
				     of(e, in->b, 'X'));
	case OP_mul_wide_s32:
	case OP_mul_wide_u32:
	case OP_mad_wide_s32:
	case OP_mad_wide_u32:
		x = line_multiply(e, 'X', emit_line_extend(e, of(e, in->a, 'W'), sign),
				  emit_line_extend(e, of(e, in->b, 'W'), sign));
		if (in->inner == OP_mul_wide_s32 || in->inner == OP_mul_wide_u32)
			return x;
		return emit_line_add(e, 'X', x, of(e, in->c, 'X'));
	default:
		return (struct emit_line){0};
	}
}

struct emit_line emit_line_of(struct emit *e, const struct uop *in)
{
	switch (uop_info[in->inner].shape[0]) {
	case 'W':
		return of_word(e, in);
	case 'X':
		return of_double(e, in);
	default:
		return (struct emit_line){0};
	}
}
