/*
 * Windows of the second cache.
 */
#include "src/dev/window.h"
#include "src/dev/stream/stream_int.h"

/* CUaccessPolicyWindow, cudaAccessPolicyWindow. */
struct window_value {
	u64 base, bytes;
	float ratio;
	s32 hit, miss;
};

struct access_window window_read(const void *value)
{
	struct window_value v;

	memcpy(&v, value, sizeof(v));
	return (struct access_window){v.base, v.bytes, v.ratio, v.hit, v.miss};
}

void window_write(const struct access_window *w, void *value)
{
	struct window_value v = {w->base, w->bytes, w->ratio, w->hit, w->miss};

	memcpy(value, &v, sizeof(v));
}

bool window_may_be_kept(const struct stream *s)
{
	return __atomic_load_n(&s->kept, __ATOMIC_RELAXED) != NULL;
}

static _Thread_local const struct access_window *given;

void window_give(const struct access_window *w)
{
	given = w;
}

const struct access_window *window_take(void)
{
	const struct access_window *w = given;

	given = NULL;
	return w;
}

const struct access_window *window_of(const struct exec_env *e)
{
	const struct device_flight *f = e->user;

	return f && f->window.bytes ? &f->window : NULL;
}
