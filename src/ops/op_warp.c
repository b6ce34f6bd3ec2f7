/*
 * Warp instructions: operands of the lanes are gathered, results computed for each set of lanes
 * that named the same member mask, and scattered. Lanes of a set may come from different micro-ops
 * (Independent Thread Scheduling): those that are early are parked until the last one arrives or
 * the missing ones have exited. Operands: d = result (W), ext[0] = predicate result, ext[1] =
 * member mask (none: warp.members), a, b, c = operands.
 */
#include "src/ops/lanes.h"
#include "src/num/numeric_f32.h"
#include "src/uop/warp.h"

struct meeting {
	u64 a[WARP_LANES];
	u32 b[WARP_LANES], c[WARP_LANES], member[WARP_LANES], d[WARP_LANES];
	u32 vote; /* predicate operand, lane mask */
	u32 p;    /* predicate result, lane mask */
};

/* All ones for each lane of a mask. */
static inline void lanes_on(u32 lanes, u32 *on)
{
	FOR_LANES(l, WARP_LANES)
		on[l] = lanes >> l & 1 ? FULL_MASK : 0;
}

/* Take the lanes that are on from a row. */
static inline void take_where(u32 *to, const u32 *row, const u32 *on)
{
	FOR_LANES(l, WARP_LANES)
		to[l] = on[l] ? row[l] : to[l];
}

static inline void fill_where(u32 *to, u32 value, const u32 *on)
{
	FOR_LANES(l, WARP_LANES)
		to[l] = on[l] ? value : to[l];
}

static void gather_operands(const struct gang *g, const struct uop *in, u32 w, u32 lanes,
			    struct meeting *x)
{
	u32 at = w * WARP_LANES, mask_row = g->env->program->ext[in->ext + 1], on[WARP_LANES];

	lanes_on(lanes, on);
	if (mask_row == NO_ROW || in->warp.alone)
		fill_where(x->member, in->warp.alone ? lanes : in->warp.members, on);
	else
		take_where(x->member, ROW32(mask_row) + at, on);
	if (in->b != NO_ROW)
		take_where(x->b, ROW32(in->b) + at, on);
	if (in->c != NO_ROW)
		take_where(x->c, ROW32(in->c) + at, on);
	if (in->a == NO_ROW)
		return;
	if (warp_takes_predicate(in->warp.action)) {
		x->vote = (x->vote & ~lanes) | (ROWP(in->a)[w] & lanes);
	} else if (in->warp.wide) {
		FOR_LANES(l, WARP_LANES)
			x->a[l] = on[l] ? ROW64(in->a)[at + l] : x->a[l];
	} else {
		FOR_LANES(l, WARP_LANES)
			x->a[l] = on[l] ? ROW32(in->a)[at + l] : x->a[l];
	}
}

static void scatter(struct gang *g, const struct uop *in, u32 w, u32 lanes, const struct meeting *x)
{
	u32 p_row = g->env->program->ext[in->ext], on[WARP_LANES];

	if (in->d != NO_ROW) {
		lanes_on(lanes, on);
		take_where(ROW32(in->d) + w * WARP_LANES, x->d, on);
	}
	if (p_row != NO_ROW)
		ROWP(p_row)[w] = (ROWP(p_row)[w] & ~lanes) | (x->p & lanes);
}

/*
 * Source lane of a shuffle and whether it is in range. c: clamp in bits 4..0, segment mask in
 * bits 12..8.
 */
static bool source_lane(u32 action, u32 l, u32 b, u32 c, u32 *from)
{
	u32 bval = b & 31, clamp = c & 31, segment = c >> 8 & 31;
	u32 low = l & segment, high = low | (clamp & ~segment), at = l;
	bool ok = true;

	switch (action) {
#define SHUFFLE(id, source, in_range)                                                              \
	case WARP_##id:                                                                            \
		at = source;                                                                       \
		ok = in_range;                                                                     \
		break;
#include "src/uop/table/warp.def"
	default:
		break;
	}
	*from = ok ? at : l;
	return ok;
}

/* Measured: a lane that reads from a lane that does not take part reads 0. */
static void shuffle(u32 kind, u32 set, struct meeting *x)
{
	u64 a[WARP_LANES];

	for (u32 l = 0; l < WARP_LANES; l++)
		a[l] = set >> l & 1 ? x->a[l] : 0;
	for (u32 m = set; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m), from;
		bool ok = source_lane(kind, l, x->b[l], x->c[l], &from);

		x->d[l] = (u32)a[from & 31];
		x->p = (x->p & ~(1u << l)) | (u32)ok << l;
	}
}

static void give_set(struct meeting *x, u32 set, u32 d)
{
	u32 on[WARP_LANES];

	lanes_on(set, on);
	fill_where(x->d, d, on);
}

/* Lanes that hold `v`. */
#if defined(__AVX512F__)
static inline u32 holders(const u64 *a, u64 v)
{
	__m512i x = _mm512_set1_epi64((long long)v);
	u32 mask = 0;

	for (u32 i = 0; i < WARP_LANES; i += 8)
		mask |= (u32)_mm512_cmpeq_epi64_mask(_mm512_loadu_si512(a + i), x) << i;
	return mask;
}
#else
static inline u32 holders(const u64 *a, u64 v)
{
	u32 equal[WARP_LANES];

	FOR_LANES(l, WARP_LANES)
		equal[l] = a[l] == v ? FULL_MASK : 0;
	return lanes_mask(equal);
}
#endif

/* One round for each value that occurs. */
static void match(u32 kind, u32 set, struct meeting *x)
{
	bool all = false;

	for (u32 left = set, same; left; left &= ~same) {
		same = holders(x->a, x->a[__builtin_ctz(left)]) & set;
		for (u32 m = same; m; m &= m - 1)
			x->d[__builtin_ctz(m)] = same;
		all = same == set;
	}
	if (kind == WARP_MATCH_ALL) {
		give_set(x, set, all ? set : 0);
		x->p = all ? x->p | set : x->p & ~set;
	}
}

static u32 combine(u32 action, u32 v, u32 x, u32 mode)
{
	switch (action) {
#define REDUCE(id, start, expr)                                                                    \
	case WARP_##id:                                                                            \
		return expr;
#define REDUCE_MODE(id, expr) REDUCE(id, , expr)
#include "src/uop/table/warp.def"
	default:
		return v;
	}
}

static void reduce_set(u32 action, u32 set, u32 mode, struct meeting *x)
{
	u32 first = (u32)__builtin_ctz(set), v = (u32)x->a[first];

	if (warp_family(action) == WARP_FAMILY_REDUCE_MODE)
		v = combine(action, v, v, mode);
	for (u32 m = set & (set - 1); m; m &= m - 1)
		v = combine(action, v, (u32)x->a[__builtin_ctz(m)], mode);
	give_set(x, set, v);
}

/* Of the lanes `set`, `yes` vote so. */
static bool vote(u32 action, u32 set, u32 yes)
{
	switch (action) {
#define VOTE(id, expr)                                                                             \
	case WARP_##id:                                                                            \
		return expr;
#include "src/uop/table/warp.def"
	default:
		return false;
	}
}

/* One set: all lanes of `set` have met. */
static void compute(const struct uop *in, u32 set, struct meeting *x)
{
	u32 yes = x->vote & set, result = 0;

	switch (warp_family(in->warp.action)) {
	case WARP_FAMILY_SHUFFLE:
		shuffle(in->warp.action, set, x);
		return;
	case WARP_FAMILY_VOTE:
		result = vote(in->warp.action, set, yes) ? set : 0;
		break;
	case WARP_FAMILY_BALLOT:
		give_set(x, set, yes);
		return;
	case WARP_FAMILY_MATCH:
		match(in->warp.action, set, x);
		return;
	case WARP_FAMILY_REDUCE:
	case WARP_FAMILY_REDUCE_MODE:
		reduce_set(in->warp.action, set, in->warp.mode, x);
		return;
	case WARP_FAMILY_ACTIVE:
		give_set(x, set, set);
		return;
	case WARP_FAMILY_ELECT:
		give_set(x, set, (u32)__builtin_ctz(set));
		result = set & -set;
		break;
	case WARP_FAMILY_MEET:
		return;
	}
	x->p = (x->p & ~set) | result;
}

/* Lanes of `lanes` that name the same members as the lowest of them. */
static u32 same_members(const struct meeting *x, u32 lanes)
{
	u32 member = x->member[__builtin_ctz(lanes)], equal[WARP_LANES];

	FOR_LANES(l, WARP_LANES)
		equal[l] = x->member[l] == member ? FULL_MASK : 0;
	return lanes_mask(equal) & lanes;
}

/* Source lane (its own when out of range) and, all ones or zero, whether it is in range. */
#define SOURCES(from_, ok_)                                                                        \
	FOR_LANES(l, WARP_LANES) {                                                                 \
		u32 bval = b[l] & 31, segment = c[l] >> 8 & 31, low = l & segment;                 \
		u32 high = low | (c[l] & 31 & ~segment), at = (from_);                             \
		u32 in_range = (ok_) ? FULL_MASK : 0;                                              \
		(void)bval;                                                                        \
		from[l] = ((at & in_range) | (l & ~in_range)) & 31;                                \
		ok[l] = in_range;                                                                  \
	}

/*
 * A shuffle whose members are all here, or have exited: who named whom makes no difference then,
 * each lane reads from the row.
 */
static void shuffle_here(struct gang *g, const struct uop *in, u32 w, u32 lanes)
{
	u32 p_row = g->env->program->ext[in->ext], m_row = g->env->program->ext[in->ext + 1],
	    from[WARP_LANES], ok[WARP_LANES], copy[WARP_LANES], on[WARP_LANES], member[WARP_LANES];
	const u32 *a = ROW32(in->a) + w * WARP_LANES, *b = ROW32(in->b) + w * WARP_LANES,
		  *c = ROW32(in->c) + w * WARP_LANES;

	switch (in->warp.action) {
#define SHUFFLE(id, source, in_range)                                                              \
	case WARP_##id:                                                                            \
		SOURCES(source, in_range)                                                          \
		break;
#include "src/uop/table/warp.def"
	default:
		return;
	}
	lanes_on(lanes, on);
	FOR_LANES(l, WARP_LANES)
		copy[l] = a[l] & on[l];
	if (m_row == NO_ROW || in->warp.alone)
		FOR_LANES(l, WARP_LANES)
			member[l] = in->warp.members && !(in->warp.alone) ? in->warp.members
									  : FULL_MASK;
	else
		FOR_LANES(l, WARP_LANES)
			member[l] = (ROW32(m_row) + w * WARP_LANES)[l];
	if (in->d != NO_ROW) {
		u32 *d = ROW32(in->d) + w * WARP_LANES;

		FOR_LANES(l, WARP_LANES)
			copy[l] &= on[l];
		FOR_LANES(l, WARP_LANES) {
			u32 got = !member[l] || member[l] >> from[l] & 1 ? copy[from[l]] : 0;

			d[l] = on[l] ? got : d[l];
		}
	}
	if (p_row != NO_ROW)
		ROWP(p_row)[w] = (ROWP(p_row)[w] & ~lanes) | (lanes_mask(ok) & lanes);
}

/* All lanes of one warp are here: the common case, and the only one in gang mode. */
static void execute(struct gang *g, const struct uop *in, u32 w, u32 lanes)
{
	struct meeting x = {0};
	u32 left = lanes;

	if (warp_family(in->warp.action) == WARP_FAMILY_SHUFFLE) {
		shuffle_here(g, in, w, lanes);
		return;
	}
	gather_operands(g, in, w, lanes, &x);
	while (left) {
		u32 set = same_members(&x, left);

		compute(in, set, &x);
		left &= ~set;
	}
	scatter(g, in, w, lanes, &x);
}

/* ---- whole warps with the full member mask: no bookkeeping, loops over lanes ---- */

/*
 * All lanes are here, and each names all as members: the constant of the micro-op or what the row
 * holds.
 */
static inline bool is_whole(const struct gang *g, const struct uop *in, u32 w, u32 lanes)
{
	u32 row = g->env->program->ext[in->ext + 1], member = FULL_MASK;
	const u32 *m;

	if (lanes != FULL_MASK || in->warp.alone)
		return false;
	if (row == NO_ROW)
		return in->warp.members == FULL_MASK;
	m = ROW32(row) + w * WARP_LANES;
	for (u32 l = 0; l < WARP_LANES; l++)
		member &= m[l];
	return member == FULL_MASK;
}

static void spread(struct gang *g, const struct uop *in, u32 w, u32 v)
{
	u32 *d;

	if (in->d == NO_ROW)
		return;
	d = ROW32(in->d) + w * WARP_LANES;
	FOR_LANES(l, WARP_LANES)
		d[l] = v;
}

static void vote_whole(struct gang *g, const struct uop *in, u32 w)
{
	u32 yes = ROWP(in->a)[w], p_row = g->env->program->ext[in->ext];

	if (warp_family(in->warp.action) == WARP_FAMILY_BALLOT)
		spread(g, in, w, yes);
	else if (p_row != NO_ROW)
		ROWP(p_row)[w] = vote(in->warp.action, FULL_MASK, yes) ? FULL_MASK : 0;
}

static void reduce_whole(struct gang *g, const struct uop *in, u32 w)
{
	const u32 *a = ROW32(in->a) + w * WARP_LANES, first PL_UNUSED = a[0];
	u32 v = 0;

	switch (in->warp.action) {
#define REDUCE(id, start, expr)                                                                    \
	case WARP_##id:                                                                            \
		v = start;                                                                         \
		for (u32 l = 0; l < WARP_LANES; l++) {                                             \
			u32 x = a[l];                                                              \
			v = expr;                                                                  \
		}                                                                                  \
		break;
#include "src/uop/table/warp.def"
	default:
		return;
	}
	spread(g, in, w, v);
}

/* Returns false for the kinds that have no quick way. */
static bool execute_whole(struct gang *g, const struct uop *in, u32 w)
{
	switch (warp_family(in->warp.action)) {
	case WARP_FAMILY_SHUFFLE:
		shuffle_here(g, in, w, FULL_MASK);
		break;
	case WARP_FAMILY_VOTE:
	case WARP_FAMILY_BALLOT:
		vote_whole(g, in, w);
		break;
	case WARP_FAMILY_REDUCE:
		reduce_whole(g, in, w);
		break;
	default:
		return warp_family(in->warp.action) == WARP_FAMILY_MEET;
	}
	return true;
}

/* ---- meetings ---- */

static bool is_same_meeting(const struct uop *a, const struct uop *b)
{
	return a->inner == b->inner && a->flags == b->flags && a->warp.action == b->warp.action &&
	       a->warp.alone == b->warp.alone && a->warp.wide == b->warp.wide;
}

/* Parked groups that wait for the same meeting as (in, member). */
static u32 waiting(const struct gang *g, const struct warp *w, const struct uop *in, u32 member)
{
	u32 lanes = 0;

	for (u32 i = 0; i < w->groups; i++)
		if (w->group[i].state == GROUP_SYNC && w->group[i].want == member &&
		    is_same_meeting(&g->uops[w->group[i].pc], in))
			lanes |= w->group[i].mask;
	return lanes;
}

/* All of the set are parked or in `here` (micro-op `in`): run it and make all of them ready
 * after. */
static void meet(struct gang *g, struct warp *w, const struct uop *in, u32 member, u32 here)
{
	struct group done[WARP_LANES];
	struct meeting x = {0};
	u32 n = 0, set = here;

	for (u32 i = w->groups; i-- > 0;)
		if (w->group[i].state == GROUP_SYNC && w->group[i].want == member &&
		    is_same_meeting(&g->uops[w->group[i].pc], in)) {
			done[n++] = w->group[i];
			set |= w->group[i].mask;
			w->group[i] = w->group[--w->groups];
		}
	if (here)
		done[n++] = (struct group){.mask = here, .pc = (u32)(in - g->uops)};
	for (u32 i = 0; i < n; i++)
		gather_operands(g, &g->uops[done[i].pc], 0, done[i].mask, &x);
	compute(in, set, &x);
	for (u32 i = 0; i < n; i++) {
		scatter(g, &g->uops[done[i].pc], 0, done[i].mask, &x);
		warp_park(w, (struct group){.mask = done[i].mask,
					    .pc = done[i].pc + 1,
					    .state = GROUP_READY});
	}
}

/* Lanes have exited: meetings that only waited for them take place. */
void EXEC_NAME(warp_settle)(struct gang *g)
{
	struct warp *w = &g->warp_at[g->warp];

	for (u32 i = 0; i < w->groups; i++) {
		const struct uop *in = &g->uops[w->group[i].pc];
		u32 want = w->group[i].want;

		if (w->group[i].state != GROUP_SYNC || (want & w->live & ~waiting(g, w, in, want)))
			continue;
		meet(g, w, in, want, 0);
		i = UINT32_MAX; /* the list has changed: look again from the start */
	}
}

static const struct uop *arrive(struct gang *g, const struct uop *in)
{
	struct warp *w = &g->warp_at[g->warp];
	u32 left = w->mask, missing = 0;
	struct meeting x = {0};

	gather_operands(g, in, 0, left, &x);
	for (u32 m = left; m; m &= m - 1)
		missing |= x.member[__builtin_ctz(m)] & w->live & ~left;
	if (!missing) {
		execute(g, in, 0, left);
		return in + 1;
	}
	while (left) {
		u32 set = same_members(&x, left), member = x.member[__builtin_ctz(left)];

		if (member & w->live & ~(set | waiting(g, w, in, member)))
			warp_park(w, (struct group){.mask = set,
						    .pc = (u32)(in - g->uops),
						    .state = GROUP_SYNC,
						    .want = member});
		else
			meet(g, w, in, member, set);
		left &= ~set;
	}
	w->mask = 0;
	return warp_next(g);
}

/*
 * Lanes that are not members of the set they name: measured, that is illegal. An empty set means
 * the lanes that are here.
 */
static u32 strangers(const struct gang *g, const struct uop *in, u32 w, u32 lanes)
{
	u32 row = g->env->program->ext[in->ext + 1], outside[WARP_LANES];
	const u32 *m;

	if (in->warp.alone)
		return 0;
	if (row == NO_ROW)
		return in->warp.members ? lanes & ~in->warp.members : 0;
	m = ROW32(row) + w * WARP_LANES;
	FOR_LANES(l, WARP_LANES)
		outside[l] = m[l] && !(m[l] >> l & 1) ? FULL_MASK : 0;
	return lanes_mask(outside) & lanes;
}

/*
 * Lanes name a set that they are not in. Measured: where all 32 lanes are together and name the
 * same set, all of them take part, whichever are named. Returns false where that is not so.
 */
static bool execute_together(struct gang *g, const struct uop *in, u32 w, u32 lanes)
{
	u32 row = g->env->program->ext[in->ext + 1];
	const u32 *m = row == NO_ROW ? NULL : ROW32(row) + w * WARP_LANES;
	struct uop all = *in;

	if (lanes != FULL_MASK)
		return false;
	for (u32 l = 1; m && l < WARP_LANES; l++)
		if (m[l] != m[0])
			return false;
	all.warp.alone = true;
	execute(g, &all, w, lanes);
	return true;
}

HANDLER(warp_sync_gang)
{
	for (u32 w = 0; w < g->warps; w++) {
		u32 live = g->warp_at[w].live, bad;

		if (!live || (is_whole(g, in, w, live) && execute_whole(g, in, w)))
			continue;
		bad = strangers(g, in, w, live);
		if (PL_UNLIKELY(bad)) {
			if (execute_together(g, in, w, live))
				continue;
			g->warp = w;
			return exec_fault(g, in, FAULT_ILLEGAL_INSTRUCTION, bad);
		}
		execute(g, in, w, live);
	}
	return in + 1;
}

HANDLER(warp_sync_warp)
{
	u32 active = g->active, bad;

	if (in->warp.alone) {
		execute(g, in, 0, active);
		return in + 1;
	}
	if (g->mode == MODE_WARP && is_whole(g, in, 0, active) && execute_whole(g, in, 0))
		return in + 1;
	bad = strangers(g, in, 0, active);
	if (PL_UNLIKELY(bad) && execute_together(g, in, 0, active))
		return in + 1;
	if (PL_UNLIKELY(bad))
		return exec_fault(g, in, FAULT_ILLEGAL_INSTRUCTION, bad);
	if (g->mode == MODE_WARP) {
		/* All lanes that live are here: none can be missing. */
		execute(g, in, 0, active);
		return in + 1;
	}
	return arrive(g, in);
}
