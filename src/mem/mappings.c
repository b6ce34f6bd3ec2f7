/*
 * Reading /proc/self/maps: proc(5).
 */
#include "src/mem/mappings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void mem_mappings_open(struct mem_mappings *m)
{
	*m = (struct mem_mappings){.f = fopen("/proc/self/maps", "re")};
}

void mem_mappings_close(struct mem_mappings *m)
{
	free(m->line);
	if (m->f)
		fclose(m->f);
	*m = (struct mem_mappings){0};
}

bool mem_mappings_next(struct mem_mappings *m, struct mem_mapping *out)
{
	int name = 0;

	if (!m->f || getline(&m->line, &m->cap, m->f) <= 0)
		return false;
	if (sscanf(m->line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &out->first,
		   &out->end, out->rights, &out->offset, &name) < 4)
		return false;
	m->line[strcspn(m->line, "\n")] = 0;
	out->name = m->line + (name ? (size_t)name : strlen(m->line));
	return true;
}
