/*
 * Back in time. The launch is put back to a copy and runs over the time since; where the lane in
 * focus was, or what stopped, is noted, and the launch goes to the last of those before now. If
 * there was none, it is searched from the copy before that one.
 */
#include "src/debugger/debugger_int.h"
#include "src/dbg/flow.h"

void past_fini(struct debugger *x)
{
	VEC_FREE(&x->past.found);
	VEC_FREE(&x->past.lines);
	for (size_t i = 0; i < x->bookmarks.len; i++)
		free(x->bookmarks.at[i].name);
	VEC_FREE(&x->bookmarks);
}

/* ---- going ---- */

/* Ask the engine to run on from the copy before `time`, silently until `quiet`. */
static bool past_leave(struct debugger *x, u64 time, u64 quiet)
{
	struct text why = {0};
	bool good = debug_back(x->grid, time, quiet, &why);

	if (!good)
		say_error(x, "It cannot go back: %s", why.at ? why.at : "nothing is kept");
	text_fini(&why);
	return good;
}

static bool past_go(struct debugger *x, u64 goal)
{
	if (!past_leave(x, goal, goal))
		return false;
	x->past.kind = PAST_GO;
	x->past.goal = goal;
	return true;
}

/* Run over the time between the copy before `until` and `until`. False: there is none. */
static bool past_scan(struct debugger *x, u64 until)
{
	u64 from;

	if (!debug_copy_before(x->grid, until, &from) || !past_leave(x, from, from))
		return false;
	x->past.kind = PAST_SCAN;
	x->past.from = from;
	x->past.until = until;
	x->past.lines.len = 0;
	x->past.refresh = true;
	x->past.found.len = 0;
	return true;
}

/*
 * The register that a found instruction only copies into the one that was asked for; IR_NONE: it
 * computes something. Compilers copy at the ends of blocks, far from where a variable is set.
 */
static u32 copied_register(const struct debugger *x, const struct past_found *f)
{
	const struct past *p = &x->past;
	struct dbg_place at;
	const struct ir_insn *in;
	const struct ir_operand *from;

	if (p->want != PAST_WRITE || !p->range.is_register)
		return IR_NONE;
	at = f->at;
	in = &at.func->insns.at[at.insn];
	from = &at.func->operands.at[in->first_op + 1];
	return ir_opcode(in) == OPCODE_mov && in->ops == 2 && in->guard == IR_NONE &&
			       from->kind == IR_OP_REG && from->part == IR_PART_NONE
		       ? from->index
		       : IR_NONE;
}

/*
 * A lane that has faulted, or waits, stands in its line and its instruction: the last time it came
 * there is not where to go back to.
 */
static void drop_stuck(struct debugger *x)
{
	struct past *p = &x->past;
	struct dbg_place at;
	struct where now, then;

	if (!p->stuck.func || !p->found.len)
		return;
	at = p->found.at[p->found.len - 1].at;
	now = where_of(x, p->stuck);
	then = where_of(x, at);
	if (at.func == p->stuck.func &&
	    (p->want == PAST_STEPI || p->want == PAST_NEXTI ? at.insn == p->stuck.insn
							    : where_same_line(&now, &then)))
		p->found.len--;
	p->stuck.func = NULL;
}

/* A finding of a check, at its place in time. */
static void past_note_found(struct debugger *x, u64 time)
{
	struct past *p = &x->past;
	size_t at = p->found.len;

	while (at && p->found.at[at - 1].time > time)
		at--;
	if ((at && p->found.at[at - 1].time == time) ||
	    !VEC_PUSH(&p->found, ((struct past_found){.time = time})))
		return;
	memmove(p->found.at + at + 1, p->found.at + at,
		(p->found.len - 1 - at) * sizeof(*p->found.at));
	p->found.at[at] = (struct past_found){.time = time};
}

/* The piece has been run over: what now? */
static enum debug_verdict past_piece_over(struct debugger *x)
{
	struct past *p = &x->past;
	u64 len;
	u32 source;

	drop_stuck(x);
	if (p->want == PAST_STOP)
		founds_between(x, p->from, p->until, past_note_found);
	len = p->found.len;
	p->at_beginning = false;
	p->target = (struct past_found){0};
	if (len >= p->count) {
		p->target = p->found.at[len - p->count];
		/* A watched value is told as the change left it: look at this one alone. */
		if (p->target.watch && p->count > 1) {
			u64 next = p->found.at[len - p->count + 1].time;

			p->count = 1;
			if (next > p->target.time && past_scan(x, next))
				return DEBUG_BACK;
		}
		source = copied_register(x, &p->target);
		if (source != IR_NONE) {
			p->range.reg = source;
			p->count = 1;
			if (past_scan(x, p->target.time))
				return DEBUG_BACK;
		}
		return past_go(x, p->target.time) ? DEBUG_BACK : run_stop(x);
	}
	p->count -= len;
	if (p->from > p->floor && past_scan(x, p->from))
		return DEBUG_BACK;
	p->at_beginning = true;
	/* What was never written is not at the beginning either. */
	if (p->want == PAST_WRITE)
		return past_go(x, p->begun_at) ? DEBUG_BACK : run_stop(x);
	return past_go(x, p->floor) ? DEBUG_BACK : run_stop(x);
}

/* ---- what is looked for ---- */

static void past_note(struct debugger *x)
{
	struct past_found f = {
		.time = x->at.time,
		.cta = x->at.cta,
		.warp = x->at.warp,
		.lanes = x->at.lanes,
		.at = loaded_place(debug_env(x->grid)->program, x->at.pc),
	};

	VEC_PUSH(&x->past.found, f);
}

/* A watched value has changed: by what ran last, so that is where to go back to. */
static void past_note_watches(struct debugger *x)
{
	struct past_found f = {.time = x->run.last_time};
	struct standing here = x->at;

	if (x->past.refresh) {
		x->past.refresh = false;
		watches_refresh(x);
		return;
	}
	f.lanes = watches_scan(x, &f.watch);
	f.cta = x->at.cta;
	f.warp = x->at.warp;
	x->at = here;
	if (f.lanes && f.time >= x->past.from && f.time < x->past.until)
		VEC_PUSH(&x->past.found, f);
}

/*
 * Does the lane begin another line than the one it was in last in this function? What is left of a
 * line after a call from it is not one.
 */
static bool past_is_new(struct debugger *x, const struct where *w, u32 calls)
{
	struct past *p = &x->past;
	u32 level = calls * (DBG_INLINE_MAX + 1) + w->depth;
	struct past_line *top;
	bool same = false;

	while (p->lines.len && p->lines.at[p->lines.len - 1].level > level)
		p->lines.len--;
	top = p->lines.len ? &p->lines.at[p->lines.len - 1] : NULL;
	if (top && top->level == level) {
		struct where before = where_of(x, top->at);

		same = top->at.func == w->place.func && where_same_line(&before, w);
		top->at = w->place;
	} else {
		VEC_PUSH(&p->lines, ((struct past_line){w->place, level}));
	}
	return !same;
}

/* The lane begins a line: that of a step back. */
static bool past_is_line(struct debugger *x, const struct where *w, u32 calls)
{
	struct past *p = &x->past;

	if (!w->source.path && (!w->module || w->module->has_source))
		return false;
	if (p->want == PAST_NEXT &&
	    (calls > p->calls || (calls == p->calls && w->depth > p->depth)))
		return false;
	if (w->source.path && !place_begins(w->place))
		return false;
	return past_is_new(x, w, calls);
}

static bool past_matches(struct debugger *x, struct gang *g, const struct uop *in)
{
	struct past *p = &x->past;
	struct where w;
	u32 calls;
	bool mine = x->launch == p->launch && x->at.cta == p->cta && x->at.warp == p->warp &&
		    x->at.all_lanes >> p->lane & 1;

	if (p->want == PAST_STOP) {
		u32 lanes = x->run.marks && x->run.marks[x->at.pc]
				    ? points_check(x, g, in, x->at.all_lanes, NULL)
				    : 0;

		x->at.lanes = lanes ? lanes : x->at.lanes;
		return lanes != 0;
	}
	if (!mine)
		return false;
	w = where_of(x, loaded_place(debug_env(x->grid)->program, x->at.pc));
	if (p->want == PAST_WRITE)
		return p->range.is_register && w.place.func == p->range.func &&
		       exec_step_passes(g, in, 0) >> p->lane & 1 &&
		       flow_writes(w.place.func, w.place.insn, p->range.reg);
	if (p->want == PAST_STEPI)
		return true;
	calls = lane_calls(x, p->cta, p->warp, p->lane);
	if (p->want == PAST_NEXTI)
		return calls <= p->calls;
	if (p->want == PAST_FINISH)
		return calls < p->calls;
	return past_is_line(x, &w, calls);
}

void past_access(struct debugger *x, const struct exec_access *a)
{
	u32 lanes = watch_writes(a) ? watch_range_touched(&x->past.range, a) : 0;
	struct past_found f = {
		.time = x->at.time, .cta = a->cta->number, .warp = a->warp, .lanes = lanes};

	if (lanes && x->at.time < x->past.until)
		VEC_PUSH(&x->past.found, f);
}

/* Is it about what launches have in common? */
static bool past_crosses(const struct past *p)
{
	return p->want == PAST_STOP ||
	       (p->want == PAST_WRITE && !p->range.is_register && p->range.space == MEM_GLOBAL);
}

/* A thread begins with its launch, but launches before are kept. */
static bool past_at_launch(const struct debugger *x)
{
	u64 start = debug_start(x->grid);

	return !past_crosses(&x->past) && x->past.floor == start && debug_first(x->grid) < start;
}

/* Why there is nothing before. */
static void past_say_end(const struct debugger *x, struct text *out)
{
	const char *why = debug_why_first(x->grid);

	if (past_at_launch(x)) {
		text_printf(out, "Launch %llu begins here", (unsigned long long)x->launch);
		return;
	}
	text_puts(out, "No more reverse-execution history");
	if (why && x->past.floor == debug_first(x->grid))
		text_printf(out, ": %s", why);
}

/* ---- arriving ---- */

static void past_focus(struct debugger *x)
{
	struct past *p = &x->past;
	bool lane = (p->want != PAST_STOP && p->want != PAST_WRITE) ||
		    (p->want == PAST_WRITE && p->at_beginning);

	if (p->target.lanes && !lane) {
		x->at.cta = p->target.cta;
		x->at.warp = p->target.warp;
		x->at.lanes = p->target.lanes;
		/* A register's writer is the lane itself. */
		if (p->want == PAST_WRITE && p->range.is_register)
			x->at.lanes = 1u << p->lane;
	}
	run_focus_stop(x);
	/* The turn may be another warp's; the lane stays in focus. */
	if (lane && (x->at.cta != p->cta || x->at.warp != p->warp)) {
		struct cta *c = debug_cta(x->grid, p->cta);

		if (c && p->warp < c->warps && c->warp[p->warp].live >> p->lane & 1)
			x->focus = (struct focus){
				true,    x->launch, p->cta,
				p->warp, p->lane,   frame_of_user(x, c, p->warp, p->lane, NULL)};
	}
	if (lane && x->at.cta == p->cta && x->at.warp == p->warp && x->at.all_lanes >> p->lane & 1)
		x->focus.lane = p->lane;
}

/* What no thread has written, as far as is kept. */
static void past_say_unwritten(struct debugger *x)
{
	u64 start = debug_start(x->grid), floor = x->past.floor;

	if (past_crosses(&x->past))
		say(x, "It has not been written before in this launch and those before, as far as "
		       "is kept.\n");
	else if (floor == start)
		say(x,
		    "It has not been written since launch %llu began: it has the value that it "
		    "began with.\n",
		    (unsigned long long)x->launch);
	else
		say(x,
		    "It has not been written since time %llu of launch %llu; before that "
		    "nothing is kept.\n",
		    (unsigned long long)(floor - start), (unsigned long long)x->launch);
}

static enum debug_verdict past_arrive(struct debugger *x, struct gang *g, const struct uop *in)
{
	struct text names = {0};
	enum debug_verdict v;

	if (x->past.at_beginning && x->past.want == PAST_WRITE) {
		past_say_unwritten(x);
	} else if (x->past.at_beginning) {
		past_say_end(x, &names);
	} else if (x->past.target.watch) {
		watch_say_back(x, x->past.target.watch, &names);
	} else if (x->past.want == PAST_STOP) {
		x->searching = true;
		points_check(x, g, in, x->at.all_lanes, &names);
		x->searching = false;
		points_drop_commands(x);
	} else if (x->past.title[0]) {
		text_puts(&names, x->past.title);
	}
	past_focus(x);
	if (x->past.want == PAST_STOP && !x->past.at_beginning &&
	    found_arrive(x, x->at.time, &names)) {
		x->at.event = "finding";
		x->founds.shown = names.at;
	}
	watches_refresh(x);
	stop_say(x, names.at);
	v = run_stop(x);
	x->founds.shown = NULL;
	text_fini(&names);
	return v;
}

bool past_step(struct debugger *x, struct gang *g, const struct uop *in, enum debug_verdict *v)
{
	struct past *p = &x->past;

	if (p->kind == PAST_GO) {
		if (x->at.time < p->goal)
			return *v = DEBUG_GO_ON, true;
		*v = past_arrive(x, g, in);
		return true;
	}
	if (__atomic_load_n(&x->link.interrupted, __ATOMIC_ACQUIRE)) {
		p->title[0] = 0;
		snprintf(p->title, sizeof(p->title), "Interrupted");
		*v = past_arrive(x, g, in);
		return true;
	}
	if (p->want == PAST_STOP && x->watching)
		past_note_watches(x);
	if (x->at.time >= p->until) {
		*v = past_piece_over(x);
		return true;
	}
	x->searching = true;
	if (past_matches(x, g, in))
		past_note(x);
	x->searching = false;
	*v = DEBUG_GO_ON;
	return true;
}

bool past_fault(struct debugger *x, enum debug_verdict *v)
{
	if (x->past.kind != PAST_SCAN)
		return false;
	*v = past_piece_over(x);
	return true;
}

/* ---- commands ---- */

/* To the last instruction of the launch before. */
static bool past_to_launch_before(struct debugger *x)
{
	struct past *p = &x->past;

	p->cta = UINT64_MAX;
	p->at_beginning = false;
	p->target = (struct past_found){0};
	snprintf(p->title, sizeof(p->title), "The end of the launch before");
	if (!past_go(x, debug_start(x->grid) - 1))
		return false;
	x->verdict = DEBUG_BACK;
	debugger_go(x);
	return true;
}

static bool past_begin(struct debugger *x, enum past_want want, u64 count)
{
	struct past *p = &x->past;
	struct cta *c = focus_cta(x);
	struct text end = {0};
	struct frame f;
	struct where w;

	p->want = want;
	p->count = count;
	p->title[0] = 0;
	p->stuck.func = NULL;
	p->launch = x->launch;
	p->floor = debug_first(x->grid);
	if (!past_crosses(p) && p->floor < debug_start(x->grid))
		p->floor = debug_start(x->grid);
	p->cta = x->focus.cta;
	p->warp = x->focus.warp;
	p->lane = x->focus.lane;
	if (want != PAST_STOP && want != PAST_WRITE) {
		if (!c || !frame_at(x, c, p->warp, p->lane, 0, &f)) {
			say_error(x, "The lane in focus has exited.");
			return false;
		}
		w = where_of(x, f.place);
		p->depth = w.depth;
		p->calls = lane_calls(x, p->cta, p->warp, p->lane);
		if (x->at.kind == STOPPED_FAULT) {
			/* In a helper of the toolkit it is the line that called it. */
			if ((want == PAST_STEP || want == PAST_NEXT) &&
			    !frame_at(x, c, p->warp, p->lane,
				      frame_of_user(x, c, p->warp, p->lane, NULL), &f))
				return false;
			p->stuck = f.place;
		}
	}
	if (x->at.time <= p->floor && want == PAST_WRITE) {
		past_say_unwritten(x);
		return false;
	}
	if (x->at.time <= p->floor && past_at_launch(x))
		return past_to_launch_before(x);
	if (x->at.time <= p->floor) {
		past_say_end(x, &end);
		say_error(x, "%s.", end.at ? end.at : "No memory");
		text_fini(&end);
		return false;
	}
	p->begun_at = x->at.time;
	if (!past_scan(x, x->at.time)) {
		if (!x->failed)
			say_error(x, "It cannot go back: nothing is kept.");
		return false;
	}
	x->verdict = DEBUG_BACK;
	debugger_go(x);
	return true;
}

static void past_by(struct debugger *x, const struct call *c, enum past_want want)
{
	u64 count = 1;

	if (*c->args && !debugger_number(x, c->args, &count))
		return;
	if (count)
		past_begin(x, want, count);
}

void command_reverse_step(struct debugger *x, const struct call *c)
{
	past_by(x, c, PAST_STEP);
}

void command_reverse_next(struct debugger *x, const struct call *c)
{
	past_by(x, c, PAST_NEXT);
}

void command_reverse_stepi(struct debugger *x, const struct call *c)
{
	past_by(x, c, PAST_STEPI);
}

void command_reverse_nexti(struct debugger *x, const struct call *c)
{
	past_by(x, c, PAST_NEXTI);
}

void command_reverse_continue(struct debugger *x, const struct call *c)
{
	past_by(x, c, PAST_STOP);
}

void command_reverse_finish(struct debugger *x, const struct call *c)
{
	if (lane_calls(x, x->focus.cta, x->focus.warp, x->focus.lane) < 2)
		say_error(x, "\"reverse-finish\" not meaningful in the outermost frame.");
	else
		past_by(x, c, PAST_FINISH);
}

/* ---- origin ---- */

static void origin_title(const struct debugger *x, const char *text, struct past *p)
{
	static const char *const spaces[] = {[MEM_GLOBAL] = "global memory",
					     [MEM_SHARED] = "shared memory",
					     [MEM_LOCAL] = "local memory",
					     [MEM_PARAM] = "parameters"};

	(void)x;
	if (p->range.is_register)
		snprintf(p->title, sizeof(p->title), "%s, a register, was last written here", text);
	else
		snprintf(p->title, sizeof(p->title),
			 "%s, %llu bytes of %s at 0x%llx, was last written here", text,
			 (unsigned long long)p->range.bytes,
			 p->range.space < ARRAY_LEN(spaces) && spaces[p->range.space]
				 ? spaces[p->range.space]
				 : "memory",
			 (unsigned long long)p->range.address);
}

void command_origin(struct debugger *x, const struct call *c)
{
	struct text why = {0};
	struct dbg_context context;
	struct dbg_value v, to;
	struct dbg_expr *e = NULL;
	bool good = *c->args != 0;

	if (!good)
		text_puts(&why, "an expression is needed");
	if (good && !context_of(x, &x->focus, &context)) {
		text_puts(&why, "the lane in focus has exited");
		good = false;
	}
	if (good)
		e = dbg_expr_parse(&context, c->args, &why);
	good = e && dbg_expr_eval(e, &context, &v, &why) &&
	       dbg_value_referred(&context, &v, &to, &why) &&
	       watch_range_of(x, &context, &to, &x->past.range, &why);
	if (!good)
		say_error(x, "%s: %s", *c->args ? c->args : c->name, why.at ? why.at : "no memory");
	else if (past_begin(x, PAST_WRITE, 1))
		origin_title(x, c->args, &x->past);
	dbg_expr_free(e);
	text_fini(&why);
}

/* ---- times and bookmarks ---- */

/* The launch of that number while it runs, or can be gone back to; NULL: else. */
static struct debug_grid *kept_launch(const struct debugger *x, u64 number)
{
	for (size_t i = 0; i < x->launches.len; i++)
		if (x->launches.at[i].number == number && x->launches.at[i].d &&
		    debug_same_history(x->launches.at[i].d, x->grid))
			return x->launches.at[i].d;
	return NULL;
}

/* `time` counts from the launch's beginning. */
static void go_to_time(struct debugger *x, u64 launch, u64 time)
{
	struct past *p = &x->past;
	struct debug_grid *d = kept_launch(x, launch);
	u64 start = d ? debug_start(d) : 0, first = debug_first(x->grid),
	    latest = d ? debug_latest(d) - start : 0;

	first = first > start ? first - start : 0;
	if (!d) {
		say_error(x, "Launch %llu is not kept.", (unsigned long long)launch);
		return;
	}
	if (time < first || time > latest) {
		say_error(x, "Time %llu is not between %llu and %llu.", (unsigned long long)time,
			  (unsigned long long)first, (unsigned long long)latest);
		return;
	}
	p->want = PAST_STEPI;
	p->launch = launch;
	p->cta = x->focus.cta;
	p->warp = x->focus.warp;
	p->lane = x->focus.lane;
	p->at_beginning = false;
	p->title[0] = 0;
	p->target = (struct past_found){0};
	if (!past_go(x, start + time))
		return;
	x->verdict = DEBUG_BACK;
	debugger_go(x);
}

void command_goto(struct debugger *x, const struct call *c)
{
	const char *colon = strchr(c->args, ':');
	char number[24];
	u64 time, launch = x->launch;

	for (size_t i = 0; i < x->bookmarks.len; i++) {
		const struct bookmark *b = &x->bookmarks.at[i];

		if (strcmp(b->name, c->args) != 0)
			continue;
		go_to_time(x, b->launch, b->time);
		return;
	}
	if (colon && (size_t)(colon - c->args) < sizeof(number)) {
		snprintf(number, sizeof(number), "%.*s", (int)(colon - c->args), c->args);
		if (!debugger_number(x, number, &launch))
			return;
	}
	if (debugger_number(x, colon ? colon + 1 : c->args, &time))
		go_to_time(x, launch, time);
}

void command_when(struct debugger *x, const struct call *c PL_UNUSED)
{
	u64 start = debug_start(x->grid), first = debug_first(x->grid), earliest = x->launch;

	say(x,
	    "Launch %llu, time %llu: so many instructions have begun. From %llu to %llu it is kept.\n",
	    (unsigned long long)x->launch, (unsigned long long)(debug_time(x->grid) - start),
	    (unsigned long long)(first > start ? first - start : 0),
	    (unsigned long long)(debug_latest(x->grid) - start));
	for (size_t i = 0; i < x->launches.len; i++)
		if (x->launches.at[i].d && x->launches.at[i].number < earliest)
			earliest = x->launches.at[i].number;
	if (earliest < x->launch)
		say(x, "Launches from %llu on are kept.\n", (unsigned long long)earliest);
}

void command_bookmark(struct debugger *x, const struct call *c)
{
	struct bookmark b = {NULL, x->launch, debug_time(x->grid) - debug_start(x->grid)};
	char number[24];

	snprintf(number, sizeof(number), "b%zu", x->bookmarks.len + 1);
	b.name = strdup(*c->args ? c->args : number);
	for (size_t i = 0; i < x->bookmarks.len && b.name; i++)
		if (!strcmp(x->bookmarks.at[i].name, b.name)) {
			free(x->bookmarks.at[i].name);
			x->bookmarks.at[i] = x->bookmarks.at[--x->bookmarks.len];
			break;
		}
	if (!b.name || !VEC_PUSH(&x->bookmarks, b)) {
		free(b.name);
		return;
	}
	say(x, "Bookmark %s: launch %llu, time %llu.\n", b.name, (unsigned long long)b.launch,
	    (unsigned long long)b.time);
}

void command_info_bookmarks(struct debugger *x, const struct call *c PL_UNUSED)
{
	if (!x->bookmarks.len)
		say(x, "No bookmarks.\n");
	for (size_t i = 0; i < x->bookmarks.len; i++)
		say(x, "%-12s launch %llu, time %llu\n", x->bookmarks.at[i].name,
		    (unsigned long long)x->bookmarks.at[i].launch,
		    (unsigned long long)x->bookmarks.at[i].time);
}
