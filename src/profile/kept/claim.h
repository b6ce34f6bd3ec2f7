/*
 * Metrics in tests: by the names of Nsight Compute or by short ones, of one launch or of several
 * together, and what tests claim of them.
 */
#ifndef PL_PROFILE_CLAIM_H
#define PL_PROFILE_CLAIM_H

#include "src/profile/metrics.h"

/* What launches did, added up. Zeroed: none. */
struct metric_total {
	struct profile_launch sum; /* what describes a launch is that of the last */
	u64 launches;
};

void metric_total_add(struct metric_total *t, const struct profile_launch *l);

/*
 * Which numbers survive another compiler: those that follow from addresses, and from where threads
 * go. Others follow from the choice of instructions.
 */
enum metric_class { CLASS_ADDRESS, CLASS_CODE, CLASS_CACHES };

/* A metric by either kind of name. */
struct metric_named {
	const char *name; /* as given, static */
	u32 metric;
	double scale; /* of its value */
	enum metric_class class;
};

/* The short name of this number, from 0; false: there are not so many. */
bool metric_short(u32 number, struct metric_named *out);
/* False with a line in `why`: there is none, or it cannot be known. */
bool metric_named_find(const char *name, size_t n, struct metric_named *out, struct text *why);
/* False: not known, or there was no launch. */
bool metric_named_value(const struct metric_named *m, const struct metric_total *t, double *out);

#define CLAIM_FILE_MAX 256u

/* "bank_conflicts == 0", "instructions <= 1000 +- 5%", "global_ld_sectors <= 128 at k.cu:41". */
struct metric_claim {
	struct metric_named named;
	char op[3];
	double value, tolerance; /* the latter as a part of the value */
	char file[CLAIM_FILE_MAX];
	u32 line; /* of its file; 0: of all that was launched */
};

/* False with a line in `why`. */
bool metric_claim_read(const char *text, struct metric_claim *out, struct text *why);
bool metric_claim_holds(const struct metric_claim *c, double x);
/* The same, but that a number of the code has to have a tolerance. */
bool metric_claim_parse(const char *text, struct metric_claim *out, struct text *why);
/* What it asks for: "== 0", "<= 1000 +- 5%"; what it is of: "bank_conflicts at k.cu:41"; all. */
void metric_claim_bound(const struct metric_claim *c, struct text *out);
void metric_claim_subject(const struct metric_claim *c, struct text *out);
void metric_claim_print(const struct metric_claim *c, struct text *out);
/* Adds a line to `out` where it does not hold: of a claim of no line; and for this value. */
bool metric_claim_check(const struct metric_claim *c, const struct metric_total *t,
			struct text *out);
bool metric_claim_judge(const struct metric_claim *c, double x, struct text *out);

#endif
