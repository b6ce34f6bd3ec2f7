/*
 * Handlers of the reference engine that the decoder composes: moves, boolean combinations, video,
 * special registers,
 * branches, calls.
 */
#include "src/num/numeric_all.h"
#include "tests/ref/ref_int.h"

#include <stdlib.h>

#define SIMPLE(id, expr)                                                                           \
	REF_HANDLER(id)                                                                            \
	{                                                                                          \
		r[in->d] = (u64)(expr);                                                            \
		REF_NEXT;                                                                          \
	}

/* ---- moves and predicates ---- */

SIMPLE(copy, r[in->a])
SIMPLE(add_imm, r[in->a] + (u64)in->imm)
SIMPLE(invert, (r[in->a] & 1) ^ 1)
SIMPLE(low_bit, r[in->a] & 1)
SIMPLE(high_bit, r[in->a] >> 1 & 1)
SIMPLE(nonzero, (u32)r[in->a] != 0)
SIMPLE(combine_and, r[in->a] & r[in->b])
SIMPLE(combine_or, r[in->a] | r[in->b])
SIMPLE(combine_xor, r[in->a] ^ r[in->b])
SIMPLE(pick, r[in->a] ? (u64)in->imm : 0)
SIMPLE(pick_pair, ((r[in->a] & 1 ? 0xffffu : 0) | (r[in->a] & 2 ? 0xffff0000u : 0)) & (u64)in->imm)
SIMPLE(lop3, num_lop3((u32)r[in->a], (u32)r[in->b], (u32)r[in->c], (u32)in->imm))
SIMPLE(bfe_folded, num_bfe_folded_s32((u32)r[in->a], (u32)r[in->b], (u32)r[in->c]))
SIMPLE(video, num_video_scalar(in->data, (u32)r[in->a], (u32)r[in->b], (u32)r[in->c]))
SIMPLE(video2, num_video_simd(in->data, (u32)r[in->a], (u32)r[in->b], (u32)r[in->c], 2))
SIMPLE(video4, num_video_simd(in->data, (u32)r[in->a], (u32)r[in->b], (u32)r[in->c], 4))
SIMPLE(vmad, num_video_vmad(in->data, (u32)r[in->a], (u32)r[in->b], (u32)r[in->c]))

REF_HANDLER(nop)
{
	REF_NEXT;
}

static void put_bits(u64 *buffer, u32 at, u32 bits, u64 x)
{
	if (bits < 64)
		x &= ((u64)1 << bits) - 1;
	buffer[at / 64] |= x << at % 64;
}

static u64 get_bits(const u64 *buffer, u32 at, u32 bits)
{
	u64 x = buffer[at / 64] >> at % 64;

	return bits < 64 ? x & (((u64)1 << bits) - 1) : x;
}

/* `count` sources of c bits each, end to end, cut into b results of imm bits each. */
REF_HANDLER(repack)
{
	const u32 *slot = t->cta->program->ext.at + in->ext;
	u64 buffer[4] = {0};

	for (u32 i = 0; i < in->count; i++)
		put_bits(buffer, i * in->c, in->c, r[slot[i]]);
	for (u32 i = 0; i < in->b; i++)
		r[slot[in->count + i]] = get_bits(buffer, i * (u32)in->imm, (u32)in->imm);
	REF_NEXT;
}

REF_HANDLER(minix4)
{
	const u32 *slot = t->cta->program->ext.at + in->ext;
	u32 v[4] = {(u32)r[slot[0]], (u32)r[slot[1]], (u32)r[slot[2]], (u32)r[slot[3]]},
	    rbits = (u32)r[in->a];
	struct num_mini f = in->c == T_e4m3x4   ? num_e4m3
			    : in->c == T_e5m2x4 ? num_e5m2
			    : in->c == T_e2m3x4 ? num_e2m3
			    : in->c == T_e3m2x4 ? num_e3m2
						: num_e2m1;

	r[in->d] = num_minix4_stochastic(v, rbits, f, in->mode);
	REF_NEXT;
}

/* ---- special registers ---- */

static u64 lane_mask(u32 which, u32 lane)
{
	u32 bit = 1u << lane;

	switch (which) {
	case SR_lanemask_eq:
		return bit;
	case SR_lanemask_lt:
		return bit - 1;
	case SR_lanemask_le:
		return bit | (bit - 1);
	case SR_lanemask_gt:
		return ~(bit | (bit - 1));
	default:
		return ~(bit - 1);
	}
}

/* Time is counted in readings, so that runs repeat. */
static u64 clock_of(struct ref_cta *c)
{
	return c->ticks += 64;
}

static u64 sreg_value(struct ref_thread *t, u32 id, u32 part)
{
	struct ref_cta *c = t->cta;
	const struct ref_launch *l = c->launch;
	const u32 *v = NULL;

	switch (id) {
	case SR_tid:
		v = t->tid;
		break;
	case SR_ntid:
		v = l->block;
		break;
	case SR_ctaid:
	case SR_clusterid:
		v = c->id;
		break;
	case SR_nctaid:
	case SR_nclusterid:
		v = l->grid;
		break;
	case SR_laneid:
		return t->lane;
	case SR_warpid:
		return t->warp->index;
	case SR_nwarpid:
		return (u64)l->arch->warps_per_sm_max;
	case SR_nsmid:
		return (u64)l->arch->sms;
	case SR_gridid:
		return l->grid_id;
	case SR_lanemask_eq:
	case SR_lanemask_lt:
	case SR_lanemask_le:
	case SR_lanemask_gt:
	case SR_lanemask_ge:
		return lane_mask(id, t->lane);
	case SR_clock:
		return (u32)clock_of(c);
	case SR_clock_hi:
		return clock_of(c) >> 32;
	case SR_clock64:
	case SR_globaltimer:
	case SR_globaltimer_lo:
	case SR_globaltimer_hi:
		return id == SR_globaltimer_hi ? clock_of(c) >> 32 : clock_of(c);
	case SR_total_smem_size:
		return c->shared_bytes;
	case SR_dynamic_smem_size:
		return l->dynamic_shared;
	case SR_cluster_nctaid:
		return part < 3;
	case SR_cluster_nctarank:
		return 1;
	default:
		return 0;
	}
	return part < 3 ? v[part] : 0;
}

REF_HANDLER(sreg)
{
	r[in->d] = sreg_value(t, (u32)in->imm & 0xffff, (u32)(in->imm >> 16));
	REF_NEXT;
}

/* ---- branches ---- */

#define BRANCH(id, taken)                                                                          \
	REF_HANDLER(id)                                                                            \
	{                                                                                          \
		if (taken)                                                                         \
			return in + in->jump;                                                      \
		REF_NEXT;                                                                          \
	}
/* Backwards: pays from the thread's slice. */
#define BRANCH_BACK(id, taken)                                                                     \
	REF_HANDLER(id)                                                                            \
	{                                                                                          \
		if (!(taken))                                                                      \
			REF_NEXT;                                                                  \
		if (PL_LIKELY(--t->budget > 0))                                                    \
			return in + in->jump;                                                      \
		t->pc = in + in->jump;                                                             \
		return NULL;                                                                       \
	}

BRANCH(bra_if, r[in->a] & 1)
BRANCH(bra_not, !(r[in->a] & 1))
BRANCH_BACK(bra_if_back, r[in->a] & 1)
BRANCH_BACK(bra_not_back, !(r[in->a] & 1))

REF_HANDLER(bra)
{
	(void)r;
	(void)t;
	return in + in->jump;
}

REF_HANDLER(bra_back)
{
	(void)r;
	if (PL_LIKELY(--t->budget > 0))
		return in + in->jump;
	t->pc = in + in->jump;
	return NULL;
}

REF_HANDLER(brx)
{
	u32 i = (u32)r[in->a];

	if (i >= in->count)
		return ref_fault(t, in, FAULT_INVALID_PC);
	t->pc = t->func->insn + t->func->first[t->cta->program->ext.at[in->ext + i]];
	return --t->budget > 0 ? t->pc : NULL;
}

REF_HANDLER(breath)
{
	(void)r;
	(void)t;
	return in + 1;
}

REF_HANDLER(yield)
{
	(void)r;
	t->pc = in + 1;
	return NULL;
}

REF_HANDLER(trap)
{
	(void)r;
	return ref_fault(t, in, FAULT_TRAP);
}

REF_HANDLER(poison)
{
	(void)r;
	ref_fault(t, in, FAULT_UNSUPPORTED);
	strncpy(t->cta->fault->text, in->data ? in->data : "", sizeof(t->cta->fault->text) - 1);
	return NULL;
}

/* ---- calls ---- */

static u8 *place_at(const struct ref_thread *t, const struct ref_place *p, u64 *r)
{
	return p->in_frame ? t->local + r[REF_SLOT_FRAME] + p->at : (u8 *)&r[p->at];
}

/* Little-endian hosts only: a register's low bytes come first. */
static void pass(const struct ref_thread *t, const struct ref_list *from, u64 *fr,
		 const struct ref_list *to, u64 *tr)
{
	for (u32 i = 0; i < from->len && i < to->len; i++) {
		const struct ref_place *a = &from->at[i], *b = &to->at[i];

		memmove(place_at(t, b, tr), place_at(t, a, fr),
			a->bytes < b->bytes ? a->bytes : b->bytes);
	}
}

static bool grow(struct ref_thread *t, u32 slots)
{
	u32 at = (u32)(t->r - t->regs), cap = t->regs_cap;
	struct ref_level *level;
	u64 *regs;

	if (t->depth == t->level_cap) {
		level = realloc(t->level, sizeof(*level) * (t->level_cap * 2 + 8));
		if (!level)
			return false;
		t->level = level;
		t->level_cap = t->level_cap * 2 + 8;
	}
	while (at + t->func->slots + slots > cap)
		cap = cap * 2 + 64;
	if (cap == t->regs_cap)
		return true;
	regs = realloc(t->regs, sizeof(*regs) * cap);
	if (!regs)
		return false;
	t->regs = regs;
	t->regs_cap = cap;
	t->r = regs + at;
	return true;
}

/* __assertfail and the like have no body: the engine's runtime has them, this one does not. */
static const struct ref_func *callee_of(struct ref_thread *t, const struct ref_call *c, u64 *r)
{
	const struct ref_program *p = t->cta->program;
	u64 i = c->func == IR_NONE ? r[c->slot] - 1 : c->func;

	return i < p->func_len && p->funcs[i].insn ? &p->funcs[i] : NULL;
}

REF_HANDLER(call)
{
	const struct ref_call *c = in->data;
	const struct ref_func *f = callee_of(t, c, r), *caller = t->func;
	u32 frame;

	if (!f && c->func != IR_NONE) {
		ref_fault(t, in, FAULT_UNSUPPORTED);
		strncpy(t->cta->fault->text, t->cta->program->funcs[c->func].ir->name->text,
			sizeof(t->cta->fault->text) - 1);
		return NULL;
	}
	if (!f)
		return ref_fault(t, in, FAULT_INVALID_PC);
	frame = (u32)align_up(t->stack, 16);
	if (frame + (u64)f->frame_bytes > t->cta->local_bytes || t->depth >= 1u << 20 ||
	    !grow(t, f->slots))
		return ref_fault(t, in, FAULT_STACK_OVERFLOW);
	t->level[t->depth++] = (struct ref_level){.back = in + 1,
						  .call = c,
						  .func = caller,
						  .slots = caller->slots,
						  .stack = t->stack};
	r = t->r;
	ref_enter(t, f, (u32)(r - t->regs) + caller->slots);
	t->r[REF_SLOT_FRAME] = frame;
	t->stack = frame + f->frame_bytes;
	pass(t, &c->args, r, &f->params, t->r);
	return f->insn;
}

REF_HANDLER(ret)
{
	const struct ref_func *f = t->func;
	const struct ref_level *l;

	(void)in;
	if (!t->depth) {
		t->state = REF_EXITED;
		t->warp->live &= ~(1u << t->lane);
		return NULL;
	}
	l = &t->level[--t->depth];
	t->r = r - l->slots;
	t->func = l->func;
	t->stack = l->stack;
	pass(t, &f->rets, r, &l->call->rets, t->r);
	return l->back;
}

REF_HANDLER(exit)
{
	(void)r;
	(void)in;
	t->state = REF_EXITED;
	t->warp->live &= ~(1u << t->lane);
	return NULL;
}
