/*
 * What threads know of each other, as fences, barriers, releases and acquires change it.
 */
#include "src/check/race/clock.h"
#include "src/base/vec.h"

#include <stdlib.h>

/* Read-modify-writes in a row whose releases are kept apart. */
#define CHAIN_MAX 4096u

struct release {
	u32 refs;
	u64 cta, cluster, who;
	u32 own[SCOPES]; /* 0: not released to that scope */
	u32 cta_all, cta_fenced;
	struct near near[NEAR_SETS];
	struct known *others;
	/* Without a fence: what the CTA, and those that it knows of, have read. */
	u32 cta_read;
	struct known *others_read;
	struct release *before; /* that read-modify-writes have kept */
	u32 chain;
	/* Of releases that they have kept, one after the other: the same number, and which one. */
	u64 line;
	u32 place;
	/* With all before: what a thread of the same CTA learns, and one of another cluster. */
	struct summary {
		bool made;
		struct known *known;
	} near_view, far_view;
};

/* ---- releases ---- */

static void release_drop(struct release *r)
{
	while (r && !--r->refs) {
		struct release *before = r->before;

		known_drop(r->others);
		known_drop(r->others_read);
		known_drop(r->near_view.known);
		known_drop(r->far_view.known);
		free(r);
		r = before;
	}
}

static void take(struct known **to, struct known *k)
{
	struct known *joined = known_join(*to, k);

	known_drop(*to);
	*to = joined;
}

static void take_entries(struct known **to, struct known_entry *at, u32 n)
{
	struct known *joined = known_add(*to, at, n);

	known_drop(*to);
	*to = joined;
}

/* Lanes of a warp learn the same, one after the other. */
static void take_alike(struct clock_cta *c, struct known **to, struct known *k)
{
	struct known *before = *to;

	if (!k || k == before)
		return;
	if (before && c->joined.a == before && c->joined.b == k) {
		*to = known_keep(c->joined.both);
		known_drop(before);
		return;
	}
	*to = known_join(before, k);
	if (!before)
		return;
	clock_forget_joined(c);
	c->joined.a = before;
	c->joined.b = known_keep(k);
	c->joined.both = known_keep(*to);
}

void clock_forget_joined(struct clock_cta *c)
{
	known_drop(c->joined.a);
	known_drop(c->joined.b);
	known_drop(c->joined.both);
	memset(&c->joined, 0, sizeof(c->joined));
}

typedef VEC(struct known_entry) entry_list;

u32 clock_near_entries(const struct near near[NEAR_SETS], u64 cta, u32 warp, bool fenced,
		       struct known_entry *at)
{
	u32 n = 0;

	for (u32 i = 0; i < NEAR_SETS; i++) {
		const struct near *x = &near[i];

		if (!x->until || (fenced && !x->fenced))
			continue;
		if (x->mask == FULL_MASK) {
			at[n++] = (struct known_entry){who_warp(cta, warp), x->until};
			continue;
		}
		for (u32 m = x->mask; m; m &= m - 1)
			at[n++] = (struct known_entry){
				who_thread(cta, warp * WARP_LANES + (u32)__builtin_ctz(m)),
				x->until};
	}
	return n;
}

/* What a release says to those that need a scope; the statements are added to a list. */
static void say_release(const struct release *r, enum scope needed, struct known **to,
			entry_list *list)
{
	struct known_entry at[NEAR_SETS * WARP_LANES + 2], read = {who_reads(r->cta), r->cta_read};
	u32 n = 0, cta = needed == SCOPE_CTA ? r->cta_all : r->cta_fenced;

	if (r->cta_read && !VEC_PUSH(list, read))
		known_fail();
	take(to, r->others_read);
	if (!r->own[needed])
		return;
	at[n++] = (struct known_entry){r->who, r->own[needed]};
	if (cta)
		at[n++] = (struct known_entry){who_cta(r->cta), cta};
	n += clock_near_entries(r->near, r->cta, who_index(r->who) / WARP_LANES,
				needed != SCOPE_CTA, at + n);
	for (u32 i = 0; i < n; i++)
		if (!VEC_PUSH(list, at[i]))
			known_fail();
	take(to, r->others);
}

/* What the last release to a variable, and those before it that it kept, say to other CTAs. */
static struct known *far_view(struct release *r)
{
	entry_list list = {0};

	for (struct release *x = r->far_view.made ? NULL : r; x; x = x->before) {
		if (x->far_view.made) {
			take(&r->far_view.known, x->far_view.known);
			break;
		}
		say_release(x, SCOPE_GPU, &r->far_view.known, &list);
	}
	r->far_view.made = true;
	take_entries(&r->far_view.known, list.at, (u32)list.len);
	VEC_FREE(&list);
	return r->far_view.known;
}

/* The same to a CTA: those of its cluster say more. */
static void view(struct release *r, struct clock_cta *c, struct known **to)
{
	bool near = r->cta == c->number;
	struct known *known;
	entry_list list = {0};

	if (near ? r->near_view.made : r->cluster != c->cluster) {
		take_alike(c, to, near ? r->near_view.known : far_view(r));
		return;
	}
	known = known_keep(far_view(r));

	for (struct release *x = r; x; x = x->before) {
		if (x->cta == c->number && x->near_view.made) {
			take(&known, x->near_view.known);
			break;
		}
		if (x->cluster == c->cluster)
			say_release(x, x->cta == c->number ? SCOPE_CTA : SCOPE_CLUSTER, &known,
				    &list);
	}
	take_entries(&known, list.at, (u32)list.len);
	VEC_FREE(&list);
	take_alike(c, to, known);
	if (!near) {
		known_drop(known);
		return;
	}
	r->near_view.known = known;
	r->near_view.made = true;
}

void clock_end_plain(struct clock_cta *c)
{
	if (PL_LIKELY(!c->plain))
		return;
	c->plain = false;
	c->is_used = true;
	for (u32 i = 0; i < c->threads; i++)
		c->thread[i].cta = c->whole;
}

static enum scope scope_to(const struct clock_cta *c, const struct release *r)
{
	if (r->cta == c->number)
		return SCOPE_CTA;
	return r->cluster == c->cluster ? SCOPE_CLUSTER : SCOPE_GPU;
}

static void acquire(struct clock_cta *c, struct thread_clock *t, struct release *r,
		    enum scope scope)
{
	if (scope_to(c, r) <= scope)
		view(r, c, &t->others);
}

static void acquire_pending(struct clock_cta *c, struct thread_clock *t, enum scope scope)
{
	for (u32 i = 0; i < t->pendings; i++) {
		enum scope s = t->pending[i].scope;

		acquire(c, t, t->pending[i].of, s < scope ? s : scope);
		release_drop(t->pending[i].of);
	}
	t->pendings = 0;
}

struct known *clock_known_soon(struct clock_cta *c, const struct thread_clock *t)
{
	struct known *k = known_keep(t->others);

	for (u32 i = 0; i < t->pendings; i++)
		if (scope_to(c, t->pending[i].of) <= t->pending[i].scope)
			view(t->pending[i].of, c, &k);
	return k;
}

/* ---- a variable ---- */

static struct release *last_release(const struct map *variables, u64 key)
{
	u64 *slot = map_get(variables, key);

	return slot ? (struct release *)(uintptr_t)*slot : NULL;
}

void clock_overwritten(struct map *variables, u64 key)
{
	struct release *r = variables->len ? last_release(variables, key) : NULL;

	if (!r)
		return;
	map_remove(variables, key);
	release_drop(r);
}

/*
 * Does acquiring `r` tell the CTA all that acquiring `old` does, whatever scope a fence has?
 * Threads that wait for a lock read one after the other.
 */
static bool includes(const struct clock_cta *c, const struct release *r, const struct release *old)
{
	return r == old || (r->line == old->line && r->place > old->place && !old->cta_read &&
			    scope_to(c, r) <= scope_to(c, old));
}

void clock_strong_read(struct map *variables, struct clock_cta *c, u32 thread, u64 key,
		       enum scope scope, bool acquires)
{
	struct thread_clock *t = &c->thread[thread];
	struct release *r = variables->len ? last_release(variables, key) : NULL;

	if (!r)
		return;
	clock_end_plain(c);
	if (acquires) {
		acquire(c, t, r, scope);
		return;
	}
	for (u32 i = 0; i < t->pendings; i++) {
		if (t->pending[i].scope != scope || !includes(c, r, t->pending[i].of))
			continue;
		r->refs++;
		release_drop(t->pending[i].of);
		t->pending[i].of = r;
		return;
	}
	/* More than there is room for: the oldest as if a fence stood behind it. */
	if (t->pendings == PENDING_MAX) {
		acquire(c, t, t->pending[0].of, (enum scope)t->pending[0].scope);
		release_drop(t->pending[0].of);
		memmove(&t->pending[0], &t->pending[1], sizeof(t->pending) - sizeof(t->pending[0]));
		t->pendings--;
	}
	t->pending[t->pendings].of = r;
	t->pending[t->pendings++].scope = (u8)scope;
	r->refs++;
}

static bool says_nothing_new(const struct release *r, const struct thread_clock *t, u64 who,
			     const u32 own[SCOPES])
{
	return r->who == who && !memcmp(r->own, own, sizeof(r->own)) && r->others == t->others &&
	       r->cta_all == t->cta && r->cta_fenced == t->cta_fenced;
}

/*
 * Up to when what the CTA has read is read before a strong write of a thread, with no fence: a
 * barrier ends loads, and a write that others see did not happen before what it waited for. Plain
 * stores only: atomics are frequent, and blocks that look back at others store their state.
 */
static u32 read_before(const struct clock_cta *c, const struct thread_clock *t, enum scope scope,
		       bool rmw)
{
	if (rmw || scope < SCOPE_GPU)
		return 0;
	return c->plain ? c->whole : t->cta;
}

static void take_reads(struct known **to, struct known *from)
{
	struct known *reads = known_reads(from);

	take(to, reads);
	known_drop(reads);
}

/*
 * What other CTAs have read before it: what the thread knows, and what its warp has been told,
 * whose lanes look at several CTAs and gather by shuffles. The caller owns the result.
 */
static struct known *others_read_before(const struct clock_cta *c, u32 thread)
{
	struct known *reads = known_reads(c->thread[thread].others);
	const struct release *last = NULL;
	u32 first = thread & ~(WARP_LANES - 1);

	for (u32 i = first; i < first + WARP_LANES; i++)
		for (u32 j = 0; j < c->thread[i].pendings; j++) {
			const struct release *r = c->thread[i].pending[j].of;
			struct known_entry own = {who_reads(r->cta), r->cta_read};

			if (r == last || !r->cta_read || c->thread[i].pending[j].scope < SCOPE_GPU)
				continue;
			last = r;
			take_entries(&reads, &own, 1);
			take(&reads, r->others_read);
			take_reads(&reads, r->others);
		}
	return reads;
}

/* What the thread's warpgroup has read is done with when one of its threads says so. */
static void say_group(struct release *r, const struct clock_cta *c, u32 thread)
{
	u32 group = thread / WHO_GROUP_THREADS;
	struct known_entry read = {who_group_reads(c->number, group), c->group_read[group]};

	if (read.until)
		take_entries(&r->others, &read, 1);
}

static void keep_before(struct clock *k, struct release *r, struct release *before)
{
	r->before = before;
	r->chain = before ? before->chain + 1 : 0;
	r->line = before ? before->line : ++k->lines;
	r->place = before ? before->place + 1 : 0;
}

void clock_strong_write(struct clock *k, struct map *variables, struct clock_cta *c, u32 thread,
			u64 key, enum scope scope, bool releases, bool rmw)
{
	struct thread_clock *t = &c->thread[thread];
	struct release *before = variables->len ? last_release(variables, key) : NULL, *r;
	u64 who = who_thread(c->number, thread);
	u32 own[SCOPES] = {0}, read = read_before(c, t, scope, rmw);

	if (releases)
		clock_end_plain(c);
	for (u32 s = 0; s <= (u32)scope; s++)
		own[s] = releases ? k->now : t->fence[s];
	if (!rmw) {
		clock_overwritten(variables, key);
		before = NULL;
	}
	if (!own[SCOPE_CTA] && !read)
		return;
	clock_say_copies(c, thread);
	if (before && says_nothing_new(before, t, who, own))
		return;
	r = calloc(1, sizeof(*r));
	if (!r) {
		known_fail();
		return;
	}
	*r = (struct release){
		.refs = 1, .cta = c->number, .cluster = c->cluster, .who = who, .cta_read = read};
	memcpy(r->own, own, sizeof(own));
	memcpy(r->near, t->near, sizeof(r->near));
	r->cta_all = t->cta;
	r->cta_fenced = releases ? t->cta : t->cta_fenced;
	for (u32 i = 0; i < NEAR_SETS; i++)
		r->near[i].fenced |= releases;
	r->others = known_keep(t->others);
	say_group(r, c, thread);
	r->others_read = read ? others_read_before(c, thread) : NULL;
	keep_before(k, r, before);
	if (!map_set(variables, key, map_key(r))) {
		known_fail();
		release_drop(r);
		return;
	}
	if (r->chain == CHAIN_MAX) {
		struct known *known = NULL;

		view(r, c, &known);
		known_drop(known);
		release_drop(r->before);
		r->before = NULL;
		r->chain = 0;
	}
	k->now += releases;
}

/* ---- asynchronous copies ---- */

/* A release of these copies alone, beside what the variable had. */
static void release_copies(struct clock *k, struct map *variables, struct clock_cta *c, u64 key,
			   u64 who)
{
	struct release *before = variables->len ? last_release(variables, key) : NULL;
	struct release *r = calloc(1, sizeof(*r));

	if (!r) {
		known_fail();
		return;
	}
	*r = (struct release){.refs = 1,
			      .cta = c->number,
			      .cluster = c->cluster,
			      .who = who,
			      .own = {[SCOPE_CTA] = k->now, [SCOPE_CLUSTER] = k->now}};
	keep_before(k, r, before);
	if (!map_set(variables, key, map_key(r))) {
		known_fail();
		r->before = NULL;
		release_drop(r);
	}
}

void clock_copies_complete(struct clock *k, struct map *variables, struct clock_cta *c, u32 thread,
			   u64 key, bool bulk)
{
	if (bulk) {
		release_copies(k, variables, c, key, who_agent(c->number, thread, AGENT_BULK_READ));
		release_copies(k, variables, c, key,
			       who_agent(c->number, thread, AGENT_BULK_WRITE));
	} else {
		release_copies(k, variables, c, key, who_agent(c->number, thread, AGENT_COPY));
	}
	k->now++;
}

/* ---- fences and barriers ---- */

void clock_fence(struct clock *k, struct clock_cta *c, u32 warp, u32 mask, enum scope scope)
{
	clock_end_plain(c);
	c->fenced = true;
	for (u32 m = mask; m; m &= m - 1) {
		struct thread_clock *t = &c->thread[warp * WARP_LANES + (u32)__builtin_ctz(m)];

		acquire_pending(c, t, scope);
		for (u32 s = 0; s <= (u32)scope; s++)
			t->fence[s] = k->now;
		if (scope == SCOPE_CTA)
			continue;
		t->cta_fenced = t->cta;
		for (u32 i = 0; i < NEAR_SETS; i++)
			t->near[i].fenced = true;
	}
	k->now++;
}

/* What threads that meet know together. */
struct pooled {
	struct known *others;
	u32 cta, cta_fenced;
	bool fenced; /* one has fenced since it met others */
	entry_list list;
};

static void pool_entries(struct pooled *p, const struct known_entry *at, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (!VEC_PUSH(&p->list, at[i]))
			known_fail();
}

static void pool_thread(struct clock_cta *c, struct thread_clock *t, u32 warp, u32 set,
			struct pooled *p)
{
	struct known_entry at[NEAR_SETS * WARP_LANES];
	u32 n;

	/* A barrier acquires what a strong read before it has seen released. */
	acquire_pending(c, t, SCOPE_SYS);
	if (p->others != t->others)
		take(&p->others, t->others);
	p->cta = t->cta > p->cta ? t->cta : p->cta;
	p->cta_fenced = t->cta_fenced > p->cta_fenced ? t->cta_fenced : p->cta_fenced;
	p->fenced |= t->fence[SCOPE_CLUSTER] > t->cta_fenced;
	for (u32 i = 0; i < NEAR_SETS; i++) {
		struct near x[NEAR_SETS] = {t->near[i]};

		if (!x->until || !(x->mask & ~set))
			continue;
		n = clock_near_entries(x, c->number, warp, false, at);
		pool_entries(p, at, n);
	}
	pool_entries(p, at, clock_copied_entries(c, (u32)(t - c->thread), at));
}

static void pool_end(struct pooled *p)
{
	known_drop(p->others);
	VEC_FREE(&p->list);
}

static void set_others(struct thread_clock *t, struct known *k)
{
	t->copies_said = true;
	if (t->others == k)
		return;
	known_drop(t->others);
	t->others = known_keep(k);
}

/* Do all threads that run leave a barrier? */
static bool all_leave(const struct clock_cta *c, const struct meeting *b)
{
	for (u32 w = 0; w < c->warps; w++)
		if (c->cta->warp[w].live & ~b->leaving[w])
			return false;
	return true;
}

/* They do, and there is nothing else that they know. */
static void leave_plain(struct clock_cta *c, u32 now)
{
	c->whole = now;
	for (u32 w = 0; w < c->warps; w++)
		c->warp_known[w] = now;
}

/* All of the CTA have met: what they know of each other is one number. */
static void leave_whole(struct clock_cta *c, struct meeting *b, struct pooled *p, u32 now)
{
	bool all = all_leave(c, b);
	u32 fenced = p->fenced ? now : p->cta_fenced;

	take_entries(&p->others, p->list.at, (u32)p->list.len);
	if (all) {
		struct known *rest = known_without(p->others, c->number, fenced);

		known_drop(p->others);
		p->others = rest;
	}
	c->plain = all && !c->fenced && !p->others;
	c->whole = all ? now : c->whole;
	for (u32 w = 0; w < c->warps; w++) {
		if (all || b->leaving[w] == FULL_MASK)
			c->warp_known[w] = now;
		for (u32 m = b->leaving[w]; m; m &= m - 1) {
			struct thread_clock *t = &c->thread[w * WARP_LANES + (u32)__builtin_ctz(m)];

			t->cta = now;
			t->cta_fenced = fenced;
			memset(t->near, 0, sizeof(t->near));
			set_others(t, p->others);
		}
	}
}

static void leave_part(struct clock_cta *c, struct meeting *b, struct pooled *p, u32 now)
{
	for (u32 w = 0; w < c->warps; w++) {
		if (b->arrived[w] == FULL_MASK &&
		    !VEC_PUSH(&p->list, ((struct known_entry){who_warp(c->number, w), now})))
			known_fail();
		for (u32 m = b->arrived[w] == FULL_MASK ? 0 : b->arrived[w]; m; m &= m - 1) {
			u32 thread = w * WARP_LANES + (u32)__builtin_ctz(m);

			if (!VEC_PUSH(&p->list,
				      ((struct known_entry){who_thread(c->number, thread), now})))
				known_fail();
		}
	}
	take_entries(&p->others, p->list.at, (u32)p->list.len);
	for (u32 w = 0; w < c->warps; w++)
		for (u32 m = b->leaving[w]; m; m &= m - 1) {
			struct thread_clock *t = &c->thread[w * WARP_LANES + (u32)__builtin_ctz(m)];

			t->cta = p->cta;
			t->cta_fenced = p->cta_fenced;
			set_others(t, p->others);
		}
}

static void end_meeting(struct clock *k, struct clock_cta *c, struct meeting *b)
{
	struct pooled p = {0};
	u32 now = k->now++;
	bool whole = !b->want || b->want >= c->threads;

	for (u32 w = 0; w < c->warps; w++)
		c->waits[w] &= ~b->leaving[w];
	if (whole && c->plain && all_leave(c, b)) {
		leave_plain(c, now);
		*b = (struct meeting){0};
		return;
	}
	clock_end_plain(c);
	for (u32 w = 0; w < c->warps; w++)
		for (u32 m = b->arrived[w]; m; m &= m - 1)
			pool_thread(c, &c->thread[w * WARP_LANES + (u32)__builtin_ctz(m)], w,
				    whole ? FULL_MASK : 0, &p);
	if (whole)
		leave_whole(c, b, &p, now);
	else
		leave_part(c, b, &p, now);
	pool_end(&p);
	*b = (struct meeting){0};
}

void clock_barrier(struct clock *k, struct clock_cta *c, u32 bar, u32 warp, u32 mask, u32 want,
		   bool waits)
{
	struct meeting *b = &c->bar[bar];

	/* They were let go, or the count is of the phase before. */
	if (b->open && ((b->arrived[warp] & mask) || b->want != want))
		end_meeting(k, c, b);
	b->open = true;
	b->want = want;
	b->arrived[warp] |= mask;
	b->count += (u32)__builtin_popcount(mask);
	if (waits) {
		b->leaving[warp] |= mask;
		c->waits[warp] |= mask;
	}
	if (want && b->count >= want)
		end_meeting(k, c, b);
}

static void keep_near(struct clock_cta *c, struct thread_clock *t, u32 warp, u32 set, u32 now,
		      bool fenced)
{
	u32 oldest = 0;

	for (u32 i = 0; i < NEAR_SETS; i++)
		if (!(t->near[i].mask & ~set))
			t->near[i] = (struct near){0};
	for (u32 i = 0; i < NEAR_SETS; i++)
		if (t->near[i].until < t->near[oldest].until)
			oldest = i;
	if (t->near[oldest].until) {
		struct known_entry at[NEAR_SETS * WARP_LANES];
		struct near x[NEAR_SETS] = {t->near[oldest]};

		take_entries(&t->others, at, clock_near_entries(x, c->number, warp, false, at));
	}
	t->near[oldest] = (struct near){set, now, fenced};
}

static void end_half(struct clock *k, struct clock_cta *c, u32 warp, u32 set)
{
	struct pooled p = {0};
	u32 now = k->now++;

	clock_end_plain(c);
	for (u32 m = set; m; m &= m - 1)
		pool_thread(c, &c->thread[warp * WARP_LANES + (u32)__builtin_ctz(m)], warp, set,
			    &p);
	take_entries(&p.others, p.list.at, (u32)p.list.len);
	for (u32 m = set; m; m &= m - 1) {
		struct thread_clock *t = &c->thread[warp * WARP_LANES + (u32)__builtin_ctz(m)];

		t->cta = p.cta;
		t->cta_fenced = p.cta_fenced;
		set_others(t, p.others);
		keep_near(c, t, warp, set, now, p.fenced);
	}
	pool_end(&p);
}

void clock_warp_sync(struct clock *k, struct clock_cta *c, u32 warp, u32 mask, u32 members)
{
	u32 free = MEETINGS_MAX, i;

	if (!(members & ~mask)) {
		end_half(k, c, warp, members);
		return;
	}
	for (i = 0; i < MEETINGS_MAX; i++) {
		if (c->half[warp][i].members == members)
			break;
		if (!c->half[warp][i].members)
			free = i;
	}
	i = i == MEETINGS_MAX ? free : i;
	if (i == MEETINGS_MAX)
		return;
	c->half[warp][i].members = members;
	c->half[warp][i].arrived |= mask & members;
	c->waits[warp] |= mask;
	if (c->half[warp][i].arrived != members)
		return;
	c->half[warp][i].members = c->half[warp][i].arrived = 0;
	end_half(k, c, warp, members);
}

void clock_resume(struct clock *k, struct clock_cta *c, u32 warp, u32 mask)
{
	u32 gone = c->waits[warp] & mask;

	if (PL_LIKELY(!gone))
		return;
	c->waits[warp] &= ~gone;
	clock_cluster_leave(k, c, warp, gone);
	for (u32 b = 0; b < CTA_BARRIERS; b++)
		if (c->bar[b].open && (c->bar[b].leaving[warp] & gone))
			end_meeting(k, c, &c->bar[b]);
	for (u32 i = 0; i < MEETINGS_MAX; i++) {
		u32 set = c->half[warp][i].arrived;

		if (!(set & gone))
			continue;
		c->half[warp][i].members = c->half[warp][i].arrived = 0;
		end_half(k, c, warp, set);
	}
}

/* ---- the whole ---- */

void clock_cta_free(struct clock_cta *c)
{
	for (u32 i = 0; c && i < c->threads; i++) {
		struct thread_clock *t = &c->thread[i];

		known_drop(t->others);
		for (u32 p = 0; p < t->pendings; p++)
			release_drop(t->pending[p].of);
	}
	if (c)
		clock_forget_joined(c);
	free(c ? c->copies[0] : NULL);
	free(c ? c->copies[1] : NULL);
	free(c);
}

void clock_variables_fini(struct map *variables)
{
	for (size_t i = 0; i < variables->cap; i++)
		if (variables->slots[i].key)
			release_drop((struct release *)(uintptr_t)variables->slots[i].value);
	map_fini(variables);
}

void clock_fini(struct clock *k)
{
	clock_variables_fini(&k->clusters);
}
