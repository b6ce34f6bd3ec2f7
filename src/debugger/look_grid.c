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

struct tallies {
	struct tally *all; /* owned */
	u32 n;
};

static void tallies_add(struct debugger *x, struct tallies *t, const struct cta *c)
{
	struct look_group g[WARP_LANES + 1];

	if (!t->all)
		t->all = calloc(TALLIES_MAX, sizeof(*t->all));
	for (u32 w = 0; t->all && w < c->warps; w++) {
		u32 groups = look_groups(x, c, w, g);

		for (u32 i = 0; i < groups; i++) {
			u32 k = 0;

			while (k < t->n && (strcmp(t->all[k].group.state, g[i].state) != 0 ||
					    (t->all[k].group.pc == NO_PC) != (g[i].pc == NO_PC) ||
					    !where_same_line(&t->all[k].group.where, &g[i].where)))
				k++;
			if (k == TALLIES_MAX)
				continue;
			if (k == t->n)
				t->all[t->n++] = (struct tally){.group = g[i]};
			t->all[k].threads += (u32)__builtin_popcount(g[i].mask);
		}
	}
}

/* "64 threads at fault.cu:16, waiting at barrier 0; .."; frees them. */
static void tallies_say(struct tallies *t, struct text *out)
{
	for (u32 k = 0; k < t->n; k++) {
		struct text doing = {0};

		say_doing(&t->all[k].group, &doing);
		text_printf(out, "%s%u thread%s: %s", k ? "; " : "", t->all[k].threads,
			    t->all[k].threads == 1 ? "" : "s", doing.at ? doing.at : "");
		text_fini(&doing);
	}
	free(t->all);
}

static void describe_cta(struct debugger *x, const struct cta *c, struct text *out)
{
	struct tallies t = {0};

	tallies_add(x, &t, c);
	tallies_say(&t, out);
}

/* Equal CTAs: neighbours in the grid, of one cluster. */
struct cta_run {
	u64 first, last;
	u32 cluster[3], first_rank, last_rank;
};

static void cta_row(struct debugger *x, struct table *t, const struct cta_run *r, const char *text)
{
	u64 first = r->first, last = r->last;
	const struct exec_env *env = debug_env(x->grid);
	u32 id[3];

	table_put(t, "%s", x->focus.cta >= first && x->focus.cta <= last ? "*" : " ");
	say_range(first, last, table_cell(t));
	look_cta_id(env, first, id);
	look_say_id(id, table_cell(t));
	look_cta_id(env, last, id);
	look_say_id(id, table_cell(t));
	table_put(t, "%llu", (unsigned long long)(last - first + 1));
	if (look_cluster_dims(env, id) > 1) {
		look_say_id(r->cluster, table_cell(t));
		say_range(r->first_rank, r->last_rank, table_cell(t));
	}
	table_put(t, "%s", text);
}

/* Does a CTA go on with the row of those before it? */
static bool joins_run(const struct cta_run *r, const struct cta *c)
{
	u32 cluster[3];

	look_cluster_id(c, cluster);
	return c->number == r->last + 1 &&
	       (!c->cluster || !memcmp(cluster, r->cluster, sizeof(cluster)));
}

static const char *const cta_head[] = {" ",     "CTAs",    "from", "to",
				       "count", "cluster", "rank", "state"};

static void put_cta_header(struct debugger *x, struct table *t)
{
	u32 dims[3];
	bool clusters = look_cluster_dims(debug_env(x->grid), dims) > 1;

	table_begin(t, ARRAY_LEN(cta_head) - (clusters ? 0 : 2));
	for (u32 i = 0; i < ARRAY_LEN(cta_head); i++)
		if (clusters || (i != 5 && i != 6))
			table_put(t, "%s", cta_head[i]);
}

/* "1 has ended." */
static void say_ctas(struct debugger *x, u64 n, const char *what)
{
	if (n)
		say(x, "%llu %s %s.\n", (unsigned long long)n, n == 1 ? "has" : "have", what);
}

void command_info_ctas(struct debugger *x, const struct call *call PL_UNUSED)
{
	struct text last = {0}, now;
	struct cta_run run = {0};
	struct table t;
	struct cta *c;

	put_cta_header(x, &t);
	for (u32 i = 0;; i++) {
		bool joins;

		c = debug_resident(x->grid, i);
		now = (struct text){0};
		if (c)
			describe_cta(x, c, &now);
		joins = i && c && joins_run(&run, c) && last.at && now.at &&
			!strcmp(last.at, now.at);
		if (i && !joins)
			cta_row(x, &t, &run, last.at ? last.at : "");
		text_fini(&last);
		last = now;
		if (!c)
			break;
		if (!joins) {
			run = (struct cta_run){.first = c->number, .first_rank = c->rank};
			look_cluster_id(c, run.cluster);
		}
		run.last = c->number;
		run.last_rank = c->rank;
	}
	text_fini(&last);
	table_say(x, &t);
	say_ctas(x, debug_ctas_done(x->grid), "ended");
	say_ctas(x, debug_ctas_unstarted(x->grid), "not begun");
}

/* ---- clusters ---- */

static void resident_cluster_row(struct debugger *x, struct table *t, const struct cluster *cl)
{
	struct tallies doing = {0};
	struct text out = {0};
	bool focus = false;
	u32 id[3];

	for (u32 i = 0; i < cl->size; i++) {
		focus |= cl->cta[i]->number == x->focus.cta;
		if (!(cl->done >> i & 1))
			tallies_add(x, &doing, cl->cta[i]);
	}
	tallies_say(&doing, &out);
	table_put(t, "%s", focus ? "*" : " ");
	look_cluster_id(cl->cta[0], id);
	look_say_id(id, table_cell(t));
	look_say_id(cl->cta[0]->id, table_cell(t));
	look_say_id(cl->cta[cl->size - 1]->id, table_cell(t));
	table_put(t, "%u", cl->size);
	table_put(t, "%s", out.at ? out.at : "all CTAs have ended");
	text_fini(&out);
}

void command_info_clusters(struct debugger *x, const struct call *call PL_UNUSED)
{
	static const char *const head[] = {" ", "cluster", "from", "to", "CTAs", "state"};
	const struct cta *c;
	struct table t;
	u32 dims[3];

	if (look_cluster_dims(debug_env(x->grid), dims) < 2) {
		say(x, "The launch has no clusters.\n");
		return;
	}
	put_header(&t, head, ARRAY_LEN(head));
	/* Rows are of the first CTA that has not ended. */
	for (u32 i = 0; (c = debug_resident(x->grid, i)); i++)
		if (c->cluster && c->rank == (u32)__builtin_ctz(~c->cluster->done))
			resident_cluster_row(x, &t, c->cluster);
	table_say(x, &t);
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
