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
#include "tests/unit/dev/weak_programs.h"

#include "src/base/base.h"

#include <ptxloom.h>

#include <stdlib.h>

#define INSTANCES 32u
#define SEEDS 4u
#define TRIES 50u /* what is allowed is looked for so often */

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
	static struct weak_source s;
	struct ptxloom_config c = {.grid = {INSTANCES * ((p->threads + pairs - 1) / pairs)},
				   .block = {32 * pairs},
				   .cooperative = 1};
	struct ptxloom_module *mod;
	struct ptxloom_kernel *k;
	void *mem = r->mem[seed], *out = r->out[seed];
	bool ok = true;

	weak_kernel(p, pairs, &s);
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
		struct axiom_program p = weak_random();
		struct axiom_outcomes all = {0};
		bool seen = false;

		bad += !axiom_enumerate(&p, &all) || !run_program(r, &p, &all, NULL, &seen);
		free(all.at);
	}
	CHECK_EQ(bad, 0);
}

/* ---- what a GPU showed ---- */

/* The program whose outcomes come next in a file of them. */
struct measured {
	struct axiom_outcomes all;
	u32 number;
	char kind;
};

static const struct axiom_outcomes *outcomes_of(struct measured *m, char kind, u32 number)
{
	struct axiom_program p;

	if (kind == m->kind && number == m->number)
		return &m->all;
	m->all.len = 0;
	/* Random ones come in their order. */
	p = kind == 'k' ? weak_known[number % weak_knowns].program : weak_random();
	m->kind = kind;
	m->number = number;
	return axiom_enumerate(&p, &m->all) ? &m->all : NULL;
}

static bool read_outcome(const char *text, struct axiom_outcome *o)
{
	*o = (struct axiom_outcome){0};
	for (u32 t = 0; t < AXIOM_THREADS; t++) {
		for (u32 k = 0; k < AXIOM_OPS; k++) {
			char *end;

			o->value[t][k] = (u8)strtoul(text, &end, 10);
			if (end == text)
				return false;
			text = end + (*end == '.');
		}
		if (*text++ != '/')
			return t > 0;
	}
	return true;
}

/* Everything is allowed. */
static void test_measured(const char *path)
{
	FILE *f = fopen(path, "r");
	struct measured m = {.kind = 0};
	char line[256], kind;
	u32 rows = 0, bad = 0, number;

	while (f && fgets(line, sizeof(line), f)) {
		char *values = strchr(line, '\t');
		const struct axiom_outcomes *all;
		struct axiom_outcome o;

		if (*line == '#')
			continue;
		rows++;
		all = values && sscanf(line, "%c%u", &kind, &number) == 2
			      ? outcomes_of(&m, kind, number)
			      : NULL;
		if (all && read_outcome(values + 1, &o) && axiom_allows(all, &o))
			continue;
		bad++;
		printf("# %s", line);
	}
	if (f)
		fclose(f);
	free(m.all.at);
	CHECK(rows > 1000);
	CHECK_EQ(bad, 0);
}

int main(int argc, char **argv)
{
	const char *srcdir = getenv("srcdir");
	char path[1024];
	u32 programs = argc > 1 ? (u32)strtoul(argv[1], NULL, 0) : 12;
	struct run r = {.launches = argc > 2 ? (u32)strtoul(argv[2], NULL, 0) : 6};

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
	snprintf(path, sizeof(path), "%s/tests/unit/dev/litmus_h100.tsv", srcdir ? srcdir : ".");
	test_measured(path);
	for (size_t i = 0; i < weak_knowns; i++)
		test_known(&r, &weak_known[i]);
	test_random(&r, programs);
	for (u32 i = 0; i < SEEDS; i++) {
		ptxloom_free(r.dev[i], r.mem[i]);
		ptxloom_free(r.dev[i], r.out[i]);
		ptxloom_device_close(r.dev[i]);
	}
	return check_done();
}
