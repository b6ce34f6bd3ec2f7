/*
 * What SMs ask of the second cache, and playing it there. Requests of a group of SMs that are near
 * in time may become one; groups do not depend on each other, nor do shards (l2.h), so both are
 * shared out to a team.
 */
#ifndef PL_CACHE_SECOND_H
#define PL_CACHE_SECOND_H

#include "src/cache/play.h"

#define ON_THE_WAY 8u

struct second_request {
	struct cache_request r;
	u64 key; /* when it gets there, among those of other groups: second.c */
	u32 side;
};

/* A group of SMs, whose requests may join others that are on the way, the oldest at `next`. */
struct second_group {
	struct {
		struct cache_request r;
		const struct cache_sm *sm; /* NULL: there is none */
		u32 joined;
	} way[ON_THE_WAY];
	u32 next;
	u64 key; /* of what gets there now */
	VEC(struct second_request) queue[L2_SHARDS];
	size_t len;   /* of all of them */
	u64 contacts; /* l2_counts.contacts */
	bool is_cut;
};

/* Where a member of the team counts: the first one where all is to be in the end. */
struct second_member {
	struct cache_insn *insns; /* NULL: not counted */
	struct cache_places *places;
};

struct second {
	struct l2 *l2;
	struct team *team;
	u32 uops; /* of insns */
	struct second_member member[TEAM_MOST];
	u32 members;               /* that have where to count */
	struct l2 view[L2_SHARDS]; /* with counts of its own each */
	struct second_group group[CACHE_GPCS];
	bool is_cut;
};

/* All pointers are borrowed, up to second_free. NULL: no memory. */
struct second *second_new(struct l2 *l2, const struct cache_tally *tally);
/* The members' counts are added up. NULL is allowed. */
void second_free(struct second *s);
/* Between these two the cache is its own; the counts of its shards are added up. */
void second_begin(struct second *s);
void second_end(struct second *s);
/* The team for so many requests; NULL: they are not worth it. */
struct team *second_team(struct second *s, size_t requests);
/* What the SMs have asked for in turns before `end` gets there, but for what is on the way. */
void second_send(struct second *s, struct cache_sm *sm, u32 sms, u32 end);
/* Nothing will join what is on the way. */
void second_close(struct second *s);

#endif
