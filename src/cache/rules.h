/*
 * From device profiles to the numbers of caches.
 */
#ifndef PL_CACHE_RULES_H
#define PL_CACHE_RULES_H

#include "src/arch/arch.h"
#include "src/cache/l2.h"

struct cache_rules {
	struct l1_rules l1;
	struct l2_rules l2;
	u32 sms;
	bool loads_pass; /* plain global loads go past the first cache */
};

/*
 * smem_bytes: what the SM's shared memory is set to (arch_smem_config). What a profile does not
 * know is taken as on GH100, or as 0.
 */
void cache_rules_of(const struct arch *a, u64 smem_bytes, struct cache_rules *out);

#endif
