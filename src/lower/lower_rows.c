/*
 * From virtual rows to places in the gang's register block: blocks, liveness, life spans, colouring
 * by linear scan, immediate post-dominators for branches, and the final byte offsets.
 *
 * A guarded micro-op does not end the life of what it writes. Micro-ops other than lane operations
 * read and write lanes of different warps in their own order, so what they read lives on past their
 * writes.
 */
#include "src/exec/affine.h"
#include "src/lower/lower_flow.h"

/*
 * Register block of a gang. As measured more than the L1 cache of some hosts: a gang that is its
 * whole CTA meets itself at barriers, which saves more than the misses cost.
 */
#define BLOCK_BYTES (40u << 10)

/* Does the micro-op never fall through? */
static bool ends_flow(const struct uop *in)
{
	return in->op == OP_bra || in->op == OP_brx_idx ||
	       ((in->op == OP_exit || in->op == OP_ret) && in->guard == NO_ROW);
}

/* Guards are noted as references until the end; `guard` holds a marker until then. */
static void mark_guards(struct lower *l)
{
	for (size_t i = 0; i < l->refs.len; i++)
		if (l->refs.at[i].field == FIELD_GUARD)
			l->uops.at[l->refs.at[i].insn].guard = 0;
}

static bool find_live_blocks(struct flow *f)
{
	struct lower *l = f->l;
	u32 n = (u32)l->uops.len;
	u8 *leader = calloc(n + 1, 1);

	f->block_of = malloc(sizeof(u32) * (n + 1));
	f->first_ref = malloc(sizeof(u32) * (n + 2));
	if (!leader || !f->block_of || !f->first_ref) {
		free(leader);
		return false;
	}
	for (u32 i = 0; i < l->p->func_len; i++)
		leader[l->p->funcs[i].first] = 1;
	leader[0] = leader[l->p->launch_first] = 1;
	for (u32 i = 0; i < n; i++) {
		if (l->uops.at[i].op == OP_join)
			leader[i] = 1;
		if (uop_is_branch(l->uops.at[i].op))
			leader[i + 1] = 1;
	}
	for (u32 i = 0; i < n; i++)
		f->blocks += leader[i];
	f->block = calloc(f->blocks + 1, sizeof(*f->block));
	if (!f->block) {
		free(leader);
		return false;
	}
	for (u32 i = 0, b = 0; i < n; i++) {
		if (leader[i]) {
			f->block[b++].first = i;
			if (b > 1)
				f->block[b - 2].end = i;
		}
		f->block_of[i] = b - 1;
	}
	f->block[f->blocks - 1].end = n;
	free(leader);
	return true;
}

static void find_successors(struct flow *f)
{
	struct lower *l = f->l;

	for (u32 b = 0; b < f->blocks; b++) {
		struct block *x = &f->block[b];
		const struct uop *last = &l->uops.at[x->end - 1];

		if ((last->op == OP_bra || last->op == OP_bra_pred) && last->branch.target != NO_PC)
			x->succ[x->succs++] = f->block_of[last->branch.target];
		if (last->op == OP_brx_idx) {
			x->ext = last->ext;
			x->exts = last->branch.cases;
		}
		if (!ends_flow(last) && b + 1 < f->blocks)
			x->succ[x->succs++] = b + 1;
	}
}

/* ---- liveness ---- */

static void count_refs(struct flow *f)
{
	struct lower *l = f->l;
	u32 r = 0, n = (u32)l->uops.len;

	for (u32 i = 0; i <= n; i++) {
		while (r < l->refs.len && l->refs.at[r].insn < i)
			r++;
		f->first_ref[i] = r;
	}
	f->first_ref[n + 1] = (u32)l->refs.len;
}

static bool find_use_def(struct flow *f)
{
	struct lower *l = f->l;

	f->words = ((u32)l->vregs.len + 63) / 64;
	f->bits = calloc((size_t)f->words * 4 * f->blocks + 1, sizeof(u64));
	if (!f->bits)
		return false;
	for (u32 b = 0; b < f->blocks; b++) {
		struct block *x = &f->block[b];

		x->in = f->bits + (size_t)f->words * 4 * b;
		x->out = x->in + f->words;
		x->use = x->out + f->words;
		x->def = x->use + f->words;
		for (u32 i = x->first; i < x->end; i++) {
			bool guarded = l->uops.at[i].guard != NO_ROW;

			for (u32 pass = 0; pass < 2; pass++)
				for (u32 r = f->first_ref[i]; r < f->first_ref[i + 1]; r++) {
					const struct row_ref *ref = &l->refs.at[r];
					u64 bit = 1ull << (ref->vreg & 63);
					u32 w = ref->vreg >> 6;

					if (!flow_is_tracked(l, ref->vreg))
						continue;
					if (pass == 0 && (!ref->write || guarded) &&
					    !(x->def[w] & bit))
						x->use[w] |= bit;
					if (pass == 1 && ref->write && !guarded)
						x->def[w] |= bit;
				}
		}
	}
	return true;
}

static void solve(struct flow *f)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (u32 b = f->blocks; b-- > 0;) {
			struct block *x = &f->block[b];

			for (u32 w = 0; w < f->words; w++) {
				u64 out = 0, in;

				for (u32 s = 0; s < x->succs + x->exts; s++)
					out |= f->block[flow_successor(f, x, s)].in[w];
				in = x->use[w] | (out & ~x->def[w]);
				changed |= in != x->in[w] || out != x->out[w];
				x->in[w] = in;
				x->out[w] = out;
			}
		}
	}
}

static void extend_life(struct vreg *v, u32 at)
{
	if (v->first == UINT32_MAX || at < v->first)
		v->first = at;
	if (at > v->last)
		v->last = at;
}

static void extend_set(struct flow *f, const u64 *set, u32 at)
{
	for (u32 w = 0; w < f->words; w++)
		for (u64 m = set[w]; m; m &= m - 1)
			extend_life(&f->l->vregs.at[w * 64 + (u32)__builtin_ctzll(m)], at);
}

/*
 * Positions are twice the micro-op: reads at 2i, writes at 2i + 1 (lane operations: results may
 * take a source's row).
 */
static void find_lives(struct flow *f)
{
	struct lower *l = f->l;

	for (u32 b = 0; b < f->blocks; b++) {
		extend_set(f, f->block[b].in, 2 * f->block[b].first);
		extend_set(f, f->block[b].out, 2 * f->block[b].end);
	}
	for (size_t r = 0; r < l->refs.len; r++) {
		const struct row_ref *ref = &l->refs.at[r];
		const struct uop *in = &l->uops.at[ref->insn];
		bool apart = !uop_is_lane(in->inner);

		extend_life(&l->vregs.at[ref->vreg], 2 * ref->insn + (ref->write || apart));
		if (ref->write && in->guard != NO_ROW)
			extend_life(&l->vregs.at[ref->vreg], 2 * ref->insn);
	}
}

/* ---- colouring ---- */

struct by_first {
	u32 vreg, first;
};

static int compare_first(const void *a, const void *b)
{
	const struct by_first *x = a, *y = b;

	return x->first < y->first   ? -1
	       : x->first > y->first ? 1
				     : (x->vreg > y->vreg) - (x->vreg < y->vreg);
}

/* Rows of one class in the current function. */
struct pool {
	VEC(u32) busy_until;
};

static u32 take_pool_row(struct lower *l, struct pool *p, const struct vreg *v)
{
	if (!l->options.one_to_one)
		for (u32 i = 0; i < p->busy_until.len; i++)
			if (p->busy_until.at[i] < v->first) {
				p->busy_until.at[i] = v->last;
				return i;
			}
	if (!VEC_PUSH(&p->busy_until, v->last))
		l->failed = true;
	return (u32)p->busy_until.len - 1;
}

/*
 * Where a function's rows begin: after those of all callers outside its cycle. Callers come first.
 */
static bool base_rows(struct lower *l, u32 rows[3])
{
	u32 *base = calloc(6 * (size_t)l->cycles, sizeof(u32)),
	    *size = base + 3 * (size_t)l->cycles;

	if (!base)
		return false;
	for (size_t i = 0; i < l->funcs.len; i++)
		for (u32 c = 0; c < 3; c++)
			if (l->funcs.at[i].rows[c] > size[3 * l->funcs.at[i].cycle + c])
				size[3 * l->funcs.at[i].cycle + c] = l->funcs.at[i].rows[c];
	/*
	 * Edges stand in the order in which functions were found, not in this one: go by functions.
	 */
	for (size_t i = 0; i < l->funcs.len; i++) {
		const struct lower_func *f = &l->funcs.at[i];

		for (u32 k = 0; k < f->edges; k++) {
			u32 to = l->funcs.at[l->edges.at[f->first_edge + k].to].cycle;

			for (u32 c = 0; c < 3 && to != f->cycle; c++)
				if (base[3 * f->cycle + c] + size[3 * f->cycle + c] >
				    base[3 * to + c])
					base[3 * to + c] =
						base[3 * f->cycle + c] + size[3 * f->cycle + c];
		}
	}
	for (size_t i = 0; i < l->funcs.len; i++)
		for (u32 c = 0; c < 3; c++) {
			u32 from = base[3 * l->funcs.at[i].cycle + c];

			rows[c] = from + l->funcs.at[i].rows[c] > rows[c]
					  ? from + l->funcs.at[i].rows[c]
					  : rows[c];
			l->funcs.at[i].rows[c] = from;
		}
	free(base);
	return true;
}

static u32 function_of_vreg(const struct lower *l, u32 vreg)
{
	return l->uops.at[min_u64(l->vregs.at[vreg].first / 2, l->uops.len - 1)].func;
}

/* Lives of one function, beginning at order[at]; returns where the next function's begin. */
static u32 colour_function(struct lower *l, const struct by_first *order, u32 at, u32 n)
{
	u32 func = function_of_vreg(l, order[at].vreg);
	struct pool pools[3] = {0};

	for (; at < n && function_of_vreg(l, order[at].vreg) == func; at++) {
		struct vreg *v = &l->vregs.at[order[at].vreg];

		v->row = take_pool_row(l, &pools[v->class], v);
	}
	for (u32 c = 0; c < 3; c++) {
		l->funcs.at[func].rows[c] = (u32)pools[c].busy_until.len;
		VEC_FREE(&pools[c].busy_until);
	}
	return at;
}

/* Constants inside micro-ops, and the frame of a kernel that has none, need no row. */
static bool is_used(const struct lower *l, u32 vreg)
{
	const struct vreg *v = &l->vregs.at[vreg];

	return v->first != UINT32_MAX ||
	       (!v->is_const && (l->p->has_calls || l->options.one_to_one));
}

/* Row numbers by class; constants and pinned rows come after the coloured ones. */
static bool colour(struct lower *l, u32 rows[3])
{
	struct by_first *order = malloc(sizeof(*order) * (l->vregs.len + 1));
	u32 n = 0;

	if (!order)
		return false;
	for (u32 v = 0; v < l->vregs.len; v++)
		if (flow_is_tracked(l, v) && l->vregs.at[v].first != UINT32_MAX)
			order[n++] = (struct by_first){v, l->vregs.at[v].first};
	qsort(order, n, sizeof(*order), compare_first);
	for (u32 i = 0; i < n;)
		i = colour_function(l, order, i, n);
	memset(rows, 0, 3 * sizeof(*rows));
	if (!base_rows(l, rows))
		l->failed = true;
	for (u32 i = 0; i < n; i++)
		l->vregs.at[order[i].vreg].row += l->funcs.at[function_of_vreg(l, order[i].vreg)]
							  .rows[l->vregs.at[order[i].vreg].class];
	for (u32 v = 0; v < l->vregs.len; v++)
		if (!flow_is_tracked(l, v) && is_used(l, v))
			l->vregs.at[v].row = rows[l->vregs.at[v].class]++;
	free(order);
	return !l->failed;
}

/* ---- calls ---- */

/* Where to return to is known as long as the function runs, also when it never returns. */
static void keep_returns(struct lower *l)
{
	for (u32 i = 1; i < l->funcs.len; i++) {
		u32 row[2] = {l->funcs.at[i].return_pc, l->funcs.at[i].return_frame};

		for (u32 k = 0; k < 2; k++) {
			extend_life(&l->vregs.at[row[k]], 2 * l->p->funcs[i].first);
			extend_life(&l->vregs.at[row[k]], 2 * l->p->funcs[i].end - 1);
		}
	}
}

static bool save_row(struct lower *l, u32 vreg, u32 *bytes)
{
	const struct vreg *v = &l->vregs.at[vreg];

	*bytes += v->class == ROW_W ? 4 : v->class == ROW_X ? 8 : 1;
	return VEC_PUSH(&l->ext, v->row | v->class);
}

static bool row_is_listed(const struct lower *l, u32 at, u32 row)
{
	for (size_t i = at + 1; i < l->ext.len; i++)
		if (l->ext.at[i] == row)
			return true;
	return false;
}

/*
 * For debuggers, which ask for registers of outer frames that are not live any more: the other rows
 * of the function, too. More of them takes a larger stack: stack_factor.
 */
static bool save_registers(struct lower *l, u32 func, u32 at, u32 *n, u32 *bytes)
{
	const struct program_func *f = &l->p->funcs[func];
	u64 few = (u64)l->funcs.at[func].frame_bytes + *bytes, all;

	for (u32 k = 0; f->part_row && k < f->reg_part[f->func->regs.len]; k++) {
		u32 row = f->part_row[k], class = row & 3;

		if (row == NO_ROW || row_is_listed(l, at, row))
			continue;
		*bytes += class == ROW_W ? 4 : class == ROW_X ? 8 : 1;
		(*n)++;
		if (!VEC_PUSH(&l->ext, row))
			return false;
	}
	all = (u64)l->funcs.at[func].frame_bytes + *bytes;
	l->p->stack_factor = (u32)max_u64(l->p->stack_factor, (all + few - 1) / (few ? few : 1));
	return true;
}

/*
 * The rows that live on after a call of a cycle, for op_call.c. After `assign_rows`: vregs have
 * their byte offsets.
 */
static bool list_saved(struct flow *f)
{
	struct lower *l = f->l;

	for (u32 b = 0; b < f->blocks; b++) {
		struct uop *in = &l->uops.at[f->block[b].end - 1];
		u32 n = 0, bytes = 0, at = (u32)l->ext.len;
		struct lower_func *x = &l->funcs.at[in->func];

		if (in->inner != OP_call || !in->call.saves)
			continue;
		if (!VEC_PUSH(&l->ext, 0))
			return false;
		for (u32 w = 0; w < f->words; w++)
			for (u64 m = f->block[b].out[w]; m; m &= m - 1, n++)
				if (!save_row(l, w * 64 + (u32)__builtin_ctzll(m), &bytes))
					return false;
		if (!save_registers(l, in->func, at, &n, &bytes))
			return false;
		l->ext.at[at] = n;
		in->ext = in[1].ext = at;
		if (!l->p->funcs[in->func].save_at)
			l->p->funcs[in->func].save_at = x->frame_bytes;
		if (l->p->funcs[in->func].save_at + bytes > x->frame_bytes)
			x->frame_bytes = l->p->funcs[in->func].save_at + bytes;
	}
	return true;
}

/* ---- offsets ---- */

static u32 choose_gang(const struct lower *l, const u32 rows[3])
{
	u32 bytes = rows[ROW_W] * 128 + rows[ROW_X] * 256 + rows[ROW_P] * 4, g = GANG_WARPS,
	    warps = l->options.warps;

	while (g > 1 && (bytes * g > BLOCK_BYTES || (warps && g / 2 >= warps)))
		g /= 2;
	return g;
}

/* Does the program need the row of diverged gangs? See diverged.h. */
static bool may_part(const struct lower *l)
{
	bool parts = false;

	for (u32 i = 0; i < l->uops.len; i++)
		parts |= l->uops.at[i].op == OP_bra_pred || l->uops.at[i].op == OP_brx_idx ||
			 l->uops.at[i].op == OP_guard;
	return parts && !l->options.one_to_one;
}

static void set_field(struct lower *l, const struct row_ref *r, u32 offset)
{
	struct uop *in = &l->uops.at[r->insn];

	switch (r->field) {
	case FIELD_D:
		in->d = offset;
		break;
	case FIELD_A:
		in->a = offset;
		break;
	case FIELD_B:
		in->b = offset;
		break;
	case FIELD_C:
		in->c = offset;
		break;
	case FIELD_E:
		in->lane.e = offset;
		break;
	case FIELD_GUARD:
		in->guard = offset;
		break;
	default:
		l->ext.at[r->field - FIELD_EXT] = offset;
		break;
	}
}

/* Registers that lowering has kept as vregs, for debuggers. */
static void place_registers(struct lower *l)
{
	for (u32 i = 0; i < l->p->func_len; i++) {
		const struct program_func *f = &l->p->funcs[i];
		u32 *row = (u32 *)f->part_row;

		for (u32 k = 0; row && k < f->reg_part[f->func->regs.len]; k++) {
			const struct vreg *v = row[k] == IR_NONE ? NULL : &l->vregs.at[row[k]];

			row[k] = v && v->first != UINT32_MAX ? v->row | v->class : NO_ROW;
		}
	}
}

static bool assign_rows(struct lower *l, const u32 rows[3])
{
	u32 gang = choose_gang(l, rows), w = 128 * gang, x = 256 * gang, p = 64, consts = 0;
	u32 base_x = rows[ROW_W] * w, base_p = base_x + rows[ROW_X] * x;
	struct program *prog = l->p;

	prog->gang = gang;
	prog->preds_at = base_p;
	prog->affine_at = base_p + rows[ROW_P] * p;
	prog->wide_at =
		(u32)align_up(prog->affine_at + 2 * prog->affines * sizeof(struct affine), 64);
	prog->block_bytes =
		(u32)align_up(prog->wide_at + prog->wides * sizeof(struct affine_wide), 64);
	if (gang > 1 && may_part(l)) {
		prog->diverged_at = prog->block_bytes;
		prog->block_bytes += x;
	}
	for (u32 v = 0; v < l->vregs.len; v++) {
		struct vreg *r = &l->vregs.at[v];

		r->row = r->class == ROW_W   ? r->row * w
			 : r->class == ROW_X ? base_x + r->row * x
					     : base_p + r->row * p;
		consts += r->is_const && is_used(l, v);
	}
	prog->consts = malloc(sizeof(*prog->consts) * (consts + 1));
	if (!prog->consts)
		return false;
	for (u32 v = 0; v < l->vregs.len; v++) {
		const struct vreg *r = &l->vregs.at[v];

		if (r->class == ROW_P && (r->is_const || (r->pinned && r->launch)) &&
		    r->row - base_p < 64 * p)
			prog->fixed_preds |= (u64)1 << (r->row - base_p) / p;
		if (r->is_const && is_used(l, v))
			prog->consts[prog->const_len++] =
				(struct program_const){r->row, r->class, r->bits};
	}
	for (size_t i = 0; i < l->refs.len; i++)
		set_field(l, &l->refs.at[i], l->vregs.at[l->refs.at[i].vreg].row);
	for (u32 i = 1; i < l->funcs.len; i++) {
		prog->funcs[i].return_row = l->vregs.at[l->funcs.at[i].return_pc].row;
		prog->funcs[i].return_frame_row = l->vregs.at[l->funcs.at[i].return_frame].row;
	}
	place_registers(l);
	prog->frame_row = l->vregs.at[l->frame_vreg].row;
	/* Not used: no row at all, and no missing operand of a micro-op either. */
	prog->stack_row = is_used(l, l->stack_vreg) ? l->vregs.at[l->stack_vreg].row : NO_ROW - 1;
	return true;
}

bool lower_rows(struct lower *l)
{
	struct flow f = {.l = l};
	u32 rows[3];
	bool ok;

	l->vregs.at[l->frame_vreg].pinned = true;
	l->vregs.at[l->stack_vreg].pinned = true;
	l->p->func_len = (u32)l->funcs.len;
	mark_guards(l);
	ok = find_live_blocks(&f);
	if (ok) {
		find_successors(&f);
		count_refs(&f);
		ok = find_use_def(&f);
	}
	if (ok) {
		solve(&f);
		flow_mark_waits(&f);
		find_lives(&f);
		keep_returns(l);
		ok = colour(l, rows) && flow_mark_dead(&f, rows) && flow_find_joins(&f) &&
		     assign_rows(l, rows) && list_saved(&f);
	}
	free(f.block);
	free(f.block_of);
	free(f.first_ref);
	free(f.bits);
	return ok;
}
