/*
 * Ranges of programs.
 */
#include "src/profile/ranges.h"

#include "src/base/map.h"

#include <pthread.h>
#include <stdlib.h>

struct open_range {
	u64 thread, id; /* thread 0: started, with this id */
	char *domain, *name;
};

struct profile_ranges {
	pthread_mutex_t lock;
	VEC(struct open_range) open;
	VEC(struct profile_ranges_view *) views;
	struct map by_hash; /* of views: index + 1 */
	u64 ids;
	bool is_on, is_always_on;
};

static u64 thread_number(void)
{
	static u64 threads;
	static _Thread_local u64 mine;

	if (!mine)
		mine = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
	return mine;
}

struct profile_ranges *profile_ranges_new(enum profile_switch at_first)
{
	struct profile_ranges *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	pthread_mutex_init(&r->lock, NULL);
	r->is_on = at_first != SWITCHED_OFF;
	r->is_always_on = at_first == SWITCHED_ALWAYS;
	return r;
}

static void open_range_fini(struct open_range *x)
{
	free(x->domain);
	free(x->name);
}

void profile_ranges_free(struct profile_ranges *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->open.len; i++)
		open_range_fini(&r->open.at[i]);
	for (size_t i = 0; i < r->views.len; i++)
		profile_ranges_view_free(r->views.at[i]);
	VEC_FREE(&r->open);
	VEC_FREE(&r->views);
	map_fini(&r->by_hash);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/* ---- opening and closing ---- */

/* With the lock held. */
static int depth_locked(const struct profile_ranges *r, u64 thread, const char *domain)
{
	int depth = 0;

	for (size_t i = 0; i < r->open.len; i++)
		depth += r->open.at[i].thread == thread && !strcmp(r->open.at[i].domain, domain);
	return depth;
}

static bool range_open_locked(struct profile_ranges *r, u64 thread, u64 id, const char *domain,
			      const char *name)
{
	struct open_range x = {thread, id, strdup(domain), strdup(name)};

	if (x.domain && x.name && VEC_PUSH(&r->open, x))
		return true;
	open_range_fini(&x);
	return false;
}

static void range_close_locked(struct profile_ranges *r, size_t i)
{
	open_range_fini(&r->open.at[i]);
	memmove(&r->open.at[i], &r->open.at[i + 1], (r->open.len - i - 1) * sizeof(r->open.at[0]));
	r->open.len--;
}

int profile_ranges_push(struct profile_ranges *r, const char *domain, const char *name)
{
	u64 thread = thread_number();
	int depth;

	pthread_mutex_lock(&r->lock);
	depth = depth_locked(r, thread, domain);
	if (!range_open_locked(r, thread, 0, domain, name))
		depth = -1;
	pthread_mutex_unlock(&r->lock);
	return depth;
}

int profile_ranges_pop(struct profile_ranges *r, const char *domain)
{
	u64 thread = thread_number();
	size_t i;
	int depth;

	pthread_mutex_lock(&r->lock);
	depth = depth_locked(r, thread, domain) - 1;
	for (i = r->open.len; depth >= 0 && i-- > 0;)
		if (r->open.at[i].thread == thread && !strcmp(r->open.at[i].domain, domain)) {
			range_close_locked(r, i);
			break;
		}
	pthread_mutex_unlock(&r->lock);
	return depth;
}

u64 profile_ranges_start(struct profile_ranges *r, const char *domain, const char *name)
{
	u64 id;

	pthread_mutex_lock(&r->lock);
	id = ++r->ids;
	if (!range_open_locked(r, 0, id, domain, name))
		id = 0;
	pthread_mutex_unlock(&r->lock);
	return id;
}

void profile_ranges_end(struct profile_ranges *r, u64 id)
{
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->open.len; i++)
		if (!r->open.at[i].thread && r->open.at[i].id == id) {
			range_close_locked(r, i);
			break;
		}
	pthread_mutex_unlock(&r->lock);
}

void profile_ranges_switch(struct profile_ranges *r, bool on)
{
	pthread_mutex_lock(&r->lock);
	r->is_on = on || r->is_always_on;
	pthread_mutex_unlock(&r->lock);
}

/* ---- what a launch is in ---- */

static bool is_here(const struct open_range *x, u64 thread)
{
	return !x->thread || x->thread == thread;
}

/* Does the view say what is open now? */
static bool view_is_same(const struct profile_ranges *r, const struct profile_ranges_view *v,
			 u64 thread)
{
	size_t n = 0;

	if (v->is_on != r->is_on || (v->len && v->thread != thread))
		return false;
	for (size_t i = 0; i < r->open.len; i++) {
		const struct open_range *x = &r->open.at[i];

		if (!is_here(x, thread))
			continue;
		if (n == v->len || v->at[n].is_pushed != (x->thread != 0) || v->at[n].id != x->id ||
		    strcmp(v->at[n].domain, x->domain) != 0 || strcmp(v->at[n].name, x->name) != 0)
			return false;
		n++;
	}
	return n == v->len;
}

static struct profile_ranges_view *view_make(const struct profile_ranges *r, u64 thread)
{
	struct profile_ranges_view *v =
		calloc(1, sizeof(*v) + (r->open.len + 1) * sizeof(v->at[0]));
	bool ok = v != NULL;

	for (size_t i = 0; ok && i < r->open.len; i++) {
		const struct open_range *x = &r->open.at[i];
		struct profile_range *to = &v->at[v->len];

		if (!is_here(x, thread))
			continue;
		v->len++;
		to->is_pushed = x->thread != 0;
		to->id = x->id;
		to->domain = strdup(x->domain);
		to->name = strdup(x->name);
		ok = to->domain && to->name;
	}
	if (ok) {
		v->is_on = r->is_on;
		v->thread = thread;
		return v;
	}
	profile_ranges_view_free(v);
	return NULL;
}

static u64 view_hash(const struct profile_ranges *r, u64 thread)
{
	u64 hash = 1 + r->is_on;

	for (size_t i = 0; i < r->open.len; i++) {
		const struct open_range *x = &r->open.at[i];

		if (is_here(x, thread))
			hash = hash * 31 + hash_bytes(x->name, strlen(x->name)) +
			       7 * hash_bytes(x->domain, strlen(x->domain)) + x->id + thread;
	}
	return hash | 1;
}

const struct profile_ranges_view *profile_ranges_here(struct profile_ranges *r)
{
	u64 thread = thread_number(), hash, *at;
	struct profile_ranges_view *v = NULL;

	pthread_mutex_lock(&r->lock);
	hash = view_hash(r, thread);
	at = map_get(&r->by_hash, hash);
	if (at && view_is_same(r, r->views.at[*at - 1], thread)) {
		v = r->views.at[*at - 1];
	} else {
		v = view_make(r, thread);
		if (v && !VEC_PUSH(&r->views, v)) {
			profile_ranges_view_free(v);
			v = NULL;
		} else if (v) {
			map_set(&r->by_hash, hash, r->views.len);
		}
	}
	pthread_mutex_unlock(&r->lock);
	return v;
}
