/*
 * Accesses: each byte's last ones are compared with those that come.
 */
#include "src/check/race/race_int.h"
#include "src/base/setting.h"
#include "src/check/race/update.h"
#include "src/dev/place.h"
#include "src/exec/lane_access.h"
#include "src/exec/turn.h"

/* ld.volatile and st.volatile: strong, unless those outside the toolkit's headers are not to be. */
static bool volatile_is_strong(const struct program *p, u32 pc)
{
	return !setting_number(SETTING_CHECK_VOLATILE, 0) || place_is_of_toolkit(p, pc);
}

void race_learn_manner(struct race_launch *l, const struct uop *in, u32 pc)
{
	struct manner *m = &l->manner[pc];
	const struct isa_form *form = exec_form(l->program, in);

	if (form) {
		bool both = isa_form_has(form, M_acq_rel) || isa_form_has(form, M_sc);

		m->scope = (u8)race_scope(form);
		m->acquires = both || isa_form_has(form, M_acquire);
		m->releases = both || isa_form_has(form, M_release);
		m->tries = isa_form_has(form, M_cas);
		m->of_group = isa_form_opcode(form) == OPCODE_wgmma_mma_async;
		m->strong = m->acquires || m->releases || uop_kind(in->inner) == UOP_ATOMIC ||
			    isa_form_has(form, M_relaxed) || isa_form_has(form, M_mmio) ||
			    (isa_form_has(form, M_volatile) && volatile_is_strong(l->program, pc));
	}
	m->known = true;
}

/* The way that an access goes to memory. */
enum route {
	ROUTE_GENERIC,
	ROUTE_ASYNC,
	ROUTE_MAP, /* what a copy reads of its tensor map */
};

struct visit {
	struct race_launch *launch;
	const struct exec_access *a;
	const struct race_cta *race_cta; /* that accesses */
	struct clock_cta *cta;           /* its clock */
	struct manner manner;
	enum agent agent;
	bool reads, writes;
	enum route route;
	u32 lane, thread;
	u64 address; /* of the first byte of the access; shared: in the memory of `owner` */
	const struct cta *owner;
	u64 rank; /* of the owner, in addresses */
	struct shadow *shadow;
	struct map *variables;
	struct touch now;
	struct quick *quick;             /* of `owner`; NULL: not followed so */
	const struct quick_access *past; /* this was noted, and the shadow sees it now; NULL */
	u32 past_time;
	u64 host_piece; /* + 1, of the last global address that was looked up; 0: none */
	const u8 *host;
	struct touch ordered; /* what the lanes in question know; who 0: nothing yet */
	bool ordered_writes;
};

/* Was it the warp of this access? */
static bool is_same_warp(const struct visit *v, const struct touch *t)
{
	return t->who / WARP_LANES == v->now.who / WARP_LANES;
}

/* Whether two strong accesses see each other as the model wants: each's scope has the other. */
static bool scopes_meet(const struct touch *t, const struct visit *v)
{
	u8 narrow = t->scope < v->now.scope ? t->scope : v->now.scope;

	if (who_cta_of(t->who) == v->cta->number)
		return true;
	return narrow >= SCOPE_GPU || (narrow == SCOPE_CLUSTER && v->cta->cluster_size > 1);
}

/* Is it known to all lanes of the warp by the last barrier of the CTA? */
static bool is_before_barrier(const struct visit *v, const struct touch *t)
{
	return who_cta_of(t->who) == v->cta->number && who_agent_of(t->who) == AGENT_THREAD &&
	       t->time <= v->cta->warp_known[v->thread / WARP_LANES];
}

/* Lanes that did what is done in lockstep with what the lane in question does now, or before. */
static u32 lanes_in_lockstep(const struct visit *v, const struct touch *t)
{
	const struct lockstep *x = v->race_cta->lockstep;

	if (!x || !is_same_warp(v, t) || v->agent != AGENT_THREAD ||
	    (t->pc == v->now.pc && t->time == v->now.time && v->writes))
		return 0;
	return x[v->a->warp].mask;
}

/* Does the thread in question know what another did at a time? */
static bool is_known(struct visit *v, u64 who, u32 time)
{
	struct known *others = v->cta->thread[v->thread].others;

	return clock_known_itself(v->cta, v->thread, who) >= time ||
	       (others && asked_until(&v->launch->asked, others, who) >= time);
}

static bool race_is_ordered(struct visit *v, const struct touch *t, bool is_write, u32 *lane)
{
	u32 left = t->lanes & ~lanes_in_lockstep(v, t);

	for (u32 m = left; m; m &= m - 1) {
		u64 who = (t->who & ~(u64)31) | (u64)__builtin_ctz(m);

		if (!is_known(v, who, t->time) &&
		    (is_write || clock_known_read(v->cta, v->thread, who) < t->time)) {
			*lane = (u32)__builtin_ctz(m);
			return false;
		}
	}
	return true;
}

/* What a thread of the CTA stores as element `element`. False: not known. */
static bool stored(const struct exec_access *a, u32 thread, u32 element, u64 *value)
{
	const struct uop *in = a->in;
	const struct gang *g = exec_gang_of(a->cta, thread / WARP_LANES);
	u32 at = thread - g->first_warp * WARP_LANES, row;

	if (uop_kind(in->inner) != UOP_STORE || in->mem.size > 8)
		return false;
	row = in->mem.count > 1 ? a->cta->env->program->ext[in->ext + element] : in->b;
	if (row == NO_ROW)
		return false;
	*value = in->flags & UOPF_WIDE_DATA ? ((const u64 *)(g->regs + row))[at]
					    : ((const u32 *)(g->regs + row))[at];
	return true;
}

#define HOST_PIECE 256u

/* Where bytes of memory are now, before the access; they lie in one element. NULL: not known. */
static const u8 *memory_at(struct visit *v, u64 address)
{
	u64 piece = address / HOST_PIECE + 1;

	if (v->a->space == MEM_SHARED)
		return v->owner->shared + address;
	if (v->host_piece != piece) {
		v->host = mem_pointer(v->a->cta->env->mem, address - address % HOST_PIECE);
		v->host_piece = piece;
	}
	return v->host ? v->host + address % HOST_PIECE : NULL;
}

static bool same_bits(u64 a, u64 b, u32 size)
{
	return size == 8 ? a == b : !((a ^ b) & (((u64)1 << 8 * size) - 1));
}

/* Does the element of a store that has this byte hold already what is stored? */
static bool changes_nothing(struct visit *v, u64 address)
{
	u32 size = v->a->size ? v->a->size : 1, element = (u32)(address - v->address) / size;
	u64 mine, there = 0;
	const u8 *from;

	if (!stored(v->a, v->thread, element, &mine))
		return false;
	from = memory_at(v, v->address + element * size);
	if (from)
		memcpy(&there, from, size);
	return from && same_bits(mine, there, size);
}

/* Parts of one instruction that is about to run: do both threads store the same? */
static bool store_the_same(const struct visit *v, const struct touch *t, u32 lane, u64 address)
{
	u32 size = v->a->size ? v->a->size : 1, element = (u32)(address - v->address) / size;
	u64 mine, other;

	return stored(v->a, v->thread, element, &mine) &&
	       stored(v->a, (who_index(t->who) & ~31u) | lane, element, &other) &&
	       same_bits(mine, other, size);
}

/* Is what a store writes the same for all threads? Else luck decides whether it was there. */
static bool stores_fixed(const struct visit *v, const struct touch *t)
{
	u8 *fixed = &v->launch->manner[t->pc].fixed;

	if (!*fixed)
		*fixed = race_store_is_fixed(v->launch->program, t->pc) ? 2 : 1;
	return *fixed == 2;
}

/* Parts of one instruction: of a warp, or of a gang that runs together. */
static bool at_once(const struct visit *v, const struct touch *t)
{
	const struct gang *g;

	if (t->time != v->now.time || t->pc != v->now.pc ||
	    who_cta_of(t->who) != who_cta_of(v->now.who))
		return false;
	g = exec_gang_of(v->a->cta, v->a->warp);
	return is_same_warp(v, t) || (g->mode == MODE_GANG &&
				      g == exec_gang_of(v->a->cta, who_index(t->who) / WARP_LANES));
}

/* Is the outcome the same whichever of the two comes first? */
static bool is_harmless(const struct visit *v, const struct touch *t, u32 lane, u64 address,
			bool is_write)
{
	const struct touch *w = is_write ? t : &v->now;

	if (!is_write || !v->writes)
		return v->a->space == MEM_GLOBAL && w->silent && stores_fixed(v, w);
	return at_once(v, t) ? store_the_same(v, t, lane, address) : v->now.silent;
}

static bool same_in_row(const struct gang *g, u32 row, u32 bytes, u32 one, u32 other)
{
	const u8 *at = (const u8 *)g->regs + row;

	return row == NO_ROW ||
	       !memcmp(at + (size_t)one * bytes, at + (size_t)other * bytes, bytes);
}

/*
 * Lanes of a warp that make one and the same bulk or tensor copy: devices carry out one for the
 * warp, and CUTLASS has all lanes of a warp store by such copies.
 */
static bool is_same_copy(const struct visit *v, const struct touch *t, u32 lane)
{
	const struct uop *in = v->a->in;
	const struct gang *g = exec_gang_of(v->a->cta, v->a->warp);
	const u32 *ext = v->a->cta->env->program->ext + in->ext;
	u32 first = (v->a->warp - g->first_warp) * WARP_LANES, one = first + lane,
	    other = first + v->lane;
	bool same = t->pc == v->now.pc && t->who >> 5 == v->now.who >> 5 &&
		    (in->inner == OP_bulk || in->inner == OP_tensor) &&
		    same_in_row(g, in->a, 8, one, other) && same_in_row(g, in->b, 8, one, other);

	if (same && in->inner == OP_bulk)
		same = same_in_row(g, in->c, 4, one, other);
	for (u32 i = 0; same && in->inner == OP_tensor && i < in->tensor.rank; i++)
		same = same_in_row(g, ext[2 + i], 4, one, other);
	return same;
}

/*
 * Lanes of a warp that run together in a library, and store to one place of its shared memory: it
 * puts there what it drops.
 */
static bool is_surplus(const struct visit *v, const struct touch *t, u32 lane, bool is_write)
{
	const struct program *p = v->launch->program;

	if (is_write && v->writes && is_same_copy(v, t, lane))
		return true;
	return is_write && v->writes && v->a->space == MEM_SHARED &&
	       t->who >> 5 == v->now.who >> 5 && v->a->mask >> lane & 1 &&
	       place_is_of_toolkit(p, t->pc) && place_is_of_toolkit(p, v->now.pc);
}

static void found(struct visit *v, const struct touch *t, u32 lane, u64 address, bool is_write,
		  enum race_fence missing)
{
	struct race r = {
		.first = *t,
		.second = v->now,
		.first_writes = is_write,
		.second_writes = v->writes,
		.space = v->a->space,
		.address = address,
		.launch_block = {v->a->cta->env->block[0], v->a->cta->env->block[1],
				 v->a->cta->env->block[2]},
		.launch_grid = {v->a->cta->env->grid[0], v->a->cta->env->grid[1],
				v->a->cta->env->grid[2]},
	};
	bool news = false;

	if (is_surplus(v, t, lane, is_write))
		return;
	r.first.who = (t->who & ~(u64)31) | lane;
	r.same_value = is_harmless(v, t, lane, address, is_write);
	r.same_warp = r.first.who >> 5 == r.second.who >> 5;
	r.together = !missing && r.same_warp && t->pc != v->now.pc && (v->a->mask >> lane & 1);
	r.narrow = t->strong && v->now.strong;
	r.fence = (u8)missing;
	if (!race_reports_add(&v->launch->reports, &r, &news))
		v->launch->gave_up = true;
	if (news && v->launch->found->listener)
		race_announce(&r, v->launch->program, v->launch->from, v->launch->mem,
			      v->launch->found);
}

/* What another way to memory reads or overwrites wants a fence behind what was written before. */
static void ask_for_fence(struct visit *v, const struct touch *t, u64 address)
{
	const struct race_proxied x = {
		.cta = v->cta,
		.thread = v->thread,
		.of_group = v->manner.of_group,
		.of_map = v->route == ROUTE_MAP,
		.is_global = v->a->space == MEM_GLOBAL,
		.acquired = v->route == ROUTE_MAP ? race_map_acquired(v->race_cta, v->address) : 0,
	};

	if (who_agent_of(t->who) != AGENT_THREAD)
		return;
	for (u32 m = t->lanes; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);
		enum race_fence missing =
			race_fence_missing(&x, (t->who & ~(u64)31) | lane, t->time);

		if (missing) {
			found(v, t, lane, address, true, missing);
			return;
		}
	}
}

/* The lane in question, of those that the access is of. */
static void race_take_lane(struct visit *v, u32 lane)
{
	v->lane = lane;
	v->thread = v->a->warp * WARP_LANES + lane;
	v->now.who = who_agent(v->cta->number, v->thread, v->agent);
}

/* Cells of one access have seen the same. */
static bool was_ordered(const struct visit *v, const struct touch *t, bool is_write)
{
	return t->who == v->ordered.who && t->lanes == v->ordered.lanes &&
	       t->time == v->ordered.time && t->pc == v->ordered.pc &&
	       is_write == v->ordered_writes;
}

static void against(struct visit *v, const struct touch *t, u64 address, bool is_write)
{
	bool raced = false;
	u32 lane;

	if (!t->who || (t->strong && v->now.strong && scopes_meet(t, v)))
		return;
	if (PL_LIKELY(is_before_barrier(v, t)) && v->route == ROUTE_GENERIC &&
	    v->agent == AGENT_THREAD)
		return;
	if (was_ordered(v, t, is_write))
		return;
	for (u32 m = v->now.lanes; m; m &= m - 1) {
		race_take_lane(v, (u32)__builtin_ctz(m));
		if (!race_is_ordered(v, t, is_write, &lane)) {
			found(v, t, lane, address, is_write, FENCE_NONE);
			raced = true;
		} else if (is_write && v->route != ROUTE_GENERIC) {
			ask_for_fence(v, t, address);
			raced = true;
		}
	}
	race_take_lane(v, (u32)__builtin_ctz(v->now.lanes));
	if (!raced) {
		v->ordered = *t;
		v->ordered_writes = is_write;
	}
}

/* Loads whose value the thread's atomic operation, now, may have been tried with. */
static void note_tries(struct visit *v, const struct cell *c)
{
	const struct touch *t = c->readers ? c->readers->at : &c->read;
	u32 n = c->readers ? c->readers->len : c->read.who != 0;

	for (u32 i = 0; i < n; i++)
		if (t[i].who >> 5 == v->now.who >> 5 && (t[i].lanes & v->now.lanes))
			v->launch->manner[t[i].pc].feeds_atomic = true;
}

static void note_read(struct visit *v, struct cell *c)
{
	if (!cell_add_reader(c, &v->now, v->cta->warp_known[v->a->warp]))
		v->launch->gave_up = true;
}

static void note_write(struct visit *v, struct cell *c)
{
	if (c->readers || c->read.who)
		cell_clear_readers(c);
	if (!cell_set_write(c, &v->now))
		v->launch->gave_up = true;
}

/* Shared memory holds what a CTA before has left: that does not count. */
static bool counts_as_written(const struct visit *v, const struct cell *c, u64 address)
{
	return v->a->space == MEM_GLOBAL || c->write.who ||
	       (v->quick && quick_was_written(v->quick, address));
}

/* An access that has raced with none so far. */
static void visit_past(struct visit *v, struct cell *c, u64 address)
{
	u32 size = v->a->size ? v->a->size : 1, element = (u32)(address - v->address) / size;

	if (!v->writes) {
		note_read(v, c);
		return;
	}
	v->now.silent = element < QUICK_ELEMENTS && v->past->silent[element] >> v->lane & 1 &&
			counts_as_written(v, c, address);
	note_write(v, c);
}

static void visit_cell(struct visit *v, struct cell *c, u64 address)
{
	if (v->past) {
		visit_past(v, c, address);
		return;
	}
	v->now.silent =
		v->writes && counts_as_written(v, c, address) && changes_nothing(v, address);
	against(v, &c->write, address, true);
	if (c->plain)
		against(v, c->plain, address, true);
	if (!v->writes) {
		note_read(v, c);
		return;
	}
	if (v->manner.tries)
		note_tries(v, c);
	if (c->readers)
		for (u32 i = 0; i < c->readers->len; i++)
			against(v, &c->readers->at[i], address, false);
	else
		against(v, &c->read, address, false);
	note_write(v, c);
}

static void visit_bytes(struct visit *v, u32 bytes)
{
	u64 at = v->address;

	while (bytes) {
		u32 room = SHADOW_PAGE - (u32)(at % SHADOW_PAGE),
		    part = bytes < room ? bytes : room;
		u32 n, cell_bytes;
		struct cell *c = shadow_cells(v->shadow, at, part, v->writes, &n, &cell_bytes);

		if (!c) {
			v->launch->gave_up = true;
			return;
		}
		for (u32 i = 0; i < n; i++)
			visit_cell(v, &c[i], at + i * cell_bytes);
		at += part;
		bytes -= part;
	}
}

static void synchronise(struct visit *v)
{
	struct clock *k = &v->launch->clock;
	u64 key = v->address / 4 + 1;
	enum scope scope = (enum scope)v->manner.scope;

	/* No other block gets there. */
	if (v->a->space == MEM_SHARED && scope > SCOPE_CLUSTER)
		scope = SCOPE_CLUSTER;
	if (!v->manner.strong) {
		if (v->writes)
			clock_overwritten(v->variables, key);
		return;
	}
	if (v->reads)
		clock_strong_read(v->variables, v->cta, v->thread, key, scope, v->manner.acquires);
	if (v->writes)
		clock_strong_write(k, v->variables, v->cta, v->thread, key, scope,
				   v->manner.releases, v->reads);
}

/* Where a lane's access goes. False: nowhere that is followed. */
static bool find_memory(struct visit *v, u64 address)
{
	struct race_cta *c;

	v->address = address;
	if (v->owner && v->rank == address >> MEM_SHARED_RANK_SHIFT) {
		v->address = address & MEM_SHARED_OFFSET;
		return v->address + v->a->bytes <= v->owner->env->shared_bytes;
	}
	v->shadow = &v->launch->global;
	v->variables = &v->launch->variables;
	if (v->a->space != MEM_SHARED)
		return true;
	c = race_owner(v->launch, v->a->cta, address, &v->owner);
	if (!c)
		return false;
	v->rank = address >> MEM_SHARED_RANK_SHIFT;
	v->address = address & MEM_SHARED_OFFSET;
	v->shadow = &c->shared;
	v->quick = &c->quick;
	v->variables = &c->variables;
	return v->address + v->a->bytes <= v->owner->env->shared_bytes;
}

static enum agent agent_of(const struct exec_access *a)
{
	if (a->kind == ACCESS_LOAD || a->kind == ACCESS_STORE)
		return AGENT_THREAD;
	switch (a->in->inner) {
	case OP_cp_async:
		return AGENT_COPY;
	case OP_bulk:
	case OP_tensor:
	case OP_remote_async:
		return a->kind == ACCESS_COPY_READ ? AGENT_BULK_READ : AGENT_BULK_WRITE;
	default:
		return AGENT_THREAD;
	}
}

/* An mbarrier completes when the copies up to here have. */
static void note_completion(struct race_launch *l, struct race_cta *c, const struct exec_access *a)
{
	for (u32 m = a->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);
		const struct cta *at;
		struct race_cta *owner = race_owner(l, a->cta, a->address[lane], &at);

		if (owner)
			clock_copies_complete(&l->clock, &owner->variables, c->clock,
					      a->warp * WARP_LANES + lane,
					      MBARRIER_KEY + (a->address[lane] & MEM_SHARED_OFFSET),
					      a->in->inner != OP_async_arrive);
	}
}

static struct manner manner_of_access(struct race_launch *l, const struct exec_access *a)
{
	struct manner m = race_manner(l, a->in, a->pc);

	/* Beside its initialization an mbarrier is used by atomic operations. */
	if (a->in->inner == OP_mbar && a->kind != ACCESS_STORE) {
		m.strong = true;
		m.scope = SCOPE_CLUSTER;
	}
	m.strong |= a->kind == ACCESS_RED;
	return m;
}

#define SCATTERED_STEP 32u

/* Cells, and what has been read there, on their way from memory for all lanes at once. */
static void prefetch_lanes(const struct visit *v, u32 lanes)
{
	const struct cell *at[WARP_LANES];
	u32 n = 0;

	for (u32 m = lanes; m; m &= m - 1) {
		at[n] = shadow_cell_at(&v->launch->global, v->a->address[__builtin_ctz(m)]);
		if (at[n])
			__builtin_prefetch(at[n++], 1);
	}
	for (u32 i = 0; i < n; i++)
		if (at[i]->readers)
			__builtin_prefetch(at[i]->readers, 1);
	for (u32 i = 0; i < n; i++)
		if (at[i]->readers)
			prefetch_readers(at[i]->readers);
}

/* Do lanes touch lines of the host's cache that it does not expect? */
static bool is_scattered(const struct exec_access *a, u32 lanes)
{
	u32 rest = lanes & (lanes - 1);
	u64 step = rest ? a->address[__builtin_ctz(rest)] - a->address[__builtin_ctz(lanes)] : 0;

	return a->space == MEM_GLOBAL && step + SCATTERED_STEP > 2 * SCATTERED_STEP;
}

/* left: lanes, of those that the access is of. */
static void visit_lanes(struct visit *v, u32 left)
{
	const struct exec_access *a = v->a;
	u32 time = v->past ? v->past_time : v->launch->clock.now;
	/* Reads of the same memory at the same time are one. */
	bool together = a->kind == ACCESS_LOAD && !v->manner.strong;

	if (is_scattered(a, left))
		prefetch_lanes(v, left);
	while (left) {
		u32 lane = (u32)__builtin_ctz(left);
		u32 lanes = together ? race_lanes_beside(a, lane, left) : 1u << lane;

		left &= ~lanes;
		race_take_lane(v, lane);
		if (!find_memory(v, a->address[lane]))
			continue;
		v->now = (struct touch){v->now.who,       lanes, time, a->pc, v->manner.scope,
					v->manner.strong, false};
		v->ordered.who = 0;
		visit_bytes(v, (u32)a->bytes);
		if (!v->past && a->in->inner != OP_mbar && (v->writes || v->manner.strong))
			synchronise(v);
	}
}

static bool does_write(const struct exec_access *a)
{
	return a->kind != ACCESS_LOAD && a->kind != ACCESS_COPY_READ &&
	       a->kind != ACCESS_MATRIX_LOAD;
}

/* st.async and red.async are no copies of the asynchronous proxy. */
static enum route route_of(const struct exec_access *a, const struct manner *m)
{
	if (a->in->inner == OP_tensor && a->kind == ACCESS_LOAD)
		return ROUTE_MAP;
	return m->of_group || (agent_of(a) >= AGENT_BULK_READ && a->in->inner != OP_remote_async)
		       ? ROUTE_ASYNC
		       : ROUTE_GENERIC;
}

static struct visit visit_of(struct race_launch *l, struct race_cta *c, const struct exec_access *a,
			     const struct manner *m)
{
	return (struct visit){
		.launch = l,
		.a = a,
		.race_cta = c,
		.cta = c->clock,
		.manner = *m,
		.agent = agent_of(a),
		.route = route_of(a, m),
		.reads = a->kind != ACCESS_STORE && a->kind != ACCESS_COPY_WRITE &&
			 a->kind != ACCESS_MATRIX_STORE,
		.writes = does_write(a),
	};
}

/* ---- what the shadow of shared memory need not see: quick.h ---- */

/* The shadow sees what was noted, and all that follows up to the next barrier. */
static void replay(struct race_launch *l, struct race_cta *c, const struct cta *cta)
{
	struct quick *q = &c->quick;

	q->off = true;
	for (u32 i = 0; i < q->noted; i++) {
		u32 time;
		const struct quick_access *x = quick_at(q, i, &time);
		u64 address[WARP_LANES];
		struct exec_access a = {.cta = cta,
					.in = x->in,
					.pc = x->pc,
					.warp = x->warp,
					.kind = x->kind,
					.space = MEM_SHARED,
					.size = x->size,
					.count = x->count,
					.mask = x->mask,
					.bytes = x->bytes,
					.address = address};
		struct manner m = manner_of_access(l, &a);
		struct visit v = visit_of(l, c, &a, &m);

		v.past = x;
		v.past_time = time;
		quick_addresses(q, x, address);
		visit_lanes(&v, a.mask);
	}
	quick_end_log(q);
}

/* Is it an access that the next barrier of the CTA orders, and that orders nothing itself? */
static bool is_plain_access(const struct race_cta *c, const struct exec_access *a,
			    const struct manner *m)
{
	if (agent_of(a) != AGENT_THREAD || a->in->inner == OP_mbar || c->clock->cluster_size > 1)
		return false;
	return !m->strong || (c->clock->plain && !c->variables.len && !m->releases && !m->acquires);
}

/* False: the shadow is to see it. */
static bool take_note(struct race_launch *l, struct race_cta *c, const struct exec_access *a,
		      const struct manner *m)
{
	struct quick *q = &c->quick;

	if (q->since != c->clock->whole)
		quick_begin(q, c->clock->whole);
	if (q->off)
		return false;
	if (is_plain_access(c, a, m) && c->clock->warp_known[a->warp] == q->since) {
		u32 before = q->noted;

		if (quick_note(q, a, l->clock.now, a->cta->env->shared_bytes)) {
			if (does_write(a) && q->noted > before)
				race_silent_access(a, quick_last(q));
			return true;
		}
	}
	q->is_never = agent_of(a) != AGENT_THREAD || a->in->inner == OP_mbar;
	replay(l, c, a->cta);
	return false;
}

/* ---- the event ---- */

void race_access(struct race_launch *l, struct race_cta *c, const struct exec_access *a)
{
	u32 lanes = a->mask;
	struct manner m;

	race_resume(l, c, a->warp, a->mask);
	if (a->kind == ACCESS_COPY_DONE) {
		note_completion(l, c, a);
		return;
	}
	m = manner_of_access(l, a);
	if (PL_UNLIKELY(c->lockstep && does_write(a)))
		lockstep_store(&c->lockstep[a->warp], &l->clock, a->pc);
	if (a->space == MEM_GLOBAL && !m.strong)
		lanes = race_rows(l, c->clock, a, agent_of(a));
	else if (a->space == MEM_GLOBAL && agent_of(a) == AGENT_THREAD &&
		 route_of(a, &m) == ROUTE_GENERIC)
		lanes = race_strong(l, c, a, &m);
	else if (a->space == MEM_SHARED && l->has_quick && !c->quick.is_never &&
		 take_note(l, c, a, &m))
		lanes = 0;
	if (lanes) {
		struct visit v = visit_of(l, c, a, &m);

		visit_lanes(&v, lanes);
	}
	if (a->in->inner == OP_tensor_copy_map && a->kind == ACCESS_STORE)
		race_fence_copied_map(l, c, a);
	if (m.of_group)
		clock_group_read(&l->clock, c->clock, a->warp);
	l->gave_up |= known_failed() || l->clock.now > UINT32_MAX - 4096;
}
