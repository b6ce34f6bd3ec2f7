/*
 * Who beside kernels may change memory. See shared.h.
 */
#include "src/mem/shared.h"

static bool has_kind(struct mem *m, enum mem_kind kind)
{
	bool found = false;

	pthread_mutex_lock(&m->lock);
	for (u32 i = 0; i < m->len && !found; i++)
		found = m->ranges[i].kind == kind;
	pthread_mutex_unlock(&m->lock);
	return found;
}

bool mem_is_shared(struct mem *m, bool *host_sees)
{
	struct mem *host = m->system ? &m->system->host : m;

	*host_sees = !m->bias || has_kind(host, MEM_KIND_MANAGED) || has_kind(host, MEM_KIND_PINNED);
	return m->share_fd >= 0 || has_kind(host, MEM_KIND_HOST) || has_kind(m, MEM_KIND_MAPPED) ||
	       (m->system && has_kind(&m->system->maps, MEM_KIND_MAPPED));
}
