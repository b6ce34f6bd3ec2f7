/*
 * The elements of a load or store, rows of registers, and the parts that move: a part has one
 * element or several, the first one lowest.
 */
#include "src/tier/emit_access.h"

static char class_of_data(const struct uop *in)
{
	return in->flags & UOPF_WIDE_DATA ? 'X' : 'W';
}

static u32 class_bits(char class)
{
	return class == 'X' ? 64 : 32;
}

static bool is_load(const struct uop *in)
{
	return uop_kind(in->inner) == UOP_LOAD;
}

static u32 data_row(const struct program *p, const struct uop *in, u32 i)
{
	if (in->mem.count > 1)
		return p->ext[in->ext + i];
	return is_load(in) ? in->d : in->b;
}

bool emit_data_fits(const struct program *p, const struct uop *in)
{
	u32 size = in->mem.size, count = in->mem.count, none = 0;

	if ((size != 1 && size != 2 && size != 4 && size != 8) || !count || count > 8 ||
	    count & (count - 1) || size * count > PARTS_MOST * 8 ||
	    (size == 8 && !(in->flags & UOPF_WIDE_DATA)))
		return false;
	for (u32 i = 0; i < count; i++)
		none += data_row(p, in, i) == NO_ROW;
	return is_load(in) ? none < count : !none;
}

struct parts emit_parts_shape(const struct uop *in)
{
	u32 width = emit_width(in), bytes = width < 8 ? width : 8;

	return (struct parts){.n = width / bytes, .bytes = bytes};
}

/* ---- elements to parts ---- */

/* x as a number of `to` bits of which only the `size` lowest bytes may be set. */
static u32 fit_element(struct emit *e, u32 x, u32 from, u32 size, u32 to)
{
	u32 bits = size * 8;

	if (bits < from) {
		u32 cut = emit_name(e);

		emit_text(e, "%%v%u = trunc <32 x i%u> %%v%u to <32 x i%u>\n", cut, from, x, bits);
		x = cut;
	}
	if (bits < to) {
		u32 wide = emit_name(e);

		emit_text(e, "%%v%u = zext <32 x i%u> %%v%u to <32 x i%u>\n", wide, bits, x, to);
		x = wide;
	}
	return x;
}

static void put_vector(struct emit *e, u32 bits, u32 value)
{
	emit_text(e, "<");
	for (u32 l = 0; l < WARP_LANES; l++)
		emit_text(e, "%si%u %u", l ? ", " : "", bits, value);
	emit_text(e, ">");
}

static u32 shift_by(struct emit *e, const char *op, u32 x, u32 bits, u32 by)
{
	u32 r = emit_name(e);

	emit_text(e, "%%v%u = %s <32 x i%u> %%v%u, ", r, op, bits, x);
	put_vector(e, bits, by);
	emit_text(e, "\n");
	return r;
}

struct parts emit_parts_join(struct emit *e, const struct uop *in)
{
	struct parts p = emit_parts_shape(in);
	char class = class_of_data(in);
	u32 size = in->mem.size, each = p.bytes / size, bits = p.bytes * 8;

	for (u32 i = 0; i < in->mem.count; i++) {
		u32 *part = &p.at[i / each], row = data_row(e->p, in, i);
		u32 x = emit_vec(e, emit_read(e, row, class)), sum;

		x = fit_element(e, x, class_bits(class), size, bits);
		if (!(i % each)) {
			*part = x;
			continue;
		}
		x = shift_by(e, "shl", x, bits, i % each * size * 8);
		sum = emit_name(e);
		emit_text(e, "%%v%u = or <32 x i%u> %%v%u, %%v%u\n", sum, bits, *part, x);
		*part = sum;
	}
	return p;
}

/* ---- parts to elements ---- */

static u32 take_element(struct emit *e, const struct uop *in, const struct parts *p, u32 i)
{
	u32 size = in->mem.size, each = p->bytes / size, bits = size * 8, from = p->bytes * 8,
	    to = class_bits(class_of_data(in)), x = p->at[i / each];

	if (i % each)
		x = shift_by(e, "lshr", x, from, i % each * bits);
	if (bits < from) {
		u32 cut = emit_name(e);

		emit_text(e, "%%v%u = trunc <32 x i%u> %%v%u to <32 x i%u>\n", cut, from, x, bits);
		x = cut;
	}
	if (bits < to) {
		u32 wide = emit_name(e);

		emit_text(e, "%%v%u = %s <32 x i%u> %%v%u to <32 x i%u>\n", wide,
			  in->flags & UOPF_SIGN ? "sext" : "zext", bits, x, to);
		x = wide;
	}
	return x;
}

void emit_parts_split(struct emit *e, const struct uop *in, const struct parts *p)
{
	char class = class_of_data(in);
	u32 x[PARTS_MOST * 8];

	for (u32 i = 0; i < in->mem.count; i++)
		x[i] = data_row(e->p, in, i) == NO_ROW ? 0 : take_element(e, in, p, i);
	for (u32 i = 0; i < in->mem.count; i++)
		if (x[i])
			emit_write(e, data_row(e->p, in, i), class, x[i]);
}
