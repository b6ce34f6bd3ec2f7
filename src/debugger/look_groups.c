/*
 * Lanes of a warp by what they are about to do: groups, and words for their state.
 */
#include "src/debugger/look.h"

void look_cta_id(const struct exec_env *env, u64 number, u32 out[3])
{
	u64 x = env->grid[0] ? env->grid[0] : 1, y = env->grid[1] ? env->grid[1] : 1;

	out[0] = (u32)(number % x);
	out[1] = (u32)(number / x % y);
	out[2] = (u32)(number / x / y);
}

u32 look_cluster_dims(const struct exec_env *env, u32 out[3])
{
	for (u32 i = 0; i < 3; i++)
		out[i] = env->cluster[i] ? env->cluster[i] : 1;
	return out[0] * out[1] * out[2];
}

void look_cluster_id(const struct cta *c, u32 out[3])
{
	u32 dims[3];

	look_cluster_dims(c->env, dims);
	for (u32 i = 0; i < 3; i++)
		out[i] = c->id[i] / dims[i];
}

void look_say_id(const u32 id[3], struct text *out)
{
	text_printf(out, "(%u,%u,%u)", id[0], id[1], id[2]);
}

static bool is_stopped_warp(const struct debugger *x, const struct cta *c, u32 warp)
{
	return (x->at.kind == STOPPED_STEP || x->at.kind == STOPPED_FAULT) &&
	       x->at.cta == c->number && x->at.warp == warp;
}

/* Lanes of its group that wait with it for the same ones. */
static u32 come(const struct debug_group *g, u32 n, u32 want)
{
	u32 lanes = 0;

	for (u32 i = 0; i < n; i++)
		if (g[i].state == DEBUG_SYNC && g[i].want == want)
			lanes |= g[i].mask;
	return lanes;
}

/* first: no lane of the warp runs before this group. */
static void say_state(struct look_group *o, const struct debug_group *g, u32 n, u32 i, bool first)
{
	struct text missing = {0};

	switch ((enum debug_group_state)g[i].state) {
	case DEBUG_RUNNING:
		break;
	case DEBUG_READY:
		snprintf(o->state, sizeof(o->state), "%s", first ? "" : "waiting");
		break;
	case DEBUG_BARRIER:
		snprintf(o->state, sizeof(o->state), "waiting at barrier %u", g[i].barrier);
		break;
	case DEBUG_SYNC:
		say_lanes(g[i].want & ~come(g, n, g[i].want), &missing);
		snprintf(o->state, sizeof(o->state), "waiting for lanes %s",
			 missing.at ? missing.at : "");
		break;
	case DEBUG_CLUSTER:
		snprintf(o->state, sizeof(o->state), "waiting at the cluster's barrier");
		break;
	case DEBUG_FROZEN:
		snprintf(o->state, sizeof(o->state), "frozen");
		break;
	}
	text_fini(&missing);
}

/* The group that goes on next, of those that can: one that runs, else the lowest. */
static u32 next_group(const struct debug_group *g, u32 n)
{
	u32 next = n;

	for (u32 i = 0; i < n; i++) {
		if (g[i].state == DEBUG_RUNNING)
			return i;
		if (g[i].state == DEBUG_READY && (next == n || g[i].pc < g[next].pc))
			next = i;
	}
	return next;
}

static int by_stop(const void *a, const void *b)
{
	const struct look_group *g = a, *h = b;

	if (g->stopped != h->stopped)
		return h->stopped - g->stopped;
	if ((g->pc == NO_PC) != (h->pc == NO_PC))
		return (g->pc == NO_PC) - (h->pc == NO_PC);
	return (int)__builtin_ctz(g->mask) - (int)__builtin_ctz(h->mask);
}

u32 look_groups(struct debugger *x, const struct cta *c, u32 warp,
		struct look_group out[WARP_LANES + 1])
{
	const struct program *p = debug_env(x->grid)->program;
	struct debug_group g[WARP_LANES];
	u32 n = debug_groups(x->grid, c, warp, g), len = 0, live = 0, next = next_group(g, n);
	u32 hit = is_stopped_warp(x, c, warp) ? x->at.lanes : 0;
	bool fault =
		x->at.kind == STOPPED_FAULT && x->at.fault && x->at.fault->kind != FAULT_DEADLOCK;

	for (u32 i = 0; i < n; i++) {
		/* Of lanes that came together some may fault. */
		u32 parts[2] = {g[i].mask & hit, g[i].mask & ~hit};

		live |= g[i].mask;
		for (u32 k = 0; k < 2; k++) {
			struct look_group *o = &out[len];

			if (!parts[k] || len > WARP_LANES)
				continue;
			*o = (struct look_group){.mask = parts[k], .pc = g[i].pc, .group = g[i]};
			o->stopped = k == 0;
			o->where = where_of_lane(x, c, warp, (u32)__builtin_ctz(parts[k]),
						 loaded_place(p, g[i].pc));
			say_state(o, g, n, i, i == next);
			if (fault && !k)
				snprintf(o->state, sizeof(o->state), "faulted");
			len++;
		}
	}
	if (machine_lanes(c, warp) & ~live && len <= WARP_LANES) {
		out[len] = (struct look_group){.mask = machine_lanes(c, warp) & ~live, .pc = NO_PC};
		snprintf(out[len].state, sizeof(out[len].state), "exited");
		len++;
	}
	qsort(out, len, sizeof(*out), by_stop);
	return len;
}

bool look_group_of(struct debugger *x, const struct cta *c, u32 warp, u32 lane,
		   struct look_group *out)
{
	struct look_group all[WARP_LANES + 1];
	u32 n = warp < c->warps ? look_groups(x, c, warp, all) : 0;

	for (u32 i = 0; i < n; i++)
		if (all[i].mask >> lane & 1) {
			*out = all[i];
			return true;
		}
	return false;
}
