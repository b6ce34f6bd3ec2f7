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

bool emit_lane_knows(u32 op)
{
	return codes[op].text || op == OP_cta_index;
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

		emit_constant(x->e->out, class, class == 'P' ? 1 : constant_named(x->in, at + 3));
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

	while ((next = strchr(text, '@'))) {
		text_add(x->e->out, text, (size_t)(next - text));
		text = put_one(x, next + 1);
	}
	text_puts(x->e->out, text);
	text_puts(x->e->out, "\n");
}

/* x + s, s: a coordinate of the CTA times the first lane of b. */
static void emit_cta_index(struct emit *e, const struct uop *in)
{
	struct emit_value *x = emit_read(e, in->a, 'W');
	u32 vec = emit_vec(e, x), factor = emit_vec(e, emit_read(e, in->b, 'W')),
	    one = emit_name(e), s = emit_name(e), sum = emit_name(e), all;
	struct emit_line line = x->line;

	emit_text(e, "%%v%u = extractelement <32 x i32> %%v%u, i32 0\n", one, factor);
	emit_text(e, "%%v%u = mul i32 %%v%u, %%ctaid%u\n", s, one, (u32)in->lane.imm % 3);
	all = emit_splat(e, 'W', s);
	emit_text(e, "%%v%u = add <32 x i32> %%v%u, %%v%u\n", sum, vec, all);
	line = emit_line_add(e, 'W', line, (struct emit_line){.is = true, .first = s});
	emit_write(e, in->d, 'W', sum)->line = line;
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
	read_operands(&x, c->text);
	line = emit_line_of(e, in);
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
