/*
 * A grid under a debugger: the loop that asks it before each instruction, turns, what ends them,
 * the launch's beginning and end. See debug.h.
 */
#include "src/async/async.h"
#include "src/exec/fpenv.h"
#include "src/sched/debug_int.h"
#include "src/sched/steer/steer_notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Backward branches of a turn, as of a time slice without a debugger. */
#define TURN_BUDGET SLICE_BUDGET
/* Odd, of no structure: what the hash of all that ran is multiplied with. */
#define CHAIN 0x9e3779b97f4a7c15u
/* Between two looks at memory that the host may have written. */
#define WAIT_NS 50000

/* Launches that a schedule steers, without a debugger. */
static const struct debug_hooks steered = {.keeps_limits = true};

void sched_set_debug(struct sched_pool *p, const struct debug_hooks *hooks)
{
	p->debug = hooks;
	if (!p->debug_memory) {
		p->debug_memory = calloc(1, sizeof(*p->debug_memory)); /* NULL: no going back */
		if (p->debug_memory)
			pthread_mutex_init(&p->debug_memory->lock, NULL);
	}
	p->options.seed = 0;
	if (!hooks->keeps_limits)
		p->options.timeout_ms = 0;
}

bool sched_steer(struct sched_pool *p)
{
	p->steer = steer_new(&p->options);
	if (p->steer)
		sched_set_debug(p, &steered);
	return p->steer != NULL;
}

void debug_fini(struct sched_pool *p)
{
	if (!p->debug_memory)
		return;
	debug_earlier_fini(p->debug_memory);
	debug_memory_free(p->debug_memory);
	pthread_mutex_destroy(&p->debug_memory->lock);
	free(p->debug_memory);
}

const struct debug_hooks *sched_debug(const struct sched_pool *p)
{
	return p ? p->debug : NULL;
}

/* ---- the loop ---- */

/* The turn ends before instruction `pc`, for what the debugger wants. */
static bool leave_turn(struct debug_grid *d, struct gang *g, u32 pc, enum debug_verdict v)
{
	d->verdict = (u8)v;
	warp_leave(g, pc);
	return false;
}

void debug_choose_tables(struct debug_grid *d)
{
	const struct exec_ops *from = *d->wants ? d->telling_ops : d->quiet_ops;

	d->tells = *d->wants;
	memcpy(d->ops.mode, from->mode, sizeof(d->ops.mode));
	d->ops.mode[MODE_ORDERED] = d->ops.mode[MODE_MASKED]; /* dead rows are shown, too */
	if (d->gang)
		d->gang->table = d->ops.mode[d->gang->mode];
}

void debug_ask_soon(struct debug_grid *d)
{
	const bool *attentive = d->hooks->attentive;
	bool every = d->step &&
		     (d->new_to_step || !attentive || __atomic_load_n(attentive, __ATOMIC_ACQUIRE));

	d->ask_at = every || d->changed || d->cursor.watchful ? 0 : d->alarm;
}

void debug_mark(struct debug_grid *d, const struct program *p, const u8 *marks)
{
	if (d->call || p != d->grid->launch.env.program)
		return;
	for (u32 pc = 0; pc < p->launch_first; pc++) {
		d->marks[pc] &= MARK_FIRST | MARK_STEER;
		if (d->marks[pc] && (!marks || marks[pc]))
			d->marks[pc] |= MARK_ASK;
	}
}

/* Returns whether the instruction is to run. Not inlined: the loop would save its registers. */
__attribute__((noinline)) static bool ask_debugger(struct debug_grid *d, struct gang *g,
						   const struct uop *in, u32 pc)
{
	enum debug_verdict v = DEBUG_GO_ON;

	/* Before copies are made: what runs from there on does not know what ran last. */
	if (d->cursor.watchful)
		debug_note_polling(d, g, d->pc);
	d->pc = pc;
	if (d->time >= d->alarm)
		debug_alarm(d, g, pc);
	if (d->changed || (d->cursor.watchful && debug_must_leave(d, g, pc)))
		return leave_turn(d, g, pc, DEBUG_TURN);
	if (d->marks[pc] & MARK_STEER && steer_leaves(d, g, pc))
		return leave_turn(d, g, pc, DEBUG_TURN);
	if (d->step) {
		d->at_step = true;
		v = d->step(d->hooks->user, d, g, in);
		d->at_step = d->new_to_step = false;
		if (v == DEBUG_BACK && debug_goes_forward(d))
			v = DEBUG_GO_ON;
		if (v != DEBUG_GO_ON || d->changed) {
			if (v == DEBUG_TURN)
				debug_note(d, (struct debug_deed){.kind = DEED_TURN});
			return leave_turn(d, g, pc, v == DEBUG_GO_ON ? DEBUG_TURN : v);
		}
		if (d->tells != *d->wants)
			debug_choose_tables(d);
	}
	debug_ask_soon(d);
	return true;
}

/*
 * Returns whether the instruction is to run. *chain: d->chain, which loops have to themselves:
 * nothing but ask_debugger looks at it while they run.
 */
static inline bool begin_instruction(struct debug_grid *d, struct gang *g, const struct uop *in,
				     u32 pc, u8 mark, u64 *chain)
{
	if (PL_UNLIKELY(mark & (MARK_ASK | MARK_STEER) || d->time >= d->ask_at)) {
		d->chain = *chain;
		if (!ask_debugger(d, g, in, pc))
			return false;
	}
	d->pc = pc;
	d->time++;
	*chain = (*chain ^ (pc | (u64)g->active << 32)) * CHAIN;
	return true;
}

/* What the host runs for a kernel reads memory from outside. */
static void before_weak(struct debug_grid *d, const struct gang *g, const struct uop *in)
{
	if (in->inner == OP_extern)
		weak_publish(d->weak, g->cta->number);
}

/*
 * watched: the launch has an observer beside the debugger; weak: its memory is; probes: what
 * micro-ops do is noted. All are constants.
 */
__attribute__((always_inline)) static inline void run_loop(struct gang *g, const struct uop *in,
							   bool watched, bool weak, bool probes)
{
	struct debug_grid *d = g->env->observer->user;
	const u8 *marks = d->marks;
	const struct uop *uops = g->uops;
	u64 chain = d->chain;

	do {
		u32 pc = (u32)(in - uops);

		if (marks[pc]) {
			if (!begin_instruction(d, g, in, pc, marks[pc], &chain))
				return;
			if (watched)
				d->cursor.events = 0;
		}
		if (watched)
			debug_watch_step(d, g, in);
		if (weak)
			before_weak(d, g, in);
		g->clock += EXEC_UOP_CYCLES;
		in = probes ? exec_probe_step(&d->probe, g, in) : g->table->run[in->op](g, in);
		if (weak)
			weak_settle(d->weak);
	} while (in);
	d->chain = chain;
}

static void debug_loop(struct gang *g, const struct uop *in)
{
	run_loop(g, in, false, false, false);
}

static void watched_loop(struct gang *g, const struct uop *in)
{
	run_loop(g, in, true, false, false);
}

static void weak_loop(struct gang *g, const struct uop *in)
{
	const struct debug_grid *d = g->env->observer->user;

	if (d->watch.to)
		run_loop(g, in, true, true, false);
	else
		run_loop(g, in, false, true, false);
}

static void probing_loop(struct gang *g, const struct uop *in)
{
	const struct debug_grid *d = g->env->observer->user;

	if (d->watch.to && d->weak)
		run_loop(g, in, true, true, true);
	else if (d->watch.to)
		run_loop(g, in, true, false, true);
	else if (d->weak)
		run_loop(g, in, false, true, true);
	else
		run_loop(g, in, false, false, true);
}

/* From now on, or no longer, it is noted what micro-ops do. */
void debug_probe(struct debug_grid *d, bool probes)
{
	if (d->probes == probes)
		return;
	d->probes = probes;
	d->probe.sums = true;
	d->probe.sum = 0;
	d->ops.loop = probes ? probing_loop : d->plain_loop;
	d->cursor.looks = 0;
}

/* ---- what the launch tells ---- */

static void on_access(void *user, const struct exec_access *a)
{
	struct debug_grid *d = user;

	debug_watch_access(d, a);
	if (d->steer && d->steer->notes)
		notes_access(d->steer->notes, a);
	if (d->step && d->hooks->access && !(d->call && debug_calling_again(d)))
		d->hooks->access(d->hooks->user, d, a);
	if (d->weak)
		weak_access(d, a);
}

static void on_sync(void *user, const struct exec_sync *s)
{
	struct debug_grid *d = user;

	debug_watch_sync(d, s);
	if (d->step && d->hooks->sync && !(d->call && debug_calling_again(d)))
		d->hooks->sync(d->hooks->user, d, s);
	if (d->weak)
		weak_sync(d, s);
}

/* Going over instructions again prints nothing. */
static void on_print(void *user, const char *text, size_t len)
{
	struct debug_grid *d = user;
	const struct exec_syscalls *s = d->plain_syscalls;

	if (d->hooks->print && d->hooks->print(d->hooks->user, d, text, len))
		return;
	if (s->print && (d->call ? !debug_calling_again(d) : d->time > d->latest))
		s->print(s->user, text, len);
}

/* ---- beginning and end ---- */

static bool find_first(struct debug_grid *d, const struct program *p)
{
	d->marks = calloc(p->uops + 1, 1);
	for (u32 pc = 0; d->marks && pc < p->launch_first; pc++)
		d->marks[pc] = exec_is_first(p, pc) ? MARK_FIRST : 0;
	for (u32 i = 0; i < p->extern_len; i++)
		d->careful |= debug_is_unique(&p->externs[i]);
	for (u32 i = 0; i < p->launch_first; i++)
		if (p->uop[i].inner == OP_reserve && p->uop[i].stack.bytes > d->reserve)
			d->reserve = (u32)p->uop[i].stack.bytes;
	return d->marks != NULL;
}

/* The launch's environment, as its CTAs get it. */
static void attach_debugger(struct debug_grid *d)
{
	static const bool always = true;
	struct exec_env *e = &d->grid->launch.env;
	const struct debug_hooks *h = d->hooks;
	const struct exec_observer *also = e->observer;
	bool every = d->weak || (d->steer && d->steer->notes);

	d->plain_ops = e->ops;
	d->plain_syscalls = e->syscalls;
	d->quiet_ops = also && e->ops->watched ? e->ops->watched : e->ops;
	d->telling_ops = (also || h->access || h->sync || every) && e->ops->watched
				 ? e->ops->watched
				 : e->ops;
	d->wants = h->wants_access && !every ? h->wants_access : &always;
	d->ops = *e->ops;
	debug_choose_tables(d);
	d->ops.loop = d->weak ? weak_loop : also ? watched_loop : debug_loop;
	d->plain_loop = d->ops.loop;
	d->ops.diverged = NULL;
	d->observer = (struct exec_observer){.user = d,
					     .access = h->access || every ? on_access : NULL,
					     .every = true,
					     .sync = h->sync || d->weak ? on_sync : NULL};
	if (also) {
		d->observer.access = on_access;
		d->observer.sync = on_sync;
		debug_watch_open(d, also);
	}
	if (e->syscalls) {
		d->syscalls = *e->syscalls;
		d->syscalls.print = on_print;
		d->syscalls.user = d;
		e->syscalls = &d->syscalls;
	}
	e->ops = &d->ops;
	e->observer = &d->observer;
	e->seed = 0;
	for (struct cta_slot *s = d->share->idle.first; s; s = s->next)
		slot_adopt(s, d->grid);
}

/* What comes after the end runs as it would without a debugger. */
static void give_back_slots(struct debug_grid *d, struct cta_slot *s)
{
	for (; s; s = s->mate) {
		s->env.ops = d->plain_ops;
		s->env.observer = d->watch.to;
		s->env.syscalls = d->plain_syscalls;
	}
}

static void give_back(struct sched_grid *g, struct share *h, struct debug_grid *d)
{
	struct exec_env *e = &g->launch.env;

	e->ops = d->plain_ops;
	e->observer = d->watch.to;
	e->syscalls = d->plain_syscalls;
	for (struct cta_slot *s = h->idle.first; s; s = s->next)
		give_back_slots(d, s);
	for (struct cta_slot *s = h->waiting.first; s; s = s->next)
		give_back_slots(d, s);
}

void debug_free(struct debug_grid *d)
{
	if (d->begun && d->hooks->launch_gone)
		d->hooks->launch_gone(d->hooks->user, d);
	debug_time_end(d);
	VEC_FREE(&d->units);
	VEC_FREE(&d->frozen);
	for (size_t i = 0; i < d->deeds.len; i++)
		free(d->deeds.at[i].data);
	VEC_FREE(&d->deeds);
	free(d->marks);
	weak_free(d->weak);
	free(d);
}

static struct debug_grid *open_debug(struct sched_grid *g)
{
	struct debug_grid *d = calloc(1, sizeof(*d));
	const struct exec_env *e = &g->launch.env;

	if (!d || !find_first(d, e->program) || !steer_open(d, e->program, g->pool->steer)) {
		if (d)
			free(d->marks);
		free(d);
		return NULL;
	}
	d->grid = g;
	d->share = &g->share[0];
	d->hooks = g->pool->debug;
	d->unit_warps =
		g->unit_ctas * (u32)(((u64)e->block[0] * e->block[1] * e->block[2] + 31) / 32);
	d->limit = d->share->limit;
	d->cursor = (struct debug_cursor){
		.target = d->share->target,
		.prefer = {.cta = NO_CTA, .warp = UINT32_MAX},
		.steer = {.to = {.cta = NO_CTA}},
	};
	d->alarm = UINT64_MAX;
	d->new_to_step = true;
	d->last_pc = NO_PC;
	d->step = d->hooks->step;
	attach_debugger(d);
	g->debug = d;
	return d;
}

/* Units are in the share's list while no worker runs the grid. */
static void load_resident(struct debug_grid *d)
{
	struct cta_slot *s;

	d->units.len = 0;
	while ((s = slot_pop(&d->share->waiting)))
		if (!VEC_PUSH(&d->units, s))
			slot_part(&d->share->idle, s);
}

static void store_resident(struct debug_grid *d)
{
	for (size_t i = 0; i < d->units.len; i++)
		slot_push(&d->share->waiting, d->units.at[i]);
}

void debug_conclude(struct sched_grid *g)
{
	struct debug_grid *d = g->debug;
	struct exec_env env = g->launch.env;
	struct debug_memory *m = g->pool->debug_memory;
	bool kept;

	load_resident(d);
	if (d->begun && d->steer)
		steer_end(d, g->faulted ? &g->fault : NULL);
	if (d->begun && d->hooks->launch_end)
		d->hooks->launch_end(d->hooks->user, d, g->faulted ? &g->fault : NULL);
	if (m)
		pthread_mutex_lock(&m->lock);
	kept = m && debug_earlier_keep(d, &env);
	if (m)
		pthread_mutex_unlock(&m->lock);
	g->debug = NULL;
	if (kept) {
		give_back(g, &g->share[0], d);
		return;
	}
	store_resident(d);
	give_back(g, d->share, d);
	debug_free(d);
}

/* ---- turns ---- */

/* The group that has faulted stands before its instruction again. */
static void take_back(struct debug_grid *d, struct gang *g)
{
	u32 pc = g->fault->pc;

	while (pc && !d->marks[pc])
		pc--;
	if (d->time)
		d->time--;
	d->pc = pc;
	warp_leave(g, pc);
}

static void fail_launch(struct debug_grid *d, const struct fault *f)
{
	grid_fail(d->grid, f);
	d->ended = true;
}

static void end_launch(struct debug_grid *d)
{
	struct fault f = {.kind = FAULT_TIMEOUT, .text = "the debugger has ended the launch"};
	struct debug_memory *m = d->history.memory;

	fail_launch(d, &f);
	if (m && m->earlier.now && m->earlier.now != d)
		fail_launch(m->earlier.now, &f);
}

static void obey(struct debug_grid *d, enum debug_verdict v)
{
	if (v == DEBUG_BACK)
		debug_restore(d);
	else if (v == DEBUG_END)
		end_launch(d);
}

static void tell_fault(struct debug_grid *d, const struct cta *c, struct fault *f)
{
	enum debug_verdict v = DEBUG_GO_ON;

	memcpy(f->ctaid, c->id, sizeof(c->id));
	/* Going over it again: the debugger has mended it. */
	if (debug_repeat_between(d))
		return;
	debug_wake(d);
	if (d->hooks->fault)
		v = d->hooks->fault(d->hooks->user, d, f);
	if (v == DEBUG_GO_ON)
		fail_launch(d, f);
	else
		obey(d, v);
}

/* All CTAs have ended. */
static void end_well(struct debug_grid *d)
{
	enum debug_verdict v = DEBUG_GO_ON;

	if (d->hooks->over && d->step)
		v = d->hooks->over(d->hooks->user, d);
	if (v == DEBUG_GO_ON)
		d->ended = true;
	else
		obey(d, v);
}

static void settle_turn(struct debug_grid *d, const struct debug_turn *t, enum exec_stop stop)
{
	enum debug_verdict v = (enum debug_verdict)d->verdict;
	struct fault f;

	d->resume = NULL;
	if (v == DEBUG_BACK || v == DEBUG_END) {
		d->gang = NULL;
		obey(d, v);
		return;
	}
	if (stop == STOP_FAULT)
		take_back(d, d->gang);
	d->gang = NULL;
	debug_turn_ended(d, t, stop);
	if (stop == STOP_FAULT) {
		f = t->cta->fault;
		tell_fault(d, t->cta, &f);
	}
}

static enum exec_stop run_resumed(struct gang *g, u32 pc)
{
	g->stop = STOP_NONE;
	g->env->ops->loop(g, g->uops + pc);
	return (enum exec_stop)g->stop;
}

static enum exec_stop run_turn(struct debug_grid *d, const struct debug_turn *t)
{
	struct gang *g = t->gang;
	bool resumed = d->resume != NULL;
	s32 budget = TURN_BUDGET;
	enum exec_stop stop;

	d->gang = g;
	if (d->tells != *d->wants || d->resume)
		debug_choose_tables(d);
	d->verdict = DEBUG_GO_ON;
	d->pc = NO_PC;
	d->resume = NULL;
	d->cursor.steer.stepped &= resumed;
	debug_ask_soon(d);
	if (d->steer && !resumed)
		budget = steer_turn_begins(d, t, budget);
	stop = resumed ? run_resumed(g, d->resume_pc)
		       : exec_warp_turn(g, t->warp, t->lanes, budget);
	settle_turn(d, t, stop);
	return stop;
}

/*
 * Warps of a CTA that come to a barrier one after the other, after the turn `t`: between them
 * nothing can have been asked for, and only the cursor moves.
 */
static void run_in_order(struct debug_grid *d, struct debug_turn *t)
{
	enum exec_stop stop = STOP_BARRIER;

	while (stop == STOP_BARRIER && debug_pick_next(d, t)) {
		if (PL_UNLIKELY(d->tells != *d->wants))
			debug_choose_tables(d);
		d->gang = t->gang;
		d->pc = NO_PC;
		stop = exec_warp_turn(t->gang, t->warp, 0, TURN_BUDGET);
		if (PL_LIKELY(stop == STOP_BARRIER))
			debug_turn_ended(d, t, stop);
		else
			settle_turn(d, t, stop);
	}
	d->gang = NULL;
}

static void livelock(struct debug_grid *d)
{
	struct cta *c = &d->units.at[0]->cta;

	exec_cta_deadlock(c);
	c->fault.livelock = true;
	snprintf(c->fault.text, sizeof(c->fault.text),
		 "livelock: every thread repeats itself, and no thread changes what it reads");
	tell_fault(d, c, &c->fault);
}

static void wait_outside(struct debug_grid *d)
{
	struct sched_pool *p = d->grid->pool;
	enum debug_verdict v = DEBUG_GO_ON;

	if (debug_is_livelock(d)) {
		livelock(d);
		return;
	}

	if (d->hooks->idle && d->step)
		v = d->hooks->idle(d->hooks->user, d);
	obey(d, v);
	if (v != DEBUG_GO_ON)
		return;
	if (d->cursor.still >= ORDERED_ROUNDS) {
		/* Looks go on where they were, if the host has done nothing. */
		d->cursor.still = d->cursor.looked_at = 0;
		d->waits = true;
		__atomic_store_n(&d->grid->stalled, true, __ATOMIC_RELAXED);
		return;
	}
	if (__atomic_load_n(&p->grid_len, __ATOMIC_RELAXED) == 1)
		nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
}

static void deadlock(struct debug_grid *d, struct cta *c, bool frozen)
{
	exec_cta_deadlock(c);
	if (frozen)
		snprintf(c->fault.text, sizeof(c->fault.text),
			 "all lanes that could go on are frozen");
	tell_fault(d, c, &c->fault);
}

/* A turn that was left in a copy goes on as it was. */
static void resume_turn(struct debug_grid *d)
{
	struct gang *g = d->resume;
	struct debug_turn t = {.cta = g->cta, .gang = g, .warp = g->first_warp + g->warp};

	run_turn(d, &t);
}

static void one_turn(struct debug_grid *d)
{
	struct debug_turn t;

	d->changed = false;
	grid_check_deadline(d->grid);
	if (d->deeds_done < d->deeds.len)
		debug_repeat_between(d);
	if (d->resume) {
		resume_turn(d);
		return;
	}
	switch (debug_pick(d, &t)) {
	case PICK_TURN:
		if (run_turn(d, &t) == STOP_BARRIER)
			run_in_order(d, &t);
		break;
	case PICK_OVER:
		end_well(d);
		break;
	case PICK_WAITS:
		wait_outside(d);
		break;
	case PICK_DEADLOCK:
		deadlock(d, t.cta, false);
		break;
	case PICK_FROZEN:
		deadlock(d, &d->units.at[0]->cta, true);
		break;
	}
}

static void begin(struct debug_grid *d)
{
	if (!d->begun) {
		d->begun = true;
		if (d->steer)
			steer_begin(d);
		debug_time_begin(d, NULL);
		if (d->hooks->launch_begin)
			d->hooks->launch_begin(d->hooks->user, d);
	} else if (d->waits) {
		d->waits = false;
		debug_time_begin(d, "the launch has waited for the host or another launch");
	}
}

static bool is_going(const struct debug_grid *d)
{
	return !d->ended && !d->waits && !__atomic_load_n(&d->grid->stop, __ATOMIC_RELAXED);
}

/* Run the launch, and earlier ones that the debugger goes back to. */
static void run_launches(struct debug_earlier *e, struct debug_grid *d)
{
	while (e->here != d || is_going(d)) {
		if (__atomic_load_n(&d->grid->stop, __ATOMIC_RELAXED))
			e->here->ended = true;
		if (is_going(e->here))
			one_turn(e->here);
		else
			debug_earlier_next(e->here);
	}
}

void debug_work(struct sched_grid *g)
{
	struct debug_grid *d = g->debug ? g->debug : open_debug(g);
	struct debug_memory *m = g->pool->debug_memory;
	struct fault f = {.kind = FAULT_UNSUPPORTED, .text = "the host has no memory"};
	u32 host_mode;

	if (!d) {
		grid_fail(g, &f);
		return;
	}
	host_mode = fpenv_enter();
	load_resident(d);
	if (m) {
		pthread_mutex_lock(&m->lock);
		m->earlier.now = m->earlier.here = d;
	}
	begin(d);
	while (!m && is_going(d))
		one_turn(d);
	if (m) {
		run_launches(&m->earlier, d);
		pthread_mutex_unlock(&m->lock);
	}
	store_resident(d);
	fpenv_leave(host_mode);
	share_report(d->share);
}
