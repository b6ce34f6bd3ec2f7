/*
 * How values that are not defined go through registers.
 */
#include "src/check/init/init_flow.h"
#include "src/exec/observer.h"
#include "src/uop/rows.h"
#include "src/uop/texture.h"
#include "src/uop/warp.h"

#include <stdlib.h>
#include <string.h>

#define ROW_BYTES (GANG_WARPS * WARP_LANES * 8u)

/* ---- what the rows of a program are ---- */

struct row_find {
	struct init_launch *l;
	u32 wide_at; /* the lowest X row seen */
	u8 *written, *read;
	u32 n;
};

static void note_wide(struct row_find *f, u32 row)
{
	if (row < f->wide_at)
		f->wide_at = row;
}

/* X rows lie behind all W rows: the first one tells where they begin. */
static void find_wide(struct row_find *f, const struct program *p, const struct uop *in)
{
	const char *shape = uop_info[in->inner].shape;
	const u32 rows[] = {in->a, in->b, in->c, in->lane.e};

	if (uop_is_lane(in->inner)) {
		if (shape[0] == 'X')
			note_wide(f, in->d);
		for (u32 i = 0; i < 4 && shape[2 + i]; i++)
			if (shape[2 + i] == 'X')
				note_wide(f, rows[i]);
		return;
	}
	if (!uop_has_access(in->inner))
		return;
	if (in->flags & UOPF_WIDE)
		note_wide(f, in->a);
	if (in->flags & UOPF_WIDE_DATA && uop_kind(in->inner) == UOP_LOAD)
		note_wide(f, in->mem.count > 1 ? p->ext[in->ext] : in->d);
	if (in->flags & UOPF_WIDE_DATA && uop_kind(in->inner) == UOP_STORE)
		note_wide(f, in->mem.count > 1 ? p->ext[in->ext] : in->b);
}

static void note_row(void *user, u32 row, bool write)
{
	struct row_find *f = user;

	(write ? f->written : f->read)[row / 64] = 1;
	if (f->l->row_at)
		f->l->row_at[f->n] = row / 64 | (write ? INIT_ROW_WRITTEN : 0);
	f->n++;
}

/* Rows that the engine fills without a micro-op. */
static void forget_rows(struct init_launch *l)
{
	const struct program *p = l->program;
	u32 rows = p->block_bytes / 64;

	for (u32 i = 0; i < p->const_len; i++)
		l->states[p->consts[i].row / 64] = TAINT_CLEAN;
	/* Without calls these have no rows of their own. */
	if (p->has_calls && p->frame_row / 64 < rows)
		l->states[p->frame_row / 64] = TAINT_CLEAN;
	if (p->has_calls && p->stack_row / 64 < rows)
		l->states[p->stack_row / 64] = TAINT_CLEAN;
	for (u32 i = 1; i < p->func_len; i++) {
		l->states[p->funcs[i].return_row / 64] = TAINT_CLEAN;
		l->states[p->funcs[i].return_frame_row / 64] = TAINT_CLEAN;
	}
}

/*
 * Rows of functions hold what an earlier call left in them: only the kernel's begin unset. Those
 * that are written before they are read, whatever path is taken, count as clean.
 */
static bool begin_states(struct init_launch *l, const u8 *read)
{
	const struct program *p = l->program;
	u32 rows = p->block_bytes / 64;
	struct row_find launch = {.l = l};
	u32 *row_at = l->row_at;
	u8 *live = calloc(rows + 2, 1);
	bool ok;

	launch.read = launch.written = calloc(rows + 2, 1);
	ok = live && launch.written;
	if (ok) {
		bool is_known = init_live_find(l, live);

		l->row_at = NULL;
		for (u32 pc = p->launch_first; pc < p->uops; pc++)
			uop_each_row(&p->uop[pc], p->ext, note_row, &launch);
		l->row_at = row_at;
		for (u32 i = 0; i < rows; i++)
			if ((is_known ? live[i] : read[i]) && !launch.written[i])
				l->states[i] = TAINT_UNSET;
		forget_rows(l);
	}
	for (u32 i = 0; i < rows; i++)
		l->dirty += l->states[i] != TAINT_CLEAN;
	free(launch.written);
	free(live);
	return ok;
}

bool init_flow_prepare(struct init_launch *l)
{
	const struct program *p = l->program;
	u32 states = p->block_bytes / 64 + 2;
	struct row_find f = {.l = l,
			     .wide_at = p->preds_at,
			     .written = calloc(states, 1),
			     .read = calloc(states, 1)};
	bool ok;

	l->states = calloc(states, 1);
	l->first_row = calloc((size_t)p->uops + 1, sizeof(u32));
	ok = f.written && f.read && l->states && l->first_row;
	for (u32 pc = 0; ok && pc < p->uops; pc++) {
		l->first_row[pc] = f.n;
		uop_each_row(&p->uop[pc], p->ext, note_row, &f);
		find_wide(&f, p, &p->uop[pc]);
	}
	for (u32 i = 0; i < p->const_len; i++)
		if (p->consts[i].class == ROW_X)
			note_wide(&f, p->consts[i].row);
	if (ok) {
		l->first_row[p->uops] = f.n;
		l->row_at = malloc((f.n + 1) * sizeof(u32));
		ok = l->row_at != NULL;
	}
	f.n = 0;
	for (u32 pc = 0; ok && pc < p->uops; pc++)
		uop_each_row(&p->uop[pc], p->ext, note_row, &f);
	l->shape = (struct taint_shape){f.wide_at, p->preds_at, p->block_bytes, p->gang};
	ok = ok && begin_states(l, f.read);
	free(f.written);
	free(f.read);
	return ok;
}

/* ---- a step ---- */

static void gather_row(void *user, u32 row, bool write)
{
	struct step *s = user;

	if (write && s->dsts < ROWS_MOST)
		s->dst[s->dsts++] = row;
	else if (!write && s->srcs < ROWS_MOST)
		s->src[s->srcs++] = row;
}

static u32 *word_row(const struct step *s, u32 row)
{
	return (u32 *)(void *)(s->g->regs + row);
}

static void use_lanes(struct step *s, u32 row, enum init_use use, u32 w, u32 lanes)
{
	u32 warp = s->first + w;

	for (u32 m = lanes & taint_lanes(s->t, row, warp); m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);
		struct taint_value v = taint_get(s->t, row, warp * WARP_LANES + lane);
		struct init_where at = {s->c->cta, (u32)(s->in - s->g->uops),
					(s->g->first_warp + warp) * WARP_LANES + lane};

		init_use(s->c->launch, v.origin, use, &at);
	}
}

static void use_row(struct step *s, u32 row, enum init_use use)
{
	if (row == NO_ROW || !taint_state(s->t, row))
		return;
	for (u32 w = 0; w < s->warps; w++)
		use_lanes(s, row, use, w, s->pass[w]);
}

/* Lanes whose guard is not defined: whether they run it is not either. */
static void pass_guard(struct step *s)
{
	u32 row = s->in->guard;
	bool skips = uop_kind(s->in->inner) == UOP_FLOW && s->in->inner != OP_exit &&
		     s->in->inner != OP_ret;

	if (row == NO_ROW)
		return;
	if (taint_state(s->t, row))
		use_row(s, row, INIT_BRANCH);
	for (u32 w = 0; w < s->warps && !skips; w++) {
		u32 p = word_row(s, row)[s->first + w];

		s->pass[w] &= s->in->flags & UOPF_GUARD_NOT ? ~p : p;
		s->all = false;
	}
}

static void clean_results(struct step *s)
{
	for (u32 i = 0; i < s->dsts; i++) {
		u32 row = s->dst[i];

		if (!taint_state(s->t, row))
			continue;
		if (s->all) {
			taint_clean_row(s->t, row);
			continue;
		}
		for (u32 w = 0; w < s->warps; w++)
			taint_clean(s->t, row, s->first + w, s->pass[w]);
		taint_settle(s->t, row);
	}
}

static bool are_sources_clean(const struct step *s)
{
	for (u32 i = 0; i < s->srcs; i++)
		if (s->src[i] != s->in->guard && taint_state(s->t, s->src[i]))
			return false;
	return true;
}

/* What a lane's operands have that is not defined, together. */
static struct taint_value source_value(const struct step *s, u32 lane)
{
	struct taint_value all = {0};

	for (u32 i = 0; i < s->srcs; i++) {
		struct taint_value v;

		if (s->src[i] == s->in->guard || !taint_state(s->t, s->src[i]))
			continue;
		v = taint_get(s->t, s->src[i], lane);
		if (v.mask && (!all.mask || all.origin == TAINT_NEVER))
			all.origin = v.origin;
		all.mask |= v.mask;
	}
	return all;
}

/* Arithmetic: of one operand that is not defined in part, nothing of the result is. */
static void pass_computed(struct step *s)
{
	u32 lanes[GANG_WARPS] = {0};

	for (u32 i = 0; i < s->srcs; i++)
		for (u32 w = 0; s->src[i] != s->in->guard && w < s->warps; w++)
			lanes[w] |= taint_lanes(s->t, s->src[i], s->first + w) & s->pass[w];
	for (u32 w = 0; w < s->warps; w++)
		/* The lowest lane last: its origin is that of a predicate of the warp. */
		for (u32 m = lanes[w], l; m; m ^= 1u << l) {
			l = WARP_LANES - 1 - (u32)__builtin_clz(m);
			u32 lane = (s->first + w) * WARP_LANES + l;
			struct taint_value v = source_value(s, lane);

			for (u32 i = 0; i < s->dsts; i++) {
				v.mask = mask_of_class(taint_class(s->t, s->dst[i])) |
					 TAINT_COMPUTED;
				taint_put(s->t, s->dst[i], lane, v);
			}
		}
	for (u32 w = 0; w < s->warps; w++)
		for (u32 i = 0; i < s->dsts; i++)
			taint_clean(s->t, s->dst[i], s->first + w, s->pass[w] & ~lanes[w]);
	for (u32 i = 0; i < s->dsts; i++)
		taint_settle(s->t, s->dst[i]);
}

/* ---- operations that move bits ---- */

/* Names of operations whose result has each bit from one place, or from bits in one place. */
static const char *const bit_names[] = {
	"mov_",   "not_",  "and_",    "or_",        "xor_",    "selp_",       "low_",
	"high_",  "join_", "byte_of", "put_",       "half_of", "zero_extend", "sign_extend",
	"shl_",   "shr_",  "shf_",    "lop3",       "brev_",   "bfe_",        "bfi_",
	"szext_", "prmt_", "ext_",    "cvt_u16_s8",
};

static bool moves_bits(const struct uop *in)
{
	const char *name = uop_info[in->inner].name;

	for (u32 i = 0; i < ARRAY_LEN(bit_names); i++)
		if (!strncmp(name, bit_names[i], strlen(bit_names[i])))
			return true;
	return false;
}

static u32 bytes_of_row(const struct step *s, u32 row)
{
	enum row_class class = taint_class(s->t, row);

	return class == ROW_P ? 64 : s->t->shape->gang * (class == ROW_X ? 256 : 128);
}

/* Write `bit` into what is not defined of a row, for the lanes that run it. */
static void fill_undefined(const struct step *s, u32 row, bool bit)
{
	u8 *at = s->g->regs + row;
	enum row_class class = taint_class(s->t, row);

	for (u32 w = 0; w < s->warps; w++) {
		u32 lanes = taint_lanes(s->t, row, s->first + w) & s->pass[w];
		u32 *word = (u32 *)(void *)at + s->first + w;

		if (class == ROW_P) {
			*word = bit ? *word | lanes : *word & ~lanes;
			continue;
		}
		for (u32 m = lanes; m; m &= m - 1) {
			u32 lane = (s->first + w) * WARP_LANES + (u32)__builtin_ctz(m);
			u32 size = class == ROW_X ? 8 : 4;
			u32 mask = taint_get(s->t, row, lane).mask & TAINT_BYTES;

			for (; mask; mask &= mask - 1)
				at[lane * size + (u32)__builtin_ctz(mask)] = bit ? 0xff : 0;
		}
	}
}

static u32 differing(const struct step *s, const u8 *x, const u8 *y, u32 lane)
{
	enum row_class class = taint_class(s->t, s->dst[0]);
	u32 size = class == ROW_X ? 8 : 4, mask = 0;

	if (class == ROW_P) {
		u32 a, b, w = lane / WARP_LANES;

		memcpy(&a, x + w * 4, 4);
		memcpy(&b, y + w * 4, 4);
		return (a ^ b) >> lane % WARP_LANES & 1;
	}
	for (u32 i = 0; i < size; i++)
		mask |= (u32)(x[lane * size + i] != y[lane * size + i]) << i;
	return mask;
}

#define BIT_SOURCES 4u

/* Is a byte of the result in part defined? n: its bytes that are not. */
static bool splits_bytes(const struct step *s, const u8 *x, const u8 *y, u32 lane, u32 n)
{
	u32 size = taint_class(s->t, s->dst[0]) == ROW_X ? 8 : 4;

	for (; n; n &= n - 1) {
		u32 at = lane * size + (u32)__builtin_ctz(n);

		if ((x[at] ^ y[at]) != 0xff)
			return true;
	}
	return false;
}

/* Is one of a lane's operands a predicate that is not defined? What it chooses is computed. */
static bool is_chosen(const struct step *s, u32 lane)
{
	for (u32 i = 0; i < s->srcs; i++)
		if (s->src[i] != s->in->guard && taint_class(s->t, s->src[i]) == ROW_P &&
		    taint_get(s->t, s->src[i], lane).mask)
			return true;
	return false;
}

/*
 * Which bytes of the result depend on what is not defined: run it with zeros and with ones there,
 * and see what differs. A shift to the left by other than whole bytes is a multiplication.
 */
static void pass_bits(struct step *s)
{
	u8 saved[BIT_SOURCES + 1][ROW_BYTES], result[2][ROW_BYTES];
	u32 d = s->dst[0], n = bytes_of_row(s, d);
	struct taint_value v[WARP_LANES];
	u32 op = s->in->inner;
	bool multiplies = op == OP_shl_b16 || op == OP_shl_b32 || op == OP_shl_b64;

	for (u32 i = 0; i < s->srcs; i++)
		memcpy(saved[i], s->g->regs + s->src[i], bytes_of_row(s, s->src[i]));
	memcpy(saved[BIT_SOURCES], s->g->regs + d, n);
	for (u32 k = 0; k < 2; k++) {
		for (u32 i = 0; i < s->srcs; i++)
			if (taint_state(s->t, s->src[i]) && s->src[i] != s->in->guard)
				fill_undefined(s, s->src[i], k);
		s->g->table->run[s->in->inner](s->g, s->in);
		memcpy(result[k], s->g->regs + d, n);
		memcpy(s->g->regs + d, saved[BIT_SOURCES], n);
		for (u32 i = 0; i < s->srcs; i++)
			memcpy(s->g->regs + s->src[i], saved[i], bytes_of_row(s, s->src[i]));
	}
	for (u32 w = 0; w < s->warps; w++) {
		/* The result may lie where an operand does. */
		for (u32 m = s->pass[w]; m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m), lane = (s->first + w) * WARP_LANES + l;

			v[l] = source_value(s, lane);
			v[l].mask &= TAINT_COMPUTED;
			if (is_chosen(s, lane))
				v[l].mask |= TAINT_COMPUTED;
			n = differing(s, result[0], result[1], lane);
			v[l].mask = n ? v[l].mask | n : 0;
			if (multiplies && splits_bytes(s, result[0], result[1], lane, n))
				v[l].mask |= TAINT_COMPUTED;
		}
		for (u32 m = s->pass[w]; m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m);

			taint_put(s->t, d, (s->first + w) * WARP_LANES + l, v[l]);
		}
	}
	taint_settle(s->t, d);
}

/* ---- lanes of a warp ---- */

/* Where a lane of a shuffle reads from. */
static u32 read_lane(u32 action, u32 l, u32 bval, u32 c)
{
	u32 clamp = c & 31, segment = c >> 8 & 31, low = l & segment;
	u32 high = low | (clamp & ~segment), at = l;
	bool ok = true;

	bval &= 31;
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
	return ok ? at & 31 : l;
}

static void pass_shuffle(struct step *s)
{
	const struct uop *in = s->in;
	u32 b_row = in->b, c_row = in->c;

	for (u32 w = 0; w < s->warps && in->d != NO_ROW; w++) {
		u32 at = (s->first + w) * WARP_LANES;
		struct taint_value v[WARP_LANES] = {0};

		for (u32 m = s->pass[w]; m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m);
			u32 b = b_row == NO_ROW ? 0 : word_row(s, b_row)[at + l];
			u32 c = c_row == NO_ROW ? 31 : word_row(s, c_row)[at + l];
			u32 from = read_lane(in->warp.action, l, b, c);

			if (s->pass[w] >> from & 1)
				v[l] = taint_get(s->t, in->a, at + from);
		}
		for (u32 m = s->pass[w]; m; m &= m - 1)
			taint_put(s->t, in->d, at + (u32)__builtin_ctz(m), v[__builtin_ctz(m)]);
	}
	if (in->d != NO_ROW)
		taint_settle(s->t, in->d);
}

/* Is the vote the same whatever lanes say whose predicates are not defined? */
static bool is_decided(u32 action, u32 word, u32 lanes, u32 undefined)
{
	u32 sure = lanes & ~undefined;

	switch (action) {
	case WARP_VOTE_ANY:
		return word & sure;
	case WARP_VOTE_ALL:
		return ~word & sure;
	default:
		return (word & sure) && (~word & sure);
	}
}

/* One result for all lanes that take part. */
static void pass_together(struct step *s, bool votes)
{
	const struct uop *in = s->in;

	for (u32 w = 0; w < s->warps; w++) {
		u32 warp = s->first + w, bad = taint_lanes(s->t, in->a, warp) & s->pass[w];
		struct taint_value v;

		if (!bad || (votes && is_decided(in->warp.action, word_row(s, in->a)[warp],
						 s->pass[w], bad)))
			continue;
		v = taint_get(s->t, in->a, warp * WARP_LANES + (u32)__builtin_ctz(bad));
		for (u32 i = 0; i < s->dsts; i++)
			for (u32 m = s->pass[w]; m; m &= m - 1) {
				v.mask = mask_of_class(taint_class(s->t, s->dst[i])) |
					 TAINT_COMPUTED;
				taint_put(s->t, s->dst[i],
					  warp * WARP_LANES + (u32)__builtin_ctz(m), v);
			}
	}
}

/* The bytes of the mask in which lanes stand whose predicates are not defined. */
static void pass_ballot(struct step *s)
{
	const struct uop *in = s->in;

	for (u32 w = 0; w < s->warps && in->d != NO_ROW; w++) {
		u32 warp = s->first + w, bad = taint_lanes(s->t, in->a, warp) & s->pass[w];
		struct taint_value v;

		if (!bad)
			continue;
		v = taint_get(s->t, in->a, warp * WARP_LANES + (u32)__builtin_ctz(bad));
		v.mask = TAINT_COMPUTED;
		for (u32 i = 0; i < 4; i++)
			v.mask |= (bad >> 8 * i & 0xff ? 1u : 0) << i;
		for (u32 m = s->pass[w]; m; m &= m - 1)
			taint_put(s->t, in->d, warp * WARP_LANES + (u32)__builtin_ctz(m), v);
	}
}

static void pass_warp(struct step *s)
{
	enum warp_family family = warp_family(s->in->warp.action);

	if (s->in->a == NO_ROW || !taint_state(s->t, s->in->a)) {
		clean_results(s);
		return;
	}
	if (family == WARP_FAMILY_SHUFFLE) {
		pass_shuffle(s);
		return;
	}
	if (s->in->d != s->in->a)
		clean_results(s);
	if (family == WARP_FAMILY_VOTE)
		pass_together(s, true);
	else if (family == WARP_FAMILY_REDUCE || family == WARP_FAMILY_REDUCE_MODE)
		pass_together(s, false);
	else if (family == WARP_FAMILY_BALLOT)
		pass_ballot(s);
}

/* ---- the rest ---- */

/* Rows that a call of a cycle saves and restores have what the caller knew of them no more. */
static void pass_call(struct step *s)
{
	const u32 *list = s->g->env->program->ext + s->in->ext;

	if (s->in->inner == OP_call)
		use_row(s, s->in->a, INIT_BRANCH);
	for (u32 i = 0; s->in->inner == OP_call && s->in->call.saves && i < list[0]; i++)
		for (u32 w = 0; w < s->warps; w++)
			taint_clean(s->t, list[1 + i] & ~3u, s->first + w, s->pass[w]);
}

static void use_operands(struct step *s)
{
	for (u32 i = 0; i < s->srcs; i++) {
		u32 row = s->src[i];

		if (row != s->in->a && row != s->in->guard)
			use_row(s, row, INIT_ATOMIC);
	}
}

static void pass_lanes(struct step *s)
{
	if (are_sources_clean(s))
		clean_results(s);
	else if (s->dsts == 1 && s->srcs <= BIT_SOURCES && moves_bits(s->in))
		pass_bits(s);
	else
		pass_computed(s);
}

/* Where a fetch or a surface access goes, and what is stored there. */
static void use_place(struct step *s)
{
	const u32 *row = s->g->env->program->ext + s->in->ext;

	for (u32 i = TEX_ROW_SAMPLER; i < TEX_ROWS; i++)
		use_row(s, row[i], INIT_ADDRESS);
	for (u32 i = 0; s->in->inner == OP_sust && i < s->in->mem.count; i++) {
		u32 r = row[TEX_ROW_VALUE + i];

		for (u32 w = 0; r != NO_ROW && taint_state(s->t, r) && w < s->warps; w++)
			for (u32 m = s->pass[w]; m; m &= m - 1) {
				u32 l = (u32)__builtin_ctz(m);
				u32 lane = (s->first + w) * WARP_LANES + l;

				if (taint_get(s->t, r, lane).mask & TAINT_COMPUTED)
					use_lanes(s, r, INIT_STORE, w, 1u << l);
			}
	}
}

static void pass_uop(struct step *s)
{
	switch (uop_kind(s->in->inner)) {
	case UOP_LANE:
	case UOP_VALUE:
		pass_lanes(s);
		return;
	case UOP_WARP:
		pass_warp(s);
		return;
	case UOP_MATRIX:
		if (uop_info[s->in->inner].payload == PAYLOAD_PRODUCT) {
			init_pass_product(s);
			return;
		}
		break;
	case UOP_COUNT:
		return;
	case UOP_FLOW:
		if (s->in->inner == OP_brx_idx)
			use_row(s, s->in->a, INIT_BRANCH);
		return;
	case UOP_CALL:
		pass_call(s);
		return;
	case UOP_ATOMIC:
		use_operands(s);
		use_row(s, s->in->a, INIT_ADDRESS);
		break;
	case UOP_LOAD:
	case UOP_STORE:
		use_row(s, s->in->a, INIT_ADDRESS);
		break;
	case UOP_TEXTURE:
	case UOP_SURFACE:
		if (uop_info[s->in->inner].payload == PAYLOAD_TEXTURE &&
		    s->in->inner != OP_tex_query)
			use_place(s);
		break;
	case UOP_BARRIER:
		use_row(s, s->in->a, INIT_BARRIER);
		use_row(s, s->in->c, INIT_BARRIER);
		break;
	default:
		break;
	}
	clean_results(s);
}

/* A micro-op is about to run, one of whose rows is not clean. */
static void flow_step(struct init_cta *c, struct taint *t, struct gang *g, const struct uop *in)
{
	struct step s = {.c = c, .t = t, .g = g, .in = in, .first = g->warp};

	s.warps = exec_step_warps(g);
	s.all = g->mode == MODE_GANG || (g->warps == 1 && g->active == g->warp_at[0].live);
	for (u32 w = 0; w < s.warps; w++)
		s.pass[w] = exec_step_mask(g, w);
	pass_guard(&s);
	uop_each_row(in, g->env->program->ext, gather_row, &s);
	pass_uop(&s);
}

/* While nothing of its registers is undefined, a gang's steps are not needed. */
static void rest_gang(struct gang *g, const struct taint *t)
{
	g->quiet = !t->dirty;
	for (u32 w = 0; g->quiet && w < g->warps; w++)
		g->warp_at[w].told = 0;
}

void init_observe_step(void *user, const struct gang *g, const struct uop *in)
{
	struct init_check *check = user;
	struct init_cta *c = init_cta_of(check, g->cta);
	struct taint *t = c ? &c->gangs[g - g->cta->gang] : NULL;
	struct init_launch *l = c ? c->launch : NULL;
	u32 pc = (u32)(in - g->uops), dirty = 0;

	if (!c || !t->dirty)
		return;
	for (u32 i = l->first_row[pc]; i < l->first_row[pc + 1]; i++)
		dirty |= t->state[l->row_at[i] & ~INIT_ROW_WRITTEN];
	if (PL_LIKELY(!dirty))
		return;
	flow_step(c, t, (struct gang *)(uintptr_t)g, in);
	rest_gang((struct gang *)(uintptr_t)g, t);
	if (PL_UNLIKELY(l->announced != l->reports.len))
		init_announce(l, check->mem, check->found);
}
