/*
 * Watchpoints. Memory is compared after every instruction, whatever writes it; registers and other
 * expressions after each instruction of the lane that they are about.
 */
#include "src/debugger/debugger_int.h"
#include "src/debugger/look.h"

#define WATCH_BYTES_MAX 4096u

enum watch_mode { WATCH_WRITE = 1, WATCH_READ = 2 };

struct watch {
	u8 modes;
	bool scoped;   /* ends with the function that it was set in */
	bool by_value; /* no memory: its value where the lane is, whatever register that is in */
	bool has_old;
	bool outside; /* nothing of this launch has run yet */
	u32 levels;   /* functions inlined around the one that it is of, from the outside */
	u32 calls;
	struct focus focus; /* whose expression it is */
	struct dbg_expr *expr;
	struct dbg_names *names;
	struct watch_range range;
	u64 launch;
	u8 old[WATCH_BYTES_MAX];
	struct text shown; /* the value as it was printed last */
	/* An access has been seen: by whom, and of what kind. */
	bool written, read;
	u64 cta;
	u32 warp, lanes;
};

void watch_free(struct watch *w)
{
	if (!w)
		return;
	dbg_expr_free(w->expr);
	text_fini(&w->shown);
	free(w);
}

const char *watch_type(const struct watch *w)
{
	return w && w->modes == WATCH_READ  ? "read watchpoint"
	       : w && w->modes & WATCH_READ ? "acc watchpoint"
					    : "hw watchpoint";
}

/* ---- ranges ---- */

/* A generic address in its own space. */
static void range_of_generic(const struct mem *m, struct watch_range *r)
{
	if (r->address - m->shared_base < MEM_SHARED_WINDOW) {
		r->space = MEM_SHARED;
		r->address = (r->address - m->shared_base) & MEM_SHARED_OFFSET;
	} else if (r->address - m->local_base < MEM_LOCAL_WINDOW) {
		r->space = MEM_LOCAL;
		r->address -= m->local_base;
	} else {
		r->space = MEM_GLOBAL;
	}
}

bool watch_range_of(struct debugger *x, const struct dbg_context *c, const struct dbg_value *v,
		    struct watch_range *out, struct text *why)
{
	*out = (struct watch_range){.bytes = dbg_type_size(v->type),
				    .cta = c->lane.cta,
				    .warp = c->lane.warp,
				    .lane = c->lane.lane,
				    .frame = c->lane.frame,
				    .address = v->address};
	if (v->store == DBG_REGISTER) {
		out->is_register = true;
		out->func = c->place.func;
		out->reg = v->reg;
		return true;
	}
	if (v->store != DBG_MEMORY || !out->bytes) {
		text_puts(why, v->store == DBG_NO_VALUE
				       ? v->why_not
				       : "it is neither in memory nor in a register");
		return false;
	}
	switch ((enum dbg_space)v->space) {
	case DBG_SHARED:
		out->space = MEM_SHARED;
		out->address &= MEM_SHARED_OFFSET;
		return true;
	case DBG_LOCAL:
		out->space = MEM_LOCAL;
		return true;
	case DBG_PARAM:
		out->space = MEM_PARAM;
		return true;
	case DBG_GENERIC:
		range_of_generic(debug_env(x->grid)->mem, out);
		return true;
	default:
		out->space = MEM_GLOBAL;
		return true;
	}
}

u32 watch_range_touched(const struct watch_range *r, const struct exec_access *a)
{
	u64 bytes = (u64)a->size * a->count;
	u32 touched = 0;

	if (a->kind == ACCESS_MATRIX_LOAD || a->kind == ACCESS_MATRIX_STORE)
		bytes = 16;
	if (r->is_register || a->space != r->space)
		return 0;
	if (r->space == MEM_SHARED && a->cta->number != r->cta && !a->cta->cluster)
		return 0;
	if (r->space == MEM_LOCAL && (a->cta->number != r->cta || a->warp != r->warp))
		return 0;
	for (u32 l = 0; l < WARP_LANES; l++) {
		u64 at = a->address[l];

		if (!(a->mask >> l & 1) || (r->space == MEM_LOCAL && l != r->lane))
			continue;
		if (r->space == MEM_SHARED)
			at &= MEM_SHARED_OFFSET;
		if (at < r->address + r->bytes && r->address < at + bytes)
			touched |= 1u << l;
	}
	return touched;
}

bool watch_writes(const struct exec_access *a)
{
	return a->kind == ACCESS_STORE || a->kind == ACCESS_ATOM || a->kind == ACCESS_RED ||
	       a->kind == ACCESS_COPY_WRITE || a->kind == ACCESS_MATRIX_STORE;
}

bool watch_reads(const struct exec_access *a)
{
	return a->kind == ACCESS_LOAD || a->kind == ACCESS_ATOM || a->kind == ACCESS_RED ||
	       a->kind == ACCESS_COPY_READ || a->kind == ACCESS_MATRIX_LOAD;
}

/* ---- what is to be compared ---- */

static bool is_watched(const struct debugger *x, const struct point *p)
{
	const struct watch *w = p->watch;

	if (p->kind != POINT_WATCH || !p->enabled || w->launch != x->launch)
		return false;
	/* Registers and local variables are not compared during a call by the debugger. */
	return !x->calls.on || !(w->by_value || w->scoped || w->range.is_register);
}

bool watches_active(struct debugger *x)
{
	x->watching = x->past.kind == PAST_SCAN && x->past.want == PAST_WRITE;
	for (size_t i = 0; i < x->points.at.len; i++)
		if (is_watched(x, x->points.at.at[i])) {
			x->watching = true;
			return true;
		}
	return x->watching;
}

void watches_access(struct debugger *x, const struct exec_access *a)
{
	if (x->past.kind == PAST_SCAN && x->past.want == PAST_WRITE)
		past_access(x, a);
	for (size_t i = 0; i < x->points.at.len; i++) {
		struct point *p = x->points.at.at[i];
		u32 lanes;

		if (!is_watched(x, p) || !(lanes = watch_range_touched(&p->watch->range, a)))
			continue;
		p->watch->written |= watch_writes(a);
		p->watch->read |= watch_reads(a);
		p->watch->cta = a->cta->number;
		p->watch->warp = a->warp;
		p->watch->lanes = lanes;
	}
}

/* Global memory lives on; what belonged to lanes of an earlier launch is gone. */
void watches_launch(struct debugger *x)
{
	for (size_t i = 0; i < x->points.at.len;) {
		struct point *p = x->points.at.at[i];

		if (p->kind == POINT_WATCH && p->watch->launch != x->launch) {
			if (p->watch->range.is_register || p->watch->range.space != MEM_GLOBAL) {
				say(x, "Watchpoint %u deleted: its launch has ended.\n", p->number);
				point_delete(x, p);
				continue;
			}
			p->watch->launch = x->launch;
			p->watch->outside = true;
		}
		i++;
	}
}

/* ---- comparing ---- */

/* What the expression means where the lane is now. */
static bool watch_context(struct debugger *x, const struct watch *w, struct dbg_context *out)
{
	struct focus f = w->focus;
	struct dbg_inline in[DBG_INLINE_MAX];
	u32 n;

	f.frame = 0;
	if (!context_of(x, &f, out) || !out->names)
		return false;
	n = dbg_names_inlined(out->names, out->place, in);
	if (!n)
		n = dbg_lines_inlined(dbg_names_module(out->names), out->place, in);
	out->inlined = n - w->levels;
	return n >= w->levels;
}

/* The value where the lane is now; it may be in another register than before, or nowhere. */
static bool watch_value(struct debugger *x, struct watch *w, u8 *out, u64 n)
{
	struct text why = {0};
	struct dbg_context c;
	struct dbg_value v, to;
	bool good = watch_context(x, w, &c) && dbg_expr_eval(w->expr, &c, &v, &why) &&
		    dbg_value_referred(&c, &v, &to, &why) &&
		    dbg_type_size(to.type) == w->range.bytes &&
		    dbg_value_read(&c, &to, 0, out, n, &why);

	text_fini(&why);
	return good;
}

static bool watch_bytes(struct debugger *x, struct watch *w, u8 *out)
{
	const struct watch_range *r = &w->range;
	u64 n = min_u64(r->bytes, WATCH_BYTES_MAX);
	struct cta *c;

	if (w->by_value)
		return watch_value(x, w, out, n);
	c = debug_cta(x->grid, r->space == MEM_GLOBAL ? x->at.asked_cta : r->cta);
	return c && debug_read_memory(x->grid, c, r->warp < c->warps ? r->warp : 0, r->lane,
				      (enum mem_space)r->space, r->address, out, n);
}

/* The frame that knows the names: the write may come from a function that was called from there. */
static bool watch_frame(struct debugger *x, const struct watch *w, struct dbg_context *out)
{
	struct focus f = w->focus;
	struct text why = {0};
	struct dbg_value v;
	bool found = false;

	for (f.frame = 0; f.frame < DBG_INLINE_MAX && !found && context_of(x, &f, out); f.frame++) {
		found = dbg_expr_eval(w->expr, out, &v, &why);
		why.len = 0;
	}
	text_fini(&why);
	return found || context_of(x, &w->focus, out);
}

static void watch_show(struct debugger *x, struct watch *w, struct text *out)
{
	struct text why = {0};
	struct dbg_context c;
	struct dbg_value v;

	if (!(w->by_value ? watch_context(x, w, &c) : watch_frame(x, w, &c)) &&
	    w->range.space == MEM_GLOBAL)
		c = (struct dbg_context){
			.session = x->session, .target = &x->target, .names = w->names};
	if (!dbg_expr_eval(w->expr, &c, &v, &why) || !dbg_value_print(&c, &v, NULL, out, &why)) {
		out->len = 0;
		text_printf(out, "<%s>", why.at ? why.at : "no memory");
	}
	text_fini(&why);
}

/* Is the lane about to run the next instruction of the function that the value is of? */
static bool watch_is_due(struct debugger *x, const struct watch *w, u32 calls)
{
	/* Not everything that writes reports it: tensor copies, the host. */
	if (!w->by_value)
		return w->modes & WATCH_WRITE;
	return calls == w->calls && x->at.asked_cta == w->focus.cta &&
	       x->at.asked_warp == w->focus.warp && x->at.all_lanes >> w->focus.lane & 1;
}

/* The lane has left the function; *gone. Else whether its value is other than before. */
static bool watch_changed(struct debugger *x, struct watch *w, bool *gone)
{
	u32 calls = w->scoped || w->by_value
			    ? lane_calls(x, w->focus.cta, w->focus.warp, w->focus.lane)
			    : 0;
	u64 n = min_u64(w->range.bytes, WATCH_BYTES_MAX);
	u8 now[WATCH_BYTES_MAX];
	bool had = w->has_old;

	*gone = (w->scoped || w->by_value) && calls < w->calls;
	if (*gone || !watch_is_due(x, w, calls) || !watch_bytes(x, w, now))
		return false;
	w->has_old = true;
	if (had && !memcmp(now, w->old, n))
		return false;
	memcpy(w->old, now, n);
	return true;
}

static void watch_report(struct debugger *x, struct point *p, bool changed, struct text *names)
{
	struct watch *w = p->watch;
	struct text now = {0};

	watch_show(x, w, &now);
	text_printf(names, "%s%s %u: %s\n",
		    names->len && names->at[names->len - 1] != '\n' ? ", " : "", point_title(p),
		    p->number, p->text);
	if (changed && w->outside)
		text_puts(names, "It was written before this launch began.\n");
	if (changed)
		text_printf(names, "Old value = %s\nNew value = %s\n", w->shown.at, now.at);
	else
		text_printf(names, "Value = %s\n", now.at);
	text_fini(&w->shown);
	w->shown = now;
}

/* Who did it: the lanes of the access, or those that ran last. */
static void watch_blame(struct debugger *x, const struct watch *w)
{
	bool by_access = w->lanes != 0;

	if (w->outside)
		return;
	x->at.cta = by_access ? w->cta : x->run.last_cta;
	x->at.warp = by_access ? w->warp : x->run.last_warp;
	x->at.lanes = by_access ? w->lanes : w->by_value ? 1u << w->focus.lane : x->run.last_lanes;
	x->at.pc = x->run.last_pc;
}

static u32 watch_look(struct debugger *x, struct point *p, struct text *names)
{
	struct watch *w = p->watch;
	bool changed = false, gone = false, seen;

	if (w->modes & WATCH_WRITE || w->scoped)
		changed = watch_changed(x, w, &gone);
	seen = (changed && w->modes & WATCH_WRITE) || (w->read && w->modes & WATCH_READ) ||
	       (w->written && w->modes == (WATCH_READ | WATCH_WRITE));
	if (gone) {
		text_printf(names,
			    "%sWatchpoint %u deleted because the program has left the block in\n"
			    "which its expression is valid.\n",
			    names->len ? "\n" : "", p->number);
		point_delete(x, p);
		return x->at.lanes;
	}
	w->written = w->read = false;
	if (!seen) {
		w->lanes = 0;
		w->outside = false;
		return 0;
	}
	if (p->condition) {
		struct dbg_context c;

		if (context_of(x, &w->focus, &c) && !point_condition(x, p, &c))
			return 0;
	}
	p->hits++;
	if (p->ignore) {
		p->ignore--;
		return 0;
	}
	watch_blame(x, w);
	watch_report(x, p, changed, names);
	point_note_hit(x, p);
	w->lanes = 0;
	w->outside = false;
	return x->at.lanes;
}

u32 watches_check(struct debugger *x, struct text *names)
{
	u32 lanes = 0;

	for (size_t i = 0; i < x->points.at.len;) {
		struct point *p = x->points.at.at[i];

		if (is_watched(x, p))
			lanes |= watch_look(x, p, names);
		i += i < x->points.at.len && x->points.at.at[i] == p;
	}
	return lanes;
}

void watches_refresh(struct debugger *x)
{
	for (size_t i = 0; i < x->points.at.len; i++) {
		struct point *p = x->points.at.at[i];

		if (!is_watched(x, p))
			continue;
		p->watch->has_old = watch_bytes(x, p->watch, p->watch->old);
		p->watch->written = p->watch->read = false;
		p->watch->lanes = 0;
	}
}

u32 watches_scan(struct debugger *x, u32 *number)
{
	u32 lanes = 0;

	for (size_t i = 0; i < x->points.at.len; i++) {
		struct point *p = x->points.at.at[i];
		bool gone, changed;

		if (!is_watched(x, p))
			continue;
		changed = watch_changed(x, p->watch, &gone);
		if ((changed && p->watch->modes & WATCH_WRITE) ||
		    (p->watch->read && p->watch->modes & WATCH_READ)) {
			watch_blame(x, p->watch);
			lanes = x->at.lanes;
			*number = p->number;
		}
		p->watch->written = p->watch->read = false;
		p->watch->lanes = 0;
	}
	return lanes;
}

void watch_say_back(struct debugger *x, u32 number, struct text *names)
{
	struct point *p = point_find(x, number);
	struct text now = {0};

	if (!p || p->kind != POINT_WATCH)
		return;
	watch_show(x, p->watch, &now);
	text_printf(names, "Watchpoint %u: %s\nOld value = %s\nNew value = %s\n", number, p->text,
		    p->watch->shown.at, now.at);
	text_fini(&p->watch->shown);
	p->watch->shown = now;
}

/* ---- watch, rwatch, awatch ---- */

/* A local variable's watch ends with its function. */
static bool is_scoped(const struct watch *w)
{
	return w->range.is_register || w->range.space == MEM_LOCAL || w->range.space == MEM_PARAM;
}

/* Functions inlined around the one that the context is of. */
static u32 levels_at(const struct dbg_context *c)
{
	struct dbg_inline in[DBG_INLINE_MAX];
	u32 n = c->names ? dbg_names_inlined(c->names, c->place, in) : 0;

	if (!n && c->names)
		n = dbg_lines_inlined(dbg_names_module(c->names), c->place, in);
	return c->inlined < n ? n - c->inlined : 0;
}

static bool watch_open(struct debugger *x, struct watch *w, const char *text, bool location)
{
	struct text why = {0};
	struct dbg_context c;
	struct dbg_value v, to;
	bool good;

	good = context_of(x, &x->focus, &c);
	if (!good)
		text_puts(&why, "no lane is in focus");
	w->expr = good ? dbg_expr_parse(&c, text, &why) : NULL;
	good = w->expr && !dbg_expr_calls(w->expr);
	if (w->expr && !good)
		text_puts(&why, "what functions return cannot be watched");
	good = good && dbg_expr_eval(w->expr, &c, &v, &why) &&
	       dbg_value_referred(&c, &v, &to, &why);
	if (good && !dbg_type_size(to.type)) {
		text_puts(&why, "its size is not known");
		good = false;
	}
	w->by_value = good && to.store != DBG_MEMORY;
	if (w->by_value)
		w->range =
			(struct watch_range){.is_register = true, .bytes = dbg_type_size(to.type)};
	else
		good = good && watch_range_of(x, &c, &to, &w->range, &why);
	if (good && w->range.bytes > WATCH_BYTES_MAX) {
		text_printf(&why, "it has %llu bytes, at most %u can be watched",
			    (unsigned long long)w->range.bytes, WATCH_BYTES_MAX);
		good = false;
	}
	w->focus = x->focus;
	w->names = c.names;
	w->launch = x->launch;
	w->scoped = good && !location && is_scoped(w);
	w->calls = lane_calls(x, x->focus.cta, x->focus.warp, x->focus.lane) -
		   (good ? c.lane.frame : 0);
	if (good) {
		w->levels = levels_at(&c);
		w->has_old = watch_bytes(x, w, w->old);
		watch_show(x, w, &w->shown);
	}
	if (!good)
		say_error(x, "Cannot watch %s: %s", text, why.at ? why.at : "no memory");
	text_fini(&why);
	return good;
}

static void watch_command(struct debugger *x, const struct call *c, u8 modes)
{
	const char *args = c->args;
	struct watch *w;
	struct point *p;
	bool location = false;

	if (!strncmp(args, "-l", 2)) {
		args += strcspn(args, " ");
		args += strspn(args, " ");
		location = true;
	}
	if (!*args) {
		say_error(x, "An expression is needed.");
		return;
	}
	w = calloc(1, sizeof(*w));
	if (!w)
		return;
	w->modes = modes;
	if (!watch_open(x, w, args, location) || !(p = point_new(x, POINT_WATCH, args))) {
		watch_free(w);
		return;
	}
	p->watch = w;
	say(x, "%s %u: %s\n",
	    modes == WATCH_WRITE  ? "Watchpoint"
	    : modes == WATCH_READ ? "Read watchpoint"
				  : "Access watchpoint",
	    p->number, args);
}

void command_watch(struct debugger *x, const struct call *c)
{
	watch_command(x, c, WATCH_WRITE);
}

void command_rwatch(struct debugger *x, const struct call *c)
{
	watch_command(x, c, WATCH_READ);
}

void command_awatch(struct debugger *x, const struct call *c)
{
	watch_command(x, c, WATCH_READ | WATCH_WRITE);
}
