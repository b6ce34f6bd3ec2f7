/*
 * Tensor copies and tensormap.replace. PTX ISA "cp.async.bulk.tensor",
 * "cp.reduce.async.bulk.tensor", "tensormap.replace", "tensormap.cp_fenceproxy".
 */
#include "src/async/refuse.h"
#include "src/ops/observe.h"
#include "src/uop/async.h"
#include "src/uop/atom.h"
#include "src/async/tensor.h"

#include <stdlib.h>

/* Host address of a map, in global, shared or parameter memory; NULL: nowhere. */
static struct tensor_map *map_at(struct gang *g, const struct uop *in, u64 address)
{
	struct mem_cache *c = &g->caches[in->mem.cache];
	u64 off = address - g->env->mem->shared_base;

	if (off < MEM_SHARED_WINDOW || address < MEM_SHARED_WINDOW)
		return (struct tensor_map *)(uintptr_t)shared_host(
			g, off < MEM_SHARED_WINDOW ? off : address, TENSOR_MAP_BYTES);
	if (address - g->env->param_address < g->env->program->param_bytes)
		return (struct tensor_map *)(uintptr_t)(g->env->params +
							(address - g->env->param_address));
	if (!mem_cache_hit(c, address, TENSOR_MAP_BYTES) &&
	    !mem_cache_fill(g->env->mem, c, address, TENSOR_MAP_BYTES, MEM_READ))
		return NULL;
	return (struct tensor_map *)(uintptr_t)(address + c->bias);
}

/* The type as atomic operations name it. */
static u32 reduce_type(u32 op, u32 type)
{
	static const u8 types[TENSOR_TYPES] = {T_u8,  T_u16, T_u32,  T_s32, T_u64, T_s64, T_f16,
					       T_f32, T_f64, T_bf16, T_f32, T_f32, T_f32};

	if (op == ATOM_AND || op == ATOM_OR || op == ATOM_XOR)
		return tensor_element_bytes(type) == 8 ? T_b64 : T_b32;
	return op == ATOM_ADD && type == TENSOR_S64 ? T_u64 : types[type];
}

/* Four rows: those of a tensor of rank 2, one in the box of the map. */
static bool map_fits(const struct uop *in, const struct tensor_map *m)
{
	bool four = in->tensor.kind == TENSOR_COPY_FOUR;

	return tensor_is_sound(m) && m->rank == (four ? 2 : in->tensor.rank) &&
	       m->im2col == (in->tensor.kind == TENSOR_COPY_IM2COL) &&
	       (!four || (m->box[1] == 1 && m->step[1] <= 1 && !m->interleave));
}

/* Fill in what the lane's operands and the map say. Returns false after raising a fault. */
static bool prepare(struct gang *g, const struct uop *in, u32 lane, struct tensor_op *t)
{
	u64 at = ROW64(in->b)[lane], lo, hi;
	const struct tensor_map *m = map_at(g, in, at);
	struct mem_cache *c = &g->caches[in->mem.cache];

	if (!m)
		return refuse_read(g, in, lane, at, TENSOR_MAP_BYTES) != NULL;
	/* Checked and used in a copy: other threads may write the original. */
	t->map = *m;
	m = &t->map;
	t->four = in->tensor.kind == TENSOR_COPY_FOUR;
	if (!map_fits(in, m))
		return exec_fault(g, in, FAULT_ILLEGAL_INSTRUCTION, 1u << lane % WARP_LANES) !=
		       NULL;
	if (t->four)
		t->map.box[1] = 4;
	for (u32 d = 0; d < in->tensor.rank; d++)
		t->coord[d] = (s32)ROW32(ext_row(g, in, 2 + d))[lane];
	for (u32 d = 0; d < 3; d++)
		t->offset[d] = ext_row(g, in, 7 + d) == NO_ROW
				       ? 0
				       : (u16)ROW32(ext_row(g, in, 7 + d))[lane];
	/* The first coordinate has to be a whole number of 16 bytes, or the hardware stops. */
	if (!m->interleave && (t->coord[0] * (s64)tensor_element_bytes(m->type)) % 16)
		return exec_fault(g, in, FAULT_ILLEGAL_INSTRUCTION, 1u << lane % WARP_LANES) !=
		       NULL;
	if (!tensor_extent(m, &lo, &hi))
		return refuse_read(g, in, lane, m->address, TENSOR_MAP_BYTES) != NULL;
	if (hi > lo && !mem_cache_hit(c, lo, hi - lo) &&
	    !exec_cache_fill(g, in, lo, hi - lo, lane, in->tensor.to_global ? MEM_WRITE : MEM_READ))
		return (in->tensor.to_global ? refuse_write : refuse_read)(g, in, lane, lo,
									   (u32)(hi - lo)) != NULL;
	if (hi > lo)
		t->map.address += c->bias;
	t->store = in->tensor.to_global;
	if (in->tensor.action < ATOM_ACTIONS)
		t->apply = EXEC_NAME(atom_apply)(in->tensor.action,
						 reduce_type(in->tensor.action, m->type), true);
	if (in->tensor.action < ATOM_ACTIONS && !t->apply)
		return exec_fault(g, in, FAULT_ILLEGAL_INSTRUCTION, 1u << lane % WARP_LANES) !=
		       NULL;
	return true;
}

/* Queue a copy of `t` with the CTA `owner`, at `off` in the shared memory of `c`. */
static bool issue(struct cta *owner, struct cta *c, u64 off, const struct tensor_op *t,
		  struct async_op *op)
{
	struct tensor_op *own = malloc(sizeof(*own));

	if (!own)
		return false;
	*own = *t;
	own->shared = c->shared;
	own->at = (u32)(off & MEM_SHARED_OFFSET);
	op->kind = ASYNC_TENSOR;
	op->bytes = tensor_bytes(&t->map);
	op->tensor = own;
	return async_issue(owner, op);
}

static struct cta *place_of(struct gang *g, u64 address, u32 bytes)
{
	u64 off =
		address >= g->env->mem->shared_base ? address - g->env->mem->shared_base : address;

	return shared_host(g, off, bytes) ? cluster_cta(g, off >> MEM_SHARED_RANK_SHIFT) : NULL;
}

static u64 *word_of(const struct cta *c, u64 address)
{
	return (u64 *)(void *)(c->shared + (address & MEM_SHARED_OFFSET));
}

static const struct uop *to_shared(struct gang *g, const struct uop *in, u32 lane,
				   const struct tensor_op *t)
{
	u64 dst = ROW64(in->a)[lane], mbar = ROW64(ext_row(g, in, 0))[lane];
	u32 span = tensor_span(&t->map), row = ext_row(g, in, 1),
	    mask = row == NO_ROW ? 0 : ROW32(row)[lane] & 0xffff;
	bool multicast = row != NO_ROW;

	do {
		u64 rank = multicast ? ((u64)__builtin_ctz(mask | 1u << 16) + 1)
					       << MEM_SHARED_RANK_SHIFT
				     : 0;
		u64 d = multicast ? (dst & MEM_SHARED_OFFSET) | rank : dst,
		    b = multicast ? (mbar & MEM_SHARED_OFFSET) | rank : mbar;
		struct cta *c = place_of(g, d, span), *owner = place_of(g, b, 8);
		struct async_op op = {0};

		if (multicast && !mask)
			break;
		if (!c || !owner)
			return refuse_write(g, in, lane, dst, span);
		op.mbar = word_of(owner, b);
		if (!issue(owner, c, d, t, &op))
			return exec_fault(g, in, FAULT_UNSUPPORTED, 1u << lane % WARP_LANES);
		mask &= mask - 1;
	} while (mask);
	return in + 1;
}

static const struct uop *to_global(struct gang *g, const struct uop *in, u32 lane,
				   const struct tensor_op *t)
{
	u64 src = ROW64(in->a)[lane];
	u32 thread = (g->first_warp + g->warp) * WARP_LANES + lane;
	struct cta *c = place_of(g, src, tensor_span(&t->map));
	struct async_cta *a = async_of(g->cta);
	struct async_op op = {.thread = thread};

	if (!c)
		return refuse_read(g, in, lane, src, tensor_span(&t->map));
	if (!a)
		return exec_fault(g, in, FAULT_UNSUPPORTED, 1u << lane % WARP_LANES);
	op.group = a->warp[thread / WARP_LANES].bulk_committed[thread % WARP_LANES];
	return issue(g->cta, c, src, t, &op)
		       ? in + 1
		       : exec_fault(g, in, FAULT_UNSUPPORTED, 1u << lane % WARP_LANES);
}

/*
 * a = place in shared memory, b = map; ext: mbarrier, mask of CTAs, 5 coordinates, 3 offsets.
 */
HANDLER(tensor)
{
	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = mask_of(g, w); m; m &= m - 1) {
			u32 lane = w * WARP_LANES + (u32)__builtin_ctz(m);
			struct tensor_op t = {.store = false};

			if (!prepare(g, in, lane, &t) ||
			    !(t.store ? to_global : to_shared)(g, in, lane, &t))
				return NULL;
		}
	return in + 1;
}

/* a = map, b = value. */
HANDLER(tensor_replace)
{
	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = mask_of(g, w); m; m &= m - 1) {
			u32 lane = w * WARP_LANES + (u32)__builtin_ctz(m);
			struct tensor_map *map = map_at(g, in, ROW64(in->a)[lane]);

			if (!map)
				return refuse_write(g, in, lane, ROW64(in->a)[lane],
						    TENSOR_MAP_BYTES);
			if (!tensor_replace(map, in->field.field, in->field.index,
					    in->flags & UOPF_WIDE_DATA ? ROW64(in->b)[lane]
								       : ROW32(in->b)[lane]))
				return exec_fault(g, in, FAULT_ILLEGAL_INSTRUCTION,
						  1u << lane % WARP_LANES);
		}
	return in + 1;
}

/* tensormap.cp_fenceproxy: a = destination, b = source. The lanes of the warp name the same places.
 */
HANDLER(tensor_copy_map)
{
	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = mask_of(g, w); m; m &= m - 1) {
			u32 lane = w * WARP_LANES + (u32)__builtin_ctz(m);
			struct tensor_map *to = map_at(g, in, ROW64(in->a)[lane]),
					  *from = map_at(g, in, ROW64(in->b)[lane]);

			if (!to || !from)
				return refuse_read(g, in, lane, ROW64(to ? in->b : in->a)[lane],
						   TENSOR_MAP_BYTES);
			memmove(to, from, TENSOR_MAP_BYTES);
		}
	return in + 1;
}

/* ---- reports to observers ---- */

/* A copy of lane l of warp w; `base`: of the shared memory that it is about. */
struct told_copy {
	struct gang *g;
	const struct uop *in;
	const struct tensor_op *op;
	u64 base;
	u32 w, l;
};

static void tell_piece(void *user, u32 shared, u64 global, u32 bytes, bool inside)
{
	const struct told_copy *t = user;
	bool store = t->op->store;
	enum exec_access_kind kind = !store         ? ACCESS_COPY_READ
				     : t->op->apply ? ACCESS_RED
						    : ACCESS_COPY_WRITE;

	/* What is read first: observers take what is written for its copy. */
	if (inside && !store)
		tell_bytes(t->g, t->in, t->w, t->l, kind, MEM_GLOBAL, global, bytes);
	if (inside || !store)
		tell_place(t->g, t->in, t->w, t->l, store ? ACCESS_COPY_READ : ACCESS_COPY_WRITE,
			   t->base + shared, bytes);
	if (inside && store)
		tell_bytes(t->g, t->in, t->w, t->l, kind, MEM_GLOBAL, global, bytes);
}

/* Returns false after a fault, which is that of the copy. */
static bool tell_tensor(struct gang *g, const struct uop *in, u32 w, u32 l)
{
	u32 lane = w * WARP_LANES + l, row = ext_row(g, in, 1);
	u64 place = ROW64(in->a)[lane];
	struct tensor_op op = {.store = false};
	struct told_copy t = {g, in, &op, place & ~MEM_SHARED_OFFSET, w, l};
	u32 mask = row == NO_ROW ? 1 : ROW32(row)[lane] & 0xffff;

	if (!prepare(g, in, lane, &op))
		return false;
	op.map.address -= g->caches[in->mem.cache].bias;
	op.at = (u32)(place & MEM_SHARED_OFFSET);
	tell_place(g, in, w, l, ACCESS_LOAD, ROW64(in->b)[lane], TENSOR_MAP_BYTES);
	for (; mask; mask &= mask - 1) {
		u64 mbar = op.store ? 0 : ROW64(ext_row(g, in, 0))[lane];

		if (row != NO_ROW) {
			t.base = ((u64)__builtin_ctz(mask) + 1) << MEM_SHARED_RANK_SHIFT;
			mbar = (mbar & MEM_SHARED_OFFSET) | t.base;
		}
		tensor_tell(&op, &(struct tensor_teller){&t, tell_piece});
		if (!op.store)
			tell_mbarrier(g, in, w, l, mbar);
	}
	return true;
}

HANDLER(watch_tensor)
{
	if (tells_all(g))
		EACH_LANE(w, l)
			if (!tell_tensor(g, in, w, l))
				return NULL;
	return PLAIN(g, in);
}

HANDLER(watch_field)
{
	if (tells_all(g))
		EACH_LANE(w, l)
			tell_place(g, in, w, l, ACCESS_ATOM, ROW64(in->a)[w * WARP_LANES + l],
				   TENSOR_MAP_BYTES);
	return PLAIN(g, in);
}

/* The lanes of a warp make one copy. */
HANDLER(watch_map)
{
	for (u32 w = 0; tells_all(g) && w < WARPS; w++) {
		u32 mask = mask_of(g, w), l = mask ? (u32)__builtin_ctz(mask) : 0,
		    lane = w * WARP_LANES + l;

		if (!mask)
			continue;
		tell_place(g, in, w, l, ACCESS_LOAD, ROW64(in->b)[lane], TENSOR_MAP_BYTES);
		tell_place(g, in, w, l, ACCESS_STORE, ROW64(in->a)[lane], TENSOR_MAP_BYTES);
	}
	return PLAIN(g, in);
}
