/*
 * Where the pages of managed memory are: on the host, or on a device, and what moves when one of
 * them touches a page that it has not, as the driver of an H200 does it (unit tests have the
 * measurements, docs/profile.md the rules).
 *
 * Not for several threads at once.
 */
#ifndef PL_MANAGED_RESIDENCY_H
#define PL_MANAGED_RESIDENCY_H

#include "src/base/vec.h"

#define MANAGED_PAGE 4096u
/* That a fault brings at least: 64 KiB. */
#define MANAGED_FAULT_PAGES ((u64)16)
#define MANAGED_DEVICES 32u
/* The processors that have memory: devices by number, then the host. */
#define MANAGED_HOST MANAGED_DEVICES
#define MANAGED_ENDS (MANAGED_DEVICES + 1)
/* Instead of a processor. */
#define MANAGED_NONE UINT32_MAX

/* What has happened; by whom it was caused, if that is not the first index. */
struct managed_counts {
	u64 faults[MANAGED_ENDS];                  /* as if they came one after the other */
	u64 transfers[MANAGED_ENDS][MANAGED_ENDS]; /* from, to: pieces without a gap */
	u64 bytes[MANAGED_ENDS][MANAGED_ENDS];     /* likewise */
	u64 remote[MANAGED_ENDS];                  /* bytes that were mapped where they are */
	u64 populated[MANAGED_ENDS];               /* bytes that got memory there first */
	u64 thrashed[MANAGED_ENDS]; /* bytes that came for the third time, or later */
};

enum managed_advice {
	MANAGED_READ_MOSTLY = 1, /* as CUDA numbers them */
	MANAGED_UNSET_READ_MOSTLY,
	MANAGED_PREFER,
	MANAGED_UNSET_PREFER,
	MANAGED_ACCESSED_BY,
	MANAGED_UNSET_ACCESSED_BY,
};

struct managed_page {
	u64 at;      /* a bit for each processor that has it; none: it was never touched */
	u64 mapped;  /* for each that reaches it where it is */
	u8 arrivals; /* on devices, by faults */
};

struct managed_range {
	u64 base, bytes;
	u64 pages; /* those of the last 2 MiB, too, whether they belong to the allocation or not */
	struct managed_page *page;
	bool read_mostly;
	u32 preferred; /* MANAGED_NONE: no processor */
	u64 accessed_by;
};

struct residency {
	VEC(struct managed_range) ranges; /* by base */
	struct managed_counts count;
};

void residency_fini(struct residency *r);
/* False without memory. Its pages are nowhere yet. */
bool residency_add(struct residency *r, u64 base, u64 bytes);
void residency_remove(struct residency *r, u64 base);
/* The range that has the address; NULL: none. */
struct managed_range *residency_find(struct residency *r, u64 address);
/* Does it have to be brought, or mapped, before it is touched? */
bool residency_faults(const struct managed_range *m, u64 page, u32 by, bool writes);
/* A processor touches a page. */
void residency_touch(struct residency *r, struct managed_range *m, u64 page, u32 by, bool writes);
/* cudaMemPrefetchAsync: pages [first, end). */
void residency_prefetch(struct residency *r, struct managed_range *m, u64 first, u64 end, u32 to);
void residency_advise(struct residency *r, struct managed_range *m, enum managed_advice advice,
		      u32 where);

#endif
