/*
 * Under a debugger: which warp goes on. As without one, CTAs run in the order of their numbers,
 * further ones become resident as those that are only wait, and every warp that can run has its
 * turn. All that the choice depends on is in struct debug_cursor and in the warps, so it is the
 * same again after going back.
 */
#include "src/sched/debug_int.h"
#include "src/sched/steer/steer_notes.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Passes over the warps of a unit before the next unit runs. */
#define PASSES 256u
/* Rounds without progress, after which the grid seems to wait for something else. */
#define STILL_ROUNDS 8u

/* ---- units ---- */

static struct cta_slot *mate_of(struct cta_slot *s, u32 rank)
{
	while (rank--)
		s = s->mate;
	return s;
}

struct cta *debug_cta_at(const struct debug_grid *d, u32 unit, u32 *warp)
{
	struct cta_slot *s = d->units.at[unit];
	u32 warps = s->cta.warps;

	if (s->mate) {
		s = mate_of(s, *warp / warps);
		*warp %= warps;
	}
	return &s->cta;
}

u32 debug_unit_of(const struct debug_grid *d, const struct cta *c)
{
	for (u32 i = 0; i < d->units.len; i++)
		for (const struct cta_slot *s = d->units.at[i]; s; s = s->mate)
			if (&s->cta == c)
				return i;
	return UINT32_MAX;
}

void debug_wash(struct cta_slot *s)
{
	struct cta *c = &s->cta;
	u64 block = align_up(s->program->block_bytes, 64);

	memset(s->regs, 0, block * c->gangs);
	memset(c->shared, 0, s->shared_cap);
	if (c->local)
		madvise(c->local, s->local_size, MADV_DONTNEED);
	for (u32 i = 0; i < c->gangs; i++)
		c->gang[i].stop = STOP_NONE;
	exec_cta_prepare(c);
}

bool debug_begin_one(struct debug_grid *d)
{
	struct sched_grid *g = d->grid;
	struct cta_slot *s = grid_take_unit(g);

	if (!s || !VEC_RESERVE(&d->units, 1) || !(!d->steer || steer_prepare(s))) {
		if (s)
			slot_part(&d->share->idle, s);
		d->limit = d->cursor.target = d->units.len ? (u32)d->units.len : 1;
		return false;
	}
	for (struct cta_slot *m = s; m; m = m->mate)
		debug_wash(m);
	grid_start_unit(g, s, d->cursor.next);
	d->share->next = ++d->cursor.next;
	for (struct cta_slot *m = s; m; m = m->mate) {
		m->cta.print = NULL;
		exec_cta_apart(&m->cta);
	}
	d->units.at[d->units.len++] = s;
	return true;
}

static bool begin_more(struct debug_grid *d)
{
	bool any = false;

	while (d->units.len < d->cursor.target && d->cursor.next < d->grid->units &&
	       debug_begin_one(d))
		any = true;
	return any;
}

/* ---- lanes that are frozen ---- */

u32 debug_frozen_lanes(const struct debug_grid *d, u64 cta, u32 warp)
{
	for (size_t i = 0; i < d->frozen.len; i++)
		if (d->frozen.at[i].cta == cta && d->frozen.at[i].warp == warp)
			return d->frozen.at[i].lanes;
	return 0;
}

void debug_set_frozen(struct debug_grid *d, u64 cta, u32 warp, u32 lanes, bool freeze)
{
	size_t i = 0;

	while (i < d->frozen.len && (d->frozen.at[i].cta != cta || d->frozen.at[i].warp != warp))
		i++;
	if (i == d->frozen.len &&
	    (!freeze || !VEC_PUSH(&d->frozen, ((struct debug_frozen){cta, warp, 0}))))
		return;
	if (freeze)
		d->frozen.at[i].lanes |= lanes;
	else
		d->frozen.at[i].lanes &= ~lanes;
	if (!d->frozen.at[i].lanes)
		d->frozen.at[i] = d->frozen.at[--d->frozen.len];
}

/* Groups of the warp that could run: frozen lanes apart, those that are not any more with them. */
static void apply_frozen(struct warp *w, u32 frozen)
{
	u32 n = w->groups;
	struct group old[WARP_LANES];

	memcpy(old, w->group, sizeof(*old) * n);
	w->groups = 0;
	for (u32 i = 0; i < n; i++) {
		struct group x = old[i];
		u64 ticks = w->ticks;

		if (x.state != GROUP_READY && x.state != GROUP_FROZEN) {
			w->group[w->groups++] = x;
			continue;
		}
		for (u32 part = 0; part < 2; part++) {
			struct group y = x;

			y.mask &= part ? frozen : ~frozen;
			y.state = part ? GROUP_FROZEN : GROUP_READY;
			if (!y.mask)
				continue;
			warp_park(w, y);
			w->ticks = ticks;
			if (w->groups && w->group[w->groups - 1].mask == y.mask)
				w->group[w->groups - 1].since = x.since;
		}
	}
}

static bool some_frozen(const struct warp *w)
{
	for (u32 i = 0; i < w->groups; i++)
		if (w->group[i].state == GROUP_FROZEN)
			return true;
	return false;
}

bool debug_can_run(struct debug_grid *d, struct cta *c, u32 warp)
{
	struct warp *w = &c->warp[warp];
	u32 frozen = d->frozen.len ? debug_frozen_lanes(d, c->number, warp) : 0;

	if (frozen || some_frozen(w))
		apply_frozen(w, frozen);
	return exec_warp_is_ready(c, warp);
}

static bool unit_is_frozen(const struct cta_slot *s)
{
	for (; s; s = s->mate)
		for (u32 w = 0; w < s->cta.warps; w++)
			if (some_frozen(&s->cta.warp[w]))
				return true;
	return false;
}

/* ---- rounds ---- */

static bool next_unit(struct debug_grid *d)
{
	struct debug_cursor *k = &d->cursor;

	k->warp = k->passes = 0;
	k->ran = k->yielded = false;
	return ++k->unit < d->units.len;
}

/* Every resident unit has run. Returns whether the grid seems to wait. */
static bool end_round(struct debug_grid *d)
{
	struct debug_cursor *k = &d->cursor;
	bool more = false;

	k->unit = 0;
	if (!k->progress || ++k->stale >= STALE_ROUNDS) {
		k->stale = 0;
		if (k->target < d->limit)
			k->target = k->target * 2 < d->limit ? k->target * 2 : d->limit;
		more = begin_more(d);
	}
	k->still = k->progress || more ? 0 : k->still + 1;
	k->waited = k->progress || more ? 0 : k->waited + (k->still >= STILL_ROUNDS);
	k->progress = k->moved = false;
	return k->still >= STILL_ROUNDS;
}

/* All warps of the unit have been asked. */
static enum debug_pick end_pass(struct debug_grid *d, struct debug_turn *t)
{
	struct debug_cursor *k = &d->cursor;
	struct cta_slot *s = d->units.at[k->unit];
	bool ran = k->ran, yielded = k->yielded, moved;

	k->warp = 0;
	k->ran = k->yielded = false;
	k->moved |= ran;
	if (ran && !yielded && ++k->passes < PASSES)
		return PICK_TURN;
	if (!ran && !k->passes && !unit_is_frozen(s)) {
		t->cta = &s->cta;
		while (exec_cta_is_over(t->cta) && s->mate) {
			s = s->mate;
			t->cta = &s->cta;
		}
		return PICK_DEADLOCK;
	}
	k->progress |= ran && !yielded;
	if (next_unit(d))
		return PICK_TURN;
	moved = k->moved;
	if (end_round(d))
		return moved ? PICK_WAITS : PICK_FROZEN;
	return PICK_TURN;
}

bool debug_release(struct debug_grid *d, struct cta *c)
{
	bool any = exec_cta_release(c);

	if (any && d->steer && d->steer->notes)
		notes_release(d->steer->notes, c);
	return any;
}

/* Barriers are evaluated when all warps of a unit have come to wait. */
static bool release_unit(struct debug_grid *d, struct cta_slot *s)
{
	bool any = false;

	for (; s; s = s->mate)
		any |= debug_release(d, &s->cta);
	return any;
}

static enum debug_pick pick_natural(struct debug_grid *d, struct debug_turn *t)
{
	struct debug_cursor *k = &d->cursor;
	enum debug_pick p = PICK_TURN;

	while (p == PICK_TURN) {
		begin_more(d);
		if (!d->units.len)
			return PICK_OVER;
		if (k->unit >= d->units.len)
			k->unit = k->warp = 0;
		for (; k->warp < d->unit_warps; k->warp++) {
			u32 warp = k->warp;
			struct cta *c = debug_cta_at(d, k->unit, &warp);

			if (!debug_can_run(d, c, warp))
				continue;
			*t = (struct debug_turn){.cta = c, .warp = warp, .in_order = true};
			if (d->steer && steer_passes(d, t)) {
				k->ran = true;
				continue;
			}
			return PICK_TURN;
		}
		k->ran |= release_unit(d, d->units.at[k->unit]);
		p = end_pass(d, t);
	}
	return p;
}

/* ---- preference ---- */

/* Could a group of the warp that has some of the lanes go on, without waiting for others? */
static bool can_go_on(const struct gang *g, const struct warp *w, u32 lanes)
{
	for (u32 i = 0; i < w->groups; i++)
		if (w->group[i].state == GROUP_READY && w->group[i].mask & lanes)
			return !warp_meets_at(g, w, w->group[i].pc);
	return false;
}

/* Can those of the warp that are preferred go on? They wait where others are to meet them. */
static bool preferred_can_run(struct debug_grid *d, struct cta *c, u32 warp, u32 lanes)
{
	const struct warp *w = &c->warp[warp];
	const struct gang *g = exec_gang_of(c, warp);

	return debug_can_run(d, c, warp) && (!lanes || can_go_on(g, w, lanes));
}

/* Other lanes of the preferred ones' warp: they are to meet, most often. */
static bool pick_company(const struct debug_preference *p, struct cta *c, struct debug_turn *t)
{
	const struct warp *w = p->lanes && p->warp < c->warps ? &c->warp[p->warp] : NULL;
	u32 others = 0;

	for (u32 i = 0; w && i < w->groups; i++)
		if (w->group[i].state == GROUP_READY && !(w->group[i].mask & p->lanes))
			others |= w->group[i].mask;
	*t = (struct debug_turn){.cta = c, .warp = p->warp, .lanes = others};
	return others != 0;
}

/* Another warp of the CTA that is preferred: it may be waiting for that one. */
static bool pick_near(struct debug_grid *d, struct cta *c, struct debug_turn *t)
{
	for (u32 i = 1; i <= c->warps; i++) {
		u32 warp = (d->cursor.near + i) % c->warps;

		if (debug_can_run(d, c, warp)) {
			d->cursor.near = warp;
			*t = (struct debug_turn){.cta = c, .warp = warp};
			return true;
		}
	}
	return false;
}

static bool pick_preferred(struct debug_grid *d, struct debug_turn *t)
{
	const struct debug_preference *p = &d->cursor.prefer;
	struct cta *c = debug_cta(d, p->cta);
	u32 first = p->warp, end = first + 1;

	if (!c)
		return false;
	if (d->cursor.others) {
		d->cursor.others = false;
		return false;
	}
	debug_release(d, c);
	if (p->warp == UINT32_MAX) {
		first = 0;
		end = c->warps;
	}
	for (u32 w = first; w < end && w < c->warps; w++)
		if (preferred_can_run(d, c, w, p->lanes)) {
			*t = (struct debug_turn){.cta = c, .warp = w, .lanes = p->lanes};
			return true;
		}
	return pick_company(p, c, t) || pick_near(d, c, t);
}

enum debug_pick debug_pick(struct debug_grid *d, struct debug_turn *t)
{
	bool preferred = d->cursor.prefer.cta != NO_CTA && pick_preferred(d, t);
	bool alone = !preferred && d->steer && steer_goes_on(d, t);
	enum debug_pick p = preferred || alone ? PICK_TURN : pick_natural(d, t);

	if (p != PICK_TURN)
		return p;
	if (d->steer && !preferred && !alone)
		steer_turn(d, t);
	t->gang = exec_gang_of(t->cta, t->warp);
	d->cursor.only = t->lanes ? t->lanes : FULL_MASK;
	d->cursor.frozen_here = d->frozen.len ? debug_frozen_lanes(d, t->cta->number, t->warp) : 0;
	d->cursor.watchful = t->lanes || d->cursor.frozen_here;
	return p;
}

bool debug_pick_next(struct debug_grid *d, struct debug_turn *t)
{
	struct debug_cursor *k = &d->cursor;
	const struct cta *c = t->cta;

	if (!t->in_order || d->steer || c->cluster || d->frozen.len || k->prefer.cta != NO_CTA ||
	    d->deeds_done < d->deeds.len)
		return false;
	for (; k->warp < c->warps; k->warp++) {
		const struct warp *w = &c->warp[k->warp];
		bool one = w->groups == 1 && w->group[0].state == GROUP_READY;

		/* Thawed lanes have to be set right first. */
		if (!one && some_frozen(w))
			return false;
		if (!one && !exec_warp_is_ready(c, k->warp))
			continue;
		while (k->warp >= t->gang->first_warp + t->gang->warps)
			t->gang++;
		t->warp = k->warp;
		return true;
	}
	return false;
}

bool debug_must_leave(struct debug_grid *d, struct gang *g, u32 pc)
{
	const struct warp *w = &g->warp_at[g->warp];

	if (g->active & d->cursor.frozen_here || !(g->active & d->cursor.only))
		return true;
	return d->cursor.only != FULL_MASK && warp_meets_at(g, w, warp_label_of(g, pc));
}

void debug_note_polling(struct debug_grid *d, const struct gang *g, u32 before)
{
	const u16 polls = UOPF_BACK | UOPF_POLL;
	u32 pc = before;

	if (g->active & d->cursor.only || before == NO_PC)
		return;
	while ((g->uops[pc].flags & polls) != polls)
		if (++pc >= g->env->program->uops || d->marks[pc])
			return;
	d->cursor.others |= can_go_on(g, &g->warp_at[g->warp], d->cursor.only);
}

/* ---- after a turn ---- */

static void end_unit(struct debug_grid *d, u32 unit)
{
	struct debug_cursor *k = &d->cursor;
	struct cta_slot *s = d->units.at[unit];

	memmove(&d->units.at[unit], &d->units.at[unit + 1],
		(d->units.len - unit - 1) * sizeof(*d->units.at));
	d->units.len--;
	if (unit == k->unit) {
		k->warp = k->passes = 0;
		k->ran = k->yielded = false;
	} else if (unit < k->unit) {
		k->unit--;
	}
	k->progress = true;
	k->stale = 0;
	k->done++;
	share_settle(d->share, s, STOP_DONE);
	share_report(d->share);
}

static void end_cta(struct debug_grid *d, struct cta *c)
{
	u32 unit = debug_unit_of(d, c);
	struct cta_slot *s = d->units.at[unit];

	exec_cta_finish(c);
	if (!c->cluster) {
		end_unit(d, unit);
		return;
	}
	s->cluster.done |= 1u << c->rank;
	if (s->cluster.done == (1u << s->cluster.size) - 1)
		end_unit(d, unit);
}

/* Does the cursor stand at this warp? */
static bool is_at_cursor(const struct debug_grid *d, const struct debug_turn *t)
{
	u32 warp = d->cursor.warp;

	return d->cursor.unit < d->units.len && warp < d->unit_warps &&
	       debug_cta_at(d, d->cursor.unit, &warp) == t->cta && warp == t->warp;
}

void debug_turn_ended(struct debug_grid *d, const struct debug_turn *t, enum exec_stop stop)
{
	struct debug_cursor *k = &d->cursor;
	struct gang *g = t->gang;
	bool yields = stop == STOP_YIELD, here = t->in_order || is_at_cursor(d, t);
	bool left = stop == STOP_LEFT && !(d->steer && k->steer.stepped);

	if (PL_LIKELY(t->in_order && stop == STOP_BARRIER)) {
		g->polled = false;
		k->ran = true;
		k->warp++;
		return;
	}
	k->progress |= yields && g->budget <= 0 && !g->polled;
	g->polled = false;
	if (d->steer)
		steer_turn_ended(d, t, stop);
	if (t->cta->number == k->prefer.cta)
		k->others |= yields || stop == STOP_TURN;
	if (here) {
		k->ran = true;
		k->yielded |= yields;
		k->warp += !left && stop != STOP_FAULT;
	}
	if (stop == STOP_DONE && exec_cta_is_over(t->cta))
		end_cta(d, t->cta);
}

/* ---- what the debugger asks for ---- */

void debug_freeze(struct debug_grid *d, u64 cta, u32 warp, u32 lanes, bool freeze)
{
	debug_set_frozen(d, cta, warp, lanes, freeze);
	debug_note(d, (struct debug_deed){.kind = DEED_FREEZE,
					  .cta = cta,
					  .warp = warp,
					  .lanes = lanes,
					  .freeze = freeze});
}

u32 debug_frozen(const struct debug_grid *d, u64 cta, u32 warp)
{
	return debug_frozen_lanes(d, cta, warp);
}

void debug_prefer(struct debug_grid *d, const struct debug_preference *p)
{
	d->cursor.prefer = *p;
	d->cursor.others = false;
	debug_note(d, (struct debug_deed){.kind = DEED_PREFER, .prefer = *p});
}
