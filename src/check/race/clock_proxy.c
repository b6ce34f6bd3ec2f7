/*
 * Fences between proxies. They order nothing by themselves. What a thread has done and knows before
 * one becomes a statement of its own, which goes where the others go: threads that are ordered
 * behind the fence have it.
 */
#include "src/check/race/clock.h"

/* What threads of the CTA did before a fence of a thread: lanes beside it, and those it knows. */
static u32 fenced_entries(const struct clock_cta *c, const struct thread_clock *t, u32 warp,
			  const struct near *own, struct known_entry *at)
{
	u32 n = clock_near_entries(own, c->number, warp, false, at);

	n += clock_near_entries(t->near, c->number, warp, false, at + n);
	if (t->cta)
		at[n++] = (struct known_entry){who_cta(c->number), t->cta};
	return n;
}

/* proxies: a bit for each; or what they acquire. */
struct proxy_fence {
	u32 warp, proxies;
	struct near own[NEAR_SETS];
	bool acquires, wide;
};

static void learn_fenced(struct thread_clock *t, struct known *fenced)
{
	struct known *all = known_join(t->others, fenced);

	known_drop(fenced);
	known_drop(t->others);
	t->others = all;
}

static void fence_thread(struct clock_cta *c, struct thread_clock *t, const struct proxy_fence *f)
{
	struct known_entry at[2 * NEAR_SETS * WARP_LANES + 1];
	struct known *soon = clock_known_soon(c, t);
	u32 n = fenced_entries(c, t, f->warp, f->own, at);

	if (f->acquires)
		learn_fenced(t, known_acquire(soon, c->number, f->wide));
	for (u32 p = 0; p < PROXIES; p++)
		if (f->proxies >> p & 1)
			learn_fenced(t, known_fence(soon, at, n, (enum proxy)p));
	known_drop(soon);
}

/* Does a fence say the same of both? */
static bool fences_alike(const struct thread_clock *a, const struct thread_clock *b)
{
	return a->cta == b->cta && !a->pendings && !b->pendings &&
	       !memcmp(a->near, b->near, sizeof(a->near));
}

static void fence_lanes(struct clock_cta *c, u32 mask, const struct proxy_fence *f)
{
	struct thread_clock *thread = &c->thread[f->warp * WARP_LANES];
	u32 left = mask;

	clock_end_plain(c);
	while (left) {
		struct thread_clock *first = &thread[__builtin_ctz(left)];
		struct known *before = known_keep(first->others);

		fence_thread(c, first, f);
		for (u32 m = left &= left - 1; m; m &= m - 1) {
			struct thread_clock *t = &thread[__builtin_ctz(m)];

			if (t->others != before || !fences_alike(t, first))
				continue;
			known_drop(t->others);
			t->others = known_keep(first->others);
			left &= ~(1u << __builtin_ctz(m));
		}
		known_drop(before);
	}
}

void clock_proxy_fence(struct clock *k, struct clock_cta *c, u32 warp, u32 mask, u32 proxies)
{
	struct proxy_fence f = {.warp = warp, .proxies = proxies, .own = {{mask, k->now, false}}};

	fence_lanes(c, mask, &f);
	k->now++;
}

void clock_tensormap_acquire(struct clock *k, struct clock_cta *c, u32 warp, u32 mask, bool wide)
{
	struct proxy_fence f = {.warp = warp, .acquires = true, .wide = wide};

	fence_lanes(c, mask, &f);
	k->now++;
}

u32 clock_fenced(const struct clock_cta *c, u32 thread, u64 of, enum proxy p)
{
	return known_until_fenced(c->thread[thread].others, of, p);
}
