/*
 * Sums over launches.
 */
#include "src/profile/kernels.h"

#include <stdlib.h>

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_code(const struct profile_program *a, const struct profile_program *b)
{
	if (a == b)
		return true;
	if (strcmp(a->kernel, b->kernel) != 0 || a->insns.len != b->insns.len)
		return false;
	for (size_t i = 0; i < a->insns.len; i++) {
		const struct profile_insn *x = &a->insns.at[i], *y = &b->insns.at[i];

		if (x->ptx_line != y->ptx_line || x->line != y->line ||
		    strcmp(x->text, y->text) != 0 || !same_text(x->file, y->file))
			return false;
	}
	return true;
}

static struct kernel_sum *kernel_sum_of(struct kernel_sums *k, const struct profile_launch *l)
{
	struct kernel_sum x = {.sum = *l};

	for (size_t i = 0; i < k->at.len; i++)
		if (same_code(k->at.at[i].sum.program, l->program))
			return &k->at.at[i];
	/* Tables are of one launch. */
	profile_launch_bare(&x.sum);
	memset(x.sum.value, 0, sizeof(x.sum.value));
	return VEC_PUSH(&k->at, x) ? &k->at.at[k->at.len - 1] : NULL;
}

static int by_insn(const void *key, const void *at)
{
	u32 insn = *(const u32 *)key, other = ((const struct profile_row *)at)->insn;

	return insn < other ? -1 : insn > other;
}

/* Rows are in the order of instructions, mostly the same ones in every launch. */
static bool add_rows(struct profile_launch *sum, const struct profile_launch *l)
{
	for (size_t i = 0; i < l->rows.len; i++) {
		const struct profile_row *from = &l->rows.at[i];
		struct profile_row *to = sum->rows.len
						 ? bsearch(&from->insn, sum->rows.at, sum->rows.len,
							   sizeof(*to), by_insn)
						 : NULL;
		size_t at = sum->rows.len;

		if (!to) {
			if (!VEC_PUSH(&sum->rows, *from))
				return false;
			while (at && sum->rows.at[at - 1].insn > from->insn) {
				sum->rows.at[at] = sum->rows.at[at - 1];
				at--;
			}
			sum->rows.at[at] = *from;
			continue;
		}
		for (u32 k = 0; k < PROFILE_COLUMNS; k++)
			to->at[k] += from->at[k];
	}
	return true;
}

size_t kernel_sums_add(struct kernel_sums *k, const struct profile_launch *l)
{
	struct kernel_sum *x = kernel_sum_of(k, l);

	if (!x || !add_rows(&x->sum, l))
		return SIZE_MAX;
	for (u32 v = 0; v < PROFILE_VALUES; v++)
		if (v < VALUE_inst)
			x->sum.value[v] = l->value[v];
		else
			x->sum.value[v] += l->value[v];
	memcpy(x->sum.grid, l->grid, sizeof(l->grid));
	memcpy(x->sum.block, l->block, sizeof(l->block));
	memcpy(x->sum.cluster, l->cluster, sizeof(l->cluster));
	return VEC_PUSH(&x->launches, l) ? (size_t)(x - k->at.at) : SIZE_MAX;
}

void kernel_sums_fini(struct kernel_sums *k)
{
	for (size_t i = 0; i < k->at.len; i++) {
		VEC_FREE(&k->at.at[i].sum.rows);
		VEC_FREE(&k->at.at[i].launches);
	}
	VEC_FREE(&k->at);
}
