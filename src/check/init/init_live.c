/*
 * Rows that may be read before they are written: whatever path leads to a read of another one
 * writes it first, so it need not be followed until something undefined is written there.
 */
#include "src/check/init/init_int.h"

#include <stdlib.h>
#include <string.h>

/* Sets of rows, at heads of blocks, take so many bytes at most. */
#define LIVE_BYTES_MOST ((u64)64 << 20)

struct live {
	const struct init_launch *l;
	const struct program *p;
	u32 words; /* of a set of rows */
	u32 *head; /* by micro-op: the number + 1 of the set of what is live before it */
	u32 heads;
	u64 *set; /* by head */
	u64 *now;
	bool changed;
};

static void add_head(struct live *v, u32 pc)
{
	if (!v->head[pc])
		v->head[pc] = ++v->heads;
}

/* The micro-ops that a branch may go to, but for the next. */
static u32 targets_of(const struct program *p, const struct uop *in, const u32 **targets)
{
	switch (in->inner) {
	case OP_bra:
	case OP_bra_pred:
		*targets = &in->branch.target;
		return in->branch.target != NO_PC;
	case OP_brx_idx:
		*targets = p->ext + in->ext;
		return in->branch.cases;
	default:
		*targets = NULL;
		return 0;
	}
}

static bool may_fall_through(const struct uop *in)
{
	bool leaves = in->inner == OP_bra || in->inner == OP_brx_idx || in->inner == OP_exit ||
		      in->inner == OP_ret;

	return !leaves || in->guard != NO_ROW;
}

/* Does it write all of its results, in each lane that runs it? */
static bool writes_all(const struct uop *in)
{
	if (in->guard != NO_ROW)
		return false;
	switch (uop_kind(in->inner)) {
	case UOP_LANE:
	case UOP_VALUE:
	case UOP_LOAD:
	case UOP_SREG:
	case UOP_WARP:
	case UOP_ATOMIC:
	case UOP_MATRIX:
	case UOP_MATRIX_LOAD:
		return true;
	default:
		return false;
	}
}

static u64 *set_at(const struct live *v, u32 pc)
{
	return v->set + (size_t)(v->head[pc] - 1) * v->words;
}

static void join_sets(u64 *to, const u64 *from, u32 words)
{
	for (u32 i = 0; i < words; i++)
		to[i] |= from[i];
}

static void pass_rows(struct live *v, u32 pc, const struct uop *in)
{
	const struct init_launch *l = v->l;

	for (u32 i = l->first_row[pc]; writes_all(in) && i < l->first_row[pc + 1]; i++)
		if (l->row_at[i] & INIT_ROW_WRITTEN) {
			u32 row = l->row_at[i] & ~INIT_ROW_WRITTEN;

			v->now[row / 64] &= ~((u64)1 << row % 64);
		}
	for (u32 i = l->first_row[pc]; i < l->first_row[pc + 1]; i++)
		if (!(l->row_at[i] & INIT_ROW_WRITTEN))
			v->now[l->row_at[i] / 64] |= (u64)1 << l->row_at[i] % 64;
}

static void pass_back(struct live *v, u32 pc)
{
	const struct uop *in = &v->p->uop[pc];
	const u32 *targets;
	u32 n = targets_of(v->p, in, &targets);

	if (!may_fall_through(in))
		memset(v->now, 0, v->words * sizeof(u64));
	for (u32 i = 0; i < n; i++)
		join_sets(v->now, set_at(v, targets[i]), v->words);
	pass_rows(v, pc, in);
	if (v->head[pc] && memcmp(set_at(v, pc), v->now, v->words * sizeof(u64)) != 0) {
		memcpy(set_at(v, pc), v->now, v->words * sizeof(u64));
		v->changed = true;
	}
}

static void find_heads(struct live *v)
{
	const struct program *p = v->p;

	for (u32 i = 0; i < p->func_len; i++)
		add_head(v, p->funcs[i].first);
	for (u32 pc = 0; pc < p->uops; pc++) {
		const u32 *targets;

		for (u32 i = targets_of(p, &p->uop[pc], &targets); i-- > 0;)
			add_head(v, targets[i]);
	}
}

bool init_live_find(const struct init_launch *l, u8 *live)
{
	const struct program *p = l->program;
	struct live v = {.l = l, .p = p, .words = p->block_bytes / 64 / 64 + 1};
	bool ok;

	v.head = calloc((size_t)p->uops + 1, sizeof(*v.head));
	v.now = calloc(v.words, sizeof(*v.now));
	if (v.head)
		find_heads(&v);
	ok = v.head && v.now && (u64)v.heads * v.words * sizeof(u64) <= LIVE_BYTES_MOST;
	v.set = ok ? calloc((size_t)v.heads + 1, v.words * sizeof(u64)) : NULL;
	ok = v.set != NULL;
	for (v.changed = ok; v.changed;) {
		v.changed = false;
		memset(v.now, 0, v.words * sizeof(u64));
		for (u32 pc = p->uops; pc-- > 0;)
			pass_back(&v, pc);
	}
	memset(live, 0, p->block_bytes / 64 + 1);
	for (u32 i = 0; ok && i < p->func_len; i++)
		for (u32 row = 0; row < p->block_bytes / 64; row++)
			live[row] |= (u8)(set_at(&v, p->funcs[i].first)[row / 64] >> row % 64 & 1);
	free(v.head);
	free(v.now);
	free(v.set);
	return ok;
}
