/*
 * Memory handlers of the reference engine: loads and stores by size and space, atomics, address
 * windows.
 * PTX ISA "State Spaces", "Generic Addressing", "ld", "st", "atom", "red", "cvta", "isspacep",
 * "alloca".
 */
#include "src/num/numeric_half.h"
#include "src/num/numeric_f64.h"
#include "tests/ref/ref_int.h"

#include <stdlib.h>

/* ---- addresses ---- */

/* A device address: the allocation that the instruction touched last is tried first. */
static inline u8 *global_at(struct ref_thread *t, const struct ref_insn *in, struct ref_access a)
{
	struct mem_cache *c = &t->cta->caches[in->cache];

	if (PL_UNLIKELY(!mem_cache_hit(c, a.addr, a.size)) &&
	    !mem_cache_fill(t->cta->mem, c, a.addr, a.size, a.write)) {
		ref_memory_fault(t, in, FAULT_ILLEGAL_ADDRESS, a);
		return NULL;
	}
	return (u8 *)(uintptr_t)(a.addr + c->bias);
}

static inline u8 *window_at(struct ref_thread *t, const struct ref_insn *in, struct ref_access a,
			    u8 *base, u64 bytes)
{
	if (PL_UNLIKELY(a.addr > bytes || bytes - a.addr < a.size)) {
		ref_memory_fault(t, in, FAULT_ILLEGAL_ADDRESS, a);
		return NULL;
	}
	return base + a.addr;
}

static inline u8 *host_in(struct ref_thread *t, const struct ref_insn *in, struct ref_access a,
			  u32 space)
{
	const struct mem *m = t->cta->mem;

	if (space == MEM_CONST)
		a.addr += t->cta->program->const_base;
	if (PL_UNLIKELY(a.addr & (a.size - 1))) {
		ref_memory_fault(t, in, FAULT_MISALIGNED_ADDRESS, a);
		return NULL;
	}
	if (space == MEM_SHARED)
		return window_at(t, in, a, t->cta->shared, t->cta->shared_bytes);
	if (space == MEM_LOCAL)
		return window_at(t, in, a, t->local, t->cta->local_bytes);
	if (space == MEM_GENERIC && a.addr - m->shared_base < MEM_SHARED_WINDOW) {
		a.addr -= m->shared_base;
		a.space = MEM_SHARED;
		return window_at(t, in, a, t->cta->shared, t->cta->shared_bytes);
	}
	if (space == MEM_GENERIC && a.addr - m->local_base < MEM_LOCAL_WINDOW) {
		a.addr -= m->local_base;
		a.space = MEM_LOCAL;
		return window_at(t, in, a, t->local, t->cta->local_bytes);
	}
	return global_at(t, in, a);
}

/* Sizes of accesses are powers of two: they are aligned as a whole. */
u8 *ref_host(struct ref_thread *t, const struct ref_insn *in, struct ref_access a)
{
	return host_in(t, in, a, in->space);
}

#define ADDRESS ((r[in->a] + (u64)in->imm) & in->mask)

/* ---- one element ---- */

#define LOAD(S, T)                                                                                 \
	static REF_HANDLER(load_##S##_##T)                                                         \
	{                                                                                          \
		struct ref_access at = {.addr = ADDRESS, .size = sizeof(T), .space = MEM_##S};     \
		const u8 *p = host_in(t, in, at, MEM_##S);                                         \
		T x;                                                                               \
                                                                                                   \
		if (PL_UNLIKELY(!p))                                                               \
			return NULL;                                                               \
		memcpy(&x, p, sizeof(x));                                                          \
		r[in->d] = (u64)x;                                                                 \
		REF_NEXT;                                                                          \
	}
#define STORE(S, T)                                                                                \
	static REF_HANDLER(store_##S##_##T)                                                        \
	{                                                                                          \
		struct ref_access at = {                                                           \
			.addr = ADDRESS, .size = sizeof(T), .space = MEM_##S, .write = true};      \
		u8 *p = host_in(t, in, at, MEM_##S);                                               \
		T x = (T)r[in->d];                                                                 \
                                                                                                   \
		if (PL_UNLIKELY(!p))                                                               \
			return NULL;                                                               \
		memcpy(p, &x, sizeof(x));                                                          \
		REF_NEXT;                                                                          \
	}
#define SPACE(M, T) M(GENERIC, T) M(GLOBAL, T) M(SHARED, T) M(LOCAL, T)
#define SPACES(M, T) SPACE(M, T) M(CONST, T)

SPACES(LOAD, u8)
/* clang-format off */
SPACES(LOAD, u16) SPACES(LOAD, u32) SPACES(LOAD, u64) SPACES(LOAD, s8) SPACES(LOAD, s16)
	/* clang-format on */
	SPACES(LOAD, s32) SPACE(STORE, u8) SPACE(STORE, u16) SPACE(STORE, u32) SPACE(STORE, u64)

		static u32 log2_of(u32 size)
{
	return size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0;
}

#define ROW(M, S)                                                                                  \
	{                                                                                          \
		M##_##S##_u8, M##_##S##_u16, M##_##S##_u32, M##_##S##_u64                          \
	}
#define SIGNED(M, S)                                                                               \
	{                                                                                          \
		M##_##S##_s8, M##_##S##_s16, M##_##S##_s32, M##_##S##_u64                          \
	}

static const u8 spaces[] = {[MEM_GENERIC] = 0, [MEM_GLOBAL] = 1, [MEM_SHARED] = 2,
			    [MEM_LOCAL] = 3,   [MEM_CONST] = 4,  [MEM_PARAM] = 1};

ref_handler *ref_load_handler(u32 space, u32 size, bool is_signed)
{
	static ref_handler *const run[2][5][4] = {
		{ROW(ref_op_load, GENERIC), ROW(ref_op_load, GLOBAL), ROW(ref_op_load, SHARED),
		 ROW(ref_op_load, LOCAL), ROW(ref_op_load, CONST)},
		{SIGNED(ref_op_load, GENERIC), SIGNED(ref_op_load, GLOBAL),
		 SIGNED(ref_op_load, SHARED), SIGNED(ref_op_load, LOCAL),
		 SIGNED(ref_op_load, CONST)},
	};

	return run[is_signed][spaces[space]][log2_of(size)];
}

ref_handler *ref_store_handler(u32 space, u32 size)
{
	static ref_handler *const run[4][4] = {ROW(ref_op_store, GENERIC),
					       ROW(ref_op_store, GLOBAL), ROW(ref_op_store, SHARED),
					       ROW(ref_op_store, LOCAL)};

	return run[spaces[space]][log2_of(size)];
}

/* ---- vectors ---- */

static u64 extend(u64 x, u32 size, bool is_signed)
{
	u32 drop = 64 - 8 * size;

	return is_signed ? (u64)((s64)(x << drop) >> drop) : x << drop >> drop;
}

REF_HANDLER(load_slow)
{
	const u32 *to = t->cta->program->ext.at + in->ext;
	struct ref_access at = {
		.addr = ADDRESS, .size = (u32)in->count * in->size, .space = in->space};
	const u8 *p = ref_host(t, in, at);

	if (!p)
		return NULL;
	for (u32 i = 0; i < in->count; i++, p += in->size) {
		u64 x = 0;

		memcpy(&x, p, in->size);
		r[to[i]] = extend(x, in->size, in->is_signed);
	}
	REF_NEXT;
}

REF_HANDLER(store_slow)
{
	const u32 *from = t->cta->program->ext.at + in->ext;
	struct ref_access at = {.addr = ADDRESS,
				.size = (u32)in->count * in->size,
				.space = in->space,
				.write = true};
	u8 *p = ref_host(t, in, at);

	if (!p)
		return NULL;
	for (u32 i = 0; i < in->count; i++, p += in->size)
		if (from[i] != REF_SLOT_TRASH)
			memcpy(p, &r[from[i]], in->size);
	REF_NEXT;
}

/* st.bulk: size bytes of zeros. */
REF_HANDLER(zero_fill)
{
	u64 n = in->mode ? (u32)r[in->b] : r[in->b];

	for (u64 i = 0; i < n; i++) {
		u8 *p = ref_host(
			t, in,
			(struct ref_access){
				.addr = ADDRESS + i, .size = 1, .space = in->space, .write = true});

		if (!p)
			return NULL;
		*p = 0;
	}
	REF_NEXT;
}

/* ---- atomics ---- */

/*
 * In global memory a NaN stays as it is, not even made quiet; in shared memory the old value's is
 * taken first.
 */
static u64 add_f64(u64 a, u64 b, bool global)
{
	if (!global)
		return num_add_f64(b, a, 0);
	return num_is_nan_f64(b) ? b : num_is_nan_f64(a) ? a : num_add_f64(a, b, 0);
}

/* Sums of f32 flush subnormals in global memory and keep them in shared memory. */
static u64 add_float(u32 type, u64 a, u64 b, bool global)
{
	switch (type) {
	case T_f32:
		return num_add_f32((u32)a, (u32)b, global ? NUM_FTZ : 0);
	case T_f64:
		return add_f64(a, b, global);
	case T_f16:
		return num_add_f16((u32)a, (u32)b, 0);
	case T_f16x2:
		return num_add_f16x2((u32)a, (u32)b, 0);
	case T_bf16:
		return num_add_bf16((u32)a, (u32)b, 0);
	case T_bf16x2:
		return num_add_bf16x2((u32)a, (u32)b, 0);
	default:
		return a + b;
	}
}

static u64 minmax(u32 type, bool max, u64 a, u64 b, u32 size)
{
	u64 x = extend(a, size, true), y = extend(b, size, true);

	switch (type) {
	case T_f16:
		return max ? num_max_f16((u32)a, (u32)b, 0) : num_min_f16((u32)a, (u32)b, 0);
	case T_f16x2:
		return max ? num_max_f16x2((u32)a, (u32)b, 0) : num_min_f16x2((u32)a, (u32)b, 0);
	case T_bf16:
		return max ? num_max_bf16((u32)a, (u32)b, 0) : num_min_bf16((u32)a, (u32)b, 0);
	case T_bf16x2:
		return max ? num_max_bf16x2((u32)a, (u32)b, 0) : num_min_bf16x2((u32)a, (u32)b, 0);
	case T_s32:
	case T_s64:
		return ((s64)x < (s64)y) != max ? a : b;
	default:
		return (extend(a, size, false) < extend(b, size, false)) != max ? a : b;
	}
}

static u64 atomic(const struct ref_insn *in, u64 old, u64 b, u64 c, bool global)
{
	u32 type = in->mode >> 16;

	switch (in->mode & 0xffff) {
	case M_add:
		return add_float(type, old, b, global);
	case M_min:
		return minmax(type, false, old, b, in->size);
	case M_max:
		return minmax(type, true, old, b, in->size);
	case M_and:
		return old & b;
	case M_or:
		return old | b;
	case M_xor:
		return old ^ b;
	case M_inc:
		return (u32)old >= (u32)b ? 0 : old + 1;
	case M_dec:
		return (u32)old == 0 || (u32)old > (u32)b ? b : old - 1;
	case M_cas:
		return old == extend(b, in->size, false) ? c : old;
	default:
		return b; /* exch */
	}
}

static const struct ref_insn *atom_128(u64 *r, const struct ref_insn *in, struct ref_thread *t,
				       u8 *p)
{
	const u32 *slot = t->cta->program->ext.at + in->ext;
	bool cas = (in->mode & 0xffff) == M_cas;
	u64 old[2], b[2] = {r[slot[2]], r[slot[3]]};

	memcpy(old, p, sizeof(old));
	if (!cas) {
		memcpy(p, b, sizeof(b));
	} else if (old[0] == b[0] && old[1] == b[1]) {
		u64 c[2] = {r[slot[4]], r[slot[5]]};

		memcpy(p, c, sizeof(c));
	}
	r[slot[0]] = old[0];
	r[slot[1]] = old[1];
	REF_NEXT;
}

REF_HANDLER(atom)
{
	const u32 *slot = t->cta->program->ext.at + in->ext, n = in->count;
	struct ref_access at = {
		.addr = ADDRESS, .size = in->size * n, .space = in->space, .write = true};
	u8 *p = ref_host(t, in, at);
	bool shared = p && p >= t->cta->shared && p < t->cta->shared + t->cta->shared_bytes;
	u64 old[8] = {0};

	if (!p)
		return NULL;
	if (in->pair)
		return atom_128(r, in, t, p);
	for (u32 i = 0; i < n; i++, p += in->size) {
		u64 x;

		memcpy(&old[i], p, in->size);
		x = atomic(in, old[i], r[slot[n + i]],
			   (in->mode & 0xffff) == M_cas ? r[slot[2 * n + i]] : 0, !shared);
		memcpy(p, &x, in->size);
	}
	/* Results may be the registers of operands. */
	for (u32 i = 0; i < n; i++)
		r[slot[i]] = extend(old[i], in->size, in->is_signed);
	REF_NEXT;
}

/* ---- windows ---- */

/* imm: enum mem_space; mode: out of the window. */
REF_HANDLER(window)
{
	const struct mem *m = t->cta->mem;
	u64 base = in->imm == MEM_LOCAL    ? m->local_base
		   : in->imm == MEM_SHARED ? m->shared_base
		   : in->imm == MEM_CONST  ? t->cta->program->const_base
					   : 0;

	r[in->d] = in->mode ? r[in->a] - base : r[in->a] + base;
	REF_NEXT;
}

static bool in_param(const struct ref_thread *t, u64 a)
{
	return a - t->cta->param_address < t->cta->program->param_bytes;
}

static bool in_const(struct ref_thread *t, u64 a)
{
	struct mem_range range;

	return mem_find(t->cta->mem, a, 1, &range) && range.kind == MEM_KIND_CONST;
}

REF_HANDLER(isspacep)
{
	const struct mem *m = t->cta->mem;
	u64 a = r[in->a] & in->mask;
	bool shared = a - m->shared_base < MEM_SHARED_WINDOW,
	     local = a - m->local_base < MEM_LOCAL_WINDOW, yes;

	switch (in->mode) {
	case M_shared_cluster:
		yes = shared;
		break;
	case M_shared:
	case M_shared_cta: /* its own window, or that of rank 0 */
		yes = a - m->shared_base < (u64)2 << MEM_SHARED_RANK_SHIFT;
		break;
	case M_local:
		yes = local;
		break;
	case M_const:
		yes = in_const(t, a);
		break;
	case M_param:
	case M_param_entry:
		yes = in_param(t, a);
		break;
	default:
		yes = !shared && !local && !in_const(t, a);
		break;
	}
	r[in->d] = yes;
	REF_NEXT;
}

/* A cluster is one CTA here: its rank is 0, and every address is in it. */
REF_HANDLER(mapa)
{
	const struct mem *m = t->cta->mem;
	u64 a = r[in->a], base = a - m->shared_base < MEM_SHARED_WINDOW ? m->shared_base : 0;

	if ((u32)r[in->b])
		return ref_fault(t, in, FAULT_ILLEGAL_ADDRESS);
	r[in->d] = base + ((a - base) & MEM_SHARED_OFFSET) + ((u64)1 << MEM_SHARED_RANK_SHIFT);
	REF_NEXT;
}

REF_HANDLER(ctarank)
{
	(void)t;
	r[in->d] = 0;
	REF_NEXT;
}

/* ---- stack ---- */

REF_HANDLER(alloca)
{
	u64 at = align_up(t->stack, (u64)in->imm > 8 ? (u64)in->imm : 8),
	    n = r[in->a] & (in->mode ? UINT32_MAX : ~(u64)0);

	if (n > t->cta->local_bytes || at + n > t->cta->local_bytes)
		return ref_fault(t, in, FAULT_STACK_OVERFLOW);
	t->stack = (u32)align_up(at + n, 8);
	r[in->d] = at;
	REF_NEXT;
}

REF_HANDLER(stacksave)
{
	r[in->d] = t->stack;
	REF_NEXT;
}

REF_HANDLER(stackrestore)
{
	t->stack = (u32)r[in->a];
	REF_NEXT;
}
