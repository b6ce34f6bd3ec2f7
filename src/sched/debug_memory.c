/*
 * Under a debugger: what device memory held at the last copy. It is found out by comparison, so no
 * writer can be missed, neither copies nor the host. Pages that were never touched cost
 * nothing.
 */
#include "src/sched/debug_int.h"

#include <stdlib.h>
#include <sys/mman.h>

#define PAGE ((u64)MEM_HOST_PAGE)
#define WINDOW_PAGES 4096u

/* ---- pages ---- */

static bool keep_page(struct debug_pages *p, u64 host, const u8 *bytes)
{
	u8 *copy = malloc(PAGE);

	if (copy && VEC_PUSH(p, ((struct debug_page){host, copy}))) {
		memcpy(copy, bytes, PAGE);
		return true;
	}
	free(copy);
	return false;
}

size_t debug_pages_free(struct debug_pages *p)
{
	size_t n = p->len;

	for (size_t i = 0; i < p->len; i++)
		free(p->at[i].bytes);
	VEC_FREE(p);
	return n * (PAGE + sizeof(struct debug_page));
}

size_t debug_pages_merge(struct debug_pages *to, struct debug_pages *from)
{
	struct debug_pages both = {0};
	size_t a = 0, b = 0, freed = 0;

	if (!VEC_RESERVE(&both, to->len + from->len + 1))
		return 0;
	while (a < to->len || b < from->len) {
		bool first = b == from->len || (a < to->len && to->at[a].host <= from->at[b].host);

		if (first && b < from->len && to->at[a].host == from->at[b].host) {
			free(from->at[b++].bytes);
			freed += PAGE + sizeof(struct debug_page);
		}
		both.at[both.len++] = first ? to->at[a++] : from->at[b++];
	}
	VEC_FREE(to);
	VEC_FREE(from);
	*to = both;
	return freed;
}

/* ---- what there is ---- */

static void *new_pages(u64 size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void drop_shadow(struct debug_memory *m, size_t i)
{
	munmap(m->at.at[i].bytes, m->at.at[i].size);
	memmove(&m->at.at[i], &m->at.at[i + 1], (m->at.len - i - 1) * sizeof(*m->at.at));
	m->at.len--;
}

void debug_memory_free(struct debug_memory *m)
{
	while (m->at.len)
		drop_shadow(m, m->at.len - 1);
	VEC_FREE(&m->at);
	m->used = 0;
}

/* Whole pages that the range has a part of. */
static struct debug_shadow pages_of(const struct mem_range *r)
{
	u64 first = (u64)(uintptr_t)mem_host(r, r->base), end = first + r->size;

	first &= ~(PAGE - 1);
	return (struct debug_shadow){
		.id = r->id, .host = first, .size = align_up(end, PAGE) - first, .seen = true};
}

/* Neighbours that share a page have it once. */
static bool add_shadow(struct debug_memory *m, struct debug_shadow s)
{
	size_t i = 0;
	u64 end = s.host + s.size;

	for (; i < m->at.len && m->at.at[i].host < end; i++) {
		struct debug_shadow *x = &m->at.at[i];

		if (x->id == s.id && x->host + x->size > s.host) {
			x->seen = true;
			return true;
		}
		if (x->host > s.host)
			break;
		if (x->host + x->size > s.host)
			s.host = x->host + x->size;
	}
	if (i < m->at.len && m->at.at[i].host < end)
		end = m->at.at[i].host;
	if (s.host >= end)
		return true;
	s.size = end - s.host;
	s.bytes = new_pages(s.size);
	if (!s.bytes || !VEC_RESERVE(&m->at, 1)) {
		if (s.bytes)
			munmap(s.bytes, s.size);
		return false;
	}
	memmove(&m->at.at[i + 1], &m->at.at[i], (m->at.len - i) * sizeof(s));
	m->at.at[i] = s;
	m->at.len++;
	return true;
}

static bool add_ranges(struct debug_memory *m, struct mem *from)
{
	bool ok = true;

	pthread_mutex_lock(&from->lock);
	for (u32 i = 0; i < from->len && ok; i++) {
		const struct mem_range *r = &from->ranges[i];

		if (!r->freed && r->size)
			ok = add_shadow(m, pages_of(r));
	}
	pthread_mutex_unlock(&from->lock);
	return ok;
}

static bool add_all(struct debug_memory *m, const struct exec_env *e)
{
	struct mem_system *s = e->mem->system;
	bool ok = add_ranges(m, e->mem);

	if (!s)
		return ok;
	ok = ok && add_ranges(m, &s->host);
	if (s->maps.arena)
		ok = ok && add_ranges(m, &s->maps);
	for (u32 i = 0; i < MEM_DEVICES_MAX; i++)
		if (s->device[i] && s->device[i] != e->mem)
			ok = ok && add_ranges(m, s->device[i]);
	return ok;
}

/*
 * What has gone is forgotten, and so are those beside it, which may have left it a page of theirs.
 */
static void drop_gone(struct debug_memory *m)
{
	struct debug_shadow *at = m->at.at;
	bool before = false;

	for (size_t i = 0; i < m->at.len; i++) {
		bool gone = !at[i].seen,
		     beside = i && at[i - 1].host + at[i - 1].size == at[i].host;

		if (gone && beside)
			at[i - 1].seen = false;
		at[i].seen &= !(before && beside);
		before = gone;
	}
	for (size_t i = m->at.len; i-- > 0;)
		if (!m->at.at[i].seen)
			drop_shadow(m, i);
}

/*
 * Every range that a kernel of the launch may reach. False: no memory, or some have gone that
 * `kept` has to be about.
 */
static bool look_at_ranges(struct debug_memory *m, const struct exec_env *e, bool kept)
{
	bool gone = false;

	for (size_t i = 0; i < m->at.len; i++)
		m->at.at[i].seen = false;
	if (!add_all(m, e))
		return false;
	for (size_t i = 0; i < m->at.len; i++)
		gone |= !m->at.at[i].seen;
	if (!gone || kept)
		return !gone;
	drop_gone(m);
	return add_all(m, e);
}

/* ---- comparing ---- */

typedef bool page_fn(void *user, struct debug_shadow *s, u64 at);

/* Call fn for every page that the host has touched; it returns false to end. */
static bool each_touched(struct debug_memory *m, page_fn *fn, void *user)
{
	u8 there[WINDOW_PAGES];

	for (size_t i = 0; i < m->at.len; i++) {
		struct debug_shadow *s = &m->at.at[i];

		for (u64 at = 0; at < s->size; at += WINDOW_PAGES * PAGE) {
			u64 n = s->size - at < WINDOW_PAGES * PAGE ? s->size - at
								   : WINDOW_PAGES * PAGE;

			/* Not of memory that can be asked about: all of it. */
			if (mincore((void *)(uintptr_t)(s->host + at), n, there))
				memset(there, 1, sizeof(there));
			for (u64 k = 0; k < n / PAGE; k++)
				if (there[k] & 1 && !fn(user, s, at + k * PAGE))
					return false;
		}
	}
	return true;
}

struct noting {
	struct debug_pages *old;
	u64 used, limit;
};

static bool note_page(void *user, struct debug_shadow *s, u64 at)
{
	struct noting *n = user;
	const void *now = (const void *)(uintptr_t)(s->host + at);

	n->used += PAGE;
	if (n->used > n->limit)
		return false;
	if (!memcmp(now, s->bytes + at, PAGE))
		return true;
	if (n->old && !keep_page(n->old, s->host + at, s->bytes + at))
		return false;
	memcpy(s->bytes + at, now, PAGE);
	return true;
}

bool debug_memory_note(struct debug_memory *m, const struct exec_env *e, struct debug_pages *old,
		       u64 limit)
{
	struct noting n = {.old = old, .limit = limit};

	if (!e->mem)
		return true;
	if (!look_at_ranges(m, e, old != NULL) || !each_touched(m, note_page, &n))
		return false;
	m->used = n.used;
	return true;
}

static bool return_page(void *user, struct debug_shadow *s, u64 at)
{
	void *now = (void *)(uintptr_t)(s->host + at);

	(void)user;
	if (memcmp(now, s->bytes + at, PAGE) != 0)
		memcpy(now, s->bytes + at, PAGE);
	return true;
}

void debug_memory_return(struct debug_memory *m)
{
	each_touched(m, return_page, NULL);
}

void debug_memory_write(struct debug_memory *m, const struct debug_pages *pages)
{
	size_t i = 0;

	for (size_t k = 0; k < pages->len; k++) {
		u64 host = pages->at[k].host;

		while (i < m->at.len && m->at.at[i].host + m->at.at[i].size <= host)
			i++;
		if (i == m->at.len)
			return;
		memcpy(m->at.at[i].bytes + (host - m->at.at[i].host), pages->at[k].bytes, PAGE);
		memcpy((void *)(uintptr_t)host, pages->at[k].bytes, PAGE);
	}
}

void debug_memory_keep(const struct debug_pages *pages, struct debug_pages *now)
{
	for (size_t i = 0; i < pages->len; i++)
		keep_page(now, pages->at[i].host, (const u8 *)(uintptr_t)pages->at[i].host);
}

void debug_memory_put(const struct debug_pages *pages)
{
	for (size_t i = 0; i < pages->len; i++)
		memcpy((void *)(uintptr_t)pages->at[i].host, pages->at[i].bytes, PAGE);
}
