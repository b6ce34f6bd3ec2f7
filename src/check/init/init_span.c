/*
 * Accesses of a whole gang that lie in one stretch of memory: nearly always all of it has been
 * written, and its lanes need not be looked up.
 */
#include "src/check/init/init_int.h"

/* Has all of the stretch been written, or is it not followed? A dense store writes it. */
static bool is_stretch_written(struct written *w, u64 at, u64 bytes, bool writes)
{
	if (!w->missing)
		return true;
	if (at > w->bytes || bytes > w->bytes - at || bytes > INIT_SPAN_MOST)
		return false;
	if (writes)
		written_set(w, at, bytes);
	return writes || written_all(w, at, bytes);
}

static bool is_global_written(struct init_memory *im, const struct exec_span *s)
{
	u64 bytes = s->end - s->lo;
	struct init_range *r;
	bool written;

	pthread_mutex_lock(&im->lock);
	r = init_memory_at(im, s->lo);
	written = r ? s->end <= r->base + r->written.bytes &&
				  is_stretch_written(&r->written, s->lo - r->base, bytes, s->dense)
		    : s->end <= im->end;
	pthread_mutex_unlock(&im->lock);
	return written;
}

static bool stores_clean(const struct taint *t, const struct exec_span *s)
{
	const struct uop *in = s->in;
	const u32 *rows = s->g->env->program->ext + in->ext;

	if (!t->dirty || s->kind != ACCESS_STORE)
		return true;
	for (u32 e = 0; e < in->mem.count; e++) {
		u32 row = in->mem.count > 1 ? rows[e] : in->b;

		if (row != NO_ROW && taint_state(t, row))
			return false;
	}
	return true;
}

bool init_observe_span(void *user, const struct exec_span *s)
{
	struct init_check *check = user;
	struct init_cta *c = init_cta_of(check, s->g->cta);

	if (!c || s->space == MEM_PARAM || s->space == MEM_CONST)
		return true;
	if ((!s->end && s->space != MEM_SHARED) ||
	    !stores_clean(&c->gangs[s->g - s->g->cta->gang], s))
		return false;
	switch ((enum mem_space)s->space) {
	case MEM_SHARED:
		if (!s->end)
			return !s->g->cta->cluster && !c->shared.missing;
		return !s->g->cta->cluster && s->end <= MEM_SHARED_OFFSET &&
		       is_stretch_written(&c->shared, s->lo, s->end - s->lo, s->dense);
	case MEM_GLOBAL:
		return is_global_written(check->memory, s);
	default:
		return false;
	}
}
