/*
 * Synchronisation: what orders accesses.
 */
#include "src/check/race/race_int.h"
#include "src/exec/turn.h"
#include "src/uop/async.h"
#include "src/uop/warp.h"

#include <stdlib.h>

/* What a thread has waited for at an mbarrier has come, if it is seen again. */
static void resume_wait(struct race_launch *l, struct race_cta *c, u32 warp, u32 mask)
{
	u32 gone = c->waiting[warp] & mask;

	c->waiting[warp] &= ~gone;
	for (u32 m = gone; m; m &= m - 1) {
		u32 thread = warp * WARP_LANES + (u32)__builtin_ctz(m);
		struct race_cta *owner = race_cta(l, c->wait[thread].owner);

		if (owner)
			clock_strong_read(&owner->variables, c->clock, thread, c->wait[thread].key,
					  SCOPE_CLUSTER, c->wait[thread].acquires);
	}
}

void race_end_waits(struct race_launch *l, struct race_cta *c, u32 warp, u32 mask)
{
	clock_resume(&l->clock, c->clock, warp, mask);
	if (c->waiting[warp] & mask)
		resume_wait(l, c, warp, mask);
}

static u32 lane_index(const struct gang *g, u32 warp, u32 lane)
{
	return (warp - g->first_warp) * WARP_LANES + lane;
}

static void on_barrier(struct race_launch *l, struct clock_cta *c, const struct exec_sync *s,
		       bool waits)
{
	bool same = s->in->a == NO_ROW && s->in->c == NO_ROW;
	const struct gang *g = same ? NULL : exec_gang_of(s->cta, s->warp);
	u32 left = s->mask;

	while (left) {
		u32 first = same ? 0 : lane_index(g, s->warp, (u32)__builtin_ctz(left));
		u32 set = same ? left : 0;
		u32 number = barrier_number(g, s->in, first),
		    threads = barrier_threads(g, s->in, first);

		for (u32 m = left & ~set; m; m &= m - 1) {
			u32 i = lane_index(g, s->warp, (u32)__builtin_ctz(m));

			if (barrier_number(g, s->in, i) == number &&
			    barrier_threads(g, s->in, i) == threads)
				set |= 1u << __builtin_ctz(m);
		}
		left &= ~set;
		if (number < CTA_BARRIERS)
			clock_barrier(&l->clock, c, number, s->warp, set, threads, waits);
	}
}

static void on_warp_sync(struct race_launch *l, struct clock_cta *c, const struct exec_sync *s)
{
	const struct gang *g = exec_gang_of(s->cta, s->warp);
	u32 row = l->program->ext[s->in->ext + 1], left = s->mask;

	if (warp_family(s->in->warp.action) == WARP_FAMILY_ACTIVE)
		return;
	while (left) {
		u32 lane = (u32)__builtin_ctz(left), set = s->mask, members = s->in->warp.members;

		if (row != NO_ROW) {
			const u32 *mask = (const u32 *)(g->regs + row);

			members = mask[lane_index(g, s->warp, lane)];
			set = 0;
			for (u32 m = left; m; m &= m - 1)
				if (mask[lane_index(g, s->warp, (u32)__builtin_ctz(m))] == members)
					set |= 1u << __builtin_ctz(m);
		}
		left &= ~set;
		if (s->in->warp.action == WARP_BARRIER)
			clock_warp_sync(&l->clock, c, s->warp, set, members);
		else
			clock_gather(&l->clock, c, s->warp, members);
	}
}

static void on_fence(struct race_launch *l, struct race_cta *c, const struct exec_sync *s)
{
	const struct isa_form *form = exec_form(l->program, s->in);

	if (!form)
		return;
	if (isa_form_opcode(form) == OPCODE_fence_proxy)
		race_proxy_fence(l, c, s, form);
	else if (isa_form_opcode(form) != OPCODE_membar_proxy)
		clock_fence(&l->clock, c->clock, s->warp, s->mask, race_scope(form));
}

/* Of an address in shared memory, generic or an offset already. */
static u64 shared_offset(const struct cta *c, u64 address)
{
	u64 base = c->env->mem->shared_base;

	return address - base < MEM_SHARED_WINDOW ? address - base : address;
}

static void note_wait(struct race_cta *c, u32 thread, const struct race_wait *x)
{
	if (!c->wait)
		c->wait = calloc(c->clock->threads, sizeof(*c->wait));
	if (!c->wait) {
		known_fail();
		return;
	}
	c->wait[thread] = *x;
	c->waiting[thread / WARP_LANES] |= 1u << thread % WARP_LANES;
}

/*
 * An mbarrier: arriving releases, waiting acquires, to the CTA or the cluster. Lanes that
 * wait know what was released when they go on: when they are seen again.
 */
static void on_mbarrier(struct race_launch *l, struct race_cta *c, const struct exec_sync *s)
{
	const struct gang *g = exec_gang_of(s->cta, s->warp);
	const u64 *row = (const u64 *)(g->regs + s->in->a);
	bool waits = s->in->mbar.action >= MBAR_WAIT;
	const struct isa_form *form = exec_form(l->program, s->in);
	bool orders = !form || !isa_form_has(form, M_relaxed);

	for (u32 m = s->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m), thread = s->warp * WARP_LANES + lane;
		u64 address = shared_offset(s->cta, row[lane_index(g, s->warp, lane)]);
		u64 key = MBARRIER_KEY + (address & MEM_SHARED_OFFSET);
		const struct cta *at;
		struct race_cta *owner = race_owner(l, s->cta, address, &at);

		if (owner && waits)
			note_wait(c, thread,
				  &(struct race_wait){key, owner->clock->number, orders});
		else if (owner)
			clock_strong_write(&l->clock, &owner->variables, c->clock, thread, key,
					   SCOPE_CLUSTER, orders, true);
	}
}

static void on_copy_group(struct race_launch *l, struct clock_cta *c, const struct exec_sync *s)
{
	const struct isa_form *form = exec_form(l->program, s->in);
	bool read = form && isa_form_has(form, M_read);

	for (u32 m = s->mask; m; m &= m - 1) {
		u32 thread = s->warp * WARP_LANES + (u32)__builtin_ctz(m);

		switch ((enum async_group_op)s->in->group.action) {
		case ASYNC_COMMIT:
			clock_copies_commit(&l->clock, c, thread, false);
			break;
		case ASYNC_COMMIT_BULK:
			clock_copies_commit(&l->clock, c, thread, true);
			break;
		case ASYNC_WAIT:
			clock_copies_wait(c, thread, false, s->in->group.pending, false);
			break;
		case ASYNC_WAIT_BULK:
			clock_copies_wait(c, thread, true, s->in->group.pending, read);
			break;
		case ASYNC_WAIT_ALL:
			clock_copies_wait_all(&l->clock, c, thread);
			break;
		}
	}
}

static void on_cluster(struct race_launch *l, struct clock_cta *c, const struct exec_sync *s,
		       bool waits)
{
	const struct isa_form *form = exec_form(l->program, s->in);

	if (waits)
		clock_cluster_wait(c, s->warp, s->mask);
	else
		clock_cluster_arrive(&l->clock, c, s->warp, s->mask,
				     !form || !isa_form_has(form, M_relaxed));
}

void race_sync(struct race_launch *l, struct race_cta *x, const struct exec_sync *s)
{
	struct clock_cta *c = x->clock;

	race_resume(l, x, s->warp, s->mask);
	switch (s->op) {
	case OP_bar_sync:
	case OP_bar_red:
		on_barrier(l, c, s, true);
		break;
	case OP_bar_arrive:
		on_barrier(l, c, s, false);
		break;
	case OP_warp_sync:
		on_warp_sync(l, c, s);
		break;
	case OP_fence:
		on_fence(l, x, s);
		break;
	case OP_mbar:
		on_mbarrier(l, x, s);
		break;
	case OP_async_group:
		on_copy_group(l, c, s);
		break;
	case OP_cluster_arrive:
		on_cluster(l, c, s, false);
		break;
	case OP_cluster_wait:
		on_cluster(l, c, s, true);
		break;
	default:
		break;
	}
}
