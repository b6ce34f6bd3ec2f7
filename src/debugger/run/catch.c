/*
 * Events that stop: launches, faults, deadlocks, lanes that part, barriers, the program's end.
 */
#include "src/debugger/debugger_int.h"

static const char *const event_names[POINT_EVENTS] = {
	[EVENT_LAUNCH] = "launch",     [EVENT_FAULT] = "fault",
	[EVENT_DEADLOCK] = "deadlock", [EVENT_DIVERGENCE] = "divergence",
	[EVENT_ASSERT] = "assert",     [EVENT_BARRIER] = "barrier",
	[EVENT_EXIT] = "exit",         [EVENT_FINDING] = "finding",
};

/* The word is this event's, maybe shortened. */
static bool is_event(u32 event, const char *word, size_t n)
{
	return n >= 2 && (!strncmp(event_names[event], word, n) ||
			  (event == EVENT_FINDING && !strncmp("check", word, n)));
}

/* `catch finding KIND`. Names the point in `text`; false after a message. */
static bool name_point(struct debugger *x, u32 event, const char *kind, char *text, size_t size)
{
	snprintf(text, size, "%s%s%s", event_names[event], *kind ? " " : "", kind);
	if (event != EVENT_FINDING && *kind) {
		say_error(x, "Nothing follows %s: '%s'.", event_names[event], kind);
		return false;
	}
	if (event == EVENT_FINDING && !found_kind_is_known(kind)) {
		say_error(x,
			  "Findings are: race, init, sync, mem, error, or a kind as in JSON; "
			  "not '%s'.",
			  kind);
		return false;
	}
	return true;
}

static void catch_event(struct debugger *x, const struct call *c, bool temporary)
{
	size_t n = strcspn(c->args, " ");
	const char *kind = c->args + n + strspn(c->args + n, " ");
	struct point *p;
	char text[64];
	u32 event = 0;

	while (event < POINT_EVENTS && !is_event(event, c->args, n))
		event++;
	if (event == POINT_EVENTS) {
		say_error(x, "Events are: launch, fault, deadlock, divergence, assert, barrier, "
			     "exit, finding.");
		return;
	}
	if (!name_point(x, event, kind, text, sizeof(text)))
		return;
	p = point_new(x, POINT_EVENT, text);
	if (!p)
		return;
	p->event = (u8)event;
	p->temporary = temporary;
	say(x, "Catchpoint %u (%s)\n", p->number, text);
}

void command_catch(struct debugger *x, const struct call *c)
{
	catch_event(x, c, false);
}

void command_tcatch(struct debugger *x, const struct call *c)
{
	catch_event(x, c, true);
}

bool points_catch_enabled(const struct debugger *x, enum point_event event)
{
	for (size_t i = 0; i < x->points.at.len; i++) {
		const struct point *p = x->points.at.at[i];

		if (p->kind == POINT_EVENT && p->event == event && p->enabled)
			return true;
	}
	return false;
}

bool points_catch_wanted(const struct debugger *x)
{
	return points_catch_enabled(x, EVENT_DIVERGENCE);
}

struct point *points_catch(struct debugger *x, enum point_event event)
{
	for (size_t i = 0; i < x->points.at.len; i++) {
		struct point *p = x->points.at.at[i];

		if (p->kind != POINT_EVENT || p->event != event || !p->enabled)
			continue;
		p->hits++;
		if (!p->ignore) {
			point_note_hit(x, p);
			return p;
		}
		p->ignore--;
	}
	return NULL;
}

bool catch_next(struct debugger *x, enum point_event event)
{
	const struct point *p = points_catch(x, event);

	if (!p)
		return false;
	snprintf(x->run.next_title, sizeof(x->run.next_title), "Catchpoint %u (%s)", p->number,
		 p->text);
	x->run.next_event = event_names[event];
	return true;
}

/* Do any of these lanes of the warp that is asked about live? */
static bool lanes_live(const struct debugger *x, u32 lanes)
{
	const struct cta *c = debug_cta(x->grid, x->at.cta);

	return c && c->warp[x->at.warp].live & lanes;
}

bool catch_divergence(struct debugger *x)
{
	bool same = x->at.cta == x->run.last_cta && x->at.warp == x->run.last_warp;
	u32 now = x->at.all_lanes, before = x->run.last_lanes;

	if (!same || (now & before) != now || now == before || x->at.time <= x->run.last_time ||
	    !points_catch_enabled(x, EVENT_DIVERGENCE) || !lanes_live(x, before & ~now))
		return false;
	return catch_next(x, EVENT_DIVERGENCE);
}
