/*
 * What a grid says whose assertions fail: every failing thread of the CTAs that are resident with
 * the first, by CTA, with any number of workers and any seed; and no thread of what had to stop.
 */
#include "tests/check.h"
#include "src/lower/lower.h"
#include "grammar/parse.h"
#include "src/host/syscall.h"
#include "src/sched/sched_int.h"

#include <pthread.h>
#include <stdlib.h>

#define FAIL(line)                                                                                 \
	"{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; "            \
	"st.param.b64 [a], 0; st.param.b64 [b], 0; st.param.b32 [c], " #line "; "                  \
	"st.param.b64 [d], 0; st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); }\n"
#define ENTRY                                                                                      \
	".version 7.0\n.target sm_80\n.address_size 64\n"                                          \
	".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "  \
	".param .b64 e);\n"                                                                        \
	".visible .entry k()\n{\n.reg .pred %p<4>; .reg .b32 %c, %t, %r<4>;\n"                     \
	"mov.u32 %c, %ctaid.x; mov.u32 %t, %tid.x;\n"

static const char all[] = ENTRY FAIL(1) "ret;\n}\n";
/* Odd threads of every third CTA. */
static const char some[] = ENTRY
	"rem.u32 %r0, %c, 3; and.b32 %r1, %t, 1; setp.ne.u32 %p1, %r0, 1; setp.eq.u32 %p2, %r1, 0;\n"
	"or.pred %p1, %p1, %p2; @%p1 bra E;\n" FAIL(1) "E: ret;\n}\n";
/* A warp whose thread 1 of 4 fails says nothing of thread 2. */
static const char twice[] = ENTRY "and.b32 %r0, %t, 3; setp.ne.u32 %p1, %r0, 1; @%p1 bra A;\n" FAIL(
	1) "A: setp.ne.u32 %p1, %r0, 2; @%p1 bra E;\n" FAIL(2) "E: ret;\n}\n";
/* The warp that has failed does not come to the barrier. */
static const char barrier[] = ENTRY "setp.ne.u32 %p1, %t, 0; @%p1 bra A;\n" FAIL(
	1) "A: bar.sync 0; setp.ne.u32 %p1, %t, 40; @%p1 bra E;\n" FAIL(2) "E: ret;\n}\n";
/* One lane of each warp, those behind the first only after a loop. */
static const char warps[] = ENTRY
	"mov.u32 %r0, %t; L: setp.lt.u32 %p1, %r0, 32; @%p1 bra A; sub.u32 %r0, %r0, 1; bra L;\n"
	"A: and.b32 %r1, %t, 31; setp.ne.u32 %p1, %r1, 5; @%p1 bra E;\n" FAIL(1) "E: ret;\n}\n";
/* The others never end. */
static const char late[] = ENTRY "setp.ne.u32 %p1, %c, 7; setp.gt.u32 %p2, %t, 4;\nL: @%p1 bra L;\n"
				 "@%p2 bra E;\n" FAIL(1) "E: ret;\n}\n";
/* One that is begun long after the first. */
static const char far[] = ENTRY
	"rem.u32 %r0, %c, 150; setp.lt.u32 %p1, %c, 5000;\n"
	"setp.ne.u32 %p2, %r0, 50; or.pred %p1, %p1, %p2; @%p1 bra E;\n" FAIL(1) "E: ret;\n}\n";

static bool is_any(u32 c, u32 t)
{
	(void)c;
	(void)t;
	return true;
}

static bool is_some(u32 c, u32 t)
{
	return c % 3 == 1 && t % 2;
}

static bool is_second(u32 c, u32 t)
{
	(void)c;
	return t % 4 == 1;
}

static bool is_first(u32 c, u32 t)
{
	(void)c;
	return !t;
}

static bool is_fifth(u32 c, u32 t)
{
	(void)c;
	return t % 32 == 5;
}

static bool is_late(u32 c, u32 t)
{
	return c == 7 && t <= 4;
}

static bool is_far(u32 c, u32 t)
{
	(void)t;
	return c >= 5000 && c % 150 == 50;
}

/* The device has room for 216 CTAs. end: CTAs from this number on say nothing. */
static const struct shape {
	const char *what, *text;
	bool (*fails)(u32 cta, u32 thread);
	u32 ctas, threads, end;
	bool clusters, seeded, one_worker;
} shapes[] = {
	{"one thread", all, is_any, 1, 1, 1, false, true, false},
	{"all threads", all, is_any, 5, 96, 5, false, true, false},
	{"many warps", all, is_any, 3, 1024, 3, false, true, false},
	{"those that are resident", all, is_any, 1000, 32, 216, false, false, false},
	{"at most 16384 threads", all, is_any, 200, 256, 64, false, false, false},
	{"some threads of some CTAs", some, is_some, 200, 64, 200, false, true, false},
	{"the first of two", twice, is_second, 7, 64, 7, false, false, false},
	{"before a barrier", barrier, is_first, 6, 64, 6, false, true, false},
	{"warps one by one", warps, is_fifth, 4, 320, 4, false, true, false},
	{"others that go on", late, is_late, 40, 32, 40, false, true, false},
	{"far behind the first CTA", far, is_far, 9000, 32, 5216, false, false, true},
	{"clusters", some, is_some, 40, 64, 40, true, true, false},
};

struct ending {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
	struct fault fault;
	struct text said;
};

static struct mem mem;

static void on_end(void *user, const struct sched_end *end)
{
	struct ending *e = user;

	pthread_mutex_lock(&e->lock);
	if (end->fault)
		e->fault = *end->fault;
	e->done = true;
	pthread_cond_broadcast(&e->cond);
	pthread_mutex_unlock(&e->lock);
}

static void on_text(void *user, const char *text, size_t len)
{
	struct ending *e = *(struct ending **)user;

	text_add(&e->said, text, len);
}

static struct program *lower(const char *ptx, struct ir_module **m)
{
	static const u64 addresses[4];
	struct diag_source source = {"test.ptx", ptx, strlen(ptx)};
	struct lower_options options = {.warps = 8};
	struct text messages = {0};
	struct program *p = NULL;
	struct diag d;

	diag_init(&d, diag_collect, &messages);
	*m = ptx_parse(&source, NULL, &d);
	if (*m)
		p = exec_lower(*m, ir_find_func(*m, "k"), arch_find("a100"), addresses, &options,
			       &d);
	if (!p)
		printf("# %s\n", messages.at ? messages.at : "?");
	text_fini(&messages);
	diag_fini(&d);
	return p;
}

/* Every line that is to come, once; CTAs ascending, threads of a warp ascending. */
static void check_lines(const struct shape *s, const struct ending *e)
{
	u8 *seen = calloc((size_t)s->ctas * s->threads, 1);
	u32 last_cta = 0, last_thread = 0, bad = 0, disorder = 0;

	for (const char *at = e->said.at; at && *at; at = strchr(at, '\n') + 1) {
		u32 line, cta, thread;

		if (sscanf(at, "?:%u: ?: block: [%u,0,0], thread: [%u,0,0] Assertion `?` failed.",
			   &line, &cta, &thread) != 3 ||
		    cta >= s->ctas || thread >= s->threads || line != 1) {
			bad++;
			continue;
		}
		seen[(size_t)cta * s->threads + thread]++;
		disorder += cta < last_cta;
		disorder +=
			cta == last_cta && thread / 32 == last_thread / 32 && thread < last_thread;
		last_cta = cta;
		last_thread = thread;
	}
	for (u32 c = 0; c < s->ctas; c++)
		for (u32 t = 0; t < s->threads; t++)
			if (seen[(size_t)c * s->threads + t] != (c < s->end && s->fails(c, t)) &&
			    !bad++)
				printf("# CTA %u thread %u: %u lines\n", c, t,
				       seen[(size_t)c * s->threads + t]);
	CHECK_EQ(bad, 0);
	CHECK_EQ(disorder, 0);
	free(seen);
}

static void run(const struct shape *s, u32 workers, u64 seed)
{
	struct ending e = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER},
		      *to = &e;
	struct exec_syscalls calls = {.print_error = on_text, .user = &to};
	struct sched_pool *pool =
		sched_pool_new(&(struct sched_options){.workers = workers, .seed = seed});
	struct ir_module *m;
	struct program *p = lower(s->text, &m);
	struct sched_launch l = {
		.env = {.program = p,
			.ops = exec_ops_select(NULL),
			.mem = &mem,
			.params = (const u8 *)"",
			.grid = {s->ctas, 1, 1},
			.block = {s->threads, 1, 1},
			.cluster = {s->clusters ? 4 : 0, 0, 0},
			.syscalls = &calls},
		.resident_per_sm = 2,
		.done = on_end,
		.user = &e,
	};

	if (!CHECK(p))
		return;
	l.env.shared_bytes = p->shared_static;
	l.env.local_bytes = ((u32)p->stack_bytes + 63) & ~15u;
	CHECK(sched_start(pool, &l, true));
	pthread_mutex_lock(&e.lock);
	while (!e.done)
		pthread_cond_wait(&e.cond, &e.lock);
	pthread_mutex_unlock(&e.lock);
	printf("# %s, %u workers, seed %llu\n", s->what, workers, (unsigned long long)seed);
	CHECK_EQ(e.fault.kind, FAULT_ASSERT);
	CHECK(s->fails(e.fault.ctaid[0], e.fault.thread[0]));
	check_lines(s, &e);
	/* The lowest CTA is reported. */
	if (!seed && e.said.at)
		CHECK(!strncmp(e.fault.text, e.said.at, strcspn(e.said.at, ",")));
	sched_forget(pool, p);
	sched_pool_free(pool);
	exec_program_free(p);
	ir_module_free(m);
	text_fini(&e.said);
}

int main(void)
{
	static const u32 workers[] = {1, 2, 8};

	if (!CHECK(mem_init(&mem, (u64)1 << 30)))
		return check_done();
	for (u32 i = 0; i < ARRAY_LEN(shapes); i++)
		for (u32 w = 0; w < (shapes[i].one_worker ? 1 : ARRAY_LEN(workers)); w++)
			for (u64 seed = 0; seed < (shapes[i].seeded ? 4 : 1); seed++)
				run(&shapes[i], workers[w], seed);
	mem_fini(&mem);
	return check_done();
}
