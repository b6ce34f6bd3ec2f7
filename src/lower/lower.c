/*
 * From IR to micro-ops: walks the functions a kernel reaches, applies a rule to every instruction,
 * places labels. All choices are made here once: operation, types, rounding, space, width. Rules
 * are in src/lower/rules.
 */
#include "src/tier/tier.h"
#include "src/base/size.h"
#include "src/lower/callee.h"
#include "src/lower/lower_order.h"

#include <stdio.h>

/* ---- functions ---- */

/* What the front end noted of a statement it did not know. */
static const char *poison_reason(const struct ir_func *f, u32 insn)
{
	for (size_t i = 0; i < f->poisons.len; i++)
		if (f->poisons.at[i].insn == insn)
			return f->poisons.at[i].reason;
	return "unknown instruction";
}

/* Rows of the table that are known but not run: the instruction faults when it is reached. */
static void lower_refuse(struct lower *l)
{
	static const char *const lacks[] = {
		[ISA_MULTICAST] = "; emulated devices have no multicast objects",
		[ISA_FABRIC] = "; emulated devices have no fabric",
		[ISA_LINT] = "",
	};
	const struct isa_form *form = l->in->form;
	char text[160], why[256];

	lower_text(form, text, sizeof(text));
	snprintf(why, sizeof(why), "'%s' is not supported: it can be checked but not run%s", text,
		 lacks[form->row->state]);
	lower_poison(l, why);
}

static void lower_insn(struct lower *l)
{
	const struct ir_insn *in = l->in;
	lower_rule *rule;

	l->guard = IR_NONE;
	l->guard_not = in->guard_not;
	if (in->guard != IR_NONE) {
		struct ir_operand g = {.kind = IR_OP_REG, .type = T_pred, .index = in->guard};

		l->guard = lower_register(l, &g, 0);
	}
	lower_count_guard(l);
	if (!in->form) {
		lower_poison(l, poison_reason(l->f, l->ir));
		return;
	}
	lower_count_choices(l);
	rule = lower_find_rule(in->form->row->row);
	if (!rule) {
		lower_refuse(l);
		return;
	}
	if (lower_contracted(l))
		return;
	if (l->options.counts & LOWER_CACHE_HINTS)
		lower_hint(l);
	rule(l);
}

static void place_label(struct lower *l, u32 label)
{
	l->label_at[label] = (u32)l->uops.len;
	lower_emit_free(l, OP_join);
}

static void settle_labels(struct lower *l, size_t first_fixup)
{
	for (size_t i = first_fixup; i < l->fixups.len; i++) {
		const struct fixup *x = &l->fixups.at[i];
		u32 at = l->label_at[x->label];

		if (x->in_ext)
			l->ext.at[x->insn] = at;
		else
			l->uops.at[x->insn].branch.target = at;
		if (!x->in_ext && at <= x->insn)
			l->uops.at[x->insn].flags |= UOPF_BACK;
	}
	l->fixups.len = first_fixup;
}

/* ---- blocks ---- */

struct blocks {
	struct lower_order order;
	const bool *used; /* labels */
	u32 label;        /* of block 0; each has one of its own, after those of the text */
};

/*
 * The block that a label of the text leads to from a block: ways back to the beginning of a loop
 * may meet before.
 */
static u32 label_target(const struct lower *l, const struct blocks *x,
			const struct lower_block *from, u32 label)
{
	const struct lower_order *o = &x->order;
	u32 to = o->block_of[l->f->labels.at[label].insn];

	if (from->meeting != IR_NONE && o->meeting[from->meeting - o->blocks - 1].head == to)
		return from->meeting;
	return to;
}

static void jump_to(struct lower *l, u32 label)
{
	struct fixup x = {.insn = (u32)l->uops.len, .label = label};

	lower_emit_free(l, OP_bra);
	if (!VEC_PUSH(&l->fixups, x))
		l->failed = true;
}

/* The labels of a block and, where one is needed, its own. */
static void place_labels(struct lower *l, const struct blocks *x, u32 b)
{
	const struct lower_block *block = &x->order.block[b];
	const struct ir_func *f = l->f;
	size_t lo = 0, hi = f->labels.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (f->labels.at[mid].insn < block->first)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < f->labels.len && f->labels.at[lo].insn == block->first; lo++)
		if (x->used[lo]) {
			place_label(l, (u32)lo);
			l->label_at[x->label + b] = l->label_at[lo];
		}
	if (block->is_target && l->label_at[x->label + b] == IR_NONE)
		place_label(l, x->label + b);
}

/*
 * Make the block jump to the block at its reconvergence point. When its last micro-op is a branch
 * to the block after it, but it falls through to another, the branch is inverted.
 */
static void lead_on(struct lower *l, const struct blocks *x, const struct lower_block *block,
		    size_t jumps, u32 after)
{
	u32 last = (u32)l->uops.len - 1, to = IR_NONE;
	bool goes_on = block->next != IR_NONE && block->next != after;

	for (; jumps < l->fixups.len; jumps++) {
		struct fixup *jump = &l->fixups.at[jumps];

		to = label_target(l, x, block, jump->label);
		if (goes_on && !jump->in_ext && jump->insn == last &&
		    l->uops.at[last].op == OP_bra_pred && to == after) {
			l->uops.at[last].flags ^= UOPF_GUARD_NOT;
			jump->label = x->label + block->next;
			return;
		}
		if (to > x->order.blocks)
			jump->label = x->label + to;
	}
	if (goes_on)
		jump_to(l, x->label + block->next);
}

/* A branch that goes to the block after it, which the text has elsewhere. */
static bool is_needless(const struct lower *l, const struct blocks *x,
			const struct lower_block *block, u32 after)
{
	const struct ir_insn *in = &l->f->insns.at[block->end - 1];
	u32 here = x->order.block_of[block->end - 1];

	return in->form && in->form->row->row == I_bra && in->guard == IR_NONE &&
	       after != here + 1 &&
	       label_target(l, x, block, l->f->operands.at[in->first_op].index) == after;
}

static void lower_block(struct lower *l, const struct blocks *x, u32 b, u32 after)
{
	const struct lower_block *block = &x->order.block[b];
	size_t jumps = l->fixups.len;

	l->ir = block->first < l->f->insns.len ? block->first : block->first - (block->first > 0);
	l->guard = IR_NONE;
	place_labels(l, x, b);
	lower_count_begin(l);
	for (u32 i = block->first; i < block->end && !l->failed; i++) {
		u32 from;

		l->ir = i;
		l->guard = IR_NONE;
		l->in = &l->f->insns.at[i];
		lower_count_block(l);
		if (i + 1 == block->end && is_needless(l, x, block, after))
			return;
		lower_count_before(l);
		from = (u32)l->uops.len;
		lower_insn(l);
		lower_count_after(l, from);
		lower_made_note(l);
	}
	l->guard = IR_NONE;
	if (!l->failed)
		lead_on(l, x, block, jumps, after);
}

static void lower_meeting(struct lower *l, const struct blocks *x, u32 b)
{
	place_label(l, x->label + b);
	jump_to(l, x->label + x->order.meeting[b - x->order.blocks - 1].head);
}

/* False: the host has no memory. */
static bool lower_blocks(struct lower *l, const bool *used)
{
	struct blocks x = {.used = used, .label = (u32)l->f->labels.len};
	bool ok = lower_order_find(&x.order, l->f, used);
	u32 all = x.order.blocks + 1 + x.order.meetings;

	l->label_at = ok ? malloc(sizeof(u32) * (l->f->labels.len + all)) : NULL;
	ok = l->label_at != NULL;
	if (ok)
		memset(l->label_at, 0xff, sizeof(u32) * (l->f->labels.len + all));
	for (u32 i = 0; ok && i < x.order.len && !l->failed; i++) {
		u32 b = x.order.at[i], after = i + 1 < x.order.len ? x.order.at[i + 1] : IR_NONE;

		if (b <= x.order.blocks)
			lower_block(l, &x, b, after);
		else
			lower_meeting(l, &x, b);
	}
	lower_order_free(&x.order);
	return ok;
}

/* For debuggers: the vregs of every register, by part; lower_rows makes rows of them. */
static void keep_registers(struct lower *l, u32 index)
{
	struct program_func *f = &l->p->funcs[index];
	u32 n = (u32)l->f->regs.len, parts = 0, *at = ARENA_ARRAY(&l->p->arena, u32, n + 1), *row;

	for (u32 i = 0; at && i < n; i++) {
		at[i] = parts;
		parts += l->f->regs.at[i].vec * (isa_type_bits(l->f->regs.at[i].type) > 64 ? 2 : 1);
	}
	row = ARENA_ARRAY(&l->p->arena, u32, parts + 1);
	if (!at || !row) {
		l->failed = true;
		return;
	}
	at[n] = parts;
	for (u32 i = 0; i < n; i++)
		for (u32 k = at[i]; k < at[i + 1]; k++)
			row[k] = l->vreg_of[i] == IR_NONE ? IR_NONE : l->vreg_of[i] + k - at[i];
	f->reg_part = at;
	f->part_row = row;
}

static void lower_function(struct lower *l, u32 index)
{
	const struct ir_func *f = l->funcs.at[index].f;
	size_t fixups = l->fixups.len;
	bool *used = lower_used_labels(f);

	l->f = f;
	l->func = index;
	l->unit = l->funcs.at[index].unit;
	l->m = l->options.units[l->unit].module;
	l->var_address = l->options.units[l->unit].var_address;
	l->var_offset = l->offsets[l->unit];
	l->offset_in = l->places[l->unit];
	l->ir = 0;
	l->guard = IR_NONE;
	l->carry = IR_NONE;
	l->vreg_of = malloc(sizeof(u32) * (f->regs.len + 1));
	l->label_at = NULL;
	if (!used || !l->vreg_of) {
		l->failed = true;
		goto out;
	}
	memset(l->vreg_of, 0xff, sizeof(u32) * f->regs.len);
	lower_contract_find(l, used);
	lower_made_open(l);
	lower_bounds_open(l);
	lower_count_open(l);
	lower_lay_out_frame(l);
	lower_prologue(l);
	l->failed |= !lower_blocks(l, used);
	l->guard = IR_NONE;
	if (f->is_entry)
		lower_emit_free(l, OP_exit);
	else
		lower_epilogue(l);
	if (!l->failed)
		settle_labels(l, fixups);
	if (l->options.one_to_one)
		keep_registers(l, index);
out:
	lower_count_close(l);
	lower_bounds_close(l);
	lower_made_close(l);
	lower_contract_free(l);
	free(l->mentions);
	l->mentions = NULL;
	free(used);
	free(l->vreg_of);
	free(l->label_at);
}

static void lower_fini(struct lower *l)
{
	VEC_FREE(&l->uops);
	VEC_FREE(&l->insns);
	VEC_FREE(&l->ext);
	VEC_FREE(&l->refs);
	VEC_FREE(&l->vregs);
	VEC_FREE(&l->fixups);
	VEC_FREE(&l->funcs);
	VEC_FREE(&l->edges);
	VEC_FREE(&l->taken);
	VEC_FREE(&l->notes);
	map_fini(&l->consts);
	map_fini(&l->form_ops);
	map_fini(&l->func_at);
	map_fini(&l->taken_at);
	map_fini(&l->toolkit_funcs);
	for (u32 u = 0; u < l->options.unit_len; u++) {
		if (l->offsets)
			free(l->offsets[u]);
		if (l->places)
			free(l->places[u]);
	}
	free(l->offsets);
	free(l->places);
}

/* Frames in full, and the most a thread may need of them while no cycle goes round. */
static void measure_frames(struct lower *l)
{
	struct program *p = l->p;
	u32 n = (u32)l->funcs.len;
	u64 *need = calloc(2 * (size_t)n + l->cycles + 1, sizeof(u64)), *args = need + n,
	    *cycle = need + 2 * (size_t)n;

	p->func_len = n;
	for (u32 i = 0; i < n; i++)
		p->funcs[i].frame_bytes = (u32)align_up(l->funcs.at[i].frame_bytes, p->frame_align);
	p->frame_bytes = p->funcs[0].frame_bytes;
	if (!need) {
		l->failed = true;
		return;
	}
	for (u32 i = 0; i < p->uops; i++)
		if (p->uop[i].inner == OP_reserve && p->uop[i].stack.bytes > args[p->uop[i].func])
			args[p->uop[i].func] = p->uop[i].stack.bytes;
	/* Callees come last; all functions of a cycle count once. */
	for (u32 i = n; i-- > 0;) {
		const struct lower_func *f = &l->funcs.at[i];
		u64 most = args[i];

		for (u32 k = 0; k < f->edges; k++) {
			u32 to = l->edges.at[f->first_edge + k].to;

			p->has_cycles |= lower_same_cycle(l, i, to);
			if (!lower_same_cycle(l, i, to) && cycle[l->funcs.at[to].cycle] > most)
				most = cycle[l->funcs.at[to].cycle];
		}
		need[i] = p->funcs[i].frame_bytes + most;
		cycle[f->cycle] += need[i];
	}
	p->stack_bytes = align_up(cycle[l->funcs.at[0].cycle], p->frame_align);
	free(need);
}

#define LOCAL_BYTES_MAX ((u64)1 << 30)

/* Frames are not the hardware's: of what they hold beside variables there may be more. */
bool exec_local_fits(const struct program *p)
{
	return p->local_bytes <= EXEC_LOCAL_MAX && p->stack_bytes < LOCAL_BYTES_MAX;
}

u32 exec_local_bytes(const struct program *p, u64 stack_limit)
{
	u64 more = p->has_cycles || p->moves_stack ? stack_limit : 0, bytes;
	u64 factor = 4 * (p->stack_factor ? p->stack_factor : 1);

	if (!size_mul_add(more, factor, p->stack_bytes, &bytes) || bytes > LOCAL_BYTES_MAX)
		return (u32)LOCAL_BYTES_MAX;
	return (u32)align_up(bytes, 64);
}

const char *exec_program_note(const struct program *p, u32 pc)
{
	u32 lo = 0, hi = p->note_len;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (p->notes[mid].pc < pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->note_len && p->notes[lo].pc == pc ? p->notes[lo].text : NULL;
}

static bool finish_program(struct lower *l)
{
	struct program *p = l->p;

	p->uops = (u32)l->uops.len;
	p->exts = (u32)l->ext.len;
	p->uop = aligned_alloc(64, align_up(sizeof(struct uop) * (p->uops + 1), 64));
	p->ext = arena_copy(&p->arena, l->ext.at, sizeof(u32) * l->ext.len);
	if (!p->uop || !p->ext)
		return false;
	memcpy(p->uop, l->uops.at, sizeof(struct uop) * p->uops);
	for (u32 i = 0; i < p->uops; i++)
		if (uop_has_access(p->uop[i].inner))
			p->uop[i].mem.cache = i;
	p->cache_slots = p->uops;
	p->notes = arena_copy(&p->arena, l->notes.at, sizeof(*p->notes) * l->notes.len);
	p->note_len = (u32)l->notes.len;
	p->insns = arena_copy(&p->arena, l->insns.at, sizeof(*p->insns) * l->insns.len);
	p->insn_len = (u32)l->insns.len;
	p->cut_at = p->counts;
	p->counts += p->insn_len != 0;
	measure_frames(l);
	lower_mark_polls(p);
	if (l->options.stable)
		lower_find_meetings(p);
	lower_mark_clocks(p);
	if (!l->options.one_to_one && !l->options.no_fusion)
		lower_mark_common(p);
	p->thread_insns = lower_estimate(p);
	p->may_be_idle = lower_may_be_idle(p);
	l->failed |= (l->options.one_to_one || l->options.apart ||
		      l->options.counts & LOWER_COUNT_INSNS) &&
		     !lower_keep_places(l);
	l->failed |= l->options.apart && !l->failed && !lower_keep_extents(l);
	return p->notes != NULL && p->insns != NULL && !l->failed;
}

/* Arrays about the variables of every unit. */
static bool make_units(struct lower *l)
{
	if (!l->options.units) {
		l->only = (struct exec_unit){l->m, l->var_address};
		l->options.units = &l->only;
		l->options.unit_len = 1;
	}
	l->const_base = exec_const_base(l->options.units, l->options.unit_len);
	l->offsets = calloc(l->options.unit_len, sizeof(*l->offsets));
	l->places = calloc(l->options.unit_len, sizeof(*l->places));
	for (u32 u = 0; l->offsets && l->places && u < l->options.unit_len; u++) {
		size_t n = l->options.units[u].module->vars.len + 1;

		l->offsets[u] = calloc(n, sizeof(**l->offsets));
		l->places[u] = calloc(n, sizeof(**l->places));
		if (!l->offsets[u] || !l->places[u])
			return false;
	}
	return l->offsets && l->places;
}

static bool lower_functions(struct lower *l)
{
	struct program *p = l->p;
	u32 n = (u32)l->funcs.len;

	p->funcs = ARENA_ARRAY(&p->arena, struct program_func, n);
	if (!p->funcs)
		return false;
	p->has_calls = n > 1;
	p->func_len = n;
	for (u32 i = 1; i < n; i++) {
		l->funcs.at[i].return_pc = lower_vreg(l, ROW_W);
		l->funcs.at[i].return_frame = lower_vreg(l, ROW_W);
	}
	for (u32 i = l->alone ? 1 : n; i-- > 0 && !l->failed;) {
		const struct lower_func *f = &l->funcs.at[i];
		const struct ir_module *m = l->options.units[f->unit].module;

		p->funcs[i] = (struct program_func){
			.module = m,
			.func = f->f,
			.first = (u32)l->uops.len,
			.signature = lower_signature(m, f->f),
			.caller = f->caller == IR_NONE ? NULL : &p->funcs[f->caller],
			.caller_insn = f->caller_insn,
		};
		lower_function(l, i);
		p->funcs[i].end = (u32)l->uops.len;
	}
	return !l->failed;
}

/* Up to the first form of the micro-ops. */
static bool lower_begin(struct lower *l, const struct ir_func *kernel)
{
	l->p = calloc(1, sizeof(*l->p));
	if (!l->p || !make_units(l))
		return false;
	l->p->arch = l->arch;
	l->p->var_address = l->var_address;
	l->p->frame_align = 16;
	l->frame_vreg = lower_vreg(l, ROW_W);
	l->stack_vreg = lower_vreg(l, ROW_W);
	return lower_find_functions(l, kernel) && lower_lay_out_shared(l) && lower_functions(l);
}

static struct program *lower_program(struct lower l, const struct ir_func *kernel)
{
	if (!lower_begin(&l, kernel) || !lower_fold(&l) || !lower_fuse(&l) || !lower_rows(&l) ||
	    (l.options.check && !lower_check_rows(&l)) || !finish_program(&l))
		goto fail;
	lower_fini(&l);
	return l.p;
fail:
	if (l.d)
		diag_at(l.d, DIAG_ERROR, &l.m->source,
			(struct diag_span){kernel->begin, kernel->begin + 1}, NULL,
			"kernel '%s' cannot be prepared: out of memory", kernel->name->text);
	lower_fini(&l);
	exec_program_free(l.p);
	return NULL;
}

static u32 widest_gang(u32 warps)
{
	u32 g = GANG_WARPS;

	while (g > 1 && warps && g / 2 >= warps)
		g /= 2;
	return g;
}

struct program *exec_lower_callee(const struct ir_module *m, const struct ir_func *kernel,
				  const struct ir_func *also, const struct arch *arch,
				  const u64 *var_address, const struct lower_options *options,
				  struct diag *d)
{
	struct lower l = {.m = m,
			  .arch = arch,
			  .var_address = var_address,
			  .options = *options,
			  .also = also,
			  .d = d};

	l.options.contract &= !m->debug;
	return lower_program(l, kernel);
}

/*
 * Rows that are kept for a whole launch can make gangs smaller; then they are not worth it. The
 * first variant with the largest gangs is taken.
 */
struct program *exec_lower(const struct ir_module *m, const struct ir_func *kernel,
			   const struct arch *arch, const u64 *var_address,
			   const struct lower_options *options, struct diag *d)
{
	struct lower l = {
		.m = m, .arch = arch, .var_address = var_address, .options = *options, .d = d};
	struct program *p, *q;

	l.options.contract &= !m->debug;
	p = lower_program(l, kernel);
	l.d = NULL;
	for (u32 way = 0;
	     p && way < 2 && p->gang < widest_gang(options->warps) && p->launch_first < p->uops;
	     way++) {
		l.no_affine = true;
		l.no_launch = way == 1;
		q = lower_program(l, kernel);
		if (q && q->gang > p->gang) {
			exec_program_free(p);
			p = q;
		} else {
			exec_program_free(q);
		}
	}
	return p;
}

/* A kernel is called by nothing, so that its frame is what its own instructions make of it. */
bool exec_measure(const struct ir_module *m, const struct ir_func *kernel, const struct arch *arch,
		  const u64 *var_address, const struct lower_options *options,
		  struct exec_needs *out)
{
	struct lower l = {.m = m,
			  .arch = arch,
			  .var_address = var_address,
			  .options = *options,
			  .alone = true};
	bool ok;

	l.options.contract &= !m->debug;
	ok = lower_begin(&l, kernel);
	if (ok)
		*out = (struct exec_needs){
			.shared_static = l.p->shared_static,
			.frame_bytes = (u32)align_up(l.funcs.at[0].frame_bytes, l.p->frame_align),
		};
	lower_fini(&l);
	exec_program_free(l.p);
	return ok;
}

void exec_program_free(struct program *p)
{
	if (!p)
		return;
	tier_free(p);
	free(p->uop);
	free(p->consts);
	free(p->externs);
	arena_fini(&p->arena);
	free(p);
}
