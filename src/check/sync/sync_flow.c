/*
 * Where a thread has been tells whether it passed by an instruction or left the kernel before it:
 * reachability over the micro-ops of a program. Calls go into the function and past it; returns go
 * behind every call.
 */
#include "src/check/sync/sync_int.h"

struct flow {
	const struct program *program;
	u32 without; /* a micro-op that no way goes through, NO_PC: none */
	u8 *seen;
	VEC(u32) next;
	bool failed;
};

static void flow_to(struct flow *f, u32 pc)
{
	if (pc >= f->program->uops || f->seen[pc] || pc == f->without)
		return;
	f->seen[pc] = 1;
	f->failed |= !VEC_PUSH(&f->next, pc);
}

static void flow_behind_calls(struct flow *f)
{
	for (u32 pc = 0; pc < f->program->uops; pc++)
		if (f->program->uop[pc].inner == OP_call)
			flow_to(f, pc + 1);
}

static void flow_into_callees(struct flow *f, const struct uop *in)
{
	const struct program *p = f->program;

	if (in->a == NO_ROW && in->call.callee < p->func_len)
		flow_to(f, p->funcs[in->call.callee].first);
	for (u32 i = 1; in->a != NO_ROW && i < p->func_len; i++)
		flow_to(f, p->funcs[i].first);
}

static void flow_to_cases(struct flow *f, const struct uop *in)
{
	for (u32 i = 0; i < in->branch.cases; i++)
		flow_to(f, f->program->ext[in->ext + i]);
}

static void flow_on(struct flow *f, u32 pc)
{
	const struct uop *in = &f->program->uop[pc];

	switch (in->inner) {
	case OP_exit:
		break;
	case OP_ret:
		flow_behind_calls(f);
		break;
	case OP_bra:
		flow_to(f, in->branch.target);
		break;
	case OP_bra_pred:
		flow_to(f, in->branch.target);
		flow_to(f, pc + 1);
		return;
	case OP_brx_idx:
		flow_to_cases(f, in);
		break;
	case OP_call:
		flow_into_callees(f, in);
		flow_to(f, pc + 1);
		return;
	default:
		flow_to(f, pc + 1);
		return;
	}
	if (in->guard != NO_ROW)
		flow_to(f, pc + 1);
}

/* What is reached after micro-op `from`; or from the beginning, NO_PC. */
static bool explore(struct flow *f, u32 from)
{
	memset(f->seen, 0, f->program->uops);
	f->next.len = 0;
	if (from == NO_PC)
		flow_to(f, f->program->funcs[0].first);
	else
		flow_on(f, from);
	while (f->next.len)
		flow_on(f, f->next.at[--f->next.len]);
	return !f->failed;
}

static bool can_reach(struct flow *f, u32 from, u32 to, u32 without)
{
	f->without = without;
	return explore(f, from) && f->seen[to];
}

/* Can a thread leave the kernel from there without passing `without`? */
static bool can_leave(struct flow *f, u32 from, u32 without)
{
	f->without = without;
	if (!explore(f, from))
		return false;
	for (u32 pc = 0; pc < f->program->uops; pc++)
		if (f->seen[pc] && f->program->uop[pc].inner == OP_exit)
			return true;
	return false;
}

static bool find_past(struct flow *f, u32 at, u32 x, bool came)
{
	if (!can_reach(f, at, x, NO_PC))
		return false;
	if (!can_reach(f, x, at, NO_PC))
		return true;
	/* In a loop: what all come to that have been there, and that none needs to get there. */
	return !came && !can_leave(f, at, x) && can_reach(f, NO_PC, at, x);
}

bool sync_is_past(struct sync_launch *l, u32 at, u32 x, bool came)
{
	struct flow f = {.program = l->program};
	u64 parts[2] = {(u64)at << 32 | x, came}, key = hash_bytes(parts, sizeof(parts)) | 1,
	    *known = map_get(&l->past, key);
	bool past = false;

	if (known)
		return *known == 2;
	if (x == NO_PC)
		return false;
	f.seen = malloc(l->program->uops);
	if (f.seen)
		past = find_past(&f, at, x, came);
	free(f.seen);
	VEC_FREE(&f.next);
	map_set(&l->past, key, past ? 2 : 1);
	return past;
}

/* ---- micro-ops that matter ---- */

bool sync_is_deed(const struct uop *in)
{
	switch (uop_kind(in->inner)) {
	case UOP_FLOW:
	case UOP_NOTHING:
	case UOP_COUNT:
		return false;
	default:
		return true;
	}
}

/* Does a way from micro-op pc leave the kernel without a deed behind it? */
static bool ends_behind(struct flow *f, u32 pc, const u8 *ends)
{
	bool any = false;

	flow_on(f, pc);
	for (size_t i = 0; i < f->next.len; i++) {
		f->seen[f->next.at[i]] = 0;
		any |= ends[f->next.at[i]];
	}
	f->next.len = 0;
	return any;
}

/* Micro-ops that are no deeds and from which a thread may leave without one: to a fixed point. */
static void mark_ends(struct flow *f, u8 *ends)
{
	const struct program *p = f->program;

	for (bool more = true; more && !f->failed;) {
		more = false;
		for (u32 pc = p->uops; pc-- > 0;) {
			if (ends[pc] || sync_is_deed(&p->uop[pc]))
				continue;
			ends[pc] = p->uop[pc].inner == OP_exit || ends_behind(f, pc, ends);
			more |= ends[pc];
		}
	}
}

static bool mark_all(struct flow *f, u8 *ends, u8 *steps)
{
	const struct program *p = f->program;

	mark_ends(f, ends);
	for (u32 pc = 0; pc < p->uops; pc++) {
		const struct uop *in = &p->uop[pc];
		bool meets = in->inner == OP_warp_sync || uop_kind(in->inner) == UOP_BARRIER;

		steps[pc] |= in->inner == OP_warp_sync;
		steps[pc] |= sync_is_deed(in) && ends_behind(f, pc, ends);
		if (meets && pc + 1 < p->uops)
			steps[pc + 1] = 1;
	}
	return !f->failed;
}

/* With mbarriers, copies and wgmma each micro-op may be the progress that a wait lacks. */
static bool waits_for_progress(const struct program *p)
{
	for (u32 pc = 0; pc < p->uops; pc++)
		if (uop_kind(p->uop[pc].inner) == UOP_MBARRIER ||
		    uop_kind(p->uop[pc].inner) == UOP_COPY || p->uop[pc].inner == OP_wgmma)
			return true;
	return false;
}

u8 *sync_mark_steps(const struct program *p)
{
	struct flow f = {.program = p, .without = NO_PC};
	u8 *ends, *steps;

	if (waits_for_progress(p))
		return NULL;
	f.seen = calloc(p->uops + 1, 1);
	ends = calloc(p->uops + 1, 1);
	steps = calloc(p->uops + 1, 1);
	if (!f.seen || !ends || !steps || !mark_all(&f, ends, steps)) {
		free(steps);
		steps = NULL;
	}
	free(f.seen);
	free(ends);
	VEC_FREE(&f.next);
	return steps;
}
