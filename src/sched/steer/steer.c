/*
 * What a schedule chooses at the points of a launch: from its list, or by a strategy.
 */
#include "src/sched/steer/steer.h"
#include "src/base/demangle.h"
#include "src/base/leave.h"
#include "src/base/setting.h"
#include "src/sched/debug_int.h"
#include "src/sched/steer/steer_notes.h"

#include <stdio.h>
#include <stdlib.h>

/* The launches are not those that the schedule was made for. */
#define STEER_STATUS 87
/* CTAs that are let in so that they can meet. */
#define STEER_CTAS 8u
/* Changes among the groups of a warp that priorities make. */
#define SWITCHES 16u
/* Rounds in the natural order, and in that of the schedule, of a launch that seems to wait. */
#define PLAIN_ROUNDS 64u
#define LOWEST ((u64)1 << 32)
#define NO_AGENT ((struct schedule_agent){.cta = NO_CTA, .lane = SCHEDULE_NO_LANE})

/* ---- of a pool ---- */

struct steer *steer_new(const struct sched_options *o)
{
	struct steer *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->schedule = o->schedule;
	s->notes = o->notes;
	return s;
}

void steer_free(struct steer *s)
{
	if (!s)
		return;
	schedule_fini(s->schedule);
	free(s->schedule);
	notes_free(s->notes);
	free(s);
}

bool steer_prepare(struct cta_slot *s)
{
	for (; s; s = s->mate) {
		if (!s->steer)
			s->steer = malloc(s->cta.warps * sizeof(*s->steer));
		if (!s->steer)
			return false;
		memset(s->steer, 0, s->cta.warps * sizeof(*s->steer));
	}
	return true;
}

static struct steer_warp *steer_of(const struct cta *c, u32 warp)
{
	const struct cta_slot *s =
		(const struct cta_slot *)(const void *)((const char *)c -
							offsetof(struct cta_slot, cta));

	return &s->steer[warp];
}

/* ---- beginning ---- */

static bool is_visible(const struct uop *in)
{
	switch (uop_kind(in->inner)) {
	case UOP_LOAD:
	case UOP_STORE:
		return uop_info[in->inner].space == MEM_GLOBAL ||
		       uop_info[in->inner].space == MEM_SHARED ||
		       uop_info[in->inner].space == MEM_GENERIC;
	case UOP_ATOMIC:
	case UOP_BARRIER:
	case UOP_WARP:
	case UOP_COPY:
	case UOP_MBARRIER:
	case UOP_SURFACE:
	case UOP_MATRIX_LOAD:
	case UOP_MATRIX_STORE:
		return true;
	case UOP_CALL:
		return in->inner == OP_extern;
	default:
		return false;
	}
}

/*
 * May lanes of a warp that run together be split? Not before Volta, nor where fragments are shared
 * by all of a warp at once.
 */
static bool lanes_may_part(const struct program *p)
{
	bool may = p->arch && p->arch->has_its;

	for (u32 pc = 0; may && pc < p->launch_first; pc++) {
		enum uop_kind kind = (enum uop_kind)uop_kind(p->uop[pc].inner);

		may = kind != UOP_MATRIX && kind != UOP_MATRIX_LOAD && kind != UOP_MATRIX_STORE &&
		      p->uop[pc].inner != OP_warpgroup_sync;
	}
	return may;
}

/* Mark the micro-ops that are visible operations. */
/* Mark the micro-ops that are visible operations. */
static void steer_mark(struct debug_grid *d, const struct program *p)
{
	u32 first = 0;

	for (u32 pc = 0; pc < p->launch_first; pc++) {
		if (d->marks[pc])
			first = pc;
		if (is_visible(&p->uop[pc]))
			d->marks[first] |= MARK_STEER;
	}
}

bool steer_open(struct debug_grid *d, const struct program *p, struct steer *s)
{
	d->steer = s;
	if (!s)
		return true;
	steer_mark(d, p);
	d->steer_parts = lanes_may_part(p);
	if (!s->schedule->weak)
		return true;
	d->weak = weak_new();
	return d->weak != NULL;
}

/* The kernel that the schedule has instead, if the module has it. */
static void say_expected(const struct debug_grid *d, u32 hash, struct text *t)
{
	const struct ir_module *m = d->grid->launch.env.program->funcs[0].module;

	text_puts(t, ", the schedule has ");
	for (size_t i = 0; i < m->funcs.len; i++) {
		const char *name = m->funcs.at[i]->name->text;

		if (m->funcs.at[i]->is_entry && schedule_is_kernel(hash, name)) {
			demangle(name, t);
			return;
		}
	}
	text_puts(t, "another kernel");
}

static void say_wrong_launch(const struct debug_grid *d, const struct steer *s, bool too_many)
{
	const char *kernel = d->grid->launch.env.program->funcs[0].func->name->text;
	struct text t = {0};

	text_printf(&t, "ptxloom: error: launch %llu was ", (unsigned long long)d->number);
	demangle(kernel, &t);
	if (too_many)
		text_printf(&t, ", the schedule has only %zu launches", s->schedule->launches.len);
	else if (schedule_is_kernel(s->schedule->launches.at[d->number - 1], kernel))
		text_puts(&t, ", the schedule has it with another grid or block");
	else
		say_expected(d, s->schedule->launches.at[d->number - 1], &t);
	text_puts(&t, ": the program does not do what it did when the schedule was made\n");
	fflush(stdout);
	fputs(t.at ? t.at : "", stderr);
	text_fini(&t);
}

static bool is_expected(const struct debug_grid *d, const struct steer *s)
{
	u64 n = d->number;

	return !s->schedule->has_digest || (n <= s->schedule->launches.len &&
					    s->schedule->launches.at[n - 1] == d->launch_hash);
}

/* pct without a focus: two CTAs of each launch, and places for changes near its beginning. */
static void draw_plan(struct debug_grid *d, const struct schedule *s)
{
	u64 x = sched_mix(s->seed, d->number), n = d->grid->units * d->grid->unit_ctas;

	d->plan.cta[0] = x % n;
	d->plan.cta[1] = (x + 1) % n;
	for (u32 i = 0; i + 1 < s->depth; i++) {
		x = sched_mix(x, i);
		d->plan.point[d->plan.points++] =
			(struct schedule_point){NO_PC, 1 + (x >> 8) % ((u64)1 << x % 13)};
	}
}

static void make_plan(struct debug_grid *d, const struct schedule *s)
{
	d->plan.kind = (u8)s->kind;
	if (s->kind == SCHEDULE_RANDOM || s->kind == SCHEDULE_REVERSE)
		return;
	if (s->kind == SCHEDULE_LIST) {
		d->plan.listed = schedule_has_launch(s, d->number);
	} else if (!s->launch) {
		draw_plan(d, s);
	} else if (s->launch == d->number) {
		memcpy(d->plan.cta, s->cta, sizeof(s->cta));
		d->plan.points = s->points;
		memcpy(d->plan.point, s->point, sizeof(s->point));
	} else {
		d->plan.kind = SCHEDULE_LIST;
	}
}

void steer_begin(struct debug_grid *d)
{
	struct steer *s = d->steer;
	const struct exec_env *e = &d->grid->launch.env;

	d->number = ++s->launches;
	d->cursor.steer.random = sched_mix(s->schedule->seed, d->number);
	if (d->weak)
		weak_begin(d->weak, sched_mix(s->schedule->weak, d->number));
	d->launch_hash =
		schedule_launch_hash(e->program->funcs[0].func->name->text, e->grid, e->block);
	if (s->notes)
		notes_begin(s->notes, d);
	if (!is_expected(d, s)) {
		say_wrong_launch(d, s, d->number > s->schedule->launches.len);
		leave(STEER_STATUS);
	}
	make_plan(d, s->schedule);
}

void steer_end(struct debug_grid *d, const struct fault *fault)
{
	if (d->weak)
		weak_drain(d->weak);
	if (d->steer->notes)
		notes_end(d->steer->notes, d, fault);
}

/* ---- agents ---- */

/* The group of the warp that has the lane, if it can go on; NULL: none. */
static const struct group *steer_group(const struct cta *c, u32 warp, u32 lane)
{
	const struct warp *w = &c->warp[warp];
	const struct gang *g = exec_gang_of(c, warp);

	for (u32 i = 0; i < w->groups; i++) {
		const struct group *x = &w->group[i];

		if (x->state == GROUP_READY && x->mask >> lane & 1)
			return warp_meets_at(g, w, x->pc) ? NULL : x;
	}
	return NULL;
}

/*
 * Lanes of a warp run together only until something diverges them, which may be anything since
 * Volta. Lanes of a ready group become a group of their own.
 */
static void steer_part(struct debug_grid *d, struct cta *c, const struct schedule_agent *to)
{
	struct warp *w = &c->warp[to->warp];
	u32 lanes = (FULL_MASK >> (WARP_LANES - 1 - to->last)) & FULL_MASK << to->lane;

	for (u32 i = 0; i < w->groups && d->steer_parts; i++) {
		struct group *x = &w->group[i], rest = *x;

		if (x->state != GROUP_READY || !(x->mask & lanes) || !(x->mask & ~lanes))
			continue;
		x->mask &= lanes;
		rest.mask &= ~lanes;
		w->group[w->groups++] = rest;
		return;
	}
}

/* Their first lane; SCHEDULE_NO_LANE: none of them is ready. */
static u32 steer_part_lane(const struct cta *c, const struct schedule_agent *to)
{
	for (u32 lane = to->lane; lane <= to->last; lane++)
		if (steer_group(c, to->warp, lane))
			return lane;
	return SCHEDULE_NO_LANE;
}

/* Let CTAs begin up to this one, as far as the device has room. NULL: it has not, or it is over. */
static struct cta *steer_cta(struct debug_grid *d, u64 number)
{
	struct cta *c = debug_cta(d, number);

	while (!c && d->grid->unit_ctas == 1 && number >= d->cursor.next &&
	       number < d->grid->units && d->units.len < d->limit && debug_begin_one(d))
		c = debug_cta(d, number);
	return c;
}

/* Can it go on? Then it does: it is the turn. */
static bool in_plain_rounds(const struct debug_grid *d)
{
	return d->cursor.waited && !(d->cursor.waited / PLAIN_ROUNDS & 1);
}

bool steer_goes_on(struct debug_grid *d, struct debug_turn *t)
{
	const struct schedule_agent *to = &d->cursor.steer.to;
	struct cta *c;
	u32 lane;

	/* What was chosen before may be what keeps the others from going on. */
	if (in_plain_rounds(d))
		d->cursor.steer.to = NO_AGENT;
	lane = to->lane;
	c = to->cta == NO_CTA ? NULL : steer_cta(d, to->cta);
	if (c && to->warp < c->warps) {
		debug_release(d, c);
		if (debug_can_run(d, c, to->warp)) {
			if (to->last) {
				steer_part(d, c, to);
				lane = steer_part_lane(c, to);
			}
			if (to->lane == SCHEDULE_NO_LANE ||
			    (lane != SCHEDULE_NO_LANE && steer_group(c, to->warp, lane))) {
				*t = (struct debug_turn){
					.cta = c,
					.warp = to->warp,
					.lanes = to->lane == SCHEDULE_NO_LANE ? 0 : 1u << lane};
				return true;
			}
		}
	}
	d->cursor.steer.to = NO_AGENT;
	return false;
}

static u64 priority_of(const struct debug_grid *d, u64 cta, u32 warp, u32 low)
{
	return low ? LOWEST - low : sched_mix(d->steer->schedule->seed, cta << 6 | warp) | LOWEST;
}

static u64 group_priority(u64 seed, u32 warp, u32 lane)
{
	return sched_mix(seed, (u64)warp << 8 | lane);
}

/* The first lane of the waiting group whose priority is highest, and above *best. */
static u8 best_lane(const struct debug_grid *d, const struct cta *c, u32 warp, u64 *best)
{
	const struct warp *w = &c->warp[warp];
	u8 lane = SCHEDULE_NO_LANE;

	for (u32 i = 0; i < w->groups; i++) {
		u32 first = (u32)__builtin_ctz(w->group[i].mask);
		u64 x = group_priority(d->steer->schedule->seed, warp, first);

		if (x > *best && steer_group(c, warp, first)) {
			*best = x;
			lane = (u8)first;
		}
	}
	return lane;
}

/* The group of a warp that is to go on; SCHEDULE_NO_LANE: the one whose turn it is. */
static u8 lane_for(const struct debug_grid *d, const struct cta *c, u32 warp)
{
	const struct warp *w = &c->warp[warp];
	u64 best = 0;

	return w->groups > 1 && !w->rotate ? best_lane(d, c, warp, &best) : SCHEDULE_NO_LANE;
}

struct best {
	struct schedule_agent agent;
	u64 priority;
};

static void consider_cta(struct debug_grid *d, u64 number, struct best *b)
{
	struct cta *c = debug_cta(d, number);
	bool could_begin = !c && d->grid->unit_ctas == 1 && number >= d->cursor.next &&
			   number < d->grid->units && d->units.len < d->limit &&
			   number - d->cursor.next < d->limit - d->units.len;

	for (u32 w = 0; w < (c ? c->warps : could_begin ? d->unit_warps : 0); w++) {
		u64 x = priority_of(d, number, w, c ? steer_of(c, w)->low : 0);

		if (x <= b->priority || (c && !debug_can_run(d, c, w)))
			continue;
		b->priority = x;
		b->agent = (struct schedule_agent){number, w, SCHEDULE_NO_LANE, 0};
	}
}

/* The ready warp of the focus with the highest priority. */
static struct schedule_agent best_of_focus(struct debug_grid *d)
{
	struct best b = {NO_AGENT, 0};
	struct cta *c;

	consider_cta(d, d->plan.cta[0], &b);
	if (d->plan.cta[1] != d->plan.cta[0])
		consider_cta(d, d->plan.cta[1], &b);
	c = b.agent.cta == NO_CTA ? NULL : debug_cta(d, b.agent.cta);
	if (c)
		b.agent.lane = lane_for(d, c, b.agent.warp);
	return b.agent;
}

static bool is_in_focus(const struct debug_grid *d, u64 cta)
{
	return cta == d->plan.cta[0] || cta == d->plan.cta[1];
}

static u64 steer_draw(struct debug_grid *d, u64 below)
{
	return (sched_random(&d->cursor.steer.random) >> 8) % below;
}

/* Any warp that is resident, or one of a CTA that begins. */
static struct schedule_agent draw_agent(struct debug_grid *d)
{
	u64 next = d->cursor.next;
	size_t n = d->units.len;
	u32 warps, first;

	if (d->grid->unit_ctas == 1 && next < d->grid->units && n < STEER_CTAS && n < d->limit &&
	    !steer_draw(d, 4))
		return (struct schedule_agent){next, (u32)steer_draw(d, d->unit_warps),
					       SCHEDULE_NO_LANE, 0};
	if (!n)
		return NO_AGENT;
	warps = (u32)n * d->unit_warps;
	first = (u32)steer_draw(d, warps);
	for (u32 i = 0; i < warps; i++) {
		u32 at = (first + i) % warps, warp = at % d->unit_warps;
		struct cta *c = debug_cta_at(d, at / d->unit_warps, &warp);
		const struct warp *w = &c->warp[warp];
		u32 group = w->groups ? (u32)steer_draw(d, w->groups) : 0, lane;

		if (!debug_can_run(d, c, warp))
			continue;
		lane = w->groups > 1 && !w->rotate ? (u32)__builtin_ctz(w->group[group].mask)
						   : SCHEDULE_NO_LANE;
		if (lane != SCHEDULE_NO_LANE && !steer_group(c, warp, lane))
			lane = SCHEDULE_NO_LANE;
		return (struct schedule_agent){c->number, warp, (u8)lane, 0};
	}
	return NO_AGENT;
}

static struct schedule_agent last_agent(struct debug_grid *d, const struct cta *c)
{
	u64 next = d->cursor.next;

	if (d->grid->unit_ctas == 1 && next < d->grid->units && d->units.len < STEER_CTAS &&
	    d->units.len < d->limit)
		return (struct schedule_agent){next, d->unit_warps - 1, SCHEDULE_NO_LANE, 0};
	for (size_t i = d->units.len; i-- > 0;)
		for (u32 k = d->unit_warps; k-- > 0;) {
			u32 warp = k;
			struct cta *x = debug_cta_at(d, (u32)i, &warp);

			if (debug_can_run(d, x, warp) && !steer_of(x, warp)->low)
				return (struct schedule_agent){x->number, warp, SCHEDULE_NO_LANE,
							       0};
		}
	(void)c;
	return NO_AGENT;
}

/* ---- points ---- */

/* What a strategy chooses when it is the turn of a warp. */
static struct schedule_agent strategy_at_turn(struct debug_grid *d, const struct cta *c)
{
	switch (d->plan.kind) {
	case SCHEDULE_PCT:
		return is_in_focus(d, c->number) ? best_of_focus(d) : NO_AGENT;
	case SCHEDULE_RANDOM:
		return steer_draw(d, 2) ? draw_agent(d) : NO_AGENT;
	case SCHEDULE_REVERSE:
		return last_agent(d, c);
	default:
		return NO_AGENT;
	}
}

static bool is_change_point(struct debug_grid *d, u32 pc)
{
	struct steer_cursor *k = &d->cursor.steer;
	bool is = false;

	for (u32 i = 0; i < d->plan.points; i++) {
		const struct schedule_point *p = &d->plan.point[i];

		if (p->place == NO_PC ? p->nth == k->steps
				      : p->place == pc && ++k->visits[i] == p->nth)
			is = true;
	}
	return is;
}

/*
 * Another group of the warp that has a higher priority than the one that runs. Not for ever: the
 * one that runs may be what the other waits for.
 */
static struct schedule_agent other_group(struct debug_grid *d, const struct cta *c, u32 warp)
{
	struct steer_warp *s = steer_of(c, warp);
	const struct warp *w = &c->warp[warp];
	u64 seed = d->steer->schedule->seed, now;
	u8 lane;

	if (!w->groups || !w->mask || w->rotate || s->switches >= SWITCHES)
		return NO_AGENT;
	now = group_priority(seed, warp, (u32)__builtin_ctz(w->mask));
	lane = best_lane(d, c, warp, &now);
	if (lane == SCHEDULE_NO_LANE)
		return NO_AGENT;
	s->switches++;
	return (struct schedule_agent){c->number, warp, lane, 0};
}

/* Lanes of the warp that runs, if they are all that is ready, before the others of it. */
static struct schedule_agent some_lanes(struct debug_grid *d, const struct cta *c, u32 warp, u64 x)
{
	const struct warp *w = &c->warp[warp];
	u32 at = x >> 32 & 1 ? WARP_LANES / 2 : 1 + (u32)((x >> 40) % (WARP_LANES - 1));
	bool lower = at > 1 && (x >> 33 & 1);

	if (!d->steer_parts || w->groups || at == WARP_LANES - 1)
		return NO_AGENT;
	return (struct schedule_agent){.cta = c->number,
				       .warp = warp,
				       .lane = (u8)(lower ? 0 : at),
				       .last = (u8)(lower ? at - 1 : WARP_LANES - 1)};
}

/* And before a visible operation. */
static struct schedule_agent strategy_at_step(struct debug_grid *d, const struct cta *c, u32 warp,
					      u32 pc)
{
	struct steer_cursor *k = &d->cursor.steer;
	struct warp *w = &c->warp[warp];
	struct schedule_agent a;

	if (d->plan.kind == SCHEDULE_RANDOM) {
		if (steer_draw(d, (u64)2 << d->steer->schedule->seed % 6))
			return NO_AGENT;
		return steer_draw(d, 8) ? draw_agent(d)
					: some_lanes(d, c, warp, sched_random(&k->random));
	}
	if (d->plan.kind != SCHEDULE_PCT || !is_in_focus(d, c->number))
		return NO_AGENT;
	k->steps++;
	if (!is_change_point(d, pc))
		return other_group(d, c, warp);
	/* Of a warp that is alone in its CTA lanes are all that there is to choose. */
	if (sched_mix(d->steer->schedule->seed, k->steps) % 4 < (d->unit_warps == 1 ? 3 : 1)) {
		u8 lane = lane_for(d, c, warp);

		for (u32 i = 0; i < w->groups && lane == SCHEDULE_NO_LANE; i++)
			if (steer_group(c, warp, (u32)__builtin_ctz(w->group[i].mask)))
				lane = (u8)__builtin_ctz(w->group[i].mask);
		if (lane != SCHEDULE_NO_LANE)
			return (struct schedule_agent){c->number, warp, lane, 0};
		a = some_lanes(d, c, warp, sched_mix(d->steer->schedule->seed, ~k->steps));
		if (a.cta != NO_CTA)
			return a;
	}
	steer_of(c, warp)->low = ++k->rank;
	a = best_of_focus(d);
	return a.cta == c->number && a.warp == warp ? NO_AGENT : a;
}

static void note_choice(struct debug_grid *d, const struct cta *c, u32 warp, bool at_turn,
			bool passes, u32 pc)
{
	struct schedule_choice x = {.launch = d->number,
				    .cta = c->number,
				    .warp = warp,
				    .step = steer_of(c, warp)->steps,
				    .at_turn = at_turn,
				    .passes = passes,
				    .count = 1,
				    .to = d->cursor.steer.to};

	if (passes)
		x.to = (struct schedule_agent){c->number, warp, SCHEDULE_NO_LANE, 0};
	if (d->steer->notes && d->time >= d->latest)
		notes_choice(d->steer->notes, d, &x, pc);
}

static const struct schedule_choice *listed_choice(const struct debug_grid *d, const struct cta *c,
						   u32 warp, bool at_turn)
{
	const struct steer_warp *w = steer_of(c, warp);

	return d->plan.listed ? schedule_find(d->steer->schedule, d->number, c->number, warp,
					      w->steps, at_turn, w->held[at_turn])
			      : NULL;
}

static u32 turn_pc(const struct cta *c, u32 warp)
{
	const struct warp *w = &c->warp[warp];
	u32 pc = NO_PC;

	for (u32 i = 0; i < w->groups; i++)
		if (w->group[i].state == GROUP_READY && w->group[i].pc < pc)
			pc = w->group[i].pc;
	return pc == NO_PC ? 0 : pc;
}

/* Is the choice one that its warp has not come to? */
static bool is_to_come(const struct debug_grid *d, const struct schedule_choice *x)
{
	const struct cta *c = debug_cta(d, x->cta);

	if (x->launch != d->number || debug_cta_is_done(d, x->cta))
		return false;
	return !c || x->warp >= c->warps || steer_of(c, x->warp)->steps <= x->step;
}

bool steer_is_determined(const struct debug_grid *d)
{
	const struct schedule *s = d->steer->schedule;

	if (d->weak || d->plan.kind != SCHEDULE_LIST)
		return false;
	for (size_t i = 0; d->plan.listed && i < s->choices.len; i++)
		if (is_to_come(d, &s->choices.at[i]))
			return false;
	return true;
}

bool steer_is_plain(const struct debug_grid *d)
{
	return d->plan.kind == SCHEDULE_LIST || in_plain_rounds(d);
}

u64 steer_state(const struct debug_grid *d)
{
	u64 x = sched_mix(d->cursor.steer.to.cta,
			  (u64)d->cursor.steer.to.warp << 8 | d->cursor.steer.to.lane);

	for (u32 i = 0; i < d->units.len; i++)
		for (u32 k = 0; k < d->unit_warps; k++) {
			u32 warp = k;
			const struct cta *c = debug_cta_at(d, i, &warp);

			x = sched_mix(x, (u64)(u32)steer_of(c, warp)->budget);
		}
	return x;
}

void steer_turn(struct debug_grid *d, struct debug_turn *t)
{
	const struct schedule_choice *c = listed_choice(d, t->cta, t->warp, true);
	struct debug_turn natural = *t;
	u32 pc = turn_pc(t->cta, t->warp);

	if (d->call)
		return;
	if (c && !c->passes)
		d->cursor.steer.to = c->to;
	else if (!c && !steer_is_plain(d))
		d->cursor.steer.to = strategy_at_turn(d, t->cta);
	if (d->cursor.steer.to.cta == NO_CTA)
		return;
	if (steer_goes_on(d, t)) {
		note_choice(d, natural.cta, natural.warp, true, false, pc);
	} else {
		*t = natural;
		if (!c)
			return;
	}
	steer_of(natural.cta, natural.warp)->held[1]++;
}

bool steer_passes(struct debug_grid *d, struct debug_turn *t)
{
	struct steer_cursor *k = &d->cursor.steer;
	const struct schedule *s = d->steer->schedule;
	const struct schedule_choice *c;
	struct steer_warp *w = steer_of(t->cta, t->warp);
	u64 victim = sched_mix(s->seed, s->count);

	if (d->call)
		return false;
	if (d->plan.kind == SCHEDULE_STARVE) {
		if (steer_is_plain(d) || t->cta->number != d->plan.cta[victim >> 32 & 1] ||
		    t->warp != (u32)(victim & 0xffff) % d->unit_warps || k->steps < s->from ||
		    k->steps - s->from >= s->count)
			return false;
		k->steps++;
	} else {
		c = listed_choice(d, t->cta, t->warp, true);
		if (!c || !c->passes)
			return false;
	}
	note_choice(d, t->cta, t->warp, true, true, turn_pc(t->cta, t->warp));
	w->held[1]++;
	return true;
}

bool steer_leaves(struct debug_grid *d, struct gang *g, u32 pc)
{
	struct steer_cursor *k = &d->cursor.steer;
	u32 warp = g->first_warp + g->warp;
	struct cta *c = g->cta;
	struct steer_warp *w = steer_of(c, warp);
	bool alone = k->to.cta == c->number && k->to.warp == warp;
	const struct schedule_choice *x;
	struct schedule_agent to = NO_AGENT;

	if (d->call)
		return false;
	if (k->stepped && !alone && !k->rotated)
		return true;
	x = listed_choice(d, c, warp, false);
	if (x)
		to = x->to;
	else if (!steer_is_plain(d))
		to = strategy_at_step(d, c, warp, pc);
	if (to.cta != NO_CTA) {
		k->to = to;
		note_choice(d, c, warp, false, false, pc);
		w->held[0]++;
		return true;
	}
	if (d->steer->notes)
		notes_step(d->steer->notes, pc, c->number, warp, w->steps);
	if (d->plan.kind == SCHEDULE_STARVE && is_in_focus(d, c->number))
		k->steps++;
	if (d->weak)
		weak_step(d->weak);
	w->steps++;
	w->held[0] = w->held[1] = 0;
	k->stepped = true;
	return false;
}

s32 steer_turn_begins(struct debug_grid *d, const struct debug_turn *t, s32 budget)
{
	const struct steer_warp *w = steer_of(t->cta, t->warp);

	d->cursor.steer.rotated = t->cta->warp[t->warp].rotate;
	return w->budget > 0 ? w->budget : budget;
}

void steer_turn_ended(struct debug_grid *d, const struct debug_turn *t, enum exec_stop stop)
{
	struct steer_cursor *k = &d->cursor.steer;
	bool gives_way = stop == STOP_YIELD || stop == STOP_TURN;

	/* A loop that waits gives way as soon as it would without a schedule. */
	steer_of(t->cta, t->warp)->budget = stop == STOP_LEFT ? t->gang->budget : 0;
	if (!gives_way || d->call)
		return;
	if (t->cta->number == k->to.cta && t->warp == k->to.warp)
		k->to = NO_AGENT;
	if (d->plan.kind != SCHEDULE_LIST)
		steer_of(t->cta, t->warp)->low = ++k->rank;
}
