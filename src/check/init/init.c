/*
 * The observer that looks for uses of what was never written: launches and CTAs.
 */
#include "src/check/init/init_int.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- launches and CTAs ---- */

static struct init_launch *init_launch_of(struct init_check *c, u64 grid_id)
{
	u64 *slot;

	pthread_mutex_lock(&c->lock);
	slot = map_get(&c->launches, grid_id + 1);
	pthread_mutex_unlock(&c->lock);
	return slot ? (struct init_launch *)(uintptr_t)*slot : NULL;
}

static void init_cta_free(struct init_cta *c)
{
	for (u32 i = 0; c && i < c->gang_len; i++)
		taint_fini(&c->gangs[i]);
	for (u32 i = 0; c && c->local && i < c->warps; i++)
		written_fini(&c->local[i].written);
	if (c) {
		written_fini(&c->shared);
		free(c->gangs);
		free(c->local);
	}
	free(c);
}

static struct init_cta *cta_make(struct init_launch *l, const struct cta *cta)
{
	struct init_cta *c = calloc(1, sizeof(*c));
	bool ok;

	if (!c)
		return NULL;
	c->launch = l;
	c->gang_len = cta->gangs;
	c->warps = cta->warps;
	c->gangs = calloc(cta->gangs, sizeof(*c->gangs));
	c->local = calloc(cta->warps, sizeof(*c->local));
	ok = c->gangs && c->local;
	for (u32 i = 0; ok && i < cta->gangs; i++)
		ok = taint_init(&c->gangs[i], &l->shape);
	written_init(&c->shared, cta->env->shared_bytes);
	if (ok)
		return c;
	init_cta_free(c);
	return NULL;
}

/* Nothing is written yet, but what belongs to the system. */
static void cta_restart(struct init_cta *c, const struct cta *cta)
{
	const struct init_launch *l = c->launch;

	c->cta = cta;
	c->copy_pc = c->fragment_pc = NO_PC;
	for (u32 i = 0; i < c->gang_len; i++)
		taint_begin(&c->gangs[i], l->states, l->dirty);
	written_reset(&c->shared);
	if (l->program->uses_reserved)
		written_set(&c->shared, cta->env->reserved_at, EXEC_RESERVED_SHARED);
	for (u32 w = 0; w < c->warps; w++)
		if (c->local[w].used) {
			written_reset(&c->local[w].written);
			c->local[w].used = false;
		}
}

static void init_launch_free(struct init_launch *l)
{
	for (size_t i = 0; i < l->ctas.cap; i++)
		if (l->ctas.slots[i].key)
			init_cta_free((struct init_cta *)(uintptr_t)l->ctas.slots[i].value);
	while (l->spare) {
		struct init_cta *next = l->spare->next;

		init_cta_free(l->spare);
		l->spare = next;
	}
	map_fini(&l->ctas);
	init_report_fini(l);
	free(l->states);
	free(l->first_row);
	free(l->row_at);
	free(l);
}

static void init_observe_launch(void *user, const struct program *p, u64 grid_id)
{
	struct init_check *c = user;
	struct init_launch *l = calloc(1, sizeof(*l));
	bool ok = l != NULL;

	if (!ok)
		return;
	l->program = p;
	pthread_mutex_lock(&c->lock);
	l->serial = ++c->serial & INT32_MAX;
	ok = init_flow_prepare(l) && map_set(&c->launches, grid_id + 1, map_key(l));
	pthread_mutex_unlock(&c->lock);
	if (!ok)
		init_launch_free(l);
}

static void end_init_launch(struct init_check *c, u64 grid_id, bool tells)
{
	struct init_launch *l = init_launch_of(c, grid_id);

	if (!l)
		return;
	if (l->gave_up)
		fputs("ptxloom: note: reads of uninitialized memory were not looked for to the end "
		      "of a launch: no memory left\n",
		      stderr);
	if (tells)
		init_tell(l, c->mem, c->found);
	pthread_mutex_lock(&c->lock);
	map_remove(&c->launches, grid_id + 1);
	pthread_mutex_unlock(&c->lock);
	if (c->last && c->last->launch == l)
		c->last = NULL;
	init_launch_free(l);
}

static void init_observe_launch_end(void *user, const struct program *p, u64 grid_id)
{
	(void)p;
	end_init_launch(user, grid_id, true);
}

static void init_observe_rest_end(void *user, const struct program *p, u64 grid_id)
{
	(void)p;
	end_init_launch(user, grid_id, false);
}

static void init_observe_cta(void *user, const struct cta *cta)
{
	struct init_check *c = user;
	struct init_launch *l = init_launch_of(c, cta->env->grid_id);
	struct init_cta *x;

	c->last = NULL;
	if (!l)
		return;
	l->from = nested_from(cta->env->user);
	x = l->spare;
	if (x)
		l->spare = x->next;
	else
		x = cta_make(l, cta);
	if (!x || !map_set(&l->ctas, cta->number + 1, map_key(x))) {
		init_cta_free(x);
		l->gave_up = true;
		return;
	}
	cta_restart(x, cta);
	for (u32 i = 0; i < cta->gangs; i++)
		cta->gang[i].quiet = !x->gangs[i].dirty;
}

struct init_cta *init_cta_at(struct init_launch *l, u64 number)
{
	u64 *slot = map_get(&l->ctas, number + 1);

	return slot ? (struct init_cta *)(uintptr_t)*slot : NULL;
}

struct init_cta *init_cta_of(struct init_check *c, const struct cta *cta)
{
	struct init_launch *l;

	if (PL_LIKELY(c->last && c->last->cta == cta))
		return c->last;
	l = init_launch_of(c, cta->env->grid_id);
	c->last = l ? init_cta_at(l, cta->number) : NULL;
	return c->last;
}

static void init_observe_cta_end(void *user, const struct cta *cta)
{
	struct init_check *c = user;
	struct init_cta *x = init_cta_of(c, cta);

	c->last = NULL;
	if (!x)
		return;
	map_remove(&x->launch->ctas, cta->number + 1);
	x->cta = NULL;
	x->next = x->launch->spare;
	x->launch->spare = x;
}

/* ---- the observer ---- */

static void init_observe_heap(void *user, const struct cta *cta, u64 address, u64 bytes)
{
	init_memory_give(((struct init_check *)user)->memory, cta->env->mem, address, bytes);
}

void init_check_init(struct init_check *c, struct mem *m, struct findings *found)
{
	*c = (struct init_check){.mem = m,
				 .found = found,
				 .memory = init_memory_open(found),
				 .observer = {.user = c,
					      .launch_begin = init_observe_launch,
					      .launch_end = init_observe_launch_end,
					      .cta_begin = init_observe_cta,
					      .cta_end = init_observe_cta_end,
					      .step = init_observe_step,
					      .rests = true,
					      .access = init_observe_access,
					      .span = init_observe_span,
					      .bounds = true,
					      .every = true,
					      .heap = init_observe_heap}};
	c->observer_rest = c->observer;
	c->observer_rest.launch_end = init_observe_rest_end;
	pthread_mutex_init(&c->lock, NULL);
}

void init_check_fini(struct init_check *c)
{
	for (size_t i = 0; i < c->launches.cap; i++)
		if (c->launches.slots[i].key && c->launches.slots[i].value)
			init_launch_free((void *)(uintptr_t)c->launches.slots[i].value);
	map_fini(&c->launches);
	init_memory_close(c->memory, c->mem);
	pthread_mutex_destroy(&c->lock);
}
