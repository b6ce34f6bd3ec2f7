/*
 * Races in the words of racecheck.
 */
#include "src/check/race/report.h"
#include "src/dev/whereabouts.h"

#include <stdio.h>

static const char *side_name(bool writes)
{
	return writes ? "Write" : "Read";
}

/*
 * Intended, as far as one can tell: all write the same; or the lanes of a warp run together, which
 * no device since sm_70 promises.
 */
static bool is_warning(const struct race *r)
{
	return !r->is_update && (r->same_value || r->together || r->is_try);
}

bool race_reports_add(struct race_reports *r, const struct race *race, bool *news)
{
	u64 one = (u64)race->first.pc << 1 | race->first_writes;
	u64 other = (u64)race->second.pc << 1 | race->second_writes;
	/* Whichever of the two came first. */
	u64 parts[3] = {min_u64(one, other), max_u64(one, other), race->space == MEM_SHARED};
	u64 key = hash_bytes(parts, sizeof(parts)) | 1, *slot = map_get(&r->by_pair, key);
	struct race_report x = {.race = *race, .count = 1}, *known;

	*news = true;
	if (!slot)
		return VEC_PUSH(&r->list, x) && map_set(&r->by_pair, key, r->list.len);
	known = &r->list.at[*slot - 1];
	known->count++;
	/* What is shown is one that cannot be meant as it is, if there is one. */
	*news = is_warning(&known->race) && !is_warning(race);
	if (*news)
		known->race = *race;
	return true;
}

void race_reports_fini(struct race_reports *r)
{
	VEC_FREE(&r->list);
	map_fini(&r->by_pair);
}

static void add_race_side(const struct race *r, const struct touch *x, bool writes,
			  const struct program *p, struct finding *f)
{
	struct finding_side *s = finding_add_side(f, side_name(writes), p, x->pc);

	s->has_thread = true;
	finding_unroll(who_index(x->who), r->launch_block, s->thread);
	finding_unroll(who_cta_of(x->who), r->launch_grid, s->block);
}

static void say_fence_missing(const struct race *r, struct text *t)
{
	switch ((enum race_fence)r->fence) {
	case FENCE_NONE:
		break;
	case FENCE_ASYNC:
		text_printf(t, "No fence.proxy.async%s stands between them: %s.",
			    r->space == MEM_GLOBAL ? ".global" : "",
			    r->second_writes ? "what was written may overwrite the copy"
					     : "the copy need not see what was written");
		break;
	case FENCE_MAP_RELEASE:
		text_puts(
			t,
			"No fence.proxy.tensormap::generic.release stands behind the change of the tensor map.");
		break;
	case FENCE_MAP_SCOPE:
		text_puts(
			t,
			"fence.proxy.tensormap::generic.release behind the change is for its block alone.");
		break;
	case FENCE_MAP_ACQUIRE:
		text_puts(
			t,
			"No fence.proxy.tensormap::generic.acquire of the map stands before the copy, in its block.");
		break;
	}
}

static void say_order_missing(const struct race *r, struct text *t)
{
	text_puts(t, "    ");
	if (r->same_value && !r->is_update)
		text_puts(t, r->first_writes && r->second_writes
				     ? "Both write the same value. "
				     : "What is written is what was there already. ");
	if (r->fence)
		say_fence_missing(r, t);
	else if (who_agent_of(r->first.who) != AGENT_THREAD)
		text_puts(
			t,
			"The asynchronous copy may be under way still: nothing between them waits for it.");
	else if (r->is_update)
		text_puts(
			t,
			"Each writes what it makes of what it has read: one may be lost. Use an atomic.");
	else if (r->is_try)
		text_puts(
			t,
			"The value read is what an atomic operation is tried with first; read it by an atomic, too.");
	else if (r->narrow)
		text_puts(
			t,
			"Both are strong accesses, but the scope of one does not include the other's thread.");
	else if (r->together)
		text_puts(
			t,
			"No __syncwarp() stands between them: lanes of a warp need not run together.");
	else if (r->same_warp)
		text_puts(t, "No __syncwarp() or barrier stands between them.");
	else if (who_cta_of(r->first.who) == who_cta_of(r->second.who))
		text_puts(t, "No barrier of the block stands between them.");
	else
		text_puts(
			t,
			"Nothing orders the two blocks: no fence and atomic, or acquire and release, of device scope.");
	text_puts(t, "\n");
}

static void say_race(const struct race_report *x, struct mem *m, struct finding *f)
{
	const struct race *r = &x->race;
	struct text *t = &f->text;

	text_printf(t, "%s: Race reported between %s access ", f->is_warning ? "Warning" : "Error",
		    f->side[0].what);
	finding_say_side(&f->side[0], t);
	text_printf(t, "\n    and %s access ", f->side[1].what);
	finding_say_side(&f->side[1], t);
	if (x->count)
		text_printf(t, " [%llu hazards]", (unsigned long long)x->count);
	text_puts(t, "\n");
	if (r->space == MEM_SHARED) {
		text_printf(t, "    on byte %llu of the block's shared memory\n",
			    (unsigned long long)r->address);
	} else {
		text_printf(t, "    on global address 0x%llx, which is ",
			    (unsigned long long)r->address);
		device_describe_address(m, NULL, r->address, t);
		text_puts(t, "\n");
	}
	say_order_missing(r, t);
}

/* count: 0: it is not known yet. */
static void race_finding(const struct race_report *report, const struct program *p,
			 struct host_from from, struct mem *m, struct finding *f)
{
	const struct race *x = &report->race;

	finding_init(f, FINDING_RACE);
	f->is_warning = is_warning(x);
	f->count = report->count;
	f->has_address = x->space == MEM_GLOBAL;
	f->address = x->address;
	f->mem = f->has_address ? m : NULL;
	finding_set_kernel(f, p->funcs[0].func->name->text);
	add_race_side(x, &x->second, x->second_writes, p, f);
	add_race_side(x, &x->first, x->first_writes, p, f);
	say_race(report, m, f);
	finding_add_host(f, "launched", from);
}

void race_announce(const struct race *r, const struct program *p, struct host_from from,
		   struct mem *m, struct findings *found)
{
	struct race_report report = {.race = *r};
	struct finding f;

	race_finding(&report, p, from, m, &f);
	findings_announce(found, &f);
}

void race_reports_tell(const struct race_reports *r, const struct program *p, struct host_from from,
		       struct mem *m, struct findings *found)
{
	for (size_t i = 0; i < r->list.len; i++) {
		struct finding f;

		race_finding(&r->list.at[i], p, from, m, &f);
		findings_add(found, &f);
	}
}
