/*
 * The pages of a range are cut into blocks of 2 MiB. A fault brings 64 KiB at least, and as much of
 * the block as has more than half of its pages there by then, in powers of two.
 * Source: NVIDIA's open kernel modules (uvm_perf_prefetch), and what CUPTI counts on an H200.
 */
#include "src/managed/residency.h"

#define BLOCK_PAGES (((u64)2 << 20) / MANAGED_PAGE)
/* Of 100 pages so many are to be there before the others are brought. */
#define DENSITY 51u
#define THRASHING 3u

static u64 residency_bit(u32 processor)
{
	return (u64)1 << processor;
}

/* ---- ranges ---- */

void residency_fini(struct residency *r)
{
	for (size_t i = 0; i < r->ranges.len; i++)
		free(r->ranges.at[i].page);
	VEC_FREE(&r->ranges);
}

/* The first range that ends behind the address. */
static size_t range_behind(const struct residency *r, u64 address)
{
	size_t lo = 0, hi = r->ranges.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct managed_range *m = &r->ranges.at[mid];

		if (address - m->base < m->bytes || address < m->base)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

bool residency_add(struct residency *r, u64 base, u64 bytes)
{
	u64 pages = (bytes + MANAGED_PAGE - 1) / MANAGED_PAGE;
	struct managed_range m = {.base = base, .bytes = bytes, .preferred = MANAGED_NONE};
	size_t at = range_behind(r, base);

	m.pages = (pages + BLOCK_PAGES - 1) / BLOCK_PAGES * BLOCK_PAGES;
	m.page = calloc(m.pages, sizeof(*m.page));
	if (!m.page || !VEC_PUSH(&r->ranges, m)) {
		free(m.page);
		return false;
	}
	for (size_t i = r->ranges.len - 1; i > at; i--)
		r->ranges.at[i] = r->ranges.at[i - 1];
	r->ranges.at[at] = m;
	return true;
}

void residency_remove(struct residency *r, u64 base)
{
	struct managed_range *m = residency_find(r, base);

	if (!m || m->base != base)
		return;
	free(m->page);
	r->ranges.len--;
	for (; m < r->ranges.at + r->ranges.len; m++)
		m[0] = m[1];
}

struct managed_range *residency_find(struct residency *r, u64 address)
{
	size_t at = range_behind(r, address);

	return at < r->ranges.len && address >= r->ranges.at[at].base ? &r->ranges.at[at] : NULL;
}

/* ---- what a fault brings ---- */

struct page_span {
	u64 first, end;
};

static bool is_counted(const struct managed_range *m, u64 page, u32 by, u64 faulted)
{
	return (m->page[page].at & residency_bit(by)) ||
	       page / MANAGED_FAULT_PAGES == faulted / MANAGED_FAULT_PAGES;
}

/* The largest piece of the block round the page that is dense enough. */
static struct page_span span_of_fault(const struct managed_range *m, u64 page, u32 by)
{
	u64 start = page / MANAGED_FAULT_PAGES * MANAGED_FAULT_PAGES,
	    block = page / BLOCK_PAGES * BLOCK_PAGES;
	struct page_span best = {start, start + MANAGED_FAULT_PAGES}, now = best;
	u64 filled = MANAGED_FAULT_PAGES;

	for (u64 size = MANAGED_FAULT_PAGES * 2; size <= BLOCK_PAGES; size *= 2) {
		struct page_span next = {.first = block + (page - block) / size * size};

		next.end = next.first + size;
		for (u64 i = next.first; i < next.end; i++)
			if (i < now.first || i >= now.end)
				filled += is_counted(m, i, by, page);
		now = next;
		if (filled * 100 > size * DENSITY)
			best = now;
	}
	return best;
}

/* ---- moving ---- */

/* Whose memory it comes from: of several the host, else the first device. */
static u32 page_source(u64 at)
{
	return at & residency_bit(MANAGED_HOST) ? MANAGED_HOST : (u32)__builtin_ctzll(at);
}

static void count_page(struct managed_counts *n, u32 from, u32 to, bool begins)
{
	n->transfers[from][to] += begins;
	n->bytes[from][to] += MANAGED_PAGE;
}

/* One page to `to`; *from: where the one before it came from, if they make one transfer. */
static void bring_page(struct residency *r, struct managed_range *m, u64 page, u32 to, bool keeps,
		       u32 *from)
{
	struct managed_page *x = &m->page[page];
	u32 source = x->at ? page_source(x->at) : MANAGED_NONE;

	if (x->at & residency_bit(to)) {
		*from = MANAGED_NONE;
		return;
	}
	if (source == MANAGED_NONE)
		r->count.populated[to] += MANAGED_PAGE;
	else
		count_page(&r->count, source, to, source != *from);
	*from = source;
	x->at = (keeps ? x->at : 0) | residency_bit(to);
	x->mapped = 0;
}

static void bring_span(struct residency *r, struct managed_range *m, struct page_span s, u32 to,
		       bool keeps)
{
	u32 from = MANAGED_NONE;

	for (u64 i = s.first; i < s.end; i++)
		bring_page(r, m, i, to, keeps, &from);
}

/* A page that comes to a device for the third time goes to and fro. */
static void count_arrivals(struct residency *r, struct managed_range *m, struct page_span s, u32 to)
{
	for (u64 i = s.first; i < s.end; i++) {
		struct managed_page *x = &m->page[i];

		if ((x->at & residency_bit(to)) || !x->at)
			continue;
		if (x->arrivals < THRASHING)
			x->arrivals++;
		if (x->arrivals == THRASHING)
			r->count.thrashed[to] += MANAGED_PAGE;
	}
}

/* ---- touching ---- */

/* May a device reach the page where it is? The host reaches its own alone. */
static bool can_map(const struct managed_range *m, u64 at, u32 by)
{
	return by != MANAGED_HOST && at &&
	       ((m->accessed_by & residency_bit(by)) ||
		(m->preferred != MANAGED_NONE && (at & residency_bit(m->preferred))));
}

bool residency_faults(const struct managed_range *m, u64 page, u32 by, bool writes)
{
	const struct managed_page *x = &m->page[page];

	if ((x->at | x->mapped) & residency_bit(by))
		return writes && m->read_mostly && (x->at & (x->at - 1));
	return true;
}

void residency_touch(struct residency *r, struct managed_range *m, u64 page, u32 by, bool writes)
{
	struct managed_page *x = &m->page[page];
	struct page_span all;

	if (!residency_faults(m, page, by, writes))
		return;
	r->count.faults[by]++;
	if ((x->at & residency_bit(by)) && writes) {
		x->at = residency_bit(by);
		return;
	}
	if (can_map(m, x->at, by)) {
		x->mapped |= residency_bit(by);
		r->count.remote[by] += MANAGED_PAGE;
		return;
	}
	all = span_of_fault(m, page, by);
	if (!x->at && m->preferred == by)
		all = (struct page_span){page / BLOCK_PAGES * BLOCK_PAGES,
					 (page / BLOCK_PAGES + 1) * BLOCK_PAGES};
	if (by != MANAGED_HOST)
		count_arrivals(r, m, all, by);
	bring_span(r, m, (struct page_span){all.first, page}, by, m->read_mostly);
	bring_span(r, m, (struct page_span){page, page + 1}, by, m->read_mostly && !writes);
	bring_span(r, m, (struct page_span){page + 1, all.end}, by, m->read_mostly);
}

void residency_prefetch(struct residency *r, struct managed_range *m, u64 first, u64 end, u32 to)
{
	for (u64 block = first; block < end; block = (block / BLOCK_PAGES + 1) * BLOCK_PAGES) {
		u64 next = (block / BLOCK_PAGES + 1) * BLOCK_PAGES;

		bring_span(r, m, (struct page_span){block, next < end ? next : end}, to,
			   m->read_mostly);
	}
}

/* Pages that the host has are mapped at once. */
static void map_for(struct residency *r, struct managed_range *m, u32 by)
{
	for (u64 i = 0; by != MANAGED_HOST && i < m->pages; i++) {
		struct managed_page *x = &m->page[i];

		if (!(x->at & residency_bit(MANAGED_HOST)) ||
		    ((x->at | x->mapped) & residency_bit(by)))
			continue;
		x->mapped |= residency_bit(by);
		r->count.remote[by] += MANAGED_PAGE;
	}
}

void residency_advise(struct residency *r, struct managed_range *m, enum managed_advice advice,
		      u32 where)
{
	switch (advice) {
	case MANAGED_READ_MOSTLY:
	case MANAGED_UNSET_READ_MOSTLY:
		m->read_mostly = advice == MANAGED_READ_MOSTLY;
		break;
	case MANAGED_PREFER:
		m->preferred = where;
		break;
	case MANAGED_UNSET_PREFER:
		m->preferred = MANAGED_NONE;
		break;
	case MANAGED_ACCESSED_BY:
		m->accessed_by |= residency_bit(where);
		map_for(r, m, where);
		break;
	case MANAGED_UNSET_ACCESSED_BY:
		m->accessed_by &= ~residency_bit(where);
		break;
	}
}
