/*
 * The PTX memory consistency model for short programs: which values their reads may have. An
 * enumerator of executions: for each choice of what every read reads from, of the coherence order
 * of each location and of the order of fences, the axioms are checked. Writes are strong, so that
 * coherence orders are total; every operation has the scope of the device; there are no barriers
 * and one proxy.
 *
 * Source: PTX ISA "Memory Consistency Model", "Axioms"; "A Formal Analysis of the NVIDIA PTX Memory
 * Consistency Model", ASPLOS 2019. Program order alone is not causality: an H100 reads an old value
 * by a weak load after it has read a newer one by a relaxed load of the same thread.
 */
#ifndef PL_TESTS_AXIOMS_H
#define PL_TESTS_AXIOMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AXIOM_THREADS 4u
#define AXIOM_OPS 4u /* of a thread */
#define AXIOM_EVENTS (AXIOM_THREADS * AXIOM_OPS)
#define AXIOM_LOCATIONS 2u

enum axiom_kind { AXIOM_NONE, AXIOM_LOAD, AXIOM_STORE, AXIOM_EXCHANGE, AXIOM_FENCE };
enum axiom_order {
	AXIOM_WEAK,
	AXIOM_RELAXED,
	AXIOM_ACQUIRE,
	AXIOM_RELEASE,
	AXIOM_ACQ_REL,
	AXIOM_SC,
};

/* Writes write their number among all operations, from 1 on: thread * AXIOM_OPS + index + 1. */
struct axiom_op {
	uint8_t kind, order, location;
};

struct axiom_program {
	uint32_t threads;
	struct axiom_op op[AXIOM_THREADS][AXIOM_OPS]; /* the rest of a thread is AXIOM_NONE */
};

/* Values that reads have, by thread and index; 0: the initial one, and what reads nothing. */
struct axiom_outcome {
	uint8_t value[AXIOM_THREADS][AXIOM_OPS];
};

struct axiom_outcomes {
	struct axiom_outcome *at; /* owned: free */
	size_t len, cap;
};

/* Executions that would have to be looked through; more than a million take long. */
double axiom_executions(const struct axiom_program *p);
/* Append all outcomes that the model allows, each once. False: no memory. */
bool axiom_enumerate(const struct axiom_program *p, struct axiom_outcomes *out);
bool axiom_allows(const struct axiom_outcomes *all, const struct axiom_outcome *o);

#endif
