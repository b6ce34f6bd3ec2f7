/*
 * What editors ask of a program that stands, answered in JSON: threads, frames, variables, memory.
 * A query is a line: a word of query.c's table and its arguments. The member names of replies are
 * those of the Debug Adapter Protocol, so that most replies are bodies of its responses;
 * {"error": TEXT} says why there is none.
 *
 * Threads of a reply are groups of lanes of the CTA in focus that stand at one place; equal places
 * of several warps are one. Numbers of threads, frames and variables hold until the program moves.
 */
#ifndef PL_QUERY_H
#define PL_QUERY_H

#include "src/debugger/debugger_int.h"

struct query_state;

/* Answer one line; x->lock held. */
void query_answer(struct debugger *x, const char *line, struct text *out);
void query_free(struct query_state *q);

#endif
