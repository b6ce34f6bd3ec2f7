/*
 * Pairs of lines that race in a launch, each once, and how they are said.
 */
#ifndef PL_CHECK_REPORT_H
#define PL_CHECK_REPORT_H

#include "src/check/finding.h"
#include "src/check/race/shadow.h"

/* The fence that is missing between accesses of different proxies. */
enum race_fence {
	FENCE_NONE, /* there is no such */
	FENCE_ASYNC,
	FENCE_MAP_RELEASE,
	FENCE_MAP_SCOPE, /* it is there, but its scope is too narrow */
	FENCE_MAP_ACQUIRE,
};

/* Two accesses that nothing orders; the second ran last. */
struct race {
	struct touch first, second;
	bool first_writes, second_writes;
	u8 space;        /* enum mem_space */
	u64 address;     /* shared: in the CTA's memory */
	bool same_value; /* the outcome does not depend on their order */
	bool same_warp;
	bool together; /* and the first thread's lane runs beside the second's */
	/* each writes what it makes of what it has read: one may be lost, whatever is written */
	bool is_update;
	bool is_try; /* a read only says what an atomic operation is tried with first */
	bool narrow; /* both are strong, but a scope is too narrow */
	u8 fence;    /* enum race_fence: ordered, but no fence stands between the proxies */
	u32 launch_block[3], launch_grid[3];
};

struct race_report {
	struct race race; /* the first of this pair */
	u64 count;
};

struct race_reports {
	VEC(struct race_report) list;
	struct map by_pair; /* number + 1 */
};

/* False: no memory left. *news: a pair that is new, or has become an error. */
bool race_reports_add(struct race_reports *r, const struct race *race, bool *news);
void race_reports_fini(struct race_reports *r);
/*
 * Add them to the findings. Warnings are what may be meant as it is. from: what has launched the
 * kernel; m: of the device, to name addresses.
 */
void race_reports_tell(const struct race_reports *r, const struct program *p, struct host_from from,
		       struct mem *m, struct findings *found);

/* Tell a debugger of the race that was added last, while the launch runs. */
void race_announce(const struct race *r, const struct program *p, struct host_from from,
		   struct mem *m, struct findings *found);

#endif
