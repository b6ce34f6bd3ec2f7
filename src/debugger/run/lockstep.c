/*
 * Steps of a whole warp or CTA: each of its lanes goes to another line, as the lane in focus does
 * in a step of its own. Lanes that have arrived are frozen until the others have arrived, too, or
 * wait: at a barrier, for lanes that have arrived, or at a reconvergence point.
 */
#include "src/debugger/debugger_int.h"
#include "src/exec/turn.h"

/* ---- who takes part ---- */

static bool is_source_step(const struct move *m)
{
	return m->kind == MOVE_STEP || m->kind == MOVE_NEXT;
}

static void add_lane(struct debugger *x, const struct cta *c, u32 warp, u32 lane, bool begun)
{
	struct lockstep *k = &x->lockstep;
	struct lockstep_part p = {.warp = warp, .lanes = 1u << lane};
	struct frame f;

	if (!frame_at(x, c, warp, lane, 0, &f))
		return;
	/* Code without lines is part of the line that called it. */
	if (is_source_step(&x->move))
		frame_of_user(x, c, warp, lane, &f);
	p.start = f.place;
	p.calls = lane_calls(x, c->number, warp, lane) - f.call.depth;
	p.begun = begun ? p.lanes : 0;
	for (size_t i = 0; i < k->parts.len; i++) {
		struct lockstep_part *y = &k->parts.at[i];

		if (y->warp == warp && y->calls == p.calls && y->start.func == p.start.func &&
		    y->start.insn == p.start.insn) {
			y->lanes |= p.lanes;
			y->begun |= p.begun;
			return;
		}
	}
	VEC_PUSH(&k->parts, p);
}

/* Lanes at whose instruction it stands go on without being asked about it again. */
static bool has_begun(const struct debug_group *g, bool standing)
{
	return (g->state == DEBUG_RUNNING && standing) || g->state == DEBUG_BARRIER ||
	       g->state == DEBUG_SYNC || g->state == DEBUG_CLUSTER;
}

static void add_lanes_of(struct debugger *x, const struct cta *c, u32 warp, bool standing)
{
	struct debug_group group[WARP_LANES];
	u32 n = debug_groups(x->grid, c, warp, group);

	for (u32 i = 0; i < n; i++)
		for (u32 m = group[i].state == DEBUG_FROZEN ? 0 : group[i].mask; m; m &= m - 1)
			add_lane(x, c, warp, (u32)__builtin_ctz(m), has_begun(&group[i], standing));
}

/* standing: the hook has been called for the instruction of the group that runs. */
static void begin_round(struct debugger *x, bool standing)
{
	struct lockstep *k = &x->lockstep;
	const struct cta *c = debug_cta(x->grid, x->move.cta);

	k->parts.len = 0;
	memset(k->arrived, 0, sizeof(k->arrived));
	for (u32 w = 0; c && w < c->warps && w < CTA_WARPS; w++)
		if (x->move.unit == UNIT_CTA || w == x->move.warp)
			add_lanes_of(x, c, w, standing);
}

void lockstep_begin(struct debugger *x, enum move_unit unit)
{
	struct debug_preference p = {x->move.cta, unit == UNIT_CTA ? UINT32_MAX : x->move.warp, 0};

	x->move.unit = unit;
	memset(x->lockstep.held, 0, sizeof(x->lockstep.held));
	begin_round(x, x->at.kind == STOPPED_STEP);
	debug_prefer(x->grid, &p);
	x->verdict = DEBUG_TURN;
}

/* ---- holding back ---- */

static void hold(struct debugger *x, u32 warp, u32 lanes)
{
	x->lockstep.held[warp] |= lanes;
	debug_freeze(x->grid, x->move.cta, warp, lanes, true);
}

void lockstep_release(struct debugger *x)
{
	for (u32 w = 0; w < CTA_WARPS; w++) {
		if (x->lockstep.held[w] && x->grid)
			debug_freeze(x->grid, x->move.cta, w, x->lockstep.held[w], false);
		x->lockstep.held[w] = 0;
	}
}

/* Lanes that have still to arrive; those that have exited need not. */
static u32 pending(struct debugger *x, const struct lockstep_part *p)
{
	const struct cta *c = debug_cta(x->grid, x->move.cta);

	return c && p->warp < c->warps ? p->lanes & c->warp[p->warp].live : 0;
}

/* Could any of them go on, now or as soon as it is their turn? */
static bool some_can_run(struct debugger *x)
{
	const struct lockstep *k = &x->lockstep;
	const struct cta *c = debug_cta(x->grid, x->move.cta);

	for (size_t i = 0; i < k->parts.len; i++) {
		struct debug_group group[WARP_LANES];
		u32 lanes = pending(x, &k->parts.at[i]) & ~k->held[k->parts.at[i].warp];
		u32 n = lanes ? debug_groups(x->grid, c, k->parts.at[i].warp, group) : 0;

		for (u32 g = 0; g < n; g++)
			if (group[g].mask & lanes &&
			    (group[g].state == DEBUG_RUNNING || group[g].state == DEBUG_READY))
				return true;
	}
	return false;
}

static bool some_pending(struct debugger *x)
{
	u32 all = 0;

	for (size_t i = 0; i < x->lockstep.parts.len; i++)
		all |= pending(x, &x->lockstep.parts.at[i]);
	return all != 0;
}

static bool some_held(const struct debugger *x)
{
	u32 all = 0;

	for (u32 w = 0; w < CTA_WARPS; w++)
		all |= x->lockstep.held[w];
	return all != 0;
}

/* ---- lanes that have arrived ---- */

static u32 lanes_arrived(struct debugger *x, struct lockstep_part *p, u32 lanes,
			 const struct where *w)
{
	bool apart = debug_env(x->grid)->program->has_cycles;
	struct move one = x->move;
	u32 all = 0, first = lanes & ~p->begun;

	p->begun |= lanes;
	/* The instruction that it begins with. */
	if (w->place.func == p->start.func && w->place.insn == p->start.insn)
		lanes &= ~first;
	one.start = p->start;
	one.calls = p->calls;
	one.warp = p->warp;
	for (u32 m = lanes; m; m &= m - 1) {
		one.lane = (u32)__builtin_ctz(m);
		if (!move_arrived(x, &one, w))
			m &= apart ? FULL_MASK : 1u << one.lane;
		else if (!apart)
			return lanes;
		else
			all |= 1u << one.lane;
	}
	return all;
}

/* Does the group that is asked about stand where lanes behind it are to reconverge with it? */
static bool waits_to_meet(struct debugger *x)
{
	const struct cta *c = debug_cta(x->grid, x->at.cta);
	const struct gang *g = exec_gang_of(c, x->at.warp);
	struct debug_group group[WARP_LANES];
	u32 n;

	if (!warp_is_meeting(g, warp_label_of(g, x->at.asked_pc)))
		return false;
	n = debug_groups(x->grid, c, x->at.warp, group);
	for (u32 i = 0; i < n; i++)
		if (group[i].pc < x->at.asked_pc &&
		    (group[i].state == DEBUG_READY || group[i].state == DEBUG_FROZEN))
			return true;
	return false;
}

/* Lanes of the group that is asked about that have arrived. *waits: those that do not go on. */
static u32 look_at_group(struct debugger *x, u32 fresh, u32 *waits)
{
	struct where w = where_of(x, loaded_place(debug_env(x->grid)->program, x->at.pc));
	u32 come = 0, mine = 0;

	*waits = 0;
	for (size_t i = 0; i < x->lockstep.parts.len; i++) {
		struct lockstep_part *p = &x->lockstep.parts.at[i];
		u32 lanes = p->lanes & x->at.all_lanes, arrived;

		if (p->warp != x->at.warp || !lanes)
			continue;
		arrived = lanes & fresh ? lanes_arrived(x, p, lanes & fresh, &w) : 0;
		p->lanes &= ~arrived;
		come |= arrived;
		mine |= lanes & ~arrived;
	}
	if (mine && waits_to_meet(x))
		*waits = mine;
	x->lockstep.arrived[x->at.warp] |= come;
	return come;
}

/* ---- the end ---- */

static void say_waits(struct debugger *x)
{
	struct debug_group group[WARP_LANES];
	const struct cta *c = debug_cta(x->grid, x->move.cta);

	for (size_t i = 0; i < x->lockstep.parts.len; i++) {
		const struct lockstep_part *p = &x->lockstep.parts.at[i];
		u32 lanes = pending(x, p), n = lanes ? debug_groups(x->grid, c, p->warp, group) : 0;

		for (u32 g = 0; g < n; g++) {
			u32 here = group[g].mask & lanes;
			struct text t = {0};
			struct where w;

			if (!here)
				continue;
			w = where_of_lane(x, c, p->warp, (u32)__builtin_ctz(here),
					  loaded_place(debug_env(x->grid)->program, group[g].pc));
			say_lanes_mask(here, &t);
			text_printf(&t, " wait%s at ", here & (here - 1) ? "" : "s");
			where_say(&w, &t);
			say(x, "Warp %u: %s.\n", p->warp, t.at);
			text_fini(&t);
		}
	}
}

/* The group of the lane in focus is what stopped; if it has exited, the lowest of its warp. */
static void stop_at_focus(struct debugger *x)
{
	struct debug_group group[WARP_LANES];
	const struct cta *c = debug_cta(x->grid, x->move.cta);
	u32 n = debug_groups(x->grid, c, x->move.warp, group), lane = x->move.lane;
	struct where w;

	if (!(c->warp[x->move.warp].live >> lane & 1)) {
		say(x, "Lane %u of warp %u has exited.\n", lane, x->move.warp);
		lane = (u32)__builtin_ctz(c->warp[x->move.warp].live);
	}
	for (u32 i = 0; i < n; i++) {
		if (!(group[i].mask >> lane & 1))
			continue;
		x->at.cta = x->move.cta;
		x->at.warp = x->move.warp;
		x->at.lanes = group[i].mask;
		x->at.pc = group[i].pc;
		w = where_of(x, loaded_place(debug_env(x->grid)->program, group[i].pc));
		if (lane == x->move.lane)
			move_company(x, group[i].mask, &w);
	}
	x->focus = (struct focus){true, x->launch, x->move.cta, x->move.warp, lane, 0};
	x->focus.frame = frame_of_user(x, c, x->move.warp, lane, NULL);
}

/* A round is over, or none can go on. */
static enum debug_verdict end_lockstep(struct debugger *x)
{
	const struct cta *c = debug_cta(x->grid, x->move.cta);
	u32 live = c ? c->warp[x->move.warp].live : 0;
	bool arrived = live & x->lockstep.arrived[x->move.warp] & 1u << x->move.lane;

	lockstep_release(x);
	if (arrived && x->move.count > 1) {
		x->move.count--;
		begin_round(x, false);
		return DEBUG_TURN;
	}
	if (!live) {
		say(x, "Warp %u has exited.\n", x->move.warp);
		run_focus_stop(x);
	} else {
		say_waits(x);
		stop_at_focus(x);
	}
	stop_say(x, NULL);
	return run_stop(x);
}

enum debug_verdict lockstep_step(struct debugger *x, u32 fresh)
{
	struct lockstep *k = &x->lockstep;
	bool ours = x->at.cta == x->move.cta && x->at.warp < CTA_WARPS &&
		    (x->move.unit == UNIT_CTA || x->at.warp == x->move.warp);
	u32 come = 0, waits = 0, mine = 0;

	if (ours)
		come = look_at_group(x, fresh, &waits);
	for (size_t i = 0; i < k->parts.len && ours; i++)
		if (k->parts.at[i].warp == x->at.warp)
			mine |= pending(x, &k->parts.at[i]) & x->at.all_lanes;
	if (come || waits)
		hold(x, x->at.warp, come | waits);
	if (!some_pending(x) || ((!mine || waits) && some_held(x) && !some_can_run(x)))
		return end_lockstep(x);
	return come || waits ? DEBUG_TURN : DEBUG_GO_ON;
}

bool lockstep_stuck(struct debugger *x, enum debug_verdict *v)
{
	if (x->move.kind == MOVE_NOT || x->move.unit == UNIT_LANE || x->launch != x->move.launch ||
	    x->at.fault->kind != FAULT_DEADLOCK || !some_held(x))
		return false;
	x->at.kind = STOPPED_IDLE;
	*v = end_lockstep(x);
	if (*v == DEBUG_GO_ON)
		*v = DEBUG_TURN;
	return true;
}
