/*
 * An observer that counts: instructions, threads, requests, sectors and bank conflicts, by the
 * rules that an H200's counters follow (counters.c). May watch several launches at once.
 */
#ifndef PL_WATCH_COUNTERS_H
#define PL_WATCH_COUNTERS_H

#include "src/exec/observer.h"

enum watch_metric {
#define METRIC(id, name, what) WATCH_##id,
#include "src/watch/metrics.def"
#undef METRIC
	WATCH_METRICS
};

struct watch_counters {
	u64 value[WATCH_METRICS]; /* atomic while launches run */
	struct exec_observer observer;
};

/* Zero the counters and make `observer`, which points back at them. */
void watch_counters_init(struct watch_counters *c);
/*
 * For programs that are lowered with LOWER_COUNT_INSNS: no steps are needed then, so they may be
 * fused.
 */
void watch_counters_fuse(struct watch_counters *c);
const char *watch_metric_name(u32 metric);
const char *watch_metric_what(u32 metric);

/* What one access of a warp adds. */
struct watch_tally {
	u32 len;
	u8 metric[4]; /* enum watch_metric, `len` of them, and how much each */
	u32 n[4];
	/*
	 * The same by what it is, 0 where the access has none; parts: see struct watch_passes;
	 * ideal: passes of as many bytes. Passes of global and local memory are those over the data
	 * of the first cache. Of copies past the first cache, parts are the sectors
	 * that it counts.
	 */
	u32 insts, requests, sectors, passes, parts, ideal;
	/* Loads of an atomic that is a loop (retry.h). */
	struct watch_loads {
		u32 insts, passes, parts, ideal;
	} loads;
};

void watch_tally_access(const struct exec_access *a, struct watch_tally *t);

/* ---- the rules, for one instruction of one warp ---- */

/* Sectors of 32 bytes that the lanes' accesses of `width` bytes touch. */
u32 watch_sectors(const u64 *address, u32 mask, u32 width);
/* The same for atomics: lanes on one word follow one another. */
u32 watch_atomic_sectors(const u64 *address, u32 mask, u32 width);
/* Sectors in local memory, whose words the hardware interleaves by lane. */
u32 watch_local_sectors(const u64 *address, u32 mask, u32 width);
/*
 * Passes over the 32 banks of shared memory that an access takes, and how many it would take
 * without conflicts: one for each part of the warp that goes by itself.
 */
struct watch_passes {
	u32 passes, parts;
};

enum watch_shared { WATCH_LOAD, WATCH_STORE, WATCH_ATOMIC, WATCH_COPY, WATCH_MATRIX };

/* width: bytes of a lane. Lanes outside `mask` do not take part; none: no pass. */
struct watch_passes watch_wavefronts(const u64 *address, u32 mask, u32 width,
				     enum watch_shared how);
/*
 * The same for a copy through the first cache: banks hold its lines, too, and each word is read for
 * each lane. from: addresses in global memory.
 */
struct watch_passes watch_copy_wavefronts(const u64 *from, const u64 *to, u32 mask, u32 width);

#endif
