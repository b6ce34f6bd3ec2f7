/*
 * The end of a grid by a failed assertion. A GPU stops such a grid soon, not at once: threads of
 * all CTAs that run at that time say which assertion of theirs has failed. So here, after the
 * workers have left, CTAs that have begun and those that would have been resident with them go on,
 * one by one in their order, each until it ends, waits for others, or has had some slices; warps
 * that have failed do not. What they say is kept apart until then, so that neither what is printed
 * nor its order depends on the number of workers, as long as the CTAs do not depend on each other.
 */
#include "src/exec/fpenv.h"
#include "src/host/syscall.h"
#include "src/sched/sched_int.h"

#include <stdlib.h>

/* No further CTA goes on when those that have failed have so many threads: up to so many lines. */
#define FAILED_THREADS 16384u
/* Time slices that a CTA gets. */
#define SLICES 16u
/* No further CTA goes on when so many have used theirs up. */
#define LONG_SLICES 64u

struct range {
	u64 at, end; /* places in the order of units */
};

struct said {
	u64 number;       /* of the CTA */
	struct text text; /* owned */
};

struct ending {
	struct sched_grid *grid;
	VEC(struct cta_slot *) begun; /* of each unit the first slot, by place */
	VEC(struct range) rest;       /* not begun, by place */
	VEC(struct said) said;
	struct fault first; /* the failure that the launch reports */
	u64 first_place;    /* of its unit */
	u64 failed_threads, long_slices, resident;
};

/* ---- what there is ---- */

static int by_place(const void *a, const void *b)
{
	const struct cta_slot *const *x = a, *const *y = b;

	return x[0]->place < y[0]->place ? -1 : x[0]->place > y[0]->place;
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static int by_cta(const void *a, const void *b)
{
	const struct said *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static void add_range(struct ending *e, u64 at, u64 end)
{
	if (at < end)
		VEC_PUSH(&e->rest, ((struct range){at, end}));
}

/* Without memory for it, less goes on. */
static void collect(struct ending *e)
{
	struct sched_grid *g = e->grid;

	for (u32 i = 0; i < g->shares; i++) {
		struct share *h = &g->share[i];

		for (struct cta_slot *s = h->waiting.first; s; s = s->next)
			VEC_PUSH(&e->begun, s);
		add_range(e, h->chunk, h->chunk_end);
		add_range(e, h->next, h->end);
		h->chunk = h->chunk_end = h->next = h->end = 0;
	}
	if (e->begun.len)
		qsort(e->begun.at, e->begun.len, sizeof(*e->begun.at), by_place);
	if (e->rest.len)
		qsort(e->rest.at, e->rest.len, sizeof(*e->rest.at), by_start);
}

/* ---- going on ---- */

static struct cta *faulted_cta(struct cta_slot *s)
{
	return s->cta.cluster ? s->cluster.cta[s->cluster.faulted] : &s->cta;
}

static void note_fault(struct ending *e, struct cta_slot *s)
{
	struct cta *c = faulted_cta(s);

	if (e->first.kind != FAULT_NONE)
		return;
	e->first = c->fault;
	e->first_place = s->place;
	memcpy(e->first.ctaid, c->id, sizeof(c->id));
}

/*
 * After a fault: can more of the unit go on? Other faults than assertions do not count any more:
 * those that wait for a warp that has failed look like a deadlock. The others of the CTA's cluster
 * need not wait.
 */
static bool may_continue(struct ending *e, struct cta_slot *s)
{
	const struct cta *c = faulted_cta(s);

	if (c->fault.kind == FAULT_ASSERT) {
		note_fault(e, s);
		return true;
	}
	s->cluster.done |= 1u << s->cluster.faulted;
	return c->cluster && c->failed;
}

static void go_on(struct ending *e, struct cta_slot *s)
{
	enum exec_stop stop;
	u32 slices = 0;

	do {
		for (struct cta_slot *m = s; m; m = m->mate)
			if (m->cta.failed)
				exec_cta_halt_failed(&m->cta);
		s->light = 0;
		stop = slot_run_slice(s, INLINE_BUDGET);
		if (stop == STOP_FAULT && !may_continue(e, s))
			break;
		slices += stop == STOP_YIELD;
	} while (stop == STOP_FAULT || (stop == STOP_YIELD && slices < SLICES));
	e->long_slices += stop == STOP_YIELD;
}

/* ---- saying ---- */

static void take_text(struct ending *e, struct cta_slot *s)
{
	for (; s; s = s->mate) {
		struct said x = {s->cta.number, s->cta.assertions};

		if (!x.text.at)
			continue;
		s->cta.assertions = (struct text){0};
		e->failed_threads += s->cta.threads;
		if (!VEC_PUSH(&e->said, x))
			text_fini(&x.text);
	}
}

static void drop_text(struct cta_slot *s)
{
	for (; s; s = s->mate)
		text_fini(&s->cta.assertions);
}

static void say_assertions(struct ending *e)
{
	if (e->said.len)
		qsort(e->said.at, e->said.len, sizeof(*e->said.at), by_cta);
	for (size_t i = 0; i < e->said.len; i++) {
		exec_print_error(&e->grid->launch.env, e->said.at[i].text.at,
				 e->said.at[i].text.len);
		text_fini(&e->said.at[i].text);
	}
}

/* ---- all of it ---- */

static bool has_failed(const struct cta_slot *s)
{
	for (; s; s = s->mate)
		if (s->cta.failed)
			return true;
	return false;
}

/* Is the unit begun only after some have ended that are resident with the first one that fails? */
static bool is_after_fault(const struct ending *e, u64 place)
{
	return e->first.kind != FAULT_NONE && place >= e->first_place + e->resident;
}

static void begin_next(struct ending *e, u64 place)
{
	struct cta_slot *s = grid_begin_unit(e->grid, place);

	if (!s)
		return;
	go_on(e, s);
	take_text(e, s);
	if (s->cta.print)
		prints_after_slice(&e->grid->share[0], s);
	slot_part(&e->grid->share[0].idle, s);
}

/*
 * Units of a range below `stop`: the device has room for them at first, or with the first failure.
 */
static void begin_range(struct ending *e, struct range *r, u64 stop)
{
	while (r->at < r->end && r->at < stop && e->failed_threads < FAILED_THREADS &&
	       e->long_slices < LONG_SLICES) {
		if (r->at >= e->resident) {
			if (e->first.kind == FAULT_NONE || is_after_fault(e, r->at))
				return;
			if (r->at < e->first_place) {
				r->at = min_u64(e->first_place, r->end);
				continue;
			}
		}
		begin_next(e, r->at++);
	}
}

static void begin_before(struct ending *e, u64 stop)
{
	for (size_t i = 0; i < e->rest.len; i++)
		begin_range(e, &e->rest.at[i], stop);
}

static void finish_begun(struct ending *e, struct cta_slot *s)
{
	if (e->failed_threads >= FAILED_THREADS || is_after_fault(e, s->place)) {
		drop_text(s);
		return;
	}
	if (has_failed(s))
		note_fault(e, s);
	if (e->long_slices < LONG_SLICES)
		go_on(e, s);
	take_text(e, s);
}

static void finish_ctas(struct ending *e)
{
	for (size_t i = 0; i < e->begun.len; i++) {
		begin_before(e, e->begun.at[i]->place);
		finish_begun(e, e->begun.at[i]);
	}
	begin_before(e, UINT64_MAX);
	if (e->first.kind != FAULT_NONE)
		e->grid->fault = e->first;
}

void grid_end_assertions(struct sched_grid *g)
{
	struct ending e = {.grid = g, .resident = grid_resident_units(g)};
	bool alone = g->pool->workers == 1;
	u32 host_mode;

	collect(&e);
	if (g->fault.kind == FAULT_ASSERT) {
		if (alone)
			pthread_mutex_lock(&g->pool->only);
		host_mode = fpenv_enter();
		__atomic_store_n(&g->stop, 0, __ATOMIC_RELEASE);
		finish_ctas(&e);
		__atomic_store_n(&g->stop, 1, __ATOMIC_RELEASE);
		fpenv_leave(host_mode);
		if (alone)
			pthread_mutex_unlock(&g->pool->only);
	}
	for (size_t i = 0; i < e.begun.len; i++)
		take_text(&e, e.begun.at[i]);
	say_assertions(&e);
	VEC_FREE(&e.begun);
	VEC_FREE(&e.rest);
	VEC_FREE(&e.said);
}
