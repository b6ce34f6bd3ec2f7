/*
 * Where a compiled run begins: src/tier/tier.h. Gangs run its code, warps on their own interpret
 * it, and so do all where there is no code yet or where it gives up.
 */
#include "src/base/stats.h"
#include "src/ops/access.h"
#include "src/ops/tables.h"
#include "src/tier/tier.h"

/* Bytes of memory that an access may touch, as the host has them. */
struct part {
	u64 from, end;
};

static struct part cache_part(const struct gang *g, const struct tier_access *x)
{
	const struct mem_cache *c = &g->caches[x->cache];
	u64 shared = (u64)(uintptr_t)g->shared;

	if (x->shared)
		return (struct part){shared, shared + g->env->shared_bytes};
	return (struct part){c->lo + c->bias, c->lo + c->bias + c->span};
}

struct reaches {
	struct tier_reach at[TIER_ACCESSES];
	u64 bytes[TIER_ACCESSES];
	bool one_row[TIER_ACCESSES]; /* affine, and all lanes of the gang are neighbours */
};

static struct part memory_of_access(const struct gang *g, const struct tier_run *r, u32 i,
				    const struct reaches *x)
{
	u64 host;

	if (!r->access[i].affine)
		return cache_part(g, &r->access[i]);
	host = x->at[i].base + g->caches[r->access[i].cache].bias;
	return (struct part){host, host + x->bytes[i]};
}

/*
 * Code stores what a warp stores before other warps have loaded: is that the same as micro-op by
 * micro-op? It is if no lane loads from where another one stores.
 */
static bool loads_apart(const struct gang *g, const struct tier_run *r, const struct reaches *x)
{
	u32 last = r->accesses - 1;
	struct part store;

	if (!r->stores || g->lanes == WARP_LANES)
		return true;
	store = memory_of_access(g, r, last, x);
	for (u32 i = 0; i < last; i++) {
		struct part load = memory_of_access(g, r, i, x);

		if (r->access[i].own && r->access[i].affine && x->one_row[i])
			continue;
		if (load.from < store.end && store.from < load.end)
			return false;
	}
	return true;
}

static bool find_reaches(const struct gang *g, const struct uop *in, const struct tier_run *r,
			 bool whole, struct reaches *x)
{
	memset(x->one_row, 0, sizeof(x->one_row));
	for (u32 i = 0; r->affines && i < r->accesses; i++)
		if (r->access[i].affine &&
		    !EXEC_NAME(affine_reach)(g, in + r->access[i].at, whole, &x->at[i],
					     &x->bytes[i], &x->one_row[i]))
			return false;
	return true;
}

/* Warps `done` and on, micro-op by micro-op. */
static const struct uop *run_rest(struct gang *g, const struct uop *in, const struct tier_run *r,
				  u32 done)
{
	u32 first = g->warp, lanes = g->lanes;
	const struct uop *end = in + r->n;
	bool full = g->full;

	g->warp = done;
	g->lane0 = done * WARP_LANES;
	g->lanes = lanes - (done - first) * WARP_LANES;
	g->full = false;
	while (in && in < end)
		in = g->table->run[in->inner](g, in);
	g->warp = first;
	g->lane0 = first * WARP_LANES;
	g->lanes = lanes;
	g->full = full;
	return in;
}

/* Operations that code calls work on all lanes of one warp. */
static void open_calls(struct gang *one, const struct gang *g, u8 *rows)
{
	one->regs = rows;
	one->lane0 = one->warp = 0;
	one->lanes = WARP_LANES;
	one->warps = 1;
	one->active = FULL_MASK;
	one->mode = MODE_GANG;
	one->env = g->env;
	one->cta = g->cta;
}

/* May all lanes of the gang, those that take no part too, load and store by affine accesses? */
static bool reaches_are_allowed(const struct gang *g, const struct uop *in,
				const struct tier_run *r, const struct reaches *x)
{
	for (u32 i = 0; r->affines && i < r->accesses; i++)
		if (r->access[i].affine &&
		    !EXEC_NAME(affine_allowed)(g, in + r->access[i].at, &x->at[i], x->bytes[i]))
			return false;
	return true;
}

/* A warp that may not load for all its lanes does so for those that take part. */
static u32 run_spans(const struct tier_run *r, const struct tier_call *call, u32 first, u32 end)
{
	while (first < end) {
		u32 done = r->spans(call, first, end, false);

		if (done == end)
			return end;
		first = r->code(call, done, done + 1, false);
		if (first == done)
			return done;
	}
	return end;
}

static struct exec_stride *stride_of(struct gang *g, const struct tier_run *r, u32 access)
{
	return &g->stride[r->access[access].cache % EXEC_STRIDES];
}

/* Accesses that go on by the same step are expected to do so once more. */
static void look_ahead(struct gang *g, const struct tier_run *r, const struct tier_call *call)
{
	s64 *ahead = (s64 *)(uintptr_t)call->ahead;

	for (u32 i = 0; i < r->accesses; i++) {
		ahead[i] = stride_of(g, r, i)->ahead;
		call->now[i] = 0;
	}
}

static void note_strides(struct gang *g, const struct tier_run *r, const u64 *now)
{
	for (u32 m = r->hints; m; m &= m - 1) {
		u32 i = (u32)__builtin_ctz(m);
		struct exec_stride *x = stride_of(g, r, i);
		s64 step = (s64)(now[i] - x->at);

		x->ahead = step == x->step ? step : 0;
		x->step = step;
		x->at = now[i];
	}
}

/* Runs the code for all warps that it can do. Returns the first that it has not. */
static OUT_OF_LINE u32 run_code(struct gang *g, const struct uop *in, const struct tier_run *r)
{
	u32 live[GANG_WARPS], first = g->warp, end = first + WARPS;
	bool whole = g->full;
	u64 sink[4] __attribute__((aligned(32))) = {0};
	u8 rows[TIER_CALL_ROWS * TIER_CALL_ROW] __attribute__((aligned(64)));
	s64 ahead[TIER_ACCESSES];
	u64 now[TIER_ACCESSES];
	struct mem_cache shared = {0, g->env->shared_bytes, (u64)(uintptr_t)g->shared};
	struct gang one;
	struct reaches x;
	struct tier_call call = {.regs = (u64)(uintptr_t)g->regs,
				 .caches = (u64)(uintptr_t)g->caches,
				 .ctaid = g->cta->id,
				 .live = live,
				 .reach = x.at,
				 .sink = (u64)(uintptr_t)sink,
				 .shared = &shared,
				 .gang = &one,
				 .rows = rows,
				 .handlers = g->env->ops->mode[MODE_GANG]->run,
				 .ahead = ahead,
				 .now = now};

	if (r->calls)
		open_calls(&one, g, rows);
	for (u32 w = first; !whole && w < end; w++)
		live[w] = g->warp_at[w].live;
	if (!find_reaches(g, in, r, whole, &x) || !loads_apart(g, r, &x))
		return first;
	look_ahead(g, r, &call);
	if (!whole && r->spans && reaches_are_allowed(g, in, r, &x))
		end = run_spans(r, &call, first, end);
	else
		end = r->code(&call, first, end, whole);
	note_strides(g, r, now);
	return end;
}

/* Of `warps` warps that have done the run, so many by code; where it is counted. */
static ALWAYS_INLINE void count_run(bool counted, const struct tier_run *r, u32 warps, u32 by_code)
{
	if (counted)
		stats_add(STATS_CODE, (u64)warps * r->n, 0, (u64)by_code * r->n);
}

/* Every TIER_CALLS-th of the gang stands for all of them. */
static ALWAYS_INLINE bool is_counted_call(struct gang *g)
{
	if (PL_LIKELY(++g->calls < TIER_CALLS))
		return false;
	g->calls = 0;
	return true;
}

static ALWAYS_INLINE const struct uop *run_tier(struct gang *g, const struct uop *in, bool counted)
{
	struct tier_run *r = tier_run_at(g->env->program, (u32)(in - g->uops));
	u32 done;

	if (PL_UNLIKELY(__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) != TIER_READY)) {
		if (r->looks_always)
			tier_look(g, r, 1);
		else if (is_counted_call(g))
			tier_look(g, r, TIER_CALLS);
		if (__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) != TIER_READY) {
			count_run(counted, r, WARPS, 0);
			return g->table->run[in->inner](g, in);
		}
	}
	if (is_counted_call(g))
		__atomic_fetch_add(&r->came, TIER_CALLS, __ATOMIC_RELAXED);
	done = run_code(g, in, r);
	count_run(counted, r, WARPS, done - g->warp);
	if (PL_LIKELY(done == g->warp + WARPS))
		return in + r->n;
	tier_left(g, r);
	return done == g->warp ? g->table->run[in->inner](g, in) : run_rest(g, in, r, done);
}

HANDLER(tier_gang)
{
	return run_tier(g, in, false);
}

HANDLER(tier_diverged)
{
	return run_tier(g, in, false);
}

HANDLER(tier_warp)
{
	return g->table->run[in->inner](g, in);
}

/* For statistics. */
HANDLER(tier_counted_gang)
{
	return run_tier(g, in, true);
}

HANDLER(tier_counted_diverged)
{
	return run_tier(g, in, true);
}

HANDLER(tier_counted_warp)
{
	return g->table->run[in->inner](g, in);
}
