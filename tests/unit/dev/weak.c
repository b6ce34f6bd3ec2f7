/*
 * Weak memory (struct ptxloom_options, weak): what short programs show is what the axioms of the
 * PTX memory model allow, and the weak behaviours that it is there for are seen.
 *
 *     weak [PROGRAMS [LAUNCHES]]
 *
 * PROGRAMS random ones are tried beside the known ones, each with LAUNCHES orders and in four ways:
 * threads in CTAs of their own or two in each, locations in one sector or apart.
 */
#include "tests/check.h"
#include "tests/unit/dev/axioms.h"

#include "src/base/base.h"

#include <ptxloom.h>

#include <stdarg.h>
#include <stdlib.h>

#define INSTANCES 32u
#define INSTANCE_BYTES 256u
#define RESULTS (AXIOM_THREADS * AXIOM_OPS)
#define EXECUTIONS_MAX 2e5
#define SEEDS 4u
#define TRIES 50u /* what is allowed is looked for so often */

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

/* Values of one outcome: by thread and index. Writes of thread t write 4 t + index + 1. */
struct known {
	const char *name;
	struct axiom_program program;
	struct axiom_outcome outcome;
	bool allowed; /* and to be seen */
};

static const struct known knowns[] = {
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
	 false},
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

/* ---- random ones ---- */

static u64 dice;

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

static struct axiom_program roll_program(void)
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

struct source {
	char at[1 << 14];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct source *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	s->len += (size_t)vsnprintf(s->at + s->len, sizeof(s->at) - s->len, format, args);
	va_end(args);
}

static void add_op(struct source *s, const struct axiom_op *o, u32 thread, u32 index)
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

/* Thread t is the first of warp t % pairs of its CTA, CTA t / pairs of its instance. */
static void make_kernel(const struct axiom_program *p, u32 pairs, struct source *s)
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

/* ---- runs ---- */

struct run {
	struct ptxloom_device *dev[SEEDS];
	u8 *mem[SEEDS];
	u32 *out[SEEDS];
	u32 launches;
};

static void say_outcome(const char *what, const struct axiom_program *p,
			const struct axiom_outcome *o)
{
	printf("# %s:", what);
	for (u32 t = 0; t < p->threads; t++)
		for (u32 k = 0; k < AXIOM_OPS && p->op[t][k].kind; k++)
			printf("%s%u.%u.%u=%u", k ? " " : " | ", p->op[t][k].kind,
			       p->op[t][k].order, p->op[t][k].location, o->value[t][k]);
	puts("");
}

/* Is what was seen allowed, and `wanted` among it? (NULL: nothing is.) */
static bool compare(const struct axiom_program *p, const struct axiom_outcomes *all, const u32 *out,
		    const struct axiom_outcome *wanted, bool *seen)
{
	bool ok = true;

	for (u32 i = 0; i < INSTANCES; i++) {
		struct axiom_outcome o = {0};

		for (u32 t = 0; t < p->threads; t++)
			for (u32 k = 0; k < AXIOM_OPS; k++)
				o.value[t][k] = (u8)out[(i * AXIOM_THREADS + t) * AXIOM_OPS + k];
		if (ok && !axiom_allows(all, &o)) {
			say_outcome("not allowed", p, &o);
			ok = false;
		}
		*seen |= wanted && !memcmp(&o, wanted, sizeof(o));
	}
	return ok;
}

static bool run_way(struct run *r, u32 seed, const struct axiom_program *p,
		    const struct axiom_outcomes *all, u32 pairs, u64 apart,
		    const struct axiom_outcome *wanted, bool *seen)
{
	static struct source s;
	struct ptxloom_config c = {.grid = {INSTANCES * ((p->threads + pairs - 1) / pairs)},
				   .block = {32 * pairs},
				   .cooperative = 1};
	struct ptxloom_module *mod;
	struct ptxloom_kernel *k;
	void *mem = r->mem[seed], *out = r->out[seed];
	bool ok = true;

	make_kernel(p, pairs, &s);
	if (ptxloom_module_load(r->dev[seed], s.at, s.len, &mod)) {
		printf("# %s\n", s.at);
		return false;
	}
	k = ptxloom_module_kernel(mod, "k");
	for (u32 i = 0; ok && i < r->launches; i++) {
		memset(mem, 0, INSTANCES * INSTANCE_BYTES);
		memset(out, 0, INSTANCES * RESULTS * 4);
		ok = !ptxloom_launch(k, &c, (void *[]){&mem, &out, &apart}) &&
		     compare(p, all, r->out[seed], wanted, seen);
	}
	ptxloom_module_unload(mod);
	return ok;
}

static bool run_program(struct run *r, const struct axiom_program *p,
			const struct axiom_outcomes *all, const struct axiom_outcome *wanted,
			bool *seen)
{
	bool ok = true;

	for (u32 seed = 0; seed < SEEDS; seed++)
		for (u32 pairs = 1; pairs <= 2; pairs++)
			for (u64 apart = 4; apart <= 128; apart += 124)
				ok = ok && run_way(r, seed, p, all, pairs, apart, wanted, seen);
	return ok;
}

static void test_known(struct run *r, const struct known *x)
{
	struct axiom_outcomes all = {0};
	bool seen = false, ok = axiom_enumerate(&x->program, &all);

	ok = ok && axiom_allows(&all, &x->outcome) == x->allowed;
	check_that(ok, x->name, __FILE__, __LINE__);
	for (u32 i = 0; ok && (!i || (x->allowed && !seen && i < TRIES)); i++)
		ok = run_program(r, &x->program, &all, &x->outcome, &seen);
	check_that(ok && seen == x->allowed, x->allowed ? "is seen" : "is not seen", __FILE__,
		   __LINE__);
	free(all.at);
}

static void test_random(struct run *r, u32 programs)
{
	u32 bad = 0;

	for (u32 i = 0; i < programs; i++) {
		struct axiom_program p = roll_program();
		struct axiom_outcomes all = {0};
		bool seen;

		bad += !axiom_enumerate(&p, &all) || !run_program(r, &p, &all, NULL, &seen);
		free(all.at);
	}
	CHECK_EQ(bad, 0);
}

int main(int argc, char **argv)
{
	u32 programs = argc > 1 ? (u32)strtoul(argv[1], NULL, 0) : 12;
	struct run r = {.launches = argc > 2 ? (u32)strtoul(argv[2], NULL, 0) : 6};

	dice = 0x9e3779b97f4a7c15u;
	/* With these seeds, random schedules change the warp at every other step. */
	for (u32 i = 0; i < SEEDS; i++) {
		struct ptxloom_options o = {.size = sizeof(o),
					    .device = "h100",
					    .weak = 6 * i + 6,
					    .timeout_ms = 60000};

		if (!CHECK_EQ(ptxloom_device_open(&o, &r.dev[i]), 0))
			return check_done();
		r.mem[i] = ptxloom_alloc(r.dev[i], INSTANCES * INSTANCE_BYTES);
		r.out[i] = ptxloom_alloc(r.dev[i], INSTANCES * RESULTS * 4);
	}
	for (size_t i = 0; i < ARRAY_LEN(knowns); i++)
		test_known(&r, &knowns[i]);
	test_random(&r, programs);
	for (u32 i = 0; i < SEEDS; i++) {
		ptxloom_free(r.dev[i], r.mem[i]);
		ptxloom_free(r.dev[i], r.out[i]);
		ptxloom_device_close(r.dev[i]);
	}
	return check_done();
}
