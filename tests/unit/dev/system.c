/*
 * Atomics of the system's scope against a host that changes the same word at the same time: no
 * update of either side is lost, with one worker, where narrower scopes are no atomics to the host,
 * and with two.
 */
#include "src/dev/stream/stream.h"
#include "tests/check.h"

#include <pthread.h>
#include <stdlib.h>

#define ROUNDS 30000u /* as a half: a number yet */

/* What the kernel's operation does to the word while the host adds 2^shift in each round. */
enum effect {
	NOTHING, /* its operand is neutral: whatever the host added is there */
	ADDS,    /* 1 in each round */
	FLOATS,  /* the word is a float, both sides add 1 */
	TAKES,   /* exch: what was put is taken once by someone */
};

static const struct operation {
	const char *name, *insn; /* {d} = result, [p] = word, i = round */
	u32 bytes, shift;
	enum effect effect;
	u64 first;
} operations[] = {
	{"add.u32", "atom.sys.global.add.u32 %x, [%p], 1;", 4, 8, ADDS, 0},
	{"add.s32, red", "red.sys.global.add.s32 [%p], 1;", 4, 8, ADDS, 0},
	{"add.u64", "atom.sys.global.add.u64 %y, [%p], 1;", 8, 32, ADDS, 0},
	{"add.u64, red", "red.sys.global.add.u64 [%p], 1;", 8, 32, ADDS, 0},
	{"add.u64, generic", "atom.sys.add.u64 %y, [%p], 1;", 8, 32, ADDS, 0},
	{"add.u64, acq_rel", "atom.acq_rel.sys.global.add.u64 %y, [%p], 1;", 8, 32, ADDS, 0},
	{"inc.u32", "atom.sys.global.inc.u32 %x, [%p], 0xffffffff;", 4, 16, ADDS, 0},
	{"dec.u32", "atom.sys.global.dec.u32 %x, [%p], 0xffffffff;", 4, 16, ADDS, 0},
	{"cas.b32",
	 "C: mov.u32 %w, %x; add.u32 %v, %w, 1; atom.sys.global.cas.b32 %x, [%p], %w, %v; "
	 "setp.ne.u32 %r, %x, %w; @%r bra C;",
	 4, 16, ADDS, 0},
	{"cas.b64",
	 "C: mov.u64 %s, %y; add.u64 %t, %s, 1; atom.sys.global.cas.b64 %y, [%p], %s, %t; "
	 "setp.ne.u64 %r, %y, %s; @%r bra C;",
	 8, 32, ADDS, 0},
	{"cas.b16", "atom.sys.global.cas.b16 %h, [%p], %h, %h;", 2, 0, NOTHING, 0},
	{"and.b32", "atom.sys.global.and.b32 %x, [%p], -1;", 4, 0, NOTHING, 0},
	{"and.b64", "atom.sys.global.and.b64 %y, [%p], -1;", 8, 0, NOTHING, 0},
	{"or.b32", "atom.sys.global.or.b32 %x, [%p], 0;", 4, 0, NOTHING, 0},
	{"or.b64, red", "red.sys.global.or.b64 [%p], 0;", 8, 0, NOTHING, 0},
	{"xor.b32", "atom.sys.global.xor.b32 %x, [%p], 0;", 4, 0, NOTHING, 0},
	{"min.u32", "atom.sys.global.min.u32 %x, [%p], 0xffffffff;", 4, 0, NOTHING, 0},
	{"min.s64", "atom.sys.global.min.s64 %y, [%p], 0x7fffffffffffffff;", 8, 0, NOTHING, 0},
	{"max.s32", "atom.sys.global.max.s32 %x, [%p], -1;", 4, 0, NOTHING, 0},
	{"max.u64, red", "red.sys.global.max.u64 [%p], 0;", 8, 0, NOTHING, 0},
	{"add.noftz.f16x2", "mov.b32 %x, 0x80008000; atom.sys.global.add.noftz.f16x2 %x, [%p], %x;",
	 4, 0, NOTHING, 0},
	{"add.f32", "atom.sys.global.add.f32 %f, [%p], 0f3f800000;", 4, 0, FLOATS, 0},
	{"add.f64", "red.sys.global.add.f64 [%p], 0d3ff0000000000000;", 8, 0, FLOATS, 0},
	{"exch.b32",
	 "add.u32 %v, %i, 0x1000000; atom.sys.global.exch.b32 %x, [%p], %v; cvt.u64.u32 %t, %x; "
	 "add.u64 %z, %z, %t;",
	 4, 0, TAKES, 0},
	{"exch.b64",
	 "cvt.u64.u32 %t, %i; or.b64 %t, %t, 0x1000000; atom.sys.global.exch.b64 %y, [%p], %t; "
	 "add.u64 %z, %z, %y;",
	 8, 0, TAKES, 0},
};

struct word {
	u64 value, taken, go, pad[5];
};

struct host {
	struct word *w;
	const struct operation *op;
	u64 taken;
};

static struct sched_pool *pool;
static struct arch_devices profiles;
static struct device dev;
static struct streams *all;

static void ignore(void *user, enum status status, const struct device_fault *fault)
{
	(void)user;
	CHECK_EQ(status, STATUS_SUCCESS);
	if (fault)
		printf("# %s\n", fault->message.at);
}

static f64 plus_one(u64 *bits, u32 bytes)
{
	f64 x = (bytes == 4 ? (f64)f32_bits((u32)*bits) : f64_bits(*bits)) + 1;

	*bits = bytes == 4 ? bits_f32((f32)x) : bits_f64(x);
	return x;
}

static void add_float(struct word *w, u32 bytes)
{
	u64 old = __atomic_load_n(&w->value, __ATOMIC_RELAXED), new;

	do {
		new = old;
		plus_one(&new, bytes);
	} while (!__atomic_compare_exchange_n(&w->value, &old, new, false, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
}

static void *host_rounds(void *user)
{
	struct host *h = user;
	const struct operation *op = h->op;
	struct word *w = h->w;

	while (!__atomic_load_n(&w->go, __ATOMIC_ACQUIRE))
		;
	for (u32 i = 0; i < ROUNDS; i++)
		if (op->effect == FLOATS)
			add_float(w, op->bytes);
		else if (op->effect == TAKES)
			h->taken += __atomic_exchange_n(&w->value, i, __ATOMIC_SEQ_CST);
		else if (op->bytes == 2)
			__atomic_fetch_add((u16 *)&w->value, 1, __ATOMIC_SEQ_CST);
		else
			__atomic_fetch_add(&w->value, (u64)1 << op->shift, __ATOMIC_SEQ_CST);
	return NULL;
}

/* What is left when nothing was lost; of TAKES: the sum of all that was put. */
static u64 expected(const struct operation *op)
{
	u64 host = (u64)ROUNDS << op->shift, rounds = (u64)ROUNDS * (ROUNDS - 1) / 2, bits;
	u64 mask = op->bytes == 8 ? ~(u64)0 : ((u64)1 << 8 * op->bytes) - 1;
	s64 sign = !strncmp(op->name, "dec", 3) ? -1 : 1;

	switch (op->effect) {
	case ADDS:
		return (op->first + host + (u64)(sign * (s64)ROUNDS)) & mask;
	case NOTHING:
		return (op->first + host) & mask;
	case FLOATS:
		bits = op->bytes == 4 ? bits_f32((f32)(2 * ROUNDS - 1)) : bits_f64(2 * ROUNDS - 1);
		plus_one(&bits, op->bytes);
		return bits;
	case TAKES:
		break;
	}
	return 2 * rounds + (u64)ROUNDS * 0x1000000 + op->first;
}

static struct device_program *load(const struct operation *op)
{
	struct device_program *p = NULL;
	struct text t = {0};
	struct diag d;

	/* The kernel says that it runs, then waits for the host to run, too. */
	text_printf(
		&t,
		".version 7.0\n.target sm_80\n.address_size 64\n"
		".visible .entry k(.param .u64 p) {\n"
		"	.reg .u64 %%p, %%y, %%z, %%s, %%t; .reg .b32 %%x; .reg .u32 %%v, %%w, %%i;\n"
		"	.reg .b16 %%h; .reg .f32 %%f; .reg .pred %%q, %%r;\n"
		"	ld.param.u64 %%p, [p]; mov.u64 %%z, 0; mov.u64 %%y, 0; mov.u32 %%x, 0;\n"
		"	mov.b16 %%h, 0; mov.u32 %%i, 0; st.release.sys.global.u64 [%%p+16], 1;\n"
		"A:	%s\n"
		"	add.u32 %%i, %%i, 1; setp.lt.u32 %%q, %%i, %u; @%%q bra A;\n"
		"	st.global.u64 [%%p+8], %%z; ret;\n}\n",
		op->insn, ROUNDS);
	diag_init(&d, diag_print, stderr);
	CHECK_EQ(device_program_load(
			 &dev, &(struct device_text){.name = op->name, .text = t.at, .size = t.len},
			 1, IR_LINK_WHOLE, &d, &p),
		 STATUS_SUCCESS);
	diag_fini(&d);
	text_fini(&t);
	return p;
}

static void try(const struct operation *op, struct stream *s, u64 at)
{
	struct device_program *p = load(op);
	struct word *w = (struct word *)(uintptr_t)at;
	struct host h = {.w = w, .op = op};
	void *args[] = {&at};
	struct device_launch l = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args};
	pthread_t thread;
	u64 left, mask = op->bytes == 8 ? ~(u64)0 : ((u64)1 << 8 * op->bytes) - 1;

	*w = (struct word){.value = op->first};
	l.kernel = p ? device_program_kernel(p, "k") : NULL;
	if (!CHECK_MSG(l.kernel && !pthread_create(&thread, NULL, host_rounds, &h), op->name))
		return;
	CHECK_EQ(stream_launch(s, &l), STATUS_SUCCESS);
	CHECK_EQ(stream_wait(s), STATUS_SUCCESS);
	__atomic_store_n(&w->go, 1, __ATOMIC_RELEASE); /* should the kernel not have come so far */
	pthread_join(thread, NULL);
	left = w->value & mask;
	if (op->effect == TAKES)
		left += h.taken + w->taken;
	if (!CHECK_MSG(left == expected(op), op->name))
		printf("# 0x%llx is left, not 0x%llx\n", (unsigned long long)left,
		       (unsigned long long)expected(op));
	device_program_unload(p);
}

static void with_workers(u32 workers)
{
	struct sched_options options = {.workers = workers};
	struct stream *s = NULL;
	u64 at;

	printf("# %u workers\n", workers);
	pool = sched_pool_new(&options);
	all = streams_new();
	CHECK_EQ(device_init(&dev, profiles.at[0], pool, exec_ops_select(NULL), NULL),
		 STATUS_SUCCESS);
	CHECK_EQ(stream_device_open(all, &dev, ignore, NULL), STATUS_SUCCESS);
	CHECK_EQ(stream_create(&dev, 0, 0, &s), STATUS_SUCCESS);
	at = mem_alloc(&dev.mem, sizeof(struct word), 256, MEM_KIND_MANAGED);
	for (size_t i = 0; i < ARRAY_LEN(operations); i++)
		try(&operations[i], s, at);
	CHECK_EQ(stream_destroy(all, s), STATUS_SUCCESS);
	stream_device_close(&dev);
	device_fini(&dev);
	streams_free(all);
	sched_pool_free(pool);
}

int main(void)
{
	struct diag d;

	diag_init(&d, diag_print, stderr);
	CHECK(arch_devices_parse(&profiles, "a100", &d));
	with_workers(1);
	with_workers(2);
	arch_devices_fini(&profiles);
	diag_fini(&d);
	return check_done();
}
