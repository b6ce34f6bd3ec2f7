/*
 * Under a debugger or a schedule: does a launch in which all CTAs poll repeat itself for ever?
 */
#include "src/async/async.h"
#include "src/sched/debug_int.h"

/* Copies that are under way are not part of the state that is compared. */
static bool some_copy(const struct debug_grid *d)
{
	for (size_t i = 0; i < d->units.len; i++)
		for (const struct cta_slot *s = d->units.at[i]; s; s = s->mate)
			if (s->cta.async && s->cta.async->some)
				return true;
	return false;
}

static bool has_ready_groups(const struct warp *w)
{
	u32 ready = 0;

	for (u32 i = 0; i < w->groups; i++)
		ready += w->group[i].state == GROUP_READY;
	return ready > 1;
}

/*
 * Diverged lanes of a warp do not all run in each round of a launch that is steered:
 * those that do not may be what the others wait for.
 */
static bool some_lanes_lack_turns(const struct debug_grid *d)
{
	for (size_t i = 0; d->steer && i < d->units.len; i++)
		for (const struct cta_slot *s = d->units.at[i]; s; s = s->mate)
			for (u32 w = 0; w < s->cta.warps; w++)
				if (has_ready_groups(&s->cta.warp[w]))
					return true;
	return false;
}

/* Can anything else than the launch change what it does? */
static bool is_by_itself(struct debug_grid *d)
{
	u64 rests = 0;
	bool alone = !d->grid->launch.env.program->reads_clock && !d->frozen.len && !some_copy(d) &&
		     grid_is_alone(d->grid, &rests) && rests == d->look_rests;

	d->look_rests = rests;
	return alone;
}

/*
 * Has memory been what it was, or is it part of `sum`? Of launches that can be gone back in copies
 * tell; of others, what has been noted since the last look.
 */
static bool is_memory_known(struct debug_grid *d, u64 *sum)
{
	bool known, determined;

	*sum = 0;
	if (d->history.on)
		return debug_memory_is_same(d);
	determined = !d->steer || steer_is_determined(d);
	known = d->probes && !d->probe.lost && (!d->probe.moved || determined);
	*sum = determined ? d->probe.sum : 0;
	if (determined && d->steer)
		*sum = sched_mix(*sum, steer_state(d));
	debug_probe(d, true);
	d->probe.moved = d->probe.lost = false;
	return known;
}

/*
 * All CTAs have only polled in this round. Does everything repeat itself, and can nothing else
 * change that? The argument is that of docs/engine.md, "Livelocks", with all of memory compared.
 */
bool debug_is_livelock(struct debug_grid *d)
{
	u64 state, sum;
	bool still;

	if (d->weak)
		weak_drain(d->weak);
	if (d->cursor.still <= d->cursor.looked_at) {
		debug_probe(d, false);
		d->cursor.looks = 0;
	}
	d->cursor.looked_at = d->cursor.still;
	if (!is_by_itself(d) || !is_memory_known(d, &sum) || (d->steer && !steer_is_plain(d)) ||
	    some_lanes_lack_turns(d)) {
		d->cursor.looks = 0;
		return false;
	}
	state = debug_state_hash(d) ^ sum;
	still = d->cursor.looks && state == d->cursor.look_state;
	if (!(d->cursor.looks & (d->cursor.looks - 1)))
		d->cursor.look_state = state;
	d->cursor.looks++;
	debug_copy_amend(d);
	return still;
}
