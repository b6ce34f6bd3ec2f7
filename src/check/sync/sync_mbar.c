/*
 * mbarriers: those that are valid, by their place in shared memory, and what is done with others or
 * beyond their counts (PTX ISA "mbarrier"). Waits that never end are deadlocks of the engine: it is
 * told why.
 */
#include "src/check/sync/sync_int.h"
#include "src/async/async.h"
#include "src/exec/lane_access.h"
#include "src/uop/async.h"

#define TX_MOST 0xfffff

/* ---- places ---- */

struct sync_cta *sync_owner(struct sync_launch *l, const struct cta *from, u64 address,
			    const struct cta **owner)
{
	if (address >= from->env->mem->shared_base)
		address -= from->env->mem->shared_base;
	*owner = shared_owner((struct cta *)(uintptr_t)from, address >> MEM_SHARED_RANK_SHIFT);
	return *owner ? sync_cta_of(l, (*owner)->number) : NULL;
}

static struct sync_mbar *mbar_find(struct sync_cta *c, u32 offset)
{
	for (size_t i = 0; i < c->mbars.len; i++)
		if (c->mbars.at[i].offset == offset)
			return &c->mbars.at[i];
	return NULL;
}

static struct sync_mbar *mbar_make(struct sync_launch *l, struct sync_cta *c, u32 offset)
{
	struct sync_mbar *b = mbar_find(c, offset), none = {.offset = offset};

	if (b)
		return b;
	if (VEC_PUSH(&c->mbars, none))
		return &c->mbars.at[c->mbars.len - 1];
	l->gave_up = true;
	return NULL;
}

/* One lane's operation. */
struct mbar_visit {
	const struct sync_step *s;
	struct sync_cta *owner;
	u32 lane, offset;
	u64 value;           /* count or bytes */
	struct sync_mbar *b; /* NULL: none was ever there */
};

/* ---- what is reported ---- */

static void begin_mbar(const struct mbar_visit *v, bool is_warning, struct finding *f)
{
	const struct sync_step *s = v->s;

	sync_begin(f, FINDING_MBARRIER, s->launch, s->cta, s->warp * WARP_LANES + v->lane, s->pc,
		   is_warning, "Mbarrier");
}

static void end_mbar(const struct mbar_visit *v, struct finding *f)
{
	text_printf(&f->text, "    on the mbarrier at byte %u of the block's shared memory\n",
		    v->offset);
	if (v->b && f->sides < FINDING_SIDES) {
		sync_add_side(f, v->s->launch, v->owner, v->b->thread, v->b->pc,
			      v->b->valid ? "Init" : "Invalidation");
		text_printf(&f->text, "    It was %s ",
			    v->b->valid ? "initialised" : "invalidated");
		finding_say_side(&f->side[f->sides - 1], &f->text);
		text_puts(&f->text, "\n");
	}
	sync_add(v->s->launch, f);
}

static void report_mbar(const struct mbar_visit *v, const char *what)
{
	struct finding f;

	begin_mbar(v, false, &f);
	sync_say_head(&f, what);
	end_mbar(v, &f);
}

static void report_mbar_count(const struct mbar_visit *v, const char *format, u64 value, u64 most)
{
	struct finding f;
	struct text what = {0};

	text_printf(&what, format, (unsigned long long)value, (unsigned long long)most);
	begin_mbar(v, false, &f);
	sync_say_head(&f, what.at ? what.at : "Invalid mbarrier operation");
	end_mbar(v, &f);
	text_fini(&what);
}

/* ---- operations ---- */

static void mbar_set(struct mbar_visit *v, bool valid)
{
	v->b = v->b ? v->b : mbar_make(v->s->launch, v->owner, v->offset);
	if (!v->b)
		return;
	v->b->valid = valid;
	v->b->pc = v->s->pc;
	v->b->thread = v->s->warp * WARP_LANES + v->lane;
}

static void on_init(struct mbar_visit *v)
{
	if (v->b && v->b->valid)
		report_mbar(v, "Mbarrier initialised again without an invalidation");
	if (!v->value || v->value > MBAR_COUNT_MAX)
		report_mbar_count(
			v, "Mbarrier initialised with the count %llu; there may be 1 to %llu",
			v->value, MBAR_COUNT_MAX);
	mbar_set(v, true);
}

static bool is_initialised(const struct mbar_visit *v)
{
	struct sync_launch *l = v->s->launch;

	if (v->b && v->b->valid)
		return true;
	/* Loops of waits come back to it: once is enough. */
	if (map_get(&l->unready, (u64)v->s->pc + 1))
		return false;
	l->gave_up |= !map_set(&l->unready, (u64)v->s->pc + 1, 1);
	report_mbar(v, v->b ? "Mbarrier used after its invalidation"
			    : "Mbarrier used before its initialisation");
	return false;
}

/* What the lanes before, of the same step, leave of the word; the engine runs them afterwards. */
static struct mbar now_of(struct mbar_visit *v)
{
	u64 word;

	if (v->b->step != v->s->launch->steps) {
		memcpy(&word, v->owner->cta->shared + v->offset, sizeof(word));
		v->b->now = mbar_read(word);
		v->b->step = v->s->launch->steps;
	}
	return v->b->now;
}

static void keep_now(struct mbar_visit *v, struct mbar x)
{
	if (!x.pending && !x.tx)
		x.pending = x.expected;
	v->b->now = x;
}

static void on_arrival(struct mbar_visit *v, u64 n, bool drops)
{
	struct mbar x = now_of(v);

	const struct isa_form *form = exec_form(v->s->launch->program, v->s->in);

	if (form && isa_form_has(form, M_noComplete) && n == x.pending && !x.tx)
		report_mbar(v, "Arrival with .noComplete that completes a phase");
	if (!n || n > x.pending) {
		report_mbar_count(v, "Arrival of %llu at an mbarrier whose phase needs %llu more",
				  n, x.pending);
		return;
	}
	x.pending -= (u32)n;
	x.expected -= drops ? (u32)n : 0;
	keep_now(v, x);
}

static void on_expectation(struct mbar_visit *v)
{
	struct mbar x = now_of(v);

	if (v->value > TX_MOST || (s64)x.tx + (s64)v->value > TX_MOST)
		report_mbar_count(
			v, "Mbarrier that is to expect %llu bytes more; it can count to %llu",
			v->value, TX_MOST);
	else
		x.tx += (s32)v->value;
	v->b->now = x;
}

/* The parity of the phase that a wait is for. */
static u32 phase_waited(u32 action, u64 want)
{
	switch ((enum mbar_op)action) {
	case MBAR_WAIT:
	case MBAR_WAIT_LISTED:
	case MBAR_TRY:
	case MBAR_TRY_LISTED:
		return mbar_read(want).phase;
	default:
		return want & 1;
	}
}

static void report_more_bytes(const struct mbar_visit *v, u32 phase, u64 bytes)
{
	const struct sync_copy *x = sync_copy_of_phase(v->owner, v->offset, phase);
	struct finding f;

	begin_mbar(v, false, &f);
	sync_say_head(&f, "A phase of an mbarrier ends before the copies that complete in it");
	text_printf(&f.text, "    They bring %llu bytes more than it was told to expect.\n",
		    (unsigned long long)bytes);
	if (x) {
		sync_add_side(&f, v->s->launch, v->s->cta,
			      x->warp * WARP_LANES + (u32)__builtin_ctz(x->left), x->pc, "Copy");
		text_puts(&f.text, "    One of them is made ");
		finding_say_side(&f.side[f.sides - 1], &f.text);
		text_puts(&f.text, "\n");
	}
	end_mbar(v, &f);
}

/* Does the phase that is waited for end, or has it, with bytes of its copies still to come? */
static void on_wait(const struct mbar_visit *v)
{
	u32 phase = phase_waited(v->s->in->mbar.action, v->value);
	const u8 *at = v->owner->cta->shared + v->offset;
	u64 late = async_bytes_of_phase(v->owner->cta, (const u64 *)(const void *)at, phase), word;
	struct mbar now;

	memcpy(&word, at, sizeof(word));
	now = mbar_read(word);
	if (now.phase == phase && (now.pending || now.tx < 0))
		return;
	if (now.phase == phase)
		late = late > (u64)now.tx ? late - (u64)now.tx : 0;
	if (late)
		report_more_bytes(v, phase, late);
}

static void visit_mbar(struct mbar_visit *v)
{
	enum mbar_op action = (enum mbar_op)v->s->in->mbar.action;

	if (action == MBAR_INIT || action == MBAR_INIT_LISTED) {
		on_init(v);
		return;
	}
	if (!is_initialised(v))
		return;
	switch (action) {
	case MBAR_INVAL:
	case MBAR_INVAL_LISTED:
		mbar_set(v, false);
		break;
	case MBAR_ARRIVE:
	case MBAR_DROP:
		on_arrival(v, v->value, action == MBAR_DROP);
		break;
	case MBAR_ARRIVE_EXPECT:
	case MBAR_DROP_EXPECT:
		on_expectation(v);
		on_arrival(v, 1, action == MBAR_DROP_EXPECT);
		break;
	case MBAR_EXPECT:
		on_expectation(v);
		break;
	case MBAR_COMPLETE:
		break;
	default:
		on_wait(v);
		break;
	}
}

void sync_mbar_completes(const struct sync_step *s, struct sync_cta *owner, u32 offset)
{
	struct mbar_visit v = {.s = s,
			       .owner = owner,
			       .lane = (u32)__builtin_ctz(s->mask),
			       .offset = offset,
			       .b = mbar_find(owner, offset)};

	is_initialised(&v);
}

static u64 mbar_operand(const struct sync_step *s, u32 l)
{
	const u8 *row = s->gang->regs + s->in->b;

	if (s->in->b == NO_ROW)
		return 1;
	return s->in->flags & UOPF_WIDE_DATA ? ((const u64 *)(const void *)row)[sync_index(s, l)]
					     : ((const u32 *)(const void *)row)[sync_index(s, l)];
}

void sync_mbar_step(const struct sync_step *s)
{
	u32 mask = exec_step_passes(s->gang, s->in, s->warp - s->gang->first_warp - s->gang->warp);

	if (s->in->mbar.action == MBAR_CHECK_LAYOUT)
		return;
	for (u32 m = mask; m; m &= m - 1) {
		struct mbar_visit v = {.s = s, .lane = (u32)__builtin_ctz(m)};
		const u64 *row = (const u64 *)(const void *)(s->gang->regs + s->in->a);
		u64 address = row[sync_index(s, v.lane)];
		const struct cta *owner;

		v.owner = sync_owner(s->launch, s->cta->cta, address, &owner);
		v.offset = sync_offset(s->cta->cta, address);
		if (owner)
			sync_cluster_reach(s, v.lane, v.owner, owner);
		/* The engine refuses these. */
		if (!v.owner || v.offset % sizeof(u64) ||
		    v.offset + sizeof(u64) > owner->env->shared_bytes)
			continue;
		v.b = mbar_find(v.owner, v.offset);
		v.value = mbar_operand(s, v.lane);
		visit_mbar(&v);
	}
}

static bool is_over(u32 action, u64 word, u64 want)
{
	switch ((enum mbar_op)action) {
	case MBAR_WAIT:
	case MBAR_WAIT_LISTED:
	case MBAR_TRY:
	case MBAR_TRY_LISTED:
		return mbar_passed(word, want);
	default:
		return mbar_passed_parity(word, (u32)want);
	}
}

/* Waits that fail while no thread of the launch does anything else, before that is for ever. */
#define FAILED_MOST 100000u

/* Why the wait never ends: of the last of its lanes. The engine lists all that wait. */
static void say_stuck(const struct sync_step *s, const struct cta *at, u32 offset)
{
	u64 word;
	struct mbar x;

	memcpy(&word, at->shared + offset, sizeof(word));
	x = mbar_read(word);
	snprintf(
		s->stuck, sizeof(((struct fault *)0)->text),
		"a phase of an mbarrier never ends: at byte %u of the shared memory of block "
		"(%u,%u,%u) it lacks %u arrival%s and %d bytes, and all threads of the launch wait "
		"or have exited",
		offset, at->id[0], at->id[1], at->id[2], x.pending, x.pending == 1 ? "" : "s",
		x.tx);
}

/* Is that for ever? */
static bool note_failed(const struct sync_step *s, u32 lanes)
{
	sync_warp_of(s)->spins |= lanes;
	if (++s->launch->failed < FAILED_MOST)
		return false;
	s->launch->failed = 0;
	return true;
}

void sync_mbar_waited(const struct sync_step *s)
{
	const struct cta *waited = NULL;
	u32 failed = 0, waited_at = 0;

	if (s->in->mbar.action < MBAR_WAIT || s->in->a == s->in->d)
		return;
	for (u32 m = s->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);
		const u64 *row = (const u64 *)(const void *)(s->gang->regs + s->in->a);
		u64 address = row[sync_index(s, l)], word;
		u32 offset = sync_offset(s->cta->cta, address);
		const struct cta *at;
		struct sync_cta *owner = sync_owner(s->launch, s->cta->cta, address, &at);

		if (!owner || (u64)offset + sizeof(word) > at->env->shared_bytes)
			continue;
		memcpy(&word, at->shared + offset, sizeof(word));
		if (!is_over(s->in->mbar.action, word, mbar_operand(s, l))) {
			failed |= 1u << l;
			waited = at;
			waited_at = offset;
			continue;
		}
		sync_warp_of(s)->spins &= ~(1u << l);
		s->cta->remote.any = false;
		sync_copy_arrived(owner, offset,
				  phase_waited(s->in->mbar.action, mbar_operand(s, l)));
	}
	if (failed && note_failed(s, failed))
		say_stuck(s, waited, waited_at);
}
