/*
 * Atomics on shared memory as loops.
 */
#include "src/watch/retry.h"

#define BANKS 32u
#define WORD 4u

/* Whole numbers: minima and maxima of 32 bits, and sums, have an instruction. */
static bool is_whole_number(const struct isa_form *f)
{
	u8 t = f->types ? f->type[0] : T_u32;

	return t == T_u32 || t == T_s32 || t == T_u64 || t == T_s64;
}

enum shared_atomic watch_shared_atomic(const struct exec_access *a)
{
	const struct isa_form *f = exec_form(a->cta->env->program, a->in);

	if (!f)
		return SHARED_ATOMIC_PLAIN;
	if (isa_form_has(f, M_cas))
		return SHARED_ATOMIC_CAS;
	if (isa_form_has(f, M_exch))
		return SHARED_ATOMIC_PLAIN;
	if (isa_form_has(f, M_min) || isa_form_has(f, M_max))
		return a->size > WORD       ? SHARED_ATOMIC_LOAD
		       : is_whole_number(f) ? SHARED_ATOMIC_PLAIN
					    : SHARED_ATOMIC_RETRY;
	if (isa_form_has(f, M_add) && !is_whole_number(f))
		return SHARED_ATOMIC_RETRY;
	return a->size > WORD ? SHARED_ATOMIC_RETRY : SHARED_ATOMIC_PLAIN;
}

u32 watch_retry_rest(const u64 *address, u32 mask, u32 width)
{
	u32 half = width > WORD ? WARP_LANES / 2 : WARP_LANES, rest = 0;

	for (u32 first = 0; first < WARP_LANES; first += half) {
		u32 lanes = mask & (u32)((((u64)1 << half) - 1) << first), taken = 0;

		for (; lanes; lanes &= lanes - 1) {
			u32 l = (u32)__builtin_ctz(lanes);
			u32 bank = (u32)(address[l] / WORD % BANKS);

			rest |= taken >> bank & 1 ? 1u << l : 0;
			taken |= 1u << bank;
		}
	}
	return rest;
}
