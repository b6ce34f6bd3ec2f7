/*
 * From device profiles to the numbers of caches.
 */
#include "src/cache/rules.h"

#define ROWS_UNKNOWN 256u
#define FETCH_UNKNOWN 64u

static u32 l1_lines(const struct arch *a, u64 smem_bytes)
{
	u64 taken = smem_bytes + (u64)a->l1_reserved_bytes, all = (u64)a->l1_smem_bytes;

	if (!a->has_unified_smem_l1)
		return (u32)a->l1_bytes_max / CACHE_LINE_BYTES;
	return taken < all ? (u32)((all - taken) / CACHE_LINE_BYTES) : 0;
}

/* Three sixteenths at first, as H200 and H100 have; assumed where a profile does not know. */
static u64 set_aside(const struct arch *a)
{
	if (!a->has_l2_residency)
		return 0;
	return arch_is_known(a, ARCH_FIELD_l2_persisting_default_bytes)
		       ? (u64)a->l2_persisting_default_bytes
		       : (u64)a->l2_bytes / 16 * 3;
}

void cache_rules_of(const struct arch *a, u64 smem_bytes, struct cache_rules *out)
{
	u32 rows = (u32)a->l1_replacement_rows, fetch = (u32)a->l2_fetch_default_bytes;
	bool knows_writes = arch_is_known(a, ARCH_FIELD_l1_caches_writes);

	*out = (struct cache_rules){
		.l1 = {.lines = l1_lines(a, smem_bytes),
		       .rows = rows ? rows : ROWS_UNKNOWN,
		       .keeps_hit = rows != 1,
		       .keeps_store = knows_writes ? a->l1_caches_writes : a->has_unified_smem_l1},
		.l2 = {.bytes = (u64)a->l2_bytes,
		       .partitions = a->l2_partitions > 1 ? 2 : 1,
		       .fetch_bytes = fetch                     ? fetch
				      : !a->has_unified_smem_l1 ? CACHE_SECTOR_BYTES
								: FETCH_UNKNOWN,
		       .set_aside = set_aside(a),
		       .joins = a->l2_request_joins > 1 ? (u32)a->l2_request_joins : 1},
		.sms = a->sms > 0 ? (u32)a->sms : 1,
		.loads_pass = arch_is_known(a, ARCH_FIELD_global_loads_cached_in_l1) &&
			      !a->global_loads_cached_in_l1,
	};
}
