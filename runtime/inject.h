/*
 * Fault injection: what the rules of PTXLOOM_INJECT (src/inject/rules.h) do to calls, launches,
 * memory and devices. Without rules a call costs nothing that it does not cost anyway (entry_log.h:
 * call_log), and a launch a look at struct device.
 *
 * Rules are read at the first call of a process. Each act is a line on standard error.
 */
#ifndef PL_RUNTIME_INJECT_H
#define PL_RUNTIME_INJECT_H

#include "runtime/entry_log.h"
#include "src/inject/rules.h"

/* Exit status of a process with a rule that never acted, if that is asked for. */
#define INJECT_EXIT_IDLE 87

struct debug_hooks;

struct inject {
	struct inject_rules rules;
	pthread_mutex_t lock;
	VEC(u64) made; /* addresses of allocations, in the order of the calls; guarded by lock */
	bool is_dry;   /* nothing is done, and all is said */
};

/* The rules, read when first asked for; NULL: there are none, or they are wrong. */
struct inject *inject_get(void);
/* False: there are rules, and they are wrong. */
bool inject_is_ready(void);

/* A call begins: 0, or what it answers instead of being made. May sleep. */
int inject_call(const char *name, const struct entry_argument *a);
/* A call has ended. */
void inject_called(const char *name, int status, const struct entry_argument *a);
/*
 * Of launches whose results rules are about; NULL: there are no such rules. For sched_set_debug.
 */
const struct debug_hooks *inject_hooks(void);
/* A device has been opened: let the rules see its launches. */
void inject_device(struct rt_device *d);
/*
 * The process ends: name the rules that never acted. Returns the status to end with for that; 0:
 * none.
 */
int inject_report_exit(void);

/* In a child by fork: nothing has been counted. */
void inject_forget(void);

/* ---- for the files of this part ---- */

/* What is known of a call or a launch, for the conditions of rules. */
struct inject_event {
	const char *call;   /* as programs write it; NULL: a launch */
	const char *kernel; /* as in the PTX; NULL: a call */
	u32 device, thread;
	u64 bytes; /* if has_bytes */
	bool has_bytes;
	u8 dir;     /* enum inject_dir */
	u64 number; /* of the thread's calls, or of the process's launches */
};

/* Is this what the rule is about, and its turn? Counts it. */
bool inject_acts(struct inject_rule *r, const struct inject_event *e);
/* Begin the line about an act: "ptxloom: inject: RULE: ". The caller ends and puts it. */
void inject_say(const struct inject *j, struct inject_rule *r, struct text *t);
void inject_put(struct text *t);
/* In a child by fork: the launches are the parent's. */
void inject_results_forget(void);
/* The number of the calling thread, from 1 in the order of first calls. */
u32 inject_thread(void);

#endif
