/*
 * Handles of several kinds in one pool (src/dev/handle.h).
 */
#include "runtime/process.h"

void *rt_handle_new(enum rt_handle_kind kind)
{
	struct rt_handle *h = handle_new(&the_process.handles);

	if (h)
		__atomic_store_n(&h->kind, kind, __ATOMIC_RELEASE);
	return h;
}

void rt_handle_free(void *p)
{
	struct rt_handle *h = p;

	__atomic_store_n(&h->kind, RT_HANDLE_FREE, __ATOMIC_RELEASE);
	handle_free(&the_process.handles, p);
}

bool rt_handle_is(const void *p, enum rt_handle_kind kind)
{
	return handle_is_live(&the_process.handles, p) &&
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

	handle_each(&the_process.handles, visit_one, &v);
}
