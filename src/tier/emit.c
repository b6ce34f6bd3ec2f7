/*
 * Values of a run, in text: rows that are read and written, constants, conditions.
 */
#include "src/tier/emit.h"

u32 emit_name(struct emit *e)
{
	return ++e->names;
}

void emit_text(struct emit *e, const char *fmt, ...)
{
	va_list args;

	if (e->study)
		return;
	va_start(args, fmt);
	text_vprintf(e->out, fmt, args);
	va_end(args);
}

const char *emit_type(char class)
{
	return class == 'W' ? "<32 x i32>" : class == 'X' ? "<32 x i64>" : "<32 x i1>";
}

const char *emit_pointer(struct emit *e, const char *type)
{
	char *at = e->pointer[e->pointers++ % ARRAY_LEN(e->pointer)];

	if (e->opaque)
		return "ptr";
	snprintf(at, sizeof(e->pointer[0]), "%s*", type);
	return at;
}

u32 emit_point(struct emit *e, u32 address, const char *type)
{
	u32 p = emit_name(e);

	emit_text(e, "%%v%u = inttoptr i64 %%v%u to %s\n", p, address, emit_pointer(e, type));
	return p;
}

struct text *emit_of_line(struct emit *e, bool late)
{
	struct text *out = e->out;

	if (!late)
		e->out = &e->early;
	return out;
}

void emit_return(struct emit *e, struct text *out)
{
	e->out = out;
}

void emit_require(struct emit *e, u32 condition)
{
	u32 *ok = e->out == &e->early ? &e->ok_early : &e->ok, both;

	if (!*ok) {
		*ok = condition;
		return;
	}
	both = emit_name(e);
	emit_text(e, "%%v%u = and i1 %%v%u, %%v%u\n", both, *ok, condition);
	*ok = both;
}

u32 emit_every(struct emit *e, u32 lanes)
{
	u32 bits = emit_name(e), all = emit_name(e);

	emit_text(e, "%%v%u = bitcast <32 x i1> %%v%u to i32\n", bits, lanes);
	if (e->masked) {
		u32 more = emit_name(e);

		emit_text(e, "%%v%u = or i32 %%v%u, %%p.not\n", more, bits);
		bits = more;
	}
	emit_text(e, "%%v%u = icmp eq i32 %%v%u, -1\n", all, bits);
	return all;
}

static void leave_unless(struct emit *e, u32 *ok)
{
	const char *part = e->masked ? "p" : "f";
	u32 label = ++e->labels;

	if (!*ok)
		return;
	emit_text(e, "br i1 %%v%u, label %%l%u, label %%%s.leave\nl%u:\n", *ok, label, part, label);
	*ok = 0;
}

void emit_flush(struct emit *e)
{
	leave_unless(e, &e->ok);
}

void emit_flush_early(struct emit *e)
{
	struct text *out = emit_of_line(e, false);

	leave_unless(e, &e->ok_early);
	emit_return(e, out);
}

void emit_constant(struct emit *e, char class, u64 bits)
{
	const char *type = class == 'W' ? "i32" : class == 'X' ? "i64" : "i1";
	struct text *out = e->out;

	if (e->study)
		return;
	text_puts(out, "<");
	for (u32 l = 0; l < WARP_LANES; l++) {
		if (class == 'X')
			text_printf(out, "%s%s %lld", l ? ", " : "", type, (long long)bits);
		else
			text_printf(out, "%s%s %d", l ? ", " : "", type,
				    class == 'P' ? (bits ? 1 : 0) : (s32)(u32)bits);
	}
	text_puts(out, ">");
}

u32 emit_splat(struct emit *e, char class, u32 scalar)
{
	u32 one = emit_name(e), all = emit_name(e);
	const char *type = emit_type(class);

	emit_text(e, "%%v%u = insertelement %s zeroinitializer, %s %%v%u, i32 0\n", one, type,
		  class == 'W' ? "i32" : "i64", scalar);
	emit_text(
		e,
		"%%v%u = shufflevector %s %%v%u, %s zeroinitializer, <32 x i32> zeroinitializer\n",
		all, type, one, type);
	return all;
}

/* ---- rows that are live in ---- */

static const struct program_const *find_constant(const struct program *p, u32 row)
{
	for (u32 i = 0; i < p->const_len; i++)
		if (p->consts[i].row == row)
			return &p->consts[i];
	return NULL;
}

static u32 address_of_row(struct emit *e, u32 row, char class)
{
	u32 a = emit_name(e);

	emit_text(e, "%%v%u = add i64 %%%s.%c, %u\n", a, e->masked ? "p" : "f", class, row);
	return a;
}

/* The same for the launch: before the loop over warps. */
static void read_launch_row(struct emit *e, struct emit_value *v)
{
	struct text *out = e->out;
	const char *type = v->class == 'W' ? "i32" : "i64";
	u32 a = emit_name(e), p, s = emit_name(e);

	e->out = &e->head;
	emit_text(e, "%%v%u = add i64 %%regs, %u\n", a, v->row);
	p = emit_point(e, a, type);
	emit_text(e, "%%v%u = load %s, %s %%v%u, align 64\n", s, type, emit_pointer(e, type), p);
	v->line = (struct emit_line){.is = true, .first = s};
	e->out = out;
}

static u32 load_whole(struct emit *e, const struct emit_value *v)
{
	u32 a = address_of_row(e, v->row, v->class), p, n = emit_name(e), bits;
	const char *type = v->class == 'P' ? "i32" : emit_type(v->class);

	p = emit_point(e, a, type);
	emit_text(e, "%%v%u = load %s, %s %%v%u, align %u\n", n, type, emit_pointer(e, type), p,
		  v->class == 'P' ? 4u : 64u);
	if (v->class != 'P')
		return n;
	bits = emit_name(e);
	emit_text(e, "%%v%u = bitcast i32 %%v%u to <32 x i1>\n", bits, n);
	return bits;
}

static struct tier_root *find_root(struct emit *e, const struct emit_value *v)
{
	struct tier_run *r = e->run;

	for (u32 i = 0; i < r->roots; i++)
		if (r->root[i].row == v->row)
			return &r->root[i];
	return NULL;
}

static u32 scalar_of(struct emit *e, u32 address, const char *type)
{
	u32 p = emit_point(e, address, type), n = emit_name(e);

	emit_text(e, "%%v%u = load %s, %s %%v%u\n", n, type, emit_pointer(e, type), p);
	return n;
}

/* What lane 0 has by the first one that takes part. */
static u32 first_by_step(struct emit *e, const struct emit_value *v, u32 address, s64 step)
{
	const char *type = v->class == 'W' ? "i32" : "i64";
	u32 at = emit_name(e), first, by, less;

	emit_text(e, "%%v%u = add i64 %%v%u, %%p.lane%c\n", at, address, v->class);
	first = scalar_of(e, at, type);
	by = emit_name(e);
	less = emit_name(e);
	emit_text(e, "%%v%u = mul %s %%p.low%c, %lld\n", by, type, v->class, (long long)step);
	emit_text(e, "%%v%u = sub %s %%v%u, %%v%u\n", less, type, first, by);
	return less;
}

/* Lane l has x, those of the upper half y. */
static u32 splat_halves(struct emit *e, char class, u32 x, u32 y)
{
	u32 low = emit_splat(e, class, x), high, both;

	if (!y)
		return low;
	high = emit_splat(e, class, y);
	both = emit_name(e);
	emit_text(e, "%%v%u = shufflevector %s %%v%u, %s %%v%u, <32 x i32> <", both,
		  emit_type(class), low, emit_type(class), high);
	for (u32 l = 0; l < WARP_LANES; l++)
		emit_text(e, "%si32 %u", l ? ", " : "", l < WARP_LANES / 2 ? l : WARP_LANES + l);
	emit_text(e, ">\n");
	return both;
}

/* All lanes of a line. */
static u32 vec_of_line(struct emit *e, char class, const struct emit_line *x)
{
	u32 all = splat_halves(e, class, x->first, x->high), r;

	if (!x->step)
		return all;
	r = emit_name(e);
	emit_text(e, "%%v%u = add %s %%v%u, <", r, emit_type(class), all);
	for (u32 l = 0; l < WARP_LANES; l++) {
		u64 apart = (u64)x->step * (x->high ? l % (WARP_LANES / 2) : l);

		emit_text(e, "%s%s %lld", l ? ", " : "", class == 'W' ? "i32" : "i64",
			  class == 'W' ? (long long)(s32)(u32)apart : (long long)apart);
	}
	emit_text(e, ">\n");
	return r;
}

/* Are all lanes of two vectors the same? By one test of bits that differ, those of all lanes. */
static u32 are_same(struct emit *e, char class, u32 x, u32 y)
{
	u32 bits = class == 'W' ? 32 : 64, differ = emit_name(e), some = emit_name(e),
	    any = emit_name(e), is = emit_name(e), n = WARP_LANES;

	emit_text(e, "%%v%u = xor %s %%v%u, %%v%u\n", differ, emit_type(class), x, y);
	for (; n * bits > 256; n /= 2) {
		u32 half[2] = {emit_name(e), emit_name(e)}, both = emit_name(e);

		for (u32 h = 0; h < 2; h++) {
			emit_text(e, "%%v%u = shufflevector <%u x i%u> %%v%u, <%u x i%u> ", half[h],
				  n, bits, differ, n, bits);
			emit_text(e, "zeroinitializer, <%u x i32> <", n / 2);
			for (u32 l = 0; l < n / 2; l++)
				emit_text(e, "%si32 %u", l ? ", " : "", h * n / 2 + l);
			emit_text(e, ">\n");
		}
		emit_text(e, "%%v%u = or <%u x i%u> %%v%u, %%v%u\n", both, n / 2, bits, half[0],
			  half[1]);
		differ = both;
	}
	emit_text(e, "%%v%u = icmp ne <%u x i%u> %%v%u, zeroinitializer\n", some, n, bits, differ);
	emit_text(e, "%%v%u = bitcast <%u x i1> %%v%u to i%u\n", any, n, some, n);
	emit_text(e, "%%v%u = icmp eq i%u %%v%u, 0\n", is, n, any);
	return is;
}

/* The line of a row whose lanes are `step` apart, and the condition that they are. */
static void follow_root(struct emit *e, struct emit_value *v, const struct tier_root *root)
{
	const char *type = v->class == 'W' ? "i32" : "i64";
	u32 vec = load_whole(e, v), a = address_of_row(e, v->row, v->class), expected, is,
	    size = v->class == 'W' ? 4 : 8;
	struct emit_line *x = &v->line;

	*x = (struct emit_line){.is = true, .step = root->step};
	x->first = e->masked ? first_by_step(e, v, a, root->step) : scalar_of(e, a, type);
	if (root->halves) {
		u32 middle = emit_name(e);

		emit_text(e, "%%v%u = add i64 %%v%u, %u\n", middle, a, size * WARP_LANES / 2);
		x->high = scalar_of(e, middle, type);
	}
	expected = vec_of_line(e, v->class, x);
	if (!e->masked) {
		emit_require(e, are_same(e, v->class, expected, vec));
		return;
	}
	is = emit_name(e);
	emit_text(e, "%%v%u = icmp eq %s %%v%u, %%v%u\n", is, emit_type(v->class), expected, vec);
	emit_require(e, emit_every(e, is));
}

/* In a study, each row may be one that addresses are made of. */
static void note_root(struct emit *e, struct emit_value *v)
{
	struct tier_run *r = e->run;

	if (v->class == 'P')
		return;
	if (r->roots == 32 || r->roots == TIER_ROOTS) {
		e->failed = true;
		return;
	}
	r->root[r->roots] = (struct tier_root){.row = v->row, .wide = v->class == 'X'};
	v->line = (struct emit_line){
		.is = true, .first = emit_name(e), .step = 1, .roots = 1u << r->roots};
	r->roots++;
}

static void read_in(struct emit *e, struct emit_value *v)
{
	const struct program_const *k = find_constant(e->p, v->row);
	const struct tier_root *root;

	if (k) {
		v->vec = emit_name(e);
		emit_text(e, "%%v%u = or %s ", v->vec, emit_type(v->class));
		emit_constant(e, v->class, k->bits);
		emit_text(e, ", zeroinitializer\n");
		if (v->class != 'P')
			v->line = emit_line_known(e, v->class, k->bits);
		return;
	}
	if (v->class != 'P' && tier_is_uniform(e->live, v->row)) {
		read_launch_row(e, v);
		return;
	}
	root = e->study ? NULL : find_root(e, v);
	if (root && root->linear && !(root->halves && e->masked)) {
		struct text *out = emit_of_line(e, false);

		follow_root(e, v, root);
		emit_return(e, out);
		return;
	}
	v->vec = load_whole(e, v);
	if (e->study)
		note_root(e, v);
}

/* ---- values ---- */

static struct emit_value *value_of_row(struct emit *e, u32 row)
{
	for (u32 i = 0; i < e->values; i++)
		if (e->value[i].row == row)
			return &e->value[i];
	if (e->values == EMIT_VALUES - 1) {
		e->failed = true;
		e->values--;
	}
	e->value[e->values] = (struct emit_value){.row = row};
	return &e->value[e->values++];
}

struct emit_value *emit_read(struct emit *e, u32 row, char class)
{
	struct emit_value *v = value_of_row(e, row);

	if (!v->class) {
		v->class = class;
		read_in(e, v);
	}
	if (v->class != class)
		e->failed = true;
	return v;
}

struct emit_value *emit_write(struct emit *e, u32 row, char class, u32 vec)
{
	struct emit_value *v = value_of_row(e, row);

	if (v->class && v->class != class)
		e->failed = true;
	*v = (struct emit_value){.row = row, .class = class, .written = true, .vec = vec};
	return v;
}

u32 emit_raw(struct emit *e, struct emit_value *v)
{
	if (!v->raw) {
		u32 vec = emit_vec(e, v);

		v->raw = emit_name(e);
		emit_text(e, "%%v%u = bitcast %s %%v%u to <32 x %s>\n", v->raw, emit_type(v->class),
			  vec, v->class == 'W' ? "float" : "double");
	}
	return v->raw;
}

/* NaN of 32 bits is always the same; what it is of 64 bits, the interpreter knows. */
u32 emit_vec(struct emit *e, struct emit_value *v)
{
	u32 bits, is;

	if (v->number)
		e->number[v->number - 1].seen = true;
	if (v->vec)
		return v->vec;
	if (!v->raw)
		return v->vec = vec_of_line(e, v->class, &v->line);
	bits = emit_name(e);
	emit_text(e, "%%v%u = bitcast <32 x %s> %%v%u to %s\n", bits,
		  v->class == 'W' ? "float" : "double", v->raw, emit_type(v->class));
	v->vec = bits;
	if (v->class == 'X')
		return bits;
	is = emit_name(e);
	v->vec = emit_name(e);
	emit_text(e, "%%v%u = fcmp ord <32 x float> %%v%u, %%v%u\n", is, v->raw, v->raw);
	emit_text(e, "%%v%u = select <32 x i1> %%v%u, <32 x i32> %%v%u, <32 x i32> ", v->vec, is,
		  bits);
	emit_constant(e, 'W', 0x7fffffff);
	emit_text(e, "\n");
	return v->vec;
}

/* ---- rows that are live out ---- */

static void write_out(struct emit *e, struct emit_value *v)
{
	bool mask = v->class == 'P';
	const char *type = mask ? "i32" : emit_type(v->class);
	u32 n = emit_vec(e, v), a = address_of_row(e, v->row, v->class), p = emit_point(e, a, type),
	    old = 0;

	if (mask) {
		u32 bits = emit_name(e);

		emit_text(e, "%%v%u = bitcast <32 x i1> %%v%u to i32\n", bits, n);
		n = bits;
	}
	if (e->masked) {
		old = emit_name(e);
		emit_text(e, "%%v%u = load %s, %s %%v%u, align %u\n", old, type,
			  emit_pointer(e, type), p, mask ? 4u : 64u);
	}
	if (e->masked && mask) {
		u32 x = emit_name(e), y = emit_name(e), z = emit_name(e);

		emit_text(e, "%%v%u = and i32 %%v%u, %%p.bits\n", x, n);
		emit_text(e, "%%v%u = and i32 %%v%u, %%p.not\n", y, old);
		emit_text(e, "%%v%u = or i32 %%v%u, %%v%u\n", z, x, y);
		n = z;
	} else if (e->masked) {
		u32 x = emit_name(e);

		emit_text(e, "%%v%u = select <32 x i1> %%v%u, %s %%v%u, %s %%v%u\n", x, e->mask,
			  type, n, type, old);
		n = x;
	}
	emit_text(e, "store %s %%v%u, %s %%v%u, align %u\n", type, n, emit_pointer(e, type), p,
		  mask ? 4u : 64u);
}

static bool is_live_out(const struct emit *e, const struct emit_value *v)
{
	return v->written &&
	       (e->study || tier_live_after(e->live, e->run->first + e->run->n - 1, v->row));
}

void emit_rows(struct emit *e)
{
	for (u32 i = 0; i < e->values; i++)
		if (is_live_out(e, &e->value[i]))
			emit_vec(e, &e->value[i]);
	for (u32 i = 0; i < e->numbers; i++) {
		u32 is = emit_name(e);

		if (!e->number[i].seen)
			continue;
		emit_text(e, "%%v%u = fcmp ord <32 x double> %%v%u, %%v%u\n", is, e->number[i].raw,
			  e->number[i].raw);
		emit_require(e, emit_every(e, is));
	}
}

void emit_rows_store(struct emit *e)
{
	for (u32 i = 0; i < e->values; i++)
		if (is_live_out(e, &e->value[i]))
			write_out(e, &e->value[i]);
}
