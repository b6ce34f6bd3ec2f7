/*
 * The gang engine against the scalar reference engine on random programs: same memory afterwards,
 * at every host ISA level, with one worker and with two, in natural and in permuted order, under a
 * debugger that goes back in time, with and without fusion and colouring of registers. A program is
 * named by its seed; the first that differs is made smaller and printed.
 *
 *   exec_diff                   200 programs
 *   exec_diff --long [n]        n programs, 100,000 if not given
 *   exec_diff --seed s          one program; --print shows it
 *   exec_diff --from s          starts with seed s
 *   exec_diff --reference       without the gang engine: programs are valid and end
 *   exec_diff --no-calls        programs without functions
 *   exec_diff --tier            every program with compiled runs, too, not just some
 *   exec_diff --skip row        without instructions of this row ("cvt_pack"), may be repeated
 *   exec_diff --rows            list the rows that are in no program
 */
#include "tests/ref/ref.h"
#include "src/base/text.h"
#include "src/lower/lower.h"
#include "src/sched/debug.h"
#include "src/tier/tier_int.h"
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/fuzz/progen.h"
#include "tests/unit/exec_harness.h"

static const char *const levels[] = {"v4", "v3", "v2", "base"};

struct outcome {
	bool ok;
	enum fault_kind fault;
	char text[256];
	u8 *out;
};

struct trial {
	struct progen p;
	u8 *in;
	u64 in_bytes, out_bytes, param_address;
	bool reference_only;
	u32 *uses;         /* of rows, by programs on which the engines agree */
	const char *level; /* where it differed */
	u32 pool;          /* and how: bit 0 two workers, bit 1 a permuted order; or POOL_DEBUG */
	u32 layout;        /* enum layout, by the program's seed */
	bool tier;         /* runs are compiled */
	enum fault_kind fault; /* of the engine that did, FAULT_NONE: memory differs */
	char why[400];
};

/* How micro-ops are made. */
enum layout { LAYOUT_USUAL, LAYOUT_NO_FUSION, LAYOUT_ONE_TO_ONE, LAYOUTS };

/* Under a debugger that goes back in time. */
#define POOL_DEBUG 4u

#define SKIPS 32

struct options {
	u64 first, n;
	bool reference_only, print, rows, tier;
	u32 flags;
	u32 uses[ISA_ROWS];
	const char *skip[SKIPS];
	u32 skips;
};

/* ---- one program on one engine ---- */

static void *at(u64 address)
{
	return (void *)(uintptr_t)address;
}

struct arguments {
	u64 in, out, common;
	_Alignas(16) u8 data[PROGEN_DATA];
};

static struct outcome run_reference(struct harness *h, const struct trial *t, struct arguments *a)
{
	struct outcome o = {0};
	struct fault fault = {0};
	struct ref_launch l = {
		.module = h->m,
		.kernel = ir_find_func(h->m, "k"),
		.arch = arch_find("h200"),
		.mem = &h->mem,
		.var_address = h->var_address,
		.params = a,
		.grid = {t->p.grid, 1, 1},
		.block = {t->p.block, 1, 1},
	};

	o.ok = ref_launch(&l, &fault);
	o.fault = fault.kind;
	snprintf(o.text, sizeof(o.text), "%s", fault.text);
	return o;
}

struct ending {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
	struct fault fault;
};

static void on_end(void *user, const struct sched_end *end)
{
	struct ending *e = user;

	pthread_mutex_lock(&e->lock);
	e->done = true;
	if (end->fault)
		e->fault = *end->fault;
	pthread_cond_signal(&e->cond);
	pthread_mutex_unlock(&e->lock);
}

/* Under a debugger, which goes back now and then. */
struct traveller {
	u64 steps, backs, latest;
};

static enum debug_verdict on_step(void *user, struct debug_grid *d, struct gang *g,
				  const struct uop *in)
{
	struct traveller *w = user;
	struct text why = {0};
	u64 t = debug_time(d);
	bool goes;

	(void)g, (void)in;
	w->steps++;
	if (t <= w->latest || w->steps % 997 || w->backs > 8)
		return DEBUG_GO_ON;
	w->latest = t;
	w->backs++;
	goes = debug_back(d, t * (w->backs % 4) / 4, t * (w->backs % 4) / 4, &why);
	text_fini(&why);
	return goes ? DEBUG_BACK : DEBUG_GO_ON;
}

static struct outcome run_gang(struct harness *h, const struct trial *t, struct arguments *a,
			       const struct program *p)
{
	struct sched_options options = {.workers = 1 + (t->pool & 1),
					.seed = t->pool & 2 ? t->p.seed | 1 : 0,
					.deterministic = t->pool == POOL_DEBUG};
	struct traveller traveller = {0};
	const struct debug_hooks hooks = {
		.user = &traveller, .history_bytes = 64 << 20, .step = on_step};
	struct sched_pool *pool = sched_pool_new(&options);
	struct ending e = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
	struct sched_launch l = {
		.env =
			{
				.program = p,
				.ops = exec_ops_select(t->level),
				.mem = &h->mem,
				.params = (const u8 *)a,
				.param_address = t->param_address,
				.grid = {t->p.grid, 1, 1},
				.block = {t->p.block, 1, 1},
				.shared_bytes = p->shared_static,
				.local_bytes = exec_local_bytes(p, 16384),
			},
		.resident_per_sm = 4,
		.done = on_end,
		.user = &e,
	};
	struct outcome o = {0};

	if (pool && options.deterministic)
		sched_set_debug(pool, &hooks);
	if (!pool || !sched_start(pool, &l, t->p.seed & 1)) {
		snprintf(o.text, sizeof(o.text), "the host has no memory");
		sched_pool_free(pool);
		return o;
	}
	sched_settle(pool);
	pthread_mutex_lock(&e.lock);
	while (!e.done)
		pthread_cond_wait(&e.cond, &e.lock);
	pthread_mutex_unlock(&e.lock);
	sched_pool_free(pool);
	o.ok = e.fault.kind == FAULT_NONE;
	o.fault = e.fault.kind;
	snprintf(o.text, sizeof(o.text), "record %u %.200s", e.fault.pc, e.fault.text);
	return o;
}

/*
 * The same text, input and memory for every engine. Returns a copy of the output. p: NULL, the
 * reference runs.
 */
static struct outcome run(struct harness *h, const struct trial *t, struct arguments *a,
			  const struct program *p)
{
	struct outcome o;

	memcpy(at(a->in), t->in, t->in_bytes);
	memset(at(a->out), 0xcd, t->out_bytes);
	o = p ? run_gang(h, t, a, p) : run_reference(h, t, a);
	o.out = malloc(t->out_bytes);
	if (o.out)
		memcpy(o.out, at(a->out), t->out_bytes);
	return o;
}

static bool same(struct trial *t, const struct outcome *want, const struct outcome *got)
{
	const u64 *x = (const u64 *)(const void *)want->out,
		  *y = (const u64 *)(const void *)got->out;

	t->fault = got->fault;
	if (!got->ok) {
		snprintf(t->why, sizeof(t->why), "the gang engine faults: %u %s", got->fault,
			 got->text);
		return false;
	}
	for (u64 i = 0; i < t->out_bytes / 8; i++)
		if (x[i] != y[i]) {
			snprintf(t->why, sizeof(t->why),
				 "thread %llu, word %llu: %016llx, the reference has %016llx",
				 (unsigned long long)(i * 8 / PROGEN_OUT),
				 (unsigned long long)(i % (PROGEN_OUT / 8)),
				 (unsigned long long)y[i], (unsigned long long)x[i]);
			return false;
		}
	return true;
}

enum verdict { AGREE, DIFFER, INVALID };

static struct program *lower(struct harness *h, const struct trial *t)
{
	struct lower_options options = {.warps = (t->p.block + 31) / 32,
					.check = true,
					.no_fusion = t->layout == LAYOUT_NO_FUSION,
					.one_to_one = t->layout == LAYOUT_ONE_TO_ONE};

	return exec_lower(h->m, ir_find_func(h->m, "k"), arch_find("h200"), h->var_address,
			  &options, &h->d);
}

/*
 * In a permuted order lanes are not together where nothing brings them together: not for all
 * programs.
 */
static bool is_permuted(u64 seed)
{
	return seed % 4 != 0;
}

/* Every level in turn, each with other workers and another order. */
static enum verdict compare_levels(struct trial *t, struct harness *h, struct arguments *a,
				   const struct outcome *want)
{
	struct program *p = lower(h, t);
	enum verdict v = p ? AGREE : INVALID;

	for (u32 i = 0; i < ARRAY_LEN(levels) && v == AGREE; i++) {
		struct outcome got;

		if (!exec_ops_select(levels[i]))
			continue;
		t->level = levels[i];
		t->pool = (u32)(t->p.seed + i) % (is_permuted(t->p.seed) ? 4 : 2);
		if (t->layout == LAYOUT_ONE_TO_ONE && i + 1 == ARRAY_LEN(levels))
			t->pool = POOL_DEBUG;
		got = run(h, t, a, p);
		if (!same(t, want, &got))
			v = DIFFER;
		free(got.out);
	}
	exec_program_free(p);
	return v;
}

/* The levels that runs are compiled for; a program has code for one. */
#define TIER_LEVELS 2u

static enum verdict compare_tier(struct trial *t, struct harness *h, struct arguments *a,
				 const struct outcome *want)
{
	enum verdict v = AGREE;

	tier_choose(TIER_TWO);
	for (u32 i = 0; i < TIER_LEVELS && v == AGREE; i++) {
		struct program *p = lower(h, t);
		struct outcome got;

		if (!p || !exec_ops_select(levels[i])) {
			exec_program_free(p);
			continue;
		}
		t->level = levels[i];
		t->pool = (u32)(t->p.seed + i) % 2;
		got = run(h, t, a, p);
		if (!same(t, want, &got))
			v = DIFFER;
		free(got.out);
		exec_program_free(p);
	}
	tier_choose(TIER_ONE);
	return v;
}

static enum verdict compare(struct trial *t, struct harness *h)
{
	struct arguments a = {.in = mem_alloc(&h->mem, t->in_bytes, 256, MEM_KIND_DEVICE),
			      .out = mem_alloc(&h->mem, t->out_bytes, 256, MEM_KIND_DEVICE)};
	struct outcome want;
	enum verdict v = AGREE;

	a.common = a.out + t->out_bytes - PROGEN_COMMON;
	memcpy(a.data, t->in, sizeof(a.data));
	t->param_address = mem_alloc(&h->mem, sizeof(a), MEM_ALIGN, MEM_KIND_PARAM);
	memcpy(at(t->param_address), &a, sizeof(a));
	want = run(h, t, &a, NULL);
	if (!want.ok) {
		snprintf(t->why, sizeof(t->why), "the reference faults: %u %s", want.fault,
			 want.text);
		t->fault = want.fault;
		v = t->reference_only ? DIFFER : INVALID;
	}
	if (v == AGREE && !t->reference_only)
		v = compare_levels(t, h, &a, &want);
	if (v == AGREE && t->tier)
		v = compare_tier(t, h, &a, &want);
	free(want.out);
	return v;
}

/* ---- programs ---- */

struct first_error {
	u32 line;
	char text[200];
};

static void on_error(void *user, const struct diag_message *m)
{
	struct first_error *e = user;

	if (m->level != DIAG_ERROR || e->line)
		return;
	e->line = m->line;
	snprintf(e->text, sizeof(e->text), "%s", m->text);
}

/* Line of the first error, 0: none. */
static u32 error_line(const char *text, struct first_error *e)
{
	struct diag_source source = {"random.ptx", text, strlen(text)};
	struct ir_module *m;
	struct diag d;

	*e = (struct first_error){0};
	diag_init(&d, on_error, e);
	m = ptx_parse(&source, NULL, &d);
	ir_module_free(m);
	diag_fini(&d);
	return e->line;
}

/* Rules between operands are not in the table: leave out the few lines that break one. */
static char *valid_text(struct trial *t, u8 *off)
{
	for (;;) {
		char *text = progen_text(&t->p, off);
		struct first_error e;
		u32 line = text ? error_line(text, &e) : 0, i;

		if (!line)
			return text;
		i = progen_line_at(&t->p, off, line);
		if (i == UINT32_MAX) {
			snprintf(t->why, sizeof(t->why), "line %u is wrong: %s", line, e.text);
			free(text);
			return NULL;
		}
		free(text);
		off[i] = 1;
	}
}

static void count_rows(const struct ir_module *m, u32 *uses)
{
	for (size_t i = 0; i < m->funcs.len; i++)
		for (size_t k = 0; k < m->funcs.at[i]->insns.len; k++)
			if (m->funcs.at[i]->insns.at[k].form)
				uses[m->funcs.at[i]->insns.at[k].form->row->row]++;
}

static enum verdict judge(struct trial *t, u8 *off)
{
	char *text = valid_text(t, off);
	struct harness h;
	enum verdict v = INVALID;

	if (text && harness_open(&h, text)) {
		harness_place_vars(&h);
		v = compare(t, &h);
		if (v == AGREE)
			count_rows(h.m, t->uses);
		harness_close(&h);
	}
	free(text);
	return v;
}

/* Leave out whatever the difference does not need, large pieces first. */
static void minimise(struct trial *t, u8 *off, enum verdict verdict)
{
	enum fault_kind fault = t->fault;
	u32 n = (u32)t->p.lines.len;
	u8 *keep = malloc(n);
	bool any = true;

	for (u32 rounds = 0; any && keep && rounds < 8; rounds++) {
		any = false;
		for (u32 size = 16; size; size /= 2)
			for (u32 i = 0; i < n; i += size) {
				bool changed = false;

				memcpy(keep, off, n);
				for (u32 k = i; k < i + size && k < n; k++)
					if (!off[k] && (t->p.lines.at[k].kind == PROGEN_TEXT ||
							t->p.lines.at[k].kind == PROGEN_OPEN))
						off[k] = changed = true;
				if (changed && judge(t, off) == verdict && t->fault == fault)
					any = true;
				else
					memcpy(off, keep, n);
			}
	}
	free(keep);
	judge(t, off);
}

static bool is_wanted(void *user, const struct isa_form *form)
{
	const struct options *o = user;

	for (u32 i = 0; i < o->skips; i++)
		if (!strcmp(o->skip[i], form->row->id))
			return false;
	return true;
}

static void trial_open(struct trial *t, u64 seed, struct options *o)
{
	progen_init(&t->p, seed, o->flags | (is_permuted(seed) ? PROGEN_APART : 0), is_wanted, o);
	t->layout = (u32)(seed / 4 % LAYOUTS);
	t->in_bytes = (u64)PROGEN_IN * t->p.grid * t->p.block;
	t->out_bytes = (u64)PROGEN_OUT * t->p.grid * t->p.block + PROGEN_COMMON;
	t->in = malloc(t->in_bytes);
	progen_input(&t->p, t->in);
}

/* What is left of the body, or the whole text. */
static void show(const struct trial *t, const u8 *off, bool all)
{
	char *text = progen_text(&t->p, off), *save = NULL;
	u32 at = 1;

	printf("# seed %llu, %s, grid %u, block %u, %s, %u worker(s)%s: %s\n",
	       (unsigned long long)t->p.seed, t->p.target_text, t->p.grid, t->p.block,
	       t->level ? t->level : "reference", 1 + (t->pool & 1),
	       t->pool & 2            ? ", permuted"
	       : t->pool & POOL_DEBUG ? ", under a debugger"
				      : "",
	       t->why);
	for (char *l = text ? strtok_r(text, "\n", &save) : NULL; l;
	     l = strtok_r(NULL, "\n", &save), at++) {
		u32 i = progen_line_at(&t->p, off, at);

		if (all || i != UINT32_MAX)
			printf("#   %s\n", l);
	}
	free(text);
}

/* One in so many programs also runs compiled. */
#define TIER_SOME 25u

static enum verdict try_seed(u64 seed, struct options *o)
{
	struct trial t = {.reference_only = o->reference_only, .uses = o->uses};
	u32 flags = o->flags;
	enum verdict v;
	u8 *off;

	t.tier = (o->tier || seed % TIER_SOME == 5) && tier_llvm_ready() && !o->reference_only;
	if (t.tier) /* programs with calls are not compiled */
		o->flags |= PROGEN_NO_CALLS;
	trial_open(&t, seed, o);
	o->flags = flags;
	off = calloc(t.p.lines.len, 1);
	v = judge(&t, off);
	if (v != AGREE)
		minimise(&t, off, v);
	if (v != AGREE || o->print)
		show(&t, off, o->print);
	free(off);
	free(t.in);
	progen_fini(&t.p);
	return v;
}

static bool option(struct options *o, char **argv, int *i)
{
	const char *value = argv[*i + 1];

	if (!strcmp(argv[*i], "--long"))
		o->n = value && *value != '-' ? strtoull(argv[++*i], NULL, 0) : 100000;
	else if (!strcmp(argv[*i], "--from") && value)
		o->first = strtoull(argv[++*i], NULL, 0);
	else if (!strcmp(argv[*i], "--seed") && value) {
		o->first = strtoull(argv[++*i], NULL, 0);
		o->n = 1;
	} else if (!strcmp(argv[*i], "--reference"))
		o->reference_only = true;
	else if (!strcmp(argv[*i], "--rows"))
		o->rows = true;
	else if (!strcmp(argv[*i], "--print"))
		o->print = true;
	else if (!strcmp(argv[*i], "--skip") && value && o->skips < SKIPS)
		o->skip[o->skips++] = argv[++*i];
	else if (!strcmp(argv[*i], "--tier"))
		o->tier = true;
	else if (!strcmp(argv[*i], "--no-calls"))
		o->flags |= PROGEN_NO_CALLS;
	else
		return false;
	return true;
}

/* Which rows the programs had, of those that random programs may have. */
static void report(const struct options *o, u64 programs)
{
	u32 possible = 0, used = 0;

	for (u32 i = 0; i < ISA_ROWS; i++) {
		bool may = progen_class_of(isa_row(i)) < PROGEN_CLASSES;

		possible += may;
		used += may && o->uses[i];
		if (o->rows && may && !o->uses[i])
			printf("# not used: %s\n", isa_row(i)->id);
	}
	printf("# %llu programs, %u of %u rows\n", (unsigned long long)programs, used, possible);
}

/* Accesses of compiled runs of a kernel with such a load. */
static u32 accesses_in_runs(const char *words)
{
	struct trial t = {.p = {.block = 64}};
	struct harness h;
	u32 found = 0;
	char ptx[600];

	snprintf(
		ptx, sizeof(ptx),
		".version 8.2\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x)\n"
		"{ .reg .b64 %%a, %%d; .reg .b32 %%t, %%v;\nld.param.u64 %%a, [x];\n"
		"mov.u32 %%t, %%tid.x;\nxor.b32 %%t, %%t, 3;\nmul.wide.u32 %%d, %%t, 4;\n"
		"add.u64 %%a, %%a, %%d;\nld%s.u32 %%v, [%%a];\nmad.lo.u32 %%v, %%v, %%v, %%t;\n"
		"mad.lo.u32 %%v, %%v, %%t, %%v;\nxor.b32 %%v, %%v, 5;\nst%s.u32 [%%a], %%v;\nret; }\n",
		words, strstr(words, "acquire") ? ".release.gpu.global" : words);
	if (harness_open(&h, ptx)) {
		struct program *p = lower(&h, &t);
		struct tier_live *l = p ? tier_live_new(p) : NULL;
		struct tier_run *runs = NULL;
		u32 n = l ? tier_plan(p, l, &runs) : 0;

		for (u32 i = 0; i < n; i++)
			found += runs[i].accesses;
		CHECK_MSG(p != NULL, words);
		free(runs);
		tier_live_free(l);
		exec_program_free(p);
		harness_close(&h);
	}
	return found;
}

/* Their order is seen. */
static void check_strong(void)
{
	static const char *const strong[] = {".volatile.global", ".relaxed.gpu.global",
					     ".acquire.gpu.global", ".mmio.relaxed.sys.global"};

	CHECK_MSG(accesses_in_runs(".global") == 2, "weak accesses take part in runs");
	for (u32 i = 0; i < ARRAY_LEN(strong); i++)
		CHECK_MSG(!accesses_in_runs(strong[i]), strong[i]);
}

int main(int argc, char **argv)
{
	/* Programs that told engines apart when few others did. */
	static const u64 known[] = {201051, 201243, 201711, 202849};
	static struct options o = {.first = 1, .n = 200};
	u64 bad = 0, s;

	for (int i = 1; i < argc; i++)
		if (!option(&o, argv, &i)) {
			fprintf(stderr, "unknown option %s\n", argv[i]);
			return 2;
		}
	for (u32 i = 0; i < ARRAY_LEN(levels); i++)
		check_level(exec_ops_select(levels[i]), levels[i]);
	if (!tier_llvm_ready())
		check_skip("compiled runs", "LLVM is not installed");
	for (u32 i = 0; argc == 1 && i < ARRAY_LEN(known); i++)
		bad += try_seed(known[i], &o) != AGREE;
	for (s = o.first; s < o.first + o.n && bad < 10; s++)
		bad += try_seed(s, &o) != AGREE;
	check_strong();
	report(&o, s - o.first);
	CHECK_MSG(bad == 0, "both engines leave the same memory");
	printf("# %u runs of micro-ops were compiled\n", tier_counts().made);
	CHECK_MSG(!tier_counts().failed, "all runs that were to be compiled are");
	CHECK_MSG(tier_counts().made || argc > 1 || !tier_llvm_ready(), "some runs are compiled");
	return check_done();
}
