/*
 * Picking launches out of a report: ncu's filters.
 */
#ifndef PL_PROFILE_PICK_H
#define PL_PROFILE_PICK_H

#include "src/profile/choice.h"
#include "src/profile/report.h"

struct profile_pick {
	struct profile_choice choice;
	/* --kernel-id CONTEXT:STREAM:NAME:INVOCATION; NULL: any. Owned */
	char *id;
	bool has_devices;
	u64 devices; /* a bit each */
};

/* Is this a --kernel-id? False with a line in `why`. */
bool profile_pick_set_id(struct profile_pick *p, const char *id, struct text *why);
/* "0,2". */
bool profile_pick_set_devices(struct profile_pick *p, const char *devices, struct text *why);
/* Leave the launches in the report that are picked. False without memory. */
bool profile_pick_apply(struct profile_pick *p, struct profile_report *r);
void profile_pick_fini(struct profile_pick *p);

#endif
