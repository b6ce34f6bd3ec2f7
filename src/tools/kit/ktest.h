/*
 * Tables of tests of kernels, files of the form NAME.ktest: reading them, and the cases that they
 * stand for. ptxloom-test(1) has the grammar.
 */
#ifndef PL_TOOLS_KIT_KTEST_H
#define PL_TOOLS_KIT_KTEST_H

#include "src/base/diag.h"
#include "src/base/vec.h"

/* The most cases that a file may stand for. */
#define KTEST_CASES_MAX 1000000u

typedef VEC(char *) ktest_words;

/* A run of `ptxloom exec`. Strings are owned. */
struct ktest_case {
	char *name;    /* "tail n=31 (t4, seed 2)" */
	char *kernel;  /* as written */
	u32 image;     /* of the list */
	u32 line;      /* of its test */
	u32 at;        /* where the test's name is in the source */
	char *device;  /* NULL: the default */
	char *timeout; /* of a launch, NULL: none */
	u64 seed;
	bool has_seed;
	ktest_words options; /* of exec */
};

/* A file with kernels, as it is to be built. */
struct ktest_image {
	char *path;
	struct diag_span at; /* where the table names it */
	ktest_words options; /* of `ptxloom cc` */
};

struct ktest {
	VEC(struct ktest_case) cases;
	VEC(struct ktest_image) images;
};

/* Read the text of a source. False after messages. ktest_fini in any case. */
bool ktest_read(struct ktest *t, const struct diag_source *source, struct diag *d);
void ktest_fini(struct ktest *t);

#endif
