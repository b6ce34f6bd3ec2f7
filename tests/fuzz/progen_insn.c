/*
 * Random scalar instructions: a row, random modifiers, operands as its specification asks.
 */
#include "tests/fuzz/progen.h"

#include <stdio.h>

const struct progen_pool progen_pools[] = {
	{"%p", "pred", T_pred, 8}, {"%h", "b16", T_b16, 8}, {"%r", "b32", T_b32, 10},
	{"%d", "b64", T_b64, 10},  {"%u", "u32", T_u32, 4}, {"%s", "s32", T_s32, 4},
	{"%f", "f32", T_f32, 4},   {"%g", "f64", T_f64, 4}, {"%q", "b128", T_b128, 4},
};
const u32 progen_pool_len = ARRAY_LEN(progen_pools);

u64 progen_random(struct progen *p)
{
	u64 z = p->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

u32 progen_below(struct progen *p, u32 n)
{
	return (u32)((progen_random(p) >> 32) * n >> 32);
}

bool progen_chance(struct progen *p, u32 percent)
{
	return progen_below(p, 100) < percent;
}

/* ---- rows ---- */

static void add_word(const struct isa_row *row, u32 slot, struct progen *p, struct text *out)
{
	const struct isa_slot *s = &row->slot[slot];

	text_printf(out, ".%s",
		    isa_word_text(isa_alts(s->first_alt)[progen_below(p, s->alts)].word));
}

/* The opcode with random modifiers; slots of one group come together or not at all. */
static void make_opcode(struct progen *p, const struct isa_row *row, struct text *out)
{
	bool group[256] = {false};

	text_puts(out, row->name[progen_below(p, row->names)]);
	for (u32 i = 0; i < row->slots; i++) {
		const struct isa_slot *s = &row->slot[i];
		bool take = !s->optional || progen_chance(p, 50);

		if (s->group) {
			if (i == 0 || row->slot[i - 1].group != s->group)
				group[s->group] = take;
			take = group[s->group];
		}
		if (take)
			add_word(row, i, p, out);
	}
}

static const struct isa_form *choose_form(struct progen *p, enum progen_class class,
					  struct text *opcode)
{
	u32 n = (u32)p->rows[class].len;

	for (u32 tries = 0; tries < 100; tries++) {
		bool focus = p->focus < ISA_ROWS && progen_class_of(isa_row(p->focus)) == class &&
			     tries < 20 && progen_chance(p, 50);
		const struct isa_row *row =
			isa_row(focus ? p->focus : p->rows[class].at[progen_below(p, n)]);
		const struct isa_form *f;

		opcode->len = 0;
		make_opcode(p, row, opcode);
		f = isa_match(&p->arena, opcode->at, opcode->len);
		while (f && f->row != row)
			f = f->next;
		if (!f || f->ptx > p->version || !isa_form_on_target(f, p->target) ||
		    isa_form_gone(f, p->target, p->version) ||
		    isa_form_late(f, p->target, p->version))
			continue;
		if (p->wanted && !p->wanted(p->user, f))
			continue;
		return f;
	}
	return NULL;
}

/* ---- operands ---- */

static u64 edge_bits(struct progen *p, u32 bits)
{
	static const u64 edges[] = {0,  1,  2,  3,  4,  7,  8,   15,  16,
				    24, 31, 32, 33, 63, 64, 127, 128, 255};
	u64 x = progen_random(p);

	switch (progen_below(p, 5)) {
	case 0:
		return edges[progen_below(p, ARRAY_LEN(edges))];
	case 1:
		return ~edges[progen_below(p, ARRAY_LEN(edges))];
	case 2:
		return (u64)1 << progen_below(p, bits);
	case 3:
		return ((u64)1 << progen_below(p, bits)) - 1;
	default:
		return x >> progen_below(p, 64);
	}
}

static bool put_range(struct progen *p, u32 first, u32 n, struct text *out)
{
	const struct isa_range *r = isa_ranges(first);
	u32 i = progen_below(p, n),
	    steps = (u32)((r[i].hi - r[i].lo) / (r[i].step ? r[i].step : 1));

	text_printf(out, "%lld", (long long)(r[i].lo + r[i].step * progen_below(p, steps + 1)));
	return true;
}

static void put_constant(struct progen *p, u32 type, struct text *out)
{
	u32 wide = isa_type_bits(type), bits = wide < 64 ? wide : 64;
	u64 x = edge_bits(p, bits);

	if (type == T_f32)
		text_printf(out, "0f%08X",
			    (u32)(progen_chance(p, 50) ? bits_f32((f32)(s32)(s8)x)
						       : (u32)progen_random(p)));
	else if (type == T_f64)
		text_printf(out, "0d%016llX",
			    (unsigned long long)(progen_chance(p, 50) ? bits_f64((f64)(s8)x)
								      : progen_random(p)));
	else if (bits == 64)
		text_printf(out, "0x%llx", (unsigned long long)x);
	else if (isa_type_class(type) == ISA_SINT)
		text_printf(out, "%lld", (long long)((s64)(x << (64 - bits)) >> (64 - bits)));
	else
		text_printf(out, "%llu", (unsigned long long)(x << (64 - bits) >> (64 - bits)));
}

/* Pools whose registers may hold the type: bits always, typed ones of the same kind. */
static bool pool_fits(const struct progen_pool *pool, u32 type, const struct isa_operand *o)
{
	enum isa_class want = isa_type_class(type), have = isa_type_class(pool->word);
	u32 bits = isa_type_bits(type), size = isa_type_bits(pool->word);
	bool wider = o->wider && (want == ISA_UINT || want == ISA_SINT || want == ISA_BITS);

	if (want == ISA_PRED || have == ISA_PRED)
		return want == have;
	if (wider ? size < bits : size != bits)
		return false;
	if (have == ISA_BITS)
		return true;
	if (o->bits_only)
		return false;
	return want == ISA_UINT || want == ISA_SINT ? have == ISA_UINT || have == ISA_SINT
						    : pool->word == type;
}

bool progen_pool_exists(const struct progen *p, const struct progen_pool *pool)
{
	return pool->word != T_b128 || (p->version >= 83 && p->target.sm >= 70);
}

/* A pool with at least `n` registers for the operand; NULL: there is none. */
static const struct progen_pool *choose_pool(struct progen *p, u32 type,
					     const struct isa_operand *o, u32 n)
{
	const struct progen_pool *fits[16];
	u32 len = 0;

	for (u32 i = 0; i < progen_pool_len; i++)
		if (pool_fits(&progen_pools[i], type, o) &&
		    !(p->hardware && progen_pools[i].word == T_b128 && isa_type_bits(type) < 128) &&
		    progen_pool_exists(p, &progen_pools[i]) && progen_pools[i].count >= n)
			fits[len++] = &progen_pools[i];
	return len ? fits[progen_below(p, len)] : NULL;
}

static bool put_register(struct progen *p, u32 type, const struct isa_operand *o, struct text *out)
{
	const struct progen_pool *pool = choose_pool(p, type, o, 1);

	if (!pool)
		return false;
	text_printf(out, "%s%u", pool->name, progen_below(p, pool->count));
	return true;
}

static void put_select(struct progen *p, u32 select, struct text *out)
{
	switch (select) {
	case ISA_SEL_SUBWORD:
		if (progen_chance(p, 50))
			text_printf(out, ".b%u", progen_below(p, 4));
		else
			text_printf(out, ".h%u", progen_below(p, 2));
		break;
	case ISA_SEL_MASK2:
		text_puts(out, (const char *const[]){".h0", ".h1", ".h10"}[progen_below(p, 3)]);
		break;
	case ISA_SEL_MASK4:
		text_puts(out, ".b");
		for (u32 m = 1 + progen_below(p, 15), i = 4; i-- > 0;)
			if (m >> i & 1)
				text_printf(out, "%u", i);
		break;
	case ISA_SEL_LANE2:
		text_printf(out, ".h%u%u", progen_below(p, 4), progen_below(p, 4));
		break;
	default:
		text_printf(out, ".b%u%u%u%u", progen_below(p, 8), progen_below(p, 8),
			    progen_below(p, 8), progen_below(p, 8));
		break;
	}
}

static bool takes_constants(const struct isa_operand *o, u32 type)
{
	enum isa_class class = isa_type_class(type);

	return !(o->role & ISA_WRITE) && !o->register_only && !o->select &&
	       (class == ISA_UINT || class == ISA_SINT || class == ISA_BITS || type == T_f32 ||
		type == T_f64);
}

/* Of constants a compiler may work these out itself, better than a GPU does. */
static bool is_approximate(const struct isa_form *f)
{
	return isa_form_has(f, M_approx) || !strncmp(f->row->name[f->name], "div.full", 8);
}

static bool put_one(struct progen *p, const struct isa_form *f, const struct isa_operand *o,
		    struct text *out)
{
	u32 type = isa_operand_type(f, o);

	if ((o->role & ISA_WRITE) && o->sink && progen_chance(p, 6)) {
		text_puts(out, "_");
		return true;
	}
	if (takes_constants(o, type) && !(p->hardware && is_approximate(f)) &&
	    progen_chance(p, 20)) {
		if (o->ranges)
			return put_range(p, o->first_range, o->ranges, out);
		put_constant(p, type, out);
		return true;
	}
	if (o->negate && progen_chance(p, 30))
		text_puts(out, "!");
	if (o->minus && progen_chance(p, 15))
		text_puts(out, "-");
	if (!put_register(p, type, o, out))
		return false;
	if (o->select && progen_chance(p, 50))
		put_select(p, o->select, out);
	return true;
}

/* The elements of a result are different registers. */
static bool put_results(struct progen *p, const struct isa_form *f, const struct isa_operand *o,
			u32 n, struct text *out)
{
	const struct progen_pool *pool = choose_pool(p, isa_operand_type(f, o), o, n);
	u32 first = pool ? progen_below(p, pool->count) : 0;

	if (!pool)
		return false;
	text_puts(out, "{");
	for (u32 i = 0; i < n; i++) {
		text_puts(out, i ? ", " : "");
		if (o->sink && n > 1 && progen_chance(p, 6))
			text_puts(out, "_");
		else
			text_printf(out, "%s%u", pool->name, (first + i) % pool->count);
	}
	text_puts(out, "}");
	return true;
}

static bool put_value(struct progen *p, const struct isa_form *f, const struct isa_operand *o,
		      struct text *out)
{
	u32 n = isa_operand_count(f, o);
	const struct progen_pool *pool;

	if (n == 1 && !o->braces)
		return put_one(p, f, o, out);
	if (o->role & ISA_WRITE)
		return put_results(p, f, o, n, out);
	/* The elements are of one type, or constants. */
	pool = choose_pool(p, isa_operand_type(f, o), o, 1);
	if (!pool)
		return false;
	text_puts(out, "{");
	for (u32 i = 0; i < n; i++) {
		text_puts(out, i ? ", " : "");
		if (i && takes_constants(o, isa_operand_type(f, o)) && progen_chance(p, 8))
			put_constant(p, isa_operand_type(f, o), out);
		else
			text_printf(out, "%s%u", pool->name, progen_below(p, pool->count));
	}
	text_puts(out, "}");
	return true;
}

/* Special registers that say the same in every engine. */
static bool put_sreg(struct progen *p, const struct isa_form *f, struct text *out)
{
	static const char *const names[] =
		{
			"%tid.x",       "%ntid.x",      "%ctaid.x",     "%nctaid.x",
			"%tid.y",       "%nctaid.z",    "%laneid",      "%lanemask_lt",
			"%lanemask_ge", "%lanemask_eq", "%lanemask_le", "%lanemask_gt",
			"%warpid",      "%nwarpid", /* these two: not on a GPU */
		};
	static const char *const vectors[] = {"%tid", "%ntid", "%ctaid", "%nctaid"};

	if (isa_form_has(f, M_v4))
		text_puts(out, vectors[progen_below(p, ARRAY_LEN(vectors))]);
	else
		text_puts(out, names[progen_below(p, ARRAY_LEN(names) - (p->hardware ? 2 : 0))]);
	return true;
}

static bool put_operand(struct progen *p, const struct isa_form *f, const struct isa_operand *o,
			struct text *before, struct text *out)
{
	if (progen_is_place(f, o))
		return progen_place(p, f, o, before, out);
	switch ((enum isa_operand_kind)o->kind) {
	case ISA_OP_VALUE:
		return put_value(p, f, o, out);
	case ISA_OP_IMM:
		if (o->ranges)
			return put_range(p, o->first_range, o->ranges, out);
		text_printf(out, "%u", progen_below(p, 256));
		return true;
	case ISA_OP_SREG:
		return put_sreg(p, f, out);
	default:
		return false;
	}
}

static bool put_operands(struct progen *p, const struct isa_form *f, struct text *before,
			 struct text *out)
{
	for (u32 i = 0; i < f->row->operands; i++) {
		const struct isa_operand *o = &f->row->operand[i];

		if (o->only_with ? !isa_form_has(f, o->only_with)
				 : o->optional && progen_chance(p, 50))
			continue;
		text_puts(out, !i ? " " : o->bar ? "|" : ", ");
		if (!put_operand(p, f, o, before, out))
			return false;
	}
	return true;
}

/* "%p3|%p3": which result stays is undefined. */
static bool is_twice(const char *operands)
{
	const char *bar = operands ? strchr(operands, '|') : NULL;

	return bar && bar - operands >= 3 && !strncmp(bar - 3, bar + 1, 3);
}

void progen_insn(struct progen *p, enum progen_class class, struct text *out, bool *single)
{
	struct text opcode = {0}, before = {0}, operands = {0};

	*single = true;
	for (u32 tries = 0; tries < 50; tries++) {
		const struct isa_form *f = choose_form(p, class, &opcode);

		before.len = operands.len = 0;
		if (!f)
			break;
		if (!put_operands(p, f, &before, &operands) ||
		    (p->hardware && is_twice(operands.at)))
			continue;
		*single = !before.len;
		text_printf(out, "%.*s%s%.*s;", (int)before.len, before.len ? before.at : "",
			    opcode.at, (int)operands.len, operands.len ? operands.at : "");
		goto out;
	}
	text_puts(out, "add.u32 %r0, %r0, 1;");
out:
	text_fini(&opcode);
	text_fini(&before);
	text_fini(&operands);
}
