/*
 * Private to the C API: its objects.
 */
#ifndef PL_API_INT_H
#define PL_API_INT_H

#include "src/check/checks.h"
#include "src/dev/device.h"

#include <ptxloom.h>

struct ptxloom_kernel {
	struct ptxloom_module *mod;
	struct device_kernel *k;
	struct ptxloom_kernel *next;
};

struct api_bound;
struct api_metrics;

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
	char *host_functions; /* NULL: none */
	u32 which;            /* enum check: what is looked for; 0: the next two are not open */
	struct findings findings;
	struct checks checks;
	struct api_metrics *metrics; /* NULL: launches are not counted */
	void (*message)(void *user, const char *text);
	void *user;
	pthread_mutex_t lock; /* all below; never held while a kernel or a callback runs */
	pthread_cond_t ended;
	struct ptxloom_module *modules;
	struct text messages; /* not fetched yet */
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

/* ---- api_metrics.c ---- */

/*
 * After api_checks_open, before the first launch. names: separated by commas; NULL or empty: none.
 * False, with a line in `why` unless there is no memory: they cannot be counted.
 */
bool api_metrics_open(struct ptxloom_device *dev, const char *names, struct text *why);
/* After the last launch. */
void api_metrics_close(struct ptxloom_device *dev);

/* ---- api_bind.c ---- */

void api_bound_free(struct api_bound *list);

#endif
