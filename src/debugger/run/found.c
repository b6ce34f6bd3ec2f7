/*
 * Findings of checks as stops. A check sees an access when it is about to take place, in the middle
 * of an instruction; so the launch goes on to the end of that instruction and is then put back
 * before it, where it stands with all state as it was. The checks are not told again of what they
 * have seen (src/sched/debug_watch.c).
 */
#include "src/debugger/debugger_int.h"
#include "src/debugger/look.h"
#include "src/dev/memory/watch.h"

#include <stdlib.h>

void founds_fini(struct debugger *x)
{
	for (size_t i = 0; i < x->founds.all.len; i++)
		free(x->founds.all.at[i].text);
	VEC_FREE(&x->founds.all);
	VEC_FREE(&x->founds.waiting);
	pthread_mutex_destroy(&x->founds.lock);
}

/* ---- kinds ---- */

bool found_kind_is_known(const char *word)
{
	if (!*word || !strcmp(word, "error"))
		return true;
	for (u32 i = 0; i < FINDING_KINDS; i++)
		if (!strcmp(word, finding_word((enum finding_kind)i)) ||
		    !strcmp(word, finding_check_word((enum finding_kind)i)))
			return true;
	return false;
}

static bool kind_matches(const char *word, enum finding_kind kind, bool is_warning)
{
	return !*word || (!strcmp(word, "error") && !is_warning) ||
	       !strcmp(word, finding_word(kind)) || !strcmp(word, finding_check_word(kind));
}

/* Does the point stop at findings of that kind? */
static bool point_catches(const struct point *p, enum finding_kind kind, bool is_warning)
{
	const char *word = p->text + strcspn(p->text, " ");

	return p->kind == POINT_EVENT && p->event == EVENT_FINDING && p->enabled &&
	       kind_matches(word + strspn(word, " "), kind, is_warning);
}

/* The number of the catchpoint that it stops at; 0: none. */
static u32 point_for(struct debugger *x, const struct finding *f)
{
	for (size_t i = 0; i < x->points.at.len; i++) {
		struct point *p = x->points.at.at[i];

		if (!point_catches(p, f->kind, f->is_warning))
			continue;
		p->hits++;
		if (!p->ignore)
			return p->number;
		p->ignore--;
	}
	return 0;
}

/* ---- as they are made ---- */

/* "kernel.ptx:34: ld.global.f32 .." */
static void found_insn(const char *insn, struct found *out)
{
	const char *end = strstr(insn, ": "), *begin = end ? end : insn;

	while (begin > insn && begin[-1] != '/')
		begin--;
	snprintf(out->where, sizeof(out->where), "%.*s", end ? (int)(end - begin) : 0, begin);
}

static void found_place(const struct finding *f, struct found *out)
{
	const struct finding_side *s = &f->side[0];
	const char *file = s->place.file;

	if (!f->sides)
		return;
	memcpy(out->thread, s->thread, sizeof(out->thread));
	memcpy(out->block, s->block, sizeof(out->block));
	if (file)
		snprintf(out->where, sizeof(out->where), "%s:%u",
			 strrchr(file, '/') ? strrchr(file, '/') + 1 : file, s->place.line);
	else if (s->place.insn)
		found_insn(s->place.insn, out);
}

/* On the thread that runs launches. */
static bool found_stops(struct debugger *x, const struct finding *f, struct found *new)
{
	u32 point;

	pthread_mutex_lock(&x->lock);
	new->in_launch = x->grid && f->sides && f->side[0].has_thread;
	if (new->in_launch) {
		new->launch = x->launch;
		new->start = debug_start(x->grid);
		new->time = debug_time(x->grid);
		new->time -= new->time > debug_start(x->grid);
	}
	point = new->in_launch && !x->run.detached ? point_for(x, f) : 0;
	if (point) {
		x->founds.point = point;
		__atomic_store_n(&x->run.attentive, true, __ATOMIC_RELEASE);
		debug_ask_soon(x->grid);
	}
	pthread_mutex_unlock(&x->lock);
	return point != 0;
}

/* Other threads of the program do not wait for x->lock, which a stop holds while it lasts. */
static bool on_found(void *user, const struct finding *f)
{
	struct debugger *x = user;
	struct found new = {
		.kind = f->kind, .check = finding_check_word(f->kind), .is_warning = f->is_warning};
	size_t number;
	bool stops;

	new.text = strdup(f->text.at ? f->text.at : "");
	if (!new.text)
		return false;
	found_place(f, &new);
	stops = f->kernel && pthread_equal(pthread_self(), x->founds.thread) &&
		found_stops(x, f, &new);
	pthread_mutex_lock(&x->founds.lock);
	number = x->founds.all.len;
	if (!VEC_PUSH(&x->founds.all, new)) {
		free(new.text);
		stops = false;
	}
	pthread_mutex_unlock(&x->founds.lock);
	return stops && VEC_PUSH(&x->founds.waiting, number);
}

void debugger_checks(struct debugger *x, struct findings *found)
{
	bool any = false;

	x->founds.listener = (struct findings_listener){x, on_found};
	found->listener = &x->founds.listener;
	if (!x->founds.attached)
		return;
	/* A front end that attached did not know. */
	for (size_t i = 0; i < x->points.at.len; i++)
		any |= x->points.at.at[i]->event == EVENT_FINDING;
	if (!any)
		debugger_restore(x, "catch finding\n");
}

/* ---- stops ---- */

/* All of one instruction; `text` of each. */
static void say_found(struct debugger *x, struct text *out)
{
	struct point *p = point_find(x, x->founds.point);

	for (size_t i = 0; i < x->founds.waiting.len; i++) {
		const struct found *f = &x->founds.all.at[x->founds.waiting.at[i]];

		if (!i && p)
			text_printf(out, "%s %u (%s): ", point_title(p), p->number, p->text);
		text_puts(out, f->text);
	}
}

/* The thread that the finding is about, if it is one of those that are about to run. */
static void focus_found(struct debugger *x, const struct found *f)
{
	const struct exec_env *e = debug_env(x->grid);
	u64 number = f->block[0] + (u64)e->grid[0] * (f->block[1] + (u64)e->grid[1] * f->block[2]);
	u32 thread = f->thread[0] + e->block[0] * (f->thread[1] + e->block[1] * f->thread[2]);
	struct cta *c = debug_cta(x->grid, number);

	if (!c || thread / WARP_LANES >= c->warps ||
	    !(c->warp[thread / WARP_LANES].live >> thread % WARP_LANES & 1)) {
		run_focus_stop(x);
		return;
	}
	x->at.cta = number;
	x->at.warp = thread / WARP_LANES;
	x->at.lanes = 1u << thread % WARP_LANES;
	run_focus_stop(x);
}

static enum debug_verdict stop_found(struct debugger *x)
{
	struct founds *w = &x->founds;
	struct text title = {0};
	struct point *p = point_find(x, w->point);
	enum debug_verdict v;

	pthread_mutex_lock(&w->lock);
	say_found(x, &title);
	focus_found(x, &w->all.at[w->waiting.at[0]]);
	pthread_mutex_unlock(&w->lock);
	if (p)
		point_note_hit(x, p);
	w->waiting.len = 0;
	if (w->stays)
		text_puts(&title, "It has gone on to the next instruction, and cannot go back.\n");
	w->stays = false;
	watches_refresh(x);
	x->at.event = "finding";
	snprintf(x->run.next_title, sizeof(x->run.next_title), "%.*s",
		 (int)strcspn(title.at ? title.at : "", "\n"), title.at ? title.at : "");
	stop_say(x, title.at);
	w->shown = title.at;
	v = run_stop(x);
	w->shown = NULL;
	text_fini(&title);
	return v;
}

/* Back before the instruction. */
static bool go_back(struct debugger *x)
{
	u64 time = x->founds.all.at[x->founds.waiting.at[0]].time;
	struct text why = {0};
	bool ok = debug_back(x->grid, time, time, &why);

	text_fini(&why);
	x->founds.stays = !ok;
	return ok;
}

bool found_step(struct debugger *x, enum debug_verdict *v)
{
	u64 time;

	if (!x->founds.waiting.len)
		return false;
	pthread_mutex_lock(&x->founds.lock);
	time = x->founds.all.at[x->founds.waiting.at[0]].time;
	pthread_mutex_unlock(&x->founds.lock);
	if (x->at.time < time)
		*v = DEBUG_GO_ON;
	else if (x->at.time > time && !x->founds.stays && go_back(x))
		*v = DEBUG_BACK;
	else
		*v = stop_found(x);
	return true;
}

bool found_between(struct debugger *x, enum debug_verdict *v)
{
	if (!x->founds.waiting.len)
		return false;
	*v = !x->founds.stays && go_back(x) ? DEBUG_BACK : stop_found(x);
	return *v != DEBUG_GO_ON;
}

/* ---- going back ---- */

/* The catchpoint that stops at one that was made in a launch; NULL: none. */
static struct point *point_of_past(struct debugger *x, const struct found *f)
{
	for (size_t i = 0; f->in_launch && i < x->points.at.len; i++)
		if (point_catches(x->points.at.at[i], f->kind, f->is_warning))
			return x->points.at.at[i];
	return NULL;
}

void founds_between(struct debugger *x, u64 from, u64 until,
		    void (*note)(struct debugger *x, u64 time))
{
	pthread_mutex_lock(&x->founds.lock);
	for (size_t i = 0; i < x->founds.all.len; i++) {
		const struct found *f = &x->founds.all.at[i];

		if (f->time >= from && f->time < until && point_of_past(x, f))
			note(x, f->time);
	}
	pthread_mutex_unlock(&x->founds.lock);
}

bool found_arrive(struct debugger *x, u64 time, struct text *out)
{
	bool any = false;

	pthread_mutex_lock(&x->founds.lock);
	for (size_t i = 0; i < x->founds.all.len; i++) {
		const struct found *f = &x->founds.all.at[i];
		const struct point *p = f->time == time ? point_of_past(x, f) : NULL;

		if (!p)
			continue;
		if (!any) {
			text_printf(out, "%s%s %u (%s): ", out->len ? "\n" : "", point_title(p),
				    p->number, p->text);
			focus_found(x, f);
		}
		any = true;
		text_puts(out, f->text);
	}
	pthread_mutex_unlock(&x->founds.lock);
	return any;
}

/* ---- what checks do not see ---- */

/* What they did not see may have written anything. */
static void count_as_written(struct mem *m)
{
	for (u32 i = 0;; i++) {
		u64 base = 0, size = 0;

		pthread_mutex_lock(&m->lock);
		if (i < m->len) {
			base = m->ranges[i].base;
			size = m->ranges[i].freed ? 0 : m->ranges[i].size;
		}
		pthread_mutex_unlock(&m->lock);
		if (!base)
			return;
		if (size)
			memory_tell_write(base, size);
	}
}

/* What was found after now need not happen again. */
static void forget_times(struct debugger *x)
{
	u64 now = debug_time(x->grid);

	pthread_mutex_lock(&x->founds.lock);
	for (size_t i = 0; i < x->founds.all.len; i++)
		if (x->founds.all.at[i].time >= now)
			x->founds.all.at[i].in_launch = false;
	pthread_mutex_unlock(&x->founds.lock);
}

void found_go(struct debugger *x)
{
	if (!x->grid || !debug_watch_is_lost(x->grid) || x->founds.lost == x->launch)
		return;
	x->founds.lost = x->launch;
	forget_times(x);
	count_as_written(debug_env(x->grid)->mem);
	say(x, "The checks look at nothing more in this launch: what they have seen of it has "
	       "changed.\n");
	debugger_flush(x);
}

/* ---- info findings ---- */

static void say_found_row(struct table *t, size_t i, const struct found *f)
{
	table_put(t, " ");
	table_put(t, "%zu", i + 1);
	table_put(t, "%s%s", f->check, f->is_warning ? ", warning" : "");
	if (f->in_launch)
		table_put(t, "%llu:%llu", (unsigned long long)f->launch,
			  (unsigned long long)(f->time - f->start));
	else
		table_put(t, "%s", "");
	table_put(t, "%s", f->where);
	table_put(t, "%.*s", (int)strcspn(f->text, "\n"), f->text);
}

static void say_founds(struct debugger *x)
{
	static const char *const head[] = {" ", "number", "check", "time", "where", "what"};
	struct table t;

	table_begin(&t, ARRAY_LEN(head));
	for (u32 i = 0; i < ARRAY_LEN(head); i++)
		table_put(&t, "%s", head[i]);
	for (size_t i = 0; i < x->founds.all.len; i++)
		say_found_row(&t, i, &x->founds.all.at[i]);
	table_say(x, &t);
}

void command_info_findings(struct debugger *x, const struct call *c)
{
	struct founds *w = &x->founds;
	u64 n = 0;

	if (*c->args && !debugger_number(x, c->args, &n))
		return;
	pthread_mutex_lock(&w->lock);
	if (*c->args && (!n || n > w->all.len))
		say_error(x, "There is no finding %s.", c->args);
	else if (*c->args)
		say(x, "%s", w->all.at[n - 1].text);
	else if (!w->all.len)
		say(x, "Nothing has been found.\n");
	else
		say_founds(x);
	pthread_mutex_unlock(&w->lock);
}
