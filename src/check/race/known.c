/*
 * Sets of statements about others, shared by reference: sorted arrays that are merged. What one
 * about a warp or a CTA says, too, is left out, or sets grow by threads that meet in warps.
 */
#include "src/check/race/known.h"

#include <stdlib.h>

static _Thread_local bool failed;

bool known_failed(void)
{
	return failed;
}

void known_fail(void)
{
	failed = true;
}

struct known *known_keep(struct known *k)
{
	if (k)
		k->refs++;
	return k;
}

void known_drop(struct known *k)
{
	while (k && !--k->refs) {
		struct known *reads = k->reads;

		free(k);
		k = reads;
	}
}

static struct known *known_new(u64 most)
{
	struct known *k = malloc(sizeof(*k) + most * sizeof(k->at[0]));

	failed |= !k;
	if (k)
		*k = (struct known){.refs = 1};
	return k;
}

/*
 * What statements about a CTA and its warps say of its threads, while sorted ones are read: they
 * stand before those about the threads. What stands before fences is apart from that.
 */
struct wider {
	u64 base; /* who of the CTA */
	u32 of_cta;
	u32 warps, of_warp[32]; /* warps: those with a statement */
};

static u32 place_in_cta(u64 who)
{
	return (u32)(who & ((1u << WHO_SHIFT) - 1));
}

/* The place of what says the same of a CTA, its warps and threads; *base: its first one. */
static u32 place_of_who(u64 who, u64 *base)
{
	u32 place = place_in_cta(who);

	if (place >= WHO_FENCED)
		place = (place - WHO_FENCED) % WHO_FENCED_PLACES;
	*base = who - place;
	return place;
}

static bool is_of_warp(u32 place)
{
	return place && place <= 32;
}

static void note_wider(struct wider *w, const struct known_entry *x)
{
	u64 base;
	u32 place = place_of_who(x->who, &base);

	if (w->base != base) {
		w->base = base;
		w->of_cta = w->warps = 0;
	}
	if (!place)
		w->of_cta = x->until;
	if (!is_of_warp(place))
		return;
	w->warps |= 1u << (place - 1);
	w->of_warp[place - 1] = x->until;
}

/* Do they say it of all threads that x is about? */
static bool says(const struct wider *w, const struct known_entry *x)
{
	u64 base;
	u32 place = place_of_who(x->who, &base), warp;

	if (w->base != base)
		return false;
	if (is_of_warp(place))
		return x->until <= w->of_cta;
	if (place < WHO_FIRST || place >= WHO_FIRST + WHO_THREADS)
		return false;
	warp = (place - WHO_FIRST) / 32;
	return x->until <= w->of_cta || ((w->warps >> warp & 1) && x->until <= w->of_warp[warp]);
}

/* Does a say all that b says? */
static bool covers(const struct known *a, const struct known_entry *b, u32 len)
{
	struct wider w = {0};
	u32 i = 0;

	for (u32 j = 0; j < len; j++) {
		while (i < a->len && a->at[i].who < b[j].who)
			note_wider(&w, &a->at[i++]);
		if (i < a->len && a->at[i].who == b[j].who && a->at[i].until >= b[j].until)
			continue;
		if (!says(&w, &b[j]))
			return false;
	}
	return true;
}

static void put_statement(struct known *k, struct wider *w, const struct known_entry *x)
{
	struct known_entry *last = k->len ? &k->at[k->len - 1] : NULL;

	if (last && last->who == x->who)
		last->until = last->until < x->until ? x->until : last->until;
	else if (!says(w, x))
		k->at[k->len++] = *x;
	else
		return;
	note_wider(w, &k->at[k->len - 1]);
}

static struct known *merge(struct known *a, const struct known_entry *b, u32 len)
{
	struct wider w = {0};
	struct known *k;
	u32 i = 0, j = 0, have = a ? a->len : 0;

	if (a && covers(a, b, len))
		return known_keep(a);
	k = known_new((u64)have + len);
	if (!k)
		return NULL;
	while (i < have || j < len)
		if (j == len || (i < have && a->at[i].who <= b[j].who))
			put_statement(k, &w, &a->at[i++]);
		else
			put_statement(k, &w, &b[j++]);
	return k;
}

struct known *known_join(struct known *a, struct known *b)
{
	if (!b || a == b)
		return known_keep(a);
	if (!a || covers(b, a->at, a->len))
		return known_keep(b);
	return merge(a, b->at, b->len);
}

static int by_who(const void *a, const void *b)
{
	const struct known_entry *x = a, *y = b;

	return x->who < y->who ? -1 : x->who > y->who;
}

static bool is_sorted(const struct known_entry *at, u32 len)
{
	for (u32 i = 1; i < len; i++)
		if (at[i].who < at[i - 1].who)
			return false;
	return true;
}

struct known *known_add(struct known *k, struct known_entry *at, u32 len)
{
	if (!len)
		return known_keep(k);
	if (!is_sorted(at, len))
		qsort(at, len, sizeof(*at), by_who);
	return merge(k, at, len);
}

static u32 find(const struct known *k, u64 who)
{
	u32 low = 0, high = k->len;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (k->at[mid].who < who)
			low = mid + 1;
		else
			high = mid;
	}
	return low < k->len && k->at[low].who == who ? k->at[low].until : 0;
}

static bool is_of_reads(const struct known_entry *x)
{
	return x->who >= who_group_reads(who_cta_of(x->who), 0) &&
	       x->who <= who_reads(who_cta_of(x->who));
}

/* offset: of the statements in question among those of the CTA. */
static u32 latest_of_thread(const struct known *k, u64 thread, u64 offset)
{
	u64 cta = who_cta_of(thread);
	u32 until = find(k, who_cta(cta) + offset);
	u32 other = find(k, who_warp(cta, who_index(thread) / 32) + offset);

	until = other > until ? other : until;
	other = find(k, thread + offset);
	return other > until ? other : until;
}

u32 known_until(const struct known *k, u64 thread)
{
	if (!k)
		return 0;
	return who_agent_of(thread) == AGENT_THREAD ? latest_of_thread(k, thread, 0)
						    : find(k, thread);
}

void asked_fini(struct asked *x)
{
	known_drop(x->of);
	x->of = NULL;
}

void asked_begin(struct asked *x, struct known *k)
{
	asked_fini(x);
	x->of = known_keep(k);
	if (!++x->turn) {
		memset(x->at, 0, sizeof(x->at));
		x->turn = 1;
	}
}

u32 known_until_fenced(const struct known *k, u64 thread, enum proxy p)
{
	return k ? latest_of_thread(k, thread, who_fenced(0, p)) : 0;
}

u32 known_until_read(const struct known *k, u64 thread)
{
	u64 cta = who_cta_of(thread);
	u32 whole = k ? find(k, who_reads(cta)) : 0;
	u32 group = k ? find(k, who_group_reads(cta, who_index(thread) / WHO_GROUP_THREADS)) : 0;

	return whole > group ? whole : group;
}

struct known *known_reads(struct known *k)
{
	u32 n = 0;

	if (!k || k->has_reads)
		return known_keep(k ? k->reads : NULL);
	for (u32 i = 0; i < k->len; i++)
		n += is_of_reads(&k->at[i]);
	if (n == k->len)
		return known_keep(k);
	k->reads = n ? known_new(n) : NULL;
	for (u32 i = 0; k->reads && i < k->len; i++)
		if (is_of_reads(&k->at[i]))
			k->reads->at[k->reads->len++] = k->at[i];
	k->has_reads = true;
	return known_keep(k->reads);
}

static bool is_of_threads(const struct known_entry *x)
{
	u32 place = place_in_cta(x->who);

	return place <= 32 || (place >= WHO_FIRST && place < WHO_FIRST + WHO_THREADS);
}

struct known *known_fence(struct known *k, const struct known_entry *at, u32 len, enum proxy p)
{
	u32 have = k ? k->len : 0, n = 0;
	struct known_entry *said = malloc(((size_t)have + len) * sizeof(*said));
	struct known *fenced;

	if (!said) {
		known_fail();
		return NULL;
	}
	for (u32 i = 0; i < have; i++)
		if (is_of_threads(&k->at[i]))
			said[n++] =
				(struct known_entry){who_fenced(k->at[i].who, p), k->at[i].until};
	for (u32 i = 0; i < len; i++)
		said[n++] = (struct known_entry){who_fenced(at[i].who, p), at[i].until};
	fenced = known_add(NULL, said, n);
	free(said);
	return fenced;
}

/* Is it said of what was released to the CTA, or, wide, to others? */
static bool is_released(const struct known_entry *x, u64 cta, bool wide)
{
	u32 place = place_in_cta(x->who);

	if (place < WHO_FENCED)
		return false;
	switch ((enum proxy)((place - WHO_FENCED) / WHO_FENCED_PLACES)) {
	case PROXY_TENSORMAP_CTA:
		return who_cta_of(x->who) == cta;
	case PROXY_TENSORMAP:
		return wide;
	default:
		return false;
	}
}

struct known *known_acquire(const struct known *k, u64 cta, bool wide)
{
	struct known_entry *said = k ? malloc(k->len * sizeof(*said)) : NULL;
	struct known *acquired;
	u32 n = 0;

	if (k && !said)
		known_fail();
	for (u32 i = 0; said && i < k->len; i++)
		if (is_released(&k->at[i], cta, wide)) {
			u64 base, first = who_cta(who_cta_of(k->at[i].who));
			u32 place = place_of_who(k->at[i].who, &base);

			said[n++] = (struct known_entry){
				who_fenced(first + place, PROXY_TENSORMAP_ACQUIRED),
				k->at[i].until};
		}
	acquired = known_add(NULL, said, n);
	free(said);
	return acquired;
}

static bool can_go(const struct known_entry *x, u64 cta, u32 until)
{
	return who_cta_of(x->who) == cta && is_of_threads(x) && x->until <= until;
}

struct known *known_without(struct known *k, u64 cta, u32 until)
{
	struct known *rest;
	u32 n = 0;

	for (u32 i = 0; k && i < k->len; i++)
		n += can_go(&k->at[i], cta, until);
	if (!n)
		return known_keep(k);
	rest = n < k->len ? known_new(k->len - n) : NULL;
	for (u32 i = 0; rest && i < k->len; i++)
		if (!can_go(&k->at[i], cta, until))
			rest->at[rest->len++] = k->at[i];
	return rest;
}
