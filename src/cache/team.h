/*
 * Threads that share tasks: a loop whose turns do not depend on each other.
 */
#ifndef PL_CACHE_TEAM_H
#define PL_CACHE_TEAM_H

#include "src/base/base.h"

#define TEAM_MOST 64u

struct team;

/* members: the caller of team_run among them, at most TEAM_MOST. NULL: no memory left. */
struct team *team_new(u32 members);
/* NULL is allowed. */
void team_free(struct team *t);
/* 1: the caller is alone; so it is without a team, and in a child by fork. */
u32 team_members(const struct team *t);

/* member: 0, the caller, to team_members - 1; one task of a member at a time. */
typedef void team_task(void *user, u32 task, u32 member);
/* Returns when all tasks have been done. One caller at a time. */
void team_run(struct team *t, u32 tasks, team_task *fn, void *user);

#endif
