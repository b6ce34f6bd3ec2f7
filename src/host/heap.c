/*
 * The heap of device-side malloc: one allocation of device memory, in units of 16 bytes. What is
 * free and what is in use is kept beside it in host memory, where device code cannot corrupt it.
 *
 * Free extents are in lists by the power of two below their length; taking one is first fit in its
 * list and any fit in a higher one. An extent's length is stored in its first and its last unit, so
 * that neighbours merge at once.
 * Source: CUDA C++ Programming Guide "Dynamic Global Memory Allocation and Operations", "Heap
 * Memory Allocation".
 */
#include "src/host/syscall.h"

#include <pthread.h>
#include <stdlib.h>

#define UNIT 16u
#define LISTS 40u
#define NONE UINT32_MAX

/* One unit of the heap. Only the first and the last of an extent mean something. */
struct unit {
	u32 len;        /* units of the extent, both at its first and its last one */
	bool used;      /* likewise */
	u32 next, prev; /* first unit of a free extent: in its list */
	u64 bytes;      /* first unit of a block in use: as asked for */
};

struct exec_heap {
	struct mem *mem;
	pthread_mutex_t lock;
	u64 limit, base;
	u32 units;
	struct unit *unit;
	u32 list[LISTS];
	bool apart;
	u64 apart_used, apart_taken; /* bytes of blocks in use; blocks so far */
};

struct exec_heap *exec_heap_new(struct mem *m, u64 limit_bytes)
{
	struct exec_heap *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->mem = m;
	h->limit = limit_bytes;
	pthread_mutex_init(&h->lock, NULL);
	return h;
}

void exec_heap_free(struct exec_heap *h)
{
	if (!h)
		return;
	if (h->base)
		mem_free(h->mem, h->base);
	pthread_mutex_destroy(&h->lock);
	free(h->unit);
	free(h);
}

bool exec_heap_resize(struct exec_heap *h, u64 limit_bytes)
{
	bool untouched;

	pthread_mutex_lock(&h->lock);
	untouched = !h->base && !h->apart_taken;
	if (untouched)
		h->limit = limit_bytes;
	pthread_mutex_unlock(&h->lock);
	return untouched;
}

u64 exec_heap_limit(struct exec_heap *h)
{
	u64 limit;

	pthread_mutex_lock(&h->lock);
	limit = h->limit;
	pthread_mutex_unlock(&h->lock);
	return limit;
}

static u32 list_of(u32 len)
{
	return 31u - (u32)__builtin_clz(len);
}

static void mark_run(struct exec_heap *h, u32 at, u32 len, bool used)
{
	h->unit[at].len = h->unit[at + len - 1].len = len;
	h->unit[at].used = h->unit[at + len - 1].used = used;
}

static void link_extent(struct exec_heap *h, u32 at, u32 len)
{
	u32 *head = &h->list[list_of(len)];

	mark_run(h, at, len, false);
	h->unit[at].prev = NONE;
	h->unit[at].next = *head;
	if (*head != NONE)
		h->unit[*head].prev = at;
	*head = at;
}

static void unlink_extent(struct exec_heap *h, u32 at)
{
	const struct unit *x = &h->unit[at];

	if (x->prev == NONE)
		h->list[list_of(x->len)] = x->next;
	else
		h->unit[x->prev].next = x->next;
	if (x->next != NONE)
		h->unit[x->next].prev = x->prev;
}

/* Take the memory itself, at the first use. */
static bool open(struct exec_heap *h)
{
	u64 units = h->limit / UNIT;

	if (h->base)
		return true;
	if (!units || units >= NONE)
		return false;
	h->unit = calloc(units, sizeof(*h->unit));
	h->base = h->unit ? mem_alloc(h->mem, units * UNIT, 0, MEM_KIND_HEAP) : 0;
	if (!h->base) {
		free(h->unit);
		h->unit = NULL;
		return false;
	}
	h->units = (u32)units;
	for (u32 i = 0; i < LISTS; i++)
		h->list[i] = NONE;
	link_extent(h, 0, h->units);
	return true;
}

static u32 find_free_run(const struct exec_heap *h, u32 len)
{
	for (u32 i = h->list[list_of(len)]; i != NONE; i = h->unit[i].next)
		if (h->unit[i].len >= len)
			return i;
	for (u32 k = list_of(len) + 1; k < LISTS; k++)
		if (h->list[k] != NONE)
			return h->list[k];
	return NONE;
}

/* ---- blocks apart ---- */

void exec_heap_set_apart(struct exec_heap *h)
{
	h->apart = true;
}

bool exec_heap_is_apart(const struct exec_heap *h)
{
	return h->apart;
}

static u64 take_block_apart(struct exec_heap *h, u64 bytes)
{
	u64 size = bytes ? bytes : 1, at = 0;

	pthread_mutex_lock(&h->lock);
	if (size <= h->limit && align_up(size, UNIT) <= h->limit - h->apart_used)
		at = mem_alloc(h->mem, size, UNIT, MEM_KIND_BLOCK);
	if (at) {
		h->apart_used += align_up(size, UNIT);
		h->apart_taken++;
	}
	pthread_mutex_unlock(&h->lock);
	return at;
}

/* Requested size of the block in use at `address`, 0: none. */
static u64 block_size_apart(struct exec_heap *h, u64 address)
{
	struct mem_range r;

	return mem_find_own(h->mem, address, 1, &r) && r.base == address && r.kind == MEM_KIND_BLOCK
		       ? r.size
		       : 0;
}

static bool give_block_apart(struct exec_heap *h, u64 address)
{
	u64 size;

	pthread_mutex_lock(&h->lock);
	size = block_size_apart(h, address);
	if (size) {
		mem_free(h->mem, address);
		h->apart_used -= align_up(size, UNIT);
	}
	pthread_mutex_unlock(&h->lock);
	return size != 0;
}

static void each_block_apart(struct exec_heap *h, void (*fn)(void *user, u64 address, u64 bytes),
			     void *user)
{
	pthread_mutex_lock(&h->mem->lock);
	for (u32 i = 0; i < h->mem->len; i++) {
		const struct mem_range *r = &h->mem->ranges[i];

		if (r->kind == MEM_KIND_BLOCK && !r->freed)
			fn(user, r->base, r->size);
	}
	pthread_mutex_unlock(&h->mem->lock);
}

/* ---- blocks of the heap ---- */

u64 exec_heap_take(struct exec_heap *h, u64 bytes)
{
	u64 units = bytes / UNIT + (bytes % UNIT || !bytes), address = 0;
	u32 at, rest;

	if (h->apart)
		return take_block_apart(h, bytes);
	if (units > h->limit / UNIT)
		return 0;
	pthread_mutex_lock(&h->lock);
	at = open(h) ? find_free_run(h, (u32)units) : NONE;
	if (at != NONE) {
		unlink_extent(h, at);
		rest = h->unit[at].len - (u32)units;
		mark_run(h, at, (u32)units, true);
		h->unit[at].bytes = bytes ? bytes : 1;
		if (rest)
			link_extent(h, at + (u32)units, rest);
		address = h->base + (u64)at * UNIT;
	}
	pthread_mutex_unlock(&h->lock);
	return address;
}

/* Is this the first unit of a block in use? `bytes` is kept zero everywhere else. */
static bool is_block(const struct exec_heap *h, u64 address)
{
	u64 offset = address - h->base;

	return h->base && offset < (u64)h->units * UNIT && offset % UNIT == 0 &&
	       h->unit[offset / UNIT].bytes;
}

bool exec_heap_give(struct exec_heap *h, u64 address)
{
	u32 at, len;
	bool ok;

	if (h->apart)
		return give_block_apart(h, address);
	pthread_mutex_lock(&h->lock);
	ok = is_block(h, address);
	if (ok) {
		at = (u32)((address - h->base) / UNIT);
		len = h->unit[at].len;
		h->unit[at].bytes = 0;
		if (at + len < h->units && !h->unit[at + len].used) {
			u32 more = h->unit[at + len].len;

			unlink_extent(h, at + len);
			len += more;
		}
		if (at && !h->unit[at - 1].used) {
			at -= h->unit[at - 1].len;
			len += h->unit[at].len;
			unlink_extent(h, at);
		}
		link_extent(h, at, len);
	}
	pthread_mutex_unlock(&h->lock);
	return ok;
}

u64 exec_heap_size(struct exec_heap *h, u64 address)
{
	u64 bytes;

	if (h->apart)
		return block_size_apart(h, address);
	pthread_mutex_lock(&h->lock);
	bytes = is_block(h, address) ? h->unit[(address - h->base) / UNIT].bytes : 0;
	pthread_mutex_unlock(&h->lock);
	return bytes;
}

void exec_heap_each(struct exec_heap *h, void (*fn)(void *user, u64 address, u64 bytes), void *user)
{
	if (h->apart) {
		each_block_apart(h, fn, user);
		return;
	}
	pthread_mutex_lock(&h->lock);
	for (u32 at = 0; h->base && at < h->units; at += h->unit[at].len)
		if (h->unit[at].used)
			fn(user, h->base + (u64)at * UNIT, h->unit[at].bytes);
	pthread_mutex_unlock(&h->lock);
}

/* ---- its state, for who goes back in time ---- */

struct exec_heap_state {
	u32 list[LISTS];
	u32 len;
	struct {
		u32 at;
		struct unit unit;
	} extent[];
};

struct exec_heap_state *exec_heap_save(struct exec_heap *h, u64 *bytes)
{
	struct exec_heap_state *s;
	u32 n = 0;

	*bytes = 0;
	if (!h || !h->base)
		return NULL;
	pthread_mutex_lock(&h->lock);
	for (u32 at = 0; at < h->units; at += h->unit[at].len)
		n++;
	*bytes = sizeof(*s) + n * sizeof(s->extent[0]);
	s = malloc(*bytes);
	for (u32 at = 0, i = 0; s && i < n; at += h->unit[at].len, i++) {
		s->extent[i].at = at;
		s->extent[i].unit = h->unit[at];
	}
	if (s) {
		s->len = n;
		memcpy(s->list, h->list, sizeof(s->list));
	}
	pthread_mutex_unlock(&h->lock);
	return s;
}

void exec_heap_return(struct exec_heap *h, const struct exec_heap_state *s)
{
	if (!h || !h->base)
		return;
	pthread_mutex_lock(&h->lock);
	for (u32 at = 0; at < h->units; at += h->unit[at].len)
		h->unit[at].bytes = 0;
	for (u32 i = 0; s && i < s->len; i++) {
		const struct unit *u = &s->extent[i].unit;

		mark_run(h, s->extent[i].at, u->len, u->used);
		h->unit[s->extent[i].at] = *u;
	}
	for (u32 i = 0; i < LISTS; i++)
		h->list[i] = s ? s->list[i] : NONE;
	if (!s)
		link_extent(h, 0, h->units);
	pthread_mutex_unlock(&h->lock);
}
