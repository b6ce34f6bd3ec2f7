/*
 * Under a debugger: copies of the launch now and then, going back to them, and doing again what the
 * debugger did.
 *
 * A copy has the resident CTAs as they are, and the pages of memory that are written before the
 * next copy. Copies are made so often that they cost a twentieth of the time; when they are too
 * many every second one goes. Whether and when they are made changes nothing in what the launch
 * does.
 */
#include "src/base/clock.h"
#include "src/sched/debug_int.h"

#include <stdlib.h>

/* The shortest time between copies, and how much longer than one copy it is. */
#define INTERVAL_NS 10000000u
#define COPY_PART 20u
/* Bytes of memory that are kept once, for each byte that copies may take. */
#define MEMORY_PART 4u
/* Instructions between two looks at the clock. */
#define CHECK_STEP 32768u

/* ---- deeds ---- */

static void drop_deeds(struct debug_grid *d)
{
	while (d->deeds.len > d->deeds_done)
		free(d->deeds.at[--d->deeds.len].data);
}

void debug_note(struct debug_grid *d, struct debug_deed deed)
{
	u8 *data = NULL;

	if (d->call && deed.kind != DEED_TURN && deed.kind != DEED_PREFER)
		debug_calling_touched(d);
	if (!d->history.on || d->call)
		return;
	/* What was done later the last time is not going to be. */
	drop_deeds(d);
	if (deed.data) {
		data = malloc(deed.bytes ? deed.bytes : 1);
		if (data)
			memcpy(data, deed.data, deed.bytes);
	}
	deed.time = d->time;
	deed.between = !d->gang;
	if ((deed.data && !data) || !VEC_PUSH(&d->deeds, deed)) {
		free(data);
		debug_cannot_repeat(d, "the host had no memory to note what was changed");
		return;
	}
	d->deeds.at[d->deeds.len - 1].data = data;
	d->deeds_done = d->deeds.len;
}

static void do_again(struct debug_grid *d, const struct debug_deed *x)
{
	struct cta *c = debug_cta(d, x->cta);

	switch ((enum debug_deed_kind)x->kind) {
	case DEED_TURN:
		break;
	case DEED_FREEZE:
		debug_set_frozen(d, x->cta, x->warp, x->lanes, x->freeze);
		break;
	case DEED_PREFER:
		d->cursor.prefer = x->prefer;
		d->cursor.others = false;
		break;
	case DEED_JUMP:
		if (c)
			debug_jump(d, c, x->warp, x->lanes, x->pc);
		break;
	case DEED_REGISTER:
		if (c)
			debug_put_register(d, c, x->warp, x->lanes, &x->frame, x->reg, x->data,
					   (u32)x->bytes);
		break;
	case DEED_MEMORY:
		if (c)
			debug_put_memory(d, c, x->warp, x->lanes, (enum mem_space)x->space,
					 x->address, x->data, x->bytes);
		break;
	case DEED_CALL:
		if (c)
			debug_call_again(d, c, x);
		break;
	}
}

/* Is there something to do again, in a turn or between turns? */
static const struct debug_deed *next_deed(const struct debug_grid *d, bool between)
{
	const struct debug_deed *x = &d->deeds.at[d->deeds_done];

	return d->deeds_done < d->deeds.len && x->time <= d->time && x->between == between ? x
											   : NULL;
}

bool debug_repeat_between(struct debug_grid *d)
{
	const struct debug_deed *x;
	bool any = false;

	while ((x = next_deed(d, true))) {
		d->deeds_done++;
		do_again(d, x);
		any = true;
	}
	return any;
}

/* Lanes that were left out then are left out again. */
static void repeat_in_turn(struct debug_grid *d)
{
	const struct debug_deed *x;

	while (!d->changed && (x = next_deed(d, false))) {
		d->deeds_done++;
		do_again(d, x);
		d->changed |= x->kind == DEED_TURN;
	}
}

/* ---- when to look ---- */

static void set_alarm(struct debug_grid *d)
{
	const struct debug_history *h = &d->history;

	d->alarm = (d->time / h->check_step + 1) * h->check_step;
	if (!d->step && h->quiet_until < d->alarm)
		d->alarm = h->quiet_until;
	if (d->deeds_done < d->deeds.len && d->deeds.at[d->deeds_done].time < d->alarm)
		d->alarm = d->deeds.at[d->deeds_done].time;
	if (h->on && (d->careful || h->reset))
		d->alarm = 0;
}

void debug_wake(struct debug_grid *d)
{
	d->step = d->hooks->step;
}

/* Which of the times at which there is a look that is, or comes next. */
static u64 look_number(const struct debug_grid *d)
{
	u64 step = d->history.check_step;

	return (d->time + step - 1) / step - (d->start + step - 1) / step;
}

/* Does the launch do what it did the last time? */
static void check_chain(struct debug_grid *d)
{
	struct debug_history *h = &d->history;
	u64 n = look_number(d);

	if (d->time % h->check_step || !h->on)
		return;
	if (n < h->chains.len)
		h->differs |= h->chains.at[n] != d->chain;
	else if (n == h->chains.len)
		VEC_PUSH(&h->chains, d->chain);
}

/* ---- copies ---- */

void debug_drop_copies(struct debug_history *h, size_t from)
{
	while (h->copies.len > from) {
		struct debug_copy *c = &h->copies.at[--h->copies.len];

		h->bytes -= c->bytes + c->pages.len * (MEM_HOST_PAGE + sizeof(struct debug_page));
		debug_copy_free(c);
	}
}

static void switch_off(struct debug_grid *d, const char *why)
{
	debug_drop_copies(&d->history, 0);
	d->history.on = false;
	d->history.why = why;
}

static size_t copy_bytes(const struct debug_copy *c)
{
	return c->bytes + c->pages.len * (MEM_HOST_PAGE + sizeof(struct debug_page));
}

static void count_bytes(struct debug_history *h)
{
	h->bytes = 0;
	for (size_t i = 0; i < h->copies.len; i++)
		h->bytes += copy_bytes(&h->copies.at[i]);
}

/* Every second copy goes, neither the first nor the last. */
static void thin_out(struct debug_history *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->copies.len; i++) {
		struct debug_copy *c = &h->copies.at[i];

		if (i % 2 && i + 1 < h->copies.len) {
			debug_pages_merge(&h->copies.at[n - 1].pages, &c->pages);
			debug_copy_free(c);
		} else {
			h->copies.at[n++] = *c;
		}
	}
	h->copies.len = n;
	h->interval_ns *= 2;
}

void debug_thin_out(struct debug_grid *d, u64 bytes)
{
	struct debug_history *h = &d->history;

	count_bytes(h);
	while (h->bytes > bytes && h->copies.len > 2) {
		thin_out(h);
		count_bytes(h);
	}
}

/* What is too much even so: the oldest go. */
static void keep_within(struct debug_grid *d)
{
	struct debug_history *h = &d->history;
	u64 limit;

	count_bytes(h);
	limit = debug_earlier_fit(d, h->bytes);
	debug_thin_out(d, limit);
	while (h->bytes > limit && h->copies.len > 1) {
		debug_copy_free(&h->copies.at[0]);
		memmove(h->copies.at, h->copies.at + 1, --h->copies.len * sizeof(*h->copies.at));
		h->why = "older states take more memory than may be kept";
		debug_earlier_forget(d, h->why);
		count_bytes(h);
	}
}

static void make_copy(struct debug_grid *d, struct gang *g, u32 pc)
{
	struct debug_history *h = &d->history;
	struct debug_copy *last = h->copies.len ? &h->copies.at[h->copies.len - 1] : NULL, c;
	const struct exec_env *e = &d->grid->launch.env;
	u64 begin = clock_ns(), limit = MEMORY_PART * d->hooks->history_bytes;
	struct debug_pages *old = last ? &last->pages : debug_earlier_pages(d);

	if (last && last->time == d->time && last->gang)
		return;
	if (!debug_memory_note(h->memory, e, old, limit)) {
		/* Memory has gone, or it is too much: once more, without what was before. */
		if (last)
			h->why = "memory of the device was freed during the launch";
		debug_earlier_forget(d, last ? h->why
					     : "memory of the device was freed before this launch");
		debug_drop_copies(h, 0);
		debug_memory_free(h->memory);
		if (!debug_memory_note(h->memory, e, NULL, limit)) {
			debug_memory_free(h->memory);
			switch_off(d, "the memory of the device is more than may be kept");
			return;
		}
	}
	if (!VEC_RESERVE(&h->copies, 1) || !debug_copy_take(d, g, pc, &c)) {
		debug_earlier_forget(d, "the host has no memory for copies");
		switch_off(d, "the host has no memory for copies");
		return;
	}
	h->copies.at[h->copies.len++] = c;
	keep_within(d);
	h->made_ns = clock_ns();
	h->cost_ns = h->made_ns - begin;
}

/* From now on there is no going back before this time. */
static void restart(struct debug_grid *d, struct gang *g, u32 pc, const char *why)
{
	struct debug_history *h = &d->history;

	debug_drop_copies(h, 0);
	h->chains.len = 0;
	h->why = why;
	h->reset = NULL;
	if (why && h->memory)
		debug_earlier_forget(d, why);
	if (h->on)
		make_copy(d, g, pc);
}

bool debug_memory_is_same(struct debug_grid *d)
{
	struct debug_history *h = &d->history;

	if (h->on)
		make_copy(d, NULL, 0);
	return h->copies.len > 1 && !h->copies.at[h->copies.len - 2].pages.len;
}

void debug_copy_amend(struct debug_grid *d)
{
	struct debug_history *h = &d->history;
	struct debug_copy *c = h->copies.len ? &h->copies.at[h->copies.len - 1] : NULL;

	if (c && !c->gang && c->time == d->time)
		c->cursor = d->cursor;
}

static bool is_due(const struct debug_history *h)
{
	u64 wait = h->cost_ns * COPY_PART;

	/* 0: tests want one each time. */
	return !h->interval_ns ||
	       clock_ns() - h->made_ns > (wait > h->interval_ns ? wait : h->interval_ns);
}

/* Functions of the device runtime that do the same when they are called again. */
bool debug_is_unique(const struct program_extern *x)
{
	for (const char *const *name = exec_extern_names; *name; name++)
		if (!strcmp(*name, x->name))
			return false;
	return true;
}

/* Did the last instruction do what cannot be done twice? */
static bool was_unique(const struct debug_grid *d, const struct gang *g)
{
	const struct program *p = g->env->program;
	u32 pc = d->last_pc;

	for (; d->time && pc < p->uops && p->uop[pc].ir == p->uop[d->last_pc].ir &&
	       p->uop[pc].func == p->uop[d->last_pc].func;
	     pc++)
		if (p->uop[pc].inner == OP_extern &&
		    debug_is_unique(&p->externs[p->uop[pc].call.callee]))
			return true;
	return false;
}

void debug_alarm(struct debug_grid *d, struct gang *g, u32 pc)
{
	struct debug_history *h = &d->history;

	if (d->careful && was_unique(d, g))
		h->reset = "a kernel has launched others, or called the host";
	if (h->on && h->reset)
		restart(d, g, pc, h->reset);
	d->last_pc = pc;
	check_chain(d);
	repeat_in_turn(d);
	if (!d->step && d->time >= h->quiet_until)
		debug_wake(d);
	if (h->on && !d->changed && is_due(h))
		make_copy(d, g, pc);
	set_alarm(d);
}

void debug_time_begin(struct debug_grid *d, const char *why)
{
	struct debug_history *h = &d->history;

	h->memory = d->grid->pool->debug_memory;
	h->on = h->memory && d->hooks->history_bytes;
	if (!why && h->memory)
		d->start = d->time = d->latest = h->memory->earlier.clock;
	h->interval_ns = INTERVAL_NS;
	h->check_step = CHECK_STEP;
	restart(d, NULL, 0, why);
	set_alarm(d);
}

void debug_time_end(struct debug_grid *d)
{
	debug_pages_free(&d->redo);
	switch_off(d, "the launch has ended");
	VEC_FREE(&d->history.copies);
	VEC_FREE(&d->history.chains);
}

void debug_cannot_repeat(struct debug_grid *d, const char *why)
{
	d->history.reset = why;
	set_alarm(d);
}

/* ---- going back ---- */

static struct debug_copy *copy_until(const struct debug_grid *d, u64 time)
{
	const struct debug_history *h = &d->history;
	size_t i = h->copies.len;

	while (i && h->copies.at[i - 1].time > time)
		i--;
	return h->on && i ? &h->copies.at[i - 1] : NULL;
}

bool debug_back(struct debug_grid *d, u64 time, u64 quiet_until, struct text *why)
{
	struct debug_history *h = &d->history;
	struct debug_grid *to = h->memory && !h->reset ? debug_earlier_find(d, time) : NULL;

	if (!to) {
		text_printf(why, "%s",
			    h->reset ? h->reset
			    : h->why ? h->why
			    : !h->on ? "no states are kept to go back to"
				     : "the launch begins here");
		return false;
	}
	h->back_to = to;
	to->history.back_time = time;
	h->quiet_until = to->history.quiet_until = quiet_until;
	return true;
}

bool debug_goes_forward(struct debug_grid *d)
{
	struct debug_history *h = &d->history;

	if (!h->back_to || h->back_to == d || !debug_is_later(h->back_to, d))
		return false;
	h->back_to = NULL;
	d->step = NULL;
	set_alarm(d);
	return true;
}

/* It goes on as it was at its last copy. */
static void resume_copy(struct debug_grid *d)
{
	struct debug_history *h = &d->history;

	debug_copy_put(d, &h->copies.at[h->copies.len - 1]);
	d->changed = d->ended = d->waits = false;
	d->last_pc = NO_PC;
	d->new_to_step = true;
	h->made_ns = clock_ns();
	d->step = d->time < h->quiet_until ? NULL : d->hooks->step;
	set_alarm(d);
}

void debug_begin_again(struct debug_grid *d, u64 quiet_until)
{
	d->history.quiet_until = quiet_until;
	resume_copy(d);
}

void debug_restore(struct debug_grid *d)
{
	struct debug_grid *to = d->history.back_to;
	struct debug_copy *c =
		to && !debug_goes_forward(d) ? copy_until(to, to->history.back_time) : NULL;

	d->history.back_to = NULL;
	if (!c)
		return;
	if (d->time > d->latest)
		d->latest = d->time;
	debug_earlier_undo(d, to, (size_t)(c - to->history.copies.at));
	resume_copy(to);
}

static const struct debug_grid *first_kept(const struct debug_grid *d)
{
	const struct debug_memory *m = d->history.memory;

	return d->history.on && m->earlier.at.len && !d->history.reset ? m->earlier.at.at[0] : d;
}

u64 debug_first(const struct debug_grid *d)
{
	const struct debug_history *h = &first_kept(d)->history;

	return h->on && h->copies.len && !h->reset ? h->copies.at[0].time : d->time;
}

u64 debug_start(const struct debug_grid *d)
{
	return d->start;
}

bool debug_same_history(const struct debug_grid *a, const struct debug_grid *b)
{
	return a->grid->pool == b->grid->pool;
}

const char *debug_why_first(const struct debug_grid *d)
{
	const struct debug_grid *x = first_kept(d);

	return x->history.why || !x->history.memory ? x->history.why
						    : x->history.memory->earlier.why;
}

bool debug_copy_before(const struct debug_grid *d, u64 time, u64 *at)
{
	const struct debug_grid *x =
		time && d->history.memory ? debug_earlier_find(d, time - 1) : NULL;
	const struct debug_copy *c = x ? copy_until(x, time - 1) : NULL;

	if (c)
		*at = c->time;
	return c != NULL;
}

/* Launches after it will not be what they were. */
static void change_later(struct debug_grid *d)
{
	struct debug_earlier *e = &d->history.memory->earlier;

	for (size_t i = 0; i <= e->at.len; i++) {
		struct debug_grid *x = i < e->at.len ? e->at.at[i] : e->now;

		if (!x || x == d || !debug_is_later(x, d))
			continue;
		x->latest = x->start;
		x->history.chains.len = 0;
		drop_deeds(x);
		x->watch.lost = true;
	}
}

void debug_changed(struct debug_grid *d)
{
	struct debug_history *h = &d->history;

	if (d->call)
		return;
	debug_watch_changed(d);
	d->latest = d->time;
	drop_deeds(d);
	if (h->memory)
		change_later(d);
	if (h->chains.len > look_number(d))
		h->chains.len = look_number(d);
}

u64 debug_latest(const struct debug_grid *d)
{
	return d->latest > d->time ? d->latest : d->time;
}

bool debug_differs(const struct debug_grid *d)
{
	return d->history.differs;
}
