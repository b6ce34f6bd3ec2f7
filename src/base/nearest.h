/*
 * The word that was probably meant: spelling suggestions.
 */
#ifndef PL_NEAREST_H
#define PL_NEAREST_H

#include "src/base/base.h"

/* Candidate words that are longer than this are never near. */
#define NEAREST_MAX 127u

/* A search: offer candidates one by one, then read `best`. */
struct nearest {
	const char *word; /* borrowed: what was written */
	size_t len;
	const char *best; /* borrowed: the nearest candidate, NULL: none is near enough */
	u32 distance;     /* of best: insertions, deletions, replacements, swaps of neighbours */
};

/* A word of more than NEAREST_MAX bytes matches nothing. */
void nearest_init(struct nearest *n, const char *word, size_t len);
/* Near is at most one mistake in three letters. Of equally near ones the first is kept. */
void nearest_offer(struct nearest *n, const char *candidate, size_t len);

#endif
