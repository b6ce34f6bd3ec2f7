/*
 * The list of breakpoints, watchpoints and catchpoints.
 */
#include "src/debugger/debugger_int.h"
#include "src/debugger/run/watch.h"

struct point *point_new(struct debugger *x, enum point_kind kind, const char *text)
{
	struct point *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->kind = (u8)kind;
	p->enabled = true;
	p->text = strdup(text);
	p->number = x->points.next + 1;
	if (!p->text || !VEC_PUSH(&x->points.at, p)) {
		free(p->text);
		free(p);
		return NULL;
	}
	x->points.next++;
	x->points.stale = true;
	debugger_set_variable(x, "bpnum", p->number);
	return p;
}

static void point_free(struct point *p)
{
	location_fini(&p->at);
	dbg_expr_free(p->expr);
	VEC_FREE(&p->places);
	for (size_t i = 0; i < p->commands.len; i++)
		free(p->commands.at[i]);
	VEC_FREE(&p->commands);
	watch_free(p->watch);
	free(p->text);
	free(p->print);
	free(p->condition);
	free(p);
}

struct point *point_find(struct debugger *x, u32 number)
{
	for (size_t i = 0; i < x->points.at.len; i++)
		if (x->points.at.at[i]->number == number)
			return x->points.at.at[i];
	return NULL;
}

void point_delete(struct debugger *x, struct point *p)
{
	size_t i = 0;

	while (i < x->points.at.len && x->points.at.at[i] != p)
		i++;
	if (i == x->points.at.len)
		return;
	x->points.at.len--;
	memmove(&x->points.at.at[i], &x->points.at.at[i + 1],
		(x->points.at.len - i) * sizeof(x->points.at.at[0]));
	x->points.stale = true;
	point_free(p);
}

void points_forget(struct debugger *x, const struct dbg_names *names)
{
	for (size_t i = 0; i < x->points.at.len;) {
		struct point *p = x->points.at.at[i];

		if (p->expr && (p->expr_names == names || dbg_expr_is_foreign(p->expr))) {
			dbg_expr_free(p->expr);
			p->expr = NULL;
			p->expr_names = NULL;
		}
		if (p->watch && watch_uses(p->watch, names)) {
			say(x, "Watchpoint %u deleted: its code is no longer loaded.\n", p->number);
			point_delete(x, p);
			continue;
		}
		i++;
	}
}

void points_drop_commands(struct debugger *x)
{
	for (size_t i = 0; i < x->points.commands.len; i++)
		free(x->points.commands.at[i]);
	x->points.commands.len = 0;
}

void points_fini(struct debugger *x)
{
	while (x->points.at.len)
		point_delete(x, x->points.at.at[0]);
	VEC_FREE(&x->points.at);
	points_drop_commands(x);
	VEC_FREE(&x->points.commands);
	VEC_FREE(&x->points.hit);
}

const char *point_title(const struct point *p)
{
	static const char *const titles[] = {"Breakpoint", "Watchpoint", "Catchpoint"};

	if (p->print)
		return "Dprintf";
	return p->kind == POINT_BREAK && p->temporary ? "Temporary breakpoint" : titles[p->kind];
}

void point_note_hit(struct debugger *x, struct point *p)
{
	x->points.silent = p->silent && (x->points.silent || !x->points.hit.len);
	VEC_PUSH(&x->points.hit, p->number);
	x->points.last_hit = p->number;
	debugger_set_variable(x, "bpnum", p->number);
	for (size_t i = 0; i < p->commands.len; i++) {
		char *line = strdup(p->commands.at[i]);

		if (line && !VEC_PUSH(&x->points.commands, line))
			free(line);
	}
}

/* A temporary one that has stopped is kept only until the program goes on. */
static bool is_spent(const struct debugger *x, const struct point *p)
{
	for (size_t i = 0; p->temporary && i < x->points.hit.len; i++)
		if (x->points.hit.at[i] == p->number)
			return true;
	return false;
}

void points_hits_forget(struct debugger *x)
{
	for (size_t i = 0; i < x->points.hit.len; i++) {
		struct point *p = point_find(x, x->points.hit.at[i]);

		if (p && p->temporary)
			point_delete(x, p);
	}
	x->points.hit.len = 0;
	x->points.silent = false;
}

char *points_next_command(struct debugger *x)
{
	char *line;

	if (!x->points.commands.len)
		return NULL;
	line = x->points.commands.at[0];
	x->points.commands.len--;
	memmove(x->points.commands.at, x->points.commands.at + 1,
		x->points.commands.len * sizeof(line));
	return line;
}

/* ---- numbers in arguments ---- */

typedef void point_action(struct debugger *x, struct point *p);

/* "3", "2-4", "$bpnum": the points from first to last. False after a message. */
static bool read_range(struct debugger *x, const char **at, u64 *first, u64 *last)
{
	char *end;

	if (**at == '$') {
		size_t n = strcspn(*at, " \t");
		char *word = strndup(*at, n);
		bool good = word && debugger_number(x, word, first);

		free(word);
		*last = *first;
		*at += n;
		return good;
	}
	*first = *last = strtoull(*at, &end, 10);
	if (end != *at && *end == '-') {
		*at = end + 1;
		*last = strtoull(*at, &end, 10);
	}
	if (end == *at || (*end && *end != ' ' && *end != '\t' && *end != ',')) {
		say_error(x, "Bad breakpoint argument: '%s'", *at);
		return false;
	}
	*at = end + strspn(end, " \t,");
	return true;
}

static void do_to_range(struct debugger *x, u64 first, u64 last, point_action *action)
{
	bool any = false;

	for (size_t i = 0; i < x->points.at.len;) {
		struct point *p = x->points.at.at[i];
		size_t before = x->points.at.len;

		if (p->number >= first && p->number <= last) {
			any = true;
			action(x, p);
		}
		i += x->points.at.len == before;
	}
	if (!any)
		say_error(x, "No breakpoint number %llu.", (unsigned long long)first);
}

/* Do it to the points that args name; to all of them when it names none. */
static void do_to_points(struct debugger *x, const char *args, point_action *action)
{
	u64 first, last;

	if (!strncmp(args, "breakpoints", 11))
		args += 11 + strspn(args + 11, " \t");
	if (!*args && x->points.at.len)
		do_to_range(x, 0, UINT64_MAX, action);
	while (*args && read_range(x, &args, &first, &last))
		do_to_range(x, first, last, action);
	x->points.stale = true;
}

static void action_enable(struct debugger *x PL_UNUSED, struct point *p)
{
	p->enabled = true;
}

static void action_disable(struct debugger *x PL_UNUSED, struct point *p)
{
	p->enabled = false;
}

void command_delete(struct debugger *x, const struct call *c)
{
	do_to_points(x, c->args, point_delete);
}

void command_enable(struct debugger *x, const struct call *c)
{
	do_to_points(x, c->args, action_enable);
}

void command_disable(struct debugger *x, const struct call *c)
{
	do_to_points(x, c->args, action_disable);
}

/* ---- conditions, counts, commands ---- */

/* The point whose number args begin with; *rest is what follows. NULL after a message. */
static struct point *take_point(struct debugger *x, const char *args, const char **rest)
{
	u64 number, last;
	struct point *p;

	*rest = args;
	if (!*args) {
		say_error(x, "Argument required (breakpoint number).");
		return NULL;
	}
	if (!read_range(x, rest, &number, &last))
		return NULL;
	p = number <= UINT32_MAX ? point_find(x, (u32)number) : NULL;
	if (!p)
		say_error(x, "No breakpoint number %llu.", (unsigned long long)number);
	return p;
}

/* Can the condition be read? It is where its names are known: at the first of the places. */
static bool reads_well(struct debugger *x, const struct point *p, const char *condition)
{
	struct loaded *m = p->places.len ? loaded_of(x, p->places.at[0].place.func) : NULL;
	struct dbg_context c = {.session = x->session, .target = &x->target};
	struct text why = {0};
	struct dbg_expr *e;

	if (p->kind == POINT_WATCH)
		context_now(x, &c);
	if (m) {
		c.names = m->names;
		c.place = p->places.at[0].place;
		c.inlined = p->places.at[0].inlined;
	}
	/* Without code there are no types: casts cannot be told from calls. */
	if (!c.names)
		return true;
	e = dbg_expr_parse(&c, condition, &why);
	if (!e)
		say_error(x, "%s", why.at ? why.at : "no memory");
	dbg_expr_free(e);
	text_fini(&why);
	return e != NULL;
}

void point_unmake(struct debugger *x, struct point *p)
{
	x->points.next -= p->number == x->points.next;
	point_delete(x, p);
}

bool point_set_condition(struct debugger *x, struct point *p, const char *condition)
{
	char *copy = NULL;

	if (*condition && !reads_well(x, p, condition))
		return false;
	copy = *condition ? strdup(condition) : NULL;
	if (*condition && !copy) {
		say_error(x, "Out of memory for the condition.");
		return false;
	}
	dbg_expr_free(p->expr);
	p->expr = NULL;
	free(p->condition);
	p->condition = copy;
	return true;
}

void command_condition(struct debugger *x, const struct call *c)
{
	const char *rest;
	struct point *p = take_point(x, c->args, &rest);

	if (!p || !point_set_condition(x, p, rest))
		return;
	if (!*rest)
		say(x, "Breakpoint %u now unconditional.\n", p->number);
}

void command_ignore(struct debugger *x, const struct call *c)
{
	const char *rest;
	struct point *p = take_point(x, c->args, &rest);

	if (!p || !debugger_number(x, rest, &p->ignore))
		return;
	if (p->ignore)
		say(x, "Will ignore next %llu crossings of breakpoint %u.\n",
		    (unsigned long long)p->ignore, p->number);
	else
		say(x, "Will stop next time breakpoint %u is reached.\n", p->number);
}

void command_commands(struct debugger *x, const struct call *c)
{
	const char *rest;
	struct point *p = NULL;

	if (*c->args)
		p = take_point(x, c->args, &rest);
	else if (x->points.at.len)
		p = x->points.at.at[x->points.at.len - 1];
	else
		say_error(x, "No breakpoints specified.");
	if (!p)
		return;
	while (p->commands.len)
		free(p->commands.at[--p->commands.len]);
	p->silent = false;
	x->collecting = p->number;
	x->collecting_depth = 0;
}

void points_collect(struct debugger *x, const char *line)
{
	struct point *p = point_find(x, x->collecting);
	char *copy;

	line += strspn(line, " \t");
	x->collecting_depth += debugger_block_depth(line);
	if (x->collecting_depth < 0 || !p) {
		x->collecting = 0;
		return;
	}
	if (!strcmp(line, "silent") && !p->commands.len) {
		p->silent = true;
		return;
	}
	copy = strdup(line);
	if (copy && !VEC_PUSH(&p->commands, copy))
		free(copy);
}

/* The number that the next one gets. */
void command_number(struct debugger *x, const struct call *c)
{
	u64 n;

	if (debugger_number(x, c->args, &n) && n && n <= UINT32_MAX)
		x->points.next = (u32)n - 1;
}

/* ---- what is kept for the next start ---- */

static const char *point_command(const struct point *p)
{
	if (p->kind == POINT_EVENT)
		return p->temporary ? "tcatch" : "catch";
	if (p->print)
		return "dprintf";
	return p->temporary ? "tbreak" : "break";
}

static void point_state(const struct point *p, struct text *out)
{
	text_printf(out, "-number %u\n%s %s", p->number, point_command(p), p->text);
	if (p->print)
		text_printf(out, ",%s\n", p->print);
	else
		text_printf(out, "%s%s\n", p->condition ? " if " : "",
			    p->condition ? p->condition : "");
	if (p->print && p->condition)
		text_printf(out, "condition %u %s\n", p->number, p->condition);
	if (!p->enabled)
		text_printf(out, "disable %u\n", p->number);
	if (p->ignore)
		text_printf(out, "ignore %u %llu\n", p->number, (unsigned long long)p->ignore);
	if (!p->commands.len && !p->silent)
		return;
	text_printf(out, "commands %u\n%s", p->number, p->silent ? "silent\n" : "");
	for (size_t i = 0; i < p->commands.len; i++)
		text_printf(out, "%s\n", p->commands.at[i]);
	text_puts(out, "end\n");
}

void points_state(struct debugger *x, struct text *out)
{
	/* A watchpoint is about a lane, which the next run has not got yet. */
	for (size_t i = 0; i < x->points.at.len; i++)
		if (x->points.at.at[i]->kind != POINT_WATCH && !is_spent(x, x->points.at.at[i]))
			point_state(x->points.at.at[i], out);
	if (x->points.next)
		text_printf(out, "-number %u\n", x->points.next + 1);
}

/* ---- info breakpoints ---- */

static void say_point_place(struct debugger *x, const struct point_place *at)
{
	struct where w = where_of(x, at->place);
	struct text t = {0};

	where_say(&w, &t);
	say(x, "in %s at %s, instruction %u\n",
	    w.module ? dbg_names_function(w.module->names, at->place.func)
		     : at->place.func->name->text,
	    t.at, at->place.insn);
	text_fini(&t);
}

static void say_point(struct debugger *x, const struct point *p)
{
	const char *type = p->print                 ? "dprintf"
			   : p->kind == POINT_BREAK ? "breakpoint"
			   : p->kind == POINT_EVENT ? "catchpoint"
						    : watch_type(p->watch);

	say(x, "%-7u %-15s %-4s %s   ", p->number, type, p->temporary ? "del" : "keep",
	    p->enabled ? "y" : "n");
	if (p->kind != POINT_BREAK)
		say(x, "%s\n", p->text);
	else if (!p->places.len)
		say(x, "<PENDING>  %s\n", p->text);
	else if (p->places.len == 1)
		say_point_place(x, &p->places.at[0]);
	else
		say(x, "%s, %zu places\n", p->text, p->places.len);
	for (size_t i = 0; i < p->places.len && p->places.len > 1; i++) {
		say(x, "%u.%-28zu  ", p->number, i + 1);
		say_point_place(x, &p->places.at[i]);
	}
	if (p->print)
		say(x, "\tprintf %s\n", p->print);
	if (p->condition)
		say(x, "\tstop only if %s\n", p->condition);
	if (p->hits)
		say(x, "\tbreakpoint already hit %llu time%s\n", (unsigned long long)p->hits,
		    p->hits == 1 ? "" : "s");
	if (p->ignore)
		say(x, "\tignore next %llu hits\n", (unsigned long long)p->ignore);
	if (p->silent)
		say(x, "\tsilent\n");
	for (size_t i = 0; i < p->commands.len; i++)
		say(x, "\t%s\n", p->commands.at[i]);
}

static void say_points(struct debugger *x, bool watches_only)
{
	bool any = false;

	for (size_t i = 0; i < x->points.at.len; i++) {
		const struct point *p = x->points.at.at[i];

		if ((watches_only && p->kind != POINT_WATCH) || is_spent(x, p))
			continue;
		if (!any)
			say(x, "Num     Type            Disp Enb What\n");
		any = true;
		say_point(x, p);
	}
	if (!any)
		say(x, watches_only ? "No watchpoints.\n"
				    : "No breakpoints, watchpoints, or catchpoints.\n");
}

void command_info_breakpoints(struct debugger *x, const struct call *c PL_UNUSED)
{
	say_points(x, false);
}

void command_info_watchpoints(struct debugger *x, const struct call *c PL_UNUSED)
{
	say_points(x, true);
}
