/*
 * Short programs for the memory model, known and random ones, and kernels of them: for
 * tests/unit/dev/weak.c, which runs them here, and tests/oracle/litmus_cross.c, which runs them on
 * a GPU.
 */
#ifndef PL_TESTS_WEAK_PROGRAMS_H
#define PL_TESTS_WEAK_PROGRAMS_H

#include "tests/unit/dev/axioms.h"

/* Bytes of memory for an instance: its locations lie at 0 and `apart`. */
#define INSTANCE_BYTES 256u
#define RESULTS (AXIOM_THREADS * AXIOM_OPS) /* words of an instance, by thread and index */

/* Values of one outcome: by thread and index. Writes of thread t write 4 t + index + 1. */
struct known {
	const char *name;
	struct axiom_program program;
	struct axiom_outcome outcome;
	bool allowed; /* and to be seen */
};

extern const struct known weak_known[];
extern const uint32_t weak_knowns;

/* The next random one, the same ones in each process; few executions have to be looked through. */
struct axiom_program weak_random(void);

struct weak_source {
	char at[1 << 14];
	size_t len;
};

/*
 * Kernel k(mem, out, apart), of CTAs of 32 * pairs threads: an instance has threads / pairs CTAs,
 * rounded up; thread t is the first of warp t % pairs of its CTA t / pairs. s->at ends with 0.
 */
void weak_kernel(const struct axiom_program *p, uint32_t pairs, struct weak_source *s);

#endif
