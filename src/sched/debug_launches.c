/*
 * Under a debugger: launches that have ended and can be gone back to, with the copies of their
 * states, as far as they fit in the bytes that may be kept.
 *
 * Time goes on from launch to launch, and so do the pages that copies keep: those of a launch's
 * last copy are as they were then, of what has been written up to the beginning of the next launch,
 * by whomever. Going back to an earlier launch, these pages are kept as they are when the next one
 * begins. When the launch has run to its end again they are put in place, so that all that the host
 * has done in between is done again, and the next launch goes on from its first copy.
 */
#include "src/sched/debug_int.h"

#include <stdlib.h>

/* The launch that runs may take so much of what may be kept before earlier ones are forgotten. */
#define EARLIER_PART 2u
/* An ended launch: copies are merged until they take no more. */
#define ENDED_PART 8u

static struct debug_earlier *earlier_of(const struct debug_grid *d)
{
	return &d->grid->pool->debug_memory->earlier;
}

/* Among those that are kept, oldest first; the one that the pool runs is the last. */
static size_t position_of(const struct debug_earlier *e, const struct debug_grid *d)
{
	size_t i = 0;

	while (i < e->at.len && e->at.at[i] != d)
		i++;
	return i;
}

static struct debug_grid *grid_at(const struct debug_earlier *e, size_t i)
{
	return i < e->at.len ? e->at.at[i] : e->now;
}

/* ---- what is kept ---- */

static u64 storage_bytes(const struct debug_grid *d)
{
	return d->share->idle.bytes + d->share->waiting.bytes;
}

u64 debug_earlier_bytes(const struct debug_grid *d)
{
	const struct debug_earlier *e = earlier_of(d);
	u64 bytes = 0;

	for (size_t i = 0; i < e->at.len; i++)
		if (e->at.at[i] != d)
			bytes += e->at.at[i]->history.bytes + storage_bytes(e->at.at[i]) +
				 debug_textures_bytes(e->at.at[i]);
	return bytes;
}

static void free_slots(struct slot_list *l)
{
	struct cta_slot *s;

	while ((s = slot_pop(l)))
		slot_free(s);
}

static void free_earlier(struct debug_grid *d)
{
	struct sched_grid *own = d->grid;

	for (size_t i = 0; i < d->units.len; i++)
		slot_part(&d->share->idle, d->units.at[i]);
	free_slots(&d->share->idle);
	debug_pages_free(&d->redo);
	debug_textures_drop(d);
	debug_free(d);
	grid_free(own);
}

static void forget_oldest(struct debug_earlier *e, size_t n, const char *why)
{
	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		free_earlier(e->at.at[i]);
	e->at.len -= n;
	memmove(e->at.at, e->at.at + n, e->at.len * sizeof(*e->at.at));
	e->why = why;
}

void debug_earlier_forget(struct debug_grid *d, const char *why)
{
	struct debug_earlier *e = earlier_of(d);

	forget_oldest(e, position_of(e, d), why);
	e->why = why;
}

u64 debug_earlier_fit(struct debug_grid *d, u64 bytes)
{
	struct debug_earlier *e = earlier_of(d);
	u64 limit = d->hooks->history_bytes, most = limit / EARLIER_PART, others;

	while ((others = debug_earlier_bytes(d)) + bytes > limit && others > most && d == e->now &&
	       e->at.len)
		forget_oldest(e, 1, "earlier launches take more memory than may be kept");
	return limit - min_u64(others, most);
}

void debug_earlier_fini(struct debug_memory *m)
{
	forget_oldest(&m->earlier, m->earlier.at.len, NULL);
	VEC_FREE(&m->earlier.at);
}

void debug_forget_program(struct sched_pool *p, const struct program *program)
{
	struct debug_earlier *e = &p->debug_memory->earlier;
	size_t n = 0;

	pthread_mutex_lock(&p->debug_memory->lock);
	for (size_t i = 0; i < e->at.len; i++)
		if (e->at.at[i]->grid->launch.env.program == program)
			n = i + 1;
	forget_oldest(e, n, "code of earlier launches was unloaded");
	pthread_mutex_unlock(&p->debug_memory->lock);
}

/* ---- a launch ends ---- */

/* A grid of its own for the launch, with the storage of its CTAs; NULL: no memory. */
static struct sched_grid *adopt_grid(struct debug_grid *d, const struct exec_env *env)
{
	struct sched_grid *g = d->grid,
			  *own = calloc(1, sizeof(*own) + sizeof(struct share) * g->shares);
	struct cta_slot *s;
	struct slot_list all;

	if (!own)
		return NULL;
	*own = *g;
	pthread_mutex_init(&own->lock, NULL);
	pthread_mutex_init(&own->print_lock, NULL);
	own->debug = d;
	own->next = NULL;
	own->prints = (struct prints){0};
	own->waiters = NULL;
	own->share[0] = g->share[0];
	own->share[0].grid = own;
	slot_list_init(&own->share[0].idle);
	slot_list_init(&own->share[0].waiting);
	/* The caller of the launch learns of its end once. */
	own->launch = (struct sched_launch){.env = *env,
					    .cooperative = g->launch.cooperative,
					    .resident_per_sm = g->launch.resident_per_sm,
					    .place = g->launch.place};
	own->launch.env.cancel = &own->stop;
	own->launch.env.user = NULL;
	own->launch.env.on_overrun = NULL;
	slot_list_init(&all);
	while ((s = slot_pop(&g->share[0].idle)))
		slot_push(&all, s);
	while ((s = slot_pop(&all))) {
		slot_adopt(s, own);
		slot_push(&own->share[0].idle, s);
	}
	return own;
}

static struct debug_textures *last_textures(const struct debug_earlier *e)
{
	for (size_t i = e->at.len; i-- > 0;)
		if (e->at.at[i]->textures)
			return e->at.at[i]->textures;
	return NULL;
}

bool debug_earlier_keep(struct debug_grid *d, const struct exec_env *env)
{
	struct debug_earlier *e = earlier_of(d);
	struct debug_history *h = &d->history;
	struct exec_env kept = *env;
	struct sched_grid *own;

	e->clock = d->time > e->clock ? d->time : e->clock;
	e->now = NULL;
	if (!h->on || !h->copies.len || h->reset || d->careful || d->grid->faulted ||
	    !d->grid->shares || d->units.len || !VEC_RESERVE(&e->at, 1)) {
		debug_earlier_forget(
			d, d->careful ? "a launch before has launched others, or called the host"
				      : "the launch before cannot be repeated");
		return false;
	}
	own = debug_textures_keep(d, last_textures(e), &kept) ? adopt_grid(d, &kept) : NULL;
	if (!own) {
		debug_textures_drop(d);
		debug_earlier_forget(d, "the host has no memory");
		return false;
	}
	debug_thin_out(d, d->hooks->history_bytes / ENDED_PART);
	d->latest = d->end = d->time;
	d->grid = own;
	d->share = &own->share[0];
	e->at.at[e->at.len++] = d;
	return true;
}

/* ---- going from one to another ---- */

struct debug_pages *debug_earlier_pages(const struct debug_grid *d)
{
	const struct debug_earlier *e = earlier_of(d);
	struct debug_history *h = e->at.len ? &e->at.at[e->at.len - 1]->history : NULL;

	return h ? &h->copies.at[h->copies.len - 1].pages : NULL;
}

struct debug_grid *debug_earlier_find(const struct debug_grid *d, u64 time)
{
	const struct debug_earlier *e = earlier_of(d);

	for (size_t i = e->at.len + 1; i-- > 0;) {
		struct debug_grid *x = grid_at(e, i);

		if (x && x->history.on && x->history.copies.len &&
		    x->history.copies.at[0].time <= time)
			return x;
	}
	return NULL;
}

bool debug_is_later(const struct debug_grid *d, const struct debug_grid *than)
{
	const struct debug_earlier *e = earlier_of(d);

	return position_of(e, d) > position_of(e, than);
}

/* Copies of the launch from number `keep` on are undone; that one becomes the last. */
static void undo(struct debug_grid *d, size_t keep)
{
	struct debug_history *h = &d->history;

	for (size_t i = h->copies.len; i-- > keep;)
		debug_memory_write(h->memory, &h->copies.at[i].pages);
	debug_drop_copies(h, keep + 1);
	debug_pages_free(&h->copies.at[keep].pages);
}

void debug_earlier_undo(struct debug_grid *from, struct debug_grid *to, size_t copy)
{
	struct debug_earlier *e = earlier_of(from);
	size_t i = position_of(e, from);

	debug_memory_return(from->history.memory);
	for (; grid_at(e, i) != to; i--) {
		struct debug_grid *before = grid_at(e, i - 1);
		struct debug_history *h = &before->history;

		undo(grid_at(e, i), 0);
		debug_pages_free(&before->redo);
		debug_memory_keep(&h->copies.at[h->copies.len - 1].pages, &before->redo);
	}
	undo(to, copy);
	e->here = to;
}

struct debug_grid *debug_earlier_next(struct debug_grid *d)
{
	struct debug_earlier *e = earlier_of(d);
	struct debug_history *h = &d->history;
	struct debug_grid *next = grid_at(e, position_of(e, d) + 1);

	debug_memory_put(&d->redo);
	debug_pages_free(&d->redo);
	/* That there is too much of it, or no memory, was seen when the next one began first. */
	debug_memory_note(h->memory, &d->grid->launch.env, &h->copies.at[h->copies.len - 1].pages,
			  UINT64_MAX);
	d->latest = d->end = d->time;
	debug_begin_again(next, h->quiet_until);
	e->here = next;
	return next;
}
