/*
 * What kernels print comes out in the order in which CTAs are dealt, whichever worker runs them and
 * when: by their numbers, or as a seed has permuted them, and within a CTA as its threads print.
 * Text of a CTA waits until none before it may print any more; that of the foremost comes out after
 * each of its time slices.
 */
#include "src/sched/sched_int.h"

#include "src/base/text.h"
#include "src/host/syscall.h"

#include <stdlib.h>

static bool before(const struct print *a, const struct print *b)
{
	return a->place != b->place ? a->place < b->place : a->serial < b->serial;
}

/* Prints form a heap: none is before its parent, the one at half its index. */
static void sink(struct prints *q)
{
	struct print x = q->at[q->len];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < q->len; i = child) {
		child += child + 1 < q->len && before(&q->at[child + 1], &q->at[child]);
		if (!before(&q->at[child], &x))
			break;
		q->at[i] = q->at[child];
	}
	q->at[i] = x;
}

static bool push(struct prints *q, struct print x)
{
	size_t i = q->len;

	if (!VEC_PUSH(q, x))
		return false;
	for (; i && before(&x, &q->at[(i - 1) / 2]); i = (i - 1) / 2)
		q->at[i] = q->at[(i - 1) / 2];
	q->at[i] = x;
	return true;
}

static void put_out(const struct sched_grid *g, const struct text *t)
{
	const struct exec_syscalls *s = g->launch.env.syscalls;

	if (s && s->print && t->len)
		s->print(s->user, t->at, t->len);
}

static void put_out_until(struct sched_grid *g, u64 place)
{
	struct prints *q = &g->prints;

	while (q->len && q->at[0].place <= place) {
		struct text t = q->at[0].text;

		q->len--;
		if (q->len)
			sink(q);
		put_out(g, &t);
		text_fini(&t);
	}
}

/* Take what the CTAs of a unit have printed since the last time. print_lock held. */
static void take_prints(struct sched_grid *g, struct cta_slot *s)
{
	for (; s; s = s->mate) {
		struct print x = {s->place, g->print_serial++, s->text};

		if (!s->text.len)
			continue;
		if (!push(&g->prints, x)) {
			put_out(g, &s->text); /* out of order rather than lost */
			text_fini(&s->text);
		}
		s->text = (struct text){0};
	}
}

/* The first place whose CTA a share may still run. grid->lock held. */
static u64 floor_of(const struct share *h)
{
	u64 place = h->chunk < h->chunk_end ? h->chunk : UINT64_MAX;

	if (h->next < h->end && h->next < place)
		place = h->next;
	for (const struct cta_slot *s = h->waiting.first; s; s = s->next)
		place = s->place < place ? s->place : place;
	return place;
}

u64 prints_floor_locked(struct share *h)
{
	const struct sched_grid *g = h->grid;
	u64 first = UINT64_MAX;

	h->print_floor = floor_of(h);
	for (u32 i = 0; i < g->shares; i++)
		first = g->share[i].print_floor < first ? g->share[i].print_floor : first;
	return first;
}

void prints_after_slice(struct share *h, struct cta_slot *s)
{
	struct sched_grid *g = h->grid;
	u64 first;

	pthread_mutex_lock(&g->print_lock);
	take_prints(g, s);
	pthread_mutex_lock(&g->lock);
	first = prints_floor_locked(h);
	pthread_mutex_unlock(&g->lock);
	put_out_until(g, first);
	pthread_mutex_unlock(&g->print_lock);
}

void prints_end(struct sched_grid *g)
{
	for (u32 i = 0; i < g->shares; i++)
		for (struct cta_slot *s = g->share[i].waiting.first; s; s = s->next)
			take_prints(g, s);
	put_out_until(g, UINT64_MAX);
	VEC_FREE(&g->prints);
}
