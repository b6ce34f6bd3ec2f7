/*
 * Products of warpgroups run on while their threads go on: between wgmma.mma_async and the
 * wgmma.wait_group that covers its group nothing else may touch its registers, nor write what it
 * reads of shared memory; and what threads have written to its registers has to have a wgmma.fence
 * behind it. PTX ISA "Asynchronous warpgroup-level matrix instructions".
 *
 * Values are followed through moves of registers, which compilers make between products and which
 * no device executes.
 */
#include "src/check/sync/sync_int.h"
#include "src/uop/async.h"

#define WORD 4u

/* A register of a warp; numbers of groups and fences are + 1, 0: none. */
struct wgmma_reg {
	u32 group, pc; /* the product that has it */
	u32 behind;    /* fences before a thread wrote it */
	u32 dirty_pc;  /* where that was */
	bool owned;    /* written or read by the product itself, not by a move behind it */
	bool is_factor;
	const struct isa_form *form;
};

/* A warpgroup's products that read a word of shared memory: the last one of them. */
struct wgmma_word {
	u32 group, pc; /* group: + 1, 0: none */
	u32 warp;
};

struct sync_wgmma {
	u32 fences, groups; /* groups: committed */
	u32 done;           /* those before it have been waited for */
	bool is_fenced;     /* since the last product */
	u32 products, pc;   /* how many, and the last one */
	struct wgmma_reg reg[];
};

void sync_wgmma_free(struct sync_cta *c)
{
	for (u32 w = 0; w < c->warps; w++)
		free(c->warp[w].wgmma);
	for (u32 i = 0; i < ARRAY_LEN(c->factors); i++)
		free(c->factors[i]);
}

static struct sync_wgmma *wgmma_of(struct sync_launch *l, struct sync_warp *w)
{
	if (!w->wgmma)
		w->wgmma = calloc(1, sizeof(*w->wgmma) + l->regs->regs * sizeof(struct wgmma_reg));
	l->gave_up |= !w->wgmma;
	return w->wgmma;
}

static bool is_in_flight(const struct sync_wgmma *x, u32 group)
{
	return group && group - 1 >= x->done;
}

/* ---- reports ---- */

static void report_wgmma(const struct sync_step *s, const char *headline, u32 pc, const char *why)
{
	struct finding f;
	u32 thread = s->warp * WARP_LANES + (u32)__builtin_ctz(s->mask);

	sync_begin(&f, FINDING_WGMMA, s->launch, s->cta, thread, s->pc, false, "Access");
	sync_say_head(&f, headline);
	if (pc != NO_PC) {
		sync_add_side(&f, s->launch, s->cta, thread, pc, "Product");
		text_puts(&f.text, "    ");
		finding_say_side(&f.side[1], &f.text);
		text_puts(&f.text, "\n");
	}
	text_printf(&f.text, "    %s\n", why);
	sync_add(s->launch, &f);
}

static const char *why_in_flight(const struct sync_wgmma *x, u32 group)
{
	return group - 1 >= x->groups
		       ? "No wgmma.commit_group stands behind the product, so that no wait covers it."
		       : "No wgmma.wait_group between the two covers the product's group.";
}

static void report_in_flight(const struct sync_step *s, const struct sync_wgmma *x,
			     struct wgmma_reg *r, bool writes)
{
	report_wgmma(s,
		     r->is_factor
			     ? "A register that wgmma reads is overwritten before a wait for it"
		     : writes ? "An accumulator of wgmma is overwritten before a wait for it"
			      : "An accumulator of wgmma is used before a wait for it",
		     r->pc, why_in_flight(x, r->group));
	r->group = 0;
}

/* ---- registers ---- */

static void write_reg(const struct sync_step *s, struct sync_wgmma *x, struct wgmma_reg *r,
		      bool is_move)
{
	if (r->owned && is_in_flight(x, r->group))
		report_in_flight(s, x, r, true);
	*r = (struct wgmma_reg){0};
	/* Compilers move constants past fences. */
	if (!is_move) {
		r->behind = x->fences + 1;
		r->dirty_pc = s->pc;
	}
}

/* The value goes on under another name. */
static void move_reg(const struct sync_step *s, struct sync_wgmma *x, struct wgmma_reg *to,
		     struct wgmma_reg *from)
{
	struct wgmma_reg value = *from;

	if (to == from)
		return;
	from->owned = false;
	if (to->owned && is_in_flight(x, to->group) && !is_in_flight(x, value.group))
		report_in_flight(s, x, to, true);
	*to = value;
}

static void read_reg(const struct sync_step *s, const struct sync_wgmma *x, struct wgmma_reg *r)
{
	if (!r->is_factor && is_in_flight(x, r->group))
		report_in_flight(s, x, r, false);
}

struct named_regs {
	const u32 *at;
	u32 n;
};

static struct named_regs regs_of(const struct sync_launch *l, const struct uop *in)
{
	const struct sync_regs *r = l->regs;
	u32 i = r->first_insn[in->func] + in->ir;

	return (struct named_regs){&r->named.at[r->named_at[i]],
				   r->named_at[i + 1] - r->named_at[i]};
}

static void pass_insn(const struct sync_step *s, struct sync_wgmma *x, const struct ir_func *f,
		      struct named_regs named)
{
	const struct ir_insn *in = &f->insns.at[s->in->ir];
	bool is_move = ir_opcode(in) == OPCODE_mov;

	if (sync_is_move(f, in) && named.n == 2) {
		move_reg(s, x, &x->reg[named.at[1] >> 1], &x->reg[named.at[0] >> 1]);
		return;
	}
	for (u32 i = 0; i < named.n; i++) {
		struct wgmma_reg *r = &x->reg[named.at[i] >> 1];

		if (named.at[i] & 1)
			write_reg(s, x, r, is_move);
		else
			read_reg(s, x, r);
	}
}

/* ---- products ---- */

static void check_fence(const struct sync_step *s, const struct sync_wgmma *x,
			const struct wgmma_reg *r, bool *told)
{
	if (*told || x->is_fenced || r->behind != x->fences + 1)
		return;
	*told = true;
	report_wgmma(s, "No wgmma.fence between a write of a register and the wgmma that uses it",
		     r->dirty_pc, "wgmma.fence orders what threads write before what wgmma reads.");
}

static void hold_accumulator(const struct sync_step *s, struct sync_wgmma *x, struct wgmma_reg *r,
			     const struct isa_form *form)
{
	/* Products of one shape come one after the other. */
	if (is_in_flight(x, r->group) && (r->is_factor || r->form != form))
		report_in_flight(s, x, r, true);
	*r = (struct wgmma_reg){.group = x->groups + 1, .pc = s->pc, .owned = true, .form = form};
}

static void hold_factor(const struct sync_step *s, struct sync_wgmma *x, struct wgmma_reg *r)
{
	read_reg(s, x, r);
	*r = (struct wgmma_reg){.group = x->groups + 1,
				.pc = s->pc,
				.owned = true,
				.is_factor = true,
				.behind = r->behind,
				.dirty_pc = r->dirty_pc};
}

/* Registers that are written are accumulators, 32-bit ones that are read alone factors. */
static void pass_wgmma(const struct sync_step *s, struct sync_wgmma *x, struct named_regs named)
{
	const struct isa_form *form = exec_form(s->launch->program, s->in);
	bool told = !x->fences;

	x->products++;
	x->pc = s->pc;
	if (!x->fences)
		report_wgmma(s, "No wgmma.fence before the first wgmma of a warp", NO_PC,
			     "wgmma.fence orders what threads write before what wgmma reads.");
	for (u32 i = 0; i < named.n; i++)
		check_fence(s, x, &x->reg[named.at[i] >> 1], &told);
	for (u32 i = 0; i < named.n; i++)
		if (!(named.at[i] & 1))
			hold_factor(s, x, &x->reg[named.at[i] >> 1]);
	for (u32 i = 0; i < named.n; i++)
		if (named.at[i] & 1)
			hold_accumulator(s, x, &x->reg[named.at[i] >> 1], form);
	x->is_fenced = false;
}

void sync_wgmma_step(const struct sync_step *s)
{
	const struct program *p = s->launch->program;
	const struct ir_func *f = p->funcs[s->in->func].func;
	bool is_product = s->in->inner == OP_wgmma;
	struct sync_wgmma *x;
	struct named_regs named;

	if (s->in->ir >= f->insns.len)
		return;
	named = regs_of(s->launch, s->in);
	if (!named.n ||
	    (!is_product && (ir_opcode(&f->insns.at[s->in->ir]) == OPCODE_wgmma_mma_async ||
			     !exec_is_first(p, s->pc))))
		return;
	if (!exec_step_passes(s->gang, s->in, s->warp - s->gang->first_warp - s->gang->warp))
		return;
	x = wgmma_of(s->launch, sync_warp_of(s));
	if (x && is_product)
		pass_wgmma(s, x, named);
	else if (x)
		pass_insn(s, x, f, named);
}

void sync_wgmma_mark(const struct sync_step *s)
{
	u32 keep = s->in->group.pending;
	struct sync_wgmma *x = s->launch->regs ? wgmma_of(s->launch, sync_warp_of(s)) : NULL;

	if (!x)
		return;
	switch ((enum uop_mark)s->in->group.action) {
	case MARK_WGMMA_FENCE:
		x->fences++;
		x->is_fenced = true;
		break;
	case MARK_WGMMA_COMMIT:
		x->groups++;
		break;
	case MARK_WGMMA_WAIT:
		if (x->groups > keep && x->groups - keep > x->done)
			x->done = x->groups - keep;
		break;
	default:
		break;
	}
}

/* Warps of a warpgroup that were not there when the others multiplied. */
static void check_group(struct sync_launch *l, const struct sync_cta *c, u32 first)
{
	const struct sync_wgmma *most = NULL;
	u32 with = 0, without = NO_PC;
	struct finding f;

	for (u32 w = first; w < first + WARPGROUP_WARPS && w < c->warps; w++)
		if (c->warp[w].wgmma && (!most || c->warp[w].wgmma->products > most->products)) {
			most = c->warp[w].wgmma;
			with = w;
		}
	for (u32 w = first; most && w < first + WARPGROUP_WARPS; w++)
		if (w >= c->warps || !c->warp[w].wgmma ||
		    c->warp[w].wgmma->products < most->products)
			without = without == NO_PC ? w : without;
	if (without == NO_PC || !most->products)
		return;
	sync_begin(&f, FINDING_WGMMA, l, c, with * WARP_LANES, most->pc, false, "Product");
	sync_say_head(&f, "A part of a warpgroup executes wgmma");
	text_printf(&f.text, "    Warp %u %s; all four warps of a warpgroup have to come to it.\n",
		    without, without < c->warps ? "has not executed it" : "does not exist");
	sync_add(l, &f);
}

void sync_wgmma_end(struct sync_launch *l, struct sync_cta *c)
{
	for (u32 w = 0; l->regs && w < c->warps; w += WARPGROUP_WARPS)
		check_group(l, c, w);
}

/* ---- shared memory ---- */

static u32 factor_words(const struct sync_cta *c)
{
	return (c->cta->env->shared_bytes + WORD - 1) / WORD;
}

void sync_wgmma_read(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a)
{
	u32 at = (u32)a->address[__builtin_ctz(a->mask)] & MEM_SHARED_OFFSET;
	struct wgmma_word **words = &c->factors[a->warp / WARPGROUP_WARPS];
	const struct sync_wgmma *x = c->warp[a->warp].wgmma;

	if (!*words)
		*words = calloc(factor_words(c) + 1, sizeof(**words));
	l->gave_up |= !*words;
	for (u32 w = at / WORD; *words && x && w * WORD < at + a->bytes && w < factor_words(c); w++)
		(*words)[w] =
			(struct wgmma_word){.group = x->groups + 1, .pc = a->pc, .warp = a->warp};
}

static void report_overwritten(struct sync_launch *l, struct sync_cta *c,
			       const struct exec_access *a, u32 lane, const struct sync_cta *owner,
			       u32 word, const struct wgmma_word *x)
{
	struct finding f;

	sync_begin(&f, FINDING_WGMMA, l, c, a->warp * WARP_LANES + lane, a->pc, false, "Write");
	sync_say_head(&f, "Shared memory that wgmma reads is overwritten before a wait for it");
	sync_add_side(&f, l, owner, x->warp * WARP_LANES, x->pc, "Product");
	text_puts(&f.text, "    ");
	finding_say_side(&f.side[1], &f.text);
	text_printf(&f.text, "\n    on byte %u of the block's shared memory\n    %s\n", word * WORD,
		    why_in_flight(owner->warp[x->warp].wgmma, x->group));
	sync_add(l, &f);
}

/* A group is the warpgroup's: each of its warps may have waited for it. */
static bool is_product_in_flight(const struct sync_cta *owner, const struct wgmma_word *x)
{
	u32 first = x->warp / WARPGROUP_WARPS * WARPGROUP_WARPS;

	for (u32 w = first; x->group && w < first + WARPGROUP_WARPS && w < owner->warps; w++)
		if (owner->warp[w].wgmma && !is_in_flight(owner->warp[w].wgmma, x->group))
			return false;
	return x->group;
}

static bool overwrites(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a,
		       u32 lane, struct sync_cta *owner)
{
	u32 at = (u32)a->address[lane] & MEM_SHARED_OFFSET;

	for (u32 g = 0; g < ARRAY_LEN(owner->factors); g++)
		for (u32 w = at / WORD;
		     owner->factors[g] && w * WORD < at + a->bytes && w < factor_words(owner);
		     w++) {
			struct wgmma_word *x = &owner->factors[g][w];

			if (!is_product_in_flight(owner, x))
				continue;
			report_overwritten(l, c, a, lane, owner, w, x);
			x->group = 0;
			return true;
		}
	return false;
}

void sync_wgmma_write(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a)
{
	for (u32 m = a->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);
		const struct cta *at;
		struct sync_cta *owner = sync_owner(l, c->cta, a->address[lane], &at);

		if (owner && overwrites(l, c, a, lane, owner))
			return;
	}
}
