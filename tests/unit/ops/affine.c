/*
 * Values of launch parameters, %tid and %ctaid: random kernels that compute indices of them, leave
 * when a comparison says so, and read and write memory that ends where the outermost of the other
 * threads reach. On the pool, at every host level, against plain C. Where the memory is one element
 * shorter the launch must end with a fault, and the engine must pass over CTAs whose threads all
 * leave. A third of them compute with 64 bits throughout.
 *
 *   affine [n [first]]     n kernels (400), from seed `first` on
 */
#include "tests/check.h"
#include "src/lower/lower.h"
#include "tests/skip.h"
#include "grammar/parse.h"
#include "src/base/text.h"
#include "src/sched/sched.h"

#include <pthread.h>
#include <stdlib.h>

#define LEAVES 14u
#define VALUES 26u
#define GUARDS 3u
#define BYTES_MAX ((s64)1 << 22)
#define FAR ((s64)1 << 40) /* what reaches further is not run */

/*
 * Values 0 .. LEAVES - 1: %tid, %ctaid, %ntid by component, %nctaid.x, two parameters, two
 * constants.
 */
enum leaf { TID, CTAID = 3, NTID = 6, NCTAID = 9, PARAM, CONST = 12 };

enum step_op { ADD, SUB, MUL, SHL, MAD, STEP_OPS };

struct step {
	enum step_op op;
	u32 a, b, c; /* values; SHL: b is the count */
};

struct guard {
	u32 op, a, b;        /* index into compare_names */
	bool is_signed, any; /* any: or'ed to what came before, else and'ed */
	/*
	 * 64 bits: a, extended by zeros or its sign, with the parameter `wide`, which may stand
	 * first
	 */
	bool is_wide, by_sign, swapped;
};

struct trial {
	u64 seed, random;
	u32 grid[3], block[3], params[2], consts[2];
	struct step step[VALUES - LEAVES];
	struct guard guard[GUARDS];
	u64 wide;
	u32 guards, index, width;
	bool is_signed, leave_if_not, shifts; /* shifts: the index is extended, then shifted */
	bool is_long;                         /* all values have 64 bits */
	s64 low, high; /* byte offsets that threads reach; high < low: none does */
};

struct launch {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
	enum fault_kind fault;
};

static struct mem mem;
static struct sched_pool *pools[2];

static u32 pick(struct trial *t, u32 n)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return (u32)((t->random >> 32) * n >> 32);
}

/* ---- making ---- */

static void make_shape(struct trial *t)
{
	static const u32 blocks[][3] = {{1, 1, 1},   {32, 1, 1},  {33, 2, 1},  {64, 1, 1},
					{100, 1, 1}, {256, 1, 1}, {32, 8, 1},  {16, 16, 1},
					{8, 8, 4},   {16, 4, 2},  {512, 1, 1}, {32, 32, 1},
					{7, 5, 3}};

	memcpy(t->block, blocks[pick(t, ARRAY_LEN(blocks))], sizeof(t->block));
	t->grid[0] = 1 + pick(t, pick(t, 4) ? 9 : 600);
	t->grid[1] = 1 + pick(t, 3);
	t->grid[2] = pick(t, 4) ? 1 : 2;
}

static u32 make_number(struct trial *t)
{
	static const u32 odd[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffff000, 0x40000000};

	return pick(t, 4) ? pick(t, 300) : odd[pick(t, ARRAY_LEN(odd))];
}

static void make(struct trial *t, u64 seed)
{
	*t = (struct trial){.seed = seed, .random = seed * 0x9e3779b97f4a7c15u | 1};
	for (u32 i = 0; i < 8; i++)
		pick(t, 2);
	make_shape(t);
	for (u32 i = 0; i < 2; i++) {
		t->params[i] = make_number(t);
		t->consts[i] = make_number(t);
	}
	for (u32 i = LEAVES; i < VALUES; i++) {
		struct step *s = &t->step[i - LEAVES];

		s->op = (enum step_op)pick(t, STEP_OPS);
		s->a = pick(t, 3) ? pick(t, i) : i - 1 - pick(t, i < LEAVES + 4 ? 1 : 4);
		s->b = s->op == ADD || s->op == SUB ? pick(t, i) : NTID + pick(t, LEAVES - NTID);
		s->c = pick(t, i);
		if (s->op == SHL)
			s->b = pick(t, 4);
	}
	t->guards = 1 + pick(t, GUARDS);
	for (u32 i = 0; i < t->guards; i++) {
		struct guard *g = &t->guard[i];

		g->op = pick(t, 6);
		g->a = pick(t, VALUES);
		g->b = pick(t, 4) ? NTID + pick(t, LEAVES - NTID) : pick(t, VALUES);
		g->is_signed = pick(t, 2);
		g->any = pick(t, 2);
		g->is_wide = !pick(t, 3);
		g->by_sign = pick(t, 2);
		g->swapped = pick(t, 2);
	}
	t->wide = make_number(t);
	if (pick(t, 2))
		t->wide =
			pick(t, 2) ? (u64)(s64)(s32)t->wide : t->wide + ((u64)1 << 32) - pick(t, 2);
	t->shifts = pick(t, 2);
	t->leave_if_not = pick(t, 2);
	t->is_signed = pick(t, 2);
	t->width = 1u << pick(t, 4);
	t->index = LEAVES + pick(t, VALUES - LEAVES);
	t->is_long = !pick(t, 3);
}

/* ---- as PTX ---- */

static const char *const compare_names[] = {"eq", "ne", "lt", "le", "gt", "ge"};

/*
 * Values of 64 bits are in %rd20 and on: coordinates extended by zeros, parameters and constants by
 * their signs.
 */
static void put_long_steps(const struct trial *t, struct text *o)
{
	for (u32 i = 0; i < LEAVES; i++)
		text_printf(o, "cvt.%s %%rd%u, %%r%u;\n", i < PARAM ? "u64.u32" : "s64.s32", 20 + i,
			    i);
	for (u32 i = LEAVES; i < VALUES; i++) {
		const struct step *s = &t->step[i - LEAVES];
		u32 d = 20 + i, a = 20 + s->a, b = 20 + s->b;

		if (s->op == MUL && s->a < PARAM && s->b < PARAM)
			text_printf(o, "mul.wide.%s %%rd%u, %%r%u, %%r%u;\n", i & 1 ? "u32" : "s32",
				    d, s->a, s->b);
		else if (s->op == SHL)
			text_printf(o, "shl.b64 %%rd%u, %%rd%u, %u;\n", d, a, s->b);
		else if (s->op == MAD)
			text_printf(o, "mad.lo.s64 %%rd%u, %%rd%u, %%rd%u, %%rd%u;\n", d, a, b,
				    20 + s->c);
		else if (s->op == SUB && s->a == CONST)
			text_printf(o, "not.b64 %%rd%u, %%rd%u;\n", d, b);
		else
			text_printf(o, "%s.s64 %%rd%u, %%rd%u, %%rd%u;\n",
				    s->op == ADD   ? "add"
				    : s->op == SUB ? "sub"
						   : "mul.lo",
				    d, a, b);
	}
}

static void put_steps(const struct trial *t, struct text *o)
{
	if (t->is_long) {
		put_long_steps(t, o);
		return;
	}
	for (u32 i = LEAVES; i < VALUES; i++) {
		const struct step *s = &t->step[i - LEAVES];

		switch (s->op) {
		case ADD:
		case SUB:
			text_printf(o, "%s.s32 %%r%u, %%r%u, %%r%u;\n",
				    s->op == ADD ? "add" : "sub", i, s->a, s->b);
			break;
		case MUL:
			text_printf(o, "mul.lo.s32 %%r%u, %%r%u, %%r%u;\n", i, s->a, s->b);
			break;
		case SHL:
			text_printf(o, "shl.b32 %%r%u, %%r%u, %u;\n", i, s->a, s->b);
			break;
		default:
			text_printf(o, "mad.lo.s32 %%r%u, %%r%u, %%r%u, %%r%u;\n", i, s->a, s->b,
				    s->c);
			break;
		}
	}
}

static void put_guards(const struct trial *t, struct text *o)
{
	for (u32 i = 0; i < t->guards; i++) {
		const struct guard *g = &t->guard[i];

		if (t->is_long)
			text_printf(o, "setp.%s.%s %%p%u, %%rd%u, %%rd%u;\n", compare_names[g->op],
				    g->op < 2      ? "b64"
				    : g->is_signed ? "s64"
						   : "u64",
				    i, 20 + g->a, g->is_wide ? 11 : 20 + g->b);
		else if (g->is_wide)
			text_printf(o, "cvt.%s %%rd10, %%r%u; setp.%s.%s %%p%u, %s;\n",
				    g->by_sign ? "s64.s32" : "u64.u32", g->a, compare_names[g->op],
				    g->op < 2      ? "b64"
				    : g->is_signed ? "s64"
						   : "u64",
				    i, g->swapped ? "%rd11, %rd10" : "%rd10, %rd11");
		else
			text_printf(o, "setp.%s.%s %%p%u, %%r%u, %%r%u;\n", compare_names[g->op],
				    g->op < 2      ? "b32"
				    : g->is_signed ? "s32"
						   : "u32",
				    i, g->a, g->b);
		if (i)
			text_printf(o, "%s.pred %%p%u, %%p%u, %%p%u;\n", g->any ? "or" : "and", i,
				    i - 1, i);
	}
	text_printf(o, "@%s%%p%u bra END;\n", t->leave_if_not ? "!" : "", t->guards - 1);
}

static const char *const sregs[] = {"%tid.x",   "%tid.y",  "%tid.z",  "%ctaid.x", "%ctaid.y",
				    "%ctaid.z", "%ntid.x", "%ntid.y", "%ntid.z",  "%nctaid.x"};

/* x = in[index + 2]; out[thread] = x + 7; in[index + 2] = x, which others may do as well. */
static void put(const struct trial *t, struct text *o)
{
	const char *reg = t->width == 8 ? "%rd9" : "%r40";

	text_puts(
		o,
		".version 7.0\n.target sm_80\n.address_size 64\n"
		".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 m,\n"
		".param .u64 wide)\n{\n"
		".reg .pred %p<4>; .reg .b32 %r<50>; .reg .b64 %rd<50>;\n"
		"ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out];\n"
		"ld.param.u32 %r10, [n]; ld.param.u32 %r11, [m]; ld.param.u64 %rd11, [wide];\n");
	for (u32 i = 0; i < ARRAY_LEN(sregs); i++)
		text_printf(o, "mov.u32 %%r%u, %s;\n", i, sregs[i]);
	for (u32 i = 0; i < 2; i++)
		text_printf(o, "mov.u32 %%r%u, %u;\n", CONST + i, t->consts[i]);
	put_steps(t, o);
	put_guards(t, o);
	if (t->is_long && t->shifts)
		text_printf(o, "shl.b64 %%rd2, %%rd%u, %d; add.s64 %%rd3, %%rd0, %%rd2;\n",
			    20 + t->index, __builtin_ctz(t->width));
	else if (t->is_long)
		text_printf(o, "mad.lo.s64 %%rd3, %%rd%u, %u, %%rd0;\n", 20 + t->index, t->width);
	else if (t->shifts)
		text_printf(
			o,
			"cvt.%s %%rd8, %%r%u; shl.b64 %%rd2, %%rd8, %d; add.s64 %%rd3, %%rd0, %%rd2;\n",
			t->is_signed ? "s64.s32" : "u64.u32", t->index, __builtin_ctz(t->width));
	else
		text_printf(o, "mul.wide.%s %%rd2, %%r%u, %u; add.s64 %%rd3, %%rd0, %%rd2;\n",
			    t->is_signed ? "s32" : "u32", t->index, t->width);
	text_printf(o, "ld.global.u%u %s, [%%rd3+%u];\n", 8 * t->width, reg, 2 * t->width);
	if (t->width == 8)
		text_puts(o, "cvt.u32.u64 %r40, %rd9;\n");
	/* Every thread has a place of its own. */
	text_puts(o, "mov.u32 %r41, %nctaid.y; mad.lo.s32 %r42, %r5, %r41, %r4;\n"
		     "mad.lo.s32 %r42, %r42, %r9, %r3; mad.lo.s32 %r42, %r42, %r8, %r2;\n"
		     "mad.lo.s32 %r42, %r42, %r7, %r1; mad.lo.s32 %r42, %r42, %r6, %r0;\n"
		     "mul.wide.u32 %rd4, %r42, 4; add.s64 %rd5, %rd1, %rd4;\n"
		     "add.s32 %r43, %r40, 7; st.global.u32 [%rd5], %r43;\n");
	text_printf(o, "st.global.u%u [%%rd3+%u], %s;\nEND: ret;\n}\n", 8 * t->width, 2 * t->width,
		    reg);
}

/* ---- as C ---- */

/* What a 32-bit value is extended to. */
static u64 extended(u64 v, bool sign)
{
	return sign ? (u64)(s64)(s32)v : (u32)v;
}

static void compute(const struct trial *t, const u32 *ctaid, const u32 *tid, u64 *v)
{
	for (u32 i = 0; i < 3; i++) {
		v[TID + i] = tid[i];
		v[CTAID + i] = ctaid[i];
		v[NTID + i] = t->block[i];
	}
	v[NCTAID] = t->grid[0];
	for (u32 i = 0; i < 2; i++) {
		v[PARAM + i] = extended(t->params[i], t->is_long);
		v[CONST + i] = extended(t->consts[i], t->is_long);
	}
	for (u32 i = LEAVES; i < VALUES; i++) {
		const struct step *s = &t->step[i - LEAVES];

		v[i] = s->op == ADD                                  ? v[s->a] + v[s->b]
		       : s->op == SUB && t->is_long && s->a == CONST ? ~v[s->b]
		       : s->op == SUB                                ? v[s->a] - v[s->b]
		       : s->op == MUL                                ? v[s->a] * v[s->b]
		       : s->op == SHL                                ? v[s->a] << s->b
								     : v[s->a] * v[s->b] + v[s->c];
		if (!t->is_long)
			v[i] = (u32)v[i];
	}
}

static bool compare(const struct guard *g, u64 a, u64 b)
{
	u64 top = g->op >= 2 && g->is_signed ? (u64)1 << 63 : 0;

	a ^= top;
	b ^= top;
	switch (g->op) {
	case 0:
		return a == b;
	case 1:
		return a != b;
	case 2:
		return a < b;
	case 3:
		return a <= b;
	case 4:
		return a > b;
	default:
		return a >= b;
	}
}

/* Does the thread stay; the byte offset of its access from the base. */
static bool stays(const struct trial *t, const u32 *ctaid, const u32 *tid, s64 *at)
{
	u64 v[VALUES], index;
	bool p = false;

	compute(t, ctaid, tid, v);
	for (u32 i = 0; i < t->guards; i++) {
		const struct guard *g = &t->guard[i];
		bool sign = g->is_wide ? g->by_sign : g->is_signed, q;
		u64 a = t->is_long ? v[g->a] : extended(v[g->a], sign),
		    b = g->is_wide   ? t->wide
			: t->is_long ? v[g->b]
				     : extended(v[g->b], sign);

		q = g->is_wide && g->swapped && !t->is_long ? compare(g, b, a) : compare(g, a, b);
		p = !i ? q : g->any ? p || q : p && q;
	}
	index = t->is_long ? v[t->index] : extended(v[t->index], t->is_signed);
	*at = (s64)((index + 2) * t->width);
	return p == t->leave_if_not;
}

/* Coordinates of a thread of the grid. */
static void place(const struct trial *t, u32 thread, u32 *ctaid, u32 *tid)
{
	const u32 *sizes[2] = {t->block, t->grid};
	u32 *out[2] = {tid, ctaid};

	for (u32 k = 0; k < 6; k++) {
		out[k / 3][k % 3] = thread % sizes[k / 3][k % 3];
		thread /= sizes[k / 3][k % 3];
	}
}

static u32 threads_of(const struct trial *t)
{
	return t->grid[0] * t->grid[1] * t->grid[2] * t->block[0] * t->block[1] * t->block[2];
}

static void find_reach(struct trial *t)
{
	u32 ctaid[3], tid[3];
	s64 at;

	t->low = INT64_MAX;
	t->high = INT64_MIN;
	for (u32 i = 0; i < threads_of(t); i++) {
		place(t, i, ctaid, tid);
		if (!stays(t, ctaid, tid, &at))
			continue;
		if (at > FAR || at < -FAR) {
			t->low = -FAR;
			t->high = FAR;
			return;
		}
		t->low = at < t->low ? at : t->low;
		t->high = at > t->high ? at : t->high;
	}
}

/* ---- running ---- */

static void on_end(void *user, const struct sched_end *end)
{
	struct launch *e = user;

	pthread_mutex_lock(&e->lock);
	e->done = true;
	e->fault = end->fault ? end->fault->kind : FAULT_NONE;
	pthread_cond_signal(&e->cond);
	pthread_mutex_unlock(&e->lock);
}

static enum fault_kind run(const struct trial *t, const struct program *p, const char *level,
			   u32 pool, const u64 *params)
{
	struct launch e = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
	struct sched_launch l = {
		.env = {.program = p,
			.ops = exec_ops_select(level),
			.mem = &mem,
			.params = (const u8 *)params,
			.grid = {t->grid[0], t->grid[1], t->grid[2]},
			.block = {t->block[0], t->block[1], t->block[2]},
			.local_bytes = exec_local_bytes(p, 1024),
			.cluster = {1, 1, 1}},
		.resident_per_sm = 2,
		.done = on_end,
		.user = &e,
	};

	if (!sched_start(pools[pool], &l, true))
		return FAULT_UNSUPPORTED;
	pthread_mutex_lock(&e.lock);
	while (!e.done)
		pthread_cond_wait(&e.cond, &e.lock);
	pthread_mutex_unlock(&e.lock);
	return e.fault;
}

/* What `out` must hold; 0: the thread has left. */
static bool is_right(const struct trial *t, const u8 *in, const u32 *out)
{
	u32 ctaid[3], tid[3];
	s64 at;

	for (u32 i = 0; i < threads_of(t); i++) {
		u32 want = 0;
		u64 x = 0;

		place(t, i, ctaid, tid);
		if (stays(t, ctaid, tid, &at)) {
			memcpy(&x, in + (at - t->low), t->width);
			want = (u32)x + 7;
		}
		if (out[i] != want) {
			printf("# seed %llu: thread %u has %#x, not %#x\n",
			       (unsigned long long)t->seed, i, out[i], want);
			return false;
		}
	}
	return true;
}

/* `in`: what is read; in memory of the device that ends at the last element, or one before. */
static bool run_ways(const struct trial *t, const struct program *p, const u8 *in, bool is_short)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};
	u64 bytes = (u64)(t->high - t->low) + t->width, size = bytes - (is_short ? t->width : 0);
	u64 at = mem_alloc(&mem, size, 0, MEM_KIND_DEVICE),
	    out = mem_alloc(&mem, threads_of(t) * 4u, 0, MEM_KIND_DEVICE);
	u64 params[4] = {at - (u64)t->low, out, t->params[0] | (u64)t->params[1] << 32, t->wide};
	bool ok = at && out;

	for (u32 i = 0; ok && i < 4; i++) {
		enum fault_kind fault, want = is_short ? FAULT_ILLEGAL_ADDRESS : FAULT_NONE;

		if (!check_level(exec_ops_select(levels[i]), levels[i]))
			continue;
		memcpy((void *)(uintptr_t)at, in, size);
		memset((void *)(uintptr_t)out, 0, threads_of(t) * 4u);
		fault = run(t, p, levels[i], (u32)(t->seed + i) & 1, params);
		ok = fault == want && (is_short || is_right(t, in, (const u32 *)(uintptr_t)out));
		if (!ok)
			printf("# seed %llu, %s: fault %d\n", (unsigned long long)t->seed,
			       levels[i], (int)fault);
	}
	mem_free(&mem, at);
	mem_free(&mem, out);
	return ok;
}

static bool run_trial(struct trial *t, u32 *idle)
{
	struct lower_options options = {.warps = (t->block[0] * t->block[1] * t->block[2] + 31) /
						 32};
	struct text ptx = {0}, messages = {0};
	struct diag_source source;
	struct program *p = NULL;
	struct ir_module *m;
	struct diag d;
	u8 *in = NULL;
	bool ok = false;

	find_reach(t);
	if (t->high >= t->low && t->high - t->low > BYTES_MAX)
		return true; /* nothing that could be allocated */
	if (t->high < t->low)
		t->high = t->low = 0;
	put(t, &ptx);
	source = (struct diag_source){"affine.ptx", ptx.at, ptx.len};
	diag_init(&d, diag_collect, &messages);
	m = ptx_parse(&source, NULL, &d);
	if (m)
		p = exec_lower(m, ir_find_func(m, "k"), arch_find("a100"), NULL, &options, &d);
	in = calloc(1, (u64)(t->high - t->low) + 8);
	if (p && in) {
		for (s64 i = 0; i < t->high - t->low + t->width; i++)
			in[i] = (u8)(i * 167 + i / 256 * 29);
		*idle += p->may_be_idle;
		ok = run_ways(t, p, in, false);
		if (ok && t->high > t->low)
			ok = run_ways(t, p, in, true);
	}
	if (!ok)
		printf("# %s\n# seed %llu\n%s\n", messages.at ? messages.at : "",
		       (unsigned long long)t->seed, ptx.at);
	for (u32 i = 0; p && i < 2; i++)
		sched_forget(pools[i], p);
	exec_program_free(p);
	ir_module_free(m);
	text_fini(&ptx);
	text_fini(&messages);
	diag_fini(&d);
	free(in);
	return ok;
}

int main(int argc, char **argv)
{
	u64 n = argc > 1 ? strtoull(argv[1], NULL, 0) : 400,
	    first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	u32 bad = 0, idle = 0;

	if (!CHECK(mem_init(&mem, (u64)1 << 30)))
		return check_done();
	mem.strict = true;
	for (u32 i = 0; i < 2; i++)
		pools[i] = sched_pool_new(&(struct sched_options){.workers = i + 1});
	for (u64 i = 0; i < n && !bad; i++) {
		struct trial t;

		make(&t, first + i);
		bad += !run_trial(&t, &idle);
	}
	CHECK_EQ(bad, 0);
	CHECK_MSG(n < 100 || idle > n / 4, "some kernels begin with a way to their end");
	for (u32 i = 0; i < 2; i++)
		sched_pool_free(pools[i]);
	mem_fini(&mem);
	return check_done();
}
