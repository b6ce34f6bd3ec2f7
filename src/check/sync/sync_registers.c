/*
 * setmaxnreg: all threads of a warpgroup execute the same one, and meet before the next; it is
 * undefined what happens otherwise. PTX ISA "Miscellaneous Instructions: setmaxnreg".
 */
#include "src/check/sync/sync_int.h"
#include "src/uop/async.h"

static bool is_more(const struct uop *in)
{
	return in->group.action == MARK_REGISTERS_MORE;
}

static void begin_registers(struct finding *f, const struct sync_step *s, const char *headline)
{
	sync_begin(f, FINDING_REGISTERS, s->launch, s->cta,
		   s->warp * WARP_LANES + (u32)__builtin_ctz(s->mask), s->pc, false, "setmaxnreg");
	sync_say_head(f, headline);
}

static void report_other(const struct sync_step *s, u32 warp, u32 pc)
{
	struct finding f;

	begin_registers(&f, s, "Warps of a warpgroup execute different setmaxnreg");
	sync_add_side(&f, s->launch, s->cta, warp * WARP_LANES, pc, "setmaxnreg");
	text_puts(&f.text, "    Another one is executed ");
	finding_say_side(&f.side[1], &f.text);
	text_puts(&f.text, "\n    All threads of a warpgroup have to execute the same one.\n");
	sync_add(s->launch, &f);
}

static void check_lanes(const struct sync_step *s)
{
	u32 live = sync_live(s->cta, s->warp);
	struct finding f;

	if (s->mask == live)
		return;
	begin_registers(&f, s, "A part of a warp executes setmaxnreg");
	text_printf(&f.text, "    Lanes %#010x of %#010x execute it; all of a warpgroup have to.\n",
		    s->mask, live);
	sync_add(s->launch, &f);
}

static void check_direction(const struct sync_step *s, const struct sync_warp *w)
{
	u32 wanted = s->in->group.pending;
	struct finding f;

	if (!w->registers || (is_more(s->in) ? wanted >= w->registers : wanted <= w->registers))
		return;
	begin_registers(&f, s, "setmaxnreg in the wrong direction");
	text_printf(&f.text, "    setmaxnreg.%s asks for %u registers; the warp has %u.\n",
		    is_more(s->in) ? "inc" : "dec", wanted, w->registers);
	sync_add(s->launch, &f);
}

static void check_between(const struct sync_step *s, const struct sync_warp *w)
{
	struct finding f;

	if (!w->registers_set || w->meetings_made != w->meetings_then)
		return;
	begin_registers(&f, s, "setmaxnreg again without a barrier of the warpgroup");
	text_puts(&f.text, "    The warps of a warpgroup have to meet between two of them.\n");
	sync_add(s->launch, &f);
}

/*
 * It has no effect where the number at the kernel's entry is not fixed: ptxas 13.0 ignores it then,
 * with a note.
 */
static void check_fixed(const struct sync_step *s)
{
	const struct ir_func *f = s->launch->program->funcs[0].func;
	bool bounds = f->has_perf[IR_MAXNTID] || f->has_perf[IR_REQNTID];
	struct finding x;

	if (s->launch->registers_known)
		return;
	s->launch->registers_known = true;
	if (f->has_perf[IR_MAXNREG] || (bounds && f->has_perf[IR_MINNCTAPERSM]))
		return;
	sync_begin(&x, FINDING_REGISTERS, s->launch, s->cta,
		   s->warp * WARP_LANES + (u32)__builtin_ctz(s->mask), s->pc, true, "setmaxnreg");
	sync_say_head(&x, "setmaxnreg in a kernel without a fixed number of registers");
	text_puts(&x.text,
		  "    It has no effect without .maxnreg (__maxnreg__), .minnctapersm beside "
		  ".maxntid or .reqntid (__launch_bounds__ with two numbers), or "
		  "-maxrregcount.\n");
	sync_add(s->launch, &x);
}

void sync_registers_step(const struct sync_step *s)
{
	struct sync_warp *w = sync_warp_of(s);
	struct sync_register_change *g = &s->cta->change[s->warp / WARPGROUP_WARPS];

	check_fixed(s);
	check_lanes(s);
	check_direction(s, w);
	check_between(s, w);
	w->registers = s->in->group.pending;
	w->registers_set++;
	w->meetings_then = w->meetings_made;
	if (w->registers_set > g->number)
		*g = (struct sync_register_change){w->registers_set, s->pc, s->warp};
	else if (w->registers_set == g->number && g->pc != s->pc)
		report_other(s, g->warp, g->pc);
}

/* The first warp of the group that has executed fewer than others; NO_PC: none. */
static u32 find_missing(const struct sync_cta *c, u32 group)
{
	for (u32 w = group * WARPGROUP_WARPS; w < c->warps && w < (group + 1) * WARPGROUP_WARPS;
	     w++)
		if (c->warp[w].registers_set < c->change[group].number)
			return w;
	return NO_PC;
}

void sync_registers_end(struct sync_launch *l, struct sync_cta *c)
{
	for (u32 i = 0; i < ARRAY_LEN(c->change); i++) {
		const struct sync_register_change *g = &c->change[i];
		u32 missing = find_missing(c, i);
		struct finding f;

		if (missing == NO_PC)
			continue;
		sync_begin(&f, FINDING_REGISTERS, l, c, g->warp * WARP_LANES, g->pc, false,
			   "setmaxnreg");
		sync_say_head(&f, "A part of a warpgroup executes setmaxnreg");
		text_printf(&f.text,
			    "    Warp %u has not executed it; all of the warpgroup have to.\n",
			    missing);
		sync_add(l, &f);
	}
}
