/*
 * The shape of random programs: control flow, memory, calls around random instructions. Races are
 * avoided by giving every thread memory of its own, and by barriers on both sides of every
 * exchange. Statements in which threads work together stand outside of all branches and loops, or
 * name the lanes that take part by a mask taken before the branch. Loops are counted.
 */
#include "tests/fuzz/progen.h"

#include <stdlib.h>

static const struct progen_target {
	const char *text;
	struct isa_target target;
	u32 version;
} targets[] = {
	{"sm_90", {90, 0}, 87},      {"sm_90", {90, 0}, 87},      {"sm_90", {90, 0}, 87},
	{"sm_100a", {100, 'a'}, 93}, {"sm_80", {80, 0}, 80},      {"sm_70", {70, 0}, 65},
	{"sm_60", {60, 0}, 63},      {"sm_120a", {120, 'a'}, 93},
};

/* ---- lines ---- */

u32 progen_line(struct progen *p, enum progen_kind kind, const char *fmt, ...)
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

u32 progen_open(struct progen *p, const char *text)
{
	return progen_line(p, PROGEN_OPEN, "%s", text);
}

void progen_close(struct progen *p, u32 open, const char *text)
{
	u32 at = progen_line(p, PROGEN_CLOSE, "%s", text);

	p->lines.at[open].match = at;
}

/* ---- statements ---- */

/*
 * Instructions that a compiler makes several of, of which only the first keeps the guard: see
 * form_cross.
 */
static bool drops_guard(const char *text)
{
	return !strncmp(text, "set.", 4) || !strncmp(text, "testp", 5) ||
	       !strncmp(text, "abs", 3) || !strncmp(text, "cvt.pack", 8) ||
	       (text[0] == 'v' && strstr(text, ".add"));
}

static void plain(struct progen *p, enum progen_class class)
{
	struct text t = {0};
	bool single;

	progen_insn(p, class, &t, &single);
	single &= !p->hardware || !drops_guard(t.at);
	if (single && progen_chance(p, class == PROGEN_SCALAR ? 15 : 25))
		progen_line(p, PROGEN_TEXT, "@%s%%p%u %s", progen_chance(p, 50) ? "!" : "",
			    progen_below(p, 8), t.at);
	else
		progen_line(p, PROGEN_TEXT, "%s", t.at);
	text_fini(&t);
}

static void branch(struct progen *p)
{
	u32 label = p->labels++, open;
	char text[96];

	snprintf(text, sizeof(text), "@%s%%p%u bra E%u;", progen_chance(p, 50) ? "!" : "",
		 progen_below(p, 8), label);
	open = progen_open(p, text);
	progen_statements(p, 1 + progen_below(p, 5));
	if (progen_chance(p, 50)) {
		progen_line(p, PROGEN_MIDDLE, "bra F%u; E%u:", label, label);
		progen_statements(p, 1 + progen_below(p, 4));
		snprintf(text, sizeof(text), "F%u:", label);
	} else {
		snprintf(text, sizeof(text), "E%u:", label);
	}
	progen_close(p, open, text);
}

/* Trips are data: 1 to 8, fewer inside of other loops. */
static void loop(struct progen *p)
{
	u32 label = p->labels++, counter = p->loops++, open;
	bool inside = p->in_loop;
	char text[160];

	snprintf(text, sizeof(text), "and.b32 %%lb%u, %%r%u, %u; mov.u32 %%lc%u, 0; L%u:", counter,
		 progen_below(p, 10), p->depth > 1 || p->function != PROGEN_KERNEL ? 3u : 7u,
		 counter, label);
	p->in_loop = true;
	open = progen_open(p, text);
	progen_statements(p, 1 + progen_below(p, 4));
	if (progen_chance(p, 30))
		progen_line(p, PROGEN_TEXT, "@%%p%u bra X%u;", progen_below(p, 8), label);
	if (progen_chance(p, 50))
		progen_statements(p, 1 + progen_below(p, 2));
	snprintf(text, sizeof(text),
		 "add.u32 %%lc%u, %%lc%u, 1; setp.le.u32 %%lp%u, %%lc%u, %%lb%u; @%%lp%u bra L%u; "
		 "X%u:",
		 counter, counter, counter, counter, counter, counter, label, label);
	progen_close(p, open, text);
	p->in_loop = inside;
}

static void table(struct progen *p)
{
	u32 label = p->labels++, open;
	char text[160];

	snprintf(text, sizeof(text),
		 "T%u: .branchtargets A%u, B%u, C%u, A%u; and.b32 %%ti, %%r%u, 3; brx.idx %%ti, "
		 "T%u; A%u:",
		 label, label, label, label, label, progen_below(p, 10), label, label);
	open = progen_open(p, text);
	progen_statements(p, 1 + progen_below(p, 2));
	progen_line(p, PROGEN_MIDDLE, "bra D%u; B%u:", label, label);
	progen_statements(p, 1 + progen_below(p, 2));
	progen_line(p, PROGEN_MIDDLE, "C%u:", label);
	progen_statements(p, 1);
	snprintf(text, sizeof(text), "D%u:", label);
	progen_close(p, open, text);
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

/*
 * The thread's own input, read only; local memory; its own part of the output behind the registers.
 */
static void memory(struct progen *p)
{
	const struct access *a = &accesses[progen_below(p, ARRAY_LEN(accesses))];
	u32 where = progen_below(p, 6), size = 256, offset;
	static const char *const space[] = {"local", "global", "global", "", "shared", ""};
	static const char *const base[] = {"loc", "%in", "%priv", "%gloc", "%tsh", "%gsh"};
	bool dynamic = where == 0 && progen_chance(p, 40);
	struct text t = {0}, data = {0};

	size = where == 1 ? PROGEN_IN : where >= 4 ? 32 : 256;
	offset = progen_below(p, size / a->bytes) * a->bytes;
	put_data(p, a, &data);
	if (dynamic)
		text_printf(&t,
			    "and.b32 %%ti, %%r%u, 15; shl.b32 %%ti, %%ti, 4; mov.u32 %%tl, loc; "
			    "add.u32 %%tl, %%tl, %%ti; ",
			    progen_below(p, 10));
	if (where != 1 && progen_chance(p, 50))
		text_printf(&t, "st%s%s.%s [%s+%u], %s;", *space[where] ? "." : "", space[where],
			    a->type, dynamic ? "%tl" : base[where], dynamic ? 0 : offset, data.at);
	else
		text_printf(&t, "ld%s%s.%s %s, [%s+%u];", *space[where] ? "." : "", space[where],
			    a->type, data.at, dynamic ? "%tl" : base[where], dynamic ? 0 : offset);
	progen_line(p, PROGEN_TEXT, "%s", t.at);
	text_fini(&t);
	text_fini(&data);
}

/* All threads of the grid on one word, by an operation whose order does not matter. */
static void common(struct progen *p)
{
	static const struct {
		const char *op;
		u32 at;
		const char *reg;
	} words[] = {
		{"add.u32", 0, "%r"},  {"add.u64", 8, "%d"},  {"min.s32", 16, "%r"},
		{"max.u32", 20, "%r"}, {"and.b32", 24, "%r"}, {"or.b32", 28, "%r"},
		{"xor.b32", 32, "%r"}, {"max.s64", 40, "%d"}, {"min.u64", 48, "%d"},
		{"xor.b64", 56, "%d"}, {"add.s32", 64, "%r"}, {"and.b64", 72, "%d"},
	};
	static const char *const scopes[] = {"", ".gpu", ".sys", ".relaxed.gpu", ".relaxed.sys"};
	u32 i = progen_below(p, ARRAY_LEN(words)),
	    scope = progen_below(p, p->target.sm >= 70 ? 5 : 3);

	if (p->function != PROGEN_KERNEL)
		return;
	progen_line(p, PROGEN_TEXT, "%s%s%s%s.%s [%%com+%u], %s%u;",
		    progen_chance(p, 20) ? "@%p3 " : "", "red", scopes[scope],
		    progen_chance(p, 70) ? ".global" : "", words[i].op, words[i].at, words[i].reg,
		    progen_below(p, 10));
}

/* Some threads end here: from the kernel's body to the end of it, from functions at once. */
static void leave(struct progen *p)
{
	if (!p->leaves || p->in_loop)
		return;
	if (p->function == PROGEN_KERNEL && !p->depth)
		progen_line(p, PROGEN_TEXT,
			    "and.b32 %%ti, %%r%u, 3; setp.eq.u32 %%fs, %%ti, %u; "
			    "@%%fs bra FIN;",
			    progen_below(p, 10), progen_below(p, 4));
	else if (p->function < 2)
		progen_line(p, PROGEN_TEXT,
			    "and.b32 %%ti, %%r%u, 7; setp.eq.u32 %%fs, %%ti, %u; "
			    "@%%fs exit;",
			    progen_below(p, 10), progen_below(p, 8));
}

/* The carry flag does not survive: it is made anew. */
static void call(struct progen *p)
{
	u32 a = progen_below(p, 10), b = progen_below(p, 10), d = progen_below(p, 10),
	    e = progen_below(p, 10), first = p->function == PROGEN_KERNEL ? 0 : p->function + 1,
	    f = first + (first < 3 ? progen_below(p, 3 - first) : 0);
	char target[64];

	if (p->function == PROGEN_KERNEL && !p->depth && progen_chance(p, 40)) {
		progen_line(p, PROGEN_TEXT,
			    "{ .param .b32 q0; .param .b64 q1; .param .b64 o0; st.param.b32 [q0], "
			    "%%r%u; st.param.b64 [q1], %%d%u; call (o0), fn3, (q0, q1); "
			    "ld.param.b64 %%d%u, [o0]; add.cc.u32 %%ti, %%r%u, %%r%u; }",
			    a, b, d, e, a);
		return;
	}
	/* Functions call those with a higher number, and not in loops: the work stays small. */
	if (first > 2 || (first && p->in_loop))
		return;
	if (progen_chance(p, 30)) {
		u32 label = p->labels++;

		snprintf(target, sizeof(target), "%%fp, (q0, q1), P%u", label);
		progen_line(
			p, PROGEN_TEXT,
			"{ .param .b32 q0; .param .b64 q1; .param .b64 o0; st.param.b32 [q0], "
			"%%r%u; st.param.b64 [q1], %%d%u; "
			"P%u: .callprototype (.param .b64 _) _ (.param .b32 _, .param .b64 _); "
			"and.b32 %%ti, %%r%u, 1; "
			"mov.u64 %%fp, fn%u; mov.u64 %%fq, fn2; setp.eq.u32 %%fs, %%ti, 0; "
			"selp.b64 %%fp, %%fp, %%fq, %%fs; "
			"call (o0), %s; ld.param.b64 %%d%u, [o0]; add.cc.u32 %%ti, %%r%u, %%r%u; }",
			a, b, label, e, f, target, d, e, a);
		return;
	}
	progen_line(p, PROGEN_TEXT,
		    "{ .param .b32 q0; .param .b64 q1; .param .b64 o0; st.param.b32 [q0], %%r%u; "
		    "st.param.b64 [q1], %%d%u; "
		    "call (o0), fn%u, (q0, q1); ld.param.b64 %%d%u, [o0]; add.cc.u32 %%ti, %%r%u, "
		    "%%r%u; }",
		    a, b, f, d, e, a);
}

static void statement(struct progen *p)
{
	u32 x = progen_below(p, 100);

	if (x < 50)
		plain(p, PROGEN_SCALAR);
	else if (x < 60)
		plain(p, PROGEN_MEMORY);
	else if (x < 66 && p->depth < 3)
		branch(p);
	else if (x < 70 && p->depth < 2 && !(p->in_loop && p->function != PROGEN_KERNEL) &&
		 p->loops < 8)
		loop(p);
	else if (x < 75)
		memory(p);
	else if (x < 80)
		common(p);
	else if (x < 82)
		leave(p);
	else if (x < 84 && p->depth < 3)
		table(p);
	else if (x < 88 && p->calls)
		call(p);
	else if (x < 94 && !p->depth)
		progen_warp(p);
	else if (x < 96 && !p->depth)
		progen_some_lanes(p);
	else if (!p->depth)
		progen_exchange(p);
	else
		plain(p, PROGEN_SCALAR);
}

void progen_statements(struct progen *p, u32 n)
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
		if (progen_pool_exists(p, &progen_pools[i]))
			progen_line(p, PROGEN_FIXED, ".reg .%s %s<%u>;", progen_pools[i].type,
				    progen_pools[i].name, progen_pools[i].count);
	progen_line(
		p, PROGEN_FIXED,
		".reg .u32 %%ti, %%tl, %%tm, %%tsh, %%tn, %%nt, %%gt, %%ct, %%tbar; .reg .u64 %%in, "
		"%%priv, %%gloc, %%gsh, %%fp, %%fq, %%ta, %%tb, %%tsw, %%out; .reg .pred %%fs;");
	progen_line(
		p, PROGEN_FIXED,
		".reg .u32 %%lb<8>, %%lc<8>; .reg .pred %%lp<8>; .local .align 16 .b8 loc[256];");
}

/* Where the thread's memories are; %in and %out come from the kernel's parameters. */
static void find_places(struct progen *p)
{
	progen_line(p, PROGEN_FIXED,
		    "mov.u32 %%tn, %%tid.x; mov.u32 %%nt, %%ntid.x; mov.u32 %%ct, %%ctaid.x; "
		    "mad.lo.u32 %%gt, %%ct, %%nt, %%tn; mad.wide.u32 %%in, %%gt, %u, %%in; "
		    "mad.wide.u32 %%out, %%gt, %u, %%out; add.u64 %%priv, %%out, 512;",
		    PROGEN_IN, PROGEN_OUT);
	progen_line(p, PROGEN_FIXED,
		    "mov.u32 %%tsh, sh; shl.b32 %%ti, %%tn, 5; add.u32 %%tsh, %%tsh, %%ti; "
		    "cvt.u64.u32 %%tsw, %%tsh; cvta.shared.u64 %%gsh, %%tsw; mov.u32 %%tbar, 5; "
		    "mov.u64 %%gloc, loc; cvta.local.u64 %%gloc, %%gloc;");
}

static void set_register(struct progen *p, const struct progen_pool *q, u32 k)
{
	if (q->word == T_pred)
		progen_line(p, PROGEN_FIXED, "setp.ne.u32 %%p%u, %u, 1;", k, k % 2);
	else if (q->word == T_b128)
		progen_line(p, PROGEN_FIXED, "mov.b128 %%q%u, {%%d%u, %%d%u};", k, k, k + 1);
	else
		progen_line(p, PROGEN_FIXED, "mov.%s %s%u, %s%u;", q->type, q->name, k,
			    q->word == T_f32   ? "0f3F80000"
			    : q->word == T_f64 ? "0d3FF000000000000"
					       : "",
			    k);
}

/* The body of fn2: itself, by its name or its address, as often as the low bits of a say. */
static void recursion(struct progen *p)
{
	bool indirect = progen_chance(p, 50);

	progen_line(p, PROGEN_FIXED,
		    "and.b32 %%r1, %%r0, 7; setp.eq.u32 %%p0, %%r1, 0; @%%p0 bra END; "
		    "sub.u32 %%r2, %%r1, 1; xor.b64 %%d1, %%d0, 0x5555; mov.u64 %%fp, fn2; "
		    "{ .param .b32 q0; .param .b64 q1; .param .b64 o0; st.param.b32 [q0], "
		    "%%r2; st.param.b64 [q1], %%d1; "
		    "PR: .callprototype (.param .b64 _) _ (.param .b32 _, .param .b64 _); "
		    "call (o0), %s, (q0, q1)%s; ld.param.b64 %%d2, [o0]; } mad.lo.u64 %%d0, "
		    "%%d2, 3, %%d0; END:",
		    indirect ? "%fp" : "fn2", indirect ? ", PR" : "");
}

/* fn0 and fn1 are random, fn2 calls itself, fn3 is called by all threads together. */
static void function(struct progen *p, u32 number)
{
	u32 loops = p->loops;

	progen_line(p, PROGEN_FIXED, ".func (.param .b64 o) fn%u(.param .b32 a, .param .b64 b)\n{",
		    number);
	declare(p);
	for (u32 i = 0; i < progen_pool_len; i++)
		for (u32 k = 0; k < progen_pools[i].count; k++)
			if (progen_pool_exists(p, &progen_pools[i]))
				set_register(p, &progen_pools[i], k);
	progen_line(p, PROGEN_FIXED, "ld.shared.u64 %%in, [ins]; ld.shared.u64 %%out, [outs];");
	find_places(p);
	for (u32 i = 0; i < 256; i += 16)
		progen_line(p, PROGEN_FIXED, "st.local.v2.u64 [loc+%u], {%%d%u, %%d%u};", i,
			    i / 16 % 10, i / 32 % 10);
	progen_line(
		p, PROGEN_FIXED,
		"ld.param.b32 %%r0, [a]; ld.param.b64 %%d0, [b]; mov.u32 %%tl, 0; mov.u32 %%tm, 0; "
		"setp.lt.s32 %%p1, %%r0, 0; setp.lt.s64 %%p2, %%d0, 0; add.cc.u32 %%ti, %%r0, 5;");
	p->function = number;
	p->loops = 0;
	if (number == 2) {
		recursion(p);
	} else {
		p->depth = number != 3;
		for (u32 n = 3 + progen_below(p, 8), i = 0; i < n; i++)
			statement(p);
		p->depth = 0;
	}
	p->function = PROGEN_KERNEL;
	p->loops = loops;
	progen_line(p, PROGEN_FIXED,
		    "cvt.u64.u32 %%d1, %%r0; xor.b64 %%d0, %%d0, %%d1; st.param.b64 [o], %%d0; "
		    "ret;\n}");
}

static void variables(struct progen *p)
{
	struct text t = {0};

	for (u32 i = 0; i < PROGEN_DATA / 8; i++)
		text_printf(&t, "%s0x%llx", i ? ", " : "", (unsigned long long)progen_random(p));
	progen_line(p, PROGEN_FIXED, ".const .align 16 .u64 cst[%u] = {%s};", PROGEN_DATA / 8,
		    t.at);
	progen_line(p, PROGEN_FIXED,
		    ".shared .align 32 .b8 sh[%u]; .shared .u32 cnt; .shared .u64 ins, outs;",
		    p->block * 32);
	text_fini(&t);
}

static void begin(struct progen *p)
{
	u32 in = 0;

	progen_line(p, PROGEN_FIXED,
		    ".visible .entry k(.param .u64 pin, .param .u64 pout, .param .u64 pcom, .param "
		    ".align 16 .b8 pdata[%u])\n{ .reg .u64 %%com;",
		    PROGEN_DATA);
	declare(p);
	progen_line(
		p, PROGEN_FIXED,
		"ld.param.u64 %%in, [pin]; ld.param.u64 %%out, [pout]; ld.param.u64 %%com, [pcom]; "
		"st.shared.u64 [ins], %%in; st.shared.u64 [outs], %%out;");
	find_places(p);
	for (u32 i = 0; i < progen_pool_len; i++)
		for (u32 k = 0; k < progen_pools[i].count; k++, in += 8) {
			const struct progen_pool *q = &progen_pools[i];

			if (q->word == T_pred)
				progen_line(p, PROGEN_FIXED,
					    "ld.global.u32 %%ti, [%%in+%u]; and.b32 %%ti, %%ti, 1; "
					    "setp.ne.u32 %%p%u, %%ti, 0;",
					    in, k);
			else if (q->word == T_b128)
				in -= 8; /* made of others */
			else
				progen_line(p, PROGEN_FIXED, "ld.global.%s %s%u, [%%in+%u];",
					    q->type, q->name, k, in);
			if (q->word == T_b128 && progen_pool_exists(p, q))
				set_register(p, q, k);
		}
	for (u32 i = 0; i < 256; i += 16)
		progen_line(
			p, PROGEN_FIXED,
			"st.local.v2.u64 [loc+%u], {%%d%u, %%d%u}; st.global.v2.u64 [%%priv+%u], "
			"{%%d%u, %%d%u};",
			i, i / 16 % 10, i / 32 % 10, i, i / 16 % 10, i / 64 % 10);
	progen_line(p, PROGEN_FIXED,
		    "st.shared.v2.u64 [%%tsh], {%%d1, %%d2}; st.shared.v2.u64 [%%tsh+16], {%%d3, "
		    "%%d4}; mov.u32 %%ti, 0; mov.u32 %%tl, 0; mov.u32 %%tm, 0; add.cc.u32 %%ti, "
		    "%%r0, %%r1; bar.sync 0;");
}

static void put_result(struct progen *p, const struct progen_pool *q, u32 k, u32 at)
{
	if (q->word == T_pred)
		progen_line(p, PROGEN_FIXED,
			    "selp.u32 %%ti, 1, 0, %%p%u; st.global.u32 [%%out+%u], %%ti;", k, at);
	else if (q->word == T_b128)
		progen_line(p, PROGEN_FIXED,
			    "mov.b128 {%%ta, %%tb}, %%q%u; st.global.v2.u64 [%%out+%u], {%%ta, "
			    "%%tb};",
			    k, at);
	else
		progen_line(p, PROGEN_FIXED, "st.global.%s [%%out+%u], %s%u;", q->type, at, q->name,
			    k);
}

static void end(struct progen *p)
{
	u32 at = 0;

	progen_line(p, PROGEN_FIXED, "FIN:");
	for (u32 i = 0; i < progen_pool_len; i++)
		for (u32 k = 0; k < progen_pools[i].count; k++) {
			if (!progen_pool_exists(p, &progen_pools[i]))
				continue;
			put_result(p, &progen_pools[i], k, at);
			at += progen_pools[i].word == T_b128 ? 16 : 8;
		}
	progen_line(p, PROGEN_FIXED, "addc.u32 %%ti, 0, 0; st.global.u32 [%%out+%u], %%ti; ret;\n}",
		    at);
}

static void list_rows(struct progen *p)
{
	for (u32 i = 0; i < ISA_ROWS; i++) {
		enum progen_class class = progen_class_of(isa_row(i));

		if (class < PROGEN_CLASSES)
			VEC_PUSH(&p->rows[class], (u16)i);
	}
}

void progen_init(struct progen *p, u64 seed, u32 flags,
		 bool (*wanted)(void *, const struct isa_form *), void *user)
{
	static const u32 blocks[] = {32, 32, 64, 96, 128, 256, 1, 7, 45, 100};
	static const u32 order[] = {2, 1, 0, 3};
	const struct progen_target *t;

	*p = (struct progen){.state = seed * 0x2545f4914f6cdd1du + 1,
			     .seed = seed,
			     .wanted = wanted,
			     .user = user,
			     .function = PROGEN_KERNEL,
			     .mask = "-1"};
	list_rows(p);
	p->hardware = flags & PROGEN_HARDWARE;
	p->focus = p->hardware ? flags >> 8 : ISA_ROWS;
	t = &targets[progen_below(p, ARRAY_LEN(targets))];
	t = p->hardware ? targets : t;
	p->target = t->target;
	p->target_text = t->text;
	p->version = t->version;
	p->block = blocks[progen_below(p, ARRAY_LEN(blocks))];
	p->grid = 1 + progen_below(p, 3);
	p->leaves = progen_chance(p, 15);
	p->full_warps = p->block % 32 == 0 && !p->leaves;
	p->apart = flags & PROGEN_APART;
	p->calls = progen_chance(p, 50) && !(flags & PROGEN_NO_CALLS);
	progen_line(p, PROGEN_FIXED, ".version %u.%u\n.target %s\n.address_size 64",
		    t->version / 10, t->version % 10, t->text);
	variables(p);
	for (u32 i = 0; i < ARRAY_LEN(order) && p->calls; i++)
		function(p, order[i]);
	begin(p);
	for (u32 n = 5 + progen_below(p, 40), i = 0; i < n; i++)
		statement(p);
	end(p);
}

void progen_fini(struct progen *p)
{
	arena_fini(&p->arena);
	VEC_FREE(&p->lines);
	for (u32 i = 0; i < PROGEN_CLASSES; i++)
		VEC_FREE(&p->rows[i]);
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
