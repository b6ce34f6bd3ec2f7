/*
 * The shape of random programs: control flow, memory, calls, warp instructions and barriers around
 * random instructions.
 *
 * Races are avoided by giving every thread memory of its own, and by barriers on both sides of
 * every exchange. Statements
 * in which threads work together stand outside of all branches and loops, or name the lanes that
 * take part by a mask
 * taken before the branch. Loops are counted.
 */
#include "tests/fuzz/progen.h"

#include <stdlib.h>

static const struct progen_target {
	const char *text;
	struct isa_target target;
	u32 version;
} targets[] = {
	{"sm_90", {90, 0}, 87},      {"sm_90", {90, 0}, 87}, {"sm_90", {90, 0}, 87},
	{"sm_100a", {100, 'a'}, 88}, {"sm_80", {80, 0}, 80}, {"sm_70", {70, 0}, 65},
};

/* ---- lines ---- */

static u32 add_line(struct progen *p, enum progen_kind kind, const char *fmt, ...) PL_PRINTF(3, 4);

static u32 add_line(struct progen *p, enum progen_kind kind, const char *fmt, ...)
{
	struct progen_line l = {.kind = (u8)kind};
	struct text t = {0};
	va_list args;

	va_start(args, fmt);
	text_vprintf(&t, fmt, args);
	va_end(args);
	l.text = arena_strdup(&p->arena, t.at, t.len);
	text_fini(&t);
	VEC_PUSH(&p->lines, l);
	return (u32)p->lines.len - 1;
}

static u32 open_line(struct progen *p, const char *text)
{
	return add_line(p, PROGEN_OPEN, "%s", text);
}

static void close_line(struct progen *p, u32 open, const char *text)
{
	u32 at = add_line(p, PROGEN_CLOSE, "%s", text);

	p->lines.at[open].match = at;
}

/* ---- statements ---- */

static void statements(struct progen *p, u32 n);

static void plain(struct progen *p)
{
	struct text t = {0};

	progen_insn(p, &t);
	if (progen_chance(p, 15))
		add_line(p, PROGEN_TEXT, "@%s%%p%u %s", progen_chance(p, 50) ? "!" : "",
			 progen_below(p, 8), t.at);
	else
		add_line(p, PROGEN_TEXT, "%s", t.at);
	text_fini(&t);
}

static void branch(struct progen *p)
{
	u32 label = p->labels++, open;
	char text[96];

	snprintf(text, sizeof(text), "@%s%%p%u bra E%u;", progen_chance(p, 50) ? "!" : "",
		 progen_below(p, 8), label);
	open = open_line(p, text);
	statements(p, 1 + progen_below(p, 5));
	if (progen_chance(p, 50)) {
		add_line(p, PROGEN_MIDDLE, "bra F%u; E%u:", label, label);
		statements(p, 1 + progen_below(p, 4));
		snprintf(text, sizeof(text), "F%u:", label);
	} else {
		snprintf(text, sizeof(text), "E%u:", label);
	}
	close_line(p, open, text);
}

/* Trips are data: 1 to 8, fewer inside of other loops. */
static void loop(struct progen *p)
{
	u32 label = p->labels++, counter = p->loops++, open;
	char text[160];

	snprintf(text, sizeof(text), "and.b32 %%lb%u, %%r%u, %u; mov.u32 %%lc%u, 0; L%u:", counter,
		 progen_below(p, 10), p->depth ? 3u : 7u, counter, label);
	open = open_line(p, text);
	statements(p, 1 + progen_below(p, 4));
	if (progen_chance(p, 30))
		add_line(p, PROGEN_TEXT, "@%%p%u bra X%u;", progen_below(p, 8), label);
	if (progen_chance(p, 50))
		statements(p, 1 + progen_below(p, 2));
	snprintf(
		text, sizeof(text),
		"add.u32 %%lc%u, %%lc%u, 1; setp.le.u32 %%lp%u, %%lc%u, %%lb%u; @%%lp%u bra L%u; "
		"X%u:",
		counter, counter, counter, counter, counter, counter, label, label);
	close_line(p, open, text);
}

static void table(struct progen *p)
{
	u32 label = p->labels++, open;
	char text[160];

	snprintf(
		text, sizeof(text),
		"T%u: .branchtargets A%u, B%u, C%u, A%u; and.b32 %%ti, %%r%u, 3; brx.idx %%ti, "
		"T%u; A%u:",
		label, label, label, label, label, progen_below(p, 10), label, label);
	open = open_line(p, text);
	statements(p, 1 + progen_below(p, 2));
	add_line(p, PROGEN_MIDDLE, "bra D%u; B%u:", label, label);
	statements(p, 1 + progen_below(p, 2));
	add_line(p, PROGEN_MIDDLE, "C%u:", label);
	statements(p, 1);
	snprintf(text, sizeof(text), "D%u:", label);
	close_line(p, open, text);
}

static const struct access {
	const char *type, *reg;
	u32 bytes, count;
} accesses[] = {
	{"u8", "%r", 1, 1},     {"s8", "%r", 1, 1},      {"b8", "%h", 1, 1},
	{"u16", "%r", 2, 1},    {"s16", "%d", 2, 1},     {"b16", "%h", 2, 1},
	{"u32", "%r", 4, 1},    {"s32", "%d", 4, 1},     {"f32", "%f", 4, 1},
	{"u64", "%d", 8, 1},    {"f64", "%g", 8, 1},     {"s8", "%h", 1, 1},
	{"v2.u32", "%r", 8, 2}, {"v4.b32", "%r", 16, 4}, {"v2.u64", "%d", 16, 2},
	{"v4.u8", "%r", 4, 4},  {"v2.s16", "%r", 4, 2},  {"v2.f32", "%f", 8, 2},
	{"v4.s16", "%h", 8, 4}, {"v2.f64", "%g", 16, 2},
};

static void put_data(struct progen *p, const struct access *a, struct text *t)
{
	u32 limit = a->reg[1] == 'f' || a->reg[1] == 'g' ? 4 : 8, first = progen_below(p, limit);

	text_puts(t, a->count > 1 ? "{" : "");
	for (u32 i = 0; i < a->count; i++)
		text_printf(t, "%s%s%u", i ? ", " : "", a->reg, (first + i) % limit);
	text_puts(t, a->count > 1 ? "}" : "");
}

/* The thread's own input, read only; local memory; its own part of the output behind the registers. */
static void memory(struct progen *p)
{
	const struct access *a = &accesses[progen_below(p, ARRAY_LEN(accesses))];
	u32 where = p->in_function ? 0 : progen_below(p, 6), size = 256, offset;
	static const char *const space[] = {"local", "global", "global", "", "shared", ""};
	static const char *const base[] = {"loc", "%in", "%priv", "%gloc", "%tsh", "%gsh"};
	bool dynamic = where == 0 && progen_chance(p, 40);
	struct text t = {0}, data = {0};

	size = where == 1 ? PROGEN_IN : where >= 4 ? 32 : 256;
	offset = progen_below(p, size / a->bytes) * a->bytes;
	put_data(p, a, &data);
	if (dynamic)
		text_printf(
			&t,
			"and.b32 %%ti, %%r%u, 15; shl.b32 %%ti, %%ti, 4; mov.u32 %%tl, loc; "
			"add.u32 %%tl, %%tl, %%ti; ",
			progen_below(p, 10));
	if (where != 1 && progen_chance(p, 50))
		text_printf(&t, "st%s%s.%s [%s+%u], %s;", *space[where] ? "." : "", space[where],
			    a->type, dynamic ? "%tl" : base[where], dynamic ? 0 : offset, data.at);
	else
		text_printf(&t, "ld%s%s.%s %s, [%s+%u];", *space[where] ? "." : "", space[where],
			    a->type, data.at, dynamic ? "%tl" : base[where], dynamic ? 0 : offset);
	add_line(p, PROGEN_TEXT, "%s", t.at);
	text_fini(&t);
	text_fini(&data);
}

/* On memory of the thread alone, so that results do not depend on order. */
static void atomic(struct progen *p)
{
	static const char *const ops[] = {"add.u32", "add.s32", "min.u32",  "max.s32", "and.b32",
					  "or.b32",  "xor.b32", "exch.b32", "inc.u32", "dec.u32"};
	static const char *const wide[] = {"add.u64", "min.s64", "max.u64", "exch.b64", "xor.b64"};
	static const char *const from[] = {".global.", ".shared.", "."}, *const base[] = {"%priv",
											  "%tsh",
											  "%gsh"};
	u32 w = progen_below(p, 3), off = progen_below(p, 4) * 8;

	switch (progen_below(p, 4)) {
	case 0:
		add_line(p, PROGEN_TEXT, "atom%s%s %%d%u, [%s+%u], %%d%u;", from[w],
			 wide[progen_below(p, ARRAY_LEN(wide))], progen_below(p, 10), base[w], off,
			 progen_below(p, 10));
		break;
	case 1:
		add_line(p, PROGEN_TEXT, "atom%scas.b32 %%r%u, [%s+%u], %%r%u, %%r%u;", from[w],
			 progen_below(p, 10), base[w], off, progen_below(p, 10),
			 progen_below(p, 10));
		break;
	case 2:
		add_line(p, PROGEN_TEXT, "atom%sadd.f32 %%f%u, [%s+%u], %%f%u;", from[w],
			 progen_below(p, 4), base[w], off, progen_below(p, 4));
		break;
	default:
		add_line(p, PROGEN_TEXT, "atom%s%s %%r%u, [%s+%u], %%r%u;", from[w],
			 ops[progen_below(p, ARRAY_LEN(ops))], progen_below(p, 10), base[w], off,
			 progen_below(p, 10));
		break;
	}
}

/* The carry flag does not survive: it is made anew. */
static void call(struct progen *p)
{
	u32 f = progen_below(p, 3), a = progen_below(p, 10), b = progen_below(p, 10),
	    d = progen_below(p, 10), e = progen_below(p, 10);
	char target[64];

	if (progen_chance(p, 30)) {
		u32 label = p->labels++;

		snprintf(target, sizeof(target), "%%fp, (q0, q1), P%u", label);
		add_line(
			p, PROGEN_TEXT,
			"{ .param .b32 q0; .param .b64 q1; .param .b64 o0; st.param.b32 [q0], "
			"%%r%u; st.param.b64 [q1], %%d%u; "
			"P%u: .callprototype (.param .b64 _) _ (.param .b32 _, .param .b64 _); "
			"and.b32 %%ti, %%r%u, 1; "
			"mov.u64 %%fp, fn0; mov.u64 %%fq, fn1; setp.eq.u32 %%fs, %%ti, 0; "
			"selp.b64 %%fp, %%fp, %%fq, %%fs; "
			"call (o0), %s; ld.param.b64 %%d%u, [o0]; add.cc.u32 %%ti, %%r%u, %%r%u; }",
			a, b, label, e, target, d, e, a);
		return;
	}
	add_line(
		p, PROGEN_TEXT,
		"{ .param .b32 q0; .param .b64 q1; .param .b64 o0; st.param.b32 [q0], %%r%u; "
		"st.param.b64 [q1], %%d%u; "
		"call (o0), fn%u, (q0, q1); ld.param.b64 %%d%u, [o0]; add.cc.u32 %%ti, %%r%u, "
		"%%r%u; }",
		a, b, f, d, e, a);
}

/* ---- together ---- */

/* Lanes of the whole warp, outside of all branches. */
static void warp(struct progen *p)
{
	static const char *const shfl[] = {"up", "down", "bfly", "idx"}, *const vote[] = {"all",
											  "any",
											  "uni"};
	static const char *const redux[] = {"add.u32", "min.s32", "max.u32", "and.b32",
					    "or.b32",  "xor.b32", "add.s32", "min.u32"};
	u32 d = progen_below(p, 10), a = progen_below(p, 10), b = progen_below(p, 10),
	    q = progen_below(p, 8), mode = progen_below(p, 4);

	switch (progen_below(p, p->target.sm >= 80 ? 7 : 6)) {
	case 0:
	case 1:
		if (p->full_warps) {
			u32 width = 1u << progen_below(p, 6);

			add_line(p, PROGEN_TEXT, "shfl.sync.%s.b32 %%r%u|%%p%u, %%r%u, %u, %u, -1;",
				 shfl[mode], d, q, a, progen_below(p, 32),
				 (32 - width) << 8 | (mode ? 31 : 0));
		}
		break;
	case 2:
		add_line(p, PROGEN_TEXT, "vote.sync.%s.pred %%p%u, %%p%u, -1;",
			 vote[progen_below(p, 3)], q, progen_below(p, 8));
		break;
	case 3:
		add_line(p, PROGEN_TEXT, "vote.sync.ballot.b32 %%r%u, %%p%u, -1;", d, q);
		break;
	case 4:
		add_line(p, PROGEN_TEXT,
			 "and.b32 %%ti, %%r%u, 3; match.sync.any.b32 %%r%u, %%ti, -1;", a, d);
		break;
	case 5:
		add_line(p, PROGEN_TEXT, "match.sync.all.b64 %%r%u|%%p%u, %%d%u, -1;", d, q, b);
		break;
	default:
		add_line(p, PROGEN_TEXT, "redux.sync.%s %%r%u, %%r%u, -1;",
			 redux[progen_below(p, ARRAY_LEN(redux))], d, a);
		break;
	}
}

/* Some lanes of a warp, those that take a branch. */
static void some_lanes(struct progen *p)
{
	u32 label = p->labels++, d = progen_below(p, 10), a = progen_below(p, 10),
	    q = progen_below(p, 8);
	char text[96];
	u32 open;

	snprintf(text, sizeof(text), "vote.sync.ballot.b32 %%tm, %%p%u, -1; @!%%p%u bra E%u;", q, q,
		 label);
	open = open_line(p, text);
	statements(p, progen_below(p, 2));
	add_line(p, PROGEN_TEXT, "bar.warp.sync %%tm;");
	add_line(p, PROGEN_TEXT, "vote.sync.ballot.b32 %%r%u, %%p%u, %%tm;", d, progen_below(p, 8));
	add_line(p, PROGEN_TEXT, "match.sync.any.b32 %%r%u, %%r%u, %%tm;", d, a);
	if (p->target.sm >= 80)
		add_line(p, PROGEN_TEXT, "redux.sync.add.s32 %%r%u, %%r%u, %%tm;", d, a);
	snprintf(text, sizeof(text), "E%u:", label);
	close_line(p, open, text);
}

static void exchange(struct progen *p)
{
	u32 a = progen_below(p, 10), d = progen_below(p, 10), q = progen_below(p, 8);

	switch (progen_below(p, 4)) {
	case 0: /* every thread reads another's word */
		add_line(
			p, PROGEN_TEXT,
			"bar.sync 0; st.shared.u32 [%%tsh], %%r%u; bar.sync 0; mad.lo.u32 %%ti, "
			"%%tn, %u, %u; rem.u32 %%ti, %%ti, %%nt; "
			"shl.b32 %%ti, %%ti, 5; mov.u32 %%tl, sh; add.u32 %%tl, %%tl, %%ti; "
			"ld.shared.u32 %%r%u, [%%tl]; bar.sync 0;",
			a, 1 + progen_below(p, 7), progen_below(p, 64), d);
		break;
	case 1: /* sums of whole numbers do not depend on order */
		add_line(
			p, PROGEN_TEXT,
			"bar.sync 0; st.shared.u32 [cnt], 7; bar.sync 0; and.b32 %%ti, %%r%u, "
			"255; red.shared.%s.u32 [cnt], %%ti; bar.sync 0; "
			"ld.shared.u32 %%r%u, [cnt]; bar.sync 0;",
			a, progen_chance(p, 50) ? "add" : "max", d);
		break;
	case 2:
		add_line(p, PROGEN_TEXT, "bar.red.popc.u32 %%r%u, 1, %%p%u;", d, q);
		break;
	default:
		add_line(p, PROGEN_TEXT, "bar.red.%s.pred %%p%u, 2, %s%%p%u;",
			 progen_chance(p, 50) ? "and" : "or", q, progen_chance(p, 50) ? "!" : "",
			 progen_below(p, 8));
		break;
	}
}

static void statement(struct progen *p)
{
	u32 x = progen_below(p, 100);

	if (p->in_function)
		x = x < 85 ? 0 : 70;
	if (x < 60)
		plain(p);
	else if (x < 66 && p->depth < 3)
		branch(p);
	else if (x < 70 && p->depth < 2 && p->loops < 8)
		loop(p);
	else if (x < 79)
		memory(p);
	else if (x < 82)
		atomic(p);
	else if (x < 84 && p->depth < 3)
		table(p);
	else if (x < 88 && p->calls)
		call(p);
	else if (x < 94 && !p->depth)
		warp(p);
	else if (x < 96 && !p->depth)
		some_lanes(p);
	else if (x < 100 && !p->depth)
		exchange(p);
	else
		plain(p);
}

static void statements(struct progen *p, u32 n)
{
	p->depth++;
	for (u32 i = 0; i < n; i++)
		statement(p);
	p->depth--;
}

/* ---- around ---- */

static void declare(struct progen *p)
{
	for (u32 i = 0; i < progen_pool_len; i++)
		add_line(p, PROGEN_FIXED, ".reg .%s %s<%u>;", progen_pools[i].type,
			 progen_pools[i].name, progen_pools[i].count);
	add_line(
		p, PROGEN_FIXED,
		".reg .u32 %%ti, %%tl, %%tm, %%tsh, %%tn, %%nt; .reg .u64 %%in, %%priv, %%gloc, "
		"%%gsh, %%fp, %%fq; .reg .pred %%fs;");
	add_line(p, PROGEN_FIXED,
		 ".reg .u32 %%lb<8>, %%lc<8>; .reg .pred %%lp<8>; .local .align 16 .b8 loc[256];");
}

/* fn0 and fn1 are random, fn2 calls itself. */
static void function(struct progen *p, u32 number)
{
	add_line(p, PROGEN_FIXED, ".func (.param .b64 o) fn%u(.param .b32 a, .param .b64 b)\n{",
		 number);
	declare(p);
	for (u32 i = 0; i < progen_pool_len; i++)
		for (u32 k = 0; k < progen_pools[i].count; k++) {
			const struct progen_pool *q = &progen_pools[i];

			if (q->word == T_pred)
				add_line(p, PROGEN_FIXED, "setp.ne.u32 %%p%u, %u, 1;", k, k % 2);
			else
				add_line(p, PROGEN_FIXED, "mov.%s %s%u, %s%u;", q->type, q->name, k,
					 q->word == T_f32   ? "0f3F80000"
					 : q->word == T_f64 ? "0d3FF000000000000"
							    : "",
					 k);
		}
	add_line(p, PROGEN_FIXED, "st.local.v2.u64 [loc], {%%d1, %%d2};");
	for (u32 i = 16; i < 256; i += 16)
		add_line(p, PROGEN_FIXED, "st.local.v2.u64 [loc+%u], {%%d%u, %%d%u};", i,
			 i / 16 % 10, i / 32 % 10);
	add_line(p, PROGEN_FIXED,
		 "ld.param.b32 %%r0, [a]; ld.param.b64 %%d0, [b]; add.cc.u32 %%ti, %%r0, 5;");
	if (number == 2) {
		add_line(
			p, PROGEN_FIXED,
			"and.b32 %%r1, %%r0, 7; setp.eq.u32 %%p0, %%r1, 0; @%%p0 bra END; "
			"sub.u32 %%r2, %%r1, 1; xor.b64 %%d1, %%d0, 0x5555; "
			"{ .param .b32 q0; .param .b64 q1; .param .b64 o0; st.param.b32 [q0], "
			"%%r2; st.param.b64 [q1], %%d1; "
			"call (o0), fn2, (q0, q1); ld.param.b64 %%d2, [o0]; } mad.lo.u64 %%d0, "
			"%%d2, 3, %%d0; END:");
	} else {
		p->in_function = true;
		statements(p, 3 + progen_below(p, 6));
		p->in_function = false;
	}
	add_line(
		p, PROGEN_FIXED,
		"cvt.u64.u32 %%d1, %%r0; xor.b64 %%d0, %%d0, %%d1; st.param.b64 [o], %%d0; "
		"ret;\n}");
}

static void begin(struct progen *p)
{
	u32 in = 0;

	add_line(
		p, PROGEN_FIXED,
		".visible .entry k(.param .u64 pin, .param .u64 pout, .param .u32 pn)\n{ .reg "
		".u64 %%out; .reg .u32 %%gt, %%ct; .shared .align 32 .b8 sh[%u]; .shared .u32 cnt;",
		p->block * 32);
	declare(p);
	add_line(
		p, PROGEN_FIXED,
		"ld.param.u64 %%in, [pin]; ld.param.u64 %%out, [pout]; mov.u32 %%tn, %%tid.x; "
		"mov.u32 %%nt, %%ntid.x; mov.u32 %%ct, %%ctaid.x; "
		"mad.lo.u32 %%gt, %%ct, %%nt, %%tn; mad.wide.u32 %%in, %%gt, %u, %%in; "
		"mad.wide.u32 %%out, %%gt, %u, %%out; add.u64 %%priv, %%out, 512;",
		PROGEN_IN, PROGEN_OUT);
	add_line(
		p, PROGEN_FIXED,
		"mov.u32 %%tsh, sh; shl.b32 %%ti, %%tn, 5; add.u32 %%tsh, %%tsh, %%ti; "
		"cvt.u64.u32 %%gsh, %%tsh; cvta.shared.u64 %%gsh, %%gsh; "
		"mov.u64 %%gloc, loc; cvta.local.u64 %%gloc, %%gloc;");
	for (u32 i = 0; i < progen_pool_len; i++)
		for (u32 k = 0; k < progen_pools[i].count; k++, in += 8) {
			const struct progen_pool *q = &progen_pools[i];

			if (q->word == T_pred)
				add_line(
					p, PROGEN_FIXED,
					"ld.global.u32 %%ti, [%%in+%u]; and.b32 %%ti, %%ti, 1; "
					"setp.ne.u32 %%p%u, %%ti, 0;",
					in, k);
			else
				add_line(p, PROGEN_FIXED, "ld.global.%s %s%u, [%%in+%u];", q->type,
					 q->name, k, in);
		}
	for (u32 i = 0; i < 256; i += 16)
		add_line(
			p, PROGEN_FIXED,
			"st.local.v2.u64 [loc+%u], {%%d%u, %%d%u}; st.global.v2.u64 [%%priv+%u], "
			"{%%d%u, %%d%u};",
			i, i / 16 % 10, i / 32 % 10, i, i / 16 % 10, i / 64 % 10);
	add_line(
		p, PROGEN_FIXED,
		"st.shared.v2.u64 [%%tsh], {%%d1, %%d2}; st.shared.v2.u64 [%%tsh+16], {%%d3, "
		"%%d4}; mov.u32 %%ti, 0; mov.u32 %%tl, 0; mov.u32 %%tm, 0; add.cc.u32 %%ti, "
		"%%r0, %%r1; bar.sync 0;");
}

static void end(struct progen *p)
{
	u32 at = 0;

	for (u32 i = 0; i < progen_pool_len; i++)
		for (u32 k = 0; k < progen_pools[i].count; k++, at += 8) {
			const struct progen_pool *q = &progen_pools[i];

			if (q->word == T_pred)
				add_line(
					p, PROGEN_FIXED,
					"selp.u32 %%ti, 1, 0, %%p%u; st.global.u32 [%%out+%u], "
					"%%ti;",
					k, at);
			else
				add_line(p, PROGEN_FIXED, "st.global.%s [%%out+%u], %s%u;", q->type,
					 at, q->name, k);
		}
	add_line(p, PROGEN_FIXED, "addc.u32 %%ti, 0, 0; st.global.u32 [%%out+%u], %%ti; ret;\n}",
		 at);
}

void progen_init(struct progen *p, u64 seed, u32 flags,
		 bool (*wanted)(void *, const struct isa_form *), void *user)
{
	static const u32 blocks[] = {32, 32, 64, 96, 128, 256, 1, 7, 45, 100};
	const struct progen_target *t;

	*p = (struct progen){.state = seed * 0x2545f4914f6cdd1du + 1,
			     .seed = seed,
			     .wanted = wanted,
			     .user = user};
	t = &targets[progen_below(p, ARRAY_LEN(targets))];
	p->target = t->target;
	p->target_text = t->text;
	p->version = t->version;
	p->block = blocks[progen_below(p, ARRAY_LEN(blocks))];
	p->grid = 1 + progen_below(p, 3);
	p->full_warps = p->block % 32 == 0;
	p->calls = progen_chance(p, 50) && !(flags & PROGEN_NO_CALLS);
	add_line(p, PROGEN_FIXED, ".version %u.%u\n.target %s\n.address_size 64", t->version / 10,
		 t->version % 10, t->text);
	for (u32 i = 0; i < 3 && p->calls; i++)
		function(p, i);
	begin(p);
	for (u32 n = 5 + progen_below(p, 40), i = 0; i < n; i++)
		statement(p);
	end(p);
}

void progen_fini(struct progen *p)
{
	arena_fini(&p->arena);
	VEC_FREE(&p->lines);
}

/* Walk the lines that are on. `at`: which of them is wanted, by line of the text. */
static u32 walk(const struct progen *p, const u8 *off, struct text *out, u32 at)
{
	u32 line = 1;

	for (u32 i = 0; i < p->lines.len; i++) {
		const struct progen_line *l = &p->lines.at[i];

		if (off && off[i] && l->kind == PROGEN_OPEN) {
			i = l->match;
			continue;
		}
		if (off && off[i] && l->kind == PROGEN_TEXT)
			continue;
		for (const char *c = l->text; c; c = strchr(c, '\n') ? strchr(c, '\n') + 1 : NULL)
			if (line++ == at)
				return i;
		if (out)
			text_printf(out, "%s\n", l->text);
	}
	return UINT32_MAX;
}

char *progen_text(const struct progen *p, const u8 *off)
{
	struct text t = {0};

	walk(p, off, &t, 0);
	return t.at;
}

u32 progen_line_at(const struct progen *p, const u8 *off, u32 at)
{
	u32 i = walk(p, off, NULL, at);

	return i != UINT32_MAX && (p->lines.at[i].kind == PROGEN_TEXT ||
				   p->lines.at[i].kind == PROGEN_OPEN)
		       ? i
		       : UINT32_MAX;
}

void progen_input(const struct progen *p, u8 *in)
{
	static const u64 edges[] = {0,
				    1,
				    2,
				    0x7f,
				    0x80,
				    0xff,
				    0x7fff,
				    0x8000,
				    0xffff,
				    0x7fffffff,
				    0x80000000,
				    0xffffffff,
				    0x3f800000,
				    0xbf800000,
				    0x7f800000,
				    0xff800000,
				    0x7fc00000,
				    0x7f800001,
				    0x00800000,
				    0x007fffff,
				    0x00000001,
				    0x3ff0000000000000,
				    0x7ff0000000000000,
				    0x7ff8000000000001,
				    0xfff0000000000001,
				    0x8000000000000000,
				    0x7fffffffffffffff,
				    0xffffffffffffffff,
				    0x000fffffffffffff,
				    0x3c003c00,
				    0x7c00fc00,
				    0x7e00,
				    0x0400,
				    0x03ff};
	struct progen r = {.state = p->seed ^ 0x1234567};
	u64 n = (u64)PROGEN_IN / 8 * p->grid * p->block;

	for (u64 i = 0; i < n; i++) {
		u64 x = progen_random(&r), kind = progen_below(&r, 8);

		if (kind == 0)
			x = edges[progen_below(&r, ARRAY_LEN(edges))];
		else if (kind == 1)
			x >>= progen_below(&r, 64);
		else if (kind == 2) /* moderate floats */
			x = bits_f32((f32)(s32)(s16)x / 16.0f) | (u64)bits_f32((f32)(s16)(x >> 16))
									 << 32;
		else if (kind == 3)
			x = bits_f64((f64)(s32)x / 256.0);
		memcpy(in + i * 8, &x, 8);
	}
}
