/*
 * Handles in one reserved range. Pages of it come to be as they are first written.
 */
#include "runtime/rt_handle.h"

#include <pthread.h>
#include <sys/mman.h>

#define SLOTS_MAX ((u32)1 << 21)

static struct {
	pthread_mutex_t lock;
	u8 *base;
	u32 len;  /* slots that have ever been used; read without the lock */
	u32 free; /* 1 + index of the first free slot, 0: none */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct rt_handle *slot(u32 i)
{
	return (struct rt_handle *)(table.base + (size_t)i * RT_HANDLE_BYTES);
}

static struct rt_handle *take(void)
{
	struct rt_handle *h;

	if (!table.base) {
		void *p = mmap(NULL, (size_t)SLOTS_MAX * RT_HANDLE_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED)
			return NULL;
		table.base = p;
	}
	if (table.free) {
		h = slot(table.free - 1);
		table.free = h->next_free;
		memset(h, 0, RT_HANDLE_BYTES);
		return h;
	}
	if (table.len == SLOTS_MAX)
		return NULL;
	h = slot(table.len);
	__atomic_store_n(&table.len, table.len + 1, __ATOMIC_RELEASE);
	return h;
}

void *rt_handle_new(enum rt_handle_kind kind)
{
	struct rt_handle *h;

	pthread_mutex_lock(&table.lock);
	h = take();
	if (h)
		__atomic_store_n(&h->kind, kind, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&table.lock);
	return h;
}

void rt_handle_free(void *p)
{
	struct rt_handle *h = p;

	pthread_mutex_lock(&table.lock);
	__atomic_store_n(&h->kind, RT_HANDLE_FREE, __ATOMIC_RELEASE);
	h->next_free = table.free;
	table.free = (u32)(((u8 *)h - table.base) / RT_HANDLE_BYTES) + 1;
	pthread_mutex_unlock(&table.lock);
}

bool rt_handle_is(const void *p, enum rt_handle_kind kind)
{
	u32 len = __atomic_load_n(&table.len, __ATOMIC_ACQUIRE);
	u64 at = (u64)(uintptr_t)p - (u64)(uintptr_t)table.base;

	if (!len || at >= (u64)len * RT_HANDLE_BYTES || at % RT_HANDLE_BYTES)
		return false;
	return __atomic_load_n(&((const struct rt_handle *)p)->kind, __ATOMIC_ACQUIRE) == (u32)kind;
}

void rt_handle_each(enum rt_handle_kind kind, void (*visit)(void *handle, void *user), void *user)
{
	u32 len = __atomic_load_n(&table.len, __ATOMIC_ACQUIRE);

	for (u32 i = 0; i < len; i++)
		if (__atomic_load_n(&slot(i)->kind, __ATOMIC_ACQUIRE) == (u32)kind)
			visit(slot(i), user);
}
