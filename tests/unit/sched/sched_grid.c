/* Grids on pools of one and of several workers: every CTA once, chains of CTAs that wait for one
 * another, faults, ends. */
#include "tests/check.h"
#include "src/lower/lower.h"
#include "grammar/parse.h"
#include "src/sched/sched_int.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
#define ENTRY                                                                                      \
	".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"                                   \
	".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"                                   \
	"ld.param.u64 %rd1, [out]; ld.param.u32 %r0, [n]; mov.u32 %r1, %ctaid.x;\n"                \
	"mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"

/* out[cta] += 1 */
static const char count[] = HEAD ENTRY
	"ld.global.u32 %r2, [%rd3]; add.u32 %r2, %r2, 1; st.global.u32 [%rd3], %r2; ret;\n}\n";
/* order[cta] = counter++, with the counter at out[n]; for one worker */
static const char order[] = HEAD ENTRY "mul.wide.u32 %rd4, %r0, 4; add.s64 %rd5, %rd1, %rd4;\n"
				       "ld.global.u32 %r2, [%rd5]; st.global.u32 [%rd3], %r2;\n"
				       "add.u32 %r2, %r2, 1; st.global.u32 [%rd5], %r2; ret;\n}\n";
/* wait for out[cta - 1], then set out[cta] */
static const char forward[] = HEAD ENTRY
	"setp.eq.u32 %p1, %r1, 0; @%p1 bra GO;\n"
	"WAIT: ld.volatile.global.u32 %r2, [%rd3+-4]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT;\n"
	"GO: mov.u32 %r3, 1; st.volatile.global.u32 [%rd3], %r3; ret;\n}\n";
/* wait for out[cta + 1]: all CTAs have to be resident */
static const char backward[] = HEAD ENTRY
	"add.u32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, %r0; @%p1 bra GO;\n"
	"WAIT: ld.volatile.global.u32 %r2, [%rd3+4]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT;\n"
	"GO: mov.u32 %r3, 1; st.volatile.global.u32 [%rd3], %r3; ret;\n}\n";
/* CTA n traps */
static const char traps[] =
	HEAD ENTRY "setp.ne.u32 %p1, %r1, %r0; @%p1 bra END; trap; END: ret;\n}\n";
static const char forever[] = HEAD ENTRY "LOOP: bra LOOP; ret;\n}\n";
/* Half of the warps wait at one barrier, half at another. */
static const char deadlock[] = HEAD ENTRY
	"mov.u32 %r2, %tid.x; setp.lt.u32 %p1, %r2, 32; @%p1 bra A; bar.sync 1; ret; A: bar.sync 2; ret;\n}\n";
static const char early[] = HEAD ENTRY
	"setp.ne.u32 %p1, %r1, %r0; @%p1 bra END; st.global.u32 [%rd1], %r1; END: ret;\n}\n";
/* smid of every CTA */
static const char smid[] = HEAD ENTRY "mov.u32 %r2, %smid; st.global.u32 [%rd3], %r2; ret;\n}\n";

/*
 * Lanes with an odd number and with an even one, in warps and CTAs of their own, each take the
 * number that is next, without caring for the others: what they get tells the order.
 */
static const char tickets[] = HEAD ENTRY
	"mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r3, %r1, %r3, %r2;\n"
	"mul.wide.u32 %rd2, %r3, 4; add.s64 %rd3, %rd1, %rd2; mul.wide.u32 %rd4, %r0, 4;\n"
	"add.s64 %rd5, %rd1, %rd4; and.b32 %r4, %r2, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra EVEN;\n"
	"atom.global.add.u32 %r5, [%rd5], 1; bra DONE;\n"
	"EVEN: atom.global.add.u32 %r5, [%rd5], 1;\n"
	"DONE: st.global.u32 [%rd3], %r5; ret;\n}\n";

struct kernel {
	struct diag_source source;
	struct ir_module *m;
	struct program *p;
	u64 var_address[16];
};

struct ending {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	u32 done;
	struct fault fault;
	u32 waiter_len;
	u64 waiter_total, unstarted;
	struct sched_waiter waiters[4];
};

static struct mem mem;

static bool kernel_open(struct kernel *k, const char *ptx)
{
	struct lower_options options = {.warps = 8};
	struct text messages = {0};
	struct diag d;

	memset(k, 0, sizeof(*k));
	k->source = (struct diag_source){"test.ptx", ptx, strlen(ptx)};
	diag_init(&d, diag_collect, &messages);
	k->m = ptx_parse(&k->source, NULL, &d);
	if (k->m)
		k->p = exec_lower(k->m, ir_find_func(k->m, "k"), arch_find("a100"), k->var_address,
				  &options, &d);
	if (!k->p)
		printf("# %s\n", messages.at ? messages.at : "?");
	text_fini(&messages);
	diag_fini(&d);
	return k->p != NULL;
}

static void kernel_close(struct kernel *k, struct sched_pool *pool)
{
	if (pool)
		sched_forget(pool, k->p);
	exec_program_free(k->p);
	ir_module_free(k->m);
}

static void on_end(void *user, const struct sched_end *end)
{
	struct ending *e = user;

	pthread_mutex_lock(&e->lock);
	e->done++;
	if (end->fault)
		e->fault = *end->fault;
	e->waiter_len = end->waiter_len;
	e->waiter_total = end->waiter_total;
	e->unstarted = end->unstarted;
	for (u32 i = 0; i < end->waiter_len && i < 4; i++)
		e->waiters[i] = end->waiters[i];
	pthread_cond_broadcast(&e->cond);
	pthread_mutex_unlock(&e->lock);
}

struct params {
	u64 out;
	u32 n;
};

struct run {
	const struct kernel *k;
	u32 grid[3], block;
	struct params params;
	bool cooperative, here;
};

static struct sched_launch launch_of(const struct run *r, struct ending *e)
{
	*e = (struct ending){.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
	return (struct sched_launch){
		.env =
			{
				.program = r->k->p,
				.ops = exec_ops_select(NULL),
				.mem = &mem,
				.params = (const u8 *)&r->params,
				.grid = {r->grid[0], r->grid[1], r->grid[2]},
				.block = {r->block, 1, 1},
				.shared_bytes = r->k->p->shared_static,
				.local_bytes = (r->k->p->frame_bytes + 15) & ~15u,
			},
		.cooperative = r->cooperative,
		.resident_per_sm = 2,
		.done = on_end,
		.user = e,
	};
}

static void wait_for(struct ending *e, u32 n)
{
	pthread_mutex_lock(&e->lock);
	while (e->done < n)
		pthread_cond_wait(&e->cond, &e->lock);
	pthread_mutex_unlock(&e->lock);
}

static enum fault_kind run(struct sched_pool *pool, const struct run *r, struct ending *e)
{
	struct sched_launch l = launch_of(r, e);

	if (!sched_start(pool, &l, r->here))
		return FAULT_UNSUPPORTED;
	wait_for(e, 1);
	return e->fault.kind;
}

static u32 *buffer(u64 words)
{
	return (u32 *)(uintptr_t)mem_alloc(&mem, words * 4, 0, MEM_KIND_DEVICE);
}

static bool all_are(const u32 *a, u32 n, u32 want)
{
	for (u32 i = 0; i < n; i++)
		if (a[i] != want) {
			printf("# [%u] is %u\n", i, a[i]);
			return false;
		}
	return true;
}

static struct sched_pool *pool_of(u32 workers, u64 seed, u64 timeout_ms)
{
	return sched_pool_new(&(struct sched_options){
		.workers = workers, .seed = seed, .timeout_ms = timeout_ms});
}

/* Every CTA runs once, whatever the size, the workers and the order. */
static void test_every_cta(u32 workers, u64 seed)
{
	static const u32 sizes[] = {1, 2, 3, 7, 64, 1000, 65536, 300000};
	struct sched_pool *pool = pool_of(workers, seed, 0);
	struct kernel k;
	struct ending e;

	if (!CHECK(kernel_open(&k, count)))
		return;
	for (u32 i = 0; i < ARRAY_LEN(sizes); i++)
		for (u32 here = 0; here < 2; here++) {
			u32 n = sizes[i], *out = buffer(n);
			struct run r = {&k, {n, 1, 1}, 1, {(u64)(uintptr_t)out, n}, false, here};

			CHECK_EQ(run(pool, &r, &e), FAULT_NONE);
			CHECK(all_are(out, n, 1));
			mem_free(&mem, (u64)(uintptr_t)out);
		}
	kernel_close(&k, pool);
	sched_pool_free(pool);
}

/* One worker: the natural order; the same with the same seed; another with a seed. */
static void test_order(void)
{
	u32 n = 500, *out[4], same = 0;
	struct kernel k;
	struct ending e;
	bool natural = true;

	if (!CHECK(kernel_open(&k, order)))
		return;
	for (u32 i = 0; i < 4; i++) {
		struct sched_pool *pool = pool_of(1, i < 2 ? 0 : 7, 0);
		struct run r = {.k = &k, .grid = {n, 1, 1}, .block = 32, .here = i == 1};

		out[i] = buffer(n + 1);
		r.params = (struct params){(u64)(uintptr_t)out[i], n};
		CHECK_EQ(run(pool, &r, &e), FAULT_NONE);
		sched_pool_free(pool);
	}
	for (u32 i = 0; i < n; i++) {
		natural &= out[0][i] == i && out[1][i] == i;
		same += out[2][i] == i;
	}
	CHECK(natural);
	CHECK(!memcmp(out[2], out[3], n * 4));
	CHECK(same < n / 10);
	kernel_close(&k, NULL);
}

/* Whether the pool comes to keep n slots; they are released after the end of a grid is reported. */
static bool kept(struct sched_pool *pool, u32 n)
{
	u32 len = 0;

	for (u32 i = 0; i < 2000 && len < n; i++) {
		pthread_mutex_lock(&pool->lock);
		len = pool->slots.len;
		pthread_mutex_unlock(&pool->lock);
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
	if (len < n)
		printf("# %u slots kept\n", len);
	return len >= n;
}

static void test_chains(u32 workers, u64 seed)
{
	struct sched_pool *pool = pool_of(workers, seed, 0);
	struct kernel k;
	struct ending e;
	u32 n = 216, *out = buffer(n);
	struct run r = {&k, {n, 1, 1}, 64, {(u64)(uintptr_t)out, n}, false, true};

	if (!CHECK(kernel_open(&k, forward)))
		return;
	CHECK_EQ(run(pool, &r, &e), FAULT_NONE);
	CHECK(all_are(out, n, 1));
	memset(out, 0, n * 4);
	kernel_close(&k, pool);
	if (!CHECK(kernel_open(&k, backward)))
		return;
	CHECK_EQ(run(pool, &r, &e), FAULT_NONE);
	CHECK(all_are(out, n, 1));
	memset(out, 0, n * 4);
	r.cooperative = true;
	CHECK_EQ(run(pool, &r, &e), FAULT_NONE);
	CHECK(all_are(out, n, 1));
	memset(out, 0, n * 4);
	CHECK_EQ(run(pool, &r, &e), FAULT_NONE);
	CHECK(all_are(out, n, 1));
	/* Most sat at once, and are small enough to be kept for the next launch. */
	if (workers == 1)
		CHECK(kept(pool, n / 2));
	kernel_close(&k, pool);
	sched_pool_free(pool);
}

/* Grid A waits for what grid B writes; both are under way at the same time, on one worker as well.
 */
static void test_two_grids(u32 workers)
{
	struct sched_pool *pool = pool_of(workers, 0, 0);
	u32 *out = buffer(8);
	struct ending a, b;
	struct kernel wait, set;
	struct run ra = {&wait, {2, 1, 1}, 32, {(u64)(uintptr_t)out, 3}, false, true};
	struct run rb = {&set, {1, 1, 1}, 32, {(u64)(uintptr_t)(out + 2), 0}, false, true};
	struct sched_launch la, lb;

	if (!CHECK(kernel_open(&wait, backward)) || !CHECK(kernel_open(&set, forward)))
		return;
	la = launch_of(&ra, &a);
	lb = launch_of(&rb, &b);
	CHECK(sched_start(pool, &la, true));
	CHECK(sched_start(pool, &lb, true));
	wait_for(&a, 1);
	wait_for(&b, 1);
	CHECK(out[0] == 1 && out[1] == 1 && out[2] == 1);
	kernel_close(&wait, pool);
	kernel_close(&set, pool);
	sched_pool_free(pool);
}

struct host_thread {
	struct sched_pool *pool;
	const struct kernel *k;
	u32 *out, n;
	bool good;
};

static void *many(void *arg)
{
	struct host_thread *t = arg;
	struct ending e;

	t->good = true;
	for (u32 i = 0; i < 200; i++) {
		struct run r = {t->k,       {1 + i * 7 % t->n, 1, 1},
				1 + i % 64, {(u64)(uintptr_t)t->out, t->n},
				false,      i % 3 != 0};

		memset(t->out, 0, t->n * 4);
		t->good &= run(t->pool, &r, &e) == FAULT_NONE && t->out[0] != 0 &&
			   all_are(t->out, r.grid[0], t->out[0]);
	}
	return NULL;
}

static void test_threads(u32 workers)
{
	struct host_thread t[4];
	pthread_t id[4];
	struct sched_pool *pool = pool_of(workers, 0, 0);
	struct kernel k;

	if (!CHECK(kernel_open(&k, count)))
		return;
	for (u32 i = 0; i < 4; i++) {
		t[i] = (struct host_thread){pool, &k, buffer(300), 300, false};
		pthread_create(&id[i], NULL, many, &t[i]);
	}
	for (u32 i = 0; i < 4; i++) {
		pthread_join(id[i], NULL);
		CHECK(t[i].good);
	}
	kernel_close(&k, pool);
	sched_pool_free(pool);
}

static void test_faults(u32 workers)
{
	struct sched_pool *pool = pool_of(workers, 0, 100);
	struct kernel k;
	struct ending e;
	u32 *out = buffer(16);
	struct run r = {&k, {100000, 1, 1}, 64, {(u64)(uintptr_t)out, 77}, false, false};

	if (!CHECK(kernel_open(&k, traps)))
		return;
	CHECK_EQ(run(pool, &r, &e), FAULT_TRAP);
	CHECK_EQ(e.fault.ctaid[0], 77);
	CHECK(workers > 1 || e.unstarted > 90000);
	kernel_close(&k, pool);
	if (!CHECK(kernel_open(&k, forever)))
		return;
	r.grid[0] = 3;
	CHECK_EQ(run(pool, &r, &e), FAULT_TIMEOUT);
	CHECK(strstr(e.fault.text, "100 ms") != NULL);
	CHECK_EQ(e.waiter_total + 2 * e.unstarted, 6);
	CHECK(e.waiters[0].mask == FULL_MASK && e.waiters[0].state == GROUP_READY);
	kernel_close(&k, pool);
	if (!CHECK(kernel_open(&k, deadlock)))
		return;
	r.grid[0] = 1;
	CHECK_EQ(run(pool, &r, &e), FAULT_DEADLOCK);
	CHECK_EQ(e.waiter_total, 2);
	CHECK(e.waiters[0].state == GROUP_BARRIER && e.waiters[0].barrier == 2 &&
	      e.waiters[1].barrier == 1);
	kernel_close(&k, pool);
	sched_pool_free(pool);
}

static void test_cancel(u32 workers)
{
	struct sched_pool *pool = pool_of(workers, 0, 0);
	struct kernel k;
	struct ending a, b;
	struct run r = {.k = &k, .grid = {5, 1, 1}, .block = 32, .here = true};
	struct sched_launch la, lb;

	if (!CHECK(kernel_open(&k, forever)))
		return;
	la = launch_of(&r, &a);
	lb = launch_of(&r, &b);
	CHECK(sched_start(pool, &la, true) && sched_start(pool, &lb, false));
	nanosleep(&(struct timespec){0, 20000000}, NULL);
	sched_cancel(pool);
	wait_for(&a, 1);
	wait_for(&b, 1);
	CHECK(a.fault.kind == FAULT_TIMEOUT && b.fault.kind == FAULT_TIMEOUT);
	sched_pool_free(pool);
	kernel_close(&k, NULL);
}

/* The largest grid there is, as far as one launch lets us count, and CTAs in three dimensions. */
static void test_shapes(u32 workers)
{
	struct sched_pool *pool = pool_of(workers, 0, 0);
	struct kernel k;
	struct ending e;
	u32 *out = buffer(16);
	struct run r = {&k,   {1u << 22, 1, 1}, 32, {(u64)(uintptr_t)out, (1u << 22) - 1}, false,
			false};

	if (!CHECK(kernel_open(&k, early)))
		return;
	CHECK_EQ(run(pool, &r, &e), FAULT_NONE);
	CHECK_EQ(out[0], (1u << 22) - 1);
	kernel_close(&k, pool);
	if (!CHECK(kernel_open(&k, count)))
		return;
	memcpy(r.grid, (u32[]){3, 5, 7}, sizeof(r.grid));
	out[0] = out[1] = out[2] = out[3] = 0;
	r.block = 1;
	if (workers == 1) {
		CHECK_EQ(run(pool, &r, &e), FAULT_NONE);
		CHECK(all_are(out, 3, 35) && out[3] == 0);
	}
	kernel_close(&k, pool);
	sched_pool_free(pool);
}

static void test_smid(u32 workers)
{
	struct sched_pool *pool = pool_of(workers, 0, 0);
	struct kernel k;
	struct ending e;
	u32 n = 2000, *out = buffer(n);
	struct run r = {&k, {n, 1, 1}, 32, {(u64)(uintptr_t)out, n}, false, false};
	bool by_number = true;

	if (!CHECK(kernel_open(&k, smid)))
		return;
	CHECK_EQ(run(pool, &r, &e), FAULT_NONE);
	for (u32 i = 0; i < n; i++)
		by_number &= out[i] == i % 108;
	CHECK_MSG(by_number, "CTAs go round the SMs by their numbers");
	kernel_close(&k, pool);
	sched_pool_free(pool);
}

#define TICKETS 4096u /* 16 CTAs of 256 threads */

static u64 run_tickets(const struct kernel *k, u32 workers, u64 seed, u32 *out)
{
	struct sched_pool *pool = pool_of(workers, seed, 0);
	struct run r = {k, {16, 1, 1}, 256, {(u64)(uintptr_t)out, TICKETS}, false, false};
	struct ending e;

	memset(out, 0, (TICKETS + 1) * sizeof(*out));
	CHECK_EQ(run(pool, &r, &e), FAULT_NONE);
	CHECK_EQ(out[TICKETS], TICKETS);
	sched_pool_free(pool);
	return hash_bytes(out, TICKETS * sizeof(*out));
}

/*
 * One worker: the same each time, with a seed and without; seeds differ in CTAs, warps and lanes.
 */
static void test_seeds(void)
{
	u32 *out = buffer(TICKETS + 1), odd_first = 0, warps_back = 0;
	u64 first[8];
	struct kernel k;

	if (!CHECK(kernel_open(&k, tickets)))
		return;
	for (u64 seed = 0; seed < 8; seed++) {
		first[seed] = run_tickets(&k, 1, seed, out);
		for (u32 i = 0; i < TICKETS; i += 64) {
			odd_first += seed && out[i + 1] < out[i];
			warps_back += seed && out[i + 32] < out[i];
		}
		CHECK_EQ(run_tickets(&k, 1, seed, out), first[seed]);
		for (u64 s = 0; s < seed; s++)
			CHECK(first[s] != first[seed]);
	}
	CHECK_MSG(odd_first > 150 && odd_first < 300, "both groups of lanes come first at times");
	CHECK_MSG(warps_back > 150 && warps_back < 300, "so do warps");
	run_tickets(&k, 2, 5, out);
	kernel_close(&k, NULL);
}

int main(void)
{
	static const u32 workers[] = {1, 2, 5};

	if (!CHECK(mem_init(&mem, (u64)1 << 30)))
		return check_done();
	test_order();
	test_seeds();
	for (u32 i = 0; i < ARRAY_LEN(workers); i++) {
		test_every_cta(workers[i], 0);
		test_every_cta(workers[i], 42);
		test_chains(workers[i], 0);
		test_chains(workers[i], 3);
		test_two_grids(workers[i]);
		test_threads(workers[i]);
		test_faults(workers[i]);
		test_cancel(workers[i]);
		test_shapes(workers[i]);
		test_smid(workers[i]);
	}
	mem_fini(&mem);
	return check_done();
}
