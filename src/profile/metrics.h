/*
 * Metrics of launches by name: metrics.def.
 */
#ifndef PL_PROFILE_METRICS_H
#define PL_PROFILE_METRICS_H

#include "src/profile/profile.h"

enum metric_kind {
	EXACT, /* what the program does */
	PTX, /* the same of instructions of the PTX, where hardware counts those of machine code */
	MODEL, /* of the model of the caches */
};

struct metric_number {
	bool is_known, is_real;
	u64 whole;
	double real;
};

#define METRIC_NONE UINT32_MAX

/*
 * How many metrics there are, but for .avg, .max and .min of counters, whose numbers follow.
 * Numbers are in byte order of the names.
 */
u32 metric_count(void);
const char *metric_name(u32 metric);
const char *metric_unit(u32 metric);
enum metric_kind metric_kind_of(u32 metric);
/* The number of a name; METRIC_NONE where it is not a metric. */
u32 metric_find(const char *name);
/* Of a counter of SMs: what has the least, and the most, can be known. */
bool metric_has_spread(u32 metric);
/* METRIC_NONE: not known. */
struct metric_number metric_value(u32 metric, const struct profile_launch *l);
/* The number as a double. */
double metric_real(const struct metric_number *n);

/* Would a metric of this name need a clock? */
bool metric_is_timed(const char *name);
/* Why a metric of the GPU is not had: it needs a clock, or it is not known at all. One line. */
void metric_say_missing(const char *name, struct text *out);

/*
 * Add a number as Nsight Compute writes it: "2,097,152", "27.43". is_auto: with a unit of a size
 * that fits, "32.77" and "Kbyte"; *unit is the one that goes with it, static.
 */
void metric_write(const struct metric_number *n, const char *unit, bool is_auto,
		  const char **shown_unit, struct text *out);
/* How numbers are written: whole ones with two digits behind a point, too; without separators. */
struct metric_style {
	bool is_real, is_plain;
};
void metric_write_styled(const struct metric_number *n, const char *unit, bool is_auto,
			 struct metric_style style, const char **shown_unit, struct text *out);

/* A choice of metrics, in byte order. */
struct metric_list {
	VEC(u32) at;
	VEC(char *) missing; /* names that there are none of; owned */
};

/*
 * Add what --metrics says: names, with or without a suffix, regex:EXPRESSION, separated by commas.
 * False with a line in `why`.
 */
bool metric_list_add(struct metric_list *l, const char *words, struct text *why);
void metric_list_fini(struct metric_list *l);

#endif
