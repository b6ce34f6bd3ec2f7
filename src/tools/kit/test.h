/*
 * Private to `ptxloom test`: the cases that run, and what is made for them.
 */
#ifndef PL_TOOLS_KIT_TEST_H
#define PL_TOOLS_KIT_TEST_H

#include "src/tools/kit/ktest.h"
#include "src/tools/kit/saved.h"
#include "src/tools/trial.h"

/* --metrics, and metrics that are saved or compared. */
struct test_metrics {
	bool all; /* of every case, for JUnit */
	struct saved saved;
	struct metric_base now; /* of the cases that were shown */
	size_t group;           /* of the base: where the search for a case begins */
};

struct test_run {
	const struct ktest_case *c;
	u32 file;
	bool is_over;
	struct trial *trial; /* from its begin until its result is shown; owned */
};

struct test_file {
	const char *path;
	char *text;
	size_t size;
	struct ktest table;
	char **built; /* by image: the PTX or other file to run; NULL: not needed yet */
};

struct test_job {
	const struct tool_command *self;
	u32 jobs;
	const char *filter, *junit, *coverage;
	u64 shard, shards;
	bool only_list;
	VEC(struct test_file) files;
	VEC(struct test_run) runs;
	char *folder; /* for what is built, and for metrics of cases; NULL: there was no need */
	u32 built;
	struct test_metrics metrics;
	size_t shown, begun; /* cases */
	u64 failed;
	char self_path[4096];
};

/* The folder for temporary files. False after a message. */
bool test_make_folder(struct test_job *j);
/* The files of the cases that run. False after a message, or when it was interrupted. */
bool test_build_images(struct test_job *j);
void test_free_images(struct test_job *j, struct test_file *f);
bool test_is_interrupted(void);

/* What --save-metrics' file has of cases that do not run stays in it. False after a message. */
bool test_keep_saved(struct test_job *j);
/* A folder, if cases write metrics. False after a message. */
bool test_prepare_metrics(struct test_job *j);
/* Is this case to write metrics? */
bool test_has_metrics(const struct test_job *j, const struct ktest_case *c);
/* Add the name of its file, which `ptxloom exec` writes. */
void test_metrics_path(const struct test_job *j, const struct test_run *r, struct text *out);
/*
 * The case is over: take its metrics, from row *first of `now` on; say in `out` what differs from
 * what was saved. False: something does.
 */
bool test_take_metrics(struct test_job *j, const struct test_run *r, size_t *first,
		       struct text *out);
/* Remove the file of a case that was not taken. */
void test_drop_metrics(const struct test_job *j, const struct test_run *r);
/* All are over, with this status: the one to end with. */
int test_end_metrics(struct test_job *j, int status);

#endif
