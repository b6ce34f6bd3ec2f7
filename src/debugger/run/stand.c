/*
 * Standing: the thread that runs a launch serves the front end until a command lets it go on.
 */
#include "src/debugger/look.h"
#include "src/debugger/query/query.h"

/* Output is sent in pieces. */
#define OUTPUT_PIECE (1u << 20)

void debugger_flush(struct debugger *x)
{
	for (size_t at = 0; at < x->out.len && x->fd >= 0; at += OUTPUT_PIECE)
		attachment_send(&x->link, LINK_OUTPUT, x->out.at + at,
				min_u64(x->out.len - at, OUTPUT_PIECE));
	if (x->fd >= 0)
		x->out.len = 0;
}

/* Displays and stops that have changed. */
static void send_state(struct debugger *x)
{
	struct text now = {0};

	debugger_state(x, &now);
	if (now.len != x->state.len || (now.len && memcmp(now.at, x->state.at, now.len) != 0)) {
		attachment_send(&x->link, LINK_STATE, now.at ? now.at : "", now.len);
		text_fini(&x->state);
		x->state = now;
		return;
	}
	text_fini(&now);
}

static void send_done(struct debugger *x)
{
	struct text t = {0};
	struct where w;

	debugger_flush(x);
	send_state(x);
	if (x->collecting) {
		text_puts(&t, "more");
	} else if (!x->grid || !focus_where(x, &w)) {
		text_puts(&t, "host");
	} else {
		text_printf(&t, "stopped %s\t%u\t%s\t%u", w.source.path ? w.source.path : "",
			    w.source.line, w.module ? w.module->ptx->name : "", w.ptx_line);
	}
	if (x->failed)
		text_puts(&t, "\tfailed");
	attachment_send(&x->link, LINK_DONE, t.at, t.len);
	text_fini(&t);
}

static void send_completions(struct debugger *x, const char *line)
{
	struct text t = {0};

	debugger_complete(x, line, &t);
	attachment_send(&x->link, LINK_COMPLETIONS, t.at ? t.at : "", t.len);
	text_fini(&t);
}

/* What an editor asks. */
static void send_answer(struct debugger *x, const char *query)
{
	struct text t = {0};

	query_answer(x, query, &t);
	attachment_send(&x->link, LINK_JSON, t.at ? t.at : "", t.len);
	text_fini(&t);
	/* Names that were opened may have had something to say. */
	debugger_flush(x);
}

/* Returns whether the program is to go on. */
static bool serve_frame(struct debugger *x, const struct link_frame *f)
{
	switch (f->kind) {
	case LINK_COMMAND:
		if (debugger_run(x, f->payload).outcome == DEBUGGER_GO) {
			debugger_flush(x);
			send_state(x);
			attachment_send(&x->link, LINK_RUNS, "", 0);
			return true;
		}
		send_done(x);
		return false;
	case LINK_COMPLETE:
		send_completions(x, f->payload);
		return false;
	case LINK_QUERY:
		send_answer(x, f->payload);
		return false;
	default: /* an interrupt while it stands, a state too late */
		return false;
	}
}

/* Commands of the stops that it came to; returns whether one lets the program go on. */
static bool run_stop_commands(struct debugger *x)
{
	char *line;
	bool go = false;

	while (!go && (line = blocks_next(x))) {
		go = debugger_run(x, line).outcome == DEBUGGER_GO;
		free(line);
	}
	if (go)
		points_drop_commands(x);
	return go;
}

enum debug_verdict debugger_stand(struct debugger *x)
{
	struct link_frame f;
	bool go;

	x->verdict = DEBUG_GO_ON;
	__atomic_store_n(&x->link.interrupted, false, __ATOMIC_RELEASE);
	if (x->calls.on && !x->points.silent)
		say(x,
		    "Lane %u stands in %s, which the debugger calls: continue goes on with it.\n",
		    x->calls.lane, x->calls.name);
	go = run_stop_commands(x);
	/* What is shown may call functions, as commands do. */
	x->depth++;
	if (!go && x->grid)
		displays_show(x);
	x->depth--;
	if (!go) {
		send_done(x);
	} else {
		debugger_flush(x);
		send_state(x);
	}
	while (!go && attachment_receive(&x->link, &f)) {
		go = serve_frame(x, &f);
		link_frame_fini(&f);
	}
	attachment_wait_printed(&x->link);
	return x->verdict;
}
