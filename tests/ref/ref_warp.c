/*
 * Instructions that the lanes of a warp execute together, for the reference engine. Each lane
 * stands at its own record
 * of the same kind; the lanes may have come by different ways. PTX ISA "shfl.sync", "vote.sync",
 * "match.sync",
 * "redux.sync", "activemask", "elect.sync".
 */
#include "src/num/numeric_f32.h"
#include "tests/ref/ref_int.h"

#define EACH_LANE(m, l, lanes)                                                                     \
	for (u32 m = (lanes), l = (u32)__builtin_ctz(m | 1u << 31); m;                             \
	     m &= m - 1, l = (u32)__builtin_ctz(m | 1u << 31))

static u64 operand(const struct ref_thread *t)
{
	return t->r[t->pc->a];
}

/* The lane a value comes from; false: none, the lane keeps its own. */
static bool shfl_source(u32 mode, u32 lane, u32 b, u32 c, u32 *from)
{
	u32 clamp = c & 31, seg = c >> 8 & 31, max = (lane & seg) | (clamp & ~seg),
	    min = lane & seg, n = b & 31;

	switch (mode) {
	case M_up:
		*from = lane - n;
		return (s32)(lane - n) >= (s32)max;
	case M_down:
		*from = lane + n;
		return *from <= max;
	case M_bfly:
		*from = lane ^ n;
		return *from <= max;
	default:
		*from = min | (n & ~seg);
		return *from <= max;
	}
}

void ref_meet_shfl(struct ref_warp *w, u32 lanes)
{
	u64 value[WARP_LANES] = {0};
	const u32 *ext = w->thread[0].cta->program->ext.at;

	/* A lane outside of the group gives 0. */
	EACH_LANE(m, l, lanes) {
		value[l] = operand(&w->thread[l]);
	}
	EACH_LANE(m, l, lanes) {
		struct ref_thread *t = &w->thread[l];
		u32 from = l, c = (u32)t->r[ext[t->pc->ext + 1]];
		bool valid = shfl_source(t->pc->mode, l, (u32)t->r[t->pc->b], c, &from);

		t->r[t->pc->d] = value[valid ? from & 31 : l];
		t->r[ext[t->pc->ext]] = valid;
	}
}

void ref_meet_vote(struct ref_warp *w, u32 lanes)
{
	bool all = true, any = false;

	EACH_LANE(m, l, lanes) {
		bool p = operand(&w->thread[l]) & 1;

		all &= p;
		any |= p;
	}
	EACH_LANE(m, l, lanes) {
		struct ref_thread *t = &w->thread[l];
		u32 mode = t->pc->mode;

		t->r[t->pc->d] = mode == M_all ? all : mode == M_any ? any : all || !any;
	}
}

void ref_meet_ballot(struct ref_warp *w, u32 lanes)
{
	u32 mask = 0;

	EACH_LANE(m, l, lanes)
		mask |= (u32)(operand(&w->thread[l]) & 1) << l;
	EACH_LANE(m, l, lanes)
		w->thread[l].r[w->thread[l].pc->d] = mask;
}

static u64 match_value(const struct ref_thread *t)
{
	return t->pc->size == 4 ? (u32)operand(t) : operand(t);
}

void ref_meet_match(struct ref_warp *w, u32 lanes)
{
	u32 same[WARP_LANES];

	EACH_LANE(m, l, lanes) {
		same[l] = 0;
		EACH_LANE(n, k, lanes)
			same[l] |= (u32)(match_value(&w->thread[k]) == match_value(&w->thread[l]))
				   << k;
	}
	EACH_LANE(m, l, lanes) {
		struct ref_thread *t = &w->thread[l];
		bool all = t->pc->mode == M_all, equal = same[l] == lanes;

		t->r[t->pc->d] = all && !equal ? 0 : same[l];
		if (all)
			t->r[t->pc->b] = equal;
	}
}

static u32 reduce(const struct ref_insn *in, u32 a, u32 b)
{
	u32 type = in->mode >> 16;

	switch (in->mode & 0xffff) {
	case M_add:
		return a + b;
	case M_and:
		return a & b;
	case M_or:
		return a | b;
	case M_xor:
		return a ^ b;
	case M_min:
		return type == T_f32   ? num_min_f32(a, b, in->ext)
		       : type == T_s32 ? ((s32)a < (s32)b ? a : b)
		       : a < b         ? a
				       : b;
	default:
		return type == T_f32   ? num_max_f32(a, b, in->ext)
		       : type == T_s32 ? ((s32)a > (s32)b ? a : b)
		       : a > b         ? a
				       : b;
	}
}

void ref_meet_redux(struct ref_warp *w, u32 lanes)
{
	u32 first = (u32)__builtin_ctz(lanes);
	const struct ref_insn *in = w->thread[first].pc;
	u32 x = (u32)operand(&w->thread[first]);

	/* One lane alone still takes the magnitude and the canonical NaN of the .f32 forms. */
	if (in->mode >> 16 == T_f32)
		x = reduce(in, x, x);
	EACH_LANE(m, l, lanes & (lanes - 1))
		x = reduce(in, x, (u32)operand(&w->thread[l]));
	EACH_LANE(m, l, lanes)
		w->thread[l].r[w->thread[l].pc->d] = x;
}

void ref_meet_activemask(struct ref_warp *w, u32 lanes)
{
	EACH_LANE(m, l, lanes)
		w->thread[l].r[w->thread[l].pc->d] = lanes;
}

/* The lowest lane is elected. */
void ref_meet_elect(struct ref_warp *w, u32 lanes)
{
	u32 leader = (u32)__builtin_ctz(lanes);

	EACH_LANE(m, l, lanes) {
		struct ref_thread *t = &w->thread[l];

		t->r[t->pc->d] = leader;
		t->r[t->pc->a] = l == leader;
	}
}

void ref_meet_sync(struct ref_warp *w, u32 lanes)
{
	(void)w;
	(void)lanes;
}
