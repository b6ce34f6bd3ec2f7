/*
 * What managed memory a launch touches and has brought to its device, and what has moved in all.
 */
#ifndef PL_PROFILE_MIGRATIONS_H
#define PL_PROFILE_MIGRATIONS_H

#include "src/profile/profile.h"

struct cache_places;
struct managed;

/*
 * Tell the pages of managed memory that a launch has touched; adds to its numbers. False without
 * memory: some are missing.
 */
bool profile_migrations_end(struct managed *m, u32 device, const struct cache_places *places,
			    u64 value[PROFILE_VALUES]);
/* Add all to the process. False without memory. */
bool profile_migrations_sum(struct managed *m, struct profile_process *p);

/* As members of the end of a process in a report; as those of --page json; for the details page. */
void profile_migrations_write(const struct profile_process *p, struct text *out);
void profile_migrations_json(const struct profile_report *r, struct text *out);
void profile_migrations_text(const struct profile_report *r, struct text *out);
void profile_migrations_forget(struct profile_process *p);

#endif
