/*
 * `step into FUNCTION`: of the functions that a line calls, one is stepped into and the others are
 * stepped over; and which functions these are.
 */
#include "src/debugger/debugger_int.h"
#include "src/debugger/run/into.h"
#include "src/ir/source.h"

#include <stdlib.h>

/* A line's code is looked for in so many instructions after the lane. */
#define LINE_SPAN 20000u

/* ---- what the line calls ---- */

/* The line of a frame of a lane, and the functions inlined around it. */
struct calling_line {
	const struct frame *f;
	struct dbg_inline in[DBG_INLINE_MAX];
	u32 around; /* functions at its place, the one of the PTX included, from the frame out */
};

static bool same_line(const struct dbg_source *a, const struct dbg_source *b)
{
	return a->line == b->line && a->path && b->path && !strcmp(a->path, b->path);
}

static u32 copies_around(const struct frame *f, struct dbg_place at,
			 struct dbg_inline in[DBG_INLINE_MAX])
{
	u32 n = dbg_names_inlined(f->module->names, at, in);

	return n ? n : dbg_lines_inlined(f->module->m, at, in);
}

/* A name that a location understands, once. False: no memory. */
static bool add_target(step_targets *out, const char *label, const char *location)
{
	struct step_target t;

	for (size_t i = 0; i < out->len; i++)
		if (!strcmp(out->at[i].location, location))
			return true;
	t = (struct step_target){strdup(label), strdup(location)};
	if (t.label && t.location && VEC_PUSH(out, t))
		return true;
	free(t.label);
	free(t.location);
	return false;
}

/* What a call instruction of the line calls, unless that is a header's of the toolkit. */
static bool add_called(struct debugger *x, const struct frame *f, struct dbg_place at,
		       step_targets *out)
{
	const struct ir_insn *in = &at.func->insns.at[at.insn];
	const struct ir_operand *op = &at.func->operands.at[in->first_op];
	const struct ir_func *called = NULL;
	struct where w;

	for (u32 i = 0; ir_opcode(in) == OPCODE_call && i < in->ops && !called; i++)
		if (op[i].kind == IR_OP_FUNC)
			called = f->module->m->funcs.at[op[i].index];
	if (!called)
		return true;
	if (called->has_body) {
		w = where_of(x,
			     (struct dbg_place){called, dbg_lines_body(f->module->lines, called)});
		if (w.module && w.module->has_source && !w.source.path)
			return true;
	}
	return add_target(out, dbg_names_function(f->module->names, called), called->name->text);
}

/* Is the instruction code of the line? It may be that of a function that is inlined there. */
static bool add_of_insn(struct debugger *x, const struct calling_line *l, struct dbg_place at,
			step_targets *out)
{
	struct dbg_frame shown[DBG_INLINE_MAX + 1];
	struct dbg_inline in[DBG_INLINE_MAX];
	const struct frame *f = l->f;
	u32 n = dbg_names_frames(f->module->names, f->module->lines, at, shown), inside;

	if (n < l->around || !same_line(&shown[n - l->around].source, &f->shown.source))
		return true;
	inside = n - l->around;
	copies_around(f, at, in);
	/* The same copy of the function that the line is in. */
	if (l->around > 1 && in[inside].id != l->in[f->shown.inlined].id)
		return true;
	if (!inside)
		return add_called(x, f, at, out);
	if (!shown[inside - 1].function || !shown[inside - 1].source.path ||
	    ir_is_toolkit_path(shown[inside - 1].source.path))
		return true;
	return add_target(out, shown[inside - 1].function, shown[inside - 1].function);
}

bool step_targets_find(struct debugger *x, const struct frame *f, step_targets *out)
{
	struct dbg_frame shown[DBG_INLINE_MAX + 1];
	struct calling_line l = {.f = f};
	u32 n, end;
	bool good = true;

	if (!f->module || !f->shown.source.path || !loaded_open(x, f->module))
		return true;
	n = dbg_names_frames(f->module->names, f->module->lines, f->place, shown);
	l.around = n > f->shown.inlined ? n - f->shown.inlined : 1;
	copies_around(f, f->place, l.in);
	end = (u32)f->place.func->insns.len;
	if (end - f->place.insn > LINE_SPAN)
		end = f->place.insn + LINE_SPAN;
	for (u32 i = f->place.insn; i < end && good; i++)
		good = add_of_insn(x, &l, (struct dbg_place){f->place.func, i}, out);
	return good;
}

void step_targets_free(step_targets *t)
{
	for (size_t i = 0; i < t->len; i++) {
		free(t->at[i].label);
		free(t->at[i].location);
	}
	VEC_FREE(t);
}
