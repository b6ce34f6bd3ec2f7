/*
 * Launching and scheduling of the reference engine: CTAs one after the other, threads one after the
 * other; a thread runs
 * until it ends, has used its slice, or waits at a barrier or for other lanes of its warp.
 */
#include "tests/ref/ref_int.h"

#include <stdlib.h>

#define LOCAL_MAX (512u << 10)

/* ---- faults ---- */

const struct ref_insn *ref_memory_fault(struct ref_thread *t, const struct ref_insn *in,
					enum fault_kind kind, struct ref_access a)
{
	struct fault *f = t->cta->fault;

	*f = (struct fault){.kind = kind,
			    .pc = in->ir,
			    .warp = t->warp->index,
			    .lanes = 1u << t->lane,
			    .address = a.addr,
			    .size = a.size,
			    .space = a.space,
			    .write = a.write};
	memcpy(f->ctaid, t->cta->id, sizeof(f->ctaid));
	memcpy(f->thread, t->tid, sizeof(f->thread));
	t->cta->faulted = true;
	return NULL;
}

const struct ref_insn *ref_fault(struct ref_thread *t, const struct ref_insn *in,
				 enum fault_kind kind)
{
	return ref_memory_fault(t, in, kind, (struct ref_access){0});
}

/* ---- barriers ---- */

/* Lanes that do not exist or have exited count as arrived where their warp has arrived at all. */
static bool is_complete(const struct ref_cta *c, const struct ref_barrier *b)
{
	u32 count = b->extra;
	bool all = true;

	for (u32 i = 0; i < c->warps; i++) {
		u32 live = c->warp[i].live;

		all &= (live & ~b->arrived[i]) == 0;
		if (b->arrived[i])
			count += (u32)__builtin_popcount(b->arrived[i] | ~live);
	}
	return b->want ? count >= b->want : all;
}

static void release(struct ref_cta *c, u32 id)
{
	struct ref_barrier *b = &c->barrier[id];

	for (u32 i = 0; i < c->threads; i++) {
		struct ref_thread *t = &c->thread[i];

		if (t->state != REF_BARRIER || t->barrier != id)
			continue;
		t->state = REF_READY;
		if (t->barrier_out != REF_NO_SLOT)
			t->r[t->barrier_out] = t->barrier_op == M_popc  ? b->sum
					       : t->barrier_op == M_and ? b->all
									: b->any;
	}
	memset(b->arrived, 0, sizeof(*b->arrived) * c->warps);
	b->waiting = b->extra = b->sum = b->any = b->want = 0;
	b->all = 1;
}

void ref_arrive(struct ref_thread *t, u32 id, u32 want, bool p)
{
	struct ref_barrier *b = &t->cta->barrier[id];
	u32 *arrived = &b->arrived[t->warp->index];

	b->extra += *arrived >> t->lane & 1;
	*arrived |= 1u << t->lane;
	b->want = want;
	b->sum += p;
	b->all &= p;
	b->any |= p;
	b->waiting++;
}

REF_HANDLER(bar_sync)
{
	u32 id = (u32)r[in->a] & 15;

	t->pc = in + 1;
	t->state = REF_BARRIER;
	t->barrier = (u8)id;
	t->barrier_out = in->d;
	t->barrier_op = in->mode;
	ref_arrive(t, id, (u32)r[in->b], r[in->c] & 1);
	if (is_complete(t->cta, &t->cta->barrier[id]))
		release(t->cta, id);
	return t->state == REF_READY ? t->pc : NULL;
}

REF_HANDLER(bar_arrive)
{
	u32 id = (u32)r[in->a] & 15;

	ref_arrive(t, id, (u32)r[in->b], false);
	if (is_complete(t->cta, &t->cta->barrier[id]))
		release(t->cta, id);
	return in + 1;
}

/* Exits may complete barriers. */
static bool release_complete(struct ref_cta *c)
{
	bool any = false;

	for (u32 i = 0; i < ARRAY_LEN(c->barrier); i++)
		if (c->barrier[i].waiting && is_complete(c, &c->barrier[i])) {
			release(c, i);
			any = true;
		}
	return any;
}

/* ---- threads and warps ---- */

void ref_enter(struct ref_thread *t, const struct ref_func *f, u32 at)
{
	t->r = t->regs + at;
	t->func = f;
	t->r[REF_SLOT_FRAME] = 0;
	t->r[REF_SLOT_PARAM] = t->cta->param_address;
	if (f->consts.len)
		memcpy(t->r + f->consts_at, f->consts.at, sizeof(u64) * f->consts.len);
}

REF_HANDLER(meet)
{
	(void)r;
	t->pc = in;
	t->state = REF_MEETING;
	return NULL;
}

static void run_thread(struct ref_thread *t)
{
	const struct ref_insn *in = t->pc;

	t->budget = REF_SLICE;
	while (in)
		in = in->run(t->r, in, t);
}

static u32 member_mask(const struct ref_thread *t)
{
	return t->pc->c == REF_NO_SLOT ? 0 : (u32)t->r[t->pc->c];
}

static void hold(struct ref_warp *w, u32 lanes)
{
	w->thread[__builtin_ctz(lanes)].pc->meet(w, lanes);
	for (u32 m = lanes; m; m &= m - 1) {
		struct ref_thread *t = &w->thread[__builtin_ctz(m)];

		t->pc++;
		t->state = REF_READY;
	}
}

/* Lanes that wait with the same kind of instruction and the same mask. */
static u32 companions(const struct ref_warp *w, u32 lane)
{
	const struct ref_thread *a = &w->thread[lane];
	u32 lanes = 0;

	for (u32 m = w->live; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);
		const struct ref_thread *t = &w->thread[l];

		if (t->state == REF_MEETING && t->pc->meet == a->pc->meet &&
		    t->pc->mode == a->pc->mode &&
		    (a->pc->c == REF_NO_SLOT
			     ? t->pc == a->pc
			     : t->pc->c != REF_NO_SLOT && member_mask(t) == member_mask(a)))
			lanes |= 1u << l;
	}
	return lanes;
}

/*
 * Let lanes meet whose mask is complete; those without a mask when no other lane of the warp can
 * come any more.
 */
static bool meet_lanes(struct ref_warp *w)
{
	u32 live = w->live, ready = 0, first = REF_NO_SLOT;
	bool any = false;

	for (u32 m = live; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m), lanes;

		ready |= (u32)(w->thread[l].state == REF_READY) << l;
		if (w->thread[l].state != REF_MEETING)
			continue;
		if (w->thread[l].pc->c == REF_NO_SLOT) {
			if (first == REF_NO_SLOT || w->thread[l].pc < w->thread[first].pc)
				first = l;
			continue;
		}
		lanes = companions(w, l);
		if ((member_mask(&w->thread[l]) & live & ~lanes) == 0) {
			hold(w, lanes);
			any = true;
		}
	}
	if (any || ready || first == REF_NO_SLOT)
		return any;
	hold(w, companions(w, first));
	return true;
}

static bool run_warp(struct ref_warp *w, struct ref_cta *c)
{
	bool ran = false;

	do {
		for (u32 m = w->live; m && !c->faulted; m &= m - 1) {
			struct ref_thread *t = &w->thread[__builtin_ctz(m)];

			if (t->state != REF_READY)
				continue;
			ran = true;
			run_thread(t);
		}
	} while (!c->faulted && meet_lanes(w));
	return ran;
}

/* ---- CTAs ---- */

static bool start_thread(struct ref_cta *c, u32 i)
{
	const struct ref_func *f = &c->program->funcs[c->program->kernel->index];
	struct ref_thread *t = &c->thread[i];
	const u32 *block = c->launch->block;

	t->state = REF_READY;
	t->lane = (u8)(i % WARP_LANES);
	t->warp = &c->warp[i / WARP_LANES];
	t->cta = c;
	t->cc = t->depth = 0;
	t->tid[0] = i % block[0];
	t->tid[1] = i / block[0] % block[1];
	t->tid[2] = i / block[0] / block[1];
	t->local = NULL;
	if (t->regs_cap < f->slots) {
		free(t->regs);
		t->regs = malloc(sizeof(u64) * f->slots);
		t->regs_cap = t->regs ? f->slots : 0;
		if (!t->regs)
			return false;
	}
	memset(t->regs, 0, sizeof(u64) * f->consts_at);
	t->stack = f->frame_bytes;
	t->pc = f->insn;
	ref_enter(t, f, 0);
	return true;
}

static void fault_at(struct ref_cta *c, enum fault_kind kind)
{
	for (u32 i = 0; i < c->threads; i++)
		if (c->thread[i].state != REF_EXITED) {
			ref_fault(&c->thread[i], c->thread[i].pc, kind);
			return;
		}
}

static bool is_done(const struct ref_cta *c)
{
	for (u32 i = 0; i < c->warps; i++)
		if (c->warp[i].live)
			return false;
	return true;
}

static bool run_cta(struct ref_cta *c, u8 *local)
{
	u64 slices = c->launch->max_slices ? c->launch->max_slices : 4096;

	memset(c->shared, 0, c->shared_bytes);
	for (u32 w = 0; w < c->warps; w++) {
		u32 n = c->threads - w * WARP_LANES;

		c->warp[w] = (struct ref_warp){.thread = c->thread + w * WARP_LANES,
					       .index = w,
					       .live = n >= WARP_LANES ? FULL_MASK : (1u << n) - 1};
	}
	for (u32 i = 0; i < c->threads; i++) {
		if (!start_thread(c, i))
			return false;
		c->thread[i].local = local + (u64)i * c->local_bytes;
	}
	for (u32 i = 0; i < ARRAY_LEN(c->barrier); i++) {
		u32 *arrived = c->barrier[i].arrived;

		memset(arrived, 0, sizeof(*arrived) * c->warps);
		c->barrier[i] = (struct ref_barrier){.arrived = arrived, .all = 1};
	}
	for (;;) {
		bool ran = false;

		for (u32 w = 0; w < c->warps && !c->faulted; w++)
			ran |= run_warp(&c->warp[w], c);
		if (c->faulted || is_done(c))
			return true;
		if (!release_complete(c) && !ran)
			fault_at(c, FAULT_DEADLOCK);
		else if (!--slices)
			fault_at(c, FAULT_TIMEOUT);
	}
}

/* Storage of a launch. */
struct store {
	struct ref_cta c;
	u8 *local;
	u32 *arrived;
};

static u32 local_bytes_of(const struct ref_program *p, const struct ref_launch *l)
{
	bool calls = false, one = p->funcs[p->kernel->index].frame_bytes == 0;

	for (u32 i = 0; i < p->func_len; i++)
		calls |= p->funcs[i].wanted && i != p->kernel->index;
	if (l->local_bytes)
		return (u32)align_up(l->local_bytes, 16);
	/* alloca asks for more than the frame, too. */
	for (u32 i = 0; i < p->kernel->insns.len && one; i++)
		one = !p->kernel->insns.at[i].form ||
		      p->kernel->insns.at[i].form->row->row != I_alloca;
	return !calls && one ? 16 : LOCAL_MAX;
}

static bool prepare(struct store *s, const struct ref_program *p, const struct ref_launch *l,
		    struct fault *fault)
{
	struct ref_cta *c = &s->c;
	u32 threads = l->block[0] * l->block[1] * l->block[2];

	*c = (struct ref_cta){
		.program = p, .launch = l, .mem = l->mem, .fault = fault, .threads = threads};
	c->warps = (threads + WARP_LANES - 1) / WARP_LANES;
	c->shared_bytes = p->shared_static + l->dynamic_shared;
	c->local_bytes = local_bytes_of(p, l);
	c->caches = calloc(p->caches + 1, sizeof(*c->caches));
	c->shared = aligned_alloc(256, align_up(c->shared_bytes + 1, 256));
	c->thread = calloc(threads, sizeof(*c->thread));
	c->warp = calloc(c->warps, sizeof(*c->warp));
	s->local = calloc(threads, c->local_bytes);
	s->arrived = calloc((size_t)c->warps * ARRAY_LEN(c->barrier), sizeof(*s->arrived));
	for (u32 i = 0; s->arrived && i < ARRAY_LEN(c->barrier); i++)
		c->barrier[i].arrived = s->arrived + (size_t)i * c->warps;
	c->param_address = mem_alloc(l->mem, max_u64(p->param_bytes, 1), MEM_ALIGN, MEM_KIND_PARAM);
	if (!c->caches || !c->shared || !c->thread || !c->warp || !s->local || !s->arrived ||
	    !c->param_address)
		return false;
	if (p->param_bytes)
		memcpy(mem_pointer(l->mem, c->param_address), l->params, p->param_bytes);
	return true;
}

static void finish(struct store *s)
{
	for (u32 i = 0; s->c.thread && i < s->c.threads; i++) {
		free(s->c.thread[i].regs);
		free(s->c.thread[i].level);
	}
	if (s->c.param_address)
		mem_free(s->c.mem, s->c.param_address);
	free(s->c.caches);
	free(s->c.shared);
	free(s->c.thread);
	free(s->c.warp);
	free(s->local);
	free(s->arrived);
}

bool ref_run(const struct ref_program *p, const struct ref_launch *l, struct fault *fault)
{
	struct store s = {0};
	bool ok = prepare(&s, p, l, fault);
	struct ref_cta *c = &s.c;

	for (c->id[2] = 0; c->id[2] < l->grid[2] && ok && !c->faulted; c->id[2]++)
		for (c->id[1] = 0; c->id[1] < l->grid[1] && ok && !c->faulted; c->id[1]++)
			for (c->id[0] = 0; c->id[0] < l->grid[0] && ok && !c->faulted; c->id[0]++)
				ok = run_cta(c, s.local);
	if (!ok)
		*fault = (struct fault){.kind = FAULT_UNSUPPORTED, .text = "out of memory"};
	finish(&s);
	return ok && !c->faulted;
}

bool ref_launch(const struct ref_launch *l, struct fault *fault)
{
	struct ref_program *p = ref_decode(l->module, l->kernel, l->var_address);
	bool ok;

	if (!p) {
		*fault = (struct fault){.kind = FAULT_UNSUPPORTED, .text = "out of memory"};
		return false;
	}
	ok = ref_run(p, l, fault);
	ref_program_free(p);
	return ok;
}
