/*
 * Stores of what is there already.
 */
#include "src/check/race/race_int.h"
#include "src/exec/turn.h"

struct stored_element {
	const u8 *at; /* of the warp's first lane */
	u32 stride, size;
};

/* What a warp stores as element `e`. False: not known. */
static bool find_stored(const struct exec_access *a, u32 e, struct stored_element *x)
{
	const struct uop *in = a->in;
	const struct gang *g = exec_gang_of(a->cta, a->warp);
	u32 row;

	if (uop_kind(in->inner) != UOP_STORE || in->mem.size > 8)
		return false;
	row = in->mem.count > 1 ? a->cta->env->program->ext[in->ext + e] : in->b;
	if (row == NO_ROW)
		return false;
	x->size = in->mem.size;
	x->stride = in->flags & UOPF_WIDE_DATA ? 8 : 4;
	x->at = (const u8 *)(g->regs + row) +
		(size_t)(a->warp - g->first_warp) * WARP_LANES * x->stride;
	return true;
}

#define HOST_PIECE 256u

static bool is_same(const u8 *a, const u8 *b, u32 size)
{
	u32 x = 0, y = 0;
	u64 v, w;

	if (size == 4) {
		memcpy(&x, a, 4);
		memcpy(&y, b, 4);
		return x == y;
	}
	if (size == 8) {
		memcpy(&v, a, 8);
		memcpy(&w, b, 8);
		return v == w;
	}
	return memcmp(a, b, size) == 0;
}

/* Shared memory: of the CTA itself. */
static const u8 *memory_of(const struct exec_access *a, u64 address)
{
	return a->space == MEM_SHARED ? a->cta->shared + address
				      : mem_pointer(a->cta->env->mem, address);
}

typedef u32 four_words __attribute__((vector_size(16), aligned(1), may_alias));

static four_words four_at(const u8 *at)
{
	return *(const four_words *)(const void *)at;
}

/* Lanes whose values of 4 or 8 bytes are the same. Most often all are, or none. */
static u32 same_lanes(const u8 *a, const u8 *b, u32 size)
{
	four_words any = {0}, all = {-1u, -1u, -1u, -1u};
	u64 half[2];
	u32 same = 0;

	for (u32 i = 0; i < WARP_LANES * size; i += (u32)sizeof(any)) {
		four_words equal = (four_words)(four_at(a + i) == four_at(b + i));

		any |= equal;
		all &= equal;
	}
	memcpy(half, &all, sizeof(half));
	if (!~(half[0] & half[1]))
		return FULL_MASK;
	memcpy(half, &any, sizeof(half));
	if (!(half[0] | half[1]))
		return 0;
	for (u32 l = 0; l < WARP_LANES; l++)
		same |= (u32)is_same(a + (size_t)l * size, b + (size_t)l * size, size) << l;
	return same;
}

/* The same for all lanes of a warp that store words side by side. False: they do not. */
static bool silent_row(const struct exec_access *a, const struct stored_element *x, u32 *silent)
{
	u64 from = a->address[0], to = from + WARP_LANES * x->size - 1;
	const u8 *first, *last;

	if (a->count != 1 || x->size != x->stride)
		return false;
	first = memory_of(a, from);
	last = memory_of(a, to);
	if (!first || last - first != (s64)(to - from))
		return false;
	*silent = same_lanes(first, x->at, x->size);
	return true;
}

u32 race_silent_lanes(const struct exec_access *a, u32 e, bool dense)
{
	struct stored_element x;
	const u8 *host = NULL;
	u64 piece = 0;
	u32 found = 0;

	if (!find_stored(a, e, &x))
		return 0;
	if (dense && silent_row(a, &x, &found))
		return found;
	for (u32 m = a->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);
		u64 at = a->address[lane] + (u64)e * x.size;

		if (at / HOST_PIECE + 1 != piece) {
			piece = at / HOST_PIECE + 1;
			host = memory_of(a, at - at % HOST_PIECE);
		}
		if (host && is_same(host + at % HOST_PIECE, x.at + (size_t)lane * x.stride, x.size))
			found |= 1u << lane;
	}
	return found;
}

void race_silent_access(const struct exec_access *a, struct quick_access *x)
{
	bool dense = a->mask == FULL_MASK && !x->scattered && x->step == x->bytes &&
		     x->half == x->bytes * WARP_LANES / 2;

	memset(x->silent, 0, sizeof(x->silent));
	for (u32 e = 0; a->kind == ACCESS_STORE && e < a->count; e++)
		x->silent[e] = race_silent_lanes(a, e, dense);
}
