/*
 * Tracing calls and work.
 */
#include "src/profile/trace.h"

#include "src/base/demangle.h"
#include "src/base/setting.h"
#include "src/profile/collect_int.h"
#include "src/profile/json_out.h"

#include <stdlib.h>

struct trace_piece {
	u64 begin;
	struct order_piece info;
	char *kernel; /* demangled; NULL: it is not a launch */
};

struct profile_trace {
	struct profile_collect *of; /* NULL: it has stopped */
	struct order_watch watch;
	pthread_mutex_t lock; /* of pieces, and of `of` while a line is written */
	struct trace_piece piece[ORDER_SLOTS];
	u64 works;
};

static void trace_put(struct profile_trace *t, const struct text *line)
{
	pthread_mutex_lock(&t->lock);
	if (t->of)
		collect_put_line(t->of, line);
	pthread_mutex_unlock(&t->lock);
}

void profile_trace_stop(struct profile_trace *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->of = NULL;
	pthread_mutex_unlock(&t->lock);
}

/* ---- pieces of work ---- */

static void trace_begin(void *user, const struct order_piece *p)
{
	struct profile_trace *t = user;
	struct trace_piece *x = &t->piece[p->slot];
	struct text name = {0};

	if (p->slot >= ORDER_SLOTS)
		return;
	if (p->kernel)
		demangle(p->kernel->func->name->text, &name);
	pthread_mutex_lock(&t->lock);
	free(x->kernel);
	*x = (struct trace_piece){.begin = host_call_time(), .info = *p, .kernel = name.at};
	pthread_mutex_unlock(&t->lock);
}

static void trace_end(void *user, u32 slot, const struct order_set *before)
{
	struct profile_trace *t = user;
	u64 end = host_call_time();
	struct trace_piece x;
	struct text line = {0};

	(void)before;
	if (slot >= ORDER_SLOTS)
		return;
	pthread_mutex_lock(&t->lock);
	x = t->piece[slot];
	t->piece[slot] = (struct trace_piece){0};
	pthread_mutex_unlock(&t->lock);
	if (!x.begin)
		return;
	text_printf(&line, "{\"work\": %llu",
		    (unsigned long long)__atomic_fetch_add(&t->works, 1, __ATOMIC_RELAXED));
	json_out_text("name",
		      x.kernel           ? x.kernel
		      : x.info.call.name ? x.info.call.name
					 : "work",
		      &line);
	text_printf(&line,
		    ", \"launch\": %d, \"device\": %u, \"stream\": %llu, \"call\": %llu, "
		    "\"begin\": %llu, \"end\": %llu}\n",
		    x.kernel != NULL, x.info.dev ? x.info.dev->number : 0,
		    (unsigned long long)(x.info.stream_id ? x.info.stream_id + STREAMS_BEFORE : 0),
		    (unsigned long long)x.info.call.id, (unsigned long long)x.begin,
		    (unsigned long long)end);
	trace_put(t, &line);
	text_fini(&line);
	free(x.kernel);
}

static void trace_drop(void *user, const struct order_set *slots)
{
	(void)user, (void)slots;
}

static void trace_forget(void *user)
{
	(void)user;
}

struct profile_trace *profile_trace_open(struct profile_collect *c)
{
	struct profile_trace *t =
		setting_number(SETTING_PROFILE_TRACE, 0) ? calloc(1, sizeof(*t)) : NULL;

	if (!t)
		return NULL;
	t->of = c;
	t->watch = (struct order_watch){.user = t,
					.begin = trace_begin,
					.end = trace_end,
					.drop = trace_drop,
					.teach = trace_drop,
					.forget = trace_forget};
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

void profile_trace_close(struct profile_trace *t)
{
	if (!t)
		return;
	for (u32 i = 0; i < ORDER_SLOTS; i++)
		free(t->piece[i].kernel);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

const struct order_watch *profile_trace_watch(const struct profile_trace *t)
{
	return &t->watch;
}

/* ---- calls ---- */

static u64 trace_thread(void)
{
	static u64 threads;
	static _Thread_local u64 mine;

	if (!mine)
		mine = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
	return mine;
}

void profile_trace_call(struct profile_trace *t, const char *name, int status)
{
	struct text line = {0};

	if (!host_call_now.id)
		return;
	text_printf(&line, "{\"call\": %llu", (unsigned long long)host_call_now.id);
	json_out_text("name", name, &line);
	text_printf(&line, ", \"thread\": %llu, \"status\": %d, \"begin\": %llu, \"end\": %llu}\n",
		    (unsigned long long)trace_thread(), status,
		    (unsigned long long)host_call_now.begin, (unsigned long long)host_call_time());
	trace_put(t, &line);
	text_fini(&line);
}
