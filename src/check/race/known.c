/*
 * Sets of statements about others, shared by reference: sorted arrays that are merged.
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
	if (k && !--k->refs)
		free(k);
}

static struct known *known_new(u64 most)
{
	struct known *k = malloc(sizeof(*k) + most * sizeof(k->at[0]));

	failed |= !k;
	if (k)
		*k = (struct known){.refs = 1};
	return k;
}

/* Does a say all that b says? */
static bool covers(const struct known *a, const struct known_entry *b, u32 len)
{
	u32 i = 0;

	if (len > a->len)
		return false;
	for (u32 j = 0; j < len; j++) {
		while (i < a->len && a->at[i].who < b[j].who)
			i++;
		if (i == a->len || a->at[i].who != b[j].who || a->at[i].until < b[j].until)
			return false;
	}
	return true;
}

static struct known *merge(struct known *a, const struct known_entry *b, u32 len)
{
	struct known *k;
	u32 i = 0, j = 0;

	if (a && covers(a, b, len))
		return known_keep(a);
	k = known_new((u64)(a ? a->len : 0) + len);
	if (!k)
		return NULL;
	while ((a && i < a->len) || j < len) {
		const struct known_entry *x;

		if (j == len || (a && i < a->len && a->at[i].who <= b[j].who))
			x = &a->at[i++];
		else
			x = &b[j++];
		if (k->len && k->at[k->len - 1].who == x->who) {
			if (k->at[k->len - 1].until < x->until)
				k->at[k->len - 1].until = x->until;
		} else {
			k->at[k->len++] = *x;
		}
	}
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

struct known *known_add(struct known *k, struct known_entry *at, u32 len)
{
	if (!len)
		return known_keep(k);
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

u32 known_until(const struct known *k, u64 thread)
{
	u64 cta = who_cta_of(thread);
	u32 until, other;

	if (!k)
		return 0;
	if (who_agent_of(thread) != AGENT_THREAD)
		return find(k, thread);
	until = find(k, who_cta(cta));
	other = find(k, who_warp(cta, who_index(thread) / 32));
	until = other > until ? other : until;
	other = find(k, thread);
	return other > until ? other : until;
}

u32 known_until_read(const struct known *k, u64 thread)
{
	u64 cta = who_cta_of(thread);
	u32 whole = k ? find(k, who_reads(cta)) : 0;
	u32 group = k ? find(k, who_group_reads(cta, who_index(thread) / WHO_GROUP_THREADS)) : 0;

	return whole > group ? whole : group;
}

struct known *known_reads(const struct known *k)
{
	struct known *reads;
	u32 n = 0;

	for (u32 i = 0; k && i < k->len; i++)
		n += is_of_reads(&k->at[i]);
	reads = n ? known_new(n) : NULL;
	for (u32 i = 0; reads && i < k->len; i++)
		if (is_of_reads(&k->at[i]))
			reads->at[reads->len++] = k->at[i];
	return reads;
}
