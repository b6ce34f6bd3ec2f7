/*
 * Calls and returns, copies between frames, the stack, and functions outside the modules.
 *
 * A call writes two rows of the callee, the micro-op to return to and the caller's frame, and moves
 * frame and stack on. Inside a cycle of calls it first saves the caller's live rows in the caller's
 * frame; the micro-op after it restores them. While the gang's lanes agree on where to go all of
 * this is done for all warps at once. PTX ISA "Control Flow Instructions: call", "ret", "Stack
 * Manipulation Instructions".
 */
#include "src/ops/observe.h"
#include "src/ops/local.h"
#include "src/host/syscall.h"

#include <stdio.h>

/* Lanes whose rows may be written: in gang mode dead ones too. */
static inline u32 writable(const struct gang *g)
{
	return g->mode == MODE_GANG ? FULL_MASK : g->active;
}

static const struct uop *fault_in(struct gang *g, const struct uop *in, u32 w, enum fault_kind kind,
				  u32 lanes)
{
	u32 warp = g->warp;

	g->warp = warp + w;
	exec_fault(g, in, kind, lanes);
	g->warp = warp;
	return NULL;
}

/* Number of lane l of warp w in the gang. */
static u32 gang_lane(const struct gang *g, u32 w, u32 l)
{
	return (g->warp + w) * WARP_LANES + l;
}

/* Do `bytes` from `stack` on fit for every lane that takes part? */
static bool stack_fits(struct gang *g, const struct uop *in, u64 bytes)
{
	const u32 *stack = ROW32(g->env->program->stack_row);
	u64 limit = g->env->local_bytes;
	u32 most = 0;

	FOR_LANES(l, LANES)
		most = stack[l] > most ? stack[l] : most;
	if (PL_LIKELY(most + bytes <= limit))
		return true;
	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = mask_of(g, w); m; m &= m - 1)
			if (stack[w * WARP_LANES + (u32)__builtin_ctz(m)] + bytes > limit)
				return fault_in(g, in, w, FAULT_STACK_OVERFLOW, m & -m) != NULL;
	return true;
}

/* Room for the arguments of a call. */
HANDLER(reserve)
{
	return stack_fits(g, in, in->stack.bytes) ? in + 1 : NULL;
}

/* ---- saved rows: ext has their number, then byte offset | class each ---- */

#define SAVED_CLASS 3u

static inline const u32 *saved(const struct gang *g, const struct uop *in, u32 *n)
{
	const u32 *list = g->env->program->ext + in->ext;

	*n = list[0];
	return list + 1;
}

static void save_lane(const struct gang *g, const u32 *list, u32 n, u32 w, u32 l, u64 to)
{
	u32 lane = w * WARP_LANES + l, number = gang_lane(g, w, l);

	for (u32 i = 0; i < n; i++) {
		u32 row = list[i] & ~SAVED_CLASS;
		u8 bit;

		switch (list[i] & SAVED_CLASS) {
		case ROW_W:
			local_write(g, number, to, &ROW32(row)[lane], 4);
			to += 4;
			break;
		case ROW_X:
			local_write(g, number, to, &ROW64(row)[lane], 8);
			to += 8;
			break;
		default:
			bit = ROWP(row)[w] >> l & 1;
			local_write(g, number, to++, &bit, 1);
			break;
		}
	}
}

static void restore_lane(const struct gang *g, const u32 *list, u32 n, u32 w, u32 l, u64 from)
{
	u32 lane = w * WARP_LANES + l, number = gang_lane(g, w, l);

	for (u32 i = 0; i < n; i++) {
		u32 row = list[i] & ~SAVED_CLASS;

		switch (list[i] & SAVED_CLASS) {
		case ROW_W:
			local_read(g, number, from, &ROW32(row)[lane], 4);
			from += 4;
			break;
		case ROW_X:
			local_read(g, number, from, &ROW64(row)[lane], 8);
			from += 8;
			break;
		default:
			ROWP(row)
			[w] = (ROWP(row)[w] & ~(1u << l)) | (u32)*local_byte(g, number, from++)
								    << l;
			break;
		}
	}
}

typedef void move_saved_lane(const struct gang *g, const u32 *list, u32 n, u32 w, u32 l, u64 at);

/* To or from where the frames of the lanes keep them. */
static ALWAYS_INLINE void move_saved(struct gang *g, const struct uop *in, move_saved_lane *move)
{
	const struct program *p = g->env->program;
	const u32 *frame = ROW32(p->frame_row);
	u32 n;
	const u32 *list = saved(g, in, &n);

	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = mask_of(g, w); m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m);

			move(g, list, n, w, l,
			     (u64)frame[w * WARP_LANES + l] + p->funcs[in->func].save_at);
		}
}

HANDLER(restore)
{
	move_saved(g, in, restore_lane);
	return in + 1;
}

/* ---- call ---- */

/* Move to the callee's frame, for the lanes of `mask` in each warp. */
static void enter(struct gang *g, const struct uop *in, const struct program_func *f, u32 mask)
{
	const struct program *p = g->env->program;
	u32 *frame = ROW32(p->frame_row), *stack = ROW32(p->stack_row), *pc = ROW32(f->return_row),
	    *old = ROW32(f->return_frame_row);
	const u32 next = (u32)(in - g->uops) + 1, bytes = f->frame_bytes;

	for (u32 w = 0; w < WARPS; w++, frame += 32, stack += 32, pc += 32, old += 32)
		FOR_LANES(l, WARP_LANES) {
			bool on = mask >> l & 1;

			pc[l] = on ? next : pc[l];
			old[l] = on ? frame[l] : old[l];
			frame[l] = on ? stack[l] : frame[l];
			stack[l] = on ? stack[l] + bytes : stack[l];
		}
}

static inline bool is_direct(const struct uop *in)
{
	return in->a == NO_ROW;
}

/* The function of a lane's indirect call, NULL: none that the call may reach. */
static const struct program_func *callee_of(const struct gang *g, const struct uop *in, u32 lane)
{
	const struct program_func *f = exec_program_function(g->env->program, ROW64(in->a)[lane]);

	return f && f->signature == in->call.signature ? f : NULL;
}

/*
 * The one function all lanes that take part call; NULL: they differ, or one calls what it may not.
 */
static const struct program_func *common_callee(const struct gang *g, const struct uop *in)
{
	const u64 *a = ROW64(in->a);
	u64 first = 0, differ = 0;
	bool any = false;

	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = mask_of(g, w); m; m &= m - 1) {
			u64 x = a[w * WARP_LANES + (u32)__builtin_ctz(m)];

			first = any ? first : x;
			any = true;
			differ |= x ^ first;
		}
	if (differ || !any)
		return NULL;
	for (u32 w = 0; w < WARPS; w++)
		if (mask_of(g, w))
			return callee_of(g, in, w * WARP_LANES + (u32)__builtin_ctz(mask_of(g, w)));
	return NULL;
}

/* All lanes call f. */
static bool call_all(struct gang *g, const struct uop *in, const struct program_func *f)
{
	if (!stack_fits(g, in, f->frame_bytes))
		return false;
	if (in->call.saves)
		move_saved(g, in, save_lane);
	enter(g, in, f, writable(g));
	return true;
}

HANDLER(call_gang)
{
	const struct program_func *f =
		is_direct(in) ? &g->env->program->funcs[in->call.callee] : common_callee(g, in);

	if (!f) {
		g->pc = (u32)(in - g->uops);
		g->stop = STOP_DIVERGED;
		return NULL;
	}
	if (in->flags & UOPF_BACK) {
		exec_pay(g, in);
		if (g->budget <= 0) {
			g->pc = (u32)(in - g->uops);
			g->stop = STOP_YIELD;
			return NULL;
		}
	}
	return call_all(g, in, f) ? g->uops + f->first : NULL;
}

static const struct uop *no_function(struct gang *g, const struct uop *in, u32 lanes)
{
	u64 address = ROW64(in->a)[__builtin_ctz(lanes)];
	const struct program_func *f = exec_program_function(g->env->program, address);

	if (f)
		snprintf(g->fault->text, sizeof(g->fault->text),
			 "call of '%.96s' with other parameters than it has", f->func->name->text);
	else
		snprintf(g->fault->text, sizeof(g->fault->text),
			 "call of 0x%llx, where no function is that it may reach",
			 (unsigned long long)address);
	return exec_fault(g, in, FAULT_INVALID_PC, lanes);
}

/* Lanes call different functions, or one calls nothing that exists. */
static const struct uop *call_apart(struct gang *g, const struct uop *in)
{
	u32 mask = g->warp_at[g->warp].mask, targets[WARP_LANES] = {0};

	for (u32 m = mask; m; m &= m - 1) {
		const struct program_func *f = callee_of(g, in, (u32)__builtin_ctz(m));

		if (!f)
			return no_function(g, in, m & -m);
		if (ROW32(g->env->program->stack_row)[__builtin_ctz(m)] + (u64)f->frame_bytes >
		    g->env->local_bytes)
			return exec_fault(g, in, FAULT_STACK_OVERFLOW, m & -m);
	}
	if (in->call.saves)
		move_saved(g, in, save_lane);
	for (u32 m = mask; m; m &= m - 1) {
		const struct program_func *f = callee_of(g, in, (u32)__builtin_ctz(m));

		enter(g, in, f, m & -m);
		targets[__builtin_ctz(m)] = f->first;
	}
	return warp_scatter(g, targets, NULL);
}

HANDLER(call_warp)
{
	const struct program_func *f =
		is_direct(in) ? &g->env->program->funcs[in->call.callee] : common_callee(g, in);

	if (!f)
		return call_apart(g, in);
	if (!call_all(g, in, f))
		return NULL;
	return in->flags & UOPF_BACK ? warp_back(g, in, f->first) : warp_goto(g, f->first);
}

/* ---- ret ---- */

/* Back to the caller's frame. */
static void leave(struct gang *g, const struct uop *in, u32 mask)
{
	const struct program *p = g->env->program;
	u32 *frame = ROW32(p->frame_row), *stack = ROW32(p->stack_row);
	const u32 *old = ROW32(in->b);

	for (u32 w = 0; w < WARPS; w++, frame += 32, stack += 32, old += 32)
		FOR_LANES(l, WARP_LANES) {
			bool on = mask >> l & 1;

			stack[l] = on ? frame[l] : stack[l];
			frame[l] = on ? old[l] : frame[l];
		}
}

static u32 returning(const struct gang *g, const struct uop *in, u32 w)
{
	u32 mask = mask_of(g, w), t;

	if (in->guard == NO_ROW)
		return mask;
	t = ((const u32 *)(g->regs + in->guard))[g->warp + w];
	return mask & (in->flags & UOPF_GUARD_NOT ? ~t : t);
}

/*
 * Where all lanes that take part return to, NO_PC: not all return, or they do to different places.
 */
static u32 common_return(const struct gang *g, const struct uop *in)
{
	const u32 *pc = ROW32(in->a);
	u32 first = NO_PC, differ = 0;

	for (u32 w = 0; w < WARPS; w++) {
		u32 mask = mask_of(g, w);

		if (returning(g, in, w) != mask)
			return NO_PC;
		for (u32 m = mask; m; m &= m - 1) {
			u32 x = pc[w * WARP_LANES + (u32)__builtin_ctz(m)];

			first = first == NO_PC ? x : first;
			differ |= x ^ first;
		}
	}
	return differ ? NO_PC : first;
}

static bool nobody_returns(const struct gang *g, const struct uop *in)
{
	u32 any = 0;

	for (u32 w = 0; w < WARPS; w++)
		any |= returning(g, in, w);
	return !any;
}

HANDLER(ret_gang)
{
	u32 pc = common_return(g, in);

	if (pc != NO_PC) {
		leave(g, in, FULL_MASK);
		return g->uops + pc;
	}
	if (nobody_returns(g, in))
		return in + 1;
	g->pc = (u32)(in - g->uops);
	g->stop = STOP_DIVERGED;
	return NULL;
}

HANDLER(ret_warp)
{
	u32 pc = common_return(g, in), back = returning(g, in, 0), targets[WARP_LANES];

	if (!back)
		return in + 1;
	for (u32 l = 0; l < WARP_LANES; l++)
		targets[l] = back >> l & 1 ? ROW32(in->a)[l] : (u32)(in - g->uops) + 1;
	leave(g, in, back);
	return pc != NO_PC ? warp_goto(g, pc) : warp_scatter(g, targets, NULL);
}

/* ---- frames ---- */

/*
 * From row a, in local memory or, without a row, in the kernel's parameters, to row b. Local memory
 * is the lane's own.
 */
HANDLER(copy_local)
{
	const u32 *from = in->a == NO_ROW ? NULL : ROW32(in->a), *to = ROW32(in->b);
	u64 from_at = in->stack.from, to_at = in->stack.to, limit = g->env->local_bytes;
	u32 bytes = (u32)in->stack.bytes;

	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = mask_of(g, w); m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m), lane = w * WARP_LANES + l;
			u32 number = gang_lane(g, w, l);

			if (to[lane] + to_at + bytes > limit ||
			    (from && from[lane] + from_at + bytes > limit))
				return fault_in(g, in, w, FAULT_STACK_OVERFLOW, 1u << l);
			if (from)
				local_copy(g, number, to[lane] + to_at, from[lane] + from_at,
					   bytes);
			else
				local_write(g, number, to[lane] + to_at, g->env->params + from_at,
					    bytes);
		}
	return in + 1;
}

/* d = lowest address of a (64-bit row) bytes, aligned; the number in front, if there is room. */
HANDLER(alloca)
{
	const struct program *p = g->env->program;
	u32 *stack = ROW32(p->stack_row), *d = ROW32(in->d);
	const u64 *a = ROW64(in->a);

	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = mask_of(g, w); m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m), lane = w * WARP_LANES + l;
			u64 at = align_up(stack[lane] + in->stack.bytes, in->stack.align), end;

			if (a[lane] > g->env->local_bytes ||
			    (end = align_up(at + a[lane], p->frame_align)) > g->env->local_bytes)
				return fault_in(g, in, w, FAULT_STACK_OVERFLOW, 1u << l);
			if (in->stack.bytes)
				local_write(g, gang_lane(g, w, l), at - sizeof(u64), &a[lane],
					    sizeof(u64));
			d[lane] = (u32)at;
			stack[lane] = (u32)end;
		}
	return in + 1;
}

/* ---- functions outside the modules ---- */

/*
 * All lanes make their call, also when one of them faults: each of them may have
 * something to say. told: NULL, or the micro-op if an observer is told what they touch.
 */
static const struct uop *make_calls(struct gang *g, const struct uop *in, const struct uop *told)
{
	const struct program *p = g->env->program;
	struct exec_stack copy = {0};
	struct exec_call c = {.gang = g,
			      .ext = &p->externs[in->call.callee],
			      .stack = &copy,
			      .told = told,
			      .in = in};
	const u32 *stack = ROW32(p->stack_row);
	enum fault_kind kind = FAULT_NONE;
	char text[sizeof(g->fault->text)]; /* the first lane's is reported */
	u32 warp = 0, lanes = 0;

	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = mask_of(g, w); m; m &= m - 1) {
			enum fault_kind k;

			c.lane = (u32)__builtin_ctz(m);
			c.warp = g->warp + w;
			c.at = stack[w * WARP_LANES + c.lane];
			k = lanes && kind != FAULT_ASSERT ? FAULT_NONE : exec_call_run(&c);
			if (k == FAULT_NONE)
				continue;
			if (!lanes) {
				kind = k;
				warp = w;
				memcpy(text, g->fault->text, sizeof(text));
			}
			lanes |= warp == w ? m & -m : 0;
		}
	exec_stack_free(&copy);
	if (kind == FAULT_NONE)
		return in + 1;
	memcpy(g->fault->text, text, sizeof(text));
	return fault_in(g, in, warp, kind, lanes);
}

HANDLER(extern)
{
	return make_calls(g, in, NULL);
}

HANDLER(watch_extern)
{
	return make_calls(g, in, tells_all(g) ? in : NULL);
}
