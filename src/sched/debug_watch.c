/*
 * Under a debugger: the observer that the launch has without one. Events are counted within the
 * instruction that tells them, and instructions by the launch's time, both of which are the same
 * each time that the launch runs over them; so those that were told already are known.
 */
#include "src/sched/debug_int.h"

/* An event of the instruction that runs. */
static bool is_untold(struct debug_grid *d)
{
	struct debug_watch *w = &d->watch;
	u32 n;

	if (!w->to || w->lost || d->call)
		return false;
	n = ++d->cursor.events;
	if (d->time < w->time || (d->time == w->time && n <= w->events))
		return false;
	w->time = d->time;
	w->events = n;
	return true;
}

static bool is_untold_cta(struct debug_grid *d)
{
	struct debug_watch *w = &d->watch;

	if (w->lost || d->call || ++d->cursor.cta_events <= w->cta_events)
		return false;
	w->cta_events = d->cursor.cta_events;
	return true;
}

void debug_watch_step(struct debug_grid *d, const struct gang *g, const struct uop *in)
{
	const struct exec_observer *o = d->watch.to;

	if (o->step && is_untold(d))
		o->step(o->user, g, in);
}

void debug_watch_access(struct debug_grid *d, const struct exec_access *a)
{
	const struct exec_observer *o = d->watch.to;

	if (o && o->access && (o->every || !a->extra) && is_untold(d))
		o->access(o->user, a);
}

void debug_watch_sync(struct debug_grid *d, const struct exec_sync *s)
{
	const struct exec_observer *o = d->watch.to;

	if (o && o->sync && is_untold(d))
		o->sync(o->user, s);
}

static void untold_heap(void *user, const struct cta *c, u64 address, u64 bytes)
{
	struct debug_grid *d = user;
	const struct exec_observer *o = d->watch.to;

	if (is_untold(d))
		o->heap(o->user, c, address, bytes);
}

static void untold_cta_begin(void *user, const struct cta *c)
{
	struct debug_grid *d = user;
	const struct exec_observer *o = d->watch.to;

	if (is_untold_cta(d) && o->cta_begin)
		o->cta_begin(o->user, c);
}

static void untold_cta_end(void *user, const struct cta *c)
{
	struct debug_grid *d = user;
	const struct exec_observer *o = d->watch.to;

	if (is_untold_cta(d) && o->cta_end)
		o->cta_end(o->user, c);
}

void debug_watch_open(struct debug_grid *d, const struct exec_observer *o)
{
	d->watch.to = o;
	d->observer.cta_begin = untold_cta_begin;
	d->observer.cta_end = untold_cta_end;
	d->observer.heap = o->heap ? untold_heap : NULL;
}

void debug_watch_changed(struct debug_grid *d)
{
	d->watch.lost |= d->time < d->watch.time;
}

bool debug_watch_is_lost(const struct debug_grid *d)
{
	return d->watch.lost;
}
