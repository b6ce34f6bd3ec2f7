/*
 * Counting between stops, while steps are made, or always where that is wanted: accesses are
 * reported by the instrumented tables then, which takes longer.
 */
#include "src/debugger/debugger_int.h"

void counting_begin(struct debugger *x, bool goes_back)
{
	struct counting *c = &x->counting;

	c->was_back = goes_back;
	c->on = !goes_back && x->grid && (c->always || x->move.kind != MOVE_NOT);
	c->any = c->on;
	if (!c->on)
		return;
	c->since = debug_time(x->grid);
	c->cta = x->focus.cta;
	c->warp = x->focus.warp;
	watch_counters_init(&c->all);
	watch_counters_init(&c->own);
}

static bool is_counted_warp(const struct counting *c, const struct cta *cta, u32 warp)
{
	return cta->number == c->cta && warp == c->warp;
}

void counting_step(struct debugger *x, const struct gang *g, const struct uop *in)
{
	struct counting *c = &x->counting;

	c->all.observer.step(&c->all, g, in);
	if (is_counted_warp(c, g->cta, g->first_warp + g->warp))
		c->own.observer.step(&c->own, g, in);
}

void counting_access(struct debugger *x, const struct exec_access *a)
{
	struct counting *c = &x->counting;

	if (a->extra)
		return;
	c->all.observer.access(&c->all, a);
	if (is_counted_warp(c, a->cta, a->warp))
		c->own.observer.access(&c->own, a);
}
