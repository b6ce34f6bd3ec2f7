/*
 * PTXLOOM_REPORT: what happens in processes, one JSON object a line, in a file that many processes
 * add to; `ptxloom report` reads it. Lines are whole, also where several processes write at once or
 * one is killed.
 */
#ifndef PL_CHECK_RECORD_H
#define PL_CHECK_RECORD_H

#include "src/check/finding.h"

bool record_is_on(void);

/* A finding, or a fault, as it is made. */
void record_finding(const struct finding *f);

/*
 * What was claimed of metrics: a claim, or a file of saved ones; how many numbers were compared; a
 * line for each that is not as it should be, ended by a new line.
 */
void record_metrics(const char *claim, u64 compared, const char *broken);

/* An act of fault injection, in words; a new line at the end is not a part of it. */
void record_inject(const char *what);

struct record_process {
	const char *devices, *checks; /* NULL: the default, none */
	u64 launches;
	u64 errors, warnings; /* of checks, with those that were found again */
};

/* Add what checks found. */
void record_count(struct record_process *p, const struct findings *l);
/* The end of a process that has used a device. */
void record_process(const struct record_process *p);

#endif
