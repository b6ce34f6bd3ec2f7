/*
 * Why, who and where it stopped, in words.
 */
#include "src/debugger/debugger_int.h"
#include "src/base/demangle.h"
#include "src/debugger/look.h"

#define LAUNCHES_KEPT 1024u
/* Of lanes that wait, when CTAs wait for each other. */
#define WAITING_ROWS 32u

/* Where the parameters of a demangled name begin. */
static size_t name_end(const char *name)
{
	static const char unnamed[] = "(anonymous namespace)";
	size_t i = 0;
	u32 depth = 0;

	while (name[i]) {
		if (!strncmp(name + i, unnamed, sizeof(unnamed) - 1)) {
			i += sizeof(unnamed) - 1;
			continue;
		}
		if (!depth && name[i] == '(')
			break;
		depth += name[i] == '<';
		depth -= depth && name[i] == '>';
		i++;
	}
	return i;
}

void launch_say(const struct launch_row *l, struct text *out)
{
	struct text name = {0};
	const char *blank;
	size_t begin = 0;

	demangle(l->kernel, &name);
	/* Names of templates begin with what they return. */
	while (name.at && (blank = strchr(name.at + begin, ' ')) &&
	       (size_t)(blank - name.at) < begin + strcspn(name.at + begin, "(<"))
		begin = (size_t)(blank - name.at) + 1;
	if (name.at)
		text_add(out, name.at + begin, name_end(name.at + begin));
	text_printf(out, "<<<(%u,%u,%u), (%u,%u,%u)>>>", l->grid[0], l->grid[1], l->grid[2],
		    l->block[0], l->block[1], l->block[2]);
	text_fini(&name);
}

void launches_trim(struct debugger *x)
{
	size_t i = 0;

	while (i < x->launches.len && x->launches.at[i].d)
		i++;
	if (x->launches.len < LAUNCHES_KEPT || i == x->launches.len)
		return;
	x->launches.len--;
	memmove(&x->launches.at[i], &x->launches.at[i + 1],
		(x->launches.len - i) * sizeof(x->launches.at[0]));
}

/* The first stop in a launch says which it is. */
static void say_launch_once(struct debugger *x)
{
	struct text t = {0};

	if (!x->grid || x->run.announced == x->launch)
		return;
	for (size_t i = 0; i < x->launches.len; i++)
		if (x->launches.at[i].number == x->launch) {
			launch_say(&x->launches.at[i], &t);
			if (x->launches.at[i].parent)
				text_printf(&t, ", launched by launch %llu",
					    (unsigned long long)x->launches.at[i].parent);
			say(x, "Launch %llu: %s\n", (unsigned long long)x->launch, t.at);
		}
	x->run.announced = x->launch;
	text_fini(&t);
}

/* "walk, CTA (0,0,0) warp 0, lanes 5 13 (00002020), thread (5,0,0) at fault.cu:20" */
static void say_who(struct debugger *x, const struct frame *f, const struct where *w)
{
	const struct exec_env *e = debug_env(x->grid);
	struct text t = {0};
	u32 id[3];

	text_printf(&t, "%s, CTA ", f->shown.function);
	look_cta_id(e, x->focus.cta, id);
	look_say_id(id, &t);
	text_printf(&t, " warp %u, ", x->focus.warp);
	if (x->at.lanes && x->at.cta == x->focus.cta && x->at.warp == x->focus.warp)
		say_lanes_mask(x->at.lanes, &t);
	else
		text_printf(&t, "lane %u", x->focus.lane);
	text_puts(&t, ", thread ");
	machine_thread(e, x->focus.warp, x->focus.lane, id);
	look_say_id(id, &t);
	text_puts(&t, " at ");
	where_say(w, &t);
	say(x, "%s\n", t.at);
	text_fini(&t);
}

static void say_here(struct debugger *x)
{
	struct cta *c = focus_cta(x);
	struct frame f;
	struct where w;

	if (!c || !focus_where(x, &w) ||
	    !frame_at(x, c, x->focus.warp, x->focus.lane, x->focus.frame, &f))
		return;
	say_who(x, &f, &w);
	source_say_line(x, &w);
}

void stop_say(struct debugger *x, const char *title)
{
	if (x->points.silent)
		return;
	say_launch_once(x);
	/* A title of several lines stands by itself. */
	if (title)
		say(x, strchr(title, '\n') ? "%s" : "%s: ", title);
	say_here(x);
}

/* ---- faults ---- */

static void say_fault_address(struct debugger *x, const struct fault *f)
{
	if (f->kind == FAULT_ILLEGAL_ADDRESS || f->kind == FAULT_MISALIGNED_ADDRESS ||
	    f->kind == FAULT_INVALID_ADDRESS_SPACE)
		say(x, " at 0x%llx", (unsigned long long)f->address);
}

/* Groups of a CTA that wait; polls: set when one could go on. */
static u32 say_waiting_cta(struct debugger *x, const struct cta *c, bool *polls)
{
	struct look_group groups[WARP_LANES + 1];
	u32 rows = 0;

	for (u32 w = 0; c && w < c->warps; w++) {
		u32 n = look_groups(x, c, w, groups);

		for (u32 i = 0; i < n; i++) {
			struct text t = {0};

			if (groups[i].pc == NO_PC)
				continue;
			text_puts(&t, "    ");
			if (c->number != x->at.cta) {
				text_puts(&t, "CTA ");
				look_say_id(c->id, &t);
				text_puts(&t, " ");
			}
			text_printf(&t, "warp %u, ", w);
			say_lanes_mask(groups[i].mask, &t);
			text_printf(&t, ": %s at ",
				    groups[i].state[0] ? groups[i].state : "in a loop");
			where_say(&groups[i].where, &t);
			say(x, "%s\n", t.at);
			text_fini(&t);
			*polls |= !groups[i].state[0];
			rows++;
		}
	}
	return rows;
}

/* Which lanes wait for what: of the CTA, and of others if these wait in loops for each other. */
static void say_waiting(struct debugger *x)
{
	struct cta *c = debug_cta(x->grid, x->at.cta);
	bool polls = false;
	u32 rows = say_waiting_cta(x, c, &polls);

	for (u32 i = 0; polls && (c = debug_resident(x->grid, i)); i++) {
		if (rows >= WAITING_ROWS) {
			say(x, "    ..\n");
			break;
		}
		if (c->number != x->at.cta)
			rows += say_waiting_cta(x, c, &polls);
	}
}

void stop_say_fault(struct debugger *x)
{
	struct text t = {0};

	say_launch_once(x);
	device_fault_headline(x->at.fault, debug_env(x->grid)->program, &t);
	say(x, "%s", t.at);
	say_fault_address(x, x->at.fault);
	say(x, "\n");
	if (x->at.fault->kind == FAULT_DEADLOCK)
		say_waiting(x);
	text_fini(&t);
	say_here(x);
}

void stop_say_idle(struct debugger *x)
{
	struct cta *c = debug_resident(x->grid, 0);

	say_launch_once(x);
	say(x, "Interrupted: all lanes wait for something outside the launch.\n");
	for (u32 w = 0; c && w < c->warps; w++)
		if (c->warp[w].live) {
			x->focus = (struct focus){.valid = true,
						  .launch = x->launch,
						  .cta = c->number,
						  .warp = w,
						  .lane = (u32)__builtin_ctz(c->warp[w].live)};
			break;
		}
	say_here(x);
}
