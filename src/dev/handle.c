/*
 * Storage of handles: a reserved range of addresses, cut into items.
 */
#include "src/dev/handle.h"

#include "src/mem/room.h"

#include <sys/mman.h>

/* Items that are reported to a leak checker at a time. */
#define TOLD_ITEMS 1024u
#define NONE UINT32_MAX

/*
 * Of a leak checker in the program, NULL: there is none. It knows of no pages that are not from
 * malloc.
 */
extern void __lsan_register_root_region(const void *at, size_t bytes) __attribute__((weak));

void handle_pool_init(struct handle_pool *p, u32 bytes, u32 cap)
{
	*p = (struct handle_pool)HANDLE_POOL(bytes, cap);
	pthread_mutex_init(&p->lock, NULL);
}

static size_t handle_item_size(const struct handle_pool *p)
{
	return (size_t)p->item_bytes * p->cap;
}

void handle_pool_fini(struct handle_pool *p)
{
	if (p->base)
		munmap(p->base, handle_item_size(p));
	pthread_mutex_destroy(&p->lock);
}

/* The head follows the item, so that items are aligned to 64 bytes. */
static struct handle_head *head_at(const struct handle_pool *p, u32 index)
{
	u8 *end = p->base + (size_t)p->item_bytes * (index + 1);

	return (struct handle_head *)(void *)(end - sizeof(struct handle_head));
}

static bool handle_reserve(struct handle_pool *p)
{
	void *at;

	if (p->base)
		return true;
	/* Few addresses: few handles. */
	p->cap = (u32)(room_part(handle_item_size(p)) / p->item_bytes);
	if (!p->cap)
		return false;
	at = mmap(NULL, handle_item_size(p), PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return false;
	__atomic_store_n(&p->base, at, __ATOMIC_RELEASE);
	return true;
}

/* The next item, which has never been handed out. What items point to is not lost. */
static u32 fresh_index_locked(struct handle_pool *p)
{
	u32 index = __atomic_fetch_add(&p->used, 1, __ATOMIC_ACQ_REL), items = p->cap - index;

	if (__lsan_register_root_region && index % TOLD_ITEMS == 0)
		__lsan_register_root_region(p->base + (size_t)p->item_bytes * index,
					    (size_t)p->item_bytes *
						    (items < TOLD_ITEMS ? items : TOLD_ITEMS));
	return index;
}

static u32 take_index_locked(struct handle_pool *p)
{
	u32 index = p->first - 1;

	p->first = head_at(p, index)->next;
	if (!p->first)
		p->last = 0;
	return index;
}

void *handle_new(struct handle_pool *p)
{
	struct handle_head *head;
	void *item = NULL;
	u32 index;

	pthread_mutex_lock(&p->lock);
	if (handle_reserve(p) && (p->first || p->used < p->cap)) {
		index = p->first ? take_index_locked(p) : fresh_index_locked(p);
		head = head_at(p, index);
		item = p->base + (size_t)p->item_bytes * index;
		memset(item, 0, p->item_bytes - sizeof(*head));
		__atomic_store_n(&head->live, 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&p->lock);
	return item;
}

/* Index of the item, or NONE when the address is not an item's. */
static u32 handle_index(const struct handle_pool *p, const void *item)
{
	u8 *base = __atomic_load_n(&p->base, __ATOMIC_ACQUIRE);
	u64 at = (u64)(uintptr_t)item - (u64)(uintptr_t)base;

	if (!base || at >= handle_item_size(p) || at % p->item_bytes)
		return NONE;
	return (u32)(at / p->item_bytes);
}

bool handle_is_live(const struct handle_pool *p, const void *item)
{
	u32 index = handle_index(p, item);

	return index != NONE && __atomic_load_n(&head_at(p, index)->live, __ATOMIC_ACQUIRE) == 1;
}

bool handle_was(const struct handle_pool *p, const void *item)
{
	return handle_index(p, item) < __atomic_load_n(&p->used, __ATOMIC_ACQUIRE);
}

bool handle_retire(struct handle_pool *p, void *item)
{
	u32 index = handle_index(p, item);
	bool ok = false;

	if (index == NONE)
		return false;
	pthread_mutex_lock(&p->lock);
	if (head_at(p, index)->live == 1) {
		ok = true;
		__atomic_store_n(&head_at(p, index)->live, 2, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&p->lock);
	return ok;
}

bool handle_free(struct handle_pool *p, void *item)
{
	u32 index = handle_index(p, item);
	struct handle_head *head;
	bool ok = false;

	if (index == NONE)
		return false;
	pthread_mutex_lock(&p->lock);
	head = head_at(p, index);
	if (head->live) {
		ok = true;
		__atomic_store_n(&head->live, 0, __ATOMIC_RELEASE);
		head->next = 0;
		if (p->last)
			head_at(p, p->last - 1)->next = index + 1;
		else
			p->first = index + 1;
		p->last = index + 1;
	}
	pthread_mutex_unlock(&p->lock);
	return ok;
}

void handle_each(struct handle_pool *p, void (*visit)(void *item, void *user), void *user)
{
	u32 used = __atomic_load_n(&p->used, __ATOMIC_ACQUIRE);

	for (u32 i = 0; i < used; i++)
		if (__atomic_load_n(&head_at(p, i)->live, __ATOMIC_ACQUIRE) == 1)
			visit(p->base + (size_t)p->item_bytes * i, user);
}
