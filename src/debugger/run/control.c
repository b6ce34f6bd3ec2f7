/*
 * Who goes on, and where: freezing, choosing a warp, jumping.
 */
#include "src/debugger/debugger_int.h"
#include "src/debugger/look_value.h"

/* Lanes of a warp of the focus CTA that live; 0 after a message. */
static u32 lanes_of_warp(struct debugger *x, u64 warp)
{
	struct cta *c = focus_cta(x);

	if (!c || warp >= c->warps) {
		say_error(x, "CTA %llu has no warp %llu.", (unsigned long long)x->focus.cta,
			  (unsigned long long)warp);
		return 0;
	}
	if (!c->warp[warp].live)
		say_error(x, "Warp %llu has exited.", (unsigned long long)warp);
	return c->warp[warp].live;
}

/* "3", "0-7 9": lanes. False after a message. */
static bool read_lanes(struct debugger *x, const char *s, u32 *out)
{
	*out = 0;
	while (*s) {
		char *end;
		u64 first = strtoull(s, &end, 0), last = first;

		if (end != s && *end == '-')
			last = strtoull(end + 1, &end, 0);
		if (end == s || (*end && !strchr(" ,", *end)) || last < first ||
		    last >= WARP_LANES) {
			say_error(x, "\"%s\" are not lanes: 0-31, ranges with -.", s);
			return false;
		}
		for (; first <= last; first++)
			*out |= 1u << first;
		s = end + strspn(end, " ,");
	}
	return true;
}

/* "", "warp 2", "lane 3 5-7", "others": a warp of the focus CTA and lanes of it. */
static bool read_unit(struct debugger *x, const char *args, u64 *warp, u32 *lanes)
{
	*warp = x->focus.warp;
	if (!strncmp(args, "warp", 4)) {
		args += 4 + strspn(args + 4, " ");
		if (*args && !debugger_number(x, args, warp))
			return false;
		*lanes = lanes_of_warp(x, *warp);
		return *lanes != 0;
	}
	*lanes = lanes_of_warp(x, *warp);
	if (!*lanes)
		return false;
	if (!strcmp(args, "others")) {
		*lanes &= ~(1u << x->focus.lane);
		return true;
	}
	if (!strncmp(args, "lanes", 5) || !strncmp(args, "lane", 4)) {
		u32 some;

		args += args[4] == 's' ? 5 : 4;
		args += strspn(args, " ");
		if (!*args)
			return *lanes = 1u << x->focus.lane, true;
		if (!read_lanes(x, args, &some))
			return false;
		*lanes &= some;
		if (!*lanes)
			say_error(x, "Those lanes have exited.");
		return *lanes != 0;
	}
	if (!*args)
		return *lanes = 1u << x->focus.lane, true;
	say_error(x, "\"%s\" is neither warp N, lane N nor others.", args);
	return false;
}

static void freeze(struct debugger *x, const struct call *c, bool on)
{
	struct text t = {0};
	u64 warp;
	u32 lanes;

	if (!read_unit(x, c->args, &warp, &lanes))
		return;
	debug_freeze(x->grid, x->focus.cta, (u32)warp, lanes, on);
	x->verdict = DEBUG_TURN;
	say_lanes_mask(debug_frozen(x->grid, x->focus.cta, (u32)warp), &t);
	if (debug_frozen(x->grid, x->focus.cta, (u32)warp))
		say(x, "Frozen in warp %llu: %s.\n", (unsigned long long)warp, t.at);
	else
		say(x, "Nothing is frozen in warp %llu.\n", (unsigned long long)warp);
	text_fini(&t);
}

void command_freeze(struct debugger *x, const struct call *c)
{
	freeze(x, c, true);
}

void command_thaw(struct debugger *x, const struct call *c)
{
	freeze(x, c, false);
}

void command_schedule(struct debugger *x, const struct call *c)
{
	struct debug_preference p = {.cta = UINT64_MAX, .warp = UINT32_MAX};
	u64 warp = x->focus.warp;
	u32 lanes;

	if (!strcmp(c->args, "off")) {
		x->scheduled = false;
		debug_prefer(x->grid, &p);
		say(x, "Warps run in the usual order again.\n");
		return;
	}
	if (!strncmp(c->args, "cta", 3)) {
		p.cta = x->focus.cta;
	} else if (!read_unit(x, *c->args ? c->args : "warp", &warp, &lanes)) {
		return;
	} else {
		p = (struct debug_preference){x->focus.cta, (u32)warp,
					      lanes == lanes_of_warp(x, warp) ? 0 : lanes};
	}
	x->scheduled = true;
	debug_prefer(x->grid, &p);
	if (p.warp == UINT32_MAX)
		say(x, "CTA %llu goes on until it has to wait.\n", (unsigned long long)p.cta);
	else
		say(x, "Warp %u goes on until it has to wait.\n", p.warp);
}

/* ---- jump, return ---- */

/* The micro-op that an instruction of the lane's function begins with; NO_PC: none. */
static u32 pc_of(const struct debugger *x, struct dbg_place at)
{
	const struct program *p = debug_env(x->grid)->program;

	for (u32 pc = 0; pc < p->uops; pc++) {
		struct dbg_place here = loaded_place(p, pc);

		if (here.func == at.func && here.insn == at.insn && exec_is_first(p, pc))
			return pc;
	}
	return NO_PC;
}

/* The lane in focus goes on at a place of its function. False after a message. */
static bool set_pc(struct debugger *x, struct dbg_place to)
{
	struct cta *c = focus_cta(x);
	u32 pc = pc_of(x, to);

	if (!c || pc == NO_PC ||
	    !debug_set_pc(x->grid, c, x->focus.warp, 1u << x->focus.lane, pc)) {
		say_error(x, "Lane %u cannot go on there.", x->focus.lane);
		return false;
	}
	debug_changed(x->grid);
	x->verdict = DEBUG_TURN;
	return true;
}

bool control_jump(struct debugger *x, const char *location, bool dry)
{
	point_places places = {0};
	struct location at;
	struct where w;
	bool found = false, good = false;

	if (!*location) {
		say_error(x, "A line or *FUNCTION+INSTRUCTION is needed.");
		return false;
	}
	if (location_parse(x, location, &at) && focus_where(x, &w) &&
	    location_find(x, &at, &places)) {
		for (size_t i = 0; i < places.len && !found; i++) {
			found = places.at[i].place.func == w.place.func;
			good = found && (dry || set_pc(x, places.at[i].place));
		}
		if (!found)
			say_error(x, "%s is not in the function that lane %u is in.", location,
				  x->focus.lane);
	}
	VEC_FREE(&places);
	location_fini(&at);
	return good;
}

void command_jump(struct debugger *x, const struct call *c)
{
	if (control_jump(x, c->args, false))
		debugger_go(x);
}

/* What the function in focus returns becomes the value of an expression. False after a message. */
static bool set_returned(struct debugger *x, const struct where *w, const char *text)
{
	const struct ir_func *f = w->place.func;
	struct look_evaluated v;
	struct dbg_variable var;
	struct dbg_value place;
	struct dbg_type *type;
	struct text why = {0};
	bool good;

	if (!w->module || !f->rets_len || !returned_variable(w->module, f->rets[0], &var)) {
		say_error(x, "The function returns nothing.");
		return false;
	}
	if (!look_evaluate(x, text, &v))
		return false;
	type = dbg_names_result(w->module->names, f);
	if (type && dbg_type_size(type) <= var.base->size_bytes)
		var.type = type;
	dbg_value_of(&v.c, &var, &place);
	good = dbg_value_set(&v.c, &place, &v.v, &why);
	if (!good)
		look_say_why(x, &why);
	text_fini(&why);
	look_evaluated_fini(&v);
	return good;
}

void command_return(struct debugger *x, const struct call *c)
{
	struct where w;
	u32 i;

	if (!focus_where(x, &w))
		return;
	for (i = 0; i < w.place.func->insns.len; i++) {
		const struct ir_insn *in = &w.place.func->insns.at[i];

		if (ir_opcode(in) == OPCODE_ret && in->guard == IR_NONE)
			break;
	}
	if (i == w.place.func->insns.len)
		say_error(x, "%s has no return of its own.", w.place.func->name->text);
	else if ((!*c->args || set_returned(x, &w, c->args)) &&
		 set_pc(x, (struct dbg_place){w.place.func, i}))
		say(x, "Lane %u returns from %s when it goes on.\n", x->focus.lane,
		    w.module ? dbg_names_function(w.module->names, w.place.func)
			     : w.place.func->name->text);
}
