/*
 * Lane operations: texts of tier_ops.def with the names of a micro-op's operands.
 */
#include "src/tier/emit.h"

#include <stdlib.h>

enum result { INT, F32, F64, PRED };

static const struct code {
	enum result result;
	const char *text;
} codes[EXEC_OPS] = {
#define CODE(op, result, text) [OP_##op] = {result, text},
#include "src/tier/tier_ops.def"
#undef CODE
};

/* Is its result that of operands in rows, and nothing else? The interpreter's handler can do it. */
static bool is_callable(u32 op)
{
	const char *shape = uop_info[op].shape;

	return strchr("WXP", shape[0]) && shape[2] && !shape[2 + strspn(shape + 2, "WXP")];
}

bool emit_lane_knows(u32 op)
{
	return codes[op].text || op == OP_cta_index || is_callable(op);
}

#define LOCALS 12u

struct expansion {
	struct emit *e;
	const struct uop *in;
	u32 vec[4], raw[4];
	u32 local[LOCALS];
	u32 result;
};

/* Operands are read before the text begins, so that what this needs stands before it. */
static void read_operands(struct expansion *x, const char *text)
{
	const char *shape = uop_info[x->in->inner].shape + 2;
	const u32 rows[] = {x->in->a, x->in->b, x->in->c, x->in->lane.e};
	static const char *const plain[] = {"@x", "@y", "@z", "@w"};
	static const char *const raw[] = {"@fx", "@fy", "@fz", "@fw"};

	for (u32 i = 0; i < 4 && shape[i] && strchr("WXP", shape[i]); i++) {
		struct emit_value *v = emit_read(x->e, rows[i], shape[i]);

		if (strstr(text, plain[i]))
			x->vec[i] = emit_vec(x->e, v);
		if (strstr(text, raw[i]))
			x->raw[i] = emit_raw(x->e, v);
	}
}

static u64 constant_named(const struct uop *in, const char *name)
{
	if (!strncmp(name, "imm", 3))
		return (u64)in->lane.imm;
	if (!strncmp(name, "high", 4))
		return (u64)in->lane.imm >> 32;
	if (!strncmp(name, "shift", 5))
		return in->lane.shift;
	return strtoull(name, NULL, 10);
}

static u32 local_name(struct expansion *x, u32 number)
{
	if (!x->local[number % LOCALS])
		x->local[number % LOCALS] = emit_name(x->e);
	return x->local[number % LOCALS];
}

/* One placeholder at `at`, after its @. Returns what follows it. */
static const char *put_one(struct expansion *x, const char *at)
{
	static const char letters[] = "xyzw";
	const char *letter;

	if (*at == 'l') { /* the @ of a function's name */
		text_puts(x->e->out, "@");
		return at;
	}
	if (*at == '{') {
		char class = at[1] == 'w' ? 'W' : at[1] == 'x' ? 'X' : 'P';
		const char *end = strchr(at, '}');

		emit_constant(x->e, class, class == 'P' ? 1 : constant_named(x->in, at + 3));
		return end + 1;
	}
	if (*at == 'r') {
		emit_text(x->e, "%%v%u", x->result);
		return at + 1;
	}
	if (*at >= '0' && *at <= '9') {
		char *end;
		u32 number = (u32)strtoul(at, &end, 10);

		emit_text(x->e, "%%v%u", local_name(x, number));
		return end;
	}
	if (*at == 'f') {
		letter = strchr(letters, at[1]);
		emit_text(x->e, "%%v%u", x->raw[letter - letters]);
		return at + 2;
	}
	letter = strchr(letters, *at);
	emit_text(x->e, "%%v%u", x->vec[letter - letters]);
	return at + 1;
}

static void expand_text(struct expansion *x, const char *text)
{
	const char *next;

	if (x->e->study)
		return;
	while ((next = strchr(text, '@'))) {
		text_add(x->e->out, text, (size_t)(next - text));
		text = put_one(x, next + 1);
	}
	text_puts(x->e->out, text);
	text_puts(x->e->out, "\n");
}

/* One value for all lanes: that of a line, else of the first lane. */
struct emit_line emit_first_of(struct emit *e, u32 row, char class)
{
	struct emit_value *v = emit_read(e, row, class);
	u32 vec, n;

	if (v->line.is && !v->line.step && !v->line.high && !e->study)
		return v->line;
	vec = emit_vec(e, v);
	n = emit_name(e);
	emit_text(e, "%%v%u = extractelement %s %%v%u, i32 0\n", n, emit_type(class), vec);
	return (struct emit_line){.is = true, .first = n, .late = true};
}

/* x + s, s: a coordinate of the CTA times the first lane of b. */
static void emit_cta_index(struct emit *e, const struct uop *in)
{
	struct emit_value *x = emit_read(e, in->a, 'W');
	struct emit_line by = emit_first_of(e, in->b, 'W'), line;
	u32 s = emit_name(e), vec, all, sum;
	struct text *out = emit_of_line(e, by.late);

	emit_text(e, "%%v%u = mul i32 %%v%u, %%ctaid%u\n", s, by.first, (u32)in->lane.imm % 3);
	emit_return(e, out);
	line = emit_line_add(e, 'W', x->line,
			     (struct emit_line){.is = true, .first = s, .late = by.late});
	if (line.is && !e->study) {
		emit_write(e, in->d, 'W', 0)->line = line;
		return;
	}
	vec = emit_vec(e, x);
	all = emit_splat(e, 'W', s);
	sum = emit_name(e);
	emit_text(e, "%%v%u = add <32 x i32> %%v%u, %%v%u\n", sum, vec, all);
	emit_write(e, in->d, 'W', sum)->line = line;
}

/* ---- operations without a text: the interpreter's handlers, for a gang of one warp ---- */

static u32 call_row(struct emit *e, u32 i, const char *type)
{
	u32 a = emit_name(e);

	emit_text(e, "%%v%u = add i64 %%rows, %u\n", a, i * TIER_CALL_ROW);
	return emit_point(e, a, type);
}

static const char *row_type(char class)
{
	return class == 'P' ? "i32" : emit_type(class);
}

static u32 row_align(char class)
{
	return class == 'P' ? 4 : 64;
}

static void pass_operand(struct emit *e, u32 i, u32 row, char class)
{
	u32 vec = emit_vec(e, emit_read(e, row, class)), p;
	const char *type = row_type(class);

	if (class == 'P') {
		u32 bits = emit_name(e);

		emit_text(e, "%%v%u = bitcast <32 x i1> %%v%u to i32\n", bits, vec);
		vec = bits;
	}
	p = call_row(e, i, type);
	emit_text(e, "store %s %%v%u, %s %%v%u, align %u\n", type, vec, emit_pointer(e, type), p,
		  row_align(class));
}

/* Before the loop over warps. */
static void find_handler(struct emit *e, const struct uop *in)
{
	const char *wide = emit_pointer(e, "i64"),
		   *function = e->opaque ? "ptr" : "i64 (i64, i64)*";

	if (e->masked || e->study)
		return;
	text_printf(&e->head,
		    "%%handler.%u.a = add i64 %%handlers, %u\n"
		    "%%handler.%u.p = inttoptr i64 %%handler.%u.a to %s\n"
		    "%%handler.%u.n = load i64, %s %%handler.%u.p\n"
		    "%%handler.%u = inttoptr i64 %%handler.%u.n to %s\n",
		    e->at, in->inner * (u32)sizeof(exec_handler *), e->at, e->at, wide, e->at, wide,
		    e->at, e->at, e->at, function);
}

static void call_handler(struct emit *e, const struct uop *in)
{
	const char *shape = uop_info[in->inner].shape, *type = row_type(shape[0]);
	const u32 rows[] = {in->a, in->b, in->c, in->lane.e};
	u32 p, r, unused = emit_name(e);

	for (u32 i = 0; shape[2 + i]; i++)
		pass_operand(e, 1 + i, rows[i], shape[2 + i]);
	find_handler(e, in);
	emit_text(e, "%%v%u = call i64 %%handler.%u(i64 %%gang, i64 %lld)\n", unused, e->at,
		  (long long)(u64)(uintptr_t)(e->study ? NULL : &e->run->beside[e->at]));
	p = call_row(e, 0, type);
	r = emit_name(e);
	emit_text(e, "%%v%u = load %s, %s %%v%u, align %u\n", r, type, emit_pointer(e, type), p,
		  row_align(shape[0]));
	if (shape[0] == 'P') {
		u32 bits = r;

		r = emit_name(e);
		emit_text(e, "%%v%u = bitcast i32 %%v%u to <32 x i1>\n", r, bits);
	}
	emit_write(e, in->d, shape[0], r);
	e->run->calls += e->study;
}

void emit_lane(struct emit *e, const struct uop *in)
{
	const struct code *c = &codes[in->inner];
	struct expansion x = {.e = e, .in = in};
	struct emit_line line;
	struct emit_value *v;
	char class = uop_info[in->inner].shape[0];

	if (in->inner == OP_cta_index) {
		emit_cta_index(e, in);
		return;
	}
	if (!c->text) {
		call_handler(e, in);
		return;
	}
	line = emit_line_of(e, in);
	if (line.is && !e->study) {
		emit_write(e, in->d, class, 0)->line = line;
		return;
	}
	read_operands(&x, c->text);
	x.result = emit_name(e);
	expand_text(&x, c->text);
	v = emit_write(e, in->d, class, x.result);
	v->line = line;
	if (c->result != F32 && c->result != F64)
		return;
	v->raw = x.result;
	v->vec = 0;
	if (c->result == F32)
		return;
	if (e->numbers == EMIT_NUMBERS) {
		e->failed = true;
		return;
	}
	e->number[e->numbers].raw = x.result;
	v->number = ++e->numbers;
}
