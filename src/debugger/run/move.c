/*
 * Steps. They follow one lane: it is preferred to all others, which come when it has to wait for
 * them. Stops of others on the way end the step.
 */
#include "src/debugger/debugger_int.h"

/* ---- where the lane is ---- */

/* How many PTX functions the lane is in. */
static u32 calls_of(struct debugger *x, const struct cta *c, u32 warp, u32 lane)
{
	if (!x->frames)
		x->frames = calloc(DEBUG_FRAMES_MAX, sizeof(*x->frames));
	return x->frames ? debug_frames(x->grid, c, warp, lane, x->frames, DEBUG_FRAMES_MAX) : 0;
}

u32 lane_calls(struct debugger *x, u64 cta, u32 warp, u32 lane)
{
	struct cta *c = debug_cta(x->grid, cta);

	return c ? calls_of(x, c, warp, lane) : 0;
}

/* Does a statement begin at this instruction, rather than go on from the one before it? */
bool place_begins(struct dbg_place at)
{
	const struct ir_insn *in = at.func->insns.at;

	return !at.insn || in[at.insn].loc != in[at.insn - 1].loc;
}

/* The places of code without lines are PTX lines. */
static bool has_line(const struct where *w)
{
	return w->source.path || (w->module && !w->module->has_source);
}

static bool lane_lives(struct debugger *x, const struct move *m)
{
	struct cta *c = debug_cta(x->grid, m->cta);

	return c && m->warp < c->warps && c->warp[m->warp].live >> m->lane & 1;
}

/* ---- has it arrived? ---- */

/* In a function that was called: at its first statement, if it has any. */
static bool arrived_inside(const struct where *w)
{
	if (!has_line(w))
		return false;
	return w->place.insn == dbg_lines_body(w->module->lines, w->place.func);
}

static bool arrived_line(const struct move *m, const struct where *w, const struct where *start)
{
	if (!has_line(w) || (where_same_line(w, start) && w->depth == start->depth))
		return false;
	if (m->kind != MOVE_STEP && w->depth > start->depth)
		return false;
	if (m->kind == MOVE_UNTIL && w->place.insn < m->start.insn)
		return false;
	return w->depth < start->depth || !w->source.path || place_begins(w->place);
}

static bool left_inlined(struct debugger *x, const struct move *m, const struct where *w)
{
	struct dbg_inline in[DBG_INLINE_MAX];
	u32 n = w->module ? dbg_names_inlined(w->module->names, w->place, in) : 0;

	(void)x;
	if (!n && w->module)
		n = dbg_lines_inlined(w->module->m, w->place, in);
	for (u32 i = 0; i < n; i++)
		if (in[i].id == m->inlined)
			return false;
	return has_line(w);
}

static bool arrived_place(const struct move *m, struct dbg_place at)
{
	for (size_t i = 0; i < m->places.len; i++)
		if (m->places.at[i].place.func == at.func && m->places.at[i].place.insn == at.insn)
			return true;
	return false;
}

bool move_arrived(struct debugger *x, const struct move *m, const struct where *w)
{
	struct where start = where_of(x, m->start);
	u32 calls = lane_calls(x, m->cta, m->warp, m->lane);

	if (m->kind == MOVE_INTO && calls <= m->calls + 1 && arrived_place(m, w->place))
		return true;
	switch (m->kind) {
	case MOVE_STEPI:
		return true;
	case MOVE_NEXTI:
		return calls <= m->calls;
	case MOVE_FINISH:
		return calls < m->calls ||
		       (m->inlined && calls == m->calls && left_inlined(x, m, w));
	case MOVE_ADVANCE:
		return arrived_place(m, w->place) || (calls < m->calls && has_line(w));
	default:
		if (calls > m->calls)
			return m->kind == MOVE_STEP && arrived_inside(w);
		if (calls < m->calls)
			return has_line(w);
		return arrived_line(m, w, &start);
	}
}

/* ---- divergence and reconvergence ---- */

static void say_diverged(struct debugger *x, u32 lanes, struct text *t)
{
	struct debug_group groups[WARP_LANES];
	struct cta *c = debug_cta(x->grid, x->move.cta);
	u32 n = c ? debug_groups(x->grid, c, x->move.warp, groups) : 0;

	for (u32 i = 0; i < n; i++) {
		u32 mine = groups[i].mask & lanes;
		struct where w;

		if (!mine)
			continue;
		w = where_of_lane(x, c, x->move.warp, (u32)__builtin_ctz(mine),
				  loaded_place(debug_env(x->grid)->program, groups[i].pc));
		text_puts(t, ", ");
		say_lanes(mine, t);
		text_printf(t, " (%08x) wait%s at line %u", mine, mine & (mine - 1) ? "" : "s",
			    w.source.path ? w.source.line : w.ptx_line);
		lanes &= ~mine;
	}
	if (lanes) {
		text_puts(t, ", ");
		say_lanes(lanes, t);
		text_puts(t, lanes & (lanes - 1) ? " have exited" : " has exited");
	}
}

void move_company(struct debugger *x, u32 now, const struct where *w)
{
	u32 lost = x->move.lanes & ~now, won = now & ~x->move.lanes;
	struct text t = {0};

	if (lost) {
		text_puts(&t, "Lanes diverge: ");
		say_lanes(now, &t);
		text_printf(&t, " (%08x) go%s to line %u", now, now & (now - 1) ? "" : "es",
			    w->source.path ? w->source.line : w->ptx_line);
		say_diverged(x, lost, &t);
		say(x, "%s.\n", t.at);
	} else if (won) {
		text_puts(&t, "Lanes ");
		say_lanes(now, &t);
		say(x, "%s reconverge.\n", t.at);
	}
	text_fini(&t);
}

/* ---- steps ---- */

void move_end(struct debugger *x)
{
	struct debug_preference none = {.cta = UINT64_MAX, .warp = UINT32_MAX};

	if (x->move.kind == MOVE_NOT)
		return;
	x->move.kind = MOVE_NOT;
	if (x->move.unit != UNIT_LANE)
		lockstep_release(x);
	if (x->grid && !x->scheduled)
		debug_prefer(x->grid, &none);
}

void move_fini(struct debugger *x)
{
	VEC_FREE(&x->move.places);
	VEC_FREE(&x->lockstep.parts);
	free(x->frames);
	x->frames = NULL;
}

static enum debug_verdict move_stop(struct debugger *x, const char *title)
{
	stop_say(x, title);
	return run_stop(x);
}

static enum debug_verdict move_lost(struct debugger *x)
{
	say(x, "Lane %u of warp %u has exited.\n", x->move.lane, x->move.warp);
	run_focus_stop(x);
	return move_stop(x, NULL);
}

static void say_returned(struct debugger *x, const struct where *w);

enum debug_verdict move_step(struct debugger *x, u32 fresh)
{
	struct move *m = &x->move;
	struct where w;
	bool first = !m->begun;

	if (x->launch != m->launch)
		return DEBUG_GO_ON;
	if (m->unit != UNIT_LANE)
		return lockstep_step(x, fresh);
	if (x->at.cta != m->cta || x->at.warp != m->warp || !(x->at.all_lanes >> m->lane & 1))
		return lane_lives(x, m) ? DEBUG_GO_ON : move_lost(x);
	w = where_of(x, loaded_place(debug_env(x->grid)->program, x->at.pc));
	if (!(fresh >> m->lane & 1))
		return DEBUG_GO_ON;
	m->begun = true;
	/* The instruction that it stood before without having been asked about it. */
	if (first && !m->standing && w.place.func == m->start.func && w.place.insn == m->start.insn)
		return DEBUG_GO_ON;
	if (!move_arrived(x, m, &w))
		return DEBUG_GO_ON;
	if (m->count > 1) {
		m->count--;
		m->start = w.place;
		m->calls = lane_calls(x, m->cta, m->warp, m->lane);
		m->standing = true;
		return DEBUG_GO_ON;
	}
	move_company(x, x->at.all_lanes, &w);
	if (m->kind == MOVE_FINISH)
		say_returned(x, &w);
	x->at.lanes = x->at.all_lanes;
	x->focus = (struct focus){true, x->launch, m->cta, m->warp, m->lane, 0};
	x->focus.frame = frame_of_user(x, focus_cta(x), m->warp, m->lane, NULL);
	return move_stop(x, NULL);
}

/* ---- commands ---- */

/* Let the lane in focus go on. Returns false after a message. */
static bool move_begin(struct debugger *x, enum move_kind kind, u64 count)
{
	struct cta *c = focus_cta(x);
	struct debug_group groups[WARP_LANES];
	struct move *m = &x->move;
	struct debug_preference p;
	struct frame f;
	u32 n;

	if (!c || !frame_at(x, c, x->focus.warp, x->focus.lane, 0, &f)) {
		say_error(x, "The lane in focus has exited.");
		return false;
	}
	/* Code without lines is part of the line that called it. */
	if (kind == MOVE_STEP || kind == MOVE_NEXT || kind == MOVE_UNTIL || kind == MOVE_INTO)
		frame_of_user(x, c, x->focus.warp, x->focus.lane, &f);
	m->places.len = 0;
	*m = (struct move){.kind = kind,
			   .count = count,
			   .launch = x->launch,
			   .cta = x->focus.cta,
			   .warp = x->focus.warp,
			   .lane = x->focus.lane,
			   .start = f.place,
			   .calls = calls_of(x, c, x->focus.warp, x->focus.lane) - f.call.depth,
			   .lanes = 1u << x->focus.lane,
			   .places = m->places};
	n = debug_groups(x->grid, c, m->warp, groups);
	for (u32 i = 0; i < n; i++)
		if (groups[i].mask >> m->lane & 1)
			m->lanes = groups[i].mask;
	m->standing = x->at.kind == STOPPED_STEP && x->at.asked_cta == m->cta &&
		      x->at.asked_warp == m->warp && x->at.all_lanes >> m->lane & 1;
	p = (struct debug_preference){m->cta, m->warp, 1u << m->lane};
	debug_prefer(x->grid, &p);
	debugger_go(x);
	return true;
}

static bool take_count(struct debugger *x, const char *args, u64 *count)
{
	*count = 1;
	if (*args && !debugger_number(x, args, count))
		return false;
	if (*count)
		return true;
	return false;
}

static void move_by(struct debugger *x, const struct call *c, enum move_kind kind)
{
	u64 count;

	if (take_count(x, c->args, &count))
		move_begin(x, kind, count);
}

/* "lane 5", "warp 1", "cta 3 ..": the rest of it; NULL: something else. */
static const char *after_unit(const char *args, const char *unit)
{
	size_t n = strlen(unit);

	if (strncmp(args, unit, n) != 0 || (args[n] && args[n] != ' '))
		return NULL;
	return args + n + strspn(args + n, " ");
}

/* `step warp 2`: all of the warp step, twice. */
static bool step_unit(struct debugger *x, const char *args, enum move_kind kind)
{
	static const char *const units[] = {
		[UNIT_LANE] = "lane", [UNIT_WARP] = "warp", [UNIT_CTA] = "cta"};
	const char *rest = NULL;
	u32 unit = 0;
	u64 count;

	for (u32 i = 0; i < ARRAY_LEN(units) && !rest; i++) {
		rest = after_unit(args, units[i]);
		unit = i;
	}
	if (!rest)
		return false;
	if (x->calls.on && unit != UNIT_LANE)
		say_error(x, "Lane %u alone runs %s, which the debugger calls.", x->calls.lane,
			  x->calls.name);
	else if (take_count(x, rest, &count) && move_begin(x, kind, count) && unit != UNIT_LANE)
		lockstep_begin(x, (enum move_unit)unit);
	return true;
}

void command_next(struct debugger *x, const struct call *c)
{
	if (!step_unit(x, c->args, MOVE_NEXT))
		move_by(x, c, MOVE_NEXT);
}

void command_stepi(struct debugger *x, const struct call *c)
{
	if (!step_unit(x, c->args, MOVE_STEPI))
		move_by(x, c, MOVE_STEPI);
}

void command_nexti(struct debugger *x, const struct call *c)
{
	if (!step_unit(x, c->args, MOVE_NEXTI))
		move_by(x, c, MOVE_NEXTI);
}

/* To places by name, or as far as the kind says. */
static void move_to(struct debugger *x, const char *location, enum move_kind kind)
{
	struct location at;
	point_places places = {0};

	if (!location_parse(x, location, &at)) {
		location_fini(&at);
		return;
	}
	if (!location_find(x, &at, &places) || !places.len)
		say_error(x, "There is no code at %s.", location);
	else if (move_begin(x, kind, 1)) {
		VEC_FREE(&x->move.places);
		x->move.places.at = places.at;
		x->move.places.len = places.len;
		x->move.places.cap = places.cap;
		places = (point_places){0};
	}
	VEC_FREE(&places);
	location_fini(&at);
}

void command_step(struct debugger *x, const struct call *c)
{
	const char *into = after_unit(c->args, "into");

	if (into && !*into)
		say_error(x, "`step into` needs a function that the line calls.");
	else if (into)
		move_to(x, into, MOVE_INTO);
	else if (!step_unit(x, c->args, MOVE_STEP))
		move_by(x, c, MOVE_STEP);
}

void command_until(struct debugger *x, const struct call *c)
{
	if (*c->args)
		move_to(x, c->args, MOVE_ADVANCE);
	else
		move_begin(x, MOVE_UNTIL, 1);
}

void command_advance(struct debugger *x, const struct call *c)
{
	if (*c->args)
		move_to(x, c->args, MOVE_ADVANCE);
	else
		say_error(x, "A line, function or *FUNCTION+INSTRUCTION is needed.");
}

/* ---- finish ---- */

/* The type of what a call has returned in a variable of the PTX, whose own type is `plain`. */
static struct dbg_type *returned_type(struct debugger *x, const struct where *w,
				      const struct ir_func *called, const struct ir_var *var,
				      struct dbg_type *plain)
{
	u64 size = var->size_bytes, one = dbg_type_size(plain);
	struct dbg_type *type = NULL;

	/* Called through a pointer, or of another file: that is the function that has been left. */
	if (called && called->has_body)
		type = dbg_names_result(w->module->names, called);
	else if (x->move.left && x->move.module)
		type = dbg_names_result(x->move.module->names, x->move.left);
	if (type && dbg_type_size(type) <= size)
		return type;
	return one && size > one ? dbg_session_array(x->session, plain, size / one) : plain;
}

/* What the call that the lane has come back from left behind. */
static void say_returned(struct debugger *x, const struct where *w)
{
	struct dbg_context c;
	struct dbg_variable v;
	struct dbg_value value;
	struct text out = {0}, why = {0};
	u32 call = w->place.insn ? w->place.insn - 1 : 0, number;
	const struct ir_func *f = w->place.func;
	const struct ir_insn *in = &f->insns.at[call];
	const struct ir_operand *list = &f->operands.at[in->first_op],
				*callee = in->ops > 1 ? list + 1 : NULL;
	const struct ir_func *called;

	if (x->move.inlined || ir_opcode(in) != OPCODE_call || !in->ops ||
	    list->kind != IR_OP_LIST || list->imm != 1 || !w->module)
		return;
	list = &f->operands.at[list->index];
	x->focus = (struct focus){true, x->launch, x->move.cta, x->move.warp, x->move.lane, 0};
	if (list->kind != IR_OP_VAR || !context_of(x, &x->focus, &c))
		return;
	if (!returned_variable(w->module, list->index, &v))
		return;
	called =
		callee && callee->kind == IR_OP_FUNC ? w->module->m->funcs.at[callee->index] : NULL;
	v.type = returned_type(x, w, called, v.base, v.type);
	dbg_value_of(&c, &v, &value);
	if (dbg_value_print(&c, &value, NULL, &out, &why) &&
	    dbg_session_keep(x->session, &c, &value, &number, &why))
		say(x, "Value returned is $%u = %s\n", number, out.at);
	text_fini(&out);
	text_fini(&why);
}

void command_finish(struct debugger *x, const struct call *c PL_UNUSED)
{
	struct cta *cta = focus_cta(x);
	struct dbg_inline in[DBG_INLINE_MAX];
	struct frame f, outer;
	u32 n = 0;

	if (!cta || !frame_at(x, cta, x->focus.warp, x->focus.lane, x->focus.frame, &f)) {
		say_error(x, "The lane in focus has exited.");
		return;
	}
	if (!frame_at(x, cta, x->focus.warp, x->focus.lane, x->focus.frame + 1, &outer)) {
		/* The call goes on to its end. */
		if (x->calls.on) {
			debugger_go(x);
			return;
		}
		say_error(x, "\"finish\" not meaningful in the outermost frame.");
		return;
	}
	if (f.shown.is_inlined && f.module) {
		n = dbg_names_inlined(f.module->names, f.place, in);
		if (!n)
			n = dbg_lines_inlined(f.module->m, f.place, in);
	}
	say(x, "Run till exit from #%u %s\n", x->focus.frame, f.shown.function);
	if (!move_begin(x, MOVE_FINISH, 1))
		return;
	x->move.calls -= f.call.depth;
	x->move.left = f.place.func;
	x->move.module = f.module;
	if (f.shown.inlined < n)
		x->move.inlined = in[f.shown.inlined].id;
}

void command_continue(struct debugger *x, const struct call *c)
{
	u64 count;

	if (!take_count(x, c->args, &count))
		return;
	/* As in gdb: the breakpoint it stands at is passed so often. */
	if (count > 1 && x->points.last_hit) {
		struct point *p = point_find(x, x->points.last_hit);

		if (p) {
			p->ignore = count - 1;
			say(x, "Will ignore next %llu crossings of breakpoint %u.  Continuing.\n",
			    (unsigned long long)p->ignore, p->number);
		}
	}
	debugger_go(x);
}
