/*
 * Marks of accesses, and what two pieces of work have both touched.
 */
#include "src/check/order/trace.h"

#include "src/base/base.h"

/* Instructions of a page that are told apart; others count as one of these. */
#define MARKS_MAX 12u
#define CHUNK_MARKS 64u

struct trace_chunk {
	struct trace_chunk *next;
	u32 used;
	struct trace_marks at[CHUNK_MARKS];
};

void trace_init(struct trace *t, u32 pcs)
{
	*t = (struct trace){.first = UINT64_MAX};
	trace_grow(t, pcs);
}

void trace_grow(struct trace *t, u32 pcs)
{
	struct trace_recent *more;

	if (!pcs)
		return;
	more = pcs > UINT32_MAX - t->pcs
		       ? NULL
		       : reallocarray(t->recent, (size_t)t->pcs + pcs, sizeof(*more));
	if (!more) {
		t->gave_up = true;
		return;
	}
	memset(&more[t->pcs], 0, pcs * sizeof(*more));
	t->recent = more;
	t->pcs += pcs;
}

void trace_close(struct trace *t)
{
	free(t->recent);
	t->recent = NULL;
}

void trace_fini(struct trace *t)
{
	struct trace_chunk *c;

	while ((c = t->chunks)) {
		t->chunks = c->next;
		free(c);
	}
	trace_close(t);
	map_fini(&t->pages);
	VEC_FREE(&t->spans);
}

static struct trace_marks *marks_take(struct trace *t)
{
	struct trace_chunk *c = t->chunks;

	if (!c || c->used == CHUNK_MARKS) {
		c = calloc(1, sizeof(*c));
		if (!c)
			return NULL;
		c->next = t->chunks;
		t->chunks = c;
	}
	return &c->at[c->used++];
}

static struct trace_marks *page_marks(const struct trace *t, u64 page)
{
	const u64 *slot = map_get(&t->pages, page + 1);

	return slot ? (struct trace_marks *)(uintptr_t)*slot : NULL;
}

/* The marks of an instruction in a page; those of another one like it if there are many. */
static struct trace_marks *find_marks(struct trace *t, u64 page, u32 pc, u8 how)
{
	struct trace_marks *first = page_marks(t, page), *like = NULL, *m;
	u32 n = 0;

	for (m = first; m; m = m->next, n++) {
		if (m->pc == pc && m->how == how)
			return m;
		if (m->how == how)
			like = m;
	}
	if (n >= MARKS_MAX && like)
		return like;
	m = marks_take(t);
	if (!m || !map_set(&t->pages, page + 1, map_key(m))) {
		t->gave_up = true;
		return NULL;
	}
	m->next = first;
	m->page = page;
	m->pc = pc;
	m->how = how;
	return m;
}

static u64 bits_from_to(u32 first, u32 n)
{
	return (n == 64 ? ~(u64)0 : ((u64)1 << n) - 1) << first;
}

static void mark_bits(u64 *bits, u32 first, u32 n)
{
	while (n) {
		u32 part = 64 - first % 64 < n ? 64 - first % 64 : n;

		bits[first / 64] |= bits_from_to(first % 64, part);
		first += part;
		n -= part;
	}
}

static void widen_trace(struct trace *t, u64 address, u64 bytes)
{
	t->first = min_u64(t->first, address);
	t->end = max_u64(t->end, address + bytes);
}

void trace_mark(struct trace *t, u32 pc, u8 how, u64 address, u64 bytes)
{
	widen_trace(t, address, bytes);
	while (bytes && !t->gave_up) {
		u64 page = address / TRACE_PAGE, part = TRACE_PAGE - address % TRACE_PAGE;
		struct trace_marks *m = t->recent[pc].marks;

		part = min_u64(part, bytes);
		if (!m || m->page != page || m->how != how)
			m = t->recent[pc].marks = find_marks(t, page, pc, how);
		if (m)
			mark_bits(m->bits, (u32)(address % TRACE_PAGE), (u32)part);
		address += part;
		bytes -= part;
	}
}

void trace_span(struct trace *t, u8 how, u64 address, u64 bytes)
{
	struct trace_span s = {address, address + bytes, how};
	struct trace_span *last = t->spans.len ? &t->spans.at[t->spans.len - 1] : NULL;

	widen_trace(t, address, bytes);
	if (last && last->how == how && last->end == address)
		last->end += bytes;
	else if (!VEC_PUSH(&t->spans, s))
		t->gave_up = true;
}

/* ---- forgetting ---- */

static void clear_bits(struct trace_marks *m, u32 first, u32 end)
{
	for (; m; m = m->next)
		for (u32 i = first; i < end; i++)
			m->bits[i / 64] &= ~((u64)1 << i % 64);
}

static void forget_page(struct trace_marks *m, u64 from, u64 end)
{
	u64 base = m ? m->page * TRACE_PAGE : 0;

	if (m && from < base + TRACE_PAGE && end > base)
		clear_bits(m, from > base ? (u32)(from - base) : 0,
			   end - base < TRACE_PAGE ? (u32)(end - base) : TRACE_PAGE);
}

/* What is in the middle of a span leaves two. */
static void forget_spans(struct trace *t, u64 from, u64 end)
{
	size_t n = t->spans.len;

	for (size_t i = 0; i < n; i++) {
		struct trace_span *s = &t->spans.at[i], rest = *s;

		if (s->first >= end || s->end <= from)
			continue;
		s->end = max_u64(s->first, from);
		rest.first = end;
		if (s->end > from)
			s->end = from;
		if (rest.first < rest.end && !VEC_PUSH(&t->spans, rest))
			t->gave_up = true;
	}
}

void trace_forget(struct trace *t, u64 address, u64 bytes)
{
	u64 end = address + bytes;

	if (address >= t->end || end <= t->first)
		return;
	forget_spans(t, address, end);
	if ((end - address) / TRACE_PAGE < t->pages.len) {
		for (u64 p = address / TRACE_PAGE; p <= (end - 1) / TRACE_PAGE; p++)
			forget_page(page_marks(t, p), address, end);
		return;
	}
	for (size_t i = 0; i < t->pages.cap; i++)
		if (t->pages.slots[i].key)
			forget_page((struct trace_marks *)(uintptr_t)t->pages.slots[i].value,
				    address, end);
}

/* ---- comparing ---- */

struct comparison {
	const struct trace *a, *b;
	trace_clash_fn *fn;
	void *user;
};

static bool conflicts(u8 a, u8 b)
{
	return ((a | b) & TRACE_WRITES) && !(a & b & TRACE_STRONG);
}

static void compare_marks(const struct comparison *c, const struct trace_marks *a,
			  const struct trace_marks *b)
{
	for (u32 i = 0; i < ARRAY_LEN(a->bits); i++)
		if (a->bits[i] & b->bits[i]) {
			u64 at = a->page * TRACE_PAGE + i * 64 +
				 (u32)__builtin_ctzll(a->bits[i] & b->bits[i]);

			c->fn(c->user, &(struct trace_clash){at, {a->pc, b->pc}, {a->how, b->how}});
			return;
		}
}

static void compare_pages(const struct comparison *c)
{
	const struct map *few = c->a->pages.len < c->b->pages.len ? &c->a->pages : &c->b->pages;

	for (size_t i = 0; i < few->cap; i++) {
		u64 page = few->slots[i].key - 1;

		if (!few->slots[i].key)
			continue;
		for (const struct trace_marks *a = page_marks(c->a, page); a; a = a->next)
			for (const struct trace_marks *b = page_marks(c->b, page); b; b = b->next)
				if (conflicts(a->how, b->how))
					compare_marks(c, a, b);
	}
}

static void compare_span_marks(const struct comparison *c, const struct trace_span *s,
			       const struct trace_marks *m, bool is_swapped)
{
	u64 base = m->page * TRACE_PAGE, from = s->first > base ? s->first - base : 0;
	u64 end = min_u64(TRACE_PAGE, s->end - base);

	for (u64 i = from; i < end; i++)
		if (m->bits[i / 64] >> i % 64 & 1) {
			struct trace_clash x = {
				base + i, {TRACE_NO_PC, TRACE_NO_PC}, {s->how, s->how}};

			x.pc[!is_swapped] = m->pc;
			x.how[!is_swapped] = m->how;
			c->fn(c->user, &x);
			return;
		}
}

static void compare_span_page(const struct comparison *c, const struct trace_span *s,
			      const struct trace_marks *m, bool is_swapped)
{
	if (!m || s->first >= (m->page + 1) * TRACE_PAGE || s->end <= m->page * TRACE_PAGE)
		return;
	for (; m; m = m->next)
		if (conflicts(s->how, m->how))
			compare_span_marks(c, s, m, is_swapped);
}

/* Spans of one against pages of the other; is_swapped: the spans are b's. */
static void compare_spans(const struct comparison *c, bool is_swapped)
{
	const struct trace *spans = is_swapped ? c->b : c->a, *pages = is_swapped ? c->a : c->b;

	for (size_t i = 0; i < spans->spans.len; i++) {
		const struct trace_span *s = &spans->spans.at[i];

		if (s->first >= s->end)
			continue;
		if ((s->end - s->first) / TRACE_PAGE < pages->pages.len) {
			for (u64 p = s->first / TRACE_PAGE; p <= (s->end - 1) / TRACE_PAGE; p++)
				compare_span_page(c, s, page_marks(pages, p), is_swapped);
			continue;
		}
		for (size_t k = 0; k < pages->pages.cap; k++)
			if (pages->pages.slots[k].key)
				compare_span_page(
					c, s,
					(struct trace_marks *)(uintptr_t)pages->pages.slots[k]
						.value,
					is_swapped);
	}
}

static void compare_two_spans(const struct comparison *c)
{
	for (size_t i = 0; i < c->a->spans.len; i++)
		for (size_t k = 0; k < c->b->spans.len; k++) {
			const struct trace_span *a = &c->a->spans.at[i], *b = &c->b->spans.at[k];
			u64 first = max_u64(a->first, b->first);

			if (first < min_u64(a->end, b->end) && conflicts(a->how, b->how))
				c->fn(c->user, &(struct trace_clash){first,
								     {TRACE_NO_PC, TRACE_NO_PC},
								     {a->how, b->how}});
		}
}

void trace_compare(const struct trace *a, const struct trace *b, trace_clash_fn *fn, void *user)
{
	struct comparison c = {a, b, fn, user};

	if (a->first >= b->end || b->first >= a->end)
		return;
	compare_pages(&c);
	compare_spans(&c, false);
	compare_spans(&c, true);
	compare_two_spans(&c);
}

static bool marks_meet(const struct trace_marks *a, const struct trace_marks *b)
{
	if (!(a->how & b->how & TRACE_STRONG) || !((a->how | b->how) & TRACE_WRITES))
		return false;
	for (u32 i = 0; i < ARRAY_LEN(a->bits); i++)
		if (a->bits[i] & b->bits[i])
			return true;
	return false;
}

bool trace_meets(const struct trace *a, const struct trace *b)
{
	const struct map *few = a->pages.len < b->pages.len ? &a->pages : &b->pages;

	if (a->first >= b->end || b->first >= a->end)
		return false;
	for (size_t i = 0; i < few->cap; i++) {
		u64 page = few->slots[i].key - 1;

		if (!few->slots[i].key)
			continue;
		for (const struct trace_marks *x = page_marks(a, page); x; x = x->next)
			for (const struct trace_marks *y = page_marks(b, page); y; y = y->next)
				if (marks_meet(x, y))
					return true;
	}
	return false;
}

bool trace_find(const struct trace *t, u64 address, u8 how, struct trace_clash *out)
{
	const struct trace_marks *m = page_marks(t, address / TRACE_PAGE);
	u32 i = (u32)(address % TRACE_PAGE);

	*out = (struct trace_clash){address, {TRACE_NO_PC, TRACE_NO_PC}, {how, 0}};
	for (; m; m = m->next)
		if (m->bits[i / 64] >> i % 64 & 1 && !(m->how & TRACE_STRONG) &&
		    conflicts(how, m->how)) {
			out->pc[1] = m->pc;
			out->how[1] = m->how;
			return true;
		}
	for (size_t k = 0; k < t->spans.len; k++) {
		const struct trace_span *s = &t->spans.at[k];

		if (address >= s->first && address < s->end && !(s->how & TRACE_STRONG) &&
		    conflicts(how, s->how)) {
			out->how[1] = s->how;
			return true;
		}
	}
	return false;
}

void trace_each_page(const struct trace *t, u64 first, u64 end, u64 bytes, trace_page_fn *fn,
		     void *user)
{
	for (size_t i = 0; i < t->pages.cap; i++) {
		const struct trace_marks *m =
			(const struct trace_marks *)(uintptr_t)t->pages.slots[i].value;
		u64 at = (t->pages.slots[i].key - 1) * TRACE_PAGE;

		if (!t->pages.slots[i].key || at < first || at >= end)
			continue;
		for (; m; m = m->next)
			fn(user, at - at % bytes, m->how);
	}
	for (size_t i = 0; i < t->spans.len; i++) {
		u64 from = max_u64(t->spans.at[i].first, first);
		u64 to = min_u64(t->spans.at[i].end, end);

		for (u64 at = from - from % bytes; from < to && at < to; at += bytes)
			fn(user, at, t->spans.at[i].how);
	}
}
