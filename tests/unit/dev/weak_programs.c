/* See weak_programs.h. */
#include "tests/unit/dev/weak_programs.h"

#include "src/base/base.h"

#include <stdarg.h>
#include <stdio.h>

#define EXECUTIONS_MAX 2e5

/* ---- known programs ---- */

#define LOAD(order, location)                                                                      \
	{                                                                                          \
		AXIOM_LOAD, AXIOM_##order, location                                                \
	}
#define STORE(order, location)                                                                     \
	{                                                                                          \
		AXIOM_STORE, AXIOM_##order, location                                               \
	}
#define FENCE(order)                                                                               \
	{                                                                                          \
		AXIOM_FENCE, AXIOM_##order, 0                                                      \
	}

const struct known weak_known[] = {
	{"MP",
	 {2, {{STORE(RELAXED, 0), STORE(RELAXED, 1)}, {LOAD(RELAXED, 1), LOAD(RELAXED, 0)}}},
	 {{{0}, {2, 0}}},
	 true},
	{"MP, fences",
	 {2,
	  {{STORE(RELAXED, 0), FENCE(ACQ_REL), STORE(RELAXED, 1)},
	   {LOAD(RELAXED, 1), FENCE(ACQ_REL), LOAD(RELAXED, 0)}}},
	 {{{0}, {3, 0, 0}}},
	 false},
	{"MP, an old line",
	 {2,
	  {{STORE(RELAXED, 0), STORE(RELEASE, 1)},
	   {LOAD(WEAK, 0), LOAD(RELAXED, 1), LOAD(WEAK, 0)}}},
	 {{{0}, {0, 2, 0}}},
	 true},
	{"MP, an acquire drops the line",
	 {2,
	  {{STORE(RELAXED, 0), STORE(RELEASE, 1)},
	   {LOAD(WEAK, 0), LOAD(ACQUIRE, 1), LOAD(WEAK, 0)}}},
	 {{{0}, {0, 2, 0}}},
	 false},
	{"MP, a fence drops the line",
	 {2,
	  {{STORE(RELAXED, 0), STORE(RELEASE, 1)},
	   {LOAD(WEAK, 0), LOAD(RELAXED, 1), FENCE(ACQ_REL), LOAD(WEAK, 0)}}},
	 {{{0}, {0, 2, 0, 0}}},
	 false},
	{"a strong load, then a weak one",
	 {2, {{STORE(RELAXED, 0)}, {LOAD(WEAK, 0), LOAD(RELAXED, 0), LOAD(WEAK, 0)}}},
	 {{{0}, {0, 1, 0}}},
	 true},
	{"a weak load of what the thread has stored",
	 {2,
	  {{LOAD(WEAK, 0), STORE(RELAXED, 0), LOAD(RELAXED, 1), LOAD(WEAK, 0)},
	   {LOAD(RELAXED, 0), STORE(RELAXED, 1)}}},
	 {{{0, 0, 6, 0}, {2, 0}}},
	 false},
	{"a weak load of what the thread has exchanged",
	 {2,
	  {{LOAD(WEAK, 0), {AXIOM_EXCHANGE, AXIOM_RELAXED, 0}, LOAD(WEAK, 0)}, {LOAD(RELAXED, 0)}}},
	 {{{0, 0, 0}, {2}}},
	 false},
	{"SB",
	 {2, {{STORE(RELAXED, 0), LOAD(RELAXED, 1)}, {STORE(RELAXED, 1), LOAD(RELAXED, 0)}}},
	 {{{0}}},
	 true},
	{"SB, fence.sc",
	 {2,
	  {{STORE(RELAXED, 0), FENCE(SC), LOAD(RELAXED, 1)},
	   {STORE(RELAXED, 1), FENCE(SC), LOAD(RELAXED, 0)}}},
	 {{{0}}},
	 false},
	{"CoRR, weak",
	 {2, {{STORE(RELAXED, 0)}, {LOAD(WEAK, 0), LOAD(WEAK, 0), LOAD(WEAK, 0)}}},
	 {{{0}, {0, 1, 0}}},
	 true},
	{"CoRR, relaxed",
	 {2, {{STORE(RELAXED, 0)}, {LOAD(RELAXED, 0), LOAD(RELAXED, 0)}}},
	 {{{0}, {1, 0}}},
	 false},
	{"WRC",
	 {3,
	  {{STORE(RELAXED, 0)},
	   {LOAD(RELAXED, 0), STORE(RELAXED, 1)},
	   {LOAD(RELAXED, 1), LOAD(WEAK, 0), LOAD(WEAK, 0)}}},
	 {{{0}, {1, 0}, {6, 0, 0}}},
	 true},
	{"WRC, release and acquire",
	 {3,
	  {{STORE(RELAXED, 0)},
	   {LOAD(RELAXED, 0), STORE(RELEASE, 1)},
	   {LOAD(ACQUIRE, 1), LOAD(RELAXED, 0)}}},
	 {{{0}, {1, 0}, {6, 0}}},
	 false},
	{"IRIW, weak",
	 {4,
	  {{STORE(RELAXED, 0)},
	   {STORE(RELAXED, 1)},
	   {LOAD(WEAK, 1), LOAD(WEAK, 0), LOAD(WEAK, 1)},
	   {LOAD(WEAK, 0), LOAD(WEAK, 1), LOAD(WEAK, 0)}}},
	 {{{0}, {0}, {0, 1, 0}, {0, 5, 0}}},
	 true},
	{"IRIW, fence.sc",
	 {4,
	  {{STORE(RELAXED, 0)},
	   {STORE(RELAXED, 1)},
	   {LOAD(RELAXED, 0), FENCE(SC), LOAD(RELAXED, 1)},
	   {LOAD(RELAXED, 1), FENCE(SC), LOAD(RELAXED, 0)}}},
	 {{{0}, {0}, {1, 0, 0}, {5, 0, 0}}},
	 false},
	{"R",
	 {2, {{STORE(RELAXED, 0), STORE(RELAXED, 1)}, {STORE(RELAXED, 1), LOAD(RELAXED, 0)}}},
	 {{{0}, {0, 0}}},
	 true},
	{"2+2W and reads, fence.sc",
	 {2,
	  {{STORE(RELAXED, 0), FENCE(SC), STORE(RELAXED, 1), LOAD(RELAXED, 1)},
	   {STORE(RELAXED, 1), FENCE(SC), STORE(RELAXED, 0), LOAD(RELAXED, 0)}}},
	 {{{0, 0, 0, 5}, {0, 0, 0, 1}}},
	 false},
};

const uint32_t weak_knowns = ARRAY_LEN(weak_known);

/* ---- random ones ---- */

static u64 dice = 0x9e3779b97f4a7c15u;

static u32 roll(u32 below)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (u32)(dice >> 20) % below;
}

static struct axiom_op roll_op(void)
{
	static const struct axiom_op kinds[] = {
		LOAD(WEAK, 0),
		LOAD(WEAK, 0),
		LOAD(RELAXED, 0),
		LOAD(RELAXED, 0),
		LOAD(ACQUIRE, 0),
		STORE(RELAXED, 0),
		STORE(RELAXED, 0),
		STORE(RELAXED, 0),
		STORE(RELAXED, 0),
		STORE(RELEASE, 0),
		FENCE(ACQ_REL),
		FENCE(SC),
		{AXIOM_EXCHANGE, AXIOM_RELAXED, 0},
		{AXIOM_EXCHANGE, AXIOM_ACQ_REL, 0},
	};
	struct axiom_op o = kinds[roll(ARRAY_LEN(kinds))];

	o.location = (uint8_t)roll(AXIOM_LOCATIONS);
	return o;
}

struct axiom_program weak_random(void)
{
	struct axiom_program p;

	do {
		p = (struct axiom_program){.threads = 2 + roll(3)};
		for (u32 t = 0; t < p.threads; t++)
			for (u32 k = 0, n = 1 + roll(AXIOM_OPS); k < n; k++)
				p.op[t][k] = roll_op();
	} while (axiom_executions(&p) > EXECUTIONS_MAX);
	return p;
}

/* ---- kernels ---- */

__attribute__((format(printf, 2, 3))) static void add(struct weak_source *s, const char *format,
						      ...)
{
	va_list args;

	va_start(args, format);
	s->len += (size_t)vsnprintf(s->at + s->len, sizeof(s->at) - s->len, format, args);
	va_end(args);
}

static void add_op(struct weak_source *s, const struct axiom_op *o, u32 thread, u32 index)
{
	static const char *const orders[] = {"weak",        "relaxed.gpu", "acquire.gpu",
					     "release.gpu", "acq_rel.gpu", "sc.gpu"};
	const char *order = orders[o->order];
	u32 value = thread * AXIOM_OPS + index + 1;

	switch (o->kind) {
	case AXIOM_LOAD:
		add(s, "ld.%s.global.u32 %%r%u, [%%x%u];\n", order, index, o->location);
		break;
	case AXIOM_STORE:
		add(s, "st.%s.global.u32 [%%x%u], %u;\n", order, o->location, value);
		break;
	case AXIOM_EXCHANGE:
		add(s, "atom.%s.global.exch.b32 %%r%u, [%%x%u], %u;\n", order, index, o->location,
		    value);
		break;
	default:
		add(s, "fence.%s;\n", order);
		break;
	}
}

void weak_kernel(const struct axiom_program *p, u32 pairs, struct weak_source *s)
{
	u32 ctas = (p->threads + pairs - 1) / pairs;

	s->len = 0;
	add(s,
	    ".version 7.8\n.target sm_80\n.address_size 64\n"
	    ".visible .entry k(.param .u64 mem, .param .u64 out, .param .u64 apart)\n{\n"
	    ".reg .pred %%p; .reg .b32 %%r<%u>, %%t<8>; .reg .b64 %%x<2>, %%d<4>;\n",
	    AXIOM_OPS);
	for (u32 i = 0; i < AXIOM_OPS; i++)
		add(s, "mov.u32 %%r%u, 0;\n", i);
	add(s,
	    "mov.u32 %%t0, %%tid.x; and.b32 %%t1, %%t0, 31; setp.ne.u32 %%p, %%t1, 0; @%%p exit;\n"
	    "shr.u32 %%t0, %%t0, 5; mov.u32 %%t2, %%ctaid.x; div.u32 %%t3, %%t2, %u;\n"
	    "rem.u32 %%t4, %%t2, %u; mad.lo.u32 %%t4, %%t4, %u, %%t0;\n",
	    ctas, ctas, pairs);
	add(s,
	    "ld.param.u64 %%x0, [mem]; mul.wide.u32 %%d0, %%t3, %u; add.u64 %%x0, %%x0, %%d0;\n"
	    "ld.param.u64 %%d0, [apart]; add.u64 %%x1, %%x0, %%d0; ld.param.u64 %%d1, [out];\n"
	    "mad.lo.u32 %%t5, %%t3, %u, %%t4; mul.wide.u32 %%d0, %%t5, %u; add.u64 %%d1, %%d1, %%d0;\n",
	    INSTANCE_BYTES, AXIOM_THREADS, AXIOM_OPS * 4);
	for (u32 t = 0; t < p->threads; t++)
		add(s, "setp.eq.u32 %%p, %%t4, %u; @%%p bra ROLE%u;\n", t, t);
	add(s, "exit;\n");
	for (u32 t = 0; t < p->threads; t++) {
		add(s, "ROLE%u:\n", t);
		for (u32 k = 0; k < AXIOM_OPS && p->op[t][k].kind; k++)
			add_op(s, &p->op[t][k], t, k);
		add(s, "bra END;\n");
	}
	add(s, "END:\n");
	for (u32 k = 0; k < AXIOM_OPS; k++)
		add(s, "st.global.u32 [%%d1+%u], %%r%u;\n", 4 * k, k);
	add(s, "ret;\n}\n");
}
