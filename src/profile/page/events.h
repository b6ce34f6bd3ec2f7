/*
 * What pages by line count, by name: the columns of reports, and what is derived of them.
 */
#ifndef PL_PROFILE_EVENTS_H
#define PL_PROFILE_EVENTS_H

#include "src/profile/kernels.h"
#include "src/profile/page/lines.h"

/* Events have numbers below this. */
u32 event_count(void);
const char *event_name(u32 event);
const char *event_what(u32 event);
/* event_count(): there is no such event. */
u32 event_find(const char *name, size_t len);
/* By the model of the caches? */
bool event_is_model(u32 event);
u64 event_of(u32 event, const struct source_counts *n);

/* A choice of events, in the order in which they were named. */
struct event_list {
	VEC(u32) at;
};

/* "inst,l1_miss". False with a line in `why`. */
bool event_list_add(struct event_list *l, const char *names, struct text *why);

/* A line of a file with the counts of its instructions. */
struct place_counts {
	const char *file, *function; /* file: of the PTX where that of the source is not known */
	u32 line;
	const char *text; /* of an instruction; NULL: of the source */
	struct source_counts counts;
};

struct place_list {
	VEC(struct place_counts) at;
};

/* Of all kernels: by file, function and line, each once. False without memory. */
bool places_add(struct place_list *p, const struct kernel_sums *sums);

#endif
