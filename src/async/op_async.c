/*
 * Asynchronous copies, mbarriers, and addresses of other CTAs of the cluster.
 *
 * Addresses arrive in 64-bit rows, offsets included: in a window of shared memory or plain offsets,
 * distinguished by their size; global ones otherwise. Lanes go one after the other, in ascending
 * order: nearly always there is one. PTX ISA "Asynchronous Copy Instructions", "mbarrier", "mapa",
 * "getctarank", "isspacep".
 */
#include "src/async/async.h"
#include "src/async/refuse.h"
#include "src/uop/async.h"
#include "src/uop/atom.h"

/* ---- places ---- */

/* CTA and host address of `bytes` at a shared address, or a fault. */
static u8 *shared_at(struct gang *g, u64 address, u32 bytes, struct cta **owner)
{
	u64 off =
		address >= g->env->mem->shared_base ? address - g->env->mem->shared_base : address;

	*owner = cluster_cta(g, off >> MEM_SHARED_RANK_SHIFT);
	off &= MEM_SHARED_OFFSET;
	if (!*owner || off + bytes > g->env->shared_bytes)
		return NULL;
	return (*owner)->shared + off;
}

/* Turn a global address into the host's. False: no allocation holds all of it. */
static bool global_host(struct gang *g, const struct uop *in, u64 *address, u32 bytes, bool write)
{
	struct mem_cache *c = &g->caches[in->mem.cache];

	if (!bytes)
		return true;
	if (!mem_cache_hit(c, *address, bytes) &&
	    !exec_cache_fill(g, in, *address, bytes, 0, write ? MEM_WRITE : MEM_READ))
		return false;
	*address += c->bias;
	return true;
}

/* ---- cp.async: a = destination, b = source, c = source size, ext[0] = ignore the source; size =
 * bytes ---- */

static void fill_batch(const struct gang *g, const struct uop *in, const struct access *dst,
		       const struct access *src, struct async_batch *b)
{
	u32 at = dst->warp * WARP_LANES, ignore = ext_row(g, in, 0), off = 0;

	if (ignore != NO_ROW)
		off = ROWP(ignore)[dst->warp];
	b->mask = dst->mask;
	b->size = in->mem.size;
	for (u32 m = dst->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m),
		    n = in->c == NO_ROW ? in->mem.size : ROW32(in->c)[at + l];

		b->bytes[l] = (u8)(off >> l & 1 ? 0 : n < in->mem.size ? n : in->mem.size);
		b->dst[l] = dst->host[l];
		b->src[l] = src->address[l];
	}
}

static void copy_now(const struct async_batch *b)
{
	for (u32 m = b->mask; m; m &= m - 1)
		async_copy_lane(b, (u32)__builtin_ctz(m));
}

/* Sources as the host has them. Lanes that read nothing may have any address. */
static bool sources_ok(struct gang *g, const struct uop *in, struct access *src,
		       struct async_batch *b)
{
	u32 bad = 0;

	for (u32 m = b->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		if (!global_host(g, in, &b->src[l], b->bytes[l], false))
			bad |= 1u << l;
	}
	return !bad || refuse(g, in, src, FAULT_ILLEGAL_ADDRESS, bad);
}

HANDLER(cp_async)
{
	struct access dst = {.width = in->mem.size}, src = {.width = in->mem.size};

	for (u32 w = 0; w < WARPS; w++) {
		const u64 *s = ROW64(in->b) + w * WARP_LANES;
		struct async_batch local, *b = &local;
		struct cta *owner;

		dst.warp = src.warp = w;
		dst.mask = src.mask = mask_of(g, w);
		if (!dst.mask)
			continue;
		for (u32 l = 0; l < WARP_LANES; l++) {
			dst.address[l] = ROW64(in->a)[w * WARP_LANES + l];
			src.address[l] = s[l];
		}
		if (misaligned(&dst) | misaligned(&src))
			return refuse(g, in, misaligned(&dst) ? &dst : &src,
				      FAULT_MISALIGNED_ADDRESS,
				      misaligned(&dst) | misaligned(&src));
		for (u32 m = dst.mask; m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m);

			dst.host[l] =
				(u64)(uintptr_t)shared_at(g, dst.address[l], in->mem.size, &owner);
			if (!dst.host[l])
				return refuse_write(g, in, w * WARP_LANES + l, dst.address[l],
						    in->mem.size);
		}
		if (!g->env->async_eager)
			b = async_batch_new(g->cta, cta_warp(g, w));
		if (!b)
			return exec_fault(g, in, FAULT_UNSUPPORTED, dst.mask);
		fill_batch(g, in, &dst, &src, b);
		if (!sources_ok(g, in, &src, b))
			return NULL;
		if (b == &local)
			copy_now(b);
		else
			memcpy(b->group, g->cta->async->warp[cta_warp(g, w)].committed,
			       sizeof(b->group));
	}
	return in + 1;
}

/*
 * Before a wait for cp.async: what is copied from global memory arrives long after the other warps
 * have come as far as this one, so they run first. Programs rely on it that clear with
 * plain stores, too late, what a neighbour's copy fills.
 */
HANDLER(turn_gang)
{
	if (g->cta->gangs == 1 || !g->cta->async || !g->cta->async->some)
		return in + 1;
	g->pc = (u32)(in - g->uops) + 1;
	g->stop = STOP_TURN;
	return NULL;
}

HANDLER(turn_warp)
{
	const struct async_cta *a = g->cta->async;

	if (!a || !a->some)
		return in + 1;
	return warp_turn(g, (u32)(in - g->uops) + 1);
}

HANDLER(async_group)
{
	for (u32 w = 0; w < WARPS; w++) {
		u32 lanes = mask_of(g, w), warp = cta_warp(g, w);

		switch ((enum async_group_op)in->group.action) {
		case ASYNC_COMMIT:
			async_commit(g->cta, warp, lanes);
			break;
		case ASYNC_WAIT:
			async_wait(g->cta, warp, lanes, in->group.pending);
			break;
		case ASYNC_WAIT_ALL:
			async_wait_all(g->cta, warp, lanes);
			break;
		case ASYNC_COMMIT_BULK:
			async_commit_bulk(g->cta, warp, lanes);
			break;
		case ASYNC_WAIT_BULK:
			async_wait_bulk(g->cta, warp, lanes);
			break;
		}
	}
	return in + 1;
}

/* cp.async.mbarrier.arrive: a = mbarrier. */
HANDLER(async_arrive)
{
	for (u32 w = 0; w < WARPS; w++) {
		u32 lanes = mask_of(g, w);
		struct async_batch *b;
		u64 at[WARP_LANES];
		struct cta *owner;

		for (u32 m = lanes; m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m);

			at[l] = (u64)(uintptr_t)shared_at(g, ROW64(in->a)[w * WARP_LANES + l], 8,
							  &owner);
			if (!at[l])
				return refuse_write(g, in, w * WARP_LANES + l,
						    ROW64(in->a)[w * WARP_LANES + l], 8);
		}
		for (u32 m = in->group.noinc ? 0 : lanes; m; m &= m - 1)
			mbar_raise((u64 *)(uintptr_t)at[__builtin_ctz(m)]);
		if (!lanes)
			continue;
		if (g->env->async_eager) {
			for (u32 m = lanes; m; m &= m - 1)
				mbar_arrive((u64 *)(uintptr_t)at[__builtin_ctz(m)], 1, false);
			continue;
		}
		b = async_batch_new(g->cta, cta_warp(g, w));
		if (!b)
			return exec_fault(g, in, FAULT_UNSUPPORTED, lanes);
		b->mask = lanes;
		b->size = 0;
		memcpy(b->dst, at, sizeof(at));
		for (u32 l = 0; l < WARP_LANES; l++)
			b->group[l] = ASYNC_NO_GROUP; /* waiting for groups does not concern it */
	}
	return in + 1;
}

/*
 * ---- bulk copies: a = destination, b = source, c = bytes; ext: mbarrier, mask of CTAs, mask of
 * bytes, bytes to leave out at the beginning and at the end ----
 */

/* What .ignore_oob leaves out at both ends is not touched: it may not be memory. */
static bool bulk_source(struct gang *g, const struct uop *in, u64 address, struct async_op *op)
{
	u32 less = (u32)op->first + op->last;
	struct cta *owner;

	if (in->copy.from_global) {
		u64 first = address + op->first;
		bool ok = (less && less >= op->bytes) ||
			  global_host(g, in, &first, op->bytes - less, false);

		op->src = (const u8 *)(uintptr_t)(first - op->first);
		return ok;
	}
	op->src = shared_at(g, address, op->bytes, &owner);
	return op->src != NULL;
}

/* Copies to shared memory: one for each CTA of the mask, at the same offsets there. */
static const struct uop *bulk_to_shared(struct gang *g, const struct uop *in, u32 w, u32 l,
					struct async_op *op)
{
	u32 at = w * WARP_LANES + l, row = ext_row(g, in, 1), mask;
	u64 dst = ROW64(in->a)[at], mbar = ROW64(ext_row(g, in, 0))[at];
	struct cta *owner, *mbar_owner;

	if (row == NO_ROW) {
		op->dst = shared_at(g, dst, op->bytes, &owner);
		op->mbar = (u64 *)(void *)shared_at(g, mbar, 8, &mbar_owner);
		if (!op->dst || !op->mbar)
			return refuse_write(g, in, at, op->dst ? mbar : dst,
					    op->dst ? 8 : op->bytes);
		return async_issue(mbar_owner, op) ? in + 1
						   : exec_fault(g, in, FAULT_UNSUPPORTED, 1u << l);
	}
	for (mask = ROW32(row)[at] & 0xffff; mask; mask &= mask - 1) {
		u64 rank = ((u64)__builtin_ctz(mask) + 1) << MEM_SHARED_RANK_SHIFT;

		op->dst = shared_at(g, (dst & MEM_SHARED_OFFSET) | rank, op->bytes, &owner);
		op->mbar = (u64 *)(void *)shared_at(g, (mbar & MEM_SHARED_OFFSET) | rank, 8,
						    &mbar_owner);
		if (!op->dst || !op->mbar)
			return refuse_write(g, in, w * WARP_LANES + l, dst, op->bytes);
		if (!async_issue(mbar_owner, op))
			return exec_fault(g, in, FAULT_UNSUPPORTED, 1u << l);
	}
	return in + 1;
}

/* Copies to global memory belong to bulk groups of their thread. */
static const struct uop *bulk_to_global(struct gang *g, const struct uop *in, u32 w, u32 l,
					struct async_op *op)
{
	u64 dst = ROW64(in->a)[w * WARP_LANES + l];
	struct async_cta *a = async_of(g->cta);

	if (!global_host(g, in, &dst, op->bytes, true))
		return refuse_write(g, in, w * WARP_LANES + l, dst, op->bytes);
	if (!a)
		return exec_fault(g, in, FAULT_UNSUPPORTED, 1u << l);
	op->dst = (u8 *)(uintptr_t)dst;
	op->thread = cta_warp(g, w) * WARP_LANES + l;
	op->group = a->warp[cta_warp(g, w)].bulk_committed[l];
	return async_issue(g->cta, op) ? in + 1 : exec_fault(g, in, FAULT_UNSUPPORTED, 1u << l);
}

/* What is off: one of the addresses, or the end of what is copied. */
static u64 odd_address(u64 dst, u64 src, u32 bytes)
{
	return src & 15 ? src : dst & 15 ? dst : src + bytes;
}

HANDLER(bulk)
{
	EACH_LANE(w, l) {
		u32 at = w * WARP_LANES + l;
		u64 src = ROW64(in->b)[at];
		struct async_op op = {.kind = in->copy.reduces ? ASYNC_REDUCE : ASYNC_COPY,
				      .bytes = ROW32(in->c)[at],
				      .size = in->mem.size};
		const struct uop *next;
		u32 bytes = ext_row(g, in, 2), first = ext_row(g, in, 3), last = ext_row(g, in, 4);

		if (bytes != NO_ROW)
			op.skip = (u16)~ROW32(bytes)[at];
		if (first != NO_ROW) {
			op.first = ROW32(first)[at] & 15;
			op.last = ROW32(last)[at] & 15;
		}
		if (!op.bytes && !(in->copy.to_global) && ext_row(g, in, 0) == NO_ROW)
			continue;
		if (in->copy.reduces)
			/* Measured: sums of f32 keep subnormals here, other than those of red. */
			op.apply =
				EXEC_NAME(atom_apply)(in->copy.action, in->copy.type,
						      in->copy.to_global && in->copy.type != T_f32);
		if ((src | ROW64(in->a)[at] | op.bytes) & 15)
			return refuse_odd(g, in, at, odd_address(ROW64(in->a)[at], src, op.bytes),
					  16);
		if (!bulk_source(g, in, src, &op))
			return refuse_read(g, in, at, src, op.bytes);
		next = in->copy.to_global ? bulk_to_global(g, in, w, l, &op)
					  : bulk_to_shared(g, in, w, l, &op);
		if (!next)
			return NULL;
	}
	return in + 1;
}

/*
 * st.async, red.async: a = destination, ext[0] = mbarrier, ext[1..] = values.
 */
HANDLER(remote_async)
{
	EACH_LANE(w, l) {
		u32 at = w * WARP_LANES + l;
		u64 dst = ROW64(in->a)[at], mbar = ROW64(ext_row(g, in, 0))[at];
		struct async_op op = {.kind = in->copy.reduces ? ASYNC_REDUCE : ASYNC_COPY,
				      .immediate = true,
				      .size = in->mem.size};
		struct cta *owner, *mbar_owner;

		op.bytes = (u32)in->mem.size * in->mem.count;
		if (op.kind == ASYNC_REDUCE)
			op.apply = EXEC_NAME(atom_apply)(in->copy.action, in->copy.type, false);
		for (u32 e = 0; e < in->mem.count; e++) {
			u32 row = ext_row(g, in, 1 + e);
			u64 v = in->mem.size == 8 ? ROW64(row)[at] : ROW32(row)[at];

			memcpy(op.data + e * in->mem.size, &v, in->mem.size);
		}
		op.dst = shared_at(g, dst, op.bytes, &owner);
		op.mbar = (u64 *)(void *)shared_at(g, mbar, 8, &mbar_owner);
		if (!op.dst || !op.mbar)
			return refuse_write(g, in, at, op.dst ? mbar : dst, op.dst ? 8 : op.bytes);
		if (dst & (op.bytes - 1))
			return refuse_odd(g, in, at, dst, op.bytes);
		if (!async_issue(mbar_owner, &op))
			return exec_fault(g, in, FAULT_UNSUPPORTED, 1u << l);
	}
	return in + 1;
}

/* ---- mbarrier: a = its address, b = count, bytes, state or parity, d = state or
 * predicate ---- */

static bool wait_over(struct cta *owner, const u64 *at, const struct uop *in, u64 want)
{
	bool parity = in->mbar.action == MBAR_WAIT_PARITY || in->mbar.action == MBAR_TRY_PARITY ||
		      in->mbar.action == MBAR_WAIT_PARITY_LISTED ||
		      in->mbar.action == MBAR_TRY_PARITY_LISTED;

	if (parity ? mbar_passed_parity(*at, (u32)want) : mbar_passed(*at, want))
		return true;
	async_settle_mbar(owner, at);
	return parity ? mbar_passed_parity(*at, (u32)want) : mbar_passed(*at, want);
}

static void set_pred(struct gang *g, u32 row, u32 w, u32 l, bool v)
{
	u32 *p = ROWP(row) + w;

	*p = v ? *p | 1u << l : *p & ~(1u << l);
}

/* want: a state or a parity. Returns whether the wait is over. */
static bool mbar_wait(struct gang *g, const struct uop *in, struct cta *owner, u64 *at, u32 lane,
		      u64 want)
{
	bool over = wait_over(owner, at, in, want);

	switch ((enum mbar_op)in->mbar.action) {
	case MBAR_WAIT_LISTED:
	case MBAR_WAIT_PARITY_LISTED:
	case MBAR_TRY_LISTED:
	case MBAR_TRY_PARITY_LISTED:
		async_list_wait(g->cta, cta_warp(g, lane / WARP_LANES), lane % WARP_LANES, at,
				over);
		break;
	default:
		break;
	}
	if (in->d != NO_ROW)
		set_pred(g, in->d, lane / WARP_LANES, lane % WARP_LANES, over);
	return over;
}

/* Returns false after a failed wait. */
static bool mbar_lane(struct gang *g, const struct uop *in, struct cta *owner, u64 *at, u32 lane)
{
	u64 n = in->b == NO_ROW              ? 1
		: in->flags & UOPF_WIDE_DATA ? ROW64(in->b)[lane]
					     : ROW32(in->b)[lane];
	u64 state = 0;

	switch ((enum mbar_op)in->mbar.action) {
	case MBAR_INIT:
		*at = mbar_init((u32)n, in->mbar.layout);
		return true;
	case MBAR_INVAL:
		return true;
	case MBAR_INIT_LISTED:
		*at = mbar_init((u32)n, in->mbar.layout);
		async_list_mbar(owner, at);
		return true;
	case MBAR_INVAL_LISTED:
		async_unlist_mbar(owner, at);
		return true;
	case MBAR_EXPECT:
		mbar_expect(at, (u32)n);
		return true;
	case MBAR_COMPLETE:
		mbar_complete(at, (u32)n);
		return true;
	case MBAR_ARRIVE:
		state = mbar_arrive(at, (u32)n, false);
		break;
	case MBAR_DROP:
		state = mbar_arrive(at, (u32)n, true);
		break;
	case MBAR_ARRIVE_EXPECT:
	case MBAR_DROP_EXPECT:
		state = *at; /* as it was before both */
		mbar_expect(at, (u32)n);
		mbar_arrive(at, 1, in->mbar.action == MBAR_DROP_EXPECT);
		break;
	case MBAR_CHECK_LAYOUT:
		set_pred(g, in->d, lane / WARP_LANES, lane % WARP_LANES,
			 mbar_layout(*at) == in->mbar.layout);
		return true;
	default:
		return mbar_wait(g, in, owner, at, lane, n);
	}
	if (in->d != NO_ROW)
		ROW64(in->d)[lane] = state;
	return true;
}

static const struct uop *mbar_lanes(struct gang *g, const struct uop *in, bool *waits)
{
	EACH_LANE(w, l) {
		u64 address = ROW64(in->a)[w * WARP_LANES + l];
		struct cta *owner;
		u64 *at = (u64 *)(void *)shared_at(g, address, 8, &owner);

		if (!at)
			return refuse_write(g, in, w * WARP_LANES + l, address, 8);
		if (address & 7)
			return refuse_odd(g, in, w * WARP_LANES + l, address, 8);
		*waits |= !mbar_lane(g, in, owner, at, w * WARP_LANES + l);
	}
	return in + 1;
}

/* A failed try_wait lets others run first: it may suspend its thread. */
HANDLER(mbar_gang)
{
	bool waits = false;
	const struct uop *next = mbar_lanes(g, in, &waits);

	if (!next || !waits || in->mbar.action < MBAR_TRY)
		return next;
	g->pc = (u32)(next - g->uops);
	g->stop = STOP_YIELD;
	return NULL;
}

HANDLER(mbar_warp)
{
	bool waits = false;
	const struct uop *next = mbar_lanes(g, in, &waits);

	if (!next || !waits || in->mbar.action < MBAR_TRY || g->active != g->warp_at[g->warp].mask)
		return next;
	return warp_yield(g, (u32)(next - g->uops));
}

HANDLER(mbar_pending)
{
	EACH_LANE(w, l)
		ROW32(in->d)
	[w * WARP_LANES + l] = mbar_pending_of(ROW64(in->a)[w * WARP_LANES + l]);
	return in + 1;
}

/* ---- st.bulk: a = shared address, b = bytes; the only value is zero ---- */

HANDLER(zero_fill)
{
	EACH_LANE(w, l) {
		u64 a = ROW64(in->a)[w * WARP_LANES + l], n = ROW64(in->b)[w * WARP_LANES + l];
		bool odd = (a | n) & 7, fits = n <= g->env->shared_bytes;
		struct access at = {.warp = w, .width = fits ? (u32)n : 8};
		struct cta *owner;
		u8 *p = fits ? shared_at(g, a, (u32)n, &owner) : NULL;

		at.address[l] = a;
		if (odd || !p)
			return refuse(g, in, &at,
				      odd ? FAULT_MISALIGNED_ADDRESS : FAULT_ILLEGAL_ADDRESS,
				      1u << l);
		memset(p, 0, n);
	}
	return in + 1;
}

/* ---- addresses in the cluster: a = address, b = rank ---- */

static bool is_shared_window(const struct gang *g, u64 address)
{
	return address - g->env->mem->shared_base < MEM_SHARED_WINDOW;
}

static bool is_const(const struct gang *g, u64 address)
{
	struct mem_range r;

	return mem_find(g->env->mem, address, 1, &r) && r.kind == MEM_KIND_CONST;
}

/* Kernel parameters are global, constants are not. */
static bool is_space(const struct gang *g, u32 kind, u64 address)
{
	u64 field = (address - g->env->mem->shared_base) >> MEM_SHARED_RANK_SHIFT;
	bool shared = is_shared_window(g, address),
	     local = address - g->env->mem->local_base < MEM_LOCAL_WINDOW;

	switch ((enum cluster_address)kind) {
	case ADDRESS_IS_SHARED:
		return shared && cluster_cta(g, field) == g->cta;
	case ADDRESS_IS_CLUSTER:
		return shared;
	case ADDRESS_IS_LOCAL:
		return local;
	case ADDRESS_IS_PARAM:
		return address - g->env->param_address < g->env->program->param_bytes;
	case ADDRESS_IS_CONST:
		return is_const(g, address);
	default:
		return !shared && !local && !is_const(g, address);
	}
}

HANDLER(is_space)
{
	EACH_LANE(w, l)
		set_pred(g, in->d, w, l,
			 is_space(g, in->address.what, ROW64(in->a)[w * WARP_LANES + l]));
	return in + 1;
}

HANDLER(mapa)
{
	EACH_LANE(w, l) {
		u32 at = w * WARP_LANES + l;
		u64 a = ROW64(in->a)[at],
		    base = is_shared_window(g, a) ? g->env->mem->shared_base : 0,
		    field = (a - base) >> MEM_SHARED_RANK_SHIFT;

		if (in->address.what == ADDRESS_MAPA)
			ROW64(in->d)
		[at] = base + ((a - base) & MEM_SHARED_OFFSET) +
		       (((u64)ROW32(in->b)[at] + 1) << MEM_SHARED_RANK_SHIFT);
		else ROW64(in->d)[at] = field ? field - 1 : g->cta->rank;
	}
	return in + 1;
}
