/*
 * Private to the C API: its objects.
 */
#ifndef PL_API_INT_H
#define PL_API_INT_H

#include "src/check/checks.h"
#include "src/dev/device.h"
#include "src/profile/collect.h"
#include "src/profile/kept/kept.h"

#include <ptxloom.h>

struct ptxloom_kernel {
	struct ptxloom_module *mod;
	struct device_kernel *k;
	struct ptxloom_kernel *next;
};

struct api_bound;

struct ptxloom_module {
	struct ptxloom_device *dev;
	struct device_program *program;
	struct ptxloom_kernel *kernels; /* dev->lock */
	struct api_bound *bound;        /* dev->lock */
	struct ptxloom_module *next;
};

struct ptxloom_device {
	struct device dev;
	struct sched_pool *pool;
	struct arch_devices profiles;
	struct device_settings settings; /* as it was opened */
	u64 counting;                    /* as PTXLOOM_COUNTERS */
	char *host_functions;            /* NULL: none */
	u32 which; /* enum check: what is looked for; 0: the next two are not open */
	struct findings findings;
	struct checks checks;
	struct profile_kept *kept; /* NULL: nothing is counted, and the next two are NULL */
	struct profile_collect *collect;
	struct profile_device *counters;
	void (*output)(void *user, const char *text, size_t size);
	void (*message)(void *user, const char *text);
	void *user;
	pthread_mutex_t lock; /* all below; never held while a kernel or a callback runs */
	pthread_cond_t ended;
	struct ptxloom_module *modules;
	struct text messages; /* not fetched yet */
	bool is_lost;         /* a reset has failed: `dev` and what observes it are closed */
	bool faulted;
	struct ptxloom_fault fault;
	int pending; /* first fault of launches that no call waited for */
};

/* Hand a message to the program, or keep it for ptxloom_message. */
void api_say(struct ptxloom_device *dev, const char *text);

/* ---- api_findings.c ---- */

/* Before the first launch. False, with a line in `why`: they cannot be looked for. */
bool api_checks_open(struct ptxloom_device *dev, u32 which, struct text *why);
/* After the last launch. */
void api_checks_close(struct ptxloom_device *dev);
void api_checks_fault(struct ptxloom_device *dev, const struct device_fault *fault);

/* What is in the CUDA libraries, if this process has loaded them; they stay loaded. */
void api_find_in_runtime(const char *name, void *function, size_t bytes);

/* ---- api_counters.c ---- */

/* Before the first launch, after the checks. False without memory. */
bool api_counters_open(struct ptxloom_device *dev);
/* After the last launch. */
void api_counters_close(struct ptxloom_device *dev);

/* ---- api_record.c ---- */

/* Before its observers are closed. */
void api_record_close(const struct ptxloom_device *dev);

/* ---- api_bind.c ---- */

void api_bound_free(struct api_bound *list);

#endif
