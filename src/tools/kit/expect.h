/*
 * What `ptxloom exec` is to find after a launch: --expect, --tolerance, --expect-fault,
 * --expect-metric, --save-metrics, --against.
 */
#ifndef PL_TOOLS_KIT_EXPECT_H
#define PL_TOOLS_KIT_EXPECT_H

#include "src/profile/kept/claim.h"
#include "src/profile/collect.h"
#include "src/profile/kept/kept.h"
#include "src/tools/kit/compare.h"
#include "src/tools/kit/saved.h"

struct exec_job;

/* The exit status when an expectation is not met. */
#define EXPECT_STATUS 3

struct expect_value {
	const char *option; /* as written, for messages */
	char *name;
	const struct data_type *type; /* NULL: the buffer's */
	const char *init;
	struct data want; /* once the launch is known */
};

struct expect_tolerance {
	char *name; /* NULL: of all values */
	struct tolerance tolerance;
};

struct expect {
	VEC(struct expect_value) values;
	VEC(struct expect_tolerance) tolerances;
	VEC(struct metric_claim) claims;
	const char *fault;          /* a rule, or "none"; NULL: not said */
	const char *fault_at;       /* FILE:LINE, NULL: anywhere */
	char met_rule[32];          /* of the fault that came; empty: none did */
	struct text met_at, report; /* where it was: lines FILE:LINE; all about it */
	struct profile_kept *kept;  /* launches, for claims and metrics to save; NULL without */
	struct saved saved;
};

/* One option, by its letter in exec_args.c. TOOL_OK, or TOOL_USAGE after a message. */
int expect_option(struct exec_job *j, int letter, const char *arg);
bool expect_is_any(const struct expect *e);
/* Are launches to be counted? */
bool expect_needs_metrics(const struct expect *e);
/* Of metrics: do they need the model of the caches? */
bool expect_needs_caches(const struct expect *e);
/* Before the launch: work out what is wanted. TOOL_OK, or TOOL_USAGE after a message. */
int expect_prepare(struct exec_job *j);
/* The launch ended with a fault. False: it is to be reported as ever. */
bool expect_fault(struct exec_job *j, const struct device_fault *fault);
/* After it, with the status that exec would end with: the one to end with. */
int expect_judge(struct exec_job *j, int status);
void expect_fini(struct expect *e);

#endif
