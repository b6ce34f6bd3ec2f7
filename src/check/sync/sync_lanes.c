/*
 * Warp instructions with member masks: shuffles, votes, matches, reductions and bar.warp.sync.
 *
 * Each lane must name itself; lanes that name each other must name the same lanes. Members that
 * have exited are not waited for (PTX ISA "shfl.sync", "vote.sync", "bar.warp.sync"), but nothing
 * can be exchanged with them.
 */
#include "src/check/sync/sync_int.h"
#include "src/uop/warp.h"

#define DIVERGENT_WARP "Barrier error detected. Divergent thread(s) in warp"
#define INVALID "Barrier error detected. Invalid arguments"

static u32 members_of(const struct sync_step *s, u32 l)
{
	u32 row = s->launch->program->ext[s->in->ext + 1];

	return row == NO_ROW ? s->in->warp.members
			     : ((const u32 *)(const void *)(s->gang->regs + row))[sync_index(s, l)];
}

static u32 lane_thread(const struct sync_step *s, u32 l)
{
	return s->warp * WARP_LANES + l;
}

static void begin_mask(const struct sync_step *s, u32 l, bool is_warning, const char *headline,
		       struct finding *f)
{
	sync_begin(f, FINDING_WARP_MASK, s->launch, s->cta, lane_thread(s, l), s->pc, is_warning,
		   "Mask");
	sync_say_head(f, headline);
}

/* ---- masks ---- */

static void report_stranger(const struct sync_step *s, u32 l, u32 members)
{
	struct finding f;

	begin_mask(s, l, false, INVALID, &f);
	text_printf(&f.text, "    The mask 0x%08x does not name the thread itself, lane %u.\n",
		    members, l);
	sync_add(s->launch, &f);
}

static void report_different(const struct sync_step *s, u32 l, u32 k)
{
	struct finding f;

	begin_mask(s, l, false, INVALID, &f);
	text_printf(
		&f.text,
		"    Lane %u names the mask 0x%08x, lane %u of it names 0x%08x: they must name the same lanes.\n",
		l, members_of(s, l), k, members_of(s, k));
	sync_add(s->launch, &f);
}

/* Lanes that are here and that lane l names, by another mask than its own. */
static u32 find_different(const struct sync_step *s, u32 l, u32 members)
{
	for (u32 m = members & s->mask; m; m &= m - 1)
		if (members_of(s, (u32)__builtin_ctz(m)) != members)
			return (u32)__builtin_ctz(m) + 1;
	(void)l;
	return 0;
}

static bool exchanges(const struct uop *in)
{
	return warp_family(in->warp.action) != WARP_FAMILY_MEET &&
	       warp_family(in->warp.action) != WARP_FAMILY_ELECT;
}

static void report_exited(const struct sync_step *s, u32 l, u32 members, u32 exited)
{
	struct finding f;

	begin_mask(s, l, !exchanges(s->in), DIVERGENT_WARP, &f);
	text_printf(&f.text, "    The mask 0x%08x names lanes 0x%08x, which have exited.\n",
		    members, exited);
	sync_add(s->launch, &f);
}

/* The lane that a shuffle of lane l reads from; its own where that is out of range. */
static u32 shuffle_source(const struct sync_step *s, u32 l)
{
	const struct uop *in = s->in;
	u32 at_row = sync_index(s, l);
	u32 b = ((const u32 *)(const void *)(s->gang->regs + in->b))[at_row],
	    c = ((const u32 *)(const void *)(s->gang->regs + in->c))[at_row];
	u32 bval = b & 31, segment = c >> 8 & 31, low = l & segment,
	    high = low | (c & 31 & ~segment), at = l;
	bool in_range = true;

	switch (in->warp.action) {
#define SHUFFLE(id, source, is_in_range)                                                           \
	case WARP_##id:                                                                            \
		at = source;                                                                       \
		in_range = is_in_range;                                                            \
		break;
#include "src/uop/table/warp.def"
	default:
		break;
	}
	return in_range ? at & 31 : l;
}

/* A member that the block does not have. */
static void check_absent(const struct sync_step *s, u32 l, u32 members, u32 absent)
{
	struct finding f;
	u32 from;

	if (warp_family(s->in->warp.action) != WARP_FAMILY_SHUFFLE)
		return;
	from = shuffle_source(s, l);
	if (!(absent >> from & 1))
		return;
	begin_mask(s, l, false, INVALID, &f);
	text_printf(
		&f.text,
		"    It reads from lane %u, which the block has no thread for; the mask 0x%08x names it.\n",
		from, members);
	sync_add(s->launch, &f);
}

/*
 * A lane whose value is asked for by its number, and which does not take part. Sums over a part of
 * a warp read from such lanes, too, by a distance, and drop what they get.
 */
static void check_source(const struct sync_step *s, u32 l, u32 members)
{
	u32 from = s->in->warp.action == WARP_SHFL_IDX ? shuffle_source(s, l) : l;
	struct finding f;

	if (members >> from & 1)
		return;
	begin_mask(s, l, false, INVALID, &f);
	text_printf(&f.text, "    It reads from lane %u, which the mask 0x%08x does not name.\n",
		    from, members);
	sync_add(s->launch, &f);
}

static void check_mask(const struct sync_step *s, u32 l)
{
	const struct sync_warp *w = sync_warp_of(s);
	u32 members = members_of(s, l), gone = members & ~sync_live(s->cta, s->warp),
	    other = find_different(s, l, members);

	if (!(members >> l & 1)) {
		report_stranger(s, l, members);
		return;
	}
	if (other)
		report_different(s, l, other - 1);
	if (gone & w->threads)
		report_exited(s, l, members, gone & w->threads);
	if (gone & ~w->threads)
		check_absent(s, l, members, gone & ~w->threads);
	check_source(s, l, members);
}

/* ---- who comes ---- */

static struct sync_meeting *meeting_of(struct sync_warp *w, u32 members, u32 action)
{
	for (u32 i = 0; i < w->meetings; i++)
		if (w->meeting[i].members == members && w->meeting[i].action == action)
			return &w->meeting[i];
	return NULL;
}

static void remove_meeting(struct sync_warp *w, struct sync_meeting *x)
{
	w->meets &= ~x->arrived;
	*x = w->meeting[--w->meetings];
}

static void join_meeting(const struct sync_step *s, u32 members, u32 lanes)
{
	struct sync_warp *w = sync_warp_of(s);
	struct sync_meeting *x = meeting_of(w, members, s->in->warp.action);
	u32 live = sync_live(s->cta, s->warp);

	if (!(members & live & ~(lanes | (x ? x->arrived : 0)))) {
		if (x)
			remove_meeting(w, x);
		return;
	}
	if (!x && w->meetings < WARP_LANES) {
		x = &w->meeting[w->meetings++];
		*x = (struct sync_meeting){.members = members,
					   .gone = members & ~live,
					   .pc = s->pc,
					   .action = s->in->warp.action};
	}
	if (x)
		x->arrived |= lanes;
	w->meets |= x ? lanes : 0;
}

void sync_lanes_arrive(const struct sync_step *s)
{
	u32 left = s->mask;

	if (s->in->warp.alone)
		return;
	for (u32 m = s->mask; m; m &= m - 1)
		check_mask(s, (u32)__builtin_ctz(m));
	while (left) {
		u32 members = members_of(s, (u32)__builtin_ctz(left)), set = 0;

		for (u32 m = left; m; m &= m - 1)
			if (members_of(s, (u32)__builtin_ctz(m)) == members)
				set |= m & -m;
		left &= ~set;
		join_meeting(s, members, set);
	}
}

/* Lanes that waited go on: those that they waited for have exited instead. */
static void report_lanes_missing(const struct sync_step *s, const struct sync_meeting *x,
				 u32 missing)
{
	const struct sync_warp *w = sync_warp_of(s);
	const struct uop *in = &s->launch->program->uop[x->pc];
	u32 l = (u32)__builtin_ctz(missing), first = (u32)__builtin_ctz(x->arrived);
	bool past = exchanges(in) || sync_is_past(s->launch, x->pc, w->last[l], false);
	struct finding f;

	sync_begin(&f, FINDING_WARP_MASK, s->launch, s->cta, lane_thread(s, first), x->pc, !past,
		   "Mask");
	if (w->last[l] != NO_PC)
		sync_add_side(&f, s->launch, s->cta, lane_thread(s, l), w->last[l], "Exit");
	sync_say_head(&f, DIVERGENT_WARP);
	text_printf(
		&f.text,
		"    The mask 0x%08x names lanes 0x%08x, which have exited without coming to it.\n",
		x->members, missing);
	if (f.sides > 1) {
		text_puts(&f.text, "    The first was last seen ");
		finding_say_side(&f.side[1], &f.text);
		text_puts(&f.text, "\n");
	}
	sync_add(s->launch, &f);
}

void sync_lanes_resume(const struct sync_step *s)
{
	struct sync_warp *w = sync_warp_of(s);

	for (u32 i = w->meetings; i-- > 0;) {
		struct sync_meeting *x = &w->meeting[i];
		u32 missing;

		if (!(x->arrived & s->mask))
			continue;
		missing = x->members & w->threads & ~x->arrived & ~x->gone;
		if (missing)
			report_lanes_missing(s, x, missing);
		remove_meeting(w, x);
	}
}
