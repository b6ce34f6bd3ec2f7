/*
 * Queries of editors: the table, threads, frames, stops.
 */
#include "src/base/file.h"
#include "src/debugger/query/query_int.h"
#include "src/debugger/run/move.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Frames of one reply; recursion may be deeper. */
#define STACK_MAX 1000u

/* ---- JSON ---- */

void json_item(struct json *j)
{
	if (j->more)
		text_puts(j->out, ",");
	j->more = true;
}

void json_open(struct json *j, char bracket)
{
	text_add(j->out, &bracket, 1);
	j->more = false;
}

void json_close(struct json *j, char bracket)
{
	text_add(j->out, &bracket, 1);
	j->more = true;
}

void json_name(struct json *j, const char *name)
{
	json_item(j);
	text_json_string(j->out, name);
	text_puts(j->out, ":");
}

void json_string(struct json *j, const char *name, const char *value)
{
	json_name(j, name);
	text_json_string(j->out, value);
}

void json_number(struct json *j, const char *name, s64 value)
{
	json_name(j, name);
	text_printf(j->out, "%lld", (long long)value);
}

void json_bool(struct json *j, const char *name, bool value)
{
	json_name(j, name);
	text_puts(j->out, value ? "true" : "false");
}

void query_error(struct text *out, const char *format, ...)
{
	struct json j = {.out = out};
	struct text t = {0};
	va_list args;

	va_start(args, format);
	text_vprintf(&t, format, args);
	va_end(args);
	json_open(&j, '{');
	json_string(&j, "error", t.at ? t.at : "");
	json_close(&j, '}');
	text_fini(&t);
}

s64 query_take(const char **args)
{
	char *end;
	s64 n = strtoll(*args, &end, 10);

	if (end == *args)
		return 0;
	*args = end + (*end == ' ');
	return n;
}

/* ---- what numbers stand for ---- */

/* The stop, as a number that differs for others. */
static u64 serial_of(const struct debugger *x)
{
	const struct standing *s = &x->at;

	/* Exact as a double, which is what readers of JSON make of it. */
	return hash_bytes(&(u64[6]){x->launch, s->time, s->kind, s->cta, s->warp, s->lanes},
			  6 * sizeof(u64)) >>
	       12;
}

static void forget_references(struct query_state *q)
{
	for (size_t i = 0; i < q->references.len; i++)
		free(q->references.at[i].text);
	q->references.len = q->threads.len = q->frames.len = 0;
}

void query_free(struct query_state *q)
{
	if (!q)
		return;
	forget_references(q);
	VEC_FREE(&q->references);
	VEC_FREE(&q->threads);
	VEC_FREE(&q->frames);
	VEC_FREE(&q->placed);
	free(q);
}

u32 query_refer(struct debugger *x, enum query_kind kind, const struct focus *f, const char *text)
{
	struct query_reference r = {(u8)kind, *f, text ? strdup(text) : NULL};

	if ((text && !r.text) || !VEC_PUSH(&x->query->references, r)) {
		free(r.text);
		return 0;
	}
	return (u32)x->query->references.len;
}

const struct focus *query_frame(struct debugger *x, s64 id, struct text *out)
{
	const struct query_state *q = x->query;

	if (!x->grid || !x->focus.valid)
		query_error(out, "no kernel runs");
	else if (!id)
		return &x->focus;
	else if (id > 0 && (u64)id <= q->frames.len)
		return &q->frames.at[id - 1];
	else
		query_error(out, "there is no frame %lld any more", (long long)id);
	return NULL;
}

/* ---- threads ---- */

static bool same_focus_group(const struct debugger *x, const struct query_thread *t)
{
	return t->focus.warp == x->focus.warp && t->lanes >> x->focus.lane & 1;
}

/* Groups of one warp; those that stand where a group of an earlier warp does are counted there. */
static void add_warp(struct debugger *x, const struct cta *c, u32 warp, u32 *first_pc)
{
	struct query_state *q = x->query;
	struct debug_group g[WARP_LANES];
	u32 n = debug_groups(x->grid, c, warp, g);

	for (u32 i = 0; i < n; i++) {
		struct query_thread t = {.focus = x->focus, .lanes = g[i].mask, .warps = 1};
		bool merged = false;

		t.focus.warp = warp;
		t.focus.lane = (u32)__builtin_ctz(g[i].mask);
		t.focus.frame = 0;
		if (same_focus_group(x, &t)) {
			t.focus.lane = x->focus.lane;
		} else {
			for (size_t k = 0; !merged && k < q->threads.len; k++)
				if (first_pc[k] == g[i].pc && q->threads.at[k].focus.warp != warp &&
				    !same_focus_group(x, &q->threads.at[k])) {
					q->threads.at[k].warps++;
					merged = true;
				}
		}
		if (!merged && q->threads.len < CTA_WARPS * WARP_LANES && VEC_PUSH(&q->threads, t))
			first_pc[q->threads.len - 1] = g[i].pc;
	}
}

/* The group in focus comes first: it is thread 1. */
static void list_threads(struct debugger *x)
{
	struct query_state *q = x->query;
	const struct cta *c = focus_cta(x);
	u32 *first_pc = c ? calloc(CTA_WARPS * WARP_LANES, sizeof(*first_pc)) : NULL;

	q->threads.len = 0;
	for (u32 w = 0; first_pc && w < c->warps; w++)
		add_warp(x, c, w, first_pc);
	free(first_pc);
	for (size_t i = 1; i < q->threads.len; i++)
		if (same_focus_group(x, &q->threads.at[i])) {
			struct query_thread t = q->threads.at[i];

			memmove(&q->threads.at[1], &q->threads.at[0], i * sizeof(t));
			q->threads.at[0] = t;
		}
}

static void name_thread(struct debugger *x, const struct query_thread *t, struct text *out)
{
	const struct cta *c = focus_cta(x);
	struct frame f;

	if (frame_at(x, c, t->focus.warp, t->focus.lane, 0, &f))
		text_printf(out, "%s ", f.shown.function);
	text_printf(out, "CTA (%u,%u,%u) warp %u lanes ", c->id[0], c->id[1], c->id[2],
		    t->focus.warp);
	say_lanes(t->lanes, out);
	if (t->warps > 1)
		text_printf(out, " and %u more warps", t->warps - 1);
}

/* One row for all other CTAs, which have no numbers of their own. */
static void name_others(struct debugger *x, struct text *out)
{
	u64 total = debug_ctas(x->grid), done = debug_ctas_done(x->grid),
	    unstarted = debug_ctas_unstarted(x->grid);

	text_printf(out, "%llu other resident CTAs, %llu not begun, %llu done",
		    (unsigned long long)(total - done - unstarted - 1),
		    (unsigned long long)unstarted, (unsigned long long)done);
}

static void thread_json(struct json *j, s64 id, struct text *name)
{
	json_item(j);
	json_open(j, '{');
	json_number(j, "id", id);
	json_string(j, "name", name->at ? name->at : "");
	json_close(j, '}');
	name->len = 0;
}

static void query_threads(struct debugger *x, const char *args, struct text *out)
{
	struct query_state *q = x->query;
	struct json j = {.out = out};
	struct text name = {0};

	(void)args;
	list_threads(x);
	json_open(&j, '{');
	json_name(&j, "threads");
	json_open(&j, '[');
	for (size_t i = 0; i < q->threads.len; i++) {
		name_thread(x, &q->threads.at[i], &name);
		thread_json(&j, (s64)i + 1, &name);
	}
	if (q->threads.len && debug_ctas(x->grid) > 1) {
		name_others(x, &name);
		thread_json(&j, (s64)q->threads.len + 1, &name);
	}
	if (!q->threads.len) {
		text_puts(&name, "host");
		thread_json(&j, 1, &name);
	}
	json_close(&j, ']');
	json_close(&j, '}');
	text_fini(&name);
}

/* Threads that were told, or would be; NULL: no thread has this number. */
static const struct query_thread *thread_of(struct debugger *x, s64 id)
{
	struct query_state *q = x->query;

	if (!q->threads.len)
		list_threads(x);
	return id > 0 && (u64)id <= q->threads.len ? &q->threads.at[id - 1] : NULL;
}

/* Commands are about this thread from now on. */
static void query_focus(struct debugger *x, const char *args, struct text *out)
{
	const struct query_thread *t = thread_of(x, query_take(&args));

	if (t && !same_focus_group(x, t))
		x->focus = t->focus;
	text_puts(out, "{}");
}

/* ---- frames ---- */

s64 query_module_number(struct debugger *x, const struct loaded *l)
{
	for (size_t i = 0; i < x->modules.len; i++)
		if (x->modules.at[i] == l)
			return (s64)i + 1;
	return 0;
}

static void add_source(struct json *j, struct debugger *x, const struct frame *f)
{
	const char *path = f->shown.source.path;
	struct text where = {0};

	if (path) {
		text_puts(&where, path);
		json_name(j, "source");
		json_open(j, '{');
		json_string(j, "name", file_base_name(path));
		json_string(j, "path", where.at);
		json_close(j, '}');
		json_number(j, "line", f->shown.source.line);
	} else if (f->module) {
		json_name(j, "source");
		json_open(j, '{');
		json_string(j, "name", f->module->ptx->name);
		json_number(j, "sourceReference", (s64)query_module_number(x, f->module));
		json_close(j, '}');
		json_number(j, "line", loaded_ptx_line(f->module, f->place));
	} else {
		json_number(j, "line", 0);
	}
	json_number(j, "column", f->shown.source.column);
	text_fini(&where);
}

static void add_frame(struct debugger *x, struct json *j, const struct query_thread *t, u32 number,
		      const struct frame *f)
{
	struct query_state *q = x->query;
	struct focus at = t->focus;
	struct text place = {0};

	at.frame = number;
	if (!VEC_PUSH(&q->frames, at))
		return;
	json_item(j);
	json_open(j, '{');
	json_number(j, "id", (s64)q->frames.len);
	json_string(j, "name", f->shown.function);
	add_source(j, x, f);
	if (f->place.func) {
		text_printf(&place, "%s+%u", f->place.func->name->text, f->place.insn);
		json_string(j, "instructionPointerReference", place.at);
	}
	json_close(j, '}');
	text_fini(&place);
}

static void query_stack(struct debugger *x, const char *args, struct text *out)
{
	const struct query_thread *t = thread_of(x, query_take(&args));
	s64 start = query_take(&args), levels = query_take(&args);
	struct frame *frames = t ? calloc(STACK_MAX, sizeof(*frames)) : NULL;
	struct json j = {.out = out};
	u32 n = frames ? frames_of(x, focus_cta(x), t->focus.warp, t->focus.lane, frames, STACK_MAX)
		       : 0;

	json_open(&j, '{');
	json_name(&j, "stackFrames");
	json_open(&j, '[');
	for (s64 i = start < 0 ? 0 : start; i < n && (levels <= 0 || i < start + levels); i++)
		add_frame(x, &j, t, (u32)i, &frames[i]);
	json_close(&j, ']');
	json_number(&j, "totalFrames", n);
	json_close(&j, '}');
	free(frames);
}

/* ---- the stop ---- */

static const char *kind_of_fault(const struct fault *f)
{
	return f->kind == FAULT_DEADLOCK ? "deadlock"
	       : f->kind == FAULT_ASSERT ? "assert"
					 : "fault";
}

/* Why it stands, in the words of the protocol. */
static const char *reason_of(struct debugger *x)
{
	const struct point *p = x->points.hit.len ? point_find(x, x->points.hit.at[0]) : NULL;

	if (x->at.kind == STOPPED_FAULT)
		return "exception";
	if (x->at.kind == STOPPED_IDLE || x->at.interrupted)
		return "pause";
	if (x->at.event)
		return strcmp(x->at.event, "launch") ? "exception" : "entry";
	if (!x->points.hit.len)
		return x->at.kind == STOPPED_LAUNCH ? "entry" : "step";
	return p && p->kind == POINT_WATCH ? "data breakpoint" : "breakpoint";
}

static void query_stop(struct debugger *x, const char *args, struct text *out)
{
	const struct fault *f = x->at.kind == STOPPED_FAULT ? x->at.fault : NULL;
	struct json j = {.out = out};

	(void)args;
	json_open(&j, '{');
	json_number(&j, "serial", (s64)serial_of(x));
	json_string(&j, "reason", reason_of(x));
	if (x->at.event) {
		json_string(&j, "kind", x->at.event);
		json_string(&j, "text", x->founds.shown ? x->founds.shown : x->run.next_title);
	}
	if (f) {
		json_string(&j, "kind", kind_of_fault(f));
		json_string(&j, "description", device_fault_name(f->kind));
		json_string(&j, "text", *f->text ? f->text : device_fault_name(f->kind));
	}
	json_number(&j, "threadId", 1);
	if (x->points.hit.len) {
		json_name(&j, "hitBreakpointIds");
		json_open(&j, '[');
	}
	for (size_t i = 0; i < x->points.hit.len; i++) {
		json_item(&j);
		text_printf(out, "%u", x->points.hit.at[i]);
	}
	if (x->points.hit.len)
		json_close(&j, ']');
	json_close(&j, '}');
}

/* ---- breakpoints ---- */

static void point_row(struct debugger *x, struct json *j, const struct point *p)
{
	struct where w = where_of(x, p->places.at[0].place);

	json_item(j);
	json_open(j, '{');
	json_number(j, "id", p->number);
	json_bool(j, "verified", true);
	if (w.source.path)
		json_number(j, "line", w.source.line);
	json_close(j, '}');
}

static bool was_told(const struct query_state *q, u32 number)
{
	for (size_t i = 0; i < q->placed.len; i++)
		if (q->placed.at[i] == number)
			return true;
	return false;
}

/* Breakpoints that have found their code since this was last asked. */
static void query_new_places(struct debugger *x, const char *args, struct text *out)
{
	struct query_state *q = x->query;
	struct json j = {.out = out};

	(void)args;
	json_open(&j, '{');
	json_name(&j, "breakpoints");
	json_open(&j, '[');
	for (size_t i = 0; i < x->points.at.len; i++) {
		const struct point *p = x->points.at.at[i];

		if (p->kind != POINT_BREAK || !p->places.len || was_told(q, p->number) ||
		    !VEC_PUSH(&q->placed, p->number))
			continue;
		point_row(x, &j, p);
	}
	json_close(&j, ']');
	json_close(&j, '}');
}

/* A message becomes the error of the reply. */
static void jump(struct debugger *x, const char *location, bool dry, struct text *out)
{
	size_t before = x->out.len;
	bool good = control_jump(x, location, dry);

	if (good)
		text_puts(out, "{}");
	else
		query_error(out, "%.*s", (int)strcspn(x->out.at ? x->out.at + before : "", "\n"),
			    x->out.at ? x->out.at + before : "");
	if (x->out.at)
		x->out.at[x->out.len = before] = '\0';
	if (good && !dry)
		forget_references(x->query);
}

static void query_can_jump(struct debugger *x, const char *args, struct text *out)
{
	jump(x, args, true, out);
}

static void query_jump(struct debugger *x, const char *args, struct text *out)
{
	jump(x, args, false, out);
}

static void query_complete(struct debugger *x, const char *args, struct text *out)
{
	struct json j = {.out = out};
	struct text found = {0};
	char *line, *rest;

	debugger_complete(x, args, &found);
	json_open(&j, '{');
	json_name(&j, "targets");
	json_open(&j, '[');
	for (rest = found.at; rest && (line = strsep(&rest, "\n"));) {
		if (!*line)
			continue;
		json_item(&j);
		json_open(&j, '{');
		json_string(&j, "label", line);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	text_fini(&found);
}

/* ---- the table ---- */

static const struct {
	const char *name;
	query_fn *fn;
} queries[] = {
	{"threads", query_threads},
	{"focus", query_focus},
	{"stack", query_stack},
	{"scopes", query_scopes},
	{"variables", query_variables},
	{"evaluate", query_evaluate},
	{"set-variable", query_set_variable},
	{"set-expression", query_set_expression},
	{"expression", query_expression},
	{"memory", query_memory},
	{"write-memory", query_write_memory},
	{"modules", query_modules},
	{"sources", query_sources},
	{"lines", query_lines},
	{"source", query_source},
	{"disassemble", query_disassemble},
	{"stop", query_stop},
	{"new-places", query_new_places},
	{"complete", query_complete},
	{"can-jump", query_can_jump},
	{"jump", query_jump},
	{"step-targets", query_step_targets},
};

void query_answer(struct debugger *x, const char *line, struct text *out)
{
	size_t n = strcspn(line, " ");

	if (!x->query)
		x->query = calloc(1, sizeof(*x->query));
	if (!x->query) {
		query_error(out, "no memory left");
		return;
	}
	if (x->query->serial != serial_of(x)) {
		forget_references(x->query);
		x->query->serial = serial_of(x);
	}
	for (size_t i = 0; i < ARRAY_LEN(queries); i++)
		if (strlen(queries[i].name) == n && !memcmp(queries[i].name, line, n)) {
			queries[i].fn(x, line + n + (line[n] == ' '), out);
			return;
		}
	query_error(out, "there is no query '%.*s'", (int)(n < 40 ? n : 40), line);
}
