/*
 * Races in the words of racecheck.
 */
#include "src/check/report.h"
#include "src/base/demangle.h"
#include "src/dev/place.h"
#include "src/dev/whereabouts.h"

#include <stdio.h>

static const char *side_name(bool writes)
{
	return writes ? "Write" : "Read";
}

bool race_reports_add(struct race_reports *r, const struct race *race)
{
	u64 parts[4] = {race->first.pc, race->second.pc,
			(u64)race->first_writes << 1 | race->second_writes,
			(u64)race->space << 1 | race->same_value};
	u64 key = hash_bytes(parts, sizeof(parts)) | 1, *slot = map_get(&r->by_pair, key);
	struct race_report x = {.race = *race, .count = 1};

	if (slot) {
		r->list.at[*slot - 1].count++;
		return true;
	}
	return VEC_PUSH(&r->list, x) && map_set(&r->by_pair, key, r->list.len);
}

void race_reports_fini(struct race_reports *r)
{
	VEC_FREE(&r->list);
	map_fini(&r->by_pair);
}

/*
 * Intended, as far as one can tell: all write the same; or the lanes of a warp run together, which
 * no device since sm_70 promises.
 */
static bool is_warning(const struct race *r)
{
	return r->same_value || r->together || r->is_try;
}

static void say_xyz(u64 linear, const u32 size[3], struct text *t)
{
	text_printf(t, "(%llu,%llu,%llu)", (unsigned long long)(linear % size[0]),
		    (unsigned long long)(linear / size[0] % size[1]),
		    (unsigned long long)(linear / size[0] / size[1]));
}

static void say_side(const struct race *r, const struct touch *x, const struct program *p,
		     struct text *t)
{
	struct place at = place_of(p, x->pc);
	struct source_line s = place_source(&at);

	text_puts(t, " by thread ");
	say_xyz(who_index(x->who), r->launch_block, t);
	text_puts(t, " in block ");
	say_xyz(who_cta_of(x->who), r->launch_grid, t);
	text_puts(t, " at ");
	if (at.func)
		demangle(at.func->func->name->text, t);
	text_puts(t, " in ");
	if (s.file)
		text_printf(t, "%s:%u", s.file, s.line);
	else
		place_say_insn(&at, t);
}

static void say_order_missing(const struct race *r, struct text *t)
{
	text_puts(t, "=========     ");
	if (r->same_value)
		text_puts(t, r->first_writes && r->second_writes
				     ? "Both write the same value. "
				     : "What is written is what was there already. ");
	if (r->is_try)
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

static void say_race(const struct race_report *x, const struct program *p, struct mem *m,
		     struct text *t)
{
	const struct race *r = &x->race;

	text_printf(t, "========= %s: Race reported between %s access",
		    is_warning(r) ? "Warning" : "Error", side_name(r->second_writes));
	say_side(r, &r->second, p, t);
	text_printf(t, "\n=========     and %s access", side_name(r->first_writes));
	say_side(r, &r->first, p, t);
	text_printf(t, " [%llu hazards]\n", (unsigned long long)x->count);
	if (r->space == MEM_SHARED) {
		text_printf(t, "=========     on byte %llu of the block's shared memory\n",
			    (unsigned long long)r->address);
	} else {
		text_printf(t, "=========     on global address 0x%llx, which is ",
			    (unsigned long long)r->address);
		device_describe_address(m, NULL, r->address, t);
		text_puts(t, "\n");
	}
	say_order_missing(r, t);
	text_puts(t, "=========\n");
}

void race_reports_print(const struct race_reports *r, const struct program *p, struct mem *m,
			struct race_totals *totals)
{
	struct text t = {0};

	for (size_t i = 0; i < r->list.len; i++) {
		say_race(&r->list.at[i], p, m, &t);
		if (is_warning(&r->list.at[i].race))
			__atomic_fetch_add(&totals->warnings, 1, __ATOMIC_RELAXED);
		else
			__atomic_fetch_add(&totals->errors, 1, __ATOMIC_RELAXED);
	}
	if (t.at)
		fputs(t.at, stderr);
	text_fini(&t);
}
