/*
 * What launches ask of each variable in shared memory.
 */
#ifndef PL_PROFILE_SHARED_H
#define PL_PROFILE_SHARED_H

#include "src/profile/profile.h"

struct program;

enum shared_count { SHARED_REQUESTS, SHARED_PASSES, SHARED_IDEAL, SHARED_COUNTS };

/* Where the variables of a program lie, by offset; then the dynamic part, and what is behind. */
struct profile_shared_places {
	u32 len;
	struct profile_shared_place {
		u32 at, end;
		char *name; /* demangled */
	} place[];
};

/* NULL: the host has no memory left. */
struct profile_shared_places *profile_shared_places(const struct program *p);
void profile_shared_places_free(struct profile_shared_places *s);
/* Of these, the one of an address in shared memory. */
u32 profile_shared_place_of(const struct profile_shared_places *s, u64 address);
/* Add those that were accessed to a launch. dynamic: bytes of that part. False without memory. */
bool profile_shared_end(const struct profile_shared_places *s, const u64 (*count)[SHARED_COUNTS],
			u64 dynamic, struct profile_launch *l);
/* As a member of a launch in a report; as that of --page json; as a section of the details page. */
void profile_shared_write(const struct profile_launch *l, struct text *out);
void profile_shared_json(const struct profile_launch *l, struct text *out);
void profile_shared_text(const struct profile_launch *l, struct text *out);

#endif
