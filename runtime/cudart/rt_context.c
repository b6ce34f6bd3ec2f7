/*
 * Contexts and the stacks on which threads keep them.
 */
#include "runtime/process.h"

#define DEPTH 64u

static _Thread_local struct {
	struct rt_context *at[DEPTH];
	u32 len;
	int device; /* without a context */
} stack;

static struct process_contexts *const contexts = &the_process.contexts;

/* With the lock held: free the context when it is no longer reachable. */
static void release_context_locked(struct rt_context *c)
{
	if (!c->is_active && !c->is_primary && !c->places)
		rt_handle_free(c);
}

static void leave_context(struct rt_context *c)
{
	pthread_mutex_lock(&contexts->lock);
	c->places--;
	release_context_locked(c);
	pthread_mutex_unlock(&contexts->lock);
}

static void enter_context(struct rt_context *c)
{
	pthread_mutex_lock(&contexts->lock);
	c->places++;
	pthread_mutex_unlock(&contexts->lock);
}

struct rt_context *rt_context_now(void)
{
	return stack.len ? stack.at[stack.len - 1] : NULL;
}

u64 rt_context_number(void)
{
	const struct rt_context *c = rt_context_now();

	return c ? c->id : 0;
}

int rt_context_device(void)
{
	return stack.len ? stack.at[stack.len - 1]->device : stack.device;
}

void rt_context_choose(int device)
{
	stack.device = device;
}

void rt_context_set(struct rt_context *c)
{
	if (c && rt_context_now() == c)
		return;
	if (stack.len)
		rt_context_pop();
	if (c)
		rt_context_push(c);
}

bool rt_context_push(struct rt_context *c)
{
	if (stack.len == DEPTH)
		return false;
	enter_context(c);
	stack.at[stack.len++] = c;
	stack.device = c->device;
	return true;
}

struct rt_context *rt_context_pop(void)
{
	struct rt_context *c;

	if (!stack.len)
		return NULL;
	c = stack.at[--stack.len];
	stack.device = stack.len ? stack.at[stack.len - 1]->device : 0;
	leave_context(c);
	return c;
}

void rt_context_forget(void)
{
	stack.len = 0;
	stack.device = 0;
}

enum { NOT_BORROWED = -1 };

int rt_context_borrow(int device)
{
	int before = stack.device;
	struct rt_context *c = stack.len ? NULL : rt_context_primary(device);

	return c && rt_context_push(c) ? before : NOT_BORROWED;
}

void rt_context_return(int borrowed)
{
	if (borrowed == NOT_BORROWED)
		return;
	rt_context_pop();
	stack.device = borrowed;
}

static struct rt_context *make_locked(int device)
{
	struct rt_context *c = rt_handle_new(RT_HANDLE_CONTEXT);

	if (c) {
		c->device = device;
		c->id = ++contexts->next_id;
	}
	return c;
}

struct rt_context *rt_context_primary(int device)
{
	struct rt_context *c = __atomic_load_n(&contexts->primary[device], __ATOMIC_ACQUIRE);

	if (c)
		return c;
	pthread_mutex_lock(&contexts->lock);
	c = contexts->primary[device];
	if (!c) {
		c = make_locked(device);
		if (c) {
			c->is_primary = true;
			c->api_version = 3020;
		}
		__atomic_store_n(&contexts->primary[device], c, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&contexts->lock);
	return c;
}

struct rt_context *rt_context_new(int device, u32 flags, u32 api_version)
{
	struct rt_context *c;

	pthread_mutex_lock(&contexts->lock);
	c = make_locked(device);
	if (c) {
		c->is_active = true;
		c->flags = flags;
		c->api_version = api_version;
	}
	pthread_mutex_unlock(&contexts->lock);
	return c;
}

void rt_context_kill(struct rt_context *c)
{
	bool on_top = rt_context_now() == c && !c->is_primary;

	pthread_mutex_lock(&contexts->lock);
	c->is_active = false;
	c->places += on_top; /* until it has left the stack */
	pthread_mutex_unlock(&contexts->lock);
	if (on_top) {
		rt_context_pop();
		leave_context(c);
	} else {
		pthread_mutex_lock(&contexts->lock);
		release_context_locked(c);
		pthread_mutex_unlock(&contexts->lock);
	}
}

struct count {
	int device;
	u32 n;
};

static void count_one(void *handle, void *user)
{
	const struct rt_context *c = handle;
	struct count *k = user;

	k->n += c->device == k->device && c->is_active;
}

u32 rt_context_count(int device)
{
	struct count k = {device, 0};

	rt_handle_each(RT_HANDLE_CONTEXT, count_one, &k);
	return k.n;
}
