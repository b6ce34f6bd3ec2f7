/*
 * Where the sections of a build are. A large one is at the base for which most of its functions
 * speak, and what an older or newer build has moved is at the next ones. Small ones may have
 * several places: then the order of the sections tells them apart, as linkers keep it.
 */
#include "src/signature/find_int.h"

#define BASES_MAX 64u /* that are tried for a section */
#define LARGE 8u      /* functions: two of their places are two copies */
#define BESIDE ((u64)1 << 20)

struct place_section {
	u32 first, count; /* signatures */
	size_t bases, base_count;
	u64 base; /* valid if settled */
	bool settled;
};

struct place {
	struct find *f;
	VEC(struct place_section) sections;
};

static void place_function(struct find *f, u32 index, u64 base)
{
	const struct signature *s = &f->set->all.at[index];

	struct found_function new = {.address = base + s->offset, .size = s->size};

	f->placed[index] = 1;
	find_add(f, s->name, s->name_bytes, &new);
}

/* What of a section is at a base: all of it if it is another copy, else what is nowhere yet. */
static void place_section_at(struct find *f, const struct place_section *s, u64 base, u8 *there)
{
	u32 again = 0;

	for (u32 i = 0; i < s->count; i++) {
		u32 k = s->first + i;

		there[i] = find_matches(f, k, base + f->set->all.at[k].offset);
		again += there[i] && f->placed[k];
	}
	for (u32 i = 0; i < s->count; i++)
		if (there[i] && (!f->placed[s->first + i] || again * 2 > s->count))
			place_function(f, s->first + i, base);
}

static void place_large(struct find *f, const struct place_section *s)
{
	u8 *there = malloc(s->count);

	if (!there) {
		f->no_memory = true;
		return;
	}
	for (size_t i = 0; i < s->base_count && i < BASES_MAX; i++)
		place_section_at(f, s, f->bases.at[s->bases + i].base, there);
	free(there);
}

static bool all_there(struct find *f, const struct place_section *s, u64 base)
{
	for (u32 i = 0; i < s->count; i++)
		if (!find_matches(f, s->first + i, base + f->set->all.at[s->first + i].offset))
			return false;
	return true;
}

/* Places of a section whose functions have no anchors: all beside what has been found. */
static void look_beside(struct find *f, struct place_section *s)
{
	u64 low, high, offset = f->set->all.at[s->first].offset;

	s->bases = f->bases.len;
	if (!find_region(f, BESIDE, &low, &high))
		return;
	for (size_t i = code_start_from(f->c, low);
	     i < f->c->starts.len && f->c->starts.at[i] < high && s->base_count < BASES_MAX; i++) {
		struct find_base b = {0, s->count, f->c->starts.at[i] - offset};

		if (!all_there(f, s, b.base))
			continue;
		if (!VEC_PUSH(&f->bases, b))
			f->no_memory = true;
		else
			s->base_count++;
	}
}

static void settle_at(struct find *f, struct place_section *s, u64 base)
{
	s->settled = true;
	s->base = base;
	for (u32 i = 0; i < s->count; i++)
		place_function(f, s->first + i, base);
}

static bool same_body(const struct find *f, const struct place_section *a,
		      const struct place_section *b)
{
	const struct signature *x = &f->set->all.at[a->first], *y = &f->set->all.at[b->first];

	return a->count == 1 && b->count == 1 && x->size == y->size && x->hash == y->hash &&
	       x->mask_bytes == y->mask_bytes && !memcmp(x->mask, y->mask, x->mask_bytes);
}

/*
 * As many places as sections of this body: the first is that of the first. The bases are sorted by
 * address among equal votes.
 */
static bool settle_equal(struct place *p, size_t at)
{
	struct place_section *s = &p->sections.at[at];
	u32 before = 0, all = 0;

	for (size_t i = 0; i < p->sections.len; i++)
		if (same_body(p->f, &p->sections.at[i], s)) {
			before += i < at;
			all++;
		}
	if (all != s->base_count)
		return false;
	settle_at(p->f, s, p->f->bases.at[s->bases + before].base);
	return true;
}

/* The only place between those of the settled sections before and after it. */
static bool settle_between(struct place *p, size_t at)
{
	struct place_section *s = &p->sections.at[at];
	u64 low = 0, high = UINT64_MAX, base = 0;
	u32 n = 0;

	for (size_t i = at; i-- && !low;)
		low = p->sections.at[i].settled ? p->sections.at[i].base : 0;
	for (size_t i = at + 1; i < p->sections.len && high == UINT64_MAX; i++)
		high = p->sections.at[i].settled ? p->sections.at[i].base : UINT64_MAX;
	for (size_t i = 0; i < s->base_count; i++) {
		u64 b = p->f->bases.at[s->bases + i].base;

		if (b <= low || b >= high)
			continue;
		base = b;
		n++;
	}
	if (n == 1)
		settle_at(p->f, s, base);
	return n == 1;
}

static void settle_small(struct place *p)
{
	struct place_section *s = p->sections.at;

	/* What leaves no choice, and all of which is there. */
	for (size_t i = 0; i < p->sections.len; i++)
		if (s[i].count < LARGE && s[i].base_count == 1 &&
		    all_there(p->f, &s[i], p->f->bases.at[s[i].bases].base))
			settle_at(p->f, &s[i], p->f->bases.at[s[i].bases].base);
	for (size_t i = 0; i < p->sections.len; i++)
		if (!s[i].base_count)
			look_beside(p->f, &s[i]);
	for (size_t i = 0; i < p->sections.len; i++) {
		u32 full = 0;

		if (s[i].settled || s[i].count >= LARGE || !s[i].base_count)
			continue;
		/* Those with fewer votes have only some of its functions. */
		while (full < s[i].base_count && full < BASES_MAX &&
		       all_there(p->f, &s[i], p->f->bases.at[s[i].bases + full].base))
			full++;
		s[i].base_count = full;
		if (full && !settle_equal(p, i) && !settle_between(p, i))
			p->f->out->ambiguous += s[i].count;
	}
}

static bool split_sections(struct place *p, const struct signature_build *b)
{
	const struct signature *all = p->f->set->all.at;
	size_t at = 0;

	for (u32 i = b->first; i < b->first + b->count; i++) {
		struct place_section s = {.first = i, .count = 1};
		struct place_section *last =
			p->sections.len ? &p->sections.at[p->sections.len - 1] : NULL;

		if (last && all[last->first].section == all[i].section)
			last->count++;
		else if (!VEC_PUSH(&p->sections, s))
			return false;
	}
	for (size_t i = 0; i < p->sections.len; i++) {
		struct place_section *s = &p->sections.at[i];
		u32 section = all[s->first].section;

		while (at < p->f->bases.len && p->f->bases.at[at].section < section)
			at++;
		s->bases = at;
		while (at < p->f->bases.len && p->f->bases.at[at].section == section)
			at++;
		s->base_count = at - s->bases;
	}
	return true;
}

void find_place(struct find *f, const struct signature_build *b)
{
	struct place p = {.f = f};

	if (split_sections(&p, b)) {
		for (size_t i = 0; i < p.sections.len; i++)
			if (p.sections.at[i].count >= LARGE)
				place_large(f, &p.sections.at[i]);
		settle_small(&p);
	} else {
		f->no_memory = true;
	}
	VEC_FREE(&p.sections);
}
