/*
 * Forwards events. Only what some observer asks for is asked of the engine.
 */
#include "src/watch/tee.h"

#define EACH(t, o, event)                                                                          \
	for (u32 i_ = 0; i_ < (t)->len; i_++)                                                      \
		for (const struct exec_observer *o = (t)->to[i_]; o && o->event; o = NULL)

static void on_launch_begin(void *user, const struct program *p, u64 grid_id)
{
	const struct watch_tee *t = user;

	EACH(t, o, launch_begin)
	o->launch_begin(o->user, p, grid_id);
}

static void on_launch_end(void *user, const struct program *p, u64 grid_id)
{
	const struct watch_tee *t = user;

	EACH(t, o, launch_end)
	o->launch_end(o->user, p, grid_id);
}

static void tee_counted(void *user, const struct program *p, u64 grid_id,
			const struct exec_count *counts)
{
	const struct watch_tee *t = user;

	EACH(t, o, counted)
	o->counted(o->user, p, grid_id, counts);
}

static void on_cta_begin(void *user, const struct cta *c)
{
	const struct watch_tee *t = user;

	EACH(t, o, cta_begin)
	o->cta_begin(o->user, c);
}

static void on_cta_end(void *user, const struct cta *c)
{
	const struct watch_tee *t = user;

	EACH(t, o, cta_end)
	o->cta_end(o->user, c);
}

static void tee_step(void *user, const struct gang *g, const struct uop *in)
{
	const struct watch_tee *t = user;

	EACH(t, o, step)
	if (!o->rests || !g->quiet)
		o->step(o->user, g, in);
}

static void tee_access(void *user, const struct exec_access *a)
{
	const struct watch_tee *t = user;

	for (u32 i = 0; i < t->len; i++) {
		const struct exec_observer *o = t->to[i];

		if (o->access && !(a->done >> i & 1) && (o->every || !a->extra) &&
		    !(a->folded && o->alike))
			o->access(o->user, a);
	}
}

static void tee_alike(void *user, const struct exec_access *a)
{
	const struct watch_tee *t = user;

	EACH(t, o, alike)
	o->alike(o->user, a);
}

/* Each observer gets the accesses that it needs, whatever the others do. */
static bool tee_span(void *user, const struct exec_span *s)
{
	const struct watch_tee *t = user;
	bool enough = true;

	for (u32 i = 0; i < t->len; i++) {
		const struct exec_observer *o = t->to[i];
		u32 bit = 1u << i;

		if (!o->access || *s->done & bit)
			continue;
		if (o->span && o->span(o->user, s))
			*s->done |= bit;
		else
			enough = false;
	}
	return enough;
}

static void tee_sync(void *user, const struct exec_sync *s)
{
	const struct watch_tee *t = user;

	EACH(t, o, sync)
	o->sync(o->user, s);
}

static void tee_hint(void *user, const struct exec_hint *h)
{
	const struct watch_tee *t = user;

	EACH(t, o, hint)
	o->hint(o->user, h);
}

static void tee_texture(void *user, const struct exec_texture *x)
{
	const struct watch_tee *t = user;

	EACH(t, o, texture)
	o->texture(o->user, x);
}

static void tee_heap(void *user, const struct cta *c, u64 address, u64 bytes)
{
	const struct watch_tee *t = user;

	EACH(t, o, heap)
	o->heap(o->user, c, address, bytes);
}

/* What the observers of a launch need. */
struct tee_needs {
	u32 steps, accesses;
	u32 each; /* spaces whose accesses are not folded */
	bool folds;
	u32 restless;                /* of those that need steps */
	const u8 *step_at, *rest_at; /* of the last one; of the last of the restless */
};

/* Spaces of which it has to be told each access. */
static u32 tee_each(const struct exec_observer *o)
{
	return !o->access || o->alike ? 0 : o->each ? o->each : UINT32_MAX;
}

static void tee_add_needs(struct tee_needs *n, const struct exec_observer *o)
{
	n->accesses += o->access != NULL;
	n->each |= tee_each(o);
	n->folds |= o->alike != NULL;
	if (!o->step)
		return;
	n->steps++;
	n->step_at = o->step_at;
	if (o->rests)
		return;
	n->restless++;
	n->rest_at = o->step_at;
}

/*
 * What no observer wants is not asked for. If several want steps, they get each micro-op's, but of
 * gangs that are quiet to the one that can rest.
 */
static void tee_narrow(void *user, const struct exec_env *e, struct exec_observer *all)
{
	const struct watch_tee *t = user;
	struct tee_needs n = {0};

	for (u32 i = 0; i < t->len; i++) {
		struct exec_observer o = *t->to[i];

		if (o.narrow)
			o.narrow(o.user, e, &o);
		tee_add_needs(&n, &o);
	}
	all->step_at = n.steps == 1 ? n.step_at : NULL;
	all->rests = n.steps > n.restless && (!n.restless || (n.restless == 1 && n.rest_at));
	all->rest_at = n.rest_at;
	if (!n.accesses)
		all->access = NULL;
	if (!n.folds)
		all->alike = NULL;
	all->each = n.each;
	if (!n.steps)
		all->step = NULL;
}

void watch_tee_init(struct watch_tee *t)
{
	*t = (struct watch_tee){.observer = {.user = t}};
}

/* Bits of exec_span.done are of the outermost tee's observers. */
static bool add_each(struct watch_tee *t, const struct watch_tee *from)
{
	for (u32 i = 0; i < from->len; i++)
		if (!watch_tee_add(t, from->to[i]))
			return false;
	return true;
}

bool watch_tee_add(struct watch_tee *t, const struct exec_observer *o)
{
	struct exec_observer *all = &t->observer;

	if (o->access == tee_access || o->launch_begin == on_launch_begin)
		return add_each(t, o->user);
	if (t->len == WATCH_TEE_MAX)
		return false;
	t->to[t->len++] = o;
	/* What one observer does not need another may. */
	all->fuses = t->len == 1 ? o->fuses : all->fuses && o->fuses;
	all->rests = all->step ? all->rests && !o->step : o->step && o->rests;
	all->span = o->span || all->span ? tee_span : NULL;
	all->launch_begin = o->launch_begin ? on_launch_begin : all->launch_begin;
	all->launch_end = o->launch_end ? on_launch_end : all->launch_end;
	all->counted = o->counted ? tee_counted : all->counted;
	all->cta_begin = o->cta_begin ? on_cta_begin : all->cta_begin;
	all->cta_end = o->cta_end ? on_cta_end : all->cta_end;
	all->step = o->step ? tee_step : all->step;
	all->access = o->access ? tee_access : all->access;
	all->alike = o->alike ? tee_alike : all->alike;
	all->each |= tee_each(o);
	all->texture = o->texture ? tee_texture : all->texture;
	all->sync = o->sync ? tee_sync : all->sync;
	all->hint = o->hint ? tee_hint : all->hint;
	all->heap = o->heap ? tee_heap : all->heap;
	all->narrow = o->narrow ? tee_narrow : all->narrow;
	all->bounds |= o->bounds;
	all->every |= o->every;
	return true;
}
