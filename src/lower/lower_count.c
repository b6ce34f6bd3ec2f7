/*
 * Micro-ops that count lanes, at the sites of a function.
 */
#include "src/lower/lower_int.h"

void lower_count_open(struct lower *l)
{
	struct program_func *f = &l->p->funcs[l->func];

	if (!(l->options.counts & (LOWER_COUNT_BLOCKS | LOWER_COUNT_CHOICES)))
		return;
	l->failed |= !lower_sites_find(&l->sites, l->f);
	f->count_at = l->p->counts;
	f->counts = l->sites.counts;
	l->p->counts += l->sites.counts;
}

void lower_count_close(struct lower *l)
{
	lower_sites_free(&l->sites);
}

static u32 place_of_count(const struct lower *l, const struct lower_site *s)
{
	return l->p->funcs[l->func].count_at + s->at;
}

void lower_count_block(struct lower *l)
{
	u32 i = lower_sites_of(&l->sites, l->ir);

	if (i < l->sites.len && l->sites.at[i].kind == SITE_BLOCK &&
	    l->options.counts & LOWER_COUNT_BLOCKS)
		lower_emit_free(l, OP_count_block)->count.at = place_of_count(l, &l->sites.at[i]);
}

/* The lanes of a select or an index are those for which its instruction runs. */
static void count_choice(struct lower *l, const struct lower_site *s)
{
	u32 at = place_of_count(l, s), row;

	switch ((enum site_kind)s->kind) {
	case SITE_BRANCH:
	case SITE_GUARD:
		lower_emit_free(l, OP_count_pred)->count.at = at;
		lower_read(l, FIELD_A, l->guard);
		lower_last(l)->flags |= l->guard_not ? UOPF_GUARD_NOT : 0;
		break;
	case SITE_SELECT:
		row = lower_source(l, lower_operand(l, 3), T_pred, ROW_P);
		lower_emit(l, OP_count_pred)->count.at = at;
		lower_read(l, FIELD_A, row);
		break;
	case SITE_INDEX:
		row = lower_source(l, lower_operand(l, 0), T_u32, ROW_W);
		lower_emit(l, OP_count_index)->count =
			(struct uop_count){.at = at, .cases = s->counts};
		lower_read(l, FIELD_A, row);
		break;
	case SITE_BLOCK:
	case SITE_KINDS:
		break;
	}
}

/* ---- instructions ---- */

void lower_count_begin(struct lower *l)
{
	l->count_lanes = NO_COUNT;
	l->count_whole = false;
}

void lower_count_before(struct lower *l)
{
	l->count_guard = NO_COUNT;
	if (!(l->options.counts & LOWER_COUNT_INSNS) || l->count_lanes != NO_COUNT)
		return;
	l->count_lanes = l->p->counts++;
	lower_emit_free(l, OP_count_block)->count.at = l->count_lanes;
}

void lower_count_guard(struct lower *l)
{
	if (!(l->options.counts & LOWER_COUNT_INSNS) || l->guard == IR_NONE)
		return;
	l->count_guard = l->p->counts++;
	lower_emit_free(l, OP_count_pred)->count.at = l->count_guard;
	lower_read(l, FIELD_A, l->guard);
	lower_last(l)->flags |= l->guard_not ? UOPF_GUARD_NOT : 0;
}

/*
 * Do the lanes that come to the micro-op go on to the next one together, and no others with them?
 * They part at branches, and meet wherever they may have waited for each other, so at anything that
 * is not known never to wait. A guard alone leaves lanes out of one micro-op.
 */
static bool stays_together(const struct uop *in)
{
	switch (uop_kind(in->inner)) {
	case UOP_LANE:
	case UOP_NOTHING:
	case UOP_FENCE:
	case UOP_VALUE:
	case UOP_SREG:
	case UOP_LOAD:
	case UOP_STORE:
	case UOP_ATOMIC:
	case UOP_COUNT:
		return true;
	default:
		return false;
	}
}

void lower_count_after(struct lower *l, u32 from)
{
	struct program_insn x = {l->func, l->ir, l->count_lanes, l->count_guard};
	bool is_run = false, together = true, matrix = false, others = false;

	if (!(l->options.counts & LOWER_COUNT_INSNS))
		return;
	for (u32 i = from; i < l->uops.len; i++) {
		enum uop_kind kind = uop_kind(l->uops.at[i].inner);
		bool stays = stays_together(&l->uops.at[i]);

		is_run |= kind != UOP_COUNT;
		together &= stays;
		matrix |= kind == UOP_MATRIX;
		others |= !stays && kind != UOP_MATRIX && kind != UOP_WARP;
	}
	/* What became part of another instruction is not run. */
	l->failed |= is_run && !VEC_PUSH(&l->insns, x);
	matrix &= !others;
	if (!together && !(matrix && l->count_whole))
		l->count_lanes = NO_COUNT;
	if (!together)
		l->count_whole = matrix;
}

/* ---- choices ---- */

void lower_count_choices(struct lower *l)
{
	if (!(l->options.counts & LOWER_COUNT_CHOICES))
		return;
	for (u32 i = lower_sites_of(&l->sites, l->ir);
	     i < l->sites.len && l->sites.at[i].ir == l->ir; i++)
		count_choice(l, &l->sites.at[i]);
}
