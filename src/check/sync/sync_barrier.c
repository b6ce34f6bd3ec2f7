/*
 * Barriers of a CTA. A phase of one without a thread count is seen to be complete when a thread
 * that waited runs again; of one with a count, when as many have arrived.
 *
 * Threads that have exited count as arrived (since Volta; PTX ISA "bar, barrier" wants all threads
 * of the CTA). One that left the kernel by an early return is worth a warning, one that passed by
 * the barrier and went on is an error: whether it has exited by then is a matter of time.
 */
#include "src/check/sync/sync_int.h"

#define DIVERGENT_BLOCK "Barrier error detected. Divergent thread(s) in block"
#define DIVERGENT_WARP "Barrier error detected. Divergent thread(s) in warp"
#define INVALID "Barrier error detected. Invalid arguments"

static bool wants_warps_whole(const struct sync_step *s)
{
	const struct isa_form *form = exec_form(s->launch->program, s->in);

	switch (form ? isa_form_opcode(form) : OPCODE_bar_sync) {
	case OPCODE_barrier:
	case OPCODE_barrier_arrive:
	case OPCODE_barrier_red:
	case OPCODE_barrier_cta:
	case OPCODE_barrier_cta_arrive:
	case OPCODE_barrier_cta_red:
		return isa_form_has(form, M_aligned);
	default:
		return true;
	}
}

static u32 first_thread(u32 warp, u32 lanes)
{
	return warp * WARP_LANES + (u32)__builtin_ctz(lanes);
}

/* ---- operands ---- */

static u32 barrier_operand(const struct sync_step *s, u32 row, u32 constant, u32 l)
{
	return row == NO_ROW ? constant
			     : ((const u32 *)(const void *)(s->gang->regs + row))[sync_index(s, l)];
}

static u32 barrier_number_of(const struct sync_step *s, u32 l)
{
	return barrier_operand(s, s->in->a, s->in->barrier.number, l);
}

static u32 barrier_count_of(const struct sync_step *s, u32 l)
{
	return barrier_operand(s, s->in->c, s->in->barrier.threads, l);
}

static void report_argument(const struct sync_step *s, u32 lanes, const char *format, u32 value,
			    u32 more)
{
	struct finding f;

	sync_begin(&f, FINDING_SYNC_ARGUMENT, s->launch, s->cta, first_thread(s->warp, lanes),
		   s->pc, false, "Barrier");
	sync_say_head(&f, INVALID);
	text_printf(&f.text, format, value, more);
	sync_add(s->launch, &f);
}

/* False: the engine will refuse it, or knows another barrier by that number. */
static bool check_arguments(const struct sync_step *s, u32 lanes, u32 number, u32 count)
{
	u32 most = s->cta->warps * WARP_LANES;

	if (number >= CTA_NAMED_BARRIERS)
		report_argument(s, lanes,
				"    It names barrier %u; a block has barriers 0 to %u.\n", number,
				CTA_NAMED_BARRIERS - 1);
	else if (count % WARP_LANES)
		report_argument(
			s, lanes,
			"    It waits for %u threads, which is no multiple of the warp's %u.\n",
			count, WARP_LANES);
	else if (count > most)
		report_argument(s, lanes,
				"    It waits for %u threads; the block has %u, in whole warps.\n",
				count, most);
	else
		return true;
	return false;
}

/* ---- phases ---- */

static struct sync_barrier *barrier_open(const struct sync_step *s, u32 lanes, u32 number,
					 u32 count)
{
	struct sync_barrier *b = &s->cta->barrier[number];
	u32 want = count ? count : s->cta->warps * WARP_LANES;
	struct finding f;

	if (!b->open) {
		b->open = true;
		b->counted = count != 0;
		b->want = want;
		b->pc = s->pc;
		b->thread = first_thread(s->warp, lanes);
	} else if (b->want != want) {
		sync_begin(&f, FINDING_SYNC_ARGUMENT, s->launch, s->cta,
			   first_thread(s->warp, lanes), s->pc, false, "Barrier");
		sync_add_side(&f, s->launch, s->cta, b->thread, b->pc, "Barrier");
		sync_say_head(&f, INVALID);
		text_printf(&f.text,
			    "    It names %u threads for barrier %u, where one waits for %u:\n    ",
			    want, number, b->want);
		finding_say_side(&f.side[1], &f.text);
		text_puts(&f.text, "\n");
		sync_add(s->launch, &f);
	}
	return b;
}

static void barrier_close(struct sync_barrier *b)
{
	b->open = b->counted = false;
	b->phase++;
	b->more = 0;
	memset(b->arrived, 0, sizeof(b->arrived));
}

/* Lanes of one warp have come to different instructions of a barrier that wants them together. */
static void report_apart(const struct sync_step *s, const struct sync_barrier *b, u32 lanes)
{
	struct finding f;

	sync_begin(&f, FINDING_BARRIER, s->launch, s->cta, first_thread(s->warp, lanes), s->pc,
		   false, "Barrier");
	sync_add_side(&f, s->launch, s->cta, first_thread(s->warp, b->arrived[s->warp]),
		      b->at[s->warp], "Barrier");
	sync_say_head(&f, DIVERGENT_WARP);
	text_puts(&f.text, "    Others of the warp wait at another barrier instruction:\n    ");
	finding_say_side(&f.side[1], &f.text);
	text_puts(&f.text, "\n");
	sync_add(s->launch, &f);
}

static u32 count_arrived(const struct sync_cta *c, const struct sync_barrier *b)
{
	u32 n = b->more;

	for (u32 w = 0; w < c->warps; w++) {
		u32 lanes = b->arrived[w];

		if (lanes && (!(sync_live(c, w) & ~lanes) || !c->cta->env->program->arch->has_its))
			n += WARP_LANES;
		else
			n += (u32)__builtin_popcount(lanes);
	}
	return n;
}

/* A barrier with a count is complete, but a warp is there in part. */
static void check_whole_warps(const struct sync_step *s, const struct sync_barrier *b)
{
	for (u32 w = 0; w < s->cta->warps; w++) {
		u32 missing = b->arrived[w] ? sync_live(s->cta, w) & ~b->arrived[w] : 0;
		struct finding f;

		if (!missing || !wants_warps_whole(s))
			continue;
		sync_begin(&f, FINDING_BARRIER, s->launch, s->cta, first_thread(w, b->arrived[w]),
			   b->at[w], false, "Barrier");
		sync_say_head(&f, DIVERGENT_WARP);
		text_printf(&f.text, "    Lanes 0x%08x of its warp did not come to it.\n", missing);
		sync_add(s->launch, &f);
	}
}

static void arrive_set(const struct sync_step *s, u32 set, u32 number, u32 count, bool waits)
{
	struct sync_barrier *b = barrier_open(s, set, number, count);
	struct sync_warp *w = sync_warp_of(s);

	if (b->arrived[s->warp] & ~set && b->at[s->warp] != s->pc && wants_warps_whole(s))
		report_apart(s, b, set);
	b->more += (u32)__builtin_popcount(b->arrived[s->warp] & set);
	b->arrived[s->warp] |= set;
	b->at[s->warp] = s->pc;
	b->waited |= waits;
	if (!waits && b->arrive_pc == NO_PC) {
		b->arrive_pc = s->pc;
		b->arrive_thread = first_thread(s->warp, set);
	}
	for (u32 m = set; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		w->passed[l] = s->pc;
		w->barrier[l] = (u8)number;
		w->phase[l] = b->phase;
	}
	w->waits_at_one = !(w->waits & ~set);
	if (waits)
		w->waits |= set;
	if (b->counted && count_arrived(s->cta, b) >= b->want) {
		check_whole_warps(s, b);
		barrier_close(b);
	}
}

void sync_barrier_arrive(const struct sync_step *s, bool waits)
{
	u32 left = s->mask;
	bool same = s->in->a == NO_ROW && s->in->c == NO_ROW;

	while (left) {
		u32 first = (u32)__builtin_ctz(left), number = barrier_number_of(s, first),
		    count = barrier_count_of(s, first), set = same ? left : 0;

		for (u32 m = left & ~set; m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m);

			if (barrier_number_of(s, l) == number && barrier_count_of(s, l) == count)
				set |= 1u << l;
		}
		left &= ~set;
		if (check_arguments(s, set, number, count))
			arrive_set(s, set, number, count, waits);
	}
}

/* ---- threads that have exited instead ---- */

/* The lanes of a warp that did not come; those that passed by first. */
struct absent {
	u32 past, left; /* threads + 1, 0: none */
	u32 at;         /* where that one was last */
};

static void look_at_absent(const struct sync_step *s, const struct sync_barrier *b,
			   struct absent *x)
{
	for (u32 w = 0; w < s->cta->warps && !x->past; w++) {
		const struct sync_warp *warp = &s->cta->warp[w];

		for (u32 m = warp->threads & ~b->arrived[w]; m && !x->past; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m), thread = w * WARP_LANES + l + 1;
			bool past = sync_is_past(s->launch, b->pc, warp->last[l],
						 warp->passed[l] == b->pc);

			if (past || !x->left)
				x->at = warp->last[l];
			x->past = past ? thread : 0;
			x->left = x->left ? x->left : thread;
		}
	}
}

static u32 threads_absent(const struct sync_cta *c, const struct sync_barrier *b)
{
	u32 n = 0;

	for (u32 w = 0; w < c->warps; w++)
		n += (u32)__builtin_popcount(c->warp[w].threads & ~b->arrived[w]);
	return n;
}

static void report_absent(const struct sync_step *s, const struct sync_barrier *b)
{
	struct absent x = {0};
	struct finding f;

	look_at_absent(s, b, &x);
	sync_begin(&f, FINDING_BARRIER, s->launch, s->cta, b->thread, b->pc, !x.past, "Barrier");
	if (x.at != NO_PC)
		sync_add_side(&f, s->launch, s->cta, (x.past ? x.past : x.left) - 1, x.at, "Exit");
	sync_say_head(&f, DIVERGENT_BLOCK);
	text_printf(&f.text,
		    "    %u of the block's %u threads have exited without coming to it%s\n",
		    threads_absent(s->cta, b), s->cta->threads,
		    x.past ? ", and so pass by it." : "; they count as arrived since sm_70.");
	if (f.sides > 1) {
		text_puts(&f.text, "    The first was last seen ");
		finding_say_side(&f.side[1], &f.text);
		text_puts(&f.text, "\n");
	}
	sync_add(s->launch, &f);
}

static void barrier_complete(const struct sync_step *s, struct sync_barrier *b)
{
	if (s->cta->cta->env->program->arch->has_its && threads_absent(s->cta, b))
		report_absent(s, b);
	barrier_close(b);
}

void sync_barrier_resume(const struct sync_step *s)
{
	struct sync_warp *w = sync_warp_of(s);
	u32 come = w->waits & s->mask;

	for (u32 m = w->waits_at_one ? come & -come : come; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);
		struct sync_barrier *b = &s->cta->barrier[w->barrier[l]];

		if (b->open && !b->counted && b->phase == w->phase[l])
			barrier_complete(s, b);
	}
	w->waits &= ~s->mask;
}

/* ---- the end of the CTA ---- */

void sync_barrier_end(struct sync_launch *l, struct sync_cta *c)
{
	for (u32 i = 0; i < CTA_NAMED_BARRIERS; i++) {
		const struct sync_barrier *b = &c->barrier[i];
		struct finding f;

		if (b->waited || b->arrive_pc == NO_PC)
			continue;
		sync_begin(&f, FINDING_BARRIER, l, c, b->arrive_thread, b->arrive_pc, false,
			   "Barrier");
		sync_say_head(&f, "Barrier error detected. Arrival that no thread waits for");
		text_printf(&f.text, "    No thread of the block has waited at barrier %u.\n", i);
		sync_add(l, &f);
	}
}
