/*
 * The search: the first bytes of each function are looked up among those of the functions of the
 * set; where all of a function is found, its section must begin at some base, and the others of it
 * are looked for at their distances from there.
 */
#include "src/signature/find_int.h"

#include <stdio.h>

#define HITS_MAX (1u << 18)
#define BUDGET ((u64)256 << 20)
#define NEAR ((u64)1 << 20) /* the largest runtime so far has 0.6 MiB */

/* Signatures by their anchors: a filter of one bit each, and chains. */
struct anchors {
	u64 filter[1u << 10];
	u32 *first, *next; /* of a chain, of a signature; index + 1 */
	u32 mask;
};

static bool build_anchors(struct anchors *a, const struct signature_set *set)
{
	u32 size = 16;

	*a = (struct anchors){0};
	while (size < set->all.len * 2)
		size *= 2;
	a->mask = size - 1;
	a->first = calloc(size, sizeof(*a->first));
	a->next = calloc(set->all.len + 1, sizeof(*a->next));
	if (!a->first || !a->next)
		return false;
	for (u32 i = 0; i < set->all.len; i++) {
		const struct signature *s = &set->all.at[i];

		if (!s->anchored)
			continue;
		a->filter[s->anchor >> 22] |= (u64)1 << (s->anchor >> 16 & 63);
		a->next[i] = a->first[s->anchor & a->mask];
		a->first[s->anchor & a->mask] = i + 1;
	}
	return true;
}

bool find_matches(struct find *f, u32 index, u64 address)
{
	const struct signature *s = &f->set->all.at[index];
	const u8 *code = code_executable(f->c, address, s->size);

	if (!code || f->budget < s->size || (s->anchored && signature_anchor(code) != s->anchor))
		return false;
	f->budget -= s->size;
	return signature_hash(code, s->size, s->mask, s->mask_bytes) == s->hash;
}

static void look_up_start(struct find *f, const struct anchors *a, u64 address)
{
	const u8 *code = code_executable(f->c, address, ANCHOR_BYTES);
	u32 anchor = code ? signature_anchor(code) : 0;

	if (!code || !(a->filter[anchor >> 22] >> (anchor >> 16 & 63) & 1))
		return;
	for (u32 i = a->first[anchor & a->mask]; i; i = a->next[i - 1]) {
		const struct signature *s = &f->set->all.at[i - 1];
		struct find_hit hit = {i - 1, s->section, address - s->offset};

		if (s->anchor == anchor && f->hits.len < HITS_MAX &&
		    find_matches(f, i - 1, address) && !VEC_PUSH(&f->hits, hit))
			f->no_memory = true;
	}
}

static int by_base(const void *a, const void *b)
{
	const struct find_hit *x = a, *y = b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	return (x->base > y->base) - (x->base < y->base);
}

static int by_votes(const void *a, const void *b)
{
	const struct find_base *x = a, *y = b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	if (x->votes != y->votes)
		return x->votes > y->votes ? -1 : 1;
	return (x->base > y->base) - (x->base < y->base);
}

static void count_votes(struct find *f)
{
	if (f->hits.len)
		qsort(f->hits.at, f->hits.len, sizeof(*f->hits.at), by_base);
	for (size_t i = 0; i < f->hits.len; i++) {
		const struct find_hit *h = &f->hits.at[i];
		struct find_base *last = f->bases.len ? &f->bases.at[f->bases.len - 1] : NULL;
		struct find_base b = {h->section, 1, h->base};

		if (last && last->section == h->section && last->base == h->base)
			last->votes++;
		else if (!VEC_PUSH(&f->bases, b))
			f->no_memory = true;
	}
	if (f->bases.len)
		qsort(f->bases.at, f->bases.len, sizeof(*f->bases.at), by_votes);
}

/* The build with most functions at the best places of its sections. NULL: nothing was found. */
static const struct signature_build *best_build(const struct find *f)
{
	const struct signature_build *best = NULL;
	u64 most = 0, votes;
	size_t at = 0;

	for (size_t i = 0; i < f->set->builds.len; i++) {
		const struct signature_build *b = &f->set->builds.at[i];
		u32 end = i + 1 < f->set->builds.len ? b[1].sections : f->set->sections;

		votes = 0;
		for (; at < f->bases.len && f->bases.at[at].section < end; at++)
			if (!at || f->bases.at[at - 1].section != f->bases.at[at].section)
				votes += f->bases.at[at].votes;
		if (votes > most) {
			most = votes;
			best = b;
		}
	}
	return best;
}

void find_add(struct find *f, const char *name, u32 name_bytes, const struct found_function *new)
{
	struct found_function copy = *new;

	if (name_bytes > SIGNATURE_MAX_NAME)
		return;
	memcpy(copy.name, name, name_bytes);
	copy.name[name_bytes] = 0;
	copy.order = (u32)f->out->functions.len;
	if (!VEC_PUSH(&f->out->functions, copy))
		f->no_memory = true;
}

static int by_found_address(const void *a, const void *b)
{
	const struct found_function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Of several names for one place the first is believed, that of the base with more votes. */
static void sort_found(struct found *out)
{
	size_t n = 0;

	if (out->functions.len)
		qsort(out->functions.at, out->functions.len, sizeof(*out->functions.at),
		      by_found_address);
	for (size_t i = 0; i < out->functions.len; i++)
		if (!n || out->functions.at[n - 1].address != out->functions.at[i].address)
			out->functions.at[n++] = out->functions.at[i];
	out->functions.len = n;
}

bool find_region(const struct find *f, u64 margin, u64 *low, u64 *high)
{
	*low = UINT64_MAX;
	*high = 0;
	for (size_t i = 0; i < f->out->functions.len; i++) {
		u64 at = f->out->functions.at[i].address;

		*low = at < *low ? at : *low;
		*high = at > *high ? at : *high;
	}
	if (*low > *high)
		return false;
	*low = *low > margin ? *low - margin : 0;
	*high = *high < UINT64_MAX - margin ? *high + margin : UINT64_MAX;
	return true;
}

static void find_all(struct find *f, find_wanted *wanted, void *user)
{
	const struct signature_build *b = best_build(f);
	u64 low, high;

	if (!b)
		return;
	snprintf(f->out->build, sizeof(f->out->build), "%.*s", (int)b->name_bytes, b->name);
	f->out->of = b->count;
	find_place(f, b);
	sort_found(f->out);
	if (f->out->functions.len < b->count && find_region(f, NEAR, &low, &high)) {
		find_names(f, low, high, wanted, user);
		sort_found(f->out);
	}
}

bool find_functions(const struct code_image *c, const struct signature_set *set,
		    find_wanted *wanted, void *user, struct found *out)
{
	struct find f = {.c = c, .set = set, .out = out, .budget = BUDGET};
	struct anchors a;
	u64 i = 0, address;

	*out = (struct found){0};
	f.placed = calloc(set->all.len + 1, 1);
	f.no_memory = !build_anchors(&a, set) || !f.placed;
	while (!f.no_memory && code_next_start(c, &i, &address))
		look_up_start(&f, &a, address);
	if (!f.no_memory)
		count_votes(&f);
	if (!f.no_memory)
		find_all(&f, wanted, user);
	free(a.first);
	free(a.next);
	free(f.placed);
	VEC_FREE(&f.hits);
	VEC_FREE(&f.bases);
	if (f.no_memory)
		find_fini(out);
	return !f.no_memory;
}

void find_fini(struct found *f)
{
	VEC_FREE(&f->functions);
	*f = (struct found){0};
}

const struct found_function *find_by_name(const struct found *f, const char *name)
{
	for (size_t i = 0; i < f->functions.len; i++)
		if (!strcmp(f->functions.at[i].name, name))
			return &f->functions.at[i];
	return NULL;
}
