/*
 * Private to src/sched: what is written down of a steered run, for `ptxloom explore`: a line of
 * fields with tabs between them for each launch, choice, pair of places and fault.
 */
#ifndef PL_STEER_NOTES_H
#define PL_STEER_NOTES_H

#include "src/exec/observer.h"
#include "src/sched/steer/schedule.h"

struct debug_grid;
struct steer_notes;

/* NULL, with a line in `why`, if the file cannot be written; without one: another process does. */
struct steer_notes *notes_open(const char *path, struct text *why);
void notes_free(struct steer_notes *n);

void notes_begin(struct steer_notes *n, const struct debug_grid *d);
void notes_end(struct steer_notes *n, const struct debug_grid *d, const struct fault *fault);
/* A warp is about to run the visible operation `pc`, after `steps` of its own. */
void notes_step(struct steer_notes *n, u32 pc, u64 cta, u32 warp, u32 steps);
/* The warp stands at pc. */
void notes_choice(struct steer_notes *n, const struct debug_grid *d,
		  const struct schedule_choice *c, u32 pc);
/* A warp does not see a store of another CTA (pc[1] NO_PC: it reads a line that it has kept). */
struct notes_unseen {
	u64 cta[2];
	u32 warp[2], pc[2];
};
void notes_unseen(struct steer_notes *n, const struct debug_grid *d, const struct notes_unseen *x);
void notes_access(struct steer_notes *n, const struct exec_access *a);
/* The host gets contents of device memory, with this hash. From any thread. */
void notes_copy(struct steer_notes *n, u64 hash);
/* A barrier of the CTA has let warps go. */
void notes_release(struct steer_notes *n, const struct cta *c);

#endif
