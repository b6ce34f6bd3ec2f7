/*
 * A watcher of memory, and the lock round the model.
 */
#include "src/managed/managed.h"

#include "src/dev/memory/memory.h"
#include "src/dev/memory/watch.h"
#include "src/managed/touched.h"

#include <pthread.h>
#include <string.h>

_Static_assert(MANAGED_DEVICES == MEM_DEVICES_MAX, "devices have the same numbers");

struct managed {
	pthread_mutex_t lock;
	struct memory_watch watch;
	struct residency residency;
	struct touched touched;
	u32 running; /* launches that will tell their end */
	u32 device;  /* that launched last */
	bool unseen;
};

/* ---- what the host has touched ---- */

static u64 managed_pages(const struct managed_range *r)
{
	return (r->bytes + MANAGED_PAGE - 1) / MANAGED_PAGE;
}

static void see_range(struct managed *m, struct managed_range *r)
{
	enum { PIECE = 512 };
	bool touched[PIECE];
	u64 pages = managed_pages(r);

	for (u64 first = 0; first < pages; first += PIECE) {
		u32 n = (u32)min_u64(pages - first, PIECE);

		if (!touched_read(&m->touched, r->base + first * MANAGED_PAGE, n, touched))
			return;
		for (u32 i = 0; i < n; i++)
			if (touched[i])
				residency_touch(&m->residency, r, first + i, MANAGED_HOST, false);
	}
}

/* Pages that the host has not are not in its page tables either. */
static void drop_range(const struct managed_range *r)
{
	u64 pages = managed_pages(r), bit = (u64)1 << MANAGED_HOST;

	for (u64 i = 0, end; i < pages; i = end) {
		end = i + 1;
		if (r->page[i].at & bit)
			continue;
		while (end < pages && !(r->page[end].at & bit))
			end++;
		touched_drop(r->base + i * MANAGED_PAGE, (end - i) * MANAGED_PAGE);
	}
}

static void drop_all(const struct managed *m)
{
	for (size_t i = 0; i < m->residency.ranges.len; i++)
		drop_range(&m->residency.ranges.at[i]);
}

/* With the lock held. While launches run, it is not known whether they have touched a page. */
static void see_host(struct managed *m)
{
	if (m->running)
		return;
	if (!m->unseen)
		for (size_t i = 0; i < m->residency.ranges.len; i++)
			see_range(m, &m->residency.ranges.at[i]);
	else
		drop_all(m);
	m->unseen = false;
}

/* ---- allocations ---- */

static void managed_begin(struct managed *m, u64 address, u64 bytes, bool keeps)
{
	if (address % MANAGED_PAGE || !touched_begin(address, bytes, keeps))
		return;
	if (!residency_add(&m->residency, address, bytes))
		touched_end(address, bytes);
}

static void managed_on_alloc(void *user, struct mem *arena, u64 address, u64 bytes,
			     enum mem_kind kind)
{
	struct managed *m = user;

	if (kind != MEM_KIND_MANAGED || arena->bias)
		return;
	pthread_mutex_lock(&m->lock);
	managed_begin(m, address, bytes, false);
	pthread_mutex_unlock(&m->lock);
}

/* It is the host that has written its first contents, 64 KiB at a time. */
static void managed_on_variable(void *user, struct mem *arena, u64 address, u64 bytes)
{
	struct managed *m = user;
	struct managed_range *r;

	(void)arena;
	pthread_mutex_lock(&m->lock);
	managed_begin(m, address, bytes, true);
	r = residency_find(&m->residency, address);
	for (u64 i = 0, end = r ? align_up(managed_pages(r), MANAGED_FAULT_PAGES) : 0; i < end; i++)
		r->page[i].at = (u64)1 << MANAGED_HOST;
	pthread_mutex_unlock(&m->lock);
}

static void managed_on_free(void *user, struct mem *arena, u64 address, u64 bytes)
{
	struct managed *m = user;
	struct managed_range *r;

	(void)arena;
	pthread_mutex_lock(&m->lock);
	r = residency_find(&m->residency, address);
	if (r && r->base == address) {
		see_host(m);
		residency_remove(&m->residency, address);
		touched_end(address, bytes);
	}
	pthread_mutex_unlock(&m->lock);
}

/* ---- calls ---- */

static void touch_bytes(struct managed *m, u64 address, u64 bytes, bool writes)
{
	struct managed_range *r = residency_find(&m->residency, address);
	u64 end;

	if (!r || !bytes)
		return;
	end = min_u64(address + bytes, r->base + r->bytes);
	for (u64 i = (address - r->base) / MANAGED_PAGE; i <= (end - 1 - r->base) / MANAGED_PAGE;
	     i++)
		residency_touch(&m->residency, r, i, m->device, writes);
}

static void touch_box(struct managed *m, const struct memory_box *b, const u64 size[3], bool writes)
{
	if (!residency_find(&m->residency, b->address))
		return;
	for (u64 z = 0; z < size[2]; z++)
		for (u64 y = 0; y < size[1]; y++)
			touch_bytes(m, b->address + z * b->slice + y * b->pitch, size[0], writes);
}

/* Does the copy or fill of this thread that is under way touch such memory? */
static _Thread_local bool touches;

/* The device touches what a copy or a fill reads, and writes; NULL: it does not read. */
static void touch_boxes(struct managed *m, const struct memory_box *from,
			const struct memory_box *to, const u64 size[3])
{
	pthread_mutex_lock(&m->lock);
	touches = (from && residency_find(&m->residency, from->address)) ||
		  residency_find(&m->residency, to->address);
	if (touches) {
		see_host(m);
		if (from)
			touch_box(m, from, size, false);
		touch_box(m, to, size, true);
	}
	pthread_mutex_unlock(&m->lock);
}

static void managed_on_copy(void *user, const struct memory_copy *c)
{
	touch_boxes(user, &c->src, &c->dst, (const u64[3]){c->width, c->height, c->depth});
}

static void managed_on_fill(void *user, const struct memory_box *to, u64 width, u64 height,
			    u64 depth)
{
	touch_boxes(user, NULL, to, (const u64[3]){width, height, depth});
}

/* The engine has touched the pages on behalf of a device. */
static void managed_on_done(void *user)
{
	struct managed *m = user;

	if (!touches)
		return;
	pthread_mutex_lock(&m->lock);
	drop_all(m);
	pthread_mutex_unlock(&m->lock);
	touches = false;
}

static u32 managed_place(struct memory_location where)
{
	return where.type == LOCATION_DEVICE ? (u32)where.id % MANAGED_DEVICES : MANAGED_HOST;
}

static void managed_on_prefetch(void *user, u64 address, u64 bytes,
				const struct memory_location *where)
{
	struct managed *m = user;
	struct managed_range *r;

	pthread_mutex_lock(&m->lock);
	see_host(m);
	r = residency_find(&m->residency, address);
	if (r)
		residency_prefetch(&m->residency, r, (address - r->base) / MANAGED_PAGE,
				   min_u64((address - r->base + bytes - 1) / MANAGED_PAGE + 1,
					   managed_pages(r)),
				   managed_place(*where));
	drop_all(m);
	pthread_mutex_unlock(&m->lock);
}

static void managed_on_advise(void *user, u64 address, int advice,
			      const struct memory_location *where)
{
	struct managed *m = user;
	struct managed_range *r;

	pthread_mutex_lock(&m->lock);
	see_host(m);
	r = residency_find(&m->residency, address);
	if (r)
		residency_advise(&m->residency, r, (enum managed_advice)advice,
				 managed_place(*where));
	pthread_mutex_unlock(&m->lock);
}

/* ---- launches ---- */

bool managed_is_used(struct managed *m)
{
	bool any;

	if (!m)
		return false;
	pthread_mutex_lock(&m->lock);
	any = m->residency.ranges.len != 0;
	pthread_mutex_unlock(&m->lock);
	return any;
}

void managed_launch_begin(struct managed *m, u32 device)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	see_host(m);
	m->running++;
	m->device = device;
	pthread_mutex_unlock(&m->lock);
}

/* a - b, of what only grows. */
static void counts_subtract(struct managed_counts *a, const struct managed_counts *b)
{
	u64 *x = (u64 *)a;
	const u64 *y = (const u64 *)b;

	for (size_t i = 0; i < sizeof(*a) / sizeof(u64); i++)
		x[i] -= y[i];
}

/* Has it touched any page? */
static bool touch_launch(struct managed *m, u32 device, const struct managed_touch *t)
{
	struct managed_range *r = residency_find(&m->residency, t->base);
	bool any = false;

	if (!r || r->base != t->base)
		return false;
	for (u64 i = 0; i < min_u64(t->pages, managed_pages(r)); i++) {
		if (t->page[i])
			residency_touch(&m->residency, r, i, device, t->page[i] & MANAGED_WRITTEN);
		any |= t->page[i] != 0;
	}
	return any;
}

void managed_launch_end(struct managed *m, u32 device, const struct managed_touch *touch, u32 len,
			struct managed_counts *out)
{
	struct managed_counts before;
	bool any = false;

	memset(out, 0, sizeof(*out));
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	m->running--;
	before = m->residency.count;
	for (u32 i = 0; i < len; i++)
		any |= touch_launch(m, device, &touch[i]);
	*out = m->residency.count;
	counts_subtract(out, &before);
	if (any)
		drop_all(m);
	pthread_mutex_unlock(&m->lock);
}

void managed_launch_unseen(struct managed *m)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	see_host(m);
	m->unseen = true;
	pthread_mutex_unlock(&m->lock);
}

void managed_sum(struct managed *m, struct managed_counts *out)
{
	memset(out, 0, sizeof(*out));
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	see_host(m);
	*out = m->residency.count;
	pthread_mutex_unlock(&m->lock);
}

/* ---- the process ---- */

struct managed *managed_new(void)
{
	struct managed *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	pthread_mutex_init(&m->lock, NULL);
	m->watch = (struct memory_watch){
		.user = m,
		.alloc = managed_on_alloc,
		.variable = managed_on_variable,
		.free = managed_on_free,
		.copy = managed_on_copy,
		.fill = managed_on_fill,
		.done = managed_on_done,
		.prefetch = managed_on_prefetch,
		.advise = managed_on_advise,
	};
	if (touched_open(&m->touched) && memory_watch_add(&m->watch))
		return m;
	touched_close(&m->touched);
	pthread_mutex_destroy(&m->lock);
	free(m);
	return NULL;
}

void managed_free(struct managed *m)
{
	if (!m)
		return;
	memory_watch_remove(&m->watch);
	touched_close(&m->touched);
	residency_fini(&m->residency);
	pthread_mutex_destroy(&m->lock);
	free(m);
}
