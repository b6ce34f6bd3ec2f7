/*
 * Watchpoints. Memory is compared after every instruction, whatever writes it; registers and other
 * expressions after each instruction of the lane that they are about.
 */
#include "src/debugger/debugger_int.h"
#include "src/debugger/look.h"
#include "src/exec/lane_access.h"

#define WATCH_BYTES_MAX 4096u

enum watch_mode { WATCH_WRITE = 1, WATCH_READ = 2 };

struct watch {
	u8 modes;
	bool scoped;   /* ends with the function that it was set in */
	bool by_value; /* no memory: its value where the lane is, whatever register that is in */
	bool has_old, had_before, has_later;
	bool outside; /* nothing of this launch has run yet */
	u32 levels;   /* functions inlined around the one that it is of, from the outside */
	u64 inlined;  /* that copy of an inlined function; 0: it is of none */
	/* Why it has no value where the lane has come, once that was told; "": it was not. */
	char lost[96];
	u32 calls;
	struct focus focus; /* whose expression it is */
	struct dbg_expr *expr;
	struct dbg_names *names;
	struct dbg_value place; /* what is watched; in a register: its type alone counts */
	struct watch_range range;
	u64 launch;
	u8 old[WATCH_BYTES_MAX];    /* what it was when it was compared last, if has_old */
	u8 before[WATCH_BYTES_MAX]; /* what it was before that changed, if had_before */
	u8 later[WATCH_BYTES_MAX];  /* going back: what the change made of it, if has_later */
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
	free(w);
}

bool watch_uses(const struct watch *w, const struct dbg_names *names)
{
	return w->names == names || (w->expr && dbg_expr_is_foreign(w->expr));
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
	u32 touched = 0;

	if (r->is_register || a->space != r->space)
		return 0;
	if (r->space == MEM_LOCAL && (a->cta->number != r->cta || a->warp != r->warp))
		return 0;
	for (u32 l = 0; l < WARP_LANES; l++) {
		u64 at = a->address[l];

		if (!(a->mask >> l & 1) || (r->space == MEM_LOCAL && l != r->lane))
			continue;
		if (r->space == MEM_SHARED) {
			const struct cta *of =
				shared_owner((struct cta *)a->cta, at >> MEM_SHARED_RANK_SHIFT);

			if (!of || of->number != r->cta)
				continue;
			at &= MEM_SHARED_OFFSET;
		}
		if (at < r->address + r->bytes && r->address < at + a->bytes)
			touched |= 1u << l;
	}
	return touched;
}

bool watch_writes(const struct exec_access *a)
{
	return a->kind == ACCESS_STORE || a->kind == ACCESS_ATOM || a->kind == ACCESS_RED ||
	       a->kind == ACCESS_COPY_WRITE || a->kind == ACCESS_COPY_DONE ||
	       a->kind == ACCESS_MATRIX_STORE;
}

bool watch_reads(const struct exec_access *a)
{
	return a->kind == ACCESS_LOAD || a->kind == ACCESS_ATOM || a->kind == ACCESS_RED ||
	       a->kind == ACCESS_COPY_READ || a->kind == ACCESS_MATRIX_LOAD;
}

/* ---- what is to be compared ---- */

/* Memory that launches have in common. */
static bool is_common(const struct watch *w)
{
	return !w->range.is_register && w->range.space == MEM_GLOBAL;
}

static bool is_watched(const struct debugger *x, const struct point *p)
{
	const struct watch *w = p->watch;

	if (p->kind != POINT_WATCH || !p->enabled || (w->launch != x->launch && !is_common(w)))
		return false;
	/* Registers and local variables are not compared during a call by the debugger. */
	return !x->calls.on || !(w->by_value || w->scoped || w->range.is_register);
}

bool watches_active(struct debugger *x)
{
	bool scans = x->past.kind == PAST_SCAN && x->past.want == PAST_WRITE;

	x->watching = scans || x->counting.on;
	for (size_t i = 0; i < x->points.at.len; i++)
		if (is_watched(x, x->points.at.at[i])) {
			x->watching = true;
			return true;
		}
	return scans;
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

void watches_elsewhere(struct debugger *x)
{
	for (size_t i = 0; i < x->points.at.len; i++)
		if (x->points.at.at[i]->kind == POINT_WATCH)
			x->points.at.at[i]->watch->outside = true;
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

/* Functions inlined around a place, innermost first. */
static u32 inlined_at(const struct dbg_context *c, struct dbg_inline in[DBG_INLINE_MAX])
{
	u32 n = c->names ? dbg_names_inlined(c->names, c->place, in) : 0;

	if (!n && c->names)
		n = dbg_lines_inlined(dbg_names_module(c->names), c->place, in);
	return n;
}

/*
 * What the expression means where the lane is now. False: the lane is outside the function that it
 * is of, which was inlined; *left: at a statement there, and not only amid its instructions.
 */
static bool watch_context(struct debugger *x, const struct watch *w, struct dbg_context *out,
			  bool *left)
{
	struct focus f = w->focus;
	struct dbg_inline in[DBG_INLINE_MAX];
	bool inside;
	u32 n;

	*left = false;
	f.frame = 0;
	if (!context_of(x, &f, out) || !out->names)
		return false;
	n = inlined_at(out, in);
	inside = n >= w->levels && (!w->inlined || in[n - w->levels].id == w->inlined);
	out->inlined = inside ? n - w->levels : 0;
	*left = !inside && place_begins(out->place) &&
		dbg_lines_at(loaded_of(x, out->place.func)->lines, out->place).line;
	return inside;
}

/*
 * The value where the lane is now; it may be in another register than before, or nowhere: then why
 * says so.
 */
static bool watch_value(struct debugger *x, struct watch *w, u8 *out, u64 n, struct text *why)
{
	struct dbg_context c;
	struct dbg_value v, to;
	bool left;

	return watch_context(x, w, &c, &left) && dbg_expr_eval(w->expr, &c, &v, why) &&
	       dbg_value_referred(&c, &v, &to, why) && dbg_type_size(to.type) == w->range.bytes &&
	       dbg_value_read(&c, &to, 0, out, n, why);
}

/* Memory is the same for every lane that has it, at every place. */
static struct dbg_context memory_context(struct debugger *x, const struct watch *w)
{
	const struct watch_range *r = &w->range;

	return (struct dbg_context){.session = x->session,
				    .target = &x->target,
				    .names = w->names,
				    .lane = {x->launch, r->cta, r->warp, r->lane, r->frame}};
}

/* The bits of a bit-field: others share its bytes. */
static bool watch_bits(struct debugger *x, struct watch *w, u8 *out, u64 n)
{
	struct text why = {0};
	struct dbg_context c = memory_context(x, w);
	struct dbg_number bits;
	bool good = dbg_value_number(&c, &w->place, &bits, &why);

	if (good)
		memcpy(out, &bits.bits, min_u64(n, sizeof(bits.bits)));
	text_fini(&why);
	return good;
}

/* Words for what has no value; "": it is not that. */
static const char *watch_no_value(const struct text *why)
{
	static const char begin[] = "the value is ";
	size_t n = sizeof(begin) - 1;

	return why->at && !strncmp(why->at, begin, n) ? why->at + n : "";
}

static bool watch_by_value(struct debugger *x, struct watch *w, u8 *out, u64 n)
{
	struct text why = {0};
	bool good = watch_value(x, w, out, n, &why);

	text_fini(&why);
	return good;
}

static bool watch_bytes(struct debugger *x, struct watch *w, u8 *out)
{
	const struct watch_range *r = &w->range;
	u64 n = min_u64(r->bytes, WATCH_BYTES_MAX);
	struct cta *c;

	if (w->by_value)
		return watch_by_value(x, w, out, n);
	if (w->place.bit_size)
		return watch_bits(x, w, out, n);
	c = debug_cta(x->grid, r->space == MEM_GLOBAL ? x->at.asked_cta : r->cta);
	/* No CTA asks at a fault or before the first instruction. */
	if (!c && r->space == MEM_GLOBAL)
		c = debug_resident(x->grid, 0);
	return c && debug_read_memory(x->grid, c, r->warp < c->warps ? r->warp : 0, r->lane,
				      (enum mem_space)r->space, r->address, out, n);
}

/* A value by the bytes it had: names of the expression may mean nothing where the lane is now. */
static void watch_show(struct debugger *x, const struct watch *w, const u8 *bytes, struct text *out)
{
	struct text why = {0};
	struct dbg_context c = memory_context(x, w);
	struct dbg_value v = {.type = w->place.type, .store = DBG_RVALUE, .data = bytes};
	u64 bits = 0;

	if (!bytes) {
		text_printf(out, "<%s>",
			    *w->lost      ? w->lost
			    : w->by_value ? "not set yet"
					  : "not readable");
		return;
	}
	if (w->place.bit_size) {
		memcpy(&bits, bytes, min_u64(w->range.bytes, sizeof(bits)));
		v = dbg_value_int(w->place.type, bits);
	}
	if (!dbg_value_print(&c, &v, NULL, out, &why))
		text_printf(out, "<%s>", why.at ? why.at : "no memory");
	text_fini(&why);
}

/* Is the lane about to run the next instruction of the function that the value is of? */
static bool watch_lane_runs(const struct debugger *x, const struct watch *w, u32 calls)
{
	return calls == w->calls && x->at.asked_cta == w->focus.cta &&
	       x->at.asked_warp == w->focus.warp && x->at.all_lanes >> w->focus.lane & 1;
}

/* Has it left the function, or the inlined copy of one, that the value is of? */
static bool watch_left(struct debugger *x, const struct watch *w, u32 calls)
{
	struct dbg_context c;
	bool left = false;

	if (calls < w->calls)
		return true;
	if (w->inlined && watch_lane_runs(x, w, calls))
		watch_context(x, w, &c, &left);
	return left;
}

/* A variable is somewhere along the way only; it counts as lost where a statement begins. */
static bool watch_is_lost(struct debugger *x, struct watch *w, const struct text *why)
{
	const char *words = watch_no_value(why);
	struct dbg_context c;
	bool left;

	if (!w->has_old || !*words || !strcmp(words, dbg_answer_text(DBG_NOT_SET)) ||
	    !watch_context(x, w, &c, &left) || !place_begins(c.place))
		return false;
	snprintf(w->lost, sizeof(w->lost), "%s", words);
	return true;
}

/* Is the value other than before? It may be none now. */
static bool watch_value_changed(struct debugger *x, struct watch *w, u8 *now, u64 n)
{
	struct text why = {0};
	bool good = watch_value(x, w, now, n, &why), lost = !good && watch_is_lost(x, w, &why);

	text_fini(&why);
	if (!good && !lost)
		return false;
	if (good && w->has_old && !memcmp(now, w->old, n))
		return false;
	w->had_before = w->has_old;
	memcpy(w->before, w->old, n);
	w->has_old = good;
	if (good)
		memcpy(w->old, now, n);
	return true;
}

/* The lane has left the function; *gone. Else whether its value is other than before. */
static bool watch_changed(struct debugger *x, struct watch *w, bool *gone)
{
	bool of_lane = w->scoped || w->by_value;
	u32 calls = of_lane ? lane_calls(x, w->focus.cta, w->focus.warp, w->focus.lane) : 0;
	u64 n = min_u64(w->range.bytes, WATCH_BYTES_MAX);
	u8 now[WATCH_BYTES_MAX];

	*gone = of_lane && watch_left(x, w, calls);
	if (*gone)
		return false;
	if (w->by_value)
		return watch_lane_runs(x, w, calls) && watch_value_changed(x, w, now, n);
	/* Not everything that writes reports it: tensor copies, the host. */
	if (!(w->modes & WATCH_WRITE) || !watch_bytes(x, w, now) ||
	    (w->has_old && !memcmp(now, w->old, n)))
		return false;
	w->had_before = w->has_old;
	memcpy(w->before, w->old, n);
	memcpy(w->old, now, n);
	w->has_old = true;
	return true;
}

/* "Old value = 1\nNew value = 2\n" */
static void watch_say_change(struct debugger *x, const struct watch *w, const u8 *from,
			     const u8 *to, struct text *out)
{
	text_puts(out, "Old value = ");
	watch_show(x, w, from, out);
	text_puts(out, "\nNew value = ");
	watch_show(x, w, to, out);
	text_puts(out, "\n");
}

static void watch_say_value(struct debugger *x, struct watch *w, struct text *out)
{
	u8 now[WATCH_BYTES_MAX];

	text_puts(out, "Value = ");
	watch_show(x, w, watch_bytes(x, w, now) ? now : NULL, out);
	text_puts(out, "\n");
}

static void watch_report(struct debugger *x, struct point *p, bool changed, struct text *names)
{
	struct watch *w = p->watch;

	text_printf(names, "%s%s %u: %s\n",
		    names->len && names->at[names->len - 1] != '\n' ? ", " : "", point_title(p),
		    p->number, p->text);
	if (changed && w->outside)
		text_puts(names, "It was written before this launch began.\n");
	if (changed)
		watch_say_change(x, w, w->had_before ? w->before : NULL, w->has_old ? w->old : NULL,
				 names);
	else
		watch_say_value(x, w, names);
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

/* The lanes that did it for which the condition holds; none: x->at is as before. */
static u32 watch_stops(struct debugger *x, struct point *p)
{
	struct standing here = x->at;
	u32 holds = 0, by;

	watch_blame(x, p->watch);
	by = x->at.lanes;
	for (u32 l = 0; l < WARP_LANES && p->condition; l++) {
		struct cta *cta = debug_cta(x->grid, x->at.cta);
		struct focus f = {true, x->launch, x->at.cta, x->at.warp, l, 0};
		struct dbg_context c;

		if (!(by >> l & 1))
			continue;
		f.frame = cta ? frame_of_user(x, cta, x->at.warp, l, NULL) : 0;
		if (!context_of(x, &f, &c))
			c = memory_context(x, p->watch);
		if (point_condition(x, p, &c))
			holds |= 1u << l;
	}
	if (!p->condition)
		holds = by;
	if (!holds)
		x->at = here;
	else
		x->at.lanes = holds;
	return holds;
}

static u32 watch_look(struct debugger *x, struct point *p, struct text *names)
{
	struct standing here = x->at;
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
		if (x->at.asked_cta == w->focus.cta && x->at.asked_warp == w->focus.warp &&
		    x->at.all_lanes >> w->focus.lane & 1)
			x->at.lanes = 1u << w->focus.lane;
		point_delete(x, p);
		return x->at.lanes;
	}
	seen = seen && watch_stops(x, p);
	p->hits += seen;
	if (seen && p->ignore) {
		p->ignore--;
		x->at = here;
		seen = false;
	}
	if (seen) {
		watch_report(x, p, changed, names);
		point_note_hit(x, p);
	}
	w->written = w->read = false;
	w->lanes = 0;
	w->outside = false;
	return seen ? x->at.lanes : 0;
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
		if (((changed && p->watch->modes & WATCH_WRITE) ||
		     (p->watch->read && p->watch->modes & WATCH_READ)) &&
		    watch_stops(x, p)) {
			lanes = x->at.lanes;
			*number = p->number;
			p->watch->has_later = p->watch->has_old;
			memcpy(p->watch->later, p->watch->old, sizeof(p->watch->later));
		}
		p->watch->written = p->watch->read = false;
		p->watch->lanes = 0;
	}
	return lanes;
}

void watch_say_back(struct debugger *x, u32 number, struct text *names)
{
	struct point *p = point_find(x, number);
	u8 now[WATCH_BYTES_MAX];
	bool has_now;

	if (!p || p->kind != POINT_WATCH)
		return;
	text_printf(names, "%s %u: %s\n", point_title(p), number, p->text);
	if (p->watch->modes == WATCH_READ) {
		watch_say_value(x, p->watch, names);
		return;
	}
	has_now = watch_bytes(x, p->watch, now);
	watch_say_change(x, p->watch, p->watch->has_later ? p->watch->later : NULL,
			 has_now ? now : NULL, names);
}

/* ---- watch, rwatch, awatch ---- */

/* A local variable's watch ends with its function. */
static bool is_scoped(const struct watch *w)
{
	return w->range.is_register || w->range.space == MEM_LOCAL || w->range.space == MEM_PARAM;
}

/* Is it of the PTX function, as its registers are, whichever function is inlined there? */
static bool is_of_whole(struct watch *w, const struct dbg_context *c, const struct dbg_value *to,
			u32 inlined)
{
	struct dbg_context whole = *c;
	struct text unwanted = {0};
	struct dbg_value v, same;
	bool is;

	whole.inlined = inlined;
	is = dbg_expr_eval(w->expr, &whole, &v, &unwanted) &&
	     dbg_value_referred(&whole, &v, &same, &unwanted) && same.store == to->store &&
	     same.reg == to->reg && same.address == to->address;
	text_fini(&unwanted);
	return is;
}

/* Does it have a value where nothing runs and no name is known? */
static bool has_constant_value(struct debugger *x, const char *text)
{
	struct dbg_context c = {.session = x->session, .dry = true};
	struct text unwanted = {0};
	struct dbg_expr *e = dbg_expr_parse(&c, text, &unwanted);
	struct dbg_value v;
	bool is = e && dbg_expr_eval(e, &c, &v, &unwanted) && v.store == DBG_RVALUE;

	dbg_expr_free(e);
	text_fini(&unwanted);
	return is;
}

static bool watch_open(struct debugger *x, struct watch *w, const char *text, bool location)
{
	struct dbg_inline in[DBG_INLINE_MAX];
	struct text why = {0};
	struct dbg_context c;
	struct dbg_value v, to;
	bool good;
	u32 n;

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
	if (good && to.store == DBG_RVALUE && has_constant_value(x, text)) {
		text_puts(&why, "its value is constant");
		good = false;
	}
	w->by_value = good && to.store != DBG_MEMORY;
	if (w->by_value)
		w->range =
			(struct watch_range){.is_register = true, .bytes = dbg_type_size(to.type)};
	else
		good = good && watch_range_of(x, &c, &to, &w->range, &why);
	if (good)
		w->place = to;
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
		n = inlined_at(&c, in);
		w->levels = c.inlined < n && !is_of_whole(w, &c, &to, n) ? n - c.inlined : 0;
		w->inlined = w->levels && w->scoped ? in[c.inlined].id : 0;
		w->has_old = watch_bytes(x, w, w->old);
	}
	if (!good)
		say_error(x, "Cannot watch %s: %s", text, why.at ? why.at : "no memory");
	text_fini(&why);
	return good;
}

static void watch_make(struct debugger *x, const char *text, const char *condition, bool location,
		       u8 modes)
{
	struct watch *w = calloc(1, sizeof(*w));
	struct point *p;

	if (!w)
		return;
	w->modes = modes;
	if (!watch_open(x, w, text, location) || !(p = point_new(x, POINT_WATCH, text))) {
		watch_free(w);
		return;
	}
	p->watch = w;
	if (!point_set_condition(x, p, condition)) {
		point_unmake(x, p);
		return;
	}
	say(x, "%s %u: %s\n",
	    modes == WATCH_WRITE  ? "Watchpoint"
	    : modes == WATCH_READ ? "Read watchpoint"
				  : "Access watchpoint",
	    p->number, text);
}

static void watch_command(struct debugger *x, const struct call *c, u8 modes)
{
	const char *args = c->args, *condition;
	bool location = false;
	char *text;
	size_t n;

	if (!strncmp(args, "-l", 2)) {
		args += strcspn(args, " ");
		args += strspn(args, " ");
		location = true;
	}
	condition = condition_begin(args);
	n = condition ? (size_t)(condition - args) : strlen(args);
	while (n && args[n - 1] == ' ')
		n--;
	if (!n) {
		say_error(x, "An expression is needed.");
		return;
	}
	text = strndup(args, n);
	if (text)
		watch_make(x, text, condition ? condition + 2 + strspn(condition + 2, " ") : "",
			   location, modes);
	free(text);
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
