/*
 * What the engine asks before each instruction, and when a launch begins, faults and ends.
 */
#include "src/debugger/debugger_int.h"
#include "src/base/setting.h"
#include "src/debugger/look.h"
#include "src/debugger/run/watch.h"
#include "src/dev/module/nested.h"

/* Copies and replaced memory for going back. */
#define HISTORY_BYTES (256ull << 20)

void run_attend(struct debugger *x)
{
	bool watches = watches_active(x);
	bool attentive = watches || x->counting.on || x->move.kind != MOVE_NOT ||
			 x->past.kind != PAST_NOT || x->run.passed.len || x->run.stop_at_first ||
			 x->run.stop_at_next || points_catch_wanted(x) || x->founds.waiting.len ||
			 __atomic_load_n(&x->link.interrupted, __ATOMIC_ACQUIRE);

	__atomic_store_n(&x->run.attentive, attentive, __ATOMIC_RELEASE);
}

/* ---- marks ---- */

void run_mark(struct debugger *x, const struct program *p)
{
	if (x->run.marked == p && !x->points.stale)
		return;
	if (p->uops > x->run.marks_cap) {
		free(x->run.marks);
		x->run.marks = malloc(p->uops);
		x->run.marks_cap = x->run.marks ? p->uops : 0;
	}
	if (x->run.marks)
		points_mark(x, p, x->run.marks);
	if (x->grid)
		debug_mark(x->grid, p, x->run.marks);
	x->run.marked = x->run.marks ? p : NULL;
	x->points.stale = false;
}

/* A launch that was gone back to has ended again: a step that was on its way in it ends. */
static void run_leave(struct debugger *x)
{
	for (size_t i = 0; i < x->launches.len; i++)
		if (x->launches.at[i].number == x->launch && !x->launches.at[i].running &&
		    x->move.kind != MOVE_NOT && x->move.launch == x->launch) {
			snprintf(x->run.next_title, sizeof(x->run.next_title),
				 "Launch %llu has ended", (unsigned long long)x->launch);
			x->run.stop_at_next = true;
		}
}

/* The grid whose turn it is now. */
static void run_enter(struct debugger *x, struct debug_grid *d)
{
	if (x->grid != d) {
		if (x->grid)
			run_leave(x);
		x->grid = d;
		x->run.passed.len = 0;
		x->past.refresh = true;
		for (size_t i = x->launches.len; i--;)
			if (x->launches.at[i].d == d) {
				x->launch = x->launches.at[i].number;
				break;
			}
		watches_elsewhere(x);
		x->run.marked = NULL; /* the engine has marks of the launch's own */
	}
	x->founds.thread = pthread_self();
	run_mark(x, debug_env(d)->program);
}

/* ---- stopping ---- */

/* The lowest lane that stopped, or the one that a step was about. */
static u32 stopped_lane(const struct debugger *x)
{
	const struct move *m = &x->move;

	if (m->kind != MOVE_NOT && m->launch == x->launch && m->cta == x->at.cta &&
	    m->warp == x->at.warp && x->at.lanes >> m->lane & 1)
		return m->lane;
	return (u32)__builtin_ctz(x->at.lanes | 1u << 31);
}

void run_focus_stop(struct debugger *x)
{
	struct cta *c = debug_cta(x->grid, x->at.cta);

	x->focus = (struct focus){.valid = c && x->at.lanes,
				  .launch = x->launch,
				  .cta = x->at.cta,
				  .warp = x->at.warp,
				  .lane = stopped_lane(x)};
	if (!x->focus.valid)
		return;
	x->focus.frame = frame_of_user(x, c, x->focus.warp, x->focus.lane, NULL);
}

void run_pass(struct debugger *x, u32 lanes)
{
	struct passed p = {x->at.asked_cta, x->at.asked_warp, lanes,
			   x->at.asked_pc,  x->at.time,       false};

	if (x->at.kind == STOPPED_STEP)
		VEC_PUSH(&x->run.passed, p);
}

enum debug_verdict run_stop(struct debugger *x)
{
	enum debug_verdict v;

	x->run.stop_at_first = x->run.stop_at_next = false;
	x->past.kind = PAST_NOT;
	move_end(x);
	v = debugger_stand(x);
	found_go(x);
	points_hits_forget(x);
	if (__atomic_load_n(&x->link.cut, __ATOMIC_ACQUIRE)) {
		x->run.detached = true;
		move_end(x);
	}
	if (v == DEBUG_BACK)
		x->run.passed.len = 0;
	else
		run_pass(x, x->at.all_lanes);
	if (x->grid)
		run_mark(x, debug_env(x->grid)->program);
	counting_begin(x, v == DEBUG_BACK);
	x->at.kind = STOPPED_NOT;
	x->at.event = NULL;
	x->at.interrupted = false;
	run_attend(x);
	return v;
}

/*
 * A function that the debugger calls waits for kernels that it has launched: they are not debugged,
 * for the thread that stands holds the lock.
 */
static bool is_beside_call(const struct debugger *x)
{
	return x->calls.on && !pthread_equal(pthread_self(), x->calls.thread);
}

/* ---- before an instruction ---- */

static u32 lanes_not_passed(struct debugger *x, u32 lanes)
{
	for (size_t i = 0; i < x->run.passed.len; i++) {
		struct passed *p = &x->run.passed.at[i];

		/* Nothing has begun since: it was left, for others to go first. */
		p->held |= p->time == x->at.time;
		if (!p->held) {
			x->run.passed.at[i--] = x->run.passed.at[--x->run.passed.len];
			continue;
		}
		if (p->cta != x->at.asked_cta || p->warp != x->at.asked_warp ||
		    p->pc != x->at.asked_pc)
			continue;
		lanes &= ~p->lanes;
	}
	return lanes;
}

/* These lanes go on now. */
static void passed_go(struct debugger *x)
{
	for (size_t i = 0; i < x->run.passed.len; i++) {
		struct passed *p = &x->run.passed.at[i];

		if (p->cta == x->at.asked_cta && p->warp == x->at.asked_warp)
			p->lanes &= ~x->at.all_lanes;
		if (!p->lanes)
			x->run.passed.at[i--] = x->run.passed.at[--x->run.passed.len];
	}
	if (!x->run.passed.len)
		run_attend(x);
}

static enum debug_verdict stop_here(struct debugger *x, u32 lanes, const char *title)
{
	x->at.lanes = lanes;
	run_focus_stop(x);
	stop_say(x, title);
	return run_stop(x);
}

static enum debug_verdict stop_caught(struct debugger *x, u32 lanes)
{
	x->at.event = x->run.next_event;
	return stop_here(x, lanes, x->run.next_title);
}

static enum debug_verdict stop_interrupted(struct debugger *x)
{
	x->at.interrupted = true;
	return stop_here(x, x->at.all_lanes, "Interrupted");
}

/* Breakpoints, watchpoints and events at this instruction. */
static u32 points_here(struct debugger *x, const struct gang *g, const struct uop *in, u32 lanes,
		       struct text *names)
{
	u32 hit = 0, watched;

	if (lanes && x->run.marks && x->run.marks[x->at.asked_pc])
		hit = points_check(x, g, in, lanes, names);
	watched = watches_check(x, names);
	return hit ? hit : watched;
}

static bool is_barrier(const struct uop *in)
{
	return uop_kind(in->inner) == UOP_BARRIER;
}

/* Is the launch in what compilers put before the kernel's first line: fetching parameters? */
static bool is_before_body(struct debugger *x)
{
	const struct program *p = debug_env(x->grid)->program;
	struct dbg_place at = loaded_place(p, x->at.pc);
	struct loaded *m = loaded_of(x, at.func);

	return at.func == p->funcs[0].func && m && loaded_open(x, m) &&
	       at.insn < dbg_lines_body(m->lines, at.func);
}

static enum debug_verdict step_decide(struct debugger *x, struct gang *g, const struct uop *in)
{
	u32 lanes = lanes_not_passed(x, x->at.all_lanes), hit;
	enum debug_verdict v = DEBUG_GO_ON;
	struct text names = {0};

	if (found_step(x, &v) || (x->past.kind != PAST_NOT && past_step(x, g, in, &v)))
		return v;
	hit = points_here(x, g, in, lanes, &names);
	if (hit)
		v = stop_here(x, hit, names.at);
	else if (catch_divergence(x) || (lanes && is_barrier(in) && catch_next(x, EVENT_BARRIER)))
		v = stop_caught(x, lanes);
	else if ((x->run.stop_at_first && !is_before_body(x)) || x->run.stop_at_next)
		v = stop_caught(x, x->at.all_lanes);
	else if (__atomic_load_n(&x->link.interrupted, __ATOMIC_ACQUIRE))
		v = stop_interrupted(x);
	else if (x->move.kind != MOVE_NOT)
		v = move_step(x, lanes);
	text_fini(&names);
	if (v == DEBUG_GO_ON)
		passed_go(x);
	return v;
}

static enum debug_verdict step_look(struct debugger *x, struct debug_grid *d, struct gang *g,
				    const struct uop *in)
{
	enum debug_verdict v = DEBUG_GO_ON;
	u32 lanes = exec_step_mask(g, 0);

	pthread_mutex_lock(&x->lock);
	run_enter(x, d);
	x->at = (struct standing){.kind = STOPPED_STEP,
				  .gang = g,
				  .in = in,
				  .pc = (u32)(in - g->uops),
				  .cta = g->cta->number,
				  .warp = g->first_warp + g->warp,
				  .lanes = lanes,
				  .all_lanes = lanes,
				  .asked_cta = g->cta->number,
				  .asked_warp = g->first_warp + g->warp,
				  .asked_pc = (u32)(in - g->uops),
				  .time = debug_time(d)};
	if (!x->run.detached)
		v = step_decide(x, g, in);
	if (x->counting.on && v == DEBUG_GO_ON)
		counting_step(x, g, in);
	if (__atomic_load_n(&x->link.cut, __ATOMIC_ACQUIRE))
		x->run.detached = true;
	x->run.last_time = x->at.time;
	x->run.last_cta = g->cta->number;
	x->run.last_warp = g->first_warp + g->warp;
	x->run.last_lanes = lanes;
	x->run.last_pc = (u32)(in - g->uops);
	if (x->run.detached)
		__atomic_store_n(&x->run.attentive, false, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&x->lock);
	return v;
}

static enum debug_verdict hook_step(void *user, struct debug_grid *d, struct gang *g,
				    const struct uop *in)
{
	struct debugger *x = user;

	if (PL_LIKELY(d == x->grid && x->run.marks && !x->run.marks[in - g->uops] &&
		      !__atomic_load_n(&x->run.attentive, __ATOMIC_RELAXED)))
		return DEBUG_GO_ON;
	return x->run.detached || is_beside_call(x) ? DEBUG_GO_ON : step_look(x, d, g, in);
}

/* ---- launches ---- */

/* The number of the launch whose kernel launched this one; 0: the host did. */
static u64 parent_of(const struct debugger *x, const void *flight, const struct mem *device)
{
	u64 id = flight ? nested_parent(flight) : 0;

	for (size_t i = x->launches.len; id && i--;)
		if (x->launches.at[i].id == id && x->launches.at[i].device == device)
			return x->launches.at[i].number;
	return 0;
}

static void hook_launch_begin(void *user, struct debug_grid *d)
{
	struct debugger *x = user;
	const struct exec_env *e = debug_env(d);
	struct launch_row row = {.number = x->launches_begun + 1,
				 .d = d,
				 .running = true,
				 .id = e->grid_id,
				 .device = e->mem};

	if (x->run.detached || is_beside_call(x))
		return;
	pthread_mutex_lock(&x->lock);
	x->launches_begun++;
	snprintf(row.kernel, sizeof(row.kernel), "%s", e->program->funcs[0].func->name->text);
	memcpy(row.grid, e->grid, sizeof(row.grid));
	memcpy(row.block, e->block, sizeof(row.block));
	row.parent = parent_of(x, debug_launch_user(d), e->mem);
	launches_trim(x);
	VEC_PUSH(&x->launches, row);
	run_enter(x, d);
	if (catch_next(x, EVENT_LAUNCH))
		x->run.stop_at_first = true;
	watches_launch(x);
	debugger_flush(x);
	run_attend(x);
	pthread_mutex_unlock(&x->lock);
}

static void hook_launch_end(void *user, struct debug_grid *d, const struct fault *f PL_UNUSED)
{
	struct debugger *x = user;

	if (x->run.detached || is_beside_call(x))
		return;
	pthread_mutex_lock(&x->lock);
	for (size_t i = 0; i < x->launches.len; i++)
		if (x->launches.at[i].d == d) {
			x->launches.at[i].running = false;
		}
	x->grid = NULL;
	x->run.marked = NULL;
	x->run.passed.len = 0;
	x->focus.valid = false;
	if (x->move.kind != MOVE_NOT && x->move.launch == x->launch) {
		say(x, "Launch %llu has ended.\n", (unsigned long long)x->launch);
		run_stop(x);
	}
	pthread_mutex_unlock(&x->lock);
}

/* It cannot be gone back to any more. */
static void hook_launch_gone(void *user, struct debug_grid *d)
{
	struct debugger *x = user;

	if (x->run.detached || is_beside_call(x))
		return;
	pthread_mutex_lock(&x->lock);
	for (size_t i = 0; i < x->launches.len; i++)
		if (x->launches.at[i].d == d)
			x->launches.at[i].d = NULL;
	pthread_mutex_unlock(&x->lock);
}

/* ---- faults ---- */

static const struct {
	u8 kind, event;
} fault_events[] = {{FAULT_DEADLOCK, EVENT_DEADLOCK}, {FAULT_ASSERT, EVENT_ASSERT}};

static enum debug_verdict hook_fault(void *user, struct debug_grid *d, const struct fault *f)
{
	struct debugger *x = user;
	enum debug_verdict v = DEBUG_GO_ON;
	enum point_event event = EVENT_FAULT;
	const struct exec_env *e = debug_env(d);

	if (x->run.detached || is_beside_call(x))
		return v;
	for (size_t i = 0; i < ARRAY_LEN(fault_events); i++)
		if (fault_events[i].kind == f->kind)
			event = (enum point_event)fault_events[i].event;
	pthread_mutex_lock(&x->lock);
	run_enter(x, d);
	x->at = (struct standing){.kind = STOPPED_FAULT,
				  .pc = f->pc,
				  .cta = f->ctaid[0] +
					 (u64)e->grid[0] *
						 (f->ctaid[1] + (u64)e->grid[1] * f->ctaid[2]),
				  .warp = f->warp,
				  .lanes = f->lanes,
				  .all_lanes = f->lanes,
				  .fault = f,
				  .time = debug_time(d)};
	if (found_between(x, &v) || (x->past.kind == PAST_NOT && lockstep_stuck(x, &v))) {
		/* The step ends there, or it stops for what was found before. */
	} else if (x->past.kind == PAST_NOT || !past_fault(x, &v)) {
		run_focus_stop(x);
		if (catch_next(x, event))
			say(x, "%s: ", x->run.next_title);
		stop_say_fault(x);
		v = run_stop(x);
	}
	pthread_mutex_unlock(&x->lock);
	return v;
}

static enum debug_verdict hook_over(void *user, struct debug_grid *d)
{
	struct debugger *x = user;
	enum debug_verdict v = DEBUG_GO_ON;

	if (x->run.detached || is_beside_call(x) || !x->founds.waiting.len)
		return v;
	pthread_mutex_lock(&x->lock);
	run_enter(x, d);
	x->at = (struct standing){.kind = STOPPED_LAUNCH, .time = debug_time(d)};
	found_between(x, &v);
	pthread_mutex_unlock(&x->lock);
	return v;
}

/* Lanes that poll go on in a moment, and stop at an instruction then. */
static bool some_poll(const struct debug_grid *d)
{
	struct debug_group groups[WARP_LANES];
	struct cta *c;

	for (u32 i = 0; (c = debug_resident(d, i)); i++)
		for (u32 w = 0; w < c->warps; w++) {
			u32 n = c->warp[w].live ? debug_groups(d, c, w, groups) : 0;

			for (u32 k = 0; k < n; k++)
				if (groups[k].state == DEBUG_READY)
					return true;
		}
	return false;
}

static enum debug_verdict hook_idle(void *user, struct debug_grid *d)
{
	struct debugger *x = user;
	enum debug_verdict v = DEBUG_GO_ON;

	if (x->run.detached || is_beside_call(x) ||
	    !__atomic_load_n(&x->link.interrupted, __ATOMIC_ACQUIRE))
		return v;
	if (some_poll(d))
		return v;
	pthread_mutex_lock(&x->lock);
	run_enter(x, d);
	x->at = (struct standing){.kind = STOPPED_IDLE, .time = debug_time(d)};
	stop_say_idle(x);
	v = run_stop(x);
	pthread_mutex_unlock(&x->lock);
	return v;
}

/* ---- what launches tell ---- */

static void hook_access(void *user, struct debug_grid *d PL_UNUSED, const struct exec_access *a)
{
	struct debugger *x = user;

	if (!x->watching || x->run.detached || is_beside_call(x))
		return;
	if (x->counting.on)
		counting_access(x, a);
	watches_access(x, a);
}

/* ---- in the process ---- */

static void on_front_signal(void *user)
{
	struct debugger *x = user;

	__atomic_store_n(&x->run.attentive, true, __ATOMIC_RELEASE);
}

struct debugger *debugger_attach(struct text *why)
{
	struct debugger *x = debugger_new();
	struct link_frame f;

	if (!x) {
		text_puts(why, "no memory for the debugger");
		return NULL;
	}
	x->link.on_interrupt = on_front_signal;
	x->link.user = x;
	/* The variable goes when it has been read. */
	x->founds.attached = !setting_text(SETTING_DEBUG);
	x->run.hooks = (struct debug_hooks){.user = x,
					    .history_bytes = HISTORY_BYTES,
					    .launch_begin = hook_launch_begin,
					    .launch_end = hook_launch_end,
					    .launch_gone = hook_launch_gone,
					    .step = hook_step,
					    .attentive = &x->run.attentive,
					    .access = hook_access,
					    .wants_access = &x->watching,
					    .fault = hook_fault,
					    .over = hook_over,
					    .idle = hook_idle};
	if (!attachment_open(&x->link, why)) {
		debugger_free(x);
		return NULL;
	}
	x->fd = x->link.fd;
	if (attachment_receive(&x->link, &f)) {
		if (f.kind == LINK_STATE) {
			debugger_restore(x, f.payload);
			text_add(&x->state, f.payload, f.len);
		}
		link_frame_fini(&f);
	}
	return x;
}

const struct debug_hooks *debugger_hooks(struct debugger *x)
{
	return &x->run.hooks;
}

void debugger_program(void *user, const struct device_program *p, bool loaded)
{
	struct debugger *x = user;

	pthread_mutex_lock(&x->lock);
	for (size_t i = x->modules.len; i-- && !loaded;)
		if (x->modules.at[i]->owner == p)
			loaded_remove(x, i);
	if (!loaded)
		calls_forget(x, p);
	for (u32 u = 0; u < p->len && loaded; u++)
		loaded_add(x, p, u);
	x->focus.valid &= loaded;
	points_resolve(x);
	x->run.marked = NULL;
	pthread_mutex_unlock(&x->lock);
}

void debugger_exiting(struct debugger *x)
{
	pthread_mutex_lock(&x->lock);
	if (!x->run.detached && points_catch(x, EVENT_EXIT)) {
		x->grid = NULL;
		x->at.event = "exit";
		say(x, "The program is about to exit.\n");
		run_stop(x);
	}
	pthread_mutex_unlock(&x->lock);
}
