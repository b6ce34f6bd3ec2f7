/*
 * Frames of a lane: calls of PTX functions, and in each the functions that are inlined there; and
 * what expressions are evaluated in.
 */
#include "src/debugger/debugger_int.h"
#include "src/debugger/run/move.h"
#include "src/ir/leaving.h"

struct cta *focus_cta(const struct debugger *x)
{
	return x->grid && x->focus.valid ? debug_cta(x->grid, x->focus.cta) : NULL;
}

/* The instruction of a call's frame: the call under way, else the one to run. */
static struct dbg_place frame_place(const struct debugger *x, const struct debug_frame *f)
{
	return loaded_place(debug_env(x->grid)->program, f->pc);
}

static u32 add_inlined(struct debugger *x, const struct debug_frame *f, struct frame *out, u32 max)
{
	struct dbg_frame in[DBG_INLINE_MAX + 1];
	struct frame base = {.call = *f, .place = frame_place(x, f)};
	u32 n;

	base.module = loaded_of(x, base.place.func);
	if (!base.module) {
		base.shown = (struct dbg_frame){.function = f->func->func->name->text};
		out[0] = base;
		return 1;
	}
	n = dbg_names_frames(base.module->names, base.module->lines, base.place, in);
	for (u32 i = 0; i < n && i < max; i++) {
		out[i] = base;
		out[i].shown = in[i];
	}
	return n < max ? n : max;
}

u32 frames_of(struct debugger *x, const struct cta *c, u32 warp, u32 lane, struct frame *out,
	      u32 max)
{
	struct debug_frame *calls = calloc(max, sizeof(*calls));
	u32 n = calls ? debug_frames(x->grid, c, warp, lane, calls, max) : 0, len = 0;

	for (u32 i = 0; i < n && len < max; i++)
		len += add_inlined(x, &calls[i], out + len, max - len);
	free(calls);
	return len;
}

bool frame_at(struct debugger *x, const struct cta *c, u32 warp, u32 lane, u32 number,
	      struct frame *out)
{
	struct frame few[DBG_INLINE_MAX + 1], *all = few;
	u32 max = number < ARRAY_LEN(few) ? ARRAY_LEN(few) : DEBUG_FRAMES_MAX, n;

	if (max > ARRAY_LEN(few))
		all = calloc(max, sizeof(*all));
	n = all ? frames_of(x, c, warp, lane, all, max) : 0;
	if (number < n)
		*out = all[number];
	if (all != few)
		free(all);
	return number < n;
}

/* The frame's line; of what users have not written, the line of theirs that has called it. */
static bool lane_where(struct debugger *x, const struct cta *c, const struct focus *at,
		       struct where *out)
{
	u32 i = at->frame;
	struct frame f;

	for (; frame_at(x, c, at->warp, at->lane, i, &f); i++) {
		struct where w = where_near(x, f.place);

		/* An outer function's line is that of the call in it. */
		if (f.shown.source.path && f.shown.inlined > where_frame(&w))
			w.source = f.shown.source;
		if (i == at->frame)
			*out = w;
		if (!w.module || !w.module->has_source || w.source.path) {
			if (w.source.path)
				out->source = w.source;
			return true;
		}
	}
	return i > at->frame;
}

/* More calls than this into code without lines are not looked through. */
#define USER_FRAMES 64u

u32 frame_of_user(struct debugger *x, const struct cta *c, u32 warp, u32 lane, struct frame *out)
{
	struct frame *all = calloc(USER_FRAMES, sizeof(*all));
	u32 n = all ? frames_of(x, c, warp, lane, all, USER_FRAMES) : 0, i = 0, found = 0;

	while (i < n) {
		struct where w = where_near(x, all[i].place);
		u32 first = i;

		if (w.source.path && first + where_frame(&w) < n) {
			found = first + where_frame(&w);
			break;
		}
		while (i < n && all[i].call.depth == all[first].call.depth)
			i++;
	}
	if (out && n)
		*out = all[found];
	free(all);
	return found;
}

bool focus_where(struct debugger *x, struct where *out)
{
	struct cta *c = focus_cta(x);

	return c && lane_where(x, c, &x->focus, out);
}

/*
 * Does a block begin here that has its line from the one above it in the text? nvcc says nothing of
 * the jumps that it puts at reconvergence points: lanes that wait there may have skipped that line.
 */
static bool line_is_of_above(const struct where *w)
{
	const struct ir_insn *in = w->place.func ? w->place.func->insns.at : NULL;
	u32 i = w->place.insn;

	return w->source.path && i && i < w->place.func->insns.len && in[i].loc == in[i - 1].loc &&
	       ir_leaving(&in[i - 1]) != IR_GOES_ON && ir_leaving(&in[i]) != IR_GOES_ON;
}

/* The next line that begins. */
static void take_next_line(struct where *w)
{
	struct dbg_place at = w->place;
	struct dbg_source next = {0};

	while (!next.path && ++at.insn < at.func->insns.len)
		if (place_begins(at))
			next = dbg_lines_step(w->module->lines, at, NULL);
	if (next.path)
		w->source = next;
}

struct where where_of_lane(struct debugger *x, const struct cta *c, u32 warp, u32 lane,
			   struct dbg_place at)
{
	struct focus f = {.warp = warp, .lane = lane};
	struct where w = where_of(x, at);

	if (!w.source.path && w.module && w.module->has_source)
		lane_where(x, c, &f, &w);
	else if (w.module && line_is_of_above(&w))
		take_next_line(&w);
	return w;
}

/* ---- expressions ---- */

bool context_of(struct debugger *x, const struct focus *f, struct dbg_context *out)
{
	const struct cta *c = x->grid && f->valid ? debug_cta(x->grid, f->cta) : NULL;
	struct frame at;

	*out = (struct dbg_context){.session = x->session};
	if (!c || !frame_at(x, c, f->warp, f->lane, f->frame, &at))
		return false;
	out->target = &x->target;
	out->lane = (struct dbg_lane){f->launch, f->cta, f->warp, f->lane, at.call.depth};
	out->names = at.module ? at.module->names : NULL;
	out->place = at.place;
	out->inlined = at.shown.inlined;
	return true;
}

void context_now(struct debugger *x, struct dbg_context *out)
{
	if (context_of(x, &x->focus, out) || !x->modules.len)
		return;
	/* Types and variables of the program are there without a lane, too. */
	if (loaded_open(x, x->modules.at[0]))
		out->names = x->modules.at[0]->names;
	/* Between launches a program still has its devices' memory. */
	out->target = x->grid || x->fd >= 0 ? &x->target : NULL;
}
