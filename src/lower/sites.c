/*
 * Where lanes are counted.
 */
#include "src/lower/sites.h"

#include <stdlib.h>

bool *lower_used_labels(const struct ir_func *f)
{
	bool *used = calloc(f->labels.len + 1, sizeof(*used));

	if (!used)
		return NULL;
	for (size_t i = 0; i < f->operands.len; i++)
		if (f->operands.at[i].kind == IR_OP_LABEL)
			used[f->operands.at[i].index] = true;
	for (size_t i = 0; i < f->tables.len; i++)
		for (u32 k = 0;
		     f->tables.at[i].kind == IR_BRANCH_TARGETS && k < f->tables.at[i].len; k++)
			used[f->tables.at[i].at[k]] = true;
	return used;
}

/* May other lanes, or fewer, come to what follows? A callee need not return. */
static bool splits_flow(const struct ir_insn *in)
{
	switch (ir_opcode(in)) {
	case OPCODE_bra:
	case OPCODE_brx_idx:
	case OPCODE_ret:
	case OPCODE_exit:
	case OPCODE_trap:
	case OPCODE_call:
		return true;
	default:
		return false;
	}
}

/* By instruction: does a block begin there? NULL: no memory. */
static bool *block_begins(const struct ir_func *f)
{
	bool *used = lower_used_labels(f), *begins = calloc(f->insns.len + 1, sizeof(*begins));

	if (begins)
		begins[0] = true;
	for (size_t i = 0; used && begins && i < f->labels.len; i++)
		if (used[i] && f->labels.at[i].insn <= f->insns.len)
			begins[f->labels.at[i].insn] = true;
	for (size_t i = 0; begins && i < f->insns.len; i++)
		if (splits_flow(&f->insns.at[i]))
			begins[i + 1] = true;
	if (!used) {
		free(begins);
		begins = NULL;
	}
	free(used);
	return begins;
}

static void push_site(struct lower_sites *s, u32 ir, enum site_kind kind, u32 counts)
{
	s->at[s->len++] =
		(struct lower_site){.ir = ir, .at = s->counts, .counts = counts, .kind = (u8)kind};
	s->counts += counts;
}

bool lower_sites_find(struct lower_sites *s, const struct ir_func *f)
{
	bool *begins = block_begins(f);

	*s = (struct lower_sites){0};
	/* An instruction has at most its block, its guard and one more. */
	s->at = calloc(3 * f->insns.len + 1, sizeof(*s->at));
	for (u32 i = 0; s->at && begins && i < f->insns.len; i++) {
		const struct ir_insn *in = &f->insns.at[i];
		enum isa_mnemonic op = ir_opcode(in);

		if (begins[i])
			push_site(s, i, SITE_BLOCK, 1);
		if (in->guard != IR_NONE)
			push_site(s, i, op == OPCODE_bra ? SITE_BRANCH : SITE_GUARD, 1);
		if (op == OPCODE_selp && in->ops > 3 &&
		    f->operands.at[in->first_op + 3].kind == IR_OP_REG)
			push_site(s, i, SITE_SELECT, 1);
		if (op == OPCODE_brx_idx && in->ops > 1)
			push_site(s, i, SITE_INDEX,
				  f->tables.at[f->operands.at[in->first_op + 1].index].len);
	}
	free(begins);
	return s->at && begins;
}

void lower_sites_free(struct lower_sites *s)
{
	free(s->at);
	*s = (struct lower_sites){0};
}

u32 lower_sites_of(const struct lower_sites *s, u32 ir)
{
	u32 lo = 0, hi = s->len;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (s->at[mid].ir < ir)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->len && s->at[lo].ir == ir ? lo : s->len;
}
