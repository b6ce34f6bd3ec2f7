/*
 * info barriers: which threads wait where for which, and which are missing.
 */
#include "src/debugger/look.h"

/* Lanes of a CTA that wait for the same, or do not. */
struct crowd {
	u32 lanes[CTA_WARPS];
};

bool survey_begin(struct debugger *x, const struct cta *c, struct survey *s)
{
	*s = (struct survey){.x = x, .c = c};
	s->group = calloc(c->warps + 1, sizeof(*s->group));
	s->groups = calloc(c->warps + 1, sizeof(*s->groups));
	for (u32 w = 0; s->group && s->groups && w < c->warps; w++)
		s->groups[w] = look_groups(x, c, w, s->group[w]);
	if (s->group && s->groups)
		return true;
	say_error(x, "Out of memory for the table");
	return false;
}

void survey_end(struct survey *s)
{
	free(s->group);
	free(s->groups);
}

/* Does a group wait at barrier b? */
static bool waits_at(const struct look_group *g, u32 b)
{
	return g->pc != NO_PC && g->group.state == DEBUG_BARRIER && g->group.barrier == b;
}

/* "warps 0-2", "warp 0 lanes 0-15 (0000ffff)", by what differs. */
static void say_crowd(const struct survey *s, const struct crowd *k, struct text *out)
{
	const char *comma = "";

	for (u32 w = 0; w < s->c->warps; w++) {
		u32 end = w + 1;

		if (!k->lanes[w])
			continue;
		while (end < s->c->warps && k->lanes[end] == k->lanes[w])
			end++;
		if (end > w + 1)
			text_printf(out, "%swarps %u-%u ", comma, w, end - 1);
		else
			text_printf(out, "%swarp %u ", comma, w);
		say_lanes_mask(k->lanes[w], out);
		comma = ", ";
		w = end - 1;
	}
}

void survey_say(const struct survey *s, crowd_pick *pick, u64 what, bool states, struct text *out)
{
	const char *semicolon = "";
	bool(*done)[WARP_LANES + 1] = calloc(s->c->warps + 1, sizeof(*done));

	for (u32 w = 0; done && w < s->c->warps; w++)
		for (u32 i = 0; i < s->groups[w]; i++) {
			const struct look_group *g = &s->group[w][i];
			struct crowd k = {{0}};

			if (done[w][i] || !pick(s, w, g, what))
				continue;
			for (u32 v = w; v < s->c->warps; v++)
				for (u32 j = 0; j < s->groups[v]; j++) {
					const struct look_group *h = &s->group[v][j];
					u32 lanes = pick(s, v, h, what);

					if (!lanes || strcmp(g->state, h->state) != 0 ||
					    (g->pc == NO_PC) != (h->pc == NO_PC) ||
					    !where_same_line(&g->where, &h->where))
						continue;
					k.lanes[v] |= lanes;
					done[v][j] = true;
				}
			text_puts(out, semicolon);
			say_crowd(s, &k, out);
			if (g->pc != NO_PC) {
				text_puts(out, " at ");
				where_say(&g->where, out);
			}
			if (states && *g->state)
				text_printf(out, ", %s", g->state);
			semicolon = "; ";
		}
	free(done);
}

static u32 pick_waiting(const struct survey *s PL_UNUSED, u32 warp PL_UNUSED,
			const struct look_group *g, u64 b)
{
	return waits_at(g, (u32)b) ? g->mask : 0;
}

static u32 pick_others(const struct survey *s PL_UNUSED, u32 warp PL_UNUSED,
		       const struct look_group *g, u64 b)
{
	return !waits_at(g, (u32)b) && g->pc != NO_PC ? g->mask : 0;
}

/* Threads that have come, as the machine counts them; *want: how many it takes. */
static u32 threads_come(const struct survey *s, u32 b, u32 *want, u32 *waiting)
{
	u32 come = s->c->barrier[b].more;

	*want = *waiting = 0;
	for (u32 w = 0; w < s->c->warps; w++) {
		u32 lanes = s->c->warp[w].arrived[b];

		for (u32 i = 0; i < s->groups[w]; i++)
			if (waits_at(&s->group[w][i], b)) {
				lanes |= s->group[w][i].mask;
				*waiting |= s->group[w][i].mask;
				*want = s->group[w][i].group.want;
			}
		come += lanes && !(s->c->warp[w].live & ~lanes)
				? (u32)__builtin_popcount(machine_lanes(s->c, w))
				: (u32)__builtin_popcount(lanes);
	}
	if (!*want)
		*want = s->c->threads;
	return come;
}

static void barrier_row(const struct survey *s, u32 b, struct table *t)
{
	u32 want, waiting, come = threads_come(s, b, &want, &waiting);
	const struct focus *f = &s->x->focus;
	bool focus = false;

	if (!come && !waiting)
		return;
	for (u32 i = 0; f->warp < s->c->warps && i < s->groups[f->warp]; i++)
		focus |= waits_at(&s->group[f->warp][i], b) &&
			 s->group[f->warp][i].mask >> f->lane & 1;
	table_put(t, "%s", focus ? "*" : " ");
	table_put(t, "barrier %u", b);
	table_put(t, "%u", come);
	table_put(t, "%u", want);
	survey_say(s, pick_waiting, b, false, table_cell(t));
	survey_say(s, pick_others, b, true, table_cell(t));
}

/* Lanes that wait for others of their warp. */
static void sync_rows(const struct survey *s, struct table *t)
{
	for (u32 w = 0; w < s->c->warps; w++)
		for (u32 i = 0; i < s->groups[w]; i++) {
			const struct look_group *g = &s->group[w][i];
			bool focus = w == s->x->focus.warp && g->mask >> s->x->focus.lane & 1;
			struct text *cell;

			if (g->pc == NO_PC || g->group.state != DEBUG_SYNC)
				continue;
			table_put(t, "%s", focus ? "*" : " ");
			table_put(t, "warp %u", w);
			table_put(t, "%u", (u32)__builtin_popcount(g->mask));
			table_put(t, "%u", (u32)__builtin_popcount(g->group.want));
			cell = table_cell(t);
			say_lanes_mask(g->mask, cell);
			text_puts(cell, " at ");
			where_say(&g->where, cell);
			cell = table_cell(t);
			say_lanes_mask(g->group.want & ~g->mask & s->c->warp[w].live, cell);
		}
}

static u32 pick_cluster(const struct survey *s PL_UNUSED, u32 warp PL_UNUSED,
			const struct look_group *g, u64 b PL_UNUSED)
{
	return g->pc != NO_PC && g->group.state == DEBUG_CLUSTER ? g->mask : 0;
}

static u32 pick_not_cluster(const struct survey *s PL_UNUSED, u32 warp PL_UNUSED,
			    const struct look_group *g, u64 b PL_UNUSED)
{
	return g->pc != NO_PC && g->group.state != DEBUG_CLUSTER ? g->mask : 0;
}

static void cluster_row(const struct survey *s, struct table *t)
{
	u32 come = 0, live = 0;

	for (u32 w = 0; w < s->c->warps; w++) {
		live += (u32)__builtin_popcount(s->c->warp[w].live);
		for (u32 i = 0; i < s->groups[w]; i++)
			come += (u32)__builtin_popcount(pick_cluster(s, w, &s->group[w][i], 0));
	}
	if (!come)
		return;
	table_put(t, " ");
	table_put(t, "cluster");
	table_put(t, "%u", come);
	table_put(t, "%u", live);
	survey_say(s, pick_cluster, 0, false, table_cell(t));
	survey_say(s, pick_not_cluster, 0, true, table_cell(t));
}

void command_info_barriers(struct debugger *x, const struct call *call PL_UNUSED)
{
	static const char *const head[] = {" ",  "barrier", "arrived",
					   "of", "waiting", "the others"};
	struct cta *c = focus_cta(x);
	struct survey s;
	struct table t;

	if (!c) {
		say_error(x, "The CTA in focus is not resident");
		return;
	}
	table_begin(&t, ARRAY_LEN(head));
	for (size_t i = 0; i < ARRAY_LEN(head); i++)
		table_put(&t, "%s", head[i]);
	if (survey_begin(x, c, &s)) {
		for (u32 b = 0; b < CTA_BARRIERS; b++)
			barrier_row(&s, b, &t);
		sync_rows(&s, &t);
		cluster_row(&s, &t);
	}
	survey_end(&s);
	if (table_rows(&t) == 1) {
		table_drop(&t);
		say(x, "No thread of the CTA waits at a barrier.\n");
	}
	table_say(x, &t);
}
