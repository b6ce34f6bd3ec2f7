/*
 * src/check/race/known.h: sets say of each thread what all that was put into them says, and no more
 * than that; and they do not keep what is said already of a warp or a CTA.
 */
#include "src/check/race/known.h"
#include "tests/check.h"

#define CTAS 2u
#define THREADS 64u
#define ROUNDS 2000u

static u64 seed = 1;
static u32 truth[CTAS][THREADS];

static u32 below(u32 n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (u32)(seed >> 33) % n;
}

static struct known_entry statement(u32 cta, u32 until)
{
	u32 first = below(THREADS), n = 1, kind = below(4);
	u64 who = who_thread(cta, first);

	if (kind == 0) {
		who = who_cta(cta);
		first = 0;
		n = THREADS;
	} else if (kind == 1) {
		first &= ~31u;
		n = 32;
		who = who_warp(cta, first / 32);
	}
	for (u32 i = first; i < first + n; i++)
		truth[cta][i] = truth[cta][i] > until ? truth[cta][i] : until;
	return (struct known_entry){who, until};
}

static bool is_true(const struct known *k)
{
	for (u32 cta = 0; cta < CTAS; cta++)
		for (u32 i = 0; i < THREADS; i++)
			if (known_until(k, who_thread(cta, i)) != truth[cta][i])
				return false;
	return true;
}

static void add_at_random(void)
{
	struct known *k = NULL, *joined, *part;
	bool same = true;

	for (u32 round = 0; round < ROUNDS; round++) {
		struct known_entry at[5];
		u32 n = 1 + below(5);

		if (!below(40)) {
			known_drop(k);
			k = NULL;
			memset(truth, 0, sizeof(truth));
		}
		for (u32 i = 0; i < n; i++)
			at[i] = statement(below(CTAS), 1 + below(1000));
		part = known_add(NULL, at, n);
		joined = below(2) ? known_join(k, part) : known_join(part, k);
		known_drop(part);
		known_drop(k);
		k = joined;
		same &= is_true(k);
	}
	CHECK(same);
	known_drop(k);
}

/* Threads one by one, and then the warp: the set is small again. */
static void forget_threads(void)
{
	struct known_entry at[33], warp = {who_warp(1, 0), 9}, reads = {who_reads(1), 3};
	struct known *k, *all, *rest, *again;

	for (u32 i = 0; i < 33; i++)
		at[i] = (struct known_entry){who_thread(1, i), 1 + i % 8};
	k = known_add(NULL, at, 33);
	CHECK_EQ(k->len, 33);
	all = known_add(k, &warp, 1);
	CHECK_EQ(all->len, 2);
	again = known_join(all, k);
	CHECK(again == all);
	known_drop(again);
	again = known_join(k, all);
	CHECK(again == all);
	known_drop(again);
	again = known_add(all, &reads, 1);
	rest = known_without(again, 1, 8);
	CHECK_EQ(rest->len, 2);
	known_drop(rest);
	rest = known_without(again, 1, 9);
	CHECK_EQ(rest->len, 1);
	CHECK_EQ(known_until_read(rest, who_thread(1, 5)), 3);
	known_drop(rest);
	rest = known_reads(again);
	CHECK_EQ(rest->len, 1);
	known_drop(rest);
	known_drop(again);
	known_drop(all);
	known_drop(k);
}

/* What stands before fences is apart from what is known, and goes with it. */
static void pass_fences(void)
{
	struct known_entry at[] = {{who_cta(1), 4}, {who_thread(1, 5), 7}, {who_thread(2, 3), 9}};
	struct known_entry own = {who_warp(0, 1), 12};
	struct known *k = known_add(NULL, at, 3), *all, *acquired;
	struct known *fenced = known_fence(k, &own, 1, PROXY_TENSORMAP_CTA);

	CHECK_EQ(known_until(fenced, who_thread(1, 5)), 0);
	CHECK_EQ(known_until_fenced(k, who_thread(1, 5), PROXY_TENSORMAP_CTA), 0);
	all = known_join(k, fenced);
	CHECK_EQ(all->len, 7);
	CHECK_EQ(known_until(all, who_thread(1, 5)), 7);
	CHECK_EQ(known_until(all, who_thread(0, 40)), 0);
	CHECK_EQ(known_until_fenced(all, who_thread(1, 5), PROXY_TENSORMAP_CTA), 7);
	CHECK_EQ(known_until_fenced(all, who_thread(1, 6), PROXY_TENSORMAP_CTA), 4);
	CHECK_EQ(known_until_fenced(all, who_thread(0, 40), PROXY_TENSORMAP_CTA), 12);
	CHECK_EQ(known_until_fenced(all, who_thread(1, 5), PROXY_ASYNC_GLOBAL), 0);
	acquired = known_acquire(all, 1, true);
	CHECK_EQ(acquired->len, 2);
	CHECK_EQ(known_until_fenced(acquired, who_thread(1, 5), PROXY_TENSORMAP_ACQUIRED), 7);
	CHECK_EQ(known_until_fenced(acquired, who_thread(2, 3), PROXY_TENSORMAP_ACQUIRED), 0);
	known_drop(acquired);
	known_drop(all);
	known_drop(fenced);
	known_drop(k);
}

int main(void)
{
	pass_fences();
	add_at_random();
	forget_threads();
	return check_done();
}
