/*
 * Who beside kernels may change memory. See shared.h.
 */
#include "src/mem/shared.h"

static bool has_memory_kind(struct mem *m, enum mem_kind kind)
{
	bool found = false;

	pthread_mutex_lock(&m->lock);
	for (u32 i = 0; i < m->len && !found; i++)
		found = m->ranges[i].kind == kind;
	pthread_mutex_unlock(&m->lock);
	return found;
}

/* Do other processes have pages of it, or it pages of theirs? */
static bool is_of_several(struct mem *m)
{
	return __atomic_load_n(&m->others, __ATOMIC_RELAXED) & MEM_OTHER_PROCESSES ||
	       has_memory_kind(m, MEM_KIND_MAPPED);
}

/* Kernels reach the memory of other devices, too. */
static bool has_several_processes(struct mem_system *s)
{
	bool several, open;

	pthread_mutex_lock(&s->lock);
	open = s->maps.arena != NULL;
	pthread_mutex_unlock(&s->lock);
	several = open && is_of_several(&s->maps);
	for (u32 i = 0; i < MEM_DEVICES_MAX && !several; i++) {
		struct mem *d = __atomic_load_n(&s->device[i], __ATOMIC_ACQUIRE);

		several = d && is_of_several(d);
	}
	return several;
}

bool mem_is_shared(struct mem *m, bool *host_sees)
{
	struct mem *host = m->system ? &m->system->host : m;

	*host_sees = !m->bias || has_memory_kind(host, MEM_KIND_MANAGED) ||
		     has_memory_kind(host, MEM_KIND_PINNED);
	return is_of_several(m) || has_memory_kind(host, MEM_KIND_HOST) ||
	       (m->system && has_several_processes(m->system));
}

/* The arena of the host's memory knows it of all devices: kernels reach one another's. */
void mem_let_in(struct mem *m, u32 others)
{
	__atomic_fetch_or(&m->others, others, __ATOMIC_RELAXED);
	if (m->system)
		__atomic_fetch_or(&m->system->host.others, others, __ATOMIC_RELAXED);
}

bool mem_had_others(const struct mem *m)
{
	return __atomic_load_n(&m->others, __ATOMIC_RELAXED) ||
	       (m->system && __atomic_load_n(&m->system->host.others, __ATOMIC_RELAXED));
}
