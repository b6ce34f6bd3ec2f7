/*
 * The watchers of memory: a short list for the process, since memory is the process's.
 */
#include "src/dev/memory/watch.h"

static const struct memory_watch *watches[MEMORY_WATCHES_MAX];
static pthread_rwlock_t watches_lock = PTHREAD_RWLOCK_INITIALIZER;
u32 memory_watches;

static void count_watches(s32 more)
{
	__atomic_store_n(&memory_watches, memory_watches + (u32)more, __ATOMIC_RELEASE);
}

bool memory_watch_add(const struct memory_watch *w)
{
	bool ok = false;

	pthread_rwlock_wrlock(&watches_lock);
	for (u32 i = 0; i < MEMORY_WATCHES_MAX && !ok; i++)
		if (!watches[i]) {
			watches[i] = w;
			count_watches(1);
			ok = true;
		}
	pthread_rwlock_unlock(&watches_lock);
	return ok;
}

void memory_watch_remove(const struct memory_watch *w)
{
	pthread_rwlock_wrlock(&watches_lock);
	for (u32 i = 0; i < MEMORY_WATCHES_MAX; i++)
		if (watches[i] == w) {
			watches[i] = NULL;
			count_watches(-1);
		}
	pthread_rwlock_unlock(&watches_lock);
}

void memory_watch_forget(void)
{
	pthread_rwlock_init(&watches_lock, NULL);
	memset(watches, 0, sizeof(watches));
	memory_watches = 0;
}

/* Call `member` of each that has it, with its user and the rest. */
#define TELL(member, ...)                                                                          \
	do {                                                                                       \
		if (!memory_is_watched())                                                          \
			return;                                                                    \
		pthread_rwlock_rdlock(&watches_lock);                                              \
		for (u32 i = 0; i < MEMORY_WATCHES_MAX; i++)                                       \
			if (watches[i] && watches[i]->member)                                      \
				watches[i]->member(watches[i]->user __VA_OPT__(, ) __VA_ARGS__);   \
		pthread_rwlock_unlock(&watches_lock);                                              \
	} while (0)

void memory_tell_alloc(struct mem *m, u64 address, u64 bytes, enum mem_kind kind)
{
	TELL(alloc, m, address, bytes, kind);
}

void memory_tell_variable(struct mem *m, u64 address, u64 bytes)
{
	TELL(variable, m, address, bytes);
}

void memory_tell_free(struct mem *m, u64 address, u64 bytes)
{
	TELL(free, m, address, bytes);
}

void memory_tell_copy(const struct memory_copy *c)
{
	TELL(copy, c);
}

void memory_tell_fill(const struct memory_box *to, u64 width, u64 height, u64 depth)
{
	TELL(fill, to, width, height, depth);
}

void memory_tell_done(void)
{
	TELL(done);
}

void memory_tell_prefetch(u64 address, u64 bytes, const struct memory_location *where)
{
	TELL(prefetch, address, bytes, where);
}

void memory_tell_advise(u64 address, int advice, const struct memory_location *where)
{
	TELL(advise, address, advice, where);
}

void memory_tell_write(u64 address, u64 bytes)
{
	TELL(write, address, bytes);
}

void memory_tell_hand_out(u64 address, u64 bytes)
{
	TELL(hand_out, address, bytes);
}

void memory_tell_region(u64 address, u64 bytes)
{
	TELL(region, address, bytes);
}
