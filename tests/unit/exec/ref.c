/*
 * The reference engine by itself: every measured vector as a PTX program, and small programs for
 * what vectors do not show: calls, barriers, lanes that wait for each other, address windows,
 * faults.
 */
#include "grammar/parse.h"
#include "tests/ref/ref.h"
#include "tests/check.h"
#include "tests/unit/vector_kernel.h"

#include <stdio.h>
#include <stdlib.h>

static void *at(u64 address)
{
	return (void *)(uintptr_t)address;
}

static struct ir_module *parse(struct diag_source *source, char *text)
{
	struct text messages = {0};
	struct ir_module *m;
	struct diag d;

	*source = (struct diag_source){"test.ptx", text, strlen(text)};
	diag_init(&d, diag_collect, &messages);
	m = ptx_parse(source, NULL, &d);
	if (!m)
		printf("# %s\n", messages.at ? messages.at : "?");
	text_fini(&messages);
	diag_fini(&d);
	return m;
}

/* ---- vectors ---- */

struct bench {
	struct mem mem;
	u64 in, out;
};

static bool run(struct bench *b, const struct ir_module *m, const char *kernel, u32 lanes,
		struct fault *fault)
{
	u64 address[8] = {0}, params[2] = {b->in, b->out};
	struct ref_launch l = {.module = m,
			       .kernel = ir_find_func(m, kernel),
			       .arch = arch_find("h100"),
			       .mem = &b->mem,
			       .var_address = address,
			       .params = params,
			       .grid = {1, 1, 1},
			       .block = {lanes, 1, 1},
			       .max_slices = 4};

	return l.kernel && ref_launch(&l, fault);
}

static bool runs_exactly(struct bench *b, const struct ir_module *m, const struct vector *v,
			 u32 number)
{
	struct fault fault = {0};
	char name[16];

	snprintf(name, sizeof(name), "k%u", number);
	memcpy(at(b->in), v->in, sizeof(v->in));
	memset(at(b->out), 0, sizeof(v->want));
	if (!run(b, m, name, v->lanes, &fault)) {
		printf("# %s: fault %u %s\n", v->form.text, fault.kind, fault.text);
		return false;
	}
	return vector_is_exact(v, at(b->out));
}

static void check_vectors(void *to, const char *name)
{
	struct vector_list list;
	struct text t = {0};
	struct diag_source source;
	struct ir_module *m;
	u32 exact = 0;
	char what[300];

	vector_list_read(&list, name);
	text_puts(&t, ".version 8.8\n.target sm_100a\n.address_size 64\n");
	for (u32 i = 0; i < list.n; i++)
		vector_kernel(&list.at[i].form, i, &t);
	m = parse(&source, t.at);
	for (u32 i = 0; m && i < list.n; i++)
		exact += runs_exactly(to, m, &list.at[i], i);
	snprintf(what, sizeof(what), "%.99s: %u of %u forms exact", name, exact, list.n);
	CHECK_MSG(list.n && exact == list.n, what);
	ir_module_free(m);
	text_fini(&t);
	vector_list_free(&list);
}

/* ---- small programs: thread t of the CTA writes out[t] ---- */

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define ENTRY                                                                                      \
	".visible .entry k(.param .u64 i, .param .u64 o)\n{\n"                                     \
	".reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %d<8>;\n"                                   \
	"ld.param.u64 %d0, [i]; ld.param.u64 %d1, [o]; mov.u32 %r0, %tid.x;\n"                     \
	"mul.wide.u32 %d2, %r0, 4; add.u64 %d1, %d1, %d2;\n"
#define END "st.global.u32 [%d1], %r1; ret;\n}\n"

static u32 ticket(u32 t)
{
	return t;
}

static u32 factorial(u32 t)
{
	u32 x = 1;

	for (u32 i = 2; i <= (t & 7); i++)
		x *= i;
	return x;
}

static u32 neighbour(u32 t)
{
	return (t + 1) % 100 * 3;
}

static u32 lanes_alike(u32 t)
{
	return t & 1 ? 0xaaaaaaaau : 0x55555555u;
}

static u32 is_42(u32 t)
{
	(void)t;
	return 42;
}

static u32 is_48(u32 t)
{
	(void)t;
	return 48;
}

static u32 table(u32 t)
{
	return t & 1 ? t * 11 : t + 11;
}

static u32 product(u32 t)
{
	return t * 7 + 5;
}

static const struct sample {
	const char *name, *text;
	u32 block;
	u32 (*want)(u32 thread); /* NULL: ends with `fault` */
	enum fault_kind fault;
} samples[] = {
	{"threads have numbers", HEAD ENTRY "mov.u32 %r1, %r0;" END, 200, ticket, FAULT_NONE},
	{"functions call themselves",
	 HEAD
	 ".func (.param .b32 r) f(.param .b32 x) { .reg .b32 %a<4>; .reg .pred %p; ld.param.u32 "
	 "%a0, [x]; setp.lt.u32 %p, %a0, 2;\n"
	 "@%p bra ONE; sub.u32 %a1, %a0, 1; { .param .b32 q; .param .b32 s; st.param.b32 [q], "
	 "%a1; call (s), f, (q); ld.param.b32 %a2, [s]; }\n"
	 "mul.lo.u32 %a0, %a0, %a2; st.param.b32 [r], %a0; ret; ONE: st.param.b32 [r], 1; ret; "
	 "}\n" ENTRY
	 "and.b32 %r2, %r0, 7; { .param .b32 q; .param .b32 s; st.param.b32 [q], %r2; call (s), "
	 "f, (q); ld.param.b32 %r1, [s]; }" END,
	 64, factorial, FAULT_NONE},
	{"registers are parameters, too",
	 HEAD
	 ".func (.reg .u32 r) f(.reg .u32 x, .reg .u32 y) { mad.lo.u32 r, x, y, 5; ret; }\n" ENTRY
	 "call (%r1), f, (%r0, 7);" END,
	 40, product, FAULT_NONE},
	{"functions are values",
	 HEAD
	 ".func (.param .b32 r) f(.param .b32 x) { .reg .b32 %a; ld.param.u32 %a, [x]; add.u32 "
	 "%a, %a, 11; st.param.b32 [r], %a; ret; }\n"
	 ".func (.param .b32 r) g(.param .b32 x) { .reg .b32 %a; ld.param.u32 %a, [x]; "
	 "mul.lo.u32 %a, %a, 11; st.param.b32 [r], %a; ret; }\n" ENTRY
	 "mov.u64 %d3, f; mov.u64 %d4, g; and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 0; selp.b64 "
	 "%d3, %d3, %d4, %p0;\n"
	 "{ .param .b32 q; .param .b32 s; st.param.b32 [q], %r0; P: .callprototype (.param .b32 "
	 "_) _ (.param .b32 _); "
	 "call (s), %d3, (q), P; ld.param.b32 %r1, [s]; }" END,
	 40, table, FAULT_NONE},
	{"barriers order shared memory",
	 HEAD ENTRY
	 ".shared .b32 s[100]; mul.lo.u32 %r2, %r0, 3; mov.u32 %r3, s; mad.lo.u32 %r4, %r0, 4, "
	 "%r3; st.shared.u32 [%r4], %r2;\n"
	 "bar.sync 0; add.u32 %r5, %r0, 1; rem.u32 %r5, %r5, 100; mad.lo.u32 %r4, %r5, 4, %r3; "
	 "ld.shared.u32 %r1, [%r4];" END,
	 100, neighbour, FAULT_NONE},
	{"threads that exit do not hold barriers up",
	 HEAD ENTRY "setp.gt.u32 %p0, %r0, 47; @%p0 exit; bar.red.popc.u32 %r1, 0, 1;" END, 48,
	 is_48, FAULT_NONE},
	{"who arrives need not wait",
	 HEAD ENTRY
	 ".shared .b32 s; setp.lt.u32 %p0, %r0, 32; @!%p0 bra C; mov.u32 %r2, 42; st.shared.u32 "
	 "[s], %r2; bar.arrive 1, 64; mov.u32 %r1, 42; bra E;\n"
	 "C: bar.sync 1, 64; ld.shared.u32 %r1, [s]; E:" END,
	 64, is_42, FAULT_NONE},
	{"lanes meet from different places",
	 HEAD ENTRY
	 "and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 0; @%p0 bra A; match.sync.any.b32 %r1, %r2, "
	 "-1; bra E;\n"
	 "A: match.sync.any.b32 %r1, %r2, -1; E:" END,
	 32, lanes_alike, FAULT_NONE},
	{"a lane may wait for another of its warp",
	 HEAD ENTRY
	 ".shared .b32 s; st.shared.u32 [s], 0; bar.sync 0; mov.u32 %r1, 42; setp.eq.u32 %p0, "
	 "%r0, 31; @%p0 bra S;\n"
	 "W: ld.volatile.shared.u32 %r2, [s]; setp.eq.u32 %p1, %r2, 0; @%p1 bra W; bra E; S: "
	 "st.volatile.shared.u32 [s], 1; E:" END,
	 32, is_42, FAULT_NONE},
	{"windows of generic addresses",
	 HEAD ENTRY
	 ".shared .b32 s; .local .b32 l; mov.u64 %d3, s; cvta.shared.u64 %d3, %d3; st.u32 [%d3], "
	 "20; mov.u64 %d4, l;\n"
	 "cvta.local.u64 %d4, %d4; st.u32 [%d4], 22; ld.shared.u32 %r2, [s]; ld.local.u32 %r3, "
	 "[l]; add.u32 %r1, %r2, %r3;" END,
	 33, is_42, FAULT_NONE},
	{"the stack grows",
	 HEAD ENTRY
	 "alloca.u64 %d3, 64; st.local.u32 [%d3+60], 42; ld.local.u32 %r1, [%d3+60];" END,
	 2, is_42, FAULT_NONE},
	{"a table of targets ends somewhere",
	 HEAD ENTRY "T: .branchtargets A; brx.idx %r0, T; A: mov.u32 %r1, 0;" END, 2, NULL,
	 FAULT_INVALID_PC},
	{"misaligned", HEAD ENTRY "ld.global.u32 %r1, [%d0+2];" END, 1, NULL,
	 FAULT_MISALIGNED_ADDRESS},
	{"outside of allocations", HEAD ENTRY "mov.u64 %d3, 64; ld.global.u32 %r1, [%d3];" END, 1,
	 NULL, FAULT_ILLEGAL_ADDRESS},
	{"outside of shared memory", HEAD ENTRY ".shared .b32 s; ld.shared.u32 %r1, [s+64];" END, 1,
	 NULL, FAULT_ILLEGAL_ADDRESS},
	{"trap", HEAD ENTRY "trap;" END, 1, NULL, FAULT_TRAP},
	{"deadlock",
	 HEAD ENTRY "setp.eq.u32 %p0, %r0, 0; @%p0 bar.sync 1; bar.sync 2; mov.u32 %r1, 0;" END, 64,
	 NULL, FAULT_DEADLOCK},
	{"no end", HEAD ENTRY "L: bra L; mov.u32 %r1, 0;" END, 1, NULL, FAULT_TIMEOUT},
	{"recursion without end",
	 HEAD ".func f() { .local .b8 l[64]; st.local.u32 [l], 0; call f; ret; }\n" ENTRY
	      "call f; mov.u32 %r1, 0;" END,
	 1, NULL, FAULT_STACK_OVERFLOW},
	{"unknown instructions", HEAD ENTRY "frob.u32 %r1, %r0;" END, 1, NULL, FAULT_UNSUPPORTED},
};

static void check_sample(struct bench *b, const struct sample *p)
{
	char *text = strdup(p->text);
	struct diag_source source;
	struct ir_module *m = parse(&source, text);
	struct fault fault = {0};
	bool ok = m && run(b, m, "k", p->block, &fault);
	const u32 *out = at(b->out);

	if (m && p->want) {
		for (u32 i = 0; i < p->block && ok; i++)
			if (out[i] != p->want(i)) {
				printf("# thread %u: %u, expected %u\n", i, out[i], p->want(i));
				ok = false;
			}
		if (fault.kind)
			printf("# fault %u %s\n", fault.kind, fault.text);
		CHECK_MSG(ok, p->name);
	} else if (!CHECK_MSG(m && !ok && fault.kind == p->fault, p->name)) {
		printf("# fault %u %s\n", fault.kind, fault.text);
	}
	ir_module_free(m);
	free(text);
}

int main(void)
{
	struct bench b;

	if (!CHECK(mem_init(&b.mem, (u64)1 << 30)))
		return check_done();
	b.in = mem_alloc(&b.mem, sizeof(((struct vector *)NULL)->in), 256, MEM_KIND_DEVICE);
	b.out = mem_alloc(&b.mem, sizeof(((struct vector *)NULL)->want), 256, MEM_KIND_DEVICE);
	for (u32 i = 0; i < ARRAY_LEN(samples); i++)
		check_sample(&b, &samples[i]);
	vector_each_file(check_vectors, &b);
	mem_fini(&b.mem);
	return check_done();
}
