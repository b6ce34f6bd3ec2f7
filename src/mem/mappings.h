/* What the process has mapped, by /proc/self/maps. Slow, and it allocates. */
#ifndef PL_MEM_MAPPINGS_H
#define PL_MEM_MAPPINGS_H

#include "src/base/base.h"

#include <stdio.h>

struct mem_mapping {
	u64 first, end;
	u64 offset;       /* in the file */
	char rights[5];   /* as in "rw-p" */
	const char *name; /* of the file, "[heap]", "[stack]"; "": none. Valid up to the next one */
};

struct mem_mappings {
	FILE *f; /* NULL: they cannot be read, so there are none */
	char *line;
	size_t cap;
};

void mem_mappings_open(struct mem_mappings *m);
void mem_mappings_close(struct mem_mappings *m);
/* In ascending order, without overlaps. False: there are no more. */
bool mem_mappings_next(struct mem_mappings *m, struct mem_mapping *out);

#endif
