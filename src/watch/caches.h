/*
 * An observer that plays what launches ask of memory through the caches of their device: how many
 * sectors hit, and how many come from the second cache and from DRAM (src/cache). CTAs are dealt to
 * the SMs in turn; those that an SM holds at once take turns. The numbers are those of a model,
 * and the same for every number of workers.
 *
 * What the CTAs ask that are resident at once is kept: 8 bytes for each instruction of a warp, a
 * few times as many where lanes are scattered. What does not fit 256 MiB goes to a file.
 */
#ifndef PL_WATCH_CACHES_H
#define PL_WATCH_CACHES_H

#include "src/cache/play.h"
#include "src/cache/rules.h"
#include "src/exec/observer.h"

#include <pthread.h>

enum caches_metric {
#define CACHES_METRIC(id, name, what) CACHES_##id,
#include "src/watch/caches.def"
#undef CACHES_METRIC
	CACHES_METRICS
};

/* What machine code says of a launch's kernel; 0: not known. */
struct watch_code {
	u32 bytes, constant_loads, registers;
	u32 resident;                       /* CTAs on an SM, as the registers allow */
	const struct access_window *window; /* of the second cache; NULL: none */
};

struct watch_caches {
	pthread_mutex_t lock;
	u64 serial;              /* of this observer among those of the process */
	const struct arch *arch; /* borrowed */
	bool keeps_second;       /* launches find the second cache as the one before left it */
	u64 set_aside;           /* of that for persisting lines; 0: as the device does; atomic */
	/* Each launch reads its code, too; set before the first one. Only if all begin cold. */
	bool counts_code;
	struct cache_spill spill; /* for traces */
	pthread_mutex_t second;   /* held by what plays a round */
	struct team *team;        /* that plays it together; NULL: none */
	struct l2 l2;
	bool l2_taken;              /* by a launch that is to be alone with it */
	struct map launches;        /* by grid id + 1 */
	struct cache_counts counts; /* of all launches that have ended */
	bool is_cut;                /* the host had no memory for all of it */
	/*
	 * A launch has ended; set before the first one, NULL: not called. insns: by micro-op of
	 * its program, NULL without memory; sm: what each SM has counted, likewise.
	 */
	void (*ended)(void *user, u64 grid_id, const struct cache_counts *counts,
		      const struct cache_insn *insns, const struct cache_sm *sm,
		      const struct cache_places *places);
	void *ended_user;
	/*
	 * Places that a launch is counted by, for `ended`: allocated by malloc; set before the
	 * first launch, NULL: none.
	 */
	struct cache_places *(*places_of)(void *ended_user, const struct exec_env *e);
	/* Set before the first launch; NULL: nothing is known. */
	void (*code_of)(const struct exec_env *e, struct watch_code *out);
	struct exec_observer observer;
};

/* false: the host has no memory left. */
bool watch_caches_init(struct watch_caches *c, const struct arch *a, bool keeps_second);
void watch_caches_fini(struct watch_caches *c);
/* Before the first launch: so many threads, the worker among them, play what CTAs have asked. */
void watch_caches_share(struct watch_caches *c, u32 threads);
/* Persisting lines that launches have left become normal ones. */
void watch_caches_make_normal(struct watch_caches *c);
/* After the launches have ended. */
u64 watch_caches_value(const struct watch_caches *c, enum caches_metric m);
const char *watch_caches_name(enum caches_metric m);
const char *watch_caches_what(enum caches_metric m);

#endif
