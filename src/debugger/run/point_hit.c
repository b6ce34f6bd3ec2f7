/*
 * Whether a group of lanes has come to a breakpoint.
 */
#include "src/debugger/debugger_int.h"
#include "src/debugger/look.h"

static bool point_is_at(const struct point *p, struct dbg_place at, const struct point_place **out)
{
	for (size_t i = 0; i < p->places.len; i++)
		if (p->places.at[i].place.func == at.func && p->places.at[i].place.insn == at.insn)
			return *out = &p->places.at[i], true;
	return false;
}

void points_mark(struct debugger *x, const struct program *program, u8 *marks)
{
	const struct point_place *found;

	memset(marks, 0, program->uops);
	for (u32 pc = 0; pc < program->uops && points_catch_enabled(x, EVENT_BARRIER); pc++)
		marks[pc] = uop_kind(program->uop[pc].inner) == UOP_BARRIER;
	for (size_t i = 0; i < x->points.at.len; i++) {
		const struct point *p = x->points.at.at[i];

		if (p->kind != POINT_BREAK || !p->enabled || !p->places.len)
			continue;
		for (u32 pc = 0; pc < program->uops; pc++)
			if (point_is_at(p, loaded_place(program, pc), &found))
				marks[pc] = 1;
	}
}

/* The condition, parsed with the names of the context; NULL with a message. */
static struct dbg_expr *condition_expr(struct point *p, const struct dbg_context *c,
				       struct text *why)
{
	if (p->expr && p->expr_names != c->names) {
		dbg_expr_free(p->expr);
		p->expr = NULL;
	}
	if (!p->expr) {
		p->expr = dbg_expr_parse(c, p->condition, why);
		p->expr_names = c->names;
	}
	return p->expr;
}

bool point_condition(struct debugger *x, struct point *p, const struct dbg_context *c)
{
	struct text why = {0};
	struct dbg_value v;
	bool is = false, good = true;

	condition_expr(p, c, &why);
	if (p->expr && dbg_expr_calls(p->expr)) {
		text_puts(&why, "a condition cannot call functions");
		good = false;
	}
	good = good && p->expr && dbg_expr_eval(p->expr, c, &v, &why) &&
	       dbg_value_is_true(c, &v, &is, &why);
	if (!good && !x->condition_failed) {
		say(x, "Error in testing condition for breakpoint %u:\n%s\n", p->number,
		    why.at ? why.at : "no memory");
		x->condition_failed = true;
	}
	text_fini(&why);
	return !good || is;
}

/* The lanes for which the point's condition holds. */
static u32 condition_lanes(struct debugger *x, struct point *p, const struct point_place *at,
			   u32 lanes)
{
	struct loaded *m = loaded_of(x, at->place.func);
	struct dbg_context c = {.session = x->session,
				.target = &x->target,
				.names = m ? m->names : NULL,
				.place = at->place,
				.inlined = at->inlined,
				.lane = {x->launch, x->at.cta, x->at.warp, 0, 0}};
	struct text unwanted = {0};
	struct dbg_expr *e = condition_expr(p, &c, &unwanted);
	u32 holds = 0;

	text_fini(&unwanted);
	if (e && dbg_expr_lanes(e, &c, lanes, &holds))
		return holds;
	holds = 0;
	for (u32 l = 0; l < WARP_LANES; l++) {
		if (!(lanes >> l & 1))
			continue;
		c.lane = (struct dbg_lane){x->launch, x->at.cta, x->at.warp, l, 0};
		if (point_condition(x, p, &c))
			holds |= 1u << l;
	}
	return holds;
}

/* dprintf: as if each lane called printf here. */
static void print_here(struct debugger *x, const struct point *p, u32 lanes)
{
	struct focus focus = x->focus;
	bool failed = x->failed, good = true;

	if (x->searching)
		return;
	x->points.printing = true;
	for (u32 l = 0; l < WARP_LANES && good; l++) {
		if (!(lanes >> l & 1))
			continue;
		x->focus = (struct focus){.valid = true,
					  .launch = x->launch,
					  .cta = x->at.cta,
					  .warp = x->at.warp,
					  .lane = l};
		x->focus.frame =
			frame_of_user(x, debug_cta(x->grid, x->at.cta), x->at.warp, l, NULL);
		good = look_printf(x, p->print);
	}
	x->points.printing = false;
	x->focus = focus;
	x->failed = failed;
	run_pass(x, lanes);
	debugger_flush(x);
}

u32 points_check(struct debugger *x, const struct gang *g, const struct uop *in, u32 lanes,
		 struct text *names)
{
	const struct program *program = debug_env(x->grid)->program;
	struct dbg_place here = loaded_place(program, (u32)(in - program->uop));
	const struct point_place *at;
	u32 all = 0;

	x->condition_failed = false;
	for (size_t i = 0; i < x->points.at.len; i++) {
		struct point *p = x->points.at.at[i];
		u32 mine = lanes;

		if (p->kind != POINT_BREAK || !p->enabled || !point_is_at(p, here, &at))
			continue;
		if (at->guarded)
			mine &= exec_step_passes(g, in, 0);
		if (mine && p->condition)
			mine = condition_lanes(x, p, at, mine);
		if (!mine)
			continue;
		if (!x->searching)
			p->hits++;
		if (p->ignore && !x->searching) {
			p->ignore--;
			continue;
		}
		if (p->print) {
			print_here(x, p, mine);
			continue;
		}
		all |= mine;
		if (names) {
			text_printf(names, "%s%s %u", names->len ? ", " : "", point_title(p),
				    p->number);
			point_note_hit(x, p);
		}
	}
	return all;
}
