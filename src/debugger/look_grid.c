/*
 * The launch at a glance: info ctas, warps, threads. Equal neighbours are one row.
 */
#include "src/debugger/look.h"

/* "diverge.cu:10, waiting" */
static void say_doing(const struct look_group *g, struct text *out)
{
	if (g->pc != NO_PC)
		where_say(&g->where, out);
	if (*g->state)
		text_printf(out, "%s%s", out->len ? ", " : "", g->state);
}

static void say_range(u64 first, u64 last, struct text *out)
{
	text_printf(out, first == last ? "%llu" : "%llu-%llu", (unsigned long long)first,
		    (unsigned long long)last);
}

static void put_header(struct table *t, const char *const *head, u32 n)
{
	table_begin(t, n);
	for (u32 i = 0; i < n; i++)
		table_put(t, "%s", head[i]);
}

/* ---- warps ---- */

/* What a warp does, in lines "lanes TAB mask TAB where". */
static void describe_warp(struct debugger *x, const struct cta *c, u32 w, struct text *out)
{
	struct look_group g[WARP_LANES + 1];
	u32 n = look_groups(x, c, w, g);

	for (u32 i = 0; i < n; i++) {
		say_lanes(g[i].mask, out);
		text_printf(out, "\t%08x\t", g[i].mask);
		if (g[i].pc != NO_PC)
			where_say(&g[i].where, out);
		if (*g[i].state)
			text_printf(out, "%s%s", g[i].pc != NO_PC ? ", " : "", g[i].state);
		text_puts(out, "\n");
	}
}

static void warp_rows(struct table *t, bool focus, u32 first, u32 last, const char *lines)
{
	for (bool begun = false; *lines; begun = true) {
		table_put(t, "%s", focus && !begun ? "*" : " ");
		if (begun)
			table_put(t, "%s", "");
		else
			say_range(first, last, table_cell(t));
		for (u32 i = 0; i < 3; i++) {
			size_t n = strcspn(lines, "\t\n");

			table_put(t, "%.*s", (int)n, lines);
			lines += n + (lines[n] != 0);
		}
	}
}

void command_info_warps(struct debugger *x, const struct call *call PL_UNUSED)
{
	static const char *const head[] = {" ", "warp", "lanes", "mask", "where"};
	struct cta *c = focus_cta(x);
	struct text last = {0}, now = {0};
	struct table t;
	u32 first = 0;

	if (!c) {
		say_error(x, "The CTA in focus is not resident");
		return;
	}
	put_header(&t, head, ARRAY_LEN(head));
	for (u32 w = 0; w <= c->warps; w++) {
		now = (struct text){0};
		if (w < c->warps)
			describe_warp(x, c, w, &now);
		if (w && (w == c->warps || strcmp(last.at ? last.at : "", now.at ? now.at : "")))
			warp_rows(&t, x->focus.warp >= first && x->focus.warp < w, first, w - 1,
				  last.at ? last.at : "");
		if (!w || strcmp(last.at ? last.at : "", now.at ? now.at : ""))
			first = w;
		text_fini(&last);
		last = now;
	}
	text_fini(&last);
	table_say(x, &t);
}

/* ---- CTAs ---- */

struct tally {
	struct look_group group;
	u32 threads;
};

#define TALLIES_MAX 64u

/* "64 threads at fault.cu:16, waiting at barrier 0; .." */
static void describe_cta(struct debugger *x, const struct cta *c, struct text *out)
{
	struct look_group g[WARP_LANES + 1];
	struct tally *all = calloc(TALLIES_MAX, sizeof(*all));
	u32 n = 0;

	for (u32 w = 0; all && w < c->warps; w++) {
		u32 groups = look_groups(x, c, w, g);

		for (u32 i = 0; i < groups; i++) {
			u32 k = 0;

			while (k < n && (strcmp(all[k].group.state, g[i].state) != 0 ||
					 (all[k].group.pc == NO_PC) != (g[i].pc == NO_PC) ||
					 !where_same_line(&all[k].group.where, &g[i].where)))
				k++;
			if (k == TALLIES_MAX)
				continue;
			if (k == n)
				all[n++] = (struct tally){.group = g[i]};
			all[k].threads += (u32)__builtin_popcount(g[i].mask);
		}
	}
	for (u32 k = 0; k < n; k++) {
		struct text doing = {0};

		say_doing(&all[k].group, &doing);
		text_printf(out, "%s%u thread%s: %s", k ? "; " : "", all[k].threads,
			    all[k].threads == 1 ? "" : "s", doing.at ? doing.at : "");
		text_fini(&doing);
	}
	free(all);
}

static void cta_row(struct debugger *x, struct table *t, u64 first, u64 last, const char *text)
{
	const struct exec_env *env = debug_env(x->grid);
	u32 id[3];

	table_put(t, "%s", x->focus.cta >= first && x->focus.cta <= last ? "*" : " ");
	say_range(first, last, table_cell(t));
	look_cta_id(env, first, id);
	look_say_id(id, table_cell(t));
	look_cta_id(env, last, id);
	look_say_id(id, table_cell(t));
	table_put(t, "%llu", (unsigned long long)(last - first + 1));
	table_put(t, "%s", text);
}

void command_info_ctas(struct debugger *x, const struct call *call PL_UNUSED)
{
	static const char *const head[] = {" ", "CTAs", "from", "to", "count", "state"};
	struct text last = {0}, now;
	struct table t;
	struct cta *c;
	u64 first = 0, at = 0;

	put_header(&t, head, ARRAY_LEN(head));
	for (u32 i = 0;; i++) {
		bool joins;

		c = debug_resident(x->grid, i);
		now = (struct text){0};
		if (c)
			describe_cta(x, c, &now);
		joins = i && c && c->number == at + 1 && last.at && now.at &&
			!strcmp(last.at, now.at);
		if (i && !joins)
			cta_row(x, &t, first, at, last.at ? last.at : "");
		text_fini(&last);
		last = now;
		if (!c)
			break;
		if (!joins)
			first = c->number;
		at = c->number;
	}
	text_fini(&last);
	table_say(x, &t);
	if (debug_ctas_done(x->grid))
		say(x, "%llu have ended.\n", (unsigned long long)debug_ctas_done(x->grid));
	if (debug_ctas_unstarted(x->grid))
		say(x, "%llu have not begun.\n", (unsigned long long)debug_ctas_unstarted(x->grid));
}

/* ---- threads ---- */

/* A run of threads of one CTA that do the same. */
struct thread_run {
	const struct cta *c;
	u32 first, last;
	struct look_group group;
};

static void say_thread_row(struct debugger *x, struct table *t, const struct thread_run *r)
{
	u32 id[3], focus = x->focus.warp * WARP_LANES + x->focus.lane;

	table_put(t, "%s",
		  r->c->number == x->focus.cta && focus >= r->first && focus <= r->last ? "*"
											: " ");
	look_say_id(r->c->id, table_cell(t));
	machine_thread(debug_env(x->grid), 0, r->first, id);
	look_say_id(id, table_cell(t));
	machine_thread(debug_env(x->grid), 0, r->last, id);
	look_say_id(id, table_cell(t));
	table_put(t, "%u", r->last - r->first + 1);
	say_doing(&r->group, table_cell(t));
}

static void thread_rows(struct debugger *x, struct table *t, const struct cta *c)
{
	struct look_group g[WARP_LANES + 1];
	struct thread_run run = {.c = c};
	bool begun = false;

	for (u32 w = 0; w < c->warps; w++) {
		u32 n = look_groups(x, c, w, g);

		for (u32 l = 0; l < WARP_LANES && machine_lanes(c, w) >> l & 1; l++) {
			u32 i = 0;

			while (i < n && !(g[i].mask >> l & 1))
				i++;
			if (i == n)
				continue;
			if (begun && !strcmp(run.group.state, g[i].state) &&
			    (run.group.pc == NO_PC) == (g[i].pc == NO_PC) &&
			    where_same_line(&run.group.where, &g[i].where)) {
				run.last = w * WARP_LANES + l;
				continue;
			}
			if (begun)
				say_thread_row(x, t, &run);
			run.first = run.last = w * WARP_LANES + l;
			run.group = g[i];
			begun = true;
		}
	}
	if (begun)
		say_thread_row(x, t, &run);
}

void command_info_threads(struct debugger *x, const struct call *call)
{
	static const char *const head[] = {" ", "CTA", "from", "to", "count", "where"};
	struct table t;
	struct cta *c;

	put_header(&t, head, ARRAY_LEN(head));
	if (!strcmp(call->args, "all"))
		for (u32 i = 0; (c = debug_resident(x->grid, i)); i++)
			thread_rows(x, &t, c);
	else if ((c = focus_cta(x)))
		thread_rows(x, &t, c);
	table_say(x, &t);
}
