/*
 * Under a debugger: a function called in between (debug_call.h). The CTA gets other gangs, warps
 * and another program for the time being, with the one lane in the function.
 */
#include "src/exec/affine.h"
#include "src/exec/observer.h"
#include "src/ops/local.h"
#include "src/sched/debug_call.h"
#include "src/sched/debug_int.h"

#include <stdlib.h>
#include <sys/mman.h>

/* For recursion and alloca in it. */
#define STACK_BYTES ((u64)256 << 10)

struct debug_calling {
	struct debug_call *call;
	struct debug_grid *d;
	struct cta *cta;
	u32 warp, lane;
	bool again; /* it has been done before */
	bool returned, ended;
	bool unique, touched; /* it did what cannot be done twice; the debugger changed something */
	u32 back;             /* the micro-op it returns to */
	u64 base;             /* of its frame, in local memory */
	u64 kept;             /* bytes of the lane's local memory below */
	/* what the CTA and the grid had */
	struct cta saved;
	struct debug_cursor cursor;
	struct gang *gang;
	const struct program *program;
	void (*loop)(struct gang *g, const struct uop *in);
	u32 pc;
	bool at_step, changed;
	u8 verdict;
	/* what they have during the call; owned */
	struct exec_env env;
	struct warp *warps;
	struct gang *gangs;
	u8 *regs, *local, *scratch;
	struct mem_cache *caches;
	u64 local_size;
};

bool debug_calls(const struct debug_grid *d)
{
	return d->call != NULL;
}

struct cta *debug_calling_cta(const struct debug_grid *d)
{
	return d->call->cta;
}

u32 debug_calling_back(const struct debug_grid *d)
{
	return d->call->back;
}

bool debug_calling_again(const struct debug_grid *d)
{
	return d->call->again;
}

void debug_calling_touched(struct debug_grid *d)
{
	d->call->touched = true;
}

/* ---- the loop ---- */

/* Returns whether the instruction is to run. */
static bool ask_in_call(struct debug_calling *k, struct gang *g, const struct uop *in, u32 pc)
{
	struct debug_grid *d = k->d;
	enum debug_verdict v = DEBUG_GO_ON;

	d->pc = pc;
	k->ended |= __atomic_load_n(&d->grid->stop, __ATOMIC_RELAXED);
	if (!k->ended && !k->again && d->hooks->step) {
		v = d->hooks->step(d->hooks->user, d, g, in);
		if (d->tells != *d->wants)
			debug_choose_tables(d);
	}
	k->ended |= v == DEBUG_END;
	if (!k->ended && v != DEBUG_TURN && !d->changed)
		return true;
	d->changed = false;
	warp_leave(g, pc);
	return false;
}

static void note_unique(struct debug_calling *k, const struct uop *in)
{
	const struct program *p = k->call->program;

	k->unique |= in->inner == OP_extern && debug_is_unique(&p->externs[in->call.callee]);
}

static void call_loop(struct gang *g, const struct uop *in)
{
	struct debug_grid *d = g->env->observer->user;
	struct debug_calling *k = d->call;

	do {
		u32 pc = (u32)(in - g->uops);

		if (pc == k->back) {
			k->returned = true;
			warp_leave(g, pc);
			return;
		}
		if (exec_is_first(g->env->program, pc) && !ask_in_call(k, g, in, pc))
			return;
		note_unique(k, in);
		g->clock += EXEC_UOP_CYCLES;
		in = g->table->run[in->op](g, in);
	} while (in);
}

/* ---- the lane's surroundings ---- */

/* Where the lane's stack ends, as a call would find it. */
static u64 lane_stack_end(const struct debug_calling *k)
{
	const struct program *p = k->saved.env->program;
	const struct gang *g = exec_gang_of(k->cta, k->warp);
	u64 end = p->frame_bytes;

	if (p->has_calls)
		end = ((const u32 *)(const void *)(g->regs + p->stack_row))
			      [(k->warp - g->first_warp) * WARP_LANES + k->lane] +
		      (u64)k->d->reserve;
	return end;
}

static u64 local_wanted(const struct debug_calling *k)
{
	const struct program *p = k->call->program;
	u64 frames = 0;

	for (u32 i = 0; i < p->func_len; i++)
		frames += p->funcs[i].frame_bytes;
	return align_up(
		k->base + 2 * frames + STACK_BYTES * (p->stack_factor ? p->stack_factor : 1), 64);
}

static void *zeroed_bytes(u64 size)
{
	void *p = aligned_alloc(4096, align_up(size + 1, 4096));

	if (p)
		memset(p, 0, size);
	return p;
}

static bool make_surroundings(struct debug_calling *k)
{
	const struct program *p = k->call->program;
	u64 bytes = local_wanted(k);

	if (bytes > UINT32_MAX / 2)
		return false;
	k->env = *k->saved.env;
	k->env.program = p;
	k->env.local_bytes = (u32)bytes;
	k->local_size = bytes * WARP_LANES;
	k->warps = zeroed_bytes(sizeof(*k->warps) * k->cta->warps);
	k->gangs = zeroed_bytes(sizeof(*k->gangs) * (k->warp + 1));
	k->regs = zeroed_bytes(p->block_bytes);
	k->scratch = zeroed_bytes(sizeof(u64) * WARP_LANES);
	k->caches = zeroed_bytes(sizeof(*k->caches) * p->cache_slots);
	k->local = mmap(NULL, k->local_size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (k->local == MAP_FAILED)
		k->local = NULL;
	return k->warps && k->gangs && k->regs && k->scratch && k->caches && k->local;
}

static void free_surroundings(struct debug_calling *k)
{
	free(k->warps);
	free(k->gangs);
	free(k->regs);
	free(k->scratch);
	free(k->caches);
	if (k->local)
		munmap(k->local, k->local_size);
}

static void set_gang(struct debug_calling *k)
{
	const struct gang *was = exec_gang_of(k->cta, k->warp);
	struct gang *g = &k->gangs[k->warp];

	*g = (struct gang){
		.regs = k->regs,
		.warps = 1,
		.first_warp = k->warp,
		.env = &k->env,
		.cta = k->cta,
		.uops = k->call->program->uop,
		.warp_at = &k->warps[k->warp],
		.caches = k->caches,
		.shared = k->cta->shared,
		.local = k->local,
		.fault = &k->cta->fault,
		.scratch = k->scratch,
		.rejoin = NO_PC,
		.clock = was->clock,
		.wait_pc = NO_PC,
	};
}

/* The lane is ready to begin; the others of its warp do not go on, so it would wait for them. */
static void set_warp(struct debug_calling *k)
{
	const struct program *p = k->call->program;
	struct warp *w = &k->warps[k->warp];
	u32 others = k->saved.warp[k->warp].live & ~(1u << k->lane);

	w->live = others | 1u << k->lane;
	w->stop = NO_PC;
	warp_park(w, (struct group){.mask = 1u << k->lane,
				    .pc = p->funcs[k->call->func].first,
				    .state = GROUP_READY});
	if (others)
		warp_park(w, (struct group){.mask = others,
					    .pc = p->funcs[0].first,
					    .state = GROUP_FROZEN});
}

static void carry_local(const struct debug_calling *k, bool back)
{
	const struct gang *was = &k->saved.gang[k->warp / k->saved.env->program->gang],
			  *g = &k->gangs[k->warp];
	u32 number = (k->warp - was->first_warp) * WARP_LANES + k->lane;
	u8 part[256];

	for (u64 at = 0; at < k->kept; at += sizeof(part)) {
		u64 n = min_u64(k->kept - at, sizeof(part));

		local_read(back ? g : was, back ? k->lane : number, at, part, n);
		local_write(back ? was : g, back ? number : k->lane, at, part, n);
	}
}

static void set_frame(struct debug_calling *k)
{
	const struct program *p = k->call->program;
	const struct program_func *f = &p->funcs[k->call->func];
	u32 row[][2] = {{p->frame_row, (u32)k->base},
			{p->stack_row, (u32)k->base + f->frame_bytes},
			{f->return_row, k->back},
			{f->return_frame_row, 0}};

	for (u32 i = 0; i < ARRAY_LEN(row); i++)
		((u32 *)(void *)(k->regs + row[i][0]))[k->lane] = row[i][1];
	local_write(&k->gangs[k->warp], k->lane, k->base, k->call->frame, k->call->frame_bytes);
}

static void enter_call(struct debug_calling *k)
{
	struct debug_grid *d = k->d;
	struct cta *c = k->cta, one;

	set_gang(k);
	set_warp(k);
	c->env = &k->env;
	c->gang = k->gangs;
	c->gangs = k->warp + 1;
	c->warp = k->warps;
	one = *c;
	one.gang = &k->gangs[k->warp];
	one.gangs = 1;
	exec_cta_prepare(&one);
	exec_cta_launch(&one);
	one.gang->stop = STOP_NONE;
	k->cursor = d->cursor;
	k->gang = d->gang;
	k->program = d->grid->launch.env.program;
	k->loop = d->ops.loop;
	k->pc = d->pc;
	k->at_step = d->at_step;
	k->changed = d->changed;
	k->verdict = d->verdict;
	d->call = k;
	d->gang = &k->gangs[k->warp];
	d->grid->launch.env.program = k->call->program;
	d->ops.loop = call_loop;
	d->changed = false;
	debug_choose_tables(d);
	carry_local(k, false);
	set_frame(k);
}

static void leave_call(struct debug_calling *k)
{
	struct debug_grid *d = k->d;
	struct text assertions = k->cta->assertions;
	struct async_cta *async = k->cta->async;

	if (assertions.len > k->saved.assertions.len)
		assertions.len = k->saved.assertions.len;
	carry_local(k, true);
	*k->cta = k->saved;
	k->cta->assertions = assertions;
	k->cta->async = async;
	d->call = NULL;
	d->cursor = k->cursor;
	d->gang = k->gang;
	d->grid->launch.env.program = k->program;
	d->ops.loop = k->loop;
	d->pc = k->pc;
	d->at_step = k->at_step;
	d->changed = k->changed;
	d->verdict = k->verdict;
	debug_choose_tables(d);
}

/* ---- calls ---- */

static void find_waiting(struct debug_calling *k)
{
	struct debug_group at[WARP_LANES];
	u32 n = debug_groups(k->d, k->cta, k->warp, at);

	for (u32 i = 0; i < n; i++)
		if (at[i].mask >> k->lane & 1)
			k->call->fault.pc = at[i].pc;
}

static enum debug_called run_call(struct debug_calling *k)
{
	for (;;) {
		struct gang *g = &k->gangs[k->warp];

		switch (exec_warp_turn(g, k->warp, 1u << k->lane, SLICE_BUDGET)) {
		case STOP_FAULT:
			k->call->fault = k->cta->fault;
			return DEBUG_CALL_FAULTED;
		case STOP_BARRIER:
			if (!(k->warps[k->warp].live >> k->lane & 1))
				return DEBUG_CALL_EXITED;
			find_waiting(k);
			return DEBUG_CALL_WAITS;
		default:
			break;
		}
		g->polled = false;
		if (k->returned)
			return DEBUG_CALL_RETURNED;
		if (k->ended)
			return DEBUG_CALL_ENDED;
		if (!(k->warps[k->warp].live >> k->lane & 1))
			return DEBUG_CALL_EXITED;
	}
}

static enum debug_called call_in(struct debug_calling *k)
{
	const struct program *p = k->call->program;
	enum debug_called how = DEBUG_CALL_FAILED;

	k->saved = *k->cta;
	k->back = p->funcs[0].end - 1;
	k->base = align_up(lane_stack_end(k), p->frame_align);
	k->kept = k->saved.local ? min_u64(k->base, k->saved.env->local_bytes) : 0;
	if (make_surroundings(k)) {
		enter_call(k);
		how = run_call(k);
		if (how == DEBUG_CALL_RETURNED && k->call->result_bytes)
			local_read(&k->gangs[k->warp], k->lane, k->base + k->call->result_at,
				   k->call->result, k->call->result_bytes);
		leave_call(k);
	}
	free_surroundings(k);
	return how;
}

enum debug_called debug_call(struct debug_grid *d, struct cta *c, u32 warp, u32 lane,
			     struct debug_call *call)
{
	struct debug_calling k = {.call = call, .d = d, .cta = c, .warp = warp, .lane = lane};
	enum debug_called how;

	if (d->call)
		return DEBUG_CALL_FAILED;
	how = call_in(&k);
	if (how == DEBUG_CALL_FAILED)
		return how;
	debug_note(d, (struct debug_deed){.kind = DEED_CALL,
					  .cta = c->number,
					  .warp = warp,
					  .lanes = lane,
					  .program = call->program,
					  .pc = call->func,
					  .bytes = call->frame_bytes,
					  .data = (u8 *)(uintptr_t)call->frame});
	debug_changed(d);
	if (k.unique)
		debug_cannot_repeat(d, "a function that was called has launched kernels, "
				       "or called the host");
	else if (k.touched || how == DEBUG_CALL_ENDED)
		debug_cannot_repeat(d, "values were changed inside a function that was called");
	return how;
}

void debug_call_again(struct debug_grid *d, struct cta *c, const struct debug_deed *x)
{
	struct debug_call call = {.program = x->program,
				  .func = x->pc,
				  .frame = x->data,
				  .frame_bytes = (u32)x->bytes};
	struct debug_calling k = {
		.call = &call, .d = d, .cta = c, .warp = x->warp, .lane = x->lanes, .again = true};

	if (call_in(&k) == DEBUG_CALL_FAILED)
		d->history.differs = true;
}
