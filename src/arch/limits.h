/*
 * What each resource of an SM allows by itself.
 */
#ifndef PL_ARCH_LIMITS_H
#define PL_ARCH_LIMITS_H

#include "src/arch/arch.h"

/* CTAs of a use that each resource has room for; 0: not even one. */
struct arch_limits {
	u32 ctas, warps, registers, smem;
};

/* False when the profile lacks a field this needs; *out is then zero. */
bool arch_limits(const struct arch *a, const struct arch_use *use, struct arch_limits *out);

/* Bytes of shared memory that a CTA takes of an SM. */
u64 arch_cta_smem(const struct arch *a, u64 smem_bytes);

#endif
