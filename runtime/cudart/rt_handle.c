/*
 * Handles of several kinds in one pool (src/dev/handle.h).
 */
#include "runtime/cudart/rt_handle.h"

#include "src/dev/handle.h"

#define HANDLES_MAX ((u32)1 << 21)

/* The only state that is there before the runtime's: contexts are asked for by every first call. */
static struct handle_pool pool = HANDLE_POOL(RT_HANDLE_BYTES, HANDLES_MAX);

void *rt_handle_new(enum rt_handle_kind kind)
{
	struct rt_handle *h = handle_new(&pool);

	if (h)
		__atomic_store_n(&h->kind, kind, __ATOMIC_RELEASE);
	return h;
}

void rt_handle_free(void *p)
{
	struct rt_handle *h = p;

	__atomic_store_n(&h->kind, RT_HANDLE_FREE, __ATOMIC_RELEASE);
	handle_free(&pool, p);
}

bool rt_handle_is(const void *p, enum rt_handle_kind kind)
{
	return handle_is_live(&pool, p) &&
	       __atomic_load_n(&((const struct rt_handle *)p)->kind, __ATOMIC_ACQUIRE) == (u32)kind;
}

struct visit {
	enum rt_handle_kind kind;
	void (*visit)(void *handle, void *user);
	void *user;
};

static void visit_one(void *item, void *user)
{
	const struct visit *v = user;

	if (__atomic_load_n(&((const struct rt_handle *)item)->kind, __ATOMIC_ACQUIRE) == v->kind)
		v->visit(item, v->user);
}

void rt_handle_each(enum rt_handle_kind kind, void (*visit)(void *handle, void *user), void *user)
{
	struct visit v = {kind, visit, user};

	handle_each(&pool, visit_one, &v);
}
