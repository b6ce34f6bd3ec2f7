/*
 * Micro-ops that count lanes, at the sites of a function.
 */
#include "src/lower/lower_int.h"

void lower_count_open(struct lower *l)
{
	struct program_func *f = &l->p->funcs[l->func];

	if (!l->options.counts)
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

void lower_count_choices(struct lower *l)
{
	if (!(l->options.counts & LOWER_COUNT_CHOICES))
		return;
	for (u32 i = lower_sites_of(&l->sites, l->ir);
	     i < l->sites.len && l->sites.at[i].ir == l->ir; i++)
		count_choice(l, &l->sites.at[i]);
}
